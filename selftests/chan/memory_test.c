// SPDX-License-Identifier: GPL-2.0
/*
 * memory_test.c - what channels and links cost while they are idle, and that nothing is lost
 *
 * Counted is all memory that the kernel has less of, the adapter's and the files' with it,
 * so a kernel that makes objects larger to watch them is no place for this program.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "common.h"
#include "grant.h"
#include "grant_ring.h"
#include "harness.h"
#include "pair.h"
#include "region.h"
#include "ring.h"

#define KIB 1024
/* An idle link may have 1 MiB. What it keeps beyond 32 less, it need not. */
#define IDLE_AGAIN (KIB - 32)
#define CHANNELS 400
#define LINKS 64
#define BUSY 16
#define LARGE 16384
#define MIB 1048576
#define FIRST_USER 2000

/* Idle ones hold nothing, but the bytes they may hold are charged. */
static const struct opts small = {
	.tuning = { .send_buffer = RDMACHAN_BUFFER_MIN, .recv_buffer = RDMACHAN_BUFFER_MIN },
};

/* The kernel's free pages, with those that a processor keeps at hand: 21 MiB were seen. */
static long free_pages(void)
{
	long pages = 0, n;
	char line[128];
	FILE *file;

	file = fopen("/proc/zoneinfo", "r");
	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " pages free %ld", &n) == 1)
			pages += n;
		else if (sscanf(line, " count: %ld", &n) == 1)
			pages += n;
	}
	fclose(file);
	return pages;
}

/* Memory that nothing uses, in KiB, when all that can be let go has been. */
static long free_kib(void)
{
	int fd;

	fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(write(fd, "3", 1), 1);
	close(fd);
	return free_pages() * (sysconf(_SC_PAGESIZE) / KIB);
}

FIXTURE(memory)
{
	int ctx;
	int peer;
	int listener;
};

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	self->ctx = open_ctx();
	self->peer = open_peer();
	/* None of a test before this one ends while memory is counted. */
	await_no_links(self->ctx);
	self->listener = do_listen(self->peer, SERVICE, &small);
	ASSERT_GE(self->listener, 0);
}

FIXTURE_TEARDOWN(memory)
{
	close(self->listener);
	close(self->peer);
	close(self->ctx);
}

static void connect_pair(int ctx, int listener, int fds[2])
{
	fds[0] = do_connect(ctx, SERVICE, &small);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, NULL);
	ASSERT_GE(fds[1], 0);
}

/* One byte to and fro: objects made with the first message are there. */
static void exchange(const int fds[2])
{
	char byte;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(do_send(fds[i], "x", 1, 0, NULL), 0);
		ASSERT_EQ(do_recv(fds[!i], &byte, 1, NULL, NULL), 0);
	}
}

/* Bytes that a program does not read are charged: the kernel has no multiple of them. */
TEST_F_TIMEOUT(memory, unread_messages, 120)
{
	static const size_t lens[] = { 2100, 4200, 8100 };
	const struct opts large = { .tuning = { .recv_buffer = 8 * MIB } };
	int listener = do_listen(self->peer, SERVICE + 1, &large), fds[2];
	long before, used, sent;
	char *data = malloc(LARGE);
	size_t i;

	ASSERT_GE(listener, 0);
	ASSERT_TRUE(data);
	fill_random(data, LARGE, 1);
	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		fds[0] = do_connect(self->ctx, SERVICE + 1, NULL);
		ASSERT_GE(fds[0], 0);
		fds[1] = do_accept(listener, NULL);
		ASSERT_GE(fds[1], 0);
		exchange(fds);
		before = free_kib();
		for (sent = 0; sent < 7 * MIB; sent += lens[i]) {
			ASSERT_EQ(do_send(fds[0], data, lens[i], 0, DONTWAIT), 0);
			/* Each in a frame of its own. */
			sleep_ms(1);
		}
		used = before - free_kib();
		printf("# %ld KiB of %zu bytes each are unread: %ld KiB less memory\n", sent / KIB,
		       lens[i], used);
		EXPECT_LT(used, 5 * sent / 2 / KIB);
		close(fds[0]);
		close(fds[1]);
	}
	free(data);
	close(listener);
}

/* Runs of the smallest messages, a frame each. */
TEST_F_TIMEOUT(memory, unread_bytes, 120)
{
	/* A record costs 64 bytes. */
	enum { RUN = 87, RUNS = 184, COST = RUN * (64 + 1) };
	const struct opts large = { .tuning = { .recv_buffer = 4 * MIB } };
	int listener = do_listen(self->peer, SERVICE + 1, &large), fds[2], i, k;
	struct rdmachan_cqe cqe;
	long before, used;
	struct queue q;

	ASSERT_GE(listener, 0);
	fds[0] = do_connect(self->ctx, SERVICE + 1, NULL);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, NULL);
	ASSERT_GE(fds[1], 0);
	ASSERT_EQ(queue_open(self->ctx, &q, 128, 256), 0);
	exchange(fds);
	before = free_kib();
	for (i = 0; i < RUNS; i++) {
		for (k = 0; k < RUN; k++)
			queue_send(&q, fds[0], "x", 1, k);
		ASSERT_EQ(queue_enter(&q, RUN, RUN, 10000), RUN);
		for (k = 0; k < RUN; k++) {
			ASSERT_TRUE(queue_next(&q, &cqe));
			ASSERT_EQ(cqe.res, 1);
		}
		sleep_ms(1);
	}
	used = before - free_kib();
	printf("# %d KiB are charged for what is unread: %ld KiB less memory\n",
	       RUNS * COST / 1024, used);
	EXPECT_LT(used, 9 * RUNS * COST / 4 / (long)KIB);
	queue_close(&q);
	close(fds[0]);
	close(fds[1]);
	close(listener);
}

/* Tiny messages that wait to be sent, by turns with some that do not fit behind them. */
TEST_F_TIMEOUT(memory, unsent_messages, 120)
{
	const struct opts o = { .tuning = { .send_buffer = 8 * MIB } };
	struct rdmachan_object object;
	long before, used, charged;
	char *data = malloc(LARGE);
	int fds[2], turn = 0;

	ASSERT_TRUE(data);
	fill_random(data, LARGE, 1);
	fds[0] = do_connect(self->ctx, SERVICE, &o);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(self->listener, NULL);
	ASSERT_GE(fds[1], 0);
	exchange(fds);
	before = free_kib();
	while (!do_send(fds[0], data, turn ? 4200 : 1, 0, DONTWAIT))
		turn = !turn;
	EXPECT_EQ(errno, EAGAIN);
	used = before - free_kib();
	ASSERT_EQ(get_object(fds[0], &object), 0);
	charged = object.tx_queued / KIB;
	printf("# %ld KiB are charged for what waits: %ld KiB less memory\n", charged, used);
	EXPECT_GE(charged, 8 * MIB / KIB);
	EXPECT_LT(used, 9 * charged / 4);
	free(data);
	close(fds[0]);
	close(fds[1]);
}

TEST_F(memory, idle_channel)
{
	static int fds[CHANNELS][2], first[2];
	long before, after;
	int i;

	/* What they share. */
	connect_pair(self->ctx, self->listener, first);
	exchange(first);
	before = free_kib();
	for (i = 0; i < CHANNELS; i++) {
		connect_pair(self->ctx, self->listener, fds[i]);
		exchange(fds[i]);
	}
	after = free_kib();
	printf("# %ld bytes for each of %d ends of channels\n",
	       (before - after) * KIB / (2 * CHANNELS), 2 * CHANNELS);
	EXPECT_LE((before - after) * KIB / (2 * CHANNELS), 4 * KIB);
	for (i = 0; i < CHANNELS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	close(first[0]);
	close(first[1]);
}

/* What the test's own functions send from and receive into: its pages are no part of a link. */
static struct {
	char data[LARGE];
	char copy[16][LARGE];
	char lent[65536] __attribute__((aligned(4096)));
	char from[65536] __attribute__((aligned(4096)));
	char to[8][65536];
} own;

/* Messages that wait in as many pages as a link has, both ways, until they are read. */
static void fill_and_empty(const int fds[2])
{
	int i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < 40; j++)
			ASSERT_EQ(do_send(fds[i], own.data, LARGE, 0, NULL), 0);
		/* They have come. */
		sleep_ms(10);
		for (j = 0; j < 40; j++)
			ASSERT_EQ(do_recv(fds[!i], own.data, LARGE, NULL, NULL), 0);
	}
}

/* So often that a loss each time would be several MiB. A first time makes caches. */
#define OFTEN 100

static long lost_kib(void (*what)(int ctx, const int fds[2]), int ctx, const int fds[2])
{
	long before;
	int i;

	what(ctx, fds);
	sleep_ms(1000);
	before = free_kib();
	for (i = 0; i < OFTEN; i++)
		what(ctx, fds);
	/* What RCU frees later. */
	sleep_ms(1000);
	return before - free_kib();
}

static void fill_and_empty_one(int ctx, const int fds[2])
{
	(void)ctx;
	fill_and_empty(fds);
}

static void make_queue(int ctx, const int fds[2])
{
	struct queue q;

	(void)fds;
	ASSERT_EQ(queue_open(ctx, &q, 1024, 1024), 0);
	queue_close(&q);
}

/* Pages that hold messages for longer than the link has others, and the rings of queues. */
TEST_F(memory, nothing_is_lost)
{
	static const struct {
		const char *name;
		void (*what)(int ctx, const int fds[2]);
	} uses[] = {
		{ "messages that wait", fill_and_empty_one },
		{ "queues", make_queue },
	};
	static const struct opts large = { .tuning = { .recv_buffer = MIB, .send_buffer = MIB } };
	int fds[2];
	size_t i;
	long kib;

	close(self->listener);
	self->listener = do_listen(self->peer, SERVICE, &large);
	fds[0] = do_connect(self->ctx, SERVICE, &large);
	fds[1] = do_accept(self->listener, NULL);
	for (i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		kib = lost_kib(uses[i].what, self->ctx, fds);
		printf("# %s: %ld KiB lost\n", uses[i].name, kib);
		EXPECT_LT(kib, KIB);
	}
	close(fds[0]);
	close(fds[1]);
}

/* READs that were under way at a time, of each size that is copied. */
static void borrow(int ctx, const int fds[2])
{
	const int64_t region = region_register(ctx, own.lent, sizeof(own.lent), 0, NULL);
	struct rdmachan_grant_event event;
	struct rdmachan_grant_range range;
	struct rdmachan_cqe cqe;
	struct queue q;
	size_t size;
	int i;

	ASSERT_GT(region, 0);
	range = RANGE(region, RDMACHAN_RIGHT_READ, 0, sizeof(own.lent));
	ASSERT_EQ(grant_ranges(fds[0], ctx, &range, 1), 0);
	ASSERT_TRUE(grant_next(fds[1], &event));
	ASSERT_EQ(queue_open(ctx, &q, 16, 16), 0);
	for (size = 256; size <= LARGE; size *= 4) {
		for (i = 0; i < 16; i++)
			queue_read(&q, fds[1], event.grant, 0, own.copy[i], size, i);
		ASSERT_EQ(queue_submit(&q), 16);
		for (i = 0; i < 16; i++)
			ASSERT_TRUE(queue_wait(&q, &cqe) && cqe.res == (int64_t)size);
	}
	queue_close(&q);
}

/* Messages from region to region, as many at a time as the link lends memory for. */
static void stream(int ctx, const int fds[2])
{
	const int64_t source = region_register(ctx, own.from, sizeof(own.from), 0, NULL);
	const int64_t target = region_register(ctx, (char *)own.to, sizeof(own.to), 0, NULL);
	struct rdmachan_cqe cqe;
	struct queue q;
	int i, round;

	ASSERT_TRUE(source > 0 && target > 0);
	ASSERT_EQ(queue_open(ctx, &q, 16, 16), 0);
	for (round = 0; round < 8; round++) {
		for (i = 0; i < 8; i++)
			region_recv(&q, fds[1], target, i * sizeof(own.from), sizeof(own.from), i);
		ASSERT_EQ(queue_submit(&q), 8);
		for (i = 0; i < 8; i++)
			region_send(&q, fds[0], source, 0, sizeof(own.from), i);
		ASSERT_EQ(queue_submit(&q), 8);
		for (i = 0; i < 16; i++)
			ASSERT_TRUE(queue_wait(&q, &cqe) && cqe.res == sizeof(own.from));
	}
	queue_close(&q);
	ASSERT_EQ(region_unregister(ctx, source), 0);
	ASSERT_EQ(region_unregister(ctx, target), 0);
}

/* What links of busy programs have come to keep they give back when these are idle. */
TEST_F_TIMEOUT(memory, idle_again, 120)
{
	static const struct opts large = { .tuning = { .recv_buffer = MIB, .send_buffer = MIB } };
	const int64_t until = now_ms() + 60000;
	int ctx[BUSY], fds[BUSY][2], i;
	long before, busy, after;

	for (i = 0; i < BUSY; i++) {
		ASSERT_EQ(seteuid(FIRST_USER + LINKS + i), 0);
		ctx[i] = open_ctx();
		ASSERT_EQ(seteuid(0), 0);
	}
	close(self->listener);
	self->listener = do_listen(self->peer, SERVICE, &large);
	memset(&own, 1, sizeof(own));
	before = free_kib();
	for (i = 0; i < BUSY; i++) {
		fds[i][0] = do_connect(ctx[i], SERVICE, &large);
		fds[i][1] = do_accept(self->listener, NULL);
		fill_and_empty(fds[i]);
		borrow(ctx[i], fds[i]);
		stream(self->ctx, fds[i]);
		stream(self->ctx, (int[]){ fds[i][1], fds[i][0] });
	}
	busy = (before - free_kib()) / (2 * BUSY);
	do {
		sleep_ms(500);
		after = (before - free_kib()) / (2 * BUSY);
	} while (after > IDLE_AGAIN && now_ms() < until);
	printf("# %ld KiB for each of %d ends of links that were busy, now %ld\n", busy,
	       2 * BUSY, after);
	EXPECT_LE(after, IDLE_AGAIN);
	for (i = 0; i < BUSY; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
		close(ctx[i]);
	}
}

/* Each user has a link of its own. */
TEST_F(memory, idle_link)
{
	int ctx[LINKS], fds[LINKS][2], i;
	struct rdmachan_info info;
	long before, after;

	for (i = 0; i < LINKS; i++) {
		ASSERT_EQ(seteuid(FIRST_USER + i), 0);
		ctx[i] = open_ctx();
		ASSERT_EQ(seteuid(0), 0);
	}
	before = free_kib();
	for (i = 0; i < LINKS; i++) {
		connect_pair(ctx[i], self->listener, fds[i]);
		exchange(fds[i]);
	}
	after = free_kib();
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_links, 2 * LINKS);
	printf("# %ld KiB for each of %d ends of links\n", (before - after) / (2 * LINKS),
	       2 * LINKS);
	EXPECT_LE((before - after) / (2 * LINKS), KIB);
	for (i = 0; i < LINKS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
		close(ctx[i]);
	}
}

TEST_HARNESS_MAIN
