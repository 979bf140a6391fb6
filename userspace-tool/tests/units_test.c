// SPDX-License-Identifier: MIT
/*
 * units_test.c - amounts and statistics for people
 */
#include "samples.h"
#include "tap.h"
#include "tool.h"

static void bytes_are(uint64_t bytes, const char *wanted)
{
	char text[UNITS_MAX];

	ok(is_text(units_bytes(bytes, text), wanted), "%s", wanted);
}

static void test_samples(void)
{
	struct samples samples = { 0 };
	int i;

	for (i = 100; i > 0; i--)
		samples_add(&samples, i);
	ok(samples.last == 1, "the last sample");
	ok(samples_percentile(&samples, 50) == 50, "the median of 1 to 100");
	ok(samples_percentile(&samples, 99) == 99, "the 99th percentile");
	ok(samples_min(&samples) == 1 && samples_max(&samples) == 100, "least and most");
	ok(samples_mean(&samples) == 50.5, "the mean");
	ok(samples_deviation(&samples) > 28.8 && samples_deviation(&samples) < 28.9,
	   "the deviation");
	samples_free(&samples);
	samples_add(&samples, 7);
	ok(samples_percentile(&samples, 0) == 7 && samples_percentile(&samples, 99) == 7,
	   "of one sample");
	samples_free(&samples);
}

int main(void)
{
	char text[UNITS_MAX];

	bytes_are(0, "0 B");
	bytes_are(1023, "1023 B");
	bytes_are(1024, "1 KiB");
	bytes_are(1536, "1.5 KiB");
	bytes_are((1 << 20) - 1, "1.0 MiB");
	bytes_are(1 << 30, "1 GiB");
	bytes_are(UINT64_MAX, "16384 PiB");
	ok(is_text(units_ms(200, text), "200 ms"), "200 ms");
	ok(is_text(units_ms(5000, text), "5 s"), "5 s");
	ok(is_text(units_ms(1500, text), "1.5 s"), "1.5 s");
	test_samples();
	return tap_end();
}
