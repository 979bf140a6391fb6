// SPDX-License-Identifier: GPL-2.0
/*
 * grant_ask_test.c - many atomic operations that the owner's kernel does, and cannot answer
 *
 * The holder takes no frames for a while. Those that it has asked for until then have been done,
 * and are so many at most that their owner can keep the answers. All others wait, and can be
 * cancelled, or come to nothing when the channel ends. Where the adapter does atomic operations
 * there is nobody to be asked.
 */
#include <pthread.h>
#include <signal.h>

#include "common.h"
#include "fault.h"
#include "grant.h"
#include "grant_ring.h"
#include "harness.h"
#include "inject.h"
#include "pair.h"
#include "region.h"
#include "slow.h"

/* What a channel has asked for at a time, and what the test wants of it. */
#define ASKED 1024
#define MANY 6000
#define CANCELLED 300
/* Of those whose turn comes to nothing, RCH_TURNS_AT_ONCE. */
#define AT_ONCE 64

FIXTURE(ask)
{
	int root;
	int ctx;
	int owner;
	int holder;
	uint32_t grant;
	struct queue q;
};

static uint64_t lent[512] __attribute__((aligned(4096)));

/* How many were done. */
static uint64_t sum(void)
{
	return __atomic_load_n(lent, __ATOMIC_RELAXED);
}

static uint64_t link_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.link_id;
}

/* One message in each frame, until there is credit for none. One is on its way then. */
static void use_up_credits(struct fixture_ask *self)
{
	char word;

	do
		ASSERT_EQ(do_send(self->owner, "", 0, 0, DONTWAIT), 0);
	while (!do_recv(self->holder, &word, 1, NULL, TIMEOUT(500)));
	ASSERT_EQ(errno, ETIMEDOUT);
}

static void stand_still(struct fixture_ask *self)
{
	inject("withhold", "link=%llu count=0", (unsigned long long)link_of(self->holder));
	use_up_credits(self);
}

static bool by_device(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.rights & RDMACHAN_RIGHT_BY_DEVICE;
}

static void end(struct fixture_ask *self)
{
	close(self->owner);
	close(self->holder);
	close(self->ctx);
	inject_end(self->root);
}

FIXTURE_SETUP(ask)
{
	struct rdmachan_grant_event event;
	struct rdmachan_grant_range range;
	int64_t region;
	int fds[2];

	inject_begin();
	/* So that no answer is late, on a kernel that checks all it does. */
	put(PARAMETERS "dead_ms", "6000");
	self->root = open_ctx();
	self->ctx = fault_pair_of(22800, fds);
	self->owner = fds[0];
	self->holder = fds[1];
	if (by_device(self->holder)) {
		end(self);
		SKIP("the adapter does atomic operations");
	}
	region = region_register(self->ctx, lent, sizeof(lent), 0, NULL);
	ASSERT_GT(region, 0);
	range = RANGE(region, RDMACHAN_RIGHT_ATOMIC, 0, 8);
	ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_next(self->holder, &event));
	self->grant = event.grant;
	ASSERT_EQ(queue_open(self->ctx, &self->q, 8192, 8192), 0);
	stand_still(self);
}

FIXTURE_TEARDOWN(ask)
{
	queue_close(&self->q);
	end(self);
}

/* Ask for many. Those that may be asked for are done, and no more. */
static void ask_many(struct fixture_ask *self)
{
	int64_t until = now_ms() + 20000;
	int i;

	for (i = 0; i < MANY; i++)
		queue_fetch_add(&self->q, self->holder, self->grant, 0, 1, i);
	ASSERT_EQ(queue_submit(&self->q), MANY);
	while (sum() < ASKED && now_ms() < until)
		sleep_ms(1);
	/* Records that could come behind them have time to. */
	sleep_ms(300);
	EXPECT_EQ(sum(), ASKED);
	EXPECT_EQ(queue_ready(&self->q), 0);
}

/* Their results. Return: how many of them were @res */
static int results(struct fixture_ask *self, int count, int64_t res, int64_t other)
{
	struct rdmachan_cqe cqe;
	int i, same = 0;

	for (i = 0; i < count; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_TRUE(cqe.res == res || cqe.res == other);
		same += cqe.res == res;
	}
	return same;
}

/* None fails, however long the answers take. */
TEST_F_TIMEOUT(ask, wait_for_their_turn, 60)
{
	char word;

	ask_many(self);
	inject_off("withhold");
	EXPECT_EQ(results(self, MANY, 0, 0), MANY);
	EXPECT_EQ(sum(), MANY);
	/* The records on their way. */
	EXPECT_EQ(do_recv(self->holder, &word, 1, NULL, TIMEOUT(10000)), 0);
}

/* Those that wait for their turn were not done, and will not be. */
TEST_F_TIMEOUT(ask, cancelled, 60)
{
	struct rdmachan_cqe cqe;
	int i;

	ask_many(self);
	for (i = 1; i <= CANCELLED; i++)
		queue_cancel(&self->q, MANY - i, 0, MANY);
	ASSERT_EQ(queue_submit(&self->q), CANCELLED);
	for (i = 0; i < 2 * CANCELLED; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_EQ(cqe.res, cqe.user_data == MANY ? 1 : -ECANCELED);
	}
	/* One that is asked for cannot be. */
	queue_cancel(&self->q, 5, 0, MANY);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -EALREADY);
	inject_off("withhold");
	EXPECT_EQ(results(self, MANY - CANCELLED, 0, 0), MANY - CANCELLED);
	EXPECT_EQ(sum(), MANY - CANCELLED);
}

/* Nobody wants them any more, and others have their turn. */
TEST_F_TIMEOUT(ask, queue_closed, 60)
{
	struct queue other;
	struct rdmachan_cqe cqe;
	int i;

	ask_many(self);
	ASSERT_EQ(queue_open(self->ctx, &other, 2048, 2048), 0);
	for (i = 0; i < 2048; i++)
		queue_fetch_add(&other, self->holder, self->grant, 0, 1, i);
	ASSERT_EQ(queue_submit(&other), 2048);
	queue_close(&self->q);
	inject_off("withhold");
	for (i = 0; i < 2048; i++) {
		ASSERT_TRUE(queue_wait(&other, &cqe));
		EXPECT_EQ(cqe.res, 0);
	}
	EXPECT_EQ(sum(), ASKED + 2048);
	queue_close(&other);
	ASSERT_EQ(queue_open(self->ctx, &self->q, 8, 8), 0);
}

/*
 * Nothing of the others is asked for when the memory is wanted back. Soft interrupt answers for a
 * few of them, and a work item for as many at a time.
 */
TEST_F_TIMEOUT(ask, revoked, 60)
{
	int done, before = module_count("put_off");

	ask_many(self);
	ASSERT_EQ(grant_revoke(self->owner, self->grant, DONTWAIT), 0);
	inject_off("withhold");
	done = results(self, MANY, 0, -EKEYREVOKED);
	EXPECT_EQ(sum(), done);
	EXPECT_GE(sum(), ASKED);
	EXPECT_GE((module_count("put_off") - before) * 2 * AT_ONCE, MANY - done);
	EXPECT_TRUE(grant_returned(self->owner, self->grant, RDMACHAN_CAUSE_SHUTDOWN));
}

/* What becomes of those that were asked for is not known, and of the others it is. */
TEST_F_TIMEOUT(ask, link_killed, 60)
{
	struct rdmachan_cqe cqe;
	int i, unknown = 0;

	ask_many(self);
	inject("kill", "count=1");
	ASSERT_EQ(do_send(self->holder, "", 0, 0, DONTWAIT), 0);
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_LT(cqe.res, 0);
		unknown += cqe.res == -EREMOTEIO;
	}
	EXPECT_EQ(sum(), ASKED);
	EXPECT_EQ(unknown, ASKED);
	inject_off("withhold");
}

/*
 * Nothing will be heard of what was asked for, in soft interrupt for a few, and by a work item for
 * as many at a time.
 */
TEST_F_TIMEOUT(ask, link_killed_in_parts, 60)
{
	const int before = module_count("put_off");
	const int64_t until = now_ms() + 20000;
	int i;

	for (i = 0; i < ASKED; i++)
		queue_fetch_add(&self->q, self->holder, self->grant, 0, 1, i);
	ASSERT_EQ(queue_submit(&self->q), ASKED);
	while (sum() < ASKED)
		sleep_ms(1);
	inject("kill", "count=1");
	ASSERT_EQ(do_send(self->holder, "", 0, 0, DONTWAIT), 0);
	EXPECT_EQ(results(self, ASKED, -EREMOTEIO, -EREMOTEIO), ASKED);
	/* ASKED / AT_ONCE other parts are answers that the owner's end has not told, and drops. */
	while (module_count("put_off") - before < 3 * ASKED / AT_ONCE / 2 && now_ms() < until)
		sleep_ms(1);
	EXPECT_GE(module_count("put_off") - before, 3 * ASKED / AT_ONCE / 2);
	inject_off("withhold");
}

/*
 * A side without an answer for some dead times ends the connection: nobody waits in a call for
 * that.
 */
TEST_F_TIMEOUT(ask, never_answered, 60)
{
	struct rdmachan_error error;
	int64_t begun = tick_ms();

	ask_many(self);
	while (!queue_ready(&self->q) && now_ms() < begun + 50000)
		sleep_ms(50);
	EXPECT_TOOK(begun, 4 * 6000, timer_late(4 * 6000) + 50);
	EXPECT_EQ(results(self, MANY, -EREMOTEIO, -EPROTO), ASKED);
	ASSERT_EQ(get_error(self->holder, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PROTOCOL);
	EXPECT_EQ(error.op, RDMACHAN_OP_ACCESS);
	EXPECT_EQ(sum(), ASKED);
	inject_off("withhold");
}

struct caller {
	struct fixture_ask *self;
	int error;
};

static void *call(void *arg)
{
	struct caller *caller = arg;

	caller->error = grant_add(caller->self->holder, caller->self->grant, 0, 1, NULL) ?
			errno : 0;
	return NULL;
}

/* So does a call. */
TEST_F_TIMEOUT(ask, call_waits, 60)
{
	struct caller callers[4];
	pthread_t threads[4];
	pid_t child;
	int i;

	ask_many(self);
	child = fork();
	if (!child)
		_exit(grant_add(self->holder, self->grant, 0, 1, NULL) ? 1 : 0);
	for (i = 0; i < 4; i++) {
		callers[i].self = self;
		ASSERT_EQ(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
	}
	sleep_ms(100);
	EXPECT_EQ(sum(), ASKED);
	/* One that waits can be killed, and was not done. */
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	inject_off("withhold");
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(pthread_join(threads[i], NULL), 0);
		EXPECT_EQ(callers[i].error, 0);
	}
	EXPECT_EQ(results(self, MANY, 0, 0), MANY);
	EXPECT_EQ(sum(), MANY + 4);
}

struct watch {
	struct slow never;
	int ready;
};

/* Somebody wants the memory: he is stuck. */
static void *say_stuck(void *arg)
{
	struct watch *watch = arg;
	struct uffd_msg msg;

	if (read(watch->never.fd, &msg, sizeof(msg)) != sizeof(msg) ||
	    write(watch->ready, "x", 1) != 1)
		_exit(3);
	return NULL;
}

/* A queue asks for many, and then runs for ever, as its program's memory does not come. */
static void stick(struct fixture_ask *self, int full, int ready)
{
	struct watch watch = { .ready = ready };
	struct queue other;
	pthread_t thread;
	int i;

	if (!slow_begin(&watch.never, 4096))
		_exit(2);
	ASSERT_EQ(pthread_create(&thread, NULL, say_stuck, &watch), 0);
	ASSERT_EQ(queue_open(self->ctx, &other, 4096, 4096), 0);
	for (i = 0; i < 2048; i++)
		queue_fetch_add(&other, self->holder, self->grant, 0, 1, i);
	ASSERT_EQ(queue_submit(&other), 2048);
	queue_recv(&other, full, watch.never.memory, watch.never.len, 1);
	queue_submit(&other);
	_exit(1);
}

/* Its turns are taken all the same, and those of operations behind it. */
TEST_F_TIMEOUT(ask, queue_is_stuck, 60)
{
	struct caller caller = { .self = self };
	int fds[2], ready[2], status;
	pthread_t thread;
	pid_t child;
	char byte;

	/* By a link of its own, as the other has no credit. */
	pair_up(self->root, fds, NULL);
	ASSERT_EQ(write(fds[0], "x", 1), 1);
	ASSERT_EQ(pipe(ready), 0);
	ask_many(self);
	child = fork();
	if (!child)
		stick(self, fds[1], ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		ASSERT_EQ(waitpid(child, &status, 0), child);
		ASSERT_EQ(WEXITSTATUS(status), 2);
		inject_off("withhold");
		SKIP("there is no userfaultfd");
	}
	ASSERT_EQ(waitpid(child, &status, WNOHANG), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, call, &caller), 0);
	inject_off("withhold");
	EXPECT_EQ(results(self, MANY, 0, 0), MANY);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(caller.error, 0);
	EXPECT_EQ(sum(), MANY + 2048 + 1);
	ASSERT_EQ(waitpid(child, &status, WNOHANG), 0);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	close(ready[0]);
	close(fds[0]);
	close(fds[1]);
}

TEST_HARNESS_MAIN
