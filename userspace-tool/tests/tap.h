/* SPDX-License-Identifier: MIT */
/*
 * tap.h - tests that report in the Test Anything Protocol
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct tap {
	unsigned int count;
	unsigned int failed;
};

static struct tap tap;

/* One test; the text tells what is true when it passes. */
#define ok(condition, ...) tap_result(condition, __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5)))
static inline bool tap_result(bool passed, const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", passed ? "" : "not ", ++tap.count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	if (!passed) {
		tap.failed++;
		printf("# at %s:%d\n", file, line);
	}
	return passed;
}

static inline bool is_text(const char *got, const char *wanted)
{
	if (!strcmp(got, wanted))
		return true;
	printf("# got:    %s\n# wanted: %s\n", got, wanted);
	return false;
}

/* The last statement of main(). */
static inline int tap_end(void)
{
	printf("1..%u\n", tap.count);
	return tap.failed != 0;
}

#endif /* TAP_H */
