// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - abi_fuzz: a hostile program
 *
 * usage: abi_fuzz run [--seconds N] [--threads T] [--procs P] [--seed S]
 *                     [--corpus DIR] --out DIR
 *        abi_fuzz replay DIR
 *        abi_fuzz [WORD]
 *
 * run fuzzes, guided by the kernel's KCOV if it has that; replay, or neither, runs the
 * cases of a folder (abi-corpus beside the program) as a test. It wants the module loaded,
 * root, and LAB_IP and LAB_IP6, own addresses on an RDMA device.
 */
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "abi_fuzz.h"

#define PARAMETERS "/sys/module/rdmachan/parameters/"

static const struct parameter {
	const char *path;
	const char *hostile;
	char before[32];
} parameters_used[] = {
	/* Closed channels do not heap up, links come and go. */
	{ PARAMETERS "linger_ms", "500" },
	{ PARAMETERS "idle_ms", "1000" },
};

#define PARAMETERS_COUNT (sizeof(parameters_used) / sizeof(*parameters_used))
static struct parameter parameters[PARAMETERS_COUNT];

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

/* The first connection takes longer than a case may. */
static void warm_up(void)
{
	int fds[2], ctx = open_ctx();

	pair_up(ctx, fds, NULL);
	close(fds[0]);
	close(fds[1]);
	close(ctx);
}

static void set_up(void)
{
	unsigned int i;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	memcpy(parameters, parameters_used, sizeof(parameters));
	for (i = 0; i < PARAMETERS_COUNT; i++) {
		fd = open(parameters[i].path, O_RDONLY);
		if (fd < 0 || read(fd, parameters[i].before, 31) <= 0) {
			perror(parameters[i].path);
			exit(1);
		}
		close(fd);
		put(parameters[i].path, parameters[i].hostile);
	}
	/* Cases become other users. */
	chmod(DEVICE, 0666);
	warm_up();
}

static void restore(void)
{
	unsigned int i;

	for (i = 0; i < PARAMETERS_COUNT; i++)
		put(parameters[i].path, parameters[i].before);
	chmod(DEVICE, 0600);
}

static int usage(void)
{
	fprintf(stderr, "usage: abi_fuzz run [--seconds N] [--threads T] [--procs P] [--seed S] [--corpus DIR] --out DIR\n"
		"       abi_fuzz replay DIR\n"
		"       abi_fuzz [WORD]\n");
	return 2;
}

static bool parse(struct campaign *campaign, int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "threads", required_argument, NULL, 't' },
		{ "procs", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 'e' },
		{ "corpus", required_argument, NULL, 'c' },
		{ "out", required_argument, NULL, 'o' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			campaign->seconds = atoi(optarg);
			break;
		case 't':
			campaign->threads = atoi(optarg);
			break;
		case 'p':
			campaign->procs = atoi(optarg);
			break;
		case 'e':
			campaign->seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			campaign->corpus = optarg;
			break;
		case 'o':
			campaign->out = optarg;
			break;
		default:
			return false;
		}
	}
	return campaign->out && campaign->threads > 0 && campaign->threads <= THREADS_MAX &&
	       campaign->procs > 0 && campaign->procs <= PROCS_MAX && optind == argc;
}

static int replay_beside(const char *word)
{
	char program[PATH_MAX] = "", dir[PATH_MAX + 16];

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return 1;
	snprintf(dir, sizeof(dir), "%s/abi-corpus", dirname(program));
	return replay(dir, word);
}

int main(int argc, char **argv)
{
	struct campaign campaign = {
		.seconds = 60, .threads = THREADS_MAX, .procs = 3, .seed = 1,
	};
	int status;

	if (argc > 1 && !strcmp(argv[1], "run")) {
		if (!parse(&campaign, argc - 1, argv + 1))
			return usage();
		set_up();
		status = campaign_run(&campaign);
	} else if (argc == 3 && !strcmp(argv[1], "replay")) {
		set_up();
		status = replay(argv[2], NULL);
	} else if (argc < 3) {
		set_up();
		status = replay_beside(argv[1]);
	} else {
		return usage();
	}
	restore();
	return status;
}
