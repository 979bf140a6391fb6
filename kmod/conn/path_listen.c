// SPDX-License-Identifier: GPL-2.0
/*
 * path_listen.c - waits for peers
 *
 * One listener for each network namespace, on one port for both address families.
 *
 * Refusing. With iWARP the end of the TCP connection comes right behind the words. The words are
 * lost to siw when both arrive before its own call to connect is over, as they do on one host: that
 * call gets a moment. The connection manager of iWARP handles one request after the other, of all
 * users of the host, so that its handler must not sleep for that. It leaves the id to refuse_work,
 * which refuses and destroys it when the moment is over. Until then the id keeps its listener, and
 * its device.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>

#include "base/inject.h"
#include "base/rch.h"
#include "conn/conn.h"

#define RCH_LISTEN_BACKLOG 256
/* Refusals that wait for their moment. Beyond them peers are refused without words. */
#define RCH_REFUSALS_MAX 256
#define RCH_REFUSAL_US 1000

/**
 * struct refusal - a peer that is to be told why not
 * @list: in refusals, in the order of @due
 * @listener: that was asked; it stays until this is over
 * @id: connection manager's id, which is refuse_work's alone
 * @due: when to tell
 * @len: bytes of @data
 * @data: why
 */
struct refusal {
	struct list_head list;
	struct rch_path_listener *listener;
	struct rdma_cm_id *id;
	ktime_t due;
	u8 len;
	u8 data[RCH_PATH_REFUSAL_MAX];
};

static void rch_refuse_work(struct work_struct *work);

static DEFINE_SPINLOCK(refusals_lock); /* protects refusals, and how many there are */
static LIST_HEAD(refusals);
static u32 refusals_count; /* that are not over, of all listeners */
static DECLARE_WAIT_QUEUE_HEAD(refusals_wait);
static DECLARE_WORK(refuse_work, rch_refuse_work);

/**
 * struct rch_path_listener - waits for peers in a network namespace
 * @net: network namespace; outlives the listener
 * @incoming: told of each
 * @id: one for each address family
 * @refused: refusals that are not over; protected by refusals_lock
 */
struct rch_path_listener {
	struct net *net;
	rch_path_incoming incoming;
	struct rdma_cm_id *id[2];
	u32 refused;
};

static int rch_path_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rch_path_listener *listener = id->context;
	struct rch_path_request request = {
		.id = id,
		.data = event->param.conn.private_data,
		.data_len = event->param.conn.private_data_len,
		.rd_depth = min(event->param.conn.responder_resources,
				event->param.conn.initiator_depth),
	};

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	return listener->incoming(listener->net, &request);
}

/* Nothing matters to an id that is refused in a moment. */
static int rch_refused_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

static struct refusal *path_listen_refusal_take(void)
{
	struct refusal *refusal;

	spin_lock(&refusals_lock);
	refusal = list_first_entry_or_null(&refusals, struct refusal, list);
	if (refusal)
		list_del(&refusal->list);
	spin_unlock(&refusals_lock);
	return refusal;
}

static void path_listen_refusal_tell(struct refusal *refusal)
{
	s64 wait = ktime_us_delta(refusal->due, ktime_get());

	if (wait > 0)
		usleep_range(wait, wait + RCH_REFUSAL_US);
	rdma_reject(refusal->id, refusal->data, refusal->len, IB_CM_REJ_CONSUMER_DEFINED);
	rch_path_id_destroy(refusal->id);
	spin_lock(&refusals_lock);
	refusals_count--;
	refusal->listener->refused--;
	spin_unlock(&refusals_lock);
	wake_up_all(&refusals_wait);
	kfree(refusal);
}

static void rch_refuse_work(struct work_struct *work)
{
	struct refusal *refusal;

	while ((refusal = path_listen_refusal_take()))
		path_listen_refusal_tell(refusal);
}

/* Return: whether it has a place among the others */
static bool path_listen_refusal_enter(struct refusal *refusal)
{
	bool ok;

	spin_lock(&refusals_lock);
	ok = refusals_count < RCH_REFUSALS_MAX;
	if (ok) {
		refusals_count++;
		refusal->listener->refused++;
		refusal->due = ktime_add_us(ktime_get(), RCH_REFUSAL_US);
		list_add_tail(&refusal->list, &refusals);
	}
	spin_unlock(&refusals_lock);
	return ok;
}

static int path_listen_refuse_later(const struct rch_path_request *request, const void *data,
				    u8 len)
{
	struct refusal *refusal = kzalloc(sizeof(*refusal), GFP_KERNEL);

	if (!refusal)
		return -ECONNREFUSED;
	refusal->listener = request->id->context;
	refusal->id = request->id;
	refusal->len = min_t(u8, len, sizeof(refusal->data));
	memcpy(refusal->data, data, refusal->len);
	/* The id may be destroyed as soon as it is in the list: after this handler. */
	request->id->event_handler = rch_refused_event;
	if (!path_listen_refusal_enter(refusal)) {
		kfree(refusal);
		return -ECONNREFUSED;
	}
	queue_work(rch_refuse_wq, &refuse_work);
	return 0;
}

/**
 * rch_path_refuse - tell a peer why not
 * @request: the peer's wish, which was not adopted
 * @data: why
 * @len: its length, at most RCH_PATH_REFUSAL_MAX
 *
 * Context: the connection manager's handler for the id; does not wait for anybody. Return: what
 * the handler is to return: 0, the id was taken over; or -ECONNREFUSED, the core destroys it.
 */
int rch_path_refuse(const struct rch_path_request *request, const void *data, u8 len)
{
	if (rdma_protocol_iwarp(request->id->device, request->id->port_num))
		return path_listen_refuse_later(request, data, len);
	rdma_reject(request->id, data, len, IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static bool path_listen_refuses_nobody(const struct rch_path_listener *listener)
{
	bool nobody;

	spin_lock(&refusals_lock);
	nobody = !listener->refused;
	spin_unlock(&refusals_lock);
	return nobody;
}

/* Whether @gid is made of the address @addr. */
static bool path_listen_gid_is_of(const union ib_gid *gid, const struct sockaddr_storage *addr)
{
	struct sockaddr_storage of_gid = {}, claimed = *addr;

	rdma_gid2ip((struct sockaddr *)&of_gid, gid);
	/* A GID has no scope. */
	if (claimed.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&claimed)->sin6_scope_id = 0;
	return rch_addr_same_host(&of_gid, &claimed);
}

/* Whether the request has come to the own address that it names, by which packets will go. */
static bool path_listen_has_come_to(struct rdma_cm_id *id, const struct sockaddr_storage *own)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	const struct ib_global_route *grh;
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask))
		return false;
	/* The connection manager has a reference to that while its handler runs. */
	grh = rdma_ah_read_grh(&attr.ah_attr);
	return grh->sgid_attr && path_listen_gid_is_of(&grh->sgid_attr->gid, own);
}

/**
 * rch_path_request_is_its_own - whether a peer names its own address, and the one it asks
 * @request: the peer's wish
 *
 * Both addresses are private data, which the peer's connection manager has written. On RoCE packets
 * go to the peer's GID, which is made of the address that the peer connects from. The request has
 * come to the own GID, which is made of the address that the peer connects to.
 *
 * On iWARP the addresses are those of TCP. On InfiniBand that is not RoCE a GID says nothing of IP
 * addresses, so there is nothing to compare. Peers' kernels write true addresses for programs with
 * IP addresses. But a program there that uses AF_IB writes all of the private data (the core has
 * that on InfiniBand and OPA alone, rdma_cap_af_ib()): it needs no privilege to claim an address,
 * or a port below 1024. Refusing all of InfiniBand would be the only other way. security.rst says
 * so.
 */
bool rch_path_request_is_its_own(const struct rch_path_request *request)
{
	const struct rdma_route *route = &request->id->route;

	if (!rdma_protocol_roce(request->id->device, request->id->port_num))
		return true;
	return path_listen_gid_is_of(&route->path_rec->dgid, &route->addr.dst_addr) &&
	       path_listen_has_come_to(request->id, &route->addr.src_addr);
}

/**
 * rch_path_request_privileged - whether a peer connects from a privileged port
 * @request: the peer's wish
 *
 * The peer's kernel lets privileged programs alone have such a port; but see
 * rch_path_request_is_its_own(). iWARP peers have any.
 */
bool rch_path_request_privileged(const struct rch_path_request *request)
{
	/* At the same place in both families. */
	const struct sockaddr_in *peer = (const void *)&request->id->route.addr.dst_addr;

	return rdma_protocol_iwarp(request->id->device, request->id->port_num) ||
	       ntohs(peer->sin_port) < RCH_PORT_PRIVILEGED;
}

static struct rdma_cm_id *path_listen_on(struct rch_path_listener *listener,
					 struct sockaddr *addr)
{
	struct rdma_cm_id *id;
	int ret;

	id = rch_try_verb(rdma_create_id(listener->net, rch_path_listen_event, listener,
					 RDMA_PS_TCP, IB_QPT_RC));
	if (IS_ERR(id))
		return id;
	if (addr->sa_family == AF_INET6)
		rdma_set_afonly(id, 1);
	ret = rdma_bind_addr(id, addr);
	if (ret)
		goto err_id;
	ret = rdma_listen(id, RCH_LISTEN_BACKLOG);
	if (ret)
		goto err_id;
	return id;

err_id:
	rdma_destroy_id(id);
	return ERR_PTR(ret);
}

/**
 * rch_path_listen - begin to wait for peers
 * @net: network namespace
 * @port: port
 * @incoming: called for each peer
 *
 * Return: the listener or an ERR_PTR(): -EADDRINUSE or, of the connection manager,
 * -EADDRNOTAVAIL when the port is taken.
 */
struct rch_path_listener *rch_path_listen(struct net *net, u16 port,
					  rch_path_incoming incoming)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct rch_path_listener *listener;
	int ret;

	listener = rch_try(RCH_SITE_PORT, kzalloc(sizeof(*listener), GFP_KERNEL));
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->net = net;
	listener->incoming = incoming;
	listener->id[0] = path_listen_on(listener, (struct sockaddr *)&in);
	if (IS_ERR(listener->id[0])) {
		ret = PTR_ERR(listener->id[0]);
		goto err_free;
	}
	listener->id[1] = path_listen_on(listener, (struct sockaddr *)&in6);
	if (IS_ERR(listener->id[1])) {
		ret = PTR_ERR(listener->id[1]);
		/* A kernel without IPv6 is no reason to refuse IPv4. */
		if (ret != -EAFNOSUPPORT && ret != -EPROTONOSUPPORT)
			goto err_id;
		listener->id[1] = NULL;
	}
	return listener;

err_id:
	rdma_destroy_id(listener->id[0]);
err_free:
	kfree(listener);
	return ERR_PTR(ret);
}

/**
 * rch_path_unlisten - wait no longer for peers
 * @listener: is freed
 *
 * No @incoming runs after this, and it refuses nobody any more. Context: may sleep.
 */
void rch_path_unlisten(struct rch_path_listener *listener)
{
	rdma_destroy_id(listener->id[0]);
	if (listener->id[1])
		rdma_destroy_id(listener->id[1]);
	wait_event(refusals_wait, path_listen_refuses_nobody(listener));
	kfree(listener);
}
