// SPDX-License-Identifier: GPL-2.0
/*
 * queue_life.c - queues made, described and taken apart
 *
 * Taking apart. The file is closed, so no call of a program runs and none will. First
 * nobody may kick any more, then the timer, the poller and the work end: after that nobody
 * runs operations. Wake-ups still come, until each operation is disarmed. Transfers that
 * operations have begun end by themselves, and hold what they need (place.c), and so do accesses
 * (grant_access.c). A thread of the queue's program waits for those that use plain memory of the
 * program (rch_op_await()).
 */
#include <linux/compat.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "base/inject.h"
#include "base/rch.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "pure/ring.h"
#include "queue/queue.h"

/* Offsets for mmap(); far enough from each other, and small enough for 32-bit programs. */
#define SQ_OFFSET 0
#define CQ_OFFSET 0x10000000

static int queue_life_slots_alloc(struct rch_queue *queue)
{
	u32 count = queue->cq.count, i;

	queue->line_bits = max(ilog2(count), 1);
	queue->lines = rch_try(RCH_SITE_QUEUE,
			       kvcalloc(1 << queue->line_bits, sizeof(*queue->lines),
					GFP_KERNEL_ACCOUNT));
	if (!queue->lines)
		return -ENOMEM;
	queue->slots = rch_try(RCH_SITE_QUEUE, kvcalloc(count, sizeof(*queue->slots),
							GFP_KERNEL_ACCOUNT));
	if (!queue->slots) {
		kvfree(queue->lines);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		struct rch_op *op = queue->slots + i;

		op->queue = queue;
		INIT_LIST_HEAD(&op->all);
		INIT_LIST_HEAD(&op->list);
		INIT_LIST_HEAD(&op->line.others);
		INIT_HLIST_NODE(&op->line.node);
		INIT_LIST_HEAD(&op->fence.others);
		INIT_HLIST_NODE(&op->fence.node);
		init_waitqueue_func_entry(&op->wait, rch_op_wake);
		INIT_LIST_HEAD(&op->wait.entry);
		timerqueue_init(&op->time);
		op->next = queue->free;
		queue->free = op;
	}
	return 0;
}

/* The holder of the last reference may sleep. */
static void queue_free(struct kref *ref)
{
	struct rch_queue *queue = container_of(ref, struct rch_queue, ref);

	rch_letters_free(queue);
	rch_pools_free(queue);
	kvfree(queue->slots);
	kvfree(queue->lines);
	rch_mapping_free(&queue->cq);
	rch_mapping_free(&queue->sq);
	mmdrop(queue->mm);
	rch_regions_put(queue->regions);
	put_net(queue->net);
	rch_charge_end(&queue->charge);
	kfree_rcu(queue, rcu);
}

/** rch_queue_get - keep the memory of a queue, which may be closed. Return: @queue */
struct rch_queue *rch_queue_get(struct rch_queue *queue)
{
	kref_get(&queue->ref);
	return queue;
}

/** rch_queue_put_ref - the opposite. Process context */
void rch_queue_put_ref(struct rch_queue *queue)
{
	kref_put(&queue->ref, queue_free);
}

static bool queue_life_object_get(struct rch_object *obj)
{
	return kref_get_unless_zero(&container_of(obj, struct rch_queue, object)->ref);
}

static void queue_life_object_put(struct rch_object *obj)
{
	kref_put(&container_of(obj, struct rch_queue, object)->ref, queue_free);
}

static void queue_life_object_fill(struct rch_object *obj, struct rdmachan_object *out)
{
	struct rch_queue *queue = container_of(obj, struct rch_queue, object);

	out->state = RDMACHAN_STATE_OPEN;
	out->active = !!queue->poller;
	out->operations = READ_ONCE(queue->under_way);
	out->sq_entries = queue->sq.count;
	out->cq_entries = queue->cq.count;
	out->pools = READ_ONCE(queue->pool_count);
	out->sq_taken = READ_ONCE(queue->taken);
	out->cq_completions = READ_ONCE(queue->completed);
	out->cq_overflows = READ_ONCE(queue->overflows);
}

static const struct rch_object_ops object_ops = {
	.kind = RDMACHAN_KIND_QUEUE,
	.get = queue_life_object_get,
	.put = queue_life_object_put,
	.fill = queue_life_object_fill,
};

static int queue_life_charge(struct rch_queue *queue, const struct rch_charge *owner,
			     u32 sq_entries, u32 cq_entries, struct rdmachan_error *error)
{
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_QUEUES] = 1,
		.of[RDMACHAN_LIMIT_BYTES] =
			PAGE_ALIGN(rch_ring_bytes(sq_entries, sizeof(struct rdmachan_sqe))) +
			PAGE_ALIGN(rch_ring_bytes(cq_entries, sizeof(struct rdmachan_cqe))) +
			(u64)cq_entries * (sizeof(struct rch_op) + sizeof(struct rch_job) +
					   sizeof(struct rch_letter) + sizeof(*queue->lines)),
	};

	rch_charge_begin(&queue->charge, owner->user, owner->exempt);
	return rch_charge_object(&queue->charge, &cost, RDMACHAN_OP_NONE, error);
}

/**
 * rch_queue_create - make a queue for the calling program
 * @net: network namespace
 * @owner: charge of the context it comes from
 * @regions: its regions
 * @ops: the operations
 * @sq_entries: entries of the submission ring, checked
 * @cq_entries: of the completion ring, checked
 * @error: which limit it was, with -EDQUOT, -ENOBUFS and -ENOSPC
 *
 * Return: the queue, or an ERR_PTR(): -ENOMEM, -EDQUOT, -ENOBUFS or -ENOSPC.
 */
struct rch_queue *rch_queue_create(struct net *net, const struct rch_charge *owner,
				   struct rch_regions *regions,
				   const struct rch_queue_ops *ops, u32 sq_entries,
				   u32 cq_entries, struct rdmachan_error *error)
{
	struct rch_queue *queue;
	int ret;

	queue = rch_try(RCH_SITE_QUEUE, kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT));
	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->ops = ops;
	kref_init(&queue->ref);
	mutex_init(&queue->run_lock);
	mutex_init(&queue->pool_lock);
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	mutex_init(&queue->async.lock);
	INIT_WORK(&queue->work, rch_queue_work_run);
	rch_time_init(queue);
	INIT_LIST_HEAD(&queue->all);
	INIT_LIST_HEAD(&queue->deferred);
	INIT_LIST_HEAD(&queue->done);
	INIT_LIST_HEAD(&queue->starved);
	INIT_LIST_HEAD(&queue->arrived);
	INIT_LIST_HEAD(&queue->letters);
	INIT_LIST_HEAD(&queue->ready);
	INIT_LIST_HEAD(&queue->own);
	INIT_LIST_HEAD(&queue->late);
	ret = queue_life_charge(queue, owner, sq_entries, cq_entries, error);
	if (ret)
		goto err_charge;
	ret = rch_mapping_alloc(&queue->sq, sq_entries, sizeof(struct rdmachan_sqe));
	if (ret)
		goto err_charge;
	ret = rch_mapping_alloc(&queue->cq, cq_entries, sizeof(struct rdmachan_cqe));
	if (ret)
		goto err_sq;
	queue->sq_head = queue->sq.first;
	queue->cq_tail = queue->cq.first;
	queue->cq_told = queue->cq.first;
	ret = queue_life_slots_alloc(queue);
	if (ret)
		goto err_cq;
	ret = rch_object_enter(&queue->object, &object_ops, net, owner->user->uid, GFP_KERNEL);
	if (ret)
		goto err_slots;
	queue->net = get_net(net);
	queue->regions = rch_regions_get(regions);
	queue->compat = in_compat_syscall();
	queue->mm = current->mm;
	mmgrab(queue->mm);
	pr_debug("rdmachan: queue created %p\n", queue);
	return queue;

err_slots:
	kvfree(queue->slots);
	kvfree(queue->lines);
err_cq:
	rch_mapping_free(&queue->cq);
err_sq:
	rch_mapping_free(&queue->sq);
err_charge:
	rch_charge_end(&queue->charge);
	kfree(queue);
	return ERR_PTR(ret);
}

/**
 * rch_queue_add_poller - give a queue a thread that looks at its rings
 * @queue: queue that nobody else knows of yet
 * @idle_ms: for how long it looks before it sleeps
 * @error: which limit it was, with -EDQUOT and -ENOSPC
 *
 * Return: 0, -EDQUOT, -ENOSPC, or as rch_poller_create().
 */
int rch_queue_add_poller(struct rch_queue *queue, u32 idle_ms, struct rdmachan_error *error)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_POLLERS] = 1 };
	int ret = rch_charge_object(&queue->charge, &cost, RDMACHAN_OP_NONE, error);
	struct rch_poller *poller;

	if (ret)
		return ret;
	poller = rch_poller_create(queue, idle_ms);
	if (IS_ERR(poller))
		return PTR_ERR(poller);
	queue->poller = poller;
	return 0;
}

/**
 * rch_queue_destroy - the file is closed: operations under way end without completion
 * @queue: queue
 *
 * No call of a program runs on it. Context: process. A thread of the program that made the queue
 * waits until no adapter uses that program's plain memory, unless the thread is killed.
 */
void rch_queue_destroy(struct rch_queue *queue)
{
	struct rch_op *op;

	pr_debug("rdmachan: queue destroyed %p\n", queue);
	spin_lock_irq(&queue->lock);
	WRITE_ONCE(queue->closed, true);
	spin_unlock_irq(&queue->lock);
	rch_time_exit(queue);
	if (queue->poller)
		rch_poller_destroy(queue->poller);
	/* It does not wait either. After it nobody runs operations, but wake-ups come. */
	cancel_work_sync(&queue->work);
	list_for_each_entry(op, &queue->all, all) {
		rch_op_disarm(op);
		queue->ops->drop(op);
		cond_resched();
	}
	/* All have been left alone, or stopped, so that none waits for another one's owner. */
	list_for_each_entry(op, &queue->all, all)
		queue->ops->await(op);
	rch_object_strike(&queue->object);
	kref_put(&queue->ref, queue_free);
}

/** rch_queue_tell - where the rings are, for the program */
void rch_queue_tell(const struct rch_queue *queue, struct rdmachan_ring *sq,
		    struct rdmachan_ring *cq)
{
	rch_mapping_tell(&queue->sq, SQ_OFFSET, sq);
	rch_mapping_tell(&queue->cq, CQ_OFFSET, cq);
}

/** rch_queue_mapping - the ring that an offset for mmap() stands for; or NULL */
const struct rch_mapping *rch_queue_mapping(const struct rch_queue *queue, u64 offset)
{
	switch (offset) {
	case SQ_OFFSET:
		return &queue->sq;
	case CQ_OFFSET:
		return &queue->cq;
	default:
		return rch_pool_mapping(queue, offset);
	}
}
