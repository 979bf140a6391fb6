// SPDX-License-Identifier: GPL-2.0
/*
 * queue_test.c - queues: operations, order, chains, cancelling, hostile rings
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/userfaultfd.h>

#include "common.h"
#include "harness.h"
#include "ring.h"

#define OP(name) RDMACHAN_OPCODE_##name
#define LINK RDMACHAN_SQE_F_LINK
#define DRAIN RDMACHAN_SQE_F_DRAIN
#define SKIP_SUCCESS RDMACHAN_SQE_F_SKIP_SUCCESS
#define PARAMETERS "/sys/module/rdmachan/parameters/"

FIXTURE(queue)
{
	int ctx;
	int a;
	int b;
	struct queue q;
};

FIXTURE_SETUP(queue)
{
	int fds[2];

	self->ctx = open_ctx();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	ASSERT_EQ(queue_open(self->ctx, &self->q, 64, 64), 0);
}

FIXTURE_TEARDOWN(queue)
{
	queue_close(&self->q);
	close(self->a);
	close(self->b);
	close(self->ctx);
}

/* The next completion is of @data and succeeded or failed with @res. */
#define EXPECT_CQE(q, data, result)				\
	do {							\
		struct rdmachan_cqe cqe_;			\
								\
		ASSERT_TRUE(queue_wait(q, &cqe_));		\
		EXPECT_EQ(cqe_.user_data, (uint64_t)(data));	\
		EXPECT_EQ(cqe_.res, (int64_t)(result));		\
	} while (0)

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

static char *fresh_pages(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* What is not present cannot be fetched behind the program's back: it is asked to call. */
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
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *never = fresh_pages(4096), back[8];
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct rdmachan_cqe cqe;
	struct queue other;
	int64_t begun;

	if (fd < 0)
		SKIP("there is no userfaultfd");
	range.range.start = (uintptr_t)never;
	range.range.len = 4096;
	ASSERT_EQ(ioctl(fd, UFFDIO_API, &api), 0);
	ASSERT_EQ(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	ASSERT_EQ(queue_open(self->ctx, &other, 8, 8), 0);
	queue_recv(&other, self->b, never, 4096, 1);
	ASSERT_EQ(queue_submit(&other), 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_TRUE(wait_readable(other.fd, 10000));
	EXPECT_EQ(queue_flags(&other), RDMACHAN_RING_F_ENTER);
	queue_recv(&self->q, self->a, back, 8, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->b, "y", 1), 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	begun = now_ms();
	queue_close(&other);
	EXPECT_LT(now_ms() - begun, 5000);
	EXPECT_EQ(read(self->b, back, 8), 1);
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
	int listener = do_listen(self->ctx, SERVICE, NULL), plain = open("/dev/null", O_RDWR);
	struct rdmachan_connect connect = { .size = 8 };
	const struct bad_entry bad[] = {
		{ { .opcode = 7 }, EOPNOTSUPP },
		{ { .opcode = 255 }, EOPNOTSUPP },
		{ { .flags = 8 }, EOPNOTSUPP },
		{ { .flags = 128 }, EOPNOTSUPP },
		{ { .__reserved = 1 }, EINVAL },
		{ { .__reserved2 = { 1, 0 } }, EINVAL },
		{ { .__reserved2 = { 0, 1 } }, EINVAL },
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
		{ { .opcode = OP(SHUTDOWN), .fd = self->a, .op_flags = 4 }, EINVAL },
		{ { .opcode = OP(SEND), .fd = self->a, .msg_flags = 0x10000 }, EINVAL },
		{ { .opcode = OP(SEND), .fd = self->a, .length = (1U << 30) + 1 }, EMSGSIZE },
		{ { .opcode = OP(SEND), .fd = self->a, .op_flags = 1 }, EINVAL },
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
	struct rdmachan_enter enter = { .size = sizeof(enter), .flags = 1 };

	EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EOPNOTSUPP);
	enter.flags = 0;
	enter.__reserved = 1;
	EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EINVAL);
	EXPECT_ERR(queue_enter(&self->q, 0, 65, 1), EINVAL);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_ENTER, &enter), ENOTTY);
	EXPECT_ERR(do_shutdown(self->q.fd, 1), ENOTTY);
}

TEST_F(queue, timeout_and_signal)
{
	uint32_t submitted = 77;
	int64_t begun = now_ms();

	EXPECT_ERR(queue_enter(&self->q, 0, 1, 50), ETIMEDOUT);
	EXPECT_GE(now_ms() - begun, 50);
	queue_add(&self->q, OP(NOP), 0, 1);
	errno = 0;
	EXPECT_EQ(queue_enter_got(&self->q, 1, 2, 20, &submitted), -1);
	EXPECT_EQ(errno, ETIMEDOUT);
	EXPECT_EQ(submitted, 1);
	/* What was submitted must not be submitted again. */
	on_alarm(50, true);
	queue_add(&self->q, OP(NOP), 0, 2);
	errno = 0;
	EXPECT_EQ(queue_enter_got(&self->q, 1, 3, 0, &submitted), -1);
	EXPECT_EQ(errno, EINTR);
	EXPECT_EQ(submitted, 1);
	on_alarm(50, false);
	EXPECT_ERR(queue_enter(&self->q, 0, 3, 0), EINTR);
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

	/* What is present can be sent although nobody is in a call. */
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

/* Frames that all links have sent. */
static uint64_t frames_sent(int ctx)
{
	static struct rdmachan_object objects[64];
	struct rdmachan_list list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects, .objects_max = 64,
		.object_size = sizeof(*objects),
	};
	uint64_t sum = 0;
	uint32_t i;

	ASSERT_EQ(ioctl(ctx, RDMACHAN_LIST, &list), 0);
	for (i = 0; i < list.out_count; i++)
		if (objects[i].kind == RDMACHAN_KIND_LINK)
			sum += objects[i].tx_frames;
	ASSERT_GT(sum, 0);
	return sum;
}

/*
 * What is submitted together shares frames, although the link is idle: as it always seems
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

/* They go out although the last one does not. */
TEST_F(queue, sends_before_one_that_fails)
{
	char back[64];

	queue_send(&self->q, self->a, "x", 1, 1);
	queue_send(&self->q, -1, "x", 1, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_TRUE(wait_readable(self->b, 1000));
	EXPECT_EQ(read(self->b, back, 64), 1);
	queue_send(&self->q, self->a, "y", 1, 3);
	queue_send(&self->q, self->a, fresh_pages(4096), 2U << 20, 4);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_TRUE(wait_readable(self->b, 1000));
	EXPECT_EQ(read(self->b, back, 64), 1);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_CQE(&self->q, 2, -EBADF);
	EXPECT_CQE(&self->q, 3, 1);
	EXPECT_CQE(&self->q, 4, -EMSGSIZE);
}

static void fill_in(struct rdmachan_connect *connect, uint32_t service,
		    struct rdmachan_error *error)
{
	struct opts o = { .error = error };

	fill_connect(connect, service, &o);
}

static struct rdmachan_sqe *queue_connect(struct queue *q, struct rdmachan_connect *connect,
					  uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, OP(CONNECT), -1, user_data);

	sqe->addr = (uintptr_t)connect;
	return sqe;
}

TEST_F(queue, connect_and_accept)
{
	int listener = do_listen(self->ctx, SERVICE, NULL), ends[2] = { -1, -1 }, i;
	struct rdmachan_connect connect;
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
	int listener = do_listen(self->ctx, SERVICE, NULL), chan;
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
	int listener = do_listen(self->ctx, SERVICE, NULL), chan;
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
	struct rdmachan_connect connect;
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
	int listener = do_listen(self->ctx, SERVICE, NULL), chan, peer;
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

/* What is known to be wrong needs no call to be told. */
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

TEST_F(queue, cancel)
{
	struct queue *q = &self->q;
	char back[64];
	int i;

	for (i = 0; i < 4; i++)
		queue_recv(q, self->b, back, 64, i < 3 ? 1 : 2);
	ASSERT_EQ(queue_submit(q), 4);
	queue_cancel(q, 1, 0, 10);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 1, -ECANCELED);
	EXPECT_CQE(q, 10, 1);
	queue_cancel(q, 1, RDMACHAN_CANCEL_F_ALL, 11);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 1, -ECANCELED);
	EXPECT_CQE(q, 1, -ECANCELED);
	EXPECT_CQE(q, 11, 2);
	/* The one that is left is first now. */
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 2, 1);
	queue_cancel(q, 1, RDMACHAN_CANCEL_F_ALL, 12);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 12, -ENOENT);
}

TEST_F(queue, cancel_in_chains)
{
	struct queue *q = &self->q;
	char back[64];

	/* A later one: those before it go on. */
	queue_recv(q, self->b, back, 64, 1)->flags = LINK;
	queue_add(q, OP(NOP), 0, 2)->flags = LINK;
	queue_add(q, OP(NOP), 0, 3);
	ASSERT_EQ(queue_submit(q), 3);
	queue_cancel(q, 2, RDMACHAN_CANCEL_F_ALL, 4);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 2, -ECANCELED);
	EXPECT_CQE(q, 3, -ECANCELED);
	EXPECT_CQE(q, 4, 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 1, 1);
	/* The first, behind a DRAIN. */
	queue_recv(q, self->b, back, 64, 5);
	queue_add(q, OP(NOP), 0, 6)->flags = DRAIN | LINK;
	queue_add(q, OP(NOP), 0, 6);
	ASSERT_EQ(queue_submit(q), 3);
	queue_cancel(q, 6, RDMACHAN_CANCEL_F_ALL, 7);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 6, -ECANCELED);
	EXPECT_CQE(q, 6, -ECANCELED);
	EXPECT_CQE(q, 7, 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 5, 1);
}

/* An address on our network that never answers. */
static struct rdmachan_addr silent_address(void)
{
	struct rdmachan_addr addr = own_address();
	char command[160];

	addr.addr[3] ^= 0x55;
	snprintf(command, sizeof(command),
		 "ip neigh replace %u.%u.%u.%u lladdr 02:00:00:00:00:99 dev %s",
		 addr.addr[0], addr.addr[1], addr.addr[2], addr.addr[3], getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
	return addr;
}

TEST_F(queue, cancel_connect_and_accept)
{
	int listener = do_listen(self->ctx, SERVICE, NULL);
	struct rdmachan_connect connect;

	if (!getenv("LAB_DEV"))
		SKIP("LAB_DEV does not tell the interface");
	fill_in(&connect, SERVICE, NULL);
	connect.addr = silent_address();
	queue_connect(&self->q, &connect, 1);
	queue_add(&self->q, OP(ACCEPT), listener, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	queue_cancel(&self->q, 2, 0, 3);
	queue_cancel(&self->q, 1, 0, 4);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE(&self->q, 2, -ECANCELED);
	EXPECT_CQE(&self->q, 3, 1);
	EXPECT_CQE(&self->q, 1, -ECANCELED);
	EXPECT_CQE(&self->q, 4, 1);
}

static void *writer(void *arg)
{
	int fd = *(int *)arg;
	uint32_t i;

	for (i = 0; i < 2000; i++)
		if (write(fd, &i, 4) != 4)
			return NULL;
	return arg;
}

/* Messages come while receives are cancelled: none is lost, none comes twice. */
TEST_F(queue, cancel_races)
{
	uint32_t expect = 0, round = 0, back[8], i, cancelled;
	struct rdmachan_cqe cqe;
	pthread_t thread;
	void *result;

	ASSERT_EQ(pthread_create(&thread, NULL, writer, &self->a), 0);
	while (expect < 2000) {
		for (i = 0; i < 8; i++)
			queue_recv(&self->q, self->b, &back[i], 4, i);
		ASSERT_EQ(queue_submit(&self->q), 8);
		if (round++ % 2)
			sleep_ms(1);
		for (i = 0; i < 8; i++)
			queue_cancel(&self->q, i, 0, 8);
		ASSERT_EQ(queue_enter(&self->q, 8, 16, 10000), 8);
		for (i = 0, cancelled = 0; i < 16; i++) {
			ASSERT_TRUE(queue_next(&self->q, &cqe));
			if (cqe.user_data == 8)
				continue;
			if (cqe.res == -ECANCELED) {
				cancelled++;
				continue;
			}
			EXPECT_EQ(cqe.res, 4);
			EXPECT_EQ(back[cqe.user_data], expect);
			expect++;
		}
		ASSERT_LE(cancelled, 8);
	}
	pthread_join(thread, &result);
	EXPECT_TRUE(result);
}

TEST_F(queue, overflow)
{
	uint32_t i, submitted;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 32, 4), 0);
	for (i = 0; i < 20; i++)
		queue_add(&q, OP(NOP), 0, i);
	/* Four in the ring, four in the kernel; and no more are taken. */
	EXPECT_EQ(queue_enter(&q, 20, 4, 1000), 4);
	EXPECT_EQ(queue_enter(&q, 20, 4, 1000), 4);
	EXPECT_EQ(queue_enter(&q, 20, 4, 1000), 0);
	EXPECT_EQ(queue_flags(&q), RDMACHAN_RING_F_OVERFLOW);
	EXPECT_EQ(*ring_word(q.cq_map, q.cq.overflow), 4);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), POLLIN);
	for (i = 0, submitted = 8; i < 20; i++) {
		EXPECT_CQE(&q, i, 0);
		if (i % 3)
			continue;
		submitted += queue_enter(&q, 20, 0, 0);
	}
	EXPECT_EQ(submitted, 20);
	EXPECT_EQ(queue_flags(&q), 0);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), 0);
	queue_close(&q);
}

/* When it is read empty, poll() still tells of those that wait. */
TEST_F(queue, overflow_and_poll)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 2), 0);
	for (i = 0; i < 4; i++) {
		queue_add(&q, OP(NOP), 0, i);
		ASSERT_EQ(queue_submit(&q), 1);
	}
	ASSERT_TRUE(queue_next(&q, &cqe));
	ASSERT_TRUE(queue_next(&q, &cqe));
	EXPECT_EQ(queue_next(&q, &cqe), false);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), POLLIN);
	EXPECT_CQE(&q, 2, 0);
	EXPECT_CQE(&q, 3, 0);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), 0);
	queue_close(&q);
}

TEST_F(queue, indices_that_cannot_be)
{
	struct queue *q = &self->q;
	uint32_t *producer = ring_word(q->sq_map, q->sq.producer);
	uint32_t *consumer = ring_word(q->cq_map, q->cq.consumer);
	uint32_t jumps[] = { 65, 0x80000000, 0xffffff00, 0x12345678 }, i;
	struct rdmachan_enter enter = { .size = sizeof(enter), .to_submit = 100 };

	for (i = 0; i < 4; i++) {
		*producer = jumps[i];
		EXPECT_ERR(ioctl(q->fd, RDMACHAN_ENTER, &enter), EINVAL);
	}
	for (i = 0; i < 4; i++) {
		*consumer = jumps[i];
		queue_add(q, OP(NOP), 0, i);
		EXPECT_EQ(queue_submit(q), 1);
		EXPECT_EQ(queue_enter(q, 0, 64, 1000), 0);
		EXPECT_EQ(poll_mask(q->fd, POLLIN, 0), POLLIN);
	}
	/* Put right, nothing was lost. */
	*consumer = 0;
	ASSERT_EQ(queue_enter(q, 0, 4, 1000), 0);
	for (i = 0; i < 4; i++)
		EXPECT_CQE(q, i, 0);
	/* The kernel's own are not read back. */
	*ring_word(q->sq_map, q->sq.consumer) = 0xdeadbeef;
	*ring_word(q->cq_map, q->cq.producer) = 0xdeadbeef;
	*ring_word(q->cq_map, q->cq.flags) = 0xffffffff;
	queue_add(q, OP(NOP), 0, 5);
	EXPECT_EQ(queue_submit(q), 1);
	EXPECT_EQ(queue_ready(q), 1);
	EXPECT_EQ(*ring_word(q->sq_map, q->sq.consumer), q->tail);
	EXPECT_CQE(q, 5, 0);
}

struct scribbler {
	struct queue *q;
	int fds[4];
	bool stop;
};

/* Another thread writes entries and indices while the kernel looks at them. */
static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	struct rdmachan_sqe *sqes = (struct rdmachan_sqe *)(s->q->sq_map + s->q->sq.entries);
	uint64_t seed = 42;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		struct rdmachan_sqe *sqe = &sqes[next_random(&seed) % s->q->sq.count];
		uint64_t r = next_random(&seed);

		sqe->opcode = r % 8;
		sqe->flags = (r >> 8) % 9;
		sqe->fd = (r >> 16) % 4 ? s->fds[(r >> 18) % 4] : (int)(r >> 20) % 64;
		sqe->addr = (r >> 26) % 4 ? (uintptr_t)sqes : next_random(&seed);
		sqe->length = (r >> 28) % 2 ? r >> 58 : next_random(&seed);
		sqe->op_flags = (r >> 30) % 4;
		sqe->msg_flags = (r >> 33) % 2;
		sqe->target = (r >> 34) % 8;
		sqe->user_data = (r >> 40) % 8;
		if (!((r >> 44) % 64))
			*ring_word(s->q->cq_map, s->q->cq.consumer) = next_random(&seed);
		if (!((r >> 50) % 64))
			*ring_word(s->q->sq_map, s->q->sq.producer) = next_random(&seed);
	}
	return NULL;
}

TEST_F(queue, hostile_writer)
{
	int listener = do_listen(self->ctx, SERVICE, NULL);
	struct scribbler s = { .q = &self->q, .fds = { self->a, self->b, listener, self->q.fd } };
	int64_t until = now_ms() + 3000;
	uint64_t seed = 7;
	pthread_t thread;
	int fds[2];

	ASSERT_EQ(pthread_create(&thread, NULL, scribble, &s), 0);
	while (now_ms() < until) {
		*ring_word(self->q.sq_map, self->q.sq.producer) =
			*ring_word(self->q.sq_map, self->q.sq.consumer) + next_random(&seed) % 65;
		queue_enter(&self->q, 64, next_random(&seed) % 3, 1);
		*ring_word(self->q.cq_map, self->q.cq.consumer) =
			*ring_word(self->q.cq_map, self->q.cq.producer);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	/* Others have not noticed. */
	close(listener);
	pair_up(self->ctx, fds, NULL);
	EXPECT_EQ(write(fds[0], "x", 1), 1);
	EXPECT_EQ(read(fds[1], &seed, 8), 1);
}

TEST_F_TIMEOUT(queue, thousand_channels, 240)
{
	const struct opts o = { .tuning = { RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MIN, 0, 0 } };
	const struct rlimit limit = { 4096, 4096 };
	static int ends[1000][2], back[1000];
	struct rdmachan_cqe cqe;
	struct queue q;
	int i, listener;

	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ASSERT_EQ(queue_open(self->ctx, &q, 1024, 1024), 0);
	listener = do_listen(self->ctx, SERVICE, &o);
	ASSERT_GE(listener, 0);
	for (i = 0; i < 1000; i++) {
		ends[i][0] = do_connect(self->ctx, SERVICE, &o);
		ends[i][1] = do_accept(listener, NULL);
		ASSERT_GE(ends[i][1], 0);
		queue_recv(&q, ends[i][1], &back[i], 4, i);
	}
	ASSERT_EQ(queue_submit(&q), 1000);
	for (i = 999; i >= 0; i--)
		ASSERT_EQ(write(ends[i][0], &i, 4), 4);
	for (i = 0; i < 1000; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		ASSERT_LT(cqe.user_data, 1000);
		EXPECT_EQ(back[cqe.user_data], (int)cqe.user_data);
	}
	/* And all of them send. */
	for (i = 0; i < 1000; i++)
		queue_send(&q, ends[i][1], &i, 4, i);
	ASSERT_EQ(queue_enter(&q, 1000, 1000, 30000), 1000);
	for (i = 0; i < 1000; i++)
		EXPECT_EQ(read(ends[i][0], &back[i], 4), 4);
	queue_close(&q);
}

/* The queue is not the child's, nor are its mappings there. */
TEST_F(queue, fork)
{
	unsigned char resident;
	int status;
	pid_t child;

	queue_add(&self->q, OP(NOP), 0, 1);
	child = fork();
	if (!child) {
		struct rdmachan_enter enter = { .size = sizeof(enter), .to_submit = 1 };

		EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EPERM);
		EXPECT_EQ(ring_map(self->q.fd, &self->q.sq) == MAP_FAILED, true);
		EXPECT_EQ(errno, EPERM);
		EXPECT_ERR(mincore(self->q.sq_map, 4096, &resident), ENOMEM);
		EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), 0);
		_exit(harness_failures);
	}
	status = child_status(child);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 0);
}

/* Operations are under way when the program becomes another one. */
TEST_F(queue, exec)
{
	char back[64];
	int status;
	pid_t child = fork();

	if (!child) {
		struct queue q;

		if (queue_open(self->ctx, &q, 8, 8))
			_exit(1);
		fcntl(q.fd, F_SETFD, 0);
		queue_recv(&q, self->b, back, 64, 1);
		queue_submit(&q);
		execl("/bin/sleep", "sleep", "0.3", NULL);
		execl("/bin/busybox", "sleep", "0.3", NULL);
		_exit(2);
	}
	sleep_ms(100);
	EXPECT_EQ(write(self->a, "x", 1), 1);
	status = child_status(child);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(read(self->b, back, 64), 1);
}

TEST_F(queue, close_in_flight)
{
	char back[64];
	struct queue q;
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
		queue_recv(&q, self->b, back, 64, 1);
		queue_recv(&q, self->b, back, 64, 2);
		queue_recv(&q, self->a, back, 64, 3)->flags = LINK;
		queue_add(&q, OP(NOP), 0, 4);
		queue_add(&q, OP(NOP), 0, 5)->flags = DRAIN;
		ASSERT_EQ(queue_submit(&q), 5);
		if (i % 2)
			ASSERT_EQ(write(self->a, "x", 1), 1);
		queue_close(&q);
		/* Either the first has it, or nobody. */
		if (i % 2)
			do_recv(self->b, back, 64, NULL, TIMEOUT(20));
	}
	ASSERT_EQ(write(self->a, "there", 5), 5);
	EXPECT_EQ(read(self->b, back, 64), 5);
}

/* An operation keeps its channel open; when it is over the peer finds the end. */
TEST_F(queue, channel_closed_in_flight)
{
	char back[64];

	queue_recv(&self->q, self->b, back, 64, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	close(self->b);
	self->b = -1;
	EXPECT_EQ(poll_mask(self->a, POLLRDHUP, 50), 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_TRUE(poll_mask(self->a, POLLRDHUP, 10000) & POLLRDHUP);
}

TEST_F(queue, peer_closes)
{
	struct rdmachan_cqe cqe;
	char back[64];

	queue_recv(&self->q, self->b, back, 64, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	close(self->a);
	self->a = -1;
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_EOF);
	queue_send(&self->q, self->b, "x", 1, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 2, -EPIPE);
}

/* A program that is killed with operations under way, once while it waits in a call. */
TEST_F(queue, killed)
{
	int fds[2], i, ready[2];
	struct rdmachan_cqe cqe;
	char back[64];
	pid_t child;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(pipe(ready), 0);
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			struct queue q;

			close(fds[0]);
			if (queue_open(self->ctx, &q, 8, 8))
				_exit(1);
			queue_recv(&q, fds[1], back, 64, 1);
			queue_submit(&q);
			close(fds[1]);
			if (write(ready[1], "x", 1) == 1 && i)
				queue_enter(&q, 0, 1, 0);
			for (;;)
				pause();
		}
		close(fds[1]);
		queue_recv(&self->q, fds[0], back, 64, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		ASSERT_EQ(read(ready[0], back, 1), 1);
		kill(child, SIGKILL);
		child_status(child);
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, -ECONNRESET);
		close(fds[0]);
	}
}

static void *echo(void *arg)
{
	struct fixture_queue *self = arg;
	char buffer[64];
	ssize_t len;
	int i;

	for (i = 0; i < 2000; i++) {
		len = read(self->a, buffer, sizeof(buffer));
		if (len < 0 || write(self->a, buffer, len) != len)
			return NULL;
	}
	return arg;
}

static void *reap(void *arg)
{
	struct queue *q = arg;
	int i;

	for (i = 0; i < 500; i++)
		queue_enter(q, 0, 1, 1);
	return arg;
}

/* Another thread is in and out of calls: ready operations are not forgotten between. */
TEST_F(queue, two_threads)
{
	pthread_t peer, other;
	struct rdmachan_cqe cqe;
	char back[64];
	void *result;
	int i;

	ASSERT_EQ(pthread_create(&peer, NULL, echo, self), 0);
	ASSERT_EQ(pthread_create(&other, NULL, reap, &self->q), 0);
	for (i = 0; i < 2000; i++) {
		queue_recv(&self->q, self->b, back, 64, 1);
		queue_send(&self->q, self->b, &i, 4, 2)->flags = SKIP_SUCCESS;
		ASSERT_EQ(queue_submit(&self->q), 2);
		ASSERT_TRUE(queue_watch(&self->q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(memcmp(back, &i, 4), 0);
	}
	pthread_join(peer, &result);
	EXPECT_TRUE(result);
	pthread_join(other, NULL);
}

static int set(const char *name, const char *value)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, O_WRONLY);
	ret = write(fd, value, strlen(value)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

TEST_F(queue, limits)
{
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rdmachan_queue_create create = {
		.size = sizeof(create), .sq_entries = 1, .cq_entries = 1,
		.error_ptr = (uintptr_t)&error,
	};
	struct rdmachan_info info;
	struct queue q;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_QUEUE);
	ASSERT_EQ(set("all_queues", "1"), 0);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_QUEUE_CREATE, &create), ENFILE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TOTAL_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_QUEUES);
	ASSERT_EQ(set("all_queues", "4096"), 0);
	EXPECT_EQ(queue_open(self->ctx, &q, 1, 1), 0);
	queue_close(&q);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
}

TEST_HARNESS_MAIN
