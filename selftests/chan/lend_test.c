// SPDX-License-Identifier: GPL-2.0
/*
 * lend_test.c - reads whose memory is lent before a message asks for it
 *
 * Anything comes instead of the message, or ends the read: no message is lost or comes twice, and
 * nobody writes to the memory afterwards.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "reader.h"

#define LEN 65536UL
#define ROOM (16 * LEN)

FIXTURE(lend)
{
	int ctx;
	int peer;
	int a;
	int b;
	char *out;
	char *back;
};

FIXTURE_SETUP(lend)
{
	int fds[2];

	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	self->out = malloc(ROOM);
	self->back = malloc(ROOM);
}

FIXTURE_TEARDOWN(lend)
{
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
	free(self->out);
	free(self->back);
}

static void begin(struct fixture_lend *self, struct reader *r)
{
	memset(self->back, 0x55, ROOM);
	reader_begin(r, self->b, self->back, ROOM);
}

static void await_frame(int ctx, uint64_t before)
{
	int64_t until = now_ms() + 20000;

	while (frames_received(ctx) == before && now_ms() < until)
		usleep(100);
	ASSERT_GT(frames_received(ctx), before);
}

/* The same; the sender has heard of what is lent, as a frame has come. */
static void lend(struct fixture_lend *self, struct reader *r)
{
	uint64_t frames = frames_received(self->ctx);

	begin(self, r);
	await_frame(self->ctx, frames);
}

static bool is_untouched(const struct fixture_lend *self, size_t from)
{
	for (; from < ROOM; from++)
		if (self->back[from] != 0x55)
			return false;
	return true;
}

static void send(struct fixture_lend *self, size_t len)
{
	fill_random(self->out, len, len);
	ASSERT_EQ(write(self->a, self->out, len), len);
}

static void comes(struct fixture_lend *self, struct reader *r, size_t len)
{
	ASSERT_EQ(reader_end(r), len);
	ASSERT_TRUE(is_random(self->back, len, len));
	ASSERT_TRUE(is_untouched(self, len));
}

/* It asks; behind it the next read lends. */
static void first_message(struct fixture_lend *self)
{
	struct reader r;

	begin(self, &r);
	send(self, LEN);
	comes(self, &r, LEN);
}

/* The next messages come, whatever became of those before. */
static void goes_on(struct fixture_lend *self)
{
	struct reader r;
	int i;

	for (i = 0; i < 3; i++) {
		begin(self, &r);
		send(self, LEN + i);
		comes(self, &r, LEN + i);
	}
}

/* Without an RTS: two frames for a message, and not three; others may come between. */
TEST_F(lend, saves_frames)
{
	struct rdmachan_object object;
	struct reader r;
	int i, cheap = 0;
	uint64_t frames;

	first_message(self);
	for (i = 0; i < 40; i++) {
		frames = pair_frames(self->ctx, self->peer);
		lend(self, &r);
		send(self, LEN);
		comes(self, &r, LEN);
		cheap += pair_frames(self->ctx, self->peer) - frames <= 2;
	}
	printf("# %d of %d messages with two frames\n", cheap, i);
	EXPECT_GE(cheap, time_is_virtual() ? i : i / 2);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.tx_placed, 41);
	EXPECT_EQ(object.tx_messages, 41);
}

TEST_F(lend, other_sizes)
{
	static const size_t lens[] = { 0, 1, 4000, 40000, LEN - 1, LEN + 1, 2 * LEN, ROOM, LEN };
	struct reader r;
	size_t i, j;

	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		/* The more was lent in vain, the more messages it takes until more is. */
		for (j = 0; j < 20; j++)
			first_message(self);
		lend(self, &r);
		send(self, lens[i]);
		comes(self, &r, lens[i]);
	}
	goes_on(self);
}

/* A copied message comes instead. */
TEST_F(lend, sender_that_does_not_wait)
{
	struct reader r;

	first_message(self);
	lend(self, &r);
	fill_random(self->out, LEN, LEN);
	ASSERT_EQ(do_send(self->a, self->out, LEN, 0, DONTWAIT), 0);
	comes(self, &r, LEN);
	goes_on(self);
}

static void nothing(int sig)
{
	(void)sig;
}

/* The program has its memory back, and the next message goes elsewhere. */
TEST_F(lend, signal)
{
	struct sigaction action = { .sa_handler = nothing };
	struct reader r;
	char *other = malloc(ROOM);

	sigaction(SIGUSR1, &action, NULL);
	first_message(self);
	lend(self, &r);
	pthread_kill(r.thread, SIGUSR1);
	EXPECT_ERR(reader_end(&r), EINTR);
	fill_random(self->out, LEN, 5);
	LATER(0, write(self->a, self->out, LEN));
	EXPECT_EQ(read(self->b, other, ROOM), LEN);
	EXPECT_TRUE(is_random(other, LEN, 5));
	EXPECT_TRUE(is_untouched(self, 0));
	goes_on(self);
	free(other);
}

/* Signals at any moment: each read has a message, or none. */
TEST_F_TIMEOUT(lend, signals, 120)
{
	int i, interrupted = 0;
	ssize_t got;
	pid_t child;

	first_message(self);
	child = LATER(0, ({
		for (i = 0; i < 100; i++) {
			fill_random(self->out, LEN, i);
			pause_ns(200000);
			if (write(self->a, self->out, LEN) != LEN)
				_exit(1);
		}
	}));
	for (i = 0; i < 100;) {
		on_alarm_us(time_is_virtual() ? 20 + 3 * (i + interrupted) : 1000, false);
		memset(self->back, 0x55, LEN);
		got = read(self->b, self->back, ROOM);
		if (got < 0) {
			ASSERT_EQ(errno, EINTR);
			interrupted++;
			continue;
		}
		ASSERT_EQ(got, LEN);
		ASSERT_TRUE(is_random(self->back, LEN, i));
		i++;
	}
	on_alarm(0, false);
	EXPECT_EQ(child_status(child), 0);
	printf("# %d reads were interrupted\n", interrupted);
	if (time_is_virtual())
		EXPECT_GT(interrupted, 0);
}

/* The memory of the one that is gone comes back, and the message goes to another one. */
TEST_F(lend, killed_reader)
{
	uint64_t frames;
	pid_t child;

	first_message(self);
	frames = frames_received(self->ctx);
	child = fork();
	if (!child) {
		read(self->b, self->back, ROOM);
		_exit(0);
	}
	await_frame(self->ctx, frames);
	kill(child, SIGKILL);
	EXPECT_EQ(WTERMSIG(child_status(child)), SIGKILL);
	/* The recall may still be on its way. A message that is copied makes void what was lent. */
	EXPECT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(read(self->b, self->back, ROOM), 1);
	fill_random(self->out, LEN, 6);
	LATER(0, write(self->a, self->out, LEN));
	EXPECT_EQ(read(self->b, self->back, ROOM), LEN);
	EXPECT_TRUE(is_random(self->back, LEN, 6));
	goes_on(self);
}

static bool has_received(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.rx_messages;
}

/*
 * In the middle of a message: another one gets it whole, unless all of it was there. A program that
 * has received it may be killed before it ends.
 */
TEST_F_TIMEOUT(lend, killed_in_the_middle, 120)
{
	const size_t len = 4 << 20;
	char *out = malloc(len), *back = malloc(len);
	int i, came = 0, fds[2];
	pid_t child, writer;
	ssize_t got;

	fill_random(out, len, 9);
	for (i = 0; i < 20; i++) {
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			read(fds[1], back, len);
			_exit(0);
		}
		writer = LATER(0, write(fds[0], out, len));
		pause_ns(time_is_virtual() ? 20000 * i : 500000 * i);
		kill(child, SIGKILL);
		if (WIFEXITED(child_status(child)) || has_received(fds[1])) {
			child_status(writer);
			close(fds[0]);
			close(fds[1]);
			continue;
		}
		got = read(fds[1], back, len);
		if (got == (ssize_t)len)
			came += is_random(back, len, 9);
		else
			EXPECT_EQ(errno, ECONNRESET);
		child_status(writer);
		close(fds[0]);
		close(fds[1]);
	}
	printf("# %d of %d came to another one\n", came, i);
	if (time_is_virtual())
		EXPECT_GT(came, 0);
	free(out);
	free(back);
}

TEST_F(lend, shut_down)
{
	struct reader r;

	first_message(self);
	lend(self, &r);
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(reader_end(&r), 0);
	EXPECT_TRUE(is_untouched(self, 0));
}

TEST_F(lend, end)
{
	struct reader r;

	first_message(self);
	lend(self, &r);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(reader_end(&r), 0);
	EXPECT_TRUE(is_untouched(self, 0));
}

/* Its time-out does not wait for the peer, so nothing is lent. */
TEST_F(lend, time_out)
{
	int64_t begun;

	first_message(self);
	begun = tick_ms();
	EXPECT_ERR(do_recv(self->b, self->back, ROOM, NULL, TIMEOUT(100)), ETIMEDOUT);
	EXPECT_GE(now_ms() - begun, 100);
	goes_on(self);
}

/* A program that cannot be told of the message keeps it. */
TEST_F(lend, words_that_cannot_be_written)
{
	struct rdmachan_recv_args *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov = { self->back, ROOM };

	first_message(self);
	*args = (struct rdmachan_recv_args){
		.size = sizeof(*args), .iov_ptr = (uintptr_t)&iov, .iov_count = 1,
	};
	ASSERT_EQ(mprotect(args, 4096, PROT_READ), 0);
	fill_random(self->out, LEN, 8);
	LATER(0, write(self->a, self->out, LEN));
	EXPECT_ERR(ioctl(self->b, RDMACHAN_RECV, args), EFAULT);
	EXPECT_EQ(read(self->b, self->back, ROOM), LEN);
	EXPECT_TRUE(is_random(self->back, LEN, 8));
	munmap(args, 4096);
	goes_on(self);
}

/* Threads that share a channel: one lends, and the others wait for their turn. */
static void *read_some(void *arg)
{
	int chan = *(int *)arg;
	char *data = malloc(ROOM);
	long count = 0;
	ssize_t got;

	while ((got = read(chan, data, ROOM)) > 0)
		count += is_random(data, got, got);
	free(data);
	return (void *)count;
}

TEST_F(lend, threads)
{
	pthread_t readers[3];
	long count = 0;
	void *got;
	int i;

	first_message(self);
	for (i = 0; i < 3; i++)
		pthread_create(&readers[i], NULL, read_some, &self->b);
	for (i = 0; i < 60; i++)
		send(self, LEN + i % 7);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(readers[i], &got);
		count += (long)got;
	}
	EXPECT_EQ(count, 60);
}

TEST_HARNESS_MAIN
