// SPDX-License-Identifier: GPL-2.0
/*
 * frame_fuzz.c - any bytes as a frame
 *
 * The header is judged, and the records are walked whatever it says: the walk must
 * rely on nothing but the length that came. The bytes lie where their memory ends.
 * Input that was found right must be as the encoders write it.
 */
#include "fuzz.h"

static void header_check(const u8 *data, size_t size, const struct rch_frame *f)
{
	u8 buf[sizeof(struct rch_wire_frame)] __attribute__((aligned(8)));

	fuzz_assert(f->length == size && f->length % RCH_WIRE_ALIGN == 0);
	fuzz_assert(!(f->flags & ~RCH_FRAME_F_ALL));
	fuzz_assert(!(f->flags & RCH_FRAME_F_PURE) == (size > sizeof(buf)));
	rch_wire_frame_put(buf, f);
	fuzz_assert(!memcmp(buf, data, sizeof(buf)));
}

/* Whether a record lies in its frame with its padding, counted without overflow. */
static bool record_fits(const u8 *data, u32 at, u32 size)
{
	const struct rch_wire_record *w = (const void *)(data + at);

	return size - at >= sizeof(*w) &&
	       ((u64)at + sizeof(*w) + le32_to_cpu(w->length) + 7) / 8 * 8 <= size;
}

static void walk(const u8 *data, u32 size)
{
	struct rch_cursor c;
	struct rch_record r;
	enum rch_rule rule;
	u32 before;

	rch_wire_cursor_init(&c, data, size);
	while (rch_wire_record_more(&c)) {
		before = c.offset;
		rule = rch_wire_record_next(&c, &r);
		fuzz_assert(rule < RCH_RULES);
		fuzz_assert(c.offset <= c.end);
		fuzz_assert((rule == RCH_RULE_RECORD_SHORT) !=
			    record_fits(data, before, size));
		if (rule)
			return;
		fuzz_assert(c.offset - before == rch_wire_space(r.length));
		fuzz_record_check(&c, &r);
	}
}

/* The messages of a run are what the records one by one would be. */
static void run_check(struct rch_cursor *c, const struct rch_record *first)
{
	struct rch_record r = *first, single;
	u32 i, bytes = 0, longest = 0;

	fuzz_assert(first->run.count > 0);
	for (i = 0; i < first->run.count; i++) {
		if (i)
			rch_wire_run_next(r.payload, r.length, &r);
		fuzz_assert(!rch_wire_record_next(c, &single));
		fuzz_assert(single.chan == first->chan && single.type == first->type);
		fuzz_assert(single.flags == first->flags);
		fuzz_assert(single.length == r.length && single.total == r.total);
		fuzz_assert(single.msg_flags == r.msg_flags && single.payload == r.payload);
		bytes += r.length;
		longest = r.length > longest ? r.length : longest;
	}
	fuzz_assert(bytes == first->run.bytes && longest == first->run.longest);
	fuzz_assert(r.payload + r.length == first->payload + first->run.span);
}

static void walk_runs(const u8 *data, u32 size)
{
	struct rch_cursor c, singles;
	struct rch_record r;

	rch_wire_cursor_init(&c, data, size);
	singles = c;
	while (rch_wire_record_more(&c) && !rch_wire_record_next(&c, &r)) {
		rch_wire_run(&c, &r);
		run_check(&singles, &r);
		fuzz_assert(singles.offset == c.offset);
	}
}

/* Take the bytes for something to say: an encoded record is decoded to the same. */
static void say(const u8 *data, size_t size)
{
	u8 buf[sizeof(struct rch_wire_open)] __attribute__((aligned(8)));
	struct rch_record r = { .payload = buf };
	struct rch_open open, open2;
	struct rch_accept accept, accept2;
	struct rch_rts rts, rts2;
	struct rch_cts cts, cts2;
	u32 first, second;

	if (size < sizeof(open))
		return;
	memcpy(&open, data, sizeof(open));
	rch_wire_open_put(buf, &open);
	rch_wire_open_get(&r, &open2);
	fuzz_assert(open.chan == open2.chan && open.service == open2.service &&
		    open.window == open2.window && open.message_max == open2.message_max);
	memcpy(&accept, data, sizeof(accept));
	rch_wire_accept_put(buf, &accept);
	rch_wire_accept_get(&r, &accept2);
	fuzz_assert(!memcmp(&accept, &accept2, sizeof(accept)));
	memcpy(&rts, data, sizeof(rts));
	rch_wire_rts_put(buf, &rts);
	rch_wire_rts_get(&r, &rts2);
	fuzz_assert(rts.total == rts2.total && rts.serial == rts2.serial &&
		    rts.msg_flags == rts2.msg_flags);
	memcpy(&cts, data, offsetof(struct rch_cts, ahead));
	rch_wire_cts_put(buf, &cts);
	rch_wire_cts_get(&r, &cts2);
	fuzz_assert(cts.addr == cts2.addr && cts.rkey == cts2.rkey &&
		    cts.length == cts2.length && cts.serial == cts2.serial &&
		    cts.message == cts2.message);
	rch_wire_pair_put(buf, open.chan, open.service);
	rch_wire_pair_get(&r, &first, &second);
	fuzz_assert(first == open.chan && second == open.service);
	rch_wire_credit_put(buf, open.window);
	fuzz_assert(rch_wire_credit_get(&r) == open.window);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rch_frame f;
	enum rch_rule rule;

	rule = rch_wire_frame_get(data, size, &f);
	fuzz_assert(rule < RCH_RULES && rch_rule_text(rule));
	fuzz_assert(rch_rule_text(size));
	if (!rule)
		header_check(data, size, &f);
	walk(data, size);
	walk_runs(data, size);
	say(data, size);
	return 0;
}

/*
 * Changes that the fuzzer thinks of seldom leave a frame whose length is right. Seven
 * of eight times the header is put right, and five of eight times the records too.
 */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	struct rch_frame f = {};

	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 == 0 || size < sizeof(struct rch_wire_frame))
		return size;
	size -= size % RCH_WIRE_ALIGN;
	memcpy(&f.epoch, data + offsetof(struct rch_wire_frame, epoch), sizeof(f.epoch));
	f.flags = data[1] & RCH_FRAME_F_HELLO;
	if (size == sizeof(struct rch_wire_frame))
		f.flags |= RCH_FRAME_F_PURE;
	f.length = size;
	rch_wire_frame_put(data, &f);
	if (seed % 8 > 2)
		fuzz_record_repair(data, size);
	return size;
}
