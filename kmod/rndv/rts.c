// SPDX-License-Identifier: GPL-2.0
/*
 * rts.c - asks where to write a large message
 *
 * Operation. A transfer that sends asks first (RTS). If the peer's program waits for a message,
 * with room for this one, its module opens that memory to us (CTS), piece by piece. Each piece is
 * written from our program's own pages and confirmed (FIN), and no byte is copied by
 * either host. If nobody waits, the peer says so, and the message goes as DATA, as if
 * nothing had been asked.
 *
 * A message belongs to the transfer that has claimed RCH_CHAN_TX until its last byte is
 * written, so the lane has nothing behind the RTS.
 *
 * Error handling. Until the last piece is confirmed the message can be taken back (RTS
 * with the cancel flag): the peer's program goes on waiting. A piece that is being written is
 * waited for: the write ends within RCH_PATIENCE_DEADS dead times, or the path fails.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "proto/way.h"
#include "rndv/rndv.h"

/* Programs that never wait are asked once in so many messages. */
#define RCH_RTS_SKIP_MAX 64U

/**
 * rch_chan_rts_asks - whether to ask may be of use, with or without lent memory
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 *
 * A sender that was refused does not ask for a while.
 */
bool rch_chan_rts_asks(const struct rch_chan *chan)
{
	return !chan->rndv_tx.rts_skip;
}

/**
 * rch_chan_way - how a message is to go
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @length: bytes
 * @pinned: it lies in a region
 *
 * That its adapter can register memory is the peer's to say.
 */
enum rch_way rch_chan_way(struct rch_chan *chan, u32 length, bool pinned)
{
	struct rch_way_facts facts = {
		.bytes = length,
		.pinned = pinned,
		.eager_us = READ_ONCE(rch_eager_us),
	};

	if (!rch_way_is_placed(length, pinned))
		return RCH_WAY_EAGER;
	facts.lent = rch_chan_may_borrow(chan, length);
	facts.asks = rch_chan_rts_asks(chan);
	facts.trip_us = rch_link_trip_us(chan->lane.link);
	facts.at_once = rch_lane_at_once(&chan->lane);
	if (!facts.lent && chan->rndv_tx.rts_skip)
		chan->rndv_tx.rts_skip--;
	return rch_way(&facts);
}

/** rch_chan_rts_refused - nobody waits: ask more seldom */
void rch_chan_rts_refused(struct rch_chan *chan)
{
	chan->rndv_tx.rts_penalty = clamp(chan->rndv_tx.rts_penalty * 2, 1U, RCH_RTS_SKIP_MAX);
	chan->rndv_tx.rts_skip = chan->rndv_tx.rts_penalty;
}

/** rch_chan_tx_placed - the message was written to its place; by the holder of RCH_CHAN_TX */
void rch_chan_tx_placed(struct rch_chan *chan)
{
	chan->rndv_tx.rts_penalty = 0;
	chan->rndv_tx.placed_next = chan->counts.tx_messages + 1;
	WRITE_ONCE(chan->counts.tx_placed, chan->counts.tx_placed + 1);
}

/** rch_chan_cts_got - the peer has room, or none. Softirq */
enum rch_rule rch_chan_cts_got(struct rch_chan *chan, const struct rch_record *r)
{
	struct rch_cts cts;

	rch_wire_cts_get(r, &cts);
	if (r->flags & RCH_CTS_F_STANDING)
		return rch_chan_standing_got(chan, &cts);
	spin_lock(&chan->lock);
	/* Others are answers to what was taken back. */
	if (chan->rndv_tx.cts_due && cts.serial == chan->rndv_tx.rts_serial) {
		chan->rndv_tx.cts = cts;
		WRITE_ONCE(chan->rndv_tx.cts_due, false);
		wake_up_interruptible_poll(&chan->wait, RCH_POLL_NOTHING);
	}
	spin_unlock(&chan->lock);
	return RCH_RULE_OK;
}

/** rch_chan_cts_expect - a CTS is the answer to come, from now on */
void rch_chan_cts_expect(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->rndv_tx.cts_due, true);
	chan->rndv_tx.rts_total = 0;
	spin_unlock_bh(&chan->lock);
}

/**
 * rch_chan_cts_take - the answer, if it has come
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @cts: where to write the message
 * @lent: it was lent, and has answered the question by crossing it, see borrow.c
 *
 * The peer may take back what it has lent, and answers later then. Return: whether it has come.
 */
bool rch_chan_cts_take(struct rch_chan *chan, struct rch_cts *cts, bool *lent)
{
	bool got;

	spin_lock_bh(&chan->lock);
	got = !chan->rndv_tx.cts_due;
	*lent = got && chan->rndv_tx.cts_lent;
	if (*lent)
		rch_chan_borrow_take(chan, cts);
	else if (got)
		*cts = chan->rndv_tx.cts;
	spin_unlock_bh(&chan->lock);
	return got;
}

/** rch_chan_cts_forget - the question is taken back; no answer is expected any more */
void rch_chan_cts_forget(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->rndv_tx.cts_due, false);
	chan->rndv_tx.cts_lent = false;
	chan->rndv_tx.rts_total = 0;
	spin_unlock_bh(&chan->lock);
}

/** rch_chan_rts_ask - begin to ask; @rts gets its number. Return: 0 or an error */
int rch_chan_rts_ask(struct rch_chan *chan, struct rch_rts *rts)
{
	int ret;

	chan->rndv_tx.rts_serial = rch_seq_after(chan->rndv_tx.rts_serial);
	rts->serial = chan->rndv_tx.rts_serial;
	rch_chan_borrow_ask(chan, rts->total);
	ret = rch_lane_rts(&chan->lane, rts, 0, 0, false);
	return ret ? rch_chan_tx_check(chan) ?: ret : 0;
}
