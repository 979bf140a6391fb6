// SPDX-License-Identifier: GPL-2.0
/*
 * path_mr.c - opens memory to the peer
 *
 * Operation. A region of the path's pool is opened by a fast registration with a new
 * key, and closed by a local invalidation; or by the peer, with the frame that tells what it
 * has written. The first two are work requests of the path's own queue pair: the send
 * queue's order puts the opening before the frame that names the key.
 *
 * Registrar. When a packet was lost, rxe begins again with the oldest work request that
 * is not acknowledged, and does all that follow once more, local ones too (6.1 to 7.2). It finds
 * the key invalid, and the queue pair fails. There the path gets a second queue pair, which sends
 * nothing, for local work requests alone. As no order holds between two queue pairs, whoever opens
 * a region waits for that.
 *
 * Ownership. Pages may be unpinned when no adapter can touch them: after the completion
 * of the invalidation, or the arrival of that frame, of which our own adapter says that it
 * has closed the key. If that fails, the queue pair has failed: then the region is
 * deregistered, but not before the path is drained, because a work request that names it
 * may still be queued. The registrar is not drained: requests that it was given are waited for.
 *
 * rxe does not keep that wholly. Its responder looks at the key of a packet, keeps a reference to
 * the region, and copies. An invalidation by another processor meanwhile only sets the region's
 * state and waits for nobody (rxe_invalidate_mr(), 6.1 to 7.2). So the bytes of one packet of a
 * peer that writes while its key is closed may land afterwards: at the same place of what the
 * region then has for pages, the former ones or those of the next use. An honest peer writes
 * nothing when the key is closed: it has told that it is done, or that it gives the memory back.
 * Deregistering waits for such references, but is a new region for each message and each grant:
 * what the pools here are for. rxe is an adapter to test with, and is left as it is.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/mem.h"
#include "path/path.h"
#include "path/path_rdma.h"

static void rch_mr_quiet_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	rch_io_judge(cq, wc);
}

static void rch_mr_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	rch_io_end(cq, wc, &container_of(wc->wr_cqe, struct rch_mr, cqe)->io);
}

/** rch_path_is_rxe - whether the adapter is rxe, by a user of the path */
bool rch_path_is_rxe(const struct rch_path *path)
{
	if (rch_inject_on() && rch_inject_armed(RCH_FAULT_FOREIGN))
		return false;
	return path->dev->ops.driver_id == RDMA_DRIVER_RXE;
}

/** rch_path_mrs_init - begin; nothing is allocated */
void rch_path_mrs_init(struct rch_path *path)
{
	path->mrs.quiet.done = rch_mr_quiet_wc;
	INIT_LIST_HEAD(&path->mrs.spare);
	mutex_init(&path->mrs.registrar_lock);
}

/* Whatever the peer's host sends to it finds nothing to read, to write or to receive. */
static int path_mr_registrar_start(struct rch_path *path, struct ib_qp *qp)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS };
	struct ib_qp_attr attr = {};
	int i, mask, ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(states); i++) {
		attr.qp_state = states[i];
		ret = rdma_init_qp_attr(path->id, &attr, &mask);
		attr.qp_access_flags = 0;
		attr.dest_qp_num = qp->qp_num;
		ret = ret ?: ib_modify_qp(qp, &attr, mask);
	}
	return ret;
}

static int path_mr_registrar_make(struct rch_path *path)
{
	struct ib_qp_init_attr init = {
		.send_cq = path->cq,
		.recv_cq = path->cq,
		.cap.max_send_wr = RCH_MRS * RCH_MR_WRS + RCH_LEND_WRS,
		.cap.max_recv_wr = 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = path->port,
	};
	struct ib_qp *qp = rch_try_verb(ib_create_qp(path->pd, &init));
	int ret;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = path_mr_registrar_start(path, qp);
	if (ret) {
		ib_destroy_qp(qp);
		return ret;
	}
	path->mrs.registrar = qp;
	return 0;
}

/**
 * rch_registrar_get - make a second queue pair for local work requests, if one is needed
 * @path: path; the caller is a user of it
 *
 * Return: 0 or an error.
 */
int rch_registrar_get(struct rch_path *path)
{
	int ret = 0;

	if (!rch_path_is_rxe(path))
		return 0;
	mutex_lock(&path->mrs.registrar_lock);
	if (!path->mrs.registrar)
		ret = path_mr_registrar_make(path);
	mutex_unlock(&path->mrs.registrar_lock);
	return ret;
}

static struct rch_mr *path_mr_make(struct rch_path *path)
{
	struct rch_mr *mr;
	u32 pages = min(path->dev->attrs.max_fast_reg_page_list_len, RCH_MR_PAGES);

	if (!(path->dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    rch_registrar_get(path))
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
	mr->cqe.done = rch_mr_wc;
	return mr;
}

/** rch_mr_get - take a region, for a user of the path. Return: it, or NULL */
struct rch_mr *rch_mr_get(struct rch_path *path)
{
	struct rch_mr *mr;
	bool make = false;

	spin_lock_bh(&path->lock);
	mr = list_first_entry_or_null(&path->mrs.spare, struct rch_mr, list);
	if (mr)
		list_del(&mr->list);
	else if (path->mrs.count < RCH_MRS)
		make = true;
	path->mrs.count += make;
	if (mr || make)
		rch_keep_take(&path->mrs.keep);
	spin_unlock_bh(&path->lock);
	if (!make)
		return mr;
	mr = path_mr_make(path);
	if (mr)
		return mr;
	spin_lock_bh(&path->lock);
	path->mrs.count--;
	rch_keep_give(&path->mrs.keep);
	spin_unlock_bh(&path->lock);
	return NULL;
}

static void path_mr_inv_init(struct rch_path *path, struct rch_mr *mr)
{
	mr->inv = (struct ib_send_wr) {
		.wr_cqe = &path->mrs.quiet,
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = mr->mr->rkey,
	};
}

static void path_mr_reg_init(struct rch_path *path, struct rch_mr *mr)
{
	mr->reg = (struct ib_reg_wr) {
		.wr.wr_cqe = &path->mrs.quiet,
		.wr.opcode = IB_WR_REG_MR,
		/* Else nothing might retire them, when the peer closes what they open. */
		.wr.send_flags = ++mr->regs % 2 ? 0 : IB_SEND_SIGNALED,
		.mr = mr->mr,
		.key = mr->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
}

/** rch_local_post - post local work requests: REG_MR, LOCAL_INV. As rch_io_post() */
int rch_local_post(struct rch_path *path, const struct ib_send_wr *first, bool may_refuse)
{
	return rch_io_post(path, path->mrs.registrar ?: path->id->qp, first, may_refuse);
}

/* Post a chain; the end of @last will be that of @mr->io. */
static int path_mr_post_signalled(struct rch_path *path, struct rch_mr *mr,
				  struct ib_send_wr *first,
				  struct ib_send_wr *last)
{
	last->wr_cqe = &mr->cqe;
	last->send_flags = IB_SEND_SIGNALED;
	mr->io.ended = false;
	return rch_local_post(path, first, false);
}

/**
 * rch_mr_map - give a memory region the next piece of a range
 * @mr: region that is not in use, or that rch_mr_open_post() closes
 * @pages: of it
 * @cursor: the part that is left of the range, mapped for the device; moved on
 *
 * Return: 0 or an error.
 */
int rch_mr_map(struct ib_mr *mr, unsigned int pages, struct rch_mem_cursor *cursor)
{
	/* siw takes no more elements than it has pages, and then never stops in one. */
	int mapped = ib_map_mr_sg(mr, cursor->sg, min(cursor->left, pages),
				  &cursor->offset, PAGE_SIZE);

	if (mapped < 0)
		return mapped;
	if (!mr->length)
		return -EINVAL;
	cursor->left -= mapped;
	/* Behind the last there is none to go to. */
	while (cursor->left && mapped--)
		cursor->sg = sg_next(cursor->sg);
	return 0;
}

/**
 * rch_mr_open_post - begin to let the peer write to the next piece of a range
 * @path: path
 * @mr: region; it may be open for the piece before, and is closed for that first
 * @cursor: the part that is left of the range, mapped for the path's device; moved on
 * @wait: set when the peer may be told only after the end of @mr->io
 *
 * The addresses are changed while the former key may still be valid. An adapter has its own copy of
 * those, from the registration. rxe has none: until the invalidation is carried out, what the peer
 * writes by the former key lands in the piece before, or in the next. Both are of the same message
 * and stay pinned until the region is given back, and the next is opened for the peer anyway.
 *
 * Return: 0, then address, key and length are those of @mr->mr; or an error.
 */
int rch_mr_open_post(struct rch_path *path, struct rch_mr *mr, struct rch_mem_cursor *cursor,
		     bool *wait)
{
	struct ib_send_wr *first;
	int ret;

	path_mr_inv_init(path, mr);
	ret = rch_mr_map(mr->mr, mr->pages, cursor);
	if (ret)
		return ret;
	ib_update_fast_reg_key(mr->mr, ib_inc_rkey(mr->mr->rkey));
	path_mr_reg_init(path, mr);
	mr->inv.next = &mr->reg.wr;
	first = mr->open ? &mr->inv : &mr->reg.wr;
	/* Even if it fails: it may be open. */
	mr->open = true;
	*wait = path->mrs.registrar;
	return *wait ? path_mr_post_signalled(path, mr, first, &mr->reg.wr) :
		       rch_local_post(path, first, false);
}

/** rch_mr_closed - the peer has closed the region, as our adapter has told */
void rch_mr_closed(struct rch_mr *mr)
{
	mr->open = false;
}

/**
 * rch_mr_close_post - begin to keep the peer out
 * @path: path
 * @mr: open region
 *
 * Return: 0, it is done with the end of @mr->io; or an error: the path has failed.
 */
int rch_mr_close_post(struct rch_path *path, struct rch_mr *mr)
{
	path_mr_inv_init(path, mr);
	return path_mr_post_signalled(path, mr, &mr->inv, &mr->inv);
}

/**
 * rch_mr_give_back - give a region back that is closed, or could not be
 * @path: path; drained, if it could not be closed
 * @mr: region
 * @closed: it is, or never was open
 */
void rch_mr_give_back(struct rch_path *path, struct rch_mr *mr, bool closed)
{
	mr->open = false;
	if (!closed) {
		ib_dereg_mr(mr->mr);
		kfree(mr);
		return;
	}
	spin_lock_bh(&path->lock);
	list_add(&mr->list, &path->mrs.spare);
	rch_keep_give(&path->mrs.keep);
	spin_unlock_bh(&path->lock);
}

/* As the firmware of an adapter may, which has others to serve. */
static void path_mr_stand_still(void)
{
	u32 ms;

	if (rch_inject_on() && rch_inject_hits(RCH_FAULT_SLOW, 0, &ms))
		msleep(ms);
}

/* The one that was not used for the longest time, if the pool has more than @keeps. */
static struct rch_mr *path_mr_spare(struct rch_path *path, u32 keeps)
{
	struct rch_mr *mr = NULL;

	spin_lock_bh(&path->lock);
	if (path->mrs.count - path->mrs.keep.taken > keeps) {
		mr = list_last_entry(&path->mrs.spare, struct rch_mr, list);
		list_del(&mr->list);
		path->mrs.count--;
	}
	spin_unlock_bh(&path->lock);
	return mr;
}

/*
 * Those in the pool are closed: by an invalidation that has completed, or by the peer, which had
 * written there; or they never were open. So the adapter is done with their registration. But its
 * driver may have taken note of nothing since the last completion that it was asked for. When the
 * queue pair fails it may tell of a registration before that as of one that was flushed. That
 * completion is the path's.
 */
static void path_mrs_keep(struct rch_path *path, u32 keeps)
{
	struct rch_mr *mr;

	while ((mr = path_mr_spare(path, keeps))) {
		path_mr_stand_still();
		ib_dereg_mr(mr->mr);
		kfree(mr);
	}
}

/**
 * rch_path_mrs_trim - keep as many regions for those to come as were lately wanted
 * @path: path; the caller is a user of it
 */
void rch_path_mrs_trim(struct rch_path *path)
{
	u32 keeps;

	spin_lock_bh(&path->lock);
	keeps = rch_keep_look(&path->mrs.keep, jiffies_to_msecs(jiffies));
	spin_unlock_bh(&path->lock);
	path_mrs_keep(path, keeps);
}

/** rch_path_mrs_free - the path is being destroyed: drained, and without users */
void rch_path_mrs_free(struct rch_path *path)
{
	if (path->mrs.registrar)
		ib_destroy_qp(path->mrs.registrar);
	path->mrs.registrar = NULL;
	path_mrs_keep(path, 0);
	path->mrs.count = 0;
	path->mrs.keep = (struct rch_keep){};
}
