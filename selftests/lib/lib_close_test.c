// SPDX-License-Identifier: GPL-2.0
/*
 * lib_close_test.c - threads in calls that others want to end
 *
 * close() does not wake them, as with sockets: an open file stays so until they return.
 * rdmachan_shutdown() does, and so does an event that is waited for besides.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "lib_fixture.h"

/* A thread that calls @run, which fills in the rest; @done when it has returned. */
struct waiter {
	void (*run)(struct waiter *w);
	int fd;
	int event;
	struct rdmachan_queue *queue;
	struct rdmachan_cqe cqe;
	pthread_t thread;
	pid_t tid;
	int ret;
	int error;
	bool done;
};

static void *wait_thread(void *arg)
{
	struct waiter *w = arg;

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->run(w);
	w->error = errno;
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void begin(struct waiter *w)
{
	ASSERT_EQ(pthread_create(&w->thread, NULL, wait_thread, w), 0);
	await_sleep(&w->tid);
}

static int end(struct waiter *w)
{
	ASSERT_EQ(pthread_join(w->thread, NULL), 0);
	return w->ret;
}

static void receive(struct waiter *w)
{
	char data[8];

	w->ret = rdmachan_recv(w->fd, data, sizeof(data), NULL, NULL);
}

static void send_one(struct waiter *w)
{
	static char data[30000];

	w->ret = rdmachan_send(w->fd, data, sizeof(data), NULL);
}

static void accept_one(struct waiter *w)
{
	w->ret = rdmachan_accept(w->fd, NULL, NULL, NULL, NULL);
}

static void wait_queue(struct waiter *w)
{
	struct rdmachan_cqe *cqe;

	w->ret = rdmachan_queue_wait_cqe(w->queue, &cqe, 0, NULL);
	if (!w->ret) {
		w->cqe = *cqe;
		rdmachan_queue_cqe_seen(w->queue);
	}
}

/* Events that can be waited for without a call on it: 2 if it was the event that came. */
static void wait_both(struct waiter *w)
{
	struct pollfd fds[] = { { w->fd, POLLIN, 0 }, { w->event, POLLIN, 0 } };

	w->ret = poll(fds, 2, -1);
	if (w->ret > 0)
		w->ret = (fds[0].revents ? 1 : 0) + (fds[1].revents ? 2 : 0);
}

static bool still_waits(struct waiter *w)
{
	sleep_ms(200);
	return !__atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

/* The channel lives on in the call, and ends with it. */
TEST_F(lib, close_does_not_wake_a_receiver)
{
	struct waiter w = { .run = receive, .fd = self->a };
	char back[8];

	begin(&w);
	close(self->a);
	EXPECT_TRUE(still_waits(&w));
	EXPECT_EQ(rdmachan_send(self->b, "x", 1, NULL), 0);
	EXPECT_EQ(end(&w), 1);
	EXPECT_EQ(rdmachan_recv(self->b, back, sizeof(back), NULL, NULL), 0);
	self->a = -1;
}

TEST_F(lib, close_does_not_wake_a_sender)
{
	struct waiter w = { .run = send_one, .fd = self->a };
	static char data[30000];
	int count = fill_up(self->a, sizeof(data));

	ASSERT_GT(count, 0);
	begin(&w);
	close(self->a);
	EXPECT_TRUE(still_waits(&w));
	while (count--)
		ASSERT_EQ(rdmachan_recv(self->b, data, sizeof(data), NULL, NULL), 1);
	EXPECT_EQ(end(&w), 0);
	EXPECT_EQ(rdmachan_recv(self->b, data, sizeof(data), NULL, NULL), 1);
	EXPECT_EQ(rdmachan_recv(self->b, data, sizeof(data), NULL, NULL), 0);
	self->a = -1;
}

/* Channels come to a listener that was closed as long as a thread is in a call on it. */
TEST_F(lib, close_does_not_wake_an_accepter)
{
	int peer = open_peer(), chan, listener = do_listen(peer, 7001, NULL);
	struct waiter w = { .run = accept_one, .fd = listener };

	ASSERT_GE(listener, 0);
	begin(&w);
	close(listener);
	EXPECT_TRUE(still_waits(&w));
	chan = do_connect(self->ctx, 7001, NULL);
	EXPECT_GE(chan, 0);
	EXPECT_GE(end(&w), 0);
	close(w.ret);
	close(chan);
	EXPECT_ERR(do_connect(self->ctx, 7001, NULL), ECONNREFUSED);
	close(peer);
}

TEST_F(lib, shutdown_wakes_a_receiver)
{
	struct waiter w = { .run = receive, .fd = self->a };

	begin(&w);
	EXPECT_EQ(rdmachan_shutdown(self->a, RDMACHAN_SHUTDOWN_RECV, NULL), 0);
	EXPECT_EQ(end(&w), 0);
}

TEST_F(lib, shutdown_wakes_a_sender)
{
	struct waiter w = { .run = send_one, .fd = self->a };

	ASSERT_GT(fill_up(self->a, 30000), 0);
	begin(&w);
	EXPECT_EQ(rdmachan_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND, NULL), 0);
	EXPECT_EQ(end(&w), -1);
	EXPECT_EQ(w.error, EPIPE);
}

/* All at once, as a program that ends a channel does: two that receive, one that sends. */
TEST_F(lib, shutdown_wakes_all)
{
	struct waiter in[2] = {
		{ .run = receive, .fd = self->a }, { .run = receive, .fd = self->a },
	};
	struct waiter out = { .run = send_one, .fd = self->a };

	ASSERT_GT(fill_up(self->a, 30000), 0);
	begin(&in[0]);
	begin(&in[1]);
	begin(&out);
	EXPECT_EQ(rdmachan_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV,
				    NULL), 0);
	EXPECT_EQ(end(&in[0]), 0);
	EXPECT_EQ(end(&in[1]), 0);
	EXPECT_EQ(end(&out), -1);
	EXPECT_EQ(out.error, EPIPE);
}

/* An operation that waits in a queue completes, and so wakes waiters for completions. */
TEST_F(lib, shutdown_wakes_a_queue)
{
	struct waiter w = { .run = wait_queue, .queue = self->q };

	rdmachan_queue_prep_recv(entry(self->q, 1), self->a, memory, SIZE);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	begin(&w);
	EXPECT_EQ(rdmachan_shutdown(self->a, RDMACHAN_SHUTDOWN_RECV, NULL), 0);
	EXPECT_EQ(end(&w), 0);
	EXPECT_EQ(w.cqe.user_data, 1);
	EXPECT_EQ(w.cqe.res, 0);
	EXPECT_EQ(w.cqe.flags, RDMACHAN_CQE_F_EOF);
}

/* For a listener there is no shutdown, and for a queue none that needs no operation. */
TEST_F(lib, event_wakes)
{
	int peer = open_peer(), listener = do_listen(peer, 7001, NULL), i;
	const int fds[] = { listener, rdmachan_queue_fd(self->q), self->a };
	struct waiter w;

	for (i = 0; i < 3; i++) {
		w = (struct waiter){ .run = wait_both, .fd = fds[i], .event = eventfd(0, 0) };
		ASSERT_GE(w.event, 0);
		begin(&w);
		EXPECT_EQ(eventfd_write(w.event, 1), 0);
		EXPECT_EQ(end(&w), 2);
		close(w.event);
	}
	close(listener);
	close(peer);
}

/* At the moment when a message comes it is either received or thrown away, and the call ends. */
TEST_F(lib, shutdown_races_with_a_message)
{
	struct waiter w;
	int i, fds[2];

	for (i = 0; i < turns(50); i++) {
		pair_up(self->ctx, fds, NULL);
		w = (struct waiter){ .run = receive, .fd = fds[0] };
		begin(&w);
		EXPECT_EQ(rdmachan_send(fds[1], "x", 1, NULL), 0);
		if (i & 1)
			sleep_ms(1);
		EXPECT_EQ(rdmachan_shutdown(fds[0], RDMACHAN_SHUTDOWN_RECV, NULL), 0);
		EXPECT_GE(end(&w), 0);
		close(fds[0]);
		close(fds[1]);
	}
}

TEST_HARNESS_MAIN
