// SPDX-License-Identifier: GPL-2.0
/*
 * seeded.c - random bytes that are the same each time, for a User Mode Linux kernel
 *
 * That kernel asks its host by getrandom(), and nothing else there is random when its time is
 * virtual. Preloaded, this answers: all that follows from the number in RDMACHAN_LAB_SEED, and
 * so a run of hosts in one kernel can be had again.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *to, size_t len, unsigned int flags)
{
	static uint64_t state;
	static int begun;
	uint64_t value;
	size_t i, n;

	(void)flags;
	if (!begun) {
		const char *seed = getenv("RDMACHAN_LAB_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		begun = 1;
	}
	for (i = 0; i < len; i += n) {
		value = next(&state);
		n = len - i < sizeof(value) ? len - i : sizeof(value);
		memcpy((char *)to + i, &value, n);
	}
	return len;
}
