// SPDX-License-Identifier: GPL-2.0
/*
 * lib_queue_end_test.c - queues of the library: those with a poller, and how they end
 */
#include <fcntl.h>

#include "lib_fixture.h"

/* A poller that does not sleep. */
#define IDLE RDMACHAN_POLLER_IDLE_MAX

/*
 * Queues with a poller
 */

/* The state of this program's poller, as ps shows it; 0 if there is none. */
static char poller_state(void)
{
	char path[64], want[32], text[512], state = 0;
	struct dirent *task;
	DIR *dir = opendir("/proc");
	FILE *file;

	ASSERT_TRUE(dir);
	snprintf(want, sizeof(want), " (rdmachan/%d) ", getpid());
	while (!state && (task = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.16s/stat", task->d_name);
		file = *task->d_name >= '1' && *task->d_name <= '9' ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file) && strstr(text, want))
			state = strstr(text, want)[strlen(want)];
		fclose(file);
	}
	closedir(dir);
	return state;
}

/* It says so in the ring before it sleeps. */
static bool wait_asleep(void)
{
	int64_t until = now_ms() + 10000;

	while (poller_state() != 'I' && now_ms() < until)
		sleep_ms(1);
	return poller_state() == 'I';
}

static struct rdmachan_queue *open_polled(int ctx, uint32_t sq, uint32_t cq, uint32_t idle_ms)
{
	struct rdmachan_error err;
	struct rdmachan_queue *q = rdmachan_queue_open_polled(ctx, sq, cq, idle_ms, &err);

	ASSERT_TRUE(q);
	return q;
}

/* Waiting for the descriptor takes no entries. */
TEST_F(lib, poller_is_woken)
{
	struct rdmachan_queue *q = open_polled(self->ctx, 8, 8, 1);
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(wait_asleep());
		nop(q, i);
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
		watch(q, i, 0);
	}
	/* Waiting wakes it as well. */
	ASSERT_TRUE(wait_asleep());
	nop(q, 1);
	EXPECT_DONE(q, 1, 0);
	ASSERT_TRUE(wait_asleep());
	nop(q, 2);
	ASSERT_EQ(rdmachan_queue_submit_and_wait(q, 1, 10000, NULL), 1);
	EXPECT_DONE(q, 2, 0);
	rdmachan_queue_close(q);
}

TEST_F(lib, polled_messages)
{
	struct rdmachan_queue *q = open_polled(self->ctx, 8, 8, IDLE);
	struct rdmachan_cqe cqes[2];
	uint32_t i;

	for (i = 0; i < 500; i++) {
		memcpy(memory[0], &i, 4);
		memset(memory[1], 1, SIZE);
		rdmachan_queue_prep_recv(entry(q, 0), self->b, memory[1], SIZE);
		rdmachan_queue_prep_send(entry(q, 1), self->a, memory[0], 4, i);
		/* How many it was shown. */
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), 2);
		EXPECT_EQ(rdmachan_queue_submit(q, NULL), 0);
		collect(q, cqes, 2);
		EXPECT_EQ(cqes[0].res, 4);
		EXPECT_EQ(cqes[0].msg_flags, i);
		EXPECT_EQ(cqes[1].res, 4);
		EXPECT_EQ(memcmp(memory[1], &i, 4), 0);
	}
	rdmachan_queue_close(q);
}

/* A ring that is full is not when the call returns, whether the poller was faster or not. */
TEST_F(lib, polled_until_full)
{
	struct rdmachan_queue *q = open_polled(self->ctx, 4, 8, IDLE);
	uint64_t put = 0, got = 0;
	struct rdmachan_sqe *sqe;
	int round, count;

	for (round = 0; round < 1000; round++) {
		for (count = 0; (sqe = rdmachan_queue_get_sqe(q)); count++) {
			rdmachan_queue_prep_nop(sqe);
			sqe->user_data = put++;
			ASSERT_LT(count, 8);
		}
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), count);
		nop(q, put++);
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
		while (got < put)
			EXPECT_DONE(q, got++, 0);
	}
	rdmachan_queue_close(q);
}

static int do_submit(struct rdmachan_queue *q)
{
	return rdmachan_queue_submit(q, NULL);
}

static int do_peek(struct rdmachan_queue *q)
{
	struct rdmachan_cqe *cqe;

	return rdmachan_queue_peek_cqe(q, &cqe, NULL) - 1;
}

static int do_wait(struct rdmachan_queue *q)
{
	struct rdmachan_cqe *cqe;

	return rdmachan_queue_wait_cqe(q, &cqe, 0, NULL);
}

/*
 * ACCEPT makes a descriptor, in a call only. There is a completion at hand all the time, as
 * where a queue is busy.
 */
static void accept_on(struct rdmachan_queue *q, int ctx, int (*use)(struct rdmachan_queue *))
{
	int peer = open_peer(), listener = do_listen(peer, SERVICE, NULL), chan, fd;
	int64_t until;

	nop(q, 1);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
	ASSERT_TRUE(wait_readable(rdmachan_queue_fd(q), 10000));
	rdmachan_queue_prep_accept(entry(q, 2), listener, 0);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
	chan = do_connect(ctx, SERVICE, NULL);
	ASSERT_GE(chan, 0);
	fd = dup(chan);
	ASSERT_EQ(close(fd), 0);
	/* Before it sleeps, as a call would wake it. */
	until = now_ms() + IDLE / 2;
	while (fcntl(fd, F_GETFD) < 0 && now_ms() < until) {
		ASSERT_EQ(use(q), 0);
		sleep_ms(1);
	}
	EXPECT_EQ(fcntl(fd, F_GETFD), 0);
	EXPECT_DONE(q, 1, 0);
	EXPECT_DONE(q, 2, fd);
	close(fd);
	close(chan);
	close(listener);
	close(peer);
}

TEST_F(lib, accept_on_a_busy_queue)
{
	struct rdmachan_queue *q = open_polled(self->ctx, 8, 8, IDLE);

	accept_on(q, self->ctx, do_submit);
	accept_on(q, self->ctx, do_peek);
	accept_on(q, self->ctx, do_wait);
	rdmachan_queue_close(q);
	accept_on(self->q, self->ctx, do_peek);
	accept_on(self->q, self->ctx, do_wait);
}

/*
 * The end
 */

static uint64_t queues_in_use(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_queues.all;
}

/* Mappings of queues that this program has. */
static int mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file))
		count += !!strstr(line, "[rdmachan-queue]");
	fclose(file);
	return count;
}

struct receiving {
	struct rdmachan_pool *pool;
	char *memory;
	uint32_t region;
};

/* RECVs into a pool and into a region are under way when this returns. */
static void receive(struct fixture_lib *self, struct rdmachan_queue *q, struct receiving *r)
{
	r->memory = pages(PAGE);
	r->region = region_of(self->ctx, r->memory, PAGE, 0);
	r->pool = make_pool(q, 4, 4);
	rdmachan_queue_prep_recv_region(entry(q, 1), self->a, r->region, 0, PAGE);
	rdmachan_queue_prep_recv_pool(entry(q, 2), self->b, r->pool);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 2);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_MESSAGE(q, 2, 1, 0);
	EXPECT_ERR(rdmachan_region_unregister(self->ctx, r->region, NULL), EBUSY);
	memset(memory, 0x33, sizeof(memory));
	memset(r->memory, 0x33, PAGE);
}

/* A call receives messages from now on, and memory is the program's. */
static void expect_ended(struct fixture_lib *self, struct receiving *r)
{
	char back[8];

	EXPECT_EQ(rdmachan_region_unregister(self->ctx, r->region, NULL), 0);
	EXPECT_EQ(write(self->a, "there", 5), 5);
	EXPECT_EQ(write(self->b, "back", 4), 4);
	EXPECT_EQ(do_recv(self->b, back, 8, NULL, TIMEOUT(5000)), 0);
	EXPECT_EQ(memcmp(back, "there", 5), 0);
	EXPECT_EQ(do_recv(self->a, back, 8, NULL, TIMEOUT(5000)), 0);
	EXPECT_EQ(memcmp(back, "back", 4), 0);
	EXPECT_TRUE(is_all(memory, sizeof(memory), 0x33));
	EXPECT_TRUE(is_all(r->memory, PAGE, 0x33));
}

TEST_F(lib, closed_with_a_pool)
{
	struct rdmachan_queue *q = rdmachan_queue_open(self->ctx, 8, 8, NULL);
	int before = mappings();
	struct receiving r;

	ASSERT_TRUE(q);
	EXPECT_EQ(queues_in_use(self->ctx), 2);
	receive(self, q, &r);
	EXPECT_EQ(mappings(), before + 1);
	rdmachan_queue_close(q);
	EXPECT_EQ(queues_in_use(self->ctx), 1);
	EXPECT_EQ(mappings(), before - 2);
	expect_ended(self, &r);
	EXPECT_ERR(rdmachan_pool_add(r.pool, memory[0], SIZE, 1), EBADF);
	EXPECT_EQ(rdmachan_pool_left(r.pool), 0);
	rdmachan_pool_close(r.pool);
	EXPECT_EQ(mappings(), before - 2);
}

TEST_F(lib, closed_with_a_pool_and_a_poller)
{
	struct rdmachan_queue *q = open_polled(self->ctx, 8, 8, IDLE);
	struct rdmachan_info info;
	struct receiving r;

	receive(self, q, &r);
	rdmachan_queue_close(q);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_pollers.all, 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
	expect_ended(self, &r);
	rdmachan_pool_close(r.pool);
}

/* Pools may be closed in any order, before their queue and after it. */
TEST_F(lib, pools_are_closed)
{
	struct rdmachan_pool *pools[5];
	int before = mappings(), i;
	struct rdmachan_queue *q;

	q = rdmachan_queue_open(self->ctx, 8, 8, NULL);
	ASSERT_TRUE(q);
	for (i = 0; i < 5; i++)
		pools[i] = make_pool(q, 4, 0);
	EXPECT_EQ(mappings(), before + 7);
	rdmachan_pool_close(pools[2]);
	rdmachan_pool_close(pools[4]);
	rdmachan_pool_close(pools[0]);
	EXPECT_EQ(mappings(), before + 4);
	/* One that was closed goes on with the buffers that it has. */
	ASSERT_EQ(rdmachan_pool_add(pools[1], memory[1], SIZE, 9), 0);
	rdmachan_queue_prep_recv_pool(entry(q, 1), self->b, pools[1]);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
	rdmachan_pool_close(pools[1]);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_MESSAGE(q, 1, 1, 9);
	EXPECT_EQ(*memory[1], 'x');
	rdmachan_queue_close(q);
	EXPECT_EQ(mappings(), before);
	rdmachan_pool_close(pools[3]);
	EXPECT_EQ(mappings(), before);
	EXPECT_EQ(queues_in_use(self->ctx), 1);
}

/* A child that has the descriptor keeps the queue, and nothing else of the program does. */
TEST_F(lib, closed_while_a_child_has_it)
{
	struct rdmachan_queue *q = rdmachan_queue_open(self->ctx, 8, 8, NULL);
	struct receiving r;
	pid_t child;

	ASSERT_TRUE(q);
	receive(self, q, &r);
	child = LATER(0, pause());
	rdmachan_queue_close(q);
	EXPECT_ERR(rdmachan_region_unregister(self->ctx, r.region, NULL), EBUSY);
	kill(child, SIGKILL);
	child_status(child);
	expect_ended(self, &r);
	rdmachan_pool_close(r.pool);
}

TEST_HARNESS_MAIN
