// SPDX-License-Identifier: GPL-2.0
/*
 * uring.c - io_uring, on channels
 */
#include <liburing.h>
#include <stdlib.h>

#include "bench.h"

#define ENTRIES (2 * BATCH)
/* Of channels. Two batches are under way at a time, which may wait if they are as large. */
#define SEND_BUFFER 1048576

static void *open_ring(void)
{
	struct io_uring *ring = malloc(sizeof(*ring));
	int ret;

	check(ring, "memory");
	ret = io_uring_queue_init(ENTRIES, ring, 0);
	/* The kernel has none, or root may not use it. */
	if (ret)
		skip("no io_uring");
	return ring;
}

static void add_send(void *ring, int fd, const void *data, size_t size, bool quiet)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	check(sqe, "entry");
	io_uring_prep_write(sqe, fd, data, size, 0);
	io_uring_sqe_set_data64(sqe, 0);
	if (quiet)
		sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	/* Those that wait are sent in any order if they are not linked; the last tells of all. */
	if (quiet && 2 * BATCH * size >= SEND_BUFFER)
		sqe->flags |= IOSQE_IO_LINK;
}

static void add_recv(void *ring, int fd, void *data, size_t size, uint64_t tag)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	check(sqe, "entry");
	io_uring_prep_read(sqe, fd, data, size, 0);
	io_uring_sqe_set_data64(sqe, tag);
}

static void enter(void *ring, unsigned int count, unsigned int min)
{
	check(io_uring_submit_and_wait(ring, min) == (int)count, "enter");
}

static bool next(void *ring, int64_t *res, uint64_t *tag)
{
	struct io_uring_cqe *cqe;

	if (io_uring_peek_cqe(ring, &cqe))
		return false;
	*res = cqe->res;
	*tag = cqe->user_data;
	io_uring_cqe_seen(ring, cqe);
	return true;
}

static void close_ring(void *ring)
{
	io_uring_queue_exit(ring);
	free(ring);
}

const struct rings uring_rings = {
	.open = open_ring,
	.send = add_send,
	.recv = add_recv,
	.enter = enter,
	.next = next,
	.close = close_ring,
};
