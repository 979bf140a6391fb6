// SPDX-License-Identifier: GPL-2.0
/*
 * path_lend.c - memory that the peer may read, write and update until it is taken back
 *
 * Operation. A range is divided into pieces, each of which gets a memory region with a key
 * of its own by a fast registration, and loses it by a local invalidation. Both go in
 * batches, one batch at a time; the last of a batch is waited for. The addresses that
 * the peer uses are not ours: piece number i begins at i << shift, and the first one where its
 * first byte is in its page.
 *
 * Addresses. A memory region that has lost its key keeps the addresses that it was given, of memory
 * that may have gone since: without a key the adapter follows none of them. A loan of the same
 * range of the same mapping does not have them put there once more.
 *
 * Ownership. As of path_mr.c: pages may be let go after the invalidation's completion. If it fails
 * the path has failed, and once that is drained the region is deregistered. What rxe may do after
 * it: see path_mr.c.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/mem.h"
#include "path/path.h"
#include "path/path_rdma.h"

/** rch_lend_shift - size of a piece, as a power of two */
u32 rch_lend_shift(const struct rch_path *path)
{
	u32 pages = min(path->dev->attrs.max_fast_reg_page_list_len, RCH_LEND_LARGE);

	return PAGE_SHIFT + ilog2(max(pages, 1U));
}

/** rch_lend_can - whether the adapter can lend memory at all */
bool rch_lend_can(const struct rch_path *path)
{
	return path->dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
}

/** rch_lend_atomics - whether adapters do atomic operations on what is lent. Any context */
bool rch_lend_atomics(const struct rch_path *path)
{
	return READ_ONCE(path->lends.atomics);
}

/** rch_lend_no_atomics - from now on none does, so that this host's kernel has to. Any context */
void rch_lend_no_atomics(struct rch_path *path)
{
	WRITE_ONCE(path->lends.atomics, false);
}

/* One that is in no list, open or not; the adapter does not use it. */
static void path_lend_free(struct rch_lend *piece)
{
	ib_dereg_mr(piece->mr);
	kfree(piece);
}

static void path_lend_spare_del(struct rch_path *path, struct rch_lend *piece)
{
	lockdep_assert_held(&path->lock);
	list_del(&piece->list);
	path->lends.spare_count[piece->small]--;
}

/* One is taken: the last used, or, if this is NULL, one that is to be made. */
static struct rch_lend *path_lend_spare_take(struct rch_path *path, bool small)
{
	struct rch_lend *piece;

	spin_lock_bh(&path->lock);
	piece = list_first_entry_or_null(&path->lends.spare[small], struct rch_lend, list);
	if (piece)
		path_lend_spare_del(path, piece);
	rch_keep_take(&path->lends.keep[small]);
	spin_unlock_bh(&path->lock);
	return piece;
}

/* None could be made. */
static void path_lend_spare_not_taken(struct rch_path *path, bool small)
{
	spin_lock_bh(&path->lock);
	rch_keep_give(&path->lends.keep[small]);
	spin_unlock_bh(&path->lock);
}

/* The one that was not used for the longest time, if there are more than @keeps. */
static struct rch_lend *path_lend_spare_beyond(struct rch_path *path, bool small, u32 keeps)
{
	struct rch_lend *piece = NULL;

	spin_lock_bh(&path->lock);
	if (path->lends.spare_count[small] > keeps) {
		piece = list_last_entry(&path->lends.spare[small], struct rch_lend, list);
		path_lend_spare_del(path, piece);
	}
	spin_unlock_bh(&path->lock);
	return piece;
}

static u32 path_lend_pages_of(const struct rch_path *path, bool small)
{
	u32 large = 1U << (rch_lend_shift(path) - PAGE_SHIFT);

	return small ? min(large, RCH_LEND_SMALL) : large;
}

/** rch_lend_cost - bytes of the kernel's that a memory region for @pages takes. Any context */
u64 rch_lend_cost(const struct rch_path *path, u64 pages)
{
	return RCH_LEND_BYTES +
	       RCH_LEND_PAGE_BYTES * path_lend_pages_of(path,
							pages <= path_lend_pages_of(path, true));
}

static struct rch_lend *path_lend_make(struct rch_path *path, bool small)
{
	struct rch_lend *piece;

	if (rch_registrar_get(path))
		return NULL;
	piece = rch_try(RCH_SITE_REGION, kzalloc(sizeof(*piece), GFP_KERNEL_ACCOUNT));
	if (!piece)
		return NULL;
	piece->small = small;
	piece->pages = path_lend_pages_of(path, small);
	piece->mr = rch_try_verb(ib_alloc_mr(path->pd, IB_MR_TYPE_MEM_REG, piece->pages));
	if (IS_ERR(piece->mr)) {
		kfree(piece);
		return NULL;
	}
	return piece;
}

/**
 * rch_lend_get - get a memory region for a piece
 * @path: path
 * @pages: of what is lent
 *
 * Return: it, not open; or NULL.
 */
struct rch_lend *rch_lend_get(struct rch_path *path, u64 pages)
{
	bool small = pages <= path_lend_pages_of(path, true);
	struct rch_lend *piece = path_lend_spare_take(path, small) ?: path_lend_make(path, small);

	if (!piece)
		path_lend_spare_not_taken(path, small);
	return piece;
}

/** rch_lend_put - give it back, after rch_lend_close() if it was opened */
void rch_lend_put(struct rch_path *path, struct rch_lend *piece)
{
	bool keep = false;

	spin_lock_bh(&path->lock);
	rch_keep_give(&path->lends.keep[piece->small]);
	if (!piece->open && path->lends.spare_count[piece->small] < RCH_LEND_SPARE) {
		list_add(&piece->list, &path->lends.spare[piece->small]);
		path->lends.spare_count[piece->small]++;
		keep = true;
	}
	spin_unlock_bh(&path->lock);
	if (!keep)
		path_lend_free(piece);
}

/** rch_lend_unmap - the adapter does not get at its memory any more */
void rch_lend_unmap(struct rch_lend *piece)
{
	if (piece->key)
		rch_key_release(piece->key);
	else
		rch_mem_unmap(&piece->mem);
	piece->key = NULL;
}

static void path_lend_lends_keep(struct rch_path *path, bool small, u32 keeps)
{
	struct rch_lend *piece;

	while ((piece = path_lend_spare_beyond(path, small, keeps)))
		path_lend_free(piece);
}

/**
 * rch_path_lends_trim - keep as many spare ones as were lately wanted
 * @path: path; the caller is a user of it
 */
void rch_path_lends_trim(struct rch_path *path)
{
	u32 keeps;
	int i;

	for (i = 0; i < ARRAY_SIZE(path->lends.spare); i++) {
		spin_lock_bh(&path->lock);
		keeps = rch_keep_look(&path->lends.keep[i], jiffies_to_msecs(jiffies));
		spin_unlock_bh(&path->lock);
		path_lend_lends_keep(path, i, keeps);
	}
}

/** rch_path_lends_free - free those that are spare: the path is being destroyed, without users */
void rch_path_lends_free(struct rch_path *path)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(path->lends.spare); i++) {
		path_lend_lends_keep(path, i, 0);
		path->lends.keep[i] = (struct rch_keep){};
	}
}

static void rch_lend_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_path *path = cq->cq_context;

	/* Those before the last complete only with errors. */
	if (wc->wr_cqe == &path->lends.cqe[0])
		rch_io_judge(cq, wc);
	else
		rch_io_end(cq, wc, &path->lends.io);
}

/*
 * Post a chain, and wait for its end. Return: 0; -EOPNOTSUPP, with @may_refuse: the adapter does
 * not do this; or an error: the path has failed.
 */
static int path_lend_run_batch(struct rch_path *path, struct ib_send_wr *first,
			       struct ib_send_wr *last,
			       bool may_refuse)
{
	lockdep_assert_held(&path->lends.lock);
	path->lends.cqe[0].done = rch_lend_wc;
	path->lends.cqe[1].done = rch_lend_wc;
	last->next = NULL;
	last->wr_cqe = &path->lends.cqe[1];
	last->send_flags = IB_SEND_SIGNALED;
	path->lends.io.ended = false;
	return rch_local_post(path, first, may_refuse) ?: rch_io_wait(path, &path->lends.io);
}

static int path_lend_access_flags(u32 rights)
{
	int access = 0;

	if (rights & RDMACHAN_RIGHT_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (rights & RDMACHAN_RIGHT_WRITE)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	if (rights & RDMACHAN_RIGHT_BY_DEVICE)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	if (rights & RCH_RIGHT_LOCAL)
		access |= IB_ACCESS_LOCAL_WRITE;
	return access;
}

/* Piece number @index begins where the peer will look for it, and ends so too. */
static int path_lend_place_piece(struct rch_lend *piece, u32 index, bool last, u32 shift)
{
	struct ib_mr *mr = piece->mr;
	u64 begin = (u64)index << shift;

	if (!index)
		begin = offset_in_page(mr->iova);
	else if (offset_in_page(mr->iova))
		return -EINVAL;
	mr->iova = begin;
	return last || begin + mr->length == (u64)(index + 1) << shift ? 0 : -EINVAL;
}

static bool path_lend_same_place(const struct rch_mem_cursor *a, const struct rch_mem_cursor *b)
{
	return a->sg == b->sg && a->left == b->left && a->offset == b->offset;
}

/*
 * A mapping lives as long as the key that it is of, whose number no other has: the addresses of
 * one with the same number are what they were.
 */
static int path_lend_map_piece(struct rch_lend *piece)
{
	struct rch_mem_cursor cursor = piece->begin;
	u64 number = piece->key ? piece->key->number : 0;
	int ret;

	if (number && piece->held_of == number && path_lend_same_place(&piece->held, &piece->begin))
		return 0;
	piece->held_of = 0;
	ret = rch_mr_map(piece->mr, piece->pages, &cursor);
	if (ret)
		return ret;
	piece->held = piece->begin;
	piece->held_of = number;
	return 0;
}

static void path_lend_reg_init(struct rch_path *path, struct rch_lend *piece, u32 rights)
{
	ib_update_fast_reg_key(piece->mr, ib_inc_rkey(piece->mr->rkey));
	piece->wr.reg = (struct ib_reg_wr) {
		.wr.wr_cqe = &path->lends.cqe[0],
		.wr.opcode = IB_WR_REG_MR,
		.mr = piece->mr,
		.key = piece->mr->rkey,
		.access = path_lend_access_flags(rights),
	};
}

static void path_lend_inv_init(struct rch_path *path, struct rch_lend *piece)
{
	piece->wr.inv = (struct ib_send_wr) {
		.wr_cqe = &path->lends.cqe[0],
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = piece->mr->rkey,
	};
}

/*
 * An adapter that says that it does atomic operations may refuse to register memory for them.
 * Return: 0, or an error; those that may be open are marked so.
 */
static int path_lend_open_batch(struct rch_path *path, struct rch_lend **pieces, u32 count,
				u32 rights)
{
	bool may_refuse = rights & RDMACHAN_RIGHT_BY_DEVICE;
	int ret;
	u32 i;

	for (i = 0; i < count; i++) {
		path_lend_reg_init(path, pieces[i], rights);
		if (i)
			pieces[i - 1]->wr.reg.wr.next = &pieces[i]->wr.reg.wr;
		pieces[i]->open = true;
	}
	ret = path_lend_run_batch(path, &pieces[0]->wr.reg.wr, &pieces[count - 1]->wr.reg.wr,
				  may_refuse);
	if (!may_refuse || ret != -EOPNOTSUPP)
		return ret;
	for (i = 0; i < count; i++)
		pieces[i]->open = false;
	rch_lend_no_atomics(path);
	return ret;
}

static int path_lend_close_batch(struct rch_path *path, struct rch_lend **pieces, u32 count)
{
	struct ib_send_wr *first = NULL, *last = NULL;
	int ret;
	u32 i;

	for (i = 0; i < count; i++) {
		if (!pieces[i]->open)
			continue;
		path_lend_inv_init(path, pieces[i]);
		if (last)
			last->next = &pieces[i]->wr.inv;
		else
			first = &pieces[i]->wr.inv;
		last = &pieces[i]->wr.inv;
	}
	ret = first ? path_lend_run_batch(path, first, last, false) : 0;
	for (i = 0; !ret && i < count; i++)
		pieces[i]->open = false;
	return ret;
}

/**
 * rch_lend_open - let the peer get at a range
 * @path: path
 * @pieces: regions for it with their memory, not open; rch_lend_close() must follow, even
 *	after an error
 * @count: how many
 * @shift: size of a piece
 * @rights: enum rdmachan_right, or RCH_RIGHT_LOCAL
 *
 * Return: 0, then the key of each is in its region; -EOPNOTSUPP, and rch_lend_atomics() is false:
 * the adapter does not do the atomic operations that it was to do; or an error.
 */
int rch_lend_open(struct rch_path *path, struct rch_lend **pieces, u32 count, u32 shift,
		  u32 rights)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < count; i++)
		ret = path_lend_map_piece(pieces[i]) ?:
		      path_lend_place_piece(pieces[i], i, i + 1 == count, shift);
	mutex_lock(&path->lends.lock);
	for (i = 0; !ret && i < count; i += RCH_LEND_WRS)
		ret = path_lend_open_batch(path, pieces + i, min(count - i, RCH_LEND_WRS), rights);
	mutex_unlock(&path->lends.lock);
	return ret;
}

/**
 * rch_lend_close - keep the peer out
 * @path: path
 * @pieces: regions of a range
 * @count: how many
 *
 * Waits for nobody but the adapter. The peer cannot get at the range any more when this
 * returns: by their invalidation, or, where that has failed, because the path is drained.
 */
void rch_lend_close(struct rch_path *path, struct rch_lend **pieces, u32 count)
{
	u32 i, end;

	mutex_lock(&path->lends.lock);
	for (i = 0; i < count; i = end) {
		end = min(i + RCH_LEND_WRS, count);
		if (path_lend_close_batch(path, pieces + i, end - i))
			break;
	}
	mutex_unlock(&path->lends.lock);
	if (i < count)
		wait_for_completion(&path->drained);
}
