/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rdmachan.h - the interface between programs and the rdmachan module
 */
#ifndef _UAPI_RDMACHAN_H
#define _UAPI_RDMACHAN_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: rules of the interface
 *
 * A program opens /dev/rdmachan and gets a *context*, or EDQUOT or ENOSPC when there are
 * as many as may be (&enum rdmachan_limit). %RDMACHAN_LISTEN and
 * %RDMACHAN_CONNECT on the context, and %RDMACHAN_ACCEPT on a listener, give
 * further file descriptors. All of them are close-on-exec if asked for, may be
 * inherited over fork() and passed by SCM_RIGHTS, and work with poll().
 *
 * The structures of commands have names that end in ``_args``, so that a library may
 * name its functions as the commands. Only that of %RDMACHAN_INFO has not: it is
 * &struct rdmachan_info, which the module fills in.
 *
 * Every structure starts with its size, which the caller sets to sizeof() of
 * the structure it was compiled with. The size is at least that of the first version
 * (``RDMACHAN_*_SIZE_1``) and at most a page. It may be more than the module knows, as long as
 * the unknown part is zero. Members that the program's structure does not have count as zero.
 * Of outputs the module writes as much as both know, and not a byte behind. In a record that is
 * output only (&struct rdmachan_error, &struct rdmachan_object) the module sets the size to the
 * number of bytes that it has written. Inputs come first, outputs are named ``out_*`` and are
 * ignored on input. Reserved members must be zero.
 *
 * Unless the description of a call says otherwise its errors are:
 *
 *  - ENOTTY: The file descriptor is of another kind, or the number is unknown.
 *  - EINVAL: The structure is shorter than its first version, a reserved member
 *    is not zero, or a member has a value outside its documented range.
 *  - E2BIG: The structure is longer than the module knows and the unknown part
 *    is not zero, or it is longer than a page.
 *  - EOPNOTSUPP: A flag is not known to this module.
 *  - EFAULT: A pointer is not valid. Nothing was sent, received or created.
 *  - ENOMEM: The kernel has no memory. Nothing was lost.
 *  - EAGAIN: The call would block, and the file has O_NONBLOCK or the call a
 *    ``DONTWAIT`` flag.
 *  - ETIMEDOUT: The timeout of the call ran out. Nothing was consumed. A channel that was being
 *    connected meanwhile has failed.
 *  - EINTR: The handler of a signal ran. Nothing was consumed. Without a timeout the
 *    call is restarted as signal(7) tells.
 *  - ECONNREFUSED, EHOSTUNREACH, EHOSTDOWN, ENODEV, ECONNRESET, EPIPE, EPROTO:
 *    The connection could not be made or has ended; the error record tells why. EHOSTDOWN: the
 *    peer's host does not answer, or not any more.
 *  - EDQUOT: The user has as much as one user may have; ENOSPC: all users together have as much as
 *    may be (&enum rdmachan_limit). ENOBUFS: the user's buffers have as many bytes as may be.
 *  - EMFILE, ENFILE: The program, or the system, has no file descriptor left.
 *
 * Timeouts are in milliseconds; 0 stands for "no limit" (%RDMACHAN_CONNECT: for
 * the default of the module).
 *
 * A program that is stopped and continued, traced, or frozen with the system does not notice. Where
 * no handler runs, the kernel makes the interrupted call again, and the time of the call ends when
 * it would have ended without that. A structure with a timeout has the member *until* for this. It
 * is 0 when a call begins. A call that is interrupted keeps there when its time ends, and how far
 * it has come; any other end of the call sets it to 0 again. So after EINTR, and only then, it is
 * not 0: the same call with the structure as it is goes on with the rest of its time, and with 0 in
 * *until* it begins anew. A structure that cannot be written to gives EINTR.
 *
 * A call that can fail because of the connection has a member error_ptr: either
 * 0 or the address of a &struct rdmachan_error, whose size member is set. It is
 * filled in when the call fails with an error of its connection, and gets
 * %RDMACHAN_CAUSE_NONE when the call fails for another reason. It stays as it was when the
 * call is refused before it begins, as its structure is wrong (ENOTTY, EINVAL, E2BIG,
 * EOPNOTSUPP, EFAULT, EAFNOSUPPORT, EACCES): so let it be zeros. The last record
 * of a channel can be had by %RDMACHAN_QUERY as well.
 *
 * close() does not wake threads that are in a call on the file, which lives on until
 * they return; %RDMACHAN_SHUTDOWN on a channel does.
 */

/**
 * RDMACHAN_ABI_VERSION - version of the interface, which grows and never breaks
 *
 * An addition that has a bit in &enum rdmachan_calls does not change it.
 */
#define RDMACHAN_ABI_VERSION	1

/** RDMACHAN_MESSAGE_MAX - bytes of the largest message, 1 GiB */
#define RDMACHAN_MESSAGE_MAX	(1U << 30)

/** RDMACHAN_SERVICE_PRIVILEGED - services below need CAP_NET_BIND_SERVICE */
#define RDMACHAN_SERVICE_PRIVILEGED	1024

/**
 * RDMACHAN_PORT - the port on which modules of two hosts meet, by default
 *
 * No service is registered for it, and no connection gets it as its own port by itself.
 */
#define RDMACHAN_PORT		26471

/** RDMACHAN_NAME_LEN - bytes of a device name with its final zero */
#define RDMACHAN_NAME_LEN	64

/** RDMACHAN_TYPE - the ioctl type of all commands, which no driver of the kernel has */
#define RDMACHAN_TYPE		0xD3

/**
 * enum rdmachan_cmd - numbers of the commands
 * @RDMACHAN_CMD_INFO: see &struct rdmachan_info
 * @RDMACHAN_CMD_LISTEN: see &struct rdmachan_listen_args
 * @RDMACHAN_CMD_ACCEPT: see &struct rdmachan_accept_args
 * @RDMACHAN_CMD_CONNECT: see &struct rdmachan_connect_args
 * @RDMACHAN_CMD_SEND: see &struct rdmachan_send_args
 * @RDMACHAN_CMD_RECV: see &struct rdmachan_recv_args
 * @RDMACHAN_CMD_SHUTDOWN: see &struct rdmachan_shutdown_args
 * @RDMACHAN_CMD_FINISH: see &struct rdmachan_finish_args
 * @RDMACHAN_CMD_BUSY_POLL: see &struct rdmachan_busy_poll_args
 * @RDMACHAN_CMD_QUERY: see &struct rdmachan_query_args
 * @RDMACHAN_CMD_LIST: see &struct rdmachan_list_args
 * @RDMACHAN_CMD_QUEUE_CREATE: see &struct rdmachan_queue_create_args
 * @RDMACHAN_CMD_ENTER: see &struct rdmachan_enter_args
 * @RDMACHAN_CMD_POOL_CREATE: see &struct rdmachan_pool_create_args
 * @RDMACHAN_CMD_REGION_REGISTER: see &struct rdmachan_region_register_args
 * @RDMACHAN_CMD_REGION_UNREGISTER: see &struct rdmachan_region_unregister_args
 * @RDMACHAN_CMD_GRANT: see &struct rdmachan_grant_args
 * @RDMACHAN_CMD_RELEASE: see &struct rdmachan_release_args
 * @RDMACHAN_CMD_REVOKE: see &struct rdmachan_revoke_args
 * @RDMACHAN_CMD_READ: see &struct rdmachan_access_args
 * @RDMACHAN_CMD_WRITE: see &struct rdmachan_access_args
 * @RDMACHAN_CMD_ATOMIC: see &struct rdmachan_atomic_args
 * @RDMACHAN_CMD_TUNE: see &struct rdmachan_tune_args
 */
enum rdmachan_cmd {
	RDMACHAN_CMD_INFO = 0x00,
	RDMACHAN_CMD_LISTEN = 0x01,
	RDMACHAN_CMD_ACCEPT = 0x02,
	RDMACHAN_CMD_CONNECT = 0x03,
	RDMACHAN_CMD_SEND = 0x04,
	RDMACHAN_CMD_RECV = 0x05,
	RDMACHAN_CMD_SHUTDOWN = 0x06,
	RDMACHAN_CMD_FINISH = 0x07,
	RDMACHAN_CMD_BUSY_POLL = 0x08,
	RDMACHAN_CMD_QUERY = 0x09,
	RDMACHAN_CMD_LIST = 0x0a,
	RDMACHAN_CMD_QUEUE_CREATE = 0x0b,
	RDMACHAN_CMD_ENTER = 0x0c,
	RDMACHAN_CMD_POOL_CREATE = 0x0d,
	RDMACHAN_CMD_REGION_REGISTER = 0x0e,
	RDMACHAN_CMD_REGION_UNREGISTER = 0x0f,
	RDMACHAN_CMD_GRANT = 0x10,
	RDMACHAN_CMD_RELEASE = 0x11,
	RDMACHAN_CMD_REVOKE = 0x12,
	RDMACHAN_CMD_READ = 0x13,
	RDMACHAN_CMD_WRITE = 0x14,
	RDMACHAN_CMD_ATOMIC = 0x15,
	RDMACHAN_CMD_TUNE = 0x16,
};

/**
 * enum rdmachan_cause - why a connection failed or ended
 * @RDMACHAN_CAUSE_NONE: nothing failed
 * @RDMACHAN_CAUSE_NO_DEVICE: no RDMA device serves the route to the peer
 * @RDMACHAN_CAUSE_ADDRESS: the peer's address did not resolve (no such host, no
 *	neighbour answered, no route); detail is 1 when no host can have it, as it is that of
 *	many (multicast, broadcast), or of none
 * @RDMACHAN_CAUSE_ROUTE: the RDMA path to the peer did not resolve
 * @RDMACHAN_CAUSE_UNREACHABLE: the peer did not answer the connection request
 * @RDMACHAN_CAUSE_NO_MODULE: the peer host has RDMA, but no rdmachan listens
 * @RDMACHAN_CAUSE_NO_SERVICE: no program at the peer listens for the service
 * @RDMACHAN_CAUSE_BACKLOG: the listener's queue of waiting channels is full
 * @RDMACHAN_CAUSE_REJECTED: the peer's connection manager refused; see cm_status
 * @RDMACHAN_CAUSE_VERSION: the two modules have no protocol version in common
 * @RDMACHAN_CAUSE_FEATURE: the peer asks for features this side has not, or the
 *	other way round; see detail for the feature bits
 * @RDMACHAN_CAUSE_TIMEOUT: the timeout of the connect ran out; see state
 * @RDMACHAN_CAUSE_PEER_DEAD: nothing was heard of the peer for the dead time: its module has sent
 *	nothing, and its adapter has acknowledged nothing
 * @RDMACHAN_CAUSE_PEER_CLOSED: the peer's program closed the channel; detail is the number of
 *	messages that were sent and that it has not received
 * @RDMACHAN_CAUSE_PEER_KILLED: the peer's program was killed; see detail for the
 *	signal
 * @RDMACHAN_CAUSE_PEER_RESET: the peer reset the channel (closed without linger,
 *	linger ran out, or closed the listener before accepting)
 * @RDMACHAN_CAUSE_PEER_RESTARTED: the peer host or its module was restarted
 * @RDMACHAN_CAUSE_PEER_SHUTDOWN: the peer's program reads no more; %RDMACHAN_FINISH: detail is
 *	the number of messages that were sent and that it has not received
 * @RDMACHAN_CAUSE_DISCONNECTED: the peer's module took the connection down
 * @RDMACHAN_CAUSE_DEVICE_REMOVED: the local RDMA device was removed
 * @RDMACHAN_CAUSE_TRANSPORT: a work request failed; see wc_status, vendor_err
 * @RDMACHAN_CAUSE_PROTOCOL: the peer broke the protocol; see detail for the rule
 * @RDMACHAN_CAUSE_RESOURCES: this host could not get what a connection needs
 *	(memory, queue pairs); see error
 * @RDMACHAN_CAUSE_PEER_RESOURCES: the peer host could not
 * @RDMACHAN_CAUSE_SHUTDOWN: this side's program has shut the direction down
 * @RDMACHAN_CAUSE_MESSAGE_SIZE: the message is larger than the receiver takes;
 *	see detail for its limit in bytes
 * @RDMACHAN_CAUSE_UNLOAD: the local module is being unloaded
 * @RDMACHAN_CAUSE_USER_LIMIT: the user has as many objects as one user may have; see
 *	detail for which (&enum rdmachan_limit)
 * @RDMACHAN_CAUSE_USER_BYTES: the buffers of the user's channels and queues, with what is
 *	kept for grants that are held and events that are not read, are as large as those of
 *	one user may be
 * @RDMACHAN_CAUSE_TOTAL_LIMIT: all users together have as much as may be; see detail
 *	for of what (&enum rdmachan_limit)
 * @RDMACHAN_CAUSE_MEMLOCK: the program would have more memory pinned than its limit of
 *	locked memory (RLIMIT_MEMLOCK), or all programs of the user more than the parameter
 *	user_pinned_mib says
 * @RDMACHAN_CAUSE_MEMORY_KIND: such memory cannot be pinned: it is a file's, shared, and
 *	the file system must know what is written there
 * @RDMACHAN_CAUSE_UNCERTAIN: the connection ended while an atomic operation was under
 *	way: it was done once, or not at all; see detail for the cause of the end. If that is
 *	0 the connection is as it was: the adapter has lost the result
 * @RDMACHAN_CAUSE_ATOMICS: other grants of the region have their atomic operations done in
 *	another way (by the adapter, by another adapter, by the kernel), and these do not
 *	exclude each other
 * @RDMACHAN_CAUSE_PORT_DOWN: the own port, over which the connection went, is not active
 * @RDMACHAN_CAUSE_MTU: the MTU of the own interface has become smaller than the packets of the
 *	connection: limit is what it carries now, needed the packets, both in bytes
 * @RDMACHAN_CAUSE_OWN_ADDRESS: the own address of the connection was removed
 * @RDMACHAN_CAUSE_NEIGHBOUR: the hardware address behind the peer's address, or that of the own
 *	interface, has changed
 * @RDMACHAN_CAUSE_PORT_TAKEN: another program has the port on which modules meet; see detail for
 *	its number
 * @RDMACHAN_CAUSE_SEND_BUFFER: the message is larger than the send buffer, so that only a call
 *	that waits can send it; see detail for the bytes of the buffer. The receiver takes it
 * @RDMACHAN_CAUSE_UNPRIVILEGED: the peer lets modules in only when they connect from a port below
 *	1024, as own_privileged_port of the module has them do
 * @RDMACHAN_CAUSE_PEER_STALLED: the peer lives, or at least its adapter, and for four dead times
 *	has taken nothing that was sent, or not answered while hardly a frame came. Or nothing came
 *	for one dead time, and the peer's module says, beside the connection, that it lives. See
 *	detail for that time in milliseconds
 * @RDMACHAN_CAUSE_DEVICE_FATAL: the local RDMA device has failed, as its driver tells
 * @RDMACHAN_CAUSE_LOCAL_ADDRESS: this host has no such local address as was asked for; detail is 1
 *	when it has, and no RDMA device of the network namespace serves it
 * @RDMACHAN_CAUSE_MESSAGE_LOST: a program of this side was killed, or wanted its memory back, while
 *	a message was written there, so that no program can have that message
 */
enum rdmachan_cause {
	RDMACHAN_CAUSE_NONE = 0,
	RDMACHAN_CAUSE_NO_DEVICE = 1,
	RDMACHAN_CAUSE_ADDRESS = 2,
	RDMACHAN_CAUSE_ROUTE = 3,
	RDMACHAN_CAUSE_UNREACHABLE = 4,
	RDMACHAN_CAUSE_NO_MODULE = 5,
	RDMACHAN_CAUSE_NO_SERVICE = 6,
	RDMACHAN_CAUSE_BACKLOG = 7,
	RDMACHAN_CAUSE_REJECTED = 8,
	RDMACHAN_CAUSE_VERSION = 9,
	RDMACHAN_CAUSE_FEATURE = 10,
	RDMACHAN_CAUSE_TIMEOUT = 11,
	RDMACHAN_CAUSE_PEER_DEAD = 12,
	RDMACHAN_CAUSE_PEER_CLOSED = 13,
	RDMACHAN_CAUSE_PEER_KILLED = 14,
	RDMACHAN_CAUSE_PEER_RESET = 15,
	RDMACHAN_CAUSE_PEER_RESTARTED = 16,
	RDMACHAN_CAUSE_PEER_SHUTDOWN = 17,
	RDMACHAN_CAUSE_DISCONNECTED = 18,
	RDMACHAN_CAUSE_DEVICE_REMOVED = 19,
	RDMACHAN_CAUSE_TRANSPORT = 20,
	RDMACHAN_CAUSE_PROTOCOL = 21,
	RDMACHAN_CAUSE_RESOURCES = 22,
	RDMACHAN_CAUSE_PEER_RESOURCES = 23,
	RDMACHAN_CAUSE_SHUTDOWN = 24,
	RDMACHAN_CAUSE_MESSAGE_SIZE = 25,
	RDMACHAN_CAUSE_UNLOAD = 26,
	RDMACHAN_CAUSE_USER_LIMIT = 27,
	RDMACHAN_CAUSE_USER_BYTES = 28,
	RDMACHAN_CAUSE_TOTAL_LIMIT = 29,
	RDMACHAN_CAUSE_MEMLOCK = 30,
	RDMACHAN_CAUSE_MEMORY_KIND = 31,
	RDMACHAN_CAUSE_UNCERTAIN = 32,
	RDMACHAN_CAUSE_ATOMICS = 33,
	RDMACHAN_CAUSE_PORT_DOWN = 34,
	RDMACHAN_CAUSE_MTU = 35,
	RDMACHAN_CAUSE_OWN_ADDRESS = 36,
	RDMACHAN_CAUSE_NEIGHBOUR = 37,
	RDMACHAN_CAUSE_PORT_TAKEN = 38,
	RDMACHAN_CAUSE_SEND_BUFFER = 39,
	RDMACHAN_CAUSE_UNPRIVILEGED = 40,
	RDMACHAN_CAUSE_PEER_STALLED = 41,
	RDMACHAN_CAUSE_DEVICE_FATAL = 42,
	RDMACHAN_CAUSE_LOCAL_ADDRESS = 43,
	RDMACHAN_CAUSE_MESSAGE_LOST = 44,
};

/**
 * enum rdmachan_op - what was tried when an error was recorded
 * @RDMACHAN_OP_NONE: nothing
 * @RDMACHAN_OP_RESOLVE: resolving the peer's address and route
 * @RDMACHAN_OP_CONNECT: connecting to the peer host
 * @RDMACHAN_OP_OPEN: opening a channel to the service
 * @RDMACHAN_OP_SEND: sending
 * @RDMACHAN_OP_RECV: receiving
 * @RDMACHAN_OP_HEARTBEAT: watching the peer
 * @RDMACHAN_OP_LISTEN: listening
 * @RDMACHAN_OP_REGISTER: registering a region
 * @RDMACHAN_OP_GRANT: lending memory to the peer, or taking it back
 * @RDMACHAN_OP_ACCESS: reading, writing or updating memory that the peer lends
 * @RDMACHAN_OP_TUNE: changing the buffers of an open channel
 */
enum rdmachan_op {
	RDMACHAN_OP_NONE = 0,
	RDMACHAN_OP_RESOLVE = 1,
	RDMACHAN_OP_CONNECT = 2,
	RDMACHAN_OP_OPEN = 3,
	RDMACHAN_OP_SEND = 4,
	RDMACHAN_OP_RECV = 5,
	RDMACHAN_OP_HEARTBEAT = 6,
	RDMACHAN_OP_LISTEN = 7,
	RDMACHAN_OP_REGISTER = 8,
	RDMACHAN_OP_GRANT = 9,
	RDMACHAN_OP_ACCESS = 10,
	RDMACHAN_OP_TUNE = 11,
};

/**
 * struct rdmachan_addr - address of one end
 * @family: AF_INET or AF_INET6; 0 when unknown
 * @port: The port of the module there, in network byte order. 0 on input stands
 *	for %RDMACHAN_PORT
 * @flowinfo: Must be 0
 * @addr: IPv4 address in the first 4 bytes and zeros, or IPv6 address, in
 *	network byte order
 * @scope_id: Index of the network interface, for link-local IPv6 addresses
 *
 * The members have the meaning and order of struct sockaddr_in6, so that a
 * struct sockaddr_in6 may be copied here whole; for IPv4 the address moves to
 * @addr. No GID, LID or queue pair number is ever asked for.
 */
struct rdmachan_addr {
	__u16 family;
	__be16 port;
	__u32 flowinfo;
	__u8 addr[16];
	__u32 scope_id;
};

/**
 * struct rdmachan_error - error record: what went wrong, and where
 * @size: In: sizeof(struct rdmachan_error). Out: bytes the module has filled in, not more
 * @error: The errno that went with it, positive; 0 when there was no error
 * @cause: &enum rdmachan_cause, the most likely cause
 * @op: &enum rdmachan_op, the operation that was tried
 * @time_ns: When, on CLOCK_REALTIME, in nanoseconds
 * @wc_status: Completion status (enum ib_wc_status), for
 *	%RDMACHAN_CAUSE_TRANSPORT, else 0
 * @vendor_err: The adapter's own error number with it
 * @cm_event: The last connection manager event plus 1
 *	(enum rdma_cm_event_type); 0 if there was none
 * @cm_status: Status of that event: an errno below 0, or a reason of rejection
 *	above 0
 * @detail: A number that belongs to @cause. If that has none, and a channel could not be connected:
 *	the messages that were sent on it all the same, see %RDMACHAN_CONNECT_F_EARLY
 * @service: Service of the channel, 0 when it is not known
 * @dev_port: Port of the RDMA device, 0 when it is not known
 * @local: Local address
 * @peer: Peer's address
 * @device: Name of the RDMA device, empty when it is not known
 * @limit: Where a limit was in the way: the most there may be; bytes, or objects
 * @used: The use of it at that time
 * @needed: The amount that was needed besides
 */
struct rdmachan_error {
	__u32 size;
	__u32 error;
	__u32 cause;
	__u32 op;
	__aligned_u64 time_ns;
	__u32 wc_status;
	__u32 vendor_err;
	__u32 cm_event;
	__s32 cm_status;
	__aligned_u64 detail;
	__u32 service;
	__u32 dev_port;
	struct rdmachan_addr local;
	struct rdmachan_addr peer;
	char device[RDMACHAN_NAME_LEN];
	__aligned_u64 limit;
	__aligned_u64 used;
	__aligned_u64 needed;
};

/**
 * enum rdmachan_dev_flags - what a device is
 * @RDMACHAN_DEV_F_IWARP: iWARP, else InfiniBand or RoCE
 * @RDMACHAN_DEV_F_ACTIVE: its port is active
 */
enum rdmachan_dev_flags {
	RDMACHAN_DEV_F_IWARP = 1 << 0,
	RDMACHAN_DEV_F_ACTIVE = 1 << 1,
};

/**
 * struct rdmachan_device - one port of an RDMA device, as INFO tells it
 * @name: Name of the device
 * @netdev: Name of its network interface, empty when it has none in the context's network
 *	namespace
 * @port: Number of the port
 * @flags: &enum rdmachan_dev_flags
 * @port_state: enum ib_port_state: 1 down, 4 active
 * @mtu: Active MTU in bytes
 * @max_mtu: Largest MTU of the port in bytes
 * @links: Links of this module in the context's network namespace that use the device now
 */
struct rdmachan_device {
	char name[RDMACHAN_NAME_LEN];
	char netdev[RDMACHAN_NAME_LEN];
	__u32 port;
	__u32 flags;
	__u32 port_state;
	__u32 mtu;
	__u32 max_mtu;
	__u32 links;
};

/**
 * enum rdmachan_limit - what there is a limit of, for each user and in all
 * @RDMACHAN_LIMIT_CONTEXTS: contexts
 * @RDMACHAN_LIMIT_LISTENERS: listeners
 * @RDMACHAN_LIMIT_CHANNELS: channels, until the last byte is delivered or given up
 * @RDMACHAN_LIMIT_PENDING: channels that are being connected, or wait to be accepted. As many
 *	links of a user may be neither up nor gone: those that channels have given up, too
 * @RDMACHAN_LIMIT_BYTES: bytes that the kernel may have to hold for channels and queues. Their
 *	send and receive buffers count. So do bytes beyond a buffer: those of a larger message, and
 *	those in a buffer that %RDMACHAN_TUNE has made smaller, until they fit. The rings of queues
 *	count, with the operations that can be under way. So do the adapter's memory regions for
 *	grants that are given, and events and grants that are held
 * @RDMACHAN_LIMIT_QUEUES: queues
 * @RDMACHAN_LIMIT_REGIONS: regions. How many bytes they may have is the matter of
 *	RLIMIT_MEMLOCK
 * @RDMACHAN_LIMIT_POLLERS: queues with a poller
 * @RDMACHAN_LIMIT_GRANTS: grants, those given and those that peers have given. One that is
 *	given counts once for each memory region it takes: one for 2 MiB, or for as much as
 *	the adapter's regions have
 * @RDMACHAN_LIMIT_LINKS: links, until they are gone: those that the user's channels were
 *	connected over, and those that peers have made for his services, once they are up. A link
 *	without channels ends when another one needs its place
 *
 * The user is the one that opened the context. Channels that peers open belong to the user of
 * the listener; one that is beyond a limit is refused, and the peer's error record has
 * %RDMACHAN_CAUSE_PEER_RESOURCES. These, and grants and links that peers make, leave the last
 * quarter of each limit of a user to what his own programs make. What a user has in a user
 * namespace counts for the namespace's owner as well. A context that was opened with
 * CAP_SYS_RESOURCE, and all that comes from it, may exceed the limits of a user, not those in all;
 * of these the last sixteenth is for it alone.
 */
enum rdmachan_limit {
	RDMACHAN_LIMIT_CONTEXTS = 0,
	RDMACHAN_LIMIT_LISTENERS = 1,
	RDMACHAN_LIMIT_CHANNELS = 2,
	RDMACHAN_LIMIT_PENDING = 3,
	RDMACHAN_LIMIT_BYTES = 4,
	RDMACHAN_LIMIT_QUEUES = 5,
	RDMACHAN_LIMIT_REGIONS = 6,
	RDMACHAN_LIMIT_POLLERS = 7,
	RDMACHAN_LIMIT_GRANTS = 8,
	RDMACHAN_LIMIT_LINKS = 9,
};

/**
 * enum rdmachan_calls - groups of what the interface has: the first version has all of these
 * @RDMACHAN_CALLS_QUEUE: %RDMACHAN_QUEUE_CREATE and %RDMACHAN_ENTER
 * @RDMACHAN_CALLS_POOL: %RDMACHAN_POOL_CREATE, and %RDMACHAN_RECV_F_MULTISHOT; and
 *	&rdmachan_sqe.timeout_ms
 * @RDMACHAN_CALLS_POLLER: %RDMACHAN_QUEUE_F_POLLER
 * @RDMACHAN_CALLS_REGION: %RDMACHAN_REGION_REGISTER and %RDMACHAN_REGION_UNREGISTER, and
 *	%RDMACHAN_SQE_F_REGION
 * @RDMACHAN_CALLS_GRANT: %RDMACHAN_GRANT, %RDMACHAN_RELEASE, %RDMACHAN_REVOKE,
 *	%RDMACHAN_READ, %RDMACHAN_WRITE and %RDMACHAN_ATOMIC; %RDMACHAN_IO_F_GRANTS
 * @RDMACHAN_CALLS_QUEUE_GRANT: the same by queues, with %RDMACHAN_RECV_F_GRANTS and
 *	%RDMACHAN_SQE_F_FENCE; and %RDMACHAN_WRITE_F_NOTIFY
 * @RDMACHAN_CALLS_FINISH: %RDMACHAN_FINISH, %RDMACHAN_OPCODE_FINISH, and
 *	%RDMACHAN_SHUTDOWN_ABORT
 * @RDMACHAN_CALLS_TRAFFIC_CLASS: &rdmachan_connect_args.traffic_class; a module without it refuses
 *	all but 0
 * @RDMACHAN_CALLS_QUEUE_IOV: %RDMACHAN_SQE_F_IOV
 * @RDMACHAN_CALLS_ACCEPT_MANY: %RDMACHAN_ACCEPT_F_MULTISHOT
 * @RDMACHAN_CALLS_QUEUE_MESSAGE: %RDMACHAN_OPCODE_MESSAGE
 * @RDMACHAN_CALLS_PEEK: %RDMACHAN_IO_F_PEEK
 * @RDMACHAN_CALLS_DELIVERED: %RDMACHAN_IO_F_DELIVERED and %RDMACHAN_SEND_F_DELIVERED
 * @RDMACHAN_CALLS_ADDRESS: &rdmachan_listen_args.local and &rdmachan_connect_args.source
 * @RDMACHAN_CALLS_TUNE: %RDMACHAN_TUNE
 */
enum rdmachan_calls {
	RDMACHAN_CALLS_QUEUE = 1 << 0,
	RDMACHAN_CALLS_POOL = 1 << 1,
	RDMACHAN_CALLS_POLLER = 1 << 2,
	RDMACHAN_CALLS_REGION = 1 << 3,
	RDMACHAN_CALLS_GRANT = 1 << 4,
	RDMACHAN_CALLS_QUEUE_GRANT = 1 << 5,
	RDMACHAN_CALLS_FINISH = 1 << 6,
	RDMACHAN_CALLS_TRAFFIC_CLASS = 1 << 7,
	RDMACHAN_CALLS_QUEUE_IOV = 1 << 8,
	RDMACHAN_CALLS_ACCEPT_MANY = 1 << 9,
	RDMACHAN_CALLS_QUEUE_MESSAGE = 1 << 10,
	RDMACHAN_CALLS_PEEK = 1 << 11,
	RDMACHAN_CALLS_DELIVERED = 1 << 12,
	RDMACHAN_CALLS_ADDRESS = 1 << 13,
	RDMACHAN_CALLS_TUNE = 1 << 14,
};

/**
 * struct rdmachan_use - what is in use of something that there is a limit of
 * @user: In use by the user of the context
 * @user_max: The most that a user may have
 * @all: In use by all users
 * @all_max: The most that all users together may have
 * @refused: Times that there was no room for more, since load: a user's limit was in the way, of
 *	any user, or that of all. Requests of programs and of peers count
 */
struct rdmachan_use {
	__aligned_u64 user;
	__aligned_u64 user_max;
	__aligned_u64 all;
	__aligned_u64 all_max;
	__aligned_u64 refused;
};

/**
 * struct rdmachan_info - ioctl(RDMACHAN_INFO) on a context
 * @size: sizeof(struct rdmachan_info)
 * @flags: Must be 0
 * @devices_ptr: Address of an array of &struct rdmachan_device, or 0
 * @devices_max: Elements of that array
 * @device_size: sizeof(struct rdmachan_device), at least that of the first version; elements
 *	are written at this distance, and no further. Required only when @devices_max is not 0
 * @out_abi: %RDMACHAN_ABI_VERSION of the module
 * @out_protocol: Version of the wire protocol that is spoken at best
 * @out_features: Feature bits of the wire protocol
 * @out_message_max: Largest message in bytes
 * @out_frame_size: Bytes of a frame on the wire, at most
 * @out_port: Port on which the module listens
 * @out_dead_ms: Dead time in milliseconds. An adapter that does not try for ever to send again
 *	gives up after 17 s, where this is longer
 * @out_connect_ms: Default connect timeout in milliseconds
 * @out_linger_ms: Default linger time in milliseconds
 * @out_buffer: Default send and receive buffer of a channel in bytes
 * @out_message_default: Default of the largest message that is received, bytes
 * @out_devices: Number of ports of the devices that the context's network namespace may use;
 *	may be above @devices_max
 * @out_contexts: Contexts alive in the whole module
 * @out_listeners: Listeners alive in the whole module
 * @out_channels: Channels alive in the whole module, with those that linger
 * @out_links: Links alive in the whole module
 * @out_frames: Transmit frames alive in the whole module
 * @out_segments: Received pieces of messages alive in the whole module, but for one of up to 128
 *	bytes in the memory of each channel
 * @out_dropped: Received frames dropped as duplicates, since load
 * @out_cm_connects: Connections that were established as active side, since load
 * @out_version: Version of the module as text
 * @out_use_contexts: Contexts in use, and their limits
 * @out_use_listeners: The same of listeners
 * @out_use_channels: The same of channels
 * @out_use_pending: The same of channels that connect or wait to be accepted
 * @out_use_bytes: The same of bytes of buffers
 * @out_use_queues: The same of queues
 * @out_calls: &enum rdmachan_calls
 * @out_use_pollers: The same of queues with a poller
 * @out_use_regions: Regions in use, and their limits
 * @out_use_grants: The same of grants
 * @out_use_links: The same of links
 * @out_refused_handshake: Connections of peers that were refused, since load, as the handshake
 *	breaks the protocol, or names an address that is not the peer's, or not the one that it has
 *	come to; and queries of peers about links that name such an address
 * @out_refused_version: The same, as the two modules have no version in common, or the peer asks
 *	for a feature that this side has not
 * @out_refused_port: Connections and queries, likewise, as the peer's port is not privileged (the
 *	module's parameter peer_privileged_port)
 * @out_refused_mtu: The same, as the packets are larger than the interface here carries. A peer
 *	that can asks for smaller ones then
 * @out_refused_links: The same, as too many are being made, or the user of the service has as many
 *	links as peers may make, or the host could not get what a connection needs
 * @out_refused_service: Connections and channels of peers that were refused, since load, as no
 *	program listens for the service
 * @out_refused_backlog: Channels of peers that were refused, since load, as the listener's queue
 *	was full
 * @out_refused_channels: The same, as a limit of the listener's user, or of all, was in the way, or
 *	there was no memory
 * @out_refused_memlock: Regions that were refused, since load, with %RDMACHAN_CAUSE_MEMLOCK
 * @out_broken_rules: Links that were ended, since load, as the peer broke the protocol: links that
 *	were up, and those of this side that the peer has answered by a handshake that is none
 *
 * What is counted since load is counted for the whole module. Refusals here are those of this
 * module: it counts none that a peer's module has spoken.
 *
 * Errors: as in "rules of the interface".
 */
struct rdmachan_info {
	__u32 size;
	__u32 flags;
	__aligned_u64 devices_ptr;
	__u32 devices_max;
	__u32 device_size;
	__u32 out_abi;
	__u32 out_protocol;
	__aligned_u64 out_features;
	__aligned_u64 out_message_max;
	__u32 out_frame_size;
	__u32 out_port;
	__u32 out_dead_ms;
	__u32 out_connect_ms;
	__u32 out_linger_ms;
	__u32 out_buffer;
	__u32 out_message_default;
	__u32 out_devices;
	__u32 out_contexts;
	__u32 out_listeners;
	__u32 out_channels;
	__u32 out_links;
	__u32 out_frames;
	__u32 out_segments;
	__aligned_u64 out_dropped;
	__aligned_u64 out_cm_connects;
	char out_version[32];
	struct rdmachan_use out_use_contexts;
	struct rdmachan_use out_use_listeners;
	struct rdmachan_use out_use_channels;
	struct rdmachan_use out_use_pending;
	struct rdmachan_use out_use_bytes;
	struct rdmachan_use out_use_queues;
	__aligned_u64 out_calls;
	struct rdmachan_use out_use_pollers;
	struct rdmachan_use out_use_regions;
	struct rdmachan_use out_use_grants;
	struct rdmachan_use out_use_links;
	__aligned_u64 out_refused_handshake;
	__aligned_u64 out_refused_version;
	__aligned_u64 out_refused_port;
	__aligned_u64 out_refused_mtu;
	__aligned_u64 out_refused_links;
	__aligned_u64 out_refused_service;
	__aligned_u64 out_refused_backlog;
	__aligned_u64 out_refused_channels;
	__aligned_u64 out_refused_memlock;
	__aligned_u64 out_broken_rules;
};

#define RDMACHAN_INFO _IO(RDMACHAN_TYPE, RDMACHAN_CMD_INFO)

/**
 * enum rdmachan_fd_flags - flags of calls that make a file descriptor
 * @RDMACHAN_FD_F_CLOEXEC: set close-on-exec
 * @RDMACHAN_FD_F_NONBLOCK: set O_NONBLOCK; %RDMACHAN_CONNECT then returns at
 *	once, the channel becomes writable when it is connected or has failed, and
 *	%RDMACHAN_QUERY tells which
 */
enum rdmachan_fd_flags {
	RDMACHAN_FD_F_CLOEXEC = 1 << 0,
	RDMACHAN_FD_F_NONBLOCK = 1 << 1,
};

/** RDMACHAN_EARLY_BYTES - of messages that are sent before a channel is open; each costs 64 more */
#define RDMACHAN_EARLY_BYTES	16384U

/**
 * enum rdmachan_connect_flags - flags of %RDMACHAN_CONNECT besides &enum rdmachan_fd_flags
 * @RDMACHAN_CONNECT_F_EARLY: Do not wait for the peer's answer: the call returns at once, with or
 *	without %RDMACHAN_FD_F_NONBLOCK, and messages may be sent meanwhile, up to
 *	%RDMACHAN_EARLY_BYTES. They go with the request to open the channel, and the program that
 *	accepts it gets them. A message beyond that waits until the channel is open, or gives
 *	EAGAIN, and so does a receive. %RDMACHAN_SHUTDOWN and %RDMACHAN_FINISH end sending behind
 *	these messages, and that goes with them. If the channel cannot be opened, the detail of
 *	the error record is the number of messages that were sent and not delivered, but where the
 *	cause has a detail of its own; %RDMACHAN_QUERY tells tx_messages in any case. When the
 *	connection ends before the peer has answered, some of them may have been delivered; they
 *	are not sent again. %RDMACHAN_GRANT waits until the channel is open, or gives EAGAIN: lent
 *	memory has keys of the link, and which one that is, is known only then
 */
enum rdmachan_connect_flags {
	RDMACHAN_CONNECT_F_EARLY = 1 << 8,
};

/** RDMACHAN_BUFFER_MIN - smallest send and receive buffer of a channel, bytes */
#define RDMACHAN_BUFFER_MIN	(64U << 10)
/** RDMACHAN_BUFFER_MAX - largest send and receive buffer of a channel, bytes */
#define RDMACHAN_BUFFER_MAX	(64U << 20)

/**
 * struct rdmachan_tuning - sizes and times of a channel
 * @send_buffer: Bytes that may wait in the kernel to be sent, from
 *	%RDMACHAN_BUFFER_MIN to %RDMACHAN_BUFFER_MAX; 0 is the default. A
 *	non-blocking send of a message larger than this gives EMSGSIZE
 * @recv_buffer: Bytes that may wait in the kernel to be read (the window given to
 *	the peer), same range; 0 is the default. One message larger than this is
 *	still received if it is not larger than @message_max
 * @message_max: Largest message that this end receives, up to
 *	%RDMACHAN_MESSAGE_MAX; 0 is the default. A peer that sends a larger one gets
 *	EMSGSIZE at once
 * @linger_ms: How long close() tries in the background to deliver what was
 *	accepted; 0 is the default, %RDMACHAN_LINGER_NONE resets at once
 *
 * EINVAL when a member is out of its range.
 */
struct rdmachan_tuning {
	__u32 send_buffer;
	__u32 recv_buffer;
	__u32 message_max;
	__u32 linger_ms;
};

/** RDMACHAN_LINGER_NONE - close() resets the channel at once */
#define RDMACHAN_LINGER_NONE	0xffffffffU

/**
 * struct rdmachan_listen_args - ioctl(RDMACHAN_LISTEN) on a context
 * @size: sizeof(struct rdmachan_listen_args)
 * @flags: &enum rdmachan_fd_flags
 * @service: Service number, 1 to 0xfffffffe
 * @backlog: Channels that may wait to be accepted, 1 to 65535; 0 is 128
 * @tuning: For the channels that will be accepted
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @local: Local address at which alone peers reach the service; zeros: every address of the network
 *	namespace. Its port must be 0; a link-local IPv6 address needs its scope_id, and no other
 *	has one
 * @out_fd: The listener's file descriptor
 *
 * The listener becomes readable when a channel waits to be accepted.
 *
 * A peer that connects to another address than @local gets ECONNREFUSED, as if nobody listened. The
 * address decides, and not the interface or the network. Where the address is removed, and an
 * adapter has it again later, peers reach the service again. A service may have several listeners,
 * of whichever users, if each has an address of its own. Two listeners never have an address in
 * common, as with bind() of TCP: one with zeros has all.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EACCES: @service is below %RDMACHAN_SERVICE_PRIVILEGED and the caller has
 *    not CAP_NET_BIND_SERVICE.
 *  - EADDRINUSE: Somebody listens for the service already, at @local or at every address; or at any
 *    address, if @local is zeros. Or the module's port is taken by another program
 *    (%RDMACHAN_CAUSE_PORT_TAKEN).
 *  - EADDRNOTAVAIL: This host has not the address @local, or no RDMA device serves it, as none
 *    serves loopback addresses (%RDMACHAN_CAUSE_LOCAL_ADDRESS).
 *  - EAFNOSUPPORT: @local is neither AF_INET nor AF_INET6, nor zeros; or it is AF_INET6 and the
 *    kernel runs without IPv6.
 *  - EINVAL: also when @local is no address of one host, or its unused members are not 0.
 *  - ENOMEM: also when an adapter cannot listen (%RDMACHAN_CAUSE_RESOURCES, whose detail is the
 *    errno it gave).
 *  - EDQUOT: The user has as many listeners as one user may have
 *    (%RDMACHAN_CAUSE_USER_LIMIT).
 *  - ENOSPC: All users together have as many listeners as may be
 *    (%RDMACHAN_CAUSE_TOTAL_LIMIT).
 */
struct rdmachan_listen_args {
	__u32 size;
	__u32 flags;
	__u32 service;
	__u32 backlog;
	struct rdmachan_tuning tuning;
	__aligned_u64 error_ptr;
	struct rdmachan_addr local;
	__s32 out_fd;
};

#define RDMACHAN_LISTEN _IO(RDMACHAN_TYPE, RDMACHAN_CMD_LISTEN)

/**
 * struct rdmachan_accept_args - ioctl(RDMACHAN_ACCEPT) on a listener
 * @size: sizeof(struct rdmachan_accept_args)
 * @flags: &enum rdmachan_fd_flags, for the channel's file descriptor
 * @timeout_ms: How long to wait for a channel; 0 is without limit
 * @__reserved: Must be 0
 * @out_fd: The channel's file descriptor
 * @out_peer: The peer's address
 * @out_peer_claimed_uid: User id of the peer's program, as the peer's host claims. Nothing
 *	proves it: it is worth as much as that host, and the network between, are trusted
 * @__reserved2: Must be 0
 * @until: 0; see "rules of the interface"
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EMFILE, ENFILE: No file descriptor is left; the channel goes on waiting.
 *
 * close() of the listener by another thread does not end a call that waits: it accepts the
 * next channel. Where that shall not be, wait in poll(), for an eventfd besides.
 */
struct rdmachan_accept_args {
	__u32 size;
	__u32 flags;
	__u32 timeout_ms;
	__u32 __reserved;
	__s32 out_fd;
	struct rdmachan_addr out_peer;
	__u32 out_peer_claimed_uid;
	__u32 __reserved2;
	__aligned_u64 until;
};

#define RDMACHAN_ACCEPT _IO(RDMACHAN_TYPE, RDMACHAN_CMD_ACCEPT)

/** RDMACHAN_TRAFFIC_CLASS_0 - traffic class 0, whatever the default of the module is */
#define RDMACHAN_TRAFFIC_CLASS_0	256U

/**
 * struct rdmachan_connect_args - ioctl(RDMACHAN_CONNECT) on a context
 * @size: sizeof(struct rdmachan_connect_args)
 * @flags: &enum rdmachan_fd_flags and &enum rdmachan_connect_flags
 * @service: Service number, 1 to 0xfffffffe
 * @timeout_ms: How long to try, 1 to 3600000; 0 is the default of the module
 * @addr: Address of the peer host
 * @traffic_class: Class of the packets, for a network that keeps classes apart: 1 to 255, the byte
 *	of the IP header whose upper six bits are the DSCP; %RDMACHAN_TRAFFIC_CLASS_0; or 0, the
 *	default of the module. Channels of different classes share no link. With RoCE both hosts
 *	send in it; with iWARP it is up to the adapter, and siw takes no notice
 * @tuning: For the channel
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @source: Local address to connect from, as &rdmachan_listen_args.local; zeros: the one that the
 *	route to the peer gives. The connection goes by the interface that has the address.
 *	Channels of different values share no link
 * @out_fd: The channel's file descriptor
 * @until: 0; see "rules of the interface"
 *
 * Blocks until the channel is open, unless %RDMACHAN_FD_F_NONBLOCK or %RDMACHAN_CONNECT_F_EARLY is
 * set: then @out_fd is valid at once, the call returns 0, and the channel becomes writable
 * when it is open or has failed.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EAFNOSUPPORT: @addr is neither AF_INET nor AF_INET6; or @source, which may be zeros, is
 *    neither, or is AF_INET6 and the kernel runs without IPv6.
 *  - EADDRNOTAVAIL: This host has not the address @source, or not at the interface that @addr
 *    names, or no RDMA device serves it (%RDMACHAN_CAUSE_LOCAL_ADDRESS).
 *  - ECONNREFUSED: Nobody listens there, the queue of the listener is full, or
 *    the peer's module does not go with this one; see the cause.
 *  - EHOSTUNREACH: The address does not resolve, or no host can have it; or no route leads there
 *    from the interface of @source.
 *  - ENODEV: No RDMA device serves the route to the address.
 *  - EHOSTDOWN: The peer does not answer.
 *  - ETIMEDOUT: The timeout ran out before it was known why.
 *  - EINTR: The handler of a signal ran, with or without SA_RESTART. Connecting is given up.
 *  - EINVAL: also when @addr names no host (all zeros), or its unused members are not 0. Also when
 *    unused members of @source are not 0, or it is of another family than @addr, names another
 *    interface, or is no address of one host.
 *  - EDQUOT: The user has as many channels, or channels that connect or wait, as one
 *    user may have (%RDMACHAN_CAUSE_USER_LIMIT).
 *  - ENOBUFS: The buffers of the user's channels would be larger than those of one
 *    user may be (%RDMACHAN_CAUSE_USER_BYTES). Smaller ones in @tuning may do.
 *  - ENOSPC: All users together have as much as may be (%RDMACHAN_CAUSE_TOTAL_LIMIT).
 */
struct rdmachan_connect_args {
	__u32 size;
	__u32 flags;
	__u32 service;
	__u32 timeout_ms;
	struct rdmachan_addr addr;
	__u32 traffic_class;
	struct rdmachan_tuning tuning;
	__aligned_u64 error_ptr;
	struct rdmachan_addr source;
	__s32 out_fd;
	__aligned_u64 until;
};

#define RDMACHAN_CONNECT _IO(RDMACHAN_TYPE, RDMACHAN_CMD_CONNECT)

/**
 * enum rdmachan_io_flags - flags of SEND and RECV
 * @RDMACHAN_IO_F_DONTWAIT: do not block, as if the file had O_NONBLOCK
 * @RDMACHAN_IO_F_GRANTS: RECV: the program knows grants: it takes messages that begin with
 *	events (&struct rdmachan_grant_event) as well
 * @RDMACHAN_IO_F_PEEK: RECV: only look: the message stays, of whatever size and kind it is. As many
 *	of its bytes as the buffers have room for are copied; out_length tells all of them, and
 *	%RDMACHAN_RECV_OUT_GRANTS that it begins with events
 * @RDMACHAN_IO_F_DELIVERED: SEND: return when the peer's program has received the message. EINVAL
 *	with %RDMACHAN_IO_F_DONTWAIT, and on a file with O_NONBLOCK
 */
enum rdmachan_io_flags {
	RDMACHAN_IO_F_DONTWAIT = 1 << 0,
	RDMACHAN_IO_F_GRANTS = 1 << 1,
	RDMACHAN_IO_F_PEEK = 1 << 3,
	RDMACHAN_IO_F_DELIVERED = 1 << 4,
};

/** RDMACHAN_MSG_FLAGS_MASK - message flags that belong to the two programs */
#define RDMACHAN_MSG_FLAGS_MASK	0xffffU

/**
 * struct rdmachan_send_args - ioctl(RDMACHAN_SEND) on a channel
 * @size: sizeof(struct rdmachan_send_args)
 * @flags: &enum rdmachan_io_flags
 * @iov_ptr: Address of an array of struct iovec; the message is all of them
 * @iov_count: Elements of the array, 0 to 1024; 0 sends an empty message
 * @timeout_ms: How long to wait for room, and with %RDMACHAN_IO_F_DELIVERED for the peer's program;
 *	0 is without limit
 * @msg_flags: Passed to the receiver as they are: at most
 *	%RDMACHAN_MSG_FLAGS_MASK; EINVAL otherwise
 * @__reserved: Must be 0
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @until: 0; see "rules of the interface"
 * @out_number: With %RDMACHAN_IO_F_DELIVERED: number of the message among those sent on the
 *	channel, from 1 on; 0 when it was not received and never will be. Else it stays as it was.
 *	It belongs to @until: a call that goes on needs it as it is
 *
 * Returns when the whole message is accepted; the memory is free to be used
 * again. The message is delivered whole, once and in order, or the channel fails
 * at both ends.
 *
 * With %RDMACHAN_IO_F_DELIVERED it returns when the peer's program has received the message: when
 * a call there has returned it (%RDMACHAN_IO_F_PEEK does not count), or a RECV of a queue has
 * completed with it. So it takes a round trip, and as long as the peer's program waits before it
 * receives. If the call fails, out_number tells more. If it is 0 the message was not received, and
 * never will be. Else it is sent, and may have been received, or may yet be received. Shutting
 * down does not end the wait, but for %RDMACHAN_SHUTDOWN_ABORT.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EMSGSIZE: The message is larger than the receiver takes
 *    (%RDMACHAN_CAUSE_MESSAGE_SIZE; &rdmachan_object.peer_message_max), or the call does
 *    not block and the message is larger than the send buffer
 *    (%RDMACHAN_CAUSE_SEND_BUFFER; &rdmachan_object.send_buffer): a call that waits sends it.
 *  - ENOBUFS, ENOSPC: The call does not block, and with what is beyond the send buffer there would
 *    be more bytes than may be (%RDMACHAN_LIMIT_BYTES). Nothing is sent.
 *  - EPIPE: This end was shut down for sending, or the peer has closed or reads
 *    no more. Unlike with sockets there is no SIGPIPE.
 *  - ENOTCONN: The channel is still being connected and the call does not block.
 *  - ECONNRESET and others: The channel has failed.
 *
 * With %RDMACHAN_IO_F_DELIVERED besides:
 *
 *  - EPIPE: also when the peer's program has closed the channel, or receives no more, and has not
 *    received the message. The detail of the error record is the number of messages that are
 *    missing. Or this program has ended the channel (%RDMACHAN_SHUTDOWN_ABORT).
 *  - EINVAL: also when @until is not 0, and @out_number is not that of a message.
 *  - ETIMEDOUT, EINTR: also when the message is sent, and its delivery not known yet.
 */
struct rdmachan_send_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 iov_ptr;
	__u32 iov_count;
	__u32 timeout_ms;
	__u32 msg_flags;
	__u32 __reserved;
	__aligned_u64 error_ptr;
	__aligned_u64 until;
	__aligned_u64 out_number;
};

#define RDMACHAN_SEND _IO(RDMACHAN_TYPE, RDMACHAN_CMD_SEND)

/**
 * enum rdmachan_recv_out - what RECV found
 * @RDMACHAN_RECV_OUT_EOF: the peer sends no more, and all was read. A read() then
 *	returns 0, as it does for an empty message
 * @RDMACHAN_RECV_OUT_GRANTS: the message begins with events of grants
 */
enum rdmachan_recv_out {
	RDMACHAN_RECV_OUT_EOF = 1 << 0,
	RDMACHAN_RECV_OUT_GRANTS = 1 << 1,
};

/**
 * struct rdmachan_recv_args - ioctl(RDMACHAN_RECV) on a channel
 * @size: sizeof(struct rdmachan_recv_args)
 * @flags: &enum rdmachan_io_flags
 * @iov_ptr: Address of an array of struct iovec to be filled
 * @iov_count: Elements of the array, 0 to 1024
 * @timeout_ms: How long to wait for a message; 0 is without limit
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @out_length: Bytes of the message. Valid with EMSGSIZE as well: the bytes needed
 * @out_flags: &enum rdmachan_recv_out
 * @out_msg_flags: Message flags given by the sender
 * @until: 0; see "rules of the interface"
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EMSGSIZE: The message is larger than the buffers. It stays; see @out_length.
 *  - ENOMSG: The next message begins with events of grants, and %RDMACHAN_IO_F_GRANTS is not
 *    set. It stays. A read() fails so as well. Such an event comes also of a grant that this
 *    program has revoked itself, whether %RDMACHAN_REVOKE has waited or not.
 *  - ENOTCONN: The channel is still being connected and the call does not block.
 *  - ENOBUFS, ENOSPC: The channel has failed, because the message that was coming is
 *    larger than the receive buffer and may not be kept: %RDMACHAN_CAUSE_USER_BYTES,
 *    %RDMACHAN_CAUSE_TOTAL_LIMIT.
 *  - ECONNRESET and others: The channel has failed. Messages that came before
 *    are delivered first. ECONNRESET also when a large message was lost together with the program
 *    that was receiving it (%RDMACHAN_CAUSE_MESSAGE_LOST).
 */
struct rdmachan_recv_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 iov_ptr;
	__u32 iov_count;
	__u32 timeout_ms;
	__aligned_u64 error_ptr;
	__aligned_u64 out_length;
	__u32 out_flags;
	__u32 out_msg_flags;
	__aligned_u64 until;
};

#define RDMACHAN_RECV _IO(RDMACHAN_TYPE, RDMACHAN_CMD_RECV)

/**
 * enum rdmachan_shutdown_how - directions
 * @RDMACHAN_SHUTDOWN_RECV: receive no more; messages that are queued or come are thrown away, and
 *	the peer's sends fail with EPIPE
 * @RDMACHAN_SHUTDOWN_SEND: send no more; the peer reads to the end of what was
 *	sent and then finds the end
 * @RDMACHAN_SHUTDOWN_ABORT: end the channel at once, in both directions. Messages that wait to be
 *	sent, or have arrived, are thrown away. Calls of the peer's program fail with
 *	%RDMACHAN_CAUSE_PEER_RESET, and calls of this one with %RDMACHAN_CAUSE_SHUTDOWN. For a
 *	program that has received messages and then cannot do with them what it was to do: close()
 *	would tell the peer that all is well
 */
enum rdmachan_shutdown_how {
	RDMACHAN_SHUTDOWN_RECV = 1 << 0,
	RDMACHAN_SHUTDOWN_SEND = 1 << 1,
	RDMACHAN_SHUTDOWN_ABORT = 1 << 2,
};

/**
 * struct rdmachan_shutdown_args - ioctl(RDMACHAN_SHUTDOWN) on a channel
 * @size: sizeof(struct rdmachan_shutdown_args)
 * @how: &enum rdmachan_shutdown_how: RECV, SEND or both; or ABORT alone. EINVAL for 0, for
 *	ABORT with another one, and for others
 *
 * Shutting down what is shut down already succeeds.
 *
 * While a channel with %RDMACHAN_CONNECT_F_EARLY is being connected, RECV and SEND succeed as well.
 * SEND takes effect behind the messages that were sent, and the peer's program finds the end there.
 * RECV takes effect here at once, and the peer is told when it has answered. If the channel cannot
 * be opened, SEND, FINISH and POLLERR tell so; a receive has the end that was asked for.
 *
 * It wakes threads that wait in calls on the channel, and operations of queues: receivers find the
 * end, senders EPIPE. One that is in the middle of moving a message goes on, and is waited for.
 * That is how to end calls of other threads before close(), which does not.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOTCONN: The channel has failed; or it is still being connected, without
 *    %RDMACHAN_CONNECT_F_EARLY or with ABORT.
 */
struct rdmachan_shutdown_args {
	__u32 size;
	__u32 how;
};

#define RDMACHAN_SHUTDOWN _IO(RDMACHAN_TYPE, RDMACHAN_CMD_SHUTDOWN)

/**
 * struct rdmachan_finish_args - ioctl(RDMACHAN_FINISH) on a channel
 * @size: sizeof(struct rdmachan_finish_args)
 * @flags: %RDMACHAN_IO_F_DONTWAIT or 0
 * @timeout_ms: How long to wait; 0 is without limit
 * @__reserved: Must be 0
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @until: 0; see "rules of the interface"
 *
 * Ends sending, as %RDMACHAN_SHUTDOWN_SEND does, and waits until the peer's program has received
 * every message that was sent on the channel. The peer's program has done so when a call of it
 * has found the end (%RDMACHAN_RECV_OUT_EOF, a read() that returned 0), or when it has received
 * all messages and closes the channel. The peer's program need not know of this call.
 *
 * A message that was received in a program's memory is received, whatever the program does with
 * it: one that fails there ends the channel by %RDMACHAN_SHUTDOWN_ABORT. A call that has
 * succeeded succeeds again. Messages of the peer can be received meanwhile and afterwards, and
 * must be if the peer's program waits for room before it receives.
 *
 * poll() shows POLLPRI from when a call with %RDMACHAN_IO_F_DONTWAIT would succeed or fail for
 * good. It does so only after sending was shut down, and when the channel is open or has failed.
 *
 * While a channel with %RDMACHAN_CONNECT_F_EARLY is being connected it waits as well. If the
 * channel cannot be opened it fails with the errno of the record.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOTCONN: The channel is still being connected, without %RDMACHAN_CONNECT_F_EARLY.
 *  - EPIPE: The peer's program has closed the channel (%RDMACHAN_CAUSE_PEER_CLOSED), or receives
 *    no more (%RDMACHAN_CAUSE_PEER_SHUTDOWN), and has not received all; the detail of the error
 *    record is the number of messages that are missing. Or this program has ended the channel
 *    (%RDMACHAN_CAUSE_SHUTDOWN).
 *  - EAGAIN: It may still do so. Sending is shut down, unless another thread is just sending.
 *  - ETIMEDOUT, EINTR: The same. The call can be repeated.
 *  - ECONNRESET and others: The channel has failed. How much was received is not known.
 */
struct rdmachan_finish_args {
	__u32 size;
	__u32 flags;
	__u32 timeout_ms;
	__u32 __reserved;
	__aligned_u64 error_ptr;
	__aligned_u64 until;
};

#define RDMACHAN_FINISH _IO(RDMACHAN_TYPE, RDMACHAN_CMD_FINISH)

/**
 * struct rdmachan_tune_args - ioctl(RDMACHAN_TUNE) on a channel: change it while it is open
 * @size: sizeof(struct rdmachan_tune_args)
 * @send_buffer: As of &struct rdmachan_tuning; 0 leaves it as it is, and so with the others
 * @recv_buffer: Likewise
 * @linger_ms: Likewise
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 *
 * Either all members take effect, or none. The largest message that this end receives cannot
 * change, as the peer was told of it when the channel was opened. %RDMACHAN_QUERY tells the values.
 *
 * A buffer that grows has more room at once: threads that wait to send go on, and the peer is told.
 * One that becomes smaller loses nothing. Its messages stay, and no more are taken until they
 * fit. The peer may go on sending what it was promised before. The user is charged
 * (%RDMACHAN_LIMIT_BYTES) for a larger buffer at once, and for a smaller one when all fits, or the
 * channel ends. So what a smaller one gives back serves no larger one of the same call. A larger
 * buffer may take the whole of the user's limit, also on a channel that the peer has opened.
 *
 * Any program that has the channel may do so, while others use it. Calls of two threads take effect
 * one after the other. Does not wait.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EINVAL: also when a member is out of its range.
 *  - ENOTCONN: The channel is still being connected, or has failed.
 *  - ENOBUFS: The buffers of the user's channels would be larger than those of one user may be
 *    (%RDMACHAN_CAUSE_USER_BYTES).
 *  - ENOSPC: Those of all users together would be (%RDMACHAN_CAUSE_TOTAL_LIMIT).
 */
struct rdmachan_tune_args {
	__u32 size;
	__u32 send_buffer;
	__u32 recv_buffer;
	__u32 linger_ms;
	__aligned_u64 error_ptr;
};

#define RDMACHAN_TUNE _IO(RDMACHAN_TYPE, RDMACHAN_CMD_TUNE)

/** RDMACHAN_BUSY_POLL_MAX - longest time of %RDMACHAN_BUSY_POLL, microseconds */
#define RDMACHAN_BUSY_POLL_MAX	100000U

/**
 * struct rdmachan_busy_poll_args - ioctl(RDMACHAN_BUSY_POLL) on a channel or a queue
 * @size: sizeof(struct rdmachan_busy_poll_args)
 * @usecs: For how many microseconds a call that waits looks before it sleeps, at most
 *	%RDMACHAN_BUSY_POLL_MAX; 0, as at first, is not at all
 *
 * For a program that has a processor to spare and wants an answer sooner than a thread is woken.
 * It holds for calls that wait for a message or for their turn on a channel, and for
 * %RDMACHAN_ENTER on a queue; not for poll(), and not for what others have begun to wait
 * for. Looking ends early when the processor is wanted by another thread, when a signal
 * comes, and with the call's own timeout. It is the channel's, in whichever program; one
 * that is accepted begins with 0.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EINVAL: also when @usecs is too large.
 */
struct rdmachan_busy_poll_args {
	__u32 size;
	__u32 usecs;
};

#define RDMACHAN_BUSY_POLL _IO(RDMACHAN_TYPE, RDMACHAN_CMD_BUSY_POLL)

/**
 * enum rdmachan_kind - kinds of objects
 * @RDMACHAN_KIND_LISTENER: listener
 * @RDMACHAN_KIND_CHANNEL: channel
 * @RDMACHAN_KIND_LINK: link: the connection of two hosts that channels share
 * @RDMACHAN_KIND_QUEUE: queue
 * @RDMACHAN_KIND_REGION: region: memory of a program that stays where it is
 * @RDMACHAN_KIND_GRANT: grant: a piece of a region that a peer may use. LIST tells of those that
 *	this host lends, QUERY also of those that it holds
 * @RDMACHAN_KIND_CONTEXT: context: what open("/dev/rdmachan") gives. Only QUERY tells of it
 */
enum rdmachan_kind {
	RDMACHAN_KIND_LISTENER = 1,
	RDMACHAN_KIND_CHANNEL = 2,
	RDMACHAN_KIND_LINK = 3,
	RDMACHAN_KIND_QUEUE = 4,
	RDMACHAN_KIND_REGION = 5,
	RDMACHAN_KIND_GRANT = 6,
	RDMACHAN_KIND_CONTEXT = 7,
};

/**
 * enum rdmachan_state - state of an object
 * @RDMACHAN_STATE_CONNECTING: being connected
 * @RDMACHAN_STATE_OPEN: in use (listeners: listening; queues, contexts: always)
 * @RDMACHAN_STATE_WAITING: open, and waiting to be accepted by a program here
 * @RDMACHAN_STATE_PEER_CLOSED: the peer has closed; queued messages may be read
 * @RDMACHAN_STATE_CLOSING: closed here; accepted messages are being delivered. Grants: wanted
 *	back, or being given back
 * @RDMACHAN_STATE_FAILED: failed, see the error record
 */
enum rdmachan_state {
	RDMACHAN_STATE_CONNECTING = 1,
	RDMACHAN_STATE_OPEN = 2,
	RDMACHAN_STATE_WAITING = 3,
	RDMACHAN_STATE_PEER_CLOSED = 4,
	RDMACHAN_STATE_CLOSING = 5,
	RDMACHAN_STATE_FAILED = 6,
};

/**
 * enum rdmachan_link_event - what was told of a link's adapter, and did not end the link
 * @RDMACHAN_LINK_EVENT_ADDRESS: the hardware address of the own interface has changed, as that of a
 *	bond does when it fails over; or that behind the peer's address
 * @RDMACHAN_LINK_EVENT_PORT_DOWN: the own port is down now
 * @RDMACHAN_LINK_EVENT_PORT_WAS_DOWN: it was, once or more
 * @RDMACHAN_LINK_EVENT_GIDS: the addresses of the port have changed, this link's or others
 * @RDMACHAN_LINK_EVENT_SUBNET: InfiniBand: the port has another LID or other partition keys, or the
 *	subnet another manager
 *
 * The link goes on: if nothing gets through any more, it ends after its dead time.
 */
enum rdmachan_link_event {
	RDMACHAN_LINK_EVENT_ADDRESS = 1 << 0,
	RDMACHAN_LINK_EVENT_PORT_DOWN = 1 << 1,
	RDMACHAN_LINK_EVENT_PORT_WAS_DOWN = 1 << 2,
	RDMACHAN_LINK_EVENT_GIDS = 1 << 3,
	RDMACHAN_LINK_EVENT_SUBNET = 1 << 4,
};

/**
 * struct rdmachan_object - what there is to know about one object
 * @size: Bytes the module has filled in: not more than the program has said that there is room for
 * @kind: &enum rdmachan_kind
 * @id: Number of the object, 1 to 0xffffffff. Numbers are given in turn: one that was an
 *	object's is given again only after all others that are free. 0 for contexts, and for
 *	grants that are held, which LIST does not tell of
 * @link_id: Number of the link that a channel uses, 0 when it has none yet
 * @state: &enum rdmachan_state
 * @shutdown: &enum rdmachan_shutdown_how: the directions shut down here
 * @peer_shutdown: The same, by the peer
 * @service: Service, 0 for links
 * @uid: User id of the owner, in the user namespace of the caller
 * @peer_claimed_uid: User id at the peer as the peer's host claims, which nothing proves; ~0 when
 *	unknown
 * @active: 1 when this side made the connection (queues: when it has a poller)
 * @channels: Channels of a link, channels waiting at a listener
 * @dev_port: Port of the RDMA device, 0 when it is not known
 * @frame_size: Bytes of a frame that was agreed upon
 * @local: Local address; of a listener, and of a link or channel without a connection yet, the one
 *	that was asked for, if one was
 * @peer: Peer's address
 * @device: Name of the RDMA device
 * @created_ns: When the object was made, on CLOCK_REALTIME; 0 for grants that are held
 * @tx_messages: Messages accepted for sending
 * @tx_bytes: Bytes of them
 * @rx_messages: Messages read by the program
 * @rx_bytes: Bytes of them
 * @tx_frames: Frames sent on the link
 * @rx_frames: Frames received on the link
 * @tx_queued: Bytes that wait to be sent
 * @rx_queued: Bytes that wait to be read
 * @rx_next: Bytes of the next message that can be read, 0 when there is none
 * @tx_stalls: How often sending waited for the peer's window (links: for credit)
 * @send_buffer: Send buffer in bytes
 * @recv_buffer: Receive buffer in bytes
 * @peer_message_max: Largest message that the peer takes
 * @tx_placed: Messages of @tx_messages that were written straight into the memory of the
 *	peer's program, and copied nowhere
 * @rx_placed: The same of @rx_messages
 * @tx_regions: Messages of @tx_messages that were sent from regions
 * @rx_regions: Messages of @rx_messages that were received into regions
 * @length: Bytes of a region or a grant; contexts: of all its regions
 * @region: Number of a region in its context (grants: of the one that is lent, 0 of one that is
 *	held)
 * @uses: Operations under way that use a region, and grants of it; contexts: its regions
 * @grant: Number of a grant on its channel
 * @rights: Rights of a grant: &enum rdmachan_right. Of a channel that is connected:
 *	%RDMACHAN_RIGHT_BY_DEVICE, if atomic operations on what this end lends are its
 *	adapter's, or 0
 * @cookie: Cookie of a grant
 * @tx_posts: How often frames of a link were handed to the adapter, one chain of them and one
 *	doorbell each time: @tx_frames divided by it is the length of a chain
 * @tx_signals: Frames of @tx_frames of which the adapter tells the module that they are sent
 * @mtu: Links, channels: bytes of a packet, with InfiniBand and RoCE; else 0
 * @traffic_class: Links, channels: class of the packets that this host sends, 0 to 255: with
 *	InfiniBand and RoCE that of the route, else what CONNECT has asked for
 * @events: Links, channels: &enum rdmachan_link_event, since the link was made
 * @operations: Queues: operations that are under way
 * @sq_entries: Queues: entries of the submission ring
 * @cq_entries: Queues: entries of the completion ring
 * @pools: Queues: pools of buffers
 * @linger_ms: Channels: how long close() tries to deliver; listeners: that of their channels
 * @sq_taken: Queues: entries taken of the submission ring, ever
 * @cq_completions: Queues: completions put into the ring, ever
 * @cq_overflows: Queues: how often a completion found the ring full
 * @offered: Listeners: channels that peers have opened, ever
 * @accepted: Listeners: channels of these that programs have accepted
 * @uses_left: Grants: accesses that the holder may still begin, ~0 is without limit. The holder's
 *	kernel counts: of a grant that is lent this is the number that it was lent for
 *
 * Of a region @tx_messages are those that were sent from it, and @rx_messages those that
 * were received there.
 */
struct rdmachan_object {
	__u32 size;
	__u32 kind;
	__aligned_u64 id;
	__aligned_u64 link_id;
	__u32 state;
	__u32 shutdown;
	__u32 peer_shutdown;
	__u32 service;
	__u32 uid;
	__u32 peer_claimed_uid;
	__u32 active;
	__u32 channels;
	__u32 dev_port;
	__u32 frame_size;
	struct rdmachan_addr local;
	struct rdmachan_addr peer;
	char device[RDMACHAN_NAME_LEN];
	__aligned_u64 created_ns;
	__aligned_u64 tx_messages;
	__aligned_u64 tx_bytes;
	__aligned_u64 rx_messages;
	__aligned_u64 rx_bytes;
	__aligned_u64 tx_frames;
	__aligned_u64 rx_frames;
	__aligned_u64 tx_queued;
	__aligned_u64 rx_queued;
	__aligned_u64 rx_next;
	__aligned_u64 tx_stalls;
	__u32 send_buffer;
	__u32 recv_buffer;
	__aligned_u64 peer_message_max;
	__aligned_u64 tx_placed;
	__aligned_u64 rx_placed;
	__aligned_u64 tx_regions;
	__aligned_u64 rx_regions;
	__aligned_u64 length;
	__u32 region;
	__u32 uses;
	__u32 grant;
	__u32 rights;
	__aligned_u64 cookie;
	__aligned_u64 tx_posts;
	__aligned_u64 tx_signals;
	__u32 mtu;
	__u32 traffic_class;
	__u32 events;
	__u32 operations;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 pools;
	__u32 linger_ms;
	__aligned_u64 sq_taken;
	__aligned_u64 cq_completions;
	__aligned_u64 cq_overflows;
	__aligned_u64 offered;
	__aligned_u64 accepted;
	__aligned_u64 uses_left;
};

/**
 * enum rdmachan_query_flags - flags of QUERY on a channel: which grant it is about
 * @RDMACHAN_QUERY_F_LENT: The one that this end lends with the number @grant
 * @RDMACHAN_QUERY_F_HELD: The one that this end holds with that number
 */
enum rdmachan_query_flags {
	RDMACHAN_QUERY_F_LENT = 1 << 0,
	RDMACHAN_QUERY_F_HELD = 1 << 1,
};

/**
 * struct rdmachan_query_args - ioctl(RDMACHAN_QUERY) on a channel, a listener, a queue or a context
 * @size: sizeof(struct rdmachan_query_args)
 * @flags: 0: about the object that the file descriptor is of. Channels: or one of &enum
 *	rdmachan_query_flags; EINVAL for both
 * @object_ptr: Address of a &struct rdmachan_object whose size member is set,
 *	or 0
 * @error_ptr: Address of a &struct rdmachan_error whose size member is set, or
 *	0: the last error record. For a channel that was connected without blocking
 *	this is the question that SO_ERROR answers for a socket; asking does not
 *	clear it. Others have none: it is empty
 * @grant: Number of the grant; without a flag it must be 0
 * @__reserved: Must be 0
 *
 * %RDMACHAN_LIST tells of links and regions, which have no file descriptors, and of all grants that
 * are lent. %RDMACHAN_INFO tells what the user of a context has of each limit.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOENT: There is no such grant, or it has ended.
 */
struct rdmachan_query_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 object_ptr;
	__aligned_u64 error_ptr;
	__u32 grant;
	__u32 __reserved;
};

#define RDMACHAN_QUERY _IO(RDMACHAN_TYPE, RDMACHAN_CMD_QUERY)

/**
 * enum rdmachan_list_flags - flags of LIST
 * @RDMACHAN_LIST_F_ALL: objects of all users; EPERM without CAP_NET_ADMIN. Else
 *	those of the user that has opened the context. In both cases those of its network
 *	namespace
 */
enum rdmachan_list_flags {
	RDMACHAN_LIST_F_ALL = 1 << 0,
};

/**
 * struct rdmachan_list_args - ioctl(RDMACHAN_LIST) on a context
 * @size: sizeof(struct rdmachan_list_args)
 * @flags: &enum rdmachan_list_flags
 * @after: Only objects with an id above this, at most 0xffffffff; 0 begins, the
 *	last id that was returned goes on
 * @objects_ptr: Address of an array of &struct rdmachan_object
 * @objects_max: Elements of the array, 1 to 65536
 * @object_size: sizeof(struct rdmachan_object); at least that of the first version,
 *	at most a page
 * @out_count: Elements written; below @objects_max when there are no more
 * @__reserved: Must be 0
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EPERM: %RDMACHAN_LIST_F_ALL without CAP_NET_ADMIN.
 */
struct rdmachan_list_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 after;
	__aligned_u64 objects_ptr;
	__u32 objects_max;
	__u32 object_size;
	__u32 out_count;
	__u32 __reserved;
};

#define RDMACHAN_LIST _IO(RDMACHAN_TYPE, RDMACHAN_CMD_LIST)

/**
 * enum rdmachan_region_flags - flags of REGION_REGISTER
 * @RDMACHAN_REGION_F_READ_ONLY: messages are sent from it and not received there. Needed
 *	for memory that the program cannot write to, and for files on disks that it has
 *	mapped shared
 */
enum rdmachan_region_flags {
	RDMACHAN_REGION_F_READ_ONLY = 1 << 0,
};

/**
 * struct rdmachan_region_register_args - ioctl(RDMACHAN_REGION_REGISTER) on a context
 * @size: sizeof(struct rdmachan_region_register_args)
 * @flags: &enum rdmachan_region_flags
 * @addr: Address of the memory, of any alignment
 * @length: Bytes of it, not 0
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @out_region: The region's number, for entries of queues of the same context
 * @__reserved: Must be 0
 *
 * The pages are brought into memory and stay there, and the region is those pages,
 * whatever the program maps at the address afterwards. They count as the memory regions of
 * verbs do: whole pages, against RLIMIT_MEMLOCK, unless the program has CAP_IPC_LOCK. A
 * region ends with %RDMACHAN_REGION_UNREGISTER, or with its context.
 *
 * A region belongs to the memory of the program that makes it. After fork() it is the
 * parent's; after execve() it is nobody's, and its pages stay until the context is closed.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EINVAL: also when @addr and @length are no range of addresses.
 *  - EFAULT: also when there is no memory, or none that may be written to and
 *    %RDMACHAN_REGION_F_READ_ONLY is not set, or it is a device's.
 *  - EOPNOTSUPP: also when such memory cannot be pinned (%RDMACHAN_CAUSE_MEMORY_KIND): that
 *    of a file on a disk which is mapped shared, without %RDMACHAN_REGION_F_READ_ONLY; or
 *    of a file on persistent memory.
 *  - ENOMEM: also when more memory would be pinned than RLIMIT_MEMLOCK allows
 *    (%RDMACHAN_CAUSE_MEMLOCK): see limit, used and needed of the record, all in bytes.
 *  - EDQUOT: The user has as many regions as one user may have
 *    (%RDMACHAN_CAUSE_USER_LIMIT).
 *  - ENOSPC: All users together have as many as may be (%RDMACHAN_CAUSE_TOTAL_LIMIT).
 */
struct rdmachan_region_register_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 error_ptr;
	__u32 out_region;
	__u32 __reserved;
};

#define RDMACHAN_REGION_REGISTER _IO(RDMACHAN_TYPE, RDMACHAN_CMD_REGION_REGISTER)

/**
 * enum rdmachan_unregister_flags - flags of REGION_UNREGISTER
 * @RDMACHAN_UNREGISTER_F_REVOKE: revoke all grants of the region first, and wait for that
 */
enum rdmachan_unregister_flags {
	RDMACHAN_UNREGISTER_F_REVOKE = 1 << 0,
};

/**
 * struct rdmachan_region_unregister_args - ioctl(RDMACHAN_REGION_UNREGISTER) on a context
 * @size: sizeof(struct rdmachan_region_unregister_args)
 * @region: Number of the region
 * @flags: &enum rdmachan_unregister_flags
 * @__reserved: Must be 0
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOENT: There is no such region.
 *  - EBUSY: Operations that use it have not completed: cancel them, or wait. Or it is lent:
 *    see @flags.
 *  - EPERM: Another program has registered it.
 *  - EINTR: With %RDMACHAN_UNREGISTER_F_REVOKE, when a signal came; revoking goes on, and the
 *    region stays.
 *
 * Each grant that is revoked so leaves an event on its channel, as %RDMACHAN_REVOKE does.
 */
struct rdmachan_region_unregister_args {
	__u32 size;
	__u32 region;
	__u32 flags;
	__u32 __reserved;
};

#define RDMACHAN_REGION_UNREGISTER _IO(RDMACHAN_TYPE, RDMACHAN_CMD_REGION_UNREGISTER)

/**
 * DOC: grants
 *
 * A *grant* lends a piece of a region to the program at the other end of a channel. The *owner*
 * gives it with %RDMACHAN_GRANT, and the *holder* may then read it (%RDMACHAN_READ), write to it
 * (%RDMACHAN_WRITE) or update it (%RDMACHAN_ATOMIC), as its rights say, without the owner's doing
 * anything. The bytes are moved by RDMA READ, RDMA WRITE and atomic operations (InfiniBand
 * Architecture Specification 1, chapters 9.4 and 10.6) under a key that neither program ever sees.
 * Control of the memory goes with the grant: it comes back when the holder releases it
 * (%RDMACHAN_RELEASE), when the owner revokes it (%RDMACHAN_REVOKE), when it expires or is used up,
 * and when the channel ends. Once the owner is told so the key is invalid: whatever the peer's host
 * does, it cannot get at the memory any more.
 *
 * Both are told by *events* (&struct rdmachan_grant_event) in the channel's messages. A message
 * that begins with events is received only with %RDMACHAN_IO_F_GRANTS, or by a queue with
 * %RDMACHAN_RECV_F_GRANTS. The event of a grant that is given comes in order with all messages. The
 * event of control that is back comes at once: behind messages that are there already, but ahead
 * of those that wait for room.
 */

/** RDMACHAN_GRANTS_MAX - most grants that go with one message */
#define RDMACHAN_GRANTS_MAX	16U

/**
 * enum rdmachan_right - what the holder of a grant may do
 * @RDMACHAN_RIGHT_READ: %RDMACHAN_READ
 * @RDMACHAN_RIGHT_WRITE: %RDMACHAN_WRITE
 * @RDMACHAN_RIGHT_ATOMIC: %RDMACHAN_ATOMIC
 * @RDMACHAN_RIGHT_BY_DEVICE: only told, never given: atomic operations are done by the
 *	owner's adapter, and exclude each other but not those of the owner's processors. Else
 *	the owner's kernel does them, and they exclude those as well
 */
enum rdmachan_right {
	RDMACHAN_RIGHT_READ = 1 << 0,
	RDMACHAN_RIGHT_WRITE = 1 << 1,
	RDMACHAN_RIGHT_ATOMIC = 1 << 2,
	RDMACHAN_RIGHT_BY_DEVICE = 1 << 8,
};

/**
 * struct rdmachan_grant_range - what is lent by one grant
 * @region: Number of a region of the context
 * @rights: &enum rdmachan_right, not 0
 * @offset: Where it begins in the region
 * @length: Bytes, not 0
 * @cookie: Passed to the holder as it is
 * @uses: It ends after so many accesses; 0 is without limit. The holder's kernel counts
 * @expires_ms: It is revoked after so many milliseconds; 0 is never
 * @out_grant: Number of the grant, on this channel
 * @__reserved: Must be 0
 */
struct rdmachan_grant_range {
	__u32 region;
	__u32 rights;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 cookie;
	__u32 uses;
	__u32 expires_ms;
	__u32 out_grant;
	__u32 __reserved;
};

/**
 * struct rdmachan_grant_args - ioctl(RDMACHAN_GRANT) on a channel
 * @size: sizeof(struct rdmachan_grant_args)
 * @flags: %RDMACHAN_IO_F_DONTWAIT
 * @context: File descriptor of the context whose regions are named
 * @count: Elements of the array at @ranges_ptr, 1 to %RDMACHAN_GRANTS_MAX
 * @ranges_ptr: Address of an array of &struct rdmachan_grant_range
 * @iov_ptr: Address of an array of struct iovec: a message that goes with the grants
 * @iov_count: Elements of the array, 0 to 1024
 * @msg_flags: As of %RDMACHAN_SEND
 * @timeout_ms: How long to wait for room; 0 is without limit
 * @range_size: sizeof(struct rdmachan_grant_range)
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @until: 0; see "rules of the interface"
 *
 * The holder gets one message: an event of each grant, then the bytes at @iov_ptr. Either
 * all grants are given, and all @out_grant valid, or none.
 *
 * Context: process; may sleep. Errors, besides those of "rules of the interface":
 *
 *  - EBADF, ENOTTY: @context is no file descriptor, or not one of a context.
 *  - ENOENT, EPERM: There is no such region, or it is another program's.
 *  - ERANGE: A range does not lie within its region.
 *  - EACCES: %RDMACHAN_RIGHT_WRITE or %RDMACHAN_RIGHT_ATOMIC on a region that is
 *    %RDMACHAN_REGION_F_READ_ONLY.
 *  - EBUSY: Atomic operations on this region are done in another way already
 *    (%RDMACHAN_CAUSE_ATOMICS).
 *  - EMSGSIZE: The events, the keys and the message do not fit a frame (%RDMACHAN_CAUSE_NONE), or
 *    the message is larger than the receiver takes (%RDMACHAN_CAUSE_MESSAGE_SIZE).
 *  - EOPNOTSUPP: also when the adapter cannot lend memory, or when it reaches memory only through
 *    bounce buffers, as in a confidential guest.
 *  - EDQUOT, ENOSPC: As many grants as may be (%RDMACHAN_LIMIT_GRANTS).
 *  - ENOBUFS, ENOSPC: As many bytes as may be (%RDMACHAN_LIMIT_BYTES), which the events that
 *    tell of the end of grants are part of until they are received.
 *  - EPIPE, ENOTCONN, ECONNRESET and others: as of %RDMACHAN_SEND.
 */
struct rdmachan_grant_args {
	__u32 size;
	__u32 flags;
	__s32 context;
	__u32 count;
	__aligned_u64 ranges_ptr;
	__aligned_u64 iov_ptr;
	__u32 iov_count;
	__u32 msg_flags;
	__u32 timeout_ms;
	__u32 range_size;
	__aligned_u64 error_ptr;
	__aligned_u64 until;
};

#define RDMACHAN_GRANT _IO(RDMACHAN_TYPE, RDMACHAN_CMD_GRANT)

/**
 * enum rdmachan_grant_what - what an event tells
 * @RDMACHAN_GRANT_GIVEN: the peer lends memory: this end holds the grant now
 * @RDMACHAN_GRANT_RETURNED: this end's own memory is under its control again. If the peer has given
 *	it back before it shut down sending, this comes ahead of the end
 */
enum rdmachan_grant_what {
	RDMACHAN_GRANT_GIVEN = 1,
	RDMACHAN_GRANT_RETURNED = 2,
};

/**
 * struct rdmachan_grant_event - at the beginning of a message that tells of grants
 * @grant: Number of the grant, on this channel. Those that are given and those that are
 *	held are numbered each on their own
 * @what: &enum rdmachan_grant_what
 * @count: Events at the beginning of this message, with this one
 * @length: Bytes of the grant
 * @cookie: As the owner has given it
 * @rights: &enum rdmachan_right
 * @cause: %RDMACHAN_GRANT_RETURNED: why: 0, the holder has released it or used it up;
 *	%RDMACHAN_CAUSE_SHUTDOWN, it was revoked or has expired; else the holder's program,
 *	or the connection, has ended so
 */
struct rdmachan_grant_event {
	__u32 grant;
	__u16 what;
	__u16 count;
	__aligned_u64 length;
	__aligned_u64 cookie;
	__u32 rights;
	__u32 cause;
};

/**
 * struct rdmachan_release_args - ioctl(RDMACHAN_RELEASE) on a channel: give control back
 * @size: sizeof(struct rdmachan_release_args)
 * @flags: Must be 0
 * @grant: Number of a grant that is held
 * @__reserved: Must be 0
 *
 * Does not wait. Accesses of other threads that are under way end first.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOENT: No such grant was ever held.
 *  - EKEYREVOKED: It has ended already.
 */
struct rdmachan_release_args {
	__u32 size;
	__u32 flags;
	__u32 grant;
	__u32 __reserved;
};

#define RDMACHAN_RELEASE _IO(RDMACHAN_TYPE, RDMACHAN_CMD_RELEASE)

/**
 * struct rdmachan_revoke_args - ioctl(RDMACHAN_REVOKE) on a channel: take control back
 * @size: sizeof(struct rdmachan_revoke_args)
 * @flags: %RDMACHAN_IO_F_DONTWAIT: only begin; the event tells when it is done
 * @grant: Number of a grant that was given
 * @timeout_ms: How long to wait; 0 is without limit
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @until: 0; see "rules of the interface"
 *
 * When it returns 0 the memory is the owner's alone. It waits for accesses that the
 * holder's kernel has begun, and for nothing that the holder's program does. A peer that
 * does not answer within four times the dead time loses its connection.
 *
 * The event comes in any case, also when the call has waited: until it is received, by
 * %RDMACHAN_IO_F_GRANTS, calls that receive without give ENOMSG where it is next. O_NONBLOCK is
 * as the flag: then 0 says only that it was begun.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOENT: No such grant was ever given. One that has ended is no error.
 *  - ETIMEDOUT, EINTR: The revocation goes on.
 */
struct rdmachan_revoke_args {
	__u32 size;
	__u32 flags;
	__u32 grant;
	__u32 timeout_ms;
	__aligned_u64 error_ptr;
	__aligned_u64 until;
};

#define RDMACHAN_REVOKE _IO(RDMACHAN_TYPE, RDMACHAN_CMD_REVOKE)

/**
 * enum rdmachan_write_flags - flags of WRITE, none of which is one of &enum rdmachan_io_flags
 * @RDMACHAN_WRITE_F_NOTIFY: A message goes with it, which the owner receives behind the bytes:
 *	when it is there they are
 */
enum rdmachan_write_flags {
	RDMACHAN_WRITE_F_NOTIFY = 1 << 2,
};

/**
 * struct rdmachan_access_args - ioctl(RDMACHAN_READ) or ioctl(RDMACHAN_WRITE) on a channel
 * @size: sizeof(struct rdmachan_access_args)
 * @flags: WRITE: &enum rdmachan_write_flags; READ: must be 0
 * @grant: Number of a grant that is held
 * @msg_flags: With %RDMACHAN_WRITE_F_NOTIFY: as of %RDMACHAN_SEND; else must be 0
 * @offset: Where to begin, in the grant
 * @addr: Address of own memory: where the bytes go (READ), or are (WRITE)
 * @length: Bytes, at most %RDMACHAN_MESSAGE_MAX; 0 only checks
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @iov_ptr: With %RDMACHAN_WRITE_F_NOTIFY: address of an array of struct iovec: the message; else
 *	must be 0
 * @iov_count: Elements of the array, 0 to 1024; likewise
 * @timeout_ms: How long to wait for room for the message; 0 is without limit; likewise
 * @until: 0; see "rules of the interface"
 *
 * Waits until the adapter has done it. The data of a READ was the owner's memory at some time
 * during the call, each byte for itself. The bytes of a WRITE are seen by the owner before
 * any message that is sent on the channel afterwards, and before the grant is back. With
 * iWARP a WRITE is done when it is sent: whether the owner's adapter takes it is not known
 * then, and a refusal ends the connection. O_NONBLOCK has no meaning, and the wait can be
 * killed, but not interrupted.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - ENOENT: No such grant was ever held.
 *  - EKEYREVOKED: It was released or revoked, has expired, or is used up.
 *  - EACCES: It has not this right.
 *  - ERANGE: The bytes do not lie within it.
 *  - EFAULT: also when some of the bytes were moved before the bad address.
 *  - ENOBUFS, ENOSPC: As many bytes as may be (%RDMACHAN_LIMIT_BYTES) wait for their turn, as
 *    the link has as many accesses under way as can be. Some bytes may have been moved.
 *  - EMSGSIZE, EPIPE, ETIMEDOUT, EINTR: with %RDMACHAN_WRITE_F_NOTIFY: as of %RDMACHAN_SEND. The
 *    bytes were written, and the message was not sent.
 *  - ECONNRESET and others: The connection has ended. Of a WRITE any of the bytes may have
 *    been written.
 */
struct rdmachan_access_args {
	__u32 size;
	__u32 flags;
	__u32 grant;
	__u32 msg_flags;
	__aligned_u64 offset;
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 error_ptr;
	__aligned_u64 iov_ptr;
	__u32 iov_count;
	__u32 timeout_ms;
	__aligned_u64 until;
};

#define RDMACHAN_READ _IO(RDMACHAN_TYPE, RDMACHAN_CMD_READ)
#define RDMACHAN_WRITE _IO(RDMACHAN_TYPE, RDMACHAN_CMD_WRITE)

/**
 * enum rdmachan_atomic_op - atomic operations, on 64 bits in the owner's byte order
 * @RDMACHAN_ATOMIC_FETCH_ADD: add operand
 * @RDMACHAN_ATOMIC_COMPARE_SWAP: replace by operand if it is compare
 */
enum rdmachan_atomic_op {
	RDMACHAN_ATOMIC_FETCH_ADD = 1,
	RDMACHAN_ATOMIC_COMPARE_SWAP = 2,
};

/**
 * struct rdmachan_atomic_args - ioctl(RDMACHAN_ATOMIC) on a channel
 * @size: sizeof(struct rdmachan_atomic_args)
 * @flags: Must be 0
 * @grant: Number of a grant that is held
 * @op: &enum rdmachan_atomic_op
 * @offset: Where, in the grant. In the owner's memory it must be a multiple of 8
 * @operand: See @op
 * @compare: See @op; else 0
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @out_value: The value that was there before
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EINVAL: also when @offset is not aligned.
 *  - ENOENT, EKEYREVOKED, EACCES, ERANGE, ENOBUFS, ENOSPC: as of &struct rdmachan_access_args.
 *  - EOPNOTSUPP: The grant says %RDMACHAN_RIGHT_BY_DEVICE, and this host's adapter refuses the
 *    operation; the connection goes on.
 *  - EREMOTEIO: The connection has ended, or the adapter has lost the result, and it is not
 *    known whether the operation was done (%RDMACHAN_CAUSE_UNCERTAIN). It is never done twice.
 *  - EFAULT: The structure could not be written to; the operation was done.
 */
struct rdmachan_atomic_args {
	__u32 size;
	__u32 flags;
	__u32 grant;
	__u32 op;
	__aligned_u64 offset;
	__aligned_u64 operand;
	__aligned_u64 compare;
	__aligned_u64 error_ptr;
	__aligned_u64 out_value;
};

#define RDMACHAN_ATOMIC _IO(RDMACHAN_TYPE, RDMACHAN_CMD_ATOMIC)

/**
 * DOC: rings of a queue
 *
 * A queue has two rings, each mapped into the program by mmap() on the queue's file descriptor.
 * They are the submission ring, in which the program puts entries and the kernel takes them, and
 * the completion ring, the other way round. %RDMACHAN_QUEUE_CREATE tells where in the mapping the
 * parts of a ring are. Indices are 32 bits wide, only grow, and wrap around; entry number i is at
 * place i & (entries - 1), that many strides behind the first. They need not begin at 0: a program
 * begins with the one it finds in the ring.
 *
 * The side that puts entries writes them, and then stores the new producer index with *release*.
 * The side that takes them loads the producer index with *acquire*, reads them, and then stores the
 * new consumer index with *release*. The first side loads that with *acquire* before it writes over
 * the entries. Neither side ever writes the other's index. The kernel does not trust what it finds:
 * it keeps its own copy of its indices, copies an entry before it looks at it, and writes its index
 * anew with each step.
 */

/** RDMACHAN_QUEUE_ENTRIES_MAX - most entries of a ring */
#define RDMACHAN_QUEUE_ENTRIES_MAX	32768U

/**
 * enum rdmachan_opcode - operations of a queue
 * @RDMACHAN_OPCODE_NOP: Succeeds with 0. fd must be 0
 * @RDMACHAN_OPCODE_SEND: Send the message of length bytes at addr, with msg_flags, on
 *	the channel fd. Succeeds with its bytes. One that is sent while the channel is being
 *	connected (%RDMACHAN_CONNECT_F_EARLY) completes when connecting has ended, with the error if
 *	it was not delivered. Messages behind it do not wait for its completion. op_flags are &enum
 *	rdmachan_send_flags
 * @RDMACHAN_OPCODE_RECV: Receive a message from the channel fd into the length bytes at
 *	addr. Succeeds with its bytes. op_flags are &enum rdmachan_recv_flags
 * @RDMACHAN_OPCODE_ACCEPT: Accept a channel from the listener fd. op_flags are &enum
 *	rdmachan_fd_flags and &enum rdmachan_accept_flags. Succeeds with a file descriptor:
 *	%RDMACHAN_QUERY tells the peer
 * @RDMACHAN_OPCODE_CONNECT: Connect as the &struct rdmachan_connect_args at addr tells, whose
 *	length is in it and whose out_fd is not written. fd must be -1. A poller leaves it to a
 *	call to look at it. Succeeds with a file descriptor; with %RDMACHAN_CONNECT_F_EARLY at
 *	once
 * @RDMACHAN_OPCODE_SHUTDOWN: Shut the channel fd down as op_flags tell, which are &enum
 *	rdmachan_shutdown_how. Succeeds with 0
 * @RDMACHAN_OPCODE_CANCEL: Cancel an operation whose user data is target, the one that
 *	was submitted first; op_flags are &enum rdmachan_cancel_flags. fd must be -1.
 *	Succeeds with the number of operations that were cancelled, each of which completes
 *	with -ECANCELED. Fails with ENOENT when there was none. Fails with EALREADY when none that
 *	there was can be cancelled any more, and each completes by itself. This is so of messages
 *	that are just being written from or to a region, of those whose memory is lent to the peer,
 *	and of accesses that were begun. The last two complete soon: with a message, with the
 *	bytes accessed, or with -ECANCELED
 *
 * @RDMACHAN_OPCODE_READ: READ length bytes at grant_offset of the grant, which is held on the
 *	channel fd, to addr. Succeeds with its bytes
 * @RDMACHAN_OPCODE_WRITE: WRITE length bytes at addr there. Succeeds with its bytes. A message or a
 *	release that is submitted after it on the channel arrives after it. With
 *	%RDMACHAN_WRITE_F_NOTIFY in op_flags an empty message that has msg_flags goes with it
 * @RDMACHAN_OPCODE_FETCH_ADD: Add operand to the 64 bits at grant_offset of the grant. Succeeds
 *	with 0, and length and buffer of the completion are what was there before
 * @RDMACHAN_OPCODE_COMPARE_SWAP: Replace these by operand if they are compare. Succeeds as
 *	FETCH_ADD, whether they were or not
 * @RDMACHAN_OPCODE_RELEASE: Give the grant back. Accesses to it that have not begun fail; with
 *	%RDMACHAN_SQE_F_FENCE it waits for them. Succeeds with 0
 * @RDMACHAN_OPCODE_GRANT: GRANT, as the &struct rdmachan_grant_args at addr says, whose flags and
 *	timeout_ms must be 0; behind what is sent. That is looked at when it is its turn: the
 *	context must be open until then. Succeeds with 0, and the numbers are there
 * @RDMACHAN_OPCODE_REVOKE: Take back what was lent on the channel fd under the number grant.
 *	Succeeds with 0 when the memory is the owner's alone. If it is cancelled, or its time is
 *	over, the revocation goes on
 * @RDMACHAN_OPCODE_FINISH: FINISH on the channel fd, behind what is sent. Succeeds with 0 when the
 *	peer's program has received all. A SEND after it fails with EPIPE, also if it
 *	is cancelled or its time is over
 * @RDMACHAN_OPCODE_MESSAGE: Put a completion into the ring of the queue fd, of whichever program,
 *	or this queue itself: user_data there is target, res is length, at most 0xffffffff, and
 *	flags are %RDMACHAN_CQE_F_MESSAGE. Succeeds with 0. Fails with EBADF when that queue is
 *	closed, and with ENOSPC when its ring has no room; with 0 the completion is not lost, and
 *	comes behind those of earlier MESSAGEs of this queue. Any holder of its file descriptor
 *	may send
 *
 * Members of an entry that are not named for its operation must be 0. An access that was begun
 * and is cancelled, or whose time is over, completes by itself soon. It succeeds if it was done all
 * the same; an atomic operation always tells whether it was. Of a READ or WRITE that was not done,
 * some of the bytes may have been moved.
 */
enum rdmachan_opcode {
	RDMACHAN_OPCODE_NOP = 0,
	RDMACHAN_OPCODE_SEND = 1,
	RDMACHAN_OPCODE_RECV = 2,
	RDMACHAN_OPCODE_ACCEPT = 3,
	RDMACHAN_OPCODE_CONNECT = 4,
	RDMACHAN_OPCODE_SHUTDOWN = 5,
	RDMACHAN_OPCODE_CANCEL = 6,
	RDMACHAN_OPCODE_READ = 7,
	RDMACHAN_OPCODE_WRITE = 8,
	RDMACHAN_OPCODE_FETCH_ADD = 9,
	RDMACHAN_OPCODE_COMPARE_SWAP = 10,
	RDMACHAN_OPCODE_RELEASE = 11,
	RDMACHAN_OPCODE_GRANT = 12,
	RDMACHAN_OPCODE_REVOKE = 13,
	RDMACHAN_OPCODE_FINISH = 14,
	RDMACHAN_OPCODE_MESSAGE = 15,
};

/**
 * enum rdmachan_sqe_flags - flags of a submission
 * @RDMACHAN_SQE_F_LINK: The next entry begins when this one has succeeded; if it fails,
 *	the next completes with -ECANCELED, and so does what that one is linked to. A
 *	chain ends with the last entry that one call of %RDMACHAN_ENTER takes. It is taken
 *	whole, when so many operations can begin, unless more are never under way at a time
 * @RDMACHAN_SQE_F_DRAIN: Begins when all that was submitted before has completed, and any that is
 *	submitted after it begins when it has completed. In a chain only on the first entry, for all
 *	of it. A CANCEL without this flag does not wait
 * @RDMACHAN_SQE_F_SKIP_SUCCESS: There is a completion only if the operation fails
 * @RDMACHAN_SQE_F_FENCE: Begins when all accesses (READ, WRITE, FETCH_ADD, COMPARE_SWAP) that
 *	were submitted before, for the same channel, have completed. For operations of channels
 *	but RECV
 * @RDMACHAN_SQE_F_REGION: SEND, RECV, READ and WRITE: addr counts from the beginning of the
 *	region whose number is region; with %RDMACHAN_RECV_F_MULTISHOT that of the pool's buffers
 * @RDMACHAN_SQE_F_IOV: SEND and RECV: the message is in pieces: addr is the address of an array of
 *	struct iovec, also with %RDMACHAN_SQE_F_REGION, and length is how many elements it has, 0 to
 *	1024. The array is copied when the entry is taken: from then on it is the program's again,
 *	but where a poller has found no memory there (%RDMACHAN_RING_F_ENTER): from a later call on.
 *	With %RDMACHAN_SQE_F_REGION each iov_base counts from the beginning of the region. Such a
 *	message is copied, unless a single piece has all of its bytes. Not with
 *	%RDMACHAN_RECV_F_MULTISHOT (EINVAL)
 */
enum rdmachan_sqe_flags {
	RDMACHAN_SQE_F_LINK = 1 << 0,
	RDMACHAN_SQE_F_DRAIN = 1 << 1,
	RDMACHAN_SQE_F_SKIP_SUCCESS = 1 << 2,
	RDMACHAN_SQE_F_FENCE = 1 << 3,
	RDMACHAN_SQE_F_REGION = 1 << 4,
	RDMACHAN_SQE_F_IOV = 1 << 5,
};

/**
 * enum rdmachan_send_flags - flags of SEND
 * @RDMACHAN_SEND_F_DELIVERED: Complete when the peer's program has received the message, as of
 *	%RDMACHAN_IO_F_DELIVERED. Operations behind it for the channel do not wait for that,
 *	unless %RDMACHAN_SQE_F_LINK or %RDMACHAN_SQE_F_DRAIN says so. Those of a channel
 *	complete in the order in which they were sent. A CANCEL, or its time, takes the message back
 *	as long as that can be, and else only ends the wait (%RDMACHAN_CQE_F_SENT)
 */
enum rdmachan_send_flags {
	RDMACHAN_SEND_F_DELIVERED = 1 << 0,
};

/**
 * enum rdmachan_recv_flags - flags of RECV
 * @RDMACHAN_RECV_F_MULTISHOT: Receive messages, one after the other, into buffers of the
 *	pool that is named; addr and length must be 0. Each completes with
 *	%RDMACHAN_CQE_F_MORE, and with %RDMACHAN_CQE_F_BUFFER if it is not empty. It ends
 *	with a completion without %RDMACHAN_CQE_F_MORE: at the end of what the peer sends,
 *	or with an error. It cannot have %RDMACHAN_SQE_F_LINK, though it may be the last of
 *	a chain, nor %RDMACHAN_SQE_F_SKIP_SUCCESS (EINVAL). With %RDMACHAN_SQE_F_REGION the
 *	buffers lie in the region. Messages are always copied into them
 * @RDMACHAN_RECV_F_GRANTS: The program knows grants: it takes messages that begin with events
 *	of grants, which have %RDMACHAN_CQE_F_GRANTS. Else RECV fails with ENOMSG, and they stay
 */
enum rdmachan_recv_flags {
	RDMACHAN_RECV_F_MULTISHOT = 1 << 0,
	RDMACHAN_RECV_F_GRANTS = 1 << 1,
};

/**
 * enum rdmachan_accept_flags - flags of ACCEPT, none of which is one of &enum rdmachan_fd_flags
 * @RDMACHAN_ACCEPT_F_MULTISHOT: Accept channels, one after the other. Each completes with its file
 *	descriptor and %RDMACHAN_CQE_F_MORE. While the completion ring is full channels wait with
 *	the listener. It ends with a completion without %RDMACHAN_CQE_F_MORE: when it was
 *	cancelled, or with an error, among them EMFILE and ENFILE: then the channel that was to be
 *	accepted goes on waiting. It cannot have %RDMACHAN_SQE_F_LINK, though it may be the last of
 *	a chain, nor %RDMACHAN_SQE_F_SKIP_SUCCESS (EINVAL)
 */
enum rdmachan_accept_flags {
	RDMACHAN_ACCEPT_F_MULTISHOT = 1 << 8,
};

/**
 * enum rdmachan_cancel_flags - flags of CANCEL
 * @RDMACHAN_CANCEL_F_ALL: all operations with that user data, not the first one only
 */
enum rdmachan_cancel_flags {
	RDMACHAN_CANCEL_F_ALL = 1 << 0,
};

/**
 * struct rdmachan_sqe - an entry of a submission ring
 * @opcode: &enum rdmachan_opcode
 * @flags: &enum rdmachan_sqe_flags
 * @__reserved: Must be 0
 * @fd: File descriptor of a channel or listener, or MESSAGE: of a queue; 0 for NOP, and -1 for
 *	CONNECT and CANCEL. It is looked up when the entry is taken or, where a poller cannot, in a
 *	later call
 * @addr: An address in the program
 * @operand: FETCH_ADD, COMPARE_SWAP: instead of @addr
 * @length: How many bytes are there; MESSAGE: result that is told
 * @compare: COMPARE_SWAP: instead of @length
 * @msg_flags: Message flags, at most %RDMACHAN_MSG_FLAGS_MASK
 * @op_flags: Flags that belong to the operation
 * @target: User data that is looked for; MESSAGE: that is told
 * @grant_offset: Where in the grant, instead of @target
 * @user_data: Comes back in the completion
 * @timeout_ms: How long the operation may wait, of any kind; 0 is without limit. Then it
 *	completes with -ETIMEDOUT. It counts from when it may begin: when those before it in
 *	its chain have succeeded and no DRAIN is in its way. Of an operation that completes
 *	more than once each completion begins it anew
 * @pool: Pool of buffers, as %RDMACHAN_POOL_CREATE has told
 * @region: Number of a region, with %RDMACHAN_SQE_F_REGION
 * @grant: Number of a grant that is held; REVOKE: that was given
 *
 * The memory at @addr must stay as it is until the operation has completed. So should the file
 * descriptor, as it is not known when it is looked up: with a poller, or when as many operations
 * are under way as can be, that is after %RDMACHAN_ENTER has returned.
 */
__extension__ struct rdmachan_sqe {
	__u8 opcode;
	__u8 flags;
	__u16 __reserved;
	__s32 fd;
	union {
		__aligned_u64 addr;
		__aligned_u64 operand;
	};
	union {
		__aligned_u64 length;
		__aligned_u64 compare;
	};
	__u32 msg_flags;
	__u32 op_flags;
	union {
		__aligned_u64 target;
		__aligned_u64 grant_offset;
	};
	__aligned_u64 user_data;
	__u32 timeout_ms;
	__u32 pool;
	__u32 region;
	__u32 grant;
};

/**
 * enum rdmachan_cqe_flags - flags of a completion
 * @RDMACHAN_CQE_F_MORE: further completions of the same entry will come
 * @RDMACHAN_CQE_F_EOF: RECV: the peer sends no more, and all was read
 * @RDMACHAN_CQE_F_BUFFER: RECV: a buffer was taken out of the pool: buffer tells which. The
 *	last completion has it, too, with -EFAULT and -ERANGE: the buffer is the program's again
 * @RDMACHAN_CQE_F_GRANTS: RECV: the message begins with events of grants
 * @RDMACHAN_CQE_F_MESSAGE: of no entry of this queue: a MESSAGE, of this queue or of another, has
 *	put it into the ring. user_data and res are what it says
 * @RDMACHAN_CQE_F_SENT: SEND with %RDMACHAN_SEND_F_DELIVERED that has failed: its message is sent,
 *	and may have been received, or may yet be received. If it has failed without this flag the
 *	message was not received, and never will be
 */
enum rdmachan_cqe_flags {
	RDMACHAN_CQE_F_MORE = 1 << 0,
	RDMACHAN_CQE_F_EOF = 1 << 1,
	RDMACHAN_CQE_F_BUFFER = 1 << 2,
	RDMACHAN_CQE_F_GRANTS = 1 << 3,
	RDMACHAN_CQE_F_MESSAGE = 1 << 4,
	RDMACHAN_CQE_F_SENT = 1 << 5,
};

/**
 * struct rdmachan_cqe - an entry of a completion ring
 * @user_data: That of the entry that was submitted
 * @res: What the operation succeeded with, or an errno below 0
 * @flags: &enum rdmachan_cqe_flags
 * @msg_flags: RECV: message flags given by the sender
 * @length: RECV: bytes of the message; with -EMSGSIZE as well: the bytes needed. FETCH_ADD and
 *	COMPARE_SWAP: the low 32 bits of what was there before
 * @buffer: With %RDMACHAN_CQE_F_BUFFER: id of the buffer. FETCH_ADD and COMPARE_SWAP: the high
 *	32 bits of what was there before. Else it must be ignored
 *
 * An operation fails with what the call of the same name fails with, and besides with:
 *
 *  - EBADF, ENOTTY: There is no such file descriptor, or it is of another kind. A queue
 *    is of another kind, but for MESSAGE.
 *  - EINVAL: A member that must be 0 is not, or one is out of its range.
 *  - EOPNOTSUPP: The operation or one of its flags is not known to this module.
 *  - ENOENT, EPERM: There is no such region, or it is another program's.
 *  - ERANGE: addr and length lie not within the region.
 *  - EACCES: RECV into a region that is %RDMACHAN_REGION_F_READ_ONLY.
 *  - ENOBUFS, ENOSPC: With %RDMACHAN_SQE_F_IOV: as many bytes as may be (%RDMACHAN_LIMIT_BYTES). An
 *    array of more than 15 elements takes 16 for each; one whose pieces are in a region takes 16
 *    for each piece that lies together in the machine's memory.
 *  - ETIMEDOUT: Its timeout ran out. Nothing was sent, received or accepted, but with
 *    %RDMACHAN_CQE_F_SENT.
 *  - ECANCELED: It was cancelled, or an entry before it in its chain has failed, or the
 *    program that made the queue is gone.
 *
 * RECV with %RDMACHAN_RECV_F_MULTISHOT ends with these as well:
 *
 *  - ENOENT: There is no such pool.
 *  - ENOBUFS: There is a message, and the pool is empty. The message stays; @length is
 *    what is needed.
 *  - EMSGSIZE: The message is larger than the next buffer. Both stay, so that the next RECV
 *    of that kind ends likewise: one without that flag, of @length bytes, receives it.
 *  - EFAULT: The memory of the buffer is bad. It was taken out of the pool
 *    (%RDMACHAN_CQE_F_BUFFER), and the message stays.
 *  - ERANGE: The buffer does not lie within the region. Likewise.
 */
struct rdmachan_cqe {
	__aligned_u64 user_data;
	__s64 res;
	__u32 flags;
	__u32 msg_flags;
	__u32 length;
	__u32 buffer;
};

/**
 * enum rdmachan_ring_flags - flags of a ring, written by the kernel; if not told
 *	otherwise of the completion ring
 * @RDMACHAN_RING_F_OVERFLOW: The ring was full, and completions, or messages that would
 *	make some, wait until there is room and the program calls %RDMACHAN_ENTER
 * @RDMACHAN_RING_F_ENTER: An operation goes on only in a call of %RDMACHAN_ENTER: one
 *	that makes a file descriptor, or needs memory of the program that is not present
 * @RDMACHAN_RING_F_WAKEUP: In the submission ring: the poller sleeps. Entries that are put
 *	in are taken after a call of %RDMACHAN_ENTER
 */
enum rdmachan_ring_flags {
	RDMACHAN_RING_F_OVERFLOW = 1 << 0,
	RDMACHAN_RING_F_ENTER = 1 << 1,
	RDMACHAN_RING_F_WAKEUP = 1 << 2,
};

/**
 * struct rdmachan_ring - where the parts of a ring are
 * @offset: Offset for mmap()
 * @length: Length for mmap(), which must be shared
 * @producer: Bytes from there to the producer index
 * @consumer: The same to the consumer index
 * @flags: The same to the flags: &enum rdmachan_ring_flags
 * @overflow: The same to the number of completions that found the ring full
 * @entries: The same to the first entry
 * @count: Number of entries
 * @stride: Bytes from an entry to the next: the size of entries that was asked for. A program goes
 *	by it and not by the size that it was compiled with
 * @__reserved: 0
 */
struct rdmachan_ring {
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 producer;
	__u32 consumer;
	__u32 flags;
	__u32 overflow;
	__u32 entries;
	__u32 count;
	__u32 stride;
	__u32 __reserved;
};

/** RDMACHAN_POLLER_IDLE_MAX - longest time that a poller looks in vain, milliseconds */
#define RDMACHAN_POLLER_IDLE_MAX	10000U

/**
 * enum rdmachan_queue_flags - flags of QUEUE_CREATE, with %RDMACHAN_FD_F_CLOEXEC
 * @RDMACHAN_QUEUE_F_POLLER: A thread of the kernel looks at the rings, so that no call is
 *	needed to have entries taken, for as long as it finds something to do. When it has
 *	not for the idle time it sleeps, and sets %RDMACHAN_RING_F_WAKEUP
 */
enum rdmachan_queue_flags {
	RDMACHAN_QUEUE_F_POLLER = 1 << 8,
};

/**
 * struct rdmachan_queue_create_args - ioctl(RDMACHAN_QUEUE_CREATE) on a context
 * @size: sizeof(struct rdmachan_queue_create_args)
 * @flags: %RDMACHAN_FD_F_CLOEXEC and &enum rdmachan_queue_flags
 * @sq_entries: Entries of the submission ring, &struct rdmachan_sqe: a power of two, at
 *	most %RDMACHAN_QUEUE_ENTRIES_MAX
 * @cq_entries: Entries of the completion ring, &struct rdmachan_cqe: the same. It is
 *	also the number of operations that can be under way at a time, those that wait
 *	included: a CANCEL needs one as well
 * @sqe_size: sizeof(struct rdmachan_sqe), at least that of the first version
 * @cqe_size: sizeof(struct rdmachan_cqe), likewise
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @out_fd: The queue's file descriptor
 * @idle_ms: With %RDMACHAN_QUEUE_F_POLLER: for how long it looks in vain before it
 *	sleeps, at most %RDMACHAN_POLLER_IDLE_MAX; 0 is 10. Else it must be 0
 * @out_sq: Submission ring
 * @out_cq: Completion ring
 *
 * The queue belongs to the memory of the program that makes it: another one that
 * inherits the descriptor can neither map it nor call %RDMACHAN_ENTER, but keeps it open
 * until it has closed the descriptor. The mappings, of pools as well, are not inherited over
 * fork(), and keep the queue open until they are unmapped.
 *
 * The queue becomes readable when the completion ring is not empty, or has one of &enum
 * rdmachan_ring_flags.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - E2BIG: also when entries are longer than the module knows, which cannot see beforehand that
 *    nothing is in their ends. Those of the first version are taken.
 *  - EDQUOT: The user has as many queues, or pollers, as one user may have
 *    (%RDMACHAN_CAUSE_USER_LIMIT).
 *  - ENOBUFS: The buffers and queues of the user would be larger than those of one user
 *    may be (%RDMACHAN_CAUSE_USER_BYTES).
 *  - ENOSPC: All users together have as many queues, or pollers, as may be
 *    (%RDMACHAN_CAUSE_TOTAL_LIMIT).
 */
struct rdmachan_queue_create_args {
	__u32 size;
	__u32 flags;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 sqe_size;
	__u32 cqe_size;
	__aligned_u64 error_ptr;
	__s32 out_fd;
	__u32 idle_ms;
	struct rdmachan_ring out_sq;
	struct rdmachan_ring out_cq;
};

#define RDMACHAN_QUEUE_CREATE _IO(RDMACHAN_TYPE, RDMACHAN_CMD_QUEUE_CREATE)

/**
 * enum rdmachan_enter_flags - flags of ENTER
 * @RDMACHAN_ENTER_F_WAKEUP: Wake the queue's poller; EINVAL when it has none
 */
enum rdmachan_enter_flags {
	RDMACHAN_ENTER_F_WAKEUP = 1 << 0,
};

/**
 * struct rdmachan_enter_args - ioctl(RDMACHAN_ENTER) on a queue
 * @size: sizeof(struct rdmachan_enter_args)
 * @flags: &enum rdmachan_enter_flags
 * @to_submit: Take at most so many entries of the submission ring. Fewer are taken when
 *	it has fewer, or as many operations are under way as can be: then others are taken
 *	while the call waits, when some have ended
 * @min_complete: Then wait until the completion ring has so many entries; at most its
 *	size
 * @timeout_ms: How long to wait; 0 is without limit
 * @__reserved: Must be 0
 * @out_submitted: Entries that were taken. Valid with ETIMEDOUT and EINTR too
 * @out_complete: Entries of the completion ring; valid with those too
 * @until: 0; see "rules of the interface"
 *
 * The error of a single entry is told by its completion, and not by this call.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - EINVAL: also when the producer index of the submission ring is further from the
 *    consumer index than the ring is long.
 *  - EPERM: The queue was made by another program.
 *  - EINTR: also after entries were taken; see @out_submitted.
 */
struct rdmachan_enter_args {
	__u32 size;
	__u32 flags;
	__u32 to_submit;
	__u32 min_complete;
	__u32 timeout_ms;
	__u32 __reserved;
	__u32 out_submitted;
	__u32 out_complete;
	__aligned_u64 until;
};

#define RDMACHAN_ENTER _IO(RDMACHAN_TYPE, RDMACHAN_CMD_ENTER)

/** RDMACHAN_QUEUE_POOLS_MAX - most pools of a queue */
#define RDMACHAN_QUEUE_POOLS_MAX	64U

/**
 * struct rdmachan_buffer - an entry of a pool's ring
 * @addr: Address of the buffer; or, for a RECV with %RDMACHAN_SQE_F_REGION, where it begins in the
 *	region
 * @length: Bytes of it
 * @id: Comes back in the completion of the message that was received into it
 */
struct rdmachan_buffer {
	__aligned_u64 addr;
	__u32 length;
	__u32 id;
};

/**
 * struct rdmachan_pool_create_args - ioctl(RDMACHAN_POOL_CREATE) on a queue
 * @size: sizeof(struct rdmachan_pool_create_args)
 * @flags: Must be 0
 * @entries: Entries of the pool's ring, &struct rdmachan_buffer: a power of two, at most
 *	%RDMACHAN_QUEUE_ENTRIES_MAX
 * @buffer_size: sizeof(struct rdmachan_buffer), at least that of the first version
 * @error_ptr: Address of a &struct rdmachan_error, or 0
 * @out_pool: The pool's number, from 0
 * @__reserved: Must be 0
 * @out_ring: Its ring, for mmap() on the queue; it has neither flags nor overflow
 *
 * A pool has buffers that the program gives away to be received into. The program puts
 * them into the ring, without a call, and the kernel takes them, the first one first. It
 * is empty at the beginning, belongs to the queue, and ends with it.
 *
 * A buffer is the kernel's from when it was put in, until a completion tells its id.
 * The kernel copies the entry when there is a message for it.
 *
 * A pool of as many buffers as the completion ring has entries, and as the program keeps besides
 * after it has moved the ring's consumer index, never runs empty. While the ring is full no message
 * takes a buffer.
 *
 * Errors, besides those of "rules of the interface":
 *
 *  - E2BIG: also when entries are longer than the module knows.
 *  - EPERM: The queue was made by another program.
 *  - ENOBUFS: The buffers and queues of the user would be larger than those of one user
 *    may be (%RDMACHAN_CAUSE_USER_BYTES).
 *  - ENOSPC: Those of all users together would (%RDMACHAN_CAUSE_TOTAL_LIMIT), or the queue has
 *    %RDMACHAN_QUEUE_POOLS_MAX pools.
 */
struct rdmachan_pool_create_args {
	__u32 size;
	__u32 flags;
	__u32 entries;
	__u32 buffer_size;
	__aligned_u64 error_ptr;
	__u32 out_pool;
	__u32 __reserved;
	struct rdmachan_ring out_ring;
};

#define RDMACHAN_POOL_CREATE _IO(RDMACHAN_TYPE, RDMACHAN_CMD_POOL_CREATE)

/**
 * DOC: sizes of first versions
 *
 * For each structure there is the size of its first version. A program that is compiled with
 * members that came later uses it to speak to a module of that version.
 *
 * A structure that begins with its size may grow at its end. So may one whose size is told
 * elsewhere: devices, objects, ranges, entries of rings. No other may: neither one that is part of
 * others (addresses, use, tuning, rings) nor an event of grants.
 */

#define RDMACHAN_ADDR_SIZE_1			28
#define RDMACHAN_ERROR_SIZE_1			200
#define RDMACHAN_DEVICE_SIZE_1			152
#define RDMACHAN_USE_SIZE_1			40
#define RDMACHAN_INFO_SIZE_1			640
#define RDMACHAN_TUNING_SIZE_1			16
#define RDMACHAN_LISTEN_SIZE_1			72
#define RDMACHAN_ACCEPT_SIZE_1			64
#define RDMACHAN_CONNECT_SIZE_1			112
#define RDMACHAN_SEND_SIZE_1			56
#define RDMACHAN_RECV_SIZE_1			56
#define RDMACHAN_SHUTDOWN_SIZE_1		8
#define RDMACHAN_FINISH_SIZE_1			32
#define RDMACHAN_TUNE_SIZE_1			24
#define RDMACHAN_BUSY_POLL_SIZE_1		8
#define RDMACHAN_OBJECT_SIZE_1			448
#define RDMACHAN_QUERY_SIZE_1			32
#define RDMACHAN_LIST_SIZE_1			40
#define RDMACHAN_REGION_REGISTER_SIZE_1		40
#define RDMACHAN_REGION_UNREGISTER_SIZE_1	16
#define RDMACHAN_GRANT_RANGE_SIZE_1		48
#define RDMACHAN_GRANT_SIZE_1			64
#define RDMACHAN_GRANT_EVENT_SIZE_1		32
#define RDMACHAN_RELEASE_SIZE_1			16
#define RDMACHAN_REVOKE_SIZE_1			32
#define RDMACHAN_ACCESS_SIZE_1			72
#define RDMACHAN_ATOMIC_SIZE_1			56
#define RDMACHAN_SQE_SIZE_1			64
#define RDMACHAN_CQE_SIZE_1			32
#define RDMACHAN_RING_SIZE_1			48
#define RDMACHAN_QUEUE_CREATE_SIZE_1		136
#define RDMACHAN_ENTER_SIZE_1			40
#define RDMACHAN_BUFFER_SIZE_1			16
#define RDMACHAN_POOL_CREATE_SIZE_1		80

#endif /* _UAPI_RDMACHAN_H */
