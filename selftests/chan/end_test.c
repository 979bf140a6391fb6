// SPDX-License-Identifier: GPL-2.0
/*
 * end_test.c - how channels end: shut down, closed, killed
 */
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define BIG (4U << 20)

FIXTURE_PAIR(end)

TEST_F(end, shutdown_send)
{
	struct rdmachan_error error;
	struct rdmachan_object object;
	struct rdmachan_recv_args recv;
	char back[8];

	EXPECT_EQ(write(self->a, "last", 4), 4);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_ERR(do_send(self->a, "x", 1, 0, &(struct opts){ .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	EXPECT_EQ(read(self->b, back, 8), 4);
	ASSERT_EQ(do_recv(self->b, back, 8, &recv, TIMEOUT(20000)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
	EXPECT_EQ(recv.out_length, 0);
	EXPECT_EQ(read(self->b, back, 8), 0);
	ASSERT_EQ(get_object(self->b, &object), 0);
	EXPECT_EQ(object.peer_shutdown, RDMACHAN_SHUTDOWN_SEND);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.shutdown, RDMACHAN_SHUTDOWN_SEND);
	/* The other direction goes on. */
	EXPECT_EQ(write(self->b, "back", 4), 4);
	EXPECT_EQ(read(self->a, back, 8), 4);
}

TEST_F(end, shutdown_receive)
{
	struct rdmachan_error error;
	char back[8];

	EXPECT_EQ(write(self->a, "unread", 6), 6);
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(read(self->b, back, 8), 0);
	while (write(self->a, "x", 1) == 1)
		sleep_ms(1);
	EXPECT_ERR(do_send(self->a, "x", 1, 0, &(struct opts){ .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_SHUTDOWN);
	EXPECT_EQ(write(self->b, "back", 4), 4);
	EXPECT_EQ(read(self->a, back, 8), 4);
}

TEST_F(end, shutdown_wakes)
{
	char *data = calloc(1, 30000);
	pid_t child;

	child = LATER(100, do_shutdown(self->a, RDMACHAN_SHUTDOWN_RECV));
	EXPECT_EQ(read(self->a, data, 8), 0);
	child_status(child);
	fill_up(self->a, 30000);
	child = LATER(100, do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND));
	EXPECT_ERR(write(self->a, data, 8), EPIPE);
	child_status(child);
	fill_up(self->b, 30000);
}

/* A writer that waits learns that the peer reads no more. */
TEST_F(end, shutdown_wakes_peer)
{
	char data[8] = "";

	fill_up(self->a, 30000);
	LATER(100, do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV));
	/* Messages thrown away there may make room here, a moment before. */
	while (write(self->a, data, 8) == 8)
		;
	EXPECT_EQ(errno, EPIPE);
}

TEST_F(end, close_delivers)
{
	static const char out[30000];
	static char back[30000];
	struct rdmachan_recv_args recv;
	int i, count = fill_up(self->a, sizeof(out));

	ASSERT_GT(count, 10);
	memset(back, 1, sizeof(back));
	close(self->a);
	for (i = 0; i < count; i++)
		ASSERT_EQ(do_recv(self->b, back, sizeof(back), &recv, TIMEOUT(20000)), 0);
	EXPECT_EQ(memcmp(out, back, sizeof(out)), 0);
	ASSERT_EQ(do_recv(self->b, back, sizeof(back), &recv, TIMEOUT(20000)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
	EXPECT_ERR(write(self->b, "x", 1), EPIPE);
	self->a = -1;
}

TEST_F(end, close_and_the_writer)
{
	struct rdmachan_error error;
	struct rdmachan_object object;

	close(self->b);
	self->b = -1;
	EXPECT_TRUE(wait_state(self->a, RDMACHAN_STATE_PEER_CLOSED, 20000));
	EXPECT_ERR(do_send(self->a, "x", 1, 0, &(struct opts){ .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_CLOSED);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_PEER_CLOSED);
}

TEST_F(end, no_linger)
{
	const struct opts none = { .tuning = { .linger_ms = RDMACHAN_LINGER_NONE } };
	struct rdmachan_error error;
	char data[8];
	int fds[2];

	pair_up(self->ctx, fds, &none);
	LATER(100, (void)0);
	fill_up(fds[0], 30000);
	close(fds[0]);
	EXPECT_TRUE(wait_state(fds[1], RDMACHAN_STATE_FAILED, 20000) ||
		    poll_mask(fds[1], POLLIN, 0));
	while (!do_recv(fds[1], calloc(1, 30000), 30000, NULL, TIMEOUT(20000)))
		;
	EXPECT_EQ(errno, ECONNRESET);
	EXPECT_ERR(do_send(fds[1], data, 1, 0, &(struct opts){ .error = &error }), ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESET);
}

TEST_F(end, linger_runs_out)
{
	const struct opts brief = { .tuning = { .linger_ms = 300 } };
	struct rdmachan_error error;
	int64_t begun;
	int fds[2];

	pair_up(self->ctx, fds, &brief);
	fill_up(fds[0], 30000);
	begun = tick_ms();
	close(fds[0]);
	EXPECT_TRUE(poll_mask(fds[1], POLLHUP, 20000) & POLLERR);
	/* Of one millisecond on the way the peer needs a part. */
	EXPECT_TOOK(begun, 300, timer_late(300) + 1);
	ASSERT_EQ(get_error(fds[1], &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESET);
	EXPECT_EQ(error.error, ECONNRESET);
}

TEST_F(end, listener_closed)
{
	int listener = do_listen(self->peer, SERVICE, NULL);
	int chan = do_connect(self->ctx, SERVICE, NULL);
	struct rdmachan_error error;
	char back[8];

	ASSERT_GE(chan, 0);
	close(listener);
	EXPECT_ERR(do_recv(chan, back, 8, NULL,
			   &(struct opts){ .timeout_ms = 20000, .error = &error }), ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESET);
	EXPECT_ERR(write(chan, "x", 1), ECONNRESET);
}

/* A program of its own, on host a, that holds the other end. Return: its pid */
static pid_t peer_program(struct fixture_end *self, int *chan, void (*program)(int fd))
{
	int listener = do_listen(self->peer, SERVICE, NULL), fd, ready[2];
	pid_t child;
	char c;

	ASSERT_EQ(pipe(ready), 0);
	child = fork();
	if (!child) {
		fd = do_connect(self->ctx, SERVICE, NULL);
		ASSERT_GE(fd, 0);
		close(ready[1]);
		program(fd);
		sleep_ms(60000);
		_exit(0);
	}
	*chan = do_accept(listener, TIMEOUT(20000));
	ASSERT_GE(*chan, 0);
	close(listener);
	/* A program killed while it connects has had no channel. */
	close(ready[1]);
	EXPECT_EQ(read(ready[0], &c, 1), 0);
	close(ready[0]);
	return child;
}

static void do_nothing(int fd)
{
	(void)fd;
}

static void write_and_crash(int fd)
{
	ASSERT_EQ(write(fd, "last", 4), 4);
	sleep_ms(100);
	signal(SIGSEGV, SIG_DFL);
	kill(getpid(), SIGSEGV);
}

TEST_F(end, killed_peer_of_reader)
{
	struct rdmachan_error error;
	pid_t peer;
	int chan;
	char c;

	peer = peer_program(self, &chan, do_nothing);
	LATER(100, kill(peer, SIGKILL));
	EXPECT_ERR(do_recv(chan, &c, 1, NULL, &(struct opts){ .error = &error }), ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
	EXPECT_EQ(error.detail, SIGKILL);
	EXPECT_EQ(error.error, ECONNRESET);
	EXPECT_EQ(error.service, SERVICE);
}

TEST_F(end, killed_peer_of_writer)
{
	struct rdmachan_error error;
	pid_t peer;
	int chan;

	peer = peer_program(self, &chan, do_nothing);
	fill_up(chan, 30000);
	LATER(100, kill(peer, SIGKILL));
	EXPECT_ERR(do_send(chan, "x", 1, 0, &(struct opts){ .error = &error }), ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
	EXPECT_EQ(error.detail, SIGKILL);
}

TEST_F(end, killed_peer_in_large_message)
{
	char *data = calloc(1, 60 << 20);
	pid_t peer;
	int chan;

	peer = peer_program(self, &chan, do_nothing);
	/* An unread message keeps the large one from being taken whole. */
	EXPECT_EQ(do_send(chan, data, 700000, 0, NULL), 0);
	LATER(100, kill(peer, SIGKILL));
	EXPECT_ERR(do_send(chan, data, 60 << 20, 0, NULL), ECONNRESET);
}

/* Closed channels go in the background. Return: how many there are when it is as many as
 * wished, or in the end.
 */
static unsigned int wait_channels(int ctx, unsigned int wish)
{
	int64_t until = now_ms() + 20000;
	struct rdmachan_info info = {};

	do {
		if (get_info(ctx, &info) || info.out_channels == wish)
			break;
		sleep_ms(10);
	} while (now_ms() < until);
	return info.out_channels;
}

/* Both close with messages that nobody has read or will read. */
TEST_F(end, both_close_full)
{
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	ASSERT_GT(fill_up(fds[0], 30000), 10);
	ASSERT_GT(fill_up(fds[1], 30000), 10);
	close(fds[0]);
	close(fds[1]);
	EXPECT_EQ(wait_channels(self->ctx, 2), 2);
}

/* The second end is closed at any moment of the first one's farewell. */
TEST_F_TIMEOUT(end, both_close_at_any_moment, 120)
{
	const struct opts small = { .tuning = { .send_buffer = 65536, .recv_buffer = 65536 } };
	int listener = do_listen(self->peer, SERVICE, &small), i, a, b;
	int64_t begun, farewell = 0;
	uint64_t seed = 1;

	ASSERT_GE(listener, 0);
	for (i = 0; i < 1000; i++) {
		a = do_connect(self->ctx, SERVICE, &small);
		b = do_accept(listener, TIMEOUT(20000));
		ASSERT_GE(b, 0);
		begun = clock_ns();
		close(a);
		if (i < 50) {
			ASSERT_TRUE(poll_mask(b, POLLHUP, 20000));
			farewell += (clock_ns() - begun) / 50;
		} else {
			pause_ns(next_random(&seed) % (2 * farewell));
		}
		close(b);
	}
	EXPECT_EQ(wait_channels(self->ctx, 2), 2);
}

/* The reader is killed and the writer closes, in whatever order: both forget. */
TEST_F(end, killed_and_closed_at_once)
{
	/* Each order with each way to wait is eight. */
	const int rounds = turns(40) < 8 ? 8 : turns(40);
	char *data = calloc(1, 60 << 20);
	pid_t peer;
	int i, chan;

	for (i = 0; i < rounds; i++) {
		peer = peer_program(self, &chan, do_nothing);
		if (i % 4 == 0)
			do_send(chan, data, 60 << 20, 0, TIMEOUT(1000));
		else if (i % 4 == 1)
			fill_up(chan, 30000);
		else if (i % 4 == 2)
			do_send(chan, data, BIG, 0, TIMEOUT(20));
		if (i & 4) {
			close(chan);
			kill(peer, SIGKILL);
		} else {
			kill(peer, SIGKILL);
			close(chan);
		}
		child_status(peer);
	}
	EXPECT_EQ(wait_channels(self->ctx, 2), 2);
}

TEST_F(end, crashed_peer)
{
	struct rdmachan_error error;
	char back[8];
	int chan;

	peer_program(self, &chan, write_and_crash);
	EXPECT_EQ(read(chan, back, 8), 4);
	EXPECT_ERR(do_recv(chan, back, 8, NULL, &(struct opts){ .error = &error }),
		   ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
	EXPECT_EQ(error.detail, SIGSEGV);
}

/* What came before the end is delivered first. */
TEST_F(end, killed_peer_after_messages)
{
	char back[8];
	pid_t peer;
	int chan;

	peer = peer_program(self, &chan, do_nothing);
	kill(peer, SIGKILL);
	EXPECT_TRUE(wait_state(chan, RDMACHAN_STATE_FAILED, 20000));
	EXPECT_EQ(poll_mask(chan, POLLIN | POLLOUT, 0) & (POLLIN | POLLOUT | POLLERR | POLLHUP),
		  POLLIN | POLLOUT | POLLERR | POLLHUP);
	EXPECT_ERR(read(chan, back, 8), ECONNRESET);
	EXPECT_ERR(write(chan, back, 8), ECONNRESET);
	EXPECT_ERR(do_shutdown(chan, RDMACHAN_SHUTDOWN_SEND), ENOTCONN);
}

/*
 * What waits when a channel ends is thrown away in parts: the context that ends it frees a few
 * messages, and a work item as many at a time.
 */

/* RCH_DROP_AT_ONCE. */
#define AT_ONCE 64
/* Too large for others to share its memory. */
#define ALONE 600

static int64_t charged(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_bytes.user;
}

static void await_charged(int ctx, int64_t bytes)
{
	int64_t until = now_ms() + 20000;

	while (charged(ctx) != bytes && now_ms() < until)
		sleep_ms(1);
	EXPECT_EQ(charged(ctx), bytes);
}

static void await_count(const char *what, int least, int most)
{
	int64_t until = now_ms() + 20000;
	int count;

	do
		count = module_count(what);
	while ((count < least || count > most) && now_ms() < until && (sleep_ms(1), true));
	EXPECT_GE(count, least);
	EXPECT_LE(count, most);
}

/* How sending may end. */
struct ending {
	int (*end)(int fds[2]);
	/* Nothing is sent any more from then on. */
	bool at_once;
};

/* A channel has very many messages that wait, and then it ends. */
static void ends_in_parts(int fds[2], const struct ending *ending)
{
	int items = module_count("items"), parts = module_count("put_off"), waiting, all;
	struct rdmachan_object object;

	if (items < 0)
		SKIP("there is no debugfs");
	ASSERT_GT(fill_up(fds[0], ALONE), 0);
	waiting = module_count("items") - items;
	printf("# %d wait\n", waiting);
	ASSERT_GT(waiting, 10 * AT_ONCE);
	ASSERT_EQ(module_count("put_off"), parts);
	ASSERT_EQ(ending->end(fds), 0);
	await_count("items", items, items);
	all = (waiting - 1) / AT_ONCE;
	await_count("put_off", parts + (ending->at_once ? all : 1), parts + all);
	ASSERT_EQ(get_object(fds[0], &object), 0);
	EXPECT_EQ(object.tx_queued, 0);
}

static int end_by_abort(int fds[2])
{
	return do_shutdown(fds[0], RDMACHAN_SHUTDOWN_ABORT);
}

/*
 * Soft interrupt hears of this one, and of the next. What is thrown away there may make room for
 * some of the messages, a moment before.
 */
static int end_by_reader(int fds[2])
{
	return do_shutdown(fds[1], RDMACHAN_SHUTDOWN_RECV);
}

static int end_by_peer(int fds[2])
{
	int ret = close(fds[1]);

	fds[1] = -1;
	return ret;
}

/* In the end nobody is charged for anything. */
TEST_F_TIMEOUT(end, in_parts, 60)
{
	static const struct ending endings[] = {
		{ end_by_abort, true }, { end_by_reader, false }, { end_by_peer, true },
	};
	struct rdmachan_object object;
	int64_t before;
	int fds[2];
	size_t i;

	/* What the test before this one had may be there still. */
	ASSERT_EQ(get_object(self->a, &object), 0);
	before = 2LL * (object.send_buffer + object.recv_buffer);
	await_charged(self->ctx, before);
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		pair_up(self->ctx, fds, NULL);
		ends_in_parts(fds, &endings[i]);
		close(fds[0]);
		close(fds[1]);
		await_charged(self->ctx, before);
	}
}

/* A send buffer that is made smaller gives back what it has of the larger one, if not at once. */
TEST_F(end, in_parts_and_tuned)
{
	const struct rdmachan_tune_args small = {
		.size = sizeof(small), .send_buffer = RDMACHAN_BUFFER_MIN,
	};
	int fds[2] = { self->a, self->b };
	struct rdmachan_object object;
	int64_t before;

	ASSERT_EQ(get_object(self->a, &object), 0);
	ASSERT_GT(object.send_buffer, RDMACHAN_BUFFER_MIN);
	before = 2LL * (object.send_buffer + object.recv_buffer);
	await_charged(self->ctx, before);
	ASSERT_GT(fill_up(self->a, ALONE), 0);
	ASSERT_EQ(end_by_reader(fds), 0);
	ASSERT_EQ(ioctl(self->a, RDMACHAN_TUNE, &small), 0);
	await_charged(self->ctx, before - object.send_buffer + RDMACHAN_BUFFER_MIN);
}

TEST_HARNESS_MAIN
