// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_peer.c - a peer that lies to the module
 *
 * It is a program with verbs, on the other host if there is one, which shakes hands as
 * an honest module does and then breaks the protocol. While it does so an honest channel
 * on another link goes on, and afterwards the module must work and have forgotten all.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/klog.h>

#include "hostile_scene.h"

#define REPLAYS 10000U

/* Handshake */

TEST_F_TIMEOUT(scene, hello_fields, 120)
{
	EXPECT_EQ(lies_in_hello(&self->a), 0);
}

static int words(struct attack *a, const void *data, u8 len)
{
	int ret;

	hostile_begin(&a->h);
	ret = hostile_request(&a->h, data, len) ? -1 : hostile_await_answer(&a->h);
	attack_disconnect(a);
	return ret;
}

/* InfiniBand's connection manager fills short words up with zeros. */
TEST_F(scene, hello_of_any_length)
{
	u8 data[sizeof(struct rch_wire_hello) + 44];
	struct attack *a = &self->a;
	int len;

	for (len = 0; len < (int)sizeof(struct rch_wire_hello); len += 7) {
		hostile_hello(&a->h, PREY);
		rch_wire_hello_put(data, &a->h.mine);
		EXPECT_EQ(words(a, data, len), RDMA_CM_EVENT_REJECTED);
	}
	memset(data, 0xff, sizeof(data));
	EXPECT_EQ(words(a, data, sizeof(struct rch_wire_hello)), RDMA_CM_EVENT_REJECTED);
	hostile_hello(&a->h, PREY);
	rch_wire_hello_put(data, &a->h.mine);
	if (is_iwarp())
		EXPECT_EQ(words(a, data, sizeof(data)), RDMA_CM_EVENT_ESTABLISHED);
}

/* The module does the same number both ways: the smaller one, but at least 1, and at most 16. */
static const struct {
	const char *name;
	u8 in, out, agreed;
} reads[] = {
	{ "fewer_come", 2, 5, 2 },
	{ "fewer_go", 7, 3, 3 },
	{ "none", 0, 0, 1 },
	{ "none_go", 4, 0, 1 },
	{ "too_many", 100, 120, 16 },
};

TEST_F_ROWS(scene, reads_under_way_if, reads)
{
	struct attack *a = &self->a;
	u8 data[sizeof(struct rch_wire_hello)];

	if (is_iwarp())
		SKIP("siw agrees upon them itself");
	hostile_begin(&a->h);
	hostile_hello(&a->h, PREY);
	a->h.reads_in = row->in;
	a->h.reads_out = row->out;
	rch_wire_hello_put(data, &a->h.mine);
	ASSERT_EQ(hostile_request(&a->h, data, sizeof(data)), 0);
	ASSERT_EQ(hostile_await_answer(&a->h), RDMA_CM_EVENT_ESTABLISHED);
	EXPECT_EQ(a->h.agreed_in, row->agreed);
	EXPECT_EQ(a->h.agreed_out, row->agreed);
}

/* As active side in the request, and as passive side in the reply. */
TEST_F(scene, flow_control_is_told)
{
	struct attack *a = &self->a;
	int passive;

	if (is_iwarp())
		SKIP("iWARP has none");
	for (passive = 0; passive < 2; passive++) {
		ASSERT_TRUE(attack_connect(a, passive));
		EXPECT_EQ(a->h.flow_control, 1);
		attack_disconnect(a);
	}
}

/* A peer there may be anybody on its host: the module may be told to let it in. */
TEST_F(scene, from_an_ordinary_port)
{
	struct attack *a = &self->a;
	u8 data[sizeof(struct rch_wire_hello)];
	struct rch_refusal refusal;
	u64 refused, all;
	int lets_in;

	if (is_iwarp())
		SKIP("iWARP peers connect from any port");
	refused = attack_refusals(a, RCH_REJECT_PORT);
	all = attack_refusals_all(a);
	for (lets_in = 0; lets_in < 2; lets_in++) {
		set_parameter("peer_privileged_port", !lets_in);
		hostile_begin(&a->h);
		hostile_hello(&a->h, PREY);
		a->h.port = 40000;
		rch_wire_hello_put(data, &a->h.mine);
		ASSERT_EQ(hostile_request(&a->h, data, sizeof(data)), 0);
		EXPECT_EQ(hostile_await_answer(&a->h),
			  lets_in ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_REJECTED);
		if (!lets_in) {
			ASSERT_EQ(rch_wire_refusal_get(a->h.reply, a->h.reply_len, &refusal), 0);
			EXPECT_EQ(refusal.reason, RCH_REJECT_PORT);
			hostile_end(&a->h);
		}
	}
	set_parameter("peer_privileged_port", 1);
	EXPECT_EQ(attack_refusals(a, RCH_REJECT_PORT) - refused, 1);
	EXPECT_EQ(attack_refusals_all(a) - all, 1);
}

/* Return: what the module answers to a question about a link; -1: nothing, or something else. */
static int ask_about_link(const struct rch_query *query, int port)
{
	static struct hostile asker;
	u8 data[sizeof(struct rch_wire_query)];
	struct rch_refusal refusal;
	int answer = -1;

	hostile_begin(&asker);
	asker.port = port;
	rch_wire_query_put(data, query);
	if (!hostile_request(&asker, data, sizeof(data)) &&
	    hostile_await_answer(&asker) == RDMA_CM_EVENT_REJECTED &&
	    !rch_wire_refusal_get(asker.reply, asker.reply_len, &refusal))
		answer = refusal.reason;
	hostile_end(&asker);
	return answer;
}

/* Names of the link that the module must know, each of them. */
static const struct {
	const char *name;
	u32 link;
	u32 peer_link;
	u32 epoch;
	u64 boot_id;
	u64 peer_boot;
} other_links[] = {
	{ "number_there", .link = 1 },
	{ "number_here", .peer_link = 1 },
	{ "life", .epoch = 1 },
	{ "module_there", .boot_id = 1 },
	{ "module_here", .peer_boot = 1 },
};

static struct rch_query question_about(const struct hostile *h)
{
	return (struct rch_query){
		.link = h->mine.link,
		.peer_link = h->theirs.link,
		.epoch = h->mine.epoch,
		.boot_id = h->mine.boot_id,
		.peer_boot = h->theirs.boot_id,
	};
}

TEST_F_ROWS(scene, asks_about_another_link_by, other_links)
{
	struct attack *a = &self->a;
	struct rch_query query;
	u64 refused;

	ASSERT_TRUE(attack_link(a));
	ASSERT_TRUE(attack_open(a, VICTIM_MINE, &a->victim_no, &a->victim));
	refused = attack_refusals_all(a);
	query = question_about(&a->h);
	EXPECT_EQ(ask_about_link(&query, 0), RCH_REJECT_LIVES);
	query.link += row->link;
	query.peer_link += row->peer_link;
	query.epoch += row->epoch;
	query.boot_id += row->boot_id;
	query.peer_boot += row->peer_boot;
	EXPECT_EQ(ask_about_link(&query, 0), RCH_REJECT_ENDED);
	EXPECT_EQ(attack_refusals_all(a), refused);
}

/* Any program of the peer's host has such a port. */
TEST_F(scene, asks_from_an_ordinary_port)
{
	struct attack *a = &self->a;
	struct rch_query query;
	u64 refused, all;

	if (is_iwarp())
		SKIP("iWARP peers connect from any port");
	ASSERT_TRUE(attack_link(a));
	query = question_about(&a->h);
	refused = attack_refusals(a, RCH_REJECT_PORT);
	all = attack_refusals_all(a);
	EXPECT_EQ(ask_about_link(&query, 40000), RCH_REJECT_PORT);
	EXPECT_EQ(attack_refusals(a, RCH_REJECT_PORT) - refused, 1);
	EXPECT_EQ(attack_refusals_all(a) - all, 1);
	EXPECT_EQ(ask_about_link(&query, 0), RCH_REJECT_LIVES);
	hostile_end(&a->h);
	EXPECT_TRUE(links_down_to(a, a->before.out_links, 10000));
	EXPECT_EQ(ask_about_link(&query, 0), RCH_REJECT_ENDED);
}

TEST_F_TIMEOUT(scene, reply_fields, 120)
{
	EXPECT_EQ(lies_in_reply(&self->a), 0);
}

TEST_F(scene, first_frame_without_hello)
{
	struct attack *a = &self->a;
	const u64 broken = attack_broken(a), refused = attack_refusals_all(a);

	hostile_begin(&a->h);
	hostile_hello(&a->h, PREY);
	ASSERT_EQ(hostile_connect(&a->h), 0);
	ASSERT_EQ(hostile_pure(&a->h, 0), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.ended, 3000));
	EXPECT_EQ(attack_broken(a) - broken, 1);
	EXPECT_EQ(attack_refusals_all(a), refused);
	EXPECT_TRUE(links_down_to(a, a->before.out_links, 3000));
}

/* Not forbidden, and useless. */
TEST_F(scene, hello_again_and_again)
{
	struct attack *a = &self->a;
	int i;

	ASSERT_TRUE(attack_link(a));
	for (i = 0; i < 1000; i++) {
		ASSERT_TRUE(HOSTILE_UNTIL(&a->h, rch_credit_room(&a->h.credit, true), 5000));
		ASSERT_EQ(hostile_pure(&a->h, RCH_FRAME_F_HELLO), 0);
	}
	ASSERT_TRUE(attack_open(a, VICTIM_MINE, &a->victim_no, &a->victim));
}

/* Frames and records, as the active side and as the passive one */

TEST_F_TIMEOUT(scene, frames_as_active_side, 240)
{
	EXPECT_EQ(lies_about_frames(&self->a, false), 0);
}

TEST_F_TIMEOUT(scene, frames_as_passive_side, 240)
{
	EXPECT_EQ(lies_about_frames(&self->a, true), 0);
}

TEST_F_TIMEOUT(scene, records_as_active_side, 240)
{
	EXPECT_EQ(lies_in_records(&self->a, false), 0);
}

TEST_F_TIMEOUT(scene, records_as_passive_side, 240)
{
	EXPECT_EQ(lies_in_records(&self->a, true), 0);
}

/* Before ACCEPT nothing may be said of a channel but the answer. */
static const struct {
	const char *name;
	u8 type;
} too_early[] = {
	{ "data", RCH_REC_DATA },
	{ "credit", RCH_REC_CREDIT },
	{ "shut", RCH_REC_SHUT },
	{ "read", RCH_REC_READ },
	{ "taken", RCH_REC_TAKEN },
	{ "close", RCH_REC_CLOSE },
	{ "closed", RCH_REC_CLOSED },
};

TEST_F_ROWS(scene, before_the_answer, too_early)
{
	struct attack *a = &self->a;
	static struct frame f;
	u32 number;
	int chan;

	ASSERT_TRUE(attack_connect(a, true));
	chan = attack_request(a, 8000);
	ASSERT_GE(chan, 0);
	ASSERT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_OPEN] == 3, 5000));
	number = hostile_find(&a->h, RCH_REC_OPEN, 0)->first;
	frame_begin(&f);
	if (row->type == RCH_REC_DATA)
		frame_data(&f, number, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 8, 8);
	else if (row->type == RCH_REC_CREDIT)
		frame_credit(&f, number, 1 << 30);
	else if (row->type == RCH_REC_READ)
		frame_read(&f, number, 0);
	else if (row->type == RCH_REC_TAKEN)
		frame_taken(&f, number, 1);
	else if (row->type == RCH_REC_CLOSE)
		frame_close(&f, number, 0);
	else
		frame_simple(&f, number, row->type, 0);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_STATE);
	close(chan);
	attack_disconnect(a);
	/* It may have begun to connect anew, for the channel that was not open. */
	EXPECT_TRUE(links_down_to(a, a->before.out_links, 10000));
}

/* Send until the module has no credit left for records, and no room in the frame that
 * waits for one: 409 messages of this size fill a frame.
 */
static void starve(struct attack *a)
{
	static const char data[24];
	int64_t beat = 0;

	while (!a->h.ended && rch_seq_diff(a->h.credit.told_limit, a->h.credit.rx_next) >
			      (s32)RCH_CREDIT_RESERVE) {
		if (now_ms() > beat) {
			hostile_pure(&a->h, 0);
			beat = now_ms() + 100;
		}
		if (write(a->witness, data, sizeof(data)) < 0)
			hostile_pump(&a->h, 1);
		hostile_pump(&a->h, 0);
	}
	while (write(a->witness, data, sizeof(data)) == sizeof(data))
		;
}

/* While the module's CLOSED waits for a credit, the channel has its number still. */
static const struct {
	const char *name;
	u8 flags;
} closes[] = {
	{ "close", 0 },
	{ "reset", RCH_CLOSE_F_RESET },
};

TEST_F_ROWS(scene, before_the_answer_to, closes)
{
	struct attack *a = &self->a;
	static struct frame f;

	ASSERT_TRUE(attack_connect(a, false));
	a->h.stingy = true;
	ASSERT_EQ(fcntl(a->witness, F_SETFL, O_NONBLOCK), 0);
	starve(a);
	frame_begin(&f);
	frame_close(&f, a->victim_no, row->flags);
	frame_data(&f, a->victim_no, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 8, 8);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_STATE);
	attack_disconnect(a);
}

/* A message of which not all came is never seen. */
TEST_F(scene, half_a_message)
{
	struct attack *a = &self->a;
	static struct frame f;
	char back[4096];

	ASSERT_TRUE(attack_connect(a, false));
	frame_begin(&f);
	frame_data(&f, a->victim_no, RCH_DATA_F_FIRST, 1000, 2000);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	hostile_beat(&a->h, 300);
	EXPECT_TRUE(!wait_readable(a->victim, 0));
	frame_begin(&f);
	frame_data(&f, a->victim_no, RCH_DATA_F_LAST, 999, 2000);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_EQ(attack_verdict(a, a->victim), RCH_RULE_SEGMENT);
	EXPECT_ERR(read(a->victim, back, sizeof(back)), EPROTO);
}

static bool segments_gone(struct attack *a)
{
	const int64_t until = now_ms() + 5000;
	struct rdmachan_info info;

	do
		ASSERT_EQ(get_info(a->ctx, &info), 0);
	while (info.out_segments && now_ms() < until);
	return !info.out_segments;
}

/* Say @count of the smallest pieces there may be, and no end. */
static void say_pieces(struct attack *a, int count, u32 total)
{
	static struct frame f;
	int i;

	for (i = 0; i < count; i++) {
		if (i % 20 == 0)
			frame_begin(&f);
		frame_data(&f, a->victim_no, i ? 0 : RCH_DATA_F_FIRST, 512, total);
		if (i % 20 == 19)
			ASSERT_EQ(hostile_say(&a->h, &f), 0);
	}
}

/*
 * A piece that is not copied: nor is it kept in the channel's own segment, as these pieces may be
 * freed when the channel is no more.
 */
static void expect_one_more_piece(struct attack *a, u32 total, unsigned int pieces)
{
	struct rdmachan_info info;
	static struct frame f;

	frame_begin(&f);
	frame_data(&f, a->victim_no, 0, 16000, total);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(attack_heard(a));
	ASSERT_EQ(get_info(a->ctx, &info), 0);
	EXPECT_EQ(info.out_segments, pieces);
}

/* More pieces of a message than are freed at once, and it is aborted, or its channel reset. */
TEST_F(scene, many_pieces_of_no_message)
{
	struct attack *a = &self->a;
	static struct frame f;
	char back[8];
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	for (i = 0; i < 4; i++) {
		say_pieces(a, 100, PREY_MESSAGE);
		expect_one_more_piece(a, PREY_MESSAGE, 101);
		frame_begin(&f);
		if (i < 3) {
			frame_data(&f, a->victim_no, RCH_DATA_F_ABORT, 0, PREY_MESSAGE);
			frame_data(&f, a->victim_no, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 8, 8);
		} else {
			frame_close(&f, a->victim_no, RCH_CLOSE_F_RESET);
		}
		ASSERT_EQ(hostile_say(&a->h, &f), 0);
		ASSERT_TRUE(attack_heard(a));
		if (i < 3)
			EXPECT_EQ(read(a->victim, back, sizeof(back)), 8);
		EXPECT_TRUE(segments_gone(a));
	}
	attack_disconnect(a);
}

/* Windows and credits */

static int overrun(struct attack *a, u32 chan, u32 length, u32 limit)
{
	static struct frame f;
	u32 said = 0;

	while (said + length + 64 <= limit) {
		frame_begin(&f);
		frame_data(&f, chan, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, length, length);
		if (hostile_say(&a->h, &f))
			return -1;
		said += length + 64;
	}
	return said;
}

static const struct {
	const char *name;
	u32 length;
} lengths[] = {
	{ "nothing", 0 },
	{ "a_byte", 1 },
	{ "2048_bytes", 2048 },
	{ "2049_bytes", 2049 },
	{ "16000_bytes", 16000 },
};

TEST_F_ROWS(scene, more_than_the_window_by, lengths)
{
	struct attack *a = &self->a;
	struct rdmachan_info info;
	static struct frame f;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_GT(overrun(a, a->victim_no, row->length, PREY_BUFFER), 0);
	ASSERT_TRUE(attack_heard(a));
	ASSERT_EQ(get_info(a->ctx, &info), 0);
	EXPECT_LE(info.out_segments, PREY_BUFFER / 64 + 8);
	for (i = 0; i < 2; i++) {
		frame_begin(&f);
		frame_data(&f, a->victim_no, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 16000, 16000);
		hostile_say(&a->h, &f);
	}
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_WINDOW);
	attack_disconnect(a);
}

/*
 * A side that closes with much unread makes no room for more: CLOSE comes, and nothing before it.
 */
TEST_F(scene, closing_makes_no_room)
{
	struct attack *a = &self->a;
	u32 credits;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_GT(overrun(a, a->victim_no, 2048, PREY_BUFFER), 0);
	hostile_beat(&a->h, 200);
	credits = a->h.count[RCH_REC_CREDIT];
	close(a->victim);
	a->victim = -1;
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CLOSE], 5000));
	EXPECT_EQ(a->h.count[RCH_REC_CREDIT], credits);
	EXPECT_EQ(a->h.count[RCH_REC_SHUT], 0);
	attack_disconnect(a);
}

/* What the peer may tell of how much its program has received, when @SENT were sent. */
#define SENT 3

static const struct {
	const char *name;
	u64 messages;
	u64 missing;
} numbers[] = {
	{ "nothing", 0, SENT },
	{ "some", SENT - 1, 1 },
	{ "all", SENT, 0 },
	{ "more_than_was_sent", SENT + 1, 0 },
	{ "far_more", ~0ULL, 0 },
	{ "half_of_all_numbers", 0x80000000, 0 },
	{ "half_of_all_numbers_and_some", 0x80000000 + SENT + 1, 0 },
};

static void expect_missing(struct attack *a, u64 missing, u32 cause)
{
	struct rdmachan_error error = {};
	const struct opts o = { .timeout_ms = 20000, .error = &error };

	if (!missing) {
		EXPECT_EQ(do_finish(a->victim, &o), 0);
		return;
	}
	EXPECT_ERR(do_finish(a->victim, &o), EPIPE);
	EXPECT_EQ(error.cause, cause);
	EXPECT_EQ(error.detail, missing);
}

static void send_to_it(struct attack *a)
{
	int i;

	for (i = 0; i < SENT; i++)
		ASSERT_EQ(write(a->victim, "some", 4), 4);
}

TEST_F_ROWS(scene, read_tells, numbers)
{
	struct attack *a = &self->a;
	static struct frame f;

	ASSERT_TRUE(attack_connect(a, false));
	send_to_it(a);
	frame_begin(&f);
	frame_read(&f, a->victim_no, row->messages);
	/* The first word holds. */
	frame_read(&f, a->victim_no, SENT - row->messages);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	expect_missing(a, row->missing, RDMACHAN_CAUSE_PEER_SHUTDOWN);
	EXPECT_TRUE(attack_heard(a));
	attack_disconnect(a);
}

TEST_F_ROWS(scene, close_tells, numbers)
{
	struct attack *a = &self->a;
	static struct frame f;

	ASSERT_TRUE(attack_connect(a, false));
	send_to_it(a);
	frame_begin(&f);
	frame_end(&f, a->victim_no, 0, row->messages);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(wait_state(a->victim, RDMACHAN_STATE_PEER_CLOSED, 20000));
	expect_missing(a, row->missing, RDMACHAN_CAUSE_PEER_CLOSED);
	attack_disconnect(a);
}

/* A message larger than the buffer, which never ends, for channels nobody has accepted. */
TEST_F(scene, never_accepted)
{
	struct attack *a = &self->a;
	static struct frame f;
	const struct heard *credit;
	u32 number;

	ASSERT_TRUE(attack_link(a));
	ASSERT_TRUE(attack_open(a, VICTIM_MINE, &number, NULL));
	frame_begin(&f);
	frame_data(&f, number, RCH_DATA_F_FIRST, 16000, PREY_MESSAGE);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	frame_begin(&f);
	frame_data(&f, number, 0, 16000, PREY_MESSAGE);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	hostile_beat(&a->h, 300);
	EXPECT_EQ(a->h.count[RCH_REC_CREDIT], 0);
	/* A program that takes it wants the whole. */
	a->victim = do_accept(a->listener, NULL);
	ASSERT_GE(a->victim, 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CREDIT] == 1, 2000));
	credit = hostile_find(&a->h, RCH_REC_CREDIT, VICTIM_MINE);
	ASSERT_TRUE(credit);
	EXPECT_EQ(credit->limit, PREY_BUFFER + 2 * 16064);
}

/* Gives no credit for ever: a sender waits, memory does not grow, nobody else waits. */
TEST_F(scene, credits_withheld)
{
	struct attack *a = &self->a;
	struct rdmachan_info info;
	static char data[16000];
	struct frame *f;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	a->h.stingy = true;
	f = calloc(1, sizeof(*f));
	ASSERT_EQ(fcntl(a->victim, F_SETFL, O_NONBLOCK), 0);
	frame_begin(f);
	frame_credit(f, a->victim_no, ~0ULL);
	ASSERT_EQ(hostile_say(&a->h, f), 0);
	for (i = 0; i < 500; i++) {
		if (write(a->victim, data, sizeof(data)) != sizeof(data))
			EXPECT_EQ(errno, EAGAIN);
		hostile_pump(&a->h, 1);
	}
	hostile_beat(&a->h, 500);
	EXPECT_TRUE(!a->h.ended);
	EXPECT_TRUE(!(poll_mask(a->victim, POLLOUT, 0) & POLLOUT));
	ASSERT_EQ(get_info(a->ctx, &info), 0);
	EXPECT_LE(info.out_frames, a->h.mine.depth + 32 + PREY_BUFFER / 1000 +
		  64 * info.out_links);
	/* It thinks better of it, and all goes on. */
	a->h.stingy = false;
	hostile_pure(&a->h, 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, poll_mask(a->victim, POLLOUT, 0) & POLLOUT, 10000));
	free(f);
}

/* Frames that a link has posted at most, with the usual depth. */
#define SENDS 80

/*
 * Has the deepest ring of all, and never tells what it has received: what is kept for it does not
 * grow with that ring.
 */
TEST_F(scene, deep_ring_of_a_peer_that_tells_nothing)
{
	struct attack *a = &self->a;
	struct rdmachan_info info;
	static char data[16000];
	static struct frame f;
	int sent;

	a->depth = RCH_DEPTH_MAX;
	ASSERT_TRUE(attack_connect(a, false));
	a->h.stingy = true;
	frame_begin(&f);
	frame_credit(&f, a->victim_no, ~0ULL);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (sent = 0; sent < 1000; sent++) {
		if (do_send(a->victim, data, sizeof(data), 0, DONTWAIT))
			break;
		hostile_pump(&a->h, 1);
	}
	EXPECT_EQ(errno, EAGAIN);
	/* Frames that may be posted, frames that may be untold, and what waits in the buffer. */
	EXPECT_LE(sent, SENDS + RCH_CREDIT_UNTOLD_MAX + PREY_BUFFER / 16000 + 1);
	ASSERT_EQ(get_info(a->ctx, &info), 0);
	EXPECT_LE(info.out_frames, SENDS + RCH_CREDIT_UNTOLD_MAX + 64 * info.out_links);
	a->h.stingy = false;
	hostile_pure(&a->h, 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.data_bytes == sent * sizeof(data), 10000));
}

/* The same with the smallest frames: messages that waited are sent in such. */
TEST_F(scene, small_frames_withheld)
{
	static const size_t sizes[] = { 1, 1, 900, 4000, 1, 1000, 984, 985, 4000, 1 };
	struct attack *a = &self->a;
	static char data[4000];
	u64 bytes = 0;
	int i;

	a->frame_size = RCH_FRAME_MIN;
	ASSERT_TRUE(attack_connect(a, false));
	a->h.stingy = true;
	for (i = 0; !do_send(a->victim, data, sizes[i % 10], 0, DONTWAIT); i++) {
		bytes += sizes[i % 10];
		hostile_pump(&a->h, 0);
	}
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_GT(bytes, PREY_BUFFER);
	hostile_beat(&a->h, 200);
	EXPECT_LT(a->h.data_bytes, bytes);
	a->h.stingy = false;
	hostile_pure(&a->h, 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.data_bytes == bytes, 10000));
	EXPECT_EQ(attack_verdict(a, a->witness), VERDICT_ALIVE);
}

/* Numbers of the past change nothing. */
TEST_F(scene, old_numbers)
{
	struct attack *a = &self->a;
	struct rch_wire_frame *w;
	static struct frame f;
	u32 i;

	ASSERT_TRUE(attack_connect(a, false));
	for (i = 1; i <= 20; i++) {
		ASSERT_TRUE(HOSTILE_UNTIL(&a->h, rch_credit_room(&a->h.credit, true), 5000));
		frame_begin(&f);
		w = frame_seal(&a->h, &f, RCH_FRAME_F_PURE);
		w->ack = htole32(le32toh(w->ack) - 100000 * i);
		w->limit = htole32(le32toh(w->limit) - 100000 * i);
		ASSERT_EQ(frame_send(&a->h, &f), 0);
	}
	frame_begin(&f);
	frame_credit(&f, a->victim_no, 1);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	ASSERT_TRUE(attack_heard(a));
	EXPECT_EQ(write(a->victim, "x", 1), 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_DATA] == 1, 2000));
}

TEST_F_TIMEOUT(scene, replayed_frames, 120)
{
	struct attack *a = &self->a;
	struct rdmachan_info before, after;
	static struct frame f;
	char back[16];
	u32 i;

	ASSERT_TRUE(attack_connect(a, false));
	ASSERT_EQ(get_info(a->ctx, &before), 0);
	frame_begin(&f);
	frame_data(&f, a->victim_no, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 4, 4);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	for (i = 0; i < REPLAYS; i++) {
		ASSERT_EQ(frame_send(&a->h, &f), 0);
		hostile_pump(&a->h, 0);
		/* Nobody is alive by repeating himself. */
		if (i % 256 == 0)
			hostile_pure(&a->h, 0);
	}
	ASSERT_TRUE(attack_heard(a));
	ASSERT_EQ(get_info(a->ctx, &after), 0);
	EXPECT_EQ(after.out_dropped - before.out_dropped, REPLAYS);
	/* The message came once. */
	EXPECT_EQ(read(a->victim, back, sizeof(back)), 4);
	ASSERT_EQ(fcntl(a->victim, F_SETFL, O_NONBLOCK), 0);
	EXPECT_ERR(read(a->victim, back, sizeof(back)), EAGAIN);
	/* And one from long ago. */
	((struct rch_wire_frame *)f.data)->seq = htole32(a->h.credit.tx_next - 100000);
	ASSERT_EQ(frame_send(&a->h, &f), 0);
	hostile_beat(&a->h, 200);
	EXPECT_TRUE(!a->h.ended);
}

/* The abilities of RDMA besides SEND */

struct trick {
	const char *name;
	enum ibv_wr_opcode opcode;
	u32 length;
};

static const struct trick tricks[] = {
	{ "WRITE", IBV_WR_RDMA_WRITE, 64 },
	{ "WRITE_of_nothing", IBV_WR_RDMA_WRITE, 0 },
	{ "WRITE_WITH_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, 64 },
	{ "WRITE_WITH_IMM_of_nothing", IBV_WR_RDMA_WRITE_WITH_IMM, 0 },
	{ "SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM, 24 },
	{ "SEND_WITH_INV", IBV_WR_SEND_WITH_INV, 24 },
	{ "READ", IBV_WR_RDMA_READ, 64 },
	{ "compare_and_swap", IBV_WR_ATOMIC_CMP_AND_SWP, 8 },
	{ "fetch_and_add", IBV_WR_ATOMIC_FETCH_AND_ADD, 8 },
};

static void play(struct attack *a, const struct trick *t, u32 rkey, u64 addr)
{
	struct ibv_send_wr wr = { .opcode = t->opcode };
	static struct frame f;

	frame_begin(&f);
	frame_seal(&a->h, &f, RCH_FRAME_F_PURE);
	switch (t->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		break;
	case IBV_WR_SEND_WITH_INV:
		wr.invalidate_rkey = rkey;
		break;
	case IBV_WR_SEND_WITH_IMM:
		wr.imm_data = 0xffffffff;
		break;
	default:
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	/* Some adapters refuse to try. */
	if (hostile_post(&a->h, &wr, f.data, t->length))
		return;
	HOSTILE_UNTIL(&a->h, !a->h.busy, 500);
	hostile_beat(&a->h, 30);
}

TEST_F_ROWS(scene, other_operations, tricks)
{
	static const u32 rkeys[] = { 0, 1, 0x100, 0x1ff, 0x200, 0x10001, 0x7fffffff, 0xffffffff };
	static const u64 addrs[] = { 0, 0x1000, 0xffff888000000000ULL };
	struct attack *a = &self->a;
	int k;

	for (k = 0; k < ARRAY_SIZE(rkeys); k++) {
		ASSERT_TRUE(attack_connect(a, k & 1));
		play(a, row, rkeys[k], addrs[k % 3]);
		if (row->opcode == IBV_WR_RDMA_READ && !a->h.wc_status && !a->h.ended)
			EXPECT_TRUE(is_iwarp());
		attack_disconnect(a);
	}
}

/* A write says it had immediate data: no frame came with it. */
TEST_F(scene, immediate_is_no_frame)
{
	struct attack *a = &self->a;
	int i;

	if (is_iwarp())
		SKIP("iWARP has no immediate data");
	for (i = 3; i < 5; i++) {
		ASSERT_TRUE(attack_connect(a, false));
		play(a, &tricks[i], 0, 0);
		EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_FRAME_SHORT);
		attack_disconnect(a);
	}
}

/* Bare frames */

TEST_F_TIMEOUT(scene, bare_frames_as_active_side, 120)
{
	if (is_iwarp())
		SKIP("iWARP has no immediate data");
	EXPECT_EQ(lies_in_bare(&self->a, false), 0);
}

TEST_F_TIMEOUT(scene, bare_frames_as_passive_side, 120)
{
	if (is_iwarp())
		SKIP("iWARP has no immediate data");
	EXPECT_EQ(lies_in_bare(&self->a, true), 0);
}

static u32 packet_size(struct attack *a)
{
	struct ibv_port_attr attr;

	ASSERT_EQ(ibv_query_port(a->h.id->verbs, a->h.id->port_num, &attr), 0);
	return 128 << attr.active_mtu;
}

/* Messages that are alone, or just fill their packets, and others; more than numbers have bits. */
TEST_F_TIMEOUT(scene, the_module_sends_bare_frames, 60)
{
	struct attack *a = &self->a;
	int passive, i;
	u32 packet, full;

	if (is_iwarp())
		SKIP("iWARP has no immediate data");
	/* Not even while others may follow. */
	ASSERT_TRUE(set_param("gather_us", 0));
	a->bare = true;
	for (passive = 0; passive < 2; passive++) {
		ASSERT_TRUE(attack_connect(a, passive));
		packet = packet_size(a);
		/* Two can be in flight before the others share frames. */
		ASSERT_TRUE(attack_acknowledged(a));
		EXPECT_EQ(bare_heard(a, 1, 0), 1);
		EXPECT_EQ(bare_heard(a, 64, 1), 1);
		for (i = 0; i < 100; i++) {
			ASSERT_TRUE(attack_acknowledged(a));
			ASSERT_EQ(bare_heard(a, 1 + i * 50, i % 2), 1);
		}
		EXPECT_EQ(bare_heard(a, packet, 1), 1);
		/* With another it is sent in one frame. */
		EXPECT_EQ(bare_heard(a, 64, 2), 0);
		EXPECT_EQ(bare_heard(a, packet, 2), 0);
		/* Too large to go straight into a frame: only if it saves a packet. */
		EXPECT_EQ(bare_heard(a, 2 * packet + 1, 0), 0);
		EXPECT_EQ(bare_heard(a, 3 * packet - RCH_FRAME_OVERHEAD, 0), 0);
		EXPECT_EQ(bare_heard(a, 3 * packet - RCH_FRAME_OVERHEAD + 1, 0), 1);
		EXPECT_EQ(bare_heard(a, HOSTILE_BUFFER, 0), 1);
		full = a->h.bare_full;
		for (i = 0; i < 600; i++)
			ASSERT_EQ(bare_heard(a, packet, i % 2), 1);
		/* Nothing was sent to the module that could have taken a buffer for long. */
		EXPECT_GE(a->h.bare_full - full, 597);
		attack_disconnect(a);
	}
	EXPECT_TRUE(set_param("gather_us", 100));
}

TEST_F(scene, no_bare_frames_without_agreement)
{
	struct attack *a = &self->a;

	ASSERT_TRUE(attack_connect(a, false));
	EXPECT_EQ(bare_heard(a, packet_size(a), 0), 0);
	EXPECT_EQ(bare_heard(a, 64, 1), 0);
}

/* The administrator learns of it */

static bool kernel_said(const char *words)
{
	static char log[1 << 18];
	int len = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);

	log[len > 0 ? len : 0] = 0;
	return strstr(log, words);
}

TEST_F(scene, the_log_tells)
{
	struct attack *a = &self->a;
	static struct frame f;
	bool told = false;
	int tries = 12;

	/* It tells only so many in a while. */
	while (!told && tries--) {
		ASSERT_TRUE(attack_connect(a, false));
		frame_begin(&f);
		frame_simple(&f, a->victim_no, RCH_REC_CLOSED, 0);
		hostile_say(&a->h, &f);
		EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_STATE);
		attack_disconnect(a);
		told = kernel_said("broke rule 14 of the protocol: a record that its channel was not waiting for");
		if (!told)
			sleep_ms(600);
	}
	EXPECT_TRUE(told);
}

TEST_HARNESS_MAIN
