// SPDX-License-Identifier: MIT
/*
 * cmd_explain.c - "rdmachan explain": what a cause means
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "near.h"
#include "parse.h"
#include "tool.h"

/* No errno of Linux is larger. */
#define ERRNO_LAST	133
/* Of the last line of an explanation. */
#define HINT	"What to do: "

/* Causes are numbered without gaps: the first that has no name ends them. */
static bool cause_known(uint32_t cause)
{
	return rdmachan_cause_name(cause);
}

/* "6", "no-service", "NO_SERVICE" and "RDMACHAN_CAUSE_NO_SERVICE" are the same. */
static bool parse_cause(const char *text, uint32_t *cause)
{
	static const char prefix[] = "RDMACHAN_CAUSE_";
	char name[64];
	uint32_t i;

	if (parse_u32(text, 0, UINT32_MAX, cause))
		return cause_known(*cause);
	if (!strncasecmp(text, prefix, sizeof(prefix) - 1))
		text += sizeof(prefix) - 1;
	for (i = 0; text[i] && i < sizeof(name) - 1; i++)
		name[i] = text[i] == '_' ? '-' : text[i];
	name[i] = '\0';
	for (i = 0; cause_known(i); i++) {
		if (!strcasecmp(name, rdmachan_cause_name(i))) {
			*cause = i;
			return true;
		}
	}
	return false;
}

/* An errno by its name, or 0. */
static uint32_t parse_errno(const char *text)
{
	const char *name;
	int error;

	for (error = 1; error <= ERRNO_LAST; error++) {
		name = strerrorname_np(error);
		if (name && !strcasecmp(name, text))
			return error;
	}
	return 0;
}

static void print_json(struct json *json, uint32_t cause)
{
	uint32_t error = rdmachan_cause_error(cause);

	json_object(json, NULL);
	json_number(json, "cause", cause);
	json_string(json, "name", rdmachan_cause_name(cause));
	json_string(json, "error", error ? strerrorname_np(error) : "");
	json_string(json, "text", rdmachan_cause_text(cause));
	json_string(json, "hint", rdmachan_cause_hint(cause));
	json_end(json);
}

static void print_text(uint32_t cause)
{
	uint32_t error = rdmachan_cause_error(cause);

	printf("%s (%u)", rdmachan_cause_name(cause), cause);
	if (error)
		printf(", %s", strerrorname_np(error));
	printf("\n  %s\n  What to do: %s\n", rdmachan_cause_text(cause),
	       rdmachan_cause_hint(cause));
}

static void print(struct json *json, uint32_t cause)
{
	if (json)
		print_json(json, cause);
	else
		print_text(cause);
}

/* One that comes without a cause. The first line tells only that a call has failed. */
static void print_refusal(struct json *json, uint32_t error)
{
	struct rdmachan_error err = { .size = sizeof(err), .error = error };
	char words[RDMACHAN_EXPLAIN_MAX], *text, *hint;

	rdmachan_explain(&err, words, sizeof(words));
	text = strchrnul(words, '\n');
	text += *text == '\n';
	hint = strstr(text, HINT);
	if (!json) {
		printf("  %.*s\n  %s", (int)strcspn(text, "\n"), text, hint ? hint : "\n");
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (hint)
		hint[strcspn(hint, "\n")] = '\0';
	json_object(json, NULL);
	json_number(json, "cause", RDMACHAN_CAUSE_NONE);
	json_string(json, "name", rdmachan_cause_name(RDMACHAN_CAUSE_NONE));
	json_string(json, "error", strerrorname_np(error));
	json_string(json, "text", text);
	json_string(json, "hint", hint ? hint + strlen(HINT) : "");
	json_end(json);
}

/* All causes that have this errno. */
static void print_error(struct json *json, uint32_t error)
{
	bool some = false;
	uint32_t cause;

	if (!json)
		printf("%s (%u): %s\n", strerrorname_np(error), error, strerror(error));
	for (cause = 1; cause_known(cause); cause++) {
		if (rdmachan_cause_error(cause) != error)
			continue;
		some = true;
		print(json, cause);
	}
	if (!some)
		print_refusal(json, error);
}

static int no_cause(const char *text)
{
	struct near near;
	const char *name;
	uint32_t cause;

	near_begin(&near, text, strlen(text));
	for (cause = 1; cause_known(cause); cause++) {
		name = rdmachan_cause_name(cause);
		near_try(&near, name, strlen(name));
	}
	if (near.best)
		return fail("there is no cause or errno \"%s\"; is \"%s\" meant?", text, near.best);
	return fail("there is no cause or errno \"%s\"; --all lists causes", text);
}

static int explain(char **texts, int count, struct json *json)
{
	uint32_t cause, error;
	int i;

	for (i = 0; i < count; i++) {
		error = parse_errno(texts[i]);
		if (error)
			print_error(json, error);
		else if (parse_cause(texts[i], &cause))
			print(json, cause);
		else
			return no_cause(texts[i]);
	}
	for (cause = 1; !count && cause_known(cause); cause++)
		print(json, cause);
	return TOOL_OK;
}

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "json", no_argument, NULL, 'j' },
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct json writer = JSON_INIT(stdout);
	struct json *json = NULL;
	bool all = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "aj", options, NULL)) != -1) {
		if (option == 'a')
			all = true;
		else if (option == 'j')
			json = &writer;
		else
			return fail_usage(&cmd_explain, NULL);
	}
	if (all != (optind == argc))
		return fail_usage(&cmd_explain, "say causes, or --all");
	if (json)
		json_array(json, NULL);
	status = explain(argv + optind, argc - optind, json);
	if (json)
		json_end(json);
	return status;
}

const struct command cmd_explain = {
	.name = "explain",
	.summary = "explain a cause of failure, by number, name or errno",
	.help =
	"Usage: rdmachan explain [--json] CAUSE...\n"
	"       rdmachan explain [--json] --all\n"
	"\n"
	"Says what a cause of failure means and what to do about it. CAUSE is the number\n"
	"or the name of an enum rdmachan_cause, as error records and logs have it; or the\n"
	"name of an errno, which stands for all causes that come with it.\n"
	"\n"
	"  -a, --all    all of them\n"
	"  -j, --json   write one JSON array\n"
	"\n"
	"Examples:\n"
	"  rdmachan explain 6\n"
	"  rdmachan explain no-service PEER_DEAD\n"
	"  rdmachan explain ECONNREFUSED\n",
	.run = run,
};
