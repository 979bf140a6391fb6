/* SPDX-License-Identifier: MIT */
/*
 * lend.h - the owner's side of memory that is lent
 */
#ifndef LEND_H
#define LEND_H

#include "parse.h"
#include "tool.h"

/* Messages of the holder's program are not for us. */
#define LEND_MESSAGE_MAX	4096

/**
 * struct lending - memory, and whom it is lent to
 * @service: service to listen for, 0 to connect to @target
 * @target: whom to connect to
 * @options: how
 * @once: end after one holder
 * @quiet: tell of nothing but failures
 * @revoke_ms: take it back after so long, UINT32_MAX is never
 * @file: file with the bytes, or NULL
 * @output: file that gets the bytes when they are back, or NULL
 * @range: the memory lent, and its rights; its length is that of the memory
 * @memory: the memory
 * @ctx: context
 * @chan: channel to the holder
 * @stopped: the user wants it to end
 * @unsaved: what a holder has written did not go to @output
 * @deaf: nobody can be accepted any more
 * @peer: name of the holder
 */
struct lending {
	uint32_t service;
	struct target target;
	struct rdmachan_options options;
	bool once;
	bool quiet;
	uint32_t revoke_ms;
	const char *file;
	const char *output;
	struct rdmachan_grant_range range;
	void *memory;
	int ctx;
	int chan;
	bool stopped;
	bool unsaved;
	bool deaf;
	char peer[PARSE_HOST_MAX];
};

/* Lends until it is back; returns &enum tool_exit. */
int lend_run(struct lending *lending);

#endif /* LEND_H */
