// SPDX-License-Identifier: MIT
/*
 * kv_client.c - looks for words in the table that kv_server.c lends
 *
 *	cc kv_client.c -o kv_client $(pkg-config --cflags --libs librdmachan)
 *	./kv_client db1 5022 set colour=red
 *	./kv_client db1 5022 get colour
 *
 * "get" reads the table by RDMA: the server's program does not run for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdmachan.h>

#include "kv.h"

/* So often an entry may be found while it is being written. */
#define TURNS	1000

static void die(const char *what, const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX];

	rdmachan_explain(err, text, sizeof(text));
	fprintf(stderr, "%s\n%s", what, text);
	exit(1);
}

/* The number of the grant of the table, of which the server's first message tells. */
static uint32_t table_wait(int chan)
{
	struct rdmachan_grant_event event;
	struct rdmachan_error err = { 0 };
	struct rdmachan_events events;
	int ret;

	ret = rdmachan_recv_events(chan, &event, sizeof(event), NULL, &events, &err);
	if (ret < 0)
		die("cannot receive", &err);
	if (!ret || !events.count || event.what != RDMACHAN_GRANT_GIVEN ||
	    event.length != KV_ENTRIES * sizeof(struct kv_entry)) {
		fputs("the peer is not kv_server\n", stderr);
		exit(1);
	}
	return event.grant;
}

/* One entry as it was at one time; a sum that does not fit is that of a change. */
static void entry_read(int chan, uint32_t grant, unsigned int place, struct kv_entry *entry)
{
	struct rdmachan_error err;
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		if (rdmachan_grant_read(chan, grant, place * sizeof(*entry), entry,
					sizeof(*entry), &err) < 0)
			die("cannot read", &err);
		if (!entry->sum || entry->sum == kv_sum(entry))
			return;
	}
	fputs("the entry is being changed all the time\n", stderr);
	exit(1);
}

static int get(int chan, uint32_t grant, const char *key)
{
	struct kv_entry entry;
	unsigned int turn;

	for (turn = 0; turn < KV_ENTRIES; turn++) {
		entry_read(chan, grant, kv_place(key, turn), &entry);
		if (!entry.sum)
			break;
		if (!strncmp(entry.key, key, sizeof(entry.key))) {
			printf("%.*s\n", (int)sizeof(entry.value), entry.value);
			return 0;
		}
	}
	fprintf(stderr, "there is no \"%s\"\n", key);
	return 1;
}

static int set(int chan, const char *text)
{
	struct rdmachan_error err = { 0 };
	char answer[64];
	size_t length;

	if (rdmachan_send(chan, text, strlen(text), &err) < 0)
		die("cannot send", &err);
	if (rdmachan_recv(chan, answer, sizeof(answer), &length, &err) <= 0)
		die("no answer", &err);
	printf("%.*s\n", (int)length, answer);
	return length != 2 || memcmp(answer, "ok", 2);
}

int main(int argc, char **argv)
{
	struct rdmachan_error err;
	uint32_t grant;
	int ctx, chan, ret;

	if (argc != 5 || (strcmp(argv[3], "get") && strcmp(argv[3], "set"))) {
		fprintf(stderr, "Usage: %s HOST SERVICE get KEY\n"
			"       %s HOST SERVICE set KEY=VALUE\n", argv[0], argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0)
		die("cannot begin", &err);
	chan = rdmachan_connect_host(ctx, argv[1], strtoul(argv[2], NULL, 10), NULL, &err);
	if (chan < 0)
		die("cannot connect", &err);
	grant = table_wait(chan);
	ret = strcmp(argv[3], "get") ? set(chan, argv[4]) : get(chan, grant, argv[4]);
	if (fflush(stdout)) {
		perror("cannot write");
		return 1;
	}
	return ret;
}
