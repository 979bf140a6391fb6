// SPDX-License-Identifier: GPL-2.0
/*
 * path_own.c - the own end of a connection: its address and its port
 *
 * A program may say which own address a connection has. An address that no RDMA device serves is
 * found before the peer is asked. A connection that has an own address goes by the interface of
 * that address, whatever the route to the peer says.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>

#include "base/inject.h"
#include "base/rch.h"
#include "conn/conn.h"

static int rch_path_own_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/* The connection manager looks for the interface that is named, and not whose address it is. */
static bool path_own_is_at(struct net *net, const struct sockaddr_storage *own, int ifindex)
{
	const struct in6_addr *addr = &((const struct sockaddr_in6 *)own)->sin6_addr;
	struct net_device *dev;
	bool is;

	if (!IS_ENABLED(CONFIG_IPV6) || own->ss_family != AF_INET6 || !ifindex)
		return true;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	is = dev && ipv6_chk_addr(net, addr, dev, 1);
	rcu_read_unlock();
	return is;
}

static bool path_own_is_loopback(const struct sockaddr_storage *own)
{
	const struct sockaddr_in *in = (const void *)own;
	const struct sockaddr_in6 *in6 = (const void *)own;

	return own->ss_family == AF_INET6 ? ipv6_addr_loopback(&in6->sin6_addr) :
					    ipv4_is_loopback(in->sin_addr.s_addr);
}

/*
 * What the connection manager does not find out of an own address. @dst: peer, whose address may
 * name the interface; or NULL. Return: 0; -EADDRNOTAVAIL: the interface has no such address; or
 * -ENODEV: the host has it, and no RDMA device can serve it.
 */
static int path_own_known(struct net *net, const struct sockaddr_storage *own,
			  const struct sockaddr_storage *dst)
{
	int ifindex = 0;

	/* It takes a loopback address for any: no peer comes by it. */
	if (path_own_is_loopback(own))
		return -ENODEV;
	if (own->ss_family == AF_INET6)
		ifindex = ((const struct sockaddr_in6 *)own)->sin6_scope_id;
	if (!ifindex && dst && dst->ss_family == AF_INET6)
		ifindex = ((const struct sockaddr_in6 *)dst)->sin6_scope_id;
	return path_own_is_at(net, own, ifindex) ? 0 : -EADDRNOTAVAIL;
}

/*
 * Whether it is for the own address that @id could not be bound, and the connection manager gave
 * @ret. Return: 0: it has found the address and its device; -EADDRNOTAVAIL: the host has no such
 * address; -ENODEV: it has, and no RDMA device serves it; or -ENOMEM.
 */
static int path_own_fault(const struct rdma_cm_id *id, int ret)
{
	if (id->device)
		return 0;
	if (ret == -ENOMEM || ret == -ENODEV)
		return ret;
	/*
	 * It looks for a port when it has found both. Other programs may have taken all ports; a
	 * connection has one of its own choice.
	 */
	return id->route.addr.dev_addr.bound_dev_if ? 0 : -EADDRNOTAVAIL;
}

/**
 * rch_path_own_check - whether an RDMA device serves an own address
 * @net: network namespace
 * @own: address, with port 0
 *
 * The connection manager finds the device, as it will for a connection. Context: may sleep.
 * Return: 0; -EADDRNOTAVAIL: the host has no such address; -ENODEV: it has, and no RDMA device
 * serves it; or -ENOMEM.
 */
int rch_path_own_check(struct net *net, const struct sockaddr_storage *own)
{
	struct sockaddr_storage addr = *own;
	struct rdma_cm_id *id;
	int ret = path_own_known(net, own, NULL);

	if (ret)
		return ret;
	id = rch_try_verb(rdma_create_id(net, rch_path_own_event, NULL, RDMA_PS_TCP, IB_QPT_RC));
	if (IS_ERR(id))
		return -ENOMEM;
	ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (ret)
		ret = path_own_fault(id, ret);
	rch_path_id_destroy(id);
	return ret;
}

/**
 * rch_path_own_begin - whether a connection may come from the own address that is asked for
 * @path: path; it may have none
 * @net: network namespace
 * @dst: peer
 *
 * As far as is known before the path's own id is bound to it. No id is bound for that alone: to
 * destroy it would be to wait for work items of other users. Context: any. Return: 0, or an error
 * with @path->failure set.
 */
int rch_path_own_begin(struct rch_path *path, struct net *net, const struct sockaddr_storage *dst)
{
	int ret = path->source.ss_family ? path_own_known(net, &path->source, dst) : 0;

	if (ret)
		rch_path_fail(path, RDMACHAN_OP_RESOLVE, RDMACHAN_CAUSE_LOCAL_ADDRESS,
			      ret == -ENODEV);
	return ret;
}

/**
 * rch_path_own_failed - the path's id could not be bound, or could not ask for the peer's address
 * @path: path; it may have none
 * @ret: what the connection manager gave
 *
 * Context: any. Return: whether it is for the own address; then @path->failure is set.
 */
bool rch_path_own_failed(struct rch_path *path, int ret)
{
	int fault = path->source.ss_family ? path_own_fault(path->id, ret) : 0;

	if (!fault || fault == -ENOMEM)
		return false;
	rch_path_fail(path, RDMACHAN_OP_RESOLVE, RDMACHAN_CAUSE_LOCAL_ADDRESS, fault == -ENODEV);
	return true;
}

/**
 * rch_path_own_get - the own address of a connection
 * @id: connection manager's id whose device is known
 * @own: result
 *
 * A request to connect names no interface with a link-local address: it is the one that the request
 * came by.
 */
void rch_path_own_get(const struct rdma_cm_id *id, struct sockaddr_storage *own)
{
	const struct rdma_addr *addr = &id->route.addr;
	struct sockaddr_in6 *in6 = (void *)own;

	*own = addr->src_addr;
	if (own->ss_family == AF_INET6 && !in6->sin6_scope_id &&
	    ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		in6->sin6_scope_id = addr->dev_addr.bound_dev_if;
}

/**
 * rch_path_own_bind - have an id connect from a port that no unprivileged program can have
 * @id: connection manager's id
 * @source: own address; family 0: any
 * @dst: peer
 *
 * All links from an address share one port: it tells nothing but that. Context: may sleep. Return:
 * 0, or an error: then the id is to connect from any port.
 */
int rch_path_own_bind(struct rdma_cm_id *id, const struct sockaddr_storage *source,
		      const struct sockaddr_storage *dst)
{
	struct sockaddr_storage from = *source;
	int port, ret = rdma_set_reuseaddr(id, 1);

	from.ss_family = dst->ss_family;
	for (port = RCH_PORT_PRIVILEGED - 1; !ret && port >= RCH_PORT_PRIVILEGED / 2; port--) {
		/* At the same place in both families. */
		((struct sockaddr_in *)&from)->sin_port = htons(port);
		ret = rdma_bind_addr(id, (struct sockaddr *)&from);
		if (!ret)
			return 0;
		if (source->ss_family && path_own_fault(id, ret))
			return ret;
		if (ret == -EADDRINUSE || ret == -EADDRNOTAVAIL)
			ret = 0;
	}
	return ret ?: -EADDRINUSE;
}
