// SPDX-License-Identifier: GPL-2.0
/*
 * lib_queue_grant_test.c - operations on lent memory, by the functions of the library
 */
#include "grant.h"
#include "lib_queue.h"

#define LARGE 262144UL
#define MINE 0x123456789abcdef0ULL

FIXTURE(lent)
{
	int ctx;
	int owner;
	int holder;
	char *memory;
	uint32_t region;
	uint32_t grant;
	struct rdmachan_queue *q;
};

FIXTURE_SETUP(lent)
{
	struct rdmachan_grant_range range;
	struct grant_message message;
	struct iovec iov = { "yours", 5 };
	struct rdmachan_recv_args recv;
	struct rdmachan_room room;
	int fds[2];

	self->ctx = open_ctx();
	pair_up(self->ctx, fds, NULL);
	self->owner = fds[0];
	self->holder = fds[1];
	self->memory = pages(LARGE);
	self->region = region_of(self->ctx, self->memory, LARGE, 0);
	self->q = rdmachan_queue_open(self->ctx, ENTRIES, DONE, NULL);
	ASSERT_TRUE(self->q);
	range = RANGE(self->region, MAY_ALL, PAGE, LARGE - PAGE);
	rdmachan_queue_prep_grant_lend(entry(self->q, MINE), &room, self->owner, self->ctx, &range,
				       1, &iov, 1, 55);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_DONE(self->q, MINE, 0);
	self->grant = range.out_grant;
	ASSERT_GT(self->grant, 0);
	ASSERT_EQ(grant_recv(self->holder, &message, sizeof(message), &recv, TIMEOUT(10000)), 0);
	ASSERT_EQ(recv.out_length, sizeof(*message.events) + 5);
	EXPECT_EQ(recv.out_msg_flags, 55);
	EXPECT_EQ(message.events->what, RDMACHAN_GRANT_GIVEN);
	EXPECT_EQ(message.events->grant, self->grant);
	EXPECT_EQ(message.events->length, LARGE - PAGE);
	EXPECT_EQ(memcmp(message.events + 1, "yours", 5), 0);
	memset(self->memory, 0x33, LARGE);
}

FIXTURE_TEARDOWN(lent)
{
	rdmachan_queue_close(self->q);
	close(self->owner);
	close(self->holder);
	close(self->ctx);
}

/* With iWARP a WRITE is done when it is sent; what it wrote is there with the next message. */
static void await_written(struct fixture_lent *self)
{
	const char *device = getenv("LAB_RDMA");
	char back[8];

	if (!device || strncmp(device, "siw", 3))
		return;
	ASSERT_EQ(write(self->holder, "written", 7), 7);
	ASSERT_EQ(read(self->owner, back, sizeof(back)), 7);
}

TEST_F(lent, read_and_write)
{
	char *lent = self->memory + PAGE, mine[5002];

	memset(mine, 0x44, sizeof(mine));
	fill_random(mine + 1, 5000, 1);
	rdmachan_queue_prep_grant_write(entry(self->q, MINE), self->holder, self->grant, 100,
					mine + 1, 5000);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_DONE(self->q, MINE, 5000);
	await_written(self);
	EXPECT_TRUE(is_random(lent + 100, 5000, 1));
	EXPECT_TRUE(is_all(self->memory, PAGE + 100, 0x33));
	EXPECT_TRUE(is_all(lent + 5100, LARGE - PAGE - 5100, 0x33));
	fill_random(lent + 700, 5000, 2);
	rdmachan_queue_prep_grant_read(entry(self->q, MINE), self->holder, self->grant, 700,
				       mine + 1, 5000);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_DONE(self->q, MINE, 5000);
	EXPECT_TRUE(is_random(mine + 1, 5000, 2));
	EXPECT_EQ(mine[0], 0x44);
	EXPECT_EQ(mine[5001], 0x44);
	rdmachan_queue_prep_grant_read(entry(self->q, 1), self->holder, self->grant,
				       LARGE - PAGE - 1, mine, 2);
	EXPECT_EQ(alone(self->q), -ERANGE);
}

TEST_F(lent, read_and_write_of_a_region)
{
	char *lent = self->memory + PAGE, *mine = pages(2 * PAGE);
	uint32_t own = region_of(self->ctx, mine, 2 * PAGE, 0);
	struct rdmachan_sqe *sqe;

	memset(mine, 0x44, 2 * PAGE);
	fill_random(mine + 64, PAGE, 3);
	sqe = entry(self->q, 1);
	rdmachan_queue_prep_grant_write(sqe, self->holder, self->grant, 8, NULL, PAGE);
	rdmachan_sqe_set_own_region(sqe, own, 64);
	EXPECT_EQ(alone(self->q), (int64_t)PAGE);
	await_written(self);
	EXPECT_TRUE(is_random(lent + 8, PAGE, 3));
	EXPECT_TRUE(is_all(lent + 8 + PAGE, PAGE, 0x33));
	fill_random(lent, PAGE, 4);
	sqe = entry(self->q, 1);
	rdmachan_queue_prep_grant_read(sqe, self->holder, self->grant, 0, NULL, PAGE);
	rdmachan_sqe_set_own_region(sqe, own, 128);
	EXPECT_EQ(alone(self->q), (int64_t)PAGE);
	EXPECT_TRUE(is_random(mine + 128, PAGE, 4));
	EXPECT_TRUE(is_all(mine, 64, 0x44));
	EXPECT_TRUE(is_all(mine + 128 + PAGE, PAGE - 128, 0x44));
	EXPECT_EQ(rdmachan_region_unregister(self->ctx, own, NULL), 0);
}

/* The owner has an empty message when the bytes are there. */
TEST_F(lent, notice)
{
	struct rdmachan_sqe *sqe = entry(self->q, 1);
	struct rdmachan_recv_args recv;
	char mine[500], back[8];

	fill_random(mine, sizeof(mine), 5);
	rdmachan_queue_prep_grant_write(sqe, self->holder, self->grant, 0, mine, sizeof(mine));
	rdmachan_sqe_set_notify(sqe, 0xbeef);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	ASSERT_EQ(do_recv(self->owner, back, sizeof(back), &recv, TIMEOUT(10000)), 0);
	EXPECT_TRUE(is_random(self->memory + PAGE, sizeof(mine), 5));
	EXPECT_EQ(recv.out_length, 0);
	EXPECT_EQ(recv.out_msg_flags, 0xbeef);
	EXPECT_EQ(recv.out_flags & RDMACHAN_RECV_OUT_EOF, 0);
	EXPECT_DONE(self->q, 1, sizeof(mine));
}

/* Numbers of which both halves count. */
TEST_F(lent, atomics)
{
	const uint64_t first = 0xfedcba98fffffff0ULL, second = first + 0x100000020ULL;
	uint64_t *number = (uint64_t *)(self->memory + PAGE + 8);
	struct rdmachan_cqe cqe;

	*number = first;
	rdmachan_queue_prep_grant_fetch_add(entry(self->q, 1), self->holder, self->grant, 8,
					    0x100000020ULL);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(rdmachan_cqe_value(&cqe), first);
	EXPECT_EQ(*number, second);
	rdmachan_queue_prep_grant_compare_swap(entry(self->q, 2), self->holder, self->grant, 8,
					       first, 5);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(rdmachan_cqe_value(&cqe), second);
	EXPECT_EQ(*number, second);
	rdmachan_queue_prep_grant_compare_swap(entry(self->q, 3), self->holder, self->grant, 8,
					       second, MINE);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(rdmachan_cqe_value(&cqe), second);
	EXPECT_EQ(*number, MINE);
	rdmachan_queue_prep_grant_fetch_add(entry(self->q, 4), self->holder, self->grant, 4, 1);
	EXPECT_EQ(alone(self->q), -EINVAL);
}

/* Two grants, and a message. */
static void give_two(struct fixture_lent *self)
{
	struct rdmachan_grant_range ranges[2] = {
		RANGE(self->region, MAY_READ, 0, 8), RANGE(self->region, MAY_READ, 8, 16),
	};

	ranges[1].cookie = MINE;
	ASSERT_EQ(grant_send(self->owner, self->ctx, ranges, 2, "two", 3, NULL), 0);
}

static void expect_two(const struct rdmachan_cqe *cqe, void *buffer)
{
	struct rdmachan_events events;

	ASSERT_EQ(cqe->res, (int64_t)(2 * sizeof(*events.events) + 3));
	ASSERT_EQ(rdmachan_cqe_events(cqe, buffer, &events), 0);
	ASSERT_EQ(events.count, 2);
	EXPECT_EQ(events.events[0].length, 8);
	EXPECT_EQ(events.events[1].length, 16);
	EXPECT_EQ(events.events[1].cookie, MINE);
	ASSERT_EQ(events.length, 3);
	EXPECT_EQ(memcmp(events.message, "two", 3), 0);
}

static void expect_plain(const struct rdmachan_cqe *cqe, void *buffer)
{
	struct rdmachan_events events;

	ASSERT_EQ(rdmachan_cqe_events(cqe, buffer, &events), 0);
	EXPECT_EQ(events.count, 0);
	ASSERT_EQ(events.length, 5);
	EXPECT_EQ(memcmp(events.message, "plain", 5), 0);
}

TEST_F(lent, events)
{
	uint64_t room[SIZE / 8];
	struct rdmachan_sqe *sqe;
	struct rdmachan_cqe cqe;

	give_two(self);
	rdmachan_queue_prep_recv(entry(self->q, 1), self->holder, room, sizeof(room));
	EXPECT_EQ(alone(self->q), -ENOMSG);
	ASSERT_EQ(write(self->owner, "plain", 5), 5);
	sqe = entry(self->q, 2);
	rdmachan_queue_prep_recv(sqe, self->holder, room, sizeof(room));
	sqe->op_flags |= RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	expect_two(&cqe, room);
	sqe = entry(self->q, 3);
	rdmachan_queue_prep_recv(sqe, self->holder, room, sizeof(room));
	sqe->op_flags |= RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	expect_plain(&cqe, room);
}

TEST_F(lent, events_into_a_pool)
{
	struct rdmachan_pool *pool = rdmachan_pool_open(self->q, 2, NULL);
	uint64_t room[2][SIZE / 8];
	struct rdmachan_sqe *sqe;
	struct rdmachan_cqe cqe;
	int i;

	ASSERT_TRUE(pool);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(rdmachan_pool_add(pool, room[i], SIZE, i), 0);
	give_two(self);
	ASSERT_EQ(write(self->owner, "plain", 5), 5);
	rdmachan_queue_prep_recv_pool(entry(self->q, 1), self->holder, pool);
	EXPECT_EQ(alone(self->q), -ENOMSG);
	sqe = entry(self->q, 2);
	rdmachan_queue_prep_recv_pool(sqe, self->holder, pool);
	sqe->op_flags |= RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	expect_two(&cqe, room[cqe.buffer]);
	next(self->q, &cqe);
	expect_plain(&cqe, room[cqe.buffer]);
	rdmachan_pool_close(pool);
}

TEST_F(lent, release)
{
	rdmachan_queue_prep_grant_release(entry(self->q, 1), self->holder, self->grant);
	EXPECT_EQ(alone(self->q), 0);
	EXPECT_TRUE(grant_returned(self->owner, self->grant, 0));
	rdmachan_queue_prep_grant_release(entry(self->q, 1), self->holder, self->grant);
	EXPECT_EQ(alone(self->q), -EKEYREVOKED);
	EXPECT_EQ(rdmachan_region_unregister(self->ctx, self->region, NULL), 0);
}

TEST_F(lent, revoke)
{
	char mine[8];

	EXPECT_ERR(rdmachan_region_unregister(self->ctx, self->region, NULL), EBUSY);
	rdmachan_queue_prep_grant_revoke(entry(self->q, 1), self->owner, self->grant);
	EXPECT_EQ(alone(self->q), 0);
	EXPECT_EQ(rdmachan_region_unregister(self->ctx, self->region, NULL), 0);
	rdmachan_queue_prep_grant_read(entry(self->q, 1), self->holder, self->grant, 0, mine, 8);
	EXPECT_EQ(alone(self->q), -EKEYREVOKED);
}

TEST_F(lent, take_back)
{
	char mine[8];

	EXPECT_EQ(rdmachan_region_take_back(self->ctx, self->region, NULL), 0);
	EXPECT_ERR(rdmachan_region_unregister(self->ctx, self->region, NULL), ENOENT);
	rdmachan_queue_prep_grant_read(entry(self->q, 1), self->holder, self->grant, 0, mine, 8);
	EXPECT_EQ(alone(self->q), -EKEYREVOKED);
}

TEST_HARNESS_MAIN
