// SPDX-License-Identifier: GPL-2.0
/*
 * path_tail.c - probes behind the last packets of a burst
 *
 * Operation. pure/tail.h tells what probes are for, and when one is due. A probe is an RDMA WRITE
 * of no bytes: it needs neither a receive buffer nor a key (InfiniBand Architecture Specification,
 * volume 1, C9-88), and the peer's adapter acknowledges it. When something before it is missing,
 * the adapter says so instead, and the own one sends that again.
 *
 * No probe follows a request of several packets. With one, rxe may lose its place in such a one
 * when it is sent again while acknowledgements of the first try come (pure/ack.h), and a probe has
 * it sent again soon. Cables that lose 2 % and repeat 1 %, and one of 4 Mbit/s, ended connections.
 *
 * Where packets cannot be lost there are none: on iWARP, whose TCP does the same, and between
 * two queue pairs of one adapter.
 *
 * Ownership. The timer belongs to the path, from rch_path_tail_init() to rch_path_tail_stop(). It
 * takes path->lock, in softirq, and posts nothing when the path is stopped. Probes end as other
 * work requests do, at the latest when the path is drained.
 */
#include "base/rch.h"
#include "path/path.h"

static bool path_tail_writes(const struct rch_path *path)
{
	return READ_ONCE(path->writes.large) || atomic_read(&path->writes.small);
}

/**
 * rch_path_tail_bulk - whether a frame is posted behind bytes of a large message
 * @path: path
 *
 * Its answer may be as large, and then comes long after a probe would be due: the frame's own
 * completion costs less, and comes with that of the bytes. Context: any.
 * Return: whether it is so, and there may be probes; a racy answer.
 */
bool rch_path_tail_bulk(const struct rch_path *path)
{
	return path->tail.on && path_tail_writes(path);
}

/* Whether nothing is missing that a probe may find; a frame of unknown fate counts as missing. */
static bool path_tail_arrived(const struct rch_path *path)
{
	lockdep_assert_held(&path->lock);
	return path_tail_writes(path) || !list_empty(&path->accesses.under_way) ||
	       path->ops->arrived(path);
}

static void rch_path_tail_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_path *path = cq->cq_context;

	rch_io_judge(cq, wc);
	spin_lock_bh(&path->lock);
	if (wc->status == IB_WC_SUCCESS)
		rch_tail_ended(&path->tail.state);
	spin_unlock_bh(&path->lock);
}

/**
 * rch_path_post_nothing - post an RDMA WRITE of no bytes
 * @path: path, its lock held
 * @cqe: its completion, which comes when all that was posted before has arrived
 *
 * The caller has one of RCH_PROBES work requests. Context: any.
 * Return: 0, or an error: the path is stopped, or has failed.
 */
int rch_path_post_nothing(struct rch_path *path, struct ib_cqe *cqe)
{
	const struct ib_rdma_wr probe = {
		.wr.wr_cqe = cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};

	lockdep_assert_held(&path->lock);
	return path->stopped ? -ENOTCONN : ib_post_send(path->id->qp, &probe.wr, NULL);
}

static u64 path_tail_wait(const struct rch_path *path)
{
	lockdep_assert_held(&path->lock);
	return rch_tail_wait(READ_ONCE(path->tail.trip_us), rch_pace_busy(&path->pace.state));
}

static enum hrtimer_restart rch_path_tail_look(struct hrtimer *timer)
{
	struct rch_path *path = container_of(timer, struct rch_path, tail.timer);
	struct rch_tail *tail = &path->tail.state;
	enum rch_tail_step step;
	u64 wait;

	spin_lock(&path->lock);
	wait = path_tail_wait(path);
	step = rch_tail_look(tail, ktime_get_ns(), wait, path_tail_arrived(path));
	/* Where it cannot be posted the path has failed, which others find out. */
	if (step == RCH_TAIL_PROBE && rch_path_post_nothing(path, &path->tail.cqe)) {
		rch_tail_failed(tail);
		step = RCH_TAIL_REST;
	}
	if (step != RCH_TAIL_REST)
		hrtimer_set_expires(timer, ns_to_ktime(rch_tail_due(tail, wait)));
	spin_unlock(&path->lock);
	return step == RCH_TAIL_REST ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

/**
 * rch_path_tail_posted - packets for the peer are being posted
 * @path: path, its lock held, and not stopped
 *
 * Context: any.
 */
void rch_path_tail_posted(struct rch_path *path)
{
	struct rch_tail *tail = &path->tail.state;

	lockdep_assert_held(&path->lock);
	if (path->tail.on && rch_tail_posted(tail, ktime_get_ns()))
		hrtimer_start(&path->tail.timer, ns_to_ktime(rch_tail_due(tail,
									  path_tail_wait(path))),
			      HRTIMER_MODE_ABS_SOFT);
}

/** rch_path_tail_trip - a round trip of late has taken @us microseconds. Any context */
void rch_path_tail_trip(struct rch_path *path, u32 us)
{
	WRITE_ONCE(path->tail.trip_us, us);
}

/** rch_path_tail_init - prepare a path's timer; nothing runs */
void rch_path_tail_init(struct rch_path *path)
{
	path->tail.cqe.done = rch_path_tail_wc;
	hrtimer_setup(&path->tail.timer, rch_path_tail_look, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/** rch_path_tail_begin - the path has a queue pair, on which nothing was posted for the peer */
void rch_path_tail_begin(struct rch_path *path)
{
	path->tail.state = (struct rch_tail){};
	path->tail.trip_us = 0;
	path->tail.on = !path->leads_here && !rdma_protocol_iwarp(path->dev, path->port);
}

/** rch_path_tail_stop - the timer does not run any more; the path is stopped. May sleep */
void rch_path_tail_stop(struct rch_path *path)
{
	hrtimer_cancel(&path->tail.timer);
}
