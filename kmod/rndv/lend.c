// SPDX-License-Identifier: GPL-2.0
/*
 * lend.c - memory that a receiver lends for a message before that asks for it
 *
 * Operation. RTS and its answer take as long as a round trip, and wake both programs. A
 * receiver whose last message was written straight to its place is likely to get another
 * such. So when the next receive begins to wait, its memory is opened to
 * the peer at once (a *standing* CTS). A sender that has one writes its next large message
 * there, and then says that it did (RTS, PLACED): borrow.c.
 *
 * For one message. A standing CTS is for the next message of the channel. Both sides count
 * messages, so both know its number. It is void when that message goes as DATA or with an RTS of
 * its own, which both sides know as well. So the peer never writes with a key that is invalid by
 * then, which would end the queue pair. heir.c lends memory for the messages behind the next one.
 *
 * States. @target is LENT until the message was written there (DONE), or the peer gives back
 * what it was lent (RETURNED).
 *
 * Taking back. A program that wants its memory back waits for an answer: that the memory will not
 * be used, or the message. The peer answers each recall (a CTS without memory). If a sender of the
 * peer has begun to write there, its RTS (PLACED) is the answer.
 *
 * When the channel ends here, memory stays lent until the peer has told by CLOSE or CLOSED that it
 * writes no more. A message that is written meanwhile counts as memory that was given back.
 *
 * Guessing wrong costs a key and a frame. So after each memory that was lent in vain more
 * messages have to be written by RTS before it is tried again.
 *
 * Crossing. While memory is lent a sender that has not heard of it may ask for a way (RTS). If
 * there is room for its message it finds its answer on its way already: both leave it at that
 * The receiver keeps the question (@crossed) until the message was written
 * there, or for the case that lent memory comes back. So asking costs nothing, and a sender need
 * not guess whether it will be lent some. Too small a buffer is given back unused.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "proto/way.h"
#include "pure/seq.h"
#include "rndv/rndv.h"

/* A receiver whose peer never uses what is lent lends some once in so many messages. */
#define RCH_LEND_SKIP_MAX 64U

/**
 * rch_chan_lends - whether memory of a receive that waits shall be lent to the peer
 * @chan: channel whose state is OPEN
 * @room: bytes of it
 *
 * A racy answer: rch_chan_lend() looks again.
 */
bool rch_chan_lends(const struct rch_chan *chan, u64 room)
{
	return READ_ONCE(chan->lend.likely) && rch_way_is_placed(room, true) &&
	       !READ_ONCE(chan->rx.complete) && !READ_ONCE(chan->rndv_rx.offered) &&
	       !READ_ONCE(chan->rndv_rx.heirs_lost) &&
	       READ_ONCE(chan->state) == RCH_CHAN_OPEN;
}

/* Whether a message, or the end, has come by another way: the peer writes nothing there. */
static bool lend_void_locked(const struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	return rch_chan_came(chan) || chan->ends.peer_over ||
	       (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_SEND);
}

/* What @cts tells of is lent; it gets its numbers. */
static void lend_locked(struct rch_chan *chan, struct rch_target *target, struct rch_cts *cts,
			u32 message)
{
	lockdep_assert_held(&chan->lock);
	chan->lend.serial = rch_seq_after(chan->lend.serial);
	cts->serial = chan->lend.serial;
	cts->message = message;
	cts->ahead = target != &chan->rndv_rx.target;
	WRITE_ONCE(target->state, RCH_GRANT_LENT);
	target->serial = cts->serial;
	target->bytes = cts->length;
	target->key = cts->rkey;
	target->closed = false;
}

/**
 * rch_lend_possible - whether memory may be lent: nothing of the next message has come unless
 * placed, and something may
 * @chan: channel, locked
 */
bool rch_lend_possible(const struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	return chan->state == RCH_CHAN_OPEN && !lend_void_locked(chan) && !chan->rx.arriving &&
	       !chan->rndv_rx.offered && !chan->rndv_rx.lost &&
	       !(chan->ends.shut & RDMACHAN_SHUTDOWN_RECV);
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
	ok = chan->rndv_rx.target.state == RCH_GRANT_NONE && !chan->rndv_rx.heirs_lost &&
	     !chan->rx.events && rch_lend_possible(chan);
	if (ok)
		lend_locked(chan, &chan->rndv_rx.target, cts, chan->counts.rx_messages);
	spin_unlock_bh(&chan->lock);
	return ok;
}

/**
 * rch_chan_lend_asked - memory is open to the peer, which has not been told and asks meanwhile
 * @chan: channel whose RCH_CHAN_RX the caller has claimed
 * @room: bytes of it
 * @offer: the message, if that is large enough for it
 *
 * Return: whether the offer was taken.
 */
bool rch_chan_lend_asked(struct rch_chan *chan, u64 room, struct rch_rts *offer)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = !lend_void_locked(chan) && !chan->rndv_rx.lost &&
	     !(chan->ends.shut & RDMACHAN_SHUTDOWN_RECV) &&
	     chan->rndv_rx.offer.total <= room && rch_chan_offer_take(chan, offer);
	spin_unlock_bh(&chan->lock);
	return ok;
}

/* The number of the message that an heir receives. */
static u32 lend_heir_message(const struct rch_chan *chan, const struct rch_heir *heir)
{
	u32 message = chan->rndv_rx.placing + 1;
	const struct rch_heir *each;

	lockdep_assert_held(&chan->lock);
	list_for_each_entry(each, &chan->rndv_rx.heirs, list) {
		if (each == heir)
			break;
		message++;
	}
	return message;
}

/**
 * rch_chan_lend_ahead - rch_chan_lend() for a message behind the next one
 * @chan: channel
 * @heir: of it
 * @cts: where it is; gets its numbers
 *
 * Return: false when it will not come there.
 */
bool rch_chan_lend_ahead(struct rch_chan *chan, struct rch_heir *heir, struct rch_cts *cts)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = heir->state == RCH_HEIR_WAITS && rch_lend_possible(chan);
	if (ok)
		lend_locked(chan, &heir->target, cts, lend_heir_message(chan, heir));
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
	return READ_ONCE(chan->rndv_rx.target.state) != RCH_GRANT_LENT || rch_chan_came(chan) ||
	       READ_ONCE(chan->ends.peer_over) ||
	       (READ_ONCE(chan->ends.peer_shut) & RDMACHAN_SHUTDOWN_SEND) ||
	       (wanted && (READ_ONCE(chan->rndv_rx.offered) || READ_ONCE(chan->rndv_rx.lost) ||
			   READ_ONCE(chan->rx.events) ||
			   (READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_RECV)));
}

/**
 * rch_chan_lent - what became of memory that was lent
 * @chan: channel whose RCH_CHAN_RX the caller has claimed
 * @wanted: it was not taken back
 * @message: the one that was written
 */
enum rch_lent rch_chan_lent(struct rch_chan *chan, bool wanted, struct rch_rts *message)
{
	enum rch_lent ret = RCH_LENT_WAITS;

	spin_lock_bh(&chan->lock);
	if (chan->rndv_rx.target.state == RCH_GRANT_DONE) {
		*message = chan->rndv_rx.target.placed;
		ret = RCH_LENT_USED;
	} else if (chan->rndv_rx.target.state != RCH_GRANT_LENT || lend_void_locked(chan)) {
		ret = RCH_LENT_VOID;
	} else if (wanted && (chan->rndv_rx.lost || chan->rx.events ||
			      (chan->ends.shut & RDMACHAN_SHUTDOWN_RECV))) {
		/* An event of the module's would wait for the peer's next message. */
		ret = RCH_LENT_SHUT;
	} else if (wanted && chan->rndv_rx.offered) {
		ret = RCH_LENT_SMALL;
	}
	spin_unlock_bh(&chan->lock);
	return ret;
}

/** rch_chan_lend_result - it was of use, or not; by the holder of RCH_CHAN_RX */
void rch_chan_lend_result(struct rch_chan *chan, bool used)
{
	chan->lend.penalty = used ? 0 : clamp(chan->lend.penalty * 2, 1U, RCH_LEND_SKIP_MAX);
	chan->lend.skip = chan->lend.penalty;
	WRITE_ONCE(chan->lend.likely, used);
}

/** rch_chan_lend_again - a message of @length was written here; by the holder of RCH_CHAN_RX */
void rch_chan_lend_again(struct rch_chan *chan, u32 length)
{
	WRITE_ONCE(chan->lend.room, length);
	if (chan->lend.skip)
		chan->lend.skip--;
	else
		WRITE_ONCE(chan->lend.likely, true);
}

static bool lend_lent_with(const struct rch_target *target, u32 serial)
{
	return target->state == RCH_GRANT_LENT && target->serial == serial;
}

/* The buffer lent with that serial; or NULL. */
static struct rch_target *lend_lent_as(struct rch_chan *chan, u32 serial)
{
	struct rch_heir *heir;

	lockdep_assert_held(&chan->lock);
	if (lend_lent_with(&chan->rndv_rx.target, serial))
		return &chan->rndv_rx.target;
	list_for_each_entry(heir, &chan->rndv_rx.heirs, list)
		if (lend_lent_with(&heir->target, serial))
			return &heir->target;
	return NULL;
}

/*
 * The buffer for the message behind all that have been placed, some of which the transfers may
 * not have seen; or NULL.
 */
static struct rch_target *lend_next_target(struct rch_chan *chan)
{
	struct rch_heir *heir;

	lockdep_assert_held(&chan->lock);
	if (chan->rndv_rx.target.state != RCH_GRANT_DONE)
		return &chan->rndv_rx.target;
	if (chan->rndv_rx.grant_left)
		return NULL;
	list_for_each_entry(heir, &chan->rndv_rx.heirs, list) {
		if (heir->state != RCH_HEIR_WAITS)
			return NULL;
		if (heir->target.state != RCH_GRANT_DONE)
			return &heir->target;
	}
	return NULL;
}

/* They may be used by frames of a peer that was too late to have the memory any longer. */
static void lend_excuse_keys(struct rch_chan *chan)
{
	struct rch_heir *heir;
	u32 i;

	lockdep_assert_held(&chan->lock);
	rch_link_key_excused(chan->lane.link, chan->rndv_rx.target.key);
	list_for_each_entry(heir, &chan->rndv_rx.heirs, list)
		rch_link_key_excused(chan->lane.link, heir->target.key);
	for (i = 0; i < chan->rndv_rx.late_count; i++)
		rch_link_key_excused(chan->lane.link, chan->rndv_rx.late_keys[i]);
}

/* Nothing is lent with such a serial, any more. */
static enum rch_rule lend_placed_late(struct rch_chan *chan, const struct rch_rts *rts, bool none)
{
	lockdep_assert_held(&chan->lock);
	if (chan->state == RCH_CHAN_OPEN)
		return none ? RCH_RULE_OK : RCH_RULE_STATE;
	if (!none)
		lend_excuse_keys(chan);
	return RCH_RULE_OK;
}

/**
 * rch_chan_rts_crosses - whether the peer asks, and will find what is lent. Softirq
 * @chan: channel; locked
 * @rts: for which message
 */
bool rch_chan_rts_crosses(struct rch_chan *chan, const struct rch_rts *rts)
{
	struct rch_target *target = lend_next_target(chan);

	lockdep_assert_held(&chan->lock);
	if (lend_void_locked(chan) || !target ||
	    target->state != RCH_GRANT_LENT || rts->total > target->bytes)
		return false;
	chan->rndv_rx.offer = *rts;
	chan->rndv_rx.crossed = true;
	chan->rndv_rx.crossed_serial = target->serial;
	return true;
}

/* A lent buffer comes back. Return: whether the question for another way is to be refused. */
static bool lend_returned_locked(struct rch_chan *chan, u32 serial)
{
	lockdep_assert_held(&chan->lock);
	if (!chan->rndv_rx.crossed || chan->rndv_rx.crossed_serial != serial)
		return false;
	chan->rndv_rx.crossed = false;
	return !rch_chan_offer_keep(chan);
}

/* It was said behind the message, or instead of it. */
static enum rch_rule lend_placed_locked(struct rch_chan *chan, const struct rch_rts *rts, bool none)
{
	struct rch_target *target = lend_lent_as(chan, rts->serial);

	lockdep_assert_held(&chan->lock);
	if (!target)
		return lend_placed_late(chan, rts, none);
	/* A channel that has ended here receives no message any more. */
	if (none || chan->state != RCH_CHAN_OPEN) {
		target->closed = !none && rch_link_key_closed(chan->lane.link, target->key);
		WRITE_ONCE(target->state, RCH_GRANT_RETURNED);
		return RCH_RULE_OK;
	}
	if (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_SEND)
		return RCH_RULE_STATE;
	/* It was lent for the message that comes, or has come, another way. */
	if (rch_chan_came(chan) || chan->rx.arriving || chan->rndv_rx.offered)
		return RCH_RULE_SEGMENT;
	if (target != lend_next_target(chan))
		return RCH_RULE_SEGMENT;
	if (rts->total > target->bytes || rts->total > chan->tuning.message_max)
		return RCH_RULE_MESSAGE_SIZE;
	chan->rndv_rx.crossed = false;
	target->placed = *rts;
	target->closed = rch_link_key_closed(chan->lane.link, target->key);
	WRITE_ONCE(target->state, RCH_GRANT_DONE);
	WRITE_ONCE(chan->lane.link->rx.fins, chan->lane.link->rx.fins + 1);
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
	bool refuse = false;
	enum rch_rule rule;
	u32 serial;

	spin_lock(&chan->lock);
	rule = lend_placed_locked(chan, rts, none);
	serial = chan->rndv_rx.offer.serial;
	if (!rule && none)
		refuse = lend_returned_locked(chan, rts->serial);
	rch_chan_wake(chan, RCH_POLL_NOTHING);
	spin_unlock(&chan->lock);
	if (refuse)
		rch_chan_offer_refuse(chan, serial);
	return rule;
}

