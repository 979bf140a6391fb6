// SPDX-License-Identifier: GPL-2.0
/*
 * grant_return_test.c - grants: how control of the memory comes back
 */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "common.h"
#include "grant_fixture.h"
#include "harness.h"

TEST_F(grant, release)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 64);

	EXPECT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_ERR(grant_release(self->holder, grant), EKEYREVOKED);
	EXPECT_EQ(try_read(self->holder, grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(try_read(self->holder, grant, 0, 0), EKEYREVOKED);
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(try_add(self->holder, grant, 0), EKEYREVOKED);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	EXPECT_EQ(grant_revoke(self->owner, grant, DONTWAIT), 0);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

/* What the owner is told when it comes back is what it had told. */
TEST_F(grant, returned_event)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ | MAY_WRITE, 5, 77);
	struct rdmachan_grant_event event;

	range.cookie = 0x123456789abcdefULL;
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_held(self->holder, range.out_grant));
	EXPECT_EQ(grant_release(self->holder, range.out_grant), 0);
	ASSERT_TRUE(grant_next(self->owner, &event));
	EXPECT_EQ(event.what, RDMACHAN_GRANT_RETURNED);
	EXPECT_EQ(event.grant, range.out_grant);
	EXPECT_EQ(event.length, 77);
	EXPECT_EQ(event.cookie, range.cookie);
	EXPECT_EQ(event.rights & MAY_ALL, MAY_READ | MAY_WRITE);
}

/* The owner waits for a message, and has lent memory for that: the event comes all the same. */
TEST_F(grant, returned_to_who_lends)
{
	const size_t len = 256 * KIB;
	uint32_t grant = lend(self, MAY_ALL, 0, 64);
	struct rdmachan_object object;
	struct rdmachan_recv_args recv;
	char *room = pages(len);
	pid_t child;

	child = LATER(100, do_send(self->holder, room, len, 0, NULL));
	ASSERT_EQ(grant_recv(self->owner, room, len, &recv, NULL), 0);
	ASSERT_EQ(recv.out_length, len);
	child_status(child);
	/* So the next one lends. */
	ASSERT_EQ(get_object(self->owner, &object), 0);
	if (time_is_virtual())
		ASSERT_EQ(object.rx_placed, 1);
	child = LATER(100, grant_release(self->holder, grant));
	ASSERT_EQ(grant_recv(self->owner, room, len, &recv, NULL), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_GRANTS);
	EXPECT_EQ(recv.out_length, EVENT);
	child_status(child);
	/* Lent memory is back, and messages come as before. */
	child = LATER(100, do_send(self->holder, room, len, 0, NULL));
	EXPECT_EQ(grant_recv(self->owner, room, len, &recv, NULL), 0);
	EXPECT_EQ(recv.out_length, len);
	EXPECT_EQ(recv.out_flags, 0);
	child_status(child);
}

/* A grant that was not looked at is held as well. */
TEST_F(grant, release_before_it_is_received)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 0, 64);

	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	ASSERT_TRUE(wait_readable(self->holder, 10000));
	EXPECT_EQ(try_read(self->holder, range.out_grant, 0, 8), 0);
	EXPECT_EQ(grant_release(self->holder, range.out_grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, range.out_grant, 0));
	EXPECT_TRUE(grant_held(self->holder, range.out_grant));
}

TEST_F(grant, revoke)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 64);

	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	EXPECT_EQ(try_read(self->holder, grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(try_add(self->holder, grant, 0), EKEYREVOKED);
	EXPECT_ERR(grant_release(self->holder, grant), EKEYREVOKED);
	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

TEST_F(grant, revoke_begun)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 64);

	EXPECT_EQ(grant_revoke(self->owner, grant, DONTWAIT), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* So are those of the regions of a context when that is closed. */
TEST_F(grant, context_closed)
{
	int other = open_ctx();
	uint32_t region = region_of(other, self->memory, PAGE);
	int64_t grant = grant_range(self->owner, other, &RANGE(region, MAY_ALL, 0, 64));

	ASSERT_GT(grant, 0);
	ASSERT_TRUE(grant_held(self->holder, grant));
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), 0);
	close(other);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* Several times, with and without waiting: one event. */
TEST_F(grant, revoke_again)
{
	struct rdmachan_grant_event event;
	uint32_t grant = lend(self, MAY_ALL, 0, 64);
	int i;

	for (i = 0; i < 5; i++)
		EXPECT_EQ(grant_revoke(self->owner, grant, DONTWAIT), 0);
	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	EXPECT_EQ(grant_revoke(self->owner, grant, TIMEOUT(1)), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_ERR(grant_recv(self->owner, &event, EVENT, NULL, TIMEOUT(50)), ETIMEDOUT);
}

/* A holder that never reads its messages cannot keep the memory. */
TEST_F(grant, revoke_before_it_is_received)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 0, 64);

	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	EXPECT_EQ(grant_revoke(self->owner, range.out_grant, NULL), 0);
	EXPECT_TRUE(grant_held(self->holder, range.out_grant));
	EXPECT_EQ(try_read(self->holder, range.out_grant, 0, 8), EKEYREVOKED);
}

/* Not even when nothing can be sent to it. */
TEST_F(grant, revoke_without_room)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 64);

	ASSERT_GT(fill_up(self->owner, 4096), 0);
	ASSERT_GT(fill_up(self->holder, 4096), 0);
	EXPECT_EQ(grant_revoke(self->owner, grant, TIMEOUT(10000)), 0);
	EXPECT_EQ(try_read(self->holder, grant, 0, 8), EKEYREVOKED);
}

/* It comes ahead of what waits for room, once, and nothing is lost. */
TEST_F(grant, release_without_room)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 64);
	struct rdmachan_recv_args recv;
	int sent, got = 0, returned = 0;
	char *back = malloc(4096);

	sent = fill_up(self->holder, 4096);
	ASSERT_GT(sent, 0);
	EXPECT_EQ(try_add(self->holder, grant, 0), 0);
	EXPECT_EQ(try_read(self->holder, grant, 0, 64), 0);
	EXPECT_EQ(grant_release(self->holder, grant), 0);
	while (got + returned <= sent) {
		ASSERT_EQ(grant_recv(self->owner, back, 4096, &recv, TIMEOUT(20000)), 0);
		if (recv.out_flags & RDMACHAN_RECV_OUT_GRANTS)
			returned += recv.out_length == EVENT;
		else
			got += recv.out_length == 4096;
	}
	EXPECT_ERR(grant_recv(self->owner, back, 4096, &recv, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_EQ(got, sent);
	EXPECT_EQ(returned, 1);
	free(back);
}

/* After the end of its own sending a program can still use what it holds. */
TEST_F(grant, holder_sends_no_more)
{
	struct rdmachan_recv_args recv;
	uint32_t grant = lend(self, MAY_ALL, 0, 64);
	char c;

	ASSERT_EQ(do_shutdown(self->holder, RDMACHAN_SHUTDOWN_SEND), 0);
	ASSERT_EQ(do_recv(self->owner, &c, 1, &recv, NULL), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), 0);
	EXPECT_EQ(grant_revoke(self->owner, grant, TIMEOUT(10000)), 0);
	EXPECT_EQ(try_write(self->holder, grant, 0, 8), EKEYREVOKED);
}

/*
 * A message that nobody will read any more is not kept: neither what came, nor what comes. The
 * second message may come meanwhile, and be refused before the first is thrown away.
 */
TEST_F(grant, holder_receives_no_more)
{
	struct rdmachan_grant_range ranges[3] = {
		RANGE(self->region, MAY_ALL, 0, 64), RANGE(self->region, MAY_READ, 64, 64),
		RANGE(self->region, MAY_ALL, 0, 64),
	};
	struct rdmachan_grant_event event;
	int i, k, back[3] = {};

	ASSERT_EQ(grant_send(self->owner, self->ctx, ranges, 2, "words", 5, NULL), 0);
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &ranges[2], 1), 0);
	ASSERT_TRUE(wait_readable(self->holder, 10000));
	ASSERT_EQ(do_shutdown(self->holder, RDMACHAN_SHUTDOWN_RECV), 0);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(grant_next(self->owner, &event));
		EXPECT_EQ(event.what, RDMACHAN_GRANT_RETURNED);
		EXPECT_EQ(event.cause, 0);
		for (k = 0; k < 3; k++)
			back[k] += event.grant == ranges[k].out_grant;
		EXPECT_EQ(try_read(self->holder, event.grant, 0, 8), EKEYREVOKED);
	}
	for (i = 0; i < 3; i++)
		EXPECT_EQ(back[i], 1);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

static uint64_t bytes_in_use(int ctx)
{
	struct rdmachan_info info;

	return get_info(ctx, &info) ? ~0UL : info.out_use_bytes.user;
}

/* Events that nobody reads cannot become many for nothing; nor keys of what is held. */
TEST_F(grant, unread_events_count)
{
	uint64_t before = bytes_in_use(self->ctx), held, unread;
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ, 0, 64);
	struct rdmachan_grant_event event;
	uint32_t grant;
	int i;

	for (i = 0; i < 100; i++) {
		grant = lend(self, MAY_READ, 0, SIZE);
		held = bytes_in_use(self->ctx);
		EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
		EXPECT_GT(held, bytes_in_use(self->ctx));
	}
	unread = bytes_in_use(self->ctx);
	EXPECT_GE(unread - before, 100 * EVENT);
	set_parameter("all_buffer_mib", 1);
	EXPECT_ERR(grant_send(self->owner, self->ctx, &range, 1, NULL, 0, &told), ENOSPC);
	set_parameter("all_buffer_mib", 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TOTAL_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_BYTES);
	EXPECT_EQ(bytes_in_use(self->ctx), unread);
	for (i = 0; i < 100; i++)
		EXPECT_TRUE(grant_next(self->owner, &event));
	EXPECT_EQ(bytes_in_use(self->ctx), before);
}

TEST_F(grant, expires)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 0, 64);
	int64_t begun = tick_ms();

	range.expires_ms = 200;
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_held(self->holder, range.out_grant));
	EXPECT_EQ(try_write(self->holder, range.out_grant, 0, 8), 0);
	EXPECT_TRUE(grant_returned(self->owner, range.out_grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_TOOK(begun, 200, LIMIT_LATE(200));
	EXPECT_EQ(try_write(self->holder, range.out_grant, 0, 8), EKEYREVOKED);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* One that ends before has no end again. */
TEST_F(grant, ends_before_it_expires)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	struct grant_message got;
	int i;

	for (i = 0; i < RDMACHAN_GRANTS_MAX; i++) {
		ranges[i] = RANGE(self->region, MAY_ALL, 0, 64);
		ranges[i].expires_ms = i == 3 ? -1U : 2000 + i;
	}
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, ranges, RDMACHAN_GRANTS_MAX), 0);
	ASSERT_EQ(grant_recv(self->holder, &got, sizeof(got), NULL, NULL), 0);
	for (i = 0; i < RDMACHAN_GRANTS_MAX; i++) {
		EXPECT_EQ(grant_release(self->holder, ranges[i].out_grant), 0);
		EXPECT_TRUE(grant_returned(self->owner, ranges[i].out_grant, 0));
	}
	EXPECT_ERR(grant_recv(self->owner, &got, sizeof(got), NULL, TIMEOUT(2500)), ETIMEDOUT);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

TEST_F(grant, uses)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 0, 64);
	uint32_t i;

	for (range.uses = 1; range.uses < 5; range.uses++) {
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
		ASSERT_TRUE(grant_held(self->holder, range.out_grant));
		/* What fails at once is no use. */
		EXPECT_EQ(try_read(self->holder, range.out_grant, 64, 1), ERANGE);
		EXPECT_EQ(try_add(self->holder, range.out_grant, 4), EINVAL);
		for (i = 0; i < range.uses; i++)
			EXPECT_EQ(i == 0 ? try_read(self->holder, range.out_grant, 0, 8) :
				  i == 1 ? try_write(self->holder, range.out_grant, 0, 8) :
				  i == 2 ? try_add(self->holder, range.out_grant, 0) :
				  try_swap(self->holder, range.out_grant, 0), 0);
		EXPECT_TRUE(grant_returned(self->owner, range.out_grant, 0));
		EXPECT_EQ(try_read(self->holder, range.out_grant, 0, 8), EKEYREVOKED);
		EXPECT_ERR(grant_release(self->holder, range.out_grant), EKEYREVOKED);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

static int unregister(int ctx, uint32_t region, uint32_t flags)
{
	struct rdmachan_region_unregister_args unreg = {
		.size = sizeof(unreg), .region = region, .flags = flags,
	};

	return ioctl(ctx, RDMACHAN_REGION_UNREGISTER, &unreg);
}

TEST_F(grant, unregister_what_is_lent)
{
	uint32_t grant = lend(self, MAY_READ, 0, 64), other = lend(self, MAY_WRITE, 0, 64);

	EXPECT_ERR(region_unregister(self->ctx, self->region), EBUSY);
	EXPECT_EQ(try_read(self->holder, grant, 0, 8), 0);
	EXPECT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	EXPECT_ERR(region_unregister(self->ctx, self->region), EBUSY);
	EXPECT_EQ(grant_revoke(self->owner, other, NULL), 0);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
	EXPECT_EQ(pinned_bytes(), 0);
}

TEST_F(grant, unregister_and_revoke)
{
	uint32_t grants[20], flags = RDMACHAN_UNREGISTER_F_REVOKE;
	struct rdmachan_grant_event event;
	uint32_t kept, more;
	int i;

	more = region_of(self->ctx, self->memory, 64);
	kept = grant_range(self->owner, self->ctx, &RANGE(more, MAY_READ, 0, 64));
	ASSERT_TRUE(grant_held(self->holder, kept));
	for (i = 0; i < 20; i++)
		grants[i] = lend(self, MAY_READ, i, 64);
	EXPECT_EQ(unregister(self->ctx, self->region, flags), 0);
	EXPECT_EQ(pinned_bytes(), PAGE);
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(try_read(self->holder, grants[i], 0, 8), EKEYREVOKED);
		ASSERT_TRUE(grant_next(self->owner, &event));
		EXPECT_EQ(event.what, RDMACHAN_GRANT_RETURNED);
		EXPECT_EQ(event.cause, RDMACHAN_CAUSE_SHUTDOWN);
	}
	EXPECT_EQ(try_read(self->holder, kept, 0, 8), 0);
	EXPECT_ERR(unregister(self->ctx, self->region, flags), ENOENT);
	EXPECT_EQ(unregister(self->ctx, more, flags), 0);
	EXPECT_EQ(try_read(self->holder, kept, 0, 8), EKEYREVOKED);
	EXPECT_ERR(unregister(self->ctx, more, 2), EOPNOTSUPP);
}

/* The grants of all channels; atomic operations of a region are one adapter's. */
TEST_F(grant, unregister_and_revoke_everywhere)
{
	uint32_t grants[5];
	uint32_t rights;
	int fds[5][2], i;

	for (i = 0; i < 5; i++) {
		pair_up(self->ctx, fds[i], NULL);
		rights = i % 2 && has_peer() ? MAY_READ | MAY_WRITE : MAY_ALL;
		grants[i] = grant_range(fds[i][i % 2], self->ctx,
					&RANGE(self->region, rights, i * 64, 64));
		ASSERT_TRUE(grant_held(fds[i][!(i % 2)], grants[i]));
	}
	EXPECT_EQ(unregister(self->ctx, self->region, RDMACHAN_UNREGISTER_F_REVOKE), 0);
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(try_read(fds[i][!(i % 2)], grants[i], 0, 8), EKEYREVOKED);
		EXPECT_TRUE(grant_returned(fds[i][i % 2], grants[i], RDMACHAN_CAUSE_SHUTDOWN));
		close(fds[i][0]);
		close(fds[i][1]);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

TEST_F(grant, listed)
{
	struct rdmachan_object objects[32];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects, .objects_max = 32,
		.object_size = sizeof(*objects),
	};
	struct rdmachan_grant_range range = RANGE(self->region, MAY_READ | MAY_ATOMIC, 8, 640);
	unsigned int i, found = 0;

	range.cookie = 0xabcdef;
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_held(self->holder, range.out_grant));
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
	for (i = 0; i < list.out_count; i++) {
		if (objects[i].kind == RDMACHAN_KIND_REGION)
			EXPECT_EQ(objects[i].uses, 1);
		if (objects[i].kind != RDMACHAN_KIND_GRANT)
			continue;
		found++;
		EXPECT_EQ(objects[i].length, 640);
		EXPECT_EQ(objects[i].grant, range.out_grant);
		EXPECT_EQ(objects[i].region, self->region);
		EXPECT_EQ(objects[i].rights & MAY_ALL, MAY_READ | MAY_ATOMIC);
		EXPECT_EQ(objects[i].cookie, 0xabcdef);
	}
	EXPECT_EQ(found, 1);
}

TEST_HARNESS_MAIN
