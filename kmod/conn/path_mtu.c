// SPDX-License-Identifier: GPL-2.0
/*
 * path_mtu.c - how large packets are
 *
 * Both ends of a connection send packets as large as the one that connects has chosen, which knows
 * its own interface only. A host whose interface carries less would pass small messages, and lose
 * the connection with the first that fills a packet. So it refuses such a connection, and tells
 * what it carries; the other one connects once more, with that.
 */
#include <linux/log2.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "conn/conn.h"

/* Of the route, in bytes; 0 where there are no packets of one size, as with iWARP. */
static u32 path_mtu_route_mtu(const struct rdma_cm_id *id)
{
	if (!id->route.path_rec || rdma_protocol_iwarp(id->device, id->port_num))
		return 0;
	return max(ib_mtu_enum_to_int(id->route.path_rec->mtu), 0);
}

/** rch_path_keep_to_mtu - what the peer has said of its packets holds for the route as well */
void rch_path_keep_to_mtu(struct rch_path *path)
{
	u32 mtu = path_mtu_route_mtu(path->id);

	if (mtu && path->mtu_limit && path->mtu_limit < mtu)
		path->id->route.path_rec->mtu = ib_mtu_int_to_enum(path->mtu_limit);
}

/** rch_port_mtu - what a port carries now, in bytes; 0: that is not known, or does not matter */
u32 rch_port_mtu(struct ib_device *dev, u32 port)
{
	struct ib_port_attr attr;

	if (rdma_protocol_iwarp(dev, port) || ib_query_port(dev, port, &attr))
		return 0;
	return max(ib_mtu_enum_to_int(attr.active_mtu), 0);
}

/**
 * rch_path_request_mtu - whether this host carries the packets that a peer wants to send
 * @request: the peer's wish
 *
 * Each host sends packets as large as the one that connects has chosen, by its own interface. May
 * sleep. Return: 0; or the largest that it carries, when that is less.
 */
u32 rch_path_request_mtu(const struct rch_path_request *request)
{
	u32 wanted = path_mtu_route_mtu(request->id);
	u32 mtu = rch_port_mtu(request->id->device, request->id->port_num);

	return mtu && wanted > mtu ? mtu : 0;
}

/**
 * rch_path_limit_mtu - the peer has said how large packets it carries
 * @path: path that could not be connected
 * @mtu: bytes, as the peer says
 *
 * Return: whether it may be connected when that is tried again, with smaller ones.
 */
bool rch_path_limit_mtu(struct rch_path *path, u32 mtu)
{
	if (mtu < 256 || mtu > 4096 || !is_power_of_2(mtu) || mtu >= path->mtu)
		return false;
	path->mtu_limit = mtu;
	return true;
}

/** rch_path_packet_size - of a path whose route is known; without an answer, the most there is */
u32 rch_path_packet_size(struct rch_path *path)
{
	u32 route = path_mtu_route_mtu(path->id);
	struct ib_port_attr attr;
	u32 mtu = 4096;

	WRITE_ONCE(path->route_mtu, route);
	if (!ib_query_port(path->dev, path->port, &attr))
		mtu = max(ib_mtu_enum_to_int(attr.active_mtu), 256);
	return route ? min(mtu, route) : mtu;
}
