// SPDX-License-Identifier: MIT
/*
 * grant_copy.c - a client writes a text into the server's memory and reads it back; both
 * ends check it, as in A. Trivedi's "An Introduction to RDMA Networking"
 *
 *	cc grant_copy.c -o grant_copy $(pkg-config --cflags --libs librdmachan)
 *	./grant_copy 5021			and at the other end
 *	./grant_copy db1 5021 "some text"
 *
 * 1. The client lends its text, to be read. So the server learns how long it is,
 * 2. and lends a buffer of that size, to be written and read.
 * 3. The client writes the text there, reads it back into another buffer, compares the
 *    two, and gives the server's buffer back.
 * 4. Now the server reads the client's text, compares it with what its buffer has, and
 *    gives the text back. The client disconnects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#define TEXT_MAX	65536

static void die(const char *what, const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX];

	rdmachan_explain(err, text, sizeof(text));
	fprintf(stderr, "%s: %s", what, text);
	exit(1);
}

static void lend(int ctx, int chan, void *memory, size_t length, uint32_t rights)
{
	struct rdmachan_grant_range range = { .length = length, .rights = rights };
	struct rdmachan_error err;

	if (rdmachan_region_register(ctx, memory, length, 0, &range.region, &err) < 0)
		die("cannot register", &err);
	if (rdmachan_grant_lend(chan, ctx, &range, &err) < 0)
		die("cannot lend", &err);
}

/* Receive an event: neither end sends anything else. */
static void await(int chan, enum rdmachan_grant_what what, struct rdmachan_grant_event *event)
{
	struct rdmachan_error err = { 0 };
	struct rdmachan_events events;
	int ret;

	ret = rdmachan_recv_events(chan, event, sizeof(*event), NULL, &events, &err);
	if (ret < 0)
		die("cannot receive", &err);
	if (!ret || !events.count || event->what != what || event->length > TEXT_MAX) {
		fputs("the peer is not grant_copy\n", stderr);
		exit(1);
	}
}

/* Read what is lent, compare it with @text, and give it back. */
static int check(int chan, const struct rdmachan_grant_event *grant, const char *text)
{
	static char other[TEXT_MAX];
	struct rdmachan_error err;
	int same;

	if (rdmachan_grant_read(chan, grant->grant, 0, other, grant->length, &err) < 0)
		die("cannot read", &err);
	same = !memcmp(text, other, grant->length);
	printf("%s: %.*s\n", same ? "the same" : "NOT the same", (int)grant->length, other);
	if (rdmachan_grant_release(chan, grant->grant, NULL) < 0)
		perror("cannot give it back");
	return !same;
}

static int client(int ctx, int chan, char *text)
{
	struct rdmachan_grant_event grant, back;
	size_t length = strlen(text);
	struct rdmachan_error err;
	int status;

	lend(ctx, chan, text, length, RDMACHAN_RIGHT_READ);
	await(chan, RDMACHAN_GRANT_GIVEN, &grant);
	if (grant.length != length) {
		fputs("the server has lent a buffer of another size\n", stderr);
		return 1;
	}
	if (rdmachan_grant_write(chan, grant.grant, 0, text, length, &err) < 0)
		die("cannot write", &err);
	status = check(chan, &grant, text);
	await(chan, RDMACHAN_GRANT_RETURNED, &back);
	return status;
}

static int server(int ctx, int chan)
{
	struct rdmachan_grant_event grant, back;
	static char buffer[TEXT_MAX];

	await(chan, RDMACHAN_GRANT_GIVEN, &grant);
	lend(ctx, chan, buffer, grant.length, RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE);
	await(chan, RDMACHAN_GRANT_RETURNED, &back);
	return check(chan, &grant, buffer);
}

int main(int argc, char **argv)
{
	struct rdmachan_error err = { 0 };
	int ctx, fd, chan, ret;

	if ((argc != 2 && argc != 4) || (argc == 4 && strlen(argv[3]) > TEXT_MAX)) {
		fprintf(stderr, "Usage: %s SERVICE\n       %s HOST SERVICE TEXT\n", argv[0],
			argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0)
		die("cannot begin", &err);
	if (argc == 4)
		fd = rdmachan_connect_host(ctx, argv[1], strtoul(argv[2], NULL, 10), NULL, &err);
	else
		fd = rdmachan_listen(ctx, strtoul(argv[1], NULL, 10), NULL, &err);
	if (fd < 0)
		die(argc == 4 ? "cannot connect" : "cannot listen", &err);
	chan = argc == 4 ? fd : rdmachan_accept(fd, NULL, NULL, NULL, NULL);
	if (chan < 0) {
		perror("cannot accept");
		return 1;
	}
	ret = argc == 4 ? client(ctx, fd, argv[3]) : server(ctx, chan);
	if (fflush(stdout)) {
		perror("cannot write");
		return 1;
	}
	return ret;
}
