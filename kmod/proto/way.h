/* SPDX-License-Identifier: GPL-2.0 */
/*
 * way.h - which way a message goes
 *
 * A message is *eager*: copied into frames and out of them, and sent without a question. Or it is
 * *placed*: its pages are written to where the peer's program wants it, in memory that the peer has
 * lent already, or that it is asked for. Placing spares two copies, and costs a key and words about
 * it; of pages that are not in a region, pinning them as well, at both ends. To ask costs a round
 * trip.
 *
 * rch_way() is asked last. A message is copied without asking it if the caller must not block
 * (message/send.c), if it is not in one piece of memory (rch_call_range()), or if its pages cannot
 * be pinned. So it is if the peer refuses, as no program there waits for it (rndv/cts.c).
 *
 * The size decides, where the pages lie, and the longer of the copies and the round trip. A
 * program that sends from pages of its own waits until the peer has them, which is a round trip
 * even where the peer has lent memory. So where round trips are long its messages are eager, as
 * far as one round trip's frames go.
 *
 * The device decides by what it can: one that lends no memory has every message copied, as its host
 * says no to a question, and lends none by itself. It does not decide by what it is: rxe and siw
 * were measured, and have no need of sizes of their own. Adapters in hardware were not measured.
 * See "From which size on" in Documentation/decisions.rst.
 */
#ifndef _RCH_PURE_WAY_H
#define _RCH_PURE_WAY_H

#include "../pure/types.h"

/** RCH_WAY_REGION_MIN - bytes from which on a message is placed whose pages are a region's */
#define RCH_WAY_REGION_MIN	32768U
/** RCH_WAY_PAGES_MIN - and one whose pages are to be pinned for it */
#define RCH_WAY_PAGES_MIN	65536U

/**
 * rch_way_is_placed - whether a message is to be placed, if it can be
 * @bytes: of the message; or of the room there is for one that is still to come
 * @pinned: that memory is a region's
 */
static inline bool rch_way_is_placed(u64 bytes, bool pinned)
{
	return bytes >= (pinned ? RCH_WAY_REGION_MIN : RCH_WAY_PAGES_MIN);
}

/** RCH_WAY_COPY_UNIT - bytes whose copies take as long as the parameter eager_us says */
#define RCH_WAY_COPY_UNIT	65536U

/** enum rch_way - how a message goes */
enum rch_way {
	RCH_WAY_EAGER,
	RCH_WAY_LENT,
	RCH_WAY_ASK,
};

/**
 * struct rch_way_facts - what decides
 * @bytes: of the message
 * @pinned: it lies in a region
 * @lent: the peer has lent memory for it
 * @asks: the peer may be asked for some
 * @trip_us: a round trip in microseconds; 0 when it is not known
 * @eager_us: the copies of RCH_WAY_COPY_UNIT bytes, likewise
 * @at_once: bytes that an idle channel sends before the peer has to give more credit
 */
struct rch_way_facts {
	u32 bytes;
	bool pinned;
	bool lent;
	bool asks;
	u32 trip_us;
	u32 eager_us;
	u32 at_once;
};

/** rch_way_trip_is_long - whether a round trip takes longer than the copies of @bytes */
static inline bool rch_way_trip_is_long(u32 bytes, u32 trip_us, u32 eager_us)
{
	return (u64)trip_us * RCH_WAY_COPY_UNIT > (u64)bytes * eager_us;
}

/** rch_way - how a message is to go */
static inline enum rch_way rch_way(const struct rch_way_facts *f)
{
	if (!rch_way_is_placed(f->bytes, f->pinned))
		return RCH_WAY_EAGER;
	if (!f->pinned && f->bytes <= f->at_once &&
	    rch_way_trip_is_long(f->bytes, f->trip_us, f->eager_us))
		return RCH_WAY_EAGER;
	if (f->lent)
		return RCH_WAY_LENT;
	return f->asks ? RCH_WAY_ASK : RCH_WAY_EAGER;
}

#endif /* _RCH_PURE_WAY_H */
