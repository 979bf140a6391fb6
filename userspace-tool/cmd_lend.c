// SPDX-License-Identifier: MIT
/*
 * cmd_lend.c - "rdmachan lend": memory for "rdmachan get", "put", "cas" and "add"
 */
#include <getopt.h>

#include "lend.h"
#include "rights.h"

static const struct option options[] = {
	{ "rights", required_argument, NULL, 'r' },
	{ "size", required_argument, NULL, 'n' },
	{ "cookie", required_argument, NULL, 'c' },
	{ "uses", required_argument, NULL, 'u' },
	{ "expires", required_argument, NULL, 'e' },
	{ "revoke", required_argument, NULL, 'R' },
	{ "output", required_argument, NULL, 'o' },
	{ "service", required_argument, NULL, 's' },
	{ "once", no_argument, NULL, '1' },
	{ "quiet", no_argument, NULL, 'q' },
	PARSE_CONNECT_LONG,
	{ 0 }
};

/* How it is lent. */
static bool parse_range(int option, const char *value, struct rdmachan_grant_range *range)
{
	uint64_t number;

	switch (option) {
	case 'r':
		return rights_parse(value, &range->rights);
	case 'n':
		if (!parse_size(value, INT64_MAX, &number) || !number)
			return false;
		range->length = number;
		return true;
	case 'c':
		if (!parse_number(value, 0, UINT64_MAX, &number))
			return false;
		range->cookie = number;
		return true;
	case 'u':
		return parse_u32(value, 1, UINT32_MAX, &range->uses);
	case 'e':
		return parse_seconds(value, UINT32_MAX, &range->expires_ms) && range->expires_ms;
	}
	return false;
}

static bool parse_option(int option, const char *value, struct lending *lending)
{
	switch (option) {
	case 'R':
		return parse_seconds(value, UINT32_MAX - 1, &lending->revoke_ms);
	case 'o':
		lending->output = value;
		return true;
	case 's':
		return parse_service(value, &lending->service);
	case '1':
		return lending->once = true;
	case 'q':
		return lending->quiet = true;
	}
	return parse_range(option, value, &lending->range) ||
	       parse_connect(option, value, &lending->options);
}

static int run(int argc, char **argv)
{
	struct lending lending = {
		.service = TOOL_SERVICE_GRANTS,
		.options = RDMACHAN_OPTIONS_INIT,
		.revoke_ms = UINT32_MAX,
		.range.rights = RDMACHAN_RIGHT_READ,
	};
	int option;

	while ((option = getopt_long(argc, argv, "r:n:c:u:e:R:o:s:1q" PARSE_CONNECT_SHORT,
				     options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_lend, NULL);
		if (!parse_option(option, optarg, &lending))
			return fail_value(&cmd_lend, option, optarg);
	}
	if (!lending.range.length && optind < argc)
		lending.file = argv[optind++];
	if (!lending.range.length && !lending.file)
		return fail_usage(&cmd_lend, "say FILE or --size SIZE");
	if (optind < argc) {
		if (!parse_target(argv[optind], lending.service, &lending.target))
			return fail_usage(&cmd_lend, "\"%s\" is not HOST[:SERVICE]", argv[optind]);
		lending.service = 0;
		optind++;
	}
	if (optind != argc)
		return fail_usage(&cmd_lend, "there is too much: \"%s\"", argv[optind]);
	return lend_run(&lending);
}

const struct command cmd_lend = {
	.name = "lend",
	.summary = "lend memory to \"rdmachan get\", \"put\", \"cas\" or \"add\"",
	.help =
	"Usage: rdmachan lend [OPTION]... FILE [HOST[:SERVICE]]\n"
	"       rdmachan lend [OPTION]... --size SIZE [HOST[:SERVICE]]\n"
	"\n"
	"Lends a copy of FILE in memory, or SIZE bytes of zeros, to the program at the other\n"
	"end of a channel, and tells when it is back. Without HOST it listens, and lends to\n"
	"one after the other; anybody who reaches this host by RDMA may come. What one has\n"
	"written the next one finds. At an interrupt the memory is taken back; with --once\n"
	"or HOST that is a failure if the holder still has it. So it is at any end if FILE of\n"
	"--output could not be written once.\n"
	"\n"
	"  -n, --size SIZE      so many bytes, instead of a file (k, m, g)\n"
	"  -r, --rights RIGHTS  what may be done, divided by commas: read (the default),\n"
	"                       write, atomic\n"
	"  -c, --cookie N       a number that the holder is told with it\n"
	"  -u, --uses N         it ends after N accesses\n"
	"  -e, --expires SEC    the kernel takes it back after SEC seconds\n"
	"  -R, --revoke SEC     this command takes it back after SEC seconds without an event\n"
	"  -o, --output FILE    write the bytes to FILE each time they are back\n"
	"  -s, --service N      listen for service N instead of 7003\n"
	"  -1, --once           end after one holder; its fate is the exit code\n"
	"  -q, --quiet          tell of nothing but failures\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n"
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n"
	"  -b, --bind ADDR      connect from, or listen at, the local address ADDR alone\n"
	"\n"
	"Examples:\n"
	"  rdmachan lend --rights read,write notes.txt\n"
	"  rdmachan lend --size 8 --rights atomic\n"
	"  rdmachan lend --once --expires 60 picture.png app1:7100\n",
	.run = run,
};
