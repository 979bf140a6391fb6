// SPDX-License-Identifier: MIT
/*
 * table.c - columns that are as wide as their widest cell
 */
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "text.h"
#include "tool.h"

/* @cell as it is shown; NULL when there is no memory. */
static char *shown(char *cell)
{
	size_t size = cell ? strlen(cell) * TEXT_ESCAPED + 1 : 0;
	char *text = cell ? malloc(size) : NULL;

	if (text)
		text_escape(cell, false, text, size);
	free(cell);
	return text;
}

static void append(struct table *table, char *cell)
{
	char **cells = reallocarray(table->cells, table->count + 1, sizeof(*cells));

	if (!cells || !cell)
		err(TOOL_FAILED, NULL);
	cells[table->count++] = cell;
	table->cells = cells;
}

void table_init(struct table *table, const char *headings)
{
	size_t length;

	memset(table, 0, sizeof(*table));
	while (*headings) {
		length = strcspn(headings, " ");
		append(table, strndup(headings, length));
		headings += length + strspn(headings + length, " ");
	}
	table->columns = table->count;
}

void table_add(struct table *table, const char *format, ...)
{
	va_list args;
	char *cell;

	va_start(args, format);
	if (vasprintf(&cell, format, args) < 0)
		cell = NULL;
	va_end(args);
	append(table, shown(cell));
}

size_t table_rows(const struct table *table)
{
	return table->count / table->columns - 1;
}

static const char *heading(const char *cell)
{
	return cell[0] == '-' && cell[1] ? cell + 1 : cell;
}

static int width(const struct table *table, size_t column)
{
	size_t widest = strlen(heading(table->cells[column]));
	size_t length, i;

	for (i = column + table->columns; i < table->count; i += table->columns) {
		length = text_columns(table->cells[i]);
		if (length > widest)
			widest = length;
	}
	return widest;
}

void table_print(const struct table *table, FILE *out, const char *indent)
{
	int widths[32];
	bool right[32];
	const char *cell;
	size_t column, i;
	int blanks;

	for (column = 0; column < table->columns && column < ARRAY_SIZE(widths); column++) {
		widths[column] = width(table, column);
		right[column] = heading(table->cells[column]) != table->cells[column];
	}
	for (i = 0; i < table->count; i++) {
		column = i % table->columns;
		cell = i < table->columns ? heading(table->cells[i]) : table->cells[i];
		fputs(column ? "  " : indent, out);
		blanks = widths[column] - text_columns(cell);
		if (right[column])
			fprintf(out, "%*s%s", blanks, "", cell);
		else if (column + 1 < table->columns)
			fprintf(out, "%s%*s", cell, blanks, "");
		else
			fputs(cell, out);
		if (column + 1 == table->columns)
			fputc('\n', out);
	}
}

void table_free(struct table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	memset(table, 0, sizeof(*table));
}
