// SPDX-License-Identifier: GPL-2.0
/*
 * call_error.c - error records, told to callers that have asked for one
 *
 * A call of a program, or an operation of its queue, names where its error record shall go. That
 * is looked at before anything is done; and a failure that says nothing of the connection leaves
 * an empty record there.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "call/call.h"
#include "channel/chan.h"

/** rch_error_out - give the program the error record it asked for, if it did */
int rch_error_out(u64 ptr, const struct rdmachan_error *error)
{
	struct rdmachan_error __user *user = u64_to_user_ptr(ptr);
	struct rdmachan_error out = *error;
	u32 size;

	if (!ptr)
		return 0;
	if (get_user(size, &user->size))
		return -EFAULT;
	if (size < RDMACHAN_ERROR_SIZE_1)
		return -EINVAL;
	/* The program may use its record again, and has no more bytes than it said. */
	out.size = min_t(u32, size, sizeof(out));
	return copy_to_user(user, &out, out.size) ? -EFAULT : 0;
}

/** rch_error_check - whether an error record could be given to the program, if it wants one */
int rch_error_check(u64 ptr)
{
	struct rdmachan_error __user *user = u64_to_user_ptr(ptr);
	u32 size;

	if (!ptr)
		return 0;
	if (get_user(size, &user->size))
		return -EFAULT;
	return size < RDMACHAN_ERROR_SIZE_1 ? -EINVAL : 0;
}

/* Errors that say nothing of the connection leave an empty record. */
static bool rch_error_is_connection(int ret)
{
	switch (ret) {
	case -EFAULT:
	case -EINVAL:
	case -EAGAIN:
	case -EINTR:
	case -ERESTARTNOHAND:
	case -ERESTARTSYS:
	case -ENOTCONN:
	case -ENOMEM:
	case -ENOENT:
	case -ENOMSG:
	case -EACCES:
	case -ERANGE:
	case -EKEYREVOKED:
		return false;
	default:
		return true;
	}
}

/**
 * rch_refused - nothing was made: tell the program why
 * @ret: error
 * @ptr: where it wants its error record, or 0
 * @error: all that is known of it, or nothing but where
 *
 * Return: @ret.
 */
int rch_refused(int ret, u64 ptr, struct rdmachan_error *error)
{
	if (!error->error)
		memset(error, 0, sizeof(*error));
	error->size = sizeof(*error);
	rch_error_out(ptr, error);
	return ret;
}

/** rch_chan_error_out - a call on a channel gives @ret: tell the program why, if it fails */
void rch_chan_error_out(struct rch_chan *chan, u64 ptr, int ret)
{
	struct rdmachan_error error = { .size = sizeof(error) };

	if (!ret || !ptr)
		return;
	if (rch_error_is_connection(ret)) {
		rch_chan_error_get(chan, &error);
		/* The record belongs to this failure only when it says so. */
		if ((int)error.error != -ret)
			memset(&error, 0, sizeof(error));
		error.size = sizeof(error);
	}
	rch_error_out(ptr, &error);
}
