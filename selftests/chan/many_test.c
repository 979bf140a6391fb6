// SPDX-License-Identifier: GPL-2.0
/*
 * many_test.c - a thousand channels that are connected at once
 *
 * The cable is long, and time is virtual: computing takes none, so what is counted are round trips.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "ring.h"

#define MANY 1000
/* There and back. */
#define TRIP_NS 20000000LL
/*
 * The time that the frames of 1,000 requests and answers may take beside that. The last frame of a
 * burst is held back for a sixteenth of the trip, there and back. The work is a fiftieth of it.
 */
#define FRAMES_NS (TRIP_NS / 8 + TRIP_NS / 50)
/* By then the link has measured how long a trip takes. */
#define MEASURED_MS 25000
#define PATIENCE 60000
/* Buffers that the limits of a small guest have room for, 2,000 times. */
#define SMALL .tuning = { .send_buffer = RDMACHAN_BUFFER_MIN, .recv_buffer = RDMACHAN_BUFFER_MIN }

FIXTURE(many)
{
	int ctx;
	int peer;
	int listener;
	/* Keeps the link. */
	int keep;
	pid_t acceptor;
	int chans[MANY];
};

/* The peer's program: accepts all, and keeps them until this one closes its ends. */
static pid_t accept_many(int listener)
{
	pid_t child = fork();
	int chans[MANY], i;
	char byte;

	if (child)
		return child;
	for (i = 0; i < MANY; i++) {
		chans[i] = do_accept(listener, TIMEOUT(PATIENCE));
		ASSERT_GE(chans[i], 0);
	}
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(read(chans[i], &byte, 1), 0);
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

FIXTURE_SETUP(many)
{
	const struct rlimit files = { 2 * MANY, 2 * MANY };

	if (!time_is_virtual() || !has_peer())
		SKIP("time is real here: a round trip is the machine's load");
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
	set_parameter("user_pending", 2 * MANY);
	self->ctx = open_ctx();
	self->peer = open_peer();
	self->listener = do_listen(self->peer, SERVICE, &(struct opts){ .backlog = MANY, SMALL });
	ASSERT_GE(self->listener, 0);
	self->keep = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(self->keep, 0);
	close(do_accept(self->listener, TIMEOUT(PATIENCE)));
	self->acceptor = accept_many(self->listener);
	sleep_ms(100);
	cable("delay 10");
	sleep_ms(MEASURED_MS);
}

FIXTURE_TEARDOWN(many)
{
	int i;

	cable("delay 0");
	for (i = 0; i < MANY; i++)
		close(self->chans[i]);
	EXPECT_EQ(child_status(self->acceptor), 0);
	close(self->keep);
	close(self->listener);
	close(self->peer);
	close(self->ctx);
	set_parameter("user_pending", 256);
}

static void expect_a_trip(int64_t took)
{
	printf("# %d channels: %lld us beyond a round trip\n", MANY,
	       (long long)(took - TRIP_NS) / 1000);
	EXPECT_GE(took, TRIP_NS);
	EXPECT_LE(took, TRIP_NS + FRAMES_NS);
}

/* None waits for another's answer. */
TEST_F(many, by_calls)
{
	const struct opts o = { .flags = RDMACHAN_FD_F_NONBLOCK, SMALL };
	int64_t begun = clock_ns();
	int i;

	for (i = 0; i < MANY; i++) {
		self->chans[i] = do_connect(self->ctx, SERVICE, &o);
		ASSERT_GE(self->chans[i], 0);
	}
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(poll_mask(self->chans[i], POLLOUT | POLLERR, PATIENCE), POLLOUT);
	expect_a_trip(clock_ns() - begun);
}

TEST_F(many, by_a_queue)
{
	static struct rdmachan_connect_args connects[MANY];
	struct rdmachan_cqe cqe;
	int64_t begun;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 1024, 1024), 0);
	for (i = 0; i < MANY; i++) {
		fill_connect(&connects[i], SERVICE, &(struct opts){ SMALL });
		queue_add(&q, RDMACHAN_OPCODE_CONNECT, -1, i)->addr = (uintptr_t)&connects[i];
	}
	begun = clock_ns();
	ASSERT_EQ(queue_enter(&q, MANY, MANY, PATIENCE), MANY);
	expect_a_trip(clock_ns() - begun);
	for (i = 0; i < MANY; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		ASSERT_GE(cqe.res, 0);
		self->chans[cqe.user_data] = cqe.res;
	}
	queue_close(&q);
}

TEST_HARNESS_MAIN
