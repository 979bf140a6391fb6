// SPDX-License-Identifier: MIT
/*
 * cmd_bench.c - "rdmachan bench": how fast are messages?
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "bench_result.h"

#define SIZES_MAX	32
#define ECHO_COUNT	1000
/* Without -n: about so many bytes one way for a size, and no more messages. */
#define SINK_BYTES	(64U << 20)
#define SINK_COUNT_MIN	16
#define SINK_COUNT_MAX	10000

/**
 * struct benching - what the command line asks for
 * @bench: connection to the server
 * @server: service to serve; 0: be the client
 * @connect: measure connecting
 * @latency: measure latency
 * @one_way: measure throughput
 * @sizes: sizes of messages
 * @size_count: how many
 * @count: repetitions; 0: what suits
 * @window: messages on their way at once; 0: any
 * @json: writer, NULL for text
 */
struct benching {
	struct bench bench;
	uint32_t server;
	bool connect;
	bool latency;
	bool one_way;
	uint64_t sizes[SIZES_MAX];
	size_t size_count;
	uint32_t count;
	uint32_t window;
	struct json *json;
};

static double half_us(uint64_t round_trip_ns)
{
	return round_trip_ns / 2e3;
}

static int measure_latency(struct benching *benching, struct bench_result *result)
{
	uint32_t count = benching->count ? benching->count : ECHO_COUNT;
	struct samples samples = { 0 };
	int status;

	status = bench_echo(&benching->bench, result->size, count, &samples);
	if (!status) {
		result->echoes = samples.count;
		result->typical_us = half_us(samples_percentile(&samples, 50));
		result->p99_us = half_us(samples_percentile(&samples, 99));
		result->least_us = half_us(samples_min(&samples));
	}
	samples_free(&samples);
	return status;
}

static int measure_one_way(struct benching *benching, struct bench_result *result)
{
	uint32_t count = SINK_BYTES / result->size;

	if (count < SINK_COUNT_MIN)
		count = SINK_COUNT_MIN;
	if (count > SINK_COUNT_MAX)
		count = SINK_COUNT_MAX;
	if (benching->count)
		count = benching->count;
	result->messages = count;
	return bench_sink(&benching->bench, result->size, count, benching->window, &result->ns);
}

static int run_size(struct benching *benching, uint32_t size)
{
	struct bench_result result = { .size = size };
	int status = TOOL_OK;

	if (benching->latency)
		status = measure_latency(benching, &result);
	if (!status && benching->one_way)
		status = measure_one_way(benching, &result);
	if (status)
		return status;
	if (benching->json)
		bench_result_json(&result, benching->json);
	else
		bench_result_print(&result);
	return TOOL_OK;
}

static int run_sizes(struct benching *benching)
{
	int status = TOOL_OK;
	size_t i;

	if (!benching->json)
		bench_result_heading(benching->latency, benching->one_way);
	if (benching->json)
		json_array(benching->json, "results");
	for (i = 0; i < benching->size_count && !status; i++)
		status = run_size(benching, benching->sizes[i]);
	if (benching->json)
		json_end(benching->json);
	return status;
}

static int run_connect(struct benching *benching, uint64_t first_ns)
{
	uint32_t count = benching->count ? benching->count : ECHO_COUNT;
	struct samples samples = { 0 };
	double typical, p99, least;
	int status;

	status = bench_accept(&benching->bench, count, &samples);
	if (status)
		return status;
	typical = samples_percentile(&samples, 50) / 1e3;
	p99 = samples_percentile(&samples, 99) / 1e3;
	least = samples_min(&samples) / 1e3;
	if (benching->json) {
		json_number(benching->json, "connects", samples.count);
		json_decimal(benching->json, "first_us", first_ns / 1e3, 3);
		json_decimal(benching->json, "typical_us", typical, 3);
		json_decimal(benching->json, "p99_us", p99, 3);
		json_decimal(benching->json, "least_us", least, 3);
	} else {
		printf("first connect %.2f us; then connect, 1 byte there and back, close:\n"
		       "typical %.2f us, p99 %.2f us, least %.2f us (%zu times)\n",
		       first_ns / 1e3, typical, p99, least, samples.count);
	}
	samples_free(&samples);
	return TOOL_OK;
}

static int run_client(struct benching *benching)
{
	uint64_t start = clock_ns();
	uint32_t largest = 1;
	int status;
	size_t i;

	for (i = 0; i < benching->size_count; i++) {
		if (benching->sizes[i] > largest)
			largest = benching->sizes[i];
	}
	status = bench_open(&benching->bench, largest);
	if (status)
		return status;
	start = clock_ns() - start;
	if (benching->json) {
		json_object(benching->json, NULL);
		json_string(benching->json, "host", benching->bench.target.host);
		json_number(benching->json, "service", benching->bench.target.service);
	}
	status = benching->connect ? run_connect(benching, start) : run_sizes(benching);
	if (benching->json)
		json_end(benching->json);
	bench_close(&benching->bench);
	return status;
}

static const struct option options[] = {
	{ "server", required_argument, NULL, 'S' },
	{ "sizes", required_argument, NULL, 's' },
	{ "count", required_argument, NULL, 'n' },
	{ "window", required_argument, NULL, 'w' },
	{ "latency", no_argument, NULL, 'l' },
	{ "one-way", no_argument, NULL, 'o' },
	{ "connect", no_argument, NULL, 'c' },
	PARSE_CONNECT_LONG,
	{ "json", no_argument, NULL, 'j' },
	{ 0 }
};

static bool parse_option(int option, const char *value, struct benching *benching,
			 struct json *json)
{
	switch (option) {
	case 'S':
		return parse_service(value, &benching->server);
	case 's':
		benching->size_count = parse_sizes(value, RDMACHAN_MESSAGE_MAX, benching->sizes,
						   SIZES_MAX);
		return benching->size_count;
	case 'n':
		return parse_u32(value, 1, BENCH_COUNT_MAX / 2, &benching->count);
	case 'w':
		return parse_u32(value, 1, 1U << 20, &benching->window);
	case 'l':
		return benching->latency = true;
	case 'o':
		return benching->one_way = true;
	case 'c':
		return benching->connect = true;
	case 'j':
		benching->json = json;
		return true;
	}
	return parse_connect(option, value, &benching->bench.options);
}

static bool sizes_valid(const struct benching *benching)
{
	size_t i;

	for (i = 0; i < benching->size_count; i++) {
		if (!benching->sizes[i])
			return false;
	}
	return benching->size_count;
}

static int run(int argc, char **argv)
{
	struct benching benching = {
		.bench.options = RDMACHAN_OPTIONS_INIT,
		.sizes = { 64, 1024, 4096, 16384, 65536, 1 << 20 },
		.size_count = 6,
	};
	struct json json = JSON_INIT(stdout);
	int option;

	while ((option = getopt_long(argc, argv, "S:s:n:w:locj" PARSE_CONNECT_SHORT,
				     options, NULL)) != -1) {
		if (option == '?')
			return fail_usage(&cmd_bench, NULL);
		if (!parse_option(option, optarg, &benching, &json))
			return fail_value(&cmd_bench, option, optarg);
	}
	if (benching.server && optind == argc)
		return bench_serve(benching.server, &benching.bench.options.local);
	if (argc - optind != 1)
		return fail_usage(&cmd_bench, "say HOST:SERVICE, or --server SERVICE");
	if (!parse_target(argv[optind], 0, &benching.bench.target))
		return fail_usage(&cmd_bench, "\"%s\" is not HOST:SERVICE", argv[optind]);
	if (!sizes_valid(&benching))
		return fail_usage(&cmd_bench, "sizes are 1 byte or more");
	if (!benching.latency && !benching.one_way)
		benching.latency = benching.one_way = true;
	return run_client(&benching);
}

const struct command cmd_bench = {
	.name = "bench",
	.summary = "measure latency, throughput and connecting",
	.help =
	"Usage: rdmachan bench --server SERVICE [--bind ADDR]\n"
	"       rdmachan bench [OPTION]... HOST:SERVICE\n"
	"\n"
	"The first form serves measurements, one client after another. The second\n"
	"measures, for each size of message:\n"
	"  latency    half of a round trip: the typical one (median), that which 99 %\n"
	"             do not exceed, and the least\n"
	"  one way    many messages in one direction, until the last was read there:\n"
	"             megabytes (10^6) and messages a second\n"
	"or, with --connect, the time of opening a channel, one byte there and back, and\n"
	"closing it, while the hosts are linked already; and the first connect.\n"
	"Messages are written and read by calls that block, never by polling in a loop.\n"
	"\n"
	"  -s, --sizes LIST     sizes, with commas (64,1k,4k,16k,64k,1m)\n"
	"  -n, --count N        repetitions (1000 round trips; one way 64 MiB of messages,\n"
	"                       but 16 to 10000)\n"
	"  -l, --latency        latency only\n"
	"  -o, --one-way        one way only\n"
	"  -w, --window N       one way: at most N messages are on their way, the server\n"
	"                       tells which it has read (otherwise as many as fit)\n"
	"  -c, --connect        measure connecting\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n"
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n"
	"  -b, --bind ADDR      connect from, or serve at, the local address ADDR alone\n"
	"  -j, --json           write one JSON object\n"
	"\n"
	"Examples:\n"
	"  rdmachan bench --server 7002                      on one host, and on the other:\n"
	"  rdmachan bench HOST:7002\n"
	"  rdmachan bench --latency -s 1,64 -n 10000 HOST:7002\n"
	"  rdmachan bench --one-way --window 16 -s 64k HOST:7002\n"
	"  rdmachan bench --connect HOST:7002\n",
	.run = run,
};
