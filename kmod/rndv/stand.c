// SPDX-License-Identifier: GPL-2.0
/*
 * stand.c - memory that is lent for a message before that asks for it
 *
 * Operation. RTS and its answer take as long as a round trip, and wake both programs. A
 * receiver whose last message was written straight to its place is likely to get another
 * such. So when the next receive begins to wait, its memory is opened to
 * the peer at once (a *standing* CTS). A sender that has one writes its next large message
 * there, and then says that it did (RTS, PLACED).
 *
 * For one message. What is lent is for the next message of the channel, which has a number
 * that both sides know without a word: they count messages. It is void when that message
 * goes another way, as DATA or with an RTS of its own; again both know. So nothing is ever
 * written to memory whose key is useless by then, which would end the queue pair.
 *
 * States. @target is LENT until the message was written there (DONE), or the peer gives back
 * what it was lent (RETURNED). At the other end it is HELD until a sender takes it
 * (USED), or it is wanted back.
 *
 * Taking back. A program that wants its memory back has to wait for an answer: that it will
 * not be used, or the message. Each wish is answered, but where what it is about was
 * taken by a sender: what that one will say is the answer.
 *
 * Guessing wrong costs a key and a frame. So after each memory that was lent in vain more
 * messages have to be written by RTS before it is tried again.
 *
 * Ahead. With one message at a time the sender waits for what tells it where the next one goes.
 * So other transfers, *heirs* of the one that receives, lend their memory for the messages behind
 * that, while it goes on. What an heir lends is void unless the message before is placed: then no
 * message that has still to be read can come before one that was written to an heir's memory.
 * When the transfer has its message the first heir's turn has come: it gets the claim, and what
 * it has lent is for the next message now. When the message went another way, or did not come,
 * all heirs are lost: they take their memory back, and no offer is taken before they have it. So
 * are those behind an heir that gives up, as their messages have other numbers then.
 *
 * Crossing. While memory is lent a sender that has not heard of it may ask for a way (RTS). If
 * there is room for its message it finds its answer on its way already: both leave it at that
 * (RCH_FEATURE_CROSS). The receiver keeps the question (@crossed) until the message was written
 * there, or for the case that what is lent comes back. So asking costs nothing, and a sender need
 * not guess whether it will be lent some. What is too small is given back unused.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "path/path_rdma.h"
#include "pure/seq.h"
#include "pure/way.h"
#include "rndv/rndv.h"

/* Who never uses what is lent is lent some once in so many messages. */
#define RCH_LEND_SKIP_MAX 64U

static bool understood(const struct rch_chan *chan)
{
	const u32 both = RCH_FEATURE_PLACE | RCH_FEATURE_STAND;

	return (chan->lane.link->features & both) == both;
}

static bool understood_ahead(const struct rch_chan *chan)
{
	return understood(chan) && (chan->lane.link->features & RCH_FEATURE_AHEAD);
}

static bool understood_crossing(const struct rch_chan *chan)
{
	return understood(chan) && (chan->lane.link->features & RCH_FEATURE_CROSS);
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
	return READ_ONCE(chan->lends) && rch_way_is_placed(room, true) && understood(chan) &&
	       !READ_ONCE(chan->complete) && !READ_ONCE(chan->offered) &&
	       !READ_ONCE(chan->heirs_lost) &&
	       READ_ONCE(chan->state) == RCH_CHAN_OPEN;
}

/* Whether a message, or the end, has come, or is coming, by another way. */
static bool void_locked(const struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	return rch_chan_came(chan) || chan->state != RCH_CHAN_OPEN ||
	       (chan->peer_shut & RDMACHAN_SHUTDOWN_SEND);
}

/* What @cts tells of is lent; it gets its numbers. */
static void lend_locked(struct rch_chan *chan, struct rch_target *target, struct rch_cts *cts,
			u32 message)
{
	lockdep_assert_held(&chan->lock);
	chan->lend_serial = rch_seq_after(chan->lend_serial);
	cts->serial = chan->lend_serial;
	cts->message = message;
	cts->ahead = target != &chan->target;
	WRITE_ONCE(target->state, RCH_GRANT_LENT);
	target->serial = cts->serial;
	target->bytes = cts->length;
	target->key = cts->rkey;
	target->closed = false;
}

/* Whether nothing of the next message but one that is placed has come, and some may. */
static bool may_lend(const struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	return !void_locked(chan) && !chan->arriving && !chan->offered && !chan->lost &&
	       !(chan->shut & RDMACHAN_SHUTDOWN_RECV);
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
	ok = chan->target.state == RCH_GRANT_NONE && !chan->heirs_lost && !chan->events &&
	     may_lend(chan);
	if (ok)
		lend_locked(chan, &chan->target, cts, chan->rx_messages);
	spin_unlock_bh(&chan->lock);
	return ok;
}

/**
 * rch_chan_lend_asked - memory is open to the peer, who has not been told and asks meanwhile
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
	ok = !void_locked(chan) && !chan->lost && !(chan->shut & RDMACHAN_SHUTDOWN_RECV) &&
	     chan->offer.total <= room && rch_chan_offer_take(chan, offer);
	spin_unlock_bh(&chan->lock);
	return ok;
}

/* The number of the message that an heir receives. */
static u32 heir_message(const struct rch_chan *chan, const struct rch_heir *heir)
{
	u32 message = chan->placing + 1;
	const struct rch_heir *each;

	lockdep_assert_held(&chan->lock);
	list_for_each_entry(each, &chan->heirs, list) {
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
	ok = heir->state == RCH_HEIR_WAITS && may_lend(chan);
	if (ok)
		lend_locked(chan, &heir->target, cts, heir_message(chan, heir));
	spin_unlock_bh(&chan->lock);
	return ok;
}

/**
 * rch_chan_lost - a message was placed, and its program will not be told
 * @chan: channel
 *
 * The channel has to end. That closes what is open to the peer, who may be writing there, so it
 * ends with the last transfer, and what is lent only is taken back. Process context.
 */
void rch_chan_lost(struct rch_chan *chan)
{
	bool ends;

	spin_lock_bh(&chan->lock);
	ends = !chan->transfers;
	WRITE_ONCE(chan->lost, true);
	wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock_bh(&chan->lock);
	if (ends)
		rch_chan_broken(chan, -EINTR);
}

/* Return: whether the channel ends with it. */
static bool transfer_over(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	chan->transfers--;
	return chan->lost && !chan->transfers;
}

/** rch_chan_placing - a transfer that has claimed RCH_CHAN_RX begins: it may have heirs */
void rch_chan_placing(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	chan->transfers++;
	chan->placing = chan->rx_messages;
	spin_unlock_bh(&chan->lock);
}

/* The message before @heir's does not come where it should: this one and those behind are lost. */
static void lose_from(struct rch_chan *chan, struct rch_heir *heir)
{
	lockdep_assert_held(&chan->lock);
	list_for_each_entry_from(heir, &chan->heirs, list) {
		if (heir->state != RCH_HEIR_WAITS)
			continue;
		WRITE_ONCE(heir->state, RCH_HEIR_LOST);
		WRITE_ONCE(chan->heirs_lost, chan->heirs_lost + 1);
	}
}

static void remove_heir(struct rch_chan *chan, struct rch_heir *heir)
{
	lockdep_assert_held(&chan->lock);
	list_del_init(&heir->list);
	WRITE_ONCE(chan->heir_count, chan->heir_count - 1);
	WRITE_ONCE(heir->target.state, RCH_GRANT_NONE);
}

/**
 * rch_chan_placing_end - such a transfer is over, and nothing is open to the peer by it
 * @chan: channel
 * @placed: its message is where it should be, and counted
 *
 * Return: whether the claim has gone to the first heir.
 */
bool rch_chan_placing_end(struct rch_chan *chan, bool placed)
{
	struct rch_heir *heir;
	bool turn, ends;

	spin_lock_bh(&chan->lock);
	ends = transfer_over(chan);
	heir = list_first_entry_or_null(&chan->heirs, struct rch_heir, list);
	turn = heir && placed && heir->state == RCH_HEIR_WAITS;
	WRITE_ONCE(chan->target.state, RCH_GRANT_NONE);
	chan->grant_left = 0;
	if (turn) {
		chan->target = heir->target;
		remove_heir(chan, heir);
		chan->placing++;
		WRITE_ONCE(heir->state, RCH_HEIR_TURN);
	} else if (heir) {
		lose_from(chan, heir);
	}
	if (heir)
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock_bh(&chan->lock);
	if (ends)
		rch_chan_broken(chan, -EINTR);
	return turn;
}

static u32 heirs_max(const struct rch_chan *chan)
{
	return chan->lane.link->features & RCH_FEATURE_DEEP ? RCH_LENDS - 1 : 1;
}

/**
 * rch_chan_heir_wanted - whether a transfer that receives shall have another heir
 * @chan: channel
 * @room: bytes that the heir has for a message
 *
 * A racy answer: rch_chan_heir_begin() looks again.
 */
bool rch_chan_heir_wanted(const struct rch_chan *chan, u64 room)
{
	return !READ_ONCE(chan->heirs_lost) && READ_ONCE(chan->lends) &&
	       rch_way_is_placed(room, true) && understood_ahead(chan) &&
	       READ_ONCE(chan->heir_count) < heirs_max(chan) &&
	       atomic_read(&chan->lane.link->lent) < RCH_LENT_AHEAD_MAX;
}

/* Whether the message of who is behind @before is behind those of all others. */
static bool is_last(const struct rch_chan *chan, const struct rch_heir *before)
{
	lockdep_assert_held(&chan->lock);
	if (before->state == RCH_HEIR_WAITS)
		return list_is_last(&before->list, &chan->heirs);
	return list_empty(&chan->heirs);
}

/**
 * rch_chan_heir_begin - be an heir
 * @chan: channel
 * @heir: in no list
 * @before: of the transfer that receives the message before, and is not over
 *
 * Return: whether it is; then rch_chan_heir_turn() or rch_chan_heir_end() must follow.
 */
bool rch_chan_heir_begin(struct rch_chan *chan, struct rch_heir *heir,
			 const struct rch_heir *before)
{
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = !chan->heirs_lost && chan->heir_count < heirs_max(chan) && is_last(chan, before) &&
	     may_lend(chan);
	if (ok) {
		list_add_tail(&heir->list, &chan->heirs);
		WRITE_ONCE(chan->heir_count, chan->heir_count + 1);
		WRITE_ONCE(heir->state, RCH_HEIR_WAITS);
		chan->transfers++;
	}
	spin_unlock_bh(&chan->lock);
	return ok;
}

/** rch_chan_heir_turn - whether an heir's turn has come; then it has the claim. True once */
bool rch_chan_heir_turn(struct rch_chan *chan, struct rch_heir *heir)
{
	bool turn;

	spin_lock_bh(&chan->lock);
	turn = heir->state == RCH_HEIR_TURN;
	if (turn)
		WRITE_ONCE(heir->state, RCH_HEIR_NONE);
	spin_unlock_bh(&chan->lock);
	return turn;
}

/* It leaves its place, and nobody takes that. Return: whether the channel ends with it. */
static bool end_heir(struct rch_chan *chan, struct rch_heir *heir)
{
	lockdep_assert_held(&chan->lock);
	if (heir->state == RCH_HEIR_LOST)
		WRITE_ONCE(chan->heirs_lost, chan->heirs_lost - 1);
	lose_from(chan, list_next_entry(heir, list));
	remove_heir(chan, heir);
	WRITE_ONCE(heir->state, RCH_HEIR_NONE);
	/* Others are lost; or what is offered may be taken again. */
	wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	if (chan->offered && !chan->heirs_lost)
		wake_up_interruptible_all(&chan->wait);
	return transfer_over(chan);
}

/**
 * rch_chan_heir_end - an heir gives up, and nothing is open to the peer by it
 * @chan: channel
 * @heir: heir
 *
 * Return: false when its turn has come meanwhile, as rch_chan_heir_turn() tells.
 */
bool rch_chan_heir_end(struct rch_chan *chan, struct rch_heir *heir)
{
	bool ends = false, ok;

	spin_lock_bh(&chan->lock);
	ok = heir->state != RCH_HEIR_TURN;
	if (ok)
		ends = end_heir(chan, heir);
	spin_unlock_bh(&chan->lock);
	if (ends)
		rch_chan_broken(chan, -EINTR);
	return ok;
}

/**
 * rch_chan_heir_settled - whether rch_chan_heir_lent() has more to tell than RCH_LENT_WAITS
 * @chan: channel
 * @heir: of it
 * @wanted: it was not taken back; or, else, RCH_LENT_LOST
 */
bool rch_chan_heir_settled(const struct rch_chan *chan, const struct rch_heir *heir,
			   bool wanted)
{
	enum rch_heir_state state = READ_ONCE(heir->state);

	return state == RCH_HEIR_TURN || (wanted && state == RCH_HEIR_LOST) ||
	       READ_ONCE(heir->target.state) == RCH_GRANT_RETURNED ||
	       READ_ONCE(chan->state) != RCH_CHAN_OPEN;
}

/** rch_chan_heir_lent - what became of memory that was lent ahead, before the heir's turn */
enum rch_lent rch_chan_heir_lent(struct rch_chan *chan, const struct rch_heir *heir)
{
	enum rch_lent ret = RCH_LENT_WAITS;

	spin_lock_bh(&chan->lock);
	if (heir->target.state == RCH_GRANT_RETURNED)
		ret = RCH_LENT_VOID;
	else if (heir->target.state == RCH_GRANT_DONE && heir->state == RCH_HEIR_WAITS)
		/* It has its message: those before have theirs. */
		ret = RCH_LENT_WAITS;
	else if (chan->state != RCH_CHAN_OPEN)
		ret = RCH_LENT_VOID;
	else if (heir->state == RCH_HEIR_LOST)
		ret = RCH_LENT_LOST;
	spin_unlock_bh(&chan->lock);
	return ret;
}

/**
 * rch_chan_lent_settled - whether rch_chan_lent() has more to tell than RCH_LENT_WAITS
 * @chan: channel
 * @wanted: as there
 */
bool rch_chan_lent_settled(const struct rch_chan *chan, bool wanted)
{
	return READ_ONCE(chan->target.state) != RCH_GRANT_LENT || rch_chan_came(chan) ||
	       READ_ONCE(chan->state) != RCH_CHAN_OPEN ||
	       (READ_ONCE(chan->peer_shut) & RDMACHAN_SHUTDOWN_SEND) ||
	       (wanted && (READ_ONCE(chan->offered) || READ_ONCE(chan->lost) ||
			   READ_ONCE(chan->events) ||
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
	if (chan->target.state == RCH_GRANT_DONE) {
		*message = chan->target.placed;
		ret = RCH_LENT_USED;
	} else if (chan->target.state != RCH_GRANT_LENT || void_locked(chan)) {
		ret = RCH_LENT_VOID;
	} else if (wanted && (chan->lost || chan->events ||
			      (chan->shut & RDMACHAN_SHUTDOWN_RECV))) {
		/* An event of the module's would wait for the peer's next message. */
		ret = RCH_LENT_SHUT;
	} else if (wanted && chan->offered && understood_crossing(chan)) {
		ret = RCH_LENT_SMALL;
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

/** rch_chan_lend_again - a message of @length was written here; by who has claimed RCH_CHAN_RX */
void rch_chan_lend_again(struct rch_chan *chan, u32 length)
{
	WRITE_ONCE(chan->lend_room, length);
	if (chan->lend_skip)
		chan->lend_skip--;
	else
		WRITE_ONCE(chan->lends, true);
}

static bool lent_with(const struct rch_target *target, u32 serial)
{
	return target->state == RCH_GRANT_LENT && target->serial == serial;
}

/* What is lent with that serial; or NULL. */
static struct rch_target *lent_as(struct rch_chan *chan, u32 serial)
{
	struct rch_heir *heir;

	lockdep_assert_held(&chan->lock);
	if (lent_with(&chan->target, serial))
		return &chan->target;
	list_for_each_entry(heir, &chan->heirs, list)
		if (lent_with(&heir->target, serial))
			return &heir->target;
	return NULL;
}

/*
 * What there is for the message behind all that have been placed, some of which the transfers may
 * not have seen; or NULL.
 */
static struct rch_target *next_target(struct rch_chan *chan)
{
	struct rch_heir *heir;

	lockdep_assert_held(&chan->lock);
	if (chan->target.state != RCH_GRANT_DONE)
		return &chan->target;
	if (chan->grant_left)
		return NULL;
	list_for_each_entry(heir, &chan->heirs, list) {
		if (heir->state != RCH_HEIR_WAITS)
			return NULL;
		if (heir->target.state != RCH_GRANT_DONE)
			return &heir->target;
	}
	return NULL;
}

/* They may be used by the peer's frames that were under way when the channel ended. */
static void excuse_keys(struct rch_chan *chan)
{
	struct rch_heir *heir;

	lockdep_assert_held(&chan->lock);
	rch_link_key_excused(chan->lane.link, chan->target.key);
	list_for_each_entry(heir, &chan->heirs, list)
		rch_link_key_excused(chan->lane.link, heir->target.key);
}

/* Nothing is lent with such a serial, any more. */
static enum rch_rule placed_late(struct rch_chan *chan, const struct rch_rts *rts, bool none)
{
	lockdep_assert_held(&chan->lock);
	if (chan->state == RCH_CHAN_OPEN)
		return none ? RCH_RULE_OK : RCH_RULE_STATE;
	if (!none)
		excuse_keys(chan);
	return RCH_RULE_OK;
}

/**
 * rch_chan_rts_crosses - whether the peer asks, and will find what is lent. Softirq
 * @chan: channel; locked
 * @rts: for which message
 */
bool rch_chan_rts_crosses(struct rch_chan *chan, const struct rch_rts *rts)
{
	struct rch_target *target = next_target(chan);

	lockdep_assert_held(&chan->lock);
	if (!understood_crossing(chan) || void_locked(chan) || !target ||
	    target->state != RCH_GRANT_LENT || rts->total > target->bytes)
		return false;
	chan->offer = *rts;
	chan->crossed = true;
	chan->crossed_serial = target->serial;
	return true;
}

/* What is lent comes back. Return: whether the question for another way is to be refused. */
static bool returned_locked(struct rch_chan *chan, u32 serial)
{
	lockdep_assert_held(&chan->lock);
	if (!chan->crossed || chan->crossed_serial != serial)
		return false;
	chan->crossed = false;
	return !rch_chan_offer_keep(chan);
}

/* It was said behind the message, or instead of it. */
static enum rch_rule placed_locked(struct rch_chan *chan, const struct rch_rts *rts, bool none)
{
	struct rch_target *target = lent_as(chan, rts->serial);

	lockdep_assert_held(&chan->lock);
	if (!target)
		return placed_late(chan, rts, none);
	if (none) {
		WRITE_ONCE(target->state, RCH_GRANT_RETURNED);
		return RCH_RULE_OK;
	}
	if (chan->peer_shut & RDMACHAN_SHUTDOWN_SEND)
		return RCH_RULE_STATE;
	/* It was lent for the message that comes, or has come, another way. */
	if (rch_chan_came(chan) || chan->arriving || chan->offered)
		return RCH_RULE_SEGMENT;
	if (target != next_target(chan))
		return chan->state == RCH_CHAN_OPEN ? RCH_RULE_SEGMENT :
						      placed_late(chan, rts, none);
	if (rts->total > target->bytes || rts->total > chan->tuning.message_max)
		return RCH_RULE_MESSAGE_SIZE;
	chan->crossed = false;
	target->placed = *rts;
	target->closed = rch_link_key_closed(chan->lane.link, target->key);
	WRITE_ONCE(target->state, RCH_GRANT_DONE);
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
	bool refuse = false;
	enum rch_rule rule;
	u32 serial;

	if (!understood(chan))
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	rule = placed_locked(chan, rts, none);
	serial = chan->offer.serial;
	if (!rule && none)
		refuse = returned_locked(chan, rts->serial);
	wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock(&chan->lock);
	if (refuse)
		rch_chan_offer_refuse(chan, serial);
	return rule;
}

/* Sending */

/* What the peer has lent with that serial; or NULL. */
static struct rch_borrowed *borrowed_as(struct rch_chan *chan, u32 serial)
{
	int i;

	lockdep_assert_held(&chan->lock);
	for (i = 0; i < RCH_LENDS; i++)
		if (chan->borrow[i].state != RCH_BORROW_NONE &&
		    chan->borrow[i].cts.serial == serial)
			return &chan->borrow[i];
	return NULL;
}

/* What was the answer is so no longer: another one will come. */
static void unanswer_locked(struct rch_chan *chan, const struct rch_borrowed *borrowed)
{
	lockdep_assert_held(&chan->lock);
	if (!chan->cts_lent || borrowed->number != READ_ONCE(chan->tx_messages))
		return;
	chan->cts_lent = false;
	WRITE_ONCE(chan->cts_due, true);
}

static void borrow_locked(struct rch_chan *chan, const struct rch_cts *cts)
{
	/* The peer may have counted a message that we are about to, and sees it whole. */
	u64 number = rch_seq_near64(READ_ONCE(chan->tx_messages), cts->message);
	struct rch_borrowed *borrowed = &chan->borrow[number % RCH_LENDS];

	lockdep_assert_held(&chan->lock);
	/* A peer that lends twice takes the first one back so. */
	unanswer_locked(chan, borrowed);
	borrowed->cts = *cts;
	borrowed->number = number;
	borrowed->state = RCH_BORROW_HELD;
}

/* Return: whether it is to be told that it will not be used; else what is said of it will do. */
static bool return_locked(struct rch_chan *chan, u32 serial)
{
	struct rch_borrowed *borrowed = borrowed_as(chan, serial);

	lockdep_assert_held(&chan->lock);
	if (!borrowed)
		return true;
	if (borrowed->state == RCH_BORROW_USED)
		return false;
	borrowed->state = RCH_BORROW_NONE;
	unanswer_locked(chan, borrowed);
	return true;
}

/* What is lent for the next message; or NULL. */
static struct rch_borrowed *borrowed_next(struct rch_chan *chan)
{
	u64 next = READ_ONCE(chan->tx_messages);
	struct rch_borrowed *borrowed = &chan->borrow[next % RCH_LENDS];

	lockdep_assert_held(&chan->lock);
	if (borrowed->state != RCH_BORROW_HELD || borrowed->number != next ||
	    borrowed->number < chan->borrow_from)
		return NULL;
	if (borrowed->cts.ahead && (!chan->placed_next || chan->placed_next != next))
		return NULL;
	return borrowed;
}

/* The same, if that has at most so many bytes. */
static struct rch_borrowed *borrowed_now(struct rch_chan *chan, u32 length)
{
	struct rch_borrowed *borrowed = borrowed_next(chan);

	return borrowed && length <= borrowed->cts.length ? borrowed : NULL;
}

/*
 * The next message asks for a way, and has one if there is enough memory; the peer knows.
 * Return: what is not enough, and is to be returned; or NULL.
 */
static struct rch_borrowed *answer_locked(struct rch_chan *chan)
{
	struct rch_borrowed *borrowed = NULL;

	lockdep_assert_held(&chan->lock);
	/* Else who has claimed RCH_CHAN_TX may be about to go on to the next message. */
	if (chan->cts_due && chan->rts_total)
		borrowed = borrowed_next(chan);
	if (!borrowed)
		return NULL;
	if (chan->rts_total > borrowed->cts.length) {
		borrowed->state = RCH_BORROW_NONE;
		return borrowed;
	}
	chan->cts_lent = true;
	WRITE_ONCE(chan->cts_due, false);
	return NULL;
}

/** rch_chan_standing_got - the peer lends memory, or wants it back. Softirq */
enum rch_rule rch_chan_standing_got(struct rch_chan *chan, const struct rch_cts *cts)
{
	bool answer = false;

	if (!(cts->ahead ? understood_ahead(chan) : understood(chan)))
		return RCH_RULE_STATE;
	spin_lock(&chan->lock);
	if (cts->length) {
		borrow_locked(chan, cts);
		answer = answer_locked(chan);
		/* A sender may have nothing to do but to wait for it. */
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	} else {
		answer = return_locked(chan, cts->serial);
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
	ok = borrowed_now(chan, length);
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
	borrowed = borrowed_now(chan, length);
	if (borrowed) {
		*cts = borrowed->cts;
		borrowed->state = RCH_BORROW_USED;
	}
	spin_unlock_bh(&chan->lock);
	return borrowed;
}

/** rch_chan_borrow_end - it will not be used after all: the peer is to be told */
void rch_chan_borrow_end(struct rch_chan *chan, u32 serial)
{
	struct rch_borrowed *borrowed;

	spin_lock_bh(&chan->lock);
	borrowed = borrowed_as(chan, serial);
	if (borrowed && borrowed->state == RCH_BORROW_USED)
		borrowed->state = RCH_BORROW_NONE;
	spin_unlock_bh(&chan->lock);
}

/**
 * rch_chan_borrow_ask - the next message asks for a way
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @total: its bytes
 *
 * Where crossing is not understood, what is lent for it, or will be before the peer has seen the
 * question, is void.
 */
void rch_chan_borrow_ask(struct rch_chan *chan, u32 total)
{
	struct rch_borrowed *returned = NULL;
	struct rch_cts cts;

	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->cts_due, true);
	chan->cts_lent = false;
	chan->rts_total = understood_crossing(chan) ? total : 0;
	if (chan->rts_total)
		returned = answer_locked(chan);
	else
		chan->borrow_from = chan->tx_messages + 1;
	if (returned)
		cts = returned->cts;
	spin_unlock_bh(&chan->lock);
	if (returned)
		rch_lane_return(&chan->lane, &cts);
}

/** rch_chan_borrow_take - take what has answered the question: @cts_lent; locked */
void rch_chan_borrow_take(struct rch_chan *chan, struct rch_cts *cts)
{
	struct rch_borrowed *borrowed = &chan->borrow[chan->tx_messages % RCH_LENDS];

	lockdep_assert_held(&chan->lock);
	*cts = borrowed->cts;
	borrowed->state = RCH_BORROW_USED;
	chan->cts_lent = false;
}

/** rch_chan_asks_ahead - whether to ask may be of use, and does no harm, whatever is lent */
bool rch_chan_asks_ahead(const struct rch_chan *chan)
{
	return understood_crossing(chan) && !chan->rts_skip;
}
