// SPDX-License-Identifier: MIT
/*
 * usage.c - telling wrong usage: which word is wrong, and which one was meant
 *
 * What options a command has is read from its help: one a line, as "  -c, --count N   what it is".
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "near.h"
#include "text.h"
#include "tool.h"

/* Those of the command that runs; getopt_long() moves them. */
char **tool_words;

/* A line of the help: its letter, its name, and whether a value follows. */
struct line {
	const char *text;
	const char *name;
	size_t length;
	char letter;
	bool has_value;
};

/* The next line that is of an option, after *@at. */
static bool next_option(const char **at, struct line *line)
{
	const char *text;

	for (text = strchr(*at, '\n'); text; text = strchr(text, '\n')) {
		text++;
		if (strncmp(text, "  -", 3) || strncmp(text + 4, ", --", 4))
			continue;
		line->text = text;
		line->letter = text[3];
		line->name = text + 8;
		line->length = strcspn(line->name, "\n ");
		line->has_value = line->name[line->length] == ' ' &&
				  line->name[line->length + 1] != ' ';
		*at = text;
		return true;
	}
	return false;
}

/* By its letter, as getopt_long() tells it. */
static bool find_letter(const struct command *command, int letter, struct line *line)
{
	const char *at = command->help;

	while (next_option(&at, line)) {
		if (line->letter == letter)
			return true;
	}
	return false;
}

/* By its name, or the beginning of one; @count is how many have it. */
static int find_name(const struct command *command, const char *name, size_t length,
		     struct line *found)
{
	const char *at = command->help;
	struct line line;
	int count = 0;

	while (next_option(&at, &line)) {
		if (line.length < length || strncmp(line.name, name, length))
			continue;
		*found = line;
		if (line.length == length)
			return 1;
		count++;
	}
	return count;
}

static void fail_unknown(const struct command *command, const char *word, size_t length)
{
	const char *at = command->help;
	struct line line;
	struct near near;

	near_begin(&near, word + 2, length);
	near_try(&near, "help", 4);
	while (next_option(&at, &line))
		near_try(&near, line.name, line.length);
	if (near.best)
		fail("\"%s\" is no option here; is --%.*s meant?", word, (int)near.best_length,
		     near.best);
	else
		fail("\"%s\" is no option here", word);
}

static void fail_long(const struct command *command, const char *word)
{
	size_t length = strcspn(word + 2, "=");
	struct line line;
	int count = find_name(command, word + 2, length, &line);

	if (!count)
		fail_unknown(command, word, length);
	else if (count > 1)
		fail("\"%s\" is the beginning of several options", word);
	else if (line.has_value)
		fail("--%.*s needs a value", (int)line.length, line.name);
	else
		fail("--%.*s takes no value: \"%s\"", (int)line.length, line.name, word);
}

/* In the words of getopt_long(), which would show it as it is. */
static void fail_option(const struct command *command)
{
	const char *word = tool_words[optind - 1];
	struct line line;

	if (!strncmp(word, "--", 2) || !optopt)
		fail_long(command, word);
	else if (find_letter(command, optopt, &line))
		fail("-%c (--%.*s) needs a value", optopt, (int)line.length, line.name);
	else
		fail("\"-%c\" is no option here", optopt);
}

static int try_help(const struct command *command)
{
	if (command)
		fprintf(stderr, "Try \"rdmachan %s --help\".\n", command->name);
	else
		fprintf(stderr, "Try \"rdmachan --help\".\n");
	return TOOL_USAGE;
}

int fail_usage(const struct command *command, const char *format, ...)
{
	va_list args;

	if (format) {
		va_start(args, format);
		fail_say(format, args);
		va_end(args);
		fputc('\n', stderr);
	} else if (command) {
		fail_option(command);
	}
	return try_help(command);
}

/* The lines of the help that tell of an option: those that follow are set back. */
static void put_option_help(const char *text)
{
	do {
		fprintf(stderr, "%.*s\n", (int)strcspn(text, "\n"), text);
		text += strcspn(text, "\n");
		text += *text == '\n';
	} while (!strncmp(text, "      ", 6));
}

int fail_value(const struct command *command, int option, const char *value)
{
	struct line line;

	if (!find_letter(command, option, &line))
		return fail_usage(command, "\"%s\" is not valid for -%c", value, option);
	fail("\"%s\" is not valid for --%.*s:", value, (int)line.length, line.name);
	put_option_help(line.text);
	return try_help(command);
}
