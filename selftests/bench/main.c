// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - measure one way to move messages
 *
 *	bench [--serve | --peer ADDRESS] [--port N] TEST WAY SIZE COUNT [PROCESSES CHANNELS]
 *
 * lat      microseconds of a message one way: half the median of COUNT round trips
 * connect  microseconds of connecting, a byte there and back, and closing, the median
 *          of COUNT, while another connection stays open
 * rate     messages per second, COUNT of them by PROCESSES with CHANNELS each
 * tput     the same as megabytes (10^6) per second
 * read write add
 *          microseconds of a READ, WRITE or FETCH_ADD of memory that the server lends, until
 *          it is over; the median of COUNT
 * get put  megabytes per second of COUNT of READs or WRITEs
 * give     microseconds of lending SIZE bytes, until the peer has given them back
 *
 * Prints that number. Both ends are here, at the address in LAB_IP, unless --peer names
 * another machine, on which the same runs with --serve. The time of a flood is from the
 * first message that is sent until the sender knows that the last was received.
 * Exit status: 0; 1 it failed; 4 this machine has no such way.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

static const struct way *const ways[] = {
	&way_ioctl, &way_channel, &way_queue, &way_poller, &way_regions, &way_uring,
	&way_rsockets, &way_tcp, &way_udp, &way_unix,
};

/**
 * struct test - a kind of measurement
 * @name: its name
 * @client: measures and prints
 * @server: the other end
 * @bulk: messages go one way
 * @lent: it is about memory that is lent
 * @access: to that
 */
struct test {
	const char *name;
	void (*client)(struct job *job, unsigned int processes);
	void (*server)(struct job *job, unsigned int processes);
	bool bulk;
	bool lent;
	enum access access;
};

void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, errno ? strerror(errno) : "ended");
	exit(1);
}

void check(bool ok, const char *what)
{
	if (!ok)
		die(what);
}

void skip(const char *why)
{
	fprintf(stderr, "bench: %s\n", why);
	exit(CANNOT);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static const struct test tests[] = {
	{ "lat", lat_client, lat_server },
	{ "connect", connect_client, connect_server },
	{ "rate", rate_client, flood_server, .bulk = true },
	{ "tput", tput_client, flood_server, .bulk = true },
	{ "read", reach_client, reach_server, .lent = true, .access = ACCESS_READ },
	{ "write", reach_client, reach_server, .lent = true, .access = ACCESS_WRITE },
	{ "add", reach_client, reach_server, .lent = true, .access = ACCESS_ADD },
	{ "get", reach_bulk_client, reach_server, .lent = true, .access = ACCESS_READ },
	{ "put", reach_bulk_client, reach_server, .lent = true, .access = ACCESS_WRITE },
	{ "give", give_client, give_server, .lent = true },
};

/* Arguments */

static void usage(void)
{
	fprintf(stderr,
		"usage: bench [--serve | --peer ADDRESS] [--port N] TEST WAY SIZE COUNT [PROCESSES CHANNELS]\n");
	exit(2);
}

static const struct test *find_test(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (!strcmp(tests[i].name, name))
			return &tests[i];
	}
	usage();
	return NULL;
}

static const struct way *find_way(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (!strcmp(ways[i]->name, name))
			return ways[i];
	}
	usage();
	return NULL;
}

/* Without --serve and --peer both ends are here, and the server is a child. */
enum role { BOTH, CLIENT, SERVER };

static void run(const struct test *test, struct job *job, unsigned int processes,
		enum role role)
{
	pid_t server = 0;

	if (role == BOTH)
		server = child();
	if (role == SERVER || (role == BOTH && !server)) {
		test->server(job, processes);
		return;
	}
	test->client(job, processes);
	if (server)
		await_child(server);
}

static void parse_options(int argc, char **argv, struct job *job, enum role *role)
{
	static const struct option options[] = {
		{ "serve", no_argument, NULL, 's' },
		{ "peer", required_argument, NULL, 'p' },
		{ "port", required_argument, NULL, 'n' },
		{ 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's') {
			*role = SERVER;
		} else if (option == 'p') {
			*role = CLIENT;
			job->host = optarg;
		} else if (option == 'n') {
			job->port = atoi(optarg);
		} else {
			usage();
		}
	}
}

int main(int argc, char **argv)
{
	struct job job = { .host = getenv("LAB_IP"), .port = 18700, .channels = 1 };
	unsigned int processes = 1;
	enum role role = BOTH;
	const struct test *test;

	parse_options(argc, argv, &job, &role);
	argc -= optind;
	argv += optind;
	if ((argc != 4 && argc != 6) || !job.host)
		usage();
	test = find_test(argv[0]);
	job.bulk = test->bulk;
	job.access = test->access;
	job.way = find_way(argv[1]);
	job.size = strtoul(argv[2], NULL, 0);
	job.count = atoi(argv[3]);
	if (argc == 6) {
		processes = atoi(argv[4]);
		job.channels = atoi(argv[5]);
	}
	if (!job.size || !job.count || !job.channels || !processes ||
	    processes > PROCESSES_MAX)
		usage();
	if (job.way->size_max && job.size > job.way->size_max)
		skip("messages of this size cannot be sent");
	if (test->lent && !job.way->reach)
		skip("memory cannot be lent");
	run(test, &job, processes, role);
	return 0;
}
