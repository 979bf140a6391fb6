// SPDX-License-Identifier: GPL-2.0
/*
 * wire.c - reads and writes what is on the wire
 */
#include "wire.h"
#include "../pure/credit.h"
#include "grant.h"

/**
 * rch_wire_frame_put - write a frame's header
 * @buf: start of the frame, at least sizeof(struct rch_wire_frame) bytes
 * @f: what to write
 */
void rch_wire_frame_put(void *buf, const struct rch_frame *f)
{
	struct rch_wire_frame *w = buf;

	w->version = RCH_WIRE_VERSION;
	w->flags = f->flags;
	w->reserved = 0;
	w->epoch = cpu_to_le32(f->epoch);
	w->seq = cpu_to_le32(f->seq);
	w->ack = cpu_to_le32(f->ack);
	w->limit = cpu_to_le32(f->limit);
	w->length = cpu_to_le32(f->length);
}

/**
 * rch_wire_frame_get - read and check a frame's header
 * @buf: what came, aligned to RCH_WIRE_ALIGN
 * @len: how much came
 * @f: where to put it; valid only when the rule is RCH_RULE_OK
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_wire_frame_get(const void *buf, u32 len, struct rch_frame *f)
{
	const struct rch_wire_frame *w = buf;

	if (len < sizeof(*w))
		return RCH_RULE_FRAME_SHORT;
	if (w->version != RCH_WIRE_VERSION)
		return RCH_RULE_FRAME_VERSION;
	if (w->flags & ~RCH_FRAME_F_ALL)
		return RCH_RULE_FRAME_FLAGS;
	if (w->reserved)
		return RCH_RULE_RESERVED;
	f->flags = w->flags;
	f->epoch = le32_to_cpu(w->epoch);
	f->seq = le32_to_cpu(w->seq);
	f->ack = le32_to_cpu(w->ack);
	f->limit = le32_to_cpu(w->limit);
	f->length = le32_to_cpu(w->length);
	if (f->length != len || f->length % RCH_WIRE_ALIGN)
		return RCH_RULE_FRAME_LENGTH;
	if (!!(f->flags & RCH_FRAME_F_PURE) != (f->length == sizeof(*w)))
		return RCH_RULE_PURE;
	return RCH_RULE_OK;
}

/**
 * rch_wire_record_put - write a record's header
 * @buf: aligned to RCH_WIRE_ALIGN, with rch_wire_space() bytes of room
 * @r: what to write; @r->payload is not used
 *
 * Clears the padding, so that nothing of this host's memory leaves it.
 * Return: where the record's bytes go.
 */
void *rch_wire_record_put(void *buf, const struct rch_record *r)
{
	struct rch_wire_record *w = buf;
	u8 *payload = (u8 *)(w + 1);

	w->chan = cpu_to_le32(r->chan);
	w->type = r->type;
	w->flags = r->flags;
	w->msg_flags = cpu_to_le16(r->msg_flags);
	w->length = cpu_to_le32(r->length);
	w->total = cpu_to_le32(r->total);
	memset(payload + r->length, 0,
	       rch_wire_space(r->length) - sizeof(*w) - r->length);
	return payload;
}

/**
 * rch_wire_cursor_init - begin to walk the records of a frame
 * @c: cursor
 * @buf: the frame
 * @frame_length: its length as rch_wire_frame_get() gave it
 */
void rch_wire_cursor_init(struct rch_cursor *c, const void *buf, u32 frame_length)
{
	c->buf = buf;
	c->offset = sizeof(struct rch_wire_frame);
	c->end = frame_length;
}

/* What a type may carry: DATA any length, all others exactly one. */
static const struct {
	u8 flags;
	u8 length;
	bool chan;
} record_rules[RCH_REC_TYPES] = {
	[RCH_REC_OPEN] = { RCH_OPEN_F_ALL, sizeof(struct rch_wire_open), false },
	[RCH_REC_ACCEPT] = { 0, sizeof(struct rch_wire_accept), true },
	[RCH_REC_REJECT] = { 0, sizeof(struct rch_wire_reject), true },
	[RCH_REC_DATA] = { RCH_DATA_F_ALL, 0, true },
	[RCH_REC_CREDIT] = { 0, sizeof(struct rch_wire_credit), true },
	[RCH_REC_SHUT] = { RCH_SHUT_F_ALL, 0, true },
	[RCH_REC_CLOSE] = { RCH_CLOSE_F_ALL, sizeof(struct rch_wire_close), true },
	[RCH_REC_CLOSED] = { 0, 0, true },
	[RCH_REC_RTS] = { RCH_RTS_F_ALL, sizeof(struct rch_wire_rts), true },
	[RCH_REC_CTS] = { RCH_CTS_F_ALL, sizeof(struct rch_wire_cts), true },
	[RCH_REC_FIN] = { 0, 0, true },
	[RCH_REC_REVOKE] = { 0, sizeof(struct rch_wire_grant_end), true },
	[RCH_REC_RELEASE] = { 0, sizeof(struct rch_wire_grant_end), true },
	[RCH_REC_ATOMIC] = { 0, sizeof(struct rch_wire_atomic), true },
	[RCH_REC_ATOMIC_DONE] = { 0, sizeof(struct rch_wire_atomic_done), true },
	[RCH_REC_READ] = { 0, sizeof(struct rch_wire_read), true },
	[RCH_REC_TAKEN] = { 0, sizeof(struct rch_wire_taken), true },
};

/* A whole message and nothing else. */
static enum rch_rule wire_early_check(const struct rch_record *r)
{
	if ((r->flags & ~RCH_DATA_F_TELL) !=
	    (RCH_DATA_F_EARLY | RCH_DATA_F_FIRST | RCH_DATA_F_LAST))
		return RCH_RULE_RECORD_FLAGS;
	return r->length == r->total ? RCH_RULE_OK : RCH_RULE_SEGMENT;
}

/* A message asks once, at its end; one that lends does not. */
static bool wire_tell_fits(const struct rch_record *r)
{
	return !(r->flags & RCH_DATA_F_TELL) ||
	       (r->flags & (RCH_DATA_F_LAST | RCH_DATA_F_GRANTS)) == RCH_DATA_F_LAST;
}

static enum rch_rule wire_data_check(const struct rch_record *r)
{
	if (!wire_tell_fits(r))
		return RCH_RULE_RECORD_FLAGS;
	if (r->total > RCH_MESSAGE_MAX)
		return RCH_RULE_MESSAGE_SIZE;
	if (r->length > r->total)
		return RCH_RULE_SEGMENT;
	if ((r->flags & RCH_DATA_F_ABORT) && r->length)
		return RCH_RULE_RECORD_LENGTH;
	if (r->flags & RCH_DATA_F_EARLY)
		return wire_early_check(r);
	return r->flags & RCH_DATA_F_GRANTS ? rch_wire_grants_check(r) : RCH_RULE_OK;
}

/* That the opener receives no more is told when it knows the other number. */
static enum rch_rule wire_shut_check(const struct rch_record *r)
{
	if (r->flags & RCH_SHUT_F_EARLY && r->flags != (RCH_SHUT_F_EARLY | RCH_SHUT_F_SEND))
		return RCH_RULE_RECORD_FLAGS;
	return RCH_RULE_OK;
}

static enum rch_rule wire_rts_check(const struct rch_record *r)
{
	const struct rch_wire_rts *w = (const void *)r->payload;
	u32 total = le32_to_cpu(w->total);

	if ((r->flags & RCH_RTS_F_TELL) && (r->flags & RCH_RTS_F_CANCEL))
		return RCH_RULE_RECORD_FLAGS;
	if (w->reserved || le32_to_cpu(w->msg_flags) > 0xffff)
		return RCH_RULE_RESERVED;
	return total && total <= RCH_MESSAGE_MAX ? RCH_RULE_OK : RCH_RULE_MESSAGE_SIZE;
}

static enum rch_rule wire_payload_check(const struct rch_record *r)
{
	switch (r->type) {
	case RCH_REC_DATA:
		return wire_data_check(r);
	case RCH_REC_OPEN: {
		const struct rch_wire_open *w = (const void *)r->payload;

		if (w->reserved)
			return RCH_RULE_RESERVED;
		return w->chan ? RCH_RULE_OK : RCH_RULE_CHANNEL;
	}
	case RCH_REC_ACCEPT: {
		const struct rch_wire_accept *w = (const void *)r->payload;

		return w->chan ? RCH_RULE_OK : RCH_RULE_CHANNEL;
	}
	case RCH_REC_SHUT:
		return wire_shut_check(r);
	case RCH_REC_RTS:
		return wire_rts_check(r);
	case RCH_REC_CTS: {
		const struct rch_wire_cts *w = (const void *)r->payload;

		if (r->flags & RCH_CTS_F_STANDING)
			return RCH_RULE_OK;
		if (r->flags)
			return RCH_RULE_RECORD_FLAGS;
		return w->message ? RCH_RULE_RESERVED : RCH_RULE_OK;
	}
	default:
		return RCH_RULE_OK;
	}
}

static void wire_header_get(const struct rch_wire_record *w, struct rch_record *r)
{
	r->chan = le32_to_cpu(w->chan);
	r->type = w->type;
	r->flags = w->flags;
	r->msg_flags = le16_to_cpu(w->msg_flags);
	r->length = le32_to_cpu(w->length);
	r->total = le32_to_cpu(w->total);
	r->payload = (const u8 *)(w + 1);
}

/**
 * rch_wire_record_next - read and check the next record
 * @c: cursor with rch_wire_record_more()
 * @r: where to put it; valid only when the rule is RCH_RULE_OK
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_wire_record_next(struct rch_cursor *c, struct rch_record *r)
{
	const struct rch_wire_record *w = (const void *)(c->buf + c->offset);
	u32 left = c->end - c->offset;

	if (left < sizeof(*w))
		return RCH_RULE_RECORD_SHORT;
	wire_header_get(w, r);
	if (r->length > left - sizeof(*w) || rch_wire_space(r->length) > left)
		return RCH_RULE_RECORD_SHORT;
	if (r->type < RCH_REC_OPEN || r->type >= RCH_REC_TYPES)
		return RCH_RULE_RECORD_TYPE;
	if (r->flags & ~record_rules[r->type].flags)
		return RCH_RULE_RECORD_FLAGS;
	if (!!r->chan != record_rules[r->type].chan)
		return RCH_RULE_CHANNEL;
	if (r->type != RCH_REC_DATA) {
		if (r->length != record_rules[r->type].length)
			return RCH_RULE_RECORD_LENGTH;
		if (r->msg_flags || r->total)
			return RCH_RULE_RESERVED;
	}
	c->offset += rch_wire_space(r->length);
	return wire_payload_check(r);
}

/* Whether @w is a whole message for @chan, with nothing wrong, in @left bytes. */
static bool wire_run_goes_on(const struct rch_wire_record *w, u32 chan, u32 left)
{
	u32 length;

	if (left < sizeof(*w) || le32_to_cpu(w->chan) != chan || w->type != RCH_REC_DATA ||
	    w->flags != (RCH_DATA_F_FIRST | RCH_DATA_F_LAST))
		return false;
	length = le32_to_cpu(w->length);
	return length == le32_to_cpu(w->total) && length <= left - sizeof(*w) &&
	       rch_wire_space(length) <= left;
}

/**
 * rch_wire_run - take whole messages that follow a record together with it
 * @c: cursor behind @r; is moved behind the last of them
 * @r: a record that rch_wire_record_next() has found right; @r->run is filled in
 *
 * A record that is not simply another message of the channel ends the run, and is judged when its
 * turn comes.
 */
void rch_wire_run(struct rch_cursor *c, struct rch_record *r)
{
	const struct rch_wire_record *w;
	u32 length;

	r->run.count = 1;
	r->run.span = r->length;
	r->run.bytes = r->length;
	r->run.longest = r->length;
	if (r->type != RCH_REC_DATA || r->length != r->total ||
	    r->flags != (RCH_DATA_F_FIRST | RCH_DATA_F_LAST))
		return;
	for (;;) {
		w = (const void *)(c->buf + c->offset);
		if (!wire_run_goes_on(w, r->chan, c->end - c->offset))
			return;
		length = le32_to_cpu(w->length);
		r->run.count++;
		r->run.bytes += length;
		r->run.longest = length > r->run.longest ? length : r->run.longest;
		r->run.span = (const u8 *)(w + 1) + length - r->payload;
		c->offset += rch_wire_space(length);
	}
}

/**
 * rch_wire_run_next - the next message of a run
 * @payload: bytes of the one before it, which is not the last
 * @length: how many
 * @r: where to put it
 */
void rch_wire_run_next(const u8 *payload, u32 length, struct rch_record *r)
{
	wire_header_get((const void *)(payload + rch_wire_space(length) -
				       sizeof(struct rch_wire_record)), r);
}

/** rch_wire_open_put - write OPEN's bytes to @buf */
void rch_wire_open_put(void *buf, const struct rch_open *o)
{
	struct rch_wire_open *w = buf;

	w->chan = cpu_to_le32(o->chan);
	w->service = cpu_to_le32(o->service);
	w->window = cpu_to_le64(o->window);
	w->message_max = cpu_to_le32(o->message_max);
	w->reserved = 0;
}

/** rch_wire_open_get - read OPEN's bytes from a checked record */
void rch_wire_open_get(const struct rch_record *r, struct rch_open *o)
{
	const struct rch_wire_open *w = (const void *)r->payload;

	o->chan = le32_to_cpu(w->chan);
	o->service = le32_to_cpu(w->service);
	o->window = le64_to_cpu(w->window);
	o->message_max = le32_to_cpu(w->message_max);
	o->early = r->flags & RCH_OPEN_F_EARLY;
}

/** rch_wire_accept_put - write ACCEPT's bytes to @buf */
void rch_wire_accept_put(void *buf, const struct rch_accept *a)
{
	struct rch_wire_accept *w = buf;

	w->chan = cpu_to_le32(a->chan);
	w->message_max = cpu_to_le32(a->message_max);
	w->window = cpu_to_le64(a->window);
}

/** rch_wire_accept_get - read ACCEPT's bytes from a checked record */
void rch_wire_accept_get(const struct rch_record *r, struct rch_accept *a)
{
	const struct rch_wire_accept *w = (const void *)r->payload;

	a->chan = le32_to_cpu(w->chan);
	a->message_max = le32_to_cpu(w->message_max);
	a->window = le64_to_cpu(w->window);
}

/** rch_wire_pair_put - write the bytes of REJECT or CLOSE to @buf */
void rch_wire_pair_put(void *buf, u32 first, u32 second)
{
	struct rch_wire_reject *w = buf;

	static_assert(sizeof(struct rch_wire_reject) == sizeof(struct rch_wire_close),
		      "both are two numbers");
	w->reason = cpu_to_le32(first);
	w->domain = cpu_to_le32(second);
}

/** rch_wire_pair_get - read the bytes of REJECT or CLOSE from a checked record */
void rch_wire_pair_get(const struct rch_record *r, u32 *first, u32 *second)
{
	const struct rch_wire_reject *w = (const void *)r->payload;

	*first = le32_to_cpu(w->reason);
	*second = le32_to_cpu(w->domain);
}

/** rch_wire_credit_put - write CREDIT's bytes to @buf */
void rch_wire_credit_put(void *buf, u64 limit)
{
	struct rch_wire_credit *w = buf;

	w->limit = cpu_to_le64(limit);
}

/** rch_wire_credit_get - read CREDIT's bytes from a checked record */
u64 rch_wire_credit_get(const struct rch_record *r)
{
	const struct rch_wire_credit *w = (const void *)r->payload;

	return le64_to_cpu(w->limit);
}

/** rch_wire_read_put - write READ's bytes to @buf */
void rch_wire_read_put(void *buf, u64 messages)
{
	struct rch_wire_read *w = buf;

	w->messages = cpu_to_le64(messages);
}

/** rch_wire_read_get - read READ's bytes from a checked record */
u64 rch_wire_read_get(const struct rch_record *r)
{
	const struct rch_wire_read *w = (const void *)r->payload;

	return le64_to_cpu(w->messages);
}

/** rch_wire_taken_put - write TAKEN's bytes to @buf */
void rch_wire_taken_put(void *buf, u64 message)
{
	struct rch_wire_taken *w = buf;

	w->message = cpu_to_le64(message);
}

/** rch_wire_taken_get - read TAKEN's bytes from a checked record */
u64 rch_wire_taken_get(const struct rch_record *r)
{
	const struct rch_wire_taken *w = (const void *)r->payload;

	return le64_to_cpu(w->message);
}

/** rch_wire_rts_put - write RTS's bytes to @buf; its flags are the record's */
void rch_wire_rts_put(void *buf, const struct rch_rts *rts)
{
	struct rch_wire_rts *w = buf;

	w->total = cpu_to_le32(rts->total);
	w->serial = cpu_to_le32(rts->serial);
	w->msg_flags = cpu_to_le32(rts->msg_flags);
	w->reserved = 0;
}

/** rch_wire_rts_get - read RTS's bytes from a checked record */
void rch_wire_rts_get(const struct rch_record *r, struct rch_rts *rts)
{
	const struct rch_wire_rts *w = (const void *)r->payload;

	rts->total = le32_to_cpu(w->total);
	rts->serial = le32_to_cpu(w->serial);
	rts->msg_flags = le32_to_cpu(w->msg_flags);
	rts->tell = r->flags & RCH_RTS_F_TELL;
}

/** rch_wire_cts_put - write CTS's bytes to @buf */
void rch_wire_cts_put(void *buf, const struct rch_cts *cts)
{
	struct rch_wire_cts *w = buf;

	w->addr = cpu_to_le64(cts->addr);
	w->rkey = cpu_to_le32(cts->rkey);
	w->length = cpu_to_le32(cts->length);
	w->serial = cpu_to_le32(cts->serial);
	w->message = cpu_to_le32(cts->message);
}

/** rch_wire_cts_get - read CTS's bytes from a checked record */
void rch_wire_cts_get(const struct rch_record *r, struct rch_cts *cts)
{
	const struct rch_wire_cts *w = (const void *)r->payload;

	cts->addr = le64_to_cpu(w->addr);
	cts->rkey = le32_to_cpu(w->rkey);
	cts->length = le32_to_cpu(w->length);
	cts->serial = le32_to_cpu(w->serial);
	cts->message = le32_to_cpu(w->message);
	cts->ahead = r->flags & RCH_CTS_F_AHEAD;
}

/** rch_wire_hello_put - write the private data of REQ or REP to @buf, 56 bytes */
void rch_wire_hello_put(void *buf, const struct rch_hello *h)
{
	struct rch_wire_hello *w = buf;

	w->magic = cpu_to_le32(RCH_WIRE_MAGIC);
	w->version_min = h->version_min;
	w->version_max = h->version_max;
	w->depth = cpu_to_le16(h->depth);
	w->features = cpu_to_le32(h->features);
	w->required = cpu_to_le32(h->required);
	w->boot_id = cpu_to_le64(h->boot_id);
	w->link = cpu_to_le32(h->link);
	w->epoch = cpu_to_le32(h->epoch);
	w->next_seq = cpu_to_le32(h->next_seq);
	w->frame_size = cpu_to_le32(h->frame_size);
	w->dead_ms = cpu_to_le32(h->dead_ms);
	w->domain = cpu_to_le32(h->domain);
	w->service = cpu_to_le32(h->service);
	w->peer_domain = cpu_to_le32(h->peer_domain);
}

/**
 * rch_wire_hello_get - read and check the private data of REQ or REP
 * @buf: what came; any alignment
 * @len: how much came; the connection manager may have padded it
 * @h: where to put it; versions are valid when the rule is not RCH_RULE_MAGIC,
 *	the rest when it is RCH_RULE_OK
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_wire_hello_get(const void *buf, u32 len, struct rch_hello *h)
{
	struct rch_wire_hello w;

	if (!buf || len < sizeof(w))
		return RCH_RULE_MAGIC;
	memcpy(&w, buf, sizeof(w));
	if (le32_to_cpu(w.magic) != RCH_WIRE_MAGIC)
		return RCH_RULE_MAGIC;
	h->version_min = w.version_min;
	h->version_max = w.version_max;
	h->depth = le16_to_cpu(w.depth);
	h->features = le32_to_cpu(w.features);
	h->required = le32_to_cpu(w.required);
	h->boot_id = le64_to_cpu(w.boot_id);
	h->link = le32_to_cpu(w.link);
	h->epoch = le32_to_cpu(w.epoch);
	h->next_seq = le32_to_cpu(w.next_seq);
	h->frame_size = le32_to_cpu(w.frame_size);
	h->dead_ms = le32_to_cpu(w.dead_ms);
	h->domain = le32_to_cpu(w.domain);
	h->service = le32_to_cpu(w.service);
	h->peer_domain = le32_to_cpu(w.peer_domain);
	if (h->depth < RCH_DEPTH_MIN || h->depth > RCH_DEPTH_MAX ||
	    h->frame_size < RCH_FRAME_MIN || h->frame_size > RCH_FRAME_MAX ||
	    h->frame_size % RCH_WIRE_ALIGN || h->dead_ms < RCH_DEAD_MIN)
		return RCH_RULE_SIZES;
	return RCH_RULE_OK;
}

/** rch_wire_query_put - write the private data of a REQ that asks to @buf, 32 bytes */
void rch_wire_query_put(void *buf, const struct rch_query *q)
{
	struct rch_wire_query *w = buf;

	w->magic = cpu_to_le32(RCH_WIRE_QUERY);
	w->link = cpu_to_le32(q->link);
	w->peer_link = cpu_to_le32(q->peer_link);
	w->epoch = cpu_to_le32(q->epoch);
	w->boot_id = cpu_to_le64(q->boot_id);
	w->peer_boot = cpu_to_le64(q->peer_boot);
}

/** rch_wire_query_get - read the private data of a REQ that asks, as rch_wire_hello_get() */
enum rch_rule rch_wire_query_get(const void *buf, u32 len, struct rch_query *q)
{
	struct rch_wire_query w;

	if (!buf || len < sizeof(w))
		return RCH_RULE_MAGIC;
	memcpy(&w, buf, sizeof(w));
	if (le32_to_cpu(w.magic) != RCH_WIRE_QUERY)
		return RCH_RULE_MAGIC;
	q->link = le32_to_cpu(w.link);
	q->peer_link = le32_to_cpu(w.peer_link);
	q->epoch = le32_to_cpu(w.epoch);
	q->boot_id = le64_to_cpu(w.boot_id);
	q->peer_boot = le64_to_cpu(w.peer_boot);
	return RCH_RULE_OK;
}

/** rch_wire_refusal_put - write the private data of REJ to @buf, 16 bytes */
void rch_wire_refusal_put(void *buf, const struct rch_refusal *r)
{
	struct rch_wire_refusal *w = buf;

	w->magic = cpu_to_le32(RCH_WIRE_MAGIC);
	w->version_min = r->version_min;
	w->version_max = r->version_max;
	w->reserved = 0;
	w->reason = cpu_to_le32(r->reason);
	w->detail = cpu_to_le32(r->detail);
}

/** rch_wire_refusal_get - read the private data of REJ, as rch_wire_hello_get() */
enum rch_rule rch_wire_refusal_get(const void *buf, u32 len, struct rch_refusal *r)
{
	struct rch_wire_refusal w;

	if (!buf || len < sizeof(w))
		return RCH_RULE_MAGIC;
	memcpy(&w, buf, sizeof(w));
	if (le32_to_cpu(w.magic) != RCH_WIRE_MAGIC)
		return RCH_RULE_MAGIC;
	r->version_min = w.version_min;
	r->version_max = w.version_max;
	r->reason = le32_to_cpu(w.reason);
	r->detail = le32_to_cpu(w.detail);
	return RCH_RULE_OK;
}

/**
 * rch_wire_version - choose the version to speak
 * @peer_min: oldest version that the peer speaks
 * @peer_max: newest version that the peer speaks
 *
 * Return: the newest in common, 0 when there is none.
 */
u8 rch_wire_version(u8 peer_min, u8 peer_max)
{
	u8 version = min(peer_max, (u8)RCH_WIRE_VERSION);

	if (peer_min > peer_max || version < peer_min || version < RCH_WIRE_VERSION_MIN)
		return 0;
	return version;
}
