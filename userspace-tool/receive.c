// SPDX-License-Identifier: MIT
/*
 * receive.c - the receiving side of a file transfer
 */
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filemsg.h"
#include "progress.h"
#include "receive.h"
#include "store.h"

/* As rdmachan_recvv(), the message in @receiving->buffer. */
static int receive(struct receiving *receiving, struct rdmachan_transfer *transfer,
		   struct rdmachan_error *err)
{
	const struct rdmachan_transfer init = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { receiving->buffer, FILEMSG_CHUNK };
	int ret;

	*transfer = init;
	transfer->timeout_ms = receiving->idle_ms;
	do {
		ret = rdmachan_recvv(receiving->chan, &iov, 1, transfer, err);
	} while (ret < 0 && errno == EINTR);
	return ret;
}

/* The functions from here on return whether the connection can go on. */

static bool send_verdict(struct receiving *receiving, enum filemsg_verdict verdict)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	uint8_t data[FILEMSG_VERDICT_SIZE];
	struct iovec iov = { data, sizeof(data) };
	struct rdmachan_error err;

	filemsg_verdict_encode(verdict, data);
	transfer.msg_flags = FILEMSG_VERDICT;
	transfer.timeout_ms = receiving->idle_ms;
	if (!rdmachan_sendv(receiving->chan, &iov, 1, &transfer, &err))
		return true;
	fail_error(&err, "cannot answer %s", receiving->peer);
	receiving->status = TOOL_CONNECTION;
	return false;
}

static bool refuse(struct receiving *receiving, const char *name, enum filemsg_verdict verdict)
{
	fail("refused %s from %s: %s", name[0] ? name : "a file", receiving->peer,
	     filemsg_verdict_text(verdict));
	receiving->status = verdict == FILEMSG_CORRUPT ? TOOL_VERIFY : TOOL_FAILED;
	return send_verdict(receiving, verdict);
}

/* In the midst of its data: the sender finds that nobody reads, and the verdict. */
static bool refuse_rest(struct receiving *receiving, const char *name,
			enum filemsg_verdict verdict)
{
	refuse(receiving, name, verdict);
	rdmachan_shutdown(receiving->chan, RDMACHAN_SHUTDOWN_RECV);
	return false;
}

static bool lost(struct receiving *receiving, const char *name, int ret,
		 const struct rdmachan_error *err)
{
	if (!ret)
		fail("%s ended in the midst of %s", receiving->peer, name);
	else
		fail_error(err, "lost %s in the midst of %s", receiving->peer, name);
	receiving->status = TOOL_CONNECTION;
	return false;
}

static enum filemsg_verdict check_trailer(const struct receiving *receiving,
					  const struct progress *progress, size_t length,
					  SHA2_CTX *sha)
{
	uint8_t digest[FILEMSG_DIGEST_SIZE];

	SHA256Final(digest, sha);
	if (length != sizeof(digest) || progress->done != progress->total)
		return FILEMSG_PROTOCOL;
	if (memcmp(digest, receiving->buffer, sizeof(digest)))
		return FILEMSG_CORRUPT;
	return FILEMSG_READY;
}

static enum filemsg_verdict take_data(struct receiving *receiving, struct store *store,
				      const struct progress *progress,
				      const struct rdmachan_transfer *transfer)
{
	if (transfer->msg_flags != FILEMSG_DATA ||
	    transfer->length > progress->total - progress->done)
		return FILEMSG_PROTOCOL;
	return store_write(store, receiving->buffer, transfer->length);
}

/* Data messages up to the trailer, whose verdict goes to @verdict. */
static bool receive_data(struct receiving *receiving, struct store *store,
			 struct progress *progress, enum filemsg_verdict *verdict)
{
	struct rdmachan_transfer transfer;
	struct rdmachan_error err;
	SHA2_CTX sha;
	int ret;

	SHA256Init(&sha);
	for (;;) {
		ret = receive(receiving, &transfer, &err);
		if (ret < 0 && errno == EMSGSIZE)
			return refuse_rest(receiving, progress->name, FILEMSG_PROTOCOL);
		if (ret <= 0)
			return lost(receiving, progress->name, ret, &err);
		if (transfer.msg_flags == FILEMSG_TRAILER)
			break;
		*verdict = take_data(receiving, store, progress, &transfer);
		if (*verdict != FILEMSG_READY)
			return refuse_rest(receiving, progress->name, *verdict);
		SHA256Update(&sha, receiving->buffer, transfer.length);
		progress_add(progress, transfer.length);
	}
	*verdict = check_trailer(receiving, progress, transfer.length, &sha);
	return true;
}

static bool receive_body(struct receiving *receiving, const struct filemsg_header *header,
			 struct store *store)
{
	enum filemsg_verdict verdict = FILEMSG_READY;
	char from[RDMACHAN_ADDR_MAX + 8];
	struct progress progress;
	bool go_on;

	progress_begin(&progress, header->name, header->size, receiving->quiet);
	go_on = receive_data(receiving, store, &progress, &verdict);
	progress_clear(&progress);
	if (!go_on)
		return false;
	if (verdict == FILEMSG_READY)
		verdict = store_finish(store, header->name, header->mode, receiving->replace);
	if (verdict != FILEMSG_STORED)
		return refuse(receiving, header->name, verdict);
	snprintf(from, sizeof(from), ", from %s", receiving->peer);
	if (!receiving->quiet)
		progress_summary(&progress, "received", from);
	return send_verdict(receiving, FILEMSG_STORED);
}

static bool receive_file(struct receiving *receiving, const struct filemsg_header *header)
{
	enum filemsg_verdict verdict;
	struct store store;
	bool go_on;

	verdict = store_begin(&store, receiving->dir, header->name, receiving->replace);
	if (verdict != FILEMSG_READY)
		return refuse(receiving, header->name, verdict);
	go_on = send_verdict(receiving, FILEMSG_READY) && receive_body(receiving, header, &store);
	store_abort(&store);
	return go_on;
}

static bool serve_file(struct receiving *receiving)
{
	struct filemsg_header header = { .name = "" };
	struct rdmachan_transfer transfer;
	enum filemsg_verdict verdict;
	struct rdmachan_error err;
	int ret;

	ret = receive(receiving, &transfer, &err);
	if (!ret)
		return false;
	if (ret < 0 && errno != EMSGSIZE)
		return lost(receiving, "the conversation", ret, &err);
	if (ret < 0 || transfer.msg_flags != FILEMSG_HEADER)
		return refuse_rest(receiving, "", FILEMSG_PROTOCOL);
	verdict = filemsg_header_decode(&header, receiving->buffer, transfer.length);
	if (verdict != FILEMSG_READY)
		return refuse(receiving, header.name, verdict);
	return receive_file(receiving, &header);
}

/* One connection: files until the sender ends. */
static int serve(struct receiving *receiving)
{
	receiving->status = TOOL_OK;
	while (serve_file(receiving))
		;
	return receiving->status;
}

static int serve_all(struct receiving *receiving, int listener)
{
	struct rdmachan_addr peer;
	int status;

	do {
		receiving->chan = rdmachan_accept(listener, NULL, &peer, NULL);
		if (receiving->chan < 0 && errno == EINTR)
			continue;
		if (receiving->chan < 0)
			return fail_errno("cannot accept");
		rdmachan_addr_text(&peer, receiving->peer, sizeof(receiving->peer));
		status = serve(receiving);
		close(receiving->chan);
		if (receiving->once)
			return status;
	} while (true);
}

int receive_run(struct receiving *receiving)
{
	struct rdmachan_options conn = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_error err;
	int ctx, listener, status;

	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	conn.tuning.message_max = FILEMSG_CHUNK;
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
