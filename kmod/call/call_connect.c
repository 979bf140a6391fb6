// SPDX-License-Identifier: GPL-2.0
/*
 * call_connect.c - a CONNECT: what a program says, and the channel that is to be connected
 */
#include <linux/err.h>
#include <linux/socket.h>

#include "base/rch.h"
#include "call/call.h"
#include "channel/chan.h"
#include "conn/conn.h"

/** rch_connect_check - look at what a program gives, and fill in defaults */
int rch_connect_check(struct rdmachan_connect_args *connect)
{
	if (connect->flags & ~(RCH_FD_F_ALL | RDMACHAN_CONNECT_F_EARLY))
		return -EOPNOTSUPP;
	if (!rch_service_valid(connect->service) || connect->timeout_ms > 3600000 ||
	    connect->traffic_class > RDMACHAN_TRAFFIC_CLASS_0)
		return -EINVAL;
	if (!connect->traffic_class)
		connect->traffic_class = READ_ONCE(rch_traffic_class);
	return rch_error_check(connect->error_ptr) ?: rch_chan_tune(&connect->tuning);
}

/** rch_connect_timeout - how long to try, in ms */
u32 rch_connect_timeout(const struct rdmachan_connect_args *connect)
{
	return connect->timeout_ms ?: READ_ONCE(rch_connect_ms);
}

/** rch_connect_deadline - when a connect that begins now ends, as of rch_deadline() */
unsigned long rch_connect_deadline(const struct rdmachan_connect_args *connect)
{
	return rch_deadline(rch_connect_timeout(connect));
}

/* Both name an interface, and not the same: the connection manager would go by that of @source. */
static bool call_scopes_differ(const struct sockaddr_storage *source,
			       const struct sockaddr_storage *peer)
{
	u32 from = ((const struct sockaddr_in6 *)source)->sin6_scope_id;
	u32 to = ((const struct sockaddr_in6 *)peer)->sin6_scope_id;

	return source->ss_family == AF_INET6 && from && to && from != to;
}

/**
 * rch_connect_chan - make a channel that is to be connected
 * @net: network namespace
 * @owner: charge of the context or queue it comes from
 * @connect: after rch_connect_check(); its error record is filled in
 * @deadline: how long to try, as of rch_deadline()
 *
 * Return: the channel; or an ERR_PTR(): -EAFNOSUPPORT, -EINVAL, -EHOSTUNREACH, or as
 * rch_chan_alloc().
 */
struct rch_chan *rch_connect_chan(struct net *net, const struct rch_charge *owner,
				  const struct rdmachan_connect_args *connect,
				  unsigned long deadline)
{
	struct rdmachan_error error = { .size = sizeof(error) };
	struct sockaddr_storage peer, source;
	struct rch_chan_opening *opening;
	struct rch_chan *chan;
	int ret;

	ret = rch_addr_to_sockaddr(&peer, &connect->addr) ?:
	      rch_addr_to_own(net, &source, &connect->source);
	if (ret)
		return ERR_PTR(ret);
	if (source.ss_family && (source.ss_family != peer.ss_family ||
				 call_scopes_differ(&source, &peer)))
		return ERR_PTR(-EINVAL);
	rch_addr_from_sockaddr(&error.local, &source);
	error.service = connect->service;
	rch_addr_from_sockaddr(&error.peer, &peer);
	if (rch_addr_is_no_host(net, &peer)) {
		rch_error_set(&error, RDMACHAN_OP_RESOLVE, RDMACHAN_CAUSE_ADDRESS, 1);
		return ERR_PTR(rch_refused(-EHOSTUNREACH, connect->error_ptr, &error));
	}
	opening = rch_chan_opening_alloc(&peer, &source, connect->traffic_class, deadline);
	if (!opening)
		return ERR_PTR(rch_refused(-ENOMEM, connect->error_ptr, &error));
	chan = rch_chan_alloc(net, owner, &(struct rch_chan_wish){
		.service = connect->service,
		.tuning = &connect->tuning,
		.peer = &peer,
		.opening = opening,
	}, &error);
	if (IS_ERR(chan)) {
		kfree(opening);
		rch_refused(PTR_ERR(chan), connect->error_ptr, &error);
		return chan;
	}
	chan->early.wanted = connect->flags & RDMACHAN_CONNECT_F_EARLY;
	return chan;
}

/** rch_connect_failed - tell the program why its channel could not be connected */
void rch_connect_failed(struct rch_chan *chan, const struct rdmachan_connect_args *connect,
			int ret)
{
	rch_chan_error_out(chan, connect->error_ptr, ret);
}
