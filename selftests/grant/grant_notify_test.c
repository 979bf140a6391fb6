// SPDX-License-Identifier: GPL-2.0
/*
 * grant_notify_test.c - messages that go with WRITEs, and those that tell of grants
 */
#include <pthread.h>

#include "common.h"
#include "grant_entries.h"
#include "harness.h"
#include "pair.h"

/* Submit one. Return: its result */
static int64_t alone(void)
{
	submit(1);
	return result(NULL);
}

/*
 * Messages that go with WRITEs
 */

static int write_notify(int chan, uint32_t grant, uint64_t offset, const void *from, uint64_t len,
			const void *data, size_t bytes, uint32_t timeout_ms)
{
	struct iovec iov = { (void *)data, bytes };
	struct rdmachan_access_args access = {
		.size = sizeof(access), .flags = RDMACHAN_WRITE_F_NOTIFY, .grant = grant,
		.msg_flags = 4711, .offset = offset, .addr = (uintptr_t)from, .length = len,
		.iov_ptr = (uintptr_t)&iov, .iov_count = 1, .timeout_ms = timeout_ms,
	};

	return ioctl(chan, RDMACHAN_WRITE, &access);
}

struct watcher {
	pthread_t thread;
	struct fixture_grant *self;
	size_t len;
	bool ok;
};

static bool none_older(const char *data, size_t len, char turn)
{
	while (len--)
		if (data[len] < turn)
			return false;
	return true;
}

/* The owner's end: whenever there is a message, the bytes are as it says, or newer. */
static void *watch(void *arg)
{
	struct watcher *w = arg;
	struct rdmachan_recv_args recv;
	char word[4];

	while (!do_recv(w->self->owner, word, sizeof(word), &recv, TIMEOUT(10000)) &&
	       recv.out_length == 3)
		w->ok &= none_older(w->self->memory, w->len, word[0]) && recv.out_msg_flags == 4711;
	w->ok &= !recv.out_length;
	return NULL;
}

TEST_F_TIMEOUT(grant, notify, 100)
{
	static const size_t sizes[] = { 0, 1, 64, 4096, 70000, MIB };
	uint32_t grant = lend(self, MAY_WRITE, 0, SIZE);
	struct watcher w = { .self = self, .ok = true };
	char *mine = pages(MIB), word[3];
	size_t i;
	int turn;

	for (i = 0; i < COUNT(sizes); i++) {
		w.len = sizes[i];
		ASSERT_EQ(pthread_create(&w.thread, NULL, watch, &w), 0);
		memset(self->memory, 0, w.len);
		for (turn = 1; turn <= turns(50); turn++) {
			memset(mine, turn, w.len);
			memset(word, turn, sizeof(word));
			ASSERT_EQ(write_notify(self->holder, grant, 0, mine, w.len, word,
					       sizeof(word), 0), 0);
		}
		ASSERT_EQ(do_send(self->holder, NULL, 0, 0, NULL), 0);
		pthread_join(w.thread, NULL);
		EXPECT_TRUE(w.ok);
	}
}

TEST_F(grant, notify_refused)
{
	uint32_t grant = lend(self, MAY_ALL, 0, 100), max = 1000;
	struct rdmachan_access_args access = {
		.size = sizeof(access), .grant = grant, .addr = (uintptr_t)self->memory + PAGE,
		.length = 1,
	};
	char *large = pages(MIB);

	access.msg_flags = 1;
	EXPECT_ERR(ioctl(self->holder, RDMACHAN_WRITE, &access), EINVAL);
	EXPECT_ERR(ioctl(self->holder, RDMACHAN_READ, &access), EINVAL);
	access.msg_flags = 0;
	access.timeout_ms = 1;
	EXPECT_ERR(ioctl(self->holder, RDMACHAN_WRITE, &access), EINVAL);
	access.timeout_ms = 0;
	access.flags = RDMACHAN_WRITE_F_NOTIFY;
	EXPECT_ERR(ioctl(self->holder, RDMACHAN_READ, &access), EOPNOTSUPP);
	access.msg_flags = RDMACHAN_MSG_FLAGS_MASK + 1;
	EXPECT_ERR(ioctl(self->holder, RDMACHAN_WRITE, &access), EINVAL);
	access.flags = 2;
	EXPECT_ERR(ioctl(self->holder, RDMACHAN_WRITE, &access), EOPNOTSUPP);
	/* No message goes with what was not written. */
	EXPECT_ERR(write_notify(self->holder, grant, 100, large, 1, "x", 1, 0), ERANGE);
	EXPECT_ERR(write_notify(self->holder, grant, 0, (void *)8, 8, "x", 1, 0), EFAULT);
	EXPECT_ERR(write_notify(self->holder, 4711, 0, large, 1, "x", 1, 0), ENOENT);
	EXPECT_ERR(do_recv(self->owner, large, max, NULL, TIMEOUT(50)), ETIMEDOUT);
	/* Written bytes stay, though the message does not go. */
	EXPECT_ERR(write_notify(self->holder, grant, 0, "abc", 3, (void *)8, 8, 0), EFAULT);
	await_written(self->holder, grant);
	EXPECT_EQ(memcmp(self->memory, "abc", 3), 0);
	ASSERT_EQ(do_shutdown(self->owner, RDMACHAN_SHUTDOWN_RECV), 0);
	while (!do_send(self->holder, "x", 1, 0, NULL))
		sleep_ms(1);
	EXPECT_ERR(write_notify(self->holder, grant, 0, "def", 3, "x", 1, 0), EPIPE);
	await_written(self->holder, grant);
	EXPECT_EQ(memcmp(self->memory, "def", 3), 0);
}

static void expect_message(int chan, uint32_t flags)
{
	struct rdmachan_recv_args recv;
	char data[8];

	ASSERT_EQ(do_recv(chan, data, sizeof(data), &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_length, 0);
	EXPECT_EQ(recv.out_msg_flags, flags);
}

TEST_F(grant, notify_without_room)
{
	uint32_t grant = lend(self, MAY_WRITE, 0, 100);
	int count = fill_up(self->holder, 1000);

	EXPECT_ERR(write_notify(self->holder, grant, 0, "abc", 3, "x", 1, 50), ETIMEDOUT);
	EXPECT_EQ(memcmp(self->memory, "abc", 3), 0);
	EXPECT_EINTR(20, false, write_notify(self->holder, grant, 0, "def", 3, "x", 1, 0));
	EXPECT_EQ(memcmp(self->memory, "def", 3), 0);
	drain(self->owner, count);
	talk(self->holder, self->owner);
}

/* Many at a time: the messages come in order, and each behind its bytes. */
TEST_F_TIMEOUT(grant, queue_notify, 100)
{
	enum { MANY = 200, EACH = 9000 };
	uint32_t grant = lend(self, MAY_WRITE, 0, SIZE), region;
	char *mine = pages(MANY * EACH);
	int turn, i;

	region = region_of(self->ctx, mine, MANY * EACH);
	begin(self);
	for (turn = 1; turn <= turns(20); turn++) {
		memset(mine, turn, MANY * EACH);
		for (i = 0; i < MANY; i++)
			if (i % 2)
				queue_notify(self, grant, i * EACH, mine + i * EACH, EACH, i, i);
			else
				in_region(queue_notify(self, grant, i * EACH, NULL, EACH, i, i),
					  region, i * EACH);
		submit(MANY);
		for (i = 0; i < MANY; i++) {
			expect_message(self->owner, i);
			EXPECT_TRUE(is_all(self->memory + i * EACH, EACH, turn));
		}
		for (i = 0; i < MANY; i++)
			EXPECT_EQ(result(NULL), EACH);
	}
	queue_close(&q);
}

TEST_F(grant, queue_notify_without_room)
{
	uint32_t grant = lend(self, MAY_WRITE, 0, 100);
	int count;

	begin(self);
	count = hold_up(self, grant, "abc");
	drain(self->owner, count);
	expect_message(self->owner, 9);
	expect_message(self->owner, 10);
	expect_done(1, 3);
	expect_done(2, 0);
	/* It is given up: operations behind it go on. */
	count = hold_up(self, grant, "def");
	queue_cancel(&q, 1, 0, 3);
	submit(1);
	EXPECT_EQ(result(NULL) + result(NULL), 1 - ECANCELED);
	drain(self->owner, count);
	expect_message(self->owner, 10);
	expect_done(2, 0);
	count = fill_up(self->holder, 1000);
	queue_notify(self, grant, 0, "ghi", 3, 9, 1)->timeout_ms = 50;
	submit(1);
	expect_done(1, -ETIMEDOUT);
	drain(self->owner, count);
	talk(self->holder, self->owner);
	queue_close(&q);
}

TEST_F(grant, queue_notify_refused)
{
	uint32_t grant = lend(self, MAY_WRITE, 0, 100);
	char word;

	begin(self);
	queue_notify(self, grant, 0, "abc", 3, 9, 1)->op_flags = 3;
	EXPECT_EQ(alone(), -EOPNOTSUPP);
	queue_notify(self, grant, 0, "abc", 3, RDMACHAN_MSG_FLAGS_MASK + 1, 1);
	EXPECT_EQ(alone(), -EINVAL);
	queue_write(&q, self->holder, grant, 0, "abc", 3, 1)->msg_flags = 1;
	EXPECT_EQ(alone(), -EINVAL);
	queue_read(&q, self->holder, grant, 0, &word, 1, 1)->op_flags = RDMACHAN_WRITE_F_NOTIFY;
	EXPECT_EQ(alone(), -EINVAL);
	queue_notify(self, grant, 98, "abc", 3, 9, 1);
	EXPECT_EQ(alone(), -ERANGE);
	EXPECT_ERR(do_recv(self->owner, &word, 1, NULL, TIMEOUT(50)), ETIMEDOUT);
	queue_close(&q);
}

/* The channel ends while the message waits for room. */
TEST_F(grant, queue_notify_at_the_end)
{
	uint32_t grant = lend(self, MAY_WRITE, 0, 100);

	begin(self);
	hold_up(self, grant, "abc");
	close(self->owner);
	self->owner = -1;
	EXPECT_LT(result(NULL), 0);
	EXPECT_LT(result(NULL), 0);
	queue_close(&q);
}

/* All that the path takes at a time, for longer than a call takes. */
static void occupy(struct fixture_grant *self, uint32_t grant, uint32_t region)
{
	int i;

	for (i = 0; i < 15; i++)
		in_region(queue_read(&q, self->holder, grant, i * STEP, NULL, STEP, i), region,
			  i * STEP);
}

/* Messages before a last one. Return: whether there is one that went with a WRITE */
static bool noticed(struct fixture_grant *self, uint16_t flags)
{
	struct grant_message got;
	struct rdmachan_recv_args recv;
	bool any = false;

	ASSERT_EQ(do_send(self->holder, "x", 1, 0, NULL), 0);
	do {
		ASSERT_EQ(grant_recv(self->owner, &got, sizeof(got), &recv, TIMEOUT(10000)), 0);
		any |= recv.out_msg_flags == flags;
	} while (recv.out_length != 1);
	return any;
}

/* The grant ends while the last part of a WRITE waits for its turn: no message goes with it. */
TEST_F_TIMEOUT(grant, queue_notify_in_part, 100)
{
	uint32_t others = lend(self, MAY_READ, 0, SIZE / 2), grant, region;
	int64_t res, done = 0;
	const int count = turns(40);
	int i, j, whole = 0;
	uint64_t data;

	region = region_of(self->ctx, pages(SIZE), SIZE);
	begin(self);
	for (i = 0; i < count; i++) {
		grant = lend(self, MAY_WRITE, SIZE / 2, 2 * PART);
		occupy(self, others, region);
		in_region(queue_notify(self, grant, 0, NULL, 2 * PART, 9, 99), region, SIZE / 2);
		submit(16);
		/* Where time is virtual the first READ takes 1 ms: before its end, or after. */
		pause_ns(time_is_virtual() ? 2000000LL * i / count : 0);
		grant_release(self->holder, grant);
		for (j = 0; j < 16; j++) {
			res = result(&data);
			done = data == 99 ? res : done;
		}
		EXPECT_TRUE(done == 2 * PART || done == -EKEYREVOKED);
		EXPECT_EQ(noticed(self, 9), done == 2 * PART);
		whole += done == 2 * PART;
	}
	EXPECT_BOTH(whole, i);
	queue_close(&q);
}

struct writer {
	pthread_t thread;
	int chan;
	uint32_t grant;
	char *from;
	int error;
};

static void *write_once(void *arg)
{
	struct writer *w = arg;

	w->error = write_notify(w->chan, w->grant, 0, w->from, 2 * PART, NULL, 0, 0) ? errno : 0;
	return NULL;
}

TEST_F_TIMEOUT(grant, notify_in_part, 100)
{
	uint32_t others = lend(self, MAY_READ, 0, SIZE / 2), region;
	struct writer w = { .chan = self->holder, .from = pages(SIZE) };
	const int count = turns(time_is_virtual() ? 60 : 300);
	int i, j, whole = 0;

	region = region_of(self->ctx, pages(SIZE), SIZE);
	begin(self);
	for (i = 0; i < count; i++) {
		w.grant = lend(self, MAY_WRITE, SIZE / 2, 2 * PART);
		occupy(self, others, region);
		submit(15);
		ASSERT_EQ(pthread_create(&w.thread, NULL, write_once, &w), 0);
		/* Where time is virtual the READs take 16 ms: before their end, or after. */
		usleep(time_is_virtual() ? 30000 * i / count : i * 37 % 1500);
		grant_release(self->holder, w.grant);
		pthread_join(w.thread, NULL);
		for (j = 0; j < 15; j++)
			EXPECT_EQ(result(NULL), (int64_t)STEP);
		EXPECT_TRUE(!w.error || w.error == EKEYREVOKED);
		EXPECT_EQ(noticed(self, 4711), !w.error);
		whole += !w.error;
	}
	EXPECT_BOTH(whole, i);
	queue_close(&q);
}

/*
 * Events
 */

static void expect_event(int64_t res, uint32_t flags, const struct rdmachan_grant_event *event,
			 uint32_t grant, uint32_t what)
{
	EXPECT_EQ(res, (int64_t)EVENT);
	EXPECT_EQ(flags & ~(RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER), RDMACHAN_CQE_F_GRANTS);
	EXPECT_EQ(event->grant, grant);
	EXPECT_EQ(event->what, what);
	EXPECT_EQ(event->count, 1);
}

TEST_F(grant, queue_events)
{
	struct rdmachan_grant_event event, *there = (void *)self->memory;
	struct rdmachan_cqe cqe;
	int64_t grant;
	char word;

	begin(self);
	grant = grant_range(self->owner, self->ctx, &RANGE(self->region, MAY_READ, 0, 8));
	ASSERT_GT(grant, 0);
	queue_recv(&q, self->holder, &event, EVENT, 1);
	EXPECT_EQ(alone(), -ENOMSG);
	queue_recv(&q, self->holder, &event, EVENT, 1)->op_flags = RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	expect_event(cqe.res, cqe.flags, &event, grant, RDMACHAN_GRANT_GIVEN);
	/* Into a region, before there is any. */
	region_recv(&q, self->owner, self->region, 0, PAGE, 2)->op_flags =
		RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_EQ(grant_release(self->holder, grant), 0);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	expect_event(cqe.res, cqe.flags, there, grant, RDMACHAN_GRANT_RETURNED);
	/* A plain message. */
	queue_recv(&q, self->holder, &word, 1, 3)->op_flags = RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_EQ(do_send(self->owner, "x", 1, 0, NULL), 0);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.res, 1);
	EXPECT_EQ(cqe.flags, 0);
	queue_recv(&q, self->holder, &word, 1, 3)->op_flags = 4;
	EXPECT_EQ(alone(), -EOPNOTSUPP);
	queue_close(&q);
}

TEST_F(grant, queue_events_pool)
{
	char buffers[6][64] __attribute__((aligned(8)));
	struct rdmachan_cqe cqe;
	struct pool pool;
	int64_t grant;
	int i;

	begin(self);
	ASSERT_EQ(pool_open(&q, &pool, 8), 0);
	for (i = 0; i < 6; i++)
		pool_put(&pool, buffers[i], sizeof(buffers[i]), i);
	queue_recv_many(&q, self->holder, pool.id, 1)->op_flags |= RDMACHAN_RECV_F_GRANTS;
	ASSERT_EQ(queue_submit(&q), 1);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(do_send(self->owner, "word", 4, 0, NULL), 0);
		grant = grant_range(self->owner, self->ctx,
				    &RANGE(self->region, MAY_READ, 0, 8));
		ASSERT_GT(grant, 0);
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER);
		ASSERT_TRUE(queue_wait(&q, &cqe));
		expect_event(cqe.res, cqe.flags, (void *)buffers[cqe.buffer], grant,
			     RDMACHAN_GRANT_GIVEN);
	}
	pool_close(&pool);
	queue_close(&q);
}

TEST_HARNESS_MAIN
