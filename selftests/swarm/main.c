// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - a program of the swarm, as a line of the plan tells
 *
 * usage: swarm_peer WORD=VALUE...       (see options[])
 *
 * The journal is its standard output. A server goes on until SIGTERM, and then ends between two
 * sessions; a client ends by itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "peer.h"

#define ACCEPT_MS 1000

static int enough;

static const struct {
	const char *name;
	size_t at;
} options[] = {
	{ "pair", offsetof(struct setup, pair) },
	{ "uid", offsetof(struct setup, uid) },
	{ "service", offsetof(struct setup, service) },
	{ "up", offsetof(struct setup, up) },
	{ "down", offsetof(struct setup, down) },
	{ "window", offsetof(struct setup, window) },
	{ "min", offsetof(struct setup, min) },
	{ "max", offsetof(struct setup, max) },
	{ "pause_us", offsetof(struct setup, pause_us) },
	{ "depth", offsetof(struct setup, depth) },
	{ "sessions", offsetof(struct setup, sessions) },
	{ "start_ms", offsetof(struct setup, start_ms) },
	{ "gap_ms", offsetof(struct setup, gap_ms) },
	{ "connect_ms", offsetof(struct setup, connect_ms) },
	{ "quit_session", offsetof(struct setup, quit_session) },
	{ "quit_after", offsetof(struct setup, quit_after) },
};

static const struct {
	const char *name;
	void (*run)(struct session *session);
} kinds[] = {
	{ "call", by_call },
	{ "queue", by_queue }, { "pool", by_queue }, { "region", by_queue },
	{ "uring", by_uring },
	{ "grant", by_grant },
};

static void usage(const char *word)
{
	fprintf(stderr, "swarm_peer: %s\n", word);
	exit(2);
}

static bool take_word(struct setup *setup, const char *name, const char *value)
{
	static const char *const quits[] = { "none", "shut", "exit", "close", "revoke" };
	size_t i;

	if (!strcmp(name, "role")) {
		setup->client = !strcmp(value, "client");
	} else if (!strcmp(name, "kind")) {
		setup->kind = value;
	} else if (!strcmp(name, "host")) {
		setup->host = value;
	} else if (!strcmp(name, "peer")) {
		setup->peer = value;
	} else if (!strcmp(name, "seed")) {
		setup->seed = strtoull(value, NULL, 0);
	} else if (!strcmp(name, "quit")) {
		for (i = 0; i < 5; i++)
			setup->quit = strcmp(value, quits[i]) ? setup->quit : i;
	} else {
		return false;
	}
	return true;
}

static void take_option(struct setup *setup, char *text)
{
	char *value = strchr(text, '=');
	size_t i;

	if (!value)
		usage(text);
	*value++ = '\0';
	if (take_word(setup, text, value))
		return;
	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (strcmp(options[i].name, text))
			continue;
		*(uint32_t *)((char *)setup + options[i].at) = strtoul(value, NULL, 0);
		return;
	}
	usage(text);
}

/* Go to the host, and become the user. */
static void go_there(const struct setup *setup)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	char path[64];
	int ns;

	snprintf(path, sizeof(path), "/run/netns/%s", setup->host);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET))
		usage(path);
	close(ns);
	setrlimit(RLIMIT_MEMLOCK, &all);
	if (setup->uid && (setgid(setup->uid) || setuid(setup->uid)))
		usage("setuid");
}

static void run_session(struct session *session)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, session->setup->kind))
			continue;
		kinds[i].run(session);
		note("over %s", session_end(session));
		/* A channel may be closed already, as a way to end it. */
		if (session->chan >= 0)
			close(session->chan);
		note("closed");
		return;
	}
	usage(session->setup->kind);
}

static struct rdmachan_options tuned(const struct setup *setup)
{
	struct rdmachan_options tuning = RDMACHAN_OPTIONS_INIT;

	tuning.timeout_ms = setup->client ? setup->connect_ms : 0;
	return tuning;
}

static void one_connect(const struct setup *setup, int ctx, uint32_t number)
{
	struct rdmachan_options tuning = tuned(setup);
	struct session session;
	struct rdmachan_error record;
	int chan;

	note("connect %u", number);
	chan = rdmachan_connect_host(ctx, setup->peer, setup->service, &tuning, &record);
	if (chan < 0) {
		note_error("connect-failed", errno, &record);
		return;
	}
	note("connected %u", number);
	session_begin(&session, setup, ctx, chan, number);
	run_session(&session);
}

static int be_client(const struct setup *setup, int ctx)
{
	uint32_t number;

	sleep_ns(setup->start_ms * 1000000LL);
	for (number = 1; number <= setup->sessions; number++) {
		one_connect(setup, ctx, number);
		sleep_ns(setup->gap_ms * 1000000LL);
	}
	note("exit");
	return 0;
}

static void on_term(int sig)
{
	(void)sig;
	__atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
}

static int be_server(const struct setup *setup, int ctx)
{
	struct rdmachan_options tuning = tuned(setup);
	struct rdmachan_options patience = RDMACHAN_OPTIONS_INIT;
	struct session session;
	struct rdmachan_error record;
	int listener, chan;

	signal(SIGTERM, on_term);
	listener = rdmachan_listen(ctx, setup->service, &tuning, &record);
	if (listener < 0) {
		note_error("listen-failed", errno, &record);
		return 1;
	}
	note("listening");
	patience.timeout_ms = ACCEPT_MS;
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		chan = rdmachan_accept(listener, &patience, NULL, NULL, NULL);
		if (chan < 0 && errno != ETIMEDOUT && errno != EHOSTDOWN && errno != EINTR) {
			note("accept-failed errno=%d", errno);
			continue;
		}
		if (chan < 0)
			continue;
		note("accepted");
		session_begin(&session, setup, ctx, chan, 0);
		run_session(&session);
	}
	close(listener);
	note("exit");
	return 0;
}

int main(int argc, char **argv)
{
	struct setup setup = { .kind = "call", .sessions = 1, .max = 65536, .depth = 4 };
	int i, ctx;

	for (i = 1; i < argc; i++)
		take_option(&setup, argv[i]);
	if (!setup.host || (setup.client && !setup.peer))
		usage("host and peer are missing");
	go_there(&setup);
	note("begin");
	ctx = rdmachan_open(NULL);
	if (ctx < 0) {
		note("open-failed errno=%d", errno);
		return 1;
	}
	return setup.client ? be_client(&setup, ctx) : be_server(&setup, ctx);
}
