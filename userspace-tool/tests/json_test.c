// SPDX-License-Identifier: MIT
/*
 * json_test.c - what is written is JSON, whatever the strings are
 */
#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "tap.h"

static char *text;
static size_t length;

static struct json begin(void)
{
	struct json json = JSON_INIT(open_memstream(&text, &length));

	return json;
}

static void written_is(struct json *json, const char *wanted, const char *what)
{
	fclose(json->out);
	ok(is_text(text, wanted), "%s", what);
	free(text);
}

static void string_is(const char *value, const char *wanted, const char *what)
{
	struct json json = begin();

	json_string(&json, NULL, value);
	written_is(&json, wanted, what);
}

static void test_strings(void)
{
	string_is("", "\"\"\n", "an empty string");
	string_is("a\"b\\c", "\"a\\\"b\\\\c\"\n", "quotes and backslashes");
	string_is("\n\t\001\177", "\"\\u000a\\u0009\\u0001\\u007f\"\n", "control characters");
	string_is("gr\303\274n \342\202\254 \360\237\230\200",
		  "\"gr\303\274n \342\202\254 \360\237\230\200\"\n", "UTF-8 stays");
	string_is("\374x", "\"\\ufffdx\"\n", "a byte of Latin 1");
	string_is("\303", "\"\\ufffd\"\n", "a character that is cut short");
	string_is("\300\257", "\"\\ufffd\\ufffd\"\n", "an overlong slash");
	string_is("\355\240\200", "\"\\ufffd\\ufffd\\ufffd\"\n", "a surrogate");
	string_is("\364\220\200\200", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n", "beyond Unicode");
}

static void test_values(void)
{
	struct json json = begin();

	json_object(&json, NULL);
	json_number(&json, "n", UINT64_MAX);
	json_decimal(&json, "d", 1.0 / 3, 3);
	json_decimal(&json, "x", NAN, 3);
	json_bool(&json, "b", true);
	json_null(&json, "z");
	json_array(&json, "empty");
	json_end(&json);
	json_array(&json, "a");
	json_number(&json, NULL, 1);
	json_object(&json, NULL);
	json_end(&json);
	json_end(&json);
	json_end(&json);
	written_is(&json,
		   "{\n  \"n\": 18446744073709551615,\n  \"d\": 0.333,\n  \"x\": null,\n"
		   "  \"b\": true,\n  \"z\": null,\n  \"empty\": [],\n  \"a\": [\n    1,\n    {}\n"
		   "  ]\n}\n", "values, objects and arrays");
}

int main(void)
{
	test_strings();
	test_values();
	return tap_end();
}
