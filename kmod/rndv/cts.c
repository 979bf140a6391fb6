// SPDX-License-Identifier: GPL-2.0
/*
 * cts.c - has a large message written straight to where it is wanted
 *
 * Operation. An RTS of the peer is kept for receivers of this program that wait for
 * messages, or, for a moment, if they did so last. A program that polls or
 * does not block gets the message as DATA, so that poll() need not lie. The transfer of the one
 * that takes it opens memory piece by piece through a memory region (CTS), and waits for each piece
 * (FIN).
 *
 * States. An RTS is @offered until a receiver takes it, it is taken back, or it is
 * refused. @target tells of a message that was taken whether a piece is under
 * way; @grant_left counts the bytes of the message that are not confirmed. All of them
 * are protected by chan->lock. While a message is under way the peer may send nothing
 * else on the channel but take it back.
 *
 * When the channel ends here the peer may be writing. So memory stays open until the peer has told
 * that it writes no more: by FIN, or by CLOSE or CLOSED, which it sends behind its last write.
 */

#include "base/rch.h"
#include "channel/chan.h"
#include "path/path_rdma.h"
#include "rndv/rndv.h"

/* How long an offer waits for a program that is just not waiting. */
#define RCH_OFFER_MS 5

/** rch_chan_offer_refuse - a message has to come as DATA. Any context */
void rch_chan_offer_refuse(struct rch_chan *chan, u32 serial)
{
	const struct rch_cts cts = { .serial = serial };

	rch_lane_cts(&chan->lane, &cts);
}

static void cts_cancel_got(struct rch_chan *chan, u32 serial)
{
	spin_lock(&chan->lock);
	if ((chan->rndv_rx.offered || chan->rndv_rx.crossed) &&
	    chan->rndv_rx.offer.serial == serial) {
		WRITE_ONCE(chan->rndv_rx.offered, false);
		chan->rndv_rx.crossed = false;
	}
	if (chan->rndv_rx.grant_left && chan->rndv_rx.target.serial == serial) {
		WRITE_ONCE(chan->rndv_rx.target.state, RCH_GRANT_CANCELLED);
		chan->rndv_rx.grant_left = 0;
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	}
	spin_unlock(&chan->lock);
}

/**
 * rch_chan_offer_keep - have the offer of @chan wait for a thread. Softirq
 * @chan: channel; locked
 *
 * Return: false when none will come for it: then it is to be refused.
 */
bool rch_chan_offer_keep(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	if (chan->state != RCH_CHAN_OPEN || chan->rndv_rx.wants_data ||
	    (chan->ends.shut & RDMACHAN_SHUTDOWN_RECV))
		return false;
	WRITE_ONCE(chan->rndv_rx.offered, true);
	mod_delayed_work(rch_wq, &chan->rndv_rx.offer_work, msecs_to_jiffies(RCH_OFFER_MS) + 1);
	/* A program that polls has to look: then it is refused, and comes as DATA. */
	rch_chan_wake(chan, 0);
	return true;
}

/* Whether the offer may wait: for a thread, or for what becomes of memory that is lent. */
static enum rch_rule cts_offer_got(struct rch_chan *chan, const struct rch_rts *rts, bool *keep)
{
	lockdep_assert_held(&chan->lock);
	if (chan->rx.arriving || chan->rndv_rx.offered || chan->rndv_rx.crossed ||
	    chan->rndv_rx.grant_left)
		return RCH_RULE_SEGMENT;
	if (rts->total > chan->tuning.message_max)
		return RCH_RULE_MESSAGE_SIZE;
	*keep = rch_chan_rts_crosses(chan, rts);
	if (!*keep) {
		chan->rndv_rx.offer = *rts;
		*keep = rch_chan_offer_keep(chan);
	}
	return RCH_RULE_OK;
}

/** rch_chan_rts_got - the peer asks where to write a message. Softirq */
enum rch_rule rch_chan_rts_got(struct rch_chan *chan, const struct rch_record *r)
{
	enum rch_rule rule = RCH_RULE_OK;
	bool keep = false;
	struct rch_rts rts;

	if (!chan->lane.peer_id)
		return RCH_RULE_STATE;
	rch_wire_rts_get(r, &rts);
	if (r->flags & RCH_RTS_F_PLACED)
		return rch_chan_placed_got(chan, &rts, r->flags & RCH_RTS_F_CANCEL);
	if (r->flags & RCH_RTS_F_CANCEL) {
		cts_cancel_got(chan, rts.serial);
		return RCH_RULE_OK;
	}
	spin_lock(&chan->lock);
	if (chan->state == RCH_CHAN_PEER_CLOSED ||
	    (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_SEND))
		rule = RCH_RULE_STATE;
	else if ((chan->state == RCH_CHAN_OPEN || chan->state == RCH_CHAN_WAITING) &&
		 !(chan->ends.shut & RDMACHAN_SHUTDOWN_RECV))
		rule = cts_offer_got(chan, &rts, &keep);
	spin_unlock(&chan->lock);
	if (!rule && !keep)
		rch_chan_offer_refuse(chan, rts.serial);
	return rule;
}

/** rch_chan_fin_got - a piece was written. Softirq */
enum rch_rule rch_chan_fin_got(struct rch_chan *chan)
{
	struct rch_target *target = &chan->rndv_rx.target;
	enum rch_rule rule = RCH_RULE_OK;

	spin_lock(&chan->lock);
	if (target->state == RCH_GRANT_OPEN) {
		target->closed = rch_link_key_closed(chan->lane.link, target->key);
		/* A channel that has ended here receives no message any more. */
		WRITE_ONCE(target->state, chan->state == RCH_CHAN_OPEN ? RCH_GRANT_DONE :
									 RCH_GRANT_CANCELLED);
		chan->rndv_rx.grant_left -= target->bytes;
		WRITE_ONCE(chan->lane.link->rx.fins, chan->lane.link->rx.fins + 1);
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	} else if (chan->state == RCH_CHAN_OPEN) {
		rule = RCH_RULE_STATE;
	} else {
		rch_link_key_excused(chan->lane.link, chan->rndv_rx.target.key);
	}
	spin_unlock(&chan->lock);
	return rule;
}

static void cts_refuse_offer(struct rch_chan *chan)
{
	bool offered;
	u32 serial;

	spin_lock_bh(&chan->lock);
	offered = chan->rndv_rx.offered;
	serial = chan->rndv_rx.offer.serial;
	WRITE_ONCE(chan->rndv_rx.offered, false);
	spin_unlock_bh(&chan->lock);
	if (offered)
		rch_chan_offer_refuse(chan, serial);
}

/**
 * rch_chan_offer_work - nobody has come for the offer
 * @work: of the channel
 *
 * A thread that waits will take it, however late it is woken. Armed while the lane is
 * attached, and cancelled when it has been detached.
 */
void rch_chan_offer_work(struct work_struct *work)
{
	struct rch_chan *chan = container_of(to_delayed_work(work), struct rch_chan,
					     rndv_rx.offer_work);

	/* It is not pending any more; pairs with rch_chan_reading_over(). */
	if (!atomic_read(&chan->rndv_rx.readers))
		cts_refuse_offer(chan);
}

/** rch_chan_reading - a thread begins to wait for a message, wherever that comes to */
void rch_chan_reading(struct rch_chan *chan)
{
	atomic_inc(&chan->rndv_rx.readers);
	WRITE_ONCE(chan->rndv_rx.wants_data, false);
}

/** rch_chan_reading_over - it has one, or waits no more */
void rch_chan_reading_over(struct rch_chan *chan)
{
	/* An offer that has outlived its time for the thread's sake is refused now. */
	if (atomic_dec_and_test(&chan->rndv_rx.readers) && READ_ONCE(chan->rndv_rx.offered) &&
	    !delayed_work_pending(&chan->rndv_rx.offer_work))
		cts_refuse_offer(chan);
}

/**
 * rch_chan_wants_data - messages shall come as DATA from now on
 * @chan: channel
 *
 * Until a thread waits for one in read(). Context: any.
 */
void rch_chan_wants_data(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->rndv_rx.wants_data, true);
	spin_unlock_bh(&chan->lock);
	cts_refuse_offer(chan);
}

/**
 * rch_chan_grant - memory is open to the peer, and will be told to it
 * @chan: channel
 * @cts: where it is
 *
 * Return: false when it is all over.
 */
bool rch_chan_grant(struct rch_chan *chan, const struct rch_cts *cts)
{
	struct rch_target *target = &chan->rndv_rx.target;
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = chan->state == RCH_CHAN_OPEN &&
	     (target->state == RCH_GRANT_TAKEN || target->state == RCH_GRANT_DONE);
	if (ok) {
		WRITE_ONCE(target->state, RCH_GRANT_OPEN);
		target->bytes = cts->length;
		target->key = cts->rkey;
		chan->rndv_rx.target.closed = false;
	}
	spin_unlock_bh(&chan->lock);
	return ok;
}

/** rch_chan_grant_state - how it is with the message that is written here */
enum rch_grant rch_chan_grant_state(struct rch_chan *chan, u32 *left)
{
	enum rch_grant state;

	spin_lock_bh(&chan->lock);
	*left = chan->rndv_rx.grant_left;
	state = chan->rndv_rx.target.state;
	spin_unlock_bh(&chan->lock);
	return state;
}

/** rch_chan_grant_closed - whether the peer has closed what was written to, and has told so */
bool rch_chan_grant_closed(struct rch_chan *chan)
{
	bool closed;

	spin_lock_bh(&chan->lock);
	closed = chan->rndv_rx.target.closed;
	spin_unlock_bh(&chan->lock);
	return closed;
}

/** rch_chan_grant_settled - whether the piece was written, or will not be */
bool rch_chan_grant_settled(struct rch_chan *chan)
{
	return READ_ONCE(chan->rndv_rx.target.state) != RCH_GRANT_OPEN ||
	       READ_ONCE(chan->ends.peer_over);
}

/** rch_chan_grant_end - nothing is open to the peer any more */
void rch_chan_grant_end(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->rndv_rx.target.state, RCH_GRANT_NONE);
	chan->rndv_rx.grant_left = 0;
	spin_unlock_bh(&chan->lock);
}

/**
 * rch_chan_broken - a message is lost: the channel ends
 * @chan: channel
 * @ret: why: -EINTR, its program was killed or wants it no more; or there was no memory
 */
void rch_chan_broken(struct rch_chan *chan, int ret)
{
	struct rdmachan_error error = {};

	/* The errno of a cause: calls on the channel give it, and EINTR or EINVAL would mislead. */
	if (ret == -EINTR)
		rch_error_set(&error, RDMACHAN_OP_RECV, RDMACHAN_CAUSE_MESSAGE_LOST, 0);
	else
		rch_error_set(&error, RDMACHAN_OP_RECV, RDMACHAN_CAUSE_RESOURCES, -ret);
	rch_link_where(chan->lane.link, &error);
	if (ret == -EINTR)
		rch_chan_give_up(chan, &error, RDMACHAN_CAUSE_PEER_KILLED, SIGKILL);
	else
		rch_chan_give_up(chan, &error, RDMACHAN_CAUSE_PEER_RESOURCES, 0);
}

/** rch_chan_grant_refuse - there is no message: it may come as DATA. Return: -EAGAIN */
int rch_chan_grant_refuse(struct rch_chan *chan, u32 serial)
{
	rch_chan_grant_end(chan);
	rch_chan_offer_refuse(chan, serial);
	return -EAGAIN;
}

/** rch_chan_offer_take - take the offer, if there is one; chan->lock is held */
bool rch_chan_offer_take(struct rch_chan *chan, struct rch_rts *offer)
{
	lockdep_assert_held(&chan->lock);
	if (!rch_chan_may_take(chan))
		return false;
	*offer = chan->rndv_rx.offer;
	WRITE_ONCE(chan->rndv_rx.offered, false);
	WRITE_ONCE(chan->rndv_rx.target.state, RCH_GRANT_TAKEN);
	chan->rndv_rx.target.serial = offer->serial;
	chan->rndv_rx.grant_left = offer->total;
	return true;
}
