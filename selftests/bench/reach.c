// SPDX-License-Identifier: GPL-2.0
/*
 * reach.c - lent memory by calls, one access at a time
 */
#include "grant.h"
#include "bench.h"

static void access_once(struct end *end, uint32_t grant)
{
	const struct job *job = end->job;
	int ret = -1;

	switch (job->access) {
	case ACCESS_READ:
		ret = grant_read(*end->fds, grant, 0, end->data, job->size);
		break;
	case ACCESS_WRITE:
		ret = grant_write(*end->fds, grant, 0, end->data, job->size);
		break;
	case ACCESS_ADD:
		ret = grant_add(*end->fds, grant, 0, 1, (uint64_t *)end->data);
		break;
	case ACCESS_NONE:
		break;
	}
	check(!ret, "access");
}

static void trips(struct end *end, uint32_t grant, unsigned int count, uint64_t *samples)
{
	uint64_t begun;
	unsigned int i;

	for (i = 0; i < count; i++) {
		begun = now_ns();
		access_once(end, grant);
		samples[i] = now_ns() - begun;
	}
}

static void flood(struct end *end, uint32_t grant, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		access_once(end, grant);
}

const struct reach by_calls = {
	.trips = trips,
	.flood = flood,
	.lend = lend_grant,
	.take = take_grant,
	.give_back = give_back_grant,
	.await_back = await_back_grant,
};
