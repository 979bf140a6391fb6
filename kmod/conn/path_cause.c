// SPDX-License-Identifier: GPL-2.0
/*
 * path_cause.c - why a connection was lost
 *
 * An adapter that cannot send tells that work was not done, and nothing of the reason; or it tries
 * for ever, and the peer seems to be dead. Changes at this host can be seen all the same.
 */
#include <linux/jiffies.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_cm.h>

#include "base/rch.h"
#include "conn/conn.h"

/* RoCE: whether the own address of the connection is still one of the device. */
static bool path_cause_has_own_address(const struct rch_path *path)
{
	const struct rdma_addr *addr = &path->id->route.addr;
	const struct ib_gid_attr *attr = addr->dev_addr.sgid_attr;
	union ib_gid gid;

	if (!attr || !rdma_protocol_roce(path->dev, path->port))
		return true;
	rdma_ip2gid((struct sockaddr *)&addr->src_addr, &gid);
	attr = rdma_find_gid(path->dev, &gid, attr->gid_type, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* A change that is longer ago than a work request may take is not the reason. */
static bool path_cause_has_new_hardware_address(const struct rch_path *path)
{
	return (rch_path_events(path) & RDMACHAN_LINK_EVENT_ADDRESS) &&
	       time_before(jiffies, READ_ONCE(path->address_at) + path->patience);
}

static u32 path_cause_own_cause(struct rch_path *path, struct rdmachan_error *error)
{
	struct ib_port_attr attr;
	u32 mtu;

	if (ib_query_port(path->dev, path->port, &attr))
		return 0;
	if (attr.state != IB_PORT_ACTIVE)
		return RDMACHAN_CAUSE_PORT_DOWN;
	if (!path_cause_has_own_address(path))
		return RDMACHAN_CAUSE_OWN_ADDRESS;
	mtu = rch_port_mtu(path->dev, path->port);
	if (mtu && mtu < path->mtu) {
		error->limit = mtu;
		error->needed = path->mtu;
		return RDMACHAN_CAUSE_MTU;
	}
	return path_cause_has_new_hardware_address(path) ? RDMACHAN_CAUSE_NEIGHBOUR : 0;
}

/**
 * rch_path_diagnose - why a connection was lost: look for what has changed at this host
 * @path: path that was connected, and is neither connected anew nor destroyed now
 * @error: the record so far; a cause that says more replaces the one in it
 *
 * An adapter tells that a packet did not go, or nothing. May sleep.
 */
void rch_path_diagnose(struct rch_path *path, struct rdmachan_error *error)
{
	u32 cause = 0;

	if (!path->id || !path->dev)
		return;
	if (error->cause == RDMACHAN_CAUSE_TRANSPORT || error->cause == RDMACHAN_CAUSE_PEER_DEAD ||
	    error->cause == RDMACHAN_CAUSE_PEER_STALLED)
		cause = path_cause_own_cause(path, error);
	/* Packets to an old address are lost: a peer that hears nothing is the first to end. */
	else if (error->cause == RDMACHAN_CAUSE_DISCONNECTED &&
		 path_cause_has_new_hardware_address(path))
		cause = RDMACHAN_CAUSE_NEIGHBOUR;
	if (!cause)
		return;
	error->cause = cause;
	error->error = rch_error_errno(cause);
	error->detail = 0;
}
