// SPDX-License-Identifier: GPL-2.0
/*
 * plain.c - messages by calls that block, one at a time
 */
#include <errno.h>

#include "bench.h"

/* A stream may take or give a message in pieces. */
void put(struct end *end, int fd, size_t size)
{
	const struct way *way = end->job->way;
	ssize_t n;
	size_t done;

	done = 0;
	do {
		n = way->send(fd, end->data + done, size - done);
		check(n > 0 || (!n && !size), "send");
		done += n;
	} while (done < size);
}

void get(struct end *end, int fd, size_t size)
{
	const struct way *way = end->job->way;
	ssize_t n;
	size_t done;

	done = 0;
	do {
		errno = 0;
		n = way->recv(fd, end->data + done, size - done);
		check(n > 0 || (!n && !size), "receive");
		done += n;
	} while (done < size);
}

static void trips(struct end *end, unsigned int count, uint64_t *samples)
{
	uint64_t begun;
	unsigned int i;

	for (i = 0; i < count; i++) {
		begun = now_ns();
		put(end, *end->fds, end->job->size);
		get(end, *end->fds, end->job->size);
		samples[i] = now_ns() - begun;
	}
}

static void answer(struct end *end, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		get(end, *end->fds, end->job->size);
		put(end, *end->fds, end->job->size);
	}
}

/* Does the receiver answer after round @i, of those that begin with 0? */
static bool answered(const struct job *job, unsigned int i)
{
	return i == job->count - 1 || (job->way->window && !((i + 1) % job->way->window));
}

static void flush(struct end *end)
{
	unsigned int i;

	for (i = 0; end->job->way->flush && i < end->job->channels; i++)
		end->job->way->flush(end->fds[i]);
}

/* With a window two of it are on their way. */
static void flood(struct end *end)
{
	const struct job *job = end->job;
	unsigned int i, j, awaited = 0;

	begin_together(end);
	for (i = 0; i < job->count; i++) {
		for (j = 0; j < job->channels; j++)
			put(end, end->fds[j], job->size);
		if (i == job->count - 1)
			flush(end);
		awaited += answered(job, i);
		for (; awaited > (i < job->count - 1); awaited--)
			get(end, *end->fds, 1);
	}
}

static void drain(struct end *end)
{
	const struct job *job = end->job;
	unsigned int i, j;

	for (i = 0; i < job->count; i++) {
		for (j = 0; j < job->channels; j++)
			get(end, end->fds[j], job->size);
		if (answered(job, i))
			put(end, *end->fds, 1);
	}
}

const struct pattern plain = {
	.trips = trips,
	.answer = answer,
	.flood = flood,
	.drain = drain,
};
