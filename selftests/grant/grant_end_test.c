// SPDX-License-Identifier: GPL-2.0
/*
 * grant_end_test.c - grants that end in the middle of being used
 *
 * Whatever happens, each access ends once and with an error that is documented, the owner
 * is told once of each grant, and after that nobody writes to its memory. Here owner and
 * holder end them; in grant_link_test.c programs, channels and connections end.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "common.h"
#include "grant_fixture.h"
#include "grant_users.h"
#include "harness.h"
#include "slow.h"

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

/* Exactly so many accesses, by any caller. */
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
		for (j = 0; j < USERS; j++)
			user_begin(&users[j], self->holder, range.out_grant, MAY_ATOMIC, 8);
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

	slow_undisturbed();
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
		slow_met(&slow);
		EXPECT_EQ(grant_revoke(self->owner, user.grant, TIMEOUT(5000)), 0);
		expect_calm(self->memory, SIZE);
		munmap(slow.memory, slow.len);
		close(slow.fd);
		pthread_join(user.thread, NULL);
		EXPECT_TRUE(user.result == EKEYREVOKED || user.result == EFAULT);
		EXPECT_TRUE(grant_returned(self->owner, user.grant, RDMACHAN_CAUSE_SHUTDOWN));
	}
}

/* Every other one by a signal, and the others by the time. Return: how many were */
static int revoke_and_interrupt(struct fixture_grant *self, int count, unsigned int alarm_ms)
{
	struct user users[USERS];
	uint32_t grant;
	int i, ret, interrupted = 0;

	for (i = 0; i < count; i++) {
		grant = lend(self, MAY_ALL, 0, LENT);
		users_begin(users, self->holder, grant);
		usleep(3000);
		if (i % 2)
			on_alarm(alarm_ms, false);
		ret = grant_revoke(self->owner, grant, i % 2 ? NULL : TIMEOUT(1));
		if (ret)
			EXPECT_EQ(errno, i % 2 ? EINTR : ETIMEDOUT);
		else
			expect_calm(self->memory, LENT);
		interrupted += !!ret;
		EXPECT_TRUE(grant_returned(self->owner, grant, RDMACHAN_CAUSE_SHUTDOWN));
		expect_calm(self->memory, LENT);
		users_end(users, EKEYREVOKED, EKEYREVOKED);
		sleep_ms(2);
	}
	return interrupted;
}

/* A signal, or the time, ends the waiting and not the revocation. */
TEST_F(grant, revoke_interrupted)
{
	if (time_is_virtual()) {
		/* An answer takes less than a millisecond, and then far more than a tick. */
		cable("rate 10000");
		EXPECT_EQ(revoke_and_interrupt(self, turns(10), 30), 0);
		cable("delay 20");
		EXPECT_EQ(revoke_and_interrupt(self, turns(20), 1), turns(20));
		cable("delay 0");
		cable("rate 1000");
	} else {
		revoke_and_interrupt(self, turns(40), 1);
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
	struct rdmachan_recv_args recv;
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

/* Tens of thousands at a time, all used, and all taken back at once. */
#define MANY 20480

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

TEST_F_TIMEOUT(grant, thousands, 240)
{
	struct rdmachan_region_unregister_args unreg = {
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
	await_written(self->holder, grants[0]);
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
TEST_F_TIMEOUT(grant, thousands_of_events, 240)
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

/* Large messages from the holder, and what it gives back meanwhile. */
static int send_and_release(int chan, const uint32_t *grants, int count)
{
	char *mine = malloc(3 * MIB);
	int i;

	for (i = 0; i < count; i++) {
		fill_random(mine, 3 * MIB - i, i);
		if (write(chan, mine, 3 * MIB - i) < 0 || grant_release(chan, grants[i]))
			return 1;
	}
	return 0;
}

/* Events are between messages, and never within one. */
TEST_F_TIMEOUT(grant, amid_large_messages, 120)
{
	int count = turns(48), messages = 0, events = 0;
	char *back = pages(3 * MIB);
	struct rdmachan_recv_args recv;
	uint32_t grants[48];
	pid_t child;
	int i;

	for (i = 0; i < count; i++)
		grants[i] = lend(self, MAY_READ, i, 64);
	child = LATER(0, _exit(send_and_release(self->holder, grants, count)));
	while (messages + events < 2 * count) {
		/* Received as they come, or all at once when they are there. */
		if (messages % 3 == 2)
			ASSERT_TRUE(wait_readable(self->owner, 20000));
		ASSERT_EQ(grant_recv(self->owner, back, 3 * MIB, &recv, TIMEOUT(20000)), 0);
		if (recv.out_flags & RDMACHAN_RECV_OUT_GRANTS) {
			EXPECT_EQ(recv.out_length, EVENT);
			events++;
			continue;
		}
		ASSERT_EQ(recv.out_length, 3 * MIB - messages);
		EXPECT_TRUE(is_random(back, 3 * MIB - messages, messages));
		messages++;
	}
	EXPECT_EQ(messages, count);
	EXPECT_EQ(child_status(child), 0);
}

int main(int argc, char **argv)
{
	return users_main(argc, argv);
}
