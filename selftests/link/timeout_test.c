// SPDX-License-Identifier: GPL-2.0
/*
 * timeout_test.c - the module's time-outs, each as it is when nobody sets it
 *
 * All run where time is virtual, and are exact there. An end comes when the time is over, and so
 * much later at most as the code that ends it looks, which is a timer or the tick of the link.
 */
#include <poll.h>
#include <sys/ioctl.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define ABSENT "10.77.0.99"
#define SILENT "10.77.0.98"

#define CONNECT_MS 10000
#define RESOLVE_MS 3000
#define DEAD_MS 5000
#define IDLE_MS 30000
#define LINGER_MS 60000
/* A link looks after itself so often. */
#define TICK_MS (DEAD_MS / 4)
#define TICK_LATE (TICK_MS + timer_late(TICK_MS))
/* An adapter sends again what was lost: so long after it, at most. */
#define AGAIN_MS 540

#define LIMIT_S 600
#define MESSAGE 4096

FIXTURE(time)
{
	int ctx;
	int there;
};

static void run(const char *format, const char *address, const char *state)
{
	char command[256];

	snprintf(command, sizeof(command), format, address, getenv("LAB_DEV"), state);
	ASSERT_EQ(system(command), 0);
}

/*
 * Two hosts know where the other is, and in the state "permanent" for ever. Else chance decides
 * how long a host that is cut off can still be sent to.
 */
static void set_neighbours(const char *state)
{
	int here;

	if (!has_peer())
		return;
	run("ip neigh change %s dev %s nud %s", getenv("LAB_PEER_IP"), state);
	here = enter_peer();
	run("ip neigh change %s dev %s nud %s", getenv("LAB_IP"), state);
	leave_peer(here);
}

/* A message each way, and nothing is left of the link. */
static void find_peer(int ctx)
{
	int fds[2];

	pair_up(ctx, fds, NULL);
	talk(fds[0], fds[1]);
	close(fds[0]);
	close(fds[1]);
	await_no_links(ctx);
}

FIXTURE_SETUP(time)
{
	if (!time_is_virtual())
		SKIP("time is real here: nothing is exact");
	cable("mend");
	self->ctx = open_ctx();
	self->there = open_peer();
	find_peer(self->ctx);
	set_neighbours("permanent");
}

FIXTURE_TEARDOWN(time)
{
	cable("mend");
	set_neighbours("reachable");
	close(self->there);
	close(self->ctx);
}

static uint32_t links(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_links;
}

static unsigned int parameter(const char *name)
{
	unsigned int value = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/rdmachan/parameters/%s", name);
	file = fopen(path, "r");
	ASSERT_TRUE(file);
	ASSERT_EQ(fscanf(file, "%u", &value), 1);
	fclose(file);
	return value;
}

TEST_F(time, defaults)
{
	EXPECT_EQ(parameter("connect_ms"), CONNECT_MS);
	EXPECT_EQ(parameter("dead_ms"), DEAD_MS);
	EXPECT_EQ(parameter("idle_ms"), IDLE_MS);
	EXPECT_EQ(parameter("linger_ms"), LINGER_MS);
}

/*
 * Connecting
 */

/* A connect that waits, and one that does not, fail alike; and so late at most. */
static void connect_fails(int ctx, const struct rdmachan_addr *addr, int code, uint32_t cause,
			  uint32_t op, int ms, int late)
{
	struct rdmachan_error error;
	const struct opts waits = { .error = &error };
	const struct opts later = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int64_t begun = tick_ms();
	int chan = do_connect_to(ctx, addr, SERVICE, &later);

	ASSERT_GE(chan, 0);
	EXPECT_ERR(do_connect_to(ctx, addr, SERVICE, &waits), code);
	EXPECT_TOOK(begun, ms, late);
	EXPECT_EQ(error.error, code);
	EXPECT_EQ(error.cause, cause);
	EXPECT_EQ(error.op, op);
	EXPECT_EQ(poll_mask(chan, POLLOUT, 1000) & POLLERR, POLLERR);
	EXPECT_TOOK(begun, ms, late);
	ASSERT_EQ(get_error(chan, &error), 0);
	EXPECT_EQ(error.cause, cause);
	EXPECT_EQ(error.op, op);
	close(chan);
}

static void connect_times_out(int ctx, const struct rdmachan_addr *addr)
{
	/* What carries siw asks longer than the module waits: for 15 s, and not for 7. */
	run("echo 3 >/proc/sys/net/ipv4/tcp_syn_retries", NULL, NULL);
	connect_fails(ctx, addr, ETIMEDOUT, RDMACHAN_CAUSE_TIMEOUT, RDMACHAN_OP_CONNECT,
		      CONNECT_MS, LIMIT_LATE(CONNECT_MS));
	run("echo 2 >/proc/sys/net/ipv4/tcp_syn_retries", NULL, NULL);
}

TEST_F(time, connect_to_a_silent_host)
{
	const struct rdmachan_addr addr = address_of(SILENT);

	run("ip neigh replace %s dev %s lladdr 02:00:00:00:00:01", SILENT, NULL);
	connect_times_out(self->ctx, &addr);
}

TEST_F(time, connect_to_no_host)
{
	const struct rdmachan_addr addr = address_of(ABSENT);

	connect_fails(self->ctx, &addr, EHOSTUNREACH, RDMACHAN_CAUSE_ADDRESS,
		      RDMACHAN_OP_RESOLVE, RESOLVE_MS, timer_late(RESOLVE_MS));
}

TEST_F(time, connect_to_a_peer_cut_off)
{
	const struct rdmachan_addr addr = peer_address();

	ASSERT_GE(do_listen(self->there, SERVICE, NULL), 0);
	cable("cut");
	connect_times_out(self->ctx, &addr);
	/* siw goes on asking until TCP gives up, and the next test's connect would join it. */
	await_no_links(self->ctx);
}

/* The same peer, when this host does not know where it is. */
TEST_F(time, connect_to_a_peer_not_found)
{
	const struct rdmachan_addr addr = peer_address();

	if (!has_peer())
		SKIP("there is no other host to be found");
	cable("cut");
	run("ip neigh del %s dev %s", getenv("LAB_PEER_IP"), NULL);
	connect_fails(self->ctx, &addr, EHOSTUNREACH, RDMACHAN_CAUSE_ADDRESS,
		      RDMACHAN_OP_RESOLVE, RESOLVE_MS, timer_late(RESOLVE_MS));
	cable("mend");
	/* A search that fails in a moment may be under way, and the next connect would with it. */
	run("ip neigh del %s dev %s", getenv("LAB_PEER_IP"), NULL);
	find_peer(self->ctx);
}

/* How the two ends of a channel have ended. */
struct ends {
	int fds[2];
	int64_t begun;
	int64_t took[2];
	struct rdmachan_error error[2];
};

/* A channel on which a message has come each way, @begun, when the cable is cut. */
static void cut_a_pair(struct fixture_time *self, struct ends *ends, const char *words)
{
	pair_up(self->ctx, ends->fds, NULL);
	talk(ends->fds[0], ends->fds[1]);
	ends->begun = tick_ms();
	cable(words);
}

/* Until both have ended. */
static void await_ends(struct ends *ends)
{
	struct pollfd polled[2] = { { .fd = ends->fds[0] }, { .fd = ends->fds[1] } };
	int i, left = 2;

	while (left) {
		ASSERT_GT(poll(polled, 2, 100000), 0);
		for (i = 0; i < 2; i++) {
			if (!polled[i].revents)
				continue;
			EXPECT_EQ(polled[i].revents, POLLERR | POLLHUP);
			ends->took[i] = now_ms() - ends->begun;
			ASSERT_EQ(get_error(ends->fds[i], &ends->error[i]), 0);
			polled[i].fd = -1;
			polled[i].revents = 0;
			left--;
		}
	}
}

static void expect_peer_dead(const struct ends *ends, int i)
{
	EXPECT_EQ(ends->error[i].error, EHOSTDOWN);
	EXPECT_EQ(ends->error[i].cause, RDMACHAN_CAUSE_PEER_DEAD);
	EXPECT_EQ(ends->error[i].op, RDMACHAN_OP_HEARTBEAT);
	EXPECT_EQ(ends->error[i].detail, DEAD_MS);
	EXPECT_GE(ends->took[i], DEAD_MS);
	EXPECT_LE(ends->took[i], DEAD_MS + TICK_LATE);
}

TEST_F(time, dead_both_ways)
{
	struct ends ends;

	cut_a_pair(self, &ends, "cut");
	await_ends(&ends);
	expect_peer_dead(&ends, 0);
	expect_peer_dead(&ends, 1);
}

/* A program that is busy hears of it as one that waits. */
TEST_F(time, dead_in_traffic)
{
	const struct end_told dead = { EHOSTDOWN, RDMACHAN_CAUSE_PEER_DEAD };
	pid_t children[2];
	int64_t begun;
	int fds[2], i;

	pair_up(self->ctx, fds, NULL);
	children[0] = busy_until_end(fds[0], true, &dead);
	children[1] = busy_until_end(fds[1], false, &dead);
	sleep_ms(KERNEL_TICK_MS);
	/* The last frames are under way, or have come within this millisecond. */
	begun = tick_ms() - 1;
	cable("cut");
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(child_status(children[i]), 0);
		EXPECT_TOOK(begun, DEAD_MS, TICK_LATE + 1);
	}
}

/* The end that hears nothing gives up, and the other hears it say so. */
static void dead_one_way(struct fixture_time *self, const char *words, int deaf)
{
	struct ends ends;

	if (!has_peer())
		SKIP("there is no other host: the cable has one way");
	cut_a_pair(self, &ends, words);
	await_ends(&ends);
	expect_peer_dead(&ends, deaf);
	EXPECT_EQ(ends.error[!deaf].error, ECONNRESET);
	EXPECT_EQ(ends.error[!deaf].cause, RDMACHAN_CAUSE_DISCONNECTED);
	EXPECT_EQ(ends.took[!deaf], ends.took[deaf]);
}

TEST_F(time, dead_one_way)
{
	dead_one_way(self, "cut ab", 1);
}

TEST_F(time, dead_the_other_way)
{
	dead_one_way(self, "cut ba", 0);
}

/*
 * Of the packets of RoCE those of connection managers alone reach this host's adapter: they go to
 * queue pair 1. So it is when no queue pair makes progress. Packets have IPv4 without options here.
 */
static void hold_back(void)
{
	run("tc qdisc add dev %2$s clsact", "", "");
	run("tc filter add dev %2$s ingress protocol ip prio 1 u32 match ip protocol 17 0xff "
	    "match u16 4791 0xffff at 22 match u32 1 0xffffff at 32 action pass", "", "");
	run("tc filter add dev %2$s ingress protocol ip prio 2 u32 match ip protocol 17 0xff "
	    "match u16 4791 0xffff at 22 action drop", "", "");
}

static void hold_back_no_more(void)
{
	run("tc qdisc del dev %2$s clsact", "", "");
}

static void on_both_hosts(void (*does)(void))
{
	int here;

	does();
	here = enter_peer();
	does();
	leave_peer(here);
}

/* Return: whether the end was told that the peer is stalled, and not that it has gone. */
static bool expect_stalled(const struct ends *ends, int i)
{
	EXPECT_GE(ends->took[i], DEAD_MS);
	EXPECT_LE(ends->took[i], DEAD_MS + TICK_LATE);
	if (ends->error[i].cause == RDMACHAN_CAUSE_DISCONNECTED)
		return false;
	EXPECT_EQ(ends->error[i].error, EHOSTDOWN);
	EXPECT_EQ(ends->error[i].cause, RDMACHAN_CAUSE_PEER_STALLED);
	EXPECT_EQ(ends->error[i].op, RDMACHAN_OP_HEARTBEAT);
	EXPECT_EQ(ends->error[i].detail, DEAD_MS);
	return true;
}

/* No frame comes and none is acknowledged; but the hosts live, and say so beside that. */
TEST_F(time, stalled_both_ways)
{
	struct ends ends;
	int told;

	if (!has_peer() || over_siw())
		SKIP("two hosts are needed, and a connection manager beside TCP");
	cut_a_pair(self, &ends, "mend");
	on_both_hosts(hold_back);
	await_ends(&ends);
	on_both_hosts(hold_back_no_more);
	told = expect_stalled(&ends, 0);
	told += expect_stalled(&ends, 1);
	EXPECT_GT(told, 0);
	close(ends.fds[0]);
	close(ends.fds[1]);
	find_peer(self->ctx);
}

/* A link that was at hand dies first, and the rest of the time goes into another. */
TEST_F(time, connect_on_a_link_that_dies)
{
	const struct rdmachan_addr addr = peer_address();
	struct ends ends;
	pid_t child;

	cut_a_pair(self, &ends, "cut");
	child = fork();
	if (!child) {
		connect_times_out(self->ctx, &addr);
		fflush(stdout);
		_exit(harness_failures);
	}
	await_ends(&ends);
	expect_peer_dead(&ends, 0);
	expect_peer_dead(&ends, 1);
	EXPECT_EQ(child_status(child), 0);
}

/* The state of the only link of a host; -1: there is none. */
static int link_state(int ctx)
{
	struct rdmachan_object objects[16];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects,
		.objects_max = 16, .object_size = sizeof(objects[0]),
	};
	int state = -1;
	uint32_t i;

	ASSERT_EQ(ioctl(ctx, RDMACHAN_LIST, &list), 0);
	for (i = 0; i < list.out_count; i++)
		if (objects[i].kind == RDMACHAN_KIND_LINK)
			state = objects[i].state;
	return state;
}

/* The peer's answer is lost. It goes on waiting until it is told that nobody does. */
TEST_F(time, connect_without_an_answer)
{
	const struct rdmachan_addr addr = peer_address();

	if (!has_peer())
		SKIP("there is no other host: the cable has one way");
	ASSERT_GE(do_listen(self->there, SERVICE, NULL), 0);
	cable("cut ba");
	connect_times_out(self->ctx, &addr);
	while (links(self->ctx))
		sleep_ms(1);
}

/* And if nobody can tell it, it finds out. */
TEST_F(time, cut_while_connecting)
{
	const struct opts later = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int64_t begun;
	int chan;

	if (!has_peer())
		SKIP("there is no other host: the cable has one way");
	ASSERT_GE(do_listen(self->there, SERVICE, NULL), 0);
	cable("cut ba");
	begun = tick_ms();
	chan = do_connect(self->ctx, SERVICE, &later);
	sleep_ms(KERNEL_TICK_MS);
	EXPECT_EQ(link_state(self->there), RDMACHAN_STATE_CONNECTING);
	cable("cut ab");
	while (link_state(self->there) == RDMACHAN_STATE_CONNECTING)
		sleep_ms(1);
	EXPECT_TOOK(begun, DEAD_MS, TICK_LATE);
	EXPECT_EQ(link_state(self->ctx), RDMACHAN_STATE_CONNECTING);
	EXPECT_TRUE(poll_mask(chan, POLLOUT, 100000) & POLLERR);
	EXPECT_TOOK(begun, CONNECT_MS, LIMIT_LATE(CONNECT_MS));
}

/*
 * A message lost meanwhile comes within the dead time. rxe sends again in equal intervals; what
 * carries siw does so 0.2, 0.6, 1.4, 3.0 and 6.2 s later.
 */
TEST_F(time, cut_for_less_than_the_dead_time)
{
	const int cut_ms = strncmp(getenv("LAB_RDMA"), "siw", 3) ? DEAD_MS - AGAIN_MS - 100 : 2900;
	const int again_ms = cut_ms == 2900 ? 500 : AGAIN_MS;
	struct ends ends;
	char data[4];

	cut_a_pair(self, &ends, "cut");
	ASSERT_EQ(do_send(ends.fds[0], "lost", 4, 0, NULL), 0);
	ASSERT_EQ(do_send(ends.fds[1], "lost", 4, 0, NULL), 0);
	sleep_ms(cut_ms);
	cable("mend");
	EXPECT_TRUE(wait_readable(ends.fds[0], again_ms));
	EXPECT_TRUE(wait_readable(ends.fds[1], again_ms));
	EXPECT_EQ(read(ends.fds[0], data, 4), 4);
	EXPECT_EQ(read(ends.fds[1], data, 4), 4);
	talk(ends.fds[0], ends.fds[1]);
}

/*
 * Links that nobody uses
 */

/* Return: when the last channel was closed. */
static int64_t leave(const int fds[2])
{
	int64_t begun;

	talk(fds[0], fds[1]);
	begun = tick_ms();
	close(fds[0]);
	close(fds[1]);
	return begun;
}

static void await_idle(struct fixture_time *self, int64_t begun)
{
	/* Both ends. */
	const uint32_t all = links(self->ctx);

	EXPECT_EQ(all, 2);
	while (now_ms() - begun < IDLE_MS)
		sleep_ms(begun + IDLE_MS - now_ms());
	EXPECT_EQ(links(self->ctx), all);
	while (links(self->ctx))
		sleep_ms(1);
	EXPECT_TOOK(begun, IDLE_MS, TICK_LATE);
}

TEST_F_TIMEOUT(time, idle, LIMIT_S)
{
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	await_idle(self, leave(fds));
}

/* Each channel on it begins the time anew. */
TEST_F_TIMEOUT(time, idle_after_another_channel, LIMIT_S)
{
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	leave(fds);
	sleep_ms(IDLE_MS - 1000);
	pair_up(self->ctx, fds, NULL);
	await_idle(self, leave(fds));
}

/* A link with a channel is not idle, however quiet that is. */
TEST_F_TIMEOUT(time, quiet_is_not_idle, LIMIT_S)
{
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	sleep_ms(4 * IDLE_MS);
	EXPECT_EQ(links(self->ctx), 2);
	talk(fds[0], fds[1]);
}

/*
 * Channels that are closed before all has been delivered
 */

/* A channel that is full, as its reader does not read. Return: how many messages wait. */
static int pair_up_and_fill(struct fixture_time *self, int fds[2])
{
	const struct opts small = { .tuning = { 65536, 65536, 0, 0 } };
	int count;

	pair_up(self->ctx, fds, &small);
	count = fill_up(fds[0], MESSAGE);
	ASSERT_GT(count, 65536 / MESSAGE);
	return count;
}

/* All of them come, and then the end. */
static void expect_messages(int chan, int count)
{
	char data[MESSAGE];

	while (count--)
		EXPECT_EQ(read(chan, data, sizeof(data)), sizeof(data));
	EXPECT_EQ(read(chan, data, sizeof(data)), 0);
}

TEST_F_TIMEOUT(time, linger, LIMIT_S)
{
	struct rdmachan_error error;
	int64_t begun;
	int fds[2];

	pair_up_and_fill(self, fds);
	begun = tick_ms();
	close(fds[0]);
	EXPECT_EQ(poll_mask(fds[1], 0, 10 * LINGER_MS), POLLERR | POLLHUP);
	EXPECT_TOOK(begun, LINGER_MS, timer_late(LINGER_MS));
	ASSERT_EQ(get_error(fds[1], &error), 0);
	EXPECT_EQ(error.error, ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESET);
	/* A message sent and not received is thrown away here, and not held by anybody there. */
	EXPECT_TRUE(await_channels(self->ctx, 1));
	close(fds[1]);
}

/* In the last moment. */
TEST_F_TIMEOUT(time, read_before_the_linger_time_is_over, LIMIT_S)
{
	int fds[2], count = pair_up_and_fill(self, fds);

	close(fds[0]);
	sleep_ms(LINGER_MS);
	expect_messages(fds[1], count);
	EXPECT_TRUE(await_channels(self->ctx, 1));
	close(fds[1]);
}

/* A peer that is dead is not waited for any longer than that takes. */
TEST_F(time, lingering_when_the_cable_is_cut)
{
	struct rdmachan_error error;
	int fds[2], other[2];
	int64_t begun;

	pair_up(self->ctx, other, NULL);
	pair_up_and_fill(self, fds);
	/* Both ends hear of each other once more, for it is the same link. */
	talk(other[0], other[1]);
	begun = tick_ms();
	cable("cut");
	close(fds[0]);
	EXPECT_EQ(poll_mask(fds[1], 0, 10 * DEAD_MS), POLLERR | POLLHUP);
	EXPECT_TOOK(begun, DEAD_MS, TICK_LATE);
	ASSERT_EQ(get_error(fds[1], &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_DEAD);
	/* The other three have files. */
	EXPECT_TRUE(await_channels(self->ctx, 3));
	EXPECT_TOOK(begun, DEAD_MS, TICK_LATE);
}

TEST_HARNESS_MAIN
