// SPDX-License-Identifier: MIT
/*
 * queue_server.c - a server of many channels with one queue: messages sent back
 *
 *	cc queue_server.c -o queue_server $(pkg-config --cflags --libs librdmachan)
 *	./queue_server 5000
 *
 * Each channel has one operation under way at a time, which is what its user data points
 * to: receiving a message, or sending it back. All that completions have led to is handed
 * over in one call, the same that waits for further ones.
 *
 * At most ENTRIES operations can be under way. If all of them wait for messages, none is left
 * to send with: so there are only as many clients as have one each, besides ACCEPT.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#define ENTRIES		1024
#define CLIENTS_MAX	(ENTRIES - 1)
/* No more than the smallest send buffer: a larger one would not be sent by a queue. */
#define MESSAGE_MAX	RDMACHAN_BUFFER_MIN
#define RETRY_MS	1000

struct client {
	int chan;
	int sending;
	char buffer[MESSAGE_MAX];
};

static unsigned int clients;
static int accepting;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* With so few clients the ring has an entry for each operation, once it was submitted. */
static struct rdmachan_sqe *entry(struct rdmachan_queue *queue)
{
	struct rdmachan_sqe *sqe = rdmachan_queue_get_sqe(queue);

	if (!sqe && rdmachan_queue_submit(queue, NULL) >= 0)
		sqe = rdmachan_queue_get_sqe(queue);
	if (!sqe)
		die("no entry left");
	return sqe;
}

/* Called when the last one was accepted, when one has left, and after a while. */
static void want_client(struct rdmachan_queue *queue, int listener)
{
	if (accepting || clients == CLIENTS_MAX)
		return;
	rdmachan_queue_prep_accept(entry(queue), listener, RDMACHAN_FD_F_CLOEXEC);
	accepting = 1;
}

static void want_message(struct rdmachan_queue *queue, struct client *client)
{
	struct rdmachan_sqe *sqe = entry(queue);

	rdmachan_queue_prep_recv(sqe, client->chan, client->buffer, MESSAGE_MAX);
	rdmachan_sqe_set_data(sqe, client);
	client->sending = 0;
}

static void send_back(struct rdmachan_queue *queue, struct client *client,
		      const struct rdmachan_cqe *cqe)
{
	struct rdmachan_sqe *sqe = entry(queue);

	rdmachan_queue_prep_send(sqe, client->chan, client->buffer, cqe->res, cqe->msg_flags);
	rdmachan_sqe_set_data(sqe, client);
	client->sending = 1;
}

static void add_client(struct rdmachan_queue *queue, int chan)
{
	struct client *client = malloc(sizeof(*client));

	if (!client) {
		close(chan);
		return;
	}
	client->chan = chan;
	clients++;
	want_message(queue, client);
}

static void accepted(struct rdmachan_queue *queue, int listener, const struct rdmachan_cqe *cqe)
{
	accepting = 0;
	if (cqe->res >= 0) {
		add_client(queue, cqe->res);
		want_client(queue, listener);
		return;
	}
	/* Say, there is no file descriptor left: again would be for nothing. The client waits. */
	fprintf(stderr, "cannot accept: %s\n", strerror(-cqe->res));
}

static void moved(struct rdmachan_queue *queue, int listener, struct client *client,
		  const struct rdmachan_cqe *cqe)
{
	struct rdmachan_error err = { 0 };
	char text[RDMACHAN_EXPLAIN_MAX];

	if (cqe->res >= 0 && !(cqe->flags & RDMACHAN_CQE_F_EOF)) {
		if (client->sending)
			want_message(queue, client);
		else
			send_back(queue, client, cqe);
		return;
	}
	if (cqe->res < 0 && !rdmachan_query(client->chan, NULL, &err, NULL)) {
		fprintf(stderr, "channel %d: %s\n", client->chan, strerror(-cqe->res));
		rdmachan_explain(&err, text, sizeof(text));
		fputs(text, stderr);
	}
	close(client->chan);
	free(client);
	clients--;
	want_client(queue, listener);
}

static void submit_and_wait(struct rdmachan_queue *queue, int listener)
{
	int timeout = accepting || clients == CLIENTS_MAX ? 0 : RETRY_MS;

	if (rdmachan_queue_submit_and_wait(queue, 1, timeout, NULL) >= 0 || errno == EINTR)
		return;
	if (errno != ETIMEDOUT)
		die("cannot wait");
	want_client(queue, listener);
}

static void serve(struct rdmachan_queue *queue, int listener)
{
	struct rdmachan_cqe *cqe, seen;
	struct client *client;
	int ret;

	want_client(queue, listener);
	for (;;) {
		submit_and_wait(queue, listener);
		while ((ret = rdmachan_queue_peek_cqe(queue, &cqe, NULL)) > 0) {
			seen = *cqe;
			rdmachan_queue_cqe_seen(queue);
			client = rdmachan_cqe_get_data(&seen);
			if (client)
				moved(queue, listener, client, &seen);
			else
				accepted(queue, listener, &seen);
		}
		if (ret < 0)
			die("cannot look for completions");
	}
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	char text[RDMACHAN_EXPLAIN_MAX];
	struct rdmachan_queue *queue;
	struct rdmachan_error err;
	int ctx, listener;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	/* A client that sends more than this is told so: it gets EMSGSIZE. */
	options.tuning.message_max = MESSAGE_MAX;
	listener = ctx < 0 ? -1 : rdmachan_listen(ctx, service, &options, &err);
	if (listener < 0) {
		rdmachan_explain(&err, text, sizeof(text));
		fprintf(stderr, "cannot listen\n%s", text);
		return 1;
	}
	queue = rdmachan_queue_open(ctx, ENTRIES, ENTRIES, &err);
	if (!queue)
		die("cannot make a queue");
	serve(queue, listener);
	return 0;
}
