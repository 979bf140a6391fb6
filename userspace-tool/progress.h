/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a transfer is: a bar or lines meanwhile, a line at its end
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number that is not known to be the size of anything. */
#define PROGRESS_UNKNOWN	UINT64_MAX
/* Bytes of a drawn line, whatever characters the name has. */
#define PROGRESS_LINE_MAX	4096

/**
 * enum progress_mode - what is shown of transfers that go on
 * @PROGRESS_BAR: a bar on standard error, if that is a terminal
 * @PROGRESS_PLAIN: a line on standard error, every ten seconds
 * @PROGRESS_NONE: nothing
 */
enum progress_mode {
	PROGRESS_BAR,
	PROGRESS_PLAIN,
	PROGRESS_NONE,
};

/**
 * struct progress - one transfer
 * @name: what is transferred
 * @total: bytes there are, or %PROGRESS_UNKNOWN
 * @done: bytes that went
 * @started: when it began
 * @shown: when the bar was drawn last, or the last line written
 * @mode: the mode, %PROGRESS_NONE once it is taken away
 */
struct progress {
	const char *name;
	uint64_t total;
	uint64_t done;
	uint64_t started;
	uint64_t shown;
	enum progress_mode mode;
};

/* "bar", "plain", "none" */
bool progress_parse(const char *text, enum progress_mode *mode);
void progress_begin(struct progress *progress, const char *name, uint64_t total,
		    enum progress_mode mode);
void progress_add(struct progress *progress, uint64_t bytes);
/* Take the bar away. */
void progress_clear(struct progress *progress);
/* "sent NAME: 1.5 MiB in 0.25 s, 6.0 MiB/s" on standard output. */
void progress_summary(struct progress *progress, const char *verb, const char *end);

/*
 * For tests: the bar at the time @now, which takes less than @columns; and those that the
 * terminal has.
 */
const char *progress_line(const struct progress *progress, uint64_t now, size_t columns,
			  char line[PROGRESS_LINE_MAX]);
size_t progress_columns(void);

#endif /* PROGRESS_H */
