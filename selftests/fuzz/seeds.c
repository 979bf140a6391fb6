// SPDX-License-Identifier: GPL-2.0
/*
 * seeds.c - writes the corpus: inputs that reach each branch of the pure layer, and more
 *
 * usage: seeds DIR
 *
 * DIR gets the folders frame, hello, link and peer with a tiny file for each input. They are
 * in the tree as well, in corpus/, and "run.sh replay" sees to it that both are the
 * same. What a campaign finds is added here as an input with a name.
 */
#include <errno.h>
#include <sys/stat.h>

#include "end.h"
#include "link_fuzz.h"
#include "seeds.h"

static const char *top;

static void die(const char *what)
{
	fprintf(stderr, "seeds: %s: %s\n", what, strerror(errno));
	exit(1);
}

/** seeds_save - write an input for the fuzzer @kind */
void seeds_save(const char *kind, const char *name, const void *data, size_t size)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", top, kind);
	if (mkdir(path, 0777) && errno != EEXIST)
		die(path);
	snprintf(path, sizeof(path), "%s/%s/%s", top, kind, name);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		die(path);
}

/* Frames: records that are right, then bytes that are spoilt. */

/* Up to four bytes of a frame to be changed, and the part cut off its end. */
struct spoil {
	const char *name;
	u32 at;
	u32 width;
	u32 value;
	u32 cut;
};

#define FIELD(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define FRAME(member) FIELD(rch_wire_frame, member)
#define RECORD(member) \
	sizeof(struct rch_wire_frame) + FIELD(rch_wire_record, member)
#define OPEN(member) RCH_FRAME_OVERHEAD + FIELD(rch_wire_open, member)
#define RTS(member) RCH_FRAME_OVERHEAD + FIELD(rch_wire_rts, member)
#define CTS(member) RCH_FRAME_OVERHEAD + FIELD(rch_wire_cts, member)

static u32 frame_make(u8 *buf, const struct rch_record *records, u32 n)
{
	static const u8 bytes[64] = { 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5 };
	struct rch_frame f = { .epoch = 1, .seq = 7, .ack = 3, .limit = 35 };
	struct rch_record r;
	u32 i;

	f.length = sizeof(struct rch_wire_frame);
	for (i = 0; i < n; i++) {
		r = records[i];
		r.payload = bytes;
		f.length += fuzz_record_encode(buf + f.length, &r);
	}
	f.flags = n ? 0 : RCH_FRAME_F_PURE;
	rch_wire_frame_put(buf, &f);
	return f.length;
}

/* One of each type; DATA with padding. */
static struct rch_record record_of(u8 type)
{
	struct rch_record r = { .chan = type == RCH_REC_OPEN ? 0 : 9, .type = type };

	r.length = fuzz_record_length(type, 13);
	if (type == RCH_REC_DATA) {
		r.flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST;
		r.msg_flags = 0x1234;
		r.total = r.length;
	}
	return r;
}

static void frame_seeds(void)
{
	struct rch_record r[RCH_REC_TYPES] = {};
	u8 buf[FRAME_SIZE] __attribute__((aligned(8)));
	char name[32];
	u32 type;

	seeds_save("frame", "empty", buf, 0);
	seeds_save("frame", "pure", buf, frame_make(buf, NULL, 0));
	for (type = RCH_REC_OPEN; type < RCH_REC_TYPES; type++) {
		r[type] = record_of(type);
		snprintf(name, sizeof(name), "type-%02u", type);
		seeds_save("frame", name, buf, frame_make(buf, &r[type], 1));
	}
	seeds_save("frame", "all-types", buf, frame_make(buf, &r[1], RCH_REC_TYPES - 1));
	/* Messages that can be taken together; and one whose padding does not fit behind others. */
	r[0] = record_of(RCH_REC_DATA);
	r[1] = r[0];
	r[1].length = 24;
	r[1].total = 24;
	r[2] = r[0];
	seeds_save("frame", "run", buf, frame_make(buf, r, 3));
	seeds_save("frame", "run-padding", buf, frame_make(buf, r, 3) - 3);
}

static void frame_spoilt(u8 type, const struct spoil *s)
{
	struct rch_record r = record_of(type);
	u8 buf[FRAME_SIZE] __attribute__((aligned(8)));
	__le32 value = cpu_to_le32(s->value);
	u32 length = frame_make(buf, &r, 1);

	memcpy(buf + s->at, &value, s->width);
	seeds_save("frame", s->name, buf, length - s->cut);
}

static void frame_bad_seeds(void)
{
	static const struct spoil frames[] = {
		{ "bad-version", FRAME(version), 9, 0 },
		{ "bad-flags", FRAME(flags), 0x80, 0 },
		{ "bad-reserved", FRAME(reserved), 1, 0 },
		{ "bad-length", FRAME(length), 48, 0 },
		{ "bad-length-odd", FRAME(length), 55, 1 },
		{ "bad-pure", FRAME(flags), RCH_FRAME_F_PURE, 0 },
		{ "bad-record-cut", FRAME(length), 32, 24 },
		{ "bad-record-type-0", RECORD(type), 0, 0 },
		{ "bad-record-type-200", RECORD(type), 200, 0 },
		{ "bad-record-flags", RECORD(flags), 0x80, 0 },
		{ "bad-record-chan-0", RECORD(chan), 0, 0 },
		{ "bad-record-long", RECORD(length), 17, 0 },
		{ "bad-record-huge", RECORD(length), 0xfffffff8, 0 },
		{ "bad-data-total", RECORD(total), RCH_MESSAGE_MAX + 1, 0 },
		{ "bad-data-sum", RECORD(total), 12, 0 },
		{ "bad-data-abort", RECORD(flags), RCH_DATA_F_ABORT, 0 },
		{ "bad-data-short", RECORD(flags), RCH_DATA_F_FIRST, 0 },
	};
	static const struct spoil padding = {
		/* The bytes fit and the padding does not. */
		"bad-record-padding", FRAME(length), 53, 3,
	};
	static const struct spoil credits[] = {
		{ "bad-credit-length", RECORD(length), 0, 0 },
		{ "bad-credit-total", RECORD(total), 1, 0 },
		{ "bad-credit-msg-flags", RECORD(msg_flags), 1, 0 },
	};
	static const struct spoil opens[] = {
		{ "bad-open-to-chan", RECORD(chan), 1, 0 },
		{ "bad-open-reserved", OPEN(reserved), 1, 0 },
		{ "bad-open-chan-0", OPEN(chan), 0, 0 },
	};
	static const struct spoil accept = { "bad-accept-chan-0", OPEN(chan), 0, 0 };
	static const struct spoil cts = { "bad-cts-reserved", CTS(message), 1, 0 };
	static const struct spoil requests[] = {
		{ "bad-rts-reserved", RTS(reserved), 1, 0 },
		{ "bad-rts-msg-flags", RTS(msg_flags), 0x10000, 0 },
		{ "bad-rts-total-0", RTS(total), 0, 0 },
		{ "bad-rts-total", RTS(total), RCH_MESSAGE_MAX + 1, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(frames); i++)
		frame_spoilt(RCH_REC_DATA, &frames[i]);
	frame_spoilt(RCH_REC_DATA, &padding);
	for (i = 0; i < ARRAY_SIZE(credits); i++)
		frame_spoilt(RCH_REC_CREDIT, &credits[i]);
	for (i = 0; i < ARRAY_SIZE(opens); i++)
		frame_spoilt(RCH_REC_OPEN, &opens[i]);
	frame_spoilt(RCH_REC_ACCEPT, &accept);
	frame_spoilt(RCH_REC_CTS, &cts);
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		frame_spoilt(RCH_REC_RTS, &requests[i]);
}

/* Memory that nobody has asked for; for the message behind the next; and without sense. */
static void frame_standing_seed(void)
{
	struct rch_record r = record_of(RCH_REC_CTS);
	u8 buf[FRAME_SIZE] __attribute__((aligned(8)));
	const struct rch_cts cts = { .length = 4096, .serial = 1, .message = 2 };
	u32 length;

	r.flags = RCH_CTS_F_STANDING;
	length = frame_make(buf, &r, 1);
	rch_wire_cts_put(buf + RCH_FRAME_OVERHEAD, &cts);
	seeds_save("frame", "cts-standing", buf, length);
	r.flags |= RCH_CTS_F_AHEAD;
	length = frame_make(buf, &r, 1);
	rch_wire_cts_put(buf + RCH_FRAME_OVERHEAD, &cts);
	seeds_save("frame", "cts-ahead", buf, length);
	r.flags = RCH_CTS_F_AHEAD;
	length = frame_make(buf, &r, 1);
	rch_wire_cts_put(buf + RCH_FRAME_OVERHEAD, &cts);
	seeds_save("frame", "cts-ahead-of-nothing", buf, length);
}

/* A message before ACCEPT; a part of one; and one that is shorter than it says. And the end. */
static void frame_early_seed(void)
{
	struct rch_record r = record_of(RCH_REC_DATA);
	u8 buf[FRAME_SIZE] __attribute__((aligned(8)));

	r.flags |= RCH_DATA_F_EARLY;
	seeds_save("frame", "early", buf, frame_make(buf, &r, 1));
	r.total++;
	seeds_save("frame", "bad-early-short", buf, frame_make(buf, &r, 1));
	r.flags &= ~RCH_DATA_F_LAST;
	seeds_save("frame", "bad-early-part", buf, frame_make(buf, &r, 1));
	r = record_of(RCH_REC_SHUT);
	r.flags = RCH_SHUT_F_EARLY | RCH_SHUT_F_SEND;
	seeds_save("frame", "shut-early", buf, frame_make(buf, &r, 1));
	r.flags = RCH_SHUT_F_EARLY | RCH_SHUT_F_RECV;
	seeds_save("frame", "bad-shut-early", buf, frame_make(buf, &r, 1));
}

/* A message that asks for TAKEN; and one that asks within, and one that is taken back. */
static void frame_tell_seed(void)
{
	struct rch_record r = record_of(RCH_REC_DATA);
	u8 buf[FRAME_SIZE] __attribute__((aligned(8)));

	r.flags |= RCH_DATA_F_TELL;
	seeds_save("frame", "tell", buf, frame_make(buf, &r, 1));
	r.flags |= RCH_DATA_F_EARLY;
	seeds_save("frame", "tell-early", buf, frame_make(buf, &r, 1));
	r.flags = RCH_DATA_F_FIRST | RCH_DATA_F_TELL;
	seeds_save("frame", "bad-tell-within", buf, frame_make(buf, &r, 1));
	r = record_of(RCH_REC_RTS);
	r.flags = RCH_RTS_F_TELL;
	seeds_save("frame", "tell-rts", buf, frame_make(buf, &r, 1));
	r.flags |= RCH_RTS_F_CANCEL;
	seeds_save("frame", "bad-tell-cancel", buf, frame_make(buf, &r, 1));
}

/* Two grants and a message; and with a lie in it. */
static void frame_grants_seed(void)
{
	static const __le32 keys[3];
	const struct rch_grant_info two[] = {
		{ .id = 1, .rights = 3, .length = 4097, .start = 4095, .shift = 12, .keys = 2,
		  .key = keys },
		{ .id = 2, .rights = 0x104, .length = 8, .uses = 1, .shift = 21, .keys = 1,
		  .key = keys + 2 },
	};
	struct rch_record r = record_of(RCH_REC_DATA);
	u8 message[128] __attribute__((aligned(8))) = {};
	u8 buf[FRAME_SIZE] __attribute__((aligned(8)));
	struct rch_wire_grant *first = (void *)(buf + RCH_FRAME_OVERHEAD +
						sizeof(struct rch_wire_grants));
	struct rch_frame f = { .epoch = 1, .seq = 7, .ack = 3, .limit = 35 };

	r.length = rch_wire_grants_size(two, 2, 5);
	r.total = r.length;
	r.flags |= RCH_DATA_F_GRANTS;
	r.payload = message;
	rch_wire_grants_put(message, two, 2);
	f.length = sizeof(struct rch_wire_frame);
	f.length += fuzz_record_encode(buf + f.length, &r);
	rch_wire_frame_put(buf, &f);
	seeds_save("frame", "grants", buf, f.length);
	first->keys = cpu_to_le32(two[0].keys + 1);
	seeds_save("frame", "bad-grants-keys", buf, f.length);
	/* As many keys as the grant needs, and more than follow. */
	first->keys = cpu_to_le32(5);
	first->length = cpu_to_le64(two[0].length + 3 * 4096);
	seeds_save("frame", "bad-grants-long", buf, f.length);
	buf[RCH_FRAME_OVERHEAD + offsetof(struct rch_wire_grants, count)] = 17;
	seeds_save("frame", "bad-grants-count", buf, f.length);
}

/* Hellos and refusals. */

static void hello_seed(const char *name, struct rch_hello h, size_t size)
{
	u8 buf[64] __attribute__((aligned(8))) = {};

	rch_wire_hello_put(buf, &h);
	seeds_save("hello", name, buf, size);
}

static void hello_seeds(void)
{
	static const struct { u8 min, max; } versions[] = {
		{ 1, 1 }, { 0, 0 }, { 0, 255 }, { 2, 255 }, { 3, 2 }, { 1, 0 },
	};
	const struct rch_hello good = {
		.version_min = 1, .version_max = 1, .depth = 32, .frame_size = 16384,
		.dead_ms = 5000, .boot_id = 0x0123456789abcdef, .domain = 1000,
	};
	const struct rch_refusal refusal = { 1, 1, RCH_REJECT_DOMAIN, 1002 };
	u8 buf[sizeof(struct rch_wire_refusal)] __attribute__((aligned(8)));
	struct rch_hello h;
	char name[32];
	u32 i;

	hello_seed("good", good, 56);
	hello_seed("padded", good, 64);
	hello_seed("cut", good, 55);
	hello_seed("tiny", good, 3);
	seeds_save("hello", "not-ours", "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n"
	     "something else\r\n", 60);
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		h = good;
		h.version_min = versions[i].min;
		h.version_max = versions[i].max;
		snprintf(name, sizeof(name), "version-%u-%u", h.version_min, h.version_max);
		hello_seed(name, h, 56);
	}
#define BAD(member, number) \
	(h = good, h.member = (number), hello_seed("bad-" #member "-" #number, h, 56))
	BAD(depth, 7);
	BAD(depth, 4097);
	BAD(frame_size, 1016);
	BAD(frame_size, 65544);
	BAD(frame_size, 1025);
	BAD(dead_ms, 0);
	BAD(dead_ms, 199);
#undef BAD
	rch_wire_refusal_put(buf, &refusal);
	seeds_save("hello", "refusal", buf, sizeof(buf));
}

/* Links: steps in the language of link_fuzz.h. */

#define A(step, lane) ((step) | (lane) << 5)
#define B(step, lane) (0x80 | A(step, lane))
/* Rings of 8; numbers from 5; window of 1408 bytes, quantum 40. */
#define HONEST 0, 1, 0, 0, 0, 1
#define LIAR 0, 1, 1, 0, 0, 1
/* Larger rings, and numbers that wrap around. */
#define WRAPS 0x3f, 0x2d, 0, 0x1f, 0x2e, 0
/* A channel from A to B, on lane 0 of both. */
#define CONNECTED A(LINK_CONNECT, 0), B(LINK_ARRIVE, 1), B(LINK_ACCEPT, 0), \
	A(LINK_ARRIVE, 1), A(LINK_DONE, 0), B(LINK_DONE, 0)
#define ALL_ARRIVES B(LINK_ARRIVE, 3), A(LINK_ARRIVE, 3), A(LINK_DONE, 0), \
	B(LINK_DONE, 0), B(LINK_ARRIVE, 3), A(LINK_ARRIVE, 3)
/* End 1 says something: how often, type, flags, channel, length, total by 16. */
#define SAY(...) B(LINK_RECORD, 0), __VA_ARGS__
#define LIE(member, how, value) \
	B(LINK_LIE, 0), offsetof(struct rch_wire_frame, member) / 4, LINK_LIE_##how, value, \
	B(LINK_BEAT, 0), A(LINK_ARRIVE, 0)

#define LINK(name, ...)								\
	do {									\
		static const u8 steps[] = { __VA_ARGS__ };			\
		seeds_save("link", name, steps, sizeof(steps));			\
	} while (0)

static void link_seeds(void)
{
	LINK("message", HONEST, CONNECTED, A(LINK_SEND, 0), 200, ALL_ARRIVES,
	     B(LINK_READ, 0), B(LINK_SEND, 0), 0, ALL_ARRIVES, A(LINK_READ, 0));
	LINK("large", WRAPS, CONNECTED, A(LINK_SEND_LARGE, 0), 250, A(LINK_SEND_LARGE, 0),
	     250, B(LINK_SEND_LARGE, 0), 200, ALL_ARRIVES, ALL_ARRIVES, B(LINK_READ, 0));
	LINK("window-full", HONEST, CONNECTED, A(LINK_SEND_LARGE, 0), 60,
	     A(LINK_SEND_LARGE, 0), 60, A(LINK_SEND_LARGE, 0), 60, ALL_ARRIVES,
	     ALL_ARRIVES, B(LINK_READ, 0), ALL_ARRIVES);
	LINK("abort", HONEST, CONNECTED, A(LINK_ABORT, 0), 250, A(LINK_SEND, 0), 9,
	     ALL_ARRIVES);
	LINK("lanes", WRAPS, CONNECTED, A(LINK_CONNECT, 1), A(LINK_CONNECT, 2), ALL_ARRIVES,
	     A(LINK_SEND_LARGE, 0), 90, A(LINK_SEND_LARGE, 1), 90, A(LINK_SEND, 2), 4,
	     ALL_ARRIVES, A(LINK_KILL, 1), ALL_ARRIVES);
	LINK("close-crosses", HONEST, CONNECTED, A(LINK_SEND, 0), 9, A(LINK_CLOSE, 0),
	     B(LINK_CLOSE, 0), ALL_ARRIVES, A(LINK_CONNECT, 0), ALL_ARRIVES);
	LINK("reset", HONEST, CONNECTED, A(LINK_SEND_LARGE, 0), 250, A(LINK_KILL, 0),
	     ALL_ARRIVES, B(LINK_CLOSE, 0));
	LINK("give-up", HONEST, A(LINK_CONNECT, 0), A(LINK_CLOSE, 0), ALL_ARRIVES,
	     A(LINK_CONNECT, 0), ALL_ARRIVES, B(LINK_CLOSE, 0), ALL_ARRIVES);
	LINK("refuse", HONEST, B(LINK_REFUSE, 0), A(LINK_CONNECT, 0), ALL_ARRIVES);
	LINK("shut", HONEST, CONNECTED, A(LINK_SEND, 0), 9, A(LINK_SHUT_SEND, 0),
	     B(LINK_SHUT_RECV, 0), A(LINK_SHUT_RECV, 0), B(LINK_SEND, 0), 9, ALL_ARRIVES);
	LINK("ring-full", HONEST, CONNECTED, B(LINK_HOLD, 0), A(LINK_HOLD, 0),
	     A(LINK_SEND_LARGE, 0), 60, A(LINK_SEND_LARGE, 0), 60, ALL_ARRIVES,
	     A(LINK_BEAT, 0), A(LINK_BEAT, 0), A(LINK_BEAT, 0), A(LINK_BEAT, 0),
	     A(LINK_BEAT, 0), B(LINK_BEAT, 0), ALL_ARRIVES, A(LINK_HOLD, 0),
	     A(LINK_BEAT, 0), ALL_ARRIVES);
	LINK("place", HONEST, CONNECTED, B(LINK_WAIT, 0), A(LINK_PLACE, 0), 150, ALL_ARRIVES,
	     B(LINK_RUN, 0), B(LINK_RUN, 0), ALL_ARRIVES, A(LINK_RUN, 0), ALL_ARRIVES,
	     A(LINK_RUN, 0), B(LINK_RUN, 0), B(LINK_RUN, 0), ALL_ARRIVES, A(LINK_RUN, 0),
	     A(LINK_RUN, 0), B(LINK_RUN, 0));
	LINK("place-nobody", HONEST, CONNECTED, A(LINK_PLACE, 0), 90, ALL_ARRIVES,
	     A(LINK_RUN, 0), ALL_ARRIVES, B(LINK_READ, 0), B(LINK_WAIT, 0),
	     B(LINK_STOP, 0), A(LINK_PLACE, 0), 90, ALL_ARRIVES, B(LINK_LATE, 0),
	     ALL_ARRIVES, A(LINK_RUN, 0), ALL_ARRIVES, B(LINK_READ, 0));
	LINK("place-taken-back", HONEST, CONNECTED, B(LINK_WAIT, 0), A(LINK_PLACE, 0), 90,
	     ALL_ARRIVES, B(LINK_RUN, 0), A(LINK_STOP, 0), B(LINK_RUN, 0), ALL_ARRIVES,
	     B(LINK_RUN, 0), A(LINK_SEND, 0), 9, ALL_ARRIVES, B(LINK_RUN, 0));
	LINK("place-killed", HONEST, CONNECTED, B(LINK_WAIT, 0), A(LINK_PLACE, 0), 150,
	     ALL_ARRIVES, B(LINK_RUN, 0), B(LINK_RUN, 0), ALL_ARRIVES, A(LINK_RUN, 0),
	     ALL_ARRIVES, B(LINK_KILL, 0), A(LINK_KILL, 0), ALL_ARRIVES, A(LINK_RUN, 0));
	LINK("place-shut", WRAPS, CONNECTED, B(LINK_WAIT, 0), A(LINK_PLACE, 0), 150,
	     B(LINK_SHUT_RECV, 0), ALL_ARRIVES, A(LINK_RUN, 0), A(LINK_PLACE, 0), 99,
	     A(LINK_SHUT_SEND, 0), ALL_ARRIVES);
	LINK("states", HONEST, A(LINK_STEP, 0), 0x20, A(LINK_STEP, 0), 0x02,
	     A(LINK_STEP, 0), 0x08, A(LINK_STEP, 0), 0x80, A(LINK_STEP, 0), 0x54);
}

static void link_liar_seeds(void)
{
	LINK("lie-ack", LIAR, CONNECTED, LIE(ack, ADD, 200));
	LINK("lie-ack-old", LIAR, CONNECTED, LIE(ack, ADD, 100));
	LINK("lie-limit", LIAR, CONNECTED, LIE(limit, ADD, 200));
	LINK("lie-limit-old", LIAR, CONNECTED, LIE(limit, ADD, 127));
	LINK("lie-epoch", LIAR, CONNECTED, LIE(epoch, ADD, 129));
	LINK("lie-cut", LIAR, CONNECTED, LIE(version, CUT, 5));
	LINK("lie-gap", LIAR, CONNECTED, B(LINK_BEAT, 0), B(LINK_LOSE, 0), B(LINK_BEAT, 0),
	     A(LINK_ARRIVE, 1));
	LINK("lie-accept", LIAR, CONNECTED, SAY(0, RCH_REC_ACCEPT, 0, 1, 0, 0, 1),
	     A(LINK_ARRIVE, 3));
	LINK("lie-window", LIAR, CONNECTED,
	     SAY(7, RCH_REC_DATA, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 1, 240, 15),
	     A(LINK_ARRIVE, 3), A(LINK_ARRIVE, 3));
	LINK("lie-credit", LIAR, CONNECTED,
	     SAY(0, RCH_REC_CREDIT, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255),
	     A(LINK_ARRIVE, 0), A(LINK_SEND_LARGE, 0), 250, A(LINK_SEND_LARGE, 0), 250);
}

static void link_liar_place_seeds(void)
{
	LINK("lie-fin", LIAR, CONNECTED, SAY(0, RCH_REC_FIN, 0, 1, 0, 0),
	     A(LINK_ARRIVE, 3));
	LINK("lie-fin-early", LIAR, CONNECTED, A(LINK_WAIT, 0),
	     SAY(0, RCH_REC_RTS, 0, 1, 0, 0, 0, 8, 0, 0, 1, 0, 0, 0), A(LINK_ARRIVE, 3),
	     A(LINK_RUN, 0), A(LINK_RUN, 0), SAY(0, RCH_REC_FIN, 0, 1, 0, 0),
	     A(LINK_ARRIVE, 3), A(LINK_RUN, 0), SAY(0, RCH_REC_FIN, 0, 1, 0, 0),
	     A(LINK_ARRIVE, 3), A(LINK_RUN, 0));
	LINK("lie-rts-twice", LIAR, CONNECTED, A(LINK_WAIT, 0),
	     SAY(1, RCH_REC_RTS, 0, 1, 0, 0, 0, 8, 0, 0, 1, 0, 0, 0), A(LINK_ARRIVE, 3));
	LINK("lie-data-behind-rts", LIAR, CONNECTED, A(LINK_WAIT, 0),
	     SAY(0, RCH_REC_RTS, 0, 1, 0, 0, 0, 8, 0, 0, 1, 0, 0, 0),
	     SAY(0, RCH_REC_DATA, RCH_DATA_F_FIRST | RCH_DATA_F_LAST, 1, 16, 1),
	     A(LINK_ARRIVE, 3));
	LINK("lie-rts-after-shut", LIAR, CONNECTED,
	     SAY(0, RCH_REC_SHUT, RCH_SHUT_F_SEND, 1, 0, 0),
	     SAY(0, RCH_REC_RTS, 0, 1, 0, 0, 0, 8, 0, 0, 1, 0, 0, 0), A(LINK_ARRIVE, 3));
	/* A key that is none: where it is in the frame, by 4. */
	LINK("lie-key", LIAR, CONNECTED, B(LINK_WAIT, 0), A(LINK_PLACE, 0), 90,
	     ALL_ARRIVES, B(LINK_RUN, 0), B(LINK_LIE, 0),
	     (RCH_FRAME_OVERHEAD + offsetof(struct rch_wire_cts, rkey)) / 4, LINK_LIE_ADD,
	     200, B(LINK_RUN, 0), ALL_ARRIVES, A(LINK_RUN, 0), ALL_ARRIVES);
	LINK("lie-cts", LIAR, CONNECTED, A(LINK_PLACE, 0), 200, ALL_ARRIVES,
	     SAY(0, RCH_REC_CTS, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ALL_ARRIVES,
	     A(LINK_RUN, 0), ALL_ARRIVES);
}

/* Findings, of campaigns or of writing this. */
static void found_seeds(void)
{
	/* No credit for the answer to RTS, and then a reset that went out ahead of it. */
	LINK("found-answer", 0, 1, 0, 3, 0, 1, CONNECTED, A(LINK_CONNECT, 1), B(LINK_ARRIVE, 1),
	     B(LINK_ACCEPT, 1), A(LINK_ARRIVE, 1), ALL_ARRIVES, A(LINK_BEAT, 0),
	     B(LINK_ARRIVE, 3), A(LINK_HOLD, 0),
	     B(LINK_SEND, 0), 8, A(LINK_ARRIVE, 0), B(LINK_DONE, 0), B(LINK_SEND, 0), 8,
	     A(LINK_ARRIVE, 0), B(LINK_DONE, 0), B(LINK_SEND, 0), 8, A(LINK_ARRIVE, 0),
	     B(LINK_DONE, 0), B(LINK_SEND, 0), 8, A(LINK_ARRIVE, 0), B(LINK_DONE, 0),
	     B(LINK_SEND, 0), 8, A(LINK_ARRIVE, 0), B(LINK_DONE, 0), B(LINK_SEND, 0), 0,
	     B(LINK_SEND, 0), 0, B(LINK_SEND, 0), 0, B(LINK_SEND, 0), 240,
	     B(LINK_SEND, 0), 200, B(LINK_SEND, 0), 200, B(LINK_SEND, 0), 200,
	     B(LINK_SEND, 0), 0, B(LINK_SEND, 0), 0, A(LINK_PLACE, 1), 90,
	     B(LINK_ARRIVE, 3), B(LINK_KILL, 1), A(LINK_HOLD, 0), ALL_ARRIVES, ALL_ARRIVES);
	/* The last number went to a frame that raised nothing, after a duplicate. */
	LINK("found-duplicate", HONEST, B(LINK_BEAT, 0), B(LINK_BEAT, 0), B(LINK_BEAT, 0),
	     B(LINK_BEAT, 0), B(LINK_BEAT, 0), B(LINK_BEAT, 0), B(LINK_BEAT, 0),
	     B(LINK_BEAT, 0), B(LINK_HOLD, 0), B(LINK_AGAIN, 0), B(LINK_BEAT, 0));
	/* Segments without bytes, of a message that never ends: memory without bound. */
	LINK("found-segments", LIAR, CONNECTED,
	     SAY(0, RCH_REC_DATA, RCH_DATA_F_FIRST, 1, 0, 100), A(LINK_ARRIVE, 3),
	     SAY(15, RCH_REC_DATA, 0, 1, 0, 100), A(LINK_ARRIVE, 3), B(LINK_ARRIVE, 3),
	     SAY(15, RCH_REC_DATA, 0, 1, 0, 100), A(LINK_ARRIVE, 3), B(LINK_ARRIVE, 3),
	     SAY(15, RCH_REC_DATA, 0, 1, 0, 100), A(LINK_ARRIVE, 3), B(LINK_ARRIVE, 3),
	     SAY(15, RCH_REC_DATA, 0, 1, 0, 100), A(LINK_ARRIVE, 3), B(LINK_ARRIVE, 3),
	     SAY(15, RCH_REC_DATA, 0, 1, 0, 100), A(LINK_ARRIVE, 3), B(LINK_ARRIVE, 3));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds DIR\n");
		return 2;
	}
	top = argv[1];
	frame_seeds();
	frame_bad_seeds();
	frame_standing_seed();
	frame_early_seed();
	frame_tell_seed();
	frame_grants_seed();
	hello_seeds();
	link_seeds();
	link_liar_seeds();
	link_liar_place_seeds();
	found_seeds();
	seeds_peer();
	return 0;
}
