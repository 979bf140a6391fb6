// SPDX-License-Identifier: GPL-2.0
/*
 * grant_charge_test.c - what accesses have, and who is charged for it
 *
 * An access has pages of its program's pinned, or memory of the kernel's, while the adapter works.
 * Where it has them for longer, as others have their turn before it, the user is charged.
 */
#include "common.h"
#include "fault.h"
#include "grant_entries.h"
#include "harness.h"
#include "scattered.h"

#define FEW 8
/* What a path writes at a time, RCH_WRITE_BYTES. */
#define WRITTEN (2 * MIB)

static int64_t charged(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_bytes.user;
}

/*
 * Behind others
 */

/* All but the last KiB is being written: a WRITE has to wait, and those behind it. */
static bool wait_behind(struct fixture_grant *self, uint32_t grant, uint32_t region)
{
	int64_t before = charged(self->ctx), after;
	char *mine = pages(PAGE);
	int i, early;

	in_region(queue_write(&q, self->holder, grant, 0, NULL, WRITTEN - KIB, 1), region, 0);
	queue_write(&q, self->holder, grant, WRITTEN, mine, PAGE - 1, 2);
	for (i = 0; i < FEW; i++)
		queue_read(&q, self->holder, grant, WRITTEN, mine, PAGE - 1, 3);
	ASSERT_EQ(queue_submit(&q), 2 + FEW);
	after = charged(self->ctx);
	early = queue_ready(&q);
	for (i = 0; i < 2 + FEW; i++)
		EXPECT_GT(result(NULL), 0);
	munmap(mine, PAGE);
	/* Only if none had ended yet is it known what there had to be. */
	if (early)
		return false;
	EXPECT_EQ(after - before, (int64_t)((1 + FEW) * PAGE));
	return true;
}

TEST_F_TIMEOUT(grant, charge_behind_a_write, 60)
{
	uint32_t grant = lend(self, MAY_ALL, 0, SIZE), region;
	int i;

	begin(self);
	region = region_of(self->ctx, scattered(SIZE), SIZE);
	/* With keys of the region a step is as long as it may be. */
	for (i = 0; i < 100 && module_count("keys") < 1; i++) {
		in_region(queue_write(&q, self->holder, grant, 0, NULL, WRITTEN, 1), region, 0);
		ASSERT_EQ(queue_submit(&q), 1);
		EXPECT_EQ(result(NULL), (int64_t)WRITTEN);
		sleep_ms(10);
	}
	if (module_count("keys") < 1)
		SKIP("there are no keys of regions, or they are not told");
	for (i = 0; i < 100 && !wait_behind(self, grant, region); i++)
		;
	queue_close(&q);
}

TEST_HARNESS_MAIN
