/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault_fixture.h - a channel between two hosts, and calls that fail at each point
 */
#ifndef _SELFTESTS_FAULT_FIXTURE_H
#define _SELFTESTS_FAULT_FIXTURE_H

#include "common.h"
#include "fault.h"
#include "harness.h"

#define POINTS_MAX 2000
#define USER 4400
#define REGION (64U << 10)

FIXTURE(fault)
{
	int nth;
	int ctx;
	int peer;
	int listener;
	int a;
	int b;
	int fd;
	size_t length;
	unsigned int seed;
};

FIXTURE_SETUP(fault)
{
	fault_begin();
	self->nth = fault_nth_of(0);
	self->ctx = fault_ctx_of(USER);
	self->peer = fault_peer_of(USER);
	self->listener = do_listen(self->peer, SERVICE + 1, NULL);
	ASSERT_GE(self->listener, 0);
	self->a = do_connect(self->ctx, SERVICE + 1, NULL);
	self->b = do_accept(self->listener, NULL);
	ASSERT_GE(self->b, 0);
	self->fd = -1;
	self->length = 100;
}

FIXTURE_TEARDOWN(fault)
{
	fault_end();
	close(self->a);
	close(self->b);
	close(self->listener);
	close(self->peer);
	close(self->ctx);
}

/**
 * sweep - repeat @call with a fault at its first point, its second, ...
 * @self: fixture
 * @prepare: the object that a call needs; or NULL
 * @call: one system call
 * @judge: of what the call returned, and of what is left; gives the fixture back as
 *	it was
 *
 * Ends with the call that no fault reached.
 */
static inline void sweep(struct fixture_fault *self,
			 void (*prepare)(struct fixture_fault *self),
			 long (*call)(struct fixture_fault *self),
			 void (*judge)(struct fixture_fault *self, long ret))
{
	int errors = 0, error;
	unsigned int point;
	bool fired = true;
	long ret;

	/* Point 0 is no fault: it brings in all memory that the call needs. */
	for (point = 0; fired && point < POINTS_MAX; point++) {
		self->seed = point;
		if (prepare)
			prepare(self);
		if (point)
			fault_arm(self->nth, point);
		ret = call(self);
		error = errno;
		fired = !point || fault_disarm(self->nth);
		if (ret < 0) {
			errors++;
			if (!point || !fired || (error != ENOMEM && error != EFAULT))
				printf("# at point %u, %s: errno %d\n", point,
				       fired ? "reached" : "not reached", error);
			EXPECT_TRUE(point && fired);
			EXPECT_TRUE(error == ENOMEM || error == EFAULT);
		}
		errno = error;
		judge(self, ret);
		if (harness_failures) {
			printf("# this was point %u\n", point);
			return;
		}
	}
	EXPECT_LT(point, POINTS_MAX);
	printf("# %u points, %d errors\n", point - 2, errors);
}

static inline char *region_memory(void)
{
	char *memory = aligned_alloc(4096, REGION);

	ASSERT_TRUE(memory);
	return memset(memory, 1, REGION);
}

#endif /* _SELFTESTS_FAULT_FIXTURE_H */
