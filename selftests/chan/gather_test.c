// SPDX-License-Identifier: GPL-2.0
/*
 * gather_test.c - small messages, and last words, that are held back to share a frame
 *
 * Most tests set gather_us so high that a message which is held back although it must not
 * be takes a quarter of a second. They compare so many with as many when none is held back. Where
 * time is virtual both take the same time; elsewhere nothing is known of that.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "ring.h"

#define SECOND 1000000
#define DEFAULT 100
#define ROUNDS 40
/*
 * A message held back goes after half of gather_us, last words after a sixteenth of the dead time.
 */
#define HELD_MS (SECOND / 2000)
#define WORDS_MS (5000 / 16)

FIXTURE(gather)
{
	int ctx;
	int peer;
	int a;
	int b;
};

FIXTURE_SETUP(gather)
{
	int fds[2];

	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	set_parameter("gather_us", SECOND);
}

FIXTURE_TEARDOWN(gather)
{
	set_parameter("gather_us", DEFAULT);
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
}

/* When each round was over. */
static int64_t round_ends[ROUNDS];

/* Nanoseconds of the longest round but the first, which may find an adapter that is busy. */
static int64_t longest_round(struct fixture_gather *self,
			     void (*rounds)(struct fixture_gather *self), unsigned int gather_us)
{
	int64_t longest = 0;
	int i;

	set_parameter("gather_us", gather_us);
	rounds(self);
	for (i = 1; i < ROUNDS; i++)
		if (round_ends[i] - round_ends[i - 1] > longest)
			longest = round_ends[i] - round_ends[i - 1];
	return longest;
}

/*
 * No round takes longer than without by half of a cable's delay. To look at the clock takes 256 ns
 * in User Mode Linux, and the module does that more often when it may hold messages back.
 */
static void expect_nothing_held(struct fixture_gather *self,
				void (*rounds)(struct fixture_gather *self))
{
	int64_t without, with;

	/* Objects made with the first ones are there then. */
	rounds(self);
	without = longest_round(self, rounds, 0);
	with = longest_round(self, rounds, SECOND);
	printf("# a round %lld ns at most, and %lld ns when messages may be held back\n",
	       (long long)without, (long long)with);
	if (time_is_virtual())
		EXPECT_LE(with, without + 10000);
}

/* Where time is virtual @ms have passed since @begun at most. */
static void expect_within(int64_t begun, int64_t ms)
{
	int64_t took = now_ms() - begun;

	if (time_is_virtual())
		EXPECT_LE(took, ms);
}

/* Two messages one way, and one back, by the child. */
static pid_t answer(int chan)
{
	char byte[8];
	pid_t child = fork();
	int i;

	if (child)
		return child;
	for (i = 0; i < ROUNDS; i++) {
		if (read(chan, byte, 8) != 1 || read(chan, byte, 8) != 1)
			_exit(1);
		if (write(chan, "c", 1) != 1)
			_exit(2);
	}
	_exit(0);
}

TEST_F(gather, frames_are_shared)
{
	uint64_t before;
	char back[8];
	int i;

	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(read(self->b, back, 8), 1);
	before = pair_frames(self->ctx, self->peer);
	ASSERT_GT(before, 0);
	for (i = 0; i < 200; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(read(self->b, back, 8), 4);
		EXPECT_EQ(memcmp(back, &i, 4), 0);
	}
	EXPECT_LT(pair_frames(self->ctx, self->peer) - before, 100);
}

/* Nobody waits, and nothing else is sent: a timer ends it. */
TEST_F(gather, not_for_ever)
{
	int64_t begun;
	char back[8];
	int i;

	for (i = 0; i < 3; i++) {
		begun = now_ms();
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(write(self->a, "y", 1), 1);
		EXPECT_EQ(read(self->b, back, 8), 1);
		EXPECT_EQ(read(self->b, back, 8), 1);
		expect_within(begun, HELD_MS + 1);
	}
}

static void read_first(struct fixture_gather *self)
{
	pid_t child = answer(self->b);
	char back[8];
	int i;

	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(write(self->a, "y", 1), 1);
		ASSERT_EQ(read(self->a, back, 8), 1);
	}
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(gather, who_reads_sends_first)
{
	expect_nothing_held(self, read_first);
}

static void poll_first(struct fixture_gather *self)
{
	pid_t child = answer(self->b);
	struct pollfd pollfd = { .fd = self->a, .events = POLLIN };
	char back[8];
	int i;

	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(write(self->a, "y", 1), 1);
		ASSERT_EQ(poll(&pollfd, 1, 10000), 1);
		ASSERT_EQ(read(self->a, back, 8), 1);
	}
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(gather, who_polls_sends_first)
{
	expect_nothing_held(self, poll_first);
}

static void answer_rounds(struct fixture_gather *self)
{
	char back[8];
	int i;

	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(read(self->b, back, 8), 1);
		ASSERT_EQ(write(self->b, "y", 1), 1);
		ASSERT_EQ(read(self->a, back, 8), 1);
	}
}

TEST_F(gather, an_answer_is_not_held)
{
	expect_nothing_held(self, answer_rounds);
}

static void long_rounds(struct fixture_gather *self)
{
	/* A frame of 16 KiB, and little more. */
	static char data[17000];
	int i;

	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		ASSERT_EQ(write(self->a, data, sizeof(data)), sizeof(data));
		ASSERT_EQ(read(self->b, data, sizeof(data)), sizeof(data));
	}
}

TEST_F(gather, the_rest_of_a_message_is_not_held)
{
	expect_nothing_held(self, long_rounds);
}

/* A call of ENTER says what belongs together. */
static void queue_rounds(struct fixture_gather *self)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	char back[8];
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		queue_send(&q, self->a, "x", 1, i);
		ASSERT_EQ(queue_submit(&q), 1);
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, 1);
		ASSERT_EQ(read(self->b, back, 8), 1);
	}
	queue_close(&q);
}

/* What just fills its packets goes without a header, and tells of all that one would. */
TEST_F(gather, full_packets_need_no_others)
{
	static char data[4096];
	uint64_t before;
	int i;

	set_parameter("gather_us", 0);
	before = pair_frames(self->ctx, self->peer);
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(write(self->a, data, sizeof(data)), sizeof(data));
		ASSERT_EQ(read(self->b, data, sizeof(data)), sizeof(data));
		ASSERT_EQ(write(self->b, data, sizeof(data)), sizeof(data));
		ASSERT_EQ(read(self->a, data, sizeof(data)), sizeof(data));
	}
	printf("# %d frames for 600\n", (int)(pair_frames(self->ctx, self->peer) - before));
	EXPECT_LE(pair_frames(self->ctx, self->peer) - before, 640);
}

TEST_F(gather, queues_hold_nothing)
{
	expect_nothing_held(self, queue_rounds);
}

/* A message held back goes before what closes the channel. */
static void close_rounds(struct fixture_gather *self)
{
	char back[8];
	int i, fds[2];

	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		pair_up(self->ctx, fds, NULL);
		ASSERT_EQ(write(fds[0], "x", 1), 1);
		ASSERT_EQ(write(fds[0], "y", 1), 1);
		close(fds[0]);
		EXPECT_EQ(read(fds[1], back, 8), 1);
		EXPECT_EQ(read(fds[1], back, 8), 1);
		EXPECT_EQ(read(fds[1], back, 8), 0);
		close(fds[1]);
	}
}

TEST_F(gather, close_sends)
{
	expect_nothing_held(self, close_rounds);
}

/* Last words: CLOSE that has nothing before it, and CLOSED */

#define MANY 32

static void many_up(struct fixture_gather *self, int fds[MANY][2])
{
	int i;

	for (i = 0; i < MANY; i++)
		pair_up(self->ctx, fds[i], NULL);
}

/* They go with the next message on the link; answers go together as well. */
TEST_F(gather, last_words_share_frames)
{
	int i, fds[MANY][2];
	uint64_t before;
	char back[8];

	many_up(self, fds);
	before = pair_frames(self->ctx, self->peer);
	for (i = 0; i < MANY; i++)
		close(fds[i][0]);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(read(self->b, back, 8), 1);
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(read(fds[i][1], back, 8), 0);
		close(fds[i][1]);
	}
	EXPECT_LT(pair_frames(self->ctx, self->peer) - before, MANY / 2);
}

/* Nobody sends anything, or waits: a timer ends it. */
TEST_F(gather, last_words_not_for_ever)
{
	int i, fds[MANY][2];
	int64_t begun;
	char back[8];

	many_up(self, fds);
	begun = now_ms();
	for (i = 0; i < MANY; i++)
		close(fds[i][0]);
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(read(fds[i][1], back, 8), 0);
		close(fds[i][1]);
	}
	expect_within(begun, WORDS_MS + 1);
}

/* Two ends that close at once have both to say CLOSE, and CLOSED. */
TEST_F(gather, last_words_cross)
{
	int i, fds[MANY][2];

	many_up(self, fds);
	for (i = 0; i < MANY; i++) {
		close(fds[i][i % 2]);
		close(fds[i][1 - i % 2]);
	}
}

/* The peer goes on when one channel has ended, on another. */
struct peer {
	pthread_t thread;
	int ending;
	int other;
};

static void *answer_end(void *arg)
{
	struct peer *peer = arg;
	char back[8];

	if (read(peer->ending, back, 8) || write(peer->other, "x", 1) != 1)
		return (void *)"the other channel is kept";
	return NULL;
}

static void end_first(struct fixture_gather *self)
{
	char back[8];
	int i, fds[2];
	struct peer peer;
	void *result;

	for (i = 0; i < ROUNDS; round_ends[i++] = clock_ns()) {
		pair_up(self->ctx, fds, NULL);
		peer = (struct peer){ .ending = fds[1], .other = self->b };
		ASSERT_EQ(pthread_create(&peer.thread, NULL, answer_end, &peer), 0);
		close(fds[0]);
		ASSERT_EQ(read(self->a, back, 8), 1);
		pthread_join(peer.thread, &result);
		EXPECT_EQ(result, NULL);
		close(fds[1]);
	}
}

TEST_F(gather, who_reads_ends_first)
{
	expect_nothing_held(self, end_first);
}

/* The connection goes before they were said. */
TEST_TIMEOUT(last_words_device_removed, 200)
{
	int ctx = open_ctx(), i, j, fds[MANY][2];

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	for (i = 0; i < turns(4); i++) {
		for (j = 0; j < MANY; j++)
			pair_up_again(ctx, fds[j]);
		set_parameter("gather_us", SECOND);
		for (j = 0; j < MANY; j++)
			close(fds[j][0]);
		EXPECT_EQ(remove_device(), 0);
		for (j = 0; j < MANY; j++)
			close(fds[j][1]);
		set_parameter("gather_us", DEFAULT);
		EXPECT_EQ(add_device(), 0);
	}
	close(ctx);
}

/* Nanoseconds, of the cable there and back; and when the test does what, behind the burst. */
#define TRIP_NS (20 * 1000000LL)
#define SHUT_NS (TRIP_NS - 500000)
#define WRITE_NS (TRIP_NS + 200000)
/* Frames. With the 4 that are kept of 32, less than half of the credit is left. */
#define BURST 14
#define FRAME_BYTES 12000
#define GATHER_US 400

struct arrival {
	int chan;
	int64_t at;
};

static void *note_arrival(void *arg)
{
	struct arrival *arrival = arg;
	char byte;

	EXPECT_EQ(read(arrival->chan, &byte, 1), 1);
	arrival->at = clock_ns();
	return NULL;
}

static void sleep_until_ns(int64_t ns)
{
	const struct timespec at = { ns / 1000000000, ns % 1000000000 };

	prctl(PR_SET_TIMERSLACK, 1);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* The link's shortest round trip of late is that of the cable as it is now. */
static void forget_trips(struct fixture_gather *self)
{
	char byte = 0;
	int i;

	for (i = 0; i < 24; i++) {
		ASSERT_EQ(write(self->a, &byte, 1), 1);
		ASSERT_EQ(read(self->b, &byte, 1), 1);
		sleep_ms(1251);
	}
}

/*
 * A frame that does not wait a whole round trip for others has a timer for a part of that. They are
 * acknowledged sooner, so it goes. The message behind it is held back until its own time.
 */
TEST_F(gather, timer_of_another_frame)
{
	const struct opts o = { .tuning = { .send_buffer = 4 << 20, .recv_buffer = 4 << 20 } };
	static const char data[FRAME_BYTES];
	struct arrival arrival = { self->b };
	int burst[2], ends[2], i;
	int64_t begun, sent;
	pthread_t reader;

	if (!time_is_virtual()) {
		set_parameter("gather_us", DEFAULT);
		SKIP("time is real here: nobody knows when an acknowledgement comes");
	}
	pair_up(self->ctx, burst, &o);
	pair_up(self->ctx, ends, NULL);
	cable("delay 10");
	forget_trips(self);
	set_parameter("gather_us", GATHER_US);
	ASSERT_EQ(pthread_create(&reader, NULL, note_arrival, &arrival), 0);
	sleep_ms(100);
	begun = clock_ns();
	for (i = 0; i < BURST; i++)
		ASSERT_EQ(write(burst[0], data, sizeof(data)), (ssize_t)sizeof(data));
	sleep_until_ns(begun + SHUT_NS);
	ASSERT_EQ(do_shutdown(ends[0], RDMACHAN_SHUTDOWN_SEND), 0);
	sleep_until_ns(begun + WRITE_NS);
	sent = clock_ns();
	ASSERT_EQ(write(self->a, "x", 1), 1);
	pthread_join(reader, NULL);
	/* When no other has come for a quarter of gather_us. */
	EXPECT_LE(arrival.at - sent, TRIP_NS / 2 + GATHER_US * 1000 / 2);
	cable("delay 0");
	for (i = 0; i < 2; i++) {
		close(burst[i]);
		close(ends[i]);
	}
}

TEST_HARNESS_MAIN
