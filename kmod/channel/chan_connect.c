// SPDX-License-Identifier: GPL-2.0
/*
 * chan_connect.c - opens a channel to a service
 *
 * With a link at hand, opening costs one record and its answer. Else the link is made
 * first. Connecting is a sequence of steps, &enum rch_opening_step. The thread that calls
 * rch_chan_connect() takes them, and waits between them. For a program that does not wait
 * opening.work takes them; it does not wait either, but is queued when the link or the channel
 * changes, when the channel is closed, and at the deadline.
 *
 * A link is looked for RCH_CONNECT_TRIES times at most, until the deadline, a signal, or
 * the channel's close. Four things lead to another try. The link ended before the peer answered (it
 * was idle, or made for a service that nobody listens for). The service belongs to another trust
 * domain, which the peer names. The peer was restarted. The link failed, and was not made for this
 * channel. link_connect.c tries a smaller MTU.
 *
 * Giving up. When the program gives up while the peer's answer is still to come, the
 * lane stays attached without a file. ACCEPT is then answered by CLOSE, REJECT ends the
 * lane; either drops its reference. A program that has closed the channel gives up, unless it has
 * sent messages: see chan_early.c.
 */
#include <linux/sched/signal.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"

#define RCH_CONNECT_TRIES 8

static void chan_connect_note(struct rch_chan *chan, u32 op, u32 cause)
{
	struct rdmachan_error error;

	rch_chan_note(chan, op, cause, 0);
	rch_chan_error_get(chan, &error);
	/* Another call may have failed meanwhile. */
	if (error.cause != cause)
		rch_error_set(&error, op, cause, 0);
	spin_lock_bh(&chan->lock);
	chan->opening->error = error;
	spin_unlock_bh(&chan->lock);
}

/* Whether what ended @link is no reason to give up. */
static bool chan_connect_worth_retry(struct rch_chan *chan, struct rch_link *link, u32 cause)
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
		return link->opening.deadline != chan->opening->deadline;
	default:
		return false;
	}
}

/* Whether connecting can go on: the event that it waits for has come, or it is too late. */
static bool chan_connect_ready(struct rch_chan *chan)
{
	enum rch_link_state state;

	if (rch_chan_given_up(chan) || !rch_time_left(READ_ONCE(chan->opening->deadline)))
		return true;
	switch (chan->opening->step) {
	case RCH_OPENING_FIND:
		return true;
	case RCH_OPENING_LINK:
		state = READ_ONCE(chan->opening->link->state);
		return state == RCH_LINK_UP || state == RCH_LINK_DEAD;
	default:
		return READ_ONCE(chan->state) != RCH_CHAN_CONNECTING ||
		       READ_ONCE(chan->opening->retry);
	}
}

static int chan_connect_link_woken(wait_queue_entry_t *entry, unsigned int mode, int sync,
				   void *key)
{
	struct rch_chan_opening *opening = container_of(entry, struct rch_chan_opening, link_entry);

	mod_delayed_work(rch_open_wq, &opening->work, 0);
	return 0;
}

static int chan_connect_answer_woken(wait_queue_entry_t *entry, unsigned int mode, int sync,
				     void *key)
{
	struct rch_chan_opening *opening = container_of(entry, struct rch_chan_opening, chan_entry);

	mod_delayed_work(rch_open_wq, &opening->work, 0);
	return 0;
}

/*
 * A step returns -EINPROGRESS when chan_connect_ready() is to be asked again, or how it all ends.
 */

static void chan_connect_record(struct rch_chan *chan, const struct rdmachan_error *error)
{
	spin_lock_bh(&chan->lock);
	chan->error = *error;
	chan->error.size = sizeof(chan->error);
	chan->error.service = chan->service;
	chan->opening->error = chan->error;
	spin_unlock_bh(&chan->lock);
}

/* @link has ended. Return: why. */
static u32 chan_connect_record_link(struct rch_chan *chan, struct rch_link *link)
{
	struct rdmachan_error error;

	spin_lock_bh(&link->lock);
	error = link->error;
	spin_unlock_bh(&link->lock);
	chan_connect_record(chan, &error);
	return error.cause;
}

/* Return: the errno of the last try */
static int chan_connect_errno(struct rch_chan *chan)
{
	u32 error;

	spin_lock_bh(&chan->lock);
	error = chan->opening->error.error;
	spin_unlock_bh(&chan->lock);
	return -(int)(error ?: ECONNRESET);
}

/* A limit is in the way. */
static void chan_connect_no_link(struct rch_chan *chan, const struct rdmachan_error *error)
{
	struct rdmachan_error record = *error;

	record.local = chan->source;
	record.peer = chan->peer;
	chan_connect_record(chan, &record);
}

static int chan_connect_find_link(struct rch_chan *chan)
{
	struct rch_chan_opening *opening = chan->opening;
	const struct rch_link_wish wish = {
		.net = chan->net,
		.owner = &chan->charge,
		.peer = &opening->peer,
		.domain = opening->domain,
		.service = chan->service,
		.traffic_class = opening->traffic_class,
		.source = &opening->source,
		.deadline = opening->deadline,
	};
	struct rdmachan_error error = {};
	struct rch_link *link;

	if (!rch_time_left(opening->deadline)) {
		chan_connect_note(chan, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_TIMEOUT);
		return -ETIMEDOUT;
	}
	link = rch_link_get(&wish, &error);
	if (IS_ERR(link)) {
		if (error.error)
			chan_connect_no_link(chan, &error);
		return PTR_ERR(link);
	}
	opening->link = link;
	if (opening->background)
		add_wait_queue(&opening->link->wait, &opening->link_entry);
	opening->step = RCH_OPENING_LINK;
	return -EINPROGRESS;
}

static void chan_connect_leave_link(struct rch_chan *chan)
{
	struct rch_chan_opening *opening = chan->opening;

	if (!opening->link)
		return;
	if (opening->background)
		remove_wait_queue(&opening->link->wait, &opening->link_entry);
	rch_link_leave(opening->link);
	opening->link = NULL;
}

/* It has not come to an answer; @domain is the one to try now. */
static int chan_connect_try_again(struct rch_chan *chan, u32 domain)
{
	chan_connect_leave_link(chan);
	chan->opening->domain = domain;
	chan->opening->step = RCH_OPENING_FIND;
	if (++chan->opening->tries >= RCH_CONNECT_TRIES &&
	    rch_time_left(READ_ONCE(chan->opening->deadline)))
		return chan_connect_errno(chan);
	return -EINPROGRESS;
}

/* The link has ended before the channel was opened over it. */
static int chan_connect_link_ended(struct rch_chan *chan, struct rch_link *link)
{
	if (chan_connect_worth_retry(chan, link, chan_connect_record_link(chan, link)))
		return chan_connect_try_again(chan, chan->opening->domain);
	return chan_connect_errno(chan);
}

/* Ask the peer over the link that is UP. */
static int chan_connect_open_on(struct rch_chan *chan, struct rch_link *link)
{
	int ret = rch_chan_early_attach(chan, link);

	if (ret == -ENOTCONN) {
		chan_connect_record_link(chan, link);
		return chan_connect_try_again(chan, chan->opening->domain);
	}
	if (ret)
		return ret;
	chan->opening->step = RCH_OPENING_ANSWER;
	rch_lane_open(&chan->lane, chan->early.wanted);
	return -EINPROGRESS;
}

static int chan_connect_link_came(struct rch_chan *chan)
{
	struct rch_link *link = chan->opening->link;

	switch (READ_ONCE(link->state)) {
	case RCH_LINK_UP:
		return chan_connect_open_on(chan, link);
	case RCH_LINK_DEAD:
		return chan_connect_link_ended(chan, link);
	default:
		chan_connect_note(chan, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_TIMEOUT);
		return -ETIMEDOUT;
	}
}

/* The peer has answered, or does not: @why, -ETIMEDOUT or -ERESTARTSYS. */
static int chan_connect_answer_came(struct rch_chan *chan, int why)
{
	bool retry, waiting, dead;
	u32 domain;
	int ret;

	spin_lock_bh(&chan->lock);
	retry = chan->opening->retry;
	domain = chan->opening->redirect;
	waiting = chan->state == RCH_CHAN_CONNECTING;
	ret = chan->state == RCH_CHAN_FAILED ? -(int)chan->error.error : 0;
	/* One that was opened, and closed at once, may linger. */
	dead = chan->state == RCH_CHAN_DEAD;
	spin_unlock_bh(&chan->lock);
	if (retry)
		return chan_connect_try_again(chan, domain);
	/* A program that is gone sends no more: of its messages none leaves from here on. */
	if (dead)
		rch_lane_refuse(&chan->lane);
	if (waiting || dead)
		rch_chan_await_answer(chan);
	if (!waiting)
		return ret;
	if (why == -ETIMEDOUT)
		chan_connect_note(chan, RDMACHAN_OP_OPEN, RDMACHAN_CAUSE_TIMEOUT);
	return why;
}

static int chan_connect_step(struct rch_chan *chan)
{
	if (chan->opening->step != RCH_OPENING_ANSWER && rch_chan_given_up(chan))
		return -ECANCELED;
	switch (chan->opening->step) {
	case RCH_OPENING_FIND:
		return chan_connect_find_link(chan);
	case RCH_OPENING_LINK:
		return chan_connect_link_came(chan);
	default:
		return chan_connect_answer_came(chan, -ETIMEDOUT);
	}
}

/* Go on with connecting until it has to wait: -EINPROGRESS; else how it has ended. */
static int chan_connect_go_on(struct rch_chan *chan)
{
	int ret = -EINPROGRESS;

	while (ret == -EINPROGRESS && chan_connect_ready(chan))
		ret = chan_connect_step(chan);
	return ret;
}

/* Return: whether a signal came before connecting could go on. */
static bool chan_connect_interrupted(struct rch_chan *chan)
{
	bool at_link = chan->opening->step == RCH_OPENING_LINK;
	long left = rch_time_left(READ_ONCE(chan->opening->deadline));

	return wait_event_interruptible_timeout(*(at_link ? &chan->opening->link->wait :
							    &chan->wait),
						chan_connect_ready(chan),
						left) < 0;
}

/**
 * rch_chan_connect_over - connecting is over, or was never begun
 * @chan: channel
 *
 * The caller is the thread or work that connected, or has the last reference. Context: any.
 */
void rch_chan_connect_over(struct rch_chan *chan)
{
	struct rch_chan_opening *opening;

	spin_lock_bh(&chan->lock);
	opening = chan->opening;
	chan->opening = NULL;
	spin_unlock_bh(&chan->lock);
	kfree(opening);
}

/**
 * rch_chan_connect - connect, and wait for it
 * @chan: channel that is to be connected, which no other thread uses
 *
 * Context: process. Return: 0, -ERESTARTSYS, -ENOMEM, or the errno of the error record.
 */
int rch_chan_connect(struct rch_chan *chan)
{
	int ret;

	do {
		ret = chan_connect_go_on(chan);
	} while (ret == -EINPROGRESS && !chan_connect_interrupted(chan));
	if (ret == -EINPROGRESS) {
		if (chan->opening->step == RCH_OPENING_ANSWER)
			ret = chan_connect_answer_came(chan, -ERESTARTSYS);
		/* An answer that came just now has it try again: so may the program. */
		if (ret == -EINPROGRESS)
			ret = -ERESTARTSYS;
	}
	chan_connect_leave_link(chan);
	rch_chan_connect_over(chan);
	return ret;
}

/* Nothing queues the work from here on. */
static void chan_connect_work_over(struct rch_chan *chan)
{
	struct rch_chan_opening *opening = chan->opening;

	remove_wait_queue(&chan->wait, &opening->chan_entry);
	chan_connect_leave_link(chan);
	spin_lock_bh(&chan->lock);
	opening->background = false;
	spin_unlock_bh(&chan->lock);
	cancel_delayed_work(&opening->work);
}

/* Connecting has failed with @ret. */
static void chan_connect_work_failed(struct rch_chan *chan, int ret)
{
	struct rdmachan_error error;

	spin_lock_bh(&chan->lock);
	error = chan->opening->error;
	spin_unlock_bh(&chan->lock);
	/* The lane's end may have come between, with a record of its own. */
	if (error.error != (u32)-ret && ret == -ETIMEDOUT)
		rch_error_set(&error, RDMACHAN_OP_OPEN, RDMACHAN_CAUSE_TIMEOUT, 0);
	else if (error.error != (u32)-ret)
		rch_error_set(&error, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_RESOURCES, -ret);
	rch_chan_fail(chan, &error);
	/* ACCEPT may have come in the last moment. */
	if (chan->lane.link)
		rch_lane_reset(&chan->lane, RDMACHAN_CAUSE_PEER_RESET, 0);
}

/* Connect for a program that does not wait; it does not wait either. */
static void chan_connect_work(struct work_struct *work)
{
	struct rch_chan_opening *opening = container_of(to_delayed_work(work),
							struct rch_chan_opening, work);
	struct rch_chan *chan = opening->chan;
	int ret = chan_connect_go_on(chan);

	if (ret == -EINPROGRESS) {
		/* When it can go on already, the work is queued. */
		queue_delayed_work(rch_open_wq, &opening->work,
				   rch_time_left(READ_ONCE(opening->deadline)));
		return;
	}
	chan_connect_work_over(chan);
	if (ret)
		chan_connect_work_failed(chan, ret);
	/* A work may free what it is part of. */
	rch_chan_connect_over(chan);
	put_net(chan->net);
	rch_chan_put(chan);
}

/**
 * rch_chan_opening_alloc - what a channel needs that is to be connected
 * @peer: where to
 * @source: own address, as of rch_addr_to_own()
 * @traffic_class: of packets, as of CONNECT
 * @deadline: how long to try, as of rch_deadline()
 *
 * It is for rch_chan_alloc(), or for kfree(). Then rch_chan_connect() or rch_chan_connect_start()
 * is called; or the channel is closed. Context: process. Return: NULL: no memory.
 */
struct rch_chan_opening *rch_chan_opening_alloc(const struct sockaddr_storage *peer,
						const struct sockaddr_storage *source,
						u32 traffic_class, unsigned long deadline)
{
	struct rch_chan_opening *opening = rch_try(RCH_SITE_CHANNEL,
						   kzalloc(sizeof(*opening), GFP_KERNEL_ACCOUNT));

	if (!opening)
		return NULL;
	opening->peer = *peer;
	opening->source = *source;
	opening->traffic_class = traffic_class;
	opening->deadline = deadline;
	opening->domain = RCH_DOMAIN_ANY;
	INIT_DELAYED_WORK(&opening->work, chan_connect_work);
	init_waitqueue_func_entry(&opening->link_entry, chan_connect_link_woken);
	init_waitqueue_func_entry(&opening->chan_entry, chan_connect_answer_woken);
	return opening;
}

/** rch_chan_connect_start - have the channel connected in the background */
void rch_chan_connect_start(struct rch_chan *chan)
{
	struct rch_chan_opening *opening = chan->opening;

	kref_get(&chan->ref);
	get_net(chan->net);
	spin_lock_bh(&chan->lock);
	opening->background = true;
	spin_unlock_bh(&chan->lock);
	add_wait_queue(&chan->wait, &opening->chan_entry);
	mod_delayed_work(rch_open_wq, &opening->work, 0);
}

/** rch_chan_connect_look - what connects in the background may go on; with the channel's lock */
void rch_chan_connect_look(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	if (chan->opening && chan->opening->background)
		mod_delayed_work(rch_open_wq, &chan->opening->work, 0);
}
