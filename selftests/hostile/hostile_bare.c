// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_bare.c - bare frames: lies in them, and what the module says in them
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hostile_attack.h"
#include "ring.h"

#define NOBODY 0x7ff1U

/**
 * struct bare_lie - a number of bare frames, the last of which has another end than those
 *	before it
 * @name: for the reader
 * @want: how that ends
 * @chan: whom it is for, or 0: the victim
 * @seq: added to its number
 * @ack: added to its acknowledgement
 * @length: of all
 * @count: how many there are
 * @before: a record that is said ahead of them, or 0
 * @full: it tells that all buffers are posted
 */
struct bare_lie {
	const char *name;
	int want;
	u32 chan;
	u8 seq;
	u8 ack;
	u32 length;
	u32 count;
	u8 before;
	bool full;
};

static const struct bare_lie bare_lies[] = {
	{ "to nobody", RCH_RULE_CHANNEL, NOBODY, 0, 0, 64, 1 },
	{ "a number left out", RCH_RULE_SEQ_GAP, 0, 1, 0, 64, 1 },
	{ "many numbers left out", RCH_RULE_SEQ_GAP, 0, 127, 0, 64, 2 },
	{ "an acknowledgement of what was not sent", RCH_RULE_NUMBERS, 0, 0, 100, 64, 1 },
	{ "one from long ago", RCH_RULE_NUMBERS, 0, 0, 156, 64, 2 },
	/* As if it came again: nobody minds. */
	{ "a number that was used", VERDICT_ALIVE, 0, 255, 0, 64, 1 },
	{ "one that was long ago", VERDICT_ALIVE, 0, 128, 0, 64, 1 },
	{ "all buffers posted", VERDICT_ALIVE, 0, 0, 0, 64, 100, 0, true },
	{ "all posted, and an acknowledgement of what was not sent", RCH_RULE_NUMBERS, 0, 0, 100,
	  64, 1, 0, true },
	{ "nothing in it", VERDICT_ALIVE, 0, 0, 0, 0, 1 },
	{ "as much as a frame may have", VERDICT_ALIVE, 0, 0, 0, HOSTILE_BUFFER, 1 },
	{ "more than the window", RCH_RULE_WINDOW, 0, 0, 0, HOSTILE_BUFFER, 4 },
	{ "within a message", RCH_RULE_SEGMENT, 0, 0, 0, 64, 1, RCH_REC_DATA },
	{ "after SHUT", RCH_RULE_STATE, 0, 0, 0, 64, 1, RCH_REC_SHUT },
	{ "after CLOSE", RCH_RULE_CHANNEL, 0, 0, 0, 64, 1, RCH_REC_CLOSE },
};

static void say_before(struct attack *a, u8 type)
{
	static struct frame f;

	frame_begin(&f);
	if (type == RCH_REC_DATA)
		frame_data(&f, a->victim_no, RCH_DATA_F_FIRST, 1000, 2000);
	else if (type == RCH_REC_CLOSE)
		frame_close(&f, a->victim_no, 0);
	else
		frame_simple(&f, a->victim_no, type, RCH_SHUT_F_SEND);
	hostile_say(&a->h, &f);
}

static void say_bare(struct attack *a, const struct bare_lie *lie, bool last)
{
	const struct bare_lie honest = { .length = lie->length };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM };
	static const u8 data[HOSTILE_BUFFER];
	struct rch_bare bare;

	if (!last)
		lie = &honest;
	hostile_pump(&a->h, 0);
	bare.chan = lie->chan ?: a->victim_no;
	bare.seq = rch_credit_take(&a->h.credit) + lie->seq;
	bare.ack = a->h.credit.rx_next + lie->ack;
	bare.full = lie->full;
	wr.imm_data = htonl(rch_wire_bare_put(&bare));
	hostile_post(&a->h, &wr, data, lie->length);
}

static int lie_bare(struct attack *a, const struct bare_lie *lie)
{
	u32 i;

	if (lie->before)
		say_before(a, lie->before);
	for (i = 1; i <= lie->count; i++)
		say_bare(a, lie, i == lie->count);
	if (lie->want != VERDICT_ALIVE)
		return attack_verdict(a, a->witness);
	HOSTILE_UNTIL(&a->h, !a->h.busy, 500);
	hostile_pump(&a->h, 50);
	return poll_mask(a->witness, POLLIN, 0) & POLLERR ? 0 : VERDICT_ALIVE;
}

int lies_in_bare(struct attack *a, bool passive)
{
	int wrong = 0, have;
	u32 i;

	a->bare = true;
	answer_at_once(true);
	for (i = 0; i < ARRAY_SIZE(bare_lies); i++) {
		have = attack_connect(a, passive) ? lie_bare(a, &bare_lies[i]) : -2;
		if (have != bare_lies[i].want) {
			printf("# %s: want %d, have %d\n", bare_lies[i].name, bare_lies[i].want,
			       have);
			wrong++;
		}
		attack_disconnect(a);
	}
	answer_at_once(false);
	return wrong;
}

/* As many in one call. Return: whether they were sent. */
static bool send_by_queue(struct attack *a, const void *data, u32 length, u32 messages)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	bool ok;
	u32 i;

	if (queue_open(a->ctx, &q, messages, messages))
		return false;
	for (i = 0; i < messages; i++)
		queue_send(&q, a->victim, data, length, 0);
	ok = queue_submit(&q) == messages;
	for (i = 0; ok && i < messages; i++)
		ok = queue_wait(&q, &cqe) && cqe.res == length;
	queue_close(&q);
	return ok;
}

/*
 * Have the module send @messages of @length, by a queue in one call; or, if there are none, one by
 * write(). Return: how many come as bare frames, or -1 when they do not come.
 */
int bare_heard(struct attack *a, u32 length, u32 messages)
{
	static const char data[HOSTILE_BUFFER];
	u64 bytes = a->h.data_bytes + (u64)length * (messages ?: 1);
	u32 seen = a->h.bare;
	bool sent = messages ? send_by_queue(a, data, length, messages)
			     : write(a->victim, data, length) == (ssize_t)length;

	if (!sent || !HOSTILE_UNTIL(&a->h, a->h.data_bytes >= bytes, 5000))
		return -1;
	if (a->h.bare != seen && (a->h.bare_length != length || a->h.bare_chan != VICTIM_MINE))
		return -1;
	return a->h.bare - seen;
}
