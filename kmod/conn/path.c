// SPDX-License-Identifier: GPL-2.0
/*
 * path.c - a path's life: resolve, set up, connect or accept, destroy
 *
 * The connection manager calls rch_path_cm_event() with the id's handler mutex
 * held. It only notes what happened; nothing is created or destroyed there, and
 * no lock of ours is held across a call of the connection manager.
 *
 * Teardown. rch_path_drain() and rch_path_destroy() run in a work item of the owner,
 * when it posts no more and connecting has ended:
 *
 *  1. @stopped is set under @lock. A poster holds @lock and looks at it, so
 *     nothing is posted from here on. This is what ib_drain_qp() asks for.
 *  2. rdma_disconnect() tells the peer. It may fail; then there is nobody to tell. On
 *     iWARP the error state, which closes the connection as well, comes before.
 *  3. ib_drain_qp() puts the queue pair into the error state and waits for the
 *     last completion of both queues. After that no handler of ours runs.
 *     Accesses (path_access.c) that have not ended by then do so.
 *  4. The owner unmaps and frees its frames, and tells all who wait for the peer:
 *     users of the path (path_rdma.h) learn that nothing comes any more, and leave.
 *  5. Queue pair, buffers, memory regions, CQ and PD are freed while the id still holds
 *     the device.
 *  6. rdma_destroy_id() waits for a running event handler. Nobody else refers to
 *     the path then, so its owner may free it.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/iw_cm.h>

#include "base/inject.h"
#include "base/rch.h"
#include "conn/conn.h"
#include "path/path_rdma.h"
#include "proto/wire.h"
#include "pure/ack.h"
#include "pure/credit.h"

/*
 * Retransmission: see pure/ack.h. RNR must not happen; if it does, it shall not cost the 655 ms
 * that are the default; and it is tried for ever, by all adapters.
 */
#define RCH_RNR_RETRY 7
#define RCH_RESOLVE_MS 3000
/* RDMA READs and atomics under way: further ones wait in the adapter. */
#define RCH_RD_DEPTH 16
/* How long a path that ends waits for its connection to stand first. */
#define RCH_RTU_MS 1000

static void rch_path_heard_work(struct work_struct *work);

/** rch_path_init - begin; nothing is allocated */
void rch_path_init(struct rch_path *path, const struct rch_path_ops *ops)
{
	path->ops = ops;
	spin_lock_init(&path->lock);
	spin_lock_init(&path->failure.lock);
	init_completion(&path->drained);
	path->answered = jiffies;
	INIT_WORK(&path->answer.heard_work, rch_path_heard_work);
	init_waitqueue_head(&path->left);
	rch_path_mrs_init(path);
	INIT_LIST_HEAD(&path->writes.spare);
	INIT_LIST_HEAD(&path->lends.spare[0]);
	INIT_LIST_HEAD(&path->lends.spare[1]);
	mutex_init(&path->lends.lock);
	rch_accesses_init(path);
	INIT_LIST_HEAD(&path->keys.list);
	INIT_LIST_HEAD(&path->writes.waiting);
	rch_path_tail_init(path);
}

/**
 * rch_path_addresses - both ends, as far as known
 * @path: path
 * @local: this end; left as it is when not known
 * @peer: the other end; likewise
 *
 * Context: any, while the path is not being destroyed.
 */
void rch_path_addresses(struct rch_path *path, struct rdmachan_addr *local,
			struct rdmachan_addr *peer)
{
	struct rdma_cm_id *id = path->id;
	struct sockaddr_storage own;

	if (!id)
		return;
	rch_path_own_get(id, &own);
	rch_addr_from_sockaddr(local, &own);
	rch_addr_from_sockaddr(peer, &id->route.addr.dst_addr);
}

static void path_fail_cm(struct rch_path *path, u32 op, u32 cause, int event, int status)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, op, cause, 0);
	error.cm_event = event + 1;
	error.cm_status = status;
	rch_path_fail_first(path, &error);
}

static void path_keep_reply(struct rch_path *path, const void *data, u8 len)
{
	path->answer.reply_len = min_t(u8, len, sizeof(path->answer.reply));
	if (path->answer.reply_len)
		memcpy(path->answer.reply, data, path->answer.reply_len);
}

/* The peer's module may have said why; its words are kept. */
static bool path_peer_has_rejected(struct rch_path *path, struct rdma_cm_event *event)
{
	const void *data;
	u8 len = 0;

	data = rdma_consumer_reject_data(path->id, event, &len);
	/* siw reports the refusal as a reset, which the core takes for one without words. */
	if (!data && rdma_protocol_iwarp(path->id->device, path->id->port_num) &&
	    event->param.conn.private_data_len) {
		data = event->param.conn.private_data;
		len = event->param.conn.private_data_len;
	}
	if (data)
		path_keep_reply(path, data, len);
	return data;
}

static u32 path_reject_cause(struct rch_path *path, struct rdma_cm_event *event)
{
	int status = event->status;

	if (path_peer_has_rejected(path, event))
		return RDMACHAN_CAUSE_REJECTED;
	if (rdma_protocol_iwarp(path->id->device, path->id->port_num))
		return status == -ECONNREFUSED || status == -ECONNRESET ?
			RDMACHAN_CAUSE_NO_MODULE : RDMACHAN_CAUSE_UNREACHABLE;
	if (status == IB_CM_REJ_INVALID_SERVICE_ID)
		return RDMACHAN_CAUSE_NO_MODULE;
	return RDMACHAN_CAUSE_REJECTED;
}

/* @cause: the cause if it is none of the failures of this host. */
static u32 path_resolve_cause(int status, u32 cause)
{
	switch (status) {
	case -ENODEV:
		return RDMACHAN_CAUSE_NO_DEVICE;
	case -ENOMEM:
	case -ENOBUFS:
		return RDMACHAN_CAUSE_RESOURCES;
	default:
		return cause;
	}
}

/* The connection could not be made, and no peer has said no: whether one was asked at all. */
static u32 path_connect_cause(int status)
{
	switch (status) {
	case -ECONNREFUSED:
	case -ECONNRESET:
		return RDMACHAN_CAUSE_NO_MODULE;
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EHOSTDOWN:
		return RDMACHAN_CAUSE_UNREACHABLE;
	default:
		return RDMACHAN_CAUSE_RESOURCES;
	}
}

/*
 * The same, when it was asked. iWARP connects by TCP to whatever waits there: an answer that is
 * none of a connection manager comes from another program.
 */
static u32 path_answer_cause(const struct rch_path *path, int status)
{
	if (rdma_protocol_iwarp(path->id->device, path->id->port_num) &&
	    (status == -EINVAL || status == -EPROTO))
		return RDMACHAN_CAUSE_NO_MODULE;
	return path_connect_cause(status);
}

/* A peer that was let in, or has let this side in, and says no then, has gone meanwhile. */
static void path_cm_rejected(struct rch_path *path, struct rdma_cm_event *event)
{
	if (path->answer.accepted || path->answer.event == RDMA_CM_EVENT_ESTABLISHED)
		path_fail_cm(path, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, event->event,
			     event->status);
	else
		path_fail_cm(path, RDMACHAN_OP_CONNECT, path_reject_cause(path, event),
			     event->event,
			     event->status);
}

/*
 * A bond has failed over to an interface with another hardware address; or that of the peer has, as
 * the peer's neighbours announce it, and anybody in that network can. Others connect anew then
 * (nvme, xprtrdma, rds): their requests would be lost only when their time is over. Whether packets
 * still get through the queue pair is known to the adapter alone. One that is bonded by its driver
 * has moved the queue pair along, rxe looks the addresses up for each packet; another would send
 * from, or to, the old address. So the link goes on, and its heartbeats decide. That costs its dead
 * time where nothing gets through, and nothing where it does.
 */
static void path_cm_address_changed(struct rch_path *path)
{
	WRITE_ONCE(path->address_at, jiffies);
	atomic_or(RDMACHAN_LINK_EVENT_ADDRESS, &path->events);
}

static int rch_path_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rch_path *path = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		path_keep_reply(path, event->param.conn.private_data,
				event->param.conn.private_data_len);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		path_fail_cm(path, RDMACHAN_OP_RESOLVE,
			     path_resolve_cause(event->status, RDMACHAN_CAUSE_ADDRESS),
			     event->event, event->status);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		path_fail_cm(path, RDMACHAN_OP_RESOLVE,
			     path_resolve_cause(event->status, RDMACHAN_CAUSE_ROUTE),
			     event->event, event->status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		path_cm_rejected(path, event);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		/*
		 * Of a connection that stands this is no answer: the peer's address has changed. It
		 * is told again whenever the kernel hears of the neighbour; the first time counts.
		 */
		if (path->answer.event == RDMA_CM_EVENT_ESTABLISHED) {
			if (!path->peer_moved)
				path_cm_address_changed(path);
			path->peer_moved = true;
			return 0;
		}
		path_fail_cm(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_UNREACHABLE, event->event,
			     event->status);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		path_fail_cm(path, RDMACHAN_OP_CONNECT, path_answer_cause(path, event->status),
			     event->event, event->status);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		path_fail_cm(path, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED,
			     event->event, event->status);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* No answer to anything. */
		path_cm_address_changed(path);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		path_fail_cm(path, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DEVICE_REMOVED,
			     event->event, event->status);
		break;
	default:
		return 0;
	}
	WRITE_ONCE(path->answer.event, event->event);
	smp_store_release(&path->answer.given, true); /* behind the answer itself */
	wake_up_all(&path->left);
	if (READ_ONCE(path->failure.failed))
		path->ops->down(path);
	else
		path->ops->answered(path);
	return 0;
}

/**
 * rch_path_told - note what the adapter's driver tells of the path's port
 * @path: path
 * @news: what; not RCH_DEVICE_FATAL
 *
 * None of it ends the path. A port may come back, and with InfiniBand and RoCE requests are made
 * again until then; the owner's heartbeats decide. Context: any.
 */
void rch_path_told(struct rch_path *path, enum rch_device_news news)
{
	static const u32 events[] = {
		[RCH_DEVICE_PORT_DOWN] = RDMACHAN_LINK_EVENT_PORT_DOWN |
					 RDMACHAN_LINK_EVENT_PORT_WAS_DOWN,
		[RCH_DEVICE_PORT_WAS_DOWN] = RDMACHAN_LINK_EVENT_PORT_WAS_DOWN,
		[RCH_DEVICE_PORT_UP] = 0,
		[RCH_DEVICE_GIDS] = RDMACHAN_LINK_EVENT_GIDS,
		[RCH_DEVICE_SUBNET] = RDMACHAN_LINK_EVENT_SUBNET,
	};

	if (news == RCH_DEVICE_PORT_UP || news == RCH_DEVICE_PORT_WAS_DOWN)
		atomic_andnot(RDMACHAN_LINK_EVENT_PORT_DOWN, &path->events);
	atomic_or(events[news], &path->events);
}

/**
 * rch_path_answered - look at the connection manager's answer
 * @path: path after rch_path_resolve(), rch_path_route() or rch_path_connect()
 * @event: the event that was asked for
 * @op: &enum rdmachan_op, for the error when there is none in time
 * @deadline: in jiffies
 *
 * Called by the work that asks, after @ops->answered or @ops->down, and at the deadline.
 * Context: any. Return: 0 when it is @event; -EINPROGRESS: there is no answer yet; or -ENOTCONN
 * with @path->failure set.
 */
int rch_path_answered(struct rch_path *path, int event, u32 op, unsigned long deadline)
{
	bool given = smp_load_acquire(&path->answer.given); /* ahead of the answer itself */

	if (READ_ONCE(path->answer.aborted) || (!given && time_after_eq(jiffies, deadline)))
		rch_path_fail(path, op, RDMACHAN_CAUSE_TIMEOUT, 0);
	if (smp_load_acquire(&path->failure.failed)) /* ahead of the error */
		return -ENOTCONN;
	if (!given)
		return -EINPROGRESS;
	if (path->answer.event == event)
		return 0;
	rch_path_fail(path, op, RDMACHAN_CAUSE_TRANSPORT, path->answer.event);
	return -ENOTCONN;
}

/* What the adapter can have under way, and the peer has asked for: not 0, if it can any. */
static u8 path_read_depth(const struct rch_path *path)
{
	const struct ib_device_attr *attrs = &path->dev->attrs;
	int most = min3(attrs->max_qp_rd_atom, attrs->max_qp_init_rd_atom, RCH_RD_DEPTH);

	return clamp(most, 1, path->accesses.rd_depth ?: RCH_RD_DEPTH);
}

/* Return: 0, or -ENODEV when the device is going. */
static int path_settle_device(struct rch_path *path)
{
	if (!rch_device_bind(path)) {
		rch_path_fail(path, RDMACHAN_OP_RESOLVE, RDMACHAN_CAUSE_DEVICE_REMOVED, 0);
		return -ENODEV;
	}
	path->accesses.rd_depth = path_read_depth(path);
	rdma_set_ack_timeout(path->id, rch_ack_timeout(READ_ONCE(rch_dead_ms),
						       rch_path_is_rxe(path)));
	rdma_set_min_rnr_timer(path->id, IB_RNR_TIMER_000_32);
	return 0;
}

/* How long the connection manager may take for an address or a route. */
static int path_resolve_ms(unsigned long deadline)
{
	long left = deadline - jiffies;

	return left > 0 ? min_t(unsigned int, jiffies_to_msecs(left), RCH_RESOLVE_MS) : 1;
}

/*
 * Before the address is resolved, or the route would have another one. It is the active side's
 * alone: with RoCE the request carries the class, in which the passive side's connection manager
 * has its queue pair answer. A listener of iWARP without a class has adapters take that of the
 * peer's packets; siw knows none.
 */
static void path_set_traffic_class(struct rch_path *path)
{
	if (path->traffic_class)
		rdma_set_service_type(path->id, path->traffic_class % RDMACHAN_TRAFFIC_CLASS_0);
}

/**
 * rch_path_resolve - ask for the device that leads to a peer
 * @path: path after rch_path_init() or rch_path_destroy()
 * @net: network namespace
 * @dst: peer
 * @deadline: in jiffies
 *
 * The answer is RDMA_CM_EVENT_ADDR_RESOLVED. May sleep, but does not wait for it.
 * Return: 0, or an error with @path->failure set.
 */
int rch_path_resolve(struct rch_path *path, struct net *net,
		     struct sockaddr_storage *dst, unsigned long deadline)
{
	struct sockaddr *source = path->source.ss_family ? (void *)&path->source : NULL;
	struct rdma_cm_id *id;
	int ret;

	path->stopped = false;
	path->failure.failed = false;
	path->accesses.rd_depth = 0;
	path->answer.given = false;
	path->answer.reply_len = 0;
	reinit_completion(&path->drained);
	ret = rch_path_own_begin(path, net, dst);
	if (ret)
		return ret;
	id = rch_try_verb(rdma_create_id(net, rch_path_cm_event, path, RDMA_PS_TCP,
					 IB_QPT_RC));
	if (IS_ERR(id)) {
		rch_path_fail(path, RDMACHAN_OP_RESOLVE, RDMACHAN_CAUSE_RESOURCES, 0);
		return PTR_ERR(id);
	}
	path->id = id;
	/* The connection manager does it only for an id that has no own address. */
	if (dst->ss_family == AF_INET6)
		id->route.addr.dev_addr.bound_dev_if = ((struct sockaddr_in6 *)dst)->sin6_scope_id;
	path_set_traffic_class(path);
	path->privileged = READ_ONCE(rch_own_privileged_port) && !path->any_port &&
			   !rch_path_own_bind(id, &path->source, dst);
	ret = rdma_resolve_addr(id, source, (struct sockaddr *)dst, path_resolve_ms(deadline));
	if (ret && !rch_path_own_failed(path, ret))
		path_fail_cm(path, RDMACHAN_OP_RESOLVE,
			     path_resolve_cause(ret, RDMACHAN_CAUSE_ADDRESS),
			     RDMA_CM_EVENT_ADDR_ERROR, ret);
	return ret;
}

/**
 * rch_path_route - take the device, and ask for the route to the peer
 * @path: path after the answer to rch_path_resolve()
 * @deadline: in jiffies
 *
 * The answer is RDMA_CM_EVENT_ROUTE_RESOLVED. May sleep, but does not wait for it.
 *
 * iWARP connects by TCP, which keeps a port for a minute after a connection has ended, and there
 * are few privileged ones: there the path is to begin anew, from any port.
 * Return: 0; -EAGAIN: begin anew, after rch_path_destroy(); or an error with @path->failure set.
 */
int rch_path_route(struct rch_path *path, unsigned long deadline)
{
	int ret = path_settle_device(path);

	if (ret)
		return ret;
	if (path->privileged && rdma_protocol_iwarp(path->dev, path->port)) {
		path->any_port = true;
		return -EAGAIN;
	}
	path->answer.given = false;
	ret = rdma_resolve_route(path->id, path_resolve_ms(deadline));
	if (ret)
		path_fail_cm(path, RDMACHAN_OP_RESOLVE,
			     path_resolve_cause(ret, RDMACHAN_CAUSE_ROUTE),
			     RDMA_CM_EVENT_ROUTE_ERROR, ret);
	return ret;
}

/* The connection manager takes locks that soft interrupts must not. */
static void rch_path_heard_work(struct work_struct *work)
{
	struct rch_path *path = container_of(work, struct rch_path, answer.heard_work);

	rdma_notify(path->id, IB_EVENT_COMM_EST);
}

static void rch_path_qp_event(struct ib_event *event, void *context)
{
	struct rch_path *path = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		rch_path_heard(path);
		return;
	case IB_EVENT_SQ_DRAINED:
	case IB_EVENT_QP_LAST_WQE_REACHED:
		return;
	case IB_EVENT_QP_ACCESS_ERR:
		/* The adapter refuses what the peer asks of memory here, and nothing else. */
		rch_path_fail(path, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_PROTOCOL,
			      RCH_RULE_ACCESS);
		break;
	default:
		rch_path_fail(path, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_TRANSPORT,
			      event->event);
	}
	path->ops->down(path);
}

static int path_create_qp(struct rch_path *path)
{
	struct ib_qp_init_attr attr = {
		.event_handler = rch_path_qp_event,
		.qp_context = path,
		.send_cq = path->cq,
		.recv_cq = path->cq,
		/* one slot in each queue is for ib_drain_qp() */
		.cap.max_send_wr = path->send_depth + RCH_PATH_RDMA_WRS + 1,
		.cap.max_recv_wr = path->depth + 1,
		.cap.max_send_sge = path->writes.sges,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = path->port,
	};

	if (rch_no_memory(RCH_SITE_VERBS))
		return -ENOMEM;
	return rdma_create_qp(path->id, path->pd, &attr);
}

/*
 * Whether the peer is this host, by way of the same adapter. A name that the peer gives itself
 * decides nothing: with iWARP it is the address that TCP has found, and else the one that packets
 * go to.
 */
static bool path_leads_here(const struct rch_path *path)
{
	struct sa_path_rec *rec = path->id->route.path_rec;
	const struct rdma_addr *addr = &path->id->route.addr;
	const struct ib_gid_attr *attr;

	if (rdma_protocol_iwarp(path->dev, path->port))
		return rch_addr_same_host(&addr->src_addr, &addr->dst_addr);
	if (!rec)
		return false;
	attr = rdma_find_gid_by_port(path->dev, &rec->dgid, sa_conv_pathrec_to_gid_type(rec),
				     path->port, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* Of the packets that this host sends: the route is the adapter's, but with iWARP. */
static u8 path_route_class(const struct rch_path *path)
{
	const struct sa_path_rec *rec = path->id->route.path_rec;

	if (rdma_protocol_iwarp(path->dev, path->port) || !rec)
		return path->traffic_class % RDMACHAN_TRAFFIC_CLASS_0;
	return rec->traffic_class;
}

/*
 * A sender never has more frames posted than fit the largest ring that is accepted from a peer in
 * its handshake; the owner keeps to send_depth. Return: whether the adapter has room for enough.
 */
static bool path_settle_depths(struct rch_path *path, u32 depth)
{
	const struct ib_device_attr *attrs = &path->dev->attrs;
	struct rch_depths depths = {
		.recv = depth,
		.send = max(depth, 64U) + RCH_PATH_SEND_SLACK,
	};
	bool enough = rch_depths_fit(&depths, RCH_PATH_RDMA_WRS, max(attrs->max_qp_wr, 0),
				     max(attrs->max_cqe, 0));

	path->depth = depths.recv;
	path->send_depth = depths.send;
	return enough;
}

/**
 * rch_path_setup - get PD, CQ, queue pair, and post all receive buffers
 * @path: path whose device is known
 * @depth: receive buffers; fewer where the adapter has no room for as many
 * @frame_size: bytes of each
 *
 * Return: 0, or an error with @path->error set; then rch_path_destroy() cleans up.
 */
int rch_path_setup(struct rch_path *path, u32 depth, u32 frame_size)
{
	int ret = -EOPNOTSUPP;

	if (!path_settle_depths(path, depth))
		goto err_fail;
	path->frame_size = frame_size;
	path->order = get_order(frame_size);
	path->mtu = rch_path_packet_size(path);
	path->leads_here = path_leads_here(path);
	rch_path_tail_begin(path);
	rch_path_pace_begin(path);
	WRITE_ONCE(path->route_class, path_route_class(path));
	rch_path_sizes(path);
	WRITE_ONCE(path->lends.atomics, path->dev->attrs.atomic_cap != IB_ATOMIC_NONE);
	path->pd = rch_try_verb(ib_alloc_pd(path->dev, 0));
	if (IS_ERR(path->pd)) {
		ret = PTR_ERR(path->pd);
		path->pd = NULL;
		goto err_fail;
	}
	ret = rch_path_cq_get(path);
	if (ret)
		goto err_fail;
	ret = path_create_qp(path);
	if (ret)
		goto err_fail;
	ret = rch_path_buffers_get(path);
	if (ret)
		goto err_fail;
	return 0;

err_fail:
	rch_path_fail(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_RESOURCES, -ret);
	return ret;
}

static void path_conn_param(struct rch_path *path, struct rdma_conn_param *param, const void *data,
			    u8 len)
{
	memset(param, 0, sizeof(*param));
	param->private_data = data;
	param->private_data_len = len;
	param->retry_count = RCH_ACK_RETRIES;
	param->rnr_retry_count = RCH_RNR_RETRY;
	/*
	 * Acknowledgements tell the adapter at the other end how many buffers are posted here, so
	 * that it need not find out by RNR. Adapters of iWARP have no such thing.
	 */
	param->flow_control = 1;
	param->responder_resources = path->accesses.rd_depth;
	param->initiator_depth = path->accesses.rd_depth;
}

/**
 * rch_path_connect - ask the peer
 * @path: path after rch_path_setup()
 * @data: private data, at most 56 bytes
 * @len: its length
 *
 * The answer is RDMA_CM_EVENT_ESTABLISHED, with @path->answer.reply. When the peer's module has
 * refused, RDMACHAN_CAUSE_REJECTED, that is valid too. May sleep; it does not wait for the answer,
 * but siw connects by TCP in here. Return: 0, or an error with @path->failure set.
 */
int rch_path_connect(struct rch_path *path, const void *data, u8 len)
{
	struct rdma_conn_param param;
	int ret;

	path_conn_param(path, &param, data, len);
	path->answer.given = false;
	ret = rdma_connect(path->id, &param);
	if (ret)
		path_fail_cm(path, RDMACHAN_OP_CONNECT, path_connect_cause(ret),
			     RDMA_CM_EVENT_CONNECT_ERROR, ret);
	return ret;
}

/**
 * rch_path_adopt - take over the id of a peer that wants to connect
 * @path: path after rch_path_init()
 * @request: the peer's wish
 *
 * Called in the connection manager's handler for the id. Return: 0, or -ENODEV with
 * @path->error set.
 */
int rch_path_adopt(struct rch_path *path, const struct rch_path_request *request)
{
	struct rdma_cm_id *id = request->id;

	path->id = id;
	path->accesses.rd_depth = max(request->rd_depth, 1);
	id->context = path;
	id->event_handler = rch_path_cm_event;
	return path_settle_device(path);
}

/**
 * rch_path_accept - let a peer in
 * @path: adopted path after rch_path_setup()
 * @peer_depth: its receive buffers
 * @data: private data for it
 * @len: its length
 *
 * Called in the connection manager's handler for the id.
 * Return: 0, or an error with @path->error set.
 */
int rch_path_accept(struct rch_path *path, u32 peer_depth, const void *data, u8 len)
{
	struct rdma_conn_param param;
	int ret;

	path_conn_param(path, &param, data, len);
	/* The peer's first frame may come before this is over. */
	WRITE_ONCE(path->answer.accepted, true);
	ret = rdma_accept(path->id, &param);
	if (ret) {
		WRITE_ONCE(path->answer.accepted, false);
		path_fail_cm(path, RDMACHAN_OP_CONNECT, RDMACHAN_CAUSE_RESOURCES,
			     RDMA_CM_EVENT_CONNECT_ERROR, ret);
	}
	return ret;
}

/**
 * rch_path_reject - a peer that was adopted is not let in
 * @path: adopted path
 * @data: why
 * @len: its length
 *
 * The peer is told when the path is taken apart. Context: as rch_path_adopt().
 */
void rch_path_reject(struct rch_path *path, const void *data, u8 len)
{
	path_keep_reply(path, data, len);
	path->answer.refused = true;
}

/** rch_path_abort - from now on rch_path_answered() says that it was too late. Any context */
void rch_path_abort(struct rch_path *path)
{
	WRITE_ONCE(path->answer.aborted, true);
}

static void path_break_qp(struct rch_path *path)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(path->id->qp, &attr, IB_QP_STATE);
}

/**
 * rch_path_break - have the queue pair fail, as an adapter would
 * @path: path that was set up
 *
 * From here on the peer can reach nothing by it. Does nothing when the path is being taken apart:
 * rch_path_drain() does this first.
 *
 * Context: may sleep.
 */
void rch_path_break(struct rch_path *path)
{
	if (!rch_path_enter(path))
		return;
	path_break_qp(path);
	rch_path_leave(path);
}

/**
 * rch_path_address_changed - what the connection manager tells when a bond fails over, on purpose
 * @path: path that was connected; one that is being taken apart is not told
 *
 * Context: may sleep.
 */
void rch_path_address_changed(struct rch_path *path)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_CHANGE };

	if (!rch_path_enter(path))
		return;
	rch_path_cm_event(path->id, &event);
	rch_path_leave(path);
}

/**
 * rch_path_device_fatal - what a driver tells when its adapter has failed, on purpose
 * @path: path to whose adapter that happens; one that is being taken apart does nothing
 *
 * Context: may sleep.
 */
void rch_path_device_fatal(struct rch_path *path)
{
	struct ib_event event = { .event = IB_EVENT_DEVICE_FATAL };

	if (!rch_path_enter(path))
		return;
	event.device = path->dev;
	ib_dispatch_event(&event);
	rch_path_leave(path);
}

/*
 * rdma_disconnect() leaves a queue pair of siw in a state (CLOSING; 6.1 to 7.2) in which
 * what drains it completes ahead of what was posted before. That then completes when its
 * memory has been freed. In the error state all is flushed in order.
 */
static void path_disconnect(struct rch_path *path)
{
	if (rdma_protocol_iwarp(path->id->device, path->id->port_num))
		path_break_qp(path);
	rdma_disconnect(path->id);
	ib_drain_qp(path->id->qp);
}

/*
 * Before the peer's RTU is handled the connection manager has nobody to tell that the connection
 * ends. The peer can reach nothing meanwhile.
 */
static void path_await_rtu(struct rch_path *path)
{
	path_break_qp(path);
	wait_event_timeout(path->left, READ_ONCE(path->answer.event),
			   msecs_to_jiffies(RCH_RTU_MS));
}

/* After a moment, as told in path_listen.c. */
static void path_tell_refusal(struct rch_path *path)
{
	if (rdma_protocol_iwarp(path->id->device, path->id->port_num))
		usleep_range(1000, 2000);
	rdma_reject(path->id, path->answer.reply, path->answer.reply_len,
		    IB_CM_REJ_CONSUMER_DEFINED);
}

/**
 * rch_path_drain - the first half of taking apart, as told above
 * @path: path
 *
 * May be called in any state of construction, and again. No completion comes after it.
 */
void rch_path_drain(struct rch_path *path)
{
	bool was;

	spin_lock_bh(&path->lock);
	was = path->stopped;
	path->stopped = true;
	spin_unlock_bh(&path->lock);
	if (was)
		return;
	if (path->answer.refused)
		path_tell_refusal(path);
	if (path->answer.accepted)
		path_await_rtu(path);
	if (path->id && path->id->qp)
		path_disconnect(path);
	rch_path_tail_stop(path);
	rch_accesses_end(path);
	complete_all(&path->drained);
	wake_up_all(&path->left);
}

/*
 * rxe looks at a queue pair once more after it has queued a packet for it, when the
 * packet may be gone and its reference with it (rxe_resp_queue_pkt(), 6.1 to 7.2). A
 * queue pair that is reset takes no packets, and those that were being queued in
 * softirq are when RCU says so. iWARP has no such state.
 */
static void path_settle_qp(struct rch_path *path)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	if (rdma_protocol_iwarp(path->dev, path->port))
		return;
	ib_modify_qp(path->id->qp, &attr, IB_QP_STATE);
	if (path->mrs.registrar)
		ib_modify_qp(path->mrs.registrar, &attr, IB_QP_STATE);
	synchronize_rcu();
}

/**
 * rch_path_id_destroy - destroy an id that is on no path's device
 * @id: connection manager's id
 *
 * The connection manager lets go of the device before it puts the id's GID, whose end is a work
 * item. On iWARP nothing else keeps the device's table of GIDs, so that a removal of the device may
 * have freed it before that work item looks there (cma_release_dev(), del_gid(), free_gid_work();
 * 6.12 and 7.2). The removal of a path's device waits for the path. A reference keeps the table of
 * any other device until the work item has run.
 *
 * Context: may sleep; not in a handler of @id.
 */
void rch_path_id_destroy(struct rdma_cm_id *id)
{
	struct ib_device *dev = READ_ONCE(id->device);

	if (dev)
		get_device(&dev->dev);
	rdma_destroy_id(id);
	if (!dev)
		return;
	flush_workqueue(ib_wq);
	put_device(&dev->dev);
}

/**
 * rch_path_destroy - take the path apart
 * @path: path
 *
 * May be called in any state of construction. Afterwards rch_path_resolve() may begin
 * anew; @path->error stays.
 */
void rch_path_destroy(struct rch_path *path)
{
	rch_path_drain(path);
	wait_event(path->left, !READ_ONCE(path->users));
	if (path->id) {
		if (path->id->qp) {
			path_settle_qp(path);
			rdma_destroy_qp(path->id);
		}
		rch_path_buffers_put(path);
		rch_path_mrs_free(path);
		rch_path_writes_free(path);
		rch_path_keys_free(path);
		rch_path_lends_free(path);
		rch_path_accesses_free(path);
		rch_path_cq_put(path);
		if (path->pd)
			ib_dealloc_pd(path->pd);
		path->pd = NULL;
		/* Without a queue pair nobody queues it. */
		cancel_work_sync(&path->answer.heard_work);
		if (path->dev)
			rdma_destroy_id(path->id);
		else
			rch_path_id_destroy(path->id);
	}
	path->id = NULL;
	path->dev = NULL;
}
