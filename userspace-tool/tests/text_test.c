// SPDX-License-Identifier: MIT
/*
 * text_test.c - what others wrote reaches no terminal as it is
 */
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>

#include "table.h"
#include "tap.h"
#include "text.h"

static void shown_is(const char *text, const char *wanted)
{
	char out[256];

	ok(is_text(text_escape(text, false, out, sizeof(out)), wanted), "%s", wanted);
}

static void test_escapes(void)
{
	shown_is("report.pdf", "report.pdf");
	shown_is("a\033[2J\n\t\177", "a\\x1b[2J\\x0a\\x09\\x7f");
	shown_is("a\302\233b\302\200", "a\\u009bb\\u0080");
	shown_is("a\233\377", "a\\x9b\\xff");
	shown_is("\303", "\\xc3");
	shown_is("\300\257", "\\xc0\\xaf");
	shown_is("x\342\200\256y\342\201\246", "x\\u202ey\\u2066");
	shown_is("x\342\200\213\357\273\277", "x\\u200b\\ufeff");
	shown_is("\363\240\201\201", "\\U000e0041");
	shown_is("gr\303\274n \346\227\245\360\237\230\200", "gr\303\274n \346\227\245\360\237\230\200");
}

static void test_other_charset(void)
{
	setlocale(LC_CTYPE, "C");
	shown_is("gr\303\274n", "gr\\u00fcn");
	shown_is("\304\233", "\\u011b");
	shown_is("plain", "plain");
	setlocale(LC_CTYPE, "C.UTF-8");
}

static void columns_are(const char *text, size_t wanted)
{
	ok(text_columns(text) == wanted, "%s has %zu columns", text, wanted);
}

static void cut_is(const char *text, size_t columns, const char *wanted)
{
	char out[64];

	ok(is_text(text_cut(text, columns, out, sizeof(out)), wanted), "in %zu columns %s is %s",
	   columns, text, wanted);
}

static void test_columns(void)
{
	columns_are("", 0);
	columns_are("abc", 3);
	columns_are("gr\303\274n", 4);
	columns_are("\346\227\245\346\234\254", 4);
	columns_are("e\314\201", 1);
	cut_is("abcdef", 6, "abcdef");
	cut_is("abcdef", 5, "ab...");
	cut_is("abcdef", 2, "..");
	cut_is("abcdef", 0, "");
	cut_is("\346\227\245\346\234\254\346\227\245", 6, "\346\227\245\346\234\254\346\227\245");
	cut_is("\346\227\245\346\234\254\346\227\245", 5, "\346\227\245...");
	cut_is("\346\227\245\346\234\254\346\227\245", 4, "...");
	cut_is("ae\314\201e\314\201e\314\201e\314\201", 4, "a...");
	cut_is("e\314\201e\314\201", 2, "e\314\201e\314\201");
	cut_is("abe\314\201xyz", 6, "abe\314\201xyz");
	cut_is("abe\314\201xyzw", 6, "abe\314\201...");
}

/* Nothing harmful is left in any case; it fits, and shown text stays as it is. */
static void test_noise(void)
{
	char text[40], out[40 * TEXT_ESCAPED + 1], again[sizeof(out)];
	bool all = true;
	size_t length;
	int i;

	srandom(1);
	for (i = 0; i < 200000 && all; i++) {
		length = random() % sizeof(text);
		memset(text, 0, sizeof(text));
		while (length--)
			text[length] = random() % 3 ? 0x80 | random() : 1 + random() % 255;
		text_escape(text, false, out, sizeof(out));
		all = text_plain(out) && !(strlen(out) < strlen(text)) &&
		      !strcmp(text_escape(out, false, again, sizeof(again)), out);
		length = 1 + random() % sizeof(out);
		text_escape(text, false, again, length);
		all = all && strlen(again) < length && text_plain(again);
		length = random() % 50;
		text_cut(out, length, again, sizeof(again));
		all = all && text_columns(again) <= length && text_plain(again);
	}
	ok(all, "of noise nothing harmful is left");
}

static void print_is(const char *wanted, void (*print)(FILE *out, const char *text),
		     const char *text)
{
	char *buffer = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&buffer, &size);

	print(out, text);
	fclose(out);
	ok(is_text(buffer, wanted), "printed with its escapes");
	free(buffer);
}

static void print_line(FILE *out, const char *text)
{
	text_print(out, "<%s>\n", text);
}

static void print_table(FILE *out, const char *text)
{
	struct table table;

	table_init(&table, "NAME -N");
	table_add(&table, "%s", text);
	table_add(&table, "1");
	table_add(&table, "ab");
	table_add(&table, "2");
	table_print(&table, out, "");
	table_free(&table);
}

static void test_printing(void)
{
	char large[5000], wanted[sizeof(large) * TEXT_ESCAPED];

	print_is("<a\\x0ab>\n", print_line, "a\nb");
	print_is("a\n\\x1b\n", text_put_lines, "a\n\033\n");
	print_is("NAME    N\n\346\227\245\346\227\245\346\227\245  1\nab      2\n", print_table,
		 "\346\227\245\346\227\245\346\227\245");
	print_is("NAME     N\n\\x1b[2J  1\nab       2\n", print_table, "\033[2J");
	memset(large, '\033', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	text_escape(large, true, wanted, sizeof(wanted));
	print_is(wanted, text_put_lines, large);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	test_escapes();
	test_other_charset();
	test_columns();
	test_noise();
	test_printing();
	return tap_end();
}
