// SPDX-License-Identifier: GPL-2.0
/*
 * link_connect.c - makes links: HELLO, asked and answered
 *
 * Active side. opening.work asks the connection manager for one thing after the other, see
 * &enum rch_link_step, and sends HELLO as private data. It never waits: it runs again when there is
 * an answer, and at the deadline. On iWARP the step that asks the peer is opening.ask_work's, as
 * siw waits for TCP in it: rch_tcp_wq has these alone, so that no other link waits for a worker.
 * Channels wait for the link's state to change; the last one that leaves before that ends the
 * attempt.
 *
 * Passive side. The link is made in the connection manager's handler, and is UP when the
 * peer's first frame comes. It is in the table before the peer is answered, so that it
 * is found when its device goes; @built keeps it from being taken apart meanwhile.
 *
 * Two hosts that connect to each other have two links: channels of either side are opened over the
 * one that this side has made.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "base/rch.h"
#include "link/link.h"

#define CONNECT_TRIES 5
/* A link has one life: it does not go on over another connection. */
#define RCH_FIRST_EPOCH 1

/*
 * Whether peers may close keys here: our adapter's word that a key was closed is taken for the end
 * of all access by it. That holds for adapters which close a key only where it is, in full, the one
 * that the region is registered with. siw looks at the number of the region alone: a peer could
 * close a key that is just being registered, and have memory opened behind our back. So others than
 * those of the list are taken to be like siw, and we close keys there ourselves.
 *
 * rxe compares the whole key (rxe_invalidate_mr(), 6.1 to 7.2). An adapter of mlx5 does so if it is
 * as the InfiniBand Architecture Specification wants it (1.2.1, volume 1, section 10.6.5).
 *
 * This keeps no hostile peer from closing keys. The adapter does what SEND with Invalidate asks
 * for before we hear of it, whatever was agreed upon. And rxe closes keys of any queue pair's: it
 * looks neither at the protection domain nor at the queue pair. The peer's link ends by that, with
 * each key: a key that is none ends its queue pair, another's ends the link by rule KEY. Nobody
 * gets at memory by it, and the owner can take memory back that nobody uses: to close such a key
 * once more is no error. But a peer that uses the key meanwhile finds it invalid, and so does our
 * own adapter. By the rules of a reliable connection that is the end of a queue pair, and a link
 * has one. No module can undo that; a program with a queue pair of the same rxe, on either host,
 * can do it without this module.
 */
static bool link_connect_closes_keys(const struct ib_device *dev)
{
	if (!(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return false;
	switch (dev->ops.driver_id) {
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_MLX5:
		return true;
	default:
		return false;
	}
}

/*
 * Whether the adapter does atomic operations on the peer's memory, when a kernel asks for them. The
 * driver of mlx5 refuses these, whatever the adapter can (mlx5_ib_post_send(), 6.1 to 7.2).
 */
static bool link_connect_does_atomics(const struct ib_device *dev)
{
	return dev->attrs.atomic_cap != IB_ATOMIC_NONE && dev->ops.driver_id != RDMA_DRIVER_MLX5;
}

/* What this side can do, with receive buffers @depth. */
static u32 link_connect_features(const struct rdma_cm_id *id, u32 depth)
{
	u32 can = RCH_FEATURES;

	/* iWARP has no immediate data. */
	if (rdma_protocol_iwarp(id->device, id->port_num) || depth > RCH_DEPTH_BARE)
		can &= ~RCH_FEATURE_BARE;
	if (!link_connect_closes_keys(id->device))
		can &= ~RCH_FEATURE_KEY;
	if (!link_connect_does_atomics(id->device))
		can &= ~RCH_FEATURE_ATOMIC;
	return can;
}

static u32 link_features(const struct rch_link *link)
{
	return link_connect_features(link->path.id, link->path.depth);
}

/* What both can. */
static u32 link_connect_common_features(const struct rch_link *link, const struct rch_hello *peer)
{
	u32 both = peer->features & link_features(link);

	if (peer->depth > RCH_DEPTH_BARE)
		both &= ~RCH_FEATURE_BARE;
	return both;
}

/* The sizes and times that both sides agree upon. */
static void link_connect_agree(struct rch_link *link, const struct rch_hello *peer, u32 frame_size,
			       u32 first_seq)
{
	unsigned long peer_dead = msecs_to_jiffies(peer->dead_ms);

	spin_lock_bh(&link->lock);
	link->terms.peer_domain = peer->domain;
	link->terms.peer_boot = peer->boot_id;
	link->terms.peer_link = peer->link;
	link->terms.epoch = peer->epoch;
	link->terms.frame_size = frame_size;
	link->terms.features = link_connect_common_features(link, peer);
	rch_path_own_get(link->path.id, &link->terms.own);
	link->beat.tick = max(min(link->beat.dead, peer_dead) / 4, 1UL);
	rch_credit_init(&link->credit, peer->next_seq, peer->depth, first_seq,
			link->path.depth);
	link->tx.done = peer->next_seq;
	link->tx.signalled = peer->next_seq;
	link->tx.large = peer->next_seq;
	rch_trip_init(&link->probe.trip, jiffies_to_msecs(jiffies));
	link->probe.tick = jiffies - 1;
	link->beat.last_rx = jiffies;
	link->beat.last_tx = jiffies;
	link->beat.answered = jiffies;
	link->beat.slow = jiffies - link->path.patience - 1;
	spin_unlock_bh(&link->lock);
	if (!(link->terms.features & RCH_FEATURE_ATOMIC))
		rch_lend_no_atomics(&link->path);
}

static void link_connect_hello_fill(struct rch_link *link, struct rch_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->version_min = RCH_WIRE_VERSION_MIN;
	h->version_max = RCH_WIRE_VERSION;
	h->depth = link->path.depth;
	h->features = link_features(link);
	h->boot_id = rch_boot_id;
	h->link = link->object.id;
	h->next_seq = get_random_u32();
	h->frame_size = RCH_FRAME_SIZE;
	h->dead_ms = jiffies_to_msecs(link->beat.dead);
	h->domain = from_kuid(&init_user_ns, link->uid);
}

static u32 link_connect_refusal_cause(const struct rch_refusal *refusal)
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
	case RCH_REJECT_PORT:
		return RDMACHAN_CAUSE_UNPRIVILEGED;
	default:
		return RDMACHAN_CAUSE_REJECTED;
	}
}

/* The peer's connection manager said no: its module may tell why. */
static void link_connect_explain_refusal(struct rch_link *link, struct rdmachan_error *error)
{
	struct rch_path *path = &link->path;
	struct rch_refusal refusal;

	if (error->cause != RDMACHAN_CAUSE_REJECTED)
		return;
	if (!rch_wire_refusal_get(path->answer.reply, path->answer.reply_len, &refusal)) {
		error->cause = link_connect_refusal_cause(&refusal);
		error->detail = refusal.detail;
	} else if (rdma_protocol_iwarp(path->dev, path->port) ||
		   error->cm_status == 28 /* IB_CM_REJ_CONSUMER_DEFINED */) {
		/*
		 * With iWARP a refused TCP connection looks the same. Elsewhere the port is taken
		 * in another network namespace of the peer only, or its module has just gone.
		 */
		error->cause = RDMACHAN_CAUSE_NO_MODULE;
	}
	error->error = rch_error_errno(error->cause);
	/* For the network's administrator. */
	error->limit = path->mtu_limit;
	error->needed = path->mtu_limit ? rch_port_mtu(path->dev, path->port) : 0;
}

/* Whether the peer's answer goes with what it was asked. */
static enum rch_rule link_connect_judge_reply(const struct rch_path *path, struct rch_hello *theirs)
{
	enum rch_rule rule = rch_wire_hello_get(path->answer.reply, path->answer.reply_len, theirs);

	if (rule)
		return rule;
	if (theirs->version_min != RCH_WIRE_VERSION ||
	    theirs->version_max != RCH_WIRE_VERSION ||
	    theirs->frame_size > RCH_FRAME_SIZE || theirs->epoch != RCH_FIRST_EPOCH)
		return RCH_RULE_SIZES;
	return RCH_RULE_OK;
}

/* Ask the peer. Return: 0, or an error with the path's error set. */
static int link_connect_ask(struct rch_link *link)
{
	u8 data[sizeof(struct rch_wire_hello)];
	struct rch_hello mine;
	int ret;

	rch_path_keep_to_mtu(&link->path);
	rch_link_note_place(link);
	ret = rch_path_setup(&link->path, READ_ONCE(rch_depth), RCH_FRAME_SIZE);
	if (ret)
		return ret;
	link_connect_hello_fill(link, &mine);
	mine.epoch = RCH_FIRST_EPOCH;
	mine.service = link->opening.service;
	mine.peer_domain = link->opening.domain;
	link->opening.next_seq = mine.next_seq;
	rch_wire_hello_put(data, &mine);
	return rch_path_connect(&link->path, data, sizeof(data));
}

/**
 * rch_link_ask_work - the active side on iWARP asks the peer
 * @work: opening.ask_work of the link
 *
 * Whether it could ask is in the path's failure.
 */
void rch_link_ask_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, opening.ask_work);

	link_connect_ask(link);
	/* Behind what opening.work reads next; pairs with rch_link_connect_work() */
	smp_store_release(&link->opening.asking, false);
	mod_delayed_work(rch_link_wq, &link->opening.work, 0);
}

/* Ask the peer, here or in a work that may wait. Return: as link_connect_ask(). */
static int link_connect_begin_to_ask(struct rch_link *link)
{
	if (!rdma_protocol_iwarp(link->path.dev, link->path.port))
		return link_connect_ask(link);
	WRITE_ONCE(link->opening.asking, true);
	queue_work(rch_tcp_wq, &link->opening.ask_work);
	return 0;
}

/* The peer has answered. Return: 0, or an error with the path's error set. */
static int link_connect_answered(struct rch_link *link)
{
	struct rch_path *path = &link->path;
	struct rch_hello theirs;
	enum rch_rule rule;

	atomic64_inc(&rch_counts.cm_connects);
	rch_link_note_place(link);
	rule = link_connect_judge_reply(path, &theirs);
	if (rule) {
		rch_path_fail(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_PROTOCOL, rule);
		return -EPROTO;
	}
	if (theirs.required & ~link_features(link)) {
		rch_path_fail(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_FEATURE,
			      theirs.required & ~link_features(link));
		return -EPROTO;
	}
	link_connect_agree(link, &theirs, theirs.frame_size, link->opening.next_seq);
	return 0;
}

/*
 * Whether another try may succeed at once. In one case the peer still has a connection with this
 * queue pair's number, from before this host's adapter or module was restarted: being asked makes
 * the peer forget it. In the other the connection manager of iWARP has chosen a random port, which
 * is that of a connection to the same peer that ended lately: it chooses another one.
 */
static bool link_connect_may_be_repeated(const struct rch_path *path)
{
	if (path->failure.error.cm_status == -EADDRNOTAVAIL)
		return path->failure.error.op == RDMACHAN_OP_CONNECT;
	return path->failure.error.cause == RDMACHAN_CAUSE_REJECTED &&
	       path->failure.error.cm_status == 10 /* IB_CM_REJ_STALE_CONN */;
}

/* Whether the peer has refused packets as large as were asked for, and takes smaller ones. */
static bool link_connect_takes_smaller_packets(struct rch_path *path)
{
	struct rch_refusal refusal;

	return path->failure.error.cause == RDMACHAN_CAUSE_REJECTED &&
	       !rch_wire_refusal_get(path->answer.reply, path->answer.reply_len, &refusal) &&
	       refusal.reason == RCH_REJECT_MTU && rch_path_limit_mtu(path, refusal.detail);
}

/*
 * Look at the answer, if one was asked for, and ask for the next thing. Return: 0: the peer has let
 * this side in; -EINPROGRESS: an answer is to come; or an error with the path's error set.
 */
static int link_connect_step(struct rch_link *link)
{
	static const struct {
		int event;
		u32 op;
	} awaited[] = {
		[RCH_LINK_ADDRESS] = { RDMA_CM_EVENT_ADDR_RESOLVED, RDMACHAN_OP_RESOLVE },
		[RCH_LINK_ROUTE] = { RDMA_CM_EVENT_ROUTE_RESOLVED, RDMACHAN_OP_RESOLVE },
		[RCH_LINK_ANSWER] = { RDMA_CM_EVENT_ESTABLISHED, RDMACHAN_OP_CONNECT },
	};
	struct rch_link_opening *opening = &link->opening;
	enum rch_link_step step = opening->step;
	struct rch_path *path = &link->path;
	int ret;

	if (step != RCH_LINK_BEGIN) {
		ret = rch_path_answered(path, awaited[step].event, awaited[step].op,
					opening->deadline);
		if (ret)
			return ret;
	}
	switch (step) {
	case RCH_LINK_BEGIN:
		if (READ_ONCE(path->answer.aborted))
			return -ENOTCONN;
		ret = rch_path_resolve(path, link->net, &link->peer, opening->deadline);
		break;
	case RCH_LINK_ADDRESS:
		ret = rch_path_route(path, opening->deadline);
		if (ret != -EAGAIN)
			break;
		/* Not from the port that it was begun with. */
		rch_path_destroy(path);
		opening->step = RCH_LINK_BEGIN;
		return link_connect_step(link);
	case RCH_LINK_ROUTE:
		ret = link_connect_begin_to_ask(link);
		break;
	default:
		return link_connect_answered(link);
	}
	opening->step++;
	return ret ? -ENOTCONN : -EINPROGRESS;
}

static bool link_connect_begins_anew(struct rch_link *link)
{
	struct rch_path *path = &link->path;

	if (READ_ONCE(path->answer.aborted) ||
	    !(link_connect_may_be_repeated(path) || link_connect_takes_smaller_packets(path)) ||
	    ++link->opening.tries >= CONNECT_TRIES)
		return false;
	rch_path_destroy(path);
	link->opening.step = RCH_LINK_BEGIN;
	return true;
}

/* It cannot be made. */
static void link_connect_failed(struct rch_link *link)
{
	struct rdmachan_error error = link->path.failure.error;

	rch_link_note_place(link);
	link_connect_explain_refusal(link, &error);
	rch_link_kill(link, &error);
}

static void link_connect_done(struct rch_link *link)
{
	struct rch_path *path = &link->path;

	spin_lock_bh(&link->lock);
	link->tx.hello = true;
	if (rch_link_set_state(link, RCH_LINK_UP))
		rch_link_tick_later(link);
	spin_unlock_bh(&link->lock);
	/* Whoever waited for the link may be faster; then his frame is the first. */
	rch_link_heartbeat(link);
	/* The path may have failed before it was our turn to hear of it. */
	smp_mb(); /* state before path->failed; pairs with the path's down() */
	if (READ_ONCE(path->failure.failed))
		path->ops->down(path);
}

/* From here on a link that is DEAD can be taken apart: nothing here looks at its path any more. */
static void link_connect_is_over(struct rch_link *link)
{
	bool dead;

	spin_lock_bh(&link->lock);
	link->opening.over = true;
	dead = link->state == RCH_LINK_DEAD;
	spin_unlock_bh(&link->lock);
	if (dead)
		rch_link_dead_later(link);
}

/**
 * rch_link_connect_work - the active side
 * @work: opening.work of the link
 *
 * Does nothing once the link was made, or could not be.
 */
void rch_link_connect_work(struct work_struct *work)
{
	struct rch_link *link = container_of(to_delayed_work(work), struct rch_link,
					     opening.work);
	struct net *net = link->net;
	int ret;

	/* Pairs with rch_link_ask_work(), which queues this work again. */
	if (link->opening.over || smp_load_acquire(&link->opening.asking))
		return;
	do {
		ret = link_connect_step(link);
	} while (ret && ret != -EINPROGRESS && link_connect_begins_anew(link));
	if (ret == -EINPROGRESS) {
		/* When the answer is there already, the work is queued. */
		queue_delayed_work(rch_link_wq, &link->opening.work,
				   max(0L, (long)(link->opening.deadline - jiffies)));
		return;
	}
	if (ret)
		link_connect_failed(link);
	else
		link_connect_done(link);
	link_connect_is_over(link);
	put_net(net);
}

/** rch_link_connect_look - there may be an answer for the active side. Any context */
void rch_link_connect_look(struct rch_link *link)
{
	if (READ_ONCE(link->state) == RCH_LINK_CONNECTING)
		mod_delayed_work(rch_link_wq, &link->opening.work, 0);
}

/**
 * rch_link_connect_over - whether connecting has ended
 * @link: link that is DEAD
 *
 * If not, it ends soon, and has rch_link_dead_later() called then. Context: any.
 */
bool rch_link_connect_over(struct rch_link *link)
{
	bool over;

	spin_lock_bh(&link->lock);
	over = link->opening.over;
	spin_unlock_bh(&link->lock);
	if (!over) {
		rch_path_abort(&link->path);
		mod_delayed_work(rch_link_wq, &link->opening.work, 0);
	}
	return over;
}

/* A peer is refused, for @reason: that is counted, and @data is to tell it. */
static void link_connect_refusal_make(u8 *data, u32 reason, u32 detail)
{
	const struct rch_refusal refusal = {
		.version_min = RCH_WIRE_VERSION_MIN,
		.version_max = RCH_WIRE_VERSION,
		.reason = reason,
		.detail = detail,
	};

	atomic64_inc(&rch_counts.refused_links[reason]);
	rch_wire_refusal_put(data, &refusal);
}

/* Return: what the connection manager's handler is to return */
static int link_connect_refuse(const struct rch_path_request *request, u32 reason, u32 detail)
{
	u8 data[sizeof(struct rch_wire_refusal)];

	BUILD_BUG_ON(sizeof(data) > RCH_PATH_REFUSAL_MAX);
	link_connect_refusal_make(data, reason, detail);
	return rch_path_refuse(request, data, sizeof(data));
}

/* The peer has been taken in, and cannot stay. */
static void link_connect_turn_out(struct rch_link *link)
{
	u8 data[sizeof(struct rch_wire_refusal)];

	link_connect_refusal_make(data, RCH_REJECT_RESOURCES, 0);
	rch_path_reject(&link->path, data, sizeof(data));
	rch_link_kill(link, &link->path.failure.error);
}

/* Return: enum rch_reject, with @detail; or 0, and the user of the service has @charge. */
static u32 link_connect_judge_hello(const struct net *net, const struct rch_path_request *request,
				    struct rch_hello *h, struct rch_charge *charge, u32 *detail)
{
	enum rch_rule rule = rch_wire_hello_get(request->data, request->data_len, h);
	struct sockaddr_storage own;
	u32 reason;

	*detail = 0;
	if (rule == RCH_RULE_MAGIC)
		return RCH_REJECT_PROTOCOL;
	if (!rch_wire_version(h->version_min, h->version_max))
		return RCH_REJECT_VERSION;
	if (rule || !rch_path_request_is_its_own(request))
		return RCH_REJECT_PROTOCOL;
	if (READ_ONCE(rch_peer_privileged_port) && !rch_path_request_privileged(request))
		return RCH_REJECT_PORT;
	*detail = h->required & ~link_connect_features(request->id, READ_ONCE(rch_depth));
	if (*detail)
		return RCH_REJECT_FEATURE;
	*detail = rch_path_request_mtu(request);
	if (*detail)
		return RCH_REJECT_MTU;
	rch_path_own_get(request->id, &own);
	reason = rch_link_ops->service_domain(net, h->service, &own, charge);
	if (reason)
		return reason;
	*detail = from_kuid(&init_user_ns, charge->user->uid);
	if (h->peer_domain == RCH_DOMAIN_ANY || h->peer_domain == *detail)
		return 0;
	rch_charge_end(charge);
	return RCH_REJECT_DOMAIN;
}

static int link_connect_accept_hello(struct rch_link *link, const struct rch_path_request *request,
				     const struct rch_hello *theirs)
{
	u32 frame_size = min(theirs->frame_size, RCH_FRAME_SIZE);
	u8 data[sizeof(struct rch_wire_hello)];
	struct rch_hello mine;
	int ret;

	ret = rch_path_adopt(&link->path, request);
	ret = ret ?: rch_path_setup(&link->path, READ_ONCE(rch_depth), RCH_FRAME_SIZE);
	if (ret)
		return ret;
	link_connect_hello_fill(link, &mine);
	mine.version_min = RCH_WIRE_VERSION;
	mine.epoch = theirs->epoch;
	mine.frame_size = frame_size;
	mine.features = link_connect_common_features(link, theirs);
	link_connect_agree(link, theirs, frame_size, mine.next_seq);
	rch_wire_hello_put(data, &mine);
	return rch_path_accept(&link->path, theirs->depth, data, sizeof(data));
}

/* Return: a link with a reference that is in the table; NULL: no memory, or no place for it. */
static struct rch_link *link_connect_begin_passive(struct net *net, struct rch_charge *charge,
						   const struct rch_path_request *request)
{
	struct rch_link *link = rch_link_alloc(net, charge, &request->id->route.addr.dst_addr,
					       RCH_LINK_HELLO);

	if (!link || rch_links_admit(link))
		return link;
	rch_link_discard(link);
	return NULL;
}

/* Return: enum rch_reject: the answer to @query, or why there is none. */
static u32 link_connect_judge_query(const struct net *net, const struct rch_path_request *request,
				    const struct rch_query *query)
{
	if (!rch_path_request_is_its_own(request))
		return RCH_REJECT_PROTOCOL;
	if (READ_ONCE(rch_peer_privileged_port) && !rch_path_request_privileged(request))
		return RCH_REJECT_PORT;
	return rch_links_queried(net, &request->id->route.addr.dst_addr, query) ?
	       RCH_REJECT_LIVES : RCH_REJECT_ENDED;
}

/**
 * rch_link_incoming - a peer wants to connect
 * @net: network namespace
 * @request: the peer's wish; or a question about a link
 *
 * Called in the connection manager's handler for the new id. Return: 0 when the id was taken over,
 * else the core destroys it.
 */
int rch_link_incoming(struct net *net, const struct rch_path_request *request)
{
	struct rch_charge charge;
	struct rch_hello theirs;
	struct rch_link *link;
	struct rch_query query;
	u32 reason, detail = 0;

	if (!rch_wire_query_get(request->data, request->data_len, &query))
		reason = link_connect_judge_query(net, request, &query);
	else
		reason = link_connect_judge_hello(net, request, &theirs, &charge, &detail);
	if (reason == RCH_REJECT_PROTOCOL)
		pr_notice_ratelimited("rdmachan: refused a request of %pISpc that breaks the protocol\n",
				      &request->id->route.addr.dst_addr);
	if (reason)
		return link_connect_refuse(request, reason, detail);
	link = link_connect_begin_passive(net, &charge, request);
	if (!link)
		return link_connect_refuse(request, RCH_REJECT_RESOURCES, 0);
	if (link_connect_accept_hello(link, request, &theirs)) {
		link_connect_turn_out(link);
	} else {
		rch_link_note_place(link);
		rch_links_doubt(link);
		rch_link_tick_later(link);
	}
	complete_all(&link->opening.built);
	rch_link_put(link);
	return 0;
}

