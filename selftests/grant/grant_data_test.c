// SPDX-License-Identifier: GPL-2.0
/*
 * grant_data_test.c - grants: the bytes that are read and written, and atomic operations
 */
#include <pthread.h>
#include <sys/mman.h>

#include "common.h"
#include "disk.h"
#include "grant_fixture.h"
#include "harness.h"
#include "slow.h"

#define HUGE (2 * MIB)
#define LARGE (9 * MIB)

/* A region of some bytes in the middle of memory that nobody may touch. */
struct lent {
	char *around;
	char *memory;
	size_t before;
	size_t len;
	uint32_t grant;
};

#define AROUND (2 * PAGE)

static void lent_begin(struct fixture_grant *self, struct lent *lent, size_t before, size_t len)
{
	uint32_t region;
	int64_t grant;

	lent->around = pages(before + len + AROUND);
	lent->memory = lent->around + before;
	lent->before = before;
	lent->len = len;
	/* One byte of the region to either side of what is lent. */
	region = region_of(self->ctx, lent->memory - 1, len + 2);
	grant = grant_range(self->owner, self->ctx,
			    &RANGE(region, MAY_READ | MAY_WRITE, 1, len));
	ASSERT_GT(grant, 0);
	lent->grant = grant;
	ASSERT_TRUE(grant_held(self->holder, lent->grant));
}

/* Memory beside it is as it was. */
static void lent_expect_neighbours(const struct lent *lent, char what)
{
	EXPECT_TRUE(is_all(lent->around, lent->before, what));
	EXPECT_TRUE(is_all(lent->memory + lent->len, AROUND, what));
}

static void lent_end(struct fixture_grant *self, struct lent *lent)
{
	EXPECT_EQ(grant_release(self->holder, lent->grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, lent->grant, 0));
	munmap(lent->around, lent->before + lent->len + AROUND);
}

static const size_t sizes[] = {
	1, 7, 64, 1000, 4095, 4096, 4097, 16384, 65537, 262144, MIB - 1, MIB + 1, 2 * MIB,
	3 * MIB + 4097,
};

/* Write all of it and read it back, to and from own memory that begins anywhere. */
static void there_and_back(struct fixture_grant *self, struct lent *lent, char *mine,
			   unsigned int seed)
{
	size_t len = lent->len;
	char *own = mine + 1 + seed * 1031 % PAGE;

	memset(lent->around, 0x55, lent->before + len + AROUND);
	fill_random(own, len, seed);
	ASSERT_EQ(grant_write(self->holder, lent->grant, 0, own, len), 0);
	await_written(self->holder, lent->grant);
	EXPECT_TRUE(is_random(lent->memory, len, seed));
	lent_expect_neighbours(lent, 0x55);
	fill_random(lent->memory, len, seed + 1);
	memset(own - 1, 0x33, len + 2);
	ASSERT_EQ(grant_read(self->holder, lent->grant, 0, own, len), 0);
	EXPECT_TRUE(is_random(own, len, seed + 1));
	EXPECT_EQ(own[-1], 0x33);
	EXPECT_EQ(own[len], 0x33);
	EXPECT_TRUE(is_random(lent->memory, len, seed + 1));
	lent_expect_neighbours(lent, 0x55);
}

TEST_F_TIMEOUT(grant, all_of_it, 120)
{
	char *mine = pages(SIZE + 2 * PAGE);
	struct lent lent;
	size_t i;

	for (i = 0; i < COUNT(sizes); i++) {
		lent_begin(self, &lent, 1 + i * 733 % PAGE, sizes[i]);
		there_and_back(self, &lent, mine, i);
		lent_end(self, &lent);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* Parts of one grant: where pages, and keys behind it, meet, and anywhere. */
TEST_F_TIMEOUT(grant, parts_of_it, 120)
{
	static const size_t around[] = { 1, 2, 8, 100, 4096, 70000 };
	char *copy = malloc(LARGE), *mine = malloc(LARGE);
	uint64_t seed = 3, at, len;
	struct lent lent;
	size_t i, j;

	lent_begin(self, &lent, 4095, LARGE);
	memset(lent.around, 0x44, lent.before + LARGE + AROUND);
	fill_random(lent.memory, LARGE, 5);
	memcpy(copy, lent.memory, LARGE);
	for (i = 1; i <= LARGE / MIB; i++) {
		for (j = 0; j < COUNT(around); j++) {
			/* Around each MiB of the memory, and of the grant. */
			at = i * MIB - around[j] - (j % 2 ? 4095 : 0);
			len = at + 2 * around[j] > LARGE ? LARGE - at : 2 * around[j];
			ASSERT_EQ(grant_read(self->holder, lent.grant, at, mine, len), 0);
			ASSERT_EQ(memcmp(mine, copy + at, len), 0);
			fill_random(mine, len, at);
			memcpy(copy + at, mine, len);
			ASSERT_EQ(grant_write(self->holder, lent.grant, at, mine, len), 0);
		}
	}
	for (i = 0; i < 60; i++) {
		at = next_random(&seed) % LARGE;
		len = next_random(&seed) % (i % 6 ? 5000 : LARGE);
		len = at + len > LARGE ? LARGE - at : len;
		ASSERT_EQ(grant_read(self->holder, lent.grant, at, mine, len), 0);
		ASSERT_EQ(memcmp(mine, copy + at, len), 0);
		fill_random(copy + at, len, i);
		ASSERT_EQ(grant_write(self->holder, lent.grant, at, copy + at, len), 0);
	}
	await_written(self->holder, lent.grant);
	EXPECT_EQ(memcmp(lent.memory, copy, LARGE), 0);
	lent_expect_neighbours(&lent, 0x44);
	ASSERT_EQ(grant_read(self->holder, lent.grant, 0, mine, LARGE), 0);
	EXPECT_EQ(memcmp(mine, copy, LARGE), 0);
	lent_end(self, &lent);
}

/*
 * A few bytes, of which some are in the next page: all divisions. siw answers a small READ
 * of these with the wrong bytes, unless it is asked for what is in each page.
 */
TEST_F(grant, across_a_page)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 1, SIZE - 1);
	char mine[128], text[128];
	size_t len, before;

	for (len = 2; len <= sizeof(mine); len += len < 20 ? 1 : 9) {
		for (before = 1; before < len; before++) {
			fill_random(self->memory + 3 * PAGE - before, len, before);
			ASSERT_EQ(grant_read(self->holder, grant, 3 * PAGE - before - 1, mine,
					     len), 0);
			ASSERT_TRUE(is_random(mine, len, before));
			fill_random(text, len, len);
			ASSERT_EQ(grant_write(self->holder, grant, 3 * PAGE - before - 1, text,
					      len), 0);
			await_written(self->holder, grant);
			ASSERT_TRUE(is_random(self->memory + 3 * PAGE - before, len, len));
		}
	}
}

/* Pages that are no neighbours, in any order. */
TEST_F(grant, scattered_pages)
{
	char *mine = malloc(SIZE);
	uint32_t grant;
	size_t i;

	for (i = 0; i < SIZE; i += PAGE)
		self->memory[i * 1023 % SIZE / PAGE * PAGE] = 1;
	grant = lend(self, MAY_READ | MAY_WRITE, 3, SIZE - 5);
	fill_random(mine, SIZE, 4);
	ASSERT_EQ(grant_write(self->holder, grant, 0, mine, SIZE - 5), 0);
	await_written(self->holder, grant);
	EXPECT_TRUE(is_random(self->memory + 3, SIZE - 5, 4));
	fill_random(self->memory + 3, SIZE - 5, 5);
	ASSERT_EQ(grant_read(self->holder, grant, 0, mine, SIZE - 5), 0);
	EXPECT_TRUE(is_random(mine, SIZE - 5, 5));
	free(mine);
}

static bool want_huge(int count)
{
	FILE *file = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (!file)
		return false;
	fprintf(file, "%d\n", count);
	return !fclose(file);
}

TEST_F(grant, huge_pages)
{
	char *memory, *mine = malloc(2 * HUGE);
	uint32_t region, grant;
	size_t len = 2 * HUGE - 5;

	if (!want_huge(4))
		SKIP("there are no huge pages");
	memory = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (memory == MAP_FAILED)
		SKIP("there are no huge pages left");
	region = region_of(self->ctx, memory, 2 * HUGE);
	grant = grant_range(self->owner, self->ctx, &RANGE(region, MAY_ALL, 3, len));
	ASSERT_TRUE(grant_held(self->holder, grant));
	fill_random(mine, len, 9);
	ASSERT_EQ(grant_write(self->holder, grant, 0, mine, len), 0);
	await_written(self->holder, grant);
	EXPECT_TRUE(is_random(memory + 3, len, 9));
	EXPECT_EQ(memory[2], 0);
	EXPECT_EQ(memory[3 + len], 0);
	memset(mine, 0, len);
	ASSERT_EQ(grant_read(self->holder, grant, 0, mine, len), 0);
	EXPECT_TRUE(is_random(mine, len, 9));
	EXPECT_EQ(grant_add(self->holder, grant, HUGE - 3, 7, NULL), 0);
	EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	munmap(memory, 2 * HUGE);
	want_huge(0);
}

/* Own memory that is a region of the holder, or the lent memory itself. */
TEST_F(grant, own_memory_of_any_kind)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	char *shared = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	region_of(self->ctx, shared, MIB);
	fill_random(shared, MIB, 1);
	ASSERT_EQ(grant_write(self->holder, grant, 5, shared, MIB), 0);
	await_written(self->holder, grant);
	EXPECT_TRUE(is_random(self->memory + 5, MIB, 1));
	ASSERT_EQ(grant_read(self->holder, grant, 5, self->memory + 2 * MIB, MIB), 0);
	EXPECT_TRUE(is_random(self->memory + 2 * MIB, MIB, 1));
	ASSERT_EQ(grant_write(self->holder, grant, 5, self->memory + 5, MIB), 0);
	await_written(self->holder, grant);
	EXPECT_TRUE(is_random(self->memory + 5, MIB, 1));
}

/*
 * What is read to pages of a file that is written back is copied there: the file is cut and grows
 * again meanwhile, and it is the new pages that have it.
 */
TEST_F(grant, own_memory_of_a_file)
{
	uint32_t grant = lend(self, MAY_READ, 0, SIZE);
	char *memory;
	pid_t child;
	int fd;

	if (!time_is_virtual() || !has_peer())
		SKIP("an access that lasts is needed");
	fd = disk_file();
	ASSERT_GE(fd, 0);
	ASSERT_EQ(ftruncate(fd, MIB), 0);
	memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	memset(memory, 1, MIB);
	fill_random(self->memory, MIB, 3);
	cable("delay 100");
	child = LATER(0, _exit(grant_read(self->holder, grant, 0, memory, 64 * KIB) ? errno : 0));
	sleep_ms(50);
	ASSERT_EQ(ftruncate(fd, 0), 0);
	ASSERT_EQ(ftruncate(fd, MIB), 0);
	EXPECT_EQ(child_status(child), 0);
	cable("delay 0");
	EXPECT_TRUE(is_random(memory, 64 * KIB, 3));
	munmap(memory, MIB);
	close(fd);
}

/*
 * Order
 */

/* Written bytes are there before a message that is sent afterwards. */
TEST_F_TIMEOUT(grant, write_then_send, 100)
{
	static const size_t lens[] = { 8, 4096, 100000, 3 * MIB };
	uint32_t grant = lend(self, MAY_WRITE, 1, SIZE - 1);
	char *mine = malloc(SIZE);
	const uint64_t count = turns(200);
	uint64_t i, got;
	pid_t child;

	child = LATER(0, ({
		for (i = 0; i < count; i++) {
			memset(mine, i, lens[i % 4]);
			if (grant_write(self->holder, grant, 0, mine, lens[i % 4]) ||
			    write(self->holder, &i, sizeof(i)) != sizeof(i))
				_exit(1);
			/* Not before the owner has looked. */
			if (read(self->holder, &got, sizeof(got)) != sizeof(got))
				_exit(2);
		}
	}));
	for (i = 0; i < count; i++) {
		ASSERT_EQ(read(self->owner, &got, sizeof(got)), sizeof(got));
		ASSERT_EQ(got, i);
		ASSERT_TRUE(is_all(self->memory + 1, lens[i % 4], (char)i));
		ASSERT_EQ(write(self->owner, &i, sizeof(i)), sizeof(i));
	}
	EXPECT_EQ(child_status(child), 0);
	free(mine);
}

/* A message that tells of what was lent is told after what was in the memory then. */
TEST_F(grant, memory_then_grant)
{
	char back[1000];
	uint32_t grant;
	int i;

	for (i = 0; i < 100; i++) {
		fill_random(self->memory, sizeof(back), i);
		grant = lend(self, MAY_READ, 0, sizeof(back));
		ASSERT_EQ(grant_read(self->holder, grant, 0, back, sizeof(back)), 0);
		EXPECT_TRUE(is_random(back, sizeof(back), i));
		ASSERT_EQ(grant_release(self->holder, grant), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, 0));
	}
}

/* Bytes written before a release are there when the owner is told. */
TEST_F(grant, write_then_release)
{
	char *mine = malloc(MIB);
	uint32_t grant;
	int i;

	for (i = 0; i < turns(20); i++) {
		memset(mine, i + 1, MIB);
		grant = lend(self, MAY_WRITE, 0, MIB);
		ASSERT_EQ(grant_write(self->holder, grant, 0, mine, MIB), 0);
		ASSERT_EQ(grant_release(self->holder, grant), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, 0));
		EXPECT_TRUE(is_all(self->memory, MIB, i + 1));
	}
	free(mine);
}

/*
 * Many at once
 */

struct worker {
	pthread_t thread;
	struct fixture_grant *self;
	uint32_t grant;
	int number;
	int turns;
	bool ok;
};

static void run_workers(struct worker *workers, int count, void *(*run)(void *))
{
	int i;

	for (i = 0; i < count; i++) {
		workers[i].number = i;
		ASSERT_EQ(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
	}
	for (i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		EXPECT_TRUE(workers[i].ok);
	}
}

#define SHARE (256 * KIB)

/* Each has a part of one grant to itself, and its size changes. */
static void *read_and_write(void *arg)
{
	struct worker *w = arg;
	char *mine = malloc(SHARE), *back = malloc(SHARE);
	uint64_t at = w->number * SHARE, len;
	int i;

	w->ok = true;
	for (i = 0; i < w->turns && w->ok; i++) {
		len = 1 + (i * 7919UL + w->number) % (i % 8 ? 3000 : SHARE);
		fill_random(mine, len, i + 1);
		w->ok = !grant_write(w->self->holder, w->grant, at, mine, len) &&
			!grant_read(w->self->holder, w->grant, at, back, len) &&
			!memcmp(mine, back, len);
	}
	free(mine);
	free(back);
	return NULL;
}

TEST_F_TIMEOUT(grant, threads, 120)
{
	struct worker workers[16];
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	int i;

	for (i = 0; i < 16; i++)
		workers[i] = (struct worker){ .self = self, .grant = grant, .turns = turns(60) };
	run_workers(workers, 16, read_and_write);
}

#define SMALL_SHARE (64 * KIB)
#define CROWD 60

/* More at once than the adapter takes: the others wait for their turn. */
static void *one_of_a_crowd(void *arg)
{
	struct worker *w = arg;
	char *mine = malloc(SMALL_SHARE), *back = malloc(SMALL_SHARE);
	uint64_t at = w->number * SMALL_SHARE;
	int i;

	w->ok = true;
	for (i = 0; w->ok && i < w->turns; i++) {
		fill_random(mine, SMALL_SHARE, i + w->number);
		w->ok = !grant_write(w->self->holder, w->grant, at, mine, SMALL_SHARE) &&
			!grant_read(w->self->holder, w->grant, at, back, SMALL_SHARE) &&
			!memcmp(mine, back, SMALL_SHARE);
	}
	free(mine);
	free(back);
	return NULL;
}

TEST_F_TIMEOUT(grant, crowd, 120)
{
	uint32_t grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	struct worker workers[CROWD];
	int i;

	for (i = 0; i < CROWD; i++)
		workers[i] = (struct worker){ .self = self, .grant = grant, .turns = turns(20) };
	run_workers(workers, CROWD, one_of_a_crowd);
}

struct reader {
	pthread_t thread;
	int chan;
	uint32_t grant;
	char *to;
	int result;
};

static void *read_a_page(void *arg)
{
	struct reader *reader = arg;

	slow_undisturbed();
	reader->result = grant_read(reader->chan, reader->grant, 0, reader->to, PAGE) ? errno : 0;
	return NULL;
}

/* One that waits for its own memory does not have the others wait. */
TEST_F(grant, slow_own_memory)
{
	struct reader reader = { .chan = self->holder };
	struct worker worker = { .self = self, .turns = 20 };
	struct slow slow;

	if (!slow_begin(&slow, PAGE))
		SKIP("there is no userfaultfd");
	worker.grant = lend(self, MAY_READ | MAY_WRITE, 0, SIZE);
	reader.grant = worker.grant;
	reader.to = slow.memory;
	ASSERT_EQ(pthread_create(&reader.thread, NULL, read_a_page, &reader), 0);
	slow_met(&slow);
	read_and_write(&worker);
	EXPECT_TRUE(worker.ok);
	slow_end(&slow);
	pthread_join(reader.thread, NULL);
	EXPECT_EQ(reader.result, 0);
	EXPECT_EQ(memcmp(slow.memory, self->memory, PAGE), 0);
}

/*
 * Atomic operations
 */

TEST_F(grant, atomic_values)
{
	uint64_t *at = (uint64_t *)(self->memory + 64), value, want = 0;
	uint32_t grant = lend(self, MAY_ATOMIC, 64, 8);
	static const uint64_t operands[] = {
		1, 0, 0xff, 1UL << 32, -1UL, 1UL << 63, 1UL << 63, 0x0102030405060708UL, -12345UL,
	};
	size_t i;

	for (i = 0; i < COUNT(operands); i++) {
		ASSERT_EQ(grant_add(self->holder, grant, 0, operands[i], &value), 0);
		EXPECT_EQ(value, want);
		want += operands[i];
		EXPECT_EQ(*at, want);
	}
	for (i = 0; i < COUNT(operands); i++) {
		/* One that does not fit, and one that does. */
		ASSERT_EQ(grant_swap(self->holder, grant, 0, want + 1, 77, &value), 0);
		EXPECT_EQ(value, want);
		EXPECT_EQ(*at, want);
		ASSERT_EQ(grant_swap(self->holder, grant, 0, want, operands[i], &value), 0);
		EXPECT_EQ(value, want);
		want = operands[i];
		EXPECT_EQ(*at, want);
	}
	EXPECT_EQ(at[-1], 0);
	EXPECT_EQ(at[1], 0);
}

/* Wherever in the grant, and wherever in the owner's memory that is aligned. */
TEST_F(grant, atomic_places)
{
	uint64_t value;
	uint32_t region, grant, base, at;

	for (base = 0; base < 8; base++) {
		memset(self->memory, 0, SIZE);
		region = region_of(self->ctx, self->memory + base, SIZE - 8);
		grant = grant_range(self->owner, self->ctx, &RANGE(region, MAY_ALL, 8, SIZE - 16));
		ASSERT_TRUE(grant_held(self->holder, grant));
		for (at = 8 - base; at <= SIZE - 24; at += 8 * 9973) {
			ASSERT_EQ(grant_add(self->holder, grant, at, at, &value), 0);
			EXPECT_EQ(value, 0);
			EXPECT_EQ(*(uint64_t *)(self->memory + base + 8 + at), at);
			ASSERT_EQ(grant_read(self->holder, grant, at, &value, 8), 0);
			EXPECT_EQ(value, at);
		}
		EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
		EXPECT_EQ(region_unregister(self->ctx, region), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
}

#define PROCESSES 8

/* Its own channel, and a grant of the same 8 bytes or so. */
static uint32_t lend_to(struct fixture_grant *self, int fds[2], uint64_t len)
{
	int64_t grant;

	pair_up(self->ctx, fds, NULL);
	grant = grant_range(fds[0], self->ctx, &RANGE(self->region, MAY_ALL, 0, len));
	ASSERT_TRUE(grant_held(fds[1], grant));
	return grant;
}

static int add_many(int chan, uint32_t grant, int count)
{
	uint64_t last = 0, value;
	int i;

	for (i = 0; i < count; i++) {
		if (grant_add(chan, grant, 0, 1, &value) || (i && value <= last))
			return 1;
		last = value;
	}
	return 0;
}

TEST_F_TIMEOUT(grant, sum_of_processes, 120)
{
	pid_t children[PROCESSES];
	uint32_t grants[PROCESSES];
	int fds[PROCESSES][2], i, turns = 300;

	for (i = 0; i < PROCESSES; i++)
		grants[i] = lend_to(self, fds[i], 8);
	for (i = 0; i < PROCESSES; i++)
		children[i] = LATER(0, _exit(add_many(fds[i][1], grants[i], turns)));
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	EXPECT_EQ(*(uint64_t *)self->memory, PROCESSES * turns);
}

/* One grant of one channel, that all have inherited. */
TEST_F_TIMEOUT(grant, sum_on_one_channel, 120)
{
	uint32_t grant = lend(self, MAY_ATOMIC, 0, 8);
	pid_t children[PROCESSES];
	int i, turns = 300;

	for (i = 0; i < PROCESSES; i++)
		children[i] = LATER(0, _exit(add_many(self->holder, grant, turns)));
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	EXPECT_EQ(*(uint64_t *)self->memory, PROCESSES * turns);
}

/* A lock at 0, and behind it a number that only its holder may change, by READ and WRITE. */
static int lock_many(int chan, uint32_t grant, int number, int turns)
{
	uint64_t data[8], value;
	int i, j;

	for (i = 0; i < turns; i++) {
		do {
			if (grant_swap(chan, grant, 0, 0, number, &value))
				return 1;
		} while (value);
		if (grant_read(chan, grant, 8, data, sizeof(data)))
			return 2;
		for (j = 0; j < 8; j++)
			if (data[j] != data[0])
				return 3;
		for (j = 0; j < 8; j++)
			data[j]++;
		if (grant_write(chan, grant, 8, data, sizeof(data)))
			return 4;
		if (grant_swap(chan, grant, 0, number, 0, &value) || value != (uint64_t)number)
			return 5;
	}
	return 0;
}

TEST_F_TIMEOUT(grant, lock, 120)
{
	pid_t children[PROCESSES];
	uint32_t grants[PROCESSES];
	int fds[PROCESSES][2], i, turns = 20;

	for (i = 0; i < PROCESSES; i++)
		grants[i] = lend_to(self, fds[i], 72);
	for (i = 0; i < PROCESSES; i++)
		children[i] = LATER(0, _exit(lock_many(fds[i][1], grants[i], i + 1, turns)));
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	for (i = 1; i <= 8; i++)
		EXPECT_EQ(((uint64_t *)self->memory)[i], PROCESSES * turns);
	EXPECT_EQ(*(uint64_t *)self->memory, 0);
}

/* Where the kernel does it, the owner's processors may do it as well. */
TEST_F_TIMEOUT(grant, sum_with_the_owner, 120)
{
	struct rdmachan_grant_event event;
	int64_t grant = grant_range(self->owner, self->ctx, &RANGE(self->region, MAY_ATOMIC, 0, 8));
	pid_t child;
	int i, turns = 1000;

	ASSERT_GT(grant, 0);
	ASSERT_TRUE(grant_next(self->holder, &event));
	if (event.rights & RDMACHAN_RIGHT_BY_DEVICE)
		SKIP("the adapter does them");
	child = LATER(0, _exit(add_many(self->holder, grant, turns)));
	for (i = 0; waitpid(child, NULL, WNOHANG) == 0; i++) {
		__atomic_fetch_add((uint64_t *)self->memory, 1, __ATOMIC_RELAXED);
		let_time_pass();
	}
	EXPECT_EQ(*(uint64_t *)self->memory, (uint64_t)i + turns);
}

TEST_HARNESS_MAIN
