// SPDX-License-Identifier: GPL-2.0
/*
 * host.c - an address of this host that RDMA connections can be made to
 */
#include <arpa/inet.h>
#include <glob.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common.h"

/* The first line of a file, without its end; empty if there is none. */
static void first_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "r");

	if (!file || !fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* Whether a port of an RDMA device is up that lies on the interface @name. */
static bool has_active_port(const char *name)
{
	char path[512], line[64];
	bool found = false;
	glob_t ports;
	size_t i;

	if (glob("/sys/class/infiniband/*/ports/*", 0, NULL, &ports))
		return false;
	for (i = 0; i < ports.gl_pathc && !found; i++) {
		snprintf(path, sizeof(path), "%s/gid_attrs/ndevs/0", ports.gl_pathv[i]);
		first_line(path, line, sizeof(line));
		if (strcmp(line, name))
			continue;
		snprintf(path, sizeof(path), "%s/state", ports.gl_pathv[i]);
		first_line(path, line, sizeof(line));
		found = strstr(line, "ACTIVE");
	}
	globfree(&ports);
	return found;
}

/* As own_address() has it; false for a link-local one, which needs an interface as well. */
static bool address_from(const struct sockaddr *from, struct rdmachan_addr *addr)
{
	const struct sockaddr_in6 *in6 = (const void *)from;
	const struct sockaddr_in *in = (const void *)from;
	char text[INET6_ADDRSTRLEN];

	if (from->sa_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
	*addr = address_of(text);
	return from->sa_family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

/**
 * host_address() - an address of an interface that has an RDMA device
 * @family: AF_INET or AF_INET6; link-local ones are left out
 * @addr: the address
 *
 * Return: whether there is one
 */
bool host_address(int family, struct rdmachan_addr *addr)
{
	struct ifaddrs *all, *one;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (one = all; one && !found; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != family ||
		    !(one->ifa_flags & IFF_UP) || !has_active_port(one->ifa_name))
			continue;
		found = address_from(one->ifa_addr, addr);
	}
	freeifaddrs(all);
	return found;
}
