// SPDX-License-Identifier: MIT
/*
 * channel.c - listeners and channels: making, asking and ending them
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

static const struct rdmachan_options options_default = RDMACHAN_OPTIONS_INIT;

int rdmachan_listen(int ctx, uint32_t service, const struct rdmachan_options *options,
		    struct rdmachan_error *err)
{
	const struct rdmachan_options *use = options ? options : &options_default;
	struct rdmachan_listen_args listen = {
		.size = sizeof(listen),
		.service = service,
		.error_ptr = lib_error_prepare(err),
	};

	if (lib_options_check(options) < 0)
		return lib_error_call(err, RDMACHAN_OP_LISTEN, -1);
	listen.flags = use->flags;
	listen.backlog = use->backlog;
	listen.tuning = use->tuning;
	listen.local = use->local;
	if (ioctl(ctx, RDMACHAN_LISTEN, &listen) < 0)
		return lib_error_call(err, RDMACHAN_OP_LISTEN, -1);
	return listen.out_fd;
}

int rdmachan_accept(int listener, const struct rdmachan_options *options,
		    struct rdmachan_addr *peer, uint32_t *peer_claimed_uid,
		    struct rdmachan_error *err)
{
	const struct rdmachan_options *use = options ? options : &options_default;
	struct rdmachan_accept_args accept = { .size = sizeof(accept) };

	if (lib_options_check(options) < 0)
		return lib_error_own(err, RDMACHAN_OP_ACCEPT, -1);
	accept.flags = use->flags;
	accept.timeout_ms = use->timeout_ms;
	if (ioctl(listener, RDMACHAN_ACCEPT, &accept) < 0)
		return lib_error_own(err, RDMACHAN_OP_ACCEPT, -1);
	if (peer)
		*peer = accept.out_peer;
	if (peer_claimed_uid)
		*peer_claimed_uid = accept.out_peer_claimed_uid;
	return accept.out_fd;
}

int lib_connect_fill(struct rdmachan_connect_args *connect, const struct sockaddr *addr,
		     socklen_t addr_len, uint32_t service, const struct rdmachan_options *options,
		     struct rdmachan_error *err)
{
	const struct rdmachan_options *use = options ? options : &options_default;

	*connect = (struct rdmachan_connect_args){
		.size = sizeof(*connect),
		.service = service,
		.error_ptr = lib_error_prepare(err),
	};
	if (lib_options_check(options) < 0)
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	if (rdmachan_addr_from_sockaddr(&connect->addr, addr, addr_len) < 0)
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	connect->flags = use->flags;
	connect->timeout_ms = use->timeout_ms;
	connect->tuning = use->tuning;
	connect->traffic_class = use->traffic_class;
	connect->source = use->local;
	return 0;
}

int rdmachan_connect(int ctx, const struct sockaddr *addr, socklen_t addr_len, uint32_t service,
		     const struct rdmachan_options *options, struct rdmachan_error *err)
{
	struct rdmachan_connect_args connect;

	if (lib_connect_fill(&connect, addr, addr_len, service, options, err) < 0)
		return -1;
	if (ioctl(ctx, RDMACHAN_CONNECT, &connect) < 0)
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	return connect.out_fd;
}

/* A name without an address: no ioctl was made, so the record is ours. */
static int host_unknown(struct rdmachan_error *err, uint32_t service, int eai)
{
	if (eai != EAI_SYSTEM)
		errno = eai == EAI_MEMORY ? ENOMEM : EHOSTUNREACH;
	if (err) {
		lib_error_prepare(err);
		err->error = errno;
		err->op = RDMACHAN_OP_RESOLVE;
		err->cause = RDMACHAN_CAUSE_ADDRESS;
		err->service = service;
	}
	return -1;
}

/* Is it of any use to try the next address of the host after this failure? */
static int other_address_may_do(int error)
{
	switch (error) {
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENODEV:
	case ETIMEDOUT:
	case EHOSTDOWN:
	case ECONNRESET:
		return 1;
	}
	return 0;
}

static void sockaddr_set_port(struct sockaddr *sa, uint32_t port)
{
	if (sa->sa_family == AF_INET)
		((struct sockaddr_in *)sa)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)sa)->sin6_port = htons(port);
}

/* That of the local address, which may be an IPv4 address within an IPv6 one. */
static int family_to_connect(const struct rdmachan_options *options)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!options || !options->local.family)
		return AF_UNSPEC;
	if (options->local.family == AF_INET6 &&
	    !memcmp(options->local.addr, mapped, sizeof(mapped)))
		return AF_INET;
	return options->local.family;
}

int rdmachan_connect_host(int ctx, const char *host, uint32_t service,
			  const struct rdmachan_options *options, struct rdmachan_error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *ai;
	int chan = -1;
	int eai, saved;

	lib_error_prepare(err);
	if (lib_options_check(options) < 0)
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	if (options && options->port > 0xffff) {
		errno = EINVAL;
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	}
	hints.ai_family = family_to_connect(options);
	if (hints.ai_family != AF_UNSPEC && hints.ai_family != AF_INET &&
	    hints.ai_family != AF_INET6) {
		errno = EAFNOSUPPORT;
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	}
	eai = getaddrinfo(host, NULL, &hints, &list);
	if (eai)
		return host_unknown(err, service, eai);
	errno = EHOSTUNREACH;
	for (ai = list; ai; ai = ai->ai_next) {
		if (ai->ai_family != AF_INET && ai->ai_family != AF_INET6)
			continue;
		sockaddr_set_port(ai->ai_addr, options ? options->port : 0);
		chan = rdmachan_connect(ctx, ai->ai_addr, ai->ai_addrlen, service, options, err);
		if (chan >= 0 || !other_address_may_do(errno))
			break;
	}
	saved = errno;
	freeaddrinfo(list);
	errno = saved;
	return lib_error_call(err, RDMACHAN_OP_CONNECT, chan);
}

int rdmachan_query(int fd, struct rdmachan_object *object, struct rdmachan_error *last,
		   struct rdmachan_error *err)
{
	struct rdmachan_query_args query = {
		.size = sizeof(query),
		.object_ptr = (uintptr_t)object,
		.error_ptr = lib_error_prepare(last),
	};

	if (object) {
		memset(object, 0, sizeof(*object));
		object->size = sizeof(*object);
	}
	return lib_error_own(err, RDMACHAN_OP_ASK, ioctl(fd, RDMACHAN_QUERY, &query));
}

int rdmachan_connected(int chan, struct rdmachan_error *err)
{
	struct rdmachan_object object;
	struct rdmachan_error own;

	if (!err)
		err = &own;
	if (rdmachan_query(chan, &object, err, NULL) < 0)
		return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
	switch (object.state) {
	case RDMACHAN_STATE_CONNECTING:
		errno = EINPROGRESS;
		break;
	case RDMACHAN_STATE_FAILED:
		errno = err->error ? err->error : ECONNRESET;
		break;
	default:
		return 0;
	}
	return lib_error_call(err, RDMACHAN_OP_CONNECT, -1);
}

int rdmachan_shutdown(int chan, uint32_t how, struct rdmachan_error *err)
{
	struct rdmachan_shutdown_args shutdown = { .size = sizeof(shutdown), .how = how };

	return lib_error_own(err, RDMACHAN_OP_SHUTDOWN, ioctl(chan, RDMACHAN_SHUTDOWN, &shutdown));
}

int rdmachan_finish(int chan, uint32_t timeout_ms, struct rdmachan_error *err)
{
	struct rdmachan_finish_args finish = {
		.size = sizeof(finish),
		.timeout_ms = timeout_ms,
		.error_ptr = lib_error_prepare(err),
	};

	return lib_error_call(err, RDMACHAN_OP_SEND, ioctl(chan, RDMACHAN_FINISH, &finish));
}

int rdmachan_tune(int chan, const struct rdmachan_tuning *tuning, struct rdmachan_error *err)
{
	struct rdmachan_tune_args tune = {
		.size = sizeof(tune),
		.send_buffer = tuning->send_buffer,
		.recv_buffer = tuning->recv_buffer,
		.linger_ms = tuning->linger_ms,
		.error_ptr = lib_error_prepare(err),
	};

	if (tuning->message_max) {
		errno = EINVAL;
		return lib_error_call(err, RDMACHAN_OP_TUNE, -1);
	}
	return lib_error_call(err, RDMACHAN_OP_TUNE, ioctl(chan, RDMACHAN_TUNE, &tune));
}

int rdmachan_busy_poll(int fd, uint32_t usecs, struct rdmachan_error *err)
{
	struct rdmachan_busy_poll_args busy = { .size = sizeof(busy), .usecs = usecs };

	return lib_error_own(err, RDMACHAN_OP_NONE, ioctl(fd, RDMACHAN_BUSY_POLL, &busy));
}
