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
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#define ENTRIES		1024
#define MESSAGE_MAX	65536

struct client {
	int chan;
	int sending;
	char buffer[MESSAGE_MAX];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* There is always an entry: each operation has one, and submitting frees them all. */
static struct rdmachan_sqe *entry(struct rdmachan_queue *queue)
{
	struct rdmachan_sqe *sqe = rdmachan_queue_get_sqe(queue);

	if (!sqe && rdmachan_queue_submit(queue) >= 0)
		sqe = rdmachan_queue_get_sqe(queue);
	if (!sqe)
		die("no entry left");
	return sqe;
}

static void want_client(struct rdmachan_queue *queue, int listener)
{
	rdmachan_queue_prep_accept(entry(queue), listener, RDMACHAN_FD_F_CLOEXEC);
}

static void want_message(struct rdmachan_queue *queue, struct client *client)
{
	struct rdmachan_sqe *sqe = entry(queue);

	rdmachan_queue_prep_recv(sqe, client->chan, client->buffer, MESSAGE_MAX);
	sqe->user_data = (uintptr_t)client;
	client->sending = 0;
}

static void send_back(struct rdmachan_queue *queue, struct client *client,
		      const struct rdmachan_cqe *cqe)
{
	struct rdmachan_sqe *sqe = entry(queue);

	rdmachan_queue_prep_send(sqe, client->chan, client->buffer, cqe->res, cqe->msg_flags);
	sqe->user_data = (uintptr_t)client;
	client->sending = 1;
}

static void accepted(struct rdmachan_queue *queue, const struct rdmachan_cqe *cqe)
{
	struct client *client;

	if (cqe->res < 0) {
		fprintf(stderr, "cannot accept: %s\n", strerror(-cqe->res));
		return;
	}
	client = malloc(sizeof(*client));
	if (!client) {
		close(cqe->res);
		return;
	}
	client->chan = cqe->res;
	want_message(queue, client);
}

static void moved(struct rdmachan_queue *queue, struct client *client,
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
	if (cqe->res < 0 && !rdmachan_query(client->chan, NULL, &err)) {
		fprintf(stderr, "channel %d: %s\n", client->chan, strerror(-cqe->res));
		rdmachan_explain(&err, text, sizeof(text));
		fputs(text, stderr);
	}
	close(client->chan);
	free(client);
}

static void serve(struct rdmachan_queue *queue, int listener)
{
	struct rdmachan_cqe *cqe, seen;
	int ret;

	want_client(queue, listener);
	for (;;) {
		if (rdmachan_queue_submit_and_wait(queue, 1, 0) < 0 && errno != EINTR)
			die("cannot wait");
		while ((ret = rdmachan_queue_peek_cqe(queue, &cqe)) > 0) {
			seen = *cqe;
			rdmachan_queue_cqe_seen(queue);
			if (seen.user_data) {
				moved(queue, (struct client *)(uintptr_t)seen.user_data, &seen);
				continue;
			}
			accepted(queue, &seen);
			want_client(queue, listener);
		}
		if (ret < 0)
			die("cannot look for completions");
	}
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	char text[RDMACHAN_EXPLAIN_MAX];
	struct rdmachan_queue *queue;
	struct rdmachan_error err;
	int ctx, listener;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	ctx = rdmachan_open();
	if (ctx < 0)
		die(RDMACHAN_DEVICE_PATH);
	listener = rdmachan_listen(ctx, service, NULL, &err);
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
