/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pair.h - the fixture of tests that begin with an open channel: its two ends
 */
#ifndef _SELFTESTS_PAIR_H
#define _SELFTESTS_PAIR_H

#define FIXTURE_PAIR(name)				\
FIXTURE(name)						\
{							\
	int ctx;					\
	int a;						\
	int b;						\
};							\
							\
FIXTURE_SETUP(name)					\
{							\
	int fds[2];					\
							\
	self->ctx = open_ctx();				\
	pair_up(self->ctx, fds, NULL);			\
	self->a = fds[0];				\
	self->b = fds[1];				\
}							\
							\
FIXTURE_TEARDOWN(name)					\
{							\
	close(self->a);					\
	close(self->b);					\
	close(self->ctx);				\
}

#endif /* _SELFTESTS_PAIR_H */
