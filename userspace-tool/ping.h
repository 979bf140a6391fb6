/* SPDX-License-Identifier: MIT */
/*
 * ping.h - messages to an echo server, or questions to a module
 */
#ifndef PING_H
#define PING_H

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
 * @message: the message sent, and behind it what comes back
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

/* Until @ping->count or a signal; returns &enum tool_exit. */
int ping_run(struct ping *ping);

#endif /* PING_H */
