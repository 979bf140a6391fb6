// SPDX-License-Identifier: GPL-2.0
/*
 * queue_pool.c - pools: buffers that a program gives away to be received into
 *
 * Operation. The program puts buffers into the pool's ring; an operation looks at the
 * first one when it has a message for it, and takes it out when the message is there.
 *
 * Buffer ownership. An entry is copied before it is looked at, and nothing of it is
 * believed. One that could not be used stays, unless it is the one that is bad.
 *
 * Error handling. A producer index that cannot be is taken for an empty pool.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "pure/ring.h"
#include "queue/queue.h"

/* Offsets for mmap(): behind those of the other rings, and far enough from each other. */
#define POOL_OFFSET 0x20000000
#define POOL_DISTANCE 0x100000

static struct rch_pool *queue_pool_alloc(u32 entries)
{
	struct rch_pool *pool = rch_try(RCH_SITE_QUEUE,
					kzalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT));

	if (!pool)
		return NULL;
	if (rch_mapping_alloc(&pool->ring, entries, sizeof(struct rdmachan_buffer))) {
		kfree(pool);
		return NULL;
	}
	pool->head = pool->ring.first;
	return pool;
}

static int queue_pool_add(struct rch_queue *queue, u32 entries, struct rdmachan_error *error)
{
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_BYTES] =
			PAGE_ALIGN(rch_ring_bytes(entries, sizeof(struct rdmachan_buffer))),
	};
	struct rch_pool *pool;
	int ret;

	lockdep_assert_held(&queue->pool_lock);
	if (queue->pool_count == RDMACHAN_QUEUE_POOLS_MAX)
		return -ENOSPC;
	ret = rch_charge_object(&queue->charge, &cost, RDMACHAN_OP_NONE, error);
	if (ret)
		return ret;
	pool = queue_pool_alloc(entries);
	if (!pool) {
		rch_charge_give(&queue->charge, RDMACHAN_LIMIT_BYTES,
				cost.of[RDMACHAN_LIMIT_BYTES]);
		return -ENOMEM;
	}
	/* mmap() finds it without a lock. */
	smp_store_release(&queue->pools[queue->pool_count], pool);
	WRITE_ONCE(queue->pool_count, queue->pool_count + 1);
	return queue->pool_count - 1;
}

/**
 * rch_pool_create - add a pool to a queue
 * @queue: queue
 * @entries: of its ring, checked
 * @error: which limit it was, with -ENOBUFS and -ENOSPC
 * @ring: filled in
 *
 * Context: process. Return: its number; or -EPERM, -ENOBUFS, -ENOSPC, -ENOMEM or
 * -ERESTARTSYS.
 */
int rch_pool_create(struct rch_queue *queue, u32 entries, struct rdmachan_error *error,
		    struct rdmachan_ring *ring)
{
	int ret;

	if (current->mm != queue->mm)
		return -EPERM;
	if (mutex_lock_interruptible(&queue->pool_lock))
		return -ERESTARTSYS;
	ret = queue_pool_add(queue, entries, error);
	mutex_unlock(&queue->pool_lock);
	if (ret >= 0)
		rch_mapping_tell(&queue->pools[ret]->ring,
				 POOL_OFFSET + (u64)ret * POOL_DISTANCE, ring);
	return ret;
}

/** rch_pool_find - the pool with a number; or NULL. Any context */
struct rch_pool *rch_pool_find(const struct rch_queue *queue, u32 number)
{
	if (number >= RDMACHAN_QUEUE_POOLS_MAX)
		return NULL;
	number = array_index_nospec(number, RDMACHAN_QUEUE_POOLS_MAX);
	/* If it is there it is complete: see queue_pool_add(). */
	return smp_load_acquire(&queue->pools[number]);
}

/** rch_pool_mapping - the ring that an offset for mmap() stands for; or NULL */
const struct rch_mapping *rch_pool_mapping(const struct rch_queue *queue, u64 offset)
{
	u64 number = (offset - POOL_OFFSET) / POOL_DISTANCE;
	struct rch_pool *pool;

	if (offset < POOL_OFFSET || offset % POOL_DISTANCE || number > U32_MAX)
		return NULL;
	pool = rch_pool_find(queue, number);
	return pool ? &pool->ring : NULL;
}

/** rch_pool_filled - how many buffers there are; 0 when the program's index cannot be */
u32 rch_pool_filled(const struct rch_pool *pool)
{
	/* The entries before this index are written. */
	u32 producer = smp_load_acquire(rch_mapped(&pool->ring, RCH_RING_PRODUCER));

	return rch_ring_filled(producer, pool->head, pool->ring.count);
}

/**
 * rch_pool_look - look at a buffer
 * @pool: pool, with rch_pool_filled(). Under run_lock
 * @number: of the buffer, the first is 0
 * @buffer: where to put it
 */
void rch_pool_look(const struct rch_pool *pool, u32 number, struct rdmachan_buffer *buffer)
{
	rch_mapping_fetch(&pool->ring, pool->head + number, buffer, sizeof(*buffer));
}

/** rch_pool_take - the first @count buffers are the program's again. Under run_lock */
void rch_pool_take(struct rch_pool *pool, u32 count)
{
	pool->head += count;
	/* They were read before the program writes there. */
	smp_store_release(rch_mapped(&pool->ring, RCH_RING_CONSUMER), pool->head);
}

/** rch_pools_free - the queue ends */
void rch_pools_free(struct rch_queue *queue)
{
	struct rch_pool *pool;

	while (queue->pool_count) {
		WRITE_ONCE(queue->pool_count, queue->pool_count - 1);
		pool = queue->pools[queue->pool_count];
		rch_mapping_free(&pool->ring);
		kfree(pool);
	}
}
