// SPDX-License-Identifier: GPL-2.0
/*
 * eager_test.c - large messages that are copied where a round trip takes longer than that
 *
 * In virtual time: the cable's length is the round trip, to the microsecond.
 */
#include <stdlib.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "reader.h"

#define UNIT 65536U
#define ROOM (8 * UNIT)
/* Of the module: the default, and for how long a round trip is remembered. */
#define EAGER_US 64
#define WINDOW_MS 10000
/* Frames of 16 KiB of the ring, less those that are kept. */
#define AT_ONCE (28U * 16384)

FIXTURE(eager)
{
	int ctx;
	int peer;
	int a;
	int b;
	char *out;
	char *back;
};

/* A message of @len bytes to a reader that waits. Return: whether it was placed. */
static bool goes_placed(struct fixture_eager *self, size_t len)
{
	const uint64_t before = placed_messages(self->a, true);
	struct reader r;

	fill_random(self->out, len, len);
	memset(self->back, 0x55, ROOM);
	reader_begin(&r, self->b, self->back, ROOM);
	EXPECT_EQ(write(self->a, self->out, len), len);
	EXPECT_EQ(reader_end(&r), len);
	EXPECT_TRUE(is_random(self->back, len, len));
	return placed_messages(self->a, true) != before;
}

/* Small messages, each behind a pause, until no earlier round trip is remembered. */
static void forget_trips(struct fixture_eager *self)
{
	char byte = 0;
	int i;

	for (i = 0; i < 3 * 8; i++) {
		EXPECT_EQ(write(self->a, &byte, 1), 1);
		EXPECT_EQ(read(self->b, &byte, 1), 1);
		sleep_ms(WINDOW_MS / 8 + 1);
	}
}

FIXTURE_SETUP(eager)
{
	int fds[2];

	if (!time_is_virtual())
		SKIP("time is real here: a round trip is the machine's load");
	set_parameter("eager_us", EAGER_US);
	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	self->out = malloc(ROOM);
	self->back = malloc(ROOM);
}

FIXTURE_TEARDOWN(eager)
{
	cable("delay 0");
	set_parameter("eager_us", 1000000);
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
	free(self->out);
	free(self->back);
}

/* 40 us there and back. */
TEST_F(eager, short_trip_is_no_reason)
{
	EXPECT_TRUE(goes_placed(self, UNIT));
	EXPECT_TRUE(goes_placed(self, 2 * UNIT));
	/* Then 39 us for each 64 KiB is the last that is shorter. */
	set_parameter("eager_us", 39);
	EXPECT_TRUE(!goes_placed(self, UNIT));
	EXPECT_TRUE(goes_placed(self, 2 * UNIT));
	set_parameter("eager_us", 41);
	EXPECT_TRUE(goes_placed(self, UNIT));
}

/* As far as the peer's frames go; a larger message asks, and is lent memory afterwards. */
TEST_F(eager, long_trip_is)
{
	EXPECT_TRUE(goes_placed(self, UNIT));
	cable("delay 10");
	forget_trips(self);
	EXPECT_TRUE(!goes_placed(self, UNIT));
	EXPECT_TRUE(!goes_placed(self, AT_ONCE - UNIT));
	EXPECT_TRUE(goes_placed(self, AT_ONCE));
	/* Memory is lent for the next message: that need not be used. */
	EXPECT_TRUE(!goes_placed(self, UNIT));
	EXPECT_TRUE(!goes_placed(self, UNIT));
}

/* A wire that gets shorter is found out with the first frames; one that gets longer is not. */
TEST_F(eager, trip_changes)
{
	cable("delay 10");
	forget_trips(self);
	EXPECT_TRUE(!goes_placed(self, UNIT));
	cable("delay 0");
	/* Until the last frame of the long wire is acknowledged. */
	sleep_ms(100);
	EXPECT_TRUE(!goes_placed(self, UNIT));
	EXPECT_TRUE(goes_placed(self, UNIT));
	cable("delay 10");
	EXPECT_TRUE(goes_placed(self, UNIT));
}

/* The peer's program has said how much it will hold. */
TEST_F(eager, small_window)
{
	const struct opts small = { .tuning.recv_buffer = 2 * UNIT };
	int fds[2];

	set_parameter("eager_us", 0);
	EXPECT_TRUE(!goes_placed(self, 3 * UNIT));
	close(self->a);
	close(self->b);
	pair_up(self->ctx, fds, &small);
	self->a = fds[0];
	self->b = fds[1];
	EXPECT_TRUE(!goes_placed(self, 2 * UNIT));
	EXPECT_TRUE(goes_placed(self, 3 * UNIT));
}

/* One after another, and nobody waits for any of them. */
TEST_F(eager, nobody_waits)
{
	int i;

	set_parameter("eager_us", 0);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(write(self->a, self->out, UNIT), UNIT);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(read(self->b, self->back, ROOM), UNIT);
	EXPECT_EQ(placed_messages(self->a, true), 0);
}

TEST_HARNESS_MAIN
