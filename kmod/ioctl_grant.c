// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl_grant.c - commands of grants
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "chan.h"
#include "ctx.h"
#include "error.h"
#include "file.h"
#include "grant.h"
#include "ioctl.h"

/* What the first version of the interface had. */
#define RCH_RANGE_MIN offsetofend(struct rdmachan_grant_range, __reserved)
#define RIGHTS (RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC)

/* GRANT */

struct grant_call {
	struct rch_giving giving;
	const struct rdmachan_grant *grant;
	struct rdmachan_error error;
};

static void __user *range_at(const struct rdmachan_grant *grant, u32 i)
{
	return u64_to_user_ptr(grant->ranges_ptr + (u64)i * grant->range_size);
}

static int grant_out(struct rch_giving *giving)
{
	const struct rdmachan_grant *grant = container_of(giving, struct grant_call,
							  giving)->grant;
	struct rdmachan_grant_range __user *range;
	u32 i;

	for (i = 0; i < giving->count; i++) {
		range = range_at(grant, i);
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

static int copy_ranges(struct grant_call *gc)
{
	struct rdmachan_grant_range *range;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < gc->grant->count; i++) {
		range = &gc->giving.ranges[i];
		ret = copy_struct_from_user(range, sizeof(*range), range_at(gc->grant, i),
					    gc->grant->range_size) ?: range_check(range);
	}
	gc->giving.count = i;
	return ret;
}

static int copy_message(struct grant_call *gc, struct iov_iter *from)
{
	size_t bytes = iov_iter_count(from);

	/* It goes in one frame, with the keys. */
	if (bytes > RCH_FRAME_MAX)
		return -EMSGSIZE;
	gc->giving.message = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!gc->giving.message)
		return -ENOMEM;
	gc->giving.bytes = bytes;
	return copy_from_iter(gc->giving.message, bytes, from) == bytes ? 0 : -EFAULT;
}

/* All that the program has is with the kernel before anything is lent. */
static int give(struct rch_call *call, struct grant_call *gc, struct iov_iter *from)
{
	const struct rdmachan_grant *grant = gc->grant;
	int ret;

	ret = copy_ranges(gc) ?: copy_message(gc, from);
	if (!ret)
		ret = rch_loans_give(&gc->giving, rch_file_nonblock(call->file, grant->flags),
				     grant->timeout_ms);
	kvfree(gc->giving.message);
	if (gc->error.error)
		return rch_refused(ret, grant->error_ptr, &gc->error);
	rch_chan_error_out(gc->giving.chan, grant->error_ptr, ret);
	return ret;
}

static int with_context(struct rch_call *call, struct grant_call *gc, struct iov_iter *from)
{
	struct file *file = fget(gc->grant->context);
	int ret = -ENOTTY;

	if (!file)
		return -EBADF;
	if (file->f_op == &rch_ctx_fops) {
		gc->giving.set = ((struct rch_ctx *)file->private_data)->regions;
		ret = give(call, gc, from);
	}
	fput(file);
	return ret;
}

/** rch_run_grant - RDMACHAN_GRANT on a channel */
int rch_run_grant(struct rch_call *call)
{
	struct rdmachan_grant *grant = &call->arg.grant;
	struct iovec fast[UIO_FASTIOV], *iov;
	struct grant_call *gc;
	struct iov_iter iter;
	int ret;

	call->copied = true;
	if (grant->flags & ~RDMACHAN_IO_F_DONTWAIT)
		return -EOPNOTSUPP;
	if (!grant->count || grant->count > RDMACHAN_GRANTS_MAX ||
	    grant->range_size < RCH_RANGE_MIN || grant->range_size > PAGE_SIZE ||
	    grant->msg_flags & ~RDMACHAN_MSG_FLAGS_MASK)
		return -EINVAL;
	ret = rch_error_check(grant->error_ptr) ?:
	      rch_import(ITER_SOURCE, grant->iov_ptr, grant->iov_count, fast, ARRAY_SIZE(fast),
			 &iov, &iter);
	if (ret)
		return ret;
	gc = kzalloc(sizeof(*gc), GFP_KERNEL_ACCOUNT);
	ret = -ENOMEM;
	if (gc) {
		gc->grant = grant;
		gc->giving.chan = call->file->private_data;
		gc->giving.msg_flags = grant->msg_flags;
		gc->giving.out = grant_out;
		gc->giving.error = &gc->error;
		ret = with_context(call, gc, &iter);
	}
	kfree(gc);
	kfree(iov);
	return ret;
}

/* RELEASE and REVOKE */

/** rch_run_release - RDMACHAN_RELEASE on a channel */
int rch_run_release(struct rch_call *call)
{
	struct rdmachan_release *release = &call->arg.release;

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
	struct rdmachan_revoke *revoke = &call->arg.revoke;
	struct rch_chan *chan = call->file->private_data;
	int ret;

	call->copied = true;
	if (revoke->flags & ~RDMACHAN_IO_F_DONTWAIT)
		return -EOPNOTSUPP;
	ret = rch_error_check(revoke->error_ptr) ?:
	      rch_loan_revoke(chan, revoke->grant,
			      rch_file_nonblock(call->file, revoke->flags),
			      revoke->timeout_ms);
	rch_chan_error_out(chan, revoke->error_ptr, ret);
	return ret;
}

/* READ, WRITE and ATOMIC */

static int run_move(struct rch_call *call, bool read)
{
	struct rdmachan_access *access = &call->arg.access;
	struct rch_chan *chan = call->file->private_data;
	struct iov_iter iter;
	int ret;

	call->copied = true;
	if (access->flags)
		return -EOPNOTSUPP;
	if (access->__reserved || access->length > RDMACHAN_MESSAGE_MAX)
		return -EINVAL;
	ret = rch_error_check(access->error_ptr);
	if (ret)
		return ret;
	if (!access_ok(u64_to_user_ptr(access->addr), access->length))
		return -EFAULT;
	iov_iter_ubuf(&iter, read ? ITER_DEST : ITER_SOURCE, u64_to_user_ptr(access->addr),
		      access->length);
	ret = rch_grant_move(chan, access->grant, access->offset, &iter, read);
	rch_chan_error_out(chan, access->error_ptr, ret);
	return ret;
}

/** rch_run_read - RDMACHAN_READ on a channel */
int rch_run_read(struct rch_call *call)
{
	return run_move(call, true);
}

/** rch_run_write - RDMACHAN_WRITE on a channel */
int rch_run_write(struct rch_call *call)
{
	return run_move(call, false);
}

/* The channel's record tells why it has ended; this one what that means for the operation. */
static int uncertain(struct rch_chan *chan, u64 ptr)
{
	struct rdmachan_error error;

	rch_chan_error_get(chan, &error);
	rch_error_set(&error, RDMACHAN_OP_ACCESS, RDMACHAN_CAUSE_UNCERTAIN, error.cause);
	return rch_refused(-EREMOTEIO, ptr, &error);
}

/** rch_run_atomic - RDMACHAN_ATOMIC on a channel */
int rch_run_atomic(struct rch_call *call)
{
	struct rdmachan_atomic *atomic = &call->arg.atomic;
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
