/* SPDX-License-Identifier: MIT */
/*
 * hold.h - the holder's side of memory that is lent
 */
#ifndef HOLD_H
#define HOLD_H

#include "parse.h"
#include "tool.h"

/* Bytes that are moved in one call. */
#define HOLD_CHUNK	(64U << 20)

/**
 * struct holding - memory that a peer lends
 * @listen: service to listen for, 0 to connect to @target
 * @target: whom to connect to
 * @options: how
 * @wait_ms: how long to wait until it is lent
 * @offset: where to begin
 * @verbose: tell what is held
 * @writes: the command changes what is lent
 * @chan: channel to the owner
 * @grant: the event that has told of it
 */
struct holding {
	uint32_t listen;
	struct target target;
	struct rdmachan_options options;
	uint32_t wait_ms;
	uint64_t offset;
	bool verbose;
	bool writes;
	int chan;
	struct rdmachan_grant_event grant;
};

#define HOLDING_INIT	{ .options = RDMACHAN_OPTIONS_INIT, .wait_ms = 10000 }

/* Options of all commands that hold, as those of parse_connect(). */
#define HOLD_SHORT	"O:l:W:v" PARSE_CONNECT_SHORT
#define HOLD_LONG \
	{ "offset", required_argument, NULL, 'O' }, \
	{ "listen", required_argument, NULL, 'l' }, \
	{ "wait", required_argument, NULL, 'W' }, \
	{ "verbose", no_argument, NULL, 'v' }, \
	PARSE_CONNECT_LONG
#define HOLD_HELP \
	"  -O, --offset N       where to begin in what is lent, 0 unless given (k, m, g)\n" \
	"  -l, --listen N       listen for service N, instead of connecting to HOST\n" \
	"  -W, --wait SEC       how long to wait until something is lent, and until the owner\n" \
	"                       has back what was written (10; 0: for ever)\n" \
	"  -v, --verbose        tell on standard error what was lent\n" \
	"  -t, --timeout SEC    give up connecting after SEC seconds\n" \
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n" \
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n" \
	"  -b, --bind ADDR      connect from, or listen at, the local address ADDR alone\n"

bool hold_option(int option, const char *value, struct holding *holding);
/* @argument is HOST[:SERVICE], NULL when there was none: whether that goes together. */
bool hold_target(struct holding *holding, const char *argument);
/* The functions from here on return &enum tool_exit. */
int hold_begin(struct holding *holding);
/* An access has failed: tells of errno and @err */
int hold_failed(const struct holding *holding, const struct rdmachan_error *err);
/* The same of an operation that is to be atomic. */
int hold_atomic_failed(const struct holding *holding, const struct rdmachan_error *err);
/*
 * Gives it back, if it has not ended, and waits for the owner when @holding->writes. After a
 * failure it resets the channel instead. @status is that of the command, and returned unless this
 * fails.
 */
int hold_end(struct holding *holding, int status);

#endif /* HOLD_H */
