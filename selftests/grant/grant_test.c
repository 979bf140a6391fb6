// SPDX-License-Identifier: GPL-2.0
/*
 * grant_test.c - grants: their events, and their use
 *
 * The bytes are looked at in grant_data_test.c. How grants end is in grant_return_test.c,
 * and with much going on in grant_end_test.c.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common.h"
#include "grant_fixture.h"
#include "harness.h"

#define READ_ONLY RDMACHAN_REGION_F_READ_ONLY
#define NOWHERE 0x1000UL

static bool by_device(uint32_t rights)
{
	return rights & RDMACHAN_RIGHT_BY_DEVICE;
}

/*
 * The event
 */

TEST_F(grant, event)
{
	static const uint64_t lens[] = { 1, 8, PAGE, 2 * MIB, SIZE };
	struct rdmachan_grant_event event;
	struct rdmachan_grant_range range;
	size_t i;

	for (i = 0; i < COUNT(lens); i++) {
		range = RANGE(self->region, MAY_READ, SIZE - lens[i], lens[i]);
		range.cookie = ~0ULL - i;
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
		ASSERT_TRUE(grant_next(self->holder, &event));
		EXPECT_EQ(event.grant, range.out_grant);
		EXPECT_EQ(event.what, RDMACHAN_GRANT_GIVEN);
		EXPECT_EQ(event.length, lens[i]);
		EXPECT_EQ(event.cookie, ~0ULL - i);
		EXPECT_EQ(event.rights, MAY_READ);
		EXPECT_EQ(event.cause, 0);
	}
	/* The last takes two memory regions or more, and a held one counts once. */
	EXPECT_GT(grants_in_use(self->ctx), self->count + 2 * COUNT(lens));
}

/* The side that does atomic operations is told, and only of grants that have the right. */
TEST_F(grant, rights_are_told)
{
	struct rdmachan_grant_event event;
	struct rdmachan_object object;
	uint32_t rights, device = 0, kernel = 0;

	for (rights = 1; rights <= MAY_ALL; rights++) {
		ASSERT_GT(grant_range(self->owner, self->ctx,
				      &RANGE(self->region, rights, 0, 8)), 0);
		ASSERT_TRUE(grant_next(self->holder, &event));
		EXPECT_EQ(event.rights & ~RDMACHAN_RIGHT_BY_DEVICE, rights);
		if (rights & MAY_ATOMIC)
			*(by_device(event.rights) ? &device : &kernel) += 1;
		else
			EXPECT_TRUE(!by_device(event.rights));
	}
	EXPECT_EQ(device + kernel, 4);
	ASSERT_EQ(get_object(self->owner, &object), 0);
	EXPECT_EQ(object.rights, device ? RDMACHAN_RIGHT_BY_DEVICE : 0);
	EXPECT_TRUE(!device || !kernel);
	if (getenv("LAB_RDMA"))
		EXPECT_EQ(!device, over_iwarp());
}

static void expect_message(int chan, const char *text, bool with_event)
{
	struct { struct rdmachan_grant_event event; char text[32]; } both;
	struct rdmachan_recv_args recv;
	size_t before = with_event ? EVENT : 0;

	ASSERT_EQ(grant_recv(chan, &both, sizeof(both), &recv, TIMEOUT(20000)), 0);
	EXPECT_EQ(recv.out_flags, with_event ? RDMACHAN_RECV_OUT_GRANTS : 0);
	EXPECT_EQ(recv.out_length, before + strlen(text));
	EXPECT_EQ(memcmp((char *)&both + before, text, strlen(text)), 0);
	if (with_event)
		EXPECT_EQ(both.event.count, 1);
}

TEST_F(grant, in_order)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 10);
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(write(self->owner, "before", 6), 6);
		ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "with", 4, NULL), 0);
		ASSERT_EQ(write(self->owner, "between", 7), 7);
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
		ASSERT_EQ(write(self->owner, NULL, 0), 0);
		ASSERT_EQ(write(self->owner, "after", 5), 5);
	}
	for (i = 0; i < 10; i++) {
		expect_message(self->holder, "before", false);
		expect_message(self->holder, "with", true);
		expect_message(self->holder, "between", false);
		expect_message(self->holder, "", true);
		expect_message(self->holder, "", false);
		expect_message(self->holder, "after", false);
	}
	/* And the other way. */
	ASSERT_EQ(grant_ranges(self->holder, self->ctx, &range, 1), 0);
	expect_message(self->owner, "", true);
	EXPECT_EQ(grant_write(self->owner, range.out_grant, 0, "x", 0), -1);
	EXPECT_EQ(grant_read(self->owner, range.out_grant, 0, "x", 0), 0);
}

TEST_F(grant, message_behind_the_events)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 10);
	struct grant_message got;
	struct rdmachan_recv_args recv;
	struct rdmachan_grant_args grant;
	struct iovec iov[3];
	char data[256];
	size_t len;

	fill_random(data, sizeof(data), 1);
	for (len = 0; len <= sizeof(data); len += 64) {
		grant_fill(&grant, self->ctx, &range, 1, NULL);
		iov[0] = (struct iovec){ data, len / 2 };
		iov[1] = (struct iovec){ NULL, 0 };
		iov[2] = (struct iovec){ data + len / 2, len - len / 2 };
		grant.iov_ptr = (uintptr_t)iov;
		grant.iov_count = 3;
		grant.msg_flags = len;
		ASSERT_EQ(ioctl(self->owner, RDMACHAN_GRANT, &grant), 0);
		ASSERT_EQ(grant_recv(self->holder, &got, sizeof(got), &recv, NULL), 0);
		EXPECT_EQ(recv.out_length, EVENT + len);
		EXPECT_EQ(recv.out_msg_flags, len);
		EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_GRANTS);
		EXPECT_EQ(memcmp(&got.events[1], data, len), 0);
	}
}

TEST_F(grant, several_in_one)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	struct grant_message got;
	struct rdmachan_recv_args recv;
	uint32_t count, i;

	for (count = 1; count <= RDMACHAN_GRANTS_MAX; count++) {
		for (i = 0; i < count; i++) {
			ranges[i] = RANGE(self->region, 1 + i % MAY_ALL, i * 8, 8 + i);
			ranges[i].cookie = count * 100 + i;
		}
		ASSERT_EQ(grant_send(self->owner, self->ctx, ranges, count, "end", 3, NULL), 0);
		ASSERT_EQ(grant_recv(self->holder, &got, sizeof(got), &recv, NULL), 0);
		ASSERT_EQ(recv.out_length, count * EVENT + 3);
		for (i = 0; i < count; i++) {
			EXPECT_EQ(got.events[i].count, count);
			EXPECT_EQ(got.events[i].grant, ranges[i].out_grant);
			EXPECT_EQ(got.events[i].cookie, count * 100 + i);
			EXPECT_EQ(got.events[i].length, 8 + i);
			EXPECT_EQ(got.events[i].rights & MAY_ALL, 1 + i % MAY_ALL);
		}
		EXPECT_EQ(memcmp(&got.events[count], "end", 3), 0);
		for (i = 0; i < count; i++)
			EXPECT_EQ(grant_release(self->holder, ranges[i].out_grant), 0);
		for (i = 0; i < count; i++)
			EXPECT_TRUE(grant_returned(self->owner, ranges[i].out_grant, 0));
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* Either all are given, or none. */
TEST_F(grant, all_or_none)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	uint32_t bad, i;
	char c;

	for (bad = 0; bad < RDMACHAN_GRANTS_MAX; bad++) {
		for (i = 0; i < RDMACHAN_GRANTS_MAX; i++)
			ranges[i] = RANGE(self->region, MAY_READ, i == bad ? SIZE : 0, 1);
		EXPECT_ERR(grant_ranges(self->owner, self->ctx, ranges, RDMACHAN_GRANTS_MAX),
			   ERANGE);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_ERR(grant_recv(self->holder, &c, 1, NULL, DONTWAIT), EAGAIN);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

/* For a program that does not know grants the message stays; it has those before. */
TEST_F(grant, unknown_to_the_program)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 10);
	struct rdmachan_recv_args recv;
	char back[64];
	int i;

	ASSERT_EQ(write(self->owner, "plain", 5), 5);
	ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "with", 4, NULL), 0);
	ASSERT_EQ(write(self->owner, "last", 4), 4);
	EXPECT_EQ(read(self->holder, back, sizeof(back)), 5);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(wait_readable(self->holder, 10000));
		EXPECT_ERR(read(self->holder, back, sizeof(back)), ENOMSG);
		EXPECT_ERR(read(self->holder, back, 1), ENOMSG);
		EXPECT_ERR(do_recv(self->holder, back, sizeof(back), &recv, NULL), ENOMSG);
		EXPECT_ERR(do_recv(self->holder, back, 1, &recv, DONTWAIT), ENOMSG);
		EXPECT_ERR(do_recv(self->holder, back, 64, &recv, TIMEOUT(1000)), ENOMSG);
	}
	expect_message(self->holder, "with", true);
	EXPECT_EQ(read(self->holder, back, sizeof(back)), 4);
}

/* A program that waits for its revocation finds the event all the same, and others do not. */
TEST_F(grant, revoke_leaves_an_event)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 10);
	int64_t grant = grant_range(self->owner, self->ctx, &range);
	char back[64];

	ASSERT_GT(grant, 0);
	ASSERT_TRUE(grant_held(self->holder, grant));
	ASSERT_EQ(write(self->holder, "before", 6), 6);
	ASSERT_TRUE(wait_readable(self->owner, 10000));
	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	ASSERT_EQ(write(self->holder, "behind", 6), 6);
	EXPECT_EQ(read(self->owner, back, sizeof(back)), 6);
	EXPECT_EQ(poll_mask(self->owner, POLLIN, 10000), POLLIN);
	EXPECT_ERR(read(self->owner, back, sizeof(back)), ENOMSG);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_EQ(read(self->owner, back, sizeof(back)), 6);
}

/* From a region of the child that does it, as the fixture's is the parent's. */
static void lend_later(struct fixture_grant *self)
{
	struct rdmachan_grant_range range = RANGE(0, MAY_READ, 0, 5);

	range.region = region_of(self->ctx, self->memory, 5);
	_exit(grant_ranges(self->owner, self->ctx, &range, 1) ? 1 : 0);
}

/* A call that waits is told as well, when it comes. */
TEST_F(grant, unknown_to_who_waits)
{
	char back[64];
	pid_t child = LATER(100, lend_later(self));

	EXPECT_ERR(read(self->holder, back, sizeof(back)), ENOMSG);
	EXPECT_EQ(child_status(child), 0);
	expect_message(self->holder, "", true);
}

/* Operations of a queue are such calls; an operation behind it waits. */
TEST_F(grant, unknown_to_a_queue)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 10);
	char back[16], buffers[4][16];
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	ASSERT_EQ(pool_open(&q, &pool, 4), 0);
	for (i = 0; i < 4; i++)
		pool_put(&pool, buffers[i], 16, i);
	queue_recv(&q, self->holder, back, sizeof(back), 1);
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "with", 4, NULL), 0);
	EXPECT_CQE(&q, 1, -ENOMSG);
	queue_recv(&q, self->holder, back, 1, 2);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_CQE(&q, 2, -ENOMSG);
	expect_message(self->holder, "with", true);
	ASSERT_EQ(write(self->owner, "one", 3), 3);
	ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "with", 4, NULL), 0);
	ASSERT_EQ(write(self->owner, "two", 3), 3);
	queue_recv_many(&q, self->holder, pool.id, 3);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_CQE(&q, 3, 3);
	/* The last completion of it tells why it has ended. */
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.res, -ENOMSG);
	EXPECT_EQ(pool_left(&pool), 3);
	expect_message(self->holder, "with", true);
	expect_message(self->holder, "two", false);
	pool_close(&pool);
	queue_close(&q);
}

TEST_F(grant, too_small)
{
	struct rdmachan_grant_range ranges[2] = {
		RANGE(self->region, MAY_READ, 0, 10), RANGE(self->region, MAY_READ, 10, 10),
	};
	const size_t need = 2 * EVENT + 5, sizes[] = { 0, 1, EVENT, 2 * EVENT, need - 1 };
	struct grant_message got;
	struct rdmachan_recv_args recv;
	size_t i;

	ASSERT_EQ(grant_send(self->owner, self->ctx, ranges, 2, "hello", 5, NULL), 0);
	for (i = 0; i < COUNT(sizes); i++) {
		EXPECT_ERR(grant_recv(self->holder, &got, sizes[i], &recv, NULL), EMSGSIZE);
		EXPECT_EQ(recv.out_length, need);
	}
	EXPECT_EQ(grant_recv(self->holder, &got, need, &recv, NULL), 0);
	EXPECT_EQ(recv.out_length, need);
	EXPECT_EQ(got.events[1].grant, ranges[1].out_grant);
}

/* A vector that divides events. */
TEST_F(grant, scattered)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 77);
	struct rdmachan_recv_args recv = { .size = sizeof(recv), .flags = RDMACHAN_IO_F_GRANTS };
	struct grant_message got;
	struct iovec iov[EVENT + 5];
	size_t i;

	for (i = 0; i < COUNT(iov); i++)
		iov[i] = (struct iovec){ (char *)&got + i, 1 };
	recv.iov_ptr = (uintptr_t)iov;
	recv.iov_count = COUNT(iov);
	ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "hello", 5, NULL), 0);
	ASSERT_EQ(ioctl(self->holder, RDMACHAN_RECV, &recv), 0);
	EXPECT_EQ(got.events[0].length, 77);
	EXPECT_EQ(memcmp(&got.events[1], "hello", 5), 0);
}

TEST_F(grant, nowhere_to_put_the_event)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 77);

	ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "hello", 5, NULL), 0);
	EXPECT_ERR(grant_recv(self->holder, (void *)NOWHERE, 100, NULL, NULL), EFAULT);
	expect_message(self->holder, "hello", true);
}

TEST_F(grant, poll_and_fionread)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 77);
	int bytes = -1;

	EXPECT_EQ(poll_mask(self->holder, POLLIN, 0), 0);
	ASSERT_EQ(grant_send(self->owner, self->ctx, &range, 1, "hello", 5, NULL), 0);
	EXPECT_EQ(poll_mask(self->holder, POLLIN, 10000), POLLIN);
	EXPECT_EQ(ioctl(self->holder, FIONREAD, &bytes), 0);
	EXPECT_EQ(bytes, EVENT + 5);
	expect_message(self->holder, "hello", true);
	EXPECT_EQ(poll_mask(self->holder, POLLIN, 0), 0);
	EXPECT_EQ(grant_release(self->holder, range.out_grant), 0);
	EXPECT_EQ(poll_mask(self->owner, POLLIN, 10000), POLLIN);
	EXPECT_EQ(ioctl(self->owner, FIONREAD, &bytes), 0);
	EXPECT_EQ(bytes, EVENT);
	EXPECT_TRUE(grant_returned(self->owner, range.out_grant, 0));
	EXPECT_EQ(poll_mask(self->owner, POLLIN, 0), 0);
}

TEST_F(grant, waits_for_the_event)
{
	struct rdmachan_grant_event event;
	int64_t begun;
	pid_t child;

	EXPECT_ERR(grant_recv(self->holder, &event, EVENT, NULL, DONTWAIT), EAGAIN);
	begun = tick_ms();
	EXPECT_ERR(grant_recv(self->holder, &event, EVENT, NULL, TIMEOUT(20)), ETIMEDOUT);
	EXPECT_TOOK(begun, 20, LIMIT_LATE(20));
	child = LATER(100, lend_later(self));
	EXPECT_TRUE(grant_next(self->holder, &event));
	EXPECT_EQ(event.length, 5);
	EXPECT_EQ(child_status(child), 0);
}

/*
 * Memory that can be lent
 */

TEST_F(grant, arguments)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX + 1];
	struct rdmachan_grant_range good = RANGE(self->region, MAY_READ, 0, 1);
	struct rdmachan_grant_args grant;
	size_t i;

	for (i = 0; i < COUNT(ranges); i++)
		ranges[i] = good;
	EXPECT_ERR(grant_ranges(self->owner, self->ctx, ranges, 0), EINVAL);
	EXPECT_ERR(grant_ranges(self->owner, self->ctx, ranges, COUNT(ranges)), EINVAL);
	EXPECT_ERR(grant_ranges(self->owner, self->ctx, ranges, -1U), EINVAL);
	EXPECT_ERR(grant_ranges(self->owner, self->ctx, (void *)NOWHERE, 1), EFAULT);
	EXPECT_ERR(grant_range(self->owner, self->ctx, &RANGE(self->region, 0, 0, 1)), EINVAL);
	EXPECT_ERR(grant_range(self->owner, self->ctx, &RANGE(self->region, MAY_ALL, 0, 0)),
		   EINVAL);
	ranges[0].__reserved = 1;
	EXPECT_ERR(grant_ranges(self->owner, self->ctx, ranges, 1), EINVAL);
	EXPECT_ERR(grant_send(self->owner, self->ctx, &good, 1, (void *)NOWHERE, 5, NULL),
		   EFAULT);
	grant_fill(&grant, self->ctx, &good, 1, NULL);
	grant.iov_count = 1025;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_GRANT, &grant), EINVAL);
	grant_fill(&grant, self->ctx, &good, 1, NULL);
	grant.msg_flags = 0x10000;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_GRANT, &grant), EINVAL);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

/* Rights that cannot be given, each alone and with one that can. */
TEST_F(grant, unknown_rights)
{
	int bit, i;

	for (bit = 3; bit < 32; bit++)
		for (i = 0; i < 2; i++)
			EXPECT_ERR(grant_range(self->owner, self->ctx,
					       &RANGE(self->region, 1U << bit | i, 0, 8)),
				   EOPNOTSUPP);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* An element is of the size that is told: a member not known then is 0. */
TEST_F(grant, size_of_ranges)
{
	struct { struct rdmachan_grant_range range; uint64_t more; } large[3];
	struct rdmachan_grant_args grant;
	int i;

	memset(large, 0, sizeof(large));
	for (i = 0; i < 3; i++)
		large[i].range = RANGE(self->region, MAY_READ, i, 1 + i);
	grant_fill(&grant, self->ctx, &large[0].range, 3, NULL);
	grant.range_size = sizeof(large[0].range) - 1;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_GRANT, &grant), EINVAL);
	grant.range_size = 0;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_GRANT, &grant), EINVAL);
	grant.range_size = sizeof(large[0]);
	EXPECT_EQ(ioctl(self->owner, RDMACHAN_GRANT, &grant), 0);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(grant_revoke(self->owner, large[i].range.out_grant, NULL), 0);
	large[2].more = 1;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_GRANT, &grant), E2BIG);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

TEST_F(grant, bounds_of_the_region)
{
	static const uint64_t bad[][2] = {
		{ SIZE, 1 }, { 0, SIZE + 1 }, { 1, SIZE }, { SIZE - 1, 2 }, { SIZE + 1, 1 },
		{ -1UL, 1 }, { -1UL, 2 }, { 1, -1UL }, { -PAGE, 2 * PAGE }, { 2, -1UL },
		{ 1UL << 32, 1 }, { 0, 1UL << 32 }, { 1UL << 63, 1UL << 63 }, { -1UL, -1UL },
	};
	static const uint64_t good[][2] = {
		{ 0, SIZE }, { SIZE - 1, 1 }, { 0, 1 }, { 1, SIZE - 1 },
	};
	int64_t grant;
	size_t i;

	for (i = 0; i < COUNT(bad); i++)
		EXPECT_ERR(grant_range(self->owner, self->ctx,
				       &RANGE(self->region, MAY_READ, bad[i][0], bad[i][1])),
			   ERANGE);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	for (i = 0; i < COUNT(good); i++) {
		grant = grant_range(self->owner, self->ctx,
				    &RANGE(self->region, MAY_ALL, good[i][0], good[i][1]));
		ASSERT_GT(grant, 0);
		EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	}
}

TEST_F(grant, read_only_region)
{
	int64_t fixed = region_register(self->ctx, self->memory, SIZE, READ_ONLY, NULL);
	uint32_t rights;

	ASSERT_GT(fixed, 0);
	for (rights = 1; rights <= MAY_ALL; rights++) {
		if (rights == MAY_READ)
			EXPECT_GT(grant_range(self->owner, self->ctx,
					      &RANGE(fixed, rights, 0, 8)), 0);
		else
			EXPECT_ERR(grant_range(self->owner, self->ctx,
					       &RANGE(fixed, rights, 0, 8)), EACCES);
	}
}

/* Two adapters would not see each other's atomic operations; the kernel sees all. */
TEST_F(grant, atomics_of_one_adapter)
{
	uint32_t first = lend(self, MAY_ATOMIC, 0, 8);
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 8, 8);
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	struct rdmachan_object object;

	ASSERT_EQ(get_object(self->owner, &object), 0);
	if (has_peer() && by_device(object.rights)) {
		EXPECT_ERR(grant_send(self->holder, self->ctx, &range, 1, NULL, 0, &told), EBUSY);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_ATOMICS);
		EXPECT_EQ(error.op, RDMACHAN_OP_GRANT);
		/* Without them it is lent, and with them when the first has ended. */
		range.rights = MAY_READ | MAY_WRITE;
		EXPECT_EQ(grant_ranges(self->holder, self->ctx, &range, 1), 0);
		EXPECT_TRUE(grant_held(self->owner, range.out_grant));
		EXPECT_EQ(grant_revoke(self->owner, first, NULL), 0);
		range.rights = MAY_ALL;
	}
	EXPECT_EQ(grant_ranges(self->holder, self->ctx, &range, 1), 0);
}

/* Not of this context, not of this program, and none at all. */
TEST_F(grant, foreign_regions)
{
	int other = open_ctx();
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 8);
	int64_t twin = region_register(other, self->memory, SIZE, 0, NULL);
	pid_t child;

	EXPECT_ERR(grant_range(self->owner, self->ctx, &RANGE(0, MAY_READ, 0, 8)), ENOENT);
	EXPECT_ERR(grant_range(self->owner, self->ctx, &RANGE(-1U, MAY_READ, 0, 8)), ENOENT);
	EXPECT_ERR(grant_range(self->owner, self->ctx, &RANGE(self->region + 1, MAY_READ, 0, 8)),
		   ENOENT);
	/* A region of any context will do, if that context is named. */
	range.region = twin;
	EXPECT_GT(grant_range(self->owner, other, &range), 0);
	child = fork();
	if (!child) {
		range.region = self->region;
		_exit(grant_range(self->owner, self->ctx, &range) == -1 && errno == EPERM ? 0 : 1);
	}
	EXPECT_EQ(child_status(child), 0);
	close(other);
}

TEST_F(grant, bad_descriptors)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 8);
	int tube[2];

	ASSERT_EQ(pipe(tube), 0);
	EXPECT_ERR(grant_ranges(self->owner, -1, &range, 1), EBADF);
	EXPECT_ERR(grant_ranges(self->owner, 1000, &range, 1), EBADF);
	EXPECT_ERR(grant_ranges(self->owner, tube[0], &range, 1), ENOTTY);
	EXPECT_ERR(grant_ranges(self->owner, self->owner, &range, 1), ENOTTY);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* A channel that cannot carry the event gives nothing. */
TEST_F(grant, channel_shut_down)
{
	ASSERT_EQ(do_shutdown(self->owner, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_ERR(grant_range(self->owner, self->ctx, &RANGE(self->region, MAY_READ, 0, 8)),
		   EPIPE);
	ASSERT_EQ(do_shutdown(self->owner, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

TEST_F(grant, no_room)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 8);
	struct rdmachan_grant_event event;
	char back[4096];
	int sent;

	sent = fill_up(self->owner, sizeof(back));
	ASSERT_GT(sent, 0);
	while (!do_send(self->owner, back, 1, 0, DONTWAIT))
		sent++;
	EXPECT_ERR(grant_send(self->owner, self->ctx, &range, 1, NULL, 0, DONTWAIT), EAGAIN);
	EXPECT_ERR(grant_send(self->owner, self->ctx, &range, 1, NULL, 0, TIMEOUT(20)),
		   ETIMEDOUT);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	while (sent--)
		ASSERT_GE(read(self->holder, back, sizeof(back)), 0);
	EXPECT_EQ(grant_send(self->owner, self->ctx, &range, 1, NULL, 0, TIMEOUT(10000)), 0);
	EXPECT_TRUE(grant_next(self->holder, &event));
}

/* Events, keys and message go in one frame, or not at all. */
TEST_F(grant, message_too_large)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	static const size_t lens[] = { 20000, 65536, MIB };
	struct rdmachan_object object;
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	char *data = calloc(1, MIB);
	size_t i;

	/* What the channel's record says of SEND is not said of GRANT. */
	ASSERT_EQ(get_object(self->owner, &object), 0);
	EXPECT_ERR(do_send(self->owner, data, object.peer_message_max + 1, 0, &told), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MESSAGE_SIZE);
	for (i = 0; i < RDMACHAN_GRANTS_MAX; i++)
		ranges[i] = RANGE(self->region, MAY_ALL, 0, SIZE);
	for (i = 0; i < COUNT(lens); i++) {
		EXPECT_ERR(grant_send(self->owner, self->ctx, ranges, 1, data, lens[i], &told),
			   EMSGSIZE);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
		EXPECT_EQ(grants_in_use(self->ctx), self->count);
	}
	EXPECT_EQ(grant_send(self->owner, self->ctx, ranges, RDMACHAN_GRANTS_MAX, data, 4096,
			     NULL), 0);
	EXPECT_EQ(poll_mask(self->holder, POLLIN, 10000), POLLIN);
	free(data);
}

TEST(limit_of_grants)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	int ctx, fds[2], i;

	/* Peers leave a quarter of it, so that 11 may be held. */
	set_parameter("user_grants", 14);
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(seteuid(1003), 0);
	ctx = open_ctx();
	ASSERT_TRUE(forgotten(ctx, 0));
	pair_up(ctx, fds, NULL);
	for (i = 0; i < RDMACHAN_GRANTS_MAX; i++)
		ranges[i] = RANGE(region_of(ctx, &error, sizeof(error)), MAY_READ, 0, 1);
	EXPECT_ERR(grant_send(fds[0], ctx, ranges, 15, NULL, 0, &told), EDQUOT);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_GRANTS);
	EXPECT_EQ(error.limit, 14);
	EXPECT_EQ(error.used, 14);
	EXPECT_EQ(error.needed, 1);
	EXPECT_EQ(grants_in_use(ctx), 0);
	/* Those that are held count as well, and here both are one user's. */
	EXPECT_EQ(grant_ranges(fds[0], ctx, ranges, 5), 0);
	EXPECT_TRUE(wait_readable(fds[1], 10000));
	EXPECT_EQ(grants_in_use(ctx), 10);
	EXPECT_ERR(grant_send(fds[0], ctx, &ranges[5], 5, NULL, 0, &told), EDQUOT);
	EXPECT_EQ(error.used, 14);
	EXPECT_EQ(grants_in_use(ctx), 10);
	EXPECT_EQ(grant_revoke(fds[0], ranges[2].out_grant, NULL), 0);
	EXPECT_EQ(grant_ranges(fds[0], ctx, ranges, 1), 0);
	close(fds[0]);
	close(fds[1]);
	close(ctx);
	ASSERT_EQ(seteuid(0), 0);
	set_parameter("user_grants", 65536);
	chmod(DEVICE, 0600);
}

/* What costs the adapter more counts for more. */
TEST_F(grant, large_ones_count_more)
{
	uint64_t before = grants_in_use(self->ctx), used;
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, SIZE);
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	uint32_t grant = lend(self, MAY_READ, 0, SIZE);

	/* A held grant is one. */
	used = grants_in_use(self->ctx) - before;
	EXPECT_GE(used, SIZE / (2 * MIB) + 1);
	set_parameter("all_grants", 2 * used - 2);
	EXPECT_ERR(grant_send(self->owner, self->ctx, &range, 1, NULL, 0, &told), ENOSPC);
	EXPECT_EQ(error.needed, used - 1);
	EXPECT_EQ(error.limit, 2 * used - 2);
	EXPECT_EQ(error.used, used);
	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	EXPECT_EQ(grants_in_use(self->ctx), before);
	EXPECT_EQ(grant_send(self->owner, self->ctx, &range, 1, NULL, 0, &told), 0);
	set_parameter("all_grants", 262144);
}

/*
 * What the holder may do
 */

TEST_F(grant, rights)
{
	uint32_t rights, grant;
	uint64_t len;

	for (rights = 1; rights <= MAY_ALL; rights++) {
		grant = lend(self, rights, 64, 64);
		for (len = 0; len <= 8; len += 8) {
			EXPECT_EQ(try_read(self->holder, grant, 0, len),
				  rights & MAY_READ ? 0 : EACCES);
			EXPECT_EQ(try_write(self->holder, grant, 0, len),
				  rights & MAY_WRITE ? 0 : EACCES);
		}
		EXPECT_EQ(try_add(self->holder, grant, 0), rights & MAY_ATOMIC ? 0 : EACCES);
		EXPECT_EQ(try_swap(self->holder, grant, 0), rights & MAY_ATOMIC ? 0 : EACCES);
		EXPECT_EQ(grant_release(self->holder, grant), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	}
}

/* The owner has no rights by its own grant, and another channel has not either. */
TEST_F(grant, only_the_holder)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 64);
	int fds[2];

	EXPECT_EQ(try_read(self->owner, grant, 0, 8), ENOENT);
	EXPECT_EQ(try_write(self->owner, grant, 0, 8), ENOENT);
	EXPECT_EQ(try_add(self->owner, grant, 0), ENOENT);
	EXPECT_ERR(grant_release(self->owner, grant), ENOENT);
	EXPECT_ERR(grant_revoke(self->holder, grant, NULL), ENOENT);
	pair_up(self->ctx, fds, NULL);
	EXPECT_EQ(try_read(fds[0], grant, 0, 8), ENOENT);
	EXPECT_EQ(try_read(fds[1], grant, 0, 8), ENOENT);
	EXPECT_ERR(grant_revoke(fds[0], grant, NULL), ENOENT);
	EXPECT_ERR(grant_release(fds[1], grant), ENOENT);
	EXPECT_EQ(try_read(self->holder, grant, 0, 8), 0);
	close(fds[0]);
	close(fds[1]);
}

TEST_F(grant, numbers_that_are_none)
{
	static const uint32_t none[] = { 0, 1, 2, 77, 0x7fffffff, 0x80000000, 0xffffffff };
	size_t i;

	for (i = 0; i < COUNT(none); i++) {
		EXPECT_EQ(try_read(self->holder, none[i], 0, 8), ENOENT);
		EXPECT_EQ(try_read(self->holder, none[i], 0, 0), ENOENT);
		EXPECT_EQ(try_write(self->holder, none[i], 0, 8), ENOENT);
		EXPECT_EQ(try_add(self->holder, none[i], 0), ENOENT);
		EXPECT_ERR(grant_release(self->holder, none[i]), ENOENT);
		EXPECT_ERR(grant_revoke(self->owner, none[i], NULL), ENOENT);
		EXPECT_ERR(grant_revoke(self->owner, none[i], DONTWAIT), ENOENT);
	}
}

TEST_F(grant, bounds)
{
	const uint64_t len = 10000, bad[][2] = {
		{ 0, len + 1 }, { 1, len }, { len, 1 }, { len - 1, 2 }, { len + 1, 0 },
		{ len + 1, 1 }, { -1UL, 1 }, { -1UL, 2 }, { -1UL, 0 }, { -8UL, 16 },
		{ -PAGE, 2 * PAGE }, { 1UL << 32, 1 }, { 1UL << 63, 1 }, { 1, 1UL << 30 },
		{ -(1UL << 30), 1UL << 30 },
	};
	const uint64_t good[][2] = { { 0, len }, { len - 1, 1 }, { len, 0 }, { 0, 0 }, { 0, 1 } };
	uint32_t grant = lend(self, MAY_ALL, 4093, len);
	size_t i;

	for (i = 0; i < COUNT(bad); i++) {
		EXPECT_EQ(try_read(self->holder, grant, bad[i][0], bad[i][1]), ERANGE);
		EXPECT_EQ(try_write(self->holder, grant, bad[i][0], bad[i][1]), ERANGE);
	}
	for (i = 0; i < COUNT(good); i++) {
		EXPECT_EQ(try_read(self->holder, grant, good[i][0], good[i][1]), 0);
		EXPECT_EQ(try_write(self->holder, grant, good[i][0], good[i][1]), 0);
	}
	EXPECT_EQ(try_read(self->holder, grant, 0, RDMACHAN_MESSAGE_MAX + 1ULL), EINVAL);
	EXPECT_EQ(try_write(self->holder, grant, 0, ~0ULL), EINVAL);
}

/* Alignment is that of the owner's memory, wherever region and grant begin. */
TEST_F(grant, atomic_bounds)
{
	uint64_t at, base;
	uint32_t region, grant;
	int want;

	for (base = 0; base < 11; base++) {
		region = region_of(self->ctx, self->memory + base, 4000);
		grant = grant_range(self->owner, self->ctx, &RANGE(region, MAY_ATOMIC, 5, 64));
		ASSERT_TRUE(grant_held(self->holder, grant));
		for (at = 0; at < 70; at++) {
			want = (base + 5 + at) % 8 ? EINVAL : at > 56 ? ERANGE : 0;
			/* Of what is both the one or the other is told. */
			if (want == EINVAL && at > 56) {
				EXPECT_NE(try_add(self->holder, grant, at), 0);
				continue;
			}
			EXPECT_EQ(try_add(self->holder, grant, at), want);
			EXPECT_EQ(try_swap(self->holder, grant, at), want);
		}
		EXPECT_NE(try_add(self->holder, grant, -8UL), 0);
		EXPECT_NE(try_add(self->holder, grant, -13UL - base), 0);
	}
}

TEST_F(grant, atomic_operations)
{
	uint32_t grant = lend(self, MAY_ATOMIC, 0, 64), op;

	for (op = 0; op < 10; op++) {
		if (op == RDMACHAN_ATOMIC_FETCH_ADD || op == RDMACHAN_ATOMIC_COMPARE_SWAP)
			continue;
		EXPECT_NE(grant_atomic(self->holder, grant, op, 0, 0, 0, NULL), 0);
		EXPECT_TRUE(errno == EINVAL || errno == EOPNOTSUPP);
	}
	EXPECT_ERR(grant_atomic(self->holder, grant, RDMACHAN_ATOMIC_FETCH_ADD, 0, 0, 1, NULL),
		   EINVAL);
	EXPECT_TRUE(is_all(self->memory, 64, 0));
}

/* Atomic operations of less than 8 bytes of room there are none. */
TEST_F(grant, atomic_in_a_small_grant)
{
	uint32_t grant;
	uint64_t len;

	for (len = 1; len < 8; len++) {
		grant = lend(self, MAY_ATOMIC, 0, len);
		EXPECT_EQ(try_add(self->holder, grant, 0), ERANGE);
	}
	grant = lend(self, MAY_ATOMIC, 0, 8);
	EXPECT_EQ(try_add(self->holder, grant, 0), 0);
}

/* Own memory that is not there. */
TEST_F(grant, bad_own_memory)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	static const uint64_t lens[] = { 1, 64, PAGE, 3 * MIB };
	char *hole = pages(SIZE);
	char *fixed = pages(PAGE);
	size_t i;

	munmap(hole + 2 * MIB, PAGE);
	mprotect(fixed, PAGE, PROT_READ);
	for (i = 0; i < COUNT(lens); i++) {
		EXPECT_ERR(grant_read(self->holder, grant, 0, (void *)NOWHERE, lens[i]), EFAULT);
		EXPECT_ERR(grant_write(self->holder, grant, 0, (void *)NOWHERE, lens[i]), EFAULT);
		EXPECT_ERR(grant_read(self->holder, grant, 0, (void *)-PAGE, lens[i]), EFAULT);
	}
	EXPECT_ERR(grant_read(self->holder, grant, 0, hole, SIZE), EFAULT);
	EXPECT_ERR(grant_write(self->holder, grant, 0, hole, SIZE), EFAULT);
	EXPECT_ERR(grant_read(self->holder, grant, 0, fixed, 1), EFAULT);
	EXPECT_EQ(grant_write(self->holder, grant, 0, fixed, PAGE), 0);
	EXPECT_EQ(try_read(self->holder, grant, 0, 8), 0);
}

TEST_HARNESS_MAIN
