/* SPDX-License-Identifier: GPL-2.0 */
/*
 * region_fixture.h - two regions, a queue, and a pair of channels to carry what is in them
 *
 * One end is on this host, the other on the peer's. Regions and queue are of this host, for both.
 */
#ifndef _SELFTESTS_REGION_FIXTURE_H
#define _SELFTESTS_REGION_FIXTURE_H

#include <sys/mman.h>

#include "common.h"
#include "harness.h"
#include "region.h"

#define MIB 1048576UL
#define PAGE 4096UL
#define SIZE (4 * MIB)

FIXTURE(region)
{
	int ctx;
	int peer;
	int a;
	int b;
	struct queue q;
	char *from;
	char *to;
	uint32_t from_id;
	uint32_t to_id;
	int64_t pinned;
	uint64_t count;
};

static inline char *pages(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static inline uint64_t regions_in_use(int ctx)
{
	struct rdmachan_info info;

	return get_info(ctx, &info) ? ~0UL : info.out_use_regions.all;
}

static inline uint32_t region_of(int ctx, const char *memory, size_t len)
{
	int64_t region = region_register(ctx, memory, len, 0, NULL);

	ASSERT_GT(region, 0);
	return region;
}

/* Until this host has got more frames than @before. */
static inline void await_frame(const struct fixture_region *self, uint64_t before)
{
	int64_t until = now_ms() + 20000;

	while (frames_received(self->ctx) == before && now_ms() < until)
		usleep(100);
	ASSERT_GT(frames_received(self->ctx), before);
}

FIXTURE_SETUP(region)
{
	int fds[2];

	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	ASSERT_EQ(queue_open(self->ctx, &self->q, 64, 64), 0);
	self->from = pages(SIZE + PAGE);
	self->to = pages(SIZE + PAGE);
	self->from_id = region_of(self->ctx, self->from, SIZE);
	self->to_id = region_of(self->ctx, self->to, SIZE);
	self->pinned = pinned_bytes();
	self->count = regions_in_use(self->ctx);
	ASSERT_EQ(self->pinned, 2 * SIZE);
}

FIXTURE_TEARDOWN(region)
{
	queue_close(&self->q);
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
}

#endif /* _SELFTESTS_REGION_FIXTURE_H */
