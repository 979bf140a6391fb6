// SPDX-License-Identifier: MIT
/*
 * fail.c - telling what went wrong
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "tool.h"

/* Standard output first, so that the two keep their order on a terminal. */
void fail_say(const char *format, va_list args)
{
	fflush(stdout);
	fputs("rdmachan: ", stderr);
	text_vprint(stderr, format, args);
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_say(format, args);
	va_end(args);
	fputc('\n', stderr);
	return TOOL_FAILED;
}

int fail_errno(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fail_say(format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(error));
	return TOOL_FAILED;
}

int fail_error(const struct rdmachan_error *err, const char *format, ...)
{
	char text[RDMACHAN_EXPLAIN_MAX];
	va_list args;

	va_start(args, format);
	fail_say(format, args);
	va_end(args);
	if (err->cause == RDMACHAN_CAUSE_NONE) {
		fprintf(stderr, ": %s\n", strerror(err->error));
		return TOOL_FAILED;
	}
	rdmachan_explain(err, text, sizeof(text));
	fputc('\n', stderr);
	text_put_lines(stderr, text);
	switch (err->cause) {
	/* These leave the connection as it is. */
	case RDMACHAN_CAUSE_MESSAGE_SIZE:
	case RDMACHAN_CAUSE_SEND_BUFFER:
	case RDMACHAN_CAUSE_ATOMICS:
	case RDMACHAN_CAUSE_MEMLOCK:
	case RDMACHAN_CAUSE_MEMORY_KIND:
	case RDMACHAN_CAUSE_USER_LIMIT:
	case RDMACHAN_CAUSE_USER_BYTES:
	case RDMACHAN_CAUSE_TOTAL_LIMIT:
		return TOOL_FAILED;
	}
	return TOOL_CONNECTION;
}
