// SPDX-License-Identifier: MIT
/*
 * cmd_ping.c - "rdmachan ping": is the peer alive, and how long does it take?
 */
#include <getopt.h>

#include "ping.h"

static const struct option options[] = {
	{ "count", required_argument, NULL, 'c' },
	{ "interval", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "wait", required_argument, NULL, 'W' },
	PARSE_CONNECT_LONG,
	{ "json", no_argument, NULL, 'j' },
	{ 0 }
};

static bool parse_option(int option, const char *value, struct ping *ping)
{
	switch (option) {
	case 'c':
		return parse_number(value, 1, UINT64_MAX, &ping->count);
	case 'i':
		return parse_seconds(value, 3600000, &ping->interval_ms);
	case 's':
		return parse_size(value, PING_SIZE_MAX, &ping->size);
	case 'W':
		return parse_seconds(value, 3600000, &ping->wait_ms) && ping->wait_ms;
	case 'j':
		return ping->as_json = true;
	}
	return parse_connect(option, value, &ping->options);
}

static int run(int argc, char **argv)
{
	struct ping ping = {
		.options = RDMACHAN_OPTIONS_INIT,
		.interval_ms = 1000,
		.wait_ms = 10000,
		.size = 56,
	};
	int option;

	while ((option = getopt_long(argc, argv, "c:i:s:W:j" PARSE_CONNECT_SHORT,
				     options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_ping, NULL);
		if (!parse_option(option, optarg, &ping))
			return fail_value(&cmd_ping, option, optarg);
	}
	if (argc - optind != 1)
		return fail_usage(&cmd_ping, "say HOST or HOST:SERVICE");
	if (!parse_peer(argv[optind], &ping.target))
		return fail_usage(&cmd_ping, "\"%s\" is not HOST[:SERVICE]", argv[optind]);
	if (ping.as_json && !ping.count)
		ping.count = 4;
	return ping_run(&ping);
}

const struct command cmd_ping = {
	.name = "ping",
	.summary = "see whether a host or service answers, and how fast",
	.help =
	"Usage: rdmachan ping [OPTION]... HOST[:SERVICE]\n"
	"\n"
	"With a SERVICE, sends messages over one channel to an echo server there\n"
	"(\"rdmachan listen --echo SERVICE\") and prints how long each takes to come back.\n"
	"Without, asks the module at HOST: that needs no program there, and the first time\n"
	"includes making the connection of the two hosts.\n"
	"\n"
	"  -c, --count N        end after N (otherwise on Ctrl-C; with --json after 4)\n"
	"  -i, --interval SEC   time from one to the next (1)\n"
	"  -s, --size SIZE      bytes of a message (56; up to 16m)\n"
	"  -W, --wait SEC       how long an answer may take (10)\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n"
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n"
	"  -b, --bind ADDR      connect from the local address ADDR\n"
	"  -j, --json           write one JSON object at the end\n"
	"\n"
	"Exit codes: 0 all were answered, 1 no answer in time, or stopped before all were\n"
	"sent and answered, 3 no connection, 4 an answer differs from what was sent.\n"
	"\n"
	"Examples:\n"
	"  rdmachan ping 10.0.0.2\n"
	"  rdmachan ping -c 10 -i 0.1 -s 4k '[fd00::2]:5000'\n",
	.run = run,
};
