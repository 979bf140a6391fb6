/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shim.h - a module for tests that stands between rdmachan and a software adapter
 *
 * It puts functions of its own into the table of operations that each RDMA device has, and changes
 * what the device says of itself. So rxe and siw then behave as adapters do that are not at hand.
 * Its parameters choose how. All are 0 by default, and then nothing is changed but what a
 * completion with an error has besides its status and wr_cqe. They can be written at any time, and
 * hold for what is made from then on.
 *
 * It must be loaded before the module that is tested. Only the kernel's queue pairs of the type RC
 * are concerned: those of programs and of the connection manager are left alone.
 */
#ifndef _SHIM_H
#define _SHIM_H

#include <linux/spinlock.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>

/**
 * struct shim_device - a device, as it was
 * @list: of all devices; entries stay until the module goes
 * @dev: the device, or one that was there
 * @present: it has not gone; protected by the mutex of device.c
 * @ops: its operations
 * @attrs: its own attributes
 */
struct shim_device {
	struct list_head list;
	struct ib_device *dev;
	bool present;
	struct ib_device_ops ops;
	struct ib_device_attr attrs;
};

/**
 * struct shim_qp - what a driver remembers of a send queue
 * @rcu: somebody may be polling while it is freed
 * @qp: the queue pair
 * @cq: of its sends
 * @lock: protects the other members; held while the adapter is given work requests
 * @head: number of the next work request
 * @tail: number of the oldest one that no completion has told of
 * @ring: it is emptied by completions that were polled, and flushed so
 * @limit: its slots
 * @size: of @cqes
 * @cqes: completion of work request n, in cqes[n % size], as its poster knows it
 */
struct shim_qp {
	struct rcu_head rcu;
	struct ib_qp *qp;
	struct shim_cq *cq;
	spinlock_t lock;
	u64 head;
	u64 tail;
	bool ring;
	u32 limit;
	u32 size;
	struct ib_cqe *cqes[];
};

/**
 * struct shim_cq - a completion queue of such queue pairs
 * @rcu: somebody may be polling while it is freed
 * @cq: the queue
 * @users: queue pairs; protected by the mutex of queue.c
 * @lock: protects the other members; outer to the locks of queue pairs
 * @flushing: queue pair whose work requests before @flush_to are being told of; or NULL
 * @flush_to: number of a work request
 * @stash: a completion that comes behind these, or when it is no longer @late
 * @late: @stash is not to be told of yet, nor is anything behind it
 * @due: @stash is to be told of
 * @timer: ends @late
 */
struct shim_cq {
	struct rcu_head rcu;
	struct ib_cq *cq;
	u32 users;
	spinlock_t lock;
	struct shim_qp *flushing;
	u64 flush_to;
	struct ib_wc stash;
	bool late;
	bool due;
	struct timer_list timer;
};

/* device.c */
struct shim_device *shim_device(const struct ib_device *dev);
void shim_enter(void);
void shim_leave(void);
void shim_each_device(void (*call)(struct shim_device *d));

/* limits.c: the attributes of devices, which keep to them */
void shim_limits_apply(struct shim_device *d);
void shim_limits_port(struct ib_port_attr *attr);
int shim_limits_qp(const struct ib_device *dev, const struct ib_qp_init_attr *attr);
int shim_limits_wr(const struct ib_qp *qp, const struct ib_send_wr *wr);

/* queue.c: work requests and completions */
int shim_track(struct ib_qp *qp, struct ib_cq *cq, u32 limit);
void shim_untrack(struct ib_qp *qp);
int shim_post(struct shim_device *d, struct ib_qp *qp, const struct ib_send_wr *wr,
	      const struct ib_send_wr **bad);
int shim_poll(struct shim_device *d, struct ib_cq *cq, int count, struct ib_wc *wc);
int shim_notify(struct shim_device *d, struct ib_cq *cq, enum ib_cq_notify_flags flags);

/* verbs.c: the functions that devices get */
void shim_verbs_set(struct shim_device *d);
void shim_verbs_reset(struct shim_device *d);

#endif /* _SHIM_H */
