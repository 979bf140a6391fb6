// SPDX-License-Identifier: MIT
/*
 * filepeer.c - one side of a file transfer that says what it is told to, right or wrong
 *
 *	filepeer HOST SERVICE WORD...	connects, as a sender
 *	filepeer - SERVICE WORD...	listens and accepts one, as a receiver
 *
 * The words are done in turn:
 *  - header=NAME,SIZE[,about]: as a sender begins a file
 *  - data=N: N bytes
 *  - trailer=SIZE, badsum=SIZE: the end, with the sum of what was sent or another one
 *  - abort=VERDICT, verdict=VERDICT: by its number
 *  - raw=TYPE,N: any message
 *  - recv, until=TYPE: receive one, or up to one of that type; tells of the last
 *  - try: receive one if it comes at once
 *  - flood: 1000 bytes, again and again, until nobody takes them
 *  - ended: wait until the other side sends no more
 *  - hold: tells "held" and waits for a line of standard input
 *  - shutdown: send no more
 *
 * Fails when it cannot go on with them.
 */
#include <errno.h>
#include <poll.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#include "filemsg.h"

static char buffer[FILEMSG_CHUNK + 1];
static SHA2_CTX sha;
static int chan;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void say(uint32_t type, const void *data, size_t length)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { (void *)data, length };

	transfer.msg_flags = type;
	if (rdmachan_sendv(chan, &iov, 1, &transfer, NULL))
		die("send");
}

static uint32_t hear(size_t *length)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { buffer, sizeof(buffer) };
	int ret = rdmachan_recvv(chan, &iov, 1, &transfer, NULL);

	if (ret < 0)
		die("receive");
	*length = transfer.length;
	return ret ? transfer.msg_flags : 0;
}

static void tell(uint32_t type, size_t length)
{
	struct filemsg_result result;
	char text[FILEMSG_TEXT_MAX];

	if (type == FILEMSG_VERDICT || type == FILEMSG_ABORT) {
		result = filemsg_result_decode(buffer, length);
		printf("%u %u: %s\n", type, result.verdict, filemsg_result_text(&result, text));
	} else {
		printf("%u: %zu bytes\n", type, length);
	}
	fflush(stdout);
}

static void header(char *value)
{
	struct filemsg_header header = { .mode = 0644 };
	uint8_t data[FILEMSG_HEADER_MAX];
	char *size = strrchr(value, ',');

	if (size && !strcmp(size, ",about")) {
		header.about = true;
		*size = '\0';
		size = strrchr(value, ',');
	}
	*size++ = '\0';
	snprintf(header.name, sizeof(header.name), "%s", value);
	header.size = strtoull(size, NULL, 0);
	SHA256Init(&sha);
	say(FILEMSG_HEADER, data, filemsg_header_encode(&header, data));
}

static void trailer(const char *size, bool good)
{
	struct filemsg_trailer trailer = { .size = strtoull(size, NULL, 0) };
	uint8_t data[FILEMSG_TRAILER_SIZE];

	SHA256Final(trailer.digest, &sha);
	trailer.digest[0] ^= !good;
	filemsg_trailer_encode(&trailer, data);
	say(FILEMSG_TRAILER, data, sizeof(data));
}

static void result(uint32_t type, const char *verdict)
{
	const struct filemsg_result result = { .verdict = atoi(verdict) };
	uint8_t data[FILEMSG_RESULT_SIZE];

	filemsg_result_encode(&result, data);
	say(type, data, sizeof(data));
}

static void until(uint32_t wanted)
{
	uint32_t type;
	size_t length;

	do {
		type = hear(&length);
	} while (type && wanted && type != wanted);
	tell(type, length);
}

static void do_word(char *word)
{
	struct pollfd one = { .fd = chan, .events = POLLIN };
	struct pollfd end = { .fd = chan, .events = POLLRDHUP };
	char *value = strchr(word, '=');
	size_t length;

	if (value)
		*value++ = '\0';
	if (!strcmp(word, "header")) {
		header(value);
	} else if (!strcmp(word, "data")) {
		memset(buffer, 0, sizeof(buffer));
		length = strtoul(value, NULL, 0);
		SHA256Update(&sha, (uint8_t *)buffer, length);
		say(FILEMSG_DATA, buffer, length);
	} else if (!strcmp(word, "trailer") || !strcmp(word, "badsum")) {
		trailer(value, *word == 't');
	} else if (!strcmp(word, "abort")) {
		result(FILEMSG_ABORT, value);
	} else if (!strcmp(word, "verdict")) {
		result(FILEMSG_VERDICT, value);
	} else if (!strcmp(word, "raw")) {
		say(strtoul(value, &value, 0), buffer, strtoul(value + 1, NULL, 0));
	} else if (!strcmp(word, "recv")) {
		until(0);
	} else if (!strcmp(word, "try")) {
		if (poll(&one, 1, 20) > 0)
			until(0);
	} else if (!strcmp(word, "until")) {
		until(strtoul(value, NULL, 0));
	} else if (!strcmp(word, "ended")) {
		if (poll(&end, 1, -1) < 0)
			die("poll");
	} else if (!strcmp(word, "hold")) {
		printf("held\n");
		fflush(stdout);
		if (!fgets(buffer, sizeof(buffer), stdin))
			exit(1);
	} else if (!strcmp(word, "flood")) {
		/* Where time is virtual it passes only when nobody computes. */
		for (;; usleep(1))
			say(FILEMSG_DATA, buffer, 1000);
	} else if (!strcmp(word, "shutdown")) {
		rdmachan_shutdown(chan, RDMACHAN_SHUTDOWN_SEND, NULL);
	} else {
		fprintf(stderr, "unknown word %s\n", word);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	int listener, ctx, i;

	if (argc < 3)
		return 2;
	ctx = rdmachan_open(NULL);
	options.tuning.message_max = sizeof(buffer);
	if (strcmp(argv[1], "-")) {
		chan = rdmachan_connect_host(ctx, argv[1], atoi(argv[2]), &options, NULL);
	} else {
		listener = rdmachan_listen(ctx, atoi(argv[2]), &options, NULL);
		chan = rdmachan_accept(listener, NULL, NULL, NULL, NULL);
		close(listener);
	}
	if (chan < 0)
		die("connect");
	for (i = 3; i < argc; i++)
		do_word(argv[i]);
	close(chan);
	return 0;
}
