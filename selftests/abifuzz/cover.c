// SPDX-License-Identifier: GPL-2.0
/*
 * cover.c - what of the module a thread executes, by the kernel's KCOV
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "common.h"
#include "abi_fuzz.h"

#define KCOV "/sys/kernel/debug/kcov"
#define ENTRIES (128UL << 10)

static unsigned long base, size;

/* Return: whether the module is there. */
bool cover_find_module(void)
{
	char line[256], name[64];
	FILE *modules = fopen("/proc/modules", "r");
	bool found = false;

	while (modules && !found && fgets(line, sizeof(line), modules))
		found = sscanf(line, "%63s %lu %*s %*s %*s %lx", name, &size, &base) == 3 &&
			!strcmp(name, "rdmachan") && base;
	if (modules)
		fclose(modules);
	return found;
}

/* Bits that a bitmap must have. */
size_t cover_size(void)
{
	return size;
}

/* Return: whether the kernel tells what is executed. */
bool cover_there(void)
{
	return !access(KCOV, R_OK | W_OK);
}

/* Called by the thread itself. */
void cover_open(struct actor *actor)
{
	actor->cover_fd = fd_high(open(KCOV, O_RDWR));
	if (actor->cover_fd < 0 ||
	    ioctl(actor->cover_fd, KCOV_INIT_TRACE, ENTRIES)) {
		perror("abi_fuzz: kcov");
		exit(1);
	}
	actor->cover = mmap(NULL, ENTRIES * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED,
			    actor->cover_fd, 0);
	if (actor->cover == MAP_FAILED ||
	    ioctl(actor->cover_fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
		perror("abi_fuzz: kcov");
		exit(1);
	}
}

void cover_begin(struct actor *actor)
{
	if (actor->cover)
		__atomic_store_n(actor->cover, 0, __ATOMIC_RELAXED);
}

/*
 * Set the bits of what the last case executed, and of the steps from one place to the
 * next: in @steps, of COVER_STEPS bits, by a hash.
 */
void cover_collect(const struct actor *actor, uint64_t *bitmap, uint64_t *steps)
{
	unsigned long i, count, offset, before = 0, step;

	if (!actor->cover)
		return;
	count = __atomic_load_n(actor->cover, __ATOMIC_RELAXED);
	for (i = 1; i <= count && i < ENTRIES; i++) {
		offset = actor->cover[i] - base;
		if (offset >= size)
			continue;
		bitmap[offset / 64] |= 1ULL << offset % 64;
		step = (offset ^ before * 0x9e3779b1UL) % COVER_STEPS;
		steps[step / 64] |= 1ULL << step % 64;
		before = offset;
	}
}
