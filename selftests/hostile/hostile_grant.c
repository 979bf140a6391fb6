// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_grant.c - lies of a peer to whom the module lends memory, and of one who lends
 *
 * The peer has the key, so the adapter lets it in as long as the module lets it. After
 * the module's program was told that its memory is its own again nothing can change it,
 * whatever the peer does; and whatever a peer says it lends, the module's program gets
 * its errors, and the module is as before.
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
#include "hostile_scene.h"
#include "region.h"
#include "scattered.h"

#define SIZE 65536U
#define AT 4096U
#define LENGTH 8192U
#define NONE 0x12345678U

/*
 * The module lends
 */

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
	/* What was said before has gone: then this is the only one under way. */
	if (!HOSTILE_UNTIL(&a->h, !a->h.busy, 5000))
		return false;
	loan->slot = hostile_reach(&a->h, opcode, loan->got.start + offset, key_of(loan), data,
				   len);
	if (!loan->slot)
		return false;
	ok = HOSTILE_UNTIL(&a->h, !a->h.busy, 5000) && !a->h.ended;
	/* What was not lent has not come, whatever the adapter says of it. */
	EXPECT_TRUE(ok || is_filled(loan->slot, len, 0xaa));
	return ok;
}

static bool write_lent(struct loan *loan, struct attack *a, s64 offset, u32 len)
{
	return reach(loan, a, IBV_WR_RDMA_WRITE, offset, len);
}

static void say_end(struct attack *a, u8 type, u32 id, u32 cause)
{
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = type,
		.length = sizeof(struct rch_wire_grant_end),
	};
	static struct frame f;

	frame_begin(&f);
	rch_wire_grant_end_put(frame_add(&f, &r), id, cause);
	hostile_say(&a->h, &f);
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
	while (!module_count("keys") && now_ms() < until)
		sleep_ms(1);
	EXPECT_TRUE(module_count("keys"));
}

/*
 * What was lent before is lent in the mapping of a larger part of its region. The peer gets no
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
TEST_F(scene, never_answers)
{
	struct attack *a = &self->a;
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
	/* What is written meanwhile is written by who may. */
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

/* Neither does it answer when the program ends the channel: who receives must not be held. */
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

static void *read_some(void *arg)
{
	static char room[LENGTH];

	return (void *)read(*(int *)arg, room, sizeof(room));
}

static void *abort_now(void *arg)
{
	return (void *)(long)do_shutdown(*(int *)arg, RDMACHAN_SHUTDOWN_ABORT);
}

/*
 * A thread receives, into memory that is open to the peer, while another one ends the channel: that
 * one waits for the thread, and not for what is lent besides.
 */
TEST_F(scene, abort_of_a_message_under_way)
{
	const struct rch_rts rts = { .total = LENGTH, .serial = 3 };
	struct attack *a = &self->a;
	pthread_t reads, aborts;
	static struct frame f;
	struct loan loan;
	void *ret = NULL;
	int i;

	loan_begin(&loan, a, MAY_READ | MAY_WRITE);
	ASSERT_EQ(pthread_create(&reads, NULL, read_some, &a->victim), 0);
	sleep_ms(50);
	frame_begin(&f);
	rch_wire_rts_put(frame_add(&f, &(struct rch_record){
		.chan = a->victim_no, .type = RCH_REC_RTS,
		.length = sizeof(struct rch_wire_rts) }), &rts);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 1, 3000));
	ASSERT_EQ(pthread_create(&aborts, NULL, abort_now, &a->victim), 0);
	for (i = 0; i < 50 && pthread_tryjoin_np(aborts, &ret); i++)
		hostile_beat(&a->h, 20);
	EXPECT_LT(i, 50);
	EXPECT_EQ((long)ret, 0);
	/* The memory is still the peer's, so the end is not told yet. */
	attack_disconnect(a);
	pthread_join(reads, &ret);
	EXPECT_EQ((long)ret, -1);
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

/*
 * The peer lends
 */

static const struct rch_grant_info offer = {
	.id = 1, .rights = MAY_READ | MAY_WRITE, .length = 5000, .cookie = 3, .start = 8,
	.shift = 21, .keys = 1,
};

/* A message with these, as they are; some of the record may be spoiled by @spoil. */
static void say_grants(struct attack *a, const struct rch_grant_info *grants, u32 count,
		       void (*spoil)(struct rch_record *r, u8 *payload))
{
	struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_DATA,
		.flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_GRANTS,
	};
	static u8 bytes[HOSTILE_BUFFER] __attribute__((aligned(8)));
	static struct frame f;

	r.length = rch_wire_grants_size(grants, count, 0);
	r.total = r.length;
	memset(bytes, 0, sizeof(bytes));
	rch_wire_grants_put(bytes, grants, count);
	if (spoil)
		spoil(&r, bytes);
	frame_begin(&f);
	memcpy(frame_add(&f, &r), bytes, r.length);
	hostile_say(&a->h, &f);
}

static void *add_there(void *arg)
{
	uint64_t value;

	return (void *)(long)grant_add(*(int *)arg, offer.id, 0, 1, &value);
}

static void *shut_down(void *arg)
{
	return (void *)(long)do_shutdown(*(int *)arg, RDMACHAN_SHUTDOWN_RECV);
}

/*
 * A thread receives, another one waits to shut that down, and a third one ends the channel. The
 * peer hears of that only when it has answered what it was asked: nothing of what was received is
 * told before.
 */
TEST_F(scene, abort_ahead_of_what_was_read)
{
	const struct rch_rts rts = { .total = LENGTH, .serial = 3 };
	const __le32 key = cpu_to_le32(NONE);
	struct rch_grant_info mine = offer;
	struct attack *a = &self->a;
	pthread_t adds, reads, shuts, aborts;
	static struct frame f;

	mine.rights = MAY_ATOMIC;
	mine.key = &key;
	ASSERT_TRUE(attack_connect(a, false));
	say_grants(a, &mine, 1, NULL);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	ASSERT_TRUE(grant_held(a->victim, mine.id));
	ASSERT_EQ(pthread_create(&adds, NULL, add_there, &a->victim), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_ATOMIC] == 1, 5000));
	ASSERT_EQ(pthread_create(&reads, NULL, read_some, &a->victim), 0);
	hostile_beat(&a->h, 50);
	frame_begin(&f);
	rch_wire_rts_put(frame_add(&f, &(struct rch_record){
		.chan = a->victim_no, .type = RCH_REC_RTS,
		.length = sizeof(struct rch_wire_rts) }), &rts);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 1, 5000));
	ASSERT_EQ(pthread_create(&shuts, NULL, shut_down, &a->victim), 0);
	hostile_beat(&a->h, 50);
	ASSERT_EQ(pthread_create(&aborts, NULL, abort_now, &a->victim), 0);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_CLOSE], 0);
	EXPECT_EQ(a->h.count[RCH_REC_READ], 0);
	attack_disconnect(a);
	pthread_join(adds, NULL);
	pthread_join(reads, NULL);
	pthread_join(shuts, NULL);
	pthread_join(aborts, NULL);
}

#define WIRE(payload) ((struct rch_wire_grant *)((payload) + sizeof(struct rch_wire_grants)))
#define TOP(payload) ((struct rch_wire_grants *)(payload))

static void no_grants(struct rch_record *r, u8 *payload)
{
	(void)r;
	TOP(payload)->count = 0;
}

static void too_many_grants(struct rch_record *r, u8 *payload)
{
	TOP(payload)->count = cpu_to_le32(RCH_GRANTS_MAX + 1);
	r->length = 4096;
	r->total = 4096;
}

static void more_grants_than_bytes(struct rch_record *r, u8 *payload)
{
	(void)r;
	TOP(payload)->count = cpu_to_le32(2);
}

static void reserved(struct rch_record *r, u8 *payload)
{
	(void)r;
	TOP(payload)->reserved = cpu_to_le32(1);
}

static void number_0(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->id = 0;
}

static void no_rights(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->rights = 0;
}

static void other_rights(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->rights = cpu_to_le32(8 | MAY_READ);
}

static void device_without_atomics(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->rights = cpu_to_le32(RDMACHAN_RIGHT_BY_DEVICE | MAY_READ);
}

static void no_length(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->length = 0;
}

static void longer_than_the_keys(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->length = cpu_to_le64((1 << 21) - 7);
}

static void as_long_as_can_be(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->length = cpu_to_le64(~0ULL);
}

static void small_pieces(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->shift = cpu_to_le32(3);
}

static void large_pieces(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->shift = cpu_to_le32(31);
}

static void absurd_pieces(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->shift = cpu_to_le32(0xffffffff);
}

static void begins_in_another_piece(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->start = cpu_to_le32(1 << 21);
}

static void no_keys(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->keys = 0;
}

static void keys_that_are_not_there(struct rch_record *r, u8 *payload)
{
	(void)r;
	WIRE(payload)->keys = cpu_to_le32(4096);
	WIRE(payload)->length = cpu_to_le64(4096ULL << 21);
	WIRE(payload)->start = 0;
}

static void not_the_first(struct rch_record *r, u8 *payload)
{
	(void)payload;
	r->flags &= ~RCH_DATA_F_FIRST;
}

static void not_the_last(struct rch_record *r, u8 *payload)
{
	(void)payload;
	r->flags &= ~RCH_DATA_F_LAST;
	r->total += 8;
}

static void aborted(struct rch_record *r, u8 *payload)
{
	(void)payload;
	r->flags |= RCH_DATA_F_ABORT;
}

static void part_of_a_message(struct rch_record *r, u8 *payload)
{
	(void)payload;
	r->total += 8;
}

static void nothing_in_it(struct rch_record *r, u8 *payload)
{
	(void)payload;
	r->length = 0;
	r->total = 0;
}

struct offer_lie {
	const char *name;
	int want;
	void (*spoil)(struct rch_record *r, u8 *payload);
};

#define LIE(want, how) { #how, want, how }

static const struct offer_lie offer_lies[] = {
	LIE(RCH_RULE_RECORD_LENGTH, no_grants),
	LIE(RCH_RULE_RECORD_LENGTH, too_many_grants),
	LIE(RCH_RULE_RECORD_LENGTH, more_grants_than_bytes),
	LIE(RCH_RULE_RESERVED, reserved),
	LIE(RCH_RULE_GRANT, number_0),
	LIE(RCH_RULE_GRANT, no_rights),
	LIE(RCH_RULE_GRANT, other_rights),
	LIE(RCH_RULE_GRANT, device_without_atomics),
	LIE(RCH_RULE_GRANT, no_length),
	LIE(RCH_RULE_GRANT, longer_than_the_keys),
	LIE(RCH_RULE_GRANT, as_long_as_can_be),
	LIE(RCH_RULE_GRANT, small_pieces),
	LIE(RCH_RULE_GRANT, large_pieces),
	LIE(RCH_RULE_GRANT, absurd_pieces),
	LIE(RCH_RULE_GRANT, begins_in_another_piece),
	LIE(RCH_RULE_GRANT, no_keys),
	LIE(RCH_RULE_RECORD_LENGTH, keys_that_are_not_there),
	LIE(RCH_RULE_SEGMENT, not_the_first),
	LIE(RCH_RULE_SEGMENT, not_the_last),
	LIE(RCH_RULE_RECORD_LENGTH, aborted),
	LIE(RCH_RULE_SEGMENT, part_of_a_message),
	LIE(RCH_RULE_RECORD_LENGTH, nothing_in_it),
};

/* In turn by the active and the passive side. */
TEST_F_ROWS(scene, lies_in_offers, offer_lies)
{
	__le32 key = cpu_to_le32(NONE);
	struct rch_grant_info mine = offer;
	struct attack *a = &self->a;

	mine.key = &key;
	ASSERT_TRUE(attack_connect(a, (row - offer_lies) % 2));
	say_grants(a, &mine, 1, row->spoil);
	EXPECT_EQ(attack_verdict(a, a->witness), row->want);
	EXPECT_EQ(grants_in_use(a->ctx), 0);
	attack_disconnect(a);
}

/* Numbers go up. */
TEST_F_TIMEOUT(scene, numbers_of_offers, 100)
{
	static const u32 ids[][2] = {
		{ 5, 5 }, { 5, 4 }, { 5, 0x80000006 }, { 0xffffffff, 0xfffffffe }, { 1, 1 },
	};
	__le32 key = cpu_to_le32(NONE);
	struct rch_grant_info two[2] = { offer, offer };
	struct attack *a = &self->a;
	size_t i;

	two[0].key = &key;
	two[1].key = &key;
	for (i = 0; i < 2 * ARRAY_SIZE(ids); i++) {
		two[0].id = ids[i / 2][0];
		two[1].id = ids[i / 2][1];
		ASSERT_TRUE(attack_connect(a, false));
		/* In one message, or in two. */
		say_grants(a, two, i % 2 ? 2 : 1, NULL);
		if (i % 2 == 0)
			say_grants(a, two + 1, 1, NULL);
		EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_GRANT);
		attack_disconnect(a);
	}
}

/* A grant whose key is worth nothing: who uses it is told so. */
TEST_F(scene, an_offer_that_is_none)
{
	struct rdmachan_grant_event event;
	__le32 key = cpu_to_le32(NONE);
	struct rch_grant_info mine = offer;
	struct attack *a = &self->a;
	char own[64];
	pid_t child;
	int i, status;

	mine.key = &key;
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(attack_connect(a, false));
		say_grants(a, &mine, 1, NULL);
		ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
		ASSERT_TRUE(grant_next(a->victim, &event));
		EXPECT_EQ(event.length, offer.length);
		EXPECT_EQ(event.cookie, offer.cookie);
		child = fork();
		if (!child) {
			int ret = i ? grant_write(a->victim, event.grant, 0, own, 64) :
				  grant_read(a->victim, event.grant, 0, own, 64);

			_exit(ret == -1 ? errno : 0);
		}
		HOSTILE_UNTIL(&a->h, a->h.ended, 5000);
		status = WEXITSTATUS(child_status(child));
		/* An iWARP adapter has done a WRITE when it is on its way. */
		if (i != 1 || !is_iwarp() || status)
			EXPECT_EQ(status, ECONNRESET);
		EXPECT_GE(attack_verdict(a, a->witness), VERDICT_CAUSE(0));
		attack_disconnect(a);
	}
}

/* Revoked while it is asked for, twice, and before it is known to the program. */
TEST_F(scene, revoked_offers)
{
	__le32 key = cpu_to_le32(NONE);
	struct rch_grant_info mine = offer;
	struct attack *a = &self->a;
	char own[64];

	mine.key = &key;
	ASSERT_TRUE(attack_connect(a, false));
	say_grants(a, &mine, 1, NULL);
	say_end(a, RCH_REC_REVOKE, mine.id, 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RELEASE] == 1, 5000));
	EXPECT_TRUE(grant_held(a->victim, mine.id));
	EXPECT_ERR(grant_read(a->victim, mine.id, 0, own, 64), EKEYREVOKED);
	EXPECT_ERR(grant_release(a->victim, mine.id), EKEYREVOKED);
	/* A release may have been under way when it was said. */
	say_end(a, RCH_REC_REVOKE, mine.id, 0);
	hostile_beat(&a->h, 200);
	EXPECT_EQ(a->h.count[RCH_REC_RELEASE], 1);
	attack_disconnect(a);
}

/* The listener is of a user who has limits. */
static int limited_user(struct attack *a)
{
	int ctx;

	set_param("user_grants", 100);
	close(a->listener);
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	/* This thread alone: seteuid() would interrupt the calls of the honest one. */
	ASSERT_EQ(syscall(SYS_setresuid, -1, 1009, -1), 0);
	ctx = open_ctx();
	a->listener = do_listen(ctx, PREY, &prey_opts);
	ASSERT_EQ(syscall(SYS_setresuid, -1, 0, -1), 0);
	chmod(DEVICE, 0600);
	ASSERT_GE(a->listener, 0);
	return ctx;
}

/* More than may be: the channel ends for that, and not the link. */
static void expect_limit(struct attack *a, int ctx)
{
	int64_t until = now_ms() + 5000;
	struct rdmachan_error error;

	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, poll_mask(a->victim, POLLIN, 0) & POLLERR, 5000));
	EXPECT_EQ(get_error(a->victim, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_USER_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_GRANTS);
	EXPECT_EQ(poll_mask(a->witness, POLLIN, 0) & POLLERR, 0);
	EXPECT_LE(grants_in_use(ctx), 100);
	attack_disconnect(a);
	while (grants_in_use(ctx) && now_ms() < until)
		sleep_ms(5);
	EXPECT_EQ(grants_in_use(ctx), 0);
	set_param("user_grants", 65536);
	close(ctx);
}

TEST_F_TIMEOUT(scene, a_flood_of_offers, 100)
{
	static __le32 keys[RCH_GRANTS_MAX];
	struct rch_grant_info many[RCH_GRANTS_MAX];
	struct attack *a = &self->a;
	int i, ctx = limited_user(a);
	u32 id = 1, turn;

	ASSERT_TRUE(attack_connect(a, false));
	for (turn = 0; turn < 40 && !a->h.ended; turn++) {
		for (i = 0; i < RCH_GRANTS_MAX; i++) {
			many[i] = offer;
			many[i].id = id++;
			many[i].key = &keys[i];
		}
		say_grants(a, many, RCH_GRANTS_MAX, NULL);
		hostile_pump(&a->h, 10);
	}
	expect_limit(a, ctx);
}

/* Of what never comes: each is remembered, and counts. */
TEST_F_TIMEOUT(scene, a_flood_of_revocations, 100)
{
	struct attack *a = &self->a;
	int ctx = limited_user(a);
	u32 id;

	ASSERT_TRUE(attack_connect(a, false));
	for (id = 1; id < 300 && !a->h.ended; id++)
		say_end(a, RCH_REC_REVOKE, id, 0);
	expect_limit(a, ctx);
}

TEST_HARNESS_MAIN
