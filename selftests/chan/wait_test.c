// SPDX-License-Identifier: GPL-2.0
/*
 * wait_test.c - small messages that wait for room at the peer, one behind the other
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "ring.h"

#define ROOM 40000
#define DEPTH 64
#define PAGE 4096

static const struct opts small = {
	.tuning.send_buffer = RDMACHAN_BUFFER_MIN,
	.tuning.recv_buffer = RDMACHAN_BUFFER_MIN,
};

FIXTURE_PAIR(waiting)

/* Most are small: with many others they wait in the same memory. */
static size_t size_of(uint64_t number)
{
	uint64_t seed = number;
	uint64_t value = next_random(&seed);

	switch (value % 32) {
	case 0: return 0;
	case 1: return (value >> 8) % ROOM;
	case 2: return 400 + (value >> 8) % 200;
	case 3: return 2040 + (value >> 8) % 16;
	default: return (value >> 8) % 100;
	}
}

static int send_number(int chan, uint64_t number)
{
	static char data[ROOM];
	size_t len = size_of(number);

	fill_random(data, len, number);
	return do_send(chan, data, len, number & 0xffff, DONTWAIT);
}

static void receive_number(int chan, uint64_t number)
{
	static char data[ROOM];
	struct rdmachan_recv_args recv;

	ASSERT_EQ(do_recv(chan, data, ROOM, &recv, TIMEOUT(20000)), 0);
	ASSERT_EQ(recv.out_length, size_of(number));
	ASSERT_EQ(recv.out_msg_flags, number & 0xffff);
	ASSERT_TRUE(is_random(data, recv.out_length, number));
}

static uint64_t send_until_full(int chan, uint64_t number)
{
	while (!send_number(chan, number))
		number++;
	ASSERT_EQ(errno, EAGAIN);
	return number;
}

/* A message sent meanwhile makes room for more: until the peer takes nothing any more. */
static bool is_full(int chan, uint32_t room, struct rdmachan_object *object)
{
	ASSERT_EQ(get_object(chan, object), 0);
	return object->tx_queued >= room;
}

/* The peer's program takes nothing: messages go to the peer until that has no room. */
static bool stalls(int chan)
{
	struct rdmachan_object object = {};
	int tries;

	for (tries = 10000; tries && !object.tx_stalls; tries--) {
		ASSERT_EQ(get_object(chan, &object), 0);
		if (!object.tx_stalls)
			sleep_ms(1);
	}
	return object.tx_stalls;
}

/* As many as can be: some are at the peer, others wait, and a part of those is sent. */
TEST_F(waiting, in_order)
{
	uint64_t sent = 0, received = 0, half;
	struct rdmachan_object object;
	int round;

	for (round = 0; round < 6; round++) {
		do {
			sent = send_until_full(self->a, sent);
		} while (!is_full(self->a, 1 << 20, &object));
		ASSERT_TRUE(stalls(self->a));
		half = received + (sent - received) / 2;
		while (received < half)
			receive_number(self->b, received++);
		ASSERT_EQ(poll_mask(self->a, POLLOUT, 20000), POLLOUT);
	}
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	while (received < sent)
		receive_number(self->b, received++);
	EXPECT_EQ(read(self->b, &round, 4), 0);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.tx_queued, 0);
}

static void take_sent(struct queue *q, size_t len)
{
	struct rdmachan_cqe cqe;

	while (queue_next(q, &cqe)) {
		ASSERT_EQ(cqe.res, len);
		ASSERT_EQ(cqe.user_data, q->head - 1);
	}
}

/* One and the same message, in rows, until as many wait in the queue as can. */
static uint32_t send_rows(struct queue *q, int chan, const char *data, size_t len, uint32_t added)
{
	uint32_t count;

	while ((count = DEPTH - (added - q->head))) {
		while (added - q->head < DEPTH)
			queue_send(q, chan, data, len, added++);
		ASSERT_EQ(queue_submit(q), count);
		take_sent(q, len);
	}
	return added;
}

static void rows_of(int ctx, int from, int to, size_t len)
{
	struct rdmachan_object object;
	struct rdmachan_cqe cqe;
	struct queue q;
	char data[600];
	char back[600];
	uint32_t added = 0, i;

	fill_random(data, len, len);
	ASSERT_EQ(queue_open(ctx, &q, DEPTH, DEPTH), 0);
	do {
		take_sent(&q, len);
		added = send_rows(&q, from, data, len, added);
	} while (!is_full(from, RDMACHAN_BUFFER_MIN, &object));
	EXPECT_GT(added, 150);
	EXPECT_LT(object.tx_queued, RDMACHAN_BUFFER_MIN + len + 64);
	for (i = 0; i < added; i++) {
		ASSERT_EQ(do_recv(to, back, sizeof(back), NULL, TIMEOUT(20000)), 0);
		ASSERT_EQ(memcmp(back, data, len), 0);
	}
	while (q.head < added) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, len);
	}
	EXPECT_ERR(do_recv(to, back, sizeof(back), NULL, DONTWAIT), EAGAIN);
	queue_close(&q);
}

TEST_F_TIMEOUT(waiting, in_rows, 60)
{
	static const size_t sizes[] = { 1, 7, 8, 9, 64, 511, 512, 513, 600 };
	unsigned int i;
	int fds[2];

	pair_up(self->ctx, fds, &small);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		rows_of(self->ctx, fds[0], fds[1], sizes[i]);
	close(fds[0]);
	close(fds[1]);
}

/* A waiting message counts, however small it is. */
TEST_F(waiting, no_more_than_the_send_buffer)
{
	struct rdmachan_object object;
	uint64_t count = 0;

	do {
		while (!do_send(self->a, "x", 1, 0, DONTWAIT))
			count++;
		ASSERT_EQ(errno, EAGAIN);
	} while (!is_full(self->a, 1 << 20, &object));
	EXPECT_LT(object.tx_queued, (1 << 20) + 100);
	/* Two buffers, and 65 bytes for each message. */
	EXPECT_LE(count, 2 * (1 << 20) / 65 + 1);
}

/* Memory that the program has not is found out by whom it concerns, and leaves no trace. */
TEST_F(waiting, bad_memory)
{
	char back[8];
	int i, count;

	/* More than the peer takes, and fewer than it and the send buffer do. */
	for (count = 0; count < 20000; count++)
		ASSERT_EQ(do_send(self->a, &count, 4, 0, TIMEOUT(10000)), 0);
	EXPECT_ERR(do_send(self->a, (void *)8, 4, 0, TIMEOUT(10000)), EFAULT);
	ASSERT_EQ(do_send(self->a, &count, 4, 0, TIMEOUT(10000)), 0);
	for (i = 0; i <= count; i++) {
		ASSERT_EQ(do_recv(self->b, back, 8, NULL, TIMEOUT(20000)), 0);
		ASSERT_EQ(memcmp(back, &i, 4), 0);
	}
}

/* Pieces of memory with messages that wait. Of the programs of tests only this one is there. */
static void expect_items(int least, int most)
{
	int items = module_count("items");

	if (access("/sys/kernel/debug/rdmachan", F_OK)) {
		printf("# there is no debugfs: memory is not looked at\n");
		return;
	}
	EXPECT_GE(items, least);
	EXPECT_LE(items, most);
}

/* The module looks for its bytes where they are not. */
static int send_fetched_first(int chan, char *page, int number)
{
	memcpy(page, &number, 4);
	if (number % 5)
		madvise(page, PAGE, MADV_DONTNEED);
	return do_send(chan, page, 4, 0, DONTWAIT);
}

/*
 * Bytes that are not in memory when the module looks are copied the long way. The waiting messages
 * are in order, and no more memory than what is counted, or nearly so.
 */
TEST_F(waiting, fetched_first)
{
	int file = memfd_create("messages", 0);
	struct rdmachan_object object;
	int i, count = 0, fds[2];
	char back[8];
	char *page;

	ASSERT_TRUE(file >= 0);
	ASSERT_EQ(ftruncate(file, PAGE), 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_TRUE(page != MAP_FAILED);
	pair_up(self->ctx, fds, &small);
	do {
		while (!send_fetched_first(fds[0], page, count))
			count++;
		ASSERT_EQ(errno, EAGAIN);
	} while (!is_full(fds[0], RDMACHAN_BUFFER_MIN, &object));
	/* Each counts as 64 bytes more than it has; the first and the last have memory alone. */
	expect_items(1, (int)RDMACHAN_BUFFER_MIN / PAGE + 2);
	for (i = 0; i < count; i++) {
		ASSERT_EQ(do_recv(fds[1], back, 8, NULL, TIMEOUT(20000)), 0);
		ASSERT_EQ(memcmp(back, &i, 4), 0);
	}
	expect_items(0, 0);
	munmap(page, PAGE);
	close(file);
	close(fds[0]);
	close(fds[1]);
}

/* More channels than the link has frames for, each with more than its window. */
TEST_F_TIMEOUT(waiting, channels_share_a_link, 120)
{
	enum { CHANNELS = 16, MESSAGES = 2500 };
	pid_t children[CHANNELS];
	int fds[CHANNELS][2];
	uint64_t number;
	int i;

	for (i = 0; i < CHANNELS; i++) {
		pair_up(self->ctx, fds[i], NULL);
		children[i] = fork();
		if (children[i])
			continue;
		for (number = 0; number < MESSAGES; number++)
			receive_number(fds[i][1], number);
		_exit(0);
	}
	for (number = 0; number < MESSAGES; number++) {
		for (i = 0; i < CHANNELS; i++) {
			while (send_number(fds[i][0], number)) {
				ASSERT_EQ(errno, EAGAIN);
				ASSERT_EQ(poll_mask(fds[i][0], POLLOUT, 10000), POLLOUT);
			}
		}
	}
	for (i = 0; i < CHANNELS; i++) {
		EXPECT_EQ(child_status(children[i]), 0);
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

/* The program is done with it, and messages wait: they are delivered. */
TEST_F(waiting, closed)
{
	uint64_t sent = send_until_full(self->a, 0), received = 0;

	ASSERT_GT(sent, 100);
	close(self->a);
	self->a = -1;
	while (received < sent)
		receive_number(self->b, received++);
	EXPECT_EQ(read(self->b, &sent, 8), 0);
	EXPECT_ERR(send_number(self->b, 0), EPIPE);
}

TEST_HARNESS_MAIN
