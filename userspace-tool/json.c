// SPDX-License-Identifier: MIT
/*
 * json.c - a writer of JSON
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "json.h"

/*
 * Bytes of the UTF-8 character at @text, 0 when it is not one: names of files and
 * devices may be any bytes, JSON may not.
 */
static unsigned int utf8_length(const unsigned char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int length, i;
	uint32_t code;

	if (text[0] < 0x80)
		return 1;
	length = text[0] >= 0xf8 ? 0 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 :
		 text[0] >= 0xc0 ? 2 : 0;
	if (!length)
		return 0;
	code = text[0] & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

static void put_string(FILE *out, const char *value)
{
	const unsigned char *text = (const unsigned char *)value;
	unsigned int length;

	fputc('"', out);
	while (*text) {
		length = utf8_length(text);
		if (!length) {
			fputs("\\ufffd", out);
			length = 1;
		} else if (*text == '"' || *text == '\\') {
			fprintf(out, "\\%c", *text);
		} else if (*text < 0x20 || *text == 0x7f) {
			fprintf(out, "\\u%04x", *text);
		} else {
			fwrite(text, 1, length, out);
		}
		text += length;
	}
	fputc('"', out);
}

/* What stands before a value: comma, line, indentation and key. */
static void begin(struct json *json, const char *key)
{
	unsigned int i;

	if (json->depth) {
		fputs(json->used[json->depth] ? ",\n" : "\n", json->out);
		for (i = 0; i < json->depth; i++)
			fputs("  ", json->out);
	}
	json->used[json->depth] = true;
	if (key) {
		put_string(json->out, key);
		fputs(": ", json->out);
	}
}

static void end(struct json *json)
{
	if (!json->depth)
		fputc('\n', json->out);
}

static void open_one(struct json *json, const char *key, char open, char close)
{
	assert(json->depth < JSON_DEPTH);
	begin(json, key);
	fputc(open, json->out);
	json->depth++;
	json->used[json->depth] = false;
	json->close[json->depth] = close;
}

void json_object(struct json *json, const char *key)
{
	open_one(json, key, '{', '}');
}

void json_array(struct json *json, const char *key)
{
	open_one(json, key, '[', ']');
}

void json_end(struct json *json)
{
	unsigned int i;
	char close;

	assert(json->depth);
	close = json->close[json->depth];
	if (json->used[json->depth]) {
		fputc('\n', json->out);
		for (i = 1; i < json->depth; i++)
			fputs("  ", json->out);
	}
	json->depth--;
	fputc(close, json->out);
	end(json);
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin(json, key);
	put_string(json->out, value);
	end(json);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
	end(json);
}

void json_decimal(struct json *json, const char *key, double value, int digits)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	fprintf(json->out, "%.*f", digits, value);
	end(json);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
	end(json);
}

void json_null(struct json *json, const char *key)
{
	begin(json, key);
	fputs("null", json->out);
	end(json);
}
