// SPDX-License-Identifier: GPL-2.0
/*
 * queue_stuck_test.c - large messages of a queue whose thread waits for memory of its program
 *
 * The thread is in ENTER, so nobody else runs the queue's operations. The peer has opened memory
 * for a message, and other programs want to write as well: they go on regardless. A peer that has
 * written to the thread's own memory owes nothing. One more channel of the same link tells whether
 * that is in order.
 */
#include <sys/stat.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "reader.h"
#include "region.h"
#include "slow.h"

#define MIB 1048576UL
/* More than one key has room for. */
#define SIZE (4 * MIB)
#define PAGE 4096UL
/* More writers than have their turn at a time. */
#define LENT 3
/* What is sent last, from memory that is not there. */
#define LAST 8

FIXTURE(stuck)
{
	int ctx;
	int quiet[2];
	int last[2];
	int fds[LENT][2];
	struct queue q;
	struct queue there;
	char *from;
	char *to;
	uint32_t from_id;
	uint32_t to_id;
	struct slow slow;
	pthread_t thread;
};

static char *stuck_pages(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

FIXTURE_SETUP(stuck)
{
	int i;

	if (!slow_begin(&self->slow, PAGE))
		SKIP("this kernel has no userfaultfd");
	/* A user of its own has a link of its own, which knows of this dead time. */
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	set_parameter("dead_ms", 600);
	ASSERT_EQ(seteuid(7655), 0);
	self->ctx = open_ctx();
	pair_up(self->ctx, self->quiet, NULL);
	pair_up(self->ctx, self->last, NULL);
	for (i = 0; i < LENT; i++)
		pair_up(self->ctx, self->fds[i], NULL);
	ASSERT_EQ(seteuid(0), 0);
	set_parameter("dead_ms", 5000);
	ASSERT_EQ(queue_open(self->ctx, &self->q, 16, 16), 0);
	ASSERT_EQ(queue_open(self->ctx, &self->there, 16, 16), 0);
	self->from = stuck_pages(SIZE);
	self->to = stuck_pages(SIZE);
	self->from_id = region_register(self->ctx, self->from, SIZE, 0, NULL);
	self->to_id = region_register(self->ctx, self->to, SIZE, 0, NULL);
	ASSERT_GT((int32_t)self->from_id, 0);
	ASSERT_GT((int32_t)self->to_id, 0);
}

FIXTURE_TEARDOWN(stuck)
{
	int i;

	queue_close(&self->q);
	queue_close(&self->there);
	for (i = 0; i < 2; i++) {
		close(self->quiet[i]);
		close(self->last[i]);
	}
	for (i = 0; i < LENT; i++) {
		close(self->fds[i][0]);
		close(self->fds[i][1]);
	}
	close(self->ctx);
}

/* Messages are as far from each other as they are long; so is their room. */

static void receive(struct fixture_stuck *self, int i, size_t len)
{
	region_recv(&self->there, self->fds[i][1], self->to_id, i * len, len, i);
	ASSERT_EQ(queue_submit(&self->there), 1);
}

static void add_send(struct fixture_stuck *self, int i, size_t len)
{
	region_send(&self->q, self->fds[i][0], self->from_id, i * len, len, i);
}

static void expect_received(struct fixture_stuck *self, int count, size_t len, uint64_t number)
{
	struct rdmachan_cqe cqe;
	int i;

	for (i = 0; i < count; i++) {
		ASSERT_TRUE(queue_wait(&self->there, &cqe));
		EXPECT_EQ(cqe.res, len);
	}
	EXPECT_TRUE(is_random(self->to, count * len, number));
}

static void *submit_all(void *arg)
{
	slow_undisturbed();
	return (void *)(long)queue_submit(arg);
}

/* All that was added, and one that waits for its memory in the middle of the call. */
static void stick(struct fixture_stuck *self)
{
	queue_send(&self->q, self->last[0], self->slow.memory, LAST, LENT);
	ASSERT_EQ(pthread_create(&self->thread, NULL, submit_all, &self->q), 0);
	slow_met(&self->slow);
}

/* @count: were added, and are sent by now */
static void come_loose(struct fixture_stuck *self, int count, size_t len)
{
	struct rdmachan_cqe cqe;
	char back[LAST];
	void *taken;
	int i;

	slow_end(&self->slow);
	pthread_join(self->thread, &taken);
	EXPECT_EQ((long)taken, count + 1);
	for (i = 0; i <= count; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, cqe.user_data == LENT ? LAST : len);
	}
	EXPECT_EQ(read(self->last[1], back, LAST), LAST);
}

/* The answer to a question comes while the thread is stuck: the peer's memory is open. */
static void answered_while_stuck(struct fixture_stuck *self, size_t len)
{
	fill_random(self->from, len, len);
	receive(self, 0, len);
	add_send(self, 0, len);
	stick(self);
	/* More than what a peer may take for one piece of a message, four dead times. */
	sleep_ms(4000);
	talk(self->quiet[0], self->quiet[1]);
	expect_received(self, 1, len, len);
	come_loose(self, 1, len);
}

TEST_F(stuck, answered)
{
	answered_while_stuck(self, 65536);
}

TEST_F(stuck, answered_in_pieces)
{
	answered_while_stuck(self, SIZE);
}

/*
 * The thread comes back at about the time at which others go on without it. The receive waits, or
 * comes late, so that the question is refused perhaps, and the message goes in segments.
 */
TEST_F_TIMEOUT(stuck, comes_back, 60)
{
	int i;

	for (i = 0; i < 40; i++) {
		fill_random(self->from, MIB, i);
		if (i % 2)
			receive(self, 0, MIB);
		add_send(self, 0, MIB);
		stick(self);
		if (i % 2 == 0)
			receive(self, 0, MIB);
		sleep_ms(3 * i);
		come_loose(self, 1, MIB);
		expect_received(self, 1, MIB, i);
		ASSERT_EQ(madvise(self->slow.memory, PAGE, MADV_DONTNEED), 0);
	}
}

/* On each channel a message that was not lent for: after it the next receive lends. */
static void lend_all(struct fixture_stuck *self)
{
	uint64_t frames;
	int i;

	for (i = 0; i < LENT; i++) {
		receive(self, i, MIB);
		add_send(self, i, MIB);
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, i, MIB);
		EXPECT_CQE(&self->there, i, MIB);
	}
	for (i = 0; i < LENT; i++) {
		frames = frames_received(self->ctx);
		receive(self, i, MIB);
		while (frames_received(self->ctx) == frames)
			sleep_ms(1);
	}
}

/* Two receives of a channel lend at the same time: numbers 0, and 1 behind it. */
static void lend_two(struct fixture_stuck *self)
{
	uint64_t frames;

	receive(self, 0, MIB);
	add_send(self, 0, MIB);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 0, MIB);
	EXPECT_CQE(&self->there, 0, MIB);
	frames = frames_received(self->ctx);
	region_recv(&self->there, self->fds[0][1], self->to_id, 0, MIB, 0);
	region_recv(&self->there, self->fds[0][1], self->to_id, MIB, MIB, 1);
	ASSERT_EQ(queue_submit(&self->there), 2);
	while (frames_received(self->ctx) == frames)
		sleep_ms(1);
	talk(self->quiet[0], self->quiet[1]);
}

static void place_two(struct fixture_stuck *self)
{
	fill_random(self->from, 2 * MIB, 3);
	region_send(&self->q, self->fds[0][0], self->from_id, 0, MIB, 0);
	region_send(&self->q, self->fds[0][0], self->from_id, MIB, MIB, 1);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE(&self->q, 0, MIB);
	EXPECT_CQE(&self->q, 1, MIB);
	/* Behind what tells of them. */
	talk(self->quiet[0], self->quiet[1]);
}

/*
 * The thread that receives is stuck, and two messages come. It cancels the second receive before it
 * looks at the first one, and is stuck again. The peer has done its part: that the program takes
 * its time is no fault of the peer's, and costs neither the link nor the message.
 */
TEST_F(stuck, cancelled_when_it_has_come)
{
	struct rdmachan_object object;
	struct slow again;
	pthread_t thread;
	char back[LAST];
	void *taken;

	ASSERT_TRUE(slow_begin(&again, PAGE));
	lend_two(self);
	queue_send(&self->there, self->last[1], self->slow.memory, LAST, 10);
	queue_cancel(&self->there, 1, 0, 11);
	queue_send(&self->there, self->last[1], again.memory, LAST, 12);
	ASSERT_EQ(pthread_create(&thread, NULL, submit_all, &self->there), 0);
	slow_met(&self->slow);
	place_two(self);
	ASSERT_EQ(get_object(self->fds[0][0], &object), 0);
	ASSERT_EQ(object.tx_placed, 3);
	slow_end(&self->slow);
	slow_met(&again);
	/* More than four dead times, and then more than sixteen. */
	sleep_ms(4000);
	talk(self->quiet[0], self->quiet[1]);
	sleep_ms(7000);
	talk(self->quiet[0], self->quiet[1]);
	slow_end(&again);
	pthread_join(thread, &taken);
	EXPECT_EQ((long)taken, 3);
	EXPECT_CQE(&self->there, 10, LAST);
	EXPECT_CQE(&self->there, 11, -EALREADY);
	EXPECT_CQE(&self->there, 12, LAST);
	expect_received(self, 2, MIB, 3);
	EXPECT_EQ(read(self->last[0], back, LAST), LAST);
	EXPECT_EQ(read(self->last[0], back, LAST), LAST);
	close(again.fd);
}

/*
 * Those that write, and one that is the first of those that wait for their turn, belong to the
 * thread that is stuck. Another one's turn comes behind theirs.
 */
TEST_F(stuck, first_in_line)
{
	char *out = malloc(MIB), *back = malloc(MIB);
	struct reader reader;
	int i;

	lend_all(self);
	fill_random(self->from, LENT * MIB, 1);
	fill_random(out, MIB, 2);
	reader_begin(&reader, self->quiet[1], back, MIB);
	for (i = 0; i < LENT; i++)
		add_send(self, i, MIB);
	stick(self);
	EXPECT_EQ(write(self->quiet[0], out, MIB), MIB);
	EXPECT_EQ(reader_end(&reader), MIB);
	EXPECT_TRUE(is_random(back, MIB, 2));
	expect_received(self, LENT, MIB, 1);
	come_loose(self, LENT, MIB);
	free(out);
	free(back);
}

TEST_HARNESS_MAIN
