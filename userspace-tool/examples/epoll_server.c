// SPDX-License-Identifier: MIT
/*
 * epoll_server.c - many channels in one thread: messages are sent back in capitals
 *
 *	cc epoll_server.c -o epoll_server $(pkg-config --cflags --libs librdmachan)
 *	./epoll_server 5002
 *
 * Channels do not block. One whose peer does not read its answers keeps the answer
 * here and is not read from until there is room again; the others go on.
 *
 * If no file descriptor is left, the listener stays readable. It is not looked at then until
 * a client leaves, or for a while.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <librdmachan.h>

#define MESSAGE_MAX	65536
#define RETRY_MS	1000

struct client {
	int chan;
	int answering;		/* message[] waits for room */
	size_t length;
	char message[MESSAGE_MAX];
};

static void watch(int epoll, int op, int fd, unsigned int events, void *data)
{
	struct epoll_event event = { .events = events, .data.ptr = data };

	if (epoll_ctl(epoll, op, fd, &event) < 0)
		perror("epoll_ctl");
}

static void client_add(int epoll, int chan)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		close(chan);
		return;
	}
	client->chan = chan;
	watch(epoll, EPOLL_CTL_ADD, chan, EPOLLIN, client);
}

/* Returns whether there may be more, later. */
static int accept_all(int epoll, int listener)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	int chan;

	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	while ((chan = rdmachan_accept(listener, &options, NULL, NULL, NULL)) >= 0)
		client_add(epoll, chan);
	if (errno == EAGAIN)
		return 1;
	perror("cannot accept");
	watch(epoll, EPOLL_CTL_MOD, listener, 0, NULL);
	return 0;
}

/* Receive the next message; 0 when there is none yet, -1 when there will be none. */
static int take(struct client *client)
{
	size_t i;
	int ret;

	ret = rdmachan_recv(client->chan, client->message, MESSAGE_MAX, &client->length, NULL);
	if (ret < 0 && errno == EAGAIN)
		return 0;
	if (ret <= 0)
		return -1;
	for (i = 0; i < client->length; i++)
		client->message[i] = toupper((unsigned char)client->message[i]);
	return 1;
}

/* Take and answer until there is nothing to take or no room; -1 at the end. */
static int client_turn(int epoll, struct client *client)
{
	int was = client->answering;
	int ret = 1;

	while (client->answering || (ret = take(client)) > 0) {
		client->answering = 1;
		if (rdmachan_send(client->chan, client->message, client->length, NULL) < 0)
			break;
		client->answering = 0;
	}
	if (ret < 0 || (client->answering && errno != EAGAIN))
		return -1;
	if (client->answering != was)
		watch(epoll, EPOLL_CTL_MOD, client->chan,
		      client->answering ? EPOLLOUT : EPOLLIN, client);
	return 0;
}

static void serve(int epoll, int listener)
{
	int accepting = 1, left, count, i;
	struct epoll_event events[64];
	struct client *client;

	while ((count = epoll_wait(epoll, events, 64, accepting ? -1 : RETRY_MS)) >= 0 ||
	       errno == EINTR) {
		left = !count;
		for (i = 0; i < count; i++) {
			client = events[i].data.ptr;
			if (!client) {
				accepting = accept_all(epoll, listener);
			} else if (client_turn(epoll, client) < 0) {
				close(client->chan);
				free(client);
				left = 1;
			}
		}
		if (left && !accepting) {
			watch(epoll, EPOLL_CTL_MOD, listener, EPOLLIN, NULL);
			accepting = 1;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	char text[RDMACHAN_EXPLAIN_MAX];
	struct rdmachan_error err;
	int ctx, listener, epoll;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0) {
		perror("epoll");
		return 1;
	}
	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	options.tuning.message_max = MESSAGE_MAX;
	listener = ctx < 0 ? -1 : rdmachan_listen(ctx, service, &options, &err);
	if (listener < 0) {
		rdmachan_explain(&err, text, sizeof(text));
		fputs(text, stderr);
		return 1;
	}
	watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
	serve(epoll, listener);
	return 1;
}
