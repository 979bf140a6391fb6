// SPDX-License-Identifier: MIT
/*
 * progress.c - how far a transfer is: a bar on a terminal, a line at its end
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "tool.h"

#define BAR_WIDTH	24
/* Nanoseconds between two drawings. */
#define BAR_INTERVAL	100000000ULL

static uint64_t rate(const struct progress *progress, uint64_t now)
{
	double seconds = (now - progress->started) / 1e9;

	return seconds > 0 ? progress->done / seconds : 0;
}

static void draw(struct progress *progress, uint64_t now)
{
	char bytes[UNITS_MAX], speed[UNITS_MAX];
	char bar[BAR_WIDTH + 1];
	double part = progress->total ? (double)progress->done / progress->total : 1;
	size_t filled = part * BAR_WIDTH;

	memset(bar, ' ', BAR_WIDTH);
	memset(bar, '#', filled > BAR_WIDTH ? BAR_WIDTH : filled);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r%-24.24s [%s] %3.0f %%  %s  %s/s\033[K", progress->name, bar,
		part * 100, units_bytes(progress->done, bytes),
		units_bytes(rate(progress, now), speed));
	progress->shown = now;
}

void progress_begin(struct progress *progress, const char *name, uint64_t total, bool quiet)
{
	memset(progress, 0, sizeof(*progress));
	progress->name = name;
	progress->total = total;
	progress->started = clock_ns();
	progress->bar = !quiet && isatty(STDERR_FILENO);
	if (progress->bar)
		draw(progress, progress->started);
}

void progress_add(struct progress *progress, uint64_t bytes)
{
	uint64_t now;

	progress->done += bytes;
	if (!progress->bar)
		return;
	now = clock_ns();
	if (now - progress->shown >= BAR_INTERVAL)
		draw(progress, now);
}

void progress_clear(struct progress *progress)
{
	if (progress->bar)
		fputs("\r\033[K", stderr);
	progress->bar = false;
}

void progress_summary(struct progress *progress, const char *verb, const char *end)
{
	char bytes[UNITS_MAX], speed[UNITS_MAX];
	uint64_t now = clock_ns();

	progress_clear(progress);
	printf("%s %s: %s in %.2f s, %s/s%s\n", verb, progress->name,
	       units_bytes(progress->done, bytes), (now - progress->started) / 1e9,
	       units_bytes(rate(progress, now), speed), end);
	fflush(stdout);
}
