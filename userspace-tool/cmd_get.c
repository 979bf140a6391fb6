// SPDX-License-Identifier: MIT
/*
 * cmd_get.c - "rdmachan get": reads memory that "rdmachan lend" lends
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "hold.h"

/* @length UINT64_MAX: all there is. */
static int get(const struct holding *holding, uint64_t length)
{
	uint64_t offset = holding->offset;
	struct rdmachan_error err;
	int status = TOOL_OK;
	size_t part;
	void *chunk;

	if (length == UINT64_MAX)
		length = offset < holding->grant.length ? holding->grant.length - offset : 0;
	part = length < HOLD_CHUNK ? length : HOLD_CHUNK;
	chunk = malloc(part ? part : 1);
	if (!chunk)
		return fail_errno("no memory");
	do {
		part = length < HOLD_CHUNK ? length : HOLD_CHUNK;
		if (rdmachan_grant_read(holding->chan, holding->grant.grant, offset, chunk, part,
					&err) < 0) {
			status = hold_failed(holding, &err);
			break;
		}
		if (fwrite(chunk, 1, part, stdout) != part) {
			status = fail_errno("cannot write standard output");
			break;
		}
		offset += part;
		length -= part;
	} while (length);
	free(chunk);
	return status;
}

static const struct option options[] = {
	{ "length", required_argument, NULL, 'n' },
	HOLD_LONG,
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct holding holding = HOLDING_INIT;
	uint64_t length = UINT64_MAX;
	int option, status;

	while ((option = getopt_long(argc, argv, "n:" HOLD_SHORT, options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_get, NULL);
		if (option == 'n' ? !parse_size(optarg, INT64_MAX, &length) :
				    !hold_option(option, optarg, &holding))
			return fail_value(&cmd_get, option, optarg);
	}
	if (argc - optind > 1 || !hold_target(&holding, argv[optind]))
		return fail_usage(&cmd_get, "say HOST[:SERVICE], or --listen SERVICE");
	status = hold_begin(&holding);
	return status ? status : hold_end(&holding, get(&holding, length));
}

const struct command cmd_get = {
	.name = "get",
	.summary = "read memory that \"rdmachan lend\" lends",
	.help =
	"Usage: rdmachan get [OPTION]... HOST[:SERVICE]\n"
	"\n"
	"Reads the memory that \"rdmachan lend\" at HOST lends, writes the bytes to standard\n"
	"output, and gives the memory back.\n"
	"\n"
	"  -n, --length SIZE    so many bytes, instead of all\n"
	HOLD_HELP
	"\n"
	"Examples:\n"
	"  rdmachan get db1 >notes.txt\n"
	"  rdmachan get --offset 4k --length 16 db1 | od -t x1\n"
	"  rdmachan get --listen 7100\n",
	.run = run,
};
