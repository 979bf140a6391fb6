// SPDX-License-Identifier: MIT
/*
 * echo_server.c - the smallest server: one channel at a time, messages sent back
 *
 *	cc echo_server.c -o echo_server $(pkg-config --cflags --libs librdmachan)
 *	./echo_server 5000
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <librdmachan.h>

static void die(const char *what, const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX];

	rdmachan_explain(err, text, sizeof(text));
	fprintf(stderr, "%s\n%s", what, text);
	exit(1);
}

/* Until the peer ends, or is lost: that is told, and the next one served. */
static void serve(int chan)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct rdmachan_error err = { 0 };
	char text[RDMACHAN_EXPLAIN_MAX];
	void *message = NULL;
	size_t size = 0;
	int ret;

	while ((ret = rdmachan_recv_grow(chan, &message, &size, &transfer, &err)) > 0) {
		ret = rdmachan_send(chan, message, transfer.length, &err);
		if (ret < 0)
			break;
	}
	if (ret < 0) {
		rdmachan_explain(&err, text, sizeof(text));
		fputs(text, stderr);
	}
	free(message);
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	char name[RDMACHAN_ADDR_MAX];
	struct rdmachan_error err;
	struct rdmachan_addr peer;
	int ctx, listener, chan;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0)
		die("cannot begin", &err);
	listener = rdmachan_listen(ctx, service, NULL, &err);
	if (listener < 0)
		die("cannot listen", &err);
	while ((chan = rdmachan_accept(listener, NULL, &peer, NULL, NULL)) >= 0) {
		printf("serving %s\n", rdmachan_addr_text(&peer, name, sizeof(name)));
		serve(chan);
		close(chan);
	}
	perror("cannot accept");
	return 1;
}
