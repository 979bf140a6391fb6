// SPDX-License-Identifier: MIT
/*
 * cmd_send.c - "rdmachan send": files to "rdmachan recv"
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filemsg.h"
#include "parse.h"
#include "progress.h"
#include "tool.h"

/**
 * struct sending - one connection to a receiver
 * @chan: channel
 * @lost: the connection is of no use for a further file
 * @quiet: no bar and no summaries
 * @chunk: buffer of FILEMSG_CHUNK bytes
 */
struct sending {
	int chan;
	bool lost;
	bool quiet;
	uint8_t *chunk;
};

static int send_message(struct sending *sending, enum filemsg_type type, const void *data,
			size_t length, struct rdmachan_error *err)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { (void *)data, length };

	transfer.msg_flags = type;
	return rdmachan_sendv(sending->chan, &iov, 1, &transfer, err);
}

/* Returns &enum tool_exit: whether the verdict is the one that is wanted. */
static int await_verdict(struct sending *sending, const char *name,
			 enum filemsg_verdict wanted)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	uint8_t data[FILEMSG_VERDICT_SIZE];
	struct iovec iov = { data, sizeof(data) };
	enum filemsg_verdict verdict;
	struct rdmachan_error err;
	int ret;

	ret = rdmachan_recvv(sending->chan, &iov, 1, &transfer, &err);
	if (ret < 0 && errno != EMSGSIZE) {
		sending->lost = true;
		return fail_error(&err, "no answer about %s", name);
	}
	if (!ret) {
		sending->lost = true;
		fail("the receiver ended before it answered about %s", name);
		return TOOL_CONNECTION;
	}
	verdict = FILEMSG_PROTOCOL;
	if (ret > 0 && transfer.msg_flags == FILEMSG_VERDICT)
		verdict = filemsg_verdict_decode(data, transfer.length);
	if (verdict == wanted)
		return TOOL_OK;
	fail("the receiver refuses %s: %s", name, filemsg_verdict_text(verdict));
	return verdict == FILEMSG_CORRUPT ? TOOL_VERIFY : TOOL_FAILED;
}

/* A receiver that reads no more has left a verdict that tells why. */
static int send_failed(struct sending *sending, const char *name, struct rdmachan_error *err)
{
	sending->lost = true;
	if (err->error == EPIPE)
		return await_verdict(sending, name, FILEMSG_STORED);
	return fail_error(err, "cannot send %s", name);
}

static int send_data(struct sending *sending, int fd, struct progress *progress,
		     uint8_t digest[FILEMSG_DIGEST_SIZE])
{
	uint64_t left = progress->total;
	struct rdmachan_error err;
	size_t want;
	ssize_t count;
	SHA2_CTX sha;

	SHA256Init(&sha);
	while (left) {
		want = left < FILEMSG_CHUNK ? left : FILEMSG_CHUNK;
		count = read(fd, sending->chunk, want);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			/* The header promised more. */
			sending->lost = true;
			return count ? fail_errno("cannot read %s", progress->name) :
			       fail("%s became shorter while it was sent", progress->name);
		}
		SHA256Update(&sha, sending->chunk, count);
		if (send_message(sending, FILEMSG_DATA, sending->chunk, count, &err) < 0)
			return send_failed(sending, progress->name, &err);
		progress_add(progress, count);
		left -= count;
	}
	SHA256Final(digest, &sha);
	return TOOL_OK;
}

static int send_open_file(struct sending *sending, int fd, const struct filemsg_header *header)
{
	uint8_t digest[FILEMSG_DIGEST_SIZE];
	uint8_t data[FILEMSG_HEADER_MAX];
	struct progress progress;
	struct rdmachan_error err;
	size_t length;
	int status;

	length = filemsg_header_encode(header, data);
	if (send_message(sending, FILEMSG_HEADER, data, length, &err) < 0)
		return send_failed(sending, header->name, &err);
	status = await_verdict(sending, header->name, FILEMSG_READY);
	if (status)
		return status;
	progress_begin(&progress, header->name, header->size, sending->quiet);
	status = send_data(sending, fd, &progress, digest);
	if (!status && send_message(sending, FILEMSG_TRAILER, digest, sizeof(digest), &err) < 0)
		status = send_failed(sending, header->name, &err);
	else if (!status)
		status = await_verdict(sending, header->name, FILEMSG_STORED);
	progress_clear(&progress);
	if (!status && !sending->quiet)
		progress_summary(&progress, "sent", "");
	return status;
}

static int send_file(struct sending *sending, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct filemsg_header header = { 0 };
	struct stat stat;
	int fd, status;

	if (!filemsg_name_valid(name))
		return fail("\"%s\" is not the name of a file that may be sent", path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail_errno("cannot open %s", path);
	if (fstat(fd, &stat) < 0) {
		status = fail_errno("cannot look at %s", path);
	} else if (!S_ISREG(stat.st_mode)) {
		status = fail("%s is not a regular file", path);
	} else {
		header.size = stat.st_size;
		header.mode = stat.st_mode & 0777;
		memcpy(header.name, name, strlen(name));
		status = send_open_file(sending, fd, &header);
	}
	close(fd);
	return status;
}

static int send_files(struct sending *sending, char **paths, int count)
{
	int status = TOOL_OK;
	int one, i;

	sending->chunk = malloc(FILEMSG_CHUNK);
	if (!sending->chunk)
		return fail_errno("no memory");
	for (i = 0; i < count && !sending->lost; i++) {
		one = send_file(sending, paths[i]);
		if (one > status)
			status = one;
	}
	free(sending->chunk);
	return status;
}

static const struct option options[] = {
	{ "quiet", no_argument, NULL, 'q' },
	PARSE_CONNECT_LONG,
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct rdmachan_options conn = RDMACHAN_OPTIONS_INIT;
	struct sending sending = { 0 };
	struct target target;
	int option, ctx, status;

	while ((option = getopt_long(argc, argv, "q" PARSE_CONNECT_SHORT, options, NULL)) != -1) {
		if (option == 'q')
			sending.quiet = true;
		else if (!parse_connect(option, optarg, &conn))
			return fail_usage(&cmd_send, NULL);
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
	"name. SERVICE is 7001 unless given.\n"
	"\n"
	"  -q, --quiet          no progress and no summary\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 7471\n"
	"\n"
	"Exit codes: 0 all files are stored, 1 a file could not be read or was refused,\n"
	"3 no connection or lost connection, 4 a checksum did not match.\n"
	"\n"
	"Examples:\n"
	"  rdmachan send report.pdf backup1\n"
	"  rdmachan send *.csv '[fd00::2]:7100'\n",
	.run = run,
};
