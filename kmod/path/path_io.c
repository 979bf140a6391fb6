// SPDX-License-Identifier: GPL-2.0
/*
 * path_io.c - posting and completions
 *
 * Operation. Frames to send are posted in chains, one doorbell each. Their owner
 * decides which are signalled; a completion stands for all before it. Receive
 * buffers are single frames. When one has been filled and somebody still refers to
 * it, the buffer is handed over with its page and another page takes its place. That is one that
 * was read meanwhile (@handed of the path), or a new one. So a slow reader never holds back the
 * ring.
 *
 * Buffer ownership. A frame to send belongs to the adapter from rch_path_post()
 * until the owner of the path learns of its completion, or the path is drained. A
 * receive page belongs to the adapter from its posting to its completion. It is
 * unmapped before anybody looks at it.
 *
 * Error handling. The first failed completion records the cause and tells the
 * owner; flushed ones tell nothing new. After an error, only wr_cqe and status of a
 * completion are reliable.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/frame.h"
#include "path/path.h"

/**
 * rch_path_wc_ok - a work request has been completed: does the peer's adapter live?
 * @path: path
 * @wc: completion without an error
 *
 * Bytes that were read have come from there. Bytes that were sent or written were acknowledged, but
 * by iWARP: there it is done as soon as TCP has it. Context: softirq.
 */
void rch_path_wc_ok(struct rch_path *path, const struct ib_wc *wc)
{
	switch (wc->opcode) {
	case IB_WC_SEND:
	case IB_WC_RDMA_WRITE:
		if (rdma_protocol_iwarp(path->dev, path->port))
			return;
		break;
	case IB_WC_RDMA_READ:
	case IB_WC_COMP_SWAP:
	case IB_WC_FETCH_ADD:
		break;
	default:
		return;
	}
	WRITE_ONCE(path->answered, jiffies);
}

/** rch_path_wc_failed - a work request has failed; @op: &enum rdmachan_op. Softirq */
void rch_path_wc_failed(struct rch_path *path, struct ib_wc *wc, u32 op)
{
	struct rdmachan_error error = {};

	/* iWARP empties the queues of a refused connection before it says so. */
	if (wc->status == IB_WC_WR_FLUSH_ERR &&
	    READ_ONCE(path->answer.event) == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return;
	/*
	 * iWARP does the same when the peer closes. Elsewhere the peer's end is an event of the
	 * connection manager, and nothing is flushed before: it is this side that has failed.
	 */
	if (wc->status == IB_WC_WR_FLUSH_ERR && rdma_protocol_iwarp(path->dev, path->port)) {
		rch_error_set(&error, op, RDMACHAN_CAUSE_DISCONNECTED, 0);
	} else {
		rch_error_set(&error, op, RDMACHAN_CAUSE_TRANSPORT, 0);
		error.wc_status = wc->status;
		error.vendor_err = wc->vendor_err;
	}
	rch_path_fail_first(path, &error);
	path->ops->down(path);
}

/** rch_path_post_failed - posting has failed with @ret; any context */
void rch_path_post_failed(struct rch_path *path, int ret)
{
	/* siw refuses what it would flush a moment later. */
	if (ret == -ENOTCONN)
		rch_path_fail(path, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_DISCONNECTED, 0);
	else
		rch_path_fail(path, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_TRANSPORT, -ret);
}

static void rch_path_wc_send(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_path *path = cq->cq_context;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		rch_path_wc_failed(path, wc, RDMACHAN_OP_SEND);
		return;
	}
	rch_path_wc_ok(path, wc);
	path->ops->sent(path, container_of(wc->wr_cqe, struct rch_txf, cqe));
}

/* Immediate data or a key was put into the work request by the link. */
static enum ib_wr_opcode path_io_opcode_of(const struct rch_txf *txf)
{
	if (txf->bare)
		return IB_WR_SEND_WITH_IMM;
	return txf->key ? IB_WR_SEND_WITH_INV : IB_WR_SEND;
}

/**
 * rch_path_post - post a chain of frames
 * @path: path
 * @frames: frames linked by @list, to be sent in this order; not empty. They stay in
 *	the list. send_flags is set by the caller
 * @probe: a probe is to follow when they are the last: see path_tail.c
 *
 * Context: any. The caller posts from one context at a time and has not more than
 * @path->send_depth frames posted.
 * Return: 0, or -ENOTCONN when the path is stopped or has failed: the frames are not
 * posted, or will be flushed.
 */
int rch_path_post(struct rch_path *path, struct list_head *frames, bool probe)
{
	const struct ib_send_wr *bad;
	struct rch_txf *txf, *prev = NULL, *first;
	int ret = -ENOTCONN;

	list_for_each_entry(txf, frames, list) {
		txf->sge.addr = ib_dma_map_single(path->dev, txf->data, txf->used,
						  DMA_TO_DEVICE);
		if (ib_dma_mapping_error(path->dev, txf->sge.addr)) {
			rch_path_fail(path, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_RESOURCES,
				      ENOMEM);
			return -ENOTCONN;
		}
		txf->mapped = true;
		txf->sge.length = txf->used;
		txf->sge.lkey = path->pd->local_dma_lkey;
		txf->cqe.done = rch_path_wc_send;
		txf->wr.wr_cqe = &txf->cqe;
		txf->wr.sg_list = &txf->sge;
		txf->wr.num_sge = 1;
		txf->wr.opcode = path_io_opcode_of(txf);
		txf->wr.next = NULL;
		if (prev)
			prev->wr.next = &txf->wr;
		prev = txf;
	}
	first = list_first_entry(frames, struct rch_txf, list);
	spin_lock_bh(&path->lock);
	if (!path->stopped) {
		ret = ib_post_send(path->id->qp, &first->wr, &bad);
		if (probe)
			rch_path_tail_posted(path);
	}
	spin_unlock_bh(&path->lock);
	if (!ret)
		return 0;
	rch_path_post_failed(path, ret);
	return -ENOTCONN;
}

/** rch_path_unmap - the adapter is done with a frame */
void rch_path_unmap(struct rch_path *path, struct rch_txf *txf)
{
	if (!txf->mapped)
		return;
	ib_dma_unmap_single(path->dev, txf->sge.addr, txf->sge.length, DMA_TO_DEVICE);
	txf->mapped = false;
}

static int path_io_rxb_post(struct rch_path *path, struct rch_rxb *rxb)
{
	struct ib_sge sge = {
		.addr = rxb->dma,
		.length = path->frame_size,
		.lkey = path->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &rxb->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret = -ENOTCONN;

	spin_lock_bh(&path->lock);
	if (!path->stopped)
		ret = ib_post_recv(path->id->qp, &wr, NULL);
	spin_unlock_bh(&path->lock);
	return ret;
}

static int path_io_rxb_map(struct rch_path *path, struct rch_rxb *rxb)
{
	rxb->dma = ib_dma_map_page(path->dev, rxb->page, 0, path->frame_size,
				   DMA_FROM_DEVICE);
	return ib_dma_mapping_error(path->dev, rxb->dma) ? -ENOMEM : 0;
}

static void path_io_rxb_unmap(struct rch_path *path, struct rch_rxb *rxb)
{
	ib_dma_unmap_page(path->dev, rxb->dma, path->frame_size, DMA_FROM_DEVICE);
}

static int path_io_rxb_post_page(struct rch_path *path, struct rch_rxb *rxb)
{
	int ret;

	ret = path_io_rxb_map(path, rxb);
	if (ret)
		goto err_page;
	ret = path_io_rxb_post(path, rxb);
	if (ret)
		goto err_map;
	return 0;

err_map:
	path_io_rxb_unmap(path, rxb);
err_page:
	put_page(rxb->page);
	rxb->page = NULL;
	return ret;
}

static int path_io_rxb_fill(struct rch_path *path, struct rch_rxb *rxb, gfp_t gfp)
{
	rxb->page = rch_try(RCH_SITE_PAGE,
			    alloc_pages(gfp | __GFP_COMP | __GFP_NOWARN, path->order));
	return rxb->page ? path_io_rxb_post_page(path, rxb) : -ENOMEM;
}

/*
 * A message lies in @page: remember it, and see whether the oldest one remembered has
 * been read. Allocating a page means clearing it on many kernels; this one need not be.
 * Return: a page that only we refer to, or NULL.
 */
static struct page *path_io_lend(struct rch_path *path, struct page *page)
{
	struct page *oldest = NULL;
	u32 last;

	if (path->handed.count) {
		oldest = path->handed.pages[path->handed.first];
		if (page_count(oldest) != 1 && path->handed.count < path->depth) {
			oldest = NULL;
		} else {
			path->handed.first = (path->handed.first + 1) % path->depth;
			path->handed.count--;
		}
	}
	last = (path->handed.first + path->handed.count++) % path->depth;
	path->handed.pages[last] = page;
	path->handed.at = jiffies;
	if (oldest && page_count(oldest) != 1) {
		put_page(oldest);
		oldest = NULL;
	}
	return oldest;
}

/* None of those that are remembered is waited for any more. */
static void path_io_forget_lent(struct rch_path *path)
{
	while (path->handed.count) {
		put_page(path->handed.pages[path->handed.first]);
		path->handed.first = (path->handed.first + 1) % path->depth;
		path->handed.count--;
	}
}

static void path_io_rxb_give_up(struct rch_path *path, struct rch_rxb *rxb)
{
	spin_lock_bh(&path->lock);
	rxb->vacant = true;
	path->empty++;
	spin_unlock_bh(&path->lock);
}

/*
 * The frame in @rxb has been looked at. If a message still lies in it, it keeps the
 * page and the ring gets another one.
 */
static void path_io_rxb_recycle(struct rch_path *path, struct rch_rxb *rxb)
{
	if (page_count(rxb->page) == 1) {
		/* The peer's heartbeats come here as well, when nothing else does. */
		if (path->handed.count && time_after(jiffies, path->handed.at + HZ))
			path_io_forget_lent(path);
		if (!path_io_rxb_map(path, rxb)) {
			if (!path_io_rxb_post(path, rxb)) {
				path->ops->reposted(path, 1);
				return;
			}
			path_io_rxb_unmap(path, rxb);
		}
	}
	rxb->page = path_io_lend(path, rxb->page);
	if (rxb->page ? !path_io_rxb_post_page(path, rxb) :
	    !path_io_rxb_fill(path, rxb, GFP_ATOMIC)) {
		path->ops->reposted(path, 1);
		return;
	}
	path_io_rxb_give_up(path, rxb);
}

static bool path_io_rxb_claim(struct rch_path *path, struct rch_rxb *rxb)
{
	bool vacant;

	spin_lock_bh(&path->lock);
	vacant = rxb->vacant;
	if (vacant) {
		rxb->vacant = false;
		path->empty--;
	}
	spin_unlock_bh(&path->lock);
	return vacant;
}

static void rch_path_wc_recv(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_rxb *rxb = container_of(wc->wr_cqe, struct rch_rxb, cqe);
	struct rch_path *path = rxb->path;
	struct rch_rxf rxf = { .page = rxb->page, .length = wc->byte_len };

	path_io_rxb_unmap(path, rxb);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		put_page(rxb->page);
		rxb->page = NULL;
		rch_path_wc_failed(path, wc, RDMACHAN_OP_RECV);
		return;
	}
	rch_path_heard(path);
	/* By a write with immediate data comes no frame. */
	if (unlikely(wc->opcode != IB_WC_RECV)) {
		rxf.length = 0;
	} else if (wc->wc_flags & IB_WC_WITH_IMM) {
		rxf.bare = true;
		rxf.imm = be32_to_cpu(wc->ex.imm_data);
	} else if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		rxf.closed = true;
		rxf.key = wc->ex.invalidate_rkey;
	}
	path->ops->received(path, &rxf);
	path_io_rxb_recycle(path, rxb);
}

/**
 * rch_path_refill - replace receive buffers that could not be replaced at once
 * @path: path
 * @gfp: how to allocate
 *
 * Context: as @gfp allows, while the path is not being destroyed. Tells the owner
 * through @ops->reposted.
 */
void rch_path_refill(struct rch_path *path, gfp_t gfp)
{
	u32 i, filled = 0;

	if (likely(!READ_ONCE(path->empty)))
		return;
	for (i = 0; i < path->depth && READ_ONCE(path->empty); i++) {
		struct rch_rxb *rxb = &path->rxb[i];

		if (!path_io_rxb_claim(path, rxb))
			continue;
		if (path_io_rxb_fill(path, rxb, gfp)) {
			path_io_rxb_give_up(path, rxb);
			break;
		}
		filled++;
	}
	if (filled)
		path->ops->reposted(path, filled);
}

/** rch_path_buffers_get - allocate and post all receive buffers; may sleep */
int rch_path_buffers_get(struct rch_path *path)
{
	u32 i;
	int ret;

	path->rxb = rch_try(RCH_SITE_RING, kvcalloc(path->depth, sizeof(*path->rxb), GFP_KERNEL));
	path->handed.pages = rch_try(RCH_SITE_RING,
				     kvcalloc(path->depth, sizeof(struct page *), GFP_KERNEL));
	if (!path->rxb || !path->handed.pages)
		return -ENOMEM;
	for (i = 0; i < path->depth; i++) {
		path->rxb[i].path = path;
		path->rxb[i].cqe.done = rch_path_wc_recv;
		ret = path_io_rxb_fill(path, &path->rxb[i], GFP_KERNEL);
		if (ret)
			return ret;
	}
	return 0;
}

/** rch_path_buffers_put - free all receive buffers; the queue pair is gone */
void rch_path_buffers_put(struct rch_path *path)
{
	u32 i;

	path_io_forget_lent(path);
	path->handed.first = 0;
	kvfree(path->handed.pages);
	path->handed.pages = NULL;
	for (i = 0; path->rxb && i < path->depth; i++) {
		if (!path->rxb[i].page)
			continue;
		/* Never completed: only when the queue pair was never connected. */
		path_io_rxb_unmap(path, &path->rxb[i]);
		put_page(path->rxb[i].page);
	}
	kvfree(path->rxb);
	path->rxb = NULL;
}
