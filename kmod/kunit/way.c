// SPDX-License-Identifier: GPL-2.0
/*
 * way.c - tests of the choice between ways
 */
#include <rdmachan.h>

#include "../proto/way.h"
#include "suites.h"

static void way_sizes(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, rch_way_is_placed(0, true));
	KUNIT_EXPECT_FALSE(test, rch_way_is_placed(32767, true));
	KUNIT_EXPECT_TRUE(test, rch_way_is_placed(32768, true));
	KUNIT_EXPECT_FALSE(test, rch_way_is_placed(65535, false));
	KUNIT_EXPECT_TRUE(test, rch_way_is_placed(65536, false));
	KUNIT_EXPECT_TRUE(test, rch_way_is_placed(RDMACHAN_MESSAGE_MAX, false));
	/* Room is not limited as messages are. */
	KUNIT_EXPECT_TRUE(test, rch_way_is_placed(1ULL << 32, true));
	KUNIT_EXPECT_TRUE(test, rch_way_is_placed(1ULL << 32, false));
}

/* Where the trip is as long as the copies, asking costs no more than they do. */
static void way_long_trips(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, rch_way_trip_is_long(65536, 0, 64));
	KUNIT_EXPECT_FALSE(test, rch_way_trip_is_long(65536, 64, 64));
	KUNIT_EXPECT_TRUE(test, rch_way_trip_is_long(65536, 65, 64));
	KUNIT_EXPECT_FALSE(test, rch_way_trip_is_long(65537, 64, 64));
	KUNIT_EXPECT_FALSE(test, rch_way_trip_is_long(1 << 20, 1024, 64));
	KUNIT_EXPECT_TRUE(test, rch_way_trip_is_long(1 << 20, 1025, 64));
	KUNIT_EXPECT_TRUE(test, rch_way_trip_is_long(U32_MAX, 1, 0));
	KUNIT_EXPECT_FALSE(test, rch_way_trip_is_long(U32_MAX, 0, 0));
	/* The largest that there can be. */
	KUNIT_EXPECT_TRUE(test, rch_way_trip_is_long(65536, U32_MAX, 1000000));
	KUNIT_EXPECT_FALSE(test, rch_way_trip_is_long(U32_MAX, U32_MAX, 1000000));
}

/* What decides, in the order in which it does: the first line whose conditions all hold. */
struct way_line {
	bool small;
	bool plain;
	bool fits;
	bool far;
	bool lent;
	bool asks;
	enum rch_way way;
};

static const struct way_line way_table[] = {
	{ .small = true, .way = RCH_WAY_EAGER },
	{ .plain = true, .fits = true, .far = true, .way = RCH_WAY_EAGER },
	{ .lent = true, .way = RCH_WAY_LENT },
	{ .asks = true, .way = RCH_WAY_ASK },
	{ .way = RCH_WAY_EAGER },
};

static bool way_fits(const struct way_line *line, const struct way_line *is)
{
	return is->small >= line->small && is->plain >= line->plain && is->fits >= line->fits &&
	       is->far >= line->far && is->lent >= line->lent && is->asks >= line->asks;
}

static void way_all_inputs(struct kunit *test)
{
	const struct way_line *line;
	u32 bits;

	for (bits = 0; bits < 1 << 6; bits++) {
		const struct way_line is = {
			.small = bits & 1, .plain = bits & 2, .fits = bits & 4,
			.far = bits & 8, .lent = bits & 16, .asks = bits & 32,
		};
		const u32 least = is.plain ? RCH_WAY_PAGES_MIN : RCH_WAY_REGION_MIN;
		const struct rch_way_facts facts = {
			.bytes = is.small ? least - 1 : least,
			.pinned = !is.plain,
			.lent = is.lent,
			.asks = is.asks,
			.trip_us = is.far ? 65 : 32,
			.eager_us = 64,
			.at_once = is.fits ? least : least - 1,
		};

		for (line = way_table; !way_fits(line, &is);)
			line++;
		KUNIT_EXPECT_EQ_MSG(test, rch_way(&facts), line->way, "inputs 0x%x", bits);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(way_sizes),
	KUNIT_CASE(way_long_trips),
	KUNIT_CASE(way_all_inputs),
	{}
};

struct kunit_suite rch_way_suite = {
	.name = "rdmachan_way",
	.test_cases = cases,
};
