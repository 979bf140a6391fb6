// SPDX-License-Identifier: MIT
/*
 * file_client.c - writes files of a server to its output, one after the other
 *
 *	cc file_client.c -o file_client $(pkg-config --cflags --libs librdmachan)
 *	./file_client db1 5002 first second >both
 *
 * The other end is file_server.c. All files are asked for in one call. Messages are received
 * into a region with places for two: while one is written out, the next one arrives in the
 * other.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <librdmachan.h>

#include "file.h"

/* Two RECVs, and a SEND for each file. */
#define ENTRIES		128

/* User data; a received message has none. */
#define ASKED		1

static struct rdmachan_queue *queue;
static char *places;
static uint32_t region;
static uint64_t received;
static int chan;

static void die(const char *what, const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX] = "";

	if (err)
		rdmachan_explain(err, text, sizeof(text));
	fprintf(stderr, "%s: %s\n%s", what, strerror(errno), text);
	exit(1);
}

/* The channel has failed, or the server has ended it. */
static void die_of(const struct rdmachan_cqe *cqe)
{
	struct rdmachan_error err = { 0 };

	if (cqe->res >= 0) {
		fputs("the server has ended the channel\n", stderr);
		exit(1);
	}
	rdmachan_query(chan, NULL, &err, NULL);
	errno = -cqe->res;
	die("the server is lost", err.error ? &err : NULL);
}

static void nonsense(void)
{
	fputs("the server does not understand this protocol\n", stderr);
	exit(1);
}

/* Message number @number goes to one of the two places. */
static char *place(uint64_t number)
{
	return places + number % 2 * FILE_PART_MAX;
}

static void want_message(uint64_t number)
{
	rdmachan_queue_prep_recv_region(rdmachan_queue_get_sqe(queue), chan, region,
					place(number) - places, FILE_PART_MAX);
}

static void submit(void)
{
	if (rdmachan_queue_submit(queue, NULL) < 0)
		die("cannot submit", NULL);
}

/* Wait for the next message, and tell where it is. Asking has completions only if it fails. */
static char *next_message(struct rdmachan_cqe *cqe)
{
	struct rdmachan_cqe *first;

	while (rdmachan_queue_wait_cqe(queue, &first, 0, NULL) < 0) {
		if (errno != EINTR)
			die("cannot wait", NULL);
	}
	*cqe = *first;
	rdmachan_queue_cqe_seen(queue);
	if (cqe->res < 0 || (cqe->flags & RDMACHAN_CQE_F_EOF) ||
	    rdmachan_cqe_get_data64(cqe) == ASKED)
		die_of(cqe);
	return place(received);
}

/* Its place is free for the one after the next. */
static void done_with_message(void)
{
	want_message(received++);
	submit();
}

static void ask(char **names, int count)
{
	struct rdmachan_sqe *sqe;

	for (; count; count--, names++) {
		sqe = rdmachan_queue_get_sqe(queue);
		rdmachan_queue_prep_send(sqe, chan, *names, strlen(*names), 0);
		sqe->flags |= RDMACHAN_SQE_F_SKIP_SUCCESS;
		rdmachan_sqe_set_data64(sqe, ASKED);
	}
}

static void write_out(const char *bytes, size_t length)
{
	ssize_t done;

	for (; length; bytes += done, length -= done) {
		done = write(1, bytes, length);
		if (done < 0)
			die("cannot write", NULL);
	}
}

static void fetch_parts(uint64_t size)
{
	struct rdmachan_cqe cqe;
	const char *part;

	for (; size; size -= cqe.res) {
		part = next_message(&cqe);
		if (cqe.msg_flags != FILE_PART || !cqe.res || (uint64_t)cqe.res > size)
			nonsense();
		write_out(part, cqe.res);
		done_with_message();
	}
}

/* Returns -1 when the server has none. */
static int fetch(const char *name)
{
	struct rdmachan_cqe cqe;
	const char *answer = next_message(&cqe);
	uint64_t size = 0;
	int i;

	if (cqe.msg_flags == FILE_ERROR && cqe.res <= FILE_ERROR_MAX) {
		fprintf(stderr, "%s: %.*s\n", name, (int)cqe.res, answer);
		done_with_message();
		return -1;
	}
	if (cqe.msg_flags != FILE_BEGINS || cqe.res != 8)
		nonsense();
	for (i = 0; i < 8; i++)
		size = size << 8 | (unsigned char)answer[i];
	done_with_message();
	fetch_parts(size);
	return 0;
}

static void make_region(int ctx)
{
	struct rdmachan_error err = { 0 };

	places = mmap(NULL, 2 * FILE_PART_MAX, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		die("no memory", NULL);
	if (rdmachan_region_register(ctx, places, 2 * FILE_PART_MAX, 0, &region, &err) < 0)
		die("cannot make a region", &err);
}

int main(int argc, char **argv)
{
	struct rdmachan_error err = { 0 };
	int ctx, i, ret = 0;

	if (argc < 4 || argc > 3 + FILE_ASKED_MAX) {
		fprintf(stderr, "Usage: %s HOST SERVICE FILE...    (at most %d)\n", argv[0],
			FILE_ASKED_MAX);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0)
		die("cannot begin", &err);
	make_region(ctx);
	queue = rdmachan_queue_open(ctx, ENTRIES, ENTRIES, &err);
	if (!queue)
		die("cannot make a queue", &err);
	chan = rdmachan_connect_host(ctx, argv[1], strtoul(argv[2], NULL, 10), NULL, &err);
	if (chan < 0)
		die("cannot connect", &err);
	want_message(0);
	want_message(1);
	ask(argv + 3, argc - 3);
	submit();
	for (i = 3; i < argc; i++)
		ret |= fetch(argv[i]);
	return ret ? 1 : 0;
}
