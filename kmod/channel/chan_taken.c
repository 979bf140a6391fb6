// SPDX-License-Identifier: GPL-2.0
/*
 * chan_taken.c - messages whose sender waits until the peer's program has received them
 *
 * Operation. Both ends count the messages of a direction from 1 on. A message may ask
 * (RCH_DATA_F_TELL, RCH_RTS_F_TELL). When the peer's program has received it, its module tells the
 * number (TAKEN). Messages are received in order, so a number stands for all before it. The
 * receiver keeps the question with the message, and so needs no list of what to tell. Each thread
 * or operation that waits at the sender knows its own number, and the channel knows no waiters.
 *
 * READ and CLOSE tell how many messages the peer's program has received in all (chan_finish.c).
 * A message above that number was not received, and never will be.
 *
 * Error handling. TAKEN of a message that has not asked, or of one that is not above the last,
 * breaks a rule. When a channel fails before a message is told of, nobody knows whether that was
 * received.
 */
#include "base/busy.h"
#include "channel/chan.h"

/** rch_chan_taken_known - whether the peer's module can tell; the channel is connected */
bool rch_chan_taken_known(const struct rch_chan *chan)
{
	return chan->lane.link->terms.features & RCH_FEATURE_TELL;
}

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

	if (!chan->lane.peer_id || !rch_chan_taken_known(chan))
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	if (number <= chan->taken.told || number > chan->taken.asked) {
		rule = RCH_RULE_NUMBERS;
	} else {
		WRITE_ONCE(chan->taken.told, number);
		wake_up_interruptible_poll(&chan->wait, RCH_POLL_NOTHING);
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
		return -(int)error->error;
	}
	/* One that was sent early, before the peer was known. */
	if (chan->state != RCH_CHAN_CONNECTING && !rch_chan_taken_known(chan))
		return -EOPNOTSUPP;
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
 * will be; what the channel has failed for; or -EOPNOTSUPP, the peer cannot tell.
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
