// SPDX-License-Identifier: GPL-2.0
/*
 * path_pace.c - how much of large messages is under way
 *
 * Operation. pure/pace.h tells how many bytes may be; path_rdma.c asks before it posts a batch, and
 * tells when one has ended. The round trip is measured by an RDMA WRITE of no bytes, as that of
 * path_tail.c, ahead of a batch and when nothing else is under way.
 *
 * Nor is it measured while an access is under way. The acknowledgement would come behind the bytes
 * that a READ fetches. And rxe keeps the length of the newest READ or WRITE for all of them. When a
 * READ comes to it a second time, and a WRITE of no bytes has come between, read_reply() looks for
 * no memory region. rxe then warns in rxe_mr_copy(), and ends the connection.
 *
 * On iWARP a batch has ended when TCP has its bytes, which paces itself; and two queue pairs of one
 * adapter have no wire between them. There nothing is measured, and as much is under way as writers
 * may have.
 *
 * Locking. All of it is protected by path->lock, but that some is read without, for a guess: the
 * lock of path->left, which is held when waiters are woken, is inside path->lock.
 */
#include "base/rch.h"
#include "path/path.h"
#include "path/path_rdma.h"

static u64 path_pace_now(void)
{
	return ktime_to_us(ktime_get());
}

static void rch_path_pace_trip_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_path *path = cq->cq_context;
	struct rch_path_pace *pace = &path->pace;
	u64 now = path_pace_now();

	rch_io_judge(cq, wc);
	spin_lock_bh(&path->lock);
	pace->measures = false;
	if (wc->status == IB_WC_SUCCESS)
		rch_pace_measured(&pace->state, min_t(u64, now - pace->at, U32_MAX), now);
	spin_unlock_bh(&path->lock);
}

/* Where it cannot be posted the path has failed, which the batch behind it finds out. */
static void path_pace_measure(struct rch_path *path, u64 now)
{
	struct rch_path_pace *pace = &path->pace;

	lockdep_assert_held(&path->lock);
	if (pace->measures || !rch_pace_wants_trip(&pace->state, now))
		return;
	if (!list_empty(&path->accesses.under_way)) {
		rch_pace_believe(&pace->state, now);
		return;
	}
	pace->at = now;
	pace->measures = !rch_path_post_nothing(path, &pace->cqe);
}

/** rch_path_pace_begin - the path has a queue pair, on which nothing was posted */
void rch_path_pace_begin(struct rch_path *path)
{
	path->pace.on = !path->leads_here && !rdma_protocol_iwarp(path->dev, path->port);
	path->pace.measures = false;
	path->pace.cqe.done = rch_path_pace_trip_wc;
	rch_pace_init(&path->pace.state);
}

/** rch_path_pace_size - bytes that the next batch may have; a guess. Any context */
u32 rch_path_pace_size(const struct rch_path *path)
{
	const struct rch_pace guess = { .cap = READ_ONCE(path->pace.state.cap) };

	return rch_pace_size(&guess);
}

/**
 * rch_path_pace_may - whether a batch may be posted
 * @path: path
 *
 * If not, @path->left is woken when it is to be tried again. Without the path's lock it is a guess:
 * then a batch more than should may be under way. Context: any, with @path->left locked too.
 */
bool rch_path_pace_may(const struct rch_path *path)
{
	const struct rch_pace guess = {
		.flight = READ_ONCE(path->pace.state.flight),
		.cap = READ_ONCE(path->pace.state.cap),
		.drain = READ_ONCE(path->pace.state.drain),
	};

	return !path->pace.on || rch_pace_may(&guess, rch_pace_size(&guess));
}

/** rch_path_pace_posted - a batch of @bytes is about to be posted. Any context */
void rch_path_pace_posted(struct rch_path *path, struct rch_pace_batch *batch, u32 bytes)
{
	u64 now;

	if (!path->pace.on)
		return;
	now = path_pace_now();
	spin_lock_bh(&path->lock);
	path_pace_measure(path, now);
	rch_pace_posted(&path->pace.state, batch, bytes, now);
	spin_unlock_bh(&path->lock);
}

/** rch_path_pace_dropped - it could not be posted. Any context */
void rch_path_pace_dropped(struct rch_path *path, const struct rch_pace_batch *batch)
{
	if (!path->pace.on)
		return;
	spin_lock_bh(&path->lock);
	rch_pace_dropped(&path->pace.state, batch);
	spin_unlock_bh(&path->lock);
}

/** rch_path_pace_ended - the adapter is done with it; @path->left is woken behind this. Softirq */
void rch_path_pace_ended(struct rch_path *path, const struct rch_pace_batch *batch)
{
	u64 now;

	if (!path->pace.on)
		return;
	now = path_pace_now();
	spin_lock_bh(&path->lock);
	rch_pace_ended(&path->pace.state, batch, now);
	spin_unlock_bh(&path->lock);
}
