// SPDX-License-Identifier: GPL-2.0
/*
 * reach_queue.c - lent memory by a queue, from and to a region, or plain memory
 */
#include "grant_ring.h"
#include "region.h"
#include "bench.h"

/* As many are under way at a time. */
#define DEPTH 16

/* The client has one, for its only channel. */
static struct queue *the_queue(const struct end *end, uint32_t *region)
{
	static struct queue queue;
	static int64_t number;

	if (!number) {
		check(!queue_open(the_context(), &queue, 2 * DEPTH, 4 * DEPTH), "queue");
		number = region_register(the_context(), end->data, end->job->size, 0, NULL);
		check(number > 0, "region");
	}
	*region = number;
	return &queue;
}

static void add(struct queue *queue, uint32_t region, const struct end *end, uint32_t grant)
{
	const struct job *job = end->job;
	struct rdmachan_sqe *sqe = NULL;

	switch (job->access) {
	case ACCESS_READ:
		sqe = queue_read(queue, *end->fds, grant, 0, end->data, job->size, 0);
		break;
	case ACCESS_WRITE:
		sqe = queue_write(queue, *end->fds, grant, 0, end->data, job->size, 0);
		break;
	case ACCESS_ADD:
		queue_fetch_add(queue, *end->fds, grant, 0, 1, 0);
		break;
	case ACCESS_NONE:
		break;
	}
	if (sqe && job->way->reach == &by_queue)
		in_region(sqe, region, 0);
}

/* Return: how many have completed; at least one */
static unsigned int some(struct queue *queue, unsigned int added)
{
	struct rdmachan_cqe cqe;
	unsigned int count = 0;

	check(queue_enter(queue, added, 1, 0) == (int)added, "enter");
	while (queue_next(queue, &cqe)) {
		check(cqe.res >= 0, "access");
		count++;
	}
	return count;
}

static void trips(struct end *end, uint32_t grant, unsigned int count, uint64_t *samples)
{
	struct queue *queue;
	uint32_t region;
	uint64_t begun;
	unsigned int i;

	queue = the_queue(end, &region);
	for (i = 0; i < count; i++) {
		begun = now_ns();
		add(queue, region, end, grant);
		check(some(queue, 1) == 1, "completion");
		samples[i] = now_ns() - begun;
	}
}

static void flood(struct end *end, uint32_t grant, unsigned int count)
{
	unsigned int under_way = 0, added;
	struct queue *queue;
	uint32_t region;

	queue = the_queue(end, &region);
	while (count || under_way) {
		for (added = 0; count && under_way < DEPTH; added++, under_way++, count--)
			add(queue, region, end, grant);
		under_way -= some(queue, added);
	}
}

const struct reach by_queue = {
	.trips = trips,
	.flood = flood,
	.lend = lend_grant,
	.take = take_grant,
	.give_back = give_back_grant,
	.await_back = await_back_grant,
};

const struct reach by_queue_memory = {
	.trips = trips,
	.flood = flood,
	.lend = lend_grant,
	.take = take_grant,
	.give_back = give_back_grant,
	.await_back = await_back_grant,
};
