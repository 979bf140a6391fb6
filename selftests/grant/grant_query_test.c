// SPDX-License-Identifier: GPL-2.0
/*
 * grant_query_test.c - what QUERY tells of grants, at both ends, and of contexts
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "common.h"
#include "grant_fixture.h"
#include "harness.h"
#include "ring.h"

#define LENT RDMACHAN_QUERY_F_LENT
#define HELD RDMACHAN_QUERY_F_HELD
#define UNLIMITED (~0ULL)
#define PATIENCE 10000
#define ALICE 1000
#define NOWHERE 0x1000UL

static int query(int fd, uint32_t flags, uint32_t grant, struct rdmachan_object *object)
{
	struct rdmachan_query_args args = {
		.size = sizeof(args), .flags = flags, .grant = grant,
		.object_ptr = (uintptr_t)object,
	};

	if (object) {
		memset(object, 0xee, sizeof(*object));
		object->size = sizeof(*object);
	}
	return ioctl(fd, RDMACHAN_QUERY, &args);
}

static bool is_gone(int chan, uint32_t flags, uint32_t grant)
{
	struct rdmachan_object object;
	int64_t until = now_ms() + PATIENCE;

	while (!query(chan, flags, grant, &object) && now_ms() < until)
		sleep_ms(2);
	return query(chan, flags, grant, &object) && errno == ENOENT;
}

TEST_F(grant, query_tells_both_ends)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ | MAY_WRITE, 64, PAGE);
	struct rdmachan_object chan, object;
	uint32_t grant;

	range.cookie = 0x1234567890;
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	grant = range.out_grant;
	ASSERT_TRUE(grant_held(self->holder, grant));
	ASSERT_EQ(query(self->owner, LENT, grant, &object), 0);
	EXPECT_EQ(object.size, sizeof(object));
	EXPECT_EQ(object.kind, RDMACHAN_KIND_GRANT);
	EXPECT_NE(object.id, 0);
	EXPECT_NE(object.created_ns, 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(object.grant, grant);
	EXPECT_EQ(object.rights, MAY_READ | MAY_WRITE);
	EXPECT_EQ(object.length, PAGE);
	EXPECT_EQ(object.cookie, 0x1234567890);
	EXPECT_EQ(object.region, self->region);
	EXPECT_EQ(object.uses_left, UNLIMITED);
	ASSERT_EQ(get_object(self->owner, &chan), 0);
	EXPECT_EQ(object.link_id, chan.link_id);
	EXPECT_EQ(object.uid, chan.uid);
	ASSERT_EQ(query(self->holder, HELD, grant, &object), 0);
	EXPECT_EQ(object.size, sizeof(object));
	EXPECT_EQ(object.kind, RDMACHAN_KIND_GRANT);
	EXPECT_EQ(object.id, 0);
	EXPECT_EQ(object.created_ns, 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(object.grant, grant);
	EXPECT_EQ(object.rights, MAY_READ | MAY_WRITE);
	EXPECT_EQ(object.length, PAGE);
	EXPECT_EQ(object.cookie, 0x1234567890);
	EXPECT_EQ(object.region, 0);
	EXPECT_EQ(object.uses_left, UNLIMITED);
	ASSERT_EQ(get_object(self->holder, &chan), 0);
	EXPECT_EQ(object.link_id, chan.link_id);
	EXPECT_EQ(object.service, chan.service);
	EXPECT_EQ(object.uid, chan.uid);
	EXPECT_EQ(object.active, chan.active);
	EXPECT_EQ(memcmp(&object.peer, &chan.peer, sizeof(chan.peer)), 0);
	/* Neither end has what the other one has. */
	EXPECT_ERR(query(self->owner, HELD, grant, &object), ENOENT);
	EXPECT_ERR(query(self->holder, LENT, grant, &object), ENOENT);
	/* Nothing to fill in asks whether there is one. */
	EXPECT_EQ(query(self->owner, LENT, grant, NULL), 0);
	EXPECT_ERR(query(self->owner, LENT, grant + 1, NULL), ENOENT);
}

TEST_F(grant, query_counts_uses)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, PAGE);
	struct rdmachan_object object;
	uint32_t left;

	range.uses = 3;
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_held(self->holder, range.out_grant));
	for (left = 3; left; left--) {
		ASSERT_EQ(query(self->holder, HELD, range.out_grant, &object), 0);
		EXPECT_EQ(object.uses_left, left);
		/* The holder counts. */
		ASSERT_EQ(query(self->owner, LENT, range.out_grant, &object), 0);
		EXPECT_EQ(object.uses_left, 3);
		ASSERT_EQ(try_read(self->holder, range.out_grant, 0, 8), 0);
	}
	EXPECT_TRUE(is_gone(self->holder, HELD, range.out_grant));
	EXPECT_TRUE(grant_returned(self->owner, range.out_grant, 0));
	EXPECT_TRUE(is_gone(self->owner, LENT, range.out_grant));
}

/* Ends */

static const struct {
	const char *name;
	bool revoke;
} ends[] = {
	{ "revoked", true },
	{ "released", false },
};

TEST_F_ROWS(grant, query_of_one_that_is, ends)
{
	uint32_t grant = lend(self, MAY_READ, 0, PAGE), other = lend(self, MAY_READ, PAGE, PAGE);
	struct rdmachan_object object;

	if (row->revoke)
		ASSERT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	else
		ASSERT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(is_gone(self->holder, HELD, grant));
	EXPECT_TRUE(is_gone(self->owner, LENT, grant));
	ASSERT_EQ(query(self->holder, HELD, other, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(object.grant, other);
}

/* The holder's host does not answer: it is still wanted back. */
TEST_F(grant, query_of_one_that_is_wanted_back)
{
	struct rdmachan_object object;
	uint32_t grant;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	grant = lend(self, MAY_READ, 0, PAGE);
	cable("cut");
	EXPECT_EQ(grant_revoke(self->owner, grant, DONTWAIT), 0);
	ASSERT_EQ(query(self->owner, LENT, grant, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_CLOSING);
	cable("mend");
	EXPECT_TRUE(is_gone(self->owner, LENT, grant));
}

/* Bad calls; and others than channels have no grants */

TEST_F(grant, query_asks_wrong)
{
	struct rdmachan_query_args args = { .size = sizeof(args) };
	struct rdmachan_object object = { .size = sizeof(object) };
	uint32_t grant = lend(self, MAY_READ, 0, PAGE);
	int listener = do_listen(self->ctx, SERVICE + 3, NULL);
	struct queue q;

	ASSERT_GE(listener, 0);
	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	EXPECT_ERR(query(self->owner, LENT, 0, &object), ENOENT);
	EXPECT_ERR(query(self->owner, LENT, ~0U, &object), ENOENT);
	EXPECT_ERR(query(self->owner, LENT | HELD, grant, &object), EINVAL);
	EXPECT_ERR(query(self->owner, 4, grant, &object), EOPNOTSUPP);
	EXPECT_ERR(query(self->owner, 0, grant, &object), EINVAL);
	EXPECT_ERR(query(listener, 0, grant, &object), EINVAL);
	EXPECT_ERR(query(q.fd, 0, grant, &object), EINVAL);
	EXPECT_ERR(query(self->ctx, 0, grant, &object), EINVAL);
	EXPECT_ERR(query(listener, LENT, grant, &object), EOPNOTSUPP);
	EXPECT_ERR(query(q.fd, HELD, grant, &object), EOPNOTSUPP);
	EXPECT_ERR(query(self->ctx, LENT, grant, &object), EOPNOTSUPP);
	args.flags = LENT;
	args.grant = grant;
	args.__reserved = 1;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_QUERY, &args), EINVAL);
	args.__reserved = 0;
	EXPECT_EQ(ioctl(self->owner, RDMACHAN_QUERY, &args), 0);
	args.object_ptr = NOWHERE;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_QUERY, &args), EFAULT);
	args.object_ptr = (uintptr_t)&object;
	object.size = sizeof(object) - 1;
	EXPECT_ERR(ioctl(self->owner, RDMACHAN_QUERY, &args), EINVAL);
	EXPECT_EQ(object.size, sizeof(object) - 1);
	queue_close(&q);
	close(listener);
}

/* A program that knows a larger structure is told how much of it is filled in. */
TEST_F(grant, query_of_a_newer_program)
{
	uint32_t grant = lend(self, MAY_READ, 0, PAGE);
	struct {
		struct rdmachan_object object;
		char more[64];
	} newer;
	struct rdmachan_query_args args = {
		.size = sizeof(args), .flags = HELD, .grant = grant,
		.object_ptr = (uintptr_t)&newer,
	};

	memset(&newer, 0x77, sizeof(newer));
	newer.object.size = sizeof(newer);
	ASSERT_EQ(ioctl(self->holder, RDMACHAN_QUERY, &args), 0);
	EXPECT_EQ(newer.object.size, sizeof(newer.object));
	EXPECT_EQ(newer.object.grant, grant);
	EXPECT_TRUE(is_all(newer.more, sizeof(newer.more), 0x77));
}

/* Contexts */

TEST_F(grant, query_of_a_context)
{
	struct rdmachan_error error = { .size = sizeof(error), .cause = 99 };
	struct rdmachan_query_args args = { .size = sizeof(args), .error_ptr = (uintptr_t)&error };
	struct rdmachan_object object;
	int other = open_ctx();
	uint32_t region;

	ASSERT_EQ(query(self->ctx, 0, 0, &object), 0);
	EXPECT_EQ(object.size, sizeof(object));
	EXPECT_EQ(object.kind, RDMACHAN_KIND_CONTEXT);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(object.id, 0);
	EXPECT_EQ(object.uid, getuid());
	EXPECT_NE(object.created_ns, 0);
	EXPECT_EQ(object.uses, 1);
	EXPECT_EQ(object.length, SIZE);
	region = region_of(self->ctx, self->memory, PAGE);
	ASSERT_EQ(query(self->ctx, 0, 0, &object), 0);
	EXPECT_EQ(object.uses, 2);
	EXPECT_EQ(object.length, SIZE + PAGE);
	ASSERT_EQ(query(other, 0, 0, &object), 0);
	EXPECT_EQ(object.uses, 0);
	EXPECT_EQ(object.length, 0);
	ASSERT_EQ(region_unregister(self->ctx, region), 0);
	ASSERT_EQ(query(self->ctx, 0, 0, &object), 0);
	EXPECT_EQ(object.uses, 1);
	EXPECT_EQ(object.length, SIZE);
	/* It has no error record. */
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_QUERY, &args), 0);
	EXPECT_EQ(error.size, sizeof(error));
	EXPECT_EQ(error.cause, 0);
	close(other);
}

/* A program of another user that has inherited the descriptor sees whose context it is. */
TEST_F(grant, query_by_another_user)
{
	uint32_t grant = lend(self, MAY_READ, 0, PAGE);
	struct rdmachan_object object;
	pid_t child = fork();

	if (!child) {
		ASSERT_EQ(setuid(ALICE), 0);
		EXPECT_EQ(query(self->ctx, 0, 0, &object), 0);
		EXPECT_EQ(object.uid, 0);
		EXPECT_EQ(query(self->holder, HELD, grant, &object), 0);
		EXPECT_EQ(object.uid, 0);
		EXPECT_EQ(query(self->owner, LENT, grant, &object), 0);
		EXPECT_EQ(object.uid, 0);
		fflush(stdout);
		_exit(harness_failures ? 1 : 0);
	}
	EXPECT_EQ(child_status(child), 0);
}

TEST_HARNESS_MAIN
