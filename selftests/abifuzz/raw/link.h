/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link.h - a link of the raw peer, and what it knows of the channels on it
 *
 * One thread. Numbers that it says are those that it knows, but for one in @honesty.
 */
#ifndef RDMACHAN_RAW_LINK_H
#define RDMACHAN_RAW_LINK_H

#include "../../hostile/hostile_verbs.h"
#include "../../../kmod/pure/window.h"
#include "../raw.h"

#define RAW_CHANS 8
#define RAW_HELD 4
#define RAW_KEYS 4
#define RAW_OLD 32
#define RAW_ATOMICS 8
#define RAW_ROOM 262144U

/* struct raw_held - a grant that a program has given; of its keys the first ones */
struct raw_held {
	u32 id;
	u32 rights;
	u64 length;
	u32 start;
	u32 shift;
	u32 keys;
	u32 key[RAW_KEYS];
};

enum raw_state {
	RAW_FREE,
	/* OPEN was sent, and nothing has come. */
	RAW_WAITS,
	/* OPEN came, and nothing was sent. */
	RAW_KNOCKS,
	RAW_OPEN,
};

/**
 * struct raw_chan - a channel, as an honest peer would know it
 * @state: see there
 * @mine: number that records of the module's name it by
 * @theirs: the module's number of it
 * @early: opened so that messages may go ahead
 * @shut: SHUT for sending was sent
 * @closing: CLOSE was sent
 * @closed: and answered
 * @peer_closing: CLOSE came
 * @answered: and was answered
 * @cost: of all DATA that was sent
 * @limit: up to which it may go
 * @message_max: largest message that the module takes
 * @came: cost of all DATA that came
 * @told: up to which it may go
 * @left: bytes to come of the message that is being sent in pieces
 * @total: bytes of that one
 * @sent: messages that were sent
 * @placed: the last one was placed
 * @delivered: those of them that the program has received
 * @heard: messages that came
 * @tells: number of the last one of them that has asked
 * @taken: number that TAKEN has told
 * @arriving: a part of one has come
 * @serial: of the last RTS, and ATOMIC
 * @wish: bytes of the message that an RTS has asked a way for, or 0
 * @wish_serial: of that RTS
 * @wish_done: bytes of it that were written
 * @cts: the answer to it, if @cts_came
 * @cts_came: see there
 * @lent: standing CTS, by the number of the message
 * @wanted: serial of a standing CTS that is to be given back, or 0
 * @settled: serials of those that were used, or given back
 * @settled_next: the next place there
 * @peer_wish: the same of an RTS that came
 * @peer_serial: of that
 * @peer_done: bytes of it that are here
 * @peer_cts: bytes that were offered for it, and have not come
 * @lends: serial of a standing CTS that was sent, and has not come back; or 0
 * @lends_message: the message that it is for
 * @held: grants that came
 * @revoked: number of a grant that is wanted back, or 0
 * @given: number of the last grant that was sent
 * @taken_back: number of the last one that was wanted back
 * @atomics: serials of questions that came, and were not answered
 * @atomics_count: how many
 */
struct raw_chan {
	enum raw_state state;
	u32 mine;
	u32 theirs;
	bool early;
	bool shut;
	bool closing;
	bool closed;
	bool peer_closing;
	bool answered;
	u64 cost;
	u64 limit;
	u32 message_max;
	u64 came;
	u64 told;
	u32 left;
	u32 total;
	u64 sent;
	bool placed;
	u64 delivered;
	u64 heard;
	u64 tells;
	u64 taken;
	bool arriving;
	u32 serial;
	u32 wish;
	u32 wish_serial;
	u32 wish_done;
	struct rch_cts cts;
	bool cts_came;
	struct rch_cts lent[RCH_LENDS];
	u32 wanted;
	u32 settled[RCH_LENDS];
	u32 settled_next;
	u32 peer_wish;
	u32 peer_serial;
	u32 peer_done;
	u32 peer_cts;
	u32 lends;
	u32 lends_message;
	struct raw_held held[RAW_HELD];
	u32 revoked;
	u32 given;
	u32 taken_back;
	u32 atomics[RAW_ATOMICS];
	u32 atomics_count;
};

/**
 * struct raw_link - a link
 * @h: what carries it; first
 * @f: frame that is being built
 * @chans: the channels on it
 * @last_mine: number that was given to a channel last
 * @frame_size: bytes of a frame
 * @bare: bare frames were agreed upon
 * @services: where cases listen is the first, and one more
 * @honesty: one number in so many is not the right one; 0: each is
 * @old: numbers that were said before
 * @old_next: the next place there
 * @room: memory for the module to access
 * @room_mr: of that
 * @room_base: its address, as the module has to name it
 * @frames: frames that were sent, and are among the figures
 * @acked: those of them that are acknowledged
 * @came: frames that came
 * @seed: what comes next
 * @stats: figures
 */
struct raw_link {
	struct hostile h;
	struct frame f;
	struct raw_chan chans[RAW_CHANS];
	u32 last_mine;
	u32 frame_size;
	bool bare;
	u32 services;
	u32 honesty;
	u32 old[RAW_OLD];
	u32 old_next;
	u8 *room;
	struct ibv_mr *room_mr;
	u64 room_base;
	u32 frames;
	u32 acked;
	u32 came;
	u64 seed;
	struct raw_stats *stats;
};

static inline void raw_count(struct raw_link *l, enum raw_figure figure, u64 count)
{
	atomic_fetch_add(&l->stats->figures[figure], count);
}

/* As min(), of what is drawn once. */
static inline u32 raw_lesser(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 raw_below(struct raw_link *l, u32 count)
{
	return next_random(&l->seed) % count;
}

static inline bool raw_one_in(struct raw_link *l, u32 count)
{
	return !raw_below(l, count);
}

/* Whether a rule is broken now. */
static inline bool raw_lies(struct raw_link *l)
{
	return l->honesty && raw_one_in(l, l->honesty);
}

/* chan.c: what is known of channels */
void raw_took(struct hostile *h, const struct rch_record *r);
struct raw_chan *raw_chan_free(struct raw_link *l);
void raw_chan_begin(struct raw_link *l, struct raw_chan *c, enum raw_state state);
void raw_chan_settle(struct raw_chan *c);

/* talk.c: records of all kinds; grants.c: those of memory that is lent for longer */
u64 raw_number(struct raw_link *l, u64 right);
u8 *raw_add(struct raw_link *l, struct raw_chan *c, u8 type, u8 flags, u32 length);
u8 *raw_add_data(struct raw_link *l, struct raw_chan *c, u8 flags, u32 length, u32 total);
u32 raw_some_length(struct raw_link *l);
bool raw_may_send(struct raw_link *l, struct raw_chan *c);
bool raw_reach(struct raw_link *l, int opcode, u64 addr, u32 rkey, u32 length);
void raw_talk(struct raw_link *l);
void raw_say_grants(struct raw_link *l, struct raw_chan *c);
void raw_say_revoke(struct raw_link *l, struct raw_chan *c);
void raw_say_release(struct raw_link *l, struct raw_chan *c);
void raw_say_access(struct raw_link *l, struct raw_chan *c);
void raw_say_atomic(struct raw_link *l, struct raw_chan *c);
void raw_say_atomic_done(struct raw_link *l, struct raw_chan *c);

/* life.c: a link from its beginning to its end */
bool raw_life(struct raw_link *l, bool passive, int port);

#endif /* RDMACHAN_RAW_LINK_H */
