/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant_users.h - threads that use a grant until they are told no
 */
#ifndef _SELFTESTS_GRANT_USERS_H
#define _SELFTESTS_GRANT_USERS_H

#include <pthread.h>

#include "common.h"
#include "grant_fixture.h"
#include "harness.h"

#define LENT (512 * KIB)

struct user {
	pthread_t thread;
	int chan;
	uint32_t grant;
	unsigned int how;
	uint64_t len;
	uint64_t adds;
	int result;
};

static inline int use_once(struct user *user, char *mine)
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

static inline void *use(void *arg)
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

static inline void user_begin(struct user *user, int chan, uint32_t grant, unsigned int how,
			      uint64_t len)
{
	*user = (struct user){ .chan = chan, .grant = grant, .how = how, .len = len };
	ASSERT_EQ(pthread_create(&user->thread, NULL, use, user), 0);
}

#define USERS 6

static inline void users_begin(struct user users[USERS], int chan, uint32_t grant)
{
	static const unsigned int hows[] = { MAY_WRITE, MAY_READ, MAY_ATOMIC };
	int i;

	for (i = 0; i < USERS; i++)
		user_begin(&users[i], chan, grant, hows[i % 3], i < 3 ? LENT : 100);
}

/* Each has ended with one of these; an atomic operation may not know. */
static inline void users_end(struct user users[USERS], int error, int or_error)
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

/* Nobody writes to it any more; a wait is free where time is virtual. */
static inline void expect_calm(char *memory, size_t len)
{
	memset(memory, 0x77, len);
	sleep_ms(time_is_virtual() ? 100 : 3);
	EXPECT_TRUE(is_all(memory, len, 0x77));
}

/* The owner is told that all of them are back. Return: the cause of the last */
static inline uint32_t await_returned(int chan, int count)
{
	struct grant_message got;
	struct rdmachan_recv_args recv;
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

static inline uint32_t give(int chan, int ctx, uint32_t region, uint64_t len)
{
	int64_t grant = grant_range(chan, ctx, &RANGE(region, MAY_ALL, 0, len));

	ASSERT_GT(grant, 0);
	return grant;
}

/*
 * Where time is virtual a wire without end would carry all that users ask for while a test sleeps,
 * at the cost of the wall's time. This one is 1 Gbit/s: an access of theirs takes milliseconds.
 */
static inline int users_main(int argc, char **argv)
{
	int ret;

	if (time_is_virtual())
		cable("rate 1000");
	ret = harness_main(argc, argv);
	if (time_is_virtual())
		cable("rate 0");
	return ret;
}

#endif /* _SELFTESTS_GRANT_USERS_H */
