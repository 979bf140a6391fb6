// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_region.c - lies to a module that sends from a region
 *
 * It asks (RTS), and the peer answers (CTS) with memory that it has not, or with more, or
 * at the wrong time. Whatever the peer says, the SEND completes or can be cancelled, the
 * region can be unregistered afterwards, and nothing but the message is written. So it is
 * with a RECV when the peer asks, and then says no more of it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "hostile_scene.h"
#include "region.h"

#define SIZE 65536U
/* What the peer has for it, and as much again where nothing may be written. */
#define ROOM (2 * SIZE)
#define TAG 7
#define DEAD_MS 1000

/**
 * struct prey - what the module sends from, and what the peer has for it
 * @q: queue
 * @ctx: its context
 * @from: the message, or room for one of the peer's
 * @region: where it lies
 * @to: memory of the peer's
 * @mr: the same
 */
struct prey {
	struct queue q;
	int ctx;
	char *from;
	int64_t region;
	char *to;
	struct ibv_mr *mr;
};

static void prey_make(struct prey *p, struct attack *a)
{
	p->ctx = open_ctx();
	ASSERT_EQ(queue_open(p->ctx, &p->q, 8, 8), 0);
	p->from = aligned_alloc(4096, SIZE);
	p->to = aligned_alloc(4096, ROOM);
	ASSERT_TRUE(p->from && p->to);
	fill_random(p->from, SIZE, 1);
	memset(p->to, 0x55, ROOM);
	p->region = region_register(p->ctx, p->from, SIZE, 0, NULL);
	ASSERT_GT(p->region, 0);
	ASSERT_TRUE(attack_connect(a, false));
	p->mr = ibv_reg_mr(a->h.pd, p->to, ROOM, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_TRUE(p->mr);
}

/* The module asks. Return: the number of its question. */
static u32 prey_begin(struct prey *p, struct attack *a)
{
	prey_make(p, a);
	region_send(&p->q, a->victim, p->region, 0, SIZE, TAG);
	ASSERT_EQ(queue_submit(&p->q), 1);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS], 5000));
	return hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->second;
}

static void prey_end(struct prey *p, struct attack *a)
{
	int64_t until = now_ms() + 10000;

	ibv_dereg_mr(p->mr);
	attack_disconnect(a);
	/* An access under way on a link that ends goes on until it has. */
	while (region_unregister(p->ctx, p->region) && errno == EBUSY && now_ms() < until)
		sleep_ms(10);
	EXPECT_EQ(region_unregister(p->ctx, p->region), -1);
	EXPECT_EQ(errno, ENOENT);
	queue_close(&p->q);
	close(p->ctx);
	free(p->from);
	free(p->to);
}

/* The module has asked. */

FIXTURE(asked) {
	struct attack a;
	struct prey p;
	u32 serial;
};

FIXTURE_SETUP(asked)
{
	attack_begin(&self->a);
	self->serial = prey_begin(&self->p, &self->a);
}

FIXTURE_TEARDOWN(asked)
{
	prey_end(&self->p, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

static void answer(struct attack *a, const struct rch_cts *cts) { say_all_cts(a, 0, cts, 1); }

static struct rch_cts honest(const struct prey *p, u32 serial)
{
	return (struct rch_cts){ (uintptr_t)p->to, p->mr->rkey, SIZE, serial };
}

static bool is_filled(const char *data, size_t len, int with)
{
	while (len && *data == (char)with) {
		data++;
		len--;
	}
	return !len;
}

/* Whether the message was written, once, and nothing else. */
static bool is_written(const struct prey *p)
{
	return !memcmp(p->to, p->from, SIZE) && is_filled(p->to + SIZE, ROOM - SIZE, 0x55);
}

static bool is_untouched(const struct prey *p)
{
	return is_filled(p->to, ROOM, 0x55);
}

/* How the SEND ends. */
static int64_t result(struct prey *p, struct attack *a)
{
	struct rdmachan_cqe cqe = {};

	HOSTILE_UNTIL(&a->h, queue_ready(&p->q), 10000);
	/* It may have come with the end of the link. */
	EXPECT_TRUE(queue_wait(&p->q, &cqe));
	EXPECT_EQ(cqe.user_data, TAG);
	return cqe.res;
}

static bool waits(struct prey *p, struct attack *a)
{
	return !HOSTILE_UNTIL(&a->h, queue_ready(&p->q), 200) && !a->h.ended;
}

static void cancel(struct prey *p, struct attack *a)
{
	struct rdmachan_cqe cqe;

	queue_cancel(&p->q, TAG, 0, 1);
	ASSERT_EQ(queue_submit(&p->q), 1);
	ASSERT_TRUE(queue_wait(&p->q, &cqe));
	EXPECT_EQ(cqe.res, cqe.user_data == TAG ? -ECANCELED : 1);
	ASSERT_TRUE(queue_wait(&p->q, &cqe));
	EXPECT_EQ(cqe.res, cqe.user_data == TAG ? -ECANCELED : 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 2, 5000));
}

/*
 * Memory that is not the peer's to give: the adapter finds out, and the link ends. With iWARP
 * the peer's adapter finds out, maybe when the stream has taken all bytes and the SEND is over;
 * and it has written all there is room for by then. So it has where a message is written in parts,
 * as an adapter takes few pages with a request.
 */

struct gift {
	const char *name;
	u32 rkey;
	u64 addr;
};

static const struct gift gifts[] = {
	{ "a_key_that_is_none", 0x12345678, 0 },
	{ "the_next_key", 1, 0 },
	{ "an_address_before", 0, -4096 },
	{ "an_address_behind", 0, ROOM },
	{ "too_near_to_the_end", 0, ROOM - SIZE + 1 },
	{ "an_address_of_a_kernel", 0, 0xffff888000000000ULL },
};

static bool is_kept(const struct prey *p, const struct rch_cts *cts)
{
	const u64 told = cts->addr - (uintptr_t)p->to;
	const bool any_room = cts->rkey == p->mr->rkey && told < ROOM;
	const bool in_parts = is_iwarp() || shim_parameter("max_send_sge");

	return is_filled(p->to, in_parts && any_room ? told : ROOM, 0x55);
}

TEST_F_ROWS(asked, memory_that_it_has_not, gifts)
{
	struct rch_cts cts = honest(&self->p, self->serial);
	struct attack *a = &self->a;
	struct prey *p = &self->p;
	int64_t res;

	cts.rkey += row->rkey;
	cts.addr += row->addr;
	answer(a, &cts);
	res = result(p, a);
	EXPECT_TRUE(res < 0 || (is_iwarp() && res == SIZE));
	EXPECT_GE(attack_verdict(a, a->witness), VERDICT_CAUSE(0));
	EXPECT_TRUE(is_kept(p, &cts));
}

/* It has written to what was lent, and has said so: that settles the question as well. */
static void expect_placed(struct prey *p, struct attack *a, u32 serial)
{
	const struct heard *rts;

	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 2, 5000));
	rts = hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE);
	EXPECT_EQ(rts->flags, RCH_RTS_F_PLACED);
	EXPECT_EQ(rts->first, SIZE);
	EXPECT_EQ(rts->second, serial);
	EXPECT_EQ(a->h.count[RCH_REC_FIN], 0);
	EXPECT_TRUE(is_written(p));
}

/* What the peer lends, for the question has not come there, is the answer. */
TEST_F(scene, lent_while_it_asks)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct prey p;

	prey_begin(&p, a);
	cts = honest(&p, 5);
	say_all_cts(a, RCH_CTS_F_STANDING, &cts, 1);
	EXPECT_EQ(result(&p, a), SIZE);
	expect_placed(&p, a, 5);
	prey_end(&p, a);
}

/*
 * The memory it wants back is that for the message that it names, though another has that number.
 */
TEST_F(scene, lends_twice_with_one_number)
{
	const struct rch_cts back = { .serial = 5, .message = 1 };
	struct attack *a = &self->a;
	struct rch_cts cts[2];
	struct prey p;

	prey_begin(&p, a);
	cts[0] = honest(&p, 5);
	cts[1] = honest(&p, 5);
	cts[1].message = 1;
	say_all_cts(a, RCH_CTS_F_STANDING, cts, 2);
	EXPECT_EQ(result(&p, a), SIZE);
	expect_placed(&p, a, 5);
	say_all_cts(a, RCH_CTS_F_STANDING, &back, 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 3, 5000));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->flags,
		  RCH_RTS_F_PLACED | RCH_RTS_F_CANCEL);
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_RTS, VICTIM_MINE)->second, 5);
	prey_end(&p, a);
}

struct writer {
	int chan;
	const char *from;
	ssize_t written;
};

static void *write_it(void *arg)
{
	struct writer *w = arg;

	w->written = write(w->chan, w->from, SIZE);
	return NULL;
}

TEST_F(scene, lent_while_a_thread_asks)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct writer w;
	pthread_t thread;
	struct prey p;

	prey_make(&p, a);
	w = (struct writer){ .chan = a->victim, .from = p.from };
	ASSERT_EQ(pthread_create(&thread, NULL, write_it, &w), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RTS] == 1, 5000));
	cts = honest(&p, 5);
	say_all_cts(a, RCH_CTS_F_STANDING, &cts, 1);
	expect_placed(&p, a, 5);
	pthread_join(thread, NULL);
	EXPECT_EQ(w.written, SIZE);
	prey_end(&p, a);
}

TEST_F(asked, more_room_than_there_is_message)
{
	struct rch_cts cts = honest(&self->p, self->serial);
	struct attack *a = &self->a;
	struct prey *p = &self->p;

	cts.length = 0xffffffff;
	answer(a, &cts);
	EXPECT_EQ(result(p, a), SIZE);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_FIN] == 1, 5000));
	EXPECT_TRUE(is_written(p));
}

TEST_F(asked, room_that_is_told_twice)
{
	struct rch_cts cts = honest(&self->p, self->serial);
	struct attack *a = &self->a;
	struct prey *p = &self->p;

	answer(a, &cts);
	cts.addr += SIZE;
	answer(a, &cts);
	EXPECT_EQ(result(p, a), SIZE);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_FIN], 1);
	EXPECT_TRUE(is_written(p));
}

/* Answers to other questions are none. */
TEST_F(asked, an_answer_to_another_question)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct prey *p = &self->p;

	cts = honest(p, self->serial + 1);
	answer(a, &cts);
	cts.serial = self->serial - 1;
	answer(a, &cts);
	EXPECT_TRUE(waits(p, a));
	EXPECT_TRUE(is_untouched(p));
	cts = (struct rch_cts){ .serial = self->serial };
	answer(a, &cts);
	EXPECT_EQ(result(p, a), SIZE);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.data_bytes == SIZE, 5000));
}

/* Part of it has room, and then nothing more is said. */
TEST_F(asked, room_for_a_part)
{
	struct rch_cts cts = honest(&self->p, self->serial);
	struct attack *a = &self->a;
	struct prey *p = &self->p;

	cts.length = 4097;
	answer(a, &cts);
	EXPECT_TRUE(waits(p, a));
	EXPECT_EQ(a->h.count[RCH_REC_FIN], 1);
	EXPECT_EQ(memcmp(p->to, p->from, 4097), 0);
	EXPECT_TRUE(is_filled(p->to + 4097, ROOM - 4097, 0x55));
	cancel(p, a);
}

/* After it was taken back nothing is written. */
TEST_F(asked, an_answer_that_comes_late)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct prey *p = &self->p;

	cancel(p, a);
	cts = honest(p, self->serial);
	answer(a, &cts);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_FIN], 0);
	EXPECT_TRUE(is_untouched(p));
}

/* It says no, and then yes. */
TEST_F(asked, room_after_a_refusal)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct prey *p = &self->p;

	cts = (struct rch_cts){ .serial = self->serial };
	answer(a, &cts);
	cts = honest(p, self->serial);
	answer(a, &cts);
	EXPECT_EQ(result(p, a), SIZE);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.data_bytes == SIZE, 5000));
	EXPECT_EQ(a->h.count[RCH_REC_FIN], 0);
	EXPECT_TRUE(is_untouched(p));
}

/* It goes away with the question. */
TEST_F(asked, no_answer_at_all)
{
	struct attack *a = &self->a;
	struct prey *p = &self->p;

	rdma_disconnect(a->h.id);
	HOSTILE_UNTIL(&a->h, false, 200);
	EXPECT_LT(result(p, a), 0);
}

/*
 * The module closes what it has written to, where that was agreed upon: a window, as a
 * program's memory itself cannot be closed by a peer. Return: its key, or 0 if there are none.
 */
static u32 window_open(struct prey *p, struct attack *a, struct ibv_mw **mw)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
	struct ibv_mr *mr;

	*mw = ibv_alloc_mw(a->h.pd, IBV_MW_TYPE_2);
	if (!*mw)
		return 0;
	mr = ibv_reg_mr(a->h.pd, p->to, ROOM, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_MW_BIND);
	ASSERT_TRUE(mr);
	ibv_dereg_mr(p->mr);
	p->mr = mr;
	wr.bind_mw.mw = *mw;
	wr.bind_mw.rkey = ibv_inc_rkey((*mw)->rkey);
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)p->to;
	wr.bind_mw.bind_info.length = SIZE;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	ASSERT_EQ(hostile_post(&a->h, &wr, NULL, 0), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, !a->h.busy, 5000));
	return wr.bind_mw.rkey;
}

TEST_F(scene, closes_what_it_has_written_to)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct ibv_mw *mw;
	struct prey p;
	u32 serial;

	a->keyed = true;
	serial = prey_begin(&p, a);
	cts = honest(&p, serial);
	cts.rkey = window_open(&p, a, &mw);
	if (!cts.rkey) {
		prey_end(&p, a);
		SKIP("the adapter has no memory windows");
	}
	answer(a, &cts);
	EXPECT_EQ(result(&p, a), SIZE);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_FIN] == 1, 5000));
	EXPECT_TRUE(is_written(&p));
	EXPECT_EQ(a->h.closed, 1);
	EXPECT_EQ(a->h.closed_key, cts.rkey);
	ibv_dealloc_mw(mw);
	prey_end(&p, a);
}

/* The peer agrees, and has memory that cannot be closed: its link ends, and no other. */
TEST_F(scene, memory_that_cannot_be_closed)
{
	struct attack *a = &self->a;
	struct rch_cts cts;
	struct prey p;
	u32 serial;

	if (is_iwarp())
		SKIP("not with siw, which does not compare keys");
	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	a->keyed = true;
	serial = prey_begin(&p, a);
	cts = honest(&p, serial);
	answer(a, &cts);
	result(&p, a);
	EXPECT_GE(attack_verdict(a, a->witness), VERDICT_CAUSE(0));
	prey_end(&p, a);
}

/* Gets a region opened, and leaves it at that. */
TEST_F(scene, fin_never_comes)
{
	const struct rch_rts rts = { .total = SIZE, .serial = 3 };
	struct attack *a = &self->a;
	static struct frame f;
	struct prey p;
	int64_t begun;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	prey_make(&p, a);
	region_recv(&p.q, a->victim, p.region, 0, SIZE, TAG);
	ASSERT_EQ(queue_submit(&p.q), 1);
	frame_begin(&f);
	rch_wire_rts_put(frame_add(&f, &(struct rch_record){
		.chan = a->victim_no, .type = RCH_REC_RTS,
		.length = sizeof(struct rch_wire_rts) }), &rts);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 1, 3000));
	begun = tick_ms();
	expect_patience(a, begun, 4 * DEAD_MS);
	EXPECT_EQ(result(&p, a), -EPROTO);
	prey_end(&p, a);
}

TEST_HARNESS_MAIN
