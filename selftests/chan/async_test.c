// SPDX-License-Identifier: GPL-2.0
/*
 * async_test.c - O_ASYNC: SIGIO when a file can be used
 */
#include <fcntl.h>
#include <signal.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "ring.h"

#define LARGE (4 << 20)

FIXTURE_PAIR(async)

static void block_sigio(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGIO);
	ASSERT_EQ(sigprocmask(SIG_BLOCK, set, NULL), 0);
}

static void set_async(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	ASSERT_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	ASSERT_EQ(fcntl(fd, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC), 0);
}

/* A signal that comes in time, and tells of @fd. */
static bool signalled(int ms)
{
	const struct timespec rest = { ms / 1000, ms % 1000 * 1000000L };
	sigset_t set;

	block_sigio(&set);
	return sigtimedwait(&set, NULL, &rest) == SIGIO;
}

static void forget(void)
{
	while (signalled(50))
		;
}

TEST_F(async, message)
{
	char byte;

	EXPECT_TRUE(!signalled(1));
	set_async(self->a, true);
	forget();
	ASSERT_EQ(write(self->b, "x", 1), 1);
	EXPECT_TRUE(signalled(5000));
	EXPECT_EQ(do_recv(self->a, &byte, 1, NULL, DONTWAIT), 0);
	forget();
	set_async(self->a, false);
	ASSERT_EQ(write(self->b, "x", 1), 1);
	EXPECT_TRUE(!signalled(500));
	EXPECT_EQ(do_recv(self->a, &byte, 1, NULL, TIMEOUT(5000)), 0);
}

/* One that its sender would rather write straight into the buffer of a call that waits. */
TEST_F(async, large_message)
{
	static char data[LARGE], back[LARGE];
	pid_t child;
	int ret, tries = 0;

	set_async(self->a, true);
	forget();
	fill_random(data, LARGE, 5);
	child = LATER(0, ASSERT_EQ(do_send(self->b, data, LARGE, 0, TIMEOUT(10000)), 0));
	do {
		ASSERT_TRUE(signalled(5000));
		ret = do_recv(self->a, back, LARGE, NULL, DONTWAIT);
		ASSERT_LT(++tries, 10000);
	} while (ret);
	EXPECT_TRUE(is_random(back, LARGE, 5));
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(async, room)
{
	static char data[30000];

	fill_up(self->a, sizeof(data));
	set_async(self->a, true);
	forget();
	ASSERT_EQ(read(self->b, data, sizeof(data)), sizeof(data));
	while (do_recv(self->b, data, sizeof(data), NULL, DONTWAIT) == 0)
		;
	EXPECT_TRUE(signalled(5000));
}

TEST_F(async, end)
{
	set_async(self->a, true);
	forget();
	close(self->b);
	EXPECT_TRUE(signalled(5000));
	EXPECT_EQ(read(self->a, &(char){ 0 }, 1), 0);
}

TEST_F(async, listener)
{
	int listener = do_listen(self->peer, SERVICE + 3, NULL);

	set_async(listener, true);
	forget();
	ASSERT_GE(do_connect(self->ctx, SERVICE + 3, NULL), 0);
	EXPECT_TRUE(signalled(5000));
	EXPECT_GE(do_accept(listener, TIMEOUT(5000)), 0);
	close(listener);
}

TEST_F(async, queue)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	char byte;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	queue_recv(&q, self->a, &byte, 1, 7);
	ASSERT_EQ(queue_submit(&q), 1);
	set_async(q.fd, true);
	forget();
	ASSERT_EQ(write(self->b, "x", 1), 1);
	EXPECT_TRUE(signalled(5000));
	EXPECT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.user_data, 7);
	queue_close(&q);
}

/* Set and cleared while messages come, and closed with it set, by two programs. */
TEST_F(async, races)
{
	pid_t writer = LATER(0, {
		while (write(self->b, "x", 1) == 1)
			let_time_pass();
	});
	pid_t other = LATER(0, {
		for (;;) {
			set_async(self->a, false);
			let_time_pass();
			set_async(self->a, true);
		}
	});
	sigset_t set;
	char byte;
	int i;

	block_sigio(&set);
	for (i = 0; i < turns(2000); i++) {
		set_async(self->a, i % 2);
		ASSERT_EQ(read(self->a, &byte, 1), 1);
	}
	kill(writer, SIGKILL);
	kill(other, SIGKILL);
	child_status(writer);
	child_status(other);
}

TEST_HARNESS_MAIN
