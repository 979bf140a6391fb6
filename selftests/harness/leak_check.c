// SPDX-License-Identifier: GPL-2.0
/*
 * leak_check.c - whether the module has forgotten everything but idle links
 *
 * Waits, as closed channels linger for a moment. Exit status 1: something is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

/* Frames and segments that an idle link may keep. */
#define PER_LINK 64

/* But for the context that asks. */
static bool is_given_back(const struct rdmachan_info *info)
{
	return info->out_use_contexts.all == 1 && !info->out_use_listeners.all &&
	       !info->out_use_channels.all && !info->out_use_pending.all &&
	       !info->out_use_bytes.all && !info->out_use_queues.all &&
	       !info->out_use_pollers.all && !info->out_use_regions.all &&
	       !info->out_use_grants.all;
}

/* Where the lab made the guest there is debugfs. */
static bool is_count(const char *what, int want)
{
	const int count = module_count(what);

	return count == want || (count < 0 && !getenv("LAB_HOST"));
}

/* Mapped pages of rings and pools; 0 where the kernel does not tell. */
static int mappings(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "r");
	char line[512];
	int count = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		count += strstr(line, "[rdmachan]") && strstr(line, " vmap");
	fclose(file);
	return count;
}

static bool is_clean(const struct rdmachan_info *info)
{
	return info->out_contexts == 1 && !info->out_listeners && !info->out_channels &&
	       info->out_frames <= PER_LINK * info->out_links && !info->out_segments &&
	       is_count("items", 0) && is_count("sets", 1) && !mappings();
}

int main(int argc, char **argv)
{
	int64_t until = now_ms() + (argc > 1 ? atoi(argv[1]) : 5000);
	struct rdmachan_info info;
	int ctx = open_ctx();
	bool clean;

	do {
		if (get_info(ctx, &info))
			return 1;
		clean = is_clean(&info) && is_given_back(&info);
		if (!clean)
			sleep_ms(20);
	} while (!clean && now_ms() < until);
	printf("# left: %u contexts, %u listeners, %u channels, %u links, %u frames, %u segments, %d items, %d sets of regions, %d mappings\n",
	       info.out_contexts, info.out_listeners, info.out_channels, info.out_links,
	       info.out_frames, info.out_segments, module_count("items"), module_count("sets"),
	       mappings());
	printf("# charged: %llu listeners, %llu channels, %llu pending, %llu bytes, %llu regions, %llu grants\n",
	       info.out_use_listeners.all, info.out_use_channels.all,
	       info.out_use_pending.all, info.out_use_bytes.all, info.out_use_regions.all,
	       info.out_use_grants.all);
	return clean ? 0 : 1;
}
