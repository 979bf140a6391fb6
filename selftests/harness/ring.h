/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - queues for tests: the rings as they are, without the library
 */
#ifndef _SELFTESTS_RING_H
#define _SELFTESTS_RING_H

#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "common.h"

struct queue {
	int fd;
	struct rdmachan_ring sq;
	struct rdmachan_ring cq;
	char *sq_map;
	char *cq_map;
	uint32_t tail;	/* entries that were put in, published or not */
	uint32_t head;	/* completions that were read */
};

struct pool {
	uint32_t id;
	struct rdmachan_ring at;
	char *map;
	uint32_t tail;	/* buffers that were put in */
};

static inline uint32_t *ring_word(char *map, uint32_t offset)
{
	return (uint32_t *)(map + offset);
}

static inline char *ring_map(int fd, const struct rdmachan_ring *ring)
{
	return mmap(NULL, ring->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ring->offset);
}

static inline void *ring_entry(char *map, const struct rdmachan_ring *ring, uint32_t index)
{
	return map + ring->entries + (size_t)(index & (ring->count - 1)) * ring->stride;
}

/* Return: 0, or -1 with errno. */
static inline int queue_open_with(int ctx, struct queue *q, uint32_t sq, uint32_t cq,
				  uint32_t flags, uint32_t idle_ms)
{
	struct rdmachan_queue_create_args create = {
		.size = sizeof(create), .flags = flags,
		.sq_entries = sq, .cq_entries = cq, .idle_ms = idle_ms,
		.sqe_size = sizeof(struct rdmachan_sqe), .cqe_size = sizeof(struct rdmachan_cqe),
	};

	memset(q, 0, sizeof(*q));
	if (ioctl(ctx, RDMACHAN_QUEUE_CREATE, &create))
		return -1;
	q->fd = create.out_fd;
	q->sq = create.out_sq;
	q->cq = create.out_cq;
	q->sq_map = ring_map(q->fd, &q->sq);
	q->cq_map = ring_map(q->fd, &q->cq);
	if (q->sq_map == MAP_FAILED || q->cq_map == MAP_FAILED)
		return -1;
	q->tail = *ring_word(q->sq_map, q->sq.producer);
	q->head = *ring_word(q->cq_map, q->cq.consumer);
	return 0;
}

static inline int queue_open(int ctx, struct queue *q, uint32_t sq, uint32_t cq)
{
	return queue_open_with(ctx, q, sq, cq, RDMACHAN_FD_F_CLOEXEC, 0);
}

/* With a poller. */
static inline int queue_open_polled(int ctx, struct queue *q, uint32_t sq, uint32_t cq,
				    uint32_t idle_ms)
{
	return queue_open_with(ctx, q, sq, cq, RDMACHAN_FD_F_CLOEXEC | RDMACHAN_QUEUE_F_POLLER,
			       idle_ms);
}

static inline void queue_close(struct queue *q)
{
	munmap(q->sq_map, q->sq.length);
	munmap(q->cq_map, q->cq.length);
	close(q->fd);
}

/* The next entry, with zeros but for what is given. */
static inline struct rdmachan_sqe *queue_add(struct queue *q, uint8_t opcode, int fd,
					     uint64_t user_data)
{
	struct rdmachan_sqe *sqe = ring_entry(q->sq_map, &q->sq, q->tail++);

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->fd = fd;
	sqe->user_data = user_data;
	return sqe;
}

static inline struct rdmachan_sqe *queue_send(struct queue *q, int fd, const void *data,
					      size_t len, uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_SEND, fd, user_data);

	sqe->addr = (uintptr_t)data;
	sqe->length = len;
	return sqe;
}

static inline struct rdmachan_sqe *queue_recv(struct queue *q, int fd, void *data, size_t len,
					      uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_RECV, fd, user_data);

	sqe->addr = (uintptr_t)data;
	sqe->length = len;
	return sqe;
}

/* RECV of many messages into buffers of @pool. */
static inline struct rdmachan_sqe *queue_recv_many(struct queue *q, int fd, uint32_t pool,
						   uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_RECV, fd, user_data);

	sqe->op_flags = RDMACHAN_RECV_F_MULTISHOT;
	sqe->pool = pool;
	return sqe;
}

/* From or to @at in a region. */
static inline void in_region(struct rdmachan_sqe *sqe, uint32_t region, uint64_t at)
{
	sqe->flags |= RDMACHAN_SQE_F_REGION;
	sqe->region = region;
	sqe->addr = at;
}

static inline struct rdmachan_sqe *queue_cancel(struct queue *q, uint64_t target, uint32_t flags,
						uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_CANCEL, -1, user_data);

	sqe->target = target;
	sqe->op_flags = flags;
	return sqe;
}

/* Return: entries taken, or -1 with errno; @submitted is set in both cases. */
static inline int queue_enter_got(struct queue *q, uint32_t submit, uint32_t min,
				  uint32_t timeout_ms, uint32_t *submitted)
{
	struct rdmachan_enter_args enter = {
		.size = sizeof(enter), .to_submit = submit, .min_complete = min,
		.timeout_ms = timeout_ms,
	};
	int ret;

	__atomic_store_n(ring_word(q->sq_map, q->sq.producer), q->tail, __ATOMIC_RELEASE);
	ret = ioctl(q->fd, RDMACHAN_ENTER, &enter);
	*submitted = enter.out_submitted;
	return ret ? -1 : (int)enter.out_submitted;
}

static inline int queue_enter(struct queue *q, uint32_t submit, uint32_t min,
			      uint32_t timeout_ms)
{
	uint32_t submitted;

	return queue_enter_got(q, submit, min, timeout_ms, &submitted);
}

/* All entries that were added. */
static inline int queue_submit(struct queue *q)
{
	return queue_enter(q, q->sq.count, 0, 0);
}

static inline uint32_t queue_ready(struct queue *q)
{
	return __atomic_load_n(ring_word(q->cq_map, q->cq.producer), __ATOMIC_ACQUIRE) - q->head;
}

static inline uint32_t queue_flags(struct queue *q)
{
	return __atomic_load_n(ring_word(q->cq_map, q->cq.flags), __ATOMIC_RELAXED);
}

/* Publish what was added, for the poller. Return: whether it must be woken. */
static inline bool queue_publish(struct queue *q)
{
	__atomic_store_n(ring_word(q->sq_map, q->sq.producer), q->tail, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(ring_word(q->sq_map, q->sq.flags), __ATOMIC_RELAXED) &
	       RDMACHAN_RING_F_WAKEUP;
}

/* Return: 0, or -1 with errno. */
static inline int queue_wake(struct queue *q)
{
	struct rdmachan_enter_args enter = {
		.size = sizeof(enter), .flags = RDMACHAN_ENTER_F_WAKEUP,
	};

	return ioctl(q->fd, RDMACHAN_ENTER, &enter);
}

/* Publish, with a call only if the poller sleeps. */
static inline int queue_poke(struct queue *q)
{
	return queue_publish(q) ? queue_wake(q) : 0;
}

/* Read a completion, without a call. */
static inline bool queue_next(struct queue *q, struct rdmachan_cqe *cqe)
{
	if (!queue_ready(q))
		return false;
	*cqe = *(struct rdmachan_cqe *)ring_entry(q->cq_map, &q->cq, q->head);
	__atomic_store_n(ring_word(q->cq_map, q->cq.consumer), ++q->head, __ATOMIC_RELEASE);
	return true;
}

/* The same; waits in a call. */
static inline bool queue_wait(struct queue *q, struct rdmachan_cqe *cqe)
{
	if (!queue_ready(q) && queue_enter(q, 0, 1, 10000) < 0)
		return false;
	return queue_next(q, cqe);
}

/* The same; waits without ever making a call on the queue. */
static inline bool queue_watch(struct queue *q, struct rdmachan_cqe *cqe)
{
	int64_t until = now_ms() + 10000;

	while (!queue_ready(q) && now_ms() < until)
		sleep_ms(1);
	return queue_next(q, cqe);
}

/* Return: 0, or -1 with errno. */
static inline int pool_open(struct queue *q, struct pool *pool, uint32_t entries)
{
	struct rdmachan_pool_create_args create = {
		.size = sizeof(create), .entries = entries,
		.buffer_size = sizeof(struct rdmachan_buffer),
	};

	memset(pool, 0, sizeof(*pool));
	if (ioctl(q->fd, RDMACHAN_POOL_CREATE, &create))
		return -1;
	pool->id = create.out_pool;
	pool->at = create.out_ring;
	pool->map = ring_map(q->fd, &pool->at);
	if (pool->map == MAP_FAILED)
		return -1;
	pool->tail = *ring_word(pool->map, pool->at.producer);
	return 0;
}

static inline void pool_close(struct pool *pool)
{
	munmap(pool->map, pool->at.length);
}

static inline struct rdmachan_buffer *pool_entry(struct pool *pool, uint32_t number)
{
	return ring_entry(pool->map, &pool->at, number);
}

/* Give a buffer away, without a call: an address, or where it begins in a region. */
static inline void pool_put_at(struct pool *pool, uint64_t addr, uint32_t length, uint32_t id)
{
	*pool_entry(pool, pool->tail++) = (struct rdmachan_buffer){ addr, length, id };
	__atomic_store_n(ring_word(pool->map, pool->at.producer), pool->tail, __ATOMIC_RELEASE);
}

static inline void pool_put(struct pool *pool, void *addr, uint32_t length, uint32_t id)
{
	pool_put_at(pool, (uintptr_t)addr, length, id);
}

/* Buffers that were not taken. */
static inline uint32_t pool_left(struct pool *pool)
{
	return pool->tail -
	       __atomic_load_n(ring_word(pool->map, pool->at.consumer), __ATOMIC_ACQUIRE);
}

/* For tests: the next completion is of @data and succeeded or failed with @res. */
#define EXPECT_CQE(q, data, result)				\
	do {							\
		struct rdmachan_cqe cqe_;			\
								\
		ASSERT_TRUE(queue_wait(q, &cqe_));		\
		EXPECT_EQ(cqe_.user_data, (uint64_t)(data));	\
		EXPECT_EQ(cqe_.res, (int64_t)(result));		\
	} while (0)

#endif /* _SELFTESTS_RING_H */
