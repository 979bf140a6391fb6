// SPDX-License-Identifier: GPL-2.0
/*
 * early_shut_test.c - channels that are shut down while they are being connected
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "early.h"
#include "grant.h"
#include "region.h"
#include "ring.h"

#define ALICE 1000

/* Bytes that no test looks at. */
static char scrap[64];

static void expect_end(int chan)
{
	EXPECT_EQ(do_recv(chan, scrap, sizeof(scrap), NULL, TIMEOUT(PATIENCE)), 0);
	EXPECT_EQ(read(chan, scrap, sizeof(scrap)), 0);
}

static void expect_three(int chan)
{
	expect_numbered(chan, 1, SIZE);
	expect_numbered(chan, 2, 0);
	expect_numbered(chan, 3, SIZE);
}

/* The peer's program: reads one question to its end, and answers. */
static pid_t answer_at_the_end(struct fixture_early *self, const char *question)
{
	pid_t child = fork();
	char data[64];
	int chan;

	if (child)
		return child;
	chan = accept_one(self);
	for (; *question; question++) {
		EXPECT_EQ(read(chan, data, sizeof(data)), 1);
		EXPECT_EQ(data[0], *question);
	}
	EXPECT_EQ(read(chan, data, sizeof(data)), 0);
	EXPECT_EQ(write(chan, "pong", 4), 4);
	/* Until the answer was taken. */
	EXPECT_EQ(poll_mask(chan, 0, PATIENCE) & POLLHUP, POLLHUP);
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

static void question(int chan, const char *text)
{
	for (; *text; text++)
		ASSERT_EQ(write(chan, text, 1), 1);
}

/* Nothing but the end is a question as well. */
static const struct {
	const char *name;
	const char *question;
} questions[] = {
	{ "some_words", "word" },
	{ "nothing", "" },
};

TEST_F_ROWS(early, one_trip_to_the_end_of, questions)
{
	int64_t begun;
	char back[8];
	pid_t child;
	int chan;

	far_apart(self);
	child = answer_at_the_end(self, row->question);
	begun = clock_ns();
	chan = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(chan, 0);
	question(chan, row->question);
	ASSERT_EQ(do_shutdown(chan, RDMACHAN_SHUTDOWN_SEND), 0);
	ASSERT_EQ(read(chan, back, sizeof(back)), 4);
	EXPECT_TRIPS(clock_ns() - begun, 1);
	close(chan);
	EXPECT_EQ(child_status(child), 0);
	cable("delay 0");
}

/* FINISH needs one more than the peer's program needs to find the end: none. */
TEST_F(early, one_trip_to_finish)
{
	int64_t begun;
	pid_t child;
	int chan;

	far_apart(self);
	child = answer_at_the_end(self, "word");
	begun = clock_ns();
	chan = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(chan, 0);
	question(chan, "word");
	EXPECT_ERR(do_finish(chan, DONTWAIT), EAGAIN);
	ASSERT_EQ(do_finish(chan, NULL), 0);
	EXPECT_TRIPS(clock_ns() - begun, 1);
	EXPECT_EQ(poll_mask(chan, POLLPRI, 0), POLLPRI);
	EXPECT_EQ(do_finish(chan, DONTWAIT), 0);
	close(chan);
	EXPECT_EQ(child_status(child), 0);
	cable("delay 0");
}

/* The end is behind all messages, however they go. */
static const struct {
	const char *name;
	bool link;
	uint32_t count;
	size_t first;
	size_t step;
} contents[] = {
	{ "nothing", true, 0, 0, 0 },
	{ "one", true, 1, SIZE, 0 },
	{ "all_that_fit", true, FIT, SIZE, 0 },
	{ "more_than_fit", true, 2 * FIT, SIZE, 0 },
	{ "the_largest", true, 1, LARGEST, 0 },
	{ "nothing_without_a_link", false, 0, 0, 0 },
	{ "all_that_fit_without_a_link", false, FIT, SIZE, 0 },
	{ "the_largest_without_a_link", false, 1, LARGEST, 0 },
};

TEST_F_ROWS(early, end_is_behind, contents)
{
	uint32_t i;
	int a, b;

	if (row->link)
		have_link(self);
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	for (i = 0; i < row->count; i++)
		send_numbered(a, i, row->first + i * row->step);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	/* What is shut down already stays so. */
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_ERR(write(a, "x", 1), EPIPE);
	EXPECT_ERR(do_send(a, scrap, sizeof(scrap), 0, DONTWAIT), EPIPE);
	b = accept_one(self);
	for (i = 0; i < row->count; i++)
		expect_numbered(b, i, row->first + i * row->step);
	expect_end(b);
	EXPECT_EQ(write(b, "back", 4), 4);
	EXPECT_EQ(read(a, scrap, sizeof(scrap)), 4);
	ASSERT_EQ(do_finish(a, TIMEOUT(PATIENCE)), 0);
	EXPECT_ERR(write(a, "x", 1), EPIPE);
	close(a);
	close(b);
}

/* The program does not wait: it says all that it has to say, and then waits by poll(). */
TEST_F(early, end_without_waiting)
{
	struct rdmachan_object object;
	char data[SIZE] = {};
	uint32_t i;
	int a, b;

	have_link(self);
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, EARLY_NONBLOCK);
	ASSERT_GE(a, 0);
	for (i = 0; i < FIT; i++)
		ASSERT_EQ(write(a, data, SIZE), (ssize_t)SIZE);
	EXPECT_ERR(write(a, data, SIZE), EAGAIN);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	ASSERT_EQ(get_object(a, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_CONNECTING);
	EXPECT_EQ(object.shutdown, RDMACHAN_SHUTDOWN_SEND);
	EXPECT_ERR(write(a, data, SIZE), EPIPE);
	EXPECT_ERR(do_finish(a, NULL), EAGAIN);
	EXPECT_EQ(poll_mask(a, POLLIN | POLLOUT | POLLPRI, 0), 0);
	EXPECT_EQ(poll_mask(a, POLLOUT, PATIENCE), POLLOUT);
	b = accept_one(self);
	for (i = 0; i < FIT; i++)
		ASSERT_EQ(do_recv(b, data, SIZE, NULL, TIMEOUT(PATIENCE)), 0);
	expect_end(b);
	EXPECT_EQ(poll_mask(a, POLLPRI, PATIENCE), POLLPRI);
	EXPECT_EQ(do_finish(a, NULL), 0);
	cable("delay 0");
	close(a);
	close(b);
}

/* A thread that waits for room is told that there will be none, and its message is not sent. */
TEST_F(early, end_for_a_waiting_sender)
{
	char data[SIZE] = {};
	pid_t child;
	uint32_t i;
	int a, b;

	have_link(self);
	cable("delay 200");
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	for (i = 0; i < FIT; i++)
		ASSERT_EQ(write(a, data, SIZE), (ssize_t)SIZE);
	child = LATER(0, _exit(write(a, data, SIZE) >= 0 || errno != EPIPE));
	sleep_ms(50);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(child_status(child), 0);
	b = accept_one(self);
	for (i = 0; i < FIT; i++)
		ASSERT_EQ(do_recv(b, data, SIZE, NULL, TIMEOUT(PATIENCE)), 0);
	expect_end(b);
	cable("delay 0");
	close(a);
	close(b);
}

/* Receiving is shut down here at once, and the peer told when the channel is open. */

static const struct {
	const char *name;
	uint32_t how;
} ways[] = {
	{ "receiving", RDMACHAN_SHUTDOWN_RECV },
	{ "both", RDMACHAN_SHUTDOWN_RECV | RDMACHAN_SHUTDOWN_SEND },
};

TEST_F_ROWS(early, ends, ways)
{
	struct rdmachan_error error;
	int a, b;

	have_link(self);
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	send_numbered(a, 1, SIZE);
	ASSERT_EQ(do_shutdown(a, row->how), 0);
	EXPECT_EQ(read(a, scrap, sizeof(scrap)), 0);
	EXPECT_EQ(poll_mask(a, POLLIN | POLLRDHUP, 0), POLLIN | POLLRDHUP);
	b = accept_one(self);
	expect_numbered(b, 1, SIZE);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	sleep_ms(2 * CABLE_MS);
	EXPECT_ERR(write(b, "x", 1), EPIPE);
	/* It says how many were received: none. */
	EXPECT_EQ(do_finish(b, TIMEOUT(PATIENCE)), 0);
	if (row->how & RDMACHAN_SHUTDOWN_SEND) {
		expect_end(b);
		EXPECT_EQ(do_finish(a, TIMEOUT(PATIENCE)), 0);
	} else {
		send_numbered(a, 2, SIZE);
		expect_numbered(b, 2, SIZE);
	}
	EXPECT_EQ(read(a, scrap, sizeof(scrap)), 0);
	ASSERT_EQ(get_error(b, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_SHUTDOWN);
	cable("delay 0");
	close(a);
	close(b);
}

/* What the peer sends meanwhile is thrown away, and it learns that. */
TEST_F(early, end_of_receiving_that_the_peer_does_not_know)
{
	struct rdmachan_error error = {};
	int a, b;

	have_link(self);
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	send_numbered(a, 1, SIZE);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_RECV), 0);
	b = accept_one(self);
	ASSERT_EQ(write(b, "lost", 4), 4);
	EXPECT_ERR(do_finish(b, &(struct opts){ .timeout_ms = PATIENCE, .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_SHUTDOWN);
	EXPECT_EQ(error.detail, 1);
	EXPECT_EQ(read(a, scrap, sizeof(scrap)), 0);
	cable("delay 0");
	close(a);
	close(b);
}

/* A channel that takes no messages before it is open cannot be shut down; nor is it reset. */
TEST_F(early, only_a_connect_that_asks_may_end)
{
	int a;

	have_link(self);
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, &(struct opts){ .flags = RDMACHAN_FD_F_NONBLOCK });
	ASSERT_GE(a, 0);
	EXPECT_ERR(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), ENOTCONN);
	EXPECT_ERR(do_shutdown(a, RDMACHAN_SHUTDOWN_RECV), ENOTCONN);
	EXPECT_ERR(do_finish(a, NULL), ENOTCONN);
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	EXPECT_EQ(write(a, "x", 1), 1);
	close(a);
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	EXPECT_ERR(do_shutdown(a, RDMACHAN_SHUTDOWN_ABORT), ENOTCONN);
	EXPECT_ERR(do_shutdown(a, 0), EINVAL);
	EXPECT_EQ(write(a, "x", 1), 1);
	/* Else it might reach the next listener. */
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_OPEN, PATIENCE));
	cable("delay 0");
	close(a);
}

/* Lent memory has keys of the link, which is not known before: it waits for that. */
TEST_F(early, lending_waits_until_it_is_open)
{
	static char memory[4096] __attribute__((aligned(4096)));
	struct rdmachan_grant_range range;
	struct rdmachan_grant_event event;
	int64_t region;
	int a, b;

	have_link(self);
	region = region_register(self->ctx, memory, sizeof(memory), 0, NULL);
	ASSERT_GT(region, 0);
	range = RANGE(region, MAY_READ, 0, sizeof(memory));
	cable("delay 10");
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	send_numbered(a, 1, SIZE);
	EXPECT_ERR(grant_send(a, self->ctx, &range, 1, NULL, 0, DONTWAIT), EAGAIN);
	ASSERT_EQ(grant_send(a, self->ctx, &range, 1, NULL, 0, TIMEOUT(PATIENCE)), 0);
	b = accept_one(self);
	expect_numbered(b, 1, SIZE);
	ASSERT_TRUE(grant_next(b, &event));
	EXPECT_EQ(event.length, sizeof(memory));
	close(a);
	close(b);
	/* And not behind the end. */
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_ERR(grant_send(a, self->ctx, &range, 1, NULL, 0, TIMEOUT(PATIENCE)), EPIPE);
	cable("delay 0");
	close(a);
	close(accept_one(self));
}

/* It is not opened: told, with the number of messages. */

static const struct {
	const char *name;
	bool link;
	bool finish;
} refusals[] = {
	{ "shut_down", true, false },
	{ "shut_down_without_a_link", false, false },
	{ "finished", true, true },
	{ "finished_without_a_link", false, true },
};

TEST_F_ROWS(early, refused_and, refusals)
{
	struct rdmachan_error error = {};
	int a;

	if (row->link)
		have_link(self);
	else
		await_no_links(self->ctx);
	a = send_three_to(self, NOBODY, EARLY);
	if (row->finish) {
		EXPECT_ERR(do_finish(a, &(struct opts){ .timeout_ms = PATIENCE, .error = &error }),
			   ECONNREFUSED);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_SERVICE);
		EXPECT_EQ(error.detail, 3);
	} else {
		ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	}
	expect_lost(a, ECONNREFUSED, RDMACHAN_CAUSE_NO_SERVICE, 3, 3);
	EXPECT_ERR(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), ENOTCONN);
	close(a);
	talk_again(self);
}

/* A send that was refused as sending is shut down is not why the channel could not be opened. */
TEST_F(early, refused_behind_a_send_that_was)
{
	int a;

	have_link(self);
	cable("delay 10");
	a = send_three_to(self, NOBODY, EARLY);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_ERR(write(a, "x", 1), EPIPE);
	expect_lost(a, ECONNREFUSED, RDMACHAN_CAUSE_NO_SERVICE, 3, 3);
	cable("delay 0");
	close(a);
}

TEST_F(early, no_answer_in_time_to_finish)
{
	const struct opts o = { .flags = RDMACHAN_CONNECT_F_EARLY, .timeout_ms = 200 };
	struct rdmachan_error error = {};
	int a;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	have_link(self);
	cable("cut");
	a = send_three_to(self, SERVICE, &o);
	/* FINISH has less time than CONNECT, and can be repeated. */
	EXPECT_ERR(do_finish(a, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_ERR(do_finish(a, &(struct opts){ .timeout_ms = PATIENCE, .error = &error }),
		   ETIMEDOUT);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TIMEOUT);
	EXPECT_EQ(error.detail, 3);
	expect_lost(a, ETIMEDOUT, RDMACHAN_CAUSE_TIMEOUT, 3, 3);
	close(a);
	cable("mend");
	/* The adapter sends the frames once more. */
	a = accept_one(self);
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_FAILED, PATIENCE));
	close(a);
}

/* The link ends behind the end: it may be there, and is not said once more. */
TEST_F(early, link_ends_behind_the_end)
{
	int a;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	set_parameter("dead_ms", 1000);
	have_link(self);
	/* Frames go there, and none come back. */
	cable("cut ba");
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_FAILED, PATIENCE));
	EXPECT_ERR(read(a, scrap, sizeof(scrap)), EHOSTDOWN);
	EXPECT_ERR(do_finish(a, NULL), EHOSTDOWN);
	cable("mend");
	close(a);
	/* It came once. */
	a = accept_one(self);
	EXPECT_TRUE(wait_state(a, RDMACHAN_STATE_FAILED, PATIENCE));
	close(a);
	EXPECT_ERR(do_accept(self->listener, TIMEOUT(1000)), ETIMEDOUT);
	set_parameter("dead_ms", 5000);
}

/* The peer names another trust domain: all goes there, with its end, once. */
TEST_F(early, redirected_with_the_end)
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
		expect_three(b);
		EXPECT_EQ(read(b, scrap, sizeof(scrap)), 0);
		EXPECT_EQ(write(b, "back", 4), 4);
		EXPECT_ERR(do_accept(self->listener, TIMEOUT(1000)), ETIMEDOUT);
		fflush(stdout);
		_exit(harness_failures ? 1 : 0);
	}
	ASSERT_EQ(read(ready[0], &c, 1), 1);
	b = send_three_to(self, SERVICE + 1, EARLY);
	ASSERT_EQ(do_shutdown(b, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(do_finish(b, TIMEOUT(PATIENCE)), 0);
	EXPECT_EQ(read(b, scrap, sizeof(scrap)), 4);
	close(b);
	EXPECT_EQ(child_status(child), 0);
}

/* close() delivers the messages and their end. */
TEST_F(early, close_behind_the_end)
{
	int a, b;

	have_link(self);
	a = send_three_to(self, SERVICE, EARLY);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	close(a);
	b = accept_one(self);
	expect_three(b);
	expect_end(b);
	EXPECT_TRUE(wait_state(b, RDMACHAN_STATE_PEER_CLOSED, PATIENCE));
	close(b);
}

/* By a queue: each in its turn, behind the SENDs before it. */

enum { SENT, ENDED, FINISHED, ANSWERED, STEPS };

TEST_F(early, one_trip_to_the_end_by_a_queue)
{
	struct rdmachan_cqe cqe;
	int64_t begun;
	struct queue q;
	char back[8];
	pid_t child;
	int chan, i;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	far_apart(self);
	child = answer_at_the_end(self, "w");
	begun = clock_ns();
	chan = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(chan, 0);
	queue_send(&q, chan, "w", 1, SENT);
	queue_add(&q, RDMACHAN_OPCODE_SHUTDOWN, chan, ENDED)->op_flags = RDMACHAN_SHUTDOWN_SEND;
	queue_add(&q, RDMACHAN_OPCODE_FINISH, chan, FINISHED);
	queue_recv(&q, chan, back, sizeof(back), ANSWERED);
	ASSERT_EQ(queue_enter(&q, STEPS, STEPS, PATIENCE), STEPS);
	EXPECT_TRIPS(clock_ns() - begun, 1);
	for (i = 0; i < STEPS; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, cqe.user_data == SENT ? 1 : cqe.user_data == ANSWERED ? 4 : 0);
	}
	close(chan);
	EXPECT_EQ(child_status(child), 0);
	cable("delay 0");
	queue_close(&q);
}

static const struct {
	const char *name;
	uint32_t service;
	int64_t result;
} results[] = {
	{ "delivered", SERVICE, 0 },
	{ "refused", NOBODY, -ECONNREFUSED },
};

TEST_F_ROWS(early, end_by_a_queue_is, results)
{
	static char data[SIZE];
	struct rdmachan_cqe cqe;
	struct queue q;
	uint32_t i;
	int a, b;

	have_link(self);
	cable("delay 10");
	ASSERT_EQ(queue_open(self->ctx, &q, 64, 64), 0);
	a = do_connect(self->ctx, row->service, EARLY);
	ASSERT_GE(a, 0);
	/* Some more than fit: the end waits behind them. */
	for (i = 0; i < FIT + 3; i++)
		queue_send(&q, a, data, SIZE, SENT);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, a, FINISHED);
	ASSERT_EQ(queue_enter(&q, FIT + 4, 0, PATIENCE), FIT + 4);
	if (!row->result) {
		b = accept_one(self);
		for (i = 0; i < FIT + 3; i++)
			ASSERT_EQ(do_recv(b, data, SIZE, NULL, TIMEOUT(PATIENCE)), 0);
		expect_end(b);
		close(b);
	}
	ASSERT_EQ(queue_enter(&q, 0, FIT + 4, PATIENCE), 0);
	for (i = 0; i < FIT + 4; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, row->result ?: cqe.user_data == SENT ? SIZE : 0);
	}
	cable("delay 0");
	close(a);
	queue_close(&q);
}

/* A SEND of a queue that does not fit is refused behind a call that ends sending. */
TEST_F(early, end_for_a_queue_that_waits_to_send)
{
	static char data[SIZE];
	struct rdmachan_cqe cqe;
	struct queue q;
	uint32_t i;
	int a, b;

	have_link(self);
	cable("delay 200");
	ASSERT_EQ(queue_open(self->ctx, &q, 64, 64), 0);
	a = do_connect(self->ctx, SERVICE, EARLY);
	ASSERT_GE(a, 0);
	for (i = 0; i < FIT + 1; i++)
		queue_send(&q, a, data, SIZE, i);
	ASSERT_EQ(queue_enter(&q, FIT + 1, 0, PATIENCE), FIT + 1);
	ASSERT_EQ(do_shutdown(a, RDMACHAN_SHUTDOWN_SEND), 0);
	ASSERT_EQ(queue_enter(&q, 0, 1, PATIENCE), 0);
	ASSERT_TRUE(queue_next(&q, &cqe));
	EXPECT_EQ(cqe.user_data, FIT);
	EXPECT_EQ(cqe.res, -EPIPE);
	ASSERT_EQ(queue_enter(&q, 0, FIT, PATIENCE), 0);
	for (i = 0; i < FIT; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, SIZE);
	}
	b = accept_one(self);
	for (i = 0; i < FIT; i++)
		ASSERT_EQ(do_recv(b, data, SIZE, NULL, TIMEOUT(PATIENCE)), 0);
	expect_end(b);
	cable("delay 0");
	close(a);
	close(b);
	queue_close(&q);
}

TEST_HARNESS_MAIN
