// SPDX-License-Identifier: GPL-2.0
/*
 * pace_test.c - large messages keep the wire busy, and build no queue
 *
 * Four channels carry messages of 256 KiB over a cable of 1 Gbit/s, in virtual time. On a fifth a
 * small message goes there and back now and then: it waits for what is under way. The amount under
 * way follows the cable, and shares it with others.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "stream.h"

#define STREAMS 4
/* Bytes of messages that 1 Gbit/s carries in a millisecond. */
#define GBIT_MS 118000
#define ECHOES 200
#define BETWEEN_MS 3

FIXTURE(pace)
{
	int ctx;
	int peer;
	int fds[2];
	pthread_t echo;
	struct stream streams[STREAMS];
};

static void *echo_back(void *arg)
{
	const int fd = *(int *)arg;
	char data[64];
	ssize_t n;

	while ((n = read(fd, data, sizeof(data))) > 0)
		if (write(fd, data, n) != n)
			break;
	return NULL;
}

FIXTURE_SETUP(pace)
{
	int i, fds[2];

	if (!time_is_virtual() || !has_peer())
		SKIP("this needs a wire, and a clock that is exact");
	self->ctx = open_ctx();
	self->peer = open_peer();
	/* The rate of another cable would be believed for a while. */
	await_no_links(self->ctx);
	cable("rate 1000");
	pair_up(self->ctx, self->fds, NULL);
	pthread_create(&self->echo, NULL, echo_back, &self->fds[1]);
	for (i = 0; i < STREAMS; i++) {
		pair_up(self->ctx, fds, NULL);
		stream_begin(&self->streams[i], fds);
	}
}

FIXTURE_TEARDOWN(pace)
{
	int i;

	for (i = 0; i < STREAMS; i++)
		stream_end(&self->streams[i]);
	stream_end_of(self->fds[0]);
	pthread_join(self->echo, NULL);
	close(self->fds[0]);
	close(self->fds[1]);
	close(self->peer);
	close(self->ctx);
	cable("rate 0");
}

static uint64_t all_got(struct fixture_pace *self)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < STREAMS; i++)
		sum += stream_got(&self->streams[i]);
	return sum;
}

/* Return: bytes that all streams have carried in @ms. */
static uint64_t carried_in(struct fixture_pace *self, unsigned int ms)
{
	uint64_t before = all_got(self);

	sleep_ms(ms);
	return all_got(self) - before;
}

static int by_size(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* What an echo takes in the middle, in microseconds; @longest gets that of the longest. */
static int64_t echo_us(struct fixture_pace *self, int64_t *longest)
{
	int64_t took[ECHOES];
	char data[64] = "";
	int i;

	for (i = 0; i < ECHOES; i++) {
		sleep_ms(BETWEEN_MS);
		took[i] = clock_ns();
		EXPECT_EQ(write(self->fds[0], data, sizeof(data)), sizeof(data));
		EXPECT_EQ(read(self->fds[0], data, sizeof(data)), sizeof(data));
		took[i] = (clock_ns() - took[i]) / 1000;
	}
	qsort(took, ECHOES, sizeof(*took), by_size);
	*longest = took[ECHOES - 1];
	return took[ECHOES / 2];
}

TEST_F(pace, small_message_beside_large_ones)
{
	int64_t begun, longest, middle;
	uint64_t bytes;

	sleep_ms(500);
	bytes = all_got(self);
	begun = now_ms();
	middle = echo_us(self, &longest);
	bytes = all_got(self) - bytes;
	printf("# an echo takes %lld us, the longest %lld; %llu bytes in %lld ms\n",
	       (long long)middle, (long long)longest, (unsigned long long)bytes,
	       (long long)(now_ms() - begun));
	EXPECT_LE(middle, 1500);
	EXPECT_LE(longest, 3000);
	EXPECT_GE(bytes, (now_ms() - begun) * GBIT_MS);
}

/* A cable that has a tenth of what it had, and then all again. */
TEST_F(pace, rate_changes)
{
	sleep_ms(500);
	cable("rate 100");
	sleep_ms(500);
	EXPECT_GE(carried_in(self, 1000), 1000 * GBIT_MS / 10);
	cable("rate 1000");
	sleep_ms(500);
	EXPECT_GE(carried_in(self, 1000), 1000 * GBIT_MS);
}

/* The other host has connected as well: its channel comes by a link of its own. */
TEST_F(pace, two_links_share)
{
	const struct rdmachan_addr here = own_address();
	uint64_t one, other;
	struct stream s;
	int fds[2], listener = do_listen(self->ctx, SERVICE + 1, NULL);

	ASSERT_GE(listener, 0);
	fds[1] = do_connect_to(self->peer, &here, SERVICE + 1, NULL);
	ASSERT_GE(fds[1], 0);
	fds[0] = do_accept(listener, TIMEOUT(10000));
	ASSERT_GE(fds[0], 0);
	close(listener);
	stream_begin(&s, fds);
	sleep_ms(1000);
	other = stream_got(&s);
	one = carried_in(self, 2000);
	other = stream_got(&s) - other;
	printf("# %llu bytes of four channels, and %llu of one with a link of its own\n",
	       (unsigned long long)one, (unsigned long long)other);
	EXPECT_GE(one + other, 2000 * (uint64_t)GBIT_MS);
	EXPECT_GE(one, (one + other) / 4);
	EXPECT_GE(other, (one + other) / 4);
	stream_end(&s);
}

static int tcp_listen(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(7777) };
	int here = enter_peer(), fd = socket(AF_INET, SOCK_STREAM, 0);

	leave_peer(here);
	ASSERT_EQ(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	ASSERT_EQ(listen(fd, 1), 0);
	return fd;
}

/* TCP fills whatever queue the cable has: a share is kept, once the longer round trip is known. */
TEST_F(pace, beside_tcp)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(7777) };
	int listener = tcp_listen();
	uint64_t one, other;
	struct stream s;
	int fds[2];

	ASSERT_EQ(inet_pton(AF_INET, getenv("LAB_PEER_IP"), &there.sin_addr), 1);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	ASSERT_EQ(connect(fds[0], (struct sockaddr *)&there, sizeof(there)), 0);
	fds[1] = accept(listener, NULL, NULL);
	ASSERT_GE(fds[1], 0);
	close(listener);
	stream_begin(&s, fds);
	sleep_ms(3000);
	other = stream_got(&s);
	one = carried_in(self, 2000);
	other = stream_got(&s) - other;
	printf("# %llu bytes by channels, and %llu by TCP\n", (unsigned long long)one,
	       (unsigned long long)other);
	EXPECT_GE(one, (one + other) / 20);
	EXPECT_GE(other, (one + other) / 20);
	stream_end(&s);
}

TEST_HARNESS_MAIN
