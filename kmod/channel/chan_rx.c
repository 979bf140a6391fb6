// SPDX-License-Identifier: GPL-2.0
/*
 * chan_rx.c - keeps messages that come in segments, until they are received
 *
 * Operation. Softirq judges each record, or run of them, by the channel's state and window
 * and queues DATA as a segment, see segment.c. The program's read is the one copy of large
 * data. A message is readable when it is complete, and then a read never blocks.
 *
 * The queue knows what is in it, by records and bytes: segments that are taken out of it are moved
 * together, as softirq waits for the lock meanwhile.
 *
 * Buffer ownership. A segment belongs to the channel's queue. A reader that has claimed
 * RCH_CHAN_RX, looks at the segments of the first message where they are and takes them out when
 * all bytes have reached the program; if they do not, the message stays. A receiver of many takes
 * them out together.
 *
 * Error handling. A record that the channel's state does not allow is the peer's fault
 * and ends the link. If there is no memory to keep a record, or a limit is in the way of
 * a message that is larger than the receive buffer, the channel is reset. A message that
 * cannot be delivered is told, never left out.
 */
#include <linux/uio.h>

#include "base/iter.h"
#include "base/rch.h"
#include "channel/chan.h"

/* Instead of a new limit to tell: the message that is coming may not be kept. */
#define RCH_CREDIT_OVER U64_MAX

/* While no program has accepted the channel, nobody waits for the message to end. */
static bool chan_rx_only_incomplete(const struct rch_chan *chan)
{
	return chan->rx.arriving && !chan->rx.complete && chan->state != RCH_CHAN_WAITING;
}

/* Whether so much less than is charged is worth the lock that all users share. */
static bool chan_rx_worth_giving(const struct rch_chan *chan, u64 excess)
{
	u64 charged = chan->rx.excess;

	return excess < charged && (!excess || charged - excess >= chan->rx.window.size / 4);
}

/*
 * The room that is promised beyond the receive buffer, so that a message that is larger goes on
 * coming, is charged before it is told. Most channels never promise any.
 */
static noinline_for_stack bool chan_rx_charge_excess(struct rch_chan *chan, u64 told)
{
	u64 excess = rch_window_excess(&chan->rx.window, told);
	struct rch_cost cost = {};
	u32 cause, limit;

	lockdep_assert_held(&chan->lock);
	if (excess > chan->rx.excess) {
		cost.of[RDMACHAN_LIMIT_BYTES] = excess - chan->rx.excess;
		cause = rch_charge_take(&chan->charge, &cost, chan->charge.by_peer, &limit);
		if (cause) {
			WRITE_ONCE(chan->rx.over, cause);
			return false;
		}
	} else if (chan_rx_worth_giving(chan, excess)) {
		rch_charge_give(&chan->charge, RDMACHAN_LIMIT_BYTES, chan->rx.excess - excess);
	} else {
		return true;
	}
	chan->rx.excess = excess;
	return true;
}

/* A new limit to tell; 0; or RCH_CREDIT_OVER. For chan_rx_tell_credit(), without the lock. */
static u64 chan_rx_credit_due(struct rch_chan *chan)
{
	u64 limit = chan->rx.window.told;

	lockdep_assert_held(&chan->lock);
	if (rch_window_must_tell(&chan->rx.window, chan_rx_only_incomplete(chan)))
		limit = rch_window_target(&chan->rx.window, chan_rx_only_incomplete(chan));
	else if (!chan->rx.excess)
		return 0;
	if (!chan_rx_charge_excess(chan, limit))
		return RCH_CREDIT_OVER;
	if (limit == chan->rx.window.told)
		return 0;
	chan->rx.window.told = limit;
	return limit;
}

/** rch_chan_cannot_keep - the channel ends, as it must not leave a message out. Any context */
noinline_for_stack void rch_chan_cannot_keep(struct rch_chan *chan, u32 cause, u64 detail)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, RDMACHAN_OP_RECV, cause, detail);
	rch_link_where(chan->lane.link, &error);
	rch_chan_give_up(chan, &error, RDMACHAN_CAUSE_PEER_RESOURCES, 0);
}

static void chan_rx_tell_credit(struct rch_chan *chan, u64 credit)
{
	if (credit == RCH_CREDIT_OVER)
		rch_chan_cannot_keep(chan, READ_ONCE(chan->rx.over), RDMACHAN_LIMIT_BYTES);
	else if (credit)
		rch_lane_credit(&chan->lane, credit);
}

/**
 * rch_chan_rx_resize - give the receive buffer another size
 * @chan: channel
 * @size: bytes; when it grows the difference was charged
 *
 * Bytes that the peer was promised beyond a smaller buffer stay charged, as @rx.excess, until they
 * are read.
 * Context: process, with @tune_lock.
 */
void rch_chan_rx_resize(struct rch_chan *chan, u32 size)
{
	struct rch_chan_rx *rx = &chan->rx;
	u64 charged, limit;

	lockdep_assert_held(&chan->tune_lock);
	spin_lock_bh(&chan->lock);
	charged = max(size, chan->tuning.recv_buffer) + rx->excess;
	limit = rch_window_resize(&rx->window, size);
	rx->excess = rch_window_excess(&rx->window, rx->window.told);
	WRITE_ONCE(chan->tuning.recv_buffer, size);
	rch_charge_give(&chan->charge, RDMACHAN_LIMIT_BYTES, charged - size - rx->excess);
	spin_unlock_bh(&chan->lock);
	chan_rx_tell_credit(chan, limit);
}

/** rch_chan_accepted - a program has taken the channel out of its listener's queue */
void rch_chan_accepted(struct rch_chan *chan)
{
	u64 credit = 0;

	rch_charge_give(&chan->charge, RDMACHAN_LIMIT_PENDING, 1);
	spin_lock_bh(&chan->lock);
	if (chan->state == RCH_CHAN_WAITING && rch_chan_set_state(chan, RCH_CHAN_OPEN))
		credit = chan_rx_credit_due(chan);
	spin_unlock_bh(&chan->lock);
	chan_rx_tell_credit(chan, credit);
}

/* Whether @r goes on with the message that is arriving, or begins one. */
static enum rch_rule chan_rx_segment_fits(struct rch_chan *chan, const struct rch_record *r)
{
	const struct rch_rndv_rx *large = &chan->rndv_rx;
	bool first = r->flags & RCH_DATA_F_FIRST;
	u32 expect = first ? r->total : chan->rx.expect;

	if (first == chan->rx.arriving || large->offered || large->crossed || large->grant_left)
		return RCH_RULE_SEGMENT;
	if (r->flags & RCH_DATA_F_ABORT)
		return first || (r->flags & RCH_DATA_F_LAST) ? RCH_RULE_SEGMENT : RCH_RULE_OK;
	if (first && max(r->total, r->run.longest) > chan->tuning.message_max)
		return RCH_RULE_MESSAGE_SIZE;
	if (!rch_segment_allowed(r->length, r->flags & RCH_DATA_F_LAST))
		return RCH_RULE_SEGMENT;
	if (r->length > expect || !!(r->flags & RCH_DATA_F_LAST) != (r->length == expect))
		return RCH_RULE_SEGMENT;
	return RCH_RULE_OK;
}

/* So many records of the peer's are read, or dropped. */
static void chan_rx_records_over(struct rch_chan *chan, u32 records, u32 bytes)
{
	lockdep_assert_held(&chan->lock);
	chan->rx.queued -= bytes;
	chan->rx.records -= records;
	rch_window_consumed_run(&chan->rx.window, records, bytes);
}

/*
 * Take the segments of the message that is arriving out of the queue's end. There may be very many:
 * they are moved together. Those before them stay as they are, for a reader without the lock.
 */
static void chan_rx_take_arriving(struct rch_chan *chan, struct rch_dropped *out)
{
	struct rch_chan_rx *rx = &chan->rx;

	lockdep_assert_held(&chan->lock);
	if (!rx->arriving)
		return;
	chan_rx_records_over(chan, rx->from_records, rx->from_bytes);
	list_bulk_move_tail(&out->list, &rx->from->list, rx->segments.prev);
	out->bytes += rch_window_cost_run(rx->from_records, rx->from_bytes);
	rx->arriving = false;
}

/* @seg goes behind all that came. */
static void chan_rx_segment_add(struct rch_chan *chan, const struct rch_record *r,
				struct rch_segment *seg)
{
	struct rch_chan_rx *rx = &chan->rx;
	bool first = r->flags & RCH_DATA_F_FIRST;

	lockdep_assert_held(&chan->lock);
	if (first) {
		rx->from = seg;
		rx->from_records = 0;
		rx->from_bytes = 0;
	}
	rx->from_records += r->run.count;
	rx->from_bytes += r->run.bytes;
	rx->expect = (first ? r->total : rx->expect) - r->length;
	rx->arriving = !(r->flags & RCH_DATA_F_LAST);
	rx->records += r->run.count;
	rx->queued += r->run.bytes;
	list_add_tail(&seg->list, &rx->segments);
}

static enum rch_rule chan_rx_data_queue(struct rch_chan *chan, const struct rch_record *r,
					struct rch_segment *seg, struct rch_dropped *drop,
					u64 *credit)
{
	enum rch_rule rule;

	lockdep_assert_held(&chan->lock);
	rule = chan_rx_segment_fits(chan, r);
	if (rule)
		return rule;
	if (!rch_window_received_run(&chan->rx.window, r->run.count, r->run.bytes))
		return RCH_RULE_WINDOW;
	if (r->flags & RCH_DATA_F_ABORT) {
		rch_window_consumed(&chan->rx.window, 0);
		chan_rx_take_arriving(chan, drop);
		*credit = chan_rx_credit_due(chan);
		return RCH_RULE_OK;
	}
	chan_rx_segment_add(chan, r, seg);
	if (r->flags & RCH_DATA_F_LAST) {
		WRITE_ONCE(chan->rx.complete, chan->rx.complete + r->run.count);
		rch_chan_wake(chan, EPOLLIN | EPOLLRDNORM);
	}
	*credit = chan_rx_credit_due(chan);
	return RCH_RULE_OK;
}

/*
 * No program reads any more: the data counts as read at once. So does what has come of its message:
 * an event, which is queued behind it, would be taken for its end.
 */
static void chan_rx_data_ignore(struct rch_chan *chan, const struct rch_record *r,
				struct rch_dropped *drop, u64 *credit)
{
	lockdep_assert_held(&chan->lock);
	chan->rx.window.received += rch_window_cost_run(r->run.count, r->run.bytes);
	rch_window_consumed_run(&chan->rx.window, r->run.count, r->run.bytes);
	chan_rx_take_arriving(chan, drop);
	*credit = chan_rx_credit_due(chan);
}

/**
 * rch_chan_data_keep - DATA came
 * @chan: channel
 * @r: its record, checked as far as the codec can
 * @seg: its bytes; consumed. NULL for what ends a message
 * @ignored: set when nobody will ever receive it
 *
 * Softirq. Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_chan_data_keep(struct rch_chan *chan, const struct rch_record *r,
				 struct rch_segment *seg, bool *ignored)
{
	enum rch_rule rule = RCH_RULE_OK;
	struct rch_dropped drop = RCH_DROPPED(drop);
	u64 credit = 0;

	*ignored = false;
	spin_lock(&chan->lock);
	if (chan->state == RCH_CHAN_CONNECTING || chan->state == RCH_CHAN_PEER_CLOSED ||
	    (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_SEND))
		rule = RCH_RULE_STATE;
	else if ((chan->state == RCH_CHAN_OPEN || chan->state == RCH_CHAN_WAITING) &&
		 !(chan->ends.shut & RDMACHAN_SHUTDOWN_RECV))
		rule = chan_rx_data_queue(chan, r, seg, &drop, &credit);
	else
		*ignored = true;
	if (*ignored)
		chan_rx_data_ignore(chan, r, &drop, &credit);
	/* Under the lock: from then on a reader may have freed what is queued. */
	if (seg && list_empty(&seg->list))
		list_add(&seg->list, &drop.list);
	spin_unlock(&chan->lock);
	if (unlikely(!list_empty(&drop.list)))
		rch_segments_discard(&drop);
	chan_rx_tell_credit(chan, credit);
	return rule;
}

/* What is charged for what the channel has and nobody has read; a guess. */
static u64 chan_rx_unread(const struct rch_chan *chan)
{
	return READ_ONCE(chan->rx.queued) + (u64)READ_ONCE(chan->rx.records) * RCH_WINDOW_RECORD;
}

/** rch_chan_data_got - DATA came, in @page. Softirq. Return: the rule that was broken */
enum rch_rule rch_chan_data_got(struct rch_chan *chan, const struct rch_record *r,
				struct page *page)
{
	struct rch_segment *seg = NULL;
	bool ignored;

	if (!(r->flags & RCH_DATA_F_ABORT)) {
		seg = rch_segment_alloc(&chan->rx.own, r, page, chan_rx_unread(chan));
		if (!seg) {
			rch_chan_cannot_keep(chan, RDMACHAN_CAUSE_RESOURCES, ENOMEM);
			return RCH_RULE_OK;
		}
	}
	return rch_chan_data_keep(chan, r, seg, &ignored);
}

/**
 * rch_chan_early_got - DATA came whose sender may not know that the channel is open
 * @chan: channel that the peer has opened
 * @r: its record, with RCH_DATA_F_EARLY; within RCH_EARLY_MAX
 * @page: the page it is in
 *
 * The sender does not know the largest message that is taken here, so one that is larger breaks no
 * rule. Softirq. Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_chan_early_got(struct rch_chan *chan, const struct rch_record *r,
				 struct page *page)
{
	struct rch_record data = *r;

	if (r->total > chan->tuning.message_max) {
		rch_chan_cannot_keep(chan, RDMACHAN_CAUSE_MESSAGE_SIZE, chan->tuning.message_max);
		return RCH_RULE_OK;
	}
	data.flags &= ~RCH_DATA_F_EARLY;
	return rch_chan_data_got(chan, &data, page);
}

/* A message that was sent early is larger than the peer takes. */
static noinline_for_stack void chan_rx_early_too_large(struct rch_chan *chan)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_MESSAGE_SIZE,
		      chan->peer_message_max);
	rch_link_where(chan->lane.link, &error);
	rch_chan_give_up(chan, &error, RDMACHAN_CAUSE_PEER_RESET, 0);
	/* No other thread waits for the answer when the file is closed. */
	if (READ_ONCE(chan->state) == RCH_CHAN_CLOSING)
		rch_chan_await_answer(chan);
}

/*
 * The peer has opened the channel, and it may be used. @shut: the program has shut receiving down
 * before, and the peer is to be told. Return: the state that it has then.
 */
static enum rch_chan_state chan_rx_opened(struct rch_chan *chan, bool *shut)
{
	enum rch_chan_state state;

	spin_lock(&chan->lock);
	*shut = chan->ends.shut & RDMACHAN_SHUTDOWN_RECV;
	if (!rch_chan_given_up(chan))
		rch_chan_set_state(chan, RCH_CHAN_OPEN);
	if (chan->early.lingers)
		rch_chan_set_state(chan, RCH_CHAN_CLOSING);
	state = chan->state;
	spin_unlock(&chan->lock);
	return state;
}

/** rch_chan_accept_got - ACCEPT came. Softirq. Return: the rule that was broken, or RCH_RULE_OK */
enum rch_rule rch_chan_accept_got(struct rch_chan *chan, const struct rch_record *r)
{
	struct rch_accept accept;
	enum rch_chan_state state;
	bool fits, wanted, shut;

	rch_wire_accept_get(r, &accept);
	if (!chan->active || chan->lane.peer_id)
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	chan->peer_message_max = min(accept.message_max, RDMACHAN_MESSAGE_MAX);
	fits = rch_chan_early_end(chan);
	wanted = chan->state == RCH_CHAN_CONNECTING && !rch_chan_given_up(chan);
	spin_unlock(&chan->lock);
	/* Items that wait in the lane go as soon as that is connected. */
	if (!fits || !wanted)
		rch_lane_refuse(&chan->lane);
	rch_lane_connected(&chan->lane, accept.chan, accept.window);
	rch_chan_early_free(chan);
	state = chan_rx_opened(chan, &shut);
	/* A program that gave up may have closed the channel, or not yet. */
	if (state != RCH_CHAN_OPEN && state != RCH_CHAN_CLOSING)
		rch_lane_reset(&chan->lane, RDMACHAN_CAUSE_PEER_RESET, 0);
	else if (!fits)
		chan_rx_early_too_large(chan);
	else if (state == RCH_CHAN_CLOSING)
		rch_chan_linger(chan);
	else if (shut)
		rch_lane_read(&chan->lane, 0, true);
	return RCH_RULE_OK;
}

static u32 chan_rx_reject_cause(u32 reason)
{
	switch (reason) {
	case RCH_REJECT_NO_SERVICE:
		return RDMACHAN_CAUSE_NO_SERVICE;
	case RCH_REJECT_BACKLOG:
		return RDMACHAN_CAUSE_BACKLOG;
	case RCH_REJECT_RESOURCES:
		return RDMACHAN_CAUSE_PEER_RESOURCES;
	default:
		return RDMACHAN_CAUSE_REJECTED;
	}
}

/** rch_chan_reject_got - REJECT came. Softirq. Return: the rule that was broken, or RCH_RULE_OK */
enum rch_rule rch_chan_reject_got(struct rch_chan *chan, const struct rch_record *r)
{
	struct rdmachan_error error = {};
	u32 reason, domain;

	rch_wire_pair_get(r, &reason, &domain);
	if (!chan->active || chan->lane.peer_id)
		return RCH_RULE_STATE;
	rch_error_set(&error, RDMACHAN_OP_OPEN, chan_rx_reject_cause(reason), reason);
	rch_link_where(chan->lane.link, &error);
	if (!rch_lane_detach(&chan->lane))
		return RCH_RULE_STATE;
	if (reason == RCH_REJECT_DOMAIN)
		rch_chan_retry(chan, domain, &error);
	else
		rch_chan_fail(chan, &error);
	/* The program may have given up, and the answer been waited for. */
	if (cancel_delayed_work(&chan->ends.linger_work))
		rch_chan_put(chan);
	rch_chan_put(chan);
	return RCH_RULE_OK;
}

/** rch_chan_shut_got - SHUT came. Softirq. Return: the rule that was broken, or RCH_RULE_OK */
enum rch_rule rch_chan_shut_got(struct rch_chan *chan, const struct rch_record *r)
{
	u32 shut = 0;

	if (!chan->lane.peer_id)
		return RCH_RULE_STATE;
	if (r->flags & RCH_SHUT_F_SEND)
		shut |= RDMACHAN_SHUTDOWN_SEND;
	if (r->flags & RCH_SHUT_F_RECV)
		shut |= RDMACHAN_SHUTDOWN_RECV;
	spin_lock(&chan->lock);
	/* A peer may say so as often as it likes, and there may be many waiters. */
	if (shut & ~chan->ends.peer_shut) {
		WRITE_ONCE(chan->ends.peer_shut, chan->ends.peer_shut | shut);
		wake_up_interruptible_all(&chan->wait);
	}
	spin_unlock(&chan->lock);
	if (r->flags & RCH_SHUT_F_RECV)
		rch_lane_refuse(&chan->lane);
	return RCH_RULE_OK;
}

/* A peer may only name causes that are its own to know. */
static u32 chan_rx_close_cause(u32 cause, bool reset)
{
	switch (cause) {
	case RDMACHAN_CAUSE_PEER_KILLED:
	case RDMACHAN_CAUSE_PEER_RESET:
	case RDMACHAN_CAUSE_PEER_RESOURCES:
		if (reset)
			return cause;
		fallthrough;
	default:
		return reset ? RDMACHAN_CAUSE_PEER_RESET : RDMACHAN_CAUSE_PEER_CLOSED;
	}
}

/** rch_chan_close_got - CLOSE came. Softirq. Return: the rule that was broken, or RCH_RULE_OK */
enum rch_rule rch_chan_close_got(struct rch_chan *chan, const struct rch_record *r)
{
	bool reset = r->flags & RCH_CLOSE_F_RESET;
	struct rch_dropped drop = RCH_DROPPED(drop);
	struct rdmachan_error error = {};
	u32 cause, detail;
	bool first;

	if (!chan->lane.peer_id)
		return RCH_RULE_STATE;
	rch_wire_pair_get(r, &cause, &detail);
	rch_error_set(&error, RDMACHAN_OP_NONE, chan_rx_close_cause(cause, reset), detail);
	if (error.cause == RDMACHAN_CAUSE_PEER_RESOURCES)
		error.error = ECONNRESET;
	rch_link_where(chan->lane.link, &error);
	spin_lock(&chan->lock);
	chan_rx_take_arriving(chan, &drop);
	/* What was promised beyond the buffer is charged no longer; there is nobody to tell. */
	chan_rx_credit_due(chan);
	if (!reset && rch_chan_state_allowed(chan->state, RCH_CHAN_PEER_CLOSED)) {
		error.service = chan->service;
		error.detail = rch_chan_finish_closed(chan, detail);
		chan->error = error;
		rch_chan_set_state(chan, RCH_CHAN_PEER_CLOSED);
	}
	spin_unlock(&chan->lock);
	if (reset)
		rch_chan_fail(chan, &error);
	rch_segments_discard(&drop);
	/* The lane's reference may go with the answer. */
	kref_get(&chan->ref);
	first = rch_lane_close_got(&chan->lane);
	/* Behind it: nothing is lent from then on. */
	rch_chan_peer_over(chan, error.cause);
	if (READ_ONCE(chan->grants))
		rch_chan_put_later(chan);
	else
		rch_chan_put(chan);
	return first ? RCH_RULE_OK : RCH_RULE_STATE;
}

/** rch_chan_has_ended - for a receiver, which hears first that memory which was lent is back */
bool rch_chan_has_ended(const struct rch_chan *chan)
{
	enum rch_chan_state state = READ_ONCE(chan->state);

	return state != RCH_CHAN_OPEN && state != RCH_CHAN_CONNECTING &&
	       !atomic_read(&chan->lent);
}

/**
 * rch_chan_peer_has_shut - whether the peer sends no more, and all that it has said is told
 * @chan: channel
 *
 * What it has given back before is told by an event, which comes when the adapter has closed the
 * key: the end is behind that. Any context.
 */
bool rch_chan_peer_has_shut(const struct rch_chan *chan)
{
	return (READ_ONCE(chan->ends.peer_shut) & RDMACHAN_SHUTDOWN_SEND) &&
	       !atomic_read(&chan->returning);
}

/** rch_chan_rx_settled - whether there is something to receive, or will not be. Any context */
bool rch_chan_rx_settled(struct rch_chan *chan)
{
	return READ_ONCE(chan->rx.complete) ||
	       (READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_RECV) ||
	       rch_chan_peer_has_shut(chan) || rch_chan_has_ended(chan);
}

/**
 * struct first_message - the first message of the queue, which is complete
 * @first: its first segment
 * @last: its last one
 * @records: records of it
 * @bytes: of those
 */
struct first_message {
	struct rch_segment *first;
	struct rch_segment *last;
	u32 records;
	u32 bytes;
};

/* Copy it to the program; it stays in the queue. */
static int chan_rx_copy_first(struct first_message *message, struct iov_iter *to)
{
	struct rch_segment *seg = message->first;

	for (;;) {
		if (!rch_copy_to_iter(seg->data, seg->length - seg->hidden, to))
			return -EFAULT;
		message->last = seg;
		message->records++;
		message->bytes += seg->length;
		if (seg->flags & RCH_DATA_F_LAST)
			return 0;
		seg = list_next_entry(seg, list);
		cond_resched();
	}
}

/* Copy its first bytes, as many as there is room for. */
static int chan_rx_peek_first(struct rch_segment *seg, struct iov_iter *to)
{
	size_t n;

	for (;;) {
		n = min_t(size_t, seg->length - seg->hidden, iov_iter_count(to));
		if (!rch_copy_to_iter(seg->data, n, to))
			return -EFAULT;
		if (!iov_iter_count(to) || (seg->flags & RCH_DATA_F_LAST))
			return 0;
		seg = list_next_entry(seg, list);
		cond_resched();
	}
}

/** rch_chan_events_over - so many events of the module are over: read, or never told */
void rch_chan_events_over(struct rch_chan *chan, u32 count)
{
	rch_charge_give(&chan->charge, RDMACHAN_LIMIT_BYTES, count * RCH_EVENT_BYTES);
}

/* Take it out of the queue, all segments together. Return: a limit to tell, or 0. */
static u64 chan_rx_take_first(struct rch_chan *chan, const struct first_message *message,
			      struct list_head *out)
{
	u64 credit = 0;

	spin_lock_bh(&chan->lock);
	if (message->first->local) {
		chan->rx.events--;
		rch_chan_events_over(chan, 1);
	} else {
		chan_rx_records_over(chan, message->records, message->bytes);
	}
	/* Of a run it is only the first record. */
	if (!rch_segment_next(message->first))
		list_bulk_move_tail(out, &message->first->list, &message->last->list);
	WRITE_ONCE(chan->rx.complete, chan->rx.complete - 1);
	credit = chan_rx_credit_due(chan);
	spin_unlock_bh(&chan->lock);
	return credit;
}

/* The segment at which the message that is arriving begins; or the end. */
static struct list_head *chan_rx_behind_complete(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	return chan->rx.arriving ? &chan->rx.from->list : &chan->rx.segments;
}

/**
 * rch_chan_event - the module tells the program something, behind all messages that came
 * @chan: channel
 * @seg: what, as of rch_segment_make(), and charged RCH_EVENT_BYTES; belongs to the channel
 *	from now on
 *
 * Context: any.
 */
void rch_chan_event(struct rch_chan *chan, struct rch_segment *seg)
{
	LIST_HEAD(drop);

	seg->local = true;
	spin_lock_bh(&chan->lock);
	if (chan->ends.released || (chan->ends.shut & RDMACHAN_SHUTDOWN_RECV)) {
		list_add(&seg->list, &drop);
		rch_chan_events_over(chan, 1);
	} else {
		list_add_tail(&seg->list, chan_rx_behind_complete(chan));
		chan->rx.events++;
		WRITE_ONCE(chan->rx.complete, chan->rx.complete + 1);
		wake_up_interruptible_poll(&chan->wait, EPOLLIN | EPOLLRDNORM);
	}
	spin_unlock_bh(&chan->lock);
	rch_segments_free(&drop);
}

/**
 * rch_chan_recv_message - receive the first message, which is complete
 * @chan: channel whose RCH_CHAN_RX the caller has claimed
 * @to: where to
 * @result: what was found
 *
 * Return: 0, -EMSGSIZE, -ENOMSG, -EFAULT, or what @result->out gave: then it stays.
 */
int rch_chan_recv_message(struct rch_chan *chan, struct iov_iter *to,
			  struct rch_recv_result *result)
{
	struct rch_segment *seg = list_first_entry(&chan->rx.segments, struct rch_segment, list);
	struct first_message message = { .first = seg };
	LIST_HEAD(taken);
	u64 credit;
	int ret;

	result->grants = seg->flags & RCH_DATA_F_GRANTS;
	result->local = seg->local;
	if (result->grants && !result->takes_grants && !result->peek)
		return -ENOMSG;
	result->length = seg->total - seg->hidden;
	result->msg_flags = seg->msg_flags;
	if (result->length > iov_iter_count(to) && !result->peek)
		return -EMSGSIZE;
	ret = result->peek ? chan_rx_peek_first(seg, to) : chan_rx_copy_first(&message, to);
	if (!ret && result->out)
		ret = result->out(result);
	if (ret || result->peek)
		return ret;
	result->tells = message.last->flags & RCH_DATA_F_TELL;
	credit = chan_rx_take_first(chan, &message, &taken);
	rch_segments_drop(&taken);
	/* In one frame with new room for the peer. */
	if (unlikely(result->tells))
		rch_lane_taken(&chan->lane, chan->counts.rx_messages + 1, true);
	chan_rx_tell_credit(chan, credit);
	if (unlikely(result->tells && !result->holds))
		rch_link_run(chan->lane.link);
	return 0;
}

static void chan_rx_count_received(struct rch_chan *chan, u32 messages, size_t bytes)
{
	WRITE_ONCE(chan->counts.rx_messages, chan->counts.rx_messages + messages);
	WRITE_ONCE(chan->counts.rx_bytes, chan->counts.rx_bytes + bytes);
}

/** rch_chan_rx_done - a message was received; by the holder of RCH_CHAN_RX */
void rch_chan_rx_done(struct rch_chan *chan, size_t length)
{
	chan_rx_count_received(chan, 1, length);
}

/* What carries grants goes one by one. */
static bool chan_rx_is_whole(const struct rch_segment *seg)
{
	return seg->flags == (RCH_DATA_F_FIRST | RCH_DATA_F_LAST);
}

/**
 * rch_chan_recv_begin - begin to receive messages one behind the other, without waiting
 * @chan: channel
 * @row: filled in
 *
 * The first message is that of @row->seg, whole. When its bytes have reached the program
 * rch_chan_recv_next() goes on.
 *
 * Context: process. Return: whether there is one; then rch_chan_recv_end() must follow.
 */
bool rch_chan_recv_begin(struct rch_chan *chan, struct rch_rx_row *row)
{
	if (!READ_ONCE(chan->rx.complete) ||
	    rch_chan_claim(chan, RCH_CHAN_RX, rch_chan_rx_settled, true, 0))
		return false;
	memset(row, 0, sizeof(*row));
	spin_lock_bh(&chan->lock);
	if (!(chan->ends.shut & RDMACHAN_SHUTDOWN_RECV))
		row->left = chan->rx.complete;
	row->seg = list_first_entry(&chan->rx.segments, struct rch_segment, list);
	spin_unlock_bh(&chan->lock);
	if (row->left && chan_rx_is_whole(row->seg))
		return true;
	rch_chan_unclaim(chan, RCH_CHAN_RX);
	return false;
}

/** rch_chan_recv_next - a message of a row was received. Return: whether there is another */
bool rch_chan_recv_next(struct rch_rx_row *row)
{
	row->messages++;
	row->bytes += row->seg->length;
	if (rch_segment_next(row->seg)) {
		row->left--;
		return true;
	}
	row->last = row->seg;
	/* A segment behind the last one that is complete may just be put there. */
	if (!--row->left)
		return false;
	row->seg = list_next_entry(row->seg, list);
	return chan_rx_is_whole(row->seg);
}

/* Take what was received out of the queue. Return: as chan_rx_credit_due() */
static u64 chan_rx_take_row(struct rch_chan *chan, const struct rch_rx_row *row,
			    struct list_head *out)
{
	u64 credit;

	spin_lock_bh(&chan->lock);
	if (row->last)
		list_bulk_move_tail(out, chan->rx.segments.next, &row->last->list);
	chan_rx_records_over(chan, row->messages, row->bytes);
	WRITE_ONCE(chan->rx.complete, chan->rx.complete - row->messages);
	credit = chan_rx_credit_due(chan);
	spin_unlock_bh(&chan->lock);
	return credit;
}

/** rch_chan_recv_end - no more of a row is received now */
void rch_chan_recv_end(struct rch_chan *chan, const struct rch_rx_row *row)
{
	LIST_HEAD(taken);
	u64 credit;

	if (row->messages) {
		credit = chan_rx_take_row(chan, row, &taken);
		rch_segments_drop(&taken);
		chan_rx_tell_credit(chan, credit);
		chan_rx_count_received(chan, row->messages, row->bytes);
	}
	rch_chan_unclaim(chan, RCH_CHAN_RX);
}

/**
 * rch_chan_rx_idle - whether a receive that does not wait is sure to find nothing
 * @chan: channel
 *
 * Without the lock: a caller that asks again after it has entered the wait queue misses nothing.
 * Context: any.
 */
bool rch_chan_rx_idle(const struct rch_chan *chan)
{
	enum rch_chan_state state = READ_ONCE(chan->state);

	return !READ_ONCE(chan->rx.complete) && READ_ONCE(chan->rndv_rx.wants_data) &&
	       (state == RCH_CHAN_OPEN || state == RCH_CHAN_CONNECTING) &&
	       !(READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_RECV) &&
	       !(READ_ONCE(chan->ends.peer_shut) & RDMACHAN_SHUTDOWN_SEND);
}

/** rch_chan_next_length - bytes of the next message; 0 when there is none. Any context */
u64 rch_chan_next_length(struct rch_chan *chan)
{
	struct rch_segment *seg;
	u64 length = 0;

	spin_lock_bh(&chan->lock);
	if (chan->rx.complete) {
		seg = list_first_entry(&chan->rx.segments, struct rch_segment, list);
		length = READ_ONCE(seg->total) - seg->hidden;
	}
	spin_unlock_bh(&chan->lock);
	return length;
}

/* Take all that came out of the queue. Return: a limit to tell, or 0. */
static u64 chan_rx_take_all(struct rch_chan *chan, struct list_head *out)
{
	u64 credit;

	spin_lock_bh(&chan->lock);
	chan_rx_records_over(chan, chan->rx.records, chan->rx.queued);
	list_splice_init(&chan->rx.segments, out);
	rch_chan_events_over(chan, chan->rx.events);
	chan->rx.events = 0;
	WRITE_ONCE(chan->rx.complete, 0);
	chan->rx.arriving = false;
	WRITE_ONCE(chan->rndv_rx.offered, false);
	credit = chan_rx_credit_due(chan);
	spin_unlock_bh(&chan->lock);
	return credit;
}

/**
 * rch_chan_drop_received - throw away all that came
 * @chan: channel
 *
 * Context: the caller has claimed RCH_CHAN_RX, or releases the channel; process, unless nothing can
 * have come.
 */
void rch_chan_drop_received(struct rch_chan *chan)
{
	LIST_HEAD(drop);
	u64 credit = chan_rx_take_all(chan, &drop);

	rch_segments_drop(&drop);
	/* Without a lane there is nobody to tell. */
	if (chan->lane.link)
		chan_rx_tell_credit(chan, credit);
}

/**
 * rch_chan_refuse_received - throw away all that came, and use nothing that came with it
 * @chan: channel
 *
 * Lent memory goes back by itself when a channel ends, but this one goes on. Context: the caller
 * has claimed RCH_CHAN_RX.
 */
void rch_chan_refuse_received(struct rch_chan *chan)
{
	struct rch_segment *seg;
	LIST_HEAD(drop);
	u64 credit = chan_rx_take_all(chan, &drop);

	list_for_each_entry(seg, &drop, list)
		if ((seg->flags & RCH_DATA_F_GRANTS) && !seg->local)
			rch_chan_ops->unread(chan, seg);
	rch_segments_drop(&drop);
	chan_rx_tell_credit(chan, credit);
}
