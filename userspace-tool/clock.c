// SPDX-License-Identifier: MIT
/*
 * clock.c - the time
 */
#include <time.h>

#include "tool.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}
