// SPDX-License-Identifier: GPL-2.0
/*
 * quota_links_test.c - limits: links that a user may have, and all users together
 *
 * Between the same hosts there is a link for each pair of users, and for each address.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define ALICE 1000
#define BOB 1001
#define USERS 3
#define USER_LINKS 1024
#define ALL_LINKS 4096

static const uid_t users[USERS] = { 0, ALICE, BOB };

/* Channels that a test has opened. */
static int opened[64], openings;

FIXTURE(links)
{
	/* Contexts of each user, here and there, and a service of each there. */
	int ctx[USERS];
	int there[USERS];
	int listener[USERS];
};

/* A context that belongs to a user, and is exempt if that is root. */
static int open_as(uid_t uid)
{
	int ctx;

	ASSERT_EQ(setresuid(-1, uid, -1), 0);
	ctx = open(DEVICE, O_RDWR | O_CLOEXEC);
	ASSERT_EQ(setresuid(-1, 0, -1), 0);
	ASSERT_GE(ctx, 0);
	return ctx;
}

static int open_there_as(uid_t uid)
{
	int here = enter_peer(), ctx = open_as(uid);

	leave_peer(here);
	return ctx;
}

static struct rdmachan_use use_of(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_links;
}

static uint64_t links_of(int ctx) { return use_of(ctx).user; }

/* Until a link that has given its place, or is of no use any more, is gone. */
static void await_links(int ctx, uint64_t count)
{
	const int64_t until = now_ms() + 20000;

	while (links_of(ctx) != count && now_ms() < until)
		sleep_ms(2);
	EXPECT_EQ(links_of(ctx), count);
}

FIXTURE_SETUP(links)
{
	int i;

	if (!has_peer())
		SKIP("both ends of each link would be the same user's");
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	for (i = 0; i < USERS; i++) {
		self->ctx[i] = open_as(users[i]);
		self->there[i] = open_there_as(users[i]);
		self->listener[i] = do_listen(self->there[i], SERVICE + i, NULL);
		ASSERT_GE(self->listener[i], 0);
	}
	await_no_links(self->ctx[0]);
	ASSERT_EQ(use_of(self->ctx[0]).all, 0);
}

FIXTURE_TEARDOWN(links)
{
	int i;

	set_parameter("user_links", USER_LINKS);
	set_parameter("all_links", ALL_LINKS);
	while (openings)
		close(opened[--openings]);
	for (i = 0; i < USERS; i++) {
		close(self->listener[i]);
		close(self->there[i]);
		if (i)
			close(self->ctx[i]);
	}
	await_no_links(self->ctx[0]);
	EXPECT_EQ(use_of(self->ctx[0]).all, 0);
	close(self->ctx[0]);
}

static int reach_at(struct fixture_links *self, const struct rdmachan_addr *addr, int from, int to,
		    struct rdmachan_error *error)
{
	int chan = do_connect_to(self->ctx[from], addr, SERVICE + to,
				 &(struct opts){ .error = error, .timeout_ms = 10000 });

	if (chan >= 0)
		opened[openings++] = chan;
	return chan;
}

/* @from's user connects to the service of user @to. */
static int reach(struct fixture_links *self, int from, int to, struct rdmachan_error *error)
{
	const struct rdmachan_addr addr = peer_address();

	return reach_at(self, &addr, from, to, error);
}

/* The same by another address, which is another link. */
static int reach6(struct fixture_links *self, int from, int to, struct rdmachan_error *error)
{
	const struct rdmachan_addr addr = peer_address6();

	return reach_at(self, &addr, from, to, error);
}

static int reached(struct fixture_links *self, int from, int to)
{
	struct rdmachan_error error;
	int chan = reach(self, from, to, &error);

	if (chan < 0)
		printf("# user %d to %d: errno %d, cause %u\n", from, to, errno, error.cause);
	ASSERT_GE(chan, 0);
	return chan;
}

static void expect_limit(const struct rdmachan_error *error, int code, uint32_t cause,
			 uint64_t limit)
{
	EXPECT_EQ(error->error, code);
	EXPECT_EQ(error->cause, cause);
	EXPECT_EQ(error->op, RDMACHAN_OP_CONNECT);
	EXPECT_EQ(error->detail, RDMACHAN_LIMIT_LINKS);
	EXPECT_EQ(error->limit, limit);
	EXPECT_EQ(error->used, limit);
	EXPECT_EQ(error->needed, 1);
	EXPECT_EQ(error->peer.family, peer_address().family);
}

TEST_F(links, of_a_user)
{
	const uint64_t peers = links_of(self->ctx[0]);
	struct rdmachan_error error;

	set_parameter("user_links", 3);
	EXPECT_EQ(use_of(self->ctx[1]).user_max, 3);
	reached(self, 1, 0);
	EXPECT_EQ(links_of(self->ctx[1]), 1);
	EXPECT_EQ(links_of(self->ctx[0]), peers + 1);
	/* A second channel needs no second link. */
	reached(self, 1, 0);
	EXPECT_EQ(links_of(self->ctx[1]), 1);
	/* By his own service there he has both ends. */
	reached(self, 1, 1);
	EXPECT_EQ(links_of(self->ctx[1]), 3);
	EXPECT_ERR(reach(self, 1, 2, &error), EDQUOT);
	expect_limit(&error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, 3);
	EXPECT_EQ(error.service, SERVICE + 2);
	/* Others may, and he may where he has a link. */
	reached(self, 2, 0);
	reached(self, 1, 0);
	/* Root's programs are not bound. */
	set_parameter("user_links", 0);
	reached(self, 0, 0);
}

/* In the background it is the channel that tells. */
TEST_F(links, in_the_background)
{
	struct rdmachan_error error;
	int chan;

	set_parameter("user_links", 0);
	chan = do_connect(self->ctx[1], SERVICE, &(struct opts){ .flags = RDMACHAN_FD_F_NONBLOCK });
	ASSERT_GE(chan, 0);
	EXPECT_TRUE(poll_mask(chan, POLLOUT, 20000) & POLLERR);
	ASSERT_EQ(get_error(chan, &error), 0);
	expect_limit(&error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, 0);
	close(chan);
	EXPECT_EQ(links_of(self->ctx[1]), 0);
}

/* A link that nobody uses is in nobody's way. */
TEST_F(links, idle_ones_give_way)
{
	int i;

	set_parameter("user_links", 1);
	for (i = 0; i < 12; i++) {
		reached(self, 1, i % 2 ? 2 : 0);
		EXPECT_EQ(links_of(self->ctx[1]), 1);
		close(do_accept(self->listener[i % 2 ? 2 : 0], TIMEOUT(5000)));
		close(opened[--openings]);
		await_channels(self->ctx[1], 0);
	}
}

TEST_F(links, of_all)
{
	struct rdmachan_error error;

	/* Two ends each. A sixteenth of so few is none. */
	set_parameter("all_links", 4);
	reached(self, 1, 0);
	reached(self, 2, 0);
	EXPECT_EQ(use_of(self->ctx[0]).all, 4);
	EXPECT_ERR(reach(self, 1, 2, &error), ENOSPC);
	expect_limit(&error, ENOSPC, RDMACHAN_CAUSE_TOTAL_LIMIT, 4);
	EXPECT_ERR(reach(self, 0, 0, &error), ENOSPC);
	expect_limit(&error, ENOSPC, RDMACHAN_CAUSE_TOTAL_LIMIT, 4);
	reached(self, 2, 0);
}

/* Channels of peers are charged to the listener's user, and leave him the last quarter. */
TEST_F(links, that_peers_make)
{
	struct rdmachan_error error;
	struct rdmachan_info before, after;
	struct rdmachan_addr back = own_address();
	int listener = do_listen(self->ctx[0], SERVICE + 9, NULL), own, i;

	ASSERT_GE(listener, 0);
	set_parameter("user_links", 4);
	reached(self, 0, 1);
	reached(self, 2, 1);
	ASSERT_GE(reach6(self, 0, 1, &error), 0);
	EXPECT_EQ(links_of(self->ctx[1]), 3);
	ASSERT_EQ(get_info(self->ctx[0], &before), 0);
	for (i = 0; i < 20; i++) {
		EXPECT_ERR(reach6(self, 2, 1, &error), ECONNREFUSED);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
		EXPECT_EQ(error.op, RDMACHAN_OP_CONNECT);
	}
	ASSERT_EQ(get_info(self->ctx[0], &after), 0);
	EXPECT_EQ(after.out_refused_links - before.out_refused_links, 20);
	EXPECT_EQ(after.out_use_links.refused - before.out_use_links.refused, 20);
	EXPECT_EQ(links_of(self->ctx[1]), 3);
	/* His own program reaches another all the same. */
	own = do_connect_to(self->there[1], &back, SERVICE + 9, TIMEOUT(10000));
	EXPECT_GE(own, 0);
	EXPECT_EQ(links_of(self->ctx[1]), 4);
	/* Those that have no channel any more make room for the next: two must go for one. */
	for (i = 0; i < 3; i++) {
		close(opened[--openings]);
		close(do_accept(self->listener[1], TIMEOUT(5000)));
	}
	ASSERT_TRUE(await_channels(self->ctx[1], 1));
	EXPECT_EQ(links_of(self->ctx[1]), 4);
	EXPECT_GE(reach6(self, 2, 1, &error), 0);
	EXPECT_EQ(links_of(self->ctx[1]), 3);
	/* And others' services are reached. */
	ASSERT_GE(reach6(self, 2, 0, &error), 0);
	close(own);
	close(listener);
}

/* Attempts count from the beginning, and no longer than they last. */
TEST_F(links, that_are_being_made)
{
	const struct rdmachan_addr absent = address_of("10.77.0.99");
	const struct opts later = { .flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 60000 };
	struct rdmachan_error error;
	int chan;

	set_parameter("user_links", 1);
	chan = do_connect_to(self->ctx[1], &absent, SERVICE, &later);
	ASSERT_GE(chan, 0);
	while (!links_of(self->ctx[1]))
		sleep_ms(1);
	EXPECT_ERR(reach(self, 1, 0, &error), EDQUOT);
	expect_limit(&error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, 1);
	close(chan);
	await_links(self->ctx[1], 0);
	reached(self, 1, 0);
}

TEST_HARNESS_MAIN
