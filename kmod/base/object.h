/* SPDX-License-Identifier: GPL-2.0 */
/*
 * object.h - the register of all objects, for LIST, and what some have for SIGIO
 *
 * An object is entered when it is complete and struck off before it is freed;
 * a walker that finds it here must get a reference, which fails once the last is gone.
 */
#ifndef _RCH_OBJECT_H
#define _RCH_OBJECT_H

#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <rdmachan.h>

struct fasync_struct;
struct net;
struct rch_object;

/**
 * struct rch_object_ops - what the register needs of a kind of objects
 * @kind: &enum rdmachan_kind
 * @get: take a reference unless the last is gone; called under RCU
 * @put: drop it; may sleep
 * @fill: tell about the object; may not sleep
 */
struct rch_object_ops {
	u32 kind;
	bool (*get)(struct rch_object *obj);
	void (*put)(struct rch_object *obj);
	void (*fill)(struct rch_object *obj, struct rdmachan_object *out);
};

/**
 * struct rch_object - embedded in each object
 * @ops: its kind
 * @id: number in the register, 0 when not entered
 * @uid: owner
 * @net: network namespace, as a name only
 * @created_ns: when, on CLOCK_REALTIME
 */
struct rch_object {
	const struct rch_object_ops *ops;
	u32 id;
	kuid_t uid;
	const struct net *net;
	u64 created_ns;
};

int rch_object_enter(struct rch_object *obj, const struct rch_object_ops *ops,
		     const struct net *net, kuid_t uid, gfp_t gfp);
void rch_object_strike(struct rch_object *obj);
bool rch_object_next(const struct net *net, const kuid_t *uid, u64 *after,
		     struct rdmachan_object *out);
void rch_object_begin(struct rdmachan_object *out, u32 kind, kuid_t uid);
void rch_object_describe(struct rch_object *obj, struct rdmachan_object *out);
void rch_object_exit(void);

/**
 * struct rch_async - a receiver of SIGIO; see file_async.c
 * @lock: protects the others. A thread that sets O_ASYNC may wait for memory with it, so that no
 *	other file shares it
 * @entry: in the wait queue of the object
 * @list: of the kernel
 * @waits: @entry is there
 */
struct rch_async {
	struct mutex lock;
	struct wait_queue_entry entry;
	struct fasync_struct *list;
	bool waits;
};

#endif /* _RCH_OBJECT_H */
