// SPDX-License-Identifier: GPL-2.0
/*
 * peer_say.c - a peer that says what the script likes, in frames that are right unless it lies
 *
 * It listens as well: of what the module sends, the numbers are those that the peer's own begin
 * with, so that a script finds its way with few bytes. What it hears must be what the codec lets
 * through.
 */
#include "peer.h"

#define WINDOW 256U

static struct {
	u8 frame[PEER_FRAME] __attribute__((aligned(8)));
	u32 used;
	bool closes;
	bool stingy;
	u32 key;
	u32 next_seq;
	u32 heard_next;
	u32 limit;
	u32 ids;
} peer;

/** say_new_id - a number of the peer's for a channel, as it never gives one again */
u32 say_new_id(void)
{
	return 0x100 + peer.ids++;
}

static u32 number(struct input *in, struct serial *s)
{
	u32 byte = next(in), much = byte >> 3;

	switch (byte & 7) {
	case TRICK_NEXT:
		s->now += 1 + much;
		break;
	case TRICK_SAME:
		break;
	case TRICK_HALF:
		s->now += 0x7fffffff + much;
		break;
	case TRICK_BACK:
		s->now -= 2 + much;
		break;
	case TRICK_MARK:
		s->now += 1 + much;
		s->mark = s->now;
		break;
	case TRICK_TO_MARK:
		s->now = s->mark + much;
		break;
	case TRICK_ADD:
		return s->now + 1 + much;
	default:
		return s->now - 1 - much;
	}
	return s->now;
}

/* What the peer hears */

static struct end *end_of(u32 peer_id)
{
	u32 i;

	for (i = 0; i < CHANS; i++)
		if (ends[i].chan && ends[i].peer_id == peer_id)
			return &ends[i];
	return NULL;
}

static void heard_grants(struct end *end, const struct rch_record *r)
{
	struct rch_grant_info infos[RCH_GRANTS_MAX];
	u32 i;

	rch_wire_grants_get(r, infos);
	for (i = 0; i < rch_wire_grants_count(r); i++)
		end->sort[SORT_LOAN].now = infos[i].id;
}

static void heard_cts(struct end *end, const struct rch_record *r)
{
	bool standing = r->flags & RCH_CTS_F_STANDING;
	struct rch_cts cts;

	rch_wire_cts_get(r, &cts);
	if (standing)
		end->sort[SORT_PLACED].now = cts.serial;
	if (cts.rkey)
		end->sort[SORT_KEY].now = cts.rkey;
}

static void heard_record(struct end *end, const struct rch_record *r)
{
	struct rch_atomic atomic;
	struct rch_rts rts;

	switch (r->type) {
	case RCH_REC_DATA:
		if (r->flags & RCH_DATA_F_GRANTS)
			heard_grants(end, r);
		return;
	case RCH_REC_CTS:
		return heard_cts(end, r);
	case RCH_REC_RTS:
		rch_wire_rts_get(r, &rts);
		if (!r->flags)
			end->sort[SORT_CTS].now = rts.serial;
		return;
	case RCH_REC_RELEASE:
		end->releases++;
		return;
	case RCH_REC_ATOMIC_DONE:
		end->answers++;
		return;
	case RCH_REC_ATOMIC:
		fuzz_assert(!rch_wire_atomic_get(r, &atomic));
		end->sort[SORT_ASKED].now = atomic.serial;
		return;
	}
}

static void heard_records(const struct rch_txf *txf)
{
	struct rch_cursor cursor;
	struct rch_record r;
	struct rch_frame f;
	struct end *end;

	fuzz_assert(!rch_wire_frame_get(txf->data, txf->used, &f));
	fuzz_assert(f.seq == txf->seq && f.epoch == peer_link->terms.epoch);
	rch_wire_cursor_init(&cursor, txf->data, f.length);
	while (rch_wire_record_more(&cursor)) {
		/* An honest end breaks no rule, for any input. */
		fuzz_assert(!rch_wire_record_next(&cursor, &r));
		end = end_of(r.chan);
		if (end)
			heard_record(end, &r);
	}
}

/** say_count_open - what is in the frame that the module is filling */
void say_count_open(const struct end *end, u32 *releases, u32 *answers)
{
	const struct rch_txf *txf = peer_link->tx.open;
	struct rch_cursor cursor;
	struct rch_record r;

	if (!txf)
		return;
	rch_wire_cursor_init(&cursor, txf->data, txf->used);
	while (rch_wire_record_more(&cursor)) {
		fuzz_assert(!rch_wire_record_next(&cursor, &r));
		*releases += r.chan == end->peer_id && r.type == RCH_REC_RELEASE;
		*answers += r.chan == end->peer_id && r.type == RCH_REC_ATOMIC_DONE;
	}
}

/** say_sent - the module sends a frame: as many as the peer has promised to take */
void say_sent(const struct rch_txf *txf)
{
	fuzz_assert(txf->seq == peer.heard_next);
	peer.heard_next++;
	fuzz_assert(!rch_seq_before(peer.limit, peer.heard_next));
	if (!txf->bare)
		heard_records(txf);
}

/* What it says */

static void deliver(struct rch_rxf *rxf, const void *bytes, u32 length)
{
	rxf->page = kernel_page(bytes, length, PEER_FRAME);
	rxf->length = length;
	rxf->closed = peer.closes;
	rxf->key = peer.key;
	peer.closes = false;
	peer_link->path.ops->received(&peer_link->path, rxf);
	kernel_page_put(rxf->page);
	/* A buffer for the next one is there at once. */
	peer_link->path.ops->reposted(&peer_link->path, 1);
}

static void lie_about(struct rch_frame *f, u32 lie)
{
	switch (lie & 7) {
	case 1:
		f->seq += lie >> 3;
		return;
	case 2:
		f->seq -= lie >> 3;
		return;
	case 3:
		f->ack += lie >> 3;
		return;
	case 4:
		f->ack -= 0x7fffffff + (lie >> 3);
		return;
	case 5:
		f->limit += lie >> 3;
		return;
	case 6:
		f->limit -= lie >> 3;
		return;
	case 7:
		f->epoch += lie >> 3;
		return;
	}
}

/* The contents of the frame were taken, or not. */
static void said(bool taken)
{
	u32 i;

	for (i = 0; i < CHANS; i++) {
		if (taken) {
			ends[i].grants += ends[i].said.grants;
			ends[i].asked += ends[i].said.asked;
		}
		memset(&ends[i].said, 0, sizeof(ends[i].said));
	}
}

/** say_send - send the frame; @lie: about its numbers */
void say_send(u32 lie)
{
	struct rch_frame f = {
		.flags = peer.used == sizeof(struct rch_wire_frame) ? RCH_FRAME_F_PURE : 0,
		.epoch = peer_link->terms.epoch,
		.seq = peer.next_seq,
		.ack = peer.heard_next,
		.limit = peer.stingy ? peer.limit : peer.heard_next + PEER_DEPTH,
		.length = peer.used,
	};
	u32 expected = peer_link->credit.rx_next;
	struct rch_rxf rxf = {};

	lie_about(&f, lie);
	rch_wire_frame_put(peer.frame, &f);
	peer.used = sizeof(struct rch_wire_frame);
	if (f.seq == peer.next_seq)
		peer.next_seq++;
	/* What a lie has promised is to be kept as well. */
	if (rch_seq_before(peer.limit, f.limit))
		peer.limit = f.limit;
	deliver(&rxf, peer.frame, f.length);
	/* Of a frame that came twice nothing is looked at. */
	said(peer_link->credit.rx_next != expected);
}

static void say_bare(struct end *end, struct input *in)
{
	struct rch_bare bare = { .chan = end->chan ? end->chan->lane.id : 1 };
	u32 length = 1 + next(in) * 16;
	struct rch_rxf rxf = { .bare = true };
	u32 lie;

	bare.seq = peer.next_seq + (s8)next(in);
	bare.ack = peer.heard_next + (s8)next(in);
	lie = next(in);
	bare.full = lie & 1;
	if (lie >> 1)
		bare.chan = lie >> 1;
	if ((u8)peer.next_seq == bare.seq)
		peer.next_seq++;
	if (bare.full && rch_seq_before(peer.limit, peer.heard_next + PEER_DEPTH))
		peer.limit = peer.heard_next + PEER_DEPTH;
	rxf.imm = rch_wire_bare_put(&bare);
	deliver(&rxf, peer.frame, min(length, PEER_FRAME));
}

static void *put(struct end *end, u8 type, u8 flags, u32 length)
{
	struct rch_record r = {
		.chan = end->chan && type != RCH_REC_OPEN ? end->chan->lane.id : 0,
		.type = type,
		.flags = flags,
		.length = length,
		.total = type == RCH_REC_DATA ? length : 0,
	};
	void *payload;

	if (peer.used + rch_wire_space(length) > PEER_FRAME)
		say_send(0);
	payload = rch_wire_record_put(peer.frame + peer.used, &r);
	memset(payload, 0, length);
	peer.used += rch_wire_space(length);
	return payload;
}

/** say_open - the peer opens a channel */
void say_open(struct end *end, u32 window)
{
	const struct rch_open open = {
		.chan = say_new_id(),
		.service = 1,
		.window = window,
		.message_max = MESSAGE_ROOM,
	};

	end->credit = window;
	rch_wire_open_put(put(end, RCH_REC_OPEN, RCH_OPEN_F_EARLY, sizeof(struct rch_wire_open)),
			  &open);
}

/** say_accept - the peer accepts one */
void say_accept(struct end *end, u32 window)
{
	const struct rch_accept accept = { end->peer_id, MESSAGE_ROOM, window };

	end->credit = window;
	rch_wire_accept_put(put(end, RCH_REC_ACCEPT, 0, sizeof(struct rch_wire_accept)), &accept);
}

/* Before ACCEPT is known the opener's number stands for the channel. */
static void by_own_number(const struct end *end, void *payload)
{
	struct rch_wire_record *header = payload;

	header[-1].chan = cpu_to_le32(end->peer_id);
}

static void say_shut(struct end *end, u32 flags)
{
	void *payload = put(end, RCH_REC_SHUT, flags, 0);

	if (flags & RCH_SHUT_F_EARLY)
		by_own_number(end, payload);
}

static void say_data(struct end *end, struct input *in)
{
	u32 flags = next(in), length = next(in) * 16, total = next(in) * 16;
	struct rch_wire_record *header;
	u8 *payload;

	if (!total)
		total = length;
	payload = put(end, RCH_REC_DATA, flags & RCH_DATA_F_ALL, min(length, PEER_FRAME / 2));
	header = (void *)(payload - sizeof(*header));
	if (flags & RCH_DATA_F_EARLY)
		by_own_number(end, payload);
	header->total = cpu_to_le32(total);
}

static u32 rights(u32 bits)
{
	return (bits & 7) | (bits & 8 ? RDMACHAN_RIGHT_BY_DEVICE : 0);
}

static void one_grant(struct end *end, struct input *in, struct rch_grant_info *info)
{
	static const __le32 keys[64];
	static const u32 lengths[] = { 1, 8, 64, 4096, 16384, 40000, 1U << 20, 1U << 30 };
	u32 shape;
	u64 fits;

	info->id = number(in, &end->sort[SORT_GRANT]);
	info->rights = rights(next(in));
	info->length = lengths[next(in) & 7];
	info->uses = next(in) & 3;
	shape = next(in);
	info->shift = RCH_GRANT_SHIFT_MIN + (shape & 15);
	info->start = (shape >> 4) * 8;
	fits = rch_grant_keys(info->start, info->length, info->shift);
	/* Of a grant with very many keys, one too few: that is a lie. */
	info->keys = min(fits, ARRAY_SIZE(keys));
	info->cookie = info->id;
	info->key = keys;
}

static void say_grants(struct end *end, struct input *in)
{
	struct rch_grant_info infos[RCH_GRANTS_MAX];
	u32 count = 1 + next(in) % 4, i, size;
	void *payload;

	for (i = 0; i < count; i++)
		one_grant(end, in, &infos[i]);
	size = rch_wire_grants_size(infos, count, 8);
	payload = put(end, RCH_REC_DATA, RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_GRANTS,
		      size);
	rch_wire_grants_put(payload, infos, count);
	end->said.grants += count;
}

static void put_atomic(struct end *end, const struct rch_atomic *a)
{
	rch_wire_atomic_put(put(end, RCH_REC_ATOMIC, 0, sizeof(struct rch_wire_atomic)), a);
	end->said.asked++;
}

/* Lent memory begins at its place in a page. */
static u64 first_address(void)
{
	return host_region()->addr & (PAGE_SIZE - 1);
}

static void say_atomic(struct end *end, struct input *in)
{
	struct rch_atomic a = { .id = number(in, &end->sort[SORT_LOAN]) };

	a.op = 1 + (next(in) & 1);
	a.address = first_address() + next(in) * 8;
	a.operand = 1;
	a.serial = number(in, &end->sort[SORT_ATOMIC]);
	put_atomic(end, &a);
}

static void say_atomics(struct end *end, struct input *in)
{
	u32 count = next(in) * 16;
	struct rch_atomic a = {
		.id = number(in, &end->sort[SORT_LOAN]),
		.op = RDMACHAN_ATOMIC_FETCH_ADD,
		.address = first_address(),
	};

	a.serial = number(in, &end->sort[SORT_ATOMIC]);
	while (count--)
		put_atomic(end, &a);
}

static void say_rts(struct end *end, struct input *in, enum sort sort)
{
	u32 flags = next(in) & RCH_RTS_F_ALL;
	struct rch_rts rts = { .total = 1 + next(in) * 1024 };

	if (sort == SORT_PLACED)
		flags |= RCH_RTS_F_PLACED;
	rts.serial = number(in, &end->sort[sort]);
	rch_wire_rts_put(put(end, RCH_REC_RTS, flags, sizeof(struct rch_wire_rts)), &rts);
}

static void say_cts(struct end *end, struct input *in)
{
	u32 flags = next(in) & RCH_CTS_F_ALL, length = next(in) * 1024;
	bool standing = flags & RCH_CTS_F_STANDING;
	struct rch_cts cts = { .length = length, .rkey = length ? 77 : 0 };

	cts.serial = number(in, &end->sort[standing ? SORT_STAND : SORT_CTS]);
	if (standing && end->chan)
		cts.message = end->chan->counts.tx_messages + (s8)next(in);
	rch_wire_cts_put(put(end, RCH_REC_CTS, flags, sizeof(struct rch_wire_cts)), &cts);
}

static void say_any(struct end *end, struct input *in)
{
	u32 type = next(in), flags = next(in), length = next(in), i;
	u8 *payload = put(end, type, flags, length);

	for (i = 0; i < min(length, 8); i++)
		payload[i] = next(in);
	end->said.asked += type == RCH_REC_ATOMIC;
}

static void say_end(struct end *end, u8 type, enum sort sort, struct input *in)
{
	u32 id = number(in, &end->sort[sort]), cause = 0;

	if (type == RCH_REC_RELEASE)
		cause = next(in) & 15;
	rch_wire_grant_end_put(put(end, type, 0, sizeof(struct rch_wire_grant_end)), id, cause);
}

static void say_pair(struct end *end, u8 type, u8 flags, u32 first, u32 second)
{
	rch_wire_pair_put(put(end, type, flags, sizeof(struct rch_wire_close)), first, second);
}

static void say_record(u32 step, struct end *end, struct input *in)
{
	switch (step) {
	case SAY_OPEN:
		return say_open(end, next(in) * WINDOW);
	case SAY_ACCEPT:
		return say_accept(end, next(in) * WINDOW);
	case SAY_REJECT:
		return say_pair(end, RCH_REC_REJECT, 0, next(in), 0);
	case SAY_DATA:
		return say_data(end, in);
	case SAY_GRANTS:
		return say_grants(end, in);
	case SAY_REVOKE:
		return say_end(end, RCH_REC_REVOKE, SORT_GRANT, in);
	case SAY_RELEASE:
		return say_end(end, RCH_REC_RELEASE, SORT_LOAN, in);
	case SAY_ATOMIC:
		return say_atomic(end, in);
	case SAY_ATOMICS:
		return say_atomics(end, in);
	case SAY_DONE:
		rch_wire_atomic_done_put(put(end, RCH_REC_ATOMIC_DONE, 0,
					     sizeof(struct rch_wire_atomic_done)),
					 number(in, &end->sort[SORT_ASKED]), 0);
		return;
	case SAY_RTS:
		return say_rts(end, in, SORT_RTS);
	case SAY_PLACED:
		return say_rts(end, in, SORT_PLACED);
	case SAY_CTS:
		return say_cts(end, in);
	case SAY_FIN:
		put(end, RCH_REC_FIN, 0, 0);
		return;
	case SAY_SHUT:
		return say_shut(end, next(in) & RCH_SHUT_F_ALL);
	case SAY_CLOSE:
		return say_pair(end, RCH_REC_CLOSE, next(in) & RCH_CLOSE_F_ALL, 0, next(in));
	case SAY_CLOSED:
		put(end, RCH_REC_CLOSED, 0, 0);
		return;
	case SAY_CREDIT:
		end->credit += next(in) * WINDOW;
		rch_wire_credit_put(put(end, RCH_REC_CREDIT, 0, sizeof(struct rch_wire_credit)),
				    end->credit);
		return;
	case SAY_READ:
		rch_wire_read_put(put(end, RCH_REC_READ, 0, sizeof(struct rch_wire_read)),
				  (end->chan ? end->chan->counts.tx_messages : 0) +
				  (s8)next(in));
		return;
	case SAY_TAKEN:
		rch_wire_taken_put(put(end, RCH_REC_TAKEN, 0, sizeof(struct rch_wire_taken)),
				   (end->chan ? end->chan->taken.asked : 0) + (s8)next(in));
		return;
	default:
		return say_any(end, in);
	}
}

/** say_step - a step of the peer; @go: the frame is sent at once */
void say_step(u32 step, struct end *end, bool go, struct input *in)
{
	switch (step) {
	case SAY_FRAME:
		return say_send(next(in));
	case SAY_BARE:
		return say_bare(end, in);
	case SAY_STINGY:
		peer.stingy = !peer.stingy;
		return;
	case SAY_KEY:
		peer.key = number(in, &end->sort[SORT_KEY]);
		peer.closes = true;
		return;
	}
	say_record(step, end, in);
	if (go)
		say_send(0);
}

/** say_begin - a link whose numbers the peer knows; @tx_first: that of the peer's first frame */
void say_begin(u32 tx_first)
{
	memset(&peer, 0, sizeof(peer));
	peer.used = sizeof(struct rch_wire_frame);
	peer.next_seq = tx_first;
	peer.heard_next = peer_link->credit.tx_next;
	peer.limit = peer_link->credit.tx_limit;
}
