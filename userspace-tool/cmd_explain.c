// SPDX-License-Identifier: MIT
/*
 * cmd_explain.c - "rdmachan explain": what a cause means
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "parse.h"
#include "tool.h"

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

static void print_json(struct json *json, uint32_t cause)
{
	json_object(json, NULL);
	json_number(json, "cause", cause);
	json_string(json, "name", rdmachan_cause_name(cause));
	json_string(json, "text", rdmachan_cause_text(cause));
	json_string(json, "hint", rdmachan_cause_hint(cause));
	json_end(json);
}

static void print_text(uint32_t cause)
{
	printf("%s (%u)\n  %s\n  What to do: %s\n", rdmachan_cause_name(cause), cause,
	       rdmachan_cause_text(cause), rdmachan_cause_hint(cause));
}

static void print(struct json *json, uint32_t cause)
{
	if (json)
		print_json(json, cause);
	else
		print_text(cause);
}

static int explain(char **texts, int count, struct json *json)
{
	uint32_t cause;
	int i;

	for (i = 0; i < count; i++) {
		if (!parse_cause(texts[i], &cause)) {
			fail("there is no cause \"%s\"; --all lists them", texts[i]);
			return TOOL_FAILED;
		}
		print(json, cause);
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
	.summary = "explain a cause of failure, by number or name",
	.help =
	"Usage: rdmachan explain [--json] CAUSE...\n"
	"       rdmachan explain [--json] --all\n"
	"\n"
	"Says what a cause of failure means and what to do about it. CAUSE is the number\n"
	"or the name of an enum rdmachan_cause, as error records and logs have it.\n"
	"\n"
	"  -a, --all    all of them\n"
	"  -j, --json   write one JSON array\n"
	"\n"
	"Examples:\n"
	"  rdmachan explain 6\n"
	"  rdmachan explain no-service PEER_DEAD\n",
	.run = run,
};
