/* SPDX-License-Identifier: GPL-2.0 */
/*
 * end.h - one end of a link, over the real pure layer
 *
 * What link.c, link_rx.c, link_tx.c, lane.c and the files of channels do with the pure
 * layer, step for step and without the kernel: no locks, no adapter, memory that is
 * there. Names are those of the module where the thing is the same.
 */
#ifndef _RCH_FUZZ_END_H
#define _RCH_FUZZ_END_H

#include "fuzz.h"

#define LANES		4U
#define ITEMS		32U
#define REJECTS		16U
#define WIRE		64U
#define DEPTH_MOST	32U
#define FRAME_SIZE	RCH_FRAME_MIN
#define MESSAGE_MOST	4000U
#define WINDOW_MOST	4096U
/* Bytes from which on an item is a frame of its own. */
#define ITEM_MAX	256U
#define ABORTED		0xffffU
/* Bytes that are written at a time, straight to where they are wanted. */
#define PIECE		1024U

/*
 * What a lane may hold at most, in records: a window of empty messages, and a message
 * of the smallest segments there may be.
 */
#define SEGMENTS	(WINDOW_MOST / RCH_WINDOW_RECORD + \
			 MESSAGE_MOST / RCH_SEGMENT_MIN + 2)

/** enum control - as enum rch_lane_control */
enum control {
	CTL_OPEN = 1 << 0,
	CTL_ACCEPT = 1 << 1,
	CTL_CREDIT = 1 << 2,
	CTL_SHUT_RECV = 1 << 3,
	CTL_RESET = 1 << 4,
	CTL_CLOSED = 1 << 5,
	CTL_CTS = 1 << 6,
};

/** enum grant - as enum rch_grant */
enum grant {
	GRANT_NONE,
	GRANT_TAKEN,
	GRANT_OPEN,
	GRANT_DONE,
	GRANT_CANCELLED,
};

/** struct item - a record that waits, or one that was received; @serial: of an RTS */
struct item {
	u8 type;
	u8 flags;
	u16 msg_flags;
	u32 length;
	u32 total;
	u32 serial;
};

/**
 * struct lane - a channel, as struct rch_chan with its struct rch_lane
 * @id: its number, 0 when it is not attached
 * @file: a program has it open
 * @waiting: it is in the listener's queue
 * @rts: the message that a thread of the program has asked for, while @sending
 * @rts_left: bytes of it that are not written
 * @cts: the answer, when it is not due any more
 * @wrote: what it opened was written, and FIN is to follow
 * @reader: a thread of the program waits for a message
 * @late: the offer has waited for as long as it may without a thread
 * @grant_left: bytes of the message that are not confirmed
 * @granted: bytes of the piece that is open
 * @base: where it begins in the message
 * @rkey: the key for it, 0 when nothing is open
 * @landed: bytes of the message that were written
 * @accepted: messages taken from the program; each carries its number as msg_flags
 * @read: messages that came and were complete
 */
struct lane {
	u32 id;
	u32 peer_id;
	bool active;
	bool file;
	bool waiting;
	bool released;
	enum rch_chan_state state;

	struct rch_flow flow;
	struct rch_window_tx tx;
	struct item queue[ITEMS];
	u32 head;
	u32 count;
	u32 control;
	u64 credit_limit;
	bool refused;
	bool stalled;
	bool shut_queued;
	bool fin_queued;
	bool finishing;
	bool close_sent;
	bool close_got;
	bool closed_sent;
	bool closed_got;

	struct rch_window_rx rx;
	struct item segments[SEGMENTS];
	u32 first;
	u32 held;
	u32 complete;
	u32 expect;
	u32 size;
	bool arriving;
	bool shut_recv;
	bool peer_shut_send;

	bool sending;
	bool cts_due;
	bool wrote;
	u32 rts_left;
	struct rch_rts rts;
	struct rch_cts cts;

	bool reader;
	bool wants_data;
	bool offered;
	bool late;
	enum grant grant;
	u32 grant_serial;
	u32 grant_left;
	u32 granted;
	u32 base;
	u32 rkey;
	u32 landed;
	struct rch_rts offer;
	struct rch_cts answer;

	u32 accepted;
	u32 read;
};

/** struct slot - a frame under way, or one that has been */
struct slot {
	u32 length;
	u32 seq;
	u8 flags;
	u8 data[FRAME_SIZE] __attribute__((aligned(8)));
};

/**
 * struct write - bytes on their way to the peer's memory
 * @after: they arrive behind all frames before this
 * @chan: the peer's number of the channel
 * @length: 0 when there is none
 */
struct write {
	u32 after;
	u32 chan;
	u32 rkey;
	u32 length;
	u64 addr;
};

/**
 * struct end - one side
 * @peer: the other
 * @liar: it says what the fuzzer likes; nothing is expected of it
 * @hold: no memory: receive buffers are not posted again
 * @refuse: the listener is gone
 * @posted: buffers that the adapter has
 * @used: buffers that are to be posted again
 * @again: some of them were used by frames that came twice
 * @told: the highest limit that was ever told
 * @done: frames before this were sent by the adapter
 * @wire: frames; closed ones, from @sealed on without header
 * @closed: frames that got their number
 * @sealed: frames that left
 * @arrived: frames that came to the peer
 * @writes: one of each lane
 * @rkeys: keys that were given out
 */
struct end {
	struct end *peer;
	bool liar;
	bool hold;
	bool refuse;
	enum rch_link_state state;
	enum rch_rule broken;
	struct rch_credit credit;
	struct rch_drr drr;
	struct lane lanes[LANES];
	u32 window;
	u32 weight;
	struct { u32 chan; u32 reason; } rejects[REJECTS];
	u32 reject_count;
	struct write writes[LANES];
	u32 rkeys;

	u32 posted;
	u32 used;
	bool again;
	u32 told;
	u32 done;
	u64 next64;
	u64 acked64;

	struct slot wire[WIRE];
	u32 closed;
	u32 sealed;
	u32 arrived;
	u8 open[FRAME_SIZE] __attribute__((aligned(8)));
	u32 open_used;
};

/* end_lane.c: lanes, and the programs that have them */
bool lane_free(const struct lane *lane);
void lane_init(struct end *e, struct lane *lane, bool active);
void lane_set_state(struct lane *lane, enum rch_chan_state to);
void lane_fail(struct lane *lane);
void lane_detach(struct end *e, struct lane *lane);
void lane_detach_if_closed(struct end *e, struct lane *lane);
void lane_tell_later(struct lane *lane, u32 control);
void lane_tell(struct end *e, struct lane *lane, u32 control);
void lane_flow_update(struct end *e, struct lane *lane);
void lane_purge(struct end *e, struct lane *lane);
void lane_refuse(struct end *e, struct lane *lane);
void lane_reset(struct end *e, struct lane *lane);
void lane_credit(struct end *e, struct lane *lane);
void lane_enqueue(struct lane *lane, u8 type, u8 flags, u32 length);
bool lane_tx_refused(const struct lane *lane);
void chan_connect(struct end *e, struct lane *lane);
void chan_accept(struct lane *lane);
void chan_send(struct end *e, struct lane *lane, u32 total, bool abort);
void chan_read(struct end *e, struct lane *lane);
void chan_shut_send(struct end *e, struct lane *lane);
void chan_shut_recv(struct end *e, struct lane *lane);
void chan_release(struct end *e, struct lane *lane, bool reset);

/* end_place.c: large messages, from memory to memory */
enum rch_rule rts_got(struct end *e, struct lane *lane, const struct rch_record *r);
enum rch_rule cts_got(struct lane *lane, const struct rch_record *r);
enum rch_rule fin_got(struct end *e, struct lane *lane);
void writes_land(struct end *from);
void chan_place(struct end *e, struct lane *lane, u32 total);
void chan_wait(struct lane *lane);
void chan_wants_data(struct end *e, struct lane *lane);
void chan_offer_over(struct end *e, struct lane *lane);
bool chan_threads(struct end *e, struct lane *lane);
bool chan_sender_stops(struct end *e, struct lane *lane);
bool chan_reader_stops(struct end *e, struct lane *lane);
bool chan_stop(struct end *e, struct lane *lane);
bool chan_kill(struct end *e, struct lane *lane);

/* end_tx.c: frames built and sent */
void end_run(struct end *e);
void end_heartbeat(struct end *e, u8 flags);
void *end_put_record(struct end *e, const struct rch_record *r);

/* end_rx.c: frames taken apart */
void end_received(struct end *e, const u8 *data, u32 length);
void end_repost(struct end *e);
void lane_take_arriving(struct lane *lane);

static inline struct item *lane_item(struct lane *lane, u32 n)
{
	return &lane->queue[(lane->head + n) % ITEMS];
}

static inline struct item *lane_segment(struct lane *lane, u32 n)
{
	return &lane->segments[(lane->first + n) % SEGMENTS];
}

/** end_trusts - whether both ends are honest */
static inline bool end_trusts(const struct end *e)
{
	return !e->liar && !e->peer->liar;
}

static inline bool lane_only_incomplete(const struct lane *lane)
{
	return lane->arriving && !lane->complete;
}

#endif /* _RCH_FUZZ_END_H */
