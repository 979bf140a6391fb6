// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_offer.c - lies of a peer that lends memory to the module
 *
 * For any memory it claims to lend, the module's program gets its errors, and the module is as
 * before.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "grant.h"
#include "hostile_grant.h"
#include "slow.h"

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

static void *add_five(void *arg)
{
	uint64_t value;

	return (void *)(long)grant_add(*(int *)arg, 5, 0, 1, &value);
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
	pthread_t adds, shuts, aborts;
	struct ended_read read;
	static struct frame f;

	mine.rights = MAY_ATOMIC;
	mine.key = &key;
	ASSERT_TRUE(attack_connect(a, false));
	say_grants(a, &mine, 1, NULL);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	ASSERT_TRUE(grant_held(a->victim, mine.id));
	ASSERT_EQ(pthread_create(&adds, NULL, add_there, &a->victim), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_ATOMIC] == 1, 5000));
	ended_read_begin(&read, a->victim);
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
	ended_read_end(&read);
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

/* The number of @offer once more, in three steps, each of which is "higher" than the one before. */
static void say_again(struct attack *a, const struct rch_grant_info *again)
{
	struct rch_grant_info three[3] = { offer, offer, *again };
	__le32 key = cpu_to_le32(NONE);

	three[0].id = again->id + 0x7fffffff;
	three[1].id = again->id - 2;
	three[0].key = &key;
	three[1].key = &key;
	say_grants(a, three, 3, NULL);
}

/* A grant comes whose number another one has that is held: idle, or with an access under way. */
TEST_F_TIMEOUT(scene, a_number_in_use, 60)
{
	const __le32 key = cpu_to_le32(NONE);
	struct rch_grant_info mine = offer;
	struct attack *a = &self->a;
	pthread_t adds;
	int busy;

	mine.id = 5;
	mine.rights = MAY_ATOMIC;
	mine.key = &key;
	for (busy = 0; busy < 3; busy++) {
		ASSERT_TRUE(attack_connect(a, false));
		say_grants(a, &mine, 1, NULL);
		ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
		ASSERT_TRUE(grant_held(a->victim, mine.id));
		if (busy) {
			ASSERT_EQ(pthread_create(&adds, NULL, add_five, &a->victim), 0);
			ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_ATOMIC] == 1, 5000));
		}
		if (busy == 2)
			say_end(a, RCH_REC_REVOKE, mine.id, 0);
		say_again(a, &mine);
		EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_GRANT);
		if (busy)
			pthread_join(adds, NULL);
		attack_disconnect(a);
	}
}

/* So many grants were given since that the number of the first one seems to be ahead of them. */
TEST_F(scene, a_number_of_long_ago)
{
	const __le32 key = cpu_to_le32(NONE);
	struct rch_grant_info mine = offer;
	struct attack *a = &self->a;
	int i;

	mine.id = 5;
	mine.key = &key;
	ASSERT_TRUE(attack_connect(a, false));
	say_grants(a, &mine, 1, NULL);
	for (i = 0; i < 2; i++) {
		mine.id += 0x40000001;
		say_grants(a, &mine, 1, NULL);
	}
	say_end(a, RCH_REC_REVOKE, 5, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RELEASE] == 1, 5000));
	hostile_beat(&a->h, 50);
	EXPECT_TRUE(!a->h.ended);
	attack_disconnect(a);
}

#define PIECES 8
#define PIECE_BYTES 4096

/* struct slow_get - a thread that reads the last piece of a grant into memory that comes late */
struct slow_get {
	pthread_t thread;
	struct slow slow;
	int chan;
	u32 grant;
	int ret;
	int error;
};

static void *slow_get(void *arg)
{
	struct slow_get *get = arg;

	slow_undisturbed();
	get->ret = grant_read(get->chan, get->grant, (PIECES - 1) * PIECE_BYTES,
			      get->slow.memory, PIECE_BYTES);
	get->error = errno;
	return NULL;
}

/*
 * A READ waits for its program's memory. Meanwhile its grant is given back, and the number is a
 * smaller grant's, with one key: the READ is not of that one.
 */
TEST_F_TIMEOUT(scene, a_number_used_again, 60)
{
	const __le32 key = cpu_to_le32(NONE);
	__le32 keys[PIECES];
	struct rch_grant_info mine = offer, again;
	struct slow_get get = { .grant = 5 };
	struct attack *a = &self->a;
	int i;

	if (!slow_begin(&get.slow, PIECE_BYTES))
		SKIP("this kernel has no userfaultfd");
	for (i = 0; i < PIECES; i++)
		keys[i] = key;
	mine.id = get.grant;
	mine.start = 0;
	mine.shift = 12;
	mine.length = PIECES * PIECE_BYTES;
	mine.keys = PIECES;
	mine.key = keys;
	again = mine;
	again.length = PIECE_BYTES;
	again.keys = 1;
	again.key = &key;
	ASSERT_TRUE(attack_connect(a, false));
	say_grants(a, &mine, 1, NULL);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	ASSERT_TRUE(grant_held(a->victim, mine.id));
	get.chan = a->victim;
	ASSERT_EQ(pthread_create(&get.thread, NULL, slow_get, &get), 0);
	slow_met(&get.slow);
	say_end(a, RCH_REC_REVOKE, mine.id, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_RELEASE] == 1, 5000));
	say_again(a, &again);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, wait_readable(a->victim, 0), 5000));
	slow_end(&get.slow);
	pthread_join(get.thread, NULL);
	EXPECT_EQ(get.ret, -1);
	EXPECT_EQ(get.error, EKEYREVOKED);
	hostile_beat(&a->h, 50);
	EXPECT_TRUE(!a->h.ended);
	attack_disconnect(a);
}

/* A grant whose key is worth nothing: its user is told so. */
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
