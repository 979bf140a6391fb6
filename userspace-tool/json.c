// SPDX-License-Identifier: MIT
/*
 * json.c - a writer of JSON
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "json.h"
#include "text.h"

/* What a terminal would obey or hide: JSON has it as numbers of UTF-16. */
static void put_escaped(FILE *out, int32_t code)
{
	if (code >= 0x10000) {
		code -= 0x10000;
		fprintf(out, "\\u%04x", 0xd800 | (unsigned int)code >> 10);
		code = 0xdc00 | (code & 0x3ff);
	}
	fprintf(out, "\\u%04x", (unsigned int)code);
}

static void put_string(FILE *out, const char *value)
{
	unsigned int length;
	int32_t code;

	fputc('"', out);
	for (; *value; value += length) {
		code = text_decode(value, &length);
		if (code < 0)
			fputs("\\ufffd", out);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (char)code);
		else if (!text_harmless(code))
			put_escaped(out, code);
		else
			fwrite(value, 1, length, out);
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
