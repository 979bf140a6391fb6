// SPDX-License-Identifier: MIT
/*
 * receive.c - the receiving side of a file transfer
 *
 * See filemsg.h for the conversation. In any wait, a signal ends it, and the part of a file that it
 * has then goes.
 */
#include <errno.h>
#include <poll.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filemsg.h"
#include "progress.h"
#include "receive.h"
#include "store.h"
#include "waiting.h"

/**
 * struct incoming - a file that arrives
 * @header: what the sender says of it
 * @store: where it goes
 * @progress: how much of it is there
 * @sha: sum of that
 * @refused: the sender was told that it is not stored: its data is dropped
 */
struct incoming {
	struct filemsg_header header;
	struct store store;
	struct progress progress;
	SHA2_CTX sha;
	bool refused;
};

static void worse(struct receiving *receiving, int status)
{
	if (status > receiving->status)
		receiving->status = status;
}

/* 0: try again; -1: errno is ETIMEDOUT, or EINTR because the user wants it to end. */
static int wait_for(struct receiving *receiving, short events)
{
	uint32_t timeout_ms = receiving->idle_ms ? receiving->idle_ms : UINT32_MAX;

	switch (waiting_for(receiving->chan, events, timeout_ms)) {
	case WAITED_READY:
		return 0;
	case WAITED_TIMEOUT:
		errno = ETIMEDOUT;
		return -1;
	case WAITED_STOPPED:
		receiving->stopped = true;
		errno = EINTR;
		return -1;
	}
	return -1;
}

/* As rdmachan_recvv(), the message in @receiving->buffer. */
static int receive(struct receiving *receiving, struct rdmachan_transfer *transfer,
		   struct rdmachan_error *err)
{
	const struct rdmachan_transfer init = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { receiving->buffer, FILEMSG_CHUNK };
	int ret;

	do {
		memset(err, 0, sizeof(*err));
		ret = wait_for(receiving, POLLIN);
		if (ret < 0) {
			err->error = errno;
			return ret;
		}
		*transfer = init;
		transfer->flags = RDMACHAN_IO_F_DONTWAIT;
		ret = rdmachan_recvv(receiving->chan, &iov, 1, transfer, err);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret;
}

/* The functions from here on return whether the connection can go on. */

static bool send_result(struct receiving *receiving, const struct filemsg_result *result)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	uint8_t data[FILEMSG_RESULT_SIZE];
	struct iovec iov = { data, sizeof(data) };
	struct rdmachan_error err = { 0 };
	int ret;

	filemsg_result_encode(result, data);
	transfer.msg_flags = FILEMSG_VERDICT;
	transfer.flags = RDMACHAN_IO_F_DONTWAIT;
	do {
		ret = rdmachan_sendv(receiving->chan, &iov, 1, &transfer, &err);
		if (!ret)
			return true;
		if (errno == EAGAIN && !wait_for(receiving, POLLOUT))
			errno = EINTR;
	} while (errno == EINTR && !receiving->stopped);
	err.error = errno;
	fail_error(&err, "cannot answer %s", receiving->peer);
	worse(receiving, TOOL_CONNECTION);
	return false;
}

static bool send_verdict(struct receiving *receiving, enum filemsg_verdict verdict)
{
	const struct filemsg_result result = { .verdict = verdict };

	return send_result(receiving, &result);
}

static bool refuse(struct receiving *receiving, const char *name,
		   const struct filemsg_result *result)
{
	char text[FILEMSG_TEXT_MAX];

	fail("refused %s from %s: %s", name[0] ? name : "a file", receiving->peer,
	     filemsg_result_text(result, text));
	worse(receiving, result->verdict == FILEMSG_CORRUPT ? TOOL_VERIFY : TOOL_FAILED);
	return send_result(receiving, result);
}

/* The sender keeps to no rule: it finds the verdict, and that nobody reads. */
static bool break_off(struct receiving *receiving, const char *name)
{
	const struct filemsg_result result = { .verdict = FILEMSG_PROTOCOL };

	refuse(receiving, name, &result);
	rdmachan_shutdown(receiving->chan, RDMACHAN_SHUTDOWN_RECV, NULL);
	return false;
}

static bool lost(struct receiving *receiving, const char *name, int ret,
		 const struct rdmachan_error *err)
{
	int status = TOOL_CONNECTION;

	if (!ret)
		fail("%s ended in the midst of %s", receiving->peer, name);
	else if (receiving->stopped)
		status = fail("stopped in the midst of %s from %s: nothing of it is kept", name,
			      receiving->peer);
	else if (err->error == ETIMEDOUT && err->cause == RDMACHAN_CAUSE_NONE)
		fail("%s was silent for too long in the midst of %s", receiving->peer, name);
	else
		fail_error(err, "lost %s in the midst of %s", receiving->peer, name);
	worse(receiving, status);
	return false;
}

/* In the midst of its data: the rest of it is dropped. */
static bool refuse_rest(struct receiving *receiving, struct incoming *incoming,
			const struct filemsg_result *result)
{
	progress_clear(&incoming->progress);
	store_abort(&incoming->store);
	incoming->refused = true;
	return refuse(receiving, incoming->header.name, result);
}

static bool take_data(struct receiving *receiving, struct incoming *incoming, size_t length)
{
	const struct filemsg_header *header = &incoming->header;
	struct filemsg_result result;

	if (incoming->refused)
		return true;
	if (!header->about && length > header->size - incoming->progress.done)
		return break_off(receiving, header->name);
	result = store_write(&incoming->store, receiving->buffer, length);
	if (result.verdict != FILEMSG_READY)
		return refuse_rest(receiving, incoming, &result);
	SHA256Update(&incoming->sha, receiving->buffer, length);
	progress_add(&incoming->progress, length);
	return true;
}

static struct filemsg_result check_trailer(const struct receiving *receiving,
					   struct incoming *incoming, size_t length)
{
	struct filemsg_result result = { .verdict = FILEMSG_READY };
	const struct progress *progress = &incoming->progress;
	uint8_t digest[FILEMSG_DIGEST_SIZE];
	struct filemsg_trailer trailer;

	SHA256Final(digest, &incoming->sha);
	if (!filemsg_trailer_decode(&trailer, receiving->buffer, length))
		result.verdict = FILEMSG_PROTOCOL;
	else if (progress->done != trailer.size)
		result.verdict = FILEMSG_CORRUPT;
	else if (!incoming->header.about && trailer.size != incoming->header.size)
		result.verdict = trailer.size < incoming->header.size ? FILEMSG_SHRANK :
				 FILEMSG_GREW;
	else if (memcmp(digest, trailer.digest, sizeof(digest)))
		result.verdict = FILEMSG_CORRUPT;
	return result;
}

static bool end_file(struct receiving *receiving, struct incoming *incoming, size_t length)
{
	const struct filemsg_header *header = &incoming->header;
	char from[RDMACHAN_ADDR_MAX + 8];
	struct filemsg_result result;

	if (incoming->refused)
		return true;
	progress_clear(&incoming->progress);
	result = check_trailer(receiving, incoming, length);
	if (result.verdict == FILEMSG_PROTOCOL)
		return break_off(receiving, header->name);
	if (result.verdict == FILEMSG_READY)
		result = store_finish(&incoming->store, header->name, header->mode,
				      receiving->replace);
	if (result.verdict != FILEMSG_STORED)
		return refuse(receiving, header->name, &result);
	snprintf(from, sizeof(from), ", from %s", receiving->peer);
	if (!receiving->quiet)
		progress_summary(&incoming->progress, "received", from);
	return send_verdict(receiving, FILEMSG_STORED);
}

/* The sender does not send the rest, and says why not. */
static bool abort_file(struct receiving *receiving, struct incoming *incoming, size_t length)
{
	struct filemsg_result result = filemsg_result_decode(receiving->buffer, length);
	char text[FILEMSG_TEXT_MAX];

	if (incoming->refused)
		return true;
	progress_clear(&incoming->progress);
	fail("%s does not send %s: %s", receiving->peer, incoming->header.name,
	     filemsg_result_text(&result, text));
	worse(receiving, TOOL_FAILED);
	return send_verdict(receiving, FILEMSG_GIVEN_UP);
}

/* Messages up to the end of the file, after which the connection can go on, or else not. */
static bool receive_data(struct receiving *receiving, struct incoming *incoming)
{
	const char *name = incoming->header.name;
	struct rdmachan_transfer transfer;
	struct rdmachan_error err;
	int ret;

	do {
		ret = receive(receiving, &transfer, &err);
		if (ret <= 0)
			progress_clear(&incoming->progress);
		if (ret < 0 && errno == EMSGSIZE)
			return break_off(receiving, name);
		if (ret <= 0)
			return lost(receiving, name, ret, &err);
		switch (transfer.msg_flags) {
		case FILEMSG_DATA:
			break;
		case FILEMSG_TRAILER:
			return end_file(receiving, incoming, transfer.length);
		case FILEMSG_ABORT:
			return abort_file(receiving, incoming, transfer.length);
		default:
			progress_clear(&incoming->progress);
			return break_off(receiving, name);
		}
	} while (take_data(receiving, incoming, transfer.length));
	progress_clear(&incoming->progress);
	return false;
}

static bool receive_file(struct receiving *receiving, struct incoming *incoming)
{
	const struct filemsg_header *header = &incoming->header;
	struct filemsg_result result;
	bool go_on;

	result = store_begin(&incoming->store, receiving->dir, header->name, receiving->replace);
	if (result.verdict != FILEMSG_READY)
		return refuse(receiving, header->name, &result);
	go_on = send_verdict(receiving, FILEMSG_READY);
	if (go_on) {
		SHA256Init(&incoming->sha);
		progress_begin(&incoming->progress, header->name,
			       header->about ? PROGRESS_UNKNOWN : header->size, receiving->mode);
		go_on = receive_data(receiving, incoming);
	}
	store_abort(&incoming->store);
	return go_on;
}

static bool serve_file(struct receiving *receiving)
{
	struct incoming incoming = { .refused = false };
	struct rdmachan_transfer transfer;
	struct filemsg_result result = { 0 };
	struct rdmachan_error err;
	int ret;

	ret = receive(receiving, &transfer, &err);
	if (!ret)
		return false;
	/* Between two files nothing is lost that has begun. */
	if (receiving->stopped) {
		receiving->status = receiving->once ? receiving->status : TOOL_OK;
		return false;
	}
	if (ret < 0 && errno != EMSGSIZE)
		return lost(receiving, "the conversation", ret, &err);
	if (ret < 0 || transfer.msg_flags != FILEMSG_HEADER)
		return break_off(receiving, "");
	result.verdict = filemsg_header_decode(&incoming.header, receiving->buffer,
					       transfer.length);
	if (result.verdict == FILEMSG_PROTOCOL)
		return break_off(receiving, "");
	if (result.verdict != FILEMSG_READY)
		return refuse(receiving, incoming.header.name, &result);
	return receive_file(receiving, &incoming);
}

/* One connection: files until the sender ends. */
static int serve(struct receiving *receiving)
{
	receiving->status = TOOL_OK;
	while (serve_file(receiving))
		;
	return receiving->status;
}

/* A sender that came may have gone again: the listener does not block. */
static int accept_one(struct receiving *receiving, int listener)
{
	struct rdmachan_addr peer;

	do {
		if (waiting(listener, UINT32_MAX) == WAITED_STOPPED) {
			receiving->stopped = true;
			return -1;
		}
		receiving->chan = rdmachan_accept(listener, NULL, &peer, NULL, NULL);
	} while (receiving->chan < 0 && (errno == EINTR || errno == EAGAIN));
	if (receiving->chan < 0)
		return -fail_errno("cannot accept");
	rdmachan_addr_text(&peer, receiving->peer, sizeof(receiving->peer));
	return 0;
}

static int serve_all(struct receiving *receiving, int listener)
{
	int status;

	do {
		/*
		 * A user who ends it while nobody sends has lost nothing, unless one was awaited.
		 */
		if (accept_one(receiving, listener) < 0)
			return receiving->once || !receiving->stopped ? TOOL_FAILED : TOOL_OK;
		status = serve(receiving);
		close(receiving->chan);
	} while (!receiving->once && !receiving->stopped);
	return status;
}

int receive_run(struct receiving *receiving)
{
	struct rdmachan_options conn = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_error err;
	int ctx, listener, status;

	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	store_clean(receiving->dir);
	waiting_begin();
	conn.tuning.message_max = FILEMSG_CHUNK;
	conn.flags |= RDMACHAN_FD_F_NONBLOCK;
	conn.local = receiving->local;
	listener = rdmachan_listen(ctx, receiving->service, &conn, &err);
	if (listener < 0) {
		fail_error(&err, "cannot listen for service %u", receiving->service);
		return TOOL_FAILED;
	}
	receiving->buffer = malloc(FILEMSG_CHUNK);
	if (!receiving->buffer)
		return fail_errno("no memory");
	status = serve_all(receiving, listener);
	free(receiving->buffer);
	return status;
}
