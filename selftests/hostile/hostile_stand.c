// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_stand.c - lies about memory that was lent before anybody asked for it
 *
 * The module lends a receive's memory, and the peer says that it wrote what it did not, or
 * writes when it must not any more. Or the peer lends memory that it has not. In all cases memory
 * is the program's own again once its operation has completed.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "hostile_lender.h"

#define DEAD_MS dead_time(300)

/* A lender that has lent nothing yet */

FIXTURE(lender) {
	struct attack a;
	struct lender l;
};

FIXTURE_SETUP(lender)
{
	attack_begin(&self->a);
	lender_begin(&self->l, &self->a);
}

FIXTURE_TEARDOWN(lender)
{
	lender_end(&self->l, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

/* One that has lent */

FIXTURE(lent) {
	struct attack a;
	struct lender l;
	struct rch_cts cts;
};

FIXTURE_SETUP(lent)
{
	attack_begin(&self->a);
	self->cts = borrow(&self->l, &self->a);
}

FIXTURE_TEARDOWN(lent)
{
	lender_end(&self->l, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

TEST_F(lent, used_as_it_should_be)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	write_there(a, &self->cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(l, 2));
}

/* The key is useless as soon as the program has its memory back. */
static void write_too_late(struct lender *l, struct attack *a, const struct rch_cts *cts)
{
	memset(l->memory, 0x66, SIZE);
	write_there(a, cts, 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(is_filled(l, 0x66));
}

TEST_F(lent, written_after_use)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	say_rts(a, RCH_RTS_F_PLACED, 1000, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), 1000);
	write_too_late(l, a, &self->cts);
}

TEST_F(lent, written_after_data)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
	write_too_late(l, a, &self->cts);
}

TEST_F(lent, written_after_it_was_given_back)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	struct rch_cts none;

	cancel(l);
	EXPECT_EQ(result(l, a, CANCEL), -EALREADY);
	none = cts_heard(a, 3);
	EXPECT_EQ(none.length, 0);
	EXPECT_EQ(none.serial, self->cts.serial);
	/* Not before it is given back. */
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l->q), 0);
	give_back(a, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), -ECANCELED);
	write_too_late(l, a, &self->cts);
}

/* It is given back without a wish: the receive goes on, and lends again or not. */
TEST_F(lent, given_back_unasked)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	give_back(a, self->cts.serial);
	give_back(a, self->cts.serial);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l->q), 0);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
}

/* It is wanted back, and the peer does not say a word about it. */
TEST_F(scene, never_given_back)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;
	int64_t begun;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	cts = borrow(&l, a);
	begun = tick_ms();
	cancel(&l);
	EXPECT_EQ(result(&l, a, CANCEL), -EALREADY);
	expect_patience(a, begun, 4 * DEAD_MS);
	EXPECT_LT(result(&l, a, TAG), 0);
	write_too_late(&l, a, &cts);
	lender_end(&l, a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* The peer hears of it. Return: a child whose call ends the channel, and waits for the receive. */
static pid_t aborts(struct attack *a)
{
	const u32 heard = a->h.count[RCH_REC_CLOSE];
	const pid_t child = LATER(0, do_shutdown(a->victim, RDMACHAN_SHUTDOWN_ABORT));

	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CLOSE] > heard, 5000));
	return child;
}

static void say_closed(struct attack *a)
{
	static struct frame f;

	frame_begin(&f);
	frame_simple(&f, a->victim_no, RCH_REC_CLOSED, 0);
	hostile_say(&a->h, &f);
}

/* The program ends the channel, and the peer is writing: until it has answered. */
TEST_F(lent, aborted)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	pid_t child = aborts(a);

	write_there(a, &self->cts, 2);
	expect_alive(a);
	EXPECT_EQ(queue_ready(&l->q), 0);
	say_closed(a);
	EXPECT_EQ(result(l, a, TAG), -EPIPE);
	child_status(child);
	write_too_late(l, a, &self->cts);
}

/* Until it has told that it has written, and that goes nowhere. */
TEST_F(lent, aborted_and_used)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	pid_t child = aborts(a);

	write_there(a, &self->cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), -EPIPE);
	child_status(child);
	expect_alive(a);
	say_closed(a);
	write_too_late(l, a, &self->cts);
}

/* The same of memory that it has asked for. */
TEST_F(scene, aborted_and_written_to)
{
	struct attack *a = &self->a;
	struct lender l;
	struct rch_cts cts;
	pid_t child;
	int fin;

	for (fin = 0; fin < 2; fin++) {
		lender_begin(&l, a);
		receive(&l, a);
		say_rts(a, 0, SIZE, 1);
		cts = cts_heard(a, 1);
		child = aborts(a);
		write_there(a, &cts, 2);
		expect_alive(a);
		EXPECT_EQ(queue_ready(&l.q), 0);
		if (fin)
			say_fin(a);
		else
			say_closed(a);
		EXPECT_EQ(result(&l, a, TAG), -EPIPE);
		child_status(child);
		expect_alive(a);
		write_too_late(&l, a, &cts);
		lender_end(&l, a);
	}
}

/* The peer goes on, and does not answer. */
TEST_F(scene, aborted_and_never_answered)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;
	int64_t begun;
	pid_t child;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	cts = borrow(&l, a);
	begun = tick_ms();
	child = aborts(a);
	expect_patience(a, begun, 4 * DEAD_MS);
	EXPECT_EQ(result(&l, a, TAG), -EPIPE);
	child_status(child);
	write_too_late(&l, a, &cts);
	lender_end(&l, a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* Bytes of a message of the others. */
#define OTHER 65536U

/*
 * A message is written to its place in the memory of the channel that has @mine, of which the peer
 * is told by CTS number @cts. The first one asks for a way; behind it memory is lent.
 */
static void write_other(struct attack *a, u32 mine, u32 cts, bool first)
{
	const struct heard *heard;

	if (first)
		say_rts(a, 0, OTHER, 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] >= cts, 5000));
	heard = hostile_find(&a->h, RCH_REC_CTS, mine);
	if (heard->flags & RCH_CTS_F_STANDING)
		say_rts(a, RCH_RTS_F_PLACED, OTHER, heard->cts.serial);
	else
		say_fin(a);
}

/*
 * The peer is busy with others: one message after the other is written to its place in the
 * witness's memory. Return: how many were, when the victim's channel had ended.
 */
static int busy_with_others(struct attack *a, int most)
{
	static char room[OTHER];
	const pid_t reader = LATER(0, ({
		while (read(a->witness, room, sizeof(room)) > 0)
			;
	}));
	u32 told;
	int i;

	hostile_beat(&a->h, 100);
	told = a->h.count[RCH_REC_CTS];
	a->victim_no = a->witness_no;
	for (i = 0; i < most && !(poll_mask(a->victim, 0, 0) & POLLERR); i++) {
		write_other(a, WITNESS_MINE, told + i + 1, !i);
		hostile_beat(&a->h, 2 * DEAD_MS / 3);
	}
	kill(reader, SIGKILL);
	child_status(reader);
	return i;
}

/* Calls and queues are told so: no signal has interrupted them. */
static void expect_lost(struct attack *a)
{
	struct rdmachan_error error = {};
	char byte = 0;
	struct queue q;

	EXPECT_ERR(do_recv(a->victim, &byte, 1, NULL, &(struct opts){ .error = &error }),
		   ECONNRESET);
	EXPECT_EQ(error.error, ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MESSAGE_LOST);
	EXPECT_ERR(do_send(a->victim, &byte, 1, 0, NULL), ECONNRESET);
	EXPECT_ERR(do_finish(a->victim, NULL), ECONNRESET);
	ASSERT_EQ(queue_open(a->ctx, &q, 8, 8), 0);
	queue_recv(&q, a->victim, &byte, 1, 1);
	queue_send(&q, a->victim, &byte, 1, 2);
	ASSERT_EQ(queue_submit(&q), 2);
	EXPECT_CQE(&q, 1, -ECONNRESET);
	EXPECT_CQE(&q, 2, -ECONNRESET);
	queue_close(&q);
}

/*
 * A call's thread is killed while its memory is open. The peer, which is busy with others, never
 * says that it wrote there: the channel ends all the same, and gives the memory back.
 */
TEST_F(scene, killed_and_never_written_to)
{
	static char room[2 * SIZE];
	struct attack *a = &self->a;
	pid_t reader;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	ASSERT_TRUE(attack_connect(a, false));
	reader = LATER(0, read(a->victim, room, sizeof(room)));
	hostile_beat(&a->h, 100);
	say_rts(a, 0, sizeof(room), 1);
	EXPECT_NE(cts_heard(a, 1).length, 0);
	kill(reader, SIGKILL);
	child_status(reader);
	EXPECT_LT(busy_with_others(a, 20), 13);
	expect_lost(a);
	expect_alive(a);
	attack_disconnect(a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

static void receives_until_killed(const struct attack *a)
{
	char *memory = aligned_alloc(4096, SIZE);
	const int ctx = open_ctx();
	struct rdmachan_cqe cqe;
	struct queue q;

	ASSERT_EQ(queue_open(ctx, &q, 8, 8), 0);
	region_recv(&q, a->victim, region_register(ctx, memory, SIZE, 0, NULL), 0, SIZE, TAG);
	ASSERT_EQ(queue_submit(&q), 1);
	queue_wait(&q, &cqe);
}

/* The same of a queue's program, and of its region. */
TEST_F(scene, queue_killed_and_never_written_to)
{
	struct attack *a = &self->a;
	pid_t receiver;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	ASSERT_TRUE(attack_connect(a, false));
	receiver = LATER(0, receives_until_killed(a));
	hostile_beat(&a->h, 100);
	say_rts(a, 0, SIZE, 1);
	EXPECT_NE(cts_heard(a, 1).length, 0);
	kill(receiver, SIGKILL);
	child_status(receiver);
	EXPECT_LT(busy_with_others(a, 20), 12);
	expect_alive(a);
	attack_disconnect(a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* A program that lives wants its memory back: it has it after sixteen dead times at the latest. */
static void cancelled_and_never_written_to(struct attack *a, struct lender *l, u64 tag,
					   const struct rch_cts *cts)
{
	const int64_t begun = tick_ms();
	const u32 victim_no = a->victim_no;

	queue_cancel(&l->q, tag, 0, CANCEL);
	ASSERT_EQ(queue_submit(&l->q), 1);
	EXPECT_EQ(result(l, a, CANCEL), -EALREADY);
	EXPECT_LT(busy_with_others(a, 40), 30);
	EXPECT_EQ(result(l, a, tag), -ECANCELED);
	EXPECT_GE(now_ms() - begun, 16 * DEAD_MS);
	/* The module has closed the memory itself: the frame that is too late may do so, too. */
	a->victim_no = victim_no;
	/* An iWARP adapter ends a connection whose peer closes what is closed. */
	if (!is_iwarp())
		a->h.close_key = cts->rkey;
	if (cts->message)
		say_rts(a, RCH_RTS_F_PLACED, SIZE, cts->serial);
	else
		say_fin(a);
	expect_alive(a);
	/* A receive that nobody has cancelled has its memory back by that. */
	say_closed(a);
	expect_lost(a);
	expect_alive(a);
	lender_end(l, a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

TEST_F(scene, cancelled_when_open)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	a->keyed = !is_iwarp();
	lender_begin(&l, a);
	receive(&l, a);
	say_rts(a, 0, SIZE, 1);
	cts = cts_heard(a, 1);
	EXPECT_NE(cts.length, 0);
	cancelled_and_never_written_to(a, &l, TAG, &cts);
}

TEST_F(scene, cancelled_when_lent)
{
	struct rch_cts cts;
	struct lender l;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	self->a.keyed = !is_iwarp();
	cts = borrow(&l, &self->a);
	cancelled_and_never_written_to(&self->a, &l, TAG, &cts);
}

/* The same of memory for the message behind. */
TEST_F(scene, cancelled_when_lent_ahead)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	a->keyed = !is_iwarp();
	borrow(&l, a);
	region_recv(&l.q, a->victim, l.region, SIZE, SIZE, SECOND);
	ASSERT_EQ(queue_submit(&l.q), 1);
	cts = cts_heard(a, 3);
	EXPECT_EQ(cts.message, 2);
	cancelled_and_never_written_to(a, &l, SECOND, &cts);
}

#define PLAIN 65536U
#define THIRD_MINE (HOSTILE_MINE + 2)

static void *enters(void *arg)
{
	queue_enter(arg, 2, 1, 400);
	return NULL;
}

static int64_t close_took;
static bool close_done;

static void *closes(void *arg)
{
	int64_t begun = now_ms();

	queue_close(arg);
	close_took = now_ms() - begun;
	__atomic_store_n(&close_done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A child closes the queue's last descriptor: it does not wait for its parent's memory. */
TEST_F(scene, closed_by_a_stranger)
{
	static char room[2 * PLAIN];
	struct attack *a = &self->a;
	struct queue q;
	pthread_t t;
	pid_t child;
	int ctx;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	ASSERT_TRUE(attack_connect(a, false));
	ctx = open_ctx();
	ASSERT_EQ(queue_open(ctx, &q, 8, 8), 0);
	queue_recv(&q, a->victim, room, sizeof(room), TAG);
	pthread_create(&t, NULL, enters, &q);
	hostile_beat(&a->h, 100);
	say_rts(a, 0, PLAIN, 1);
	EXPECT_NE(cts_heard(a, 1).length, 0);
	hostile_beat(&a->h, 7 * DEAD_MS / 6);
	pthread_join(t, NULL);
	child = fork();
	if (!child) {
		int64_t begun;

		sleep_ms(50);
		begun = now_ms();
		close(q.fd);
		_exit(now_ms() - begun > 100);
	}
	closes(&q);
	hostile_beat(&a->h, 10 * DEAD_MS);
	EXPECT_EQ(child_status(child), 0);
	close(ctx);
	attack_disconnect(a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* The peer fills nothing that it was lent, and goes on: close() waits for both at a time. */
TEST_F(scene, closed_with_two_lent)
{
	static char room[4 * PLAIN];
	struct attack *a = &self->a;
	struct queue q;
	pthread_t t;
	int ctx, i, third = -1;
	u32 third_no, victim_no, cts0;
	pid_t reader;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_TRUE(attack_open(a, THIRD_MINE, &third_no, &third));
	reader = LATER(0, ({
		while (read(third, room, sizeof(room)) > 0)
			;
	}));
	ctx = open_ctx();
	ASSERT_EQ(queue_open(ctx, &q, 8, 8), 0);
	queue_recv(&q, a->victim, room, 2 * PLAIN, TAG);
	queue_recv(&q, a->witness, room + 2 * PLAIN, 2 * PLAIN, SECOND);
	pthread_create(&t, NULL, enters, &q);
	hostile_beat(&a->h, 100);
	victim_no = a->victim_no;
	a->victim_no = a->witness_no;
	say_rts(a, 0, PLAIN, 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 1, 5000));
	hostile_beat(&a->h, 30);
	a->victim_no = victim_no;
	say_rts(a, 0, PLAIN, 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 2, 5000));
	hostile_beat(&a->h, 7 * DEAD_MS / 6);
	pthread_join(t, NULL);
	close_done = false;
	pthread_create(&t, NULL, closes, &q);
	cts0 = a->h.count[RCH_REC_CTS];
	a->victim_no = third_no;
	for (i = 1; i < 40 && !__atomic_load_n(&close_done, __ATOMIC_ACQUIRE); i++) {
		write_other(a, THIRD_MINE, cts0 + i, i == 1);
		hostile_beat(&a->h, DEAD_MS / 2);
	}
	pthread_join(t, NULL);
	EXPECT_LE(close_took, 4 * DEAD_MS + timer_late(4 * DEAD_MS));
	close(ctx);
	kill(reader, SIGKILL);
	child_status(reader);
	close(third);
	attack_disconnect(a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* The frame that tells of the message closes what it was written to. */

static struct rch_cts borrow_closing(struct lender *l, struct attack *a)
{
	struct rch_cts cts;

	a->keyed = true;
	lender_begin(l, a);
	receive(l, a);
	say_rts(a, 0, SIZE, 1);
	cts = cts_heard(a, 1);
	write_there(a, &cts, 1);
	a->h.close_key = cts.rkey;
	say_fin(a);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(l, 1));
	receive(l, a);
	return cts_heard(a, 2);
}

TEST_F(scene, closed_by_who_wrote)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;
	int i;

	if (is_iwarp())
		SKIP("not with siw, which does not compare keys");
	cts = borrow_closing(&l, a);
	for (i = 2; i < 20; i++) {
		write_there(a, &cts, i);
		/* Or not: the module closes it then. */
		a->h.close_key = i % 3 ? cts.rkey : 0;
		say_rts(a, RCH_RTS_F_PLACED, SIZE, cts.serial);
		EXPECT_EQ(result(&l, a, TAG), SIZE);
		EXPECT_TRUE(is_filled(&l, i));
		receive(&l, a);
		cts = cts_heard(a, i + 1);
	}
	a->h.close_key = cts.rkey;
	say_rts(a, RCH_RTS_F_PLACED, 1000, cts.serial);
	EXPECT_EQ(result(&l, a, TAG), 1000);
	write_too_late(&l, a, &cts);
	lender_end(&l, a);
}

/* The channel has ended, and its memory is open until a frame that is on its way closes it. */
static const struct {
	const char *name;
	/* The message has asked for it. */
	bool asked;
} closed_behind[] = {
	{ "what_was_lent", false },
	{ "what_was_asked_for", true },
};

TEST_F_ROWS(scene, closed_behind_the_end, closed_behind)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;
	pid_t child;

	if (is_iwarp())
		SKIP("not with siw, which does not compare keys");
	if (row->asked) {
		a->keyed = true;
		lender_begin(&l, a);
		receive(&l, a);
		say_rts(a, 0, SIZE, 1);
		cts = cts_heard(a, 1);
	} else {
		cts = borrow_closing(&l, a);
	}
	child = aborts(a);
	a->h.close_key = cts.rkey;
	if (row->asked)
		say_fin(a);
	else
		say_rts(a, RCH_RTS_F_PLACED, SIZE, cts.serial);
	EXPECT_EQ(result(&l, a, TAG), -EPIPE);
	child_status(child);
	expect_alive(a);
	write_too_late(&l, a, &cts);
	lender_end(&l, a);
}

/* The closed memory is not that of the frame's record. */

enum closing_lie {
	CLOSED_BY_NOTHING,
	CLOSED_BY_DATA,
	CLOSED_BY_RETURN,
	CLOSED_BEFORE,
	CLOSED_UNKNOWN,
	CLOSED_NOT_AGREED,
};

static const struct {
	const char *name;
	enum closing_lie which;
	/* If not, the adapter finds out. */
	int rule;
	/* Of the receive; else it fails. */
	s64 result;
} closing_lies[] = {
	{ "a_frame_without_records", CLOSED_BY_NOTHING, RCH_RULE_KEY },
	{ "data_that_comes_another_way", CLOSED_BY_DATA, RCH_RULE_KEY, 100 },
	{ "what_gives_it_back", CLOSED_BY_RETURN, RCH_RULE_KEY },
	{ "closed_and_then_written_to", CLOSED_BEFORE, RCH_RULE_ACCESS, 100 },
	{ "a_key_that_is_none", CLOSED_UNKNOWN, 0 },
	{ "not_agreed_upon", CLOSED_NOT_AGREED, RCH_RULE_KEY },
};

static void close_and_tell(struct attack *a, enum closing_lie which, const struct rch_cts *cts)
{
	a->h.close_key = which == CLOSED_UNKNOWN ? 0x12345678 : cts->rkey;
	switch (which) {
	case CLOSED_BY_NOTHING:
		hostile_pure(&a->h, 0);
		return;
	case CLOSED_BY_DATA:
		return say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	case CLOSED_BY_RETURN:
		return give_back(a, cts->serial);
	case CLOSED_BEFORE:
		say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
		return write_there(a, cts, 9);
	default:
		return say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
	}
}

/* How the receive ends, or, 0, that it fails. */
static void expect_result(struct lender *l, struct attack *a, s64 want)
{
	s64 have = result(l, a, TAG);

	if (want)
		EXPECT_EQ(have, want);
	else
		EXPECT_LT(have, 0);
}

TEST_F_ROWS(scene, lies_about_keys, closing_lies)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	if (is_iwarp())
		SKIP("not with siw, which does not compare keys");
	cts = row->which == CLOSED_NOT_AGREED ? borrow(&l, a) : borrow_closing(&l, a);
	close_and_tell(a, row->which, &cts);
	if (row->rule == RCH_RULE_ACCESS)
		EXPECT_TRUE(attack_blamed(a));
	else if (row->rule)
		EXPECT_EQ(attack_verdict(a, a->witness), row->rule);
	else
		EXPECT_GE(attack_verdict(a, a->witness), VERDICT_CAUSE(0));
	expect_result(&l, a, row->result);
	EXPECT_TRUE(!is_filled(&l, 9));
	lender_end(&l, a);
}

/* And then it lends ahead, for another receive. @ahead: what */
static struct rch_cts borrow_two(struct lender *l, struct attack *a, struct rch_cts *ahead)
{
	struct rch_cts cts = borrow(l, a);

	region_recv(&l->q, a->victim, l->region, SIZE, SIZE, SECOND);
	EXPECT_EQ(queue_submit(&l->q), 1);
	*ahead = cts_heard(a, 3);
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_CTS, VICTIM_MINE)->flags,
		  RCH_CTS_F_STANDING | RCH_CTS_F_AHEAD);
	EXPECT_EQ(ahead->message, 2);
	EXPECT_EQ(ahead->serial, cts.serial + 1);
	EXPECT_EQ(ahead->length, SIZE);
	return cts;
}

/* Both are told of, though one call says so. */
TEST_F(lent, ahead_at_once)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	struct rch_cts cts;

	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
	/* Guessed wrong: the next message has to ask before it lends again. */
	receive(l, a);
	say_rts(a, 0, SIZE, 2);
	cts = cts_heard(a, 3);
	write_there(a, &cts, 1);
	say_fin(a);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	receive(l, a);
	say_rts(a, 0, SIZE, 3);
	cts = cts_heard(a, 4);
	write_there(a, &cts, 1);
	say_fin(a);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	region_recv(&l->q, a->victim, l->region, 0, SIZE, TAG);
	region_recv(&l->q, a->victim, l->region, SIZE, SIZE, SECOND);
	ASSERT_EQ(queue_submit(&l->q), 2);
	cts_heard(a, 6);
}

/* A lender of two */

FIXTURE(ahead) {
	struct attack a;
	struct lender l;
	struct rch_cts cts;
	struct rch_cts ahead;
};

FIXTURE_SETUP(ahead)
{
	attack_begin(&self->a);
	self->cts = borrow_two(&self->l, &self->a, &self->ahead);
}

FIXTURE_TEARDOWN(ahead)
{
	lender_end(&self->l, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

TEST_F(ahead, ahead_as_it_should_be)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	write_there(a, &self->ahead, 3);
	write_there(a, &self->cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, self->cts.serial);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, self->ahead.serial);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_EQ(result(l, a, SECOND), SIZE);
	EXPECT_TRUE(is_filled(l, 2));
	EXPECT_TRUE(second_filled(l, 3));
}

/* The message before comes as DATA: memory lent ahead is wanted back, and kept until then. */
TEST_F(ahead, ahead_of_data)
{
	struct attack *a = &self->a;
	struct rch_cts back;
	struct lender *l = &self->l;

	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
	back = cts_heard(a, 4);
	EXPECT_EQ(back.length, 0);
	EXPECT_EQ(back.serial, self->ahead.serial);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 200, 200);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l->q), 0);
	give_back(a, self->ahead.serial);
	EXPECT_EQ(result(l, a, SECOND), 200);
	memset(l->memory, 0x66, 2 * SIZE);
	write_there(a, &self->ahead, 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(is_filled(l, 0x66));
	EXPECT_TRUE(second_filled(l, 0x66));
}

/*
 * A sender that asks for a way while something is taken back is answered when that has been given
 * back, and not before. The answer comes by the receive that it was lent for, or by one of another
 * queue.
 */
static void ask_meanwhile(struct attack *a, struct lender *l, struct queue *other,
			  bool another, const struct rch_cts *ahead)
{
	struct rdmachan_cqe cqe;
	struct rch_cts cts;

	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
	/* Not before: it might have got that. */
	if (another)
		region_recv(other, a->victim, l->region, 0, SIZE, TAG);
	ASSERT_EQ(queue_submit(other), another);
	cts_heard(a, 4);
	say_rts(a, 0, SIZE, 2);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_CTS], 4);
	give_back(a, ahead->serial);
	cts = cts_heard(a, 5);
	EXPECT_EQ(cts.serial, 2);
	EXPECT_EQ(cts.length, SIZE);
	write_there(a, &cts, 4);
	say_fin(a);
	HOSTILE_UNTIL(&a->h, queue_ready(&l->q) || queue_ready(other), 10000);
	ASSERT_TRUE(queue_wait(queue_ready(other) ? other : &l->q, &cqe));
	EXPECT_EQ(cqe.res, SIZE);
	EXPECT_TRUE(cqe.user_data == TAG ? is_filled(l, 4) : second_filled(l, 4));
}

static const struct {
	const char *name;
	bool another;
} answerers[] = {
	{ "and_the_same_answers", false },
	{ "and_another_answers", true },
};

TEST_F_ROWS(ahead, ahead_of_a_question, answerers)
{
	struct queue other;

	ASSERT_EQ(queue_open(self->l.ctx, &other, 8, 8), 0);
	ask_meanwhile(&self->a, &self->l, &other, row->another, &self->ahead);
	queue_close(&other);
}

/* The first is cancelled, and given back: nothing may come to the second before a first. */
TEST_F(ahead, ahead_of_nothing)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	cancel(l);
	EXPECT_EQ(result(l, a, CANCEL), -EALREADY);
	give_back(a, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), -ECANCELED);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 5, 5000));
	give_back(a, self->ahead.serial);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 300, 300);
	EXPECT_EQ(result(l, a, SECOND), 300);
}

/*
 * The first of two messages comes when nobody wants it any more: that ends the channel, but not
 * while the peer may be writing the second one.
 */
static const struct {
	const char *name;
	bool placed;
} seconds[] = {
	{ "and_the_second_comes_back", false },
	{ "and_the_second_is_placed", true },
};

TEST_F_ROWS(scene, ahead_of_one_that_is_lost, seconds)
{
	struct attack *a = &self->a;
	struct rch_cts cts, ahead;
	struct lender l;

	cts = borrow_two(&l, a, &ahead);
	queue_close(&l.q);
	EXPECT_EQ(cts_heard(a, 5).length, 0);
	write_there(a, &cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, cts.serial);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_CLOSE], 0);
	write_there(a, &ahead, 3);
	if (row->placed)
		say_rts(a, RCH_RTS_F_PLACED, SIZE, ahead.serial);
	else
		give_back(a, ahead.serial);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CLOSE] == 1, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_CLOSE, VICTIM_MINE)->flags, RCH_CLOSE_F_RESET);
	EXPECT_TRUE(!a->h.ended && !a->h.wc_status);
	EXPECT_TRUE(is_filled(&l, 2));
	EXPECT_TRUE(second_filled(&l, 3));
	left_lender_end(&l, a);
}

enum lie_ahead {
	AHEAD_FIRST,
	AHEAD_BEHIND_DATA,
	AHEAD_BEHIND_A_QUESTION,
	AHEAD_BEHIND_A_RETURN,
	AHEAD_TOO_LONG,
	AHEAD_TWICE,
};

static const struct {
	const char *name;
	enum lie_ahead which;
	int rule;
	/* Of the receives; else they fail. */
	s64 first;
	s64 second;
} lies_ahead[] = {
	{ "before_the_message_before", AHEAD_FIRST, RCH_RULE_SEGMENT },
	{ "behind_data", AHEAD_BEHIND_DATA, RCH_RULE_SEGMENT, 100 },
	{ "behind_a_question", AHEAD_BEHIND_A_QUESTION, RCH_RULE_SEGMENT },
	{ "behind_what_gives_back_the_first", AHEAD_BEHIND_A_RETURN, RCH_RULE_SEGMENT },
	{ "more_than_was_lent", AHEAD_TOO_LONG, RCH_RULE_MESSAGE_SIZE, 100 },
	{ "twice", AHEAD_TWICE, RCH_RULE_STATE, 100, 100 },
};

static void tell_ahead(struct attack *a, enum lie_ahead which, const struct rch_cts *cts,
		       const struct rch_cts *ahead)
{
	switch (which) {
	case AHEAD_BEHIND_DATA:
		say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
		/* It does not matter whether the wish has come. */
		cts_heard(a, 4);
		break;
	case AHEAD_BEHIND_A_QUESTION:
		say_rts(a, 0, SIZE, 2);
		break;
	case AHEAD_BEHIND_A_RETURN:
		give_back(a, cts->serial);
		break;
	case AHEAD_TOO_LONG:
		say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
		return say_rts(a, RCH_RTS_F_PLACED, SIZE + 1, ahead->serial);
	case AHEAD_TWICE:
		say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
		say_rts(a, RCH_RTS_F_PLACED, 100, ahead->serial);
		break;
	default:
		break;
	}
	say_rts(a, RCH_RTS_F_PLACED, 100, ahead->serial);
}

static int64_t next_result(struct lender *l, u64 tag)
{
	struct rdmachan_cqe cqe = {};

	EXPECT_TRUE(queue_wait(&l->q, &cqe));
	EXPECT_EQ(cqe.user_data, tag);
	return cqe.res;
}

TEST_F_ROWS(ahead, lies_ahead, lies_ahead)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	int64_t first, second;

	tell_ahead(a, row->which, &self->cts, &self->ahead);
	EXPECT_EQ(attack_verdict(a, a->witness), row->rule);
	HOSTILE_UNTIL(&a->h, queue_ready(&l->q) == 2, 10000);
	first = next_result(l, TAG);
	second = next_result(l, SECOND);
	if (row->first)
		EXPECT_EQ(first, row->first);
	else
		EXPECT_LT(first, 0);
	if (row->second)
		EXPECT_EQ(second, row->second);
	else
		EXPECT_LT(second, 0);
}

/* Memory lent ahead is wanted back, and the peer does not say a word about it. */
TEST_F(scene, ahead_never_given_back)
{
	struct attack *a = &self->a;
	struct rch_cts ahead;
	struct lender l;
	int64_t begun;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	borrow_two(&l, a, &ahead);
	begun = tick_ms();
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&l, a, TAG), 100);
	expect_patience(a, begun, 4 * DEAD_MS);
	EXPECT_LT(result(&l, a, SECOND), 0);
	memset(l.memory, 0x66, 2 * SIZE);
	write_there(a, &ahead, 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(second_filled(&l, 0x66));
	lender_end(&l, a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* The words about it are wrong. */

enum lie {
	WRONG_NUMBER,
	TOO_LONG,
	TWICE,
	IN_A_MESSAGE,
	BY_FIN,
};

static const struct {
	const char *name;
	enum lie which;
	int rule;
	/* Of the receive; else it fails. */
	s64 result;
} lies[] = {
	{ "another_number", WRONG_NUMBER, RCH_RULE_STATE },
	{ "more_than_was_lent", TOO_LONG, RCH_RULE_MESSAGE_SIZE },
	{ "twice", TWICE, RCH_RULE_STATE, 100 },
	{ "in_the_middle_of_a_message", IN_A_MESSAGE, RCH_RULE_SEGMENT },
	{ "by_fin", BY_FIN, RCH_RULE_STATE },
};

static void tell(struct attack *a, enum lie which, const struct rch_cts *cts)
{
	switch (which) {
	case WRONG_NUMBER:
		return say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial + 1);
	case TOO_LONG:
		return say_rts(a, RCH_RTS_F_PLACED, SIZE + 1, cts->serial);
	case TWICE:
		say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
		return say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
	case IN_A_MESSAGE:
		say_data(a, RCH_DATA_F_FIRST, 512, 1024);
		return say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
	default:
		return say_fin(a);
	}
}

TEST_F_ROWS(lent, lies_about_it, lies)
{
	tell(&self->a, row->which, &self->cts);
	EXPECT_EQ(attack_verdict(&self->a, self->a.witness), row->rule);
	expect_result(&self->l, &self->a, row->result);
}

/* The peer lends. */

/*
 * Memory that is not there: the adapter finds out, and the link ends. With iWARP the peer's adapter
 * does, maybe when the stream has taken all bytes and the SEND is over.
 */
TEST_F(lender, lends_what_it_has_not)
{
	const struct rch_cts cts = { 0x1000, 0x12345678, SIZE, 5, 0 };
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	int64_t res;

	say_cts(a, &cts);
	ASSERT_TRUE(attack_heard(a));
	send_it(l, a);
	res = result(l, a, TAG);
	EXPECT_TRUE(res < 0 || (is_iwarp() && res == SIZE));
	EXPECT_GE(attack_verdict(a, a->witness), VERDICT_CAUSE(0));
	EXPECT_EQ(a->h.count[RCH_REC_RTS], 0);
}

/*
 * Memory that is lent for other messages is not used; nor is memory lent ahead, when no message
 * before is placed.
 */
static const struct {
	const char *name;
	struct rch_cts cts;
} useless[] = {
	{ "the_next_message", { 0x1000, 0x12345678, SIZE, 5, 1 } },
	{ "the_last_message", { 0x1000, 0x12345678, SIZE, 5, 0xffffffff } },
	{ "one_ahead", { 0x1000, 0x12345678, SIZE, 5, 0, true } },
};

TEST_F_ROWS(lender, lends_for, useless)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	struct rdmachan_cqe cqe;

	say_cts(a, &row->cts);
	ASSERT_TRUE(attack_heard(a));
	send_it(l, a);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags, 0);
	cancel(l);
	ASSERT_TRUE(queue_wait(&l->q, &cqe));
	ASSERT_TRUE(queue_wait(&l->q, &cqe));
}

/* Memory never lent is given back, each time. */
TEST_F(lender, wants_back_what_it_has_not_lent)
{
	const struct rch_cts lent = { 0x1000, 0x12345678, SIZE, 5, 0 };
	const struct rch_cts back = { .serial = 6 };
	const struct rch_cts two[] = {
		{ .serial = 7, .message = 7 },
		{ .serial = 8, .message = 8 },
	};
	struct attack *a = &self->a;

	say_cts(a, &back);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->second, 6);
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags,
		  RCH_RTS_F_PLACED | RCH_RTS_F_CANCEL);
	say_cts(a, &lent);
	say_cts(a, &back);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 2, 5000));
	say_all_cts(a, RCH_CTS_F_STANDING, two, 2);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 4, 5000));
	EXPECT_EQ(attack_verdict(a, a->witness), VERDICT_ALIVE);
}

/* How often a thread sleeps until it has a message. */
static void *receives(void *arg)
{
	struct rusage before, after;
	struct attack *a = arg;
	char data[8];

	getrusage(RUSAGE_THREAD, &before);
	EXPECT_EQ(do_recv(a->victim, data, sizeof(data), NULL, TIMEOUT(20000)), 0);
	getrusage(RUSAGE_THREAD, &after);
	return (void *)(after.ru_nvcsw - before.ru_nvcsw);
}

/* The thread is not woken by memory that was lent before, nor by less of it. */
TEST_F(scene, lends_the_same_again_and_again)
{
	struct rch_cts cts = { 0x1000, 0x12345678, SIZE, 0, 3 };
	struct attack *a = &self->a;
	pthread_t thread;
	void *slept;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_EQ(pthread_create(&thread, NULL, receives, a), 0);
	hostile_beat(&a->h, 100);
	for (i = 0; i < 100; i++) {
		cts.serial++;
		cts.length -= i % 2;
		say_cts(a, &cts);
		ASSERT_TRUE(attack_heard(a));
	}
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 8, 8);
	pthread_join(thread, &slept);
	printf("# the thread has slept %ld times\n", (long)slept);
	EXPECT_LT((long)slept, 20);
	attack_disconnect(a);
}

TEST_HARNESS_MAIN
