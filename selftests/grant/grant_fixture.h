/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant_fixture.h - a channel with an owner and a holder, and a region to lend
 */
#ifndef _SELFTESTS_GRANT_FIXTURE_H
#define _SELFTESTS_GRANT_FIXTURE_H

#include <sys/mman.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "region.h"

#define EVENT sizeof(struct rdmachan_grant_event)
#define COUNT(table) (sizeof(table) / sizeof(*(table)))
#define KIB 1024UL
#define MIB 1048576UL
#define PAGE 4096UL
#define SIZE (4 * MIB)

FIXTURE(grant)
{
	int ctx;
	int owner;
	int holder;
	char *memory;
	uint32_t region;
	uint64_t count;
};

static inline char *pages(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static inline uint32_t region_of(int ctx, const void *memory, size_t len)
{
	int64_t region = region_register(ctx, memory, len, 0, NULL);

	ASSERT_GT(region, 0);
	return region;
}

static inline bool is_all(const char *data, size_t len, char what)
{
	return !len || (*data == what && !memcmp(data, data + 1, len - 1));
}

/* Channels that say that their grants are known. */
FIXTURE_SETUP(grant)
{
	struct rdmachan_info info;
	int fds[2];

	self->ctx = open_ctx();
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	ASSERT_TRUE(info.out_calls & RDMACHAN_CALLS_GRANT);
	pair_up(self->ctx, fds, NULL);
	self->owner = fds[0];
	self->holder = fds[1];
	self->memory = pages(SIZE + PAGE);
	self->region = region_of(self->ctx, self->memory, SIZE);
	/* Nothing is left of the test before. */
	ASSERT_TRUE(forgotten(self->ctx, 0));
	ASSERT_TRUE(await_channels(self->ctx, 2));
	self->count = 0;
}

FIXTURE_TEARDOWN(grant)
{
	close(self->owner);
	close(self->holder);
	close(self->ctx);
}

/* Lend a part of the fixture's region, and have the holder told. Return: its number */
static inline uint32_t lend(struct fixture_grant *self, uint32_t rights, uint64_t offset,
			    uint64_t length)
{
	int64_t grant = grant_range(self->owner, self->ctx,
				    &RANGE(self->region, rights, offset, length));

	ASSERT_GT(grant, 0);
	ASSERT_TRUE(grant_held(self->holder, grant));
	return grant;
}

/* One access, with memory that is not looked at. Return: the errno, or 0 */
static inline int try_read(int chan, uint32_t grant, uint64_t offset, uint64_t len)
{
	char *to = malloc(len < SIZE ? len + 1 : 1);
	int ret = grant_read(chan, grant, offset, to, len) ? errno : 0;

	free(to);
	return ret;
}

static inline int try_write(int chan, uint32_t grant, uint64_t offset, uint64_t len)
{
	char *from = calloc(1, len < SIZE ? len + 1 : 1);
	int ret = grant_write(chan, grant, offset, from, len) ? errno : 0;

	free(from);
	return ret;
}

static inline int try_add(int chan, uint32_t grant, uint64_t offset)
{
	return grant_add(chan, grant, offset, 1, NULL) ? errno : 0;
}

static inline int try_swap(int chan, uint32_t grant, uint64_t offset)
{
	return grant_swap(chan, grant, offset, 0, 0, NULL) ? errno : 0;
}

static inline bool over_iwarp(void)
{
	const char *device = getenv("LAB_RDMA");

	return device && !strncmp(device, "siw", 3);
}

/*
 * The written bytes are in the owner's memory. With iWARP a WRITE is done when it is sent, and its
 * bytes have come when a later READ is answered.
 */
static inline void await_written(int holder, uint32_t grant)
{
	char byte;

	if (over_iwarp())
		ASSERT_EQ(grant_read(holder, grant, 0, &byte, 1), 0);
}

/* How end 0 or 1 of a pair hears of the removal of the device of end 0. */
static inline int removal_error(int end)
{
	return end && has_peer() ? ECONNRESET : ENODEV;
}

static inline uint32_t removal_cause(int end)
{
	return end && has_peer() ? RDMACHAN_CAUSE_DISCONNECTED : RDMACHAN_CAUSE_DEVICE_REMOVED;
}

#endif /* _SELFTESTS_GRANT_FIXTURE_H */
