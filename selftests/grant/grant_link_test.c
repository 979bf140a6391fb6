// SPDX-License-Identifier: GPL-2.0
/*
 * grant_link_test.c - grants whose channel, program or connection ends
 *
 * As in grant_end_test.c: each access ends with a documented error, the owner is told, and
 * nobody writes to its memory after that.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "common.h"
#include "disk.h"
#include "grant_fixture.h"
#include "grant_users.h"
#include "harness.h"
#include "inject.h"
#include "slow.h"

/*
 * Ends of channels and programs
 */

/* All the events, and then the end. */
TEST_F(grant, holder_closes)
{
	struct user users[USERS];
	struct rdmachan_recv_args recv;
	uint32_t grant;
	int i, fds[2];
	char c;

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		grant = give(fds[0], self->ctx, self->region, LENT);
		give(fds[0], self->ctx, self->region, LENT);
		ASSERT_TRUE(grant_held(fds[1], grant));
		/* The last one closes: a call that is made keeps the file. */
		users_begin(users, dup(fds[1]), grant);
		usleep(1000 + i * 777);
		close(fds[1]);
		EXPECT_EQ(grant_write(users[0].chan, grant, 0, "x", 1), 0);
		close(users[0].chan);
		users_end(users, EBADF, EKEYREVOKED);
		EXPECT_EQ(await_returned(fds[0], 2), RDMACHAN_CAUSE_PEER_CLOSED);
		expect_calm(self->memory, LENT);
		ASSERT_EQ(grant_recv(fds[0], &c, 1, &recv, TIMEOUT(10000)), 0);
		EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
		close(fds[0]);
	}
	EXPECT_TRUE(forgotten(self->ctx, self->count));
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

TEST_F(grant, owner_closes)
{
	struct user users[USERS];
	uint32_t grant, region;
	int i, fds[2];

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		region = region_of(self->ctx, self->memory, LENT);
		grant = give(fds[0], self->ctx, region, LENT);
		ASSERT_TRUE(grant_held(fds[1], grant));
		users_begin(users, fds[1], grant);
		usleep(1000 + i * 777);
		close(fds[0]);
		ASSERT_TRUE(unregister_soon(self->ctx, region));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EPIPE);
		close(fds[1]);
	}
	EXPECT_TRUE(forgotten(self->ctx, self->count));
}

/* The region's own context ends, and the channel stays. */
TEST_F(grant, context_closed)
{
	struct user users[USERS];
	uint32_t grant, region;
	int i, ctx;

	for (i = 0; i < turns(20); i++) {
		ctx = open_ctx();
		region = region_of(ctx, self->memory, LENT);
		grant = give(self->owner, ctx, region, LENT);
		ASSERT_TRUE(grant_held(self->holder, grant));
		users_begin(users, self->holder, grant);
		usleep(1000 + i * 777);
		close(ctx);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_TRUE(forgotten(self->ctx, self->count));
	EXPECT_EQ(pinned_bytes(), SIZE);
}

/* The owner's end of its sending: lent memory stays so; and of its receiving. */
TEST_F(grant, shut_down)
{
	static const uint32_t hows[] = {
		RDMACHAN_SHUTDOWN_SEND, RDMACHAN_SHUTDOWN_RECV,
		RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV,
	};
	struct user users[USERS];
	uint32_t grant, region;
	int i, fds[2];

	for (i = 0; i < 6; i++) {
		pair_up(self->ctx, fds, NULL);
		region = region_of(self->ctx, self->memory, LENT);
		grant = give(fds[0], self->ctx, region, LENT);
		ASSERT_TRUE(grant_held(fds[1], grant));
		users_begin(users, fds[1], grant);
		usleep(1000);
		EXPECT_EQ(do_shutdown(fds[i % 2], hows[i % 3]), 0);
		usleep(1000);
		EXPECT_EQ(grant_revoke(fds[0], grant, TIMEOUT(10000)), 0);
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EPIPE);
		EXPECT_EQ(region_unregister(self->ctx, region), 0);
		close(fds[0]);
		close(fds[1]);
	}
	EXPECT_TRUE(forgotten(self->ctx, self->count));
}

TEST_F_TIMEOUT(grant, owner_killed, 100)
{
	struct rdmachan_error error;
	struct rdmachan_grant_event event;
	struct user users[USERS];
	int i, fds[2];
	pid_t child;

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			int ctx = open_ctx();

			close(fds[1]);
			give(fds[0], ctx, region_of(ctx, self->memory, LENT), LENT);
			pause();
		}
		close(fds[0]);
		ASSERT_TRUE(grant_next(fds[1], &event));
		users_begin(users, fds[1], event.grant);
		usleep(1000 + i * 777);
		kill(child, SIGKILL);
		child_status(child);
		/* Its files are closed one after the other. */
		users_end(users, EKEYREVOKED, ECONNRESET);
		EXPECT_ERR(grant_recv(fds[1], &event, sizeof(event), NULL, TIMEOUT(10000)),
			   ECONNRESET);
		EXPECT_EQ(get_error(fds[1], &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
		close(fds[1]);
	}
	EXPECT_TRUE(forgotten(self->ctx, self->count));
}

/* Control of the memory comes back by itself. */
TEST_F_TIMEOUT(grant, holder_killed, 100)
{
	struct user users[USERS];
	struct rdmachan_error error;
	uint32_t grant;
	int i, fds[2];
	pid_t child;
	char c;

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			struct rdmachan_grant_event event;

			close(fds[0]);
			ASSERT_TRUE(grant_next(fds[1], &event));
			users_begin(users, fds[1], event.grant);
			users_end(users, 0, 0);
		}
		close(fds[1]);
		grant = give(fds[0], self->ctx, self->region, LENT);
		give(fds[0], self->ctx, self->region, 8);
		usleep(2000 + i * 777);
		kill(child, SIGKILL);
		if (i % 3 == 0)
			EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
		await_returned(fds[0], 2);
		expect_calm(self->memory, LENT);
		EXPECT_ERR(grant_recv(fds[0], &c, 1, NULL, TIMEOUT(10000)), ECONNRESET);
		EXPECT_EQ(get_error(fds[0], &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
		EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
		close(fds[0]);
		child_status(child);
	}
	EXPECT_TRUE(forgotten(self->ctx, self->count));
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

/*
 * Ends of connections
 */

/* The device is that of the owner, of the holder, or of both. */
TEST_TIMEOUT(device_removed, 200)
{
	int ctx = open_ctx(), fds[2], i, owner, holder;
	char *memory = pages(LENT);
	uint32_t region = region_of(ctx, memory, LENT), grant;
	struct user users[USERS];

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	for (i = 0; i < turns(10); i++) {
		pair_up_again(ctx, fds);
		owner = i % 2;
		holder = !owner;
		grant = give(fds[owner], ctx, region, LENT);
		ASSERT_TRUE(grant_held(fds[holder], grant));
		users_begin(users, fds[holder], grant);
		sleep_ms(10 + 7 * i);
		EXPECT_EQ(remove_device(), 0);
		users_end(users, removal_error(holder), removal_error(holder));
		EXPECT_EQ(await_returned(fds[owner], 1), removal_cause(owner));
		expect_calm(memory, LENT);
		EXPECT_EQ(grant_revoke(fds[owner], grant, NULL), 0);
		close(fds[0]);
		close(fds[1]);
		EXPECT_EQ(add_device(), 0);
	}
	EXPECT_EQ(grants_in_use(ctx), 0);
	EXPECT_EQ(region_unregister(ctx, region), 0);
}

/* Accesses whose own memory does not come. */
struct stuck {
	pthread_t thread;
	int chan;
	uint32_t grant;
	bool read;
	uint64_t len;
	struct slow slow;
};

static void *be_stuck(void *arg)
{
	struct stuck *stuck = arg;

	slow_undisturbed();
	grant_access(stuck->chan, stuck->read ? RDMACHAN_READ : RDMACHAN_WRITE, stuck->grant, 0,
		     stuck->slow.memory, stuck->len);
	return NULL;
}

/* The kilobytes of that memory that are to be written to their file. */
static long dirty_kib(const void *memory)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	char line[256], start[32];
	bool here = false;
	long kib, sum = 0;

	ASSERT_TRUE(maps);
	snprintf(start, sizeof(start), "%lx-", (unsigned long)memory);
	while (fgets(line, sizeof(line), maps)) {
		if (strchr(line, '-') && strchr(line, ':') && !strstr(line, "kB"))
			here = !strncmp(line, start, strlen(start));
		if (here && (sscanf(line, "Shared_Dirty: %ld", &kib) == 1 ||
			     sscanf(line, "Private_Dirty: %ld", &kib) == 1))
			sum += kib;
	}
	fclose(maps);
	return sum;
}

/*
 * An access whose memory comes when the connection has ended is never begun. What it would have
 * read from pages of a file that the program may not write to, and a READ before it has written
 * elsewhere, leaves that file alone.
 */
TEST(file_of_an_access_that_is_too_late)
{
	struct uffdio_zeropage zero = { .range.len = PAGE };
	int ctx = open_ctx(), fd = disk_file(), fds[2];
	char *memory = pages(LENT);
	struct stuck stuck = { .len = 4 * PAGE };
	uint32_t region = region_of(ctx, memory, LENT);
	char *file;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	if (fd < 0)
		SKIP("there is no file system that writes back");
	if (!slow_begin(&stuck.slow, 4 * PAGE))
		SKIP("there is no userfaultfd");
	ASSERT_EQ(ftruncate(fd, 3 * PAGE), 0);
	file = mmap(stuck.slow.memory + PAGE, 3 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	ASSERT_EQ((void *)file, stuck.slow.memory + PAGE);
	EXPECT_TRUE(is_all(file, 3 * PAGE, 0));
	ASSERT_EQ(fsync(fd), 0);
	EXPECT_EQ(dirty_kib(file), 0);
	pair_up_again(ctx, fds);
	stuck.chan = fds[1];
	stuck.grant = give(fds[0], ctx, region, LENT);
	ASSERT_TRUE(grant_held(fds[1], stuck.grant));
	ASSERT_EQ(grant_read(fds[1], stuck.grant, 0, memory, 4 * PAGE), 0);
	ASSERT_EQ(pthread_create(&stuck.thread, NULL, be_stuck, &stuck), 0);
	slow_met(&stuck.slow);
	EXPECT_EQ(remove_device(), 0);
	zero.range.start = (uintptr_t)stuck.slow.memory;
	ASSERT_EQ(ioctl(stuck.slow.fd, UFFDIO_ZEROPAGE, &zero), 0);
	pthread_join(stuck.thread, NULL);
	EXPECT_EQ(dirty_kib(file), 0);
	close(fds[0]);
	close(fds[1]);
	EXPECT_EQ(add_device(), 0);
	munmap(stuck.slow.memory, 4 * PAGE);
	close(stuck.slow.fd);
	close(fd);
}

static void remove_device_stuck(int ctx, int owner)
{
	int fds[2], i;
	char *memory = pages(LENT);
	uint32_t region = region_of(ctx, memory, LENT), grant;
	struct stuck stuck[4];

	pair_up_again(ctx, fds);
	grant = give(fds[owner], ctx, region, LENT);
	ASSERT_TRUE(grant_held(fds[!owner], grant));
	for (i = 0; i < 4; i++) {
		stuck[i].chan = fds[!owner];
		stuck[i].grant = grant;
		stuck[i].read = i % 2;
		stuck[i].len = i < 2 ? 100 : 60000;
		if (!slow_begin(&stuck[i].slow, 16 * PAGE))
			SKIP("there is no userfaultfd");
		ASSERT_EQ(pthread_create(&stuck[i].thread, NULL, be_stuck, &stuck[i]), 0);
		slow_met(&stuck[i].slow);
	}
	EXPECT_EQ(remove_device(), 0);
	EXPECT_EQ(await_returned(fds[owner], 1), removal_cause(owner));
	EXPECT_EQ(region_unregister(ctx, region), 0);
	EXPECT_EQ(add_device(), 0);
	for (i = 0; i < 4; i++) {
		slow_end(&stuck[i].slow);
		pthread_join(stuck[i].thread, NULL);
	}
	close(fds[0]);
	close(fds[1]);
}

/* A device goes, whatever programs do with their memory: the holder's, and the owner's. */
TEST_TIMEOUT(device_removed_stuck, 100)
{
	int ctx = open_ctx();

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	remove_device_stuck(ctx, 1);
	remove_device_stuck(ctx, 0);
}

/* With the frame behind the next @skip: the test sends some, as heartbeats are seldom. */
static void kill_link(int chan, int skip)
{
	inject("kill", "skip=%d", skip);
	do {
		do_send(chan, "", 0, 0, DONTWAIT);
		sleep_ms(1);
	} while (!inject_done("kill"));
}

/* The queue pair fails, in the middle of anything. */
TEST_TIMEOUT(link_killed, 200)
{
	char *memory = pages(LENT);
	int root = open_ctx(), ctx, fds[2], i;
	struct user users[USERS];
	uint32_t region, grant;

	inject_begin();
	for (i = 0; i < turns(20); i++) {
		ctx = fault_pair_of(22000 + i, fds);
		region = region_of(ctx, memory, LENT);
		grant = give(fds[0], ctx, region, LENT);
		ASSERT_TRUE(grant_held(fds[1], grant));
		users_begin(users, fds[1], grant);
		sleep_ms(3 + i * 7 % 20);
		kill_link(fds[i % 2], i % 3);
		users_end(users, ECONNRESET, ECONNRESET);
		inject_off("kill");
		await_returned(fds[0], 1);
		expect_calm(memory, LENT);
		EXPECT_EQ(region_unregister(ctx, region), 0);
		close(fds[0]);
		close(fds[1]);
		close(ctx);
	}
	EXPECT_EQ(pinned_bytes(), 0);
	EXPECT_EQ(grants_in_use(root), 0);
	inject_end(root);
}

/*
 * An atomic operation of unknown outcome was done once or not at all; others are as they
 * were told.
 */
static void expect_sum(const struct user users[USERS], uint64_t sum)
{
	uint64_t told = 0, unknown = 0;
	int i;

	for (i = 0; i < USERS; i++) {
		told += users[i].adds;
		unknown += users[i].result == EREMOTEIO;
	}
	if (sum < told || sum > told + unknown)
		printf("# %llu are told, %llu unknown\n", (unsigned long long)told,
		       (unsigned long long)unknown);
	EXPECT_GE(sum, told);
	EXPECT_LE(sum, told + unknown);
}

TEST_TIMEOUT(atomics_never_twice, 200)
{
	uint64_t *sum = (uint64_t *)pages(PAGE);
	int root = open_ctx(), ctx, fds[2], i, j;
	struct user users[USERS];
	uint32_t grant;

	inject_begin();
	for (i = 0; i < turns(20); i++) {
		ctx = fault_pair_of(22300 + i, fds);
		grant = give(fds[0], ctx, region_of(ctx, sum, PAGE), PAGE);
		ASSERT_TRUE(grant_held(fds[1], grant));
		*sum = 0;
		for (j = 0; j < USERS; j++)
			user_begin(&users[j], fds[1], grant, MAY_ATOMIC, 8);
		sleep_ms(3 + i * 7 % 20);
		kill_link(fds[i % 2], i % 3);
		users_end(users, ECONNRESET, ECONNRESET);
		inject_off("kill");
		await_returned(fds[0], 1);
		expect_sum(users, *sum);
		close(fds[0]);
		close(fds[1]);
		close(ctx);
	}
	inject_end(root);
}

/* While its answer is on the way: time passes, the revocation goes on. */
TEST_TIMEOUT(revoke_answered_late, 100)
{
	char *memory = pages(LENT);
	int root = open_ctx(), ctx, fds[2], frames;
	struct rdmachan_object object;
	struct user users[USERS];
	uint32_t grant;
	int64_t begun;

	inject_begin();
	ctx = fault_pair_of(22100, fds);
	grant = give(fds[0], ctx, region_of(ctx, memory, LENT), LENT);
	ASSERT_TRUE(grant_held(fds[1], grant));
	users_begin(users, fds[1], grant);
	inject("delay", "count=0 ms=150");
	begun = tick_ms();
	EXPECT_ERR(grant_revoke(fds[0], grant, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_TOOK(begun, 50, LIMIT_LATE(50));
	EXPECT_EINTR(20, false, grant_revoke(fds[0], grant, NULL));
	EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
	/*
	 * Two frames are held back, each a tick less or more; and two of an atomic operation, where
	 * the kernel does it.
	 */
	ASSERT_EQ(get_object(fds[1], &object), 0);
	frames = object.rights & RDMACHAN_RIGHT_BY_DEVICE ? 2 : 4;
	EXPECT_TOOK(begun, 2 * (150 - KERNEL_TICK_MS),
		    (frames - 2) * 150 + (frames + 2) * KERNEL_TICK_MS);
	expect_calm(memory, LENT);
	users_end(users, EKEYREVOKED, EKEYREVOKED);
	inject_off("delay");
	close(fds[0]);
	close(fds[1]);
	close(ctx);
	inject_end(root);
}

/* That of inject.h. */
#define DEAD_MS 2000

/* One that does not answer at all costs the connection, and not the memory. */
TEST_TIMEOUT(revoke_never_answered, 100)
{
	char *memory = pages(LENT);
	int root = open_ctx(), ctx, fds[2];
	struct user users[USERS];
	struct rdmachan_error error;
	uint32_t grant;
	int64_t begun;

	inject_begin();
	ctx = fault_pair_of(22200, fds);
	grant = give(fds[0], ctx, region_of(ctx, memory, LENT), LENT);
	ASSERT_TRUE(grant_held(fds[1], grant));
	users_begin(users, fds[1], grant);
	/* The peer is heard for the last time, within a tick. */
	talk(fds[0], fds[1]);
	/*
	 * Eight seconds of accesses at 1 Gbit/s are 1 GB, of which KASAN keeps every packet: memory
	 * runs short, and rxe gives up a queue pair that has none for its next packet.
	 */
	if (time_is_virtual())
		cable("rate 20");
	begun = tick_ms();
	inject("delay", "count=0 ms=60000");
	EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
	/* Where its adapter answers, and is heard to, it has the time that an answer may take. */
	EXPECT_TOOK(begun, 0, 4 * DEAD_MS + LIMIT_LATE(4 * DEAD_MS));
	ASSERT_EQ(get_error(fds[0], &error), 0);
	EXPECT_TRUE(error.cause == RDMACHAN_CAUSE_PEER_STALLED ||
		    error.cause == RDMACHAN_CAUSE_PEER_DEAD);
	if (time_is_virtual())
		cable("rate 1000");
	if (time_is_virtual() && error.cause == RDMACHAN_CAUSE_PEER_DEAD)
		EXPECT_GE(now_ms() - begun, DEAD_MS - KERNEL_TICK_MS);
	/* One that gives no sign at all is found in its time. */
	if (time_is_virtual() && error.cause == RDMACHAN_CAUSE_PEER_DEAD)
		EXPECT_LE(now_ms() - begun, DEAD_MS + DEAD_MS / 4 + LIMIT_LATE(DEAD_MS / 4));
	expect_calm(memory, LENT);
	users_end(users, ECONNRESET, EHOSTDOWN);
	await_returned(fds[0], 1);
	inject_off("delay");
	close(fds[0]);
	close(fds[1]);
	close(ctx);
	inject_end(root);
}

/* All that can fail for want of memory: the call fails, and has done nothing. */
TEST_F_TIMEOUT(grant, no_memory, 100)
{
	static const char *const sites[] = { "object", "verbs", "region", "pin", "write", "item" };
	char *mine = malloc(LENT);
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 0, LENT);
	uint32_t grant = lend(self, MAY_ALL, 0, LENT + 8);
	int i, count = COUNT(sites);
	bool written;

	if (inject_open("nomem", O_RDONLY) < 0)
		SKIP("there is no debugfs");
	for (i = 0; i < 12 * count; i++) {
		inject("nomem", "site=%s skip=%d", sites[i % count], i / count);
		if (!grant_ranges(self->owner, self->ctx, &range, 1)) {
			ASSERT_TRUE(grant_held(self->holder, range.out_grant));
			EXPECT_EQ(grant_revoke(self->owner, range.out_grant, NULL), 0);
			EXPECT_TRUE(grant_returned(self->owner, range.out_grant,
						   RDMACHAN_CAUSE_SHUTDOWN));
		} else {
			EXPECT_EQ(errno, ENOMEM);
		}
		fill_random(mine, LENT, i);
		written = !grant_write(self->holder, grant, 0, mine, LENT);
		if (!written)
			EXPECT_EQ(errno, ENOMEM);
		if (grant_read(self->holder, grant, 0, mine, LENT))
			EXPECT_EQ(errno, ENOMEM);
		if (grant_add(self->holder, grant, LENT, 1, NULL))
			EXPECT_EQ(errno, ENOMEM);
		inject_off("nomem");
		await_written(self->holder, grant);
		EXPECT_TRUE(!written || is_random(self->memory, LENT, i));
	}
	EXPECT_EQ(grant_write(self->holder, grant, 0, mine, LENT), 0);
	EXPECT_EQ(grants_in_use(self->ctx), self->count + 2);
	EXPECT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
}

int main(int argc, char **argv)
{
	return users_main(argc, argv);
}
