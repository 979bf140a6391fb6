// SPDX-License-Identifier: GPL-2.0
/*
 * ops.c - the kinds of calls, and the errors that are documented for each
 *
 * The errors are those of uapi/rdmachan.h, and EBADF, since files are closed in the
 * middle of everything. E_ANY is for calls that say nothing of this module.
 */
#include <errno.h>

#include "abi_fuzz.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

const struct op ops[] = {
	{ "open", call_open, SLOT_CTX, SLOT_CTX, 2, E_ANY },
	{ "info", call_info, SLOT_CTX, SLOT_CTX, 2, E_GENERAL },
	{ "listen", call_listen, SLOT_CTX, SLOT_LISTENER, 4, E_GENERAL | E_NEW_FD,
	  { EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT } },
	{ "accept", call_accept, SLOT_LISTENER, SLOT_PEER, 5,
	  E_GENERAL | E_BLOCKS | E_NEW_FD },
	{ "connect", call_connect, SLOT_CTX, SLOT_CHAN, 6,
	  E_GENERAL | E_BLOCKS | E_CONNECTION | E_NEW_FD,
	  { EAFNOSUPPORT, EADDRNOTAVAIL, ENOBUFS } },
	{ "send", call_send, SLOT_CHAN, SLOT_CHAN, 10, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { EMSGSIZE, ENOTCONN } },
	{ "recv", call_recv, SLOT_PEER, SLOT_PEER, 10, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { EMSGSIZE, ENOTCONN, ENOBUFS, ENOSPC, ENOMSG } },
	{ "shutdown", call_shutdown, SLOT_CHAN, SLOT_CHAN, 4, E_GENERAL | E_BLOCKS,
	  { ENOTCONN } },
	{ "query", call_query, SLOT_CHAN, SLOT_CHAN, 3, E_GENERAL, { ENOENT } },
	{ "list", call_list, SLOT_CTX, SLOT_CTX, 2, E_GENERAL, { EPERM } },
	{ "queue", call_queue, SLOT_CTX, SLOT_QUEUE, 4, E_GENERAL | E_NEW_FD, { ENOBUFS } },
	{ "pool", call_pool, SLOT_QUEUE, SLOT_QUEUE, 2, E_GENERAL | E_NEW_FD,
	  { EPERM, ENOBUFS, EINTR } },
	{ "enter", call_enter, SLOT_QUEUE, SLOT_QUEUE, 10, E_GENERAL | E_BLOCKS, { EPERM } },
	{ "register", call_register, SLOT_CTX, SLOT_CTX, 3, E_GENERAL | E_NEW_FD, { EINTR } },
	{ "unregister", call_unregister, SLOT_CTX, SLOT_CTX, 2, E_GENERAL,
	  { ENOENT, EBUSY, EPERM, EINTR } },
	{ "grant", call_grant, SLOT_CHAN, SLOT_CHAN, 8,
	  E_GENERAL | E_BLOCKS | E_CONNECTION | E_NEW_FD,
	  { ENOENT, EPERM, ERANGE, EACCES, EBUSY, EMSGSIZE, ENOTCONN, ENOBUFS } },
	{ "release", call_release, SLOT_PEER, SLOT_PEER, 3, E_GENERAL, { ENOENT, EKEYREVOKED } },
	{ "revoke", call_revoke, SLOT_CHAN, SLOT_CHAN, 4, E_GENERAL | E_BLOCKS, { ENOENT } },
	{ "get", call_get, SLOT_PEER, SLOT_PEER, 6, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { ENOENT, EKEYREVOKED, EACCES, ERANGE, ENOBUFS, ENOSPC } },
	{ "put", call_put, SLOT_PEER, SLOT_PEER, 6, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { ENOENT, EKEYREVOKED, EACCES, ERANGE, ENOBUFS, ENOSPC, EMSGSIZE } },
	{ "atomic", call_atomic, SLOT_PEER, SLOT_PEER, 6, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { ENOENT, EKEYREVOKED, EACCES, ERANGE, EREMOTEIO, ENOBUFS, ENOSPC } },
	{ "entry", call_entry, SLOT_CHAN, SLOT_OTHER, 12, E_ANY },
	{ "buffer", call_buffer, SLOT_OTHER, SLOT_OTHER, 4, E_ANY },
	{ "reap", call_reap, SLOT_OTHER, SLOT_OTHER, 3, E_ANY },
	{ "scribble", call_scribble, SLOT_OTHER, SLOT_OTHER, 3, E_ANY },
	{ "unknown", call_unknown, SLOT_CHAN, SLOT_CHAN, 1, E_GENERAL },
	{ "read", call_read, SLOT_PEER, SLOT_PEER, 6, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { EMSGSIZE, ENOTCONN, ENOBUFS, ENOSPC, ENOMSG } },
	{ "write", call_write, SLOT_CHAN, SLOT_CHAN, 6, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { EMSGSIZE, ENOTCONN } },
	{ "readv", call_readv, SLOT_PEER, SLOT_PEER, 3, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { EMSGSIZE, ENOTCONN, ENOBUFS, ENOSPC, ENOMSG } },
	{ "writev", call_writev, SLOT_CHAN, SLOT_CHAN, 3,
	  E_GENERAL | E_BLOCKS | E_CONNECTION, { EMSGSIZE, ENOTCONN } },
	{ "poll", call_poll, SLOT_CHAN, SLOT_CHAN, 3, E_ANY },
	{ "epoll", call_epoll, SLOT_CHAN, SLOT_OTHER, 2, E_ANY },
	{ "fionread", call_fionread, SLOT_PEER, SLOT_PEER, 2, E_ANY },
	{ "nonblock", call_nonblock, SLOT_CHAN, SLOT_CHAN, 2, E_ANY },
	{ "misc", call_misc, SLOT_CHAN, SLOT_OTHER, 2, E_ANY },
	{ "close", call_close, SLOT_CHAN, SLOT_CHAN, 6, E_ANY },
	{ "dup", call_dup, SLOT_CHAN, SLOT_OTHER, 2, E_ANY },
	{ "other", call_other, SLOT_OTHER, SLOT_OTHER, 1, E_ANY },
	{ "pass", call_pass, SLOT_CHAN, SLOT_CHAN, 2, E_ANY },
	{ "take", call_take, SLOT_OTHER, SLOT_OTHER, 2, E_ANY },
	{ "unmap", call_unmap, SLOT_OTHER, SLOT_OTHER, 3, E_ANY },
	{ "map", call_map, SLOT_OTHER, SLOT_OTHER, 2, E_ANY },
	{ "busy", call_busy, SLOT_CHAN, SLOT_CHAN, 3, E_GENERAL },
	{ "protect", call_protect, SLOT_OTHER, SLOT_OTHER, 2, E_ANY },
	{ "forget", call_forget, SLOT_OTHER, SLOT_OTHER, 1, E_ANY },
	{ "beyond", call_beyond, SLOT_OTHER, SLOT_OTHER, 1, E_ANY },
	{ "fork", call_fork, SLOT_OTHER, SLOT_OTHER, 1, E_ANY },
	{ "signal", call_signal, SLOT_OTHER, SLOT_OTHER, 3, E_ANY },
	{ "timer", call_timer, SLOT_OTHER, SLOT_OTHER, 2, E_ANY },
	{ "sleep", call_sleep, SLOT_OTHER, SLOT_OTHER, 2, E_ANY },
	{ "user", call_user, SLOT_OTHER, SLOT_OTHER, 1, E_ANY },
	{ "limit", call_limit, SLOT_OTHER, SLOT_OTHER, 1, E_ANY },
	{ "finish", call_finish, SLOT_CHAN, SLOT_CHAN, 4, E_GENERAL | E_BLOCKS | E_CONNECTION,
	  { ENOTCONN, ENOBUFS, ENOSPC } },
	{ "tune", call_tune, SLOT_CHAN, SLOT_CHAN, 4, E_GENERAL, { ENOTCONN, ENOBUFS, ENOSPC } },
};

const unsigned int ops_count = ARRAY_SIZE(ops);

/* What only prepares something is not worth being repeated. */
unsigned int times_of(const struct call *call)
{
	static const unsigned int times[] = { 1, 2, 4, 16, 64, 512 };
	unsigned int count = ops[call->op].home == SLOT_OTHER ? 3 : ARRAY_SIZE(times);

	return times[call->times % count];
}

static bool is_one_of(int error, const uint8_t *errors, size_t count)
{
	while (count--)
		if (errors[count] == error)
			return true;
	return false;
}

bool errno_expected(const struct op *op, int error)
{
	static const uint8_t general[] = {
		EBADF, ENOTTY, EINVAL, E2BIG, EOPNOTSUPP, EFAULT, ENOMEM,
	};
	static const uint8_t blocks[] = { EAGAIN, ETIMEDOUT, EINTR };
	static const uint8_t connection[] = {
		ECONNREFUSED, EHOSTUNREACH, EHOSTDOWN, ENODEV, ECONNRESET, EPIPE, EPROTO,
	};
	static const uint8_t new_fd[] = { EMFILE, ENFILE, EDQUOT, ENOSPC };

	return op->errors & E_ANY || is_one_of(error, op->more, ARRAY_SIZE(op->more)) ||
	       (op->errors & E_GENERAL && is_one_of(error, general, sizeof(general))) ||
	       (op->errors & E_BLOCKS && is_one_of(error, blocks, sizeof(blocks))) ||
	       (op->errors & E_CONNECTION &&
		is_one_of(error, connection, sizeof(connection))) ||
	       (op->errors & E_NEW_FD && is_one_of(error, new_fd, sizeof(new_fd)));
}
