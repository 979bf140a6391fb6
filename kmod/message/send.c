// SPDX-License-Identifier: GPL-2.0
/*
 * send.c - sends a message, by the way that is right for it
 *
 * A small message goes straight into the link's frame. A large one of a thread that may wait is
 * written to where it is wanted, if that is possible (rndv/). Any other is cut into segments
 * (chan_tx.c). While a channel is being connected its program may have asked that messages go all
 * the same (chan_early.c).
 *
 * Error handling. Until the first segment is queued, nothing has happened. If a later
 * one cannot be made (bad memory, a signal, the timeout), an ABORT segment makes the
 * peer throw away what came: a message is delivered whole or not at all.
 */
#include <linux/uio.h>

#include "channel/chan.h"
#include "message/message.h"
#include "rndv/rndv.h"

static int rch_send_cut(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			bool nonblock, unsigned long deadline)
{
	u32 total = iov_iter_count(from);
	bool first = true;
	int ret = 0;

	do {
		/*
		 * A message that does not block was checked to fit as a whole. But the send buffer
		 * may have become smaller meanwhile, and its former size is not charged any more.
		 */
		if (!first && nonblock)
			ret = rch_chan_tx_check(chan) ?: rch_chan_tx_sizes(chan, total, true);
		else if (!first)
			ret = rch_chan_tx_wait(chan, deadline);
		if (!ret)
			ret = rch_chan_tx_segment(chan, from, total, msg_flags, first);
		if (ret)
			break;
		first = false;
	} while (iov_iter_count(from));
	if (!ret || first)
		return ret == -EPIPE ? rch_chan_tx_check(chan) ?: ret : ret;
	rch_chan_tx_abort(chan, total);
	if (ret == -EPIPE)
		return rch_chan_tx_check(chan) ?: ret;
	/* After a handler the program would not know what a restart sends. */
	return ret == -ERESTARTSYS ? -ERESTARTNOHAND : ret;
}

static int rch_send_segments(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			     bool nonblock, unsigned long deadline)
{
	int ret = nonblock ? rch_chan_tx_keep(chan, iov_iter_count(from)) : 0;

	if (ret)
		return ret;
	ret = rch_send_cut(chan, from, msg_flags, nonblock, deadline);
	rch_chan_tx_keep_end(chan);
	return ret;
}

/* Whether a message may begin; with RCH_MSG_TELL it gets its number. */
static int rch_send_check(struct rch_chan *chan, size_t len, u32 msg_flags, bool nonblock,
			  u64 *number)
{
	int ret = rch_chan_tx_check(chan) ?: rch_chan_tx_sizes(chan, len, nonblock);

	if (ret || likely(!(msg_flags & RCH_MSG_TELL)))
		return ret;
	*number = rch_chan_taken_ask(chan);
	return 0;
}

/* Send a message that is copied. */
static int rch_send_copied(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			   bool nonblock, bool more, unsigned long deadline)
{
	size_t len = iov_iter_count(from);
	int ret = 0;

	if (len > RCH_SMALL_MAX || rch_lane_send_small(&chan->lane, from, len, msg_flags, more))
		ret = rch_send_segments(chan, from, msg_flags, nonblock, deadline);
	if (!ret)
		rch_chan_tx_done(chan, len);
	return ret;
}

/* As rch_chan_send(), and with RCH_MSG_TELL as rch_chan_send_asking(). */
static int rch_send_message(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			    bool nonblock, unsigned long deadline, u64 *number)
{
	size_t len = iov_iter_count(from);
	int ret;

	if (len > RDMACHAN_MESSAGE_MAX)
		return rch_chan_tx_too_large(chan, RDMACHAN_CAUSE_MESSAGE_SIZE,
					     RDMACHAN_MESSAGE_MAX);
	ret = rch_chan_send_early(chan, from, msg_flags, nonblock, deadline, number);
	if (ret != -EAGAIN)
		return ret;
	ret = rch_chan_claim(chan, RCH_CHAN_TX, rch_chan_tx_settled, nonblock, deadline);
	if (ret)
		return ret;
	ret = rch_send_check(chan, len, msg_flags, nonblock, number);
	if (!ret && !nonblock && len > RCH_SMALL_MAX) {
		ret = rch_chan_send_placed(chan, from, msg_flags, deadline);
		if (ret != -EAGAIN)
			return ret;
		ret = 0;
	}
	if (!ret)
		ret = rch_send_copied(chan, from, msg_flags, nonblock, false, deadline);
	rch_chan_unclaim(chan, RCH_CHAN_TX);
	return ret;
}

/**
 * rch_chan_send - send a message
 * @chan: channel
 * @from: the message
 * @msg_flags: message flags
 * @nonblock: do not wait
 * @deadline: how long to wait, as of rch_deadline()
 *
 * Context: process.
 * Return: 0 when the whole message is accepted; or an error, and nothing of it will be
 * delivered.
 */
int rch_chan_send(struct rch_chan *chan, struct iov_iter *from, u16 msg_flags,
		  bool nonblock, unsigned long deadline)
{
	return rch_send_message(chan, from, msg_flags, nonblock, deadline, NULL);
}

/**
 * rch_chan_send_asking - the same, by a caller that waits, of a message that asks
 * @chan: channel
 * @from: the message
 * @msg_flags: message flags
 * @deadline: how long to wait, as of rch_deadline()
 * @number: of the message, if it is accepted, for rch_chan_taken_wait()
 *
 * Context: process. Return: as rch_chan_send().
 */
int rch_chan_send_asking(struct rch_chan *chan, struct iov_iter *from, u16 msg_flags,
			 unsigned long deadline, u64 *number)
{
	return rch_send_message(chan, from, msg_flags | RCH_MSG_TELL, false, deadline, number);
}

/**
 * rch_chan_send_more - the same without waiting, when others follow at once
 * @chan: channel
 * @from: the message
 * @msg_flags: message flags, and RCH_MSG_TELL
 * @number: with that: of the message, if it is accepted
 *
 * A small message may wait in the link's open frame for rch_link_run(), which the caller
 * must see to; or for what anybody sends on the link. So messages share a frame, although
 * the link is idle.
 *
 * Context: process. Return: as rch_chan_send(), or rch_chan_send_asking().
 */
int rch_chan_send_more(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags, u64 *number)
{
	size_t len = iov_iter_count(from);
	int ret;

	if (len > RDMACHAN_MESSAGE_MAX)
		return rch_chan_tx_too_large(chan, RDMACHAN_CAUSE_MESSAGE_SIZE,
					     RDMACHAN_MESSAGE_MAX);
	ret = rch_chan_claim(chan, RCH_CHAN_TX, rch_chan_tx_settled, true, 0);
	if (ret)
		return ret;
	ret = rch_send_check(chan, len, msg_flags, true, number) ?:
	      rch_send_copied(chan, from, msg_flags, true, true, 0);
	rch_chan_unclaim(chan, RCH_CHAN_TX);
	return ret;
}
