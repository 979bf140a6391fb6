// SPDX-License-Identifier: GPL-2.0
/*
 * chan.c - what the raw peer knows of channels: it keeps the module's records in mind
 */
#include <string.h>

#include "common.h"
#include "link.h"

/* Return: a place for a channel, or NULL. */
struct raw_chan *raw_chan_free(struct raw_link *l)
{
	int i;

	for (i = 0; i < RAW_CHANS; i++)
		if (l->chans[i].state == RAW_FREE)
			return &l->chans[i];
	return NULL;
}

void raw_chan_begin(struct raw_link *l, struct raw_chan *c, enum raw_state state)
{
	memset(c, 0, sizeof(*c));
	c->state = state;
	c->mine = HOSTILE_MINE + l->last_mine++;
}

/* The numbers of a channel are free when each CLOSE has been answered. */
void raw_chan_settle(struct raw_chan *c)
{
	if ((c->closing || c->peer_closing) && c->closing == c->closed &&
	    c->peer_closing == c->answered)
		c->state = RAW_FREE;
}

static struct raw_chan *chan_of(struct raw_link *l, const struct rch_record *r)
{
	bool early = rch_wire_is_early(r->type, r->flags);
	struct raw_chan *c;
	int i;

	for (i = 0; i < RAW_CHANS; i++) {
		c = &l->chans[i];
		if (c->state != RAW_FREE && (early ? c->theirs : c->mine) == r->chan)
			return c;
	}
	return NULL;
}

static void took_open(struct raw_link *l, const struct rch_record *r)
{
	struct raw_chan *c = raw_chan_free(l);
	struct rch_open open;

	/* Others wait for an answer until the link ends. */
	if (!c)
		return;
	rch_wire_open_get(r, &open);
	raw_chan_begin(l, c, RAW_KNOCKS);
	c->theirs = open.chan;
	c->limit = open.window;
	c->message_max = open.message_max;
	c->early = r->flags & RCH_OPEN_F_EARLY;
}

static void took_accept(struct raw_link *l, struct raw_chan *c, const struct rch_record *r)
{
	struct rch_accept accept;

	rch_wire_accept_get(r, &accept);
	c->state = RAW_OPEN;
	c->theirs = accept.chan;
	c->limit = accept.window;
	c->message_max = accept.message_max;
	raw_count(l, RAW_OPENED, 1);
}

static void took_grants(struct raw_link *l, struct raw_chan *c, const struct rch_record *r)
{
	struct rch_grant_info grants[RCH_GRANTS_MAX];
	struct raw_held *held;
	u32 i, k;

	rch_wire_grants_get(r, grants);
	for (i = 0; i < rch_wire_grants_count(r); i++) {
		held = &c->held[grants[i].id % RAW_HELD];
		*held = (struct raw_held) {
			.id = grants[i].id, .rights = grants[i].rights, .length = grants[i].length,
			.start = grants[i].start, .shift = grants[i].shift, .keys = grants[i].keys,
		};
		for (k = 0; k < RAW_KEYS && k < held->keys; k++)
			held->key[k] = le32_to_cpu(grants[i].key[k]);
		raw_count(l, RAW_GIVEN, 1);
	}
}

static void took_message(struct raw_link *l, struct raw_chan *c, bool asks)
{
	c->heard++;
	c->arriving = false;
	if (asks)
		c->tells = c->heard;
	/* It has come in this way or another, and what was lent for it is void. */
	if (c->lends && c->lends_message != (u32)c->heard)
		c->lends = 0;
	raw_count(l, RAW_MESSAGES, 1);
}

static void took_data(struct raw_link *l, struct raw_chan *c, const struct rch_record *r)
{
	c->came += rch_window_cost(r->length);
	c->arriving = !(r->flags & RCH_DATA_F_ABORT);
	if (r->flags & RCH_DATA_F_LAST)
		took_message(l, c, r->flags & RCH_DATA_F_TELL);
	/* Of a frame without a header there are no bytes to look at. */
	if (r->flags & RCH_DATA_F_GRANTS)
		took_grants(l, c, r);
}

static void took_rts(struct raw_link *l, struct raw_chan *c, const struct rch_record *r)
{
	struct rch_rts rts;

	rch_wire_rts_get(r, &rts);
	if (r->flags & RCH_RTS_F_PLACED) {
		c->lends = 0;
		if (!(r->flags & RCH_RTS_F_CANCEL)) {
			c->peer_wish = 0;
			took_message(l, c, rts.tell);
		}
		return;
	}
	c->peer_wish = r->flags & RCH_RTS_F_CANCEL ? 0 : rts.total;
	c->peer_serial = rts.serial;
	c->peer_done = 0;
	c->peer_cts = 0;
	if (rts.tell && c->peer_wish)
		c->tells = c->heard + 1;
}

static void took_fin(struct raw_link *l, struct raw_chan *c)
{
	c->peer_done += c->peer_cts;
	c->peer_cts = 0;
	if (c->peer_done < c->peer_wish)
		return;
	c->peer_wish = 0;
	took_message(l, c, false);
}

/* What tells of its use is the answer already. */
static bool is_settled(const struct raw_chan *c, u32 serial)
{
	int i;

	for (i = 0; i < RCH_LENDS; i++)
		if (c->settled[i] == serial)
			return true;
	return false;
}

static void took_cts(struct raw_chan *c, const struct rch_record *r)
{
	struct rch_cts cts;

	rch_wire_cts_get(r, &cts);
	if (!(r->flags & RCH_CTS_F_STANDING)) {
		c->cts = cts;
		c->cts_came = cts.serial == c->wish_serial && c->wish;
	} else if (cts.length) {
		c->lent[cts.message % RCH_LENDS] = cts;
	} else if (!is_settled(c, cts.serial)) {
		c->wanted = cts.serial;
	}
}

static void took_told(struct raw_link *l, struct raw_chan *c, u64 messages)
{
	if (messages <= c->delivered || messages > c->sent)
		return;
	raw_count(l, RAW_DELIVERED, messages - c->delivered);
	c->delivered = messages;
}

static void took_close(struct raw_link *l, struct raw_chan *c, const struct rch_record *r)
{
	u32 cause, detail;

	rch_wire_pair_get(r, &cause, &detail);
	c->peer_closing = true;
	if (!(r->flags & RCH_CLOSE_F_RESET))
		took_told(l, c, detail);
}

static void took_atomic(struct raw_chan *c, const struct rch_record *r)
{
	struct rch_atomic atomic;

	if (!rch_wire_atomic_get(r, &atomic) && c->atomics_count < RAW_ATOMICS)
		c->atomics[c->atomics_count++] = atomic.serial;
}

static void took_end(struct raw_chan *c, const struct rch_record *r)
{
	u32 id, cause;

	rch_wire_grant_end_get(r, &id, &cause);
	if (r->type == RCH_REC_REVOKE)
		c->revoked = id;
}

static void took_of(struct raw_link *l, struct raw_chan *c, const struct rch_record *r)
{
	switch (r->type) {
	case RCH_REC_ACCEPT:
		took_accept(l, c, r);
		break;
	case RCH_REC_REJECT:
		c->state = RAW_FREE;
		break;
	case RCH_REC_DATA:
		took_data(l, c, r);
		break;
	case RCH_REC_CREDIT:
		c->limit = rch_wire_credit_get(r);
		break;
	case RCH_REC_CLOSE:
		took_close(l, c, r);
		break;
	case RCH_REC_CLOSED:
		c->closed = true;
		raw_chan_settle(c);
		break;
	case RCH_REC_RTS:
		took_rts(l, c, r);
		break;
	case RCH_REC_CTS:
		took_cts(c, r);
		break;
	case RCH_REC_FIN:
		took_fin(l, c);
		break;
	case RCH_REC_REVOKE:
	case RCH_REC_RELEASE:
		took_end(c, r);
		break;
	case RCH_REC_ATOMIC:
		took_atomic(c, r);
		break;
	case RCH_REC_READ:
		took_told(l, c, rch_wire_read_get(r));
		break;
	case RCH_REC_TAKEN:
		took_told(l, c, rch_wire_taken_get(r));
		break;
	}
}

/** raw_took - a record has come */
void raw_took(struct hostile *h, const struct rch_record *r)
{
	struct raw_link *l = (struct raw_link *)h;
	struct raw_chan *c = chan_of(l, r);

	if (r->type == RCH_REC_OPEN)
		took_open(l, r);
	else if (c)
		took_of(l, c, r);
}
