// SPDX-License-Identifier: MIT
/*
 * explain.c - explanations: an error record as sentences
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Text that goes on growing in length when its buffer is full, as snprintf(). */
struct text {
	char *buffer;
	size_t size;
	size_t length;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *text, const char *format, ...)
{
	size_t left = text->length < text->size ? text->size - text->length : 0;
	va_list args;
	int count;

	va_start(args, format);
	count = vsnprintf(left ? text->buffer + text->length : NULL, left, format, args);
	va_end(args);
	if (count > 0)
		text->length += count;
}

static int is_loopback(const struct rdmachan_addr *addr)
{
	static const uint8_t one[16] = { [15] = 1 };
	static const uint8_t mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };

	if (addr->family == AF_INET)
		return addr->addr[0] == 127;
	return addr->family == AF_INET6 && (!memcmp(addr->addr, one, sizeof(one)) ||
					    !memcmp(addr->addr, mapped, sizeof(mapped)));
}

static int is_no_host(const struct rdmachan_error *err)
{
	return err->cause == RDMACHAN_CAUSE_ADDRESS && err->peer.family && err->detail == 1;
}

/*
 * No device serves the loopback interface. Adapters find that out at different steps: some have no
 * device, some no address there, some no route.
 */
static int no_loopback_device(const struct rdmachan_error *err)
{
	return is_loopback(&err->peer) && (err->cause == RDMACHAN_CAUSE_NO_DEVICE ||
					   err->cause == RDMACHAN_CAUSE_ADDRESS ||
					   err->cause == RDMACHAN_CAUSE_ROUTE);
}

/* Everybody but the module writes records too: never trust the final zero. */
static int device_length(const struct rdmachan_error *err)
{
	return strnlen(err->device, sizeof(err->device));
}

static void add_peer(struct text *text, const struct rdmachan_error *err)
{
	char addr[RDMACHAN_ADDR_MAX];

	if (err->service)
		add(text, " service %u", err->service);
	if (err->op == RDMACHAN_OP_LISTEN || err->op == RDMACHAN_OP_REGISTER)
		return;
	if (err->service)
		add(text, " at");
	if (err->peer.family)
		add(text, " %s", rdmachan_addr_text(&err->peer, addr, sizeof(addr)));
	else
		add(text, " the peer");
	if (err->peer.port && ntohs(err->peer.port) != RDMACHAN_PORT)
		add(text, " (port %u)", ntohs(err->peer.port));
}

static void add_local(struct text *text, const struct rdmachan_error *err)
{
	char addr[RDMACHAN_ADDR_MAX];

	if (err->local.family)
		add(text, " %s %s", err->op == RDMACHAN_OP_LISTEN ? "at" : "from",
		    rdmachan_addr_text(&err->local, addr, sizeof(addr)));
	if (!err->device[0])
		return;
	add(text, " over RDMA device %.*s", device_length(err), err->device);
	if (err->dev_port)
		add(text, " port %u", err->dev_port);
}

/* Regions have no peer, nor have calls of the library, and operations not known may have none. */
static int has_ends(const struct rdmachan_error *err)
{
	if (err->op == RDMACHAN_OP_REGISTER || err->op >= RDMACHAN_OP_LIBRARY)
		return 0;
	return err->cause != RDMACHAN_CAUSE_NONE || err->op != RDMACHAN_OP_NONE;
}

/* "Connecting to service 5000 at 10.0.0.2 over ... failed: refused (ECONNREFUSED)." */
static void add_what(struct text *text, const struct rdmachan_error *err)
{
	const char *name = lib_errno_name(err->error);

	if (err->cause == RDMACHAN_CAUSE_NONE && err->op == RDMACHAN_OP_NONE)
		add(text, "The call");
	else
		add(text, "%s", lib_op_text(err->op));
	if (has_ends(err)) {
		add_peer(text, err);
		add_local(text, err);
	}
	if (!err->error)
		add(text, " failed.\n");
	else if (name)
		add(text, " failed: %s (%s).\n", lib_errno_text(err->error), name);
	else
		add(text, " failed with error %u.\n", err->error);
}

static void add_detail(struct text *text, const struct rdmachan_error *err)
{
	unsigned long long detail = err->detail;
	const char *name;

	switch (err->cause) {
	case RDMACHAN_CAUSE_MESSAGE_SIZE:
		add(text, " Its limit is %llu bytes.", detail);
		break;
	case RDMACHAN_CAUSE_SEND_BUFFER:
		add(text, " The buffer has %llu bytes.", detail);
		break;
	case RDMACHAN_CAUSE_PEER_CLOSED:
	case RDMACHAN_CAUSE_PEER_SHUTDOWN:
		if (detail)
			add(text, " It has not received %llu message%s that %s sent.", detail,
			    detail == 1 ? "" : "s", detail == 1 ? "was" : "were");
		break;
	case RDMACHAN_CAUSE_PEER_KILLED:
		name = lib_signal_name(detail);
		if (name)
			add(text, " The signal was %s.", name);
		else if (detail)
			add(text, " The signal was number %llu.", detail);
		break;
	case RDMACHAN_CAUSE_USER_LIMIT:
	case RDMACHAN_CAUSE_TOTAL_LIMIT:
		name = lib_limit_name(detail);
		if (name)
			add(text, " The limit is the module's parameter %s_%s.",
			    err->cause == RDMACHAN_CAUSE_USER_LIMIT ? "user" : "all", name);
		break;
	case RDMACHAN_CAUSE_MEMLOCK:
		add(text, " The limit is %llu bytes, of which %llu are in use, and %llu more are needed.",
		    (unsigned long long)err->limit, (unsigned long long)err->used,
		    (unsigned long long)err->needed);
		break;
	case RDMACHAN_CAUSE_PORT_TAKEN:
		add(text, " The port is %llu.", detail);
		break;
	case RDMACHAN_CAUSE_MTU:
		add(text, " It carries packets of %llu bytes now, and those of the connection had %llu.",
		    (unsigned long long)err->limit, (unsigned long long)err->needed);
		break;
	case RDMACHAN_CAUSE_UNCERTAIN:
		name = detail ? rdmachan_cause_name(detail < UINT32_MAX ? detail : UINT32_MAX) :
				NULL;
		if (name)
			add(text, " It ended by the cause \"%s\".", name);
		break;
	case RDMACHAN_CAUSE_FEATURE:
		add(text, " The feature bits are 0x%llx.", detail);
		break;
	case RDMACHAN_CAUSE_PROTOCOL:
		add(text, " The rule that was broken has number %llu.", detail);
		break;
	}
}

static void add_transport(struct text *text, const struct rdmachan_error *err)
{
	if (err->wc_status) {
		add(text, "The adapter reported: %s (completion status %u",
		    lib_wc_status_text(err->wc_status), err->wc_status);
		if (err->vendor_err)
			add(text, ", vendor error 0x%x", err->vendor_err);
		add(text, ").\n");
	}
	if (!err->cm_event)
		return;
	add(text, "The last event of the connection manager was: %s",
	    lib_cm_event_text(err->cm_event - 1));
	if (err->cm_status > 0)
		add(text, ", because: %s (%d)", lib_reject_text(err->cm_status), err->cm_status);
	else if (err->cm_status < 0)
		add(text, ", because: %s (%d)", lib_errno_text(-(uint32_t)err->cm_status),
		    err->cm_status);
	add(text, ".\n");
}

static const char *cause_text(const struct rdmachan_error *err)
{
	if (err->cause == RDMACHAN_CAUSE_LOCAL_ADDRESS && err->local.family)
		return err->detail ? "No RDMA device of this host serves that local address." :
				     "This host has no such local address.";
	if (err->cause == RDMACHAN_CAUSE_ADDRESS && !err->peer.family)
		return "The name of the host has no address.";
	if (no_loopback_device(err))
		return "The loopback interface has no RDMA device.";
	if (is_no_host(err))
		return "No host can have that address: it is that of many (multicast, broadcast), "
		       "or of none.";
	return rdmachan_cause_text(err->cause);
}

static const char *cause_hint(const struct rdmachan_error *err)
{
	if (err->cause == RDMACHAN_CAUSE_ADDRESS && !err->peer.family)
		return "Check the spelling, and the name service with \"getent hosts NAME\".";
	if (is_no_host(err))
		return "Use the address of one host.";
	if (no_loopback_device(err))
		return "Use the host's own address on an interface that has one "
		       "(\"rdma link\" shows which).";
	return rdmachan_cause_hint(err->cause);
}

/* The call has failed, and not the channel. */
static void add_refusal(struct text *text, const struct rdmachan_error *err)
{
	const struct lib_refusal *refusal = lib_refusal(err->error, err->op);

	add(text, "%s\nWhat to do: %s\n", refusal->text, refusal->hint);
}

int rdmachan_explain(const struct rdmachan_error *err, char *buffer, size_t size)
{
	struct text text = { .buffer = buffer, .size = size };

	if (size)
		buffer[0] = '\0';
	if (err->cause == RDMACHAN_CAUSE_NONE && !err->error) {
		add(&text, "Nothing has failed.\n");
		return text.length;
	}
	add_what(&text, err);
	if (err->cause == RDMACHAN_CAUSE_NONE) {
		add_refusal(&text, err);
		return text.length;
	}
	add(&text, "%s", cause_text(err));
	add_detail(&text, err);
	add(&text, "\n");
	add_transport(&text, err);
	add(&text, "What to do: %s\n", cause_hint(err));
	return text.length;
}
