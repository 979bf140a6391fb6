// SPDX-License-Identifier: GPL-2.0
/*
 * batch.c - messages by rings: many are handed over by one call, which waits as well
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"

/* Bytes of messages that are handed over at once, and that are received into. */
#define SEND_BYTES (16UL << 20)
#define RECV_BYTES (128UL << 20)
/* Messages of up to this are received by as few operations as can be. */
#define MANY_SIZE 8192
/* Buffers that they go into. */
#define BUFFERS (4 * BATCH)

static unsigned int at_most(unsigned int limit, size_t bytes, size_t size)
{
	return bytes / size < limit ? bytes / size : limit;
}

static void add_send(struct end *end, void *ring, unsigned int channel, bool quiet)
{
	end->job->way->rings->send(ring, end->fds[channel], end->data, end->job->size, quiet);
}

static void add_recv(struct end *end, void *ring, unsigned int channel, char *data,
		     uint64_t tag)
{
	end->job->way->rings->recv(ring, end->fds[channel], data, end->job->size, tag);
}

static void *open_rings(struct end *end, char *data, size_t size)
{
	const struct rings *rings = end->job->way->rings;
	void *ring = rings->open();

	if (rings->memory)
		rings->memory(ring, data, size);
	return ring;
}

static void check_result(const struct end *end, int64_t res)
{
	errno = res < 0 ? -res : 0;
	check(res == (int64_t)end->job->size, "completion");
}

static bool next(struct end *end, void *ring, uint64_t *tag)
{
	int64_t res;

	if (!end->job->way->rings->next(ring, &res, tag))
		return false;
	check_result(end, res);
	return true;
}

static bool takes_many(const struct end *end)
{
	return end->job->way->rings->recv_many && end->job->size <= MANY_SIZE;
}

/* Receive on the first channel, if need be for all times. Return: how many operations */
static unsigned int recv_first(struct end *end, void *ring)
{
	if (takes_many(end))
		end->job->way->rings->recv_many(ring, *end->fds, end->job->size, BUFFERS, 0);
	else
		add_recv(end, ring, 0, end->data, 0);
	return 1;
}

static unsigned int recv_again(struct end *end, void *ring)
{
	if (takes_many(end))
		return 0;
	add_recv(end, ring, 0, end->data, 0);
	return 1;
}

static void trips(struct end *end, unsigned int count, uint64_t *samples)
{
	const struct rings *rings = end->job->way->rings;
	void *ring = open_rings(end, end->data, end->job->size);
	unsigned int i, receives;
	uint64_t begun, tag;

	for (i = 0; i < count; i++) {
		begun = now_ns();
		add_send(end, ring, 0, true);
		receives = i ? recv_again(end, ring) : recv_first(end, ring);
		rings->enter(ring, 1 + receives, 1);
		check(next(end, ring, &tag), "answer");
		samples[i] = now_ns() - begun;
	}
	rings->close(ring);
}

/* One call for an answer, the next receive, and waiting for that. */
static void answer(struct end *end, unsigned int count)
{
	const struct rings *rings = end->job->way->rings;
	void *ring = open_rings(end, end->data, end->job->size);
	unsigned int i;
	uint64_t tag;

	rings->enter(ring, recv_first(end, ring), 1);
	for (i = 1; i < count; i++) {
		check(next(end, ring, &tag), "message");
		add_send(end, ring, 0, true);
		rings->enter(ring, 1 + recv_again(end, ring), 1);
	}
	check(next(end, ring, &tag), "last message");
	add_send(end, ring, 0, false);
	rings->enter(ring, 1, 1);
	rings->close(ring);
}

/* @count messages on each channel; of the last of all there is a completion. */
static unsigned int add_round(struct end *end, void *ring, unsigned int count)
{
	unsigned int channels = end->job->channels, i;

	for (i = 0; i < channels * count; i++)
		add_send(end, ring, i / count, i < channels * count - 1);
	return channels * count;
}

/* The last of each batch tells that it was sent; two are under way at a time. */
static void flood(struct end *end)
{
	const struct job *job = end->job;
	unsigned int batch = at_most(BATCH, SEND_BYTES, job->size) / job->channels ?: 1;
	void *ring = open_rings(end, end->data, job->size);
	unsigned int left, n;
	uint64_t tag;

	/* The other one has its memory by then. */
	get(end, *end->fds, 1);
	begin_together(end);
	for (left = job->count; left; left -= n) {
		n = left < batch ? left : batch;
		job->way->rings->enter(ring, add_round(end, ring, n), left < job->count);
		if (left < job->count)
			check(next(end, ring, &tag), "sent");
	}
	job->way->rings->enter(ring, 0, 1);
	check(next(end, ring, &tag), "last sent");
	job->way->rings->close(ring);
	get(end, *end->fds, 1);
}

/**
 * struct draining - receives that are under way
 * @data: a buffer for each, that of number i being for channel i modulo their number
 * @depth: receives of each channel
 * @left: messages that each channel has not given yet
 * @sure: how many of the receives will complete
 */
struct draining {
	char *data;
	unsigned int depth;
	unsigned int *left;
	unsigned int sure;
};

/* Return: the rings. */
static void *draining_begin(struct draining *draining, struct end *end)
{
	const struct job *job = end->job;
	unsigned int i, total;
	void *ring;

	draining->depth = at_most(BATCH / job->channels, RECV_BYTES, job->size) ?: 1;
	total = draining->depth * job->channels;
	draining->data = page_memory(total * job->size);
	draining->left = calloc(job->channels, sizeof(*draining->left));
	check(draining->data && draining->left, "memory");
	ring = open_rings(end, draining->data, total * job->size);
	for (i = 0; i < job->channels; i++)
		draining->left[i] = job->count;
	for (i = 0; i < total; i++)
		add_recv(end, ring, i % job->channels, draining->data + i * job->size, i);
	draining->sure = (job->count < draining->depth ? job->count : draining->depth) *
			 job->channels;
	return ring;
}

/* Take a message, and put in another receive in its place. */
static bool draining_next(struct draining *draining, struct end *end, void *ring)
{
	const struct job *job = end->job;
	unsigned int channel;
	uint64_t tag;

	if (!next(end, ring, &tag))
		return false;
	channel = tag % job->channels;
	if (draining->left[channel]-- <= draining->depth)
		draining->sure--;
	add_recv(end, ring, channel, draining->data + tag * job->size, tag);
	return true;
}

/*
 * Take messages. Return: how many. @again: operations that have ended, as there were messages and
 * no buffer, and were put in again
 */
static unsigned int take_many(struct end *end, void *ring, unsigned int *again)
{
	const struct job *job = end->job;
	unsigned int taken = 0;
	uint64_t tag;
	int64_t res;

	*again = 0;
	while (job->way->rings->next(ring, &res, &tag)) {
		if (res == -ENOBUFS) {
			job->way->rings->recv_many(ring, end->fds[tag], job->size, BUFFERS, tag);
			++*again;
			continue;
		}
		check_result(end, res);
		taken++;
	}
	return taken;
}

/* One operation for each channel; waits for half a batch. */
static void drain_many(struct end *end)
{
	const struct job *job = end->job;
	const struct rings *rings = job->way->rings;
	unsigned int left = job->count * job->channels, half = BATCH / 2, again = 0, i;
	void *ring = rings->open();

	for (i = 0; i < job->channels; i++)
		rings->recv_many(ring, end->fds[i], job->size, BUFFERS, i);
	rings->enter(ring, job->channels, 0);
	put(end, *end->fds, 1);
	while (left) {
		rings->enter(ring, again, left < half ? left : half);
		left -= take_many(end, ring, &again);
	}
	put(end, *end->fds, 1);
	rings->close(ring);
}

/* Waits for half of what was put in, where so many will come: channels differ. */
static void drain_each(struct end *end)
{
	const struct rings *rings = end->job->way->rings;
	unsigned int ready, half;
	struct draining draining;
	void *ring = draining_begin(&draining, end);

	ready = draining.depth * end->job->channels;
	half = (ready + 1) / 2;
	rings->enter(ring, ready, 0);
	ready = 0;
	put(end, *end->fds, 1);
	while (draining.sure) {
		rings->enter(ring, ready, draining.sure < half ? draining.sure : half);
		for (ready = 0; draining_next(&draining, end, ring); ready++)
			;
	}
	put(end, *end->fds, 1);
	rings->close(ring);
	free(draining.left);
	free(draining.data);
}

static void drain(struct end *end)
{
	if (takes_many(end))
		drain_many(end);
	else
		drain_each(end);
}

const struct pattern by_rings = {
	.trips = trips,
	.answer = answer,
	.flood = flood,
	.drain = drain,
};
