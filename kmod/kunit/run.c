// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - tests of runs: small messages that are taken out of a frame together
 */
#include "suites.h"
#include "wire.h"

#define WHOLE (RCH_DATA_F_FIRST | RCH_DATA_F_LAST)
#define ROOM 1024

struct frame {
	u8 buf[ROOM];
	u32 used;
};

static void frame_begin(struct frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->used = sizeof(struct rch_wire_frame);
}

static void add(struct frame *frame, u32 chan, u8 type, u8 flags, u32 length, u32 total)
{
	const struct rch_record r = {
		.chan = chan, .type = type, .flags = flags,
		.msg_flags = type == RCH_REC_DATA ? length : 0,
		.length = length, .total = total,
	};

	memset(rch_wire_record_put(frame->buf + frame->used, &r), length, length);
	frame->used += rch_wire_space(length);
}

static void add_whole(struct frame *frame, u32 chan, u32 length)
{
	add(frame, chan, RCH_REC_DATA, WHOLE, length, length);
}

/* The next run has @count records of @bytes, the longest of @longest, @span from end to end. */
static void expect_run(struct kunit *test, struct rch_cursor *c, struct rch_record *r, u32 count,
		       u32 bytes, u32 longest, u32 span)
{
	KUNIT_ASSERT_TRUE(test, rch_wire_record_more(c));
	KUNIT_ASSERT_EQ(test, rch_wire_record_next(c, r), RCH_RULE_OK);
	rch_wire_run(c, r);
	KUNIT_EXPECT_EQ(test, r->run.count, count);
	KUNIT_EXPECT_EQ(test, r->run.bytes, bytes);
	KUNIT_EXPECT_EQ(test, r->run.longest, longest);
	KUNIT_EXPECT_EQ(test, r->run.span, span);
}

static void run_of_messages(struct kunit *test)
{
	static const u32 lengths[] = { 3, 0, 64, 1 };
	struct rch_cursor c;
	struct frame frame;
	struct rch_record r;
	int i;

	frame_begin(&frame);
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		add_whole(&frame, 5, lengths[i]);
	rch_wire_cursor_init(&c, rch_exact(test, frame.buf, frame.used), frame.used);
	/* 3 and padding; a header; a header and 64; a header and 1. */
	expect_run(test, &c, &r, 4, 68, 64, 8 + 16 + 16 + 64 + 16 + 1);
	KUNIT_EXPECT_FALSE(test, rch_wire_record_more(&c));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (i)
			rch_wire_run_next(r.payload, r.length, &r);
		KUNIT_EXPECT_EQ(test, r.length, lengths[i]);
		KUNIT_EXPECT_EQ(test, r.total, lengths[i]);
		KUNIT_EXPECT_EQ(test, r.msg_flags, lengths[i]);
		if (r.length)
			KUNIT_EXPECT_EQ(test, r.payload[r.length - 1], lengths[i]);
	}
}

/* A segment that must not be taken for another message of the channel. */
static void run_ends(struct kunit *test)
{
	struct rch_cursor c;
	struct frame frame;
	struct rch_record r;
	u32 runs = 0;

	frame_begin(&frame);
	add_whole(&frame, 5, 8);
	add_whole(&frame, 6, 8);
	add(&frame, 6, RCH_REC_SHUT, RCH_SHUT_F_SEND, 0, 0);
	add_whole(&frame, 6, 8);
	add(&frame, 6, RCH_REC_DATA, RCH_DATA_F_FIRST, 8, 16);
	add(&frame, 6, RCH_REC_DATA, RCH_DATA_F_LAST, 8, 16);
	add_whole(&frame, 6, 8);
	add(&frame, 6, RCH_REC_DATA, WHOLE, 8, 9);
	add_whole(&frame, 6, 8);
	add(&frame, 6, RCH_REC_DATA, RCH_DATA_F_FIRST, 8, 8);
	add_whole(&frame, 6, 8);
	rch_wire_cursor_init(&c, rch_exact(test, frame.buf, frame.used), frame.used);
	while (rch_wire_record_more(&c)) {
		KUNIT_ASSERT_EQ(test, rch_wire_record_next(&c, &r), RCH_RULE_OK);
		rch_wire_run(&c, &r);
		KUNIT_EXPECT_EQ(test, r.run.count, 1);
		KUNIT_EXPECT_EQ(test, r.run.bytes, r.length);
		KUNIT_EXPECT_EQ(test, r.run.span, r.length);
		runs++;
	}
	KUNIT_EXPECT_EQ(test, runs, 11);
}

/* One that does not fit the frame is left for whoever judges it. */
static void run_cut_short(struct kunit *test)
{
	struct rch_cursor c;
	struct frame frame;
	struct rch_record r;
	u32 cut;

	frame_begin(&frame);
	add_whole(&frame, 5, 8);
	add_whole(&frame, 5, 24);
	for (cut = 8; cut < 40; cut += 8) {
		rch_wire_cursor_init(&c, rch_exact(test, frame.buf, frame.used - cut),
				     frame.used - cut);
		expect_run(test, &c, &r, 1, 8, 8, 8);
		KUNIT_EXPECT_EQ(test, rch_wire_record_next(&c, &r), RCH_RULE_RECORD_SHORT);
	}
}

/* Nor is one that has its bytes, but not all that they are padded with. */
static void run_without_padding(struct kunit *test)
{
	struct rch_cursor c;
	struct frame frame;
	struct rch_record r;

	frame_begin(&frame);
	add_whole(&frame, 5, 8);
	add_whole(&frame, 5, 20);
	rch_wire_cursor_init(&c, rch_exact(test, frame.buf, frame.used - 4), frame.used - 4);
	expect_run(test, &c, &r, 1, 8, 8, 8);
	KUNIT_EXPECT_EQ(test, rch_wire_record_next(&c, &r), RCH_RULE_RECORD_SHORT);
}

static struct kunit_case run_cases[] = {
	KUNIT_CASE(run_of_messages),
	KUNIT_CASE(run_ends),
	KUNIT_CASE(run_cut_short),
	KUNIT_CASE(run_without_padding),
	{}
};

struct kunit_suite rch_run_suite = {
	.name = "rdmachan_run",
	.test_cases = run_cases,
};
