// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_access.c - READ, WRITE and atomic operations of queues
 *
 * Operation. An access is a job (grant_access.c), and the operation waits for its steps. A WRITE
 * is in the line of what is sent on its channel until the adapter has all of it: so messages
 * behind it arrive behind it. READs and atomic operations are in no such line. All are in the
 * line of accesses, for the sake of those with FENCE.
 *
 * Ownership. A job uses its region itself, and holds the channel's file, for it may outlive the
 * operation: when the queue is closed. With pages of the program's own it does not outlive close():
 * that is the operation's until the adapter is done with them.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uio.h>

#include "channel/chan.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "message/message.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"

static bool op_access_is_atomic(const struct rch_op *op)
{
	return op->sqe.opcode == RDMACHAN_OPCODE_FETCH_ADD ||
	       op->sqe.opcode == RDMACHAN_OPCODE_COMPARE_SWAP;
}

static u32 op_access_right_of(const struct rch_op *op)
{
	if (op_access_is_atomic(op))
		return RDMACHAN_RIGHT_ATOMIC;
	return op->sqe.opcode == RDMACHAN_OPCODE_READ ? RDMACHAN_RIGHT_READ :
						       RDMACHAN_RIGHT_WRITE;
}

static int op_access_find(struct rch_op *op)
{
	int ret = rch_op_find_chan(op, 0);

	if (!ret)
		op->fence.key = rch_op_line_access(op->object);
	return ret;
}

static int op_access_prepare(struct rch_op *op, bool read)
{
	int ret = op_access_find(op);

	if (ret)
		return ret;
	if (op->sqe.length > RDMACHAN_MESSAGE_MAX)
		return -EINVAL;
	return rch_op_check_memory(op, read);
}

/** rch_op_read_prepare - prepare a READ */
int rch_op_read_prepare(struct rch_op *op)
{
	return op_access_prepare(op, true);
}

/** rch_op_write_prepare - prepare a WRITE */
int rch_op_write_prepare(struct rch_op *op)
{
	int ret;

	if (op->sqe.op_flags & ~RDMACHAN_WRITE_F_NOTIFY)
		return -EOPNOTSUPP;
	op->notice = !!op->sqe.op_flags;
	if (op->sqe.msg_flags & ~(op->notice ? RDMACHAN_MSG_FLAGS_MASK : 0))
		return -EINVAL;
	ret = op_access_prepare(op, false);
	if (!ret)
		op->line.key = rch_op_line_out(op->object);
	return ret;
}

/** rch_op_atomic_prepare - prepare an atomic operation */
int rch_op_atomic_prepare(struct rch_op *op)
{
	return op_access_find(op);
}

static void op_access_put_file(void *file)
{
	fput(file);
}

/* Small parts of a region are copied: that is less than to have the adapter find them. */
#define COPY_MAX 512

static void op_access_set_memory(struct rch_op *op, struct rch_job *job)
{
	unsigned int direction = job->right == RDMACHAN_RIGHT_READ ? ITER_DEST : ITER_SOURCE;

	if (!op->region) {
		iov_iter_ubuf(&job->iter, direction, u64_to_user_ptr(op->sqe.addr),
			      op->sqe.length);
		return;
	}
	/* For as long as it may be copied from or to, too. */
	rch_region_use_more(op->region);
	job->uses = op->region;
	job->region_offset = op->sqe.addr;
	if (op->sqe.length > COPY_MAX)
		job->region = op->region;
	else
		rch_region_iter(op->region, direction, op->sqe.addr, op->sqe.length,
				&job->iter);
}

static int op_access_begin(struct rch_op *op)
{
	struct rch_job *job = rch_job_alloc(op->object, op->sqe.grant, op_access_right_of(op),
					    op->sqe.grant_offset, op->file, op_access_put_file);
	u64 length = op->sqe.length;

	if (!job)
		return -ENOMEM;
	get_file(op->file);
	op->job = job;
	if (op_access_is_atomic(op)) {
		job->op = op->sqe.opcode == RDMACHAN_OPCODE_FETCH_ADD ?
			RDMACHAN_ATOMIC_FETCH_ADD : RDMACHAN_ATOMIC_COMPARE_SWAP;
		job->operand = op->sqe.operand;
		job->compare = job->op == RDMACHAN_ATOMIC_COMPARE_SWAP ? op->sqe.compare : 0;
		length = sizeof(u64);
	} else {
		op_access_set_memory(op, job);
	}
	rch_queue_await(op, &job->wait, 0);
	return rch_job_begin(job, length);
}

/* The path has failed, and the channel will soon. */
static s64 op_access_path_failed(struct rch_op *op)
{
	struct rch_chan *chan = op->object;

	/* In this order: a waiter that has not seen the end waits for it. */
	if (op->on != &chan->wait)
		rch_queue_await(op, &chan->wait, 0);
	if (!rch_chan_tx_refused(chan))
		return -EAGAIN;
	if (op_access_is_atomic(op))
		return -EREMOTEIO;
	return rch_chan_tx_check(chan) ?: -ECONNRESET;
}

static s64 op_access_over(struct rch_op *op)
{
	const struct rch_job *job = op->job;

	switch (job->result) {
	case 0:
		if (!op_access_is_atomic(op))
			return op->notice ?: (s64)op->sqe.length;
		op->cqe.length = lower_32_bits(job->value);
		op->cqe.buffer = upper_32_bits(job->value);
		return 0;
	case -ENOTCONN:
		return op_access_path_failed(op);
	case -ECANCELED:
		return op->stopped ?: -ECANCELED;
	default:
		return job->result;
	}
}

/*
 * The message that goes with a WRITE. The peer may give no room for it for as long as it likes. So
 * the ends of the steps are awaited before that: nothing they have is kept for it. @over: they
 * have ended. Return: false when there is no room
 */
static bool op_access_notify(struct rch_op *op, bool over)
{
	struct rch_chan *chan = op->object;
	struct iov_iter none;
	int ret;

	/* In this order: a waiter that has not found room waits for it. */
	if (over && op->on != &chan->wait)
		rch_queue_await(op, &chan->wait, EPOLLOUT);
	iov_iter_ubuf(&none, ITER_SOURCE, NULL, 0);
	ret = rch_chan_send_more(chan, &none, op->sqe.msg_flags, NULL);
	if (ret == -EAGAIN)
		return false;
	if (!ret)
		rch_op_unsent(op->queue, chan->lane.link);
	op->notice = ret;
	return true;
}

/*
 * The adapter has all of a WRITE: operations behind it may go on, and first the message that goes
 * with it, unless a part has failed. Return: false when that has no room.
 */
static bool op_access_let_follow(struct rch_op *op, bool over)
{
	if (op->notice > 0 && !rch_job_failed(op->job) && !op_access_notify(op, over))
		return false;
	/* Though the message has waited for something else. */
	if (op->on != &op->job->wait)
		rch_queue_await(op, &op->job->wait, 0);
	rch_queue_line_leave(op);
	return true;
}

/** rch_op_access_run - run an access; see &struct rch_queue_ops */
s64 rch_op_access_run(struct rch_op *op)
{
	bool in_call = op->queue->in_call;
	struct rch_job *job;
	int ret;

	if (!op->job) {
		ret = op_access_begin(op);
		if (ret)
			return ret;
	}
	job = op->job;
	job->pin = in_call && !op->region && !op_access_is_atomic(op);
	ret = rch_job_go_on(job);
	if (ret == -EFAULT && in_call) {
		job->result = ret;
		ret = rch_job_go_on(job);
	}
	if (ret == -EFAULT) {
		if (!rch_job_hold(job))
			return ret;
		ret = rch_job_go_on(job);
	}
	if (op->line.key && rch_job_sent(job)) {
		if (!op_access_let_follow(op, !ret))
			return -EAGAIN;
		/* It may have ended while its end was not waited for. */
		ret = rch_job_go_on(job);
	}
	return ret ? -EAGAIN : op_access_over(op);
}

/** rch_op_access_stop - whether @op can be ended now; see &struct rch_queue_ops */
bool rch_op_access_stop(struct rch_op *op)
{
	if (rch_job_stop(op->job))
		return true;
	op->stopped = op->overdue ? -ETIMEDOUT : -ECANCELED;
	if (op->notice <= 0)
		return false;
	/* It need not wait for room any more, but for the adapter. */
	op->notice = op->stopped;
	rch_queue_await(op, &op->job->wait, 0);
	return !rch_job_under_way(op->job);
}

static void op_access_leave(struct rch_op *op)
{
	rch_job_leave(op->job);
	op->job = NULL;
}

/** rch_op_access_drop - @op is over, or its queue is */
void rch_op_access_drop(struct rch_op *op)
{
	if (!op->job)
		return;
	if (rch_op_is_awaited(op) && rch_job_has_pages(op->job))
		/* rch_op_access_await() leaves it. */
		rch_job_stop(op->job);
	else
		op_access_leave(op);
}

/** rch_op_access_await - wait for the program's own memory of an @op that was dropped */
void rch_op_access_await(struct rch_op *op)
{
	if (!op->job)
		return;
	wait_event_killable(op->job->wait, !rch_job_has_pages(op->job));
	op_access_leave(op);
}
