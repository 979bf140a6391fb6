// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_vec.c - SEND and RECV whose message is in several pieces
 *
 * Operation. The program's array of struct iovec is copied when its entry is taken, so the program
 * may use the array again at once. A poller that finds no memory there leaves the copying to a call
 * of the program; the operation keeps its place in its line meanwhile. Of an array with one piece
 * that has bytes nothing is kept: the operation goes on as one without an array.
 *
 * A message in several pieces is always copied. Pieces of a region are looked up once, as bio_vecs.
 *
 * Ownership. The array belongs to the operation, until that is over. One of more than RCH_VEC_FREE
 * bytes is charged to the queue. A smaller one has less than the queue was charged for the
 * operation itself.
 */
#include <linux/bvec.h>
#include <linux/compat.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "base/inject.h"
#include "channel/chan.h"
#include "memory/region.h"
#include "message/message.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"

/* Bytes of an array that are not charged. */
#define RCH_VEC_FREE 256

/**
 * struct rch_vec - the pieces of a message
 * @count: elements
 * @charged: bytes that the queue is charged for
 * @iov: pieces of the program's memory; @bvec has none
 * @bvec: pieces of a region, and an element of no bytes behind them; @iov has none
 */
struct rch_vec {
	u32 count;
	u32 charged;
	union {
		DECLARE_FLEX_ARRAY(struct iovec, iov);
		DECLARE_FLEX_ARRAY(struct bio_vec, bvec);
	};
};

static int op_vec_charge(struct rch_queue *queue, u32 bytes)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_BYTES] = bytes };
	u32 limit;

	switch (rch_charge_take(&queue->charge, &cost, false, &limit)) {
	case 0:
		return 0;
	case RDMACHAN_CAUSE_TOTAL_LIMIT:
		return -ENOSPC;
	default:
		return -ENOBUFS;
	}
}

static void op_vec_free(struct rch_queue *queue, struct rch_vec *vec)
{
	if (vec->charged)
		rch_charge_give(&queue->charge, RDMACHAN_LIMIT_BYTES, vec->charged);
	kvfree(vec);
}

/* With @count elements, zeros, of @size bytes. Return: it, or an ERR_PTR() */
static struct rch_vec *op_vec_alloc(struct rch_queue *queue, u32 count, size_t size)
{
	size_t bytes = sizeof(struct rch_vec) + count * size;
	u32 charged = bytes > RCH_VEC_FREE ? bytes : 0;
	int ret = charged ? op_vec_charge(queue, charged) : 0;
	struct rch_vec *vec;

	if (ret)
		return ERR_PTR(ret);
	vec = rch_try(RCH_SITE_QUEUE, kvzalloc(bytes, GFP_KERNEL_ACCOUNT));
	if (!vec) {
		if (charged)
			rch_charge_give(&queue->charge, RDMACHAN_LIMIT_BYTES, charged);
		return ERR_PTR(-ENOMEM);
	}
	vec->count = count;
	vec->charged = charged;
	return vec;
}

/* Element number @i of the program's array, which lies at @addr. */
static int op_vec_iov_fetch(const struct rch_queue *queue, u64 addr, u32 i, struct iovec *iov)
{
#ifdef CONFIG_COMPAT
	struct compat_iovec small;

	if (queue->compat) {
		if (copy_from_user(&small, u64_to_user_ptr(addr + i * sizeof(small)),
				   sizeof(small)))
			return -EFAULT;
		iov->iov_base = compat_ptr(small.iov_base);
		iov->iov_len = small.iov_len;
		return 0;
	}
#endif
	return copy_from_user(iov, u64_to_user_ptr(addr + i * sizeof(*iov)), sizeof(*iov)) ?
	       -EFAULT : 0;
}

/* Whether the memory of a piece is such that may be named. Return: 0 or an error */
static int op_vec_iov_check(const struct rch_op *op, const struct iovec *iov, bool write)
{
	if (op->region)
		return rch_region_check(op->region, (unsigned long)iov->iov_base, iov->iov_len,
					write);
	return access_ok(iov->iov_base, iov->iov_len) ? 0 : -EFAULT;
}

/*
 * Copy the program's array. Of a RECV what is beyond the largest message is left out. Return: bytes
 * of all pieces; or an error.
 */
static s64 op_vec_copy(struct rch_op *op, struct rch_vec *vec, bool write)
{
	u64 room = RDMACHAN_MESSAGE_MAX;
	struct iovec *iov;
	int ret;
	u32 i;

	for (i = 0; i < vec->count; i++) {
		iov = &vec->iov[i];
		ret = op_vec_iov_fetch(op->queue, op->sqe.addr, i, iov) ?:
		      op_vec_iov_check(op, iov, write);
		if (ret)
			return ret;
		if (iov->iov_len > room && !write)
			return -EMSGSIZE;
		iov->iov_len = min_t(u64, iov->iov_len, room);
		room -= iov->iov_len;
	}
	return RDMACHAN_MESSAGE_MAX - room;
}

/* The piece that has all bytes, if there is one; NULL when there are several. */
static const struct iovec *op_vec_only(const struct rch_vec *vec)
{
	static const struct iovec nothing;
	const struct iovec *only = &nothing;
	u32 i;

	for (i = 0; i < vec->count; i++) {
		if (!vec->iov[i].iov_len)
			continue;
		if (only != &nothing)
			return NULL;
		only = &vec->iov[i];
	}
	return only;
}

/* The same pieces, of the operation's region. Return: in place of @from, or an ERR_PTR() */
static struct rch_vec *op_vec_of_region(struct rch_op *op, const struct rch_vec *from, bool write)
{
	struct rch_region *region = op->region;
	u32 count = 0, i;
	struct rch_vec *vec;

	for (i = 0; i < from->count; i++)
		count += rch_region_bvecs(region, write, (unsigned long)from->iov[i].iov_base,
					  from->iov[i].iov_len, NULL);
	vec = op_vec_alloc(op->queue, count + 1, sizeof(*vec->bvec));
	if (IS_ERR(vec))
		return vec;
	vec->count = 0;
	for (i = 0; i < from->count; i++)
		vec->count += rch_region_bvecs(region, write,
					       (unsigned long)from->iov[i].iov_base,
					       from->iov[i].iov_len, vec->bvec + vec->count);
	return vec;
}

/* The operation has the array @vec from now on, or needs none. Return: 0 or an error */
static int op_vec_keep(struct rch_op *op, struct rch_vec *vec, u64 bytes, bool write)
{
	const struct iovec *only = op_vec_only(vec);
	struct rch_vec *of_region;

	if (only) {
		op->sqe.flags &= ~RDMACHAN_SQE_F_IOV;
		op->sqe.addr = (unsigned long)only->iov_base;
		op_vec_free(op->queue, vec);
	} else if (op->region) {
		of_region = op_vec_of_region(op, vec, write);
		op_vec_free(op->queue, vec);
		if (IS_ERR(of_region))
			return PTR_ERR(of_region);
		op->vec = of_region;
	} else {
		op->vec = vec;
	}
	op->sqe.length = bytes;
	return 0;
}

/* Return: 0; -EFAULT where there is no call: to be done in one; or an error */
static int op_vec_take(struct rch_op *op, bool write)
{
	struct rch_vec *vec = op_vec_alloc(op->queue, op->sqe.length, sizeof(*vec->iov));
	s64 bytes;

	if (IS_ERR(vec))
		return PTR_ERR(vec);
	bytes = op_vec_copy(op, vec, write);
	if (bytes < 0) {
		op_vec_free(op->queue, vec);
		return bytes;
	}
	return op_vec_keep(op, vec, bytes, write);
}

/**
 * rch_op_vec_prepare - copy the array of an entry with RDMACHAN_SQE_F_IOV
 * @op: operation, with its channel and its line
 * @write: the pieces will be written to
 *
 * Return: 0; -EINVAL, -EFAULT, -EMSGSIZE, -ENOMEM, -ENOBUFS, -ENOSPC; as rch_op_placed_region(); or
 * as rch_region_check().
 */
int rch_op_vec_prepare(struct rch_op *op, bool write)
{
	int ret;

	if (op->sqe.length > UIO_MAXIOV)
		return -EINVAL;
	ret = op->sqe.flags & RDMACHAN_SQE_F_REGION ? rch_op_placed_region(op) : 0;
	/* An array without elements has no piece that is checked. */
	if (!ret && op->region)
		ret = rch_region_check(op->region, 0, 0, write);
	if (ret)
		return ret;
	ret = op_vec_take(op, write);
	if (ret != -EFAULT || op->queue->in_call)
		return ret;
	/* Only a call can bring the array; rch_op_vec_arrived() is for that. */
	op->own = true;
	return 0;
}

/**
 * rch_op_vec_arrived - an operation with RDMACHAN_SQE_F_IOV is run: copy the array if it was not
 * @op: operation
 * @write: as of rch_op_vec_prepare()
 *
 * Return: 0, or as rch_op_vec_prepare().
 */
int rch_op_vec_arrived(struct rch_op *op, bool write)
{
	int ret = op->vec ? 0 : op_vec_take(op, write);

	if (!ret)
		op->own = false;
	return ret;
}

/**
 * rch_op_vec_iter - the bytes of an operation that has an array
 * @op: operation; rch_op_vec_arrived() has succeeded
 * @direction: ITER_SOURCE or ITER_DEST
 * @iter: begins at the first byte
 */
void rch_op_vec_iter(const struct rch_op *op, unsigned int direction, struct iov_iter *iter)
{
	struct rch_vec *vec = op->vec;

	if (op->region)
		iov_iter_bvec(iter, direction, vec->bvec, vec->count, op->sqe.length);
	else
		iov_iter_init(iter, direction, vec->iov, vec->count, op->sqe.length);
}

/** rch_op_vec_send - run a SEND that has an array; see &struct rch_queue_ops */
s64 rch_op_vec_send(struct rch_op *op)
{
	struct iov_iter iter;

	rch_op_vec_iter(op, ITER_SOURCE, &iter);
	return rch_op_sent_from_region(op, rch_op_send_iter(op, &iter));
}

/** rch_op_vec_recv - run a RECV that has an array; see &struct rch_queue_ops */
s64 rch_op_vec_recv(struct rch_op *op)
{
	struct rch_recv_result result = {
		.takes_grants = rch_op_takes_grants(op),
		.holds = true,
	};
	struct iov_iter iter;
	int ret;

	if (rch_chan_rx_idle(op->object))
		return -EAGAIN;
	rch_op_vec_iter(op, ITER_DEST, &iter);
	ret = rch_chan_recv(op->object, &iter, true, 0, &result);
	if (!ret && !result.eof)
		rch_op_received_in_region(op);
	return rch_op_recv_told(op, ret, &result);
}

/** rch_op_vec_drop - @op is over, or its queue is */
void rch_op_vec_drop(struct rch_op *op)
{
	if (op->vec)
		op_vec_free(op->queue, op->vec);
	op->vec = NULL;
}
