// SPDX-License-Identifier: MIT
/*
 * relay.c - between a channel and standard input and output
 *
 * A thread for the input and the caller's for the output, both with blocking calls: so a message
 * may be of any size, and a direction that stalls does not hold up the other. The channel is left
 * open; the caller closes it.
 *
 * Ends. A direction ends well when its end was reached: the peer's program has received all that
 * was read from the input, and all that the peer has sent was written to the output. A side
 * that cannot go on for a reason of its own, such as a full disk, aborts the channel. So the peer
 * does not take what it got, or what it sent, for the whole. If it is the peer that receives no
 * more, its messages are still written out.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay.h"
#include "tool.h"

#define STREAM_CHUNK	65536

/**
 * struct relay - what the two threads share
 * @chan: channel
 * @mode: what a message is
 * @buffer: the bytes read of the input and not sent
 * @size: bytes of @buffer
 * @length: bytes of it that are in use
 * @sent: something was sent
 * @input_status: &enum tool_exit of the input thread, valid when it has ended
 * @lock: protects what follows
 * @aborted: this end has aborted the channel
 * @abort_status: &enum tool_exit of that
 * @told: the user knows that the channel has failed
 */
struct relay {
	int chan;
	enum relay_mode mode;
	char *buffer;
	size_t size;
	size_t length;
	bool sent;
	int input_status;
	pthread_mutex_t lock;
	bool aborted;
	int abort_status;
	bool told;
};

/* The result of looking for more input. */
enum more {
	MORE,
	MORE_END,	/* of the input */
	MORE_LEFT,	/* there is none, and the peer is gone */
	MORE_FAILED,	/* which was told */
};

/* For a reason of this end, which was told: calls of both programs end. */
static int abort_channel(struct relay *relay, int status)
{
	pthread_mutex_lock(&relay->lock);
	if (!relay->aborted)
		relay->abort_status = status;
	relay->aborted = true;
	pthread_mutex_unlock(&relay->lock);
	rdmachan_shutdown(relay->chan, RDMACHAN_SHUTDOWN_ABORT, NULL);
	return status;
}

/* Both threads find a channel that has failed; the first one tells. */
static int channel_failed(struct relay *relay, const struct rdmachan_error *err, const char *text)
{
	int status = TOOL_CONNECTION;

	pthread_mutex_lock(&relay->lock);
	if (!relay->told && !relay->aborted)
		status = fail_error(err, "%s", text);
	relay->told = true;
	pthread_mutex_unlock(&relay->lock);
	return status;
}

/*
 * The peer's program receives no more. @missing: messages that were sent and that it has not
 * received; @cut: there is input behind them
 */
static int not_received(const struct rdmachan_error *err, uint64_t missing, bool cut)
{
	const char *gone = err->cause == RDMACHAN_CAUSE_PEER_CLOSED ? "has ended" :
								      "receives no more";

	if (!missing)
		fail("the peer's program %s: the rest of the input was not sent", gone);
	else
		fail("the peer's program %s: %" PRIu64 " message%s not received by it%s", gone,
		     missing, missing == 1 ? " was" : "s were",
		     cut ? ", and the rest of the input was not sent" : "");
	return TOOL_CONNECTION;
}

static bool receives_no_more(const struct rdmachan_error *err)
{
	return err->error == EPIPE && (err->cause == RDMACHAN_CAUSE_PEER_CLOSED ||
				       err->cause == RDMACHAN_CAUSE_PEER_SHUTDOWN);
}

/* End of the input, or of the peer: has its program received everything? */
static int input_finish(struct relay *relay, bool cut)
{
	struct rdmachan_error err;

	/* A peer that was sent nothing need not look for the end of it. */
	if (!relay->sent && !cut) {
		rdmachan_shutdown(relay->chan, RDMACHAN_SHUTDOWN_SEND, NULL);
		return TOOL_OK;
	}
	while (rdmachan_finish(relay->chan, 0, &err) < 0) {
		if (err.error == EINTR)
			continue;
		if (receives_no_more(&err))
			return not_received(&err, err.detail, cut);
		return channel_failed(relay, &err, "cannot learn whether all was received");
	}
	return TOOL_OK;
}

static int send_one(struct relay *relay, const void *data, size_t length)
{
	struct rdmachan_error err, how_many;

	relay->sent = true;
	if (!rdmachan_send(relay->chan, data, length, &err))
		return TOOL_OK;
	if (receives_no_more(&err)) {
		if (!rdmachan_finish(relay->chan, 0, &how_many))
			return not_received(&err, 0, true);
		if (receives_no_more(&how_many))
			return not_received(&err, how_many.detail, true);
		err = how_many;
	}
	if (err.error != EMSGSIZE)
		return channel_failed(relay, &err, "cannot send");
	return abort_channel(relay, fail_error(&err, "cannot send a message of %zu bytes", length));
}

/*
 * Wait for input, or for the peer to be gone: a read from a terminal would not notice. Input
 * that is there comes first: it is lost if the peer is gone.
 */
static bool wait_for_input(struct relay *relay)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = relay->chan, .events = 0 },
	};

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents)
		return true;
	/* It may have come before the peer has gone, and behind the look at it. */
	fds[1].fd = -1;
	return poll(fds, ARRAY_SIZE(fds), 0) > 0;
}

/* Adds to the buffer, which has room. */
static enum more read_more(struct relay *relay)
{
	ssize_t count;

	do {
		if (!wait_for_input(relay))
			return MORE_LEFT;
		count = read(STDIN_FILENO, relay->buffer + relay->length,
			     relay->size - relay->length);
	} while (count < 0 && (errno == EINTR || errno == EAGAIN));
	if (count < 0) {
		abort_channel(relay, fail_errno("cannot read standard input"));
		return MORE_FAILED;
	}
	relay->length += count;
	return count ? MORE : MORE_END;
}

static bool buffer_grow(struct relay *relay)
{
	char *larger = realloc(relay->buffer, relay->size * 2);

	if (!larger)
		return false;
	relay->buffer = larger;
	relay->size *= 2;
	return true;
}

/* The bytes read last are a message. */
static int send_stream(struct relay *relay)
{
	size_t length = relay->length;

	relay->length = 0;
	return send_one(relay, relay->buffer, length);
}

/* All lines that are there; what follows them stays. */
static int send_lines(struct relay *relay)
{
	char *line = relay->buffer, *end = line + relay->length, *newline;
	int status = TOOL_OK;

	while (!status && (newline = memchr(line, '\n', end - line))) {
		status = send_one(relay, line, newline - line);
		line = newline + 1;
	}
	relay->length = end - line;
	memmove(relay->buffer, line, relay->length);
	return status;
}

static int too_large(struct relay *relay)
{
	return abort_channel(relay, fail("the input is too large for one message"));
}

static int send_some(struct relay *relay)
{
	int status = TOOL_OK;

	if (relay->mode == RELAY_STREAM)
		return send_stream(relay);
	if (relay->mode == RELAY_LINES)
		status = send_lines(relay);
	if (!status && relay->length == relay->size &&
	    (relay->length > RDMACHAN_MESSAGE_MAX || !buffer_grow(relay)))
		status = too_large(relay);
	return status;
}

static int send_input(struct relay *relay)
{
	enum more more;
	int status;

	while ((more = read_more(relay)) == MORE) {
		status = send_some(relay);
		if (status)
			return status;
	}
	if (more == MORE_FAILED)
		return TOOL_FAILED;
	/* A last line without a newline; an input without a byte is a message as a whole. */
	if (relay->length || (relay->mode == RELAY_WHOLE && more == MORE_END)) {
		status = send_one(relay, relay->buffer, relay->length);
		if (status)
			return status;
	}
	return input_finish(relay, false);
}

static void *input_thread(void *arg)
{
	struct relay *relay = arg;

	relay->input_status = send_input(relay);
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

/* All that comes, up to the end. */
static int write_output(struct relay *relay)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct rdmachan_error err;
	int status = TOOL_OK;
	void *data = NULL;
	size_t size = 0;
	int ret;

	do {
		ret = rdmachan_recv_grow(relay->chan, &data, &size, &transfer, &err);
		if (ret > 0)
			status = write_all(data, transfer.length);
		if (ret > 0 && !status && relay->mode == RELAY_LINES)
			status = write_all("\n", 1);
	} while (!status && (ret > 0 || (ret < 0 && errno == EINTR)));
	free(data);
	if (status)
		return abort_channel(relay, status);
	if (ret < 0)
		return abort_channel(relay, channel_failed(relay, &err, "cannot receive"));
	return TOOL_OK;
}

/*
 * The program that reads it learns that there is no more. The descriptor stays taken, for what is
 * opened later.
 */
static int close_output(struct relay *relay)
{
	int error = 0, fd;

	if (close(STDOUT_FILENO) < 0 && errno != EINTR && errno != EBADF)
		error = errno;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd > STDOUT_FILENO)
		close(fd);
	if (!error)
		return TOOL_OK;
	errno = error;
	return abort_channel(relay, fail_errno("cannot write standard output"));
}

int relay_output(int chan, enum relay_mode mode)
{
	struct relay relay = {
		.chan = chan,
		.mode = mode,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	return write_output(&relay);
}

static int output(struct relay *relay, bool one_way)
{
	int status = TOOL_OK;

	if (one_way)
		rdmachan_shutdown(relay->chan, RDMACHAN_SHUTDOWN_RECV, NULL);
	else
		status = write_output(relay);
	return status ? status : close_output(relay);
}

static struct relay *relay_alloc(int chan, enum relay_mode mode)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay)
		return NULL;
	relay->chan = chan;
	relay->mode = mode;
	relay->size = STREAM_CHUNK;
	relay->buffer = malloc(relay->size);
	pthread_mutex_init(&relay->lock, NULL);
	if (relay->buffer)
		return relay;
	free(relay);
	return NULL;
}

static void relay_free(struct relay *relay)
{
	free(relay->buffer);
	free(relay);
}

/* The thread that has aborted the channel has another status than one that finds it so. */
static bool was_aborted(struct relay *relay, int *status)
{
	bool aborted;

	pthread_mutex_lock(&relay->lock);
	aborted = relay->aborted;
	if (aborted)
		*status = relay->abort_status;
	pthread_mutex_unlock(&relay->lock);
	return aborted;
}

int relay_run(int chan, enum relay_mode mode, bool one_way)
{
	struct relay *relay = relay_alloc(chan, mode);
	pthread_t thread;
	int status;

	if (!relay)
		return fail_errno("no memory");
	errno = pthread_create(&thread, NULL, input_thread, relay);
	if (errno) {
		relay_free(relay);
		return fail_errno("cannot start a thread");
	}
	status = output(relay, one_way);
	/* The thread may sit in read() for ever: @relay is its own then, to the exit. */
	if (was_aborted(relay, &status) || status) {
		pthread_detach(thread);
		return status;
	}
	pthread_join(thread, NULL);
	status = relay->input_status;
	relay_free(relay);
	return status;
}
