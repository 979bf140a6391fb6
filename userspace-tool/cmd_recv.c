// SPDX-License-Identifier: MIT
/*
 * cmd_recv.c - "rdmachan recv": files from "rdmachan send"
 */
#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include "parse.h"
#include "receive.h"

static const struct option options[] = {
	{ "service", required_argument, NULL, 's' },
	{ "once", no_argument, NULL, '1' },
	{ "force", no_argument, NULL, 'f' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "idle", required_argument, NULL, 'i' },
	{ "progress", required_argument, NULL, 'P' },
	{ "bind", required_argument, NULL, 'b' },
	{ 0 }
};

static bool parse_option(int option, const char *value, struct receiving *receiving)
{
	switch (option) {
	case 's':
		return parse_service(value, &receiving->service);
	case 'i':
		return parse_seconds(value, UINT32_MAX, &receiving->idle_ms);
	case '1':
		return receiving->once = true;
	case 'f':
		return receiving->replace = true;
	case 'q':
		receiving->mode = PROGRESS_NONE;
		return receiving->quiet = true;
	case 'P':
		return progress_parse(value, &receiving->mode);
	case 'b':
		return parse_address(value, &receiving->local);
	}
	return false;
}

static int run(int argc, char **argv)
{
	struct receiving receiving = { .service = TOOL_SERVICE_FILES, .idle_ms = 60000 };
	const char *dir = ".";
	int option, status;

	while ((option = getopt_long(argc, argv, "s:1fqi:P:b:", options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_recv, NULL);
		if (!parse_option(option, optarg, &receiving))
			return fail_value(&cmd_recv, option, optarg);
	}
	if (optind < argc)
		dir = argv[optind++];
	if (optind != argc)
		return fail_usage(&cmd_recv, "say one DIRECTORY");
	receiving.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (receiving.dir < 0)
		return fail_errno("cannot open the directory %s", dir);
	status = receive_run(&receiving);
	close(receiving.dir);
	return status;
}

const struct command cmd_recv = {
	.name = "recv",
	.summary = "receive files from \"rdmachan send\"",
	.help =
	"Usage: rdmachan recv [OPTION]... [DIRECTORY]\n"
	"\n"
	"Stores the files that \"rdmachan send\" sends in DIRECTORY (here, unless given),\n"
	"one sender after another. A file is written under a temporary name, checked by\n"
	"its SHA-256 sum and only then named. Names with a directory, hidden names, names\n"
	"with characters that are not shown, and names that exist already are refused.\n"
	"Anybody who reaches this host by RDMA may send. A file that cannot be stored is\n"
	"refused, with the reason at both ends, and the next one taken. What a receiver\n"
	"that was killed has left in DIRECTORY is removed at the start.\n"
	"\n"
	"  -s, --service N      listen for service N instead of 7001\n"
	"  -b, --bind ADDR      listen at the local address ADDR alone\n"
	"  -1, --once           end after one sender; its fate is the exit code\n"
	"  -f, --force          a file may replace one of the same name\n"
	"  -q, --quiet          no progress and no summary\n"
	"  -P, --progress MODE  bar (on a terminal, the default), plain (a line every ten\n"
	"                       seconds), none\n"
	"  -i, --idle SEC       give up a sender that is silent for SEC seconds (60; 0: never)\n"
	"\n"
	"Exit codes: 0 success, 1 a file was refused or given up, 3 the sender was lost, 4 a\n"
	"checksum did not match; the highest of one sender's files. Without --once it goes\n"
	"on until SIGINT or SIGTERM, and ends with 0 then unless a file was cut off, 1.\n"
	"\n"
	"Examples:\n"
	"  rdmachan recv /srv/incoming\n"
	"  rdmachan recv --once --service 7100 .\n",
	.run = run,
};
