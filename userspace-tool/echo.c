// SPDX-License-Identifier: MIT
/*
 * echo.c - a server that sends every message back
 *
 * One thread, any number of channels, epoll. A channel whose peer does not read
 * keeps one message here and is not read from until that one is sent: a slow peer
 * stops nobody but itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "echo.h"
#include "tool.h"

/* Messages of one channel before the others have their turn. */
#define ECHO_TURN	16

/**
 * struct echo - the server
 * @epoll: waits for all
 * @listener: accepts channels
 * @paused: no file descriptor was left; accept again when a channel is closed
 */
struct echo {
	int epoll;
	int listener;
	bool paused;
};

/**
 * struct echo_channel - one channel
 * @fd: channel
 * @pending: a message waits to be sent
 * @data: the message, in a buffer that grows
 * @size: bytes of the buffer
 * @transfer: length and flags of the message
 */
struct echo_channel {
	int fd;
	bool pending;
	void *data;
	size_t size;
	struct rdmachan_transfer transfer;
};

static int watch(struct echo *echo, int op, int fd, uint32_t events, void *data)
{
	struct epoll_event event = { .events = events, .data.ptr = data };

	return epoll_ctl(echo->epoll, op, fd, &event);
}

static void channel_close(struct echo *echo, struct echo_channel *channel)
{
	close(channel->fd);
	free(channel->data);
	free(channel);
	if (echo->paused && !watch(echo, EPOLL_CTL_ADD, echo->listener, EPOLLIN, NULL))
		echo->paused = false;
}

static int channel_send(struct echo_channel *channel)
{
	struct iovec iov = { channel->data, channel->transfer.length };
	struct rdmachan_error err;

	if (!rdmachan_sendv(channel->fd, &iov, 1, &channel->transfer, &err))
		return 0;
	if (errno != EAGAIN && errno != EPIPE)
		fail_error(&err, "cannot echo a message of %zu bytes", iov.iov_len);
	errno = err.error;
	return -1;
}

static void set_pending(struct echo *echo, struct echo_channel *channel, bool pending)
{
	if (channel->pending == pending)
		return;
	channel->pending = pending;
	watch(echo, EPOLL_CTL_MOD, channel->fd, pending ? EPOLLOUT : EPOLLIN, channel);
}

/* Returns false when the channel has ended. */
static bool channel_turn(struct echo *echo, struct echo_channel *channel)
{
	int i, ret;

	for (i = 0; i < ECHO_TURN; i++) {
		if (!channel->pending) {
			ret = rdmachan_recv_grow(channel->fd, &channel->data, &channel->size,
						 &channel->transfer, NULL);
			if (ret <= 0)
				return ret < 0 && errno == EAGAIN;
		}
		ret = channel_send(channel);
		if (ret < 0 && errno != EAGAIN)
			return false;
		set_pending(echo, channel, ret < 0);
		if (ret < 0)
			return true;
	}
	return true;
}

static int channel_add(struct echo *echo, int fd)
{
	const struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct echo_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		goto err_close;
	channel->fd = fd;
	channel->transfer = transfer;
	if (watch(echo, EPOLL_CTL_ADD, fd, EPOLLIN, channel) < 0)
		goto err_free;
	return 0;

err_free:
	free(channel);
err_close:
	close(fd);
	return -1;
}

/* Returns &enum tool_exit. */
static int accept_all(struct echo *echo)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	int fd;

	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	for (;;) {
		fd = rdmachan_accept(echo->listener, &options, NULL, NULL, NULL);
		if (fd >= 0) {
			if (channel_add(echo, fd) < 0)
				fail_errno("cannot serve a channel");
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN)
			return TOOL_OK;
		if (errno != EMFILE && errno != ENFILE)
			return fail_errno("cannot accept");
		fail_errno("waiting for a channel to be closed");
		watch(echo, EPOLL_CTL_DEL, echo->listener, 0, NULL);
		echo->paused = true;
		return TOOL_OK;
	}
}

static int serve(struct echo *echo)
{
	struct epoll_event events[64];
	int status = TOOL_OK;
	int count, i;

	while (!status) {
		count = epoll_wait(echo->epoll, events, ARRAY_SIZE(events), -1);
		if (count < 0 && errno != EINTR)
			return fail_errno("cannot wait");
		for (i = 0; i < count && !status; i++) {
			if (!events[i].data.ptr)
				status = accept_all(echo);
			else if (!channel_turn(echo, events[i].data.ptr))
				channel_close(echo, events[i].data.ptr);
		}
	}
	return status;
}

int echo_run(int listener)
{
	struct echo echo = { .listener = listener };
	int status;

	echo.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (echo.epoll < 0)
		return fail_errno("cannot wait for many channels");
	if (watch(&echo, EPOLL_CTL_ADD, listener, EPOLLIN, NULL) < 0)
		status = fail_errno("cannot wait for channels");
	else
		status = serve(&echo);
	close(echo.epoll);
	return status;
}
