// SPDX-License-Identifier: GPL-2.0
/*
 * plain_test.c - large messages of queues, from and to memory that is no region
 *
 * Its pages are pinned for each of them, where that can be; else it is copied, and nothing but the
 * counters tells.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"
#include "region_fixture.h"
#include "scattered.h"

#define LEN 65536U
#define SLOT (2 * MIB)

enum tag {
	SEND = 1,
	RECV,
};

/* Take a completion, which has to be this one. Return: its result. */
static int64_t take(struct queue *q, enum tag tag)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(q, &cqe));
	ASSERT_EQ(cqe.user_data, tag);
	return cqe.res;
}

/*
 * A receive that waits, then the message. One call sends it and waits for both: pages can be pinned
 * only while a call is there, and between two calls there is none.
 */
static void one(struct fixture_region *self, size_t len, uint32_t number)
{
	struct rdmachan_cqe cqe;
	int i;

	fill_random(self->from, len, number);
	memset(self->to, 0x55, len + 1);
	queue_recv(&self->q, self->b, self->to, SLOT, RECV);
	ASSERT_GE(queue_submit(&self->q), 0);
	queue_send(&self->q, self->a, self->from, len, SEND);
	ASSERT_EQ(queue_enter(&self->q, 1, 2, 10000), 1);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_next(&self->q, &cqe));
		ASSERT_EQ(cqe.res, len);
	}
	EXPECT_TRUE(is_random(self->to, len, number));
	EXPECT_EQ(self->to[len], 0x55);
	EXPECT_EQ(pinned_bytes(), self->pinned);
}

static uint64_t sent_placed(struct fixture_region *self)
{
	return placed_messages(self->a, true);
}

/* From 64 KiB to what the send buffer holds. */
TEST_F(region, sizes)
{
	static const size_t sizes[] = { LEN, LEN + 1, 100001, MIB - 1, MIB };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		one(self, sizes[i], i);
	EXPECT_EQ(sent_placed(self), i);
	one(self, LEN - 1, i);
	EXPECT_EQ(sent_placed(self), i);
}

/* A message larger than the send buffer is refused, whether it could be placed or not. */
TEST_F(region, too_large)
{
	one(self, LEN, 0);
	queue_send(&self->q, self->a, self->from, MIB + 1, SEND);
	ASSERT_GE(queue_submit(&self->q), 0);
	EXPECT_EQ(take(&self->q, SEND), -EMSGSIZE);
	one(self, LEN, 1);
	EXPECT_EQ(pinned_bytes(), self->pinned);
}

/* Nobody waits at the other end: copied, in its order, between others that are sent with it. */
TEST_F(region, refused)
{
	struct rdmachan_recv_args recv;
	uint32_t i, round;

	for (round = 0; round < 4; round++) {
		/* A read that does not wait has messages copied from then on. */
		ASSERT_EQ(do_recv(self->b, self->to, SLOT, NULL, DONTWAIT), -1);
		ASSERT_EQ(errno, EAGAIN);
		for (i = 0; i < 8; i++) {
			fill_random(self->from + i * 2 * LEN, 2 * LEN, i);
			queue_send(&self->q, self->a, self->from + i * 2 * LEN,
				   i % 3 == 1 ? 100 + i : LEN + i, SEND);
		}
		ASSERT_GE(queue_submit(&self->q), 0);
		for (i = 0; i < 8; i++) {
			while (do_recv(self->b, self->to, SLOT, &recv, DONTWAIT)) {
				ASSERT_EQ(errno, EAGAIN);
				ASSERT_GE(queue_enter(&self->q, 0, 0, 0), 0);
				sleep_ms(1);
			}
			ASSERT_EQ(recv.out_length, i % 3 == 1 ? 100 + i : LEN + i);
			ASSERT_TRUE(is_random(self->to, recv.out_length, i));
		}
		for (i = 0; i < 8; i++)
			ASSERT_GT(take(&self->q, SEND), 0);
		EXPECT_EQ(pinned_bytes(), self->pinned);
	}
	EXPECT_EQ(sent_placed(self), 0);
}

/* Receives run without a call of the program, which cannot pin: the messages are copied. */
TEST_F(region, nobody_in_a_call)
{
	struct queue other;
	struct rdmachan_cqe cqe;
	uint32_t i;

	ASSERT_EQ(queue_open(self->ctx, &other, 8, 8), 0);
	for (i = 0; i < 6; i++) {
		fill_random(self->from, LEN, i);
		/* It is not a page that has to come first. */
		memset(self->to, 0, LEN);
		queue_recv(&other, self->b, self->to, LEN, RECV);
		ASSERT_GE(queue_submit(&other), 0);
		queue_send(&self->q, self->a, self->from, LEN, SEND);
		ASSERT_GE(queue_submit(&self->q), 0);
		ASSERT_EQ(take(&self->q, SEND), LEN);
		ASSERT_TRUE(queue_watch(&other, &cqe));
		ASSERT_EQ(cqe.res, LEN);
		EXPECT_TRUE(is_random(self->to, LEN, i));
		EXPECT_EQ(pinned_bytes(), self->pinned);
	}
	EXPECT_EQ(sent_placed(self), 0);
	queue_close(&other);
}

/* A poller runs all: likewise. */
TEST_F(region, polled)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	int i, n;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 10), 0);
	for (i = 0; i < 4; i++) {
		fill_random(self->from, LEN, i);
		memset(self->to, 0, LEN);
		queue_recv(&q, self->b, self->to, LEN, RECV);
		queue_send(&q, self->a, self->from, LEN, SEND);
		ASSERT_EQ(queue_poke(&q), 0);
		for (n = 0; n < 2; n++) {
			ASSERT_TRUE(queue_watch(&q, &cqe));
			ASSERT_EQ(cqe.res, LEN);
		}
		EXPECT_TRUE(is_random(self->to, LEN, i));
	}
	EXPECT_EQ(sent_placed(self), 0);
	queue_close(&q);
}

/* Cancelled while it lends: the memory is the program's again, and the next message comes. */
TEST_F(region, cancelled)
{
	struct rdmachan_cqe cqe;
	int i, j;

	for (i = 0; i < 10; i++) {
		one(self, LEN, i);
		memset(self->to, 0x66, LEN);
		queue_recv(&self->q, self->b, self->to, SLOT, RECV);
		ASSERT_GE(queue_submit(&self->q), 0);
		pause_ns(i * 7000);
		queue_cancel(&self->q, RECV, 0, 0);
		ASSERT_GE(queue_submit(&self->q), 0);
		for (j = 0; j < 2; j++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			if (cqe.user_data == RECV)
				EXPECT_EQ(cqe.res, -ECANCELED);
		}
		EXPECT_EQ(pinned_bytes(), self->pinned);
		EXPECT_EQ(self->to[0], 0x66);
	}
	one(self, LEN, i);
}

/* Memory that is not there, or must not be written to: told, and no message is lost. */
TEST_F(region, bad_memory)
{
	char *hole = pages(SLOT), *readonly = pages(SLOT);
	struct rdmachan_cqe cqe;
	int i, n;

	ASSERT_EQ(munmap(hole + LEN / 2, SLOT - LEN / 2), 0);
	ASSERT_EQ(mprotect(readonly, SLOT, PROT_READ), 0);
	for (i = 0; i < 3; i++) {
		one(self, LEN, i);
		queue_send(&self->q, self->a, hole, LEN, SEND);
		ASSERT_GE(queue_submit(&self->q), 0);
		EXPECT_EQ(take(&self->q, SEND), -EFAULT);
		one(self, LEN, i);
		fill_random(self->from, LEN, i);
		queue_send(&self->q, self->a, self->from, LEN, SEND);
		queue_recv(&self->q, self->b, i % 2 ? hole : readonly, LEN, RECV);
		ASSERT_GE(queue_submit(&self->q), 0);
		for (n = 0; n < 2; n++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			EXPECT_EQ(cqe.res, cqe.user_data == SEND ? (int64_t)LEN : -EFAULT);
		}
		queue_recv(&self->q, self->b, self->to, SLOT, RECV);
		ASSERT_GE(queue_submit(&self->q), 0);
		EXPECT_EQ(take(&self->q, RECV), LEN);
		EXPECT_TRUE(is_random(self->to, LEN, i));
		EXPECT_EQ(pinned_bytes(), self->pinned);
	}
}

/* Unmapped while it is lent: the message comes to pages that nobody sees. */
TEST_F(region, unmapped)
{
	char *gone = pages(SLOT);
	int i;

	one(self, LEN, 0);
	queue_recv(&self->q, self->b, gone, SLOT, RECV);
	ASSERT_GE(queue_submit(&self->q), 0);
	EXPECT_EQ(munmap(gone, SLOT), 0);
	queue_send(&self->q, self->a, self->from, LEN, SEND);
	ASSERT_GE(queue_submit(&self->q), 0);
	for (i = 0; i < 2; i++) {
		struct rdmachan_cqe cqe;

		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, LEN);
	}
	EXPECT_EQ(pinned_bytes(), self->pinned);
	one(self, LEN, 1);
}

/* Beyond the limit of locked memory messages are copied. */
TEST_F(region, limit_of_locked_memory)
{
	const struct rlimit limit = { LEN, LEN };

	one(self, LEN, 0);
	ASSERT_EQ(sent_placed(self), 1);
	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	ASSERT_EQ(setuid(1000), 0);
	/* The regions of this test take it all. */
	one(self, LEN, 1);
	one(self, 2 * LEN, 2);
	EXPECT_EQ(sent_placed(self), 1);
}

/* The peer is killed, or the channel closed, with memory lent and a message half there. */
TEST_F(region, channel_ends)
{
	struct rdmachan_cqe cqe;
	int fds[2], i, n;

	for (i = 0; i < 12; i++) {
		one(self, LEN, i);
		queue_recv(&self->q, self->b, self->to, SLOT, RECV);
		if (i % 2)
			queue_send(&self->q, self->a, self->from, MIB, SEND);
		ASSERT_GE(queue_submit(&self->q), 0);
		pause_ns(i * 20000);
		ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
		for (n = 0; n < 1 + i % 2; n++)
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(pinned_bytes(), self->pinned);
		close(self->a);
		close(self->b);
		pair_up(self->ctx, fds, NULL);
		self->a = fds[0];
		self->b = fds[1];
	}
}

/*
 * Both ends are of one queue, which is closed with bytes still to be written: the one end does not
 * wait for the other's, and no link ends.
 */
TEST_F(region, closed_while_writing_to_itself)
{
	char *from = scattered(MIB), *to = scattered(SLOT);
	int64_t begun;
	int fds[2], i;

	if (!time_is_virtual())
		SKIP("no cable whose rate could be changed");
	/* On iWARP what the adapter takes at a time is what TCP does. */
	ASSERT_EQ(system("cd /proc/sys/net/ipv4; cat tcp_wmem >/tmp/wmem; cat tcp_rmem >/tmp/rmem;"
			 "echo 4096 8192 16384 >tcp_wmem; echo 4096 8192 32768 >tcp_rmem"), 0);
	pair_up(self->ctx, fds, NULL);
	for (i = 0; i < 3; i++)
		one(self, MIB, i);
	queue_recv(&self->q, self->b, to, SLOT, RECV);
	ASSERT_GE(queue_submit(&self->q), 0);
	sleep_ms(10);
	cable("rate 20");
	queue_send(&self->q, self->a, from, MIB, SEND);
	ASSERT_GE(queue_submit(&self->q), 0);
	begun = now_ms();
	queue_close(&self->q);
	EXPECT_LT(now_ms() - begun, 5000);
	cable("rate 0");
	EXPECT_EQ(system("cd /proc/sys/net/ipv4; cat /tmp/wmem >tcp_wmem;"
			 "cat /tmp/rmem >tcp_rmem"), 0);
	EXPECT_EQ(write(fds[0], "x", 1), 1);
	EXPECT_EQ(read(fds[1], self->to, 1), 1);
	ASSERT_EQ(queue_open(self->ctx, &self->q, 8, 8), 0);
}

TEST_HARNESS_MAIN
