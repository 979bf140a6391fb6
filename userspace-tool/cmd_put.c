// SPDX-License-Identifier: MIT
/*
 * cmd_put.c - "rdmachan put": writes to memory that "rdmachan lend" lends
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hold.h"

/* As much as there is, up to HOLD_CHUNK bytes; below 0 when it cannot be read. */
static ssize_t fill(int fd, char *chunk)
{
	size_t done = 0;
	ssize_t count;

	do {
		count = read(fd, chunk + done, HOLD_CHUNK - done);
		if (count > 0)
			done += count;
	} while (count > 0 ? done < HOLD_CHUNK : count < 0 && errno == EINTR);
	return count < 0 ? count : (ssize_t)done;
}

static int put(const struct holding *holding, int fd, const char *name)
{
	char *chunk = malloc(HOLD_CHUNK);
	uint64_t offset = holding->offset;
	struct rdmachan_error err;
	int status = TOOL_OK;
	ssize_t count;

	if (!chunk)
		return fail_errno("no memory");
	do {
		count = fill(fd, chunk);
		if (count < 0) {
			status = fail_errno("cannot read %s", name);
			break;
		}
		if (count && rdmachan_grant_write(holding->chan, holding->grant.grant, offset,
						  chunk, count, &err) < 0) {
			status = hold_failed(holding, &err);
			break;
		}
		offset += count;
	} while (count == HOLD_CHUNK);
	free(chunk);
	return status;
}

static const struct option options[] = {
	HOLD_LONG,
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct holding holding = HOLDING_INIT;
	int option, status, fd = STDIN_FILENO;
	const char *file;

	while ((option = getopt_long(argc, argv, HOLD_SHORT, options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_put, NULL);
		if (!hold_option(option, optarg, &holding))
			return fail_value(&cmd_put, option, optarg);
	}
	if (argc - optind < 1 || argc - optind > 2 || !hold_target(&holding, argv[optind + 1]))
		return fail_usage(&cmd_put, "say FILE HOST[:SERVICE], or FILE --listen SERVICE");
	file = argv[optind];
	if (strcmp(file, "-")) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return fail_errno("cannot open %s", file);
	}
	holding.writes = true;
	status = hold_begin(&holding);
	return status ? status : hold_end(&holding, put(&holding, fd, file));
}

const struct command cmd_put = {
	.name = "put",
	.summary = "write to memory that \"rdmachan lend\" lends",
	.help =
	"Usage: rdmachan put [OPTION]... FILE HOST[:SERVICE]\n"
	"\n"
	"Writes the bytes of FILE, or of standard input if FILE is \"-\", to the memory that\n"
	"\"rdmachan lend\" at HOST lends, and gives the memory back.\n"
	"\n"
	HOLD_HELP
	"\n"
	"Examples:\n"
	"  rdmachan put notes.txt db1\n"
	"  echo hello | rdmachan put --offset 100 - db1\n",
	.run = run,
};
