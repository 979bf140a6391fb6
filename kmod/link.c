// SPDX-License-Identifier: GPL-2.0
/*
 * link.c - a link's life: found or made, connected, watched, taken apart
 *
 * Making. The active side's connect_work resolves, connects and sends HELLO; callers
 * wait for the state to change. The passive side's link is made in the connection
 * manager's handler and is UP when HELLO comes. Two hosts that connect to each other
 * at once get two links; both work, and the one that is not used any more goes when it
 * has been idle.
 *
 * Taking apart. Whatever ends a link goes through rch_link_fail_locked(), once: the
 * state becomes DEAD, which stops all sending, and dead_work runs:
 *
 *  1. It waits until the link is built: for the connection manager's handler (passive)
 *     or connect_work (active), which is told to give up. Then it stops tick_work,
 *     which looks at the state before it queues itself again.
 *  2. Nobody posts: those who might look at the state under link->lock, and the one
 *     who is posting is waited for.
 *  3. The path is drained: no softirq of this link runs any more, and no work of an
 *     injected fault. Frames are unmapped
 *     and freed while the device is still there. Then the path is destroyed.
 *  4. Channels learn the error; each gives up its lane, and with it its reference.
 *     Lanes of @gone are reaped first, so that none is told twice.
 *  5. The link leaves the table and loses the table's reference.
 *
 * rch_link_device_gone() and rch_link_exit() kill links and wait for dead_work.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "error.h"
#include "inject.h"
#include "link.h"
#include "rch.h"

#define RCH_STALE_TRIES 5
/* Links that one host has made, and that have no channel. */
#define RCH_UNUSED_MAX 64

const struct rch_link_ops *rch_link_ops;

static DEFINE_MUTEX(links_lock); /* protects links and link->list; outermost */
static LIST_HEAD(links);
static DECLARE_WAIT_QUEUE_HEAD(links_wait);
/* How many links have left the table; whoever waits for some to go looks at it. */
static atomic_t links_gone;

/**
 * struct rch_net - what a network namespace has
 * @lock: protects @listener
 * @listener: waits for peers, since the first LISTEN
 */
struct rch_net {
	struct mutex lock;
	struct rch_path_listener *listener;
};

static unsigned int net_id;

static void rch_link_connect_work(struct work_struct *work);
static void rch_link_dead_work(struct work_struct *work);
static void rch_link_reap_work(struct work_struct *work);
static void rch_link_tick_work(struct work_struct *work);

static struct rch_link *path_link(struct rch_path *path)
{
	return container_of(path, struct rch_link, path);
}

/* dead_work may be queued again while it runs: each time has a reference of its own. */
static void queue_dead(struct rch_link *link)
{
	kref_get(&link->ref);
	if (!queue_work(rch_wq, &link->dead_work))
		rch_link_put(link);
}

static void path_received(struct rch_path *path, struct page *page, u32 length)
{
	if (rch_inject_on())
		rch_link_inject(path_link(path), page, length);
	else
		rch_link_received(path_link(path), page, length);
}

static void path_reposted(struct rch_path *path, u32 count)
{
	struct rch_link *link = path_link(path);

	spin_lock_bh(&link->lock);
	if (rch_inject_on())
		rch_link_inject_posted(link, count);
	else
		rch_credit_posted(&link->credit, count);
	rch_link_run_locked(link);
	spin_unlock_bh(&link->lock);
}

static void path_sent(struct rch_path *path, struct rch_txf *txf)
{
	rch_link_completed(path_link(path), txf);
}

/*
 * The path's error is final when this is called, but the context may be one that must
 * not take link->lock: some adapters report events with interrupts off.
 */
static void path_down(struct rch_path *path)
{
	struct rch_link *link = path_link(path);
	enum rch_link_state state;

	smp_mb(); /* path->failed before state; pairs with rch_link_connect_work() */
	state = READ_ONCE(link->state);
	/* connect_work waits for the answer itself, and may try again. */
	if (state != RCH_LINK_CONNECTING && state != RCH_LINK_DEAD)
		queue_dead(link);
}

static const struct rch_path_ops path_ops = {
	.received = path_received,
	.reposted = path_reposted,
	.sent = path_sent,
	.down = path_down,
};

static bool link_get(struct rch_object *obj)
{
	return kref_get_unless_zero(&container_of(obj, struct rch_link, object)->ref);
}

static void link_put(struct rch_object *obj)
{
	rch_link_put(container_of(obj, struct rch_link, object));
}

/** rch_link_describe - tell about the link of a channel */
void rch_link_describe(struct rch_link *link, struct rdmachan_object *out)
{
	out->link_id = link->object.id;
	out->active = link->active;
	spin_lock_bh(&link->lock);
	rch_addr_from_sockaddr(&out->peer, &link->peer);
	out->local = link->error.local;
	out->dev_port = link->error.dev_port;
	memcpy(out->device, link->error.device, sizeof(out->device));
	out->frame_size = link->frame_size;
	if (link->state == RCH_LINK_UP)
		out->peer_uid = link->peer_domain;
	spin_unlock_bh(&link->lock);
}

static void link_fill(struct rch_object *obj, struct rdmachan_object *out)
{
	static const u8 states[RCH_LINK_STATES] = {
		[RCH_LINK_CONNECTING] = RDMACHAN_STATE_CONNECTING,
		[RCH_LINK_HELLO] = RDMACHAN_STATE_CONNECTING,
		[RCH_LINK_UP] = RDMACHAN_STATE_OPEN,
		[RCH_LINK_DEAD] = RDMACHAN_STATE_FAILED,
	};
	struct rch_link *link = container_of(obj, struct rch_link, object);

	rch_link_describe(link, out);
	spin_lock_bh(&link->lock);
	out->state = states[link->state];
	out->channels = link->lane_count;
	out->tx_frames = link->tx_frames;
	out->rx_frames = link->rx_frames;
	out->tx_stalls = link->stalls;
	spin_unlock_bh(&link->lock);
}

static const struct rch_object_ops link_object_ops = {
	.kind = RDMACHAN_KIND_LINK,
	.get = link_get,
	.put = link_put,
	.fill = link_fill,
};

static void link_release(struct kref *ref)
{
	struct rch_link *link = container_of(ref, struct rch_link, ref);

	pr_debug("rdmachan: link destroyed %p\n", link);
	atomic_dec(&rch_counts.links);
	xa_destroy(&link->lanes);
	kfree_rcu(link, rcu);
}

/** rch_link_put - drop a reference */
void rch_link_put(struct rch_link *link)
{
	kref_put(&link->ref, link_release);
}

static struct rch_link *link_alloc(struct net *net, kuid_t uid,
				   const struct sockaddr_storage *peer,
				   enum rch_link_state state)
{
	struct rch_link *link = rch_try(RCH_SITE_LINK,
					kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT));

	if (!link)
		return NULL;
	kref_init(&link->ref);
	rch_path_init(&link->path, &path_ops);
	link->net = net;
	link->uid = uid;
	link->peer = *peer;
	init_waitqueue_head(&link->wait);
	spin_lock_init(&link->lock);
	link->state = state;
	link->dead = msecs_to_jiffies(READ_ONCE(rch_dead_ms));
	INIT_LIST_HEAD(&link->list);
	INIT_LIST_HEAD(&link->spare);
	INIT_LIST_HEAD(&link->ready);
	INIT_LIST_HEAD(&link->sent);
	INIT_LIST_HEAD(&link->control);
	INIT_LIST_HEAD(&link->orphans);
	INIT_LIST_HEAD(&link->gone);
	link->drr.quantum = RCH_FRAME_SIZE;
	xa_init_flags(&link->lanes, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	init_completion(&link->built);
	INIT_WORK(&link->connect_work, rch_link_connect_work);
	INIT_WORK(&link->dead_work, rch_link_dead_work);
	INIT_WORK(&link->reap_work, rch_link_reap_work);
	INIT_DELAYED_WORK(&link->tick_work, rch_link_tick_work);
	rch_link_inject_init(link);
	link->last_rx = jiffies;
	link->idle_since = jiffies;
	rch_addr_from_sockaddr(&link->error.peer, peer);
	if (rch_object_enter(&link->object, &link_object_ops, net, uid, GFP_KERNEL)) {
		xa_destroy(&link->lanes);
		kfree(link);
		return NULL;
	}
	atomic_inc(&rch_counts.links);
	pr_debug("rdmachan: link created %p\n", link);
	return link;
}

/** rch_link_set_state - the only writer of a link's state; locked */
bool rch_link_set_state(struct rch_link *link, enum rch_link_state to)
{
	lockdep_assert_held(&link->lock);
	if (!rch_link_state_allowed(link->state, to))
		return false;
	WRITE_ONCE(link->state, to);
	wake_up_all(&link->wait);
	return true;
}

/* Keep where the link goes to in its error record, with or without an error. */
static void note_place(struct rch_link *link)
{
	struct rch_path *path = &link->path;
	struct rdmachan_addr local = {}, peer = {};

	rch_path_addresses(path, &local, &peer);
	spin_lock_bh(&link->lock);
	link->error.local = local;
	if (path->dev) {
		strscpy(link->error.device, dev_name(&path->dev->dev),
			sizeof(link->error.device));
		link->error.dev_port = path->port;
	}
	spin_unlock_bh(&link->lock);
}

/** rch_link_where - fill in addresses and device of an error record of a channel */
void rch_link_where(struct rch_link *link, struct rdmachan_error *error)
{
	spin_lock_bh(&link->lock);
	error->local = link->error.local;
	error->peer = link->error.peer;
	error->dev_port = link->error.dev_port;
	memcpy(error->device, link->error.device, sizeof(error->device));
	spin_unlock_bh(&link->lock);
}

/**
 * rch_link_fail_locked - end a link
 * @link: link, locked
 * @error: why; its addresses and device are not used
 *
 * Does nothing when it has ended already.
 */
void rch_link_fail_locked(struct rch_link *link, const struct rdmachan_error *error)
{
	struct rdmachan_error place = link->error;

	lockdep_assert_held(&link->lock);
	if (link->state == RCH_LINK_DEAD)
		return;
	link->error = *error;
	if (READ_ONCE(link->doom))
		rch_error_set(&link->error, error->op, link->doom, 0);
	link->error.local = place.local;
	link->error.peer = place.peer;
	link->error.dev_port = place.dev_port;
	memcpy(link->error.device, place.device, sizeof(place.device));
	if (link->error.cause == RDMACHAN_CAUSE_PROTOCOL)
		pr_notice_ratelimited("rdmachan: peer %pISpc broke rule %llu of the protocol: %s; its link is ended\n",
				      &link->peer, link->error.detail,
				      rch_rule_text(link->error.detail));
	rch_link_set_state(link, RCH_LINK_DEAD);
	queue_dead(link);
}

/** rch_link_kill - the same, for callers without link->lock */
void rch_link_kill(struct rch_link *link, const struct rdmachan_error *error)
{
	spin_lock_bh(&link->lock);
	rch_link_fail_locked(link, error);
	spin_unlock_bh(&link->lock);
}

/** rch_link_kill_cause - the same, with a cause only */
void rch_link_kill_cause(struct rch_link *link, u32 op, u32 cause, u64 detail)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, op, cause, detail);
	rch_link_kill(link, &error);
}

/* The sizes and times that both sides agree upon. */
static void agree(struct rch_link *link, const struct rch_hello *peer, u32 frame_size,
		  u32 first_seq)
{
	unsigned long peer_dead = msecs_to_jiffies(peer->dead_ms);

	spin_lock_bh(&link->lock);
	link->peer_domain = peer->domain;
	link->peer_boot = peer->boot_id;
	link->peer_link = peer->link;
	link->epoch = peer->epoch;
	link->frame_size = frame_size;
	link->features = peer->features & RCH_FEATURES;
	link->tick = max(min(link->dead, peer_dead) / 4, 1UL);
	rch_credit_init(&link->credit, peer->next_seq, peer->depth, first_seq,
			link->path.depth);
	link->done = peer->next_seq;
	link->signalled = peer->next_seq;
	link->last_rx = jiffies;
	spin_unlock_bh(&link->lock);
}

static void hello_fill(struct rch_link *link, struct rch_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->version_min = RCH_WIRE_VERSION_MIN;
	h->version_max = RCH_WIRE_VERSION;
	h->depth = link->path.depth;
	h->features = RCH_FEATURES;
	h->boot_id = rch_boot_id;
	h->link = link->object.id;
	h->next_seq = get_random_u32();
	h->frame_size = RCH_FRAME_SIZE;
	h->dead_ms = jiffies_to_msecs(link->dead);
	h->domain = from_kuid(&init_user_ns, link->uid);
}

static u32 refusal_cause(const struct rch_refusal *refusal)
{
	switch (refusal->reason) {
	case RCH_REJECT_NO_SERVICE:
		return RDMACHAN_CAUSE_NO_SERVICE;
	case RCH_REJECT_BACKLOG:
		return RDMACHAN_CAUSE_BACKLOG;
	case RCH_REJECT_RESOURCES:
		return RDMACHAN_CAUSE_PEER_RESOURCES;
	case RCH_REJECT_VERSION:
		return RDMACHAN_CAUSE_VERSION;
	case RCH_REJECT_FEATURE:
		return RDMACHAN_CAUSE_FEATURE;
	default:
		return RDMACHAN_CAUSE_REJECTED;
	}
}

/* The peer's connection manager said no: its module may tell why. */
static void explain_refusal(struct rch_link *link, struct rdmachan_error *error)
{
	struct rch_path *path = &link->path;
	struct rch_refusal refusal;

	if (error->cause != RDMACHAN_CAUSE_REJECTED)
		return;
	if (!rch_wire_refusal_get(path->reply, path->reply_len, &refusal)) {
		error->cause = refusal_cause(&refusal);
		error->detail = refusal.detail;
	} else if (rdma_protocol_iwarp(path->dev, path->port)) {
		/* With iWARP a refused TCP connection looks the same. */
		error->cause = RDMACHAN_CAUSE_NO_MODULE;
	}
	error->error = rch_error_errno(error->cause);
}

/* Whether the peer's answer goes with what it was asked. */
static enum rch_rule judge_reply(const struct rch_path *path, const struct rch_hello *mine,
				 struct rch_hello *theirs)
{
	enum rch_rule rule = rch_wire_hello_get(path->reply, path->reply_len, theirs);

	if (rule)
		return rule;
	if (theirs->version_min != RCH_WIRE_VERSION ||
	    theirs->version_max != RCH_WIRE_VERSION ||
	    theirs->frame_size > mine->frame_size || theirs->epoch != mine->epoch)
		return RCH_RULE_SIZES;
	return RCH_RULE_OK;
}

static int connect_once(struct rch_link *link, struct rch_hello *mine,
			struct rch_hello *theirs)
{
	struct rch_path *path = &link->path;
	u8 data[sizeof(struct rch_wire_hello)];
	enum rch_rule rule;
	int ret;

	path->reply_len = 0;
	ret = rch_path_resolve(path, link->net, &link->peer, link->deadline);
	note_place(link);
	if (ret)
		return ret;
	ret = rch_path_setup(path, READ_ONCE(rch_depth), RCH_FRAME_SIZE);
	if (ret)
		return ret;
	hello_fill(link, mine);
	mine->epoch = 1;
	mine->service = link->service;
	mine->peer_domain = link->want_domain;
	rch_wire_hello_put(data, mine);
	ret = rch_path_connect(path, data, sizeof(data), link->deadline);
	if (ret)
		return ret;
	atomic64_inc(&rch_counts.cm_connects);
	note_place(link);
	rule = judge_reply(path, mine, theirs);
	if (rule)
		rch_path_fail(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_PROTOCOL, rule);
	else if (theirs->required & ~RCH_FEATURES)
		rch_path_fail(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_FEATURE,
			      theirs->required & ~RCH_FEATURES);
	else
		return 0;
	return -EPROTO;
}

/*
 * The peer still has a connection with our queue pair's number, from before this
 * host's adapter or module was restarted. Being asked makes it forget.
 */
static bool is_stale(const struct rch_path *path)
{
	return path->error.cause == RDMACHAN_CAUSE_REJECTED &&
	       path->error.cm_status == 10 /* IB_CM_REJ_STALE_CONN */;
}

static void rch_link_connect_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, connect_work);
	struct rch_path *path = &link->path;
	struct rdmachan_error error;
	struct rch_hello mine, theirs;
	int ret, tries = 0;

	do {
		if (tries)
			rch_path_destroy(path);
		ret = connect_once(link, &mine, &theirs);
	} while (ret && is_stale(path) && ++tries < RCH_STALE_TRIES);
	if (ret) {
		error = path->error;
		explain_refusal(link, &error);
		rch_link_kill(link, &error);
		return;
	}
	agree(link, &theirs, theirs.frame_size, mine.next_seq);
	spin_lock_bh(&link->lock);
	link->hello = true;
	if (rch_link_set_state(link, RCH_LINK_UP))
		queue_delayed_work(rch_wq, &link->tick_work, link->tick);
	spin_unlock_bh(&link->lock);
	/* Whoever waited for the link may be faster; then his frame is the first. */
	rch_link_heartbeat(link);
	/* The path may have failed before it was our turn to hear of it. */
	smp_mb(); /* state before path->failed; pairs with path_down() */
	if (READ_ONCE(path->failed))
		path_down(path);
}

/* Wait for the one who is posting: he holds no lock, but soft interrupts are off. */
static void wait_posted(struct rch_link *link)
{
	bool posting;

	do {
		spin_lock_bh(&link->lock);
		posting = link->posting;
		spin_unlock_bh(&link->lock);
		if (posting)
			cpu_relax();
	} while (posting);
}

static void tell_lanes(struct rch_link *link)
{
	struct rch_lane *lane;
	unsigned long id;

	/* Nobody attaches a lane to a link that is DEAD, and each gives up its own. */
	xa_for_each(&link->lanes, id, lane)
		rch_link_ops->dead(lane, &link->error);
}

static void reap(struct rch_link *link)
{
	struct rch_lane *lane;

	for (;;) {
		spin_lock_bh(&link->lock);
		lane = list_first_entry_or_null(&link->gone, struct rch_lane, control_list);
		if (lane)
			list_del_init(&lane->control_list);
		spin_unlock_bh(&link->lock);
		if (!lane)
			return;
		rch_link_ops->gone(lane);
	}
}

static void rch_link_reap_work(struct work_struct *work)
{
	reap(container_of(work, struct rch_link, reap_work));
}

/*
 * The other end of a link from this host to itself. When both have been drained, rxe
 * has nothing to pass from one queue pair to the other; see settle_qp() in path.c for
 * why that must be before either is destroyed.
 */
static void wait_for_twin(struct rch_link *link)
{
	struct rch_link *other, *twin = NULL;

	if (link->peer_boot != rch_boot_id)
		return;
	mutex_lock(&links_lock);
	list_for_each_entry(other, &links, list)
		if (other->object.id == link->peer_link)
			twin = other;
	if (twin)
		kref_get(&twin->ref);
	mutex_unlock(&links_lock);
	if (!twin)
		return;
	/* A peer may only pretend to be this host: it gains some patience. */
	wait_for_completion_timeout(&twin->path.drained, link->dead);
	rch_link_put(twin);
}

static void take_apart(struct rch_link *link)
{
	wait_for_completion(&link->built);
	rch_path_abort(&link->path);
	flush_work(&link->connect_work);
	cancel_delayed_work_sync(&link->tick_work);
	wait_posted(link);
	rch_path_drain(&link->path);
	rch_link_inject_stop(link);
	rch_link_purge(link);
	flush_work(&link->reap_work);
	reap(link);
	/* Before the path goes: who waits for the peer's bytes is a user of it. */
	tell_lanes(link);
	wait_for_twin(link);
	rch_path_destroy(&link->path);
	rch_object_strike(&link->object);
	mutex_lock(&links_lock);
	list_del_init(&link->list);
	mutex_unlock(&links_lock);
	rch_link_put(link);
	atomic_inc(&links_gone);
	wake_up_all(&links_wait);
}

static void rch_link_dead_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, dead_work);

	/* When it was the path that reported its end, the state is still another. */
	rch_link_kill(link, &link->path.error);
	if (!list_empty_careful(&link->list))
		take_apart(link);
	rch_link_put(link);
}

static bool idle_too_long(struct rch_link *link)
{
	return !link->lane_count &&
	       time_after(jiffies, link->idle_since +
				   msecs_to_jiffies(READ_ONCE(rch_idle_ms)));
}

static void rch_link_tick_work(struct work_struct *work)
{
	struct rch_link *link = container_of(to_delayed_work(work), struct rch_link,
					     tick_work);
	bool beat, idle, dead, doubt;

	spin_lock_bh(&link->lock);
	doubt = link->doubt;
	/* Who is alive is silent for less than half of the dead time. */
	dead = time_after(jiffies, link->last_rx + (doubt ? link->dead / 2 : link->dead));
	beat = time_after_eq(jiffies, link->last_tx + link->tick);
	idle = idle_too_long(link);
	spin_unlock_bh(&link->lock);
	if (dead && doubt)
		rch_link_kill_cause(link, RDMACHAN_OP_HEARTBEAT,
				    RDMACHAN_CAUSE_PEER_RESTARTED, 0);
	else if (dead)
		rch_link_kill_cause(link, RDMACHAN_OP_HEARTBEAT, RDMACHAN_CAUSE_PEER_DEAD,
				    jiffies_to_msecs(link->dead));
	else if (idle)
		rch_link_kill_cause(link, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
	if (READ_ONCE(link->state) == RCH_LINK_DEAD)
		return;
	if (!READ_ONCE(link->lane_count))
		rch_link_spare_trim(link);
	rch_path_refill(&link->path, GFP_KERNEL);
	rch_link_inject_lift(link);
	if (beat)
		rch_link_heartbeat(link);
	rch_link_run(link);
	queue_delayed_work(rch_wq, &link->tick_work, link->tick);
}

static __be16 port_of(const struct sockaddr_storage *ss)
{
	/* At the same place in both families. */
	return ((const struct sockaddr_in *)ss)->sin_port;
}

/* A link that the peer made comes from any port: it leads to the module on our own. */
static bool same_module(const struct rch_link *link, const struct sockaddr_storage *peer)
{
	return port_of(peer) == (link->active ? port_of(&link->peer) : htons(rch_port));
}

static bool matches(const struct rch_link *link, const struct net *net, kuid_t uid,
		    const struct sockaddr_storage *peer, u32 domain)
{
	enum rch_link_state state = READ_ONCE(link->state);

	if (link->net != net || !uid_eq(link->uid, uid) || state == RCH_LINK_DEAD ||
	    state == RCH_LINK_HELLO || !rch_addr_same_host(&link->peer, peer) ||
	    !same_module(link, peer))
		return false;
	if (domain == RCH_DOMAIN_ANY)
		return true;
	return (state == RCH_LINK_UP ? link->peer_domain : link->want_domain) == domain;
}

static void link_publish(struct rch_link *link)
{
	lockdep_assert_held(&links_lock);
	list_add_tail(&link->list, &links);
}

/**
 * rch_link_get - find or make the link to a peer
 * @net: network namespace
 * @uid: trust domain here
 * @peer: address
 * @domain: trust domain there, or RCH_DOMAIN_ANY
 * @service: that is wanted, if the link must be made
 * @deadline: for connecting, in jiffies
 *
 * Context: may sleep, but does not wait for the connection.
 * Return: a link with a reference, perhaps CONNECTING; or NULL without memory.
 */
struct rch_link *rch_link_get(struct net *net, kuid_t uid,
			      const struct sockaddr_storage *peer, u32 domain,
			      u32 service, unsigned long deadline)
{
	struct rch_link *link;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list) {
		if (matches(link, net, uid, peer, domain)) {
			kref_get(&link->ref);
			goto out;
		}
	}
	link = link_alloc(net, uid, peer, RCH_LINK_CONNECTING);
	if (!link)
		goto out;
	link->active = true;
	link->service = service;
	link->want_domain = domain;
	link->deadline = deadline;
	complete_all(&link->built);
	kref_get(&link->ref);
	link_publish(link);
	queue_work(rch_wq, &link->connect_work);
out:
	mutex_unlock(&links_lock);
	return link;
}

static void refuse(const struct rch_path_request *request, u32 reason, u32 detail)
{
	struct rch_refusal refusal = {
		.version_min = RCH_WIRE_VERSION_MIN,
		.version_max = RCH_WIRE_VERSION,
		.reason = reason,
		.detail = detail,
	};
	u8 data[sizeof(struct rch_wire_refusal)];

	rch_wire_refusal_put(data, &refusal);
	rch_path_refuse(request, data, sizeof(data));
}

static u32 judge_hello(const struct net *net, const struct rch_path_request *request,
		       struct rch_hello *h, kuid_t *uid, u32 *detail)
{
	enum rch_rule rule = rch_wire_hello_get(request->data, request->data_len, h);
	u32 reason;

	*detail = 0;
	if (rule == RCH_RULE_MAGIC)
		return RCH_REJECT_PROTOCOL;
	if (!rch_wire_version(h->version_min, h->version_max))
		return RCH_REJECT_VERSION;
	if (rule)
		return RCH_REJECT_PROTOCOL;
	*detail = h->required & ~RCH_FEATURES;
	if (*detail)
		return RCH_REJECT_FEATURE;
	reason = rch_link_ops->service_domain(net, h->service, uid);
	if (reason)
		return reason;
	*detail = from_kuid(&init_user_ns, *uid);
	if (h->peer_domain != RCH_DOMAIN_ANY && h->peer_domain != *detail)
		return RCH_REJECT_DOMAIN;
	return 0;
}

/*
 * Links of a peer that was restarted in the meantime lead nowhere. But anybody on its
 * host can say so: what is doubted ends only if it is silent, and soon.
 */
static void doubt_former(const struct rch_link *link)
{
	struct rch_link *other;

	mutex_lock(&links_lock);
	list_for_each_entry(other, &links, list) {
		if (other == link || other->net != link->net ||
		    !rch_addr_same_host(&other->peer, &link->peer))
			continue;
		spin_lock_bh(&other->lock);
		if (other->state == RCH_LINK_UP && other->peer_boot != link->peer_boot)
			other->doubt = true;
		spin_unlock_bh(&other->lock);
	}
	mutex_unlock(&links_lock);
}

/*
 * A host may make links and not use them. Each costs a ring of buffers: when there are
 * too many the oldest gives way, or the new one is refused.
 */
static bool crowded(const struct net *net, const struct sockaddr_storage *peer)
{
	struct rch_link *other, *idle = NULL;
	u32 count = 0;

	mutex_lock(&links_lock);
	list_for_each_entry(other, &links, list) {
		if (other->active || other->net != net || READ_ONCE(other->lane_count) ||
		    !rch_addr_same_host(&other->peer, peer))
			continue;
		count++;
		if (!idle && READ_ONCE(other->state) == RCH_LINK_UP)
			idle = other;
	}
	if (idle && count >= RCH_UNUSED_MAX / 2)
		rch_link_kill_cause(idle, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
	mutex_unlock(&links_lock);
	return count >= RCH_UNUSED_MAX;
}

static int accept_hello(struct rch_link *link, const struct rch_path_request *request,
			const struct rch_hello *theirs)
{
	u32 frame_size = min(theirs->frame_size, RCH_FRAME_SIZE);
	u8 data[sizeof(struct rch_wire_hello)];
	struct rch_hello mine;
	int ret;

	rch_path_adopt(&link->path, request->id);
	ret = rch_path_setup(&link->path, READ_ONCE(rch_depth), RCH_FRAME_SIZE);
	if (ret)
		return ret;
	hello_fill(link, &mine);
	mine.version_min = RCH_WIRE_VERSION;
	mine.epoch = theirs->epoch;
	mine.frame_size = frame_size;
	agree(link, theirs, frame_size, mine.next_seq);
	rch_wire_hello_put(data, &mine);
	return rch_path_accept(&link->path, theirs->depth, data, sizeof(data));
}

/**
 * rch_link_incoming - a peer wants to connect
 * @net: network namespace
 * @request: the peer's wish
 *
 * Called in the connection manager's handler for the new id. Return: 0 when a link has
 * taken the id over, else the core destroys it.
 */
int rch_link_incoming(struct net *net, const struct rch_path_request *request)
{
	struct rch_hello theirs;
	struct rch_link *link;
	u32 reason, detail;
	kuid_t uid;

	reason = judge_hello(net, request, &theirs, &uid, &detail);
	if (reason == RCH_REJECT_PROTOCOL)
		pr_notice_ratelimited("rdmachan: refused a handshake of %pISpc that breaks the protocol\n",
				      &request->id->route.addr.dst_addr);
	if (!reason && crowded(net, &request->id->route.addr.dst_addr)) {
		reason = RCH_REJECT_RESOURCES;
		detail = 0;
	}
	if (reason) {
		refuse(request, reason, detail);
		return -ECONNREFUSED;
	}
	link = link_alloc(net, uid, &request->id->route.addr.dst_addr, RCH_LINK_HELLO);
	if (!link) {
		refuse(request, RCH_REJECT_RESOURCES, 0);
		return -ENOMEM;
	}
	/* In the table first, so that it is found when its device goes; @built keeps it
	 * from being taken apart under our hands.
	 */
	mutex_lock(&links_lock);
	kref_get(&link->ref);
	link_publish(link);
	mutex_unlock(&links_lock);
	if (accept_hello(link, request, &theirs)) {
		refuse(request, RCH_REJECT_RESOURCES, 0);
		rch_link_kill(link, &link->path.error);
	} else {
		note_place(link);
		doubt_former(link);
		queue_delayed_work(rch_wq, &link->tick_work, link->tick);
	}
	complete_all(&link->built);
	rch_link_put(link);
	return 0;
}

static bool selected(const struct rch_link *link, const struct net *net,
		     const struct ib_device *dev)
{
	return (!net || link->net == net) && (!dev || link->path.dev == dev);
}

/* Whether a link is still there that @net and @dev, where given, select. */
static bool any_left(struct net *net, struct ib_device *dev, u32 cause)
{
	struct rch_link *link;
	bool left = false;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list)
		if (selected(link, net, dev))
			WRITE_ONCE(link->doom, cause);
	list_for_each_entry(link, &links, list) {
		if (!selected(link, net, dev))
			continue;
		rch_link_kill_cause(link, RDMACHAN_OP_NONE, cause, 0);
		left = true;
	}
	mutex_unlock(&links_lock);
	return left;
}

/* End the links that @net and @dev, where given, select, and wait until they are gone. */
static void end_links(struct net *net, struct ib_device *dev, u32 cause)
{
	int gone;

	for (;;) {
		gone = atomic_read(&links_gone);
		if (!any_left(net, dev, cause))
			return;
		wait_event(links_wait, atomic_read(&links_gone) != gone);
	}
}

/** rch_link_kill_net - end all links of a network namespace, and wait until they are gone */
void rch_link_kill_net(struct net *net, u32 cause)
{
	end_links(net, NULL, cause);
}

/** rch_link_device_gone - end all links on a device, and wait until they are gone */
void rch_link_device_gone(struct ib_device *dev)
{
	end_links(NULL, dev, RDMACHAN_CAUSE_DEVICE_REMOVED);
}

/** rch_link_count_device - links on a device */
u32 rch_link_count_device(struct ib_device *dev)
{
	struct rch_link *link;
	u32 count = 0;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list)
		if (link->path.dev == dev)
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

static void rch_net_exit(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);

	if (rn->listener)
		rch_path_unlisten(rn->listener);
	rch_link_kill_net(net, RDMACHAN_CAUSE_UNLOAD);
}

static struct pernet_operations net_ops = {
	.init = rch_net_init,
	.exit = rch_net_exit,
	.id = &net_id,
	.size = sizeof(struct rch_net),
};

/**
 * rch_link_listen - begin to wait for peers, unless that was done
 * @net: network namespace
 *
 * Peers are waited for as long as the network namespace lives. Context: may sleep.
 * Return: 0, or why not: -EADDRINUSE when another program has the port.
 */
int rch_link_listen(struct net *net)
{
	struct rch_net *rn = net_generic(net, net_id);
	struct rch_path_listener *listener;
	int ret = 0;

	mutex_lock(&rn->lock);
	if (!rn->listener) {
		listener = rch_path_listen(net, rch_port, rch_link_incoming);
		if (IS_ERR(listener))
			ret = PTR_ERR(listener);
		else
			rn->listener = listener;
	}
	mutex_unlock(&rn->lock);
	return ret;
}

/** rch_link_init - once, at load */
int rch_link_init(const struct rch_link_ops *ops)
{
	int ret;

	rch_link_ops = ops;
	ret = rch_frame_init();
	if (ret)
		return ret;
	ret = register_pernet_subsys(&net_ops);
	if (ret)
		rch_frame_exit();
	return ret;
}

static bool all_idle(void)
{
	struct rch_link *link;
	bool idle = true;

	mutex_lock(&links_lock);
	list_for_each_entry(link, &links, list)
		if (READ_ONCE(link->lane_count))
			idle = false;
	mutex_unlock(&links_lock);
	return idle;
}

/** rch_link_exit - once, at unload, when no program uses the module */
void rch_link_exit(void)
{
	unsigned long limit = jiffies + msecs_to_jiffies(READ_ONCE(rch_dead_ms));

	/* Channels that were closed may still be delivering. */
	while (!all_idle() && time_before(jiffies, limit))
		msleep(20);
	unregister_pernet_subsys(&net_ops);
	end_links(NULL, NULL, RDMACHAN_CAUSE_UNLOAD);
	/* A connect in the background that its program has given up may have begun a link
	 * just now; it begins no other.
	 */
	flush_workqueue(rch_wq);
	end_links(NULL, NULL, RDMACHAN_CAUSE_UNLOAD);
	flush_workqueue(rch_wq);
	/* Channels and links are freed after a grace period. */
	rcu_barrier();
	rch_frame_exit();
}
