// SPDX-License-Identifier: GPL-2.0
/*
 * chan_tx.c - what is sent on a channel: whether it may be, segments, rows of small messages
 *
 * Operation. A message that does not go straight into the link's frame is cut into segments, each
 * copied once into memory that is posted as it is, and queued with the channel. The send buffer
 * bounds what may wait there. A message belongs to one sender from its first segment to its last,
 * by RCH_CHAN_TX. Which way a message takes is chosen above, in message/send.c.
 *
 * Dropping. A lane that ends may have as much waiting as the send buffer has room for, in pieces of
 * a few bytes, and a word for each grant. The context that ends it holds the link's lock, often in
 * soft interrupt. So it drops a few of each itself. The others come here, and a work item drops
 * them, a part at a time.
 *
 * Accounting. The lane counts the items no longer, as poll, LIST and a thread that waits for room
 * look at what it counts. But the work item holds the channel until the last is freed, and the
 * channel is charged for its send buffer until it is freed itself: somebody is charged for each
 * byte that waits here. If the program makes the send buffer smaller meanwhile, the old size stays
 * charged until the work item has ended, see rch_chan_tx_settle(). What words are part of has a
 * charge of its own, or the channel's.
 *
 * Lifetime. An item is memory of its own, of which no adapter knows. A word is part of a loan, a
 * held grant, a job or an answer, which stays until @sent was called. That looks at the channel and
 * its grants at most, which the work item holds. Neither a link is needed here, nor a path or a
 * namespace: each may go before. A work item that has begun waits for nobody, and ends.
 * rch_link_exit() waits for it before the module goes: channels are given up only by contexts that
 * it has ended, or waited for, before it waits for the last time.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>

#include "base/rch.h"
#include "channel/chan.h"

/* Without the lock: what changes a moment later might as well have then. */
static bool chan_tx_goes(const struct rch_chan *chan)
{
	return READ_ONCE(chan->state) == RCH_CHAN_OPEN &&
	       !(READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_SEND) &&
	       !(READ_ONCE(chan->ends.peer_shut) & RDMACHAN_SHUTDOWN_RECV);
}

/* Why nothing can be sent, as an errno below 0; 0 when it can, or must wait. */
static int chan_tx_refusal(struct rch_chan *chan, u32 *note)
{
	int ret = 0;

	*note = RDMACHAN_CAUSE_NONE;
	if (likely(chan_tx_goes(chan)))
		return 0;
	spin_lock_bh(&chan->lock);
	if (chan->state == RCH_CHAN_FAILED) {
		ret = -(int)chan->error.error;
	} else if (chan->state == RCH_CHAN_PEER_CLOSED) {
		ret = -EPIPE;
	} else if (chan->ends.shut & RDMACHAN_SHUTDOWN_SEND) {
		*note = RDMACHAN_CAUSE_SHUTDOWN;
		ret = -EPIPE;
	} else if (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_RECV) {
		*note = RDMACHAN_CAUSE_PEER_SHUTDOWN;
		ret = -EPIPE;
	}
	spin_unlock_bh(&chan->lock);
	return ret;
}

/** rch_chan_tx_refused - whether nothing can be sent any more */
bool rch_chan_tx_refused(struct rch_chan *chan)
{
	u32 note;

	return chan_tx_refusal(chan, &note);
}

/** rch_chan_tx_check - why nothing can be sent, for the program to see; 0 if it can */
int rch_chan_tx_check(struct rch_chan *chan)
{
	u32 note;
	int ret = chan_tx_refusal(chan, &note);

	if (note)
		rch_chan_note(chan, RDMACHAN_OP_SEND, note, 0);
	return ret;
}

/** rch_chan_tx_settled - whether there is room to send, or will be none. Any context */
bool rch_chan_tx_settled(struct rch_chan *chan)
{
	if (READ_ONCE(chan->state) == RCH_CHAN_CONNECTING)
		return READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_SEND;
	return rch_chan_tx_refused(chan) || rch_lane_has_room(&chan->lane);
}

/** rch_chan_tx_wait - wait for room in the middle of a message. Return: 0 or an error */
int rch_chan_tx_wait(struct rch_chan *chan, unsigned long deadline)
{
	long wait = wait_event_interruptible_timeout(chan->wait, rch_chan_tx_settled(chan),
						     rch_time_left(deadline));

	return rch_wait_result(wait, deadline) ?: rch_chan_tx_check(chan);
}

/**
 * rch_chan_tx_too_large - a message is larger than a limit
 * @chan: channel
 * @cause: of its own for each limit, so that no record of another is taken for this failure's
 * @limit: bytes
 *
 * Return: -EMSGSIZE.
 */
int rch_chan_tx_too_large(struct rch_chan *chan, u32 cause, u32 limit)
{
	rch_chan_note(chan, RDMACHAN_OP_SEND, cause, limit);
	return -EMSGSIZE;
}

/** rch_chan_tx_sizes - whether a message of @len bytes may be sent. Return: 0 or -EMSGSIZE */
int rch_chan_tx_sizes(struct rch_chan *chan, size_t len, bool nonblock)
{
	u32 max = READ_ONCE(chan->peer_message_max), buffer = READ_ONCE(chan->tuning.send_buffer);

	if (len > max)
		return rch_chan_tx_too_large(chan, RDMACHAN_CAUSE_MESSAGE_SIZE, max);
	if (nonblock && len > buffer)
		return rch_chan_tx_too_large(chan, RDMACHAN_CAUSE_SEND_BUFFER, buffer);
	return 0;
}

/* Whether something that was dropped may not be freed yet. */
static bool chan_tx_drop_pending(struct rch_chan *chan)
{
	bool pending;

	spin_lock_bh(&chan->drop.lock);
	pending = chan->drop.pending;
	spin_unlock_bh(&chan->drop.lock);
	return pending;
}

/**
 * rch_chan_tx_settle - what waits to be sent, and was dropped, may fit the send buffer again
 * @chan: channel that keeps bytes charged beyond that
 *
 * Any context, under the link's lock.
 */
void rch_chan_tx_settle(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lane.link->lock);
	if (chan->tx_keeps || chan->lane.queued >= chan->lane.room || chan_tx_drop_pending(chan))
		return;
	rch_charge_give(&chan->charge, RDMACHAN_LIMIT_BYTES, chan->tx_kept);
	WRITE_ONCE(chan->tx_kept, 0);
}

static int chan_tx_keep_locked(struct rch_chan *chan, size_t len, struct rdmachan_error *error)
{
	u64 queued = chan->lane.queued + len, room = chan->lane.room;
	u64 beyond = max(queued, room) - room;
	const struct rch_cost growth = {
		.of[RDMACHAN_LIMIT_BYTES] = max(beyond, chan->tx_kept) - chan->tx_kept,
	};
	int ret;

	lockdep_assert_held(&chan->lane.link->lock);
	ret = rch_charge_own(&chan->charge, &growth, RDMACHAN_OP_SEND, error);
	if (ret)
		return ret;
	WRITE_ONCE(chan->tx_kept, max(beyond, chan->tx_kept));
	chan->tx_keeps = true;
	return 0;
}

/**
 * rch_chan_tx_keep - a message that does not wait is about to be cut into segments
 * @chan: channel that is open, by the holder of RCH_CHAN_TX
 * @len: bytes of it
 *
 * It begins when there is any room, and all of it is queued then. What it takes beyond the send
 * buffer is charged, until that has room again. rch_chan_tx_keep_end() follows. Context: process.
 * Return: 0, or as rch_charge_own().
 */
int rch_chan_tx_keep(struct rch_chan *chan, size_t len)
{
	struct rdmachan_error error = {};
	int ret;

	/* Only the caller adds to what is queued. One segment more is what a buffer may have. */
	if (len <= rch_lane_segment_max(&chan->lane) ||
	    likely(READ_ONCE(chan->lane.queued) + len <= READ_ONCE(chan->lane.room)))
		return 0;
	spin_lock_bh(&chan->lane.link->lock);
	ret = chan_tx_keep_locked(chan, len, &error);
	spin_unlock_bh(&chan->lane.link->lock);
	if (ret)
		rch_chan_note_error(chan, &error);
	return ret;
}

/** rch_chan_tx_keep_end - the message is queued, or will not be */
void rch_chan_tx_keep_end(struct rch_chan *chan)
{
	/* Only the holder of RCH_CHAN_TX writes it, which the caller is. */
	if (likely(!chan->tx_keeps))
		return;
	spin_lock_bh(&chan->lane.link->lock);
	chan->tx_keeps = false;
	rch_chan_tx_settle(chan);
	spin_unlock_bh(&chan->lane.link->lock);
}

/* Return: 0, or an error with @error, and nothing has changed. */
static int chan_tx_resize_locked(struct rch_chan *chan, u32 size, struct rdmachan_error *error)
{
	u64 charged = chan->tuning.send_buffer + chan->tx_kept;
	const struct rch_cost growth = {
		.of[RDMACHAN_LIMIT_BYTES] = size > charged ? size - charged : 0,
	};
	int ret;

	lockdep_assert_held(&chan->lane.link->lock);
	ret = rch_charge_own(&chan->charge, &growth, RDMACHAN_OP_TUNE, error);
	if (ret)
		return ret;
	WRITE_ONCE(chan->tuning.send_buffer, size);
	WRITE_ONCE(chan->lane.room, size);
	WRITE_ONCE(chan->tx_kept, max_t(u64, charged, size) - size);
	rch_chan_tx_settle(chan);
	return 0;
}

/**
 * rch_chan_tx_resize - give the send buffer another size
 * @chan: channel whose link stays
 * @size: bytes
 * @error: which limit it was, with an error
 *
 * Bytes that wait to be sent beyond a smaller buffer stay charged until they fit.
 * Context: process, with @tune_lock. Return: 0, or as rch_charge_own().
 */
int rch_chan_tx_resize(struct rch_chan *chan, u32 size, struct rdmachan_error *error)
{
	int ret;

	lockdep_assert_held(&chan->tune_lock);
	spin_lock_bh(&chan->lane.link->lock);
	ret = chan_tx_resize_locked(chan, size, error);
	spin_unlock_bh(&chan->lane.link->lock);
	/*
	 * Also when it is smaller: a thread that has just looked at the new size may have seen what
	 * waited before an item was sent, and that item woke nobody by the old size.
	 */
	wake_up_interruptible_poll(&chan->wait, EPOLLOUT | EPOLLWRNORM);
	return ret;
}

/** rch_chan_tx_segment - queue the next segment of a message of @total bytes; may sleep */
int rch_chan_tx_segment(struct rch_chan *chan, struct iov_iter *from, u32 total,
			u32 msg_flags, bool first)
{
	bool bare = first && rch_lane_bare_saves(&chan->lane, total) &&
		    rch_lane_may_be_bare(&chan->lane, total, msg_flags);
	u32 len = bare ? total : min_t(size_t, iov_iter_count(from),
				       rch_lane_segment_max(&chan->lane));
	struct rch_item *item;
	void *data;

	item = bare ? rch_lane_item_bare(&chan->lane, len, GFP_KERNEL_ACCOUNT, &data) :
		      rch_lane_item(&chan->lane, len, first && len == total,
				    GFP_KERNEL_ACCOUNT, &data);
	if (!item)
		return -ENOMEM;
	if (copy_from_iter(data, len, from) != len) {
		rch_item_free(item);
		return -EFAULT;
	}
	item->flags = first ? RCH_DATA_F_FIRST : 0;
	if (!iov_iter_count(from))
		item->flags |= RCH_DATA_F_LAST |
			       (msg_flags & RCH_MSG_TELL ? RCH_DATA_F_TELL : 0);
	item->msg_flags = msg_flags;
	item->total = total;
	return rch_lane_queue(&chan->lane, item);
}

/** rch_chan_tx_abort - the peer shall throw away the segments it has; may sleep */
void rch_chan_tx_abort(struct rch_chan *chan, u32 total)
{
	struct rch_item *item;
	void *data;

	item = rch_lane_item(&chan->lane, 0, false, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL, &data);
	item->flags = RCH_DATA_F_ABORT;
	item->msg_flags = 0;
	item->total = total;
	rch_lane_queue(&chan->lane, item);
}

static void chan_tx_count_sent(struct rch_chan *chan, u32 messages, size_t bytes)
{
	WRITE_ONCE(chan->counts.tx_messages, chan->counts.tx_messages + messages);
	WRITE_ONCE(chan->counts.tx_bytes, chan->counts.tx_bytes + bytes);
}

/** rch_chan_tx_done - a message was accepted; by the holder of RCH_CHAN_TX */
void rch_chan_tx_done(struct rch_chan *chan, size_t length)
{
	chan_tx_count_sent(chan, 1, length);
}

/**
 * rch_chan_tx_claim - without waiting, become the sender
 * @chan: channel
 * @length: bytes of the message; more than the send buffer is fine
 *
 * Return: 0, then rch_chan_unclaim() must follow; or an error, as rch_chan_send().
 */
int rch_chan_tx_claim(struct rch_chan *chan, size_t length)
{
	return rch_chan_tx_claim_wait(chan, length, true, 0);
}

/** rch_chan_tx_claim_wait - the same, but wait if @nonblock is not set, until @deadline */
int rch_chan_tx_claim_wait(struct rch_chan *chan, size_t length, bool nonblock,
			   unsigned long deadline)
{
	int ret = rch_chan_claim(chan, RCH_CHAN_TX, rch_chan_tx_settled, nonblock, deadline);

	if (ret)
		return ret;
	ret = rch_chan_tx_check(chan) ?: rch_chan_tx_sizes(chan, length, false);
	if (ret)
		rch_chan_unclaim(chan, RCH_CHAN_TX);
	return ret;
}

/**
 * rch_chan_send_row - send small messages one behind the other, without waiting
 * @chan: channel
 * @row: the messages, and the part that was sent of them
 *
 * As rch_chan_send_more() for each. Ends at the first that cannot be sent so: why, and
 * whether it could be in another way, rch_chan_send_more() will tell.
 *
 * Context: process.
 */
void rch_chan_send_row(struct rch_chan *chan, struct rch_tx_row *row)
{
	if (!chan_tx_goes(chan) || test_and_set_bit_lock(RCH_CHAN_TX, &chan->busy))
		return;
	if (chan_tx_goes(chan)) {
		row->max = min(READ_ONCE(chan->peer_message_max), RCH_SMALL_MAX);
		rch_lane_send_row(&chan->lane, row);
		chan_tx_count_sent(chan, row->messages, row->bytes);
	}
	rch_chan_unclaim(chan, RCH_CHAN_TX);
}

/* What the lane drops */

static void rch_chan_tx_drop_work(struct work_struct *work);

/** rch_chan_tx_drop_init - begin: there is nothing */
void rch_chan_tx_drop_init(struct rch_chan *chan)
{
	struct rch_chan_drop *drop = &chan->drop;

	spin_lock_init(&drop->lock);
	INIT_LIST_HEAD(&drop->items);
	INIT_LIST_HEAD(&drop->words);
	INIT_WORK(&drop->work, rch_chan_tx_drop_work);
}

/**
 * rch_chan_tx_drop - free what the lane will not send, soon; as &struct rch_link_ops wants
 * @lane: lane of a channel that is referenced
 * @list: what it will not send; left empty
 * @words: as &struct rch_word, else as &struct rch_item
 */
void rch_chan_tx_drop(struct rch_lane *lane, struct list_head *list, bool words)
{
	struct rch_chan *chan = container_of(lane, struct rch_chan, lane);
	struct rch_chan_drop *drop = &chan->drop;

	spin_lock_bh(&drop->lock);
	list_splice_tail_init(list, words ? &drop->words : &drop->items);
	if (!drop->pending) {
		drop->pending = true;
		kref_get(&chan->ref);
		queue_work(rch_wq, &drop->work);
	}
	spin_unlock_bh(&drop->lock);
}

/**
 * rch_chan_put_later - drop a reference, where that may be the last of a channel with grants
 * @chan: channel
 *
 * There may be very many grants to free. The work item that drops what is left does it.
 *
 * Any context.
 */
void rch_chan_put_later(struct rch_chan *chan)
{
	struct rch_chan_drop *drop = &chan->drop;

	spin_lock_bh(&drop->lock);
	if (drop->pending) {
		/* Not the last: the work item's goes after it has taken this lock once more. */
		rch_chan_put(chan);
	} else {
		drop->pending = true;
		queue_work(rch_wq, &drop->work);
	}
	spin_unlock_bh(&drop->lock);
}

/* The first ones of a list. */
static void chan_tx_drop_cut(struct list_head *from, struct list_head *part)
{
	struct list_head *last = from;
	u32 count = 0;

	while (count++ < RCH_DROP_AT_ONCE && !list_is_last(last, from))
		last = last->next;
	list_cut_position(part, from, last);
}

/* Return: false when nothing is left. What comes from then on has the work item queued again. */
static bool chan_tx_drop_next(struct rch_chan_drop *drop, struct list_head *items,
			      struct list_head *words)
{
	bool more;

	spin_lock_bh(&drop->lock);
	chan_tx_drop_cut(&drop->items, items);
	chan_tx_drop_cut(&drop->words, words);
	more = !list_empty(items) || !list_empty(words);
	drop->pending = more;
	spin_unlock_bh(&drop->lock);
	return more;
}

static void chan_tx_drop_part(struct list_head *items, struct list_head *words)
{
	struct rch_item *item, *next_item;
	struct rch_word *word, *next_word;

	list_for_each_entry_safe(item, next_item, items, list) {
		list_del_init(&item->list);
		rch_item_free(item);
	}
	list_for_each_entry_safe(word, next_word, words, list) {
		list_del_init(&word->list);
		word->sent(word);
	}
}

/*
 * The send buffer may have become smaller meanwhile. rch_chan_tx_resize() writes @tx_kept before it
 * looks at @pending, and that was cleared before this: one of both finds it. A channel that has
 * something kept was open, so its link stays.
 */
static void chan_tx_drop_settle(struct rch_chan *chan)
{
	struct rch_link *link;

	if (!READ_ONCE(chan->tx_kept))
		return;
	link = chan->lane.link;
	spin_lock_bh(&link->lock);
	rch_chan_tx_settle(chan);
	spin_unlock_bh(&link->lock);
}

static void rch_chan_tx_drop_work(struct work_struct *work)
{
	struct rch_chan *chan = container_of(work, struct rch_chan, drop.work);
	LIST_HEAD(items);
	LIST_HEAD(words);

	while (chan_tx_drop_next(&chan->drop, &items, &words)) {
		chan_tx_drop_part(&items, &words);
		atomic_inc(&rch_counts.put_off);
		cond_resched();
	}
	chan_tx_drop_settle(chan);
	rch_chan_put(chan);
}
