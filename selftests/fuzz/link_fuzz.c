// SPDX-License-Identifier: GPL-2.0
/*
 * link_fuzz.c - two ends of a link, with programs, adapters and a wire between them
 *
 * The input is what happens, in link_fuzz.h's language. Between honest ends no rule is
 * ever broken, every message arrives whole and in order, and when all frames have
 * arrived and all programs have read, nothing is left that waits. A liar may say what
 * it likes: the honest end stays within its memory and its promises, and ends the link
 * when it sees a rule broken.
 */
#include <sanitizer/asan_interface.h>

#include "end.h"
#include "link_fuzz.h"

#define AGAIN_MOST 8U

/* The rest of the input; zeros behind its end. */
struct input {
	const u8 *data;
	size_t left;
};

static u32 next(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

struct lie {
	u32 at;
	u32 how;
	u32 value;
	bool told;
};

static struct end ends[2];
static struct lie lie;

/* The frame as the adapter wrote it: memory behind it is not to be read. */
static void land(struct end *to, const u8 *frame, u32 length)
{
	static u8 landing[FRAME_SIZE] __attribute__((aligned(8)));

	memcpy(landing, frame, length);
	ASAN_POISON_MEMORY_REGION(landing + length, sizeof(landing) - length);
	end_received(to, landing, length);
	ASAN_UNPOISON_MEMORY_REGION(landing, sizeof(landing));
	if (!to->hold)
		end_repost(to);
}

static u32 lie_number(u32 value)
{
	static const u32 numbers[] = {
		0, 1, 2, 4, 8, 16, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0,
		0xffffffff, RCH_MESSAGE_MAX, RCH_MESSAGE_MAX + 1, MESSAGE_MOST,
	};

	return numbers[value % ARRAY_SIZE(numbers)];
}

/* Change a frame as was chosen. Return: its length now. */
static u32 spoil(u8 *frame, u32 length)
{
	__le32 *word = (__le32 *)(frame + lie.at * 4 % length / 4 * 4);

	lie.told = false;
	switch (lie.how) {
	case LINK_LIE_XOR:
		frame[lie.at % length] ^= lie.value;
		return length;
	case LINK_LIE_SET:
		*word = cpu_to_le32(lie_number(lie.value));
		return length;
	case LINK_LIE_ADD:
		*word = cpu_to_le32(le32_to_cpu(*word) + lie.value - 128);
		return length;
	default:
		return lie.value * 4 % (length + 1);
	}
}

static bool arrive(struct end *to)
{
	struct end *from = to->peer;
	struct slot *slot = &from->wire[from->arrived % WIRE];
	static u8 frame[FRAME_SIZE] __attribute__((aligned(8)));
	u32 length = slot->length;

	if (from->arrived == from->sealed || to->state == RCH_LINK_DEAD)
		return false;
	/*
	 * A promise that was kept: the receiver is ready, but for buffers that frames
	 * took which came twice. Adapters try again then.
	 */
	fuzz_assert(to->posted || to->again || from->liar || to->liar);
	if (!to->posted)
		return false;
	writes_land(from);
	if (to->state == RCH_LINK_DEAD || from->state == RCH_LINK_DEAD)
		return false;
	from->arrived++;
	memcpy(frame, slot->data, length);
	if (from->liar && lie.told)
		length = spoil(frame, length);
	land(to, frame, length);
	return true;
}

static void again(struct end *to, u32 back)
{
	struct end *from = to->peer;
	u32 first = from->sealed > WIRE - AGAIN_MOST ? from->sealed - WIRE : 0;
	struct slot *slot;

	if (back > from->arrived - first || !to->posted || to->state == RCH_LINK_DEAD ||
	    from->closed - from->arrived + back > WIRE)
		return;
	slot = &from->wire[(from->arrived - back) % WIRE];
	to->again = true;
	land(to, slot->data, slot->length);
}

static void liar_record(struct end *e, struct input *in)
{
	u32 i, times = 1 + next(in) % 64;
	struct rch_record r = {};
	u8 bytes[8], *payload;

	r.type = next(in);
	r.flags = next(in);
	r.chan = next(in);
	r.length = next(in);
	r.total = next(in) * 16;
	r.length = fuzz_record_length(r.type, r.length);
	for (i = 0; i < sizeof(bytes) && i < r.length; i++)
		bytes[i] = next(in);
	while (times-- && (payload = end_put_record(e, &r))) {
		memset(payload, 0, r.length);
		memcpy(payload, bytes, min(r.length, sizeof(bytes)));
	}
	e->done = e->credit.tx_next;
	end_run(e);
}

/* Steps of the liar, which is end 1. */
static void lie_step(struct end *e, u32 step, struct input *in)
{
	switch (step) {
	case LINK_LIE:
		lie.at = next(in);
		lie.how = next(in) % LINK_LIES;
		lie.value = next(in);
		lie.told = true;
		return;
	case LINK_RECORD:
		return liar_record(e, in);
	case LINK_LOSE:
		if (e->arrived != e->sealed)
			e->arrived++;
	}
}

/* Both tables, for states that are none too. */
static void states_check(u32 from, u32 to)
{
	bool chan = rch_chan_state_allowed(from, to), link = rch_link_state_allowed(from, to);

	fuzz_assert(!chan || (from < RCH_CHAN_DEAD && to < RCH_CHAN_STATES && from != to));
	fuzz_assert(!link || (from < RCH_LINK_DEAD && to < RCH_LINK_STATES && from != to));
	if (chan)
		fuzz_assert(!rch_chan_state_allowed(to, from));
}

static u32 message_length(u32 step, struct input *in)
{
	u32 blocks;

	switch (step) {
	case LINK_SEND:
		return next(in);
	case LINK_SEND_LARGE:
	case LINK_ABORT:
	case LINK_PLACE:
		blocks = next(in);
		return min(blocks * 16, MESSAGE_MOST);
	default:
		return 0;
	}
}

/* A program ends, if none of its threads is in a call; or all of them, if they can. */
static void end_step(struct end *e, struct lane *lane, bool kill)
{
	if (kill ? chan_kill(e, lane) : !lane->sending && !lane->reader)
		chan_release(e, lane, kill);
}

static void read_step(struct end *e, struct lane *lane)
{
	if (lane->complete)
		chan_read(e, lane);
	else
		chan_wants_data(e, lane);
}

static void thread_step(struct end *e, struct lane *lane, u32 step, u32 length)
{
	switch (step) {
	case LINK_PLACE:
		return chan_place(e, lane, length);
	case LINK_WAIT:
		return chan_wait(lane);
	case LINK_RUN:
		chan_threads(e, lane);
		return;
	case LINK_STOP:
		chan_stop(e, lane);
		return;
	case LINK_LATE:
		return chan_offer_over(e, lane);
	}
}

static void program_step(struct end *e, struct lane *lane, u32 step, struct input *in)
{
	u32 length = message_length(step, in);

	if (step == LINK_CONNECT && lane_free(lane))
		return chan_connect(e, lane);
	if (lane->waiting && step == LINK_ACCEPT)
		return chan_accept(lane);
	if (lane->waiting && step == LINK_CLOSE)
		return chan_release(e, lane, true);
	if (!lane->file)
		return;
	switch (step) {
	case LINK_SEND:
	case LINK_SEND_LARGE:
		return chan_send(e, lane, length, false);
	case LINK_ABORT:
		return chan_send(e, lane, length, true);
	case LINK_READ:
		return read_step(e, lane);
	case LINK_SHUT_SEND:
		return chan_shut_send(e, lane);
	case LINK_SHUT_RECV:
		return chan_shut_recv(e, lane);
	case LINK_CLOSE:
	case LINK_KILL:
		return end_step(e, lane, step == LINK_KILL);
	default:
		return thread_step(e, lane, step, length);
	}
}

static void step(struct input *in)
{
	u32 op = next(in), kind = op & 31, which = op >> 5 & 3, n;
	struct end *e = &ends[op >> 7];

	switch (kind) {
	case LINK_ARRIVE:
		for (n = 0; n <= which; n++)
			arrive(e);
		return;
	case LINK_DONE:
		e->done = e->credit.tx_next;
		return end_run(e);
	case LINK_BEAT:
		return end_heartbeat(e, 0);
	case LINK_AGAIN:
		return again(e, which + 1);
	case LINK_HOLD:
		e->hold = !e->hold;
		if (!e->hold)
			end_repost(e);
		return;
	case LINK_REFUSE:
		e->refuse = !e->refuse;
		return;
	case LINK_STEP:
		n = next(in);
		return states_check(n & 15, n >> 4);
	case LINK_LIE:
	case LINK_RECORD:
	case LINK_LOSE:
		if (ends[1].liar)
			lie_step(&ends[1], kind, in);
		return;
	default:
		program_step(e, &e->lanes[which], kind, in);
	}
}

/* The round has each flow once, and those only that have something to send. */
static void round_check(struct end *e)
{
	struct rch_flow *f = e->drr.head;
	u32 i, active = 0, n = 0;

	for (i = 0; i < LANES; i++)
		active += rch_flow_active(&e->lanes[i].flow);
	if (f) {
		do {
			fuzz_assert(f->next->prev == f && f->prev->next == f);
			fuzz_assert(++n <= LANES);
			f = f->next;
		} while (f != e->drr.head);
	}
	fuzz_assert(n == active);
}

/* Invariants of an honest end at any moment, for any input. */
static void lane_check(const struct end *e, struct lane *lane)
{
	u64 held = 0;
	u32 i;

	for (i = 0; i < lane->held; i++)
		held += rch_window_cost(lane_segment(lane, i)->length);
	fuzz_assert(lane->rx.consumed <= lane->rx.received);
	fuzz_assert(lane->rx.received - lane->rx.consumed == held);
	fuzz_assert(held <= e->window + MESSAGE_MOST + RCH_WINDOW_RECORD *
		    (MESSAGE_MOST / RCH_SEGMENT_MIN + 1));
	fuzz_assert(lane->complete <= lane->held);
	/* Memory is open only while a thread waits in it. */
	fuzz_assert(!lane->rkey || (lane->reader && lane->grant >= GRANT_OPEN));
	if (lane->grant == GRANT_OPEN)
		fuzz_assert(lane->granted && lane->granted <= lane->grant_left);
	if (lane->count && !lane->stalled && lane->peer_id)
		fuzz_assert(rch_flow_active(&lane->flow));
}

static void end_check(struct end *e)
{
	u32 i;

	if (e->liar || e->state == RCH_LINK_DEAD)
		return;
	fuzz_assert(e->posted + e->used == e->credit.rx_depth);
	fuzz_assert(e->credit.rx_limit - e->credit.rx_next == e->posted);
	fuzz_assert(!rch_seq_before(e->credit.tx_limit, e->credit.tx_next));
	if (!e->peer->liar)
		fuzz_assert(!rch_seq_before(e->peer->credit.rx_next, e->credit.tx_acked));
	if (e->used == 0)
		fuzz_assert(!rch_seq_before(e->credit.rx_limit, e->told));
	round_check(e);
	for (i = 0; i < LANES; i++)
		lane_check(e, &e->lanes[i]);
}

/* Time goes by: all that can happen without programs does. Return: whether it did. */
static bool wire_settles(struct end *e)
{
	u32 before = e->sealed;
	bool any = false;

	e->hold = false;
	end_repost(e);
	while (arrive(e))
		any = true;
	e->done = e->credit.tx_next;
	end_run(e);
	return any || e->sealed != before;
}

/* A program accepts, and reads, all there is. Return: whether there was any. */
static bool program_settles(struct end *e, struct lane *lane, bool close)
{
	bool any = chan_threads(e, lane);

	if (lane->waiting) {
		chan_accept(lane);
		any = true;
	}
	if (lane->offered && !lane->reader) {
		chan_offer_over(e, lane);
		any = true;
	}
	while (lane->complete && !lane->shut_recv && lane->grant == GRANT_NONE) {
		chan_read(e, lane);
		any = true;
	}
	if (close && lane->file && lane->state != RCH_CHAN_CONNECTING && chan_stop(e, lane)) {
		chan_release(e, lane, false);
		any = true;
	}
	return any;
}

static bool programs_settle(struct end *e, bool close)
{
	bool any = false;
	u32 i;

	for (i = 0; i < LANES; i++)
		any |= program_settles(e, &e->lanes[i], close);
	return any;
}

static void settle(bool close)
{
	bool any;
	u32 i, n = 0;

	do {
		any = false;
		for (i = 0; i < 2; i++) {
			any |= wire_settles(&ends[i]);
			any |= programs_settle(&ends[i], close);
			end_check(&ends[i]);
		}
		/* Nothing is left that could go on for ever. */
		fuzz_assert(++n < 10000);
	} while (any);
}

/* Everything was said, read and answered: nobody may be stuck. */
static void settled_check(struct end *e, bool closed)
{
	u32 i;

	fuzz_assert(e->state == RCH_LINK_UP && !e->reject_count);
	fuzz_assert(rch_credit_room(&e->credit, false));
	fuzz_assert(e->open_used == sizeof(struct rch_wire_frame));
	for (i = 0; i < LANES; i++) {
		struct lane *lane = &e->lanes[i];

		fuzz_assert(!lane->control && !lane->count);
		fuzz_assert(!lane->sending && !lane->offered && lane->grant == GRANT_NONE);
		fuzz_assert(!closed || lane_free(lane));
		fuzz_assert(!lane->id || lane->state != RCH_CHAN_CONNECTING);
	}
}

static void begin_end(struct end *e, bool liar, u32 choice, u32 window)
{
	static const u32 depths[] = { 8, 9, 11, 12, 16, 20, 31, DEPTH_MOST };
	static const u32 windows[] = { 1408, 1500, 2048, WINDOW_MOST };
	static const u32 quanta[] = { 40, 100, FRAME_SIZE, 16384 };

	memset(e, 0, offsetof(struct end, wire));
	e->closed = 0;
	e->sealed = 0;
	e->arrived = 0;
	e->open_used = sizeof(struct rch_wire_frame);
	e->liar = liar;
	e->posted = depths[choice & 7];
	e->window = windows[window & 3];
	e->drr.quantum = quanta[window >> 2 & 3];
	e->weight = 1 + (window >> 4 & 7);
}

static u32 first_number(u32 choice)
{
	static const u32 firsts[] = {
		0, 5, 0x7ffffff8, 0x80000000, 0xffffffd6, 0xfffffff8, 0xfffffffc, 0xffffffff,
	};

	return firsts[choice & 7];
}

static void begin_credit(struct end *e, u32 tx_first, u32 rx_first)
{
	rch_credit_init(&e->credit, tx_first, e->peer->posted, rx_first, e->posted);
	e->told = e->credit.rx_limit;
	e->done = tx_first;
	e->next64 = tx_first;
	e->acked64 = tx_first;
}

/* End 0 is the active side: it is up, and says HELLO. */
static void begin(struct input *in)
{
	u32 rings = next(in), firsts = next(in);
	bool liar = next(in) & 1;

	memset(&lie, 0, sizeof(lie));
	begin_end(&ends[0], false, rings, next(in));
	begin_end(&ends[1], liar, rings >> 3, next(in));
	ends[0].peer = &ends[1];
	ends[1].peer = &ends[0];
	ends[0].state = RCH_LINK_UP;
	ends[1].state = RCH_LINK_HELLO;
	begin_credit(&ends[0], first_number(firsts), first_number(firsts >> 3));
	begin_credit(&ends[1], first_number(firsts >> 3), first_number(firsts));
	end_heartbeat(&ends[0], RCH_FRAME_F_HELLO);
	if (next(in) & 1)
		arrive(&ends[1]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	begin(&in);
	while (in.left && ends[0].state != RCH_LINK_DEAD) {
		step(&in);
		end_check(&ends[0]);
		end_check(&ends[1]);
	}
	if (ends[1].liar)
		return 0;
	settle(false);
	settled_check(&ends[0], false);
	settled_check(&ends[1], false);
	settle(true);
	settled_check(&ends[0], true);
	settled_check(&ends[1], true);
	return 0;
}
