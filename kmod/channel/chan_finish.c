// SPDX-License-Identifier: GPL-2.0
/*
 * chan_finish.c - how much the peer's program has received
 *
 * Operation. The peer tells the number of messages that its program has received as soon as it will
 * receive no more. It does so by READ when the program has found the end behind them or has shut
 * receiving down, and by CLOSE when it has closed. The first of these counts. Compared with the
 * number of messages that were accepted here it says whether any are missing, wherever these are:
 * unread at the peer, under way, or still in the send buffer.
 *
 * Error handling. The peer's number is not trusted for more than it says: one that is larger than
 * what was sent counts as all of it. A channel that fails before the number comes leaves it
 * unknown, and a call that asks for it gets what the channel failed for.
 */
#include "base/error.h"
#include "channel/chan.h"

static void chan_finish_told(struct rch_chan *chan, u64 messages)
{
	lockdep_assert_held(&chan->lock);
	if (chan->ends.peer_done)
		return;
	chan->ends.peer_read = messages;
	WRITE_ONCE(chan->ends.peer_done, true);
}

/* Exact for a thread that has claimed RCH_CHAN_TX: nothing is accepted meanwhile. */
static u64 chan_finish_missing(const struct rch_chan *chan)
{
	u64 sent = READ_ONCE(chan->counts.tx_messages);

	lockdep_assert_held(&chan->lock);
	return sent > chan->ends.peer_read ? sent - chan->ends.peer_read : 0;
}

/** rch_chan_read_got - READ came. Softirq. Return: the rule that was broken, or RCH_RULE_OK */
enum rch_rule rch_chan_read_got(struct rch_chan *chan, const struct rch_record *r)
{
	if (!chan->lane.peer_id)
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	chan_finish_told(chan, rch_wire_read_get(r));
	wake_up_interruptible_all(&chan->wait);
	spin_unlock(&chan->lock);
	return RCH_RULE_OK;
}

/**
 * rch_chan_finish_closed - the peer's program has closed the channel
 * @chan: channel; its lock is held
 * @messages: the last 32 bits of the number of messages that it has received
 *
 * Return: how many are missing.
 */
u64 rch_chan_finish_closed(struct rch_chan *chan, u32 messages)
{
	u64 sent = READ_ONCE(chan->counts.tx_messages);

	/* The nearest number that ends so: no peer has 2^31 messages under way. */
	chan_finish_told(chan, sent - (s32)((u32)sent - messages));
	return chan_finish_missing(chan);
}

/** rch_chan_finish_settled - whether rch_chan_finish() has an answer. Any context */
bool rch_chan_finish_settled(struct rch_chan *chan)
{
	return READ_ONCE(chan->ends.peer_done) || READ_ONCE(chan->state) == RCH_CHAN_FAILED;
}

/**
 * rch_chan_finish_refuse - the peer's program receives no more, and messages are missing
 * @chan: channel; its lock is held, and the peer has told how many were received
 * @error: tells why, and how many are missing
 *
 * Return: -EPIPE.
 */
int rch_chan_finish_refuse(struct rch_chan *chan, struct rdmachan_error *error)
{
	u32 cause;

	lockdep_assert_held(&chan->lock);
	/* Not what the last record of the channel says: that may be of another call. */
	if (chan->ends.shut & RDMACHAN_SHUTDOWN_ABORT)
		cause = RDMACHAN_CAUSE_SHUTDOWN;
	else if (chan->state == RCH_CHAN_PEER_CLOSED)
		cause = RDMACHAN_CAUSE_PEER_CLOSED;
	else
		cause = RDMACHAN_CAUSE_PEER_SHUTDOWN;
	rch_error_set(error, RDMACHAN_OP_SEND, cause, chan_finish_missing(chan));
	error->service = chan->service;
	return -EPIPE;
}

static int chan_finish_answer(struct rch_chan *chan, struct rdmachan_error *error)
{
	lockdep_assert_held(&chan->lock);
	if (!chan->ends.peer_done) {
		*error = chan->error;
		return -(int)error->error;
	}
	return chan_finish_missing(chan) ? rch_chan_finish_refuse(chan, error) : 0;
}

/**
 * rch_chan_finish - send no more, and wait until the peer's program has received everything
 * @chan: channel
 * @nonblock: do not wait
 * @deadline: how long to wait, as of rch_deadline()
 * @error: why it fails, if the connection or the peer is the reason; zeros before
 *
 * Context: process.
 * Return: 0; -EPIPE; what the channel has failed for; -ENOTCONN when it is still being connected;
 * or as rch_chan_claim(), then it can be repeated.
 */
int rch_chan_finish(struct rch_chan *chan, bool nonblock, unsigned long deadline,
		    struct rdmachan_error *error)
{
	int ret = rch_chan_shutdown(chan, RDMACHAN_SHUTDOWN_SEND, nonblock, deadline);

	/*
	 * One that has failed may have been told before. One that was being connected, and is
	 * open by now, has not been shut down.
	 */
	if (ret && (ret != -ENOTCONN || READ_ONCE(chan->state) != RCH_CHAN_FAILED))
		return ret;
	ret = rch_chan_claim(chan, RCH_CHAN_TX, rch_chan_finish_settled, nonblock, deadline);
	if (ret)
		return ret;
	/* One that never was connected has no link. */
	if (chan->lane.link)
		rch_link_where(chan->lane.link, error);
	spin_lock_bh(&chan->lock);
	ret = chan_finish_answer(chan, error);
	spin_unlock_bh(&chan->lock);
	rch_chan_unclaim(chan, RCH_CHAN_TX);
	return ret;
}
