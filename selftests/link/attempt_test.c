// SPDX-License-Identifier: GPL-2.0
/*
 * attempt_test.c - links that are being made: for how long, and how many
 *
 * No thread and no worker of the module sleeps while a host does not answer, and an attempt ends
 * when no program waits for it.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common.h"
#include "fault.h"
#include "harness.h"
#include "pair.h"

/* A host that nobody has, and one that has an address and never answers. */
#define ABSENT "10.77.0.99"
#define SILENT "10.77.0.98"
#define HOUR_MS 3600000
#define PORT 20000
#define ATTEMPTS 600
/* More workers than a queue of work may have, 2048, together. */
#define USERS 10
#define EACH 250
#define FEW 4
#define USER 3000
/* Taking a link apart, or making one, waits for grace periods of RCU: some ticks of 10 ms each. */
#define AT_ONCE_MS 100

static const struct opts background = {
	.flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = HOUR_MS,
	.tuning = { .send_buffer = 65536, .recv_buffer = 65536 },
};

static uint32_t links(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_links;
}

static struct rdmachan_addr at_port(const char *host, int port)
{
	struct rdmachan_addr addr = address_of(host);

	addr.port = htons(port);
	return addr;
}

static int begin(int ctx, const char *host, int port)
{
	const struct rdmachan_addr addr = at_port(host, port);
	int chan = do_connect_to(ctx, &addr, SERVICE, &background);

	ASSERT_GE(chan, 0);
	return chan;
}

static void many_files(void)
{
	const struct rlimit limit = { 8192, 8192 };

	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void make_silent(void)
{
	char command[128];

	ASSERT_TRUE(getenv("LAB_DEV"));
	snprintf(command, sizeof(command), "ip neigh replace %s lladdr 02:00:00:00:00:01 dev %s",
		 SILENT, getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
}

/* The event is that no link is left; where time is virtual that is soon. */
static void until_no_link(int ctx)
{
	const int64_t begun = tick_ms();

	while (links(ctx))
		sleep_ms(1);
	EXPECT_TOOK(begun, 0, AT_ONCE_MS);
}

static void give_up_many(const char *host)
{
	const int ctx = open_ctx();
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		int chan = begin(ctx, host, PORT + i);

		/* It has just begun, or not even that. */
		if (i % 2)
			sleep_ms(1);
		close(chan);
	}
	until_no_link(ctx);
	close(ctx);
}

TEST_TIMEOUT(given_up_before_an_address, 120)
{
	give_up_many(ABSENT);
}

TEST_TIMEOUT(given_up_before_an_answer, 120)
{
	if (over_siw())
		SKIP("siw asks by TCP, in one call, until TCP gives up");
	make_silent();
	give_up_many(SILENT);
}

/* An attempt goes on as long as one program waits for it. */
TEST(one_of_two_gives_up)
{
	const int ctx = open_ctx();
	int chans[2], i;

	if (over_siw())
		SKIP("siw asks by TCP, in one call, until TCP gives up");
	make_silent();
	for (i = 0; i < 2; i++)
		chans[i] = begin(ctx, SILENT, PORT);
	sleep_ms(100);
	EXPECT_EQ(links(ctx), 1);
	close(chans[0]);
	sleep_ms(100);
	EXPECT_EQ(links(ctx), 1);
	EXPECT_EQ(poll_mask(chans[1], POLLOUT | POLLIN, 0), 0);
	close(chans[1]);
	until_no_link(ctx);
	close(ctx);
}

/* Users that wait for a host that nobody has, as many as may be, and one that has a peer. */
TEST_TIMEOUT(many_who_wait, 300)
{
	const int there = open_peer(), listener = do_listen(there, SERVICE, NULL);
	static int ctx[USERS], chans[USERS][EACH];
	int i, k, mine, waits, fds[2];
	int64_t begun;

	ASSERT_GE(listener, 0);
	many_files();
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	for (i = 0; i < USERS; i++) {
		ctx[i] = fault_ctx_of(USER + i);
		for (k = 0; k < EACH; k++)
			chans[i][k] = begin(ctx[i], ABSENT, PORT + k);
	}
	mine = fault_ctx_of(USER + USERS);
	begun = tick_ms();
	waits = do_connect(mine, SERVICE, &background);
	ASSERT_GE(waits, 0);
	ASSERT_EQ(poll_mask(waits, POLLOUT, 20000 * harness_slow()), POLLOUT);
	EXPECT_TOOK(begun, 0, AT_ONCE_MS);
	close(waits);
	close(do_accept(listener, NULL));
	fds[0] = do_connect(mine, SERVICE, NULL);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, NULL);
	talk(fds[0], fds[1]);
	for (i = 0; i < USERS; i++) {
		for (k = 0; k < EACH; k++)
			close(chans[i][k]);
		close(ctx[i]);
	}
	close(fds[0]);
	close(fds[1]);
	await_no_links(mine);
	close(mine);
	close(listener);
	close(there);
}

/* What a channel leaves behind counts for its user, until it is gone. */
TEST(left_behind)
{
	struct rdmachan_error error;
	int ctx, chan, i, refused = 0;

	if (!time_is_virtual() || over_siw())
		SKIP("what is left may be gone at once, or stay");
	make_silent();
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ctx = fault_ctx_of(USER);
	set_parameter("user_pending", FEW);
	for (i = 0; i < ATTEMPTS; i++) {
		chan = begin(ctx, SILENT, PORT + i);
		sleep_ms(1);
		if (poll_mask(chan, POLLOUT, 0) & POLLERR) {
			ASSERT_EQ(get_error(chan, &error), 0);
			EXPECT_EQ(error.error, EDQUOT);
			EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_LIMIT);
			EXPECT_EQ(error.detail, RDMACHAN_LIMIT_PENDING);
			refused++;
		}
		EXPECT_LE(links(ctx), FEW);
		close(chan);
	}
	EXPECT_GE(refused, 1);
	until_no_link(ctx);
	set_parameter("user_pending", 256);
	close(ctx);
}

/* A signal ends a connect that waits, and its attempt. */
static void interrupted(const char *host)
{
	const struct opts waits = { .timeout_ms = HOUR_MS };
	const struct rdmachan_addr addr = at_port(host, PORT);
	const int ctx = open_ctx();
	pid_t child = fork();

	if (!child) {
		do_connect_to(ctx, &addr, SERVICE, &waits);
		_exit(0);
	}
	while (!links(ctx))
		sleep_ms(1);
	sleep_ms(50);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	until_no_link(ctx);
	close(ctx);
}

TEST(killed_before_an_address)
{
	interrupted(ABSENT);
}

TEST(killed_before_an_answer)
{
	if (over_siw())
		SKIP("siw asks by TCP, in one call, until TCP gives up");
	make_silent();
	interrupted(SILENT);
}

TEST_HARNESS_MAIN
