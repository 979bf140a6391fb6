// SPDX-License-Identifier: GPL-2.0
/*
 * grant_many_test.c - very many grants whose channel ends
 *
 * Nobody waits until each was looked at: work items end them, and drop what would have been said of
 * them, in parts. The owner is told of each grant once all the same, and ahead of the end.
 */
#include <stdio.h>
#include <sys/ioctl.h>

#include "common.h"
#include "grant_fixture.h"
#include "harness.h"
#include "inject.h"

#define MANY 2000
/* RCH_DROP_AT_ONCE. */
#define AT_ONCE 64

/* The holder receives the messages that bring them. */
static void lend_many(struct fixture_grant *self, uint32_t *grants)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	struct grant_message got;
	int i, j;

	for (i = 0; i < MANY; i += RDMACHAN_GRANTS_MAX) {
		for (j = 0; j < (int)RDMACHAN_GRANTS_MAX; j++)
			ranges[j] = RANGE(self->region, MAY_READ, 64 * (i + j), 64);
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, ranges, RDMACHAN_GRANTS_MAX), 0);
		ASSERT_EQ(grant_recv(self->holder, &got, sizeof(got), NULL, TIMEOUT(20000)), 0);
		for (j = 0; j < (int)RDMACHAN_GRANTS_MAX; j++)
			grants[i + j] = ranges[j].out_grant;
	}
}

/* Each is told of once. Return: how many ended for @cause; all others for @other */
static int many_returned(struct fixture_grant *self, const uint32_t *grants, uint32_t cause,
			 uint32_t other)
{
	struct rdmachan_grant_event event;
	bool told[MANY] = {};
	int i, count = 0;
	uint32_t at;

	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(grant_next(self->owner, &event));
		ASSERT_EQ(event.what, RDMACHAN_GRANT_RETURNED);
		/* They were numbered one after the other. */
		at = event.grant - grants[0];
		ASSERT_LT(at, MANY);
		ASSERT_EQ(event.grant, grants[at]);
		ASSERT_EQ(told[at], false);
		told[at] = true;
		ASSERT_TRUE(event.cause == cause || event.cause == other);
		count += event.cause == cause;
	}
	return count;
}

static void expect_all_back(struct fixture_grant *self)
{
	EXPECT_TRUE(forgotten(self->ctx, self->count));
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

/* A work item ends one after the other. */
TEST_F_TIMEOUT(grant, holder_closes, 100)
{
	int before = module_count("put_off");
	uint32_t grants[MANY];
	char byte;

	if (before < 0)
		SKIP("there is no debugfs");
	lend_many(self, grants);
	ASSERT_EQ(module_count("put_off"), before);
	close(self->holder);
	self->holder = -1;
	EXPECT_EQ(many_returned(self, grants, RDMACHAN_CAUSE_PEER_CLOSED,
				RDMACHAN_CAUSE_PEER_CLOSED), MANY);
	/* Then the end. */
	EXPECT_EQ(read(self->owner, &byte, 1), 0);
	EXPECT_EQ(module_count("put_off"), before + MANY);
	expect_all_back(self);
}

/* Loans of another region are passed over, however many they are. */
TEST_F_TIMEOUT(grant, other_region_revoked, 100)
{
	static char memory[4096] __attribute__((aligned(4096)));
	struct rdmachan_region_unregister_args unreg = {
		.size = sizeof(unreg), .flags = RDMACHAN_UNREGISTER_F_REVOKE,
	};
	struct rdmachan_grant_range range;
	uint32_t grants[MANY];

	lend_many(self, grants);
	unreg.region = region_of(self->ctx, memory, sizeof(memory));
	range = RANGE(unreg.region, MAY_READ, 0, 64);
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	EXPECT_EQ(ioctl(self->ctx, RDMACHAN_REGION_UNREGISTER, &unreg), 0);
	EXPECT_TRUE(grant_returned(self->owner, range.out_grant, RDMACHAN_CAUSE_SHUTDOWN));
	close(self->holder);
	self->holder = -1;
	EXPECT_EQ(many_returned(self, grants, RDMACHAN_CAUSE_PEER_CLOSED,
				RDMACHAN_CAUSE_PEER_CLOSED), MANY);
	expect_all_back(self);
}

/* Whoever wants the memory back meanwhile gets all of it. */
TEST_F_TIMEOUT(grant, revoked_as_the_holder_closes, 100)
{
	struct rdmachan_region_unregister_args unreg = {
		.size = sizeof(unreg), .region = self->region,
		.flags = RDMACHAN_UNREGISTER_F_REVOKE,
	};
	uint32_t grants[MANY];

	lend_many(self, grants);
	close(self->holder);
	self->holder = -1;
	EXPECT_EQ(ioctl(self->ctx, RDMACHAN_REGION_UNREGISTER, &unreg), 0);
	EXPECT_TRUE(forgotten(self->ctx, self->count));
	many_returned(self, grants, RDMACHAN_CAUSE_PEER_CLOSED, RDMACHAN_CAUSE_SHUTDOWN);
}

/* The owner hears of none any more, and all is back. */
TEST_F_TIMEOUT(grant, owner_closes, 100)
{
	uint32_t grants[MANY];
	char byte;

	lend_many(self, grants);
	close(self->owner);
	self->owner = -1;
	EXPECT_EQ(read(self->holder, &byte, 1), 0);
	expect_all_back(self);
}

static uint64_t link_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.link_id;
}

/*
 * Each message goes in a frame of its own, whose buffer the peer seems to keep. The last one waits
 * in a frame that is ready to go.
 */
static void use_up_credit(int from, int to)
{
	char byte;

	for (;;) {
		ASSERT_EQ(do_send(from, "x", 1, 0, TIMEOUT(20000)), 0);
		if (!wait_readable(to, 1000))
			return;
		ASSERT_EQ(read(to, &byte, 1), 1);
	}
}

/*
 * The holder has no credit to say that it gives back what it holds, and then will not any more:
 * what it would have said is dropped. The owner has back what it did say, and the others by the
 * end.
 */
TEST_F_TIMEOUT(grant, holder_aborts_as_it_gives_back, 100)
{
	int before = module_count("put_off"), i, dropped;
	uint32_t grants[MANY];
	char byte;

	inject_begin();
	lend_many(self, grants);
	inject("withhold", "link=%llu count=0", (unsigned long long)link_of(self->owner));
	use_up_credit(self->holder, self->owner);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(grant_release(self->holder, grants[i]), 0);
	ASSERT_EQ(do_shutdown(self->holder, RDMACHAN_SHUTDOWN_ABORT), 0);
	inject_off("withhold");
	ASSERT_EQ(read(self->owner, &byte, 1), 1);
	dropped = MANY - many_returned(self, grants, 0, RDMACHAN_CAUSE_PEER_RESET);
	printf("# %d were not given back\n", dropped);
	ASSERT_GT(dropped, 2 * AT_ONCE);
	/* Each of those was ended by a work item, too. */
	EXPECT_EQ(module_count("put_off"), before + dropped + (dropped - 1) / AT_ONCE);
	expect_all_back(self);
	close(self->owner);
	close(self->holder);
	inject_end(self->ctx);
	self->owner = -1;
	self->holder = -1;
	self->ctx = -1;
}

TEST_HARNESS_MAIN
