// SPDX-License-Identifier: GPL-2.0
/*
 * class_test.c - the traffic class of packets: the one asked for, and the one on the wire
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

/* Of DSCP 26 and 46. */
#define CLASS 104
#define OTHER 184
#define ROCE_PORT 4791
/* An acknowledgement has more, with either address family: 20 + 8 + 12 + 4 + 4. */
#define HEADER_MAX 48

FIXTURE(class)
{
	int ctx;
	int there;
	int listener;
};

FIXTURE_SETUP(class)
{
	self->ctx = open_ctx();
	self->there = open_peer();
	self->listener = do_listen(self->there, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	await_no_links(self->ctx);
}

FIXTURE_TEARDOWN(class)
{
	close(self->listener);
	close(self->there);
	close(self->ctx);
}

/* A channel whose packets are to be of class @class. */
static void pair_of_class(struct fixture_class *self, uint32_t class,
			  const struct rdmachan_addr *addr, int fds[2])
{
	struct rdmachan_connect_args connect;

	fill_connect(&connect, SERVICE, NULL);
	connect.addr = *addr;
	connect.traffic_class = class;
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), 0);
	fds[0] = connect.out_fd;
	fds[1] = do_accept(self->listener, TIMEOUT(10000));
	ASSERT_GE(fds[1], 0);
}

static void pair_close(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* The packets that go over the interface of this host, both ways. */
static int tap_open(void)
{
	struct sockaddr_ll on = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(getenv("LAB_DEV")),
	};
	int tap = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_ALL));

	ASSERT_GE(tap, 0);
	ASSERT_EQ(bind(tap, (struct sockaddr *)&on, sizeof(on)), 0);
	return tap;
}

/*
 * Return: the traffic class of a packet of RoCE to a queue pair of a program's or the module's; or
 * -1. Connection managers talk to queue pair 1; words of one about connections that it has
 * forgotten are of class 0.
 */
static int class_of(const uint8_t *packet, size_t length)
{
	const bool six = packet[0] >> 4 == 6;
	const uint8_t *udp = packet + (six ? 40 : 20);
	const uint8_t *pair = udp + 8 + 5;

	if (length < HEADER_MAX || packet[six ? 6 : 9] != IPPROTO_UDP ||
	    (udp[2] << 8 | udp[3]) != ROCE_PORT || (pair[0] << 16 | pair[1] << 8 | pair[2]) == 1)
		return -1;
	return six ? (packet[0] << 4 | packet[1] >> 4) & 0xff : packet[1];
}

/* Packets of RoCE, sent from here and from there. */
struct packets {
	unsigned int of_class[2];
	unsigned int of_others[2];
};

static void tap_count(int tap, int class, struct packets *packets)
{
	uint8_t packet[128];
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t length;
	int have, side;

	memset(packets, 0, sizeof(*packets));
	while ((length = recvfrom(tap, packet, sizeof(packet), 0, (struct sockaddr *)&from,
				  &size)) > 0) {
		side = from.sll_pkttype != PACKET_OUTGOING;
		have = class_of(packet, length);
		packets->of_class[side] += have == class;
		packets->of_others[side] += have >= 0 && have != class;
	}
}

/* The module's default, the one CONNECT asks for, and that of the packets. */
static const struct on_wire {
	const char *name;
	uint32_t preset;
	uint32_t asked;
	int is;
	bool six;
} on_wire[] = {
	{ "nothing_said", 0, 0, 0, false },
	{ "asked_for", 0, CLASS, CLASS, false },
	{ "of_the_module", CLASS, 0, CLASS, false },
	{ "both", CLASS, OTHER, OTHER, false },
	{ "asked_for_0", CLASS, RDMACHAN_TRAFFIC_CLASS_0, 0, false },
	{ "asked_for_over_ipv6", 0, CLASS, CLASS, true },
};

TEST_F_ROWS(class, on_wire, on_wire)
{
	struct rdmachan_addr addr;
	struct packets packets;
	int fds[2], tap, side;

	if (!has_peer() || over_siw())
		SKIP("two hosts with RoCE are needed");
	addr = row->six ? peer_address6() : peer_address();
	tap = tap_open();
	set_parameter("traffic_class", row->preset);
	pair_of_class(self, row->asked, &addr, fds);
	set_parameter("traffic_class", 0);
	talk(fds[0], fds[1]);
	pair_close(fds);
	await_no_links(self->ctx);
	tap_count(tap, row->is, &packets);
	for (side = 0; side < 2; side++) {
		EXPECT_GT(packets.of_class[side], 0);
		EXPECT_EQ(packets.of_others[side], 0);
	}
	close(tap);
}

TEST_F(class, each_has_its_link)
{
	static const uint32_t classes[] = { 0, CLASS, OTHER, CLASS, RDMACHAN_TRAFFIC_CLASS_0 };
	/* Which of them share a link: that of this one. */
	static const int same_as[] = { 0, 1, 2, 1, 4 };
	const struct rdmachan_addr addr = peer_address();
	struct rdmachan_object objects[5], there;
	int fds[5][2], i, k;

	for (i = 0; i < 5; i++) {
		pair_of_class(self, classes[i], &addr, fds[i]);
		talk(fds[i][0], fds[i][1]);
		ASSERT_EQ(get_object(fds[i][0], &objects[i]), 0);
		EXPECT_EQ(objects[i].traffic_class, classes[i] % RDMACHAN_TRAFFIC_CLASS_0);
		ASSERT_EQ(get_object(fds[i][1], &there), 0);
		/* iWARP does not tell the other side. */
		EXPECT_EQ(there.traffic_class,
			  over_siw() ? 0 : classes[i] % RDMACHAN_TRAFFIC_CLASS_0);
	}
	for (i = 0; i < 5; i++)
		for (k = 0; k < i; k++)
			EXPECT_EQ(objects[i].link_id == objects[k].link_id,
				  same_as[i] == same_as[k]);
	for (i = 0; i < 5; i++)
		pair_close(fds[i]);
}

TEST_F(class, out_of_range)
{
	struct rdmachan_connect_args connect;
	struct rdmachan_info info;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_TRAFFIC_CLASS);
	fill_connect(&connect, SERVICE, NULL);
	connect.traffic_class = RDMACHAN_TRAFFIC_CLASS_0 + 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EINVAL);
	connect.traffic_class = ~0U;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EINVAL);
}

TEST_HARNESS_MAIN
