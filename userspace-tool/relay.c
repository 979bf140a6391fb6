// SPDX-License-Identifier: MIT
/*
 * relay.c - between a channel and standard input and output
 *
 * A thread for the input and the caller's for the output, both with blocking
 * calls: so a message may be of any size, and a direction that stalls does not
 * hold up the other. The channel is left open; the caller closes it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "relay.h"
#include "tool.h"

#define STREAM_CHUNK	65536

/**
 * struct relay - what the two threads share
 * @chan: channel
 * @mode: what a message is
 * @done: becomes readable when the input thread is through
 * @status: exit code of the input thread, valid after @done
 */
struct relay {
	int chan;
	enum relay_mode mode;
	int done;
	int status;
};

static int send_one(struct relay *relay, const void *data, size_t length)
{
	struct rdmachan_error err;

	if (!rdmachan_send(relay->chan, data, length, &err))
		return TOOL_OK;
	return fail_error(&err, "cannot send a message of %zu bytes", length);
}

static int input_stream(struct relay *relay)
{
	char chunk[STREAM_CHUNK];
	ssize_t count;
	int status;

	for (;;) {
		count = read(STDIN_FILENO, chunk, sizeof(chunk));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return fail_errno("cannot read standard input");
		if (!count)
			return TOOL_OK;
		status = send_one(relay, chunk, count);
		if (status)
			return status;
	}
}

static int input_lines(struct relay *relay)
{
	int status = TOOL_OK;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while (!status && (length = getline(&line, &size, stdin)) >= 0) {
		if (length && line[length - 1] == '\n')
			length--;
		status = send_one(relay, line, length);
	}
	if (!status && ferror(stdin))
		status = fail_errno("cannot read standard input");
	free(line);
	return status;
}

static int input_whole(struct relay *relay)
{
	size_t size = STREAM_CHUNK, length = 0, count;
	char *data = malloc(size), *larger;
	int status;

	while (data && (count = fread(data + length, 1, size - length, stdin)) > 0) {
		length += count;
		if (length < size)
			continue;
		larger = length > RDMACHAN_MESSAGE_MAX ? NULL : realloc(data, size * 2);
		if (!larger) {
			free(data);
			return fail("the input is too large for one message");
		}
		data = larger;
		size *= 2;
	}
	if (!data || ferror(stdin))
		status = fail_errno("cannot read standard input");
	else
		status = send_one(relay, data, length);
	free(data);
	return status;
}

static void *input_thread(void *arg)
{
	struct relay *relay = arg;
	uint64_t one = 1;

	switch (relay->mode) {
	case RELAY_LINES:
		relay->status = input_lines(relay);
		break;
	case RELAY_WHOLE:
		relay->status = input_whole(relay);
		break;
	default:
		relay->status = input_stream(relay);
	}
	/* Before the peer learns of it, who may close at once: see input_ended(). */
	if (write(relay->done, &one, sizeof(one)) < 0)
		fail_errno("cannot wake the main thread");
	rdmachan_shutdown(relay->chan, RDMACHAN_SHUTDOWN_SEND);
	return NULL;
}

static int write_all(const char *data, size_t length)
{
	ssize_t count;

	while (length) {
		count = write(STDOUT_FILENO, data, length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return fail_errno("cannot write standard output");
		data += count;
		length -= count;
	}
	return TOOL_OK;
}

int relay_output(int chan, enum relay_mode mode)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct rdmachan_error err;
	int status = TOOL_OK;
	void *data = NULL;
	size_t size = 0;
	int ret;

	do {
		ret = rdmachan_recv_grow(chan, &data, &size, &transfer, &err);
		if (ret > 0)
			status = write_all(data, transfer.length);
		if (ret > 0 && !status && mode == RELAY_LINES)
			status = write_all("\n", 1);
	} while (!status && (ret > 0 || (ret < 0 && errno == EINTR)));
	if (ret < 0)
		status = fail_error(&err, "cannot receive");
	free(data);
	return status;
}

/* The peer has sent all; wait for the input to end, or for nobody to read it. */
static bool input_ended(struct relay *relay)
{
	struct pollfd fds[] = {
		{ .fd = relay->done, .events = POLLIN },
		{ .fd = relay->chan, .events = 0 },
	};

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno == EINTR)
		;
	return fds[0].revents & POLLIN;
}

static struct relay *relay_alloc(int chan, enum relay_mode mode)
{
	struct relay *relay = malloc(sizeof(*relay));

	if (!relay)
		return NULL;
	relay->chan = chan;
	relay->mode = mode;
	relay->done = eventfd(0, EFD_CLOEXEC);
	if (relay->done < 0) {
		free(relay);
		return NULL;
	}
	return relay;
}

static void relay_free(struct relay *relay)
{
	close(relay->done);
	free(relay);
}

int relay_run(int chan, enum relay_mode mode)
{
	struct relay *relay = relay_alloc(chan, mode);
	pthread_t thread;
	int status;

	if (!relay)
		return fail_errno("cannot prepare");
	errno = pthread_create(&thread, NULL, input_thread, relay);
	if (errno) {
		relay_free(relay);
		return fail_errno("cannot start a thread");
	}
	status = relay_output(chan, mode);
	/* The thread may sit in read() for ever: @relay is its own then, to the exit. */
	if (status || !input_ended(relay)) {
		pthread_detach(thread);
		return status;
	}
	pthread_join(thread, NULL);
	status = relay->status;
	relay_free(relay);
	return status;
}
