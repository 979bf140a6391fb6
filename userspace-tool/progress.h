/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a transfer is: a bar on a terminal, a line at its end
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct progress - one transfer
 * @name: what is transferred
 * @total: bytes there are
 * @done: bytes that went
 * @started: when it began
 * @shown: when the bar was drawn last
 * @bar: standard error is a terminal
 */
struct progress {
	const char *name;
	uint64_t total;
	uint64_t done;
	uint64_t started;
	uint64_t shown;
	bool bar;
};

void progress_begin(struct progress *progress, const char *name, uint64_t total, bool quiet);
void progress_add(struct progress *progress, uint64_t bytes);
/* Take the bar away. */
void progress_clear(struct progress *progress);
/* "sent NAME: 1.5 MiB in 0.25 s, 6.0 MiB/s" on standard output. */
void progress_summary(struct progress *progress, const char *verb, const char *end);

#endif /* PROGRESS_H */
