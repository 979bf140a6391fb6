// SPDX-License-Identifier: GPL-2.0
/*
 * raw.c - the raw peer of a process that runs cases: begins it, and tells what it did
 *
 * It is a program of its own, abi_raw beside this one, as it needs the libraries of RDMA. It ends
 * with the process that it belongs to.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common.h"
#include "abi_fuzz.h"
#include "raw.h"

/* In the other program. */
#define STATS_FD 3
#define TEXT(number) #number
#define STRING(number) TEXT(number)

static const char *const figures[RAW_FIGURES] = {
	[RAW_ASKED] = "asked for",
	[RAW_LINKS] = "links made",
	[RAW_TAKEN_IN] = "links of the module",
	[RAW_ENDED] = "links ended by others",
	[RAW_FRAMES] = "frames",
	[RAW_ACKED] = "acknowledged",
	[RAW_DAMAGED] = "damaged",
	[RAW_CAME] = "frames came",
	[RAW_OPENED] = "channels opened",
	[RAW_LET_IN] = "channels accepted",
	[RAW_DELIVERED] = "messages delivered",
	[RAW_MESSAGES] = "messages came",
	[RAW_GIVEN] = "grants came",
	[RAW_ACCESSES] = "accesses",
	[RAW_BROKE] = "processes broken down",
};

static const char *const records[RAW_RECORDS] = {
	"bare", "OPEN", "ACCEPT", "REJECT", "DATA", "CREDIT", "SHUT", "CLOSE", "CLOSED", "RTS",
	"CTS", "FIN", "REVOKE", "RELEASE", "ATOMIC", "ATOMIC_DONE", "READ", "TAKEN",
};

static char program[PATH_MAX + 16];
static struct raw_stats *stats;
static int stats_fd = -1;
static uint64_t broken_before;

/* Links that were ended as their peer broke a rule, since the module was loaded. */
static uint64_t broken_rules(void)
{
	struct rdmachan_info info = {};
	int ctx = open_ctx();

	get_info(ctx, &info);
	close(ctx);
	return info.out_broken_rules;
}

static bool find_program(void)
{
	char self[PATH_MAX] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	snprintf(program, sizeof(program), "%s/abi_raw", dirname(self));
	return !access(program, X_OK);
}

/** raw_prepare - before the first process is begun that runs cases */
void raw_prepare(void)
{
	broken_before = broken_rules();
	if (!find_program()) {
		printf("# no raw peer: there is no %s\n", program);
		return;
	}
	stats_fd = fd_high(memfd_create("abi_raw", 0));
	if (stats_fd < 0 || ftruncate(stats_fd, sizeof(*stats)))
		stats = MAP_FAILED;
	else
		stats = mmap(NULL, sizeof(*stats), PROT_READ, MAP_SHARED, stats_fd, 0);
	if (stats == MAP_FAILED) {
		printf("# no raw peer: no memory for its figures: %s\n", strerror(errno));
		stats = NULL;
	}
}

static void become(pid_t parent)
{
	char seed[24], services[12];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)engine_options()->seed);
	snprintf(services, sizeof(services), "%u", services_of(engine_options()->proc));
	dup2(stats_fd, STATS_FD);
	close_range(STATS_FD + 1, ~0U, 0);
	execl(program, program, seed, services, STRING(STATS_FD), NULL);
	printf("# no raw peer: %s: %s\n", program, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/** raw_start - begin one for this process */
void raw_start(void)
{
	pid_t parent = getpid();

	if (stats && !fork())
		become(parent);
}

/** raw_report - print what all of them did */
void raw_report(void)
{
	unsigned int i;

	if (!stats)
		return;
	printf("# raw peers: broken rules %llu",
	       (unsigned long long)(broken_rules() - broken_before));
	for (i = 0; i < RAW_FIGURES; i++)
		printf(", %s %lu", figures[i], stats->figures[i]);
	printf("\n# raw records:");
	for (i = 0; i < RAW_RECORDS; i++)
		printf(" %s %lu", records[i], stats->records[i]);
	printf("\n");
}
