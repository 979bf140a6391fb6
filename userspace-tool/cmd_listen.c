// SPDX-License-Identifier: MIT
/*
 * cmd_listen.c - "rdmachan listen": the other end of "rdmachan connect"
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "echo.h"
#include "parse.h"
#include "relay.h"
#include "tool.h"

/* A channel that does not block sends no message larger than its send buffer. */
#define ECHO_MESSAGE_DEFAULT	(16U << 20)

struct listening {
	uint32_t service;
	enum relay_mode mode;
	bool keep;
	bool echo;
	bool one_way;
	bool verbose;
	struct rdmachan_options options;
};

static const struct option options[] = {
	{ "lines", no_argument, NULL, 'l' },
	{ "whole", no_argument, NULL, 'w' },
	{ "stream", no_argument, NULL, 's' },
	{ "keep", no_argument, NULL, 'k' },
	{ "echo", no_argument, NULL, 'e' },
	{ "one-way", no_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "max", required_argument, NULL, 'm' },
	{ "bind", required_argument, NULL, 'b' },
	{ 0 }
};

static bool parse_option(int option, const char *value, struct listening *listening)
{
	uint64_t size;

	switch (option) {
	case 'l':
		listening->mode = RELAY_LINES;
		return true;
	case 'w':
		listening->mode = RELAY_WHOLE;
		return true;
	case 's':
		listening->mode = RELAY_STREAM;
		return true;
	case 'k':
		return listening->keep = true;
	case 'e':
		return listening->echo = true;
	case 'o':
		return listening->one_way = true;
	case 'v':
		return listening->verbose = true;
	case 'm':
		if (!parse_size(value, RDMACHAN_MESSAGE_MAX, &size) || !size)
			return false;
		listening->options.tuning.message_max = size;
		return true;
	case 'b':
		return parse_address(value, &listening->options.local);
	}
	return false;
}

static void set_echo(struct listening *listening)
{
	struct rdmachan_tuning *tuning = &listening->options.tuning;

	if (!tuning->message_max)
		tuning->message_max = ECHO_MESSAGE_DEFAULT;
	tuning->send_buffer = tuning->message_max;
	if (tuning->send_buffer < RDMACHAN_BUFFER_MIN)
		tuning->send_buffer = RDMACHAN_BUFFER_MIN;
	listening->options.flags |= RDMACHAN_FD_F_NONBLOCK;
}

static void tell_peer(const struct rdmachan_addr *peer, uint32_t uid)
{
	char text[RDMACHAN_ADDR_MAX];

	rdmachan_addr_text(peer, text, sizeof(text));
	if (uid == UINT32_MAX)
		fprintf(stderr, "rdmachan: channel from %s\n", text);
	else
		fprintf(stderr, "rdmachan: channel from %s, user id %u\n", text, uid);
}

static int serve_one(int listener, const struct listening *listening)
{
	struct rdmachan_addr peer;
	uint32_t uid;
	int chan, status;

	do {
		chan = rdmachan_accept(listener, NULL, &peer, &uid, NULL);
	} while (chan < 0 && errno == EINTR);
	if (chan < 0)
		return fail_errno("cannot accept");
	if (listening->verbose)
		tell_peer(&peer, uid);
	if (!listening->keep) {
		close(listener);
		return relay_run(chan, listening->mode, listening->one_way);
	}
	status = relay_output(chan, listening->mode);
	close(chan);
	/* What became of one channel is of no matter to the next. */
	return status == TOOL_CONNECTION ? TOOL_OK : status;
}

static int serve(int listener, const struct listening *listening)
{
	int status;

	if (listening->echo)
		return echo_run(listener);
	do {
		status = serve_one(listener, listening);
	} while (!status && listening->keep);
	return status;
}

static int run(int argc, char **argv)
{
	struct listening listening = { .options = RDMACHAN_OPTIONS_INIT };
	struct rdmachan_error err;
	int option, ctx, listener;

	while ((option = getopt_long(argc, argv, "lwskeovm:b:", options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_listen, NULL);
		if (!parse_option(option, optarg, &listening))
			return fail_value(&cmd_listen, option, optarg);
	}
	if (argc - optind != 1 || !parse_service(argv[optind], &listening.service))
		return fail_usage(&cmd_listen, "say SERVICE, a number from 1 to 4294967294");
	if (listening.keep + listening.echo + listening.one_way > 1)
		return fail_usage(&cmd_listen, "--keep, --echo and --one-way exclude each other");
	if (listening.echo)
		set_echo(&listening);
	if (listening.echo && listening.options.tuning.message_max > RDMACHAN_BUFFER_MAX)
		return fail_usage(&cmd_listen, "the echo takes messages up to 64m");
	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	listener = rdmachan_listen(ctx, listening.service, &listening.options, &err);
	if (listener < 0) {
		fail_error(&err, "cannot listen for service %u", listening.service);
		return TOOL_FAILED;
	}
	return serve(listener, &listening);
}

const struct command cmd_listen = {
	.name = "listen",
	.summary = "accept a channel on standard input and output, or echo",
	.help =
	"Usage: rdmachan listen [OPTION]... SERVICE\n"
	"\n"
	"Listens for SERVICE, accepts one channel, sends what is read from standard input\n"
	"and writes what is received to standard output: the other end of \"rdmachan\n"
	"connect\". It ends when both directions have, and succeeds only when the peer's\n"
	"program has received all that was read, and all that came was written. SERVICE is\n"
	"a number from 1 to 4294967294; numbers below 1024 need CAP_NET_BIND_SERVICE.\n"
	"\n"
	"What a message is:\n"
	"  -s, --stream     whatever one read of the input gives (the default)\n"
	"  -l, --lines      a line; each received message becomes a line\n"
	"  -w, --whole      the whole input, up to 1 GiB\n"
	"What to do with channels:\n"
	"  -k, --keep       serve one channel after another for ever; input is not read\n"
	"  -e, --echo       send every message back; many channels at once, for ever\n"
	"  -o, --one-way    only send; end when the peer's program has received all\n"
	"Other options:\n"
	"  -m, --max SIZE   receive messages up to SIZE (k, m, g; echo: 16m)\n"
	"  -b, --bind ADDR  listen at the local address ADDR alone\n"
	"  -v, --verbose    tell on standard error who connects\n"
	"\n"
	"Examples:\n"
	"  rdmachan listen 5000\n"
	"  rdmachan listen --keep --lines 5000 >>log     collect lines of many senders\n"
	"  rdmachan listen --echo 5000                   and elsewhere: rdmachan ping HOST:5000\n",
	.run = run,
};
