// SPDX-License-Identifier: GPL-2.0
/*
 * foreign_test.c - links over an adapter that is none, whose driver is as others are
 *
 * The module does some things for rxe's sake only; the fault "foreign" has it leave them. By
 * rdmachan_shim a polled completion retires the work requests before it. So work requests complete
 * as they would elsewhere, above all when the queue pair fails: then each that was not signalled
 * completes, of any kind, and its memory must be there. KASAN sees that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapter.h"
#include "inject.h"

#define SIZE (256U << 10)
#define TIMES 9

FIXTURE(foreign)
{
	int ctx;
	int peer;
	int a;
	int b;
};

FIXTURE_SETUP(foreign)
{
	int fds[2];

	adapter("ring", 1);
	inject_begin();
	inject("foreign", "count=0");
	self->ctx = open_ctx();
	self->peer = open_peer();
	await_no_links(self->ctx);
	set_parameter("idle_ms", 30000);
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
}

FIXTURE_TEARDOWN(foreign)
{
	close(self->a);
	close(self->b);
	close(self->peer);
	set_parameter("idle_ms", 200);
	inject_expect_forgotten(self->ctx);
	inject_end(self->ctx);
}

struct receiver {
	int chan;
	int times;
	int good;
};

static void *receive(void *arg)
{
	struct receiver *r = arg;
	static char data[SIZE];
	int i;

	for (i = 0; i < r->times; i++)
		r->good += !do_recv(r->chan, data, SIZE, NULL, TIMEOUT(20000)) &&
			   is_random(data, SIZE, i);
	return NULL;
}

/* Messages that the peer writes into memory of this end's, and then closes its key. */
static void place(int from, int to, int times)
{
	struct receiver receiver = { .chan = to, .times = times };
	static char data[SIZE];
	pthread_t thread;
	int i;

	ASSERT_EQ(pthread_create(&thread, NULL, receive, &receiver), 0);
	/* It offers its memory. */
	sleep_ms(10);
	for (i = 0; i < times; i++) {
		fill_random(data, SIZE, i);
		ASSERT_EQ(do_send(from, data, SIZE, 0, TIMEOUT(20000)), 0);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(receiver.good, times);
	EXPECT_GT(placed_messages(to, false), 0);
}

/* Memory regions are kept for 16 s (pure/keep.h), and then go by halves, one with each tick. */
static void be_silent(void)
{
	sleep_ms(16000 + 10000);
}

/* The queue pair fails when the link ends. */
TEST_F(foreign, idle_link_ends)
{
	place(self->a, self->b, TIMES);
	place(self->b, self->a, TIMES);
	talk(self->a, self->b);
	be_silent();
}

static unsigned long flushed(void)
{
	FILE *file = fopen(ADAPTER "flushed", "r");
	unsigned long count = 0;

	ASSERT_TRUE(file);
	ASSERT_EQ(fscanf(file, "%lu", &count), 1);
	fclose(file);
	return count;
}

/*
 * The peer has closed the key, and is gone. So no frame is told of any more; the memory region is
 * given up meanwhile, and the queue pair fails when it knows of the registration still.
 */
TEST_F(foreign, peer_is_gone)
{
	unsigned long before = flushed();
	char byte;
	int i;

	if (!time_is_virtual())
		SKIP("there is no cable");
	for (i = 0; i < 20; i++)
		talk(self->a, self->b);
	place(self->b, self->a, 1);
	cable("cut");
	EXPECT_EQ(do_recv(self->a, &byte, 1, NULL, TIMEOUT(20000)), -1);
	EXPECT_EQ(errno, EHOSTDOWN);
	cable("mend");
	close(self->a);
	close(self->b);
	await_no_links(self->ctx);
	EXPECT_GT(flushed(), before);
	self->a = -1;
	self->b = -1;
}

TEST_F(foreign, in_the_middle_of_it)
{
	static char data[SIZE];
	static const struct end_told told = { ECONNRESET, RDMACHAN_CAUSE_DISCONNECTED };
	pid_t writer = busy_until_end(self->a, true, &told);
	int i;

	for (i = 0; i < TIMES; i++)
		EXPECT_EQ(do_recv(self->b, data, SIZE, NULL, TIMEOUT(20000)), 0);
	inject("kill", "skip=3");
	while (!do_recv(self->b, data, SIZE, NULL, TIMEOUT(20000)))
		i++;
	EXPECT_NE(errno, EHOSTDOWN);
	EXPECT_EQ(child_status(writer), 0);
}

TEST_HARNESS_MAIN
