// SPDX-License-Identifier: MIT
/*
 * waiting_test.c - a signal ends the waiting, and is not lost, whatever else there is
 */
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "waiting.h"

#define FOREVER	UINT32_MAX

/* In a child, as a signal is remembered for good. */
static void in_child(int signal, bool ready, uint32_t timeout_ms, enum waited wanted,
		     const char *what)
{
	int ends[2], status = 0;
	pid_t child;

	child = fork();
	if (!child) {
		if (pipe(ends) < 0)
			_exit(9);
		waiting_begin();
		if (ready && write(ends[1], "x", 1) < 0)
			_exit(9);
		if (signal)
			raise(signal);
		_exit(waiting(ends[0], timeout_ms));
	}
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == (int)wanted, "%s", what);
}

int main(void)
{
	/* A program that is started by nohup, or by a script as a job, ignores some. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	in_child(0, true, FOREVER, WAITED_READY, "there is something to read");
	in_child(0, false, 1, WAITED_TIMEOUT, "there is nothing, for too long");
	in_child(0, false, 0, WAITED_TIMEOUT, "there is nothing now");
	in_child(SIGINT, false, FOREVER, WAITED_STOPPED, "SIGINT while there is nothing");
	in_child(SIGTERM, false, FOREVER, WAITED_STOPPED, "SIGTERM while there is nothing");
	in_child(SIGHUP, false, FOREVER, WAITED_STOPPED, "SIGHUP while there is nothing");
	in_child(SIGINT, true, FOREVER, WAITED_STOPPED, "SIGINT while there is something to read");
	in_child(SIGTERM, true, 0, WAITED_STOPPED, "SIGTERM while there is something to read");
	in_child(SIGHUP, true, 1, WAITED_STOPPED, "SIGHUP while there is something to read");
	in_child(SIGWINCH, true, FOREVER, WAITED_READY, "another signal ends nothing");
	signal(SIGHUP, SIG_IGN);
	in_child(SIGHUP, true, FOREVER, WAITED_READY, "nor does SIGHUP that is ignored");
	signal(SIGINT, SIG_IGN);
	in_child(SIGINT, false, FOREVER, WAITED_STOPPED, "SIGINT does, as jobs of scripts ignore it");
	return tap_end();
}
