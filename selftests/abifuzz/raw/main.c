// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - abi_raw: a peer of the module's that speaks its protocol by itself, at random
 *
 * usage: abi_raw SEED SERVICES FD
 *
 * abi_fuzz begins one for each of its processes. SERVICES is the first service of that one, and FD
 * is memory for struct raw_stats. One child at a time connects to the module, and another one waits
 * until the module connects to it. A child has some links, one after the other, and may end within
 * one: so the module meets all that a dead process leaves behind. SEED decides what a child does,
 * with what the module and the cases do.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "link.h"

/* Links of a child's life at most. */
#define LIFE_LINKS 8
/* The service that cases have nothing to do with: it is there whenever a link is to be made. */
#define ANCHOR 3U

static struct raw_stats *stats;
static u32 services;
static u64 seed;

static int fail(const char *what)
{
	printf("# no raw peer: %s\n", what);
	return 1;
}

/* Programs may use the adapter. */
static bool usable(void)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct ibv_device **devices;
	int count = 0;

	if (events)
		rdma_destroy_event_channel(events);
	devices = ibv_get_device_list(&count);
	if (devices)
		ibv_free_device_list(devices);
	return events && count;
}

/* Of the user that most cases are of, where they listen. */
static bool drop_anchor(void)
{
	return do_listen(open_peer(), services + ANCHOR, NULL) >= 0;
}

static void live(u64 child_seed, bool passive)
{
	struct raw_link *l = calloc(1, sizeof(*l));
	u64 next = child_seed;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!l || getppid() == 1)
		_exit(1);
	for (i = 0; i < LIFE_LINKS; i++) {
		memset(l, 0, sizeof(*l));
		l->seed = next_random(&next);
		l->services = services;
		l->stats = stats;
		if (!raw_life(l, passive, raw_port_of(services)))
			break;
		/* Where time is virtual it goes by only while nobody runs. */
		sleep_ms(2);
	}
	_exit(0);
}

static pid_t begin_child(bool passive)
{
	u64 child_seed = next_random(&seed);
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		live(child_seed, passive);
	return child;
}

/* Both sides, for ever. */
static int keep_two(void)
{
	pid_t children[2] = { begin_child(false), begin_child(true) };
	int status, i;
	pid_t ended;

	while ((ended = wait(&status)) > 0) {
		if (status)
			atomic_fetch_add(&stats->figures[RAW_BROKE], 1);
		sleep_ms(status ? 20 : 1);
		for (i = 0; i < 2; i++)
			if (children[i] == ended)
				children[i] = begin_child(i);
	}
	return fail(strerror(errno));
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 4)
		return fail("usage: abi_raw SEED SERVICES FD");
	services = strtoul(argv[2], NULL, 0);
	seed = strtoull(argv[1], NULL, 0) * 1000003 + services;
	stats = mmap(NULL, sizeof(*stats), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[3]), 0);
	if (stats == MAP_FAILED)
		return fail("its figures have no memory");
	if (!usable())
		return fail("no RDMA device that programs can use");
	if (!drop_anchor())
		return fail("no service to be connected by");
	return keep_two();
}
