// SPDX-License-Identifier: GPL-2.0
/*
 * grant_queue_test.c - READ, WRITE, atomic operations and RELEASE by queues
 */
#include <pthread.h>
#include <signal.h>

#include "common.h"
#include "fault.h"
#include "grant_entries.h"
#include "grant_users.h"
#include "harness.h"
#include "inject.h"

/* One access at a time. */
static int64_t alone(struct rdmachan_sqe *sqe)
{
	(void)sqe;
	ASSERT_EQ(queue_submit(&q), 1);
	return result(NULL);
}

/*
 * The bytes
 */

static const size_t sizes[] = {
	1, 8, 64, 511, 512, 513, 4095, 4096, 4097, 16385, 65536, 65537, 262145, MIB, 3 * MIB + 7,
};

struct own {
	char *memory;
	uint32_t region;
	bool regions;
};

static void own_part(const struct own *own, struct rdmachan_sqe *sqe, size_t at)
{
	if (own->regions)
		in_region(sqe, own->region, at);
}

static void there_and_back(struct fixture_grant *self, const struct own *own, uint32_t grant,
			   size_t len, int seed)
{
	size_t at = 1 + seed * 1031 % PAGE, there = seed * 517 % (SIZE - len + 1);
	char *mine = own->memory + at;

	fill_random(mine, len, seed);
	own_part(own, queue_write(&q, self->holder, grant, there, mine, len, 1), at);
	EXPECT_EQ(alone(NULL), (int64_t)len);
	await_written(self->holder, grant);
	EXPECT_TRUE(is_random(self->memory + there, len, seed));
	fill_random(self->memory + there, len, seed + 1);
	memset(mine - 1, 0x33, len + 2);
	own_part(own, queue_read(&q, self->holder, grant, there, mine, len, 1), at);
	EXPECT_EQ(alone(NULL), (int64_t)len);
	EXPECT_TRUE(is_random(mine, len, seed + 1));
	EXPECT_EQ(mine[-1], 0x33);
	EXPECT_EQ(mine[len], 0x33);
}

static void all_sizes(struct fixture_grant *self, bool regions)
{
	struct own own = { .memory = pages(SIZE + 2 * PAGE), .regions = regions };
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	size_t i;

	begin(self);
	own.region = region_of(self->ctx, own.memory, SIZE + 2 * PAGE);
	for (i = 0; i < COUNT(sizes); i++) {
		there_and_back(self, &own, grant, sizes[i], i);
		there_and_back(self, &own, grant, sizes[i], i + 100);
	}
	EXPECT_EQ(region_unregister(self->ctx, own.region), 0);
	queue_close(&q);
}

TEST_F_TIMEOUT(grant, queue_plain, 60)
{
	all_sizes(self, false);
}

TEST_F_TIMEOUT(grant, queue_region, 60)
{
	all_sizes(self, true);
}

/* Nothing to be moved is looked at all the same. */
TEST_F(grant, queue_nothing)
{
	uint32_t grant = lend(self, MAY_READ, 0, 100);

	begin(self);
	queue_read(&q, self->holder, grant, 100, NULL, 0, 1);
	EXPECT_EQ(alone(NULL), 0);
	queue_read(&q, self->holder, grant, 101, NULL, 0, 1);
	EXPECT_EQ(alone(NULL), -ERANGE);
	queue_close(&q);
}

/* Far more than the adapter takes at a time; each into a place of its own. */
static void many(struct fixture_grant *self, bool regions, int count)
{
	struct own own = { .memory = pages(SIZE), .regions = regions };
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	size_t each = SIZE / count, len;
	uint64_t data;
	int i;

	begin(self);
	own.region = region_of(self->ctx, own.memory, SIZE);
	fill_random(self->memory, SIZE, 3);
	for (i = 0; i < count; i++) {
		len = each - i % 7;
		own_part(&own, queue_read(&q, self->holder, grant, i * each,
					  own.memory + i * each, len, i), i * each);
	}
	ASSERT_EQ(queue_submit(&q), count);
	for (i = 0; i < count; i++) {
		len = result(&data);
		EXPECT_EQ(len, each - data % 7);
		EXPECT_EQ(memcmp(own.memory + data * each, self->memory + data * each, len), 0);
	}
	fill_random(own.memory, SIZE, 4);
	for (i = 0; i < count; i++)
		own_part(&own, queue_write(&q, self->holder, grant, i * each,
					   own.memory + i * each, each, i), i * each);
	ASSERT_EQ(queue_submit(&q), count);
	for (i = 0; i < count; i++)
		EXPECT_EQ(result(NULL), (int64_t)each);
	await_written(self->holder, grant);
	EXPECT_EQ(memcmp(own.memory, self->memory, each * count), 0);
	queue_close(&q);
}

TEST_F_TIMEOUT(grant, queue_thousands, 120)
{
	many(self, false, 4000);
}

TEST_F_TIMEOUT(grant, queue_thousands_regions, 120)
{
	many(self, true, 2000);
}

TEST_F_TIMEOUT(grant, queue_large_ones, 120)
{
	many(self, false, 5);
	many(self, true, 5);
}

/* Few of one channel do not wait until many of another are done. */
TEST_F_TIMEOUT(grant, queue_fair, 100)
{
	enum { MANY = 2000, FEW = 20, EACH = 64 * KIB };
	uint32_t grants[2] = { lend(self, MAY_READ, 0, SIZE) }, region;
	struct fixture_grant other = *self;
	int fds[2], i, early, done = 0, few = 0;
	uint64_t data;

	pair_up(self->ctx, fds, NULL);
	other.owner = fds[0];
	other.holder = fds[1];
	grants[1] = lend(&other, MAY_READ, 0, SIZE);
	region = region_of(self->ctx, pages(SIZE), SIZE);
	begin(self);
	for (i = 0; i < MANY + FEW; i++)
		in_region(queue_read(&q, i < MANY ? self->holder : other.holder,
				     grants[i >= MANY], 0, NULL, EACH, i >= MANY), region, 0);
	ASSERT_EQ(queue_submit(&q), MANY + FEW);
	/* Before the few were there. */
	early = queue_ready(&q);
	for (; few < FEW; done++) {
		EXPECT_EQ(result(&data), (int64_t)EACH);
		few += data;
	}
	EXPECT_LT(done, early + 10 * FEW);
	for (; done < MANY + FEW; done++)
		EXPECT_EQ(result(NULL), (int64_t)EACH);
	close(fds[0]);
	close(fds[1]);
	queue_close(&q);
}

/*
 * Very many wait for memory that is revoked. Soft interrupt answers for a few of them, behind each
 * of those that the adapter had, and a work item for as many at a time.
 */
TEST_F_TIMEOUT(grant, queue_revoked_in_parts, 100)
{
	enum { AT_ONCE = 64, SLOTS = 16 };
	uint32_t grant = lend(self, MAY_READ, 0, SIZE);
	int i, parts, failed = 0, before = module_count("put_off");
	int64_t res;
	char byte;

	if (before < 0)
		SKIP("there is no debugfs");
	begin(self);
	for (i = 0; i < ENTRIES; i++)
		queue_read(&q, self->holder, grant, 0, &byte, 1, i);
	ASSERT_EQ(queue_submit(&q), ENTRIES);
	ASSERT_EQ(grant_revoke(self->owner, grant, DONTWAIT), 0);
	for (i = 0; i < ENTRIES; i++) {
		res = result(NULL);
		ASSERT_TRUE(res == 1 || res == -EKEYREVOKED);
		failed += res != 1;
	}
	parts = module_count("put_off") - before;
	printf("# %d failed, in %d parts\n", failed, parts);
	EXPECT_GE((parts + SLOTS) * AT_ONCE, failed);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	queue_close(&q);
}

/*
 * Order
 */

/* A receiver of the message finds the bytes. */
static void write_then_send(struct fixture_grant *self, size_t len, bool regions)
{
	struct own own = { .memory = pages(MIB), .regions = regions };
	uint32_t grant = lend(self, MAY_WRITE, 0, MIB);
	struct rdmachan_recv_args recv;
	char word;
	int i, j;

	begin(self);
	own.region = region_of(self->ctx, own.memory, MIB);
	for (i = 0; i < turns(60); i++) {
		memset(own.memory, i + 1, len);
		/* The first ones use up what the adapter takes at a time. */
		for (j = 0; j < i % 30; j++)
			queue_write(&q, self->holder, grant, len, own.memory, 1, 0)->flags =
				RDMACHAN_SQE_F_SKIP_SUCCESS;
		own_part(&own, queue_write(&q, self->holder, grant, 0, own.memory, len, 1), 0);
		word = i;
		queue_send(&q, self->holder, &word, 1, 2);
		ASSERT_EQ(queue_submit(&q), i % 30 + 2);
		ASSERT_EQ(do_recv(self->owner, &word, 1, &recv, TIMEOUT(10000)), 0);
		ASSERT_EQ(word, (char)i);
		EXPECT_TRUE(is_all(self->memory, len, i + 1));
		EXPECT_GT(result(NULL), 0);
		EXPECT_GT(result(NULL), 0);
	}
	queue_close(&q);
}

TEST_F_TIMEOUT(grant, queue_write_then_send, 120)
{
	write_then_send(self, 64, false);
	write_then_send(self, 5000, false);
	write_then_send(self, 700000, false);
	write_then_send(self, 700000, true);
}

/* A WRITE behind READs of the same bytes; without a fence it may overtake the last of them. */
TEST_F_TIMEOUT(grant, queue_fence, 120)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	char *old = pages(SIZE), *new = pages(SIZE);
	uint64_t data;
	int i;

	begin(self);
	for (i = 0; i < turns(10); i++) {
		memset(self->memory, 0x11, SIZE);
		memset(new, 0x22, SIZE);
		queue_read(&q, self->holder, grant, 0, old, SIZE, 1);
		queue_read(&q, self->holder, grant, SIZE / 2, old, 100, 2);
		queue_write(&q, self->holder, grant, 0, new, SIZE, 3)->flags =
			RDMACHAN_SQE_F_FENCE;
		queue_send(&q, self->holder, "x", 1, 4)->flags = RDMACHAN_SQE_F_FENCE;
		ASSERT_EQ(queue_submit(&q), 4);
		EXPECT_GT(result(&data), 0);
		EXPECT_TRUE(data == 1 || data == 2);
		EXPECT_GT(result(&data), 0);
		EXPECT_TRUE(data == 1 || data == 2);
		EXPECT_EQ(result(&data), (int64_t)SIZE);
		EXPECT_EQ(data, 3);
		EXPECT_EQ(result(&data), 1);
		EXPECT_EQ(data, 4);
		await_written(self->holder, grant);
		EXPECT_TRUE(is_all(old, SIZE, 0x11));
		EXPECT_TRUE(is_all(self->memory, SIZE, 0x22));
		ASSERT_EQ(do_recv(self->owner, old, 1, &(struct rdmachan_recv_args){}, NULL), 0);
	}
	queue_close(&q);
}

/* What a fence waits for goes before it, and so do those before that, though they begin later. */
TEST_F(grant, queue_fence_behind_chain)
{
	uint32_t grant = lend(self, MAY_WRITE, 0, SIZE);
	char word, mine[8] = "written";
	int i, round, turn[7];
	uint64_t data;

	begin(self);
	for (round = 0; round < 3; round++) {
		memset(self->memory, 0, sizeof(mine));
		queue_recv(&q, self->holder, &word, 1, 1)->flags = RDMACHAN_SQE_F_LINK;
		queue_send(&q, self->holder, "a", 1, 2)->flags = RDMACHAN_SQE_F_LINK;
		queue_write(&q, self->holder, grant, 0, mine, sizeof(mine), 3);
		queue_send(&q, self->holder, "b", 1, 4)->flags = RDMACHAN_SQE_F_FENCE;
		queue_write(&q, self->holder, grant, 8, mine, sizeof(mine), 5)->flags =
			round ? RDMACHAN_SQE_F_FENCE : 0;
		queue_send(&q, self->holder, "c", 1, 6);
		ASSERT_EQ(queue_submit(&q), 6);
		ASSERT_EQ(do_send(self->owner, "x", 1, 0, NULL), 0);
		for (i = 0; i < 6; i++) {
			EXPECT_GT(result(&data), 0);
			turn[data] = i;
		}
		EXPECT_TRUE(turn[3] < turn[4]);
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(do_recv(self->owner, &word, 1, &(struct rdmachan_recv_args){},
					  TIMEOUT(10000)), 0);
			EXPECT_EQ(word, 'a' + i);
			EXPECT_TRUE(!i || !memcmp(self->memory, mine, sizeof(mine)));
		}
	}
	queue_close(&q);
}

/* RELEASE waits for no READ, but with a fence. */
TEST_F_TIMEOUT(grant, queue_release, 60)
{
	char *mine = pages(SIZE);
	uint32_t grant;
	uint64_t data;
	int i;

	begin(self);
	for (i = 0; i < turns(10); i++) {
		grant = lend(self, MAY_READ, 0, SIZE);
		queue_read(&q, self->holder, grant, 0, mine, SIZE, 1);
		queue_release(&q, self->holder, grant, 2)->flags = RDMACHAN_SQE_F_FENCE;
		ASSERT_EQ(queue_submit(&q), 2);
		EXPECT_EQ(result(&data), (int64_t)SIZE);
		EXPECT_EQ(data, 1);
		EXPECT_EQ(result(&data), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	}
	grant = lend(self, MAY_READ, 0, SIZE);
	queue_read(&q, self->holder, grant, 0, mine, SIZE, 1);
	queue_release(&q, self->holder, grant, 2);
	queue_release(&q, self->holder, grant, 3);
	ASSERT_EQ(queue_submit(&q), 3);
	for (i = 0; i < 3; i++) {
		int64_t res = result(&data);

		if (data == 1)
			EXPECT_TRUE(res == (int64_t)SIZE || res == -EKEYREVOKED);
		else
			EXPECT_EQ(res, data == 2 ? 0 : -EKEYREVOKED);
	}
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	queue_close(&q);
}

/* READs do not wait for a message that waits, but WRITEs do. */
TEST_F(grant, queue_behind_a_message)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	char mine[100];
	uint64_t data;

	begin(self);
	ASSERT_GT(fill_up(self->holder, 1000), 0);
	queue_send(&q, self->holder, mine, sizeof(mine), 1);
	queue_write(&q, self->holder, grant, 0, mine, sizeof(mine), 2);
	queue_read(&q, self->holder, grant, 0, mine, sizeof(mine), 3);
	queue_write(&q, self->holder, grant, 0, mine, sizeof(mine), 4)->timeout_ms = 50;
	ASSERT_EQ(queue_submit(&q), 4);
	EXPECT_EQ(result(&data), (int64_t)sizeof(mine));
	EXPECT_EQ(data, 3);
	EXPECT_EQ(result(&data), -ETIMEDOUT);
	EXPECT_EQ(data, 4);
	queue_cancel(&q, 2, 0, 5);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_EQ(result(&data), -ECANCELED);
	EXPECT_EQ(data, 2);
	EXPECT_EQ(result(&data), 1);
	EXPECT_EQ(data, 5);
	queue_close(&q);
}

/* Chains, and a DRAIN. */
TEST_F(grant, queue_chain)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	uint64_t number = 7, back = 0;

	begin(self);
	queue_write(&q, self->holder, grant, 0, &number, 8, 1)->flags = RDMACHAN_SQE_F_LINK;
	queue_read(&q, self->holder, grant, 0, &back, 8, 2)->flags = RDMACHAN_SQE_F_LINK;
	queue_read(&q, self->holder, grant, SIZE, &back, 8, 3)->flags = RDMACHAN_SQE_F_LINK;
	queue_write(&q, self->holder, grant, 0, &back, 8, 4);
	queue_add(&q, RDMACHAN_OPCODE_NOP, 0, 5)->flags = RDMACHAN_SQE_F_DRAIN;
	ASSERT_EQ(queue_submit(&q), 5);
	EXPECT_CQE(&q, 1, 8);
	EXPECT_CQE(&q, 2, 8);
	EXPECT_CQE(&q, 3, -ERANGE);
	EXPECT_CQE(&q, 4, -ECANCELED);
	EXPECT_CQE(&q, 5, 0);
	EXPECT_EQ(back, 7);
	queue_close(&q);
}

/*
 * Atomic operations
 */

TEST_F(grant, queue_atomics)
{
	uint64_t *number = (uint64_t *)self->memory;
	uint32_t grant = lend(self, MAY_ATOMIC, 0, 64);
	struct rdmachan_cqe cqe;

	begin(self);
	*number = -5ULL;
	queue_fetch_add(&q, self->holder, grant, 0, 3, 1);
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(queue_value(&cqe), -5ULL);
	EXPECT_EQ(*number, -2ULL);
	queue_swap(&q, self->holder, grant, 0, 1, 4, 1);
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(queue_value(&cqe), -2ULL);
	EXPECT_EQ(*number, -2ULL);
	queue_swap(&q, self->holder, grant, 0, -2ULL, 4, 1);
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(queue_value(&cqe), -2ULL);
	EXPECT_EQ(*number, 4);
	queue_fetch_add(&q, self->holder, grant, 4, 3, 1);
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_fetch_add(&q, self->holder, grant, 64, 3, 1);
	EXPECT_EQ(alone(NULL), -ERANGE);
	queue_close(&q);
}

/* Far more at a time than threads could ask for. */
TEST_F_TIMEOUT(grant, queue_many_atomics, 100)
{
	enum { MANY = 30000 };
	uint32_t grant = lend(self, MAY_ATOMIC, 0, 8);
	struct rdmachan_cqe cqe;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 32768, 32768), 0);
	for (i = 0; i < MANY; i++)
		queue_fetch_add(&q, self->holder, grant, 0, 1, i);
	ASSERT_EQ(queue_submit(&q), MANY);
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		ASSERT_EQ(cqe.res, 0);
	}
	EXPECT_EQ(*(uint64_t *)self->memory, MANY);
	queue_close(&q);
}

#define ADDS 512

static int add_many(struct fixture_grant *self, uint32_t grant, int count)
{
	struct rdmachan_cqe cqe;
	int i;

	if (queue_open(self->ctx, &q, ADDS, ADDS))
		return 1;
	for (i = 0; i < count; i++)
		queue_fetch_add(&q, self->holder, grant, 0, 1, i);
	if (queue_submit(&q) != count)
		return 2;
	for (i = 0; i < count; i++)
		if (!queue_wait(&q, &cqe) || cqe.res)
			return 3;
	return 0;
}

/* Several processes, each with a queue of its own, all at once. */
TEST_F_TIMEOUT(grant, queue_sum, 120)
{
	uint32_t grant = lend(self, MAY_ATOMIC, 8, 8);
	pid_t children[8];
	int i;

	for (i = 0; i < 8; i++)
		children[i] = LATER(0, _exit(add_many(self, grant, turns(400))));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	EXPECT_EQ(((uint64_t *)self->memory)[1], 8ULL * turns(400));
}

/*
 * What is wrong
 */

TEST_F(grant, queue_refusals)
{
	uint32_t all = lend(self, MAY_ALL, 0, SIZE), reader = lend(self, MAY_READ, 0, 100);
	uint32_t mine = region_of(self->ctx, pages(PAGE), PAGE), other;
	char data[16];

	begin(self);
	queue_read(&q, self->holder, 4711, 0, data, 1, 1);
	EXPECT_EQ(alone(NULL), -ENOENT);
	queue_read(&q, self->owner, all, 0, data, 1, 1);
	EXPECT_EQ(alone(NULL), -ENOENT);
	queue_write(&q, self->holder, reader, 0, data, 1, 1);
	EXPECT_EQ(alone(NULL), -EACCES);
	queue_read(&q, self->holder, reader, 96, data, 5, 1);
	EXPECT_EQ(alone(NULL), -ERANGE);
	queue_read(&q, self->holder, reader, ~0ULL, data, 5, 1);
	EXPECT_EQ(alone(NULL), -ERANGE);
	queue_read(&q, self->holder, all, 0, data, RDMACHAN_MESSAGE_MAX + 1ULL, 1);
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_read(&q, self->holder, all, 0, (void *)8, 8, 1);
	EXPECT_EQ(alone(NULL), -EFAULT);
	queue_read(&q, self->holder, all, 0, (void *)8, 300000, 1);
	EXPECT_EQ(alone(NULL), -EFAULT);
	queue_write(&q, self->holder, all, 0, (void *)8, 300000, 1);
	EXPECT_EQ(alone(NULL), -EFAULT);
	in_region(queue_read(&q, self->holder, all, 0, NULL, 100, 1), 4711, 0);
	EXPECT_EQ(alone(NULL), -ENOENT);
	in_region(queue_read(&q, self->holder, all, 0, NULL, 100, 1), mine, PAGE - 99);
	EXPECT_EQ(alone(NULL), -ERANGE);
	other = region_register(self->ctx, pages(PAGE), PAGE, RDMACHAN_REGION_F_READ_ONLY, NULL);
	in_region(queue_read(&q, self->holder, all, 0, NULL, 100, 1), other, 0);
	EXPECT_EQ(alone(NULL), -EACCES);
	in_region(queue_write(&q, self->holder, all, 0, NULL, 100, 1), other, 0);
	EXPECT_EQ(alone(NULL), 100);
	ASSERT_EQ(grant_release(self->holder, reader), 0);
	queue_read(&q, self->holder, reader, 0, data, 1, 1);
	EXPECT_EQ(alone(NULL), -EKEYREVOKED);
	queue_release(&q, self->holder, reader, 1);
	EXPECT_EQ(alone(NULL), -EKEYREVOKED);
	queue_close(&q);
}

/* Members that do not belong to an operation. */
TEST_F(grant, queue_bad_entries)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	char data[8];

	begin(self);
	queue_read(&q, self->holder, grant, 0, data, 8, 1)->msg_flags = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_read(&q, self->holder, grant, 0, data, 8, 1)->op_flags = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_read(&q, self->holder, grant, 0, data, 8, 1)->region = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_read(&q, self->holder, grant, 0, data, 8, 1)->pool = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_fetch_add(&q, self->holder, grant, 0, 1, 1)->compare = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_fetch_add(&q, self->holder, grant, 0, 1, 1)->flags = RDMACHAN_SQE_F_REGION;
	EXPECT_EQ(alone(NULL), -EOPNOTSUPP);
	queue_release(&q, self->holder, grant, 1)->addr = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_release(&q, self->holder, grant, 1)->grant_offset = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_send(&q, self->holder, data, 8, 1)->grant = 1;
	EXPECT_EQ(alone(NULL), -EINVAL);
	queue_recv(&q, self->holder, data, 8, 1)->flags = RDMACHAN_SQE_F_FENCE;
	EXPECT_EQ(alone(NULL), -EOPNOTSUPP);
	queue_add(&q, RDMACHAN_OPCODE_NOP, 0, 1)->flags = RDMACHAN_SQE_F_FENCE;
	EXPECT_EQ(alone(NULL), -EOPNOTSUPP);
	queue_read(&q, self->ctx, grant, 0, data, 8, 1);
	EXPECT_EQ(alone(NULL), -ENOTTY);
	queue_read(&q, -1, grant, 0, data, 8, 1);
	EXPECT_EQ(alone(NULL), -EBADF);
	EXPECT_EQ(try_add(self->holder, grant, 0), 0);
	queue_close(&q);
}

/*
 * Cancelled, and at an end
 */

#define FLYING 300

/* Many in flight. Return: how many bytes each has. */
static size_t fly(struct fixture_grant *self, uint32_t grant, char *mine)
{
	size_t each = SIZE / FLYING;
	int i;

	for (i = 0; i < FLYING; i++)
		if (i % 3)
			queue_read(&q, self->holder, grant, i * each, mine + i * each, each, 7);
		else
			queue_write(&q, self->holder, grant, i * each, mine + i * each, each, 7);
	return each;
}

/* Each turn in another moment of that; where time is real it is another one by itself. */
static void fly_on(int turn)
{
	if (time_is_virtual())
		pause_ns(turn * 37000LL);
}

TEST_F_TIMEOUT(grant, queue_cancel_many, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	struct rdmachan_cqe cqe;
	int i, done, cancelled;
	char *mine = pages(SIZE);
	size_t each;

	begin(self);
	for (i = 0; i < turns(10); i++) {
		each = fly(self, grant, mine);
		queue_fetch_add(&q, self->holder, grant, 0, 1, 7);
		queue_cancel(&q, 7, RDMACHAN_CANCEL_F_ALL, 8);
		ASSERT_EQ(queue_submit(&q), FLYING + 2);
		for (done = 0, cancelled = 0; done + cancelled < FLYING + 1;) {
			ASSERT_TRUE(queue_wait(&q, &cqe));
			if (cqe.user_data == 8)
				continue;
			ASSERT_EQ(cqe.user_data, 7);
			if (cqe.res == -ECANCELED)
				cancelled++;
			else if (cqe.res == (int64_t)each || !cqe.res)
				done++;
			else
				ASSERT_EQ(cqe.res, 0);
		}
		queue_add(&q, RDMACHAN_OPCODE_NOP, 0, 9)->flags = RDMACHAN_SQE_F_DRAIN;
		ASSERT_EQ(queue_submit(&q), 1);
		do
			ASSERT_TRUE(queue_wait(&q, &cqe));
		while (cqe.user_data == 8);
		EXPECT_EQ(cqe.user_data, 9);
	}
	queue_close(&q);
}

/*
 * Nothing was done of what waits for its turn. An access under way is over when the adapter has
 * done what it has in hand of it, and the rest is not begun.
 */
TEST_F_TIMEOUT(grant, queue_too_late, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	char *mine = pages(SIZE);
	int64_t begun;
	int i;

	if (!time_is_virtual())
		SKIP("how long an access takes is not known");
	begin(self);
	cable("delay 100");
	begun = tick_ms();
	queue_read(&q, self->holder, grant, 0, mine, SIZE, 1)->timeout_ms = 60;
	for (i = 0; i < FLYING; i++)
		queue_read(&q, self->holder, grant, 0, mine, 1, 2);
	queue_read(&q, self->holder, grant, 0, mine, 1, 3)->timeout_ms = 60;
	queue_read(&q, self->holder, grant, 0, mine, 1, 4);
	queue_cancel(&q, 4, 0, 5);
	ASSERT_EQ(queue_submit(&q), FLYING + 4);
	EXPECT_CQE(&q, 4, -ECANCELED);
	EXPECT_CQE(&q, 5, 1);
	EXPECT_CQE(&q, 3, -ETIMEDOUT);
	EXPECT_TOOK(begun, 60, LIMIT_LATE(60));
	EXPECT_CQE(&q, 1, -ETIMEDOUT);
	for (i = 0; i < FLYING; i++)
		EXPECT_CQE(&q, 2, 1);
	cable("delay 0");
	queue_close(&q);
}

/* Nothing is written any more when REVOKE has returned. */
TEST_F_TIMEOUT(grant, queue_revoke, 60)
{
	char *mine = pages(SIZE);
	uint32_t grant;
	int i, j, done;
	size_t each;
	int64_t res;

	memset(mine, 0x22, SIZE);
	begin(self);
	for (i = 0; i < turns(20); i++) {
		grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
		memset(mine, 0x22, SIZE);
		each = fly(self, grant, mine);
		ASSERT_EQ(queue_submit(&q), FLYING);
		fly_on(i);
		ASSERT_EQ(grant_revoke(self->owner, grant, NULL), 0);
		memset(self->memory, 0x11, SIZE);
		for (j = 0, done = 0; j < FLYING; j++) {
			res = result(NULL);
			done += res == (int64_t)each;
			EXPECT_TRUE(res == (int64_t)each || res == -EKEYREVOKED);
		}
		EXPECT_TRUE(is_all(self->memory, SIZE, 0x11));
		await_returned(self->owner, 1);
	}
	queue_close(&q);
}

/* The queue is closed with accesses in flight: they end by themselves. */
TEST_F_TIMEOUT(grant, queue_closed, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE), region;
	char *mine = pages(SIZE);
	int i;

	region = region_of(self->ctx, mine, SIZE);
	for (i = 0; i < turns(20); i++) {
		begin(self);
		fly(self, grant, mine);
		in_region(queue_read(&q, self->holder, grant, 0, NULL, SIZE, 1), region, 0);
		queue_fetch_add(&q, self->holder, grant, 0, 1, 7);
		ASSERT_EQ(queue_submit(&q), FLYING + 2);
		fly_on(i);
		queue_close(&q);
	}
	/* Behind all of them. */
	ASSERT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
}

/* Close the queue while the adapter has a part of what was submitted. */
static void close_under_way(const char *delay)
{
	cable(delay);
	ASSERT_EQ(queue_submit(&q), 1);
	sleep_ms(5);
	EXPECT_EQ(queue_ready(&q), 0);
	queue_close(&q);
}

/* Memory of the program's own is not written to any more when close() has returned. */
TEST_F(grant, queue_closed_reads)
{
	uint32_t grant = lend(self, MAY_READ, 0, SIZE);
	char *mine = pages(SIZE);

	if (!time_is_virtual() || !has_peer())
		SKIP("an access that lasts is needed");
	begin(self);
	queue_read(&q, self->holder, grant, 0, mine, 64 * KIB, 1);
	close_under_way("delay 10");
	memset(mine, 0x55, SIZE);
	sleep_ms(100);
	cable("delay 0");
	EXPECT_TRUE(is_all(mine, SIZE, 0x55));
}

/* Nor is it read: the owner gets nothing of what is put there then. */
TEST_F(grant, queue_closed_writes)
{
	uint32_t grant = lend(self, MAY_WRITE, 0, SIZE);
	char *mine = pages(SIZE);

	if (!time_is_virtual() || !has_peer())
		SKIP("an access that lasts is needed");
	memset(mine, 0x22, SIZE);
	begin(self);
	queue_write(&q, self->holder, grant, 0, mine, SIZE, 1);
	close_under_way("delay 10");
	memset(mine, 0x55, SIZE);
	/* Behind all that the adapter had in hand. */
	ASSERT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	cable("delay 0");
	EXPECT_TRUE(!memchr(self->memory, 0x55, SIZE));
	EXPECT_TRUE(memchr(self->memory, 0x22, SIZE));
}

/* A program that is killed does not wait for that. */
TEST_F(grant, queue_closed_killed)
{
	uint32_t grant = lend(self, MAY_READ, 0, SIZE);
	int64_t begun;
	pid_t child;

	if (!time_is_virtual() || !has_peer())
		SKIP("an access that lasts is needed");
	child = LATER(0, {
		begin(self);
		queue_read(&q, self->holder, grant, 0, pages(SIZE), 64 * KIB, 1);
		close_under_way("delay 100");
	});
	sleep_ms(50);
	begun = now_ms();
	ASSERT_EQ(kill(child, SIGKILL), 0);
	EXPECT_EQ(child_status(child), SIGKILL);
	EXPECT_TOOK(begun, 0, timer_late(0));
	cable("delay 0");
	/* Behind what the adapter has in hand. */
	ASSERT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
}

/* The owner goes. */
TEST_F_TIMEOUT(grant, queue_owner_gone, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	struct rdmachan_recv_args recv;
	char *mine = pages(SIZE);
	int i;

	begin(self);
	fly(self, grant, mine);
	queue_fetch_add(&q, self->holder, grant, 0, 1, 7);
	ASSERT_EQ(queue_submit(&q), FLYING + 1);
	close(self->owner);
	self->owner = -1;
	for (i = 0; i < FLYING + 1; i++)
		result(NULL);
	/* Its end comes behind all that it had to say. */
	ASSERT_EQ(do_recv(self->holder, mine, 1, &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
	queue_read(&q, self->holder, grant, 0, mine, 1, 1);
	EXPECT_LT(alone(NULL), 0);
	queue_close(&q);
}

/* The holder's program closes the channel, but its queue keeps it until they have ended. */
TEST_F_TIMEOUT(grant, queue_holder_closes, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	char *mine = pages(SIZE);
	size_t each;
	int i;

	begin(self);
	each = fly(self, grant, mine);
	ASSERT_EQ(queue_submit(&q), FLYING);
	close(self->holder);
	self->holder = -1;
	for (i = 0; i < FLYING; i++)
		EXPECT_EQ(result(NULL), (int64_t)each);
	EXPECT_EQ(await_returned(self->owner, 1), RDMACHAN_CAUSE_PEER_CLOSED);
	queue_close(&q);
}

/* Some of each kind. Return: whether all of them were done; @told and @unknown count adds. */
static bool batch(int chan, uint32_t grant, char *mine, uint64_t *told, uint64_t *unknown)
{
	struct rdmachan_cqe cqe;
	bool ok = true;
	int j;

	for (j = 0; j < 200; j++) {
		queue_read(&q, chan, grant, 8, mine, 50000, 1);
		queue_write(&q, chan, grant, 50000, mine, 5000, 1);
		queue_fetch_add(&q, chan, grant, 0, 1, 2);
	}
	queue_send(&q, chan, "x", 1, 1)->flags = RDMACHAN_SQE_F_FENCE;
	ASSERT_EQ(queue_submit(&q), 601);
	for (j = 0; j < 601; j++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		*told += cqe.user_data == 2 && !cqe.res;
		*unknown += cqe.user_data == 2 && cqe.res == -EREMOTEIO;
		ok &= cqe.res >= 0;
	}
	return ok;
}

/* The queue pair fails with many in flight: all complete, and no sum is other than was told. */
TEST_TIMEOUT(queue_link_killed, 200)
{
	char *memory = pages(SIZE), *mine = pages(SIZE), word;
	int root = open_ctx(), ctx, fds[2], i;
	struct rdmachan_recv_args recv;
	uint64_t told, unknown;
	uint32_t region, grant;

	inject_begin();
	for (i = 0; i < turns(time_is_virtual() ? 10 : 20); i++) {
		ctx = fault_pair_of(22600 + i, fds);
		region = region_of(ctx, memory, SIZE);
		grant = give(fds[0], ctx, region, SIZE);
		ASSERT_TRUE(grant_held(fds[1], grant));
		memset(memory, 0, SIZE);
		told = 0;
		unknown = 0;
		ASSERT_EQ(queue_open(ctx, &q, 1024, 1024), 0);
		inject("kill", "skip=%d", i % 5);
		while (batch(fds[1], grant, mine, &told, &unknown))
			ASSERT_EQ(do_recv(fds[0], &word, 1, &recv, NULL), 0);
		inject_off("kill");
		await_returned(fds[0], 1);
		EXPECT_GE(*(uint64_t *)memory, told);
		EXPECT_LE(*(uint64_t *)memory, told + unknown);
		EXPECT_EQ(region_unregister(ctx, region), 0);
		queue_close(&q);
		close(fds[0]);
		close(fds[1]);
		close(ctx);
	}
	EXPECT_EQ(grants_in_use(root), 0);
	inject_end(root);
}

#define STUCK 8

/* READs that wait for a call when they have ended, as the memory is not there: one at least. */
static void be_stuck(int ctx, struct queue *polled, int chan, uint32_t grant, char *mine)
{
	struct rdmachan_cqe cqe;
	int i;

	ASSERT_EQ(queue_open_polled(ctx, polled, 64, 64, 10), 0);
	for (;;) {
		for (i = 0; i < STUCK; i++)
			queue_read(polled, chan, grant, 8, mine + i * PAGE, PAGE, i);
		ASSERT_EQ(queue_poke(polled), 0);
		while (!(queue_flags(polled) & RDMACHAN_RING_F_ENTER) &&
		       queue_ready(polled) < STUCK)
			sleep_ms(1);
		if (queue_ready(polled) < STUCK)
			return;
		/* The thread slept, and the call that woke it has read: once more. */
		while (queue_ready(polled))
			ASSERT_TRUE(queue_wait(polled, &cqe) && cqe.res == (int64_t)PAGE);
		ASSERT_EQ(madvise(mine, STUCK * PAGE, MADV_DONTNEED), 0);
	}
}

static void expect_some_read(struct queue *polled, int error)
{
	struct rdmachan_cqe cqe;
	int i, done = 0;

	for (i = 0; i < STUCK; i++) {
		ASSERT_TRUE(queue_wait(polled, &cqe));
		EXPECT_TRUE(cqe.res == (int64_t)PAGE || cqe.res == -error);
		done += cqe.res == (int64_t)PAGE;
	}
	EXPECT_GE(done, 1);
	queue_close(polled);
}

static void *remove_later(void *arg)
{
	usleep(*(int *)arg);
	*(int *)arg = remove_device();
	return NULL;
}

/*
 * The device goes with many in flight: all complete, and an access that has waited is not lost. It
 * is that of the holder, of the owner, or of both.
 */
TEST_TIMEOUT(queue_device_removed, 200)
{
	char *memory = pages(SIZE), *mine = pages(SIZE), *fresh, word;
	int ctx = open_ctx(), fds[2], i, delay, holder, owner;
	uint32_t region = region_of(ctx, memory, SIZE), grant;
	struct rdmachan_recv_args recv;
	uint64_t told, unknown;
	struct queue polled;
	pthread_t thread;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	for (i = 0; i < turns(8); i++) {
		pair_up_again(ctx, fds);
		holder = i % 2;
		owner = !holder;
		grant = give(fds[owner], ctx, region, SIZE);
		ASSERT_TRUE(grant_held(fds[holder], grant));
		memset(memory, 0, SIZE);
		fresh = pages(STUCK * PAGE);
		be_stuck(ctx, &polled, fds[holder], grant, fresh);
		told = 0;
		unknown = 0;
		ASSERT_EQ(queue_open(ctx, &q, 1024, 1024), 0);
		delay = i * 3137;
		ASSERT_EQ(pthread_create(&thread, NULL, remove_later, &delay), 0);
		/* The last message may not have come. */
		while (batch(fds[holder], grant, mine, &told, &unknown) &&
		       !do_recv(fds[owner], &word, 1, &recv, NULL))
			;
		pthread_join(thread, NULL);
		EXPECT_EQ(delay, 0);
		EXPECT_EQ(await_returned(fds[owner], 1), removal_cause(owner));
		EXPECT_GE(*(uint64_t *)memory, told);
		EXPECT_LE(*(uint64_t *)memory, told + unknown);
		queue_read(&q, fds[holder], grant, 0, mine, 1, 1);
		EXPECT_EQ(alone(NULL), -removal_error(holder));
		expect_some_read(&polled, removal_error(holder));
		munmap(fresh, STUCK * PAGE);
		queue_close(&q);
		close(fds[0]);
		close(fds[1]);
		EXPECT_EQ(add_device(), 0);
	}
	EXPECT_EQ(grants_in_use(ctx), 0);
	EXPECT_EQ(region_unregister(ctx, region), 0);
	close(ctx);
}

/* A queue with a poller: no call but those that the test makes to wait. */
TEST_F_TIMEOUT(grant, queue_poller, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	char *mine = pages(SIZE);
	struct rdmachan_cqe cqe;
	size_t each = 5000;
	int i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 64, 64, 1000), 0);
	fill_random(self->memory, SIZE, 1);
	for (i = 0; i < 40; i++)
		queue_read(&q, self->holder, grant, i * each, mine + i * each, each, i);
	ASSERT_EQ(queue_poke(&q), 0);
	for (i = 0; i < 40; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, (int64_t)each);
	}
	EXPECT_TRUE(is_random(mine, 40 * each / 8 * 8, 1));
	queue_close(&q);
}

TEST_HARNESS_MAIN
