// SPDX-License-Identifier: GPL-2.0
/*
 * change_test.c - what changes at one of two hosts under connections
 *
 * Each end is told what has failed. The host at which the failure was is told of it. The other one
 * is told that the connection was taken down there, or that nothing was heard of that host.
 */
#include <sys/ioctl.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

/*
 * RoCE takes packets of 4096 bytes with an MTU of 4200, of 2048 with 2200, of 1024 with 1500, and
 * none with 300. An MTU of less than 1280 takes the addresses of IPv6 away.
 */
#define WHOLE_MTU 4200
#define SMALL_MTU 2200
#define LEAST_MTU 1500
#define NO_MTU 300
#define LIMIT_S 200

static char data[30000];

FIXTURE(change)
{
	int ctx;
	int there;
	int mtu;
	/* Of a channel: at this host, and at the peer's. */
	int ends[2];
};

static void command(const char *format, const char *address)
{
	char text[160];

	snprintf(text, sizeof(text), format, getenv("LAB_DEV"), address);
	ASSERT_EQ(system(text), 0);
}

static void set_mtu(int mtu)
{
	char text[8];

	snprintf(text, sizeof(text), "%d", mtu);
	command("ip link set %s mtu %s", text);
}

static void set_peer_mtu(int mtu)
{
	int here = enter_peer();

	set_mtu(mtu);
	leave_peer(here);
}

static int mtu_now(void)
{
	char path[80];
	FILE *file;
	int mtu = 0;

	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", getenv("LAB_DEV"));
	file = fopen(path, "r");
	ASSERT_TRUE(file && fscanf(file, "%d", &mtu) == 1);
	fclose(file);
	return mtu;
}

FIXTURE_SETUP(change)
{
	const char *rdma = getenv("LAB_RDMA");

	if (!has_peer() || !rdma || strncmp(rdma, "rxe", 3))
		SKIP("two hosts with RoCE are needed");
	self->mtu = mtu_now();
	set_mtu(WHOLE_MTU);
	set_peer_mtu(WHOLE_MTU);
	self->ctx = open_ctx();
	self->there = open_peer();
	pair_up(self->ctx, self->ends, NULL);
	talk(self->ends[0], self->ends[1]);
}

FIXTURE_TEARDOWN(change)
{
	set_mtu(self->mtu);
	set_peer_mtu(self->mtu);
	close(self->ends[0]);
	close(self->ends[1]);
	await_no_links(self->ctx);
	close(self->there);
	close(self->ctx);
}

static void expect_end(int chan, const struct end_told *told)
{
	struct rdmachan_error error;
	struct rdmachan_recv_args recv;
	int ret;

	do
		ret = do_recv(chan, data, sizeof(data), &recv, TIMEOUT(20000));
	while (!ret && !(recv.out_flags & RDMACHAN_RECV_OUT_EOF));
	EXPECT_EQ(ret, -1);
	EXPECT_EQ(errno, told->error);
	ASSERT_EQ(get_error(chan, &error), 0);
	EXPECT_EQ(error.cause, told->cause);
	EXPECT_EQ(error.error, told->error);
}

/* Large messages from @a to @b, and back. */
static void exchange(int a, int b)
{
	struct rdmachan_recv_args recv;
	int i;

	for (i = 0; i < 4; i++) {
		fill_random(data, sizeof(data), i);
		ASSERT_EQ(do_send(i % 2 ? a : b, data, sizeof(data), 0, TIMEOUT(5000)), 0);
		memset(data, 0, sizeof(data));
		ASSERT_EQ(do_recv(i % 2 ? b : a, data, sizeof(data), &recv, TIMEOUT(5000)), 0);
		EXPECT_TRUE(is_random(data, sizeof(data), i));
	}
}

/* A new channel from this host to the peer's, and one from there. */
static void expect_new_channels(struct fixture_change *self)
{
	const struct rdmachan_addr own = own_address();
	int listener = do_listen(self->ctx, SERVICE + 1, NULL), fds[2], chan, back;

	pair_up(self->ctx, fds, NULL);
	exchange(fds[0], fds[1]);
	close(fds[0]);
	close(fds[1]);
	chan = do_connect_to(self->there, &own, SERVICE + 1, TIMEOUT(5000));
	ASSERT_GE(chan, 0);
	back = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(back, 0);
	exchange(chan, back);
	close(chan);
	close(back);
	close(listener);
}

/* No packet of RoCE fits such an MTU: there is an address, and no route. */
TEST_F_TIMEOUT(change, mtu_of_no_packet, LIMIT_S)
{
	struct rdmachan_error error = {};
	const struct opts o = { .timeout_ms = 5000, .error = &error };

	close(self->ends[0]);
	close(self->ends[1]);
	await_no_links(self->ctx);
	set_mtu(NO_MTU);
	EXPECT_ERR(do_connect(self->ctx, SERVICE, &o), EHOSTUNREACH);
	EXPECT_EQ(error.op, RDMACHAN_OP_RESOLVE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_ROUTE);
	EXPECT_EQ(error.error, EHOSTUNREACH);
	set_mtu(WHOLE_MTU);
	command("ip -6 addr add dev %s %s/64 nodad", getenv("LAB_IP6"));
	expect_new_channels(self);
	pair_up(self->ctx, self->ends, NULL);
}

static uint32_t events_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.events;
}

static bool await_events(int chan, uint32_t mask, uint32_t events)
{
	int64_t until = now_ms() + 2000;

	while ((events_of(chan) & mask) != events) {
		if (now_ms() > until)
			return false;
		sleep_ms(1);
	}
	return true;
}

#define PORT_IS_DOWN RDMACHAN_LINK_EVENT_PORT_DOWN
#define PORT_WAS_DOWN RDMACHAN_LINK_EVENT_PORT_WAS_DOWN

/*
 * The peer's interface is down for a moment, so that both ends of the cable are; rxe would lose a
 * queue pair that sends over an interface that is down, and the peer sends nothing. Messages sent
 * by this end meanwhile arrive when the cable is back.
 */
TEST_F_TIMEOUT(change, cable_that_bounces, LIMIT_S)
{
	int here;

	talk(self->ends[0], self->ends[1]);
	EXPECT_EQ(events_of(self->ends[0]) & (PORT_IS_DOWN | PORT_WAS_DOWN), 0);
	/*
	 * The peer's module has sent last, and probes (path_tail.c) for some milliseconds. By a
	 * probe over an interface that is down rxe would lose the queue pair.
	 */
	sleep_ms(100);
	here = enter_peer();
	command("echo 1 >/proc/sys/net/ipv6/conf/%s/keep_addr_on_down", NULL);
	command("ip link set %s down", NULL);
	leave_peer(here);
	EXPECT_TRUE(await_events(self->ends[0], PORT_IS_DOWN, PORT_IS_DOWN));
	EXPECT_TRUE(await_events(self->ends[1], PORT_IS_DOWN, PORT_IS_DOWN));
	fill_random(data, sizeof(data), 1);
	ASSERT_EQ(do_send(self->ends[0], data, sizeof(data), 0, TIMEOUT(100)), 0);
	sleep_ms(300);
	here = enter_peer();
	command("ip link set %s up", NULL);
	leave_peer(here);
	EXPECT_TRUE(await_events(self->ends[0], PORT_IS_DOWN | PORT_WAS_DOWN, PORT_WAS_DOWN));
	EXPECT_TRUE(await_events(self->ends[1], PORT_IS_DOWN | PORT_WAS_DOWN, PORT_WAS_DOWN));
	memset(data, 0, sizeof(data));
	ASSERT_EQ(do_recv(self->ends[1], data, sizeof(data), NULL, TIMEOUT(4000)), 0);
	EXPECT_TRUE(is_random(data, sizeof(data), 1));
	exchange(self->ends[0], self->ends[1]);
}

static const struct end_told smaller = { ECONNRESET, RDMACHAN_CAUSE_MTU };
static const struct end_told taken_down = { ECONNRESET, RDMACHAN_CAUSE_DISCONNECTED };
static const struct end_told dead = { EHOSTDOWN, RDMACHAN_CAUSE_PEER_DEAD };

TEST_F_TIMEOUT(change, own_mtu, LIMIT_S)
{
	struct rdmachan_error error;

	set_mtu(SMALL_MTU);
	/* Small messages go on. */
	talk(self->ends[0], self->ends[1]);
	do_send(self->ends[0], data, 3000, 0, TIMEOUT(5000));
	expect_end(self->ends[0], &smaller);
	expect_end(self->ends[1], &taken_down);
	ASSERT_EQ(get_error(self->ends[0], &error), 0);
	EXPECT_EQ(error.limit, 2048);
	EXPECT_EQ(error.needed, 4096);
	EXPECT_EQ(error.wc_status, 5);
	expect_new_channels(self);
}

TEST_F_TIMEOUT(change, peer_mtu, LIMIT_S)
{
	set_peer_mtu(SMALL_MTU);
	talk(self->ends[0], self->ends[1]);
	do_send(self->ends[1], data, 3000, 0, TIMEOUT(5000));
	expect_end(self->ends[1], &smaller);
	expect_end(self->ends[0], &taken_down);
	expect_new_channels(self);
}

/* They differ before anybody connects: the smaller one holds, whoever connects. */
TEST_F_TIMEOUT(change, different_mtus, LIMIT_S)
{
	static const int mtus[][2] = {
		{ SMALL_MTU, WHOLE_MTU }, { WHOLE_MTU, SMALL_MTU }, { LEAST_MTU, SMALL_MTU },
		{ SMALL_MTU, SMALL_MTU }, { WHOLE_MTU, LEAST_MTU },
	};
	struct rdmachan_info before, after;
	size_t i;

	for (i = 0; i < sizeof(mtus) / sizeof(*mtus); i++) {
		close(self->ends[0]);
		close(self->ends[1]);
		await_no_links(self->ctx);
		set_mtu(mtus[i][0]);
		set_peer_mtu(mtus[i][1]);
		ASSERT_EQ(get_info(self->ctx, &before), 0);
		expect_new_channels(self);
		ASSERT_EQ(get_info(self->ctx, &after), 0);
		/* The host with the larger one is refused once, and takes the smaller one. */
		EXPECT_EQ(after.out_refused_mtu - before.out_refused_mtu, mtus[i][0] != mtus[i][1]);
		pair_up(self->ctx, self->ends, NULL);
	}
}

TEST_F_TIMEOUT(change, own_address, LIMIT_S)
{
	const struct end_told removed = { ECONNRESET, RDMACHAN_CAUSE_OWN_ADDRESS };

	command("ip addr del dev %s %s/24", getenv("LAB_IP"));
	do_send(self->ends[0], data, 3000, 0, TIMEOUT(5000));
	expect_end(self->ends[0], &removed);
	command("ip addr add dev %s %s/24", getenv("LAB_IP"));
	expect_end(self->ends[1], &dead);
	expect_new_channels(self);
}

/* The peer's address belongs to another adapter now. */
TEST_F_TIMEOUT(change, neighbour, LIMIT_S)
{
	const struct end_told moved = { ECONNRESET, RDMACHAN_CAUSE_NEIGHBOUR };
	const struct end_told silent = { EHOSTDOWN, RDMACHAN_CAUSE_PEER_DEAD };

	command("ip neigh replace dev %s %s lladdr 02:00:00:00:00:99 nud reachable",
		getenv("LAB_PEER_IP"));
	expect_end(self->ends[0], &moved);
	/* Its peer could not be told, and nothing is left that would tell it again. */
	command("ip neigh del dev %s %s", getenv("LAB_PEER_IP"));
	expect_end(self->ends[1], &silent);
	expect_new_channels(self);
}

/*
 * Somebody announces the peer's address for a moment, as anybody in its network can, or a bond
 * there fails over and back: the link goes on.
 */
TEST_F_TIMEOUT(change, neighbour_for_a_moment, LIMIT_S)
{
	struct rdmachan_object object;

	command("ip neigh replace dev %s %s lladdr 02:00:00:00:00:99 nud reachable",
		getenv("LAB_PEER_IP"));
	sleep_ms(20);
	command("ip neigh del dev %s %s", getenv("LAB_PEER_IP"));
	talk(self->ends[0], self->ends[1]);
	ASSERT_EQ(get_object(self->ends[0], &object), 0);
	EXPECT_EQ(object.events, RDMACHAN_LINK_EVENT_ADDRESS);
}

/*
 * Last, as with the port down rxe loses the queue pair that connects: the device is made anew.
 */
TEST_F_TIMEOUT(change, own_port, LIMIT_S)
{
	const struct end_told down = { ECONNRESET, RDMACHAN_CAUSE_PORT_DOWN };

	/* Else its addresses of IPv6 would be gone. */
	command("echo 1 >/proc/sys/net/ipv6/conf/%s/keep_addr_on_down", NULL);
	command("ip link set %s down", NULL);
	do_send(self->ends[0], data, 3000, 0, TIMEOUT(5000));
	expect_end(self->ends[0], &down);
	command("ip link set %s up", NULL);
	expect_end(self->ends[1], &dead);
	ASSERT_EQ(remove_device(), 0);
	ASSERT_EQ(add_device(), 0);
}

TEST_HARNESS_MAIN
