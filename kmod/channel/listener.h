/* SPDX-License-Identifier: GPL-2.0 */
/*
 * listener.h - listeners: services, and the channels that wait to be accepted
 *
 * Lifetime: one reference of the file, one of each softirq that has found the listener.
 * Locks, outermost first: services_lock (in listener.c), listener->lock.
 */
#ifndef _RCH_LISTENER_H
#define _RCH_LISTENER_H

#include "base/object.h"
#include "channel/chan.h"

/**
 * struct rch_listener - a service that a program offers
 * @ref: references
 * @rcu: frees it
 * @object: for LIST
 * @node: in the table of services
 * @net: network namespace; referenced
 * @service: service; immutable
 * @own: the own address that the service is offered at; family 0: at all; immutable
 * @backlog: how many channels may wait; immutable
 * @tuning: for channels; immutable
 * @charge: its share of the limits; channels that come belong to the same user
 * @wait: woken when a channel waits
 * @wake: wakes @wait for a frame, with @lock
 * @async: the receivers of SIGIO then
 * @lock: protects all that follows; taken in softirq
 * @closed: there is no file any more
 * @waiting: channels, by their backlog; each with a reference
 * @count: of them
 * @offered: how many ever came
 * @taken: how many were accepted
 */
struct rch_listener {
	struct kref ref;
	struct rcu_head rcu;
	struct rch_object object;
	struct hlist_node node;
	struct net *net;
	u32 service;
	struct sockaddr_storage own;
	u32 backlog;
	struct rdmachan_tuning tuning;
	struct rch_charge charge;
	wait_queue_head_t wait;
	struct rch_wake wake;
	struct rch_async async;
	spinlock_t lock;
	bool closed;
	struct list_head waiting;
	u32 count;
	u64 offered;
	u64 taken;
};

/* Process context */
struct rch_listener *rch_listener_create(struct net *net, const struct rch_charge *owner,
					 const struct rdmachan_listen_args *listen,
					 const struct sockaddr_storage *own,
					 struct rdmachan_error *error);
void rch_listener_release(struct rch_listener *listener);
int rch_listener_wait(struct rch_listener *listener, bool nonblock,
		      unsigned long deadline, struct rch_chan **chan);
void rch_listener_give_back(struct rch_listener *listener, struct rch_chan *chan);
void rch_listener_accepted(struct rch_listener *listener, struct rch_chan *chan);
bool rch_listener_has_waiting(struct rch_listener *listener);

/* Softirq, for the link */
u32 rch_listener_domain(const struct net *net, u32 service,
			const struct sockaddr_storage *own, struct rch_charge *charge);
u32 rch_listener_opened(struct rch_link *link, const struct rch_open *open, kuid_t *owner);

#endif /* _RCH_LISTENER_H */
