// SPDX-License-Identifier: GPL-2.0
/*
 * queue_bench.c - what a small message costs through queues, for bench_guest.sh
 *
 * Two programs of this host, each with a queue. Prints rows as that script does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "common.h"
#include "ring.h"

#define SIZE 64
#define TRIPS 3000
#define WARMUP 300
#define MESSAGES 64000
#define BATCH 64

static char buffers[BATCH][SIZE];

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void add_recv(struct queue *q, int chan, unsigned int i)
{
	queue_recv(q, chan, buffers[i], SIZE, i);
}

static void add_send(struct queue *q, int chan)
{
	static char message[SIZE];

	queue_send(q, chan, message, SIZE, 0)->flags = RDMACHAN_SQE_F_SKIP_SUCCESS;
}

static struct rdmachan_cqe next(struct queue *q)
{
	struct rdmachan_cqe cqe;

	check(queue_next(q, &cqe) && cqe.res == SIZE, "completion");
	return cqe;
}

/* Answer each message: one call for the answer, the next receive and waiting for it. */
static void echo(struct queue *q, int chan)
{
	int i;

	add_recv(q, chan, 0);
	check(queue_enter(q, 1, 1, 0) == 1, "enter");
	for (i = 0; i < WARMUP + TRIPS; i++) {
		next(q);
		add_send(q, chan);
		add_recv(q, chan, 0);
		if (i < WARMUP + TRIPS - 1)
			check(queue_enter(q, 2, 1, 0) == 2, "enter");
	}
	check(queue_enter(q, 2, 0, 0) == 2, "enter");
}

static void latency(struct queue *q, int chan)
{
	int64_t begun = 0;
	int i;

	for (i = 0; i < WARMUP + TRIPS; i++) {
		if (i == WARMUP)
			begun = now_ns();
		add_send(q, chan);
		add_recv(q, chan, 0);
		check(queue_enter(q, 2, 1, 0) == 2, "enter");
		next(q);
	}
	printf("row latency_%d queue kinstr %.3f\n", SIZE, (now_ns() - begun) / 2e3 / TRIPS);
}

/* The last of each batch tells that it was sent; two are under way at a time. */
static void flood(struct queue *q, int chan)
{
	int i, j;

	for (i = 0; i < MESSAGES / BATCH; i++) {
		for (j = 1; j < BATCH; j++)
			add_send(q, chan);
		queue_send(q, chan, buffers, SIZE, 0);
		check(queue_enter(q, BATCH, !!i, 0) == BATCH, "enter");
		if (i)
			next(q);
	}
	check(!queue_enter(q, 0, 1, 0), "enter");
}

static void rate(struct queue *q, int chan)
{
	int64_t begun = 0;
	int i, got = 0;

	for (i = 0; i < BATCH; i++)
		add_recv(q, chan, i);
	while (got < MESSAGES) {
		check(queue_enter(q, BATCH, BATCH / 2, 0) >= 0, "enter");
		while (queue_ready(q)) {
			add_recv(q, chan, next(q).user_data);
			if (!got++)
				begun = now_ns();
		}
	}
	printf("row rate_%d queue msg/s %.0f\n", SIZE, MESSAGES * 1e9 / (now_ns() - begun));
}

static void both(void (*here)(struct queue *, int), void (*there)(struct queue *, int))
{
	int ctx = open_ctx(), fds[2];
	struct queue q;
	pid_t child;

	pair_up(ctx, fds, NULL);
	fflush(stdout);
	child = fork();
	check(!queue_open(ctx, &q, 2 * BATCH, 2 * BATCH), "queue");
	if (!child) {
		close(fds[0]);
		there(&q, fds[1]);
		/* What it has sent is delivered: it closes, and is not killed. */
		queue_close(&q);
		exit(0);
	}
	close(fds[1]);
	here(&q, fds[0]);
	queue_close(&q);
	close(fds[0]);
	check(!child_status(child), "the other one");
}

int main(void)
{
	both(latency, echo);
	both(rate, flood);
	return 0;
}
