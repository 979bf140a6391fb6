// SPDX-License-Identifier: GPL-2.0
/*
 * heir.c - transfers that lend memory for messages behind the next one
 *
 * Operation. With one message at a time the sender waits for what tells it where the next one
 * goes. So other transfers, *heirs* of the one that receives, lend their memory for the messages
 * behind that, while it goes on. What an heir lends is void unless the message before is placed:
 * then no message that has still to be read can come before one that was written to an heir's
 * memory.
 *
 * States. An heir WAITS. When the transfer before has its message the first heir's turn has come
 * (TURN): it gets the claim, and its lent memory is for the next message now. When the message
 * went another way, or did not come, all heirs are LOST: they take their memory back, and no offer
 * is taken before they have it. So are those behind an heir that gives up, as their messages have
 * other numbers then.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "path/path_rdma.h"
#include "proto/way.h"
#include "rndv/rndv.h"

/**
 * rch_chan_lost - a message was placed, and its program will not be told
 * @chan: channel
 *
 * The channel has to end, and does so with the last transfer that receives. Until then the peer
 * goes on with what it is writing, and memory that is only lent is taken back. Process context.
 */
void rch_chan_lost(struct rch_chan *chan)
{
	bool ends;

	spin_lock_bh(&chan->lock);
	ends = !chan->rndv_rx.transfers;
	WRITE_ONCE(chan->rndv_rx.lost, true);
	wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock_bh(&chan->lock);
	if (ends)
		rch_chan_broken(chan, -EINTR);
}

/* Return: whether the channel ends with it. */
static bool heir_transfer_over(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	chan->rndv_rx.transfers--;
	return chan->rndv_rx.lost && !chan->rndv_rx.transfers;
}

/** rch_chan_placing - a transfer that has claimed RCH_CHAN_RX begins: it may have heirs */
void rch_chan_placing(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	chan->rndv_rx.transfers++;
	chan->rndv_rx.placing = chan->counts.rx_messages;
	spin_unlock_bh(&chan->lock);
}

/* The message before @heir's does not come where it should: this one and those behind are lost. */
static void heir_lose_from(struct rch_chan *chan, struct rch_heir *heir)
{
	lockdep_assert_held(&chan->lock);
	list_for_each_entry_from(heir, &chan->rndv_rx.heirs, list) {
		if (heir->state != RCH_HEIR_WAITS)
			continue;
		WRITE_ONCE(heir->state, RCH_HEIR_LOST);
		WRITE_ONCE(chan->rndv_rx.heirs_lost, chan->rndv_rx.heirs_lost + 1);
	}
}

static void heir_remove_heir(struct rch_chan *chan, struct rch_heir *heir)
{
	lockdep_assert_held(&chan->lock);
	list_del_init(&heir->list);
	WRITE_ONCE(chan->rndv_rx.heir_count, chan->rndv_rx.heir_count - 1);
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
	ends = heir_transfer_over(chan);
	heir = list_first_entry_or_null(&chan->rndv_rx.heirs, struct rch_heir, list);
	turn = heir && placed && heir->state == RCH_HEIR_WAITS;
	WRITE_ONCE(chan->rndv_rx.target.state, RCH_GRANT_NONE);
	chan->rndv_rx.grant_left = 0;
	if (turn) {
		chan->rndv_rx.target = heir->target;
		heir_remove_heir(chan, heir);
		chan->rndv_rx.placing++;
		WRITE_ONCE(heir->state, RCH_HEIR_TURN);
	} else if (heir) {
		heir_lose_from(chan, heir);
	}
	if (heir)
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock_bh(&chan->lock);
	if (ends)
		rch_chan_broken(chan, -EINTR);
	return turn;
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
	return !READ_ONCE(chan->rndv_rx.heirs_lost) && READ_ONCE(chan->lend.likely) &&
	       rch_way_is_placed(room, true) &&
	       READ_ONCE(chan->rndv_rx.heir_count) < RCH_HEIRS_MAX &&
	       atomic_read(&chan->lane.link->lent) < RCH_LENT_AHEAD_MAX;
}

/* Whether the message of an heir behind @before is behind those of all others. */
static bool heir_is_last(const struct rch_chan *chan, const struct rch_heir *before)
{
	lockdep_assert_held(&chan->lock);
	if (before->state == RCH_HEIR_WAITS)
		return list_is_last(&before->list, &chan->rndv_rx.heirs);
	return list_empty(&chan->rndv_rx.heirs);
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
	ok = !chan->rndv_rx.heirs_lost && chan->rndv_rx.heir_count < RCH_HEIRS_MAX &&
	     heir_is_last(chan, before) && rch_lend_possible(chan);
	if (ok) {
		list_add_tail(&heir->list, &chan->rndv_rx.heirs);
		WRITE_ONCE(chan->rndv_rx.heir_count, chan->rndv_rx.heir_count + 1);
		WRITE_ONCE(heir->state, RCH_HEIR_WAITS);
		chan->rndv_rx.transfers++;
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

/*
 * The channel has ended, and memory of @heir is taken away from a peer that has not told what
 * became of it: it may just do so. Once a channel has ended there are no new heirs, so all keys
 * have room.
 */
static void heir_keep_key(struct rch_chan *chan, const struct rch_heir *heir)
{
	struct rch_rndv_rx *rx = &chan->rndv_rx;

	lockdep_assert_held(&chan->lock);
	if (chan->state != RCH_CHAN_OPEN && heir->target.state == RCH_GRANT_LENT &&
	    !WARN_ON_ONCE(rx->late_count == RCH_HEIRS_MAX))
		rx->late_keys[rx->late_count++] = heir->target.key;
}

/* It leaves its place, and nobody takes that. Return: whether the channel ends with it. */
static bool heir_end_heir(struct rch_chan *chan, struct rch_heir *heir)
{
	lockdep_assert_held(&chan->lock);
	if (heir->state == RCH_HEIR_LOST)
		WRITE_ONCE(chan->rndv_rx.heirs_lost, chan->rndv_rx.heirs_lost - 1);
	heir_lose_from(chan, list_next_entry(heir, list));
	heir_keep_key(chan, heir);
	heir_remove_heir(chan, heir);
	WRITE_ONCE(heir->state, RCH_HEIR_NONE);
	/* Others are lost; or an offered message may be taken again. */
	wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	if (chan->rndv_rx.offered && !chan->rndv_rx.heirs_lost)
		wake_up_interruptible_all(&chan->wait);
	return heir_transfer_over(chan);
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
		ends = heir_end_heir(chan, heir);
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
	       READ_ONCE(chan->ends.peer_over);
}

/** rch_chan_heir_lent - what became of memory that was lent ahead, before the heir's turn */
enum rch_lent rch_chan_heir_lent(struct rch_chan *chan, const struct rch_heir *heir)
{
	enum rch_lent ret = RCH_LENT_WAITS;

	spin_lock_bh(&chan->lock);
	/* @target of the channel has all that there was to tell. */
	if (heir->state == RCH_HEIR_TURN)
		ret = RCH_LENT_TURN;
	else if (heir->target.state == RCH_GRANT_RETURNED)
		ret = RCH_LENT_VOID;
	else if (heir->target.state == RCH_GRANT_DONE && heir->state == RCH_HEIR_WAITS)
		/* Those before have theirs. */
		ret = RCH_LENT_HERE;
	else if (chan->ends.peer_over)
		ret = RCH_LENT_VOID;
	else if (heir->state == RCH_HEIR_LOST)
		ret = RCH_LENT_LOST;
	spin_unlock_bh(&chan->lock);
	return ret;
}

/** rch_chan_heir_closed - whether the peer has closed that memory, and has told so */
bool rch_chan_heir_closed(struct rch_chan *chan, const struct rch_heir *heir)
{
	bool closed;

	spin_lock_bh(&chan->lock);
	closed = heir->target.closed;
	spin_unlock_bh(&chan->lock);
	return closed;
}

