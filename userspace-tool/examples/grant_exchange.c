// SPDX-License-Identifier: MIT
/*
 * grant_exchange.c - two peers exchange texts by RDMA, as T. Bedeir's "RDMA Read and Write
 * with IB Verbs" (2010) does with verbs
 *
 *	cc grant_exchange.c -o grant_exchange $(pkg-config --cflags --libs librdmachan)
 *	./grant_exchange read 5020		and at the other end
 *	./grant_exchange read db1 5020
 *
 * Each lends a buffer of 1 KiB to the other: its text, which the other reads, or one that
 * the other writes its text to. Giving the buffer back says "done": a peer that has given
 * back what it held, and has got back what is its own, disconnects.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#define TEXT_SIZE	1024

static int tell(const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX];

	rdmachan_explain(err, text, sizeof(text));
	fputs(text, stderr);
	return -1;
}

/* Receive an event: neither peer sends anything else. */
static int await(int chan, enum rdmachan_grant_what what, struct rdmachan_grant_event *event)
{
	struct rdmachan_events events;
	struct rdmachan_error err;
	int ret;

	ret = rdmachan_recv_events(chan, event, sizeof(*event), NULL, &events, &err);
	if (ret < 0)
		return tell(&err);
	if (!ret || !events.count || event->what != what || event->length != TEXT_SIZE) {
		fputs("the peer is not grant_exchange\n", stderr);
		return -1;
	}
	return 0;
}

/* Lend @memory to the peer. */
static int lend(int ctx, int chan, void *memory, uint32_t rights)
{
	struct rdmachan_grant_range range = { .length = TEXT_SIZE, .rights = rights };
	struct rdmachan_error err;

	if (rdmachan_region_register(ctx, memory, TEXT_SIZE, 0, &range.region, &err) < 0)
		return tell(&err);
	return rdmachan_grant_lend(chan, ctx, &range, &err) < 0 ? tell(&err) : 0;
}

static int exchange(int ctx, int chan, int reading, const char *side)
{
	static char own[TEXT_SIZE], theirs[TEXT_SIZE];
	struct rdmachan_grant_event event;
	struct rdmachan_error err;
	int ret;

	snprintf(own, sizeof(own), "message from the %s side, process %d", side, (int)getpid());
	if (reading)
		ret = lend(ctx, chan, own, RDMACHAN_RIGHT_READ);
	else
		ret = lend(ctx, chan, theirs, RDMACHAN_RIGHT_WRITE);
	if (ret < 0 || await(chan, RDMACHAN_GRANT_GIVEN, &event) < 0)
		return -1;
	if (reading)
		ret = rdmachan_grant_read(chan, event.grant, 0, theirs, TEXT_SIZE, &err);
	else
		ret = rdmachan_grant_write(chan, event.grant, 0, own, TEXT_SIZE, &err);
	if (ret < 0)
		return tell(&err);
	if (rdmachan_grant_release(chan, event.grant, NULL) < 0) {
		perror("release");
		return -1;
	}
	if (await(chan, RDMACHAN_GRANT_RETURNED, &event) < 0)
		return -1;
	printf("%.*s\n", TEXT_SIZE, theirs);
	return 0;
}

/* The first channel that comes. */
static int accept_one(int ctx, uint32_t service, struct rdmachan_error *err)
{
	int listener, chan;

	listener = rdmachan_listen(ctx, service, NULL, err);
	if (listener < 0)
		return -1;
	chan = rdmachan_accept(listener, NULL, NULL, NULL, NULL);
	/* This call has no record to tell why it failed. */
	if (chan < 0)
		err->error = errno;
	close(listener);
	return chan;
}

int main(int argc, char **argv)
{
	struct rdmachan_error err = { 0 };
	uint32_t service;
	int ctx, chan, ret;

	if (argc < 3 || argc > 4 || (strcmp(argv[1], "read") && strcmp(argv[1], "write"))) {
		fprintf(stderr, "Usage: %s read|write [HOST] SERVICE\n", argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0) {
		tell(&err);
		return 1;
	}
	service = strtoul(argv[argc - 1], NULL, 10);
	chan = argc == 3 ? accept_one(ctx, service, &err) :
	       rdmachan_connect_host(ctx, argv[2], service, NULL, &err);
	if (chan < 0) {
		tell(&err);
		return 1;
	}
	ret = exchange(ctx, chan, !strcmp(argv[1], "read"), argc == 3 ? "passive" : "active");
	if (fflush(stdout)) {
		perror("cannot write");
		return 1;
	}
	return ret < 0;
}
