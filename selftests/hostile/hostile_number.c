// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_number.c - a peer that plays tricks with all that is numbered
 *
 * Numbers wrap around, and are compared as serial numbers: of two, one is ahead. So a peer comes
 * back to a number by steps each of which is ahead of the one before; or it repeats numbers, leaves
 * some out, or takes them from the past. Each row is a numbered thing, the words about it, and how
 * that ends: by the rule that was broken, or not at all.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "grant.h"
#include "hostile_grant.h"
#include "hostile_lender.h"

/* Numbers that a row may have. */
#define STEPS 4
/* The most that a number can be ahead, and the least that it is behind. */
#define AHEAD 0x7fffffffU
#define BEHIND 0x80000000U

/**
 * struct numbers - what the tests of a thing have
 * @lender: memory, a queue and a region of the module's program
 * @asks: a thread of it that has a question
 * @asked: there is one
 * @base: the number that a row's numbers are counted from
 * @said: how many were said
 */
struct numbers {
	struct lender lender;
	pthread_t asks;
	bool asked;
	u32 base;
	u32 said;
};

/**
 * struct thing - something that is numbered
 * @begin: makes what has numbers, and tells @base; or NULL. Return: false where there is none
 * @say: says one
 * @end: looks at what has come of it, if the link lives; or NULL
 */
struct thing {
	bool (*begin)(struct attack *a, struct numbers *n);
	void (*say)(struct attack *a, struct numbers *n, u32 number);
	void (*end)(struct attack *a, struct numbers *n);
};

struct number_row {
	const char *name;
	const struct thing *thing;
	int want;
	u32 count;
	u32 steps[STEPS];
};

/* Grants of the peer */

static void say_offer(struct attack *a, struct numbers *n, u32 number)
{
	const __le32 key = cpu_to_le32(NONE);
	const struct rch_grant_info offer = {
		.id = number, .rights = MAY_ATOMIC, .length = 64, .shift = 21, .keys = 1,
		.key = &key,
	};
	struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_DATA,
		.flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_GRANTS,
	};
	static struct frame f;

	(void)n;
	r.length = rch_wire_grants_size(&offer, 1, 0);
	r.total = r.length;
	frame_begin(&f);
	rch_wire_grants_put(frame_add(&f, &r), &offer, 1);
	hostile_say(&a->h, &f);
}

static void say_revoke(struct attack *a, struct numbers *n, u32 number)
{
	(void)n;
	say_end(a, RCH_REC_REVOKE, number, 0);
}

static const struct thing offers = { .say = say_offer };
static const struct thing revocations = { .say = say_revoke };

/* Grants of the module's program */

static bool begin_loan(struct attack *a, struct numbers *n)
{
	const struct rdmachan_grant_range range = RANGE(n->lender.region, MAY_ATOMIC, 0, LENGTH);

	n->base = grant_range(a->victim, n->lender.ctx, &range);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.lent.length, 5000));
	return true;
}

/* What the adapter does is not asked of the kernel. */
static bool begin_atomics(struct attack *a, struct numbers *n)
{
	struct rch_grant_info got;

	begin_loan(a, n);
	rch_wire_grants_get(&a->h.lent, &got);
	return !(got.rights & RDMACHAN_RIGHT_BY_DEVICE);
}

static void say_release(struct attack *a, struct numbers *n, u32 number)
{
	(void)n;
	say_end(a, RCH_REC_RELEASE, number, 0);
}

static void say_atomic(struct attack *a, struct numbers *n, u32 number)
{
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_ATOMIC,
		.length = sizeof(struct rch_wire_atomic),
	};
	struct rch_atomic atomic = {
		.op = RDMACHAN_ATOMIC_FETCH_ADD, .operand = 1, .serial = number - n->base,
	};
	struct rch_grant_info got;
	static struct frame f;

	rch_wire_grants_get(&a->h.lent, &got);
	atomic.id = got.id;
	atomic.address = got.start;
	frame_begin(&f);
	rch_wire_atomic_put(frame_add(&f, &r), &atomic);
	hostile_say(&a->h, &f);
}

static void each_is_answered(struct attack *a, struct numbers *n)
{
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_ATOMIC_DONE] == n->said, 5000));
}

static const struct thing releases = { begin_loan, say_release, NULL };
static const struct thing atomics = { begin_atomics, say_atomic, each_is_answered };

/* Questions of the module's program for an atomic operation */

#define ASKED_ON 9

static void *ask(void *arg)
{
	uint64_t value;

	return (void *)(long)grant_add(*(int *)arg, ASKED_ON, 0, 1, &value);
}

static bool begin_asked(struct attack *a, struct numbers *n)
{
	say_offer(a, n, ASKED_ON);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	ASSERT_TRUE(grant_held(a->victim, ASKED_ON));
	ASSERT_EQ(pthread_create(&n->asks, NULL, ask, &a->victim), 0);
	n->asked = true;
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_ATOMIC] == 1, 5000));
	/* The first of a channel. */
	n->base = 1;
	return true;
}

static void say_done(struct attack *a, struct numbers *n, u32 number)
{
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_ATOMIC_DONE,
		.length = sizeof(struct rch_wire_atomic_done),
	};
	static struct frame f;

	(void)n;
	frame_begin(&f);
	rch_wire_atomic_done_put(frame_add(&f, &r), number, 0);
	hostile_say(&a->h, &f);
}

static const struct thing answers = { begin_asked, say_done, NULL };

/* Large messages */

static void say_question(struct attack *a, struct numbers *n, u32 number)
{
	(void)n;
	say_rts(a, 0, SIZE, number);
	say_rts(a, RCH_RTS_F_CANCEL, 1, number);
}

static bool begin_question(struct attack *a, struct numbers *n)
{
	send_it(&n->lender, a);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	n->base = hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->second;
	return true;
}

static void say_refusal(struct attack *a, struct numbers *n, u32 number)
{
	const struct rch_cts cts = { .serial = number };

	(void)n;
	say_all_cts(a, 0, &cts, 1);
}

static void say_lent(struct attack *a, u32 serial, u32 message)
{
	const struct rch_cts cts = {
		.rkey = NONE, .length = SIZE, .serial = serial, .message = message,
	};

	say_cts(a, &cts);
}

static void say_lent_as(struct attack *a, struct numbers *n, u32 number)
{
	say_lent(a, number, n->said);
}

static void say_lent_for(struct attack *a, struct numbers *n, u32 number)
{
	say_lent(a, n->said + 1, number);
}

static void say_placed(struct attack *a, struct numbers *n, u32 number)
{
	(void)n;
	say_rts(a, RCH_RTS_F_PLACED, SIZE, number);
}

static void say_unused(struct attack *a, struct numbers *n, u32 number)
{
	(void)n;
	give_back(a, number);
}

static const struct thing questions = { .say = say_question };
static const struct thing refusals = { begin_question, say_refusal, NULL };
static const struct thing lent_as = { .say = say_lent_as };
static const struct thing lent_for = { .say = say_lent_for };
static const struct thing placed = { .say = say_placed };
static const struct thing unused = { .say = say_unused };

/* Channels */

static bool begin_channel(struct attack *a, struct numbers *n)
{
	n->base = a->victim_no;
	return true;
}

static void say_to(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	frame_begin(&f);
	frame_data(&f, number, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 8, 8);
	hostile_say(&a->h, &f);
}

static void say_open(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	frame_begin(&f);
	frame_open(&f, number, NO_PREY);
	hostile_say(&a->h, &f);
}

static void each_is_refused(struct attack *a, struct numbers *n)
{
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.rejects[RCH_REJECT_NO_SERVICE] == n->said, 5000));
}

static const struct thing channels = { begin_channel, say_to, NULL };
static const struct thing opened = { .say = say_open, .end = each_is_refused };

/* Frames: numbers are counted from what an honest one would say. */

static struct rch_wire_frame *seal_pure(struct attack *a, struct frame *f)
{
	frame_begin(f);
	return frame_seal(&a->h, f, RCH_FRAME_F_PURE);
}

static void add(__le32 *to, u32 number)
{
	*to = cpu_to_le32(le32_to_cpu(*to) + number);
}

static void say_epoch(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	add(&seal_pure(a, &f)->epoch, number);
	frame_send(&a->h, &f);
}

static void say_sequence(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	add(&seal_pure(a, &f)->seq, number);
	/* It counts for nothing: the next one has the number that this would have had. */
	a->h.credit.tx_next--;
	frame_send(&a->h, &f);
}

static void say_ack(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	add(&seal_pure(a, &f)->ack, number);
	frame_send(&a->h, &f);
}

static void say_limit(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	add(&seal_pure(a, &f)->limit, number);
	frame_send(&a->h, &f);
}

static void say_read(struct attack *a, struct numbers *n, u32 number)
{
	static struct frame f;

	(void)n;
	frame_begin(&f);
	frame_read(&f, a->victim_no, number);
	hostile_say(&a->h, &f);
}

static const struct thing epochs = { .say = say_epoch };
static const struct thing sequence = { .say = say_sequence };
static const struct thing acknowledged = { .say = say_ack };
static const struct thing limits = { .say = say_limit };
static const struct thing messages_read = { .say = say_read };

#define ROW(thing, text, want, ...) \
	{ #thing ": " text, &(thing), want, sizeof((u32[]){ __VA_ARGS__ }) / sizeof(u32), \
	  { __VA_ARGS__ } }
#define BREAKS(thing, text, rule, ...) ROW(thing, text, RCH_RULE_##rule, __VA_ARGS__)
#define LIVES(thing, text, ...) ROW(thing, text, VERDICT_ALIVE, __VA_ARGS__)
/* To 5 once more: no step but the last is behind the one before. */
#define AROUND 5, 5 + AHEAD, 3, 5

static const struct number_row number_rows[] = {
	BREAKS(offers, "around", GRANT, AROUND),
	BREAKS(offers, "around from far", GRANT, AHEAD, AHEAD + AHEAD, AHEAD - 2, AHEAD),
	BREAKS(offers, "behind", GRANT, 5, 4),
	LIVES(offers, "wraps", AHEAD, 0xfffffffe, 0xffffffff, 1),
	LIVES(offers, "left out", 1, 1000, 1000 + AHEAD, 2000 + AHEAD),
	BREAKS(revocations, "around", GRANT, AROUND),
	BREAKS(revocations, "repeated", GRANT, 5, 5),
	LIVES(revocations, "behind", AHEAD, 0xffffffff, 0xfffffff0, 1),
	BREAKS(releases, "repeated", GRANT, 0, 0),
	BREAKS(releases, "ahead", GRANT, AHEAD),
	BREAKS(releases, "behind", GRANT, BEHIND),
	BREAKS(releases, "none", GRANT, -1),
	LIVES(atomics, "around", AROUND),
	LIVES(atomics, "repeated", 0, 0, 0xffffffff, 0xffffffff),
	LIVES(answers, "right", 0),
	BREAKS(answers, "repeated", GRANT, 0, 0),
	BREAKS(answers, "next", GRANT, 1),
	BREAKS(answers, "none", GRANT, -1),
	BREAKS(answers, "ahead", GRANT, AHEAD),
	LIVES(questions, "around", AROUND),
	LIVES(questions, "wraps", 0xfffffffe, 0xffffffff, 0, 1),
	LIVES(questions, "repeated", 5, 5, 5, 5),
	LIVES(refusals, "of others", 1, -1, AHEAD, BEHIND),
	LIVES(refusals, "then right", AHEAD, 0, 0, 1),
	LIVES(lent_as, "around", AROUND),
	LIVES(lent_as, "repeated", 5, 5, 5, 5),
	LIVES(lent_as, "wraps", 0xffffffff, 0, 1, BEHIND),
	LIVES(lent_for, "far", 0, AHEAD, BEHIND, 0xffffffff),
	LIVES(lent_for, "repeated", 1, 1, 9, 17),
	BREAKS(placed, "none", STATE, 1),
	BREAKS(placed, "ahead", STATE, BEHIND),
	LIVES(unused, "around", AROUND),
	LIVES(channels, "right", 0, 0),
	BREAKS(channels, "ahead", CHANNEL, AHEAD),
	BREAKS(channels, "behind", CHANNEL, BEHIND),
	BREAKS(channels, "next", CHANNEL, 0, 1000),
	LIVES(opened, "around", AROUND),
	LIVES(opened, "repeated", BEHIND, 0xffffffff, 0xffffffff, 1),
	BREAKS(epochs, "next", FRAME_EPOCH, 1),
	BREAKS(epochs, "before", FRAME_EPOCH, -1),
	BREAKS(epochs, "ahead", FRAME_EPOCH, AHEAD),
	BREAKS(sequence, "left out", SEQ_GAP, 1),
	BREAKS(sequence, "ahead", SEQ_GAP, AHEAD),
	LIVES(sequence, "repeated", -1, -1, -2),
	LIVES(sequence, "behind", BEHIND, BEHIND + 1, -1),
	BREAKS(acknowledged, "next", NUMBERS, 1),
	BREAKS(acknowledged, "ahead", NUMBERS, AHEAD),
	BREAKS(acknowledged, "behind", NUMBERS, BEHIND + 1),
	BREAKS(limits, "ahead", NUMBERS, AHEAD),
	BREAKS(limits, "behind", NUMBERS, BEHIND),
	LIVES(limits, "before", -1, -2, -1),
	LIVES(messages_read, "around", AROUND),
};

/* A message to the other channel comes behind all that was said. */
static bool goes_on(struct attack *a)
{
	static struct frame f;

	frame_begin(&f);
	frame_data(&f, a->witness_no, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 8, 8);
	if (hostile_say(&a->h, &f))
		return false;
	return HOSTILE_UNTIL(&a->h, wait_readable(a->witness, 0), 5000) &&
	       !(poll_mask(a->witness, POLLIN, 0) & POLLERR);
}

static void play(const struct number_row *row, struct attack *a, struct numbers *n)
{
	for (; n->said < row->count; n->said++)
		row->thing->say(a, n, n->base + row->steps[n->said]);
	if (row->want != VERDICT_ALIVE) {
		EXPECT_EQ(attack_verdict(a, a->witness), row->want);
		return;
	}
	EXPECT_TRUE(goes_on(a));
	if (row->thing->end)
		row->thing->end(a, n);
}

TEST_F_ROWS(scene, numbers, number_rows)
{
	struct attack *a = &self->a;
	struct numbers n = {};
	bool begun;

	lender_begin(&n.lender, a);
	begun = !row->thing->begin || row->thing->begin(a, &n);
	if (begun)
		play(row, a, &n);
	lender_end(&n.lender, a);
	if (n.asked)
		pthread_join(n.asks, NULL);
	memset(&a->h.lent, 0, sizeof(a->h.lent));
	if (!begun)
		SKIP("the adapter does atomic operations");
}

TEST_HARNESS_MAIN
