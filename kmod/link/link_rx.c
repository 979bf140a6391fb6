// SPDX-License-Identifier: GPL-2.0
/*
 * link_rx.c - takes frames apart
 *
 * Operation. The numbers of a frame are judged before anything else: a duplicate is
 * counted and dropped, a gap ends the link. Then its records go to their lanes, one by
 * one. All of this runs in softirq, on one CPU at a time for each link.
 *
 * Waking. A wake-up looks at all who wait, and poll() and epoll let a program have very many of
 * these. A frame has hundreds of records. So a record that may be repeated only tells whom to wake,
 * and of what (rch_link_wake()); each wait queue is woken once, behind the frame's last record.
 * What the waiters look at was changed before, under the lock, so none of them misses it.
 *
 * A peer is hostile until proved otherwise. With anything it sends, the only harm is to
 * itself: a broken rule ends the link, with the rule in the error record.
 */
#include "base/rch.h"
#include "link/link.h"

static enum rch_rule link_rx_open_got(struct rch_link *link, const struct rch_record *r)
{
	kuid_t owner = INVALID_UID;
	struct rch_open open;
	u32 reason, domain = 0;

	rch_wire_open_get(r, &open);
	if (open.early && rch_lane_early(link, open.chan))
		return RCH_RULE_STATE;
	reason = rch_link_ops->opened(link, &open, &owner);
	if (reason == RCH_REJECT_DOMAIN)
		domain = from_kuid(&init_user_ns, owner);
	if (reason) {
		atomic64_inc(&rch_counts.refused_channels[reason]);
		link->rx.refused_early |= open.early;
		rch_link_reject(link, open.chan, reason, domain);
	}
	return RCH_RULE_OK;
}

/* What a header would say, of what can be: the rest is as it was. */
static void link_rx_complete_numbers(const struct rch_link *link, u32 imm, struct rch_frame *f,
				     struct rch_bare *bare)
{
	lockdep_assert_held(&link->lock);
	rch_wire_bare_get(imm, bare);
	f->epoch = link->terms.epoch;
	f->seq = rch_seq_near(link->credit.rx_next, bare->seq);
	f->ack = rch_seq_near(link->credit.tx_acked, bare->ack);
	f->limit = bare->full ? f->ack + link->credit.tx_depth : link->credit.tx_limit;
}

/*
 * Whether the channel waits for a record of this type at all, whatever its state. Numbers can be
 * guessed: an RTS that was not sent has no answer.
 */
static bool link_rx_in_turn(const struct rch_lane *lane, u8 type)
{
	if (!lane->peer_id)
		return READ_ONCE(lane->opened) &&
		       (type == RCH_REC_ACCEPT || type == RCH_REC_REJECT);
	return !READ_ONCE(lane->close_got) || type == RCH_REC_CLOSED;
}

/* Whether the lane waits for a record by the peer's number, and it is not too much. */
static enum rch_rule link_rx_early_rule(struct rch_lane *lane, const struct rch_record *r)
{
	/* Only messages count. */
	u64 cost = r->type == RCH_REC_DATA ? rch_window_cost(r->length) : 0;

	if (lane->early != RCH_EARLY_HEARS)
		return RCH_RULE_STATE;
	if (cost > RCH_EARLY_MAX - lane->early_heard)
		return RCH_RULE_WINDOW;
	lane->early_heard += cost;
	return RCH_RULE_OK;
}

/*
 * A message, or SHUT, that was sent before ACCEPT is known to the peer. If OPEN was refused, the
 * peer hears of that, and the record goes nowhere.
 */
static enum rch_rule link_rx_early_got(struct rch_link *link, const struct rch_record *r,
				       struct page *page)
{
	struct rch_record data = *r;
	struct rch_lane *lane;
	enum rch_rule rule;

	lane = rch_lane_early(link, r->chan);
	if (lane) {
		data.chan = lane->id;
		rule = link_rx_early_rule(lane, r) ?: rch_link_ops->record(lane, &data, page);
	} else {
		rule = link->rx.refused_early ? RCH_RULE_OK : RCH_RULE_CHANNEL;
	}
	return rule;
}

static enum rch_rule link_rx_record_got(struct rch_link *link, const struct rch_record *r,
					struct page *page)
{
	struct rch_lane *lane;
	enum rch_rule rule;

	if (r->type == RCH_REC_OPEN)
		return link_rx_open_got(link, r);
	if (unlikely(rch_wire_is_early(r->type, r->flags)))
		return link_rx_early_got(link, r, page);
	lane = xa_load(&link->lanes.all, r->chan);
	/* The peer knows our number, and names the channel by no other any more. */
	if (lane && unlikely(READ_ONCE(lane->early) == RCH_EARLY_HEARS))
		WRITE_ONCE(lane->early, RCH_EARLY_OVER);
	if (!lane) {
		rule = RCH_RULE_CHANNEL;
	} else if (!link_rx_in_turn(lane, r->type)) {
		rule = RCH_RULE_STATE;
	} else if (r->type == RCH_REC_CREDIT) {
		rch_lane_raise(lane, rch_wire_credit_get(r));
		rule = RCH_RULE_OK;
	} else {
		rule = rch_link_ops->record(lane, r, page);
	}
	return rule;
}

/*
 * The peer's first frame has come, and the link counts for the user whose service it is for. When
 * several were let in at the same moment there may be one too many.
 */
static void link_rx_came_up(struct rch_link *link)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_LINKS] = 1 };
	struct rdmachan_error error = {};

	lockdep_assert_held(&link->lock);
	if (rch_charge_object(&link->charge, &cost, RDMACHAN_OP_CONNECT, &error))
		rch_link_fail_locked(link, &error);
	else
		rch_link_set_state(link, RCH_LINK_UP);
}

/*
 * The frame's numbers. If it is bare, they are completed by what is known, and @bare is set.
 * Return: the rule that was broken; @skip: it is a duplicate.
 */
static enum rch_rule link_rx_frame_got(struct rch_link *link, const struct rch_rxf *rxf,
				       struct rch_frame *f, struct rch_bare *bare, bool *skip)
{
	enum rch_rule rule = RCH_RULE_OK;

	spin_lock(&link->lock);
	if (rxf->bare && !(link->terms.features & RCH_FEATURE_BARE)) {
		rule = RCH_RULE_FRAME_SHORT;
		goto out;
	}
	if (rxf->bare)
		link_rx_complete_numbers(link, rxf->imm, f, bare);
	if (link->state == RCH_LINK_CONNECTING ||
	    (link->state == RCH_LINK_HELLO && !(f->flags & RCH_FRAME_F_HELLO))) {
		rule = RCH_RULE_STATE;
		goto out;
	}
	if (f->epoch != link->terms.epoch) {
		rule = RCH_RULE_FRAME_EPOCH;
		goto out;
	}
	switch (rch_credit_arrival(&link->credit, f->seq)) {
	case RCH_ARRIVAL_NEW:
		break;
	case RCH_ARRIVAL_DUPLICATE:
		rch_credit_duplicate(&link->credit);
		*skip = true;
		goto out;
	case RCH_ARRIVAL_GAP:
		rule = RCH_RULE_SEQ_GAP;
		goto out;
	}
	if (!rch_credit_told_by_peer(&link->credit, f->ack, f->limit)) {
		rule = RCH_RULE_NUMBERS;
		goto out;
	}
	if (link->state == RCH_LINK_HELLO)
		link_rx_came_up(link);
	rch_link_note_slow(link);
	link->beat.last_rx = jiffies;
	link->beat.doubt = false;
	link->stats.rx_frames++;
	if (!(f->flags & RCH_FRAME_F_PURE))
		link->tx.unanswered = false;
	rch_credit_received(&link->credit);
	rch_link_release_sent(link);
out:
	spin_unlock(&link->lock);
	return rule;
}

static enum rch_rule link_rx_records_got(struct rch_link *link, struct page *page, u32 length)
{
	struct rch_cursor cursor;
	struct rch_record r;
	enum rch_rule rule;

	rch_wire_cursor_init(&cursor, page_address(page), length);
	while (rch_wire_record_more(&cursor)) {
		rule = rch_wire_record_next(&cursor, &r);
		if (rule)
			return rule;
		rch_wire_run(&cursor, &r);
		rule = link_rx_record_got(link, &r, page);
		if (rule)
			return rule;
	}
	return RCH_RULE_OK;
}

static enum rch_rule link_rx_with_header(struct rch_link *link, const struct rch_rxf *rxf,
					 bool *skip)
{
	struct rch_frame f;
	enum rch_rule rule;

	rule = rch_wire_frame_get(page_address(rxf->page), rxf->length, &f);
	if (!rule)
		rule = link_rx_frame_got(link, rxf, &f, NULL, skip);
	if (rule || *skip)
		return rule;
	if (rxf->closed && !(link->terms.features & RCH_FEATURE_KEY))
		return RCH_RULE_KEY;
	link->rx.closed = rxf->closed;
	link->rx.key = rxf->key;
	rule = link_rx_records_got(link, rxf->page, f.length);
	return !rule && link->rx.closed ? RCH_RULE_KEY : rule;
}

/**
 * rch_link_key_closed - a message was written to memory here
 * @link: link
 * @key: of that memory
 *
 * For FIN, and RTS with PLACED. Return: whether the frame that tells has closed it: then no
 * adapter but our own gets at the memory any more.
 */
bool rch_link_key_closed(struct rch_link *link, u32 key)
{
	if (!link->rx.closed || link->rx.key != key)
		return false;
	link->rx.closed = false;
	return true;
}

/** rch_link_key_excused - we have closed @key ourselves meanwhile: the frame may do so too */
void rch_link_key_excused(struct rch_link *link, u32 key)
{
	rch_link_key_closed(link, key);
}

/* A bare frame is a message and nothing else. */
static enum rch_rule link_rx_without_header(struct rch_link *link, const struct rch_rxf *rxf,
					    bool *skip)
{
	struct rch_record r = {
		.type = RCH_REC_DATA,
		.flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST,
		.length = rxf->length,
		.total = rxf->length,
		.payload = page_address(rxf->page),
		.run = { 1, rxf->length, rxf->length, rxf->length },
	};
	struct rch_frame f = { .length = rxf->length };
	struct rch_bare bare;
	enum rch_rule rule;

	rule = link_rx_frame_got(link, rxf, &f, &bare, skip);
	if (rule || *skip)
		return rule;
	r.chan = bare.chan;
	return link_rx_record_got(link, &r, rxf->page);
}

/** rch_wake_init - nothing is to be told yet; see &struct rch_wake */
void rch_wake_init(struct rch_wake *wake, wait_queue_head_t *queue, spinlock_t *lock)
{
	wake->queue = queue;
	wake->lock = lock;
	INIT_LIST_HEAD(&wake->list);
}

/**
 * rch_link_wake - a record has changed what others wait for: wake them behind its frame
 * @link: link, whose frame it is
 * @wake: whom; its lock is held
 * @events: what of, as for wake_up_poll(); 0 for all, and then all exclusive waiters too
 *
 * If another link is about to wake them, that one does so for both. Softirq.
 */
void rch_link_wake(struct rch_link *link, struct rch_wake *wake, __poll_t events)
{
	lockdep_assert_held(wake->lock);
	if (list_empty(&wake->list)) {
		list_add_tail(&wake->list, &link->rx.wakes);
		wake->events = events;
		wake->count = !!events;
	} else if (!events || !wake->events) {
		wake->events = 0;
		wake->count = 0;
	} else {
		wake->events |= events;
		wake->count++;
	}
}

/* Nobody else takes one off the list, but one that is taken off may enter another list at once. */
static void link_rx_wake_all(struct rch_link *link)
{
	struct rch_wake *wake, *tmp;
	__poll_t events;
	u32 count;

	list_for_each_entry_safe(wake, tmp, &link->rx.wakes, list) {
		spin_lock(wake->lock);
		list_del_init(&wake->list);
		events = wake->events;
		count = wake->count;
		spin_unlock(wake->lock);
		/* Some waiters are not interruptible. */
		__wake_up(wake->queue, TASK_NORMAL, count, poll_to_key(events));
	}
}

/* Return: the rule that was broken */
static enum rch_rule link_rx_received(struct rch_link *link, const struct rch_rxf *rxf, bool *skip)
{
	enum rch_rule rule;

	/* For lanes, and for what is to be woken, which may be let go meanwhile. */
	rcu_read_lock();
	rule = rxf->bare ? link_rx_without_header(link, rxf, skip) :
	       link_rx_with_header(link, rxf, skip);
	link_rx_wake_all(link);
	rcu_read_unlock();
	return rule;
}

/**
 * rch_link_received - a frame came
 * @link: link
 * @rxf: the frame; whoever keeps part of its page takes a reference
 */
void rch_link_received(struct rch_link *link, const struct rch_rxf *rxf)
{
	bool skip = false;
	enum rch_rule rule;

	if (READ_ONCE(link->state) == RCH_LINK_DEAD)
		return;
	rule = link_rx_received(link, rxf, &skip);
	if (skip)
		atomic64_inc(&rch_counts.dropped);
	else if (rule)
		rch_link_kill_cause(link, RDMACHAN_OP_RECV, RDMACHAN_CAUSE_PROTOCOL, rule);
}
