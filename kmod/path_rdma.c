// SPDX-License-Identifier: GPL-2.0
/*
 * path_rdma.c - opens memory to the peer, and writes to the peer's
 *
 * Operation. A region is opened by a fast registration with a new key and closed by
 * a local invalidation, both on the path's own queue pair: the send queue's order puts
 * the opening before the frame that names the key. Writes are built from scatterlists
 * that are mapped already and may begin anywhere in an element; that, and no region for
 * them, is why the core's rdma_rw is not used here.
 *
 * Ownership. Pages may be unpinned when no adapter can touch them: after the last
 * completion of a batch of writes; after the completion of the invalidation. If that
 * fails, the queue pair has failed: then the region is deregistered, but not before the
 * path is drained, because a work request that names it may still be queued.
 *
 * Completions. Only the last work request of a batch tells whoever waits. Those before
 * it share a silent completion, for they complete one by one when the queue is flushed,
 * and the memory they are in may be freed as soon as the last has come. siw may lose
 * the last when its device goes (seen with 6.12); but none comes when the path is drained.
 */
#include <linux/slab.h>

#include "inject.h"
#include "mem.h"
#include "path.h"
#include "path_rdma.h"
#include "rch.h"

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

static void wc_quiet(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		rch_path_wc_failed(cq->cq_context, wc, RDMACHAN_OP_SEND);
}

/* Whoever waits may free @io as soon as it has ended, but is a user of the path. */
static void io_end(struct rch_path *path, struct rch_io *io, enum ib_wc_status status)
{
	io->status = status;
	smp_store_release(&io->ended, true); /* pairs with io_ended() */
	wake_up_all(&path->left);
}

static bool io_ended(struct rch_path *path, struct rch_io *io)
{
	/* pairs with io_end(): the status is there */
	return smp_load_acquire(&io->ended) || completion_done(&path->drained);
}

static bool io_wait(struct rch_path *path, struct rch_io *io)
{
	wait_event(path->left, io_ended(path, io));
	return io->ended && io->status == IB_WC_SUCCESS;
}

static void rch_mr_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_mr *mr = container_of(wc->wr_cqe, struct rch_mr, cqe);

	wc_quiet(cq, wc);
	io_end(cq->cq_context, &mr->io, wc->status);
}

static void rch_write_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_write *w = container_of(wc->wr_cqe, struct rch_write, cqe);

	wc_quiet(cq, wc);
	io_end(cq->cq_context, &w->io, wc->status);
}

/*
 * Post a chain. Return: 0; or an error, then nothing of it is queued any more: where
 * part of it was, the path was drained first.
 */
static int post(struct rch_path *path, const struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = first;
	int ret = -ENOTCONN;

	spin_lock_bh(&path->lock);
	if (!path->stopped)
		ret = ib_post_send(path->id->qp, first, &bad);
	spin_unlock_bh(&path->lock);
	if (!ret || (ret == -ENOTCONN && bad == first && READ_ONCE(path->stopped)))
		return ret;
	rch_path_fail(path, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_TRANSPORT, -ret);
	path->ops->down(path);
	wait_for_completion(&path->drained);
	return ret;
}

static struct rch_mr *mr_make(struct rch_path *path)
{
	struct rch_mr *mr;
	u32 pages = min(path->dev->attrs.max_fast_reg_page_list_len, RCH_MR_PAGES);

	if (!(path->dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return NULL;
	mr = rch_try(RCH_SITE_REGION, kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT));
	if (!mr)
		return NULL;
	mr->pages = pages;
	mr->mr = rch_try_verb(ib_alloc_mr(path->pd, IB_MR_TYPE_MEM_REG, pages));
	if (IS_ERR(mr->mr)) {
		kfree(mr);
		return NULL;
	}
	mr->quiet.done = wc_quiet;
	mr->cqe.done = rch_mr_wc;
	return mr;
}

/** rch_mr_get - take a region, for a user of the path. Return: it, or NULL */
struct rch_mr *rch_mr_get(struct rch_path *path)
{
	struct rch_mr *mr;
	bool make = false;

	spin_lock_bh(&path->lock);
	mr = list_first_entry_or_null(&path->mrs, struct rch_mr, list);
	if (mr)
		list_del(&mr->list);
	else if (path->mr_count < RCH_MRS)
		make = true;
	path->mr_count += make;
	spin_unlock_bh(&path->lock);
	if (!make)
		return mr;
	mr = mr_make(path);
	if (mr)
		return mr;
	spin_lock_bh(&path->lock);
	path->mr_count--;
	spin_unlock_bh(&path->lock);
	return NULL;
}

static void inv_init(struct rch_mr *mr)
{
	mr->inv = (struct ib_send_wr) {
		.wr_cqe = &mr->quiet,
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = mr->mr->rkey,
	};
}

static int map_some(struct rch_mr *mr, struct rch_mem_cursor *cursor)
{
	/* siw takes no more elements than it has pages, and then never stops in one. */
	int mapped = ib_map_mr_sg(mr->mr, cursor->sg, min(cursor->left, mr->pages),
				  &cursor->offset, PAGE_SIZE);

	if (mapped < 0)
		return mapped;
	if (!mr->mr->length)
		return -EINVAL;
	cursor->left -= mapped;
	while (mapped--)
		cursor->sg = sg_next(cursor->sg);
	return 0;
}

/**
 * rch_mr_open - let the peer write to the next piece of a range
 * @path: path
 * @mr: region; it may be open for the piece before, and is closed for that first
 * @cursor: what is left of the range, mapped for the path's device; moved on
 *
 * Return: 0, then address, key and length are those of @mr->mr; or an error.
 */
int rch_mr_open(struct rch_path *path, struct rch_mr *mr, struct rch_mem_cursor *cursor)
{
	bool was = mr->open;
	int ret;

	inv_init(mr);
	ret = map_some(mr, cursor);
	if (ret)
		return ret;
	ib_update_fast_reg_key(mr->mr, ib_inc_rkey(mr->mr->rkey));
	mr->reg = (struct ib_reg_wr) {
		.wr.wr_cqe = &mr->quiet,
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr->mr,
		.key = mr->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	mr->inv.next = &mr->reg.wr;
	ret = post(path, was ? &mr->inv : &mr->reg.wr);
	mr->open = mr->open || !ret;
	return ret;
}

static bool mr_close(struct rch_path *path, struct rch_mr *mr)
{
	inv_init(mr);
	mr->inv.wr_cqe = &mr->cqe;
	mr->inv.send_flags = IB_SEND_SIGNALED;
	mr->io.ended = false;
	return !post(path, &mr->inv) && io_wait(path, &mr->io);
}

/**
 * rch_mr_put - give a region back
 * @path: path
 * @mr: region, open or not
 *
 * No peer can write to its memory any more when this returns.
 */
void rch_mr_put(struct rch_path *path, struct rch_mr *mr)
{
	if (mr->open && !mr_close(path, mr)) {
		wait_for_completion(&path->drained);
		ib_dereg_mr(mr->mr);
		mr->mr = NULL;
	}
	mr->open = false;
	spin_lock_bh(&path->lock);
	if (mr->mr)
		list_add(&mr->list, &path->mrs);
	spin_unlock_bh(&path->lock);
	if (!mr->mr)
		kfree(mr);
}

/** rch_path_mrs_free - the path is being destroyed: drained, and without users */
void rch_path_mrs_free(struct rch_path *path)
{
	struct rch_mr *mr, *tmp;

	list_for_each_entry_safe(mr, tmp, &path->mrs, list) {
		list_del(&mr->list);
		ib_dereg_mr(mr->mr);
		kfree(mr);
	}
	path->mr_count = 0;
}

/** rch_write_get - become one who writes; waits for a turn. Return: what it takes, or NULL */
struct rch_write *rch_write_get(struct rch_path *path)
{
	struct rch_write *w;
	size_t sges = RCH_WRITE_WRS * path->write_sges;

	w = rch_try(RCH_SITE_WRITE, kmalloc(struct_size(w, sges, sges), GFP_KERNEL_ACCOUNT));
	if (!w)
		return NULL;
	w->quiet.done = wc_quiet;
	w->cqe.done = rch_write_wc;
	w->posted = false;
	down(&path->writers);
	return w;
}

/** rch_write_put - the opposite; nothing is under way */
void rch_write_put(struct rch_path *path, struct rch_write *w)
{
	up(&path->writers);
	kfree(w);
}

/* Fill in elements for at most @length bytes. Return: for how many. */
static u32 fill_wr(struct rch_path *path, struct ib_send_wr *wr, struct ib_sge *sge,
		   struct rch_mem_cursor *cursor, u32 length)
{
	u32 filled = 0, n;

	wr->sg_list = sge;
	wr->num_sge = 0;
	while (filled < length && wr->num_sge < path->write_sges) {
		n = min(sg_dma_len(cursor->sg) - cursor->offset, length - filled);
		sge->addr = sg_dma_address(cursor->sg) + cursor->offset;
		sge->length = n;
		sge->lkey = path->pd->local_dma_lkey;
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

/* Post one batch. Return: 0 with the bytes in it in @sent, or an error. */
static int post_batch(struct rch_path *path, struct rch_write *w,
		      struct rch_mem_cursor *cursor, u64 addr, u32 rkey, u32 length,
		      u32 *sent)
{
	struct ib_send_wr *wr = NULL;
	int i, ret;

	*sent = 0;
	for (i = 0; i < RCH_WRITE_WRS && *sent < length; i++) {
		w->wrs[i] = (struct ib_rdma_wr) {
			.wr.wr_cqe = &w->quiet,
			.wr.opcode = IB_WR_RDMA_WRITE,
			.remote_addr = addr + *sent,
			.rkey = rkey,
		};
		if (wr)
			wr->next = &w->wrs[i].wr;
		wr = &w->wrs[i].wr;
		*sent += fill_wr(path, wr, w->sges + i * path->write_sges, cursor,
				 length - *sent);
	}
	wr->wr_cqe = &w->cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	w->io.ended = false;
	ret = post(path, &w->wrs[0].wr);
	w->posted = !ret;
	return ret;
}

/**
 * rch_write_post - write to the peer's memory
 * @path: path
 * @w: nothing is under way
 * @cursor: from where, mapped for the path's device; moved on
 * @addr: address at the peer
 * @rkey: key for it
 * @length: bytes, not 0
 *
 * Waits for all batches but the last, which is under way when this returns 0: frames
 * that are queued from now on arrive behind it.
 */
int rch_write_post(struct rch_path *path, struct rch_write *w,
		   struct rch_mem_cursor *cursor, u64 addr, u32 rkey, u32 length)
{
	u32 sent;
	int ret;

	for (;;) {
		ret = post_batch(path, w, cursor, addr, rkey, length, &sent);
		length -= sent;
		addr += sent;
		if (ret || !length)
			return ret;
		ret = rch_write_wait(path, w);
		if (ret)
			return ret;
	}
}

/** rch_write_wait - wait until what is under way has ended. Return: 0 or -ENOTCONN */
int rch_write_wait(struct rch_path *path, struct rch_write *w)
{
	if (!w->posted)
		return 0;
	w->posted = false;
	return io_wait(path, &w->io) ? 0 : -ENOTCONN;
}
