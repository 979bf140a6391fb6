// SPDX-License-Identifier: MIT
/*
 * sequencer.c - numbers for many programs, each given once, by atomic operations
 *
 *	cc sequencer.c -o sequencer $(pkg-config --cflags --libs librdmachan)
 *	./sequencer 5023			and at the other ends
 *	./sequencer db1 5023 10
 *
 * The server lends 8 bytes to whoever connects, and then only waits for them to go. A
 * client takes numbers by FETCH_ADD; no two clients ever get the same one.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <librdmachan.h>

#define CLIENTS	64

static void die(const char *what, const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX];

	rdmachan_explain(err, text, sizeof(text));
	fprintf(stderr, "%s\n%s", what, text);
	exit(1);
}

/* A client, to whom the counter is lent; or -1. */
static int admit(int ctx, int listener, uint32_t region)
{
	struct rdmachan_grant_range range = {
		.region = region,
		.length = sizeof(uint64_t),
		.rights = RDMACHAN_RIGHT_ATOMIC,
	};
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	int chan;

	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	chan = rdmachan_accept(listener, &options, NULL, NULL, NULL);
	if (chan < 0 || !rdmachan_grant_lend(chan, ctx, &range, NULL))
		return chan;
	perror("cannot lend");
	close(chan);
	return -1;
}

/* A client has something to tell: -1 if that is its end. */
static int leave(int chan)
{
	struct rdmachan_grant_event event;
	struct rdmachan_events events;
	int ret;

	ret = rdmachan_recv_events(chan, &event, sizeof(event), NULL, &events, NULL);
	return ret > 0 || (ret < 0 && errno == EAGAIN) ? 0 : -1;
}

static void serve(int ctx, int listener, uint32_t region)
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
			} else if (fds[i].fd >= 0 && fds[i].revents && leave(fds[i].fd) < 0) {
				close(fds[i].fd);
				fds[i].fd = -1;
			}
			room += fds[i].fd < 0;
		}
		/* One more client waits: it is not looked at until there is a place for it. */
		fds[0].fd = room ? listener : -1;
	}
}

static int take(int chan, unsigned long count)
{
	struct rdmachan_error err = { 0 };
	struct rdmachan_grant_event event;
	struct rdmachan_events events;
	uint64_t number;
	int ret;

	ret = rdmachan_recv_events(chan, &event, sizeof(event), NULL, &events, &err);
	if (ret < 0)
		die("cannot receive", &err);
	if (!ret || !events.count || event.what != RDMACHAN_GRANT_GIVEN) {
		fputs("the peer is not sequencer\n", stderr);
		return 1;
	}
	while (count--) {
		if (rdmachan_grant_fetch_add(chan, event.grant, 0, 1, &number, &err) < 0)
			die("cannot take a number", &err);
		printf("%" PRIu64 "\n", number);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_error err = { 0 };
	static uint64_t counter;
	uint32_t region;
	int ctx, fd, ret;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "Usage: %s SERVICE\n       %s HOST SERVICE COUNT\n", argv[0],
			argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0)
		die("cannot begin", &err);
	if (argc == 4) {
		fd = rdmachan_connect_host(ctx, argv[1], strtoul(argv[2], NULL, 10), NULL, &err);
		if (fd < 0)
			die("cannot connect", &err);
		ret = take(fd, strtoul(argv[3], NULL, 10));
		if (fflush(stdout) || ferror(stdout)) {
			perror("cannot write");
			return 1;
		}
		return ret;
	}
	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	fd = rdmachan_listen(ctx, strtoul(argv[1], NULL, 10), &options, &err);
	if (fd < 0 ||
	    rdmachan_region_register(ctx, &counter, sizeof(counter), 0, &region, &err) < 0)
		die("cannot serve", &err);
	serve(ctx, fd, region);
	return 1;
}
