// SPDX-License-Identifier: GPL-2.0
/*
 * link_table.c - all links: found, counted, ended together
 *
 * The table has a reference to each link in it. A link leaves it last of all when it is
 * taken apart (link.c). Code that must see the end of links, as their device, network namespace or
 * the module goes, kills them and waits until they have left.
 */
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "base/rch.h"
#include "link/link.h"

/*
 * Links that peers have made in a network namespace, and that have no channel. Those that are
 * being made or ended wait in a pool: a host has so many places of it, and half of the pool is for
 * any user's services. Of the other half the services of one user have so few that others' can be
 * reached, regardless of the links of that user. It takes an administrator to give a namespace an
 * adapter.
 */
#define RCH_POOL_MAX 256
#define RCH_POOL_SHARED (RCH_POOL_MAX / 2)
#define RCH_POOL_HOST 64
#define RCH_POOL_USER 8
/* Those that are up stay until they are so many, of one host and of all. */
#define RCH_IDLE_HOST (RCH_POOL_HOST / 2)
#define RCH_IDLE_MAX 256

const struct rch_link_ops *rch_link_ops;
u64 rch_boot_id;

static DEFINE_MUTEX(links_lock); /* protects links and link->list; outermost */
static LIST_HEAD(links);
static DECLARE_WAIT_QUEUE_HEAD(links_wait);
/* How often a link has left the table or become idle; a thread that waits for that looks at it. */
static atomic_t links_changes;

/**
 * struct rch_net - what a network namespace has
 * @lock: protects @listener and @services. No handler of the listener takes it: they are waited for
 *	in it
 * @listener: waits for peers; it keeps the namespace alive
 * @services: that are offered
 * @links: that peers have made, and are in the table; these peers may ask about them
 */
struct rch_net {
	struct mutex lock;
	struct rch_path_listener *listener;
	u32 services;
	atomic_t links;
};

static unsigned int net_id;

static const struct rch_cost link_cost = { .of[RDMACHAN_LIMIT_LINKS] = 1 };

static void link_publish(struct rch_link *link)
{
	lockdep_assert_held(&links_lock);
	list_add_tail(&link->list, &links);
}

/** rch_links_changed - a link has no channel any more; any context */
void rch_links_changed(void)
{
	atomic_inc_return(&links_changes); /* after what has changed */
	wake_up_all(&links_wait);
}

/* The link counts for its user no longer. */
static void link_uncharge(struct rch_link *link)
{
	lockdep_assert_held(&links_lock);
	rch_charge_give(&link->charge, RDMACHAN_LIMIT_LINKS,
			link->charge.held.of[RDMACHAN_LIMIT_LINKS]);
}

/*
 * The first namespace waits for peers always, so that they learn that there is no such service, and
 * not that there is no module. Another would be kept alive by that: it waits for them while it has
 * a service, or a link that they may ask about.
 */
static void link_table_unlisten_locked(struct net *net, struct rch_net *rn)
{
	lockdep_assert_held(&rn->lock);
	if (!rn->listener || net == &init_net || rn->services || atomic_read(&rn->links))
		return;
	rch_path_unlisten(rn->listener);
	rn->listener = NULL;
}

/* A link that a peer has made is no more. */
static void link_table_passive_gone(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);

	if (!atomic_dec_and_test(&rn->links))
		return;
	mutex_lock(&rn->lock);
	link_table_unlisten_locked(net, rn);
	mutex_unlock(&rn->lock);
}

/** rch_links_leave - take a link out of the table, and drop the table's reference */
void rch_links_leave(struct rch_link *link)
{
	/* Before the link leaves: the namespace waits for that. */
	if (!link->active)
		link_table_passive_gone(link->net);
	mutex_lock(&links_lock);
	link_uncharge(link);
	list_del_init(&link->list);
	mutex_unlock(&links_lock);
	rch_link_put(link);
	rch_links_changed();
}

/* Whether @other takes @link for its other end, or has not heard yet which link that is. */
static bool link_table_names_back(struct rch_link *other, const struct rch_link *link)
{
	bool names;

	spin_lock_bh(&other->lock);
	names = !other->terms.peer_boot || (other->terms.peer_boot == rch_boot_id &&
					    other->terms.peer_link == link->object.id);
	spin_unlock_bh(&other->lock);
	return names;
}

/**
 * rch_links_twin - the other end of a link from this host to itself
 * @link: link whose path is not destroyed
 *
 * Any peer can name this host and one of its links. It is believed where the path leads to this
 * host, and if that link is the opposite end and says the same.
 *
 * Context: may sleep. Return: it, with a reference; or NULL.
 */
struct rch_link *rch_links_twin(const struct rch_link *link)
{
	struct rch_link *other, *twin = NULL;

	if (!link->path.leads_here || link->terms.peer_boot != rch_boot_id)
		return NULL;
	mutex_lock(&links_lock);
	list_for_each_entry(other, &links, list)
		if (other->object.id == link->terms.peer_link &&
		    other->active != link->active && link_table_names_back(other, link))
			twin = other;
	if (twin)
		kref_get(&twin->ref);
	mutex_unlock(&links_lock);
	return twin;
}

static __be16 link_table_port_of(const struct sockaddr_storage *ss)
{
	/* At the same place in both families. */
	return ((const struct sockaddr_in *)ss)->sin_port;
}

/*
 * A link that the peer has made is not taken: any program on the peer's host that knows rdma_cm can
 * make one, and would stand in for the module there. The address of one that this side has made
 * leads to the module.
 */
static bool link_table_matches(const struct rch_link *link, const struct rch_link_wish *wish)
{
	enum rch_link_state state = READ_ONCE(link->state);

	if (!link->active || link->net != wish->net || !uid_eq(link->uid, wish->owner->user->uid) ||
	    state == RCH_LINK_DEAD || !rch_addr_same_host(&link->peer, wish->peer) ||
	    link_table_port_of(wish->peer) != link_table_port_of(&link->peer) ||
	    link->path.traffic_class != wish->traffic_class ||
	    !rch_addr_same_host(&link->path.source, wish->source))
		return false;
	if (wish->domain == RCH_DOMAIN_ANY)
		return true;
	return (state == RCH_LINK_UP ? link->terms.peer_domain : link->opening.domain) ==
	       wish->domain;
}

/* Return: whether the caller has a reference now, and is one of those that want the link. */
static bool link_want(struct rch_link *link)
{
	bool alive;

	spin_lock_bh(&link->lock);
	alive = link->state != RCH_LINK_DEAD;
	if (alive) {
		link->opening.wanted++;
		kref_get(&link->ref);
	}
	spin_unlock_bh(&link->lock);
	return alive;
}

/**
 * rch_link_leave - give back what rch_link_get() has returned
 * @link: link; the caller's reference is consumed
 *
 * A link that is still CONNECTING, and that no channel waits for any more, is ended: so a program
 * has as many attempts under way as channels that connect. Context: any.
 */
void rch_link_leave(struct rch_link *link)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_TIMEOUT, 0);
	spin_lock_bh(&link->lock);
	if (!--link->opening.wanted && link->state == RCH_LINK_CONNECTING)
		rch_link_fail_locked(link, &error);
	spin_unlock_bh(&link->lock);
	rch_link_put(link);
}

/*
 * Whether a link is being made, or is being ended and nobody pays for it: it never had a channel,
 * or has given its place to another. One that had channels was paid for by them; many of those may
 * end in the same moment, when a cable is cut.
 */
static bool link_table_is_under_way(const struct rch_link *link)
{
	return READ_ONCE(link->state) != RCH_LINK_UP &&
	       (!READ_ONCE(link->lanes.used) || link->gave_way);
}

/*
 * Whether the user has as many links under way as channels that may connect: a channel that gives
 * up is gone at once, and its link a while later.
 */
static bool link_table_too_many_under_way(kuid_t uid)
{
	const struct rch_link *link;
	u32 count = 0;

	lockdep_assert_held(&links_lock);
	list_for_each_entry(link, &links, list)
		count += link->active && uid_eq(link->uid, uid) && link_table_is_under_way(link);
	return count >= READ_ONCE(rch_user_pending);
}

/* A link that has no channel, and that none waits for, ends. Return: whether it was so */
static bool link_table_give_way(struct rch_link *link)
{
	struct rdmachan_error error = {};
	bool idle;

	rch_error_set(&error, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
	spin_lock_bh(&link->lock);
	idle = link->state == RCH_LINK_UP && !link->lanes.count && !link->opening.wanted;
	if (idle)
		rch_link_fail_locked(link, &error);
	spin_unlock_bh(&link->lock);
	return idle;
}

/*
 * Whether @link needs no place: it ends now, or could not be made. link_table_is_under_way() counts
 * it.
 */
static bool link_table_gives_place(struct rch_link *link)
{
	return link_table_give_way(link) || (READ_ONCE(link->state) == RCH_LINK_DEAD &&
					     !READ_ONCE(link->lanes.used));
}

/*
 * Whether the user of @fresh may have one more. His oldest ones that nobody uses end for it; but
 * what a peer makes does not end what the user has made.
 */
static bool link_table_user_has_room(const struct rch_link *fresh)
{
	bool room = rch_charge_fits(&fresh->charge, &link_cost);
	struct rch_link *link;

	lockdep_assert_held(&links_lock);
	list_for_each_entry(link, &links, list) {
		if (room)
			break;
		if (link->charge.user != fresh->charge.user || (link->active && !fresh->active) ||
		    !link_table_gives_place(link))
			continue;
		link->gave_way = true;
		link_uncharge(link);
		room = rch_charge_fits(&fresh->charge, &link_cost);
	}
	return room;
}

/* Return: a link that goes there, with a reference, that the caller wants; or NULL */
static struct rch_link *link_find(const struct rch_link_wish *wish)
{
	struct rch_link *link;

	lockdep_assert_held(&links_lock);
	list_for_each_entry(link, &links, list)
		if (link_table_matches(link, wish) && link_want(link))
			return link;
	return NULL;
}

/* Its charge is of the user of @wish->owner. Return: a link that nobody knows; or NULL */
static struct rch_link *link_begin(const struct rch_link_wish *wish)
{
	struct rch_charge charge;
	struct rch_link *link;

	rch_charge_begin(&charge, wish->owner->user, wish->owner->exempt);
	link = rch_link_alloc(wish->net, &charge, wish->peer, RCH_LINK_CONNECTING);
	if (!link)
		return NULL;
	link->active = true;
	link->path.traffic_class = wish->traffic_class;
	link->path.source = *wish->source;
	rch_addr_from_sockaddr(&link->error.local, wish->source);
	link->opening.service = wish->service;
	link->opening.domain = wish->domain;
	link->opening.deadline = wish->deadline;
	link->opening.wanted = 1;
	complete_all(&link->opening.built);
	return link;
}

/* Return: 0, and the table has a reference to the link; or -EDQUOT or -ENOSPC, as @error says */
static int link_start(struct rch_link *link, struct rdmachan_error *error)
{
	int ret;

	lockdep_assert_held(&links_lock);
	if (!link->charge.exempt && link_table_too_many_under_way(link->uid)) {
		rch_quota_refused(RDMACHAN_LIMIT_PENDING);
		rch_error_set(error, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_USER_LIMIT,
			      RDMACHAN_LIMIT_PENDING);
		return -EDQUOT;
	}
	link_table_user_has_room(link);
	ret = rch_charge_object(&link->charge, &link_cost, RDMACHAN_OP_CONNECT, error);
	if (ret)
		return ret;
	kref_get(&link->ref);
	link_publish(link);
	/* A connect has a reference of its own: the namespace may be about to go. */
	get_net(link->net);
	queue_delayed_work(rch_link_wq, &link->opening.work, 0);
	return 0;
}

/** rch_link_discard - drop a link that the table has never had */
void rch_link_discard(struct rch_link *link)
{
	rch_object_strike(&link->object);
	rch_link_put(link);
}

/**
 * rch_link_get - find or make the link to a peer
 * @wish: which one
 * @error: on -EDQUOT and -ENOSPC, which limit it was
 *
 * Context: may sleep, but does not wait for the connection.
 * Return: a link with a reference, perhaps CONNECTING, that rch_link_leave() gives back; or an
 * ERR_PTR(): -ENOMEM; -EDQUOT: the user has too many (%RDMACHAN_LIMIT_LINKS), or too many under way
 * (%RDMACHAN_LIMIT_PENDING); -ENOSPC: all users have.
 */
struct rch_link *rch_link_get(const struct rch_link_wish *wish, struct rdmachan_error *error)
{
	struct rch_link *link, *fresh;
	int ret = 0;

	mutex_lock(&links_lock);
	link = link_find(wish);
	mutex_unlock(&links_lock);
	if (link)
		return link;
	/* Peers' requests wait for the table: not for memory. */
	fresh = link_begin(wish);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&links_lock);
	link = link_find(wish);
	if (!link)
		ret = link_start(fresh, error);
	mutex_unlock(&links_lock);
	if (!link && !ret)
		return fresh;
	rch_link_discard(fresh);
	return link ?: ERR_PTR(ret);
}

/**
 * rch_links_doubt - doubt the user's other links to the same host
 * @link: link that the host has just made
 *
 * Links of a peer that was restarted in the meantime lead nowhere. But anybody on its host can say
 * so: a doubted link ends only if it is silent, and soon. And words to one user are nothing
 * to another's links: each hears of a restart from his own peers.
 *
 * Context: may sleep.
 */
void rch_links_doubt(const struct rch_link *link)
{
	struct rch_link *other;

	mutex_lock(&links_lock);
	list_for_each_entry(other, &links, list) {
		if (other == link || other->net != link->net || !uid_eq(other->uid, link->uid) ||
		    !rch_addr_same_host(&other->peer, &link->peer))
			continue;
		spin_lock_bh(&other->lock);
		if (other->state == RCH_LINK_UP && other->terms.peer_boot != link->terms.peer_boot)
			other->beat.doubt = true;
		spin_unlock_bh(&other->lock);
	}
	mutex_unlock(&links_lock);
}

/**
 * rch_links_queried - a peer's module asks whether a link that it has made lives here
 * @net: network namespace
 * @peer: address that the question comes from
 * @query: the question
 *
 * Context: may sleep. Return: whether it does; then the link has heard of that.
 */
bool rch_links_queried(const struct net *net, const struct sockaddr_storage *peer,
		       const struct rch_query *query)
{
	struct rch_link *link;
	bool lives = false;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list) {
		if (link->active || link->net != net || !rch_addr_same_host(&link->peer, peer))
			continue;
		lives = rch_link_query_heard(link, query);
		if (lives)
			break;
	}
	mutex_unlock(&links_lock);
	return lives;
}

/**
 * struct census - links that peers have made in a network namespace, and nobody uses
 * @waiting: that are being made or ended
 * @waiting_user: those of them that are of the user of a service
 * @waiting_host: those of a host
 * @idle: that are up
 * @idle_host: those of a host
 */
struct census {
	u32 waiting;
	u32 waiting_user;
	u32 waiting_host;
	u32 idle;
	u32 idle_host;
};

static bool link_table_is_unused(const struct rch_link *link, const struct net *net)
{
	return !link->active && link->net == net && !READ_ONCE(link->lanes.count);
}

static void link_table_census(const struct rch_link *fresh, struct census *c)
{
	struct rch_link *other;
	bool mine;

	lockdep_assert_held(&links_lock);
	memset(c, 0, sizeof(*c));
	list_for_each_entry(other, &links, list) {
		if (!link_table_is_unused(other, fresh->net))
			continue;
		mine = rch_addr_same_host(&other->peer, &fresh->peer);
		if (READ_ONCE(other->state) == RCH_LINK_UP) {
			c->idle++;
			c->idle_host += mine;
			continue;
		}
		if (!link_table_is_under_way(other))
			continue;
		c->waiting++;
		c->waiting_user += uid_eq(other->uid, fresh->uid);
		c->waiting_host += mine;
	}
}

/*
 * Each costs a ring of buffers: when there are too many the oldest go. One that has just come up,
 * and whose OPEN is on its way, has no grace: it is the newest, and a peer that had as much would
 * have none of them go. A channel whose link gives way all the same is connected anew, but for one
 * that has sent messages early, which is told (rch_chan_dead()).
 */
static void link_table_make_room(const struct rch_link *fresh, const struct census *c)
{
	/* Signed: one may have come up since it was counted. */
	int of_host = c->idle_host + c->waiting_host, all = c->idle;
	struct rch_link *other;
	bool mine;

	lockdep_assert_held(&links_lock);
	list_for_each_entry(other, &links, list) {
		mine = rch_addr_same_host(&other->peer, &fresh->peer);
		if (all < RCH_IDLE_MAX && (!mine || of_host < RCH_IDLE_HOST))
			continue;
		if (!link_table_is_unused(other, fresh->net) || !link_table_give_way(other))
			continue;
		all--;
		of_host -= mine;
	}
}

static bool link_table_has_place(const struct census *c)
{
	return c->waiting < RCH_POOL_MAX && c->waiting_host < RCH_POOL_HOST &&
	       (c->waiting < RCH_POOL_SHARED || c->waiting_user < RCH_POOL_USER);
}

/* Whether the user of the service may have one more link that a peer makes. */
static bool link_table_user_takes(const struct rch_link *fresh)
{
	bool takes = link_table_user_has_room(fresh);

	if (!takes)
		rch_quota_refused(RDMACHAN_LIMIT_LINKS);
	return takes;
}

/**
 * rch_links_admit - take a link that a peer makes into the table, if there is a place
 * @link: link in HELLO that has no path yet
 *
 * Peers may make links and not use them, under as many addresses as they like. Here they are
 * counted, before anything is made that costs much. Those that are up give way; those that are
 * being made or ended cannot: when they are too many the new one is refused. So it is when the user
 * whose service it is for has as many as peers may make. The link counts for him when it is up:
 * those that say no more than HELLO take nothing of what he may have.
 *
 * Context: may sleep. Return: whether the table has it, and a reference to it.
 */
bool rch_links_admit(struct rch_link *link)
{
	struct rch_net *rn = net_generic(link->net, net_id);
	struct census c;
	bool ok;

	mutex_lock(&links_lock);
	link_table_census(link, &c);
	link_table_make_room(link, &c);
	ok = link_table_has_place(&c) && link_table_user_takes(link);
	if (ok) {
		atomic_inc(&rn->links);
		kref_get(&link->ref);
		link_publish(link);
	}
	mutex_unlock(&links_lock);
	return ok;
}

static bool link_table_selected(const struct rch_link *link, const struct net *net,
				const struct ib_device *dev)
{
	return (!net || link->net == net) && (!dev || link->path.dev == dev);
}

/* Whether a link is still there that @net and @dev, where given, select. */
static bool link_table_any_left(struct net *net, struct ib_device *dev, u32 cause)
{
	struct rch_link *link;
	bool left = false;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list)
		if (link_table_selected(link, net, dev))
			WRITE_ONCE(link->doom, cause);
	list_for_each_entry(link, &links, list) {
		if (!link_table_selected(link, net, dev))
			continue;
		rch_link_kill_cause(link, RDMACHAN_OP_NONE, cause, 0);
		left = true;
	}
	mutex_unlock(&links_lock);
	return left;
}

/* End the links that @net and @dev, where given, select, and wait until they are gone. */
static void link_table_end_links(struct net *net, struct ib_device *dev, u32 cause)
{
	int seen;

	for (;;) {
		seen = atomic_read(&links_changes);
		if (!link_table_any_left(net, dev, cause))
			return;
		wait_event(links_wait, atomic_read(&links_changes) != seen);
	}
}

/** rch_link_device_gone - end all links on a device, and wait until they are gone */
void rch_link_device_gone(struct ib_device *dev)
{
	link_table_end_links(NULL, dev, RDMACHAN_CAUSE_DEVICE_REMOVED);
}

/* Return: how many links are on the port. */
static u32 link_table_tell_paths(const struct ib_device *dev, u32 port, enum rch_device_news news)
{
	struct rch_link *link;
	u32 count = 0;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list) {
		if (link->path.dev != dev || link->path.port != port)
			continue;
		rch_path_told(&link->path, news);
		count++;
	}
	mutex_unlock(&links_lock);
	return count;
}

/**
 * rch_link_device_told - what a device's driver tells is told to the links on it
 * @dev: device
 * @port: port of it; not for RCH_DEVICE_FATAL
 * @news: what
 *
 * A device that has failed ends its links: none of its queue pairs will do anything any more, and
 * what connects anew may find another device. Events of a port end no link: a cable that was
 * out for less than the dead time costs no channel.
 *
 * Context: may sleep; waits for no link.
 */
void rch_link_device_told(struct ib_device *dev, u32 port, enum rch_device_news news)
{
	u32 count;

	if (news == RCH_DEVICE_FATAL) {
		pr_warn_ratelimited("rdmachan: %s has failed, its links end\n",
				    dev_name(&dev->dev));
		link_table_any_left(NULL, dev, RDMACHAN_CAUSE_DEVICE_FATAL);
		return;
	}
	count = link_table_tell_paths(dev, port, news);
	if (count && news == RCH_DEVICE_PORT_DOWN)
		pr_notice_ratelimited("rdmachan: port %u of %s is down; %u links end if it stays so\n",
				      port, dev_name(&dev->dev), count);
}

/** rch_link_count_device - links of a network namespace on a device; may sleep */
u32 rch_link_count_device(const struct net *net, const struct ib_device *dev)
{
	struct rch_link *link;
	u32 count = 0;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list)
		if (link->path.dev == dev && link->net == net)
			count++;
	mutex_unlock(&links_lock);
	return count;
}

static int rch_net_init(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);

	mutex_init(&rn->lock);
	return 0;
}

static int link_table_listen_locked(struct net *net, struct rch_net *rn)
{
	struct rch_path_listener *listener;

	lockdep_assert_held(&rn->lock);
	if (rn->listener)
		return 0;
	listener = rch_path_listen(net, rch_port, rch_link_incoming);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	rn->listener = listener;
	return 0;
}

/*
 * The first namespace has the port from the beginning, so that no program can have it, and be
 * taken for the module by peers. Without it LISTEN tries again, and tells the program.
 */
static void link_table_listen_first(void)
{
	struct rch_net *rn = net_generic(&init_net, net_id);
	int ret;

	mutex_lock(&rn->lock);
	ret = link_table_listen_locked(&init_net, rn);
	mutex_unlock(&rn->lock);
	if (ret)
		pr_warn("rdmachan: port %u cannot be had (%d): peers may reach another program there\n",
			rch_port, ret);
}

/*
 * All links of all the namespaces that go together are ended before any of them is waited for, so
 * that these times run side by side. Peers may still connect: rch_net_exit() ends these.
 */
static void rch_net_pre_exit(struct net *net)
{
	link_table_any_left(net, NULL, RDMACHAN_CAUSE_UNLOAD);
}

/*
 * Other namespaces wait meanwhile. No peer can prolong that. A link waits for RCH_RTU_MS where its
 * connection was never confirmed, for one dead time (dead_ms) where its other end is on this host
 * and does not end, and for its own adapter, whose queue pair is in the error state. No program
 * holds a path while its memory is slow. No link can be left behind: it has the namespace's
 * addresses, and code of the module.
 */
static void rch_net_exit(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);

	/* No program offers a service any more. */
	mutex_lock(&rn->lock);
	if (rn->listener)
		rch_path_unlisten(rn->listener);
	rn->listener = NULL;
	mutex_unlock(&rn->lock);
	link_table_end_links(net, NULL, RDMACHAN_CAUSE_UNLOAD);
}

static struct pernet_operations net_ops = {
	.init = rch_net_init,
	.pre_exit = rch_net_pre_exit,
	.exit = rch_net_exit,
	.id = &net_id,
	.size = sizeof(struct rch_net),
};

/**
 * rch_link_listen - wait for peers, as there is a service
 * @net: network namespace
 *
 * Context: may sleep. Return: 0, or why not: -EADDRINUSE or -EADDRNOTAVAIL when another
 * program has the port, or what an adapter says; after 0 rch_link_unlisten() is the opposite.
 */
int rch_link_listen(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);
	int ret;

	mutex_lock(&rn->lock);
	ret = link_table_listen_locked(net, rn);
	if (!ret)
		rn->services++;
	mutex_unlock(&rn->lock);
	return ret;
}

/** rch_link_unlisten - a service of a network namespace is no more. Context: may sleep */
void rch_link_unlisten(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);

	mutex_lock(&rn->lock);
	rn->services--;
	link_table_unlisten_locked(net, rn);
	mutex_unlock(&rn->lock);
}

/** rch_link_init - once, at load */
int rch_link_init(const struct rch_link_ops *ops)
{
	int ret;

	rch_link_ops = ops;
	rch_boot_id = get_random_u64();
	ret = rch_frame_init();
	if (ret)
		return ret;
	ret = register_pernet_subsys(&net_ops);
	if (ret) {
		rch_frame_exit();
		return ret;
	}
	link_table_listen_first();
	return 0;
}

static bool link_table_all_idle(void)
{
	struct rch_link *link;
	bool idle = true;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list)
		if (READ_ONCE(link->lanes.count))
			idle = false;
	mutex_unlock(&links_lock);
	return idle;
}

/* Channels that were closed may still be delivering. */
static void link_table_await_idle(long patience)
{
	int seen;

	do {
		seen = atomic_read(&links_changes);
		if (link_table_all_idle())
			return;
		patience = wait_event_timeout(links_wait, atomic_read(&links_changes) != seen,
					      patience);
	} while (patience);
}

/** rch_link_exit - once, at unload, when no program uses the module */
void rch_link_exit(void)
{
	link_table_await_idle(msecs_to_jiffies(READ_ONCE(rch_dead_ms)));
	unregister_pernet_subsys(&net_ops);
	link_table_end_links(NULL, NULL, RDMACHAN_CAUSE_UNLOAD);
	/* A connect in the background that its program has given up may have begun a link
	 * just now; it begins no other.
	 */
	rch_work_flush();
	link_table_end_links(NULL, NULL, RDMACHAN_CAUSE_UNLOAD);
	rch_work_flush();
	/* Channels and links are freed after a grace period. */
	rcu_barrier();
	rch_frame_exit();
}
