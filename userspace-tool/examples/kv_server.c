// SPDX-License-Identifier: MIT
/*
 * kv_server.c - a table of words that clients read by RDMA, and change by messages
 *
 *	cc kv_server.c -o kv_server $(pkg-config --cflags --libs librdmachan)
 *	./kv_server 5022
 *
 * Each client is lent the whole table, to be read. This program does nothing when a
 * client looks for a word; it is asked by "key=value" to set one, and answers when it has.
 * The other end is kv_client.c.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#include "kv.h"

#define CLIENTS	64

static struct kv_entry table[KV_ENTRIES];

static struct kv_entry *find(const char *key)
{
	struct kv_entry *entry;
	unsigned int turn;

	for (turn = 0; turn < KV_ENTRIES; turn++) {
		entry = &table[kv_place(key, turn)];
		if (!entry->sum || !strcmp(entry->key, key))
			return entry;
	}
	return NULL;
}

static const char *set(char *text)
{
	char *value = strchr(text, '=');
	struct kv_entry *entry;

	if (!value)
		return "say key=value";
	*value++ = '\0';
	if (strlen(text) >= sizeof(entry->key) || strlen(value) >= sizeof(entry->value))
		return "too long";
	entry = find(text);
	if (!entry)
		return "the table is full";
	memcpy(entry->key, text, strlen(text) + 1);
	memcpy(entry->value, value, strlen(value) + 1);
	/* A reader of the new sum finds its data. */
	__atomic_store_n(&entry->sum, kv_sum(entry), __ATOMIC_RELEASE);
	return "ok";
}

/* One message of a client; -1 at the end. */
static int serve(int chan)
{
	uint64_t buffer[64 + 1];
	struct rdmachan_events events;
	const char *answer;
	int ret;

	ret = rdmachan_recv_events(chan, buffer, sizeof(buffer) - sizeof(buffer[0]), NULL,
				   &events, NULL);
	if (ret < 0 && errno == EAGAIN)
		return 0;
	if (ret <= 0)
		return -1;
	/* That the table is back. */
	if (events.count)
		return 0;
	((char *)events.message)[events.length] = '\0';
	answer = set(events.message);
	return rdmachan_send(chan, answer, strlen(answer), NULL);
}

/* A client, to whom the table is lent; or -1. */
static int admit(int ctx, int listener, uint32_t region)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_grant_range range = {
		.region = region,
		.length = sizeof(table),
		.rights = RDMACHAN_RIGHT_READ,
	};
	char text[RDMACHAN_EXPLAIN_MAX];
	struct rdmachan_error err;
	int chan;

	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	chan = rdmachan_accept(listener, &options, NULL, NULL, NULL);
	if (chan < 0 || !rdmachan_grant_lend(chan, ctx, &range, &err))
		return chan;
	rdmachan_explain(&err, text, sizeof(text));
	fputs(text, stderr);
	close(chan);
	return -1;
}

static void run(int ctx, int listener, uint32_t region)
{
	struct pollfd fds[1 + CLIENTS] = { { .fd = listener, .events = POLLIN } };
	int i, room;

	for (i = 1; i <= CLIENTS; i++)
		fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	while (poll(fds, 1 + CLIENTS, -1) >= 0) {
		room = 0;
		for (i = 1; i <= CLIENTS; i++) {
			if (fds[i].fd < 0 && fds[0].revents) {
				fds[i].fd = admit(ctx, listener, region);
				fds[0].revents = 0;
			} else if (fds[i].fd >= 0 && fds[i].revents && serve(fds[i].fd) < 0) {
				close(fds[i].fd);
				fds[i].fd = -1;
			}
			room += fds[i].fd < 0;
		}
		/* One more client waits: it is not looked at until there is a place for it. */
		fds[0].fd = room ? listener : -1;
	}
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	int ctx, listener = -1;
	uint32_t region;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	ctx = rdmachan_open(NULL);
	if (ctx >= 0 && !rdmachan_region_register(ctx, table, sizeof(table), 0, &region, NULL))
		listener = rdmachan_listen(ctx, service, &options, NULL);
	if (listener < 0) {
		perror("cannot serve");
		return 1;
	}
	run(ctx, listener, region);
	return 1;
}
