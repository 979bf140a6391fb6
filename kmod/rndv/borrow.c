// SPDX-License-Identifier: GPL-2.0
/*
 * borrow.c - memory that the peer has lent for messages that need not ask
 *
 * The other end of lend.c: what the peer lends, and for which message, is kept until a sender
 * writes there.
 *
 * States. It is HELD until a sender takes it (USED), or the peer wants it back. A wish for memory
 * that a sender has taken is answered by what that sender will say.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "pure/seq.h"
#include "rndv/rndv.h"

/*
 * What the peer has lent by @cts; or NULL. The message says where that is: a peer that lends twice
 * with one serial means the one that it names.
 */
static struct rch_borrowed *borrow_borrowed_as(struct rch_chan *chan, const struct rch_cts *cts)
{
	struct rch_borrowed *borrowed = &chan->rndv_tx.borrow[cts->message % RCH_LENDS];

	lockdep_assert_held(&chan->lock);
	if (borrowed->state == RCH_BORROW_NONE || borrowed->cts.serial != cts->serial)
		return NULL;
	return borrowed;
}

/* A buffer that was the answer is so no longer: another one will come. */
static void borrow_unanswer_locked(struct rch_chan *chan, const struct rch_borrowed *borrowed)
{
	lockdep_assert_held(&chan->lock);
	if (!chan->rndv_tx.cts_lent || borrowed->number != READ_ONCE(chan->counts.tx_messages))
		return;
	chan->rndv_tx.cts_lent = false;
	WRITE_ONCE(chan->rndv_tx.cts_due, true);
}

/* Whether a sender that finds no use for @borrowed may find one for @cts, for message @number. */
static bool borrow_is_news(const struct rch_borrowed *borrowed, const struct rch_cts *cts,
			   u64 number)
{
	return borrowed->state != RCH_BORROW_HELD || borrowed->number != number ||
	       borrowed->cts.length < cts->length || (borrowed->cts.ahead && !cts->ahead);
}

/* Return: whether senders have to look. */
static bool borrow_locked(struct rch_chan *chan, const struct rch_cts *cts)
{
	/* The peer may have counted a message that we are about to, and sees it whole. */
	u64 number = rch_seq_near64(READ_ONCE(chan->counts.tx_messages), cts->message);
	struct rch_borrowed *borrowed = &chan->rndv_tx.borrow[number % RCH_LENDS];
	bool news = borrow_is_news(borrowed, cts, number);

	lockdep_assert_held(&chan->lock);
	/* A peer that lends twice takes the first one back so. */
	borrow_unanswer_locked(chan, borrowed);
	borrowed->cts = *cts;
	borrowed->number = number;
	borrowed->state = RCH_BORROW_HELD;
	return news;
}

/* Return: whether it is to be told that it will not be used; else what is said of it will do. */
static bool borrow_return_locked(struct rch_chan *chan, const struct rch_cts *cts)
{
	struct rch_borrowed *borrowed = borrow_borrowed_as(chan, cts);

	lockdep_assert_held(&chan->lock);
	if (!borrowed)
		return true;
	if (borrowed->state == RCH_BORROW_USED)
		return false;
	borrowed->state = RCH_BORROW_NONE;
	borrow_unanswer_locked(chan, borrowed);
	return true;
}

/* The buffer lent for the next message; or NULL. */
static struct rch_borrowed *borrow_borrowed_next(struct rch_chan *chan)
{
	u64 next = READ_ONCE(chan->counts.tx_messages), placed = chan->rndv_tx.placed_next;
	struct rch_borrowed *borrowed = &chan->rndv_tx.borrow[next % RCH_LENDS];

	lockdep_assert_held(&chan->lock);
	if (borrowed->state != RCH_BORROW_HELD || borrowed->number != next)
		return NULL;
	if (borrowed->cts.ahead && (!placed || placed != next))
		return NULL;
	return borrowed;
}

/* The same, if that has at most so many bytes. */
static struct rch_borrowed *borrow_borrowed_now(struct rch_chan *chan, u32 length)
{
	struct rch_borrowed *borrowed = borrow_borrowed_next(chan);

	return borrowed && length <= borrowed->cts.length ? borrowed : NULL;
}

/*
 * The next message asks for a way, and has one if there is enough memory; the peer knows.
 * Return: a buffer that is too small, and is to be returned; or NULL.
 */
static struct rch_borrowed *borrow_answer_locked(struct rch_chan *chan)
{
	struct rch_borrowed *borrowed = NULL;

	lockdep_assert_held(&chan->lock);
	/* Else the holder of RCH_CHAN_TX may be about to go on to the next message. */
	if (chan->rndv_tx.cts_due && chan->rndv_tx.rts_total)
		borrowed = borrow_borrowed_next(chan);
	if (!borrowed)
		return NULL;
	if (chan->rndv_tx.rts_total > borrowed->cts.length) {
		borrowed->state = RCH_BORROW_NONE;
		return borrowed;
	}
	chan->rndv_tx.cts_lent = true;
	WRITE_ONCE(chan->rndv_tx.cts_due, false);
	return NULL;
}

/** rch_chan_standing_got - the peer lends memory, or wants it back. Softirq */
enum rch_rule rch_chan_standing_got(struct rch_chan *chan, const struct rch_cts *cts)
{
	bool answer, news;

	spin_lock(&chan->lock);
	if (cts->length) {
		news = borrow_locked(chan, cts);
		answer = borrow_answer_locked(chan);
		/*
		 * A sender may have nothing to do but to wait for it. A peer that says the same
		 * again wakes nobody: a wake-up looks at all who wait.
		 */
		if (news)
			rch_chan_wake(chan, RCH_POLL_NOTHING);
	} else {
		answer = borrow_return_locked(chan, cts);
	}
	spin_unlock(&chan->lock);
	if (answer)
		rch_lane_return(&chan->lane, cts);
	return RCH_RULE_OK;
}

/** rch_chan_may_borrow - whether the peer has lent memory for the next message */
bool rch_chan_may_borrow(struct rch_chan *chan, u32 length)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = borrow_borrowed_now(chan, length);
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
	struct rch_borrowed *borrowed;

	spin_lock_bh(&chan->lock);
	borrowed = borrow_borrowed_now(chan, length);
	if (borrowed) {
		*cts = borrowed->cts;
		borrowed->state = RCH_BORROW_USED;
	}
	spin_unlock_bh(&chan->lock);
	return borrowed;
}

/** rch_chan_borrow_end - it will not be used after all: the peer is to be told */
void rch_chan_borrow_end(struct rch_chan *chan, const struct rch_cts *cts)
{
	struct rch_borrowed *borrowed;

	spin_lock_bh(&chan->lock);
	borrowed = borrow_borrowed_as(chan, cts);
	if (borrowed && borrowed->state == RCH_BORROW_USED)
		borrowed->state = RCH_BORROW_NONE;
	spin_unlock_bh(&chan->lock);
}

/**
 * rch_chan_borrow_ask - the next message asks for a way
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @total: its bytes
 */
void rch_chan_borrow_ask(struct rch_chan *chan, u32 total)
{
	struct rch_borrowed *returned;
	struct rch_cts cts;

	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->rndv_tx.cts_due, true);
	chan->rndv_tx.cts_lent = false;
	chan->rndv_tx.rts_total = total;
	returned = borrow_answer_locked(chan);
	if (returned)
		cts = returned->cts;
	spin_unlock_bh(&chan->lock);
	if (returned)
		rch_lane_return(&chan->lane, &cts);
}

/** rch_chan_borrow_take - take what has answered the question: @cts_lent; locked */
void rch_chan_borrow_take(struct rch_chan *chan, struct rch_cts *cts)
{
	struct rch_borrowed *borrowed = &chan->rndv_tx.borrow[chan->counts.tx_messages % RCH_LENDS];

	lockdep_assert_held(&chan->lock);
	*cts = borrowed->cts;
	borrowed->state = RCH_BORROW_USED;
	chan->rndv_tx.cts_lent = false;
}
