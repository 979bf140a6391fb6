// SPDX-License-Identifier: GPL-2.0
/*
 * tail.c - tests of when a probe is due
 */
#include "../pure/tail.h"
#include "suites.h"

#define WAIT 100ULL

static enum rch_tail_step tail_look(struct rch_tail *tail, u64 now)
{
	return rch_tail_look(tail, now, WAIT, false);
}

/* One packet is posted, and nothing is heard of it. */
static void tail_nothing_heard(struct kunit *test)
{
	struct rch_tail tail = {};
	u64 i, now = 7;

	KUNIT_EXPECT_TRUE(test, rch_tail_posted(&tail, now));
	for (i = 1; i <= RCH_TAIL_PROBES; i++) {
		KUNIT_EXPECT_EQ(test, rch_tail_due(&tail, WAIT), now + i * WAIT);
		KUNIT_EXPECT_EQ(test, tail_look(&tail, now + i * WAIT - 1), RCH_TAIL_WAIT);
		KUNIT_EXPECT_EQ(test, tail_look(&tail, now + i * WAIT), RCH_TAIL_PROBE);
		KUNIT_EXPECT_EQ(test, tail.out, i);
	}
	/* Now the adapter's timeout is waited for. */
	KUNIT_EXPECT_EQ(test, tail_look(&tail, now + i * WAIT), RCH_TAIL_REST);
	/*
	 * A frame that is posted next is probed when these have ended: there is no room for more.
	 */
	now = 1000;
	KUNIT_EXPECT_TRUE(test, rch_tail_posted(&tail, now));
	KUNIT_EXPECT_EQ(test, tail_look(&tail, now + WAIT), RCH_TAIL_REST);
	for (i = 0; i < RCH_TAIL_PROBES; i++)
		rch_tail_ended(&tail);
	KUNIT_EXPECT_EQ(test, tail.out, 0);
	KUNIT_EXPECT_NE(test, tail.confirmed, tail.posts);
	KUNIT_EXPECT_TRUE(test, rch_tail_posted(&tail, now));
	KUNIT_EXPECT_EQ(test, tail_look(&tail, now + WAIT), RCH_TAIL_PROBE);
	rch_tail_ended(&tail);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, now + 2 * WAIT), RCH_TAIL_REST);
}

/* The timer finds out by itself that more was posted. */
static void tail_goes_on(struct kunit *test)
{
	struct rch_tail tail = { .posts = 0xfffffffdU, .confirmed = 0xfffffffdU };
	u64 now = WAIT, i;

	KUNIT_EXPECT_TRUE(test, rch_tail_posted(&tail, now - 1));
	for (i = 0; i < 5; i++, now += WAIT) {
		KUNIT_EXPECT_FALSE(test, rch_tail_posted(&tail, now));
		KUNIT_EXPECT_EQ(test, tail_look(&tail, now + WAIT - 1), RCH_TAIL_WAIT);
	}
	KUNIT_EXPECT_EQ(test, tail_look(&tail, now), RCH_TAIL_PROBE);
	/* Behind a probe likewise, and the next probe is the first of its own. */
	KUNIT_EXPECT_FALSE(test, rch_tail_posted(&tail, now));
	KUNIT_EXPECT_EQ(test, tail_look(&tail, now + WAIT - 1), RCH_TAIL_WAIT);
	KUNIT_EXPECT_EQ(test, rch_tail_due(&tail, WAIT), now + WAIT);
	KUNIT_EXPECT_EQ(test, rch_tail_look(&tail, now, WAIT, true), RCH_TAIL_REST);
	KUNIT_EXPECT_TRUE(test, rch_tail_posted(&tail, now));
}

/* The probe tells of what was posted before it, and of nothing else. */
static void tail_probe_ends(struct kunit *test)
{
	struct rch_tail tail = {};

	rch_tail_posted(&tail, 0);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, WAIT), RCH_TAIL_PROBE);
	rch_tail_posted(&tail, WAIT);
	rch_tail_ended(&tail);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, WAIT), RCH_TAIL_WAIT);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, 2 * WAIT), RCH_TAIL_PROBE);
	rch_tail_ended(&tail);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, 3 * WAIT), RCH_TAIL_REST);
	/* Of two probes the first that ends may be the older one. */
	rch_tail_posted(&tail, 0);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, WAIT), RCH_TAIL_PROBE);
	rch_tail_posted(&tail, WAIT);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, 2 * WAIT), RCH_TAIL_PROBE);
	rch_tail_ended(&tail);
	KUNIT_EXPECT_NE(test, tail.confirmed, tail.posts);
	rch_tail_ended(&tail);
	KUNIT_EXPECT_EQ(test, tail.confirmed, tail.posts);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, 2 * WAIT), RCH_TAIL_REST);
}

static void tail_not_posted(struct kunit *test)
{
	struct rch_tail tail = {};

	rch_tail_posted(&tail, 0);
	KUNIT_EXPECT_EQ(test, tail_look(&tail, WAIT), RCH_TAIL_PROBE);
	rch_tail_failed(&tail);
	KUNIT_EXPECT_EQ(test, tail.out, 0);
	KUNIT_EXPECT_TRUE(test, rch_tail_posted(&tail, WAIT));
}

static void tail_waits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rch_tail_wait(0, 0), RCH_TAIL_UNKNOWN_NS);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(1, 0), RCH_TAIL_MIN_NS);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(2666, 0), RCH_TAIL_MIN_NS);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(2667, 0), 4000500ULL);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(40000, 0), RCH_TAIL_MAX_NS);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(0xffffffffU, 0), RCH_TAIL_MAX_NS);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(2667, 3), 4003500ULL);
	KUNIT_EXPECT_EQ(test, rch_tail_wait(1, 0xffffffffU),
			RCH_TAIL_MIN_NS + 0xffffffffULL * 1000);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(tail_nothing_heard),
	KUNIT_CASE(tail_goes_on),
	KUNIT_CASE(tail_probe_ends),
	KUNIT_CASE(tail_not_posted),
	KUNIT_CASE(tail_waits),
	{}
};

struct kunit_suite rch_tail_suite = {
	.name = "rdmachan_tail",
	.test_cases = cases,
};
