// SPDX-License-Identifier: GPL-2.0
/*
 * grant_adapter_test.c - grants over adapters that do no atomic operations, despite their words, or
 * take their time
 */
#include <poll.h>
#include <sys/resource.h>

#include "adapter.h"
#include "grant_fixture.h"
#include "inject.h"

/* Values of the parameter "atomics". */
#define NOT_POSTED 1
#define NOT_REGISTERED 2
#define NONE 4

static bool by_device(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.rights & RDMACHAN_RIGHT_BY_DEVICE;
}

/* Return: the rights that the holder is told. */
static uint32_t rights_of(struct fixture_grant *self, uint32_t grant)
{
	struct rdmachan_grant_event event;

	ASSERT_TRUE(grant_next(self->holder, &event));
	EXPECT_EQ(event.what, RDMACHAN_GRANT_GIVEN);
	EXPECT_EQ(event.grant, grant);
	return event.rights;
}

static void add_and_look(struct fixture_grant *self, uint32_t grant, uint64_t offset)
{
	uint64_t *at = (uint64_t *)(self->memory + offset), value, was = *at;

	ASSERT_EQ(grant_add(self->holder, grant, offset, 3, &value), 0);
	EXPECT_EQ(value, was);
	EXPECT_EQ(*at, was + 3);
	ASSERT_EQ(grant_swap(self->holder, grant, offset, was + 3, 77, &value), 0);
	EXPECT_EQ(value, was + 3);
	EXPECT_EQ(*at, 77);
}

/* The next test has links of its own, which know nothing of this one's adapter. */
static void end(struct fixture_grant *self)
{
	adapter("atomics", 0);
	close(self->owner);
	close(self->holder);
	await_no_links(self->ctx);
}

/* The owner's adapter does them, and that of the holder refuses them: nothing else is wrong. */
TEST_F(grant, operations_refused)
{
	uint32_t grant, i;
	char byte = 5;

	adapter("atomics", NOT_POSTED);
	ASSERT_TRUE(by_device(self->owner));
	grant = lend(self, MAY_ALL, 0, PAGE);
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(try_add(self->holder, grant, 8 * i), EOPNOTSUPP);
		EXPECT_EQ(try_swap(self->holder, grant, 8 * i), EOPNOTSUPP);
	}
	EXPECT_TRUE(is_all(self->memory, PAGE, 0));
	EXPECT_EQ(grant_write(self->holder, grant, 7, &byte, 1), 0);
	EXPECT_EQ(self->memory[7], 5);
	talk(self->owner, self->holder);
	adapter("atomics", 0);
	add_and_look(self, grant, 8);
	EXPECT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_NONE));
	end(self);
}

/* The owner's adapter says that it does them, and refuses memory for it: its kernel does them. */
TEST_F(grant, registrations_refused)
{
	static const uint64_t sizes[] = { 8, PAGE, SIZE };
	uint64_t count = 0;
	size_t i;

	ASSERT_TRUE(by_device(self->owner));
	for (i = 0; i < COUNT(sizes); i++) {
		int64_t grant;

		adapter("atomics", NOT_REGISTERED);
		grant = grant_range(self->owner, self->ctx,
				    &RANGE(self->region, MAY_ALL, 0, sizes[i]));
		ASSERT_GT(grant, 0);
		EXPECT_EQ(rights_of(self, grant), MAY_ALL);
		EXPECT_TRUE(!by_device(self->owner));
		memset(self->memory, 0, 16);
		add_and_look(self, grant, 0);
		if (!i)
			count = grants_in_use(self->ctx);
		EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
	/* The one that was tried first is not charged. */
	EXPECT_EQ(count, 2);
	EXPECT_EQ(grants_in_use(self->ctx), 0);
	talk(self->owner, self->holder);
	end(self);
}

/* Both are known to do none: that is agreed when the link is made. */
TEST(none)
{
	struct fixture_grant self = { .ctx = open_ctx(), .memory = pages(SIZE) };
	int fds[2];

	adapter("atomics", NONE);
	await_no_links(self.ctx);
	pair_up(self.ctx, fds, NULL);
	self.owner = fds[0];
	self.holder = fds[1];
	EXPECT_TRUE(!by_device(self.owner));
	EXPECT_TRUE(!by_device(self.holder));
	self.region = region_of(self.ctx, self.memory, SIZE);
	add_and_look(&self, lend(&self, MAY_ATOMIC, 0, SIZE), SIZE - 8);
	end(&self);
	close(self.ctx);
}

/*
 * The holder gives a grant back and then sends no more; the adapter takes its time to close keys.
 * The owner finds the end behind the event, and not before it. The other grant is held yet.
 */
TEST_F(grant, end_comes_behind_what_was_given_back)
{
	struct rdmachan_recv_args recv;
	uint32_t grant, held;
	char message[8];

	adapter("inv_ms", 0);
	/* It has several keys; the frame that gives it back closes one of them. */
	grant = lend(self, MAY_READ, 0, SIZE);
	held = lend(self, MAY_READ, 0, 8);
	adapter("inv_ms", 100);
	/* What is said comes together, and the adapter is asked for the key behind that. */
	inject("delay", "count=1 ms=50");
	ASSERT_EQ(grant_release(self->holder, grant), 0);
	ASSERT_EQ(do_shutdown(self->holder, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(poll_mask(self->owner, POLLRDHUP, 10000), POLLRDHUP);
	EXPECT_EQ(poll_mask(self->owner, POLLIN, 0), 0);
	EXPECT_ERR(do_recv(self->owner, message, sizeof(message), &recv, DONTWAIT), EAGAIN);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_NONE));
	ASSERT_EQ(do_recv(self->owner, message, sizeof(message), &recv, NULL), 0);
	EXPECT_TRUE(recv.out_flags & RDMACHAN_RECV_OUT_EOF);
	EXPECT_EQ(poll_mask(self->owner, POLLIN, 0), POLLIN);
	inject_off("delay");
	adapter("inv_ms", 0);
	ASSERT_EQ(grant_release(self->holder, held), 0);
	EXPECT_TRUE(forgotten(self->ctx, 0));
	EXPECT_TRUE(grant_returned(self->owner, held, RDMACHAN_CAUSE_NONE));
	end(self);
}

/* More than a queue of work runs at a time. */
#define MANY 2200

/* A channel to the other host's second address, and so over another link. */
static void pair_by_other_link(int ctx, int fds[2])
{
	const struct rdmachan_addr address = peer_address6();
	int peer = open_peer(), listener = do_listen(peer, SERVICE + 1, NULL);

	ASSERT_GE(listener, 0);
	fds[0] = do_connect_to(ctx, &address, SERVICE + 1, NULL);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, TIMEOUT(10000));
	ASSERT_GE(fds[1], 0);
	close(listener);
	close(peer);
}

/*
 * An adapter tells late that keys are invalid, as behind a peer that acknowledges nothing; many
 * channels of one link wait for that. What another link has lent is back without them.
 */
TEST_TIMEOUT(late_returns_of_many_channels, 120)
{
	const struct opts small = { .tuning = { .send_buffer = RDMACHAN_BUFFER_MIN,
						.recv_buffer = RDMACHAN_BUFFER_MIN } };
	const struct rlimit files = { 4 * MANY, 4 * MANY };
	struct fixture_grant self = { .ctx = open_ctx(), .memory = pages(PAGE) };
	static struct fixture_grant many[MANY];
	static uint32_t grants[MANY];
	uint64_t left;
	uint32_t grant;
	int fds[2], i;

	adapter("inv_ms", 0);
	set_parameter("user_buffer_mib", 4096);
	set_parameter("all_buffer_mib", 4096);
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
	self.region = region_of(self.ctx, self.memory, PAGE);
	pair_by_other_link(self.ctx, fds);
	self.owner = fds[0];
	self.holder = fds[1];
	grant = lend(&self, MAY_READ, 0, 8);
	for (i = 0; i < MANY; i++) {
		pair_up(self.ctx, fds, &small);
		many[i] = self;
		many[i].owner = fds[0];
		many[i].holder = fds[1];
		grants[i] = lend(&many[i], MAY_READ, 0, 8);
	}
	adapter("inv_ms", 100);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(grant_release(many[i].holder, grants[i]), 0);
	/* They have come; and some are back by now, one after the other. */
	sleep_ms(1000);
	left = grants_in_use(self.ctx);
	EXPECT_GT(left, MANY - 20);
	EXPECT_EQ(grant_revoke(self.owner, grant, TIMEOUT(20000)), 0);
	EXPECT_GE(grants_in_use(self.ctx) + 5, left);
	adapter("inv_ms", 0);
	EXPECT_TRUE(forgotten(self.ctx, 0));
	for (i = 0; i < MANY; i++) {
		close(many[i].owner);
		close(many[i].holder);
	}
	end(&self);
	close(self.ctx);
	set_parameter("user_buffer_mib", 0);
	set_parameter("all_buffer_mib", 0);
}

TEST_HARNESS_MAIN
