// SPDX-License-Identifier: GPL-2.0
/*
 * place_send.c - transfers: the steps of the sender
 *
 * Ask, write, FIN; or write into what was lent, and PLACED. A message that nobody waits for
 * goes in segments, as there is room for them: from a region here; the owner of pinned pages copies
 * the message itself.
 *
 * Error handling. Sending can be stopped while nothing is being written: then the peer is told,
 * and closes what it has opened. So it does when it gets CLOSE or CLOSED: they go behind the batch
 * that is being posted (rch_lane_access_begin()), and no batch goes behind them.
 */
#include "channel/chan.h"
#include "link/link.h"
#include "memory/region.h"
#include "path/path_rdma.h"
#include "rndv/place.h"
#include "rndv/rndv.h"

/* All of it is in the peer's hands, or on its way. */
static void place_send_sent(struct rch_place *place, bool placed)
{
	struct rch_chan *chan = place->chan;

	if (placed)
		rch_chan_tx_placed(chan);
	rch_chan_tx_done(chan, place->rts.total);
	if (!place->region)
		return;
	atomic64_inc(&chan->counts.tx_regions);
	atomic64_inc(&place->region->sent);
}

/* The question first: else what comes back would have it answered. */
static void place_send_take_back(struct rch_place *place)
{
	struct rch_lane *lane = &place->chan->lane;

	if (place->asked) {
		rch_chan_cts_forget(place->chan);
		/* If the peer has said no, it will ignore this. */
		rch_lane_rts_cancel(lane, place->asked);
	}
	if (!place->stands)
		return;
	rch_chan_borrow_end(place->chan, &place->cts);
	rch_lane_return(lane, &place->cts);
}

static void place_send_failed(struct rch_place *place, int ret)
{
	place_send_take_back(place);
	rch_place_finish(place, rch_chan_tx_check(place->chan) ?: ret);
}

/*
 * The peer does not want the message written to its place. The owner of pinned pages copies it, and
 * a thread that waits keeps the claim for that.
 */
static void place_send_stream(struct rch_place *place)
{
	rch_place_unmap(place);
	if (place->pinned) {
		if (place->by_call)
			place->claimed = false;
		rch_place_finish(place, -EAGAIN);
		return;
	}
	rch_region_iter(place->region, ITER_SOURCE, place->offset, place->rts.total,
			&place->iter);
	place->first = true;
	rch_place_go_to(place, RCH_PLACE_STREAM, 0);
}

static bool place_send_step_asked(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	if (!rch_chan_cts_take(chan, &place->cts, &place->stands)) {
		if (!rch_chan_tx_refused(chan))
			return false;
		place_send_failed(place, -EPIPE);
	} else if (place->cts.length) {
		if (place->stands)
			place->rts.serial = place->cts.serial;
		rch_place_go_to(place, RCH_PLACE_TURN, 0);
	} else {
		rch_chan_rts_refused(chan);
		place_send_take_back(place);
		place_send_stream(place);
	}
	return true;
}

/* The path has failed, and the channel will soon. */
static void place_send_write_failed(struct rch_place *place)
{
	rch_write_end(place->path, place->write);
	rch_place_unmap(place);
	rch_place_go_to(place, RCH_PLACE_FAILING, place->chan->lane.link->beat.dead);
}

/* Behind the last write in the same queue. Return: the next state. */
static enum rch_place_state place_send_fin(struct rch_place *place)
{
	struct rch_lane *lane = &place->chan->lane;
	/* The next message may ask for its way in the same frame. */
	bool hold = !place->left && place->by_owner;

	/* The answer may come at once. */
	if (place->left)
		rch_chan_cts_expect(place->chan);
	if (place->stands)
		place->fin = rch_lane_rts(lane, &place->rts, RCH_RTS_F_PLACED, place->cts.rkey,
					  hold);
	else
		place->fin = rch_lane_fin(lane, place->cts.rkey, place->left, hold);
	if (place->left || place->fin)
		return RCH_PLACE_WRITING;
	place->told = true;
	place_send_sent(place, true);
	rch_place_unclaim(place);
	return RCH_PLACE_WRITTEN;
}

/*
 * The adapter takes its time. Meanwhile the program may lend memory for the answer; a peer that
 * hears of that after FIN may have asked for it already.
 */
static bool place_send_holds_fin(const struct rch_place *place)
{
	return !place->left && place->by_owner && !rch_write_over(place->path, place->write);
}

/* Return: whether another batch could go; not any more when the channel has ended. */
static bool place_send_write_some(struct rch_place *place)
{
	enum rch_place_state state = RCH_PLACE_WRITING;
	struct rch_lane *lane = &place->chan->lane;
	int ret;
	u32 n;

	if (!rch_lane_access_begin(lane))
		return false;
	ret = rch_write_some(place->path, place->write, &place->cursor, place->cts.addr,
			     place->cts.rkey, place->cts.length, &n);
	rch_lane_access_end(lane);
	if (ret) {
		/* The batch before this one may be under way still. */
		rch_place_go_to(place, RCH_PLACE_WRITING, place->path->patience);
		return true;
	}
	place->cts.addr += n;
	place->cts.length -= n;
	if (!place->cts.length)
		state = place_send_holds_fin(place) ? RCH_PLACE_HOLDING : place_send_fin(place);
	rch_place_go_to(place, state, place->path->patience);
	return true;
}

static bool place_send_step_turn(struct rch_place *place)
{
	if (!rch_write_try_begin(place->path, place->write, &place->cursor,
				 min(place->cts.length, place->left)))
		return false;
	place->cts.length = min(place->cts.length, place->left);
	place->left -= place->cts.length;
	/* A peer that has ended the channel meanwhile closes that memory. */
	if (rch_chan_tx_refused(place->chan) || !place_send_write_some(place)) {
		rch_write_end(place->path, place->write);
		place_send_failed(place, -EPIPE);
	}
	return true;
}

static bool place_send_step_writing(struct rch_place *place)
{
	/* Ahead of the next question: else the last batch may end between the two. */
	bool over = rch_write_over(place->path, place->write);

	/* One that is left alone writes no more: a slow peer would keep its pages for long. */
	if (place->cts.length && !place->left_alone &&
	    rch_write_may(place->path, place->write) && place_send_write_some(place))
		return true;
	if (!over)
		return rch_place_not_yet(place);
	if (!rch_write_ok(place->write)) {
		place_send_write_failed(place);
		return true;
	}
	rch_write_end(place->path, place->write);
	if (place->fin)
		place_send_failed(place, place->fin);
	else if (place->left_alone)
		place_send_failed(place, -ECANCELED);
	else if (place->cts.length)
		place_send_failed(place, -EPIPE);
	else
		rch_place_go_to(place, RCH_PLACE_ASKED, 0);
	return true;
}

static bool place_send_step_holding(struct rch_place *place)
{
	bool over = rch_write_over(place->path, place->write);

	if (!over && (!place->let_go || READ_ONCE(place->chan->lend.opens)))
		return rch_place_not_yet(place);
	if (over && !rch_write_ok(place->write))
		place_send_write_failed(place);
	else
		rch_place_go_to(place, place_send_fin(place), place->path->patience);
	return true;
}

static bool place_send_step_written(struct rch_place *place)
{
	if (!rch_write_over(place->path, place->write))
		return rch_place_not_yet(place);
	if (!rch_write_ok(place->write)) {
		place_send_write_failed(place);
		return true;
	}
	rch_write_end(place->path, place->write);
	rch_place_finish(place, 0);
	return true;
}

static bool place_send_step_stream(struct rch_place *place)
{
	u32 msg_flags = place->rts.msg_flags | (place->rts.tell ? RCH_MSG_TELL : 0);
	struct rch_chan *chan = place->chan;
	int ret = rch_chan_tx_check(chan);

	if (!ret && !rch_lane_has_room(&chan->lane))
		return false;
	if (!ret)
		ret = rch_chan_tx_segment(chan, &place->iter, place->rts.total, msg_flags,
					  place->first);
	if (ret) {
		if (!place->first)
			rch_chan_tx_abort(chan, place->rts.total);
		rch_place_finish(place, rch_chan_tx_check(chan) ?: ret);
		return true;
	}
	place->first = false;
	if (!iov_iter_count(&place->iter)) {
		place_send_sent(place, false);
		rch_place_finish(place, 0);
	}
	cond_resched();
	return true;
}

/*
 * Whether the sender waits until the message is received, and it may have been: the adapter may
 * have written it, and lost the acknowledgement. The channel's end tells the sender so.
 */
static bool place_send_may_be_received(const struct rch_place *place)
{
	return place->told && place->rts.tell;
}

static bool place_send_step_failing(struct rch_place *place)
{
	if (!rch_chan_tx_refused(place->chan) && !rch_place_just_late(place))
		return false;
	if (place_send_may_be_received(place))
		rch_place_finish(place, 0);
	else
		rch_place_finish(place, rch_chan_tx_check(place->chan) ?: -ECONNRESET);
	return true;
}

static bool place_send_ask(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;
	u32 total = place->rts.total;

	/* The owner of pinned pages has chosen the way before it pinned them. */
	if (!place->pinned && rch_chan_way(chan, total, true) == RCH_WAY_EAGER)
		return false;
	if (!rch_place_map(place, DMA_TO_DEVICE))
		return false;
	place->write = rch_write_get(place->path);
	if (!place->write)
		return false;
	place->left = total;
	place->stands = rch_chan_borrow(chan, total, &place->cts);
	if (place->stands) {
		place->rts.serial = place->cts.serial;
		rch_place_go_to(place, RCH_PLACE_TURN, 0);
		return true;
	}
	if (rch_chan_rts_ask(chan, &place->rts)) {
		place_send_failed(place, -EPIPE);
		return true;
	}
	place->asked = place->rts.serial;
	rch_place_go_to(place, RCH_PLACE_ASKED, 0);
	return true;
}

static bool (*const steps[])(struct rch_place *place) = {
	[RCH_PLACE_ASKED] = place_send_step_asked,
	[RCH_PLACE_TURN] = place_send_step_turn,
	[RCH_PLACE_WRITING] = place_send_step_writing,
	[RCH_PLACE_HOLDING] = place_send_step_holding,
	[RCH_PLACE_WRITTEN] = place_send_step_written,
	[RCH_PLACE_STREAM] = place_send_step_stream,
	[RCH_PLACE_FAILING] = place_send_step_failing,
};

/**
 * rch_place_send_step - take the next step of a message that is sent
 * @place: transfer, not over; locked
 *
 * Return: whether something has happened, so that another step may be possible.
 */
bool rch_place_send_step(struct rch_place *place)
{
	lockdep_assert_held(&place->lock);
	return steps[place->state](place);
}

/**
 * rch_place_send_stop - have a message not be sent, if that is possible still
 * @place: transfer, not over; locked
 *
 * Return: whether it is, so that the caller finishes it.
 */
bool rch_place_send_stop(struct rch_place *place)
{
	lockdep_assert_held(&place->lock);
	switch (place->state) {
	case RCH_PLACE_ASKED:
	case RCH_PLACE_TURN:
		place_send_take_back(place);
		return true;
	case RCH_PLACE_STREAM:
		if (!place->first)
			rch_chan_tx_abort(place->chan, place->rts.total);
		return true;
	case RCH_PLACE_FAILING:
		return !place_send_may_be_received(place);
	default:
		return false;
	}
}

/**
 * rch_place_send - begin to send
 * @place: transfer
 * @length: bytes of the message
 * @msg_flags: its flags, and RCH_MSG_TELL
 *
 * The caller has claimed RCH_CHAN_TX, which is the transfer's from now on. rch_link_run()
 * must be called soon. The result may be -EAGAIN where pages are pinned: nothing has happened, the
 * message is to be copied, and the claim is given up, or, of a thread that waits, its own again.
 */
void rch_place_send(struct rch_place *place, u32 length, u32 msg_flags)
{
	place->sending = true;
	place->rts.total = length;
	place->rts.msg_flags = msg_flags;
	place->rts.tell = msg_flags & RCH_MSG_TELL;
	mutex_lock(&place->lock);
	rch_place_begin(place);
	if (!place_send_ask(place))
		place_send_stream(place);
	rch_place_run_by_owner(place);
	mutex_unlock(&place->lock);
}
