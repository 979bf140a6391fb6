// SPDX-License-Identifier: GPL-2.0
/*
 * recv.c - receives a message, by the way that it comes
 *
 * A message that has come in segments is copied (chan_rx.c). To a thread that waits for a message
 * one may be offered, which is then written to where the thread has room for it (rndv/).
 */
#include <linux/uio.h>

#include "channel/chan.h"
#include "message/message.h"
#include "rndv/rndv.h"

/* As rch_chan_rx_settled(), for a thread that may wait for a message to be written. */
static bool rch_recv_settled(struct rch_chan *chan)
{
	return rch_chan_may_take(chan) || rch_chan_rx_settled(chan);
}

/*
 * @offer: for a caller that can take an offer, else NULL. Return: besides, -EINPROGRESS when there
 * is one.
 */
static int rch_recv_claimed(struct rch_chan *chan, struct iov_iter *to,
			    struct rch_recv_result *result, struct rch_rts *offer)
{
	bool message, offered, shut, tells;
	int ret = 0;

	spin_lock_bh(&chan->lock);
	shut = chan->ends.shut & RDMACHAN_SHUTDOWN_RECV;
	message = chan->rx.complete && !shut;
	/* To take an offer is to wait for it, whatever else the peer has said meanwhile. */
	offered = !message && offer && !shut && rch_chan_offer_take(chan, offer);
	result->eof = !message && !offered &&
		      (shut || rch_chan_peer_has_shut(chan) || rch_chan_has_ended(chan));
	if (result->eof && chan->state == RCH_CHAN_FAILED && !shut)
		ret = -(int)chan->error.error;
	else if (result->eof && (chan->ends.shut & RDMACHAN_SHUTDOWN_ABORT) && !shut)
		ret = -EPIPE;
	else if (!message && !offered && !result->eof)
		ret = -EAGAIN;
	tells = result->eof && !ret && !shut && !chan->ends.told &&
		(chan->ends.peer_shut & RDMACHAN_SHUTDOWN_SEND);
	if (tells)
		chan->ends.told = true;
	spin_unlock_bh(&chan->lock);
	if (tells)
		rch_lane_read(&chan->lane, chan->counts.rx_messages, false);
	if (offered)
		ret = -EINPROGRESS;
	else if (message)
		ret = rch_chan_recv_message(chan, to, result);
	if (!ret && !result->eof && !result->local && !result->peek)
		rch_chan_rx_done(chan, result->length);
	return ret;
}

/**
 * rch_chan_recv - receive a message
 * @chan: channel
 * @to: where to
 * @nonblock: do not wait
 * @deadline: how long to wait, as of rch_deadline()
 * @result: what was found; @length is valid with -EMSGSIZE too
 *
 * Context: process. Return: 0 or an error; then the message stays.
 */
int rch_chan_recv(struct rch_chan *chan, struct iov_iter *to, bool nonblock,
		  unsigned long deadline, struct rch_recv_result *result)
{
	/* A message that is only looked at cannot be placed where the program has room for it. */
	bool takes = !nonblock && !result->peek;
	bool waits = takes && !READ_ONCE(chan->rx.complete);
	struct rch_rts offer;
	int ret;

	if (waits)
		rch_chan_reading(chan);
	else if (!READ_ONCE(chan->rx.complete))
		rch_chan_wants_data(chan);
	do {
		result->length = 0;
		result->msg_flags = 0;
		result->grants = false;
		result->local = false;
		result->eof = false;
		/*
		 * Memory that is lent comes back with the peer's answer, which may be later than
		 * that.
		 */
		ret = !takes || deadline ? -EAGAIN : rch_chan_recv_lent(chan, to, result);
		if (ret != -EAGAIN)
			break;
		ret = rch_chan_claim(chan, RCH_CHAN_RX,
				     takes ? rch_recv_settled : rch_chan_rx_settled,
				     nonblock, deadline);
		if (ret)
			break;
		ret = rch_recv_claimed(chan, to, result, takes ? &offer : NULL);
		if (ret == -EINPROGRESS)
			ret = rch_chan_recv_placed(chan, &offer, to, result);
		else
			rch_chan_unclaim(chan, RCH_CHAN_RX);
		/* The message that was offered is not there any more. */
	} while (ret == -EAGAIN && !nonblock);
	if (waits)
		rch_chan_reading_over(chan);
	return ret;
}

/**
 * rch_chan_recv_or_offer - receive a message without waiting, or take an offer
 * @chan: channel
 * @to: where to
 * @result: the result, as of rch_chan_recv()
 * @offer: what was offered
 *
 * The caller has announced itself by rch_chan_reading().
 * Context: process. Return: as rch_chan_recv(); or -EINPROGRESS with @offer: it is the
 * caller's now, and RCH_CHAN_RX stays claimed for him.
 */
int rch_chan_recv_or_offer(struct rch_chan *chan, struct iov_iter *to,
			   struct rch_recv_result *result, struct rch_rts *offer)
{
	int ret = rch_chan_claim(chan, RCH_CHAN_RX, rch_recv_settled, true, 0);

	if (ret)
		return ret;
	ret = rch_recv_claimed(chan, to, result, offer);
	if (ret != -EINPROGRESS)
		rch_chan_unclaim(chan, RCH_CHAN_RX);
	return ret;
}
