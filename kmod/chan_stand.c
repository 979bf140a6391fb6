// SPDX-License-Identifier: GPL-2.0
/*
 * chan_stand.c - memory that is lent for a message before that asks for it
 *
 * Operation. RTS and its answer take as long as a round trip, and wake both programs. A
 * receiver whose last message was written straight to a region is likely to get another
 * such. So when the next receive into a region begins to wait, its memory is opened to
 * the peer at once (a *standing* CTS). A sender that has one writes its next large message
 * there, and then says that it did (RTS, PLACED).
 *
 * For one message. What is lent is for the next message of the channel, which has a number
 * that both sides know without a word: they count messages. It is void when that message
 * goes another way, as DATA or with an RTS of its own; again both know. So nothing is ever
 * written to memory whose key is useless by then, which would end the queue pair.
 *
 * States. @grant is LENT until the message was written there (DONE), or the peer gives back
 * what it was lent (RETURNED). At the other end @borrow is HELD until a sender takes it
 * (USED), or it is wanted back.
 *
 * Taking back. A program that wants its memory back has to wait for an answer: that it will
 * not be used, or the message. Each wish is answered, but where what it is about was
 * taken by a sender: what that one will say is the answer.
 *
 * Guessing wrong costs a key and a frame. So after each memory that was lent in vain more
 * messages have to be written by RTS before it is tried again.
 */
#include "chan.h"
#include "rch.h"

/* Who never uses what is lent is lent some once in so many messages. */
#define RCH_LEND_SKIP_MAX 64U

static bool understood(const struct rch_chan *chan)
{
	const u32 both = RCH_FEATURE_PLACE | RCH_FEATURE_STAND;

	return (chan->lane.link->features & both) == both;
}

/* Receiving */

/**
 * rch_chan_lends - whether memory of a receive that waits shall be lent to the peer
 * @chan: channel whose state is OPEN
 * @room: bytes of it
 *
 * A racy answer: rch_chan_lend() looks again.
 */
bool rch_chan_lends(const struct rch_chan *chan, u64 room)
{
	return READ_ONCE(chan->lends) && room >= RCH_PLACE_MIN && understood(chan) &&
	       !READ_ONCE(chan->complete) && !READ_ONCE(chan->offered) &&
	       READ_ONCE(chan->state) == RCH_CHAN_OPEN;
}

/* Whether a message, or the end, has come, or is coming, by another way. */
static bool void_locked(const struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	return rch_chan_came(chan) || chan->state != RCH_CHAN_OPEN ||
	       (chan->peer_shut & RDMACHAN_SHUTDOWN_SEND);
}

/**
 * rch_chan_lend - memory is open to the peer, and will be told to it
 * @chan: channel whose RCH_CHAN_RX the caller has claimed
 * @cts: where it is; gets its numbers
 *
 * Return: false when the next message comes another way already, or none will.
 */
bool rch_chan_lend(struct rch_chan *chan, struct rch_cts *cts)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = chan->grant == RCH_GRANT_NONE && !void_locked(chan) && !chan->arriving &&
	     !chan->offered && !(chan->shut & RDMACHAN_SHUTDOWN_RECV);
	if (ok) {
		cts->serial = ++chan->lend_serial;
		cts->message = chan->rx_messages;
		WRITE_ONCE(chan->grant, RCH_GRANT_LENT);
		chan->grant_serial = cts->serial;
		chan->granted = cts->length;
		chan->grant_key = cts->rkey;
		chan->grant_closed = false;
	}
	spin_unlock_bh(&chan->lock);
	return ok;
}

/**
 * rch_chan_lent_settled - whether rch_chan_lent() has more to tell than RCH_LENT_WAITS
 * @chan: channel
 * @wanted: as there
 */
bool rch_chan_lent_settled(const struct rch_chan *chan, bool wanted)
{
	return READ_ONCE(chan->grant) != RCH_GRANT_LENT || rch_chan_came(chan) ||
	       READ_ONCE(chan->state) != RCH_CHAN_OPEN ||
	       (READ_ONCE(chan->peer_shut) & RDMACHAN_SHUTDOWN_SEND) ||
	       (wanted && (READ_ONCE(chan->offered) ||
			   (READ_ONCE(chan->shut) & RDMACHAN_SHUTDOWN_RECV)));
}

/**
 * rch_chan_lent - what became of memory that was lent
 * @chan: channel whose RCH_CHAN_RX the caller has claimed
 * @wanted: it was not taken back: then an offer is taken as well
 * @message: the one that was written, or is offered
 */
enum rch_lent rch_chan_lent(struct rch_chan *chan, bool wanted, struct rch_rts *message)
{
	enum rch_lent ret = RCH_LENT_WAITS;

	spin_lock_bh(&chan->lock);
	if (chan->grant == RCH_GRANT_DONE) {
		*message = chan->placed;
		ret = RCH_LENT_USED;
	} else if (chan->grant != RCH_GRANT_LENT || void_locked(chan)) {
		ret = RCH_LENT_VOID;
	} else if (wanted && (chan->shut & RDMACHAN_SHUTDOWN_RECV)) {
		ret = RCH_LENT_SHUT;
	} else if (wanted && rch_chan_offer_take(chan, message)) {
		ret = RCH_LENT_ASKED;
	}
	spin_unlock_bh(&chan->lock);
	return ret;
}

/** rch_chan_lend_result - it was of use, or not; by who has claimed RCH_CHAN_RX */
void rch_chan_lend_result(struct rch_chan *chan, bool used)
{
	chan->lend_penalty = used ? 0 : clamp(chan->lend_penalty * 2, 1U, RCH_LEND_SKIP_MAX);
	chan->lend_skip = chan->lend_penalty;
	WRITE_ONCE(chan->lends, used);
}

/** rch_chan_lend_again - a message was written to a region; by who has claimed RCH_CHAN_RX */
void rch_chan_lend_again(struct rch_chan *chan)
{
	if (chan->lend_skip)
		chan->lend_skip--;
	else
		WRITE_ONCE(chan->lends, true);
}

/* It was said behind the message, or instead of it. */
static enum rch_rule placed_locked(struct rch_chan *chan, const struct rch_rts *rts, bool none)
{
	lockdep_assert_held(&chan->lock);
	if (chan->grant != RCH_GRANT_LENT || rts->serial != chan->grant_serial) {
		if (chan->state != RCH_CHAN_OPEN && !none)
			rch_link_key_excused(chan->lane.link, chan->grant_key);
		return none || chan->state != RCH_CHAN_OPEN ? RCH_RULE_OK : RCH_RULE_STATE;
	}
	if (none) {
		WRITE_ONCE(chan->grant, RCH_GRANT_RETURNED);
		return RCH_RULE_OK;
	}
	if (chan->peer_shut & RDMACHAN_SHUTDOWN_SEND)
		return RCH_RULE_STATE;
	/* It was lent for the message that comes, or has come, another way. */
	if (rch_chan_came(chan) || chan->arriving || chan->offered)
		return RCH_RULE_SEGMENT;
	if (rts->total > chan->granted || rts->total > chan->tuning.message_max)
		return RCH_RULE_MESSAGE_SIZE;
	chan->placed = *rts;
	chan->grant_closed = rch_link_key_closed(chan->lane.link, chan->grant_key);
	WRITE_ONCE(chan->grant, RCH_GRANT_DONE);
	WRITE_ONCE(chan->lane.link->fins, chan->lane.link->fins + 1);
	return RCH_RULE_OK;
}

/**
 * rch_chan_placed_got - a message was written to what was lent. Softirq
 * @chan: channel
 * @rts: the message
 * @none: it was not, and will not be
 */
enum rch_rule rch_chan_placed_got(struct rch_chan *chan, const struct rch_rts *rts, bool none)
{
	enum rch_rule rule;

	if (!understood(chan))
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	rule = placed_locked(chan, rts, none);
	if (chan->grant == RCH_GRANT_DONE || chan->grant == RCH_GRANT_RETURNED)
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock(&chan->lock);
	return rule;
}

/* Sending */

/* The peer may have counted a message that we are about to, and sees it whole all the same. */
static u64 near(u64 count, u32 lowest)
{
	return count + (s32)(lowest - (u32)count);
}

/** rch_chan_standing_got - the peer lends memory, or wants it back. Softirq */
enum rch_rule rch_chan_standing_got(struct rch_chan *chan, const struct rch_cts *cts)
{
	bool answer = false;

	if (!understood(chan))
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	if (cts->length) {
		chan->borrowed = *cts;
		chan->borrow_for = near(READ_ONCE(chan->tx_messages), cts->message);
		chan->borrow = RCH_BORROW_HELD;
	} else if (chan->borrow != RCH_BORROW_USED || cts->serial != chan->borrowed.serial) {
		chan->borrow = RCH_BORROW_NONE;
		answer = true;
	}
	spin_unlock(&chan->lock);
	if (answer)
		rch_lane_return(&chan->lane, cts->serial);
	return RCH_RULE_OK;
}

static bool may_borrow(struct rch_chan *chan, u32 length)
{
	lockdep_assert_held(&chan->lock);
	return chan->borrow == RCH_BORROW_HELD && chan->borrow_for == chan->tx_messages &&
	       chan->borrow_for >= chan->borrow_from && length <= chan->borrowed.length;
}

/** rch_chan_may_borrow - whether the peer has lent memory for the next message */
bool rch_chan_may_borrow(struct rch_chan *chan, u32 length)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = may_borrow(chan, length);
	spin_unlock_bh(&chan->lock);
	return ok;
}

/**
 * rch_chan_borrow - take what the peer has lent for the next message
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @length: bytes of the message
 * @cts: where to write it
 *
 * Return: whether there is such. Then the peer is to be told: that the message was written,
 * or will not be, after rch_chan_borrow_end().
 */
bool rch_chan_borrow(struct rch_chan *chan, u32 length, struct rch_cts *cts)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = may_borrow(chan, length);
	if (ok) {
		*cts = chan->borrowed;
		chan->borrow = RCH_BORROW_USED;
	}
	spin_unlock_bh(&chan->lock);
	return ok;
}

/** rch_chan_borrow_end - it will not be used after all: the peer is to be told */
void rch_chan_borrow_end(struct rch_chan *chan, u32 serial)
{
	spin_lock_bh(&chan->lock);
	if (chan->borrow == RCH_BORROW_USED && chan->borrowed.serial == serial)
		chan->borrow = RCH_BORROW_NONE;
	spin_unlock_bh(&chan->lock);
}

/**
 * rch_chan_borrow_void - the next message asks for its own way
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 *
 * What is lent for it, or will be before the peer has seen the question, is void.
 */
void rch_chan_borrow_void(struct rch_chan *chan)
{
	chan->borrow_from = chan->tx_messages + 1;
}
