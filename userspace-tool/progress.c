// SPDX-License-Identifier: MIT
/*
 * progress.c - how far a transfer is: a bar or lines meanwhile, a line at its end
 *
 * A bar has one line of the terminal, however narrow that is: a part that does not fit is left out,
 * the bar itself first, then the rate, the amount and the name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "parse.h"
#include "progress.h"
#include "text.h"
#include "tool.h"

/* Columns of the parts. */
#define BAR_MIN		10
#define BAR_MAX		40
#define NAME_MIN	12
#define NAME_MAX	40
#define COLUMNS_USUAL	80
/* Columns between two parts. */
#define GAP		2
/* Nanoseconds between two drawings, and between two lines. */
#define BAR_INTERVAL	100000000ULL
#define PLAIN_INTERVAL	10000000000ULL

static uint64_t rate(const struct progress *progress, uint64_t now)
{
	double seconds = (now - progress->started) / 1e9;

	return seconds > 0 ? progress->done / seconds : 0;
}

static unsigned int percent(const struct progress *progress)
{
	if (progress->done >= progress->total)
		return 100;
	return (double)progress->done / progress->total * 100;
}

/* The terminal may be resized at any time: it is asked each time. */
size_t progress_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint32_t columns;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	if (text && parse_u32(text, 1, UINT16_MAX, &columns))
		return columns;
	return COLUMNS_USUAL;
}

/* @level: percentage, amount and rate; the first two; the first one that is known. */
static size_t numbers(const struct progress *progress, uint64_t now, int level, char *text,
		      size_t size)
{
	char bytes[UNITS_MAX], speed[UNITS_MAX];
	char part[16] = "";

	if (progress->total != PROGRESS_UNKNOWN)
		snprintf(part, sizeof(part), "%3u %%%s", percent(progress), level ? "  " : "");
	units_bytes(progress->done, bytes);
	units_bytes(rate(progress, now), speed);
	if (level == 2)
		return snprintf(text, size, "%s%s  %s/s", part, bytes, speed);
	if (level || !part[0])
		return snprintf(text, size, "%s%s", part, bytes);
	return snprintf(text, size, "%s", part);
}

/* "[####    ]" in @width columns */
static void put_bar(const struct progress *progress, size_t width, char *text)
{
	size_t inner = width - 2;

	memset(text, ' ', width);
	text[0] = '[';
	memset(text + 1, '#', inner * percent(progress) / 100);
	text[width - 1] = ']';
	text[width] = '\0';
}

/* Name, bar and numbers, which take @tail columns of the @room there are. */
static void put_line(const struct progress *progress, const char *name, const char *numbers_,
		     size_t room, char line[PROGRESS_LINE_MAX])
{
	size_t tail = strlen(numbers_) + GAP;
	size_t wanted = text_columns(name);
	char cut[PROGRESS_LINE_MAX / 2];
	char bar[BAR_MAX + 1] = "";
	size_t width = 0;

	if (wanted > NAME_MAX)
		wanted = NAME_MAX;
	if (progress->total != PROGRESS_UNKNOWN && room >= tail + NAME_MIN + GAP + BAR_MIN) {
		width = room - tail - GAP - NAME_MIN;
		if (wanted > NAME_MIN && width > BAR_MIN)
			width = width - BAR_MIN > wanted - NAME_MIN ?
				width - (wanted - NAME_MIN) : BAR_MIN;
		if (width > BAR_MAX)
			width = BAR_MAX;
		put_bar(progress, width, bar);
		room -= width + GAP;
	}
	room -= tail;
	if (wanted > room)
		wanted = room;
	text_cut(name, wanted, cut, sizeof(cut));
	snprintf(line, PROGRESS_LINE_MAX, "%s%*s%s%*s%s", cut,
		 (int)(wanted - text_columns(cut)) + GAP, "", bar, width ? GAP : 0, "", numbers_);
}

const char *progress_line(const struct progress *progress, uint64_t now, size_t columns,
			  char line[PROGRESS_LINE_MAX])
{
	/* The last column is left alone: some terminals begin a new line there. */
	size_t room = columns ? columns - 1 : 0;
	char name[PROGRESS_LINE_MAX / 2];
	char text[2 * UNITS_MAX + 16];
	size_t length;
	int level;

	text_escape(progress->name, false, name, sizeof(name));
	for (level = 2; level >= 0; level--) {
		length = numbers(progress, now, level, text, sizeof(text));
		if (length + GAP + NAME_MIN <= room || (!level && length + GAP < room)) {
			put_line(progress, name, text, room, line);
			return line;
		}
	}
	snprintf(line, PROGRESS_LINE_MAX, "%s", length <= room ? text : "");
	return line;
}

/* A job in the background leaves the terminal to others. */
static bool in_background(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group > 0 && group != getpgrp();
}

static void draw(struct progress *progress, uint64_t now)
{
	char line[PROGRESS_LINE_MAX];

	progress->shown = now;
	if (in_background())
		return;
	fprintf(stderr, "\r%s\033[K", progress_line(progress, now, progress_columns(), line));
}

static void tell(struct progress *progress, uint64_t now)
{
	char text[2 * UNITS_MAX + 16];

	progress->shown = now;
	numbers(progress, now, 2, text, sizeof(text));
	text_print(stderr, "rdmachan: %s: %s\n", progress->name, text);
}

bool progress_parse(const char *text, enum progress_mode *mode)
{
	static const char *const names[] = {
		[PROGRESS_BAR] = "bar", [PROGRESS_PLAIN] = "plain", [PROGRESS_NONE] = "none",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			*mode = i;
			return true;
		}
	}
	return false;
}

static bool can_draw(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && (!terminal || strcmp(terminal, "dumb"));
}

void progress_begin(struct progress *progress, const char *name, uint64_t total,
		    enum progress_mode mode)
{
	memset(progress, 0, sizeof(*progress));
	progress->name = name;
	progress->total = total;
	progress->started = clock_ns();
	progress->shown = progress->started;
	progress->mode = mode == PROGRESS_BAR && !can_draw() ? PROGRESS_NONE : mode;
	if (progress->mode == PROGRESS_BAR)
		draw(progress, progress->started);
}

void progress_add(struct progress *progress, uint64_t bytes)
{
	uint64_t now;

	progress->done += bytes;
	if (progress->mode == PROGRESS_NONE)
		return;
	now = clock_ns();
	if (progress->mode == PROGRESS_BAR && now - progress->shown >= BAR_INTERVAL)
		draw(progress, now);
	if (progress->mode == PROGRESS_PLAIN && now - progress->shown >= PLAIN_INTERVAL)
		tell(progress, now);
}

void progress_clear(struct progress *progress)
{
	if (progress->mode == PROGRESS_BAR && !in_background())
		fputs("\r\033[K", stderr);
	progress->mode = PROGRESS_NONE;
}

void progress_summary(struct progress *progress, const char *verb, const char *end)
{
	char bytes[UNITS_MAX], speed[UNITS_MAX];
	uint64_t now = clock_ns();
	bool failed = ferror(stdout);

	progress_clear(progress);
	text_print(stdout, "%s %s: %s in %.2f s, %s/s%s\n", verb, progress->name,
		   units_bytes(progress->done, bytes), (now - progress->started) / 1e9,
		   units_bytes(rate(progress, now), speed), end);
	/* Told when it begins to fail; main() looks once more at the end. */
	if ((fflush(stdout) || ferror(stdout)) && !failed)
		fail_errno("cannot write standard output");
}
