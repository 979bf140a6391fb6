// SPDX-License-Identifier: GPL-2.0
/*
 * region_test.c - regions: memory that can be one, counts, and messages from and to them
 *
 * How they end in the middle of messages is in region_end_test.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "common.h"
#include "disk.h"
#include "harness.h"
#include "region_fixture.h"
#include "scattered.h"

#define READ_ONLY RDMACHAN_REGION_F_READ_ONLY
#define HUGE (2UL << 20)

TEST_F(region, register_checks)
{
	struct rdmachan_region_register_args reg = { .size = sizeof(reg) };
	char *here = self->from, *hole = pages(3 * PAGE), *fixed;
	static const uint64_t bad[][2] = {
		{ 0, 0 }, { 4096, 0 }, { -4096UL, 4096 }, { -1UL, 1 }, { 4096, -4096UL },
		{ 4096, -1UL }, { -1UL, -1UL }, { 1, -1UL },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_ERR(region_register(self->ctx, (void *)bad[i][0], bad[i][1], 0, NULL),
			   EINVAL);
	EXPECT_ERR(region_register(self->ctx, here, 1, 2, NULL), EOPNOTSUPP);
	EXPECT_ERR(region_register(self->ctx, NULL, 1, 0, NULL), EFAULT);
	EXPECT_ERR(region_register(self->ctx, (void *)(-1UL << 47), 4096, 0, NULL), EFAULT);
	EXPECT_ERR(region_register(self->ctx, (void *)(1UL << 46), 1UL << 40, 0, NULL), EFAULT);
	munmap(hole + PAGE, PAGE);
	EXPECT_ERR(region_register(self->ctx, hole, 3 * PAGE, 0, NULL), EFAULT);
	EXPECT_ERR(region_register(self->ctx, hole + PAGE - 1, 2, 0, NULL), EFAULT);
	reg.addr = (uintptr_t)here;
	reg.length = 1;
	reg.__reserved = 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_REGION_REGISTER, &reg), EINVAL);
	/* What it cannot be told of, it has not got. */
	fixed = pages(PAGE);
	memcpy(fixed, &(struct rdmachan_region_register_args){
		.size = sizeof(reg), .addr = (uintptr_t)here, .length = 1 }, sizeof(reg));
	mprotect(fixed, PAGE, PROT_READ);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_REGION_REGISTER, fixed), EFAULT);
	EXPECT_EQ(pinned_bytes(), self->pinned);
	EXPECT_EQ(regions_in_use(self->ctx), self->count);
}

TEST_F(region, numbers)
{
	int64_t one, two;
	int i;

	for (i = 0; i < 100; i++) {
		one = region_register(self->ctx, self->from + i, 1 + i, 0, NULL);
		two = region_register(self->ctx, self->from, PAGE + 1, READ_ONLY, NULL);
		ASSERT_GT(one, 0);
		ASSERT_GT(two, 0);
		EXPECT_TRUE(one != two);
		EXPECT_EQ(region_unregister(self->ctx, one), 0);
		EXPECT_ERR(region_unregister(self->ctx, one), ENOENT);
		EXPECT_EQ(region_unregister(self->ctx, two), 0);
	}
	EXPECT_ERR(region_unregister(self->ctx, 0), ENOENT);
	EXPECT_ERR(region_unregister(self->ctx, -1), ENOENT);
	EXPECT_EQ(pinned_bytes(), self->pinned);
}

/* A message from one region to the other; @first: the order. */
static void one_message(struct fixture_region *self, size_t len, size_t from, size_t to,
			bool recv_first)
{
	struct rdmachan_cqe cqe;
	int i;

	fill_random(self->from + from, len, len + from);
	memset(self->to, 0x55, SIZE);
	if (recv_first) {
		region_recv(&self->q, self->b, self->to_id, to, len, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
	}
	region_send(&self->q, self->a, self->from_id, from, len, 1)->msg_flags = 0xabc;
	ASSERT_EQ(queue_submit(&self->q), 1);
	if (!recv_first) {
		region_recv(&self->q, self->b, self->to_id, to, len, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
	}
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, len);
		if (cqe.user_data == 2) {
			EXPECT_EQ(cqe.length, len);
			EXPECT_EQ(cqe.msg_flags, 0xabc);
		}
	}
	EXPECT_TRUE(is_random(self->to + to, len, len + from));
	if (to)
		EXPECT_EQ(self->to[to - 1], 0x55);
	EXPECT_EQ(self->to[to + len], 0x55);
}

static const size_t sizes[] = {
	0, 1, 100, 2049, 8192, 8193, 32767, 32768, 65536, 100001, MIB - 1, MIB, MIB + 1,
	3 * MIB + 4097,
};

#define SIZES (sizeof(sizes) / sizeof(*sizes))

TEST_F(region, receiver_comes_first)
{
	struct rdmachan_object a, b;
	size_t i, large = 0;

	for (i = 0; i < SIZES; i++) {
		one_message(self, sizes[i], i * 13, (SIZES - i) * 4095, true);
		large += sizes[i] >= 32768;
	}
	ASSERT_EQ(get_object(self->a, &a), 0);
	ASSERT_EQ(get_object(self->b, &b), 0);
	EXPECT_EQ(a.tx_messages, SIZES);
	EXPECT_EQ(a.tx_regions, SIZES);
	EXPECT_EQ(a.tx_placed, large);
	EXPECT_EQ(b.rx_regions, SIZES);
	EXPECT_EQ(b.rx_placed, large);
	EXPECT_EQ(b.rx_messages, SIZES);
	EXPECT_EQ(a.tx_bytes, b.rx_bytes);
}

TEST_F(region, sender_comes_first)
{
	size_t i;

	for (i = 0; i < SIZES; i++)
		one_message(self, sizes[i], i * 4097, i * 8, false);
}

/* Pages that are no neighbours, so that each is a piece of its own. */
TEST_F(region, scattered)
{
	char *one = pages(SIZE), *two = pages(SIZE);
	int64_t from, to;
	size_t i;

	for (i = 0; i < SIZE; i += PAGE) {
		one[i] = 1;
		two[(i * 7) % (SIZE & ~(PAGE - 1))] = 1;
	}
	from = region_register(self->ctx, one, SIZE, 0, NULL);
	to = region_register(self->ctx, two, SIZE, 0, NULL);
	ASSERT_TRUE(from > 0 && to > 0);
	fill_random(one, SIZE, 5);
	region_recv(&self->q, self->b, to, 5, SIZE - 5, 2);
	region_send(&self->q, self->a, from, 3, SIZE - 9, 1);
	ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	EXPECT_EQ(memcmp(two + 5, one + 3, SIZE - 9), 0);
	EXPECT_EQ(two[0], 1);
}

/* Numbers of no region at the other end. */
TEST_F(region, with_other_memory)
{
	char *plain = malloc(SIZE);
	size_t len;

	for (len = 10; len < SIZE; len *= 7) {
		fill_random(plain, len, len);
		region_recv(&self->q, self->b, self->to_id, 0, SIZE, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		ASSERT_EQ(write(self->a, plain, len), len);
		EXPECT_CQE(&self->q, 1, len);
		EXPECT_TRUE(is_random(self->to, len, len));
		memset(plain, 0, len);
		region_send(&self->q, self->b, self->to_id, 0, len, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
		ASSERT_EQ(read(self->a, plain, SIZE), len);
		EXPECT_CQE(&self->q, 2, len);
		EXPECT_TRUE(is_random(plain, len, len));
	}
	free(plain);
}

/* Larger than the send buffer, to a program that polls: in segments, as there is room. */
TEST_F(region, larger_than_the_send_buffer)
{
	char *plain = malloc(SIZE);
	int i;

	for (i = 0; i < 3; i++) {
		fill_random(self->from, SIZE, i);
		region_send(&self->q, self->a, self->from_id, 0, SIZE, i);
		ASSERT_EQ(queue_submit(&self->q), 1);
		ASSERT_TRUE(wait_readable(self->b, 10000));
		ASSERT_EQ(do_recv(self->b, plain, SIZE, NULL, DONTWAIT), 0);
		EXPECT_CQE(&self->q, i, SIZE);
		EXPECT_TRUE(is_random(plain, SIZE, i));
	}
	free(plain);
}

TEST_F(region, many_at_once)
{
	struct rdmachan_cqe cqe;
	int i, next[2] = { 0, 0 };

	fill_random(self->from, SIZE, 3);
	for (i = 0; i < 16; i++) {
		region_recv(&self->q, self->b, self->to_id, i * 200000, 200000, 100 + i);
		region_send(&self->q, self->a, self->from_id, i * 200000, 50000 + i * 10000, i);
	}
	ASSERT_EQ(queue_enter(&self->q, 32, 32, 20000), 32);
	for (i = 0; i < 32; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.user_data % 100, next[cqe.user_data / 100]++);
		EXPECT_EQ(cqe.res, 50000 + cqe.user_data % 100 * 10000);
	}
	for (i = 0; i < 16; i++)
		EXPECT_EQ(memcmp(self->to + i * 200000, self->from + i * 200000,
				 50000 + i * 10000), 0);
}

/* Nobody is in a call, and the memory need not be there either. */
TEST_F(region, completes_without_a_call)
{
	struct rdmachan_cqe cqe;
	size_t i;

	for (i = 0; i < 20; i++) {
		region_recv(&self->q, self->b, self->to_id, 0, SIZE, i);
		ASSERT_EQ(queue_submit(&self->q), 1);
		fill_random(self->from, 1000 << i % 10, i);
		ASSERT_EQ(write(self->a, self->from, 1000 << i % 10), 1000 << i % 10);
		ASSERT_TRUE(queue_watch(&self->q, &cqe));
		EXPECT_EQ(cqe.res, 1000 << i % 10);
		EXPECT_TRUE(is_random(self->to, 1000 << i % 10, i));
	}
}

TEST_F(region, room_too_small)
{
	struct rdmachan_cqe cqe;
	size_t len;
	int i;

	for (len = 10; len < SIZE; len *= 100) {
		region_recv(&self->q, self->b, self->to_id, 0, len - 1, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		region_send(&self->q, self->a, self->from_id, 0, len, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
		for (i = 0; i < 2; i++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			EXPECT_EQ(cqe.res, cqe.user_data == 1 ? -EMSGSIZE : (int64_t)len);
			EXPECT_EQ(cqe.length, cqe.user_data == 1 ? len : 0);
		}
		region_recv(&self->q, self->b, self->to_id, 0, len, 3);
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, 3, len);
	}
}

TEST_F(region, bounds)
{
	static const uint64_t bad[][2] = {
		{ SIZE, 1 }, { 0, SIZE + 1 }, { 1, SIZE }, { SIZE + 1, 0 }, { -1UL, 1 },
		{ -1UL, 2 }, { 1, 1 << 30 }, { -4096UL, 8192 }, { 1UL << 32, 1 },
		{ 1UL << 63, 1 << 29 },
	};
	int64_t fixed = region_register(self->ctx, self->from, SIZE, READ_ONLY, NULL);
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		region_send(&self->q, self->a, self->from_id, bad[i][0], bad[i][1], 1);
		region_recv(&self->q, self->b, self->to_id, bad[i][0], bad[i][1], 2);
		ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
		EXPECT_CQE(&self->q, 1, -ERANGE);
		EXPECT_CQE(&self->q, 2, -ERANGE);
	}
	region_send(&self->q, self->a, self->from_id, 0, -1UL, 1);
	region_send(&self->q, self->a, 0x7fffffff, 0, 1, 2);
	region_recv(&self->q, self->b, 0, 0, 1, 3);
	region_recv(&self->q, self->b, fixed, 0, 1, 4);
	ASSERT_EQ(queue_enter(&self->q, 4, 4, 10000), 4);
	EXPECT_CQE(&self->q, 1, -EMSGSIZE);
	EXPECT_CQE(&self->q, 2, -ENOENT);
	EXPECT_CQE(&self->q, 3, -ENOENT);
	EXPECT_CQE(&self->q, 4, -EACCES);
	/* Up to the last byte is fine, and so is nothing behind it. */
	region_send(&self->q, self->a, fixed, SIZE - 1, 1, 1);
	region_send(&self->q, self->a, fixed, SIZE, 0, 2);
	ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_CQE(&self->q, 2, 0);
}

/* A region is the pages, not the address. */
TEST_F(region, pages_stay)
{
	int fd = memfd_create("region", MFD_CLOEXEC);
	char *one, *two;
	int64_t region;

	ASSERT_EQ(ftruncate(fd, 4 * PAGE), 0);
	one = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	region = region_register(self->ctx, one, 4 * PAGE, 0, NULL);
	ASSERT_GT(region, 0);
	/* Other memory at the same address. */
	ASSERT_TRUE(mmap(one, 4 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == one);
	region_recv(&self->q, self->b, region, 10, 4 * PAGE - 10, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->a, "pages", 5), 5);
	EXPECT_CQE(&self->q, 1, 5);
	EXPECT_EQ(memcmp(two + 10, "pages", 5), 0);
	EXPECT_EQ(one[10], 0);
	munmap(one, 4 * PAGE);
	region_send(&self->q, self->b, region, 10, 5, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 2, 5);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
}

/* After fork() the region is the parent's memory, in any order of writes. */
TEST_F(region, fork)
{
	char back[8];
	pid_t child;

	memcpy(self->from, "parent", 6);
	child = fork();
	if (!child) {
		/* The child's memory is another, and the region is not its own. */
		memcpy(self->from, "child!", 6);
		if (region_unregister(self->ctx, self->from_id) == 0 || errno != EPERM)
			_exit(1);
		if (pinned_bytes() != 0)
			_exit(2);
		if (region_register(self->ctx, self->from, 6, 0, NULL) < 0)
			_exit(3);
		_exit(0);
	}
	memcpy(self->from, "PARENT", 6);
	EXPECT_EQ(child_status(child), 0);
	region_send(&self->q, self->a, self->from_id, 0, 6, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 6);
	ASSERT_EQ(read(self->b, back, 8), 6);
	EXPECT_EQ(memcmp(back, "PARENT", 6), 0);
	region_recv(&self->q, self->a, self->from_id, 0, 6, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->b, "answer", 6), 6);
	EXPECT_CQE(&self->q, 2, 6);
	EXPECT_EQ(memcmp(self->from, "answer", 6), 0);
}

/* A queue of the child cannot name the parent's region, though the context is one. */
TEST_F(region, queue_of_a_child)
{
	struct queue q;
	struct rdmachan_cqe cqe;
	pid_t child = fork();

	if (!child) {
		if (queue_open(self->ctx, &q, 8, 8))
			_exit(1);
		region_send(&q, self->a, self->from_id, 0, 6, 1);
		region_recv(&q, self->a, self->to_id, 0, 6, 1);
		if (queue_enter(&q, 2, 2, 10000) != 2)
			_exit(2);
		while (queue_next(&q, &cqe))
			if (cqe.res != -EPERM)
				_exit(3);
		_exit(0);
	}
	EXPECT_EQ(child_status(child), 0);
}

/* After execve() it is nobody's, and stays until the context is closed. */
TEST_F(region, exec)
{
	int tube[2], ctx;
	pid_t child;
	char c;

	ASSERT_EQ(pipe(tube), 0);
	child = fork();
	if (!child) {
		ctx = open(DEVICE, O_RDWR);
		if (region_register(ctx, self->from, MIB, 0, NULL) < 0)
			_exit(1);
		dup2(tube[1], 1);
		execl("/bin/sh", "sh", "-c", "echo x; sleep 0.3", NULL);
		_exit(2);
	}
	close(tube[1]);
	ASSERT_EQ(read(tube[0], &c, 1), 1);
	EXPECT_EQ(regions_in_use(self->ctx), self->count + 1);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(regions_in_use(self->ctx), self->count);
}

TEST_F(region, unregister_in_use)
{
	region_recv(&self->q, self->b, self->to_id, 0, SIZE, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_ERR(region_unregister(self->ctx, self->to_id), EBUSY);
	EXPECT_EQ(region_unregister(self->ctx, self->from_id), 0);
	queue_cancel(&self->q, 1, 0, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, -ECANCELED);
	EXPECT_CQE(&self->q, 2, 1);
	EXPECT_EQ(region_unregister(self->ctx, self->to_id), 0);
	/* Nobody takes what the other sends away from whoever comes next. */
	ASSERT_EQ(write(self->a, self->from, MIB), MIB);
	EXPECT_EQ(read(self->b, self->to, SIZE), MIB);
}

/* The context is closed: an operation under way has its region, a later one has none. */
TEST_F(region, context_closed)
{
	region_recv(&self->q, self->b, self->to_id, 0, SIZE, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	close(self->ctx);
	EXPECT_EQ(pinned_bytes(), self->pinned / 2);
	fill_random(self->from, MIB, 4);
	ASSERT_EQ(write(self->a, self->from, MIB), MIB);
	EXPECT_CQE(&self->q, 1, MIB);
	EXPECT_TRUE(is_random(self->to, MIB, 4));
	EXPECT_EQ(pinned_bytes(), 0);
	region_send(&self->q, self->a, self->from_id, 0, 5, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 2, -ENOENT);
	self->ctx = open_ctx();
}

/* The account is that of the RDMA core: whole pages, and each region counts. */
TEST_F(region, accounting)
{
	int64_t ids[4], base = self->pinned;

	ids[0] = region_register(self->ctx, self->from, 1, 0, NULL);
	EXPECT_EQ(pinned_bytes(), base + PAGE);
	ids[1] = region_register(self->ctx, self->from + PAGE - 1, 2, 0, NULL);
	EXPECT_EQ(pinned_bytes(), base + 3 * PAGE);
	ids[2] = region_register(self->ctx, self->from, PAGE, READ_ONLY, NULL);
	EXPECT_EQ(pinned_bytes(), base + 4 * PAGE);
	ids[3] = region_register(self->ctx, self->from, MIB + 1, 0, NULL);
	EXPECT_EQ(pinned_bytes(), base + 5 * PAGE + MIB);
	EXPECT_EQ(region_unregister(self->ctx, ids[3]), 0);
	EXPECT_EQ(region_unregister(self->ctx, ids[1]), 0);
	EXPECT_EQ(pinned_bytes(), base + 2 * PAGE);
	close(self->ctx);
	EXPECT_EQ(pinned_bytes(), 0);
	self->ctx = open_ctx();
}

TEST(limit_of_locked_memory)
{
	const struct rlimit limit = { MIB + PAGE / 2, MIB + PAGE / 2 }, none = { 0, 0 };
	struct rdmachan_error error;
	char *memory = pages(2 * MIB);
	int64_t first, second;
	int ctx;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	ctx = open_ctx();
	/* With the right to lock memory there is no limit. */
	first = region_register(ctx, memory, 2 * MIB, 0, &error);
	ASSERT_GT(first, 0);
	EXPECT_EQ(region_unregister(ctx, first), 0);
	ASSERT_EQ(setuid(1000), 0);
	EXPECT_ERR(region_register(ctx, memory, MIB + 1, 0, &error), ENOMEM);
	EXPECT_EQ(error.error, ENOMEM);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MEMLOCK);
	EXPECT_EQ(error.op, RDMACHAN_OP_REGISTER);
	EXPECT_EQ(error.limit, MIB + PAGE / 2);
	EXPECT_EQ(error.used, 0);
	EXPECT_EQ(error.needed, MIB + PAGE);
	first = region_register(ctx, memory, MIB - PAGE, 0, &error);
	ASSERT_GT(first, 0);
	EXPECT_EQ(pinned_bytes(), MIB - PAGE);
	EXPECT_ERR(region_register(ctx, memory + PAGE - 1, 2, 0, &error), ENOMEM);
	EXPECT_EQ(error.used, MIB - PAGE);
	EXPECT_EQ(error.needed, 2 * PAGE);
	second = region_register(ctx, memory, 1, 0, &error);
	EXPECT_GT(second, 0);
	EXPECT_ERR(region_register(ctx, memory, 1, 0, &error), ENOMEM);
	EXPECT_EQ(region_unregister(ctx, second), 0);
	EXPECT_GT(region_register(ctx, memory, 1, 0, &error), 0);
	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	EXPECT_ERR(region_register(ctx, memory, 1, 0, &error), ENOMEM);
	EXPECT_EQ(error.limit, 0);
	/* Other failures say nothing of it. */
	EXPECT_EQ(region_unregister(ctx, first), 0);
	EXPECT_ERR(region_register(ctx, memory, 0, 0, &error), EINVAL);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	chmod(DEVICE, 0600);
}

TEST(limit_of_regions)
{
	struct rdmachan_error error;
	char *memory = pages(PAGE);
	int64_t first;
	int ctx;

	set_parameter("user_regions", 2);
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(seteuid(1000), 0);
	ctx = open_ctx();
	first = region_register(ctx, memory, 1, 0, &error);
	EXPECT_GT(first, 0);
	EXPECT_GT(region_register(ctx, memory, 1, 0, &error), 0);
	EXPECT_ERR(region_register(ctx, memory, 1, 0, &error), EDQUOT);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_REGIONS);
	EXPECT_EQ(error.limit, 2);
	EXPECT_EQ(error.used, 2);
	EXPECT_EQ(error.needed, 1);
	EXPECT_EQ(pinned_bytes(), 2 * PAGE);
	EXPECT_EQ(region_unregister(ctx, first), 0);
	EXPECT_GT(region_register(ctx, memory, 1, 0, &error), 0);
	close(ctx);
	ASSERT_EQ(seteuid(0), 0);
	set_parameter("user_regions", 1024);
	chmod(DEVICE, 0600);
}

TEST_F(region, listed)
{
	struct rdmachan_object objects[16];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects, .objects_max = 16,
		.object_size = sizeof(*objects),
	};
	unsigned int i, found = 0;

	region_recv(&self->q, self->b, self->to_id, 0, SIZE, 1);
	region_send(&self->q, self->b, self->from_id, 0, 5, 2);
	ASSERT_EQ(queue_enter(&self->q, 2, 1, 10000), 2);
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
	for (i = 0; i < list.out_count; i++) {
		if (objects[i].kind != RDMACHAN_KIND_REGION)
			continue;
		found++;
		EXPECT_EQ(objects[i].length, SIZE);
		EXPECT_EQ(objects[i].uses, objects[i].region == self->to_id);
		EXPECT_EQ(objects[i].tx_messages, objects[i].region == self->from_id);
	}
	EXPECT_EQ(found, 2);
}

/* Memory that cannot be written to is for sending. */
TEST_F(region, read_only_memory)
{
	char *fixed = pages(2 * MIB);
	int64_t region;

	fill_random(fixed, MIB, 6);
	mprotect(fixed, 2 * MIB, PROT_READ);
	EXPECT_ERR(region_register(self->ctx, fixed, 2 * MIB, 0, NULL), EFAULT);
	region = region_register(self->ctx, fixed, 2 * MIB, READ_ONLY, NULL);
	ASSERT_GT(region, 0);
	region_recv(&self->q, self->b, self->to_id, 0, MIB, 1);
	region_send(&self->q, self->a, region, 0, MIB, 2);
	ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	EXPECT_TRUE(is_random(self->to, MIB, 6));
}

/* Registered as read-only, and written to by the program: the region has that. */
TEST_F(region, read_only_follows)
{
	char *memory = pages(PAGE), back[8];
	int64_t region = region_register(self->ctx, memory, PAGE, READ_ONLY, NULL);

	ASSERT_GT(region, 0);
	memcpy(memory, "later", 5);
	region_send(&self->q, self->a, region, 0, 5, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 5);
	ASSERT_EQ(read(self->b, back, 8), 5);
	EXPECT_EQ(memcmp(back, "later", 5), 0);
}

static bool want_huge(int count)
{
	FILE *file = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (!file)
		return false;
	fprintf(file, "%d\n", count);
	return !fclose(file);
}

TEST_F(region, huge_pages)
{
	struct rdmachan_cqe cqe;
	unsigned int told;
	int64_t region;
	char *memory;
	int i;

	if (!want_huge(4))
		SKIP("there are no huge pages");
	memory = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (memory == MAP_FAILED)
		SKIP("there are no huge pages left");
	region = region_register(self->ctx, memory + 1, 2 * HUGE - 1, 0, NULL);
	ASSERT_GT(region, 0);
	EXPECT_EQ(pinned_bytes(), self->pinned + 2 * HUGE);
	fill_random(self->from, 3 * MIB, 9);
	region_recv(&self->q, self->b, region, 4094, 3 * MIB, 1);
	region_send(&self->q, self->a, self->from_id, 0, 3 * MIB, 2);
	ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	/* Either of them may be told of first. */
	for (i = 0, told = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, 3 * MIB);
		told |= 1 << cqe.user_data;
	}
	EXPECT_EQ(told, 1 << 1 | 1 << 2);
	EXPECT_TRUE(is_random(memory + 4095, 3 * MIB, 9));
	region_recv(&self->q, self->b, self->to_id, 0, 3 * MIB, 1);
	region_send(&self->q, self->a, region, 4094, 3 * MIB, 2);
	ASSERT_EQ(queue_enter(&self->q, 2, 2, 10000), 2);
	EXPECT_TRUE(is_random(self->to, 3 * MIB, 9));
	munmap(memory, 2 * HUGE);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	want_huge(0);
}

static void move(struct fixture_region *self, uint32_t from, size_t at, uint32_t to, size_t len)
{
	struct rdmachan_cqe cqe;
	int i;

	region_recv(&self->q, self->b, to, 0, len, 1);
	region_send(&self->q, self->a, from, at, len, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, (int64_t)len);
	}
}

/* The first message asks for a key, if one is of use. */
static void move_often(struct fixture_region *self, uint32_t from, uint32_t to)
{
	int i;

	for (i = 0; i < 8; i++)
		move(self, from, 100, to, MIB);
}

static bool await_keys(int least, int most)
{
	int64_t until = now_ms() + 10000;
	int keys;

	for (;;) {
		keys = module_count("keys");
		if ((keys >= least && keys <= most) || now_ms() > until)
			break;
		sleep_ms(1);
	}
	return keys >= least && keys <= most;
}

/*
 * The adapter finds some pieces by itself, and more of them by a key. A message sent from single
 * pages gets one; one sent from a huge page, or received there, needs none.
 */
TEST_F(region, huge_pages_are_pieces)
{
	char *single = scattered(2 * MIB), *memory;
	uint32_t region, to, other;
	int without;

	if (module_count("keys") < 0 || !getenv("LAB_RDMA") ||
	    strncmp(getenv("LAB_RDMA"), "rxe", 3))
		SKIP("there are no keys to be counted");
	if (!want_huge(2))
		SKIP("there are no huge pages");
	memory = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (memory == MAP_FAILED)
		SKIP("there are no huge pages left");
	/* Nothing is left of the test before. */
	ASSERT_TRUE(await_keys(0, 0));
	region = region_of(self->ctx, memory, HUGE);
	to = region_of(self->ctx, memory + HUGE, HUGE);
	other = region_of(self->ctx, single, 2 * MIB);
	move_often(self, region, to);
	without = module_count("keys");
	move_often(self, other, to);
	EXPECT_TRUE(await_keys(1, 1));
	/* Keys end with their region: a late one of the huge pages would be left. */
	EXPECT_EQ(region_unregister(self->ctx, other), 0);
	EXPECT_TRUE(await_keys(0, 0));
	EXPECT_EQ(without, 0);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	EXPECT_EQ(region_unregister(self->ctx, to), 0);
	munmap(memory, 2 * HUGE);
	want_huge(0);
}

/* Messages of that memory, and to it, with a region of each kind. */
static void both_ways(struct fixture_region *self, char *memory, size_t len)
{
	uint32_t region = region_of(self->ctx, memory, len);
	int64_t fixed = region_register(self->ctx, memory, len, READ_ONLY, NULL);

	ASSERT_GT(fixed, 0);
	fill_random(self->from, len, 11);
	move(self, self->from_id, 0, region, len);
	EXPECT_TRUE(is_random(memory, len, 11));
	move(self, fixed, 0, self->to_id, len);
	EXPECT_TRUE(is_random(self->to, len, 11));
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	EXPECT_EQ(region_unregister(self->ctx, fixed), 0);
}

TEST_F(region, files_in_memory)
{
	int fd = memfd_create("region", MFD_CLOEXEC);
	char *memory;

	ASSERT_EQ(ftruncate(fd, MIB), 0);
	memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	both_ways(self, memory, MIB);
	/* Received data goes to the file. */
	munmap(memory, MIB);
	memory = mmap(NULL, MIB, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT_TRUE(is_random(memory, MIB, 11));
}

TEST_F(region, huge_files)
{
	int fd = memfd_create("region", MFD_CLOEXEC | MFD_HUGETLB);
	char *memory;

	if (fd < 0 || !want_huge(1))
		SKIP("there are no huge pages");
	ASSERT_EQ(ftruncate(fd, HUGE), 0);
	memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		SKIP("there are no huge pages left");
	both_ways(self, memory, HUGE);
	munmap(memory, HUGE);
	close(fd);
	want_huge(0);
}

TEST_F(region, system_v)
{
	int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
	char *memory;

	ASSERT_GE(id, 0);
	memory = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	ASSERT_TRUE(memory != (void *)-1);
	both_ways(self, memory, MIB);
}

/* Pages that were a file's before they were the program's own. */
TEST_F(region, file_mapped_privately)
{
	int fd = memfd_create("region", MFD_CLOEXEC);
	char *memory, back[8];

	ASSERT_EQ(ftruncate(fd, MIB), 0);
	ASSERT_EQ(pwrite(fd, "of a file", 9, 0), 9);
	memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	both_ways(self, memory, MIB);
	ASSERT_EQ(pread(fd, back, 8, 0), 8);
	EXPECT_EQ(memcmp(back, "of a file", 8), 0);
}

/* Memory of the kernel's, or of a device, that it maps as such; or NULL. */
static char *device_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin = 0;
	char line[256];
	void *memory;
	int fd;

	while (maps && !begin && fgets(line, sizeof(line), maps))
		if (strstr(line, "[vvar]"))
			begin = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	if (begin)
		return (char *)begin;
	fd = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

TEST_F(region, device_memory)
{
	char *memory = device_memory();

	if (!memory)
		SKIP("there is no device to be mapped");
	EXPECT_ERR(region_register(self->ctx, memory, PAGE, 0, NULL), EFAULT);
	EXPECT_ERR(region_register(self->ctx, memory, PAGE, READ_ONLY, NULL), EFAULT);
	EXPECT_EQ(pinned_bytes(), self->pinned);
}

/* Pinned for reading, pages of a file stay so; newer kernels pin what will be the program's. */
static bool has_own_pages(void)
{
	return !linux_before(6, 2);
}

/* What the program could not write to when it was registered, and writes to later. */
TEST_F(region, written_after_mprotect)
{
	int fd = memfd_create("region", MFD_CLOEXEC);
	char *memory, back[8];
	int64_t region;

	ASSERT_EQ(ftruncate(fd, PAGE), 0);
	ASSERT_EQ(pwrite(fd, "before", 6, 0), 6);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	EXPECT_ERR(region_register(self->ctx, memory, PAGE, 0, NULL), EFAULT);
	region = region_register(self->ctx, memory, PAGE, READ_ONLY, NULL);
	ASSERT_GT(region, 0);
	ASSERT_EQ(mprotect(memory, PAGE, PROT_READ | PROT_WRITE), 0);
	memcpy(memory, "behind", 6);
	region_send(&self->q, self->a, region, 0, 6, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 6);
	ASSERT_EQ(read(self->b, back, 8), 6);
	EXPECT_EQ(memcmp(back, has_own_pages() ? "behind" : "before", 6), 0);
}

TEST_F(region, files_on_disk)
{
	struct rdmachan_error error;
	int fd = disk_file();
	char *memory;

	if (fd < 0)
		SKIP("there is no file system that writes back");
	ASSERT_EQ(ftruncate(fd, 4 * PAGE), 0);
	ASSERT_EQ(pwrite(fd, "of a file", 9, PAGE), 9);
	memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	EXPECT_ERR(region_register(self->ctx, memory, 4 * PAGE, 0, &error), EOPNOTSUPP);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MEMORY_KIND);
	EXPECT_EQ(error.error, EOPNOTSUPP);
	EXPECT_GT(region_register(self->ctx, memory, 4 * PAGE, READ_ONLY, &error), 0);
	/* Privately mapped, the pages are the program's own. */
	memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	EXPECT_GT(region_register(self->ctx, memory, 4 * PAGE, 0, &error), 0);
	EXPECT_EQ(memcmp(memory + PAGE, "of a file", 9), 0);
}

TEST_HARNESS_MAIN
