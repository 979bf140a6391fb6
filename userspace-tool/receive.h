/* SPDX-License-Identifier: MIT */
/*
 * receive.h - the receiving side of a file transfer
 */
#ifndef RECEIVE_H
#define RECEIVE_H

#include "progress.h"
#include "tool.h"

/**
 * struct receiving - the receiver
 * @service: service
 * @local: local address to listen at; family 0: all
 * @dir: directory that files are stored in
 * @once: end after one connection
 * @replace: a file may replace one of the same name
 * @quiet: no summaries
 * @mode: the progress of files that arrive
 * @idle_ms: how long a sender may be silent
 * @chan: connection that is being served
 * @stopped: the user wants it to end
 * @status: what becomes of it, &enum tool_exit: the highest of its files
 * @peer: address of the sender
 * @buffer: of FILEMSG_CHUNK bytes
 */
struct receiving {
	uint32_t service;
	struct rdmachan_addr local;
	int dir;
	bool once;
	bool replace;
	bool quiet;
	enum progress_mode mode;
	uint32_t idle_ms;
	int chan;
	bool stopped;
	int status;
	char peer[RDMACHAN_ADDR_MAX];
	uint8_t *buffer;
};

/* Listens and stores what comes; returns &enum tool_exit. */
int receive_run(struct receiving *receiving);

#endif /* RECEIVE_H */
