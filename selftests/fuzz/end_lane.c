// SPDX-License-Identifier: GPL-2.0
/*
 * end_lane.c - channels of one end: what lane.c, chan.c and chan_tx.c do
 */
#include "end.h"

/** lane_free - whether neither link nor program nor listener knows the lane */
bool lane_free(const struct lane *lane)
{
	return !lane->id && !lane->file && !lane->waiting;
}

/** lane_init - a new channel with a number that may be one of the last channel's */
void lane_init(struct end *e, struct lane *lane, bool active)
{
	/* The arrays are not looked at where they were not written. */
	memset(lane, 0, offsetof(struct lane, queue));
	memset(&lane->head, 0, offsetof(struct lane, segments) -
	       offsetof(struct lane, head));
	memset(&lane->first, 0, sizeof(*lane) - offsetof(struct lane, first));
	lane->id = 1 + (lane - e->lanes);
	lane->active = active;
	lane->state = active ? RCH_CHAN_CONNECTING : RCH_CHAN_WAITING;
	lane->wants_data = true;
	rch_flow_init(&lane->flow, e->weight);
	rch_window_init(&lane->rx, e->window);
}

/** lane_set_state - a step that must be allowed */
void lane_set_state(struct lane *lane, enum rch_chan_state to)
{
	fuzz_assert(rch_chan_state_allowed(lane->state, to));
	lane->state = to;
}

/** lane_fail - as rch_chan_fail() */
void lane_fail(struct lane *lane)
{
	if (rch_chan_state_allowed(lane->state, RCH_CHAN_FAILED))
		lane->state = RCH_CHAN_FAILED;
}

static void flow_leave(struct end *e, struct lane *lane)
{
	if (rch_flow_active(&lane->flow))
		rch_drr_remove(&e->drr, &lane->flow);
}

/** lane_flow_update - the first item may be sent now, or not any more */
void lane_flow_update(struct end *e, struct lane *lane)
{
	struct item *item = lane->count ? lane_item(lane, 0) : NULL;

	lane->stalled = item && item->type == RCH_REC_DATA &&
			!rch_window_may_send(&lane->tx, item->length);
	if (!item || lane->stalled || !lane->peer_id) {
		flow_leave(e, lane);
		return;
	}
	lane->flow.cost = rch_wire_space(item->length);
	if (!rch_flow_active(&lane->flow))
		rch_drr_add(&e->drr, &lane->flow);
}

/** lane_purge - throw away what waits to be sent */
void lane_purge(struct end *e, struct lane *lane)
{
	flow_leave(e, lane);
	lane->count = 0;
	lane->stalled = false;
	lane->fin_queued = false;
	lane->shut_queued = false;
}

/** lane_detach - the number ends */
void lane_detach(struct end *e, struct lane *lane)
{
	lane->id = 0;
	lane->control = 0;
	lane_purge(e, lane);
	lane->refused = true;
}

/** lane_detach_if_closed - the number ends if each CLOSE was answered */
void lane_detach_if_closed(struct end *e, struct lane *lane)
{
	if (!lane->close_got && !lane->closed_got)
		return;
	if (lane->close_got && !lane->closed_sent)
		return;
	if (lane->close_sent && !lane->closed_got)
		return;
	lane_detach(e, lane);
}

/** lane_tell_later - have the peer told something besides data, with what is sent next */
void lane_tell_later(struct lane *lane, u32 control)
{
	if (lane->close_sent || lane->close_got)
		control &= CTL_CLOSED;
	if (lane->finishing)
		control &= ~CTL_CREDIT;
	if (lane->id)
		lane->control |= control;
}

/** lane_tell - the same, at once */
void lane_tell(struct end *e, struct lane *lane, u32 control)
{
	lane_tell_later(lane, control);
	end_run(e);
}

/** lane_credit - tell a new limit if one is due */
void lane_credit(struct end *e, struct lane *lane)
{
	if (!rch_window_must_tell(&lane->rx, lane_only_incomplete(lane)))
		return;
	lane->rx.told = rch_window_target(&lane->rx, lane_only_incomplete(lane));
	if (lane->rx.told <= lane->credit_limit)
		return;
	lane->credit_limit = lane->rx.told;
	lane_tell(e, lane, CTL_CREDIT);
}

static bool enqueue(struct lane *lane, u8 type, u8 flags, u32 length)
{
	struct item *item = lane_item(lane, lane->count);

	if (lane->count == ITEMS)
		return false;
	memset(item, 0, sizeof(*item));
	item->type = type;
	item->flags = flags;
	item->length = length;
	lane->count++;
	return true;
}

/** lane_enqueue - put a record behind what waits; the caller fills in the rest */
void lane_enqueue(struct lane *lane, u8 type, u8 flags, u32 length)
{
	/* chan_send() and chan_place() leave room for the last ones. */
	fuzz_assert(enqueue(lane, type, flags, length));
}

/** lane_tx_refused - nothing can be sent any more, and a sender finds out */
bool lane_tx_refused(const struct lane *lane)
{
	return lane->refused || lane->state != RCH_CHAN_OPEN;
}

static void enqueue_last(struct end *e, struct lane *lane, u8 type, u8 flags, u32 length)
{
	lane_enqueue(lane, type, flags, length);
	lane_flow_update(e, lane);
	end_run(e);
}

/* CLOSE is for the next frame: when that is sent is for the script to say. */
static void finish(struct end *e, struct lane *lane)
{
	lane->refused = true;
	lane->finishing = true;
	if (!lane->id || lane->fin_queued || lane->close_sent || (lane->control & CTL_RESET))
		return;
	if (lane->count)
		lane_tell_later(lane, CTL_SHUT_RECV);
	lane->fin_queued = true;
	lane_enqueue(lane, RCH_REC_CLOSE, 0, sizeof(struct rch_wire_close));
	lane_flow_update(e, lane);
}

/** lane_refuse - throw away what waits, as nobody reads it */
void lane_refuse(struct end *e, struct lane *lane)
{
	bool closing = lane->fin_queued;

	lane->refused = true;
	lane_purge(e, lane);
	if (closing)
		finish(e, lane);
}

/** lane_reset - end at once */
void lane_reset(struct end *e, struct lane *lane)
{
	lane->refused = true;
	lane_purge(e, lane);
	if (!lane->close_sent && lane->peer_id)
		lane_tell(e, lane, CTL_RESET);
}

static void drop_received(struct end *e, struct lane *lane)
{
	u32 i;

	for (i = 0; i < lane->held; i++)
		rch_window_consumed(&lane->rx, lane_segment(lane, i)->length);
	lane->held = 0;
	lane->complete = 0;
	lane->arriving = false;
	lane->offered = false;
	lane_credit(e, lane);
}

/** chan_connect - a program connects */
void chan_connect(struct end *e, struct lane *lane)
{
	lane_init(e, lane, true);
	lane->file = true;
	lane_tell(e, lane, CTL_OPEN);
}

/** chan_accept - a program takes a channel out of the listener's queue */
void chan_accept(struct lane *lane)
{
	lane->waiting = false;
	lane->file = true;
	if (lane->state == RCH_CHAN_WAITING)
		lane_set_state(lane, RCH_CHAN_OPEN);
}

/** chan_send - a program sends @total bytes, or, @abort, fails in the middle */
void chan_send(struct end *e, struct lane *lane, u32 total, bool abort)
{
	u32 most = rch_wire_segment_max(FRAME_SIZE), left = total, flags = RCH_DATA_F_FIRST;
	struct item *item;

	if (lane->sending || lane_tx_refused(lane) || lane->count + total / most + 4 > ITEMS)
		return;
	do {
		u32 length = min(left, most);

		left -= length;
		if (!left && !abort)
			flags |= RCH_DATA_F_LAST;
		/* A message that fails does so before its last segment. */
		if (!left && abort)
			break;
		enqueue(lane, RCH_REC_DATA, flags, length);
		item = lane_item(lane, lane->count - 1);
		item->total = total;
		item->msg_flags = abort ? ABORTED : lane->accepted % ABORTED;
		flags = 0;
	} while (left);
	if (!abort)
		lane->accepted++;
	else if (!flags)
		enqueue(lane, RCH_REC_DATA, RCH_DATA_F_ABORT, 0);
	lane_flow_update(e, lane);
	end_run(e);
}

/** chan_read - a program reads a message */
void chan_read(struct end *e, struct lane *lane)
{
	bool last;

	if (!lane->complete || lane->shut_recv || lane->grant != GRANT_NONE)
		return;
	do {
		struct item *seg = lane_segment(lane, 0);

		last = seg->flags & RCH_DATA_F_LAST;
		rch_window_consumed(&lane->rx, seg->length);
		lane->first = (lane->first + 1) % SEGMENTS;
		lane->held--;
	} while (!last);
	lane->complete--;
	lane_credit(e, lane);
}

static bool may_shut(const struct lane *lane)
{
	return lane->file && lane->state != RCH_CHAN_CONNECTING &&
	       lane->state != RCH_CHAN_FAILED;
}

/** chan_shut_send - a program sends no more */
void chan_shut_send(struct end *e, struct lane *lane)
{
	/* Behind the message of a thread, which finds out. */
	if (!may_shut(lane) || lane->refused || !chan_sender_stops(e, lane))
		return;
	lane->refused = true;
	if (!lane->id || lane->shut_queued)
		return;
	lane->shut_queued = true;
	enqueue_last(e, lane, RCH_REC_SHUT, RCH_SHUT_F_SEND, 0);
}

/** chan_shut_recv - a program reads no more */
void chan_shut_recv(struct end *e, struct lane *lane)
{
	if (!may_shut(lane) || !chan_reader_stops(e, lane))
		return;
	lane->shut_recv = true;
	lane_tell(e, lane, CTL_SHUT_RECV);
	drop_received(e, lane);
}

/** chan_release - a program closes, or, with @reset, is killed */
void chan_release(struct end *e, struct lane *lane, bool reset)
{
	bool open = lane->state == RCH_CHAN_OPEN || lane->state == RCH_CHAN_WAITING;

	lane->file = false;
	lane->waiting = false;
	lane->released = true;
	if (open || rch_chan_state_allowed(lane->state, RCH_CHAN_DEAD))
		lane_set_state(lane, open ? RCH_CHAN_CLOSING : RCH_CHAN_DEAD);
	if (open && reset)
		lane_reset(e, lane);
	else if (open)
		finish(e, lane);
	drop_received(e, lane);
}
