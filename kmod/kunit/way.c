// SPDX-License-Identifier: GPL-2.0
/*
 * way.c - tests of the choice between ways
 */
#include <rdmachan.h>

#include "../pure/way.h"
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

static struct kunit_case cases[] = {
	KUNIT_CASE(way_sizes),
	{}
};

struct kunit_suite rch_way_suite = {
	.name = "rdmachan_way",
	.test_cases = cases,
};
