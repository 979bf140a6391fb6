// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - a queue of the module's, without and with a thread of the kernel's that polls it
 */
#include <stdlib.h>

#include "../ring.h"
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
