// SPDX-License-Identifier: MIT
/*
 * profile.c - a plugin for QEMU: how often each piece of the guest's code ran
 *
 * Counts instructions between two marks that a program of the guest executes, see
 * profile_mark() in ../mark.h, and writes lines "ADDRESS INSTRUCTIONS" to the file that the
 * argument out= names, one for each block that was translated. One virtual CPU.
 *
 * The plugin interface is version 1 (QEMU 4.2 and later); Debian ships no header of it, so
 * what is used is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mark.h"

#define EXPORT __attribute__((visibility("default")))
#define BLOCKS (1 << 20)

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { ADD_U64, NO_REGISTERS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr,
					      uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *), int flags,
					    void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
				    void *userdata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

static struct block {
	uint64_t address;
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
	static const uint8_t marks[][MARK_SIZE] = { MARK_BEGIN, MARK_END };
	const void *code = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) != MARK_SIZE)
		return;
	if (!memcmp(code, marks[0], MARK_SIZE))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, NO_REGISTERS, NULL);
	if (!memcmp(code, marks[1], MARK_SIZE))
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
			fprintf(file, "%016" PRIx64 " %" PRIu64 "\n", blocks[i].address,
				blocks[i].counted);
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
