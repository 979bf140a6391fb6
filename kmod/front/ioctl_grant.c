// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl_grant.c - commands of grants
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "base/error.h"
#include "channel/chan.h"
#include "front/ctx.h"
#include "front/file.h"
#include "front/ioctl.h"
#include "link/link.h"
#include "memory/grant.h"

/* What the first version of the interface had. */
#define RCH_RANGE_MIN offsetofend(struct rdmachan_grant_range, __reserved)
#define RIGHTS (RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC)

/* GRANT */

/**
 * struct rch_grant_call - a GRANT, by ioctl or by a queue
 * @giving: what is given
 * @grant: what the program has asked for, a copy
 * @context: file of the context, referenced: it is not closed meanwhile
 * @error: why nothing is lent
 */
struct rch_grant_call {
	struct rch_giving giving;
	struct rdmachan_grant_args grant;
	struct file *context;
	struct rdmachan_error error;
};

static void __user *range_at(const struct rdmachan_grant_args *grant, u32 i)
{
	return u64_to_user_ptr(grant->ranges_ptr + (u64)i * grant->range_size);
}

static int grant_out(struct rch_giving *giving)
{
	const struct rch_grant_call *gc = container_of(giving, struct rch_grant_call, giving);
	struct rdmachan_grant_range __user *range;
	u32 i;

	for (i = 0; i < giving->count; i++) {
		range = range_at(&gc->grant, i);
		if (put_user(giving->ids[i], &range->out_grant))
			return -EFAULT;
	}
	return 0;
}

static int range_check(const struct rdmachan_grant_range *range)
{
	if (range->rights & ~RIGHTS)
		return -EOPNOTSUPP;
	if (!range->rights || !range->length || range->__reserved)
		return -EINVAL;
	return 0;
}

static int copy_ranges(struct rch_grant_call *gc)
{
	struct rdmachan_grant_range *range;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < gc->grant.count; i++) {
		range = &gc->giving.ranges[i];
		ret = copy_struct_from_user(range, sizeof(*range), range_at(&gc->grant, i),
					    gc->grant.range_size) ?: range_check(range);
	}
	gc->giving.count = i;
	return ret;
}

static int copy_message(struct rch_grant_call *gc)
{
	struct iovec fast[UIO_FASTIOV], *iov;
	struct iov_iter from;
	size_t bytes;
	int ret;

	ret = rch_import(ITER_SOURCE, gc->grant.iov_ptr, gc->grant.iov_count, fast,
			 ARRAY_SIZE(fast), &iov, &from);
	if (ret)
		return ret;
	bytes = iov_iter_count(&from);
	ret = -EMSGSIZE;
	/* It goes in one frame, with the keys. */
	if (bytes > RCH_FRAME_MAX)
		goto out;
	ret = -ENOMEM;
	gc->giving.message = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!gc->giving.message)
		goto out;
	gc->giving.bytes = bytes;
	ret = copy_from_iter(gc->giving.message, bytes, &from) == bytes ? 0 : -EFAULT;
out:
	kfree(iov);
	return ret;
}

static int find_context(struct rch_grant_call *gc)
{
	gc->context = fget(gc->grant.context);
	if (!gc->context)
		return -EBADF;
	if (gc->context->f_op != &rch_ctx_fops)
		return -ENOTTY;
	gc->giving.set = ((struct rch_ctx *)gc->context->private_data)->regions;
	return 0;
}

static int grant_check(const struct rdmachan_grant_args *grant)
{
	if (grant->flags & ~RDMACHAN_IO_F_DONTWAIT)
		return -EOPNOTSUPP;
	if (!grant->count || grant->count > RDMACHAN_GRANTS_MAX ||
	    grant->range_size < RCH_RANGE_MIN || grant->range_size > PAGE_SIZE ||
	    grant->msg_flags & ~RDMACHAN_MSG_FLAGS_MASK)
		return -EINVAL;
	return rch_error_check(grant->error_ptr);
}

/** rch_grant_call_free - a GRANT is over */
void rch_grant_call_free(struct rch_grant_call *gc)
{
	if (gc->context)
		fput(gc->context);
	kvfree(gc->giving.message);
	kfree(gc);
}

/**
 * rch_grant_call_make - take over what a program says in a GRANT
 * @chan: channel
 * @grant: a copy
 *
 * All that the program has is with the kernel before anything is lent. Context: process, of
 * the program. Return: it; or an ERR_PTR() as of &struct rdmachan_grant_args.
 */
struct rch_grant_call *rch_grant_call_make(struct rch_chan *chan,
					   const struct rdmachan_grant_args *grant)
{
	int ret = grant_check(grant);
	struct rch_grant_call *gc;

	if (ret)
		return ERR_PTR(ret);
	gc = kzalloc(sizeof(*gc), GFP_KERNEL_ACCOUNT);
	if (!gc)
		return ERR_PTR(-ENOMEM);
	gc->grant = *grant;
	gc->giving.chan = chan;
	gc->giving.msg_flags = grant->msg_flags;
	gc->giving.out = grant_out;
	gc->giving.error = &gc->error;
	ret = find_context(gc) ?: copy_ranges(gc) ?: copy_message(gc);
	if (!ret)
		return gc;
	rch_grant_call_free(gc);
	return ERR_PTR(ret);
}

/* Else it does not fit a frame, and a record of the channel with EMSGSIZE is another call's. */
static bool too_large_for_peer(const struct rch_grant_call *gc)
{
	return gc->giving.bytes > READ_ONCE(gc->giving.chan->peer_message_max);
}

/**
 * rch_grant_call_give - lend what it says, and tell the program
 * @gc: call
 * @nonblock: do not wait; then nothing is told with -EAGAIN
 * @deadline: how long to wait, as of rch_deadline()
 *
 * Context: process, of the program. Return: as rch_loans_give().
 */
int rch_grant_call_give(struct rch_grant_call *gc, bool nonblock, unsigned long deadline)
{
	int ret = rch_loans_give(&gc->giving, nonblock, deadline);

	if (gc->error.error || (ret == -EMSGSIZE && !too_large_for_peer(gc)))
		return rch_refused(ret, gc->grant.error_ptr, &gc->error);
	if (ret != -EAGAIN)
		rch_chan_error_out(gc->giving.chan, gc->grant.error_ptr, ret);
	return ret;
}

/** rch_run_grant - RDMACHAN_GRANT on a channel */
int rch_run_grant(struct rch_call *call)
{
	struct rdmachan_grant_args *grant = &call->arg.grant;
	struct rdmachan_error none = {};
	struct rch_grant_call *gc;
	int ret;

	call->copied = true;
	ret = rch_call_until(call, &grant->until, grant->timeout_ms);
	if (ret)
		return rch_refused(ret, grant->error_ptr, &none);
	gc = rch_grant_call_make(call->file->private_data, grant);
	if (IS_ERR(gc))
		return rch_refused(PTR_ERR(gc), grant->error_ptr, &none);
	ret = rch_grant_call_give(gc, rch_file_nonblock(call->file, grant->flags),
				  call->until.deadline);
	rch_grant_call_free(gc);
	return ret;
}

/* RELEASE and REVOKE */

/** rch_run_release - RDMACHAN_RELEASE on a channel */
int rch_run_release(struct rch_call *call)
{
	struct rdmachan_release_args *release = &call->arg.release;

	call->copied = true;
	if (release->flags)
		return -EOPNOTSUPP;
	if (release->__reserved)
		return -EINVAL;
	return rch_held_release(call->file->private_data, release->grant);
}

/** rch_run_revoke - RDMACHAN_REVOKE on a channel */
int rch_run_revoke(struct rch_call *call)
{
	struct rdmachan_revoke_args *revoke = &call->arg.revoke;
	struct rch_chan *chan = call->file->private_data;
	int ret;

	call->copied = true;
	if (revoke->flags & ~RDMACHAN_IO_F_DONTWAIT)
		return -EOPNOTSUPP;
	ret = rch_error_check(revoke->error_ptr) ?:
	      rch_call_until(call, &revoke->until, revoke->timeout_ms) ?:
	      rch_loan_revoke(chan, revoke->grant,
			      rch_file_nonblock(call->file, revoke->flags),
			      call->until.deadline);
	rch_chan_error_out(chan, revoke->error_ptr, ret);
	return ret;
}

/* READ, WRITE and ATOMIC */

static int access_check(const struct rdmachan_access_args *access, bool read)
{
	if (access->flags & ~(read ? 0 : RDMACHAN_WRITE_F_NOTIFY))
		return -EOPNOTSUPP;
	if (!access->flags && (access->msg_flags || access->iov_ptr || access->iov_count ||
			       access->timeout_ms || access->until))
		return -EINVAL;
	if (access->length > RDMACHAN_MESSAGE_MAX ||
	    access->msg_flags & ~RDMACHAN_MSG_FLAGS_MASK)
		return -EINVAL;
	if (!access_ok(u64_to_user_ptr(access->addr), access->length))
		return -EFAULT;
	return rch_error_check(access->error_ptr);
}

static int move(struct rch_chan *chan, const struct rdmachan_access_args *access, bool read,
		struct rch_notice *notice)
{
	struct iov_iter iter;
	int ret;

	iov_iter_ubuf(&iter, read ? ITER_DEST : ITER_SOURCE, u64_to_user_ptr(access->addr),
		      access->length);
	ret = rch_grant_move(chan, access->grant, access->offset, &iter, read, notice);
	rch_chan_error_out(chan, access->error_ptr, ret);
	return ret;
}

/** rch_run_read - RDMACHAN_READ on a channel */
int rch_run_read(struct rch_call *call)
{
	const struct rdmachan_access_args *access = &call->arg.access;

	call->copied = true;
	return access_check(access, true) ?:
	       move(call->file->private_data, access, true, NULL);
}

/* The bytes are there already, and the call was interrupted. */
static int notify(struct rch_chan *chan, u64 error_ptr, struct rch_notice *notice)
{
	int ret = rch_chan_send(chan, notice->message, notice->msg_flags, false,
				notice->deadline);

	rch_chan_error_out(chan, error_ptr, ret);
	return ret == -ERESTARTSYS ? -ERESTARTNOHAND : ret;
}

static int write_and_notify(struct rch_call *call, struct rdmachan_access_args *access)
{
	struct rch_chan *chan = call->file->private_data;
	struct iovec fast[UIO_FASTIOV], *iov;
	struct iov_iter message;
	struct rch_notice notice = {
		.message = &message,
		.msg_flags = access->msg_flags,
	};
	int ret;

	ret = rch_call_until(call, &access->until, access->timeout_ms) ?:
	      rch_import(ITER_SOURCE, access->iov_ptr, access->iov_count, fast,
			 ARRAY_SIZE(fast), &iov, &message);
	if (ret)
		return ret;
	notice.deadline = call->until.deadline;
	if (call->until.begun)
		ret = notify(chan, access->error_ptr, &notice);
	else
		ret = move(chan, access, false, &notice);
	call->until.begun = ret == -ERESTARTNOHAND;
	kfree(iov);
	return ret;
}

/** rch_run_write - RDMACHAN_WRITE on a channel */
int rch_run_write(struct rch_call *call)
{
	struct rdmachan_access_args *access = &call->arg.access;
	int ret = access_check(access, false);

	call->copied = true;
	if (ret)
		return ret;
	if (access->flags)
		return write_and_notify(call, access);
	return move(call->file->private_data, access, false, NULL);
}

/* The channel's record tells why it has ended, if it has; this one what that means here. */
static int uncertain(struct rch_chan *chan, u64 ptr)
{
	struct rdmachan_error error;

	rch_chan_error_get(chan, &error);
	if (!error.cause)
		rch_link_where(chan->lane.link, &error);
	rch_error_set(&error, RDMACHAN_OP_ACCESS, RDMACHAN_CAUSE_UNCERTAIN, error.cause);
	return rch_refused(-EREMOTEIO, ptr, &error);
}

/** rch_run_atomic - RDMACHAN_ATOMIC on a channel */
int rch_run_atomic(struct rch_call *call)
{
	struct rdmachan_atomic_args *atomic = &call->arg.atomic;
	struct rch_chan *chan = call->file->private_data;
	int ret;

	if (atomic->flags)
		return -EOPNOTSUPP;
	if ((atomic->op != RDMACHAN_ATOMIC_FETCH_ADD &&
	     atomic->op != RDMACHAN_ATOMIC_COMPARE_SWAP) ||
	    (atomic->compare && atomic->op != RDMACHAN_ATOMIC_COMPARE_SWAP))
		return -EINVAL;
	ret = rch_error_check(atomic->error_ptr) ?: rch_grant_atomic(chan, atomic);
	if (ret == -EREMOTEIO)
		return uncertain(chan, atomic->error_ptr);
	rch_chan_error_out(chan, atomic->error_ptr, ret);
	return ret;
}
