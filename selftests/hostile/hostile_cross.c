// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_cross.c - a peer that asks for a way while it is lent memory for that very message
 *
 * Lent memory answers the question: nothing else does, until it was used or has come back.
 */
#include "hostile_lender.h"

FIXTURE(crossing) {
	struct attack a;
	struct lender l;
	struct rch_cts cts;
};

FIXTURE_SETUP(crossing)
{
	attack_begin(&self->a);
	self->cts = borrow(&self->l, &self->a);
}

FIXTURE_TEARDOWN(crossing)
{
	lender_end(&self->l, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

/* Nothing was said about where to write for a while. */
static void expect_silence(struct attack *a, u32 count)
{
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_CTS], count);
}

/* The module has answered the question: with memory, or, 0, that the message shall come as DATA. */
static struct rch_cts expect_answer(struct attack *a, u32 count, u32 serial, u32 length)
{
	struct rch_cts cts = cts_heard(a, count);

	EXPECT_EQ(hostile_find(&a->h, RCH_REC_CTS, VICTIM_MINE)->flags, 0);
	EXPECT_EQ(cts.serial, serial);
	EXPECT_EQ(cts.length, length);
	return cts;
}

static void write_and_place(struct attack *a, const struct rch_cts *cts, char what)
{
	write_there(a, cts, what);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, cts->serial);
}

/* It is of use, so the next receive lends as well; again and again. */
TEST_F(crossing, asks_and_finds)
{
	struct attack *a = &self->a;
	struct rch_cts cts = self->cts;
	struct lender *l = &self->l;
	int i;

	for (i = 2; i < 10; i++) {
		say_rts(a, 0, SIZE, i);
		expect_silence(a, i);
		write_and_place(a, &cts, i);
		EXPECT_EQ(result(l, a, TAG), SIZE);
		EXPECT_TRUE(is_filled(l, i));
		receive(l, a);
		cts = cts_heard(a, i + 1);
		EXPECT_EQ(hostile_find(&a->h, RCH_REC_CTS, VICTIM_MINE)->flags,
			  RCH_CTS_F_STANDING);
	}
}

/* The same with what is lent for the message behind. */
TEST_F(crossing, asks_and_finds_ahead)
{
	struct attack *a = &self->a;
	struct rch_cts ahead;
	struct lender *l = &self->l;

	region_recv(&l->q, a->victim, l->region, SIZE, SIZE, SECOND);
	ASSERT_EQ(queue_submit(&l->q), 1);
	ahead = cts_heard(a, 3);
	/* In a row, so that the first receive has no time to end between. */
	say_rts(a, 0, SIZE, 2);
	write_and_place(a, &self->cts, 2);
	say_rts(a, 0, SIZE, 3);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	expect_silence(a, 3);
	write_and_place(a, &ahead, 3);
	EXPECT_EQ(result(l, a, SECOND), SIZE);
	EXPECT_TRUE(is_filled(l, 2));
	EXPECT_TRUE(second_filled(l, 3));
}

/* Lent memory comes back: now the question is answered, by the receive that lent. */
TEST_F(crossing, asks_and_gives_back)
{
	struct attack *a = &self->a;
	struct rch_cts cts = self->cts;
	struct lender *l = &self->l;

	say_rts(a, 0, SIZE, 2);
	give_back(a, cts.serial);
	cts = expect_answer(a, 3, 2, SIZE);
	write_there(a, &cts, 7);
	say_fin(a);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(l, 7));
	/* The question is over with that: others may come. */
	receive(l, a);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
}

/* The question is taken back, and lent memory stays. */
TEST_F(crossing, asks_and_does_not)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	say_rts(a, 0, SIZE, 2);
	say_rts(a, RCH_RTS_F_CANCEL, SIZE, 2);
	say_rts(a, 0, SIZE, 3);
	say_rts(a, RCH_RTS_F_CANCEL, SIZE, 3);
	expect_silence(a, 2);
	write_and_place(a, &self->cts, 8);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(l, 8));
}

/* It is taken back when memory is open already: that is closed, and the receive waits on. */
TEST_F(scene, asks_and_is_told_and_does_not)
{
	struct attack *a = &self->a;
	struct lender l;

	lender_begin(&l, a);
	receive(&l, a);
	say_rts(a, 0, SIZE, 1);
	EXPECT_EQ(cts_heard(a, 1).length, SIZE);
	say_rts(a, RCH_RTS_F_CANCEL, SIZE, 1);
	hostile_beat(&a->h, 200);
	/* Nothing keeps its program from doing with the memory what it likes. */
	cancel(&l);
	EXPECT_EQ(result(&l, a, TAG), -ECANCELED);
	EXPECT_EQ(result(&l, a, CANCEL), 1);
	expect_alive(a);
	lender_end(&l, a);
}

/* There is not enough: it is wanted back before the question is answered. */
TEST_F(crossing, asks_for_more)
{
	struct attack *a = &self->a;
	struct rch_cts none;
	struct lender *l = &self->l;

	say_rts(a, 0, 2 * SIZE, 2);
	none = cts_heard(a, 3);
	EXPECT_EQ(none.length, 0);
	EXPECT_EQ(none.serial, self->cts.serial);
	give_back(a, self->cts.serial);
	expect_answer(a, 4, 2, 0);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(l, a, TAG), 100);
}

/* The program wants its memory back: nobody is left to answer but by "no". */
TEST_F(crossing, asks_who_wants_it_back)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	say_rts(a, 0, SIZE, 2);
	expect_silence(a, 2);
	cancel(l);
	EXPECT_EQ(result(l, a, CANCEL), -EALREADY);
	EXPECT_EQ(cts_heard(a, 3).length, 0);
	give_back(a, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), -ECANCELED);
	expect_answer(a, 4, 2, 0);
}

/* Nor does it end the channel when that is shut for receiving meanwhile. */
TEST_F(crossing, asks_who_is_shut)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	say_rts(a, 0, SIZE, 2);
	expect_silence(a, 2);
	/* It waits for the receive, which waits for us. */
	queue_add(&l->q, RDMACHAN_OPCODE_SHUTDOWN, a->victim, CANCEL)->op_flags =
		RDMACHAN_SHUTDOWN_RECV;
	ASSERT_EQ(queue_submit(&l->q), 1);
	EXPECT_EQ(cts_heard(a, 3).length, 0);
	give_back(a, self->cts.serial);
	expect_answer(a, 4, 2, 0);
	EXPECT_LE(result(l, a, TAG), 0);
	EXPECT_EQ(result(l, a, CANCEL), 0);
	expect_alive(a);
}

/* While the question is open nothing else may come. */
static const struct {
	const char *name;
	bool asks;
} others[] = {
	{ "data", false },
	{ "another_question", true },
};

TEST_F_ROWS(crossing, asks_and_says, others)
{
	struct attack *a = &self->a;

	say_rts(a, 0, SIZE, 2);
	if (row->asks)
		say_rts(a, 0, SIZE, 3);
	else
		say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_SEGMENT);
	EXPECT_LT(result(&self->l, a, TAG), 0);
}

/* The module asks, and the peer lends what is not of use; see hostile_region.c for what is. */

static u32 question(struct lender *l, struct attack *a)
{
	lender_begin(l, a);
	send_it(l, a);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags, 0);
	return hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->second;
}

/* The message shall come as DATA. */
static void refuse(struct attack *a, u32 serial)
{
	say_all_cts(a, 0, &(struct rch_cts){ .serial = serial }, 1);
}

static void expect_return(struct attack *a, u32 count, u32 serial)
{
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == count, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags,
		  RCH_RTS_F_PLACED | RCH_RTS_F_CANCEL);
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->second, serial);
}

static void expect_data(struct lender *l, struct attack *a, u32 serial)
{
	refuse(a, serial);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_DATA], 5000));
	lender_end(l, a);
}

/* Too small a buffer goes back at once, and the question stays open. */
TEST_F(scene, is_asked_and_lends_less)
{
	const struct rch_cts cts = { 0x1000, 0x12345678, SIZE - 1, 5, 0 };
	struct attack *a = &self->a;
	struct lender l;
	u32 serial;

	serial = question(&l, a);
	say_cts(a, &cts);
	expect_return(a, 2, 5);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l.q), 0);
	expect_data(&l, a, serial);
}

/* A buffer that was lent before the question, and is too small, goes back with it. */
TEST_F(scene, has_lent_less)
{
	const struct rch_cts cts = { 0x1000, 0x12345678, SIZE - 1, 5, 0 };
	struct attack *a = &self->a;
	struct lender l;

	lender_begin(&l, a);
	say_cts(a, &cts);
	ASSERT_TRUE(attack_heard(a));
	send_it(&l, a);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 2, 5000));
	cancel(&l);
	EXPECT_EQ(result(&l, a, TAG), -ECANCELED);
	EXPECT_EQ(result(&l, a, CANCEL), 1);
	expect_alive(a);
	lender_end(&l, a);
}

/* It is lent and taken back at once: before it is used, if it is the question stays open. */
TEST_F(scene, is_asked_and_lends_for_a_moment)
{
	static const struct rch_cts all[] = {
		{ 0x1000, 0x12345678, SIZE, 5, 0 },
		{ .serial = 5 },
	};
	struct attack *a = &self->a;
	struct lender l;
	u32 serial;

	serial = question(&l, a);
	say_all_cts(a, RCH_CTS_F_STANDING, all, 2);
	expect_return(a, 2, 5);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&l.q), 0);
	expect_data(&l, a, serial);
}

/* In its place something for another message, or too little: the question stays open. */
static const struct {
	const char *name;
	struct rch_cts all[3];
	int count;
} twice[] = {
	{ "another_message", .count = 2, .all = {
		{ 0x1000, 0x12345678, SIZE, 5, 0 }, { 0x1000, 0x12345678, SIZE, 6, RCH_LENDS } } },
	{ "too_little", .count = 2, .all = {
		{ 0x1000, 0x12345678, SIZE, 5, 0 }, { 0x1000, 0x12345678, SIZE - 1, 6, 0 } } },
	{ "a_return_of_both", .count = 3, .all = {
		{ 0x1000, 0x12345678, SIZE, 5, 0 }, { .serial = 6 }, { .serial = 5 } } },
};

TEST_F_ROWS(scene, is_asked_and_lends_and_then_for, twice)
{
	struct attack *a = &self->a;
	struct lender l;
	u32 serial;

	serial = question(&l, a);
	say_all_cts(a, RCH_CTS_F_STANDING, row->all, row->count);
	expect_alive(a);
	EXPECT_EQ(queue_ready(&l.q), 0);
	expect_data(&l, a, serial);
}

/* The same to a thread in write(): it has neither oopsed nor written to where nothing is. */
static void *write_it(void *arg)
{
	static char data[100000];
	struct attack *a = arg;

	/* The peer leaves before it is over, or after. */
	if (write(a->victim, data, sizeof(data)) < 0)
		EXPECT_EQ(errno, ECONNRESET);
	return NULL;
}

TEST_F(scene, writer_is_lent_twice)
{
	static const struct rch_cts all[] = {
		{ 0x1000, 0x12345678, 131072, 5, 0 },
		{ 0x1000, 0x12345678, 4096, 6, 0 },
	};
	struct attack *a = &self->a;
	pthread_t thread;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_EQ(pthread_create(&thread, NULL, write_it, a), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	say_all_cts(a, RCH_CTS_F_STANDING, all, 2);
	expect_return(a, 2, 6);
	expect_alive(a);
	refuse(a, 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_DATA], 5000));
	attack_disconnect(a);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
