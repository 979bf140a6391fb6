// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op.c - the operations of queues
 *
 * One table. Preparing an operation looks at its entry, which is a copy already, and
 * finds its object: in a call of the program, whose file descriptors it names. Running it
 * is the call of the same name that does not block. Operations that make a file
 * descriptor are run in a call of the program only, because it goes to the caller.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <net/net_namespace.h>

#include "call/call.h"
#include "channel/chan.h"
#include "channel/listener.h"
#include "memory/region.h"
#include "message/message.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"
#include "proto/way.h"

/* Members of an entry that an operation uses; the others must be 0. */
enum {
	USES_FD = 1 << 0,
	USES_ADDR = 1 << 1,
	USES_LENGTH = 1 << 2,
	USES_MSG_FLAGS = 1 << 3,
	USES_OP_FLAGS = 1 << 4,
	USES_TARGET = 1 << 5,
	HAS_NO_FD = 1 << 6,
	USES_POOL = 1 << 7,
	USES_REGION = 1 << 8,
	USES_GRANT = 1 << 9,
	MAY_FENCE = 1 << 10,
	USES_IOV = 1 << 11,
	/* The members that have two names are looked at by one of them. */
	USES_ACCESS = USES_FD | USES_GRANT | USES_TARGET | USES_ADDR | USES_LENGTH | MAY_FENCE,
};

/**
 * struct op_kind - an operation
 * @uses: members of the entry
 * @own: run in a call of the program only
 * @prepare: besides what @uses tells; or NULL
 * @run: see &struct rch_queue_ops
 */
struct op_kind {
	unsigned int uses;
	bool own;
	int (*prepare)(struct rch_op *op);
	s64 (*run)(struct rch_op *op);
};

#define ALL_SQE_FLAGS (RDMACHAN_SQE_F_LINK | RDMACHAN_SQE_F_DRAIN | \
		       RDMACHAN_SQE_F_SKIP_SUCCESS | RDMACHAN_SQE_F_FENCE | \
		       RDMACHAN_SQE_F_REGION | RDMACHAN_SQE_F_IOV)

/* Lines of a channel; objects are aligned. */
enum {
	LINE_IN,
	LINE_OUT,
	LINE_ACCESS,
	LINE_TAKEN,
};

static void op_goes_in_line(struct rch_op *op, int which)
{
	op->line.key = (unsigned long)op->object + which;
}

/** rch_op_line_out - the line of what is sent on a channel */
unsigned long rch_op_line_out(const struct rch_chan *chan)
{
	return (unsigned long)chan + LINE_OUT;
}

/** rch_op_line_access - the line of accesses on a channel, for FENCE */
unsigned long rch_op_line_access(const struct rch_chan *chan)
{
	return (unsigned long)chan + LINE_ACCESS;
}

/** rch_op_line_taken - the line of what was sent on a channel and is waited for */
unsigned long rch_op_line_taken(const struct rch_chan *chan)
{
	return (unsigned long)chan + LINE_TAKEN;
}

/**
 * rch_op_find_file - the file that an entry names
 * @queue: queue
 * @fd: file descriptor of the program
 *
 * Return: the file, referenced; NULL when there is none; ERR_PTR(-EAGAIN) in the poller:
 * only the program can tell.
 */
struct file *rch_op_find_file(struct rch_queue *queue, int fd)
{
	return queue->in_call ? fget(fd) : rch_poller_fget(queue->poller, fd);
}

static int op_find_object(struct rch_op *op, enum rch_file_kind kind)
{
	struct file *file = rch_op_find_file(op->queue, op->sqe.fd);

	if (!file)
		return -EBADF;
	if (IS_ERR(file))
		return PTR_ERR(file);
	/* Not for a moment longer: it could be the queue's own, which would keep itself. */
	if (!rch_file_is(file, kind)) {
		fput(file);
		return -ENOTTY;
	}
	op->file = file;
	op->object = file->private_data;
	return 0;
}

/** rch_op_find_chan - find the channel of an entry, and wait for @events of it */
int rch_op_find_chan(struct rch_op *op, __poll_t events)
{
	int ret = op_find_object(op, RCH_FILE_CHAN);

	if (ret)
		return ret;
	op->on = &((struct rch_chan *)op->object)->wait;
	op->events = events;
	return 0;
}

static void __user *op_memory(const struct rch_op *op)
{
	return u64_to_user_ptr(op->sqe.addr);
}

static int op_reserve_fd(u32 flags)
{
	return get_unused_fd_flags(flags & RDMACHAN_FD_F_CLOEXEC ? O_CLOEXEC : 0);
}

/** rch_op_check_memory - look at own memory. @write: it will be written to */
int rch_op_check_memory(struct rch_op *op, bool write)
{
	if (op->sqe.flags & RDMACHAN_SQE_F_REGION)
		return rch_op_placed_prepare(op, write);
	return access_ok(op_memory(op), op->sqe.length) ? 0 : -EFAULT;
}

/* Whether the message is in pieces; if one has all of its bytes, only until the array is copied. */
static bool op_is_iov(const struct rch_op *op)
{
	return op->sqe.flags & RDMACHAN_SQE_F_IOV;
}

static s64 op_run_nop(struct rch_op *op)
{
	return 0;
}

/* SEND and RECV */

static int op_prepare_send(struct rch_op *op)
{
	int ret = rch_op_find_chan(op, EPOLLOUT);

	if (ret)
		return ret;
	if (op->sqe.op_flags & ~RDMACHAN_SEND_F_DELIVERED)
		return -EOPNOTSUPP;
	if (op->sqe.msg_flags & ~RDMACHAN_MSG_FLAGS_MASK)
		return -EINVAL;
	if (op_is_iov(op)) {
		op_goes_in_line(op, LINE_OUT);
		return rch_op_vec_prepare(op, false);
	}
	if (op->sqe.length > RDMACHAN_MESSAGE_MAX)
		return -EMSGSIZE;
	op_goes_in_line(op, LINE_OUT);
	return rch_op_check_memory(op, false);
}

/* At once: programs say by their calls which messages belong together. */
static void rch_op_flush(struct rch_queue *queue)
{
	if (!queue->unsent)
		return;
	rch_op_placed_let_go(queue);
	rch_link_push(queue->unsent);
	rch_link_put(queue->unsent);
	queue->unsent = NULL;
}

/** rch_op_unsent - a message may lie in the link's open frame until the queue is flushed */
void rch_op_unsent(struct rch_queue *queue, struct rch_link *link)
{
	if (queue->unsent == link)
		return;
	rch_op_flush(queue);
	kref_get(&link->ref);
	queue->unsent = link;
}

/** rch_op_send_iter - run a SEND whose message is @iter */
s64 rch_op_send_iter(struct rch_op *op, struct iov_iter *iter)
{
	struct rch_chan *chan = op->object;
	int ret = rch_chan_send_more(chan, iter, rch_op_msg_flags(op), &op->message);

	/* It was sent on it, so it stays the channel's. */
	if (!ret)
		rch_op_unsent(op->queue, chan->lane.link);
	/* That it is being connected is no reason to fail. */
	if (ret == -ENOTCONN)
		return -EAGAIN;
	return ret ?: (s64)op->sqe.length;
}

/* The channel has the message, and the operation waits until connecting has ended. */
static s64 op_early_outcome(const struct rch_op *op)
{
	struct rch_chan *chan = op->object;
	/* pairs with that of rch_chan_set_state(): @early.lost was decided before */
	enum rch_chan_state state = smp_load_acquire(&chan->state);
	struct rdmachan_error error;

	if (state == RCH_CHAN_CONNECTING)
		return -EAGAIN;
	if (!READ_ONCE(chan->early.lost))
		return op->sqe.length;
	/*
	 * The record is about to be made, and wakes the operation then: the one that is there now
	 * is of another failure.
	 */
	if (state == RCH_CHAN_OPEN)
		return -EAGAIN;
	rch_chan_error_get(chan, &error);
	return error.error ? -(int)error.error : -EAGAIN;
}

/* Return: -EAGAIN, and @op->early if the channel has taken the message; or an error. */
static s64 op_send_early(struct rch_op *op)
{
	struct rch_chan *chan = op->object;
	struct iov_iter iter;
	int ret;

	if (op_is_iov(op))
		rch_op_vec_iter(op, ITER_SOURCE, &iter);
	else if (op->region)
		rch_region_iter(op->region, ITER_SOURCE, op->sqe.addr, op->sqe.length, &iter);
	else
		iov_iter_ubuf(&iter, ITER_SOURCE, op_memory(op), op->sqe.length);
	ret = rch_chan_send_early(chan, &iter, rch_op_msg_flags(op), true, 0, &op->message);
	if (ret)
		return ret;
	op->early = true;
	if (op->region) {
		atomic64_inc(&chan->counts.tx_regions);
		atomic64_inc(&op->region->sent);
	}
	/* Messages behind it go early as well. */
	rch_queue_line_leave(op);
	return -EAGAIN;
}

/* Return: as run(), when the message is accepted */
static s64 op_send_message(struct rch_op *op)
{
	s64 ret = op_is_iov(op) ? rch_op_vec_arrived(op, false) : 0;

	if (ret)
		return ret;
	if (!op->early && !op->place && rch_chan_may_send_early(op->object)) {
		ret = op_send_early(op);
		if (ret != -EAGAIN)
			return ret;
	}
	if (op->early)
		return op_early_outcome(op);
	return op_is_iov(op) ? rch_op_vec_send(op) : rch_op_placed_send(op);
}

static s64 op_run_send(struct rch_op *op)
{
	s64 ret;

	if (op->sent)
		return rch_op_taken_run(op);
	ret = op_send_message(op);
	/* Of one that was sent early more is waited for than that the channel is open. */
	if (rch_op_asks(op) && (ret >= 0 || op->early))
		return rch_op_taken_begin(op);
	return ret;
}

static int op_prepare_recv(struct rch_op *op)
{
	int ret = rch_op_find_chan(op, EPOLLIN);

	if (ret)
		return ret;
	op_goes_in_line(op, LINE_IN);
	if (op->sqe.op_flags & ~(RDMACHAN_RECV_F_MULTISHOT | RDMACHAN_RECV_F_GRANTS))
		return -EOPNOTSUPP;
	if (op->sqe.op_flags & RDMACHAN_RECV_F_MULTISHOT)
		return rch_recv_many_check(op);
	if (op->sqe.pool)
		return -EINVAL;
	if (op_is_iov(op))
		return rch_op_vec_prepare(op, true);
	/* No message is larger. */
	op->sqe.length = min_t(u64, op->sqe.length, RDMACHAN_MESSAGE_MAX);
	return rch_op_check_memory(op, true);
}

/** rch_op_recv_told - what rch_chan_recv() has found, for the completion */
s64 rch_op_recv_told(struct rch_op *op, int ret, const struct rch_recv_result *result)
{
	struct rch_chan *chan = op->object;

	if (result->tells)
		rch_op_unsent(op->queue, chan->lane.link);
	if (ret == -ENOTCONN)
		return -EAGAIN;
	if (ret && ret != -EMSGSIZE)
		return ret;
	op->cqe.length = result->length;
	op->cqe.msg_flags = result->msg_flags;
	op->cqe.flags = (result->eof ? RDMACHAN_CQE_F_EOF : 0) |
			(result->grants ? RDMACHAN_CQE_F_GRANTS : 0);
	return ret ?: (s64)result->length;
}

/** rch_op_takes_grants - whether a RECV takes messages that begin with events of grants */
bool rch_op_takes_grants(const struct rch_op *op)
{
	return op->sqe.op_flags & RDMACHAN_RECV_F_GRANTS;
}

static s64 op_recv_into_memory(struct rch_op *op)
{
	struct rch_recv_result result = {
		.takes_grants = rch_op_takes_grants(op),
		.holds = true,
	};
	struct iov_iter iter;
	int ret;

	if (op->region || rch_way_is_placed(op->sqe.length, false))
		return rch_op_placed_recv(op);
	if (rch_chan_rx_idle(op->object))
		return -EAGAIN;
	iov_iter_ubuf(&iter, ITER_DEST, op_memory(op), op->sqe.length);
	ret = rch_chan_recv(op->object, &iter, true, 0, &result);
	return rch_op_recv_told(op, ret, &result);
}

static s64 op_run_recv(struct rch_op *op)
{
	int ret;

	if (op->sqe.op_flags & RDMACHAN_RECV_F_MULTISHOT)
		return rch_recv_many_run(op);
	ret = op_is_iov(op) ? rch_op_vec_arrived(op, true) : 0;
	if (ret)
		return ret;
	return op_is_iov(op) ? rch_op_vec_recv(op) : op_recv_into_memory(op);
}

/* SHUTDOWN */

/*
 * Ending what is sent goes behind what is to be sent. Ending what is received does not
 * go behind what is to be received, which might never come.
 */
static int op_prepare_shutdown(struct rch_op *op)
{
	u32 how = op->sqe.op_flags;
	int ret;

	if (!rch_shutdown_ok(how))
		return -EINVAL;
	ret = rch_op_find_chan(op, EPOLLIN | EPOLLOUT);
	if (!ret && (how & RDMACHAN_SHUTDOWN_SEND))
		op_goes_in_line(op, LINE_OUT);
	return ret;
}

static s64 op_run_shutdown(struct rch_op *op)
{
	u32 how = op->sqe.op_flags;

	if (how == RDMACHAN_SHUTDOWN_ABORT)
		return rch_chan_abort(op->object, true);
	return rch_chan_shutdown(op->object, how, true, 0);
}

/* FINISH */

static int op_prepare_finish(struct rch_op *op)
{
	int ret = rch_op_find_chan(op, EPOLLPRI | EPOLLOUT);

	if (!ret)
		op_goes_in_line(op, LINE_OUT);
	return ret;
}

static s64 op_run_finish(struct rch_op *op)
{
	struct rdmachan_error error = {};
	int ret = rch_chan_finish(op->object, true, 0, &error);

	/* That it is being connected is no reason to fail. */
	return ret == -ENOTCONN ? -EAGAIN : ret;
}

/* ACCEPT */

/* Channels that one ACCEPT takes before others have their turn. */
#define CHANNELS 64

static bool op_accepts_many(const struct rch_op *op)
{
	return op->sqe.op_flags & RDMACHAN_ACCEPT_F_MULTISHOT;
}

static int op_prepare_accept(struct rch_op *op)
{
	struct rch_listener *listener;
	int ret;

	if (op->sqe.op_flags & ~(RCH_FD_F_ALL | RDMACHAN_ACCEPT_F_MULTISHOT))
		return -EOPNOTSUPP;
	if (op_accepts_many(op) &&
	    op->sqe.flags & (RDMACHAN_SQE_F_LINK | RDMACHAN_SQE_F_SKIP_SUCCESS))
		return -EINVAL;
	ret = op_find_object(op, RCH_FILE_LISTENER);
	if (ret)
		return ret;
	listener = op->object;
	op->on = &listener->wait;
	op->events = EPOLLIN;
	op_goes_in_line(op, LINE_IN);
	return 0;
}

/* Return: the file descriptor of a channel; -EAGAIN when none waits; or an error */
static int op_accept_one(struct rch_op *op)
{
	struct rch_listener *listener = op->object;
	u32 flags = op->sqe.op_flags;
	struct rch_chan *chan;
	struct file *file;
	int fd, ret;

	ret = rch_listener_wait(listener, true, 0, &chan);
	if (ret)
		return ret;
	fd = op_reserve_fd(flags);
	ret = fd;
	if (fd < 0)
		goto err_chan;
	file = rch_file_create(RCH_FILE_CHAN, chan, flags);
	ret = PTR_ERR_OR_ZERO(file);
	if (ret)
		goto err_fd;
	get_net(chan->net);
	rch_listener_accepted(listener, chan);
	fd_install(fd, file);
	return fd;

err_fd:
	put_unused_fd(fd);
err_chan:
	rch_listener_give_back(listener, chan);
	return ret;
}

/* A channel for which the ring has no room stays with its listener, whose backlog bounds them. */
static s64 op_accept_many(struct rch_op *op)
{
	struct rdmachan_cqe cqe;
	int i, fd;

	for (i = 0; i < CHANNELS; i++) {
		if (!rch_queue_room(op->queue))
			return rch_listener_has_waiting(op->object) ? RCH_RUN_NO_ROOM : -EAGAIN;
		fd = op_accept_one(op);
		if (fd < 0)
			return fd;
		cqe = (struct rdmachan_cqe){ .res = fd };
		rch_queue_more(op, &cqe);
		rch_queue_told(op->queue);
		rch_time_again(op);
	}
	return RCH_RUN_AGAIN;
}

static s64 op_run_accept(struct rch_op *op)
{
	return op_accepts_many(op) ? op_accept_many(op) : op_accept_one(op);
}

/* CONNECT */

/**
 * rch_op_copy_call - copy the structure of a call, which an entry points to
 * @op: operation; its addr is that of the structure, whose first member is its size
 * @to: where to
 * @known: bytes that are known
 * @least: bytes that it has at least
 *
 * In a call of the program only, as that may have to wait for its memory.
 * Return: 0, -EINVAL, -E2BIG or -EFAULT.
 */
int rch_op_copy_call(struct rch_op *op, void *to, size_t known, size_t least)
{
	u32 size;

	if (get_user(size, (u32 __user *)op_memory(op)))
		return -EFAULT;
	if (size < least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, known, op_memory(op), size);
}

static int op_prepare_connect(struct rch_op *op)
{
	struct rdmachan_connect_args *connect;
	int ret;

	if (!op->queue->in_call)
		return -EAGAIN;
	connect = kzalloc(sizeof(*connect), GFP_KERNEL_ACCOUNT);
	if (!connect)
		return -ENOMEM;
	op->data = connect;
	ret = rch_op_copy_call(op, connect, sizeof(*connect),
			       RDMACHAN_CONNECT_SIZE_1);
	if (!ret && connect->until)
		ret = -EINVAL;
	return ret ?: rch_connect_check(connect);
}

static int op_connect_begin(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;
	struct rdmachan_connect_args *connect = op->data;
	struct rch_chan *chan;
	struct file *file;

	chan = rch_connect_chan(queue->net, &queue->charge, connect,
				rch_connect_deadline(connect));
	if (IS_ERR(chan))
		return PTR_ERR(chan);
	file = rch_file_create(RCH_FILE_CHAN, chan, connect->flags);
	if (IS_ERR(file)) {
		rch_chan_release(chan, 0);
		return PTR_ERR(file);
	}
	get_net(chan->net);
	op->file = file;
	op->object = chan;
	op->on = &chan->wait;
	op->events = EPOLLIN | EPOLLOUT;
	rch_chan_connect_start(chan);
	return -EAGAIN;
}

static s64 op_run_connect(struct rch_op *op)
{
	struct rdmachan_connect_args *connect = op->data;
	struct rch_chan *chan = op->object;
	struct rdmachan_error error;
	int ret;

	if (!chan)
		return op_connect_begin(op);
	switch (READ_ONCE(chan->state)) {
	case RCH_CHAN_CONNECTING:
		if (!chan->early.wanted)
			return -EAGAIN;
		break;
	case RCH_CHAN_FAILED:
		rch_chan_error_get(chan, &error);
		ret = -(int)error.error;
		rch_connect_failed(chan, connect, ret);
		return ret;
	default:
		break;
	}
	ret = op_reserve_fd(connect->flags);
	/* Another thread may close it at once; but the operation may be in the channel's queue. */
	if (ret >= 0)
		fd_install(ret, get_file(op->file));
	return ret;
}

/* CANCEL */

static int op_prepare_cancel(struct rch_op *op)
{
	return op->sqe.op_flags & ~RDMACHAN_CANCEL_F_ALL ? -EOPNOTSUPP : 0;
}

static s64 op_run_cancel(struct rch_op *op)
{
	return rch_queue_cancel(op->queue, op);
}

/* MESSAGE */

/* The queue's memory is enough: to hold its file might be to hold the own queue's. */
static int op_prepare_message(struct rch_op *op)
{
	struct file *file;

	if (op->sqe.length > U32_MAX)
		return -EINVAL;
	file = rch_op_find_file(op->queue, op->sqe.fd);
	if (!file)
		return -EBADF;
	if (IS_ERR(file))
		return PTR_ERR(file);
	if (rch_file_is(file, RCH_FILE_QUEUE))
		op->to = rch_queue_get(file->private_data);
	fput(file);
	return op->to ? 0 : -ENOTTY;
}

static s64 op_run_message(struct rch_op *op)
{
	return rch_letter_send(op->to, op->sqe.target, op->sqe.length);
}

static const struct op_kind kinds[] = {
	[RDMACHAN_OPCODE_NOP] = {
		.run = op_run_nop,
	},
	[RDMACHAN_OPCODE_SEND] = {
		.uses = USES_FD | USES_ADDR | USES_LENGTH | USES_MSG_FLAGS | USES_OP_FLAGS |
			USES_REGION | USES_IOV | MAY_FENCE,
		.prepare = op_prepare_send,
		.run = op_run_send,
	},
	[RDMACHAN_OPCODE_RECV] = {
		.uses = USES_FD | USES_ADDR | USES_LENGTH | USES_OP_FLAGS | USES_POOL |
			USES_REGION | USES_IOV,
		.prepare = op_prepare_recv,
		.run = op_run_recv,
	},
	[RDMACHAN_OPCODE_ACCEPT] = {
		.uses = USES_FD | USES_OP_FLAGS,
		.own = true,
		.prepare = op_prepare_accept,
		.run = op_run_accept,
	},
	[RDMACHAN_OPCODE_CONNECT] = {
		.uses = HAS_NO_FD | USES_ADDR,
		.own = true,
		.prepare = op_prepare_connect,
		.run = op_run_connect,
	},
	[RDMACHAN_OPCODE_SHUTDOWN] = {
		.uses = USES_FD | USES_OP_FLAGS | MAY_FENCE,
		.prepare = op_prepare_shutdown,
		.run = op_run_shutdown,
	},
	[RDMACHAN_OPCODE_CANCEL] = {
		.uses = HAS_NO_FD | USES_OP_FLAGS | USES_TARGET,
		.prepare = op_prepare_cancel,
		.run = op_run_cancel,
	},
	[RDMACHAN_OPCODE_READ] = {
		.uses = USES_ACCESS | USES_REGION,
		.prepare = rch_op_read_prepare,
		.run = rch_op_access_run,
	},
	[RDMACHAN_OPCODE_WRITE] = {
		.uses = USES_ACCESS | USES_REGION | USES_OP_FLAGS | USES_MSG_FLAGS,
		.prepare = rch_op_write_prepare,
		.run = rch_op_access_run,
	},
	[RDMACHAN_OPCODE_FETCH_ADD] = {
		.uses = USES_ACCESS & ~USES_LENGTH,
		.prepare = rch_op_atomic_prepare,
		.run = rch_op_access_run,
	},
	[RDMACHAN_OPCODE_COMPARE_SWAP] = {
		.uses = USES_ACCESS,
		.prepare = rch_op_atomic_prepare,
		.run = rch_op_access_run,
	},
	[RDMACHAN_OPCODE_RELEASE] = {
		.uses = USES_FD | USES_GRANT | MAY_FENCE,
		.prepare = rch_op_release_prepare,
		.run = rch_op_release_run,
	},
	[RDMACHAN_OPCODE_GRANT] = {
		.uses = USES_FD | USES_ADDR | MAY_FENCE,
		.own = true,
		.prepare = rch_op_grant_prepare,
		.run = rch_op_grant_run,
	},
	[RDMACHAN_OPCODE_REVOKE] = {
		.uses = USES_FD | USES_GRANT | MAY_FENCE,
		.prepare = rch_op_revoke_prepare,
		.run = rch_op_revoke_run,
	},
	[RDMACHAN_OPCODE_FINISH] = {
		.uses = USES_FD | MAY_FENCE,
		.prepare = op_prepare_finish,
		.run = op_run_finish,
	},
	[RDMACHAN_OPCODE_MESSAGE] = {
		.uses = USES_FD | USES_TARGET | USES_LENGTH,
		.prepare = op_prepare_message,
		.run = op_run_message,
	},
};

static bool op_unused_is_zero(const struct rdmachan_sqe *sqe, unsigned int uses)
{
	if (sqe->__reserved)
		return false;
	if (!(sqe->flags & RDMACHAN_SQE_F_REGION) && sqe->region)
		return false;
	if (!(uses & USES_FD) && sqe->fd != (uses & HAS_NO_FD ? -1 : 0))
		return false;
	return ((uses & USES_ADDR) || !sqe->addr) &&
	       ((uses & USES_LENGTH) || !sqe->length) &&
	       ((uses & USES_MSG_FLAGS) || !sqe->msg_flags) &&
	       ((uses & USES_OP_FLAGS) || !sqe->op_flags) &&
	       ((uses & USES_TARGET) || !sqe->target) &&
	       ((uses & USES_GRANT) || !sqe->grant) &&
	       ((uses & USES_POOL) || !sqe->pool);
}

static int rch_op_prepare(struct rch_op *op)
{
	bool fence = op->sqe.flags & RDMACHAN_SQE_F_FENCE;
	const struct op_kind *kind;
	int ret;

	if (op->sqe.flags & ~ALL_SQE_FLAGS || op->sqe.opcode >= ARRAY_SIZE(kinds))
		return -EOPNOTSUPP;
	kind = &kinds[array_index_nospec(op->sqe.opcode, ARRAY_SIZE(kinds))];
	op->own = kind->own;
	if ((op->sqe.flags & RDMACHAN_SQE_F_REGION) && !(kind->uses & USES_REGION))
		return -EOPNOTSUPP;
	if (op_is_iov(op) && !(kind->uses & USES_IOV))
		return -EOPNOTSUPP;
	if (fence && !(kind->uses & MAY_FENCE))
		return -EOPNOTSUPP;
	if (!op_unused_is_zero(&op->sqe, kind->uses))
		return -EINVAL;
	ret = kind->prepare ? kind->prepare(op) : 0;
	if (!ret && fence)
		op->fence.key = rch_op_line_access(op->object);
	return ret;
}

static s64 rch_op_run(struct rch_op *op)
{
	return kinds[op->sqe.opcode].run(op);
}

static s64 rch_op_ahead(struct rch_op *op, struct rch_op *first)
{
	switch (op->sqe.opcode) {
	case RDMACHAN_OPCODE_RECV:
		/* A receive of many messages only copies. */
		if (op->sqe.op_flags & RDMACHAN_RECV_F_MULTISHOT)
			return 0;
		fallthrough;
	case RDMACHAN_OPCODE_SEND:
		if (op->sent)
			return 0;
		/* A message in pieces is only copied, too. */
		return op_is_iov(op) ? 0 : rch_op_placed_ahead(op, first);
	default:
		return 0;
	}
}

/**
 * rch_op_is_awaited - whether close() waits until no adapter uses memory of the program's own
 * @op: operation that is dropped
 *
 * The program knows by a region when its memory is its own again. Memory of its own it takes for
 * that when it has closed the queue, unless it ends itself.
 */
bool rch_op_is_awaited(const struct rch_op *op)
{
	return op->queue->closed && current->mm == op->queue->mm &&
	       !(current->flags & (PF_EXITING | PF_KTHREAD));
}

static void rch_op_drop(struct rch_op *op)
{
	rch_op_access_drop(op);
	rch_op_grant_drop(op);
	rch_op_placed_drop(op);
	rch_op_vec_drop(op);
	if (op->to)
		rch_queue_put_ref(op->to);
	op->to = NULL;
	if (op->file)
		fput(op->file);
	op->file = NULL;
	kfree(op->data);
	op->data = NULL;
}

static void rch_op_await(struct rch_op *op)
{
	rch_op_access_await(op);
	rch_op_placed_await(op);
}

static bool rch_op_stop(struct rch_op *op)
{
	/* Only waiting ends. */
	if (op->sent)
		return true;
	/* Its message is on its way, or will be. */
	if (op->early)
		return false;
	return op->job ? rch_op_access_stop(op) : rch_op_placed_stop(op);
}

const struct rch_queue_ops rch_queue_ops = {
	.prepare = rch_op_prepare,
	.run = rch_op_run,
	.ahead = rch_op_ahead,
	.row = rch_op_row,
	.drop = rch_op_drop,
	.await = rch_op_await,
	.stop = rch_op_stop,
	.flush = rch_op_flush,
};
