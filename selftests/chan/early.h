/* SPDX-License-Identifier: GPL-2.0 */
/*
 * early.h - channels that are used while they are being connected
 *
 * The cable is long where round trips are counted: time is virtual, and computing takes none.
 */
#ifndef _SELFTESTS_EARLY_H
#define _SELFTESTS_EARLY_H

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define NOBODY (SERVICE + 7)
/* One way, and there and back. */
#define CABLE_MS 10
#define TRIP_NS (2LL * CABLE_MS * 1000000)
/* For the work of the hosts, which is far less than a trip. */
#define WORK_NS 1000000
#define PATIENCE 20000
/* Messages of this size that may be sent early, and bytes of the largest. */
#define SIZE 1000U
#define FIT (RDMACHAN_EARLY_BYTES / (SIZE + 64))
#define LARGEST (RDMACHAN_EARLY_BYTES - 64)

#define EARLY (&(struct opts){ .flags = RDMACHAN_CONNECT_F_EARLY })
#define EARLY_NONBLOCK \
	(&(struct opts){ .flags = RDMACHAN_CONNECT_F_EARLY | RDMACHAN_FD_F_NONBLOCK })

FIXTURE(early)
{
	int ctx;
	int peer;
	int listener;
	/* A channel that keeps the link, or -1. */
	int keep;
};

FIXTURE_SETUP(early)
{
	self->ctx = open_ctx();
	self->peer = open_peer();
	self->listener = do_listen(self->peer, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	self->keep = -1;
}

FIXTURE_TEARDOWN(early)
{
	if (self->keep >= 0)
		close(self->keep);
	close(self->listener);
	close(self->peer);
	close(self->ctx);
}

static inline int accept_one(struct fixture_early *self)
{
	int chan = do_accept(self->listener, TIMEOUT(PATIENCE));

	ASSERT_GE(chan, 0);
	return chan;
}

/* Have a link that stands, and nothing under way. */
static inline void have_link(struct fixture_early *self)
{
	self->keep = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(self->keep, 0);
	close(accept_one(self));
	sleep_ms(100);
}

/* The hosts are far apart, and a link stands. */
static inline void far_apart(struct fixture_early *self)
{
	if (!time_is_virtual() || !has_peer())
		SKIP("time is real here: a round trip is the machine's load");
	have_link(self);
	cable("delay 10");
}

static inline void talk_again(struct fixture_early *self)
{
	int a = do_connect(self->ctx, SERVICE, NULL), b;

	ASSERT_GE(a, 0);
	/* One that was given up may wait before it. */
	do {
		b = accept_one(self);
	} while (poll_mask(b, POLLERR, 100));
	talk(a, b);
	close(a);
	close(b);
}

static inline void send_numbered(int chan, uint32_t number, size_t size)
{
	char data[LARGEST];

	fill_random(data, size, number);
	ASSERT_EQ(do_send(chan, data, size, number, TIMEOUT(PATIENCE)), 0);
}

static inline void expect_numbered(int chan, uint32_t number, size_t size)
{
	struct rdmachan_recv_args recv;
	char data[LARGEST];

	ASSERT_EQ(do_recv(chan, data, sizeof(data), &recv, TIMEOUT(PATIENCE)), 0);
	EXPECT_EQ(recv.out_length, size);
	EXPECT_EQ(recv.out_msg_flags, number);
	EXPECT_TRUE(is_random(data, size, number));
}

#define EXPECT_TRIPS(ns, trips)						\
	do {								\
		int64_t took_ = (ns);					\
									\
		EXPECT_GE(took_, (trips) * TRIP_NS);			\
		EXPECT_LE(took_, (trips) * TRIP_NS + WORK_NS);		\
	} while (0)

static inline int send_three_to(struct fixture_early *self, uint32_t service, const struct opts *o)
{
	int a = do_connect(self->ctx, service, o);

	ASSERT_GE(a, 0);
	send_numbered(a, 1, SIZE);
	send_numbered(a, 2, 0);
	send_numbered(a, 3, SIZE);
	return a;
}

static inline void expect_lost(int chan, int error, uint32_t cause, uint64_t detail, uint64_t sent)
{
	struct rdmachan_object object;
	struct rdmachan_error told;
	char data[8];

	ASSERT_TRUE(wait_state(chan, RDMACHAN_STATE_FAILED, PATIENCE));
	ASSERT_EQ(get_error(chan, &told), 0);
	EXPECT_EQ(told.error, (uint32_t)error);
	EXPECT_EQ(told.cause, cause);
	EXPECT_EQ(told.detail, detail);
	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_EQ(object.tx_messages, sent);
	EXPECT_ERR(write(chan, "x", 1), error);
	EXPECT_ERR(read(chan, data, sizeof(data)), error);
}

#endif /* _SELFTESTS_EARLY_H */
