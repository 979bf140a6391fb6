// SPDX-License-Identifier: MIT
/*
 * file_server.c - a server of files, which are sent from where the kernel keeps them
 *
 *	cc file_server.c -o file_server $(pkg-config --cflags --libs librdmachan)
 *	./file_server 5002 /srv/files
 *
 * The other end is file_client.c. A part of a file is mapped and made a region, and sent from
 * there: if its receiver waits with a region as well, no processor copies a byte of it. Each
 * client has one part under way. Where one more may not be locked in memory (ulimit -l), it
 * is sent by copy, in pieces; so is what is small, because that costs less.
 *
 * Requests of all clients are received into one pool. A name is copied and its buffer given
 * back at once, so that nobody can keep the buffers from the others. If more messages come at
 * once than there are buffers, receiving ends with ENOBUFS; nothing is lost, and it is begun
 * again. Given up is a client that asks for more than FILE_ASKED_MAX files before it takes the
 * first, and one that does not take what it is sent for TIMEOUT_MS.
 *
 * Operations point to their client, and closing a channel does not end them: a client is
 * closed and freed when its RECV and its SEND have completed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <librdmachan.h>

#include "file.h"

#define ENTRIES		1024
/* Each has a RECV, a SEND and a CANCEL under way at most, and then there is one ACCEPT. */
#define CLIENTS_MAX	((ENTRIES - 1) / 3)
#define BUFFERS		16
#define TIMEOUT_MS	30000
#define RETRY_MS	1000
/* A message that is copied must fit the send buffer, and this fits the smallest. */
#define COPY_MAX	RDMACHAN_BUFFER_MIN

struct client;

/* What the user data of an operation points to. */
struct op {
	void (*done)(struct client *client, const struct rdmachan_cqe *cqe);
	struct client *client;
};

struct client {
	int chan;
	struct op receive;	/* requests, one after the other */
	struct op send;		/* answers, one at a time */
	int receiving;
	int sending;
	int lost;		/* it gets no more answers */
	char names[FILE_ASKED_MAX][FILE_NAME_MAX + 1];
	unsigned int first;	/* names that wait: the first, and how many */
	unsigned int count;
	int file;
	uint64_t offset;	/* of what is sent next */
	uint64_t size;
	void *part;		/* the part that is being sent */
	size_t length;
	uint32_t region;
	int registered;
	char answer[FILE_ERROR_MAX];
};

static int ctx, listener, dir;
static struct rdmachan_queue *queue;
static struct rdmachan_pool *pool;
static char buffers[BUFFERS][FILE_NAME_MAX];
static unsigned int clients;
static int accepting;

static void die(const char *what, const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX] = "";

	if (err)
		rdmachan_explain(err, text, sizeof(text));
	fprintf(stderr, "%s: %s\n%s", what, strerror(errno), text);
	exit(1);
}

/*
 * Its user data is set when it is prepared. If the ring is full, submitting makes room: with
 * so few clients there can always be one operation more.
 */
static struct rdmachan_sqe *entry(void)
{
	struct rdmachan_sqe *sqe = rdmachan_queue_get_sqe(queue);

	if (!sqe && rdmachan_queue_submit(queue, NULL) >= 0)
		sqe = rdmachan_queue_get_sqe(queue);
	if (!sqe)
		die("no entry left", NULL);
	return sqe;
}

static void give_buffer(uint32_t number)
{
	if (rdmachan_pool_add(pool, buffers[number], FILE_NAME_MAX, number) < 0)
		die("cannot give a buffer away", NULL);
}

static void want_requests(struct client *client)
{
	struct rdmachan_sqe *sqe = entry();

	rdmachan_queue_prep_recv_pool(sqe, client->chan, pool);
	rdmachan_sqe_set_data(sqe, &client->receive);
	client->receiving = 1;
}

/* Its operations under way end soon; then go_on() closes it. */
static void lose(struct client *client, const char *why)
{
	struct rdmachan_error err = { 0 };
	char text[RDMACHAN_EXPLAIN_MAX] = "";

	if (client->lost)
		return;
	client->lost = 1;
	if (!rdmachan_query(client->chan, NULL, &err, NULL) && err.error)
		rdmachan_explain(&err, text, sizeof(text));
	fprintf(stderr, "channel %d is lost: %s\n%s", client->chan, why, text);
	/* This has a completion of its own, whose user data is NULL. */
	if (client->receiving)
		rdmachan_queue_prep_cancel(entry(), &client->receive, 0);
}

/* Answers */

static void prepared(struct client *client, struct rdmachan_sqe *sqe)
{
	rdmachan_sqe_set_data(sqe, &client->send);
	sqe->timeout_ms = TIMEOUT_MS;
	client->sending = 1;
}

static void send_answer(struct client *client, size_t length, enum file_answer kind)
{
	struct rdmachan_sqe *sqe = entry();

	rdmachan_queue_prep_send(sqe, client->chan, client->answer, length, kind);
	prepared(client, sqe);
}

static void send_begins(struct client *client)
{
	int i;

	for (i = 0; i < 8; i++)
		client->answer[i] = client->size >> (8 * (7 - i));
	send_answer(client, 8, FILE_BEGINS);
}

static void send_error(struct client *client, const char *why)
{
	snprintf(client->answer, FILE_ERROR_MAX, "%s", why);
	send_answer(client, strlen(client->answer), FILE_ERROR);
}

static void close_file(struct client *client)
{
	if (client->file >= 0)
		close(client->file);
	client->file = -1;
}

/* Only of this directory, and no devices. Returns why not, or NULL. */
static const char *open_file(struct client *client, const char *name)
{
	struct stat st;

	if (!*name || strchr(name, '/'))
		return "a name without '/' is needed";
	client->file = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (client->file < 0)
		return strerror(errno);
	if (!fstat(client->file, &st) && S_ISREG(st.st_mode)) {
		client->offset = 0;
		client->size = st.st_size;
		return NULL;
	}
	close_file(client);
	return "not a regular file";
}

/* Whether the part became a region. If not: it is small, or the limit is in the way. */
static int register_part(struct client *client)
{
	client->registered = client->length > COPY_MAX &&
			     !rdmachan_region_register(ctx, client->part, client->length,
						       RDMACHAN_REGION_F_READ_ONLY,
						       &client->region, NULL);
	return client->registered;
}

/* Nothing here reads the mapping: if the file was made shorter, SEND fails with EFAULT. */
static void send_part(struct client *client)
{
	uint64_t left = client->size - client->offset;
	struct rdmachan_sqe *sqe;
	size_t length;

	client->length = left < FILE_PART_MAX ? left : FILE_PART_MAX;
	client->part = mmap(NULL, client->length, PROT_READ, MAP_SHARED, client->file,
			    client->offset);
	if (client->part == MAP_FAILED) {
		client->part = NULL;
		lose(client, strerror(errno));
		return;
	}
	sqe = entry();
	if (register_part(client)) {
		length = client->length;
		rdmachan_queue_prep_send_region(sqe, client->chan, client->region, 0, length,
						FILE_PART);
	} else {
		length = client->length < COPY_MAX ? client->length : COPY_MAX;
		rdmachan_queue_prep_send(sqe, client->chan, client->part, length, FILE_PART);
	}
	client->offset += length;
	prepared(client, sqe);
}

static void drop_part(struct client *client)
{
	/* Nothing uses it any more, so that this cannot fail. */
	if (client->registered && rdmachan_region_unregister(ctx, client->region, NULL) < 0)
		die("a part stays locked in memory", NULL);
	client->registered = 0;
	if (client->part)
		munmap(client->part, client->length);
	client->part = NULL;
}

/* The next part of the file, or the next file. */
static void answer(struct client *client)
{
	const char *why;

	if (client->file >= 0 && client->offset < client->size) {
		send_part(client);
		return;
	}
	close_file(client);
	if (!client->count)
		return;
	why = open_file(client, client->names[client->first]);
	client->first = (client->first + 1) % FILE_ASKED_MAX;
	client->count--;
	if (why)
		send_error(client, why);
	else
		send_begins(client);
}

/* Clients */

static void want_client(void);

static void tell(const struct client *client)
{
	struct rdmachan_object object;

	if (rdmachan_query(client->chan, &object, NULL, NULL) < 0)
		return;
	printf("channel %d: %" PRIu64 " messages, %" PRIu64 " from regions, %" PRIu64
	       " without a copy\n", client->chan, (uint64_t)object.tx_messages,
	       (uint64_t)object.tx_regions, (uint64_t)object.tx_placed);
}

/* Do what is next for it; when there is nothing under way, there will not be anything. */
static void go_on(struct client *client)
{
	if (!client->sending && !client->lost)
		answer(client);
	if (client->sending || client->receiving)
		return;
	tell(client);
	close_file(client);
	close(client->chan);
	free(client);
	clients--;
	want_client();
}

static void asked(struct client *client, const char *name, size_t length)
{
	char *copy;

	if (client->lost)
		return;
	if (client->count == FILE_ASKED_MAX) {
		lose(client, "it asks for too much");
		return;
	}
	copy = client->names[(client->first + client->count++) % FILE_ASKED_MAX];
	memcpy(copy, name, length);
	copy[length] = '\0';
}

static void received(struct client *client, const struct rdmachan_cqe *cqe)
{
	if (!(cqe->flags & RDMACHAN_CQE_F_MORE))
		client->receiving = 0;
	if (cqe->res > 0)
		asked(client, buffers[cqe->buffer], cqe->res);
	else if (cqe->res == -ENOBUFS && !client->lost)
		want_requests(client);
	else if (cqe->res < 0)
		lose(client, strerror(-cqe->res));
	else if (!(cqe->flags & RDMACHAN_CQE_F_EOF))
		lose(client, "it asks for nothing");
	/* With an error there can be one, too. */
	if (cqe->flags & RDMACHAN_CQE_F_BUFFER)
		give_buffer(cqe->buffer);
	go_on(client);
}

static void sent(struct client *client, const struct rdmachan_cqe *cqe)
{
	client->sending = 0;
	drop_part(client);
	if (cqe->res < 0)
		lose(client, strerror(-cqe->res));
	go_on(client);
}

static void add_client(int chan)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		close(chan);
		return;
	}
	client->chan = chan;
	client->receive = (struct op){ received, client };
	client->send = (struct op){ sent, client };
	client->file = -1;
	clients++;
	want_requests(client);
}

static void accepted(struct client *none, const struct rdmachan_cqe *cqe)
{
	(void)none;
	accepting = 0;
	if (cqe->res >= 0) {
		add_client(cqe->res);
		want_client();
		return;
	}
	/* Say, there is no file descriptor left. The client goes on waiting. */
	fprintf(stderr, "cannot accept: %s\n", strerror(-cqe->res));
}

/* Called when the last one was accepted, when one has left, and after a while. */
static void want_client(void)
{
	static struct op accept = { accepted, NULL };
	struct rdmachan_sqe *sqe;

	if (accepting || clients == CLIENTS_MAX)
		return;
	sqe = entry();
	rdmachan_queue_prep_accept(sqe, listener, RDMACHAN_FD_F_CLOEXEC);
	rdmachan_sqe_set_data(sqe, &accept);
	accepting = 1;
}

/* Submit what was prepared, and wait for what completes. */
static void submit_and_wait(void)
{
	int timeout = accepting || clients == CLIENTS_MAX ? 0 : RETRY_MS;

	if (rdmachan_queue_submit_and_wait(queue, 1, timeout, NULL) >= 0 || errno == EINTR)
		return;
	if (errno != ETIMEDOUT)
		die("cannot wait", NULL);
	want_client();
}

/* The place of a completion is free before it is looked at: that may make new ones. */
static int complete_one(void)
{
	struct rdmachan_cqe *cqe, seen;
	struct op *op;
	int ret = rdmachan_queue_peek_cqe(queue, &cqe, NULL);

	if (ret < 0)
		die("cannot look for completions", NULL);
	if (!ret)
		return 0;
	seen = *cqe;
	rdmachan_queue_cqe_seen(queue);
	op = rdmachan_cqe_get_data(&seen);
	if (op)
		op->done(op->client, &seen);
	return 1;
}

/* Messages may come as fast as they are looked at: prepared entries must go out all the same. */
static void serve(void)
{
	int i;

	want_client();
	for (;;) {
		submit_and_wait();
		for (i = 0; i < ENTRIES && complete_one(); i++)
			;
	}
}

static void make_pool(void)
{
	struct rdmachan_error err;
	uint32_t i;

	pool = rdmachan_pool_open(queue, BUFFERS, &err);
	if (!pool)
		die("cannot make a pool", &err);
	for (i = 0; i < BUFFERS; i++)
		give_buffer(i);
}

int main(int argc, char **argv)
{
	unsigned long service = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_error err;

	if (!service || service > RDMACHAN_SERVICE_MAX) {
		fprintf(stderr, "Usage: %s SERVICE DIRECTORY\n", argv[0]);
		return 2;
	}
	dir = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die(argv[2], NULL);
	ctx = rdmachan_open(&err);
	if (ctx < 0)
		die("cannot begin", &err);
	/* So that each message fits a buffer: the sender of a larger one gets EMSGSIZE. */
	options.tuning.message_max = FILE_NAME_MAX;
	listener = rdmachan_listen(ctx, service, &options, &err);
	if (listener < 0)
		die("cannot listen", &err);
	queue = rdmachan_queue_open(ctx, ENTRIES, ENTRIES, &err);
	if (!queue)
		die("cannot make a queue", &err);
	make_pool();
	setlinebuf(stdout);
	serve();
	return 0;
}
