// SPDX-License-Identifier: GPL-2.0
/*
 * hello_fuzz.c - any bytes as the connection manager's private data
 *
 * A hello, a query and a refusal are read from the same bytes, at any alignment and length.
 */
#include "fuzz.h"

#define DATA_MAX 256

/* What choosing a version means, in other words. */
static void version_check(u8 peer_min, u8 peer_max)
{
	u8 got = rch_wire_version(peer_min, peer_max), want = 0;
	int v;

	for (v = RCH_WIRE_VERSION_MIN; v <= RCH_WIRE_VERSION; v++)
		if (v >= peer_min && v <= peer_max)
			want = v;
	fuzz_assert(got == want);
}

static bool sizes_right(const struct rch_hello *h)
{
	return h->depth >= RCH_DEPTH_MIN && h->depth <= RCH_DEPTH_MAX &&
	       h->dead_ms >= RCH_DEAD_MIN &&
	       h->frame_size >= RCH_FRAME_MIN && h->frame_size <= RCH_FRAME_MAX &&
	       h->frame_size % RCH_WIRE_ALIGN == 0;
}

static void hello_check(const u8 *data, size_t size)
{
	u8 buf[sizeof(struct rch_wire_hello)] __attribute__((aligned(8)));
	struct rch_hello h;
	enum rch_rule rule = rch_wire_hello_get(data, size, &h);

	fuzz_assert(rule == RCH_RULE_OK || rule == RCH_RULE_MAGIC ||
		    rule == RCH_RULE_SIZES);
	if (rule == RCH_RULE_MAGIC)
		return;
	fuzz_assert(h.version_min == data[4] && h.version_max == data[5]);
	version_check(h.version_min, h.version_max);
	fuzz_assert((rule == RCH_RULE_OK) == sizes_right(&h));
	rch_wire_hello_put(buf, &h);
	fuzz_assert(!memcmp(buf, data, sizeof(buf)));
}

static void refusal_check(const u8 *data, size_t size)
{
	u8 buf[sizeof(struct rch_wire_refusal)] __attribute__((aligned(8)));
	struct rch_refusal r;

	if (rch_wire_refusal_get(data, size, &r))
		return;
	version_check(r.version_min, r.version_max);
	rch_wire_refusal_put(buf, &r);
	/* The reserved member is not looked at. */
	memcpy(buf + 6, data + 6, 2);
	fuzz_assert(!memcmp(buf, data, sizeof(buf)));
}

static void query_check(const u8 *data, size_t size)
{
	u8 buf[sizeof(struct rch_wire_query)] __attribute__((aligned(8)));
	struct rch_query q;

	if (rch_wire_query_get(data, size, &q))
		return;
	rch_wire_query_put(buf, &q);
	fuzz_assert(!memcmp(buf, data, sizeof(buf)));
}

/* Take the bytes for something to say: an encoded hello is decoded to the same. */
static void say(const u8 *data, size_t size)
{
	u8 buf[sizeof(struct rch_wire_hello)] __attribute__((aligned(8)));
	struct rch_hello h, h2 = {};
	struct rch_refusal r = {}, r2 = {};

	if (size < sizeof(h))
		return;
	memset(&h, 0, sizeof(h));
	memcpy(&h, data, sizeof(h));
	rch_wire_hello_put(buf, &h);
	rch_wire_hello_get(buf, sizeof(buf), &h2);
	fuzz_assert(h.boot_id == h2.boot_id && h.depth == h2.depth &&
		    h.peer_domain == h2.peer_domain && h.next_seq == h2.next_seq);
	memcpy(&r.reason, data, sizeof(r.reason));
	memcpy(&r.detail, data + 4, sizeof(r.detail));
	rch_wire_refusal_put(buf, &r);
	fuzz_assert(rch_wire_refusal_get(buf, sizeof(struct rch_wire_refusal), &r2) ==
		    RCH_RULE_OK);
	fuzz_assert(r.reason == r2.reason && r.detail == r2.detail);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 shifted[DATA_MAX + 1];
	struct rch_refusal r;
	struct rch_query q;
	struct rch_hello h;

	fuzz_assert(rch_wire_hello_get(NULL, size, &h) == RCH_RULE_MAGIC);
	fuzz_assert(rch_wire_refusal_get(NULL, size, &r) == RCH_RULE_MAGIC);
	fuzz_assert(rch_wire_query_get(NULL, size, &q) == RCH_RULE_MAGIC);
	hello_check(data, size);
	query_check(data, size);
	refusal_check(data, size);
	if (size > 1)
		version_check(data[0], data[1]);
	say(data, size);
	if (size <= DATA_MAX) {
		memcpy(shifted + 1, data, size);
		hello_check(shifted + 1, size);
		query_check(shifted + 1, size);
		refusal_check(shifted + 1, size);
	}
	return 0;
}

/* Seven of eight times the magic is put right, to that of a query in one of four. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	__le32 magic = cpu_to_le32(seed / 8 % 4 ? RCH_WIRE_MAGIC : RCH_WIRE_QUERY);

	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 && size >= sizeof(magic))
		memcpy(data, &magic, sizeof(magic));
	return size;
}
