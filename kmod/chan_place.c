// SPDX-License-Identifier: GPL-2.0
/*
 * chan_place.c - large messages from or to regions, without a thread that waits
 *
 * Operation. The same conversation as that of chan_rts.c and chan_cts.c: ask, write, FIN;
 * or open, FIN, close. But pages are pinned already, so no program is needed. A step is
 * taken when what the one before waits for has come. The transfer hears of that from the
 * wait queues of channel and path, where it is instead of a thread, and passes it on to who
 * has begun it, who calls rch_place_go_on(); its own work does so when nobody is left.
 * A message that nobody waits for goes in segments, as there is room for them.
 *
 * Ownership. The channel's direction is claimed by who begins, and given up by the
 * transfer when it is over; sending, as soon as the last bytes are on their way. It is
 * a user of the path (path_rdma.h) as long as anything is mapped or open, and holds what
 * keeps the channel's file and the region until its end. So when it is over no adapter
 * touches the pages any more.
 *
 * Memory that is open before anybody has asked for it is told of in chan_stand.c.
 *
 * Error handling. Sending can be stopped while nothing is being written; receiving cannot
 * once memory is open to the peer: the peer's module has all that it needs, and
 * finishes, or the link ends. What is only lent is asked back, and waited for. When nobody
 * wants a message any more that was received whole, it is lost, and the channel ends: it
 * must not leave one out.
 */
#include <linux/slab.h>

#include "chan.h"
#include "chan_place.h"
#include "error.h"
#include "inject.h"
#include "path_rdma.h"
#include "rch.h"
#include "region.h"

/* How many dead times a peer may take from one piece of all its messages to the next. */
#define FIN_DEADS 4
/* How many regions of a path may be lent: the others are for messages that are there. */
#define LENT_MAX (RCH_MRS / 2)

/* Have the work run. It has a reference while it is pending. */
static void kick(struct rch_place *place)
{
	kref_get(&place->ref);
	if (mod_delayed_work(rch_queue_wq, &place->work, 0))
		rch_place_put(place);
}

static void pass_on(struct rch_place *place)
{
	if (READ_ONCE(place->left_alone))
		kick(place);
	else
		wake_up_all(&place->wait);
}

/* Whether what the adapter was given last is waited for, and over. */
static bool io_settled(struct rch_place *place)
{
	smp_mb(); /* pairs with that of go_to() */
	switch (READ_ONCE(place->state)) {
	case RCH_PLACE_TURN:
	case RCH_PLACE_STUCK:
		return true;
	case RCH_PLACE_WRITING:
	case RCH_PLACE_HOLDING:
	case RCH_PLACE_WRITTEN:
		return rch_io_over(place->path, &place->write->io);
	case RCH_PLACE_OPENING:
	case RCH_PLACE_CLOSING:
		return rch_io_over(place->path, &place->mr->io);
	default:
		return false;
	}
}

/* The same of the peer. Without @events anything may have happened. */
static bool chan_settled(struct rch_place *place, __poll_t events)
{
	smp_mb(); /* pairs with that of go_to() */
	switch (READ_ONCE(place->state)) {
	case RCH_PLACE_ASKED:
		return !events || !READ_ONCE(place->chan->cts_due);
	case RCH_PLACE_HOLDING:
		return READ_ONCE(place->let_go) && !READ_ONCE(place->chan->lend_opens);
	case RCH_PLACE_OPEN:
		return rch_chan_grant_settled(place->chan);
	case RCH_PLACE_LENT:
		return rch_chan_lent_settled(place->chan, true);
	case RCH_PLACE_RECALL:
		return rch_chan_lent_settled(place->chan, false);
	case RCH_PLACE_STREAM:
		return !events || (events & EPOLLOUT);
	case RCH_PLACE_FAILING:
		return !events;
	default:
		return false;
	}
}

static int chan_woken(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	if (chan_settled(entry->private, key_to_poll(key)))
		pass_on(entry->private);
	return 0;
}

static int path_woken(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	if (io_settled(entry->private))
		pass_on(entry->private);
	return 0;
}

static void go_to(struct rch_place *place, enum rch_place_state state, unsigned long patience)
{
	lockdep_assert_held(&place->lock);
	WRITE_ONCE(place->state, state);
	/* Whoever wakes us after this sees it, or we see what has come. */
	smp_mb();
	place->deadline = patience ? (jiffies + patience) ?: 1 : 0;
	place->late = false;
}

/* Return: true once, when what is waited for is late. */
static bool just_late(struct rch_place *place)
{
	if (place->late || !place->deadline || time_before(jiffies, place->deadline))
		return false;
	place->late = true;
	place->deadline = 0;
	return true;
}

/* The adapter is late: give the path up. Return: false, for there is more to wait for. */
static bool not_yet(struct rch_place *place)
{
	if (just_late(place))
		rch_io_overdue(place->path);
	return false;
}

/* Have the adapter find the message by a key that there is. Return: whether it does. */
static bool map_by_key(struct rch_place *place)
{
	struct scatterlist *sg = &place->keyed;
	u64 address;

	place->key = rch_region_key(place->region, place->path, place->offset, place->rts.total,
				    &address);
	if (!place->key)
		return false;
	sg_init_table(sg, 1);
	sg_dma_address(sg) = address;
	sg_dma_len(sg) = place->rts.total;
	place->cursor = (struct rch_mem_cursor){
		.sg = sg, .left = 1, .lkey = place->key->piece->mr->lkey,
	};
	return true;
}

/* Have it found in a mapping that there is. */
static bool map_in_key(struct rch_place *place)
{
	place->key = rch_region_lend(place->region, place->path, place->offset,
				     place->rts.total, true, &place->cursor);
	return place->key;
}

static bool map_table(struct rch_place *place, enum dma_data_direction direction)
{
	struct ib_device *dev = place->path->dev;

	place->mem.direction = direction;
	if (rch_region_table(place->region, place->offset, place->rts.total,
			     rch_mem_segment_max(dev), &place->mem) ||
	    rch_mem_map_table(&place->mem, dev))
		return false;
	rch_mem_begin(&place->mem, &place->cursor);
	return true;
}

/* Become a user of the path, with the message mapped. Return: whether that went well. */
static bool map(struct rch_place *place, enum dma_data_direction direction)
{
	if (!rch_path_enter(place->path))
		return false;
	if (!(place->sending ? map_by_key(place) : map_in_key(place)) &&
	    !map_table(place, direction)) {
		rch_path_leave(place->path);
		return false;
	}
	add_wait_queue(&place->path->left, &place->path_entry);
	place->listed = true;
	place->mapped = true;
	return true;
}

static void unlist(struct rch_place *place)
{
	if (place->listed)
		remove_wait_queue(&place->path->left, &place->path_entry);
	place->listed = false;
}

/* No adapter has anything to do with the pages any more. */
static void unmap(struct rch_place *place)
{
	unlist(place);
	if (place->write)
		rch_write_put(place->path, place->write);
	place->write = NULL;
	if (!place->mapped)
		return;
	place->mapped = false;
	if (place->key)
		rch_key_release(place->key);
	else
		rch_mem_unmap(&place->mem);
	place->key = NULL;
	rch_path_leave(place->path);
}

/* Others may send, or receive. */
static void unclaim(struct rch_place *place)
{
	if (place->claimed)
		rch_chan_unclaim(place->chan, place->sending ? RCH_CHAN_TX : RCH_CHAN_RX);
	place->claimed = false;
}

/* The caller has a reference of his own. */
static void finish(struct rch_place *place, int result)
{
	lockdep_assert_held(&place->lock);
	unmap(place);
	remove_wait_queue(&place->chan->wait, &place->chan_entry);
	unclaim(place);
	place->result = result;
	WRITE_ONCE(place->state, RCH_PLACE_OVER);
	if (wq_has_sleeper(&place->wait))
		wake_up_all(&place->wait);
	if (cancel_delayed_work(&place->work))
		rch_place_put(place);
	rch_place_put(place);
}

/* Sending */

/* All of it is in the peer's hands, or on its way. */
static void sent(struct rch_place *place, bool placed)
{
	struct rch_chan *chan = place->chan;

	rch_chan_tx_done(chan, place->rts.total);
	atomic64_inc(&chan->tx_regions);
	atomic64_inc(&place->region->sent);
	if (placed) {
		chan->rts_penalty = 0;
		WRITE_ONCE(chan->tx_placed, chan->tx_placed + 1);
	}
}

/* If the peer has said no, it will ignore this. */
static void take_back(struct rch_place *place)
{
	u8 flags = RCH_RTS_F_CANCEL;

	if (place->stands) {
		rch_chan_borrow_end(place->chan, place->rts.serial);
		flags |= RCH_RTS_F_PLACED;
	}
	rch_lane_rts(&place->chan->lane, &place->rts, flags, false);
}

static void send_failed(struct rch_place *place, int ret)
{
	take_back(place);
	finish(place, rch_chan_tx_check(place->chan) ?: ret);
}

static void stream(struct rch_place *place)
{
	unmap(place);
	rch_region_iter(place->region, ITER_SOURCE, place->offset, place->rts.total,
			&place->iter);
	place->first = true;
	go_to(place, RCH_PLACE_STREAM, 0);
}

static bool step_asked(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	if (READ_ONCE(chan->cts_due) && !rch_chan_tx_refused(chan))
		return false;
	if (!rch_chan_cts_take(chan, &place->cts)) {
		send_failed(place, -EPIPE);
	} else if (place->cts.length) {
		go_to(place, RCH_PLACE_TURN, 0);
	} else {
		rch_chan_rts_refused(chan);
		take_back(place);
		stream(place);
	}
	return true;
}

/* The path has failed, and the channel will soon. */
static void write_failed(struct rch_place *place)
{
	rch_write_end(place->path);
	unmap(place);
	go_to(place, RCH_PLACE_FAILING, place->chan->lane.link->dead);
}

/* Behind the last write in the same queue. Return: what there is to be waited for. */
static enum rch_place_state send_fin(struct rch_place *place)
{
	struct rch_lane *lane = &place->chan->lane;
	/* The next message may ask for its way in the same frame. */
	bool hold = !place->left && place->by_owner;

	/* The answer may come at once. */
	if (place->left)
		rch_chan_cts_expect(place->chan);
	if (place->stands)
		place->fin = rch_lane_rts(lane, &place->rts, RCH_RTS_F_PLACED, hold);
	else
		place->fin = rch_lane_fin(lane, place->left, hold);
	if (place->left || place->fin)
		return RCH_PLACE_WRITING;
	sent(place, true);
	unclaim(place);
	return RCH_PLACE_WRITTEN;
}

/*
 * The adapter takes its time. Meanwhile the program may lend memory for the answer; a peer that
 * hears of that after FIN may have asked for it already.
 */
static bool holds_fin(const struct rch_place *place)
{
	return !place->left && place->by_owner && !rch_io_over(place->path, &place->write->io);
}

static void write_some(struct rch_place *place)
{
	enum rch_place_state state = RCH_PLACE_WRITING;
	u32 n;

	if (rch_write_some(place->path, place->write, &place->cursor, place->cts.addr,
			   place->cts.rkey, place->cts.length, &n)) {
		write_failed(place);
		return;
	}
	place->cts.addr += n;
	place->cts.length -= n;
	if (!place->cts.length)
		state = holds_fin(place) ? RCH_PLACE_HOLDING : send_fin(place);
	go_to(place, state, place->path->patience);
}

static bool step_turn(struct rch_place *place)
{
	if (!rch_write_try_begin(place->path))
		return false;
	/* Who has ended the channel meanwhile has closed that memory. */
	if (rch_chan_tx_refused(place->chan)) {
		rch_write_end(place->path);
		send_failed(place, -EPIPE);
		return true;
	}
	place->cts.length = min(place->cts.length, place->left);
	place->left -= place->cts.length;
	write_some(place);
	return true;
}

static bool step_writing(struct rch_place *place)
{
	if (!rch_io_over(place->path, &place->write->io))
		return not_yet(place);
	if (!rch_io_ok(&place->write->io)) {
		write_failed(place);
		return true;
	}
	if (place->cts.length) {
		write_some(place);
		return true;
	}
	rch_write_end(place->path);
	if (place->fin)
		send_failed(place, place->fin);
	else if (place->left_alone)
		send_failed(place, -ECANCELED);
	else
		go_to(place, RCH_PLACE_ASKED, 0);
	return true;
}

static bool step_holding(struct rch_place *place)
{
	bool over = rch_io_over(place->path, &place->write->io);

	if (!over && (!place->let_go || READ_ONCE(place->chan->lend_opens)))
		return not_yet(place);
	if (over && !rch_io_ok(&place->write->io))
		write_failed(place);
	else
		go_to(place, send_fin(place), place->path->patience);
	return true;
}

static bool step_written(struct rch_place *place)
{
	if (!rch_io_over(place->path, &place->write->io))
		return not_yet(place);
	if (!rch_io_ok(&place->write->io)) {
		write_failed(place);
		return true;
	}
	rch_write_end(place->path);
	finish(place, 0);
	return true;
}

static bool step_stream(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;
	int ret = rch_chan_tx_check(chan);

	if (!ret && !rch_lane_has_room(&chan->lane))
		return false;
	if (!ret)
		ret = rch_chan_tx_segment(chan, &place->iter, place->rts.total,
					  place->rts.msg_flags, place->first);
	if (ret) {
		if (!place->first)
			rch_chan_tx_abort(chan, place->rts.total);
		finish(place, rch_chan_tx_check(chan) ?: ret);
		return true;
	}
	place->first = false;
	if (!iov_iter_count(&place->iter)) {
		sent(place, false);
		finish(place, 0);
	}
	cond_resched();
	return true;
}

static bool step_failing(struct rch_place *place)
{
	if (!rch_chan_tx_refused(place->chan) && !just_late(place))
		return false;
	finish(place, rch_chan_tx_check(place->chan) ?: -ECONNRESET);
	return true;
}

static bool ask(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;
	u32 total = place->rts.total;

	if (!rch_chan_may_borrow(chan, total) && !rch_chan_rts_wanted(chan, total, true))
		return false;
	if (!map(place, DMA_TO_DEVICE))
		return false;
	place->write = rch_write_get(place->path);
	if (!place->write)
		return false;
	place->left = total;
	place->stands = rch_chan_borrow(chan, total, &place->cts);
	if (place->stands) {
		place->rts.serial = place->cts.serial;
		go_to(place, RCH_PLACE_TURN, 0);
	} else if (rch_chan_rts_ask(chan, &place->rts)) {
		send_failed(place, -EPIPE);
	} else {
		go_to(place, RCH_PLACE_ASKED, 0);
	}
	return true;
}

/* Receiving */

static void received(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	rch_chan_rx_done(chan, place->rts.total);
	rch_chan_lend_again(chan);
	WRITE_ONCE(chan->rx_placed, chan->rx_placed + 1);
	atomic64_inc(&chan->rx_regions);
	atomic64_inc(&place->region->received);
}

static void uncount(struct rch_place *place)
{
	if (place->counted)
		atomic_dec(&place->chan->lane.link->lent);
	place->counted = false;
}

/* It may come as DATA. Return: -EAGAIN */
static int no_message(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	if (!place->stands)
		return rch_chan_grant_refuse(chan, place->rts.serial);
	if (!place->begun)
		rch_chan_lend_result(chan, false);
	rch_chan_grant_end(chan);
	return -EAGAIN;
}

/* Nothing is open any more: the message is here, or may come in another way. */
static void recv_end(struct rch_place *place, bool closed)
{
	struct rch_chan *chan = place->chan;
	int ret = place->result;

	unlist(place);
	rch_mr_give_back(place->path, place->mr, closed);
	uncount(place);
	if (!ret && place->left_alone)
		ret = -EINTR;
	/* Ahead of the end of the grant: FIN may still come. */
	if (ret && ret != -ECANCELED && ret != -EAGAIN && place->begun)
		rch_chan_broken(chan, ret);
	if (ret == -EAGAIN || (ret && !place->begun))
		ret = no_message(place);
	else
		rch_chan_grant_end(chan);
	if (!ret)
		received(place);
	finish(place, ret == -ECANCELED ? -EAGAIN : ret);
}

/* Keep the peer out. @result: see recv_end(). */
static void recv_close(struct rch_place *place, int result)
{
	place->result = result;
	if (!place->mr->open)
		recv_end(place, true);
	else if (rch_mr_close_post(place->path, place->mr))
		go_to(place, RCH_PLACE_STUCK, 0);
	else
		go_to(place, RCH_PLACE_CLOSING, place->path->patience);
}

static void recv_open(struct rch_place *place)
{
	int ret = rch_mr_open_post(place->path, place->mr, &place->cursor, &place->wait_open);

	if (ret)
		recv_close(place, ret == -ENOTCONN ? -ECANCELED : ret);
	else
		go_to(place, RCH_PLACE_OPENING, place->path->patience);
}

/* Memory is open that the peer has not asked for. */
static void lend(struct rch_place *place)
{
	struct rch_chan *chan = place->chan;

	if (place->unwanted || !rch_chan_lend(chan, &place->cts)) {
		recv_close(place, -EAGAIN);
		return;
	}
	place->begun = true;
	go_to(place, RCH_PLACE_LENT, 0);
	/* What the program has to send may go in the same frame. */
	rch_lane_stand(&chan->lane, &place->cts, place->by_owner);
}

/* The same for a message that waits for it. */
static void grant(struct rch_place *place)
{
	struct rch_link *link = place->chan->lane.link;
	u32 left;

	rch_chan_grant_state(place->chan, &left);
	/* There may be room for more than the message. */
	place->cts.length = min(place->cts.length, left);
	place->cts.serial = place->rts.serial;
	place->cts.message = 0;
	if (!rch_chan_grant(place->chan, place->cts.length)) {
		recv_close(place, -ECANCELED);
		return;
	}
	place->begun = true;
	place->fins = READ_ONCE(link->fins);
	go_to(place, RCH_PLACE_OPEN, FIN_DEADS * link->dead);
	rch_lane_cts(&place->chan->lane, &place->cts);
}

/* So FIN of a message that goes the other way waits for what there will be to tell. */
static void lend_opens(struct rch_place *place, bool opens)
{
	struct rch_chan *chan = place->chan;

	if (READ_ONCE(chan->lend_opens) == opens)
		return;
	WRITE_ONCE(chan->lend_opens, opens);
	if (!opens)
		wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
}

static bool step_opening(struct rch_place *place)
{
	if (place->wait_open && !rch_io_over(place->path, &place->mr->io)) {
		lend_opens(place, place->stands);
		return not_yet(place);
	}
	lend_opens(place, false);
	place->cts.addr = place->mr->mr->iova;
	place->cts.rkey = place->mr->mr->rkey;
	place->cts.length = place->mr->mr->length;
	if (place->wait_open && !rch_io_ok(&place->mr->io))
		recv_close(place, -ECANCELED);
	else if (place->stands)
		lend(place);
	else
		grant(place);
	return true;
}

/* One who is silent about all messages for so long has broken the protocol. */
static void fin_late(struct rch_place *place)
{
	struct rch_link *link = place->chan->lane.link;
	u32 fins = READ_ONCE(link->fins);

	if (!just_late(place))
		return;
	if (fins == place->fins) {
		rch_link_kill_cause(link, RDMACHAN_OP_RECV, RDMACHAN_CAUSE_PROTOCOL,
				    RCH_RULE_ANSWER);
	} else {
		place->fins = fins;
		go_to(place, place->state, FIN_DEADS * link->dead);
	}
}

static bool step_open(struct rch_place *place)
{
	enum rch_grant grant;
	u32 left;

	if (!rch_chan_grant_settled(place->chan)) {
		fin_late(place);
		return false;
	}
	grant = rch_chan_grant_state(place->chan, &left);
	if (grant != RCH_GRANT_DONE)
		recv_close(place, -ECANCELED);
	else if (!left)
		recv_close(place, 0);
	else if (place->left_alone)
		recv_close(place, -EAGAIN);
	else
		recv_open(place);
	return true;
}

/* The peer asks, as it had not heard of what was lent, or that is too small. */
static void asked(struct rch_place *place, const struct rch_rts *offer)
{
	bool fits = offer->total <= place->rts.total;

	rch_chan_lend_result(place->chan, false);
	place->stands = false;
	place->rts = *offer;
	if (fits)
		grant(place);
	else
		recv_close(place, -EAGAIN);
}

static void lent_over(struct rch_place *place, enum rch_lent lent, const struct rch_rts *message)
{
	bool used = lent == RCH_LENT_USED;

	rch_chan_lend_result(place->chan, used);
	if (used)
		place->rts = *message;
	recv_close(place, used ? 0 : -EAGAIN);
}

/* Have the peer give back what it was lent. It answers, whatever it does with it. */
static void recall(struct rch_place *place)
{
	const struct rch_cts cts = { .serial = place->cts.serial };
	struct rch_link *link = place->chan->lane.link;

	place->fins = READ_ONCE(link->fins);
	go_to(place, RCH_PLACE_RECALL, FIN_DEADS * link->dead);
	rch_lane_stand(&place->chan->lane, &cts, false);
}

static bool step_lent(struct rch_place *place)
{
	struct rch_rts message;
	enum rch_lent lent = rch_chan_lent(place->chan, true, &message);

	switch (lent) {
	case RCH_LENT_WAITS:
		return false;
	case RCH_LENT_ASKED:
		asked(place, &message);
		return true;
	case RCH_LENT_SHUT:
		recall(place);
		return true;
	default:
		lent_over(place, lent, &message);
		return true;
	}
}

static bool step_recall(struct rch_place *place)
{
	struct rch_rts message;
	enum rch_lent lent = rch_chan_lent(place->chan, false, &message);

	if (lent == RCH_LENT_WAITS) {
		fin_late(place);
		return false;
	}
	lent_over(place, lent, &message);
	return true;
}

static bool step_closing(struct rch_place *place)
{
	if (!rch_io_over(place->path, &place->mr->io))
		return not_yet(place);
	if (rch_io_ok(&place->mr->io))
		recv_end(place, true);
	else
		go_to(place, RCH_PLACE_STUCK, 0);
	return true;
}

static bool step_stuck(struct rch_place *place)
{
	if (!completion_done(&place->path->drained))
		return false;
	recv_end(place, false);
	return true;
}

/* Steps */

/* Return: whether something has happened, so that another step may be possible. */
static bool (*const steps[])(struct rch_place *place) = {
	[RCH_PLACE_ASKED] = step_asked,
	[RCH_PLACE_TURN] = step_turn,
	[RCH_PLACE_WRITING] = step_writing,
	[RCH_PLACE_HOLDING] = step_holding,
	[RCH_PLACE_WRITTEN] = step_written,
	[RCH_PLACE_STREAM] = step_stream,
	[RCH_PLACE_FAILING] = step_failing,
	[RCH_PLACE_OPENING] = step_opening,
	[RCH_PLACE_OPEN] = step_open,
	[RCH_PLACE_LENT] = step_lent,
	[RCH_PLACE_RECALL] = step_recall,
	[RCH_PLACE_CLOSING] = step_closing,
	[RCH_PLACE_STUCK] = step_stuck,
};

/* Have the work look when what is waited for is late. */
static void watch(struct rch_place *place)
{
	long left = place->deadline - jiffies;

	lockdep_assert_held(&place->lock);
	if (place->state == RCH_PLACE_OVER || !place->deadline)
		return;
	kref_get(&place->ref);
	/* If it is pending already, it will look, and come here again. */
	if (!queue_delayed_work(rch_queue_wq, &place->work, max(left, 0L) + 1))
		rch_place_put(place);
}

static void go_on(struct rch_place *place)
{
	lockdep_assert_held(&place->lock);
	while (place->state != RCH_PLACE_OVER && steps[place->state](place))
		;
	watch(place);
}

static void go_on_by_owner(struct rch_place *place)
{
	place->by_owner = true;
	go_on(place);
	place->by_owner = false;
}

static void place_work(struct work_struct *work)
{
	struct rch_place *place = container_of(to_delayed_work(work), struct rch_place, work);

	mutex_lock(&place->lock);
	go_on(place);
	mutex_unlock(&place->lock);
	rch_place_put(place);
}

/**
 * rch_place_go_on - take the steps that are possible now
 * @place: transfer
 *
 * For who has begun it, when @place->wait was woken. rch_link_run() must be called soon.
 * Return: whether it is over.
 */
bool rch_place_go_on(struct rch_place *place)
{
	mutex_lock(&place->lock);
	go_on_by_owner(place);
	mutex_unlock(&place->lock);
	return rch_place_over(place);
}

/**
 * rch_place_let_go - the program has said all that it had to say, for now
 * @place: transfer that rch_place_holds()
 *
 * For who has begun it. rch_link_run() must be called soon.
 */
void rch_place_let_go(struct rch_place *place)
{
	mutex_lock(&place->lock);
	WRITE_ONCE(place->let_go, true);
	go_on_by_owner(place);
	mutex_unlock(&place->lock);
}

/**
 * rch_place_alloc - make a transfer, which is not begun
 * @chan: channel
 * @region: where the message lies, or shall; used by the transfer as well, from now on
 * @offset: of its first byte there
 * @keep: keeps the channel open
 * @drop: gives @keep back, in process context
 *
 * Return: it, or NULL; then nothing was taken.
 */
struct rch_place *rch_place_alloc(struct rch_chan *chan, struct rch_region *region,
				  u64 offset, void *keep, void (*drop)(void *keep))
{
	struct rch_place *place = rch_try(RCH_SITE_PLACE,
					  kzalloc(sizeof(*place), GFP_KERNEL_ACCOUNT));

	if (!place)
		return NULL;
	kref_init(&place->ref);
	mutex_init(&place->lock);
	INIT_DELAYED_WORK(&place->work, place_work);
	init_waitqueue_head(&place->wait);
	init_waitqueue_func_entry(&place->chan_entry, chan_woken);
	init_waitqueue_func_entry(&place->path_entry, path_woken);
	place->chan_entry.private = place;
	place->path_entry.private = place;
	place->chan = chan;
	place->path = &chan->lane.link->path;
	place->offset = offset;
	place->region = region;
	rch_region_use_more(region);
	place->keep = keep;
	place->drop = drop;
	return place;
}

static void begin(struct rch_place *place)
{
	kref_get(&place->ref);
	place->claimed = true;
	add_wait_queue(&place->chan->wait, &place->chan_entry);
}

/**
 * rch_place_send - begin to send
 * @place: transfer
 * @length: bytes of the message, in the region
 * @msg_flags: its flags
 *
 * The caller has claimed RCH_CHAN_TX, which is the transfer's from now on. rch_link_run()
 * must be called soon.
 */
void rch_place_send(struct rch_place *place, u32 length, u16 msg_flags)
{
	place->sending = true;
	place->rts.total = length;
	place->rts.msg_flags = msg_flags;
	mutex_lock(&place->lock);
	begin(place);
	if (!ask(place))
		stream(place);
	go_on_by_owner(place);
	mutex_unlock(&place->lock);
}

/**
 * rch_place_recv - begin to receive what was offered
 * @place: transfer
 * @offer: the message, taken
 * @room: bytes that there are for it
 *
 * The caller has claimed RCH_CHAN_RX, which is the transfer's from now on.
 */
void rch_place_recv(struct rch_place *place, const struct rch_rts *offer, u64 room)
{
	place->rts = *offer;
	mutex_lock(&place->lock);
	begin(place);
	if (offer->total <= room && map(place, DMA_FROM_DEVICE))
		place->mr = rch_mr_get(place->path);
	if (place->mr)
		recv_open(place);
	else
		finish(place, rch_chan_grant_refuse(place->chan, offer->serial));
	go_on(place);
	mutex_unlock(&place->lock);
}

/**
 * rch_place_lend - begin to receive a message that may come
 * @place: transfer
 * @room: bytes that there are for it
 *
 * The caller has claimed RCH_CHAN_RX, which is the transfer's from now on. The result is
 * -EAGAIN when there is none, or it comes in another way. rch_link_run() must be called
 * soon.
 */
void rch_place_lend(struct rch_place *place, u32 room)
{
	struct rch_link *link = place->chan->lane.link;

	place->stands = true;
	place->rts.total = room;
	mutex_lock(&place->lock);
	begin(place);
	place->counted = atomic_add_unless(&link->lent, 1, LENT_MAX);
	if (place->counted && map(place, DMA_FROM_DEVICE))
		place->mr = rch_mr_get(place->path);
	if (place->mr) {
		recv_open(place);
	} else {
		rch_chan_lend_result(place->chan, false);
		uncount(place);
		finish(place, -EAGAIN);
	}
	go_on_by_owner(place);
	mutex_unlock(&place->lock);
}

static bool stop_locked(struct rch_place *place)
{
	lockdep_assert_held(&place->lock);
	switch (place->state) {
	case RCH_PLACE_ASKED:
	case RCH_PLACE_TURN:
		take_back(place);
		break;
	case RCH_PLACE_STREAM:
		if (!place->first)
			rch_chan_tx_abort(place->chan, place->rts.total);
		break;
	case RCH_PLACE_FAILING:
		break;
	case RCH_PLACE_OPENING:
		place->unwanted = true;
		return false;
	case RCH_PLACE_LENT:
		recall(place);
		watch(place);
		return false;
	case RCH_PLACE_OVER:
		return place->result == -EAGAIN;
	default:
		return false;
	}
	finish(place, -ECANCELED);
	return true;
}

/**
 * rch_place_stop - end a transfer early
 * @place: transfer
 *
 * Return: whether it is over, and has had no effect. If not it will be over by itself.
 */
bool rch_place_stop(struct rch_place *place)
{
	bool stopped;

	mutex_lock(&place->lock);
	stopped = stop_locked(place);
	mutex_unlock(&place->lock);
	return stopped;
}

/**
 * rch_place_leave - nobody wants the transfer any more
 * @place: transfer; the caller's reference is consumed
 */
void rch_place_leave(struct rch_place *place)
{
	mutex_lock(&place->lock);
	if (!stop_locked(place) && place->state != RCH_PLACE_OVER) {
		WRITE_ONCE(place->left_alone, true);
		WRITE_ONCE(place->let_go, true);
		kick(place);
	}
	/* It was received, and nobody was told. */
	if (place->state == RCH_PLACE_OVER && !place->sending && !place->result)
		rch_chan_broken(place->chan, -EINTR);
	mutex_unlock(&place->lock);
	rch_place_put(place);
}

static void place_free(struct kref *ref)
{
	struct rch_place *place = container_of(ref, struct rch_place, ref);

	rch_region_unuse(place->region);
	place->drop(place->keep);
	kfree(place);
}

/** rch_place_put - drop a reference */
void rch_place_put(struct rch_place *place)
{
	kref_put(&place->ref, place_free);
}
