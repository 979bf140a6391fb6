/* SPDX-License-Identifier: MIT */
/*
 * samples.h - measured times and their typical values
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct samples - times in nanoseconds; all zero is an empty one
 * @values: the times, in order of size after a call that needs it
 * @count: how many there are
 * @room: how many have room
 * @last: the one that was added last
 */
struct samples {
	uint64_t *values;
	size_t count;
	size_t room;
	uint64_t last;
};

void samples_add(struct samples *samples, uint64_t value);
void samples_free(struct samples *samples);

/* Of one sample or more: */
uint64_t samples_min(struct samples *samples);
uint64_t samples_max(struct samples *samples);
double samples_mean(const struct samples *samples);
double samples_deviation(const struct samples *samples);
/* The value that @percent of 100 do not exceed; 50 is the median. */
uint64_t samples_percentile(struct samples *samples, double percent);

#endif /* SAMPLES_H */
