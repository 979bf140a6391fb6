// SPDX-License-Identifier: MIT
/*
 * doctor_device.c - checks of RDMA devices, their ports and network interfaces
 *
 * Read from sysfs, so that they tell something when the module is not loaded.
 */
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "doctor.h"

#define CLASS	"/sys/class/infiniband"

/* RoCE adds at most so many bytes of headers to a packet. */
#define ROCE_OVERHEAD	96
/* RDMA MTUs are powers of two. */
#define MTU_LEAST	256
#define MTU_LARGEST	4096

/**
 * struct port - one port of a device
 * @device: name of the device
 * @number: number of the port
 * @name: both, for messages
 * @netdev: network interface, empty when there is none
 * @roce: it is RoCE
 */
struct port {
	const char *device;
	const char *number;
	char name[128];
	char netdev[IF_NAMESIZE];
	bool roce;
};

static bool port_read(const struct port *port, char *text, size_t size, const char *what)
{
	return doctor_read(text, size, CLASS "/%s/ports/%s/%s", port->device, port->number, what);
}

static bool netdev_has_address(const char *name)
{
	struct ifaddrs *list, *one;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return true;
	for (one = list; one && !found; one = one->ifa_next)
		found = one->ifa_addr && !strcmp(one->ifa_name, name) &&
			(one->ifa_addr->sa_family == AF_INET ||
			 one->ifa_addr->sa_family == AF_INET6);
	freeifaddrs(list);
	return found;
}

/* "4: ACTIVE" */
static void check_state(struct doctor *doctor, const struct port *port)
{
	char state[32];

	if (!port_read(port, state, sizeof(state), "state"))
		return;
	if (!strncmp(state, "4:", 2)) {
		doctor_note(doctor, DOCTOR_OK, "port", "%s is active", port->name);
		return;
	}
	doctor_note(doctor, DOCTOR_FAIL, "port", "%s is not active (%s)", port->name, state);
	if (port->netdev[0])
		doctor_fix(doctor, "ip link set %s up, and see whether its cable has a carrier",
			   port->netdev);
	else
		doctor_fix(doctor,
			   "see whether the cable is in and, on InfiniBand, a subnet manager runs");
}

static void check_netdev(struct doctor *doctor, const struct port *port)
{
	char state[32];

	if (!port->netdev[0])
		return;
	if (doctor_read(state, sizeof(state), "/sys/class/net/%s/operstate", port->netdev) &&
	    strcmp(state, "up") && strcmp(state, "unknown")) {
		doctor_note(doctor, DOCTOR_FAIL, "interface", "%s, of %s, is %s", port->netdev,
			    port->name, state);
		doctor_fix(doctor, "ip link set %s up", port->netdev);
	} else if (!netdev_has_address(port->netdev)) {
		doctor_note(doctor, DOCTOR_FAIL, "interface", "%s, of %s, has no IP address",
			    port->netdev, port->name);
		doctor_fix(doctor, "ip addr add ADDRESS/BITS dev %s", port->netdev);
	} else {
		doctor_note(doctor, DOCTOR_OK, "interface", "%s, of %s, is up and has an address",
			    port->netdev, port->name);
	}
}

/* The largest RDMA MTU (a power of two) that packets of @netdev_mtu bytes carry. */
static uint32_t mtu_estimate(uint32_t netdev_mtu)
{
	uint32_t mtu = MTU_LARGEST;

	while (mtu > MTU_LEAST && mtu + ROCE_OVERHEAD > netdev_mtu)
		mtu /= 2;
	return mtu;
}

/* What the module knows of the port. */
static bool mtu_ask(const struct doctor *doctor, const struct port *port, uint32_t *mtu,
		    uint32_t *largest)
{
	struct rdmachan_device devices[64];
	struct rdmachan_info info;
	uint32_t number;
	int count, i;

	if (doctor->ctx < 0 || !parse_u32(port->number, 0, UINT32_MAX, &number))
		return false;
	count = rdmachan_get_info(doctor->ctx, &info, devices, ARRAY_SIZE(devices), NULL);
	for (i = 0; i < count; i++) {
		if (devices[i].port != number ||
		    strncmp(devices[i].name, port->device, sizeof(devices[i].name)))
			continue;
		*mtu = devices[i].mtu;
		*largest = devices[i].max_mtu;
		return *mtu && *largest;
	}
	return false;
}

static void check_mtu(struct doctor *doctor, const struct port *port)
{
	uint32_t netdev_mtu = 0, mtu, largest;
	char text[32];

	if (port->roce && port->netdev[0] &&
	    doctor_read(text, sizeof(text), "/sys/class/net/%s/mtu", port->netdev))
		parse_u32(text, 1, UINT32_MAX, &netdev_mtu);
	if (!mtu_ask(doctor, port, &mtu, &largest)) {
		if (!netdev_mtu)
			return;
		mtu = mtu_estimate(netdev_mtu);
		largest = MTU_LARGEST;
	}
	if (mtu >= largest) {
		doctor_note(doctor, DOCTOR_OK, "mtu", "%s uses the largest, %u", port->name, mtu);
	} else if (netdev_mtu) {
		doctor_note(doctor, DOCTOR_WARN, "mtu",
			    "MTU %u of %s limits the RDMA MTU of %s to %u; it can be %u",
			    netdev_mtu, port->netdev, port->name, mtu, largest);
		doctor_fix(doctor, "on both hosts and the switches between: ip link set %s mtu %u",
			   port->netdev, (largest + ROCE_OVERHEAD + 99) / 100 * 100);
	} else {
		doctor_note(doctor, DOCTOR_WARN, "mtu", "%s uses %u; it can be %u", port->name,
			    mtu, largest);
		doctor_fix(doctor, "see what limits it: the subnet manager, the switches or the peer");
	}
}

static void check_port(struct doctor *doctor, const char *device, const char *number)
{
	struct port port = { .device = device, .number = number };
	char layer[32], node[32];

	snprintf(port.name, sizeof(port.name), "%.63s/%.32s", device, number);
	if (!port_read(&port, port.netdev, sizeof(port.netdev), "gid_attrs/ndevs/0"))
		port.netdev[0] = '\0';
	/* "1: CA"; "4: RNIC" is iWARP, which runs over TCP. */
	port.roce = port_read(&port, layer, sizeof(layer), "link_layer") &&
		    !strcmp(layer, "Ethernet") &&
		    doctor_read(node, sizeof(node), CLASS "/%s/node_type", device) &&
		    node[0] == '1';
	doctor->roce |= port.roce;
	check_state(doctor, &port);
	check_netdev(doctor, &port);
	check_mtu(doctor, &port);
}

/* Returns how many ports there were. */
static int each_port(struct doctor *doctor, const char *device)
{
	struct dirent *entry;
	char path[320];
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), CLASS "/%s/ports", device);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		check_port(doctor, device, entry->d_name);
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

void doctor_devices(struct doctor *doctor)
{
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	dir = opendir(CLASS);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		doctor_note(doctor, DOCTOR_OK, "rdma device", "%s", entry->d_name);
		count += each_port(doctor, entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (count)
		return;
	doctor_note(doctor, DOCTOR_FAIL, "rdma device", "there is none");
	doctor_fix(doctor, "load the adapter's driver, or make a software device on an interface: rdma link add rxe0 type rxe netdev INTERFACE");
}
