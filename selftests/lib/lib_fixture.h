/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lib_fixture.h - a queue of the library's, and a pair of channels for it to work on
 */
#ifndef _SELFTESTS_LIB_FIXTURE_H
#define _SELFTESTS_LIB_FIXTURE_H

#include "lib_queue.h"

FIXTURE(lib)
{
	int ctx;
	int a;
	int b;
	struct rdmachan_queue *q;
};

FIXTURE_SETUP(lib)
{
	struct rdmachan_error err;
	int fds[2];

	self->ctx = open_ctx();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	self->q = rdmachan_queue_open(self->ctx, ENTRIES, DONE, &err);
	ASSERT_TRUE(self->q);
	memset(memory, 1, sizeof(memory));
}

FIXTURE_TEARDOWN(lib)
{
	rdmachan_queue_close(self->q);
	close(self->a);
	close(self->b);
	close(self->ctx);
}

#endif /* _SELFTESTS_LIB_FIXTURE_H */
