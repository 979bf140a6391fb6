/* SPDX-License-Identifier: MIT */
/*
 * librdmachan.h - message channels over RDMA, for programs in C and C++
 *
 * A thin layer over the ioctls of /dev/rdmachan (linux/rdmachan.h). It adds what
 * every program would write again: host names, buffers that grow, and words for
 * what went wrong.
 *
 *	int ctx = rdmachan_open(&err);
 *	int chan = ctx < 0 ? -1 : rdmachan_connect_host(ctx, "db1", 5000, NULL, &err);
 *
 *	if (chan < 0) {
 *		rdmachan_explain(&err, text, sizeof(text));
 *		fputs(text, stderr);
 *	}
 *	rdmachan_send(chan, "hello", 5, NULL);
 *
 * Which part a program needs:
 *
 *  - Calls: one request and its answer, a stream of messages, a thread or an event loop for
 *    each few channels. Begin here. "The context", "Listeners and channels" and "Messages" are
 *    all that is needed, and read(), write() and poll() do for a part of that.
 *  - A queue: many channels in one thread, many messages with one call, time-outs and cancelling
 *    of each. "Queues".
 *  - Regions: large messages (32 KiB and more) that are not copied. They are of use with a queue,
 *    and for grants. "Regions".
 *  - A poller: a queue that a thread of the kernel looks at (rdmachan_queue_open_polled()): the
 *    least time for a message, at the price of a processor.
 *  - Grants: the peer reads, writes or counts in memory of this program while that does nothing.
 *    "Grants".
 *
 * Names begin with what they act on: rdmachan_region_, rdmachan_grant_, rdmachan_queue_,
 * rdmachan_pool_, rdmachan_sqe_ (an entry of a queue), rdmachan_cqe_ (a completion) and
 * rdmachan_addr_. What acts on a context, a listener, a channel or an error record has none of
 * these. rdmachan_queue_prep_X() prepares an entry that does what rdmachan_X() does.
 *
 * Conventions of all functions:
 *
 *  - Those that make a file descriptor return it, the others 0 or a number told there; -1 is
 *    failure, with errno set. linux/rdmachan.h lists the errors.
 *  - @err may be NULL. Otherwise it is filled in on failure and needs no
 *    preparation: &rdmachan_error.cause tells why, rdmachan_explain() in words.
 *    A failure that has nothing to do with the connection (say, EINVAL) has
 *    %RDMACHAN_CAUSE_NONE and its errno in &rdmachan_error.error. Functions without @err do not
 *    fail, or only look at memory of the program and tell by errno.
 *  - Options may be NULL, which stands for the defaults. Otherwise they begin
 *    with their size; initialise them with the ``_INIT`` macros.
 *  - close() does not wake threads in calls on the descriptor, as with sockets: the
 *    channel or listener lives on until they return. To have them return first,
 *    rdmachan_shutdown() the channel. A thread that waits for a listener or a queue waits in
 *    poll() instead, for an eventfd besides.
 *  - There is no state outside of the arguments: everything may be called from
 *    many threads, and two threads may send and receive on one channel at once. A
 *    queue and its pools are such arguments, and are not locked: one thread at a
 *    time may use them. "Threads" and "Fork" tell it for each function. The library
 *    starts no thread and leaves nothing behind: dlclose() may unload it when no
 *    thread is in one of its functions. Queues and pools are to be closed before.
 *  - File descriptors are ordinary ones: poll(), epoll, close(), fork() and
 *    SCM_RIGHTS work, and so do read() and write(), one message each. A queue and
 *    a region serve only the program that has made them: to another one that has
 *    the descriptor their functions give EPERM. See "Queues", below, for fork().
 */
#ifndef LIBRDMACHAN_H
#define LIBRDMACHAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/rdmachan.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * RDMACHAN_VERSION_MAJOR - version of this header: that of the library it came with
 *
 * With the major version the interface changes, and the name of the shared library with it. With
 * the minor version there is more. RDMACHAN_VERSION_PATCH is of corrections.
 */
#define RDMACHAN_VERSION_MAJOR	0
#define RDMACHAN_VERSION_MINOR	1
#define RDMACHAN_VERSION_PATCH	0

/** RDMACHAN_VERSION_NUMBER - a version as a number, as rdmachan_version() returns it */
#define RDMACHAN_VERSION_NUMBER(major, minor, patch) \
	((major) * 1000000 + (minor) * 1000 + (patch))

/** RDMACHAN_VERSION - that of this header, as a number */
#define RDMACHAN_VERSION \
	RDMACHAN_VERSION_NUMBER(RDMACHAN_VERSION_MAJOR, RDMACHAN_VERSION_MINOR, \
				RDMACHAN_VERSION_PATCH)

/** RDMACHAN_VERSION_AT_LEAST - whether this header is of that version or of a later one */
#define RDMACHAN_VERSION_AT_LEAST(major, minor) \
	(RDMACHAN_VERSION_NUMBER(major, minor, 0) <= RDMACHAN_VERSION)

/** RDMACHAN_DEVICE_PATH - the device that rdmachan_open() opens */
#define RDMACHAN_DEVICE_PATH	"/dev/rdmachan"

/** RDMACHAN_SERVICE_MAX - largest service number */
#define RDMACHAN_SERVICE_MAX	0xfffffffeU

/** RDMACHAN_EXPLAIN_MAX - a buffer of this size holds every explanation */
#define RDMACHAN_EXPLAIN_MAX	2048

/** RDMACHAN_ADDR_MAX - a buffer of this size holds every address as text */
#define RDMACHAN_ADDR_MAX	96

/**
 * struct rdmachan_options - how to make a listener or a channel
 * @size: sizeof(struct rdmachan_options)
 * @flags: &enum rdmachan_fd_flags; for rdmachan_connect() also &enum rdmachan_connect_flags
 * @timeout_ms: How long to wait; 0 is the default of the call: without limit for
 *	rdmachan_accept(), that of the module for rdmachan_connect()
 * @backlog: Channels that may wait at a listener, 0 is 128
 * @port: Port of the module at the host, for rdmachan_connect_host();
 *	0 is %RDMACHAN_PORT
 * @tuning: Sizes and times of the channel; zeros are the defaults
 * @traffic_class: Of packets, for rdmachan_connect(): see &struct rdmachan_connect_args
 * @local: Local address: that at which alone peers reach a listener, or from which a channel
 *	connects; zeros: any. rdmachan_addr_from_sockaddr() makes it of another; its port is 0
 */
struct rdmachan_options {
	size_t size;
	uint32_t flags;
	uint32_t timeout_ms;
	uint32_t backlog;
	uint32_t port;
	struct rdmachan_tuning tuning;
	uint32_t traffic_class;
	struct rdmachan_addr local;
};

#define RDMACHAN_OPTIONS_INIT \
	{ sizeof(struct rdmachan_options), RDMACHAN_FD_F_CLOEXEC, 0, 0, 0, { 0, 0, 0, 0 }, 0, \
	  { 0, 0, 0, { 0 }, 0 } }

/**
 * struct rdmachan_transfer - how to send or receive one message
 * @size: sizeof(struct rdmachan_transfer)
 * @flags: &enum rdmachan_io_flags
 * @timeout_ms: How long to wait, 0 is without limit
 * @msg_flags: 16 bits that travel with the message and belong to the two
 *	programs: taken by rdmachan_sendv(), filled in by rdmachan_recvv()
 * @reserved: Must be 0
 * @length: Bytes of the message, filled in by rdmachan_recvv(), also when it
 *	fails with EMSGSIZE: the bytes needed
 */
struct rdmachan_transfer {
	size_t size;
	uint32_t flags;
	uint32_t timeout_ms;
	uint32_t msg_flags;
	uint32_t reserved;
	uint64_t length;
};

#define RDMACHAN_TRANSFER_INIT \
	{ sizeof(struct rdmachan_transfer), 0, 0, 0, 0, 0 }

/** RDMACHAN_OP_LIBRARY - &rdmachan_error.op is of &enum rdmachan_library_op from here on */
#define RDMACHAN_OP_LIBRARY	0x10000U

/**
 * enum rdmachan_library_op - what was tried, where the library makes the error record
 * @RDMACHAN_OP_DEVICE: opening the device
 * @RDMACHAN_OP_ASK: asking the module, or listing
 * @RDMACHAN_OP_ACCEPT: accepting a channel
 * @RDMACHAN_OP_SHUTDOWN: shutting a channel down
 * @RDMACHAN_OP_UNREGISTER: letting a region go
 * @RDMACHAN_OP_QUEUE: making or using a queue or a pool
 *
 * The module makes a record of calls that have to do with a connection, and has numbers of its own
 * (&enum rdmachan_op). A record of other calls tells the operation and errno, and nothing else.
 */
enum rdmachan_library_op {
	RDMACHAN_OP_DEVICE = 0x10000,
	RDMACHAN_OP_ASK = 0x10001,
	RDMACHAN_OP_ACCEPT = 0x10002,
	RDMACHAN_OP_SHUTDOWN = 0x10003,
	RDMACHAN_OP_UNREGISTER = 0x10004,
	RDMACHAN_OP_QUEUE = 0x10005,
};

/* The context - lib/context.c */

/**
 * rdmachan_version() - version of the library that the program runs with
 *
 * It may be a later one than that of the header that the program was compiled with:
 *
 *	if (rdmachan_version() >= RDMACHAN_VERSION_NUMBER(0, 2, 0))
 *		use_what_came_with(0, 2);
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: %RDMACHAN_VERSION_NUMBER of it.
 */
int rdmachan_version(void);

/**
 * rdmachan_open() - get a context
 * @err: why it failed, or NULL
 *
 * Opens %RDMACHAN_DEVICE_PATH, close-on-exec. close() it when it is not needed
 * any more; listeners and channels made from it live on.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: file descriptor, or -1. ENOENT: the module is not loaded. EACCES: the
 * program's user may not use the device. EDQUOT, ENOSPC: there are as many contexts
 * as may be. EMFILE, ENFILE: no file descriptor is left.
 */
int rdmachan_open(struct rdmachan_error *err);

/**
 * rdmachan_get_info() - ask the module about itself
 * @ctx: context
 * @info: filled in
 * @devices: array for the ports of RDMA devices, or NULL
 * @max: elements of @devices
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: number of elements of @devices that were filled in, or -1.
 * &rdmachan_info.out_devices tells how many there are. ENOTTY: @ctx is no context.
 */
int rdmachan_get_info(int ctx, struct rdmachan_info *info, struct rdmachan_device *devices,
		      unsigned int max, struct rdmachan_error *err);

/**
 * rdmachan_list() - list listeners, channels, links, queues, regions and grants
 * @ctx: context
 * @flags: &enum rdmachan_list_flags
 * @after: 0 to begin, then the id of the last object that was returned
 * @objects: array that is filled in
 * @max: elements of @objects, 1 to 65536
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: number of objects that were filled in; below @max there are no more.
 * -1 on failure; EPERM: %RDMACHAN_LIST_F_ALL without CAP_NET_ADMIN; EINVAL: @max is out of its
 * range.
 */
int rdmachan_list(int ctx, uint32_t flags, uint64_t after, struct rdmachan_object *objects,
		  unsigned int max, struct rdmachan_error *err);

/**
 * rdmachan_list_each() - call a function for each object that rdmachan_list() lists
 * @ctx: context
 * @flags: &enum rdmachan_list_flags
 * @each: called with one object and @arg; a value other than 0 ends the walk
 * @arg: passed to @each
 * @err: why it failed, or NULL
 *
 * Threads: any at once. @each runs in the one that calls. Fork: a child may call it.
 *
 * Return: 0, the value with which @each ended the walk, or -1 as rdmachan_list(). ENOMEM: there is
 * no memory.
 */
int rdmachan_list_each(int ctx, uint32_t flags,
		       int (*each)(const struct rdmachan_object *object, void *arg), void *arg,
		       struct rdmachan_error *err);

/* Listeners and channels - lib/channel.c */

/**
 * rdmachan_listen() - accept channels for a service
 * @ctx: context
 * @service: 1 to %RDMACHAN_SERVICE_MAX
 * @options: flags, backlog, tuning and local are used; or NULL
 * @err: why it failed, or NULL
 *
 * The listener is readable (poll()) when a channel waits to be accepted. With local in @options
 * peers reach it at that address alone, and other listeners may have the service at other
 * addresses; without, it has the service at all addresses.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: the listener, or -1. EADDRINUSE: somebody listens for the service at one of the
 * addresses already, or another program has the module's port. EADDRNOTAVAIL: this host has not
 * the address local, or no RDMA device serves it. EACCES: the service is below
 * %RDMACHAN_SERVICE_PRIVILEGED. EINVAL: @service, backlog, a member of tuning or local is out
 * of its range. EAFNOSUPPORT: local is neither IPv4 nor IPv6. EDQUOT, ENOSPC: there are as many
 * listeners as may be (@err has the cause). EMFILE, ENFILE: no file descriptor is left.
 */
int rdmachan_listen(int ctx, uint32_t service, const struct rdmachan_options *options,
		    struct rdmachan_error *err);

/**
 * rdmachan_accept() - take the next channel of a listener
 * @listener: listener
 * @options: flags and timeout_ms are used; or NULL
 * @peer: the peer's address, or NULL
 * @peer_claimed_uid: user id of the peer's program as its host claims, which nothing proves; or
 *	NULL
 * @err: why it failed, or NULL
 *
 * A thread that waits here is not woken when another closes the listener, and goes on to
 * accept channels: see the conventions at the beginning.
 *
 * Threads: any at once. Each channel goes to one of them. Fork: a child may call it.
 *
 * Return: the channel, or -1. EAGAIN: none waits, and the listener has
 * O_NONBLOCK. ETIMEDOUT: none came in time. EINTR: a handler ran first. EMFILE,
 * ENFILE: no file descriptor is left; the channel goes on waiting.
 */
int rdmachan_accept(int listener, const struct rdmachan_options *options,
		    struct rdmachan_addr *peer, uint32_t *peer_claimed_uid,
		    struct rdmachan_error *err);

/**
 * rdmachan_connect() - open a channel to a service at an address
 * @ctx: context
 * @addr: struct sockaddr_in or sockaddr_in6; its port is that of the module at
 *	the peer, 0 for %RDMACHAN_PORT
 * @addr_len: bytes of it
 * @service: service at the peer
 * @options: flags, timeout_ms, tuning, traffic_class and local are used; or NULL
 * @err: why it failed, or NULL
 *
 * With %RDMACHAN_FD_F_NONBLOCK the channel is returned at once. It becomes
 * writable when it is open or has failed; rdmachan_connected() tells which. With
 * %RDMACHAN_CONNECT_F_EARLY it is returned at once as well, and messages may be sent meanwhile, up
 * to %RDMACHAN_EARLY_BYTES: they go with the request to open it, and so does the end behind them
 * (rdmachan_shutdown(), rdmachan_finish()).
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: the channel, or -1. ECONNREFUSED: nobody listens there, or the peer has
 * refused; EHOSTUNREACH: no such host; ENODEV: no RDMA device leads there; EHOSTDOWN: no
 * answer; ETIMEDOUT: none in time; ECONNRESET, EPROTO: the connection has failed while it was
 * made; EINTR: a handler ran first, and it is given up; EDQUOT, ENOSPC, ENOBUFS: limits of the
 * user or of all; EMFILE, ENFILE: no file descriptor is left; EADDRNOTAVAIL: this host has not the
 * address local of @options, or no RDMA device serves it; EAFNOSUPPORT: an address is neither IPv4
 * nor IPv6; EINVAL: @addr is too short or names no host, local is of another family, or a value is
 * out of its range. @err has the cause of all but EINTR, EAFNOSUPPORT, EINVAL, EMFILE and ENFILE.
 */
int rdmachan_connect(int ctx, const struct sockaddr *addr, socklen_t addr_len, uint32_t service,
		     const struct rdmachan_options *options, struct rdmachan_error *err);

/**
 * rdmachan_connect_host() - open a channel to a service at a host
 * @ctx: context
 * @host: name, IPv4 or IPv6 address; a link-local IPv6 address with its
 *	interface, as "fe80::1%eth0"
 * @service: service at the host
 * @options: flags, timeout_ms, port, tuning, traffic_class and local are used; or NULL
 * @err: why it failed, or NULL
 *
 * Tries the addresses of the host in their order until one answers; each try has
 * the whole timeout. With local in @options those of its family are tried. With
 * %RDMACHAN_FD_F_NONBLOCK or %RDMACHAN_CONNECT_F_EARLY only the first is tried.
 *
 * Threads: any at once. Fork: a child may call it. In one of a program with several threads,
 * getaddrinfo() is not safe.
 *
 * Return: as rdmachan_connect(). A name that has no address gives EHOSTUNREACH,
 * with %RDMACHAN_CAUSE_ADDRESS and no peer address in @err.
 */
int rdmachan_connect_host(int ctx, const char *host, uint32_t service,
			  const struct rdmachan_options *options, struct rdmachan_error *err);

/**
 * rdmachan_connected() - ask how a connect without blocking has ended
 * @chan: channel
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 when the channel is open (or was, and has ended by a close), -1 otherwise.
 * EINPROGRESS: it is still being connected; others as rdmachan_connect(), or the errno of its end.
 */
int rdmachan_connected(int chan, struct rdmachan_error *err);

/**
 * rdmachan_shutdown() - end one or both directions
 * @chan: channel
 * @how: &enum rdmachan_shutdown_how: one or both directions, or %RDMACHAN_SHUTDOWN_ABORT
 * @err: why it failed, or NULL
 *
 * After %RDMACHAN_SHUTDOWN_SEND the peer reads what was sent and then finds the
 * end; rdmachan_finish() waits for that. %RDMACHAN_SHUTDOWN_ABORT ends the channel at once: data
 * under way is thrown away, and the peer's program is told that the channel was reset.
 *
 * It wakes threads that wait in calls on the channel: those that receive find the end (0),
 * and those that send EPIPE. Operations of queues complete likewise. A message that is just being
 * moved goes on, and is waited for. To close a channel that other threads use, shut both directions
 * down, wait for these threads, and close it then.
 *
 * While a channel is being connected with %RDMACHAN_CONNECT_F_EARLY, sending ends behind the
 * messages that were sent, and the peer's program finds the end with them.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. ENOTCONN: the channel has failed; or it is still being connected, without
 * %RDMACHAN_CONNECT_F_EARLY or with %RDMACHAN_SHUTDOWN_ABORT; EINVAL: @how is something else;
 * EINTR: the handler of a signal ran; it may be called again.
 */
int rdmachan_shutdown(int chan, uint32_t how, struct rdmachan_error *err);

/**
 * rdmachan_finish() - send no more, and wait until the peer's program has received everything
 * @chan: channel
 * @timeout_ms: how long to wait; 0 is without limit
 * @err: why it failed, or NULL
 *
 * The peer's program has received everything when it has found the end, or when it has received
 * all messages and closes the channel. It need not know of this call. Only after this call has
 * succeeded does a program know that nothing it has sent is lost. A send that succeeds, and
 * close(), say that the module will deliver the message as long as both hosts live.
 *
 * Messages can be received meanwhile by another thread, and afterwards. poll() shows POLLPRI
 * when a call would not wait, after rdmachan_shutdown() for sending.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. EPIPE: the peer's program has closed the channel or reads no more, and has not
 * received all; the detail in @err is the number of messages that are missing. Or this program has
 * ended the channel. EAGAIN: the channel has O_NONBLOCK, and the peer's program has not yet
 * received all. ETIMEDOUT: it has not within the time; the call can be repeated. EINTR: a handler
 * ran first. ENOTCONN: the channel is still being connected, without %RDMACHAN_CONNECT_F_EARLY.
 * ECONNRESET, EHOSTDOWN, ECONNREFUSED and others with a cause in @err: the connection has ended, or
 * there was none.
 */
int rdmachan_finish(int chan, uint32_t timeout_ms, struct rdmachan_error *err);

/**
 * rdmachan_tune() - change the buffers and the linger time of an open channel
 * @chan: channel
 * @tuning: send_buffer, recv_buffer and linger_ms, as of rdmachan_connect(); 0 leaves one as it is.
 *	message_max must be 0: the peer was told of it when the channel was opened
 * @err: which limit it was, or NULL
 *
 * A buffer that grows has more room at once. One that becomes smaller loses nothing: its messages
 * stay, and no more are taken until they fit. rdmachan_query() tells the values. Other threads and
 * programs may use the channel meanwhile.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1, and then nothing has changed. EINVAL: a value is out of its range; ENOTCONN: the
 * channel is still being connected, or has failed; ENOBUFS, ENOSPC: limits of the user or of all.
 */
int rdmachan_tune(int chan, const struct rdmachan_tuning *tuning, struct rdmachan_error *err);

/**
 * rdmachan_busy_poll() - look for a while before sleeping
 * @fd: channel, or a queue's file descriptor (rdmachan_queue_fd())
 * @usecs: for how many microseconds, at most %RDMACHAN_BUSY_POLL_MAX; 0: not at all
 * @err: why it failed, or NULL
 *
 * Calls that wait on @fd look for so long before they sleep, unless another thread wants
 * the processor: an answer that comes soon finds them awake.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. EINVAL: @usecs is too large.
 */
int rdmachan_busy_poll(int fd, uint32_t usecs, struct rdmachan_error *err);

/**
 * rdmachan_query() - ask about one channel, listener, queue or context
 * @fd: its file descriptor
 * @object: filled in, or NULL
 * @last: its last error record, or NULL
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. ENOTTY: @fd is none of these.
 */
int rdmachan_query(int fd, struct rdmachan_object *object, struct rdmachan_error *last,
		   struct rdmachan_error *err);

/* Messages - lib/message.c */

/**
 * rdmachan_send() - send one message
 * @chan: channel
 * @data: the message
 * @length: its bytes, up to %RDMACHAN_MESSAGE_MAX
 * @err: why it failed, or NULL
 *
 * The message is sent whole or not at all.
 *
 * Threads: any at once. Messages stay whole. Fork: a child may call it.
 *
 * Return: 0 or -1. EPIPE: the peer closed or reads no more (there is no
 * SIGPIPE), or this end was shut down for sending; EMSGSIZE with
 * %RDMACHAN_CAUSE_MESSAGE_SIZE in @err: the peer does not take messages of that
 * size; EMSGSIZE with %RDMACHAN_CAUSE_SEND_BUFFER: the channel has O_NONBLOCK and
 * the message is larger than its send buffer, so that only a call that waits
 * sends it; EAGAIN: there is no room now, and the channel has O_NONBLOCK;
 * ENOTCONN: it is still being connected, and has O_NONBLOCK; EINTR: a handler
 * ran first; ECONNRESET, EHOSTDOWN and others with a cause in @err: the
 * connection has ended.
 */
int rdmachan_send(int chan, const void *data, size_t length, struct rdmachan_error *err);

/**
 * rdmachan_sendv() - send one message from several pieces
 * @chan: channel
 * @iov: the pieces
 * @count: their number, 0 to 1024
 * @transfer: flags, timeout_ms and msg_flags are used; or NULL
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Messages stay whole. Fork: a child may call it.
 *
 * Return: as rdmachan_send(), where %RDMACHAN_IO_F_DONTWAIT does for one call what
 * O_NONBLOCK does for all; ETIMEDOUT: there was no room in time, nothing
 * was sent, and the channel is as it was. EINVAL: @count or msg_flags is out of its range.
 */
int rdmachan_sendv(int chan, const struct iovec *iov, unsigned int count,
		   const struct rdmachan_transfer *transfer, struct rdmachan_error *err);

/**
 * rdmachan_deliver() - send one message, and wait until the peer's program has received it
 * @chan: channel
 * @iov: the pieces of the message
 * @count: their number, 0 to 1024
 * @transfer: timeout_ms and msg_flags are used, flags must be 0; or NULL
 * @number: set to the number of the message among those sent on the channel, from 1 on; 0: it was
 *	not received, and never will be; or NULL
 * @err: why it failed, or NULL
 *
 * The peer's program has received a message when a call there has returned it, or a RECV of a queue
 * has completed with it. It need not know of this call. The time that @transfer allows is for
 * sending and for that.
 *
 * When it fails, and @number is not 0, the message is sent. It may have been received, or may yet
 * be received: to send it again would be to send it twice.
 *
 * Threads: any at once. Messages stay whole. Fork: a child may call it.
 *
 * Return: as rdmachan_sendv(); EPIPE: also when the peer's program has closed the channel, or reads
 * no more, and has not received the message (the detail in @err is the number of messages that are
 * missing). EINVAL: also when the channel has O_NONBLOCK. EOPNOTSUPP: the peer's module cannot
 * tell. ETIMEDOUT and EINTR: also when the message is sent, and not yet received.
 */
int rdmachan_deliver(int chan, const struct iovec *iov, unsigned int count,
		     const struct rdmachan_transfer *transfer, uint64_t *number,
		     struct rdmachan_error *err);

/**
 * rdmachan_recv() - receive one message
 * @chan: channel
 * @buffer: where to put it
 * @size: bytes of @buffer
 * @length: bytes of the message, also when it is too large; or NULL
 * @err: why it failed, or NULL
 *
 * A thread that waits here is not woken when another closes the channel: use
 * rdmachan_shutdown().
 *
 * Threads: any at once. Each message goes to one of them. Fork: a child may call it.
 *
 * Return: 1 when a message was received (which may be empty), 0 when the peer
 * sends no more and everything was read, or this end was shut down for receiving, -1
 * on failure. EMSGSIZE: the message is larger than @size; it stays, @length tells what
 * is needed. ENOMSG: the message begins with events of grants, as after
 * rdmachan_grant_revoke() by this program too; it stays, for rdmachan_recv_events(). EAGAIN:
 * there is no message and the channel has O_NONBLOCK. ENOTCONN: it is still being
 * connected, and has O_NONBLOCK. EINTR: a handler ran first. EFAULT: @buffer is bad; the
 * message stays. ENOBUFS, ENOSPC: the channel has failed, as a message that was coming
 * may not be kept. ECONNRESET, EHOSTDOWN and others with a cause in @err: the
 * connection has ended.
 */
int rdmachan_recv(int chan, void *buffer, size_t size, size_t *length,
		  struct rdmachan_error *err);

/**
 * rdmachan_recvv() - receive one message into several pieces
 * @chan: channel
 * @iov: the pieces
 * @count: their number, 0 to 1024
 * @transfer: flags and timeout_ms are used, msg_flags and length are filled in;
 *	or NULL
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Each message goes to one of them. Fork: a child may call it.
 *
 * Return: as rdmachan_recv(); ETIMEDOUT: no message came in time.
 * EINVAL: @count is out of its range.
 */
int rdmachan_recvv(int chan, const struct iovec *iov, unsigned int count,
		   struct rdmachan_transfer *transfer, struct rdmachan_error *err);

/**
 * rdmachan_recv_grow() - receive one message of any size
 * @chan: channel
 * @buffer: where to put it: from malloc(), or *@buffer is NULL; made larger by
 *	realloc() as needed. The caller frees it, also after a failure
 * @size: bytes of *@buffer
 * @transfer: flags and timeout_ms are used, msg_flags and length are filled in;
 *	may not be NULL
 * @err: why it failed, or NULL
 *
 * What getline() is for lines. The peer decides how large *@buffer becomes, up to
 * &rdmachan_tuning.message_max of the channel. One thread at a time may receive.
 *
 * Threads: one at a time receives on a channel. Others may send. Fork: a child may call it.
 *
 * Return: as rdmachan_recv(), without EMSGSIZE; ENOMEM: there is no memory for the message, which
 * stays.
 */
int rdmachan_recv_grow(int chan, void **buffer, size_t *size,
		       struct rdmachan_transfer *transfer, struct rdmachan_error *err);

/* Regions - lib/region.c */

/**
 * rdmachan_region_register() - have memory stay where it is, for a queue's messages, or to lend
 * @ctx: context
 * @addr: where
 * @length: bytes
 * @flags: &enum rdmachan_region_flags
 * @region: set to its number
 * @err: why it failed, or NULL
 *
 * It counts as locked memory (RLIMIT_MEMLOCK).
 *
 * Threads: any at once. Fork: a child may register memory of its own.
 *
 * Return: 0 or -1. ENOMEM with %RDMACHAN_CAUSE_MEMLOCK in @err: the limit of locked memory
 * is too small; EOPNOTSUPP: such memory cannot stay; EFAULT: there is none, or it cannot be
 * written to and @flags do not say so; EINVAL: @length is 0, or that is no range of addresses;
 * EDQUOT, ENOSPC: there are as many regions as may be.
 */
int rdmachan_region_register(int ctx, const void *addr, size_t length, uint32_t flags,
			     uint32_t *region, struct rdmachan_error *err);

/**
 * rdmachan_region_unregister() - let it go
 * @ctx: context
 * @region: number of the region
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child has no regions of its parent (EPERM).
 *
 * Return: 0 or -1. EBUSY: operations that use it have not completed, or it is lent; ENOENT: there
 * is no such region; EPERM: another program has registered it, as the parent of this one.
 */
int rdmachan_region_unregister(int ctx, uint32_t region, struct rdmachan_error *err);

/**
 * rdmachan_region_take_back() - revoke all grants of a region, then let it go
 * @ctx: context
 * @region: number of the region
 * @err: why it failed, or NULL
 *
 * Waits as rdmachan_grant_revoke() does, and as there each grant leaves an event on its channel.
 *
 * Threads: any at once. Fork: a child has no regions of its parent (EPERM).
 *
 * Return: 0 or -1. EBUSY: operations of a queue that use it have not completed, or it was lent
 * anew; EINTR: a handler ran first: revoking goes on, and the region stays; ENOENT and EPERM: as
 * rdmachan_region_unregister().
 */
int rdmachan_region_take_back(int ctx, uint32_t region, struct rdmachan_error *err);

/* Grants: memory that is lent to a peer - lib/grant.c */

/**
 * struct rdmachan_events - a message, and the events that it begins with
 * @events: the events, in the buffer that was received into
 * @count: how many there are; 0 with an ordinary message
 * @message: the rest of the message
 * @length: bytes of it
 */
struct rdmachan_events {
	const struct rdmachan_grant_event *events;
	unsigned int count;
	void *message;
	size_t length;
};

/**
 * rdmachan_grant_lend() - lend a piece of a region to the peer
 * @chan: channel
 * @ctx: context that the region belongs to
 * @range: the memory to lend, and its rights; &rdmachan_grant_range.out_grant is filled in
 * @err: why it failed, or NULL
 *
 *	struct rdmachan_grant_range range = {
 *		.region = region,
 *		.length = 1024,
 *		.rights = RDMACHAN_RIGHT_READ,
 *	};
 *
 * The peer gets an event in its stream of messages (rdmachan_recv_events()). Until the
 * memory comes back, the peer may use it as the rights say, at any time.
 *
 * Threads: any at once. Fork: a child may lend regions of its own only (EPERM).
 *
 * Return: 0 or -1. ENOENT: no such region; ERANGE: it does not lie within the region;
 * EACCES: the region is read-only, the rights are not; EBUSY: atomic operations on the
 * region are done in another way already; EOPNOTSUPP: the adapter or the peer knows no
 * grants; EPERM: the region is another program's; EINVAL: no rights, or a length of 0; EBADF,
 * ENOTTY: @ctx is no context; EDQUOT, ENOBUFS, ENOSPC: there are as many grants, or bytes, as may
 * be; EAGAIN, EPIPE and others: as rdmachan_send().
 */
int rdmachan_grant_lend(int chan, int ctx, struct rdmachan_grant_range *range,
			struct rdmachan_error *err);

/**
 * rdmachan_grant_lend_many() - lend several pieces, with a message
 * @chan: channel
 * @ctx: context that the regions belong to
 * @ranges: the pieces to lend; each &rdmachan_grant_range.out_grant is filled in
 * @count: their number, 1 to %RDMACHAN_GRANTS_MAX
 * @iov: the pieces of the message
 * @iov_count: their number, 0 for none
 * @transfer: flags, timeout_ms and msg_flags are used; or NULL
 * @err: why it failed, or NULL
 *
 * The peer receives all events and the message at once. Either all is lent, or nothing.
 *
 * Threads: any at once. Fork: a child may lend regions of its own only (EPERM).
 *
 * Return: as rdmachan_grant_lend(); EMSGSIZE: message and grants do not fit a frame; with
 * %RDMACHAN_CAUSE_MESSAGE_SIZE in @err: the peer does not take messages of that size. ETIMEDOUT:
 * there was no room in time, and nothing is lent.
 */
int rdmachan_grant_lend_many(int chan, int ctx, struct rdmachan_grant_range *ranges,
			     unsigned int count, const struct iovec *iov, unsigned int iov_count,
			     const struct rdmachan_transfer *transfer, struct rdmachan_error *err);

/**
 * rdmachan_recv_events() - receive a message that may begin with events of grants
 * @chan: channel
 * @buffer: where to put events and message, at a multiple of 8
 * @size: bytes of @buffer: those of the largest message, and
 *	sizeof(struct rdmachan_grant_event) for each event, of which there may be
 *	%RDMACHAN_GRANTS_MAX
 * @transfer: flags and timeout_ms are used, msg_flags and length (of events and message
 *	together) are filled in; or NULL
 * @events: the received message, which lies in @buffer
 * @err: why it failed, or NULL
 *
 * Receives ordinary messages as well. Other functions that receive fail with ENOMSG when
 * the next message begins with events. With a queue it is rdmachan_cqe_events().
 *
 * Threads: any at once. Each message goes to one of them, with its events. Fork: a child may call
 * it.
 *
 * Return: as rdmachan_recvv(), without ENOMSG; EINVAL: @buffer is not aligned.
 */
int rdmachan_recv_events(int chan, void *buffer, size_t size, struct rdmachan_transfer *transfer,
			 struct rdmachan_events *events, struct rdmachan_error *err);

/**
 * rdmachan_grant_release() - give control back to the owner
 * @chan: channel
 * @grant: number of a grant that is held, from its event
 * @err: why it failed, or NULL
 *
 * The owner gets an event.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. ENOENT: no such grant was ever held; EKEYREVOKED: it has ended already.
 */
int rdmachan_grant_release(int chan, uint32_t grant, struct rdmachan_error *err);

/**
 * rdmachan_grant_revoke() - take control back from the holder
 * @chan: channel
 * @grant: number of a grant that was given
 * @flags: %RDMACHAN_IO_F_DONTWAIT: only begin, an event tells when it is done; or 0
 * @timeout_ms: how long to wait, 0 is without limit
 * @err: why it failed, or NULL
 *
 * When it returns 0 without that flag nobody else reads or writes the memory any more. It
 * does not depend on the peer's program.
 *
 * There is an event of it as well, flag or not (%RDMACHAN_GRANT_RETURNED), unless one came before.
 * The next message of the channel may be that event, and a function that receives plain messages
 * only fails with ENOMSG then. So use rdmachan_recv_events() on a channel on which memory is lent.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0, also when it has ended already; or -1. ENOENT: no such grant was ever given.
 * ETIMEDOUT, EINTR: the revocation goes on. EOPNOTSUPP: @flags has others.
 */
int rdmachan_grant_revoke(int chan, uint32_t grant, uint32_t flags, uint32_t timeout_ms,
			  struct rdmachan_error *err);

/**
 * rdmachan_grant_query() - ask about one grant
 * @chan: channel
 * @grant: its number
 * @which: %RDMACHAN_QUERY_F_LENT: one that this end lends; or %RDMACHAN_QUERY_F_HELD: one that it
 *	holds
 * @object: filled in: rights, length, cookie, uses_left, and state: it is wanted back, or being
 *	given back, if that is %RDMACHAN_STATE_CLOSING
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. ENOENT: there is no such grant, or it has ended; EINVAL: @which is both, or
 * neither.
 */
int rdmachan_grant_query(int chan, uint32_t grant, uint32_t which, struct rdmachan_object *object,
			 struct rdmachan_error *err);

/**
 * rdmachan_grant_read() - read memory that the peer lends
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where to begin, in the grant
 * @buffer: where the bytes go
 * @length: how many
 * @err: why it failed, or NULL
 *
 * The peer's program does nothing for it.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. ENOENT: no such grant was ever held; EKEYREVOKED: it has ended; EACCES:
 * it has not this right; ERANGE: the bytes do not lie within it; EFAULT: own memory is bad, and
 * some of the bytes may have been moved; EINVAL: more than %RDMACHAN_MESSAGE_MAX; ENOBUFS,
 * ENOSPC: as many bytes as may be wait for their turn already; ECONNRESET and others: the
 * connection has ended. It cannot be interrupted (EINTR), but killed.
 */
int rdmachan_grant_read(int chan, uint32_t grant, uint64_t offset, void *buffer, size_t length,
			struct rdmachan_error *err);

/**
 * rdmachan_grant_write() - write to memory that the peer lends
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where to begin, in the grant
 * @data: the bytes
 * @length: how many
 * @err: why it failed, or NULL
 *
 * The peer sees them before any message that is sent on the channel afterwards.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: as rdmachan_grant_read(). When the connection has ended any of the bytes may have
 * been written.
 */
int rdmachan_grant_write(int chan, uint32_t grant, uint64_t offset, const void *data, size_t length,
			 struct rdmachan_error *err);

/**
 * rdmachan_grant_write_notify() - write to memory that the peer lends, and tell it
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where to begin, in the grant
 * @data: the bytes
 * @length: how many
 * @message: what the peer receives when they are there
 * @message_length: bytes of it; 0 sends an empty message
 * @msg_flags: 16 bits that travel with the message
 * @err: why it failed, or NULL
 *
 * One call instead of rdmachan_grant_write() and rdmachan_send(), and the message does not wait
 * for the end of the first.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: as rdmachan_grant_write(); EMSGSIZE, EPIPE, EINTR: the bytes were written, and the
 * message was not sent.
 */
int rdmachan_grant_write_notify(int chan, uint32_t grant, uint64_t offset, const void *data,
				size_t length, const void *message, size_t message_length,
				uint32_t msg_flags, struct rdmachan_error *err);

/**
 * rdmachan_grant_fetch_add() - add to a number in memory that the peer lends, atomically
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where its 8 bytes begin in the grant; a multiple of 8 in the peer's memory
 * @add: what to add
 * @before: set to the number before, or NULL
 * @err: why it failed, or NULL
 *
 * The number is in the byte order of the peer.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: as rdmachan_grant_read(); EINVAL: @offset is not aligned; EREMOTEIO: the
 * connection has ended, or the adapter has lost the result, and it is not known whether it was
 * done.
 */
int rdmachan_grant_fetch_add(int chan, uint32_t grant, uint64_t offset, uint64_t add,
			     uint64_t *before, struct rdmachan_error *err);

/**
 * rdmachan_grant_compare_swap() - replace a number in memory that the peer lends, atomically
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: as rdmachan_grant_fetch_add()
 * @compare: it is replaced if it is this
 * @swap: by this
 * @before: set to the number before, which tells whether it was replaced; or NULL
 * @err: why it failed, or NULL
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: as rdmachan_grant_fetch_add(); 0 also when it was not replaced.
 */
int rdmachan_grant_compare_swap(int chan, uint32_t grant, uint64_t offset, uint64_t compare,
				uint64_t swap, uint64_t *before, struct rdmachan_error *err);

/* Queues - lib/queue.c */

/*
 * A queue: rings of operations on many channels.
 *
 * Entries are got, prepared, and submitted together; completions are read from memory.
 * One thread at a time may use a queue and its pools.
 *
 * What an entry names must stay until its operation has completed: the memory, and the file
 * descriptor as well. A descriptor is looked up when the entry is taken, and by then it could
 * be that of another channel. A poller takes entries later, and without one those for which
 * there was no place wait in the ring.
 *
 * A child that was forked has not the rings of its parent's queues. Each function that would
 * touch one does nothing there and fails with errno EPERM: -1 or NULL where failures are told so,
 * and 0 by those that tell a number: rdmachan_queue_sq_space(), rdmachan_queue_cq_ready(),
 * rdmachan_queue_cq_overflow(), rdmachan_pool_left(). These leave errno alone otherwise, so that a
 * caller that sets it to 0 before can tell. rdmachan_queue_fd() works. So do rdmachan_queue_close()
 * and rdmachan_pool_close(), by which the child lets go of queues that it has inherited. Entries
 * and completions that were got before fork() are not there: to prepare or read one is SIGSEGV. A
 * child with the same memory, as of vfork(), may do what its parent may.
 */
struct rdmachan_queue;

/* A pool of buffers that a queue receives into. It belongs to its queue. */
struct rdmachan_pool;

/**
 * struct rdmachan_room - where an operation keeps what does not fit its entry
 * @opaque: the library's
 *
 * The program gives one to a function that prepares such an entry, without filling it in. It must
 * stay where it is, and as it is, until the operation has completed.
 */
struct rdmachan_room {
	uint64_t opaque[32];
};

/**
 * rdmachan_queue_open() - make a queue
 * @ctx: context
 * @sq_entries: entries of the submission ring: a power of two, at most
 *	%RDMACHAN_QUEUE_ENTRIES_MAX
 * @cq_entries: entries of the completion ring, and operations that can be under way:
 *	the same
 * @err: why it failed, or NULL
 *
 * An operation that waits is under way, too. Entries beyond @cq_entries stay in the submission
 * ring until others have completed: with RECVs that wait in all places, nothing is sent, and
 * nothing can be cancelled. So let @cq_entries be at least all RECVs, SENDs and ACCEPTs that
 * there may be at a time, and one more for rdmachan_queue_prep_cancel(). One of
 * rdmachan_queue_prep_recv_pool() counts once.
 *
 * Threads: any at once. Fork: a child may make a queue of its own.
 *
 * Return: the queue, or NULL. EINVAL: a number is no power of two, or too large; EDQUOT, ENOSPC:
 * there are as many queues as may be; EMFILE, ENFILE: no file descriptor is left; ENOBUFS: the
 * user's buffers and queues would be larger than may be; ENOMEM: there is no memory.
 */
struct rdmachan_queue *rdmachan_queue_open(int ctx, uint32_t sq_entries, uint32_t cq_entries,
					   struct rdmachan_error *err);

/**
 * rdmachan_queue_open_polled() - make a queue whose rings a thread of the kernel looks at
 * @ctx: context
 * @sq_entries: as rdmachan_queue_open()
 * @cq_entries: as rdmachan_queue_open()
 * @idle_ms: for how long the thread looks in vain before it sleeps, at most
 *	%RDMACHAN_POLLER_IDLE_MAX; 0 is the default
 * @err: why it failed, or NULL
 *
 * It is used like any other, and submitting makes a call only when the thread sleeps, when the
 * kernel asks for one, or when the submission ring is full.
 *
 * Threads: any at once. Fork: a child may make a queue of its own.
 *
 * Return: the queue, or NULL: as rdmachan_queue_open(). EDQUOT, ENOSPC: also when there are as many
 * pollers as may be; EINVAL: also when @idle_ms is too large.
 */
struct rdmachan_queue *rdmachan_queue_open_polled(int ctx, uint32_t sq_entries,
						  uint32_t cq_entries, uint32_t idle_ms,
						  struct rdmachan_error *err);

/**
 * rdmachan_queue_close() - end a queue
 * @queue: queue, or NULL
 *
 * Operations under way end without completion; their channels stay as they are. Pools end with
 * it. When this returns no memory is written to any more, and regions are not in use, unless
 *
 *  - a message or an access was just being written from or to a region: then when that is over;
 *  - a child that was forked still has the descriptor: then not before that has ended, or
 *    executed another program. Where there may be such a child, cancel what is under way first,
 *    and free no memory before the completions.
 *
 * Threads: one at a time for a queue with its pools, and it is the last. Fork: a child may call
 * it, and does without what it has inherited.
 */
void rdmachan_queue_close(struct rdmachan_queue *queue);

/**
 * rdmachan_queue_fd() - the queue's file descriptor, for poll()
 * @queue: queue
 *
 * It is readable when rdmachan_queue_peek_cqe() would find something to do, which may be no
 * completion but a call: so use that function, also when rdmachan_queue_cq_ready() is 0.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: the descriptor, which stays the queue's.
 */
int rdmachan_queue_fd(const struct rdmachan_queue *queue);

/**
 * rdmachan_queue_get_sqe() - get an entry to be filled in
 * @queue: queue
 *
 * It is zeroed, and does nothing (NOP) if it is not prepared. It goes out with the next call that
 * submits: rdmachan_queue_submit(), rdmachan_queue_submit_and_wait(), or
 * rdmachan_queue_wait_cqe() if that has to wait. Set its user data by rdmachan_sqe_set_data()
 * before or after one of the functions that prepare it, and &rdmachan_sqe.flags and
 * &rdmachan_sqe.timeout_ms, as needed, after it. These functions leave nothing else of what was
 * in the entry, so one may be prepared anew.
 *
 * The entries of a chain (%RDMACHAN_SQE_F_LINK) are to be submitted together: submit first
 * when the ring may not have room for all of them.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: the entry; or NULL. ENOBUFS: the ring is full: submit first. It stays full when as many
 * operations are under way as can be: look for completions. EPERM: in a forked child.
 */
struct rdmachan_sqe *rdmachan_queue_get_sqe(struct rdmachan_queue *queue);

/**
 * rdmachan_queue_sq_space() - how many entries can be got now
 * @queue: queue
 *
 * For a chain, say, which is to be submitted whole. Makes no call.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: how often rdmachan_queue_get_sqe() will give one, at least: a poller may make room. 0
 * with EPERM in a forked child.
 */
uint32_t rdmachan_queue_sq_space(const struct rdmachan_queue *queue);

/**
 * rdmachan_sqe_set_data() - have an entry tell what it belongs to
 * @sqe: entry
 * @data: rdmachan_cqe_get_data() gives it back from each completion of the operation
 *
 * An entry has NULL at first. A function that prepares it leaves this as it is.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_sqe_set_data(struct rdmachan_sqe *sqe, const void *data);

/**
 * rdmachan_sqe_set_data64() - the same, with a number
 * @sqe: entry
 * @data: rdmachan_cqe_get_data64() gives it back from each completion of the operation
 *
 * It is the same member of the entry, &rdmachan_sqe.user_data.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_sqe_set_data64(struct rdmachan_sqe *sqe, uint64_t data);

/**
 * rdmachan_cqe_get_data() - what the entry of a completion belongs to
 * @cqe: completion
 *
 * Threads: any at once. Fork: a child may read a copy, and has not the completions that its parent
 * got (SIGSEGV).
 *
 * Return: the pointer that rdmachan_sqe_set_data() has set; NULL if none was.
 */
void *rdmachan_cqe_get_data(const struct rdmachan_cqe *cqe);

/**
 * rdmachan_cqe_get_data64() - the same, with a number
 * @cqe: completion
 *
 * Threads: any at once. Fork: a child may read a copy, and has not the completions that its parent
 * got (SIGSEGV).
 *
 * Return: the number that rdmachan_sqe_set_data64() has set; 0 if none was.
 */
uint64_t rdmachan_cqe_get_data64(const struct rdmachan_cqe *cqe);

/**
 * rdmachan_queue_prep_nop() - prepare an entry: do nothing
 * @sqe: entry
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_nop(struct rdmachan_sqe *sqe);

/**
 * rdmachan_queue_prep_send() - prepare an entry: send a message
 * @sqe: entry
 * @chan: channel
 * @data: the message, which must stay as it is until the operation has completed
 * @length: bytes of it
 * @msg_flags: 16 bits that travel with the message
 *
 * It completes with the bytes of the message. It fails with EMSGSIZE when the message is larger
 * than the peer takes, or than the send buffer: &rdmachan_object.peer_message_max and
 * &rdmachan_object.send_buffer of rdmachan_query(). rdmachan_queue_prep_send_region() can send what
 * is larger than the latter.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_send(struct rdmachan_sqe *sqe, int chan, const void *data,
			      size_t length, uint32_t msg_flags);

/**
 * rdmachan_queue_prep_recv() - prepare an entry: receive a message
 * @sqe: entry
 * @chan: channel
 * @buffer: where to
 * @size: bytes of it
 *
 * It completes with the bytes of the message; with 0 and %RDMACHAN_CQE_F_EOF when the peer
 * sends no more. When the message is larger than @size it fails with EMSGSIZE,
 * &rdmachan_cqe.length tells what is needed, and the message stays. So does one that begins with
 * events of grants, with ENOMSG, unless the program knows them: see rdmachan_cqe_events().
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_recv(struct rdmachan_sqe *sqe, int chan, void *buffer, size_t size);

/**
 * rdmachan_queue_prep_sendv() - prepare an entry: send a message that is in pieces
 * @sqe: entry
 * @chan: channel
 * @iov: its pieces, which must stay as they are until the operation has completed; the array itself
 *	is copied when the entry is taken: see %RDMACHAN_SQE_F_IOV
 * @count: elements of @iov, 0 to 1024
 * @msg_flags: 16 bits that travel with the message
 *
 * It sets &rdmachan_sqe.flags: add others to them. It completes as rdmachan_queue_prep_send() does,
 * and fails besides with EINVAL: @count is too large; ENOMEM, ENOBUFS or ENOSPC: there is no memory
 * for the array, or as much as may be is used.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_sendv(struct rdmachan_sqe *sqe, int chan, const struct iovec *iov,
			       unsigned int count, uint32_t msg_flags);

/**
 * rdmachan_sqe_set_delivered() - have a SEND complete when the peer's program has the message
 * @sqe: entry, prepared by rdmachan_queue_prep_send(), rdmachan_queue_prep_sendv() or
 *	rdmachan_queue_prep_send_region()
 *
 * Entries behind it do not wait for that, unless they are linked to it. When it is cancelled, or
 * its time is over, the message is taken back if it is not sent yet. Else the completion has
 * %RDMACHAN_CQE_F_SENT, as has any other failure behind which the message may have been received,
 * or may yet be received. If it fails without that flag, the message never was, nor will be.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_sqe_set_delivered(struct rdmachan_sqe *sqe);

/**
 * rdmachan_queue_prep_recvv() - prepare an entry: receive a message into several pieces
 * @sqe: entry
 * @chan: channel
 * @iov: where to; the array itself is copied when the entry is taken
 * @count: elements of @iov, 0 to 1024
 *
 * It sets &rdmachan_sqe.flags: add others to them. It completes as rdmachan_queue_prep_recv() does,
 * and fails as rdmachan_queue_prep_sendv() besides.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_recvv(struct rdmachan_sqe *sqe, int chan, const struct iovec *iov,
			       unsigned int count);

/**
 * rdmachan_sqe_set_iov_region() - have the pieces of a message lie in a region
 * @sqe: entry, prepared by rdmachan_queue_prep_sendv() or rdmachan_queue_prep_recvv(), whose array
 *	has offsets in the region instead of addresses
 * @region: region of the context that the queue comes from
 *
 * It adds to &rdmachan_sqe.flags.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_sqe_set_iov_region(struct rdmachan_sqe *sqe, uint32_t region);

/**
 * rdmachan_queue_prep_recv_pool() - prepare an entry: receive messages, one after the other
 * @sqe: entry
 * @chan: channel
 * @pool: where the buffers come from
 *
 * Each message has a completion with %RDMACHAN_CQE_F_MORE; &rdmachan_cqe.buffer is the id
 * of its buffer, if there is %RDMACHAN_CQE_F_BUFFER: an empty message has none. The last
 * completion is without %RDMACHAN_CQE_F_MORE, and tells why there are no more:
 *
 *  - 0, with %RDMACHAN_CQE_F_EOF: the peer sends no more.
 *  - ENOBUFS: there is a message, and the pool is empty. Give buffers away, and submit it
 *    again.
 *  - EMSGSIZE: the message is larger than the first buffer, which stays the first, so that the
 *    same would happen again. Receive this one with rdmachan_queue_prep_recv() into
 *    &rdmachan_cqe.length bytes, then submit it again. It does not happen if
 *    &rdmachan_tuning.message_max, which the listener or the channel was made with, is not
 *    larger than the buffers.
 *  - EFAULT: the memory of the first buffer is bad. This completion has
 *    %RDMACHAN_CQE_F_BUFFER, and the buffer is the program's again: look at that flag whether
 *    or not it is a success. The message stays.
 *  - ENOMSG: the message begins with events of grants, and stays: see rdmachan_cqe_events().
 *  - ECANCELED, ETIMEDOUT, or the error that ended the channel.
 *
 * To end it, submit rdmachan_queue_prep_cancel(), wait for the completion without
 * %RDMACHAN_CQE_F_MORE, and only then close the channel and free what the user data points to.
 * Closing alone does not end the channel: messages come with user data of what was freed, and the
 * peer does not see an end.
 *
 * Messages are copied into the buffers. To have large ones come without a copy, use
 * rdmachan_queue_prep_recv_region(). Neither %RDMACHAN_SQE_F_LINK nor
 * %RDMACHAN_SQE_F_SKIP_SUCCESS can be added to this (EINVAL), but it may be the last of a
 * chain.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_recv_pool(struct rdmachan_sqe *sqe, int chan,
				   const struct rdmachan_pool *pool);

/**
 * rdmachan_queue_prep_recv_pool_region() - prepare an entry: receive messages into a region
 * @sqe: entry
 * @chan: channel
 * @pool: where the buffers come from: of rdmachan_pool_add_region()
 * @region: region of the context that the queue comes from, where they are
 *
 * As rdmachan_queue_prep_recv_pool(), one after the other, into buffers that lie in a region: no
 * message waits for a call of the program, and copying costs less. It ends for the same reasons,
 * but with ERANGE, as the other with EFAULT, when the first buffer does not lie within the region.
 * It ends at once with ENOENT, EPERM or EACCES: there is no such region, it is another program's,
 * or it is read-only. The region is in use until it has ended.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_recv_pool_region(struct rdmachan_sqe *sqe, int chan,
					  const struct rdmachan_pool *pool, uint32_t region);

/**
 * rdmachan_queue_prep_send_region() - prepare an entry: send a message from a region
 * @sqe: entry
 * @chan: channel
 * @region: region of the context that the queue comes from
 * @offset: where the message begins there; it must stay as it is until the operation has
 *	completed
 * @length: bytes of it
 * @msg_flags: 16 bits that travel with the message
 *
 * It sets &rdmachan_sqe.flags: add others to them.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_send_region(struct rdmachan_sqe *sqe, int chan, uint32_t region,
				     uint64_t offset, uint64_t length, uint32_t msg_flags);

/**
 * rdmachan_queue_prep_recv_region() - prepare an entry: receive a message into a region
 * @sqe: entry
 * @chan: channel
 * @region: region of the context that the queue comes from
 * @offset: where the message shall begin there
 * @size: bytes that there are for it
 *
 * It sets &rdmachan_sqe.flags: add others to them.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_recv_region(struct rdmachan_sqe *sqe, int chan, uint32_t region,
				     uint64_t offset, uint64_t size);

/**
 * rdmachan_queue_prep_accept() - prepare an entry: accept a channel
 * @sqe: entry
 * @listener: listener
 * @flags: &enum rdmachan_fd_flags
 *
 * It completes with the channel's file descriptor, of which rdmachan_query() tells the peer's
 * address and user. With EMFILE or ENFILE there is none left,
 * and the channel waits on: submit it again when one was closed, as it would fail at once.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_accept(struct rdmachan_sqe *sqe, int listener, uint32_t flags);

/**
 * rdmachan_queue_prep_accept_many() - prepare an entry: accept channels, one after the other
 * @sqe: entry
 * @listener: listener
 * @flags: &enum rdmachan_fd_flags, for each channel
 *
 * Each channel has a completion with its file descriptor and %RDMACHAN_CQE_F_MORE. The last one is
 * without, and tells why there are no more: ECANCELED; ETIMEDOUT; or EMFILE and ENFILE, then
 * a channel waits on. Neither %RDMACHAN_SQE_F_LINK nor %RDMACHAN_SQE_F_SKIP_SUCCESS can be added
 * to this (EINVAL). After rdmachan_queue_prep_cancel() look at all completions up to the last: each
 * channel before it is open.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_accept_many(struct rdmachan_sqe *sqe, int listener, uint32_t flags);

/**
 * rdmachan_queue_prep_connect() - prepare an entry: connect
 * @sqe: entry
 * @room: must stay until the operation has completed
 * @addr: as rdmachan_connect(); it is copied, and so are @options
 * @addr_len: bytes of it
 * @service: service at the peer
 * @options: as rdmachan_connect(); or NULL
 * @err: why it failed, or NULL; it must stay until the operation has completed
 *
 * It completes with the channel's file descriptor, or fails as rdmachan_connect() does.
 *
 * There is no such function with the name of a host: the library would have to wait for the name
 * service, which is what a program with a queue will not do. Ask getaddrinfo() before, in a thread
 * that may wait, and submit one entry for its first address; if that fails, one for the next.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 *
 * Return: 0; or -1, and the entry does nothing then (NOP). EAFNOSUPPORT: @addr is neither IPv4
 * nor IPv6; EINVAL: it is too short, or @options have not their size; E2BIG: @options are of a
 * newer library.
 */
int rdmachan_queue_prep_connect(struct rdmachan_sqe *sqe, struct rdmachan_room *room,
				const struct sockaddr *addr, socklen_t addr_len, uint32_t service,
				const struct rdmachan_options *options, struct rdmachan_error *err);

/**
 * rdmachan_queue_prep_shutdown() - prepare an entry: end one or both directions
 * @sqe: entry
 * @chan: channel
 * @how: &enum rdmachan_shutdown_how
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_shutdown(struct rdmachan_sqe *sqe, int chan, uint32_t how);

/**
 * rdmachan_queue_prep_cancel() - prepare an entry: cancel an operation
 * @sqe: entry
 * @data: that of the operation, as rdmachan_sqe_set_data() has set it
 * @flags: &enum rdmachan_cancel_flags
 *
 * It has a completion of its own, with user data of its own, besides those of what it cancels,
 * which come with ECANCELED. It needs a place like any other operation: see
 * rdmachan_queue_open(). It completes with the number of those that were cancelled; ENOENT:
 * there was none; EALREADY: the operation completes by itself.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_cancel(struct rdmachan_sqe *sqe, const void *data, uint32_t flags);

/**
 * rdmachan_queue_prep_cancel64() - the same, of an operation that has a number
 * @sqe: entry
 * @data: that of the operation, as rdmachan_sqe_set_data64() has set it
 * @flags: &enum rdmachan_cancel_flags
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_cancel64(struct rdmachan_sqe *sqe, uint64_t data, uint32_t flags);

/**
 * rdmachan_queue_prep_grant_read() - prepare an entry: read memory that the peer lends
 * @sqe: entry
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where to begin, in the grant
 * @buffer: where to
 * @length: bytes
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_read(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
				    uint64_t offset, void *buffer, size_t length);

/**
 * rdmachan_queue_prep_grant_write() - prepare an entry: write to memory that the peer lends
 * @sqe: entry
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where to begin, in the grant
 * @data: the bytes, which must stay as they are until the operation has completed
 * @length: bytes
 *
 * A message of the same channel that is submitted behind it arrives behind it.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_write(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
				     uint64_t offset, const void *data, size_t length);

/**
 * rdmachan_sqe_set_notify() - have a message go with a WRITE
 * @sqe: entry, prepared by rdmachan_queue_prep_grant_write()
 * @msg_flags: 16 bits that travel with it
 *
 * The peer receives an empty message when the bytes are there.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_sqe_set_notify(struct rdmachan_sqe *sqe, uint32_t msg_flags);

/**
 * rdmachan_sqe_set_own_region() - have READ or WRITE use memory of a region
 * @sqe: entry, prepared by rdmachan_queue_prep_grant_read() or rdmachan_queue_prep_grant_write()
 *	without an address
 * @region: region of the context that the queue comes from
 * @offset: where own memory begins there
 *
 * It adds to &rdmachan_sqe.flags.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_sqe_set_own_region(struct rdmachan_sqe *sqe, uint32_t region, uint64_t offset);

/**
 * rdmachan_queue_prep_grant_fetch_add() - prepare an entry: add to a number that the peer lends
 * @sqe: entry
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: where its 8 bytes begin in the grant; a multiple of 8 in the peer's memory
 * @add: what to add
 *
 * rdmachan_cqe_value() tells what was there before.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_fetch_add(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
					 uint64_t offset, uint64_t add);

/**
 * rdmachan_queue_prep_grant_compare_swap() - prepare an entry: replace such a number
 * @sqe: entry
 * @chan: channel
 * @grant: number of a grant that is held
 * @offset: as of rdmachan_queue_prep_grant_fetch_add()
 * @compare: if it is this
 * @swap: by this
 *
 * rdmachan_cqe_value() tells what was there before: @compare, if it was replaced.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_compare_swap(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
					    uint64_t offset, uint64_t compare, uint64_t swap);

/**
 * rdmachan_queue_prep_grant_release() - prepare an entry: give a grant back
 * @sqe: entry
 * @chan: channel
 * @grant: number of a grant that is held
 *
 * Add %RDMACHAN_SQE_F_FENCE to &rdmachan_sqe.flags to have accesses end before.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_release(struct rdmachan_sqe *sqe, int chan, uint32_t grant);

/**
 * rdmachan_queue_prep_grant_lend() - prepare an entry: lend memory, with a message
 * @sqe: entry
 * @room: must stay until the operation has completed
 * @chan: channel
 * @ctx: context that the regions belong to; it must stay open until then
 * @ranges: the pieces to lend, which must stay as well; each &rdmachan_grant_range.out_grant is
 *	filled in
 * @count: their number, 1 to %RDMACHAN_GRANTS_MAX
 * @iov: the pieces of the message, which must stay with all that they point to
 * @iov_count: their number, 0 for none
 * @msg_flags: 16 bits that travel with the message
 *
 * It completes with 0 when the message is sent, or fails as rdmachan_grant_lend_many() does.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_lend(struct rdmachan_sqe *sqe, struct rdmachan_room *room, int chan,
				    int ctx, struct rdmachan_grant_range *ranges,
				    unsigned int count, const struct iovec *iov,
				    unsigned int iov_count, uint32_t msg_flags);

/**
 * rdmachan_queue_prep_grant_revoke() - prepare an entry: take memory back
 * @sqe: entry
 * @chan: channel
 * @grant: number of a grant that was given
 *
 * It completes when the memory is the owner's alone.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_grant_revoke(struct rdmachan_sqe *sqe, int chan, uint32_t grant);

/**
 * rdmachan_queue_prep_finish() - prepare an entry: wait until the peer's program has received all
 * @sqe: entry
 * @chan: channel
 *
 * Behind what is sent before; nothing can be sent after it. Succeeds with 0, as rdmachan_finish().
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_finish(struct rdmachan_sqe *sqe, int chan);

/**
 * rdmachan_queue_prep_message() - prepare an entry: put a completion into the ring of a queue
 * @sqe: entry
 * @queue: file descriptor of that queue, of rdmachan_queue_fd(); it may be another program's
 * @user_data: user data of the completion there
 * @res: its result
 *
 * The completion there has %RDMACHAN_CQE_F_MESSAGE. This one completes with 0; ENOSPC: that ring
 * has no room, and nothing was told; EBADF: that queue is closed.
 *
 * Threads: one at a time for a queue, as the entry is part of it. Fork: a child has not the
 * entries that its parent got (SIGSEGV).
 */
void rdmachan_queue_prep_message(struct rdmachan_sqe *sqe, int queue, uint64_t user_data,
				 uint32_t res);

/**
 * rdmachan_cqe_value() - what an atomic operation has found
 * @cqe: its completion, a success
 *
 * Threads: any at once. Fork: a child may read a copy, and has not the completions that its parent
 * got (SIGSEGV).
 *
 * Return: the value that was there before.
 */
uint64_t rdmachan_cqe_value(const struct rdmachan_cqe *cqe);

/**
 * rdmachan_cqe_events() - tell events of grants from the message that they came with
 * @cqe: completion of receiving, a success
 * @buffer: the buffer that was received into, at a multiple of 8 if there are events; with a pool
 *	it is the buffer whose id is &rdmachan_cqe.buffer
 * @events: the received message, which lies in @buffer
 *
 * What rdmachan_recv_events() is for rdmachan_recv(). Only an entry to which
 * %RDMACHAN_RECV_F_GRANTS was added receives messages that begin with events. It receives
 * ordinary ones as well, and the end, which are told here without events:
 *
 *	rdmachan_queue_prep_recv_pool(sqe, chan, pool);
 *	sqe->op_flags |= RDMACHAN_RECV_F_GRANTS;
 *
 * A buffer must have room for both: sizeof(struct rdmachan_grant_event) for each event, of which
 * there may be %RDMACHAN_GRANTS_MAX, and the bytes of the largest message.
 *
 * Threads: any at once. A buffer is one's. Fork: a child may read a copy, and has not the
 * completions that its parent got (SIGSEGV).
 *
 * Return: 0 or -1. EINVAL: there are events, and @buffer is not aligned; EPROTO: @buffer is not
 * what was received.
 */
int rdmachan_cqe_events(const struct rdmachan_cqe *cqe, void *buffer,
			struct rdmachan_events *events);

/**
 * rdmachan_queue_submit() - submit the entries that were got
 * @queue: queue
 * @err: why it failed, or NULL
 *
 * With a poller this makes a call only when the poller sleeps, when the submission ring is
 * full, or when the completion ring asks for one.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: how many were taken, or -1. Those that were not, because as many operations
 * are under way as can be, go out with the next call; 0 is no error then. With a poller: how
 * many it was shown. EPERM: in a forked child.
 */
int rdmachan_queue_submit(struct rdmachan_queue *queue, struct rdmachan_error *err);

/**
 * rdmachan_queue_submit_and_wait() - the same, and wait for completions
 * @queue: queue
 * @min_complete: until the completion ring has so many
 * @timeout_ms: how long to wait, 0 is without limit
 * @err: why it failed, or NULL
 *
 * While it waits it also takes entries for which there was no place before.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: how many were taken, or -1. ETIMEDOUT, EINTR: entries may have been taken all the
 * same. Those that were not go out with the next call, so that there is nothing to be done
 * again. EINVAL: @min_complete is larger than the completion ring. EPERM: in a forked child.
 */
int rdmachan_queue_submit_and_wait(struct rdmachan_queue *queue, uint32_t min_complete,
				   uint32_t timeout_ms, struct rdmachan_error *err);

/**
 * rdmachan_queue_peek_cqe() - look for a completion
 * @queue: queue
 * @cqe: set to the first one, which stays there until rdmachan_queue_cqe_seen()
 * @err: why it failed, or NULL
 *
 * Makes a call only when the kernel asks for one. Entries that were got do not go out with it,
 * so that it may be used while a chain is being prepared; those for which there was no place when
 * they were submitted do.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: 1; 0 when there is none; or -1. EPERM: in a forked child.
 */
int rdmachan_queue_peek_cqe(struct rdmachan_queue *queue, struct rdmachan_cqe **cqe,
			    struct rdmachan_error *err);

/**
 * rdmachan_queue_wait_cqe() - wait for a completion
 * @queue: queue
 * @cqe: set to the first one, which stays there until rdmachan_queue_cqe_seen()
 * @timeout_ms: how long to wait, 0 is without limit
 * @err: why it failed, or NULL
 *
 * If there is one already, it does what rdmachan_queue_peek_cqe() does. If there is none, entries
 * that were got go out before it waits, as the completion may be one of theirs: they are to be
 * prepared by then, and a chain whole.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: 0 or -1. ETIMEDOUT: there was none in time; EINTR: a handler ran first; EPERM: in a
 * forked child.
 */
int rdmachan_queue_wait_cqe(struct rdmachan_queue *queue, struct rdmachan_cqe **cqe,
			    uint32_t timeout_ms, struct rdmachan_error *err);

/**
 * rdmachan_queue_cqe_seen() - the first completion was looked at: its place is free
 * @queue: queue
 *
 * In a forked child it sets errno to EPERM, and does nothing.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 */
void rdmachan_queue_cqe_seen(struct rdmachan_queue *queue);

/**
 * rdmachan_queue_peek_cqes() - look for several completions
 * @queue: queue
 * @cqes: set to those that there are, in their order, which stay there until
 *	rdmachan_queue_cqes_seen()
 * @max: elements of @cqes
 * @err: why it failed, or NULL
 *
 * As rdmachan_queue_peek_cqe(), and with one call at most.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: how many elements of @cqes were set, 0 when there is none; or -1. EPERM: in a forked
 * child.
 */
int rdmachan_queue_peek_cqes(struct rdmachan_queue *queue, struct rdmachan_cqe **cqes,
			     uint32_t max, struct rdmachan_error *err);

/**
 * rdmachan_queue_cqes_seen() - the first completions were looked at: their places are free
 * @queue: queue
 * @count: how many: no more than there are
 *
 * In a forked child it sets errno to EPERM, and does nothing.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 */
void rdmachan_queue_cqes_seen(struct rdmachan_queue *queue, uint32_t count);

/**
 * rdmachan_queue_cq_ready() - how many completions there are
 * @queue: queue
 *
 * Makes no call, and so does not find what needs one: rdmachan_queue_peek_cqe() does.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: their number, without those that were seen. 0 with EPERM in a forked child.
 */
uint32_t rdmachan_queue_cq_ready(const struct rdmachan_queue *queue);

/**
 * rdmachan_queue_cq_overflow() - how often a completion found the ring full
 * @queue: queue
 *
 * None is lost by that: each waits until there is room, and costs a call. Where the number grows
 * the completion ring is too small, or is not looked at often enough. Makes no call.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: the number, since the queue was made; it wraps around. 0 with EPERM in a forked child.
 */
uint32_t rdmachan_queue_cq_overflow(const struct rdmachan_queue *queue);

/**
 * rdmachan_pool_open() - make a pool of buffers to be received into
 * @queue: queue
 * @entries: how many buffers it can have: a power of two, at most
 *	%RDMACHAN_QUEUE_ENTRIES_MAX
 * @err: why it failed, or NULL
 *
 * It has no buffers at first, and none can be added once the queue is closed.
 *
 * How many it needs: each message that is in the completion ring has one, whatever the number of
 * channels, and so has each that the program keeps after rdmachan_queue_cqe_seen(). When the ring
 * is full, messages stay with their channels and take none. So cq_entries of
 * rdmachan_queue_open() and as many as the program keeps at a time are enough, and the pool never
 * runs empty. With cq_entries of 256, these are 256 buffers if each is given away again before its
 * completion is said to be seen, and 264, in a pool of 512, if eight threads keep one each. The
 * former are 1 MiB with buffers of 4 KiB, for one channel or ten thousand. With fewer it works as
 * well, but each time that the pool is empty when a message comes, all that receive from it and
 * have one end with ENOBUFS, and are to be submitted again.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: the pool, or NULL. ENOSPC: the queue has %RDMACHAN_QUEUE_POOLS_MAX of them; EINVAL:
 * @entries is no power of two, or too large; ENOBUFS, ENOSPC: the user's buffers and queues, or
 * those of all users, would be larger than may be; ENOMEM: there is no memory; EPERM: in a
 * forked child.
 */
struct rdmachan_pool *rdmachan_pool_open(struct rdmachan_queue *queue, uint32_t entries,
					 struct rdmachan_error *err);

/**
 * rdmachan_pool_close() - do without a pool
 * @pool: pool, or NULL
 *
 * Its buffers are the kernel's until all that receives into it has ended. The kernel's
 * part of it ends with the queue, and counts as one of its pools until then. It may be closed
 * before its queue or after it.
 *
 * Threads: one at a time for a queue with its pools. Fork: a child may call it, and does without
 * what it has inherited.
 */
void rdmachan_pool_close(struct rdmachan_pool *pool);

/**
 * rdmachan_pool_add() - give a buffer away
 * @pool: pool
 * @buffer: address
 * @size: bytes
 * @id: comes back in the completion of the message that is in it
 *
 * Makes no call.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: 0 or -1. ENOBUFS: the pool is full; EBADF: its queue was closed; EPERM: in a forked
 * child.
 */
int rdmachan_pool_add(struct rdmachan_pool *pool, void *buffer, uint32_t size, uint32_t id);

/**
 * rdmachan_pool_add_region() - give a buffer away that lies in a region
 * @pool: pool of rdmachan_queue_prep_recv_pool_region()
 * @offset: where it begins in the region
 * @size: bytes
 * @id: comes back in the completion of the message that is in it
 *
 * Makes no call.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: 0 or -1. ENOBUFS: the pool is full; EBADF: its queue was closed; EPERM: in a forked
 * child.
 */
int rdmachan_pool_add_region(struct rdmachan_pool *pool, uint64_t offset, uint32_t size,
			     uint32_t id);

/**
 * rdmachan_pool_left() - how many buffers are left in a pool
 * @pool: pool
 *
 * Makes no call.
 *
 * Threads: one at a time for a queue with its pools. Fork: EPERM in a child.
 *
 * Return: buffers that were given away and that no message has taken yet; 0 when the queue was
 * closed, and with EPERM in a forked child.
 */
uint32_t rdmachan_pool_left(const struct rdmachan_pool *pool);

/* Addresses - lib/addr.c */

/**
 * rdmachan_addr_from_sockaddr() - turn a socket address into one of the module
 * @addr: filled in
 * @sa: struct sockaddr_in or sockaddr_in6
 * @sa_len: bytes of it
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: 0 or -1. EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: too short.
 */
int rdmachan_addr_from_sockaddr(struct rdmachan_addr *addr, const struct sockaddr *sa,
				socklen_t sa_len);

/**
 * rdmachan_addr_to_sockaddr() - turn an address of the module into a socket's
 * @addr: address
 * @sa: filled in
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: bytes used of @sa; 0 when the address is not known (family 0).
 */
socklen_t rdmachan_addr_to_sockaddr(const struct rdmachan_addr *addr,
				    struct sockaddr_storage *sa);

/**
 * rdmachan_addr_text() - write an address as text, without its port
 * @addr: address
 * @text: buffer, best of %RDMACHAN_ADDR_MAX bytes
 * @size: bytes of @text
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: @text: "10.0.0.1", "fe80::1%eth0", or "unknown".
 */
char *rdmachan_addr_text(const struct rdmachan_addr *addr, char *text, size_t size);

/* Words - lib/names.c, lib/cause.c, lib/explain.c */

/**
 * rdmachan_cause_name() - name of a cause
 * @cause: &enum rdmachan_cause
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: the name in small letters, as "no-service"; NULL when there is none.
 */
const char *rdmachan_cause_name(uint32_t cause);

/**
 * rdmachan_cause_error() - the errno that comes with a cause
 * @cause: &enum rdmachan_cause
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: the errno of a call that fails for this cause; 0 for %RDMACHAN_CAUSE_NONE, and when
 * there is no such cause.
 */
uint32_t rdmachan_cause_error(uint32_t cause);

/**
 * rdmachan_cause_text() - what a cause means
 * @cause: &enum rdmachan_cause
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: one or two sentences.
 */
const char *rdmachan_cause_text(uint32_t cause);

/**
 * rdmachan_cause_hint() - what to do about a cause
 * @cause: &enum rdmachan_cause
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: one or two sentences.
 */
const char *rdmachan_cause_hint(uint32_t cause);

/**
 * rdmachan_state_name() - name of a state
 * @state: &enum rdmachan_state
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: the name in small letters, as "open"; "unknown" when there is none.
 */
const char *rdmachan_state_name(uint32_t state);

/**
 * rdmachan_kind_name() - name of a kind of object
 * @kind: &enum rdmachan_kind
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: "listener", "channel", "link", "queue", "region", "grant" or "unknown".
 */
const char *rdmachan_kind_name(uint32_t kind);

/**
 * rdmachan_explain() - say in words what went wrong
 * @err: error record
 * @text: filled in with sentences, one a line, each ended by a newline
 * @size: bytes of @text; %RDMACHAN_EXPLAIN_MAX is always enough
 *
 * Tells what was tried, to whom and over which device, what happened, what the
 * likely cause is and what to do about it. Where there is no cause, as the call has
 * failed and not the channel, it tells what that errno means of such a call. For a
 * completion of a queue set &rdmachan_error.error to its errno and &rdmachan_error.op
 * to what it was, in a record of zeros.
 *
 * Threads: any at once. Fork: a child may call it.
 *
 * Return: length of the whole text, as snprintf().
 */
int rdmachan_explain(const struct rdmachan_error *err, char *text, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* LIBRDMACHAN_H */
