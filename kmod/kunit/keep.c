// SPDX-License-Identifier: GPL-2.0
/*
 * keep.c - tests of how many a pool keeps
 */
#include "../pure/keep.h"
#include "suites.h"

/**
 * struct keep_step - what happens to a pool, and then a look
 * @after_ms: since the look before
 * @take: so many are taken at a time
 * @hold: of them, these are not given back before the look
 * @give: of those held before, these are given back, ahead of all
 * @keeps: the result of the look
 */
struct keep_step {
	u32 after_ms;
	u32 take;
	u32 hold;
	u32 give;
	u32 keeps;
};

static void keep_step(struct kunit *test, struct rch_keep *keep, u32 *now,
		      const struct keep_step *s,
		      int number)
{
	u32 i;

	for (i = 0; i < s->give; i++)
		rch_keep_give(keep);
	for (i = 0; i < s->take; i++)
		rch_keep_take(keep);
	for (; i > s->hold; i--)
		rch_keep_give(keep);
	*now += s->after_ms;
	KUNIT_EXPECT_EQ_MSG(test, rch_keep_look(keep, *now), s->keeps, "look %d", number);
}

static void keep_run(struct kunit *test, const struct keep_step *steps, int count)
{
	struct rch_keep keep = {};
	u32 now = 0xffffff00U;	/* the clock wraps */
	int i;

	for (i = 0; i < count; i++)
		keep_step(test, &keep, &now, &steps[i], i);
}

#define RUN(test, steps) keep_run(test, steps, ARRAY_SIZE(steps))

static void keep_nothing(struct kunit *test)
{
	static const struct keep_step steps[] = { { 0 }, { RCH_KEEP_MS }, { RCH_KEEP_MS } };

	RUN(test, steps);
}

/* Wanted now and then: always there. */
static void keep_sparse(struct kunit *test)
{
	static const struct keep_step steps[] = {
		{ .after_ms = 1, .take = 3, .keeps = 3 },
		{ .after_ms = RCH_KEEP_MS - 1, .keeps = 3 },
		{ .after_ms = 10 * RCH_KEEP_MS, .take = 3, .keeps = 3 },
		{ .after_ms = RCH_KEEP_MS - 1, .keeps = 3 },
	};

	RUN(test, steps);
}

/* Nobody wants them any more: by halves. */
static void keep_silence(struct kunit *test)
{
	static const struct keep_step steps[] = {
		{ .after_ms = 1, .take = 12, .keeps = 12 },
		{ .after_ms = RCH_KEEP_MS - 1, .keeps = 12 },
		{ .after_ms = 1, .keeps = 6 },
		{ .after_ms = 1, .keeps = 3 },
		{ .after_ms = 1, .keeps = 1 },
		{ .after_ms = 1, .keeps = 0 },
		{ .after_ms = 1, .keeps = 0 },
	};

	RUN(test, steps);
}

/* Fewer are wanted than were: by halves, down to these, and these stay. */
static void keep_fewer(struct kunit *test)
{
	static const struct keep_step steps[] = {
		{ .after_ms = 1, .take = 8, .keeps = 8 },
		{ .after_ms = RCH_KEEP_MS, .take = 2, .keeps = 5 },
		{ .after_ms = 1, .take = 2, .keeps = 3 },
		{ .after_ms = 1, .take = 2, .keeps = 2 },
		{ .after_ms = RCH_KEEP_MS, .take = 2, .keeps = 2 },
		{ .after_ms = RCH_KEEP_MS - 1, .keeps = 2 },
		{ .after_ms = 1, .keeps = 1 },
		/* The burst is back. */
		{ .after_ms = 1, .take = 8, .keeps = 8 },
		{ .after_ms = RCH_KEEP_MS - 1, .keeps = 8 },
	};

	RUN(test, steps);
}

/* Those that are taken for long are not in the pool, and need no others. */
static void keep_taken(struct kunit *test)
{
	static const struct keep_step steps[] = {
		{ .after_ms = 1, .take = 4, .hold = 4, .keeps = 0 },
		{ .after_ms = RCH_KEEP_MS, .take = 1, .hold = 0, .keeps = 1 },
		{ .after_ms = RCH_KEEP_MS, .keeps = 0 },
		{ .after_ms = 1, .give = 3, .keeps = 3 },
		{ .after_ms = RCH_KEEP_MS, .keeps = 1 },
		{ .after_ms = 1, .keeps = 0 },
		{ .after_ms = 1, .give = 1, .keeps = 1 },
		{ .after_ms = RCH_KEEP_MS, .keeps = 0 },
	};

	RUN(test, steps);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(keep_nothing),
	KUNIT_CASE(keep_sparse),
	KUNIT_CASE(keep_silence),
	KUNIT_CASE(keep_fewer),
	KUNIT_CASE(keep_taken),
	{}
};

struct kunit_suite rch_keep_suite = {
	.name = "rdmachan_keep",
	.test_cases = cases,
};
