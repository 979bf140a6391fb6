// SPDX-License-Identifier: GPL-2.0
/*
 * busy_test.c - calls that look for a while before they sleep
 *
 * That it is faster is for a benchmark to show; here it must be right. The last test tells
 * how long a round trip takes with and without, for who wants to know.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "common.h"
#include "harness.h"
#include "queue_fixture.h"

#define MOST RDMACHAN_BUSY_POLL_MAX

static int busy_poll(int fd, uint32_t usecs)
{
	struct rdmachan_busy_poll busy = { .size = sizeof(busy), .usecs = usecs };

	return ioctl(fd, RDMACHAN_BUSY_POLL, &busy);
}

TEST_F(queue, busy_values)
{
	struct rdmachan_busy_poll busy = { .size = sizeof(busy) - 1 };

	EXPECT_EQ(busy_poll(self->a, 0), 0);
	EXPECT_EQ(busy_poll(self->a, MOST), 0);
	EXPECT_EQ(busy_poll(self->q.fd, MOST), 0);
	EXPECT_ERR(busy_poll(self->a, MOST + 1), EINVAL);
	EXPECT_ERR(busy_poll(self->q.fd, UINT32_MAX), EINVAL);
	EXPECT_ERR(busy_poll(self->ctx, 1), ENOTTY);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_BUSY_POLL, &busy), EINVAL);
	EXPECT_ERR(ioctl(self->a, RDMACHAN_BUSY_POLL, NULL), EFAULT);
}

/* One after the other: the first may come before there is anything to be interrupted. */
static void on_alarms(bool on)
{
	const struct itimerval each = { { 0, 500000 }, { 0, 10000 } };
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	on_alarm(0, false);
	setitimer(ITIMER_REAL, on ? &each : &none, NULL);
}

/* What ends a wait ends it while the thread looks, too. */
TEST_F(queue, busy_ends)
{
	int64_t begun = now_ms();
	char byte;

	ASSERT_EQ(busy_poll(self->b, MOST), 0);
	ASSERT_EQ(busy_poll(self->q.fd, MOST), 0);
	EXPECT_ERR(do_recv(self->b, &byte, 1, NULL, TIMEOUT(20)), ETIMEDOUT);
	EXPECT_GE(now_ms() - begun, 19);
	EXPECT_ERR(do_recv(self->b, &byte, 1, NULL, DONTWAIT), EAGAIN);
	EXPECT_ERR(queue_enter(&self->q, 0, 1, 20), ETIMEDOUT);
	on_alarms(true);
	EXPECT_ERR(do_recv(self->b, &byte, 1, NULL, TIMEOUT(20000)), EINTR);
	EXPECT_ERR(queue_enter(&self->q, 0, 1, 20000), EINTR);
	on_alarms(false);
	/* The other end goes while it looks. */
	ASSERT_TRUE(LATER(10, close(self->a)) > 0);
	close(self->a);
	self->a = -1;
	EXPECT_EQ(read(self->b, &byte, 1), 0);
}

/* Nanoseconds of a round trip of 64 bytes; the other end is a child. */
static int64_t round_trips(int a, int b, int count)
{
	char data[64] = "";
	int64_t begun;
	pid_t child;
	int i;

	child = fork();
	if (!child) {
		for (i = 0; i < count; i++)
			if (read(b, data, sizeof(data)) != sizeof(data) ||
			    write(b, data, sizeof(data)) != sizeof(data))
				_exit(1);
		_exit(0);
	}
	begun = now_ms();
	for (i = 0; i < count; i++) {
		memcpy(data, &i, sizeof(i));
		ASSERT_EQ(write(a, data, sizeof(data)), sizeof(data));
		ASSERT_EQ(read(a, data, sizeof(data)), sizeof(data));
		ASSERT_EQ(memcmp(data, &i, sizeof(i)), 0);
	}
	begun = now_ms() - begun;
	EXPECT_EQ(child_status(child), 0);
	return begun * 1000000 / count;
}

TEST_F(queue, busy_round_trips)
{
	int64_t asleep, awake;

	round_trips(self->a, self->b, 100);
	asleep = round_trips(self->a, self->b, 1000);
	ASSERT_EQ(busy_poll(self->a, MOST), 0);
	ASSERT_EQ(busy_poll(self->b, MOST), 0);
	awake = round_trips(self->a, self->b, 1000);
	printf("# a round trip takes %lld us, and %lld us when both ends look\n",
	       (long long)asleep / 1000, (long long)awake / 1000);
}

TEST_HARNESS_MAIN
