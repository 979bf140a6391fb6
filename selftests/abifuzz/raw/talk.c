// SPDX-License-Identifier: GPL-2.0
/*
 * talk.c - what the raw peer says of channels and messages
 *
 * Each function here adds a record to the frame that is being built, if it is the time for it, or
 * if a rule is to be broken.
 */
#include <arpa/inet.h>
#include <string.h>

#include "common.h"
#include "link.h"

/* Where cases listen, and as many with the partner's and one that always is there. */
#define OWN_SERVICES 4U

/** raw_number - the number that is right, or another one */
u64 raw_number(struct raw_link *l, u64 right)
{
	if (!raw_lies(l)) {
		l->old[l->old_next++ % RAW_OLD] = right;
		return right;
	}
	switch (raw_below(l, 6)) {
	case 0:
		return right + 1;
	case 1:
		return right - 1;
	case 2:
		return 0;
	case 3:
		return ~0ULL;
	case 4:
		return next_random(&l->seed);
	default:
		return l->old[raw_below(l, RAW_OLD)];
	}
}

u32 raw_some_length(struct raw_link *l)
{
	static const u32 lengths[] = { 1, 8, 100, 600, 2048, 4096, 16384, 40000, 100000 };

	return lengths[raw_below(l, ARRAY_SIZE(lengths))];
}

static u64 some_window(struct raw_link *l)
{
	static const u64 windows[] = { 16384, 65536, 1 << 20, 64 << 20, 1ULL << 40 };

	return windows[raw_below(l, ARRAY_SIZE(windows))];
}

static u32 some_message_max(struct raw_link *l)
{
	static const u32 sizes[] = { 2048, 65536, 1 << 20, 64 << 20, 0xffffffff };

	return sizes[raw_below(l, ARRAY_SIZE(sizes))];
}

/* Whether an honest peer may say it for @c. */
static bool may_say(const struct raw_chan *c, u8 type)
{
	if (type == RCH_REC_CLOSED)
		return c->peer_closing && !c->answered;
	if (type == RCH_REC_ACCEPT || type == RCH_REC_REJECT)
		return c->state == RAW_KNOCKS;
	return c->state == RAW_OPEN && !c->closing && !c->peer_closing;
}

static u8 *put_record(struct raw_link *l, const struct rch_record *r)
{
	if (l->f.used + rch_wire_space(r->length) > l->frame_size)
		return NULL;
	atomic_fetch_add(&l->stats->records[r->type], 1);
	return frame_add(&l->f, r);
}

static u8 some_flags(struct raw_link *l, u8 right)
{
	return raw_lies(l) ? right ^ 1 << raw_below(l, 8) : right;
}

/** raw_add - Return: where the bytes of the record go; NULL: there is none */
u8 *raw_add(struct raw_link *l, struct raw_chan *c, u8 type, u8 flags, u32 length)
{
	const struct rch_record r = {
		.chan = raw_number(l, c->theirs),
		.type = type,
		.flags = some_flags(l, flags),
		.length = length,
	};

	return may_say(c, type) || raw_lies(l) ? put_record(l, &r) : NULL;
}

/* Bytes that the next segment may have; 0: there is none. */
static u32 segment_room(struct raw_link *l, struct raw_chan *c)
{
	u32 max = rch_wire_segment_max(l->frame_size);
	u64 left = c->limit - c->cost;

	if (raw_lies(l))
		return max;
	if (c->cost + RCH_WINDOW_RECORD >= c->limit)
		return 0;
	left -= RCH_WINDOW_RECORD;
	return left < max ? left : max;
}

/** raw_may_send - whether a message may begin */
bool raw_may_send(struct raw_link *l, struct raw_chan *c)
{
	return (may_say(c, RCH_REC_DATA) && !c->shut && !c->left && !c->wish) || raw_lies(l);
}

/* The next message is sent, in some way. What was lent for it is void, and what is ahead. */
static void has_sent(struct raw_chan *c, bool placed)
{
	c->lent[c->sent % RCH_LENDS].length = 0;
	c->sent++;
	c->placed = placed;
}

/** raw_add_data - as raw_add(), of DATA */
u8 *raw_add_data(struct raw_link *l, struct raw_chan *c, u8 flags, u32 length, u32 total)
{
	const struct rch_record r = {
		.chan = raw_number(l, flags & RCH_DATA_F_EARLY ? c->mine : c->theirs),
		.type = RCH_REC_DATA,
		.flags = some_flags(l, flags),
		.msg_flags = raw_below(l, 4) ? 0 : 0x55,
		.length = length,
		.total = raw_number(l, total),
	};
	u8 *data;

	if (length > segment_room(l, c))
		return NULL;
	data = put_record(l, &r);
	if (!data)
		return NULL;
	c->cost += rch_window_cost(length);
	if (flags & RCH_DATA_F_LAST)
		has_sent(c, false);
	return memset(data, 'x', length);
}

static u8 tell_now_and_then(struct raw_link *l, u8 flag)
{
	return raw_below(l, 4) ? 0 : flag;
}

static void say_data(struct raw_link *l, struct raw_chan *c)
{
	const u8 flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST |
			 tell_now_and_then(l, RCH_DATA_F_TELL);
	u32 length = raw_lesser(raw_some_length(l), segment_room(l, c));

	if (raw_may_send(l, c))
		raw_add_data(l, c, flags, raw_lesser(length, c->message_max),
			     raw_lesser(length, c->message_max));
}

/* The first of more than one. */
static void begin_pieces(struct raw_link *l, struct raw_chan *c)
{
	u32 length = raw_lesser(RCH_SEGMENT_MIN + raw_below(l, 500), segment_room(l, c));
	u32 total = 1024 + raw_below(l, 100000);

	if (!raw_may_send(l, c) || total > c->message_max || length < RCH_SEGMENT_MIN)
		return;
	if (!raw_add_data(l, c, RCH_DATA_F_FIRST, length, total))
		return;
	c->total = total;
	c->left = total - length;
}

static void say_piece(struct raw_link *l, struct raw_chan *c)
{
	u32 length = raw_lesser(c->left, segment_room(l, c));
	bool last = length == c->left;

	if (!c->left) {
		begin_pieces(l, c);
	} else if (!may_say(c, RCH_REC_DATA) && !raw_lies(l)) {
		return;
	} else if (raw_one_in(l, 32)) {
		if (segment_room(l, c) && raw_add_data(l, c, RCH_DATA_F_ABORT, 0, c->total))
			c->left = 0;
	} else if (last || length >= RCH_SEGMENT_MIN) {
		if (raw_add_data(l, c, (last ? RCH_DATA_F_LAST : 0) |
				 (last ? tell_now_and_then(l, RCH_DATA_F_TELL) : 0), length,
				 c->total))
			c->left -= length;
	}
}

static void say_early(struct raw_link *l, struct raw_chan *c)
{
	const u8 flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_EARLY;
	u32 length = raw_some_length(l);

	if (c->state == RAW_WAITS && c->early && !c->shut)
		raw_add_data(l, c, flags | tell_now_and_then(l, RCH_DATA_F_TELL), length, length);
}

static void say_early_end(struct raw_link *l, struct raw_chan *c)
{
	const struct rch_record r = {
		.chan = raw_number(l, c->mine),
		.type = RCH_REC_SHUT,
		.flags = RCH_SHUT_F_SEND | RCH_SHUT_F_EARLY,
	};

	if (c->state == RAW_WAITS && c->early && !c->shut && put_record(l, &r))
		c->shut = true;
}

/* Goes ahead of the frame that is being built: that must be empty, and find a credit. */
static void say_bare(struct raw_link *l, struct raw_chan *c)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM };
	u32 length = raw_lesser(raw_some_length(l), raw_lesser(segment_room(l, c), c->message_max));
	struct rch_credit *credit = &l->h.credit;
	static const u8 data[HOSTILE_BUFFER];
	const struct rch_bare bare = {
		.chan = raw_number(l, c->theirs) & RCH_BARE_CHAN_MAX,
		.seq = raw_number(l, credit->tx_next),
		.ack = raw_number(l, credit->rx_next),
		.full = raw_lies(l),
	};

	if (!l->bare || l->f.used > sizeof(struct rch_wire_frame) ||
	    c->theirs > RCH_BARE_CHAN_MAX || !raw_may_send(l, c) || !segment_room(l, c) ||
	    l->h.busy == HOSTILE_SLOTS || rch_credit_room(credit, false) < 2)
		return;
	wr.imm_data = htonl(rch_wire_bare_put(&bare));
	if (hostile_post(&l->h, &wr, data, length))
		return;
	rch_credit_take(credit);
	c->cost += rch_window_cost(length);
	has_sent(c, false);
	atomic_fetch_add(&l->stats->records[0], 1);
}

static u32 some_service(struct raw_link *l)
{
	static const u32 others[] = { SERVICE, SERVICE + 1, 1, 0xffffffff };

	if (raw_below(l, 8))
		return l->services + raw_below(l, 2);
	return raw_below(l, 2) ? l->services + raw_below(l, OWN_SERVICES) :
				 others[raw_below(l, ARRAY_SIZE(others))];
}

/* Begin another channel, instead of @unused. */
static void say_open(struct raw_link *l, struct raw_chan *unused)
{
	struct raw_chan *c = raw_chan_free(l);
	struct rch_record r = {
		.type = RCH_REC_OPEN,
		.flags = raw_below(l, 2) ? RCH_OPEN_F_EARLY : 0,
		.length = sizeof(struct rch_wire_open),
	};
	struct rch_open open = {
		.service = some_service(l),
		.window = some_window(l),
		.message_max = some_message_max(l),
	};
	u8 *data;

	(void)unused;
	if (!c)
		return;
	data = put_record(l, &r);
	if (!data)
		return;
	raw_chan_begin(l, c, RAW_WAITS);
	c->early = r.flags;
	c->limit = RCH_EARLY_MAX;
	c->message_max = 0xffffffff;
	c->told = open.window;
	open.chan = raw_number(l, c->mine);
	rch_wire_open_put(data, &open);
}

static void say_answer(struct raw_link *l, struct raw_chan *c)
{
	struct rch_accept accept = {
		.message_max = some_message_max(l), .window = some_window(l),
	};
	bool rejects = raw_one_in(l, 8);
	u8 *data = raw_add(l, c, rejects ? RCH_REC_REJECT : RCH_REC_ACCEPT, 0,
			   rejects ? sizeof(struct rch_wire_reject) :
				     sizeof(struct rch_wire_accept));

	if (!data)
		return;
	if (rejects) {
		rch_wire_pair_put(data, 1 + raw_below(l, RCH_REJECTS), raw_below(l, 4) * 1000);
		c->state = RAW_FREE;
		return;
	}
	c->state = RAW_OPEN;
	c->told = accept.window;
	accept.chan = raw_number(l, c->mine);
	rch_wire_accept_put(data, &accept);
	raw_count(l, RAW_LET_IN, 1);
}

static void say_credit(struct raw_link *l, struct raw_chan *c)
{
	u64 limit = c->came + some_window(l);
	u8 *data;

	if (limit <= c->told)
		return;
	data = raw_add(l, c, RCH_REC_CREDIT, 0, sizeof(struct rch_wire_credit));
	if (!data)
		return;
	c->told = limit;
	rch_wire_credit_put(data, raw_number(l, limit));
}

/* What ends a channel is rare: there is to be something that ends. */
#define ENDS 64U

static void say_shut(struct raw_link *l, struct raw_chan *c)
{
	u8 flags = 1 + raw_below(l, 3);

	if (raw_below(l, ENDS))
		return;
	if (c->left || c->wish)
		flags = RCH_SHUT_F_RECV;
	if (raw_add(l, c, RCH_REC_SHUT, flags, 0) && flags & RCH_SHUT_F_SEND)
		c->shut = true;
}

static void say_close(struct raw_link *l, struct raw_chan *c)
{
	bool resets = c->left || c->wish || c->lends || raw_below(l, 2);
	u8 *data;

	if (raw_below(l, ENDS))
		return;
	data = raw_add(l, c, RCH_REC_CLOSE, resets ? RCH_CLOSE_F_RESET : 0,
		       sizeof(struct rch_wire_close));
	if (!data)
		return;
	rch_wire_pair_put(data, 13 + raw_below(l, 3), resets ? raw_below(l, 32) : c->heard);
	c->closing = true;
}

static void say_closed(struct raw_link *l, struct raw_chan *c)
{
	if (!c->peer_closing || c->answered || !raw_add(l, c, RCH_REC_CLOSED, 0, 0))
		return;
	c->answered = true;
	raw_chan_settle(c);
}

/*
 * Large messages of its own
 */

/** raw_reach - write or read, never longer than there is memory for. Return: whether it is begun */
bool raw_reach(struct raw_link *l, int opcode, u64 addr, u32 rkey, u32 length)
{
	static const u8 data[HOSTILE_FRAME];
	u32 real = raw_lesser(length, HOSTILE_FRAME);

	if (l->h.busy == HOSTILE_SLOTS)
		return false;
	raw_count(l, RAW_ACCESSES, 1);
	return hostile_reach(&l->h, opcode, raw_number(l, addr), raw_number(l, rkey), data,
			     real) != NULL;
}

static bool put_rts(struct raw_link *l, struct raw_chan *c, u8 flags, u32 total, u32 serial)
{
	const struct rch_rts rts = { .total = raw_number(l, total),
				     .serial = raw_number(l, serial) };
	u8 *data = raw_add(l, c, RCH_REC_RTS, flags, sizeof(struct rch_wire_rts));

	if (data)
		rch_wire_rts_put(data, &rts);
	return data;
}

static void say_rts(struct raw_link *l, struct raw_chan *c)
{
	static const u32 totals[] = { 1, 4096, 65536, 300000, 1 << 20 };
	u32 total = totals[raw_below(l, ARRAY_SIZE(totals))];
	u8 tells = tell_now_and_then(l, RCH_RTS_F_TELL);

	if (!raw_may_send(l, c) || total > c->message_max ||
	    !put_rts(l, c, tells, total, ++c->serial))
		return;
	c->wish = total;
	c->wish_serial = c->serial;
	c->wish_done = 0;
	c->cts_came = false;
}

/* An answer without room: then the message goes as DATA, or as another one. */
static void say_fin(struct raw_link *l, struct raw_chan *c)
{
	u32 length = raw_lesser(c->cts.length, c->wish - c->wish_done);

	if (!(c->wish && c->cts_came) && !raw_lies(l))
		return;
	if (c->cts_came && !c->cts.length) {
		c->wish = 0;
		return;
	}
	if (!may_say(c, RCH_REC_FIN) ||
	    !raw_reach(l, IBV_WR_RDMA_WRITE, c->cts.addr, c->cts.rkey, length) ||
	    !raw_add(l, c, RCH_REC_FIN, 0, 0))
		return;
	c->cts_came = false;
	c->wish_done += length;
	if (c->wish_done < c->wish)
		return;
	c->wish = 0;
	has_sent(c, true);
}

static void say_cancel(struct raw_link *l, struct raw_chan *c)
{
	if (c->wish && put_rts(l, c, RCH_RTS_F_CANCEL, c->wish, c->wish_serial))
		c->wish = 0;
}

static void settle(struct raw_chan *c, u32 serial)
{
	c->settled[c->settled_next++ % RCH_LENDS] = serial;
}

/* Where a standing CTS says, which is the one for the next message. */
static void say_placed(struct raw_link *l, struct raw_chan *c)
{
	const struct rch_cts cts = c->lent[c->sent % RCH_LENDS];
	u32 length = c->wish ?: raw_lesser(cts.length, raw_some_length(l));
	u8 tells = tell_now_and_then(l, RCH_RTS_F_TELL);

	if (!cts.length || cts.message != (u32)c->sent || (cts.ahead && !c->placed) ||
	    c->left || c->shut || length > cts.length || c->wanted == cts.serial ||
	    !may_say(c, RCH_REC_RTS))
		return;
	if (!raw_reach(l, IBV_WR_RDMA_WRITE, cts.addr, cts.rkey, length) ||
	    !put_rts(l, c, RCH_RTS_F_PLACED | tells, length, cts.serial))
		return;
	c->wish = 0;
	settle(c, cts.serial);
	has_sent(c, true);
}

static void say_give_back(struct raw_link *l, struct raw_chan *c)
{
	int i;

	if (!c->wanted || !put_rts(l, c, RCH_RTS_F_PLACED | RCH_RTS_F_CANCEL, 1, c->wanted))
		return;
	for (i = 0; i < RCH_LENDS; i++)
		if (c->lent[i].serial == c->wanted)
			c->lent[i].length = 0;
	settle(c, c->wanted);
	c->wanted = 0;
}

/*
 * Large messages of the module
 */

static bool put_cts(struct raw_link *l, struct raw_chan *c, u8 flags, struct rch_cts cts)
{
	u8 *data = raw_add(l, c, RCH_REC_CTS, flags, sizeof(struct rch_wire_cts));

	cts.addr = raw_number(l, l->room_base);
	cts.rkey = raw_number(l, l->room_mr->rkey);
	cts.serial = raw_number(l, cts.serial);
	if (data)
		rch_wire_cts_put(data, &cts);
	return data;
}

/* Some have no room. */
static void say_cts(struct raw_link *l, struct raw_chan *c)
{
	const u32 max = raw_below(l, 2) ? RAW_ROOM : 40000;
	struct rch_cts cts = { .serial = c->peer_serial };

	if (!c->peer_wish || c->peer_cts || c->lends)
		return;
	if (c->peer_done || raw_below(l, 4))
		cts.length = raw_number(l, raw_lesser(c->peer_wish - c->peer_done, max));
	if (!put_cts(l, c, 0, cts))
		return;
	if (cts.length)
		c->peer_cts = cts.length;
	else
		c->peer_wish = 0;
}

static void say_lend(struct raw_link *l, struct raw_chan *c)
{
	struct rch_cts cts = {
		.serial = c->serial + 1,
		.message = raw_number(l, c->heard),
		.length = raw_number(l, raw_below(l, 2) ? RAW_ROOM : 40000),
	};

	if (c->lends || c->peer_wish || c->arriving ||
	    !put_cts(l, c, RCH_CTS_F_STANDING, cts))
		return;
	c->serial++;
	c->lends = c->serial;
	c->lends_message = c->heard;
}

static void say_want_back(struct raw_link *l, struct raw_chan *c)
{
	const struct rch_cts cts = { .serial = c->lends, .message = c->lends_message };

	if (c->lends)
		put_cts(l, c, RCH_CTS_F_STANDING, cts);
}

static void say_read(struct raw_link *l, struct raw_chan *c)
{
	u8 *data;

	if (raw_below(l, ENDS))
		return;
	data = raw_add(l, c, RCH_REC_READ, 0, sizeof(struct rch_wire_read));
	if (data)
		rch_wire_read_put(data, raw_number(l, c->heard));
}

static void say_taken(struct raw_link *l, struct raw_chan *c)
{
	u8 *data;

	if (c->tells <= c->taken && !raw_lies(l))
		return;
	data = raw_add(l, c, RCH_REC_TAKEN, 0, sizeof(struct rch_wire_taken));
	if (!data)
		return;
	c->taken = c->tells;
	rch_wire_taken_put(data, raw_number(l, c->tells));
}

/* Of the right length at least. */
static void say_nonsense(struct raw_link *l, struct raw_chan *c)
{
	static const u32 lengths[RCH_REC_TYPES] = {
		[RCH_REC_OPEN] = 24, [RCH_REC_ACCEPT] = 16, [RCH_REC_REJECT] = 8,
		[RCH_REC_DATA] = 64, [RCH_REC_CREDIT] = 8, [RCH_REC_CLOSE] = 8,
		[RCH_REC_RTS] = 16, [RCH_REC_CTS] = 24, [RCH_REC_REVOKE] = 8,
		[RCH_REC_RELEASE] = 8, [RCH_REC_ATOMIC] = 40, [RCH_REC_ATOMIC_DONE] = 16,
		[RCH_REC_READ] = 8, [RCH_REC_TAKEN] = 8,
	};
	struct rch_record r = {
		.chan = raw_below(l, 2) ? c->theirs : raw_number(l, c->mine),
		.type = 1 + raw_below(l, RCH_REC_TYPES - 1),
	};
	u8 *data;
	u32 i;

	if (!raw_lies(l) || raw_below(l, 2))
		return;
	r.flags = raw_below(l, 2) ? raw_below(l, 64) : 0;
	r.length = lengths[r.type];
	r.total = r.type == RCH_REC_DATA ? r.length : 0;
	data = put_record(l, &r);
	for (i = 0; data && i < r.length; i++)
		data[i] = raw_below(l, 2) ? 0 : raw_below(l, 256);
}

/**
 * struct deed - something to say
 * @say: adds it to the frame
 * @weight: how often it is tried
 */
static const struct deed {
	void (*say)(struct raw_link *l, struct raw_chan *c);
	u32 weight;
} deeds[] = {
	{ say_open, 2 },
	{ say_early, 4 },
	{ say_early_end, 1 },
	{ say_answer, 12 },
	{ say_data, 8 },
	{ say_piece, 6 },
	{ say_bare, 2 },
	{ say_credit, 3 },
	{ say_shut, 1 },
	{ say_close, 1 },
	{ say_closed, 6 },
	{ say_rts, 3 },
	{ say_fin, 8 },
	{ say_cancel, 1 },
	{ say_placed, 6 },
	{ say_give_back, 6 },
	{ say_cts, 6 },
	{ say_lend, 2 },
	{ say_want_back, 1 },
	{ say_read, 1 },
	{ say_taken, 6 },
	{ say_nonsense, 1 },
	{ raw_say_grants, 2 },
	{ raw_say_revoke, 1 },
	{ raw_say_release, 3 },
	{ raw_say_access, 6 },
	{ raw_say_atomic, 3 },
	{ raw_say_atomic_done, 6 },
};

static const struct deed *some_deed(struct raw_link *l)
{
	u32 i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(deeds); i++)
		sum += deeds[i].weight;
	at = raw_below(l, sum);
	for (i = 0; at >= deeds[i].weight; i++)
		at -= deeds[i].weight;
	return &deeds[i];
}

/* Of those that there are, if there is any. */
static struct raw_chan *some_chan(struct raw_link *l)
{
	u32 i, at = raw_below(l, RAW_CHANS);

	for (i = 0; i < RAW_CHANS; i++)
		if (l->chans[(at + i) % RAW_CHANS].state != RAW_FREE)
			return &l->chans[(at + i) % RAW_CHANS];
	return NULL;
}

/** raw_talk - something of one channel or another; most of what is tried has not its time */
void raw_talk(struct raw_link *l)
{
	const struct deed *deed = some_deed(l);
	struct raw_chan *c = some_chan(l);

	if (c || deed->say == say_open)
		deed->say(l, c);
}
