// SPDX-License-Identifier: MIT
/*
 * bench_client.c - the client's side of a measurement
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

/* The first exchanges are not counted: caches and tables are cold. */
#define WARMUP_PART	10
#define WARMUP_MAX	100

/* Why read() or write() failed: the module knows more than errno. */
static int channel_failed(int chan, ssize_t count)
{
	struct rdmachan_error err;
	int error = errno;

	if (count >= 0) {
		fail("the server has ended the channel");
		return TOOL_CONNECTION;
	}
	if (rdmachan_query(chan, NULL, &err, NULL) < 0 || err.cause == RDMACHAN_CAUSE_NONE) {
		errno = error;
		return fail_errno("the measurement failed");
	}
	fail_error(&err, "the measurement failed");
	return TOOL_CONNECTION;
}

static int put(struct bench *bench, int chan, size_t size)
{
	ssize_t count = write(chan, bench->buffer, size);

	return count == (ssize_t)size ? TOOL_OK : channel_failed(chan, count);
}

static int get(struct bench *bench, int chan, size_t size)
{
	ssize_t count = read(chan, bench->buffer, size);

	return count == (ssize_t)size ? TOOL_OK : channel_failed(chan, count);
}

static int request_send(struct bench *bench, const struct bench_request *request)
{
	uint8_t data[BENCH_REQUEST_SIZE];
	struct rdmachan_error err;

	bench_request_encode(request, data);
	if (!rdmachan_send(bench->chan, data, sizeof(data), &err))
		return TOOL_OK;
	fail_error(&err, "cannot ask the server");
	return TOOL_CONNECTION;
}

static uint32_t warmup(uint32_t count)
{
	uint32_t part = count / WARMUP_PART;

	return part < WARMUP_MAX ? part + 1 : WARMUP_MAX;
}

int bench_echo(struct bench *bench, uint32_t size, uint32_t count, struct samples *samples)
{
	uint32_t first = warmup(count);
	const struct bench_request request = {
		.mode = BENCH_ECHO, .size = size, .count = first + count,
	};
	uint64_t start;
	uint32_t i;
	int status;

	status = request_send(bench, &request);
	for (i = 0; i < request.count && !status; i++) {
		start = clock_ns();
		status = put(bench, bench->chan, size);
		if (!status)
			status = get(bench, bench->chan, size);
		if (!status && i >= first)
			samples_add(samples, clock_ns() - start);
	}
	return status;
}

int bench_sink(struct bench *bench, uint32_t size, uint32_t count, uint32_t window,
	       uint64_t *ns)
{
	const struct bench_request request = {
		.mode = BENCH_SINK, .size = size, .count = count, .batch = (window + 1) / 2,
	};
	uint32_t sent = 0, known = 0;
	uint64_t start;
	int status;

	status = request_send(bench, &request);
	start = clock_ns();
	while (known < count && !status) {
		if (sent < count && (!window || sent - known < window)) {
			status = put(bench, bench->chan, size);
			sent++;
			continue;
		}
		status = get(bench, bench->chan, 1);
		if (!request.batch || count - known < request.batch)
			known = count;
		else
			known += request.batch;
	}
	*ns = clock_ns() - start;
	return status;
}

static int accept_one(struct bench *bench)
{
	int chan = target_connect(bench->ctx, &bench->target, &bench->options);
	int status;

	if (chan < 0)
		return -chan;
	status = put(bench, chan, 1);
	if (!status)
		status = get(bench, chan, 1);
	close(chan);
	return status;
}

/* The channel of the requests stays open meanwhile, and with it the link. */
int bench_accept(struct bench *bench, uint32_t count, struct samples *samples)
{
	uint32_t first = warmup(count);
	const struct bench_request request = {
		.mode = BENCH_ACCEPT, .size = 1, .count = first + count,
	};
	uint64_t start;
	uint32_t i;
	int status;

	status = request_send(bench, &request);
	for (i = 0; i < request.count && !status; i++) {
		start = clock_ns();
		status = accept_one(bench);
		if (!status && i >= first)
			samples_add(samples, clock_ns() - start);
	}
	return status;
}

int bench_open(struct bench *bench, uint32_t largest)
{
	bench->buffer = calloc(1, largest);
	if (!bench->buffer)
		return fail_errno("no memory");
	bench->ctx = context_open();
	if (bench->ctx < 0)
		goto err_free_buffer;
	bench->options.tuning.message_max = largest;
	bench->chan = target_connect(bench->ctx, &bench->target, &bench->options);
	if (bench->chan < 0)
		goto err_close_context;
	return TOOL_OK;

err_close_context:
	close(bench->ctx);
err_free_buffer:
	free(bench->buffer);
	return bench->ctx < 0 ? TOOL_FAILED : TOOL_CONNECTION;
}

void bench_close(struct bench *bench)
{
	close(bench->chan);
	close(bench->ctx);
	free(bench->buffer);
}
