// SPDX-License-Identifier: GPL-2.0
/*
 * listener.c - services, and the channels that wait to be accepted
 *
 * As with TCP, a channel is open for its peer as soon as it is in the queue; accepting
 * gives it a file. Channels that wait when the listener is closed are reset.
 *
 * A listener has all own addresses, or one of them. As with TCP, no two listeners of a service have
 * an address in common: a peer's request has one listener or none, and nobody can take some of what
 * comes to another's listener.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/listener.h"

/* Channels that may wait where the program has not said how many. */
#define RCH_BACKLOG 128

static DEFINE_SPINLOCK(services_lock); /* protects services; taken in softirq */
static DEFINE_HASHTABLE(services, 8);

static bool listener_get(struct rch_object *obj)
{
	return kref_get_unless_zero(&container_of(obj, struct rch_listener, object)->ref);
}

static void listener_free(struct kref *ref)
{
	struct rch_listener *listener = container_of(ref, struct rch_listener, ref);

	pr_debug("rdmachan: listener destroyed %p\n", listener);
	atomic_dec(&rch_counts.listeners);
	rch_charge_end(&listener->charge);
	kfree_rcu(listener, rcu);
}

static void listener_put(struct rch_listener *listener)
{
	kref_put(&listener->ref, listener_free);
}

static void listener_object_put(struct rch_object *obj)
{
	listener_put(container_of(obj, struct rch_listener, object));
}

static void listener_fill(struct rch_object *obj, struct rdmachan_object *out)
{
	struct rch_listener *listener = container_of(obj, struct rch_listener, object);

	spin_lock_bh(&listener->lock);
	out->state = RDMACHAN_STATE_OPEN;
	out->service = listener->service;
	rch_addr_from_sockaddr(&out->local, &listener->own);
	if (out->local.family)
		out->local.port = htons(rch_port);
	out->channels = listener->count;
	out->offered = listener->offered;
	out->accepted = listener->taken;
	out->send_buffer = listener->tuning.send_buffer;
	out->recv_buffer = listener->tuning.recv_buffer;
	out->linger_ms = listener->tuning.linger_ms;
	spin_unlock_bh(&listener->lock);
}

static const struct rch_object_ops listener_object_ops = {
	.kind = RDMACHAN_KIND_LISTENER,
	.get = listener_get,
	.put = listener_object_put,
	.fill = listener_fill,
};

/* Whether the listener has the own address @own. */
static bool listener_has(const struct rch_listener *listener, const struct net *net, u32 service,
			 const struct sockaddr_storage *own)
{
	return listener->net == net && listener->service == service &&
	       (!listener->own.ss_family || rch_addr_same_host(&listener->own, own));
}

/* Return: the listener of what comes to the own address @own, with a reference; or NULL */
static struct rch_listener *listener_find_get(const struct net *net, u32 service,
					      const struct sockaddr_storage *own)
{
	struct rch_listener *listener, *found = NULL;

	spin_lock_bh(&services_lock);
	hash_for_each_possible(services, listener, node, service)
		if (listener_has(listener, net, service, own))
			found = listener;
	if (found)
		kref_get(&found->ref);
	spin_unlock_bh(&services_lock);
	return found;
}

/* Whether another listener has an address of @fresh. */
static bool listener_is_taken(const struct rch_listener *fresh)
{
	const struct rch_listener *other;

	lockdep_assert_held(&services_lock);
	hash_for_each_possible(services, other, node, fresh->service)
		if (listener_has(other, fresh->net, fresh->service, &fresh->own) ||
		    listener_has(fresh, other->net, other->service, &other->own))
			return true;
	return false;
}

static int listener_enter(struct rch_listener *listener)
{
	int ret = -EADDRINUSE;

	spin_lock_bh(&services_lock);
	if (!listener_is_taken(listener)) {
		hash_add(services, &listener->node, listener->service);
		ret = 0;
	}
	spin_unlock_bh(&services_lock);
	return ret;
}

/*
 * The connection manager has several words for a port that is taken. What else an adapter may say
 * is none of what programs know. Return: an errno that they do.
 */
static int listener_cannot_listen(int ret, struct rdmachan_error *error)
{
	if (ret == -EADDRINUSE || ret == -EADDRNOTAVAIL)
		rch_error_set(error, RDMACHAN_OP_LISTEN, RDMACHAN_CAUSE_PORT_TAKEN, rch_port);
	else
		rch_error_set(error, RDMACHAN_OP_LISTEN, RDMACHAN_CAUSE_RESOURCES, -ret);
	return -(int)error->error;
}

/* A listener that nobody knows, with a charge that has nothing. */
static struct rch_listener *listener_alloc(struct net *net, const struct rch_charge *owner,
					   const struct rdmachan_listen_args *listen)
{
	struct rch_listener *listener;

	listener = rch_try(RCH_SITE_LISTENER, kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT));
	if (!listener)
		return NULL;
	kref_init(&listener->ref);
	listener->net = net;
	listener->service = listen->service;
	listener->backlog = listen->backlog ?: RCH_BACKLOG;
	listener->tuning = listen->tuning;
	init_waitqueue_head(&listener->wait);
	mutex_init(&listener->async.lock);
	spin_lock_init(&listener->lock);
	rch_wake_init(&listener->wake, &listener->wait, &listener->lock);
	INIT_LIST_HEAD(&listener->waiting);
	rch_charge_begin(&listener->charge, owner->user, owner->exempt);
	return listener;
}

/* Whether an adapter has the address, if there is one. Return: 0 or an error, with @error */
static int listener_check_own(struct net *net, const struct sockaddr_storage *own,
			      struct rdmachan_error *error)
{
	int ret = own->ss_family ? rch_path_own_check(net, own) : 0;

	if (!ret || ret == -ENOMEM)
		return ret;
	rch_error_set(error, RDMACHAN_OP_LISTEN, RDMACHAN_CAUSE_LOCAL_ADDRESS, ret == -ENODEV);
	return -(int)error->error;
}

/**
 * rch_listener_create - offer a service
 * @net: network namespace; the listener takes a reference
 * @owner: charge of the context: whose user owns it, and is the service's trust domain
 * @listen: what the program asks for; its tuning is that of rch_chan_tune()
 * @own: its own address, as of rch_addr_to_own()
 * @error: which limit it was, with -EDQUOT and -ENOSPC; or why there is no listening
 *
 * Context: process; may sleep. Return: the listener, or an ERR_PTR(): -EADDRINUSE, -EADDRNOTAVAIL,
 * -ENOMEM, -EDQUOT, -ENOSPC.
 */
struct rch_listener *rch_listener_create(struct net *net, const struct rch_charge *owner,
					 const struct rdmachan_listen_args *listen,
					 const struct sockaddr_storage *own,
					 struct rdmachan_error *error)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_LISTENERS] = 1 };
	struct rch_listener *listener = listener_alloc(net, owner, listen);
	int ret;

	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->own = *own;
	ret = listener_check_own(net, own, error);
	if (ret)
		goto err_charge;
	ret = rch_charge_object(&listener->charge, &cost, RDMACHAN_OP_LISTEN, error);
	if (ret)
		goto err_charge;
	ret = rch_link_listen(net);
	if (ret) {
		ret = listener_cannot_listen(ret, error);
		goto err_charge;
	}
	ret = rch_object_enter(&listener->object, &listener_object_ops, net,
			       owner->user->uid, GFP_KERNEL);
	if (ret)
		goto err_listen;
	atomic_inc(&rch_counts.listeners);
	pr_debug("rdmachan: listener created %p\n", listener);
	/* From here on peers find it. */
	ret = listener_enter(listener);
	if (ret) {
		rch_object_strike(&listener->object);
		rch_link_unlisten(net);
		/* LIST may have found it already. */
		listener_put(listener);
		return ERR_PTR(ret);
	}
	get_net(net);
	return listener;

err_listen:
	rch_link_unlisten(net);
err_charge:
	rch_charge_end(&listener->charge);
	kfree(listener);
	return ERR_PTR(ret);
}

/** rch_listener_release - the file is closed */
void rch_listener_release(struct rch_listener *listener)
{
	struct rch_chan *chan, *tmp;
	LIST_HEAD(left);

	spin_lock_bh(&services_lock);
	hash_del(&listener->node);
	spin_unlock_bh(&services_lock);
	spin_lock_bh(&listener->lock);
	listener->closed = true;
	list_splice_init(&listener->waiting, &left);
	spin_unlock_bh(&listener->lock);
	list_for_each_entry_safe(chan, tmp, &left, backlog) {
		list_del_init(&chan->backlog);
		rch_chan_release(chan, -1);
	}
	rch_object_strike(&listener->object);
	rch_link_unlisten(listener->net);
	put_net(listener->net);
	listener_put(listener);
}

/** rch_listener_has_waiting - whether a channel waits to be accepted */
bool rch_listener_has_waiting(struct rch_listener *listener)
{
	return !list_empty_careful(&listener->waiting);
}

static bool listener_take(struct rch_listener *listener, struct rch_chan **chan)
{
	spin_lock_bh(&listener->lock);
	*chan = list_first_entry_or_null(&listener->waiting, struct rch_chan, backlog);
	if (*chan) {
		list_del_init(&(*chan)->backlog);
		listener->count--;
	}
	spin_unlock_bh(&listener->lock);
	return *chan;
}

/**
 * rch_listener_wait - take the first channel that waits
 * @listener: listener
 * @nonblock: do not wait for one
 * @deadline: how long to wait, as of rch_deadline()
 * @chan: the channel, with its reference
 *
 * Either rch_listener_accepted() or rch_listener_give_back() must follow.
 * Return: 0, -EAGAIN, -ETIMEDOUT, -ERESTARTNOHAND or -ERESTARTSYS.
 */
int rch_listener_wait(struct rch_listener *listener, bool nonblock,
		      unsigned long deadline, struct rch_chan **chan)
{
	long wait;

	if (listener_take(listener, chan))
		return 0;
	if (nonblock)
		return -EAGAIN;
	wait = wait_event_interruptible_timeout(listener->wait, listener_take(listener, chan),
						rch_time_left(deadline));
	return rch_wait_result(wait, deadline);
}

/** rch_listener_give_back - the channel could not be given to the program: it goes on waiting */
void rch_listener_give_back(struct rch_listener *listener, struct rch_chan *chan)
{
	spin_lock_bh(&listener->lock);
	list_add(&chan->backlog, &listener->waiting);
	listener->count++;
	wake_up_interruptible_poll(&listener->wait, EPOLLIN | EPOLLRDNORM);
	spin_unlock_bh(&listener->lock);
}

/** rch_listener_accepted - the channel has a file now */
void rch_listener_accepted(struct rch_listener *listener, struct rch_chan *chan)
{
	rch_chan_accepted(chan);
	spin_lock_bh(&listener->lock);
	listener->taken++;
	spin_unlock_bh(&listener->lock);
}

/** rch_listener_domain - whose is a service; see &struct rch_link_ops */
u32 rch_listener_domain(const struct net *net, u32 service,
			const struct sockaddr_storage *own, struct rch_charge *charge)
{
	struct rch_listener *listener = listener_find_get(net, service, own);

	if (!listener)
		return RCH_REJECT_NO_SERVICE;
	rch_charge_begin_by_peer(charge, listener->charge.user, listener->charge.exempt);
	listener_put(listener);
	return 0;
}

/* A place in the queue, before anything is made. Return: enum rch_reject or 0 */
static u32 listener_reserve(struct rch_listener *listener)
{
	u32 reason = 0;

	spin_lock_bh(&listener->lock);
	if (listener->closed)
		reason = RCH_REJECT_NO_SERVICE;
	else if (listener->count >= listener->backlog)
		reason = RCH_REJECT_BACKLOG;
	if (!reason) {
		/* Both now: the peer's program may look before the channel is in the queue. */
		listener->count++;
		listener->offered++;
	}
	spin_unlock_bh(&listener->lock);
	return reason;
}

static void listener_unreserve(struct rch_listener *listener)
{
	spin_lock_bh(&listener->lock);
	listener->count--;
	listener->offered--;
	spin_unlock_bh(&listener->lock);
}

/*
 * The queue takes over the caller's reference, and waiters are woken behind the frame of @link.
 * Return: false when it is closed.
 */
static bool listener_publish(struct rch_listener *listener, struct rch_link *link,
			     struct rch_chan *chan)
{
	bool open;

	spin_lock_bh(&listener->lock);
	open = !listener->closed;
	if (open) {
		list_add_tail(&chan->backlog, &listener->waiting);
		rch_link_wake(link, &listener->wake, EPOLLIN | EPOLLRDNORM);
	}
	spin_unlock_bh(&listener->lock);
	return open;
}

static struct rch_chan *listener_make_chan(struct rch_listener *listener, struct rch_link *link,
					   const struct rch_open *open)
{
	const struct rch_chan_wish wish = {
		.service = listener->service,
		.tuning = &listener->tuning,
		.peer = &link->peer,
	};
	struct rdmachan_error error;
	struct rch_chan *chan;

	chan = rch_chan_alloc(listener->net, &listener->charge, &wish, &error);
	if (IS_ERR(chan))
		return NULL;
	chan->peer_message_max = min(open->message_max, RDMACHAN_MESSAGE_MAX);
	kref_get(&chan->ref);
	if (rch_lane_attach(&chan->lane, link, GFP_ATOMIC)) {
		rch_chan_put(chan);
		rch_chan_put(chan);
		return NULL;
	}
	rch_lane_connected(&chan->lane, open->chan, open->window);
	if (open->early && !rch_lane_hear_early(&chan->lane)) {
		if (rch_lane_detach(&chan->lane))
			rch_chan_put(chan);
		rch_chan_put(chan);
		return NULL;
	}
	return chan;
}

static u32 listener_opened(struct rch_listener *listener, struct rch_link *link,
			   const struct rch_open *open)
{
	struct rch_chan *chan;
	u32 reason = listener_reserve(listener);

	if (reason)
		return reason;
	chan = listener_make_chan(listener, link, open);
	if (!chan) {
		listener_unreserve(listener);
		return RCH_REJECT_RESOURCES;
	}
	/* ACCEPT is told before a program can send: it must come first. */
	rch_lane_tell(&chan->lane, RCH_LANE_ACCEPT);
	if (!listener_publish(listener, link, chan))
		rch_chan_release(chan, -1);
	return 0;
}

/** rch_listener_opened - a peer opens a channel; see &struct rch_link_ops */
u32 rch_listener_opened(struct rch_link *link, const struct rch_open *open, kuid_t *owner)
{
	struct rch_listener *listener = listener_find_get(link->net, open->service,
							  &link->terms.own);
	u32 reason = RCH_REJECT_DOMAIN;

	if (!listener)
		return RCH_REJECT_NO_SERVICE;
	/* Of this listener: the next one of the same number may be another user's. */
	*owner = listener->object.uid;
	if (uid_eq(*owner, link->uid))
		reason = listener_opened(listener, link, open);
	listener_put(listener);
	return reason;
}
