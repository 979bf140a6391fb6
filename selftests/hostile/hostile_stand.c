// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_stand.c - lies about memory that was lent before anybody asked for it
 *
 * The module lends a receive's memory, and the peer says that it wrote what it did not, or
 * writes when it must not any more. Or the peer lends, what it has not. Whatever it does,
 * memory is the program's own again once its operation has completed.
 */
#include <stdio.h>

#include "hostile_lender.h"

TEST_F(scene, used_as_it_should_be)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	cts = borrow(&l, a);
	write_there(a, &cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, cts.serial);
	EXPECT_EQ(result(&l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(&l, 2));
	lender_end(&l, a);
}

/* The key is useless as soon as the program has its memory back. */
static void write_too_late(struct lender *l, struct attack *a, const struct rch_cts *cts)
{
	memset(l->memory, 0x66, SIZE);
	write_there(a, cts, 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(is_filled(l, 0x66));
	lender_end(l, a);
}

TEST_F(scene, written_after_use)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	cts = borrow(&l, a);
	say_rts(a, RCH_RTS_F_PLACED, 1000, cts.serial);
	EXPECT_EQ(result(&l, a, TAG), 1000);
	write_too_late(&l, a, &cts);
}

TEST_F(scene, written_after_data)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	cts = borrow(&l, a);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&l, a, TAG), 100);
	write_too_late(&l, a, &cts);
}

TEST_F(scene, written_after_it_was_given_back)
{
	struct attack *a = &self->a;
	struct rch_cts cts, none;
	struct lender l;

	cts = borrow(&l, a);
	cancel(&l);
	EXPECT_EQ(result(&l, a, CANCEL), -EALREADY);
	none = cts_heard(a, 3);
	EXPECT_EQ(none.length, 0);
	EXPECT_EQ(none.serial, cts.serial);
	/* Not before it is given back. */
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l.q), 0);
	give_back(a, cts.serial);
	EXPECT_EQ(result(&l, a, TAG), -ECANCELED);
	write_too_late(&l, a, &cts);
}

/* It is given back without a wish: the receive goes on, and lends again or not. */
TEST_F(scene, given_back_unasked)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	cts = borrow(&l, a);
	give_back(a, cts.serial);
	give_back(a, cts.serial);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l.q), 0);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&l, a, TAG), 100);
	lender_end(&l, a);
}

/* It is wanted back, and the peer does not say a word about it. */
TEST_F(scene, never_given_back)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	ASSERT_TRUE(set_param("dead_ms", 300));
	cts = borrow(&l, a);
	cancel(&l);
	EXPECT_EQ(result(&l, a, CANCEL), -EALREADY);
	hostile_beat(&a->h, 2000);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_ANSWER);
	EXPECT_LT(result(&l, a, TAG), 0);
	write_too_late(&l, a, &cts);
	ASSERT_TRUE(set_param("dead_ms", 5000));
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
}

/* What is closed is not what the frame tells of. */

enum closing_lie {
	CLOSED_BY_NOTHING,
	CLOSED_BY_DATA,
	CLOSED_BY_RETURN,
	CLOSED_BEFORE,
	CLOSED_UNKNOWN,
	CLOSED_NOT_AGREED,
	CLOSING_LIES,
};

static const struct {
	const char *name;
	int rule;
} closing_lies[] = {
	[CLOSED_BY_NOTHING] = { "a frame without records", RCH_RULE_KEY },
	[CLOSED_BY_DATA] = { "data that comes another way", RCH_RULE_KEY },
	[CLOSED_BY_RETURN] = { "what gives it back", RCH_RULE_KEY },
	[CLOSED_BEFORE] = { "closed, and then written to", VERDICT_CAUSE(0) },
	[CLOSED_UNKNOWN] = { "a key that is none", VERDICT_CAUSE(0) },
	[CLOSED_NOT_AGREED] = { "not agreed upon", RCH_RULE_KEY },
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

TEST_F_TIMEOUT(scene, lies_about_keys, 120)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;
	int i, verdict;

	if (is_iwarp())
		SKIP("not with siw, which does not compare keys");
	for (i = 0; i < CLOSING_LIES; i++) {
		printf("# %s\n", closing_lies[i].name);
		if (i == CLOSED_NOT_AGREED) {
			a->keyed = false;
			cts = borrow(&l, a);
		} else {
			cts = borrow_closing(&l, a);
		}
		close_and_tell(a, i, &cts);
		verdict = attack_verdict(a, a->witness);
		if (closing_lies[i].rule == VERDICT_CAUSE(0))
			EXPECT_GE(verdict, VERDICT_CAUSE(0));
		else
			EXPECT_EQ(verdict, closing_lies[i].rule);
		if (i == CLOSED_BEFORE || i == CLOSED_BY_DATA)
			EXPECT_EQ(result(&l, a, TAG), 100);
		else
			EXPECT_LT(result(&l, a, TAG), 0);
		EXPECT_TRUE(!is_filled(&l, 9));
		lender_end(&l, a);
	}
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
TEST_F(scene, ahead_at_once)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;

	borrow(&l, a);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&l, a, TAG), 100);
	/* Guessed wrong: the next message has to ask before it lends again. */
	receive(&l, a);
	say_rts(a, 0, SIZE, 2);
	cts = cts_heard(a, 3);
	write_there(a, &cts, 1);
	say_fin(a);
	EXPECT_EQ(result(&l, a, TAG), SIZE);
	receive(&l, a);
	say_rts(a, 0, SIZE, 3);
	cts = cts_heard(a, 4);
	write_there(a, &cts, 1);
	say_fin(a);
	EXPECT_EQ(result(&l, a, TAG), SIZE);
	region_recv(&l.q, a->victim, l.region, 0, SIZE, TAG);
	region_recv(&l.q, a->victim, l.region, SIZE, SIZE, SECOND);
	ASSERT_EQ(queue_submit(&l.q), 2);
	cts_heard(a, 6);
	lender_end(&l, a);
}

TEST_F(scene, ahead_as_it_should_be)
{
	struct attack *a = &self->a;
	struct rch_cts cts, ahead;
	struct lender l;

	cts = borrow_two(&l, a, &ahead);
	write_there(a, &ahead, 3);
	write_there(a, &cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, cts.serial);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, ahead.serial);
	EXPECT_EQ(result(&l, a, TAG), SIZE);
	EXPECT_EQ(result(&l, a, SECOND), SIZE);
	EXPECT_TRUE(is_filled(&l, 2));
	EXPECT_TRUE(second_filled(&l, 3));
	lender_end(&l, a);
}

/* The message before comes as DATA: what was lent ahead is wanted back, and kept until then. */
TEST_F(scene, ahead_of_data)
{
	struct attack *a = &self->a;
	struct rch_cts ahead, back;
	struct lender l;

	borrow_two(&l, a, &ahead);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&l, a, TAG), 100);
	back = cts_heard(a, 4);
	EXPECT_EQ(back.length, 0);
	EXPECT_EQ(back.serial, ahead.serial);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 200, 200);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l.q), 0);
	give_back(a, ahead.serial);
	EXPECT_EQ(result(&l, a, SECOND), 200);
	memset(l.memory, 0x66, 2 * SIZE);
	write_there(a, &ahead, 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(is_filled(&l, 0x66));
	EXPECT_TRUE(second_filled(&l, 0x66));
	lender_end(&l, a);
}

/*
 * What asks for a way while something is taken back is answered when that has been given back, and
 * not before: by the receive that it was lent for, or by one of another queue.
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

TEST_F(scene, ahead_of_a_question)
{
	struct attack *a = &self->a;
	struct rch_cts ahead;
	struct queue other;
	struct lender l;
	int i;

	for (i = 0; i < 2; i++) {
		borrow_two(&l, a, &ahead);
		ASSERT_EQ(queue_open(l.ctx, &other, 8, 8), 0);
		ask_meanwhile(a, &l, &other, i, &ahead);
		queue_close(&other);
		lender_end(&l, a);
	}
}

/* The first is cancelled, and given back: nothing may come to the second before a first. */
TEST_F(scene, ahead_of_nothing)
{
	struct attack *a = &self->a;
	struct rch_cts cts, ahead;
	struct lender l;

	cts = borrow_two(&l, a, &ahead);
	cancel(&l);
	EXPECT_EQ(result(&l, a, CANCEL), -EALREADY);
	give_back(a, cts.serial);
	EXPECT_EQ(result(&l, a, TAG), -ECANCELED);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 5, 5000));
	give_back(a, ahead.serial);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 300, 300);
	EXPECT_EQ(result(&l, a, SECOND), 300);
	lender_end(&l, a);
}

/*
 * The first of two messages comes when nobody wants it any more: that ends the channel, but not
 * while the peer may be writing the second one.
 */
TEST_F(scene, ahead_of_one_that_is_lost)
{
	struct attack *a = &self->a;
	struct rch_cts cts, ahead;
	struct lender l;
	int i;

	for (i = 0; i < 2; i++) {
		cts = borrow_two(&l, a, &ahead);
		queue_close(&l.q);
		EXPECT_EQ(cts_heard(a, 5).length, 0);
		write_there(a, &cts, 2);
		say_rts(a, RCH_RTS_F_PLACED, SIZE, cts.serial);
		hostile_beat(&a->h, 200);
		EXPECT_EQ(a->h.count[RCH_REC_CLOSE], 0);
		write_there(a, &ahead, 3);
		if (i)
			say_rts(a, RCH_RTS_F_PLACED, SIZE, ahead.serial);
		else
			give_back(a, ahead.serial);
		EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CLOSE] == 1, 5000));
		EXPECT_EQ(hostile_find(&a->h, RCH_REC_CLOSE, VICTIM_MINE)->flags,
			  RCH_CLOSE_F_RESET);
		EXPECT_TRUE(!a->h.ended && !a->h.wc_status);
		EXPECT_TRUE(is_filled(&l, 2));
		EXPECT_TRUE(second_filled(&l, 3));
		left_lender_end(&l, a);
	}
}

enum lie_ahead {
	AHEAD_FIRST,
	AHEAD_BEHIND_DATA,
	AHEAD_BEHIND_A_QUESTION,
	AHEAD_IN_A_PIECE,
	AHEAD_BEHIND_A_RETURN,
	AHEAD_TOO_LONG,
	AHEAD_TWICE,
	LIES_AHEAD,
};

static const struct {
	const char *name;
	int rule;
	/* Of the message before; else it fails. */
	s64 first;
} lies_ahead[] = {
	[AHEAD_FIRST] = { "before the message before", RCH_RULE_SEGMENT },
	[AHEAD_BEHIND_DATA] = { "behind data", RCH_RULE_SEGMENT, 100 },
	[AHEAD_BEHIND_A_QUESTION] = { "behind a question", RCH_RULE_SEGMENT },
	[AHEAD_IN_A_PIECE] = { "behind a piece of a message", RCH_RULE_STATE },
	[AHEAD_BEHIND_A_RETURN] = { "behind what gives back the first", RCH_RULE_SEGMENT },
	[AHEAD_TOO_LONG] = { "more than was lent", RCH_RULE_MESSAGE_SIZE, 100 },
	[AHEAD_TWICE] = { "twice", RCH_RULE_STATE, 100 },
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
		cts_heard(a, 4);
		break;
	case AHEAD_IN_A_PIECE:
		/* It would have more pieces than it has. */
		say_rts(a, 0, SIZE, 2);
		cts_heard(a, 4);
		say_fin(a);
		say_fin(a);
		return;
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

TEST_F_TIMEOUT(scene, lies_ahead, 120)
{
	struct attack *a = &self->a;
	struct rch_cts cts, ahead;
	struct rdmachan_cqe cqe = {};
	struct lender l;
	int i;

	for (i = 0; i < LIES_AHEAD; i++) {
		printf("# %s\n", lies_ahead[i].name);
		cts = borrow_two(&l, a, &ahead);
		tell_ahead(a, i, &cts, &ahead);
		EXPECT_EQ(attack_verdict(a, a->witness), lies_ahead[i].rule);
		HOSTILE_UNTIL(&a->h, queue_ready(&l.q) == 2, 10000);
		EXPECT_TRUE(queue_wait(&l.q, &cqe));
		EXPECT_EQ(cqe.user_data, TAG);
		if (lies_ahead[i].first)
			EXPECT_EQ(cqe.res, lies_ahead[i].first);
		else if (i != AHEAD_IN_A_PIECE)
			EXPECT_LT(cqe.res, 0);
		EXPECT_TRUE(queue_wait(&l.q, &cqe));
		EXPECT_EQ(cqe.user_data, SECOND);
		if (i == AHEAD_TWICE)
			EXPECT_EQ(cqe.res, 100);
		else
			EXPECT_LT(cqe.res, 0);
		lender_end(&l, a);
	}
}

/* What was lent ahead is wanted back, and the peer does not say a word about it. */
TEST_F(scene, ahead_never_given_back)
{
	struct attack *a = &self->a;
	struct rch_cts ahead;
	struct lender l;

	ASSERT_TRUE(set_param("dead_ms", 300));
	borrow_two(&l, a, &ahead);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&l, a, TAG), 100);
	hostile_beat(&a->h, 2000);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_ANSWER);
	EXPECT_LT(result(&l, a, SECOND), 0);
	memset(l.memory, 0x66, 2 * SIZE);
	write_there(a, &ahead, 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(second_filled(&l, 0x66));
	lender_end(&l, a);
	ASSERT_TRUE(set_param("dead_ms", 5000));
}

/* What is said of it is wrong. */

enum lie {
	WRONG_NUMBER,
	TOO_LONG,
	TWICE,
	IN_A_MESSAGE,
	BEHIND_A_QUESTION,
	BY_FIN,
	LIES,
};

static const struct {
	const char *name;
	int rule;
} lies[] = {
	[WRONG_NUMBER] = { "another number", RCH_RULE_STATE },
	[TOO_LONG] = { "more than was lent", RCH_RULE_MESSAGE_SIZE },
	[TWICE] = { "twice", RCH_RULE_STATE },
	[IN_A_MESSAGE] = { "in the middle of a message", RCH_RULE_SEGMENT },
	[BEHIND_A_QUESTION] = { "behind a question", RCH_RULE_STATE },
	[BY_FIN] = { "by FIN", RCH_RULE_STATE },
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
	case BEHIND_A_QUESTION:
		say_rts(a, 0, SIZE, 2);
		cts_heard(a, 3);
		return say_rts(a, RCH_RTS_F_PLACED, 100, cts->serial);
	default:
		return say_fin(a);
	}
}

TEST_F_TIMEOUT(scene, lies_about_it, 120)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct lender l;
	int i;

	for (i = 0; i < LIES; i++) {
		cts = borrow(&l, a);
		tell(a, i, &cts);
		printf("# %s\n", lies[i].name);
		EXPECT_EQ(attack_verdict(a, a->witness), lies[i].rule);
		if (i == TWICE)
			EXPECT_EQ(result(&l, a, TAG), 100);
		else
			EXPECT_LT(result(&l, a, TAG), 0);
		lender_end(&l, a);
	}
}

/* The peer lends. */

/* Memory that is not there: the adapter finds out, and the link ends. */
TEST_F(scene, lends_what_it_has_not)
{
	const struct rch_cts cts = { 0x1000, 0x12345678, SIZE, 5, 0 };
	struct attack *a = &self->a;
	struct lender l;

	lender_begin(&l, a);
	say_cts(a, &cts);
	hostile_beat(&a->h, 100);
	send_it(&l, a);
	EXPECT_LT(result(&l, a, TAG), 0);
	EXPECT_EQ(a->h.count[RCH_REC_RTS], 0);
	lender_end(&l, a);
}

/* What is lent for other messages, or is too small, is not used. */
TEST_F(scene, lends_for_other_messages)
{
	static const struct rch_cts others[] = {
		{ 0x1000, 0x12345678, SIZE, 5, 1 },
		{ 0x1000, 0x12345678, SIZE, 5, 0xffffffff },
		{ 0x1000, 0x12345678, SIZE - 1, 5, 0 },
	};
	struct attack *a = &self->a;
	struct rdmachan_cqe cqe;
	struct lender l;
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		lender_begin(&l, a);
		say_cts(a, &others[i]);
		hostile_beat(&a->h, 100);
		send_it(&l, a);
		EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
		EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags, 0);
		cancel(&l);
		ASSERT_TRUE(queue_wait(&l.q, &cqe));
		ASSERT_TRUE(queue_wait(&l.q, &cqe));
		lender_end(&l, a);
	}
}

/* What is lent ahead is for a message behind one that is placed. */
TEST_F(scene, lends_ahead_of_nothing)
{
	const struct rch_cts ahead = { 0x1000, 0x12345678, SIZE, 5, 0, true };
	struct attack *a = &self->a;
	struct rdmachan_cqe cqe;
	struct lender l;

	lender_begin(&l, a);
	say_cts(a, &ahead);
	hostile_beat(&a->h, 100);
	send_it(&l, a);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags, 0);
	cancel(&l);
	ASSERT_TRUE(queue_wait(&l.q, &cqe));
	ASSERT_TRUE(queue_wait(&l.q, &cqe));
	lender_end(&l, a);
}

/* What was never lent is given back, each time. */
TEST_F(scene, wants_back_what_it_has_not_lent)
{
	const struct rch_cts lent = { 0x1000, 0x12345678, SIZE, 5, 0 };
	const struct rch_cts back = { .serial = 6 };
	const struct rch_cts two[] = {
		{ .serial = 7, .message = 7 },
		{ .serial = 8, .message = 8 },
	};
	struct attack *a = &self->a;
	struct lender l;

	lender_begin(&l, a);
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
	lender_end(&l, a);
}

/* Who has not agreed upon it must not. */
TEST_F(scene, not_agreed_upon)
{
	const struct rch_cts ahead = { 0x1000, 0x12345678, SIZE, 5, 0, true };
	const struct rch_cts cts = { 0x1000, 0x12345678, SIZE, 5, 0 };
	struct attack *a = &self->a;
	struct lender l;

	a->plain = true;
	lender_begin(&l, a);
	say_cts(a, &cts);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_STATE);
	lender_end(&l, a);
	lender_begin(&l, a);
	give_back(a, 5);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_STATE);
	lender_end(&l, a);
	a->plain = false;
	a->single = true;
	lender_begin(&l, a);
	say_cts(a, &ahead);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_STATE);
	lender_end(&l, a);
	a->single = false;
}

TEST_HARNESS_MAIN
