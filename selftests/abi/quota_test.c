// SPDX-License-Identifier: GPL-2.0
/*
 * quota_test.c - limits: what a user may have, and all users together
 *
 * Limits are set for the whole module, so each test begins with those that were found,
 * and so does whoever comes after this program.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "pair.h"
#include "region.h"

#define PARAMETERS "/sys/module/rdmachan/parameters/"
#define ABSENT "10.77.0.99"
#define ALICE 1000
#define BOB 1001
#define KIB 1024U
#define MIB (1024U * KIB)

static const char *const names[] = {
	"user_contexts", "all_contexts", "user_listeners", "all_listeners",
	"user_channels", "all_channels", "user_pending", "all_pending",
	"user_buffer_mib", "all_buffer_mib", "user_queues", "all_queues",
	"user_pollers", "all_pollers", "user_grants", "user_pinned_mib",
	"user_regions", "user_links",
};

#define NAMES (sizeof(names) / sizeof(*names))

static unsigned int found[NAMES];

static const struct rdmachan_tuning small = { 64 * KIB, 64 * KIB, 0, 0 };

static int set(const char *name, unsigned int value)
{
	char path[128], text[16];
	int fd, len, ret;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	len = snprintf(text, sizeof(text), "%u", value);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -1;
	ret = write(fd, text, len) == len ? 0 : -1;
	close(fd);
	return ret;
}

static unsigned int get(const char *name)
{
	char path[128], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		exit(1);
	close(fd);
	return atoi(text);
}

static void restore(void)
{
	size_t i;

	for (i = 0; i < NAMES; i++)
		set(names[i], found[i]);
}

/* A context that belongs to another user, and is not exempt. */
static int open_as(uid_t uid)
{
	int ctx, error;

	ASSERT_EQ(setresuid(-1, uid, -1), 0);
	ctx = open(DEVICE, O_RDWR | O_CLOEXEC);
	error = errno;
	ASSERT_EQ(setresuid(-1, 0, -1), 0);
	errno = error;
	return ctx;
}

/* The same on the peer's host. */
static int open_there_as(uid_t uid)
{
	int here = enter_peer(), ctx = open_as(uid);

	leave_peer(here);
	return ctx;
}

static struct rdmachan_use use_of(int ctx, enum rdmachan_limit limit)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	switch (limit) {
	case RDMACHAN_LIMIT_CONTEXTS:
		return info.out_use_contexts;
	case RDMACHAN_LIMIT_LISTENERS:
		return info.out_use_listeners;
	case RDMACHAN_LIMIT_CHANNELS:
		return info.out_use_channels;
	case RDMACHAN_LIMIT_PENDING:
		return info.out_use_pending;
	default:
		return info.out_use_bytes;
	}
}

#define CONTEXTS(ctx) use_of(ctx, RDMACHAN_LIMIT_CONTEXTS)
#define LISTENERS(ctx) use_of(ctx, RDMACHAN_LIMIT_LISTENERS)
#define CHANNELS(ctx) use_of(ctx, RDMACHAN_LIMIT_CHANNELS)
#define PENDING(ctx) use_of(ctx, RDMACHAN_LIMIT_PENDING)
#define BYTES(ctx) use_of(ctx, RDMACHAN_LIMIT_BYTES)

/* Closed channels are delivered in the background. Return: the amount left at the end */
static uint64_t wait_use(int ctx, enum rdmachan_limit limit, uint64_t want)
{
	int64_t until = now_ms() + 10000;

	while (use_of(ctx, limit).user != want && now_ms() < until)
		sleep_ms(2);
	return use_of(ctx, limit).user;
}

FIXTURE(quota)
{
	int root;
	int alice;
	int bob;
	/* The same users on the peer's host. */
	int root_there;
	int alice_there;
	int bob_there;
};

FIXTURE_SETUP(quota)
{
	restore();
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	self->root = open_ctx();
	self->alice = open_as(ALICE);
	self->bob = open_as(BOB);
	self->root_there = open_peer();
	self->alice_there = open_there_as(ALICE);
	self->bob_there = open_there_as(BOB);
	ASSERT_GE(self->alice, 0);
	ASSERT_GE(self->bob, 0);
	ASSERT_GE(self->alice_there, 0);
	ASSERT_GE(self->bob_there, 0);
	/* What an earlier test has closed. */
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	EXPECT_EQ(wait_use(self->bob, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	EXPECT_EQ(wait_use(self->root, RDMACHAN_LIMIT_CHANNELS, 0), 0);
}

FIXTURE_TEARDOWN(quota)
{
	restore();
	close(self->bob_there);
	close(self->alice_there);
	close(self->root_there);
	close(self->bob);
	close(self->alice);
	close(self->root);
}

/* All that a program does, with contexts of both hosts. */
static void works(int ctx, int there)
{
	const struct opts o = { .tuning = small };
	int listener = do_listen(there, SERVICE + 9, &o), a, b;

	ASSERT_GE(listener, 0);
	a = do_connect(ctx, SERVICE + 9, &o);
	ASSERT_GE(a, 0);
	b = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(b, 0);
	talk(a, b);
	close(a);
	close(b);
	close(listener);
}

#define EXPECT_RECORD(e, err, why, what, which)					\
	do {									\
		EXPECT_EQ((e).error, err);					\
		EXPECT_EQ((e).cause, why);					\
		EXPECT_EQ((e).op, what);					\
		EXPECT_EQ((e).detail, which);					\
		EXPECT_GT((e).time_ns, 0);					\
	} while (0)

TEST_F(quota, contexts_of_a_user)
{
	int one;

	/* Two of the fixture. */
	ASSERT_EQ(set("user_contexts", 4), 0);
	one = open_as(ALICE);
	ASSERT_GE(one, 0);
	ASSERT_GE(open_as(ALICE), 0);
	EXPECT_ERR(open_as(ALICE), EDQUOT);
	EXPECT_GE(open_as(BOB), 0);
	works(self->bob, self->bob_there);
	close(one);
	EXPECT_GE(open_as(ALICE), 0);
	EXPECT_ERR(open_as(ALICE), EDQUOT);
	EXPECT_EQ(CONTEXTS(self->alice).user, 4);
}

TEST_F(quota, contexts_in_all)
{
	ASSERT_EQ(set("all_contexts", CONTEXTS(self->root).all + 1), 0);
	ASSERT_GE(open_as(ALICE), 0);
	EXPECT_ERR(open_as(BOB), ENOSPC);
	/* Nobody is exempt from this. */
	EXPECT_ERR(open(DEVICE, O_RDWR), ENOSPC);
	works(self->bob, self->bob_there);
}

/* Opens contexts as users 1 to 8 of a namespace. Return: how many there can be */
static int open_as_each(void)
{
	int count = 0;

	while (count < 8 && open_as(count + 1) >= 0)
		count++;
	return count;
}

static int in_namespace_of(uid_t owner, int told, int mapped)
{
	char c;

	ASSERT_EQ(setresuid(owner, owner, owner), 0);
	ASSERT_EQ(unshare(CLONE_NEWUSER), 0);
	ASSERT_EQ(write(told, "u", 1), 1);
	ASSERT_EQ(read(mapped, &c, 1), 1);
	ASSERT_EQ(setresuid(0, 0, 0), 0);
	return open_as_each();
}

/* Return: how many contexts the users of a namespace of @owner's could open. */
static int opened_in_namespace_of(uid_t owner)
{
	int told[2], mapped[2], fd;
	char path[64], map[64], c;
	pid_t child;

	ASSERT_EQ(pipe(told), 0);
	ASSERT_EQ(pipe(mapped), 0);
	child = fork();
	if (!child)
		_exit(in_namespace_of(owner, told[1], mapped[0]));
	ASSERT_EQ(read(told[0], &c, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	snprintf(map, sizeof(map), "0 %u 1\n1 100000 8\n", owner);
	fd = open(path, O_WRONLY);
	ASSERT_EQ(write(fd, map, strlen(map)), (ssize_t)strlen(map));
	close(fd);
	ASSERT_EQ(write(mapped[1], "m", 1), 1);
	return WEXITSTATUS(child_status(child));
}

/* The user ids that a user was given have together what he may have, and no more. */
TEST_F(quota, contexts_in_a_namespace)
{
	/* Two of the fixture. */
	ASSERT_EQ(set("user_contexts", 5), 0);
	EXPECT_EQ(opened_in_namespace_of(ALICE), 3);
	EXPECT_EQ(CONTEXTS(self->alice).user, 2);
	/* Root bounds them by other means. */
	ASSERT_EQ(set("user_contexts", 1), 0);
	EXPECT_EQ(opened_in_namespace_of(0), 8);
}

/* The last sixteenth of what all may have is for root. */
TEST_F(quota, listeners_of_root)
{
	int count = 0;

	ASSERT_EQ(LISTENERS(self->root).all, 0);
	ASSERT_EQ(set("all_listeners", 32), 0);
	while (count < 100 && do_listen(self->alice, SERVICE + count, NULL) >= 0)
		count++;
	EXPECT_EQ(errno, ENOSPC);
	EXPECT_EQ(count, 30);
	EXPECT_GE(do_listen(self->root, SERVICE + 30, NULL), 0);
	EXPECT_GE(do_listen(self->root, SERVICE + 31, NULL), 0);
	EXPECT_ERR(do_listen(self->root, SERVICE + 32, NULL), ENOSPC);
}

static int make_queue_with(int ctx, uint32_t entries, uint32_t flags, struct rdmachan_error *error)
{
	struct rdmachan_queue_create_args create = {
		.size = sizeof(create), .flags = flags,
		.sq_entries = entries, .cq_entries = entries,
		.sqe_size = sizeof(struct rdmachan_sqe), .cqe_size = sizeof(struct rdmachan_cqe),
		.error_ptr = (uintptr_t)error,
	};

	memset(error, 0, sizeof(*error));
	error->size = sizeof(*error);
	return ioctl(ctx, RDMACHAN_QUEUE_CREATE, &create) ? -1 : create.out_fd;
}

static int make_queue(int ctx, uint32_t entries, struct rdmachan_error *error)
{
	return make_queue_with(ctx, entries, 0, error);
}

TEST_F(quota, queues_of_a_user)
{
	struct rdmachan_error error;
	uint64_t before = BYTES(self->alice).user;
	int one;

	ASSERT_EQ(set("user_queues", 2), 0);
	one = make_queue(self->alice, 8, &error);
	ASSERT_GE(one, 0);
	ASSERT_GE(make_queue(self->alice, 8, &error), 0);
	EXPECT_ERR(make_queue(self->alice, 8, &error), EDQUOT);
	EXPECT_RECORD(error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, RDMACHAN_OP_NONE,
		      RDMACHAN_LIMIT_QUEUES);
	EXPECT_GE(make_queue(self->bob, 8, &error), 0);
	close(one);
	EXPECT_GE(make_queue(self->alice, 8, &error), 0);
	/* Their memory counts as that of buffers does. */
	ASSERT_EQ(set("user_queues", 100), 0);
	ASSERT_EQ(set("user_buffer_mib", before / MIB + 4), 0);
	EXPECT_ERR(make_queue(self->alice, 32768, &error), ENOBUFS);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_BYTES);
	EXPECT_GE(make_queue(self->alice, 1024, &error), 0);
	EXPECT_GT(BYTES(self->alice).user, before + 1024 * (64 + 32));
}

TEST_F(quota, listeners_of_a_user)
{
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	int one;

	ASSERT_EQ(set("user_listeners", 2), 0);
	one = do_listen(self->alice, SERVICE, NULL);
	ASSERT_GE(one, 0);
	ASSERT_GE(do_listen(self->alice, SERVICE + 1, NULL), 0);
	EXPECT_ERR(do_listen(self->alice, SERVICE + 2, &told), EDQUOT);
	EXPECT_RECORD(error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, RDMACHAN_OP_LISTEN,
		      RDMACHAN_LIMIT_LISTENERS);
	EXPECT_EQ(error.service, SERVICE + 2);
	works(self->bob, self->bob_there);
	close(one);
	EXPECT_GE(do_listen(self->alice, SERVICE + 2, NULL), 0);
	/* A failure for another reason charges nothing, and says nothing of limits. */
	ASSERT_EQ(set("user_listeners", 3), 0);
	EXPECT_ERR(do_listen(self->alice, SERVICE + 2, &told), EADDRINUSE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	EXPECT_GE(do_listen(self->alice, SERVICE + 3, NULL), 0);
}

TEST_F(quota, listeners_in_all)
{
	struct rdmachan_error error;

	ASSERT_EQ(set("all_listeners", LISTENERS(self->root).all + 1), 0);
	ASSERT_GE(do_listen(self->alice, SERVICE, NULL), 0);
	EXPECT_ERR(do_listen(self->root, SERVICE + 1, &(struct opts){ .error = &error }),
		   ENOSPC);
	EXPECT_RECORD(error, ENOSPC, RDMACHAN_CAUSE_TOTAL_LIMIT, RDMACHAN_OP_LISTEN,
		      RDMACHAN_LIMIT_LISTENERS);
}

TEST_F(quota, channels_of_a_user)
{
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	int listener = do_listen(self->root_there, SERVICE, NULL), one, two, accepted;

	ASSERT_EQ(set("user_channels", 2), 0);
	one = do_connect(self->alice, SERVICE, NULL);
	two = do_connect(self->alice, SERVICE, NULL);
	ASSERT_GE(two, 0);
	EXPECT_ERR(do_connect(self->alice, SERVICE, &told), EDQUOT);
	EXPECT_RECORD(error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, RDMACHAN_OP_OPEN,
		      RDMACHAN_LIMIT_CHANNELS);
	EXPECT_EQ(error.service, SERVICE);
	EXPECT_EQ(error.peer.family, peer_address().family);
	EXPECT_ERR(do_connect(self->alice, SERVICE,
			      &(struct opts){ .flags = RDMACHAN_FD_F_NONBLOCK }), EDQUOT);
	works(self->bob, self->bob_there);
	accepted = do_accept(listener, TIMEOUT(5000));
	talk(one, accepted);
	close(one);
	close(accepted);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 1), 1);
	EXPECT_GE(do_connect(self->alice, SERVICE, NULL), 0);
}

TEST_F(quota, channels_in_all)
{
	struct rdmachan_error error;

	/* One for each end. */
	ASSERT_GE(do_listen(self->root_there, SERVICE, NULL), 0);
	ASSERT_EQ(set("all_channels", CHANNELS(self->root).all + 2), 0);
	ASSERT_GE(do_connect(self->alice, SERVICE, NULL), 0);
	EXPECT_ERR(do_connect(self->root, SERVICE, &(struct opts){ .error = &error }), ENOSPC);
	EXPECT_RECORD(error, ENOSPC, RDMACHAN_CAUSE_TOTAL_LIMIT, RDMACHAN_OP_OPEN,
		      RDMACHAN_LIMIT_CHANNELS);
}

/* Channels that a peer opens are charged to the listener's user. */
TEST_F(quota, channels_that_come)
{
	int listener = do_listen(self->alice_there, SERVICE, NULL), mine[3], theirs[3], i;
	struct rdmachan_info before, after;
	struct rdmachan_error error;
	const struct opts told = { .error = &error };

	ASSERT_EQ(set("user_channels", 3), 0);
	for (i = 0; i < 3; i++) {
		mine[i] = do_connect(self->root, SERVICE, NULL);
		ASSERT_GE(mine[i], 0);
	}
	ASSERT_EQ(get_info(self->root, &before), 0);
	for (i = 0; i < 20; i++) {
		EXPECT_ERR(do_connect(self->root, SERVICE, &told), ECONNREFUSED);
		EXPECT_RECORD(error, ECONNREFUSED, RDMACHAN_CAUSE_PEER_RESOURCES,
			      RDMACHAN_OP_OPEN, error.detail);
	}
	ASSERT_EQ(get_info(self->root, &after), 0);
	EXPECT_EQ(after.out_refused_channels - before.out_refused_channels, 20);
	EXPECT_EQ(after.out_use_channels.refused - before.out_use_channels.refused, 20);
	EXPECT_EQ(after.out_refused_links, before.out_refused_links);
	EXPECT_EQ(CHANNELS(self->alice).user, 3);
	for (i = 0; i < 3; i++) {
		theirs[i] = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(theirs[i], 0);
		talk(mine[i], theirs[i]);
	}
	EXPECT_ERR(do_connect(self->alice, SERVICE, NULL), EDQUOT);
	works(self->bob, self->bob_there);
	close(theirs[1]);
	close(mine[1]);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 2), 2);
	EXPECT_GE(do_connect(self->root, SERVICE, NULL), 0);
	talk(mine[0], theirs[0]);
	talk(mine[2], theirs[2]);
}

TEST_F(quota, connects_in_progress)
{
	struct rdmachan_error error;
	const struct opts later = {
		.flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 2000, .error = &error,
	};
	struct rdmachan_addr addr = address_of(ABSENT);
	int64_t begun = tick_ms();
	int fds[3], i;

	ASSERT_GE(do_listen(self->root_there, SERVICE, NULL), 0);
	ASSERT_EQ(set("user_pending", 3), 0);
	for (i = 0; i < 3; i++) {
		fds[i] = do_connect_to(self->alice, &addr, SERVICE, &later);
		ASSERT_GE(fds[i], 0);
	}
	EXPECT_EQ(PENDING(self->alice).user, 3);
	EXPECT_ERR(do_connect(self->alice, SERVICE, &later), EDQUOT);
	EXPECT_RECORD(error, EDQUOT, RDMACHAN_CAUSE_USER_LIMIT, RDMACHAN_OP_OPEN,
		      RDMACHAN_LIMIT_PENDING);
	works(self->bob, self->bob_there);
	/* They fail, and are channels still but not pending. */
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(poll_mask(fds[i], POLLOUT, 40000) & POLLERR);
	EXPECT_TOOK(begun, 2000, LIMIT_LATE(2000));
	EXPECT_EQ(PENDING(self->alice).user, 0);
	EXPECT_EQ(CHANNELS(self->alice).user, 3);
	for (i = 0; i < 4; i++)
		EXPECT_GE(do_connect(self->alice, SERVICE, NULL), 0);
}

/* Closing does not make them free at once: they still cost something. */
TEST_F(quota, connects_given_up)
{
	const struct opts later = { .flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 1000 };
	struct rdmachan_addr addr = address_of(ABSENT);
	int i, fd;

	for (i = 0; i < 50; i++) {
		fd = do_connect_to(self->alice, &addr, SERVICE, &later);
		ASSERT_GE(fd, 0);
		close(fd);
	}
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_PENDING, 0), 0);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 0), 0);
}

TEST_F(quota, channels_that_wait)
{
	int listener = do_listen(self->alice_there, SERVICE, NULL), mine[3], theirs;
	struct rdmachan_error error;
	const struct opts told = { .error = &error };

	ASSERT_EQ(set("user_pending", 2), 0);
	mine[0] = do_connect(self->root, SERVICE, NULL);
	mine[1] = do_connect(self->root, SERVICE, NULL);
	ASSERT_GE(mine[1], 0);
	EXPECT_ERR(do_connect(self->root, SERVICE, &told), ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
	/* One that was closed by its peer waits all the same. */
	close(mine[1]);
	EXPECT_EQ(wait_use(self->root, RDMACHAN_LIMIT_CHANNELS, 1), 1);
	EXPECT_ERR(do_connect(self->root, SERVICE, NULL), ECONNREFUSED);
	theirs = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(theirs, 0);
	talk(mine[0], theirs);
	EXPECT_EQ(PENDING(self->alice).user, 1);
	mine[2] = do_connect(self->root, SERVICE, NULL);
	ASSERT_GE(mine[2], 0);
	close(do_accept(listener, TIMEOUT(5000)));
	theirs = do_accept(listener, TIMEOUT(5000));
	talk(mine[2], theirs);
	EXPECT_EQ(PENDING(self->alice).user, 0);
}

TEST_F(quota, pending_in_all)
{
	struct rdmachan_error error;

	ASSERT_GE(do_listen(self->root_there, SERVICE, NULL), 0);
	ASSERT_EQ(set("all_pending", PENDING(self->root).all), 0);
	EXPECT_ERR(do_connect(self->root, SERVICE, &(struct opts){ .error = &error }), ENOSPC);
	EXPECT_RECORD(error, ENOSPC, RDMACHAN_CAUSE_TOTAL_LIMIT, RDMACHAN_OP_OPEN,
		      RDMACHAN_LIMIT_PENDING);
}

TEST_F(quota, bytes_of_a_user)
{
	const struct rdmachan_tuning half = { 512 * KIB, 512 * KIB, 0, 0 };
	struct rdmachan_error error;
	const struct opts o = { .tuning = half, .error = &error };
	const struct opts less = { .tuning = small };
	int listener = do_listen(self->root_there, SERVICE, NULL), one, accepted;

	ASSERT_EQ(set("user_buffer_mib", 2), 0);
	one = do_connect(self->alice, SERVICE, &o);
	ASSERT_GE(one, 0);
	ASSERT_GE(do_connect(self->alice, SERVICE, &less), 0);
	EXPECT_EQ(BYTES(self->alice).user, MIB + 128 * KIB);
	EXPECT_ERR(do_connect(self->alice, SERVICE, &o), ENOBUFS);
	EXPECT_RECORD(error, ENOBUFS, RDMACHAN_CAUSE_USER_BYTES, RDMACHAN_OP_OPEN,
		      RDMACHAN_LIMIT_BYTES);
	EXPECT_GE(do_connect(self->alice, SERVICE, &less), 0);
	works(self->bob, self->bob_there);
	accepted = do_accept(listener, TIMEOUT(5000));
	talk(one, accepted);
}

TEST_F(quota, bytes_in_all)
{
	/* Four ends leave root's sixteenth, and have no room for a fifth. */
	const struct rdmachan_tuning half = { 448 * KIB, 448 * KIB, 0, 0 };
	struct rdmachan_error error;
	const struct opts o = { .tuning = half, .error = &error };
	int i;

	ASSERT_EQ(BYTES(self->root).all, 0);
	ASSERT_GE(do_listen(self->root_there, SERVICE, &o), 0);
	ASSERT_EQ(set("all_buffer_mib", 4), 0);
	for (i = 0; i < 2; i++)
		ASSERT_GE(do_connect(self->alice, SERVICE, &o), 0);
	EXPECT_ERR(do_connect(self->root, SERVICE, &o), ENOSPC);
	EXPECT_RECORD(error, ENOSPC, RDMACHAN_CAUSE_TOTAL_LIMIT, RDMACHAN_OP_OPEN,
		      RDMACHAN_LIMIT_BYTES);
}

TEST_F(quota, bytes_of_channels_that_come)
{
	const struct rdmachan_tuning half = { 512 * KIB, 512 * KIB, 0, 0 };
	const struct opts o = { .tuning = half };
	int listener = do_listen(self->alice_there, SERVICE, &o), one, accepted;
	struct rdmachan_error error;

	ASSERT_EQ(set("user_buffer_mib", 2), 0);
	one = do_connect(self->root, SERVICE, NULL);
	ASSERT_GE(one, 0);
	/* The rest of it is Alice's own. */
	EXPECT_ERR(do_connect(self->root, SERVICE, &(struct opts){ .error = &error }),
		   ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
	accepted = do_accept(listener, TIMEOUT(5000));
	talk(one, accepted);
}

/* What the kernel keeps for the adapter: at least the address of each page. */
TEST_F(quota, bytes_of_grants)
{
	struct rdmachan_grant_range range = { .length = 8 * MIB, .rights = MAY_READ };
	int listener = do_listen(self->root_there, SERVICE, NULL), a, b;
	struct rdmachan_error error;
	uint64_t before;
	int64_t grant;
	void *memory = mmap(NULL, range.length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	a = do_connect(self->alice, SERVICE, &(struct opts){ .tuning = small });
	b = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(b, 0);
	range.region = region_register(self->alice, memory, range.length, 0, &error);
	ASSERT_GT((int)range.region, 0);
	before = BYTES(self->alice).user;
	grant = grant_range(a, self->alice, &range);
	ASSERT_TRUE(grant_held(b, grant));
	EXPECT_GT(BYTES(self->alice).user - before, range.length / 4096 * sizeof(uint64_t));
	EXPECT_EQ(grant_revoke(a, grant, NULL), 0);
	EXPECT_TRUE(grant_returned(a, grant, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_EQ(BYTES(self->alice).user, before);
	/* The few pages of small ones count as well. */
	ASSERT_EQ(set("user_buffer_mib", 1), 0);
	range.length = 4096;
	do
		grant = grant_range(a, self->alice, &range);
	while (grant > 0 && grant_held(b, grant) && BYTES(self->alice).user < 4 * MIB);
	EXPECT_ERR((int)grant_range(a, self->alice, &range), ENOBUFS);
	/* Those that are held count as grants too. */
	EXPECT_LE(grants_in_use(self->alice), 2 * MIB / KIB);
	EXPECT_LE(BYTES(self->alice).user, MIB);
}

/* A channel with small buffers from root, on which a large message comes to Alice. */
static void pair_of_two(struct fixture_quota *self, int listener, int fds[2])
{
	const struct opts o = { .tuning = small };

	fds[0] = do_connect(self->root, SERVICE, &o);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(fds[1], 0);
}

/* Opens channels to Alice until her host refuses. Return: how many there are */
static int besiege(struct fixture_quota *self)
{
	const struct opts o = { .tuning = small };
	int count = 0;

	while (count < 100 && do_connect(self->root, SERVICE, &o) >= 0)
		count++;
	EXPECT_EQ(errno, ECONNREFUSED);
	return count;
}

/* Whatever peers open that nobody accepts: a quarter of each limit is left. */
TEST_F(quota, own_beside_those_that_come)
{
	const struct opts o = { .tuning = small };
	int listener = do_listen(self->alice_there, SERVICE, &o), i;

	ASSERT_GE(listener, 0);
	ASSERT_GE(do_listen(self->root_there, SERVICE + 1, &o), 0);
	ASSERT_EQ(set("user_pending", 8), 0);
	EXPECT_EQ(besiege(self), 6);
	works(self->bob, self->bob_there);
	EXPECT_GE(do_connect(self->alice, SERVICE + 1, &o), 0);
	for (i = 0; i < 6; i++)
		ASSERT_GE(do_accept(listener, TIMEOUT(5000)), 0);
	/* Accepted ones stay what a peer has opened. */
	ASSERT_EQ(set("user_channels", 12), 0);
	EXPECT_EQ(besiege(self), 2);
	for (i = 0; i < 3; i++)
		EXPECT_GE(do_connect(self->alice, SERVICE + 1, &o), 0);
	EXPECT_ERR(do_connect(self->alice, SERVICE + 1, &o), EDQUOT);
	ASSERT_EQ(set("user_channels", 100), 0);
	ASSERT_EQ(set("user_pending", 100), 0);
	ASSERT_EQ(set("user_buffer_mib", 2), 0);
	EXPECT_EQ(besiege(self), 0);
	for (i = 0; i < 4; i++)
		EXPECT_GE(do_connect(self->alice, SERVICE + 1, &o), 0);
	EXPECT_ERR(do_connect(self->alice, SERVICE + 1, &o), ENOBUFS);
}

/* The channel ends to which a peer gives too many. */
TEST_F(quota, own_grants_beside_held_ones)
{
	static char memory[4096];
	struct rdmachan_grant_range range = { .length = 64, .rights = MAY_READ }, own = range;
	int listener = do_listen(self->alice_there, SERVICE, NULL), fds[2], other[2], i;

	pair_of_two(self, listener, fds);
	pair_of_two(self, listener, other);
	range.region = region_register(self->root, memory, sizeof(memory), 0, NULL);
	own.region = region_register(self->alice_there, memory, sizeof(memory), 0, NULL);
	ASSERT_EQ(set("user_grants", 8), 0);
	for (i = 0; i < 6; i++)
		ASSERT_TRUE(grant_held(fds[1], grant_range(fds[0], self->root, &range)));
	EXPECT_GT(grant_range(fds[0], self->root, &range), 0);
	EXPECT_TRUE(poll_mask(fds[1], POLLIN, 20000) & POLLERR);
	/* Those that are held count until the channel is gone. */
	for (i = 0; i < 2; i++)
		EXPECT_GT(grant_range(other[1], self->alice_there, &own), 0);
	EXPECT_ERR((int)grant_range(other[1], self->alice_there, &own), EDQUOT);
}

/* A program of Alice's that registers memory and ends. */
static int pin_and_end(int ctx, size_t length, uint64_t used)
{
	const struct rlimit limit = { 8 * MIB, 8 * MIB };
	struct rdmachan_error error;
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	ASSERT_EQ(setresuid(ALICE, ALICE, ALICE), 0);
	if (!used) {
		EXPECT_GT((int)region_register(ctx, memory, length, 0, &error), 0);
		return harness_failures;
	}
	EXPECT_ERR((int)region_register(ctx, memory, length, 0, &error), ENOMEM);
	EXPECT_RECORD(error, ENOMEM, RDMACHAN_CAUSE_MEMLOCK, RDMACHAN_OP_REGISTER, 0);
	EXPECT_EQ(error.limit, 12 * MIB);
	EXPECT_EQ(error.used, used);
	EXPECT_EQ(error.needed, length);
	return harness_failures;
}

/* Its regions stay until the context is closed, and its limit of locked memory is gone. */
TEST_F(quota, pinned_by_one_program_after_the_other)
{
	struct rdmachan_info before, after;

	ASSERT_EQ(get_info(self->root, &before), 0);
	ASSERT_EQ(set("user_pinned_mib", 12), 0);
	EXPECT_EQ(child_status(LATER(0, _exit(pin_and_end(self->alice, 8 * MIB, 0)))), 0);
	EXPECT_EQ(child_status(LATER(0, _exit(pin_and_end(self->alice, 8 * MIB, 8 * MIB)))), 0);
	EXPECT_EQ(child_status(LATER(0, _exit(pin_and_end(self->alice, 4 * MIB, 0)))), 0);
	EXPECT_EQ(child_status(LATER(0, _exit(pin_and_end(self->alice, 4096, 12 * MIB)))), 0);
	close(self->alice);
	self->alice = open_as(ALICE);
	EXPECT_EQ(child_status(LATER(0, _exit(pin_and_end(self->alice, 8 * MIB, 0)))), 0);
	/* A limit of locked memory that is larger is for the user as well. */
	ASSERT_EQ(set("user_pinned_mib", 1), 0);
	close(self->alice);
	self->alice = open_as(ALICE);
	EXPECT_EQ(child_status(LATER(0, _exit(pin_and_end(self->alice, 8 * MIB, 0)))), 0);
	/* Two were refused. */
	ASSERT_EQ(get_info(self->root, &after), 0);
	EXPECT_EQ(after.out_refused_memlock - before.out_refused_memlock, 2);
}

#define LARGE (8 * MIB)

TEST_F(quota, message_larger_than_the_buffer)
{
	const struct opts o = { .tuning = small };
	int listener = do_listen(self->alice_there, SERVICE, &o), fds[2];
	char *data = calloc(1, LARGE);
	uint64_t idle;
	pid_t child;

	pair_of_two(self, listener, fds);
	ASSERT_EQ(set("user_buffer_mib", 16), 0);
	idle = BYTES(self->alice).user;
	EXPECT_EQ(idle, 128 * KIB);
	child = LATER(0, write(fds[0], data, LARGE));
	ASSERT_TRUE(wait_readable(fds[1], 20000));
	EXPECT_EQ(child_status(child), 0);
	/* It is all here, and charged. */
	EXPECT_GE(BYTES(self->alice).user, LARGE);
	EXPECT_EQ(read(fds[1], data, LARGE), LARGE);
	EXPECT_EQ(BYTES(self->alice).user, idle);
	talk(fds[0], fds[1]);
	free(data);
}

TEST_F(quota, message_beyond_the_limit)
{
	const struct opts o = { .tuning = small };
	int listener = do_listen(self->alice_there, SERVICE, &o), fds[2], other[2];
	char *data = calloc(1, LARGE);
	struct rdmachan_error error;
	pid_t child;

	pair_of_two(self, listener, fds);
	pair_of_two(self, listener, other);
	ASSERT_EQ(set("user_buffer_mib", 4), 0);
	child = fork();
	if (!child) {
		EXPECT_ERR(do_send(fds[0], data, LARGE, 0, &(struct opts){ .error = &error }),
			   ECONNRESET);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
		_exit(harness_failures);
	}
	/* A polling program gets no message written straight to its memory. */
	EXPECT_EQ(poll_mask(fds[1], POLLIN, 20000), POLLIN | POLLERR | POLLHUP);
	EXPECT_ERR(do_recv(fds[1], data, LARGE, NULL, DONTWAIT), ENOBUFS);
	ASSERT_EQ(get_error(fds[1], &error), 0);
	EXPECT_RECORD(error, ENOBUFS, RDMACHAN_CAUSE_USER_BYTES, RDMACHAN_OP_RECV,
		      RDMACHAN_LIMIT_BYTES);
	EXPECT_EQ(error.local.family, peer_address().family);
	EXPECT_EQ(error.peer.family, peer_address().family);
	EXPECT_GT(strlen(error.device), 0);
	EXPECT_EQ(child_status(child), 0);
	talk(other[0], other[1]);
	close(fds[0]);
	close(fds[1]);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_BYTES, 128 * KIB), 128 * KIB);
	works(self->bob, self->bob_there);
	free(data);
}

static int make_context(struct fixture_quota *self)
{
	(void)self;
	return open_as(ALICE);
}

static int make_listener(struct fixture_quota *self)
{
	return do_listen(self->alice, SERVICE + 1, NULL);
}

static int make_channel(struct fixture_quota *self)
{
	return do_connect(self->alice, SERVICE, NULL);
}

static int make_large_channel(struct fixture_quota *self)
{
	return do_connect(self->alice, SERVICE,
			  &(struct opts){ .tuning = { MIB, MIB, 0, 0 } });
}

static int make_small_queue(struct fixture_quota *self)
{
	struct rdmachan_error error;

	return make_queue(self->alice, 8, &error);
}

static int make_polled_queue(struct fixture_quota *self)
{
	struct rdmachan_error error;

	return make_queue_with(self->alice, 8, RDMACHAN_QUEUE_F_POLLER, &error);
}

static int make_region(struct fixture_quota *self)
{
	static char memory[4096];

	return region_register(self->alice, memory, sizeof(memory), 0, NULL);
}

static int make_grant(struct fixture_quota *self)
{
	struct rdmachan_grant_range range = { .length = 64, .rights = MAY_READ };
	int chan = make_channel(self);

	ASSERT_GE(chan, 0);
	range.region = make_region(self);
	ASSERT_GT((int)range.region, 0);
	return grant_range(chan, self->alice, &range);
}

/* Links that are there serve as well. */
static int make_link(struct fixture_quota *self)
{
	await_no_links(self->root);
	return make_channel(self);
}

/* One request that a limit is in the way of: which, at which value, and the error. */
static const struct {
	const char *name;
	unsigned int value;
	enum rdmachan_limit limit;
	int error;
	int (*make)(struct fixture_quota *self);
} one_refused[] = {
	{ "user_contexts", 0, RDMACHAN_LIMIT_CONTEXTS, EDQUOT, make_context },
	{ "user_listeners", 0, RDMACHAN_LIMIT_LISTENERS, EDQUOT, make_listener },
	{ "user_channels", 0, RDMACHAN_LIMIT_CHANNELS, EDQUOT, make_channel },
	{ "user_pending", 0, RDMACHAN_LIMIT_PENDING, EDQUOT, make_channel },
	{ "user_buffer_mib", 1, RDMACHAN_LIMIT_BYTES, ENOBUFS, make_large_channel },
	{ "user_queues", 0, RDMACHAN_LIMIT_QUEUES, EDQUOT, make_small_queue },
	{ "user_regions", 0, RDMACHAN_LIMIT_REGIONS, EDQUOT, make_region },
	{ "user_pollers", 0, RDMACHAN_LIMIT_POLLERS, EDQUOT, make_polled_queue },
	{ "user_grants", 0, RDMACHAN_LIMIT_GRANTS, EDQUOT, make_grant },
	{ "user_links", 0, RDMACHAN_LIMIT_LINKS, EDQUOT, make_link },
	{ "all_listeners", 1, RDMACHAN_LIMIT_LISTENERS, ENOSPC, make_listener },
	{ "all_queues", 0, RDMACHAN_LIMIT_QUEUES, ENOSPC, make_small_queue },
};

#define LIMITS (RDMACHAN_LIMIT_LINKS + 1)

static void refused_so_far(int ctx, uint64_t refused[LIMITS])
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	refused[RDMACHAN_LIMIT_CONTEXTS] = info.out_use_contexts.refused;
	refused[RDMACHAN_LIMIT_LISTENERS] = info.out_use_listeners.refused;
	refused[RDMACHAN_LIMIT_CHANNELS] = info.out_use_channels.refused;
	refused[RDMACHAN_LIMIT_PENDING] = info.out_use_pending.refused;
	refused[RDMACHAN_LIMIT_BYTES] = info.out_use_bytes.refused;
	refused[RDMACHAN_LIMIT_QUEUES] = info.out_use_queues.refused;
	refused[RDMACHAN_LIMIT_REGIONS] = info.out_use_regions.refused;
	refused[RDMACHAN_LIMIT_POLLERS] = info.out_use_pollers.refused;
	refused[RDMACHAN_LIMIT_GRANTS] = info.out_use_grants.refused;
	refused[RDMACHAN_LIMIT_LINKS] = info.out_use_links.refused;
}

/* Each refusal counts once, for the limit that was in the way. */
TEST_F_ROWS(quota, counts_what_is_refused_by, one_refused)
{
	uint64_t before[LIMITS], after[LIMITS];
	unsigned int i;

	ASSERT_GE(do_listen(self->root_there, SERVICE, NULL), 0);
	refused_so_far(self->root, before);
	ASSERT_EQ(set(row->name, row->value), 0);
	EXPECT_ERR(row->make(self), row->error);
	refused_so_far(self->root, after);
	for (i = 0; i < LIMITS; i++)
		EXPECT_EQ(after[i] - before[i], i == row->limit);
}

/* CAP_SYS_RESOURCE, of the context's opener. */
TEST_F(quota, exempt)
{
	const char *const user[] = {
		"user_contexts", "user_listeners", "user_channels", "user_pending",
	};
	int ctx, there;
	size_t i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(set(user[i], 0), 0);
	ASSERT_EQ(set("user_buffer_mib", 1), 0);
	ctx = open(DEVICE, O_RDWR);
	ASSERT_GE(ctx, 0);
	there = open_peer();
	works(ctx, there);
	ASSERT_GE(do_listen(there, SERVICE, NULL), 0);
	EXPECT_GE(do_connect(ctx, SERVICE, NULL), 0);
	EXPECT_ERR(open_as(ALICE), EDQUOT);
	EXPECT_ERR(do_listen(self->alice, SERVICE + 1, NULL), EDQUOT);
	EXPECT_ERR(do_connect(self->alice, SERVICE, NULL), EDQUOT);
}

TEST_F(quota, set_at_run_time)
{
	int listener = do_listen(self->alice_there, SERVICE, NULL), fds[2], again;

	ASSERT_GE(listener, 0);
	pair_of_two(self, listener, fds);
	/* Below what is in use: nothing is taken away. */
	ASSERT_EQ(set("user_channels", 0), 0);
	ASSERT_EQ(set("user_pending", 0), 0);
	ASSERT_EQ(set("user_listeners", 0), 0);
	ASSERT_EQ(set("user_contexts", 0), 0);
	ASSERT_EQ(set("user_buffer_mib", 1), 0);
	talk(fds[0], fds[1]);
	EXPECT_ERR(do_connect(self->root, SERVICE, NULL), ECONNREFUSED);
	restore();
	again = do_connect(self->root, SERVICE, NULL);
	ASSERT_GE(again, 0);
	talk(again, do_accept(listener, TIMEOUT(5000)));
	EXPECT_ERR(set("user_channels", 0xffffffffU), EINVAL);
}

TEST_F(quota, info_tells)
{
	const struct opts o = { .tuning = small };
	int listener, a, b;

	ASSERT_EQ(set("user_channels", 77), 0);
	ASSERT_EQ(set("all_channels", 777), 0);
	ASSERT_EQ(set("user_buffer_mib", 5), 0);
	EXPECT_EQ(CHANNELS(self->alice).user_max, 77);
	EXPECT_EQ(CHANNELS(self->alice).all_max, 777);
	EXPECT_EQ(BYTES(self->alice).user_max, 5 * MIB);
	ASSERT_EQ(set("user_buffer_mib", 0), 0);
	EXPECT_GT(BYTES(self->alice).user_max, 64 * MIB);
	EXPECT_GT(BYTES(self->alice).all_max, BYTES(self->alice).user_max);

	listener = do_listen(self->alice_there, SERVICE, &o);
	a = do_connect(self->root, SERVICE, &o);
	ASSERT_GE(a, 0);
	EXPECT_EQ(CONTEXTS(self->alice).user, 2);
	EXPECT_EQ(CONTEXTS(self->alice).all, 6);
	EXPECT_EQ(LISTENERS(self->alice).user, 1);
	EXPECT_EQ(LISTENERS(self->root).user, 0);
	EXPECT_EQ(PENDING(self->alice).user, 1);
	EXPECT_EQ(PENDING(self->root).user, 0);
	b = do_accept(listener, NULL);
	ASSERT_GE(b, 0);
	EXPECT_EQ(PENDING(self->alice).user, 0);
	EXPECT_EQ(CHANNELS(self->alice).user, 1);
	EXPECT_EQ(CHANNELS(self->root).user, 1);
	EXPECT_EQ(CHANNELS(self->root).all, 2);
	EXPECT_EQ(BYTES(self->root).user, 128 * KIB);
	EXPECT_EQ(BYTES(self->root).all, 256 * KIB);
}

/* A closed channel that is not delivered costs what it did when it was open. */
TEST_F(quota, lingering)
{
	const struct opts o = { .tuning = small };
	int listener = do_listen(self->root_there, SERVICE, &o), a, b, sent, got = 0;
	char data[4096];

	ASSERT_EQ(set("user_channels", 1), 0);
	a = do_connect(self->alice, SERVICE, &o);
	b = do_accept(listener, NULL);
	ASSERT_GE(b, 0);
	sent = fill_up(a, sizeof(data));
	ASSERT_GT(sent, 16);
	close(a);
	sleep_ms(100);
	EXPECT_EQ(CHANNELS(self->alice).user, 1);
	EXPECT_EQ(BYTES(self->alice).user, 128 * KIB);
	EXPECT_ERR(do_connect(self->alice, SERVICE, NULL), EDQUOT);
	while (read(b, data, sizeof(data)) == sizeof(data))
		got++;
	EXPECT_EQ(got, sent);
	close(b);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	EXPECT_EQ(BYTES(self->alice).user, 0);
	EXPECT_GE(do_connect(self->alice, SERVICE, &o), 0);
}

/* With limits that allow for one pair, and no more. */
static int thousand_pairs(void)
{
	const struct opts o = { .tuning = small };
	int ctx, there, listener, a, b, i;

	for (i = 0; i < turns(1000); i++) {
		ctx = open_as(ALICE);
		there = open_there_as(ALICE);
		ASSERT_EQ(setresuid(-1, ALICE, -1), 0);
		listener = do_listen(there, SERVICE, &o);
		ASSERT_GE(listener, 0);
		a = do_connect(ctx, SERVICE, &o);
		ASSERT_GE(a, 0);
		b = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(b, 0);
		if (i % 100 == 0)
			talk(a, b);
		close(a);
		close(b);
		close(listener);
		ASSERT_EQ(wait_use(ctx, RDMACHAN_LIMIT_CHANNELS, 0), 0);
		ASSERT_EQ(BYTES(ctx).user, 0);
		ASSERT_EQ(PENDING(ctx).user, 0);
		close(ctx);
		close(there);
		ASSERT_EQ(setresuid(-1, 0, -1), 0);
	}
	return 0;
}

TEST_F_TIMEOUT(quota, a_thousand_times, 120)
{
	pid_t child;

	close(self->alice);
	close(self->alice_there);
	ASSERT_EQ(set("user_contexts", 2), 0);
	ASSERT_EQ(set("user_listeners", 1), 0);
	ASSERT_EQ(set("user_channels", 2), 0);
	ASSERT_EQ(set("user_pending", 2), 0);
	ASSERT_EQ(set("user_buffer_mib", 1), 0);
	child = fork();
	if (!child)
		_exit(thousand_pairs());
	EXPECT_EQ(child_status(child), 0);
}

/* A thousand refusals leave no more behind than a thousand channels. */
TEST_F(quota, refused_a_thousand_times)
{
	struct rdmachan_error error;
	int listener = do_listen(self->alice_there, SERVICE, NULL), i;

	ASSERT_GE(listener, 0);
	ASSERT_EQ(set("user_channels", 0), 0);
	for (i = 0; i < turns(1000); i++) {
		ASSERT_ERR(do_connect(self->root, SERVICE, &(struct opts){ .error = &error }),
			   ECONNREFUSED);
		ASSERT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
		ASSERT_ERR(do_connect(self->alice, SERVICE, NULL), EDQUOT);
	}
	EXPECT_EQ(CHANNELS(self->alice).user, 0);
	EXPECT_EQ(BYTES(self->alice).user, 0);
	EXPECT_EQ(wait_use(self->root, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	restore();
	EXPECT_GE(do_connect(self->root, SERVICE, NULL), 0);
}

/* Connects and closes; a refused connect must be refused for a limit, and not for ever. */
static int knock(int ctx, uint64_t max)
{
	const struct opts o = { .tuning = small };
	int i, fd, made = 0;

	for (i = 0; i < 300 || !made; i++) {
		fd = do_connect(ctx, SERVICE, &o);
		if (fd < 0)
			EXPECT_TRUE(errno == EDQUOT || errno == ECONNREFUSED);
		made += fd >= 0;
		EXPECT_LE(CHANNELS(ctx).user, max);
		close(fd);
	}
	return harness_failures;
}

/* Two users who have too little, and a third who has to do with both. */
TEST_F(quota, many_at_once)
{
	const int ctx[] = { self->alice, self->bob, self->alice, self->bob };
	const struct opts o = { .tuning = small };
	int listener = do_listen(self->bob_there, SERVICE, &o), i;
	pid_t acceptor, children[4];

	ASSERT_GE(listener, 0);
	ASSERT_EQ(set("user_channels", 3), 0);
	acceptor = fork();
	while (!acceptor)
		close(do_accept(listener, NULL));
	for (i = 0; i < 4; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(knock(ctx[i], 3));
	}
	works(self->root, self->root_there);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	kill(acceptor, SIGKILL);
	child_status(acceptor);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	close(listener);
	EXPECT_EQ(wait_use(self->bob, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	EXPECT_EQ(BYTES(self->bob).user + BYTES(self->alice).user, 0);
	EXPECT_EQ(PENDING(self->bob).user + PENDING(self->alice).user, 0);
}

TEST_F(quota, killed_program)
{
	int i, ready[2];
	pid_t child;
	char c;

	ASSERT_EQ(pipe(ready), 0);
	child = fork();
	if (!child) {
		int ctx, listener;

		listener = do_listen(open_there_as(ALICE), SERVICE, NULL);
		ASSERT_EQ(setresuid(ALICE, ALICE, ALICE), 0);
		ctx = open_ctx();
		for (i = 0; i < 10; i++)
			ASSERT_GE(do_connect(ctx, SERVICE, NULL), 0);
		for (i = 0; i < 5; i++)
			ASSERT_GE(do_accept(listener, NULL), 0);
		ASSERT_EQ(write(ready[1], "r", 1), 1);
		pause();
	}
	ASSERT_EQ(read(ready[0], &c, 1), 1);
	EXPECT_EQ(CHANNELS(self->alice).user, 20);
	EXPECT_EQ(PENDING(self->alice).user, 5);
	kill(child, SIGKILL);
	child_status(child);
	EXPECT_EQ(wait_use(self->alice, RDMACHAN_LIMIT_CHANNELS, 0), 0);
	EXPECT_EQ(PENDING(self->alice).user, 0);
	EXPECT_EQ(LISTENERS(self->alice).user, 0);
	EXPECT_EQ(CONTEXTS(self->alice).user, 2);
	EXPECT_EQ(BYTES(self->alice).user, 0);
}

#define GROUP "/run/rch-cgroup"

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return ret;
}

static long long in_group(void)
{
	char text[32] = "";
	int fd = open(GROUP "/own/memory.current", O_RDONLY);

	ASSERT_GT(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	return atoll(text);
}

/* A message that waits to be sent is memory of the sender, also for memory cgroups. */
TEST_F(quota, memory_of_who_sends)
{
	const struct opts little = { .tuning = small };
	const struct opts much = { .tuning = { 16 * MIB, 64 * KIB, 0, 0 } };
	int listener = do_listen(self->root_there, SERVICE, &little), a;
	long long before;

	if ((mkdir(GROUP, 0755) && errno != EEXIST) ||
	    mount("rch", GROUP, "cgroup2", 0, NULL))
		SKIP("there are no cgroups");
	if (put(GROUP "/cgroup.subtree_control", "+memory")) {
		umount(GROUP);
		SKIP("there are no memory cgroups");
	}
	ASSERT_EQ(mkdir(GROUP "/own", 0755), 0);
	ASSERT_EQ(put(GROUP "/own/cgroup.procs", "0"), 0);
	a = do_connect(self->root, SERVICE, &much);
	ASSERT_GE(a, 0);
	before = in_group();
	ASSERT_GT(fill_up(a, 16000), 900);
	EXPECT_GE(in_group() - before, 14 * MIB);
	close(a);
	close(do_accept(listener, NULL));
	EXPECT_EQ(put(GROUP "/cgroup.procs", "0"), 0);
	EXPECT_EQ(rmdir(GROUP "/own"), 0);
	EXPECT_EQ(umount(GROUP), 0);
}

int main(int argc, char **argv)
{
	size_t i;
	int ret;

	for (i = 0; i < NAMES; i++)
		found[i] = get(names[i]);
	ret = harness_main(argc, argv);
	restore();
	return ret;
}
