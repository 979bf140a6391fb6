// SPDX-License-Identifier: MIT
/*
 * waiting.c - waiting for a file descriptor, or for the user to stop it
 *
 * The signals are let in while it waits and never else, so that none comes between
 * looking for it and waiting.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

#include "tool.h"
#include "waiting.h"

static volatile sig_atomic_t stopped;
static sigset_t let_in;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

void waiting_begin(void)
{
	const struct sigaction action = { .sa_handler = stop };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &let_in);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

enum waited waiting(int fd, uint32_t timeout_ms)
{
	uint64_t end = clock_ns() + timeout_ms * UINT64_C(1000000);
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct timespec left;
	uint64_t now, ns;
	int ret;

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
