// SPDX-License-Identifier: GPL-2.0
/*
 * grant.c - the grants of a channel, given and held
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "memory/grant.h"

/**
 * rch_grants_get - the grants of a channel, made if there were none
 * @chan: channel
 * @gfp: how to allocate
 *
 * Return: them, or NULL without memory.
 */
struct rch_grants *rch_grants_get(struct rch_chan *chan, gfp_t gfp)
{
	struct rch_grants *grants = rch_grants_of(chan), *other;

	if (grants)
		return grants;
	grants = rch_try(RCH_SITE_GRANT, kzalloc(sizeof(*grants), gfp));
	if (!grants)
		return NULL;
	grants->chan = chan;
	xa_init_flags(&grants->loans, XA_FLAGS_LOCK_BH);
	spin_lock_init(&grants->held_lock);
	grants->held = RB_ROOT;
	INIT_LIST_HEAD(&grants->ending);
	INIT_LIST_HEAD(&grants->asked);
	INIT_LIST_HEAD(&grants->waiting);
	INIT_WORK(&grants->work, rch_asked_work);
	INIT_LIST_HEAD(&grants->turns.list);
	INIT_LIST_HEAD(&grants->turns.waiting);
	spin_lock_init(&grants->answers_lock);
	/* A channel has cost enough for these. */
	grants->answers_charged = RCH_ANSWERS_STEP;
	INIT_LIST_HEAD(&grants->back.list);
	grants->back.run = rch_loans_return;
	other = cmpxchg_release(&chan->grants, NULL, grants);
	if (!other)
		return grants;
	kfree(grants);
	return other;
}

/** rch_grants_free - the channel is being freed: no loan refers to it */
void rch_grants_free(struct rch_chan *chan)
{
	struct rch_grants *grants = rch_grants_of(chan);

	if (!grants)
		return;
	WARN_ON_ONCE(!xa_empty(&grants->loans) || !list_empty(&grants->asked) ||
		     grants->turns_taken);
	rch_held_free_all(grants);
	xa_destroy(&grants->loans);
	kfree(grants);
}

static int grant_describe_lent(struct rch_grants *grants, u32 id, struct rdmachan_object *out)
{
	struct rch_loan *loan;
	u32 number = 0;

	xa_lock_bh(&grants->loans);
	loan = xa_load(&grants->loans, id);
	if (loan && rch_loan_live(loan)) {
		kref_get(&loan->ref);
		number = loan->object.id;
	} else {
		loan = NULL;
	}
	xa_unlock_bh(&grants->loans);
	if (!loan)
		return -ENOENT;
	rch_object_describe(&loan->object, out);
	/* It may be struck off meanwhile. */
	out->id = number;
	rch_loan_put(loan);
	return 0;
}

static int grant_describe_held(struct rch_grants *grants, u32 id, struct rdmachan_object *out)
{
	struct rch_chan *chan = grants->chan;
	const struct rch_link *link = chan->lane.link;
	const struct rch_held *held;
	bool found;

	/* Nothing can be accessed any more. */
	if (!rch_lane_may_access(&chan->lane))
		return -ENOENT;
	rch_object_begin(out, RDMACHAN_KIND_GRANT, chan->charge.user->uid);
	out->link_id = link->object.id;
	out->service = chan->service;
	out->active = chan->active;
	rch_addr_from_sockaddr(&out->peer, &link->peer);
	spin_lock_bh(&grants->held_lock);
	held = rch_held_find(grants, id);
	found = held && !held->stone;
	if (found) {
		out->state = held->ended ? RDMACHAN_STATE_CLOSING : RDMACHAN_STATE_OPEN;
		out->grant = held->id;
		out->rights = held->rights;
		out->cookie = held->cookie;
		out->length = held->length;
		out->uses_left = held->counted ? held->uses : ~0ULL;
	}
	spin_unlock_bh(&grants->held_lock);
	return found ? 0 : -ENOENT;
}

/**
 * rch_grant_describe - what there is to know about a grant
 * @chan: channel
 * @id: its number there
 * @held: it is one that is held; else one that is lent
 * @out: result
 *
 * Return: 0; or -ENOENT, there is no such grant, or it has ended.
 */
int rch_grant_describe(struct rch_chan *chan, u32 id, bool held, struct rdmachan_object *out)
{
	struct rch_grants *grants = rch_grants_of(chan);

	if (!grants)
		return -ENOENT;
	return held ? grant_describe_held(grants, id, out) : grant_describe_lent(grants, id, out);
}

/**
 * rch_grants_end - the peer of a channel has ended, or the link
 * @chan: channel
 * @cause: &enum rdmachan_cause, why
 *
 * A peer that has said so has no access under way any more; nor has anybody when the path is
 * drained. May be called again.
 */
void rch_grants_end(struct rch_chan *chan, u32 cause)
{
	struct rch_grants *grants = rch_grants_of(chan);

	if (!grants)
		return;
	rch_atomics_end(grants);
	rch_loans_end(grants, cause);
}

/** rch_grants_record - a record of grants came. Softirq. Return: the rule that was broken */
enum rch_rule rch_grants_record(struct rch_chan *chan, const struct rch_record *r)
{
	struct rch_grants *grants;

	if (r->type == RCH_REC_REVOKE) {
		grants = rch_grants_get(chan, GFP_ATOMIC);
		if (grants)
			return rch_held_revoke_got(grants, r);
		rch_chan_cannot_keep(chan, RDMACHAN_CAUSE_RESOURCES, ENOMEM);
		return RCH_RULE_OK;
	}
	grants = rch_grants_of(chan);
	if (!grants)
		return RCH_RULE_GRANT;
	if (r->type == RCH_REC_RELEASE)
		return rch_loan_release_got(grants, r);
	if (r->type == RCH_REC_ATOMIC)
		return rch_loan_atomic_got(grants, r);
	return rch_atomic_done_got(grants, r);
}
