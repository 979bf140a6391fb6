// SPDX-License-Identifier: GPL-2.0
/*
 * ack.c - tests of the timeout of acknowledgements
 */
#include "../pure/ack.h"
#include "suites.h"

static u64 ms_of(u8 n)
{
	return (4096ULL << n) / 1000000;
}

/* Each dead time that may be set, by steps of an eighth. */
#define FOR_EACH_DEAD_MS(ms) for (ms = 200; ms <= 600000; ms += ms / 8)

/* An adapter that gives up does not before the heartbeat, and not much later than it must. */
static void ack_gives_up(struct kunit *test)
{
	u32 ms;
	u8 n;

	FOR_EACH_DEAD_MS(ms) {
		n = rch_ack_timeout(ms, false);
		if (n < RCH_ACK_MAX)
			KUNIT_EXPECT_GE_MSG(test, 8 * (4096ULL << n), ms * 1000000ULL,
					    "dead time %u", ms);
		if (n > RCH_ACK_MIN)
			KUNIT_EXPECT_LT_MSG(test, 8 * (4096ULL << (n - 1)), ms * 1000000ULL,
					    "dead time %u", ms);
	}
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(5000, false), 18);
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(0xffffffffU, false), RCH_ACK_MAX);
}

static void ack_for_ever(struct kunit *test)
{
	u32 ms;
	u8 n;

	FOR_EACH_DEAD_MS(ms) {
		n = rch_ack_timeout(ms, true);
		KUNIT_EXPECT_TRUE(test, n >= RCH_ACK_MIN && n <= RCH_ACK_FOR_EVER_MAX);
		if (n > RCH_ACK_MIN)
			KUNIT_EXPECT_LE_MSG(test, 4 * ms_of(n), (u64)ms, "dead time %u", ms);
	}
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(1073, true), 15);
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(1074, true), 16);
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(2147, true), 16);
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(2148, true), 17);
	KUNIT_EXPECT_EQ(test, rch_ack_timeout(600000, true), 17);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ack_gives_up),
	KUNIT_CASE(ack_for_ever),
	{}
};

struct kunit_suite rch_ack_suite = {
	.name = "rdmachan_ack",
	.test_cases = cases,
};
