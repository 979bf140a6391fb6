/* SPDX-License-Identifier: MIT */
/*
 * bench.h - the two sides of a measurement
 *
 * The client opens a channel and sends a request; the server then plays its part
 * of one measurement and awaits the next request, until the client ends. It serves
 * one client after another, so that clients do not disturb each other. Messages are
 * sent and received by write() and read() that block, as most programs do. That
 * measures the same on a machine with one processor.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "parse.h"
#include "samples.h"
#include "tool.h"

#define BENCH_REQUEST_SIZE	32
#define BENCH_COUNT_MAX		100000000U

/**
 * enum bench_mode - what is measured
 * @BENCH_ECHO: every message comes back
 * @BENCH_SINK: messages go one way; see &bench_request.batch
 * @BENCH_ACCEPT: channels are opened, carry a byte each way and are closed
 */
enum bench_mode {
	BENCH_ECHO = 1,
	BENCH_SINK = 2,
	BENCH_ACCEPT = 3,
};

/**
 * struct bench_request - what the client asks of the server
 * @mode: &enum bench_mode
 * @size: bytes of a message, 1 or more
 * @count: number of messages or channels
 * @batch: BENCH_SINK: a byte comes back after every so many messages, and after the
 *	last; 0: after the last only
 */
struct bench_request {
	uint32_t mode;
	uint32_t size;
	uint32_t count;
	uint32_t batch;
};

void bench_request_encode(const struct bench_request *request, uint8_t data[BENCH_REQUEST_SIZE]);
bool bench_request_decode(struct bench_request *request, const void *data, size_t length);

/* bench_server.c: serves for ever, at @local or at all addresses; returns &enum tool_exit. */
int bench_serve(uint32_t service, const struct rdmachan_addr *local);

/**
 * struct bench - the client's side
 * @ctx: context
 * @chan: channel that requests go over
 * @target: whom
 * @options: of connections
 * @buffer: as large as the largest message
 */
struct bench {
	int ctx;
	int chan;
	struct target target;
	struct rdmachan_options options;
	uint8_t *buffer;
};

/* bench_client.c: each measures one thing; they return &enum tool_exit. */
int bench_open(struct bench *bench, uint32_t largest);
void bench_close(struct bench *bench);
/* Round trips of messages of @size bytes. */
int bench_echo(struct bench *bench, uint32_t size, uint32_t count, struct samples *samples);
/* Nanoseconds for @count messages, at most @window of them on their way (0: any). */
int bench_sink(struct bench *bench, uint32_t size, uint32_t count, uint32_t window,
	       uint64_t *ns);
/* Open, one byte there and back, close. */
int bench_accept(struct bench *bench, uint32_t count, struct samples *samples);

#endif /* BENCH_H */
