/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pair.h - an open channel's two ends
 */
#ifndef _SELFTESTS_PAIR_H
#define _SELFTESTS_PAIR_H

#include "common.h"
#include "harness.h"

/* A message each way. */
static inline void talk(int a, int b)
{
	char back[8];

	ASSERT_EQ(do_send(a, "ping", 4, 0, TIMEOUT(10000)), 0);
	ASSERT_EQ(do_recv(b, back, 8, NULL, TIMEOUT(10000)), 0);
	ASSERT_EQ(do_send(b, "pong", 4, 0, TIMEOUT(10000)), 0);
	ASSERT_EQ(do_recv(a, back, 8, NULL, TIMEOUT(10000)), 0);
}

/* The errno and the cause that a call gets at the end of a channel. */
struct end_told {
	int error;
	uint32_t cause;
};

/*
 * A program that sends, or receives, until the channel ends. Return: the child; its exit status
 * tells whether it was told @told.
 */
static inline pid_t busy_until_end(int chan, bool writes, const struct end_told *told)
{
	static char data[30000];
	struct rdmachan_error error;
	const struct opts o = { .error = &error };
	pid_t child = fork();
	int ret;

	if (child)
		return child;
	do
		ret = writes ? do_send(chan, data, sizeof(data), 0, &o) :
			       do_recv(chan, data, sizeof(data), NULL, &o);
	while (!ret);
	EXPECT_EQ(errno, told->error);
	EXPECT_EQ(error.error, told->error);
	EXPECT_EQ(error.cause, told->cause);
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

/* The fixture of tests that begin with it: @a is of host @ctx is on, @b of the one of @peer. */
#define FIXTURE_PAIR(name)				\
FIXTURE(name)						\
{							\
	int ctx;					\
	int peer;					\
	int a;						\
	int b;						\
};							\
							\
FIXTURE_SETUP(name)					\
{							\
	int fds[2];					\
							\
	self->ctx = open_ctx();				\
	self->peer = open_peer();			\
	pair_up(self->ctx, fds, NULL);			\
	self->a = fds[0];				\
	self->b = fds[1];				\
}							\
							\
FIXTURE_TEARDOWN(name)					\
{							\
	close(self->a);					\
	close(self->b);					\
	close(self->peer);				\
	close(self->ctx);				\
}

#endif /* _SELFTESTS_PAIR_H */
