// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - tests of the indices of rings
 */
#include "../pure/ring.h"
#include "suites.h"

#define STEPS 20000
#define SIZE 64

static void ring_counts(struct kunit *test)
{
	static const u32 good[] = { 1, 2, 4, 1024, 32768 };
	static const u32 bad[] = { 0, 3, 5, 1023, 1025, 32767, 65536, 0x80000000, 0xffffffff };
	int i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_TRUE(test, rch_ring_count_ok(good[i], 32768));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_FALSE(test, rch_ring_count_ok(bad[i], 32768));
	KUNIT_EXPECT_TRUE(test, rch_ring_count_ok(0x80000000, 0xffffffff));
}

struct ring_case {
	u32 producer;
	u32 consumer;
	u32 count;
	u32 filled;
	u32 room;
	bool agree;
};

static const struct ring_case cases[] = {
	{ 0, 0, 8, 0, 8, true },
	{ 1, 0, 8, 1, 7, true },
	{ 8, 0, 8, 8, 0, true },
	{ 9, 0, 8, 0, 0, false },
	{ 0, 1, 8, 0, 0, false },
	{ 1, 0, 1, 1, 0, true },
	{ 2, 0, 1, 0, 0, false },
	{ 3, 0xfffffffe, 8, 5, 3, true },
	{ 6, 0xfffffffe, 8, 8, 0, true },
	{ 7, 0xfffffffe, 8, 0, 0, false },
	{ 0x80000000, 0x7fffffff, 8, 1, 7, true },
	{ 0x80000000, 0, 8, 0, 0, false },
	{ 0xffffffff, 0, 32768, 0, 0, false },
	{ 0, 0xffffffff, 32768, 1, 32767, true },
};

static void ring_indices(struct kunit *test)
{
	const struct ring_case *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		KUNIT_EXPECT_EQ(test, rch_ring_agree(c->producer, c->consumer, c->count),
				c->agree);
		KUNIT_EXPECT_EQ(test, rch_ring_filled(c->producer, c->consumer, c->count),
				c->filled);
		KUNIT_EXPECT_EQ(test, rch_ring_room(c->producer, c->consumer, c->count),
				c->room);
	}
}

/* Wherever the program's index jumps to, an entry is in the ring, and room is bounded. */
static void ring_hostile(struct kunit *test)
{
	struct rnd_state rnd;
	bool ok = true;
	int i;

	prandom_seed_state(&rnd, 2);
	for (i = 0; i < STEPS; i++) {
		u32 count = 1U << rch_below(&rnd, 16);
		u32 mine = prandom_u32_state(&rnd), theirs = prandom_u32_state(&rnd);
		size_t place = rch_ring_place(mine, count, SIZE);

		if (rch_chance(&rnd, 2))
			theirs = mine - rch_below(&rnd, 2 * count + 1);
		ok = ok && rch_ring_filled(theirs, mine, count) <= count;
		ok = ok && rch_ring_room(mine, theirs, count) <= count;
		ok = ok && place >= RCH_RING_ENTRIES;
		ok = ok && place + SIZE <= rch_ring_bytes(count, SIZE);
	}
	KUNIT_EXPECT_TRUE(test, ok);
}

/* Two honest sides, through the wrap-around: each entry comes once, and in order. */
static void ring_wraps(struct kunit *test)
{
	u32 producer = 0xffffffff - STEPS / 4, consumer = producer, put = 0, taken = 0;
	static u32 entries[16];
	struct rnd_state rnd;
	bool ok = true;
	u32 n;
	int i;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < STEPS; i++) {
		n = rch_below(&rnd, rch_ring_room(producer, consumer, 16) + 1);
		while (n--)
			entries[producer++ & 15] = put++;
		n = rch_below(&rnd, rch_ring_filled(producer, consumer, 16) + 1);
		while (n--)
			ok = ok && entries[consumer++ & 15] == taken++;
		ok = ok && put - taken == rch_ring_filled(producer, consumer, 16);
	}
	KUNIT_EXPECT_TRUE(test, ok);
	KUNIT_EXPECT_LT(test, producer, 0x80000000);
}

static struct kunit_case ring_tests[] = {
	KUNIT_CASE(ring_counts),
	KUNIT_CASE(ring_indices),
	KUNIT_CASE(ring_hostile),
	KUNIT_CASE(ring_wraps),
	{}
};

struct kunit_suite rch_ring_suite = {
	.name = "rdmachan_ring",
	.test_cases = ring_tests,
};
