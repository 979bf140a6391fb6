/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the commands share: their table, exit codes and failures
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librdmachan.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Exit codes, as rdmachan(8) documents them. */
enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
	TOOL_CONNECTION = 3,
	TOOL_VERIFY = 4,
};

/* Services that the tool uses when none is given. */
#define TOOL_SERVICE_FILES	7001
#define TOOL_SERVICE_GRANTS	7003
/* A service that nobody listens for: a host that answers "no such service" is alive. */
#define TOOL_SERVICE_NOBODY	RDMACHAN_SERVICE_MAX

/**
 * struct command - one word after "rdmachan"
 * @name: the word
 * @summary: its purpose, in a line
 * @help: how it is used, with examples
 * @run: does it; argv[0] is the word; returns &enum tool_exit
 */
struct command {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(int argc, char **argv);
};

extern const struct command cmd_add;
extern const struct command cmd_bench;
extern const struct command cmd_cas;
extern const struct command cmd_connect;
extern const struct command cmd_doctor;
extern const struct command cmd_explain;
extern const struct command cmd_get;
extern const struct command cmd_info;
extern const struct command cmd_lend;
extern const struct command cmd_list;
extern const struct command cmd_listen;
extern const struct command cmd_ping;
extern const struct command cmd_put;
extern const struct command cmd_recv;
extern const struct command cmd_send;

/* The words of the command, for what is wrong with an option. */
extern char **tool_words;

/* fail.c: telling what went wrong, on standard error; all return an exit code */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_error(const struct rdmachan_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The beginning of all of them, without the end of the line. */
void fail_say(const char *format, va_list args);

/* usage.c: telling that the command line is wrong. Without a format it is an option. */
int fail_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The value of an option is: shows its lines of the help. */
int fail_value(const struct command *command, int option, const char *value);

/* context.c: the device and the target, opened with words for what is wrong */
struct target;
int context_open(void);
const char *context_open_hint(int error);
int target_connect(int ctx, const struct target *target,
		   const struct rdmachan_options *options);

/* clock.c */
uint64_t clock_ns(void);
uint64_t clock_real_ns(void);

/* units.c: "1.5 MiB"; the text is as long as needed and lives in @text */
#define UNITS_MAX	32
const char *units_bytes(uint64_t bytes, char text[UNITS_MAX]);
const char *units_ms(uint32_t ms, char text[UNITS_MAX]);

#endif /* TOOL_H */
