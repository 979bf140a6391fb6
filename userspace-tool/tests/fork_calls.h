/* SPDX-License-Identifier: MIT */
/*
 * fork_calls.h - each function of the library that touches a ring of a queue
 *
 * In a child that was forked each of them does nothing, gives what is said here, and sets errno to
 * EPERM. files_test.sh looks whether all are here.
 */
#ifndef FORK_CALLS_H
#define FORK_CALLS_H

#include <errno.h>
#include <stdbool.h>

#include <librdmachan.h>

struct fork_call {
	const char *name;
	long wanted;
	long (*run)(struct rdmachan_queue *queue, struct rdmachan_pool *pool);
};

static struct rdmachan_cqe *fork_cqes[4];
static char fork_buffer[8];

#define FORK_CALL(name, ...)								\
	static long fork_##name(struct rdmachan_queue *queue __attribute__((unused)),	\
				struct rdmachan_pool *pool __attribute__((unused)))	\
	{										\
		return (long)rdmachan_##name(__VA_ARGS__);				\
	}

#define FORK_CALL_VOID(name, ...)							\
	static long fork_##name(struct rdmachan_queue *queue,				\
				struct rdmachan_pool *pool __attribute__((unused)))	\
	{										\
		rdmachan_##name(__VA_ARGS__);						\
		return 0;								\
	}

FORK_CALL(queue_sq_space, queue)
FORK_CALL(queue_get_sqe, queue)
FORK_CALL(queue_submit, queue, NULL)
FORK_CALL(queue_submit_and_wait, queue, 1, 10, NULL)
FORK_CALL(queue_peek_cqe, queue, fork_cqes, NULL)
FORK_CALL(queue_peek_cqes, queue, fork_cqes, 4, NULL)
FORK_CALL(queue_wait_cqe, queue, fork_cqes, 10, NULL)
FORK_CALL_VOID(queue_cqe_seen, queue)
FORK_CALL_VOID(queue_cqes_seen, queue, 1)
FORK_CALL(queue_cq_ready, queue)
FORK_CALL(queue_cq_overflow, queue)
FORK_CALL(pool_open, queue, 4, NULL)
FORK_CALL(pool_add, pool, fork_buffer, 1, 2)
FORK_CALL(pool_add_region, pool, 0, 1, 3)
FORK_CALL(pool_left, pool)

static const struct fork_call fork_calls[] = {
	{ "queue_sq_space", 0, fork_queue_sq_space },
	{ "queue_get_sqe", 0, fork_queue_get_sqe },
	{ "queue_submit", -1, fork_queue_submit },
	{ "queue_submit_and_wait", -1, fork_queue_submit_and_wait },
	{ "queue_peek_cqe", -1, fork_queue_peek_cqe },
	{ "queue_peek_cqes", -1, fork_queue_peek_cqes },
	{ "queue_wait_cqe", -1, fork_queue_wait_cqe },
	{ "queue_cqe_seen", 0, fork_queue_cqe_seen },
	{ "queue_cqes_seen", 0, fork_queue_cqes_seen },
	{ "queue_cq_ready", 0, fork_queue_cq_ready },
	{ "queue_cq_overflow", 0, fork_queue_cq_overflow },
	{ "pool_open", 0, fork_pool_open },
	{ "pool_add", -1, fork_pool_add },
	{ "pool_add_region", -1, fork_pool_add_region },
	{ "pool_left", 0, fork_pool_left },
};

#define FORK_CALLS	(sizeof(fork_calls) / sizeof(fork_calls[0]))

static inline bool fork_call_refused(const struct fork_call *call, struct rdmachan_queue *queue,
				     struct rdmachan_pool *pool)
{
	errno = 0;
	return call->run(queue, pool) == call->wanted && errno == EPERM;
}

#endif /* FORK_CALLS_H */
