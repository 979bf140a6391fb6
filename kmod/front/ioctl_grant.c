// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl_grant.c - commands of grants
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "base/rch.h"
#include "call/call.h"
#include "call/ctx.h"
#include "channel/chan.h"
#include "front/file.h"
#include "front/ioctl.h"
#include "link/link.h"
#include "memory/grant.h"
#include "message/message.h"

/* GRANT */

/* Whether something else than the structure is the reason; else the error record stays as it is. */
static bool ioctl_grant_begins(int ret)
{
	return ret == -ENOMEM || ret == -EMSGSIZE || ret == -EBADF;
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
		return ret;
	gc = rch_grant_call_make(call->file->private_data, grant);
	if (IS_ERR(gc) && ioctl_grant_begins(PTR_ERR(gc)))
		return rch_refused(PTR_ERR(gc), grant->error_ptr, &none);
	if (IS_ERR(gc))
		return PTR_ERR(gc);
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

static int ioctl_grant_access_check(const struct rdmachan_access_args *access, bool read)
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

static int ioctl_grant_move(struct rch_chan *chan, const struct rdmachan_access_args *access,
			    bool read,
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
	return ioctl_grant_access_check(access, true) ?:
	       ioctl_grant_move(call->file->private_data, access, true, NULL);
}

/* The bytes are there already, and the call was interrupted. */
static int ioctl_grant_notify(struct rch_chan *chan, u64 error_ptr, struct rch_notice *notice)
{
	int ret = rch_chan_send(chan, notice->message, notice->msg_flags, false,
				notice->deadline);

	rch_chan_error_out(chan, error_ptr, ret);
	return ret == -ERESTARTSYS ? -ERESTARTNOHAND : ret;
}

static int ioctl_grant_write_and_notify(struct rch_call *call, struct rdmachan_access_args *access)
{
	struct rch_chan *chan = call->file->private_data;
	struct iovec fast[UIO_FASTIOV], *iov;
	struct iov_iter message;
	struct rch_notice notice = {
		.send = rch_chan_send,
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
		ret = ioctl_grant_notify(chan, access->error_ptr, &notice);
	else
		ret = ioctl_grant_move(chan, access, false, &notice);
	call->until.begun = ret == -ERESTARTNOHAND;
	kfree(iov);
	return ret;
}

/** rch_run_write - RDMACHAN_WRITE on a channel */
int rch_run_write(struct rch_call *call)
{
	struct rdmachan_access_args *access = &call->arg.access;
	int ret = ioctl_grant_access_check(access, false);

	call->copied = true;
	if (ret)
		return ret;
	if (access->flags)
		return ioctl_grant_write_and_notify(call, access);
	return ioctl_grant_move(call->file->private_data, access, false, NULL);
}

/* The channel's record tells why it has ended, if it has; this one what that means here. */
static int ioctl_grant_uncertain(struct rch_chan *chan, u64 ptr)
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
		return ioctl_grant_uncertain(chan, atomic->error_ptr);
	rch_chan_error_out(chan, atomic->error_ptr, ret);
	return ret;
}
