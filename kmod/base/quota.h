/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quota.h - what each user has, and may have
 *
 * Everything that a program makes is charged to the user who opened the device, and to
 * the module as a whole. An object carries its *charge*, which knows what was taken for
 * it: ending the charge gives back just that, whatever happened between.
 *
 * Bytes are those that a channel may make the kernel hold, not those it holds. These are its two
 * buffers, from its making to its end, and what its peer is promised beyond the receive buffer
 * while a larger message comes. The window is a promise that cannot be taken back, so the room must
 * be there before; and sending and receiving count nothing that channels share. Besides: events of
 * grants, adapters' memory regions of grants that are given, and grants that are held. Likewise
 * buffers of pools, accesses that wait for a slot, and answers to atomic operations that the peer
 * has not taken.
 *
 * What a peer makes, channels that it opens, grants that it gives, and links, is charged to the
 * user as well, but not the last quarter of his limit. That is for what his own programs
 * make. Whose doing it is counts for each taking. A program may enlarge a channel that a peer has
 * opened as far as one of its own.
 *
 * A user may make user namespaces, with many user ids of his. Their objects are his as well: each
 * is charged to each owner on the way to the first namespace, and bound by the limits of all. Root
 * may set limits, so it is not counted what is in namespaces of root's.
 *
 * Pinned bytes are counted beside, as RLIMIT_MEMLOCK is a program's: one that ends, or becomes
 * another by execve(), leaves its regions to whoever has the context.
 *
 * Locks. quota_lock (in quota.c) protects all of this. It is taken in softirq, inside
 * chan->lock and others, and nothing is taken inside it. It is global: objects are made
 * and ended under it, messages are not.
 */
#ifndef _RCH_QUOTA_H
#define _RCH_QUOTA_H

#include <linux/types.h>
#include <linux/uidgid.h>
#include <rdmachan.h>

struct user_namespace;

/** RCH_LIMITS - how many limits there are: &enum rdmachan_limit */
#define RCH_LIMITS (RDMACHAN_LIMIT_LINKS + 1)

/** struct rch_cost - what something takes; indexed by &enum rdmachan_limit */
struct rch_cost {
	u64 of[RCH_LIMITS];
};

/**
 * struct rch_user - what belongs to one user
 * @node: in the table of users
 * @uid: user; immutable
 * @owner: who owns the user namespace that he is of, and has all that he has besides; or NULL
 *	in the first namespace, and in those of root. Referenced, immutable
 * @refs: references: charges, users that he is @owner of, and a lookup for a moment
 * @used: sum of his charges, and of those of users that he is @owner of
 * @pinned: bytes that regions of his pin, and those of users that he is @owner of
 */
struct rch_user {
	struct hlist_node node;
	kuid_t uid;
	struct rch_user *owner;
	unsigned int refs;
	struct rch_cost used;
	u64 pinned;
};

/**
 * struct rch_charge - what an object has taken; part of the object
 * @user: whose it is; referenced, immutable
 * @exempt: not bound by the limits of a user; immutable
 * @by_peer: a peer has made the object, and leaves the user a share for his own; immutable
 * @held: what was taken
 */
struct rch_charge {
	struct rch_user *user;
	bool exempt;
	bool by_peer;
	struct rch_cost held;
};

/* Process context */
struct rch_user *rch_user_get(const struct user_namespace *ns, kuid_t uid);
bool rch_quota_exempt(void);
void rch_quota_exit(void);

/* Any context */
void rch_user_put(struct rch_user *user);
void rch_charge_begin(struct rch_charge *charge, struct rch_user *user, bool exempt);
void rch_charge_begin_by_peer(struct rch_charge *charge, struct rch_user *user, bool exempt);
bool rch_charge_fits(const struct rch_charge *charge, const struct rch_cost *cost);
u32 rch_charge_take(struct rch_charge *charge, const struct rch_cost *cost, bool by_peer,
		    u32 *limit);
int rch_charge_object(struct rch_charge *charge, const struct rch_cost *cost, u32 op,
		      struct rdmachan_error *error);
int rch_charge_own(struct rch_charge *charge, const struct rch_cost *cost, u32 op,
		   struct rdmachan_error *error);
void rch_charge_give(struct rch_charge *charge, u32 limit, u64 amount);
void rch_charge_end(struct rch_charge *charge);
bool rch_user_pin(struct rch_user *user, u64 bytes, u64 memlock, struct rdmachan_use *use);
void rch_user_unpin(struct rch_user *user, u64 bytes);
void rch_quota_refused(u32 limit);
void rch_quota_tell(struct rch_user *user, u32 limit, struct rdmachan_use *use);

#endif /* _RCH_QUOTA_H */
