/* SPDX-License-Identifier: GPL-2.0 */
/*
 * region.h - regions for tests, without the library
 */
#ifndef _SELFTESTS_REGION_H
#define _SELFTESTS_REGION_H

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common.h"
#include "ring.h"

/* Return: number of the region; or -1 with errno, and @error, which may be NULL. */
static inline int64_t region_register(int ctx, const void *addr, uint64_t length,
				      uint32_t flags, struct rdmachan_error *error)
{
	struct rdmachan_region_register_args reg = {
		.size = sizeof(reg), .flags = flags, .addr = (uintptr_t)addr,
		.length = length, .error_ptr = (uintptr_t)error,
	};

	if (error) {
		memset(error, 0, sizeof(*error));
		error->size = sizeof(*error);
	}
	return ioctl(ctx, RDMACHAN_REGION_REGISTER, &reg) ? -1 : (int64_t)reg.out_region;
}

static inline int region_unregister(int ctx, uint32_t region)
{
	struct rdmachan_region_unregister_args unreg = { .size = sizeof(unreg), .region = region };

	return ioctl(ctx, RDMACHAN_REGION_UNREGISTER, &unreg);
}

/* The region is in use for a moment yet, until the peer has given it back. */
static inline bool unregister_soon(int ctx, uint32_t region)
{
	int64_t until = now_ms() + 20000;

	while (region_unregister(ctx, region)) {
		if (errno != EBUSY || now_ms() > until)
			return false;
		usleep(500);
	}
	return true;
}

static inline struct rdmachan_sqe *queue_region(struct queue *q, uint8_t opcode, int fd,
						uint32_t region, uint64_t offset, uint64_t len,
						uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, opcode, fd, user_data);

	sqe->flags = RDMACHAN_SQE_F_REGION;
	sqe->region = region;
	sqe->addr = offset;
	sqe->length = len;
	return sqe;
}

static inline struct rdmachan_sqe *region_send(struct queue *q, int fd, uint32_t region,
					       uint64_t offset, uint64_t len, uint64_t user_data)
{
	return queue_region(q, RDMACHAN_OPCODE_SEND, fd, region, offset, len, user_data);
}

static inline struct rdmachan_sqe *region_recv(struct queue *q, int fd, uint32_t region,
					       uint64_t offset, uint64_t len, uint64_t user_data)
{
	return queue_region(q, RDMACHAN_OPCODE_RECV, fd, region, offset, len, user_data);
}

/* Pages that the program has pinned now, in bytes. */
static inline int64_t pinned_bytes(void)
{
	char line[128];
	long kib = -1;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmPin: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib < 0 ? -1 : kib * 1024LL;
}

#endif /* _SELFTESTS_REGION_H */
