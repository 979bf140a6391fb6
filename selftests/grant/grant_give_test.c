// SPDX-License-Identifier: GPL-2.0
/*
 * grant_give_test.c - GRANT and REVOKE by queues
 */
#include <pthread.h>
#include <sys/stat.h>

#include "common.h"
#include "fault.h"
#include "grant_entries.h"
#include "grant_users.h"
#include "harness.h"
#include "inject.h"

#define USER 22500

/* Submit one. Return: its result */
static int64_t alone(void)
{
	submit(1);
	return result(NULL);
}

/*
 * GRANT
 */

struct giving {
	struct rdmachan_grant_args grant;
	struct rdmachan_grant_range ranges[2];
	struct rdmachan_error error;
};

static struct rdmachan_sqe *give_begin(struct fixture_grant *self, struct giving *g,
				       uint64_t data)
{
	struct rdmachan_sqe *sqe;
	int i;

	for (i = 0; i < 2; i++)
		g->ranges[i] = RANGE(self->region, MAY_READ, i * PAGE, PAGE);
	grant_fill(&g->grant, self->ctx, g->ranges, 2, &(struct opts){ .error = &g->error });
	sqe = queue_add(&q, RDMACHAN_OPCODE_GRANT, self->owner, data);
	sqe->addr = (uintptr_t)&g->grant;
	return sqe;
}

/* The holder has both, and can read them. */
static void expect_given(struct fixture_grant *self, const struct giving *g)
{
	struct grant_message message;
	struct rdmachan_recv_args recv;
	int i;

	ASSERT_EQ(grant_recv(self->holder, &message, sizeof(message), &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_GRANTS);
	ASSERT_EQ(recv.out_length, 2 * EVENT);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(message.events[i].grant, g->ranges[i].out_grant);
		EXPECT_EQ(try_read(self->holder, message.events[i].grant, 0, PAGE), 0);
	}
}

TEST_F(grant, queue_give)
{
	struct giving g, h;
	struct rdmachan_recv_args recv;
	char word;
	int i;

	begin(self);
	for (i = 0; i < turns(50); i++) {
		/* In order with what is sent. */
		queue_send(&q, self->owner, "a", 1, 1);
		give_begin(self, &g, 2);
		queue_send(&q, self->owner, "b", 1, 3);
		give_begin(self, &h, 4);
		submit(4);
		ASSERT_EQ(do_recv(self->holder, &word, 1, &recv, TIMEOUT(10000)), 0);
		EXPECT_EQ(word, 'a');
		expect_given(self, &g);
		ASSERT_EQ(do_recv(self->holder, &word, 1, &recv, TIMEOUT(10000)), 0);
		EXPECT_EQ(word, 'b');
		expect_given(self, &h);
		expect_done(1, 1);
		expect_done(2, 0);
		expect_done(3, 1);
		expect_done(4, 0);
		EXPECT_EQ(grant_revoke(self->owner, g.ranges[0].out_grant, NULL), 0);
		EXPECT_EQ(grant_release(self->holder, h.ranges[1].out_grant), 0);
		await_returned(self->owner, 2);
	}
	queue_close(&q);
}

/* There is no room for the message: nothing is lent until there is. */
TEST_F(grant, queue_give_without_room)
{
	/* Each counts for its owner and for its holder. */
	uint64_t before = grants_in_use(self->ctx);
	struct giving g;
	int count;

	begin(self);
	count = fill_up(self->owner, 1000);
	give_begin(self, &g, 1);
	submit(1);
	sleep_ms(20);
	EXPECT_EQ(queue_ready(&q), 0);
	EXPECT_EQ(grants_in_use(self->ctx), before);
	drain(self->holder, count);
	expect_done(1, 0);
	expect_given(self, &g);
	EXPECT_EQ(grants_in_use(self->ctx), before + 4);
	count = fill_up(self->owner, 1000);
	give_begin(self, &g, 1);
	queue_cancel(&q, 1, 0, 2);
	submit(2);
	EXPECT_EQ(result(NULL) + result(NULL), 1 - ECANCELED);
	give_begin(self, &g, 3)->timeout_ms = 50;
	submit(1);
	expect_done(3, -ETIMEDOUT);
	EXPECT_EQ(grants_in_use(self->ctx), before + 4);
	/* One that never ends but with the queue. */
	give_begin(self, &g, 4);
	submit(1);
	queue_close(&q);
	drain(self->holder, count);
	EXPECT_EQ(grants_in_use(self->ctx), before + 4);
}

/*
 * It waits for a message that is before it. That has to wait for a call of the program as well, as
 * its memory is not there when there is room.
 */
TEST_F(grant, queue_give_behind_a_message)
{
	const char *absent = pages(PAGE);
	struct rdmachan_recv_args recv;
	struct giving g;
	char back[100];
	int count;

	begin(self);
	count = fill_up(self->owner, 1000);
	queue_send(&q, self->owner, absent, sizeof(back), 1);
	give_begin(self, &g, 2);
	submit(2);
	drain(self->holder, count);
	/* A queue without a call runs all it can. */
	sleep_ms(20);
	EXPECT_EQ(queue_ready(&q), 0);
	expect_done(1, sizeof(back));
	expect_done(2, 0);
	ASSERT_EQ(do_recv(self->holder, back, sizeof(back), &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_length, sizeof(back));
	expect_given(self, &g);
	queue_close(&q);
}

TEST_F(grant, queue_give_refused)
{
	uint64_t before = grants_in_use(self->ctx);
	struct giving g;

	begin(self);
	give_begin(self, &g, 1);
	g.grant.flags = RDMACHAN_IO_F_DONTWAIT;
	EXPECT_EQ(alone(), -EINVAL);
	give_begin(self, &g, 1);
	g.grant.timeout_ms = 1;
	EXPECT_EQ(alone(), -EINVAL);
	give_begin(self, &g, 1);
	g.grant.size = 8;
	EXPECT_EQ(alone(), -EINVAL);
	give_begin(self, &g, 1);
	g.grant.size = PAGE + 8;
	EXPECT_EQ(alone(), -E2BIG);
	give_begin(self, &g, 1);
	g.grant.context = self->owner;
	EXPECT_EQ(alone(), -ENOTTY);
	give_begin(self, &g, 1);
	g.grant.context = -1;
	EXPECT_EQ(alone(), -EBADF);
	give_begin(self, &g, 1);
	g.grant.ranges_ptr = 8;
	EXPECT_EQ(alone(), -EFAULT);
	give_begin(self, &g, 1);
	g.ranges[1].length = SIZE + 1;
	EXPECT_EQ(alone(), -ERANGE);
	give_begin(self, &g, 1);
	g.ranges[1].region = 4711;
	EXPECT_EQ(alone(), -ENOENT);
	give_begin(self, &g, 1);
	g.ranges[1].rights = 0;
	EXPECT_EQ(alone(), -EINVAL);
	queue_add(&q, RDMACHAN_OPCODE_GRANT, self->owner, 1)->addr = 8;
	EXPECT_EQ(alone(), -EFAULT);
	queue_add(&q, RDMACHAN_OPCODE_GRANT, self->owner, 1)->length = 8;
	EXPECT_EQ(alone(), -EINVAL);
	queue_add(&q, RDMACHAN_OPCODE_GRANT, self->ctx, 1);
	EXPECT_EQ(alone(), -ENOTTY);
	EXPECT_EQ(grants_in_use(self->ctx), before);
	/* The record says why. */
	ASSERT_EQ(do_shutdown(self->owner, RDMACHAN_SHUTDOWN_SEND), 0);
	give_begin(self, &g, 1);
	EXPECT_EQ(alone(), -EPIPE);
	EXPECT_EQ(g.error.error, EPIPE);
	queue_close(&q);
}

/* A call is asked for, if the one that has woken the poller was not enough. */
static void await_call(void)
{
	while (!(queue_flags(&q) & RDMACHAN_RING_F_ENTER) && !queue_ready(&q))
		sleep_ms(1);
}

/* With a poller it is given in a call, which the ring asks for. */
TEST_F(grant, queue_give_poller)
{
	struct rdmachan_cqe cqe;
	struct giving g;
	int i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 64, 64, 10), 0);
	for (i = 0; i < 5; i++) {
		give_begin(self, &g, 1);
		ASSERT_EQ(queue_poke(&q), 0);
		await_call();
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, 0);
		expect_given(self, &g);
	}
	queue_close(&q);
}

/* Though only a call can give it, it is in order with what is sent. */
TEST_F(grant, queue_give_poller_order)
{
	struct rdmachan_recv_args recv;
	struct giving g;
	char word;
	int i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 64, 64, 10), 0);
	for (i = 0; i < 5; i++) {
		give_begin(self, &g, 1);
		queue_send(&q, self->owner, "a", 1, 2);
		ASSERT_EQ(queue_poke(&q), 0);
		await_call();
		/* What the poller could do it has done when it sleeps. */
		while (!queue_publish(&q))
			sleep_ms(1);
		expect_done(1, 0);
		expect_done(2, 1);
		expect_given(self, &g);
		ASSERT_EQ(do_recv(self->holder, &word, 1, &recv, TIMEOUT(10000)), 0);
		EXPECT_EQ(word, 'a');
	}
	queue_close(&q);
}

static bool contexts_left(int ctx, uint32_t count)
{
	int64_t until = now_ms() + 10000;
	struct rdmachan_info info;

	while (!get_info(ctx, &info) && info.out_contexts != count && now_ms() < until)
		sleep_ms(2);
	return info.out_contexts == count;
}

/* One that waits keeps no context. */
TEST_F(grant, queue_give_of_closed)
{
	int other = open_ctx(), count;
	struct rdmachan_info info;
	struct giving g;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	begin(self);
	count = fill_up(self->owner, 1000);
	give_begin(self, &g, 1);
	g.grant.context = other;
	submit(1);
	close(other);
	EXPECT_TRUE(contexts_left(self->ctx, info.out_contexts - 1));
	EXPECT_EQ(queue_ready(&q), 0);
	drain(self->holder, count);
	expect_done(1, -EBADF);
	queue_close(&q);
}

/*
 * REVOKE
 */

static struct rdmachan_sqe *revoke_add(int chan, uint32_t grant, uint64_t data)
{
	struct rdmachan_sqe *sqe = queue_add(&q, RDMACHAN_OPCODE_REVOKE, chan, data);

	sqe->grant = grant;
	return sqe;
}

/* Under load: it completes when nobody writes any more, and not before the event is there. */
TEST_F_TIMEOUT(grant, queue_revoke_users, 100)
{
	struct user users[USERS];
	uint32_t grant;
	int i;

	begin(self);
	for (i = 0; i < turns(40); i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(i * 97 % 3000);
		revoke_add(self->owner, grant, 1);
		submit(1);
		expect_done(1, 0);
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
	queue_close(&q);
}

/* Thousands in one go. */
TEST_F_TIMEOUT(grant, queue_revoke_many, 100)
{
	enum { MANY = 2000 };
	static uint32_t grants[MANY];
	uint64_t before = grants_in_use(self->ctx);
	int i;

	begin(self);
	for (i = 0; i < MANY; i++)
		grants[i] = lend(self, MAY_READ, i % 1000 * PAGE, PAGE);
	for (i = 0; i < MANY; i++)
		revoke_add(self->owner, grants[i], i);
	submit(MANY);
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(result(NULL), 0);
	EXPECT_EQ(grants_in_use(self->ctx), before);
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(try_read(self->holder, grants[i], 0, 1), EKEYREVOKED);
	queue_close(&q);
}

TEST_F(grant, queue_revoke_refused)
{
	uint32_t grant = lend(self, MAY_READ, 0, 8);

	begin(self);
	revoke_add(self->owner, 4711, 1);
	EXPECT_EQ(alone(), -ENOENT);
	revoke_add(self->owner, 0, 1);
	EXPECT_EQ(alone(), -ENOENT);
	revoke_add(self->holder, grant, 1);
	EXPECT_EQ(alone(), -ENOENT);
	revoke_add(self->ctx, grant, 1);
	EXPECT_EQ(alone(), -ENOTTY);
	revoke_add(self->owner, grant, 1);
	EXPECT_EQ(alone(), 0);
	/* One that has ended is no error. */
	revoke_add(self->owner, grant, 1);
	EXPECT_EQ(alone(), 0);
	queue_add(&q, RDMACHAN_OPCODE_REVOKE, self->owner, 1)->addr = 1;
	EXPECT_EQ(alone(), -EINVAL);
	queue_close(&q);
}

/* While the holder's answer is on the way it can be left, and goes on. */
TEST_TIMEOUT(queue_revoke_left, 100)
{
	struct fixture_grant self = { .memory = pages(SIZE) };
	int root = open_ctx(), fds[2], i;
	uint32_t grants[5];

	inject_begin();
	self.ctx = fault_pair_of(USER, fds);
	self.owner = fds[0];
	self.holder = fds[1];
	self.region = region_of(self.ctx, self.memory, SIZE);
	for (i = 0; i < 5; i++)
		grants[i] = lend(&self, MAY_READ, 0, 100);
	begin(&self);
	inject("delay", "count=0 ms=300");
	revoke_add(self.owner, grants[0], 1);
	revoke_add(self.owner, grants[1], 2);
	revoke_add(self.owner, grants[2], 3)->timeout_ms = 50;
	queue_cancel(&q, 1, 0, 4);
	submit(4);
	EXPECT_EQ(result(NULL) + result(NULL), 1 - ECANCELED);
	expect_done(3, -ETIMEDOUT);
	expect_done(2, 0);
	revoke_add(self.owner, grants[3], 5);
	submit(1);
	/* The queue ends, and the revocation does not. */
	queue_close(&q);
	inject_off("delay");
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(grant_revoke(self.owner, grants[i], NULL), 0);
		EXPECT_EQ(try_read(self.holder, grants[i], 0, 1), EKEYREVOKED);
	}
	EXPECT_EQ(try_read(self.holder, grants[4], 0, 1), 0);
	close(self.owner);
	close(self.holder);
	close(self.ctx);
	inject_end(root);
}

/* The device goes while all of these wait for room, or for each other: they end. */
TEST_TIMEOUT(queue_device_removed, 100)
{
	struct fixture_grant self = { .memory = pages(SIZE) };
	struct fixture_grant back;
	struct giving g;
	uint32_t grant;
	int fds[2], i;

	self.ctx = open_ctx();
	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	pair_up_again(self.ctx, fds);
	self.holder = fds[0];
	self.owner = fds[1];
	self.region = region_of(self.ctx, self.memory, SIZE);
	grant = lend(&self, MAY_WRITE, 0, 100);
	begin(&self);
	hold_up(&self, grant, "abc");
	/* The other way round. */
	back = self;
	back.owner = self.holder;
	give_begin(&back, &g, 3);
	submit(1);
	EXPECT_EQ(remove_device(), 0);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(result(NULL), -ENODEV);
	revoke_add(self.owner, grant, 4);
	EXPECT_EQ(alone(), 0);
	queue_close(&q);
	close(self.owner);
	close(self.holder);
	EXPECT_EQ(region_unregister(self.ctx, self.region), 0);
	close(self.ctx);
	EXPECT_EQ(add_device(), 0);
}

/*
 * What accesses count for
 */

#define PARAMETER PARAMETERS "user_buffer_mib"

static uint64_t bytes_in_use(int ctx)
{
	struct rdmachan_info info;

	return get_info(ctx, &info) ? ~0ULL : info.out_use_bytes.user;
}

/* Return: the amount in use at the end */
static uint64_t await_bytes(int ctx, uint64_t want)
{
	int64_t until = now_ms() + 10000;

	while (bytes_in_use(ctx) != want && now_ms() < until)
		sleep_ms(1);
	return bytes_in_use(ctx);
}

/* At most a MiB more than is in use. */
static void limit_bytes(int ctx, int more)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)(bytes_in_use(ctx) / MIB) + more);
	ASSERT_TRUE(put(PARAMETER, text));
}

/* Of a user who has limits. */
static uint32_t user_setup(struct fixture_grant *self)
{
	int fds[2];

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	self->ctx = fault_pair_of(USER, fds);
	ASSERT_TRUE(await_channels(self->ctx, 2));
	self->owner = fds[0];
	self->holder = fds[1];
	self->memory = pages(SIZE);
	self->region = region_of(self->ctx, self->memory, SIZE);
	return lend(self, MAY_ALL, 0, SIZE);
}

static void user_teardown(struct fixture_grant *self)
{
	ASSERT_TRUE(put(PARAMETER, "0"));
	queue_close(&q);
	close(self->owner);
	close(self->holder);
	close(self->ctx);
	chmod(DEVICE, 0600);
}

#define READS 1000

/* Many that wait for their turn. Return: how many were done; the others have hit the limit */
static int read_many(struct fixture_grant *self, uint32_t grant, char *mine, int count)
{
	int i, done = 0, refused = 0;
	int64_t res;

	for (i = 0; i < count; i++)
		queue_read(&q, self->holder, grant, 0, mine, STEP, i);
	submit(count);
	for (i = 0; i < count; i++) {
		res = result(NULL);
		done += res == (int64_t)STEP;
		refused += res == -ENOBUFS;
	}
	EXPECT_EQ(done + refused, count);
	return done;
}

/* The same until some are refused: the adapter may be done with each before the next begins. */
static int read_too_many(struct fixture_grant *self, uint32_t grant, char *mine)
{
	int64_t until = now_ms() + 15000;
	int done;

	do {
		done = read_many(self, grant, mine, READS);
	} while (done == READS && now_ms() < until);
	return done;
}

TEST_TIMEOUT(queue_limit, 100)
{
	char *mine = pages(STEP);
	struct rdmachan_error error;
	struct fixture_grant self;
	uint32_t grant = user_setup(&self);
	uint64_t before;
	int i, done;

	begin(&self);
	before = bytes_in_use(self.ctx);
	for (i = 0; i < turns(time_is_virtual() ? 2 : 5); i++) {
		limit_bytes(self.ctx, 1);
		done = read_too_many(&self, grant, mine);
		EXPECT_GE(done, 1);
		EXPECT_LT(done, READS);
		EXPECT_EQ(get_error(self.holder, &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_BYTES);
		EXPECT_EQ(error.op, RDMACHAN_OP_ACCESS);
		EXPECT_EQ(await_bytes(self.ctx, before), before);
		/* A queue that ends gives them back as well. */
		for (done = 0; done < 100; done++)
			queue_read(&q, self.holder, grant, 0, mine, STEP, 1);
		submit(100);
		queue_close(&q);
		ASSERT_TRUE(put(PARAMETER, "0"));
		begin(&self);
		EXPECT_EQ(await_bytes(self.ctx, before), before);
		EXPECT_EQ(read_many(&self, grant, mine, READS), READS);
		EXPECT_EQ(await_bytes(self.ctx, before), before);
	}
	user_teardown(&self);
}

#define ROOM 16384
#define HELD 12

/* What the program is asked to bring memory for. */
static void want_memory(struct fixture_grant *self, uint32_t grant, char *mine)
{
	int i;

	for (i = 1; i < HELD; i++)
		queue_read(&q, self->holder, grant, 0, mine + i * ROOM, ROOM, i);
	/* The other half of this one is there. */
	memset(mine + HELD * ROOM, 1, ROOM);
	queue_write(&q, self->holder, grant, 0, mine + HELD * ROOM, 2 * ROOM, HELD);
	ASSERT_EQ(queue_poke(&q), 0);
}

/*
 * The poller leaves that to a call: memory held until then counts. It does not go to sleep
 * before, for the call that wakes it would be one to bring the memory.
 */
TEST_TIMEOUT(queue_limit_poller, 100)
{
	char *mine = pages((HELD + 2) * ROOM);
	struct rdmachan_cqe cqe;
	struct fixture_grant self;
	uint32_t grant = user_setup(&self);
	uint64_t before;
	int i;

	ASSERT_EQ(queue_open_polled(self.ctx, &q, 64, 64, 10000), 0);
	before = bytes_in_use(self.ctx);
	want_memory(&self, grant, mine);
	EXPECT_EQ(await_bytes(self.ctx, before + HELD * ROOM), before + HELD * ROOM);
	EXPECT_EQ(queue_ready(&q), 0);
	for (i = 0; i < HELD; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, cqe.user_data == HELD ? 2 * ROOM : ROOM);
	}
	EXPECT_EQ(await_bytes(self.ctx, before), before);
	/* Where they may not be held a READ has nowhere to leave what has come. */
	munmap(mine, (HELD + 2) * ROOM);
	mine = pages((HELD + 2) * ROOM);
	limit_bytes(self.ctx, 0);
	want_memory(&self, grant, mine);
	for (i = 1; i < HELD; i++) {
		ASSERT_TRUE(queue_watch(&q, &cqe));
		EXPECT_EQ(cqe.res, -ENOBUFS);
	}
	/* A WRITE has nothing left once its first part has been written, and waits for the call. */
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.res, 2 * ROOM);
	EXPECT_EQ(await_bytes(self.ctx, before), before);
	user_teardown(&self);
}

int main(int argc, char **argv)
{
	return users_main(argc, argv);
}
