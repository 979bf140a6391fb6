// SPDX-License-Identifier: GPL-2.0
/*
 * tail_test.c - the last packets of a burst are lost, and nothing comes behind them
 *
 * A wire of a millisecond, in virtual time: it is cut while something is sent, and mended before
 * anybody has missed it. A timeout of the adapter's takes 537 ms; a probe finds it in a few round
 * trips.
 */
#include <stdlib.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "reader.h"

#define ROOM 1048576U
/* One way, and the module's wait for the first probe: pure/tail.h. */
#define WIRE_MS 1
#define PROBE_MS 4
/* A probe goes, the peer's adapter misses what was before it, and that comes. */
#define FOUND_MS (3 * WIRE_MS)
/* The link's tick, at the default dead time. */
#define TICK_MS 1250

FIXTURE(tail)
{
	int ctx;
	int peer;
	int a;
	int b;
	char *out;
	char *back;
};

FIXTURE_SETUP(tail)
{
	int fds[2];

	if (!time_is_virtual() || !has_peer())
		SKIP("this needs a wire, and a clock that is exact");
	cable("delay 1");
	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	self->out = malloc(ROOM);
	self->back = malloc(ROOM);
	talk(self->a, self->b);
	talk(self->a, self->b);
	/* The probes of this have ended. */
	sleep_ms(100);
}

FIXTURE_TEARDOWN(tail)
{
	cable("mend");
	cable("delay 0");
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
	free(self->out);
	free(self->back);
}

/* Of all that passes in @lost_ms nothing arrives. Return: when the message was there, in ms. */
static int lost_for(struct fixture_tail *self, size_t len, const char *words, int lost_ms)
{
	struct reader r;
	int64_t begun;
	pid_t sender;

	fill_random(self->out, len, len);
	reader_begin(&r, self->b, self->back, ROOM);
	sleep_ms(50);
	cable(words);
	begun = clock_ns();
	sender = fork();
	if (!sender)
		_exit(write(self->a, self->out, len) != (ssize_t)len);
	usleep(lost_ms * 1000 - 500);
	cable("mend");
	EXPECT_EQ(reader_end(&r), len);
	EXPECT_TRUE(is_random(self->back, len, len));
	EXPECT_EQ(child_status(sender), 0);
	return (clock_ns() - begun) / 1000000;
}

TEST_F(tail, message)
{
	EXPECT_EQ(lost_for(self, 64, "cut ab", 1), PROBE_MS + FOUND_MS);
}

/* The first probe goes with it, and another follows. */
TEST_F(tail, message_and_probe)
{
	EXPECT_EQ(lost_for(self, 64, "cut ab", PROBE_MS + 1), 2 * PROBE_MS + FOUND_MS);
}

/* A message that takes thirty times as long as it did is not sent again. */
TEST_F(tail, merely_late)
{
	long long again = hw_counter("duplicate_request");
	int i;

	ASSERT_GE(again, 0);
	cable("delay 30");
	for (i = 0; i < 3; i++)
		talk(self->a, self->b);
	sleep_ms(1000);
	EXPECT_EQ(hw_counter("duplicate_request"), again);
	cable("delay 1");
}

/* Where nothing happens there are heartbeats, and what acknowledges them. */
TEST_F(tail, idle)
{
	long long packets;

	sleep_ms(TICK_MS);
	packets = hw_counter("sent_pkts");
	ASSERT_GE(packets, 0);
	sleep_ms(20 * TICK_MS);
	packets = hw_counter("sent_pkts") - packets;
	EXPECT_GE(packets, 2 * 19);
	EXPECT_LE(packets, 2 * 2 * 21);
}

TEST_HARNESS_MAIN
