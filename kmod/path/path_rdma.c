// SPDX-License-Identifier: GPL-2.0
/*
 * path_rdma.c - users of a path, and RDMA WRITE to the peer's memory
 *
 * Operation. Writes are built from scatterlists that are mapped already and may begin
 * anywhere in an element; that, and no region for them, is why the core's rdma_rw is not
 * used here.
 *
 * Completions. Only the last work request of a batch tells whoever waits. Those before
 * it share a silent completion, for they complete one by one when the queue is flushed,
 * and the memory they are in may be freed as soon as the last has come. The last may be lost by siw
 * when its device goes (seen with 6.12); but none comes when the path is drained.
 *
 * Ownership. Pages may be unpinned after the last completion of a batch.
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/mem.h"
#include "path/path.h"
#include "path/path_rdma.h"

/* Bytes of a message of the port's: a frame is one, and fits. */
static u32 path_rdma_port_most(struct rch_path *path)
{
	struct ib_port_attr attr;

	if (ib_query_port(path->dev, path->port, &attr) || !attr.max_msg_sz)
		return RCH_READ_STEP;
	return max(attr.max_msg_sz, path->frame_size);
}

/** rch_path_sizes - settle what a work request may have, by what the adapter can. May sleep */
void rch_path_sizes(struct rch_path *path)
{
	u32 most = path_rdma_port_most(path);

	path->accesses.most = most;
	path->writes.bytes = min(most, RCH_WRITE_WR_BYTES);
	path->writes.sges = min(path->dev->attrs.max_send_sge, RCH_WRITE_SGES);
	path->writes.flags = rdma_protocol_iwarp(path->dev, path->port) ? IB_SEND_SIGNALED : 0;
}

/** rch_path_enter - become a user. Return: false when the path is being taken apart */
bool rch_path_enter(struct rch_path *path)
{
	bool ok;

	spin_lock_bh(&path->lock);
	ok = !path->stopped && path->id && path->id->qp;
	if (ok)
		path->users++;
	spin_unlock_bh(&path->lock);
	return ok;
}

/** rch_path_leave - be a user no more; nothing of the path may be touched after this */
void rch_path_leave(struct rch_path *path)
{
	spin_lock_bh(&path->lock);
	if (!--path->users)
		wake_up_all(&path->left);
	spin_unlock_bh(&path->lock);
}

/** rch_io_judge - look at a completion that nobody waits for */
void rch_io_judge(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status == IB_WC_SUCCESS)
		rch_path_wc_ok(cq->cq_context, wc);
	else
		rch_path_wc_failed(cq->cq_context, wc, RDMACHAN_OP_SEND);
}

/**
 * rch_io_end - a completion has come that somebody waits for
 * @cq: as the core has given it
 * @wc: likewise
 * @io: may be freed by whoever waits; but that one is a user of the path
 */
void rch_io_end(struct ib_cq *cq, struct ib_wc *wc, struct rch_io *io)
{
	struct rch_path *path = cq->cq_context;

	rch_io_judge(cq, wc);
	io->status = wc->status;
	smp_store_release(&io->ended, true); /* pairs with rch_io_over() */
	wake_up_all(&path->left);
}

/** rch_io_over - whether it has come, or will not any more */
bool rch_io_over(struct rch_path *path, struct rch_io *io)
{
	/* pairs with rch_io_end(): the status is there */
	if (smp_load_acquire(&io->ended))
		return true;
	/* A registrar is not drained, and loses nothing. */
	return !path->mrs.registrar && completion_done(&path->drained);
}

/** rch_io_ok - of one that is over: whether all has gone well */
bool rch_io_ok(const struct rch_io *io)
{
	return io->ended && io->status == IB_WC_SUCCESS;
}

/**
 * rch_io_overdue - it has not come for @path->patience: the path is given up
 * @path: path. rch_io_over() will be true when it is drained
 */
void rch_io_overdue(struct rch_path *path)
{
	rch_path_fail(path, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_TRANSPORT, ETIMEDOUT);
	path->ops->down(path);
}

/* Return: whether it is over, or else late. */
static bool path_rdma_await(struct rch_path *path, struct rch_io *io)
{
	unsigned long due;

	do {
		due = jiffies + path->patience;
		if (wait_event_timeout(path->left, rch_io_over(path, io), path->patience))
			return true;
	} while (rch_overslept(due, path->patience));
	return false;
}

/**
 * rch_io_wait - wait for a completion
 * @path: path
 * @io: that of it
 *
 * Nobody can be let go before, killed or not: the adapter has his memory. But a peer that
 * is alive and does not acknowledge loses its path.
 * Return: 0 or -ENOTCONN.
 */
int rch_io_wait(struct rch_path *path, struct rch_io *io)
{
	if (!path_rdma_await(path, io)) {
		rch_io_overdue(path);
		wait_event(path->left, rch_io_over(path, io));
	}
	return rch_io_ok(io) ? 0 : -ENOTCONN;
}

/**
 * rch_io_refused - whether an adapter does not do such work requests, despite its own words of
 * itself
 * @first: chain that could not be posted
 * @bad: the first of it that was not
 * @ret: why
 *
 * Any context. Return: false also when part of it is queued.
 */
bool rch_io_refused(const struct ib_send_wr *first, const struct ib_send_wr *bad, int ret)
{
	return bad == first && (ret == -EINVAL || ret == -EOPNOTSUPP);
}

/**
 * rch_io_post - post a chain of work requests
 * @path: path
 * @qp: queue pair of it
 * @first: chain
 * @may_refuse: the adapter may not do such work requests
 *
 * Return: 0; -EOPNOTSUPP, with @may_refuse: the adapter does not, and nothing else is wrong; or an
 * error, then nothing of it is queued any more: where part of it was,
 * the path was drained first. That does not drain a registrar, but its queue has room for
 * all that can be posted, so it takes all or, being in error, nothing.
 */
int rch_io_post(struct rch_path *path, struct ib_qp *qp, const struct ib_send_wr *first,
		bool may_refuse)
{
	const struct ib_send_wr *bad = first;
	int ret = -ENOTCONN;

	spin_lock_bh(&path->lock);
	if (!path->stopped) {
		ret = ib_post_send(qp, first, &bad);
		rch_path_tail_posted(path);
	}
	spin_unlock_bh(&path->lock);
	if (may_refuse && rch_io_refused(first, bad, ret))
		return -EOPNOTSUPP;
	if (!ret || (ret == -ENOTCONN && bad == first && READ_ONCE(path->stopped)))
		return ret;
	rch_path_post_failed(path, ret);
	path->ops->down(path);
	wait_for_completion(&path->drained);
	return ret;
}

static void rch_write_quiet_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	rch_io_judge(cq, wc);
}

static void rch_write_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_batch *batch = container_of(wc->wr_cqe, struct rch_batch, cqe);

	rch_path_pace_ended(cq->cq_context, &batch->pace);
	rch_io_end(cq, wc, &batch->io);
}

static struct rch_write *path_rdma_write_spare(struct rch_path *path)
{
	struct rch_write *w;

	spin_lock_bh(&path->lock);
	w = list_first_entry_or_null(&path->writes.spare, struct rch_write, list);
	if (w) {
		list_del(&w->list);
		path->writes.spare_count--;
	}
	spin_unlock_bh(&path->lock);
	return w;
}

/** rch_write_get - become a writer, a user of the path. Return: the resources, or NULL */
struct rch_write *rch_write_get(struct rch_path *path)
{
	struct rch_write *w = path_rdma_write_spare(path);
	size_t sges = RCH_WRITE_WRS * path->writes.sges;
	struct rch_batch *batch;

	if (!w) {
		w = rch_try(RCH_SITE_WRITE,
			    kmalloc(struct_size(w, sges, sges), GFP_KERNEL_ACCOUNT));
		if (!w)
			return NULL;
	}
	w->waits = false;
	w->next = 0;
	w->quiet.done = rch_write_quiet_wc;
	for (batch = w->batches; batch < w->batches + RCH_WRITE_BATCHES; batch++) {
		batch->cqe.done = rch_write_wc;
		batch->io.ended = true;
		batch->io.status = IB_WC_SUCCESS;
	}
	return w;
}

/* The writer that is next in the line may have its turn now. */
static void path_rdma_wake_writers(struct rch_path *path)
{
	if (wq_has_sleeper(&path->left))
		wake_up_all(&path->left);
}

static void path_rdma_leave_line(struct rch_path *path, struct rch_write *w)
{
	lockdep_assert_held(&path->lock);
	if (w->waits)
		list_del(&w->list);
	w->waits = false;
}

/** rch_write_put - the opposite, by a user of the path; nothing is under way */
void rch_write_put(struct rch_path *path, struct rch_write *w)
{
	bool waited;

	spin_lock_bh(&path->lock);
	waited = w->waits;
	path_rdma_leave_line(path, w);
	if (path->writes.spare_count < RCH_WRITES_SPARE) {
		list_add(&w->list, &path->writes.spare);
		path->writes.spare_count++;
		w = NULL;
	}
	spin_unlock_bh(&path->lock);
	kfree(w);
	if (waited)
		path_rdma_wake_writers(path);
}

/** rch_path_writes_free - free those that are spare */
void rch_path_writes_free(struct rch_path *path)
{
	struct rch_write *w;

	while ((w = path_rdma_write_spare(path)))
		kfree(w);
}

/* Fill in elements for at most @length bytes. Return: for how many. */
static u32 path_rdma_fill_wr(struct rch_path *path, struct ib_send_wr *wr, struct ib_sge *sge,
			     struct rch_mem_cursor *cursor, u32 length)
{
	u32 filled = 0, n;

	wr->sg_list = sge;
	wr->num_sge = 0;
	while (filled < length && wr->num_sge < path->writes.sges) {
		n = min(sg_dma_len(cursor->sg) - cursor->offset, length - filled);
		sge->addr = sg_dma_address(cursor->sg) + cursor->offset;
		sge->length = n;
		sge->lkey = cursor->lkey ?: path->pd->local_dma_lkey;
		filled += n;
		cursor->offset += n;
		if (cursor->offset == sg_dma_len(cursor->sg)) {
			cursor->sg = sg_next(cursor->sg);
			cursor->offset = 0;
			cursor->left--;
		}
		wr->num_sge++;
		sge++;
	}
	return filled;
}

/**
 * rch_write_some - post one batch of writes to the peer's memory
 * @path: path
 * @w: rch_write_may() go on
 * @cursor: from where, mapped for the path's device; moved on
 * @addr: address at the peer
 * @rkey: key for it
 * @length: bytes, not 0
 * @sent: bytes that are in the batch
 *
 * Its end is waited for by rch_write_over(). Return: 0 or an error; then other batches may be
 * under way still, and rch_write_ok() will be false.
 */
int rch_write_some(struct rch_path *path, struct rch_write *w, struct rch_mem_cursor *cursor,
		   u64 addr, u32 rkey, u32 length, u32 *sent)
{
	struct ib_sge *sges = w->sges + w->next * RCH_BATCH_WRS * path->writes.sges;
	struct rch_batch *batch = &w->batches[w->next];
	struct ib_send_wr *wr = NULL;
	int i, ret;

	*sent = 0;
	length = min(length, rch_path_pace_size(path));
	for (i = 0; i < RCH_BATCH_WRS && *sent < length; i++) {
		batch->wrs[i] = (struct ib_rdma_wr) {
			.wr.wr_cqe = &w->quiet,
			.wr.opcode = IB_WR_RDMA_WRITE,
			.wr.send_flags = path->writes.flags,
			.remote_addr = addr + *sent,
			.rkey = rkey,
		};
		if (wr)
			wr->next = &batch->wrs[i].wr;
		wr = &batch->wrs[i].wr;
		*sent += path_rdma_fill_wr(path, wr, sges + i * path->writes.sges, cursor,
					   min(length - *sent, path->writes.bytes));
	}
	wr->wr_cqe = &batch->cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	batch->io.ended = false;
	rch_path_pace_posted(path, &batch->pace, *sent);
	ret = rch_io_post(path, path->id->qp, &batch->wrs[0].wr, false);
	if (ret) {
		rch_path_pace_dropped(path, &batch->pace);
		batch->io.status = IB_WC_GENERAL_ERR;
		batch->io.ended = true;
	}
	w->next = (w->next + 1) % RCH_WRITE_BATCHES;
	return ret;
}

/**
 * rch_write_may - whether another batch may be posted
 * @path: path
 * @w: its turn has begun
 *
 * One of its batches is over, none has failed, and either none of it is under way or there is room
 * for one more on the wire. So each writer that has its turn goes on, whatever others do. If it may
 * not, @path->left is woken when a batch has ended. Context: any, with @path->left locked too.
 */
bool rch_write_may(const struct rch_path *path, const struct rch_write *w)
{
	bool may = false, idle = true, ended;
	u32 i;

	for (i = 0; i < RCH_WRITE_BATCHES; i++) {
		/* pairs with rch_io_end(): the status is there, and the elements are ours */
		ended = smp_load_acquire(&w->batches[i].io.ended);
		if (ended && !rch_io_ok(&w->batches[i].io))
			return false;
		may |= ended && i == w->next;
		idle &= ended;
	}
	return may && (idle || rch_path_pace_may(path));
}

/** rch_write_over - whether nothing is under way */
bool rch_write_over(struct rch_path *path, struct rch_write *w)
{
	int i;

	for (i = 0; i < RCH_WRITE_BATCHES; i++)
		if (!rch_io_over(path, &w->batches[i].io))
			return false;
	return true;
}

/** rch_write_ok - of one that is over: whether all of its last batches have gone well */
bool rch_write_ok(const struct rch_write *w)
{
	int i;

	for (i = 0; i < RCH_WRITE_BATCHES; i++)
		if (!rch_io_ok(&w->batches[i].io))
			return false;
	return true;
}

/* Whether nobody waits for longer. */
static bool path_rdma_first_in_line(const struct rch_path *path, const struct rch_write *w)
{
	lockdep_assert_held(&path->lock);
	return list_empty(&path->writes.waiting) ||
	       (w->waits && list_is_first(&w->list, &path->writes.waiting));
}

/* Those in the line that wait for room on the wire, and not for a turn, have waited for longer. */
static bool path_rdma_line_lets_pass(const struct rch_path *path, const struct rch_write *w)
{
	lockdep_assert_held(&path->lock);
	return !path->pace.on || path->writes.large >= RCH_WRITERS ||
	       path_rdma_first_in_line(path, w);
}

/* It needs not wait for those that are large, and few work requests are kept for it. */
static bool path_rdma_is_small(const struct rch_path *path, const struct rch_mem_cursor *cursor,
			       u32 length)
{
	return length <= RCH_SMALL_BYTES / RCH_WRITE_WR_BYTES * path->writes.bytes &&
	       cursor->left <= RCH_SMALL_SGES * path->writes.sges;
}

static bool path_rdma_begin_small(struct rch_path *path, struct rch_write *w)
{
	bool ok, others;

	if (!atomic_add_unless(&path->writes.small, 1, RCH_SMALL_WRITERS))
		return false;
	spin_lock_bh(&path->lock);
	ok = rch_path_pace_may(path) && path_rdma_line_lets_pass(path, w);
	others = ok && w->waits;
	if (ok)
		path_rdma_leave_line(path, w);
	spin_unlock_bh(&path->lock);
	if (!ok)
		atomic_dec(&path->writes.small);
	if (others)
		path_rdma_wake_writers(path);
	return ok;
}

/* In the order in which they have come, whoever happens to be awake. */
static bool path_rdma_begin_large(struct rch_path *path, struct rch_write *w)
{
	bool ok, others;

	spin_lock_bh(&path->lock);
	if (!w->waits)
		list_add_tail(&w->list, &path->writes.waiting);
	w->waits = true;
	ok = path->writes.large < RCH_WRITERS && rch_path_pace_may(path) &&
	     path_rdma_first_in_line(path, w);
	if (ok) {
		path_rdma_leave_line(path, w);
		path->writes.large++;
	}
	others = ok && path->writes.large < RCH_WRITERS && rch_path_pace_may(path) &&
		 !list_empty(&path->writes.waiting);
	spin_unlock_bh(&path->lock);
	if (others)
		path_rdma_wake_writers(path);
	return ok;
}

/**
 * rch_write_try_begin - begin to write one range that the peer has opened, if it has its turn
 * @path: path
 * @w: for the range
 * @cursor: from where
 * @length: its bytes
 *
 * Else it is in the line of those that wait: @path->left is woken when it may be tried again, and
 * rch_write_put() takes it out. Return: whether it may; then rch_write_end() is the opposite.
 */
bool rch_write_try_begin(struct rch_path *path, struct rch_write *w,
			 const struct rch_mem_cursor *cursor, u32 length)
{
	w->small = path_rdma_is_small(path, cursor, length) && path_rdma_begin_small(path, w);
	return w->small || path_rdma_begin_large(path, w);
}

/** rch_write_end - leave the turn to others; nothing is under way */
void rch_write_end(struct rch_path *path, const struct rch_write *w)
{
	if (w->small) {
		atomic_dec(&path->writes.small);
	} else {
		spin_lock_bh(&path->lock);
		path->writes.large--;
		spin_unlock_bh(&path->lock);
	}
	path_rdma_wake_writers(path);
}

/** rch_path_keeps - whether rch_path_trim() has anything to do; a racy answer. Any context */
bool rch_path_keeps(const struct rch_path *path)
{
	int i;

	for (i = 0; i < RCH_ACCESS_CLASSES; i++)
		if (!list_empty(&path->accesses.spare[i]))
			return true;
	return !list_empty(&path->mrs.spare) || !list_empty(&path->writes.spare) ||
	       !list_empty(&path->lends.spare[0]) || !list_empty(&path->lends.spare[1]);
}

/**
 * rch_path_trim - what is idle keeps for what may come what was lately wanted, and is dear to make
 * @path: path
 *
 * An adapter's firmware makes and frees memory regions, in up to milliseconds. All else goes.
 *
 * Context: process. Waits for the adapter, whose firmware may take its time.
 */
void rch_path_trim(struct rch_path *path)
{
	if (!rch_path_enter(path))
		return;
	rch_path_mrs_trim(path);
	rch_path_writes_free(path);
	rch_path_lends_trim(path);
	rch_accesses_trim(path);
	rch_path_leave(path);
}
