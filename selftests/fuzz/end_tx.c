// SPDX-License-Identifier: GPL-2.0
/*
 * end_tx.c - frames built and sent: what link_tx.c does
 *
 * Each frame that leaves is held against the rules of Documentation/protocol.rst here,
 * in words of their own, so that the pure layer is not its own witness.
 */
#include "end.h"

#define FLIGHT_IDLE 2

static u32 in_flight(const struct end *e)
{
	const struct rch_credit *c = &e->credit;

	return rch_seq_before(e->done, c->tx_acked) ? c->tx_next - c->tx_acked
						    : c->tx_next - e->done;
}

static bool wire_room(struct end *e)
{
	if (e->closed - e->arrived < WIRE)
		return true;
	/* A liar may promise more than there is: frames beyond that are lost. */
	fuzz_assert(!end_trusts(e));
	e->arrived++;
	return true;
}

static struct slot *close_slot(struct end *e, u8 flags)
{
	struct slot *slot = &e->wire[e->closed % WIRE];

	slot->flags = flags;
	slot->seq = rch_credit_take(&e->credit);
	slot->length = sizeof(struct rch_wire_frame);
	e->closed++;
	e->next64++;
	return slot;
}

static bool close_open(struct end *e)
{
	struct slot *slot;

	if (!rch_credit_room(&e->credit, false) || !wire_room(e))
		return false;
	slot = close_slot(e, 0);
	memcpy(slot->data, e->open, e->open_used);
	slot->length = e->open_used;
	e->open_used = sizeof(struct rch_wire_frame);
	return true;
}

static bool open_is_empty(const struct end *e)
{
	return e->open_used == sizeof(struct rch_wire_frame);
}

/** end_put_record - put a record into the open frame; where its bytes go, or NULL */
void *end_put_record(struct end *e, const struct rch_record *r)
{
	u32 space = rch_wire_space(r->length);
	void *payload;

	if (FRAME_SIZE - e->open_used < space && !close_open(e))
		return NULL;
	payload = rch_wire_record_put(e->open + e->open_used, r);
	e->open_used += space;
	return payload;
}

static bool put_control(struct end *e, struct lane *lane, u32 control)
{
	struct rch_open open = { .chan = lane->id, .window = e->window,
				 .message_max = MESSAGE_MOST };
	struct rch_accept accept = { lane->id, MESSAGE_MOST, e->window };
	struct rch_record r = { .chan = lane->peer_id };
	void *payload;

	switch (control) {
	case CTL_OPEN:
		r.type = RCH_REC_OPEN;
		break;
	case CTL_ACCEPT:
		r.type = RCH_REC_ACCEPT;
		break;
	case CTL_CREDIT:
		r.type = RCH_REC_CREDIT;
		break;
	case CTL_SHUT_RECV:
		r.type = RCH_REC_SHUT;
		r.flags = RCH_SHUT_F_RECV;
		break;
	case CTL_RESET:
		r.type = RCH_REC_CLOSE;
		r.flags = RCH_CLOSE_F_RESET;
		break;
	case CTL_CTS:
		r.type = RCH_REC_CTS;
		break;
	default:
		r.type = RCH_REC_CLOSED;
	}
	r.length = fuzz_record_length(r.type, 0);
	payload = end_put_record(e, &r);
	if (!payload)
		return false;
	if (control == CTL_OPEN)
		rch_wire_open_put(payload, &open);
	else if (control == CTL_ACCEPT)
		rch_wire_accept_put(payload, &accept);
	else if (control == CTL_CREDIT)
		rch_wire_credit_put(payload, lane->credit_limit);
	else if (control == CTL_RESET)
		rch_wire_pair_put(payload, 15, 0);
	else if (control == CTL_CTS)
		rch_wire_cts_put(payload, &lane->answer);
	return true;
}

/* As rch_lane_told(). */
static void told(struct end *e, struct lane *lane, u32 control)
{
	lane->control &= ~control;
	if (control == CTL_RESET) {
		lane->close_sent = true;
		lane->control &= CTL_CLOSED;
	}
	if (control == CTL_CLOSED) {
		lane->closed_sent = true;
		lane_detach_if_closed(e, lane);
	}
}

static bool fill_rejects(struct end *e)
{
	void *payload;

	while (e->reject_count) {
		u32 n = e->reject_count - 1;
		struct rch_record r = {
			.type = RCH_REC_REJECT,
			.chan = e->rejects[n].chan,
			.length = sizeof(struct rch_wire_reject),
		};

		payload = end_put_record(e, &r);
		if (!payload)
			return false;
		rch_wire_pair_put(payload, e->rejects[n].reason, 0);
		e->reject_count--;
	}
	return true;
}

static bool fill_control(struct end *e)
{
	u32 i, control;

	if (!fill_rejects(e))
		return false;
	for (i = 0; i < LANES; i++)
		while (e->lanes[i].control) {
			control = e->lanes[i].control & -e->lanes[i].control;
			if (!put_control(e, &e->lanes[i], control))
				return false;
			told(e, &e->lanes[i], control);
		}
	return true;
}

/* As rch_lane_sent(). */
static void item_sent(struct end *e, struct lane *lane)
{
	struct item item = *lane_item(lane, 0);

	lane->head = (lane->head + 1) % ITEMS;
	lane->count--;
	rch_drr_charge(&lane->flow, lane->flow.cost);
	if (item.type == RCH_REC_DATA) {
		rch_window_sent(&lane->tx, item.length);
		fuzz_assert(lane->tx.sent <= lane->tx.limit);
	} else if (item.type == RCH_REC_CLOSE) {
		lane->fin_queued = false;
		lane->close_sent = true;
		lane->control &= CTL_CLOSED;
	} else if (item.type == RCH_REC_SHUT) {
		lane->shut_queued = false;
	}
	lane_flow_update(e, lane);
}

static void put_bytes(void *payload, const struct item *item)
{
	const struct rch_rts rts = { item->total, item->serial, item->msg_flags };

	switch (item->type) {
	case RCH_REC_DATA:
		memset(payload, item->msg_flags, item->length);
		return;
	case RCH_REC_RTS:
		rch_wire_rts_put(payload, &rts);
		return;
	case RCH_REC_CLOSE:
		rch_wire_pair_put(payload, 13, 0);
	}
}

static bool put_item(struct end *e, struct lane *lane)
{
	const struct item *item = lane_item(lane, 0);
	bool alone = item->length > ITEM_MAX;
	struct rch_record r = {
		.chan = lane->peer_id,
		.type = item->type,
		.flags = item->flags,
		.length = item->length,
	};
	void *payload;

	if (item->type == RCH_REC_DATA) {
		r.msg_flags = item->msg_flags;
		r.total = item->total;
	}
	if (alone && !open_is_empty(e) && !close_open(e))
		return false;
	if (alone && !rch_credit_room(&e->credit, false))
		return false;
	payload = end_put_record(e, &r);
	if (!payload)
		return false;
	put_bytes(payload, item);
	item_sent(e, lane);
	return !alone || close_open(e);
}

static bool fill_data(struct end *e)
{
	struct rch_flow *flow;
	struct lane *lane;

	while ((flow = rch_drr_pick(&e->drr))) {
		fuzz_assert(flow->deficit >= flow->cost);
		fuzz_assert(flow->deficit < FRAME_SIZE + e->drr.quantum * flow->weight);
		lane = (void *)((u8 *)flow - offsetof(struct lane, flow));
		if (!put_item(e, lane))
			return false;
	}
	return true;
}

/* The rules of "Numbers and credits" about what may leave. */
static void promise_check(struct end *e, const struct slot *slot)
{
	u32 left = e->credit.tx_limit - slot->seq;
	bool pure = slot->flags & RCH_FRAME_F_PURE;

	fuzz_assert(left >= 1 && left <= e->credit.tx_depth);
	fuzz_assert(pure || left > RCH_CREDIT_RESERVE);
	fuzz_assert(left > 1 || rch_seq_before(e->told, e->credit.rx_limit));
}

static void seal(struct end *e)
{
	struct rch_frame f = {
		.epoch = 1,
		.ack = e->credit.rx_next,
		.limit = e->credit.rx_limit,
	};
	struct slot *slot;

	if (e->sealed == e->closed)
		return;
	while (e->sealed != e->closed) {
		slot = &e->wire[e->sealed++ % WIRE];
		f.flags = slot->flags;
		f.seq = slot->seq;
		f.length = slot->length;
		rch_wire_frame_put(slot->data, &f);
		if (!e->liar)
			promise_check(e, slot);
	}
	rch_credit_tell(&e->credit);
	if (rch_seq_before(e->told, f.limit))
		e->told = f.limit;
}

static void pure_frame(struct end *e, u8 flags)
{
	if (rch_credit_room(&e->credit, true) && wire_room(e))
		close_slot(e, RCH_FRAME_F_PURE | flags);
}

/** end_run - send what can be sent */
void end_run(struct end *e)
{
	if (e->state != RCH_LINK_UP)
		return;
	if (fill_control(e))
		fill_data(e);
	if (!open_is_empty(e) && in_flight(e) < FLIGHT_IDLE)
		close_open(e);
	if (e->sealed == e->closed && rch_credit_must_tell(&e->credit))
		pure_frame(e, 0);
	seal(e);
}

/** end_heartbeat - send a frame without records */
void end_heartbeat(struct end *e, u8 flags)
{
	if (e->state != RCH_LINK_UP)
		return;
	pure_frame(e, flags);
	seal(e);
}
