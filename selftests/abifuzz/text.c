// SPDX-License-Identifier: GPL-2.0
/*
 * text.c - cases as text
 *
 * A line is a call: thread, name, slot, slot of a new file, how often, values; zeros at
 * the end are left out. An empty line ends a case, and # begins a comment.
 */
#include <stdlib.h>
#include <string.h>

#include "abi_fuzz.h"

#define BLANK "\n "

static int op_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < ops_count; i++)
		if (!strcmp(ops[i].name, name))
			return i;
	return -1;
}

static bool parse_call(struct call *call, char *line)
{
	uint8_t *numbers[3 + VALUES] = { &call->slot, &call->to, &call->times };
	char *word, *end, *rest;
	unsigned int i;
	int op;

	memset(call, 0, sizeof(*call));
	for (i = 0; i < VALUES; i++)
		numbers[3 + i] = &call->value[i];
	word = strtok_r(line, BLANK, &rest);
	call->thread = strtoul(word, &end, 10);
	word = *end ? NULL : strtok_r(NULL, BLANK, &rest);
	op = word ? op_named(word) : -1;
	if (op < 0)
		return false;
	call->op = op;
	for (i = 0; (word = strtok_r(NULL, BLANK, &rest)); i++) {
		if (i == 3 + VALUES)
			return false;
		*numbers[i] = strtoul(word, &end, 10);
		if (*end)
			return false;
	}
	return true;
}

/* The next case. Return: false at the end; @bad says whether it is one of nonsense. */
bool case_read(FILE *file, struct abi_case *c, bool *bad)
{
	char line[256];

	memset(c, 0, sizeof(*c));
	*bad = false;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (line[0] == '\n') {
			if (c->count)
				return true;
			continue;
		}
		*bad = c->count == CALLS_MAX || !parse_call(&c->calls[c->count], line);
		if (*bad)
			return false;
		c->count++;
	}
	return c->count;
}

static void write_call(FILE *file, const struct call *call)
{
	uint8_t numbers[3 + VALUES] = { call->slot, call->to, call->times };
	unsigned int i, count = sizeof(numbers);

	memcpy(numbers + 3, call->value, VALUES);
	while (count && !numbers[count - 1])
		count--;
	fprintf(file, "%u %s", call->thread, ops[call->op].name);
	for (i = 0; i < count; i++)
		fprintf(file, " %u", numbers[i]);
	fputc('\n', file);
}

void case_write(FILE *file, const struct abi_case *c)
{
	unsigned int i;

	for (i = 0; i < c->count; i++)
		write_call(file, &c->calls[i]);
	fputc('\n', file);
}
