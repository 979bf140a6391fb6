// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_frame.c - as much of the protocol as an honest peer needs
 */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "hostile_verbs.h"

static u64 seed = 0x6f73746c69;

/* What an honest peer says at first. */
void hostile_hello(struct hostile *h, u32 service)
{
	h->mine = (struct rch_hello) {
		.version_min = RCH_WIRE_VERSION_MIN,
		.version_max = RCH_WIRE_VERSION,
		.depth = HOSTILE_DEPTH,
		.boot_id = next_random(&seed) ^ now_ms(),
		.link = 1,
		.epoch = 7,
		.next_seq = next_random(&seed),
		.frame_size = HOSTILE_BUFFER,
		.dead_ms = 5000,
		/* Tests of bare frames ask for them; memory of programs no peer can close. */
		.features = RCH_FEATURES & ~(RCH_FEATURE_BARE | RCH_FEATURE_KEY),
		.domain = HOSTILE_DOMAIN,
		.service = service,
		.peer_domain = RCH_DOMAIN_ANY,
	};
}

/* Both hellos are known. */
void hostile_agree(struct hostile *h)
{
	rch_credit_init(&h->credit, h->theirs.next_seq, h->theirs.depth, h->mine.next_seq,
			HOSTILE_DEPTH);
}

static void record_took(struct hostile *h, const struct rch_record *r)
{
	struct heard *heard = &h->heard[h->heard_next++ % HOSTILE_HEARD];
	struct rch_accept accept;

	memset(heard, 0, sizeof(*heard));
	heard->type = r->type;
	heard->flags = r->flags;
	heard->chan = r->chan;
	heard->length = r->length;
	h->count[r->type]++;
	switch (r->type) {
	case RCH_REC_ACCEPT:
		rch_wire_accept_get(r, &accept);
		heard->first = accept.chan;
		heard->limit = accept.window;
		break;
	case RCH_REC_OPEN:
		/* The number that answers go to, and the service. */
	case RCH_REC_RTS:
		/* Bytes, and the number of the question. */
	case RCH_REC_REJECT:
	case RCH_REC_CLOSE:
		rch_wire_pair_get(r, &heard->first, &heard->second);
		if (r->type == RCH_REC_REJECT && heard->first < RCH_REJECTS)
			h->rejects[heard->first]++;
		break;
	case RCH_REC_CTS:
		rch_wire_cts_get(r, &heard->cts);
		break;
	case RCH_REC_CREDIT:
		heard->limit = rch_wire_credit_get(r);
		break;
	case RCH_REC_REVOKE:
	case RCH_REC_RELEASE:
		rch_wire_grant_end_get(r, &heard->first, &heard->second);
		break;
	case RCH_REC_DATA:
		h->data_bytes += r->length;
		if (!(r->flags & RCH_DATA_F_GRANTS) || r->length > sizeof(h->lent_bytes))
			break;
		h->lent = *r;
		h->lent.payload = memcpy(h->lent_bytes, r->payload, r->length);
		break;
	}
	if (h->took)
		h->took(h, r);
}

/* A frame came. The module is honest: else the test has failed. */
void hostile_took(struct hostile *h, const void *data, u32 len)
{
	struct rch_cursor cursor;
	struct rch_record r;
	struct rch_frame f;

	if (rch_wire_frame_get(data, len, &f) || f.epoch != h->epoch ||
	    rch_credit_arrival(&h->credit, f.seq) != RCH_ARRIVAL_NEW) {
		printf("# hostile peer: the module sent a bad frame\n");
		h->ended = true;
		return;
	}
	rch_credit_told_by_peer(&h->credit, f.ack, f.limit);
	rch_credit_received(&h->credit);
	h->frames++;
	rch_wire_cursor_init(&cursor, data, f.length);
	while (rch_wire_record_more(&cursor) && !rch_wire_record_next(&cursor, &r))
		record_took(h, &r);
}

/* The same of a bare frame. */
void hostile_took_bare(struct hostile *h, u32 imm, u32 len)
{
	struct rch_credit *c = &h->credit;
	struct rch_bare bare;
	u32 ack;

	rch_wire_bare_get(imm, &bare);
	ack = rch_seq_near(c->tx_acked, bare.ack);
	if (!(h->mine.features & RCH_FEATURE_BARE) || bare.seq != (u8)c->rx_next ||
	    !rch_credit_told_by_peer(c, ack, bare.full ? ack + c->tx_depth : c->tx_limit)) {
		printf("# hostile peer: the module sent a bad bare frame\n");
		h->ended = true;
		return;
	}
	rch_credit_received(c);
	h->bare++;
	h->bare_full += bare.full;
	h->bare_length = len;
	h->bare_chan = bare.chan;
	h->data_bytes += len;
	if (h->took)
		h->took(h, &(struct rch_record){
			.chan = bare.chan,
			.type = RCH_REC_DATA,
			.flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST,
			.length = len,
			.total = len,
		});
}

/* The last record of a kind that came for our number @chan, or NULL. */
const struct heard *hostile_find(const struct hostile *h, u8 type, u32 chan)
{
	const struct heard *heard;
	u32 i;

	for (i = 1; i <= HOSTILE_HEARD && i <= h->heard_next; i++) {
		heard = &h->heard[(h->heard_next - i) % HOSTILE_HEARD];
		if (heard->type == type && heard->chan == chan)
			return heard;
	}
	return NULL;
}

void frame_begin(struct frame *f)
{
	memset(f->data, 0, 4096);
	f->used = sizeof(struct rch_wire_frame);
}

/* Return: where the record's bytes go. */
u8 *frame_add(struct frame *f, const struct rch_record *r)
{
	u8 *payload = rch_wire_record_put(f->data + f->used, r);

	f->used += rch_wire_space(r->length);
	return payload;
}

void frame_open(struct frame *f, u32 number, u32 service)
{
	const struct rch_record r = {
		.type = RCH_REC_OPEN,
		.length = sizeof(struct rch_wire_open),
	};
	const struct rch_open open = {
		.chan = number,
		.service = service,
		.window = 64 << 20,
		.message_max = 64 << 20,
	};

	rch_wire_open_put(frame_add(f, &r), &open);
}

void frame_accept(struct frame *f, u32 chan, u32 number)
{
	const struct rch_record r = {
		.chan = chan,
		.type = RCH_REC_ACCEPT,
		.length = sizeof(struct rch_wire_accept),
	};
	const struct rch_accept accept = {
		.chan = number,
		.message_max = 64 << 20,
		.window = 64 << 20,
	};

	rch_wire_accept_put(frame_add(f, &r), &accept);
}

void frame_end(struct frame *f, u32 chan, u8 flags, u32 detail)
{
	const struct rch_record r = {
		.chan = chan,
		.type = RCH_REC_CLOSE,
		.flags = flags,
		.length = sizeof(struct rch_wire_close),
	};

	rch_wire_pair_put(frame_add(f, &r), RDMACHAN_CAUSE_PEER_CLOSED, detail);
}

void frame_close(struct frame *f, u32 chan, u8 flags)
{
	frame_end(f, chan, flags, 0);
}

void frame_read(struct frame *f, u32 chan, u64 messages)
{
	const struct rch_record r = {
		.chan = chan,
		.type = RCH_REC_READ,
		.length = sizeof(struct rch_wire_read),
	};

	rch_wire_read_put(frame_add(f, &r), messages);
}

void frame_taken(struct frame *f, u32 chan, u64 message)
{
	const struct rch_record r = {
		.chan = chan,
		.type = RCH_REC_TAKEN,
		.length = sizeof(struct rch_wire_taken),
	};

	rch_wire_taken_put(frame_add(f, &r), message);
}

void frame_simple(struct frame *f, u32 chan, u8 type, u8 flags)
{
	const struct rch_record r = { .chan = chan, .type = type, .flags = flags };

	frame_add(f, &r);
}

void frame_credit(struct frame *f, u32 chan, u64 limit)
{
	const struct rch_record r = {
		.chan = chan,
		.type = RCH_REC_CREDIT,
		.length = sizeof(struct rch_wire_credit),
	};

	rch_wire_credit_put(frame_add(f, &r), limit);
}

void frame_data(struct frame *f, u32 chan, u8 flags, u32 length, u32 total)
{
	const struct rch_record r = {
		.chan = chan,
		.type = RCH_REC_DATA,
		.flags = flags,
		.length = length,
		.total = total,
	};

	memset(frame_add(f, &r), 'x', length);
}

/* Write the header as an honest peer does; a number is taken. */
struct rch_wire_frame *frame_seal(struct hostile *h, struct frame *f, u8 flags)
{
	const struct rch_frame head = {
		.flags = flags,
		.epoch = h->epoch,
		.seq = rch_credit_take(&h->credit),
		.ack = h->deaf ? h->ack : h->credit.rx_next,
		.limit = h->stingy ? h->credit.told_limit : h->credit.rx_limit,
		.length = f->used,
	};

	rch_wire_frame_put(f->data, &head);
	h->credit.told_next = h->credit.rx_next;
	h->credit.told_limit = head.limit;
	return (struct rch_wire_frame *)f->data;
}

int frame_send(struct hostile *h, const struct frame *f)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	if (h->close_key) {
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = h->close_key;
		h->close_key = 0;
	}
	return hostile_post(h, &wr, f->data, f->used);
}

/* Send a frame honestly: when there is a credit for it. Return: 0, or an errno below 0. */
int hostile_say(struct hostile *h, struct frame *f)
{
	if (!HOSTILE_UNTIL(h, rch_credit_room(&h->credit, false), 10000))
		return -ENOTCONN;
	frame_seal(h, f, 0);
	return frame_send(h, f);
}

/* A frame without records, if there is a credit for it. */
int hostile_pure(struct hostile *h, u8 flags)
{
	static struct frame f;

	if (!rch_credit_room(&h->credit, true))
		return -EAGAIN;
	frame_begin(&f);
	frame_seal(h, &f, RCH_FRAME_F_PURE | flags);
	return frame_send(h, &f);
}

/* Be a peer that is alive and says nothing, for @ms. */
void hostile_beat(struct hostile *h, int ms)
{
	int64_t until = now_ms() + ms, next = 0;

	while (!h->ended && now_ms() < until) {
		if (now_ms() >= next) {
			hostile_pure(h, 0);
			next = now_ms() + 100;
		}
		hostile_pump(h, 20);
	}
}
