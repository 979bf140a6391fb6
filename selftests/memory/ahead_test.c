// SPDX-License-Identifier: GPL-2.0
/*
 * ahead_test.c - several sends and receives of large messages on a channel at a time
 *
 * The second of them does what it can while the first goes on: it lends its memory, or writes.
 * Anything comes instead, or is cancelled: messages come in order, each once, to the receives in
 * their order, and nobody writes to memory whose receive is over.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"
#include "region_fixture.h"

/* ahead_plain_test.c has memory of the program's own in their place. */
#ifndef OF_REGIONS
#define OF_REGIONS true
#endif
/* So that all that is a little shorter is placed. */
#define LEN (OF_REGIONS ? 65536U : 98304U)
/* Of an operation: number modulo SLOTS is where its message lies. */
#define SLOT 262144U
#define SLOTS 16
/* Operations are cancelled, or their time is over, one in so many. */
#define SELDOM 8

enum tag {
	RECV = 1,
	SEND,
	CANCEL,
};

/**
 * struct traffic - messages from one end to the other, all by regions and one queue
 * @seed: of all choices
 * @sends: begun, by number; @length, @sent: bytes; whether it was
 * @receives: begun; @room: bytes
 * @under_way: not over, of both
 * @got: messages received
 * @refused: receives that were too small for the next message
 * @none: those that were cancelled, or late
 * @lost: sends that were cancelled
 * @last: the receive that was the last to get a message, or to refuse one
 * @next: the next send whose message is to come
 */
struct traffic {
	struct fixture_region *self;
	uint64_t seed;
	uint32_t sends;
	uint32_t receives;
	uint32_t under_way;
	uint32_t length[1024];
	bool sent[1024];
	bool not_sent[1024];
	uint32_t room[1024];
	bool wanted_back[1024];
	uint32_t got;
	uint32_t refused;
	uint32_t none;
	uint32_t lost;
	int64_t last;
	uint32_t next;
};

static uint64_t tag_of(enum tag which, uint32_t number)
{
	return (uint64_t)which << 32 | number;
}

static char *slot_of(char *memory, uint32_t number) { return memory + number % SLOTS * SLOT; }

static struct rdmachan_sqe *add_send(struct queue *q, struct fixture_region *self, uint32_t slot,
				     uint32_t len, uint64_t tag)
{
	if (OF_REGIONS)
		return region_send(q, self->a, self->from_id, slot * SLOT, len, tag);
	return queue_send(q, self->a, self->from + slot * SLOT, len, tag);
}

static struct rdmachan_sqe *add_recv(struct queue *q, struct fixture_region *self, uint32_t slot,
				     uint32_t room, uint64_t tag)
{
	if (OF_REGIONS)
		return region_recv(q, self->b, self->to_id, slot * SLOT, room, tag);
	return queue_recv(q, self->b, self->to + slot * SLOT, room, tag);
}

static void begin_send(struct traffic *t, uint32_t len)
{
	struct fixture_region *self = t->self;
	uint32_t i = t->sends++;

	t->length[i] = len;
	fill_random(slot_of(self->from, i), len, i);
	add_send(&self->q, self, i % SLOTS, len, tag_of(SEND, i))->msg_flags = i;
	t->under_way++;
}

static struct rdmachan_sqe *begin_recv(struct traffic *t, uint32_t room)
{
	struct fixture_region *self = t->self;
	uint32_t i = t->receives++;

	t->room[i] = room;
	memset(slot_of(self->to, i), 0x55, SLOT);
	t->under_way++;
	return add_recv(&self->q, self, i % SLOTS, room, tag_of(RECV, i));
}

static bool is_untouched(const struct traffic *t, uint32_t i, uint32_t from)
{
	const char *slot = slot_of(t->self->to, i);

	for (; from < SLOT; from++)
		if (slot[from] != 0x55)
			return false;
	return true;
}

/* The fault of a message: where, and with what message there else. */
static void tell_wrong(const struct traffic *t, uint32_t i, uint32_t len, uint32_t number)
{
	const unsigned char *slot = (unsigned char *)slot_of(t->self->to, i);
	unsigned char *want = malloc(len);
	uint32_t at, end;

	fill_random((char *)want, len, number);
	for (at = 0; at < len && slot[at] == want[at]; at++)
		;
	for (end = len; end > at && slot[end - 1] == want[end - 1]; end--)
		;
	printf("# receive %u, message %u of %u bytes: wrong from %u to %u, %02x and not %02x\n", i,
	       number, len, at, end, slot[at], want[at]);
	for (number = number > 16 ? number - 16 : 0; number < t->sends; number++) {
		fill_random((char *)want, len, number);
		if (end > at + 8 && !memcmp(slot + at, want + at, 8))
			printf("# as message %u has it there\n", number);
	}
	free(want);
}

/* The message that the next receive is for: those that were not sent are left out. */
static uint32_t next_message(struct traffic *t, uint32_t number)
{
	for (; t->next < number; t->next++)
		ASSERT_TRUE(!t->sent[t->next]);
	ASSERT_EQ(t->next, number);
	ASSERT_TRUE(!t->not_sent[number]);
	return t->length[number];
}

static void received(struct traffic *t, uint32_t i, const struct rdmachan_cqe *cqe)
{
	uint32_t len;

	if (cqe->res == -ECANCELED || cqe->res == -ETIMEDOUT) {
		ASSERT_TRUE(t->wanted_back[i]);
		ASSERT_TRUE(is_untouched(t, i, 0));
		t->none++;
		return;
	}
	ASSERT_GT((int64_t)i, t->last);
	t->last = i;
	len = next_message(t, cqe->msg_flags);
	ASSERT_EQ(cqe->length, len);
	if (cqe->res == -EMSGSIZE) {
		ASSERT_LT(t->room[i], len);
		ASSERT_TRUE(is_untouched(t, i, 0));
		t->refused++;
		return;
	}
	ASSERT_EQ(cqe->res, len);
	if (!is_random(slot_of(t->self->to, i), len, cqe->msg_flags))
		tell_wrong(t, i, len, cqe->msg_flags);
	ASSERT_TRUE(is_random(slot_of(t->self->to, i), len, cqe->msg_flags));
	ASSERT_TRUE(is_untouched(t, i, len));
	t->sent[t->next] = true;
	t->next++;
	t->got++;
}

static void sent(struct traffic *t, uint32_t i, int64_t res)
{
	if (res < 0) {
		ASSERT_EQ(res, -ECANCELED);
		ASSERT_TRUE(!t->sent[i]);
		t->not_sent[i] = true;
		t->lost++;
		return;
	}
	ASSERT_EQ(res, t->length[i]);
	/* It has come, or will. */
	ASSERT_TRUE(t->sent[i] || i >= t->next);
	t->sent[i] = true;
}

static void take_one(struct traffic *t)
{
	struct rdmachan_cqe cqe;
	uint32_t i;

	ASSERT_TRUE(queue_wait(&t->self->q, &cqe));
	i = (uint32_t)cqe.user_data;
	switch (cqe.user_data >> 32) {
	case RECV:
		received(t, i, &cqe);
		t->under_way--;
		break;
	case SEND:
		sent(t, i, cqe.res);
		t->under_way--;
		break;
	case CANCEL:
		ASSERT_TRUE(cqe.res == 1 || cqe.res == -EALREADY || cqe.res == -ENOENT);
		break;
	default:
		ASSERT_TRUE(false);
	}
}

static void take_all(struct traffic *t)
{
	while (t->under_way)
		take_one(t);
	while (queue_ready(&t->self->q))
		take_one(t);
}

static struct traffic *traffic_new(struct fixture_region *self)
{
	struct traffic *t = calloc(1, sizeof(*t));

	ASSERT_TRUE(t);
	t->self = self;
	t->last = -1;
	t->seed = 3;
	return t;
}

static void go(struct traffic *t)
{
	struct queue *q = &t->self->q;

	ASSERT_GE(queue_submit(q), 0);
}

static uint32_t waiting(const struct traffic *t)
{
	return t->receives - t->got - t->refused - t->none;
}

static uint32_t on_the_way(const struct traffic *t) { return t->sends - t->got - t->lost; }

/* As many receives wait as @window says, and as many sends are under way. */
static void stream(struct traffic *t, uint32_t count, uint32_t window)
{
	const uint32_t sends = t->sends + count, receives = t->receives + count;

	while (t->under_way || t->sends < sends) {
		while (t->receives < receives && waiting(t) < window)
			begin_recv(t, SLOT);
		while (t->sends < sends && on_the_way(t) < window)
			begin_send(t, LEN - t->sends);
		go(t);
		take_one(t);
	}
}

/*
 * All but messages that begin before anybody knows that large ones come goes without a copy. Plain
 * memory is pinned in calls alone. In real time a message may come while the program is in none,
 * and a thread of the kernel's copies it.
 */
TEST_F(region, stream)
{
	struct rdmachan_object object;
	struct traffic *t;
	uint32_t window;

	t = traffic_new(self);
	for (window = 1; window <= 8; window++)
		stream(t, 50, window);
	ASSERT_EQ(t->got, 400);
	ASSERT_EQ(get_object(self->a, &object), 0);
	printf("# %llu of 400 messages were placed\n", (unsigned long long)object.tx_placed);
	EXPECT_GE(object.tx_placed, OF_REGIONS || time_is_virtual() ? 390 : 1);
	free(t);
}

static void new_channel(struct fixture_region *self)
{
	/* What a queue sends from plain memory has to fit the buffer. */
	const struct opts o = {
		.tuning = { .send_buffer = OF_REGIONS ? 65536 : SLOT, .recv_buffer = 65536 },
	};
	int fds[2];

	close(self->a);
	close(self->b);
	pair_up(self->ctx, fds, &o);
	self->a = fds[0];
	self->b = fds[1];
}

/* A message that was placed, on a new channel: the next receives lend. */
static void first_message(struct traffic *t)
{
	new_channel(t->self);
	begin_recv(t, SLOT);
	go(t);
	begin_send(t, LEN);
	go(t);
	take_all(t);
}

/* Two receives, whose memory the sender gets: it has heard of it. */
static void lend_two(struct traffic *t, uint32_t first, uint32_t second)
{
	uint64_t frames = frames_received(t->self->ctx);

	begin_recv(t, first);
	begin_recv(t, second);
	go(t);
	await_frame(t->self, frames);
}

static void goes_on(struct traffic *t)
{
	uint32_t got;

	take_all(t);
	while (on_the_way(t)) {
		begin_recv(t, SLOT);
		go(t);
		take_all(t);
	}
	got = t->got;
	stream(t, 6, 3);
	ASSERT_EQ(t->got, got + 6);
}

/* The first of two comes another way; memory lent for the second is taken back. */
TEST_F(region, first_is_small)
{
	struct traffic *t = traffic_new(self);
	int i;

	for (i = 0; i < 30; i++) {
		first_message(t);
		lend_two(t, SLOT, SLOT);
		begin_send(t, i);
		if (i % 2)
			go(t);
		begin_send(t, LEN);
		go(t);
		goes_on(t);
	}
	free(t);
}

/* Or is too large for the first, and comes to the second instead. */
TEST_F(region, first_is_too_large)
{
	struct traffic *t = traffic_new(self);
	int i;

	for (i = 0; i < 30; i++) {
		first_message(t);
		lend_two(t, LEN, SLOT);
		begin_send(t, 2 * LEN);
		go(t);
		begin_send(t, LEN);
		begin_recv(t, SLOT);
		go(t);
		goes_on(t);
		ASSERT_EQ(t->refused, i + 1);
	}
	free(t);
}

static void cancel(struct traffic *t, enum tag which, uint32_t number)
{
	if (which == RECV)
		t->wanted_back[number] = true;
	queue_cancel(&t->self->q, tag_of(which, number), 0, tag_of(CANCEL, 0));
}

/* The one, the other, or both are cancelled: messages come to those that are left. */
TEST_F(region, cancelled)
{
	struct traffic *t = traffic_new(self);
	uint32_t none;
	int i;

	for (i = 0; i < 36; i++) {
		first_message(t);
		none = t->none;
		lend_two(t, SLOT, SLOT);
		if (i % 3 != 1)
			cancel(t, RECV, t->receives - 2);
		if (i % 3 != 0)
			cancel(t, RECV, t->receives - 1);
		go(t);
		while (i % 2 && t->none == none)
			take_one(t);
		begin_send(t, LEN);
		begin_send(t, LEN);
		begin_recv(t, SLOT);
		begin_recv(t, SLOT);
		go(t);
		/* As many receives are left over as were not cancelled in time. */
		while (t->under_way) {
			if (t->got < t->sends) {
				take_one(t);
				continue;
			}
			begin_send(t, LEN);
			go(t);
		}
		ASSERT_LE(t->none - none, 2);
		goes_on(t);
	}
	free(t);
}

TEST_F(region, shutdown)
{
	struct traffic *t;
	int i, j;

	for (i = 0; i < 3; i++) {
		struct rdmachan_cqe cqe;

		t = traffic_new(self);
		first_message(t);
		lend_two(t, SLOT, SLOT);
		if (i == 0)
			ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
		else if (i == 1)
			ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
		else
			ASSERT_EQ(dup2(self->ctx, self->a), self->a);
		for (j = 0; j < 2; j++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			ASSERT_EQ(cqe.user_data, tag_of(RECV, 1 + j));
			ASSERT_EQ(cqe.res, 0);
			ASSERT_TRUE(is_untouched(t, 1 + j, 0));
		}
		free(t);
	}
}

/* Closed while both are lent, or one was written to: its regions are free soon. */
TEST_F(region, queue_closed)
{
	struct traffic *t;
	int i;

	for (i = 0; i < 30; i++) {
		t = traffic_new(self);
		first_message(t);
		lend_two(t, SLOT, SLOT);
		if (i % 3) {
			begin_send(t, LEN);
			begin_send(t, LEN);
			go(t);
			pause_ns(i * 97 % (i % 2 ? 100 : 2000) * 1000);
		}
		queue_close(&self->q);
		/* Memory of the program's own is so at once. */
		ASSERT_TRUE(!OF_REGIONS || unregister_soon(self->ctx, self->to_id));
		memset(self->to, 0x66, SIZE);
		new_channel(self);
		ASSERT_EQ(self->to[0], 0x66);
		ASSERT_EQ(memcmp(self->to, self->to + 1, SIZE - 1), 0);
		if (OF_REGIONS)
			self->to_id = region_of(self->ctx, self->to, SIZE);
		ASSERT_EQ(queue_open(self->ctx, &self->q, 64, 64), 0);
		free(t);
	}
}

/* The sender closes behind its messages: all of them are there, and then the end. */
TEST_F(region, closed_behind_many)
{
	struct traffic *t;
	int i, n;

	for (i = 0; i < 20; i++) {
		t = traffic_new(self);
		first_message(t);
		for (n = 0; n < 5; n++)
			begin_recv(t, LEN);
		go(t);
		for (n = 0; n < 5; n++)
			begin_send(t, LEN);
		go(t);
		/* It goes with the last of them. */
		close(self->a);
		self->a = -1;
		take_all(t);
		EXPECT_EQ(t->got, 6);
		free(t);
	}
}

/* Of a channel, they are told in their order, however long each takes. */
TEST_F(region, sends_complete_in_order)
{
	struct traffic *t = traffic_new(self);
	struct rdmachan_cqe cqe;
	uint32_t i, n = 0;

	first_message(t);
	for (i = 0; i < 8; i++)
		begin_recv(t, SLOT);
	go(t);
	for (i = 0; i < 8; i++)
		begin_send(t, i % 2 ? 10 : SLOT - i);
	go(t);
	for (i = 0; i < 16; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		if (cqe.user_data >> 32 == SEND)
			ASSERT_EQ((uint32_t)cqe.user_data, 1 + n++);
		else
			received(t, (uint32_t)cqe.user_data, &cqe);
	}
	ASSERT_EQ(n, 8);
	free(t);
}

/* A copied message has to wait for room; nothing that is written overtakes it. */
TEST_F(region, waits_for_room)
{
	struct traffic *t = traffic_new(self);
	uint32_t i;

	first_message(t);
	for (i = 0; i < 14; i++)
		begin_send(t, i % 4 == 3 ? LEN : 20000);
	go(t);
	for (i = 0; i < 14; i++) {
		begin_recv(t, SLOT);
		go(t);
		if (i % 3 == 2)
			take_one(t);
	}
	take_all(t);
	ASSERT_EQ(t->got, 15);
	free(t);
}

/* Two queues on a channel: messages to each come in the order of its receives. */
TEST_F(region, two_queues)
{
	struct traffic *t = traffic_new(self);
	struct rdmachan_cqe cqe;
	struct queue other;
	uint32_t i, n, theirs;
	uint64_t last;

	for (i = 0; i < 40; i++) {
		theirs = i % 2 + (i % 4 > 1);
		first_message(t);
		ASSERT_EQ(queue_open(self->ctx, &other, 8, 8), 0);
		add_recv(i % 2 ? &other : &self->q, self, 0, LEN, 0);
		add_recv(i % 4 > 1 ? &other : &self->q, self, 1, LEN, 1);
		add_recv(&self->q, self, 2, LEN, 2);
		add_recv(&self->q, self, 3, LEN, 3);
		ASSERT_GE(queue_submit(i % 3 ? &other : &self->q), 0);
		ASSERT_GE(queue_submit(i % 3 ? &self->q : &other), 0);
		for (n = 0; n < 4; n++) {
			begin_send(t, n % 4 == i % 5 ? 100 : LEN);
			if (i % 7 > n)
				go(t);
		}
		go(t);
		for (n = 0, last = 0; n < 8 - theirs; n++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			ASSERT_GT(cqe.res, 0);
			if (cqe.user_data > 3)
				continue;
			ASSERT_GT(cqe.msg_flags, last);
			last = cqe.msg_flags;
			ASSERT_TRUE(is_random(self->to + cqe.user_data * SLOT, cqe.res,
					      cqe.msg_flags));
		}
		while (theirs--) {
			ASSERT_TRUE(queue_wait(&other, &cqe));
			ASSERT_GT(cqe.res, 0);
		}
		t->under_way = 0;
		queue_close(&other);
	}
	free(t);
}

/* Another thread reads from the same channel: each message comes to one of them. */
TEST_F(region, reader_beside)
{
	struct traffic *t = traffic_new(self);
	char *data = malloc(SLOT);
	struct rdmachan_recv_args recv;
	struct rdmachan_cqe cqe;
	uint32_t i, theirs = 0;

	for (i = 0; i < 20; i++) {
		bool mine = false;

		first_message(t);
		lend_two(t, SLOT, SLOT);
		cancel(t, RECV, t->receives - 2);
		go(t);
		begin_send(t, LEN);
		go(t);
		/* Messages not for the second are there for a reader. */
		while (!mine) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			mine = cqe.user_data >> 32 == RECV && cqe.res == LEN;
			if (cqe.user_data >> 32 == RECV)
				t->under_way--;
			if (cqe.user_data >> 32 == SEND)
				t->under_way--;
		}
		cancel(t, RECV, t->receives - 1);
		go(t);
		pause_ns(i * 7 % 60 * 1000);
		begin_send(t, LEN);
		go(t);
		while (t->under_way) {
			if (!do_recv(self->b, data, SLOT, &recv, TIMEOUT(100))) {
				ASSERT_EQ(recv.out_length, LEN);
				theirs++;
			}
			while (queue_ready(&self->q)) {
				ASSERT_TRUE(queue_wait(&self->q, &cqe));
				t->under_way -= cqe.user_data >> 32 != CANCEL;
			}
		}
		while (queue_ready(&self->q))
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
	}
	printf("# %u messages to who reads\n", theirs);
	EXPECT_BOTH(theirs, i);
	free(data);
	free(t);
}

static uint32_t any_length(struct traffic *t, uint32_t most)
{
	switch (next_random(&t->seed) % 5) {
	case 0:
		return next_random(&t->seed) % 200;
	case 1:
		return next_random(&t->seed) % 40000;
	default:
		return 32768 + next_random(&t->seed) % (most - 32768);
	}
}

static bool seldom(struct traffic *t) { return !(next_random(&t->seed) % SELDOM); }

/* Rooms, lengths, cancels and time limits of all kinds, with some under way at a time. */
TEST_F_TIMEOUT(region, anything, 200)
{
	struct traffic *t = traffic_new(self);
	struct rdmachan_sqe *sqe;
	uint32_t most;

	while (t->receives < 1000 && t->sends < 1000) {
		most = 1 + next_random(&t->seed) % 6;
		while (t->receives < 1000 && waiting(t) < most) {
			sqe = begin_recv(t, seldom(t) ? LEN : SLOT);
			if (!seldom(t))
				continue;
			sqe->timeout_ms = 1 + next_random(&t->seed) % 4;
			t->wanted_back[t->receives - 1] = true;
		}
		most = 1 + next_random(&t->seed) % 4;
		while (t->sends < 1000 && on_the_way(t) < most)
			begin_send(t, any_length(t, seldom(t) ? SLOT : LEN));
		go(t);
		if (seldom(t))
			cancel(t, RECV, t->receives - 1 - next_random(&t->seed) % 3 % t->receives);
		if (seldom(t))
			cancel(t, SEND, t->sends - 1);
		go(t);
		take_one(t);
	}
	printf("# %u messages, %u refused, %u receives without one\n", t->got, t->refused, t->none);
	EXPECT_GE(t->got, 300);
	free(t);
}

TEST_HARNESS_MAIN
