/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pool_scribble.h - a program that writes to its own pool while messages come
 */
#ifndef _SELFTESTS_POOL_SCRIBBLE_H
#define _SELFTESTS_POOL_SCRIBBLE_H

#include <pthread.h>

#include "common.h"
#include "harness.h"
#include "ring.h"

/**
 * struct scribbler - a thread that does so
 * @pool: pool
 * @write: called all the time, with something random
 * @thread: thread
 * @stop: it shall end
 */
struct scribbler {
	struct pool *pool;
	void (*write)(struct pool *pool, uint64_t random);
	pthread_t thread;
	bool stop;
};

/* The program has given so many away that were not taken. */
static inline void pool_pretend(struct pool *pool, uint32_t left)
{
	*ring_word(pool->map, pool->at.producer) =
		*ring_word(pool->map, pool->at.consumer) + left;
}

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	uint64_t seed = 1;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		s->write(s->pool, next_random(&seed));
		let_time_pass();
	}
	return NULL;
}

static inline void scribbler_begin(struct scribbler *s, struct pool *pool,
				   void (*write)(struct pool *pool, uint64_t random))
{
	*s = (struct scribbler){ .pool = pool, .write = write };
	ASSERT_EQ(pthread_create(&s->thread, NULL, scribble, s), 0);
}

static inline void scribbler_end(struct scribbler *s)
{
	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
	pthread_join(s->thread, NULL);
}

#endif /* _SELFTESTS_POOL_SCRIBBLE_H */
