/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trip.h - how long a round trip to the peer takes
 *
 * A round trip that takes longer than the shortest one has waited: in the adapter, in the wire's
 * queues, or for a processor. So the shortest one of the last seconds is that of the wire itself
 * (N. Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016). Two
 * windows of time are kept, so that a path that has become longer is found out.
 */
#ifndef _RCH_PURE_TRIP_H
#define _RCH_PURE_TRIP_H

#include "types.h"

/** RCH_TRIP_WINDOW - milliseconds of a window */
#define RCH_TRIP_WINDOW 10000U
/** RCH_TRIP_NONE - no round trip was measured */
#define RCH_TRIP_NONE 0xffffffffU

/**
 * struct rch_trip - round trips of a path
 * @shortest: of this window, in microseconds, or RCH_TRIP_NONE
 * @before: of the window before
 * @begun: when this window began, in milliseconds
 */
struct rch_trip {
	u32 shortest;
	u32 before;
	u32 begun;
};

/** rch_trip_init - nothing is known yet */
static inline void rch_trip_init(struct rch_trip *trip, u32 now_ms)
{
	trip->shortest = RCH_TRIP_NONE;
	trip->before = RCH_TRIP_NONE;
	trip->begun = now_ms;
}

/** rch_trip_measured - one has taken @us microseconds, and ends at @now_ms */
static inline void rch_trip_measured(struct rch_trip *trip, u32 us, u32 now_ms)
{
	if (now_ms - trip->begun >= RCH_TRIP_WINDOW) {
		trip->before = trip->shortest;
		trip->shortest = RCH_TRIP_NONE;
		trip->begun = now_ms;
	}
	if (us < trip->shortest)
		trip->shortest = us;
}

/** rch_trip_us - the shortest one of late, in microseconds; 0 when none is known */
static inline u32 rch_trip_us(const struct rch_trip *trip)
{
	u32 us = trip->shortest < trip->before ? trip->shortest : trip->before;

	return us == RCH_TRIP_NONE ? 0 : us;
}

#endif /* _RCH_PURE_TRIP_H */
