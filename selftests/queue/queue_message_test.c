// SPDX-License-Identifier: GPL-2.0
/*
 * queue_message_test.c - queues: messages to other queues
 */
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>

#include "queue_fixture.h"

#define MESSAGE RDMACHAN_CQE_F_MESSAGE

static struct rdmachan_sqe *add_message(struct queue *q, int to, uint64_t data, uint32_t res,
					uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, OP(MESSAGE), to, user_data);

	sqe->target = data;
	sqe->length = res;
	return sqe;
}

/* The next completion is a message. */
#define EXPECT_MESSAGE(q, data, result)					\
	do {								\
		struct rdmachan_cqe message_;				\
									\
		ASSERT_TRUE(queue_wait(q, &message_));			\
		EXPECT_EQ(message_.user_data, (uint64_t)(data));	\
		EXPECT_EQ(message_.res, (int64_t)(result));		\
		EXPECT_EQ(message_.flags, MESSAGE);			\
	} while (0)

TEST_F(queue, message_is_told)
{
	const uint64_t big = 0xfedcba9876543210ULL;
	struct rdmachan_cqe cqe;
	struct queue other;

	ASSERT_EQ(queue_open(self->peer, &other, 8, 8), 0);
	EXPECT_EQ(poll_mask(other.fd, POLLIN, 0), 0);
	add_message(&self->q, other.fd, big, 0xffffffff, 1);
	add_message(&self->q, other.fd, big + 1, 0, 2)->flags = SKIP_SUCCESS;
	add_message(&self->q, other.fd, big + 2, 5, 3);
	EXPECT_EQ(queue_submit(&self->q), 3);
	EXPECT_CQE(&self->q, 1, 0);
	EXPECT_CQE(&self->q, 3, 0);
	/* Nobody makes a call there. */
	EXPECT_TRUE(wait_readable(other.fd, 10000));
	ASSERT_TRUE(queue_watch(&other, &cqe));
	EXPECT_EQ(cqe.user_data, big);
	EXPECT_EQ(cqe.res, 0xffffffffLL);
	EXPECT_EQ(cqe.flags, MESSAGE);
	EXPECT_MESSAGE(&other, big + 1, 0);
	EXPECT_MESSAGE(&other, big + 2, 5);
	queue_close(&other);
}

TEST_F(queue, message_to_itself)
{
	add_message(&self->q, self->q.fd, 7, 8, 1);
	EXPECT_EQ(queue_enter(&self->q, 1, 2, 10000), 1);
	EXPECT_CQE(&self->q, 1, 0);
	EXPECT_MESSAGE(&self->q, 7, 8);
}

static void *waiter(void *arg)
{
	struct queue *q = arg;

	return queue_enter(q, 0, 1, 10000) == 0 ? arg : NULL;
}

/* A thread waits there, in a call; and behind what has succeeded. */
TEST_F(queue, message_wakes_a_thread)
{
	struct queue other;
	pthread_t thread;
	void *result;
	char back[8];

	ASSERT_EQ(queue_open(self->ctx, &other, 8, 8), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, waiter, &other), 0);
	queue_recv(&self->q, self->b, back, 8, 1)->flags = LINK;
	add_message(&self->q, other.fd, 3, 4, 2);
	EXPECT_EQ(queue_submit(&self->q), 2);
	sleep_ms(20);
	EXPECT_EQ(queue_ready(&other), 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	pthread_join(thread, &result);
	EXPECT_TRUE(result == &other);
	EXPECT_MESSAGE(&other, 3, 4);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_CQE(&self->q, 2, 0);
	queue_close(&other);
}

TEST_F(queue, message_finds_no_room)
{
	struct rdmachan_cqe cqe;
	struct queue other;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &other, 4, 4), 0);
	for (i = 0; i < 6; i++)
		add_message(&self->q, other.fd, i, i, 100 + i);
	EXPECT_EQ(queue_submit(&self->q), 6);
	EXPECT_EQ(queue_enter(&other, 0, 4, 10000), 0);
	for (i = 0; i < 6; i++)
		EXPECT_CQE(&self->q, 100 + i, i < 4 ? 0 : -ENOSPC);
	/* What the queue itself has to say waits for room: no message gets before it. */
	queue_add(&other, OP(NOP), 0, 50);
	EXPECT_EQ(queue_submit(&other), 1);
	EXPECT_EQ(queue_flags(&other), RDMACHAN_RING_F_OVERFLOW);
	ASSERT_TRUE(queue_next(&other, &cqe));
	EXPECT_EQ(cqe.user_data, 0);
	add_message(&self->q, other.fd, 6, 6, 1);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, -ENOSPC);
	EXPECT_EQ(queue_enter(&other, 0, 0, 0), 0);
	EXPECT_EQ(queue_flags(&other), 0);
	for (i = 1; i < 4; i++)
		EXPECT_MESSAGE(&other, i, i);
	EXPECT_CQE(&other, 50, 0);
	EXPECT_EQ(queue_ready(&other), 0);
	/* There is room again. */
	add_message(&self->q, other.fd, 9, 9, 1);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 0);
	EXPECT_MESSAGE(&other, 9, 9);
	queue_close(&other);
}

TEST_F(queue, message_checks)
{
	struct queue *q = &self->q;

	add_message(q, self->a, 1, 1, 1);
	add_message(q, self->ctx, 1, 1, 2);
	add_message(q, -1, 1, 1, 3);
	add_message(q, q->fd, 1, 1, 4)->length = 1ULL << 32;
	add_message(q, q->fd, 1, 1, 5)->msg_flags = 1;
	add_message(q, q->fd, 1, 1, 6)->addr = 1;
	add_message(q, q->fd, 1, 1, 7)->op_flags = 1;
	add_message(q, q->fd, 1, 1, 8)->flags = RDMACHAN_SQE_F_FENCE;
	EXPECT_EQ(queue_submit(q), 8);
	EXPECT_CQE(q, 1, -ENOTTY);
	EXPECT_CQE(q, 2, -ENOTTY);
	EXPECT_CQE(q, 3, -EBADF);
	EXPECT_CQE(q, 4, -EINVAL);
	EXPECT_CQE(q, 5, -EINVAL);
	EXPECT_CQE(q, 6, -EINVAL);
	EXPECT_CQE(q, 7, -EINVAL);
	EXPECT_CQE(q, 8, -EOPNOTSUPP);
	EXPECT_EQ(queue_ready(q), 0);
}

/* Two queues that have messages for each other end all the same, and tell what is closed. */
TEST_F(queue, messages_keep_no_queue_open)
{
	struct rdmachan_info info = { .size = sizeof(info) };
	struct queue one, two;
	uint64_t before;
	char back[8];

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	before = info.out_use_queues.user;
	ASSERT_EQ(queue_open(self->ctx, &one, 8, 8), 0);
	ASSERT_EQ(queue_open(self->ctx, &two, 8, 8), 0);
	queue_recv(&one, self->b, back, 8, 1)->flags = LINK;
	add_message(&one, two.fd, 1, 1, 2);
	EXPECT_EQ(queue_submit(&one), 2);
	queue_recv(&two, self->b, back, 8, 1)->flags = LINK;
	add_message(&two, one.fd, 1, 1, 2);
	EXPECT_EQ(queue_submit(&two), 2);
	queue_recv(&self->q, self->a, back, 8, 1)->flags = LINK;
	add_message(&self->q, one.fd, 1, 1, 2);
	EXPECT_EQ(queue_submit(&self->q), 2);
	/* One that is there, and was not read. */
	add_message(&self->q, two.fd, 1, 1, 3);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 3, 0);
	queue_close(&one);
	queue_close(&two);
	ASSERT_EQ(write(self->b, "x", 1), 1);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_CQE(&self->q, 2, -EBADF);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_queues.user, before);
}

/* Another program's queue, whose descriptor was inherited. */
TEST_F(queue, message_of_another_program)
{
	struct queue mine;
	pid_t child = fork();

	if (!child) {
		int ctx = open_ctx();

		if (queue_open(ctx, &mine, 4, 4))
			_exit(1);
		add_message(&mine, self->q.fd, 11, 12, 1);
		_exit(queue_submit(&mine) == 1 && queue_ready(&mine) == 1 ? 0 : 2);
	}
	EXPECT_MESSAGE(&self->q, 11, 12);
	EXPECT_EQ(child_status(child), 0);
}

#define ROUNDS 500

struct side {
	struct queue q;
	int to;
	uint32_t sent;
	uint32_t got;
	bool busy;
};

/* Look at what has come. Return: whether it was right. */
static bool harvest(struct side *s)
{
	struct rdmachan_cqe cqe;

	while (queue_next(&s->q, &cqe)) {
		if (cqe.flags & MESSAGE) {
			if (cqe.res != s->got++)
				return false;
			continue;
		}
		if (cqe.res && cqe.res != -ENOSPC)
			return false;
		s->busy = false;
		s->sent += !cqe.res;
		/* In virtual time no other thread would have its turn, and make room. */
		if (cqe.res)
			sleep_ms(1);
	}
	return true;
}

/* Send one message after the other, when there is room there, and read what comes. */
static void *exchange(void *arg)
{
	struct side *s = arg;
	bool more;

	s->sent = 0;
	s->got = 0;
	s->busy = false;
	while (s->sent < ROUNDS || s->got < ROUNDS) {
		more = !s->busy && s->sent < ROUNDS;
		if (more)
			add_message(&s->q, s->to, 1, s->sent, 2);
		s->busy |= more;
		if (queue_enter(&s->q, more, 1, 10000) < 0 || !harvest(s))
			return NULL;
	}
	return arg;
}

static void both_at_once(struct fixture_queue *self, bool polled)
{
	static struct side sides[2];
	pthread_t threads[2];
	void *result;
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(polled ? queue_open_polled(self->ctx, &sides[i].q, 8, 8, 1) :
				   queue_open(self->ctx, &sides[i].q, 8, 8), 0);
	for (i = 0; i < 2; i++)
		sides[i].to = sides[!i].q.fd;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(pthread_create(&threads[i], NULL, exchange, &sides[i]), 0);
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		EXPECT_TRUE(result == &sides[i]);
	}
	for (i = 0; i < 2; i++)
		queue_close(&sides[i].q);
}

/* Each of two sends to the other at the same time: none is lost, and their order stays. */
TEST_F(queue, messages_both_ways)
{
	both_at_once(self, false);
}

TEST_F(queue, messages_both_ways_with_pollers)
{
	both_at_once(self, true);
}

TEST_HARNESS_MAIN
