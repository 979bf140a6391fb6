// SPDX-License-Identifier: GPL-2.0
/*
 * queue_delivered_test.c - SENDs that complete when the peer's program has received their message
 */
#include <poll.h>
#include <stdlib.h>

#include "queue_fixture.h"
#include "region.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))
#define LARGE 1048576U
#define PATIENCE 20000
#define DELIVERED RDMACHAN_SEND_F_DELIVERED
#define SENT RDMACHAN_CQE_F_SENT

static char memory[64][64];

static struct rdmachan_sqe *deliver(struct queue *q, int fd, const void *data, size_t len,
				    uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_send(q, fd, data, len, user_data);

	sqe->op_flags = DELIVERED;
	return sqe;
}

static uint32_t region_of(int ctx, const void *addr, size_t len)
{
	int64_t region = region_register(ctx, addr, len, 0, NULL);

	ASSERT_GT(region, 0);
	return region;
}

static void recv_some(int chan, int count)
{
	static char back[LARGE];

	while (count--)
		ASSERT_EQ(do_recv(chan, back, sizeof(back), NULL, TIMEOUT(PATIENCE)), 0);
}

/* The next completion, with its flags. */
#define EXPECT_CQE_FLAGS(q, data, result, want)			\
	do {							\
		struct rdmachan_cqe got_;			\
								\
		ASSERT_TRUE(queue_wait(q, &got_));		\
		EXPECT_EQ(got_.user_data, (uint64_t)(data));	\
		EXPECT_EQ(got_.res, (int64_t)(result));		\
		EXPECT_EQ(got_.flags, want);			\
	} while (0)

#define EXPECT_NOTHING(q) EXPECT_ERR(queue_enter(q, 0, 1, 50), ETIMEDOUT)

TEST_F(queue, when_it_is_received)
{
	deliver(&self->q, self->a, "one", 3, 1);
	queue_send(&self->q, self->a, "two", 3, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	/* Those behind it do not wait. */
	EXPECT_CQE_FLAGS(&self->q, 2, 3, 0);
	EXPECT_NOTHING(&self->q);
	recv_some(self->b, 1);
	EXPECT_CQE_FLAGS(&self->q, 1, 3, 0);
	recv_some(self->b, 1);
	EXPECT_NOTHING(&self->q);
}

/* Without a call of the program. */
TEST_F(queue, by_itself)
{
	struct rdmachan_cqe cqe;

	deliver(&self->q, self->a, "one", 3, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	recv_some(self->b, 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 3);
}

TEST_F(queue, by_a_poller)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 16, 16, 0), 0);
	for (i = 0; i < 4; i++)
		deliver(&q, self->a, "one", 3, i);
	ASSERT_EQ(queue_poke(&q), 0);
	recv_some(self->b, 4);
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(queue_watch(&q, &cqe));
		EXPECT_EQ(cqe.user_data, (uint64_t)i);
		EXPECT_EQ(cqe.res, 3);
	}
	queue_close(&q);
}

/* The message is not in memory, and is sent in a call: the rest needs none. */
TEST_F(queue, needs_a_call_to_send)
{
	char *data = fresh_pages(4096);
	struct rdmachan_cqe cqe;
	int64_t until = now_ms() + PATIENCE;
	struct queue q;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 16, 16, 0), 0);
	deliver(&q, self->a, data, 100, 1);
	ASSERT_EQ(queue_poke(&q), 0);
	while (!(queue_flags(&q) & RDMACHAN_RING_F_ENTER) && now_ms() < until)
		sleep_ms(1);
	EXPECT_EQ(queue_flags(&q), RDMACHAN_RING_F_ENTER);
	ASSERT_GE(queue_enter(&q, 0, 0, 0), 0);
	ASSERT_EQ(poll_mask(self->b, POLLIN, PATIENCE), POLLIN);
	recv_some(self->b, 1);
	ASSERT_TRUE(queue_watch(&q, &cqe));
	EXPECT_EQ(cqe.res, 100);
	EXPECT_EQ(queue_flags(&q), 0);
	queue_close(&q);
	munmap(data, 4096);
}

/* Each completes with its own message, in their order, with other messages between them. */
TEST_F(queue, many_under_way)
{
	int i;

	for (i = 0; i < 24; i++) {
		deliver(&self->q, self->a, "asks", 4, i);
		queue_send(&self->q, self->a, "not", 3, 100)->flags = SKIP_SUCCESS;
	}
	ASSERT_EQ(queue_submit(&self->q), 48);
	EXPECT_NOTHING(&self->q);
	for (i = 0; i < 12; i++) {
		recv_some(self->b, 1);
		EXPECT_CQE_FLAGS(&self->q, i, 4, 0);
		EXPECT_NOTHING(&self->q);
		recv_some(self->b, 1);
	}
	recv_some(self->b, 24);
	for (; i < 24; i++)
		EXPECT_CQE_FLAGS(&self->q, i, 4, 0);
}

TEST_F(queue, in_a_chain)
{
	struct rdmachan_sqe *sqe;

	deliver(&self->q, self->a, "one", 3, 1)->flags = LINK;
	queue_send(&self->q, self->a, "two", 3, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_NOTHING(&self->q);
	recv_some(self->b, 1);
	EXPECT_CQE_FLAGS(&self->q, 1, 3, 0);
	EXPECT_CQE_FLAGS(&self->q, 2, 3, 0);
	recv_some(self->b, 1);
	/* A message that is linked to one that fails is not sent. */
	sqe = deliver(&self->q, self->a, "one", 3, 3);
	sqe->flags = LINK;
	sqe->timeout_ms = 50;
	deliver(&self->q, self->a, "two", 3, 4);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE_FLAGS(&self->q, 3, -ETIMEDOUT, SENT);
	EXPECT_CQE_FLAGS(&self->q, 4, -ECANCELED, 0);
	recv_some(self->b, 1);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 50), 0);
}

TEST_F(queue, behind_a_barrier)
{
	deliver(&self->q, self->a, "one", 3, 1);
	queue_add(&self->q, OP(NOP), 0, 2)->flags = DRAIN;
	deliver(&self->q, self->a, "two", 3, 3);
	ASSERT_EQ(queue_submit(&self->q), 3);
	EXPECT_NOTHING(&self->q);
	recv_some(self->b, 1);
	EXPECT_CQE_FLAGS(&self->q, 1, 3, 0);
	EXPECT_CQE_FLAGS(&self->q, 2, 0, 0);
	recv_some(self->b, 1);
	EXPECT_CQE_FLAGS(&self->q, 3, 3, 0);
}

/* Those with FENCE wait for accesses, and not for each other's messages to be received. */
TEST_F(queue, behind_a_fence)
{
	deliver(&self->q, self->a, "one", 3, 1)->flags = RDMACHAN_SQE_F_FENCE;
	deliver(&self->q, self->a, "two", 3, 2)->flags = RDMACHAN_SQE_F_FENCE;
	queue_send(&self->q, self->a, "end", 3, 3)->flags = RDMACHAN_SQE_F_FENCE;
	ASSERT_EQ(queue_submit(&self->q), 3);
	EXPECT_CQE_FLAGS(&self->q, 3, 3, 0);
	recv_some(self->b, 3);
	EXPECT_CQE_FLAGS(&self->q, 1, 3, 0);
	EXPECT_CQE_FLAGS(&self->q, 2, 3, 0);
}

TEST_F(queue, only_failures_are_told)
{
	deliver(&self->q, self->a, "one", 3, 1)->flags = SKIP_SUCCESS;
	deliver(&self->q, self->a, "two", 3, 2);
	deliver(&self->q, self->a, "end", 3, 3)->flags = SKIP_SUCCESS;
	ASSERT_EQ(queue_submit(&self->q), 3);
	recv_some(self->b, 2);
	EXPECT_CQE_FLAGS(&self->q, 2, 3, 0);
	close(self->b);
	self->b = -1;
	EXPECT_CQE_FLAGS(&self->q, 3, -EPIPE, 0);
}

/* The wait ends, of one in the middle as well; the message is there all the same. */
TEST_F(queue, cancelled)
{
	int i;

	for (i = 1; i <= 4; i++)
		deliver(&self->q, self->a, "some", 4, i);
	queue_cancel(&self->q, 2, 0, 10);
	ASSERT_EQ(queue_submit(&self->q), 5);
	EXPECT_CQE_FLAGS(&self->q, 2, -ECANCELED, SENT);
	EXPECT_CQE_FLAGS(&self->q, 10, 1, 0);
	queue_cancel(&self->q, 1, 0, 11);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE_FLAGS(&self->q, 1, -ECANCELED, SENT);
	EXPECT_CQE_FLAGS(&self->q, 11, 1, 0);
	recv_some(self->b, 2);
	EXPECT_NOTHING(&self->q);
	recv_some(self->b, 2);
	EXPECT_CQE_FLAGS(&self->q, 3, 4, 0);
	EXPECT_CQE_FLAGS(&self->q, 4, 4, 0);
}

TEST_F(queue, cancelled_before_it_leaves)
{
	int count = fill_up(self->a, 30000);

	ASSERT_GT(count, 0);
	deliver(&self->q, self->a, "some", 4, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_NOTHING(&self->q);
	queue_cancel(&self->q, 1, 0, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE_FLAGS(&self->q, 1, -ECANCELED, 0);
	EXPECT_CQE_FLAGS(&self->q, 2, 1, 0);
	recv_some(self->b, count);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 50), 0);
}

TEST_F(queue, in_time_or_not)
{
	int64_t begun = tick_ms();
	int i, count;

	for (i = 1; i <= 3; i++)
		deliver(&self->q, self->a, "some", 4, i)->timeout_ms = i == 2 ? 50 : 10000;
	ASSERT_EQ(queue_submit(&self->q), 3);
	EXPECT_CQE_FLAGS(&self->q, 2, -ETIMEDOUT, SENT);
	EXPECT_TOOK(begun, 50, LIMIT_LATE(50));
	recv_some(self->b, 3);
	EXPECT_CQE_FLAGS(&self->q, 1, 4, 0);
	EXPECT_CQE_FLAGS(&self->q, 3, 4, 0);
	count = fill_up(self->a, 30000);
	deliver(&self->q, self->a, "some", 4, 4)->timeout_ms = 50;
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE_FLAGS(&self->q, 4, -ETIMEDOUT, 0);
	recv_some(self->b, count);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 50), 0);
}

/* It is known of each message whether it was received. */
TEST_F(queue, closed_behind_some)
{
	int i;

	for (i = 1; i <= 6; i++)
		deliver(&self->q, self->a, "some", 4, i);
	ASSERT_EQ(queue_submit(&self->q), 6);
	recv_some(self->b, 4);
	close(self->b);
	self->b = -1;
	for (i = 1; i <= 6; i++)
		EXPECT_CQE_FLAGS(&self->q, i, i <= 4 ? 4 : -EPIPE, 0);
	deliver(&self->q, self->a, "some", 4, 7);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE_FLAGS(&self->q, 7, -EPIPE, 0);
}

TEST_F(queue, reset_behind_some)
{
	deliver(&self->q, self->a, "some", 4, 1);
	deliver(&self->q, self->a, "some", 4, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	recv_some(self->b, 1);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_CQE_FLAGS(&self->q, 1, 4, 0);
	EXPECT_CQE_FLAGS(&self->q, 2, -ECONNRESET, SENT);
}

TEST_F(queue, aborted_here)
{
	deliver(&self->q, self->a, "some", 4, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_CQE_FLAGS(&self->q, 1, -EPIPE, SENT);
}

/* The queue goes, and with it what waits: the messages stay. */
TEST_F(queue, closed_meanwhile)
{
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 16, 16), 0);
	for (i = 0; i < 8; i++)
		deliver(&q, self->a, "some", 4, i);
	ASSERT_EQ(queue_submit(&q), 8);
	queue_close(&q);
	recv_some(self->b, 8);
	deliver(&self->q, self->a, "some", 4, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	recv_some(self->b, 1);
	EXPECT_CQE_FLAGS(&self->q, 1, 4, 0);
}

/* All the ways that a message may take, and come. */
enum source { OWN, IN_REGION, IN_PIECES };
enum target { BY_CALL, BY_RECV, BY_RECV_REGION, BY_MANY };

static const struct {
	const char *name;
	uint32_t size;
	enum source from;
	enum target to;
} ways[] = {
	{ "small_by_call", 100, OWN, BY_CALL },
	{ "small_by_recv", 100, OWN, BY_RECV },
	{ "small_by_many", 100, OWN, BY_MANY },
	{ "small_of_a_region", 100, IN_REGION, BY_RECV_REGION },
	{ "small_in_pieces", 100, IN_PIECES, BY_RECV },
	{ "nothing", 0, OWN, BY_MANY },
	{ "large_by_call", LARGE, OWN, BY_CALL },
	{ "large_by_recv", LARGE, OWN, BY_RECV },
	{ "large_by_many", LARGE, OWN, BY_MANY },
	{ "large_of_a_region_by_call", LARGE, IN_REGION, BY_CALL },
	{ "large_of_a_region", LARGE, IN_REGION, BY_RECV_REGION },
	{ "large_of_a_region_by_many", LARGE, IN_REGION, BY_MANY },
	{ "large_in_pieces", LARGE, IN_PIECES, BY_RECV },
	{ "segments_in_pieces", 50000, IN_PIECES, BY_MANY },
};

struct way {
	char *from;
	char *to;
	uint32_t region_from;
	uint32_t region_to;
	struct iovec iov[2];
	struct pool pool;
};

static void send_by(struct queue *q, int fd, struct way *w, uint32_t size, enum source from,
		    uint64_t user_data)
{
	struct rdmachan_sqe *sqe = deliver(q, fd, w->from, size, user_data);

	if (from == IN_REGION)
		in_region(sqe, w->region_from, 0);
	if (from != IN_PIECES)
		return;
	w->iov[0] = (struct iovec){ w->from, size / 3 };
	w->iov[1] = (struct iovec){ w->from + size / 3, size - size / 3 };
	sqe->flags |= RDMACHAN_SQE_F_IOV;
	sqe->addr = (uintptr_t)w->iov;
	sqe->length = 2;
}

static void recv_by(struct queue *q, int fd, struct way *w, uint32_t size, enum target to,
		    uint64_t user_data)
{
	switch (to) {
	case BY_CALL:
		return;
	case BY_RECV:
		queue_recv(q, fd, w->to, size, user_data);
		return;
	case BY_RECV_REGION:
		in_region(queue_recv(q, fd, NULL, size, user_data), w->region_to, 0);
		return;
	case BY_MANY:
		pool_put(&w->pool, w->to, size, 0);
		queue_recv_many(q, fd, w->pool.id, user_data);
	}
}

TEST_F_ROWS(queue, by, ways)
{
	struct rdmachan_cqe cqe;
	struct way w = {};
	struct queue mine;
	int turn, ends;

	w.from = fresh_pages(LARGE);
	w.to = fresh_pages(LARGE);
	ASSERT_EQ(queue_open(self->ctx, &mine, 16, 16), 0);
	ASSERT_EQ(pool_open(&mine, &w.pool, 16), 0);
	w.region_from = region_of(self->ctx, w.from, LARGE);
	w.region_to = region_of(self->ctx, w.to, LARGE);
	for (turn = 0; turn < 5; turn++) {
		fill_random(w.from, row->size, turn);
		memset(w.to, 0, row->size);
		if (turn == 0 || row->to != BY_MANY)
			recv_by(&mine, self->b, &w, row->size, row->to, 100);
		else
			pool_put(&w.pool, w.to, row->size, 0);
		queue_submit(&mine);
		send_by(&self->q, self->a, &w, row->size, row->from, turn);
		ASSERT_EQ(queue_submit(&self->q), 1);
		if (row->to == BY_CALL)
			ASSERT_EQ(do_recv(self->b, w.to, LARGE, NULL, TIMEOUT(PATIENCE)), 0);
		/* An operation that needs the program's memory goes on in a call of its queue. */
		for (ends = row->to == BY_CALL; !ends;) {
			queue_enter(&self->q, 0, 0, 0);
			ends = queue_enter(&mine, 0, 1, 20) >= 0;
		}
		EXPECT_CQE_FLAGS(&self->q, turn, row->size, 0);
		if (row->to != BY_CALL) {
			ASSERT_TRUE(queue_next(&mine, &cqe));
			EXPECT_EQ(cqe.res, row->size);
		}
		EXPECT_TRUE(is_random(w.to, row->size, turn));
	}
	pool_close(&w.pool);
	queue_close(&mine);
	munmap(w.from, LARGE);
	munmap(w.to, LARGE);
}

/* A region is the program's again when its message is sent: the peer may take its time. */
TEST_F(queue, region_is_let_go)
{
	char *from = fresh_pages(LARGE);
	uint32_t region = region_of(self->ctx, from, LARGE);

	in_region(deliver(&self->q, self->a, NULL, 100, 1), region, 0);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_NOTHING(&self->q);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	recv_some(self->b, 1);
	EXPECT_CQE_FLAGS(&self->q, 1, 100, 0);
	munmap(from, LARGE);
}

TEST_F(queue, early)
{
	struct opts early = { .flags = RDMACHAN_CONNECT_F_EARLY };
	int listener = do_listen(self->peer, SERVICE + 1, NULL), a, b, i;
	struct rdmachan_cqe cqe;

	ASSERT_GE(listener, 0);
	a = do_connect(self->ctx, SERVICE + 1, &early);
	ASSERT_GE(a, 0);
	for (i = 0; i < 4; i++)
		deliver(&self->q, a, "some", 4, i);
	ASSERT_EQ(queue_submit(&self->q), 4);
	b = do_accept(listener, TIMEOUT(PATIENCE));
	ASSERT_GE(b, 0);
	EXPECT_NOTHING(&self->q);
	recv_some(b, 4);
	for (i = 0; i < 4; i++)
		EXPECT_CQE_FLAGS(&self->q, i, 4, 0);
	close(a);
	close(b);
	close(listener);
	a = do_connect(self->ctx, SERVICE + 1, &early);
	ASSERT_GE(a, 0);
	deliver(&self->q, a, "some", 4, 9);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, 9);
	EXPECT_EQ(cqe.res, -ECONNREFUSED);
	/* Where time is real the refusal may come before the message, which is not sent then. */
	if (time_is_virtual())
		EXPECT_EQ(cqe.flags, SENT);
	close(a);
}

/* What a queue receives at once is told at once, in one frame. */
TEST_F(queue, frames)
{
	struct rdmachan_object before, after;
	struct queue mine;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &mine, 32, 32), 0);
	for (i = 0; i < 16; i++)
		deliver(&self->q, self->a, "some", 4, i);
	ASSERT_EQ(queue_submit(&self->q), 16);
	ASSERT_EQ(poll_mask(self->b, POLLIN, PATIENCE), POLLIN);
	let_time_pass();
	before = links_sent(self->peer);
	for (i = 0; i < 16; i++)
		queue_recv(&mine, self->b, memory[i], 64, i);
	ASSERT_EQ(queue_submit(&mine), 16);
	for (i = 0; i < 16; i++)
		EXPECT_CQE_FLAGS(&self->q, i, 4, 0);
	after = links_sent(self->peer);
	if (time_is_virtual() && has_peer())
		EXPECT_LE(after.tx_frames - before.tx_frames, 2);
	queue_close(&mine);
}

TEST_F(queue, wrong_entries)
{
	deliver(&self->q, self->a, "some", 4, 1)->op_flags = DELIVERED << 1;
	deliver(&self->q, self->a, "some", 4, 2)->op_flags = 0x80000000U | DELIVERED;
	deliver(&self->q, self->a, (void *)8, 4, 3);
	deliver(&self->q, self->a, "some", 4, 4)->msg_flags = 0x10000;
	queue_add(&self->q, OP(NOP), 0, 5)->op_flags = DELIVERED;
	ASSERT_EQ(queue_submit(&self->q), 5);
	EXPECT_CQE_FLAGS(&self->q, 1, -EOPNOTSUPP, 0);
	EXPECT_CQE_FLAGS(&self->q, 2, -EOPNOTSUPP, 0);
	EXPECT_CQE_FLAGS(&self->q, 3, -EFAULT, 0);
	EXPECT_CQE_FLAGS(&self->q, 4, -EINVAL, 0);
	EXPECT_CQE_FLAGS(&self->q, 5, -EINVAL, 0);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 50), 0);
}

TEST_HARNESS_MAIN
