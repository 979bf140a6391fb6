// SPDX-License-Identifier: GPL-2.0
/*
 * chan_connect.c - opens a channel to a service
 *
 * With a link at hand, opening costs one record and its answer. Else the link is made
 * first. rch_chan_connect() tries RCH_CONNECT_TRIES times at most, until the deadline, a signal, or
 * the channel's close. Four things lead to another try: the link ended before the peer answered (it
 * was idle, or made for a service that nobody listens for); the service belongs to another trust
 * domain, which the peer names; the peer was restarted; the link failed, and was not made for this
 * channel. connect_link() tries a smaller MTU.
 *
 * Giving up. When the program gives up while the peer's answer is still to come, the
 * lane stays attached without a file. ACCEPT is then answered by CLOSE, REJECT ends the
 * lane; either drops its reference.
 */
#include <linux/sched/signal.h>

#include "base/error.h"
#include "base/rch.h"
#include "channel/chan.h"

#define RCH_CONNECT_TRIES 8

static void note_timeout(struct rch_chan *chan, u32 op)
{
	rch_chan_note(chan, op, RDMACHAN_CAUSE_TIMEOUT, 0);
}

/* Whether what ended @link is no reason to give up. */
static bool worth_retry(struct rch_chan *chan, struct rch_link *link, u32 cause)
{
	switch (cause) {
	case RDMACHAN_CAUSE_DISCONNECTED:
	case RDMACHAN_CAUSE_PEER_RESTARTED:
		return true;
	case RDMACHAN_CAUSE_NO_SERVICE:
	case RDMACHAN_CAUSE_BACKLOG:
		return link->opening.service != chan->service;
	case RDMACHAN_CAUSE_TRANSPORT:
	case RDMACHAN_CAUSE_PORT_DOWN:
	case RDMACHAN_CAUSE_MTU:
	case RDMACHAN_CAUSE_OWN_ADDRESS:
	case RDMACHAN_CAUSE_NEIGHBOUR:
	case RDMACHAN_CAUSE_TIMEOUT:
		/* The link was there before; or it was begun by one who was less patient. */
		return link->opening.deadline != chan->opening.deadline;
	default:
		return false;
	}
}

static bool link_settled(struct rch_chan *chan, struct rch_link *link)
{
	enum rch_link_state state = READ_ONCE(link->state);

	return state == RCH_LINK_UP || state == RCH_LINK_DEAD || READ_ONCE(chan->ends.released);
}

/* Whoever closes the channel meanwhile finds the link whose waiters to wake. */
static void await(struct rch_chan *chan, struct rch_link *link)
{
	spin_lock_bh(&chan->lock);
	chan->opening.awaits = link;
	spin_unlock_bh(&chan->lock);
}

static bool chan_settled(struct rch_chan *chan)
{
	return READ_ONCE(chan->state) != RCH_CHAN_CONNECTING || READ_ONCE(chan->opening.retry);
}

/* Wait until the link is up. Return: 0, -EAGAIN to try again, or an error. */
static int wait_link(struct rch_chan *chan, struct rch_link *link)
{
	struct rdmachan_error error;
	long wait;

	await(chan, link);
	wait = wait_event_interruptible_timeout(link->wait, link_settled(chan, link),
						rch_time_left(chan->opening.deadline));
	await(chan, NULL);
	if (READ_ONCE(chan->ends.released))
		return -ECANCELED;
	if (wait < 0)
		return -ERESTARTSYS;
	if (!wait) {
		note_timeout(chan, RDMACHAN_OP_CONNECT);
		return -ETIMEDOUT;
	}
	if (READ_ONCE(link->state) == RCH_LINK_UP)
		return 0;
	spin_lock_bh(&link->lock);
	error = link->error;
	spin_unlock_bh(&link->lock);
	spin_lock_bh(&chan->lock);
	chan->error = error;
	chan->error.size = sizeof(chan->error);
	chan->error.service = chan->service;
	spin_unlock_bh(&chan->lock);
	return worth_retry(chan, link, error.cause) ? -EAGAIN : -(int)error.error;
}

/* The lane was on another link before; nobody looks at it any more after this. */
static void renew_lane(struct rch_chan *chan)
{
	struct rch_open open = chan->lane.open;
	struct rch_link *link = chan->lane.link;

	if (!link)
		return;
	synchronize_rcu();
	spin_lock_bh(&chan->lock);
	chan->lane.link = NULL;
	spin_unlock_bh(&chan->lock);
	rch_link_put(link);
	rch_lane_init(&chan->lane, chan->tuning.send_buffer);
	chan->lane.open = open;
}

/* Ask the peer. Return: 0 when open, -EAGAIN to try again, or an error. */
static int open_on(struct rch_chan *chan, struct rch_link *link, u32 *domain)
{
	bool retry, given_up;
	long wait;
	int ret;

	renew_lane(chan);
	spin_lock_bh(&chan->lock);
	chan->opening.retry = false;
	spin_unlock_bh(&chan->lock);
	kref_get(&chan->ref);
	ret = rch_lane_attach(&chan->lane, link, GFP_KERNEL);
	if (ret) {
		rch_chan_put(chan);
		return ret == -ENOTCONN ? -EAGAIN : ret;
	}
	rch_lane_open(&chan->lane);
	wait = wait_event_interruptible_timeout(chan->wait, chan_settled(chan),
						rch_time_left(chan->opening.deadline));
	spin_lock_bh(&chan->lock);
	retry = chan->opening.retry;
	*domain = chan->opening.domain;
	ret = chan->state == RCH_CHAN_FAILED ? -(int)chan->error.error : 0;
	if (chan->state == RCH_CHAN_CONNECTING && !retry)
		ret = wait < 0 ? -ERESTARTSYS : -ETIMEDOUT;
	/* One that was opened, and closed at once, may linger. */
	given_up = chan->state == RCH_CHAN_DEAD || ret == -ERESTARTSYS || ret == -ETIMEDOUT;
	spin_unlock_bh(&chan->lock);
	if (retry)
		return -EAGAIN;
	if (given_up)
		rch_chan_await_answer(chan);
	if (ret == -ETIMEDOUT && !wait)
		note_timeout(chan, RDMACHAN_OP_OPEN);
	return ret;
}

static int connect_once(struct rch_chan *chan, u32 *domain)
{
	struct rch_link *link;
	int ret;

	if (READ_ONCE(chan->ends.released))
		return -ECANCELED;
	link = rch_link_get(chan->net, chan->object.uid, &chan->peer, *domain,
			    chan->service, chan->opening.deadline);
	if (!link)
		return -ENOMEM;
	ret = wait_link(chan, link);
	if (!ret)
		ret = open_on(chan, link, domain);
	rch_link_put(link);
	return ret;
}

/**
 * rch_chan_connect - connect, and wait for it
 * @chan: channel with @peer and @deadline set, which nobody else knows or which is
 *	connected only here
 *
 * Context: process. Return: 0, -ERESTARTSYS, -ENOMEM, or the errno of the error record.
 */
int rch_chan_connect(struct rch_chan *chan)
{
	u32 domain = RCH_DOMAIN_ANY;
	int ret, tries = 0;

	do {
		ret = connect_once(chan, &domain);
	} while (ret == -EAGAIN && ++tries < RCH_CONNECT_TRIES &&
		 rch_time_left(chan->opening.deadline) && !signal_pending(current));
	if (ret == -EAGAIN) {
		if (signal_pending(current))
			return -ERESTARTSYS;
		ret = -ETIMEDOUT;
		if (rch_time_left(chan->opening.deadline))
			ret = -(int)(chan->error.error ?: ECONNRESET);
		else
			note_timeout(chan, RDMACHAN_OP_CONNECT);
	}
	return ret;
}

/** rch_chan_connect_work - connect for a program that does not wait */
void rch_chan_connect_work(struct work_struct *work)
{
	struct rch_chan *chan = container_of(work, struct rch_chan, opening.work);
	struct rdmachan_error error;
	int ret = rch_chan_connect(chan);

	if (ret) {
		rch_chan_error_get(chan, &error);
		if (!error.error)
			rch_error_set(&error, RDMACHAN_OP_CONNECT,
				      RDMACHAN_CAUSE_RESOURCES, -ret);
		rch_chan_fail(chan, &error);
		/* ACCEPT may have come in the last moment. */
		if (chan->lane.link)
			rch_lane_reset(&chan->lane, RDMACHAN_CAUSE_PEER_RESET, 0);
	}
	put_net(chan->net);
	rch_chan_put(chan);
}

/** rch_chan_connect_start - have the channel connected in the background */
void rch_chan_connect_start(struct rch_chan *chan)
{
	kref_get(&chan->ref);
	get_net(chan->net);
	queue_work(rch_open_wq, &chan->opening.work);
}
