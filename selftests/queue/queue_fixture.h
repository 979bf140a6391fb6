/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue_fixture.h - a queue, and a pair of channels for it to work on
 *
 * The queue and the end @a are of the host @ctx is on, the end @b is of the one of @peer.
 */
#ifndef _SELFTESTS_QUEUE_FIXTURE_H
#define _SELFTESTS_QUEUE_FIXTURE_H

#include "common.h"
#include "harness.h"
#include "ring.h"

#define OP(name) RDMACHAN_OPCODE_##name
#define LINK RDMACHAN_SQE_F_LINK
#define DRAIN RDMACHAN_SQE_F_DRAIN
#define SKIP_SUCCESS RDMACHAN_SQE_F_SKIP_SUCCESS

FIXTURE(queue)
{
	int ctx;
	int peer;
	int a;
	int b;
	struct queue q;
};

FIXTURE_SETUP(queue)
{
	int fds[2];

	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	ASSERT_EQ(queue_open(self->ctx, &self->q, 64, 64), 0);
}

FIXTURE_TEARDOWN(queue)
{
	queue_close(&self->q);
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
}

static inline void fill_in(struct rdmachan_connect_args *connect, uint32_t service,
			   struct rdmachan_error *error)
{
	struct opts o = { .error = error };

	fill_connect(connect, service, &o);
}

static inline struct rdmachan_sqe *queue_connect(struct queue *q,
						 struct rdmachan_connect_args *connect,
						 uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, OP(CONNECT), -1, user_data);

	sqe->addr = (uintptr_t)connect;
	return sqe;
}

/* Memory that is not present until it is touched. */
static inline void *fresh_pages(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Until a child has become another program. */
static inline void wait_exec(pid_t child)
{
	char path[64], mine[256] = "", its[256] = "";
	int64_t until = now_ms() + 20000;

	snprintf(path, sizeof(path), "/proc/%d/exe", child);
	ASSERT_GT(readlink("/proc/self/exe", mine, sizeof(mine) - 1), 0);
	do {
		sleep_ms(10);
		memset(its, 0, sizeof(its));
		ASSERT_GT(readlink(path, its, sizeof(its) - 1), 0);
	} while (!strcmp(mine, its) && now_ms() < until);
}

/* Of this processor: in virtual time none passes while it is busy. */
static inline uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
#endif
}

#endif /* _SELFTESTS_QUEUE_FIXTURE_H */
