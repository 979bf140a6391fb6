// SPDX-License-Identifier: GPL-2.0
/*
 * link.c - a link's life: begun, watched, taken apart
 *
 * link_connect.c makes it; link_table.c knows all of them.
 *
 * Taking apart. Each end of a link goes through rch_link_fail_locked(), once. The state becomes
 * DEAD, which stops all sending. By break_work the queue pair fails, so that the peer reaches
 * nothing by it however long the rest takes. And dead_work runs. It waits for the adapter, for
 * threads that are in the link just now, and a second at most for the peer (path_await_rtu()):
 *
 *  1. If opening.work still connects, dead_work has it give up, and runs again behind it. It
 *     waits for the connection manager's handler that builds a passive link. It stops tick_work,
 *     which looks at the state before it queues itself again, and then care_work, which
 *     tick_work queues; and the timers of link_gather.c, started under link->lock while the
 *     state is UP.
 *  2. Nobody posts: those who might look at the state under link->lock, and the one
 *     who is posting is waited for.
 *  3. The path is drained: no softirq of this link runs any more, and no work of an
 *     injected fault. Frames are unmapped and freed while the device is still there.
 *  4. Lanes of @lanes.gone are reaped, so that none is told twice. Each other channel learns the
 *     error, and gives up its lane, and with it its reference.
 *
 * The rest is end_work's. It waits for the users of the path: for operations, and for keys that are
 * made or taken back. Their work may wait for step 3, of this link and others. So the two are in
 * queues of their own (work.c).
 *
 *  5. The query is ended. That waits for the adapter, which is why no channel waits for it.
 *     The path is destroyed, when its last user has left.
 *  6. The link leaves the table and loses the table's reference.
 *
 * rch_link_device_gone() and rch_link_exit() kill links and wait for end_work.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "link/link.h"
#include "path/path_rdma.h"

static void rch_link_break_work(struct work_struct *work);
static void rch_link_dead_work(struct work_struct *work);
static void rch_link_end_work(struct work_struct *work);
static void rch_link_reap_work(struct work_struct *work);
static void rch_link_tick_work(struct work_struct *work);
static void rch_link_care_work(struct work_struct *work);

static struct rch_link *link_path_link(struct rch_path *path)
{
	return container_of(path, struct rch_link, path);
}

/* A work may be queued again while it runs: each time has a reference of its own. */
static void link_queue_own(struct rch_link *link, struct workqueue_struct *wq,
			   struct work_struct *work)
{
	kref_get(&link->ref);
	if (!queue_work(wq, work))
		rch_link_put(link);
}

/** rch_link_dead_later - have a link that is DEAD taken apart. Any context */
void rch_link_dead_later(struct rch_link *link)
{
	link_queue_own(link, rch_dead_wq, &link->dead_work);
}

/*
 * The link is ended in a moment. Until then its queue pair must do nothing more for the peer. While
 * @connecting there is nothing that it could do, and the queue pair is opening.work's alone.
 */
static void link_queue_dead(struct rch_link *link, bool connecting)
{
	if (!connecting)
		link_queue_own(link, rch_break_wq, &link->break_work);
	rch_link_dead_later(link);
}

static void link_path_received(struct rch_path *path, const struct rch_rxf *rxf)
{
	if (rch_inject_on())
		rch_link_inject(link_path_link(path), rxf);
	else
		rch_link_received(link_path_link(path), rxf);
}

static void link_path_reposted(struct rch_path *path, u32 count)
{
	struct rch_link *link = link_path_link(path);

	spin_lock_bh(&link->lock);
	if (rch_inject_on())
		rch_link_inject_posted(link, count);
	else
		rch_credit_posted(&link->credit, count);
	rch_link_run_locked(link);
	spin_unlock_bh(&link->lock);
}

static void link_path_sent(struct rch_path *path, struct rch_txf *txf)
{
	rch_link_completed(link_path_link(path), txf);
}

/*
 * The path's error is final when this is called, but the context may be one that must
 * not take link->lock: some adapters report events with interrupts off.
 */
static void link_path_down(struct rch_path *path)
{
	struct rch_link *link = link_path_link(path);
	enum rch_link_state state;

	smp_mb(); /* path->failed before state; pairs with rch_link_connect_work() */
	state = READ_ONCE(link->state);
	/* The work that connects may try again. */
	if (state == RCH_LINK_CONNECTING)
		rch_link_connect_look(link);
	else if (state != RCH_LINK_DEAD)
		link_queue_dead(link, false);
}

/* Called in path->lock, so link->lock cannot be taken. */
static bool link_path_arrived(const struct rch_path *path)
{
	const struct rch_link *link = container_of(path, struct rch_link, path);
	u32 next = READ_ONCE(link->credit.tx_next), large = READ_ONCE(link->tx.large);
	u32 acked = READ_ONCE(link->credit.tx_acked), done = READ_ONCE(link->tx.done);

	return acked == next || done == next ||
	       (rch_seq_before(acked, large) && rch_seq_before(done, large));
}

static void link_path_answered(struct rch_path *path)
{
	rch_link_connect_look(link_path_link(path));
}

static void link_path_replied(struct rch_path *path, const void *answer, u8 len)
{
	rch_link_query_replied(link_path_link(path), answer, len);
}

static const struct rch_path_ops path_ops = {
	.received = link_path_received,
	.reposted = link_path_reposted,
	.sent = link_path_sent,
	.down = link_path_down,
	.arrived = link_path_arrived,
	.answered = link_path_answered,
	.replied = link_path_replied,
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
	out->frame_size = link->terms.frame_size;
	out->mtu = rch_path_mtu(&link->path);
	out->traffic_class = rch_path_traffic_class(&link->path);
	out->events = rch_path_events(&link->path);
	if (link->state == RCH_LINK_UP)
		out->peer_claimed_uid = link->terms.peer_domain;
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
	out->channels = link->lanes.count;
	out->tx_frames = link->stats.tx_frames;
	out->rx_frames = link->stats.rx_frames;
	out->tx_stalls = link->stats.stalls;
	out->tx_posts = link->stats.tx_posts;
	out->tx_signals = link->stats.tx_signals;
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
	rch_charge_end(&link->charge);
	xa_destroy(&link->lanes.all);
	kfree_rcu(link, rcu);
}

/** rch_link_put - drop a reference */
void rch_link_put(struct rch_link *link)
{
	kref_put(&link->ref, link_release);
}

/**
 * rch_link_alloc - begin a link
 * @net: network namespace
 * @charge: that was begun, and has nothing: its user is the trust domain here. It becomes the
 *	link's, also where there is none
 * @peer: address
 * @state: CONNECTING or HELLO
 *
 * May sleep. Return: the link with one reference, not in the table; or NULL without memory.
 */
struct rch_link *rch_link_alloc(struct net *net, struct rch_charge *charge,
				const struct sockaddr_storage *peer,
				enum rch_link_state state)
{
	struct rch_link *link = rch_try(RCH_SITE_LINK,
					kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT));
	kuid_t uid = charge->user->uid;

	if (!link)
		goto err_charge;
	link->charge = *charge;
	kref_init(&link->ref);
	rch_path_init(&link->path, &path_ops);
	link->net = net;
	link->uid = uid;
	link->peer = *peer;
	init_waitqueue_head(&link->wait);
	spin_lock_init(&link->lock);
	link->state = state;
	link->opening.over = state != RCH_LINK_CONNECTING;
	link->beat.dead = msecs_to_jiffies(READ_ONCE(rch_dead_ms));
	link->path.patience = RCH_PATIENCE_DEADS * link->beat.dead;
	INIT_LIST_HEAD(&link->list);
	INIT_LIST_HEAD(&link->tx.spare);
	INIT_LIST_HEAD(&link->tx.pure);
	INIT_LIST_HEAD(&link->tx.ready);
	INIT_LIST_HEAD(&link->tx.sent);
	INIT_LIST_HEAD(&link->rx.wakes);
	INIT_LIST_HEAD(&link->lanes.control);
	INIT_LIST_HEAD(&link->lanes.orphans);
	INIT_LIST_HEAD(&link->lanes.gone);
	link->lanes.drr.quantum = RCH_FRAME_SIZE;
	xa_init_flags(&link->lanes.all, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	link->lanes.early = RB_ROOT;
	init_completion(&link->opening.built);
	INIT_DELAYED_WORK(&link->opening.work, rch_link_connect_work);
	INIT_WORK(&link->opening.ask_work, rch_link_ask_work);
	INIT_WORK(&link->break_work, rch_link_break_work);
	INIT_WORK(&link->dead_work, rch_link_dead_work);
	INIT_WORK(&link->end_work, rch_link_end_work);
	INIT_WORK(&link->reap_work, rch_link_reap_work);
	INIT_DELAYED_WORK(&link->beat.work, rch_link_tick_work);
	INIT_WORK(&link->beat.care, rch_link_care_work);
	INIT_WORK(&link->beat.query, rch_link_query_work);
	rch_link_gather_init(link);
	rch_link_later_init(link);
	rch_link_returns_init(link);
	rch_link_inject_init(link);
	link->beat.last_rx = jiffies;
	link->beat.moved = jiffies;
	link->lanes.idle_since = jiffies;
	rch_addr_from_sockaddr(&link->error.peer, peer);
	if (rch_object_enter(&link->object, &link_object_ops, net, uid, GFP_KERNEL))
		goto err_link;
	atomic_inc(&rch_counts.links);
	pr_debug("rdmachan: link created %p\n", link);
	return link;

err_link:
	xa_destroy(&link->lanes.all);
	kfree(link);
err_charge:
	rch_charge_end(charge);
	return NULL;
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

/** rch_link_note_place - keep where the link goes to, for error records to come */
void rch_link_note_place(struct rch_link *link)
{
	struct rch_path *path = &link->path;
	struct rdmachan_addr local = {}, peer = {};

	rch_path_addresses(path, &local, &peer);
	if (!local.family)
		rch_addr_from_sockaddr(&local, &path->source);
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

/* The link is about to end: count that, and tell it in the log. */
static void link_rule_broken(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	atomic64_inc(&rch_counts.broken_rules);
	pr_notice_ratelimited("rdmachan: peer %pISpc broke rule %llu of the protocol: %s; its link is ended\n",
			      &link->peer, link->error.detail,
			      rch_rule_text(link->error.detail));
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
	bool connecting = link->state == RCH_LINK_CONNECTING;
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
		link_rule_broken(link);
	rch_link_set_state(link, RCH_LINK_DEAD);
	link_queue_dead(link, connecting);
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

/**
 * rch_link_note_slow - look how long no frame has come
 * @link: link, locked
 *
 * A peer that lives is silent for less than half of the dead time, if the path is as it should be.
 */
void rch_link_note_slow(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	if (time_after(jiffies, link->beat.last_rx + link->beat.dead / 2))
		link->beat.slow = jiffies;
}

/**
 * rch_link_unanswered - end a link: the peer has had four dead times for an answer
 * @link: link
 * @op: &enum rdmachan_op
 *
 * It has broken the protocol, if the path is as it should be. Where hardly a frame comes the answer
 * may be under way.
 *
 * Context: any.
 */
void rch_link_unanswered(struct rch_link *link, u32 op)
{
	struct rdmachan_error error = {};

	spin_lock_bh(&link->lock);
	rch_link_note_slow(link);
	if (time_after(jiffies, link->beat.slow + link->path.patience))
		rch_error_set(&error, op, RDMACHAN_CAUSE_PROTOCOL, RCH_RULE_ANSWER);
	else
		rch_error_set(&error, op, RDMACHAN_CAUSE_PEER_STALLED,
			      jiffies_to_msecs(link->path.patience));
	rch_link_fail_locked(link, &error);
	spin_unlock_bh(&link->lock);
}

static bool link_is_posting(struct rch_link *link)
{
	bool posting;

	spin_lock_bh(&link->lock);
	posting = link->tx.posting;
	spin_unlock_bh(&link->lock);
	return posting;
}

/* Wait for the thread that is posting: it holds no lock, but soft interrupts are off. */
static void link_wait_posted(struct rch_link *link)
{
	wait_event(link->wait, !link_is_posting(link));
}

static void link_tell_lanes(struct rch_link *link)
{
	struct rch_lane *lane;
	unsigned long id;

	/* Nobody attaches a lane to a link that is DEAD, and each gives up its own. */
	xa_for_each(&link->lanes.all, id, lane)
		rch_link_ops->dead(lane, &link->error);
}

static void link_reap(struct rch_link *link)
{
	struct rch_lane *lane;

	for (;;) {
		spin_lock_bh(&link->lock);
		lane = list_first_entry_or_null(&link->lanes.gone, struct rch_lane,
						control_list);
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
	link_reap(container_of(work, struct rch_link, reap_work));
}

/*
 * When both ends of a link from this host to itself have been drained, rxe has nothing
 * to pass from one queue pair to the other. See path_settle_qp() for why that must
 * be before either is destroyed.
 */
static void link_wait_for_twin(struct rch_link *link)
{
	struct rch_link *twin = rch_links_twin(link);

	if (!twin)
		return;
	/* It ends too, as its connection does; if it is busy, it is waited for so long. */
	wait_for_completion_timeout(&twin->path.drained, link->beat.dead);
	rch_link_put(twin);
}

/* What the path has told may be the consequence of something that can still be seen. */
static void link_find_cause(struct rch_link *link)
{
	struct rdmachan_error error;

	spin_lock_bh(&link->lock);
	error = link->error;
	spin_unlock_bh(&link->lock);
	rch_path_diagnose(&link->path, &error);
	spin_lock_bh(&link->lock);
	link->error = error;
	spin_unlock_bh(&link->lock);
}

/* Steps 1 to 4 */
static void link_quiesce(struct rch_link *link)
{
	wait_for_completion(&link->opening.built);
	link_find_cause(link);
	cancel_delayed_work_sync(&link->beat.work);
	cancel_work_sync(&link->beat.care);
	rch_link_gather_stop(link);
	rch_link_later_stop(link);
	link_wait_posted(link);
	rch_path_drain(&link->path);
	rch_link_inject_stop(link);
	rch_link_purge(link);
	flush_work(&link->reap_work);
	link_reap(link);
	/* Before the path goes: a thread that waits for the peer's bytes is a user of it. */
	link_tell_lanes(link);
}

/* Steps 5 and 6 */
static void link_take_apart(struct rch_link *link)
{
	link_wait_for_twin(link);
	cancel_work_sync(&link->beat.query);
	rch_path_query_end(&link->path);
	rch_path_destroy(&link->path);
	/* From here on nobody queues them. */
	flush_work(&link->opening.ask_work);
	cancel_delayed_work_sync(&link->opening.work);
	rch_object_strike(&link->object);
	rch_links_leave(link);
}

/* The connection manager's handler, which makes a passive link, waits for no peer. */
static void rch_link_break_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, break_work);

	wait_for_completion(&link->opening.built);
	rch_path_break(&link->path);
	rch_link_put(link);
}

static void rch_link_dead_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, dead_work);

	/* When it was the path that reported its end, the state is still another. */
	rch_link_kill(link, &link->path.failure.error);
	if (rch_link_connect_over(link) && !link->quiesced && !list_empty_careful(&link->list)) {
		link->quiesced = true;
		link_quiesce(link);
		link_queue_own(link, rch_end_wq, &link->end_work);
	}
	rch_link_put(link);
}

/* It is queued once. */
static void rch_link_end_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, end_work);

	link_take_apart(link);
	rch_link_put(link);
}

static bool link_idle_too_long(struct rch_link *link)
{
	return !link->lanes.count &&
	       time_after(jiffies, link->lanes.idle_since +
				   msecs_to_jiffies(READ_ONCE(rch_idle_ms)));
}

/** rch_link_tick_later - look after the link in a while. Any context */
void rch_link_tick_later(struct rch_link *link)
{
	link->beat.at = jiffies + link->beat.tick;
	queue_delayed_work(rch_wq, &link->beat.work, link->beat.tick);
}

/* The time of an event at @when, but not later than @now, as if @late jiffies had not been. */
static unsigned long link_forgiven(unsigned long when, unsigned long late, unsigned long now)
{
	return time_after(when + late, now) ? now : when + late;
}

/*
 * The dead time is one in which the peer could have been heard. A tick that comes late by
 * more than its period tells that this host stood still, or had no processor to spare. Then nobody
 * has taken what the peer sent, either, and that time does not count. Return: jiffies; or 0.
 */
static unsigned long link_forgive_own_delay(struct rch_link *link)
{
	unsigned long now = jiffies, late = now - link->beat.at;

	lockdep_assert_held(&link->lock);
	if (!time_after(now, link->beat.at + link->beat.tick))
		return 0;
	link->beat.last_rx = link_forgiven(link->beat.last_rx, late, now);
	link->beat.answered = link_forgiven(link->beat.answered, late, now);
	link->beat.moved = link_forgiven(link->beat.moved, late, now);
	link->beat.lives = link_forgiven(link->beat.lives, late, now);
	return late;
}

/*
 * Whether the peer gives no sign of life. A path may be so slow that no frame comes for the dead
 * time, or the peer's adapter be stuck with what it has to send. As long as it acknowledges what
 * this side sends, reads and writes the peer is not dead. That may go on when there is no module
 * behind it any more: see link_is_stalled(). Where both adapters are stuck nothing comes: see
 * link_query.c.
 */
static bool link_is_silent(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	/*
	 * A live peer is silent for less than half of the dead time. One that was restarted may
	 * have another queue pair of the same number, and answer by that.
	 */
	if (link->beat.doubt)
		return time_after(jiffies, link->beat.last_rx + link->beat.dead / 2);
	return time_after(jiffies, link->beat.last_rx + link->beat.dead) &&
	       time_after(jiffies, link->beat.answered + link->beat.dead);
}

static void link_note_answers(struct rch_link *link)
{
	unsigned long answered = READ_ONCE(link->path.answered);

	lockdep_assert_held(&link->lock);
	if (time_after(answered, link->beat.answered))
		link->beat.answered = answered;
}

/*
 * Whether the peer takes no frames, though it lives: an adapter that finds no buffer there may try
 * for ever. An honest peer's module takes them at once, and its heartbeats acknowledge them.
 */
static bool link_is_stalled(struct rch_link *link)
{
	u32 taken = link->credit.tx_acked;

	lockdep_assert_held(&link->lock);
	if (taken != link->beat.taken || taken == link->credit.tx_next)
		link->beat.moved = jiffies;
	link->beat.taken = taken;
	/* A frame may have been sent just before the tick that has not seen it. */
	return time_after(jiffies, link->beat.moved + link->path.patience + link->beat.tick);
}

/* Why the link is to end now. Return: whether it is */
static bool link_tick_verdict(struct rch_link *link, struct rdmachan_error *error)
{
	bool dead = link_is_silent(link);
	bool stalled = link_is_stalled(link);

	lockdep_assert_held(&link->lock);
	if (dead && link->beat.doubt)
		rch_error_set(error, RDMACHAN_OP_HEARTBEAT, RDMACHAN_CAUSE_PEER_RESTARTED, 0);
	else if (dead && rch_link_query_lives(link))
		rch_error_set(error, RDMACHAN_OP_HEARTBEAT, RDMACHAN_CAUSE_PEER_STALLED,
			      jiffies_to_msecs(link->beat.dead));
	else if (dead)
		rch_error_set(error, RDMACHAN_OP_HEARTBEAT, RDMACHAN_CAUSE_PEER_DEAD,
			      jiffies_to_msecs(link->beat.dead));
	else if (stalled)
		rch_error_set(error, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_PEER_STALLED,
			      jiffies_to_msecs(link->path.patience));
	else if (link_idle_too_long(link))
		rch_error_set(error, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
	else
		return false;
	return true;
}

/* An idle link keeps little for frames to come, and what could not be had is tried again. */
static void rch_link_care_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, beat.care);

	if (READ_ONCE(link->beat.quiet))
		rch_path_trim(&link->path);
	rch_link_pure_fill(link);
	rch_path_refill(&link->path, GFP_KERNEL);
}

/* Neither this link's heartbeats wait for that, nor those of others. */
static void link_care_later(struct rch_link *link, bool quiet)
{
	WRITE_ONCE(link->beat.quiet, quiet);
	if ((quiet && rch_path_keeps(&link->path)) || READ_ONCE(link->path.empty) ||
	    READ_ONCE(link->tx.pures) < RCH_PURE_SPARES)
		queue_work(rch_key_wq, &link->beat.care);
}

static void rch_link_tick_work(struct work_struct *work)
{
	struct rch_link *link = container_of(to_delayed_work(work), struct rch_link, beat.work);
	struct rdmachan_error error = {};
	unsigned long late;
	bool beat;

	spin_lock_bh(&link->lock);
	link_note_answers(link);
	late = link_forgive_own_delay(link);
	/* Before the lock is dropped: a frame or a channel may come at any moment. */
	if (link_tick_verdict(link, &error))
		rch_link_fail_locked(link, &error);
	else
		rch_link_query_look(link);
	beat = time_after_eq(jiffies, link->beat.last_tx + link->beat.tick);
	spin_unlock_bh(&link->lock);
	if (READ_ONCE(link->state) == RCH_LINK_DEAD)
		return;
	rch_link_tick_later(link);
	if (beat)
		rch_link_heartbeat(link);
	if (beat || !READ_ONCE(link->lanes.count))
		rch_link_spare_trim(link);
	link_care_later(link, beat);
	rch_accesses_look(&link->path, late);
	rch_link_inject_lift(link);
	rch_link_run(link);
}

