// SPDX-License-Identifier: GPL-2.0
/*
 * queue_accept_test.c - queues: one ACCEPT for many channels
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/resource.h>

#include "queue_fixture.h"

#define MORE RDMACHAN_CQE_F_MORE

static struct rdmachan_sqe *accept_many(struct queue *q, int listener, uint32_t flags,
					uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, OP(ACCEPT), listener, user_data);

	sqe->op_flags = flags | RDMACHAN_ACCEPT_F_MULTISHOT;
	return sqe;
}

/* The next completion is of a channel that was accepted. Return: it */
static int accepted(struct queue *q, uint64_t user_data)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(q, &cqe));
	EXPECT_EQ(cqe.user_data, user_data);
	EXPECT_EQ(cqe.flags, MORE);
	ASSERT_GE(cqe.res, 0);
	return cqe.res;
}

/* The next completion is the last of @data. */
#define EXPECT_LAST(q, data, result)					\
	do {								\
		struct rdmachan_cqe last_;				\
									\
		ASSERT_TRUE(queue_wait(q, &last_));			\
		EXPECT_EQ(last_.user_data, (uint64_t)(data));		\
		EXPECT_EQ(last_.res, (int64_t)(result));		\
		EXPECT_EQ(last_.flags, 0);				\
	} while (0)

TEST_F(queue, accepts_until_cancelled)
{
	int listener = do_listen(self->peer, SERVICE, NULL), ends[5], chan, i;
	struct rdmachan_object about = { .size = sizeof(about) };
	char back[8];

	accept_many(&self->q, listener, RDMACHAN_FD_F_CLOEXEC, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	/* Some one by one, some that wait already. */
	for (i = 0; i < 5; i++) {
		ends[i] = do_connect(self->ctx, SERVICE, NULL);
		ASSERT_GE(ends[i], 0);
		if (i % 2)
			continue;
		EXPECT_TRUE(wait_readable(self->q.fd, 10000));
		EXPECT_EQ(queue_flags(&self->q), RDMACHAN_RING_F_ENTER);
		EXPECT_EQ(queue_enter(&self->q, 0, 0, 0), 0);
	}
	for (i = 0; i < 5; i++) {
		chan = accepted(&self->q, 1);
		EXPECT_EQ(fcntl(chan, F_GETFD), FD_CLOEXEC);
		ASSERT_EQ(get_object(chan, &about), 0);
		EXPECT_EQ(about.peer_claimed_uid, getuid());
		EXPECT_EQ(about.peer.family, AF_INET);
		/* In the order in which they were opened. */
		EXPECT_EQ(write(ends[i], "hello", i), i);
		EXPECT_EQ(read(chan, back, 8), i);
		close(chan);
		close(ends[i]);
	}
	queue_cancel(&self->q, 1, 0, 2);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_LAST(&self->q, 1, -ECANCELED);
	EXPECT_CQE(&self->q, 2, 1);
	close(listener);
}

/* While the ring is full channels wait with the listener: none is lost, none is refused. */
TEST_F(queue, accepts_as_there_is_room)
{
	int listener = do_listen(self->peer, SERVICE, NULL), ends[7], i;
	struct rdmachan_object about = { .size = sizeof(about) };
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	for (i = 0; i < 7; i++) {
		ends[i] = do_connect(self->ctx, SERVICE, NULL);
		ASSERT_GE(ends[i], 0);
	}
	accept_many(&q, listener, 0, 1);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_EQ(queue_ready(&q), 4);
	EXPECT_EQ(queue_flags(&q), RDMACHAN_RING_F_OVERFLOW);
	ASSERT_EQ(get_object(listener, &about), 0);
	EXPECT_EQ(about.channels, 3);
	for (i = 0; i < 4; i++)
		close(accepted(&q, 1));
	EXPECT_EQ(queue_enter(&q, 0, 3, 10000), 0);
	EXPECT_EQ(queue_flags(&q), 0);
	for (i = 0; i < 3; i++)
		close(accepted(&q, 1));
	for (i = 0; i < 7; i++)
		close(ends[i]);
	queue_close(&q);
	close(listener);
}

/* A full ring is no overflow before a channel waits. */
TEST_F(queue, accepts_with_a_full_ring)
{
	int listener = do_listen(self->peer, SERVICE, NULL), end, i;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	for (i = 0; i < 4; i++)
		queue_add(&q, OP(NOP), 0, 2);
	EXPECT_EQ(queue_submit(&q), 4);
	accept_many(&q, listener, 0, 1);
	EXPECT_EQ(queue_submit(&q), 1);
	EXPECT_EQ(queue_flags(&q), 0);
	end = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(end, 0);
	EXPECT_EQ(queue_enter(&q, 0, 0, 0), 0);
	EXPECT_EQ(queue_flags(&q), RDMACHAN_RING_F_OVERFLOW);
	for (i = 0; i < 4; i++)
		EXPECT_CQE(&q, 2, 0);
	EXPECT_EQ(queue_enter(&q, 0, 1, 10000), 0);
	EXPECT_EQ(queue_flags(&q), 0);
	close(accepted(&q, 1));
	close(end);
	queue_close(&q);
	close(listener);
}

TEST_F(queue, accepts_until_no_descriptor_is_left)
{
	int listener = do_listen(self->peer, SERVICE, NULL), ends[2], chan, i;
	struct rdmachan_object about = { .size = sizeof(about) };
	struct rlimit limit;
	rlim_t all;

	for (i = 0; i < 2; i++) {
		ends[i] = do_connect(self->ctx, SERVICE, NULL);
		ASSERT_GE(ends[i], 0);
	}
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	all = limit.rlim_cur;
	limit.rlim_cur = ends[1] + 2;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	accept_many(&self->q, listener, 0, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	limit.rlim_cur = all;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	chan = accepted(&self->q, 1);
	EXPECT_LAST(&self->q, 1, -EMFILE);
	ASSERT_EQ(get_object(listener, &about), 0);
	EXPECT_EQ(about.channels, 1);
	close(chan);
	close(listener);
}

/* Each channel begins the time anew. */
TEST_F(queue, accepts_until_the_time_is_over)
{
	int listener, end;
	int64_t begun;

	if (!time_is_virtual())
		SKIP("a busy machine may connect too late");
	listener = do_listen(self->peer, SERVICE, NULL);
	accept_many(&self->q, listener, 0, 1)->timeout_ms = 1000;
	ASSERT_EQ(queue_submit(&self->q), 1);
	sleep_ms(600);
	begun = now_ms();
	end = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(end, 0);
	close(accepted(&self->q, 1));
	EXPECT_LAST(&self->q, 1, -ETIMEDOUT);
	EXPECT_GE(now_ms() - begun, 1000);
	close(end);
	close(listener);
}

TEST_F(queue, accept_many_checks_its_flags)
{
	int listener = do_listen(self->peer, SERVICE, NULL), end;

	accept_many(&self->q, listener, 0, 1)->flags = LINK;
	queue_add(&self->q, OP(NOP), 0, 2);
	EXPECT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE(&self->q, 1, -EINVAL);
	EXPECT_CQE(&self->q, 2, -ECANCELED);
	accept_many(&self->q, listener, 0, 3)->flags = SKIP_SUCCESS;
	accept_many(&self->q, listener, 1 << 9, 4);
	accept_many(&self->q, self->a, 0, 5);
	EXPECT_EQ(queue_submit(&self->q), 3);
	EXPECT_CQE(&self->q, 3, -EINVAL);
	EXPECT_CQE(&self->q, 4, -EOPNOTSUPP);
	EXPECT_CQE(&self->q, 5, -ENOTTY);
	/* The last of a chain, and behind one that accepts one channel. */
	queue_add(&self->q, OP(NOP), 0, 1)->flags = LINK;
	queue_add(&self->q, OP(ACCEPT), listener, 2)->flags = LINK;
	accept_many(&self->q, listener, 0, 3);
	EXPECT_EQ(queue_submit(&self->q), 3);
	EXPECT_CQE(&self->q, 1, 0);
	end = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(end, 0);
	close(end);
	end = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(end, 0);
	close(end);
	EXPECT_EQ(queue_enter(&self->q, 0, 2, 10000), 0);
	EXPECT_EQ(queue_ready(&self->q), 2);
	close(listener);
}

TEST_HARNESS_MAIN
