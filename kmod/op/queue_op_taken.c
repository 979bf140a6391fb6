// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_taken.c - SENDs that complete when the peer's program has received their message
 *
 * Operation. When its message is sent such an operation leaves the line of what is sent on its
 * channel, so that others go on, and enters the line of those that wait for the peer's program.
 * They complete in that order, in which they were sent. So the peer's word wakes only the first,
 * which runs those behind it as far as that word goes. One that is cancelled, or whose time is
 * over, leaves the line from wherever it is.
 *
 * Ownership. The message is the channel's, or the peer's: region and array are given back.
 */
#include "channel/chan.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"

/** rch_op_asks - whether a SEND waits until its message is received */
bool rch_op_asks(const struct rch_op *op)
{
	return op->sqe.op_flags & RDMACHAN_SEND_F_DELIVERED;
}

/** rch_op_msg_flags - what the message of a SEND is sent with: its flags, and RCH_MSG_TELL */
u32 rch_op_msg_flags(const struct rch_op *op)
{
	return op->sqe.msg_flags | (rch_op_asks(op) ? RCH_MSG_TELL : 0);
}

/**
 * rch_op_taken_begin - the message of a SEND is sent: wait until it is received
 * @op: operation that is run; its @message is known
 *
 * Return: as run().
 */
s64 rch_op_taken_begin(struct rch_op *op)
{
	struct rch_chan *chan = op->object;

	op->early = false;
	/* What needed the program's memory needs it no more. */
	op->own = false;
	op->sent = true;
	op->cqe.flags |= RDMACHAN_CQE_F_SENT;
	rch_op_placed_drop(op);
	rch_op_vec_drop(op);
	/* It could not be stopped while it was being written. */
	if (op->stopped)
		return op->stopped;
	rch_queue_await(op, &chan->wait, RCH_POLL_NOTHING);
	if (!rch_queue_line_change(op, rch_op_line_taken(chan)))
		return RCH_RUN_BEHIND;
	return rch_op_taken_run(op);
}

/** rch_op_taken_run - run a SEND whose message is sent; see &struct rch_queue_ops */
s64 rch_op_taken_run(struct rch_op *op)
{
	struct rdmachan_error error;
	bool sent;
	int ret = rch_chan_taken_outcome(op->object, op->message, &error, &sent);

	if (ret == -EAGAIN)
		return ret;
	if (!ret || !sent)
		op->cqe.flags &= ~RDMACHAN_CQE_F_SENT;
	return ret ?: (s64)op->sqe.length;
}
