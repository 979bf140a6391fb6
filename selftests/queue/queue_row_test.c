// SPDX-License-Identifier: GPL-2.0
/*
 * queue_row_test.c - queues: small messages that are sent, or received, one behind the other
 *
 * The module takes such entries and messages together. It must not show, but for the time
 * that it takes.
 */
#include <poll.h>

#include "queue_fixture.h"

#define MORE RDMACHAN_CQE_F_MORE
#define BUFFER RDMACHAN_CQE_F_BUFFER
/* Entries of the rings here: more than what is taken together. */
#define MANY 256
#define SIZE 256

static uint32_t numbers[MANY + SIZE / 4];
static char memory[MANY][SIZE];

static void open_large(int ctx, struct queue *q)
{
	uint32_t i;

	ASSERT_EQ(queue_open(ctx, q, MANY, MANY), 0);
	for (i = 0; i < MANY; i++)
		numbers[i] = i;
}

/* The next message on @chan is @number. */
static void expect_number(int chan, uint32_t number)
{
	struct rdmachan_recv_args recv = { 0 };
	uint32_t back = ~number;

	ASSERT_EQ(do_recv(chan, &back, sizeof(back), &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_length, sizeof(back));
	EXPECT_EQ(back, number);
}

/* Sending */

TEST_F(queue, many_sends)
{
	struct rdmachan_recv_args recv = { 0 };
	uint32_t back, i;
	struct queue q;

	open_large(self->ctx, &q);
	for (i = 0; i < MANY; i++)
		queue_send(&q, self->a, &numbers[i], 4, i)->msg_flags = i;
	ASSERT_EQ(queue_enter(&q, MANY, MANY, 10000), MANY);
	for (i = 0; i < MANY; i++) {
		EXPECT_CQE(&q, i, 4);
		ASSERT_EQ(do_recv(self->b, &back, 4, &recv, NULL), 0);
		EXPECT_EQ(back, i);
		EXPECT_EQ(recv.out_msg_flags, i);
	}
	queue_close(&q);
}

/* Of all lengths that are copied in different ways, and past the end of a frame. */
TEST_F(queue, sends_of_all_lengths)
{
	static char out[MANY][300], back[301];
	struct queue q;
	uint32_t i;

	open_large(self->ctx, &q);
	for (i = 0; i < MANY; i++) {
		memset(out[i], i, sizeof(out[i]));
		queue_send(&q, self->a, out[i], i, i)->flags = SKIP_SUCCESS;
	}
	ASSERT_EQ(queue_enter(&q, MANY, 0, 0), MANY);
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(wait_readable(self->b, 10000));
		ASSERT_EQ(read(self->b, back, sizeof(back)), i);
		EXPECT_EQ(memcmp(back, out[i], i), 0);
	}
	EXPECT_EQ(queue_ready(&q), 0);
	queue_close(&q);
}

/* Make an entry another one, which ends with the error that is told. */
static int spoil(struct rdmachan_sqe *sqe, uint32_t how, int queue, void *gone)
{
	switch (how) {
	case 0:
		sqe->op_flags = 2;
		return -EOPNOTSUPP;
	case 1:
		sqe->addr = (uintptr_t)gone;
		return -EFAULT;
	case 2:
		sqe->fd = -1;
		return -EBADF;
	case 3:
		sqe->fd = queue;
		return -ENOTTY;
	case 4:
		sqe->flags = 0x80;
		return -EOPNOTSUPP;
	case 5:
		*sqe = (struct rdmachan_sqe){ .opcode = OP(NOP), .user_data = sqe->user_data };
		return 0;
	case 6:
		sqe->length = RDMACHAN_MESSAGE_MAX + 1ULL;
		return -EMSGSIZE;
	case 7:
		sqe->msg_flags = RDMACHAN_MSG_FLAGS_MASK + 1;
		return -EINVAL;
	default:
		sqe->grant = 1;
		return -EINVAL;
	}
}

/* For any difference of an entry, those before it and behind it are sent. */
TEST_F(queue, different_entries_among_sends)
{
	char *gone = fresh_pages(4096);
	struct queue *q = &self->q;
	struct rdmachan_sqe *sqe;
	uint32_t number, i;
	int want[19];

	munmap(gone, 4096);
	for (i = 0; i < 19; i++) {
		number = i / 2;
		numbers[number] = number;
		sqe = queue_send(q, self->a, &numbers[number], 4, i);
		want[i] = i % 2 ? spoil(sqe, number, q->fd, gone) : 4;
	}
	ASSERT_EQ(queue_submit(q), 19);
	for (i = 0; i < 19; i++)
		EXPECT_CQE(q, i, want[i]);
	for (i = 0; i < 10; i++)
		expect_number(self->b, i);
}

/* The one in the middle has to be fetched first. */
TEST_F(queue, memory_of_one_is_not_present)
{
	struct queue *q = &self->q;
	uint32_t i, *there;

	for (i = 0; i < 9; i++) {
		there = i == 4 ? fresh_pages(4096) : malloc(4);
		if (i != 4)
			*there = i;
		queue_send(q, self->a, there, 4, i);
	}
	ASSERT_EQ(queue_submit(q), 9);
	for (i = 0; i < 9; i++) {
		EXPECT_CQE(q, i, 4);
		expect_number(self->b, i == 4 ? 0 : i);
	}
}

/* One that begins a chain has begun, and is not overtaken by those behind the chain. */
TEST_F(queue, chains_and_barriers_among_sends)
{
	struct queue *q = &self->q;
	uint32_t i;

	for (i = 0; i < 30; i++) {
		numbers[i] = i;
		queue_send(q, self->a, &numbers[i], 4, i)->flags =
			i % 5 == 2 ? LINK : i % 5 == 4 ? DRAIN : 0;
		if (i % 5 == 2)
			queue_add(q, OP(NOP), 0, 99)->flags = SKIP_SUCCESS;
	}
	ASSERT_EQ(queue_submit(q), 36);
	for (i = 0; i < 30; i++) {
		EXPECT_CQE(q, i, 4);
		expect_number(self->b, i);
	}
	/* They wait for what comes before the barrier, which waits itself. */
	queue_recv(q, self->b, &numbers[50], 4, 50);
	queue_add(q, OP(NOP), 0, 51)->flags = DRAIN;
	for (i = 0; i < 4; i++)
		queue_send(q, self->a, &numbers[i], 4, i);
	ASSERT_EQ(queue_submit(q), 6);
	EXPECT_EQ(queue_ready(q), 0);
	ASSERT_EQ(write(self->a, &i, 4), 4);
	EXPECT_CQE(q, 50, 4);
	EXPECT_CQE(q, 51, 0);
	for (i = 0; i < 4; i++) {
		EXPECT_CQE(q, i, 4);
		expect_number(self->b, i);
	}
}

/* Nobody overtakes one that waits for room, on this channel; on another all do. */
TEST_F(queue, sends_behind_one_that_waits)
{
	static char back[64 << 10];
	uint32_t i, count;
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	count = fill_up(self->a, sizeof(back));
	ASSERT_GT(count, 0);
	for (i = 0; i < 40; i++) {
		numbers[i] = i;
		queue_send(&self->q, i % 8 < 4 ? self->a : fds[0], &numbers[i], 4, i);
	}
	ASSERT_EQ(queue_submit(&self->q), 40);
	for (i = 0; i < 40; i++) {
		if (i % 8 < 4)
			continue;
		EXPECT_CQE(&self->q, i, 4);
		expect_number(fds[1], i);
	}
	EXPECT_EQ(queue_ready(&self->q), 0);
	for (i = 0; i < count; i++)
		ASSERT_EQ(read(self->b, back, sizeof(back)), sizeof(back));
	for (i = 0; i < 40; i++) {
		if (i % 8 >= 4)
			continue;
		expect_number(self->b, i);
		EXPECT_CQE(&self->q, i, 4);
	}
	close(fds[0]);
	close(fds[1]);
}

/* The completion ring is full in the middle: no completion is lost, none comes too early. */
TEST_F(queue, sends_and_a_full_ring)
{
	struct queue *q = &self->q;
	uint32_t i;

	for (i = 0; i < 60; i++)
		queue_add(q, OP(NOP), 0, 1000 + i);
	ASSERT_EQ(queue_submit(q), 60);
	for (i = 0; i < 20; i++) {
		numbers[i] = i;
		queue_send(q, self->a, &numbers[i], 4, i)->flags = i % 4 ? 0 : SKIP_SUCCESS;
	}
	ASSERT_EQ(queue_submit(q), 20);
	EXPECT_EQ(queue_ready(q), 64);
	for (i = 0; i < 20; i++)
		expect_number(self->b, i);
	for (i = 0; i < 60; i++)
		EXPECT_CQE(q, 1000 + i, 0);
	for (i = 0; i < 20; i++)
		if (i % 4)
			EXPECT_CQE(q, i, 4);
	EXPECT_EQ(queue_ready(q), 0);
}

TEST_F(queue, sends_to_who_takes_small_ones_only)
{
	struct opts small = { .tuning.message_max = 1024 };
	static char out[2048];
	struct queue *q = &self->q;
	int fds[2];

	pair_up(self->ctx, fds, &small);
	queue_send(q, fds[0], out, 1024, 1);
	queue_send(q, fds[0], out, 1025, 2);
	queue_send(q, fds[0], out, 4, 3);
	ASSERT_EQ(queue_submit(q), 3);
	EXPECT_CQE(q, 1, 1024);
	EXPECT_CQE(q, 2, -EMSGSIZE);
	EXPECT_CQE(q, 3, 4);
	close(fds[0]);
	close(fds[1]);
}

TEST_F(queue, sends_when_nobody_reads)
{
	struct queue *q = &self->q;
	uint32_t i;

	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	ASSERT_TRUE(poll_mask(self->a, POLLOUT, 10000) & POLLOUT);
	while (write(self->a, "x", 1) == 1)
		sleep_ms(1);
	for (i = 0; i < 8; i++)
		queue_send(q, self->a, "x", 1, i);
	ASSERT_EQ(queue_submit(q), 8);
	for (i = 0; i < 8; i++)
		EXPECT_CQE(q, i, -EPIPE);
}

/* By the poller, and both ways. */
TEST_F(queue, rows_without_a_call)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	uint32_t i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, MANY, MANY, 0), 0);
	for (i = 0; i < 200; i++) {
		numbers[i] = i;
		queue_send(&q, i & 1 ? self->b : self->a, &numbers[i], 4, i);
	}
	ASSERT_EQ(queue_poke(&q), 0);
	for (i = 0; i < 200; i++) {
		ASSERT_TRUE(queue_watch(&q, &cqe));
		EXPECT_EQ(cqe.user_data, i);
		EXPECT_EQ(cqe.res, 4);
		expect_number(i & 1 ? self->a : self->b, i);
	}
	queue_close(&q);
}

/* Receiving */

static void make_pool(struct queue *q, struct pool *pool, uint32_t count)
{
	uint32_t i;

	ASSERT_EQ(pool_open(q, pool, MANY), 0);
	memset(memory, 0xff, sizeof(memory));
	for (i = 0; i < count; i++)
		pool_put(pool, memory[i], SIZE, i);
}

static void expect_part(struct queue *q, uint64_t data, uint32_t bytes, uint32_t id)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(q, &cqe));
	EXPECT_EQ(cqe.user_data, data);
	EXPECT_EQ(cqe.res, bytes);
	EXPECT_EQ(cqe.length, bytes);
	EXPECT_EQ(cqe.flags, bytes ? MORE | BUFFER : MORE);
	if (bytes)
		EXPECT_EQ(cqe.buffer, id);
}

/* More than one operation takes at a time. */
TEST_F(queue, more_than_a_turn)
{
	struct rdmachan_object object;
	struct pool pool;
	struct queue q;
	uint32_t i;

	open_large(self->ctx, &q);
	make_pool(&q, &pool, MANY);
	for (i = 0; i < MANY; i++)
		queue_send(&q, self->a, &numbers[i], 4, 0)->flags = SKIP_SUCCESS;
	ASSERT_EQ(queue_submit(&q), MANY);
	queue_recv_many(&q, self->b, pool.id, 5);
	ASSERT_EQ(queue_enter(&q, 1, MANY, 10000), 1);
	for (i = 0; i < MANY; i++) {
		expect_part(&q, 5, 4, i);
		EXPECT_EQ(memcmp(memory[i], &i, 4), 0);
	}
	EXPECT_EQ(pool_left(&pool), 0);
	ASSERT_EQ(get_object(self->b, &object), 0);
	EXPECT_EQ(object.rx_messages, MANY);
	EXPECT_EQ(object.rx_bytes, 4 * MANY);
	queue_close(&q);
}

/* Empty ones, such that are copied in another way, large ones in pieces. */
TEST_F(queue, messages_of_all_sorts)
{
	static const uint32_t sizes[] = { 1, 0, 8, 256, 7, 0, 0, 129, 60000, 128, 60000, 1, 200 };
	static char out[60000], large[4][60000];
	struct queue *q = &self->q;
	uint32_t i, n = 0;
	struct pool pool;

	ASSERT_EQ(pool_open(q, &pool, 64), 0);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memset(out, 'a' + i, sizeof(out));
		ASSERT_EQ(do_send(self->a, out, sizes[i], i, NULL), 0);
		if (!sizes[i])
			continue;
		if (sizes[i] > SIZE)
			pool_put(&pool, large[n % 4], sizeof(large[0]), n);
		else
			pool_put(&pool, memory[n], SIZE, n);
		n++;
	}
	queue_recv_many(q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(q), 1);
	for (i = 0, n = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		expect_part(q, 5, sizes[i], n);
		memset(out, 'a' + i, sizeof(out));
		if (!sizes[i])
			continue;
		EXPECT_EQ(memcmp(sizes[i] > SIZE ? large[n % 4] : memory[n], out, sizes[i]), 0);
		n++;
	}
	EXPECT_EQ(pool_left(&pool), 0);
}

/* The second buffer is bad: the first message and those behind it are received all the same. */
TEST_F(queue, bad_buffer_among_others)
{
	char *gone = fresh_pages(4096);
	struct queue *q = &self->q;
	struct rdmachan_cqe cqe;
	struct pool pool;
	uint32_t i;

	make_pool(q, &pool, 1);
	munmap(gone, 4096);
	pool_put(&pool, gone, SIZE, 99);
	for (i = 1; i < 4; i++)
		pool_put(&pool, memory[i], SIZE, i);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	queue_recv_many(q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(q), 1);
	expect_part(q, 5, 4, 0);
	ASSERT_TRUE(queue_wait(q, &cqe));
	EXPECT_EQ(cqe.res, -EFAULT);
	EXPECT_EQ(cqe.flags, BUFFER);
	EXPECT_EQ(cqe.buffer, 99);
	queue_recv_many(q, self->b, pool.id, 6);
	ASSERT_EQ(queue_submit(q), 1);
	for (i = 1; i < 4; i++) {
		expect_part(q, 6, 4, i);
		EXPECT_EQ(memcmp(memory[i], &i, 4), 0);
	}
}

/* A buffer that is too small ends the row, and the operation; a larger one goes on. */
TEST_F(queue, small_buffer_among_others)
{
	struct queue *q = &self->q;
	struct rdmachan_cqe cqe;
	struct pool pool;
	uint64_t i;

	make_pool(q, &pool, 2);
	pool_put(&pool, memory[2], 7, 2);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(write(self->a, &i, 8), 8);
	queue_recv_many(q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(q), 1);
	expect_part(q, 5, 8, 0);
	expect_part(q, 5, 8, 1);
	ASSERT_TRUE(queue_wait(q, &cqe));
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.length, 8);
	EXPECT_EQ(pool_left(&pool), 1);
}

/* The rest of a run after a row is a run: calls find it, and so does the next row. */
TEST_F(queue, rows_and_calls_take_turns)
{
	struct pool pool;
	struct queue q;
	uint32_t i;
	int length;

	open_large(self->ctx, &q);
	make_pool(&q, &pool, 10);
	for (i = 0; i < 40; i++)
		queue_send(&q, self->a, &numbers[i], i + 4, 0)->flags = SKIP_SUCCESS;
	ASSERT_EQ(queue_submit(&q), 40);
	queue_recv_many(&q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&q), 1);
	for (i = 0; i < 10; i++)
		expect_part(&q, 5, i + 4, i);
	EXPECT_CQE(&q, 5, -ENOBUFS);
	for (i = 10; i < 20; i++) {
		ASSERT_EQ(ioctl(self->b, FIONREAD, &length), 0);
		EXPECT_EQ(length, i + 4);
		ASSERT_EQ(read(self->b, memory[0], SIZE), i + 4);
		EXPECT_EQ(memcmp(memory[0], &i, 4), 0);
	}
	for (i = 20; i < 40; i++)
		pool_put(&pool, memory[i], SIZE, i);
	queue_recv_many(&q, self->b, pool.id, 6);
	ASSERT_EQ(queue_submit(&q), 1);
	for (i = 20; i < 40; i++) {
		expect_part(&q, 6, i + 4, i);
		EXPECT_EQ(memcmp(memory[i], &i, 4), 0);
	}
	ASSERT_EQ(ioctl(self->b, FIONREAD, &length), 0);
	EXPECT_EQ(length, 0);
	queue_close(&q);
}

/* The windows of both ends agree after rows: the channel goes on for as long as one likes. */
TEST_F(queue, rows_for_long)
{
	uint32_t i, sent = 0, got = 0, n;
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;

	open_large(self->ctx, &q);
	make_pool(&q, &pool, 100);
	queue_recv_many(&q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&q), 1);
	while (got < 60000) {
		n = 1 + sent % 97;
		for (i = 0; i < n; i++)
			queue_send(&q, self->a, &numbers[(sent + i) % MANY], 4 + (sent + i) % 200,
				   0)->flags = SKIP_SUCCESS;
		ASSERT_EQ(queue_enter(&q, n, n, 10000), n);
		for (i = 0; i < n; i++) {
			ASSERT_TRUE(queue_wait(&q, &cqe));
			ASSERT_EQ(cqe.user_data, 5);
			ASSERT_EQ(cqe.res, 4 + got % 200);
			ASSERT_EQ(memcmp(memory[cqe.buffer], &numbers[got % MANY], 4), 0);
			pool_put(&pool, memory[cqe.buffer], SIZE, cqe.buffer);
			got++;
		}
		sent += n;
	}
	queue_close(&q);
}

TEST_HARNESS_MAIN
