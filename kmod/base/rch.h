/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rch.h - names that every part of the module uses
 *
 * Layers, from the top, a folder each; each calls only those below it and hears of them
 * through an ops structure:
 *
 *   - main.c     order of init and exit
 *   - front/     files and their calls: what programs see
 *   - op/        the operations of queues
 *   - call/      what calls of programs and operations have in common
 *   - queue/     rings of operations on many objects
 *   - message/   messages sent and received, each by the way that is right for it
 *   - rndv/      large messages, written from memory to memory
 *   - memory/    regions, and the pieces of them that are lent
 *   - channel/   channels and listeners: their life, and messages that go in segments
 *   - link/      the conversation of two hosts
 *   - conn/      how a connection begins and ends: rdma_cm, addresses, devices
 *   - path/      one queue pair: what is posted to it, and keys
 *   - dma/       memory that adapters reach: frames, pinned pages
 *   - base/      what serves all of them: parameters, limits, errors, faults, this file
 *   - proto/     what is on the wire, and tables that say what may follow what
 *   - pure/      arithmetic
 *   - compat/    makes older kernels look like the newest
 */
#ifndef _RCH_H
#define _RCH_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <rdmachan.h>

#include "proto/wire.h"

#define RCH_VERSION "0.1.0"

struct net;
struct workqueue_struct;

/**
 * rch_overslept - whether a time-out is noticed so late that this host has stood still
 * @due: when it was to be noticed, in jiffies
 * @patience: how long it is
 *
 * Then nobody has taken what the peer said meanwhile, and it is given that time again. A timer may
 * be an eighth of its time late by itself.
 */
static inline bool rch_overslept(unsigned long due, unsigned long patience)
{
	return time_after(jiffies, due + patience / 4);
}

/* work.c APIs: */
extern struct workqueue_struct *rch_open_wq;
extern struct workqueue_struct *rch_dead_wq;
extern struct workqueue_struct *rch_end_wq;
extern struct workqueue_struct *rch_refuse_wq;
extern struct workqueue_struct *rch_break_wq;
extern struct workqueue_struct *rch_tcp_wq;
extern struct workqueue_struct *rch_link_wq;
extern struct workqueue_struct *rch_queue_wq;
extern struct workqueue_struct *rch_grant_wq;
extern struct workqueue_struct *rch_key_wq;
extern struct workqueue_struct *rch_wq;

int rch_work_init(void);
void rch_work_flush(void);
void rch_work_exit(void);

/* params.c APIs: settled at load, or changed by root at any time */
extern unsigned int rch_port;
extern unsigned int rch_dead_ms;
extern unsigned int rch_connect_ms;
extern unsigned int rch_linger_ms;
extern unsigned int rch_traffic_class;
extern unsigned int rch_idle_ms;
extern unsigned int rch_buffer;
extern unsigned int rch_message_max;
extern unsigned int rch_gather_us;
extern unsigned int rch_eager_us;
extern unsigned int rch_own_privileged_port;
extern unsigned int rch_peer_privileged_port;
extern unsigned int rch_depth;
extern unsigned int rch_user_contexts, rch_all_contexts;
extern unsigned int rch_user_listeners, rch_all_listeners;
extern unsigned int rch_user_channels, rch_all_channels;
extern unsigned int rch_user_pending, rch_all_pending;
extern unsigned int rch_user_buffer_mib, rch_all_buffer_mib;
extern unsigned int rch_user_queues, rch_all_queues;
extern unsigned int rch_user_regions, rch_all_regions;
extern unsigned int rch_user_pinned_mib;
extern unsigned int rch_user_pollers, rch_all_pollers;
extern unsigned int rch_user_grants, rch_all_grants;
extern unsigned int rch_user_links, rch_all_links;

/** RCH_FRAME_SIZE - largest frame that this side offers, bytes */
#define RCH_FRAME_SIZE 16384U

/**
 * RCH_TURNS_AT_ONCE - waiters whose turn comes to nothing, which one context sees to
 *
 * When memory is wanted back, or a channel ends, all that wait for it fail, and there may be as
 * many as a program likes. Soft interrupt has others to serve: the rest is put off, to a work item.
 */
#define RCH_TURNS_AT_ONCE 64

/** struct rch_counts - objects alive, and events since load */
struct rch_counts {
	atomic_t contexts;
	atomic_t listeners;
	atomic_t channels;
	atomic_t links;
	atomic_t frames;
	atomic_t items;
	atomic_t segments;
	atomic_t sets;
	atomic_t regions;
	atomic_t grants;
	atomic_t keys;
	atomic_t put_off;
	atomic64_t dropped;
	atomic64_t cm_connects;
	/*
	 * What peers asked for, by enum rch_reject; LIVES and ENDED are answers. Limits count for
	 * themselves, see quota.c.
	 */
	atomic64_t refused_links[RCH_REJECTS];
	atomic64_t refused_channels[RCH_REJECTS];
	atomic64_t refused_memlock;
	atomic64_t broken_rules;
};

/** rch_counts: of the module, see object.c */
extern struct rch_counts rch_counts;

/* error.c APIs: every failure of a connection leaves an error record. Any context */
void rch_error_set(struct rdmachan_error *e, u32 op, u32 cause, u64 detail);
int rch_error_errno(u32 cause);
void rch_addr_from_sockaddr(struct rdmachan_addr *a, const struct sockaddr_storage *ss);
int rch_addr_to_sockaddr(struct sockaddr_storage *ss, const struct rdmachan_addr *a);
int rch_addr_to_own(struct net *net, struct sockaddr_storage *ss, const struct rdmachan_addr *a);
bool rch_addr_is_no_host(struct net *net, const struct sockaddr_storage *ss);
bool rch_addr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/**
 * rch_timeout_jiffies - a timeout in jiffies
 * @timeout_ms: in milliseconds
 *
 * msecs_to_jiffies() takes times from 2^31 ms on for endless: their end would be no moment that can
 * be kept. Where jiffies have 32 bits a time ends before their half has passed.
 */
static inline unsigned long rch_timeout_jiffies(u32 timeout_ms)
{
	unsigned long timeout = timeout_ms <= INT_MAX ? msecs_to_jiffies(timeout_ms) :
							2 * msecs_to_jiffies(timeout_ms / 2);

	return min(timeout, MAX_JIFFY_OFFSET);
}

#endif /* _RCH_H */
