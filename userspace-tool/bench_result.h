/* SPDX-License-Identifier: MIT */
/*
 * bench_result.h - what a measurement of one size gave, for people and programs
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "json.h"

/**
 * struct bench_result - what one size gave
 * @size: bytes of a message
 * @echoes: round trips that were measured; 0: latency was not
 * @typical_us: median of half of them
 * @p99_us: what 99 percent of the halves do not exceed
 * @least_us: the least half
 * @messages: messages one way that were measured; 0: throughput was not
 * @ns: time they took
 */
struct bench_result {
	uint32_t size;
	uint32_t echoes;
	double typical_us;
	double p99_us;
	double least_us;
	uint32_t messages;
	uint64_t ns;
};

void bench_result_heading(bool latency, bool one_way);
void bench_result_print(const struct bench_result *result);
void bench_result_json(const struct bench_result *result, struct json *json);

#endif /* BENCH_RESULT_H */
