/* SPDX-License-Identifier: MIT */
/*
 * json.h - a writer of JSON
 *
 *	struct json json = JSON_INIT(stdout);
 *
 *	json_object(&json, NULL);
 *	json_string(&json, "name", "rxe0");
 *	json_array(&json, "ports");
 *	json_number(&json, NULL, 1);
 *	json_end(&json);
 *	json_end(&json);
 *
 * Members of an object have a key, elements of an array and the outermost value
 * have NULL. The outermost value is followed by a newline.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH	16

/**
 * struct json - the state of writing
 * @out: where to
 * @depth: number of objects and arrays that are open
 * @used: whether the one at each depth has a member already
 * @close: how the one at each depth is closed
 */
struct json {
	FILE *out;
	unsigned int depth;
	bool used[JSON_DEPTH + 1];
	char close[JSON_DEPTH + 1];
};

#define JSON_INIT(file)	{ .out = (file) }

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
void json_end(struct json *json);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_decimal(struct json *json, const char *key, double value, int digits);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif /* JSON_H */
