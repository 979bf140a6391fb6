// SPDX-License-Identifier: GPL-2.0
/*
 * reach.c - whether all that the interface has was called, and has succeeded
 */
#include <errno.h>
#include <string.h>

#include "common.h"
#include "abi_fuzz.h"

static const char *const opcode_names[OPCODES] = {
	[RDMACHAN_OPCODE_NOP] = "NOP",
	[RDMACHAN_OPCODE_SEND] = "SEND",
	[RDMACHAN_OPCODE_RECV] = "RECV",
	[RDMACHAN_OPCODE_ACCEPT] = "ACCEPT",
	[RDMACHAN_OPCODE_CONNECT] = "CONNECT",
	[RDMACHAN_OPCODE_SHUTDOWN] = "SHUTDOWN",
	[RDMACHAN_OPCODE_CANCEL] = "CANCEL",
	[RDMACHAN_OPCODE_READ] = "READ",
	[RDMACHAN_OPCODE_WRITE] = "WRITE",
	[RDMACHAN_OPCODE_FETCH_ADD] = "FETCH_ADD",
	[RDMACHAN_OPCODE_COMPARE_SWAP] = "COMPARE_SWAP",
	[RDMACHAN_OPCODE_RELEASE] = "RELEASE",
	[RDMACHAN_OPCODE_GRANT] = "GRANT",
	[RDMACHAN_OPCODE_REVOKE] = "REVOKE",
	[RDMACHAN_OPCODE_FINISH] = "FINISH",
	[RDMACHAN_OPCODE_MESSAGE] = "MESSAGE",
};

static const char *const deeds[PARTNER_DEEDS] = {
	[PARTNER_ACCEPT] = "accept",
	[PARTNER_CONNECT] = "connect",
	[PARTNER_SEND] = "send",
	[PARTNER_RECEIVE] = "receive",
	[PARTNER_GIVE] = "give",
	[PARTNER_REVOKE] = "revoke",
	[PARTNER_ACCESS] = "access",
	[PARTNER_RELEASE] = "release",
	[PARTNER_SHUTDOWN] = "shutdown",
	[PARTNER_FINISH] = "finish",
};

/** reach_completed - an operation of a queue has ended; the ring is the program's to spoil */
void reach_completed(uint64_t user_data, int64_t res)
{
	uint64_t opcode = user_data >> OPCODE_SHIFT;
	int64_t error = res < 0 ? -res : 0;

	if (opcode >= OPCODES || error < 0 || error >= 160)
		return;
	atomic_fetch_add_explicit(&engine_options()->stats->completed[opcode][error], 1,
				  memory_order_relaxed);
}

/* Return: whether it has never succeeded. */
static bool print(const char *name, const atomic_ulong *outcomes)
{
	unsigned int error;
	unsigned long count;

	printf("# %s:", name);
	for (error = 0; error < 160; error++) {
		count = outcomes[error];
		if (count)
			printf(" %s %lu", error ? strerrorname_np(error) : "ok", count);
	}
	printf("%s\n", outcomes[0] ? "" : "   never succeeded");
	return !outcomes[0];
}

static void print_partners(const struct engine_stats *stats)
{
	unsigned int deed;

	printf("# partners:");
	for (deed = 0; deed < PARTNER_DEEDS; deed++)
		printf(" %s %lu of %lu", deeds[deed], stats->partner[deed][1],
		       stats->partner[deed][0]);
	printf("\n");
}

/**
 * reach_report - print what came of each kind of call, and of each operation of queues
 * @stats: figures
 *
 * Return: how many of those that belong to the interface have never succeeded.
 */
int reach_report(const struct engine_stats *stats)
{
	unsigned int op, missing = 0;
	bool never;

	for (op = 0; op < ops_count; op++) {
		never = print(ops[op].name, stats->outcomes[op]);
		/* No number that is no command does. */
		missing += never && ops[op].errors & E_GENERAL && ops[op].run != call_unknown;
	}
	for (op = 0; op < OPCODES; op++)
		if (opcode_names[op])
			missing += print(opcode_names[op], stats->completed[op]);
	print_partners(stats);
	raw_report();
	return missing;
}
