// SPDX-License-Identifier: GPL-2.0
/*
 * wire_fuzz.c - tests of the decoders with anything at all
 *
 * Frames are made right, then spoilt at random places, cut, and put where their
 * memory ends. Whichever bytes come of them, a decoder must end and stay inside.
 */
#include <linux/slab.h>

#include "suites.h"
#include "wire.h"

#define FRAMES		100000
#define FRAME_ROOM	640U

struct fuzz {
	struct rnd_state rnd;
	u8 frame[FRAME_ROOM] __aligned(8);
	u32 len;
	u64 sum;
	u32 whole;
	u32 records;
	const char *broken;
};

static u32 record_length(struct fuzz *z, u8 type)
{
	switch (type) {
	case RCH_REC_OPEN:
		return sizeof(struct rch_wire_open);
	case RCH_REC_ACCEPT:
		return sizeof(struct rch_wire_accept);
	case RCH_REC_DATA:
		return rch_below(&z->rnd, rch_chance(&z->rnd, 4) ? 300 : 40);
	case RCH_REC_SHUT:
	case RCH_REC_CLOSED:
	case RCH_REC_FIN:
		return 0;
	case RCH_REC_RTS:
		return sizeof(struct rch_wire_rts);
	case RCH_REC_CTS:
		return sizeof(struct rch_wire_cts);
	default:
		return 8;
	}
}

/* A frame that breaks no rule, of records of all types. */
static void fuzz_make(struct fuzz *z)
{
	struct rch_frame f = {};
	struct rch_record r;
	u8 *payload;

	z->len = sizeof(struct rch_wire_frame);
	while (!rch_chance(&z->rnd, 6)) {
		memset(&r, 0, sizeof(r));
		r.type = RCH_REC_OPEN + rch_below(&z->rnd, RCH_REC_FIN);
		r.chan = r.type == RCH_REC_OPEN ? 0 : 1 + rch_below(&z->rnd, 1000);
		r.length = record_length(z, r.type);
		r.total = r.type == RCH_REC_DATA ? r.length : 0;
		if (rch_wire_space(r.length) > FRAME_ROOM - z->len)
			break;
		payload = rch_wire_record_put(z->frame + z->len, &r);
		memset(payload, 1, r.length);
		if (r.type == RCH_REC_OPEN || r.type == RCH_REC_CTS)
			memset(payload + 20, 0, 4);
		if (r.type == RCH_REC_RTS)
			memset(payload + 8, 0, 8);
		z->len += rch_wire_space(r.length);
	}
	prandom_bytes_state(&z->rnd, &f, sizeof(f));
	f.flags = z->len == sizeof(struct rch_wire_frame) ? RCH_FRAME_F_PURE : 0;
	f.length = z->len;
	rch_wire_frame_put(z->frame, &f);
}

static void fuzz_spoil(struct fuzz *z)
{
	static const u32 numbers[] = {
		0, 1, 7, 8, 15, 16, 17, 0x7fffffff, 0x80000000, 0xfffffff0,
		0xfffffff1, 0xfffffff8, 0xffffffff, RCH_MESSAGE_MAX,
	};
	u32 times = rch_below(&z->rnd, 5), at, number;

	while (times--) {
		at = rch_below(&z->rnd, z->len);
		number = numbers[rch_below(&z->rnd, ARRAY_SIZE(numbers))];
		switch (rch_below(&z->rnd, 4)) {
		case 0:
			z->frame[at] = prandom_u32_state(&z->rnd);
			break;
		case 1:
			z->frame[at] ^= 1 << rch_below(&z->rnd, 8);
			break;
		case 2:
			*(__le32 *)(z->frame + (at & ~3)) = cpu_to_le32(number);
			break;
		default:
			*(__le32 *)(z->frame + (at & ~3)) =
				cpu_to_le32(rch_below(&z->rnd, 2 * z->len));
		}
	}
	if (rch_chance(&z->rnd, 4))
		z->len = rch_below(&z->rnd, z->len + 1);
}

/* Read all that a record is said to have, as the module would. */
static void fuzz_use(struct fuzz *z, const struct rch_record *r)
{
	struct rch_accept accept;
	struct rch_open open;
	struct rch_rts rts;
	struct rch_cts cts;
	u32 i, first, second;

	for (i = 0; i < r->length; i++)
		z->sum += r->payload[i];
	switch (r->type) {
	case RCH_REC_OPEN:
		rch_wire_open_get(r, &open);
		z->sum += open.window;
		return;
	case RCH_REC_ACCEPT:
		rch_wire_accept_get(r, &accept);
		z->sum += accept.window;
		return;
	case RCH_REC_REJECT:
	case RCH_REC_CLOSE:
		rch_wire_pair_get(r, &first, &second);
		z->sum += first + second;
		return;
	case RCH_REC_CREDIT:
		z->sum += rch_wire_credit_get(r);
		return;
	case RCH_REC_READ:
		z->sum += rch_wire_read_get(r);
		return;
	case RCH_REC_TAKEN:
		z->sum += rch_wire_taken_get(r);
		return;
	case RCH_REC_RTS:
		rch_wire_rts_get(r, &rts);
		z->sum += rts.total;
		return;
	case RCH_REC_CTS:
		rch_wire_cts_get(r, &cts);
		z->sum += cts.addr;
	}
}

static void fuzz_walk(struct fuzz *z, const u8 *buf)
{
	u32 most = z->len / sizeof(struct rch_wire_record), before, steps = 0;
	struct rch_cursor c;
	struct rch_record r;
	enum rch_rule rule;

	for (rch_wire_cursor_init(&c, buf, z->len); rch_wire_record_more(&c); steps++) {
		before = c.offset;
		rule = rch_wire_record_next(&c, &r);
		if (rule >= RCH_RULES)
			z->broken = "a rule that is none";
		if (c.offset > c.end)
			z->broken = "the cursor left the frame";
		if (rule != RCH_RULE_OK)
			return;
		if (c.offset < before + sizeof(struct rch_wire_record))
			z->broken = "the cursor does not move on";
		if (!rch_wire_inside(&c, &r))
			z->broken = "a record outside of its frame";
		if (steps > most)
			z->broken = "more records than fit";
		if (z->broken)
			return;
		z->records++;
		fuzz_use(z, &r);
	}
}

/*
 * Records are walked even when the header is wrong, which the module does not do:
 * the walk must not rely on anything but the length that came.
 */
static void fuzz_decode(struct fuzz *z, const u8 *buf)
{
	enum rch_rule rule;
	struct rch_frame f;

	rule = rch_wire_frame_get(buf, z->len, &f);
	if (rule >= RCH_RULES)
		z->broken = "a rule that is none";
	if (rule == RCH_RULE_OK && f.length != z->len)
		z->broken = "a length that did not come";
	z->whole += rule == RCH_RULE_OK;
	fuzz_walk(z, buf);
}

static void fuzz_frames(struct kunit *test)
{
	struct fuzz *z = kunit_kzalloc(test, sizeof(*z), GFP_KERNEL);
	u8 *buf;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, z);
	prandom_seed_state(&z->rnd, 5);
	for (i = 0; i < FRAMES; i++) {
		fuzz_make(z);
		fuzz_spoil(z);
		buf = kmemdup(z->frame, z->len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		fuzz_decode(z, buf);
		kfree(buf);
		KUNIT_ASSERT_TRUE_MSG(test, !z->broken, "frame %d: %s", i, z->broken);
		cond_resched();
	}
	/* It was neither all refused nor all let through. */
	KUNIT_EXPECT_GT(test, z->whole, FRAMES / 10);
	KUNIT_EXPECT_LT(test, z->whole, FRAMES - FRAMES / 10);
	KUNIT_EXPECT_GT(test, z->records, FRAMES);
	kunit_info(test, "%u of %u headers and %u records were right, sum %llx",
		   z->whole, FRAMES, z->records, z->sum);
}

static void fuzz_frames_right(struct kunit *test)
{
	struct fuzz *z = kunit_kzalloc(test, sizeof(*z), GFP_KERNEL);
	struct rch_cursor c;
	struct rch_record r;
	struct rch_frame f;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, z);
	prandom_seed_state(&z->rnd, 6);
	for (i = 0; i < FRAMES / 10; i++) {
		fuzz_make(z);
		KUNIT_ASSERT_EQ(test, rch_wire_frame_get(z->frame, z->len, &f),
				RCH_RULE_OK);
		rch_wire_cursor_init(&c, z->frame, z->len);
		while (rch_wire_record_more(&c))
			KUNIT_ASSERT_EQ(test, rch_wire_record_next(&c, &r), RCH_RULE_OK);
	}
}

static void fuzz_handshakes(struct kunit *test)
{
	struct rch_hello good = {
		.version_min = 1, .version_max = 1, .depth = 32, .frame_size = 16384,
		.dead_ms = 5000,
	};
	struct rch_refusal refusal;
	struct rch_query query;
	struct rch_hello hello;
	struct rnd_state rnd;
	u32 i, k, len;
	u8 *buf;

	prandom_seed_state(&rnd, 7);
	for (i = 0; i < FRAMES / 10; i++) {
		u8 bytes[64];

		prandom_bytes_state(&rnd, bytes, sizeof(bytes));
		rch_wire_hello_put(bytes, &good);
		for (k = rch_below(&rnd, 4); k; k--)
			bytes[rch_below(&rnd, 56)] = prandom_u32_state(&rnd);
		len = rch_below(&rnd, sizeof(bytes) + 1);
		buf = kmemdup(bytes, len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		if (rch_wire_hello_get(buf, len, &hello) == RCH_RULE_OK)
			KUNIT_EXPECT_TRUE(test, hello.depth >= 8 && hello.depth <= 4096 &&
					  hello.frame_size >= 1024 &&
					  hello.frame_size <= 65536 && hello.dead_ms >= 200);
		rch_wire_refusal_get(buf, len, &refusal);
		rch_wire_query_get(buf, len, &query);
		kfree(buf);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(fuzz_frames_right),
	KUNIT_CASE(fuzz_frames),
	KUNIT_CASE(fuzz_handshakes),
	{}
};

struct kunit_suite rch_wire_fuzz_suite = {
	.name = "rdmachan_wire_fuzz",
	.test_cases = cases,
};
