// SPDX-License-Identifier: MIT
/*
 * bench_result.c - what a measurement of one size gave, for people and programs
 */
#include "bench_result.h"

static double megabytes(const struct bench_result *result)
{
	return (double)result->size * result->messages / (result->ns / 1e9) / 1e6;
}

static double messages(const struct bench_result *result)
{
	return result->messages / (result->ns / 1e9);
}

void bench_result_heading(bool latency, bool one_way)
{
	printf("%10s", "BYTES");
	if (latency)
		printf("  %12s  %12s  %12s", "LATENCY us", "P99 us", "LEAST us");
	if (one_way)
		printf("  %12s  %12s", "MB/s", "MESSAGES/s");
	putchar('\n');
	fflush(stdout);
}

void bench_result_print(const struct bench_result *result)
{
	printf("%10u", result->size);
	if (result->echoes)
		printf("  %12.2f  %12.2f  %12.2f", result->typical_us, result->p99_us,
		       result->least_us);
	if (result->messages)
		printf("  %12.2f  %12.0f", megabytes(result), messages(result));
	putchar('\n');
	fflush(stdout);
}

void bench_result_json(const struct bench_result *result, struct json *json)
{
	json_object(json, NULL);
	json_number(json, "size", result->size);
	if (result->echoes) {
		json_number(json, "round_trips", result->echoes);
		json_decimal(json, "latency_us", result->typical_us, 3);
		json_decimal(json, "p99_us", result->p99_us, 3);
		json_decimal(json, "least_us", result->least_us, 3);
	}
	if (result->messages) {
		json_number(json, "messages", result->messages);
		json_decimal(json, "mb_per_s", megabytes(result), 3);
		json_decimal(json, "messages_per_s", messages(result), 1);
	}
	json_end(json);
}
