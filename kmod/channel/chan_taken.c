// SPDX-License-Identifier: GPL-2.0
/*
 * chan_taken.c - how much the peer's program has received
 *
 * Both ends count the messages of a direction from 1 on. Messages are received in order, so a
 * number stands for all before it.
 *
 * At the end of a channel. The peer tells the number of messages that its program has received as
 * soon as it will receive no more. It does so by READ when the program has found the end behind
 * them or has shut receiving down, and by CLOSE when it has closed. The first of these counts.
 * Compared with the number of messages that were accepted here it says whether any are missing,
 * wherever these are: unread at the peer, under way, or still in the send buffer.
 *
 * Before the end. A message may ask (RCH_DATA_F_TELL, RCH_RTS_F_TELL). When the peer's program has
 * received it, its module tells the number (TAKEN). The receiver keeps the question with the
 * message, and so needs no list of what to tell. Each thread or operation that waits at the sender
 * knows its own number, and the channel knows no waiters. READ and CLOSE answer as well: a message
 * above their number was not received, and never will be.
 *
 * Error handling. The number of READ and CLOSE is not trusted for more than it says: one that is
 * larger than what was sent counts as all of it. TAKEN of a message that has not asked, or of one
 * that is not above the last, breaks a rule. A channel that fails before a number comes leaves it
 * unknown: nobody knows whether the messages behind the last one told of were received, and a call
 * that asks gets what the channel failed for.
 */
#include "base/busy.h"
#include "base/rch.h"
#include "channel/chan.h"

/* At the end */

/* Return: whether that is new. */
static bool chan_taken_told(struct rch_chan *chan, u64 messages)
{
	lockdep_assert_held(&chan->lock);
	if (chan->ends.peer_done)
		return false;
	chan->ends.peer_read = messages;
	WRITE_ONCE(chan->ends.peer_done, true);
	return true;
}

/* Exact for a thread that has claimed RCH_CHAN_TX: nothing is accepted meanwhile. */
static u64 chan_taken_missing(const struct rch_chan *chan)
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
	if (chan_taken_told(chan, rch_wire_read_get(r)))
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
	chan_taken_told(chan, sent - (s32)((u32)sent - messages));
	return chan_taken_missing(chan);
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
	rch_error_set(error, RDMACHAN_OP_SEND, cause, chan_taken_missing(chan));
	error->service = chan->service;
	return -EPIPE;
}

static int chan_taken_answer(struct rch_chan *chan, struct rdmachan_error *error)
{
	lockdep_assert_held(&chan->lock);
	if (!chan->ends.peer_done) {
		*error = chan->error;
		return -(int)error->error;
	}
	return chan_taken_missing(chan) ? rch_chan_finish_refuse(chan, error) : 0;
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
	ret = chan_taken_answer(chan, error);
	spin_unlock_bh(&chan->lock);
	rch_chan_unclaim(chan, RCH_CHAN_TX);
	return ret;
}

/* Before the end */

/**
 * rch_chan_taken_ask - the next message asks
 * @chan: channel whose RCH_CHAN_TX the caller has claimed, and keeps until that is sent
 *
 * Ahead of sending, as the answer may come at once. Context: process. Return: its number.
 */
u64 rch_chan_taken_ask(struct rch_chan *chan)
{
	u64 number = chan->counts.tx_messages + 1;

	spin_lock_bh(&chan->lock);
	chan->taken.asked = number;
	spin_unlock_bh(&chan->lock);
	return number;
}

/** rch_chan_taken_asked - whether message @number, or one behind it, has asked */
bool rch_chan_taken_asked(struct rch_chan *chan, u64 number)
{
	bool asked;

	spin_lock_bh(&chan->lock);
	asked = number <= chan->taken.asked;
	spin_unlock_bh(&chan->lock);
	return asked;
}

/** rch_chan_taken_got - TAKEN came. Softirq. Return: the rule that was broken, or RCH_RULE_OK */
enum rch_rule rch_chan_taken_got(struct rch_chan *chan, const struct rch_record *r)
{
	u64 number = rch_wire_taken_get(r);
	enum rch_rule rule = RCH_RULE_OK;

	if (!chan->lane.peer_id)
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	if (number <= chan->taken.told || number > chan->taken.asked) {
		rule = RCH_RULE_NUMBERS;
	} else {
		WRITE_ONCE(chan->taken.told, number);
		rch_chan_wake(chan, RCH_POLL_NOTHING);
	}
	spin_unlock(&chan->lock);
	return rule;
}

/* Return: 0, -EAGAIN or an error; @sent: as of rch_chan_taken_outcome(). */
static int chan_taken_outcome(struct rch_chan *chan, u64 number, struct rdmachan_error *error,
			      bool *sent)
{
	lockdep_assert_held(&chan->lock);
	*sent = true;
	if (number <= chan->taken.told)
		return 0;
	if (chan->ends.peer_done) {
		*sent = false;
		return number <= chan->ends.peer_read ? 0 : rch_chan_finish_refuse(chan, error);
	}
	if (chan->state == RCH_CHAN_FAILED) {
		*error = chan->error;
		/* 0 would be "received". */
		return -(int)(error->error ?: ECONNRESET);
	}
	return -EAGAIN;
}

/**
 * rch_chan_taken_outcome - what became of a message that has asked
 * @chan: channel
 * @number: of the message, as of rch_chan_taken_ask()
 * @error: why it fails, if the connection or the peer is the reason
 * @sent: of a failure: it may have been received, or be received yet
 *
 * Context: process. Return: 0, it was received; -EAGAIN, that is not known yet; -EPIPE, it never
 * will be; or what the channel has failed for.
 */
int rch_chan_taken_outcome(struct rch_chan *chan, u64 number, struct rdmachan_error *error,
			   bool *sent)
{
	int ret;

	spin_lock_bh(&chan->lock);
	ret = chan_taken_outcome(chan, number, error, sent);
	spin_unlock_bh(&chan->lock);
	return ret;
}

/* Without the lock, for a guess. */
static bool chan_taken_settled(const struct rch_chan *chan, u64 number)
{
	return READ_ONCE(chan->taken.told) >= number || READ_ONCE(chan->ends.peer_done) ||
	       READ_ONCE(chan->state) == RCH_CHAN_FAILED;
}

/**
 * rch_chan_taken_wait - wait until a message that has asked is received
 * @chan: channel
 * @number: of the message
 * @deadline: how long to wait, as of rch_deadline()
 * @error: as of rch_chan_taken_outcome(); zeros before
 * @sent: likewise
 *
 * Context: process. Return: as rch_chan_taken_outcome(), but for -EAGAIN; or -ETIMEDOUT,
 * -ERESTARTNOHAND or -ERESTARTSYS, and it can be repeated.
 */
int rch_chan_taken_wait(struct rch_chan *chan, u64 number, unsigned long deadline,
			struct rdmachan_error *error, bool *sent)
{
	u64 until;
	long wait;
	int ret;

	rch_chan_push(chan);
	until = rch_busy_until(READ_ONCE(chan->busy_us), rch_time_left(deadline));
	while (rch_busy(until) && !chan_taken_settled(chan, number))
		;
	do {
		*sent = true;
		wait = rch_sleep_until(chan->wait,
				       rch_chan_taken_outcome(chan, number, error, sent) != -EAGAIN,
				       rch_time_left(deadline));
		ret = rch_wait_result(wait, deadline) ?:
		      rch_chan_taken_outcome(chan, number, error, sent);
	} while (ret == -EAGAIN);
	return ret;
}
