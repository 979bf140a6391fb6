// SPDX-License-Identifier: GPL-2.0
/*
 * trip.c - tests of the shortest round trip
 */
#include "../pure/trip.h"
#include "suites.h"

static void trip_unknown(struct kunit *test)
{
	struct rch_trip trip;

	rch_trip_init(&trip, 7);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 0U);
	rch_trip_measured(&trip, 1, 7);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 1U);
}

/* The shortest of this window and of the one before, and not longer. */
static void trip_windows(struct kunit *test)
{
	struct rch_trip trip;
	u32 begin = 0xfffff000U;	/* the clock wraps */

	rch_trip_init(&trip, begin);
	rch_trip_measured(&trip, 50, begin + 1);
	rch_trip_measured(&trip, 40, begin + 2);
	rch_trip_measured(&trip, 60, begin + RCH_TRIP_WINDOW - 1);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 40U);
	rch_trip_measured(&trip, 70, begin + RCH_TRIP_WINDOW);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 40U);
	rch_trip_measured(&trip, 80, begin + 2 * RCH_TRIP_WINDOW - 1);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 40U);
	rch_trip_measured(&trip, 90, begin + 2 * RCH_TRIP_WINDOW);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 70U);
	rch_trip_measured(&trip, 30, begin + 2 * RCH_TRIP_WINDOW + 1);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 30U);
}

/* After a long pause the last measurement stands beside the new one, once. */
static void trip_pause(struct kunit *test)
{
	struct rch_trip trip;

	rch_trip_init(&trip, 0);
	rch_trip_measured(&trip, 40, 1);
	rch_trip_measured(&trip, 90, 100 * RCH_TRIP_WINDOW);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 40U);
	rch_trip_measured(&trip, 80, 101 * RCH_TRIP_WINDOW);
	KUNIT_EXPECT_EQ(test, rch_trip_us(&trip), 80U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(trip_unknown),
	KUNIT_CASE(trip_windows),
	KUNIT_CASE(trip_pause),
	{}
};

struct kunit_suite rch_trip_suite = {
	.name = "rdmachan_trip",
	.test_cases = cases,
};
