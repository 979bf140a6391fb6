// SPDX-License-Identifier: GPL-2.0
/*
 * fault_grant_test.c - the same as fault_test.c for grants
 */
#include <sys/ioctl.h>

#include "common.h"
#include "fault_fixture.h"
#include "grant.h"
#include "grant_ring.h"
#include "region.h"

static struct queue queue;
static char *from, *to;
static int64_t to_region;

/*
 * Grants: from the end a to the end b
 */

static struct rdmachan_grant_range lent;

static void lent_begin(struct fixture_fault *self)
{
	from = region_memory();
	to = region_memory();
	lent = RANGE(region_register(self->ctx, from, REGION, 0, NULL), MAY_ALL, 0, REGION);
}

static long call_grant(struct fixture_fault *self)
{
	return grant_ranges(self->a, self->ctx, &lent, 1);
}

/* Either it was given, and the other end has it, or there is nothing. */
static void judge_grant(struct fixture_fault *self, long ret)
{
	if (ret < 0) {
		EXPECT_EQ(grants_in_use(self->ctx), 0);
		EXPECT_ERR(grant_recv(self->b, to, 100, NULL, DONTWAIT), EAGAIN);
		return;
	}
	EXPECT_TRUE(grant_held(self->b, lent.out_grant));
	EXPECT_EQ(grant_read(self->b, lent.out_grant, 0, to, REGION), 0);
	EXPECT_EQ(grant_release(self->b, lent.out_grant), 0);
	EXPECT_TRUE(grant_returned(self->a, lent.out_grant, 0));
}

TEST_F(fault, grant)
{
	lent_begin(self);
	sweep(self, NULL, call_grant, judge_grant);
}

static void prepare_held(struct fixture_fault *self)
{
	ASSERT_EQ(call_grant(self), 0);
	ASSERT_TRUE(grant_held(self->b, lent.out_grant));
}

static long call_revoke(struct fixture_fault *self)
{
	return grant_revoke(self->a, lent.out_grant, NULL);
}

/* A failed call has perhaps begun. */
static void judge_revoke(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_EQ(call_revoke(self), 0);
	EXPECT_TRUE(grant_returned(self->a, lent.out_grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_ERR(grant_read(self->b, lent.out_grant, 0, to, 8), EKEYREVOKED);
}

TEST_F(fault, revoke)
{
	lent_begin(self);
	sweep(self, prepare_held, call_revoke, judge_revoke);
}

static long call_release(struct fixture_fault *self)
{
	return grant_release(self->b, lent.out_grant);
}

static void judge_release(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_EQ(call_release(self), 0);
	EXPECT_TRUE(grant_returned(self->a, lent.out_grant, 0));
}

TEST_F(fault, release)
{
	lent_begin(self);
	sweep(self, prepare_held, call_release, judge_release);
}

static long call_unregister_lent(struct fixture_fault *self)
{
	struct rdmachan_region_unregister_args unreg = {
		.size = sizeof(unreg), .region = lent.region,
		.flags = RDMACHAN_UNREGISTER_F_REVOKE,
	};

	return ioctl(self->ctx, RDMACHAN_REGION_UNREGISTER, &unreg);
}

static void prepare_unregister_lent(struct fixture_fault *self)
{
	lent.region = region_register(self->ctx, from, REGION, 0, NULL);
	prepare_held(self);
}

static void judge_unregister_lent(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_EQ(call_unregister_lent(self), 0);
	EXPECT_EQ(pinned_bytes(), 0);
	EXPECT_TRUE(grant_returned(self->a, lent.out_grant, RDMACHAN_CAUSE_SHUTDOWN));
}

TEST_F(fault, unregister_lent)
{
	lent_begin(self);
	EXPECT_EQ(region_unregister(self->ctx, lent.region), 0);
	sweep(self, prepare_unregister_lent, call_unregister_lent, judge_unregister_lent);
}

static void prepare_access(struct fixture_fault *self)
{
	fill_random(from, self->length, self->seed);
	fill_random(to, self->length, self->seed + 1);
}

static long call_read_lent(struct fixture_fault *self)
{
	return grant_read(self->b, lent.out_grant, 0, to, self->length);
}

static void judge_read_lent(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_EQ(call_read_lent(self), 0);
	EXPECT_TRUE(is_random(to, self->length, self->seed));
	EXPECT_TRUE(is_random(from, self->length, self->seed));
}

static long call_write_lent(struct fixture_fault *self)
{
	return grant_write(self->b, lent.out_grant, 0, to, self->length);
}

static void judge_write_lent(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_EQ(call_write_lent(self), 0);
	EXPECT_TRUE(is_random(from, self->length, self->seed + 1));
}

static const size_t access_lengths[] = { 64, 5000, REGION };

static void sweep_access(struct fixture_fault *self, long (*call)(struct fixture_fault *self),
			 void (*judge)(struct fixture_fault *self, long ret))
{
	size_t i;

	lent_begin(self);
	prepare_held(self);
	for (i = 0; i < sizeof(access_lengths) / sizeof(*access_lengths); i++) {
		self->length = access_lengths[i];
		sweep(self, prepare_access, call, judge);
	}
}

TEST_F(fault, read_lent)
{
	sweep_access(self, call_read_lent, judge_read_lent);
}

TEST_F(fault, write_lent)
{
	sweep_access(self, call_write_lent, judge_write_lent);
}

static long call_add(struct fixture_fault *self)
{
	return grant_add(self->b, lent.out_grant, 0, 1, NULL);
}

/* That the result could not be told comes after it was done. */
static void judge_add(struct fixture_fault *self, long ret)
{
	uint64_t before, now;
	bool may_be_done = ret < 0 && errno == EFAULT;

	fill_random(&before, sizeof(before), self->seed);
	memcpy(&now, from, sizeof(now));
	EXPECT_TRUE(now == before + (ret == 0) || (may_be_done && now == before + 1));
}

TEST_F(fault, atomic)
{
	lent_begin(self);
	prepare_held(self);
	self->length = sizeof(uint64_t);
	sweep(self, prepare_access, call_add, judge_add);
}

/* The same by a queue, from and to plain memory and a region. */
static void add_access(struct fixture_fault *self, int number)
{
	bool read = number / 2;
	struct rdmachan_sqe *sqe;

	sqe = queue_access(&queue, read ? RDMACHAN_OPCODE_READ : RDMACHAN_OPCODE_WRITE, self->b,
			   lent.out_grant, 0, to, self->length, number);
	if (number % 2)
		in_region(sqe, to_region, 0);
	/* Each behind the one before. */
	sqe->flags |= RDMACHAN_SQE_F_FENCE;
}

static void prepare_accesses(struct fixture_fault *self)
{
	int i;

	prepare_access(self);
	for (i = 0; i < 4; i++)
		add_access(self, i);
}

static long call_accesses(struct fixture_fault *self)
{
	(void)self;
	return queue_enter(&queue, 4, 0, 0);
}

/* A call that has failed for want of memory has changed nothing, or goes again. */
static void judge_accesses(struct fixture_fault *self, long ret)
{
	struct rdmachan_cqe cqe;
	int done = 0;

	if (ret < 4)
		ASSERT_EQ(queue_submit(&queue), ret < 0 ? 4 : 4 - ret);
	while (done < 4) {
		ASSERT_TRUE(queue_wait(&queue, &cqe));
		if (cqe.res == (int64_t)self->length) {
			done++;
			continue;
		}
		ASSERT_EQ(cqe.res, -ENOMEM);
		add_access(self, cqe.user_data);
		ASSERT_EQ(queue_submit(&queue), 1);
	}
	EXPECT_EQ(memcmp(from, to, self->length), 0);
}

TEST_F_TIMEOUT(fault, accesses, 300)
{
	size_t i;

	lent_begin(self);
	prepare_held(self);
	ASSERT_EQ(queue_open(self->ctx, &queue, 8, 8), 0);
	to_region = region_register(self->ctx, to, REGION, 0, NULL);
	ASSERT_GT(to_region, 0);
	for (i = 0; i < sizeof(access_lengths) / sizeof(*access_lengths); i++) {
		self->length = access_lengths[i];
		sweep(self, prepare_accesses, call_accesses, judge_accesses);
	}
	queue_close(&queue);
}

/*
 * Given and taken back by a queue
 */

static struct rdmachan_grant_args giving;

/* Submitted entries complete. Return: how */
static int64_t complete_one(long ret)
{
	struct rdmachan_cqe cqe;

	if (ret < 1)
		ASSERT_EQ(queue_submit(&queue), 1);
	ASSERT_TRUE(queue_wait(&queue, &cqe));
	EXPECT_TRUE(cqe.res >= 0 || cqe.res == -ENOMEM || cqe.res == -EFAULT);
	return cqe.res;
}

static long call_one(struct fixture_fault *self)
{
	(void)self;
	return queue_enter(&queue, 1, 0, 0);
}

static void prepare_give(struct fixture_fault *self)
{
	grant_fill(&giving, self->ctx, &lent, 1, NULL);
	queue_add(&queue, RDMACHAN_OPCODE_GRANT, self->a, 1)->addr = (uintptr_t)&giving;
}

static void judge_give(struct fixture_fault *self, long ret)
{
	judge_grant(self, complete_one(ret));
}

TEST_F(fault, queue_grant)
{
	lent_begin(self);
	ASSERT_EQ(queue_open(self->ctx, &queue, 8, 8), 0);
	sweep(self, prepare_give, call_one, judge_give);
	queue_close(&queue);
}

static void prepare_take(struct fixture_fault *self)
{
	prepare_held(self);
	queue_add(&queue, RDMACHAN_OPCODE_REVOKE, self->a, 1)->grant = lent.out_grant;
}

static void judge_take(struct fixture_fault *self, long ret)
{
	judge_revoke(self, complete_one(ret));
}

TEST_F(fault, queue_revoke)
{
	lent_begin(self);
	ASSERT_EQ(queue_open(self->ctx, &queue, 8, 8), 0);
	sweep(self, prepare_take, call_one, judge_take);
	queue_close(&queue);
}

/*
 * A message goes with a WRITE: it comes only behind all of the bytes
 */

static void judge_notified(struct fixture_fault *self, long ret)
{
	struct rdmachan_recv_args recv;
	char word[8];

	if (ret < 0) {
		EXPECT_ERR(do_recv(self->a, word, sizeof(word), NULL, DONTWAIT), EAGAIN);
		return;
	}
	ASSERT_EQ(do_recv(self->a, word, sizeof(word), &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_msg_flags, 7);
	EXPECT_EQ(memcmp(from, to, self->length), 0);
}

static long call_notify(struct fixture_fault *self)
{
	struct iovec iov = { "word", 4 };
	struct rdmachan_access_args access = {
		.size = sizeof(access), .flags = RDMACHAN_WRITE_F_NOTIFY, .msg_flags = 7,
		.grant = lent.out_grant, .addr = (uintptr_t)to, .length = self->length,
		.iov_ptr = (uintptr_t)&iov, .iov_count = 1,
	};

	return ioctl(self->b, RDMACHAN_WRITE, &access);
}

TEST_F(fault, notify)
{
	sweep_access(self, call_notify, judge_notified);
}

static void prepare_notify(struct fixture_fault *self)
{
	struct rdmachan_sqe *sqe;

	prepare_access(self);
	sqe = queue_write(&queue, self->b, lent.out_grant, 0, to, self->length, 1);
	sqe->op_flags = RDMACHAN_WRITE_F_NOTIFY;
	sqe->msg_flags = 7;
}

static void judge_notify(struct fixture_fault *self, long ret)
{
	judge_notified(self, complete_one(ret));
}

TEST_F(fault, queue_notify)
{
	size_t i;

	lent_begin(self);
	prepare_held(self);
	ASSERT_EQ(queue_open(self->ctx, &queue, 8, 8), 0);
	for (i = 0; i < sizeof(access_lengths) / sizeof(*access_lengths); i++) {
		self->length = access_lengths[i];
		sweep(self, prepare_notify, call_one, judge_notify);
	}
	queue_close(&queue);
}

TEST_HARNESS_MAIN
