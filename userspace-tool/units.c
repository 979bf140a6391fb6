// SPDX-License-Identifier: MIT
/*
 * units.c - amounts for people
 */
#include <stdio.h>

#include "tool.h"

const char *units_bytes(uint64_t bytes, char text[UNITS_MAX])
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = bytes;
	size_t i;

	if (bytes < 1024) {
		snprintf(text, UNITS_MAX, "%u B", (unsigned int)bytes);
		return text;
	}
	value /= 1024;
	for (i = 0; value >= 1023.95 && i < ARRAY_SIZE(names) - 1; i++)
		value /= 1024;
	if (value == (unsigned int)value)
		snprintf(text, UNITS_MAX, "%.0f %s", value, names[i]);
	else
		snprintf(text, UNITS_MAX, "%.1f %s", value, names[i]);
	return text;
}

const char *units_ms(uint32_t ms, char text[UNITS_MAX])
{
	if (ms < 1000)
		snprintf(text, UNITS_MAX, "%u ms", ms);
	else
		snprintf(text, UNITS_MAX, "%g s", ms / 1000.0);
	return text;
}
