// SPDX-License-Identifier: MIT
/*
 * addr.c - addresses: between sockets, the module and text
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

int rdmachan_addr_from_sockaddr(struct rdmachan_addr *addr, const struct sockaddr *sa,
				socklen_t sa_len)
{
	struct sockaddr_in6 sin6;
	struct sockaddr_in sin;

	memset(addr, 0, sizeof(*addr));
	if (sa_len < sizeof(sa->sa_family)) {
		errno = EINVAL;
		return -1;
	}
	if (sa->sa_family == AF_INET && sa_len >= sizeof(sin)) {
		memcpy(&sin, sa, sizeof(sin));
		addr->family = AF_INET;
		addr->port = sin.sin_port;
		memcpy(addr->addr, &sin.sin_addr, sizeof(sin.sin_addr));
		return 0;
	}
	if (sa->sa_family == AF_INET6 && sa_len >= sizeof(sin6)) {
		memcpy(&sin6, sa, sizeof(sin6));
		addr->family = AF_INET6;
		addr->port = sin6.sin6_port;
		addr->scope_id = sin6.sin6_scope_id;
		memcpy(addr->addr, &sin6.sin6_addr, sizeof(sin6.sin6_addr));
		return 0;
	}
	errno = sa->sa_family == AF_INET || sa->sa_family == AF_INET6 ? EINVAL : EAFNOSUPPORT;
	return -1;
}

socklen_t rdmachan_addr_to_sockaddr(const struct rdmachan_addr *addr,
				    struct sockaddr_storage *sa)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)sa;
	struct sockaddr_in *sin = (struct sockaddr_in *)sa;

	memset(sa, 0, sizeof(*sa));
	switch (addr->family) {
	case AF_INET:
		sin->sin_family = AF_INET;
		sin->sin_port = addr->port;
		memcpy(&sin->sin_addr, addr->addr, sizeof(sin->sin_addr));
		return sizeof(*sin);
	case AF_INET6:
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = addr->port;
		sin6->sin6_scope_id = addr->scope_id;
		memcpy(&sin6->sin6_addr, addr->addr, sizeof(sin6->sin6_addr));
		return sizeof(*sin6);
	}
	return 0;
}

/* "%eth0" after a link-local address; the number when the interface is gone. */
static void scope_text(uint32_t scope_id, char *text, size_t size)
{
	char name[IF_NAMESIZE];

	text[0] = '\0';
	if (!scope_id)
		return;
	if (if_indextoname(scope_id, name))
		snprintf(text, size, "%%%s", name);
	else
		snprintf(text, size, "%%%u", scope_id);
}

char *rdmachan_addr_text(const struct rdmachan_addr *addr, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "unknown";
	char scope[IF_NAMESIZE + 1] = "";

	if (addr->family == AF_INET) {
		inet_ntop(AF_INET, addr->addr, host, sizeof(host));
	} else if (addr->family == AF_INET6) {
		inet_ntop(AF_INET6, addr->addr, host, sizeof(host));
		scope_text(addr->scope_id, scope, sizeof(scope));
	}
	snprintf(text, size, "%s%s", host, scope);
	return text;
}
