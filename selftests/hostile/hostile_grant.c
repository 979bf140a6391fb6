// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_grant.c - lies of a peer to which the module lends memory
 *
 * The peer has the key, so the adapter lets it in as long as the module lets it. After
 * the module's program was told that its memory is its own again nothing can change it,
 * whatever the peer does.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grant.h"
#include "hostile_grant.h"
#include "region.h"
#include "scattered.h"

#define SIZE 65536U
#define AT 4096U

/**
 * struct loan - what the module has lent to the peer
 * @ctx: the context
 * @memory: all of the region; LENGTH bytes at AT are lent
 * @region: its number
 * @got: what the peer was told
 * @slot: memory of the peer's that it has last read to, or written from
 */
struct loan {
	int ctx;
	char *memory;
	u32 region;
	struct rch_grant_info got;
	char *slot;
};

static void loan_begin(struct loan *loan, struct attack *a, u32 rights)
{
	struct rdmachan_grant_range range;

	loan->ctx = open_ctx();
	loan->memory = aligned_alloc(4096, SIZE);
	ASSERT_TRUE(loan->memory);
	memset(loan->memory, 0x55, SIZE);
	loan->region = region_register(loan->ctx, loan->memory, SIZE, 0, NULL);
	ASSERT_TRUE(attack_connect(a, false));
	range = RANGE(loan->region, rights, AT, LENGTH);
	ASSERT_EQ(grant_ranges(a->victim, loan->ctx, &range, 1), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.lent.length, 5000));
	ASSERT_EQ(rch_wire_grants_count(&a->h.lent), 1);
	rch_wire_grants_get(&a->h.lent, &loan->got);
	ASSERT_EQ(loan->got.id, range.out_grant);
	ASSERT_EQ(loan->got.keys, 1);
}

/* All is given back, and so is the region. */
static void loan_end(struct loan *loan, struct attack *a)
{
	int64_t until = now_ms() + 10000;

	attack_disconnect(a);
	while (region_unregister(loan->ctx, loan->region) && errno == EBUSY && now_ms() < until)
		sleep_ms(10);
	EXPECT_ERR(region_unregister(loan->ctx, loan->region), ENOENT);
	EXPECT_EQ(grants_in_use(loan->ctx), 0);
	close(loan->ctx);
	free(loan->memory);
	memset(&a->h.lent, 0, sizeof(a->h.lent));
}

static u32 key_of(const struct loan *loan)
{
	return le32_to_cpu(loan->got.key[0]);
}

static bool is_filled(const char *data, size_t len, int with)
{
	while (len && *data == (char)with) {
		data++;
		len--;
	}
	return !len;
}

/* The peer writes so many bytes of 0xaa, @offset behind the beginning of what is lent. */
static bool reach(struct loan *loan, struct attack *a, int opcode, s64 offset, u32 len)
{
	static u8 data[SIZE];
	bool ok;

	memset(data, 0xaa, sizeof(data));
	/* Earlier frames have gone: then this is the only one under way. */
	if (!HOSTILE_UNTIL(&a->h, !a->h.busy, 5000))
		return false;
	loan->slot = hostile_reach(&a->h, opcode, loan->got.start + offset, key_of(loan), data,
				   len);
	if (!loan->slot)
		return false;
	ok = HOSTILE_UNTIL(&a->h, !a->h.busy, 5000) && !a->h.ended;
	/* Memory that was not lent has no bytes, regardless of the words of it. */
	EXPECT_TRUE(ok || is_filled(loan->slot, len, 0xaa));
	return ok;
}

static bool write_lent(struct loan *loan, struct attack *a, s64 offset, u32 len)
{
	return reach(loan, a, IBV_WR_RDMA_WRITE, offset, len);
}

static bool await_revoke(struct attack *a)
{
	return HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_REVOKE], 5000);
}

/* The peer's part, told truly, and that the key is worth what it says and no more. */
TEST_F(scene, an_honest_holder)
{
	struct attack *a = &self->a;
	struct loan loan;

	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	EXPECT_TRUE(write_lent(&loan, a, 0, LENGTH));
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, is_filled(loan.memory + AT, LENGTH, 0xaa), 5000));
	EXPECT_TRUE(is_filled(loan.memory, AT, 0x55));
	EXPECT_TRUE(is_filled(loan.memory + AT + LENGTH, SIZE - AT - LENGTH, 0x55));
	say_end(a, RCH_REC_RELEASE, loan.got.id, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	EXPECT_TRUE(grant_returned(a->victim, loan.got.id, 0));
	loan_end(&loan, a);
}

/*
 * Whether an access fails. With iWARP a WRITE is over when TCP has it, and that the other end did
 * not take it ends the connection; so it may have succeeded, and the memory tells.
 */
static bool fails(struct loan *loan, struct attack *a, int opcode, s64 offset, u32 len)
{
	return !reach(loan, a, opcode, offset, len) ||
	       (is_iwarp() && opcode == IBV_WR_RDMA_WRITE);
}

/* An access that was not lent: the connection ends, and nothing is written. */
static void expect_shut_out(struct loan *loan, struct attack *a, int opcode, s64 offset, u32 len,
			    int with)
{
	EXPECT_TRUE(fails(loan, a, opcode, offset, len));
	EXPECT_TRUE(attack_blamed(a));
	EXPECT_TRUE(is_filled(loan->memory, AT, with));
	EXPECT_TRUE(is_filled(loan->memory + AT + LENGTH, SIZE - AT - LENGTH, with));
}

struct trespass {
	const char *name;
	u32 rights;
	int opcode;
	s64 offset;
	u32 len;
};

static const struct trespass trespasses[] = {
	{ "a_byte_before", MAY_ALL, IBV_WR_RDMA_WRITE, -1, 1 },
	{ "a_byte_behind", MAY_ALL, IBV_WR_RDMA_WRITE, LENGTH, 1 },
	{ "one_more_than_there_is", MAY_ALL, IBV_WR_RDMA_WRITE, 0, LENGTH + 1 },
	{ "another_page_of_the_region", MAY_ALL, IBV_WR_RDMA_WRITE, -(s64)AT, 1 },
	{ "reading_behind", MAY_ALL, IBV_WR_RDMA_READ, LENGTH, 1 },
	{ "writing_to_what_may_be_read", MAY_READ, IBV_WR_RDMA_WRITE, 0, 8 },
	{ "writing_to_what_may_be_added_to", MAY_ATOMIC, IBV_WR_RDMA_WRITE, 0, 8 },
	{ "reading_what_may_be_written_to", MAY_WRITE, IBV_WR_RDMA_READ, 0, 8 },
	{ "an_address_of_a_kernel", MAY_ALL, IBV_WR_RDMA_WRITE, -0x777f00000000LL, 8 },
};

TEST_F_ROWS(scene, more_than_is_lent, trespasses)
{
	struct attack *a = &self->a;
	struct loan loan;

	if (is_iwarp() && row->opcode == IBV_WR_RDMA_READ && !(row->rights & MAY_READ))
		SKIP("siw answers a READ of whatever key is valid, without a look at its rights");
	loan_begin(&loan, a, row->rights);
	expect_shut_out(&loan, a, row->opcode, row->offset, row->len, 0x55);
	EXPECT_TRUE(is_filled(loan.memory, SIZE, 0x55));
	loan_end(&loan, a);
}

#define AGAIN_PAGES 512U
#define AGAIN_LENGTH (64 * 4096U)

/* The second time has a key made, see kmod/path/path_key.c; debugfs tells of it, if it is there. */
static void await_key(u32 turn)
{
	int64_t until = now_ms() + 2000;

	if (!turn || is_iwarp())
		return;
	while (module_count("keys") <= 0 && now_ms() < until)
		sleep_ms(1);
	EXPECT_GT(module_count("keys"), 0);
}

/*
 * Memory lent before is lent in the mapping of a larger part of its region. The peer gets no
 * more of that.
 */
TEST_F_TIMEOUT(scene, more_than_is_lent_again, 120)
{
	static const s64 beyond[] = { -1, AGAIN_LENGTH, AGAIN_LENGTH + 4096, -4096 };
	struct rdmachan_grant_range range;
	struct attack *a = &self->a;
	struct loan loan;
	size_t i;
	char *last;
	u32 turn;

	for (i = 0; i < ARRAY_SIZE(beyond); i++) {
		loan.ctx = open_ctx();
		loan.memory = scattered(AGAIN_PAGES * 4096);
		memset(loan.memory, 0x55, AGAIN_PAGES * 4096);
		loan.region = region_register(loan.ctx, loan.memory, AGAIN_PAGES * 4096, 0, NULL);
		last = loan.memory + 100 * 4096 + AGAIN_LENGTH - 8;
		ASSERT_TRUE(attack_connect(a, false));
		for (turn = 0; turn < 5; turn++) {
			a->h.lent.length = 0;
			range = RANGE(loan.region, MAY_ALL, 100 * 4096, AGAIN_LENGTH);
			ASSERT_EQ(grant_ranges(a->victim, loan.ctx, &range, 1), 0);
			ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.lent.length, 5000));
			rch_wire_grants_get(&a->h.lent, &loan.got);
			memset(last, 0x55, 8);
			EXPECT_TRUE(write_lent(&loan, a, AGAIN_LENGTH - 8, 8));
			ASSERT_TRUE(HOSTILE_UNTIL(&a->h, is_filled(last, 8, 0xaa), 5000));
			if (turn == 4)
				break;
			say_end(a, RCH_REC_RELEASE, loan.got.id, 0);
			ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
			EXPECT_TRUE(grant_returned(a->victim, loan.got.id, 0));
			await_key(turn);
		}
		memset(loan.memory, 0x55, AGAIN_PAGES * 4096);
		EXPECT_TRUE(fails(&loan, a, IBV_WR_RDMA_WRITE, beyond[i], 1));
		EXPECT_TRUE(attack_blamed(a));
		EXPECT_TRUE(is_filled(loan.memory, AGAIN_PAGES * 4096, 0x55));
		attack_disconnect(a);
		close(loan.ctx);
		munmap(loan.memory, AGAIN_PAGES * 4096);
		memset(&a->h.lent, 0, sizeof(a->h.lent));
	}
}

/* It answers the revocation, and uses the key that it has kept. */
static void use_after(struct fixture_scene *self, int opcode)
{
	struct attack *a = &self->a;
	struct loan loan;

	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	EXPECT_TRUE(write_lent(&loan, a, 0, 8));
	ASSERT_EQ(grant_revoke(a->victim, loan.got.id, DONTWAIT), 0);
	ASSERT_TRUE(await_revoke(a));
	say_end(a, RCH_REC_RELEASE, loan.got.id, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	EXPECT_TRUE(grant_returned(a->victim, loan.got.id, RDMACHAN_CAUSE_SHUTDOWN));
	EXPECT_EQ(grant_revoke(a->victim, loan.got.id, NULL), 0);
	memset(loan.memory, 0x77, SIZE);
	EXPECT_TRUE(fails(&loan, a, opcode, 0, 8));
	EXPECT_TRUE(attack_blamed(a));
	EXPECT_TRUE(is_filled(loan.memory, SIZE, 0x77));
	loan_end(&loan, a);
}

TEST_F(scene, writes_after_it_was_revoked)
{
	use_after(self, IBV_WR_RDMA_WRITE);
}

TEST_F(scene, reads_after_it_was_revoked)
{
	use_after(self, IBV_WR_RDMA_READ);
}

/* It gives back, and goes on. */
TEST_F(scene, writes_after_it_has_released)
{
	struct attack *a = &self->a;
	struct loan loan;

	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	say_end(a, RCH_REC_RELEASE, loan.got.id, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	EXPECT_TRUE(grant_returned(a->victim, loan.got.id, 0));
	EXPECT_TRUE(fails(&loan, a, IBV_WR_RDMA_WRITE, 0, 8));
	EXPECT_TRUE(attack_blamed(a));
	EXPECT_TRUE(is_filled(loan.memory, SIZE, 0x55));
	loan_end(&loan, a);
}

/* Each grant has a key of its own: that of the one before is worth nothing. */
TEST_F(scene, the_key_of_another_grant)
{
	struct attack *a = &self->a;
	struct loan loan;
	u32 old;

	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	old = key_of(&loan);
	say_end(a, RCH_REC_RELEASE, loan.got.id, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	EXPECT_TRUE(grant_returned(a->victim, loan.got.id, 0));
	a->h.lent.length = 0;
	ASSERT_GT(grant_range(a->victim, loan.ctx,
			      &RANGE(loan.region, MAY_READ | MAY_WRITE, AT, LENGTH)), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.lent.length, 5000));
	rch_wire_grants_get(&a->h.lent, &loan.got);
	EXPECT_NE(key_of(&loan), old);
	EXPECT_TRUE(write_lent(&loan, a, 0, 8));
	*(__le32 *)loan.got.key = cpu_to_le32(old);
	memset(loan.memory, 0x77, SIZE);
	EXPECT_TRUE(fails(&loan, a, IBV_WR_RDMA_WRITE, 0, 8));
	EXPECT_TRUE(is_filled(loan.memory, SIZE, 0x77));
	loan_end(&loan, a);
}

struct revoker {
	pthread_t thread;
	int chan;
	u32 grant;
	int result;
	bool done;
};

static void *revoke_thread(void *arg)
{
	struct revoker *r = arg;

	r->result = grant_revoke(r->chan, r->grant, NULL) ? errno : 0;
	__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* How often a test looks whether the other thread is done. */
#define LOOK_MS 5

/* It is alive and never answers: that costs the connection, and the key is worth nothing. */
static void never_answers(struct attack *a)
{
	struct revoker r = {};
	struct loan loan;
	int64_t begun;

	set_param("dead_ms", 1000);
	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	r.chan = a->victim;
	r.grant = loan.got.id;
	begun = tick_ms();
	pthread_create(&r.thread, NULL, revoke_thread, &r);
	ASSERT_TRUE(await_revoke(a));
	/* Bytes written meanwhile are written by a side that may. */
	EXPECT_TRUE(write_lent(&loan, a, 0, 8));
	while (!__atomic_load_n(&r.done, __ATOMIC_ACQUIRE) && now_ms() < begun + 80000) {
		if (a->h.ended)
			sleep_ms(LOOK_MS);
		else
			hostile_beat(&a->h, 50);
	}
	EXPECT_TRUE(r.done);
	EXPECT_TOOK(begun, 4 * 1000, timer_late(4 * 1000) + LOOK_MS);
	memset(loan.memory, 0x77, SIZE);
	EXPECT_TRUE(fails(&loan, a, IBV_WR_RDMA_WRITE, 0, 8));
	EXPECT_TRUE(is_filled(loan.memory, SIZE, 0x77));
	pthread_join(r.thread, NULL);
	EXPECT_EQ(r.result, 0);
	EXPECT_GE(attack_verdict(a, a->witness), 0);
	loan_end(&loan, a);
	set_param("dead_ms", 5000);
}

TEST_F(scene, never_answers)
{
	never_answers(&self->a);
}

/* It asks for heartbeats as often as it may: that gives it no more time. */
TEST_F(scene, never_answers_and_wants_heartbeats)
{
	self->a.dead_ms = RCH_DEAD_MIN;
	never_answers(&self->a);
}

/* Neither does it answer when the program ends the channel: a receiver must not be held. */
TEST_F(scene, abort_is_never_answered)
{
	struct attack *a = &self->a;
	struct rdmachan_error error = {};
	const struct opts o = { .timeout_ms = 20000, .error = &error };
	struct loan loan;
	int64_t begun;
	char back[8];

	set_param("dead_ms", 1000);
	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	begun = tick_ms();
	EXPECT_EQ(do_shutdown(a->victim, RDMACHAN_SHUTDOWN_ABORT), 0);
	expect_patience(a, begun, 4 * 1000);
	EXPECT_TRUE(grant_returned(a->victim, loan.got.id, RDMACHAN_CAUSE_PROTOCOL));
	EXPECT_ERR(do_recv(a->victim, back, sizeof(back), NULL, &o), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	loan_end(&loan, a);
	set_param("dead_ms", 5000);
}

/*
 * A thread receives, into memory that is open to the peer, while another one ends the channel: that
 * one waits for the thread, which waits for the peer's writes, and not for what is lent besides.
 */
TEST_F(scene, abort_of_a_message_under_way)
{
	const struct rch_rts rts = { .total = LENGTH, .serial = 3 };
	struct attack *a = &self->a;
	struct ended_read read;
	static struct frame f;
	struct loan loan;
	pthread_t aborts;
	void *ret = NULL;
	int i;

	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	ended_read_begin(&read, a->victim);
	frame_begin(&f);
	rch_wire_rts_put(frame_add(&f, &(struct rch_record){
		.chan = a->victim_no, .type = RCH_REC_RTS,
		.length = sizeof(struct rch_wire_rts) }), &rts);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 1, 3000));
	ASSERT_EQ(pthread_create(&aborts, NULL, abort_now, &a->victim), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CLOSE] == 1, 3000));
	hostile_beat(&a->h, 100);
	EXPECT_EQ(pthread_tryjoin_np(aborts, &ret), EBUSY);
	frame_begin(&f);
	frame_simple(&f, a->victim_no, RCH_REC_FIN, 0);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (i = 0; i < 50 && pthread_tryjoin_np(aborts, &ret); i++)
		hostile_beat(&a->h, 20);
	EXPECT_LT(i, 50);
	EXPECT_EQ((long)ret, 0);
	/* The memory is still the peer's, so the end is not told yet. */
	attack_disconnect(a);
	EXPECT_EQ(ended_read_end(&read), -1);
	loan_end(&loan, a);
}

/* What a holder says of grants. @times: so often; the last breaks the rule. */

struct end_lie {
	const char *name;
	int want;
	u8 type;
	u32 id;
	u32 cause;
	u32 times;
};

#define LENT_ID 0

static const struct end_lie end_lies[] = {
	{ "releases_what_it_has_not", RCH_RULE_GRANT, RCH_REC_RELEASE, 77, 0, 1 },
	{ "releases_number_0", RCH_RULE_GRANT, RCH_REC_RELEASE, -1U, 0, 1 },
	{ "releases_twice", RCH_RULE_GRANT, RCH_REC_RELEASE, LENT_ID, 0, 2 },
	/* It may be on its way; and if it is said again it has not overtaken anything. */
	{ "revokes_what_comes_later", VERDICT_ALIVE, RCH_REC_REVOKE, 1, 0, 1 },
	{ "revokes_it_twice", RCH_RULE_GRANT, RCH_REC_REVOKE, 1, 0, 2 },
	{ "revokes_number_0", RCH_RULE_GRANT, RCH_REC_REVOKE, -1U, 0, 1 },
	{ "revokes_with_a_cause", RCH_RULE_GRANT, RCH_REC_REVOKE, 1, 5, 1 },
};

TEST_F_ROWS(scene, ends_of_others, end_lies)
{
	struct attack *a = &self->a;
	struct loan loan;
	u32 n;

	loan_begin(&loan, a, MAY_ALL);
	for (n = 0; n < row->times; n++)
		say_end(a, row->type, row->id == LENT_ID ? loan.got.id :
			row->id == -1U ? 0 : row->id, row->cause);
	EXPECT_EQ(attack_verdict(a, a->witness), row->want);
	loan_end(&loan, a);
}

#define APART 1024U
/* Records in a frame. */
#define ENDS 64

/*
 * What is wanted back before it comes is kept by its number. A node of a table for each would be
 * 1.7 KiB that nobody pays for.
 */
TEST_F(scene, numbers_apart_cost_nothing)
{
	struct rch_record r = {
		.type = RCH_REC_REVOKE,
		.length = sizeof(struct rch_wire_grant_end),
	};
	struct attack *a = &self->a;
	static struct frame f;
	long before;
	u32 i;

	ASSERT_TRUE(attack_link(a));
	ASSERT_TRUE(attack_open(a, VICTIM_MINE, &a->victim_no, &a->victim));
	r.chan = a->victim_no;
	before = reclaimable_kib();
	ASSERT_GE(before, 0);
	for (i = 0; i < APART; i++) {
		if (i % ENDS == 0)
			frame_begin(&f);
		rch_wire_grant_end_put(frame_add(&f, &r), i << 20 | 1, 0);
		if (i % ENDS == ENDS - 1)
			ASSERT_EQ(hostile_say(&a->h, &f), 0);
	}
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RELEASE] == APART, 10000));
	EXPECT_LT(reclaimable_kib() - before, APART / 2);
	EXPECT_EQ(attack_verdict(a, a->witness), VERDICT_ALIVE);
}

/*
 * The module is asked to do atomic operations
 */

static void say_atomic(struct attack *a, const struct rch_atomic *atomic)
{
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_ATOMIC,
		.length = sizeof(struct rch_wire_atomic),
	};
	static struct frame f;

	frame_begin(&f);
	rch_wire_atomic_put(frame_add(&f, &r), atomic);
	hostile_say(&a->h, &f);
}

struct atomic_lie {
	const char *name;
	int want;
	u32 rights;
	u32 id;
	u32 op;
	s64 offset;
	u64 compare;
};

#define ADD RDMACHAN_ATOMIC_FETCH_ADD

static const struct atomic_lie atomic_lies[] = {
	{ "of_none", RCH_RULE_GRANT, MAY_ALL, 77, ADD },
	{ "without_the_right", RCH_RULE_GRANT, MAY_READ | MAY_WRITE, 0, ADD },
	{ "behind_the_end", RCH_RULE_GRANT, MAY_ATOMIC, 0, ADD, LENGTH },
	{ "far_behind_the_end", RCH_RULE_GRANT, MAY_ATOMIC, 0, ADD, 1LL << 40 },
	{ "before_the_beginning", RCH_RULE_GRANT, MAY_ATOMIC, 0, ADD, -8 },
	{ "not_aligned", RCH_RULE_GRANT, MAY_ATOMIC, 0, ADD, 4 },
	{ "no_operation", RCH_RULE_GRANT, MAY_ATOMIC, 0, 0 },
	{ "another_operation", RCH_RULE_GRANT, MAY_ATOMIC, 0, 3 },
	{ "compare_and_add", RCH_RULE_RESERVED, MAY_ATOMIC, 0, ADD, 0, 1 },
};

TEST_F_ROWS(scene, atomic_operations, atomic_lies)
{
	struct attack *a = &self->a;
	struct rch_atomic atomic;
	struct loan loan;

	loan_begin(&loan, a, row->rights);
	atomic = (struct rch_atomic){
		.id = row->id ? row->id : loan.got.id, .op = row->op, .operand = 1,
		.compare = row->compare, .serial = 5,
		.address = loan.got.start + row->offset,
	};
	say_atomic(a, &atomic);
	EXPECT_EQ(attack_verdict(a, a->witness), row->want);
	EXPECT_TRUE(is_filled(loan.memory, SIZE, 0x55));
	loan_end(&loan, a);
}

/* So many in each frame. */
#define ATOMICS 200

static void say_atomics(struct attack *a, const struct loan *loan, u32 count)
{
	struct rch_atomic atomic = {
		.id = loan->got.id, .op = ADD, .operand = 1, .address = loan->got.start,
	};
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_ATOMIC,
		.length = sizeof(struct rch_wire_atomic),
	};
	static struct frame f;

	frame_begin(&f);
	while (count--) {
		atomic.serial++;
		rch_wire_atomic_put(frame_add(&f, &r), &atomic);
	}
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
}

/* Return: whether the kernel does what is asked for. */
static bool atomic_loan_begin(struct loan *loan, struct attack *a)
{
	loan_begin(loan, a, MAY_ATOMIC);
	if (!(loan->got.rights & RDMACHAN_RIGHT_BY_DEVICE))
		return true;
	loan_end(loan, a);
	return false;
}

static u64 bytes_in_use(struct attack *a)
{
	struct rdmachan_info info;

	return get_info(a->ctx, &info) ? 0 : info.out_use_bytes.all;
}

/* The module has no credit for another answer. */
static void stop_answers(struct attack *a, const struct loan *loan)
{
	a->h.stingy = true;
	while (!a->h.ended && rch_seq_diff(a->h.credit.told_limit, a->h.credit.rx_next) >
			      (s32)RCH_CREDIT_RESERVE) {
		say_atomics(a, loan, 1);
		hostile_pump(&a->h, 0);
	}
}

/* As many as fill the frame that waits for a credit, and far more. */
static void say_many_atomics(struct attack *a, const struct loan *loan)
{
	int i;

	for (i = 0; i < 10; i++)
		say_atomics(a, loan, ATOMICS);
}

/* The module is out of credit for records: answers are the user's until they are taken. */
TEST_F(scene, atomic_answers_that_are_not_taken)
{
	struct attack *a = &self->a;
	u64 before, most;
	struct loan loan;

	if (!atomic_loan_begin(&loan, a))
		SKIP("the adapter does atomic operations");
	before = bytes_in_use(a);
	stop_answers(a, &loan);
	say_many_atomics(a, &loan);
	EXPECT_TRUE(attack_acknowledged(a));
	most = bytes_in_use(a);
	EXPECT_GE(most - before, 5 * ATOMICS * sizeof(struct rch_wire_atomic_done));
	a->h.stingy = false;
	hostile_pure(&a->h, 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, bytes_in_use(a) - before < (most - before) / 8, 5000));
	EXPECT_TRUE(attack_heard(a));
	loan_end(&loan, a);
}

/* There may be no more: the channel ends, which says why, and no other. */
TEST_F(scene, atomic_answer_beyond_the_limit)
{
	struct rdmachan_error error = {};
	struct attack *a = &self->a;
	struct loan loan;

	if (!atomic_loan_begin(&loan, a))
		SKIP("the adapter does atomic operations");
	/* The first ones are the channel's own. */
	stop_answers(a, &loan);
	ASSERT_TRUE(set_param("all_buffer_mib", bytes_in_use(a) >> 20));
	say_many_atomics(a, &loan);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, poll_mask(a->victim, 0, 0) & POLLERR, 5000));
	a->h.stingy = false;
	ASSERT_TRUE(set_param("all_buffer_mib", 0));
	EXPECT_EQ(get_error(a->victim, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TOTAL_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_BYTES);
	EXPECT_TRUE(attack_heard(a));
	loan_end(&loan, a);
}

/* An answer that nobody has asked for. */
TEST_F(scene, an_atomic_answer)
{
	const struct rch_record r = {
		.type = RCH_REC_ATOMIC_DONE,
		.length = sizeof(struct rch_wire_atomic_done),
	};
	struct rch_record mine = r;
	struct attack *a = &self->a;
	static struct frame f;

	ASSERT_TRUE(attack_connect(a, false));
	mine.chan = a->victim_no;
	frame_begin(&f);
	rch_wire_atomic_done_put(frame_add(&f, &mine), 5, 5);
	hostile_say(&a->h, &f);
	EXPECT_GE(attack_verdict(a, a->witness), 0);
	attack_disconnect(a);
}

TEST_HARNESS_MAIN
