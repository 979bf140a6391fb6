// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_early.c - messages, and their end, that a peer sends before it knows that its channel is
 * open
 *
 * Each row has the records that the peer sends, and how the link ends: by the rule that was broken,
 * or not at all. It also has the number of messages that the program gets of the channel that was
 * opened last.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "../../kmod/pure/window.h"
#include "hostile_scene.h"
#include "ring.h"

/* The peer's numbers of the channels that it opens. */
#define FIRST_NO 200U
#define SECOND_NO 201U
#define NOBODY_NO 999U
#define STEPS 5
/* So many fit, and no byte more. */
#define PIECE (4096U - 64)
#define PIECES (RCH_EARLY_MAX / 4096)

#define WHOLE (RCH_DATA_F_FIRST | RCH_DATA_F_LAST)
#define EARLY (WHOLE | RCH_DATA_F_EARLY)

/* A record: OPEN, for PREY or for a service that no program offers; DATA; or SHUT. */
struct said {
	u8 type;
	u8 flags;
	u32 chan;
	u32 length;
	u32 total;
	u32 service;
	/* How often; 0 is once. */
	u32 times;
};

#define OPENS(no) { RCH_REC_OPEN, RCH_OPEN_F_EARLY, no, .service = PREY }
#define OPENS_PLAIN(no) { RCH_REC_OPEN, 0, no, .service = PREY }
#define OPENS_NOTHING(no) { RCH_REC_OPEN, RCH_OPEN_F_EARLY, no, .service = NO_PREY }
#define SAYS(no, bytes) { RCH_REC_DATA, EARLY, no, bytes, bytes }
#define SAYS_SO(no, how, bytes, all) { RCH_REC_DATA, how, no, bytes, all }
#define ENDS(no) { RCH_REC_SHUT, RCH_SHUT_F_EARLY | RCH_SHUT_F_SEND, no }
#define ENDS_SO(no, how) { RCH_REC_SHUT, how, no }
#define SAYS_OFTEN(no, bytes, count) { RCH_REC_DATA, EARLY, no, bytes, bytes, .times = count }

static const struct early_row {
	const char *name;
	int want;
	/* Of the channel that was opened last. */
	u32 messages;
	struct said said[STEPS];
	/* And then the end. */
	bool ends;
} early_rows[] = {
	{ "one", VERDICT_ALIVE, 1, { OPENS(FIRST_NO), SAYS(FIRST_NO, 8) } },
	{ "all_that_may_be", VERDICT_ALIVE, PIECES,
	  { OPENS(FIRST_NO), SAYS_OFTEN(FIRST_NO, PIECE, PIECES - 1), SAYS(FIRST_NO, PIECE) } },
	{ "of_two", VERDICT_ALIVE, 2,
	  { OPENS(FIRST_NO), OPENS(SECOND_NO), SAYS(SECOND_NO, 8), SAYS(FIRST_NO, 8),
	    SAYS(SECOND_NO, 0) } },
	{ "a_byte_too_much", RCH_RULE_WINDOW, 0,
	  { OPENS(FIRST_NO), SAYS_OFTEN(FIRST_NO, PIECE, PIECES - 1), SAYS(FIRST_NO, PIECE + 1) } },
	{ "one_too_many", RCH_RULE_WINDOW, 0,
	  { OPENS(FIRST_NO), SAYS_OFTEN(FIRST_NO, 0, RCH_EARLY_MAX / 64), SAYS(FIRST_NO, 0) } },
	{ "never_opened", RCH_RULE_CHANNEL, 0, { OPENS(FIRST_NO), SAYS(NOBODY_NO, 8) } },
	{ "opened_without_saying_so", RCH_RULE_CHANNEL, 0,
	  { OPENS_PLAIN(FIRST_NO), SAYS(FIRST_NO, 8) } },
	/* Whichever channel was refused, the refusal may still be under way. */
	{ "refused", VERDICT_ALIVE, 1,
	  { OPENS_NOTHING(SECOND_NO), SAYS(SECOND_NO, 8), OPENS(FIRST_NO), SAYS(SECOND_NO, 8),
	    SAYS(FIRST_NO, 8) } },
	{ "refused_and_never_opened", VERDICT_ALIVE, 1,
	  { OPENS_NOTHING(SECOND_NO), OPENS(FIRST_NO), SAYS(NOBODY_NO, 8), SAYS(FIRST_NO, 8) } },
	{ "refused_and_too_much", VERDICT_ALIVE, 0,
	  { OPENS_NOTHING(SECOND_NO), SAYS_OFTEN(SECOND_NO, PIECE, 3), OPENS(FIRST_NO) } },
	{ "opened_twice", RCH_RULE_STATE, 0, { OPENS(FIRST_NO), OPENS(FIRST_NO) } },
	{ "refused_and_opened", VERDICT_ALIVE, 1,
	  { OPENS_NOTHING(FIRST_NO), OPENS(FIRST_NO), SAYS(FIRST_NO, 8) } },
	{ "not_the_first_part", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), SAYS_SO(FIRST_NO, RCH_DATA_F_LAST | RCH_DATA_F_EARLY, 8, 8) } },
	{ "a_part", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), SAYS_SO(FIRST_NO, RCH_DATA_F_FIRST | RCH_DATA_F_EARLY, 512, 600) } },
	{ "less_than_it_says", RCH_RULE_SEGMENT, 0,
	  { OPENS(FIRST_NO), SAYS_SO(FIRST_NO, EARLY, 512, 600) } },
	{ "with_grants", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), SAYS_SO(FIRST_NO, EARLY | RCH_DATA_F_GRANTS, 64, 64) } },
	{ "aborted", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), SAYS_SO(FIRST_NO, RCH_DATA_F_ABORT | RCH_DATA_F_EARLY, 0, 64) } },
	{ "ends", VERDICT_ALIVE, 1, { OPENS(FIRST_NO), SAYS(FIRST_NO, 8), ENDS(FIRST_NO) }, true },
	{ "ends_without_a_message", VERDICT_ALIVE, 0, { OPENS(FIRST_NO), ENDS(FIRST_NO) }, true },
	{ "ends_twice", VERDICT_ALIVE, 1,
	  { OPENS(FIRST_NO), SAYS(FIRST_NO, 8), ENDS(FIRST_NO), ENDS(FIRST_NO) }, true },
	{ "ends_when_all_is_said", VERDICT_ALIVE, PIECES,
	  { OPENS(FIRST_NO), SAYS_OFTEN(FIRST_NO, PIECE, PIECES), ENDS(FIRST_NO) }, true },
	{ "ends_another_one", VERDICT_ALIVE, 1,
	  { OPENS(FIRST_NO), OPENS(SECOND_NO), ENDS(FIRST_NO), SAYS(SECOND_NO, 8) } },
	{ "ends_and_goes_on", RCH_RULE_STATE, 0,
	  { OPENS(FIRST_NO), ENDS(FIRST_NO), SAYS(FIRST_NO, 8) } },
	{ "ends_before_it_opens", RCH_RULE_CHANNEL, 0, { ENDS(FIRST_NO), OPENS(FIRST_NO) } },
	{ "ends_what_was_never_opened", RCH_RULE_CHANNEL, 0, { OPENS(FIRST_NO), ENDS(NOBODY_NO) } },
	{ "ends_what_was_opened_without_saying_so", RCH_RULE_CHANNEL, 0,
	  { OPENS_PLAIN(FIRST_NO), ENDS(FIRST_NO) } },
	{ "ends_what_was_refused", VERDICT_ALIVE, 1,
	  { OPENS_NOTHING(SECOND_NO), SAYS(SECOND_NO, 8), ENDS(SECOND_NO), OPENS(FIRST_NO),
	    SAYS(FIRST_NO, 8) } },
	{ "ends_receiving", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), ENDS_SO(FIRST_NO, RCH_SHUT_F_EARLY | RCH_SHUT_F_RECV) } },
	{ "ends_both", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), ENDS_SO(FIRST_NO, RCH_SHUT_F_ALL) } },
	{ "ends_nothing", RCH_RULE_RECORD_FLAGS, 0,
	  { OPENS(FIRST_NO), ENDS_SO(FIRST_NO, RCH_SHUT_F_EARLY) } },
	{ "ends_nobody", RCH_RULE_CHANNEL, 0, { OPENS(FIRST_NO), ENDS(0) } },
	{ "of_nobody", RCH_RULE_CHANNEL, 0, { OPENS(FIRST_NO), SAYS(0, 8) } },
};

static void say_open(struct frame *f, const struct said *s)
{
	const struct rch_record r = {
		.type = RCH_REC_OPEN, .flags = s->flags, .length = sizeof(struct rch_wire_open),
	};
	const struct rch_open open = {
		.chan = s->chan, .service = s->service, .window = 64 << 20, .message_max = 64 << 20,
	};

	rch_wire_open_put(frame_add(f, &r), &open);
}

static void say(struct attack *a, struct frame *f, const struct said *s)
{
	u32 i;

	for (i = 0; !i || i < s->times; i++) {
		/* As much as a frame has room for. */
		if (f->used + rch_wire_space(s->length) > HOSTILE_BUFFER) {
			hostile_say(&a->h, f);
			frame_begin(f);
		}
		if (s->type == RCH_REC_OPEN)
			say_open(f, s);
		else if (s->type == RCH_REC_SHUT)
			frame_simple(f, s->chan, RCH_REC_SHUT, s->flags);
		else
			frame_data(f, s->chan, s->flags, s->length, s->total);
	}
}

/* The program that accepts it gets so many messages, and then the end, or no more. */
static void expect_messages(int chan, u32 count, bool ends)
{
	static char data[PIECE + 1];
	u32 i;

	for (i = 0; i < count; i++)
		EXPECT_EQ(do_recv(chan, data, sizeof(data), NULL, TIMEOUT(5000)), 0);
	if (ends)
		EXPECT_EQ(read(chan, data, sizeof(data)), 0);
	else
		EXPECT_ERR(do_recv(chan, data, sizeof(data), NULL, DONTWAIT), EAGAIN);
}

static u32 opened(const struct early_row *row)
{
	u32 i, count = 0;

	for (i = 0; i < STEPS; i++)
		count += row->said[i].type == RCH_REC_OPEN && row->said[i].service == PREY;
	return count;
}

TEST_F_ROWS(scene, early, early_rows)
{
	struct attack *a = &self->a;
	static struct frame f;
	u32 i;
	int chan = -1;

	ASSERT_TRUE(attack_connect(a, false));
	frame_begin(&f);
	for (i = 0; i < STEPS && row->said[i].type; i++)
		say(a, &f, &row->said[i]);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	if (row->want != VERDICT_ALIVE) {
		EXPECT_EQ(attack_verdict(a, a->witness), row->want);
		return;
	}
	ASSERT_TRUE(attack_heard(a));
	for (i = 0; i < opened(row); i++) {
		if (chan >= 0)
			close(chan);
		chan = do_accept(a->listener, TIMEOUT(5000));
		ASSERT_GE(chan, 0);
	}
	expect_messages(chan, row->messages, row->ends);
	close(chan);
}

/* A peer that has used the number of ACCEPT knows it. */
TEST_F(scene, early_when_it_is_late)
{
	const struct said opens = OPENS(FIRST_NO);
	struct attack *a = &self->a;
	static struct frame f;
	u32 number;
	int chan;

	ASSERT_TRUE(attack_connect(a, false));
	frame_begin(&f);
	say_open(&f, &opens);
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, hostile_find(&a->h, RCH_REC_ACCEPT, FIRST_NO), 5000));
	number = hostile_find(&a->h, RCH_REC_ACCEPT, FIRST_NO)->first;
	frame_begin(&f);
	/* It may still not have looked. */
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	frame_data(&f, number, WHOLE, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	chan = do_accept(a->listener, TIMEOUT(5000));
	expect_messages(chan, 3, false);
	frame_begin(&f);
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_EQ(attack_verdict(a, chan), RCH_RULE_STATE);
	close(chan);
}

/* The end as well. */
TEST_F(scene, early_end_when_it_is_late)
{
	const struct said opens = OPENS(FIRST_NO);
	struct attack *a = &self->a;
	static struct frame f;
	u32 number;
	int chan;

	ASSERT_TRUE(attack_connect(a, false));
	frame_begin(&f);
	say_open(&f, &opens);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, hostile_find(&a->h, RCH_REC_ACCEPT, FIRST_NO), 5000));
	number = hostile_find(&a->h, RCH_REC_ACCEPT, FIRST_NO)->first;
	frame_begin(&f);
	frame_data(&f, number, WHOLE, 8, 8);
	frame_simple(&f, FIRST_NO, RCH_REC_SHUT, RCH_SHUT_F_EARLY | RCH_SHUT_F_SEND);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	chan = do_accept(a->listener, TIMEOUT(5000));
	ASSERT_GE(chan, 0);
	EXPECT_EQ(attack_verdict(a, chan), RCH_RULE_STATE);
	close(chan);
}

/* The backlog bounds the messages that are kept, however many channels are opened. */
TEST_F(scene, early_for_a_full_backlog)
{
	struct attack *a = &self->a;
	static struct frame f;
	struct rdmachan_info info;
	struct said opens = OPENS(FIRST_NO);
	u32 i;

	ASSERT_TRUE(attack_connect(a, false));
	for (i = 0; i < 2 * PREY_BACKLOG; i++) {
		opens.chan = FIRST_NO + i;
		frame_begin(&f);
		say_open(&f, &opens);
		frame_data(&f, opens.chan, EARLY, PIECE, PIECE);
		ASSERT_EQ(hostile_say(&a->h, &f), 0);
	}
	ASSERT_TRUE(attack_heard(a));
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.rejects[RCH_REJECT_BACKLOG] == PREY_BACKLOG, 5000));
	ASSERT_EQ(get_info(a->ctx, &info), 0);
	EXPECT_LE(info.out_segments, PREY_BACKLOG + 2);
	for (i = 0; i < PREY_BACKLOG; i++) {
		int chan = do_accept(a->listener, TIMEOUT(5000));

		ASSERT_GE(chan, 0);
		expect_messages(chan, 1, false);
		close(chan);
	}
}

#define APART 1024U

/* Nodes of a table by number are such memory. Each channel would have three, 1.7 KiB. */
TEST_F(scene, numbers_apart_cost_nothing)
{
	struct said opens = OPENS(FIRST_NO);
	struct attack *a = &self->a;
	struct opts many = prey_opts;
	static struct frame f;
	int listener;
	long before;
	u32 i;

	many.backlog = APART;
	listener = do_listen(a->ctx, PREY + 8, &many);
	ASSERT_GE(listener, 0);
	ASSERT_TRUE(attack_connect(a, false));
	before = reclaimable_kib();
	ASSERT_GE(before, 0);
	opens.service = PREY + 8;
	for (i = 0; i < APART; i++) {
		opens.chan = i << 22 | 1;
		frame_begin(&f);
		say_open(&f, &opens);
		frame_data(&f, opens.chan, EARLY, 8, 8);
		ASSERT_EQ(hostile_say(&a->h, &f), 0);
	}
	ASSERT_TRUE(attack_heard(a));
	EXPECT_LT(reclaimable_kib() - before, APART / 2);
	for (i = 0; i < APART; i++) {
		int chan = do_accept(listener, TIMEOUT(5000));

		ASSERT_GE(chan, 0);
		expect_messages(chan, 1, false);
		close(chan);
	}
	close(listener);
}

/* Larger than the program takes: the channel is reset, and the link is as it was. */
TEST_F(scene, early_and_too_large)
{
	const struct opts small = { .tuning = { .message_max = 8 } };
	struct said opens = OPENS(FIRST_NO);
	struct attack *a = &self->a;
	static struct frame f;
	int listener, chan;
	char data[16];

	listener = do_listen(a->ctx, PREY + 7, &small);
	ASSERT_GE(listener, 0);
	ASSERT_TRUE(attack_connect(a, false));
	opens.service = PREY + 7;
	frame_begin(&f);
	say_open(&f, &opens);
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	frame_data(&f, FIRST_NO, EARLY, 9, 9);
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, hostile_find(&a->h, RCH_REC_CLOSE, FIRST_NO), 5000));
	ASSERT_TRUE(attack_heard(a));
	chan = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(chan, 0);
	/* The message before it is there. */
	EXPECT_EQ(read(chan, data, sizeof(data)), 8);
	EXPECT_ERR(read(chan, data, sizeof(data)), EMSGSIZE);
	close(chan);
	close(listener);
}

/* A channel that no program accepts is reset with its listener; messages are thrown away then. */
TEST_F(scene, early_behind_the_reset)
{
	const struct said opens = OPENS(FIRST_NO);
	struct attack *a = &self->a;
	static struct frame f;

	ASSERT_TRUE(attack_connect(a, false));
	frame_begin(&f);
	say_open(&f, &opens);
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(attack_heard(a));
	close(a->listener);
	a->listener = -1;
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, hostile_find(&a->h, RCH_REC_CLOSE, FIRST_NO), 5000));
	frame_begin(&f);
	frame_data(&f, FIRST_NO, EARLY, 8, 8);
	frame_simple(&f, hostile_find(&a->h, RCH_REC_ACCEPT, FIRST_NO)->first, RCH_REC_CLOSED, 0);
	/* The number may be used anew. */
	say_open(&f, &opens);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(attack_heard(a));
}

/* The module as the opener */

#define ASKED 3000U
/* Frames that have no room for it. */
#define SMALL_FRAME 1024U

static const struct {
	const char *name;
	u32 frame_size;
	u32 reject;
	/* DATA that comes before the answer, and in all. */
	u32 early;
	u32 all;
	/* The program ends what it sends: how, and in a frame before the answer or not. */
	u32 how;
	bool early_end;
} answers[] = {
	{ "accepts", 0, 0, 2, 2 },
	{ "refuses", 0, RCH_REJECT_BACKLOG, 2, 2 },
	{ "accepts_with_the_end", 0, 0, 2, 2, RDMACHAN_SHUTDOWN_SEND, true },
	{ "refuses_with_the_end", 0, RCH_REJECT_BACKLOG, 2, 2, RDMACHAN_SHUTDOWN_SEND, true },
	{ "accepts_with_the_end_of_both", 0, 0, 2, 2,
	  RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV, true },
	{ "has_small_frames_with_the_end", SMALL_FRAME, 0, 0, 5, RDMACHAN_SHUTDOWN_SEND },
	/* In segments, which may not come early, nor may the message behind them. */
	{ "has_small_frames", SMALL_FRAME, 0, 0, 5 },
};

/* Our side takes the request, and the module may open its channels. */
static bool be_connected_to(struct attack *a)
{
	u8 data[sizeof(struct rch_wire_hello)];

	if (attack_invite(a))
		return false;
	rch_wire_hello_put(data, &a->h.mine);
	return !hostile_accept(&a->h, data, sizeof(data)) &&
	       HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_OPEN] == 1, 5000);
}

static void answer_open(struct attack *a, u32 reason, u32 domain)
{
	struct rch_record r = {
		.chan = hostile_find(&a->h, RCH_REC_OPEN, 0)->first,
		.type = RCH_REC_REJECT,
		.length = sizeof(struct rch_wire_reject),
	};
	static struct frame f;

	frame_begin(&f);
	if (reason)
		rch_wire_pair_put(frame_add(&f, &r), reason, domain);
	else
		frame_accept(&f, r.chan, VICTIM_MINE);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
}

/* The end of what is sent comes once, and that of what is received behind ACCEPT. */
static void expect_shuts(struct attack *a, u32 how, bool early_end)
{
	u32 late = how & RDMACHAN_SHUTDOWN_RECV ? RCH_SHUT_F_RECV : RCH_SHUT_F_SEND;

	EXPECT_EQ(a->h.count[RCH_REC_SHUT], (u32)__builtin_popcount(how));
	EXPECT_EQ(a->h.count[RCH_REC_READ], how & RDMACHAN_SHUTDOWN_RECV ? 1 : 0);
	if (how && (!early_end || (how & RDMACHAN_SHUTDOWN_RECV)))
		EXPECT_EQ(hostile_find(&a->h, RCH_REC_SHUT, VICTIM_MINE)->flags, late);
}

TEST_F_ROWS(scene, asked_and, answers)
{
	struct rdmachan_addr addr = peer_address();
	struct attack *a = &self->a;
	struct opts o = prey_opts;
	static char data[ASKED];
	struct rdmachan_error error;
	u32 opener;

	a->frame_size = row->frame_size;
	hostile_begin(&a->h);
	ASSERT_EQ(hostile_listen(&a->h), 0);
	o.flags = RDMACHAN_CONNECT_F_EARLY;
	addr.port = htons(HOSTILE_PORT);
	a->victim = do_connect_to(a->ctx, &addr, PREY, &o);
	ASSERT_GE(a->victim, 0);
	ASSERT_EQ(write(a->victim, data, ASKED), (ssize_t)ASKED);
	ASSERT_EQ(write(a->victim, data, 8), 8);
	if (row->how)
		ASSERT_EQ(do_shutdown(a->victim, row->how), 0);
	ASSERT_TRUE(be_connected_to(a));
	EXPECT_EQ(hostile_find(&a->h, RCH_REC_OPEN, 0)->flags, RCH_OPEN_F_EARLY);
	opener = hostile_find(&a->h, RCH_REC_OPEN, 0)->first;
	hostile_beat(&a->h, 300);
	EXPECT_EQ(a->h.count[RCH_REC_DATA], row->early);
	EXPECT_EQ(a->h.count[RCH_REC_SHUT], row->early_end);
	if (row->early_end)
		EXPECT_EQ(hostile_find(&a->h, RCH_REC_SHUT, opener)->flags,
			  RCH_SHUT_F_EARLY | RCH_SHUT_F_SEND);
	answer_open(a, row->reject, 0);
	EXPECT_TRUE(wait_state(a->victim, row->reject ? RDMACHAN_STATE_FAILED :
			       RDMACHAN_STATE_OPEN, 5000));
	hostile_beat(&a->h, 300);
	EXPECT_EQ(a->h.count[RCH_REC_DATA], row->all);
	EXPECT_EQ(a->h.data_bytes, ASKED + 8);
	expect_shuts(a, row->how, row->early_end);
	ASSERT_EQ(get_error(a->victim, &error), 0);
	EXPECT_EQ(error.detail, row->reject ? 2 : 0);
}

#define SENDERS 2

/* What is too large for a frame waits for the answer, and does not keep others looking. */
TEST_F(scene, too_large_for_a_frame_by_two_queues)
{
	struct rdmachan_addr addr = peer_address();
	struct attack *a = &self->a;
	struct opts o = prey_opts;
	static char data[ASKED];
	struct queue q[SENDERS];
	int i;

	a->frame_size = SMALL_FRAME;
	hostile_begin(&a->h);
	ASSERT_EQ(hostile_listen(&a->h), 0);
	o.flags = RDMACHAN_CONNECT_F_EARLY;
	addr.port = htons(HOSTILE_PORT);
	a->victim = do_connect_to(a->ctx, &addr, PREY, &o);
	ASSERT_GE(a->victim, 0);
	ASSERT_TRUE(be_connected_to(a));
	for (i = 0; i < SENDERS; i++) {
		ASSERT_EQ(queue_open(a->ctx, &q[i], 8, 8), 0);
		queue_send(&q[i], a->victim, data, ASKED, i);
		ASSERT_EQ(queue_submit(&q[i]), 1);
	}
	hostile_beat(&a->h, 300);
	EXPECT_EQ(a->h.count[RCH_REC_DATA], 0);
	answer_open(a, 0, 0);
	for (i = 0; i < SENDERS; i++)
		EXPECT_CQE(&q[i], i, ASKED);
	hostile_beat(&a->h, 300);
	EXPECT_EQ(a->h.data_bytes, SENDERS * ASKED);
	for (i = 0; i < SENDERS; i++)
		queue_close(&q[i]);
}

/* Times that a channel is asked for. */
#define TRIES 8

/* Return: 0 when CONNECT is refused, and says by what. */
static int connect_refused(struct attack *a, u32 flags)
{
	struct rdmachan_addr addr = peer_address();
	struct rdmachan_error error = {};
	struct opts o = prey_opts;
	int chan;

	o.flags = flags;
	o.error = &error;
	addr.port = htons(HOSTILE_PORT);
	chan = do_connect_to(a->ctx, &addr, PREY, &o);
	if (chan >= 0 && (!wait_state(chan, RDMACHAN_STATE_FAILED, 20000) ||
			  get_error(chan, &error)))
		return 1;
	if (chan < 0 && errno != ECONNREFUSED)
		return 2;
	return error.error != ECONNREFUSED || error.cause != RDMACHAN_CAUSE_REJECTED ||
	       error.detail != RCH_REJECT_DOMAIN;
}

static const struct {
	const char *name;
	u32 flags;
} callers[] = {
	{ "caller_that_waits", 0 },
	{ "caller_that_does_not", RDMACHAN_FD_F_NONBLOCK },
};

/* Each time the peer names the domain of the link that it was asked over. */
TEST_F_ROWS(scene, sent_on_for_ever_with_a, callers)
{
	struct attack *a = &self->a;
	pid_t child;
	u32 i;

	hostile_begin(&a->h);
	ASSERT_EQ(hostile_listen(&a->h), 0);
	child = LATER(0, _exit(connect_refused(a, row->flags)));
	ASSERT_TRUE(be_connected_to(a));
	for (i = 1; i <= TRIES; i++) {
		ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_OPEN] == i, 5000));
		answer_open(a, RCH_REJECT_DOMAIN, a->h.mine.domain);
	}
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(a->h.count[RCH_REC_OPEN], TRIES);
}

TEST_HARNESS_MAIN
