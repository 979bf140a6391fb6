/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile_lender.h - a program of the module's that lends memory, or sends, and what a lying peer
 * says about that
 */
#ifndef RDMACHAN_HOSTILE_LENDER_H
#define RDMACHAN_HOSTILE_LENDER_H

#include <errno.h>
#include <stdlib.h>

#include "hostile_scene.h"
#include "region.h"

#define SIZE 32768U
#define TAG 7
#define CANCEL 8
#define SECOND 9

/**
 * struct lender - what the module lends, or sends
 * @q: queue
 * @ctx: its context
 * @memory: of the program, for two receives
 * @region: where it lies
 */
struct lender {
	struct queue q;
	int ctx;
	char *memory;
	int64_t region;
};

static inline void lender_begin(struct lender *l, struct attack *a)
{
	l->ctx = open_ctx();
	ASSERT_EQ(queue_open(l->ctx, &l->q, 8, 8), 0);
	l->memory = aligned_alloc(4096, 2 * SIZE);
	ASSERT_TRUE(l->memory);
	memset(l->memory, 0x55, 2 * SIZE);
	l->region = region_register(l->ctx, l->memory, 2 * SIZE, 0, NULL);
	ASSERT_GT(l->region, 0);
	ASSERT_TRUE(attack_connect(a, false));
}

/* Of one whose queue is closed. */
static inline void left_lender_end(struct lender *l, struct attack *a)
{
	int64_t until = now_ms() + 10000;

	attack_disconnect(a);
	while (region_unregister(l->ctx, l->region) && errno == EBUSY && now_ms() < until)
		sleep_ms(10);
	EXPECT_EQ(region_unregister(l->ctx, l->region), -1);
	EXPECT_EQ(errno, ENOENT);
	close(l->ctx);
	free(l->memory);
}

static inline void lender_end(struct lender *l, struct attack *a)
{
	left_lender_end(l, a);
	queue_close(&l->q);
}

static inline void say_rts(struct attack *a, u8 flags, u32 total, u32 serial)
{
	const struct rch_rts rts = { .total = total, .serial = serial };
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_RTS,
		.flags = flags,
		.length = sizeof(struct rch_wire_rts),
	};
	static struct frame f;

	frame_begin(&f);
	rch_wire_rts_put(frame_add(&f, &r), &rts);
	hostile_say(&a->h, &f);
}

static inline void say_cts(struct attack *a, const struct rch_cts *cts)
{
	say_all_cts(a, RCH_CTS_F_STANDING, cts, 1);
}

static inline void give_back(struct attack *a, u32 serial)
{
	say_rts(a, RCH_RTS_F_PLACED | RCH_RTS_F_CANCEL, 1, serial);
}

static inline void say_fin(struct attack *a)
{
	static struct frame f;

	frame_begin(&f);
	frame_simple(&f, a->victim_no, RCH_REC_FIN, 0);
	hostile_say(&a->h, &f);
}

static inline void say_data(struct attack *a, u8 flags, u32 length, u32 total)
{
	static struct frame f;

	frame_begin(&f);
	frame_data(&f, a->victim_no, flags, length, total);
	hostile_say(&a->h, &f);
}

static inline void write_there(struct attack *a, const struct rch_cts *cts, char what)
{
	static char data[SIZE];
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = cts->addr,
		.wr.rdma.rkey = cts->rkey,
	};

	memset(data, what, SIZE);
	hostile_post(&a->h, &wr, data, SIZE);
}

static inline bool all_are(const char *memory, char with)
{
	u32 i;

	for (i = 0; i < SIZE; i++)
		if (memory[i] != with)
			return false;
	return true;
}

static inline bool is_filled(const struct lender *l, char with) { return all_are(l->memory, with); }

static inline bool second_filled(const struct lender *l, char with)
{
	return all_are(l->memory + SIZE, with);
}

static inline void receive(struct lender *l, struct attack *a)
{
	region_recv(&l->q, a->victim, l->region, 0, SIZE, TAG);
	ASSERT_EQ(queue_submit(&l->q), 1);
}

/* The results of the receive, and of what cancels it. */
static inline int64_t result(struct lender *l, struct attack *a, u64 tag)
{
	struct rdmachan_cqe cqe = {};

	HOSTILE_UNTIL(&a->h, queue_ready(&l->q), 10000);
	EXPECT_TRUE(queue_wait(&l->q, &cqe));
	EXPECT_EQ(cqe.user_data, tag);
	return cqe.res;
}

static inline struct rch_cts cts_heard(struct attack *a, u32 count)
{
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == count, 5000));
	return hostile_find(&a->h, RCH_REC_CTS, VICTIM_MINE)->cts;
}

/* A message by RTS, and then the module lends. Return: what */
static inline struct rch_cts borrow(struct lender *l, struct attack *a)
{
	struct rch_cts cts;

	lender_begin(l, a);
	receive(l, a);
	say_rts(a, 0, SIZE, 1);
	cts = cts_heard(a, 1);
	write_there(a, &cts, 1);
	say_fin(a);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(l, 1));
	memset(l->memory, 0x55, SIZE);
	receive(l, a);
	cts = cts_heard(a, 2);
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_CTS, VICTIM_MINE)->flags, RCH_CTS_F_STANDING);
	EXPECT_EQ(cts.message, 1);
	EXPECT_EQ(cts.length, SIZE);
	return cts;
}

static inline void cancel(struct lender *l)
{
	queue_cancel(&l->q, TAG, 0, CANCEL);
	ASSERT_EQ(queue_submit(&l->q), 1);
}

static inline void send_it(struct lender *l, struct attack *a)
{
	region_send(&l->q, a->victim, l->region, 0, SIZE, TAG);
	ASSERT_EQ(queue_submit(&l->q), 1);
}

/* The link goes on. */
static inline void expect_alive(struct attack *a)
{
	hostile_beat(&a->h, 200);
	EXPECT_TRUE(!a->h.ended && !a->h.wc_status);
}

#endif /* RDMACHAN_HOSTILE_LENDER_H */
