// SPDX-License-Identifier: GPL-2.0
/*
 * opening.c - opening and closing connections, each of them while the ones before are open; and
 * asking something on a new one
 *
 * The first one that a host makes to another finds no link.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

/* In this time all has settled that was begun. */
#define SETTLE_US 500000

static int *connect_all(const struct job *job, uint64_t *samples)
{
	int *fds = calloc(job->count, sizeof(*fds));
	uint64_t begun;
	unsigned int i;

	check(fds, "memory");
	await_ready(job->shared, 1);
	for (i = 0; i < job->count; i++) {
		begun = now_ns();
		fds[i] = job->way->connect(job);
		samples[i] = now_ns() - begun;
		check(fds[i] >= 0, "connect");
		usleep(SETTLE_US);
	}
	return fds;
}

void open_client(struct job *job, unsigned int processes)
{
	uint64_t *samples = make_samples(job->count), begun;
	int *fds = connect_all(job, samples);
	unsigned int i;

	(void)processes;
	print_samples(samples, job->count);
	for (i = 0; i < job->count; i++) {
		begun = now_ns();
		job->way->close(fds[i]);
		samples[i] = now_ns() - begun;
		usleep(SETTLE_US);
	}
	print_samples(samples, job->count);
}

/* What the other end has seen is stamped there. */
void closed_client(struct job *job, unsigned int processes)
{
	uint64_t *samples = make_samples(job->count);
	int *fds = connect_all(job, samples);
	unsigned int i;

	(void)processes;
	for (i = 0; i < job->count; i++) {
		job->shared->begun = now_ns();
		job->way->close(fds[i]);
		usleep(SETTLE_US);
		samples[i] = job->shared->stamps[i] - job->shared->begun;
	}
	print_samples(samples, job->shared->count);
}

void open_server(struct job *job, unsigned int processes)
{
	int listener = job->way->listen(job), *fds = calloc(job->count, sizeof(*fds));
	unsigned int i;
	char byte;

	(void)processes;
	check(fds && listener >= 0, "listen");
	tell_ready(job->shared);
	for (i = 0; i < job->count; i++) {
		fds[i] = job->way->accept(listener);
		check(fds[i] >= 0, "accept");
	}
	for (i = 0; i < job->count; i++) {
		job->way->recv(fds[i], &byte, 1);
		job->shared->stamps[i] = now_ns();
		job->shared->count = i + 1;
		job->way->close(fds[i]);
	}
}

/* Connecting, a message and its answer. Where it can the message does not wait for connecting. */
void ask_client(struct job *job, unsigned int processes)
{
	uint64_t *samples = make_samples(job->count), begun, trip;
	int *fds = calloc(job->count, sizeof(*fds));
	struct end end;
	unsigned int i;

	(void)processes;
	check(fds, "memory");
	job->early = true;
	end_begin(&end, job);
	await_ready(job->shared, 1);
	for (i = 0; i < job->count; i++) {
		begun = now_ns();
		fds[i] = job->way->connect(job);
		check(fds[i] >= 0, "connect");
		*end.fds = fds[i];
		job->way->pattern->trips(&end, 1, &trip);
		samples[i] = now_ns() - begun;
		usleep(SETTLE_US);
	}
	print_samples(samples, job->count);
	for (i = 0; i < job->count; i++)
		job->way->close(fds[i]);
}

void ask_server(struct job *job, unsigned int processes)
{
	struct end end;
	unsigned int i;

	(void)processes;
	end_begin(&end, job);
	end.listener = job->way->listen(job);
	check(end.listener >= 0, "listen");
	tell_ready(job->shared);
	for (i = 0; i < job->count; i++) {
		*end.fds = job->way->accept(end.listener);
		check(*end.fds >= 0, "accept");
		job->way->pattern->answer(&end, 1);
	}
	/* Until the client ends: its connections stay open. */
	pause();
}
