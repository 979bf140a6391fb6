/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stuck.h - a thread in the middle of a message, until the test brings the memory of it
 */
#ifndef _SELFTESTS_STUCK_H
#define _SELFTESTS_STUCK_H

#include <pthread.h>
#include <unistd.h>

#include "slow.h"

#define STUCK_BYTES 8

struct stuck {
	pthread_t thread;
	struct slow slow;
	int fd;
	ssize_t ret;
};

static inline void *stuck_read(void *arg)
{
	struct stuck *s = arg;

	s->ret = read(s->fd, s->slow.memory, STUCK_BYTES);
	return NULL;
}

static inline void *stuck_write(void *arg)
{
	struct stuck *s = arg;

	s->ret = write(s->fd, s->slow.memory, STUCK_BYTES);
	return NULL;
}

/* @does: stuck_read, with a message that is there, or stuck_write */
static inline void stuck_begin(struct stuck *s, int fd, void *(*does)(void *arg))
{
	if (!slow_begin(&s->slow, 4096))
		SKIP("this kernel has no userfaultfd");
	s->fd = fd;
	ASSERT_EQ(pthread_create(&s->thread, NULL, does, s), 0);
	slow_met(&s->slow);
}

/* @ret: of its call */
static inline void stuck_end(struct stuck *s, ssize_t ret)
{
	slow_end(&s->slow);
	pthread_join(s->thread, NULL);
	EXPECT_EQ(s->ret, ret);
}

#endif /* _SELFTESTS_STUCK_H */
