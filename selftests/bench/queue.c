// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - a queue of the module's: plain, with a thread of the kernel's that polls it, and
 * from and to a region
 */
#include <stdlib.h>

#include "region.h"
#include "bench.h"

/* More are never put in before they are handed over. */
#define ENTRIES (2 * BATCH)

/**
 * struct pooled - a queue, and a pool of buffers if many are received into it
 * @queue: queue; the first member
 * @pool: pool
 * @data: its buffers, or NULL
 * @size: bytes of one
 * @region: number of the region that they are, or 0
 */
struct pooled {
	struct queue queue;
	struct pool pool;
	char *data;
	size_t size;
	int64_t region;
};

static void *open_queue(void)
{
	struct pooled *p = calloc(1, sizeof(*p));

	check(p && !queue_open(open_ctx(), &p->queue, ENTRIES, 2 * ENTRIES), "queue");
	return p;
}

static void *open_polled(void)
{
	struct pooled *p = calloc(1, sizeof(*p));

	check(p && !queue_open_polled(open_ctx(), &p->queue, ENTRIES, 2 * ENTRIES, 0), "queue");
	return p;
}

static void add_send(void *ring, int fd, const void *data, size_t size, bool quiet)
{
	struct rdmachan_sqe *sqe = queue_send(ring, fd, data, size, 0);

	if (quiet)
		sqe->flags = RDMACHAN_SQE_F_SKIP_SUCCESS;
}

static void add_recv(void *ring, int fd, void *data, size_t size, uint64_t tag)
{
	queue_recv(ring, fd, data, size, tag);
}

static void give(struct pooled *p, uint32_t buffer)
{
	uint64_t from = p->region ? 0 : (uintptr_t)p->data;

	pool_put_at(&p->pool, from + buffer * p->size, p->size, buffer);
}

static void make_pool(struct pooled *p, char *data, size_t size, unsigned int count)
{
	unsigned int i;

	p->size = size;
	p->data = data;
	check(p->data && !pool_open(&p->queue, &p->pool, count), "pool");
	for (i = 0; i < count; i++)
		give(p, i);
}

static void add_recv_many(void *ring, int fd, size_t size, unsigned int count, uint64_t tag)
{
	struct pooled *p = ring;

	/* A buffer has a byte at least. */
	size = size ?: 1;
	if (!p->data)
		make_pool(p, calloc(count, size), size, count);
	queue_recv_many(&p->queue, fd, p->pool.id, tag);
}

static void enter(void *ring, unsigned int count, unsigned int min)
{
	check(queue_enter(ring, count, min, 0) == (int)count, "enter");
}

/* Calls only to wake it, and to wait. */
static void enter_polled(void *ring, unsigned int count, unsigned int min)
{
	(void)count;
	check(!queue_poke(ring), "wake");
	if (queue_ready(ring) < min)
		check(!queue_enter(ring, 0, min, 0), "enter");
}

static bool next(void *ring, int64_t *res, uint64_t *tag)
{
	struct pooled *p = ring;
	struct rdmachan_cqe cqe;

	if (!queue_next(&p->queue, &cqe))
		return false;
	if (cqe.flags & RDMACHAN_CQE_F_BUFFER)
		give(p, cqe.buffer);
	*res = cqe.res;
	*tag = cqe.user_data;
	return true;
}

static void close_queue(void *ring)
{
	struct pooled *p = ring;

	if (p->data)
		pool_close(&p->pool);
	queue_close(&p->queue);
	free(p->data);
	free(p);
}

const struct rings queue_rings = {
	.open = open_queue,
	.send = add_send,
	.recv = add_recv,
	.recv_many = add_recv_many,
	.enter = enter,
	.next = next,
	.close = close_queue,
};

const struct rings poller_rings = {
	.open = open_polled,
	.send = add_send,
	.recv = add_recv,
	.recv_many = add_recv_many,
	.enter = enter_polled,
	.next = next,
	.close = close_queue,
};

/* Regions */

/**
 * struct regions - a queue, and the memory of all its messages
 * @p: queue and pool; the first member, as what all queues do is done with that
 * @ctx: its context
 * @base: the memory, but for that of the pool
 * @region: number of the region that it is
 */
struct regions {
	struct pooled p;
	int ctx;
	char *base;
	int64_t region;
};

static void *open_regions(void)
{
	struct regions *r = calloc(1, sizeof(*r));

	check(r, "memory");
	r->ctx = open_ctx();
	check(!queue_open(r->ctx, &r->p.queue, ENTRIES, 2 * ENTRIES), "queue");
	return r;
}

static int64_t own_region(struct regions *r, const char *data, size_t size)
{
	int64_t region = region_register(r->ctx, data, size ?: 1, 0, NULL);

	check(region > 0, "region");
	return region;
}

static void region_memory(void *ring, char *data, size_t size)
{
	struct regions *r = ring;

	r->base = data;
	r->region = own_region(r, data, size);
}

static void add_region_send(void *ring, int fd, const void *data, size_t size, bool quiet)
{
	struct regions *r = ring;
	struct rdmachan_sqe *sqe = region_send(&r->p.queue, fd, r->region,
					       (const char *)data - r->base, size, 0);

	if (quiet)
		sqe->flags |= RDMACHAN_SQE_F_SKIP_SUCCESS;
}

static void add_region_recv(void *ring, int fd, void *data, size_t size, uint64_t tag)
{
	struct regions *r = ring;

	region_recv(&r->p.queue, fd, r->region, (char *)data - r->base, size, tag);
}

static void add_region_recv_many(void *ring, int fd, size_t size, unsigned int count,
				 uint64_t tag)
{
	struct regions *r = ring;
	char *data;

	size = size ?: 1;
	if (!r->p.data) {
		data = page_memory(count * size);
		r->p.region = own_region(r, data, count * size);
		make_pool(&r->p, data, size, count);
	}
	in_region(queue_recv_many(&r->p.queue, fd, r->p.pool.id, tag), r->p.region, 0);
}

static void close_regions(void *ring)
{
	struct regions *r = ring;
	int ctx = r->ctx;

	close_queue(ring);
	close(ctx);
}

const struct rings region_rings = {
	.open = open_regions,
	.memory = region_memory,
	.send = add_region_send,
	.recv = add_region_recv,
	.recv_many = add_region_recv_many,
	.enter = enter,
	.next = next,
	.close = close_regions,
};
