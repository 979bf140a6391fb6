// SPDX-License-Identifier: MIT
/*
 * cause.c - causes: the name of each, what it means and what to do
 */
#include <errno.h>

#include "internal.h"

struct cause {
	const char *name;
	uint32_t error;
	const char *text;
	const char *hint;
};

static const struct cause causes[] = {
	[RDMACHAN_CAUSE_NONE] = {
		"none",
		0,
		"Nothing is known to have failed with the connection.",
		"Look at the error number itself.",
	},
	[RDMACHAN_CAUSE_NO_DEVICE] = {
		"no-device",
		ENODEV,
		"No RDMA device of this host serves the route to the peer.",
		"See which interface the route takes (ip route get ADDRESS) and give it an RDMA device: load the adapter's driver, or \"rdma link add rxe0 type rxe netdev INTERFACE\". \"rdmachan doctor\" lists what there is.",
	},
	[RDMACHAN_CAUSE_ADDRESS] = {
		"address",
		EHOSTUNREACH,
		"The peer's address did not resolve: there is no such host, no route, or no neighbour answered.",
		"Check the address, and that \"ping\" reaches it over the same network.",
	},
	[RDMACHAN_CAUSE_ROUTE] = {
		"route",
		EHOSTUNREACH,
		"The address is known, but the RDMA path to the peer did not resolve.",
		"On InfiniBand see whether a subnet manager runs; on RoCE whether both hosts use the same RoCE version and VLAN, and whether the device's port is active (\"rdma link\").",
	},
	[RDMACHAN_CAUSE_UNREACHABLE] = {
		"unreachable",
		EHOSTDOWN,
		"The peer did not answer the connection request.",
		"The host may be down, or have no RDMA device on that interface. If \"ping\" works, let UDP port 4791 (RoCE) or TCP port 26471 (iWARP) through the firewalls of both hosts.",
	},
	[RDMACHAN_CAUSE_NO_MODULE] = {
		"no-module",
		ECONNREFUSED,
		"The peer host answers RDMA, but no rdmachan module listens there.",
		"Load the module at the peer (modprobe rdmachan), and check that both use the same port.",
	},
	[RDMACHAN_CAUSE_NO_SERVICE] = {
		"no-service",
		ECONNREFUSED,
		"The peer's module is alive, but no program there listens for the service.",
		"Start the program at the peer, or check the service number; \"rdmachan list --listeners --all\" at the peer shows what is listened for.",
	},
	[RDMACHAN_CAUSE_BACKLOG] = {
		"backlog",
		ECONNREFUSED,
		"The program at the peer listens, but its queue of waiting channels is full.",
		"It accepts too slowly or hangs. Try again later, or give it a larger backlog.",
	},
	[RDMACHAN_CAUSE_REJECTED] = {
		"rejected",
		ECONNREFUSED,
		"The peer's connection manager refused the connection.",
		"The reason stands with it. Something else than rdmachan may use that port at the peer.",
	},
	[RDMACHAN_CAUSE_VERSION] = {
		"version",
		ECONNREFUSED,
		"The modules of the two hosts have no version of the protocol in common.",
		"Install the same version of rdmachan on both hosts (\"rdmachan info\" tells it).",
	},
	[RDMACHAN_CAUSE_FEATURE] = {
		"feature",
		ECONNREFUSED,
		"One host asks for a feature of the protocol that the other does not have.",
		"Install the same version of rdmachan on both hosts (\"rdmachan info\" lists the features).",
	},
	[RDMACHAN_CAUSE_TIMEOUT] = {
		"timeout",
		ETIMEDOUT,
		"The time allowed for connecting ran out.",
		"Allow more time, or find out with \"rdmachan doctor HOST\" why the peer is slow to answer.",
	},
	[RDMACHAN_CAUSE_PEER_DEAD] = {
		"peer-dead",
		EHOSTDOWN,
		"Nothing was heard of the peer host for the dead time, so it counts as dead.",
		"The host may have crashed, or the network between is cut. What it has received last is not known; connect again when it is back.",
	},
	[RDMACHAN_CAUSE_PEER_CLOSED] = {
		"peer-closed",
		EPIPE,
		"The program at the peer closed the channel.",
		"This is how a conversation ends. If it came too early, look at the program there.",
	},
	[RDMACHAN_CAUSE_PEER_KILLED] = {
		"peer-killed",
		ECONNRESET,
		"The program at the peer was killed.",
		"Look there why: the system log tells of crashes and of the out-of-memory killer.",
	},
	[RDMACHAN_CAUSE_PEER_RESET] = {
		"peer-reset",
		ECONNRESET,
		"The peer reset the channel: it was closed without delivering what was left, or its listener was closed before the channel was accepted.",
		"Look at the program there; connect again if it still runs.",
	},
	[RDMACHAN_CAUSE_PEER_RESTARTED] = {
		"peer-restarted",
		ECONNRESET,
		"The peer host, or the module there, was restarted: its old channels are gone.",
		"Connect again.",
	},
	[RDMACHAN_CAUSE_PEER_SHUTDOWN] = {
		"peer-shutdown",
		EPIPE,
		"The program at the peer reads no more.",
		"What it sends can still be read. If it stopped too early, look at the program there.",
	},
	[RDMACHAN_CAUSE_DISCONNECTED] = {
		"disconnected",
		ECONNRESET,
		"The peer's module took the connection down.",
		"The module may have been unloaded there, its device removed, or the connection failed there: then the program at the peer is told why. Connect again.",
	},
	[RDMACHAN_CAUSE_DEVICE_REMOVED] = {
		"device-removed",
		ENODEV,
		"The RDMA device of this host was removed.",
		"Bring the device back (\"rdma link\" shows what there is), then connect again.",
	},
	[RDMACHAN_CAUSE_TRANSPORT] = {
		"transport",
		ECONNRESET,
		"The adapter could not carry out a request, so the connection is lost.",
		"The completion status tells more; look at cables and ports (\"rdma link\", \"rdma statistic\") if it comes again. Connect again.",
	},
	[RDMACHAN_CAUSE_PROTOCOL] = {
		"protocol",
		EPROTO,
		"The peer broke the protocol.",
		"This is a fault of one of the two modules, or something else speaks there. Please report it with the output of \"rdmachan info\" of both hosts.",
	},
	[RDMACHAN_CAUSE_RESOURCES] = {
		"resources",
		ENOMEM,
		"This host could not get what a connection needs, such as memory or queue pairs.",
		"See \"rdma resource\" and the kernel's log for what ran out; close what is not needed.",
	},
	[RDMACHAN_CAUSE_PEER_RESOURCES] = {
		"peer-resources",
		ECONNREFUSED,
		"The peer host could not get what a connection needs, such as memory or queue pairs, or the user of the service has reached a limit there.",
		"See \"rdmachan info\" at the peer, as that user, for the limits, and \"rdma resource\" and the kernel's log for the rest.",
	},
	[RDMACHAN_CAUSE_SHUTDOWN] = {
		"shutdown",
		EPIPE,
		"This program has shut down that direction of the channel itself.",
		"Send before the shutdown, or open another channel.",
	},
	[RDMACHAN_CAUSE_MESSAGE_SIZE] = {
		"message-size",
		EMSGSIZE,
		"The message is larger than the receiver takes.",
		"Send smaller messages, or let the receiver allow larger ones (message_max of its tuning).",
	},
	[RDMACHAN_CAUSE_UNLOAD] = {
		"unload",
		ENODEV,
		"The rdmachan module of this host is being unloaded.",
		"Load it again (modprobe rdmachan), then connect again.",
	},
	[RDMACHAN_CAUSE_USER_LIMIT] = {
		"user-limit",
		EDQUOT,
		"The user has as many objects of that kind as one user may have.",
		"Close what is not needed (\"rdmachan list\" shows it), or have the administrator raise the limit in /sys/module/rdmachan/parameters. \"rdmachan info\" shows limits and use.",
	},
	[RDMACHAN_CAUSE_USER_BYTES] = {
		"user-bytes",
		ENOBUFS,
		"The buffers of the user's channels are as large as those of one user may be.",
		"Close channels that are not needed, give them smaller buffers, read large messages sooner, or have the administrator raise user_buffer_mib in /sys/module/rdmachan/parameters. \"rdmachan info\" shows limits and use.",
	},
	[RDMACHAN_CAUSE_TOTAL_LIMIT] = {
		"total-limit",
		ENOSPC,
		"All users of this host together have as much as they may.",
		"See with \"rdmachan list --all\" who has most of it, or have the administrator raise the limit in /sys/module/rdmachan/parameters. \"rdmachan info\" shows limits and use.",
	},
	[RDMACHAN_CAUSE_MEMLOCK] = {
		"memlock",
		ENOMEM,
		"The program would have more memory pinned than it may lock (RLIMIT_MEMLOCK), or all programs of its user more than they may (parameter user_pinned_mib of the module).",
		"Raise the limit of locked memory (\"ulimit -l\", LimitMEMLOCK= of a systemd unit, memlock in /etc/security/limits.conf), register less, or give the program CAP_IPC_LOCK.",
	},
	[RDMACHAN_CAUSE_MEMORY_KIND] = {
		"memory-kind",
		EOPNOTSUPP,
		"Such memory cannot be pinned for as long as the program likes: it is that of a file, and the file system must know what is written there.",
		"Register it as read-only if messages are only sent from it, map the file privately, or use memory that is no file's.",
	},
	[RDMACHAN_CAUSE_UNCERTAIN] = {
		"uncertain",
		EREMOTEIO,
		"The connection ended while an atomic operation on memory that the peer lends was under way, or the adapter has lost its result, as rxe does when packets are lost: it was done once, or not at all.",
		"Look what the memory has; if the connection has ended connect again, and have it lent anew. Where that does not tell, give each program a place of its own to write down what it is about to do.",
	},
	[RDMACHAN_CAUSE_ATOMICS] = {
		"atomics",
		EBUSY,
		"Other grants of this region have their atomic operations done in another way: by the adapter, by another adapter, or by the kernel. These do not exclude each other.",
		"Lend the memory for atomic operations to peers that are reached over one adapter, or revoke the other grants first.",
	},
	[RDMACHAN_CAUSE_PORT_DOWN] = {
		"port-down",
		ECONNRESET,
		"The port of this host over which the connection went is not active.",
		"Look at the cable and at the interface (\"rdma link\", \"ip link\"), then connect again.",
	},
	[RDMACHAN_CAUSE_MTU] = {
		"mtu",
		ECONNRESET,
		"The MTU of this host's interface has become smaller than the packets of the connection.",
		"Connect again: new connections keep to the smaller of both hosts' MTUs. Give all hosts and switches of the network the same (\"ip link set INTERFACE mtu N\").",
	},
	[RDMACHAN_CAUSE_OWN_ADDRESS] = {
		"own-address",
		ECONNRESET,
		"The address of this host that the connection used was removed.",
		"See which addresses the interface has now (\"ip addr\"), then connect again.",
	},
	[RDMACHAN_CAUSE_LOCAL_ADDRESS] = {
		"local-address",
		EADDRNOTAVAIL,
		"This host has no such local address as was asked for, or no RDMA device serves it.",
		"Use an address that this host has on an interface with an RDMA device (\"ip addr\" and \"rdma link\" show them), or none.",
	},
	[RDMACHAN_CAUSE_MESSAGE_LOST] = {
		"message-lost",
		ECONNRESET,
		"A large message was being written to the memory of a program of this side, and the program was killed, or took its memory back, before it could be told. No other program can have the message, so the channel has ended.",
		"Connect again, and send anew what was not answered. If it was not meant to be killed, look why that program was; let RECVs with a timeout have time for the largest message.",
	},
	[RDMACHAN_CAUSE_PORT_TAKEN] = {
		"port-taken",
		EADDRINUSE,
		"Another program of this host, or of its RDMA connection manager, has the port on which the modules of all hosts meet.",
		"See with \"rdma resource show cm_id\" (iWARP: \"ss -ltnp\") which it is and stop it, or load the module with another port=N on all hosts.",
	},
	[RDMACHAN_CAUSE_NEIGHBOUR] = {
		"neighbour",
		ECONNRESET,
		"The connection was lost because another hardware address is behind an IP address of it now: a bond has changed over, an adapter was replaced, or another host took the address.",
		"Connect again. \"ip neigh\" shows the neighbours; if two hosts have the same IP address, one of them must get another.",
	},
	[RDMACHAN_CAUSE_UNPRIVILEGED] = {
		"unprivileged",
		ECONNREFUSED,
		"The peer host lets in only modules that connect from a port below 1024, and this host's did not.",
		"Set own_privileged_port of the module to 1 here (\"/sys/module/rdmachan/parameters\"), or peer_privileged_port to 0 there if every program that may use RDMA is trusted on all hosts.",
	},
	[RDMACHAN_CAUSE_SEND_BUFFER] = {
		"send-buffer",
		EMSGSIZE,
		"The message is larger than this end's send buffer, and the call may not wait. The receiver takes messages of that size.",
		"Send it by a call that waits (neither O_NONBLOCK nor DONTWAIT) or by a queue from a region, make the send buffer larger (send_buffer of the channel's tuning), or send smaller messages.",
	},
	[RDMACHAN_CAUSE_DEVICE_FATAL] = {
		"device-fatal",
		ENODEV,
		"The RDMA device of this host has failed, as its driver tells.",
		"See the system log for what the driver says. Most drivers reset the device, then connect again; else load the driver anew, or replace the adapter.",
	},
	[RDMACHAN_CAUSE_PEER_STALLED] = {
		"peer-stalled",
		EHOSTDOWN,
		"The peer or its adapter is alive, but for four dead times it has taken nothing of what was sent, or has not answered over a path on which hardly anything comes; or for one dead time nothing has come at all but word that the peer lives. So the connection was given up.",
		"An adapter, the peer's module or the network between does not work as it should: see the system log there, whether packets are lost or come out of order, and load the module there anew. What the peer has received last is not known.",
	},
};

static const struct cause unknown = {
	NULL,
	0,
	"The module gives a cause that is newer than this program.",
	"Install the tool and library that came with the module.",
};

static const struct cause *cause_get(uint32_t cause)
{
	if (cause < sizeof(causes) / sizeof(causes[0]) && causes[cause].name)
		return &causes[cause];
	return &unknown;
}

const char *rdmachan_cause_name(uint32_t cause)
{
	return cause_get(cause)->name;
}

uint32_t rdmachan_cause_error(uint32_t cause)
{
	return cause_get(cause)->error;
}

const char *rdmachan_cause_text(uint32_t cause)
{
	return cause_get(cause)->text;
}

const char *rdmachan_cause_hint(uint32_t cause)
{
	return cause_get(cause)->hint;
}
