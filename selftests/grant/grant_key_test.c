// SPDX-License-Identifier: GPL-2.0
/*
 * grant_key_test.c - large accesses, and messages, from and to regions whose pages lie anywhere
 *
 * The module keeps keys of such regions for its own adapter, see kmod/path/path_key.c, where that
 * is rxe. Nothing of it is to be seen but in debugfs: bytes read and written are as without, and no
 * key outlives its region or its connection.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "fault.h"
#include "grant_fixture.h"
#include "grant_ring.h"
#include "harness.h"
#include "inject.h"
#include "scattered.h"

/* Bytes that one key is for: as much as the adapter's keys take, see kmod/path/path_key.c. */
#define PIECE piece_of_key()
/* How many keys a connection has. */
#define KEYS 16

static struct queue q;

/* The adapter of some beds takes fewer pages than others (tests.list). */
static size_t piece_of_key(void)
{
	const size_t most = (size_t)shim_parameter("max_pages") * PAGE;

	return most && most < 2 * MIB ? most : 2 * MIB;
}

/* -1 where there is no debugfs. */
static int keys(void)
{
	return module_count("keys");
}

/* Of the programs of tests only this one is there. A key is made a moment after it is wanted. */
static void expect_keys(int want)
{
	int64_t until = now_ms() + 10000;

	if (keys() < 0)
		return;
	if (over_iwarp())
		want = 0;
	while (want && keys() != want && now_ms() < until)
		sleep_ms(2);
	EXPECT_EQ(keys(), want);
}

/* Not from its beginning; and behind it is one page more. */
static char *some(size_t len)
{
	return scattered((len / PAGE + 1) * PAGE);
}

static void begin(struct fixture_grant *self)
{
	ASSERT_EQ(queue_open(self->ctx, &q, 64, 64), 0);
}

static int64_t result(void)
{
	struct rdmachan_cqe cqe;

	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	return cqe.res;
}

/* READ @len bytes at @from of the grant to @to of the region. Return: its result */
static int64_t get(int chan, uint32_t grant, uint64_t from, uint32_t region, uint64_t to,
		   uint64_t len)
{
	in_region(queue_read(&q, chan, grant, from, NULL, len, 1), region, to);
	return result();
}

static int64_t set(int chan, uint32_t grant, uint64_t to, uint32_t region, uint64_t from,
		   uint64_t len)
{
	in_region(queue_write(&q, chan, grant, to, NULL, len, 1), region, from);
	return result();
}

/* Every third of so many, where a kernel checks all it does. */
static size_t step(size_t count)
{
	return turns(count) < (int)count ? 3 : 1;
}

/* Both ways, at places around the ends of pieces, of a region that begins in a page. */
static void anywhere(struct fixture_grant *self, size_t skip)
{
	const size_t lengths[] = { 128 * KIB + 1, 300000, MIB, PIECE, 3 * MIB + 5 };
	size_t size = 8 * MIB + 12345, at, len, i, j;
	char *mine = some(size + PAGE) + skip;
	uint32_t region = region_of(self->ctx, mine, size), grant = lend(self, MAY_ALL, 0, SIZE);
	size_t places[] = { 0, 1, PIECE - skip, PIECE - skip - 100000, PIECE - skip - 200001,
			    2 * PIECE - 4096, 2 * PIECE - MIB };
	char *copy = malloc(size);

	/* All that follows is done with keys. */
	for (i = 0; i < 4; i++)
		ASSERT_EQ(get(self->holder, grant, 0, region, i * PIECE, PIECE), (int64_t)PIECE);
	expect_keys(4);
	for (i = 0; i < COUNT(places); i += step(COUNT(places))) {
		for (j = 0; j < COUNT(lengths); j++) {
			at = places[i];
			len = lengths[j];
			fill_random(self->memory, SIZE, i * 16 + j);
			fill_random(mine, size, 1000 + i * 16 + j);
			memcpy(copy, mine, size);
			memcpy(copy + at, self->memory + 777, len);
			ASSERT_EQ(get(self->holder, grant, 777, region, at, len), (int64_t)len);
			ASSERT_EQ(memcmp(copy, mine, size), 0);
			fill_random(mine, size, 2000 + i * 16 + j);
			memcpy(copy, self->memory, SIZE);
			memcpy(copy + 4099, mine + at, len);
			ASSERT_EQ(set(self->holder, grant, 4099, region, at, len), (int64_t)len);
			await_written(self->holder, grant);
			ASSERT_EQ(memcmp(copy, self->memory, SIZE), 0);
		}
	}
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	expect_keys(0);
	free(copy);
}

TEST_F_TIMEOUT(grant, key_anywhere, 100)
{
	begin(self);
	anywhere(self, 0);
	queue_close(&q);
}

TEST_F_TIMEOUT(grant, key_anywhere_within_a_page, 100)
{
	begin(self);
	anywhere(self, 1003);
	queue_close(&q);
}

/* Memory that may not be written to can be written from. */
TEST_F(grant, key_read_only)
{
	char *mine = some(MIB);
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	int64_t region;

	begin(self);
	fill_random(mine, MIB, 5);
	region = region_register(self->ctx, mine, MIB, RDMACHAN_REGION_F_READ_ONLY, NULL);
	ASSERT_GT(region, 0);
	EXPECT_EQ(set(self->holder, grant, 0, region, 0, MIB), (int64_t)MIB);
	await_written(self->holder, grant);
	EXPECT_EQ(memcmp(self->memory, mine, MIB), 0);
	EXPECT_EQ(get(self->holder, grant, 0, region, 0, MIB), -EACCES);
	expect_keys(1);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	expect_keys(0);
	queue_close(&q);
}

/* One that is just being made is waited for. */
TEST_F_TIMEOUT(grant, key_unregistered_at_once, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE), region;
	char *mine = some(PIECE);
	int i;

	begin(self);
	for (i = 0; i < turns(200); i++) {
		region = region_of(self->ctx, mine, PIECE);
		ASSERT_EQ(get(self->holder, grant, 0, region, 0, MIB / (1 + i % 4)),
			  (int64_t)(MIB / (1 + i % 4)));
		ASSERT_EQ(region_unregister(self->ctx, region), 0);
		ASSERT_TRUE(keys() <= 0);
	}
	queue_close(&q);
}

/* More pieces than there may be keys: some do without, and later have theirs. */
TEST_F_TIMEOUT(grant, key_many, 100)
{
	size_t size = (KEYS + 6) * PIECE, at, from;
	char *mine = some(size);
	uint32_t region = region_of(self->ctx, mine, size), grant = lend(self, MAY_ALL, 0, SIZE);
	int turn;

	begin(self);
	for (turn = 0; turn < 2; turn++) {
		memset(mine, 0, size);
		fill_random(self->memory, SIZE, turn);
		for (at = 0; at < size; at += PIECE) {
			/* Those without come first then, when the others are old. */
			from = turn ? size - PIECE - at : at;
			ASSERT_EQ(get(self->holder, grant, from / 2048, region, from, PIECE),
				  (int64_t)PIECE);
		}
		for (at = 0; at < size; at += PIECE)
			ASSERT_EQ(memcmp(mine + at, self->memory + at / 2048, PIECE), 0);
		expect_keys(KEYS);
		sleep_ms(turn ? 0 : 1100);
	}
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	expect_keys(0);
	queue_close(&q);
}

/* One that is used for long, and is the oldest, does not keep the next oldest in its place. */
TEST_F_TIMEOUT(grant, key_behind_one_in_use, 60)
{
	char *mine = some(KEYS * PIECE), *more = some(PIECE);
	uint32_t region = region_of(self->ctx, mine, KEYS * PIECE);
	uint32_t another = region_of(self->ctx, more, PIECE);
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	int64_t held = 0;
	int i;

	begin(self);
	for (i = 0; i < KEYS; i++) {
		ASSERT_EQ(get(self->holder, grant, 0, region, i * PIECE, MIB), (int64_t)MIB);
		expect_keys(i + 1);
		/* The reader lends as well, in the mapping of the first one. */
		if (i)
			continue;
		held = grant_range(self->holder, self->ctx, &RANGE(region, MAY_ALL, 0, MIB));
		ASSERT_TRUE(grant_held(self->owner, held));
	}
	sleep_ms(1100);
	ASSERT_EQ(get(self->holder, grant, 0, another, 0, MIB), (int64_t)MIB);
	ASSERT_EQ(grant_release(self->owner, held), 0);
	ASSERT_TRUE(grant_returned(self->holder, held, 0));
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	expect_keys(1);
	EXPECT_EQ(region_unregister(self->ctx, another), 0);
	queue_close(&q);
}

/* Those of a region that stays end with their connection. */
TEST_F(grant, key_without_connection)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE), region;
	char *mine = some(2 * PIECE);
	int i;

	region = region_of(self->ctx, mine, 2 * PIECE);
	begin(self);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(get(self->holder, grant, 0, region, i * PIECE, MIB), (int64_t)MIB);
	expect_keys(2);
	close(self->owner);
	close(self->holder);
	await_no_links(self->ctx);
	expect_keys(0);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	queue_close(&q);
}

/* Without memory for a key it is as if there were none to be had. */
TEST_F_TIMEOUT(grant, key_without_memory, 100)
{
	static const char *const sites[] = { "write", "region", "pin" };
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	char *mine = some(PIECE);
	uint32_t region;
	size_t i, skip;
	int64_t res;

	if (inject_open("nomem", O_RDONLY) < 0)
		SKIP("there is no debugfs");
	begin(self);
	for (i = 0; i < COUNT(sites); i++) {
		for (skip = 0; skip < 4; skip++) {
			region = region_of(self->ctx, mine, PIECE);
			fill_random(self->memory, SIZE, skip);
			inject("nomem", "site=%s skip=%zu", sites[i], skip);
			res = get(self->holder, grant, 0, region, 0, PIECE);
			inject_off("nomem");
			if (res == (int64_t)PIECE)
				EXPECT_EQ(memcmp(mine, self->memory, PIECE), 0);
			else
				EXPECT_EQ(res, -ENOMEM);
			ASSERT_EQ(get(self->holder, grant, 9, region, 0, PIECE), (int64_t)PIECE);
			EXPECT_EQ(memcmp(mine, self->memory + 9, PIECE), 0);
			EXPECT_EQ(region_unregister(self->ctx, region), 0);
			expect_keys(0);
		}
	}
	queue_close(&q);
}

/* On a connection that keeps nothing of accesses before. With iWARP there is no READ without. */
TEST_F(grant, key_refused_by_the_adapter)
{
	char *mine = some(PIECE);
	uint32_t grant, region = region_of(self->ctx, mine, PIECE);
	int fds[2];
	int64_t res;

	if (inject_open("nomem", O_RDONLY) < 0)
		SKIP("there is no debugfs");
	close(self->owner);
	close(self->holder);
	await_no_links(self->ctx);
	pair_up(self->ctx, fds, NULL);
	self->owner = fds[0];
	self->holder = fds[1];
	grant = lend(self, MAY_ALL, 0, SIZE);
	begin(self);
	fill_random(self->memory, SIZE, 1);
	inject("nomem", "site=verbs");
	res = get(self->holder, grant, 0, region, 0, PIECE);
	inject_off("nomem");
	EXPECT_EQ(res, over_iwarp() ? -ENOMEM : (int64_t)PIECE);
	ASSERT_EQ(get(self->holder, grant, 9, region, 0, PIECE), (int64_t)PIECE);
	EXPECT_EQ(memcmp(mine, self->memory + 9, PIECE), 0);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	queue_close(&q);
}

/* The queue and the context are closed with accesses under way. */
TEST_F_TIMEOUT(grant, key_closed, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE);
	char *mine = some(4 * PIECE);
	int i, j, ctx;
	int64_t region;

	for (i = 0; i < turns(20); i++) {
		ctx = open_ctx();
		region = region_register(ctx, mine, 4 * PIECE, 0, NULL);
		ASSERT_GT(region, 0);
		ASSERT_EQ(queue_open(ctx, &q, 64, 64), 0);
		for (j = 0; j < turns(32); j++)
			in_region(queue_read(&q, self->holder, grant, 0, NULL, MIB, 1), region,
				  j % 8 * MIB);
		ASSERT_EQ(queue_submit(&q), (unsigned int)turns(32));
		close(ctx);
		queue_close(&q);
	}
	/* Behind all of them. */
	ASSERT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	for (i = 0; i < 1000 && keys() > 0; i++)
		sleep_ms(10);
	expect_keys(0);
}

struct part {
	uint32_t region;
	uint64_t at;
};

static void message(struct fixture_grant *self, struct part from, struct part to, size_t len)
{
	struct rdmachan_cqe cqe;
	int i;

	in_region(queue_recv(&q, self->holder, NULL, len, 1), to.region, to.at);
	in_region(queue_send(&q, self->owner, NULL, len, 2), from.region, from.at);
	ASSERT_EQ(queue_submit(&q), 2);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		ASSERT_EQ(cqe.res, (int64_t)len);
	}
}

/*
 * Messages that lie in one piece are written by a key, and from the second on received in its
 * mapping, if they end where a page does.
 */
TEST_F_TIMEOUT(grant, key_of_messages, 60)
{
	const size_t lengths[] = { 100000, 300000, MIB, PIECE, PIECE - 5001 };
	const size_t places[] = { 0, 5001, PIECE, PIECE - 300000, PIECE - 200001 };
	size_t size = 2 * PIECE + 12345, i, j, k;
	char *out = some(size), *in = some(size), *copy = malloc(size);
	struct part from = { .region = region_of(self->ctx, out, size) };
	struct part to = { .region = region_of(self->ctx, in, size) };

	begin(self);
	for (i = 0; i < 4; i++) {
		from.at = i / 2 * PIECE;
		to.at = from.at;
		message(self, from, to, MIB);
	}
	expect_keys(4);
	for (i = 0; i < COUNT(places); i++) {
		for (j = 0; j < COUNT(places); j += step(COUNT(places))) {
			for (k = 0; k < COUNT(lengths); k++) {
				from.at = places[i];
				to.at = places[j];
				fill_random(out, size, i * 64 + j * 8 + k);
				memcpy(copy, in, size);
				memcpy(copy + to.at, out + from.at, lengths[k]);
				message(self, from, to, lengths[k]);
				ASSERT_EQ(memcmp(in, copy, size), 0);
			}
		}
	}
	expect_keys(4);
	EXPECT_EQ(region_unregister(self->ctx, from.region), 0);
	expect_keys(2);
	EXPECT_EQ(region_unregister(self->ctx, to.region), 0);
	expect_keys(0);
	free(copy);
	queue_close(&q);
}

/* Memory lent again is so in the mapping of a key, but not more than that, nor too often. */
TEST_F_TIMEOUT(grant, key_of_what_is_lent, 60)
{
	const size_t lengths[] = { MIB, PIECE - 5001, 300000, 64 * PAGE };
	const size_t places[] = { 0, 5001, PIECE, PIECE - 300000 };
	size_t size = 2 * PIECE, i, j;
	char *mine = some(size), *copy = malloc(size), *other = malloc(size);
	uint32_t region = region_of(self->ctx, mine, size);
	int64_t grants[KEYS + 1], grant;

	for (i = 0; i < 4; i++) {
		grant = grant_range(self->owner, self->ctx,
				    &RANGE(region, MAY_ALL, i / 2 * PIECE, MIB));
		ASSERT_TRUE(grant_held(self->holder, grant));
		ASSERT_EQ(grant_release(self->holder, grant), 0);
		ASSERT_TRUE(grant_returned(self->owner, grant, 0));
	}
	expect_keys(2);
	for (i = 0; i < COUNT(places); i++) {
		for (j = 0; j < COUNT(lengths); j++) {
			grant = grant_range(self->owner, self->ctx,
					    &RANGE(region, MAY_ALL, places[i], lengths[j]));
			ASSERT_TRUE(grant_held(self->holder, grant));
			fill_random(mine, size, i * 8 + j);
			fill_random(other, size, 100 + i * 8 + j);
			memcpy(copy, mine, size);
			ASSERT_EQ(grant_read(self->holder, grant, 0, other + PIECE, lengths[j]), 0);
			ASSERT_EQ(memcmp(other + PIECE, mine + places[i], lengths[j]), 0);
			memcpy(copy + places[i], other, lengths[j]);
			ASSERT_EQ(grant_write(self->holder, grant, 0, other, lengths[j]), 0);
			await_written(self->holder, grant);
			ASSERT_EQ(memcmp(copy, mine, size), 0);
			EXPECT_EQ(try_read(self->holder, grant, 1, lengths[j]), ERANGE);
			ASSERT_EQ(grant_release(self->holder, grant), 0);
			ASSERT_TRUE(grant_returned(self->owner, grant, 0));
		}
	}
	for (i = 0; i < COUNT(grants); i++) {
		grants[i] = grant_range(self->owner, self->ctx, &RANGE(region, MAY_ALL, 0, MIB));
		ASSERT_TRUE(grant_held(self->holder, grants[i]));
	}
	for (i = 0; i < COUNT(grants); i++) {
		fill_random(other, MIB, i);
		ASSERT_EQ(grant_write(self->holder, grants[i], 0, other, MIB), 0);
		await_written(self->holder, grants[i]);
		ASSERT_EQ(memcmp(mine, other, MIB), 0);
		ASSERT_EQ(grant_release(self->holder, grants[i]), 0);
		ASSERT_TRUE(grant_returned(self->owner, grants[i], 0));
	}
	expect_keys(2);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	expect_keys(0);
	free(copy);
	free(other);
}

/* The lent part of the owner's memory, and its rights. */
struct lent {
	size_t at;
	size_t length;
	int64_t grant;
};

static void lend_part(struct fixture_grant *self, uint32_t region, struct lent *lent)
{
	lent->grant = grant_range(self->owner, self->ctx,
				  &RANGE(region, MAY_ALL, lent->at, lent->length));
	ASSERT_TRUE(grant_held(self->holder, lent->grant));
}

static void use_and_return(struct fixture_grant *self, char *mine, const struct lent *lent)
{
	static char in[MIB], out[MIB];
	static uint64_t seed;

	fill_random(mine + lent->at, lent->length, ++seed);
	ASSERT_EQ(grant_read(self->holder, lent->grant, 0, in, lent->length), 0);
	ASSERT_TRUE(is_random(in, lent->length, seed));
	fill_random(out, lent->length, ~seed);
	ASSERT_EQ(grant_write(self->holder, lent->grant, 0, out, lent->length), 0);
	ASSERT_EQ(grant_release(self->holder, lent->grant), 0);
	ASSERT_TRUE(grant_returned(self->owner, lent->grant, 0));
	ASSERT_TRUE(is_random(mine + lent->at, lent->length, ~seed));
}

/*
 * Memory lent again, the same as before, is so without asking where it is; but only if it is
 * the same, and is still there. Memory of other regions has the same places in tables that lie
 * at the same addresses.
 */
TEST_F_TIMEOUT(grant, key_of_what_was_lent_before, 60)
{
	static struct lent ranges[] = {
		{ PAGE, MIB }, { PAGE, MIB }, { PAGE, MIB }, { PAGE, MIB },
		{ 3 * PAGE, 40 * PAGE }, { 3 * PAGE, MIB }, { PAGE + 100, MIB - 100 },
		{ PAGE, MIB }, { 5 * PAGE, 40 * PAGE }, { 9 * PAGE, 40 * PAGE },
	};
	static struct lent same[8];
	uint32_t region;
	size_t j, count;
	char *mine;
	int i;

	if (PIECE < 2 * MIB)
		SKIP("what is lent here does not lie in one piece");
	for (i = 0; i < turns(time_is_virtual() ? 10 : 25); i++) {
		mine = some(PIECE);
		region = region_of(self->ctx, mine, PIECE);
		for (j = 0; j < COUNT(ranges); j++) {
			lend_part(self, region, &ranges[j]);
			use_and_return(self, mine, &ranges[j]);
			if (j == 2)
				expect_keys(1);
		}
		/* Many at once, and the next time two or three regions later: tables come again. */
		count = i % 5 == 0 || i % 5 == 2 ? COUNT(same) : 1;
		for (j = 0; j < count; j++) {
			same[j] = ranges[0];
			lend_part(self, region, &same[j]);
		}
		while (count)
			use_and_return(self, mine, &same[--count]);
		expect_keys(1);
		EXPECT_EQ(region_unregister(self->ctx, region), 0);
		expect_keys(0);
		munmap(mine, (PIECE / PAGE + 1) * PAGE);
	}
}

/* The sender's queue, region and channel go with messages under way. */
TEST_F_TIMEOUT(grant, key_sent_closed, 60)
{
	char *mine = some(2 * PIECE);
	int i, j, ctx, fds[2];
	int64_t region;

	for (i = 0; i < turns(20); i++) {
		ctx = open_ctx();
		pair_up(ctx, fds, NULL);
		region = region_register(ctx, mine, 2 * PIECE, 0, NULL);
		ASSERT_GT(region, 0);
		ASSERT_EQ(queue_open(ctx, &q, 64, 64), 0);
		for (j = 0; j < 8; j++) {
			in_region(queue_recv(&q, fds[1], NULL, MIB, 1), region, PIECE);
			in_region(queue_send(&q, fds[0], NULL, MIB, 2), region, j % 2 * MIB);
		}
		ASSERT_EQ(queue_submit(&q), 16);
		close(fds[0]);
		close(ctx);
		queue_close(&q);
		close(fds[1]);
	}
	for (i = 0; i < 1000 && keys() > 0; i++)
		sleep_ms(10);
	expect_keys(0);
}

struct remover {
	pthread_t thread;
	int delay;
	int result;
};

static void *remove_later(void *arg)
{
	struct remover *remover = arg;

	usleep(remover->delay);
	remover->result = remove_device();
	return NULL;
}

/*
 * The connection goes while the region does, and keys with both. The device is that of the reader,
 * of the owner, or of both. On a wire without end the reader would begin again very often.
 */
TEST_TIMEOUT(key_device_removed, 200)
{
	char *memory = pages(SIZE), *mine = some(4 * PIECE);
	int ctx = open_ctx(), fds[2], i;
	struct rdmachan_grant_range range;
	struct remover remover;
	uint32_t lent = region_of(ctx, memory, SIZE), region;
	int64_t grant, j;
	int reader;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	if (time_is_virtual())
		cable("rate 4000");
	for (i = 0; i < turns(8); i++) {
		pair_up_again(ctx, fds);
		range = RANGE(lent, MAY_ALL, 0, SIZE);
		reader = i % 2;
		grant = grant_range(fds[!reader], ctx, &range);
		ASSERT_TRUE(grant_held(fds[reader], grant));
		ASSERT_EQ(queue_open(ctx, &q, 64, 64), 0);
		remover = (struct remover){ .delay = i * 1937 };
		ASSERT_EQ(pthread_create(&remover.thread, NULL, remove_later, &remover), 0);
		do {
			region = region_of(ctx, mine, 4 * PIECE);
			for (j = 0; j < 4; j++)
				if (get(fds[reader], grant, 0, region, j * PIECE, PIECE) < 0)
					break;
			EXPECT_EQ(region_unregister(ctx, region), 0);
		} while (j == 4);
		pthread_join(remover.thread, NULL);
		EXPECT_EQ(remover.result, 0);
		expect_keys(0);
		queue_close(&q);
		close(fds[0]);
		close(fds[1]);
		EXPECT_EQ(add_device(), 0);
	}
	if (time_is_virtual())
		cable("rate 0");
	close(ctx);
}

TEST_HARNESS_MAIN
