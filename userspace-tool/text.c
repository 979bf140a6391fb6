// SPDX-License-Identifier: MIT
/*
 * text.c - text that others wrote, on its way to a terminal or a log
 */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "text.h"
#include "tool.h"

/* Bytes of a message up to which it needs no memory of its own. */
#define TEXT_USUAL	1024

struct range {
	int32_t first;
	int32_t last;
};

/* In ascending order. */
static const struct range harmful[] = {
	{ 0x00, 0x1f },		/* control characters, C0 */
	{ 0x7f, 0x9f },		/* delete, and C1 */
	{ 0xad, 0xad },		/* soft hyphen */
	{ 0x34f, 0x34f },	/* combining grapheme joiner */
	{ 0x61c, 0x61c },	/* Arabic letter mark */
	{ 0x115f, 0x1160 },	/* fillers */
	{ 0x17b4, 0x17b5 },	/* vowels that are not shown */
	{ 0x180b, 0x180f },	/* selectors and separator of Mongolian */
	{ 0x200b, 0x200f },	/* zero width, marks of direction */
	{ 0x2028, 0x202e },	/* separators of lines, embeddings and overrides of direction */
	{ 0x2060, 0x206f },	/* invisible operators, isolates of direction */
	{ 0x3164, 0x3164 },	/* filler */
	{ 0xd800, 0xdfff },	/* surrogates */
	{ 0xfeff, 0xfeff },	/* byte order mark */
	{ 0xffa0, 0xffa0 },	/* filler */
	{ 0xfff0, 0xfffb },	/* specials, and annotations between the lines */
	{ 0xfffe, 0xffff },	/* no characters */
	{ 0x1d173, 0x1d17a },	/* beams and slurs of music */
	{ 0xe0000, 0xe00ff },	/* tags */
};

int32_t text_decode(const char *text, unsigned int *length)
{
	static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned int count, i;
	int32_t code;

	*length = 1;
	if (bytes[0] < 0x80)
		return bytes[0];
	count = bytes[0] >= 0xf8 ? 0 : bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 :
		bytes[0] >= 0xc0 ? 2 : 0;
	if (!count)
		return -1;
	code = bytes[0] & (0x7f >> count);
	for (i = 1; i < count; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return -1;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[count] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return -1;
	*length = count;
	return code;
}

bool text_harmless(int32_t code)
{
	size_t i;

	if (code < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(harmful) && code >= harmful[i].first; i++) {
		if (code <= harmful[i].last)
			return false;
	}
	return true;
}

bool text_plain(const char *text)
{
	unsigned int length;

	for (; *text; text += length) {
		if (!text_harmless(text_decode(text, &length)))
			return false;
	}
	return true;
}

/* A terminal of another character set takes some bytes of UTF-8 for control characters. */
static bool shown_as_it_is(int32_t code)
{
	if (!text_harmless(code))
		return false;
	return code < 0x80 || (!strcmp(nl_langinfo(CODESET), "UTF-8") && wcwidth(code) >= 0);
}

char *text_escape(const char *text, bool lines, char *out, size_t size)
{
	unsigned int length, bytes;
	char one[16];
	size_t used = 0;
	int32_t code;

	for (; *text; text += length) {
		code = text_decode(text, &length);
		if ((lines && code == '\n') || shown_as_it_is(code)) {
			memcpy(one, text, length);
			bytes = length;
		} else if (code < 0x80) {
			bytes = snprintf(one, sizeof(one), "\\x%02x", (unsigned char)*text);
		} else if (code < 0x10000) {
			bytes = snprintf(one, sizeof(one), "\\u%04x", (unsigned int)code);
		} else {
			bytes = snprintf(one, sizeof(one), "\\U%08x", (unsigned int)code);
		}
		if (bytes >= size - used)
			break;
		memcpy(out + used, one, bytes);
		used += bytes;
	}
	out[used] = '\0';
	return out;
}

static size_t columns_of(int32_t code)
{
	int width = code < 0x80 ? 1 : wcwidth(code);

	return width < 0 ? 1 : width;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;
	unsigned int length;

	for (; *text; text += length)
		columns += columns_of(text_decode(text, &length));
	return columns;
}

/* Bytes of @text that fit into @columns, with what has no width behind them. */
static size_t fitting(const char *text, size_t columns)
{
	const char *at = text;
	unsigned int length;
	size_t width;

	for (; *at; at += length) {
		width = columns_of(text_decode(at, &length));
		if (width > columns)
			break;
		columns -= width;
	}
	return at - text;
}

char *text_cut(const char *text, size_t columns, char *out, size_t size)
{
	static const char dots[] = "...";
	size_t tail = 0, bytes;

	if (text_columns(text) > columns)
		tail = columns < sizeof(dots) - 1 ? columns : sizeof(dots) - 1;
	bytes = fitting(text, columns - tail);
	if (bytes + tail >= size) {
		out[0] = '\0';
		return out;
	}
	memcpy(out, text, bytes);
	memcpy(out + bytes, dots, tail);
	out[bytes + tail] = '\0';
	return out;
}

static void put(FILE *out, const char *text, bool lines)
{
	size_t size = strlen(text) * TEXT_ESCAPED + 1;
	char usual[TEXT_USUAL * TEXT_ESCAPED];
	char *shown = size <= sizeof(usual) ? usual : malloc(size);

	if (shown)
		fputs(text_escape(text, lines, shown, size), out);
	else
		fputs("(there is no memory to tell it)", out);
	if (shown != usual)
		free(shown);
}

void text_put_lines(FILE *out, const char *text)
{
	put(out, text, true);
}

void text_vprint(FILE *out, const char *format, va_list args)
{
	size_t length;
	bool newline;
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		fputs(format, out);
		return;
	}
	length = strlen(format);
	newline = length && format[length - 1] == '\n';
	length = strlen(text);
	if (newline && length)
		text[length - 1] = '\0';
	put(out, text, false);
	if (newline)
		fputc('\n', out);
	free(text);
}

void text_print(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vprint(out, format, args);
	va_end(args);
}
