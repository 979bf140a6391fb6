// SPDX-License-Identifier: GPL-2.0
/*
 * span.c - tests of the pages of a range
 */
#include "../memory/span.h"
#include "suites.h"

#define SHIFT 12
#define TOP_32 0xffffffffULL
#define TOP_64 (~0ULL)

static const struct {
	u64 addr;
	u64 length;
	u64 top;
	u64 pages;
} spans[] = {
	{ 0x1000, 1, TOP_64, 1 },
	{ 0x1000, 0x1000, TOP_64, 1 },
	{ 0x1fff, 2, TOP_64, 2 },
	{ 0x1fff, 0x1002, TOP_64, 3 },
	{ 0, TOP_64, TOP_64, 0 },
	{ 0, TOP_64 - 0xfff, TOP_64, TOP_64 >> SHIFT },
	{ 0x1000, 0, TOP_64, 0 },
	{ TOP_64, 1, TOP_64, 0 },
	{ TOP_64, 2, TOP_64, 0 },
	{ TOP_64 - 0x1fff, 0x1000, TOP_64, 1 },
	{ TOP_64 - 0x1fff, 0x1001, TOP_64, 0 },
	/* The address behind the last page would be 0. */
	{ 0xfffff000, 1, TOP_32, 0 },
	{ 0xfffff000, 0xfff, TOP_32, 0 },
	{ 0xfffff000, 0x1000, TOP_32, 0 },
	{ 0xffffe000, 0x1001, TOP_32, 0 },
	{ 0xffffe000, 0x1000, TOP_32, 1 },
	{ 0xffffe000, 0x100000000, TOP_32, 0 },
	{ 0x100000000, 1, TOP_32, 0 },
	{ 1, TOP_64, TOP_32, 0 },
};

static void span_pages_test(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(spans); i++)
		KUNIT_EXPECT_EQ_MSG(test, rch_span_pages(spans[i].addr, spans[i].length, SHIFT,
							 spans[i].top),
				    spans[i].pages, "row %u", i);
}

static struct kunit_case span_cases[] = {
	KUNIT_CASE(span_pages_test),
	{}
};

struct kunit_suite rch_span_suite = {
	.name = "rdmachan_span",
	.test_cases = span_cases,
};
