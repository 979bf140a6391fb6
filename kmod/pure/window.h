/* SPDX-License-Identifier: GPL-2.0 */
/*
 * window.h - how much of a channel's data the receiving end will hold
 *
 * Both ends count what each DATA record costs since the channel was opened: its
 * bytes, and RCH_WINDOW_RECORD for keeping it. The receiver promises an absolute
 * count, the *limit*. A slow program stops its own channel and no other.
 */
#ifndef _RCH_PURE_WINDOW_H
#define _RCH_PURE_WINDOW_H

#include "types.h"

/** RCH_WINDOW_RECORD - what a record costs besides its bytes */
#define RCH_WINDOW_RECORD	64U
/**
 * RCH_EARLY_MAX - cost of all messages that may be sent before ACCEPT is known; the first limit of
 *	no window is below that
 */
#define RCH_EARLY_MAX		16384U
/**
 * RCH_SEGMENT_MIN - fewest bytes of a segment that is not its message's last
 *
 * The limit rises with each record of a message that is not complete, so a message of
 * segments without bytes would never end, and take memory without bound.
 */
#define RCH_SEGMENT_MIN		512U

/**
 * struct rch_window_tx - the sending end
 * @sent: cost of all records sent
 * @limit: the peer's promise
 */
struct rch_window_tx {
	u64 sent;
	u64 limit;
};

/**
 * struct rch_window_rx - the receiving end
 * @received: cost of all records received
 * @consumed: cost of those that the program has read, or that were dropped
 * @told: the limit as last told
 * @size: receive buffer. A promise may be beyond it, when a message is larger or the buffer was
 *	made smaller
 */
struct rch_window_rx {
	u64 received;
	u64 consumed;
	u64 told;
	u32 size;
};

/** rch_window_cost_run - cost of @count records of @bytes together */
static inline u64 rch_window_cost_run(u32 count, u32 bytes)
{
	return (u64)bytes + (u64)count * RCH_WINDOW_RECORD;
}

/** rch_window_cost - cost of a record of @len bytes */
static inline u64 rch_window_cost(u32 len)
{
	return rch_window_cost_run(1, len);
}

/** rch_segment_allowed - whether a segment may have @len bytes */
static inline bool rch_segment_allowed(u32 len, bool last)
{
	return last || len >= RCH_SEGMENT_MIN;
}

/** rch_window_may_send - whether a record of @len bytes fits the peer's promise */
static inline bool rch_window_may_send(const struct rch_window_tx *w, u32 len)
{
	return w->sent + rch_window_cost(len) <= w->limit;
}

/** rch_window_sent - a record of @len bytes is sent */
static inline void rch_window_sent(struct rch_window_tx *w, u32 len)
{
	w->sent += rch_window_cost(len);
}

/** rch_window_raise - the peer's new promise; an older one changes nothing */
static inline void rch_window_raise(struct rch_window_tx *w, u64 limit)
{
	if (limit > w->limit)
		w->limit = limit;
}

/** rch_window_init - the receiving end begins with its buffer's size told */
static inline void rch_window_init(struct rch_window_rx *w, u32 size)
{
	w->received = 0;
	w->consumed = 0;
	w->told = size;
	w->size = size;
}

/**
 * rch_window_received_run - records came
 * @w: window
 * @count: how many
 * @bytes: of all of them
 *
 * Return: false if the peer was not allowed to send them.
 */
static inline bool rch_window_received_run(struct rch_window_rx *w, u32 count, u32 bytes)
{
	u64 cost = rch_window_cost_run(count, bytes);

	if (w->received + cost > w->told)
		return false;
	w->received += cost;
	return true;
}

/** rch_window_received - the same for one record of @len bytes */
static inline bool rch_window_received(struct rch_window_rx *w, u32 len)
{
	return rch_window_received_run(w, 1, len);
}

/** rch_window_consumed_run - @count records of @bytes together were read or dropped */
static inline void rch_window_consumed_run(struct rch_window_rx *w, u32 count, u32 bytes)
{
	w->consumed += rch_window_cost_run(count, bytes);
}

/** rch_window_consumed - the same for one record of @len bytes */
static inline void rch_window_consumed(struct rch_window_rx *w, u32 len)
{
	rch_window_consumed_run(w, 1, len);
}

/**
 * rch_window_target - the limit that could be told now
 * @w: window
 * @incomplete: a single message that is not complete yet is all there is to read.
 *	It must go on coming however large it is, or nobody could ever read it
 */
static inline u64 rch_window_target(const struct rch_window_rx *w, bool incomplete)
{
	return (incomplete ? w->received : w->consumed) + w->size;
}

/**
 * rch_window_must_tell - whether a new limit is worth a record
 * @w: window
 * @incomplete: as for rch_window_target()
 *
 * With a buffer of at least four times the largest record a sender that waits for
 * an untold rest always has room for one record more, or is told.
 */
static inline bool rch_window_must_tell(const struct rch_window_rx *w, bool incomplete)
{
	u64 target = rch_window_target(w, incomplete);

	return target > w->told && target - w->told >= w->size / 4;
}

/** rch_window_excess - how much of the promise @limit is beyond the buffer */
static inline u64 rch_window_excess(const struct rch_window_rx *w, u64 limit)
{
	u64 promised = limit - w->consumed;

	return promised > w->size ? promised - w->size : 0;
}

/**
 * rch_window_resize - the receive buffer has another size from now on
 * @w: window
 * @size: bytes
 *
 * A promise stays: a window becomes smaller only as its bytes are consumed.
 * Return: the limit that is to be told now, for a larger one, however little it is; or 0.
 */
static inline u64 rch_window_resize(struct rch_window_rx *w, u32 size)
{
	w->size = size;
	if (rch_window_target(w, false) <= w->told)
		return 0;
	w->told = rch_window_target(w, false);
	return w->told;
}

#endif /* _RCH_PURE_WINDOW_H */
