// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_taken.c - what a peer may say of messages that ask whether they were received
 */
#include <errno.h>
#include <string.h>

#include "hostile_scene.h"
#include "ring.h"

/* Messages that ask, and one more behind them that does not. */
#define ASK 3
#define TELLS 3
#define WHOLE (RCH_DATA_F_FIRST | RCH_DATA_F_LAST)

static void ask(struct attack *a, struct queue *q)
{
	struct rdmachan_sqe *sqe;
	int i;

	for (i = 1; i <= ASK; i++) {
		sqe = queue_send(q, a->victim, "some", 4, i);
		sqe->op_flags = RDMACHAN_SEND_F_DELIVERED;
	}
	queue_send(q, a->victim, "more", 4, 9)->flags = RDMACHAN_SQE_F_SKIP_SUCCESS;
	ASSERT_EQ(queue_submit(q), ASK + 1);
	ASSERT_TRUE(attack_heard(a));
}

/* The numbers that the peer tells, one after the other; how many complete; and the verdict. */
static const struct {
	const char *name;
	u64 tells[TELLS];
	int count;
	int done;
	int want;
} taken[] = {
	{ "each", { 1, 2, 3 }, 3, 3, VERDICT_ALIVE },
	{ "all", { 3 }, 1, 3, VERDICT_ALIVE },
	{ "some", { 2 }, 1, 2, VERDICT_ALIVE },
	{ "never", {}, 0, 0, VERDICT_ALIVE },
	{ "none", { 0 }, 1, 0, RCH_RULE_NUMBERS },
	{ "again", { 2, 2 }, 2, 2, RCH_RULE_NUMBERS },
	{ "backwards", { 2, 1 }, 2, 2, RCH_RULE_NUMBERS },
	{ "one_that_has_not_asked", { 4 }, 1, 0, RCH_RULE_NUMBERS },
	{ "one_that_was_not_sent", { 3, 5 }, 2, 3, RCH_RULE_NUMBERS },
	{ "half_of_all_numbers", { 1ULL << 63 }, 1, 0, RCH_RULE_NUMBERS },
	{ "the_last_number", { ~0ULL }, 1, 0, RCH_RULE_NUMBERS },
	{ "a_number_that_ends_so", { (1ULL << 32) + 2 }, 1, 0, RCH_RULE_NUMBERS },
};

TEST_F_ROWS(scene, taken_tells, taken)
{
	struct attack *a = &self->a;
	struct rdmachan_cqe cqe;
	static struct frame f;
	struct queue q;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_EQ(queue_open(a->ctx, &q, 16, 16), 0);
	ask(a, &q);
	frame_begin(&f);
	for (i = 0; i < row->count; i++)
		frame_taken(&f, a->victim_no, row->tells[i]);
	if (row->count)
		ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (i = 1; i <= row->done; i++)
		EXPECT_CQE(&q, i, 4);
	if (row->want != VERDICT_ALIVE) {
		EXPECT_EQ(attack_verdict(a, a->witness), row->want);
		/* Nobody knows of those that were not told of. */
		for (; i <= ASK; i++) {
			ASSERT_TRUE(queue_wait(&q, &cqe));
			EXPECT_EQ(cqe.res, -EPROTO);
			EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_SENT);
		}
	} else {
		ASSERT_TRUE(attack_heard(a));
		EXPECT_EQ(queue_ready(&q), 0);
	}
	queue_close(&q);
	attack_disconnect(a);
}

TEST_F(scene, nobody_has_asked)
{
	struct attack *a = &self->a;
	static struct frame f;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_EQ(write(a->victim, "some", 4), 4);
	frame_begin(&f);
	frame_taken(&f, a->victim_no, 1);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_NUMBERS);
	attack_disconnect(a);
}

/* READ and CLOSE say more. Messages that they leave out were not received, and no TAKEN helps. */
TEST_F(scene, taken_behind_read)
{
	struct attack *a = &self->a;
	struct rdmachan_cqe cqe;
	static struct frame f;
	struct queue q;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_EQ(queue_open(a->ctx, &q, 16, 16), 0);
	ask(a, &q);
	frame_begin(&f);
	frame_read(&f, a->victim_no, 1);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (i = 1; i <= ASK; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.user_data, (u64)i);
		EXPECT_EQ(cqe.res, i == 1 ? 4 : -EPIPE);
		EXPECT_EQ(cqe.flags, 0);
	}
	frame_begin(&f);
	frame_taken(&f, a->victim_no, 3);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(attack_heard(a));
	queue_close(&q);
	attack_disconnect(a);
}

/* It asks of each message; the module keeps no more for that, and tells the last number. */
TEST_F(scene, asks_of_each)
{
	struct attack *a = &self->a;
	static struct frame f;
	char back[64];
	u32 i;

	ASSERT_TRUE(attack_connect(a, false));
	frame_begin(&f);
	for (i = 0; i < 200; i++)
		frame_data(&f, a->victim_no, WHOLE | RCH_DATA_F_TELL, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (i = 0; i < 200; i++)
		ASSERT_EQ(do_recv(a->victim, back, sizeof(back), NULL, TIMEOUT(5000)), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_TAKEN], 5000));
	ASSERT_TRUE(attack_heard(a));
	EXPECT_LE(a->h.count[RCH_REC_TAKEN], 200);
	attack_disconnect(a);
}

TEST_HARNESS_MAIN
