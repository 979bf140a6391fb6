// SPDX-License-Identifier: MIT
/*
 * profile.c - a plugin for QEMU: how often each piece of the guest's code ran
 *
 * Counts instructions between two marks that a program of the guest executes, see profile_mark() in
 * ../mark.h. It writes lines "ADDRESS INSTRUCTIONS TIMES" to the file that the argument out= names,
 * one for each block that was translated. One virtual CPU.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mark.h"
#include "profile.h"

#define EXPORT __attribute__((visibility("default")))
#define BLOCKS 0x100000

EXPORT int qemu_plugin_version = 1;

static struct block {
	uint64_t address;
	uint64_t length;
	uint64_t instructions;
	uint64_t before;
	uint64_t counted;
} *blocks;

static size_t used;
static char path[256];

static void begin(unsigned int cpu, void *data)
{
	size_t i;

	for (i = 0; i < used; i++)
		blocks[i].before = blocks[i].instructions;
}

static void end(unsigned int cpu, void *data)
{
	size_t i;

	for (i = 0; i < used; i++) {
		blocks[i].counted += blocks[i].instructions - blocks[i].before;
		blocks[i].before = blocks[i].instructions;
	}
}

static void look_for_marks(struct qemu_plugin_insn *insn)
{
	const void *code = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) != MARK_SIZE)
		return;
	if (!memcmp(code, MARK_BEGIN, MARK_SIZE))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, NO_REGISTERS, NULL);
	if (!memcmp(code, MARK_END, MARK_SIZE))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, end, NO_REGISTERS, NULL);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *block;

	if (used == BLOCKS)
		abort();
	block = &blocks[used++];
	block->address = qemu_plugin_tb_vaddr(tb);
	block->length = n;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &block->instructions, n);
	for (i = 0; i < n; i++)
		look_for_marks(qemu_plugin_tb_get_insn(tb, i));
}

static void finished(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(path, "w");
	size_t i;

	if (!file)
		return;
	for (i = 0; i < used; i++)
		if (blocks[i].counted)
			fprintf(file, "%016" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
				blocks[i].address, blocks[i].counted,
				blocks[i].counted / blocks[i].length);
	fclose(file);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			snprintf(path, sizeof(path), "%s", argv[i] + 4);
	blocks = calloc(BLOCKS, sizeof(*blocks));
	if (!blocks || !path[0])
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, finished, NULL);
	return 0;
}
