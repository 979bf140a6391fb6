/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant_entries.h - the queue of a test of grants, and the use of its entries
 */
#ifndef _SELFTESTS_GRANT_ENTRIES_H
#define _SELFTESTS_GRANT_ENTRIES_H

#include "common.h"
#include "grant_fixture.h"
#include "grant_ring.h"
#include "harness.h"

#define ENTRIES 4096
/* As much as the module does at a time: RCH_ACCESS_SCATTERED, and RCH_WRITE_STEP. */
#define STEP (128 * KIB)
#define PART (512 * KIB)

static struct queue q;

static inline void begin(struct fixture_grant *self)
{
	ASSERT_EQ(queue_open(self->ctx, &q, ENTRIES, ENTRIES), 0);
}

/* The next completion. Return: its result */
static inline int64_t result(uint64_t *data)
{
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(queue_wait(&q, &cqe));
	if (data)
		*data = cqe.user_data;
	return cqe.res;
}

/* The next completion is this one. */
static inline void expect_done(uint64_t data, int64_t res)
{
	uint64_t found = 0;

	EXPECT_EQ(result(&found), res);
	EXPECT_EQ(found, data);
}

static inline void submit(int count)
{
	ASSERT_EQ(queue_submit(&q), count);
}

/* Read so many messages of 1000 bytes each, which fill_up() has sent. */
static inline void drain(int chan, int count)
{
	struct rdmachan_recv_args recv;
	char data[1000];

	while (count--) {
		ASSERT_EQ(do_recv(chan, data, sizeof(data), &recv, TIMEOUT(10000)), 0);
		EXPECT_EQ(recv.out_length, sizeof(data));
	}
}

static inline struct rdmachan_sqe *queue_notify(struct fixture_grant *self, uint32_t grant,
						uint64_t offset, const void *from, uint64_t len,
						uint32_t msg_flags, uint64_t data)
{
	struct rdmachan_sqe *sqe = queue_write(&q, self->holder, grant, offset, from, len, data);

	sqe->op_flags = RDMACHAN_WRITE_F_NOTIFY;
	sqe->msg_flags = msg_flags;
	return sqe;
}

/* Bytes that are there, whose message waits for room, and entries behind it. */
static inline int hold_up(struct fixture_grant *self, uint32_t grant, const char *word)
{
	int count = fill_up(self->holder, 1000);

	queue_notify(self, grant, 0, word, 3, 9, 1);
	queue_send(&q, self->holder, NULL, 0, 2)->msg_flags = 10;
	submit(2);
	while (memcmp(self->memory, word, 3))
		sleep_ms(1);
	sleep_ms(20);
	EXPECT_EQ(queue_ready(&q), 0);
	return count;
}

#endif /* _SELFTESTS_GRANT_ENTRIES_H */
