// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_grant.c - GRANT, REVOKE and RELEASE of queues
 *
 * A GRANT is in the line of what is sent on its channel, and is run in a call of the program
 * only, which it tells the numbers of the grants. What the program says is copied when it is
 * run, each time: while one waits it keeps nothing but its channel. A REVOKE waits for the loan
 * that it takes back; that goes on whether or not somebody waits.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "channel/chan.h"
#include "call/call.h"
#include "memory/grant.h"
#include "op/queue_op.h"

/* GRANT */

/** rch_op_grant_prepare - prepare a GRANT */
int rch_op_grant_prepare(struct rch_op *op)
{
	int ret = rch_op_find_chan(op, EPOLLOUT);

	if (!ret)
		op->line.key = rch_op_line_out(op->object);
	return ret;
}

/** rch_op_grant_run - run it */
s64 rch_op_grant_run(struct rch_op *op)
{
	struct rdmachan_grant_args grant;
	struct rch_grant_call *gc;
	int ret;

	ret = rch_op_copy_call(op, &grant, sizeof(grant),
			       offsetofend(struct rdmachan_grant_args, error_ptr));
	if (ret)
		return ret;
	if (grant.flags || grant.timeout_ms || grant.until)
		return -EINVAL;
	gc = rch_grant_call_make(op->object, &grant);
	if (IS_ERR(gc))
		return PTR_ERR(gc);
	ret = rch_grant_call_give(gc, true, 0);
	rch_grant_call_free(gc);
	/* That it is being connected is no reason to fail. */
	return ret == -ENOTCONN ? -EAGAIN : ret;
}

/* REVOKE */

/** rch_op_revoke_prepare - prepare a REVOKE */
int rch_op_revoke_prepare(struct rch_op *op)
{
	return rch_op_find_chan(op, 0);
}

/** rch_op_revoke_run - run it */
s64 rch_op_revoke_run(struct rch_op *op)
{
	struct rch_loan *loan = op->loan;

	if (!loan) {
		loan = rch_loan_revoke_begin(op->object, op->sqe.grant);
		if (IS_ERR_OR_NULL(loan))
			return PTR_ERR_OR_ZERO(loan);
		op->loan = loan;
		rch_queue_await(op, &loan->wait, 0);
	}
	return rch_loan_ended(loan) ? 0 : -EAGAIN;
}

/* RELEASE: behind WRITEs, as messages are */

/** rch_op_release_prepare - prepare a RELEASE */
int rch_op_release_prepare(struct rch_op *op)
{
	int ret = rch_op_find_chan(op, 0);

	if (!ret)
		op->line.key = rch_op_line_out(op->object);
	return ret;
}

/** rch_op_release_run - run it */
s64 rch_op_release_run(struct rch_op *op)
{
	return rch_held_release(op->object, op->sqe.grant);
}

/** rch_op_grant_drop - @op is over, or its queue is */
void rch_op_grant_drop(struct rch_op *op)
{
	if (op->loan)
		rch_loan_put(op->loan);
	op->loan = NULL;
}
