// SPDX-License-Identifier: MIT
/*
 * cmd_add.c - "rdmachan add": adds to a number that "rdmachan lend" lends
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "hold.h"

static int add(const struct holding *holding, uint64_t number)
{
	struct rdmachan_error err;
	uint64_t before;

	if (rdmachan_grant_fetch_add(holding->chan, holding->grant.grant, holding->offset, number,
				     &before, &err) < 0)
		return hold_atomic_failed(holding, &err);
	printf("%" PRIu64 "\n", before);
	return TOOL_OK;
}

static const struct option options[] = {
	HOLD_LONG,
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct holding holding = HOLDING_INIT;
	uint64_t number;
	int option, status;

	while ((option = getopt_long(argc, argv, HOLD_SHORT, options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_add, NULL);
		if (!hold_option(option, optarg, &holding))
			return fail_value(&cmd_add, option, optarg);
	}
	if (argc - optind < 1 || argc - optind > 2 || !hold_target(&holding, argv[optind + 1]))
		return fail_usage(&cmd_add, "say N HOST[:SERVICE], or N --listen SERVICE");
	if (!parse_operand(argv[optind], &number))
		return fail_usage(&cmd_add, "\"%s\" is not a number of 64 bits", argv[optind]);
	holding.writes = true;
	status = hold_begin(&holding);
	return status ? status : hold_end(&holding, add(&holding, number));
}

const struct command cmd_add = {
	.name = "add",
	.summary = "add to a number that \"rdmachan lend\" lends, atomically",
	.help =
	"Usage: rdmachan add [OPTION]... N HOST[:SERVICE]\n"
	"\n"
	"Adds N to a number of 64 bits in the memory that \"rdmachan lend --rights atomic\" at\n"
	"HOST lends, in one step, prints the number as it was before, and gives the memory\n"
	"back. Put \"--\" before an N that is negative.\n"
	"\n"
	HOLD_HELP
	"\n"
	"Examples:\n"
	"  rdmachan add 1 db1\n"
	"  rdmachan add --offset 8 -- -1 db1\n",
	.run = run,
};
