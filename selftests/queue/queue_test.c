// SPDX-License-Identifier: GPL-2.0
/*
 * queue_test.c - queues: operations, their errors, order, chains
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "queue_fixture.h"
#include "stuck.h"

TEST_F(queue, create_checks_its_sizes)
{
	static const uint32_t bad[] = { 0, 3, 63, 65, 32769, 65536, 0x80000000, 0xffffffff };
	struct queue q;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_ERR(queue_open(self->ctx, &q, bad[i], 8), EINVAL);
		EXPECT_ERR(queue_open(self->ctx, &q, 8, bad[i]), EINVAL);
	}
	ASSERT_EQ(queue_open(self->ctx, &q, 1, 1), 0);
	queue_add(&q, OP(NOP), 0, 7);
	EXPECT_EQ(queue_submit(&q), 1);
	EXPECT_CQE(&q, 7, 0);
	queue_close(&q);
	ASSERT_EQ(queue_open(self->ctx, &q, 32768, 32768), 0);
	queue_close(&q);
}

TEST_F(queue, mapping_checks)
{
	struct queue *q = &self->q;
	int rw = PROT_READ | PROT_WRITE;

	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_PRIVATE, q->fd, q->sq.offset) == MAP_FAILED, true);
	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_SHARED, q->fd, 4096) == MAP_FAILED, true);
	EXPECT_EQ(mmap(NULL, 1 << 20, rw, MAP_SHARED, q->fd, q->cq.offset) == MAP_FAILED, true);
	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_SHARED, q->fd, 0x40000000) == MAP_FAILED, true);
	EXPECT_EQ(mremap(q->sq_map, q->sq.length, 1 << 20, MREMAP_MAYMOVE) == MAP_FAILED, true);
}

TEST_F(queue, nops_through_the_wrap)
{
	struct queue q;
	int i, n;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 8), 0);
	for (i = 0; i < 1000; i += n) {
		for (n = 0; n < 1 + i % 4; n++)
			queue_add(&q, OP(NOP), 0, i + n);
		ASSERT_EQ(queue_submit(&q), n);
		for (n = 0; n < 1 + i % 4; n++)
			EXPECT_CQE(&q, i + n, 0);
	}
	EXPECT_EQ(queue_ready(&q), 0);
	queue_close(&q);
}

TEST_F(queue, send_and_recv)
{
	char back[64], there[64];
	struct rdmachan_cqe cqe;

	queue_send(&self->q, self->a, "hello", 5, 1)->msg_flags = 0x1234;
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 5);
	queue_recv(&self->q, self->b, back, sizeof(back), 2);
	EXPECT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, 2);
	EXPECT_EQ(cqe.res, 5);
	EXPECT_EQ(cqe.length, 5);
	EXPECT_EQ(cqe.msg_flags, 0x1234);
	EXPECT_EQ(cqe.flags, 0);
	EXPECT_EQ(memcmp(back, "hello", 5), 0);

	/* Both at once, and an empty message. */
	queue_recv(&self->q, self->a, there, sizeof(there), 3);
	queue_send(&self->q, self->b, NULL, 0, 4);
	EXPECT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	EXPECT_CQE(&self->q, 4, 0);
	EXPECT_CQE(&self->q, 3, 0);
}

TEST_F(queue, sizes)
{
	static const size_t sizes[] = { 1, 2047, 2049, 4096, 8192, 8193, 65536, 300000, 1 << 20 };
	char *out = malloc(1 << 20), *back = malloc(1 << 20);
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill_random(out, sizes[i], i);
		queue_send(&self->q, self->a, out, sizes[i], 1);
		EXPECT_EQ(queue_enter(&self->q, 1, 1, 10000), 1);
		EXPECT_CQE(&self->q, 1, sizes[i]);
		queue_recv(&self->q, self->b, back, 1 << 20, 2);
		EXPECT_EQ(queue_enter(&self->q, 1, 1, 10000), 1);
		EXPECT_CQE(&self->q, 2, sizes[i]);
		EXPECT_TRUE(is_random(back, sizes[i], i));
	}
	/* It does not wait for a message to fit that is larger than the send buffer. */
	queue_send(&self->q, self->a, out, 2U << 20, 3);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 3, -EMSGSIZE);
}

TEST_F(queue, buffer_too_small)
{
	struct rdmachan_cqe cqe;
	char back[100];

	ASSERT_EQ(do_send(self->a, "0123456789", 10, 9, NULL), 0);
	queue_recv(&self->q, self->b, back, 9, 1);
	queue_recv(&self->q, self->b, back, 10, 2);
	EXPECT_EQ(queue_submit(&self->q), 2);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.length, 10);
	EXPECT_CQE(&self->q, 2, 10);
}

/* Nobody is in a call: the completion is there all the same. */
TEST_F(queue, completes_without_a_call)
{
	struct rdmachan_cqe cqe;
	char back[64] = "";
	int i;

	for (i = 0; i < 100; i++) {
		queue_recv(&self->q, self->b, back, sizeof(back), i);
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_EQ(queue_ready(&self->q), 0);
		ASSERT_EQ(write(self->a, &i, sizeof(i)), sizeof(i));
		ASSERT_TRUE(queue_watch(&self->q, &cqe));
		EXPECT_EQ(cqe.user_data, i);
		EXPECT_EQ(cqe.res, sizeof(i));
		EXPECT_EQ(memcmp(back, &i, sizeof(i)), 0);
	}
}

TEST_F(queue, wakes_who_waits_in_a_call)
{
	char back[64];
	pid_t child;

	queue_recv(&self->q, self->b, back, sizeof(back), 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	child = LATER(50, write(self->a, "x", 1));
	EXPECT_EQ(queue_enter(&self->q, 0, 1, 10000), 0);
	EXPECT_EQ(queue_ready(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 1);
	child_status(child);
}

TEST_F(queue, poll_and_epoll)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	char back[64];

	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, self->q.fd, &event), 0);
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), 0);
	queue_recv(&self->q, self->b, back, sizeof(back), 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 10000), 1);
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), POLLIN);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), 0);
}

/* An event for each completion, also when the ring is not empty. */
TEST_F(queue, epoll_edges)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int i, epoll = epoll_create1(0);
	char back[3][64];

	for (i = 0; i < 3; i++)
		queue_recv(&self->q, self->b, back[i], sizeof(back[i]), i);
	ASSERT_EQ(queue_submit(&self->q), 3);
	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, self->q.fd, &event), 0);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		EXPECT_EQ(epoll_wait(epoll, &event, 1, 10000), 1);
		EXPECT_EQ(queue_ready(&self->q), i + 1);
		EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
	}
	for (i = 0; i < 3; i++)
		EXPECT_CQE(&self->q, i, 1);
	close(epoll);
}

/* The same for what needs a call, with nothing in the ring. */
TEST_F(queue, epoll_edge_of_a_flag)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);
	char *cold = fresh_pages(4096);

	queue_recv(&self->q, self->b, cold, 4096, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, self->q.fd, &event), 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 10000), 1);
	EXPECT_EQ(queue_ready(&self->q), 0);
	EXPECT_EQ(queue_flags(&self->q), RDMACHAN_RING_F_ENTER);
	EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
	/* Without EPOLLET it is told until the call is made. */
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), POLLIN);
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), POLLIN);
	ASSERT_EQ(queue_enter(&self->q, 0, 0, 0), 0);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), 0);
	munmap(cold, 4096);
	close(epoll);
}

/* Memory that is not present cannot be fetched behind the program's back: it is asked to call. */
TEST_F(queue, memory_that_is_not_present)
{
	char *cold = fresh_pages(1 << 20);

	queue_recv(&self->q, self->b, cold, 1 << 20, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->a, "cold", 4), 4);
	EXPECT_TRUE(wait_readable(self->q.fd, 10000));
	EXPECT_EQ(queue_ready(&self->q), 0);
	EXPECT_EQ(queue_flags(&self->q), RDMACHAN_RING_F_ENTER);
	ASSERT_EQ(queue_enter(&self->q, 0, 0, 0), 0);
	EXPECT_EQ(queue_flags(&self->q), 0);
	EXPECT_CQE(&self->q, 1, 4);
	EXPECT_EQ(memcmp(cold, "cold", 4), 0);
}

/*
 * Memory that never comes, as nobody serves its faults: it holds up neither the kernel nor
 * others, and the queue can be closed.
 */
TEST_F(queue, memory_that_never_comes)
{
	char back[8];
	struct slow never;
	struct rdmachan_cqe cqe;
	struct queue other;
	int64_t begun;

	if (!slow_begin(&never, 4096))
		SKIP("there is no userfaultfd");
	ASSERT_EQ(queue_open(self->ctx, &other, 8, 8), 0);
	queue_recv(&other, self->b, never.memory, never.len, 1);
	ASSERT_EQ(queue_submit(&other), 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_TRUE(wait_readable(other.fd, 10000));
	EXPECT_EQ(queue_flags(&other), RDMACHAN_RING_F_ENTER);
	queue_recv(&self->q, self->a, back, 8, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->b, "y", 1), 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	begun = tick_ms();
	queue_close(&other);
	EXPECT_LT(now_ms() - begun, 5000);
	EXPECT_EQ(read(self->b, back, 8), 1);
}

/* Nothing else comes after that: a thread that has read, or written, tells those who could not. */
TEST_F(queue, goes_on_when_another_has_read)
{
	struct stuck s;
	char back[8];

	ASSERT_EQ(write(self->a, "first", 5), 5);
	stuck_begin(&s, self->b, stuck_read);
	ASSERT_EQ(write(self->a, "second", 6), 6);
	queue_recv(&self->q, self->b, back, 8, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_EQ(queue_ready(&self->q), 0);
	stuck_end(&s, 5);
	EXPECT_CQE(&self->q, 1, 6);
}

TEST_F(queue, goes_on_when_another_has_written)
{
	struct stuck s;
	char back[8];

	stuck_begin(&s, self->a, stuck_write);
	queue_send(&self->q, self->a, "second", 6, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_EQ(queue_ready(&self->q), 0);
	stuck_end(&s, 8);
	EXPECT_CQE(&self->q, 1, 6);
	EXPECT_EQ(read(self->b, back, 8), 8);
	EXPECT_EQ(read(self->b, back, 8), 6);
}

TEST_F(queue, bad_memory)
{
	char *gone = fresh_pages(4096);
	struct rdmachan_cqe cqe;
	char back[8];
	int i;

	munmap(gone, 4096);
	ASSERT_EQ(write(self->a, "stays", 5), 5);
	queue_recv(&self->q, self->b, gone, 4096, 1);
	queue_recv(&self->q, self->b, back, 8, 2);
	queue_send(&self->q, self->b, gone, 4096, 3);
	queue_send(&self->q, self->b, gone, 64 << 10, 4);
	queue_send(&self->q, self->b, (void *)-4096, 8, 5);
	queue_recv(&self->q, self->b, (void *)-4096, 8, 6);
	ASSERT_EQ(queue_enter(&self->q, 6, 6, 10000), 6);
	for (i = 0; i < 6; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, cqe.user_data == 2 ? 5 : -EFAULT);
	}
	EXPECT_EQ(memcmp(back, "stays", 5), 0);
}

/* Bad memory that is found out about when nobody is in a call. */
TEST_F(queue, bad_memory_later)
{
	char *gone = fresh_pages(4096);
	char back[8];

	queue_recv(&self->q, self->b, gone, 4096, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	munmap(gone, 4096);
	ASSERT_EQ(write(self->a, "stays", 5), 5);
	EXPECT_CQE(&self->q, 1, -EFAULT);
	EXPECT_EQ(read(self->b, back, 8), 5);
}

struct bad_entry {
	struct rdmachan_sqe sqe;
	int error;
};

TEST_F(queue, bad_entries)
{
	int listener = do_listen(self->peer, SERVICE, NULL), plain = open("/dev/null", O_RDWR);
	struct rdmachan_connect_args connect = { .size = 8 };
	const struct bad_entry bad[] = {
		{ { .opcode = OP(MESSAGE) + 1 }, EOPNOTSUPP },
		{ { .opcode = 255 }, EOPNOTSUPP },
		{ { .flags = 8 }, EOPNOTSUPP },
		{ { .flags = 16 }, EOPNOTSUPP },
		{ { .flags = 128 }, EOPNOTSUPP },
		{ { .flags = RDMACHAN_SQE_F_IOV }, EOPNOTSUPP },
		{ { .__reserved = 1 }, EINVAL },
		{ { .grant = 1 }, EINVAL },
		{ { .pool = 1 }, EINVAL },
		{ { .region = 1 }, EINVAL },
		{ { .flags = RDMACHAN_SQE_F_REGION }, EOPNOTSUPP },
		{ { .fd = 1 }, EINVAL },
		{ { .addr = 1 }, EINVAL },
		{ { .length = 1 }, EINVAL },
		{ { .msg_flags = 1 }, EINVAL },
		{ { .op_flags = 1 }, EINVAL },
		{ { .target = 1 }, EINVAL },
		{ { .opcode = OP(SEND), .fd = -1 }, EBADF },
		{ { .opcode = OP(SEND), .fd = 1000000 }, EBADF },
		{ { .opcode = OP(SEND), .fd = plain }, ENOTTY },
		{ { .opcode = OP(SEND), .fd = self->ctx }, ENOTTY },
		{ { .opcode = OP(SEND), .fd = listener }, ENOTTY },
		{ { .opcode = OP(SEND), .fd = self->q.fd }, ENOTTY },
		{ { .opcode = OP(RECV), .fd = self->q.fd }, ENOTTY },
		{ { .opcode = OP(ACCEPT), .fd = self->q.fd }, ENOTTY },
		{ { .opcode = OP(ACCEPT), .fd = self->a }, ENOTTY },
		{ { .opcode = OP(ACCEPT), .fd = listener, .op_flags = 4 }, EOPNOTSUPP },
		{ { .opcode = OP(SHUTDOWN), .fd = self->q.fd, .op_flags = 1 }, ENOTTY },
		{ { .opcode = OP(SHUTDOWN), .fd = self->a }, EINVAL },
		{ { .opcode = OP(SHUTDOWN), .fd = self->a, .op_flags = 5 }, EINVAL },
		{ { .opcode = OP(SHUTDOWN), .fd = self->a, .op_flags = 8 }, EINVAL },
		{ { .opcode = OP(FINISH), .fd = self->q.fd }, ENOTTY },
		{ { .opcode = OP(FINISH), .fd = self->a, .op_flags = 1 }, EINVAL },
		{ { .opcode = OP(SEND), .fd = self->a, .msg_flags = 0x10000 }, EINVAL },
		{ { .opcode = OP(SEND), .fd = self->a, .length = (1U << 30) + 1 }, EMSGSIZE },
		{ { .opcode = OP(SEND), .fd = self->a, .op_flags = 2 }, EOPNOTSUPP },
		{ { .opcode = OP(RECV), .fd = self->a, .msg_flags = 1 }, EINVAL },
		{ { .opcode = OP(CONNECT) }, EINVAL },
		{ { .opcode = OP(CONNECT), .fd = -1 }, EFAULT },
		{ { .opcode = OP(CONNECT), .fd = -1, .addr = (uintptr_t)&connect }, EINVAL },
		{ { .opcode = OP(CANCEL) }, EINVAL },
		{ { .opcode = OP(CANCEL), .fd = -1, .op_flags = 2 }, EOPNOTSUPP },
		{ { .opcode = OP(CANCEL), .fd = -1, .target = 999 }, ENOENT },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*queue_add(&self->q, 0, 0, 0) = bad[i].sqe;
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, 0, -bad[i].error);
	}
	EXPECT_EQ(queue_ready(&self->q), 0);
}

TEST_F(queue, enter_checks)
{
	struct rdmachan_enter_args enter = { .size = sizeof(enter), .flags = 2 };

	EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EOPNOTSUPP);
	/* There is no poller. */
	enter.flags = RDMACHAN_ENTER_F_WAKEUP;
	EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EINVAL);
	enter.flags = 0;
	enter.__reserved = 1;
	EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EINVAL);
	EXPECT_ERR(queue_enter(&self->q, 0, 65, 1), EINVAL);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_ENTER, &enter), ENOTTY);
	EXPECT_ERR(do_shutdown(self->q.fd, 1), ENOTTY);
}

TEST_F(queue, timeout_and_signal)
{
	struct rdmachan_enter_args again = {
		.size = sizeof(again), .min_complete = 3, .out_submitted = 77,
	};
	uint32_t submitted = 77;
	int64_t begun = tick_ms();

	EXPECT_ERR(queue_enter(&self->q, 0, 1, 50), ETIMEDOUT);
	EXPECT_GE(now_ms() - begun, 50);
	queue_add(&self->q, OP(NOP), 0, 1);
	errno = 0;
	EXPECT_EQ(queue_enter_got(&self->q, 1, 2, 20, &submitted), -1);
	EXPECT_EQ(errno, ETIMEDOUT);
	EXPECT_EQ(submitted, 1);
	/* A submitted entry must not be submitted again. */
	queue_add(&self->q, OP(NOP), 0, 2);
	EXPECT_EINTR(50, true, queue_enter_got(&self->q, 1, 3, 0, &submitted));
	EXPECT_EQ(submitted, 1);
	EXPECT_EINTR(50, false, queue_enter(&self->q, 0, 3, 0));
	/* None was: the number is not that of a call before. */
	EXPECT_EINTR(50, false, ioctl(self->q.fd, RDMACHAN_ENTER, &again));
	EXPECT_EQ(again.out_submitted, 0);
	EXPECT_CQE(&self->q, 1, 0);
	EXPECT_CQE(&self->q, 2, 0);
}

TEST_F(queue, receives_in_order)
{
	uint32_t back[60], i;

	for (i = 0; i < 60; i++)
		queue_recv(&self->q, self->b, &back[i], 4, i);
	ASSERT_EQ(queue_submit(&self->q), 60);
	for (i = 0; i < 60; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	for (i = 0; i < 60; i++) {
		EXPECT_CQE(&self->q, i, 4);
		EXPECT_EQ(back[i], i);
	}
}

/* The first waits for room, and so do all behind it, though a small one might fit. */
TEST_F(queue, sends_in_order)
{
	static char big[64 << 10], back[64 << 10];
	uint32_t i, count, small[32];

	/* Memory that is present can be sent although nobody is in a call. */
	memset(big, 1, sizeof(big));
	count = fill_up(self->a, sizeof(big));
	ASSERT_GT(count, 0);
	for (i = 0; i < 32; i++) {
		small[i] = i;
		if (i % 4)
			queue_send(&self->q, self->a, &small[i], 4, i);
		else
			queue_send(&self->q, self->a, big, sizeof(big), i);
	}
	ASSERT_EQ(queue_submit(&self->q), 32);
	EXPECT_EQ(queue_ready(&self->q), 0);
	for (i = 0; i < count; i++)
		ASSERT_EQ(read(self->b, back, sizeof(back)), sizeof(back));
	for (i = 0; i < 32; i++) {
		ASSERT_EQ(read(self->b, back, sizeof(back)), i % 4 ? 4 : sizeof(big));
		if (i % 4)
			EXPECT_EQ(memcmp(back, &i, 4), 0);
		EXPECT_CQE(&self->q, i, i % 4 ? 4 : sizeof(big));
	}
}

/*
 * Messages submitted together share frames, although the link is idle: as it always seems
 * to be where rxe completes a frame before posting returns (6.1).
 */
TEST_F(queue, sends_share_frames)
{
	char out[64] = "", back[64];
	uint64_t before;
	int i;

	before = frames_sent(self->ctx);
	for (i = 0; i < 60; i++)
		queue_send(&self->q, self->a, out, sizeof(out), i)->flags = SKIP_SUCCESS;
	ASSERT_EQ(queue_submit(&self->q), 60);
	for (i = 0; i < 60; i++)
		ASSERT_EQ(read(self->b, back, sizeof(back)), sizeof(out));
	EXPECT_LT(frames_sent(self->ctx) - before, 20);
}

/* Of frames that are answered the adapter need not tell that they are sent, but for each 8th. */
TEST_F(queue, few_frames_are_signalled)
{
	struct rdmachan_object before, after;
	uint64_t frames, signals;
	int i, back;

	before = pair_sent(self->ctx, self->peer);
	for (i = 0; i < 400; i++) {
		ASSERT_EQ(write(i % 2 ? self->a : self->b, &i, sizeof(i)), sizeof(i));
		ASSERT_EQ(read(i % 2 ? self->b : self->a, &back, sizeof(back)), sizeof(back));
	}
	after = pair_sent(self->ctx, self->peer);
	frames = after.tx_frames - before.tx_frames;
	signals = after.tx_signals - before.tx_signals;
	printf("# %d of %d frames were signalled\n", (int)signals, (int)frames);
	EXPECT_GE(frames, 400);
	EXPECT_GE(signals, frames / 10);
	EXPECT_LE(signals, frames / 5);
}

#define CHANNELS 8U
#define EACH 8U

/* One call with a message for each channel in turn, or all of one and then of the next. */
static uint64_t frames_for(struct fixture_queue *self, int ends[CHANNELS][2], bool in_turn)
{
	uint32_t out[CHANNELS * EACH][16] = { 0 }, back[16], i, chan;
	uint64_t before = frames_sent(self->ctx);

	for (i = 0; i < CHANNELS * EACH; i++) {
		chan = in_turn ? i % CHANNELS : i / EACH;
		out[i][0] = i;
		queue_send(&self->q, ends[chan][0], out[i], 64, i)->flags = SKIP_SUCCESS;
	}
	ASSERT_EQ(queue_submit(&self->q), CHANNELS * EACH);
	for (i = 0; i < CHANNELS * EACH; i++) {
		chan = i / EACH;
		ASSERT_EQ(read(ends[chan][1], back, sizeof(back)), 64);
		EXPECT_EQ(back[0], in_turn ? i % EACH * CHANNELS + chan : i);
	}
	return frames_sent(self->ctx) - before;
}

TEST_F(queue, channels_share_frames)
{
	struct rdmachan_object first, other;
	int ends[CHANNELS][2];
	uint64_t frames;
	unsigned int i;

	ASSERT_EQ(get_object(self->a, &first), 0);
	for (i = 0; i < CHANNELS; i++) {
		pair_up(self->ctx, ends[i], NULL);
		ASSERT_EQ(get_object(ends[i][0], &other), 0);
		ASSERT_EQ(other.link_id, first.link_id);
	}
	for (i = 0; i < 4; i++) {
		frames = frames_for(self, ends, i % 2);
		printf("# %u messages %s: %u frames\n", CHANNELS * EACH,
		       i % 2 ? "in turn" : "in blocks", (unsigned int)frames);
		EXPECT_LT(frames, CHANNELS);
	}
}

/* They go out although the last one does not. */
TEST_F(queue, sends_before_one_that_fails)
{
	char back[64];

	queue_send(&self->q, self->a, "x", 1, 1);
	queue_send(&self->q, -1, "x", 1, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_TRUE(wait_readable(self->b, 20000));
	EXPECT_EQ(read(self->b, back, 64), 1);
	queue_send(&self->q, self->a, "y", 1, 3);
	queue_send(&self->q, self->a, fresh_pages(4096), 2U << 20, 4);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_TRUE(wait_readable(self->b, 20000));
	EXPECT_EQ(read(self->b, back, 64), 1);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_CQE(&self->q, 2, -EBADF);
	EXPECT_CQE(&self->q, 3, 1);
	EXPECT_CQE(&self->q, 4, -EMSGSIZE);
}

TEST_F(queue, connect_and_accept)
{
	int listener = do_listen(self->peer, SERVICE, NULL), ends[2] = { -1, -1 }, i;
	struct rdmachan_connect_args connect;
	struct rdmachan_cqe cqe;
	char back[8];

	fill_in(&connect, SERVICE, NULL);
	queue_add(&self->q, OP(ACCEPT), listener, 0)->op_flags = RDMACHAN_FD_F_CLOEXEC;
	queue_connect(&self->q, &connect, 1);
	ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_GE(cqe.res, 0);
		ends[cqe.user_data] = cqe.res;
	}
	EXPECT_EQ(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(fcntl(ends[1], F_GETFD), 0);
	EXPECT_EQ(write(ends[0], "hello", 5), 5);
	EXPECT_EQ(read(ends[1], back, 8), 5);
	close(ends[0]);
	EXPECT_EQ(read(ends[1], back, 8), 0);
	close(ends[1]);
	close(listener);
}

/* A file descriptor is made only in a call, which the flags and poll() ask for. */
TEST_F(queue, accept_asks_for_a_call)
{
	int listener = do_listen(self->peer, SERVICE, NULL), chan;
	struct rdmachan_cqe cqe;

	queue_add(&self->q, OP(ACCEPT), listener, 3);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_EQ(queue_flags(&self->q), 0);
	chan = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(chan, 0);
	EXPECT_TRUE(wait_readable(self->q.fd, 10000));
	EXPECT_EQ(queue_flags(&self->q), RDMACHAN_RING_F_ENTER);
	EXPECT_EQ(queue_ready(&self->q), 0);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_GE(cqe.res, 0);
	EXPECT_EQ(queue_flags(&self->q), 0);
	EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), 0);
}

TEST_F(queue, no_descriptor_left)
{
	int listener = do_listen(self->peer, SERVICE, NULL), chan;
	struct rlimit limit = { 0, 0 };
	struct rdmachan_cqe cqe;
	rlim_t all;

	chan = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(chan, 0);
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	all = limit.rlim_cur;
	limit.rlim_cur = chan + 1;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	queue_add(&self->q, OP(ACCEPT), listener, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, -EMFILE);
	/* It goes on waiting. */
	limit.rlim_cur = all;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	queue_add(&self->q, OP(ACCEPT), listener, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_GE(cqe.res, 0);
}

TEST_F(queue, connect_is_refused)
{
	struct rdmachan_connect_args connect;
	struct rdmachan_error error;

	fill_in(&connect, SERVICE + 1, &error);
	queue_connect(&self->q, &connect, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, -ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_SERVICE);
	EXPECT_EQ(error.error, ECONNREFUSED);
	connect.addr.family = AF_UNIX;
	queue_connect(&self->q, &connect, 2);
	connect.addr.family = AF_INET;
	connect.service = 0;
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 2, -EINVAL);
}

/* An operation on a channel that is being connected waits until it is. */
TEST_F(queue, sends_when_connected)
{
	const struct opts o = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int listener = do_listen(self->peer, SERVICE, NULL), chan, peer;
	char back[8];

	chan = do_connect(self->ctx, SERVICE, &o);
	ASSERT_GE(chan, 0);
	queue_send(&self->q, chan, "early", 5, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 5);
	peer = do_accept(listener, NULL);
	EXPECT_EQ(read(peer, back, 8), 5);
}

TEST_F(queue, shutdown_goes_behind_what_is_sent)
{
	struct rdmachan_cqe cqe;
	char back[64];
	int i;

	for (i = 0; i < 8; i++)
		queue_send(&self->q, self->a, "x", 1, i);
	queue_add(&self->q, OP(SHUTDOWN), self->a, 8)->op_flags = RDMACHAN_SHUTDOWN_SEND;
	queue_send(&self->q, self->a, "x", 1, 9);
	for (i = 10; i < 19; i++)
		queue_recv(&self->q, self->b, back, 64, i);
	ASSERT_EQ(queue_enter(&self->q, 19, 19, 10000), 19);
	for (i = 0; i < 19; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.user_data, i);
		EXPECT_EQ(cqe.res, i == 9 ? -EPIPE : i == 8 || i == 18 ? 0 : 1);
		EXPECT_EQ(cqe.flags, i == 18 ? RDMACHAN_CQE_F_EOF : 0);
	}
}

TEST_F(queue, shutdown_ends_what_is_received)
{
	struct rdmachan_cqe cqe;
	char back[64];
	int i, ends = 0;

	queue_recv(&self->q, self->b, back, 64, 1);
	queue_recv(&self->q, self->b, back, 64, 2);
	queue_add(&self->q, OP(SHUTDOWN), self->b, 3)->op_flags = RDMACHAN_SHUTDOWN_RECV;
	ASSERT_EQ(queue_enter(&self->q, 3, 3, 10000), 3);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, 0);
		ends += cqe.flags == RDMACHAN_CQE_F_EOF;
	}
	EXPECT_EQ(ends, 2);
}

TEST_F(queue, chains)
{
	struct queue *q = &self->q;
	char back[64];

	/* All of it succeeds. */
	queue_send(q, self->a, "one", 3, 1)->flags = LINK;
	queue_recv(q, self->b, back, 64, 2)->flags = LINK;
	queue_add(q, OP(NOP), 0, 3);
	ASSERT_EQ(queue_submit(q), 3);
	EXPECT_CQE(q, 1, 3);
	EXPECT_CQE(q, 2, 3);
	EXPECT_CQE(q, 3, 0);
	/* The second fails. */
	queue_add(q, OP(NOP), 0, 1)->flags = LINK;
	queue_send(q, -1, "", 0, 2)->flags = LINK;
	queue_add(q, OP(NOP), 0, 3)->flags = LINK;
	queue_send(q, self->a, "not sent", 8, 4);
	ASSERT_EQ(queue_enter(q, 4, 4, 10000), 4);
	EXPECT_CQE(q, 1, 0);
	EXPECT_CQE(q, 2, -EBADF);
	EXPECT_CQE(q, 3, -ECANCELED);
	EXPECT_CQE(q, 4, -ECANCELED);
	EXPECT_ERR(do_recv(self->b, back, 64, NULL, DONTWAIT), EAGAIN);
	/* It ends with the call that takes it. */
	queue_send(q, -1, "", 0, 6)->flags = LINK;
	ASSERT_EQ(queue_submit(q), 1);
	queue_add(q, OP(NOP), 0, 7);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 6, -EBADF);
	EXPECT_CQE(q, 7, 0);
}

/* As many can be under way after chains have failed as before. */
TEST_F(queue, chain_that_fails)
{
	struct queue *q = &self->q;
	int length, i;

	for (length = 2; length < 6; length++) {
		queue_send(q, -1, "", 0, 0)->flags = LINK;
		for (i = 1; i < length; i++)
			queue_recv(q, self->b, NULL, 0, i)->flags = i < length - 1 ? LINK : 0;
		ASSERT_EQ(queue_submit(q), length);
		EXPECT_CQE(q, 0, -EBADF);
		for (i = 1; i < length; i++)
			EXPECT_CQE(q, i, -ECANCELED);
		for (i = 0; i < 64; i++)
			queue_recv(q, self->b, NULL, 0, 7);
		ASSERT_EQ(queue_submit(q), 64);
		queue_cancel(q, 7, RDMACHAN_CANCEL_F_ALL, 8);
		EXPECT_EQ(queue_submit(q), 0);
		for (i = 0; i < 64; i++)
			ASSERT_EQ(do_send(self->a, NULL, 0, 0, NULL), 0);
		for (i = 0; i < 64; i++)
			EXPECT_CQE(q, 7, 0);
		ASSERT_EQ(queue_submit(q), 1);
		EXPECT_CQE(q, 8, -ENOENT);
	}
}

/* The one that waits begins what is behind it, also when nobody is in a call. */
TEST_F(queue, chain_that_waits)
{
	struct rdmachan_cqe cqe;
	char back[64] = "";

	queue_recv(&self->q, self->b, back, 64, 1)->flags = LINK;
	queue_send(&self->q, self->b, back, 4, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	ASSERT_EQ(write(self->a, "ping", 4), 4);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, 2);
	EXPECT_EQ(read(self->a, back, 64), 4);
	EXPECT_EQ(memcmp(back, "ping", 4), 0);
}

/* An entry known to be wrong needs no call to be told. */
/* A chain is not cut because others have all operations: it waits for its last one as well. */
TEST_F(queue, chain_that_has_no_place)
{
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 16, 8), 0);
	for (i = 0; i < 6; i++)
		queue_recv(&q, self->b, NULL, 0, i);
	ASSERT_EQ(queue_submit(&q), 6);
	queue_add(&q, OP(NOP), 0, 10)->flags = LINK;
	queue_send(&q, -1, "", 0, 11)->flags = LINK;
	queue_send(&q, self->a, "", 0, 12)->flags = LINK;
	queue_add(&q, OP(NOP), 0, 13);
	queue_add(&q, OP(NOP), 0, 14);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(queue_submit(&q), 0);
		ASSERT_EQ(do_send(self->a, NULL, 0, 0, NULL), 0);
		EXPECT_CQE(&q, i, 0);
	}
	EXPECT_EQ(queue_submit(&q), 4);
	EXPECT_CQE(&q, 10, 0);
	EXPECT_CQE(&q, 11, -EBADF);
	EXPECT_CQE(&q, 12, -ECANCELED);
	EXPECT_CQE(&q, 13, -ECANCELED);
	EXPECT_EQ(queue_submit(&q), 1);
	EXPECT_CQE(&q, 14, 0);
	/* One that never will have place is cut, and its first part waits for nothing. */
	for (i = 2; i < 6; i++) {
		ASSERT_EQ(do_send(self->a, NULL, 0, 0, NULL), 0);
		EXPECT_CQE(&q, i, 0);
	}
	for (i = 0; i < 10; i++)
		queue_add(&q, OP(NOP), 0, i)->flags = i < 9 ? LINK : 0;
	ASSERT_EQ(queue_submit(&q), 8);
	for (i = 0; i < 8; i++)
		EXPECT_CQE(&q, i, 0);
	ASSERT_EQ(queue_submit(&q), 2);
	EXPECT_CQE(&q, 8, 0);
	EXPECT_CQE(&q, 9, 0);
	queue_close(&q);
}

struct sender {
	struct queue *queue;
	int chan;
};

static void *send_when_taken(void *arg)
{
	const struct sender *sender = arg;
	uint32_t *consumer = ring_word(sender->queue->sq_map, sender->queue->sq.consumer);

	while (!__atomic_load_n(consumer, __ATOMIC_ACQUIRE))
		;
	ASSERT_EQ(do_send(sender->chan, NULL, 0, 0, NULL), 0);
	return NULL;
}

/* An entry without a place is taken while the call waits. */
TEST_F(queue, taken_while_it_waits)
{
	struct rdmachan_enter_args out;
	struct sender sender;
	pthread_t thread;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 1), 0);
	sender = (struct sender){ &q, self->a };
	queue_recv(&q, self->b, NULL, 0, 1)->flags = SKIP_SUCCESS;
	queue_add(&q, OP(NOP), 0, 2);
	queue_add(&q, OP(NOP), 0, 3);
	ASSERT_EQ(pthread_create(&thread, NULL, send_when_taken, &sender), 0);
	queue_publish(&q);
	out = (struct rdmachan_enter_args){
		.size = sizeof(out), .to_submit = 2, .min_complete = 1, .timeout_ms = 20000,
	};
	EXPECT_EQ(ioctl(q.fd, RDMACHAN_ENTER, &out), 0);
	EXPECT_EQ(out.out_submitted, 2);
	EXPECT_EQ(out.out_complete, 1);
	EXPECT_CQE(&q, 2, 0);
	pthread_join(thread, NULL);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_CQE(&q, 3, 0);
	queue_close(&q);
}

TEST_F(queue, chain_with_bad_memory)
{
	struct rdmachan_cqe cqe;
	char back[64] = "";

	queue_recv(&self->q, self->b, back, 64, 1)->flags = LINK;
	queue_send(&self->q, self->b, (void *)-4096, 8, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -EFAULT);
	EXPECT_EQ(queue_flags(&self->q), 0);
}

TEST_F(queue, drain)
{
	struct queue *q = &self->q;
	char back[64];

	queue_recv(q, self->b, back, 64, 1);
	queue_add(q, OP(NOP), 0, 2)->flags = DRAIN;
	queue_add(q, OP(NOP), 0, 3);
	queue_add(q, OP(NOP), 0, 4)->flags = DRAIN | LINK;
	queue_add(q, OP(NOP), 0, 5);
	ASSERT_EQ(queue_submit(q), 5);
	EXPECT_ERR(queue_enter(q, 0, 1, 50), ETIMEDOUT);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 1, 1);
	EXPECT_CQE(q, 2, 0);
	EXPECT_CQE(q, 3, 0);
	EXPECT_CQE(q, 4, 0);
	EXPECT_CQE(q, 5, 0);
	/* What drains and waits holds up what is behind it, and can be cancelled. */
	queue_recv(q, self->b, back, 64, 6)->flags = DRAIN;
	queue_add(q, OP(NOP), 0, 7);
	ASSERT_EQ(queue_submit(q), 2);
	EXPECT_ERR(queue_enter(q, 0, 1, 50), ETIMEDOUT);
	queue_cancel(q, 6, 0, 8);
	ASSERT_EQ(queue_enter(q, 1, 3, 10000), 1);
	EXPECT_CQE(q, 6, -ECANCELED);
	EXPECT_CQE(q, 8, 1);
	EXPECT_CQE(q, 7, 0);
	/* Not in the middle of a chain. */
	queue_add(q, OP(NOP), 0, 9)->flags = LINK;
	queue_add(q, OP(NOP), 0, 10)->flags = DRAIN;
	ASSERT_EQ(queue_submit(q), 2);
	EXPECT_CQE(q, 9, 0);
	EXPECT_CQE(q, 10, -EINVAL);
}

TEST_F(queue, skip_success)
{
	queue_add(&self->q, OP(NOP), 0, 1)->flags = SKIP_SUCCESS;
	queue_send(&self->q, self->a, "x", 1, 2)->flags = SKIP_SUCCESS;
	queue_send(&self->q, -1, "x", 1, 3)->flags = SKIP_SUCCESS;
	queue_add(&self->q, OP(NOP), 0, 4);
	ASSERT_EQ(queue_submit(&self->q), 4);
	EXPECT_CQE(&self->q, 3, -EBADF);
	EXPECT_CQE(&self->q, 4, 0);
	EXPECT_EQ(queue_ready(&self->q), 0);
}

TEST_HARNESS_MAIN
