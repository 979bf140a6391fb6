// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - a queue of the module's: plain, with a thread of the kernel's that polls it, and
 * from and to a region
 */
#include <stdlib.h>

#include "../region.h"
#include "bench.h"

/* More are never put in before they are handed over. */
#define ENTRIES (2 * BATCH)

static void *open_queue(void)
{
	struct queue *q = malloc(sizeof(*q));

	check(q && !queue_open(open_ctx(), q, ENTRIES, 2 * ENTRIES), "queue");
	return q;
}

static void *open_polled(void)
{
	struct queue *q = malloc(sizeof(*q));

	check(q && !queue_open_polled(open_ctx(), q, ENTRIES, 2 * ENTRIES, 0), "queue");
	return q;
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
	struct rdmachan_cqe cqe;

	if (!queue_next(ring, &cqe))
		return false;
	*res = cqe.res;
	*tag = cqe.user_data;
	return true;
}

static void close_queue(void *ring)
{
	queue_close(ring);
	free(ring);
}

const struct rings queue_rings = {
	.open = open_queue,
	.send = add_send,
	.recv = add_recv,
	.enter = enter,
	.next = next,
	.close = close_queue,
};

const struct rings poller_rings = {
	.open = open_polled,
	.send = add_send,
	.recv = add_recv,
	.enter = enter_polled,
	.next = next,
	.close = close_queue,
};

/* Regions */

/**
 * struct regions - a queue, and the memory of all its messages
 * @queue: queue; the first member, as what all queues do is done with that
 * @ctx: its context
 * @base: the memory
 * @region: number of the region that it is
 */
struct regions {
	struct queue queue;
	int ctx;
	char *base;
	int64_t region;
};

static void *open_regions(void)
{
	struct regions *r = malloc(sizeof(*r));

	check(r, "memory");
	r->ctx = open_ctx();
	check(!queue_open(r->ctx, &r->queue, ENTRIES, 2 * ENTRIES), "queue");
	return r;
}

static void region_memory(void *ring, char *data, size_t size)
{
	struct regions *r = ring;

	r->base = data;
	r->region = region_register(r->ctx, data, size, 0, NULL);
	check(r->region > 0, "region");
}

static void add_region_send(void *ring, int fd, const void *data, size_t size, bool quiet)
{
	struct regions *r = ring;
	struct rdmachan_sqe *sqe = region_send(&r->queue, fd, r->region,
					       (const char *)data - r->base, size, 0);

	if (quiet)
		sqe->flags |= RDMACHAN_SQE_F_SKIP_SUCCESS;
}

static void add_region_recv(void *ring, int fd, void *data, size_t size, uint64_t tag)
{
	struct regions *r = ring;

	region_recv(&r->queue, fd, r->region, (char *)data - r->base, size, tag);
}

static void close_regions(void *ring)
{
	struct regions *r = ring;

	queue_close(&r->queue);
	close(r->ctx);
	free(r);
}

const struct rings region_rings = {
	.open = open_regions,
	.memory = region_memory,
	.send = add_region_send,
	.recv = add_region_recv,
	.enter = enter,
	.next = next,
	.close = close_regions,
};
