// SPDX-License-Identifier: GPL-2.0
/*
 * flood.c - many messages one way, on many channels of many processes
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

/**
 * struct times - when the clients of a flood have begun and ended, by process
 * @barrier: they begin together
 * @begun: nanoseconds
 * @ended: nanoseconds
 */
struct times {
	pthread_barrier_t barrier;
	uint64_t begun[PROCESSES_MAX];
	uint64_t ended[PROCESSES_MAX];
};

/* Nobody's preparations are part of what others measure. */
void begin_together(struct end *end)
{
	pthread_barrier_wait(&end->times->barrier);
	end->times->begun[end->process] = now_ns();
}

static void flood_one(const struct job *job, struct times *times, unsigned int i)
{
	struct end end;

	end_connect(&end, job);
	end.times = times;
	end.process = i;
	job->way->pattern->flood(&end);
	times->ended[i] = now_ns();
	end_close(&end);
}

static void drain_one(const struct job *job, struct times *times, unsigned int i)
{
	struct end end;

	(void)times;
	(void)i;
	end_accept(&end, job);
	job->way->pattern->drain(&end);
	end_close(&end);
}

static struct times *make_times(unsigned int processes)
{
	struct times *times = mmap(NULL, sizeof(*times), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	check(times != MAP_FAILED, "memory");
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&times->barrier, &shared, processes);
	return times;
}

/* What each channel has of the job, which is a whole number of windows. */
static void share(struct job *job, unsigned int processes)
{
	unsigned int window = job->way->window ?: 1;

	job->count = job->count / (processes * job->channels) ?: 1;
	job->count = (job->count + window - 1) / window * window;
}

/* Run @one for each process, in a child, and wait for all. */
static void run_all(struct job *job, unsigned int processes, struct times *times,
		    void (*one)(const struct job *job, struct times *times, unsigned int i))
{
	pid_t pids[PROCESSES_MAX];
	unsigned int i;

	for (i = 0; i < processes; i++, job->port++) {
		pids[i] = child();
		if (!pids[i]) {
			one(job, times, i);
			exit(0);
		}
	}
	for (i = 0; i < processes; i++)
		await_child(pids[i]);
}

/* Return: messages per second */
static double flood(struct job *job, unsigned int processes)
{
	struct times *times = make_times(processes);
	uint64_t begun = UINT64_MAX, ended = 0;
	unsigned int i;

	share(job, processes);
	run_all(job, processes, times, flood_one);
	for (i = 0; i < processes; i++) {
		if (times->begun[i] < begun)
			begun = times->begun[i];
		if (times->ended[i] > ended)
			ended = times->ended[i];
	}
	return (double)job->count * job->channels * processes * 1e9 / (ended - begun);
}

void rate_client(struct job *job, unsigned int processes)
{
	printf("%.0f\n", flood(job, processes));
}

void tput_client(struct job *job, unsigned int processes)
{
	printf("%.3f\n", flood(job, processes) * job->size / 1e6);
}

void flood_server(struct job *job, unsigned int processes)
{
	share(job, processes);
	run_all(job, processes, NULL, drain_one);
}
