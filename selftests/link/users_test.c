// SPDX-License-Identifier: GPL-2.0
/*
 * users_test.c - two users who do their worst, and a third who wants to work
 *
 * Each of the two connects to hosts that never answer and gives up, lends memory and takes it
 * back, registers memory and unregisters it, and sends to a program that does not receive. One of
 * these at a time, and all together, from several processes. What the third does takes no longer
 * then than the bounds below, which Documentation/security.rst has. Processors are not what is
 * shared here: in virtual time computing takes none.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common.h"
#include "fault.h"
#include "grant.h"
#include "harness.h"
#include "pair.h"
#include "region.h"

/* A host that nobody has, and one that has an address and never answers. */
#define ABSENT "10.77.0.99"
#define SILENT "10.77.0.98"
#define HOUR_MS 3600000
#define HOSTILE 3000
#define HOSTILES 2
#define THIRD 3100
#define ROUNDS 8
#define EACH 2
#define ATTEMPTS 16
#define PORT 20000
#define LENT 65536

/*
 * What may pass. Making a link waits for adapters and the connection manager, which both take the
 * others' queue pairs apart meanwhile: some grace periods of RCU of a few ticks each. The rest is a
 * few round trips, and waits for nobody: it must not even take a tick.
 */
#define CONNECT_MS 100
#define AGAIN_MS KERNEL_TICK_MS
#define REVOKE_MS KERNEL_TICK_MS
#define CLOSE_MS KERNEL_TICK_MS

static const struct opts background = {
	.flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = HOUR_MS,
	.tuning = { .send_buffer = 65536, .recv_buffer = 65536 },
};

static struct rdmachan_addr at_port(const char *host, int port)
{
	struct rdmachan_addr addr = address_of(host);

	addr.port = htons(port);
	return addr;
}

static void make_silent(void)
{
	char command[128];

	snprintf(command, sizeof(command), "ip neigh replace %s lladdr 02:00:00:00:00:01 dev %s",
		 SILENT, getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
}

/* What a user does again and again until it is killed. */

/* As many as may be under way, and more, all the time. */
static void knock_and_leave(uid_t user)
{
	const int ctx = fault_ctx_of(user);
	int chans[ATTEMPTS], port = PORT, i;

	for (;;) {
		for (i = 0; i < ATTEMPTS; i++) {
			const struct rdmachan_addr addr = at_port(i % 2 ? ABSENT : SILENT,
								  PORT + port++ % 30000);

			chans[i] = do_connect_to(ctx, &addr, SERVICE, &background);
		}
		sleep_ms(1);
		for (i = 0; i < ATTEMPTS; i++)
			close(chans[i]);
	}
}

/* A channel between two programs of the user's. Return: a context of this end's */
static int own_pair(uid_t user, int fds[2])
{
	const int ctx = fault_ctx_of(user), there = fault_peer_of(user);
	const uint32_t service = SERVICE + getpid();
	const int listener = do_listen(there, service, NULL);

	ASSERT_GE(listener, 0);
	do
		fds[0] = do_connect(ctx, service, NULL);
	while (fds[0] < 0 && (errno == EDQUOT || errno == ECONNREFUSED) && !usleep(1000));
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, NULL);
	ASSERT_GE(fds[1], 0);
	close(listener);
	close(there);
	return ctx;
}

static void lend_and_take_back(uid_t user)
{
	static char memory[LENT];
	int fds[2], ctx = own_pair(user, fds);
	const int64_t region = region_register(ctx, memory, LENT, 0, NULL);
	int64_t grant;

	ASSERT_GT(region, 0);
	for (;;) {
		grant = grant_range(fds[0], ctx, &RANGE(region, MAY_READ, 0, LENT));
		if (grant > 0)
			grant_revoke(fds[0], grant, NULL);
		let_time_pass();
	}
}

static void register_and_unregister(uid_t user)
{
	const int ctx = fault_ctx_of(user);
	static char memory[LENT];
	int64_t region;

	for (;;) {
		region = region_register(ctx, memory, LENT, 0, NULL);
		if (region > 0)
			region_unregister(ctx, region);
		let_time_pass();
	}
}

/* Nobody receives; each program that sends is killed in the middle of it. */
static void send_to_nobody(uid_t user)
{
	int fds[2], ctx = own_pair(user, fds), i;
	char *data = calloc(1, 1048576);
	pid_t child;

	for (i = 0;; i++) {
		child = fork();
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (!do_send(fds[0], data, 1048576, 0, NULL))
				;
			_exit(0);
		}
		sleep_ms(1);
		kill(child, SIGKILL);
		child_status(child);
		close(fds[0]);
		close(fds[1]);
		close(ctx);
		ctx = own_pair(user, fds);
	}
}

static void (*const deeds[])(uid_t user) = {
	knock_and_leave, lend_and_take_back, register_and_unregister, send_to_nobody,
};

#define DEEDS (sizeof(deeds) / sizeof(*deeds))

static pid_t children[HOSTILES][DEEDS][EACH];

static void besiege(unsigned int chosen)
{
	size_t user, deed, i;

	for (user = 0; user < HOSTILES; user++)
		for (deed = 0; deed < DEEDS; deed++)
			for (i = 0; i < EACH && (chosen & 1U << deed); i++) {
				children[user][deed][i] = fork();
				if (!children[user][deed][i])
					deeds[deed](HOSTILE + user);
			}
}

static void relieve(unsigned int chosen)
{
	size_t user, deed, i;

	for (user = 0; user < HOSTILES; user++)
		for (deed = 0; deed < DEEDS; deed++)
			for (i = 0; i < EACH && (chosen & 1U << deed); i++) {
				/* None has ended by itself. */
				EXPECT_EQ(waitpid(children[user][deed][i], NULL, WNOHANG), 0);
				kill(children[user][deed][i], SIGKILL);
				child_status(children[user][deed][i]);
			}
}

/* How long each of these has taken at the most, in ns. */
struct longest {
	int64_t connect;
	int64_t again;
	int64_t revoke;
	int64_t close;
};

static void note(int64_t *longest, int64_t begun)
{
	const int64_t took = clock_ns() - begun;

	*longest = took > *longest ? took : *longest;
}

static int connect_and_accept(int ctx, int listener, int64_t *longest, int *there)
{
	const int64_t begun = clock_ns();
	int chan = do_connect(ctx, SERVICE, NULL);

	note(longest, begun);
	ASSERT_GE(chan, 0);
	*there = do_accept(listener, NULL);
	ASSERT_GE(*there, 0);
	return chan;
}

/* Each time another user, without a link yet. */
static void work(int listener, uid_t user, struct longest *l)
{
	static char memory[LENT];
	const int ctx = fault_ctx_of(user);
	const int64_t region = region_register(ctx, memory, LENT, 0, NULL);
	int chan, there, second, second_there;
	int64_t grant, begun;

	ASSERT_GT(region, 0);
	chan = connect_and_accept(ctx, listener, &l->connect, &there);
	second = connect_and_accept(ctx, listener, &l->again, &second_there);
	talk(second, second_there);
	grant = grant_range(chan, ctx, &RANGE(region, MAY_READ, 0, LENT));
	ASSERT_GT(grant, 0);
	begun = clock_ns();
	ASSERT_EQ(grant_revoke(chan, grant, NULL), 0);
	note(&l->revoke, begun);
	close(second_there);
	close(there);
	begun = clock_ns();
	close(second);
	close(chan);
	ASSERT_TRUE(await_channels(ctx, 0));
	note(&l->close, begun);
	close(ctx);
}

static void measure(int listener, struct longest *l)
{
	int i;

	memset(l, 0, sizeof(*l));
	for (i = 0; i < ROUNDS; i++)
		work(listener, THIRD + i, l);
	printf("# us: connect %lld, again %lld, revoke %lld, close %lld\n",
	       (long long)l->connect / 1000, (long long)l->again / 1000,
	       (long long)l->revoke / 1000, (long long)l->close / 1000);
}

FIXTURE(users)
{
	int there;
	int listener;
};

FIXTURE_SETUP(users)
{
	if (!time_is_virtual() || !has_peer())
		SKIP("two hosts are needed, in virtual time");
	self->there = open_peer();
	self->listener = do_listen(self->there, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	make_silent();
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
}

FIXTURE_TEARDOWN(users)
{
	close(self->listener);
	await_no_links(self->there);
	close(self->there);
}

/* What the two do, each bit one of the deeds. */
static const struct {
	const char *name;
	unsigned int deeds;
} sieges[] = {
	{ "nothing", 0 },
	{ "connects", 1 },
	{ "grants", 2 },
	{ "regions", 4 },
	{ "messages", 8 },
	{ "all", 15 },
};

TEST_F_ROWS(users, beside, sieges)
{
	struct longest l;

	besiege(row->deeds);
	sleep_ms(100);
	measure(self->listener, &l);
	relieve(row->deeds);
	EXPECT_LE(l.connect, CONNECT_MS * 1000000LL);
	EXPECT_LE(l.again, AGAIN_MS * 1000000LL);
	EXPECT_LE(l.revoke, REVOKE_MS * 1000000LL);
	EXPECT_LE(l.close, CLOSE_MS * 1000000LL);
}

TEST_HARNESS_MAIN
