// SPDX-License-Identifier: MIT
/*
 * cmd_cas.c - "rdmachan cas": compares and swaps a number that "rdmachan lend" lends
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "hold.h"

/* As the exit code of a comparison: it was swapped, or not. */
static int cas(const struct holding *holding, uint64_t compare, uint64_t swap)
{
	struct rdmachan_error err;
	uint64_t before;

	if (rdmachan_grant_compare_swap(holding->chan, holding->grant.grant, holding->offset,
					compare, swap, &before, &err) < 0)
		return hold_atomic_failed(holding, &err);
	printf("%" PRIu64 "\n", before);
	return before == compare ? TOOL_OK : TOOL_VERIFY;
}

static const struct option options[] = {
	HOLD_LONG,
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct holding holding = HOLDING_INIT;
	uint64_t compare, swap;
	int option, status;

	while ((option = getopt_long(argc, argv, HOLD_SHORT, options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_cas, NULL);
		if (!hold_option(option, optarg, &holding))
			return fail_value(&cmd_cas, option, optarg);
	}
	if (argc - optind < 2 || argc - optind > 3 || !hold_target(&holding, argv[optind + 2]))
		return fail_usage(&cmd_cas, "say COMPARE SWAP HOST[:SERVICE], or COMPARE SWAP "
				  "--listen SERVICE");
	if (!parse_operand(argv[optind], &compare) || !parse_operand(argv[optind + 1], &swap))
		return fail_usage(&cmd_cas, "\"%s\" and \"%s\" are not two numbers of 64 bits",
				  argv[optind], argv[optind + 1]);
	holding.writes = true;
	status = hold_begin(&holding);
	return status ? status : hold_end(&holding, cas(&holding, compare, swap));
}

const struct command cmd_cas = {
	.name = "cas",
	.summary = "compare and swap a number that \"rdmachan lend\" lends, atomically",
	.help =
	"Usage: rdmachan cas [OPTION]... COMPARE SWAP HOST[:SERVICE]\n"
	"\n"
	"Replaces a number of 64 bits in the memory that \"rdmachan lend --rights atomic\" at\n"
	"HOST lends by SWAP if it is COMPARE, in one step, prints the number as it was\n"
	"before, and gives the memory back. The exit code is 0 when it was replaced and 4\n"
	"when it was another number.\n"
	"\n"
	HOLD_HELP
	"\n"
	"Examples:\n"
	"  rdmachan cas 0 1 db1 && echo 'the lock is ours'\n",
	.run = run,
};
