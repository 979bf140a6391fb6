// SPDX-License-Identifier: GPL-2.0
/*
 * wire.c - tests of what is on the wire: the bytes, and there and back again
 */
#include "../pure/credit.h"
#include "suites.h"
#include "wire.h"

#define ROUNDS 2000

/**
 * rch_exact - a copy that ends where its memory ends
 * @test: test that frees it
 * @src: what to copy
 * @len: bytes
 *
 * A byte read behind it is seen by KASAN.
 */
void *rch_exact(struct kunit *test, const void *src, u32 len)
{
	void *buf = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, src, len);
	return buf;
}

/* The bytes as the protocol's document has them: they never change. */

static const struct rch_frame frame_told = {
	.flags = RCH_FRAME_F_HELLO,
	.epoch = 0x14131211, .seq = 0x24232221, .ack = 0x34333231,
	.limit = 0x44434241, .length = 40,
};

static const u8 frame_bytes[40] = {
	1, 2, 0, 0,
	0x11, 0x12, 0x13, 0x14,
	0x21, 0x22, 0x23, 0x24,
	0x31, 0x32, 0x33, 0x34,
	0x41, 0x42, 0x43, 0x44,
	40, 0, 0, 0,
};

static void wire_frame_bytes(struct kunit *test)
{
	u8 *buf = rch_exact(test, frame_bytes, sizeof(frame_bytes));
	struct rch_frame f;

	memset(buf, 0xcc, 24);
	rch_wire_frame_put(buf, &frame_told);
	KUNIT_EXPECT_EQ(test, memcmp(buf, frame_bytes, sizeof(frame_bytes)), 0);
	KUNIT_ASSERT_EQ(test, rch_wire_frame_get(buf, 40, &f), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, f.flags, RCH_FRAME_F_HELLO);
	KUNIT_EXPECT_EQ(test, f.epoch, frame_told.epoch);
	KUNIT_EXPECT_EQ(test, f.seq, frame_told.seq);
	KUNIT_EXPECT_EQ(test, f.ack, frame_told.ack);
	KUNIT_EXPECT_EQ(test, f.limit, frame_told.limit);
	KUNIT_EXPECT_EQ(test, f.length, 40);
}

/* One frame with a record of each type, byte by byte. */
static const u8 records_bytes[] = {
	/* OPEN: number 2, service 7, window 2^32 + 5, message_max 9 */
	0, 0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0,
	/* ACCEPT to 2: number 3, message_max 8, window 6 */
	2, 0, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,
	3, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
	/* REJECT to 2: domain 0x1234 */
	2, 0, 0, 0, 3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
	3, 0, 0, 0, 0x34, 0x12, 0, 0,
	/* DATA to 0xa0b0c0d0, first, flags 0x8001: 3 bytes of 0x102 */
	0xd0, 0xc0, 0xb0, 0xa0, 4, 1, 1, 0x80, 3, 0, 0, 0, 2, 1, 0, 0,
	'a', 'b', 'c', 0, 0, 0, 0, 0,
	/* CREDIT to 2 */
	2, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
	1, 2, 3, 4, 5, 6, 7, 8,
	/* SHUT to 2: sends no more */
	2, 0, 0, 0, 6, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* CLOSE to 2: reset, cause 13, detail 9 */
	2, 0, 0, 0, 7, 1, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
	13, 0, 0, 0, 9, 0, 0, 0,
	/* CLOSED to 2 */
	2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* RTS to 2: 0x100002 bytes, serial 6, flags 0x8001 */
	2, 0, 0, 0, 9, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 16, 0, 6, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0,
	/* CTS to 2: address 2^32 + 5, key 7, 8 bytes, serial 6 */
	2, 0, 0, 0, 10, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0,
	5, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
	/* FIN to 2 */
	2, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* CTS to 2, standing: the same, for message 0x40003 */
	2, 0, 0, 0, 10, 1, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0,
	5, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 3, 0, 4, 0,
	/* And ahead */
	2, 0, 0, 0, 10, 3, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0,
	5, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 3, 0, 4, 0,
	/* RTS to 2, placed: as above */
	2, 0, 0, 0, 9, 2, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 16, 0, 6, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0,
	/* READ to 2 */
	2, 0, 0, 0, 16, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
	0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	/* RTS to 2, which asks for TAKEN: as above */
	2, 0, 0, 0, 9, 4, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 16, 0, 6, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0,
	/* TAKEN to 2 */
	2, 0, 0, 0, 17, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
	0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
};

static u8 *put(u8 *at, u32 chan, u8 type, u8 flags, u32 length)
{
	const struct rch_record r = {
		.chan = chan, .type = type, .flags = flags, .length = length,
	};

	return rch_wire_record_put(at, &r);
}

static void wire_records_put(struct kunit *test)
{
	const struct rch_open open = { 2, 7, 0x100000005ULL, 9 };
	const struct rch_accept accept = { 3, 8, 6 };
	const struct rch_rts rts = { 0x100002, 6, 0x8001, false };
	const struct rch_cts cts = { 0x100000005ULL, 7, 8, 6, 0 };
	const struct rch_cts standing = { 0x100000005ULL, 7, 8, 6, 0x40003 };
	const struct rch_record data = {
		.chan = 0xa0b0c0d0, .type = RCH_REC_DATA, .flags = RCH_DATA_F_FIRST,
		.msg_flags = 0x8001, .length = 3, .total = 0x102,
	};
	u8 *buf = kunit_kmalloc(test, sizeof(records_bytes), GFP_KERNEL), *at = buf;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memset(buf, 0xcc, sizeof(records_bytes));
	rch_wire_open_put(put(at, 0, RCH_REC_OPEN, 0, 24), &open);
	at += rch_wire_space(24);
	rch_wire_accept_put(put(at, 2, RCH_REC_ACCEPT, 0, 16), &accept);
	at += rch_wire_space(16);
	rch_wire_pair_put(put(at, 2, RCH_REC_REJECT, 0, 8), RCH_REJECT_DOMAIN, 0x1234);
	at += rch_wire_space(8);
	memcpy(rch_wire_record_put(at, &data), "abc", 3);
	at += rch_wire_space(3);
	rch_wire_credit_put(put(at, 2, RCH_REC_CREDIT, 0, 8), 0x0807060504030201ULL);
	at += rch_wire_space(8);
	put(at, 2, RCH_REC_SHUT, RCH_SHUT_F_SEND, 0);
	at += rch_wire_space(0);
	rch_wire_pair_put(put(at, 2, RCH_REC_CLOSE, RCH_CLOSE_F_RESET, 8), 13, 9);
	at += rch_wire_space(8);
	put(at, 2, RCH_REC_CLOSED, 0, 0);
	at += rch_wire_space(0);
	rch_wire_rts_put(put(at, 2, RCH_REC_RTS, 0, 16), &rts);
	at += rch_wire_space(16);
	rch_wire_cts_put(put(at, 2, RCH_REC_CTS, 0, 24), &cts);
	at += rch_wire_space(24);
	put(at, 2, RCH_REC_FIN, 0, 0);
	at += rch_wire_space(0);
	rch_wire_cts_put(put(at, 2, RCH_REC_CTS, RCH_CTS_F_STANDING, 24), &standing);
	at += rch_wire_space(24);
	rch_wire_cts_put(put(at, 2, RCH_REC_CTS, RCH_CTS_F_STANDING | RCH_CTS_F_AHEAD, 24),
			 &standing);
	at += rch_wire_space(24);
	rch_wire_rts_put(put(at, 2, RCH_REC_RTS, RCH_RTS_F_PLACED, 16), &rts);
	at += rch_wire_space(16);
	rch_wire_read_put(put(at, 2, RCH_REC_READ, 0, 8), 0x1817161514131211ULL);
	at += rch_wire_space(8);
	rch_wire_rts_put(put(at, 2, RCH_REC_RTS, RCH_RTS_F_TELL, 16), &rts);
	at += rch_wire_space(16);
	rch_wire_taken_put(put(at, 2, RCH_REC_TAKEN, 0, 8), 0x2827262524232221ULL);
	at += rch_wire_space(8);
	KUNIT_ASSERT_EQ(test, at - buf, sizeof(records_bytes));
	for (i = 0; i < sizeof(records_bytes); i++)
		KUNIT_EXPECT_EQ_MSG(test, buf[i], records_bytes[i], "byte %d", i);
}

/* Check the next record's header, and that it lies in the frame. */
static void next(struct kunit *test, struct rch_cursor *c, struct rch_record *r,
		 u8 type, u32 length)
{
	KUNIT_ASSERT_TRUE(test, rch_wire_record_more(c));
	KUNIT_ASSERT_EQ(test, rch_wire_record_next(c, r), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, r->type, type);
	KUNIT_EXPECT_EQ(test, r->length, length);
	KUNIT_EXPECT_TRUE(test, rch_wire_inside(c, r));
}

static void records_get_open(struct kunit *test, struct rch_cursor *c)
{
	struct rch_record r;
	struct rch_open open;
	struct rch_accept accept;
	u32 reason, domain;

	next(test, c, &r, RCH_REC_OPEN, 24);
	rch_wire_open_get(&r, &open);
	KUNIT_EXPECT_EQ(test, open.chan, 2);
	KUNIT_EXPECT_EQ(test, open.service, 7);
	KUNIT_EXPECT_EQ(test, open.window, 0x100000005ULL);
	KUNIT_EXPECT_EQ(test, open.message_max, 9);
	next(test, c, &r, RCH_REC_ACCEPT, 16);
	rch_wire_accept_get(&r, &accept);
	KUNIT_EXPECT_EQ(test, accept.chan, 3);
	KUNIT_EXPECT_EQ(test, accept.message_max, 8);
	KUNIT_EXPECT_EQ(test, accept.window, 6);
	next(test, c, &r, RCH_REC_REJECT, 8);
	rch_wire_pair_get(&r, &reason, &domain);
	KUNIT_EXPECT_EQ(test, reason, RCH_REJECT_DOMAIN);
	KUNIT_EXPECT_EQ(test, domain, 0x1234);
}

static void records_get_rest(struct kunit *test, struct rch_cursor *c)
{
	struct rch_record r;
	u32 cause, detail;

	next(test, c, &r, RCH_REC_DATA, 3);
	KUNIT_EXPECT_EQ(test, r.chan, 0xa0b0c0d0);
	KUNIT_EXPECT_EQ(test, r.flags, RCH_DATA_F_FIRST);
	KUNIT_EXPECT_EQ(test, r.msg_flags, 0x8001);
	KUNIT_EXPECT_EQ(test, r.total, 0x102);
	KUNIT_EXPECT_EQ(test, memcmp(r.payload, "abc", 3), 0);
	next(test, c, &r, RCH_REC_CREDIT, 8);
	KUNIT_EXPECT_EQ(test, rch_wire_credit_get(&r), 0x0807060504030201ULL);
	next(test, c, &r, RCH_REC_SHUT, 0);
	KUNIT_EXPECT_EQ(test, r.flags, RCH_SHUT_F_SEND);
	next(test, c, &r, RCH_REC_CLOSE, 8);
	KUNIT_EXPECT_EQ(test, r.flags, RCH_CLOSE_F_RESET);
	rch_wire_pair_get(&r, &cause, &detail);
	KUNIT_EXPECT_EQ(test, cause, 13);
	KUNIT_EXPECT_EQ(test, detail, 9);
	next(test, c, &r, RCH_REC_CLOSED, 0);
	KUNIT_EXPECT_EQ(test, r.chan, 2);
}

static void records_get_place(struct kunit *test, struct rch_cursor *c)
{
	struct rch_record r;
	struct rch_rts rts;
	struct rch_cts cts;

	next(test, c, &r, RCH_REC_RTS, 16);
	rch_wire_rts_get(&r, &rts);
	KUNIT_EXPECT_EQ(test, rts.total, 0x100002);
	KUNIT_EXPECT_EQ(test, rts.serial, 6);
	KUNIT_EXPECT_EQ(test, rts.msg_flags, 0x8001);
	next(test, c, &r, RCH_REC_CTS, 24);
	rch_wire_cts_get(&r, &cts);
	KUNIT_EXPECT_EQ(test, cts.addr, 0x100000005ULL);
	KUNIT_EXPECT_EQ(test, cts.rkey, 7);
	KUNIT_EXPECT_EQ(test, cts.length, 8);
	KUNIT_EXPECT_EQ(test, cts.serial, 6);
	KUNIT_EXPECT_EQ(test, cts.message, 0);
	KUNIT_EXPECT_FALSE(test, cts.ahead);
	next(test, c, &r, RCH_REC_FIN, 0);
	next(test, c, &r, RCH_REC_CTS, 24);
	rch_wire_cts_get(&r, &cts);
	KUNIT_EXPECT_EQ(test, r.flags, RCH_CTS_F_STANDING);
	KUNIT_EXPECT_EQ(test, cts.serial, 6);
	KUNIT_EXPECT_EQ(test, cts.message, 0x40003);
	KUNIT_EXPECT_FALSE(test, cts.ahead);
	next(test, c, &r, RCH_REC_CTS, 24);
	rch_wire_cts_get(&r, &cts);
	KUNIT_EXPECT_EQ(test, cts.serial, 6);
	KUNIT_EXPECT_TRUE(test, cts.ahead);
	next(test, c, &r, RCH_REC_RTS, 16);
	rch_wire_rts_get(&r, &rts);
	KUNIT_EXPECT_EQ(test, r.flags, RCH_RTS_F_PLACED);
	KUNIT_EXPECT_EQ(test, rts.total, 0x100002);
	KUNIT_EXPECT_FALSE(test, rts.tell);
	next(test, c, &r, RCH_REC_READ, 8);
	KUNIT_EXPECT_EQ(test, rch_wire_read_get(&r), 0x1817161514131211ULL);
}

static void records_get_taken(struct kunit *test, struct rch_cursor *c)
{
	struct rch_record r;
	struct rch_rts rts;

	next(test, c, &r, RCH_REC_RTS, 16);
	rch_wire_rts_get(&r, &rts);
	KUNIT_EXPECT_EQ(test, rts.msg_flags, 0x8001);
	KUNIT_EXPECT_TRUE(test, rts.tell);
	next(test, c, &r, RCH_REC_TAKEN, 8);
	KUNIT_EXPECT_EQ(test, rch_wire_taken_get(&r), 0x2827262524232221ULL);
}

static void wire_records_get(struct kunit *test)
{
	const u32 len = 24 + sizeof(records_bytes);
	u8 *buf = kunit_kzalloc(test, len, GFP_KERNEL);
	struct rch_cursor c;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf + 24, records_bytes, sizeof(records_bytes));
	rch_wire_cursor_init(&c, buf, len);
	records_get_open(test, &c);
	records_get_rest(test, &c);
	records_get_place(test, &c);
	records_get_taken(test, &c);
	KUNIT_EXPECT_FALSE(test, rch_wire_record_more(&c));
}

static const u8 hello_bytes[56] = {
	'r', 'd', 'm', 'c', 1, 2, 0x20, 0,
	0x31, 0, 0, 0, 0x41, 0, 0, 0,
	1, 2, 3, 4, 5, 6, 7, 8,
	0x51, 0, 0, 0, 0x61, 0, 0, 0,
	0x71, 0, 0, 0, 0, 0x40, 0, 0,
	0x88, 0x13, 0, 0, 0x91, 0, 0, 0,
	0xa1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
};

static void wire_hello_bytes(struct kunit *test)
{
	u8 *buf = rch_exact(test, hello_bytes, 56);
	struct rch_hello h;

	KUNIT_ASSERT_EQ(test, rch_wire_hello_get(buf, 56, &h), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, h.version_min, 1);
	KUNIT_EXPECT_EQ(test, h.version_max, 2);
	KUNIT_EXPECT_EQ(test, h.depth, 32);
	KUNIT_EXPECT_EQ(test, h.features, 0x31);
	KUNIT_EXPECT_EQ(test, h.required, 0x41);
	KUNIT_EXPECT_EQ(test, h.boot_id, 0x0807060504030201ULL);
	KUNIT_EXPECT_EQ(test, h.link, 0x51);
	KUNIT_EXPECT_EQ(test, h.epoch, 0x61);
	KUNIT_EXPECT_EQ(test, h.next_seq, 0x71);
	KUNIT_EXPECT_EQ(test, h.frame_size, 16384);
	KUNIT_EXPECT_EQ(test, h.dead_ms, 5000);
	KUNIT_EXPECT_EQ(test, h.domain, 0x91);
	KUNIT_EXPECT_EQ(test, h.service, 0xa1);
	KUNIT_EXPECT_EQ(test, h.peer_domain, RCH_DOMAIN_ANY);
	memset(buf, 0xcc, 56);
	rch_wire_hello_put(buf, &h);
	KUNIT_EXPECT_EQ(test, memcmp(buf, hello_bytes, 56), 0);
}

static void wire_refusal_bytes(struct kunit *test)
{
	static const u8 bytes[16] = {
		'r', 'd', 'm', 'c', 1, 3, 0, 0, 3, 0, 0, 0, 0xe8, 3, 0, 0,
	};
	u8 *buf = rch_exact(test, bytes, 16);
	struct rch_refusal r;

	KUNIT_ASSERT_EQ(test, rch_wire_refusal_get(buf, 16, &r), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, r.version_min, 1);
	KUNIT_EXPECT_EQ(test, r.version_max, 3);
	KUNIT_EXPECT_EQ(test, r.reason, RCH_REJECT_DOMAIN);
	KUNIT_EXPECT_EQ(test, r.detail, 1000);
	memset(buf, 0xcc, 16);
	rch_wire_refusal_put(buf, &r);
	KUNIT_EXPECT_EQ(test, memcmp(buf, bytes, 16), 0);
}

static void wire_query_bytes(struct kunit *test)
{
	static const u8 bytes[32] = {
		'r', 'd', 'm', 'q', 7, 0, 0, 0, 0x09, 1, 0, 0, 2, 0, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	};
	u8 *buf = rch_exact(test, bytes, 32);
	struct rch_query q;

	KUNIT_ASSERT_EQ(test, rch_wire_query_get(buf, 32, &q), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, q.link, 7);
	KUNIT_EXPECT_EQ(test, q.peer_link, 0x109);
	KUNIT_EXPECT_EQ(test, q.epoch, 2);
	KUNIT_EXPECT_EQ(test, q.boot_id, 0x0807060504030201ULL);
	KUNIT_EXPECT_EQ(test, q.peer_boot, 0x1817161514131211ULL);
	memset(buf, 0xcc, 32);
	rch_wire_query_put(buf, &q);
	KUNIT_EXPECT_EQ(test, memcmp(buf, bytes, 32), 0);
}

/* Random numbers in every member come back as they were. */
static void wire_round_trips(struct kunit *test)
{
	u8 *buf = kunit_kmalloc(test, 56, GFP_KERNEL);
	struct rch_frame f, f2;
	struct rch_hello h, h2;
	struct rnd_state rnd;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	prandom_seed_state(&rnd, 4);
	for (i = 0; i < ROUNDS; i++) {
		memset(&f, 0, sizeof(f));
		memset(&h, 0, sizeof(h));
		memset(&f2, 0, sizeof(f2));
		memset(&h2, 0, sizeof(h2));
		prandom_bytes_state(&rnd, &f, sizeof(f));
		f.flags = RCH_FRAME_F_PURE;
		f.length = 24;
		rch_wire_frame_put(buf, &f);
		KUNIT_ASSERT_EQ(test, rch_wire_frame_get(buf, 24, &f2), RCH_RULE_OK);
		KUNIT_ASSERT_EQ(test, memcmp(&f.epoch, &f2.epoch,
					     sizeof(f) - offsetof(struct rch_frame, epoch)), 0);
		prandom_bytes_state(&rnd, &h, sizeof(h));
		h.depth = RCH_DEPTH_MIN +
			  rch_below(&rnd, RCH_DEPTH_MAX - RCH_DEPTH_MIN + 1);
		h.frame_size = RCH_FRAME_MIN +
			       8 * rch_below(&rnd, (RCH_FRAME_MAX - RCH_FRAME_MIN) / 8 + 1);
		h.dead_ms |= RCH_DEAD_MIN;
		rch_wire_hello_put(buf, &h);
		KUNIT_ASSERT_EQ(test, rch_wire_hello_get(buf, 56, &h2), RCH_RULE_OK);
		rch_wire_hello_put(buf, &h2);
		rch_wire_hello_get(buf, 56, &h2);
		KUNIT_ASSERT_EQ(test, h.boot_id, h2.boot_id);
		KUNIT_ASSERT_EQ(test, memcmp(&h.link, &h2.link,
					     offsetofend(struct rch_hello, peer_domain) -
					     offsetof(struct rch_hello, link)), 0);
	}
}

/* A frame filled with as many records of each length as fit. */
static void wire_fill(struct kunit *test)
{
	const u32 size = 4096;
	u8 *buf = kunit_kmalloc(test, size, GFP_KERNEL);
	u32 length, used, put, got;
	struct rch_record r;
	struct rch_cursor c;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (length = 0; length <= rch_wire_segment_max(size); length += 1 + length / 16) {
		const struct rch_record data = {
			.chan = 1, .type = RCH_REC_DATA, .length = length, .total = length,
		};

		memset(buf, 0xcc, size);
		put = 0;
		for (used = 24; size - used >= rch_wire_space(length);
		     used += rch_wire_space(length), put++)
			memset(rch_wire_record_put(buf + used, &data), put, length);
		KUNIT_ASSERT_GT(test, put, 0);
		got = 0;
		for (rch_wire_cursor_init(&c, buf, used); rch_wire_record_more(&c); got++) {
			KUNIT_ASSERT_EQ(test, rch_wire_record_next(&c, &r), RCH_RULE_OK);
			KUNIT_ASSERT_EQ(test, r.length, length);
			KUNIT_ASSERT_TRUE(test, rch_wire_inside(&c, &r));
			KUNIT_ASSERT_NULL(test, memchr_inv(r.payload, got, length));
			KUNIT_ASSERT_NULL(test, memchr_inv(r.payload + length, 0,
							   buf + c.offset -
							   (r.payload + length)));
		}
		KUNIT_ASSERT_EQ(test, got, put);
	}
}

/* The largest DATA record uses a frame up, for every size that can be agreed. */
static void wire_segment_max(struct kunit *test)
{
	u32 size;

	for (size = RCH_FRAME_MIN; size <= RCH_FRAME_MAX; size += RCH_WIRE_ALIGN) {
		u32 most = rch_wire_segment_max(size);

		KUNIT_ASSERT_LE(test, 24 + rch_wire_space(most), size);
		KUNIT_ASSERT_GT(test, 24 + rch_wire_space(most + 1), size);
	}
}

struct version_case {
	u8 min, max, chosen;
};

static const struct version_case version_cases[] = {
	{ 1, 1, 1 }, { 1, 2, 1 }, { 1, 255, 1 }, { 0, 1, 1 }, { 0, 255, 1 },
	{ 0, 0, 0 }, { 2, 2, 0 }, { 2, 255, 0 }, { 255, 255, 0 },
	{ 2, 1, 0 }, { 255, 0, 0 }, { 1, 0, 0 }, { 255, 1, 0 },
};

static void version_desc(const struct version_case *vc, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to %u", vc->min, vc->max);
}

KUNIT_ARRAY_PARAM(version, version_cases, version_desc);

static void wire_version(struct kunit *test)
{
	const struct version_case *vc = test->param_value;

	KUNIT_EXPECT_EQ(test, rch_wire_version(vc->min, vc->max), vc->chosen);
}

/* Immediate data goes over the wire with the highest byte first. */
static void wire_bare(struct kunit *test)
{
	static const struct rch_bare first = { .chan = 0x1234, .seq = 0x56, .ack = 0x78 };
	static const struct rch_bare full = { .chan = 0x1234, .full = true };
	struct rch_bare bare;

	KUNIT_EXPECT_EQ(test, rch_wire_bare_put(&first), 0x78561234);
	KUNIT_EXPECT_EQ(test, rch_wire_bare_put(&full), 0x9234);
	rch_wire_bare_get(0x78561234, &bare);
	KUNIT_EXPECT_EQ(test, bare.chan, first.chan);
	KUNIT_EXPECT_EQ(test, bare.seq, first.seq);
	KUNIT_EXPECT_EQ(test, bare.ack, first.ack);
	KUNIT_EXPECT_FALSE(test, bare.full);
	rch_wire_bare_get(0xffffffff, &bare);
	KUNIT_EXPECT_EQ(test, bare.chan, RCH_BARE_CHAN_MAX);
	KUNIT_EXPECT_TRUE(test, bare.full);
	KUNIT_EXPECT_EQ(test, rch_wire_bare_put(&bare), 0xffffffff);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(wire_frame_bytes),
	KUNIT_CASE(wire_bare),
	KUNIT_CASE(wire_records_put),
	KUNIT_CASE(wire_records_get),
	KUNIT_CASE(wire_hello_bytes),
	KUNIT_CASE(wire_refusal_bytes),
	KUNIT_CASE(wire_query_bytes),
	KUNIT_CASE(wire_round_trips),
	KUNIT_CASE(wire_fill),
	KUNIT_CASE(wire_segment_max),
	KUNIT_CASE_PARAM(wire_version, version_gen_params),
	{}
};

struct kunit_suite rch_wire_suite = {
	.name = "rdmachan_wire",
	.test_cases = cases,
};
