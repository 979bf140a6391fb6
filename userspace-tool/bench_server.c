// SPDX-License-Identifier: MIT
/*
 * bench_server.c - the server's side of a measurement
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/**
 * struct server - the server
 * @listener: listener
 * @chan: channel of the client that is served
 * @buffer: one message
 * @size: bytes of it
 */
struct server {
	int listener;
	int chan;
	uint8_t *buffer;
	size_t size;
};

/* Messages have one byte or more here, so 0 is the end of the channel. */
static bool receive(struct server *server, int chan, size_t size)
{
	ssize_t count;

	do {
		count = read(chan, server->buffer, server->size);
	} while (count < 0 && errno == EINTR);
	return count == (ssize_t)size;
}

static bool answer(struct server *server, int chan, size_t size)
{
	ssize_t count;

	do {
		count = write(chan, server->buffer, size);
	} while (count < 0 && errno == EINTR);
	return count == (ssize_t)size;
}

static bool serve_echo(struct server *server, const struct bench_request *request)
{
	uint32_t i;

	for (i = 0; i < request->count; i++) {
		if (!receive(server, server->chan, request->size) ||
		    !answer(server, server->chan, request->size))
			return false;
	}
	return true;
}

static bool serve_sink(struct server *server, const struct bench_request *request)
{
	uint32_t i;

	for (i = 1; i <= request->count; i++) {
		if (!receive(server, server->chan, request->size))
			return false;
		if (i < request->count && (!request->batch || i % request->batch))
			continue;
		if (!answer(server, server->chan, 1))
			return false;
	}
	return true;
}

/* A client that dies in between must not leave the server waiting for it. */
static int accept_next(struct server *server)
{
	struct pollfd fds[] = {
		{ .fd = server->listener, .events = POLLIN },
		{ .fd = server->chan, .events = POLLIN },
	};

	do {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return -1;
	} while (!fds[0].revents && !fds[1].revents);
	if (!fds[0].revents)
		return -1;
	return rdmachan_accept(server->listener, NULL, NULL, NULL, NULL);
}

static bool serve_accept(struct server *server, const struct bench_request *request)
{
	bool fine = true;
	uint32_t i;
	int chan;

	for (i = 0; i < request->count && fine; i++) {
		chan = accept_next(server);
		if (chan < 0)
			return false;
		fine = receive(server, chan, 1) && answer(server, chan, 1);
		/* The client closes first: its close is part of what it measures. */
		if (fine)
			receive(server, chan, 1);
		close(chan);
	}
	return fine;
}

static bool make_room(struct server *server, size_t size)
{
	uint8_t *buffer;

	if (size <= server->size)
		return true;
	buffer = realloc(server->buffer, size);
	if (!buffer)
		return false;
	memset(buffer, 0, size);
	server->buffer = buffer;
	server->size = size;
	return true;
}

static bool serve_request(struct server *server)
{
	struct bench_request request;
	size_t length;

	if (rdmachan_recv(server->chan, server->buffer, server->size, &length, NULL) <= 0)
		return false;
	if (!bench_request_decode(&request, server->buffer, length) ||
	    !make_room(server, request.size)) {
		fail("a client asks for what cannot be done");
		return false;
	}
	switch (request.mode) {
	case BENCH_ECHO:
		return serve_echo(server, &request);
	case BENCH_SINK:
		return serve_sink(server, &request);
	default:
		return serve_accept(server, &request);
	}
}

static int serve(struct server *server)
{
	for (;;) {
		server->chan = rdmachan_accept(server->listener, NULL, NULL, NULL, NULL);
		if (server->chan < 0 && errno == EINTR)
			continue;
		if (server->chan < 0)
			return fail_errno("cannot accept");
		while (serve_request(server))
			;
		close(server->chan);
	}
}

int bench_serve(uint32_t service, const struct rdmachan_addr *local)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct server server = { 0 };
	struct rdmachan_error err;
	int ctx, status;

	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	if (!make_room(&server, 65536))
		return fail_errno("no memory");
	options.tuning.message_max = RDMACHAN_MESSAGE_MAX;
	options.local = *local;
	server.listener = rdmachan_listen(ctx, service, &options, &err);
	if (server.listener < 0) {
		fail_error(&err, "cannot listen for service %u", service);
		status = TOOL_FAILED;
	} else {
		status = serve(&server);
		close(server.listener);
	}
	free(server.buffer);
	close(ctx);
	return status;
}
