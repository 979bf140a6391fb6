// SPDX-License-Identifier: GPL-2.0
/*
 * region_pool_test.c - one RECV for many messages, into buffers that lie in a region
 *
 * What pools do else, queue_pool_test.c tests.
 */
#include <signal.h>
#include <sys/wait.h>

#include "common.h"
#include "harness.h"
#include "pool_scribble.h"
#include "region_fixture.h"

#define MORE RDMACHAN_CQE_F_MORE
#define BUFFER RDMACHAN_CQE_F_BUFFER
#define COUNT(table) (sizeof(table) / sizeof(*(table)))
/* Memory that was not received into. */
#define UNTOUCHED 0x5a

static bool is_filled(const char *data, size_t len)
{
	while (len && *data == UNTOUCHED)
		data++, len--;
	return !len;
}

static void make_pool(struct fixture_region *self, struct pool *pool)
{
	ASSERT_EQ(pool_open(&self->q, pool, 64), 0);
	memset(self->to, UNTOUCHED, SIZE + PAGE);
}

static struct rdmachan_sqe *recv_many(struct queue *q, int chan, const struct pool *pool,
				      uint32_t region, uint64_t data)
{
	struct rdmachan_sqe *sqe = queue_recv_many(q, chan, pool->id, data);

	in_region(sqe, region, 0);
	return sqe;
}

static void begin(struct fixture_region *self, struct pool *pool, uint64_t data)
{
	recv_many(&self->q, self->b, pool, self->to_id, data);
	ASSERT_EQ(queue_submit(&self->q), 1);
}

static void expect_message(struct fixture_region *self, size_t len, uint32_t buffer)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	ASSERT_EQ(cqe.res, (int64_t)len);
	EXPECT_EQ(cqe.flags, len ? MORE | BUFFER : MORE);
	EXPECT_EQ(cqe.buffer, buffer);
}

static void expect_end(struct fixture_region *self, uint64_t data, int64_t res, uint32_t flags,
		       uint32_t buffer)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, data);
	EXPECT_EQ(cqe.res, res);
	EXPECT_EQ(cqe.flags, flags);
	if (flags & BUFFER)
		EXPECT_EQ(cqe.buffer, buffer);
}

/* And wait until that is over. */
static void cancel(struct fixture_region *self, uint64_t data)
{
	struct rdmachan_cqe cqe;
	int i;

	queue_cancel(&self->q, data, 0, 77);
	ASSERT_EQ(queue_submit(&self->q), 1);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, cqe.user_data == 77 ? 1 : -ECANCELED);
	}
}

static struct rdmachan_object counts(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object;
}

/* Anywhere in the region, and memory around it is as before. From a region, or from elsewhere. */
TEST_F(region, pool_sizes)
{
	static const size_t sizes[] = {
		1, 7, 64, 128, 129, 1000, 4096, 4097, 8192, 8193, 16384, 40000, MIB, 3 * MIB
	};
	static const uint64_t places[] = { 0, 1, 4000, PAGE, 3 * PAGE + 77 };
	size_t i, j, n = 0, at, len;
	struct pool pool;

	make_pool(self, &pool);
	begin(self, &pool, 5);
	for (i = 0; i < COUNT(sizes); i++) {
		for (j = 0; j < COUNT(places); j++, n++) {
			at = places[j];
			len = sizes[i];
			pool_put_at(&pool, at, len, n);
			fill_random(self->from, len, n);
			if (j % 2 || len > MIB)
				region_send(&self->q, self->a, self->from_id, 0, len, 1)->flags |=
					RDMACHAN_SQE_F_SKIP_SUCCESS;
			else
				queue_send(&self->q, self->a, self->from, len, 1)->flags |=
					RDMACHAN_SQE_F_SKIP_SUCCESS;
			ASSERT_EQ(queue_submit(&self->q), 1);
			expect_message(self, len, n);
			EXPECT_TRUE(is_random(self->to + at, len, n));
			EXPECT_TRUE(is_filled(self->to, at));
			EXPECT_TRUE(is_filled(self->to + at + len, 2 * PAGE));
			memset(self->to, UNTOUCHED, at + len);
		}
	}
	EXPECT_EQ(counts(self->b).rx_regions, n);
	EXPECT_EQ(counts(self->b).rx_placed, 0);
	cancel(self, 5);
}

/* Many that are there already, one behind the other, and an empty one amid them. */
TEST_F(region, pool_rows)
{
	struct pool pool;
	uint32_t i;

	make_pool(self, &pool);
	for (i = 0; i < 60; i++)
		pool_put_at(&pool, SIZE - 60 * 30 + i * 30, 30, i);
	for (i = 0; i < 60; i++) {
		fill_random(self->from, 30, i);
		ASSERT_EQ(write(self->a, self->from, 1 + i % 30), 1 + i % 30);
		if (i == 40)
			ASSERT_EQ(write(self->a, self->from, 0), 0);
	}
	begin(self, &pool, 5);
	for (i = 0; i < 60; i++) {
		expect_message(self, 1 + i % 30, i);
		EXPECT_TRUE(is_random(self->to + SIZE - 60 * 30 + i * 30, 1 + i % 30, i));
		if (i == 40)
			expect_message(self, 0, 0);
	}
	EXPECT_TRUE(is_filled(self->to, SIZE - 60 * 30));
	EXPECT_TRUE(is_filled(self->to + SIZE, PAGE));
	EXPECT_EQ(counts(self->b).rx_regions, 61);
	cancel(self, 5);
}

/* A bad buffer amid good ones ends it there: those before it have come, and those behind wait. */
TEST_F(region, pool_row_with_a_bad_buffer)
{
	struct pool pool;
	uint32_t i;

	make_pool(self, &pool);
	for (i = 0; i < 20; i++)
		pool_put_at(&pool, i == 7 ? SIZE - 3 : i * 10, 4, i);
	for (i = 0; i < 19; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	begin(self, &pool, 5);
	for (i = 0; i < 7; i++)
		expect_message(self, 4, i);
	expect_end(self, 5, -ERANGE, BUFFER, 7);
	begin(self, &pool, 6);
	for (i = 7; i < 19; i++) {
		expect_message(self, 4, i + 1);
		EXPECT_EQ(memcmp(self->to + (i + 1) * 10, &i, 4), 0);
	}
	EXPECT_TRUE(is_filled(self->to + 200, SIZE - 200));
	cancel(self, 6);
	EXPECT_EQ(region_unregister(self->ctx, self->to_id), 0);
}

TEST_F(region, pool_entries_that_are_wrong)
{
	int64_t fixed = region_register(self->ctx, self->from, MIB, RDMACHAN_REGION_F_READ_ONLY,
					NULL);
	struct pool pool;

	ASSERT_GT(fixed, 0);
	make_pool(self, &pool);
	recv_many(&self->q, self->b, &pool, 0x7fffffff, 1);
	recv_many(&self->q, self->b, &pool, 0, 2);
	recv_many(&self->q, self->b, &pool, fixed, 3);
	recv_many(&self->q, self->b, &pool, self->to_id, 4)->addr = PAGE;
	recv_many(&self->q, self->b, &pool, self->to_id, 5)->length = 1;
	recv_many(&self->q, self->b, &pool, self->to_id, 6)->pool = 1;
	/* Without the flag there is no region. */
	queue_recv_many(&self->q, self->b, pool.id, 7)->region = self->to_id;
	recv_many(&self->q, self->b, &pool, self->to_id, 8)->flags |= RDMACHAN_SQE_F_LINK;
	ASSERT_EQ(queue_submit(&self->q), 8);
	expect_end(self, 1, -ENOENT, 0, 0);
	expect_end(self, 2, -ENOENT, 0, 0);
	expect_end(self, 3, -EACCES, 0, 0);
	expect_end(self, 4, -EINVAL, 0, 0);
	expect_end(self, 5, -EINVAL, 0, 0);
	expect_end(self, 6, -ENOENT, 0, 0);
	expect_end(self, 7, -EINVAL, 0, 0);
	expect_end(self, 8, -EINVAL, 0, 0);
	/* None of them uses a region any more. */
	EXPECT_EQ(region_unregister(self->ctx, self->to_id), 0);
	EXPECT_EQ(region_unregister(self->ctx, fixed), 0);
}

/* A region of another program's, if of the same context. */
TEST_F(region, pool_of_another_program)
{
	struct pool pool;
	int64_t region = 0;
	int pipe_fds[2];
	pid_t child;

	ASSERT_EQ(pipe(pipe_fds), 0);
	make_pool(self, &pool);
	child = fork();
	if (!child) {
		region = region_register(self->ctx, self->to, PAGE, 0, NULL);
		_exit(write(pipe_fds[1], &region, sizeof(region)) != sizeof(region) || pause());
	}
	ASSERT_EQ(read(pipe_fds[0], &region, sizeof(region)), (ssize_t)sizeof(region));
	ASSERT_GT(region, 0);
	recv_many(&self->q, self->b, &pool, region, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	expect_end(self, 1, -EPERM, 0, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Nothing is written, the message stays, and the buffer is the program's again. */
TEST_F(region, pool_buffers_beyond_the_region)
{
	static const struct { uint64_t addr; uint32_t length; } bad[] = {
		{ SIZE, 1 }, { SIZE - 10, 11 }, { SIZE - 10, 0xffffffff }, { SIZE + 1, 0 },
		{ ~0ULL, 1 }, { ~0ULL - 4, 100 }, { 1ULL << 63, 64 }, { 0, 0xffffffff },
	};
	struct pool pool;
	uint32_t i;

	make_pool(self, &pool);
	for (i = 0; i < COUNT(bad); i++)
		pool_put_at(&pool, bad[i].addr, bad[i].length, i);
	pool_put_at(&pool, SIZE - 5, 5, 99);
	ASSERT_EQ(write(self->a, "", 0), 0);
	ASSERT_EQ(write(self->a, "stays", 5), 5);
	begin(self, &pool, 100);
	/* An empty one needs no buffer. */
	expect_message(self, 0, 0);
	for (i = 0; i < COUNT(bad); i++) {
		expect_end(self, 100 + i, -ERANGE, BUFFER, i);
		EXPECT_EQ(pool_left(&pool), COUNT(bad) - i);
		begin(self, &pool, 101 + i);
	}
	expect_message(self, 5, 99);
	EXPECT_EQ(memcmp(self->to + SIZE - 5, "stays", 5), 0);
	EXPECT_TRUE(is_filled(self->to, SIZE - 5));
	EXPECT_TRUE(is_filled(self->to + SIZE, PAGE));
	/* A bad buffer, or none, does not matter to an operation that waits or is told the end. */
	pool_put_at(&pool, SIZE, 1, 7);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	expect_end(self, 100 + COUNT(bad), 0, RDMACHAN_CQE_F_EOF, 0);
	EXPECT_EQ(pool_left(&pool), 1);
}

TEST_F(region, pool_ends_like_others)
{
	struct pool pool;

	make_pool(self, &pool);
	ASSERT_EQ(write(self->a, "more than four", 14), 14);
	begin(self, &pool, 1);
	expect_end(self, 1, -ENOBUFS, 0, 0);
	pool_put_at(&pool, 0, 4, 3);
	begin(self, &pool, 2);
	expect_end(self, 2, -EMSGSIZE, 0, 0);
	EXPECT_EQ(pool_left(&pool), 1);
	region_recv(&self->q, self->b, self->to_id, 0, 14, 3);
	ASSERT_EQ(queue_submit(&self->q), 1);
	expect_end(self, 3, 14, 0, 0);
	EXPECT_EQ(memcmp(self->to, "more than four", 14), 0);
	/* A buffer of nothing at the region's end is within it. */
	pool_put_at(&pool, SIZE, 0, 4);
	ASSERT_EQ(write(self->a, "four", 4), 4);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	begin(self, &pool, 5);
	expect_message(self, 4, 3);
	expect_end(self, 5, -EMSGSIZE, 0, 0);
}

/* What the program has no page for any more needs no call of it. */
TEST_F(region, pool_without_a_call)
{
	struct rdmachan_cqe cqe;
	struct pool pool;

	make_pool(self, &pool);
	ASSERT_EQ(madvise(self->to, SIZE, MADV_DONTNEED), 0);
	pool_put_at(&pool, 0, PAGE, 1);
	pool_put_at(&pool, MIB, MIB, 2);
	begin(self, &pool, 5);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 1);
	ASSERT_EQ(write(self->a, self->from, 300000), 300000);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 300000);
	EXPECT_EQ(queue_flags(&self->q), 0);
	cancel(self, 5);
}

TEST_F(region, pool_in_use)
{
	struct pool pool;
	struct queue q;
	int i;

	make_pool(self, &pool);
	for (i = 0; i < 3; i++)
		pool_put_at(&pool, i * PAGE, PAGE, i);
	begin(self, &pool, 5);
	EXPECT_ERR(region_unregister(self->ctx, self->to_id), EBUSY);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	expect_message(self, 1, 0);
	EXPECT_ERR(region_unregister(self->ctx, self->to_id), EBUSY);
	cancel(self, 5);
	/* A queue that is closed gives it back as well. */
	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	ASSERT_EQ(pool_open(&q, &pool, 4), 0);
	recv_many(&q, self->b, &pool, self->to_id, 6);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_ERR(region_unregister(self->ctx, self->to_id), EBUSY);
	pool_close(&pool);
	queue_close(&q);
	EXPECT_EQ(region_unregister(self->ctx, self->to_id), 0);
	EXPECT_EQ(pinned_bytes(), self->pinned - (int64_t)SIZE);
}

/* Messages from memory to memory come before it and behind it. It copies what is as large. */
TEST_F(region, pool_among_receives)
{
	struct rdmachan_cqe cqe;
	struct pool pool;
	int round, i;

	make_pool(self, &pool);
	for (round = 0; round < 4; round++) {
		fill_random(self->from, 3 * MIB, round);
		region_recv(&self->q, self->b, self->to_id, 0, MIB, 1);
		recv_many(&self->q, self->b, &pool, self->to_id, 2);
		region_recv(&self->q, self->b, self->to_id, 2 * MIB, MIB, 3);
		pool_put_at(&pool, MIB, MIB, round);
		for (i = 0; i < 2; i++)
			region_send(&self->q, self->a, self->from_id, i * MIB, MIB, 4)->flags |=
				RDMACHAN_SQE_F_SKIP_SUCCESS;
		ASSERT_EQ(queue_submit(&self->q), 5);
		expect_end(self, 1, MIB, 0, 0);
		expect_message(self, MIB, round);
		queue_cancel(&self->q, 2, 0, 77);
		region_send(&self->q, self->a, self->from_id, 2 * MIB, MIB, 4)->flags |=
			RDMACHAN_SQE_F_SKIP_SUCCESS;
		ASSERT_EQ(queue_submit(&self->q), 2);
		for (i = 0; i < 3; i++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			EXPECT_EQ(cqe.flags, 0);
			EXPECT_EQ(cqe.res, cqe.user_data == 2 ? -ECANCELED :
				  cqe.user_data == 3 ? (int64_t)MIB : 1);
		}
		EXPECT_TRUE(is_random(self->to, 3 * MIB, round));
		memset(self->to, UNTOUCHED, 3 * MIB);
	}
	EXPECT_EQ(counts(self->b).rx_regions, 12);
	EXPECT_LE(counts(self->b).rx_placed, 8);
}

TEST_F(region, pool_by_a_poller)
{
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;
	uint32_t i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 64, 64, 100), 0);
	ASSERT_EQ(pool_open(&q, &pool, 64), 0);
	for (i = 0; i < 64; i++)
		pool_put_at(&pool, i * PAGE, PAGE, i);
	recv_many(&q, self->b, &pool, self->to_id, 5);
	ASSERT_EQ(queue_poke(&q), 0);
	for (i = 0; i < 60; i++) {
		fill_random(self->from, 1 + i * 60, i);
		ASSERT_EQ(write(self->a, self->from, 1 + i * 60), 1 + i * 60);
		ASSERT_TRUE(queue_watch(&q, &cqe));
		ASSERT_EQ(cqe.res, 1 + i * 60);
		EXPECT_TRUE(is_random(self->to + cqe.buffer * PAGE, cqe.res, i));
	}
	pool_close(&pool);
	queue_close(&q);
}

/* Entries and indices change all the time, to places in the region and outside. */
static void scribble_region(struct pool *pool, uint64_t random)
{
	struct rdmachan_buffer *buffer = pool_entry(pool, random);

	buffer->addr = random & 0x100 ? (random >> 40) % MIB : random >> (random >> 10) % 64;
	buffer->length = random & 0x200 ? PAGE : random >> 20;
	pool_pretend(pool, (random >> 20) % 70);
}

/* Nothing but the region is ever written to, and no message is lost. */
TEST_F_TIMEOUT(region, pool_under_a_hostile_writer, 120)
{
	uint32_t sent = 0, got = 0, tries = 0, part;
	struct rdmachan_cqe cqe;
	struct scribbler s;
	struct pool pool;
	int64_t region;

	make_pool(self, &pool);
	ASSERT_EQ(region_unregister(self->ctx, self->to_id), 0);
	/* Not all of those pages: memory around it has the same neighbours in memory. */
	region = region_of(self->ctx, self->to + MIB + 100, MIB);
	scribbler_begin(&s, &pool, scribble_region);
	recv_many(&self->q, self->b, &pool, region, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	while (got < 1000 && tries < 20000) {
		for (; sent < got + 8; sent++) {
			part = 1 + sent * 37 % 3000;
			ASSERT_EQ(write(self->a, self->from, part), part);
		}
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		if (cqe.flags & MORE) {
			EXPECT_EQ(cqe.res, 1 + got * 37 % 3000);
			got++;
			continue;
		}
		tries++;
		EXPECT_TRUE(cqe.res == -ENOBUFS || cqe.res == -ERANGE || cqe.res == -EMSGSIZE);
		let_time_pass();
		recv_many(&self->q, self->b, &pool, region, 5);
		ASSERT_EQ(queue_submit(&self->q), 1);
	}
	scribbler_end(&s);
	printf("# %u messages, %u errors\n", got, tries);
	EXPECT_GT(got, 0);
	queue_cancel(&self->q, 5, 0, 6);
	ASSERT_EQ(queue_submit(&self->q), 1);
	do {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		got += !!(cqe.flags & MORE);
	} while (cqe.user_data != 6);
	EXPECT_TRUE(is_filled(self->to, MIB + 100));
	EXPECT_TRUE(is_filled(self->to + 2 * MIB + 100, SIZE + PAGE - 2 * MIB - 100));
	for (; got < sent; got++)
		ASSERT_EQ(read(self->b, self->from, PAGE), 1 + got * 37 % 3000);
}

TEST_HARNESS_MAIN
