// SPDX-License-Identifier: GPL-2.0
/*
 * busy_test.c - calls that look for a while before they sleep
 *
 * That it is faster is for a benchmark to show; here it must be right, and look. The last test
 * tells how long a round trip takes with and without.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>

#include "common.h"
#include "harness.h"
#include "queue_fixture.h"

#define MOST RDMACHAN_BUSY_POLL_MAX

static int busy_poll(int fd, uint32_t usecs)
{
	struct rdmachan_busy_poll_args busy = { .size = sizeof(busy), .usecs = usecs };

	return ioctl(fd, RDMACHAN_BUSY_POLL, &busy);
}

TEST_F(queue, busy_values)
{
	struct rdmachan_busy_poll_args busy = { .size = sizeof(busy) - 1 };

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

/* An event that ends a wait ends it while the thread looks, too. */
TEST_F(queue, busy_ends)
{
	int64_t begun = tick_ms();
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

#define WAIT_MS 40

static int64_t thread_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Waits in vain for a message, or a completion. */
static void wait_in_vain(struct fixture_queue *self, bool by_queue)
{
	char byte;

	if (by_queue)
		EXPECT_ERR(queue_enter(&self->q, 0, 1, WAIT_MS), ETIMEDOUT);
	else
		EXPECT_ERR(do_recv(self->b, &byte, 1, NULL, TIMEOUT(WAIT_MS)), ETIMEDOUT);
}

/*
 * Of waits, those in which the thread was at work for half the time or more: it looked. Others may
 * want the processor, which ends that. Return: how many, of up to @tries; @enough are
 */
static int looks(struct fixture_queue *self, bool by_queue, int tries, int enough)
{
	int64_t begun;
	int count = 0;

	while (tries-- && count < enough) {
		begun = thread_us();
		wait_in_vain(self, by_queue);
		count += thread_us() - begun >= WAIT_MS * 500;
	}
	return count;
}

static void busy_looks(struct fixture_queue *self, int fd, bool by_queue)
{
	/* The harness looks every few milliseconds whether the test has ended. */
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("who looks needs a processor that nobody else wants");
	EXPECT_LT(looks(self, by_queue, 10, 5), 5);
	ASSERT_EQ(busy_poll(fd, MOST), 0);
	EXPECT_EQ(looks(self, by_queue, 50, 5), 5);
	ASSERT_EQ(busy_poll(fd, 0), 0);
	EXPECT_LT(looks(self, by_queue, 10, 5), 5);
}

TEST_F(queue, busy_looks_for_messages)
{
	busy_looks(self, self->b, false);
}

TEST_F(queue, busy_looks_for_completions)
{
	busy_looks(self, self->q.fd, true);
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
	begun = tick_ms();
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
