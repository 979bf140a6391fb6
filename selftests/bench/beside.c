// SPDX-License-Identifier: GPL-2.0
/*
 * beside.c - a small message and its answer, beside streams of large ones
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common.h"
#include "bench.h"

#define STREAMS 4
#define ECHO_SIZE 64
/* More are not measured. */
#define ECHOES_MAX 100000
/* An echo begins so long after the one before, and up to twice as long: not in step with bursts. */
#define PAUSE_US 1500
/* By then the streams have reached what they will. */
#define LEAD_MS 1000

/* A stream's job, of which each has a port and memory of its own. */
static struct job stream_job(const struct job *job, unsigned int i)
{
	struct job mine = *job;

	mine.port += 1 + i;
	mine.shared += 1 + i;
	return mine;
}

static struct job echo_job(const struct job *job)
{
	struct job mine = *job;

	mine.size = ECHO_SIZE;
	mine.bulk = false;
	return mine;
}

/* Children that end with their parent. */
static void begin_streams(const struct job *job, void (*one)(const struct job *job))
{
	unsigned int i;

	for (i = 0; i < STREAMS; i++) {
		struct job mine = stream_job(job, i);

		if (child())
			continue;
		one(&mine);
		for (;;)
			pause();
	}
}

static void send_stream(const struct job *job)
{
	struct end end;

	end_connect(&end, job);
	send_for(&end, job->count + 2 * LEAD_MS);
}

static void take_stream(const struct job *job)
{
	struct end end;

	end_accept(&end, job);
	take_all(&end);
}

/* What all streams have brought between two moments. */
static unsigned long long bytes_between(const struct job *job, uint64_t begun, uint64_t ended)
{
	unsigned long long count = 0;
	unsigned int i, j;

	for (i = 1; i <= STREAMS; i++) {
		const struct shared *shared = job->shared + i;

		for (j = 0; j < shared->count; j++)
			count += shared->stamps[j] >= begun && shared->stamps[j] < ended;
	}
	return count * job->size;
}

void beside_client(struct job *job, unsigned int processes)
{
	struct job mine = echo_job(job);
	uint64_t *samples = make_samples(ECHOES_MAX), begun, ended;
	unsigned long long bytes;
	unsigned int count = 0;
	uint64_t seed = 1;
	struct end end;

	(void)processes;
	/* First: memory registered for RDMA does not bear a fork(). */
	begin_streams(job, send_stream);
	end_connect(&end, &mine);
	usleep(LEAD_MS * 1000);
	begun = now_ns();
	do {
		usleep(PAUSE_US + next_random(&seed) % PAUSE_US);
		job->way->pattern->trips(&end, 1, &samples[count++]);
		ended = now_ns();
	} while (ended < begun + job->count * 1000000ULL && count < ECHOES_MAX);
	bytes = bytes_between(job, begun, ended);
	errno = 0;
	check(bytes, "streams");
	print_samples(samples, count);
	printf("%llu %llu %llu\n", (unsigned long long)begun, (unsigned long long)ended, bytes);
}

void beside_server(struct job *job, unsigned int processes)
{
	struct job mine = echo_job(job);
	struct end end;

	(void)processes;
	begin_streams(job, take_stream);
	end_accept(&end, &mine);
	/* Until the client has enough. */
	job->way->pattern->answer(&end, ECHOES_MAX);
}
