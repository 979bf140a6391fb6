// SPDX-License-Identifier: GPL-2.0
/*
 * place_recv.c - transfers: the steps of the receiver
 *
 * Open, wait for FIN, close. Memory that is open before anybody has asked for it is told of in
 * lend.c, and the heirs of a transfer in heir.c. They lend while the other goes on, and have
 * claimed nothing until their turn comes.
 *
 * Error handling. Receiving cannot be stopped once memory is open to the peer: the peer's
 * module has all that it needs, and finishes, or the link ends ("Link failure" in place.c). Memory
 * that is only lent is asked back, and waited for. A peer that is busy with other messages, and
 * does not finish this one while its memory is wanted back, costs the channel after LAST_DEADS dead
 * times. Where nobody wants the message any more, it costs the channel as soon as it is late. A
 * message that is there, and waits for the one before it to be received, is not late: the peer has
 * done its part, and the thread that receives the one before may be in a call that takes long.
 *
 * When the channel ends here the peer answers by CLOSED, or has sent CLOSE itself, and writes no
 * more. It has four dead times for that, as for any answer to CLOSE. One that has had its time
 * before has none left: the memory is taken away at once.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "link/link.h"
#include "memory/region.h"
#include "path/path_rdma.h"
#include "rndv/place.h"
#include "rndv/rndv.h"

/* How many dead times a peer may take from one piece of all its messages to the next. */
#define FIN_DEADS 4
/* How many it may have memory for that the program wants back, regardless of others. */
#define LAST_DEADS 16

static void place_recv_received(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	rch_chan_rx_done(chan, place->rts.total);
	WRITE_ONCE(chan->counts.rx_placed, chan->counts.rx_placed + 1);
	rch_chan_lend_again(chan, place->rts.total);
	if (!place->region)
		return;
	atomic64_inc(&chan->counts.rx_regions);
	atomic64_inc(&place->region->received);
}

static bool place_recv_count(struct rch_place *place)
{
	int max = place->heir ? RCH_LENT_AHEAD_MAX : RCH_LENT_MAX;
	atomic_t *lent = &place->chan->lane.link->lent;
	int now = atomic_read(lent);

	while (now < max)
		if (atomic_try_cmpxchg(lent, &now, now + 1))
			return true;
	return false;
}

static void place_recv_uncount(struct rch_place *place)
{
	if (place->counted)
		atomic_dec(&place->chan->lane.link->lent);
}

/* It may come as DATA. Return: -EAGAIN */
static int place_recv_no_message(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	if (!place->stands)
		return rch_chan_grant_refuse(chan, place->rts.serial);
	if (!place->begun)
		rch_chan_lend_result(chan, false);
	return -EAGAIN;
}

/* The one before has its message. */
static void place_recv_take_turn(struct rch_place *place)
{
	WRITE_ONCE(place->heir, false);
	place->claimed = true;
}

/* Whether the heir was one to its end. */
static bool place_recv_heir_end(struct rch_place *place)
{
	if (!place->heir)
		return false;
	if (rch_chan_heir_end(place->chan, &place->as_heir))
		return true;
	rch_chan_heir_turn(place->chan, &place->as_heir);
	place_recv_take_turn(place);
	return false;
}

/* The claim goes to the heir, or is given up. */
static void place_recv_placing_end(struct rch_place *place, int result)
{
	if (rch_chan_placing_end(place->chan, !result))
		place->claimed = false;
}

/* Nothing is open any more: the message is here, or may come in another way. */
static void place_recv_end(struct rch_place *place, bool closed)
{
	struct rch_chan *chan = place->chan;
	int ret = place->result;
	bool lost;

	rch_place_unlist(place);
	rch_mr_give_back(place->path, place->mr, closed);
	place_recv_uncount(place);
	if (place_recv_heir_end(place)) {
		rch_place_finish(place, -EAGAIN);
		return;
	}
	/* Ahead of the end of the grant: FIN may still come. */
	if (ret && ret != -ECANCELED && ret != -EAGAIN && place->begun)
		rch_chan_broken(chan, ret);
	if (ret == -EAGAIN || (ret && !place->begun))
		ret = place_recv_no_message(place);
	if (!ret)
		place_recv_received(place);
	/* Nor has anybody one that comes behind one that was lost. */
	lost = !ret && (place->left_alone || READ_ONCE(chan->rndv_rx.lost));
	if (lost)
		rch_chan_lost(chan);
	else if (!ret && place->rts.tell)
		rch_lane_taken(&chan->lane, chan->counts.rx_messages, place->by_owner);
	place_recv_placing_end(place, ret);
	rch_place_finish(place, lost || ret == -ECANCELED ? -EAGAIN : ret);
}

/* Keep the peer out. @result: see place_recv_end(). */
static void place_recv_close(struct rch_place *place, int result)
{
	place->result = result;
	if (!place->mr->open)
		place_recv_end(place, true);
	else if (rch_mr_close_post(place->path, place->mr))
		rch_place_go_to(place, RCH_PLACE_STUCK, 0);
	else
		rch_place_go_to(place, RCH_PLACE_CLOSING, place->path->patience);
}

static void place_recv_open(struct rch_place *place)
{
	int ret = rch_mr_open_post(place->path, place->mr, &place->cursor, &place->wait_open);

	if (ret)
		place_recv_close(place, ret == -ENOTCONN ? -ECANCELED : ret);
	else
		rch_place_go_to(place, RCH_PLACE_OPENING, place->path->patience);
}

/* For the program, or for another message. */
static void place_recv_want_back(struct rch_place *place)
{
	place->unwanted = true;
	if (!place->last)
		place->last = (jiffies + LAST_DEADS * place->chan->lane.link->beat.dead) ?: 1;
}

/* Wait for what the peer has to say of memory that it has. */
static void place_recv_await_fin(struct rch_place *place, enum rch_place_state state)
{
	struct rch_link *link = place->chan->lane.link;
	long patience = FIN_DEADS * link->beat.dead;

	if (place->last)
		patience = clamp((long)(place->last - jiffies), 1L, patience);
	place->fins = READ_ONCE(link->rx.fins);
	rch_place_go_to(place, state, patience);
}

/* Memory is open for a message that waits for it. */
static void place_recv_grant(struct rch_place *place)
{
	u32 left;

	rch_chan_grant_state(place->chan, &left);
	/* There may be room for more than the message. */
	place->cts.length = min(place->cts.length, left);
	place->cts.serial = place->rts.serial;
	place->cts.message = 0;
	if (!rch_chan_grant(place->chan, &place->cts)) {
		place_recv_close(place, -ECANCELED);
		return;
	}
	place->begun = true;
	place_recv_await_fin(place, RCH_PLACE_OPEN);
	rch_lane_cts(&place->chan->lane, &place->cts);
}

/* The peer asks, as it had not heard of what was lent, or that is too small. */
static void place_recv_asked(struct rch_place *place, const struct rch_rts *offer)
{
	bool fits = offer->total <= place->rts.total;

	place->stands = false;
	place->rts = *offer;
	if (fits) {
		place_recv_grant(place);
		return;
	}
	rch_chan_lend_result(place->chan, false);
	place_recv_close(place, -EAGAIN);
}

/* Memory is open that the peer has not asked for. */
static void place_recv_lend(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;
	struct rch_rts offer;

	if (place->unwanted || !(place->heir ?
			       rch_chan_lend_ahead(chan, &place->as_heir, &place->cts) :
			       rch_chan_lend(chan, &place->cts))) {
		/* But it may have done so meanwhile. */
		if (!place->unwanted && !place->heir &&
		    rch_chan_lend_asked(chan, place->rts.total, &offer))
			place_recv_asked(place, &offer);
		else
			place_recv_close(place, -EAGAIN);
		return;
	}
	place->begun = true;
	rch_place_go_to(place, RCH_PLACE_LENT, 0);
	/* What the program has to send may go in the same frame. */
	rch_lane_stand(&chan->lane, &place->cts, place->by_owner);
}

/* So FIN of a message that goes the other way waits for what there will be to tell. */
static void place_recv_lend_opens(struct rch_place *place, bool opens)
{
	struct rch_chan *chan = place->chan;

	if (READ_ONCE(chan->lend.opens) == opens)
		return;
	WRITE_ONCE(chan->lend.opens, opens);
	if (!opens)
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
}

static bool place_recv_step_opening(struct rch_place *place)
{
	if (place->wait_open && !rch_io_over(place->path, &place->mr->io)) {
		place_recv_lend_opens(place, place->stands && !place->heir);
		return rch_place_not_yet(place);
	}
	place_recv_lend_opens(place, false);
	place->cts.addr = place->mr->mr->iova;
	place->cts.rkey = place->mr->mr->rkey;
	place->cts.length = place->mr->mr->length;
	if (place->wait_open && !rch_io_ok(&place->mr->io))
		place_recv_close(place, -ECANCELED);
	else if (place->stands)
		place_recv_lend(place);
	else
		place_recv_grant(place);
	return true;
}

/*
 * A peer that is silent about all messages for so long may keep the memory no longer. Return:
 * whether it is to be taken away: then the channel has ended.
 */
static bool place_recv_fin_late(struct rch_place *place)
{
	struct rch_link *link = place->chan->lane.link;
	bool last = place->last && time_after_eq(jiffies, place->last);

	if (!rch_place_just_late(place))
		return false;
	if (!last && READ_ONCE(link->rx.fins) == place->fins) {
		rch_link_unanswered(link, RDMACHAN_OP_RECV);
		return false;
	}
	if (!last && !place->left_alone) {
		place_recv_await_fin(place, place->state);
		return false;
	}
	/* A peer cannot keep memory that is wanted back as long as it likes. */
	rch_chan_broken(place->chan, -EINTR);
	return true;
}

static bool place_recv_step_open(struct rch_place *place)
{
	enum rch_grant grant;
	u32 left;

	if (!rch_chan_grant_settled(place->chan) && !place_recv_fin_late(place))
		return false;
	grant = rch_chan_grant_state(place->chan, &left);
	if (rch_chan_grant_closed(place->chan))
		rch_mr_closed(place->mr);
	if (grant != RCH_GRANT_DONE)
		place_recv_close(place, -ECANCELED);
	else if (!left)
		place_recv_close(place, 0);
	else if (place->left_alone)
		place_recv_close(place, -EAGAIN);
	else
		place_recv_open(place);
	return true;
}

static bool place_recv_lent_closed(struct rch_place *place)
{
	return place->heir ? rch_chan_heir_closed(place->chan, &place->as_heir) :
			     rch_chan_grant_closed(place->chan);
}

static void place_recv_lent_over(struct rch_place *place, enum rch_lent lent,
				 const struct rch_rts *message)
{
	bool used = lent == RCH_LENT_USED;

	if (!place->heir)
		rch_chan_lend_result(place->chan, used);
	if (used)
		place->rts = *message;
	if (place_recv_lent_closed(place))
		rch_mr_closed(place->mr);
	place_recv_close(place, used ? 0 : -EAGAIN);
}

/* Have the peer give back what it was lent. It answers in any case. */
static void place_recv_recall(struct rch_place *place)
{
	const struct rch_cts cts = {
		.serial = place->cts.serial,
		.message = place->cts.message,
	};

	place_recv_want_back(place);
	place_recv_await_fin(place, RCH_PLACE_RECALL);
	rch_lane_stand(&place->chan->lane, &cts, false);
}

static enum rch_lent place_recv_lent_state(struct rch_place *place, bool wanted,
					   struct rch_rts *message)
{
	return place->heir ? rch_chan_heir_lent(place->chan, &place->as_heir) :
			     rch_chan_lent(place->chan, wanted, message);
}

static bool place_recv_step_lent(struct rch_place *place)
{
	struct rch_rts message;
	enum rch_lent lent = place_recv_lent_state(place, true, &message);

	switch (lent) {
	case RCH_LENT_WAITS:
	case RCH_LENT_HERE:
		return false;
	case RCH_LENT_TURN:
		return true;
	case RCH_LENT_SMALL:
	case RCH_LENT_SHUT:
	case RCH_LENT_LOST:
		place_recv_recall(place);
		return true;
	default:
		place_recv_lent_over(place, lent, &message);
		return true;
	}
}

static bool place_recv_step_recall(struct rch_place *place)
{
	struct rch_rts message;
	enum rch_lent lent = place_recv_lent_state(place, false, &message);

	switch (lent) {
	case RCH_LENT_TURN:
		return true;
	case RCH_LENT_HERE:
		/* The peer has answered. The program of the transfer before may take its time. */
		rch_place_go_to(place, RCH_PLACE_RECALL, 0);
		return false;
	case RCH_LENT_WAITS:
	case RCH_LENT_LOST:
		if (!place_recv_fin_late(place))
			return false;
		lent = RCH_LENT_VOID;
		break;
	default:
		break;
	}
	place_recv_lent_over(place, lent, &message);
	return true;
}

static bool place_recv_step_closing(struct rch_place *place)
{
	if (!rch_io_over(place->path, &place->mr->io))
		return rch_place_not_yet(place);
	if (rch_io_ok(&place->mr->io))
		place_recv_end(place, true);
	else
		rch_place_go_to(place, RCH_PLACE_STUCK, 0);
	return true;
}

static bool place_recv_step_stuck(struct rch_place *place)
{
	if (!completion_done(&place->path->drained))
		return false;
	place_recv_end(place, false);
	return true;
}

static bool (*const steps[])(struct rch_place *place) = {
	[RCH_PLACE_OPENING] = place_recv_step_opening,
	[RCH_PLACE_OPEN] = place_recv_step_open,
	[RCH_PLACE_LENT] = place_recv_step_lent,
	[RCH_PLACE_RECALL] = place_recv_step_recall,
	[RCH_PLACE_CLOSING] = place_recv_step_closing,
	[RCH_PLACE_STUCK] = place_recv_step_stuck,
};

/**
 * rch_place_recv_step - take the next step of a message that is received
 * @place: transfer, not over; locked
 *
 * Return: whether something has happened, so that another step may be possible.
 */
bool rch_place_recv_step(struct rch_place *place)
{
	lockdep_assert_held(&place->lock);
	if (place->heir && rch_chan_heir_turn(place->chan, &place->as_heir))
		place_recv_take_turn(place);
	return steps[place->state](place);
}

/**
 * rch_place_recv_stop - have no message be received, if that is possible still
 * @place: transfer, not over; locked
 *
 * Memory that is only lent is asked back. Return: whether it is stopped: never, as memory may be
 * open.
 */
bool rch_place_recv_stop(struct rch_place *place)
{
	lockdep_assert_held(&place->lock);
	if (place->state == RCH_PLACE_LENT)
		place_recv_recall(place);
	else
		place_recv_want_back(place);
	return false;
}

/**
 * rch_place_recv - begin to receive what was offered
 * @place: transfer
 * @offer: the message, taken
 * @room: bytes that there are for it
 *
 * The caller has claimed RCH_CHAN_RX, which is the transfer's from now on.
 */
void rch_place_recv(struct rch_place *place, const struct rch_rts *offer, u64 room)
{
	int ret;

	place->rts = *offer;
	mutex_lock(&place->lock);
	rch_place_begin(place);
	rch_chan_placing(place->chan);
	if (offer->total <= room && rch_place_map(place, DMA_FROM_DEVICE))
		place->mr = rch_mr_get(place->path);
	if (place->mr) {
		place_recv_open(place);
	} else {
		ret = rch_chan_grant_refuse(place->chan, offer->serial);
		place_recv_placing_end(place, ret);
		rch_place_finish(place, ret);
	}
	rch_place_run(place);
	mutex_unlock(&place->lock);
}

/* Lend memory to the peer, as far as there is enough to lend. Return: whether it goes on. */
static bool place_recv_begin_to_lend(struct rch_place *place, u32 room)
{
	place->stands = true;
	place->rts.total = room;
	rch_place_begin(place);
	place->counted = place_recv_count(place);
	if (place->counted && rch_place_map(place, DMA_FROM_DEVICE))
		place->mr = rch_mr_get(place->path);
	if (place->mr)
		place_recv_open(place);
	else
		place_recv_uncount(place);
	return place->mr;
}

/**
 * rch_place_lend - begin to receive a message that may come
 * @place: transfer
 * @room: bytes that there are for it
 *
 * The caller has claimed RCH_CHAN_RX, which is the transfer's from now on. The result is
 * -EAGAIN when there is none, or it comes in another way. rch_link_run() must be called
 * soon.
 */
void rch_place_lend(struct rch_place *place, u32 room)
{
	mutex_lock(&place->lock);
	rch_chan_placing(place->chan);
	if (!place_recv_begin_to_lend(place, room)) {
		rch_chan_lend_result(place->chan, false);
		place_recv_placing_end(place, -EAGAIN);
		rch_place_finish(place, -EAGAIN);
	}
	rch_place_run_by_owner(place);
	mutex_unlock(&place->lock);
}

/**
 * rch_place_lend_ahead - begin to receive a message behind others that are being received
 * @place: transfer
 * @room: bytes that there are for it
 *
 * As rch_place_lend(), but it is an heir: rch_place_heir_begin() has told so.
 */
void rch_place_lend_ahead(struct rch_place *place, u32 room)
{
	mutex_lock(&place->lock);
	place->heir = true;
	if (!place_recv_begin_to_lend(place, room)) {
		if (!place_recv_heir_end(place))
			place_recv_placing_end(place, -EAGAIN);
		rch_place_finish(place, -EAGAIN);
	}
	rch_place_run_by_owner(place);
	mutex_unlock(&place->lock);
}
