// SPDX-License-Identifier: GPL-2.0
/*
 * queue_time_test.c - queues: operations that shall not wait for longer than they say
 */
#include <pthread.h>

#include "queue_fixture.h"

/* How many ms a message on the wire may add, and a look of queue_watch(), which sleeps for one. */
#define WIRE_LATE 1
#define WATCH_LATE 2

static char memory[64][64];

static struct rdmachan_sqe *recv_within(struct queue *q, int fd, uint32_t timeout_ms,
					uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_recv(q, fd, memory[user_data % 64], 64, user_data);

	sqe->timeout_ms = timeout_ms;
	return sqe;
}

TEST_F(queue, recv_in_time_and_not)
{
	int64_t begun = tick_ms();

	recv_within(&self->q, self->b, 50, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, -ETIMEDOUT);
	EXPECT_TOOK(begun, 50, LIMIT_LATE(50));
	ASSERT_EQ(write(self->a, "x", 1), 1);
	recv_within(&self->q, self->b, 50, 2);
	recv_within(&self->q, self->b, 0xffffffff, 3);
	recv_within(&self->q, self->b, 0x7fffffff, 4);
	ASSERT_EQ(queue_submit(&self->q), 3);
	EXPECT_CQE(&self->q, 2, 1);
	EXPECT_ERR(queue_enter(&self->q, 0, 1, 100), ETIMEDOUT);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(&self->q, 3, 1);
}

TEST_F(queue, ends_without_a_call)
{
	int64_t begun = tick_ms();
	struct rdmachan_cqe cqe;

	recv_within(&self->q, self->b, 50, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -ETIMEDOUT);
	EXPECT_TOOK(begun, 50, LIMIT_LATE(50) + WATCH_LATE);
}

/* Also of what goes on only in a call. */
TEST_F(queue, accept_and_connect_end)
{
	int listener = do_listen(self->peer, SERVICE, NULL), chan;
	struct rdmachan_cqe cqe;
	int64_t begun = tick_ms();

	queue_add(&self->q, OP(ACCEPT), listener, 1)->timeout_ms = 200;
	ASSERT_EQ(queue_submit(&self->q), 1);
	chan = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(chan, 0);
	EXPECT_TRUE(wait_readable(self->q.fd, 10000));
	EXPECT_EQ(queue_flags(&self->q), RDMACHAN_RING_F_ENTER);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -ETIMEDOUT);
	EXPECT_TOOK(begun, 200, LIMIT_LATE(200) + WATCH_LATE);
	EXPECT_EQ(queue_flags(&self->q), 0);
	/* It goes on waiting to be accepted. */
	queue_add(&self->q, OP(ACCEPT), listener, 2)->timeout_ms = 10000;
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_GE(cqe.res, 0);
}

TEST_F(queue, send_ends)
{
	static char big[64 << 10], back[64 << 10];
	uint32_t i, count;
	int64_t begun;

	memset(big, 1, sizeof(big));
	count = fill_up(self->a, sizeof(big));
	begun = tick_ms();
	queue_send(&self->q, self->a, big, sizeof(big), 1)->timeout_ms = 50;
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, -ETIMEDOUT);
	EXPECT_TOOK(begun, 50, LIMIT_LATE(50));
	for (i = 0; i < count; i++)
		ASSERT_EQ(read(self->b, back, sizeof(back)), sizeof(back));
	EXPECT_ERR(do_recv(self->b, back, sizeof(back), NULL, DONTWAIT), EAGAIN);
}

/* One in the middle of those of its channel ends, and the others go on in order. */
TEST_F(queue, in_a_line)
{
	struct queue *q = &self->q;

	recv_within(q, self->b, 0, 1);
	recv_within(q, self->b, 50, 2);
	recv_within(q, self->b, 0, 3);
	ASSERT_EQ(queue_submit(q), 3);
	EXPECT_CQE(q, 2, -ETIMEDOUT);
	ASSERT_EQ(write(self->a, "1", 1), 1);
	ASSERT_EQ(write(self->a, "33", 2), 2);
	EXPECT_CQE(q, 1, 1);
	EXPECT_CQE(q, 3, 2);
	/* The first. */
	recv_within(q, self->b, 50, 4);
	recv_within(q, self->b, 0, 5);
	ASSERT_EQ(queue_submit(q), 2);
	EXPECT_CQE(q, 4, -ETIMEDOUT);
	ASSERT_EQ(write(self->a, "5", 1), 1);
	EXPECT_CQE(q, 5, 1);
}

TEST_F(queue, in_a_chain)
{
	struct queue *q = &self->q;
	int64_t begun;

	recv_within(q, self->b, 50, 1)->flags = LINK;
	queue_add(q, OP(NOP), 0, 2);
	ASSERT_EQ(queue_submit(q), 2);
	EXPECT_CQE(q, 1, -ETIMEDOUT);
	EXPECT_CQE(q, 2, -ECANCELED);
	/* The time of the second begins with it. */
	recv_within(q, self->b, 0, 3)->flags = LINK;
	recv_within(q, self->b, 100, 4);
	ASSERT_EQ(queue_submit(q), 2);
	EXPECT_ERR(queue_enter(q, 0, 1, 200), ETIMEDOUT);
	begun = tick_ms();
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 3, 1);
	EXPECT_CQE(q, 4, -ETIMEDOUT);
	EXPECT_TOOK(begun, 100, LIMIT_LATE(100) + WIRE_LATE);
	/* And so does that of what is behind a DRAIN. */
	recv_within(q, self->b, 0, 5);
	recv_within(q, self->a, 100, 6)->flags = DRAIN;
	ASSERT_EQ(queue_submit(q), 2);
	EXPECT_ERR(queue_enter(q, 0, 1, 200), ETIMEDOUT);
	begun = tick_ms();
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 5, 1);
	EXPECT_CQE(q, 6, -ETIMEDOUT);
	EXPECT_TOOK(begun, 100, LIMIT_LATE(100) + WIRE_LATE);
}

/* The earliest ends first, whenever it was submitted. */
TEST_F(queue, ends_in_order)
{
	static const uint32_t after[] = { 700, 100, 500, 300, 900, 200, 800, 600, 400 };
	int64_t begun = tick_ms();
	struct rdmachan_cqe cqe;
	size_t i;

	for (i = 0; i < sizeof(after) / sizeof(*after); i++)
		recv_within(&self->q, self->b, after[i], after[i]);
	ASSERT_EQ(queue_submit(&self->q), i);
	for (i = 1; i <= sizeof(after) / sizeof(*after); i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.user_data, 100 * i);
		EXPECT_EQ(cqe.res, -ETIMEDOUT);
		/* The timer is set anew for each. */
		EXPECT_TOOK(begun, 100 * (int)i, LIMIT_LATE(100));
	}
}

TEST_F(queue, thousands_end_at_once)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	int64_t begun;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 4096, 4096), 0);
	begun = tick_ms();
	for (i = 0; i < 4096; i++)
		recv_within(&q, i % 2 ? self->a : self->b, 100, i);
	ASSERT_EQ(queue_submit(&q), 4096);
	for (i = 0; i < 4096; i++) {
		ASSERT_TRUE(queue_watch(&q, &cqe));
		EXPECT_EQ(cqe.res, -ETIMEDOUT);
	}
	EXPECT_TOOK(begun, 100, LIMIT_LATE(100) + WATCH_LATE);
	queue_close(&q);
}

/* Receive what comes within 500 ms, and then again within 500 ms, and so on. */
static void recv_many_within(struct queue *q, int fd, struct pool *pool)
{
	queue_recv_many(q, fd, pool->id, 1)->timeout_ms = 500;
	ASSERT_EQ(queue_submit(q), 1);
}

/* One more message. Return: what its receiver says; 0: none was sent for too long by now */
static int64_t another_in_time(struct fixture_queue *self, struct pool *pool, int64_t last)
{
	struct rdmachan_cqe cqe;

	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	if (cqe.res == -ETIMEDOUT && now_ms() - last >= 500)
		return 0;
	if (cqe.res == 1)
		pool_put(pool, memory[cqe.buffer], 64, cqe.buffer);
	return cqe.res;
}

/* Each message begins the time anew. */
TEST_F(queue, many_messages_in_time)
{
	struct rdmachan_cqe cqe;
	int64_t begun, last, said;
	struct pool pool;
	int i;

	ASSERT_EQ(pool_open(&self->q, &pool, 8), 0);
	for (i = 0; i < 8; i++)
		pool_put(&pool, memory[i], 64, i);
	begun = tick_ms();
	recv_many_within(&self->q, self->b, &pool);
	for (i = 0; i < 6; i++) {
		sleep_ms(200);
		last = begun;
		begun = tick_ms();
		said = another_in_time(self, &pool, last);
		if (said) {
			ASSERT_EQ(said, 1);
			continue;
		}
		ASSERT_TRUE(!time_is_virtual());
		printf("# the machine stood still: begun again\n");
		ASSERT_EQ(read(self->b, memory[63], 64), 1);
		begun = tick_ms();
		recv_many_within(&self->q, self->b, &pool);
		i = -1;
	}
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -ETIMEDOUT);
	EXPECT_EQ(cqe.flags, 0);
	EXPECT_TOOK(begun, 500, LIMIT_LATE(500) + WIRE_LATE);
}

#define OTHERS 200

static const struct opts small = {
	.tuning.send_buffer = RDMACHAN_BUFFER_MIN,
	.tuning.recv_buffer = RDMACHAN_BUFFER_MIN,
};

/* Many begin anew, more than are looked at in a row: each of them ends when its own time is up. */
TEST_F(queue, others_begin_anew)
{
	int64_t begun, ends[OTHERS];
	int fds[OTHERS][2], i;
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;

	if (!time_is_virtual())
		SKIP("a busy machine may stand still for as long");
	ASSERT_EQ(queue_open(self->ctx, &q, 256, 512), 0);
	ASSERT_EQ(pool_open(&q, &pool, 256), 0);
	for (i = 0; i < OTHERS; i++) {
		pair_up(self->ctx, fds[i], &small);
		pool_put(&pool, memory[i % 64], 1, i);
	}
	begun = tick_ms();
	for (i = 0; i < OTHERS; i++)
		queue_recv_many(&q, fds[i][1], pool.id, i)->timeout_ms = 500;
	ASSERT_EQ(queue_submit(&q), OTHERS);
	sleep_ms(250);
	for (i = 0; i < OTHERS; i++) {
		ends[i] = now_ms() + 500;
		ASSERT_EQ(write(fds[i][0], "x", 1), 1);
	}
	for (i = 0; i < OTHERS; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		ASSERT_EQ(cqe.res, 1);
	}
	EXPECT_LT(now_ms(), begun + 500);
	for (i = 0; i < OTHERS; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		ASSERT_EQ(cqe.res, -ETIMEDOUT);
		EXPECT_GE(now_ms(), ends[cqe.user_data]);
	}
	EXPECT_LE(now_ms(), ends[OTHERS - 1] + LIMIT_LATE(500) + WIRE_LATE);
	queue_close(&q);
	for (i = 0; i < OTHERS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

/* One that waits for room in the completion ring ends too, when there is room. */
TEST_F(queue, ends_while_the_ring_is_full)
{
	struct rdmachan_object about;
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;
	int i;

	/* Memory that is present needs no call. */
	memset(memory, 1, sizeof(memory));
	ASSERT_EQ(queue_open(self->ctx, &q, 2, 2), 0);
	ASSERT_EQ(pool_open(&q, &pool, 8), 0);
	for (i = 0; i < 8; i++) {
		pool_put(&pool, memory[i], 64, i);
		ASSERT_EQ(write(self->a, "x", 1), 1);
	}
	do {
		let_time_pass();
		ASSERT_EQ(get_object(self->b, &about), 0);
	} while (about.rx_queued < 8);
	queue_recv_many(&q, self->b, pool.id, 1)->timeout_ms = 50;
	ASSERT_EQ(queue_submit(&q), 1);
	sleep_ms(200);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, i < 2 ? 1 : -ETIMEDOUT);
	}
	EXPECT_ERR(queue_enter(&q, 0, 1, 50), ETIMEDOUT);
	EXPECT_EQ(queue_flags(&q), 0);
	queue_close(&q);
}

static void *writer(void *arg)
{
	int fd = *(int *)arg;
	uint32_t i;

	for (i = 0; i < 300; i++) {
		sleep_ms(i % 7);
		if (write(fd, &i, 4) != 4)
			return NULL;
	}
	return arg;
}

/* Messages come just when receives end: none is lost, none comes twice. */
TEST_F(queue, ends_race_with_messages)
{
	struct rdmachan_cqe cqe;
	uint32_t expect = 0;
	pthread_t thread;
	void *done;
	int i;

	ASSERT_EQ(pthread_create(&thread, NULL, writer, &self->a), 0);
	while (expect < 300) {
		for (i = 0; i < 4; i++)
			recv_within(&self->q, self->b, 1 + i, i);
		ASSERT_EQ(queue_submit(&self->q), 4);
		for (i = 0; i < 4; i++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			if (cqe.res == -ETIMEDOUT)
				continue;
			EXPECT_EQ(cqe.res, 4);
			EXPECT_EQ(memcmp(memory[cqe.user_data], &expect, 4), 0);
			expect++;
		}
	}
	ASSERT_EQ(pthread_join(thread, &done), 0);
	EXPECT_TRUE(done);
}

TEST_F(queue, closed_before_the_end)
{
	struct queue q;
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
		recv_within(&q, self->b, 1 + i % 5, 1);
		recv_within(&q, self->b, 100000, 2);
		ASSERT_EQ(queue_submit(&q), 2);
		sleep_ms(i % 7);
		queue_close(&q);
	}
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(read(self->b, memory[0], 64), 1);
}

TEST_HARNESS_MAIN
