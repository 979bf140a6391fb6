/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant.h - grants for tests, without the library
 *
 * All functions return what the system call does, with errno, unless they say otherwise.
 */
#ifndef _SELFTESTS_GRANT_H
#define _SELFTESTS_GRANT_H

#include <string.h>
#include <sys/ioctl.h>

#include "common.h"

#define MAY_READ RDMACHAN_RIGHT_READ
#define MAY_WRITE RDMACHAN_RIGHT_WRITE
#define MAY_ATOMIC RDMACHAN_RIGHT_ATOMIC
#define MAY_ALL (MAY_READ | MAY_WRITE | MAY_ATOMIC)

/* A range for GRANT. */
#define RANGE(id, right, from, len)							\
	((struct rdmachan_grant_range){ .region = (id), .rights = (right),		\
					.offset = (from), .length = (len) })

/* An event, and a message behind it that is not large. */
struct grant_message {
	struct rdmachan_grant_event events[RDMACHAN_GRANTS_MAX];
	char data[256];
};

static inline void grant_fill(struct rdmachan_grant_args *grant, int ctx,
			      struct rdmachan_grant_range *ranges, uint32_t count,
			      const struct opts *o)
{
	memset(grant, 0, sizeof(*grant));
	grant->size = sizeof(*grant);
	grant->context = ctx;
	grant->count = count;
	grant->ranges_ptr = (uintptr_t)ranges;
	grant->range_size = sizeof(*ranges);
	grant->flags = o ? o->flags : 0;
	grant->timeout_ms = o ? o->timeout_ms : 0;
	if (!o || !o->error)
		return;
	memset(o->error, 0xee, sizeof(*o->error));
	o->error->size = sizeof(*o->error);
	grant->error_ptr = (uintptr_t)o->error;
}

/* With a message of @len bytes. */
static inline int grant_send(int chan, int ctx, struct rdmachan_grant_range *ranges,
			     uint32_t count, const void *data, size_t len, const struct opts *o)
{
	struct iovec iov = { (void *)data, len };
	struct rdmachan_grant_args grant;

	grant_fill(&grant, ctx, ranges, count, o);
	grant.iov_ptr = (uintptr_t)&iov;
	grant.iov_count = len ? 1 : 0;
	return ioctl(chan, RDMACHAN_GRANT, &grant);
}

static inline int grant_ranges(int chan, int ctx, struct rdmachan_grant_range *ranges,
			       uint32_t count)
{
	return grant_send(chan, ctx, ranges, count, NULL, 0, NULL);
}

/* Return: number of the grant; or -1 with errno. */
static inline int64_t grant_range(int chan, int ctx, const struct rdmachan_grant_range *range)
{
	struct rdmachan_grant_range mine = *range;

	return grant_ranges(chan, ctx, &mine, 1) ? -1 : (int64_t)mine.out_grant;
}

/* A message for a program that knows grants. */
static inline int grant_recv(int chan, void *data, size_t len, struct rdmachan_recv_args *recv,
			     const struct opts *o)
{
	struct opts mine = o ? *o : (struct opts){ 0 };

	mine.flags |= RDMACHAN_IO_F_GRANTS;
	return do_recv(chan, data, len, recv, &mine);
}

/* A message that is one event, and nothing else. Return: false if another came, or none. */
static inline bool grant_next(int chan, struct rdmachan_grant_event *event)
{
	struct rdmachan_recv_args recv;

	if (grant_recv(chan, event, sizeof(*event), &recv, TIMEOUT(20000)))
		return false;
	return recv.out_flags == RDMACHAN_RECV_OUT_GRANTS && recv.out_length == sizeof(*event) &&
	       event->count == 1;
}

/* The next message is that @grant is held now, or is back. */
static inline bool grant_held(int chan, uint32_t grant)
{
	struct rdmachan_grant_event event;

	return grant_next(chan, &event) && event.what == RDMACHAN_GRANT_GIVEN &&
	       event.grant == grant;
}

static inline bool grant_returned(int chan, uint32_t grant, uint32_t cause)
{
	struct rdmachan_grant_event event;

	return grant_next(chan, &event) && event.what == RDMACHAN_GRANT_RETURNED &&
	       event.grant == grant && event.cause == cause;
}

static inline int grant_release(int chan, uint32_t grant)
{
	struct rdmachan_release_args release = { .size = sizeof(release), .grant = grant };

	return ioctl(chan, RDMACHAN_RELEASE, &release);
}

static inline int grant_revoke(int chan, uint32_t grant, const struct opts *o)
{
	struct rdmachan_revoke_args revoke = { .size = sizeof(revoke), .grant = grant };

	revoke.flags = o ? o->flags : 0;
	revoke.timeout_ms = o ? o->timeout_ms : 0;
	revoke.error_ptr = o ? (uintptr_t)o->error : 0;
	return ioctl(chan, RDMACHAN_REVOKE, &revoke);
}

static inline int grant_access(int chan, unsigned int cmd, uint32_t grant, uint64_t offset,
			       const void *addr, uint64_t len)
{
	struct rdmachan_access_args access = {
		.size = sizeof(access), .grant = grant, .offset = offset,
		.addr = (uintptr_t)addr, .length = len,
	};

	return ioctl(chan, cmd, &access);
}

static inline int grant_read(int chan, uint32_t grant, uint64_t offset, void *to, uint64_t len)
{
	return grant_access(chan, RDMACHAN_READ, grant, offset, to, len);
}

static inline int grant_write(int chan, uint32_t grant, uint64_t offset, const void *from,
			      uint64_t len)
{
	return grant_access(chan, RDMACHAN_WRITE, grant, offset, from, len);
}

/* @value gets what was there, and may be NULL. */
static inline int grant_atomic(int chan, uint32_t grant, uint32_t op, uint64_t offset,
			       uint64_t operand, uint64_t compare, uint64_t *value)
{
	struct rdmachan_atomic_args atomic = {
		.size = sizeof(atomic), .grant = grant, .op = op, .offset = offset,
		.operand = operand, .compare = compare, .out_value = 0xdeadULL,
	};
	int ret = ioctl(chan, RDMACHAN_ATOMIC, &atomic);

	if (!ret && value)
		*value = atomic.out_value;
	return ret;
}

static inline int grant_add(int chan, uint32_t grant, uint64_t offset, uint64_t operand,
			    uint64_t *value)
{
	return grant_atomic(chan, grant, RDMACHAN_ATOMIC_FETCH_ADD, offset, operand, 0, value);
}

static inline int grant_swap(int chan, uint32_t grant, uint64_t offset, uint64_t compare,
			     uint64_t operand, uint64_t *value)
{
	return grant_atomic(chan, grant, RDMACHAN_ATOMIC_COMPARE_SWAP, offset, operand, compare,
			    value);
}

static inline uint64_t grants_in_use(int ctx)
{
	struct rdmachan_info info;

	return get_info(ctx, &info) ? ~0UL : info.out_use_grants.all;
}

/* Closed channels take a moment to go. */
static inline bool forgotten(int ctx, uint64_t grants)
{
	int64_t until = now_ms() + 60000;

	while (grants_in_use(ctx) != grants && now_ms() < until)
		sleep_ms(2);
	return grants_in_use(ctx) == grants;
}

#endif /* _SELFTESTS_GRANT_H */
