// SPDX-License-Identifier: MIT
/*
 * cmd_ping.c - "rdmachan ping": is the peer alive, and how long does it take?
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "parse.h"
#include "samples.h"
#include "tool.h"

#define PING_SIZE_MAX	(16U << 20)

/**
 * struct ping - one run
 * @target: whom; service 0 asks the module only
 * @options: of the connection
 * @count: how many, 0 until a signal comes
 * @interval_ms: time from one to the next
 * @wait_ms: how long an answer may take
 * @size: bytes of a message
 * @as_json: one object at the end instead of text
 * @ctx: context
 * @chan: channel to the echo server, -1 when asking the module
 * @message: what is sent, and behind it what comes back
 * @sent: how many were sent
 * @samples: times of the answers
 */
struct ping {
	struct target target;
	struct rdmachan_options options;
	uint64_t count;
	uint32_t interval_ms;
	uint32_t wait_ms;
	uint64_t size;
	bool as_json;
	int ctx;
	int chan;
	uint8_t *message;
	uint64_t sent;
	struct samples samples;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void catch_signals(void)
{
	/* Without SA_RESTART: a call that waits ends, and the result is printed. */
	const struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void print_answer(const struct ping *ping, uint64_t ns)
{
	if (ping->as_json)
		return;
	if (ping->chan >= 0)
		printf("%" PRIu64 " bytes from %s service %u: seq=%" PRIu64 " time=%.3f ms\n",
		       ping->size, ping->target.host, ping->target.service, ping->sent, ns / 1e6);
	else
		printf("answer from the module at %s: seq=%" PRIu64 " time=%.3f ms\n",
		       ping->target.host, ping->sent, ns / 1e6);
	fflush(stdout);
}

/* The module answers "no such service": it is alive. */
static int ask_module(struct ping *ping)
{
	uint64_t start = clock_ns();
	struct rdmachan_error err;
	int chan;

	chan = rdmachan_connect_host(ping->ctx, ping->target.host, TOOL_SERVICE_NOBODY,
				     &ping->options, &err);
	if (chan >= 0)
		close(chan);
	else if (stopped && errno == EINTR)
		return TOOL_OK;
	else if (err.cause != RDMACHAN_CAUSE_NO_SERVICE) {
		fail_error(&err, "no answer from %s", ping->target.host);
		return TOOL_CONNECTION;
	}
	samples_add(&ping->samples, clock_ns() - start);
	print_answer(ping, ping->samples.last);
	return TOOL_OK;
}

static int exchange(struct ping *ping)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	uint8_t *answer = ping->message + ping->size;
	struct iovec iov = { answer, ping->size };
	uint64_t start = clock_ns();
	struct rdmachan_error err;
	int ret;

	if (ping->size >= sizeof(ping->sent))
		memcpy(ping->message, &ping->sent, sizeof(ping->sent));
	transfer.timeout_ms = ping->wait_ms;
	iov.iov_base = ping->message;
	ret = rdmachan_sendv(ping->chan, &iov, 1, &transfer, &err);
	iov.iov_base = answer;
	if (!ret)
		ret = rdmachan_recvv(ping->chan, &iov, 1, &transfer, &err);
	else
		ret = -1;
	if (ret < 0 && stopped && errno == EINTR)
		return TOOL_OK;
	if (ret < 0 && errno == ETIMEDOUT && err.cause == RDMACHAN_CAUSE_NONE) {
		fail("no answer within %u ms; is an echo server there?", ping->wait_ms);
		return TOOL_FAILED;
	}
	if (ret < 0 && errno != EMSGSIZE)
		return fail_error(&err, "no answer");
	if (!ret) {
		fail("the peer has ended the channel");
		return TOOL_CONNECTION;
	}
	samples_add(&ping->samples, clock_ns() - start);
	if (ret < 0 || transfer.length != ping->size ||
	    memcmp(ping->message, answer, ping->size)) {
		fail("the answer is not what was sent: that service is no echo server");
		return TOOL_VERIFY;
	}
	print_answer(ping, ping->samples.last);
	return TOOL_OK;
}

static int loop(struct ping *ping)
{
	uint64_t next = clock_ns();
	uint64_t now;
	int status;

	while (!stopped) {
		ping->sent++;
		status = ping->chan >= 0 ? exchange(ping) : ask_module(ping);
		if (status)
			return status;
		if (ping->count && ping->sent >= ping->count)
			break;
		next += ping->interval_ms * 1000000ULL;
		now = clock_ns();
		if (next > now)
			poll(NULL, 0, (next - now + 999999) / 1000000);
	}
	return TOOL_OK;
}

static void print_summary(struct ping *ping)
{
	struct samples *samples = &ping->samples;

	printf("--- %s ---\n", ping->target.host);
	printf("%" PRIu64 " sent, %zu answered\n", ping->sent, samples->count);
	if (samples->count)
		printf("round trip min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n",
		       samples_min(samples) / 1e6, samples_mean(samples) / 1e6,
		       samples_max(samples) / 1e6, samples_deviation(samples) / 1e6);
}

static void print_json(struct ping *ping)
{
	struct json json = JSON_INIT(stdout);
	struct samples *samples = &ping->samples;

	json_object(&json, NULL);
	json_string(&json, "host", ping->target.host);
	if (ping->chan >= 0)
		json_number(&json, "service", ping->target.service);
	else
		json_null(&json, "service");
	json_number(&json, "size", ping->chan >= 0 ? ping->size : 0);
	json_number(&json, "sent", ping->sent);
	json_number(&json, "answered", samples->count);
	if (samples->count) {
		json_decimal(&json, "min_ms", samples_min(samples) / 1e6, 6);
		json_decimal(&json, "avg_ms", samples_mean(samples) / 1e6, 6);
		json_decimal(&json, "max_ms", samples_max(samples) / 1e6, 6);
		json_decimal(&json, "mdev_ms", samples_deviation(samples) / 1e6, 6);
	}
	json_end(&json);
}

static int ping_run(struct ping *ping)
{
	int status;

	catch_signals();
	status = loop(ping);
	if (ping->as_json)
		print_json(ping);
	else if (ping->samples.count || !status)
		print_summary(ping);
	samples_free(&ping->samples);
	return status;
}

static int ping_open(struct ping *ping)
{
	size_t i;
	int status;

	ping->ctx = context_open();
	if (ping->ctx < 0)
		return TOOL_FAILED;
	ping->chan = -1;
	if (!ping->target.service)
		return ping_run(ping);
	ping->message = calloc(2, ping->size + 1);
	if (!ping->message)
		return fail_errno("no memory");
	for (i = 0; i < ping->size; i++)
		ping->message[i] = i;
	ping->options.tuning.message_max = ping->size > RDMACHAN_BUFFER_MIN ? ping->size : 0;
	ping->chan = target_connect(ping->ctx, &ping->target, &ping->options);
	status = ping->chan < 0 ? -ping->chan : ping_run(ping);
	free(ping->message);
	return status;
}

static const struct option options[] = {
	{ "count", required_argument, NULL, 'c' },
	{ "interval", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "wait", required_argument, NULL, 'W' },
	{ "timeout", required_argument, NULL, 't' },
	{ "port", required_argument, NULL, 'p' },
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
	case 't':
		return parse_seconds(value, 3600000, &ping->options.timeout_ms);
	case 'p':
		return parse_u32(value, 1, 65535, &ping->options.port);
	case 'j':
		return ping->as_json = true;
	}
	return false;
}

/* HOST alone is allowed here, so a service is asked for only when one is named. */
static bool parse_whom(const char *text, struct target *target)
{
	if (parse_target(text, 0, target))
		return true;
	if (!parse_target(text, TOOL_SERVICE_NOBODY, target))
		return false;
	target->service = 0;
	return true;
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

	while ((option = getopt_long(argc, argv, "c:i:s:W:t:p:j", options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_ping, NULL);
		if (!parse_option(option, optarg, &ping))
			return fail_usage(&cmd_ping, "\"%s\" is not valid for -%c", optarg, option);
	}
	if (argc - optind != 1)
		return fail_usage(&cmd_ping, "say HOST or HOST:SERVICE");
	if (!parse_whom(argv[optind], &ping.target))
		return fail_usage(&cmd_ping, "\"%s\" is not HOST[:SERVICE]", argv[optind]);
	if (ping.as_json && !ping.count)
		ping.count = 4;
	return ping_open(&ping);
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
	"  -p, --port PORT      port of the module at HOST, if it is not 7471\n"
	"  -j, --json           write one JSON object at the end\n"
	"\n"
	"Exit codes: 0 all were answered, 1 no answer in time, 3 no connection, 4 an answer\n"
	"differs from what was sent.\n"
	"\n"
	"Examples:\n"
	"  rdmachan ping 10.0.0.2\n"
	"  rdmachan ping -c 10 -i 0.1 -s 4k '[fd00::2]:5000'\n",
	.run = run,
};
