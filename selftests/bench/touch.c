// SPDX-License-Identifier: GPL-2.0
/*
 * touch.c - from lending memory until the peer has got at it, and taking it back
 */
#include "grant.h"
#include "grant_ring.h"
#include "bench.h"

/* Of a queue that takes back. */
#define ENTRIES 4

void touch_client(struct job *job, unsigned int processes)
{
	uint64_t *samples = make_samples(job->count), own;
	struct end end;
	uint32_t grant;
	unsigned int i;

	(void)processes;
	end_connect(&end, job);
	for (i = 0; i < job->count; i++) {
		grant = job->way->reach->take(&end);
		job->way->reach->trips(&end, grant, 1, &own);
		samples[i] = now_ns() - job->shared->begun;
		job->way->reach->give_back(&end, grant);
	}
	print_samples(samples, job->count);
}

void touch_server(struct job *job, unsigned int processes)
{
	struct end end;
	unsigned int i;

	(void)processes;
	end_accept(&end, job);
	for (i = 0; i < job->count; i++) {
		job->shared->begun = now_ns();
		job->way->reach->lend(&end);
		job->way->reach->await_back(&end);
	}
}

/* Taking back: the client is the owner */

static void revoke_by_queue(const struct end *end, uint32_t grant)
{
	static struct queue queue;
	struct rdmachan_cqe cqe;

	if (!queue.sq_map)
		check(!queue_open(the_context(), &queue, ENTRIES, ENTRIES), "queue");
	queue_add(&queue, RDMACHAN_OPCODE_REVOKE, *end->fds, 0)->grant = grant;
	check(queue_enter(&queue, 1, 1, 0) == 1 && queue_next(&queue, &cqe) && !cqe.res,
	      "revoke");
}

static void take_back(const struct end *end, uint32_t grant)
{
	if (end->job->way->rings)
		revoke_by_queue(end, grant);
	else
		check(!grant_revoke(*end->fds, grant, NULL), "revoke");
}

void revoke_client(struct job *job, unsigned int processes)
{
	uint64_t *samples = make_samples(job->count), begun;
	struct rdmachan_grant_event event;
	struct end end;
	uint32_t grant, region;
	unsigned int i;

	(void)processes;
	end_connect(&end, job);
	region = make_region(end.data, job->size);
	for (i = 0; i < job->count; i++) {
		grant = give_grant(&end, region, MAY_ALL);
		await_ready(job->shared, i + 1);
		begun = now_ns();
		take_back(&end, grant);
		samples[i] = now_ns() - begun;
		check(grant_next(*end.fds, &event), "return");
	}
	print_samples(samples, job->count);
}

void revoke_server(struct job *job, unsigned int processes)
{
	struct end end;
	unsigned int i;
	char byte;

	(void)processes;
	end_accept(&end, job);
	for (i = 0; i < job->count; i++) {
		check(!grant_read(*end.fds, take_grant(&end), 0, end.data, job->size), "READ");
		tell_ready(job->shared);
	}
	job->way->recv(*end.fds, &byte, 1);
}
