// SPDX-License-Identifier: MIT
/*
 * grant.c - grants: memory that is lent to a peer, and that a peer lends
 */
#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

int rdmachan_grant_lend_many(int chan, int ctx, struct rdmachan_grant_range *ranges,
			     unsigned int count, const struct iovec *iov, unsigned int iov_count,
			     const struct rdmachan_transfer *transfer, struct rdmachan_error *err)
{
	struct rdmachan_grant_args grant = {
		.size = sizeof(grant),
		.context = ctx,
		.count = count,
		.ranges_ptr = (uintptr_t)ranges,
		.range_size = sizeof(*ranges),
		.iov_ptr = (uintptr_t)iov,
		.iov_count = iov_count,
		.error_ptr = lib_error_prepare(err),
	};

	if (lib_transfer_check(transfer) < 0)
		return lib_error_call(err, RDMACHAN_OP_GRANT, -1);
	if (transfer) {
		grant.flags = transfer->flags;
		grant.timeout_ms = transfer->timeout_ms;
		grant.msg_flags = transfer->msg_flags;
	}
	return lib_error_call(err, RDMACHAN_OP_GRANT, ioctl(chan, RDMACHAN_GRANT, &grant));
}

int rdmachan_grant_lend(int chan, int ctx, struct rdmachan_grant_range *range,
			struct rdmachan_error *err)
{
	return rdmachan_grant_lend_many(chan, ctx, range, 1, NULL, 0, NULL, err);
}

static int check_aligned(const void *buffer)
{
	if ((uintptr_t)buffer % alignof(struct rdmachan_grant_event) == 0)
		return 0;
	errno = EINVAL;
	return -1;
}

int lib_events_split(void *buffer, uint64_t length, struct rdmachan_events *events)
{
	const struct rdmachan_grant_event *event = buffer;
	size_t bytes;

	if (check_aligned(buffer) < 0)
		return -1;
	if (length < sizeof(*event) || !event->count) {
		errno = EPROTO;
		return -1;
	}
	bytes = event->count * sizeof(*event);
	if (bytes > length) {
		errno = EPROTO;
		return -1;
	}
	events->events = event;
	events->count = event->count;
	events->message = (char *)buffer + bytes;
	events->length = length - bytes;
	return 0;
}

int rdmachan_recv_events(int chan, void *buffer, size_t size, struct rdmachan_transfer *transfer,
			 struct rdmachan_events *events, struct rdmachan_error *err)
{
	const struct iovec iov = { .iov_base = buffer, .iov_len = size };
	struct rdmachan_transfer own = RDMACHAN_TRANSFER_INIT;
	uint32_t found;
	int ret;

	memset(events, 0, sizeof(*events));
	lib_error_prepare(err);
	if (check_aligned(buffer) < 0)
		return lib_error_call(err, RDMACHAN_OP_RECV, -1);
	if (!transfer)
		transfer = &own;
	ret = lib_recv(chan, &iov, 1, transfer, RDMACHAN_IO_F_GRANTS, &found, err);
	if (ret <= 0)
		return ret;
	if (found & RDMACHAN_RECV_OUT_GRANTS)
		return lib_events_split(buffer, transfer->length, events) < 0 ?
		       lib_error_call(err, RDMACHAN_OP_RECV, -1) : 1;
	events->message = buffer;
	events->length = transfer->length;
	return 1;
}

int rdmachan_grant_release(int chan, uint32_t grant, struct rdmachan_error *err)
{
	struct rdmachan_release_args release = { .size = sizeof(release), .grant = grant };

	return lib_error_own(err, RDMACHAN_OP_ACCESS, ioctl(chan, RDMACHAN_RELEASE, &release));
}

int rdmachan_grant_revoke(int chan, uint32_t grant, uint32_t flags, uint32_t timeout_ms,
			  struct rdmachan_error *err)
{
	struct rdmachan_revoke_args revoke = {
		.size = sizeof(revoke),
		.flags = flags,
		.grant = grant,
		.timeout_ms = timeout_ms,
		.error_ptr = lib_error_prepare(err),
	};

	return lib_error_call(err, RDMACHAN_OP_GRANT, ioctl(chan, RDMACHAN_REVOKE, &revoke));
}

int rdmachan_grant_query(int chan, uint32_t grant, uint32_t which, struct rdmachan_object *object,
			 struct rdmachan_error *err)
{
	struct rdmachan_query_args query = {
		.size = sizeof(query),
		.flags = which,
		.object_ptr = (uintptr_t)object,
		.grant = grant,
	};

	memset(object, 0, sizeof(*object));
	object->size = sizeof(*object);
	/* Without a flag the question would be about the channel. */
	if (!which) {
		errno = EINVAL;
		return lib_error_own(err, RDMACHAN_OP_ASK, -1);
	}
	return lib_error_own(err, RDMACHAN_OP_ASK, ioctl(chan, RDMACHAN_QUERY, &query));
}

static int access_grant(int chan, unsigned long request, uint32_t grant, uint64_t offset,
			const void *memory, size_t length, struct rdmachan_error *err)
{
	struct rdmachan_access_args access = {
		.size = sizeof(access),
		.grant = grant,
		.offset = offset,
		.addr = (uintptr_t)memory,
		.length = length,
		.error_ptr = lib_error_prepare(err),
	};

	return lib_error_call(err, RDMACHAN_OP_ACCESS, ioctl(chan, request, &access));
}

int rdmachan_grant_read(int chan, uint32_t grant, uint64_t offset, void *buffer, size_t length,
			struct rdmachan_error *err)
{
	return access_grant(chan, RDMACHAN_READ, grant, offset, buffer, length, err);
}

int rdmachan_grant_write(int chan, uint32_t grant, uint64_t offset, const void *data, size_t length,
			 struct rdmachan_error *err)
{
	return access_grant(chan, RDMACHAN_WRITE, grant, offset, data, length, err);
}

int rdmachan_grant_write_notify(int chan, uint32_t grant, uint64_t offset, const void *data,
				size_t length, const void *message, size_t message_length,
				uint32_t msg_flags, struct rdmachan_error *err)
{
	struct iovec iov = { (void *)message, message_length };
	struct rdmachan_access_args access = {
		.size = sizeof(access),
		.flags = RDMACHAN_WRITE_F_NOTIFY,
		.grant = grant,
		.msg_flags = msg_flags,
		.offset = offset,
		.addr = (uintptr_t)data,
		.length = length,
		.error_ptr = lib_error_prepare(err),
		.iov_ptr = (uintptr_t)&iov,
		.iov_count = 1,
	};

	return lib_error_call(err, RDMACHAN_OP_ACCESS, ioctl(chan, RDMACHAN_WRITE, &access));
}

static int update(int chan, struct rdmachan_atomic_args *atomic, uint64_t *before,
		  struct rdmachan_error *err)
{
	int ret;

	atomic->size = sizeof(*atomic);
	atomic->error_ptr = lib_error_prepare(err);
	ret = ioctl(chan, RDMACHAN_ATOMIC, atomic);
	if (ret >= 0 && before)
		*before = atomic->out_value;
	return lib_error_call(err, RDMACHAN_OP_ACCESS, ret);
}

int rdmachan_grant_fetch_add(int chan, uint32_t grant, uint64_t offset, uint64_t add,
			     uint64_t *before, struct rdmachan_error *err)
{
	struct rdmachan_atomic_args fetch_add = {
		.grant = grant,
		.op = RDMACHAN_ATOMIC_FETCH_ADD,
		.offset = offset,
		.operand = add,
	};

	return update(chan, &fetch_add, before, err);
}

int rdmachan_grant_compare_swap(int chan, uint32_t grant, uint64_t offset, uint64_t compare,
				uint64_t swap, uint64_t *before, struct rdmachan_error *err)
{
	struct rdmachan_atomic_args compare_swap = {
		.grant = grant,
		.op = RDMACHAN_ATOMIC_COMPARE_SWAP,
		.offset = offset,
		.operand = swap,
		.compare = compare,
	};

	return update(chan, &compare_swap, before, err);
}
