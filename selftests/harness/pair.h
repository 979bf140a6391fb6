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
