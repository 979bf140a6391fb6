// SPDX-License-Identifier: GPL-2.0
/*
 * end_place.c - large messages, from memory to memory: what rts.c and cts.c do
 *
 * A program has a thread that sends, and one that waits; each goes on when the fuzzer
 * lets it, as a scheduler would. Bytes that are written arrive behind the frames that
 * left before them, and their key must be one that is open then.
 */
#include "end.h"

/*
 * The side that sends
 */

static void put_rts(struct end *e, struct lane *lane, u8 flags)
{
	struct item *item;

	/* As rch_lane_rts(): a lane that takes no more does not take it back either. */
	if (lane->refused)
		return;
	lane_enqueue(lane, RCH_REC_RTS, flags, sizeof(struct rch_wire_rts));
	item = lane_item(lane, lane->count - 1);
	item->msg_flags = lane->rts.msg_flags;
	item->total = lane->rts.total;
	item->serial = lane->rts.serial;
	lane_flow_update(e, lane);
	end_run(e);
}

/** chan_place - a thread sends @total bytes, and waits until they are there */
void chan_place(struct end *e, struct lane *lane, u32 total)
{
	u32 segments = total / rch_wire_segment_max(FRAME_SIZE);

	/* Room for what may follow: DATA after all, CANCEL, CLOSE and SHUT. */
	if (!total || lane->sending || lane_tx_refused(lane) ||
	    lane->count + segments + 8 > ITEMS)
		return;
	lane->sending = true;
	lane->cts_due = true;
	lane->wrote = false;
	lane->rts.serial++;
	lane->rts.total = total;
	lane->rts.msg_flags = lane->accepted % ABORTED;
	lane->rts_left = total;
	put_rts(e, lane, 0);
}

/** cts_got - the peer has room, or none */
enum rch_rule cts_got(struct lane *lane, const struct rch_record *r)
{
	struct rch_cts cts;

	rch_wire_cts_get(r, &cts);
	/* These ends have not agreed upon it. */
	if (r->flags & RCH_CTS_F_STANDING)
		return RCH_RULE_STATE;
	if (!lane->cts_due || cts.serial != lane->rts.serial)
		return RCH_RULE_OK;
	lane->cts = cts;
	lane->cts_due = false;
	return RCH_RULE_OK;
}

static void give_up(struct end *e, struct lane *lane)
{
	lane->sending = false;
	lane->cts_due = false;
	put_rts(e, lane, RCH_RTS_F_CANCEL);
}

static struct write *write_of(struct end *e, struct lane *lane)
{
	return &e->writes[lane - e->lanes];
}

static void write_piece(struct end *e, struct lane *lane)
{
	struct write *w = write_of(e, lane);
	u32 n = min(lane->cts.length, lane->rts_left);

	w->after = e->sealed;
	w->chan = lane->peer_id;
	w->rkey = lane->cts.rkey;
	w->addr = lane->cts.addr;
	w->length = n;
	lane->rts_left -= n;
	lane->wrote = true;
	lane->cts_due = lane->rts_left;
	if (!lane->rts_left)
		lane->accepted++;
	lane_enqueue(lane, RCH_REC_FIN, 0, 0);
	lane_flow_update(e, lane);
	end_run(e);
}

/* Return: whether the thread could do something. */
static bool sender_runs(struct end *e, struct lane *lane)
{
	if (!lane->sending)
		return false;
	if (lane->wrote) {
		/* A writer waits for that in any case. */
		if (write_of(e, lane)->length)
			return false;
		lane->wrote = false;
		lane->sending = lane->rts_left;
		return true;
	}
	if (lane_tx_refused(lane)) {
		give_up(e, lane);
	} else if (lane->cts_due) {
		return false;
	} else if (lane->cts.length) {
		write_piece(e, lane);
	} else {
		give_up(e, lane);
		chan_send(e, lane, lane->rts.total, false);
	}
	return true;
}

/** chan_sender_stops - a signal. Return: whether no thread sends any more */
bool chan_sender_stops(struct end *e, struct lane *lane)
{
	/* An answer that is there is not forgotten. */
	if (lane->sending && !lane->wrote && !lane->cts_due)
		sender_runs(e, lane);
	if (lane->sending && lane->wrote)
		return false;
	if (lane->sending)
		give_up(e, lane);
	return true;
}

/*
 * The wire
 */

static void link_fails(struct end *e)
{
	if (!e->liar && e->state != RCH_LINK_DEAD) {
		fuzz_assert(rch_link_state_allowed(e->state, RCH_LINK_DEAD));
		e->state = RCH_LINK_DEAD;
	}
}

/* Where the adapter looks a key up, and its answer to one that is none. */
static void write_lands(struct end *from, const struct write *w)
{
	struct end *to = from->peer;
	struct lane *lane = NULL;
	u32 i;

	for (i = 0; i < LANES; i++)
		if (to->lanes[i].rkey && to->lanes[i].rkey == w->rkey)
			lane = &to->lanes[i];
	if (lane && w->addr >= lane->base && w->addr - lane->base < lane->granted &&
	    w->length <= lane->base + lane->granted - w->addr) {
		fuzz_assert(!end_trusts(to) || lane->id == w->chan);
		lane->landed += w->length;
		return;
	}
	/* Between honest ends no key is used that is not open. */
	fuzz_assert(!end_trusts(to));
	link_fails(from);
	link_fails(to);
}

/** writes_land - what was written ahead of the frame that arrives now */
void writes_land(struct end *from)
{
	struct write *w;
	u32 i;

	for (i = 0; i < LANES; i++) {
		w = &from->writes[i];
		if (!w->length || rch_seq_before(from->arrived, w->after))
			continue;
		write_lands(from, w);
		w->length = 0;
	}
}

/*
 * The side that receives
 */

static void answer(struct end *e, struct lane *lane, u32 serial, u32 length)
{
	/* As rch_lane_cts(). */
	if ((lane->control & CTL_CTS) && rch_seq_before(serial, lane->answer.serial))
		return;
	lane->answer.serial = serial;
	lane->answer.length = length;
	lane->answer.rkey = length ? lane->rkey : 0;
	lane->answer.addr = lane->base;
	lane_tell(e, lane, CTL_CTS);
}

static void cancel_got(struct lane *lane, u32 serial)
{
	if (lane->offered && lane->offer.serial == serial)
		lane->offered = false;
	if (lane->grant_left && lane->grant_serial == serial) {
		lane->grant = GRANT_CANCELLED;
		lane->grant_left = 0;
	}
}

static enum rch_rule offer_got(struct lane *lane, const struct rch_rts *rts, bool *keep)
{
	if (lane->arriving || lane->offered || lane->grant_left)
		return RCH_RULE_SEGMENT;
	if (rts->total > MESSAGE_MOST)
		return RCH_RULE_MESSAGE_SIZE;
	*keep = lane->state == RCH_CHAN_OPEN && !lane->wants_data;
	if (*keep) {
		lane->offer = *rts;
		lane->offered = true;
		lane->late = false;
	}
	return RCH_RULE_OK;
}

/** rts_got - the peer asks where to write a message */
enum rch_rule rts_got(struct end *e, struct lane *lane, const struct rch_record *r)
{
	enum rch_rule rule = RCH_RULE_OK;
	bool keep = false;
	struct rch_rts rts;

	if (!lane->peer_id)
		return RCH_RULE_STATE;
	rch_wire_rts_get(r, &rts);
	if (r->flags & RCH_RTS_F_PLACED)
		return RCH_RULE_STATE;
	if (r->flags & RCH_RTS_F_CANCEL) {
		cancel_got(lane, rts.serial);
		return RCH_RULE_OK;
	}
	if (lane->state == RCH_CHAN_PEER_CLOSED || lane->peer_shut_send)
		rule = RCH_RULE_STATE;
	else if ((lane->state == RCH_CHAN_OPEN || lane->state == RCH_CHAN_WAITING) &&
		 !lane->shut_recv)
		rule = offer_got(lane, &rts, &keep);
	if (!rule && !keep)
		answer(e, lane, rts.serial, 0);
	return rule;
}

/* A message between honest ends was written in its turn. */
static void placed_check(const struct end *e, struct lane *lane)
{
	if (end_trusts(e))
		fuzz_assert(lane->offer.msg_flags == lane->read % ABORTED);
	lane->read++;
}

/** fin_got - a piece was written */
enum rch_rule fin_got(struct end *e, struct lane *lane)
{
	if (lane->grant == GRANT_OPEN) {
		lane->grant = GRANT_DONE;
		lane->grant_left -= lane->granted;
		lane->base += lane->granted;
		fuzz_assert(!end_trusts(e) || lane->landed == lane->base);
		if (!lane->grant_left)
			placed_check(e, lane);
	} else if (lane->state == RCH_CHAN_OPEN) {
		return RCH_RULE_STATE;
	}
	return RCH_RULE_OK;
}

static void refuse_offer(struct end *e, struct lane *lane)
{
	if (!lane->offered)
		return;
	lane->offered = false;
	answer(e, lane, lane->offer.serial, 0);
}

/** chan_wait - a thread begins to wait for a message */
void chan_wait(struct lane *lane)
{
	if (lane->reader || lane->complete)
		return;
	lane->reader = true;
	lane->wants_data = false;
}

/** chan_wants_data - a program looks for a message and does not wait */
void chan_wants_data(struct end *e, struct lane *lane)
{
	lane->wants_data = true;
	refuse_offer(e, lane);
}

/** chan_offer_over - the time that an offer waits for a thread is over */
void chan_offer_over(struct end *e, struct lane *lane)
{
	lane->late = true;
	if (!lane->reader)
		refuse_offer(e, lane);
}

static void reader_leaves(struct end *e, struct lane *lane)
{
	lane->reader = false;
	if (lane->late)
		refuse_offer(e, lane);
}

static void offer_take(struct lane *lane)
{
	lane->offered = false;
	lane->grant = GRANT_TAKEN;
	lane->grant_serial = lane->offer.serial;
	lane->grant_left = lane->offer.total;
	lane->base = 0;
	lane->landed = 0;
}

static void grant_open(struct end *e, struct lane *lane)
{
	lane->grant = GRANT_OPEN;
	lane->granted = min(PIECE, lane->grant_left);
	lane->rkey = ++e->rkeys;
	answer(e, lane, lane->grant_serial, lane->granted);
}

static void ungrant(struct lane *lane)
{
	lane->rkey = 0;
	lane->grant = GRANT_NONE;
	lane->grant_left = 0;
}

/* The thread has taken an offer. Return: whether it could do something. */
static bool placing_runs(struct end *e, struct lane *lane)
{
	bool open = lane->state == RCH_CHAN_OPEN;

	if (lane->grant == GRANT_OPEN && open)
		return false;
	/* Closed before anything else: the program may use its memory. */
	lane->rkey = 0;
	if (lane->grant == GRANT_DONE && !lane->grant_left) {
		ungrant(lane);
		reader_leaves(e, lane);
	} else if ((lane->grant == GRANT_TAKEN || lane->grant == GRANT_DONE) && open) {
		grant_open(e, lane);
	} else {
		/* Taken back, or the channel has ended. */
		ungrant(lane);
	}
	return true;
}

static bool reader_runs(struct end *e, struct lane *lane)
{
	if (!lane->reader)
		return false;
	if (lane->grant != GRANT_NONE)
		return placing_runs(e, lane);
	if (lane->complete && !lane->shut_recv) {
		chan_read(e, lane);
		reader_leaves(e, lane);
	} else if (lane->offered && lane->state == RCH_CHAN_OPEN && !lane->shut_recv) {
		offer_take(lane);
	} else if (lane->state != RCH_CHAN_OPEN || lane->shut_recv || lane->peer_shut_send) {
		reader_leaves(e, lane);
	} else {
		return false;
	}
	return true;
}

/** chan_threads - the threads of a program run. Return: whether one did something */
bool chan_threads(struct end *e, struct lane *lane)
{
	bool sent = sender_runs(e, lane);

	return reader_runs(e, lane) || sent;
}

/** chan_reader_stops - a signal. Return: whether no thread waits any more */
bool chan_reader_stops(struct end *e, struct lane *lane)
{
	if (!lane->reader)
		return true;
	/* A program that has opened its memory cannot be interrupted. */
	if (lane->grant != GRANT_NONE)
		return false;
	reader_leaves(e, lane);
	return true;
}

/** chan_stop - a signal. Return: whether no thread is in a call any more */
bool chan_stop(struct end *e, struct lane *lane)
{
	bool stopped = chan_sender_stops(e, lane);

	return chan_reader_stops(e, lane) && stopped;
}

/**
 * chan_kill - a signal that kills
 * @e: end
 * @lane: lane of the program
 *
 * A reader between two pieces breaks the message; one with its memory open is waited for.
 * Return: whether no thread is in a call any more.
 */
bool chan_kill(struct end *e, struct lane *lane)
{
	if (!chan_sender_stops(e, lane))
		return false;
	if (lane->grant == GRANT_OPEN && lane->state == RCH_CHAN_OPEN)
		return false;
	lane->rkey = 0;
	if (lane->grant == GRANT_TAKEN) {
		ungrant(lane);
		answer(e, lane, lane->grant_serial, 0);
	} else if (lane->grant_left) {
		lane_fail(lane);
		lane_reset(e, lane);
	}
	ungrant(lane);
	return chan_reader_stops(e, lane);
}
