/* SPDX-License-Identifier: GPL-2.0 */
/*
 * keep.h - how many of what is dear to make a pool keeps for those to come
 *
 * A pool keeps as many as were lately wanted at a time. It looks now and then. A region that was
 * not wanted for a while goes by halves, one half with each look, so that a burst that comes back
 * after some of it has gone finds the rest.
 */
#ifndef _RCH_PURE_KEEP_H
#define _RCH_PURE_KEEP_H

#include "types.h"

/** RCH_KEEP_MS - milliseconds for which a pool keeps what was wanted once */
#define RCH_KEEP_MS 16000U

/**
 * struct rch_keep - of a pool that begins with zeros
 * @taken: how many are taken now
 * @peak: how many were at a time since the last look, at most
 * @need: how many may be wanted at a time, as far as the past tells
 * @since: when a look last saw that so many were, in milliseconds
 */
struct rch_keep {
	u32 taken;
	u32 peak;
	u32 need;
	u32 since;
};

/** rch_keep_take - one is taken, of the pool or newly made */
static inline void rch_keep_take(struct rch_keep *keep)
{
	keep->taken++;
	if (keep->peak < keep->taken)
		keep->peak = keep->taken;
}

/** rch_keep_give - one that was taken is in the pool, or gone */
static inline void rch_keep_give(struct rch_keep *keep)
{
	keep->taken--;
}

/** rch_keep_look - a look at @now_ms. Return: how many the pool is to have besides those taken */
static inline u32 rch_keep_look(struct rch_keep *keep, u32 now_ms)
{
	if (keep->peak >= keep->need) {
		keep->need = keep->peak;
		keep->since = now_ms;
	} else if (now_ms - keep->since >= RCH_KEEP_MS) {
		keep->need -= (keep->need - keep->peak + 1) / 2;
	}
	keep->peak = keep->taken;
	return keep->need - keep->taken;
}

#endif /* _RCH_PURE_KEEP_H */
