// SPDX-License-Identifier: GPL-2.0
/*
 * quota.c - what each user has, and may have
 *
 * A user is known as long as something is charged to him. Limits are parameters and may
 * change at any time; one that is lowered below what is in use takes nothing away.
 */
#include <linux/capability.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base/quota.h"
#include "base/rch.h"

static DEFINE_SPINLOCK(quota_lock); /* protects all of quota.h; innermost, any context */
static DEFINE_HASHTABLE(users, 6);
static struct rch_cost total;
static struct rch_cost refused; /* how often, since load */

/* Of the memory of this host, where nothing else is set. */
#define USER_SHARE 4
#define ALL_SHARE 2

/* Of what all may have, this is for CAP_SYS_RESOURCE. */
#define EXEMPT_SHARE 16

/* As many as there may be: the first user, and an owner for each level of namespaces. */
#define OWNERS_MAX 34

/* Of what a user may have, peers leave this to himself. */
#define OWN_SHARE 4

static const struct {
	const unsigned int *user;
	const unsigned int *all;
} params[RCH_LIMITS] = {
	[RDMACHAN_LIMIT_CONTEXTS] = { &rch_user_contexts, &rch_all_contexts },
	[RDMACHAN_LIMIT_LISTENERS] = { &rch_user_listeners, &rch_all_listeners },
	[RDMACHAN_LIMIT_CHANNELS] = { &rch_user_channels, &rch_all_channels },
	[RDMACHAN_LIMIT_PENDING] = { &rch_user_pending, &rch_all_pending },
	[RDMACHAN_LIMIT_BYTES] = { &rch_user_buffer_mib, &rch_all_buffer_mib },
	[RDMACHAN_LIMIT_QUEUES] = { &rch_user_queues, &rch_all_queues },
	[RDMACHAN_LIMIT_REGIONS] = { &rch_user_regions, &rch_all_regions },
	[RDMACHAN_LIMIT_POLLERS] = { &rch_user_pollers, &rch_all_pollers },
	[RDMACHAN_LIMIT_GRANTS] = { &rch_user_grants, &rch_all_grants },
	[RDMACHAN_LIMIT_LINKS] = { &rch_user_links, &rch_all_links },
};

/* Where @param is 0, a share of the memory. */
static u64 quota_bytes_of(const unsigned int *param, unsigned int share)
{
	u64 value = READ_ONCE(*param);

	return value ? value * SZ_1M : ((u64)totalram_pages() << PAGE_SHIFT) / share;
}

static u64 quota_max_of(u32 limit, const unsigned int *param, unsigned int share)
{
	return limit == RDMACHAN_LIMIT_BYTES ? quota_bytes_of(param, share) : READ_ONCE(*param);
}

static u64 quota_user_max(u32 limit)
{
	return quota_max_of(limit, params[limit].user, USER_SHARE);
}

static u64 quota_all_max(u32 limit)
{
	return quota_max_of(limit, params[limit].all, ALL_SHARE);
}

static struct rch_user *quota_find(kuid_t uid, const struct rch_user *owner)
{
	struct rch_user *user;

	lockdep_assert_held(&quota_lock);
	hash_for_each_possible(users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && user->owner == owner)
			return user;
	return NULL;
}

static void quota_put_locked(struct rch_user *user)
{
	struct rch_user *owner;

	lockdep_assert_held(&quota_lock);
	for (; user && !--user->refs; user = owner) {
		owner = user->owner;
		hash_del(&user->node);
		kfree(user);
	}
}

/** rch_user_put - drop a reference, if there is a user. Any context */
void rch_user_put(struct rch_user *user)
{
	spin_lock_bh(&quota_lock);
	quota_put_locked(user);
	spin_unlock_bh(&quota_lock);
}

/* It takes over the reference to @owner, also without memory. */
static struct rch_user *quota_get_of(kuid_t uid, struct rch_user *owner)
{
	struct rch_user *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	struct rch_user *user;

	if (!fresh) {
		rch_user_put(owner);
		return NULL;
	}
	spin_lock_bh(&quota_lock);
	user = quota_find(uid, owner);
	if (user) {
		quota_put_locked(owner);
	} else {
		user = fresh;
		fresh = NULL;
		user->uid = uid;
		user->owner = owner;
		hash_add(users, &user->node, __kuid_val(uid));
	}
	user->refs++;
	spin_unlock_bh(&quota_lock);
	kfree(fresh);
	return user;
}

/* Whose limits bind @uid in @ns, from the innermost on. Return: how many they are */
static int quota_owners_of(const struct user_namespace *ns, kuid_t uid, kuid_t *owners)
{
	int count = 0;

	owners[count++] = uid;
	for (; ns->parent && count < OWNERS_MAX; ns = ns->parent)
		if (!uid_eq(ns->owner, owners[count - 1]) && !uid_eq(ns->owner, GLOBAL_ROOT_UID))
			owners[count++] = ns->owner;
	return count;
}

/**
 * rch_user_get - find or begin a user
 * @ns: user namespace of his program
 * @uid: his user id
 *
 * Context: may sleep. Return: him, referenced; or NULL without memory.
 */
struct rch_user *rch_user_get(const struct user_namespace *ns, kuid_t uid)
{
	struct rch_user *user = NULL;
	kuid_t owners[OWNERS_MAX];
	int i = quota_owners_of(ns, uid, owners);

	do
		user = quota_get_of(owners[--i], user);
	while (user && i);
	return user;
}

/** rch_quota_exempt - whether the caller may exceed the limits of a user */
bool rch_quota_exempt(void)
{
	/* It is no offence not to be: nothing for an audit. */
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

/** rch_charge_begin - @charge belongs to @user, and has nothing yet. Any context */
void rch_charge_begin(struct rch_charge *charge, struct rch_user *user, bool exempt)
{
	memset(charge, 0, sizeof(*charge));
	charge->user = user;
	charge->exempt = exempt;
	spin_lock_bh(&quota_lock);
	user->refs++;
	spin_unlock_bh(&quota_lock);
}

/** rch_charge_begin_by_peer - the same, for what a peer makes the user have. Any context */
void rch_charge_begin_by_peer(struct rch_charge *charge, struct rch_user *user, bool exempt)
{
	rch_charge_begin(charge, user, exempt);
	charge->by_peer = true;
}

static u64 quota_most_of_user(u32 limit, bool by_peer)
{
	u64 max = quota_user_max(limit);

	return by_peer ? max - max / OWN_SHARE : max;
}

static u64 quota_most_of_all(const struct rch_charge *charge, u32 limit, bool by_peer)
{
	u64 max = quota_all_max(limit);

	return charge->exempt && !by_peer ? max : max - max / EXEMPT_SHARE;
}

/* Return: a user who would have too much, of the charge's and his owners; or NULL */
static struct rch_user *quota_over(const struct rch_charge *charge, u32 limit, u64 amount,
				   bool by_peer)
{
	u64 max = quota_most_of_user(limit, by_peer);
	struct rch_user *user = charge->user;

	lockdep_assert_held(&quota_lock);
	if (charge->exempt)
		return NULL;
	while (user && user->used.of[limit] + amount <= max)
		user = user->owner;
	return user;
}

/* Return: &enum rdmachan_cause, with @limit and, if it is a user's, @user set; or 0 */
static u32 quota_refusal(const struct rch_charge *charge, const struct rch_cost *cost, bool by_peer,
			 u32 *limit, struct rch_user **user)
{
	u32 i;

	lockdep_assert_held(&quota_lock);
	for (i = 0; i < RCH_LIMITS; i++) {
		*limit = i;
		if (!cost->of[i])
			continue;
		*user = quota_over(charge, i, cost->of[i], by_peer);
		if (*user)
			return i == RDMACHAN_LIMIT_BYTES ? RDMACHAN_CAUSE_USER_BYTES :
							   RDMACHAN_CAUSE_USER_LIMIT;
		if (total.of[i] + cost->of[i] > quota_most_of_all(charge, i, by_peer))
			return RDMACHAN_CAUSE_TOTAL_LIMIT;
	}
	return RDMACHAN_CAUSE_NONE;
}

static u32 quota_take(struct rch_charge *charge, const struct rch_cost *cost, bool by_peer,
		      u32 *limit, struct rch_user **whose)
{
	struct rch_user *user;
	u32 cause, i;

	spin_lock_bh(&quota_lock);
	cause = quota_refusal(charge, cost, by_peer, limit, whose);
	if (cause)
		refused.of[*limit]++;
	for (i = 0; !cause && i < RCH_LIMITS; i++) {
		charge->held.of[i] += cost->of[i];
		for (user = charge->user; user; user = user->owner)
			user->used.of[i] += cost->of[i];
		total.of[i] += cost->of[i];
	}
	spin_unlock_bh(&quota_lock);
	return cause;
}

/** rch_charge_fits - whether rch_charge_object() would take @cost now. Any context */
bool rch_charge_fits(const struct rch_charge *charge, const struct rch_cost *cost)
{
	struct rch_user *whose;
	u32 limit, cause;

	spin_lock_bh(&quota_lock);
	cause = quota_refusal(charge, cost, charge->by_peer, &limit, &whose);
	spin_unlock_bh(&quota_lock);
	return !cause;
}

/** rch_quota_refused - a request was refused for @limit, and nothing was charged. Any context */
void rch_quota_refused(u32 limit)
{
	spin_lock_bh(&quota_lock);
	refused.of[limit]++;
	spin_unlock_bh(&quota_lock);
}

/**
 * rch_charge_take - take all of @cost, or nothing
 * @charge: charge that was begun
 * @cost: the amount that is wanted more
 * @by_peer: a peer wants it, and leaves the user a share for his own. The object may be either's
 * @limit: on refusal, &enum rdmachan_limit: which one
 *
 * Context: any. Return: 0, or &enum rdmachan_cause: whose limit it is.
 */
u32 rch_charge_take(struct rch_charge *charge, const struct rch_cost *cost, bool by_peer,
		    u32 *limit)
{
	struct rch_user *whose;

	return quota_take(charge, cost, by_peer, limit, &whose);
}

static int quota_take_or_tell(struct rch_charge *charge, const struct rch_cost *cost, bool by_peer,
			      u32 op, struct rdmachan_error *error)
{
	struct rch_user *whose;
	u32 limit, cause = quota_take(charge, cost, by_peer, &limit, &whose);
	struct rdmachan_use use;
	bool all = cause == RDMACHAN_CAUSE_TOTAL_LIMIT;

	if (!cause)
		return 0;
	rch_error_set(error, op, cause, limit);
	rch_quota_tell(all ? charge->user : whose, limit, &use);
	error->limit = all ? quota_most_of_all(charge, limit, by_peer) :
			     quota_most_of_user(limit, by_peer);
	error->used = all ? use.all : use.user;
	error->needed = cost->of[limit];
	return -(int)error->error;
}

/**
 * rch_charge_object - take @cost for an object that is being made
 * @charge: charge that was begun
 * @cost: what it takes
 * @op: &enum rdmachan_op
 * @error: on refusal, says which limit it was
 *
 * Context: any. Return: 0; or -EDQUOT, -ENOBUFS or -ENOSPC, as @error says.
 */
int rch_charge_object(struct rch_charge *charge, const struct rch_cost *cost, u32 op,
		      struct rdmachan_error *error)
{
	return quota_take_or_tell(charge, cost, charge->by_peer, op, error);
}

/** rch_charge_own - the same for what the user's program wants, also of what a peer has made */
int rch_charge_own(struct rch_charge *charge, const struct rch_cost *cost, u32 op,
		   struct rdmachan_error *error)
{
	return quota_take_or_tell(charge, cost, false, op, error);
}

static void quota_give_locked(struct rch_charge *charge, u32 limit, u64 amount)
{
	struct rch_user *user;

	lockdep_assert_held(&quota_lock);
	if (WARN_ON_ONCE(amount > charge->held.of[limit]))
		amount = charge->held.of[limit];
	charge->held.of[limit] -= amount;
	for (user = charge->user; user; user = user->owner)
		user->used.of[limit] -= amount;
	total.of[limit] -= amount;
}

/** rch_charge_give - give back @amount before the object ends. Any context */
void rch_charge_give(struct rch_charge *charge, u32 limit, u64 amount)
{
	spin_lock_bh(&quota_lock);
	quota_give_locked(charge, limit, amount);
	spin_unlock_bh(&quota_lock);
}

/** rch_charge_end - the object ends: give back all that is held. Any context */
void rch_charge_end(struct rch_charge *charge)
{
	u32 i;

	spin_lock_bh(&quota_lock);
	for (i = 0; i < RCH_LIMITS; i++)
		quota_give_locked(charge, i, charge->held.of[i]);
	quota_put_locked(charge->user);
	spin_unlock_bh(&quota_lock);
}

/**
 * rch_user_pin - count what a region is about to pin
 * @user: whose region it is, referenced until rch_user_unpin()
 * @bytes: of whole pages
 * @memlock: what one program may pin; U64_MAX: it is not bound
 * @use: on refusal, the amount that is in use by the user who would have too much, and his most
 *
 * Context: any. Return: whether it may be; if not, nothing was counted.
 */
bool rch_user_pin(struct rch_user *user, u64 bytes, u64 memlock, struct rdmachan_use *use)
{
	u64 max = max(memlock, quota_bytes_of(&rch_user_pinned_mib, USER_SHARE));
	struct rch_user *each;

	spin_lock_bh(&quota_lock);
	for (each = user; each && each->pinned + bytes <= max; each = each->owner)
		;
	if (each) {
		use->user = each->pinned;
		use->user_max = max;
	} else {
		for (; user; user = user->owner)
			user->pinned += bytes;
	}
	spin_unlock_bh(&quota_lock);
	return !each;
}

/** rch_user_unpin - the region has let its pages go. Any context */
void rch_user_unpin(struct rch_user *user, u64 bytes)
{
	spin_lock_bh(&quota_lock);
	for (; user; user = user->owner)
		user->pinned -= bytes;
	spin_unlock_bh(&quota_lock);
}

/** rch_quota_tell - what is in use and was refused, and the most there may be. Any context */
void rch_quota_tell(struct rch_user *user, u32 limit, struct rdmachan_use *use)
{
	spin_lock_bh(&quota_lock);
	use->user = user->used.of[limit];
	use->all = total.of[limit];
	use->refused = refused.of[limit];
	spin_unlock_bh(&quota_lock);
	use->user_max = quota_user_max(limit);
	use->all_max = quota_all_max(limit);
}

/** rch_quota_exit - the module is unloaded: nobody has anything */
void rch_quota_exit(void)
{
	WARN_ON_ONCE(!hash_empty(users));
	WARN_ON_ONCE(memchr_inv(&total, 0, sizeof(total)));
}
