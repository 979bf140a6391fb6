// SPDX-License-Identifier: GPL-2.0
/*
 * records.c - records of all types, decoded, encoded and repaired
 *
 * A new type on the wire gets a case in fuzz_record_length(), one in payload_copy()
 * when it has bytes, and an input in seeds.c.
 */
#include "fuzz.h"

/** fuzz_record_length - bytes that a record of @type has; @any where all are allowed */
u32 fuzz_record_length(u8 type, u32 any)
{
	switch (type) {
	case RCH_REC_OPEN:
		return sizeof(struct rch_wire_open);
	case RCH_REC_ACCEPT:
		return sizeof(struct rch_wire_accept);
	case RCH_REC_REJECT:
		return sizeof(struct rch_wire_reject);
	case RCH_REC_DATA:
		return any;
	case RCH_REC_CREDIT:
		return sizeof(struct rch_wire_credit);
	case RCH_REC_CLOSE:
		return sizeof(struct rch_wire_close);
	case RCH_REC_READ:
		return sizeof(struct rch_wire_read);
	case RCH_REC_TAKEN:
		return sizeof(struct rch_wire_taken);
	case RCH_REC_RTS:
		return sizeof(struct rch_wire_rts);
	case RCH_REC_CTS:
		return sizeof(struct rch_wire_cts);
	case RCH_REC_REVOKE:
	case RCH_REC_RELEASE:
		return sizeof(struct rch_wire_grant_end);
	case RCH_REC_ATOMIC:
		return sizeof(struct rch_wire_atomic);
	case RCH_REC_ATOMIC_DONE:
		return sizeof(struct rch_wire_atomic_done);
	default:
		return 0;
	}
}

/* What whoever keeps a grant relies on. */
static void grant_check(const struct rch_grant_info *grant)
{
	u64 last = grant->start + grant->length - 1;

	fuzz_assert(grant->id && grant->rights && grant->length && grant->keys);
	fuzz_assert(last >> grant->shift == grant->keys - 1);
}

static void grants_copy(void *to, const struct rch_record *r)
{
	struct rch_grant_info grants[RCH_GRANTS_MAX];
	u32 count = rch_wire_grants_count(r), length, i;
	const u8 *bytes;

	fuzz_assert(count && count <= RCH_GRANTS_MAX);
	rch_wire_grants_get(r, grants);
	for (i = 0; i < count; i++)
		grant_check(&grants[i]);
	length = rch_wire_grants_message(r, &bytes);
	fuzz_assert(rch_wire_grants_size(grants, count, length) == r->length);
	memcpy(rch_wire_grants_put(to, grants, count), bytes, length);
}

/* What breaks a rule stays as it came: it is judged when its channel is known. */
static void atomic_copy(void *to, const struct rch_record *r)
{
	struct rch_atomic atomic;

	if (rch_wire_atomic_get(r, &atomic))
		memcpy(to, r->payload, r->length);
	else
		rch_wire_atomic_put(to, &atomic);
}

static void atomic_done_copy(void *to, const struct rch_record *r)
{
	u32 serial;
	u64 value;

	if (rch_wire_atomic_done_get(r, &serial, &value))
		memcpy(to, r->payload, r->length);
	else
		rch_wire_atomic_done_put(to, serial, value);
}

/* Decode the bytes of a record by the getter of its type, and encode what came out. */
static void payload_copy(void *to, const struct rch_record *r)
{
	struct rch_accept accept;
	struct rch_open open;
	struct rch_rts rts;
	struct rch_cts cts;
	u32 first, second;

	switch (r->type) {
	case RCH_REC_OPEN:
		rch_wire_open_get(r, &open);
		fuzz_assert(open.chan);
		rch_wire_open_put(to, &open);
		return;
	case RCH_REC_ACCEPT:
		rch_wire_accept_get(r, &accept);
		fuzz_assert(accept.chan);
		rch_wire_accept_put(to, &accept);
		return;
	case RCH_REC_REJECT:
	case RCH_REC_CLOSE:
		rch_wire_pair_get(r, &first, &second);
		rch_wire_pair_put(to, first, second);
		return;
	case RCH_REC_CREDIT:
		rch_wire_credit_put(to, rch_wire_credit_get(r));
		return;
	case RCH_REC_READ:
		rch_wire_read_put(to, rch_wire_read_get(r));
		return;
	case RCH_REC_TAKEN:
		rch_wire_taken_put(to, rch_wire_taken_get(r));
		return;
	case RCH_REC_RTS:
		rch_wire_rts_get(r, &rts);
		fuzz_assert(rts.total && rts.total <= RCH_MESSAGE_MAX);
		fuzz_assert(rts.tell == !!(r->flags & RCH_RTS_F_TELL));
		rch_wire_rts_put(to, &rts);
		return;
	case RCH_REC_CTS:
		rch_wire_cts_get(r, &cts);
		rch_wire_cts_put(to, &cts);
		return;
	case RCH_REC_DATA:
		if (r->flags & RCH_DATA_F_GRANTS)
			grants_copy(to, r);
		else
			memcpy(to, r->payload, r->length);
		return;
	case RCH_REC_REVOKE:
	case RCH_REC_RELEASE:
		rch_wire_grant_end_get(r, &first, &second);
		rch_wire_grant_end_put(to, first, second);
		return;
	case RCH_REC_ATOMIC:
		atomic_copy(to, r);
		return;
	case RCH_REC_ATOMIC_DONE:
		atomic_done_copy(to, r);
		return;
	default:
		fuzz_assert(!r->length);
	}
}

/** fuzz_record_encode - write @r with its bytes to @buf; gives its bytes in a frame */
u32 fuzz_record_encode(void *buf, const struct rch_record *r)
{
	payload_copy(rch_wire_record_put(buf, r), r);
	return rch_wire_space(r->length);
}

/* What every caller of rch_wire_record_next() may rely on. */
static void record_bounds(const struct rch_cursor *c, const struct rch_record *r)
{
	u32 at = r->payload - c->buf;

	fuzz_assert(c->offset <= c->end && c->offset % RCH_WIRE_ALIGN == 0);
	fuzz_assert(at >= RCH_FRAME_OVERHEAD && at <= c->offset);
	fuzz_assert(r->length <= c->offset - at);
	fuzz_assert(r->type >= RCH_REC_OPEN && r->type < RCH_REC_TYPES);
	fuzz_assert(!r->chan == (r->type == RCH_REC_OPEN));
	fuzz_assert(r->length == fuzz_record_length(r->type, r->length));
	if (r->type == RCH_REC_DATA)
		fuzz_assert(r->total <= RCH_MESSAGE_MAX && r->length <= r->total);
	else
		fuzz_assert(!r->total && !r->msg_flags);
}

/**
 * fuzz_record_check - check a record that was found right
 * @c: cursor that has just passed it
 * @r: the record
 *
 * It lies in its frame, and encoding what was decoded gives the bytes that came, with
 * padding of zeros, and writes no byte more.
 */
void fuzz_record_check(const struct rch_cursor *c, const struct rch_record *r)
{
	static u8 buf[RCH_FRAME_MAX] __attribute__((aligned(8)));
	const u8 *came = r->payload - sizeof(struct rch_wire_record);
	u32 used = sizeof(struct rch_wire_record) + r->length;
	u32 space = rch_wire_space(r->length), i;

	record_bounds(c, r);
	memset(buf, 0xa5, space + RCH_WIRE_ALIGN);
	fuzz_assert(fuzz_record_encode(buf, r) == space);
	fuzz_assert(!memcmp(buf, came, used));
	for (i = used; i < space; i++)
		fuzz_assert(!buf[i]);
	for (i = space; i < space + RCH_WIRE_ALIGN; i++)
		fuzz_assert(buf[i] == 0xa5);
}

/** fuzz_record_repair - make the records of a frame fit each other: most bytes stay */
void fuzz_record_repair(u8 *frame, u32 size)
{
	u32 at = sizeof(struct rch_wire_frame), left, length;
	struct rch_wire_record *w;

	for (; size - at >= sizeof(*w); at += rch_wire_space(length)) {
		w = (void *)(frame + at);
		left = size - at - sizeof(*w);
		w->type = RCH_REC_OPEN + w->type % (RCH_REC_TYPES - RCH_REC_OPEN);
		length = fuzz_record_length(w->type, le32_to_cpu(w->length) % (left + 1));
		if (length > left) {
			w->type = RCH_REC_CLOSED;
			length = 0;
		}
		w->length = cpu_to_le32(length);
		w->flags &= w->type == RCH_REC_DATA ? RCH_DATA_F_ALL : RCH_SHUT_F_ALL;
		if (w->type != RCH_REC_DATA) {
			w->msg_flags = 0;
			w->total = 0;
		}
	}
}
