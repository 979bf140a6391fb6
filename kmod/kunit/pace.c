// SPDX-License-Identifier: GPL-2.0
/*
 * pace.c - tests of how many bytes are under way
 *
 * A wire is modelled: it carries bytes at a rate, one after another, and the bytes that have
 * arrived are known a round trip later.
 */
#include "../pure/pace.h"
#include "suites.h"

#define MBIT_1000 125U	/* bytes per microsecond */
#define BATCHES 128

struct wire {
	struct rch_pace pace;
	struct rch_pace_batch batch[BATCHES];
	u64 arrives[BATCHES];
	u32 first;
	u32 count;
	u32 rate;
	u32 trip;
	u64 now;
	u64 free;	/* the wire has nothing to send from then on */
	u64 sent;
	u32 most;
	u32 trips;
	/* Batches that found nothing under way; and whether an access is, so that none measures. */
	u32 dry;
	bool accesses;
};

static void wire_init(struct wire *w, u32 rate, u32 trip)
{
	memset(w, 0, sizeof(*w));
	rch_pace_init(&w->pace);
	w->rate = rate;
	w->trip = trip;
	w->now = 1000;
}

static void wire_post(struct wire *w, u32 bytes)
{
	u32 at = (w->first + w->count++) % BATCHES;

	w->dry += !w->pace.flight;
	if (w->accesses && rch_pace_wants_trip(&w->pace, w->now)) {
		rch_pace_believe(&w->pace, w->now);
	} else if (rch_pace_wants_trip(&w->pace, w->now)) {
		rch_pace_measured(&w->pace, max_t(u64, w->free, w->now) - w->now + w->trip, w->now);
		w->trips++;
	}
	rch_pace_posted(&w->pace, &w->batch[at], bytes, w->now);
	w->free = max(w->free, w->now) + bytes / w->rate;
	w->arrives[at] = w->free + w->trip;
	w->sent += bytes;
	w->most = max(w->most, w->pace.flight);
}

/* The oldest batch ends. */
static void wire_end(struct wire *w)
{
	w->now = max(w->now, w->arrives[w->first]);
	rch_pace_ended(&w->pace, &w->batch[w->first], w->now);
	w->first = (w->first + 1) % BATCHES;
	w->count--;
}

/* Writers that never run dry, for @us. */
static void wire_run(struct wire *w, u64 us)
{
	const u64 end = w->now + us;

	while (w->now < end) {
		while (w->count < BATCHES && rch_pace_may(&w->pace, rch_pace_size(&w->pace)))
			wire_post(w, rch_pace_size(&w->pace));
		wire_end(w);
	}
}

static void wire_drain(struct wire *w)
{
	while (w->count)
		wire_end(w);
}

/* Of all wires: never idle for lack of bytes, and not much more than that under way. */
static void pace_fits(struct kunit *test)
{
	static const u32 rates[] = { 1, 12, 125, 1250, 12500 }, trips[] = { 5, 100, 1000, 20000 };
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u64 sent, begun, bdp, queue;
	int i, k;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (i = 0; i < ARRAY_SIZE(rates); i++)
		for (k = 0; k < ARRAY_SIZE(trips); k++) {
			wire_init(w, rates[i], trips[k]);
			wire_run(w, 5000000);
			sent = w->sent;
			begun = w->now;
			w->most = 0;
			wire_run(w, 2000000);
			bdp = (u64)rates[i] * trips[k];
			queue = max_t(u64, RCH_PACE_QUEUE_MIN, rates[i] * RCH_PACE_QUEUE_US);
			/* A long and fast wire takes more than is ever under way. */
			if (bdp + RCH_PACE_BATCH_MAX < RCH_PACE_MAX)
				KUNIT_EXPECT_GE_MSG(test, (w->sent - sent) * 100,
						    (w->now - begun) * rates[i] * 95,
						    "rate %u, trip %u", rates[i], trips[k]);
			KUNIT_EXPECT_LE_MSG(test, (u64)w->most,
					    min_t(u64, 2 * bdp + queue, RCH_PACE_MAX),
					    "rate %u, trip %u", rates[i], trips[k]);
		}
}

/* A wire that becomes faster is found out at once, and one that becomes slower in two windows. */
static void pace_follows(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_init(w, MBIT_1000, 100);
	wire_run(w, 1000000);
	KUNIT_EXPECT_LE(test, w->pace.cap, 160000U);
	w->rate = 10 * MBIT_1000;
	wire_run(w, 1000000);
	KUNIT_EXPECT_GE(test, rch_pace_rate(&w->pace), 9 * MBIT_1000 << RCH_PACE_SHIFT);
	w->rate = MBIT_1000;
	wire_run(w, 3 * (u64)RCH_PACE_AGE_US);
	KUNIT_EXPECT_LE(test, rch_pace_rate(&w->pace), 2 * MBIT_1000 << RCH_PACE_SHIFT);
	KUNIT_EXPECT_GE(test, rch_pace_rate(&w->pace), MBIT_1000 / 2 << RCH_PACE_SHIFT);
}

/* However long it goes on, a queue of our own is not taken for the wire. */
static void pace_measures(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_init(w, MBIT_1000, 100);
	wire_run(w, 100 * (u64)RCH_PACE_AGE_US);
	KUNIT_EXPECT_EQ(test, w->pace.trip, 100U);
	KUNIT_EXPECT_LE(test, w->pace.cap, 160000U);
	KUNIT_EXPECT_GE(test, w->trips, 90U);
	KUNIT_EXPECT_LE(test, w->trips, 110U);
	/* The wire becomes longer. */
	w->trip = 5000;
	wire_run(w, 2 * (u64)RCH_PACE_AGE_US);
	KUNIT_EXPECT_EQ(test, w->pace.trip, 5000U);
}

/* Beside accesses the wire runs dry once in ten seconds, as if the trip were measured. */
static void pace_believes(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_init(w, MBIT_1000, 100);
	wire_run(w, 1000000);
	w->accesses = true;
	w->dry = 0;
	wire_run(w, 100 * (u64)RCH_PACE_AGE_US);
	KUNIT_EXPECT_EQ(test, w->pace.trip, 100U);
	KUNIT_EXPECT_GE(test, w->dry, 90U);
	KUNIT_EXPECT_LE(test, w->dry, 110U);
}

/*
 * Accesses are under way from the beginning. A wire of 8 Mbit/s keeps what it can send in a second,
 * and not in four; one that has no queue of a second keeps all.
 */
static void pace_guesses(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_init(w, MBIT_1000 / 125, 20000);
	w->accesses = true;
	wire_run(w, 60 * 1000000ULL);
	KUNIT_EXPECT_EQ(test, w->pace.trip, 0U);
	KUNIT_EXPECT_LE(test, w->pace.cap, 1200000U);
	KUNIT_EXPECT_GE(test, w->pace.cap, 1000000U);
	wire_init(w, MBIT_1000, 20000);
	w->accesses = true;
	wire_run(w, 60 * 1000000ULL);
	KUNIT_EXPECT_EQ(test, w->pace.trip, 0U);
	KUNIT_EXPECT_EQ(test, w->pace.cap, RCH_PACE_MAX);
}

/* Small batches, one at a time, tell nothing of what the wire could take. */
static void pace_seldom(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 cap, i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_init(w, 10 * MBIT_1000, 20000);
	wire_run(w, 1000000);
	cap = w->pace.cap;
	for (i = 0; i < 5000; i++) {
		wire_drain(w);
		w->now += 20000;
		wire_post(w, 4096);
	}
	KUNIT_EXPECT_EQ(test, w->pace.cap, cap);
}

/* Others fill the queue: the round trip is measured before it is old, and more is under way. */
static void pace_beside(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_init(w, MBIT_1000, 100);
	wire_run(w, 2000000);
	for (i = 0; i < 100; i++) {
		/* 50 ms of others' bytes are always ahead. */
		w->free = max(w->free, w->now + 50000);
		wire_run(w, 10000);
	}
	KUNIT_EXPECT_GE(test, w->pace.trip, 20000U);
	KUNIT_EXPECT_GE(test, w->pace.cap, 1000000U);
}

static void pace_ends(struct kunit *test)
{
	struct rch_pace_batch batch;
	struct rch_pace pace;

	rch_pace_init(&pace);
	KUNIT_EXPECT_TRUE(test, rch_pace_may(&pace, 0xffffffffU));
	KUNIT_EXPECT_EQ(test, rch_pace_size(&pace), RCH_PACE_BATCH_MAX);
	rch_pace_posted(&pace, &batch, RCH_PACE_MAX, 0);
	KUNIT_EXPECT_FALSE(test, rch_pace_may(&pace, 1));
	rch_pace_dropped(&pace, &batch);
	KUNIT_EXPECT_EQ(test, pace.flight, 0U);
	/* Time that stands still, and an age: no division by nothing, nothing overflows. */
	rch_pace_posted(&pace, &batch, RCH_PACE_MAX, 7);
	rch_pace_ended(&pace, &batch, 7);
	rch_pace_measured(&pace, 0xffffffffU, 8);
	rch_pace_posted(&pace, &batch, 1, 8);
	rch_pace_ended(&pace, &batch, ~0ULL);
	KUNIT_EXPECT_LE(test, pace.cap, RCH_PACE_MAX);
	KUNIT_EXPECT_TRUE(test, rch_pace_may(&pace, 1));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pace_fits),
	KUNIT_CASE(pace_follows),
	KUNIT_CASE(pace_measures),
	KUNIT_CASE(pace_believes),
	KUNIT_CASE(pace_guesses),
	KUNIT_CASE(pace_seldom),
	KUNIT_CASE(pace_beside),
	KUNIT_CASE(pace_ends),
	{}
};

struct kunit_suite rch_pace_suite = {
	.name = "rdmachan_pace",
	.test_cases = cases,
};
