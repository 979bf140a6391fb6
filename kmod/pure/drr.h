/* SPDX-License-Identifier: GPL-2.0 */
/*
 * drr.h - which channel sends next: deficit round robin
 *
 * Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin",
 * SIGCOMM 1995. Each flow that has something to send gets a quantum of bytes per
 * round, times its weight, and keeps what it does not use while it has more.
 */
#ifndef _RCH_PURE_DRR_H
#define _RCH_PURE_DRR_H

#include "types.h"

/**
 * struct rch_flow - one sender
 * @next: next in the round; NULL when the flow is not in one
 * @prev: the one before
 * @deficit: bytes it may send now
 * @cost: bytes of its next item; set by the owner before the flow is added and
 *	after each item
 * @weight: share, at least 1
 */
struct rch_flow {
	struct rch_flow *next;
	struct rch_flow *prev;
	u32 deficit;
	u32 cost;
	u32 weight;
};

/**
 * struct rch_drr - the round
 * @head: whose turn it is; NULL when nobody has anything to send
 * @quantum: bytes per round and weight
 */
struct rch_drr {
	struct rch_flow *head;
	u32 quantum;
};

/** rch_flow_init - a flow with nothing to send */
static inline void rch_flow_init(struct rch_flow *f, u32 weight)
{
	f->next = NULL;
	f->prev = NULL;
	f->deficit = 0;
	f->cost = 0;
	f->weight = weight;
}

/** rch_flow_active - whether @f is in a round */
static inline bool rch_flow_active(const struct rch_flow *f)
{
	return f->next;
}

void rch_drr_add(struct rch_drr *d, struct rch_flow *f);
void rch_drr_remove(struct rch_drr *d, struct rch_flow *f);
struct rch_flow *rch_drr_pick(struct rch_drr *d);

/** rch_drr_charge - @f has sent its item of @cost bytes */
static inline void rch_drr_charge(struct rch_flow *f, u32 cost)
{
	f->deficit -= min(cost, f->deficit);
}

#endif /* _RCH_PURE_DRR_H */
