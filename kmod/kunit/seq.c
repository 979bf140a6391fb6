// SPDX-License-Identifier: GPL-2.0
/*
 * seq.c - tests of serial numbers
 */
#include "../pure/seq.h"
#include "suites.h"

/* Differences at which something could change its mind. */
static const u32 steps[] = {
	0, 1, 2, 3, 255, 4095, 4096, 65535, 0x7ffffffe, 0x7fffffff,
};

/* Where to begin: around both places at which a sign or a carry appears. */
static const u32 starts[] = {
	0, 1, 2, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
	0xfffff000, 0xfffffffd, 0xfffffffe, 0xffffffff,
};

static void start_desc(const u32 *start, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "from 0x%08x", *start);
}

KUNIT_ARRAY_PARAM(start, starts, start_desc);

static void seq_order(struct kunit *test)
{
	u32 a = *(const u32 *)test->param_value;
	int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u32 b = a + steps[i];

		KUNIT_EXPECT_EQ(test, rch_seq_diff(b, a), (s32)steps[i]);
		KUNIT_EXPECT_EQ(test, rch_seq_diff(a, b), -(s32)steps[i]);
		KUNIT_EXPECT_EQ(test, rch_seq_before(a, b), steps[i] != 0);
		KUNIT_EXPECT_FALSE(test, rch_seq_before(b, a));
	}
}

/* All numbers near a range's two ends, for ranges of several lengths. */
static void seq_range(struct kunit *test)
{
	u32 lo = *(const u32 *)test->param_value;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u32 hi = lo + steps[i];

		for (k = 0; k <= 3; k++) {
			bool inside = k <= steps[i];

			KUNIT_EXPECT_EQ(test, rch_seq_between(lo, lo + k, hi), inside);
			KUNIT_EXPECT_EQ(test, rch_seq_between(lo, hi - k, hi), inside);
			KUNIT_EXPECT_FALSE(test, rch_seq_between(lo, lo - k - 1, hi));
			KUNIT_EXPECT_FALSE(test, rch_seq_between(lo, hi + k + 1, hi));
		}
	}
}

/* From the lowest bits, all numbers that can meet. */
static void seq_near(struct kunit *test)
{
	u32 near = *(const u32 *)test->param_value;
	int ahead;

	for (ahead = -128; ahead < 128; ahead++)
		KUNIT_EXPECT_EQ(test, rch_seq_near(near, (u8)(near + ahead)), near + ahead);
}

/* The same with 32 of 64 bits, around and far from the places where those wrap. */
static void seq_near64(struct kunit *test)
{
	static const s64 ahead[] = { -2147483648LL, -100, -1, 0, 1, 100, 2147483647LL };
	u64 near = (5ULL << 32) + *(const u32 *)test->param_value;
	int i;

	for (i = 0; i < ARRAY_SIZE(ahead); i++)
		KUNIT_EXPECT_EQ(test, rch_seq_near64(near, (u32)(near + ahead[i])),
				near + ahead[i]);
}

static void seq_after(struct kunit *test)
{
	u32 number = *(const u32 *)test->param_value;
	int i;

	for (i = 0; i < 10; i++) {
		u32 next = rch_seq_after(number);

		KUNIT_EXPECT_NE(test, next, 0U);
		KUNIT_EXPECT_EQ(test, next - number, number == U32_MAX ? 2U : 1U);
		number = next;
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(seq_order, start_gen_params),
	KUNIT_CASE_PARAM(seq_range, start_gen_params),
	KUNIT_CASE_PARAM(seq_near, start_gen_params),
	KUNIT_CASE_PARAM(seq_near64, start_gen_params),
	KUNIT_CASE_PARAM(seq_after, start_gen_params),
	{}
};

struct kunit_suite rch_seq_suite = {
	.name = "rdmachan_seq",
	.test_cases = cases,
};
