// SPDX-License-Identifier: GPL-2.0
/*
 * early_test.c - messages that are sent while a channel is being connected
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "early.h"
#include "ring.h"

#define ALICE 1000

/* Bytes that no test looks at. */
static char scrap[64];

/* The peer's program: accepts, and answers one message. */
static pid_t answer_one(struct fixture_early *self)
{
	pid_t child = fork();
	char data[64];
	int chan;

	if (child)
		return child;
	chan = accept_one(self);
	ASSERT_EQ(do_recv(chan, data, sizeof(data), NULL, TIMEOUT(PATIENCE)), 0);
	ASSERT_EQ(do_send(chan, "ping", 4, 0, TIMEOUT(PATIENCE)), 0);
	/* Until the answer was taken. */
	EXPECT_EQ(read(chan, data, sizeof(data)), 0);
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

/* Open, a message, and its answer. Return: how long that takes. */
static int64_t ask(struct fixture_early *self, const struct opts *o)
{
	int64_t begun = clock_ns(), took;
	char back[8];
	int chan = do_connect(self->ctx, SERVICE, o);

	ASSERT_GE(chan, 0);
	ASSERT_EQ(write(chan, "ping", 4), 4);
	ASSERT_EQ(read(chan, back, sizeof(back)), 4);
	took = clock_ns() - begun;
	EXPECT_EQ(memcmp(back, "ping", 4), 0);
	close(chan);
	return took;
}

TEST_F(early, one_trip)
{
	pid_t child;

	far_apart(self);
	child = answer_one(self);
	EXPECT_TRIPS(ask(self, NULL), 2);
	EXPECT_EQ(child_status(child), 0);
	/* Until its last frames are acknowledged: an answer waits for frames that are under way. */
	sleep_ms(2000);
	child = answer_one(self);
	EXPECT_TRIPS(ask(self, EARLY), 1);
	EXPECT_EQ(child_status(child), 0);
	cable("delay 0");
}

/* CONNECT by a queue. Return: the channel. */
static int queue_connect(struct queue *q, const struct opts *o)
{
	struct rdmachan_connect_args connect;
	struct rdmachan_cqe cqe;

	fill_connect(&connect, SERVICE, o);
	queue_add(q, RDMACHAN_OPCODE_CONNECT, -1, 1)->addr = (uintptr_t)&connect;
	ASSERT_EQ(queue_enter(q, 1, 1, PATIENCE), 1);
	ASSERT_TRUE(queue_next(q, &cqe));
	ASSERT_GE(cqe.res, 0);
	return cqe.res;
}

TEST_F(early, one_trip_by_a_queue)
{
	struct rdmachan_cqe cqe;
	int chan, i, results = 0;
	struct queue q;
	int64_t begun;
	char back[8];
	pid_t child;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	far_apart(self);
	child = answer_one(self);
	begun = clock_ns();
	chan = queue_connect(&q, EARLY);
	/* It says so at once. */
	EXPECT_LE(clock_ns() - begun, WORK_NS);
	queue_send(&q, chan, "ping", 4, 2);
	queue_recv(&q, chan, back, sizeof(back), 3);
	ASSERT_EQ(queue_enter(&q, 2, 2, PATIENCE), 2);
	EXPECT_TRIPS(clock_ns() - begun, 1);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		results |= 1 << cqe.user_data;
	}
	EXPECT_EQ(results, 1 << 2 | 1 << 3);
	close(chan);
	EXPECT_EQ(child_status(child), 0);
	cable("delay 0");
	queue_close(&q);
}

/* The first channel between two hosts: messages wait for the link, and go with it. */
TEST_F(early, one_trip_less_without_a_link)
{
	int64_t plain, early;
	pid_t child;

	if (!time_is_virtual() || !has_peer())
		SKIP("time is real here: a round trip is the machine's load");
	/* Both have the neighbours' addresses. */
	have_link(self);
	close(self->keep);
	self->keep = -1;
	cable("delay 10");
	await_no_links(self->ctx);
	child = answer_one(self);
	plain = ask(self, NULL);
	EXPECT_EQ(child_status(child), 0);
	await_no_links(self->ctx);
	child = answer_one(self);
	early = ask(self, EARLY);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_TRIPS(plain, early / TRIP_NS + 1);
	cable("delay 0");
}

/* Messages of all sizes, some of which go early, arrive as they were sent. */
static const struct {
	const char *name;
	bool link;
	uint32_t count;
	size_t first;
	size_t step;
} contents[] = {
	{ "one", true, 1, SIZE, 0 },
	{ "empty", true, 3, 0, 0 },
	{ "all_that_fit", true, FIT, SIZE, 0 },
	{ "more_than_fit", true, 3 * FIT, SIZE, 0 },
	{ "the_largest", true, 2, LARGEST, 0 },
	{ "larger_ones", true, 40, 0, 397 },
	{ "without_a_link", false, 40, 0, 397 },
	{ "without_a_link_the_largest", false, 2, LARGEST, 0 },
};

TEST_F_ROWS(early, arrives, contents)
{
	uint32_t i;
	int a, b;

	if (row->link)
		have_link(self);
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	for (i = 0; i < row->count; i++)
		send_numbered(a, i, row->first + i * row->step);
	b = accept_one(self);
	for (i = 0; i < row->count; i++)
		expect_numbered(b, i, row->first + i * row->step);
	talk(a, b);
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	close(a);
	EXPECT_EQ(read(b, scrap, sizeof(scrap)), 0);
	close(b);
}

/* Frames may be smaller than the largest message that may be sent early. */
TEST_F(early, what_waits_goes_before_what_is_sent_later)
{
	char data[70000];
	int a, b;

	have_link(self);
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	send_numbered(a, 0, SIZE);
	fill_random(data, sizeof(data), 1);
	/* It waits for the peer's answer. */
	ASSERT_EQ(do_send(a, data, sizeof(data), 1, TIMEOUT(PATIENCE)), 0);
	send_numbered(a, 2, SIZE);
	b = accept_one(self);
	expect_numbered(b, 0, SIZE);
	ASSERT_EQ(do_recv(b, data, sizeof(data), NULL, TIMEOUT(PATIENCE)), 0);
	EXPECT_TRUE(is_random(data, sizeof(data), 1));
	expect_numbered(b, 2, SIZE);
	close(a);
	close(b);
}

/* A message that does not fit waits, or gives EAGAIN; and so does a receive. */
TEST_F(early, as_much_as_fits)
{
	char data[SIZE] = {};
	int a, b;
	uint32_t i;

	have_link(self);
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, EARLY_NONBLOCK);
	ASSERT_GE(a, 0);
	EXPECT_EQ(poll_mask(a, POLLIN | POLLOUT, 0), 0);
	for (i = 0; i < FIT; i++)
		ASSERT_EQ(write(a, data, SIZE), (ssize_t)SIZE);
	EXPECT_ERR(write(a, data, SIZE), EAGAIN);
	EXPECT_ERR(read(a, data, SIZE), EAGAIN);
	EXPECT_EQ(poll_mask(a, POLLOUT, PATIENCE), POLLOUT);
	EXPECT_EQ(write(a, data, SIZE), (ssize_t)SIZE);
	b = accept_one(self);
	for (i = 0; i < FIT + 1; i++)
		ASSERT_EQ(do_recv(b, data, SIZE, NULL, TIMEOUT(PATIENCE)), 0);
	cable("delay 0");
	close(a);
	close(b);
}

/* A program that has not asked is told as ever. */
TEST_F(early, only_a_connect_that_asks)
{
	int a;

	have_link(self);
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, &(struct opts){ .flags = RDMACHAN_FD_F_NONBLOCK });
	ASSERT_GE(a, 0);
	EXPECT_ERR(write(a, "x", 1), ENOTCONN);
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	cable("delay 0");
	close(a);
}

/* No program sees them before the channel is accepted. */
TEST_F(early, waits_to_be_accepted)
{
	struct rdmachan_object object;
	int a, b;

	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	send_numbered(a, 1, SIZE);
	send_numbered(a, 2, SIZE);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	ASSERT_TRUE(wait_readable(self->listener, PATIENCE));
	b = accept_one(self);
	ASSERT_EQ(get_object(b, &object), 0);
	EXPECT_EQ(object.rx_queued, 2 * SIZE);
	expect_numbered(b, 1, SIZE);
	expect_numbered(b, 2, SIZE);
	close(a);
	close(b);
}

/* The peer names another trust domain, and keeps nothing: all goes there, once. */
TEST_F(early, redirected)
{
	int ready[2], b;
	char c, word = 'g';
	pid_t child;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(pipe(ready), 0);
	have_link(self);
	child = fork();
	if (!child) {
		enter_peer();
		ASSERT_EQ(setuid(ALICE), 0);
		self->listener = do_listen(open_ctx(), SERVICE + 1, NULL);
		ASSERT_GE(self->listener, 0);
		ASSERT_EQ(write(ready[1], &word, 1), 1);
		b = accept_one(self);
		expect_numbered(b, 1, SIZE);
		expect_numbered(b, 2, 0);
		expect_numbered(b, 3, SIZE);
		EXPECT_EQ(read(b, scrap, sizeof(scrap)), 0);
		EXPECT_ERR(do_accept(self->listener, TIMEOUT(1000)), ETIMEDOUT);
		fflush(stdout);
		_exit(harness_failures ? 1 : 0);
	}
	ASSERT_EQ(read(ready[0], &c, 1), 1);
	b = send_three_to(self, SERVICE + 1, EARLY);
	EXPECT_TRUE(wait_state(b, RDMACHAN_STATE_OPEN, PATIENCE));
	close(b);
	EXPECT_EQ(child_status(child), 0);
}

/* Refused: told, with the number of messages. */

TEST_F(early, nobody_listens)
{
	int a;

	have_link(self);
	a = send_three_to(self, NOBODY, EARLY);
	expect_lost(a, ECONNREFUSED, RDMACHAN_CAUSE_NO_SERVICE, 3, 3);
	close(a);
	/* The link is as it was. */
	talk_again(self);
}

TEST_F(early, nobody_listens_and_no_link)
{
	int a;

	await_no_links(self->ctx);
	a = send_three_to(self, NOBODY, EARLY);
	expect_lost(a, ECONNREFUSED, RDMACHAN_CAUSE_NO_SERVICE, 3, 3);
	close(a);
}

TEST_F(early, backlog_is_full)
{
	int listener = do_listen(self->peer, SERVICE + 1, &(struct opts){ .backlog = 1 }), a, b;

	have_link(self);
	a = send_three_to(self, SERVICE + 1, EARLY);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	b = send_three_to(self, SERVICE + 1, EARLY);
	expect_lost(b, ECONNREFUSED, RDMACHAN_CAUSE_BACKLOG, 3, 3);
	close(b);
	/* The one that waits has lost nothing. */
	b = do_accept(listener, TIMEOUT(PATIENCE));
	ASSERT_GE(b, 0);
	expect_numbered(b, 1, SIZE);
	expect_numbered(b, 2, 0);
	expect_numbered(b, 3, SIZE);
	close(a);
	close(b);
	close(listener);
}

TEST_F(early, no_answer_in_time)
{
	const struct opts o = { .flags = RDMACHAN_CONNECT_F_EARLY, .timeout_ms = 200 };
	int a;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	have_link(self);
	cable("cut");
	a = send_three_to(self, SERVICE, &o);
	expect_lost(a, ETIMEDOUT, RDMACHAN_CAUSE_TIMEOUT, 3, 3);
	close(a);
	cable("mend");
	/* The adapter sends the frames once more. */
	a = accept_one(self);
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_FAILED, PATIENCE));
	close(a);
}

/* Larger than the peer takes, which is known only when it has answered. */
TEST_F(early, larger_than_the_peer_takes)
{
	const struct opts small = { .tuning = { .message_max = SIZE - 1 } };
	int listener = do_listen(self->peer, SERVICE + 1, &small), a, b;

	have_link(self);
	a = send_three_to(self, SERVICE + 1, EARLY);
	expect_lost(a, EMSGSIZE, RDMACHAN_CAUSE_MESSAGE_SIZE, SIZE - 1, 3);
	b = do_accept(listener, TIMEOUT(PATIENCE));
	ASSERT_GE(b, 0);
	EXPECT_TRUE(wait_state(b, RDMACHAN_STATE_FAILED, PATIENCE));
	EXPECT_ERR(read(b, scrap, sizeof(scrap)), EMSGSIZE);
	close(a);
	close(b);
	close(listener);
	talk_again(self);
}

/* The listener goes with the channel in its queue: as for any that waits there. */
TEST_F(early, listener_is_closed)
{
	struct rdmachan_error error;
	int listener = do_listen(self->peer, SERVICE + 1, NULL), a;

	have_link(self);
	a = send_three_to(self, SERVICE + 1, EARLY);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	close(listener);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_FAILED, PATIENCE));
	ASSERT_EQ(get_error(a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESET);
	close(a);
}

/* By a queue each SEND is told. */
static const struct {
	const char *name;
	uint32_t service;
	int64_t result;
} results[] = {
	{ "delivered", SERVICE, SIZE },
	{ "refused", NOBODY, -ECONNREFUSED },
};

TEST_F_ROWS(early, sends_of_a_queue_are, results)
{
	static char data[SIZE];
	struct rdmachan_cqe cqe;
	struct queue q;
	uint64_t i;
	int a;

	have_link(self);
	cable("delay 10");
	ASSERT_EQ(queue_open(self->ctx, &q, 64, 64), 0);
	a = do_connect(self->ctx, row->service, EARLY);
	ASSERT_GE(a, 0);
	/* Some more than fit. */
	for (i = 0; i < FIT + 3; i++)
		queue_send(&q, a, data, SIZE, i);
	queue_cancel(&q, 0, 0, 1000);
	ASSERT_EQ(queue_enter(&q, FIT + 4, 1, PATIENCE), FIT + 4);
	/* One that was taken is on its way. */
	ASSERT_TRUE(queue_next(&q, &cqe));
	EXPECT_EQ(cqe.user_data, 1000);
	EXPECT_EQ(cqe.res, -EALREADY);
	EXPECT_TRUE(!queue_next(&q, &cqe));
	ASSERT_EQ(queue_enter(&q, 0, FIT + 3, PATIENCE), 0);
	for (i = 0; i < FIT + 3; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, row->result);
	}
	cable("delay 0");
	close(a);
	queue_close(&q);
}

/* Ends in between */

TEST_F(early, close_delivers)
{
	int i, b;

	for (i = 0; i < 2; i++) {
		close(send_three_to(self, SERVICE, EARLY));
		b = accept_one(self);
		expect_numbered(b, 1, SIZE);
		expect_numbered(b, 2, 0);
		expect_numbered(b, 3, SIZE);
		EXPECT_EQ(read(b, scrap, sizeof(scrap)), 0);
		close(b);
		/* And now with a link. */
		if (!i)
			have_link(self);
	}
}

TEST_F(early, close_of_one_that_is_refused)
{
	have_link(self);
	close(send_three_to(self, NOBODY, EARLY));
	EXPECT_TRUE(await_channels(self->ctx, 1));
	talk_again(self);
}

TEST_F(early, close_without_lingering)
{
	const struct opts o = {
		.flags = RDMACHAN_CONNECT_F_EARLY, .tuning.linger_ms = RDMACHAN_LINGER_NONE,
	};

	have_link(self);
	close(send_three_to(self, SERVICE, &o));
	EXPECT_TRUE(await_channels(self->ctx, 1));
	talk_again(self);
}

/* To a host that does not answer: no longer than it lingers, whatever time CONNECT has. */
TEST_F(early, close_lingers_as_told)
{
	const struct opts o = {
		.flags = RDMACHAN_CONNECT_F_EARLY, .timeout_ms = 3600000, .tuning.linger_ms = 300,
	};
	int64_t begun;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	/* On one that is up the request would be sent, and its answer waited for. */
	await_no_links(self->ctx);
	cable("cut");
	begun = tick_ms();
	close(send_three_to(self, SERVICE, &o));
	EXPECT_TRUE(await_channels(self->ctx, 0));
	EXPECT_TOOK(begun, 300 - KERNEL_TICK_MS, 2 * KERNEL_TICK_MS + LIMIT_LATE(300));
	cable("mend");
}

static void come_and_be_killed(struct fixture_early *self)
{
	send_three_to(self, SERVICE, EARLY);
	/* Until they have left. */
	sleep_ms(1);
	kill(getpid(), SIGKILL);
}

TEST_F(early, killed)
{
	pid_t child;
	int b;

	far_apart(self);
	child = fork();
	if (!child)
		come_and_be_killed(self);
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	/* Messages that had left are there, and then the channel is reset. */
	b = accept_one(self);
	expect_numbered(b, 1, SIZE);
	expect_numbered(b, 2, 0);
	expect_numbered(b, 3, SIZE);
	EXPECT_ERR(do_recv(b, scrap, sizeof(scrap), NULL, TIMEOUT(PATIENCE)), ECONNRESET);
	close(b);
	cable("delay 0");
	EXPECT_TRUE(await_channels(self->ctx, 1));
}

/* While they wait for credit nothing has left, and of a program that was killed nothing does. */
TEST_F(early, killed_out_of_credit)
{
	int filled, end, b;
	pid_t child;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	filled = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(filled, 0);
	end = accept_one(self);
	cable("cut");
	/* A channel that is open takes all credit. */
	ASSERT_GT(fill_up(filled, 1000), 0);
	child = fork();
	if (!child) {
		send_three_to(self, SERVICE, EARLY);
		/* Until the link has them. */
		sleep_ms(10);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	sleep_ms(100);
	cable("mend");
	b = accept_one(self);
	EXPECT_ERR(do_recv(b, scrap, sizeof(scrap), NULL, TIMEOUT(PATIENCE)), ECONNRESET);
	close(b);
	close(filled);
	close(end);
}

TEST_HARNESS_MAIN
