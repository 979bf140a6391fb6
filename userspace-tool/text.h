/* SPDX-License-Identifier: MIT */
/*
 * text.h - text that others wrote, on its way to a terminal or a log
 *
 * Names of files and devices, and whatever a peer or user says, may hold what makes a terminal
 * do something, or what shows another text than there is. These are control characters, bytes that
 * are no UTF-8, marks that turn the direction of writing, characters without a width. None of that
 * is ever printed: it is escaped as in C, "\x1b" and "\u009b".
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes that one byte of a text has at most when it is escaped. */
#define TEXT_ESCAPED	4

/*
 * The character that @text begins with, and its bytes in *@length; -1 and a length of 1 when
 * that is no UTF-8.
 */
int32_t text_decode(const char *text, unsigned int *length);
/* Neither a control character nor anything else that is escaped; -1 is not. */
bool text_harmless(int32_t code);
/* All of it is harmless. */
bool text_plain(const char *text);
/*
 * @text as it is shown, in @out, cut before what does not fit into @size bytes. @lines: newlines
 * stay. What the user's character set does not have is escaped, too.
 */
char *text_escape(const char *text, bool lines, char *out, size_t size);
/* Columns of a terminal that it takes, when it is shown already. */
size_t text_columns(const char *text);
/* Its beginning in at most @columns, with "..." when something is missing; never half of a
 * character, nor one without its accents.
 */
char *text_cut(const char *text, size_t columns, char *out, size_t size);
/* printf() that escapes all but a newline at the end. */
void text_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprint(FILE *out, const char *format, va_list args);
/* The text with its newlines. */
void text_put_lines(FILE *out, const char *text);

#endif /* TEXT_H */
