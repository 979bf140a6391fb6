// SPDX-License-Identifier: GPL-2.0
/*
 * trips.c - round trips, and connections
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

double median_us(uint64_t *samples, unsigned int count)
{
	qsort(samples, count, sizeof(*samples), compare);
	return samples[count / 2] / 1e3;
}

/* In the order in which they were taken. */
void print_samples(const uint64_t *samples, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		printf("%s%llu", i ? " " : "", (unsigned long long)samples[i]);
	printf("\n");
	fflush(stdout);
}

/* The median of @count behind the first ones, divided; or all of them. */
void print_result(const struct job *job, uint64_t *samples, unsigned int first, double divisor)
{
	if (job->raw)
		print_samples(samples, first + job->count);
	else
		printf("%.3f\n", median_us(samples + first, job->count) / divisor);
}

uint64_t *make_samples(unsigned int count)
{
	uint64_t *samples = calloc(count, sizeof(*samples));

	check(samples, "memory");
	return samples;
}

/* Large messages take long, and need none. */
unsigned int warm_up(const struct job *job)
{
	unsigned int part = job->raw ? 0 : job->count / 10;

	return part < WARMUP ? part : WARMUP;
}

void lat_client(struct job *job, unsigned int processes)
{
	unsigned int first = warm_up(job), count = first + job->count;
	uint64_t *samples = make_samples(count);
	struct end end;

	(void)processes;
	end_connect(&end, job);
	job->way->pattern->trips(&end, count, samples);
	print_result(job, samples, first, 2);
	end_close(&end);
}

void lat_server(struct job *job, unsigned int processes)
{
	struct end end;

	(void)processes;
	end_accept(&end, job);
	job->way->pattern->answer(&end, warm_up(job) + job->count);
	end_close(&end);
}

/* Connections */

static void connect_once(struct end *end)
{
	const struct way *way = end->job->way;
	int fd = way->connect(end->job);

	check(fd >= 0, "connect");
	put(end, fd, 1);
	get(end, fd, 1);
	way->close(fd);
}

void connect_client(struct job *job, unsigned int processes)
{
	uint64_t *samples = make_samples(job->count), begun;
	struct end end;
	unsigned int i;

	(void)processes;
	end_connect(&end, job);
	for (i = 0; i < warm_up(job); i++)
		connect_once(&end);
	for (i = 0; i < job->count; i++) {
		begun = now_ns();
		connect_once(&end);
		samples[i] = now_ns() - begun;
	}
	printf("%.3f\n", median_us(samples, job->count));
	end_close(&end);
}

/* The client closes first: its close is part of what it measures. */
void connect_server(struct job *job, unsigned int processes)
{
	unsigned int i, count = warm_up(job) + job->count;
	struct end end;
	int fd;

	(void)processes;
	end_accept(&end, job);
	for (i = 0; i < count; i++) {
		fd = job->way->accept(end.listener);
		check(fd >= 0, "accept");
		get(&end, fd, 1);
		put(&end, fd, 1);
		job->way->recv(fd, end.data, 1);
		job->way->close(fd);
	}
	end_close(&end);
}
