// SPDX-License-Identifier: GPL-2.0
/*
 * grant.c - tests of what is on the wire of grants, and of their addresses
 */
#include "../proto/grant.h"
#include "suites.h"
#include "wire.h"

/* Numbers at which a division or an addition could go wrong. */
static const u64 lengths[] = {
	1, 2, 4095, 4096, 4097, 65536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20,
	1ULL << 30, (1ULL << 32) - 1, 1ULL << 32, (1ULL << 62) - 1,
};

static void grant_key_count(struct kunit *test)
{
	u32 shift, i, k;

	for (shift = RCH_GRANT_SHIFT_MIN; shift <= RCH_GRANT_SHIFT_MAX; shift++) {
		u64 piece = 1ULL << shift;
		const u32 starts[] = { 0, 1, piece / 2, piece - 1 };

		for (i = 0; i < ARRAY_SIZE(lengths); i++)
			for (k = 0; k < ARRAY_SIZE(starts); k++) {
				u64 last = (starts[k] + lengths[i] - 1) / piece;

				KUNIT_EXPECT_EQ(test, rch_grant_keys(starts[k], lengths[i], shift),
						last + 1);
			}
	}
	KUNIT_EXPECT_EQ(test, rch_grant_keys(0, 1ULL << 62, 12), 0);
	KUNIT_EXPECT_EQ(test, rch_grant_keys(0, U64_MAX, 12), 0);
}

static void grant_range(struct kunit *test)
{
	u64 total, offset, length;

	for (total = 1; total < 6; total++)
		for (offset = 0; offset < 8; offset++)
			for (length = 0; length < 8; length++)
				KUNIT_EXPECT_EQ(test,
						rch_grant_range_ok(total, offset, length),
						offset + length <= total);
	KUNIT_EXPECT_FALSE(test, rch_grant_range_ok(10, 5, U64_MAX));
	KUNIT_EXPECT_FALSE(test, rch_grant_range_ok(10, U64_MAX, 5));
	KUNIT_EXPECT_FALSE(test, rch_grant_range_ok(10, U64_MAX, 1));
	KUNIT_EXPECT_TRUE(test, rch_grant_range_ok(U64_MAX, U64_MAX, 0));
}

/* Going from piece to piece ends where it should, and never leaves one. */
static void grant_pieces(struct kunit *test)
{
	u64 address, left, n, max;

	for (max = 1; max < 20000; max += 997)
		for (address = 0; address < 8192; address += 511)
			for (left = max; left; left -= n) {
				u64 at = address + max - left;

				n = rch_grant_piece_left(at, 12, left);
				KUNIT_ASSERT_GT(test, n, 0);
				KUNIT_ASSERT_LE(test, n, left);
				KUNIT_EXPECT_EQ(test, at >> 12, (at + n - 1) >> 12);
			}
}

/* Two grants, three keys and a message: 8 + 2 * 40 + 3 * 4 + 5 = 105 bytes. */
static const __le32 some_keys[] = {
	cpu_to_le32(0x01020304), cpu_to_le32(0x11121314), cpu_to_le32(0x21222324),
};

static const struct rch_grant_info two[] = {
	{ .id = 7, .rights = 3, .length = 4097, .cookie = 0x1122334455667788ULL, .start = 4095,
	  .shift = 12, .keys = 2, .key = some_keys },
	{ .id = 8, .rights = 0x104, .length = 8, .uses = 5, .shift = 30, .keys = 1,
	  .key = some_keys + 2 },
};

#define TWO_BYTES 105

static struct rch_record grant_good_record(u8 *buf)
{
	memcpy(rch_wire_grants_put(buf, two, 2), "hello", 5);
	return (struct rch_record) {
		.type = RCH_REC_DATA, .flags = 0x0b, .length = TWO_BYTES, .total = TWO_BYTES,
		.payload = buf,
	};
}

static void grant_round_trip(struct kunit *test)
{
	struct rch_grant_info got[RCH_GRANTS_MAX];
	u8 buf[112] __aligned(8);
	struct rch_record r = grant_good_record(buf);
	const u8 *message;
	u32 i;

	KUNIT_EXPECT_EQ(test, rch_wire_grants_size(two, 2, 5), TWO_BYTES);
	r.payload = rch_exact(test, buf, TWO_BYTES);
	KUNIT_ASSERT_EQ(test, rch_wire_grants_check(&r), RCH_RULE_OK);
	KUNIT_ASSERT_EQ(test, rch_wire_grants_count(&r), 2);
	KUNIT_EXPECT_EQ(test, rch_wire_grants_message(&r, &message), 5);
	KUNIT_EXPECT_EQ(test, memcmp(message, "hello", 5), 0);
	rch_wire_grants_get(&r, got);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, got[i].id, two[i].id);
		KUNIT_EXPECT_EQ(test, got[i].rights, two[i].rights);
		KUNIT_EXPECT_EQ(test, got[i].length, two[i].length);
		KUNIT_EXPECT_EQ(test, got[i].cookie, two[i].cookie);
		KUNIT_EXPECT_EQ(test, got[i].uses, two[i].uses);
		KUNIT_EXPECT_EQ(test, got[i].start, two[i].start);
		KUNIT_EXPECT_EQ(test, got[i].shift, two[i].shift);
		KUNIT_ASSERT_EQ(test, got[i].keys, two[i].keys);
		KUNIT_EXPECT_EQ(test, memcmp(got[i].key, two[i].key, 4 * two[i].keys), 0);
	}
}

/* A number of @width bytes to write at @offset into what was right. */
static const struct lie {
	const char *name;
	u32 offset;
	u32 width;
	u64 value;
	enum rch_rule rule;
} lies[] = {
	{ "no grants", 0, 4, 0, RCH_RULE_RECORD_LENGTH },
	{ "more than fit", 0, 4, 3, RCH_RULE_RECORD_LENGTH },
	{ "more than may be", 0, 4, 17, RCH_RULE_RECORD_LENGTH },
	{ "as many as wrap around", 0, 4, 0x80000000, RCH_RULE_RECORD_LENGTH },
	{ "reserved", 4, 4, 1, RCH_RULE_RESERVED },
	{ "no number", 8, 4, 0, RCH_RULE_GRANT },
	{ "no rights", 12, 4, 0, RCH_RULE_GRANT },
	{ "only who does it", 12, 4, 0x100, RCH_RULE_GRANT },
	{ "who does nothing", 12, 4, 0x101, RCH_RULE_GRANT },
	{ "unknown right", 12, 4, 9, RCH_RULE_GRANT },
	{ "no bytes", 16, 8, 0, RCH_RULE_GRANT },
	{ "fewer bytes than keys", 16, 8, 1, RCH_RULE_GRANT },
	{ "more bytes than keys", 16, 8, 4098, RCH_RULE_GRANT },
	{ "most bytes", 16, 8, U64_MAX, RCH_RULE_GRANT },
	{ "any cookie", 24, 8, U64_MAX, RCH_RULE_OK },
	{ "any uses", 32, 4, U32_MAX, RCH_RULE_OK },
	{ "begins behind its piece", 36, 4, 4096, RCH_RULE_GRANT },
	{ "begins elsewhere", 36, 4, 0, RCH_RULE_OK },
	{ "pieces too small", 40, 4, 11, RCH_RULE_GRANT },
	{ "pieces too large", 40, 4, 31, RCH_RULE_GRANT },
	{ "pieces that cannot be", 40, 4, 64, RCH_RULE_GRANT },
	{ "no keys", 44, 4, 0, RCH_RULE_GRANT },
	{ "a key too many", 44, 4, 3, RCH_RULE_GRANT },
};

static void lie_desc(const struct lie *lie, char *desc)
{
	strscpy(desc, lie->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(lie, lies, lie_desc);

static void grant_lies(struct kunit *test)
{
	const struct lie *lie = test->param_value;
	__le64 value = cpu_to_le64(lie->value);
	u8 buf[112] __aligned(8);
	struct rch_record r = grant_good_record(buf);

	memcpy(buf + lie->offset, &value, lie->width);
	r.payload = rch_exact(test, buf, TWO_BYTES);
	KUNIT_EXPECT_EQ(test, rch_wire_grants_check(&r), lie->rule);
}

/* Cut off anywhere: without a message it is right, and with fewer keys not any more. */
static void grant_cut(struct kunit *test)
{
	u8 buf[112] __aligned(8);
	struct rch_record r = grant_good_record(buf);
	u32 len;

	for (len = 0; len <= TWO_BYTES; len++) {
		r.length = len;
		r.total = len;
		r.payload = rch_exact(test, buf, len);
		KUNIT_EXPECT_EQ(test, rch_wire_grants_check(&r),
				len < TWO_BYTES - 5 ? RCH_RULE_RECORD_LENGTH : RCH_RULE_OK);
	}
	r = grant_good_record(buf);
	r.total++;
	KUNIT_EXPECT_EQ(test, rch_wire_grants_check(&r), RCH_RULE_SEGMENT);
	for (r.flags = 8, r.total--; r.flags < 16; r.flags++)
		KUNIT_EXPECT_EQ(test, rch_wire_grants_check(&r),
				r.flags == 0x0b ? RCH_RULE_OK : RCH_RULE_SEGMENT);
}

static void grant_end(struct kunit *test)
{
	static const u8 bytes[8] __aligned(8) = { 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11 };
	struct rch_record r = { .length = 8, .payload = bytes };
	u8 buf[8] __aligned(8);
	u32 id, cause;

	rch_wire_grant_end_get(&r, &id, &cause);
	KUNIT_EXPECT_EQ(test, id, 0x01020304);
	KUNIT_EXPECT_EQ(test, cause, 0x11121314);
	rch_wire_grant_end_put(buf, id, cause);
	KUNIT_EXPECT_EQ(test, memcmp(buf, bytes, 8), 0);
}

static void grant_atomic(struct kunit *test)
{
	const struct rch_atomic good = {
		.id = 1, .op = RDMACHAN_ATOMIC_COMPARE_SWAP, .address = 0x1122334455667788ULL,
		.operand = 3, .compare = 4, .serial = 5,
	};
	struct rch_atomic a = good, got;
	u8 buf[40] __aligned(8);
	struct rch_record r = { .length = 40, .payload = buf };
	u32 op, low;

	rch_wire_atomic_put(buf, &a);
	KUNIT_EXPECT_EQ(test, rch_wire_atomic_get(&r, &got), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, memcmp(&got, &good, sizeof(got)), 0);
	for (op = 0; op < 5; op++) {
		a.op = op;
		a.compare = 0;
		rch_wire_atomic_put(buf, &a);
		KUNIT_EXPECT_EQ(test, rch_wire_atomic_get(&r, &got),
				op == 1 || op == 2 ? RCH_RULE_OK : RCH_RULE_GRANT);
		a.compare = 1;
		rch_wire_atomic_put(buf, &a);
		KUNIT_EXPECT_EQ(test, rch_wire_atomic_get(&r, &got),
				op == 2 ? RCH_RULE_OK : RCH_RULE_RESERVED);
	}
	a = good;
	for (low = 0; low < 8; low++) {
		a.address = low;
		rch_wire_atomic_put(buf, &a);
		KUNIT_EXPECT_EQ(test, rch_wire_atomic_get(&r, &got),
				low ? RCH_RULE_GRANT : RCH_RULE_OK);
	}
	buf[36] = 1;
	KUNIT_EXPECT_EQ(test, rch_wire_atomic_get(&r, &got), RCH_RULE_RESERVED);
}

static void grant_atomic_done(struct kunit *test)
{
	u8 buf[16] __aligned(8);
	struct rch_record r = { .length = 16, .payload = buf };
	u32 serial;
	u64 value;

	rch_wire_atomic_done_put(buf, 9, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, rch_wire_atomic_done_get(&r, &serial, &value), RCH_RULE_OK);
	KUNIT_EXPECT_EQ(test, serial, 9);
	KUNIT_EXPECT_EQ(test, value, 0x1122334455667788ULL);
	buf[4] = 1;
	KUNIT_EXPECT_EQ(test, rch_wire_atomic_done_get(&r, &serial, &value), RCH_RULE_RESERVED);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(grant_key_count),
	KUNIT_CASE(grant_range),
	KUNIT_CASE(grant_pieces),
	KUNIT_CASE(grant_round_trip),
	KUNIT_CASE_PARAM(grant_lies, lie_gen_params),
	KUNIT_CASE(grant_cut),
	KUNIT_CASE(grant_end),
	KUNIT_CASE(grant_atomic),
	KUNIT_CASE(grant_atomic_done),
	{}
};

struct kunit_suite rch_grant_suite = {
	.name = "rdmachan_grant",
	.test_cases = cases,
};
