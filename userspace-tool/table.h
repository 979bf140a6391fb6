/* SPDX-License-Identifier: MIT */
/*
 * table.h - columns that are as wide as their widest cell
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdio.h>

/**
 * struct table - cells, row by row; the first row is the heading
 * @columns: cells in a row
 * @count: cells there are
 * @cells: their text
 */
struct table {
	size_t columns;
	size_t count;
	char **cells;
};

/* Headings are divided by blanks; "-SENT" is a column of numbers, set to the right. */
void table_init(struct table *table, const char *headings);
void table_add(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
size_t table_rows(const struct table *table);
void table_print(const struct table *table, FILE *out, const char *indent);
void table_free(struct table *table);

#endif /* TABLE_H */
