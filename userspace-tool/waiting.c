// SPDX-License-Identifier: MIT
/*
 * waiting.c - waiting for a file descriptor, or for the user to stop it
 *
 * The signals are let in while it waits and never else, so that none comes between
 * looking for it and waiting. A descriptor that is always ready lets none in: hence the look at
 * those that are pending.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

#include "tool.h"
#include "waiting.h"

static volatile sig_atomic_t stopped;
static sigset_t stopping, let_in;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

void waiting_begin(void)
{
	const struct sigaction action = { .sa_handler = stop };
	struct sigaction hangup;

	sigemptyset(&stopping);
	sigaddset(&stopping, SIGINT);
	sigaddset(&stopping, SIGTERM);
	/* A command that was begun by nohup goes on without its terminal. */
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler == SIG_DFL)
		sigaddset(&stopping, SIGHUP);
	sigprocmask(SIG_BLOCK, &stopping, &let_in);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (hangup.sa_handler == SIG_DFL)
		sigaction(SIGHUP, &action, NULL);
	/* The program that began this one may have blocked them. */
	sigdelset(&let_in, SIGINT);
	sigdelset(&let_in, SIGTERM);
}

static bool is_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	sigandset(&pending, &pending, &stopping);
	return !sigisemptyset(&pending);
}

bool waiting_stopped(void)
{
	stopped |= is_pending();
	return stopped;
}

enum waited waiting_for(int fd, short events, uint32_t timeout_ms)
{
	uint64_t end = clock_ns() + timeout_ms * UINT64_C(1000000);
	struct pollfd one = { .fd = fd, .events = events };
	struct timespec left;
	uint64_t now, ns;
	int ret;

	if (waiting_stopped())
		return WAITED_STOPPED;
	do {
		now = clock_ns();
		ns = now < end ? end - now : 0;
		left.tv_sec = ns / 1000000000;
		left.tv_nsec = ns % 1000000000;
		ret = ppoll(&one, 1, timeout_ms == UINT32_MAX ? NULL : &left, &let_in);
	} while (ret < 0 && errno == EINTR && !stopped);
	/* A descriptor that cannot be waited for tells why when it is read. */
	if (stopped)
		return WAITED_STOPPED;
	return ret ? WAITED_READY : WAITED_TIMEOUT;
}

enum waited waiting(int fd, uint32_t timeout_ms)
{
	return waiting_for(fd, POLLIN, timeout_ms);
}
