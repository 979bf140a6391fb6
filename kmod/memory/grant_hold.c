// SPDX-License-Identifier: GPL-2.0
/*
 * grant_hold.c - memory that the peer lends
 *
 * Operation. A message brings grants; the program gets an event of each in its place. A call
 * that accesses one has a reference, and looks before each step whether the grant has ended. The
 * grant is busy only while the adapter is at work: nothing that a program does with its own memory
 * delays a revocation. A grant that has ended is given back (RELEASE) when nobody is busy with it:
 * from then on this host will not use its keys.
 *
 * The peer. REVOKE is answered at once, or when the last access has ended. It may overtake
 * the message that brings the grant, which waits for room: then a *stone* lies in the table
 * until that comes. Numbers only grow, so that nothing needs to be kept of what has ended. But
 * they grow as sequence numbers do: a hostile peer comes back to one in three steps. A number that
 * is in use breaks the rule; one that was may be used again, and is another grant's.
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "memory/grant.h"
#include "pure/seq.h"

static void grant_held_free(struct kref *ref)
{
	struct rch_held *held = container_of(ref, struct rch_held, ref);

	rch_charge_end(&held->charge);
	kfree(held);
}

/* Any context. */
static void grant_held_put(struct rch_held *held)
{
	kref_put(&held->ref, grant_held_free);
}

static void grant_hold_release_sent(struct rch_word *word)
{
	grant_held_put(container_of(word, struct rch_held, release));
}

/* @cause, @detail: why there is none; that of no memory is there before. */
static struct rch_held *grant_hold_held_make(struct rch_chan *chan, u32 id, u32 keys, u32 *cause,
					     u32 *detail)
{
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_GRANTS] = 1,
		.of[RDMACHAN_LIMIT_BYTES] = struct_size_t(struct rch_held, key, keys),
	};
	struct rch_held *held;
	u32 refusal, which;

	held = rch_try(RCH_SITE_GRANT, kzalloc(struct_size(held, key, keys),
					       GFP_ATOMIC | __GFP_NOWARN));
	if (!held)
		return NULL;
	kref_init(&held->ref);
	held->id = id;
	held->release.sent = grant_hold_release_sent;
	rch_charge_begin_by_peer(&held->charge, chan->charge.user, chan->charge.exempt);
	refusal = rch_charge_take(&held->charge, &cost, true, &which);
	if (!refusal)
		return held;
	*cause = refusal;
	*detail = which;
	grant_held_put(held);
	return NULL;
}

/** rch_held_free_all - nobody can access them any more. Any context */
void rch_held_free_all(struct rch_grants *grants)
{
	struct rch_held *held;
	struct rb_node *node;

	while ((node = rb_first(&grants->held))) {
		held = rb_entry(node, struct rch_held, node);
		WARN_ON_ONCE(held->busy);
		rb_erase(node, &grants->held);
		grant_held_put(held);
	}
}

static int grant_hold_compare(const void *id, const struct rb_node *node)
{
	u32 a = *(const u32 *)id, b = rb_entry(node, struct rch_held, node)->id;

	return a < b ? -1 : a > b;
}

static int grant_hold_order(struct rb_node *fresh, const struct rb_node *node)
{
	return grant_hold_compare(&rb_entry(fresh, struct rch_held, node)->id, node);
}

/** rch_held_find - the grant or stone that has a number, or NULL. With held_lock */
struct rch_held *rch_held_find(struct rch_grants *grants, u32 id)
{
	struct rb_node *node;

	lockdep_assert_held(&grants->held_lock);
	node = rb_find(&id, &grants->held, grant_hold_compare);
	return node ? rb_entry(node, struct rch_held, node) : NULL;
}

/*
 * There are no more accesses. Return: whether it is to be given back now, by
 * grant_hold_give_back().
 */
static bool grant_hold_end_locked(struct rch_grants *grants, struct rch_held *held)
{
	lockdep_assert_held(&grants->held_lock);
	held->ended = true;
	if (held->busy)
		return false;
	rb_erase(&held->node, &grants->held);
	return true;
}

static void grant_hold_give_back(struct rch_grants *grants, struct rch_held *held)
{
	held->release.type = RCH_REC_RELEASE;
	held->release.length = sizeof(struct rch_wire_grant_end);
	rch_wire_grant_end_put(held->release.data, held->id, held->cause);
	rch_lane_word(&grants->chan->lane, &held->release);
}

/* A grant comes */

/* Return: 0, -EEXIST: the number is in use; or -ENOMEM, with @cause and @detail. */
static int grant_hold_keep(struct rch_grants *grants, const struct rch_grant_info *info, u32 *cause,
			   u32 *detail)
{
	struct rch_held *held, *old;
	int ret = 0;
	u32 i;

	held = grant_hold_held_make(grants->chan, info->id, info->keys, cause, detail);
	if (!held)
		return -ENOMEM;
	held->rights = info->rights;
	held->cookie = info->cookie;
	held->length = info->length;
	held->start = info->start;
	held->shift = info->shift;
	held->counted = info->uses;
	held->uses = info->uses;
	for (i = 0; i < info->keys; i++)
		held->key[i] = le32_to_cpu(info->key[i]);
	spin_lock_bh(&grants->held_lock);
	old = rch_held_find(grants, info->id);
	if (!old)
		rb_find_add(&held->node, &grants->held, grant_hold_order);
	else if (old->stone)
		/* It was revoked before it came. */
		rb_erase(&old->node, &grants->held);
	else
		ret = -EEXIST;
	grants->held_last = info->id;
	spin_unlock_bh(&grants->held_lock);
	if (old && !ret)
		grant_held_put(old);
	if (old)
		grant_held_put(held);
	return ret;
}

static struct rch_segment *grant_hold_event_make(const struct rch_record *r,
						 const struct rch_grant_info *infos, u32 count)
{
	u32 message, i, length;
	struct rdmachan_grant_event *event;
	struct rch_segment *seg;
	const u8 *bytes;
	void *data;

	message = rch_wire_grants_message(r, &bytes);
	length = count * sizeof(*event) + message;
	seg = rch_segment_make(length, GFP_ATOMIC, &data);
	if (!seg)
		return NULL;
	event = data;
	for (i = 0; i < count; i++, event++) {
		event->grant = infos[i].id;
		event->what = RDMACHAN_GRANT_GIVEN;
		event->count = count;
		event->length = infos[i].length;
		event->cookie = infos[i].cookie;
		event->rights = infos[i].rights;
	}
	memcpy(event, bytes, message);
	/* It takes of the window what came, and shows less. */
	seg->hidden = r->length - length;
	seg->length = r->length;
	seg->total = r->length;
	seg->bytes = r->length;
	seg->msg_flags = r->msg_flags;
	return seg;
}

/**
 * rch_grants_got - a message came that carries grants
 * @chan: channel
 * @r: its record, checked as far as the codec can
 * @seg: what the program will receive; NULL when the channel has ended for lack of memory
 *	or a limit
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_grants_got(struct rch_chan *chan, const struct rch_record *r,
			     struct rch_segment **seg)
{
	struct rch_grant_info infos[RCH_GRANTS_MAX];
	u32 count = rch_wire_grants_count(r), cause = RDMACHAN_CAUSE_RESOURCES, i;
	struct rch_grants *grants = rch_grants_get(chan, GFP_ATOMIC);
	u32 detail = ENOMEM;
	int ret;

	*seg = NULL;
	if (!chan->lane.peer_id)
		return RCH_RULE_STATE;
	if (!grants)
		goto err;
	rch_wire_grants_get(r, infos);
	for (i = 0; i < count; i++) {
		/* Only softirq of one link changes it. */
		if (!rch_seq_before(READ_ONCE(grants->held_last), infos[i].id))
			return RCH_RULE_GRANT;
		ret = grant_hold_keep(grants, &infos[i], &cause, &detail);
		if (ret == -EEXIST)
			return RCH_RULE_GRANT;
		if (ret)
			goto err;
	}
	*seg = grant_hold_event_make(r, infos, count);
	if (*seg)
		return RCH_RULE_OK;
err:
	rch_chan_cannot_keep(chan, cause, detail);
	return RCH_RULE_OK;
}

/** rch_grants_refuse - nobody will ever receive the message: give back what it carried */
void rch_grants_refuse(struct rch_chan *chan, const struct rch_record *r)
{
	struct rch_grant_info infos[RCH_GRANTS_MAX];
	u32 count = rch_wire_grants_count(r), i;

	rch_wire_grants_get(r, infos);
	for (i = 0; i < count; i++)
		rch_held_release(chan, infos[i].id);
}

/** rch_grants_unread - the program will not read what came: give back what it carried */
void rch_grants_unread(struct rch_chan *chan, const struct rch_segment *seg)
{
	const struct rdmachan_grant_event *event = (const void *)seg->data;
	u32 count = event->count, i;

	for (i = 0; i < count; i++)
		rch_held_release(chan, event[i].grant);
}

/* A grant goes */

/*
 * It has not come yet. Return: the rule that was broken.
 */
static enum rch_rule grant_hold_lay_stone(struct rch_grants *grants, u32 id)
{
	u32 cause = RDMACHAN_CAUSE_RESOURCES, detail = ENOMEM;
	struct rch_held *stone, *answer = NULL;

	stone = grant_hold_held_make(grants->chan, id, 0, &cause, &detail);
	if (stone)
		answer = grant_hold_held_make(grants->chan, id, 0, &cause, &detail);
	if (!answer)
		goto err;
	stone->stone = true;
	stone->ended = true;
	spin_lock_bh(&grants->held_lock);
	/* Softirq of one link alone adds any: none has the number, as the caller has seen. */
	rb_find_add(&stone->node, &grants->held, grant_hold_order);
	spin_unlock_bh(&grants->held_lock);
	grant_hold_give_back(grants, answer);
	return RCH_RULE_OK;
err:
	if (stone)
		grant_held_put(stone);
	rch_chan_cannot_keep(grants->chan, cause, detail);
	return RCH_RULE_OK;
}

/** rch_held_revoke_got - the owner wants a grant back. Return: the rule that was broken */
enum rch_rule rch_held_revoke_got(struct rch_grants *grants, const struct rch_record *r)
{
	enum rch_rule rule = RCH_RULE_OK;
	bool now = false, early = false;
	struct rch_held *held;
	u32 id, cause;

	rch_wire_grant_end_get(r, &id, &cause);
	if (!id || cause)
		return RCH_RULE_GRANT;
	spin_lock_bh(&grants->held_lock);
	held = rch_held_find(grants, id);
	early = rch_seq_before(grants->held_last, id);
	/* Whose number seems to be ahead may be held since 2^31 others were given. */
	if (held && held->stone)
		rule = RCH_RULE_GRANT;
	else if (held && !held->ended)
		now = grant_hold_end_locked(grants, held);
	spin_unlock_bh(&grants->held_lock);
	if (now)
		grant_hold_give_back(grants, held);
	else if (!held && early)
		rule = grant_hold_lay_stone(grants, id);
	return rule;
}

/* Why there is no such grant to be used. */
static int grant_hold_missing(const struct rch_grants *grants, u32 id)
{
	return id && !rch_seq_before(grants->held_last, id) ? -EKEYREVOKED : -ENOENT;
}

/**
 * rch_held_release - give a grant back
 * @chan: channel
 * @id: its number
 *
 * Any context. Return: 0, -ENOENT or -EKEYREVOKED.
 */
int rch_held_release(struct rch_chan *chan, u32 id)
{
	struct rch_grants *grants = rch_grants_of(chan);
	struct rch_held *held;
	bool now = false;
	int ret = 0;

	if (!grants)
		return -ENOENT;
	spin_lock_bh(&grants->held_lock);
	held = rch_held_find(grants, id);
	if (!held || held->ended)
		ret = grant_hold_missing(grants, id);
	else
		now = grant_hold_end_locked(grants, held);
	spin_unlock_bh(&grants->held_lock);
	if (now)
		grant_hold_give_back(grants, held);
	return ret;
}

/* Accesses */

/**
 * rch_held_call_begin - a call is about to access a grant, in one step or in many
 * @chan: channel
 * @id: number of the grant
 * @right: the right that it needs
 * @offset: where in the grant
 * @length: bytes
 * @place: result
 *
 * Return: 0, then rch_held_call_end() must follow; or -ENOENT, -EKEYREVOKED, -EACCES,
 * -ERANGE; -EINVAL when it is atomic and not aligned.
 */
int rch_held_call_begin(struct rch_chan *chan, u32 id, u32 right, u64 offset, u64 length,
			struct rch_held_place *place)
{
	struct rch_grants *grants = rch_grants_of(chan);
	struct rch_held *held;
	int ret = 0;

	if (!grants)
		return -ENOENT;
	spin_lock_bh(&grants->held_lock);
	held = rch_held_find(grants, id);
	if (!held || held->ended || (held->counted && !held->uses))
		ret = grant_hold_missing(grants, id);
	else if (!(held->rights & right))
		ret = -EACCES;
	else if (!rch_grant_range_ok(held->length, offset, length))
		ret = -ERANGE;
	else if (right == RDMACHAN_RIGHT_ATOMIC && (held->start + offset) % sizeof(u64))
		ret = -EINVAL;
	if (!ret) {
		kref_get(&held->ref);
		place->held = held;
		held->calls++;
		held->uses -= held->counted;
		place->rights = held->rights;
		place->start = held->start;
		place->shift = held->shift;
	}
	spin_unlock_bh(&grants->held_lock);
	return ret;
}

/** rch_held_call_end - the call is over; a grant that is used up is given back */
void rch_held_call_end(struct rch_chan *chan, struct rch_held *held)
{
	struct rch_grants *grants = rch_grants_of(chan);
	bool now = false;

	spin_lock_bh(&grants->held_lock);
	held->calls--;
	if (!held->ended && !held->calls && held->counted && !held->uses)
		now = grant_hold_end_locked(grants, held);
	spin_unlock_bh(&grants->held_lock);
	if (now)
		grant_hold_give_back(grants, held);
	grant_held_put(held);
}

/**
 * rch_held_begin - be busy with a grant
 * @chan: channel
 * @held: grant that the caller's call has begun with
 *
 * Until rch_held_end() neither program nor peer may be waited for, only adapters.
 * Return: 0, -EKEYREVOKED, or why the channel has ended.
 */
int rch_held_begin(struct rch_chan *chan, struct rch_held *held)
{
	struct rch_grants *grants = rch_grants_of(chan);
	int ret = 0;

	if (!rch_lane_access_begin(&chan->lane))
		return rch_chan_tx_check(chan) ?: -ECONNRESET;
	spin_lock_bh(&grants->held_lock);
	if (held->ended)
		ret = -EKEYREVOKED;
	else
		held->busy++;
	spin_unlock_bh(&grants->held_lock);
	if (ret)
		rch_lane_access_end(&chan->lane);
	return ret;
}

/** rch_held_end - the adapter is done; a grant that has ended meanwhile is given back */
void rch_held_end(struct rch_chan *chan, struct rch_held *held)
{
	struct rch_grants *grants = rch_grants_of(chan);
	bool now;

	spin_lock_bh(&grants->held_lock);
	held->busy--;
	now = held->ended && grant_hold_end_locked(grants, held);
	spin_unlock_bh(&grants->held_lock);
	if (now)
		grant_hold_give_back(grants, held);
	rch_lane_access_end(&chan->lane);
}
