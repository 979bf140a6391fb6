// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - measure one way to move messages
 *
 *	bench [--serve | --peer ADDRESS | --apart] [--port N] [--raw]
 *		TEST WAY SIZE COUNT [PROCESSES CHANNELS]
 *
 *  - lat: microseconds of a message one way: half the median of COUNT round trips
 *  - connect: microseconds of connecting, a byte there and back, and closing, the median of COUNT,
 *    while another connection stays open
 *  - rate: messages per second, COUNT of them by PROCESSES with CHANNELS each
 *  - tput: the same as megabytes (10^6) per second
 *  - read, write, add: microseconds of a READ, WRITE or FETCH_ADD of memory that the server lends,
 *    until it is over; the median of COUNT
 *  - get, put: megabytes per second of COUNT of READs or WRITEs
 *  - give: microseconds of lending SIZE bytes, until the peer has given them back
 *
 * and of two hosts in one kernel, whose clock is the same (--apart), in nanoseconds:
 *
 *  - open: of COUNT times connecting, the first without a link; then of closing each
 *  - closed: from closing each of COUNT connections until the other end is told
 *  - ask: of COUNT times connecting, a message of SIZE bytes and its answer, the first without a
 *    link; by the module's ways the message does not wait for connecting
 *  - stream: when each message arrives that is sent in COUNT milliseconds, or each so many
 *  - touch: from lending SIZE bytes until the peer has read them, COUNT times
 *  - revoke: taking lent memory back, COUNT times
 *  - beside: a message and its answer, 64 bytes, COUNT times, beside four streams of messages of
 *    SIZE bytes, and on the second line when these begin, when they end, and their bytes
 *
 * Prints that number; with --raw all samples of lat, read, write, add and give, in nanoseconds.
 * Both ends are here, at the address in LAB_IP, unless --peer names another machine, on which
 * the same runs with --serve, or with --apart the server is on the other host of this kernel. The
 * time of a flood is from the first message that is sent until the sender knows that the last was
 * received.
 * Exit status: 0; 1 it failed; 4 this machine has no such way.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "bench.h"

static const struct way *const ways[] = {
	&way_ioctl, &way_channel, &way_queue, &way_memory, &way_poller, &way_regions, &way_uring,
	&way_rsockets, &way_tcp, &way_udp, &way_unix, &way_verbs,
};

/**
 * struct test - a kind of measurement
 * @name: its name
 * @client: measures and prints
 * @server: the other end
 * @bulk: messages go one way
 * @lent: it is about memory that is lent
 * @access: to that
 * @apart: the hosts are in one kernel, and share what they have seen
 */
struct test {
	const char *name;
	void (*client)(struct job *job, unsigned int processes);
	void (*server)(struct job *job, unsigned int processes);
	bool bulk;
	bool lent;
	enum access access;
	bool apart;
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
	{ "open", open_client, open_server, .apart = true },
	{ "closed", closed_client, open_server, .apart = true },
	{ "ask", ask_client, ask_server, .apart = true },
	{ "stream", stream_client, stream_server, .bulk = true, .apart = true },
	{ "touch", touch_client, touch_server, .lent = true, .access = ACCESS_READ, .apart = true },
	{ "revoke", revoke_client, revoke_server, .lent = true, .apart = true },
	{ "beside", beside_client, beside_server, .bulk = true, .apart = true },
};

/* Arguments */

static void usage(void)
{
	fprintf(stderr,
		"usage: bench [--serve | --peer ADDRESS | --apart] [--port N] [--raw] TEST WAY SIZE COUNT [PROCESSES CHANNELS]\n");
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

/*
 * Without --serve and --peer the server is a child, here or on the other host of this kernel. There
 * it is not waited for: its work after the last sample is of no interest.
 */
enum role { BOTH, APART, CLIENT, SERVER };

static void run(const struct test *test, struct job *job, unsigned int processes,
		enum role role)
{
	pid_t server = 0;

	if (role == BOTH || role == APART)
		server = child();
	if (role == APART && !server)
		enter_peer();
	if (role == SERVER || (role != CLIENT && !server)) {
		test->server(job, processes);
		return;
	}
	test->client(job, processes);
	if (role == APART) {
		fflush(stdout);
		_exit(0);
	}
	if (server)
		await_child(server);
}

static void parse_options(int argc, char **argv, struct job *job, enum role *role)
{
	static const struct option options[] = {
		{ "serve", no_argument, NULL, 's' },
		{ "peer", required_argument, NULL, 'p' },
		{ "port", required_argument, NULL, 'n' },
		{ "apart", no_argument, NULL, 'a' },
		{ "raw", no_argument, NULL, 'r' },
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
		} else if (option == 'a') {
			*role = APART;
			job->host = getenv("LAB_PEER_IP");
		} else if (option == 'r') {
			job->raw = true;
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
	if ((!job.size && role != APART) || !job.count || !job.channels || !processes ||
	    processes > PROCESSES_MAX)
		usage();
	if (job.way->size_max && job.size > job.way->size_max)
		skip("messages of this size cannot be sent");
	if (test->lent && !job.way->reach)
		skip("memory cannot be lent");
	if (test->apart && role != APART)
		skip("only with two hosts in one kernel");
	if (role == APART)
		job.shared = make_shared();
	run(test, &job, processes, role);
	return 0;
}
