// SPDX-License-Identifier: GPL-2.0
/*
 * cost.c - what one message costs in one way of sending it
 *
 * usage: cost WAY SIZE COUNT
 *
 * WAY is "calls", "queue", "pool", "regions" or "pool-regions", a message there and one back, or
 * the same with "-rate", messages one after another. Those of "pool" and "pool-regions" go by
 * queues too, and are received into a pool. "read", "write" and "add" are accesses to lent memory,
 * by calls. "give" lends memory and gets it back. Two programs of this host take part. The time
 * between the marks of mark.h is shown, for each message; lab/profile.c counts this part.
 *
 * Other ways count loading, connecting and ending, too; a large COUNT hides that:
 *
 *  - floor: the module of that name, which does the same without anything around it; COUNT is some
 *    20,000
 *  - ib_read, ib_atomic: perftest's ib_read_lat -e and ib_atomic_lat -e; COUNT is the same
 *  - channels: messages one after another on 64 channels of 8 processes by queues, as the row
 *    rate64 of "make bench"; COUNT is some 500,000
 *  - connect: that row, by write() and read()
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "grant.h"
#include "mark.h"
#include "region.h"

#define BATCH 64
#define WARMUP 300
#define BUFFERS (4 * BATCH)

static int ctx;
static char *out, *in;
static size_t size;
static int count;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(1);
}

/* Pages of their own, so that no region has those of another. */
static char *memory(size_t bytes)
{
	size_t pages = bytes / 4096 + 1;
	char *data = aligned_alloc(4096, pages * 4096);

	check(data, "memory");
	return memset(data, 0, pages * 4096);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int64_t began;

static void begin(void)
{
	began = now_ns();
	mark_begin();
}

static void end(int messages)
{
	int64_t took;

	mark_end();
	took = now_ns() - began;
	printf("%zu bytes, %d messages: %.3f us each\n", size, messages, took / 1e3 / messages);
}

/* Calls: write() and read() */

static void calls_here(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		check(write(chan, out, size) == size, "write");
		check(read(chan, in, size) == size, "read");
	}
	end(2 * count);
}

static void calls_there(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		check(read(chan, in, size) == size, "read");
		check(write(chan, out, size) == size, "write");
	}
}

static void calls_rate_here(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		check(read(chan, in, size) == size, "read");
	}
	end(count);
}

static void calls_rate_there(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++)
		check(write(chan, out, size) == size, "write");
	check(read(chan, in, size) == 0, "end");
}

/* Queues */

static struct queue queue;

/* Regions of @out and @in, or 0 */
static int64_t from_region, to_region;

static void add_send(int chan, uint64_t data)
{
	struct rdmachan_sqe *sqe;

	if (from_region)
		sqe = region_send(&queue, chan, from_region, 0, size, data);
	else
		sqe = queue_send(&queue, chan, out, size, data);
	if (!data)
		sqe->flags |= RDMACHAN_SQE_F_SKIP_SUCCESS;
}

static void add_recv(int chan)
{
	if (to_region)
		region_recv(&queue, chan, to_region, 0, size, 1);
	else
		queue_recv(&queue, chan, in, size, 1);
}

static void got_one(void)
{
	struct rdmachan_cqe cqe;

	check(queue_next(&queue, &cqe), "completion");
	errno = cqe.res < 0 ? -cqe.res : 0;
	check(cqe.res == size, "operation");
}

static void queue_here(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		add_send(chan, 0);
		add_recv(chan);
		check(queue_enter(&queue, 2, 1, 0) == 2, "enter");
		got_one();
	}
	end(2 * count);
}

static void queue_there(int chan)
{
	int i;

	add_recv(chan);
	check(queue_enter(&queue, 1, 1, 0) == 1, "enter");
	for (i = 0; i < WARMUP + count - 1; i++) {
		got_one();
		add_send(chan, 0);
		add_recv(chan);
		check(queue_enter(&queue, 2, 1, 0) == 2, "enter");
	}
	got_one();
	add_send(chan, 1);
	check(queue_enter(&queue, 1, 1, 0) == 1, "enter");
	got_one();
}

static void queue_rate_here(int chan)
{
	int i, got = 0, counted = 0;

	for (i = 0; i < BATCH; i++)
		add_recv(chan);
	while (got < WARMUP + count) {
		check(queue_enter(&queue, BATCH, BATCH / 2, 0) >= 0, "enter");
		while (queue_ready(&queue)) {
			got_one();
			add_recv(chan);
			if (++got == WARMUP)
				begin();
			if (got > WARMUP)
				counted++;
		}
	}
	end(counted);
}

/* Queues with a pool */

static struct pool pool;
/* Address of the first buffer, or where it is in @pool_region, if that is not 0 */
static uint64_t pool_data;
static int64_t pool_region;

static void give(uint32_t buffer)
{
	pool_put_at(&pool, pool_data + buffer * size, size, buffer);
}

static void pool_begin(int chan)
{
	char *data = memory(BUFFERS * size);
	struct rdmachan_sqe *sqe;
	uint32_t i;

	pool_data = (uintptr_t)data;
	if (from_region) {
		pool_region = region_register(ctx, data, BUFFERS * size, 0, NULL);
		check(pool_region > 0, "region");
		pool_data = 0;
	}
	check(!pool_open(&queue, &pool, BUFFERS), "pool");
	for (i = 0; i < BUFFERS; i++)
		give(i);
	sqe = queue_recv_many(&queue, chan, pool.id, 1);
	if (pool_region)
		in_region(sqe, pool_region, 0);
	check(queue_enter(&queue, 1, 0, 0) == 1, "enter");
}

/* The receive does not end by itself, and keeps the channel open. */
static void pool_end(void)
{
	pool_close(&pool);
	queue_close(&queue);
}

/* Return: whether there was one. */
static bool pool_next(void)
{
	struct rdmachan_cqe cqe;

	if (!queue_next(&queue, &cqe))
		return false;
	check(cqe.res == size, "completion");
	give(cqe.buffer);
	return true;
}

static void pool_here(int chan)
{
	int i;

	pool_begin(chan);
	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		add_send(chan, 0);
		check(queue_enter(&queue, 1, 1, 0) == 1, "enter");
		check(pool_next(), "message");
	}
	end(2 * count);
	pool_end();
}

static void pool_there(int chan)
{
	int i;

	pool_begin(chan);
	check(!queue_enter(&queue, 0, 1, 0), "enter");
	for (i = 0; i < WARMUP + count - 1; i++) {
		check(pool_next(), "message");
		add_send(chan, 0);
		check(queue_enter(&queue, 1, 1, 0) == 1, "enter");
	}
	add_send(chan, 0);
	check(queue_enter(&queue, 1, 0, 0) == 1, "enter");
	pool_end();
}

static void pool_rate_here(int chan)
{
	int left = WARMUP + count, counted = 0;

	pool_begin(chan);
	while (left > 0) {
		check(!queue_enter(&queue, 0, left < BATCH / 2 ? left : BATCH / 2, 0), "enter");
		while (pool_next()) {
			if (--left == count)
				begin();
			if (left < count)
				counted++;
		}
	}
	end(counted);
	pool_end();
}

static void queue_rate_there(int chan)
{
	int i, j;

	for (i = 0; i < (WARMUP + count) / BATCH + 1; i++) {
		for (j = 1; j < BATCH; j++)
			add_send(chan, 0);
		add_send(chan, 1);
		check(queue_enter(&queue, BATCH, !!i, 0) == BATCH, "enter");
		if (i)
			got_one();
	}
	check(!queue_enter(&queue, 0, 1, 0), "enter");
	check(read(chan, in, size) == 0, "end");
}

/* Memory that is lent */

static uint32_t lend(int chan, int64_t region)
{
	int64_t grant = grant_range(chan, ctx, &RANGE(region, MAY_ALL, 0, size));

	check(grant > 0, "grant");
	return grant;
}

static uint32_t taken(int chan)
{
	struct rdmachan_grant_event event;

	check(grant_next(chan, &event) && event.what == RDMACHAN_GRANT_GIVEN, "being given");
	return event.grant;
}

static void lent_there(int chan)
{
	struct rdmachan_grant_event event;
	uint32_t grant = lend(chan, from_region);

	check(!grant_recv(chan, &event, sizeof(event), NULL, NULL), "return");
	check(event.grant == grant && !event.cause, "release");
}

static void read_here(int chan)
{
	uint32_t grant = taken(chan);
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		check(!grant_read(chan, grant, 0, in, size), "READ");
	}
	end(count);
	check(!grant_release(chan, grant), "release");
}

static void write_here(int chan)
{
	uint32_t grant = taken(chan);
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		check(!grant_write(chan, grant, 0, in, size), "WRITE");
	}
	end(count);
	check(!grant_release(chan, grant), "release");
}

static void add_here(int chan)
{
	uint32_t grant = taken(chan);
	uint64_t value;
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		check(!grant_add(chan, grant, 0, 1, &value), "FETCH_ADD");
	}
	end(count);
	check(!grant_release(chan, grant), "release");
}

static void give_here(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++) {
		if (i == WARMUP)
			begin();
		check(grant_returned(chan, lend(chan, from_region), 0), "return");
	}
	end(count);
}

static void give_there(int chan)
{
	int i;

	for (i = 0; i < WARMUP + count; i++)
		check(!grant_release(chan, taken(chan)), "release");
	check(read(chan, in, 1) == 0, "end");
}

/**
 * struct way - a way of sending
 * @name: its name
 * @here: the end that measures
 * @there: the other one
 * @regions: from and to regions, or these are lent
 */
static const struct way {
	const char *name;
	void (*here)(int chan);
	void (*there)(int chan);
	bool regions;
} ways[] = {
	{ "calls", calls_here, calls_there, false },
	{ "calls-rate", calls_rate_here, calls_rate_there, false },
	{ "queue", queue_here, queue_there, false },
	{ "pool", pool_here, pool_there, false },
	{ "queue-rate", queue_rate_here, queue_rate_there, false },
	{ "pool-rate", pool_rate_here, queue_rate_there, false },
	{ "pool-regions", pool_here, pool_there, true },
	{ "pool-regions-rate", pool_rate_here, queue_rate_there, true },
	{ "regions", queue_here, queue_there, true },
	{ "regions-rate", queue_rate_here, queue_rate_there, true },
	{ "read", read_here, lent_there, true },
	{ "write", write_here, lent_there, true },
	{ "add", add_here, lent_there, true },
	{ "give", give_here, give_there, true },
};

static void make_regions(void)
{
	from_region = region_register(ctx, out, size, 0, NULL);
	to_region = region_register(ctx, in, size, 0, NULL);
	check(from_region > 0 && to_region > 0, "regions");
}

static void run(const struct way *way)
{
	int fds[2];
	pid_t child;

	ctx = open_ctx();
	pair_up(ctx, fds, NULL);
	fflush(stdout);
	child = fork();
	check(!queue_open(ctx, &queue, 2 * BATCH, BUFFERS), "queue");
	if (way->regions)
		make_regions();
	if (!child) {
		close(fds[0]);
		way->there(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	way->here(fds[0]);
	close(fds[0]);
	check(!child_status(child), "the other one");
}

static void run_floor(void)
{
	const char *addr = getenv("LAB_IP");
	char command[256];

	snprintf(command, sizeof(command), "insmod ./rdmachan_floor.ko addr=%s size=%zu count=%d",
		 addr ?: "", size, count);
	begin();
	check(!system(command), "insmod");
	end(2 * (WARMUP + count));
}

static void run_perftest(const char *verb)
{
	const char *addr = getenv("LAB_IP");
	char tool[64], command[256];

	snprintf(tool, sizeof(tool), "%s_lat -e -R -F -n %d", verb, count);
	/* FETCH_ADD knows no sizes. */
	if (strcmp(verb, "ib_atomic"))
		snprintf(tool + strlen(tool), sizeof(tool) - strlen(tool), " -s %zu", size);
	snprintf(command, sizeof(command), "(%s >/dev/null & sleep 1; %s %s; wait)", tool, tool,
		 addr ?: "");
	begin();
	check(!system(command), verb);
	end(count);
}

/* @test: the text between the name of bench and the size */
static void run_bench(const char *test, const char *processes)
{
	char command[128];

	snprintf(command, sizeof(command), "./bench %s %zu %d %s", test, size, count, processes);
	begin();
	check(!system(command), "bench");
	end(count);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 4)
		return 2;
	size = strtoul(argv[2], NULL, 0);
	count = atoi(argv[3]);
	out = memory(size);
	in = memory(size);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			run(&ways[i]);
			return 0;
		}
	if (!strcmp(argv[1], "floor"))
		run_floor();
	else if (!strcmp(argv[1], "ib_read") || !strcmp(argv[1], "ib_atomic"))
		run_perftest(argv[1]);
	else if (!strcmp(argv[1], "channels"))
		run_bench("rate queue", "8 8");
	else if (!strcmp(argv[1], "connect"))
		run_bench("connect write_read", "");
	else
		return 2;
	return 0;
}
