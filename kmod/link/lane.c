// SPDX-License-Identifier: GPL-2.0
/*
 * lane.c - a channel's end of its link
 */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "link/link.h"

static void lane_fixed_item_init(struct rch_item *item, u8 type, u8 flags, u32 length)
{
	INIT_LIST_HEAD(&item->list);
	item->frame = false;
	item->fixed = true;
	item->type = type;
	item->flags = flags;
	item->msg_flags = 0;
	item->length = length;
	item->total = 0;
	item->key = 0;
}

/** rch_lane_init - begin, not attached; @room is the send buffer */
void rch_lane_init(struct rch_lane *lane, u64 room)
{
	memset(lane, 0, sizeof(*lane));
	rch_flow_init(&lane->flow, 1);
	INIT_LIST_HEAD(&lane->txq);
	INIT_LIST_HEAD(&lane->control_list);
	INIT_LIST_HEAD(&lane->later_list);
	INIT_LIST_HEAD(&lane->words);
	lane->room = room;
	lane_fixed_item_init(&lane->fin, RCH_REC_CLOSE, 0, sizeof(struct rch_wire_close));
	lane_fixed_item_init(&lane->shut, RCH_REC_SHUT, RCH_SHUT_F_SEND, 0);
}

/**
 * rch_lane_attach - give a lane a number on a link
 * @lane: lane; records for it may come as soon as the peer knows the number
 * @link: link; the lane takes a reference and keeps it until its channel is freed
 * @gfp: how to allocate
 *
 * Return: 0, -ENOMEM, or -ENOTCONN when the link has ended.
 */
int rch_lane_attach(struct rch_lane *lane, struct rch_link *link, gfp_t gfp)
{
	u32 id;
	int ret;

	if (rch_no_memory(RCH_SITE_LANE))
		return -ENOMEM;
	ret = xa_alloc_cyclic_bh(&link->lanes.all, &id, NULL, xa_limit_32b,
				 &link->lanes.next, gfp);
	if (ret < 0)
		return ret;
	spin_lock_bh(&link->lock);
	ret = link->state == RCH_LINK_DEAD ? -ENOTCONN : 0;
	if (!ret) {
		kref_get(&link->ref);
		lane->link = link;
		lane->id = id;
		link->lanes.count++;
		WRITE_ONCE(link->lanes.used, true);
		/* The slot is there: this cannot fail for lack of memory. */
		xa_store(&link->lanes.all, id, lane, 0);
	} else {
		xa_erase(&link->lanes.all, id);
	}
	spin_unlock_bh(&link->lock);
	return ret;
}

static void lane_flow_leave(struct rch_lane *lane)
{
	if (rch_flow_active(&lane->flow))
		rch_drr_remove(&lane->link->lanes.drr, &lane->flow);
}

/* Before ACCEPT only whole messages may go, behind OPEN, and that there are no more of them. */
static bool lane_may_go(const struct rch_lane *lane, const struct rch_item *item)
{
	if (lane->peer_id)
		return true;
	if (lane->early != RCH_EARLY_ASKS || !lane->opened)
		return false;
	return item == &lane->shut ||
	       (item->type == RCH_REC_DATA &&
		(item->flags & ~RCH_DATA_F_TELL) == (RCH_DATA_F_FIRST | RCH_DATA_F_LAST));
}

/*
 * The first item may be sent now, or not any more: enter the round or leave it.
 */
static void lane_flow_update(struct rch_lane *lane)
{
	struct rch_item *item = list_first_entry_or_null(&lane->txq, struct rch_item, list);
	bool stalled;

	lockdep_assert_held(&lane->link->lock);
	stalled = item && item->type == RCH_REC_DATA &&
		  !rch_window_may_send(&lane->window, item->length);
	if (stalled && !lane->stalled)
		lane->stalls++;
	lane->stalled = stalled;
	if (!item || stalled || !lane_may_go(lane, item)) {
		lane_flow_leave(lane);
		return;
	}
	lane->flow.cost = rch_wire_space(item->length);
	if (!rch_flow_active(&lane->flow))
		rch_drr_add(&lane->link->lanes.drr, &lane->flow);
}

/* Most lanes have few items. What more there is, others of the link need not wait for. */
static void lane_purge(struct rch_lane *lane)
{
	bool was_full = lane->queued >= lane->room;
	struct rch_item *item;
	u32 count = 0;

	lockdep_assert_held(&lane->link->lock);
	lane_flow_leave(lane);
	/* Parts of the lane: they may be queued again, as soon as this is over. */
	list_del_init(&lane->fin.list);
	list_del_init(&lane->shut.list);
	while (count++ < RCH_DROP_AT_ONCE &&
	       (item = list_first_entry_or_null(&lane->txq, struct rch_item, list))) {
		list_del_init(&item->list);
		rch_item_free(item);
	}
	if (!list_empty(&lane->txq))
		rch_link_ops->drop(lane, &lane->txq, false);
	lane->queued = 0;
	lane->stalled = false;
	/* As when items were sent: their charge is given back, and programs wait for room. */
	if (was_full)
		rch_link_ops->writable(lane);
}

/* After them the peer may have closed the memory that we access. */
#define HELD_BACK (RCH_LANE_RESET | RCH_LANE_CLOSED)

static void lane_words_drop(struct rch_lane *lane)
{
	struct rch_word *word;
	u32 count = 0;

	lockdep_assert_held(&lane->link->lock);
	while (count++ < RCH_DROP_AT_ONCE &&
	       (word = list_first_entry_or_null(&lane->words, struct rch_word, list))) {
		list_del_init(&word->list);
		word->sent(word);
	}
	if (!list_empty(&lane->words))
		rch_link_ops->drop(lane, &lane->words, true);
}

static void lane_tell_later(struct rch_lane *lane, u32 control)
{
	lockdep_assert_held(&lane->link->lock);
	/* After CLOSE, from either side, nothing else is but the answer. */
	if (lane->close_sent || lane->close_got)
		control &= RCH_LANE_CLOSED;
	/* Nobody would read what the peer has more room for. */
	if (lane->finishing)
		control &= ~RCH_LANE_CREDIT;
	if (lane->accesses) {
		lane->held_back |= control & HELD_BACK;
		control &= ~HELD_BACK;
	}
	if (!lane->id || !control)
		return;
	lane->control |= control;
	if (list_empty(&lane->control_list))
		list_add_tail(&lane->control_list, &lane->link->lanes.control);
}

static void lane_tell_locked(struct rch_lane *lane, u32 control)
{
	lane_tell_later(lane, control);
	rch_link_run_locked(lane->link);
}

/* The number ends; records for it are wrong from now on. */
static void lane_detach(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;

	lockdep_assert_held(&link->lock);
	xa_erase(&link->lanes.all, lane->id);
	if (lane->early >= RCH_EARLY_HEARS)
		rb_erase(&lane->early_node, &link->lanes.early);
	lane->id = 0;
	lane_purge(lane);
	lane_words_drop(lane);
	list_del_init(&lane->control_list);
	list_del_init(&lane->later_list);
	lane->last = 0;
	lane->refused = true;
	if (!--link->lanes.count) {
		link->lanes.idle_since = jiffies;
		rch_links_changed();
	}
}

/**
 * rch_lane_detach - end a lane without the peer
 * @lane: lane, attached or not
 *
 * For lanes whose link has ended, or that the peer has refused. The caller drops the channel's
 * reference for the lane. Return: false when the lane was not attached (any more): there is no
 * reference.
 */
bool rch_lane_detach(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;
	bool attached;

	if (!link)
		return false;
	spin_lock_bh(&link->lock);
	attached = lane->id;
	if (attached)
		lane_detach(lane);
	spin_unlock_bh(&link->lock);
	return attached;
}

/**
 * rch_lane_unattach - take a lane back that was never opened
 * @lane: lane that was attached, and that the peer has not heard of
 *
 * Unless its link has ended: then the work that takes the link apart may hold the lane, and ends it
 * as it ends all others. Process context. Return: whether; then the caller drops the
 * channel's reference for the lane.
 */
bool rch_lane_unattach(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;
	bool alive;

	spin_lock_bh(&link->lock);
	alive = lane->id && link->state != RCH_LINK_DEAD;
	if (alive)
		lane_detach(lane);
	spin_unlock_bh(&link->lock);
	return alive;
}

/*
 * Both sides have said their last word, if it is so: each CLOSE was answered. The
 * channel hears of it in a work item, because its last reference may go.
 */
static void lane_detach_if_closed(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;

	lockdep_assert_held(&link->lock);
	if (!lane->close_got && !lane->closed_got)
		return;
	if (lane->close_got && !lane->closed_sent)
		return;
	if (lane->close_sent && !lane->closed_got)
		return;
	lane_detach(lane);
	list_add_tail(&lane->control_list, &link->lanes.gone);
	queue_work(rch_wq, &link->reap_work);
}

/**
 * rch_lane_close_got - the peer has sent CLOSE: answer, and send nothing else
 * @lane: lane
 *
 * Return: false when it had done so before.
 */
bool rch_lane_close_got(struct rch_lane *lane)
{
	bool first;

	spin_lock_bh(&lane->link->lock);
	first = lane->id && !lane->close_got;
	if (first) {
		lane->close_got = true;
		lane->refused = true;
		lane_purge(lane);
		lane_words_drop(lane);
		lane->control = 0;
		list_del_init(&lane->control_list);
		lane->held_back = 0;
		lane->last = 0;
		/* Nobody waits for it but a receive of a channel that was aborted. */
		if (rch_link_may_hold(lane->link))
			rch_link_hold(lane->link, lane, RCH_LAST_CLOSED);
		else
			lane_tell_locked(lane, RCH_LANE_CLOSED);
	}
	spin_unlock_bh(&lane->link->lock);
	return first;
}

/** rch_lane_closed_got - the peer has answered our CLOSE. Return: false if there was none */
bool rch_lane_closed_got(struct rch_lane *lane)
{
	bool ok;

	spin_lock_bh(&lane->link->lock);
	ok = lane->id && lane->close_sent && !lane->closed_got;
	if (ok) {
		lane->closed_got = true;
		lane_detach_if_closed(lane);
	}
	spin_unlock_bh(&lane->link->lock);
	return ok;
}

/* Return: whether there are others. */
static bool lane_word_sent(struct rch_lane *lane)
{
	struct rch_word *word = list_first_entry(&lane->words, struct rch_word, list);

	list_del_init(&word->list);
	word->sent(word);
	return !list_empty(&lane->words);
}

/** rch_lane_told - a control record was put into a frame; called by the link, locked */
void rch_lane_told(struct rch_lane *lane, u32 control)
{
	lockdep_assert_held(&lane->link->lock);
	if (control == RCH_LANE_WORDS && lane_word_sent(lane))
		return;
	lane->control &= ~control;
	if (control == RCH_LANE_OPEN) {
		WRITE_ONCE(lane->opened, true);
		/* Early messages go behind it at once. */
		lane_flow_update(lane);
	}
	if (control == RCH_LANE_RESET) {
		lane->close_sent = true;
		/*
		 * A record that was to be told is dropped: the peer may not know the number any
		 * more.
		 */
		lane->control &= RCH_LANE_CLOSED;
		lane_words_drop(lane);
	}
	if (!lane->control)
		list_del_init(&lane->control_list);
	if (control == RCH_LANE_CLOSED) {
		lane->closed_sent = true;
		lane_detach_if_closed(lane);
	}
}

/** rch_lane_connected - the peer's number and window are known: items that wait may go */
void rch_lane_connected(struct rch_lane *lane, u32 peer_id, u64 window)
{
	spin_lock_bh(&lane->link->lock);
	lane->peer_id = peer_id;
	rch_window_raise(&lane->window, window);
	lane->window_size = window;
	if (!list_empty(&lane->txq)) {
		lane_flow_update(lane);
		rch_link_run_locked(lane->link);
	}
	spin_unlock_bh(&lane->link->lock);
}

static int lane_early_compare(const void *peer_id, const struct rb_node *node)
{
	u32 a = *(const u32 *)peer_id, b = rb_entry(node, struct rch_lane, early_node)->peer_id;

	return a < b ? -1 : a > b;
}

static int lane_early_order(struct rb_node *fresh, const struct rb_node *node)
{
	return lane_early_compare(&rb_entry(fresh, struct rch_lane, early_node)->peer_id, node);
}

/**
 * rch_lane_hear_early - messages may come by the peer's number
 * @lane: lane that the peer has opened with RCH_OPEN_F_EARLY, and is connected
 *
 * Context: softirq. Return: false when the link has ended, or another lane has the number.
 */
bool rch_lane_hear_early(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;
	bool ok;

	spin_lock_bh(&link->lock);
	ok = lane->id && !rb_find_add(&lane->early_node, &link->lanes.early, lane_early_order);
	if (ok)
		WRITE_ONCE(lane->early, RCH_EARLY_HEARS);
	spin_unlock_bh(&link->lock);
	return ok;
}

/** rch_lane_early - the lane that has a number of the peer's, or NULL. Under RCU */
struct rch_lane *rch_lane_early(struct rch_link *link, u32 peer_id)
{
	struct rb_node *node;

	spin_lock_bh(&link->lock);
	node = rb_find(&peer_id, &link->lanes.early, lane_early_compare);
	spin_unlock_bh(&link->lock);
	return node ? rb_entry(node, struct rch_lane, early_node) : NULL;
}

/**
 * rch_lane_tell - have the peer told something besides data
 * @lane: lane
 * @control: &enum rch_lane_control
 *
 * Takes link->lock, and drops it while frames are posted. The caller has interrupts on, and holds
 * no spinlock of ours but faults.lock.
 */
void rch_lane_tell(struct rch_lane *lane, u32 control)
{
	spin_lock_bh(&lane->link->lock);
	lane_tell_locked(lane, control);
	spin_unlock_bh(&lane->link->lock);
}

/**
 * rch_lane_open - ask the peer to open the channel
 * @lane: attached lane
 * @early: whole messages go before the answer, as far as RCH_EARLY_MAX
 */
void rch_lane_open(struct rch_lane *lane, bool early)
{
	struct rch_link *link = lane->link;

	spin_lock_bh(&link->lock);
	lane->open.chan = lane->id;
	if (early) {
		WRITE_ONCE(lane->early, RCH_EARLY_ASKS);
		rch_window_raise(&lane->window, RCH_EARLY_MAX);
	}
	lane_tell_locked(lane, RCH_LANE_OPEN);
	spin_unlock_bh(&link->lock);
}

/** rch_lane_sent_early - whether something has gone that the peer may have, before its answer */
bool rch_lane_sent_early(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;
	bool sent;

	if (!link)
		return false;
	spin_lock_bh(&link->lock);
	sent = lane->sent_early && !lane->peer_id;
	spin_unlock_bh(&link->lock);
	return sent;
}

/** rch_lane_credit - have the peer told a new window limit */
void rch_lane_credit(struct rch_lane *lane, u64 limit)
{
	spin_lock_bh(&lane->link->lock);
	if (limit > lane->credit_limit) {
		lane->credit_limit = limit;
		lane_tell_locked(lane, RCH_LANE_CREDIT);
	}
	spin_unlock_bh(&lane->link->lock);
}

/**
 * rch_lane_taken - have the peer told that a message is received which has asked for that
 * @lane: lane
 * @message: its number, above that of any before
 * @hold: the caller calls rch_link_push() soon, perhaps with more to be told
 */
void rch_lane_taken(struct rch_lane *lane, u64 message, bool hold)
{
	spin_lock_bh(&lane->link->lock);
	lane->taken = message;
	lane_tell_later(lane, RCH_LANE_TAKEN);
	if (!hold)
		rch_link_run_locked(lane->link);
	spin_unlock_bh(&lane->link->lock);
}

/* Whether the channel has been given up already, with a reset. */
static bool lane_was_reset(const struct rch_lane *lane)
{
	lockdep_assert_held(&lane->link->lock);
	return lane->close_sent || ((lane->control | lane->held_back) & RCH_LANE_RESET);
}

/**
 * rch_lane_read - have the peer told that the program receives no more
 * @lane: lane
 * @messages: that it has received
 * @shut: it has shut receiving down; else it has found the end
 *
 * Does nothing behind a reset: a lane that was reset counts for nothing any more.
 */
void rch_lane_read(struct rch_lane *lane, u64 messages, bool shut)
{
	spin_lock_bh(&lane->link->lock);
	if (!lane_was_reset(lane)) {
		lane->read = messages;
		lane_tell_locked(lane, RCH_LANE_READ | (shut ? RCH_LANE_SHUT_RECV : 0));
	}
	spin_unlock_bh(&lane->link->lock);
}

/** rch_lane_cts - have the peer told where to write, or that it shall send DATA */
void rch_lane_cts(struct rch_lane *lane, const struct rch_cts *cts)
{
	spin_lock_bh(&lane->link->lock);
	/* An earlier question was taken back: nobody waits for its answer any more. */
	if (!(lane->control & RCH_LANE_CTS) || !rch_seq_before(cts->serial, lane->cts.serial)) {
		lane->cts = *cts;
		lane_tell_locked(lane, RCH_LANE_CTS);
	}
	spin_unlock_bh(&lane->link->lock);
}

/**
 * rch_lane_word - have the peer told something besides data, that has no place of its own
 * @lane: lane
 * @word: not in use. Its owner gets it back by @word->sent; at once if nothing is told any
 *	more
 *
 * In the order of these calls, and ahead of data that waits.
 */
void rch_lane_word(struct rch_lane *lane, struct rch_word *word)
{
	struct rch_link *link = lane->link;

	spin_lock_bh(&link->lock);
	if (lane->id && !lane->close_sent && !lane->close_got) {
		list_add_tail(&word->list, &lane->words);
		lane_tell_locked(lane, RCH_LANE_WORDS);
	} else {
		word->sent(word);
	}
	spin_unlock_bh(&link->lock);
}

/** rch_lane_closed - whether either side has said its last word, or the link has ended */
bool rch_lane_closed(struct rch_lane *lane)
{
	bool closed;

	spin_lock_bh(&lane->link->lock);
	closed = !lane->id || lane->close_sent || lane->close_got;
	spin_unlock_bh(&lane->link->lock);
	return closed;
}

static bool lane_may_access(const struct rch_lane *lane)
{
	lockdep_assert_held(&lane->link->lock);
	return lane->id && !lane->close_sent && !lane->close_got && !lane->held_back &&
	       !(lane->control & HELD_BACK);
}

/** rch_lane_may_access - whether memory that the peer lends may be accessed; a racy answer */
bool rch_lane_may_access(struct rch_lane *lane)
{
	bool may;

	spin_lock_bh(&lane->link->lock);
	may = lane_may_access(lane);
	spin_unlock_bh(&lane->link->lock);
	return may;
}

/**
 * rch_lane_access_begin - begin to access memory that the peer lends
 * @lane: lane of the channel
 *
 * Return: false when it may not be any more: then the channel has ended, or will soon.
 */
bool rch_lane_access_begin(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;
	bool ok;

	spin_lock_bh(&link->lock);
	ok = lane_may_access(lane);
	lane->accesses += ok;
	spin_unlock_bh(&link->lock);
	return ok;
}

/** rch_lane_access_end - the adapter is done with it, or has a write in its queue */
void rch_lane_access_end(struct rch_lane *lane)
{
	struct rch_link *link = lane->link;
	u32 control;

	spin_lock_bh(&link->lock);
	if (!--lane->accesses && lane->held_back) {
		control = lane->held_back;
		lane->held_back = 0;
		lane_tell_locked(lane, control);
	}
	spin_unlock_bh(&link->lock);
}

/**
 * rch_lane_stand - have the peer told where its next message may be written to
 * @lane: lane
 * @cts: the lent buffer; without length, it is wanted back
 * @hold: the caller calls rch_link_run() soon, perhaps with more to be sent
 */
void rch_lane_stand(struct rch_lane *lane, const struct rch_cts *cts, bool hold)
{
	u32 slot = cts->message % RCH_LENDS;

	spin_lock_bh(&lane->link->lock);
	lane->stand[slot] = *cts;
	lane_tell_later(lane, FIELD_PREP(RCH_LANE_STAND, BIT(slot)));
	if (!hold)
		rch_link_run_locked(lane->link);
	spin_unlock_bh(&lane->link->lock);
}

/** rch_lane_return - have the peer told that nothing will be written to what it has lent by @cts */
void rch_lane_return(struct rch_lane *lane, const struct rch_cts *cts)
{
	u32 slot = cts->message % RCH_LENDS;

	u32 control = FIELD_PREP(RCH_LANE_RETURN, BIT(slot));

	spin_lock_bh(&lane->link->lock);
	/* A receiver that waits for an answer waits for that about what was lent last. */
	if (!(lane->control & control) || !rch_seq_before(cts->serial, lane->returned[slot])) {
		lane->returned[slot] = cts->serial;
		lane_tell_locked(lane, control);
	}
	spin_unlock_bh(&lane->link->lock);
}

/**
 * rch_lane_sent - the first item was put into a frame; called by the link, locked
 * @lane: lane
 * @item: that
 *
 * Return: whether it is the caller's now. If not it has become the message behind it.
 */
bool rch_lane_sent(struct rch_lane *lane, struct rch_item *item)
{
	bool was_full = lane->queued >= lane->room, all;
	u32 charge = 0;

	lockdep_assert_held(&lane->link->lock);
	rch_drr_charge(&lane->flow, lane->flow.cost);
	lane->sent_early |= !lane->peer_id;
	if (item->type == RCH_REC_DATA) {
		charge = rch_item_charge(item);
		rch_window_sent(&lane->window, item->length);
	} else if (item == &lane->fin) {
		/* All other control was told ahead of it. */
		lane->close_sent = true;
	}
	all = !rch_item_next(item);
	if (all)
		list_del_init(&item->list);
	else
		charge -= rch_item_charge(item);
	lane->queued -= charge;
	lane_flow_update(lane);
	if (was_full && lane->queued < lane->room)
		rch_link_ops->writable(lane);
	return all;
}

/** rch_lane_raise - the peer gives more window; called for a CREDIT record */
void rch_lane_raise(struct rch_lane *lane, u64 limit)
{
	struct rch_link *link = lane->link;

	spin_lock_bh(&link->lock);
	rch_window_raise(&lane->window, limit);
	if (lane->stalled) {
		lane_flow_update(lane);
		rch_link_run_locked(link);
	}
	spin_unlock_bh(&link->lock);
}

/**
 * rch_lane_reset - end at once: throw away what waits, and tell the peer
 * @lane: lane
 * @cause: for the peer's program
 * @detail: belongs to it
 *
 * Does nothing when CLOSE was sent already. The number stays until CLOSED comes.
 */
void rch_lane_reset(struct rch_lane *lane, u32 cause, u32 detail)
{
	struct rch_link *link = lane->link;

	spin_lock_bh(&link->lock);
	lane->refused = true;
	lane_purge(lane);
	lane->last &= ~RCH_LAST_CLOSE;
	if (!lane->close_sent && lane->peer_id) {
		lane->close_cause = cause;
		lane->close_detail = detail;
		lane_tell_locked(lane, RCH_LANE_RESET);
	}
	spin_unlock_bh(&link->lock);
}

/* Return: whether it is a last item that was not there yet. */
static bool lane_add_last(struct rch_lane *lane, struct rch_item *item)
{
	lockdep_assert_held(&lane->link->lock);
	if (!lane->id || !list_empty(&item->list) || lane_was_reset(lane))
		return false;
	list_add_tail(&item->list, &lane->txq);
	lane_flow_update(lane);
	return true;
}

static void lane_enqueue_last(struct rch_lane *lane, struct rch_item *item)
{
	if (lane_add_last(lane, item))
		rch_link_run_locked(lane->link);
}

/** rch_lane_say_last - what was held back is held back no longer; called by the link, locked */
void rch_lane_say_last(struct rch_lane *lane)
{
	u32 last = lane->last;

	lockdep_assert_held(&lane->link->lock);
	lane->last = 0;
	if (last & RCH_LAST_CLOSE)
		lane_add_last(lane, &lane->fin);
	if (last & RCH_LAST_CLOSED)
		lane_tell_later(lane, RCH_LANE_CLOSED);
}

/* Nothing goes ahead of CLOSE that would have to wait with it. */
static bool lane_may_hold_close(const struct rch_lane *lane)
{
	return lane->id && lane->peer_id && !lane->close_got && !lane->control &&
	       !lane_was_reset(lane) && list_empty(&lane->txq) && !lane->link->gather.on &&
	       rch_link_may_hold(lane->link);
}

/**
 * rch_lane_finish - end gracefully: CLOSE goes behind what waits to be sent
 * @lane: lane
 * @messages: that the program has received
 *
 * Ahead of what waits the peer is told that nobody reads here any more: if it closes as well,
 * with data that nobody will read, neither shall wait for the other.
 */
void rch_lane_finish(struct rch_lane *lane, u64 messages)
{
	spin_lock_bh(&lane->link->lock);
	lane->refused = true;
	lane->finishing = true;
	lane->close_cause = RDMACHAN_CAUSE_PEER_CLOSED;
	lane->close_detail = (u32)messages;
	lane->read = messages;
	if (lane_may_hold_close(lane)) {
		rch_link_hold(lane->link, lane, RCH_LAST_CLOSE);
	} else {
		if (!list_empty(&lane->txq))
			lane_tell_later(lane, RCH_LANE_READ | RCH_LANE_SHUT_RECV);
		lane_enqueue_last(lane, &lane->fin);
	}
	spin_unlock_bh(&lane->link->lock);
}

/** rch_lane_shut_send - SHUT goes behind what waits to be sent; takes no more items */
void rch_lane_shut_send(struct rch_lane *lane)
{
	spin_lock_bh(&lane->link->lock);
	if (!lane->refused) {
		lane->refused = true;
		lane_enqueue_last(lane, &lane->shut);
	}
	spin_unlock_bh(&lane->link->lock);
}

/**
 * rch_lane_refuse - throw away what waits, and take no more: nobody reads it
 * @lane: lane
 *
 * If the lane is closing, CLOSE has nothing to wait for any more.
 */
void rch_lane_refuse(struct rch_lane *lane)
{
	bool closing;

	spin_lock_bh(&lane->link->lock);
	lane->refused = true;
	closing = !list_empty(&lane->fin.list);
	lane_purge(lane);
	if (closing)
		lane_enqueue_last(lane, &lane->fin);
	spin_unlock_bh(&lane->link->lock);
}

/** rch_lane_has_room - whether an item would be taken; a racy answer, as for poll() */
bool rch_lane_has_room(struct rch_lane *lane)
{
	return READ_ONCE(lane->queued) < READ_ONCE(lane->room);
}

/** rch_lane_segment_max - bytes of the largest item */
u32 rch_lane_segment_max(struct rch_lane *lane)
{
	return rch_wire_segment_max(lane->link->terms.frame_size);
}

/**
 * rch_lane_at_once - bytes that an idle link and channel take before the peer has to say anything
 * @lane: lane that is connected: the members read here do not change any more
 */
u32 rch_lane_at_once(struct rch_lane *lane)
{
	const struct rch_credit *credit = &lane->link->credit;
	u64 frames = (u64)(credit->tx_depth - RCH_CREDIT_RESERVE) * rch_lane_segment_max(lane);

	return min3(frames, lane->window_size, (u64)U32_MAX);
}

/**
 * rch_lane_put_behind - a message is where rch_item_room() has said; link->lock is held
 * @lane: lane
 * @last: its last item
 * @len: bytes of the message
 * @msg_flags: its flags, and RCH_MSG_TELL
 */
void rch_lane_put_behind(struct rch_lane *lane, struct rch_item *last, u32 len, u32 msg_flags)
{
	u32 before = rch_item_charge(last);

	lockdep_assert_held(&lane->link->lock);
	rch_item_put_behind(last, len, msg_flags);
	lane->queued += rch_item_charge(last) - before;
}

/*
 * A whole message that was copied already goes behind the last item as well, if there is room:
 * memory that waits shall not be much more than what is counted. Return: whether it went.
 */
static bool lane_join(struct rch_lane *lane, struct rch_item *item)
{
	struct rch_item *last;
	void *to;

	lockdep_assert_held(&lane->link->lock);
	if (item->frame || item->type != RCH_REC_DATA || list_empty(&lane->txq) ||
	    lane->partial || item->flags != (RCH_DATA_F_FIRST | RCH_DATA_F_LAST))
		return false;
	last = list_last_entry(&lane->txq, struct rch_item, list);
	to = rch_item_room(last, item->length);
	if (!to)
		return false;
	memcpy(to, rch_item_data(item), item->length);
	rch_lane_put_behind(lane, last, item->length, item->msg_flags);
	return true;
}

/*
 * @more: the message goes on, so that nothing else may come between. @hold: the caller sees
 * to it that the link is run soon.
 */
static int lane_queue(struct rch_lane *lane, struct rch_item *item, bool more, bool hold)
{
	struct rch_link *link = lane->link;
	bool joined = false;

	spin_lock_bh(&link->lock);
	if (lane->refused) {
		spin_unlock_bh(&link->lock);
		rch_item_free(item);
		return -EPIPE;
	}
	if (item->type == RCH_REC_DATA) {
		joined = lane_join(lane, item);
		if (!joined)
			lane->queued += rch_item_charge(item);
	}
	lane->partial = more;
	if (!joined)
		list_add_tail(&item->list, &lane->txq);
	lane_flow_update(lane);
	if (!hold)
		rch_link_run_locked(link);
	spin_unlock_bh(&link->lock);
	if (joined)
		rch_item_free(item);
	return 0;
}

/**
 * rch_lane_queue - send an item of DATA, or have it wait for its turn
 * @lane: attached lane
 * @item: consumed in every case
 *
 * Return: 0, or -EPIPE when the lane takes no more.
 */
int rch_lane_queue(struct rch_lane *lane, struct rch_item *item)
{
	return lane_queue(lane, item, !(item->flags & (RCH_DATA_F_LAST | RCH_DATA_F_ABORT)), false);
}

static struct rch_item *lane_word(u8 type, u8 flags, u32 length, u32 key)
{
	struct rch_item *item = rch_item_alloc(length, length, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);

	item->type = type;
	item->flags = flags;
	item->msg_flags = 0;
	item->total = 0;
	item->key = key;
	return item;
}

/**
 * rch_lane_rts - ask where a message can be written to, or tell that it was
 * @lane: attached lane
 * @rts: the message
 * @flags: 0 or RCH_RTS_F_PLACED
 * @key: of the memory that it was written to, or 0
 * @hold: the caller calls rch_link_run() soon, perhaps with more to be sent
 *
 * Context: process. Return: 0, or -EPIPE when the lane takes no more.
 */
int rch_lane_rts(struct rch_lane *lane, const struct rch_rts *rts, u8 flags, u32 key,
		 bool hold)
{
	u8 tell = rts->tell ? RCH_RTS_F_TELL : 0;
	struct rch_item *item = lane_word(RCH_REC_RTS, flags | tell, sizeof(struct rch_wire_rts),
					  key);

	rch_wire_rts_put(rch_item_data(item), rts);
	return lane_queue(lane, item, !flags, hold);
}

/* A question that waits for its turn is taken out; FIN may be behind it. Return: whether. */
static bool lane_withdraw(struct rch_lane *lane)
{
	struct rch_item *item;

	lockdep_assert_held(&lane->link->lock);
	list_for_each_entry_reverse(item, &lane->txq, list) {
		if (item->type != RCH_REC_RTS || (item->flags & ~RCH_RTS_F_TELL))
			continue;
		list_del_init(&item->list);
		rch_item_free(item);
		lane_flow_update(lane);
		return true;
	}
	return false;
}

/**
 * rch_lane_rts_cancel - take a question back
 * @lane: attached lane
 * @serial: of the last RTS without RCH_RTS_F_PLACED; nothing was queued behind it
 *
 * If it has not gone yet, the peer never hears of it. Else the peer is told ahead of what is
 * queued from now on; another question cannot go before that was told.
 *
 * Context: process.
 */
void rch_lane_rts_cancel(struct rch_lane *lane, u32 serial)
{
	spin_lock_bh(&lane->link->lock);
	lane->partial = false;
	if (!lane_withdraw(lane)) {
		lane->cancelled = serial;
		lane_tell_locked(lane, RCH_LANE_CANCEL);
	}
	spin_unlock_bh(&lane->link->lock);
}

/**
 * rch_lane_fin - what the last CTS had room for is written
 * @lane: attached lane
 * @key: of that memory
 * @more: the message goes on
 * @hold: the caller calls rch_link_run() soon, perhaps with more to be sent
 *
 * Context: process. Return: 0, or -EPIPE when the lane takes no more.
 */
int rch_lane_fin(struct rch_lane *lane, u32 key, bool more, bool hold)
{
	return lane_queue(lane, lane_word(RCH_REC_FIN, 0, 0, key), more, hold);
}
