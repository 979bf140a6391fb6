// SPDX-License-Identifier: MIT
/*
 * names.c - words: what the numbers of an error record and of an object mean
 *
 * Each table is indexed by the number of the interface or of the RDMA subsystem;
 * gaps are NULL.
 */
#include <errno.h>
#include <signal.h>

#include "internal.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static const char *word(const char *const *table, size_t count, uint64_t index)
{
	return index < count ? table[index] : NULL;
}

#define WORD(table, index)	word(table, ARRAY_SIZE(table), index)

static const char *const states[] = {
	[RDMACHAN_STATE_CONNECTING] = "connecting",
	[RDMACHAN_STATE_OPEN] = "open",
	[RDMACHAN_STATE_WAITING] = "waiting",
	[RDMACHAN_STATE_PEER_CLOSED] = "peer-closed",
	[RDMACHAN_STATE_CLOSING] = "closing",
	[RDMACHAN_STATE_FAILED] = "failed",
};

const char *rdmachan_state_name(uint32_t state)
{
	const char *name = WORD(states, state);

	return name ? name : "unknown";
}

static const char *const kinds[] = {
	[RDMACHAN_KIND_LISTENER] = "listener",
	[RDMACHAN_KIND_CHANNEL] = "channel",
	[RDMACHAN_KIND_LINK] = "link",
	[RDMACHAN_KIND_QUEUE] = "queue",
	[RDMACHAN_KIND_REGION] = "region",
	[RDMACHAN_KIND_GRANT] = "grant",
	[RDMACHAN_KIND_CONTEXT] = "context",
};

const char *rdmachan_kind_name(uint32_t kind)
{
	const char *name = WORD(kinds, kind);

	return name ? name : "unknown";
}

/* They go before "service 5000 at 10.0.0.2", hence the preposition. */
static const char *const ops[] = {
	[RDMACHAN_OP_RESOLVE] = "Finding the way to",
	[RDMACHAN_OP_CONNECT] = "Connecting to",
	[RDMACHAN_OP_OPEN] = "Opening a channel to",
	[RDMACHAN_OP_SEND] = "Sending to",
	[RDMACHAN_OP_RECV] = "Receiving from",
	[RDMACHAN_OP_HEARTBEAT] = "Watching the connection to",
	[RDMACHAN_OP_LISTEN] = "Listening for",
	[RDMACHAN_OP_REGISTER] = "Registering a region",
	[RDMACHAN_OP_GRANT] = "Lending memory to",
	[RDMACHAN_OP_ACCESS] = "Using the memory lent by",
	[RDMACHAN_OP_TUNE] = "Changing the buffers of the channel to",
};

static const char *const library_ops[] = {
	[RDMACHAN_OP_DEVICE - RDMACHAN_OP_LIBRARY] = "Opening the device " RDMACHAN_DEVICE_PATH,
	[RDMACHAN_OP_ASK - RDMACHAN_OP_LIBRARY] = "Asking the module",
	[RDMACHAN_OP_ACCEPT - RDMACHAN_OP_LIBRARY] = "Accepting a channel",
	[RDMACHAN_OP_SHUTDOWN - RDMACHAN_OP_LIBRARY] = "Shutting a channel down",
	[RDMACHAN_OP_UNREGISTER - RDMACHAN_OP_LIBRARY] = "Letting a region go",
	[RDMACHAN_OP_QUEUE - RDMACHAN_OP_LIBRARY] = "Using a queue",
};

const char *lib_op_text(uint32_t op)
{
	const char *text = op < RDMACHAN_OP_LIBRARY ? WORD(ops, op) :
			   WORD(library_ops, op - RDMACHAN_OP_LIBRARY);

	return text ? text : "The connection to";
}

/* As the parameters of the module are called, but for user_ or all_ before it. */
static const char *const limits[] = {
	[RDMACHAN_LIMIT_CONTEXTS] = "contexts",
	[RDMACHAN_LIMIT_LISTENERS] = "listeners",
	[RDMACHAN_LIMIT_CHANNELS] = "channels",
	[RDMACHAN_LIMIT_PENDING] = "pending",
	[RDMACHAN_LIMIT_BYTES] = "buffer_mib",
	[RDMACHAN_LIMIT_QUEUES] = "queues",
	[RDMACHAN_LIMIT_REGIONS] = "regions",
	[RDMACHAN_LIMIT_POLLERS] = "pollers",
	[RDMACHAN_LIMIT_GRANTS] = "grants",
	[RDMACHAN_LIMIT_LINKS] = "links",
};

const char *lib_limit_name(uint64_t limit)
{
	return WORD(limits, limit);
}

static const struct {
	uint32_t error;
	const char *name;
	const char *text;
} errors[] = {
	{ EPERM, "EPERM", "not permitted" },
	{ ENOENT, "ENOENT", "there is no such thing" },
	{ EINTR, "EINTR", "interrupted by a signal" },
	{ EIO, "EIO", "input/output error" },
	{ EBADF, "EBADF", "not an open file descriptor" },
	{ EAGAIN, "EAGAIN", "it would have to wait" },
	{ ENOMEM, "ENOMEM", "the kernel has no memory" },
	{ EACCES, "EACCES", "permission denied" },
	{ EFAULT, "EFAULT", "an address is not valid" },
	{ EBUSY, "EBUSY", "busy" },
	{ ENODEV, "ENODEV", "no such device" },
	{ EINVAL, "EINVAL", "a value is not valid" },
	{ ENFILE, "ENFILE", "the system has no file descriptor left" },
	{ EMFILE, "EMFILE", "the program has no file descriptor left" },
	{ ENOSPC, "ENOSPC", "all users together have as much as may be" },
	{ ENOTTY, "ENOTTY", "the file descriptor is of another kind" },
	{ EPIPE, "EPIPE", "the peer takes no more" },
	{ ERANGE, "ERANGE", "it does not lie within what is there" },
	{ ENOMSG, "ENOMSG", "what comes next tells of grants" },
	{ EPROTO, "EPROTO", "protocol error" },
	{ EMSGSIZE, "EMSGSIZE", "the message is too large" },
	{ E2BIG, "E2BIG", "the module is older than the program" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "the module does not know this option" },
	{ EAFNOSUPPORT, "EAFNOSUPPORT", "neither an IPv4 nor an IPv6 address" },
	{ EADDRINUSE, "EADDRINUSE", "somebody listens already" },
	{ EADDRNOTAVAIL, "EADDRNOTAVAIL", "no such address here" },
	{ ENETDOWN, "ENETDOWN", "the network is down" },
	{ ENETUNREACH, "ENETUNREACH", "the network is unreachable" },
	{ ECONNABORTED, "ECONNABORTED", "the connection was given up" },
	{ ECONNRESET, "ECONNRESET", "the connection was reset" },
	{ ENOBUFS, "ENOBUFS", "there is no room for more buffers" },
	{ ENOTCONN, "ENOTCONN", "the channel is not connected" },
	{ ESHUTDOWN, "ESHUTDOWN", "the channel was shut down" },
	{ ETIMEDOUT, "ETIMEDOUT", "it took too long" },
	{ ECONNREFUSED, "ECONNREFUSED", "the connection was refused" },
	{ EHOSTDOWN, "EHOSTDOWN", "the peer's host does not answer" },
	{ EHOSTUNREACH, "EHOSTUNREACH", "the host is unreachable" },
	{ EINPROGRESS, "EINPROGRESS", "it is still going on" },
	{ EREMOTEIO, "EREMOTEIO", "it is not known whether it was done" },
	{ EKEYREVOKED, "EKEYREVOKED", "the grant has ended" },
	{ EALREADY, "EALREADY", "it is being done" },
	{ EDQUOT, "EDQUOT", "the user has as much as one may have" },
	{ ECANCELED, "ECANCELED", "it was cancelled" },
};

const char *lib_errno_name(uint32_t error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].error == error)
			return errors[i].name;
	}
	return NULL;
}

const char *lib_errno_text(uint32_t error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].error == error)
			return errors[i].text;
	}
	return "it failed";
}

static const char *const signals[] = {
	[SIGHUP] = "SIGHUP", [SIGINT] = "SIGINT", [SIGQUIT] = "SIGQUIT",
	[SIGILL] = "SIGILL", [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT",
	[SIGBUS] = "SIGBUS", [SIGFPE] = "SIGFPE", [SIGKILL] = "SIGKILL",
	[SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
	[SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM",
	[SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ", [SIGSYS] = "SIGSYS",
};

const char *lib_signal_name(uint64_t signal)
{
	return WORD(signals, signal);
}

/* enum ib_wc_status */
static const char *const wc_statuses[] = {
	"success",
	"local length error: a message did not fit its buffer",
	"local queue pair operation error: the adapter refused the request",
	"local end-to-end context error",
	"local protection error: memory that was not registered for it",
	"flushed: the connection broke before the request was carried out",
	"memory window bind error",
	"bad response from the peer",
	"local access error",
	"remote invalid request: the peer's adapter does not take this request",
	"remote access error: the peer's memory may not be accessed so",
	"remote operation error: the peer's adapter could not carry it out",
	"transport retries exceeded: the peer's adapter does not answer",
	"receiver-not-ready retries exceeded: the peer had no receive buffer",
	"local reliable datagram domain violation",
	"remote invalid read request",
	"remote aborted",
	"invalid end-to-end context number",
	"invalid end-to-end context state",
	"fatal error of the adapter",
	"response timeout",
	"general error",
};

const char *lib_wc_status_text(uint32_t status)
{
	const char *text = WORD(wc_statuses, status);

	return text ? text : "unknown completion status";
}

/* enum rdma_cm_event_type */
static const char *const cm_events[] = {
	"address resolved",
	"address error",
	"route resolved",
	"route error",
	"connect request",
	"connect response",
	"connect error",
	"unreachable",
	"rejected",
	"established",
	"disconnected",
	"device removal",
	"multicast join",
	"multicast error",
	"address change",
	"time-wait exit",
	"address information resolved",
	"address information error",
	"user event",
	"internal event",
};

const char *lib_cm_event_text(uint32_t event)
{
	const char *text = WORD(cm_events, event);

	return text ? text : "unknown event";
}

/* enum ib_cm_rej_reason */
static const char *const reject_reasons[] = {
	[1] = "no queue pair",
	[2] = "no end-to-end context",
	[3] = "no resources",
	[4] = "timeout",
	[5] = "unsupported request",
	[6] = "invalid communication id",
	[7] = "invalid communication instance",
	[8] = "nobody listens on the port",
	[9] = "invalid transport type",
	[10] = "stale connection",
	[11] = "no such reliable datagram channel",
	[12] = "address rejected",
	[13] = "local address rejected",
	[14] = "invalid service level",
	[15] = "invalid traffic class",
	[16] = "invalid hop limit",
	[17] = "invalid packet rate",
	[24] = "redirected to another connection manager",
	[25] = "redirected to another port",
	[26] = "invalid path MTU",
	[27] = "not enough responder resources",
	[28] = "refused by the peer's module",
	[29] = "invalid receiver-not-ready retry count",
	[30] = "duplicate communication id",
	[31] = "unsupported class version",
	[32] = "invalid flow label",
	[35] = "vendor option not supported",
};

const char *lib_reject_text(int32_t reason)
{
	const char *text = reason > 0 ? WORD(reject_reasons, reason) : NULL;

	return text ? text : "another reason";
}
