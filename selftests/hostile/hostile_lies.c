// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_lies.c - tables of lies, and the rule that each breaks
 *
 * Each is told on a link of its own, on which all was honest before.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "hostile_attack.h"

/* A number of @width bytes at @offset: set, or added to what is there. */
struct spoil {
	const char *name;
	u32 offset;
	u32 width;
	bool add;
	u64 value;
	int want;
};

static void spoil(u8 *data, const struct spoil *s)
{
	u64 value = 0;

	memcpy(&value, data + s->offset, s->width);
	value = htole64((s->add ? le64toh(value) : 0) + s->value);
	memcpy(data + s->offset, &value, s->width);
}

static int judge(const char *name, int have, int want)
{
	if (have == want)
		return 0;
	printf("# %s: want %d, have %d\n", name, want, have);
	return 1;
}

#define SET(type, member, v, w)							\
	{ #member " = " #v, offsetof(struct type, member),			\
	  sizeof(((struct type *)0)->member), false, v, w }
#define ADD(type, member, v, w)							\
	{ #member " + " #v, offsetof(struct type, member),			\
	  sizeof(((struct type *)0)->member), true, v, w }
#define FRAME(member, v, r) SET(rch_wire_frame, member, v, RCH_RULE_##r)
#define FRAME_ADD(member, v, r) ADD(rch_wire_frame, member, v, RCH_RULE_##r)

/* Headers of a frame that closes the victim: 48 bytes. */
static const struct spoil frame_spoils[] = {
	FRAME(version, 0, FRAME_VERSION),
	FRAME(version, 2, FRAME_VERSION),
	FRAME(version, 255, FRAME_VERSION),
	FRAME(flags, 0x04, FRAME_FLAGS),
	FRAME(flags, 0x80, FRAME_FLAGS),
	FRAME(reserved, 1, RESERVED),
	FRAME(reserved, 0xffff, RESERVED),
	FRAME(length, 0, FRAME_LENGTH),
	FRAME(length, 24, FRAME_LENGTH),
	FRAME(length, 47, FRAME_LENGTH),
	FRAME(length, 56, FRAME_LENGTH),
	FRAME(length, 0x80000030, FRAME_LENGTH),
	FRAME(length, 0xffffffff, FRAME_LENGTH),
	FRAME(flags, RCH_FRAME_F_PURE, PURE),
	FRAME_ADD(epoch, 1, FRAME_EPOCH),
	FRAME(epoch, 0, FRAME_EPOCH),
	FRAME_ADD(seq, 1, SEQ_GAP),
	FRAME_ADD(seq, 1000000, SEQ_GAP),
	FRAME_ADD(seq, 0x7fffffff, SEQ_GAP),
	/* What the module has not sent. */
	FRAME_ADD(ack, 5000, NUMBERS),
	FRAME_ADD(ack, 0x7fffffff, NUMBERS),
	/* An ack from long ago, so that the limit is too far ahead of it. */
	FRAME_ADD(ack, -1000U, NUMBERS),
	FRAME_ADD(ack, 0x80000000, NUMBERS),
	/* More buffers than there are. */
	FRAME_ADD(limit, 1, NUMBERS),
	FRAME_ADD(limit, 4096, NUMBERS),
	FRAME_ADD(limit, 0x7fffffff, NUMBERS),
	FRAME_ADD(limit, 0x80000000, NUMBERS),
	/* A limit before the ack. */
	FRAME_ADD(limit, -65U, NUMBERS),
};

static int lie_spoil(struct attack *a, const struct spoil *s)
{
	static struct frame f;

	/* So that ack is all that was sent, and limit the depth ahead of it. */
	hostile_pump(&a->h, 0);
	frame_begin(&f);
	frame_close(&f, a->victim_no, 0);
	frame_seal(&a->h, &f, 0);
	spoil(f.data, s);
	frame_send(&a->h, &f);
	return attack_verdict(a, a->witness);
}

/* Lengths that are not a frame's. */
static const struct {
	const char *name;
	u32 length;
	bool told;
	int want;
} cuts[] = {
	{ "nothing at all", 0, false, RCH_RULE_FRAME_SHORT },
	{ "one byte", 1, false, RCH_RULE_FRAME_SHORT },
	{ "a header short of a byte", 23, false, RCH_RULE_FRAME_SHORT },
	{ "only the header", 24, false, RCH_RULE_FRAME_LENGTH },
	{ "cut in a record's header", 32, false, RCH_RULE_FRAME_LENGTH },
	{ "short of a byte", 47, false, RCH_RULE_FRAME_LENGTH },
	{ "a byte more", 49, false, RCH_RULE_FRAME_LENGTH },
	{ "not a multiple of 8, and told", 44, true, RCH_RULE_FRAME_LENGTH },
	{ "only the header, and told", 24, true, RCH_RULE_PURE },
	{ "cut in a record's header, and told", 32, true, RCH_RULE_RECORD_SHORT },
	{ "cut in a record's bytes, and told", 40, true, RCH_RULE_RECORD_SHORT },
	{ "half of a record behind", 56, true, RCH_RULE_RECORD_SHORT },
	{ "a record of zeros behind", 64, true, RCH_RULE_RECORD_TYPE },
	{ "a buffer of zeros behind", HOSTILE_BUFFER, true, RCH_RULE_RECORD_TYPE },
	/* The adapter itself refuses what no buffer has room for. */
	{ "larger than the buffer", HOSTILE_BUFFER + 8, true,
	  VERDICT_CAUSE(RDMACHAN_CAUSE_TRANSPORT) },
	{ "four times the buffer", 4 * HOSTILE_BUFFER, true,
	  VERDICT_CAUSE(RDMACHAN_CAUSE_TRANSPORT) },
};

static int lie_cut(struct attack *a, u32 i)
{
	static struct frame f;
	struct rch_wire_frame *w;

	frame_begin(&f);
	memset(f.data, 0, sizeof(f.data));
	frame_simple(&f, a->victim_no, RCH_REC_SHUT, 0);
	f.used += 8;
	w = frame_seal(&a->h, &f, 0);
	/* SHUT takes 16 bytes: make it CLOSE, which takes 24. */
	((struct rch_wire_record *)(w + 1))->type = RCH_REC_CLOSE;
	((struct rch_wire_record *)(w + 1))->length = htole32(8);
	f.used = cuts[i].length;
	if (cuts[i].told)
		w->length = htole32(cuts[i].length);
	frame_send(&a->h, &f);
	return attack_verdict(a, a->witness);
}

int lies_about_frames(struct attack *a, bool passive)
{
	int wrong = 0, have;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(frame_spoils); i++) {
		have = attack_connect(a, passive) ? lie_spoil(a, &frame_spoils[i]) : -2;
		wrong += judge(frame_spoils[i].name, have, frame_spoils[i].want);
		attack_disconnect(a);
	}
	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		have = attack_connect(a, passive) ? lie_cut(a, i) : -2;
		/* iWARP ends such a stream in a way of its own. */
		if (cuts[i].want < 1000 || !is_iwarp() || have < 1000)
			wrong += judge(cuts[i].name, have, cuts[i].want);
		attack_disconnect(a);
	}
	return wrong;
}

/* Numbers that stand for those of the link. */
#define VICTIM 0xfffffff1U
#define NOBODY 0x7ffffff1U

/* A record to say: its header, and the first numbers of its bytes. */
struct said {
	u32 chan;
	u8 type;
	u8 flags;
	u16 msg_flags;
	u32 length;
	u32 total;
	u32 words[6];
	u32 claimed;
};

struct lie {
	const char *name;
	int want;
	struct said said[3];
};

#define F RCH_DATA_F_FIRST
#define L RCH_DATA_F_LAST
#define A RCH_DATA_F_ABORT
#define DATA(flags, length, total) { VICTIM, RCH_REC_DATA, flags, 0, length, total }

static const struct lie lies[] = {
	{ "length beyond the frame", RCH_RULE_RECORD_SHORT,
	  { { VICTIM, RCH_REC_DATA, F | L, 0, 16, 16, {}, 17 } } },
	{ "length beyond all", RCH_RULE_RECORD_SHORT,
	  { { VICTIM, RCH_REC_DATA, F | L, 0, 16, 16, {}, 0xffffffff } } },
	{ "length that wraps around", RCH_RULE_RECORD_SHORT,
	  { { VICTIM, RCH_REC_DATA, F | L, 0, 16, 16, {}, 0xfffffff0 } } },
	{ "type 0", RCH_RULE_RECORD_TYPE, { { VICTIM, 0 } } },
	{ "type 255", RCH_RULE_RECORD_TYPE, { { VICTIM, 255 } } },
	{ "OPEN with a flag", RCH_RULE_RECORD_FLAGS,
	  { { 0, RCH_REC_OPEN, 2, 0, 24, 0, { 9, PREY } } } },
	{ "ACCEPT with a flag", RCH_RULE_RECORD_FLAGS,
	  { { VICTIM, RCH_REC_ACCEPT, 1, 0, 16, 0, { 9 } } } },
	{ "REJECT with a flag", RCH_RULE_RECORD_FLAGS, { { VICTIM, RCH_REC_REJECT, 1, 0, 8 } } },
	{ "DATA with an unknown flag", RCH_RULE_RECORD_FLAGS, { DATA(F | L | 0x80, 8, 8) } },
	{ "CREDIT with a flag", RCH_RULE_RECORD_FLAGS, { { VICTIM, RCH_REC_CREDIT, 1, 0, 8 } } },
	{ "SHUT with an unknown flag", RCH_RULE_RECORD_FLAGS, { { VICTIM, RCH_REC_SHUT, 4 } } },
	{ "CLOSE with an unknown flag", RCH_RULE_RECORD_FLAGS,
	  { { VICTIM, RCH_REC_CLOSE, 2, 0, 8 } } },
	{ "CLOSED with a flag", RCH_RULE_RECORD_FLAGS, { { VICTIM, RCH_REC_CLOSED, 1 } } },
	{ "READ with a flag", RCH_RULE_RECORD_FLAGS, { { VICTIM, RCH_REC_READ, 1, 0, 8 } } },
	{ "TAKEN with a flag", RCH_RULE_RECORD_FLAGS, { { VICTIM, RCH_REC_TAKEN, 1, 0, 8 } } },
	{ "DATA that asks within a message", RCH_RULE_RECORD_FLAGS,
	  { DATA(F | RCH_DATA_F_TELL, 512, 4096) } },
	{ "ABORT that asks", RCH_RULE_RECORD_FLAGS,
	  { DATA(F, 512, 4096), DATA(A | RCH_DATA_F_TELL, 0, 4096) } },
	{ "RTS that asks and is taken back", RCH_RULE_RECORD_FLAGS,
	  { { VICTIM, RCH_REC_RTS, 5, 0, 16, 0, { 8, 1 } } } },
	{ "OPEN too short", RCH_RULE_RECORD_LENGTH, { { 0, RCH_REC_OPEN, 0, 0, 16, 0, { 9 } } } },
	{ "ACCEPT too long", RCH_RULE_RECORD_LENGTH,
	  { { VICTIM, RCH_REC_ACCEPT, 0, 0, 24, 0, { 9 } } } },
	{ "REJECT too short", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_REJECT, 0, 0, 4 } } },
	{ "CREDIT without bytes", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_CREDIT } } },
	{ "SHUT with bytes", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_SHUT, 0, 0, 8 } } },
	{ "READ without bytes", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_READ } } },
	{ "READ too long", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_READ, 0, 0, 16 } } },
	{ "TAKEN without bytes", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_TAKEN } } },
	{ "TAKEN too long", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_TAKEN, 0, 0, 16 } } },
	{ "CLOSE too long", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_CLOSE, 0, 0, 16 } } },
	{ "CLOSED with bytes", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_CLOSED, 0, 0, 8 } } },
	{ "ABORT with bytes", RCH_RULE_RECORD_LENGTH,
	  { DATA(F, 512, 4096), DATA(A, 8, 4096) } },
	{ "message flags in CLOSE", RCH_RULE_RESERVED, { { VICTIM, RCH_REC_CLOSE, 0, 1, 8 } } },
	{ "a total in CREDIT", RCH_RULE_RESERVED, { { VICTIM, RCH_REC_CREDIT, 0, 0, 8, 1 } } },
	{ "a reserved member in OPEN", RCH_RULE_RESERVED,
	  { { 0, RCH_REC_OPEN, 0, 0, 24, 0, { 9, PREY, 0, 0, 0, 1 } } } },
	{ "DATA to channel 0", RCH_RULE_CHANNEL, { { 0, RCH_REC_DATA, F | L, 0, 8, 8 } } },
	{ "CLOSE to channel 0", RCH_RULE_CHANNEL, { { 0, RCH_REC_CLOSE, 0, 0, 8 } } },
	{ "CREDIT to channel 0", RCH_RULE_CHANNEL, { { 0, RCH_REC_CREDIT, 0, 0, 8 } } },
	{ "OPEN to a channel", RCH_RULE_CHANNEL,
	  { { VICTIM, RCH_REC_OPEN, 0, 0, 24, 0, { 9, PREY } } } },
	{ "OPEN that gives 0", RCH_RULE_CHANNEL,
	  { { 0, RCH_REC_OPEN, 0, 0, 24, 0, { 0, PREY } } } },
	{ "ACCEPT that gives 0", RCH_RULE_CHANNEL, { { VICTIM, RCH_REC_ACCEPT, 0, 0, 16 } } },
	{ "DATA to nobody", RCH_RULE_CHANNEL, { { NOBODY, RCH_REC_DATA, F | L, 0, 8, 8 } } },
	{ "CREDIT to nobody", RCH_RULE_CHANNEL, { { NOBODY, RCH_REC_CREDIT, 0, 0, 8 } } },
	{ "SHUT to the highest number", RCH_RULE_CHANNEL, { { 0xffffffff, RCH_REC_SHUT, 3 } } },
	{ "READ to nobody", RCH_RULE_CHANNEL, { { NOBODY, RCH_REC_READ, 0, 0, 8 } } },
	{ "TAKEN to nobody", RCH_RULE_CHANNEL, { { NOBODY, RCH_REC_TAKEN, 0, 0, 8 } } },
	{ "TAKEN of nothing", RCH_RULE_NUMBERS, { { VICTIM, RCH_REC_TAKEN, 0, 0, 8 } } },
	{ "TAKEN that nobody has asked for", RCH_RULE_NUMBERS,
	  { { VICTIM, RCH_REC_TAKEN, 0, 0, 8, 0, { 1 } } } },
	{ "CLOSED to nobody", RCH_RULE_CHANNEL, { { NOBODY, RCH_REC_CLOSED } } },
	{ "ACCEPT of an open channel", RCH_RULE_STATE,
	  { { VICTIM, RCH_REC_ACCEPT, 0, 0, 16, 0, { 9 } } } },
	{ "REJECT of an open channel", RCH_RULE_STATE,
	  { { VICTIM, RCH_REC_REJECT, 0, 0, 8, 0, { RCH_REJECT_BACKLOG } } } },
	{ "CLOSED without CLOSE", RCH_RULE_STATE, { { VICTIM, RCH_REC_CLOSED } } },
	{ "DATA after SHUT", RCH_RULE_STATE,
	  { { VICTIM, RCH_REC_SHUT, RCH_SHUT_F_SEND }, DATA(F | L, 8, 8) } },
	/* The channel is gone when CLOSED was told, which is at once. */
	{ "DATA after CLOSE", RCH_RULE_CHANNEL,
	  { { VICTIM, RCH_REC_CLOSE, 0, 0, 8 }, DATA(F | L, 8, 8) } },
	{ "a second CLOSE", RCH_RULE_CHANNEL,
	  { { VICTIM, RCH_REC_CLOSE, 0, 0, 8 }, { VICTIM, RCH_REC_CLOSE, 0, 0, 8 } } },
	{ "CREDIT after a reset", RCH_RULE_CHANNEL,
	  { { VICTIM, RCH_REC_CLOSE, 1, 0, 8 }, { VICTIM, RCH_REC_CREDIT, 0, 0, 8 } } },
	{ "no FIRST", RCH_RULE_SEGMENT, { DATA(L, 8, 8) } },
	{ "FIRST within a message", RCH_RULE_SEGMENT, { DATA(F, 512, 4096), DATA(F | L, 8, 8) } },
	{ "more than the total at once", RCH_RULE_SEGMENT, { DATA(F | L, 16, 8) } },
	{ "more than the total", RCH_RULE_SEGMENT,
	  { DATA(F, 512, 520), DATA(L, 16, 520) } },
	{ "LAST too early", RCH_RULE_SEGMENT, { DATA(F | L, 8, 16) } },
	{ "LAST too early, behind others", RCH_RULE_SEGMENT,
	  { DATA(F, 512, 2048), DATA(0, 512, 2048), DATA(L, 8, 2048) } },
	{ "LAST missing", RCH_RULE_SEGMENT, { DATA(F, 512, 512) } },
	{ "LAST missing, behind others", RCH_RULE_SEGMENT,
	  { DATA(F, 512, 1024), DATA(0, 512, 1024) } },
	{ "a small segment", RCH_RULE_SEGMENT, { DATA(F, 511, 4096) } },
	{ "a segment of nothing", RCH_RULE_SEGMENT,
	  { DATA(F, 512, 4096), DATA(0, 0, 4096) } },
	{ "ABORT and FIRST", RCH_RULE_SEGMENT, { DATA(F | A, 0, 8) } },
	{ "ABORT and LAST", RCH_RULE_SEGMENT, { DATA(F, 512, 4096), DATA(A | L, 0, 4096) } },
	{ "ABORT of nothing", RCH_RULE_SEGMENT, { DATA(A, 0, 8) } },
	{ "a total above all limits", RCH_RULE_MESSAGE_SIZE, { DATA(F, 8, (1U << 30) + 1) } },
	{ "the largest total", RCH_RULE_MESSAGE_SIZE, { DATA(F, 8, 0xffffffff) } },
	{ "a total above the receiver's limit", RCH_RULE_MESSAGE_SIZE,
	  { DATA(F, 8, PREY_MESSAGE + 1) } },
	{ "RTS with an unknown flag", RCH_RULE_RECORD_FLAGS,
	  { { VICTIM, RCH_REC_RTS, 8, 0, 16, 0, { 8, 1 } } } },
	{ "a message where nothing was lent", RCH_RULE_STATE,
	  { { VICTIM, RCH_REC_RTS, 2, 0, 16, 0, { 8, 1 } } } },
	{ "CTS with an unknown flag", RCH_RULE_RECORD_FLAGS,
	  { { VICTIM, RCH_REC_CTS, 2, 0, 24, 0, { 0, 0, 1, 8, 1 } } } },
	{ "RTS too long", RCH_RULE_RECORD_LENGTH,
	  { { VICTIM, RCH_REC_RTS, 0, 0, 24, 0, { 8, 1 } } } },
	{ "RTS of nothing", RCH_RULE_MESSAGE_SIZE,
	  { { VICTIM, RCH_REC_RTS, 0, 0, 16, 0, { 0, 1 } } } },
	{ "RTS above the receiver's limit", RCH_RULE_MESSAGE_SIZE,
	  { { VICTIM, RCH_REC_RTS, 0, 0, 16, 0, { PREY_MESSAGE + 1, 1 } } } },
	{ "RTS with large message flags", RCH_RULE_RESERVED,
	  { { VICTIM, RCH_REC_RTS, 0, 0, 16, 0, { 8, 1, 0x10000 } } } },
	{ "RTS within a message", RCH_RULE_SEGMENT,
	  { DATA(F, 512, 4096), { VICTIM, RCH_REC_RTS, 0, 0, 16, 0, { 8, 1 } } } },
	{ "RTS after SHUT", RCH_RULE_STATE,
	  { { VICTIM, RCH_REC_SHUT, RCH_SHUT_F_SEND },
	    { VICTIM, RCH_REC_RTS, 0, 0, 16, 0, { 8, 1 } } } },
	{ "a reserved member in CTS", RCH_RULE_RESERVED,
	  { { VICTIM, RCH_REC_CTS, 0, 0, 24, 0, { 0, 0, 1, 8, 1, 1 } } } },
	{ "FIN without CTS", RCH_RULE_STATE, { { VICTIM, RCH_REC_FIN } } },
	{ "FIN with bytes", RCH_RULE_RECORD_LENGTH, { { VICTIM, RCH_REC_FIN, 0, 0, 8 } } },
	{ "FIN of what was refused", RCH_RULE_STATE,
	  { { VICTIM, RCH_REC_RTS, 0, 0, 16, 0, { 8, 1 } }, { VICTIM, RCH_REC_FIN } } },
};

static void say(struct attack *a, struct frame *f, const struct said *s)
{
	const struct rch_record r = {
		.chan = s->chan == VICTIM ? a->victim_no : s->chan,
		.type = s->type,
		.flags = s->flags,
		.msg_flags = s->msg_flags,
		.length = s->length,
		.total = s->total,
	};
	struct rch_wire_record *w = (void *)(f->data + f->used);
	u32 length = s->length < sizeof(s->words) ? s->length : sizeof(s->words);

	memcpy(frame_add(f, &r), s->words, length);
	if (s->claimed)
		w->length = htole32(s->claimed);
}

static int lie_record(struct attack *a, const struct lie *lie)
{
	static struct frame f;
	u32 i;

	frame_begin(&f);
	for (i = 0; i < ARRAY_SIZE(lie->said); i++)
		if (!i || lie->said[i].chan)
			say(a, &f, &lie->said[i]);
	hostile_say(&a->h, &f);
	return attack_verdict(a, a->witness);
}

static bool is_rule(int verdict)
{
	return verdict > RCH_RULE_OK && verdict < VERDICT_CAUSE(RDMACHAN_CAUSE_NONE);
}

int lies_in_records(struct attack *a, bool passive)
{
	int wrong = 0, have;
	u64 broken;
	u32 i;

	answer_at_once(true);
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		broken = attack_broken(a);
		have = attack_connect(a, passive) ? lie_record(a, &lies[i]) : -2;
		wrong += judge(lies[i].name, have, lies[i].want);
		wrong += judge(lies[i].name, attack_broken(a) - broken, is_rule(have));
		attack_disconnect(a);
	}
	answer_at_once(false);
	return wrong;
}

#define HELLO(member, v, w) SET(rch_wire_hello, member, v, w)
#define LET_IN 0

/* A REQ, and the reason for which it is refused. */
static const struct spoil hellos[] = {
	HELLO(magic, 0, RCH_REJECT_PROTOCOL),
	HELLO(magic, 0x636d6473, RCH_REJECT_PROTOCOL),
	HELLO(version_min, 2, RCH_REJECT_VERSION),
	HELLO(version_min, 255, RCH_REJECT_VERSION),
	HELLO(version_max, 0, RCH_REJECT_VERSION),
	HELLO(version_max, 255, LET_IN),
	HELLO(version_min, 0, LET_IN),
	HELLO(depth, 0, RCH_REJECT_PROTOCOL),
	HELLO(depth, 7, RCH_REJECT_PROTOCOL),
	HELLO(depth, 8, LET_IN),
	HELLO(depth, 4096, LET_IN),
	HELLO(depth, 4097, RCH_REJECT_PROTOCOL),
	HELLO(depth, 65535, RCH_REJECT_PROTOCOL),
	HELLO(features, 0xffffffff, LET_IN),
	/* The first that is not known. */
	HELLO(required, RCH_FEATURES + 1, RCH_REJECT_FEATURE),
	HELLO(required, 0x80000000, RCH_REJECT_FEATURE),
	HELLO(boot_id, 0, LET_IN),
	HELLO(boot_id, 0xffffffffffffffffULL, LET_IN),
	HELLO(link, 0xffffffff, LET_IN),
	HELLO(epoch, 0xffffffff, LET_IN),
	HELLO(next_seq, 0xffffffff, LET_IN),
	HELLO(frame_size, 0, RCH_REJECT_PROTOCOL),
	HELLO(frame_size, 1016, RCH_REJECT_PROTOCOL),
	HELLO(frame_size, 1024, LET_IN),
	HELLO(frame_size, 1028, RCH_REJECT_PROTOCOL),
	HELLO(frame_size, 65536, LET_IN),
	HELLO(frame_size, 65544, RCH_REJECT_PROTOCOL),
	HELLO(frame_size, 0xfffffff8, RCH_REJECT_PROTOCOL),
	HELLO(dead_ms, 0, RCH_REJECT_PROTOCOL),
	HELLO(dead_ms, 1, RCH_REJECT_PROTOCOL),
	HELLO(dead_ms, RCH_DEAD_MIN - 1, RCH_REJECT_PROTOCOL),
	HELLO(dead_ms, RCH_DEAD_MIN, LET_IN),
	HELLO(dead_ms, 0xffffffff, LET_IN),
	HELLO(domain, 0, LET_IN),
	HELLO(domain, 0xffffffff, LET_IN),
	HELLO(service, 0, RCH_REJECT_NO_SERVICE),
	HELLO(service, 0xffffffff, RCH_REJECT_NO_SERVICE),
	HELLO(peer_domain, 12345, RCH_REJECT_DOMAIN),
};

static int say_hello(struct attack *a, const struct spoil *s)
{
	u8 data[sizeof(struct rch_wire_hello)];
	struct rch_refusal refusal;

	hostile_begin(&a->h);
	hostile_hello(&a->h, PREY);
	rch_wire_hello_put(data, &a->h.mine);
	spoil(data, s);
	hostile_request(&a->h, data, sizeof(data));
	if (hostile_await_answer(&a->h) == RDMA_CM_EVENT_ESTABLISHED)
		return rch_wire_hello_get(a->h.reply, a->h.reply_len, &a->h.theirs) ? -3 :
		       LET_IN;
	if (a->h.event != RDMA_CM_EVENT_REJECTED)
		return -4;
	/* siw loses the words when the connection is closed before it has read them. */
	if (is_iwarp() && !a->h.reply_len)
		return s->want ?: -5;
	return rch_wire_refusal_get(a->h.reply, a->h.reply_len, &refusal) ? -5 :
	       (int)refusal.reason;
}

int lies_in_hello(struct attack *a)
{
	int wrong = 0, want, counted;
	u64 of, all;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hellos); i++) {
		want = hellos[i].want;
		of = attack_refusals(a, want);
		all = attack_refusals_all(a);
		wrong += judge(hellos[i].name, say_hello(a, &hellos[i]), want);
		/* One that shall try another domain is not refused. */
		counted = want != LET_IN && want != RCH_REJECT_DOMAIN;
		wrong += judge(hellos[i].name, attack_refusals(a, want) - of, counted);
		wrong += judge(hellos[i].name, attack_refusals_all(a) - all, counted);
		attack_disconnect(a);
	}
	return wrong;
}

#define REPLY(member, v, r) HELLO(member, v, RCH_RULE_##r)
#define FEATURE VERDICT_CAUSE(RDMACHAN_CAUSE_FEATURE)

/* A REP, and the rule that it breaks. */
static const struct spoil replies[] = {
	REPLY(magic, 0, MAGIC),
	REPLY(version_max, 0, SIZES),
	REPLY(version_max, 2, SIZES),
	REPLY(version_min, 0, SIZES),
	REPLY(version_min, 2, SIZES),
	REPLY(depth, 0, SIZES),
	REPLY(depth, 4097, SIZES),
	HELLO(required, RCH_FEATURES + 1, FEATURE),
	REPLY(epoch, 77, SIZES),
	REPLY(frame_size, 0, SIZES),
	REPLY(frame_size, 1000, SIZES),
	REPLY(frame_size, 16392, SIZES),
	REPLY(frame_size, 65536, SIZES),
	REPLY(dead_ms, 0, SIZES),
	REPLY(dead_ms, 1, SIZES),
};

static int reply_with(struct attack *a, const struct spoil *s)
{
	u8 data[sizeof(struct rch_wire_hello)];

	hostile_begin(&a->h);
	if (hostile_listen(&a->h))
		return -2;
	a->victim = attack_request(a, 8000);
	if (a->victim < 0 || attack_invite(a))
		return -2;
	rch_wire_hello_put(data, &a->h.mine);
	spoil(data, s);
	hostile_accept(&a->h, data, sizeof(data));
	return attack_verdict(a, a->victim);
}

int lies_in_reply(struct attack *a)
{
	int wrong = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(replies); i++) {
		wrong += judge(replies[i].name, reply_with(a, &replies[i]), replies[i].want);
		attack_disconnect(a);
	}
	return wrong;
}
