// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_wakes.c - how often a frame wakes those who wait, whatever its records are
 *
 * A wake-up looks at all who wait, which may be tens of thousands of entries of epoll. The file is
 * asked for a signal that is queued each time, so the signals are the wake-ups.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>

#include "hostile_scene.h"

#define TIMES 80U
#define WHOLE (RCH_DATA_F_FIRST | RCH_DATA_F_LAST)
#define FIRST_NO 200U

/* The other threads of this process do not block the signal. */
static void count_wakes(int fd)
{
	const struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	ASSERT_EQ(fcntl(fd, F_SETOWN_EX, &owner), 0);
	ASSERT_EQ(fcntl(fd, F_SETSIG, SIGRTMIN), 0);
	ASSERT_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC), 0);
}

static u32 wakes(void)
{
	const struct timespec moment = { 0, 50 * 1000 * 1000 };
	sigset_t set;
	u32 count = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	while (sigtimedwait(&set, NULL, &moment) == SIGRTMIN)
		count++;
	return count;
}

static void say_data_that_asks(struct attack *a, struct frame *f)
{
	frame_data(f, a->victim_no, WHOLE | RCH_DATA_F_TELL, 8, 8);
}

/* The channels take turns, so that no record is of a run. */
static void say_data_of_two(struct attack *a, struct frame *f)
{
	frame_data(f, a->victim_no, WHOLE, 8, 8);
	frame_data(f, a->witness_no, WHOLE, 8, 8);
}

static void say_question_and_not(struct attack *a, struct frame *f)
{
	const struct rch_rts rts = { .total = PREY_MESSAGE, .serial = 3 };
	struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_RTS,
		.length = sizeof(struct rch_wire_rts),
	};

	rch_wire_rts_put(frame_add(f, &r), &rts);
	r.flags = RCH_RTS_F_CANCEL;
	rch_wire_rts_put(frame_add(f, &r), &rts);
}

static void *wait_for_a_message(void *arg)
{
	static char data[PREY_MESSAGE];
	struct attack *a = arg;

	EXPECT_ERR(do_recv(a->victim, data, sizeof(data), NULL, TIMEOUT(1000)), ETIMEDOUT);
	return NULL;
}

static const struct {
	const char *name;
	void (*say)(struct attack *a, struct frame *f);
	/* A thread waits in a call that can take what is offered. */
	bool reads;
} repeated[] = {
	{ "data_that_asks", say_data_that_asks },
	{ "data_of_two", say_data_of_two },
	{ "question_and_not", say_question_and_not, true },
};

TEST_F_ROWS(scene, a_frame_wakes_once, repeated)
{
	struct attack *a = &self->a;
	static struct frame f;
	pthread_t reader;
	u32 i;

	ASSERT_TRUE(attack_connect(a, false));
	count_wakes(a->victim);
	if (row->reads) {
		ASSERT_EQ(pthread_create(&reader, NULL, wait_for_a_message, a), 0);
		sleep_ms(100);
	}
	wakes();
	frame_begin(&f);
	for (i = 0; i < TIMES; i++)
		row->say(a, &f);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(attack_heard(a));
	EXPECT_EQ(wakes(), 1);
	if (row->reads)
		pthread_join(reader, NULL);
	attack_disconnect(a);
}

/* Nor does it wake those more often who wait for channels. */
TEST_F(scene, a_frame_wakes_acceptors_once)
{
	struct attack *a = &self->a;
	static struct frame f;
	u32 i;

	ASSERT_TRUE(attack_connect(a, false));
	count_wakes(a->listener);
	wakes();
	frame_begin(&f);
	for (i = 0; i < PREY_BACKLOG; i++)
		frame_open(&f, FIRST_NO + i, PREY);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(attack_heard(a));
	EXPECT_EQ(wakes(), 1);
	for (i = 0; i < PREY_BACKLOG; i++)
		close(do_accept(a->listener, TIMEOUT(5000)));
	attack_disconnect(a);
}

#define WAITERS 4

struct waiter {
	pthread_t thread;
	int chan;
	pid_t tid;
	int told;
};

static void *wait_alone(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int epoll = epoll_create1(0);
	struct waiter *w = arg;

	EXPECT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, w->chan, &event), 0);
	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->told = epoll_wait(epoll, &event, 1, 500);
	close(epoll);
	return NULL;
}

/* Of waiters that are woken one by one, each record of the frame has its own. */
TEST_F(scene, each_record_has_a_waiter)
{
	struct waiter waiters[WAITERS] = {};
	struct attack *a = &self->a;
	static struct frame f;
	int i, told = 0;

	ASSERT_TRUE(attack_connect(a, false));
	for (i = 0; i < WAITERS; i++) {
		waiters[i].chan = a->victim;
		ASSERT_EQ(pthread_create(&waiters[i].thread, NULL, wait_alone, &waiters[i]), 0);
		await_sleep(&waiters[i].tid);
	}
	frame_begin(&f);
	for (i = 0; i < WAITERS - 1; i++)
		say_data_that_asks(a, &f);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (i = 0; i < WAITERS; i++) {
		pthread_join(waiters[i].thread, NULL);
		told += waiters[i].told;
	}
	EXPECT_EQ(told, WAITERS - 1);
	attack_disconnect(a);
}

TEST_HARNESS_MAIN
