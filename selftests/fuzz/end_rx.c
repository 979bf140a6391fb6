// SPDX-License-Identifier: GPL-2.0
/*
 * end_rx.c - frames taken apart: what link_rx.c and chan_rx.c do
 */
#include "end.h"

static enum rch_rule open_got(struct end *e, const struct rch_record *r)
{
	struct lane *lane = NULL;
	struct rch_open open;
	u32 i, n;

	rch_wire_open_get(r, &open);
	for (i = 0; i < LANES && !e->refuse && !lane; i++)
		if (lane_free(&e->lanes[i]))
			lane = &e->lanes[i];
	if (!lane) {
		if (e->reject_count == REJECTS)
			return RCH_RULE_OK;
		n = e->reject_count++;
		e->rejects[n].chan = open.chan;
		e->rejects[n].reason = RCH_REJECT_BACKLOG;
		end_run(e);
		return RCH_RULE_OK;
	}
	lane_init(e, lane, false);
	lane->waiting = true;
	lane->peer_id = open.chan;
	rch_window_raise(&lane->tx, open.window);
	lane_tell(e, lane, CTL_ACCEPT);
	return RCH_RULE_OK;
}

/* Whether @r goes on with the message that is arriving, or begins one. */
static enum rch_rule segment_fits(const struct lane *lane, const struct rch_record *r)
{
	bool first = r->flags & RCH_DATA_F_FIRST;
	u32 expect = first ? r->total : lane->expect;

	if (first == lane->arriving || lane->offered || lane->grant_left)
		return RCH_RULE_SEGMENT;
	if (r->flags & RCH_DATA_F_ABORT)
		return first || (r->flags & RCH_DATA_F_LAST) ? RCH_RULE_SEGMENT : RCH_RULE_OK;
	if (first && r->total > MESSAGE_MOST)
		return RCH_RULE_MESSAGE_SIZE;
	if (!rch_segment_allowed(r->length, r->flags & RCH_DATA_F_LAST))
		return RCH_RULE_SEGMENT;
	if (r->length > expect || !!(r->flags & RCH_DATA_F_LAST) != (r->length == expect))
		return RCH_RULE_SEGMENT;
	return RCH_RULE_OK;
}

/** lane_take_arriving - throw away the segments of the message that is not complete */
void lane_take_arriving(struct lane *lane)
{
	struct item *seg;

	if (!lane->arriving)
		return;
	do {
		seg = lane_segment(lane, --lane->held);
		rch_window_consumed(&lane->rx, seg->length);
	} while (!(seg->flags & RCH_DATA_F_FIRST));
	lane->arriving = false;
}

/* A message between honest ends came whole, in order, and as it was sent. */
static void message_check(const struct end *e, struct lane *lane)
{
	u32 i = lane->held, sum = 0;
	struct item *seg;

	do {
		seg = lane_segment(lane, --i);
		sum += seg->length;
	} while (!(seg->flags & RCH_DATA_F_FIRST));
	fuzz_assert(sum == seg->total);
	if (end_trusts(e))
		fuzz_assert(seg->msg_flags == lane->read % ABORTED);
	lane->read++;
}

static void segment_keep(const struct end *e, struct lane *lane, const struct rch_record *r)
{
	struct item *seg;

	/* The window is what bounds a lane's memory. */
	fuzz_assert(lane->held < SEGMENTS);
	seg = lane_segment(lane, lane->held++);
	seg->flags = r->flags;
	seg->msg_flags = r->msg_flags;
	seg->length = r->length;
	seg->total = r->total;
	if (r->flags & RCH_DATA_F_FIRST)
		lane->expect = r->total;
	lane->expect -= r->length;
	lane->arriving = !(r->flags & RCH_DATA_F_LAST);
	if (!lane->arriving) {
		message_check(e, lane);
		lane->complete++;
	}
}

static enum rch_rule data_queue(struct end *e, struct lane *lane, const struct rch_record *r)
{
	enum rch_rule rule = segment_fits(lane, r);

	if (rule)
		return rule;
	if (!rch_window_received(&lane->rx, r->length))
		return RCH_RULE_WINDOW;
	fuzz_assert(lane->rx.received <= lane->rx.told);
	if (r->flags & RCH_DATA_F_ABORT) {
		rch_window_consumed(&lane->rx, 0);
		lane_take_arriving(lane);
	} else {
		segment_keep(e, lane, r);
	}
	lane_credit(e, lane);
	return RCH_RULE_OK;
}

static void data_ignore(struct end *e, struct lane *lane, const struct rch_record *r)
{
	lane->rx.received += rch_window_cost(r->length);
	rch_window_consumed(&lane->rx, r->length);
	lane->arriving = false;
	lane_credit(e, lane);
}

static enum rch_rule data_got(struct end *e, struct lane *lane, const struct rch_record *r)
{
	if (r->length && end_trusts(e)) {
		fuzz_assert(r->payload[0] == (u8)r->msg_flags);
		fuzz_assert(r->payload[r->length - 1] == (u8)r->msg_flags);
	}
	if (lane->state == RCH_CHAN_CONNECTING || lane->state == RCH_CHAN_PEER_CLOSED ||
	    lane->peer_shut_send)
		return RCH_RULE_STATE;
	if ((lane->state == RCH_CHAN_OPEN || lane->state == RCH_CHAN_WAITING) &&
	    !lane->shut_recv)
		return data_queue(e, lane, r);
	data_ignore(e, lane, r);
	return RCH_RULE_OK;
}

static enum rch_rule accept_got(struct end *e, struct lane *lane, const struct rch_record *r)
{
	struct rch_accept accept;

	rch_wire_accept_get(r, &accept);
	if (!lane->active || lane->peer_id)
		return RCH_RULE_STATE;
	lane->peer_id = accept.chan;
	rch_window_raise(&lane->tx, accept.window);
	if (!lane->released)
		lane_set_state(lane, RCH_CHAN_OPEN);
	else
		lane_reset(e, lane);
	return RCH_RULE_OK;
}

static enum rch_rule reject_got(struct end *e, struct lane *lane)
{
	if (!lane->active || lane->peer_id)
		return RCH_RULE_STATE;
	lane_detach(e, lane);
	lane_fail(lane);
	return RCH_RULE_OK;
}

static enum rch_rule shut_got(struct end *e, struct lane *lane, const struct rch_record *r)
{
	if (!lane->peer_id)
		return RCH_RULE_STATE;
	if (r->flags & RCH_SHUT_F_SEND)
		lane->peer_shut_send = true;
	if (r->flags & RCH_SHUT_F_RECV)
		lane_refuse(e, lane);
	return RCH_RULE_OK;
}

/* CLOSE without RESET follows everything that the program handed over. */
static void nothing_lost(const struct end *e, const struct lane *lane)
{
	const struct lane *other;

	if (!end_trusts(e) || lane->shut_recv ||
	    (lane->state != RCH_CHAN_OPEN && lane->state != RCH_CHAN_WAITING))
		return;
	fuzz_assert(!lane->arriving && !lane->offered && !lane->grant_left);
	other = &e->peer->lanes[lane->peer_id - 1];
	fuzz_assert(other->peer_id == lane->id && lane->read == other->accepted);
}

static enum rch_rule close_got(struct end *e, struct lane *lane, const struct rch_record *r)
{
	bool reset = r->flags & RCH_CLOSE_F_RESET;
	u32 cause, detail;

	if (!lane->peer_id)
		return RCH_RULE_STATE;
	rch_wire_pair_get(r, &cause, &detail);
	if (!reset)
		nothing_lost(e, lane);
	lane_take_arriving(lane);
	if (!reset && rch_chan_state_allowed(lane->state, RCH_CHAN_PEER_CLOSED))
		lane_set_state(lane, RCH_CHAN_PEER_CLOSED);
	if (reset)
		lane_fail(lane);
	if (lane->close_got)
		return RCH_RULE_STATE;
	lane->close_got = true;
	lane->refused = true;
	lane_purge(e, lane);
	lane->control = 0;
	/* With the next frame, as CLOSE. */
	lane_tell_later(lane, CTL_CLOSED);
	return RCH_RULE_OK;
}

static enum rch_rule closed_got(struct end *e, struct lane *lane)
{
	if (!lane->close_sent || lane->closed_got)
		return RCH_RULE_STATE;
	lane->closed_got = true;
	lane_detach_if_closed(e, lane);
	return RCH_RULE_OK;
}

static void credit_got(struct end *e, struct lane *lane, const struct rch_record *r)
{
	u64 before = lane->tx.limit;

	rch_window_raise(&lane->tx, rch_wire_credit_get(r));
	fuzz_assert(lane->tx.limit >= before);
	if (lane->stalled) {
		lane_flow_update(e, lane);
		end_run(e);
	}
}

static enum rch_rule record_got(struct end *e, const struct rch_record *r)
{
	struct lane *lane;

	if (r->type == RCH_REC_OPEN)
		return open_got(e, r);
	if (r->chan > LANES || !e->lanes[r->chan - 1].id)
		return RCH_RULE_CHANNEL;
	lane = &e->lanes[r->chan - 1];
	switch (r->type) {
	case RCH_REC_ACCEPT:
		return accept_got(e, lane, r);
	case RCH_REC_REJECT:
		return reject_got(e, lane);
	case RCH_REC_DATA:
		return data_got(e, lane, r);
	case RCH_REC_CREDIT:
		credit_got(e, lane, r);
		return RCH_RULE_OK;
	case RCH_REC_RTS:
		return rts_got(e, lane, r);
	case RCH_REC_CTS:
		return cts_got(lane, r);
	case RCH_REC_FIN:
		return fin_got(e, lane);
	case RCH_REC_READ:
	case RCH_REC_TAKEN:
		return lane->peer_id ? RCH_RULE_OK : RCH_RULE_STATE;
	case RCH_REC_SHUT:
		return shut_got(e, lane, r);
	case RCH_REC_CLOSE:
		return close_got(e, lane, r);
	case RCH_REC_CLOSED:
		return closed_got(e, lane);
	default:
		/* The codec lets none through that is not above. */
		return RCH_RULE_RECORD_TYPE;
	}
}

/* An acknowledgement that was believed is of frames that were sent, and never old. */
static void numbers_check(struct end *e)
{
	u64 acked = e->acked64 + (u32)(e->credit.tx_acked - (u32)e->acked64);

	fuzz_assert(acked <= e->next64);
	fuzz_assert(rch_seq_between(e->credit.tx_next,  e->credit.tx_limit,
				    e->credit.tx_next + e->credit.tx_depth));
	fuzz_assert(rch_credit_unacked(&e->credit) == (u32)(e->next64 - acked));
	e->acked64 = acked;
}

/* The frame's numbers, as frame_got() of link_rx.c. */
static enum rch_rule frame_got(struct end *e, const struct rch_frame *f, bool *skip)
{
	if (e->state == RCH_LINK_CONNECTING ||
	    (e->state == RCH_LINK_HELLO && !(f->flags & RCH_FRAME_F_HELLO)))
		return RCH_RULE_STATE;
	if (f->epoch != 1)
		return RCH_RULE_FRAME_EPOCH;
	switch (rch_credit_arrival(&e->credit, f->seq)) {
	case RCH_ARRIVAL_NEW:
		break;
	case RCH_ARRIVAL_DUPLICATE:
		rch_credit_duplicate(&e->credit);
		*skip = true;
		return RCH_RULE_OK;
	case RCH_ARRIVAL_GAP:
		return RCH_RULE_SEQ_GAP;
	}
	if (!rch_credit_told_by_peer(&e->credit, f->ack, f->limit))
		return RCH_RULE_NUMBERS;
	numbers_check(e);
	if (e->state == RCH_LINK_HELLO) {
		fuzz_assert(rch_link_state_allowed(e->state, RCH_LINK_UP));
		e->state = RCH_LINK_UP;
	}
	rch_credit_received(&e->credit);
	return RCH_RULE_OK;
}

static enum rch_rule records_got(struct end *e, const u8 *data, u32 length)
{
	struct rch_cursor cursor;
	struct rch_record r;
	enum rch_rule rule;

	rch_wire_cursor_init(&cursor, data, length);
	while (rch_wire_record_more(&cursor)) {
		rule = rch_wire_record_next(&cursor, &r);
		if (!rule)
			rule = record_got(e, &r);
		if (rule)
			return rule;
	}
	return RCH_RULE_OK;
}

/** end_received - a frame came; it used one of the buffers that were posted */
void end_received(struct end *e, const u8 *data, u32 length)
{
	enum rch_rule rule;
	struct rch_frame f;
	bool skip = false;

	e->posted--;
	e->used++;
	rule = rch_wire_frame_get(data, length, &f);
	if (!rule)
		rule = frame_got(e, &f, &skip);
	if (!rule && !skip)
		rule = records_got(e, data, f.length);
	fuzz_assert(rule < RCH_RULES);
	if (!rule || e->liar)
		return;
	/* An honest peer breaks no rule. */
	fuzz_assert(e->peer->liar);
	fuzz_assert(rch_link_state_allowed(e->state, RCH_LINK_DEAD));
	e->state = RCH_LINK_DEAD;
	e->broken = rule;
}

/** end_repost - post the buffers that were used */
void end_repost(struct end *e)
{
	u32 used = e->used;

	if (!used)
		return;
	e->posted += used;
	e->used = 0;
	e->again = false;
	rch_credit_posted(&e->credit, used);
	end_run(e);
}
