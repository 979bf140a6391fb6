// SPDX-License-Identifier: MIT
/*
 * request_server.c - a server of requests and responses: a table of words
 *
 *	cc request_server.c -o request_server $(pkg-config --cflags --libs librdmachan)
 *	./request_server 5001
 *
 * The other end is request_client.c. A process for each channel would not share the
 * table, so channels are served in turn; epoll_server.c shows many at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#include "request.h"

#define ENTRIES	256

static struct {
	char *key;
	char *value;
} entries[ENTRIES];

static int find(const char *key)
{
	int i;

	for (i = 0; i < ENTRIES && entries[i].key; i++) {
		if (!strcmp(entries[i].key, key))
			break;
	}
	return i;
}

static enum response_kind set(char *text)
{
	char *value = strchr(text, '=');
	char *copy;
	int i;

	if (!value)
		return RESPONSE_BAD;
	*value++ = '\0';
	i = find(text);
	if (i == ENTRIES)
		return RESPONSE_BAD;
	/* An entry with a key has a value. */
	copy = strdup(value);
	if (copy && !entries[i].key)
		entries[i].key = strdup(text);
	if (!copy || !entries[i].key) {
		free(copy);
		return RESPONSE_BAD;
	}
	free(entries[i].value);
	entries[i].value = copy;
	return RESPONSE_OK;
}

/* The kind of the response, and its text. */
static enum response_kind respond(unsigned int kind, char *request, const char **response)
{
	int i;

	*response = "";
	if (kind == REQUEST_SET)
		return set(request);
	if (kind != REQUEST_GET)
		return RESPONSE_BAD;
	i = find(request);
	if (i == ENTRIES || !entries[i].key)
		return RESPONSE_UNKNOWN;
	*response = entries[i].value;
	return RESPONSE_OK;
}

static void serve(int chan)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	char request[REQUEST_MAX + 1];
	const char *response;
	struct iovec iov;

	for (;;) {
		iov.iov_base = request;
		iov.iov_len = REQUEST_MAX;
		if (rdmachan_recvv(chan, &iov, 1, &transfer, NULL) <= 0)
			return;
		request[transfer.length] = '\0';
		transfer.msg_flags = respond(transfer.msg_flags, request, &response);
		iov.iov_base = (void *)response;
		iov.iov_len = strlen(response);
		if (rdmachan_sendv(chan, &iov, 1, &transfer, NULL) < 0)
			return;
	}
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	char text[RDMACHAN_EXPLAIN_MAX];
	struct rdmachan_error err;
	int ctx, listener, chan;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	/* A client that sends more than this is told so: it gets EMSGSIZE. */
	options.tuning.message_max = REQUEST_MAX;
	listener = ctx < 0 ? -1 : rdmachan_listen(ctx, service, &options, &err);
	if (listener < 0) {
		rdmachan_explain(&err, text, sizeof(text));
		fputs(text, stderr);
		return 1;
	}
	while ((chan = rdmachan_accept(listener, NULL, NULL, NULL, NULL)) >= 0) {
		serve(chan);
		close(chan);
	}
	perror("cannot accept");
	return 1;
}
