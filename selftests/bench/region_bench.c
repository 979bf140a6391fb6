// SPDX-License-Identifier: GPL-2.0
/*
 * region_bench.c - what large messages from region to region cost, for bench_guest.sh
 *
 * Two programs of this host, each with a queue. Prints rows as that script does; with
 * sizes as arguments, their throughput only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <time.h>

#include "common.h"
#include "region.h"

#define DEPTH 8
#define ROOM 1048576UL
#define HUGE (2 * ROOM)
#define TOTAL (128UL << 20)

static size_t size;
static int messages;

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

static void add(struct queue *q, uint8_t opcode, int chan, uint32_t region, unsigned int slot)
{
	queue_region(q, opcode, chan, region, slot * ROOM, size, slot);
}

/* Keep @DEPTH operations under way, half of them at least, until all messages have gone. */
static void run(struct queue *q, uint8_t opcode, int chan, uint32_t region)
{
	struct rdmachan_cqe cqe;
	int done = 0, added = 0;

	while (added < DEPTH)
		add(q, opcode, chan, region, added++);
	while (done < messages) {
		check(queue_enter(q, q->sq.count, MIN(messages - done, DEPTH / 2), 0) >= 0,
		      "enter");
		while (queue_next(q, &cqe)) {
			check(cqe.res == (int64_t)size, "completion");
			done++;
			if (added++ < messages)
				add(q, opcode, chan, region, cqe.user_data);
		}
	}
}

static void measure(const char *format)
{
	int ctx = open_ctx(), fds[2];
	char *memory = aligned_alloc(HUGE, DEPTH * ROOM);
	struct rdmachan_object object;
	int64_t begun, region;
	struct queue q;
	pid_t child;

	pair_up(ctx, fds, NULL);
	fflush(stdout);
	child = fork();
	madvise(memory, DEPTH * ROOM, getenv("SMALL") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	memset(memory, child ? 1 : 2, DEPTH * ROOM);
	check(!queue_open(ctx, &q, 2 * DEPTH, 2 * DEPTH), "queue");
	region = region_register(ctx, memory, DEPTH * ROOM, 0, NULL);
	check(region > 0, "region");
	if (!child) {
		close(fds[0]);
		run(&q, RDMACHAN_OPCODE_RECV, fds[1], region);
		queue_close(&q);
		exit(0);
	}
	close(fds[1]);
	sleep_ms(50);
	begun = now_ns();
	run(&q, RDMACHAN_OPCODE_SEND, fds[0], region);
	check(!child_status(child), "the other one");
	printf(format, size, size * 1e3 * messages / (now_ns() - begun));
	check(!get_object(fds[0], &object), "query");
	printf("# %llu of %llu messages placed\n", object.tx_placed, object.tx_messages);
	queue_close(&q);
	close(fds[0]);
	close(ctx);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		size = strtoul(argv[i], NULL, 0);
		messages = size < ROOM ? 2000 : TOTAL / size;
		measure("row throughput_%zu region MB/s %.1f\n");
	}
	if (argc > 1)
		return 0;
	size = ROOM;
	messages = TOTAL / ROOM;
	measure("row throughput_%zu region MB/s %.1f\n");
	return 0;
}
