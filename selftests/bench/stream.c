// SPDX-License-Identifier: GPL-2.0
/*
 * stream.c - messages one way without a pause, and when each arrives
 *
 * The sender goes on for a time, not for a number of messages, and always has as many under way as
 * the way takes. The receiver's stamps tell what a round trip carries in the steady middle. To look
 * at the clock takes a quarter of a microsecond where time is virtual, and shifts what is measured:
 * of small messages only each so many is stamped.
 */
#include <errno.h>

#include "bench.h"

/* Bytes between two looks at the clock, at least. */
#define LOOK_BYTES 4096
/* Bytes of messages that are under way, and that are received into. */
#define SEND_BYTES (16UL << 20)
#define RECV_BYTES (32UL << 20)

static unsigned int at_most(unsigned int limit, size_t bytes, size_t size)
{
	return bytes / size < limit ? bytes / size ?: 1 : limit;
}

static unsigned int stride(const struct job *job)
{
	return job->size < LOOK_BYTES ? LOOK_BYTES / job->size : 1;
}

/* The sender is at message @i: is it the last one? Only then their number is known. */
static bool is_last(const struct job *job, unsigned int i, uint64_t until)
{
	if (!(i % stride(job)) && now_ns() >= until)
		__atomic_store_n(&job->shared->total, i + 1, __ATOMIC_RELEASE);
	return job->shared->total;
}

/* Messages are still to come, of which @i were received. */
static bool more(const struct job *job, unsigned int i)
{
	unsigned int total = __atomic_load_n(&job->shared->total, __ATOMIC_ACQUIRE);

	return !total || i < total;
}

static void stamp(const struct job *job, unsigned int i)
{
	struct shared *shared = job->shared;

	if (!(i % stride(job)) && shared->count < STAMPS_MAX)
		shared->stamps[shared->count++] = now_ns();
}

/* By calls */

static void send_by_calls(struct end *end, uint64_t until)
{
	unsigned int i = 0;
	bool last;

	do {
		last = is_last(end->job, i++, until);
		put(end, *end->fds, end->job->size);
	} while (!last);
}

static void take_by_calls(struct end *end)
{
	unsigned int i;

	for (i = 0; more(end->job, i); i++) {
		get(end, *end->fds, end->job->size);
		stamp(end->job, i);
	}
}

/* By rings */

static void *open_rings(struct end *end, char *data, size_t size)
{
	const struct rings *rings = end->job->way->rings;
	void *ring = rings->open();

	if (rings->memory)
		rings->memory(ring, data, size);
	return ring;
}

static bool next(struct end *end, void *ring, uint64_t *tag)
{
	int64_t res;

	if (!end->job->way->rings->next(ring, &res, tag))
		return false;
	errno = res < 0 ? -res : 0;
	check(res == (int64_t)end->job->size, "completion");
	return true;
}

static void send_by_rings(struct end *end, uint64_t until)
{
	const struct job *job = end->job;
	unsigned int window = at_most(BATCH, SEND_BYTES, job->size), under_way = 0, i = 0, added;
	void *ring = open_rings(end, end->data, job->size);
	bool last = false;
	uint64_t tag;

	while (!last || under_way) {
		for (added = 0; !last && under_way < window; added++, under_way++) {
			last = is_last(job, i++, until);
			job->way->rings->send(ring, *end->fds, end->data, job->size, false);
		}
		job->way->rings->enter(ring, added, 1);
		while (next(end, ring, &tag))
			under_way--;
	}
}

/* It wakes for each message: a waiter for more sees them late. */
static void take_by_rings(struct end *end)
{
	const struct job *job = end->job;
	unsigned int depth = at_most(BATCH, RECV_BYTES, job->size), added = depth, i, taken = 0;
	char *data = page_memory(depth * job->size);
	void *ring = open_rings(end, data, depth * job->size);
	uint64_t tag;

	check(data, "memory");
	for (i = 0; i < depth; i++)
		job->way->rings->recv(ring, *end->fds, data + i * job->size, job->size, i);
	while (more(job, taken)) {
		job->way->rings->enter(ring, added, 1);
		for (added = 0; next(end, ring, &tag); added++) {
			stamp(job, taken++);
			job->way->rings->recv(ring, *end->fds, data + tag * job->size, job->size,
					      tag);
		}
	}
}

/* Either end */

void send_for(struct end *end, unsigned int ms)
{
	uint64_t until = now_ns() + ms * 1000000ULL;

	if (end->job->way->rings)
		send_by_rings(end, until);
	else
		send_by_calls(end, until);
}

void take_all(struct end *end)
{
	if (end->job->way->rings)
		take_by_rings(end);
	else
		take_by_calls(end);
}

void stream_client(struct job *job, unsigned int processes)
{
	struct end end;

	(void)processes;
	end_connect(&end, job);
	send_for(&end, job->count);
	/* All are there when the answer is. */
	get(&end, *end.fds, 1);
	print_samples(job->shared->stamps, job->shared->count);
}

void stream_server(struct job *job, unsigned int processes)
{
	struct end end;
	char byte;

	(void)processes;
	end_accept(&end, job);
	take_all(&end);
	put(&end, *end.fds, 1);
	/* Until the client has it. */
	job->way->recv(*end.fds, &byte, 1);
}
