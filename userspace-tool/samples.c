// SPDX-License-Identifier: MIT
/*
 * samples.c - measured times and their typical values
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "tool.h"

void samples_add(struct samples *samples, uint64_t value)
{
	if (samples->count == samples->room) {
		samples->room = samples->room ? samples->room * 2 : 1024;
		samples->values = reallocarray(samples->values, samples->room,
					       sizeof(*samples->values));
		if (!samples->values)
			err(TOOL_FAILED, NULL);
	}
	samples->values[samples->count++] = value;
	samples->last = value;
}

void samples_free(struct samples *samples)
{
	free(samples->values);
	memset(samples, 0, sizeof(*samples));
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

uint64_t samples_percentile(struct samples *samples, double percent)
{
	size_t rank = ceil(samples->count * percent / 100);

	qsort(samples->values, samples->count, sizeof(*samples->values), compare);
	return samples->values[rank ? rank - 1 : 0];
}

uint64_t samples_min(struct samples *samples)
{
	return samples_percentile(samples, 0);
}

uint64_t samples_max(struct samples *samples)
{
	return samples_percentile(samples, 100);
}

double samples_mean(const struct samples *samples)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < samples->count; i++)
		sum += samples->values[i];
	return sum / samples->count;
}

double samples_deviation(const struct samples *samples)
{
	double mean = samples_mean(samples);
	double sum = 0;
	size_t i;

	for (i = 0; i < samples->count; i++)
		sum += (samples->values[i] - mean) * (samples->values[i] - mean);
	return sqrt(sum / samples->count);
}
