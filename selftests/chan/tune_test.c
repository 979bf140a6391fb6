// SPDX-License-Identifier: GPL-2.0
/*
 * tune_test.c - buffers and linger time of a channel that change while it is open
 */
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "slow.h"

#define SMALL RDMACHAN_BUFFER_MIN
#define MEDIUM (4 * SMALL)
#define LARGE (16 * SMALL)
/* Of a message that goes in one segment; the kernel counts 64 bytes more for each. */
#define PIECE 8192
#define COST (PIECE + 64)
/* So many bytes a send buffer or a window may have beyond its size, or be short of it. */
#define SLACK (4 * COST)

static char piece[PIECE];

FIXTURE(tune)
{
	int ctx;
	int there;
	/* A channel: at this host, and at the peer's. */
	int chan;
	int end;
	/* Bytes of buffers that the user has without the channel. */
	uint64_t bytes;
	uint32_t linger_ms;
};

static uint64_t user_bytes(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_bytes.user;
}

/* Both ends are of one user: the peer's has the same buffers. */
static void open_pair(struct fixture_tune *self, uint32_t send_buffer, uint32_t recv_buffer)
{
	const struct opts o = { .tuning = { send_buffer, recv_buffer, 0, 0 } };
	int listener;

	self->bytes = user_bytes(self->ctx);
	listener = do_listen(self->there, SERVICE, &o);
	ASSERT_GE(listener, 0);
	self->chan = do_connect(self->ctx, SERVICE, &o);
	ASSERT_GE(self->chan, 0);
	self->end = do_accept(listener, TIMEOUT(10000));
	ASSERT_GE(self->end, 0);
	close(listener);
}

FIXTURE_SETUP(tune)
{
	struct rdmachan_info info;

	self->ctx = open_ctx();
	self->there = open_peer();
	self->chan = -1;
	self->end = -1;
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	self->linger_ms = info.out_linger_ms;
}

FIXTURE_TEARDOWN(tune)
{
	close(self->chan);
	close(self->end);
	await_no_links(self->ctx);
	EXPECT_TRUE(await_channels(self->ctx, 0));
	close(self->there);
	close(self->ctx);
}

static int do_tune(int chan, uint32_t send_buffer, uint32_t recv_buffer, uint32_t linger_ms,
		   struct rdmachan_error *error)
{
	struct rdmachan_tune_args tune = {
		.size = sizeof(tune), .send_buffer = send_buffer, .recv_buffer = recv_buffer,
		.linger_ms = linger_ms, .error_ptr = (uintptr_t)error,
	};

	if (error) {
		memset(error, 0xee, sizeof(*error));
		error->size = sizeof(*error);
	}
	return ioctl(chan, RDMACHAN_TUNE, &tune);
}

static void expect_values(int chan, uint32_t send_buffer, uint32_t recv_buffer, uint32_t linger_ms)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_EQ(object.send_buffer, send_buffer);
	EXPECT_EQ(object.recv_buffer, recv_buffer);
	EXPECT_EQ(object.linger_ms, linger_ms);
}

/* Until also what the peer holds can grow no more. Return: messages */
static int fill_all(int chan)
{
	int count = fill_up(chan, PIECE);

	EXPECT_GE(count, 0);
	return count;
}

static void receive(int chan, int count)
{
	char back[PIECE];

	while (count--)
		ASSERT_EQ(do_recv(chan, back, PIECE, NULL, TIMEOUT(10000)), 0);
}

static unsigned int parameter(const char *name)
{
	char path[80];
	unsigned int value;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/rdmachan/parameters/%s", name);
	file = fopen(path, "r");
	ASSERT_TRUE(file && fscanf(file, "%u", &value) == 1);
	fclose(file);
	return value;
}

/* So many messages are in the buffers between two ends whose sizes are these. */
static void expect_between(int count, uint64_t send_buffer, uint64_t recv_buffer)
{
	EXPECT_GE((uint64_t)count * COST + SLACK, send_buffer + recv_buffer);
	EXPECT_LE((uint64_t)count * COST, send_buffer + recv_buffer + SLACK);
}

TEST_F(tune, values)
{
	struct rdmachan_object object;
	struct rdmachan_info info;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_TUNE);
	open_pair(self, SMALL, MEDIUM);
	expect_values(self->chan, SMALL, MEDIUM, self->linger_ms);
	EXPECT_EQ(do_tune(self->chan, 0, 0, 0, NULL), 0);
	expect_values(self->chan, SMALL, MEDIUM, self->linger_ms);
	EXPECT_EQ(do_tune(self->chan, MEDIUM, 0, 0, NULL), 0);
	expect_values(self->chan, MEDIUM, MEDIUM, self->linger_ms);
	EXPECT_EQ(do_tune(self->chan, 0, SMALL, 77, NULL), 0);
	expect_values(self->chan, MEDIUM, SMALL, 77);
	EXPECT_EQ(do_tune(self->chan, RDMACHAN_BUFFER_MAX, RDMACHAN_BUFFER_MAX,
			  RDMACHAN_LINGER_NONE, NULL), 0);
	expect_values(self->chan, RDMACHAN_BUFFER_MAX, RDMACHAN_BUFFER_MAX, RDMACHAN_LINGER_NONE);
	talk(self->chan, self->end);
	/* The other end's are its own. */
	ASSERT_EQ(get_object(self->end, &object), 0);
	EXPECT_EQ(object.send_buffer, SMALL);
	EXPECT_EQ(object.recv_buffer, MEDIUM);
}

TEST_F(tune, out_of_range)
{
	const struct rdmachan_addr silent = address_of("10.77.0.99");
	struct rdmachan_connect_args connect;
	struct rdmachan_error error;

	open_pair(self, SMALL, SMALL);
	EXPECT_ERR(do_tune(self->chan, SMALL - 1, 0, 0, &error), EINVAL);
	EXPECT_EQ(error.cause, 0xeeeeeeeeU);
	EXPECT_ERR(do_tune(self->chan, RDMACHAN_BUFFER_MAX + 1, 0, 5, NULL), EINVAL);
	EXPECT_ERR(do_tune(self->chan, MEDIUM, SMALL - 1, 5, NULL), EINVAL);
	EXPECT_ERR(do_tune(self->chan, MEDIUM, ~0U, 5, NULL), EINVAL);
	EXPECT_ERR(do_tune(self->ctx, MEDIUM, 0, 0, NULL), ENOTTY);
	expect_values(self->chan, SMALL, SMALL, self->linger_ms);

	fill_connect(&connect, SERVICE, &(struct opts){ .flags = RDMACHAN_FD_F_NONBLOCK });
	connect.addr = silent;
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), 0);
	EXPECT_ERR(do_tune(connect.out_fd, MEDIUM, 0, 0, &error), ENOTCONN);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	close(connect.out_fd);
	ASSERT_EQ(do_shutdown(self->chan, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_ERR(do_tune(self->chan, MEDIUM, 0, 0, NULL), ENOTCONN);
}

/* The peer has closed: messages that have come may be read for long. */
TEST_F(tune, after_the_peer)
{
	open_pair(self, SMALL, SMALL);
	ASSERT_EQ(do_send(self->end, piece, PIECE, 0, NULL), 0);
	close(self->end);
	self->end = -1;
	EXPECT_TRUE(wait_state(self->chan, RDMACHAN_STATE_PEER_CLOSED, 5000));
	EXPECT_EQ(do_tune(self->chan, MEDIUM, MEDIUM, 5, NULL), 0);
	expect_values(self->chan, MEDIUM, MEDIUM, 5);
	receive(self->chan, 1);
}

/* A thread that sends a message, and may have to wait. */
struct sender {
	int chan;
	pid_t tid;
	int failed;
};

static void *send_one(void *arg)
{
	struct sender *s = arg;

	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	s->failed = do_send(s->chan, piece, PIECE, 0, TIMEOUT(20000)) ? errno : 0;
	return NULL;
}

TEST_F(tune, send_buffer_that_grows)
{
	struct sender sender = {};
	int first, second;
	pthread_t thread;

	open_pair(self, SMALL, SMALL);
	first = fill_all(self->chan);
	expect_between(first, SMALL, SMALL);
	/* One that waits goes on. */
	sender.chan = self->chan;
	ASSERT_EQ(pthread_create(&thread, NULL, send_one, &sender), 0);
	await_sleep(&sender.tid);
	EXPECT_EQ(do_tune(self->chan, LARGE, 0, 0, NULL), 0);
	pthread_join(thread, NULL);
	EXPECT_EQ(sender.failed, 0);
	EXPECT_TRUE(poll_mask(self->chan, POLLOUT, 0) & POLLOUT);
	second = 1 + fill_all(self->chan);
	expect_between(first + second, LARGE, SMALL);
	receive(self->end, first + second);
}

TEST_F(tune, send_buffer_that_shrinks)
{
	int count, left;

	open_pair(self, LARGE, SMALL);
	count = fill_all(self->chan);
	EXPECT_EQ(do_tune(self->chan, SMALL, 0, 0, NULL), 0);
	EXPECT_EQ(poll_mask(self->chan, POLLOUT, 0) & POLLOUT, 0);
	/* Nothing is lost; there is room again when all waiting messages fit. */
	for (left = count; left * COST > 3 * SMALL + SLACK; left--) {
		receive(self->end, 1);
		EXPECT_ERR(do_send(self->chan, piece, PIECE, 0, DONTWAIT), EAGAIN);
	}
	receive(self->end, left);
	EXPECT_EQ(poll_mask(self->chan, POLLOUT, 5000) & POLLOUT, POLLOUT);
	count = fill_all(self->chan);
	expect_between(count, SMALL, SMALL);
	receive(self->end, count);
}

struct slow_send {
	int chan;
	const char *data;
	int error;
};

static void *send_slowly(void *arg)
{
	struct slow_send *send = arg;

	slow_undisturbed();
	send->error = do_send(send->chan, send->data, LARGE / 2, 0, DONTWAIT) ? errno : 0;
	return NULL;
}

/*
 * A message is being copied without waiting, and its memory is slow. The room that the send buffer
 * gives up meanwhile is not charged any more, and so the message takes none of it.
 */
TEST_F(tune, send_buffer_that_shrinks_under_a_message)
{
	struct slow_send send = { .error = -1 };
	char back[PIECE];
	struct slow slow;
	pthread_t thread;
	uint64_t before;

	if (!slow_begin(&slow, LARGE / 2))
		SKIP("this kernel has no userfaultfd");
	open_pair(self, LARGE, SMALL);
	send.chan = self->chan;
	send.data = slow.memory;
	ASSERT_EQ(pthread_create(&thread, NULL, send_slowly, &send), 0);
	slow_met(&slow);
	before = user_bytes(self->ctx);
	EXPECT_EQ(do_tune(self->chan, SMALL, 0, 0, NULL), 0);
	EXPECT_EQ(user_bytes(self->ctx), before - (LARGE - SMALL));
	slow_end(&slow);
	pthread_join(thread, NULL);
	EXPECT_EQ(send.error, EMSGSIZE);
	/* Nothing of it is received, and the channel goes on. */
	EXPECT_EQ(do_send(self->chan, piece, PIECE, 7, NULL), 0);
	ASSERT_EQ(do_recv(self->end, back, PIECE, NULL, TIMEOUT(10000)), 0);
}

/* A message that is larger than the send buffer is one that a call without waiting cannot send. */
TEST_F(tune, send_buffer_and_message_size)
{
	static char large[2 * SMALL];
	struct rdmachan_error error;
	const struct opts o = { .flags = RDMACHAN_IO_F_DONTWAIT, .error = &error };

	open_pair(self, SMALL, LARGE);
	EXPECT_ERR(do_send(self->chan, large, sizeof(large), 0, &o), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SEND_BUFFER);
	EXPECT_EQ(do_tune(self->chan, MEDIUM, 0, 0, NULL), 0);
	EXPECT_EQ(do_send(self->chan, large, sizeof(large), 0, &o), 0);
	EXPECT_EQ(do_recv(self->end, large, sizeof(large), NULL, TIMEOUT(5000)), 0);
	EXPECT_EQ(do_tune(self->chan, SMALL, 0, 0, NULL), 0);
	EXPECT_ERR(do_send(self->chan, large, sizeof(large), 0, &o), EMSGSIZE);
	EXPECT_EQ(error.detail, SMALL);
}

/* The peer is told of more room, even if it is little, and though nobody reads. */
TEST_F(tune, recv_buffer_that_grows)
{
	static const uint32_t sizes[] = { SMALL + 2 * COST, MEDIUM, LARGE };
	unsigned int i;
	int count;

	open_pair(self, SMALL, SMALL);
	count = fill_all(self->chan);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(do_tune(self->end, 0, sizes[i], 0, NULL), 0);
		count += fill_all(self->chan);
		expect_between(count, SMALL, sizes[i]);
	}
	receive(self->end, count);
}

/* Bytes that the peer was promised may come. Then the window is the smaller one. */
TEST_F(tune, recv_buffer_that_shrinks)
{
	int count, more;

	open_pair(self, SMALL, LARGE);
	EXPECT_EQ(do_tune(self->end, 0, SMALL, 0, NULL), 0);
	count = fill_all(self->chan);
	expect_between(count, SMALL, LARGE);
	/* All of it can be read, and while the rest is more than fits nothing comes. */
	receive(self->end, count / 2);
	more = fill_all(self->chan);
	EXPECT_LE(more, 2);
	receive(self->end, count - count / 2 + more);
	count = fill_all(self->chan);
	expect_between(count, SMALL, SMALL);
	receive(self->end, count);
	talk(self->chan, self->end);
}

/* A message larger than the receive buffer, of whatever size, goes on coming. */
TEST_F(tune, recv_buffer_and_large_message)
{
	static char large[LARGE], back[LARGE];
	int status, i;
	pid_t child;

	open_pair(self, SMALL, LARGE);
	fill_random(large, sizeof(large), 1);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(do_tune(self->end, 0, i % 2 ? LARGE : SMALL, 0, NULL), 0);
		child = fork();
		if (!child)
			_exit(do_send(self->chan, large, sizeof(large), 0, TIMEOUT(20000)) ?
			      errno : 0);
		sleep_ms(i);
		EXPECT_EQ(do_tune(self->end, 0, i % 3 ? SMALL : MEDIUM, 0, NULL), 0);
		memset(back, 0, sizeof(back));
		ASSERT_EQ(do_recv(self->end, back, sizeof(back), NULL, TIMEOUT(10000)), 0);
		EXPECT_TRUE(is_random(back, sizeof(back), 1));
		status = child_status(child);
		EXPECT_EQ(status, 0);
	}
}

/* Bytes of buffers that are charged for the channel's two ends. */
static uint64_t charged(struct fixture_tune *self)
{
	return user_bytes(self->ctx) - self->bytes;
}

static bool await_charged(struct fixture_tune *self, uint64_t bytes)
{
	int64_t until = now_ms() + 5000;

	while (charged(self) != bytes) {
		if (now_ms() > until)
			return false;
		sleep_ms(1);
	}
	return true;
}

/* A program pays for what the kernel may hold for it, and not less by making a buffer smaller. */
TEST_F(tune, charge)
{
	int count, i;

	open_pair(self, SMALL, SMALL);
	EXPECT_EQ(charged(self), 4 * SMALL);
	EXPECT_EQ(do_tune(self->chan, LARGE, 0, 0, NULL), 0);
	EXPECT_EQ(charged(self), LARGE + 3 * SMALL);
	EXPECT_EQ(do_tune(self->end, 0, LARGE, 0, NULL), 0);
	EXPECT_EQ(charged(self), 2 * LARGE + 2 * SMALL);
	count = fill_all(self->chan);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(do_tune(self->chan, i % 2 ? MEDIUM : SMALL, 0, 0, NULL), 0);
		EXPECT_EQ(do_tune(self->end, 0, i % 2 ? MEDIUM : SMALL, 0, NULL), 0);
		EXPECT_EQ(charged(self), 2 * LARGE + 2 * SMALL);
	}
	receive(self->end, count);
	EXPECT_TRUE(await_charged(self, 4 * SMALL));
	EXPECT_EQ(do_tune(self->end, MEDIUM, MEDIUM, 0, NULL), 0);
	EXPECT_EQ(charged(self), 2 * MEDIUM + 2 * SMALL);
	EXPECT_EQ(do_tune(self->end, SMALL, SMALL, 0, NULL), 0);
	/* The peer has been promised what the larger one had room for, and may send it. */
	EXPECT_EQ(charged(self), MEDIUM + 3 * SMALL);
	count = fill_all(self->chan);
	receive(self->end, count);
	EXPECT_TRUE(await_charged(self, 4 * SMALL));
	close(self->chan);
	close(self->end);
	self->chan = -1;
	self->end = -1;
	EXPECT_TRUE(await_charged(self, 0));
}

/* What is thrown away is not paid for, though the channel's file stays open. */
TEST_F(tune, charge_of_what_is_thrown_away)
{
	int closes;

	for (closes = 0; closes < 2; closes++) {
		open_pair(self, LARGE, SMALL);
		fill_all(self->chan);
		EXPECT_EQ(do_tune(self->chan, SMALL, 0, 0, NULL), 0);
		EXPECT_EQ(charged(self), 2 * LARGE + 2 * SMALL);
		if (!closes) {
			/* The peer reads no more; or closes with messages unread. */
			EXPECT_EQ(do_shutdown(self->end, RDMACHAN_SHUTDOWN_RECV), 0);
			EXPECT_TRUE(await_charged(self, LARGE + 3 * SMALL));
		}
		close(self->end);
		self->end = -1;
		EXPECT_TRUE(await_charged(self, 2 * SMALL));
		close(self->chan);
		self->chan = -1;
		EXPECT_TRUE(await_charged(self, 0));
		await_no_links(self->ctx);
	}
}

/* What a smaller buffer gives back with each message that is read comes in lumps. */
TEST_F(tune, charge_in_lumps)
{
	uint64_t now, before;
	int count = 0, lumps = 0;

	open_pair(self, SMALL, LARGE);
	EXPECT_EQ(do_tune(self->end, 0, SMALL, 0, NULL), 0);
	before = charged(self);
	EXPECT_EQ(before, 2 * LARGE + 2 * SMALL);
	while (!do_send(self->chan, piece, 1000, 0, DONTWAIT))
		count++;
	EXPECT_GT(count, 300);
	while (count--) {
		receive(self->end, 1);
		now = charged(self);
		EXPECT_LE(now, before);
		lumps += now != before;
		before = now;
	}
	EXPECT_LE(lumps, 4 * (LARGE - SMALL) / SMALL + 1);
	EXPECT_GT(lumps, LARGE / SMALL);
}

/* Fill all there is, and make a little room again. Return: messages */
static int nearly_fill_all(struct fixture_tune *self)
{
	int count = fill_all(self->chan), back = 0;

	do {
		receive(self->end, 1);
		back++;
	} while (!(poll_mask(self->chan, POLLOUT, 200) & POLLOUT));
	return count - back;
}

static char large[LARGE];

/* One that does not wait begins when there is any room: what goes beyond that is paid for. */
TEST_F(tune, charge_of_a_message_that_does_not_wait)
{
	char *back = malloc(LARGE);
	int count, turn;

	open_pair(self, LARGE, SMALL);
	for (turn = 0; turn < 3; turn++) {
		count = nearly_fill_all(self);
		EXPECT_EQ(charged(self), 2 * LARGE + 2 * SMALL);
		ASSERT_EQ(do_send(self->chan, large, LARGE, 0, DONTWAIT), 0);
		EXPECT_GE(charged(self), 3 * LARGE + 2 * SMALL - SMALL / 2 - SLACK);
		EXPECT_LE(charged(self), 3 * LARGE + 2 * SMALL);
		receive(self->end, count);
		ASSERT_EQ(do_recv(self->end, back, LARGE, NULL, TIMEOUT(10000)), 0);
		EXPECT_TRUE(await_charged(self, 2 * LARGE + 2 * SMALL));
	}
	free(back);
}

/* Its memory is bad: nothing more is paid for then. */
TEST_F(tune, charge_of_a_message_that_fails)
{
	char *bad = mmap(NULL, LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	open_pair(self, LARGE, SMALL);
	nearly_fill_all(self);
	EXPECT_ERR(do_send(self->chan, bad, LARGE, 0, DONTWAIT), EFAULT);
	EXPECT_EQ(charged(self), 2 * LARGE + 2 * SMALL);
	munmap(bad, LARGE);
}

/* Go on as a user without CAP_SYS_RESOURCE, who has a MiB. */
static void become_limited(struct fixture_tune *self)
{
	set_parameter("user_buffer_mib", 1);
	close(self->ctx);
	ASSERT_EQ(setresuid(-1, 1000, -1), 0);
	self->ctx = open_ctx();
	close(self->there);
	self->there = open_peer();
}

/* A limit is in the way of it: then nothing is sent. */
TEST_F(tune, limit_of_a_message_that_does_not_wait)
{
	const unsigned int limit = parameter("user_buffer_mib");
	struct rdmachan_error error;
	int count;

	become_limited(self);
	open_pair(self, SMALL, SMALL);
	ASSERT_EQ(setresuid(-1, 0, -1), 0);
	ASSERT_EQ(do_tune(self->chan, 10 * SMALL, 0, 0, &error), 0);
	count = nearly_fill_all(self);
	EXPECT_ERR(do_send(self->chan, large, 10 * SMALL, 0, DONTWAIT), ENOBUFS);
	ASSERT_EQ(get_error(self->chan, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_BYTES);
	EXPECT_EQ(error.op, RDMACHAN_OP_SEND);
	EXPECT_EQ(error.limit, 1 << 20);
	EXPECT_EQ(error.used, 13 * SMALL);
	EXPECT_GT(error.needed, (1 << 20) - 13 * SMALL);
	EXPECT_EQ(charged(self), 13 * SMALL);
	receive(self->end, count);
	/* When the buffer is empty it is large enough. */
	EXPECT_EQ(poll_mask(self->chan, POLLOUT, 10000) & POLLOUT, POLLOUT);
	talk(self->chan, self->end);
	set_parameter("user_buffer_mib", limit);
}

/* A limit in the way of one buffer: neither changes. */
TEST_F(tune, limit)
{
	const struct opts o = { .tuning = { SMALL, SMALL, 0, 0 } };
	const unsigned int limit = parameter("user_buffer_mib");
	struct rdmachan_error error;
	int listener;

	become_limited(self);
	listener = do_listen(self->there, SERVICE, &o);
	ASSERT_GE(listener, 0);
	self->chan = do_connect(self->ctx, SERVICE, &o);
	ASSERT_GE(self->chan, 0);
	self->end = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(self->end, 0);
	close(listener);
	ASSERT_EQ(setresuid(-1, 0, -1), 0);
	EXPECT_ERR(do_tune(self->chan, LARGE, 0, 0, &error), ENOBUFS);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_BYTES);
	EXPECT_EQ(error.op, RDMACHAN_OP_TUNE);
	EXPECT_EQ(error.limit, 1 << 20);
	EXPECT_EQ(error.used, 4 * SMALL);
	EXPECT_EQ(error.needed, LARGE - SMALL);
	EXPECT_EQ(error.service, SERVICE);
	EXPECT_ERR(do_tune(self->chan, 0, LARGE, 0, &error), ENOBUFS);
	EXPECT_ERR(do_tune(self->chan, 10 * SMALL, 10 * SMALL, 5, &error), ENOBUFS);
	expect_values(self->chan, SMALL, SMALL, self->linger_ms);
	EXPECT_EQ(user_bytes(self->ctx), 4 * SMALL);
	EXPECT_EQ(do_tune(self->chan, 10 * SMALL, 0, 0, &error), 0);
	/* The peer has opened this end: what its program asks for is of the user's own share. */
	EXPECT_EQ(do_tune(self->end, 2 * SMALL, 0, 0, NULL), 0);
	EXPECT_ERR(do_tune(self->end, 5 * SMALL, 0, 0, &error), ENOBUFS);
	EXPECT_EQ(error.limit, 1 << 20);
	EXPECT_ERR(do_tune(self->end, 0, 4 * SMALL, 0, &error), ENOBUFS);
	EXPECT_EQ(do_tune(self->end, SMALL, 3 * SMALL, 0, &error), 0);
	EXPECT_EQ(do_tune(self->end, 0, SMALL, 0, &error), 0);
	/* The smaller one gives nothing to the larger one in the same call. */
	EXPECT_ERR(do_tune(self->chan, SMALL, 10 * SMALL, 0, &error), ENOBUFS);
	expect_values(self->chan, 10 * SMALL, SMALL, self->linger_ms);
	EXPECT_EQ(do_tune(self->chan, SMALL, 0, 0, &error), 0);
	EXPECT_EQ(do_tune(self->chan, 0, 10 * SMALL, 0, &error), 0);
	talk(self->chan, self->end);
	set_parameter("user_buffer_mib", limit);
}

TEST_F(tune, limit_of_all)
{
	const unsigned int limit = parameter("all_buffer_mib");
	struct rdmachan_error error;

	open_pair(self, SMALL, SMALL);
	set_parameter("all_buffer_mib", 1);
	EXPECT_ERR(do_tune(self->chan, LARGE, 0, 0, &error), ENOSPC);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TOTAL_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_BYTES);
	set_parameter("all_buffer_mib", limit);
	expect_values(self->chan, SMALL, SMALL, self->linger_ms);
	talk(self->chan, self->end);
}

/* close() does what the last TUNE has said. */
TEST_F(tune, linger)
{
	struct rdmachan_error error;
	int i;

	for (i = 0; i < 2; i++) {
		open_pair(self, LARGE, SMALL);
		EXPECT_EQ(do_tune(self->chan, 0, 0, RDMACHAN_LINGER_NONE, NULL), 0);
		if (i)
			EXPECT_EQ(do_tune(self->chan, 0, 0, 5000, NULL), 0);
		fill_all(self->chan);
		close(self->chan);
		self->chan = -1;
		while (!do_recv(self->end, piece, PIECE, NULL, TIMEOUT(5000)) &&
		       !(poll_mask(self->end, POLLRDHUP, 0) & POLLHUP))
			;
		ASSERT_EQ(get_error(self->end, &error), 0);
		EXPECT_EQ(error.cause,
			  i ? RDMACHAN_CAUSE_PEER_CLOSED : RDMACHAN_CAUSE_PEER_RESET);
		close(self->end);
		self->end = -1;
		await_no_links(self->ctx);
	}
}

/* Threads of the stress: each has one end of the channel, and one thing to do with it. */
struct worker {
	int chan;
	uint64_t seed;
	int messages;
	bool *over;
	int failed;
};

#define LONGEST (6 * SMALL)

static void *send_all(void *arg)
{
	struct worker *w = arg;
	char *data = malloc(LONGEST);
	uint64_t seed = w->seed, length;
	int i;

	for (i = 0; i < w->messages && !w->failed; i++) {
		length = next_random(&seed) % (i % 4 ? 3000 : LONGEST);
		fill_random(data, length, i);
		if (do_send(w->chan, data, length, i & 0xffff, TIMEOUT(30000)))
			w->failed = errno;
	}
	free(data);
	return NULL;
}

static void *recv_all(void *arg)
{
	struct worker *w = arg;
	char *data = malloc(LONGEST);
	uint64_t seed = w->seed, length;
	struct rdmachan_recv_args recv;
	int i;

	for (i = 0; i < w->messages && !w->failed; i++) {
		length = next_random(&seed) % (i % 4 ? 3000 : LONGEST);
		if (do_recv(w->chan, data, LONGEST, &recv, TIMEOUT(30000)))
			w->failed = errno;
		else if (recv.out_length != length || !is_random(data, length, i))
			w->failed = EBADMSG;
	}
	free(data);
	return NULL;
}

static void *tune_always(void *arg)
{
	struct worker *w = arg;
	uint64_t seed = w->seed;
	uint32_t send_buffer, recv_buffer;

	while (!__atomic_load_n(w->over, __ATOMIC_ACQUIRE) && !w->failed) {
		send_buffer = SMALL + next_random(&seed) % LARGE;
		recv_buffer = SMALL + next_random(&seed) % LARGE;
		if (do_tune(w->chan, send_buffer, recv_buffer, 0, NULL))
			w->failed = errno;
		/* Also without virtual time others have their turn. */
		sleep_ms(next_random(&seed) % 2);
		if (time_is_virtual())
			pause_ns(next_random(&seed) % 50000);
	}
	return NULL;
}

/*
 * Both directions are full of messages, of which some are larger than a buffer, and two threads
 * change the buffers of each end all the time. No message is lost, nobody stands still, and in the
 * end no more and no less is charged than the buffers are.
 */
TEST_F_TIMEOUT(tune, under_load, 300)
{
	struct rdmachan_object object;
	struct worker workers[8] = {};
	pthread_t threads[8];
	bool over = false;
	int i;

	open_pair(self, SMALL, SMALL);
	for (i = 0; i < 8; i++) {
		workers[i].chan = i % 2 ? self->end : self->chan;
		workers[i].over = &over;
		workers[i].messages = turns(400);
		/* Each receiving thread knows the bytes that the other end sends. */
		workers[i].seed = i < 2 ? 1 + i : i < 4 ? 1 + !(i - 2) : 1 + i;
		ASSERT_EQ(pthread_create(&threads[i], NULL,
					 i < 2 ? send_all : i < 4 ? recv_all : tune_always,
					 &workers[i]), 0);
	}
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (i = 4; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(workers[i].failed, 0);
	for (i = 0; i < 2; i++) {
		/* Bytes promised beyond a smaller buffer are used up by as many messages. */
		EXPECT_EQ(do_tune(self->chan, SMALL, SMALL, 0, NULL), 0);
		EXPECT_EQ(do_tune(self->end, SMALL, SMALL, 0, NULL), 0);
		receive(self->end, fill_all(self->chan));
		receive(self->chan, fill_all(self->end));
	}
	ASSERT_EQ(get_object(self->chan, &object), 0);
	EXPECT_EQ(object.tx_queued, 0);
	EXPECT_EQ(object.rx_queued, 0);
	EXPECT_TRUE(await_charged(self, 4 * SMALL));
}

TEST_HARNESS_MAIN
