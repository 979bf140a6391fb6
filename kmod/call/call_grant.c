// SPDX-License-Identifier: GPL-2.0
/*
 * call_grant.c - a GRANT: what a program says, copied, and the memory lent for it
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "call/call.h"
#include "call/ctx.h"
#include "channel/chan.h"
#include "memory/grant.h"

#define RIGHTS (RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC)

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

static void __user *rch_grant_range_at(const struct rdmachan_grant_args *grant, u32 i)
{
	return u64_to_user_ptr(grant->ranges_ptr + (u64)i * grant->range_size);
}

static int rch_grant_out(struct rch_giving *giving)
{
	const struct rch_grant_call *gc = container_of(giving, struct rch_grant_call, giving);
	struct rdmachan_grant_range __user *range;
	u32 i;

	for (i = 0; i < giving->count; i++) {
		range = rch_grant_range_at(&gc->grant, i);
		if (put_user(giving->ids[i], &range->out_grant))
			return -EFAULT;
	}
	return 0;
}

static int rch_grant_range_check(const struct rdmachan_grant_range *range)
{
	if (range->rights & ~RIGHTS)
		return -EOPNOTSUPP;
	if (!range->rights || !range->length || range->__reserved)
		return -EINVAL;
	return 0;
}

static int rch_grant_copy_ranges(struct rch_grant_call *gc)
{
	struct rdmachan_grant_range *range;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < gc->grant.count; i++) {
		range = &gc->giving.ranges[i];
		ret = copy_struct_from_user(range, sizeof(*range),
					    rch_grant_range_at(&gc->grant, i),
					    gc->grant.range_size) ?: rch_grant_range_check(range);
	}
	gc->giving.count = i;
	return ret;
}

static int rch_grant_copy_message(struct rch_grant_call *gc)
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

static int rch_grant_find_context(struct rch_grant_call *gc)
{
	gc->context = fget(gc->grant.context);
	if (!gc->context)
		return -EBADF;
	if (!rch_file_is(gc->context, RCH_FILE_CTX))
		return -ENOTTY;
	gc->giving.set = ((struct rch_ctx *)gc->context->private_data)->regions;
	return 0;
}

static int rch_grant_check(const struct rdmachan_grant_args *grant)
{
	if (grant->flags & ~RDMACHAN_IO_F_DONTWAIT)
		return -EOPNOTSUPP;
	if (!grant->count || grant->count > RDMACHAN_GRANTS_MAX ||
	    grant->range_size < RDMACHAN_GRANT_RANGE_SIZE_1 || grant->range_size > PAGE_SIZE ||
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
	int ret = rch_grant_check(grant);
	struct rch_grant_call *gc;

	if (ret)
		return ERR_PTR(ret);
	gc = kzalloc(sizeof(*gc), GFP_KERNEL_ACCOUNT);
	if (!gc)
		return ERR_PTR(-ENOMEM);
	gc->grant = *grant;
	gc->giving.chan = chan;
	gc->giving.msg_flags = grant->msg_flags;
	gc->giving.out = rch_grant_out;
	gc->giving.error = &gc->error;
	ret = rch_grant_find_context(gc) ?: rch_grant_copy_ranges(gc) ?: rch_grant_copy_message(gc);
	if (!ret)
		return gc;
	rch_grant_call_free(gc);
	return ERR_PTR(ret);
}

/* Else it does not fit a frame, and a record of the channel with EMSGSIZE is another call's. */
static bool rch_grant_too_large(const struct rch_grant_call *gc)
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

	if (gc->error.error || (ret == -EMSGSIZE && !rch_grant_too_large(gc)))
		return rch_refused(ret, gc->grant.error_ptr, &gc->error);
	if (ret != -EAGAIN)
		rch_chan_error_out(gc->giving.chan, gc->grant.error_ptr, ret);
	return ret;
}
