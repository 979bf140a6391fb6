// SPDX-License-Identifier: MIT
/*
 * ping.c - messages to an echo server, or questions to a module
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "ping.h"
#include "text.h"

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
		text_print(stdout, "%" PRIu64 " bytes from %s service %u: seq=%" PRIu64
			   " time=%.3f ms\n", ping->size, ping->target.host,
			   ping->target.service, ping->sent, ns / 1e6);
	else
		text_print(stdout, "answer from the module at %s: seq=%" PRIu64 " time=%.3f ms\n",
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
	if (chan < 0 && stopped && errno == EINTR)
		return TOOL_OK;
	if (chan >= 0) {
		close(chan);
	} else if (err.cause != RDMACHAN_CAUSE_NO_SERVICE) {
		/* Nobody has asked for that service: it is the module's host that matters. */
		err.service = 0;
		fail_error(&err, "no answer to \"ping %s\"", ping->target.host);
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

/* The user has ended it: was all answered that should have been? */
static int stopped_early(const struct ping *ping)
{
	if (!stopped)
		return TOOL_OK;
	if (ping->samples.count < ping->sent || ping->sent < ping->count)
		return TOOL_FAILED;
	return TOOL_OK;
}

static void print_summary(struct ping *ping)
{
	struct samples *samples = &ping->samples;

	text_print(stdout, "--- %s ---\n", ping->target.host);
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

static int run(struct ping *ping)
{
	int status;

	catch_signals();
	status = loop(ping);
	if (!status)
		status = stopped_early(ping);
	if (ping->as_json)
		print_json(ping);
	else if (ping->samples.count || !status || stopped)
		print_summary(ping);
	samples_free(&ping->samples);
	return status;
}

int ping_run(struct ping *ping)
{
	size_t i;
	int status;

	ping->ctx = context_open();
	if (ping->ctx < 0)
		return TOOL_FAILED;
	ping->chan = -1;
	if (!ping->target.service)
		return run(ping);
	ping->message = calloc(2, ping->size + 1);
	if (!ping->message)
		return fail_errno("no memory");
	for (i = 0; i < ping->size; i++)
		ping->message[i] = i;
	ping->options.tuning.message_max = ping->size > RDMACHAN_BUFFER_MIN ? ping->size : 0;
	ping->chan = target_connect(ping->ctx, &ping->target, &ping->options);
	status = ping->chan < 0 ? -ping->chan : run(ping);
	free(ping->message);
	return status;
}
