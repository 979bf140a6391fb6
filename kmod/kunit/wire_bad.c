// SPDX-License-Identifier: GPL-2.0
/*
 * wire_bad.c - tests of the decoders with what a peer must not send
 *
 * Each case is right but for one thing. All buffers end where their memory ends.
 */
#include "suites.h"
#include "wire.h"

/* A number of @width bytes to write at @offset into something that was right. */
struct spoil {
	const char *name;
	u32 offset;
	u32 width;
	u64 value;
	enum rch_rule rule;
};

static void spoil_desc(const struct spoil *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s = 0x%llx", s->name, s->value);
}

static void spoil(void *buf, const struct spoil *s)
{
	__le64 value = cpu_to_le64(s->value);

	memcpy((u8 *)buf + s->offset, &value, s->width);
}

#define FRAME_FIELD(member, v, r)						\
	{ #member, offsetof(struct rch_wire_frame, member),			\
	  sizeof_field(struct rch_wire_frame, member), v, RCH_RULE_##r }

/* Headers of a frame that holds one record: 40 bytes. */
static const struct spoil frame_spoils[] = {
	FRAME_FIELD(version, 1, OK),
	FRAME_FIELD(version, 0, FRAME_VERSION),
	FRAME_FIELD(version, 2, FRAME_VERSION),
	FRAME_FIELD(version, 255, FRAME_VERSION),
	FRAME_FIELD(flags, RCH_FRAME_F_HELLO, OK),
	FRAME_FIELD(flags, RCH_FRAME_F_PURE, PURE),
	FRAME_FIELD(flags, RCH_FRAME_F_ALL, PURE),
	FRAME_FIELD(flags, 0x04, FRAME_FLAGS),
	FRAME_FIELD(flags, 0x08, FRAME_FLAGS),
	FRAME_FIELD(flags, 0x10, FRAME_FLAGS),
	FRAME_FIELD(flags, 0x20, FRAME_FLAGS),
	FRAME_FIELD(flags, 0x40, FRAME_FLAGS),
	FRAME_FIELD(flags, 0x80, FRAME_FLAGS),
	FRAME_FIELD(reserved, 1, RESERVED),
	FRAME_FIELD(reserved, 0x8000, RESERVED),
	FRAME_FIELD(epoch, 0xffffffff, OK),
	FRAME_FIELD(seq, 0xffffffff, OK),
	FRAME_FIELD(ack, 0xffffffff, OK),
	FRAME_FIELD(limit, 0xffffffff, OK),
	FRAME_FIELD(length, 0, FRAME_LENGTH),
	FRAME_FIELD(length, 24, FRAME_LENGTH),
	FRAME_FIELD(length, 39, FRAME_LENGTH),
	FRAME_FIELD(length, 41, FRAME_LENGTH),
	FRAME_FIELD(length, 48, FRAME_LENGTH),
	FRAME_FIELD(length, 0x80000028, FRAME_LENGTH),
	FRAME_FIELD(length, 0xffffffff, FRAME_LENGTH),
};

KUNIT_ARRAY_PARAM(frame_spoil, frame_spoils, spoil_desc);

static void bad_frame_field(struct kunit *test)
{
	const struct rch_frame good = { .length = 40 };
	u8 bytes[40] __aligned(8) = {}, *buf;
	struct rch_frame f;

	rch_wire_frame_put(bytes, &good);
	spoil(bytes, test->param_value);
	buf = rch_exact(test, bytes, 40);
	KUNIT_EXPECT_EQ(test, rch_wire_frame_get(buf, 40, &f),
			((const struct spoil *)test->param_value)->rule);
}

/* Every length at which a frame can be cut off. */
static void bad_frame_cut(struct kunit *test)
{
	const struct rch_frame good = { .length = 40 };
	struct rch_frame f;
	u8 bytes[40] __aligned(8) = {};
	u32 len;

	rch_wire_frame_put(bytes, &good);
	for (len = 0; len < 40; len++) {
		void *buf = rch_exact(test, bytes, len);

		KUNIT_EXPECT_EQ(test, rch_wire_frame_get(buf, len, &f),
				len < 24 ? RCH_RULE_FRAME_SHORT : RCH_RULE_FRAME_LENGTH);
	}
}

/* Frames whose length is what came, but not a multiple of the alignment. */
static void bad_frame_odd(struct kunit *test)
{
	struct rch_frame f = { .length = 40 };
	u8 bytes[48] __aligned(8) = {};
	u32 len;

	for (len = 24; len <= 48; len++) {
		f.length = len;
		f.flags = len == 24 ? RCH_FRAME_F_PURE : 0;
		rch_wire_frame_put(bytes, &f);
		KUNIT_EXPECT_EQ(test,
				rch_wire_frame_get(rch_exact(test, bytes, len), len, &f),
				len % 8 ? RCH_RULE_FRAME_LENGTH : RCH_RULE_OK);
	}
	f.length = 24;
	f.flags = RCH_FRAME_F_HELLO;
	rch_wire_frame_put(bytes, &f);
	KUNIT_EXPECT_EQ(test, rch_wire_frame_get(bytes, 24, &f), RCH_RULE_PURE);
}

/* What each type of record may be; written down apart from the decoder's table. */
struct type_case {
	const char *name;
	u8 type;
	u8 flags;
	u32 chan;
	u32 length;
};

static const struct type_case type_cases[] = {
	{ "OPEN", RCH_REC_OPEN, 0x01, 0, 24 },
	{ "ACCEPT", RCH_REC_ACCEPT, 0x00, 5, 16 },
	{ "REJECT", RCH_REC_REJECT, 0x00, 5, 8 },
	{ "DATA", RCH_REC_DATA, 0x3f, 5, 13 },
	{ "CREDIT", RCH_REC_CREDIT, 0x00, 5, 8 },
	{ "SHUT", RCH_REC_SHUT, 0x13, 5, 0 },
	{ "CLOSE", RCH_REC_CLOSE, 0x01, 5, 8 },
	{ "CLOSED", RCH_REC_CLOSED, 0x00, 5, 0 },
	{ "RTS", RCH_REC_RTS, 0x07, 5, 16 },
	{ "CTS", RCH_REC_CTS, 0x03, 5, 24 },
	{ "FIN", RCH_REC_FIN, 0x00, 5, 0 },
	{ "REVOKE", RCH_REC_REVOKE, 0x00, 5, 8 },
	{ "RELEASE", RCH_REC_RELEASE, 0x00, 5, 8 },
	{ "ATOMIC", RCH_REC_ATOMIC, 0x00, 5, 40 },
	{ "ATOMIC_DONE", RCH_REC_ATOMIC_DONE, 0x00, 5, 16 },
	{ "READ", RCH_REC_READ, 0x00, 5, 8 },
	{ "TAKEN", RCH_REC_TAKEN, 0x00, 5, 8 },
};

static void type_desc(const struct type_case *tc, char *desc)
{
	strscpy(desc, tc->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(type, type_cases, type_desc);

#define ROOM 128U

/* A record of the type that is right, after a frame's header. */
static struct rch_record wire_bad_good_record(const struct type_case *tc)
{
	return (struct rch_record) {
		.chan = tc->chan,
		.type = tc->type,
		.length = tc->length,
		.total = tc->type == RCH_REC_DATA ? tc->length : 0,
	};
}

/* Write @r with bytes that any type finds right, into a frame of @len bytes. */
static enum rch_rule decode(struct kunit *test, const struct rch_record *r, u32 len)
{
	struct rch_wire_record *w;
	struct rch_cursor c;
	struct rch_record got;
	enum rch_rule rule;
	u8 bytes[ROOM] __aligned(8) = {}, *buf;

	w = (struct rch_wire_record *)(bytes + 24);
	w->chan = cpu_to_le32(r->chan);
	w->type = r->type;
	w->flags = r->flags;
	w->msg_flags = cpu_to_le16(r->msg_flags);
	w->length = cpu_to_le32(r->length);
	w->total = cpu_to_le32(r->total);
	bytes[40] = 1;
	buf = rch_exact(test, bytes, len);
	rch_wire_cursor_init(&c, buf, len);
	rule = rch_wire_record_next(&c, &got);
	if (rule == RCH_RULE_OK)
		KUNIT_EXPECT_TRUE(test, rch_wire_inside(&c, &got));
	KUNIT_EXPECT_LE(test, c.offset, len);
	kunit_kfree(test, buf);
	return rule;
}

/* Every length at which a record can be cut off; from its whole length on it is right. */
static void bad_record_cut(struct kunit *test)
{
	struct rch_record r = wire_bad_good_record(test->param_value);
	u32 whole = 24 + rch_wire_space(r.length), len;

	for (len = 25; len <= ROOM; len++)
		KUNIT_EXPECT_EQ_MSG(test, decode(test, &r, len),
				    len < whole ? RCH_RULE_RECORD_SHORT : RCH_RULE_OK,
				    "%u bytes", len);
}

/*
 * Of a record without bytes of a message that has some: with grants, or before ACCEPT, it must be
 * whole. And of one that answers nothing, and is ahead of that; of one that asks for TAKEN where no
 * message ends; and of one that ends receiving before ACCEPT.
 */
static enum rch_rule rule_of_flags(const struct type_case *tc, u32 flags)
{
	if (flags & ~tc->flags)
		return RCH_RULE_RECORD_FLAGS;
	if (tc->type == RCH_REC_CTS && flags == RCH_CTS_F_AHEAD)
		return RCH_RULE_RECORD_FLAGS;
	if (tc->type == RCH_REC_RTS && (flags & 5) == 5)
		return RCH_RULE_RECORD_FLAGS;
	if (tc->type == RCH_REC_SHUT && (flags & 0x10) && flags != 0x12)
		return RCH_RULE_RECORD_FLAGS;
	if (tc->type == RCH_REC_DATA && (flags & 0x20) && (flags & 0x0a) != 0x02)
		return RCH_RULE_RECORD_FLAGS;
	if (tc->type != RCH_REC_DATA || !(flags & (RCH_DATA_F_GRANTS | RCH_DATA_F_EARLY)))
		return RCH_RULE_OK;
	if ((flags & RCH_DATA_F_EARLY) && (flags & ~0x20) != 0x13)
		return RCH_RULE_RECORD_FLAGS;
	return RCH_RULE_SEGMENT;
}

static void bad_record_flags(struct kunit *test)
{
	const struct type_case *tc = test->param_value;
	struct rch_record r = wire_bad_good_record(tc);
	u32 flags;

	r.length = tc->type == RCH_REC_DATA ? 0 : r.length;
	for (flags = 0; flags < 256; flags++) {
		r.flags = flags;
		KUNIT_EXPECT_EQ_MSG(test, decode(test, &r, ROOM), rule_of_flags(tc, flags),
				    "flags 0x%02x", flags);
	}
}

static void bad_record_length(struct kunit *test)
{
	const struct type_case *tc = test->param_value;
	struct rch_record r = wire_bad_good_record(tc);
	enum rch_rule rule;

	for (r.length = 0; 24 + rch_wire_space(r.length) <= ROOM; r.length++) {
		r.total = tc->type == RCH_REC_DATA ? r.length : 0;
		rule = tc->type == RCH_REC_DATA || r.length == tc->length ?
		       RCH_RULE_OK : RCH_RULE_RECORD_LENGTH;
		KUNIT_EXPECT_EQ_MSG(test, decode(test, &r, ROOM), rule,
				    "%u bytes", r.length);
	}
}

/* Lengths that wrap around when a header or padding is added. */
static void bad_record_huge(struct kunit *test)
{
	const struct type_case *tc = test->param_value;
	struct rch_record r = wire_bad_good_record(tc);
	u32 i, len;

	for (len = 40; len <= ROOM; len += 8)
		for (i = 1; i <= 64; i++) {
			r.length = -i;
			r.total = tc->type == RCH_REC_DATA ? RCH_MESSAGE_MAX : 0;
			KUNIT_EXPECT_EQ(test, decode(test, &r, len),
					RCH_RULE_RECORD_SHORT);
			r.length = 0x80000000 - 32 + i;
			KUNIT_EXPECT_EQ(test, decode(test, &r, len),
					RCH_RULE_RECORD_SHORT);
		}
}

static void bad_record_members(struct kunit *test)
{
	const struct type_case *tc = test->param_value;
	bool data = tc->type == RCH_REC_DATA;
	struct rch_record r = wire_bad_good_record(tc);
	u32 bit;

	r.chan = tc->chan ? 0 : 5;
	KUNIT_EXPECT_EQ(test, decode(test, &r, ROOM), RCH_RULE_CHANNEL);
	for (bit = 0; bit < 16; bit++) {
		r = wire_bad_good_record(tc);
		r.msg_flags = 1 << bit;
		KUNIT_EXPECT_EQ(test, decode(test, &r, ROOM),
				data ? RCH_RULE_OK : RCH_RULE_RESERVED);
	}
	for (bit = 0; bit < 32 && !data; bit++) {
		r = wire_bad_good_record(tc);
		r.total = 1U << bit;
		KUNIT_EXPECT_EQ(test, decode(test, &r, ROOM), RCH_RULE_RESERVED);
	}
}

static void bad_record_type(struct kunit *test)
{
	struct rch_record r = { .chan = 5 };
	u32 type;

	for (type = 0; type < 256; type++) {
		if (type >= RCH_REC_OPEN && type <= RCH_REC_TAKEN)
			continue;
		r.type = type;
		KUNIT_EXPECT_EQ_MSG(test, decode(test, &r, ROOM),
				    RCH_RULE_RECORD_TYPE, "type %u", type);
	}
}

struct data_case {
	const char *name;
	u8 flags;
	u32 length;
	u32 total;
	enum rch_rule rule;
};

static const struct data_case data_cases[] = {
	{ "nothing of nothing", 3, 0, 0, RCH_RULE_OK },
	{ "all", 3, 9, 9, RCH_RULE_OK },
	{ "a part", 1, 9, 10, RCH_RULE_OK },
	{ "a part of the largest", 0, 9, 1 << 30, RCH_RULE_OK },
	{ "longer than its message", 3, 10, 9, RCH_RULE_SEGMENT },
	{ "something of nothing", 0, 1, 0, RCH_RULE_SEGMENT },
	{ "message one too large", 1, 9, (1 << 30) + 1, RCH_RULE_MESSAGE_SIZE },
	{ "message far too large", 1, 9, 0xffffffff, RCH_RULE_MESSAGE_SIZE },
	{ "abort", 4, 0, 9, RCH_RULE_OK },
	{ "abort with bytes", 4, 1, 9, RCH_RULE_RECORD_LENGTH },
	{ "abort and last with bytes", 6, 9, 9, RCH_RULE_RECORD_LENGTH },
	{ "early", 0x13, 9, 9, RCH_RULE_OK },
	{ "early nothing", 0x13, 0, 0, RCH_RULE_OK },
	{ "asks", 0x23, 9, 9, RCH_RULE_OK },
	{ "asks at its end", 0x22, 9, 10, RCH_RULE_OK },
	{ "asks early", 0x33, 9, 9, RCH_RULE_OK },
	{ "asks, not the last", 0x21, 9, 10, RCH_RULE_RECORD_FLAGS },
	{ "asks to be thrown away", 0x24, 0, 9, RCH_RULE_RECORD_FLAGS },
	{ "asks, of more, early", 0x33, 9, 10, RCH_RULE_SEGMENT },
	{ "early, of more", 0x13, 9, 10, RCH_RULE_SEGMENT },
	{ "early, not the first", 0x12, 9, 9, RCH_RULE_RECORD_FLAGS },
	{ "early, not the last", 0x11, 9, 9, RCH_RULE_RECORD_FLAGS },
	{ "early abort", 0x14, 0, 9, RCH_RULE_RECORD_FLAGS },
};

static void data_desc(const struct data_case *dc, char *desc)
{
	strscpy(desc, dc->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(data, data_cases, data_desc);

static void bad_data(struct kunit *test)
{
	const struct data_case *dc = test->param_value;
	const struct rch_record r = {
		.chan = 5, .type = RCH_REC_DATA, .flags = dc->flags,
		.length = dc->length, .total = dc->total,
	};

	KUNIT_EXPECT_EQ(test, decode(test, &r, ROOM), dc->rule);
}

/* Bytes of records that name a channel or have reserved members. */
struct payload_case {
	u8 type;
	struct spoil spoil;
};

static const struct payload_case payload_cases[] = {
	{ RCH_REC_OPEN, { "OPEN chan", 0, 4, 0, RCH_RULE_CHANNEL } },
	{ RCH_REC_OPEN, { "OPEN chan", 0, 4, 0x01000000, RCH_RULE_OK } },
	{ RCH_REC_OPEN, { "OPEN reserved", 20, 4, 1, RCH_RULE_RESERVED } },
	{ RCH_REC_OPEN, { "OPEN reserved", 20, 4, 0x80000000, RCH_RULE_RESERVED } },
	{ RCH_REC_ACCEPT, { "ACCEPT chan", 0, 4, 0, RCH_RULE_CHANNEL } },
	{ RCH_REC_ACCEPT, { "ACCEPT chan", 0, 4, 0xffffffff, RCH_RULE_OK } },
	{ RCH_REC_RTS, { "RTS total", 0, 4, 0, RCH_RULE_MESSAGE_SIZE } },
	{ RCH_REC_RTS, { "RTS total", 0, 4, 1 << 30, RCH_RULE_OK } },
	{ RCH_REC_RTS, { "RTS total", 0, 4, (1 << 30) + 1, RCH_RULE_MESSAGE_SIZE } },
	{ RCH_REC_RTS, { "RTS total", 0, 4, 0xffffffff, RCH_RULE_MESSAGE_SIZE } },
	{ RCH_REC_RTS, { "RTS flags", 8, 4, 0xffff, RCH_RULE_OK } },
	{ RCH_REC_RTS, { "RTS flags", 8, 4, 0x10000, RCH_RULE_RESERVED } },
	{ RCH_REC_RTS, { "RTS reserved", 12, 4, 1, RCH_RULE_RESERVED } },
	{ RCH_REC_CTS, { "CTS length", 12, 4, 0, RCH_RULE_OK } },
	{ RCH_REC_CTS, { "CTS message", 20, 4, 0x80000000, RCH_RULE_RESERVED } },
};

static void payload_desc(const struct payload_case *pc, char *desc)
{
	spoil_desc(&pc->spoil, desc);
}

KUNIT_ARRAY_PARAM(payload, payload_cases, payload_desc);

static void bad_payload(struct kunit *test)
{
	const struct payload_case *pc = test->param_value;
	struct rch_record r = wire_bad_good_record(&type_cases[pc->type - RCH_REC_OPEN]);
	u32 len = 24 + rch_wire_space(r.length);
	u8 bytes[ROOM] __aligned(8) = {}, *buf, *payload;
	struct rch_cursor c;

	payload = rch_wire_record_put(bytes + 24, &r);
	payload[0] = 1;
	spoil(payload, &pc->spoil);
	buf = rch_exact(test, bytes, len);
	rch_wire_cursor_init(&c, buf, len);
	KUNIT_EXPECT_EQ(test, rch_wire_record_next(&c, &r), pc->spoil.rule);
}

/* Padding is sent as zeros, and the receiver does not look at it. */
static void bad_padding(struct kunit *test)
{
	struct rch_record r = { .chan = 1, .type = RCH_REC_DATA, .total = 100 };
	struct rch_cursor c;
	u8 *buf;

	buf = kunit_kmalloc(test, 24 + rch_wire_space(8), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (r.length = 1; r.length <= 8; r.length++) {
		memset(buf, 0xcc, 24 + rch_wire_space(8));
		rch_wire_record_put(buf + 24, &r);
		KUNIT_EXPECT_NULL(test, memchr_inv(buf + 40 + r.length, 0, 8 - r.length));
		memset(buf + 40 + r.length, 0xff, 8 - r.length);
		rch_wire_cursor_init(&c, buf, 48);
		KUNIT_EXPECT_EQ(test, rch_wire_record_next(&c, &r), RCH_RULE_OK);
		KUNIT_EXPECT_EQ(test, c.offset, 48);
	}
}

/* An empty frame, and ends before the header, hold no record. */
static void bad_cursor_end(struct kunit *test)
{
	u8 buf[24] __aligned(8) = {};
	struct rch_cursor c;
	u32 end;

	for (end = 0; end <= 24; end++) {
		rch_wire_cursor_init(&c, buf, end);
		KUNIT_EXPECT_FALSE(test, rch_wire_record_more(&c));
	}
}

/* Each rule has words of its own, for the log. */
static void bad_in_words(struct kunit *test)
{
	u32 i, k;

	for (i = 0; i < RCH_RULES; i++) {
		KUNIT_EXPECT_STRNEQ(test, rch_rule_text(i), "unknown");
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, rch_rule_text(i), rch_rule_text(k));
	}
	KUNIT_EXPECT_STREQ(test, rch_rule_text(RCH_RULES), "unknown");
	KUNIT_EXPECT_STREQ(test, rch_rule_text(-1), "unknown");
}

static const struct rch_hello good_hello = {
	.version_min = 1, .version_max = 1, .depth = 32, .boot_id = 1, .link = 1,
	.epoch = 1, .frame_size = 16384, .dead_ms = 5000, .domain = 1000, .service = 1,
	.peer_domain = RCH_DOMAIN_ANY,
};

#define HELLO_FIELD(member, v, r)						\
	{ #member, offsetof(struct rch_wire_hello, member),			\
	  sizeof_field(struct rch_wire_hello, member), v, RCH_RULE_##r }

static const struct spoil hello_spoils[] = {
	HELLO_FIELD(magic, 0, MAGIC),
	HELLO_FIELD(magic, 0x72646d63, MAGIC),
	HELLO_FIELD(magic, 0x636d6473, MAGIC),
	HELLO_FIELD(version_min, 0, OK),
	HELLO_FIELD(version_max, 255, OK),
	HELLO_FIELD(depth, 0, SIZES),
	HELLO_FIELD(depth, 7, SIZES),
	HELLO_FIELD(depth, 8, OK),
	HELLO_FIELD(depth, 4096, OK),
	HELLO_FIELD(depth, 4097, SIZES),
	HELLO_FIELD(depth, 65535, SIZES),
	HELLO_FIELD(features, 0xffffffff, OK),
	HELLO_FIELD(required, 0xffffffff, OK),
	HELLO_FIELD(boot_id, 0, OK),
	HELLO_FIELD(next_seq, 0xffffffff, OK),
	HELLO_FIELD(frame_size, 0, SIZES),
	HELLO_FIELD(frame_size, 1016, SIZES),
	HELLO_FIELD(frame_size, 1023, SIZES),
	HELLO_FIELD(frame_size, 1024, OK),
	HELLO_FIELD(frame_size, 1028, SIZES),
	HELLO_FIELD(frame_size, 16383, SIZES),
	HELLO_FIELD(frame_size, 65536, OK),
	HELLO_FIELD(frame_size, 65544, SIZES),
	HELLO_FIELD(frame_size, 0xfffffff8, SIZES),
	HELLO_FIELD(dead_ms, 0, SIZES),
	HELLO_FIELD(dead_ms, 1, SIZES),
	HELLO_FIELD(dead_ms, 199, SIZES),
	HELLO_FIELD(dead_ms, 200, OK),
	HELLO_FIELD(dead_ms, 0xffffffff, OK),
};

KUNIT_ARRAY_PARAM(hello_spoil, hello_spoils, spoil_desc);

static void bad_hello_field(struct kunit *test)
{
	const struct spoil *s = test->param_value;
	u8 *buf = kunit_kmalloc(test, 56, GFP_KERNEL);
	struct rch_hello h;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	rch_wire_hello_put(buf, &good_hello);
	spoil(buf, s);
	KUNIT_EXPECT_EQ(test, rch_wire_hello_get(buf, 56, &h), s->rule);
	/* Versions are told even when the rest cannot be used. */
	if (s->rule == RCH_RULE_SIZES)
		KUNIT_EXPECT_EQ(test, h.version_max, 1);
}

/* Handshakes: no bytes at all, every cut, other alignments, bytes that follow. */
static void bad_handshake_length(struct kunit *test)
{
	const struct rch_refusal good_refusal = { 1, 1, RCH_REJECT_VERSION, 0 };
	u8 hello[56 + 8] = {}, refusal[16 + 8] = {};
	struct rch_refusal r;
	struct rch_hello h;
	u32 len, shift;
	u8 *buf;

	rch_wire_hello_put(hello, &good_hello);
	rch_wire_refusal_put(refusal, &good_refusal);
	KUNIT_EXPECT_EQ(test, rch_wire_hello_get(NULL, 0, &h), RCH_RULE_MAGIC);
	KUNIT_EXPECT_EQ(test, rch_wire_hello_get(NULL, 56, &h), RCH_RULE_MAGIC);
	KUNIT_EXPECT_EQ(test, rch_wire_refusal_get(NULL, 0, &r), RCH_RULE_MAGIC);
	KUNIT_EXPECT_EQ(test, rch_wire_refusal_get(NULL, 16, &r), RCH_RULE_MAGIC);
	for (len = 0; len <= sizeof(hello); len++) {
		buf = rch_exact(test, hello, len);
		KUNIT_EXPECT_EQ(test, rch_wire_hello_get(buf, len, &h),
				len < 56 ? RCH_RULE_MAGIC : RCH_RULE_OK);
	}
	for (len = 0; len <= sizeof(refusal); len++) {
		buf = rch_exact(test, refusal, len);
		KUNIT_EXPECT_EQ(test, rch_wire_refusal_get(buf, len, &r),
				len < 16 ? RCH_RULE_MAGIC : RCH_RULE_OK);
	}
	for (shift = 1; shift < 8; shift++) {
		buf = kunit_kmalloc(test, 56 + shift, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + shift, hello, 56);
		KUNIT_EXPECT_EQ(test, rch_wire_hello_get(buf + shift, 56, &h),
				RCH_RULE_OK);
		memcpy(buf + shift, refusal, 16);
		KUNIT_EXPECT_EQ(test, rch_wire_refusal_get(buf + shift, 16, &r),
				RCH_RULE_OK);
	}
	refusal[0] ^= 1;
	KUNIT_EXPECT_EQ(test, rch_wire_refusal_get(refusal, 16, &r), RCH_RULE_MAGIC);
}

/* A query likewise; and neither a hello nor a refusal is one. */
static void bad_query_length(struct kunit *test)
{
	const struct rch_query good = { .link = 1, .peer_link = 2, .epoch = 1 };
	struct rch_query q;
	u8 query[32 + 8] = {};
	u32 len, shift;
	u8 *buf;

	rch_wire_query_put(query, &good);
	KUNIT_EXPECT_EQ(test, rch_wire_query_get(NULL, 32, &q), RCH_RULE_MAGIC);
	for (len = 0; len <= sizeof(query); len++) {
		buf = rch_exact(test, query, len);
		KUNIT_EXPECT_EQ(test, rch_wire_query_get(buf, len, &q),
				len < 32 ? RCH_RULE_MAGIC : RCH_RULE_OK);
	}
	for (shift = 1; shift < 8; shift++) {
		buf = kunit_kmalloc(test, 32 + shift, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + shift, query, 32);
		KUNIT_EXPECT_EQ(test, rch_wire_query_get(buf + shift, 32, &q), RCH_RULE_OK);
		KUNIT_EXPECT_EQ(test, q.peer_link, 2);
	}
	query[3] = 'c';
	KUNIT_EXPECT_EQ(test, rch_wire_query_get(query, 32, &q), RCH_RULE_MAGIC);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(bad_frame_cut),
	KUNIT_CASE(bad_frame_odd),
	KUNIT_CASE_PARAM(bad_frame_field, frame_spoil_gen_params),
	KUNIT_CASE_PARAM(bad_record_cut, type_gen_params),
	KUNIT_CASE_PARAM(bad_record_flags, type_gen_params),
	KUNIT_CASE_PARAM(bad_record_length, type_gen_params),
	KUNIT_CASE_PARAM(bad_record_huge, type_gen_params),
	KUNIT_CASE_PARAM(bad_record_members, type_gen_params),
	KUNIT_CASE(bad_record_type),
	KUNIT_CASE_PARAM(bad_data, data_gen_params),
	KUNIT_CASE_PARAM(bad_payload, payload_gen_params),
	KUNIT_CASE(bad_padding),
	KUNIT_CASE(bad_cursor_end),
	KUNIT_CASE(bad_in_words),
	KUNIT_CASE_PARAM(bad_hello_field, hello_spoil_gen_params),
	KUNIT_CASE(bad_handshake_length),
	KUNIT_CASE(bad_query_length),
	{}
};

struct kunit_suite rch_wire_bad_suite = {
	.name = "rdmachan_wire_bad",
	.test_cases = cases,
};
