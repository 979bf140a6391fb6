// SPDX-License-Identifier: GPL-2.0
/*
 * path_access.c - RDMA READ, RDMA WRITE and atomics on memory that the peer lends
 *
 * Operation. Own memory of an access is room of the kernel's, or pages that are mapped for it, or
 * memory that has a key. What a program's own memory makes others wait for is over before it is
 * submitted, or comes after it has ended. An access that is submitted gets one of the path's
 * *slots*, or waits for its *turn*: its channel's, and then its own in that. When it has a slot its
 * owner is asked where it goes; so what is waiting can still be refused, and is not busy with
 * anything. It ends once, in softirq, and its slot is the next one's. Where the turns of many come
 * to nothing, as their memory is wanted back or their channel has ended, a work item goes on.
 *
 * iWARP. What an RDMA READ gives is written by the peer, under a key: the memory is registered
 * for that, and the access ends with the end of the registration.
 *
 * Error handling. An access whose work requests may be queued although they have failed ends
 * when the path is drained. So does one whose completion never comes, as siw may lose the last
 * when its device goes (seen with 6.12).
 *
 * Ownership. An access is a user of the path from rch_access_open() to its end. Before and
 * after that its owner may have to wait for a program's memory, for as long as that pleases, and
 * the path does not wait for him. When the path is destroyed it takes its resources back from
 * accesses that were got. These are *orphans* then: only the bytes that they have read are of use.
 * The path keeps some that were put, to be got again: their room stays mapped.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "path/path.h"
#include "path/path_rdma.h"

static const u32 rooms[RCH_ACCESS_CLASSES] = {
	[RCH_ACCESS_SMALL] = 512,
	[RCH_ACCESS_PAGE] = 4096,
	[RCH_ACCESS_LARGE] = RCH_ACCESS_ROOM,
};

static_assert(RCH_WRITE_SGES <= RCH_ACCESS_SGES, "an access has room for what is posted");

static bool path_access_needs_mr(const struct rch_access *access, bool read)
{
	return read && access->iwarp;
}

/* Slots and turns */

/* Frames wait behind what is written. */
static u32 path_access_written(const struct rch_access *access)
{
	return access->read ? 0 : access->length;
}

static bool path_access_has_slot(const struct rch_path *path, const struct rch_access *access)
{
	const struct rch_path_accesses *all = &path->accesses;

	return all->slots < RCH_ACCESSES &&
	       (!all->written || all->written + path_access_written(access) <= RCH_WRITE_BYTES);
}

static void path_access_take_slot(struct rch_path *path, const struct rch_access *access)
{
	lockdep_assert_held(&path->lock);
	path->accesses.slots++;
	path->accesses.written += path_access_written(access);
}

static void path_access_give_slot(struct rch_path *path, const struct rch_access *access)
{
	lockdep_assert_held(&path->lock);
	path->accesses.slots--;
	path->accesses.written -= path_access_written(access);
}

/* The first of the channel whose turn it is, if it can have a slot now. */
static struct rch_access *path_access_next_turn(struct rch_path *path)
{
	struct rch_access *access;
	struct rch_turns *turns;

	lockdep_assert_held(&path->lock);
	turns = list_first_entry_or_null(&path->accesses.turns, struct rch_turns, list);
	if (!turns)
		return NULL;
	access = list_first_entry(&turns->waiting, struct rch_access, list);
	if (!path_access_has_slot(path, access))
		return NULL;
	path_access_take_slot(path, access);
	list_del_init(&access->list);
	access->turns = NULL;
	if (list_empty(&turns->waiting))
		list_del_init(&turns->list);
	else
		list_move_tail(&turns->list, &path->accesses.turns);
	return access;
}

/* Return: 0, or that its owner will not have that. */
static int path_access_wait_turn(struct rch_path *path, struct rch_access *access,
				 struct rch_turns *turns)
{
	int ret;

	lockdep_assert_held(&path->lock);
	ret = access->ops->wait(access);
	if (ret)
		return ret;
	list_add_tail(&access->list, &turns->waiting);
	access->turns = turns;
	access->waited = true;
	if (list_empty(&turns->list))
		list_add_tail(&turns->list, &path->accesses.turns);
	return 0;
}

static bool path_access_is_atomic(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * An adapter that says that it does atomic operations may refuse them; or its driver does so, when
 * it is the kernel that asks. Return: -ENOTCONN when it will not be done, or -EOPNOTSUPP when it is
 * refused so; 0, then it ends by itself.
 */
static int path_access_post(struct rch_path *path, struct rch_access *access,
			    const struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = NULL;
	int ret = -ENOTCONN, failed = 0;

	spin_lock_bh(&path->lock);
	if (!path->stopped) {
		failed = ib_post_send(path->id->qp, first, &bad);
		ret = path_access_is_atomic(first) && rch_io_refused(first, bad, failed) ?
		      -EOPNOTSUPP : 0;
	}
	if (!ret) {
		rch_path_tail_posted(path);
		if (list_empty(&path->accesses.under_way))
			path->accesses.since = jiffies;
		list_add_tail(&access->list, &path->accesses.under_way);
		WRITE_ONCE(access->posted, true);
		/* It cannot end before this: that takes the lock. */
		if (access->waited)
			access->ops->posted(access);
	}
	spin_unlock_bh(&path->lock);
	if (failed && !ret) {
		rch_path_post_failed(path, failed);
		path->ops->down(path);
	}
	return ret;
}

/* Open own memory first. */
static struct ib_send_wr *path_access_open_first(struct rch_access *access, struct ib_send_wr *wr)
{
	ib_update_fast_reg_key(access->mr, ib_inc_rkey(access->mr->rkey));
	access->reg = (struct ib_reg_wr) {
		.wr.wr_cqe = &access->quiet,
		.wr.opcode = IB_WR_REG_MR,
		.wr.next = wr,
		.mr = access->mr,
		.key = access->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	access->sges->lkey = access->mr->lkey;
	access->opened = true;
	access->closing = false;
	return &access->reg.wr;
}

static int path_access_begin(struct rch_path *path, struct rch_access *access)
{
	struct ib_send_wr *wr = &access->wr.rdma.wr;
	int ret = access->ops->begin(access);

	if (ret)
		return ret;
	wr->wr_cqe = &access->cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	wr->sg_list = access->sges;
	wr->num_sge = access->sge_count;
	return path_access_post(path, access, access->by_mr ? path_access_open_first(access, wr) :
				wr);
}

static void path_access_close_memory(struct rch_path *path, struct rch_access *access)
{
	if (access->key)
		return;
	if (access->room)
		ib_dma_sync_single_for_cpu(path->dev, sg_dma_address(access->sg),
					   access->length, access->direction);
	else
		ib_dma_unmap_sg(path->dev, access->sg, access->sg_count, access->direction);
}

/* It has ended; the owner may free it. */
static void path_access_finish(struct rch_path *path, struct rch_access *access, int ret)
{
	path_access_close_memory(path, access);
	access->ops->end(access, ret);
	rch_path_leave(path);
}

/*
 * Slots are free, and those that wait are the work item's to see to. Each of them is a user of the
 * path. So there is one, and the path is not destroyed yet, also where it was stopped already: then
 * the work item finds that of each, or rch_accesses_end() does.
 */
static void path_access_put_off(struct rch_path *path)
{
	lockdep_assert_held(&path->lock);
	if (list_empty(&path->accesses.turns) || path->accesses.put_off)
		return;
	path->accesses.put_off = true;
	path->users++;
	atomic_inc(&rch_counts.put_off);
	queue_work(rch_wq, &path->accesses.work);
}

/* @access has a slot, if it is one. Where it comes to nothing the next ones get that. */
static void path_access_use_slots(struct rch_path *path, struct rch_access *access)
{
	struct rch_access *next;
	u32 failed = 0;
	int ret;

	for (; access; access = next) {
		ret = path_access_begin(path, access);
		/* A thread that comes to wait meanwhile does so for those that are under way. */
		if (!ret && list_empty_careful(&path->accesses.turns))
			break;
		next = NULL;
		spin_lock_bh(&path->lock);
		if (ret)
			path_access_give_slot(path, access);
		if (ret && (++failed == RCH_TURNS_AT_ONCE || path->accesses.put_off))
			path_access_put_off(path);
		else
			next = path_access_next_turn(path);
		spin_unlock_bh(&path->lock);
		if (ret)
			path_access_finish(path, access, ret);
	}
}

/* Return: NULL when nobody waits, or those that have the slots will give them to those that do. */
static struct rch_access *path_access_next_put_off(struct rch_path *path)
{
	struct rch_access *access;

	spin_lock_bh(&path->lock);
	access = path_access_next_turn(path);
	if (!access)
		path->accesses.put_off = false;
	spin_unlock_bh(&path->lock);
	return access;
}

/* Whoever comes meanwhile waits behind those that do. Other work has its turn now and then. */
static void rch_accesses_work(struct work_struct *work)
{
	struct rch_path *path = container_of(work, struct rch_path, accesses.work);
	struct rch_access *access;
	u32 turns;
	int ret;

	for (turns = 0; turns < RCH_TURNS_AT_ONCE; turns++) {
		access = path_access_next_put_off(path);
		if (!access) {
			rch_path_leave(path);
			return;
		}
		ret = path_access_begin(path, access);
		if (!ret)
			continue;
		spin_lock_bh(&path->lock);
		path_access_give_slot(path, access);
		spin_unlock_bh(&path->lock);
		path_access_finish(path, access, ret);
	}
	atomic_inc(&rch_counts.put_off);
	queue_work(rch_wq, work);
}

/**
 * rch_access_submit - have an access done
 * @access: open, with its owner's members set
 * @turns: of its channel; the owner sees to it that they stay
 *
 * Any context. @access->ops tells when it has ended, perhaps before this returns.
 * Return: 0; or what its owner says of having to wait: it is not open any more, and does not end.
 */
int rch_access_submit(struct rch_access *access, struct rch_turns *turns)
{
	struct rch_path *path = access->path;
	int ret = 0;
	bool slot;

	access->posted = false;
	access->waited = false;
	access->ended = false;
	spin_lock_bh(&path->lock);
	/* Where it was stopped, that is found out at once: nobody gives up a slot any more. */
	slot = path->stopped ||
	       (path_access_has_slot(path, access) && list_empty(&path->accesses.turns));
	if (slot)
		path_access_take_slot(path, access);
	else
		ret = path_access_wait_turn(path, access, turns);
	spin_unlock_bh(&path->lock);
	if (slot)
		path_access_use_slots(path, access);
	if (ret) {
		path_access_close_memory(path, access);
		rch_path_leave(path);
	}
	return ret;
}

/** rch_access_cancel - if it still waits for its turn it ends, with -ECANCELED */
void rch_access_cancel(struct rch_access *access)
{
	struct rch_path *path = access->path;
	struct rch_turns *turns;

	spin_lock_bh(&path->lock);
	turns = access->turns;
	if (turns) {
		list_del_init(&access->list);
		access->turns = NULL;
		if (list_empty(&turns->waiting))
			list_del_init(&turns->list);
	}
	spin_unlock_bh(&path->lock);
	if (turns)
		path_access_finish(path, access, -ECANCELED);
}

/* The adapter is done with it. */
static void path_access_over(struct rch_path *path, struct rch_access *access, int ret)
{
	struct rch_access *next;

	spin_lock_bh(&path->lock);
	list_del_init(&access->list);
	path->accesses.since = jiffies;
	path_access_give_slot(path, access);
	next = path_access_next_turn(path);
	spin_unlock_bh(&path->lock);
	/* We are no user of it any more after this; but it is drained behind us only. */
	path_access_finish(path, access, ret);
	path_access_use_slots(path, next);
}

static void rch_access_quiet_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	rch_io_judge(cq, wc);
}

/* Own memory was read into. Where this fails it ends when the path is drained. */
static void path_access_close_mr(struct rch_path *path, struct rch_access *access)
{
	const struct ib_send_wr *bad;
	int ret = 0;

	access->inv = (struct ib_send_wr) {
		.wr_cqe = &access->cqe,
		.send_flags = IB_SEND_SIGNALED,
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = access->mr->rkey,
	};
	access->closing = true;
	spin_lock_bh(&path->lock);
	if (!path->stopped)
		ret = ib_post_send(path->id->qp, &access->inv, &bad);
	spin_unlock_bh(&path->lock);
	if (!ret)
		return;
	rch_path_post_failed(path, ret);
	path->ops->down(path);
}

static void rch_access_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rch_access *access = container_of(wc->wr_cqe, struct rch_access, cqe);
	struct rch_path *path = cq->cq_context;
	bool ok = wc->status == IB_WC_SUCCESS;

	if (likely(ok))
		rch_path_wc_ok(path, wc);
	else
		rch_path_wc_failed(path, wc, RDMACHAN_OP_ACCESS);
	if (access->by_mr) {
		/* It may be open, and work requests that name it be queued. */
		if (!ok)
			return;
		if (!access->closing) {
			path_access_close_mr(path, access);
			return;
		}
		access->opened = false;
	}
	path_access_over(path, access, ok ? 0 : -ENOTCONN);
}

static struct rch_access *path_access_take_left(struct rch_path *path)
{
	struct rch_access *access;

	spin_lock_bh(&path->lock);
	access = list_first_entry_or_null(&path->accesses.under_way, struct rch_access, list);
	if (access)
		list_del_init(&access->list);
	else
		access = path_access_next_turn(path);
	if (access)
		path_access_give_slot(path, access);
	spin_unlock_bh(&path->lock);
	return access;
}

/** rch_accesses_init - begin; nothing is allocated */
void rch_accesses_init(struct rch_path *path)
{
	int i;

	INIT_WORK(&path->accesses.work, rch_accesses_work);
	INIT_LIST_HEAD(&path->accesses.turns);
	INIT_LIST_HEAD(&path->accesses.under_way);
	INIT_LIST_HEAD(&path->accesses.got);
	for (i = 0; i < RCH_ACCESS_CLASSES; i++)
		INIT_LIST_HEAD(&path->accesses.spare[i]);
}

/** rch_accesses_end - the path is drained: an access that has not ended does so. Process context */
void rch_accesses_end(struct rch_path *path)
{
	struct rch_access *access;

	while ((access = path_access_take_left(path))) {
		path_access_finish(path, access, -ENOTCONN);
		cond_resched();
	}
}

/**
 * rch_accesses_look - called now and then: give the path up if the adapter is stuck
 * @path: path
 * @stood: jiffies that this host has stood still, which do not count
 */
void rch_accesses_look(struct rch_path *path, unsigned long stood)
{
	unsigned long since;
	bool stuck;

	spin_lock_bh(&path->lock);
	since = path->accesses.since + stood;
	path->accesses.since = time_after(since, jiffies) ? jiffies : since;
	stuck = !list_empty(&path->accesses.under_way) &&
		time_after(jiffies, path->accesses.since + path->patience);
	spin_unlock_bh(&path->lock);
	if (stuck)
		rch_io_overdue(path);
}

/* Own memory */

/* Nothing of the device's is left. Atomic, but for the memory region. */
static void path_access_take_device(struct rch_path *path, struct rch_access *access)
{
	if (access->mr)
		ib_dereg_mr(access->mr);
	access->mr = NULL;
	if (access->room)
		ib_dma_unmap_sg(path->dev, access->sg, 1, DMA_BIDIRECTIONAL);
}

static void path_access_free(struct rch_access *access)
{
	kfree(access->room);
	kfree(access);
}

static int path_access_make_room(struct rch_path *path, struct rch_access *access)
{
	u32 size = rooms[access->class];

	if (!size)
		return 0;
	access->room = rch_try(RCH_SITE_WRITE, kmalloc(size, GFP_KERNEL_ACCOUNT));
	if (!access->room)
		return -ENOMEM;
	sg_init_one(access->sg, access->room, size);
	access->sg_count = 1;
	if (ib_dma_map_sg(path->dev, access->sg, 1, DMA_BIDIRECTIONAL) == 1)
		return 0;
	kfree(access->room);
	access->room = NULL;
	return -ENOMEM;
}

static struct rch_access *path_access_make(struct rch_path *path, enum rch_access_class class)
{
	u32 count = class == RCH_ACCESS_REGION ? RCH_ACCESS_SGES : 1;
	size_t each = sizeof(struct ib_sge) + sizeof(struct page *);
	struct rch_access *access;

	access = rch_try(RCH_SITE_WRITE, kzalloc(struct_size(access, sg, count) + count * each,
						 GFP_KERNEL_ACCOUNT));
	if (!access)
		return NULL;
	access->path = path;
	access->class = class;
	access->iwarp = rdma_protocol_iwarp(path->dev, path->port);
	if (rch_path_is_rxe(path))
		access->no_result = get_random_u64();
	access->most = path->accesses.most;
	access->segment_max = rch_mem_segment_max(path->dev);
	access->sges_max[false] = path->writes.sges;
	access->sges_max[true] = access->iwarp ? RCH_ACCESS_SGES :
		clamp_t(u32, path->dev->attrs.max_sge_rd, 1, path->writes.sges);
	access->sges = (struct ib_sge *)&access->sg[count];
	access->pages = (struct page **)&access->sges[count];
	access->cqe.done = rch_access_wc;
	access->quiet.done = rch_access_quiet_wc;
	INIT_LIST_HEAD(&access->list);
	INIT_LIST_HEAD(&access->got);
	if (!path_access_make_room(path, access))
		return access;
	path_access_free(access);
	return NULL;
}

/**
 * rch_access_get - get what an access needs
 * @path: path, whose memory stays
 * @class: which room it has
 *
 * Return: it; or an ERR_PTR(): -ENOTCONN when the path is being taken apart, or -ENOMEM.
 */
struct rch_access *rch_access_get(struct rch_path *path, enum rch_access_class class)
{
	struct rch_access *access;

	if (!rch_path_enter(path))
		return ERR_PTR(-ENOTCONN);
	spin_lock_bh(&path->lock);
	access = list_first_entry_or_null(&path->accesses.spare[class], struct rch_access, list);
	if (access) {
		list_del_init(&access->list);
		path->accesses.spare_count[class]--;
	}
	spin_unlock_bh(&path->lock);
	access = access ?: path_access_make(path, class);
	if (access) {
		spin_lock_bh(&path->lock);
		list_add(&access->got, &path->accesses.got);
		spin_unlock_bh(&path->lock);
	}
	rch_path_leave(path);
	return access ?: ERR_PTR(-ENOMEM);
}

/** rch_access_put - the opposite; it has ended, or was not open. May sleep */
void rch_access_put(struct rch_access *access)
{
	struct rch_path *path = access->path;
	bool orphan, keep = false;

	rch_key_put(access->key);
	access->key = NULL;
	spin_lock_bh(&path->lock);
	orphan = list_empty(&access->got);
	list_del_init(&access->got);
	/* What a drained path has left open is no use for anything. */
	if (!orphan && !access->opened)
		keep = path->accesses.spare_count[access->class] < RCH_ACCESSES;
	if (keep) {
		list_add(&access->list, &path->accesses.spare[access->class]);
		path->accesses.spare_count[access->class]++;
	} else if (!orphan) {
		path->users++;
	}
	spin_unlock_bh(&path->lock);
	if (keep)
		return;
	if (!orphan)
		path_access_take_device(path, access);
	path_access_free(access);
	if (!orphan)
		rch_path_leave(path);
}

/* Make an orphan of one that was got. Return: false when there are none. */
static bool path_access_take_one(struct rch_path *path)
{
	struct rch_access *access;
	struct ib_mr *mr = NULL;

	spin_lock_bh(&path->lock);
	access = list_first_entry_or_null(&path->accesses.got, struct rch_access, got);
	if (access) {
		list_del_init(&access->got);
		mr = access->mr;
		access->mr = NULL;
		/* It may be freed as soon as the lock is. */
		path_access_take_device(path, access);
	}
	spin_unlock_bh(&path->lock);
	if (mr)
		ib_dereg_mr(mr);
	return access;
}

/** rch_path_accesses_free - the path is being destroyed, and has no users */
void rch_path_accesses_free(struct rch_path *path)
{
	struct rch_access *access, *tmp;
	int i;

	while (path_access_take_one(path))
		cond_resched();
	/* A context that has put one just now. */
	wait_event(path->left, !READ_ONCE(path->users));
	for (i = 0; i < RCH_ACCESS_CLASSES; i++) {
		list_for_each_entry_safe(access, tmp, &path->accesses.spare[i], list) {
			list_del(&access->list);
			path_access_take_device(path, access);
			path_access_free(access);
		}
		path->accesses.spare_count[i] = 0;
	}
}

static struct rch_access *path_access_take_spare(struct rch_path *path)
{
	struct rch_access *access = NULL;
	int i;

	spin_lock_bh(&path->lock);
	for (i = 0; !access && i < RCH_ACCESS_CLASSES; i++) {
		access = list_first_entry_or_null(&path->accesses.spare[i], struct rch_access,
						  list);
		if (!access)
			continue;
		list_del(&access->list);
		path->accesses.spare_count[i]--;
	}
	spin_unlock_bh(&path->lock);
	return access;
}

/** rch_accesses_trim - keep none for those to come; by a user of the path */
void rch_accesses_trim(struct rch_path *path)
{
	struct rch_access *access;

	while ((access = path_access_take_spare(path))) {
		path_access_take_device(path, access);
		path_access_free(access);
	}
}

static int path_access_map_mr(struct rch_path *path, struct rch_access *access, u32 count)
{
	unsigned int offset = 0;
	int mapped;

	if (!access->mr) {
		access->mr = rch_try_verb(ib_alloc_mr(path->pd, IB_MR_TYPE_MEM_REG,
						      RCH_ACCESS_PAGES));
		if (IS_ERR(access->mr)) {
			access->mr = NULL;
			return -ENOMEM;
		}
	}
	mapped = ib_map_mr_sg(access->mr, access->sg, count, &offset, PAGE_SIZE);
	if (mapped < 0)
		return mapped;
	if (access->mr->length < access->length)
		return -EINVAL;
	access->by_mr = true;
	access->sges->addr = access->mr->iova;
	access->sges->length = access->length;
	access->sge_count = 1;
	return 0;
}

static void path_access_fill_sges(struct rch_path *path, struct rch_access *access, u32 count)
{
	struct scatterlist *sg;
	u32 i;

	for_each_sg(access->sg, sg, count, i) {
		access->sges[i].addr = sg_dma_address(sg);
		access->sges[i].length = sg_dma_len(sg);
		access->sges[i].lkey = path->pd->local_dma_lkey;
	}
	access->sge_count = count;
}

static int path_access_map_region(struct rch_path *path, struct rch_access *access)
{
	int count = ib_dma_map_sg(path->dev, access->sg, access->sg_count, access->direction);
	int ret = 0;

	if (count <= 0)
		return -ENOMEM;
	if (path_access_needs_mr(access, access->read))
		ret = path_access_map_mr(path, access, count);
	else
		path_access_fill_sges(path, access, count);
	if (ret)
		ib_dma_unmap_sg(path->dev, access->sg, access->sg_count, access->direction);
	return ret;
}

static void path_access_open_key(struct rch_access *access)
{
	access->sges->addr = access->key_address;
	access->sges->length = access->length;
	access->sges->lkey = access->key->piece->mr->lkey;
	access->sge_count = 1;
}

static int path_access_open_memory(struct rch_path *path, struct rch_access *access, bool read)
{
	access->read = read;
	access->direction = read ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	access->by_mr = false;
	if (access->key) {
		path_access_open_key(access);
		return 0;
	}
	if (!access->room)
		return path_access_map_region(path, access);
	/* However the adapter gets at it: path_access_close_memory() is the opposite. */
	ib_dma_sync_single_for_device(path->dev, sg_dma_address(access->sg), access->length,
				      access->direction);
	if (path_access_needs_mr(access, read))
		return path_access_map_mr(path, access, 1);
	path_access_fill_sges(path, access, 1);
	access->sges->length = access->length;
	return 0;
}

/**
 * rch_access_open - let the adapter get at own memory
 * @access: its members length and, where it has no room, sg and sg_count, or key and
 *	key_address, are set
 * @read: the adapter will write to it, else read it
 *
 * Then it must be submitted. Process context; may sleep, but for no program.
 * Return: 0, -ENOMEM or -EINVAL; -ENOTCONN when the path is being taken apart.
 */
int rch_access_open(struct rch_access *access, bool read)
{
	struct rch_path *path = access->path;
	int ret;

	if (!rch_path_enter(path))
		return -ENOTCONN;
	/* The path may have been made anew since. */
	ret = list_empty(&access->got) ? -ENOTCONN : path_access_open_memory(path, access, read);
	if (ret)
		rch_path_leave(path);
	return ret;
}

/** rch_access_room - bytes of room that an access of @class has */
u32 rch_access_room(enum rch_access_class class)
{
	return rooms[class];
}

/** rch_access_class - that of an access of @length bytes by way of room */
enum rch_access_class rch_access_class(u64 length)
{
	if (length <= rooms[RCH_ACCESS_SMALL])
		return RCH_ACCESS_SMALL;
	return length <= rooms[RCH_ACCESS_PAGE] ? RCH_ACCESS_PAGE : RCH_ACCESS_LARGE;
}

static u32 path_access_step(const struct rch_access *access, bool read)
{
	if (path_access_needs_mr(access, read))
		return RCH_ACCESS_SCATTERED;
	return read ? RCH_READ_STEP : RCH_WRITE_STEP;
}

/**
 * rch_access_most - how much one access may move
 * @access: access
 * @read: READ, else WRITE
 * @address: at the peer
 * @length: bytes that are wanted, not 0
 *
 * siw puts a small answer to an RDMA READ behind its header at once, and when the bytes lie in
 * two pages takes the wrong ones (siw_try_1seg(), 6.1 to 7.2). So these are asked for one page
 * after the other. Any context.
 */
u32 rch_access_most(const struct rch_access *access, bool read, u64 address, u32 length)
{
	const u32 page = 4096, small = 256;
	u32 left = page - (address & (page - 1));

	length = min3(length, rooms[access->class] ?: path_access_step(access, read), access->most);
	if (read && length <= small && length > left && path_access_needs_mr(access, read))
		return left;
	return length;
}

/* The access; by the owner, when it is asked to begin */

/** rch_access_move - READ, or WRITE, at @address of the peer, under @rkey */
void rch_access_move(struct rch_access *access, u64 address, u32 rkey)
{
	access->wr.rdma = (struct ib_rdma_wr) {
		.wr.opcode = access->read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
		.remote_addr = address,
		.rkey = rkey,
	};
}

/**
 * rch_access_atomic - an atomic operation; own memory, of 8 bytes, gets what was there before
 * @access: open to be read into
 * @swap: compare and swap, else fetch and add
 * @address: at the peer
 * @rkey: key for it
 * @operand: what to add, or to put there
 * @compare: the value that must be there for that
 */
void rch_access_atomic(struct rch_access *access, bool swap, u64 address, u32 rkey,
		       u64 operand, u64 compare)
{
	access->wr.atomic = (struct ib_atomic_wr) {
		.wr.opcode = swap ? IB_WR_ATOMIC_CMP_AND_SWP : IB_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr = address,
		.compare_add = swap ? compare : operand,
		.swap = swap ? operand : 0,
		.rkey = rkey,
	};
	if (access->no_result)
		*(u64 *)access->room = access->no_result;
}

/**
 * rch_access_lost - whether an atomic operation was done, and its result is lost
 * @access: it has ended, with 0
 *
 * When rxe gets a frame once more that it has had, it acknowledges all up to the last atomic
 * operation behind that. The other end takes this for the end of the operation too, if the answer
 * was lost, or is late (6.1 to 7.2).
 */
bool rch_access_lost(const struct rch_access *access)
{
	if (rch_inject_on() && rch_inject_hits(RCH_FAULT_FORGET, 0, NULL))
		return true;
	return unlikely(access->no_result && *(u64 *)access->room == access->no_result);
}

/* A program's memory, while an access goes on */

/* Neighbours are one element. */
static void path_access_add_page(struct rch_access *access, struct page *page, u32 offset,
				 u32 length)
{
	struct scatterlist *last = access->sg_count ? &access->sg[access->sg_count - 1] : NULL;

	if (last && !offset && page_to_pfn(page) == page_to_pfn(sg_page(last)) +
	    (last->offset + last->length) / PAGE_SIZE) {
		last->length += length;
		return;
	}
	sg_set_page(&access->sg[access->sg_count++], page, length, offset);
}

/*
 * Whether marking the page dirty waits for nobody. A page of a file that is written back is locked
 * for that, and its file system keeps the lock for as long as it takes: one in user space (FUSE)
 * for ever. The thread that unpins serves others. No lock is needed here: a page of memory, shared
 * memory or hugetlbfs does not become one of a file while it is pinned.
 */
static bool path_access_may_dirty(struct page *page)
{
	struct folio *folio = page_folio(page);

	return folio_test_anon(folio) || folio_test_swapbacked(folio) || folio_test_hugetlb(folio);
}

/* Return: whether the adapter may write to all of them; else they are let go. */
static bool path_access_may_write(struct rch_access *access, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!path_access_may_dirty(access->pages[i])) {
			unpin_user_pages(access->pages, count);
			return false;
		}
	return true;
}

/**
 * rch_access_pin_pages - pin pages of the calling program, for one access of an adapter
 * @access: its elements are filled in
 * @addr: where
 * @length: bytes, not 0
 * @write: the adapter will write to it
 *
 * They are few, and pinned while the adapter takes, or until a step before them is over, so no
 * FOLL_LONGTERM is asked for. An owner who is not sure to come then has them charged.
 *
 * Return: how many bytes that is: fewer than @length where there are not enough elements, 0
 * when the memory cannot be pinned, or would be written and is a file's that is written back.
 */
u32 rch_access_pin_pages(struct rch_access *access, unsigned long addr, u32 length, bool write)
{
	u32 offset = offset_in_page(addr), done = 0, n;
	int i, count = min(DIV_ROUND_UP(offset + length, (u32)PAGE_SIZE),
			   access->sges_max[write]);

	count = pin_user_pages_fast(addr & PAGE_MASK, count, write ? FOLL_WRITE : 0,
				    access->pages);
	if (count <= 0 || (write && !path_access_may_write(access, count)))
		return 0;
	access->page_count = count;
	/* It may never be opened, and then must not make dirty what the program may only read. */
	access->read = write;
	sg_init_table(access->sg, count);
	access->sg_count = 0;
	for (i = 0; i < count; i++, done += n, offset = 0) {
		n = min_t(u32, length - done, PAGE_SIZE - offset);
		path_access_add_page(access, access->pages[i], offset, n);
	}
	sg_mark_end(&access->sg[access->sg_count - 1]);
	return done;
}

/** rch_access_unpin_pages - the adapter is done with them, if there are any */
void rch_access_unpin_pages(struct rch_access *access)
{
	if (access->page_count)
		unpin_user_pages_dirty_lock(access->pages, access->page_count, access->read);
	access->page_count = 0;
}
