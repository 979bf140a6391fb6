// SPDX-License-Identifier: MIT
/*
 * cmd_connect.c - "rdmachan connect": a channel on standard input and output
 */
#include <getopt.h>
#include <unistd.h>

#include "parse.h"
#include "relay.h"
#include "tool.h"

/**
 * struct connecting - what the command line says
 * @mode: what a message is
 * @one_way: nothing is received
 * @options: how to connect
 */
struct connecting {
	enum relay_mode mode;
	bool one_way;
	struct rdmachan_options options;
};

static const struct option options[] = {
	{ "lines", no_argument, NULL, 'l' },
	{ "whole", no_argument, NULL, 'w' },
	{ "stream", no_argument, NULL, 's' },
	{ "one-way", no_argument, NULL, 'o' },
	{ "max", required_argument, NULL, 'm' },
	PARSE_CONNECT_LONG,
	{ 0 }
};

static bool parse_option(int option, const char *value, struct connecting *connecting)
{
	uint64_t size;

	switch (option) {
	case 'l':
		connecting->mode = RELAY_LINES;
		return true;
	case 'w':
		connecting->mode = RELAY_WHOLE;
		return true;
	case 's':
		connecting->mode = RELAY_STREAM;
		return true;
	case 'o':
		return connecting->one_way = true;
	case 'm':
		if (!parse_size(value, RDMACHAN_MESSAGE_MAX, &size) || !size)
			return false;
		connecting->options.tuning.message_max = size;
		return true;
	}
	return parse_connect(option, value, &connecting->options);
}

static int run(int argc, char **argv)
{
	struct connecting connecting = { .options = RDMACHAN_OPTIONS_INIT };
	struct target target;
	int option, ctx, chan;

	while ((option = getopt_long(argc, argv, "lwsom:" PARSE_CONNECT_SHORT,
				     options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_connect, NULL);
		if (!parse_option(option, optarg, &connecting))
			return fail_value(&cmd_connect, option, optarg);
	}
	if (argc - optind != 1)
		return fail_usage(&cmd_connect, "say HOST:SERVICE");
	if (!parse_target(argv[optind], 0, &target))
		return fail_usage(&cmd_connect, "\"%s\" is not HOST:SERVICE", argv[optind]);
	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	chan = target_connect(ctx, &target, &connecting.options);
	if (chan < 0)
		return -chan;
	return relay_run(chan, connecting.mode, connecting.one_way);
}

const struct command cmd_connect = {
	.name = "connect",
	.summary = "connect standard input and output with a service",
	.help =
	"Usage: rdmachan connect [OPTION]... HOST:SERVICE\n"
	"\n"
	"Opens a channel to the program that listens for SERVICE at HOST, sends what is\n"
	"read from standard input, and writes what is received to standard output. When\n"
	"the input ends the peer is told so, and when the peer's data ends standard output\n"
	"is closed; the command ends when both directions have. It succeeds only when the\n"
	"peer's program has received all that was read, and all that came was written.\n"
	"HOST is a name, an IPv4 address or an IPv6 address in brackets; SERVICE is a\n"
	"number from 1 to 4294967294.\n"
	"\n"
	"What a message is:\n"
	"  -s, --stream         whatever one read of the input gives (the default)\n"
	"  -l, --lines          a line; each received message becomes a line\n"
	"  -w, --whole          the whole input, up to 1 GiB\n"
	"Other options:\n"
	"  -o, --one-way        only send; end when the peer's program has received all\n"
	"  -m, --max SIZE       receive messages up to SIZE (k, m, g)\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n"
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n"
	"  -b, --bind ADDR      connect from the local address ADDR\n"
	"\n"
	"Examples:\n"
	"  rdmachan connect db1:5000\n"
	"  echo 'how are you?' | rdmachan connect --lines 10.0.0.2:5000\n"
	"  rdmachan connect --whole '[fd00::2]:5000' <picture.png\n",
	.run = run,
};
