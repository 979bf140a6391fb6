// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl_until.c - the time of a call that is interrupted
 *
 * A wait ends early with any signal: also with those that no handler is for, as when the program
 * is stopped and continued, traced, or frozen. Such a call is not over. It ends with
 * -ERESTARTNOHAND: the kernel makes it again, with the same arguments, unless a handler runs. So
 * that the call ends when it would have ended, that moment is kept in between: in the program's
 * structure, in the member "until".
 *
 * Why there. The kernel's own calls have a restart block for it: a function that the thread calls
 * next. A program can have it called at any time later (restart_syscall(2)), when the module may
 * have been unloaded, so that it cannot be a function of a module. And a record of the module's
 * own could not be told apart from that of a call which a handler has ended: the module does not
 * hear which of the two it was.
 *
 * A program may write there what it likes. The time that is kept makes a call shorter, never
 * longer, than its timeout says; and the part left out because it was begun is what the program
 * need not have asked for.
 */
#include <linux/jiffies.h>
#include <linux/uaccess.h>

#include "channel/chan.h"
#include "front/ioctl.h"

/* The rest is a moment, in jiffies; 0 is none. */
#define UNTIL_KEPT BIT_ULL(63)
#define UNTIL_BEGUN BIT_ULL(62)

/**
 * rch_until_begin - when a call ends
 * @until: is filled in
 * @member: what the program's structure has
 * @timeout_ms: its timeout in ms; 0 is without limit
 *
 * Context: any. Return: 0 or -EINVAL.
 */
int rch_until_begin(struct rch_until *until, u64 member, u32 timeout_ms)
{
	unsigned long kept = member & ~(UNTIL_KEPT | UNTIL_BEGUN);

	if (member && !(member & UNTIL_KEPT))
		return -EINVAL;
	until->member = member;
	until->begun = member & UNTIL_BEGUN;
	until->deadline = rch_deadline(timeout_ms);
	if (until->deadline && kept && time_before(kept, until->deadline))
		until->deadline = kept;
	return 0;
}

/**
 * rch_until_end - a call ends, for now or for good
 * @until: after rch_until_begin()
 * @ret: how
 * @to: the member in the program's structure, or NULL if it has none
 *
 * Context: process, of the program. Return: @ret; or -EINTR when nothing could be kept.
 */
int rch_until_end(const struct rch_until *until, int ret, u64 __user *to)
{
	u64 keep = UNTIL_KEPT | (until->begun ? UNTIL_BEGUN : 0) | until->deadline;

	if (ret == -ERESTARTNOHAND && (until->deadline || until->begun))
		return to && !put_user(keep, to) ? ret : -EINTR;
	if (until->member && to)
		put_user(0, to);
	return ret;
}

/**
 * rch_call_until - when a command ends that may be interrupted
 * @call: its @until is filled in
 * @member: of the structure
 * @timeout_ms: its timeout in ms; 0 is without limit
 *
 * Return: 0 or -EINVAL.
 */
int rch_call_until(struct rch_call *call, u64 *member, u32 timeout_ms)
{
	int ret = rch_until_begin(&call->until, *member, timeout_ms);
	size_t at = (u8 *)member - (u8 *)&call->arg;

	if (ret)
		return ret;
	/* That is what the program gets with the outputs. */
	*member = 0;
	call->until_at = (u64 __user *)((u8 __user *)call->user + at);
	return 0;
}
