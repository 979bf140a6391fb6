/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant_ring.h - accesses by queues, for tests
 */
#ifndef _SELFTESTS_GRANT_RING_H
#define _SELFTESTS_GRANT_RING_H

#include "grant.h"
#include "region.h"
#include "ring.h"

static inline struct rdmachan_sqe *queue_access(struct queue *q, uint8_t opcode, int fd,
						uint32_t grant, uint64_t offset,
						const void *addr, uint64_t len,
						uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, opcode, fd, user_data);

	sqe->grant = grant;
	sqe->grant_offset = offset;
	sqe->addr = (uintptr_t)addr;
	sqe->length = len;
	return sqe;
}

static inline struct rdmachan_sqe *queue_read(struct queue *q, int fd, uint32_t grant,
					      uint64_t offset, void *to, uint64_t len,
					      uint64_t user_data)
{
	return queue_access(q, RDMACHAN_OPCODE_READ, fd, grant, offset, to, len, user_data);
}

static inline struct rdmachan_sqe *queue_write(struct queue *q, int fd, uint32_t grant,
					       uint64_t offset, const void *from, uint64_t len,
					       uint64_t user_data)
{
	return queue_access(q, RDMACHAN_OPCODE_WRITE, fd, grant, offset, from, len, user_data);
}

static inline struct rdmachan_sqe *queue_fetch_add(struct queue *q, int fd, uint32_t grant,
						   uint64_t offset, uint64_t operand,
						   uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_FETCH_ADD, fd, user_data);

	sqe->grant = grant;
	sqe->grant_offset = offset;
	sqe->operand = operand;
	return sqe;
}

static inline struct rdmachan_sqe *queue_swap(struct queue *q, int fd, uint32_t grant,
					      uint64_t offset, uint64_t compare,
					      uint64_t operand, uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_COMPARE_SWAP, fd, user_data);

	sqe->grant = grant;
	sqe->grant_offset = offset;
	sqe->operand = operand;
	sqe->compare = compare;
	return sqe;
}

static inline struct rdmachan_sqe *queue_release(struct queue *q, int fd, uint32_t grant,
						 uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, RDMACHAN_OPCODE_RELEASE, fd, user_data);

	sqe->grant = grant;
	return sqe;
}

/* The value before an atomic operation. */
static inline uint64_t queue_value(const struct rdmachan_cqe *cqe)
{
	return cqe->length | (uint64_t)cqe->buffer << 32;
}

#endif /* _SELFTESTS_GRANT_RING_H */
