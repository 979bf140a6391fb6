// SPDX-License-Identifier: GPL-2.0
/*
 * grant_end_test.c - grants that end in the middle of being used
 *
 * Whatever happens, each access ends once and with an error that is documented, the owner
 * is told once of each grant, and after that nobody writes to its memory.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "common.h"
#include "grant_fixture.h"
#include "harness.h"
#include "inject.h"
#include "slow.h"

#define LENT (512 * KIB)

/*
 * How often something is tried. With sanitizers each access takes much longer: where time
 * is short, as the environment tells, a tenth.
 */
static int turns(int full)
{
	return getenv("REGION_FEW_TURNS") ? (full + 9) / 10 : full;
}

/*
 * Users of a grant: threads that read, write or add until they are told no
 */

struct user {
	pthread_t thread;
	int chan;
	uint32_t grant;
	unsigned int how;
	uint64_t len;
	uint64_t adds;
	int result;
};

static int use_once(struct user *user, char *mine)
{
	switch (user->how) {
	case MAY_READ:
		return grant_read(user->chan, user->grant, 0, mine, user->len);
	case MAY_WRITE:
		return grant_write(user->chan, user->grant, 0, mine, user->len);
	default:
		return grant_add(user->chan, user->grant, 0, 1, NULL);
	}
}

static void *use(void *arg)
{
	struct user *user = arg;
	char *mine = pages(user->len);

	memset(mine, 0x11, user->len);
	while (!use_once(user, mine))
		user->adds++;
	user->result = errno;
	munmap(mine, user->len);
	return NULL;
}

#define USERS 6

static void users_begin(struct user users[USERS], int chan, uint32_t grant)
{
	static const unsigned int hows[] = { MAY_WRITE, MAY_READ, MAY_ATOMIC };
	int i;

	for (i = 0; i < USERS; i++) {
		users[i] = (struct user){
			.chan = chan, .grant = grant, .how = hows[i % 3],
			.len = i < 3 ? LENT : 100,
		};
		ASSERT_EQ(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
	}
}

/* Each has ended with one of these; an atomic operation may not know. */
static void users_end(struct user users[USERS], int error, int or_error)
{
	int i;

	for (i = 0; i < USERS; i++) {
		pthread_join(users[i].thread, NULL);
		if (users[i].result == error || users[i].result == or_error ||
		    (users[i].how == MAY_ATOMIC && users[i].result == EREMOTEIO &&
		     or_error != EKEYREVOKED))
			continue;
		printf("# user %d ended with errno %d after %llu times\n", i, users[i].result,
		       (unsigned long long)users[i].adds);
		harness_failures++;
	}
}

/* Nobody writes to it any more. */
static void expect_calm(char *memory, size_t len)
{
	memset(memory, 0x77, len);
	sleep_ms(3);
	EXPECT_TRUE(is_all(memory, len, 0x77));
}

/* The owner is told that all of them are back. Return: the cause of the last */
static uint32_t await_returned(int chan, int count)
{
	struct grant_message got;
	struct rdmachan_recv recv;
	uint32_t i, cause = 0;

	while (count > 0) {
		if (grant_recv(chan, &got, sizeof(got), &recv, TIMEOUT(20000))) {
			printf("# %d grants were not returned: errno %d\n", count, errno);
			harness_failures++;
			return ~0U;
		}
		for (i = 0; recv.out_flags & RDMACHAN_RECV_OUT_GRANTS && i < got.events[0].count;
		     i++) {
			if (got.events[i].what != RDMACHAN_GRANT_RETURNED)
				continue;
			cause = got.events[i].cause;
			count--;
		}
	}
	EXPECT_EQ(count, 0);
	return cause;
}

static uint32_t give(int chan, int ctx, uint32_t region, uint64_t len)
{
	int64_t grant = grant_range(chan, ctx, &RANGE(region, MAY_ALL, 0, len));

	ASSERT_GT(grant, 0);
	return grant;
}

static bool forgotten(int ctx, uint64_t grants)
{
	int64_t until = now_ms() + 10000;

	while (grants_in_use(ctx) != grants && now_ms() < until)
		sleep_ms(2);
	return grants_in_use(ctx) == grants;
}

/*
 * Revocation
 */

TEST_F_TIMEOUT(grant, revoke_under_load, 120)
{
	struct user users[USERS];
	uint32_t grant;
	int i;

	for (i = 0; i < turns(40); i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(1000 + i * 1931 % 20000);
		ASSERT_EQ(grant_revoke(self->owner, grant, NULL), 0);
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* While one is revoked the other is used as before, and its memory is beside. */
TEST_F_TIMEOUT(grant, revoke_beside_another, 120)
{
	uint32_t grant, other = lend(self, MAY_ALL, MIB, LENT);
	struct user users[USERS];
	char back[64];
	int i;

	users_begin(users, self->holder, other);
	for (i = 0; i < turns(100); i++) {
		grant = lend(self, MAY_ALL, MIB - 64, 64);
		EXPECT_EQ(grant_write(self->holder, grant, 0, "mine", 4), 0);
		EXPECT_EQ(grant_read(self->holder, grant, 0, back, 64), 0);
		EXPECT_EQ(memcmp(back, "mine", 4), 0);
		EXPECT_EQ(grant_revoke(self->owner, grant, NULL), 0);
		EXPECT_ERR(grant_write(self->holder, grant, 0, "x", 1), EKEYREVOKED);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
	EXPECT_EQ(grant_revoke(self->owner, other, NULL), 0);
	expect_calm(self->memory, 2 * MIB);
	users_end(users, EKEYREVOKED, EKEYREVOKED);
}

/* By the event alone. */
TEST_F_TIMEOUT(grant, revoke_begun_under_load, 120)
{
	struct user users[USERS];
	uint32_t grant;
	int i;

	for (i = 0; i < turns(20); i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(1000 + i * 1931 % 20000);
		ASSERT_EQ(grant_revoke(self->owner, grant, DONTWAIT), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
	}
}

/* Accesses of other threads end first. */
TEST_F_TIMEOUT(grant, release_under_load, 120)
{
	struct user users[USERS];
	uint32_t grant;
	int i;

	for (i = 0; i < turns(20); i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(1000 + i * 1931 % 20000);
		ASSERT_EQ(grant_release(self->holder, grant), 0);
		EXPECT_TRUE(grant_returned(self->owner, grant, 0));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

TEST_F_TIMEOUT(grant, expires_under_load, 60)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ALL, 0, LENT);
	struct user users[USERS];
	int i;

	for (i = 0; i < turns(10); i++) {
		range.expires_ms = 20 + i;
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
		ASSERT_TRUE(grant_held(self->holder, range.out_grant));
		users_begin(users, self->holder, range.out_grant);
		EXPECT_TRUE(grant_returned(self->owner, range.out_grant,
					   RDMACHAN_CAUSE_SHUTDOWN));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
	}
}

/* Exactly so many accesses, whoever makes them. */
TEST_F_TIMEOUT(grant, uses_of_many, 60)
{
	struct rdmachan_grant_range range = RANGE(self->region, MAY_ATOMIC, 0, LENT);
	struct user users[USERS];
	uint64_t sum;
	int i, j;

	for (i = 0; i < turns(20); i++) {
		*(uint64_t *)self->memory = 0;
		range.uses = 100 + i;
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, &range, 1), 0);
		ASSERT_TRUE(grant_held(self->holder, range.out_grant));
		for (j = 0; j < USERS; j++) {
			users[j] = (struct user){
				.chan = self->holder, .grant = range.out_grant,
				.how = MAY_ATOMIC, .len = 8,
			};
			pthread_create(&users[j].thread, NULL, use, &users[j]);
		}
		EXPECT_TRUE(grant_returned(self->owner, range.out_grant, 0));
		users_end(users, EKEYREVOKED, EKEYREVOKED);
		for (sum = 0, j = 0; j < USERS; j++)
			sum += users[j].adds;
		EXPECT_EQ(sum, range.uses);
		EXPECT_EQ(*(uint64_t *)self->memory, sum);
	}
}

/* Only the first bytes of the memory come, if any. */
static void *use_slow(void *arg)
{
	struct user *user = arg;
	struct slow *slow = (struct slow *)user->adds;

	user->result = grant_access(user->chan, user->how, user->grant, 0, slow->memory,
				    slow->len) ? errno : 0;
	return NULL;
}

static void bring_some(const struct slow *slow, size_t len)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)slow->memory, .len = len },
	};

	if (len)
		ASSERT_EQ(ioctl(slow->fd, UFFDIO_ZEROPAGE, &zero), 0);
}

/* Nothing that the holder's program does can keep the memory: its own does not come. */
TEST_F(grant, holder_waits_for_its_memory)
{
	static const unsigned int cmds[] = { RDMACHAN_READ, RDMACHAN_WRITE };
	static const size_t there[] = { 0, PAGE, 3 * MIB };
	struct slow slow;
	struct user user;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		if (!slow_begin(&slow, SIZE))
			SKIP("there is no userfaultfd");
		bring_some(&slow, there[i % 3]);
		user = (struct user){
			.chan = self->holder, .grant = lend(self, MAY_ALL, 0, SIZE),
			.how = cmds[i % 2], .adds = (uintptr_t)&slow,
		};
		pthread_create(&user.thread, NULL, use_slow, &user);
		sleep_ms(50);
		EXPECT_EQ(grant_revoke(self->owner, user.grant, TIMEOUT(5000)), 0);
		expect_calm(self->memory, SIZE);
		munmap(slow.memory, slow.len);
		close(slow.fd);
		pthread_join(user.thread, NULL);
		EXPECT_TRUE(user.result == EKEYREVOKED || user.result == EFAULT);
		EXPECT_TRUE(grant_returned(self->owner, user.grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
}

/* A signal, or the time, ends the waiting and not the revocation. */
TEST_F(grant, revoke_interrupted)
{
	struct user users[USERS];
	uint32_t grant;
	int i, ret;

	for (i = 0; i < turns(40); i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(3000);
		if (i % 2)
			on_alarm(1, false);
		ret = grant_revoke(self->owner, grant, i % 2 ? NULL : TIMEOUT(1));
		if (ret)
			EXPECT_EQ(errno, i % 2 ? EINTR : ETIMEDOUT);
		else
			expect_calm(self->memory, LENT);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
		sleep_ms(2);
	}
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/* All that wait for one revocation are told. */
struct waiter {
	pthread_t thread;
	int chan;
	uint32_t grant;
	int result;
};

static void *wait_revoked(void *arg)
{
	struct waiter *waiter = arg;

	waiter->result = grant_revoke(waiter->chan, waiter->grant, NULL) ? errno : 0;
	return NULL;
}

TEST_F_TIMEOUT(grant, revoke_by_many, 60)
{
	struct waiter waiters[8];
	struct user users[USERS];
	uint32_t grant;
	int i, j;

	for (i = 0; i < turns(20); i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(2000);
		for (j = 0; j < 8; j++) {
			waiters[j] = (struct waiter){ .chan = self->owner, .grant = grant };
			pthread_create(&waiters[j].thread, NULL, wait_revoked, &waiters[j]);
		}
		for (j = 0; j < 8; j++) {
			pthread_join(waiters[j].thread, NULL);
			EXPECT_EQ(waiters[j].result, 0);
		}
		users_end(users, EKEYREVOKED, EKEYREVOKED);
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
}

/*
 * Races: the owner gives and revokes, the holder uses and releases, all at any time
 */

struct race {
	pthread_t thread;
	struct fixture_grant *self;
	int number;
	int turns;
	unsigned int given;
	bool ok;
};

static bool is_end(int error)
{
	return error == EKEYREVOKED;
}

/* The owner's end: each grant is revoked, in one of several ways, or not at all. */
static void *race_owner(void *arg)
{
	struct race *race = arg;
	struct rdmachan_grant_range range = RANGE(race->self->region, MAY_ALL,
						  race->number * PAGE, PAGE);
	int chan = race->self->owner, i, ret;

	race->ok = true;
	for (i = 0; i < race->turns && race->ok; i++) {
		range.uses = i % 5 ? 0 : 2;
		range.expires_ms = i % 7 ? 500 : 1;
		race->ok = !grant_ranges(chan, race->self->ctx, &range, 1);
		race->given += race->ok;
		if (i % 3)
			usleep(i * 13 % 700);
		ret = i % 4 == 3 ? 0 :
		      grant_revoke(chan, range.out_grant,
				   i % 4 == 2 ? DONTWAIT : i % 4 ? TIMEOUT(1) : NULL);
		if (ret && errno != ETIMEDOUT)
			race->ok = false;
		if (i % 4 == 0 && !ret)
			memset(race->self->memory + race->number * PAGE, 0, PAGE);
	}
	return NULL;
}

static bool race_use(int chan, uint32_t grant, int turn)
{
	char mine[PAGE] = "";

	if ((turn % 2 && grant_write(chan, grant, turn % 64, mine, 1 + turn * 7 % 4000)) ||
	    (turn % 3 == 0 && grant_read(chan, grant, 0, mine, PAGE)) ||
	    (turn % 5 == 0 && grant_add(chan, grant, 0, 1, NULL)) ||
	    (turn % 4 == 0 && grant_release(chan, grant)))
		return is_end(errno);
	return true;
}

/* The holder's end takes the events, and does something with each. */
static void *race_holder(void *arg)
{
	struct race *race = arg;
	struct rdmachan_grant_event event;
	struct rdmachan_recv recv;
	int chan = race->self->holder;

	race->ok = true;
	while (race->ok && !grant_recv(chan, &event, sizeof(event), &recv, TIMEOUT(20000))) {
		if (!(recv.out_flags & RDMACHAN_RECV_OUT_GRANTS))
			return NULL;
		race->ok = race_use(chan, event.grant, race->given++);
	}
	race->ok = false;
	return NULL;
}

#define OWNERS 4
#define HOLDERS 3

/* Each grant that was given has come back, once. */
static void race_expect_events(struct fixture_grant *self, unsigned int given)
{
	struct rdmachan_grant_event event;

	await_returned(self->owner, given);
	EXPECT_ERR(grant_recv(self->owner, &event, sizeof(event), NULL, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	EXPECT_EQ(region_unregister(self->ctx, self->region), 0);
}

TEST_F_TIMEOUT(grant, races, 200)
{
	struct race owners[OWNERS], holders[HOLDERS];
	unsigned int given = 0, held = 0;
	int i;

	for (i = 0; i < HOLDERS; i++) {
		holders[i] = (struct race){ .self = self };
		pthread_create(&holders[i].thread, NULL, race_holder, &holders[i]);
	}
	for (i = 0; i < OWNERS; i++) {
		owners[i] = (struct race){ .self = self, .number = i, .turns = turns(1000) };
		pthread_create(&owners[i].thread, NULL, race_owner, &owners[i]);
	}
	for (i = 0; i < OWNERS; i++) {
		pthread_join(owners[i].thread, NULL);
		EXPECT_TRUE(owners[i].ok);
		given += owners[i].given;
	}
	for (i = 0; i < HOLDERS; i++)
		ASSERT_EQ(write(self->owner, "end", 3), 3);
	for (i = 0; i < HOLDERS; i++) {
		pthread_join(holders[i].thread, NULL);
		EXPECT_TRUE(holders[i].ok);
		held += holders[i].given;
	}
	printf("# %u grants were given, and %u held\n", given, held);
	EXPECT_EQ(given, held);
	race_expect_events(self, given);
}

/* Thousands at a time, all used, and all taken back at once. */
#define MANY 4096

static void give_many(struct fixture_grant *self, uint32_t *grants, unsigned int count)
{
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	struct grant_message got;
	unsigned int i, j;

	for (i = 0; i < count; i += RDMACHAN_GRANTS_MAX) {
		for (j = 0; j < RDMACHAN_GRANTS_MAX; j++)
			ranges[j] = RANGE(self->region, MAY_ALL, (i + j) * 64, 64);
		ASSERT_EQ(grant_ranges(self->owner, self->ctx, ranges, RDMACHAN_GRANTS_MAX), 0);
		ASSERT_EQ(grant_recv(self->holder, &got, sizeof(got), NULL, NULL), 0);
		for (j = 0; j < RDMACHAN_GRANTS_MAX; j++)
			grants[i + j] = ranges[j].out_grant;
	}
}

TEST_F_TIMEOUT(grant, thousands, 120)
{
	struct rdmachan_region_unregister unreg = {
		.size = sizeof(unreg), .region = self->region,
		.flags = RDMACHAN_UNREGISTER_F_REVOKE,
	};
	unsigned int count = turns(MANY / 16) * 16, i;
	uint32_t *grants = calloc(count, sizeof(*grants));
	int64_t begun = now_ms(), given, used;
	char mine[64];

	give_many(self, grants, count);
	given = now_ms();
	EXPECT_EQ(grants_in_use(self->ctx), self->count + 2 * count);
	for (i = 0; i < count; i += 7) {
		fill_random(mine, 64, i);
		ASSERT_EQ(grant_write(self->holder, grants[i], 0, mine, 64), 0);
	}
	for (i = 0; i < count; i += 7)
		EXPECT_TRUE(is_random(self->memory + i * 64, 64, i));
	used = now_ms();
	EXPECT_EQ(ioctl(self->ctx, RDMACHAN_REGION_UNREGISTER, &unreg), 0);
	printf("# %u grants: %lld ms to give, %lld to use, %lld to revoke\n", count,
	       (long long)(given - begun), (long long)(used - given),
	       (long long)(now_ms() - used));
	expect_calm(self->memory, SIZE);
	EXPECT_EQ(await_returned(self->owner, count), RDMACHAN_CAUSE_SHUTDOWN);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
	for (i = 0; i < count; i++)
		EXPECT_ERR(grant_read(self->holder, grants[i], 0, mine, 64), EKEYREVOKED);
}

/* The owner reads no messages, so nobody takes the events: they have their place. */
TEST_F_TIMEOUT(grant, thousands_of_events, 120)
{
	unsigned int count = turns(MANY / 16) * 16, i;
	uint32_t *grants = calloc(count, sizeof(*grants));

	give_many(self, grants, count);
	for (i = 0; i < count; i++)
		EXPECT_EQ(i % 2 ? grant_release(self->holder, grants[i]) :
			  grant_revoke(self->owner, grants[i], TIMEOUT(10000)), 0);
	await_returned(self->owner, count);
	ASSERT_EQ(write(self->holder, "x", 1), 1);
	EXPECT_EQ(read(self->owner, self->memory, 5), 1);
	EXPECT_EQ(grants_in_use(self->ctx), self->count);
}

/*
 * Ends of channels and programs
 */

/* All the events, and then the end. */
TEST_F(grant, holder_closes)
{
	struct user users[USERS];
	struct rdmachan_recv recv;
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

static bool unregister_soon(int ctx, uint32_t region)
{
	int64_t until = now_ms() + 20000;

	while (region_unregister(ctx, region)) {
		if (errno != EBUSY || now_ms() > until)
			return false;
		usleep(500);
	}
	return true;
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

/* The owner's end of its sending: what is lent stays so; and of its receiving. */
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

TEST_TIMEOUT(device_removed, 200)
{
	int ctx = open_ctx(), listener, fds[2], i;
	char *memory = pages(LENT);
	uint32_t region = region_of(ctx, memory, LENT), grant;
	struct user users[USERS];

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	for (i = 0; i < turns(10); i++) {
		listener = do_listen(ctx, SERVICE, NULL);
		fds[0] = connect_again(ctx);
		ASSERT_GE(fds[0], 0);
		fds[1] = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(fds[1], 0);
		close(listener);
		grant = give(fds[0], ctx, region, LENT);
		ASSERT_TRUE(grant_held(fds[1], grant));
		users_begin(users, fds[1], grant);
		sleep_ms(10 + 7 * i);
		EXPECT_EQ(remove_device(), 0);
		users_end(users, ENODEV, ENODEV);
		EXPECT_EQ(await_returned(fds[0], 1), RDMACHAN_CAUSE_DEVICE_REMOVED);
		expect_calm(memory, LENT);
		EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
		close(fds[0]);
		close(fds[1]);
		EXPECT_EQ(add_device(), 0);
	}
	EXPECT_EQ(grants_in_use(ctx), 0);
	EXPECT_EQ(region_unregister(ctx, region), 0);
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
		ctx = fault_ctx_of(22000 + i);
		pair_up(ctx, fds, NULL);
		region = region_of(ctx, memory, LENT);
		grant = give(fds[0], ctx, region, LENT);
		ASSERT_TRUE(grant_held(fds[1], grant));
		users_begin(users, fds[1], grant);
		sleep_ms(3 + i * 7 % 20);
		/* A heartbeat, or an atomic operation, is the frame that brings it. */
		inject("kill", "skip=%d", i % 3);
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

/* While its answer is on the way: time passes, the revocation goes on. */
TEST_TIMEOUT(revoke_answered_late, 100)
{
	char *memory = pages(LENT);
	int root = open_ctx(), ctx, fds[2];
	struct user users[USERS];
	uint32_t grant;
	int64_t begun;

	inject_begin();
	ctx = fault_ctx_of(22100);
	pair_up(ctx, fds, NULL);
	grant = give(fds[0], ctx, region_of(ctx, memory, LENT), LENT);
	ASSERT_TRUE(grant_held(fds[1], grant));
	users_begin(users, fds[1], grant);
	inject("delay", "count=0 ms=150");
	begun = now_ms();
	EXPECT_ERR(grant_revoke(fds[0], grant, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_GE(now_ms() - begun, 49);
	on_alarm(20, false);
	EXPECT_ERR(grant_revoke(fds[0], grant, NULL), EINTR);
	EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
	EXPECT_GE(now_ms() - begun, 149);
	expect_calm(memory, LENT);
	users_end(users, EKEYREVOKED, EKEYREVOKED);
	inject_off("delay");
	close(fds[0]);
	close(fds[1]);
	close(ctx);
	inject_end(root);
}

/* One that does not answer at all costs the connection, and not the memory. */
TEST_TIMEOUT(revoke_never_answered, 100)
{
	char *memory = pages(LENT);
	int root = open_ctx(), ctx, fds[2];
	struct user users[USERS];
	uint32_t grant;
	int64_t begun;

	inject_begin();
	ctx = fault_ctx_of(22200);
	pair_up(ctx, fds, NULL);
	grant = give(fds[0], ctx, region_of(ctx, memory, LENT), LENT);
	ASSERT_TRUE(grant_held(fds[1], grant));
	users_begin(users, fds[1], grant);
	inject("delay", "count=0 ms=60000");
	begun = now_ms();
	EXPECT_EQ(grant_revoke(fds[0], grant, NULL), 0);
	EXPECT_LE(now_ms() - begun, 8000);
	expect_calm(memory, LENT);
	users_end(users, ECONNRESET, ETIMEDOUT);
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
	uint32_t grant = lend(self, MAY_ALL, 0, LENT);
	int i, count = COUNT(sites);

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
		if (grant_write(self->holder, grant, 0, mine, LENT))
			EXPECT_EQ(errno, ENOMEM);
		else
			EXPECT_TRUE(is_random(self->memory, LENT, i));
		if (grant_read(self->holder, grant, 0, mine, LENT))
			EXPECT_EQ(errno, ENOMEM);
		if (grant_add(self->holder, grant, 0, 1, NULL))
			EXPECT_EQ(errno, ENOMEM);
		inject_off("nomem");
	}
	EXPECT_EQ(grant_write(self->holder, grant, 0, mine, LENT), 0);
	EXPECT_EQ(grants_in_use(self->ctx), self->count + 2);
	EXPECT_EQ(grant_release(self->holder, grant), 0);
	EXPECT_TRUE(grant_returned(self->owner, grant, 0));
}

TEST_HARNESS_MAIN
