// SPDX-License-Identifier: MIT
/*
 * explain_test.c - every cause is explained, and every record
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <librdmachan.h>

#include "tap.h"

#define CAUSE_LAST	RDMACHAN_CAUSE_MESSAGE_LOST

static char text[RDMACHAN_EXPLAIN_MAX];

static bool sentences(const char *words)
{
	return words && isupper((unsigned char)words[0]) && words[strlen(words) - 1] == '.';
}

static void test_causes(void)
{
	uint32_t cause, other;
	const char *name;

	for (cause = 0; cause <= CAUSE_LAST; cause++) {
		name = rdmachan_cause_name(cause);
		ok(name, "cause %u has a name: %s", cause, name ? name : "none");
		ok(sentences(rdmachan_cause_text(cause)), "cause %u is told in sentences", cause);
		ok(sentences(rdmachan_cause_hint(cause)), "cause %u has a hint", cause);
		for (other = 0; other < cause && name; other++) {
			if (!strcmp(name, rdmachan_cause_name(other)))
				break;
		}
		ok(other == cause, "its name is its own");
	}
	ok(!rdmachan_cause_name(CAUSE_LAST + 1), "no cause follows the last");
	ok(sentences(rdmachan_cause_text(UINT32_MAX)), "an unknown cause is told of as well");
}

static struct rdmachan_error example(void)
{
	struct rdmachan_error err = {
		.size = sizeof(err),
		.error = ECONNREFUSED,
		.cause = RDMACHAN_CAUSE_NO_SERVICE,
		.op = RDMACHAN_OP_OPEN,
		.service = 5000,
		.dev_port = 1,
		.device = "rxe0",
	};

	err.local.family = err.peer.family = AF_INET;
	inet_pton(AF_INET, "10.0.0.1", err.local.addr);
	inet_pton(AF_INET, "10.0.0.2", err.peer.addr);
	return err;
}

static bool explained(const struct rdmachan_error *err, const char *part)
{
	int length = rdmachan_explain(err, text, sizeof(text));

	if (length <= 0 || (size_t)length >= sizeof(text) || strlen(text) != (size_t)length ||
	    text[length - 1] != '\n')
		return false;
	if (strstr(text, part))
		return true;
	printf("# not in: %s\n", text);
	return false;
}

static void test_records(void)
{
	struct rdmachan_error err = example();

	ok(explained(&err, "Opening a channel to service 5000 at 10.0.0.2 from 10.0.0.1 over RDMA "
		     "device rxe0 port 1 failed: the connection was refused (ECONNREFUSED)."),
	   "what, whom, over what");
	ok(explained(&err, "\nWhat to do: "), "and what to do");
	err.cause = RDMACHAN_CAUSE_TRANSPORT;
	err.op = RDMACHAN_OP_SEND;
	err.wc_status = 12;
	err.vendor_err = 0x81;
	ok(explained(&err, "transport retries exceeded"), "the completion status in words");
	ok(explained(&err, "0x81"), "the vendor's error");
	err.cm_event = 8 + 1;
	err.cm_status = 28;
	ok(explained(&err, "rejected, because: refused by the peer's module (28)"),
	   "the connection manager's event and reason");
	err.cm_status = -ETIMEDOUT;
	ok(explained(&err, "because: it took too long (-110)"), "an errno of the event");
	err.cm_status = INT32_MIN;
	ok(explained(&err, "because: it failed (-2147483648)"), "an absurd status");
	err = example();
	err.cause = RDMACHAN_CAUSE_MESSAGE_SIZE;
	err.detail = 65536;
	ok(explained(&err, "Its limit is 65536 bytes."), "the limit of messages");
	err.cause = RDMACHAN_CAUSE_SEND_BUFFER;
	ok(explained(&err, "The buffer has 65536 bytes."), "the send buffer");
	err.cause = RDMACHAN_CAUSE_PEER_CLOSED;
	err.detail = 2;
	ok(explained(&err, "It has not received 2 messages that were sent."), "what is missing");
	err.cause = RDMACHAN_CAUSE_PEER_SHUTDOWN;
	err.detail = 1;
	ok(explained(&err, "It has not received 1 message that was sent."), "and one");
	err.cause = RDMACHAN_CAUSE_PEER_KILLED;
	err.detail = 9;
	ok(explained(&err, "The signal was SIGKILL."), "the signal");
	err.detail = UINT64_MAX;
	ok(explained(&err, "number 18446744073709551615"), "an absurd signal");
	err = example();
	err.error = EDQUOT;
	err.cause = RDMACHAN_CAUSE_USER_LIMIT;
	err.detail = RDMACHAN_LIMIT_CHANNELS;
	ok(explained(&err, "parameter user_channels."), "the limit of a user");
	err.cause = RDMACHAN_CAUSE_TOTAL_LIMIT;
	err.detail = RDMACHAN_LIMIT_BYTES;
	ok(explained(&err, "parameter all_buffer_mib."), "the limit of all");
	err.detail = RDMACHAN_LIMIT_GRANTS;
	ok(explained(&err, "parameter all_grants."), "the limit of grants");
	err.detail = RDMACHAN_LIMIT_LINKS;
	ok(explained(&err, "parameter all_links."), "the limit of links");
	err.detail = UINT64_MAX;
	ok(explained(&err, "as much as they may.\n"), "an absurd limit");
}

static void test_grants(void)
{
	struct rdmachan_error err = example();

	err.op = RDMACHAN_OP_GRANT;
	err.error = EBUSY;
	err.cause = RDMACHAN_CAUSE_ATOMICS;
	ok(explained(&err, "Lending memory to service 5000 at 10.0.0.2 from 10.0.0.1"),
	   "lending memory");
	err.op = RDMACHAN_OP_ACCESS;
	err.error = EREMOTEIO;
	err.cause = RDMACHAN_CAUSE_UNCERTAIN;
	ok(explained(&err, "it is not known whether it was done (EREMOTEIO)."),
	   "an atomic operation whose outcome is not known");
	err.detail = RDMACHAN_CAUSE_PEER_DEAD;
	ok(explained(&err, "It ended by the cause \"peer-dead\"."), "and why it is not");
	err.detail = UINT64_MAX;
	ok(explained(&err, "or not at all.\n"), "an absurd cause");
	err.error = EKEYREVOKED;
	err.cause = RDMACHAN_CAUSE_NONE;
	ok(explained(&err, "Using the memory lent by service 5000") &&
	   strstr(text, "the grant has ended (EKEYREVOKED)"), "a grant that has ended");
}

/* The aim of a call, where nothing is wrong with the connection. */
static const struct {
	uint32_t error;
	uint32_t op;
	const char *first;
	const char *means;
	const char *hint;
} refusals[] = {
	{ EAGAIN, RDMACHAN_OP_SEND, "Sending to", "The send buffer has no room now", "POLLOUT" },
	{ EAGAIN, RDMACHAN_OP_RECV, "Receiving from", "No complete message is there", "POLLIN" },
	{ EAGAIN, RDMACHAN_OP_GRANT, "Lending memory to", "Nothing was lent", "POLLOUT" },
	{ EAGAIN, RDMACHAN_OP_NONE, "The call failed", "may not", "poll()" },
	{ EMSGSIZE, RDMACHAN_OP_SEND, "Sending to", "Nothing of it was sent", "send_buffer" },
	{ EMSGSIZE, RDMACHAN_OP_RECV, "Receiving from", "It stays", "rdmachan_recv_grow()" },
	{ EMSGSIZE, RDMACHAN_OP_GRANT, "Lending memory to", "one frame", "Lend fewer" },
	{ EMSGSIZE, RDMACHAN_OP_ACCESS, "Using the memory", "bytes were written",
	  "rdmachan_send()" },
	{ ENOMSG, RDMACHAN_OP_RECV, "Receiving from", "begins with events",
	  "rdmachan_recv_events()" },
	{ EKEYREVOKED, RDMACHAN_OP_ACCESS, "Using the memory", "owner has revoked it", "anew" },
	{ ERANGE, RDMACHAN_OP_ACCESS, "Using the memory", "not lie within the grant", "length" },
	{ ERANGE, RDMACHAN_OP_GRANT, "Lending memory to", "not lie within its region", "Offset" },
	{ ENOENT, RDMACHAN_OP_ACCESS, "Using the memory", "was ever held", "event" },
	{ ENOENT, RDMACHAN_OP_GRANT, "Lending memory to", "no such region", "number" },
	{ EACCES, RDMACHAN_OP_LISTEN, "Listening for service", "CAP_NET_BIND_SERVICE", "1024" },
	{ EACCES, RDMACHAN_OP_ACCESS, "Using the memory", "not this right", "rights" },
	{ EACCES, RDMACHAN_OP_GRANT, "Lending memory to", "read-only", "READ_ONLY" },
	{ EINVAL, RDMACHAN_OP_SEND, "Sending to", "1024 pieces", "_INIT" },
	{ EINVAL, RDMACHAN_OP_OPEN, "Opening a channel to", "out of its range", "tuning" },
	{ EINVAL, RDMACHAN_OP_ACCESS, "Using the memory", "multiple of 8", "program" },
	{ EPERM, RDMACHAN_OP_GRANT, "Lending memory to", "child that was forked", "after fork()" },
	{ EPERM, RDMACHAN_OP_NONE, "The call failed", "child that was forked", "after fork()" },
	{ ENOTCONN, RDMACHAN_OP_SEND, "Sending to", "still being connected",
	  "rdmachan_connected()" },
	{ ETIMEDOUT, RDMACHAN_OP_SEND, "Sending to", "no room within the time", "more time" },
	{ ETIMEDOUT, RDMACHAN_OP_RECV, "Receiving from", "No complete message came", "more time" },
	{ ETIMEDOUT, RDMACHAN_OP_GRANT, "Lending memory to", "revocation goes on", "event" },
	{ ETIMEDOUT, RDMACHAN_OP_NONE, "The call failed", "connection is as it was", "more time" },
	{ EINTR, RDMACHAN_OP_RECV, "Receiving from", "A signal came first", "same call again" },
	{ EINTR, RDMACHAN_OP_CONNECT, "Connecting to", "given up", "Connect again" },
	{ EFAULT, RDMACHAN_OP_REGISTER, "Registering a region failed", "no memory", "READ_ONLY" },
	{ EDQUOT, RDMACHAN_OP_LISTEN, "Listening", "as many objects", "rdmachan info" },
	{ EHOSTDOWN, RDMACHAN_OP_SEND, "Sending to", "does not answer", "Connect again" },
	{ EMFILE, RDMACHAN_OP_OPEN, "Opening a channel to", "no file descriptor left",
	  "ulimit -n" },
	{ ENOBUFS, RDMACHAN_OP_RECV, "Receiving from", "the pool has no buffer",
	  "rdmachan_pool_add()" },
	{ ECANCELED, RDMACHAN_OP_RECV, "Receiving from", "was cancelled", "submit it again" },
	{ EALREADY, RDMACHAN_OP_NONE, "The call failed", "completes by itself", "completion" },
	{ EBUSY, RDMACHAN_OP_NONE, "The call failed", "it is lent", "rdmachan_region_take_back()" },
	{ EINPROGRESS, RDMACHAN_OP_CONNECT, "Connecting to", "still being connected", "ask again" },
	{ E2BIG, RDMACHAN_OP_NONE, "The call failed", "newer interface", "module" },
	{ ENOENT, RDMACHAN_OP_DEVICE, "Opening the device /dev/rdmachan failed", "is not loaded",
	  "modprobe rdmachan" },
	{ ENODEV, RDMACHAN_OP_DEVICE, "Opening the device", "left from before", "modprobe" },
	{ ENXIO, RDMACHAN_OP_DEVICE, "Opening the device", "left from before", "modprobe" },
	{ EACCES, RDMACHAN_OP_DEVICE, "Opening the device", "group rdmachan", "systemd-sysusers" },
	{ EPERM, RDMACHAN_OP_DEVICE, "Opening the device", "container", "DeviceAllow" },
	{ EMFILE, RDMACHAN_OP_DEVICE, "Opening the device", "no file descriptor left", "ulimit" },
	{ EPERM, RDMACHAN_OP_ASK, "Asking the module failed", "CAP_NET_ADMIN", "capability" },
	{ EAGAIN, RDMACHAN_OP_ACCEPT, "Accepting a channel failed", "No channel waits", "POLLIN" },
	{ ETIMEDOUT, RDMACHAN_OP_ACCEPT, "Accepting a channel", "No channel came", "more time" },
	{ ENOTCONN, RDMACHAN_OP_SHUTDOWN, "Shutting a channel down", "not open", "POLLOUT" },
	{ EBUSY, RDMACHAN_OP_UNREGISTER, "Letting a region go failed", "it is lent",
	  "rdmachan_region_take_back()" },
	{ ETIMEDOUT, RDMACHAN_OP_QUEUE, "Using a queue failed", "as many completions", "anew" },
	{ EINVAL, RDMACHAN_OP_QUEUE, "Using a queue failed", "power of two", "program" },
};

static void test_refusals(void)
{
	struct rdmachan_error err;
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		err = example();
		err.cause = RDMACHAN_CAUSE_NONE;
		err.error = refusals[i].error;
		err.op = refusals[i].op;
		ok(explained(&err, refusals[i].means) && strstr(text, "\nWhat to do: ") &&
		   strstr(strstr(text, "\nWhat to do: "), refusals[i].hint) &&
		   !strncmp(text, refusals[i].first, strlen(refusals[i].first)) &&
		   !strstr(text, "The connection to"),
		   "%s, what it means for operation %u", strerrorname_np(err.error), err.op);
	}
}

static uint32_t errno_of(const char *name, size_t length)
{
	const char *one;
	uint32_t error;

	for (error = 1; error < 200; error++) {
		one = strerrorname_np(error);
		if (one && strlen(one) == length && !strncmp(one, name, length))
			return error;
	}
	return 0;
}

/* That it is one, and means something for each operation. */
static bool error_is_told(uint32_t error)
{
	struct rdmachan_error err = { .size = sizeof(err), .error = error };
	char name[32];

	snprintf(name, sizeof(name), "(%s)", strerrorname_np(error));
	for (err.op = RDMACHAN_OP_NONE; err.op <= RDMACHAN_OP_QUEUE; err.op++) {
		if (err.op == RDMACHAN_OP_TUNE + 1)
			err.op = RDMACHAN_OP_LIBRARY;
		if (!explained(&err, name) || !explained(&err, "\nWhat to do: ") ||
		    strstr(text, "This number is not one"))
			return false;
	}
	return true;
}

/* Every errno that the description of a call names. */
static void test_documented(const char *path)
{
	bool told[200] = { false };
	char line[512], *at;
	uint32_t error, count = 0;
	FILE *header = fopen(path, "r");
	size_t length;

	while (header && fgets(line, sizeof(line), header)) {
		for (at = line; *at; at += length ? length : 1) {
			length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
			error = length > 3 && *at == 'E' ? errno_of(at, length) : 0;
			if (!error || told[error])
				continue;
			told[error] = true;
			count++;
			ok(error_is_told(error), "%.*s of %s", (int)length, at, path);
		}
	}
	if (header)
		fclose(header);
	ok(count > 15, "%u errors are in %s", count, path);
}

static void test_headers(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/include/linux/rdmachan.h", getenv("BUILD"));
	test_documented(path);
	test_documented(HEADER);
}

static void test_addresses(void)
{
	struct rdmachan_error err = example();

	err.peer.family = AF_INET6;
	inet_pton(AF_INET6, "fd00::2", err.peer.addr);
	err.peer.port = htons(7472);
	ok(explained(&err, "at fd00::2 (port 7472)"), "IPv6 and another port");
	err.cause = RDMACHAN_CAUSE_NO_DEVICE;
	inet_pton(AF_INET6, "::1", err.peer.addr);
	ok(explained(&err, "loopback"), "loopback has a hint of its own");
	err.cause = RDMACHAN_CAUSE_ROUTE;
	ok(explained(&err, "loopback"), "when there is no route, too");
	err.cause = RDMACHAN_CAUSE_ADDRESS;
	ok(explained(&err, "loopback"), "and when there is no address");
	inet_pton(AF_INET6, "::ffff:127.0.0.2", err.peer.addr);
	ok(explained(&err, "loopback"), "in the form of IPv6 as well");
	inet_pton(AF_INET6, "::ffff:128.0.0.1", err.peer.addr);
	ok(!explained(&err, "loopback"), "and no other address has it");
	err.detail = 1;
	ok(explained(&err, "No host can have that address"), "an address of no host");
	err.cause = RDMACHAN_CAUSE_PORT_TAKEN;
	err.detail = 26471;
	ok(explained(&err, "The port is 26471."), "the port that is taken");
	err.cause = RDMACHAN_CAUSE_MTU;
	err.limit = 512;
	err.needed = 1024;
	ok(explained(&err, "packets of 512 bytes now, and those of the connection had 1024."),
	   "both sizes of an MTU");
	err.cause = RDMACHAN_CAUSE_ADDRESS;
	err.peer.family = 0;
	ok(explained(&err, "getent hosts"), "a name without an address as well");
}

static void test_edges(void)
{
	struct rdmachan_error err = example();
	int length, size;

	memset(&err, 0xff, sizeof(err));
	ok(explained(&err, "newer than this program"), "a record of nonsense");
	memset(&err, 0, sizeof(err));
	ok(explained(&err, "Nothing has failed."), "an empty record");
	err.error = EINVAL;
	ok(explained(&err, "(EINVAL)"), "an errno without a cause");
	err.error = 4000;
	ok(explained(&err, "error 4000"), "an unknown errno");
	err = example();
	length = rdmachan_explain(&err, NULL, 0);
	ok(length > 0, "the length is told without a buffer");
	for (size = 1; size <= length; size++) {
		memset(text, 'x', sizeof(text));
		if (rdmachan_explain(&err, text, size) != length ||
		    strlen(text) != (size_t)size - 1 || text[size] != 'x')
			break;
	}
	ok(size == length + 1, "buffers of all sizes are kept to");
}

/* The largest text there can be fits the size that the header promises. */
static void test_longest(void)
{
	struct rdmachan_error err = example();
	uint32_t cause, status, event;
	int length, longest = 0;

	memset(err.device, 'd', sizeof(err.device));
	err.local.family = err.peer.family = AF_INET6;
	memset(err.local.addr, 0xfe, 16);
	memset(err.peer.addr, 0xfe, 16);
	err.local.scope_id = err.peer.scope_id = UINT32_MAX;
	err.peer.port = htons(65535);
	err.service = err.dev_port = err.vendor_err = UINT32_MAX;
	err.detail = UINT64_MAX;
	err.error = EDQUOT;
	err.op = RDMACHAN_OP_HEARTBEAT;
	err.cm_status = 31;
	for (cause = 0; cause <= CAUSE_LAST + 1; cause++) {
		for (status = 1; status < 24; status++) {
			for (event = 1; event < 24; event++) {
				err.cause = cause;
				err.wc_status = status;
				err.cm_event = event;
				length = rdmachan_explain(&err, text, sizeof(text));
				if (length > longest)
					longest = length;
			}
		}
	}
	err.cause = RDMACHAN_CAUSE_NONE;
	for (err.error = 1; err.error < 200; err.error++) {
		for (err.op = 0; err.op <= RDMACHAN_OP_QUEUE + 1; err.op++) {
			if (err.op == RDMACHAN_OP_TUNE + 2)
				err.op = RDMACHAN_OP_LIBRARY;
			length = rdmachan_explain(&err, text, sizeof(text));
			if (length > longest)
				longest = length;
		}
	}
	ok(longest < RDMACHAN_EXPLAIN_MAX, "the longest text has %d bytes", longest);
}

int main(void)
{
	test_causes();
	test_records();
	test_grants();
	test_refusals();
	test_headers();
	test_addresses();
	test_edges();
	test_longest();
	return tap_end();
}
