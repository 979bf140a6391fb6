// SPDX-License-Identifier: GPL-2.0
/*
 * stand_test.c - receives into regions whose memory is lent before a message asks for it
 *
 * Anything comes instead of the message, or ends the receive: each operation completes
 * once, no message is lost or comes twice, and nobody writes to its memory afterwards.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"
#include "region_fixture.h"
#include "slow.h"

#define LEN 65536UL
/* Tags of operations. */
#define RECV 1
#define SEND 2
#define CANCEL 3

/* Set the results of @count completions, by their tags. */
static void results(struct queue *q, int count, int64_t *res)
{
	struct rdmachan_cqe cqe;

	while (count--) {
		ASSERT_TRUE(queue_wait(q, &cqe));
		ASSERT_LE(cqe.user_data, CANCEL);
		res[cqe.user_data] = cqe.res;
	}
	ASSERT_EQ(queue_ready(q), 0);
}

static void send_now(struct fixture_region *self, size_t len, uint64_t number)
{
	fill_random(self->from, len, number);
	region_send(&self->q, self->a, self->from_id, 0, len, SEND)->msg_flags = number;
	ASSERT_EQ(queue_submit(&self->q), 1);
}

/* On a new channel, a message that was not lent for: after it the next receive lends. */
static void first_from(struct fixture_region *self, int from)
{
	int64_t res[4] = {};
	int fds[2];

	close(self->a);
	close(self->b);
	pair_up(self->ctx, fds, NULL);
	self->a = fds[from];
	self->b = fds[!from];
	region_recv(&self->q, self->b, self->to_id, 0, SIZE, RECV);
	ASSERT_EQ(queue_submit(&self->q), 1);
	send_now(self, LEN, 77);
	results(&self->q, 2, res);
	ASSERT_EQ(res[RECV], LEN);
	ASSERT_TRUE(is_random(self->to, LEN, 77));
}

static void first_message(struct fixture_region *self)
{
	first_from(self, 0);
}

static void receive(struct fixture_region *self, size_t room)
{
	memset(self->to, 0x55, SIZE);
	region_recv(&self->q, self->b, self->to_id, 0, room, RECV);
	ASSERT_EQ(queue_submit(&self->q), 1);
}

/* The same; the sender has heard of it, as a frame has come. */
static void lend(struct fixture_region *self, size_t room)
{
	uint64_t frames = frames_received(self->ctx);

	receive(self, room);
	await_frame(self, frames);
}

static bool is_untouched(const struct fixture_region *self, size_t from)
{
	for (; from < SIZE; from++)
		if (self->to[from] != 0x55)
			return false;
	return true;
}

static void one_message(struct fixture_region *self, size_t len, uint64_t number)
{
	struct rdmachan_cqe cqe;
	int i;

	send_now(self, len, number);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_EQ(cqe.res, len);
		if (cqe.user_data != RECV)
			continue;
		ASSERT_EQ(cqe.length, len);
		ASSERT_EQ(cqe.msg_flags, number);
	}
	ASSERT_TRUE(is_random(self->to, len, number));
	ASSERT_TRUE(is_untouched(self, len));
}

/* The next messages come, whatever became of those before. */
static void goes_on(struct fixture_region *self)
{
	int i;

	for (i = 0; i < 3; i++) {
		receive(self, SIZE);
		one_message(self, LEN + i, i);
	}
}

static void *submit_one(void *arg)
{
	slow_undisturbed();
	return (void *)(long)queue_submit(arg);
}

/*
 * The device goes while memory is lent, and while the thread that would run the queue's operations
 * waits for memory of its program, for as long as that likes.
 */
TEST_F_TIMEOUT(region, device_removed_and_a_thread_is_stuck, 60)
{
	int64_t res[4] = {}, begun;
	struct slow slow;
	pthread_t thread;
	void *ret;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	if (!slow_begin(&slow, PAGE))
		SKIP("this kernel has no userfaultfd");
	/* The other host sends. */
	first_from(self, 1);
	receive(self, LEN);
	queue_send(&self->q, self->b, slow.memory, 8, SEND);
	ASSERT_EQ(pthread_create(&thread, NULL, submit_one, &self->q), 0);
	slow_met(&slow);
	begun = now_ms();
	EXPECT_EQ(remove_device(), 0);
	/* Four dead times otherwise. */
	EXPECT_LT(now_ms() - begun, 10000);
	slow_end(&slow);
	pthread_join(thread, &ret);
	EXPECT_EQ((long)ret, 1);
	results(&self->q, 2, res);
	EXPECT_EQ(res[RECV], -ENODEV);
	EXPECT_EQ(res[SEND], -ENODEV);
	EXPECT_EQ(add_device(), 0);
}

/* Without an RTS: two frames for a message, and not three; others may come between. */
TEST_F(region, saves_frames)
{
	struct rdmachan_object object;
	int i, cheap = 0;
	uint64_t frames;

	first_message(self);
	for (i = 0; i < 40; i++) {
		frames = pair_frames(self->ctx, self->peer);
		lend(self, LEN);
		one_message(self, LEN - i, i);
		cheap += pair_frames(self->ctx, self->peer) - frames <= 2;
	}
	printf("# %d of %d messages with two frames\n", cheap, i);
	EXPECT_GE(cheap, time_is_virtual() ? i : i / 2);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.tx_placed, 41);
	EXPECT_EQ(object.tx_messages, 41);
}

/* Send on @chan, and receive what comes as an answer at @offset, as one call says. */
static void ask(struct fixture_region *self, int chan, uint64_t offset)
{
	region_send(&self->q, chan, self->from_id, 0, LEN, SEND)->flags |=
		RDMACHAN_SQE_F_SKIP_SUCCESS;
	region_recv(&self->q, chan, self->to_id, offset, LEN, RECV);
	ASSERT_EQ(queue_submit(&self->q), 2);
}

static void answer_comes(struct fixture_region *self)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	ASSERT_EQ(cqe.res, LEN);
	ASSERT_EQ(cqe.user_data, RECV);
}

/*
 * Memory for the answer is lent in the frame that ends the message, even where the adapter
 * takes its time to open it: else the answer may ask before it has heard, and takes three.
 */
TEST_F(region, lends_with_the_message)
{
	struct rdmachan_object object;
	uint64_t frames = 0;
	int i;

	first_message(self);
	region_recv(&self->q, self->b, self->to_id, 0, LEN, RECV);
	ASSERT_EQ(queue_submit(&self->q), 1);
	for (i = 0; i < 60; i++) {
		if (i == 20)
			frames = pair_frames(self->ctx, self->peer);
		ask(self, i % 2 ? self->b : self->a, i % 2 ? 0 : LEN);
		answer_comes(self);
	}
	frames = pair_frames(self->ctx, self->peer) - frames;
	printf("# %llu frames for 40 messages\n", (unsigned long long)frames);
	EXPECT_LE(frames, time_is_virtual() ? 40 : 60);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_GE(object.tx_placed, 25);
}

static const size_t sizes[] = { 32768, 65535, 65536, MIB - 1, MIB, MIB + 1, SIZE };

/* Lent memory is as long as one key reaches: larger messages ask. */
TEST_F(region, all_sizes)
{
	struct rdmachan_object object;
	size_t i;

	first_message(self);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		lend(self, SIZE);
		one_message(self, sizes[i], i);
		goes_on(self);
	}
	ASSERT_EQ(get_object(self->b, &object), 0);
	EXPECT_EQ(object.rx_placed, 1 + i * 4);
}

/* Messages that are copied come to the receive that has lent its memory. */
TEST_F(region, small_message_instead)
{
	int64_t res[4] = {};
	int i;

	for (i = 0; i < 20; i++) {
		first_message(self);
		lend(self, LEN);
		ASSERT_EQ(write(self->a, &i, sizeof(i)), sizeof(i));
		results(&self->q, 1, res);
		ASSERT_EQ(res[RECV], sizeof(i));
		ASSERT_EQ(memcmp(self->to, &i, sizeof(i)), 0);
		ASSERT_TRUE(is_untouched(self, sizeof(i)));
	}
	goes_on(self);
}

/* So do those that others write, which ask on their own. */
TEST_F(region, thread_writes_instead)
{
	char *data = malloc(LEN);
	int64_t res[4] = {};
	int i;

	for (i = 0; i < 10; i++) {
		first_message(self);
		lend(self, LEN);
		fill_random(data, LEN, i);
		ASSERT_EQ(write(self->a, data, LEN), LEN);
		results(&self->q, 1, res);
		ASSERT_EQ(res[RECV], LEN);
		ASSERT_TRUE(is_random(self->to, LEN, i));
	}
	free(data);
	goes_on(self);
}

TEST_F(region, message_too_large_for_it)
{
	struct rdmachan_cqe cqe;
	int64_t res[4] = {};

	first_message(self);
	lend(self, LEN);
	send_now(self, 2 * LEN, 5);
	do {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
	} while (cqe.user_data != RECV);
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.length, 2 * LEN);
	EXPECT_TRUE(is_untouched(self, 0));
	receive(self, SIZE);
	while (res[RECV] != 2 * LEN) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_EQ(cqe.res, 2 * LEN);
		res[cqe.user_data] = cqe.res;
	}
	EXPECT_TRUE(is_random(self->to, 2 * LEN, 5));
	while (queue_ready(&self->q))
		queue_next(&self->q, &cqe);
	goes_on(self);
}

/* A cancelled operation ends when the peer has said that it will not write there. */
TEST_F(region, cancelled)
{
	int64_t res[4] = {};
	int i;

	for (i = 0; i < 10; i++) {
		first_message(self);
		lend(self, LEN);
		queue_cancel(&self->q, RECV, 0, CANCEL);
		ASSERT_EQ(queue_submit(&self->q), 1);
		results(&self->q, 2, res);
		ASSERT_EQ(res[RECV], -ECANCELED);
		ASSERT_TRUE(res[CANCEL] == 1 || res[CANCEL] == -EALREADY);
		send_now(self, LEN, 9);
		results(&self->q, 1, res);
		ASSERT_EQ(res[SEND], LEN);
		ASSERT_TRUE(is_untouched(self, 0));
		receive(self, LEN);
		results(&self->q, 1, res);
		ASSERT_EQ(res[RECV], LEN);
		ASSERT_TRUE(is_random(self->to, LEN, 9));
	}
}

/* The message, and the cancel before it, behind it, or some time before it. */
static void cancel_and_send(struct fixture_region *self, int i)
{
	if (i % 3)
		queue_cancel(&self->q, RECV, 0, CANCEL);
	if (i % 3 == 2) {
		ASSERT_EQ(queue_submit(&self->q), 1);
		pause_ns(i * 7 % 60 * 1000);
	}
	region_send(&self->q, self->a, self->from_id, 0, LEN, SEND);
	if (!(i % 3))
		queue_cancel(&self->q, RECV, 0, CANCEL);
	ASSERT_EQ(queue_submit(&self->q), i % 3 == 2 ? 1 : 2);
}

/* Either the message comes, or the receive is cancelled and the next one gets it. */
TEST_F_TIMEOUT(region, cancelled_in_the_middle, 120)
{
	int64_t res[4] = {};
	int i, cancelled = 0;

	for (i = 0; i < 200; i++) {
		first_message(self);
		receive(self, LEN);
		pause_ns(i * 37 % 500 * 1000);
		cancel_and_send(self, i);
		results(&self->q, 3, res);
		ASSERT_EQ(res[SEND], LEN);
		if (res[RECV] < 0) {
			ASSERT_EQ(res[RECV], -ECANCELED);
			cancelled++;
			ASSERT_TRUE(is_untouched(self, 0));
			receive(self, LEN);
			results(&self->q, 1, res);
		} else {
			ASSERT_LT(res[CANCEL], 0);
		}
		ASSERT_EQ(res[RECV], LEN);
		ASSERT_TRUE(is_random(self->to, LEN, 77));
	}
	printf("# %d of %d were cancelled\n", cancelled, i);
	EXPECT_BOTH(cancelled, i);
}

TEST_F(region, time_is_over)
{
	int64_t res[4] = {}, begun;
	unsigned int ms;

	for (ms = 1; ms < 50; ms += 10) {
		first_message(self);
		region_recv(&self->q, self->b, self->to_id, 0, LEN, RECV)->timeout_ms = ms;
		begun = tick_ms();
		ASSERT_EQ(queue_submit(&self->q), 1);
		results(&self->q, 1, res);
		ASSERT_EQ(res[RECV], -ETIMEDOUT);
		/*
		 * Whole ticks, whose count is behind by one at times, and the round trip in which
		 * the memory is asked back.
		 */
		EXPECT_TOOK(begun, ms, 2 * KERNEL_TICK_MS + LIMIT_LATE(ms) + 1);
	}
	goes_on(self);
}

TEST_F(region, shutdown_here)
{
	int64_t res[4] = { [RECV] = -1 };

	first_message(self);
	lend(self, LEN);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	results(&self->q, 1, res);
	EXPECT_EQ(res[RECV], 0);
	EXPECT_TRUE(is_untouched(self, 0));
}

TEST_F(region, shutdown_there)
{
	int64_t res[4] = { [RECV] = -1 };

	first_message(self);
	lend(self, LEN);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	results(&self->q, 1, res);
	EXPECT_EQ(res[RECV], 0);
	EXPECT_TRUE(is_untouched(self, 0));
}

TEST_F(region, closed_there)
{
	int64_t res[4] = { [RECV] = -1 };

	first_message(self);
	lend(self, LEN);
	close(self->a);
	results(&self->q, 1, res);
	EXPECT_EQ(res[RECV], 0);
	EXPECT_TRUE(is_untouched(self, 0));
}

TEST_F(region, killed_there)
{
	int64_t res[4] = { [RECV] = -1 };
	pid_t child;

	first_message(self);
	child = LATER(0, sleep(1000));
	lend(self, LEN);
	close(self->a);
	kill(child, SIGKILL);
	child_status(child);
	results(&self->q, 1, res);
	EXPECT_EQ(res[RECV], -ECONNRESET);
	EXPECT_TRUE(is_untouched(self, 0));
}

/* The region is free soon, and nothing is lost. */
TEST_F(region, queue_closed)
{
	int64_t res[4] = {};
	struct queue other;
	int i;

	for (i = 0; i < 30; i++) {
		first_message(self);
		ASSERT_EQ(queue_open(self->ctx, &other, 8, 8), 0);
		region_recv(&other, self->b, self->to_id, 0, LEN, RECV);
		ASSERT_EQ(queue_submit(&other), 1);
		pause_ns(i * 97 % (i % 2 ? 100 : 2000) * 1000);
		queue_close(&other);
		ASSERT_TRUE(unregister_soon(self->ctx, self->to_id));
		self->to_id = region_of(self->ctx, self->to, SIZE);
		memset(self->to, 0x55, SIZE);
		send_now(self, LEN, i);
		results(&self->q, 1, res);
		ASSERT_TRUE(is_untouched(self, 0));
		receive(self, LEN);
		results(&self->q, 1, res);
		ASSERT_EQ(res[RECV], LEN);
		ASSERT_TRUE(is_random(self->to, LEN, i));
	}
}

#define CHANNELS 6

/* Keys are few: those who do not get one to lend wait for messages that ask. */
TEST_F(region, more_channels_than_keys)
{
	int fds[CHANNELS][2], i, round;
	struct rdmachan_cqe cqe;

	for (i = 0; i < CHANNELS; i++)
		pair_up(self->ctx, fds[i], NULL);
	for (round = 0; round < 10; round++) {
		for (i = 0; i < CHANNELS; i++)
			region_recv(&self->q, fds[i][1], self->to_id, i * LEN, LEN, i);
		ASSERT_EQ(queue_submit(&self->q), CHANNELS);
		for (i = CHANNELS - 1; i >= 0; i--) {
			fill_random(self->from, LEN, round * CHANNELS + i);
			region_send(&self->q, fds[i][0], self->from_id, 0, LEN, CHANNELS);
			ASSERT_EQ(queue_submit(&self->q), 1);
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			ASSERT_EQ(cqe.res, LEN);
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			ASSERT_EQ(cqe.res, LEN);
			ASSERT_TRUE(is_random(self->to + i * LEN, LEN, round * CHANNELS + i));
		}
	}
	for (i = 0; i < CHANNELS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

/*
 * Where a message is. The adapter siw takes the bytes from the program's pages even after it has
 * said that they are sent, as TCP has the pages then and not the bytes. With it, the next message
 * is elsewhere.
 */
static uint64_t place_of(uint64_t number)
{
	const char *device = getenv("LAB_RDMA");

	return device && !strncmp(device, "siw", 3) ? number % 16 * (SIZE / 16) : 0;
}

/* Sends messages of all kinds, each filled by its number. Ends with one of no bytes. */
static void *send_mixed(void *arg)
{
	struct fixture_region *self = arg;
	struct rdmachan_cqe cqe;
	uint64_t seed = 5, i, len, at;
	struct queue q;

	if (queue_open(self->ctx, &q, 8, 8))
		return NULL;
	for (i = 0; i < 400; i++) {
		len = 1 + next_random(&seed) % (i % 3 ? 200 : LEN * 3);
		at = place_of(i);
		fill_random(self->from + at, len, i);
		if (i % 5) {
			region_send(&q, self->a, self->from_id, at, len, SEND);
			if (queue_submit(&q) != 1 || !queue_wait(&q, &cqe) ||
			    cqe.res != (int64_t)len)
				break;
		} else if (write(self->a, self->from + at, len) != (ssize_t)len) {
			break;
		}
		if (!(next_random(&seed) % 4))
			usleep(next_random(&seed) % 2000);
	}
	queue_close(&q);
	return do_send(self->a, "", 0, 0, NULL) ? NULL : self;
}

TEST_F_TIMEOUT(region, mixed, 200)
{
	struct rdmachan_cqe cqe;
	uint64_t seed = 5, i, len;
	pthread_t sender;
	void *sent;

	ASSERT_EQ(pthread_create(&sender, NULL, send_mixed, self), 0);
	for (i = 0;; i++) {
		region_recv(&self->q, self->b, self->to_id, 0, LEN * 3, RECV);
		ASSERT_EQ(queue_submit(&self->q), 1);
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_GE(cqe.res, 0);
		if (!cqe.res)
			break;
		len = 1 + next_random(&seed) % (i % 3 ? 200 : LEN * 3);
		if (!(next_random(&seed) % 4))
			next_random(&seed);
		ASSERT_EQ(cqe.res, len);
		ASSERT_TRUE(is_random(self->to, len, i));
	}
	ASSERT_EQ(i, 400);
	pthread_join(sender, &sent);
	EXPECT_TRUE(sent);
}

/* A thread that writes large messages, until its channel ends. */
struct writer {
	pthread_t thread;
	int chan;
	const char *data;
	size_t len;
	int wrote;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;

	while (write(w->chan, w->data, w->len) > 0)
		__atomic_add_fetch(&w->wrote, 1, __ATOMIC_RELAXED);
	return NULL;
}

static pid_t reads_on(int chan, size_t len)
{
	return LATER(0, ({
		char *room = malloc(len);

		while (read(chan, room, len) > 0)
			;
	}));
}

/*
 * A queue with several channels begins the next message as soon as one is over, before any thread
 * has woken up. All the same each writes in its turn.
 */
TEST_F(region, a_thread_has_its_turn)
{
	enum { CHANS = 4, MESSAGES = 100 };
	const size_t len = 1 << 20;
	char *data = pages(len);
	uint32_t id = region_of(self->ctx, data, len);
	struct writer w = { .data = data, .len = len };
	int fds[CHANS + 1][2], i;
	pid_t readers[CHANS + 1];
	struct rdmachan_cqe cqe;

	for (i = 0; i <= CHANS; i++) {
		pair_up(self->ctx, fds[i], NULL);
		readers[i] = reads_on(fds[i][1], len);
	}
	for (i = 0; i < CHANS; i++)
		region_send(&self->q, fds[i][0], id, 0, len, i);
	ASSERT_EQ(queue_submit(&self->q), CHANS);
	w.chan = fds[CHANS][0];
	pthread_create(&w.thread, NULL, write_on, &w);
	for (i = 0; i < MESSAGES; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		ASSERT_EQ(cqe.res, len);
		region_send(&self->q, fds[cqe.user_data][0], id, 0, len, cqe.user_data);
		ASSERT_EQ(queue_submit(&self->q), 1);
	}
	i = __atomic_load_n(&w.wrote, __ATOMIC_RELAXED);
	printf("# the thread wrote %d messages, the queue %d\n", i, MESSAGES);
	if (time_is_virtual())
		EXPECT_GE(i, MESSAGES / CHANS / 2);
	for (i = 0; i <= CHANS; i++)
		kill(readers[i], SIGKILL);
	for (i = 0; i <= CHANS; i++) {
		child_status(readers[i]);
		close(fds[i][1]);
	}
	pthread_join(w.thread, NULL);
	for (i = 0; i < CHANS; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_TRUE(cqe.res == (int64_t)len || cqe.res < 0);
	}
	for (i = 0; i <= CHANS; i++)
		close(fds[i][0]);
	region_unregister(self->ctx, id);
	munmap(data, len);
}

TEST_HARNESS_MAIN
