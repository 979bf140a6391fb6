// SPDX-License-Identifier: GPL-2.0
/*
 * chan_tune.c - sizes and times of a channel: before it is made, and while it is open
 *
 * Operation. A program may change the buffers and the linger time of an open channel. The largest
 * message that is received cannot change: the peer was told of it when the channel was opened, and
 * has taken messages from its program on the strength of that.
 *
 * What is charged. A buffer that grows is charged first. The user's own program asks for it, so it
 * is of the user's own share, also on a channel that a peer has opened. A buffer that becomes
 * smaller loses none of its bytes. So its charge goes down only as these bytes come to fit; in a
 * receive buffer the bytes that the peer may still send count with them. A program cannot have the
 * kernel hold more than it pays for, however often it changes its mind.
 *
 * Locks. @tune_lock lets one thread at a time change them; the locks of the channel and of its link
 * are taken inside. A channel that is being connected is refused: its lane may be made anew.
 */
#include "base/rch.h"
#include "channel/chan.h"

static bool chan_tune_out_of_range(u32 value, u32 min, u32 max)
{
	return value && (value < min || value > max);
}

/* 0 is no wish. */
static bool chan_tune_buffers_ok(u32 send_buffer, u32 recv_buffer)
{
	return !chan_tune_out_of_range(send_buffer, RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MAX) &&
	       !chan_tune_out_of_range(recv_buffer, RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MAX);
}

/**
 * rch_chan_tune - check what a program wishes, and fill in defaults
 * @tuning: wishes, in and out
 *
 * Return: 0 or -EINVAL.
 */
int rch_chan_tune(struct rdmachan_tuning *tuning)
{
	if (!chan_tune_buffers_ok(tuning->send_buffer, tuning->recv_buffer) ||
	    chan_tune_out_of_range(tuning->message_max, 1, RDMACHAN_MESSAGE_MAX))
		return -EINVAL;
	if (!tuning->send_buffer)
		tuning->send_buffer = READ_ONCE(rch_buffer);
	if (!tuning->recv_buffer)
		tuning->recv_buffer = READ_ONCE(rch_buffer);
	if (!tuning->message_max)
		tuning->message_max = READ_ONCE(rch_message_max);
	if (!tuning->linger_ms)
		tuning->linger_ms = READ_ONCE(rch_linger_ms);
	return 0;
}

/* Return: 0; or -ENOTCONN: it is being connected, or has failed. Else its link stays. */
static int chan_tune_allowed(struct rch_chan *chan)
{
	enum rch_chan_state state;

	spin_lock_bh(&chan->lock);
	state = chan->state;
	spin_unlock_bh(&chan->lock);
	return state == RCH_CHAN_OPEN || state == RCH_CHAN_PEER_CLOSED ? 0 : -ENOTCONN;
}

/* Both, or none. */
static int chan_tune_buffers(struct rch_chan *chan, u32 send_buffer, u32 recv_buffer,
			     struct rdmachan_error *error)
{
	u32 was = chan->tuning.recv_buffer;
	const struct rch_cost growth = {
		.of[RDMACHAN_LIMIT_BYTES] = recv_buffer > was ? recv_buffer - was : 0,
	};
	int ret;

	lockdep_assert_held(&chan->tune_lock);
	ret = rch_charge_own(&chan->charge, &growth, RDMACHAN_OP_TUNE, error);
	if (ret)
		return ret;
	ret = rch_chan_tx_resize(chan, send_buffer, error);
	if (ret) {
		rch_charge_give(&chan->charge, RDMACHAN_LIMIT_BYTES,
				growth.of[RDMACHAN_LIMIT_BYTES]);
		return ret;
	}
	rch_chan_rx_resize(chan, recv_buffer);
	return 0;
}

/**
 * rch_chan_retune - change sizes and times of an open channel
 * @chan: channel with a file, which the caller keeps
 * @tune: wishes; 0 leaves a member as it is
 * @error: which limit it was, with -ENOBUFS and -ENOSPC
 *
 * Context: process; waits for nobody but another such call. Return: 0, -EINVAL, -ENOTCONN, -ENOBUFS
 * or -ENOSPC; after an error nothing has changed.
 */
int rch_chan_retune(struct rch_chan *chan, const struct rdmachan_tune_args *tune,
		    struct rdmachan_error *error)
{
	struct rdmachan_tuning *tuning = &chan->tuning;
	int ret;

	if (!chan_tune_buffers_ok(tune->send_buffer, tune->recv_buffer))
		return -EINVAL;
	mutex_lock(&chan->tune_lock);
	ret = chan_tune_allowed(chan);
	if (ret)
		goto out;
	error->service = chan->service;
	rch_link_where(chan->lane.link, error);
	ret = chan_tune_buffers(chan, tune->send_buffer ?: tuning->send_buffer,
				tune->recv_buffer ?: tuning->recv_buffer, error);
	/* The file is open: nobody lingers yet. */
	if (!ret && tune->linger_ms)
		WRITE_ONCE(tuning->linger_ms, tune->linger_ms);
out:
	mutex_unlock(&chan->tune_lock);
	return ret;
}
