// SPDX-License-Identifier: MIT
/*
 * message.c - messages: sending and receiving them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

/* First size of a buffer that grows. */
#define GROW_FIRST	4096

int lib_transfer_check(const struct rdmachan_transfer *transfer)
{
	if (!transfer || transfer->size == sizeof(*transfer))
		return 0;
	errno = transfer->size < sizeof(*transfer) ? EINVAL : E2BIG;
	return -1;
}

/* With flags of the call besides. Return: as rdmachan_sendv(); @number: as rdmachan_deliver(). */
static int lib_send(int chan, const struct iovec *iov, unsigned int count,
		    const struct rdmachan_transfer *transfer, uint32_t flags, uint64_t *number,
		    struct rdmachan_error *err)
{
	struct rdmachan_send_args send = {
		.size = sizeof(send),
		.flags = flags,
		.iov_ptr = (uintptr_t)iov,
		.iov_count = count,
		.error_ptr = lib_error_prepare(err),
	};
	int ret;

	if (lib_transfer_check(transfer) < 0)
		return lib_error_call(err, RDMACHAN_OP_SEND, -1);
	if (transfer) {
		send.flags |= transfer->flags;
		send.timeout_ms = transfer->timeout_ms;
		send.msg_flags = transfer->msg_flags;
	}
	ret = ioctl(chan, RDMACHAN_SEND, &send);
	*number = send.out_number;
	return lib_error_call(err, RDMACHAN_OP_SEND, ret);
}

int rdmachan_sendv(int chan, const struct iovec *iov, unsigned int count,
		   const struct rdmachan_transfer *transfer, struct rdmachan_error *err)
{
	uint64_t number;

	return lib_send(chan, iov, count, transfer, 0, &number, err);
}

int rdmachan_deliver(int chan, const struct iovec *iov, unsigned int count,
		     const struct rdmachan_transfer *transfer, uint64_t *number,
		     struct rdmachan_error *err)
{
	uint64_t mine;

	number = number ? number : &mine;
	*number = 0;
	return lib_send(chan, iov, count, transfer, RDMACHAN_IO_F_DELIVERED, number, err);
}

int rdmachan_send(int chan, const void *data, size_t length, struct rdmachan_error *err)
{
	const struct iovec iov = { .iov_base = (void *)data, .iov_len = length };

	return rdmachan_sendv(chan, &iov, 1, NULL, err);
}

/* As rdmachan_recvv(), with flags of the call besides, and what it found in @found. */
int lib_recv(int chan, const struct iovec *iov, unsigned int count,
	     struct rdmachan_transfer *transfer, uint32_t flags, uint32_t *found,
	     struct rdmachan_error *err)
{
	struct rdmachan_recv_args recv = {
		.size = sizeof(recv),
		.flags = flags,
		.iov_ptr = (uintptr_t)iov,
		.iov_count = count,
		.error_ptr = lib_error_prepare(err),
	};
	int ret;

	if (lib_transfer_check(transfer) < 0)
		return lib_error_call(err, RDMACHAN_OP_RECV, -1);
	if (transfer) {
		recv.flags |= transfer->flags;
		recv.timeout_ms = transfer->timeout_ms;
	}
	ret = ioctl(chan, RDMACHAN_RECV, &recv);
	if (transfer) {
		transfer->msg_flags = recv.out_msg_flags;
		transfer->length = recv.out_length;
	}
	*found = recv.out_flags;
	if (ret < 0)
		return lib_error_call(err, RDMACHAN_OP_RECV, -1);
	return recv.out_flags & RDMACHAN_RECV_OUT_EOF ? 0 : 1;
}

int rdmachan_recvv(int chan, const struct iovec *iov, unsigned int count,
		   struct rdmachan_transfer *transfer, struct rdmachan_error *err)
{
	uint32_t found;

	return lib_recv(chan, iov, count, transfer, 0, &found, err);
}

int rdmachan_recv(int chan, void *buffer, size_t size, size_t *length,
		  struct rdmachan_error *err)
{
	const struct iovec iov = { .iov_base = buffer, .iov_len = size };
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	int ret;

	ret = rdmachan_recvv(chan, &iov, 1, &transfer, err);
	if (length)
		*length = transfer.length;
	return ret;
}

static int grow(void **buffer, size_t *size, size_t needed)
{
	void *larger = realloc(*buffer, needed);

	if (!larger)
		return -1;
	*buffer = larger;
	*size = needed;
	return 0;
}

int rdmachan_recv_grow(int chan, void **buffer, size_t *size,
		       struct rdmachan_transfer *transfer, struct rdmachan_error *err)
{
	struct iovec iov;
	int ret;

	lib_error_prepare(err);
	if (!transfer) {
		errno = EINVAL;
		return lib_error_call(err, RDMACHAN_OP_RECV, -1);
	}
	if (!*buffer && grow(buffer, size, GROW_FIRST) < 0)
		return lib_error_call(err, RDMACHAN_OP_RECV, -1);
	for (;;) {
		iov.iov_base = *buffer;
		iov.iov_len = *size;
		ret = rdmachan_recvv(chan, &iov, 1, transfer, err);
		if (ret >= 0 || errno != EMSGSIZE || transfer->length <= *size)
			return ret;
		if (transfer->length > RDMACHAN_MESSAGE_MAX) {
			errno = EMSGSIZE;
			return lib_error_call(err, RDMACHAN_OP_RECV, -1);
		}
		if (grow(buffer, size, transfer->length) < 0) {
			errno = ENOMEM;
			return lib_error_call(err, RDMACHAN_OP_RECV, -1);
		}
	}
}
