// SPDX-License-Identifier: GPL-2.0
/*
 * object.c - the register of all objects, and their counts
 */
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "base/inject.h"
#include "base/object.h"
#include "base/rch.h"

static DEFINE_XARRAY_FLAGS(objects, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
static u32 objects_next;

struct rch_counts rch_counts;

/**
 * rch_object_enter - make an object known
 * @obj: object, complete, in memory that is freed after an RCU grace period
 * @ops: its kind
 * @net: its network namespace
 * @uid: its owner
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM.
 */
int rch_object_enter(struct rch_object *obj, const struct rch_object_ops *ops,
		     const struct net *net, kuid_t uid, gfp_t gfp)
{
	int ret;

	obj->ops = ops;
	obj->net = net;
	obj->uid = uid;
	obj->created_ns = ktime_get_real_ns();
	if (rch_no_memory(RCH_SITE_OBJECT))
		return -ENOMEM;
	ret = xa_alloc_cyclic_bh(&objects, &obj->id, obj, xa_limit_32b,
				 &objects_next, gfp);
	return ret < 0 ? ret : 0;
}

/** rch_object_strike - an object is about to be freed; does nothing when not entered */
void rch_object_strike(struct rch_object *obj)
{
	if (obj->id)
		xa_erase_bh(&objects, obj->id);
	obj->id = 0;
}

/**
 * rch_object_begin - begin to tell about something, in the register or not
 * @out: result: all else is 0, or not known
 * @kind: &enum rdmachan_kind
 * @uid: its owner
 *
 * Context: process.
 */
void rch_object_begin(struct rdmachan_object *out, u32 kind, kuid_t uid)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->kind = kind;
	out->uid = from_kuid_munged(current_user_ns(), uid);
	out->peer_claimed_uid = ~0U;
}

/** rch_object_describe - what there is to know about an object that is referenced */
void rch_object_describe(struct rch_object *obj, struct rdmachan_object *out)
{
	rch_object_begin(out, obj->ops->kind, obj->uid);
	out->id = obj->id;
	out->created_ns = obj->created_ns;
	obj->ops->fill(obj, out);
}

/**
 * rch_object_next - describe the next object
 * @net: of this network namespace
 * @uid: of this owner, or NULL
 * @after: with an id above this; updated
 * @out: result
 *
 * Context: may sleep.
 * Return: false when there are no more.
 */
bool rch_object_next(const struct net *net, const kuid_t *uid, u64 *after,
		     struct rdmachan_object *out)
{
	struct rch_object *obj;
	unsigned long id = *after;

	for (;;) {
		rcu_read_lock();
		obj = xa_find_after(&objects, &id, U32_MAX, XA_PRESENT);
		if (obj && (obj->net != net || (uid && !uid_eq(obj->uid, *uid)) ||
			    !obj->ops->get(obj))) {
			rcu_read_unlock();
			/* There may be many, all of them others'. */
			cond_resched();
			continue;
		}
		rcu_read_unlock();
		if (!obj)
			return false;
		*after = id;
		rch_object_describe(obj, out);
		out->id = id;
		obj->ops->put(obj);
		return true;
	}
}

/** rch_object_exit - the module is unloaded and no object is left */
void rch_object_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&objects));
	xa_destroy(&objects);
}
