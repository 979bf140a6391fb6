// SPDX-License-Identifier: GPL-2.0
/*
 * abort_test.c - a channel is aborted while a message is being written to the receiver's memory
 *
 * Each operation completes once, and with an error. From then on nobody writes to the memory of the
 * receive. No other channel of the link takes notice.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "harness.h"
#include "region_fixture.h"

#define LEN 65536UL
/* Tags of operations. */
#define RECV 1
#define SEND 2

/* Another pair of channels, on the same link. */
struct beside {
	int fds[2];
	uint64_t link;
};

static uint64_t link_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.link_id;
}

static void beside_begin(struct fixture_region *self, struct beside *beside)
{
	pair_up(self->ctx, beside->fds, NULL);
	beside->link = link_of(beside->fds[0]);
	ASSERT_EQ(link_of(self->a), beside->link);
}

static void talk(int from, int to)
{
	char byte = 0;

	ASSERT_EQ(write(from, "x", 1), 1);
	ASSERT_EQ(read(to, &byte, 1), 1);
	ASSERT_EQ(byte, 'x');
}

/* They talk as before. So do channels that are opened now, and those are on that link, too. */
static void expect_undisturbed(struct fixture_region *self, const struct beside *beside)
{
	int fds[2];

	talk(beside->fds[0], beside->fds[1]);
	talk(beside->fds[1], beside->fds[0]);
	close(self->a);
	close(self->b);
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	ASSERT_EQ(link_of(self->a), beside->link);
}

static void beside_end(const struct beside *beside)
{
	close(beside->fds[0]);
	close(beside->fds[1]);
}

/* Set the results of @count completions, by their tags. Memory that has come back is marked. */
static void results(struct fixture_region *self, int count, int64_t *res)
{
	struct rdmachan_cqe cqe;

	while (count--) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_LE(cqe.user_data, SEND);
		res[cqe.user_data] = cqe.res;
		if (cqe.user_data == RECV)
			memset(self->to, 0x77, SIZE);
	}
	ASSERT_EQ(queue_ready(&self->q), 0);
}

static void expect_calm(const struct fixture_region *self)
{
	size_t i;

	/* All that may be under way has come. */
	sleep_ms(600);
	for (i = 0; i < SIZE; i++)
		ASSERT_EQ(self->to[i], 0x77);
}

static void receive(struct fixture_region *self, size_t len)
{
	region_recv(&self->q, self->b, self->to_id, 0, len, RECV);
	ASSERT_EQ(queue_submit(&self->q), 1);
}

static void send_now(struct fixture_region *self, size_t len)
{
	region_send(&self->q, self->a, self->from_id, 0, len, SEND);
	ASSERT_EQ(queue_submit(&self->q), 1);
}

/* So that the next receive lends its memory. */
static void one_message(struct fixture_region *self, size_t len)
{
	int64_t res[3] = {};

	receive(self, len);
	send_now(self, len);
	results(self, 2, res);
	ASSERT_EQ(res[RECV], len);
	ASSERT_EQ(res[SEND], len);
}

/* On a slow wire: from then on only a part of a message is posted at a time. */
static void begin_slow(struct fixture_region *self, bool lent)
{
	int fds[2];

	/* A message takes 420 ms. */
	cable("rate 20");
	one_message(self, MIB);
	if (lent)
		return;
	close(self->a);
	close(self->b);
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
}

/* On iWARP the adapter takes all of a message at once, and TCP does the rest: the end is behind. */
static bool takes_all(void)
{
	const char *device = getenv("LAB_RDMA");

	return device && !strncmp(device, "siw", 3);
}

/* The receiver's program, or the sender's, has enough @ms after the message has begun. */
static void abort_in_the_middle(struct fixture_region *self, bool lent, bool receiver,
				unsigned int ms)
{
	int64_t res[3] = {};
	struct beside beside;
	bool all;

	beside_begin(self, &beside);
	begin_slow(self, lent);
	receive(self, MIB);
	sleep_ms(20);
	send_now(self, MIB);
	sleep_ms(ms);
	ASSERT_EQ(do_shutdown(receiver ? self->b : self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
	results(self, 2, res);
	all = takes_all() && res[SEND] == MIB;
	EXPECT_EQ(res[RECV], receiver ? -EPIPE : all ? (int64_t)MIB : -ECONNRESET);
	if (!all)
		EXPECT_EQ(res[SEND], receiver ? -ECONNRESET : -EPIPE);
	expect_calm(self);
	cable("rate 0");
	expect_undisturbed(self, &beside);
	beside_end(&beside);
}

/* The link has known a faster wire, and may: for 20 s all of a message is posted at once. */
static void forget_the_fast_wire(struct fixture_region *self)
{
	const int64_t until = now_ms() + 25000;

	cable("rate 20");
	while (now_ms() < until)
		one_message(self, MIB);
}

static void abort_at_any_time(struct fixture_region *self, bool lent, bool receiver)
{
	unsigned int ms;

	if (!time_is_virtual())
		SKIP("no cable whose rate could be changed");
	forget_the_fast_wire(self);
	for (ms = 10; ms < 300; ms += 40)
		abort_in_the_middle(self, lent, receiver, ms);
}

TEST_F(region, receiver_that_was_asked)
{
	abort_at_any_time(self, false, true);
}

TEST_F(region, receiver_that_has_lent)
{
	abort_at_any_time(self, true, true);
}

TEST_F(region, sender_that_has_asked)
{
	abort_at_any_time(self, false, false);
}

TEST_F(region, sender_that_writes_to_lent_memory)
{
	abort_at_any_time(self, true, false);
}

/*
 * @count messages leave before the sender can hear that the channel has ended, and are written to
 * memory that was lent: it is the receiver's again behind them.
 */
static void abort_under_way(struct fixture_region *self, int count)
{
	int64_t res[3] = {}, begun;
	struct beside beside;
	int i;

	if (!time_is_virtual())
		SKIP("no cable whose delay could be changed");
	beside_begin(self, &beside);
	one_message(self, LEN);
	cable("delay 20");
	for (i = 0; i < 3; i++)
		region_recv(&self->q, self->b, self->to_id, i * LEN, LEN, RECV);
	ASSERT_EQ(queue_submit(&self->q), 3);
	sleep_ms(100);
	for (i = 0; i < count; i++)
		region_send(&self->q, self->a, self->from_id, 0, LEN, SEND);
	ASSERT_EQ(queue_submit(&self->q), count);
	begun = tick_ms();
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_ABORT), 0);
	results(self, count + 3, res);
	/* What tells of a message that was written is an answer as well. */
	EXPECT_GE(now_ms() - begun, count ? 20 : 40);
	EXPECT_LE(now_ms() - begun, 40 + 3 * KERNEL_TICK_MS);
	EXPECT_EQ(res[RECV], -EPIPE);
	expect_calm(self);
	cable("delay 0");
	expect_undisturbed(self, &beside);
	beside_end(&beside);
}

TEST_F(region, nothing_under_way)
{
	abort_under_way(self, 0);
}

TEST_F(region, one_under_way)
{
	abort_under_way(self, 1);
}

TEST_F(region, several_under_way)
{
	abort_under_way(self, 3);
}

TEST_HARNESS_MAIN
