// SPDX-License-Identifier: GPL-2.0
/*
 * grant_charge_test.c - what accesses have, and who is charged for it
 *
 * An access has pages of its program's pinned, or memory of the kernel's, while the adapter works.
 * Where it has them for longer, as others have their turn before it, or as its owner does not come
 * to take what has ended, the user is charged. Nothing pins memory here but the accesses of a test.
 */
#include <pthread.h>

#include "common.h"
#include "disk.h"
#include "fault.h"
#include "grant_entries.h"
#include "harness.h"
#include "pair.h"
#include "scattered.h"
#include "slow.h"

#define CHANS 8
#define FEW 8
/* What a path writes at a time, RCH_WRITE_BYTES. */
#define WRITTEN (2 * MIB)

static long vmstat(const char *what)
{
	char name[64];
	long value;
	FILE *file = fopen("/proc/vmstat", "r");

	while (file && fscanf(file, "%63s %ld", name, &value) == 2)
		if (!strcmp(name, what)) {
			fclose(file);
			return value;
		}
	if (file)
		fclose(file);
	return -1;
}

/* Bytes that the kernel has pinned. */
static int64_t pinned(void)
{
	return (vmstat("nr_foll_pin_acquired") - vmstat("nr_foll_pin_released")) * PAGE;
}

static int64_t charged(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_bytes.user;
}

struct had {
	int64_t pinned;
	int64_t charged;
};

static struct had has(struct fixture_grant *self)
{
	if (vmstat("nr_foll_pin_acquired") < 0)
		SKIP("this kernel does not count what is pinned");
	return (struct had){ pinned(), charged(self->ctx) };
}

/* More is pinned than before, and all of it charged. */
static void expect_charged(struct fixture_grant *self, const struct had *before)
{
	int64_t more = pinned() - before->pinned, used = charged(self->ctx) - before->charged;

	printf("# %lld KiB more are pinned, and %lld charged\n", (long long)more / 1024,
	       (long long)used / 1024);
	EXPECT_GT(more, 0);
	EXPECT_GE(used, more);
}

static void expect_nothing_left(struct fixture_grant *self, const struct had *before)
{
	int64_t until = now_ms() + 10000;

	while ((pinned() != before->pinned || charged(self->ctx) != before->charged) &&
	       now_ms() < until)
		sleep_ms(2);
	EXPECT_EQ(pinned(), before->pinned);
	EXPECT_EQ(charged(self->ctx), before->charged);
}

/*
 * Behind others
 */

/* All but the last KiB is being written: a WRITE has to wait, and those behind it. */
static bool wait_behind(struct fixture_grant *self, uint32_t grant, uint32_t region)
{
	int64_t before = charged(self->ctx), after;
	char *mine = pages(PAGE);
	int i, early;

	in_region(queue_write(&q, self->holder, grant, 0, NULL, WRITTEN - KIB, 1), region, 0);
	queue_write(&q, self->holder, grant, WRITTEN, mine, PAGE - 1, 2);
	for (i = 0; i < FEW; i++)
		queue_read(&q, self->holder, grant, WRITTEN, mine, PAGE - 1, 3);
	ASSERT_EQ(queue_submit(&q), 2 + FEW);
	after = charged(self->ctx);
	early = queue_ready(&q);
	for (i = 0; i < 2 + FEW; i++)
		EXPECT_GT(result(NULL), 0);
	munmap(mine, PAGE);
	/* Only if none had ended yet is it known what there had to be. */
	if (early)
		return false;
	EXPECT_EQ(after - before, (int64_t)((1 + FEW) * PAGE));
	return true;
}

TEST_F_TIMEOUT(grant, charge_behind_a_write, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE), region;
	int i;

	if (shim_parameter("max_send_sge"))
		SKIP("the adapter takes few pages: accesses that wait have not pinned any yet");
	begin(self);
	region = region_of(self->ctx, scattered(SIZE), SIZE);
	/* With keys of the region a step is as long as it may be. */
	for (i = 0; i < 100 && module_count("keys") < 1; i++) {
		in_region(queue_write(&q, self->holder, grant, 0, NULL, WRITTEN, 1), region, 0);
		ASSERT_EQ(queue_submit(&q), 1);
		EXPECT_EQ(result(NULL), (int64_t)WRITTEN);
		sleep_ms(10);
	}
	if (module_count("keys") < 1)
		SKIP("there are no keys of regions, or they are not told");
	for (i = 0; i < 100 && !wait_behind(self, grant, region); i++)
		;
	EXPECT_LT(i, 100);
	queue_close(&q);
}

/*
 * Without their owner
 */

struct other {
	struct fixture_grant pair;
	uint32_t grant;
	int count;
	char *mine;
	pthread_t thread;
	int res;
};

/* Channels that have no room for a message. */
static void others_begin(struct fixture_grant *self, struct other *others)
{
	struct other *o;
	int fds[2];

	for (o = others; o < others + CHANS; o++) {
		o->pair = *self;
		pair_up(self->ctx, fds, NULL);
		o->pair.owner = fds[0];
		o->pair.holder = fds[1];
		o->grant = lend(&o->pair, MAY_WRITE, 0, MIB);
		o->mine = pages(MIB);
		memset(o->mine, 0x11, MIB);
		o->count = fill_up(fds[1], 1000);
		ASSERT_GT(o->count, 0);
	}
	memset(self->memory, 0, MIB);
}

static void await_bytes(struct fixture_grant *self)
{
	while (!is_all(self->memory, MIB, 0x11))
		sleep_ms(1);
	sleep_ms(100);
}

static void others_read(struct other *others)
{
	struct rdmachan_recv_args recv;
	char word[4];
	int i;

	for (i = 0; i < CHANS; i++) {
		drain(others[i].pair.owner, others[i].count);
		ASSERT_EQ(do_recv(others[i].pair.owner, word, sizeof(word), &recv,
				  TIMEOUT(10000)), 0);
	}
}

static void others_end(struct other *others)
{
	int i;

	for (i = 0; i < CHANS; i++) {
		close(others[i].pair.owner);
		close(others[i].pair.holder);
		munmap(others[i].mine, MIB);
	}
}

/* A queue's WRITEs are over, and their messages wait for room. */
TEST_F_TIMEOUT(grant, charge_notify, 60)
{
	struct other others[CHANS];
	struct had before;
	int i;

	others_begin(self, others);
	begin(self);
	before = has(self);
	for (i = 0; i < CHANS; i++)
		queue_notify(&others[i].pair, others[i].grant, 0, others[i].mine, MIB, 9, i);
	submit(CHANS);
	await_bytes(self);
	EXPECT_EQ(queue_ready(&q), 0);
	expect_nothing_left(self, &before);
	others_read(others);
	for (i = 0; i < CHANS; i++)
		EXPECT_EQ(result(NULL), (int64_t)MIB);
	queue_close(&q);
	others_end(others);
}

static void *write_and_notify(void *arg)
{
	struct other *o = arg;
	struct iovec iov = { "word", 4 };
	struct rdmachan_access_args access = {
		.size = sizeof(access), .flags = RDMACHAN_WRITE_F_NOTIFY, .grant = o->grant,
		.addr = (uintptr_t)o->mine, .length = MIB, .iov_ptr = (uintptr_t)&iov,
		.iov_count = 1,
	};

	o->res = ioctl(o->pair.holder, RDMACHAN_WRITE, &access) ? errno : 0;
	return NULL;
}

/* The same of calls, which wait with their steps in hand. */
TEST_F_TIMEOUT(grant, charge_notify_call, 60)
{
	struct other others[CHANS];
	struct had before;
	int i;

	others_begin(self, others);
	before = has(self);
	for (i = 0; i < CHANS; i++)
		ASSERT_EQ(pthread_create(&others[i].thread, NULL, write_and_notify, &others[i]),
			  0);
	await_bytes(self);
	expect_charged(self, &before);
	others_read(others);
	for (i = 0; i < CHANS; i++) {
		ASSERT_EQ(pthread_join(others[i].thread, NULL), 0);
		EXPECT_EQ(others[i].res, 0);
	}
	expect_nothing_left(self, &before);
	others_end(others);
}

static void *enter(void *arg)
{
	int *taken = arg;

	slow_undisturbed();
	*taken = queue_submit(&q);
	return NULL;
}

/* Memory that no adapter may write to: it goes by way of the kernel's, 16 KiB for each step. */
#define ROOM (16 * KIB)
/* What an access has of them at a time. */
#define STEPS 8

static char *file_memory(char *at, size_t len)
{
	char *memory;
	int fd = disk_file();

	ASSERT_GE(fd, 0);
	ASSERT_EQ(ftruncate(fd, len), 0);
	memory = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	close(fd);
	return memory;
}

static void expect_rooms_charged(struct fixture_grant *self, const struct had *before, int count)
{
	int64_t used = charged(self->ctx) - before->charged;

	printf("# %lld KiB are charged, at least %d wanted\n", (long long)used / 1024,
	       count * ROOM / 1024);
	EXPECT_GE(used, (int64_t)(count * ROOM));
}

/*
 * The thread that would take what READs have is in ENTER, and waits for other memory. The newest
 * step of each goes without a charge.
 */
static void read_and_be_stuck(struct fixture_grant *self, char *mine, int count, bool file)
{
	uint32_t grant = lend(self, MAY_READ, 0, MIB);
	struct rdmachan_recv_args recv;
	struct had before;
	pthread_t thread;
	struct slow slow;
	int i, taken;

	if (!slow_begin(&slow, PAGE))
		SKIP("this kernel has no userfaultfd");
	memset(mine, 0, count * MIB);
	begin(self);
	before = has(self);
	for (i = 0; i < count; i++)
		queue_read(&q, self->holder, grant, 0, mine + i * MIB, MIB, i);
	queue_send(&q, self->holder, slow.memory, PAGE, count);
	ASSERT_EQ(pthread_create(&thread, NULL, enter, &taken), 0);
	slow_met(&slow);
	sleep_ms(200);
	if (file)
		expect_rooms_charged(self, &before, count * (STEPS - 1));
	else
		expect_charged(self, &before);
	slow_end(&slow);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(taken, count + 1);
	for (i = 0; i <= count; i++)
		EXPECT_GT(result(NULL), 0);
	expect_nothing_left(self, &before);
	ASSERT_EQ(do_recv(self->owner, mine, PAGE, &recv, TIMEOUT(10000)), 0);
	queue_close(&q);
}

TEST_F_TIMEOUT(grant, charge_stuck_queue, 60)
{
	read_and_be_stuck(self, pages(FEW * MIB), FEW, false);
}

/* Two have a place at the adapter for all of their steps. */
TEST_F_TIMEOUT(grant, charge_stuck_queue_that_copies, 60)
{
	read_and_be_stuck(self, file_memory(NULL, 2 * MIB), 2, true);
}

struct call {
	int chan;
	uint32_t grant;
	char *to;
	int res;
};

static void *read_some(void *arg)
{
	struct call *call = arg;

	slow_undisturbed();
	call->res = grant_read(call->chan, call->grant, 0, call->to, MIB) ? errno : 0;
	return NULL;
}

static void slow_give(const struct slow *slow, size_t at, size_t len)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)slow->memory + at, .len = len },
	};

	ASSERT_EQ(ioctl(slow->fd, UFFDIO_ZEROPAGE, &zero), 0);
}

/* A call reads, and waits for memory behind @there bytes: of a file, or of the program's own. */
static void call_and_be_stuck(struct fixture_grant *self, size_t there, bool file)
{
	struct call call = { .chan = self->holder, .grant = lend(self, MAY_READ, 0, MIB) };
	struct had before;
	pthread_t thread;
	struct slow slow;

	if (!slow_begin(&slow, MIB))
		SKIP("this kernel has no userfaultfd");
	if (file)
		file_memory(slow.memory, there);
	else
		slow_give(&slow, 0, there);
	memset(slow.memory, 0, there);
	memset(self->memory, 0x22, MIB);
	call.to = slow.memory;
	before = has(self);
	ASSERT_EQ(pthread_create(&thread, NULL, read_some, &call), 0);
	slow_met(&slow);
	sleep_ms(200);
	if (file)
		expect_rooms_charged(self, &before, STEPS - 1);
	else
		expect_charged(self, &before);
	slow_give(&slow, there, MIB - there);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(call.res, 0);
	EXPECT_TRUE(is_all(slow.memory, MIB, 0x22));
	expect_nothing_left(self, &before);
}

/* It has read a part, and waits for the memory of the next one. */
TEST_F_TIMEOUT(grant, charge_stuck_call, 60)
{
	call_and_be_stuck(self, MIB / 2, false);
}

/* It has read all that it has room for, and waits for the memory where the first of that goes. */
TEST_F_TIMEOUT(grant, charge_stuck_call_that_copies, 60)
{
	call_and_be_stuck(self, STEPS * ROOM, true);
}

TEST_HARNESS_MAIN
