/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pace.h - how many bytes of large messages are under way at a time
 *
 * A batch that is posted beyond the rate of wire and peer waits in a queue: the adapter's, a
 * switch's. A frame that is posted later waits behind it, and nothing is faster for it. So the
 * bytes under way are bounded by what has been measured: twice the rate times the round trip, as in
 * BBR (N. Cardwell et al., ACM Queue 14(5), 2016). A little more may be, as bytes are posted in
 * batches and the next one must be there when one ends.
 *
 * The rate is the highest one of late. A batch that takes less than two round trips has found no
 * queue: the wire could have taken more, so it tells nothing but that the rate is not lower. While
 * no batch has found one, the bound is RCH_PACE_MAX, as it is at the most.
 *
 * The round trip is measured when nothing is under way, as a queue of our own would make it longer.
 * That is when bytes are posted after a pause, and every ten seconds, when no batch is posted until
 * nothing is under way. Where batches take far longer than they should, others have filled the
 * queue, and the round trip is measured sooner: with a longer one more is under way, so that a
 * share is kept. While an access is under way none is measured, and the last one is believed.
 *
 * Accesses may be under way from the first batch on, so that no round trip is ever known. One of
 * RCH_PACE_TRIP_GUESS is supposed then. Few paths are longer. What a batch finds that has taken
 * two of them is a queue, and the bound keeps that queue short of what is given up as stuck.
 *
 * Nothing here is locked. Times are microseconds of a clock that does not wrap.
 */
#ifndef _RCH_PURE_PACE_H
#define _RCH_PURE_PACE_H

#include "types.h"

/** RCH_PACE_MAX - bytes under way while nothing is known, and at the most */
#define RCH_PACE_MAX 4194304U
/** RCH_PACE_BATCH_MIN - bytes of the smallest batch */
#define RCH_PACE_BATCH_MIN 65536U
/** RCH_PACE_BATCH_MAX - bytes of the largest one */
#define RCH_PACE_BATCH_MAX 524288U
/** RCH_PACE_QUEUE_MIN - bytes above twice the rate times the round trip, at the least */
#define RCH_PACE_QUEUE_MIN (2 * RCH_PACE_BATCH_MIN)
/** RCH_PACE_QUEUE_US - or the bytes sent in this time, where that is more */
#define RCH_PACE_QUEUE_US 500U
/** RCH_PACE_AGE_US - for so long a round trip, and a rate, are believed */
#define RCH_PACE_AGE_US 10000000U
/** RCH_PACE_DOUBT_US - a round trip younger than this is not doubted */
#define RCH_PACE_DOUBT_US 1000000U
/** RCH_PACE_TRIP_GUESS - the round trip that is supposed while none is known */
#define RCH_PACE_TRIP_GUESS 500000U
/** RCH_PACE_SHIFT - a rate has so many bits behind the point */
#define RCH_PACE_SHIFT 7

/**
 * struct rch_pace - what is under way on a queue pair
 * @measured: when @trip was measured
 * @begun: when this window of the rate began
 * @delivered: bytes that have arrived; it wraps
 * @flight: bytes under way
 * @cap: bytes that may be
 * @trip: a round trip; 0: unknown
 * @rate: the highest rate of this window, in bytes per microsecond, by RCH_PACE_SHIFT
 * @before: that of the window before
 * @drain: no batch is posted until nothing is under way
 */
struct rch_pace {
	u64 measured;
	u64 begun;
	u32 delivered;
	u32 flight;
	u32 cap;
	u32 trip;
	u32 rate;
	u32 before;
	bool drain;
};

/**
 * struct rch_pace_batch - a batch that is under way
 * @at: when it was posted
 * @delivered: that of the queue pair then
 * @ahead: bytes under way then, its own included
 * @bytes: of it
 */
struct rch_pace_batch {
	u64 at;
	u32 delivered;
	u32 ahead;
	u32 bytes;
};

/** rch_pace_init - nothing is known, and nothing under way */
static inline void rch_pace_init(struct rch_pace *pace)
{
	*pace = (struct rch_pace){ .cap = RCH_PACE_MAX };
}

/** rch_pace_size - bytes that the next batch may have: a quarter of what may be under way */
static inline u32 rch_pace_size(const struct rch_pace *pace)
{
	const u32 size = pace->cap / 4 & ~(RCH_PACE_BATCH_MIN - 1);

	if (size < RCH_PACE_BATCH_MIN)
		return RCH_PACE_BATCH_MIN;
	return size > RCH_PACE_BATCH_MAX ? RCH_PACE_BATCH_MAX : size;
}

/**
 * rch_pace_may - whether a batch may be posted
 * @pace: of a queue pair
 * @bytes: of the batch
 *
 * One may whenever nothing is under way: so whoever waits is let in when the last batch has ended.
 */
static inline bool rch_pace_may(const struct rch_pace *pace, u32 bytes)
{
	return !pace->flight || (!pace->drain && pace->flight + bytes <= pace->cap);
}

/** rch_pace_wants_trip - whether a round trip is to be measured ahead of the next batch */
static inline bool rch_pace_wants_trip(const struct rch_pace *pace, u64 now)
{
	return !pace->flight &&
	       (pace->drain || !pace->trip || now - pace->measured >= RCH_PACE_AGE_US);
}

/** rch_pace_posted - @batch, of @bytes, is posted at @now */
static inline void rch_pace_posted(struct rch_pace *pace, struct rch_pace_batch *batch,
				   u32 bytes, u64 now)
{
	pace->drain = pace->drain && pace->flight;
	pace->flight += bytes;
	batch->at = now;
	batch->delivered = pace->delivered;
	batch->ahead = pace->flight;
	batch->bytes = bytes;
}

static inline u32 rch_pace_rate(const struct rch_pace *pace)
{
	return pace->rate > pace->before ? pace->rate : pace->before;
}

/* Bytes that take @us at @rate. */
static inline u64 rch_pace_bytes(u32 rate, u64 us)
{
	return rate * us >> RCH_PACE_SHIFT;
}

static inline u64 rch_pace_trip(const struct rch_pace *pace)
{
	return pace->trip ? pace->trip : RCH_PACE_TRIP_GUESS;
}

static inline void rch_pace_set_cap(struct rch_pace *pace)
{
	const u32 rate = rch_pace_rate(pace);
	u64 queue = rch_pace_bytes(rate, RCH_PACE_QUEUE_US);
	u64 cap;

	if (queue < RCH_PACE_QUEUE_MIN)
		queue = RCH_PACE_QUEUE_MIN;
	cap = queue + rch_pace_bytes(rate, 2 * rch_pace_trip(pace));
	pace->cap = rate && cap < RCH_PACE_MAX ? cap : RCH_PACE_MAX;
}

/** rch_pace_measured - a round trip has taken @us, and nothing was ahead of it */
static inline void rch_pace_measured(struct rch_pace *pace, u32 us, u64 now)
{
	pace->trip = us ? us : 1;
	pace->measured = now;
	rch_pace_set_cap(pace);
}

/**
 * rch_pace_believe - a round trip was to be measured, and cannot be
 * @pace: pace
 * @now: the time
 *
 * The last one counts for as long again: else the pipe would run empty for each batch.
 */
static inline void rch_pace_believe(struct rch_pace *pace, u64 now)
{
	if (pace->trip)
		pace->measured = now;
}

static inline void rch_pace_sample(struct rch_pace *pace, u32 rate, bool full, u64 now)
{
	if (full && now - pace->begun >= RCH_PACE_AGE_US) {
		pace->before = pace->rate;
		pace->rate = 0;
		pace->begun = now;
	}
	if (rate > pace->rate && (full || (rch_pace_rate(pace) && rate > pace->before)))
		pace->rate = rate;
}

/* Whether a batch has taken so long that others must have filled the queue. */
static inline bool rch_pace_doubts(const struct rch_pace *pace,
				   const struct rch_pace_batch *batch, u32 took, u64 now)
{
	const u32 rate = rch_pace_rate(pace);

	return pace->trip && now - pace->measured >= RCH_PACE_DOUBT_US &&
	       rch_pace_bytes(rate, took) >
	       4ULL * (batch->ahead + rch_pace_bytes(rate, pace->trip) + RCH_PACE_QUEUE_MIN);
}

/** rch_pace_ended - @batch has arrived, or is lost with the queue pair */
static inline void rch_pace_ended(struct rch_pace *pace, const struct rch_pace_batch *batch,
				  u64 now)
{
	const u64 took = now - batch->at;
	u32 us = took > 0xffffffffU ? 0xffffffffU : took;
	u32 bytes;

	pace->flight -= batch->bytes;
	pace->delivered += batch->bytes;
	bytes = pace->delivered - batch->delivered;
	/* More were not under way: the product has room for them. */
	if (bytes > 2 * RCH_PACE_MAX)
		bytes = 2 * RCH_PACE_MAX;
	us = us ? us : 1;
	rch_pace_sample(pace, (bytes << RCH_PACE_SHIFT) / us,
			us >= 2 * rch_pace_trip(pace), now);
	if (pace->flight && pace->trip &&
	    (now - pace->measured >= RCH_PACE_AGE_US || rch_pace_doubts(pace, batch, us, now)))
		pace->drain = true;
	rch_pace_set_cap(pace);
}

/**
 * rch_pace_busy - how long what is under way takes to leave
 * @pace: of a queue pair
 *
 * Return: microseconds; four round trips while no rate is known.
 */
static inline u32 rch_pace_busy(const struct rch_pace *pace)
{
	const u32 rate = rch_pace_rate(pace);

	if (!pace->flight)
		return 0;
	return rate ? (pace->flight / rate << RCH_PACE_SHIFT) : 4 * pace->trip;
}

/** rch_pace_dropped - @batch could not be posted */
static inline void rch_pace_dropped(struct rch_pace *pace, const struct rch_pace_batch *batch)
{
	pace->flight -= batch->bytes;
}

#endif /* _RCH_PURE_PACE_H */
