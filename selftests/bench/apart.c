// SPDX-License-Identifier: GPL-2.0
/*
 * apart.c - two hosts of one kernel: their words to each other beside the wire
 */
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

/* How often the client looks. */
#define LOOK_US 1000

/* For all pairs of processes; what none touches costs nothing. */
struct shared *make_shared(void)
{
	void *shared = mmap(NULL, PAIRS_MAX * sizeof(struct shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(shared != MAP_FAILED, "memory");
	return shared;
}

/* The server listens, or something else has happened that the client waits for. */
void tell_ready(struct shared *shared)
{
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
}

/* So many times. */
void await_ready(const struct shared *shared, unsigned int count)
{
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < count)
		usleep(LOOK_US);
}
