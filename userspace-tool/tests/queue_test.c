// SPDX-License-Identifier: MIT
/*
 * queue_test.c - rings of a queue as the library handles them, with the fake device
 */
#include <errno.h>
#include <stdint.h>

#include <librdmachan.h>

#include "preload.h"
#include "tap.h"

static struct rdmachan_queue *queue;
static struct rdmachan_cqe *cqes[8];
static struct rdmachan_error err;

static struct rdmachan_sqe *entry(uint64_t user_data)
{
	struct rdmachan_sqe *sqe = rdmachan_queue_get_sqe(queue);

	if (sqe)
		sqe->user_data = user_data;
	return sqe;
}

static bool nops(uint64_t first, uint32_t count)
{
	struct rdmachan_sqe *sqe;
	uint32_t i;

	for (i = 0; i < count; i++) {
		sqe = entry(first + i);
		if (!sqe)
			return false;
		rdmachan_queue_prep_nop(sqe);
	}
	return true;
}

/* The fake device's indices begin 5 before their wrap. */
static void test_wrap(void)
{
	uint64_t put = 0, seen = 0;
	bool all = true;
	int i, got;

	ok(rdmachan_queue_sq_space(queue) == 4 && !rdmachan_queue_cq_ready(queue),
	   "rings are empty at first");
	while (all && put < 40) {
		all = nops(put, 4) && !rdmachan_queue_sq_space(queue) &&
		      !rdmachan_queue_get_sqe(queue) && rdmachan_queue_submit(queue, NULL) == 4 &&
		      rdmachan_queue_sq_space(queue) == 4 && rdmachan_queue_cq_ready(queue) == 4;
		put += 4;
		got = rdmachan_queue_peek_cqes(queue, cqes, 8, NULL);
		for (i = 0; i < got; i++)
			all = all && cqes[i]->user_data == seen++;
		rdmachan_queue_cqes_seen(queue, got > 0 ? got : 0);
	}
	ok(all && seen == put && !rdmachan_queue_cq_ready(queue), "indices wrap around");
}

static void test_looking(void)
{
	struct rdmachan_sqe *sqe = entry(1);

	rdmachan_queue_prep_recv(sqe, 0, NULL, 0);
	ok(rdmachan_queue_submit(queue, NULL) == 1 && !rdmachan_queue_cq_ready(queue),
	   "one that needs a further call");
	sqe = entry(2);
	ok(rdmachan_queue_peek_cqe(queue, cqes, NULL) == 1 && cqes[0]->user_data == 1 &&
	   rdmachan_queue_cq_ready(queue) == 1, "looking makes it, and submits nothing");
	rdmachan_queue_cqe_seen(queue);
	rdmachan_queue_prep_nop(sqe);
	ok(!rdmachan_queue_peek_cqe(queue, cqes, NULL) && !cqes[0], "nor does it without a call");
	ok(!rdmachan_queue_wait_cqe(queue, cqes, 1, NULL) && cqes[0]->user_data == 2,
	   "waiting submits");
	rdmachan_queue_cqe_seen(queue);
	ok(rdmachan_queue_wait_cqe(queue, cqes, 1, NULL) < 0 && errno == ETIMEDOUT && !cqes[0],
	   "waiting in vain");
}

/* As many as the completion ring has entries can be under way. */
static void test_no_place(void)
{
	ok(nops(0, 4) && rdmachan_queue_submit(queue, NULL) == 4 && nops(4, 4) &&
	   rdmachan_queue_submit(queue, NULL) == 4 && nops(8, 2) &&
	   !rdmachan_queue_submit(queue, NULL) &&
	   rdmachan_queue_sq_space(queue) == 2, "entries that find no place stay");
	rdmachan_queue_cqes_seen(queue, 8);
	ok(rdmachan_queue_submit(queue, NULL) == 2 &&
	   rdmachan_queue_peek_cqes(queue, cqes, 8, NULL) == 2 &&
	   cqes[1]->user_data == 9, "and go out with the next call");
	rdmachan_queue_cqes_seen(queue, 2);
}

static void test_pool(void)
{
	struct rdmachan_pool *pool = rdmachan_pool_open(queue, 8, &err);
	char buffer[8];
	uint32_t i;

	ok(pool && !rdmachan_pool_left(pool), "a pool is empty at first");
	for (i = 0; i < 8 && !rdmachan_pool_add(pool, buffer, 1, i); i++)
		;
	ok(i == 8 && rdmachan_pool_left(pool) == 8 &&
	   rdmachan_pool_add(pool, buffer, 1, 8) < 0 && errno == ENOBUFS, "and then full");
	rdmachan_queue_close(queue);
	ok(!rdmachan_pool_left(pool) && rdmachan_pool_add(pool, buffer, 1, 8) < 0 &&
	   errno == EBADF, "it has none when the queue is closed");
	rdmachan_pool_close(pool);
}

int main(int argc, char **argv)
{
	(void)argc;
	fake_preload(argv);
	queue = rdmachan_queue_open(rdmachan_open(NULL), 4, 8, &err);
	ok(queue, "a queue");
	if (queue) {
		test_wrap();
		test_looking();
		test_no_place();
		test_pool();
	}
	return tap_end();
}
