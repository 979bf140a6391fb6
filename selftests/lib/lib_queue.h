/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lib_queue.h - for programs that use queues by the library
 */
#ifndef _SELFTESTS_LIB_QUEUE_H
#define _SELFTESTS_LIB_QUEUE_H

#include <sys/mman.h>

#include <librdmachan.h>

#include "common.h"
#include "harness.h"

#define ENTRIES 8
#define DONE 16
#define SIZE 256
#define PAGE 4096UL

static char memory[16][SIZE];

/* An entry whose user data is set before it is prepared. */
static inline struct rdmachan_sqe *entry(struct rdmachan_queue *q, uint64_t user_data)
{
	struct rdmachan_sqe *sqe = rdmachan_queue_get_sqe(q);

	ASSERT_TRUE(sqe);
	sqe->user_data = user_data;
	return sqe;
}

static inline void nop(struct rdmachan_queue *q, uint64_t user_data)
{
	rdmachan_queue_prep_nop(entry(q, user_data));
}

static inline void next(struct rdmachan_queue *q, struct rdmachan_cqe *cqe)
{
	struct rdmachan_cqe *there;

	ASSERT_EQ(rdmachan_queue_wait_cqe(q, &there, 10000, NULL), 0);
	ASSERT_TRUE(there);
	*cqe = *there;
	rdmachan_queue_cqe_seen(q);
}

/* The next completion is of @data and succeeded or failed with @result. */
#define EXPECT_DONE(q, data, result)				\
	do {							\
		struct rdmachan_cqe cqe_;			\
								\
		next(q, &cqe_);					\
		ASSERT_EQ(cqe_.user_data, (uint64_t)(data));	\
		EXPECT_EQ(cqe_.res, (int64_t)(result));		\
		EXPECT_EQ(cqe_.flags, 0);			\
	} while (0)

/* The same, without a call that would submit something. */
static inline void watch(struct rdmachan_queue *q, uint64_t user_data, int64_t result)
{
	struct rdmachan_cqe *cqe;

	ASSERT_TRUE(wait_readable(rdmachan_queue_fd(q), 10000));
	ASSERT_EQ(rdmachan_queue_peek_cqe(q, &cqe, NULL), 1);
	ASSERT_EQ(cqe->user_data, user_data);
	EXPECT_EQ(cqe->res, result);
	rdmachan_queue_cqe_seen(q);
}

/* The next ones, in any order, by their user data. */
static inline void collect(struct rdmachan_queue *q, struct rdmachan_cqe *cqes, uint32_t count)
{
	struct rdmachan_cqe cqe;
	uint32_t i;

	memset(cqes, 0xee, count * sizeof(*cqes));
	for (i = 0; i < count; i++) {
		next(q, &cqe);
		ASSERT_LT(cqe.user_data, count);
		cqes[cqe.user_data] = cqe;
	}
	for (i = 0; i < count; i++)
		ASSERT_EQ(cqes[i].user_data, i);
}

/* The one entry that was got. Return: its result */
static inline int64_t alone(struct rdmachan_queue *q)
{
	struct rdmachan_cqe cqe;

	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
	next(q, &cqe);
	return cqe.res;
}

static inline char *pages(size_t len)
{
	char *there = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(there != MAP_FAILED);
	return there;
}

static inline uint32_t region_of(int ctx, const void *addr, size_t len, uint32_t flags)
{
	struct rdmachan_error err;
	uint32_t region = 0;

	ASSERT_EQ(rdmachan_region_register(ctx, addr, len, flags, &region, &err), 0);
	ASSERT_GT(region, 0);
	return region;
}

static inline bool is_all(const void *data, size_t len, char what)
{
	const char *bytes = data;

	return *bytes == what && !memcmp(bytes, bytes + 1, len - 1);
}

/* A pool with buffers 0 to @count - 1 in it. */
static inline struct rdmachan_pool *make_pool(struct rdmachan_queue *q, uint32_t entries,
					      uint32_t count)
{
	struct rdmachan_error err;
	struct rdmachan_pool *pool = rdmachan_pool_open(q, entries, &err);
	uint32_t i;

	ASSERT_TRUE(pool);
	for (i = 0; i < count; i++)
		ASSERT_EQ(rdmachan_pool_add(pool, memory[i], SIZE, i), 0);
	return pool;
}

/* The next completion is a message of @bytes bytes in buffer @id. */
#define EXPECT_MESSAGE(q, data, bytes, id)					\
	do {									\
		struct rdmachan_cqe part_;					\
										\
		next(q, &part_);						\
		ASSERT_EQ(part_.user_data, (uint64_t)(data));			\
		EXPECT_EQ(part_.res, (int64_t)(bytes));				\
		EXPECT_EQ(part_.length, (bytes));				\
		EXPECT_EQ(part_.flags, RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER); \
		EXPECT_EQ(part_.buffer, (id));					\
	} while (0)

#endif /* _SELFTESTS_LIB_QUEUE_H */
