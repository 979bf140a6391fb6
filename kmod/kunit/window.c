// SPDX-License-Identifier: GPL-2.0
/*
 * window.c - tests of a channel's window
 */
#include <rdmachan.h>

#include "../proto/wire.h"
#include "../pure/window.h"
#include "suites.h"

#define SEEDS		20
#define MESSAGES	120
/* Records of both ends together that a play can hold; a record that is read goes again. */
#define QUEUE		65536

static void window_arithmetic(struct kunit *test)
{
	struct rch_window_tx tx = { .limit = 65536 };
	struct rch_window_rx rx;

	KUNIT_EXPECT_EQ(test, rch_window_cost(0), 64);
	KUNIT_EXPECT_EQ(test, rch_window_cost(0xffffffff), 0x10000003fULL);
	rch_window_init(&rx, 65536);

	/* The last byte fits, one more does not, on both ends. */
	KUNIT_EXPECT_TRUE(test, rch_window_may_send(&tx, 65536 - 64));
	KUNIT_EXPECT_FALSE(test, rch_window_may_send(&tx, 65536 - 63));
	KUNIT_EXPECT_FALSE(test, rch_window_may_send(&tx, 0xffffffff));
	KUNIT_EXPECT_FALSE(test, rch_window_received(&rx, 65536 - 63));
	KUNIT_EXPECT_FALSE(test, rch_window_received(&rx, 0xffffffff));
	KUNIT_EXPECT_EQ(test, rx.received, 0);
	KUNIT_EXPECT_TRUE(test, rch_window_received(&rx, 65536 - 64));
	rch_window_sent(&tx, 65536 - 64);

	/* Even a record without bytes costs. */
	KUNIT_EXPECT_FALSE(test, rch_window_may_send(&tx, 0));
	KUNIT_EXPECT_FALSE(test, rch_window_received(&rx, 0));

	/* Old promises change nothing. */
	rch_window_raise(&tx, 0);
	KUNIT_EXPECT_EQ(test, tx.limit, 65536);
	rch_window_raise(&tx, 65536 + 64);
	KUNIT_EXPECT_TRUE(test, rch_window_may_send(&tx, 0));
	KUNIT_EXPECT_FALSE(test, rch_window_may_send(&tx, 1));
}

static void window_tell(struct kunit *test)
{
	struct rch_window_rx rx;

	rch_window_init(&rx, 65536);
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, false));
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, true));
	KUNIT_ASSERT_TRUE(test, rch_window_received(&rx, 16384 - 64 - 1));
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, true));
	KUNIT_ASSERT_TRUE(test, rch_window_received(&rx, 0));
	KUNIT_EXPECT_TRUE(test, rch_window_must_tell(&rx, true));
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, false));

	/* It was told for an incomplete message; once complete nothing is taken back. */
	rx.told = rch_window_target(&rx, true);
	KUNIT_EXPECT_EQ(test, rx.told, 65536 + 16384 + 63);
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, false));
	rch_window_consumed(&rx, 16384 - 64 - 1);
	rch_window_consumed(&rx, 0);
	KUNIT_EXPECT_EQ(test, rch_window_target(&rx, false), rx.told);
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, false));
}

static void window_resize(struct kunit *test)
{
	struct rch_window_rx rx;

	rch_window_init(&rx, 1 << 20);
	KUNIT_EXPECT_EQ(test, rch_window_excess(&rx, rx.told), 0);
	KUNIT_ASSERT_TRUE(test, rch_window_received(&rx, 65536 - 64));

	/* Smaller: promised bytes may come, and are beyond the buffer until they are read. */
	KUNIT_EXPECT_EQ(test, rch_window_resize(&rx, 65536), 0);
	KUNIT_EXPECT_EQ(test, rx.told, 1 << 20);
	KUNIT_EXPECT_EQ(test, rch_window_excess(&rx, rx.told), (1 << 20) - 65536);
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, false));
	KUNIT_ASSERT_TRUE(test, rch_window_received(&rx, (1 << 20) - 65536 - 64));
	KUNIT_EXPECT_FALSE(test, rch_window_received(&rx, 0));
	rch_window_consumed(&rx, 65536 - 64);
	KUNIT_EXPECT_EQ(test, rch_window_excess(&rx, rx.told), (1 << 20) - 2 * 65536);
	KUNIT_EXPECT_FALSE(test, rch_window_must_tell(&rx, false));
	rch_window_consumed(&rx, (1 << 20) - 65536 - 64);
	KUNIT_EXPECT_EQ(test, rch_window_excess(&rx, rx.told), 0);
	KUNIT_EXPECT_TRUE(test, rch_window_must_tell(&rx, false));
	KUNIT_EXPECT_EQ(test, rch_window_target(&rx, false), (1 << 20) + 65536);

	/* Larger: however little it is, it is told. As large as before says nothing. */
	rx.told = rch_window_target(&rx, false);
	KUNIT_EXPECT_EQ(test, rch_window_resize(&rx, 65536 + 1), (1 << 20) + 65536 + 1);
	KUNIT_EXPECT_EQ(test, rch_window_excess(&rx, rx.told), 0);
	KUNIT_EXPECT_EQ(test, rch_window_resize(&rx, 65536 + 1), 0);
	KUNIT_EXPECT_EQ(test, rch_window_resize(&rx, 65536), 0);
	KUNIT_EXPECT_EQ(test, rch_window_resize(&rx, 65536 + 1), 0);
}

struct record {
	u32 length;
	bool last;
};

/*
 * One direction of a channel. Records are sent (@head), received (@came) and read
 * (@tail); the program reads whole messages, of which @complete are there. @cost
 * is that of the message being sent, @longest of the dearest so far.
 */
struct play {
	struct rch_window_tx tx;
	struct rch_window_rx rx;
	struct rnd_state rnd;
	struct record *queue;
	u64 promise;
	u32 head, came, tail;
	u32 complete, begun, read;
	u32 left;
	u64 cost, longest;
	const char *broken;
};

/*
 * The largest buffer, the largest record, the largest message, whether records are often small, and
 * whether the buffer becomes smaller and larger.
 */
struct window_case {
	const char *name;
	u32 buffer;
	u32 segment;
	u32 message;
	bool crumbs;
	bool resized;
};

#define SEGMENT_16K (16384 - 40)

static const struct window_case window_cases[] = {
	{ "smallest buffer", RDMACHAN_BUFFER_MIN, SEGMENT_16K, 1 << 20, false },
	{ "smallest buffer, crumbs", RDMACHAN_BUFFER_MIN, SEGMENT_16K, 1 << 18, true },
	{ "tiny messages", RDMACHAN_BUFFER_MIN, SEGMENT_16K, 16, true },
	{ "messages of one record", RDMACHAN_BUFFER_MIN, SEGMENT_16K, SEGMENT_16K, false },
	{ "messages as large as the buffer", 1 << 20, SEGMENT_16K, 1 << 20, false },
	{ "messages larger than the buffer", 1 << 20, SEGMENT_16K, 8 << 20, false },
	{ "smallest frames", RDMACHAN_BUFFER_MIN, 1024 - 40, 1 << 19, false },
	{ "records of three quarters", RDMACHAN_BUFFER_MIN, 49152 - 64, 1 << 20, false },
	{ "resized", 1 << 20, SEGMENT_16K, 1 << 18, false, true },
	{ "resized, crumbs", 1 << 20, SEGMENT_16K, 1 << 18, true, true },
	{ "resized, larger messages", 1 << 19, SEGMENT_16K, 4 << 20, false, true },
};

static void window_desc(const struct window_case *wc, char *desc)
{
	strscpy(desc, wc->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(window, window_cases, window_desc);

/* All that can be read is one message that is not complete. */
static bool incomplete(const struct play *p)
{
	return !p->complete && p->came != p->tail;
}

/* The sender sends one record if it may. */
static bool play_send(struct play *p, const struct window_case *wc)
{
	u32 length = min(p->left, wc->segment);

	if (p->begun == MESSAGES)
		return false;
	if (wc->crumbs && length && rch_chance(&p->rnd, 2))
		length = 1 + rch_below(&p->rnd, min(length, 100U));
	if (!rch_window_may_send(&p->tx, length))
		return false;
	rch_window_sent(&p->tx, length);
	p->left -= length;
	p->cost += rch_window_cost(length);
	p->longest = max(p->longest, p->cost);
	p->queue[p->head % QUEUE].length = length;
	p->queue[p->head % QUEUE].last = !p->left;
	p->head++;
	if (p->head - p->tail >= QUEUE)
		p->broken = "more records than a window can hold";
	if (!p->left) {
		p->begun++;
		p->left = rch_below(&p->rnd, wc->message + 1);
		p->cost = 0;
	}
	return true;
}

static bool play_receive(struct play *p)
{
	const struct record *r = &p->queue[p->came % QUEUE];

	if (p->came == p->head)
		return false;
	if (!rch_window_received(&p->rx, r->length))
		p->broken = "what was allowed is refused";
	p->came++;
	p->complete += r->last;
	return true;
}

static bool play_read(struct play *p)
{
	const struct record *r;

	if (!p->complete)
		return false;
	do {
		r = &p->queue[p->tail++ % QUEUE];
		rch_window_consumed(&p->rx, r->length);
	} while (!r->last);
	p->complete--;
	p->read++;
	return true;
}

/* The promise is made now, and reaches the sender when it does. */
static bool play_tell(struct play *p)
{
	if (!rch_window_must_tell(&p->rx, incomplete(p)))
		return false;
	p->rx.told = rch_window_target(&p->rx, incomplete(p));
	p->promise = p->rx.told;
	return true;
}

static bool play_raise(struct play *p)
{
	bool news = p->promise > p->tx.limit;

	rch_window_raise(&p->tx, p->promise);
	return news;
}

/* As a program does by TUNE. It is no way out of a stall. */
static void play_resize(struct play *p, const struct window_case *wc)
{
	u32 size = RDMACHAN_BUFFER_MIN + rch_below(&p->rnd, wc->buffer - RDMACHAN_BUFFER_MIN + 1);
	u64 told = p->rx.told, limit = rch_window_resize(&p->rx, size);

	if (p->rx.told < told || (limit && limit != p->rx.told))
		p->broken = "a promise is taken back";
	if (limit)
		p->promise = limit;
	if (limit && rch_window_excess(&p->rx, limit))
		p->broken = "more is promised than there is room for";
}

static bool play_act(struct play *p, const struct window_case *wc, u32 what)
{
	switch (what) {
	case 0:
		return play_send(p, wc);
	case 1:
		return play_receive(p);
	case 2:
		return play_read(p);
	case 3:
		return play_tell(p);
	default:
		return play_raise(p);
	}
}

/*
 * What the receiver holds is bounded: by its buffer, and by one message besides
 * when that had to come whole.
 */
static void play_check(struct play *p, const struct window_case *wc)
{
	u64 held = p->rx.received - p->rx.consumed;

	if (held > p->longest + wc->buffer)
		p->broken = "more held than the buffer and a message";
	if (p->rx.received > p->tx.sent || p->tx.sent > p->rx.told)
		p->broken = "the two ends count differently";
}

static const char *play(struct play *p, const struct window_case *wc, u64 seed)
{
	struct record *queue = p->queue;
	u32 idle = 0, what;

	memset(p, 0, sizeof(*p));
	p->queue = queue;
	prandom_seed_state(&p->rnd, seed);
	p->tx.limit = wc->buffer;
	rch_window_init(&p->rx, wc->buffer);
	p->left = wc->message;
	while (p->read < MESSAGES && !p->broken) {
		what = rch_below(&p->rnd, 5);
		if (play_act(p, wc, what)) {
			idle = 0;
			play_check(p, wc);
			if (wc->resized && rch_chance(&p->rnd, 50))
				play_resize(p, wc);
			continue;
		}
		/* Nothing came of this; if nothing comes of any, that is a stall. */
		if (++idle < 20)
			continue;
		idle = 0;
		for (what = 0; what < 5 && !play_act(p, wc, what); what++)
			;
		if (what == 5)
			p->broken = "nobody can go on";
	}
	return p->broken;
}

static void window_play(struct kunit *test)
{
	const struct window_case *wc = test->param_value;
	struct play *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	const char *broken;
	int seed;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->queue = kunit_kcalloc(test, QUEUE, sizeof(*p->queue), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p->queue);
	for (seed = 1; seed <= SEEDS; seed++) {
		broken = play(p, wc, seed);
		KUNIT_ASSERT_TRUE_MSG(test, !broken, "seed %d, message %u: %s", seed,
				      p->read, broken);
		cond_resched();
	}
}

/* A record of the largest frame that this module offers never stalls. */
static void window_segment_fits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rch_wire_segment_max(16384), SEGMENT_16K);
	KUNIT_EXPECT_LE(test, rch_window_cost(SEGMENT_16K),
			RDMACHAN_BUFFER_MIN - RDMACHAN_BUFFER_MIN / 4);
}

/* A message of many small segments that never ends: its memory is bounded all the same. */
static void window_hoard(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 63, 64, 511, 512, 513, 984, SEGMENT_16K };
	const u64 most = (1 << 20) + (1 << 20) / 8;
	struct rch_window_rx rx;
	u32 i, left;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		rch_window_init(&rx, RDMACHAN_BUFFER_MIN);
		left = 1 << 20;
		while (left > lengths[i] && rch_segment_allowed(lengths[i], false) &&
		       rch_window_received(&rx, lengths[i]) && rx.received <= most) {
			left -= lengths[i];
			if (rch_window_must_tell(&rx, true))
				rx.told = rch_window_target(&rx, true);
		}
		KUNIT_EXPECT_LE_MSG(test, rx.received, most, "segments of %u bytes",
				    lengths[i]);
	}
	/* The last may be anything, and what each side cuts is large enough. */
	KUNIT_EXPECT_TRUE(test, rch_segment_allowed(0, true));
	KUNIT_EXPECT_TRUE(test, rch_segment_allowed(rch_wire_segment_max(RCH_FRAME_MIN),
						    false));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(window_arithmetic),
	KUNIT_CASE(window_tell),
	KUNIT_CASE(window_resize),
	KUNIT_CASE(window_segment_fits),
	KUNIT_CASE(window_hoard),
	KUNIT_CASE_PARAM(window_play, window_gen_params),
	{}
};

struct kunit_suite rch_window_suite = {
	.name = "rdmachan_window",
	.test_cases = cases,
};
