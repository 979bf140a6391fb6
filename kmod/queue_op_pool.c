// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_pool.c - one RECV for many messages, into buffers of a pool
 *
 * Operation. A message is received like any other, into the first buffer of the pool, when
 * there is room for its completion: as long as there is none it stays with its channel,
 * whose peer is so held back. So an operation never keeps more than itself.
 *
 * Buffer ownership. A buffer leaves the pool when its message is complete; an empty message
 * takes none. Whoever runs operations of a queue is alone with its pools.
 *
 * Error handling. An error is the operation's end, and loses neither message nor buffer;
 * but a buffer whose memory is bad is taken out, or it would be in the way for ever.
 */
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "chan.h"
#include "queue_op.h"

/* Messages in a row, before others have their turn. */
#define MESSAGES 16

/**
 * rch_recv_many_check - look at the entry
 * @op: operation
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP or -ENOENT.
 */
int rch_recv_many_check(struct rch_op *op)
{
	const struct rdmachan_sqe *sqe = &op->sqe;

	if (sqe->op_flags & ~RDMACHAN_RECV_F_MULTISHOT)
		return -EOPNOTSUPP;
	if (sqe->addr || sqe->length ||
	    sqe->flags & (RDMACHAN_SQE_F_LINK | RDMACHAN_SQE_F_SKIP_SUCCESS |
			  RDMACHAN_SQE_F_REGION))
		return -EINVAL;
	return rch_pool_find(op->queue, sqe->pool) ? 0 : -ENOENT;
}

/* A message has come. */
static void received(struct rch_op *op, struct rch_pool *pool,
		     const struct rdmachan_buffer *buffer,
		     const struct rch_recv_result *result)
{
	struct rdmachan_cqe cqe = {
		.res = result->length,
		.msg_flags = result->msg_flags,
		.length = result->length,
	};

	if (result->length) {
		cqe.flags = RDMACHAN_CQE_F_BUFFER;
		cqe.buffer = buffer->id;
		rch_pool_take(pool);
	}
	/* The next buffer may be present where this one was not. */
	op->own = false;
	rch_queue_more(op, &cqe);
}

/* Why there is no message, or that there will be none. Return: as run() */
static s64 ended(struct rch_op *op, struct rch_pool *pool, int ret, bool there,
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
		rch_pool_take(pool);
		op->cqe.flags = RDMACHAN_CQE_F_BUFFER;
		op->cqe.buffer = buffer->id;
		return ret;
	default:
		return ret;
	}
}

/* Return: 1 after a message; else as run() */
static s64 recv_one(struct rch_op *op, struct rch_pool *pool)
{
	struct rdmachan_buffer buffer = {};
	struct rch_recv_result result = {};
	struct iov_iter iter;
	bool there;
	int ret;

	if (rch_chan_rx_idle(op->object))
		return -EAGAIN;
	if (!rch_queue_has_room(op->queue))
		return RCH_RUN_NO_ROOM;
	there = rch_pool_first(pool, &buffer);
	buffer.length = min(buffer.length, RDMACHAN_MESSAGE_MAX);
	iov_iter_ubuf(&iter, ITER_DEST, u64_to_user_ptr(buffer.addr), buffer.length);
	ret = rch_chan_recv(op->object, &iter, true, 0, &result);
	if (ret || result.eof)
		return ended(op, pool, ret, there, &buffer, &result);
	received(op, pool, &buffer, &result);
	return 1;
}

/** rch_recv_many_run - receive the messages that there are. See &struct rch_queue_ops */
s64 rch_recv_many_run(struct rch_op *op)
{
	struct rch_pool *pool = rch_pool_find(op->queue, op->sqe.pool);
	unsigned int i;
	s64 res;

	for (i = 0; i < MESSAGES; i++) {
		res = recv_one(op, pool);
		if (res != 1)
			return res;
	}
	return RCH_RUN_AGAIN;
}
