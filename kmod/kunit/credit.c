// SPDX-License-Identifier: GPL-2.0
/*
 * credit.c - tests of sequence numbers, acknowledgements and credits
 *
 * The suite plays both sides of a link and the wire between them. What really
 * happens to buffers is counted apart from what the two sides believe; the order
 * of all steps is random, within what a reliable connection may do.
 */
#include "../pure/credit.h"
#include "suites.h"

#define SEEDS		150
#define STEPS		1500
#define WIRE_SIZE	(2 * RCH_DEPTH_MAX)

/* A frame on its way, and its numbers. */
struct flying {
	u32 seq;
	u32 ack;
	u32 limit;
	bool pure;
};

/* One side: what it believes, the truth, and its frames to the other. */
struct side {
	struct rch_credit c;
	u32 posted;
	u32 held_pure;
	u32 held_data;
	struct flying *wire;
	u32 sent;
	u32 arrived;
};

enum action { SEND, TELL, BEAT, DELIVER, POST_PURE, POST_DATA, ACTIONS };

struct sim {
	struct side side[2];
	struct rnd_state rnd;
	u8 weight[2][ACTIONS];
	const char *broken;
};

/*
 * The two rings, the first number of each side, and how programs and the module behave. @pin says
 * that a frame's buffer comes back only when its data is read, which may take for ever; else it
 * comes back (or is replaced) by and by. @beat, that heartbeats are sent whenever one pleases.
 */
struct link_case {
	const char *name;
	u32 depth[2];
	u32 first[2];
	bool pin;
	bool beat;
};

static const struct link_case link_cases[] = {
	{ "smallest rings", { 8, 8 }, { 0, 0 }, false, false },
	{ "smallest rings, beats", { 8, 8 }, { 5, 9 }, false, true },
	{ "smallest rings, pins", { 8, 8 }, { 5, 9 }, true, false },
	{ "smallest rings, pins, beats", { 8, 8 }, { 5, 9 }, true, true },
	{ "quarter rounded down", { 11, 11 }, { 77, 88 }, true, false },
	{ "quarter rounded down, beats", { 11, 15 }, { 77, 88 }, true, true },
	{ "both wrap around", { 16, 16 }, { 0xfffffff0, 0xffffff80 }, true, true },
	{ "sign changes", { 16, 9 }, { 0x7ffffff0, 0x7fffff80 }, true, true },
	{ "usual rings", { 32, 32 }, { 0, 0xffffffe0 }, false, true },
	{ "usual rings, pins", { 32, 32 }, { 1, 2 }, true, true },
	{ "unequal rings", { 8, 4096 }, { 0xfffffff8, 0 }, true, true },
	{ "large rings", { 1024, 64 }, { 0xfffffc00, 0xffffffff }, true, true },
};

static void link_desc(const struct link_case *lc, char *desc)
{
	strscpy(desc, lc->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(link, link_cases, link_desc);

static void broken(struct sim *sim, const char *what)
{
	if (!sim->broken)
		sim->broken = what;
}

static void sim_send(struct sim *sim, int who, bool pure)
{
	struct side *s = &sim->side[who];
	struct flying *f;

	if (!rch_credit_room(&s->c, pure))
		return;
	if (s->sent - s->arrived == WIRE_SIZE)
		return broken(sim, "more frames under way than any ring has");
	f = &s->wire[s->sent++ % WIRE_SIZE];
	f->seq = rch_credit_take(&s->c);
	f->ack = s->c.rx_next;
	f->limit = s->c.rx_limit;
	f->pure = pure;
	rch_credit_tell(&s->c);
	if (rch_credit_must_tell(&s->c))
		broken(sim, "a tell is due although everything was told");
}

/* A frame that was there before comes again: nothing may change. */
static void sim_again(struct sim *sim, struct side *from, struct side *to)
{
	struct rch_credit before = to->c;
	u32 back = 1 + rch_below(&sim->rnd, 16);
	const struct flying *f;

	if (back > from->arrived || from->sent - from->arrived + back > WIRE_SIZE)
		return;
	f = &from->wire[(from->arrived - back) % WIRE_SIZE];
	if (rch_credit_arrival(&to->c, f->seq) != RCH_ARRIVAL_DUPLICATE)
		broken(sim, "a duplicate is not seen");
	if (!rch_credit_told_by_peer(&to->c, f->ack, f->limit))
		broken(sim, "a duplicate is taken for a lie");
	if (memcmp(&before, &to->c, sizeof(before)))
		broken(sim, "a duplicate changed something");
}

static void sim_deliver(struct sim *sim, int who)
{
	struct side *from = &sim->side[!who], *to = &sim->side[who];
	const struct flying *f;

	if (from->arrived == from->sent)
		return;
	f = &from->wire[from->arrived++ % WIRE_SIZE];
	if (!to->posted)
		return broken(sim, "receiver not ready");
	to->posted--;
	if (rch_credit_arrival(&to->c, f->seq + 1) != RCH_ARRIVAL_GAP)
		broken(sim, "a gap is not seen");
	if (rch_credit_arrival(&to->c, f->seq) != RCH_ARRIVAL_NEW)
		broken(sim, "a new frame is not seen as new");
	if (!rch_credit_told_by_peer(&to->c, f->ack, f->limit))
		broken(sim, "the truth is taken for a lie");
	rch_credit_received(&to->c);
	if (f->pure)
		to->held_pure++;
	else
		to->held_data++;
	if (rch_chance(&sim->rnd, 8))
		sim_again(sim, from, to);
}

static void sim_post(struct side *s, u32 *held, u32 n)
{
	n = min(n, *held);
	*held -= n;
	s->posted += n;
	rch_credit_posted(&s->c, n);
}

static void sim_act(struct sim *sim, int who, enum action action)
{
	struct side *s = &sim->side[who];

	switch (action) {
	case SEND:
		return sim_send(sim, who, false);
	case TELL:
		if (rch_credit_must_tell(&s->c))
			sim_send(sim, who, true);
		return;
	case BEAT:
		return sim_send(sim, who, true);
	case DELIVER:
		return sim_deliver(sim, who);
	case POST_PURE:
		return sim_post(s, &s->held_pure, 1 + rch_below(&sim->rnd, 4));
	case POST_DATA:
		return sim_post(s, &s->held_data, 1 + rch_below(&sim->rnd, 8));
	default:
		return;
	}
}

/* What both sides' numbers must be at any moment. */
static void sim_check(struct sim *sim)
{
	int i;

	for (i = 0; i < 2; i++) {
		const struct side *s = &sim->side[i], *peer = &sim->side[!i];

		if (s->c.rx_limit - s->c.rx_next != s->posted)
			broken(sim, "the limit is not what is posted");
		if (rch_seq_before(peer->c.rx_limit, s->c.tx_next))
			broken(sim, "more sent than promised");
		if (!rch_seq_between(s->c.tx_acked, peer->c.rx_next, s->c.tx_next))
			broken(sim, "acknowledged what has not come");
		if (rch_credit_unacked(&s->c) > WIRE_SIZE)
			broken(sim, "too much is not acknowledged");
	}
}

/* The share of each step changes from time to time, up to not at all. */
static void sim_moods(struct sim *sim, const struct link_case *lc)
{
	int i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < ACTIONS; k++)
			sim->weight[i][k] = rch_chance(&sim->rnd, 3) ? 0 :
					    1 + rch_below(&sim->rnd, 10);
		if (!lc->beat)
			sim->weight[i][BEAT] = 0;
		if (lc->pin && !rch_chance(&sim->rnd, 4))
			sim->weight[i][POST_DATA] = 0;
	}
}

static void sim_step(struct sim *sim)
{
	u32 sum = 0, at;
	int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < ACTIONS; k++)
			sum += sim->weight[i][k];
	if (!sum)
		return;
	at = rch_below(&sim->rnd, sum);
	for (i = 0; i < 2; i++)
		for (k = 0; k < ACTIONS; k++) {
			if (at < sim->weight[i][k])
				return sim_act(sim, i, k);
			at -= sim->weight[i][k];
		}
}

/* Everything arrives, buffers that nobody reads from are posted, tells are sent. */
static void sim_settle(struct sim *sim, bool data)
{
	u32 begun = sim->side[0].sent + sim->side[1].sent;
	u32 bound = sim->side[0].c.rx_depth + sim->side[1].c.rx_depth;
	u32 sent = 0, before;
	int i;

	do {
		before = sent;
		for (i = 0; i < 2; i++) {
			struct side *s = &sim->side[i];

			while (sim->side[!i].arrived != sim->side[!i].sent)
				sim_deliver(sim, i);
			sim_post(s, &s->held_pure, s->held_pure);
			if (data)
				sim_post(s, &s->held_data, s->held_data);
			sim_act(sim, i, TELL);
		}
		sent = sim->side[0].sent + sim->side[1].sent - begun;
	} while (sent != before && sent <= bound && !sim->broken);
	if (sent > bound)
		broken(sim, "pure frames answer each other for ever");
}

/*
 * Nobody may be stuck. While data pins buffers one side at least may send a
 * heartbeat, which is enough for both to send one; once data was read both may
 * send data, and need no heartbeat for it.
 */
static void sim_progress(struct sim *sim)
{
	struct side *a = &sim->side[0], *b = &sim->side[1];
	struct sim saved = *sim;
	int i;

	/* Both are tried on copies: the play goes on as if nobody had looked. */
	sim_settle(sim, true);
	if (!rch_credit_room(&a->c, false) || !rch_credit_room(&b->c, false))
		broken(sim, "no credit for data although all was read");
	if (sim->broken)
		return;
	*sim = saved;
	sim_settle(sim, false);
	for (i = 0; i < 4; i++) {
		sim_act(sim, i & 1, BEAT);
		sim_settle(sim, false);
	}
	if (!rch_credit_room(&a->c, true) || !rch_credit_room(&b->c, true))
		broken(sim, "no credit for a heartbeat");
	if (!sim->broken)
		*sim = saved;
}

static void sim_begin(struct sim *sim, const struct link_case *lc, u64 seed)
{
	int i;

	prandom_seed_state(&sim->rnd, seed);
	sim->broken = NULL;
	for (i = 0; i < 2; i++) {
		struct side *s = &sim->side[i];

		rch_credit_init(&s->c, lc->first[i], lc->depth[!i],
				lc->first[!i], lc->depth[i]);
		rch_credit_tell_often(&s->c, (seed + i) & 2);
		s->posted = lc->depth[i];
		s->held_pure = 0;
		s->held_data = 0;
		s->sent = 0;
		s->arrived = 0;
	}
}

static void credit_sim(struct kunit *test)
{
	const struct link_case *lc = test->param_value;
	struct sim *sim = kunit_kzalloc(test, sizeof(*sim), GFP_KERNEL);
	int i, seed, step;

	KUNIT_ASSERT_NOT_NULL(test, sim);
	for (i = 0; i < 2; i++) {
		sim->side[i].wire = kunit_kcalloc(test, WIRE_SIZE,
						  sizeof(struct flying), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, sim->side[i].wire);
	}
	for (seed = 1; seed <= SEEDS; seed++) {
		sim_begin(sim, lc, seed);
		for (step = 0; step < STEPS && !sim->broken; step++) {
			if (step % 64 == 0)
				sim_moods(sim, lc);
			sim_step(sim);
			sim_check(sim);
			if (step % 50 == 49)
				sim_progress(sim);
		}
		KUNIT_ASSERT_TRUE_MSG(test, !sim->broken, "seed %d, step %d: %s",
				      seed, step, sim->broken);
		cond_resched();
	}
}

/* Numbers that a peer may tell a side that has sent 10 frames of a ring of 32. */
struct told_case {
	const char *name;
	s32 ack;
	s32 limit;
	bool believed;
	s32 acked;
	s32 room;
};

static const struct told_case told_cases[] = {
	{ "nothing new", 0, 32, true, 0, 22 },
	{ "all acknowledged", 10, 32, true, 10, 22 },
	{ "all acknowledged and posted", 10, 42, true, 10, 32 },
	{ "some of it", 4, 34, true, 4, 24 },
	{ "older than known", -5, 20, true, 0, 22 },
	{ "much older than known", -4096, -4096, true, 0, 22 },
	{ "old acknowledgement, new limit", -1, 31, true, 0, 22 },
	{ "limit taken back", 10, 10, true, 10, 22 },
	{ "acknowledges what was not sent", 11, 42, false, 0, 22 },
	{ "acknowledges far ahead", 0x7fffffff, 0x7fffffff, false, 0, 22 },
	{ "acknowledges half a turn ahead", -0x7fffffff - 1 + 10, 0, false, 0, 22 },
	{ "limit one too far", 10, 43, false, 0, 22 },
	{ "limit one too far for its own ack", 4, 37, false, 0, 22 },
	{ "limit far ahead", 10, 0x7fffffff, false, 0, 22 },
	{ "limit below ack", 10, 9, false, 0, 22 },
	{ "limit far below ack", 10, -0x7fffffff, false, 0, 22 },
};

static void told_desc(const struct told_case *tc, char *desc)
{
	strscpy(desc, tc->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(told, told_cases, told_desc);

static void credit_told(struct kunit *test)
{
	static const u32 firsts[] = {
		0, 5, 0x7ffffff8, 0x80000000, 0xffffffd6, 0xfffffff8, 0xffffffff,
	};
	const struct told_case *tc = test->param_value;
	struct rch_credit c;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		u32 first = firsts[i];

		rch_credit_init(&c, first, 32, 0, 8);
		for (k = 0; k < 10; k++)
			rch_credit_take(&c);
		KUNIT_EXPECT_EQ(test, tc->believed,
				rch_credit_told_by_peer(&c, first + tc->ack,
							first + tc->limit));
		KUNIT_EXPECT_EQ(test, c.tx_acked, first + tc->acked);
		KUNIT_EXPECT_EQ(test, c.tx_limit - c.tx_next, tc->room);
		KUNIT_EXPECT_EQ(test, rch_credit_unacked(&c), 10 - tc->acked);
	}
}

/* How a ring is used up: data first, then pure frames, the last with a reason. */
static void credit_room(struct kunit *test)
{
	struct rch_credit c;
	int left;

	rch_credit_init(&c, 0xfffffffc, 16, 0, 16);
	for (left = 16; left > 4; left--) {
		KUNIT_EXPECT_EQ(test, rch_credit_room(&c, false), left - 4);
		rch_credit_take(&c);
	}
	for (; left > 1; left--) {
		KUNIT_EXPECT_EQ(test, rch_credit_room(&c, false), 0);
		KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), left - 1);
		rch_credit_take(&c);
	}
	KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 0);
	rch_credit_received(&c);
	KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 0);
	rch_credit_posted(&c, 1);
	KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 1);
	rch_credit_take(&c);
	rch_credit_tell(&c);
	KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 0);
	rch_credit_posted(&c, 1);
	KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 0);
}

/*
 * A tell is due from a quarter of the ring on, or from an eighth of a larger one, and from 32
 * frames on, for either of its two reasons.
 */
static void kunit_credit_due(struct kunit *test)
{
	static const u32 depths[] = { 8, 9, 11, 12, 32, 1000, 4096 };
	struct rch_credit c;
	u32 i, n, each;

	for (i = 0; i < 2 * ARRAY_SIZE(depths); i++) {
		rch_credit_init(&c, 0, 8, 0xfffffffe, depths[i / 2]);
		rch_credit_tell_often(&c, i % 2);
		each = min(depths[i / 2] / 4, RCH_CREDIT_UNTOLD_MAX) /
		       (i % 2 && depths[i / 2] > 12 ? 2 : 1);
		for (n = 0; n < each; n++) {
			KUNIT_EXPECT_FALSE(test, rch_credit_must_tell(&c));
			rch_credit_received(&c);
		}
		KUNIT_EXPECT_TRUE(test, rch_credit_must_tell(&c));
		rch_credit_tell(&c);
		KUNIT_EXPECT_FALSE(test, rch_credit_must_tell(&c));
		rch_credit_posted(&c, n - 1);
		KUNIT_EXPECT_FALSE(test, rch_credit_must_tell(&c));
		rch_credit_posted(&c, 1);
		KUNIT_EXPECT_TRUE(test, rch_credit_must_tell(&c));
	}
}

/*
 * A frame that came again uses a buffer, which is posted again later. In between
 * nothing is due, and the last number is as reserved as ever: the limit was told.
 */
static void credit_duplicate(struct kunit *test)
{
	static const u32 firsts[] = { 0, 5, 0x7ffffff8, 0xfffffff0, 0xffffffff };
	struct rch_credit c;
	u32 i, last;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		rch_credit_init(&c, firsts[i], 8, firsts[i], 8);
		for (last = 0; last < 7; last++)
			rch_credit_take(&c);
		rch_credit_received(&c);
		rch_credit_posted(&c, 1);
		rch_credit_tell(&c);
		rch_credit_duplicate(&c);
		KUNIT_EXPECT_FALSE(test, rch_credit_must_tell(&c));
		KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 0);
		rch_credit_tell(&c);
		rch_credit_posted(&c, 1);
		KUNIT_EXPECT_FALSE(test, rch_credit_must_tell(&c));
		KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 0);
		rch_credit_posted(&c, 1);
		KUNIT_EXPECT_EQ(test, rch_credit_room(&c, true), 1);
	}
}

/* The wanted sequence, with others beside it, in what there is; and what becomes of it. */
static const struct depths_row {
	struct rch_depths want;
	u32 others, max_wr, max_cqe;
	struct rch_depths get;
	bool enough;
} depths_rows[] = {
	{ { 32, 80 }, 156, 4096, 4096, { 32, 80 }, true },
	{ { 32, 80 }, 156, 237, 270, { 32, 80 }, true },
	{ { 32, 80 }, 156, 236, 270, { 32, 79 }, true },
	{ { 32, 80 }, 156, 237, 269, { 32, 79 }, true },
	{ { 32, 80 }, 156, 4096, 218, { 30, 30 }, true },
	{ { 32, 80 }, 156, 4096, 219, { 30, 31 }, true },
	{ { 1024, 1040 }, 156, 1024, 4096, { 1023, 867 }, true },
	{ { 1024, 1040 }, 156, 16384, 1024, { 433, 433 }, true },
	{ { 32, 80 }, 156, 173, 4096, { 32, 16 }, true },
	{ { 32, 80 }, 156, 172, 4096, { 32, 15 }, false },
	{ { 32, 80 }, 156, 4096, 190, { 16, 16 }, true },
	{ { 32, 80 }, 156, 4096, 188, { 15, 15 }, false },
	{ { 8, 80 }, 156, 4096, 182, { 8, 16 }, true },
	{ { 8, 80 }, 0, 9, 4096, { 8, 8 }, false },
	{ { 32, 80 }, 156, 0, 0, { 0, 0 }, false },
	{ { 32, 80 }, 156, 157, 158, { 0, 0 }, false },
	{ { 1024, 1040 }, 156, 0x7fffffff, 0x7fffffff, { 1024, 1040 }, true },
};

static void credit_depths(struct kunit *test)
{
	const struct depths_row *row;

	for (row = depths_rows; row < depths_rows + ARRAY_SIZE(depths_rows); row++) {
		struct rch_depths d = row->want;
		bool enough = rch_depths_fit(&d, row->others, row->max_wr, row->max_cqe);
		long number = row - depths_rows;

		KUNIT_EXPECT_EQ_MSG(test, enough, row->enough, "row %ld", number);
		KUNIT_EXPECT_EQ_MSG(test, d.recv, row->get.recv, "row %ld", number);
		KUNIT_EXPECT_EQ_MSG(test, d.send, row->get.send, "row %ld", number);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(credit_depths),
	KUNIT_CASE(credit_room),
	KUNIT_CASE(kunit_credit_due),
	KUNIT_CASE(credit_duplicate),
	KUNIT_CASE_PARAM(credit_told, told_gen_params),
	KUNIT_CASE_PARAM(credit_sim, link_gen_params),
	{}
};

struct kunit_suite rch_credit_suite = {
	.name = "rdmachan_credit",
	.test_cases = cases,
};
