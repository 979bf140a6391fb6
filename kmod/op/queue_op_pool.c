// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_pool.c - one RECV for many messages, into buffers of a pool
 *
 * Operation. A message is received like any other, into the first buffer of the pool, when there is
 * room for its completion. As long as there is none it stays with its channel, whose peer is so
 * held back. So an operation never keeps more than itself.
 *
 * Messages that are at hand and fit the next buffers are received as a *row*: the channel is
 * claimed, the buffers are taken and the program is told once for all of them. A message that is
 * different in any way ends the row, and the message is received by itself.
 *
 * Buffers may lie in a region, which the operation uses from its preparation to its end. A message
 * that is copied to them needs no memory of the program's to be present, so no call of it either.
 *
 * Buffer ownership. A buffer leaves the pool when its message is complete; an empty message
 * takes none. The thread that runs operations of a queue is alone with its pools.
 *
 * Error handling. An error is the operation's end, and loses neither message nor buffer;
 * but a buffer whose memory is bad, or not the region's, is taken out, or it would be in the way
 * for ever.
 */
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "base/iter.h"
#include "channel/chan.h"
#include "memory/region.h"
#include "message/message.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"

/* Messages in a row, before others have their turn. */
#define MESSAGES 64

/**
 * rch_recv_many_check - look at the entry
 * @op: operation
 *
 * Return: 0, -EINVAL, -ENOENT, -EPERM or -EACCES.
 */
int rch_recv_many_check(struct rch_op *op)
{
	const struct rdmachan_sqe *sqe = &op->sqe;

	if (sqe->addr || sqe->length ||
	    sqe->flags & (RDMACHAN_SQE_F_LINK | RDMACHAN_SQE_F_SKIP_SUCCESS | RDMACHAN_SQE_F_IOV))
		return -EINVAL;
	if (!rch_pool_find(op->queue, sqe->pool))
		return -ENOENT;
	op->stays = true;
	return sqe->flags & RDMACHAN_SQE_F_REGION ? rch_op_placed_prepare(op, true) : 0;
}

/* As op_pool_buffer_iter(); @iter has no bytes after an error. */
static int op_pool_region_iter(const struct rch_op *op, const struct rdmachan_buffer *buffer,
			       u32 length,
			       struct iov_iter *iter)
{
	int ret = rch_region_check(op->region, buffer->addr, buffer->length, true);

	if (ret)
		rch_region_iter(op->region, ITER_DEST, 0, 0, iter);
	else
		rch_region_iter(op->region, ITER_DEST, buffer->addr, length, iter);
	return ret;
}

/* Where @length bytes go, at most all of the buffer. Return: 0; or -ERANGE: not in the region */
static int op_pool_buffer_iter(const struct rch_op *op, const struct rdmachan_buffer *buffer,
			       u32 length,
			       struct iov_iter *iter)
{
	if (op->region)
		return op_pool_region_iter(op, buffer, length, iter);
	iov_iter_ubuf(iter, ITER_DEST, u64_to_user_ptr(buffer->addr), length);
	return 0;
}

static void op_pool_put_message(struct rch_op *op, u64 length, u16 msg_flags, u32 flags,
				const struct rdmachan_buffer *buffer)
{
	struct rdmachan_cqe cqe = {
		.res = length,
		.msg_flags = msg_flags,
		.length = length,
		.flags = flags,
	};

	if (length) {
		cqe.flags |= RDMACHAN_CQE_F_BUFFER;
		cqe.buffer = buffer->id;
	}
	rch_queue_more(op, &cqe);
}

static void op_pool_count_in_region(struct rch_op *op, u32 messages)
{
	struct rch_chan *chan = op->object;

	atomic64_add(messages, &chan->counts.rx_regions);
	atomic64_add(messages, &op->region->received);
}

/* Messages have come, into @buffers. */
static inline void op_pool_received(struct rch_op *op, struct rch_pool *pool, u32 messages,
				    u32 buffers)
{
	rch_pool_take(pool, buffers);
	if (op->region)
		op_pool_count_in_region(op, messages);
	rch_time_again(op);
	/* The next buffer may be present where this one was not. */
	op->own = false;
	rch_queue_told(op->queue);
}

/* Why there is no message, or that there will be none. Return: as run() */
static s64 op_pool_ended(struct rch_op *op, struct rch_pool *pool, int ret, bool there,
			 const struct rdmachan_buffer *buffer, const struct rch_recv_result *result)
{
	switch (ret) {
	case 0:
		op->cqe.flags = RDMACHAN_CQE_F_EOF;
		return 0;
	case -ENOTCONN:
		return -EAGAIN;
	case -EMSGSIZE:
		op->cqe.length = result->length;
		op->cqe.msg_flags = result->msg_flags;
		return there ? -EMSGSIZE : -ENOBUFS;
	case -EFAULT:
		if (!op->queue->in_call)
			return ret;
		fallthrough;
	case -ERANGE:
		rch_pool_take(pool, 1);
		op->cqe.flags = RDMACHAN_CQE_F_BUFFER;
		op->cqe.buffer = buffer->id;
		return ret;
	default:
		return ret;
	}
}

/* Return: 1 after a message; else as run() */
static s64 op_pool_recv_one(struct rch_op *op, struct rch_pool *pool)
{
	struct rdmachan_buffer buffer = {};
	struct rch_recv_result result = {
		.takes_grants = rch_op_takes_grants(op),
		.holds = true,
	};
	struct rch_chan *chan = op->object;
	struct iov_iter iter;
	int ret, bad;
	bool there;

	if (!rch_queue_room(op->queue))
		return RCH_RUN_NO_ROOM;
	there = rch_pool_filled(pool);
	if (there)
		rch_pool_look(pool, 0, &buffer);
	bad = op_pool_buffer_iter(op, &buffer, min(buffer.length, RDMACHAN_MESSAGE_MAX), &iter);
	ret = rch_chan_recv(chan, &iter, true, 0, &result);
	if (result.tells)
		rch_op_unsent(op->queue, chan->lane.link);
	if (bad && ret == -EMSGSIZE)
		ret = bad;
	if (ret || result.eof)
		return op_pool_ended(op, pool, ret, there, &buffer, &result);
	op_pool_put_message(op, result.length, result.msg_flags,
			    result.grants ? RDMACHAN_CQE_F_GRANTS : 0, &buffer);
	op_pool_received(op, pool, 1, !!result.length);
	return 1;
}

/* Return: whether the message is in buffer number @number, and its completion in the ring. */
static bool op_pool_copy_message(struct rch_op *op, const struct rch_pool *pool, u32 number,
				 const struct rch_segment *seg)
{
	struct rdmachan_buffer buffer;
	struct iov_iter iter;

	rch_pool_look(pool, number, &buffer);
	if (!seg->length || seg->length > buffer.length ||
	    op_pool_buffer_iter(op, &buffer, seg->length, &iter))
		return false;
	if (!rch_copy_to_iter(seg->data, seg->length, &iter))
		return false;
	op_pool_put_message(op, seg->length, seg->msg_flags, 0, &buffer);
	return true;
}

/* Return: how many messages were received */
static u32 op_pool_recv_row(struct rch_op *op, struct rch_pool *pool)
{
	u32 most = min3(rch_queue_room(op->queue), rch_pool_filled(pool), (u32)MESSAGES);
	struct rch_chan *chan = op->object;
	struct rch_rx_row row;

	if (!most || !rch_chan_recv_begin(chan, &row))
		return 0;
	while (op_pool_copy_message(op, pool, row.messages, row.seg) && rch_chan_recv_next(&row) &&
	       row.messages < most)
		;
	rch_chan_recv_end(chan, &row);
	if (row.messages)
		op_pool_received(op, pool, row.messages, row.messages);
	return row.messages;
}

/** rch_recv_many_run - receive the messages that there are. See &struct rch_queue_ops */
s64 rch_recv_many_run(struct rch_op *op)
{
	struct rch_pool *pool = rch_pool_find(op->queue, op->sqe.pool);
	u32 messages = 0, row;
	s64 res;

	while (messages < MESSAGES) {
		if (rch_chan_rx_idle(op->object))
			return -EAGAIN;
		row = op_pool_recv_row(op, pool);
		messages += row;
		if (row)
			continue;
		res = op_pool_recv_one(op, pool);
		if (res != 1)
			return res;
		messages++;
	}
	return RCH_RUN_AGAIN;
}
