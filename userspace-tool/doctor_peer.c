// SPDX-License-Identifier: MIT
/*
 * doctor_peer.c - checks of the way to a peer
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor.h"

/* Packets of @there bytes are what the way to the peer has, and of @here what this host could. */
static void note_mtu(struct doctor *doctor, unsigned int there, unsigned int here)
{
	if (!there || there >= here)
		return;
	doctor_note(doctor, DOCTOR_WARN, "mtu",
		    "%s carries packets of %u bytes, and this host of %u: connections keep to the smaller",
		    doctor->peer->host, there, here);
	doctor_fix(doctor, "give both hosts the same MTU (ip link set INTERFACE mtu N)");
}

static void check_mtu(struct doctor *doctor, int chan)
{
	struct rdmachan_device devices[64];
	struct rdmachan_object object;
	struct rdmachan_info info;
	int count, i;

	if (rdmachan_query(chan, &object, NULL, NULL) < 0)
		return;
	count = rdmachan_get_info(doctor->ctx, &info, devices, ARRAY_SIZE(devices), NULL);
	for (i = 0; i < count; i++)
		if (!strncmp(devices[i].name, object.device, sizeof(object.device)) &&
		    devices[i].port == object.dev_port)
			note_mtu(doctor, object.mtu, devices[i].mtu);
}

static void check_peer(struct doctor *doctor)
{
	const struct target *peer = doctor->peer;
	uint32_t service = peer->service ? peer->service : TOOL_SERVICE_NOBODY;
	char text[RDMACHAN_EXPLAIN_MAX];
	uint64_t start = clock_ns();
	struct rdmachan_error err;
	double ms;
	int chan;

	chan = rdmachan_connect_host(doctor->ctx, peer->host, service, doctor->options, &err);
	ms = (clock_ns() - start) / 1e6;
	if (chan >= 0) {
		check_mtu(doctor, chan);
		close(chan);
	} else if (err.cause == RDMACHAN_CAUSE_NO_SERVICE) {
		note_mtu(doctor, err.limit, err.needed);
	}
	/* The last check is to reach the module: nobody has named a service. */
	if (!peer->service)
		err.service = 0;
	if (chan >= 0 && peer->service) {
		doctor_note(doctor, DOCTOR_OK, "peer", "service %u at %s takes channels (%.2f ms)",
			    service, peer->host, ms);
	} else if (chan >= 0 || (!peer->service && err.cause == RDMACHAN_CAUSE_NO_SERVICE)) {
		doctor_note(doctor, DOCTOR_OK, "peer", "the module at %s answers (%.2f ms)",
			    peer->host, ms);
	} else if (err.cause == RDMACHAN_CAUSE_NONE) {
		doctor_note(doctor, DOCTOR_FAIL, "peer", "%s was not reached: %s", peer->host,
			    strerror(err.error));
	} else {
		rdmachan_explain(&err, text, sizeof(text));
		text[strcspn(text, "\n")] = '\0';
		doctor_note(doctor, DOCTOR_FAIL, "peer", "%s %s", text,
			    rdmachan_cause_text(err.cause));
		doctor_fix(doctor, "%s", rdmachan_cause_hint(err.cause));
	}
}

/* The address that packets to @peer leave from: that of a UDP socket, unsent. */
static bool local_address(const struct addrinfo *peer, struct sockaddr_storage *local)
{
	socklen_t length = sizeof(*local);
	struct sockaddr_storage addr = { 0 };
	bool found;
	int sock;

	memcpy(&addr, peer->ai_addr, peer->ai_addrlen);
	if (addr.ss_family == AF_INET)
		((struct sockaddr_in *)&addr)->sin_port = htons(9);
	else
		((struct sockaddr_in6 *)&addr)->sin6_port = htons(9);
	sock = socket(addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return false;
	found = !connect(sock, (struct sockaddr *)&addr, peer->ai_addrlen) &&
		!getsockname(sock, (struct sockaddr *)local, &length);
	close(sock);
	return found;
}

static bool same_address(const struct sockaddr *one, const struct sockaddr_storage *other)
{
	struct rdmachan_addr a, b;

	if (!one || one->sa_family != other->ss_family)
		return false;
	if (rdmachan_addr_from_sockaddr(&a, one, sizeof(struct sockaddr_in6)) < 0 ||
	    rdmachan_addr_from_sockaddr(&b, (const struct sockaddr *)other, sizeof(*other)) < 0)
		return false;
	return !memcmp(a.addr, b.addr, sizeof(a.addr));
}

static bool interface_of(const struct sockaddr_storage *local, char *name, size_t size)
{
	struct ifaddrs *list, *one;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return false;
	for (one = list; one && !found; one = one->ifa_next) {
		found = same_address(one->ifa_addr, local);
		if (found)
			snprintf(name, size, "%s", one->ifa_name);
	}
	freeifaddrs(list);
	return found;
}

/* Whether the module has an active port on the network interface. */
static bool has_rdma(int ctx, const char *name)
{
	struct rdmachan_device devices[64];
	struct rdmachan_info info;
	int count, i;

	count = rdmachan_get_info(ctx, &info, devices, ARRAY_SIZE(devices), NULL);
	for (i = 0; i < count; i++) {
		if (!strncmp(devices[i].netdev, name, sizeof(devices[i].netdev)) &&
		    devices[i].flags & RDMACHAN_DEV_F_ACTIVE)
			return true;
	}
	return false;
}

static void check_route(struct doctor *doctor, const struct addrinfo *peer)
{
	struct sockaddr_storage local;
	char name[64];

	if (!local_address(peer, &local)) {
		doctor_note(doctor, DOCTOR_FAIL, "route", "there is no route to %s: %s",
			    doctor->peer->host, strerror(errno));
		doctor_fix(doctor, "see \"ip route get\" for the address");
		return;
	}
	if (!interface_of(&local, name, sizeof(name)))
		return;
	if (!strcmp(name, "lo") || has_rdma(doctor->ctx, name)) {
		doctor_note(doctor, DOCTOR_OK, "route", "packets to %s leave by %s",
			    doctor->peer->host, name);
		return;
	}
	doctor_note(doctor, DOCTOR_WARN, "route",
		    "packets to %s leave by %s, which has no active RDMA device",
		    doctor->peer->host, name);
	doctor_fix(doctor,
		   "use another address of the peer, or rdma link add rxe0 type rxe netdev %s",
		   name);
}

void doctor_peer(struct doctor *doctor)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM };
	struct addrinfo *list;
	int eai;

	if (!doctor->peer)
		return;
	eai = getaddrinfo(doctor->peer->host, NULL, &hints, &list);
	if (eai) {
		doctor_note(doctor, DOCTOR_FAIL, "name", "%s has no address: %s",
			    doctor->peer->host, gai_strerror(eai));
		doctor_fix(doctor, "check the spelling, and getent hosts %s", doctor->peer->host);
		return;
	}
	if (doctor->ctx >= 0) {
		check_route(doctor, list);
		check_peer(doctor);
	} else {
		doctor_note(doctor, DOCTOR_FAIL, "peer", "not asked, the module is not usable here");
	}
	freeaddrinfo(list);
}
