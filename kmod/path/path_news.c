// SPDX-License-Identifier: GPL-2.0
/*
 * path_news.c - what is found out about a connection: that it has failed, or that it stands
 *
 * Completions, the connection manager, the device and the link find it out, in any context. The
 * first failure is the one that programs are told.
 */
#include "base/rch.h"
#include "path/path.h"

/**
 * rch_path_fail_first - record why the path is unusable, unless that is known
 * @path: path
 * @error: the failure that is to be recorded
 *
 * Context: any. Does not tell the owner. Return: whether it was the first.
 */
bool rch_path_fail_first(struct rch_path *path, const struct rdmachan_error *error)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&path->failure.lock, flags);
	first = !path->failure.failed;
	if (first) {
		path->failure.error = *error;
		smp_store_release(&path->failure.failed, true); /* behind the error */
	}
	spin_unlock_irqrestore(&path->failure.lock, flags);
	return first;
}

/**
 * rch_path_fail - the same, with a cause only
 * @path: path
 * @op: &enum rdmachan_op
 * @cause: &enum rdmachan_cause
 * @detail: belongs to @cause
 */
void rch_path_fail(struct rch_path *path, u32 op, u32 cause, u64 detail)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, op, cause, detail);
	rch_path_fail_first(path, &error);
}

/**
 * rch_path_heard - the peer's first packets have come, so the connection stands
 * @path: path
 *
 * The peer says so too, by its RTU; but that may be lost, and then the connection manager gives
 * the connection up after a while, though it works. Some adapters tell of the first packet, others
 * of none: then a frame tells. iWARP has no such word.
 *
 * Context: any, while the path is not being destroyed.
 */
void rch_path_heard(struct rch_path *path)
{
	if (unlikely(READ_ONCE(path->answer.accepted) && !READ_ONCE(path->answer.event)))
		queue_work(rch_wq, &path->answer.heard_work);
}
