// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_deep.c - memory that is lent for many messages ahead, and a peer that lies about it
 *
 * Memory lent for a message is void unless the one before was placed, whatever became of those
 * before that.
 */
#include "hostile_lender.h"

/* Receives that wait. Fewer may lend than there are. */
#define RECEIVES 7
/* Of each */
#define PIECE 32768U
/* The most that a link lends ahead, see RCH_LENT_AHEAD_MAX. */
#define DEPTH 6

/**
 * struct deep - the lender, and its lent memory
 * @l: lender; its own memory is not used
 * @memory: of RECEIVES receives
 * @region: where it lies
 * @cts: the lent memory, by message
 */
struct deep {
	struct lender l;
	char *memory;
	int64_t region;
	struct rch_cts cts[DEPTH];
};

static void receive_at(struct deep *d, struct attack *a, u32 i)
{
	region_recv(&d->l.q, a->victim, d->region, i * PIECE, PIECE, 100 + i);
}

/* The memory lent last for this message. */
static struct rch_cts lent_for(struct attack *a, u32 message)
{
	const struct heard *heard;
	struct rch_cts cts = {};

	for (heard = a->h.heard; heard < a->h.heard + HOSTILE_HEARD; heard++)
		if (heard->type == RCH_REC_CTS && heard->cts.length &&
		    heard->cts.message == message && heard->cts.serial > cts.serial)
			cts = heard->cts;
	EXPECT_EQ(cts.length, PIECE);
	return cts;
}

/* All of it that is heard of; some for the second time, or when it was used: that says nothing. */
static void give_all_back(struct attack *a)
{
	const struct heard *heard;

	for (heard = a->h.heard; heard < a->h.heard + HOSTILE_HEARD; heard++)
		if (heard->type == RCH_REC_CTS && heard->cts.length &&
		    (heard->flags & RCH_CTS_F_STANDING))
			give_back(a, heard->cts.serial);
}

/* A message by RTS, and then all that there is to lend, for messages 1 to DEPTH. */
static void deep_begin(struct deep *d, struct attack *a)
{
	struct rch_cts cts;
	u32 i;

	lender_begin(&d->l, a);
	d->memory = aligned_alloc(4096, RECEIVES * PIECE);
	ASSERT_TRUE(d->memory);
	memset(d->memory, 0x55, RECEIVES * PIECE);
	d->region = region_register(d->l.ctx, d->memory, RECEIVES * PIECE, 0, NULL);
	ASSERT_GT(d->region, 0);
	receive(&d->l, a);
	say_rts(a, 0, SIZE, 1);
	cts = cts_heard(a, 1);
	write_there(a, &cts, 1);
	say_fin(a);
	EXPECT_EQ(result(&d->l, a, TAG), SIZE);
	for (i = 0; i < RECEIVES; i++)
		receive_at(d, a, i);
	ASSERT_EQ(queue_submit(&d->l.q), RECEIVES);
	cts_heard(a, 1 + DEPTH);
	for (i = 0; i < DEPTH; i++)
		d->cts[i] = lent_for(a, 1 + i);
}

static void deep_end(struct deep *d, struct attack *a)
{
	lender_end(&d->l, a);
	free(d->memory);
}

FIXTURE(deep) {
	struct attack a;
	struct deep d;
};

FIXTURE_SETUP(deep)
{
	attack_begin(&self->a);
	deep_begin(&self->d, &self->a);
}

FIXTURE_TEARDOWN(deep)
{
	deep_end(&self->d, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

static void place(struct attack *a, const struct deep *d, u32 i)
{
	write_there(a, &d->cts[i], 10 + i);
	say_rts(a, RCH_RTS_F_PLACED, PIECE, d->cts[i].serial);
}

static void expect_placed(struct deep *d, struct attack *a, u32 i)
{
	EXPECT_EQ(result(&d->l, a, 100 + i), PIECE);
	EXPECT_TRUE(all_are(d->memory + i * PIECE, 10 + i));
}

/* All are told of at once, and each that is over lets another one lend. */
TEST_F(deep, many_at_once)
{
	struct attack *a = &self->a;
	struct deep *d = &self->d;
	u32 i;

	for (i = DEPTH; i--; )
		write_there(a, &d->cts[i], 10 + i);
	for (i = 0; i < DEPTH; i++)
		say_rts(a, RCH_RTS_F_PLACED, PIECE, d->cts[i].serial);
	for (i = 0; i < DEPTH; i++)
		expect_placed(d, a, i);
	cts_heard(a, 1 + RECEIVES);
	lent_for(a, RECEIVES);
}

/* A message comes as DATA: all behind it is void, wanted back, and kept until then. */
TEST_F(deep, data_among_many)
{
	struct attack *a = &self->a;
	struct deep *d = &self->d;

	place(a, d, 0);
	expect_placed(d, a, 0);
	place(a, d, 1);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	expect_placed(d, a, 1);
	EXPECT_EQ(result(&d->l, a, 102), 100);
	hostile_beat(&a->h, 200);
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 200, 200);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(queue_ready(&d->l.q), 0);
	give_all_back(a);
	EXPECT_EQ(result(&d->l, a, 103), 200);
	EXPECT_TRUE(all_are(d->memory + 4 * PIECE, 0x55));
	expect_alive(a);
}

/* One of them is cancelled: those behind it would be for other messages, and come back too. */
TEST_F(deep, cancelled_among_many)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct deep *d = &self->d;
	u32 i, before;

	before = a->h.count[RCH_REC_CTS];
	queue_cancel(&d->l.q, 102, 0, CANCEL);
	ASSERT_EQ(queue_submit(&d->l.q), 1);
	EXPECT_EQ(result(&d->l, a, CANCEL), -EALREADY);
	EXPECT_EQ(cts_heard(a, before + 1).serial, d->cts[2].serial);
	give_back(a, d->cts[2].serial);
	EXPECT_EQ(result(&d->l, a, 102), -ECANCELED);
	/* The three behind it. */
	cts_heard(a, before + 4);
	for (i = 3; i < DEPTH; i++)
		give_back(a, d->cts[i].serial);
	place(a, d, 0);
	place(a, d, 1);
	expect_placed(d, a, 0);
	expect_placed(d, a, 1);
	/* The next one is for the reader behind. */
	HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] > before + 4, 5000);
	cts = lent_for(a, 3);
	write_there(a, &cts, 13);
	say_rts(a, RCH_RTS_F_PLACED, PIECE, cts.serial);
	expect_placed(d, a, 3);
	expect_alive(a);
}

/* The queue is closed while all of it is lent, and some was written. */
static const struct {
	const char *name;
	u32 written;
} closings[] = {
	{ "none", 0 },
	{ "one", 1 },
	{ "two", 2 },
};

TEST_F_ROWS(scene, closed_among_many_of_which_was_written, closings)
{
	struct attack *a = &self->a;
	struct deep d;
	u32 i;

	deep_begin(&d, a);
	for (i = 0; i < row->written; i++)
		write_there(a, &d.cts[i], 10 + i);
	queue_close(&d.l.q);
	for (i = 0; i < row->written; i++)
		say_rts(a, RCH_RTS_F_PLACED, PIECE, d.cts[i].serial);
	for (; i < DEPTH; i++)
		give_back(a, d.cts[i].serial);
	/* A message that came and is wanted by nobody ends the channel. */
	if (row->written)
		EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CLOSE] == 1, 5000));
	expect_alive(a);
	EXPECT_TRUE(all_are(d.memory + row->written * PIECE, 0x55));
	left_lender_end(&d.l, a);
	free(d.memory);
}

/*
 * An orderly end in the frame of the last messages: each transfer that waits for its turn goes on
 * by itself, just as that comes. All messages were told of before, and none is lost.
 */
static void place_all_and_close(struct attack *a, const struct deep *d)
{
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_RTS,
		.flags = RCH_RTS_F_PLACED,
		.length = sizeof(struct rch_wire_rts),
	};
	struct rch_rts rts = { .total = PIECE };
	static struct frame f;
	u32 i;

	frame_begin(&f);
	for (i = 0; i < DEPTH; i++) {
		write_there(a, &d->cts[i], 10 + i);
		rts.serial = d->cts[i].serial;
		rch_wire_rts_put(frame_add(&f, &r), &rts);
	}
	frame_close(&f, a->victim_no, 0);
	hostile_say(&a->h, &f);
}

TEST_F(scene, all_are_placed_and_closed_behind)
{
	struct attack *a = &self->a;
	struct deep d;
	u32 i, n;

	for (n = 0; n < 8; n++) {
		deep_begin(&d, a);
		place_all_and_close(a, &d);
		for (i = 0; i < DEPTH; i++)
			expect_placed(&d, a, i);
		EXPECT_EQ(result(&d.l, a, 100 + DEPTH), 0);
		expect_alive(a);
		deep_end(&d, a);
	}
}

enum lie {
	LEAVES_ONE_OUT,
	THE_LAST_FIRST,
	BEHIND_WHAT_CAME_BACK,
	BEHIND_DATA,
	TWICE,
};

static const struct {
	const char *name;
	enum lie which;
	int rule;
} lies[] = {
	{ "one_is_left_out", LEAVES_ONE_OUT, RCH_RULE_SEGMENT },
	{ "the_last_comes_first", THE_LAST_FIRST, RCH_RULE_SEGMENT },
	{ "behind_one_that_was_given_back", BEHIND_WHAT_CAME_BACK, RCH_RULE_SEGMENT },
	{ "behind_data", BEHIND_DATA, RCH_RULE_SEGMENT },
	{ "twice", TWICE, RCH_RULE_STATE },
};

static void tell(struct attack *a, const struct deep *d, enum lie which)
{
	switch (which) {
	case LEAVES_ONE_OUT:
		place(a, d, 0);
		place(a, d, 1);
		return place(a, d, 3);
	case THE_LAST_FIRST:
		return place(a, d, DEPTH - 1);
	case BEHIND_WHAT_CAME_BACK:
		place(a, d, 0);
		give_back(a, d->cts[1].serial);
		return place(a, d, 2);
	case BEHIND_DATA:
		place(a, d, 0);
		say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
		return place(a, d, 2);
	default:
		place(a, d, 0);
		place(a, d, 1);
		return say_rts(a, RCH_RTS_F_PLACED, PIECE, d->cts[1].serial);
	}
}

TEST_F_ROWS(deep, lies_about_many, lies)
{
	struct attack *a = &self->a;
	struct deep *d = &self->d;
	struct rdmachan_cqe cqe;
	u32 n;

	tell(a, d, row->which);
	EXPECT_EQ(attack_verdict(a, a->witness), row->rule);
	for (n = 0; n < RECEIVES; n++) {
		HOSTILE_UNTIL(&a->h, queue_ready(&d->l.q), 10000);
		ASSERT_TRUE(queue_wait(&d->l.q, &cqe));
		EXPECT_EQ(cqe.user_data, 100 + n);
	}
}

/* None of it is ever given back. */
TEST_F(scene, keeps_many)
{
	struct attack *a = &self->a;
	struct deep d;
	int64_t begun;

	ASSERT_TRUE(set_param("dead_ms", dead_time(300)));
	deep_begin(&d, a);
	begun = tick_ms();
	say_data(a, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 100, 100);
	EXPECT_EQ(result(&d.l, a, 100), 100);
	expect_patience(a, begun, 4 * dead_time(300));
	EXPECT_LT(result(&d.l, a, 101), 0);
	memset(d.memory, 0x66, RECEIVES * PIECE);
	write_there(a, &d.cts[3], 3);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended || a->h.wc_status, 5000));
	EXPECT_TRUE(all_are(d.memory + 3 * PIECE, 0x66));
	deep_end(&d, a);
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

TEST_HARNESS_MAIN
