// SPDX-License-Identifier: GPL-2.0
/*
 * gather_test.c - small messages that are held back, so that they share a frame
 *
 * Most tests set gather_us so high that a message which is held back although it must not
 * be takes a quarter of a second, and send so many that this cannot be overlooked.
 */
#include <poll.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "ring.h"

#define SECOND 1000000
#define DEFAULT 100
#define ROUNDS 40
/* Less than ROUNDS quarters of a second. */
#define QUICK_MS 5000

FIXTURE(gather)
{
	int ctx;
	int a;
	int b;
	int64_t begun;
};

FIXTURE_SETUP(gather)
{
	int fds[2];

	self->ctx = open_ctx();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	set_parameter("gather_us", SECOND);
	self->begun = now_ms();
}

FIXTURE_TEARDOWN(gather)
{
	set_parameter("gather_us", DEFAULT);
	close(self->a);
	close(self->b);
	close(self->ctx);
}

/* Two messages one way, and one back, by the child. */
static pid_t answer(int chan)
{
	char byte[8];
	pid_t child = fork();
	int i;

	if (child)
		return child;
	for (i = 0; i < ROUNDS; i++) {
		if (read(chan, byte, 8) != 1 || read(chan, byte, 8) != 1)
			_exit(1);
		if (write(chan, "c", 1) != 1)
			_exit(2);
	}
	_exit(0);
}

TEST_F(gather, frames_are_shared)
{
	uint64_t before;
	char back[8];
	int i;

	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(read(self->b, back, 8), 1);
	before = frames_sent(self->ctx);
	ASSERT_GT(before, 0);
	for (i = 0; i < 200; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(read(self->b, back, 8), 4);
		EXPECT_EQ(memcmp(back, &i, 4), 0);
	}
	EXPECT_LT(frames_sent(self->ctx) - before, 100);
}

/* Nobody waits, and nothing else is sent: a timer ends it. */
TEST_F(gather, not_for_ever)
{
	char back[8];
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(write(self->a, "y", 1), 1);
		EXPECT_EQ(read(self->b, back, 8), 1);
		EXPECT_EQ(read(self->b, back, 8), 1);
	}
}

TEST_F(gather, who_reads_sends_first)
{
	pid_t child = answer(self->b);
	char back[8];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(write(self->a, "y", 1), 1);
		ASSERT_EQ(read(self->a, back, 8), 1);
	}
	EXPECT_EQ(child_status(child), 0);
	EXPECT_LT(now_ms() - self->begun, QUICK_MS);
}

TEST_F(gather, who_polls_sends_first)
{
	pid_t child = answer(self->b);
	struct pollfd pollfd = { .fd = self->a, .events = POLLIN };
	char back[8];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(write(self->a, "y", 1), 1);
		ASSERT_EQ(poll(&pollfd, 1, 10000), 1);
		ASSERT_EQ(read(self->a, back, 8), 1);
	}
	EXPECT_EQ(child_status(child), 0);
	EXPECT_LT(now_ms() - self->begun, QUICK_MS);
}

TEST_F(gather, an_answer_is_not_held)
{
	char back[8];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(read(self->b, back, 8), 1);
		ASSERT_EQ(write(self->b, "y", 1), 1);
		ASSERT_EQ(read(self->a, back, 8), 1);
	}
	EXPECT_LT(now_ms() - self->begun, QUICK_MS);
}

/* A call of ENTER says what belongs together. */
TEST_F(gather, queues_hold_nothing)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	char back[8];
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	for (i = 0; i < ROUNDS; i++) {
		queue_send(&q, self->a, "x", 1, i);
		ASSERT_EQ(queue_submit(&q), 1);
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, 1);
		ASSERT_EQ(read(self->b, back, 8), 1);
	}
	EXPECT_LT(now_ms() - self->begun, QUICK_MS);
	queue_close(&q);
}

/* What is held back goes before what closes the channel. */
TEST_F(gather, close_sends)
{
	char back[8];
	int i, fds[2];

	for (i = 0; i < ROUNDS; i++) {
		pair_up(self->ctx, fds, NULL);
		ASSERT_EQ(write(fds[0], "x", 1), 1);
		ASSERT_EQ(write(fds[0], "y", 1), 1);
		close(fds[0]);
		EXPECT_EQ(read(fds[1], back, 8), 1);
		EXPECT_EQ(read(fds[1], back, 8), 1);
		EXPECT_EQ(read(fds[1], back, 8), 0);
		close(fds[1]);
	}
	EXPECT_LT(now_ms() - self->begun, QUICK_MS);
}

TEST_HARNESS_MAIN
