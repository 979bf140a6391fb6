// SPDX-License-Identifier: MIT
/*
 * cmd_send.c - "rdmachan send": files to "rdmachan recv"
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filemsg.h"
#include "parse.h"
#include "progress.h"
#include "source.h"
#include "text.h"
#include "tool.h"

/**
 * struct sending - one connection to a receiver
 * @chan: channel
 * @lost: the connection is of no use for a further file
 * @quiet: no summaries
 * @mode: the progress of files that are on their way
 * @chunk: buffer of FILEMSG_CHUNK bytes
 * @reasons: of each file, in the order of the command line, why it was not sent; NULL: it was
 * @at: file that is sent now
 */
struct sending {
	int chan;
	bool lost;
	bool quiet;
	enum progress_mode mode;
	uint8_t *chunk;
	char **reasons;
	int at;
};

/**
 * struct outgoing - a file on its way
 * @path: where it is
 * @source: the file
 * @header: the text about it
 * @progress: how much of it went
 * @sha: sum of that
 * @found: its local error
 * @answered: the receiver has said the last word about it
 * @answer: that
 */
struct outgoing {
	const char *path;
	struct source source;
	struct filemsg_header header;
	struct progress progress;
	SHA2_CTX sha;
	struct filemsg_result found;
	bool answered;
	struct filemsg_result answer;
};

/* For the list at the end. */
static void note(struct sending *sending, const char *reason)
{
	if (sending->reasons[sending->at])
		return;
	sending->reasons[sending->at] = strdup(reason);
	if (!sending->reasons[sending->at])
		err(TOOL_FAILED, NULL);
}

__attribute__((format(printf, 3, 4)))
static int not_sent(struct sending *sending, const char *path, const char *format, ...)
{
	char reason[FILEMSG_TEXT_MAX + 64];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	fail("cannot send %s: %s", path, reason);
	note(sending, reason);
	return TOOL_FAILED;
}

static int connection_lost(struct sending *sending, const char *path,
			   const struct rdmachan_error *err)
{
	sending->lost = true;
	note(sending, "the connection was lost");
	if (err)
		return fail_error(err, "cannot send %s", path);
	fail("cannot send %s: the receiver ended before it answered", path);
	return TOOL_CONNECTION;
}

static int send_message(struct sending *sending, enum filemsg_type type, const void *data,
			size_t length, struct rdmachan_error *err)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { (void *)data, length };

	transfer.msg_flags = type;
	return rdmachan_sendv(sending->chan, &iov, 1, &transfer, err);
}

/*
 * The next verdict; without @wait only if it is there. 0, or -1 after having told what was lost,
 * with &enum tool_exit in @status.
 */
static int take_verdict(struct sending *sending, struct outgoing *out, bool wait, int *status)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	uint8_t data[FILEMSG_RESULT_SIZE];
	struct iovec iov = { data, sizeof(data) };
	struct rdmachan_error err;
	int ret;

	transfer.flags = wait ? 0 : RDMACHAN_IO_F_DONTWAIT;
	ret = rdmachan_recvv(sending->chan, &iov, 1, &transfer, &err);
	if (ret < 0 && errno == EAGAIN && !wait)
		return 0;
	if (ret < 0 && errno != EMSGSIZE) {
		*status = connection_lost(sending, out->path, &err);
		return -1;
	}
	if (!ret) {
		*status = connection_lost(sending, out->path, NULL);
		return -1;
	}
	out->answered = true;
	out->answer.verdict = FILEMSG_PROTOCOL;
	if (ret > 0 && transfer.msg_flags == FILEMSG_VERDICT)
		out->answer = filemsg_result_decode(data, transfer.length);
	/* A receiver that breaks the rules, or says that we do, reads no more. */
	if (out->answer.verdict == FILEMSG_PROTOCOL)
		sending->lost = true;
	return 0;
}

static int refused(struct sending *sending, const struct outgoing *out)
{
	char text[FILEMSG_TEXT_MAX];

	not_sent(sending, out->path, "the receiver refuses it: %s",
		 filemsg_result_text(&out->answer, text));
	return out->answer.verdict == FILEMSG_CORRUPT ? TOOL_VERIFY : TOOL_FAILED;
}

/* A receiver that reads no more has left a verdict that tells why. */
static int send_failed(struct sending *sending, struct outgoing *out, struct rdmachan_error *err)
{
	int status;

	if (err->error != EPIPE)
		return connection_lost(sending, out->path, err);
	if (!out->answered && take_verdict(sending, out, true, &status) < 0)
		return status;
	sending->lost = true;
	return refused(sending, out);
}

/* Up to the end of the file, or until one side finds that it is in vain; &enum tool_exit. */
static int send_data(struct sending *sending, struct outgoing *out)
{
	struct rdmachan_error err;
	int status = TOOL_OK;
	size_t count;

	SHA256Init(&out->sha);
	for (;;) {
		count = source_read(&out->source, sending->chunk, FILEMSG_CHUNK, &out->found);
		if (!count)
			return TOOL_OK;
		SHA256Update(&out->sha, sending->chunk, count);
		if (send_message(sending, FILEMSG_DATA, sending->chunk, count, &err) < 0)
			return send_failed(sending, out, &err);
		progress_add(&out->progress, count);
		if (take_verdict(sending, out, false, &status) < 0)
			return status;
		if (!out->answered)
			continue;
		/* Nobody can have stored what was not sent wholly. */
		if (out->answer.verdict <= FILEMSG_READY)
			out->answer.verdict = FILEMSG_PROTOCOL;
		out->found.verdict = FILEMSG_GIVEN_UP;
		return TOOL_OK;
	}
}

/* The message behind the data: the sum, or why there is none. */
static int send_end(struct sending *sending, struct outgoing *out, struct rdmachan_error *err)
{
	struct filemsg_trailer trailer = { .size = out->source.done };
	uint8_t data[FILEMSG_TRAILER_SIZE];

	if (out->found.verdict != FILEMSG_READY) {
		filemsg_result_encode(&out->found, data);
		return send_message(sending, FILEMSG_ABORT, data, FILEMSG_RESULT_SIZE, err);
	}
	SHA256Final(trailer.digest, &out->sha);
	filemsg_trailer_encode(&trailer, data);
	return send_message(sending, FILEMSG_TRAILER, data, sizeof(data), err);
}

static int send_body(struct sending *sending, struct outgoing *out)
{
	char text[FILEMSG_TEXT_MAX];
	struct rdmachan_error err;
	int status;

	status = send_data(sending, out);
	progress_clear(&out->progress);
	if (status)
		return status;
	if (!sending->lost && send_end(sending, out, &err) < 0)
		return send_failed(sending, out, &err);
	if (!out->answered && take_verdict(sending, out, true, &status) < 0)
		return status;
	if (out->found.verdict != FILEMSG_READY && out->found.verdict != FILEMSG_GIVEN_UP)
		return not_sent(sending, out->path, "%s", filemsg_result_text(&out->found, text));
	if (out->answer.verdict != FILEMSG_STORED)
		return refused(sending, out);
	if (!sending->quiet)
		progress_summary(&out->progress, "sent", "");
	return TOOL_OK;
}

static int send_open_file(struct sending *sending, struct outgoing *out)
{
	uint8_t data[FILEMSG_HEADER_MAX];
	struct rdmachan_error err;
	size_t length;
	int status;

	length = filemsg_header_encode(&out->header, data);
	if (send_message(sending, FILEMSG_HEADER, data, length, &err) < 0)
		return send_failed(sending, out, &err);
	if (take_verdict(sending, out, true, &status) < 0)
		return status;
	if (out->answer.verdict == FILEMSG_STORED) {
		sending->lost = true;
		out->answer.verdict = FILEMSG_PROTOCOL;
	}
	if (out->answer.verdict != FILEMSG_READY)
		return refused(sending, out);
	out->answered = false;
	progress_begin(&out->progress, out->header.name,
		       out->header.about ? PROGRESS_UNKNOWN : out->header.size, sending->mode);
	return send_body(sending, out);
}

static int send_file(struct sending *sending, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct outgoing out = { .path = path };
	const char *why;
	int status, error;

	if (!filemsg_name_valid(name))
		return not_sent(sending, path, "no receiver stores a file of that name");
	why = source_open(&out.source, path, &error);
	if (why && error)
		return not_sent(sending, path, "%s: %s", why, strerror(error));
	if (why)
		return not_sent(sending, path, "%s", why);
	out.header.size = out.source.stat.st_size;
	out.header.mode = out.source.stat.st_mode & 0777;
	out.header.about = out.source.about;
	memcpy(out.header.name, name, strlen(name));
	status = send_open_file(sending, &out);
	source_close(&out.source);
	return status;
}

/* At the end, as lines in between may be far above. */
static void tell_unsent(const struct sending *sending, char **paths, int count)
{
	int unsent = 0;
	int i;

	for (i = 0; i < count; i++)
		unsent += !!sending->reasons[i];
	if (!unsent || count < 2)
		return;
	fail("%d of %d files were not sent:", unsent, count);
	for (i = 0; i < count; i++) {
		if (sending->reasons[i])
			text_print(stderr, "  %s: %s\n", paths[i], sending->reasons[i]);
	}
}

static int send_files(struct sending *sending, char **paths, int count)
{
	int status = TOOL_OK;
	int one;

	sending->chunk = malloc(FILEMSG_CHUNK);
	sending->reasons = calloc(count, sizeof(*sending->reasons));
	if (!sending->chunk || !sending->reasons)
		return fail_errno("no memory");
	for (sending->at = 0; sending->at < count; sending->at++) {
		if (sending->lost) {
			note(sending, "there was no connection any more");
			continue;
		}
		one = send_file(sending, paths[sending->at]);
		if (one > status)
			status = one;
	}
	tell_unsent(sending, paths, count);
	return status;
}

static const struct option options[] = {
	{ "quiet", no_argument, NULL, 'q' },
	{ "progress", required_argument, NULL, 'P' },
	PARSE_CONNECT_LONG,
	{ 0 }
};

static bool parse_option(int option, const char *value, struct sending *sending,
			 struct rdmachan_options *conn)
{
	switch (option) {
	case 'q':
		sending->mode = PROGRESS_NONE;
		return sending->quiet = true;
	case 'P':
		return progress_parse(value, &sending->mode);
	}
	return parse_connect(option, value, conn);
}

static int run(int argc, char **argv)
{
	struct rdmachan_options conn = RDMACHAN_OPTIONS_INIT;
	struct sending sending = { 0 };
	struct target target;
	int option, ctx, status;

	while ((option = getopt_long(argc, argv, "qP:" PARSE_CONNECT_SHORT, options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_send, NULL);
		if (!parse_option(option, optarg, &sending, &conn))
			return fail_value(&cmd_send, option, optarg);
	}
	if (argc - optind < 2)
		return fail_usage(&cmd_send, "say FILE... HOST[:SERVICE]");
	if (!parse_target(argv[argc - 1], TOOL_SERVICE_FILES, &target))
		return fail_usage(&cmd_send, "\"%s\" is not HOST[:SERVICE]", argv[argc - 1]);
	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	sending.chan = target_connect(ctx, &target, &conn);
	if (sending.chan < 0)
		return -sending.chan;
	status = send_files(&sending, argv + optind, argc - 1 - optind);
	close(sending.chan);
	return status;
}

const struct command cmd_send = {
	.name = "send",
	.summary = "send files to \"rdmachan recv\"",
	.help =
	"Usage: rdmachan send [OPTION]... FILE... HOST[:SERVICE]\n"
	"\n"
	"Sends files to the directory that \"rdmachan recv\" serves at HOST. The receiver\n"
	"checks each file by its SHA-256 sum and answers; the command succeeds only when\n"
	"all files are stored there. Only the last part of a FILE's path is sent as its\n"
	"name. SERVICE is 7001 unless given. A FILE is read to its end, whatever its size is\n"
	"told to be; one that grows, shrinks or is written to meanwhile is not stored, nor\n"
	"are directories and devices. Whatever becomes of one FILE the next one is sent, and\n"
	"a list at the end tells which were not, and why.\n"
	"\n"
	"  -q, --quiet          no progress and no summary\n"
	"  -P, --progress MODE  bar (on a terminal, the default), plain (a line every ten\n"
	"                       seconds), none\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n"
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n"
	"  -b, --bind ADDR      connect from the local address ADDR\n"
	"\n"
	"Exit codes: 0 all files are stored, 1 a file could not be read or was refused,\n"
	"3 no connection or lost connection, 4 a checksum did not match; the highest of all.\n"
	"\n"
	"Examples:\n"
	"  rdmachan send report.pdf backup1\n"
	"  rdmachan send *.csv '[fd00::2]:7100'\n",
	.run = run,
};
