// SPDX-License-Identifier: GPL-2.0
/*
 * delivered_test.c - a SEND that waits until the peer's program has received its message
 *
 * The cable is long where round trips are counted: time is virtual, and computing takes none.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))
#define LARGE (3U << 20)
/* Of what ends by itself. */
#define PATIENCE 20000
/* There and back. */
#define TRIP_NS (2LL * 10 * 1000000)
/* For the work of the hosts, which is far less than a trip. */
#define WORK_NS 1000000
/* The number is not the call's. */
#define UNTOUCHED 0x7777

FIXTURE_PAIR(delivered)

static struct rdmachan_send_args send_args(const struct iovec *iov, uint32_t timeout_ms,
					   struct rdmachan_error *error)
{
	if (error) {
		memset(error, 0, sizeof(*error));
		error->size = sizeof(*error);
	}
	return (struct rdmachan_send_args) {
		.size = sizeof(struct rdmachan_send_args),
		.flags = RDMACHAN_IO_F_DELIVERED,
		.iov_ptr = (uintptr_t)iov,
		.iov_count = 1,
		.timeout_ms = timeout_ms,
		.error_ptr = (uintptr_t)error,
		.out_number = UNTOUCHED,
	};
}

/* Return: as the call; @number is that of the message. */
static int deliver(int chan, const void *data, size_t len, uint32_t msg_flags, uint32_t timeout_ms,
		   uint64_t *number)
{
	struct iovec iov = { (void *)data, len };
	struct rdmachan_send_args send = send_args(&iov, timeout_ms, NULL);
	int ret;

	send.msg_flags = msg_flags;
	ret = ioctl(chan, RDMACHAN_SEND, &send);
	*number = send.out_number;
	return ret;
}

/* It succeeds, and was the message number @want of those sent on @chan. */
#define EXPECT_DELIVERED(chan, data, len, want)						\
	do {										\
		uint64_t number_;							\
											\
		EXPECT_EQ(deliver(chan, data, len, 0, PATIENCE, &number_), 0);		\
		EXPECT_EQ(number_, (uint64_t)(want));					\
	} while (0)

/* It fails with @err and @why. @out: whether the message may have been received. */
#define EXPECT_UNDELIVERED(chan, ms, err, why, out)					\
	do {										\
		struct iovec iov_ = { (void *)"some", 4 };				\
		struct rdmachan_error error_;						\
		struct rdmachan_send_args send_ = send_args(&iov_, ms, &error_);	\
											\
		EXPECT_ERR(ioctl(chan, RDMACHAN_SEND, &send_), err);			\
		EXPECT_EQ(error_.cause, why);						\
		EXPECT_EQ(send_.out_number != 0, out);					\
	} while (0)

static void recv_some(int chan, int count)
{
	static char back[LARGE];

	while (count--)
		ASSERT_EQ(do_recv(chan, back, sizeof(back), NULL, TIMEOUT(PATIENCE)), 0);
}

/* A program that receives messages, the first of them after a while. */
static pid_t receiver(int chan, unsigned int ms, int count)
{
	return LATER(ms, recv_some(chan, count));
}

TEST_F(delivered, when_it_is_received)
{
	int64_t begun = tick_ms();
	pid_t child = receiver(self->b, 200, 1);

	EXPECT_DELIVERED(self->a, "some", 4, 1);
	EXPECT_GE(now_ms() - begun, 200);
	EXPECT_EQ(child_status(child), 0);
	/* Messages that do not ask count as well. */
	ASSERT_EQ(write(self->a, "some", 4), 4);
	child = receiver(self->b, 0, 2);
	EXPECT_DELIVERED(self->a, "some", 4, 3);
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(delivered, takes_a_trip)
{
	pid_t child;
	int64_t begun;

	if (!time_is_virtual() || !has_peer())
		SKIP("time is real here: a round trip is the machine's load");
	talk(self->a, self->b);
	cable("delay 10");
	child = receiver(self->b, 0, 3);
	sleep_ms(200);
	begun = clock_ns();
	EXPECT_DELIVERED(self->a, "some", 4, 2);
	EXPECT_GE(clock_ns() - begun, TRIP_NS);
	EXPECT_LE(clock_ns() - begun, TRIP_NS + WORK_NS);
	begun = clock_ns();
	EXPECT_DELIVERED(self->a, "some", 4, 3);
	EXPECT_LE(clock_ns() - begun, TRIP_NS + WORK_NS);
	begun = clock_ns();
	ASSERT_EQ(write(self->a, "some", 4), 4);
	EXPECT_LE(clock_ns() - begun, WORK_NS);
	cable("delay 0");
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(delivered, a_look_is_none)
{
	struct opts o = { .flags = RDMACHAN_IO_F_PEEK, .timeout_ms = PATIENCE };
	char back[8];
	pid_t child = LATER(0, ASSERT_EQ(do_recv(self->b, back, 8, NULL, &o), 0));

	EXPECT_UNDELIVERED(self->a, 300, ETIMEDOUT, RDMACHAN_CAUSE_NONE, true);
	EXPECT_EQ(child_status(child), 0);
	/* A buffer that is too small leaves it there, too. */
	child = LATER(0, EXPECT_ERR(do_recv(self->b, back, 2, NULL, TIMEOUT(PATIENCE)), EMSGSIZE));
	EXPECT_UNDELIVERED(self->a, 300, ETIMEDOUT, RDMACHAN_CAUSE_NONE, true);
	EXPECT_EQ(child_status(child), 0);
	recv_some(self->b, 2);
}

/* All the ways that a message may take. */
static const struct {
	const char *name;
	uint32_t size;
	uint32_t msg_flags;
	/* The receiver waits, so that memory may be offered; else it polls. */
	bool waits;
} ways[] = {
	{ "nothing", 0, 0, true },
	{ "small", 100, 0, false },
	{ "small_with_flags", 100, 0xffff, true },
	{ "a_packet", 4096, 0, true },
	{ "the_largest_small", 8192, 0, false },
	{ "more", 8193, 0, false },
	{ "segments", 100000, 1, false },
	{ "placed", 100000, 0x8000, true },
	{ "large_segments", LARGE, 0, false },
	{ "large_placed", LARGE, 0, true },
};

static void recv_each(int chan, uint32_t size, uint32_t msg_flags, bool waits, int count)
{
	struct opts o = { .flags = waits ? 0 : RDMACHAN_IO_F_DONTWAIT };
	struct rdmachan_recv_args recv;
	char *back = malloc(size + 1);
	int i;

	for (i = 0; i < count; i++) {
		if (!waits)
			ASSERT_EQ(poll_mask(chan, POLLIN, PATIENCE), POLLIN);
		ASSERT_EQ(do_recv(chan, back, size + 1, &recv, &o), 0);
		EXPECT_EQ(recv.out_length, size);
		EXPECT_EQ(recv.out_msg_flags, msg_flags);
		EXPECT_TRUE(is_random(back, size, i));
	}
	free(back);
}

TEST_F_ROWS(delivered, by, ways)
{
	char *data = malloc(row->size + 1);
	uint64_t number;
	pid_t child;
	int i;

	child = LATER(0, recv_each(self->b, row->size, row->msg_flags, row->waits, 6));
	for (i = 0; i < 6; i++) {
		fill_random(data, row->size, i);
		ASSERT_EQ(deliver(self->a, data, row->size, row->msg_flags, PATIENCE, &number), 0);
		EXPECT_EQ(number, (uint64_t)i + 1);
	}
	EXPECT_EQ(child_status(child), 0);
	free(data);
}

TEST_F(delivered, in_pieces)
{
	struct iovec iov[3] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	struct rdmachan_send_args send = send_args(iov, PATIENCE, NULL);
	pid_t child = receiver(self->b, 0, 1);

	send.iov_count = 3;
	EXPECT_EQ(ioctl(self->a, RDMACHAN_SEND, &send), 0);
	EXPECT_EQ(send.out_number, 1);
	EXPECT_EQ(child_status(child), 0);
}

/* A structure that has been used: a call that sends nothing leaves no number of another message. */
TEST_F(delivered, nothing_is_sent)
{
	struct iovec iov = { (void *)8, 4 };
	struct rdmachan_send_args send = send_args(&iov, 100, NULL);

	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EFAULT);
	EXPECT_EQ(send.out_number, 0);
	send.out_number = UNTOUCHED;
	send.iov_count = 1025;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINVAL);
	EXPECT_EQ(send.out_number, 0);
}

/* A busy machine may come between an alarm and the call that it is to interrupt. */
static void alarms_are_in_time(void)
{
	if (!time_is_virtual())
		SKIP("time is real here");
}

/* It does not block, from when it goes on: its message is sent. */
TEST_F(delivered, interrupted_and_nonblocking)
{
	struct iovec iov = { "some", 4 };
	struct rdmachan_send_args send = send_args(&iov, 0, NULL);
	pid_t child;

	alarms_are_in_time();
	on_alarm(100, false);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINTR);
	EXPECT_EQ(send.out_number, 1);
	ASSERT_EQ(fcntl(self->a, F_SETFL, O_RDWR | O_NONBLOCK), 0);
	child = receiver(self->b, 50, 1);
	EXPECT_EQ(ioctl(self->a, RDMACHAN_SEND, &send), 0);
	EXPECT_EQ(send.out_number, 1);
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(delivered, both_ways_at_once)
{
	pid_t child = fork();
	int i;

	if (!child) {
		pid_t reads = receiver(self->b, 0, 20);

		for (i = 0; i < 20; i++)
			EXPECT_DELIVERED(self->b, "back", 4, i + 1);
		_exit(child_status(reads) || harness_failures);
	}
	for (i = 0; i < 20; i++) {
		pid_t reads = receiver(self->a, 0, 1);

		EXPECT_DELIVERED(self->a, "some", 4, i + 1);
		EXPECT_EQ(child_status(reads), 0);
	}
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(delivered, to_the_own_host)
{
	struct rdmachan_addr own = own_address();
	int listener = do_listen(self->ctx, SERVICE + 1, NULL), a, b;
	pid_t child;

	ASSERT_GE(listener, 0);
	a = do_connect_to(self->ctx, &own, SERVICE + 1, NULL);
	ASSERT_GE(a, 0);
	b = do_accept(listener, TIMEOUT(PATIENCE));
	ASSERT_GE(b, 0);
	child = receiver(b, 50, 2);
	EXPECT_DELIVERED(a, "some", 4, 1);
	EXPECT_DELIVERED(a, "some", 4, 2);
	EXPECT_EQ(child_status(child), 0);
	close(a);
	close(b);
	close(listener);
}

TEST_F(delivered, in_time_or_not)
{
	int count;

	EXPECT_UNDELIVERED(self->a, 50, ETIMEDOUT, RDMACHAN_CAUSE_NONE, true);
	/* It is there all the same, once. */
	recv_some(self->b, 1);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
	count = fill_up(self->a, 30000);
	ASSERT_GT(count, 0);
	/* One for which there is no room is not sent. */
	EXPECT_UNDELIVERED(self->a, 50, ETIMEDOUT, RDMACHAN_CAUSE_NONE, false);
	recv_some(self->b, count);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
	EXPECT_EQ(child_status(LATER(0, recv_some(self->b, 0))), 0);
}

/* The call that was interrupted goes on, and sends nothing once more. */
TEST_F(delivered, interrupted)
{
	struct iovec iov = { "some", 4 };
	struct rdmachan_send_args send = send_args(&iov, 0, NULL);
	pid_t child;

	alarms_are_in_time();
	on_alarm(100, false);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINTR);
	EXPECT_EQ(send.out_number, 1);
	EXPECT_NE(send.until, 0);
	/* No handler has the call restarted, also with SA_RESTART: the message is sent. */
	on_alarm(100, true);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINTR);
	EXPECT_EQ(send.out_number, 1);
	child = receiver(self->b, 50, 1);
	EXPECT_EQ(ioctl(self->a, RDMACHAN_SEND, &send), 0);
	EXPECT_EQ(send.until, 0);
	EXPECT_EQ(send.out_number, 1);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
}

TEST_F(delivered, interrupted_with_a_limit)
{
	struct iovec iov = { "some", 4 };
	struct rdmachan_send_args send = send_args(&iov, 400, NULL);
	int64_t begun = tick_ms();

	alarms_are_in_time();
	on_alarm(100, true);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINTR);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), ETIMEDOUT);
	EXPECT_TOOK(begun, 400, LIMIT_LATE(400));
	EXPECT_EQ(send.until, 0);
	EXPECT_EQ(send.out_number, 1);
	recv_some(self->b, 1);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
}

/* A program that is stopped and continued does not notice, nor does it send twice. */
TEST_F(delivered, stopped)
{
	pid_t child = LATER(0, EXPECT_DELIVERED(self->a, "some", 4, 1); fflush(stdout);
			    _exit(harness_failures));
	int status;

	ASSERT_EQ(poll_mask(self->b, POLLIN, PATIENCE), POLLIN);
	sleep_ms(50);
	ASSERT_EQ(kill(child, SIGSTOP), 0);
	ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
	ASSERT_EQ(kill(child, SIGCONT), 0);
	sleep_ms(50);
	recv_some(self->b, 1);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
}

/* A program writes there what it likes, and gets no more than an error or a message. */
TEST_F(delivered, lies_about_going_on)
{
	static const uint64_t untils[] = { 1, 1ULL << 62, 3ULL << 62, 1ULL << 63, ~0ULL };
	static const uint64_t numbers[] = { 0, 1, 2, 3, 1ULL << 32, ~0ULL };
	struct iovec iov = { "some", 4 };
	struct rdmachan_send_args send;
	int sent = 1, ret;
	size_t i, j;

	EXPECT_UNDELIVERED(self->a, 20, ETIMEDOUT, RDMACHAN_CAUSE_NONE, true);
	for (i = 0; i < COUNT(untils); i++)
		for (j = 0; j < COUNT(numbers); j++) {
			send = send_args(&iov, 20, NULL);
			send.until = untils[i];
			send.out_number = numbers[j];
			ret = ioctl(self->a, RDMACHAN_SEND, &send);
			EXPECT_EQ(ret, -1);
			EXPECT_TRUE(errno == EINVAL || errno == ETIMEDOUT);
			/* Begun, says it: then nothing is sent. */
			sent += errno == ETIMEDOUT && !(untils[i] >> 62 & 1);
			/* Without the flag no such call can have been interrupted. */
			send.flags = 0;
			send.until = untils[i] | 3ULL << 62;
			EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINVAL);
		}
	recv_some(self->b, sent);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
}

TEST_F(delivered, refused)
{
	struct iovec iov = { "some", 4 };
	struct rdmachan_send_args send = send_args(&iov, 20, NULL);
	struct opts o = { .flags = RDMACHAN_IO_F_DELIVERED };
	char back[8];

	send.flags |= RDMACHAN_IO_F_DONTWAIT;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINVAL);
	send.flags = RDMACHAN_IO_F_DELIVERED;
	ASSERT_EQ(fcntl(self->a, F_SETFL, O_NONBLOCK), 0);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EINVAL);
	ASSERT_EQ(fcntl(self->a, F_SETFL, 0), 0);
	EXPECT_ERR(do_recv(self->b, back, sizeof(back), NULL, &o), EOPNOTSUPP);
	EXPECT_EQ(send.out_number, UNTOUCHED);
	iov.iov_base = (void *)8;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_SEND, &send), EFAULT);
	EXPECT_EQ(send.out_number, 0);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 100), 0);
}

TEST_F(delivered, closed_behind_it)
{
	pid_t child;
	int b = self->b;

	self->b = -1;
	child = LATER(100, recv_some(b, 1); close(b));
	close(b);
	EXPECT_DELIVERED(self->a, "some", 4, 1);
	EXPECT_EQ(child_status(child), 0);
	/* Nobody received this one, and nobody will. */
	EXPECT_UNDELIVERED(self->a, PATIENCE, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, false);
}

TEST_F(delivered, closed_before_it)
{
	pid_t child;
	int b = self->b;

	ASSERT_EQ(write(self->a, "some", 4), 4);
	self->b = -1;
	child = LATER(100, recv_some(b, 1); close(b));
	close(b);
	EXPECT_UNDELIVERED(self->a, PATIENCE, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, false);
	EXPECT_EQ(child_status(child), 0);
}

static const struct {
	const char *name;
	uint32_t how;
	int error;
	uint32_t cause;
	bool sent;
	/* The end that does so is the sender's. */
	bool own;
} ends[] = {
	{ "the_peer_reads_no_more", RDMACHAN_SHUTDOWN_RECV, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN },
	{ "the_peer_aborts", RDMACHAN_SHUTDOWN_ABORT, ECONNRESET, RDMACHAN_CAUSE_PEER_RESET, true },
	{ "the_own_program_aborts", RDMACHAN_SHUTDOWN_ABORT, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, true,
	  true },
};

TEST_F_ROWS(delivered, ends_when, ends)
{
	pid_t child = LATER(100, do_shutdown(row->own ? self->a : self->b, row->how));

	EXPECT_UNDELIVERED(self->a, PATIENCE, row->error, row->cause, row->sent);
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(delivered, the_peer_is_killed)
{
	pid_t child;
	int b = self->b;

	self->b = -1;
	child = LATER(0, pause());
	close(b);
	sleep_ms(50);
	kill(LATER(100, kill(child, SIGKILL)), 0);
	EXPECT_UNDELIVERED(self->a, PATIENCE, ECONNRESET, RDMACHAN_CAUSE_PEER_KILLED, true);
	waitpid(child, NULL, 0);
	wait(NULL);
}

TEST_F(delivered, the_device_goes)
{
	pid_t child;

	if (!device_may_go())
		SKIP("the device cannot be removed here");
	child = LATER(200, remove_device());
	EXPECT_UNDELIVERED(self->a, PATIENCE, ENODEV, RDMACHAN_CAUSE_DEVICE_REMOVED, true);
	EXPECT_EQ(child_status(child), 0);
	ASSERT_EQ(add_device(), 0);
}

/* That nothing more is sent does not end the wait. */
TEST_F(delivered, shut_meanwhile)
{
	pid_t child = LATER(100, do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND); sleep_ms(100);
			    recv_some(self->b, 1));

	EXPECT_DELIVERED(self->a, "some", 4, 1);
	EXPECT_EQ(child_status(child), 0);
}

/* FINISH learns more, and each knows its own. */
TEST_F(delivered, beside_finish)
{
	pid_t child = LATER(100, EXPECT_ERR(do_finish(self->a, TIMEOUT(100)), ETIMEDOUT);
			    recv_some(self->b, 1));

	EXPECT_DELIVERED(self->a, "some", 4, 1);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_ERR(do_finish(self->a, TIMEOUT(50)), ETIMEDOUT);
}

/* Messages that do not ask cost nothing; one that does costs a record. */
TEST_F(delivered, frames)
{
	uint64_t before, plain, asking;
	pid_t child;
	int i;

	talk(self->a, self->b);
	let_time_pass();
	before = pair_frames(self->ctx, self->peer);
	for (i = 0; i < 8; i++)
		talk(self->a, self->b);
	plain = pair_frames(self->ctx, self->peer) - before;
	child = receiver(self->b, 0, 16);
	before = pair_frames(self->ctx, self->peer);
	for (i = 0; i < 16; i++)
		EXPECT_DELIVERED(self->a, "some", 4, i + 10);
	asking = pair_frames(self->ctx, self->peer) - before;
	EXPECT_EQ(child_status(child), 0);
	/* A message and its TAKEN are what a message each way is. */
	if (time_is_virtual())
		EXPECT_LE(asking, plain * 2 + 2);
}

/* Where the peer's module tells of new room anyway, as it does here, TAKEN is in that frame. */
TEST_F(delivered, frames_with_credit)
{
	static char data[16330];
	struct opts o = { .tuning.recv_buffer = RDMACHAN_BUFFER_MIN };
	uint64_t frames[2], before;
	int fds[2], i, asks;
	pid_t child;

	for (asks = 0; asks < 2; asks++) {
		pair_up(self->ctx, fds, &o);
		talk(fds[0], fds[1]);
		let_time_pass();
		before = frames_received(self->ctx);
		for (i = 0; i < 8; i++) {
			child = LATER(0, recv_each(fds[1], sizeof(data), 0, false, 1));
			fill_random(data, sizeof(data), 0);
			if (asks)
				EXPECT_DELIVERED(fds[0], data, sizeof(data), i + 2);
			else
				ASSERT_EQ(do_send(fds[0], data, sizeof(data), 0, NULL), 0);
			EXPECT_EQ(child_status(child), 0);
			sleep_ms(1);
		}
		frames[asks] = frames_received(self->ctx) - before;
		close(fds[0]);
		close(fds[1]);
	}
	/* Else both ends are counted. */
	if (time_is_virtual() && has_peer()) {
		EXPECT_GE(frames[0], 7);
		EXPECT_EQ(frames[1], 8);
	}
}

/* It goes with OPEN, and the call waits until the program that accepts the channel has it. */
TEST_F(delivered, early)
{
	struct opts early = { .flags = RDMACHAN_CONNECT_F_EARLY };
	int listener = do_listen(self->peer, SERVICE + 1, NULL), a, b;
	pid_t child;

	ASSERT_GE(listener, 0);
	child = LATER(100, b = do_accept(listener, TIMEOUT(PATIENCE)); ASSERT_GE(b, 0);
		      sleep_ms(100); recv_some(b, 2); sleep_ms(100));
	a = do_connect(self->ctx, SERVICE + 1, &early);
	ASSERT_GE(a, 0);
	EXPECT_DELIVERED(a, "some", 4, 1);
	EXPECT_DELIVERED(a, "some", 4, 2);
	EXPECT_EQ(child_status(child), 0);
	close(a);
	/* Nobody listens: nobody has it, or nobody knows. */
	close(listener);
	a = do_connect(self->ctx, SERVICE + 1, &early);
	ASSERT_GE(a, 0);
	/* Where time is real the refusal may come before the message, which is not sent then. */
	if (time_is_virtual())
		EXPECT_UNDELIVERED(a, PATIENCE, ECONNREFUSED, RDMACHAN_CAUSE_NO_SERVICE, true);
	close(a);
}

struct sender {
	int chan;
	uint64_t number;
	int ret;
	pthread_t thread;
};

static void *sends(void *arg)
{
	struct sender *s = arg;

	s->ret = deliver(s->chan, "some", 4, 0, PATIENCE, &s->number);
	return NULL;
}

/* Each returns when its own message is received, whichever that is. */
TEST_F(delivered, by_many_threads)
{
	struct sender s[16];
	uint64_t seen = 0;
	size_t i;

	for (i = 0; i < COUNT(s); i++) {
		s[i] = (struct sender){ .chan = self->a };
		ASSERT_EQ(pthread_create(&s[i].thread, NULL, sends, &s[i]), 0);
	}
	recv_some(self->b, COUNT(s));
	for (i = 0; i < COUNT(s); i++) {
		pthread_join(s[i].thread, NULL);
		EXPECT_EQ(s[i].ret, 0);
		seen |= 1ULL << s[i].number;
	}
	EXPECT_EQ(seen, 0x1fffeULL);
}

TEST_HARNESS_MAIN
