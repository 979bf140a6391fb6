// SPDX-License-Identifier: GPL-2.0
/*
 * error.c - error records and addresses in them
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "base/rch.h"

static const u8 cause_errno[] = {
	[RDMACHAN_CAUSE_NO_DEVICE] = ENODEV,
	[RDMACHAN_CAUSE_ADDRESS] = EHOSTUNREACH,
	[RDMACHAN_CAUSE_ROUTE] = EHOSTUNREACH,
	[RDMACHAN_CAUSE_UNREACHABLE] = EHOSTDOWN,
	[RDMACHAN_CAUSE_NO_MODULE] = ECONNREFUSED,
	[RDMACHAN_CAUSE_NO_SERVICE] = ECONNREFUSED,
	[RDMACHAN_CAUSE_BACKLOG] = ECONNREFUSED,
	[RDMACHAN_CAUSE_REJECTED] = ECONNREFUSED,
	[RDMACHAN_CAUSE_VERSION] = ECONNREFUSED,
	[RDMACHAN_CAUSE_FEATURE] = ECONNREFUSED,
	[RDMACHAN_CAUSE_TIMEOUT] = ETIMEDOUT,
	[RDMACHAN_CAUSE_PEER_DEAD] = EHOSTDOWN,
	[RDMACHAN_CAUSE_PEER_CLOSED] = EPIPE,
	[RDMACHAN_CAUSE_PEER_KILLED] = ECONNRESET,
	[RDMACHAN_CAUSE_PEER_RESET] = ECONNRESET,
	[RDMACHAN_CAUSE_PEER_RESTARTED] = ECONNRESET,
	[RDMACHAN_CAUSE_PEER_SHUTDOWN] = EPIPE,
	[RDMACHAN_CAUSE_DISCONNECTED] = ECONNRESET,
	[RDMACHAN_CAUSE_DEVICE_REMOVED] = ENODEV,
	[RDMACHAN_CAUSE_TRANSPORT] = ECONNRESET,
	[RDMACHAN_CAUSE_PROTOCOL] = EPROTO,
	[RDMACHAN_CAUSE_RESOURCES] = ENOMEM,
	[RDMACHAN_CAUSE_PEER_RESOURCES] = ECONNREFUSED,
	[RDMACHAN_CAUSE_SHUTDOWN] = EPIPE,
	[RDMACHAN_CAUSE_MESSAGE_SIZE] = EMSGSIZE,
	[RDMACHAN_CAUSE_UNLOAD] = ENODEV,
	[RDMACHAN_CAUSE_USER_LIMIT] = EDQUOT,
	[RDMACHAN_CAUSE_USER_BYTES] = ENOBUFS,
	[RDMACHAN_CAUSE_TOTAL_LIMIT] = ENOSPC,
	[RDMACHAN_CAUSE_MEMLOCK] = ENOMEM,
	[RDMACHAN_CAUSE_MEMORY_KIND] = EOPNOTSUPP,
	[RDMACHAN_CAUSE_UNCERTAIN] = EREMOTEIO,
	[RDMACHAN_CAUSE_ATOMICS] = EBUSY,
	[RDMACHAN_CAUSE_PORT_DOWN] = ECONNRESET,
	[RDMACHAN_CAUSE_MTU] = ECONNRESET,
	[RDMACHAN_CAUSE_OWN_ADDRESS] = ECONNRESET,
	[RDMACHAN_CAUSE_NEIGHBOUR] = ECONNRESET,
	[RDMACHAN_CAUSE_PORT_TAKEN] = EADDRINUSE,
	[RDMACHAN_CAUSE_SEND_BUFFER] = EMSGSIZE,
	[RDMACHAN_CAUSE_UNPRIVILEGED] = ECONNREFUSED,
	[RDMACHAN_CAUSE_PEER_STALLED] = EHOSTDOWN,
	[RDMACHAN_CAUSE_DEVICE_FATAL] = ENODEV,
	[RDMACHAN_CAUSE_LOCAL_ADDRESS] = EADDRNOTAVAIL,
	[RDMACHAN_CAUSE_MESSAGE_LOST] = ECONNRESET,
};

/** rch_error_errno - the errno, above 0, that goes with a cause */
int rch_error_errno(u32 cause)
{
	if (cause >= ARRAY_SIZE(cause_errno) || !cause_errno[cause])
		return EIO;
	return cause_errno[cause];
}

/**
 * rch_error_set - record what failed
 * @e: record; addresses and device that are in it stay
 * @op: &enum rdmachan_op
 * @cause: &enum rdmachan_cause
 * @detail: belongs to @cause
 *
 * What a completion or the connection manager says, and limits, are set behind this.
 */
void rch_error_set(struct rdmachan_error *e, u32 op, u32 cause, u64 detail)
{
	e->size = sizeof(*e);
	e->error = rch_error_errno(cause);
	e->cause = cause;
	e->op = op;
	e->wc_status = 0;
	e->vendor_err = 0;
	e->cm_event = 0;
	e->cm_status = 0;
	e->detail = detail;
	e->limit = 0;
	e->used = 0;
	e->needed = 0;
	e->time_ns = ktime_get_real_ns();
}

/** rch_addr_from_sockaddr - for programs to see */
void rch_addr_from_sockaddr(struct rdmachan_addr *a, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *in = (const void *)ss;
	const struct sockaddr_in6 *in6 = (const void *)ss;

	memset(a, 0, sizeof(*a));
	if (ss->ss_family == AF_INET) {
		a->family = AF_INET;
		a->port = in->sin_port;
		memcpy(a->addr, &in->sin_addr, sizeof(in->sin_addr));
	} else if (ss->ss_family == AF_INET6) {
		a->family = AF_INET6;
		a->port = in6->sin6_port;
		memcpy(a->addr, &in6->sin6_addr, sizeof(in6->sin6_addr));
		a->scope_id = in6->sin6_scope_id;
	}
}

/**
 * rch_addr_to_sockaddr - check an address that a program gave
 * @ss: result; port 0 becomes the default
 * @a: what it gave
 *
 * IPv4 addresses within IPv6 (::ffff:a.b.c.d) become IPv4.
 * Return: 0, -EAFNOSUPPORT or -EINVAL.
 */
int rch_addr_to_sockaddr(struct sockaddr_storage *ss, const struct rdmachan_addr *a)
{
	static const u8 zeros[12];
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;
	__be16 port = a->port ?: htons(RDMACHAN_PORT);

	memset(ss, 0, sizeof(*ss));
	if (a->family != AF_INET && a->family != AF_INET6)
		return -EAFNOSUPPORT;
	if (a->flowinfo)
		return -EINVAL;
	if (a->family == AF_INET) {
		if (memcmp(a->addr + 4, zeros, 12) || a->scope_id)
			return -EINVAL;
		in->sin_family = AF_INET;
		in->sin_port = port;
		memcpy(&in->sin_addr, a->addr, 4);
		return 0;
	}
	memcpy(&in6->sin6_addr, a->addr, 16);
	if (ipv6_addr_v4mapped(&in6->sin6_addr)) {
		memset(ss, 0, sizeof(*ss));
		in->sin_family = AF_INET;
		in->sin_port = port;
		memcpy(&in->sin_addr, a->addr + 12, 4);
		return 0;
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	in6->sin6_scope_id = a->scope_id;
	return 0;
}

/**
 * rch_addr_is_no_host - whether no host can have an address, so that nobody will answer
 * @net: network namespace; its own broadcast addresses are known
 * @ss: address
 */
bool rch_addr_is_no_host(struct net *net, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *in = (const void *)ss;
	const struct sockaddr_in6 *in6 = (const void *)ss;

	if (ss->ss_family == AF_INET6)
		return ipv6_addr_any(&in6->sin6_addr) || ipv6_addr_is_multicast(&in6->sin6_addr);
	return ipv4_is_zeronet(in->sin_addr.s_addr) ||
	       ipv4_is_multicast(in->sin_addr.s_addr) || ipv4_is_lbcast(in->sin_addr.s_addr) ||
	       inet_addr_type(net, in->sin_addr.s_addr) == RTN_BROADCAST;
}

static bool error_has_scope(const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *in6 = (const void *)ss;

	return ss->ss_family == AF_INET6 && in6->sin6_scope_id;
}

static bool error_needs_scope(const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *in6 = (const void *)ss;

	return ss->ss_family == AF_INET6 &&
	       ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL;
}

/**
 * rch_addr_to_own - check an own address that a program gave
 * @net: network namespace
 * @ss: result, with port 0; family 0 when the program gave none
 * @a: what it gave; zeros: none
 *
 * Return: 0, -EAFNOSUPPORT or -EINVAL.
 */
int rch_addr_to_own(struct net *net, struct sockaddr_storage *ss, const struct rdmachan_addr *a)
{
	static const struct rdmachan_addr none;
	int ret;

	memset(ss, 0, sizeof(*ss));
	if (!memcmp(a, &none, sizeof(none)))
		return 0;
	ret = rch_addr_to_sockaddr(ss, a);
	if (ret)
		return ret;
	/* Without it the kernel has no table of own addresses, and does not ask before it looks. */
	if (ss->ss_family == AF_INET6 && !ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	if (a->port || rch_addr_is_no_host(net, ss) || error_has_scope(ss) != error_needs_scope(ss))
		return -EINVAL;
	/* At the same place in both families. */
	((struct sockaddr_in *)ss)->sin_port = 0;
	return 0;
}

/**
 * rch_addr_same_host - whether two addresses name the same host; ports may differ
 * @a: address
 * @b: address
 *
 * Two that are none, of family 0 and zeros, are the same, and none is the same as another.
 */
bool rch_addr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
	       a6->sin6_scope_id == b6->sin6_scope_id;
}
