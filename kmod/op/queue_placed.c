// SPDX-License-Identifier: GPL-2.0
/*
 * queue_placed.c - SEND and RECV of queues whose messages are placed
 *
 * Operation. Small messages are copied as others are. Large ones are handed to a transfer
 * (place.c), and the operation waits for the end of that instead of its channel. A region's
 * pages are there, so nothing here ever needs a call of the program. Pages of the program's own
 * are pinned in one, when a transfer begins. That is for a SEND as it is first run, a RECV when a
 * message is offered, or when the last one was placed, so that it is worth lending memory for the
 * next. Where there is no call, and where pages cannot be pinned, the message is copied.
 *
 * Ownership. An operation uses its region from its preparation to its end; a transfer
 * does so itself, and holds the channel's file, for it may outlive the operation: when the
 * queue is closed.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uio.h>

#include "channel/chan.h"
#include "link/link.h"
#include "memory/region.h"
#include "message/message.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"
#include "proto/way.h"
#include "queue/queue.h"
#include "rndv/place.h"
#include "rndv/rndv.h"

/**
 * rch_op_placed_region - find the region of an entry
 * @op: operation, with its channel
 *
 * Return: 0, -ENOENT or -EPERM.
 */
int rch_op_placed_region(struct rch_op *op)
{
	struct rch_region *region = rch_region_use(op->queue->regions, op->sqe.region,
						   op->queue->mm);

	if (IS_ERR(region))
		return PTR_ERR(region);
	/* rch_op_placed_drop() gives it back. */
	op->region = region;
	return 0;
}

/**
 * rch_op_placed_prepare - find the region of an entry, and look at what is named of it
 * @op: operation, with its channel
 * @write: the region will be written to
 *
 * Return: 0, -ENOENT, -EPERM, -ERANGE or -EACCES.
 */
int rch_op_placed_prepare(struct rch_op *op, bool write)
{
	return rch_op_placed_region(op) ?:
	       rch_region_check(op->region, op->sqe.addr, op->sqe.length, write);
}

static void op_placed_put_file(void *file)
{
	fput(file);
}

/* Whether @bytes, or room for so many, are worth a transfer, and can have one. */
static bool op_placed_can_place(const struct rch_op *op, u64 bytes)
{
	if (!rch_way_is_placed(bytes, op->region))
		return false;
	return op->region || (op->queue->in_call && !op->copied);
}

static struct rch_place *op_placed_place_alloc(struct rch_op *op, u32 length)
{
	bool sending = op->sqe.opcode == RDMACHAN_OPCODE_SEND;

	if (op->region)
		return rch_place_alloc(op->object, op->region, op->sqe.addr, op->file,
				       op_placed_put_file);
	if (!op_placed_can_place(op, length))
		return NULL;
	/* If the memory is bad, the copy says so. */
	return rch_place_alloc_pinned(op->object, op->sqe.addr, length,
				      sending ? DMA_TO_DEVICE : DMA_FROM_DEVICE,
				      op->file, op_placed_put_file);
}

/* A transfer of @length bytes that @op waits for from now on. */
static struct rch_place *op_placed_place_make(struct rch_op *op, u32 length)
{
	struct rch_place *place = op_placed_place_alloc(op, length);

	if (!place)
		return NULL;
	get_file(op->file);
	op->place = place;
	rch_queue_await(op, &place->wait, 0);
	return place;
}

/* Whether a message of the program's own memory, which a call would send, is to be copied. */
static bool op_placed_is_eager(struct rch_op *op)
{
	struct rch_chan *chan = op->object;

	return !op->region && (rch_chan_tx_sizes(chan, op->sqe.length, true) ||
			       rch_chan_way(chan, op->sqe.length, false) == RCH_WAY_EAGER);
}

/*
 * Return: -EAGAIN, for it is waited for, if only for a moment; or an error. If it has no transfer
 * then, @op->copied tells that it is to be copied.
 */
static s64 op_placed_begin_send(struct rch_op *op)
{
	struct rch_chan *chan = op->object;
	struct rch_place *place = NULL;
	int ret = rch_chan_tx_claim(chan, op->sqe.length);

	/* That it is being connected is no reason to fail. */
	if (ret)
		return ret == -ENOTCONN ? -EAGAIN : ret;
	if (!op_placed_is_eager(op))
		place = op_placed_place_make(op, op->sqe.length);
	if (!place) {
		rch_chan_unclaim(chan, RCH_CHAN_TX);
		op->copied = !op->region;
		return op->region ? -ENOMEM : -EAGAIN;
	}
	if (rch_op_asks(op))
		op->message = rch_chan_taken_ask(chan);
	rch_place_send(place, op->sqe.length, rch_op_msg_flags(op));
	return -EAGAIN;
}

static s64 op_placed_send_copied(struct rch_op *op)
{
	struct iov_iter iter;

	iov_iter_ubuf(&iter, ITER_SOURCE, u64_to_user_ptr(op->sqe.addr), op->sqe.length);
	return rch_op_send_iter(op, &iter);
}

/** rch_op_sent_from_region - count a message that was sent, if it was. Return: @res, as of run() */
s64 rch_op_sent_from_region(struct rch_op *op, s64 res)
{
	struct rch_chan *chan = op->object;

	if (res < 0 || !op->region)
		return res;
	atomic64_inc(&chan->counts.tx_regions);
	atomic64_inc(&op->region->sent);
	return res;
}

/** rch_op_received_in_region - count a message that was received, if there is a region */
void rch_op_received_in_region(struct rch_op *op)
{
	struct rch_chan *chan = op->object;

	if (!op->region)
		return;
	atomic64_inc(&chan->counts.rx_regions);
	atomic64_inc(&op->region->received);
}

static s64 op_placed_send_small(struct rch_op *op)
{
	struct iov_iter iter;

	if (!op->region)
		return op_placed_send_copied(op);
	rch_region_iter(op->region, ITER_SOURCE, op->sqe.addr, op->sqe.length, &iter);
	return rch_op_sent_from_region(op, rch_op_send_iter(op, &iter));
}

static void op_placed_forget(struct rch_op *op)
{
	op->place = NULL;
	if (op->queue->holding == op)
		op->queue->holding = NULL;
}

/*
 * Of several at once only the last may go on holding. One with another behind it does not: that
 * one may begin as soon as the claim is given up.
 */
static void op_placed_hold(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	if (!rch_place_holds(op->place) || queue->holding == op)
		return;
	if (rch_line_behind(queue, &op->line)) {
		rch_place_let_go(op->place);
		return;
	}
	rch_op_placed_let_go(queue);
	queue->holding = op;
}

/** rch_op_placed_let_go - what waits for the queue to be flushed does so no longer */
void rch_op_placed_let_go(struct rch_queue *queue)
{
	struct rch_op *op = queue->holding;

	lockdep_assert_held(&queue->run_lock);
	queue->holding = NULL;
	if (op)
		rch_place_let_go(op->place);
}

/* The outcome of the transfer. Return: false when it is not over. */
static bool op_placed_place_end(struct rch_op *op, __poll_t events, int *result)
{
	struct rch_chan *chan = op->object;
	bool over = rch_place_go_on(op->place);

	/* A record may wait for one of the next transfer. */
	rch_op_unsent(op->queue, chan->lane.link);
	if (!over) {
		op_placed_hold(op);
		return false;
	}
	*result = op->place->result;
	if (!op->place->sending && !*result) {
		op->cqe.length = op->place->rts.total;
		op->cqe.msg_flags = op->place->rts.msg_flags;
	}
	/* It is in the transfer's wait queue no longer. */
	rch_queue_await(op, &chan->wait, events);
	rch_place_put(op->place);
	op_placed_forget(op);
	return true;
}

/** rch_op_placed_send - run a SEND; see &struct rch_queue_ops */
s64 rch_op_placed_send(struct rch_op *op)
{
	s64 ret;
	int res;

	if (!op->place) {
		if (!op_placed_can_place(op, op->sqe.length))
			return op_placed_send_small(op);
		ret = op_placed_begin_send(op);
		if (!op->place)
			return op->copied ? op_placed_send_copied(op) : ret;
	}
	if (!op_placed_place_end(op, EPOLLOUT, &res))
		return -EAGAIN;
	if (res != -EAGAIN)
		return res ?: (s64)op->sqe.length;
	op->copied = true;
	return op_placed_send_copied(op);
}

/* Return: -EAGAIN, for it is waited for, if only for a moment. */
static s64 op_placed_begin_recv(struct rch_op *op, const struct rch_rts *offer)
{
	struct rch_chan *chan = op->object;
	struct rch_place *place = op_placed_place_make(op, op->region ? op->sqe.length :
						 min(offer->total, op->sqe.length));

	if (place) {
		rch_place_recv(place, offer, op->sqe.length);
	} else {
		rch_chan_grant_refuse(chan, offer->serial);
		rch_chan_unclaim(chan, RCH_CHAN_RX);
	}
	return -EAGAIN;
}

/* Its transfer is over, or never began, and has come to nothing. */
static void op_placed_place_drop(struct rch_op *op)
{
	struct rch_chan *chan = op->object;

	rch_queue_await(op, &chan->wait, EPOLLIN);
	rch_place_put(op->place);
	op_placed_forget(op);
}

/* There is a receive that waits, so that the peer may ask where to write. */
static void op_placed_announce(struct rch_op *op)
{
	if (!op->reading)
		rch_chan_reading(op->object);
	op->reading = true;
}

static void op_placed_announce_over(struct rch_op *op)
{
	if (op->reading)
		rch_chan_reading_over(op->object);
	op->reading = false;
}

static bool op_placed_always(struct rch_chan *chan)
{
	return true;
}

/* Of pages that are to be pinned not more than the last message had. */
static u32 op_placed_room_to_lend(const struct rch_op *op)
{
	const struct rch_chan *chan = op->object;

	return op->region ? op->sqe.length : min(READ_ONCE(chan->lend.room), op->sqe.length);
}

/* There is no message: lend its memory to the peer, where that is likely to be of use. */
static void op_placed_begin_lend(struct rch_op *op)
{
	struct rch_chan *chan = op->object;
	u32 room = op_placed_room_to_lend(op);
	struct rch_place *place;

	if (!op_placed_can_place(op, room) || !rch_chan_lends(chan, room) ||
	    rch_chan_claim(chan, RCH_CHAN_RX, op_placed_always, true, 0))
		return;
	place = op_placed_place_make(op, room);
	if (place)
		rch_place_lend(place, room);
	else
		rch_chan_unclaim(chan, RCH_CHAN_RX);
}

static s64 op_placed_recv_or_begin(struct rch_op *op)
{
	struct rch_recv_result result = {
		.takes_grants = rch_op_takes_grants(op),
		.holds = true,
	};
	struct rch_chan *chan = op->object;
	struct rch_rts offer;
	struct iov_iter iter;
	int ret;

	op_placed_announce(op);
	if (op->region)
		rch_region_iter(op->region, ITER_DEST, op->sqe.addr, op->sqe.length, &iter);
	else
		iov_iter_ubuf(&iter, ITER_DEST, u64_to_user_ptr(op->sqe.addr), op->sqe.length);
	ret = rch_chan_recv_or_offer(chan, &iter, &result, &offer);
	if (ret == -EINPROGRESS)
		return op_placed_begin_recv(op, &offer);
	if (!ret && !result.eof)
		rch_op_received_in_region(op);
	/* Only a call can go on: until there is one nothing is to be offered. */
	if (ret == -EFAULT && !op->queue->in_call)
		op_placed_announce_over(op);
	return rch_op_recv_told(op, ret, &result);
}

/** rch_op_placed_recv - run a RECV; see &struct rch_queue_ops */
s64 rch_op_placed_recv(struct rch_op *op)
{
	s64 ret;
	int res;

	for (;;) {
		if (!op->place) {
			if (op->stopped)
				return op->stopped;
			ret = op_placed_recv_or_begin(op);
			if (ret == -EAGAIN && !op->place)
				op_placed_begin_lend(op);
			if (!op->place)
				return ret;
		}
		if (!op_placed_place_end(op, EPOLLIN, &res))
			return -EAGAIN;
		if (!res)
			return op->cqe.length;
		if (res != -EAGAIN)
			return res;
		/* There was no message after all. */
	}
}

/*
 * Once nothing of the one before is left to be sent: where the peer has lent, or is about to. It is
 * asked for a way at once, too, where that does not spoil what is lent.
 * Return: 0, or -EAGAIN: it has begun, or waits.
 */
static s64 op_placed_begin_send_ahead(struct rch_op *op, struct rch_op *before)
{
	const __poll_t lends = EPOLLOUT | RCH_POLL_NOTHING;
	struct rch_chan *chan = op->object;
	bool lent;

	if (!op_placed_can_place(op, op->sqe.length) || !rch_place_all_sent(before->place))
		return 0;
	lent = rch_chan_may_borrow(chan, op->sqe.length);
	/* Else what tells of the one before would come behind the bytes of this one. */
	if (lent)
		rch_link_run(chan->lane.link);
	if (lent || rch_chan_rts_asks(chan))
		return op_placed_begin_send(op) == -EAGAIN && !op->copied ? -EAGAIN : 0;
	/* Not again: it must not be out of the wait queue behind that look. */
	if (op->events != lends)
		rch_queue_await(op, &chan->wait, lends);
	return -EAGAIN;
}

/* The one before receives what comes next. Return: as above */
static s64 op_placed_begin_lend_ahead(struct rch_op *op, struct rch_op *before)
{
	struct rch_chan *chan = op->object;
	u32 room = op_placed_room_to_lend(op);

	if (op->stopped || !op_placed_can_place(op, room) || !rch_chan_heir_wanted(chan, room) ||
	    !op_placed_place_make(op, room))
		return 0;
	if (!rch_place_heir_begin(op->place, before->place)) {
		op_placed_place_drop(op);
		return 0;
	}
	op_placed_announce(op);
	rch_place_lend_ahead(op->place, room);
	return -EAGAIN;
}

/** rch_op_placed_ahead - a SEND or RECV is behind another; see &struct rch_queue_ops */
s64 rch_op_placed_ahead(struct rch_op *op, struct rch_op *before)
{
	bool sending = op->sqe.opcode == RDMACHAN_OPCODE_SEND, over;
	struct rch_chan *chan = op->object;
	s64 ret;

	if (!op->place) {
		/* One without a transfer has still to begin. */
		if (!before->place)
			return 0;
		ret = sending ? op_placed_begin_send_ahead(op, before) :
		      op_placed_begin_lend_ahead(op, before);
		if (!op->place)
			return ret;
	}
	over = rch_place_go_on(op->place);
	rch_op_unsent(op->queue, chan->lane.link);
	if (!over) {
		op_placed_hold(op);
		return -EAGAIN;
	}
	/* The outcome is told in its turn. */
	if (sending || op->place->result != -EAGAIN)
		return 0;
	op_placed_place_drop(op);
	return op->stopped;
}

/** rch_op_placed_stop - whether @op can be ended now; see &struct rch_queue_ops */
bool rch_op_placed_stop(struct rch_op *op)
{
	if (!op->place || rch_place_stop(op->place))
		return true;
	/* Where it comes to nothing it does not begin again. */
	op->stopped = op->overdue ? -ETIMEDOUT : -ECANCELED;
	return false;
}

static void op_placed_leave(struct rch_op *op)
{
	if (rch_op_is_awaited(op) && !op->region) {
		kref_get(&op->place->ref);
		op->left = op->place;
	}
	rch_place_leave(op->place);
}

/** rch_op_placed_await - wait for the memory of an @op that was dropped */
void rch_op_placed_await(struct rch_op *op)
{
	if (!op->left)
		return;
	wait_event_killable(op->left->wait, rch_place_over(op->left));
	rch_place_put(op->left);
	op->left = NULL;
}

/** rch_op_placed_drop - @op is over, or its queue is: give back what it has */
void rch_op_placed_drop(struct rch_op *op)
{
	op_placed_announce_over(op);
	if (op->place)
		op_placed_leave(op);
	if (op->region)
		rch_region_unuse(op->region);
	op_placed_forget(op);
	op->region = NULL;
}
