// SPDX-License-Identifier: GPL-2.0
/*
 * path_listen.c - waits for peers
 *
 * One listener for each network namespace, on one port for both address families.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>

#include "base/error.h"
#include "base/inject.h"
#include "base/rch.h"
#include "path/path.h"

#define RCH_LISTEN_BACKLOG 256

/**
 * struct rch_path_listener - waits for peers in a network namespace
 * @net: network namespace; outlives the listener
 * @incoming: told of each
 * @id: one for each address family
 */
struct rch_path_listener {
	struct net *net;
	rch_path_incoming incoming;
	struct rdma_cm_id *id[2];
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

/**
 * rch_path_refuse - tell a peer why not; the core destroys the id afterwards
 * @request: the peer's wish
 * @data: why
 * @len: its length
 *
 * With iWARP the end of the TCP connection comes right behind the words. siw does not
 * hear them when both arrive before its own call to connect is over, as they do on
 * one host: that call gets a moment. May sleep.
 */
void rch_path_refuse(const struct rch_path_request *request, const void *data, u8 len)
{
	if (rdma_protocol_iwarp(request->id->device, request->id->port_num))
		usleep_range(1000, 2000);
	rdma_reject(request->id, data, len, IB_CM_REJ_CONSUMER_DEFINED);
}

/**
 * rch_path_request_is_its_own - whether a peer has the address that it claims
 * @request: the peer's wish
 *
 * The address of the peer is private data, which the peer's connection manager has written. On RoCE
 * the peer's GID, to which packets go, is made of the address that it connects from.
 */
bool rch_path_request_is_its_own(const struct rch_path_request *request)
{
	const struct rdma_route *route = &request->id->route;
	struct sockaddr_storage of_gid = {}, claimed = route->addr.dst_addr;

	if (!rdma_protocol_roce(request->id->device, request->id->port_num))
		return true;
	rdma_gid2ip((struct sockaddr *)&of_gid, &route->path_rec->dgid);
	/* A GID has no scope. */
	if (claimed.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&claimed)->sin6_scope_id = 0;
	return rch_addr_same_host(&of_gid, &claimed);
}

/**
 * rch_path_request_privileged - whether a peer connects from a privileged port
 * @request: the peer's wish
 *
 * The peer's kernel lets privileged programs alone have such a port. iWARP peers have any.
 */
bool rch_path_request_privileged(const struct rch_path_request *request)
{
	/* At the same place in both families. */
	const struct sockaddr_in *peer = (const void *)&request->id->route.addr.dst_addr;

	return rdma_protocol_iwarp(request->id->device, request->id->port_num) ||
	       ntohs(peer->sin_port) < RCH_PORT_PRIVILEGED;
}

static struct rdma_cm_id *listen_on(struct rch_path_listener *listener,
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
	listener->id[0] = listen_on(listener, (struct sockaddr *)&in);
	if (IS_ERR(listener->id[0])) {
		ret = PTR_ERR(listener->id[0]);
		goto err_free;
	}
	listener->id[1] = listen_on(listener, (struct sockaddr *)&in6);
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

/** rch_path_unlisten - wait no longer; no @incoming runs after this. May sleep. */
void rch_path_unlisten(struct rch_path_listener *listener)
{
	rdma_destroy_id(listener->id[0]);
	if (listener->id[1])
		rdma_destroy_id(listener->id[1]);
	kfree(listener);
}
