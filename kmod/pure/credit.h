/* SPDX-License-Identifier: GPL-2.0 */
/*
 * credit.h - sequence numbers, acknowledgements and credits of a link
 *
 * Each direction of a link counts frames. A receiver promises, as an absolute
 * sequence number (the *limit*), which frames it has a buffer posted for; so a
 * promise that is repeated, or arrives twice, means the same. A sender whose next
 * number is below the limit never meets a receiver that is not ready.
 *
 * The last RCH_CREDIT_RESERVE numbers below the limit are kept for *pure*
 * frames, which carry no records and only tell numbers. A pure frame is sent when a quarter
 * of the ring is untold (or an eighth, see rch_credit_tell_often()), or RCH_CREDIT_UNTOLD_MAX
 * frames, or as a heartbeat.
 * The buffers of pure frames are posted again at once. The very last number is only for
 * a frame that raises the limit; so a promise can always travel, whatever programs do
 * and however frames cross:
 *
 * Let all frames have arrived. If both sides had used their last number, each
 * would have raised the other's limit by it, and so sent it before the other sent
 * its last: a circle. If a side has nothing to raise, then the peer knows its true
 * limit; and as data cannot use the reserve, that is RCH_CREDIT_RESERVE numbers
 * ahead at least: the peer may send.
 */
#ifndef _RCH_PURE_CREDIT_H
#define _RCH_PURE_CREDIT_H

#include "seq.h"

/** RCH_CREDIT_RESERVE - frames below the limit that only pure frames may use */
#define RCH_CREDIT_RESERVE	4U
/** RCH_DEPTH_MIN - fewest receive buffers a peer may offer */
#define RCH_DEPTH_MIN		8U
/** RCH_DEPTH_MAX - most receive buffers a peer may offer */
#define RCH_DEPTH_MAX		4096U
/**
 * RCH_CREDIT_UNTOLD_MAX - most frames that are received, or promised, and not told of. A sender
 *	keeps a frame until it is told of, however deep the peer's ring is
 */
#define RCH_CREDIT_UNTOLD_MAX	32U
/**
 * RCH_DEPTH_BARE - most receive buffers of either side where bare frames are sent: then
 *	all numbers that can meet are known by their lowest 8 bits
 */
#define RCH_DEPTH_BARE		64U

/** RCH_SENDS_MIN - fewest frames that can be posted: of so many some are signalled */
#define RCH_SENDS_MIN		16U

/**
 * struct rch_depths - frames that are posted at a time
 * @recv: receive buffers
 * @send: frames that are sent
 */
struct rch_depths {
	u32 recv;
	u32 send;
};

/* The remainder of @room. */
static inline u32 rch_depths_left(u32 room, u32 taken)
{
	return room > taken ? room - taken : 0;
}

/**
 * rch_depths_fit - have no more frames posted than an adapter has room for
 * @d: the length that is wanted; made less
 * @others: work requests that are posted besides
 * @max_wr: work requests of a queue of the adapter's
 * @max_cqe: completions of both queues
 *
 * In each queue a work request more is for draining it. Return: whether that is enough.
 */
static inline bool rch_depths_fit(struct rch_depths *d, u32 others, u32 max_wr, u32 max_cqe)
{
	u32 entries = rch_depths_left(max_cqe, others + 2);

	d->recv = min(d->recv, rch_depths_left(max_wr, 1));
	d->send = min(d->send, rch_depths_left(max_wr, others + 1));
	if (d->recv + d->send > entries) {
		d->recv = min(d->recv, entries / 2);
		d->send = min(d->send, entries - d->recv);
	}
	return d->recv >= RCH_DEPTH_MIN && d->send >= RCH_SENDS_MIN;
}

/**
 * struct rch_credit - both directions of a link
 * @tx_next: number of the next frame to send
 * @tx_acked: the peer's module has all frames before this
 * @tx_limit: first frame that must not be sent
 * @tx_depth: ring size of the peer
 * @rx_next: number of the next frame expected
 * @rx_limit: first frame there is no buffer for
 * @told_next: @rx_next as last told to the peer
 * @told_limit: the highest @rx_limit told to the peer. @rx_limit is behind it while
 *	the buffer of a duplicate is not posted again
 * @rx_depth: our ring size
 * @tell_each: so many frames are untold at most
 */
struct rch_credit {
	u32 tx_next;
	u32 tx_acked;
	u32 tx_limit;
	u32 tx_depth;
	u32 rx_next;
	u32 rx_limit;
	u32 told_next;
	u32 told_limit;
	u32 rx_depth;
	u32 tell_each;
};

/** enum rch_arrival - what a sequence number means to its receiver */
enum rch_arrival {
	RCH_ARRIVAL_NEW,
	RCH_ARRIVAL_DUPLICATE,
	RCH_ARRIVAL_GAP,
};

/* So many frames are untold at most, with a ring of @depth. */
static inline u32 rch_credit_untold(u32 depth)
{
	return min(depth / 4, RCH_CREDIT_UNTOLD_MAX);
}

/**
 * rch_credit_init - begin
 * @c: what to fill in
 * @tx_first: first number we send
 * @tx_depth: buffers that the peer offered
 * @rx_first: first number that the peer sends
 * @rx_depth: buffers that we offered and have posted
 */
static inline void rch_credit_init(struct rch_credit *c, u32 tx_first,
				   u32 tx_depth, u32 rx_first, u32 rx_depth)
{
	c->tx_next = tx_first;
	c->tx_acked = tx_first;
	c->tx_limit = tx_first + tx_depth;
	c->tx_depth = tx_depth;
	c->rx_next = rx_first;
	c->rx_limit = rx_first + rx_depth;
	c->told_next = rx_first;
	c->told_limit = c->rx_limit;
	c->rx_depth = rx_depth;
	c->tell_each = rch_credit_untold(rx_depth);
}

/**
 * rch_credit_tell_often - how much of the ring may be untold
 * @c: credits
 * @often: half as much as else
 *
 * The peer cannot use credit that is untold. Two frames are untold at the least, which is a quarter
 * of a ring of 8: pure frames count as well, and must not answer each other for ever.
 */
static inline void rch_credit_tell_often(struct rch_credit *c, bool often)
{
	c->tell_each = rch_credit_untold(c->rx_depth) / (often && c->rx_depth >= 16 ? 2 : 1);
}

/** rch_credit_raised - whether our limit is ahead of what the peer was told */
static inline bool rch_credit_raised(const struct rch_credit *c)
{
	return rch_seq_before(c->told_limit, c->rx_limit);
}

/** rch_credit_full - whether all our buffers are posted: then the limit follows from the ack */
static inline bool rch_credit_full(const struct rch_credit *c)
{
	return c->rx_limit - c->rx_next == c->rx_depth;
}

/** rch_credit_room - frames that may be sent now; @pure: frames without records */
static inline u32 rch_credit_room(const struct rch_credit *c, bool pure)
{
	s32 room = rch_seq_diff(c->tx_limit, c->tx_next);

	if (!pure)
		room -= RCH_CREDIT_RESERVE;
	else if (!rch_credit_raised(c))
		room--;
	return room > 0 ? room : 0;
}

/** rch_credit_take - number of the frame that is sent now; needs room */
static inline u32 rch_credit_take(struct rch_credit *c)
{
	return c->tx_next++;
}

/** rch_credit_unacked - frames sent that the peer's module has not confirmed */
static inline u32 rch_credit_unacked(const struct rch_credit *c)
{
	return c->tx_next - c->tx_acked;
}

/**
 * rch_credit_kept - whether the peer's module has confirmed too little to send it more
 * @c: credits
 * @flight: frames that may be on their way
 *
 * What is not confirmed is memory of this side that is charged to no program, and the peer names
 * the depth of its ring. This side waits then; the next frame that tells of them ends that.
 */
static inline bool rch_credit_kept(const struct rch_credit *c, u32 flight)
{
	return rch_credit_unacked(c) >= flight + rch_credit_untold(c->tx_depth);
}

/**
 * rch_credit_told_by_peer - take in what a frame's header says
 * @c: credits
 * @ack: the peer has all frames before this
 * @limit: first frame that the peer has no buffer for
 *
 * Numbers that are older than what is known change nothing: a duplicate may
 * carry them. Return: false if the numbers cannot be true.
 */
static inline bool rch_credit_told_by_peer(struct rch_credit *c, u32 ack, u32 limit)
{
	if (rch_seq_before(c->tx_next, ack) || limit - ack > c->tx_depth)
		return false;
	if (rch_seq_before(c->tx_acked, ack))
		c->tx_acked = ack;
	if (rch_seq_before(c->tx_limit, limit))
		c->tx_limit = limit;
	return true;
}

/** rch_credit_arrival - judge the number of a frame that came; changes nothing */
static inline enum rch_arrival rch_credit_arrival(const struct rch_credit *c, u32 seq)
{
	if (seq == c->rx_next)
		return RCH_ARRIVAL_NEW;
	return rch_seq_before(seq, c->rx_next) ? RCH_ARRIVAL_DUPLICATE
					       : RCH_ARRIVAL_GAP;
}

/** rch_credit_received - the frame expected has come */
static inline void rch_credit_received(struct rch_credit *c)
{
	c->rx_next++;
}

/** rch_credit_duplicate - a frame came again: its buffer must not count twice when posted */
static inline void rch_credit_duplicate(struct rch_credit *c)
{
	c->rx_limit--;
}

/** rch_credit_posted - @n more buffers are posted */
static inline void rch_credit_posted(struct rch_credit *c, u32 n)
{
	c->rx_limit += n;
}

/** rch_credit_tell - the numbers are in a frame that is sent now */
static inline void rch_credit_tell(struct rch_credit *c)
{
	c->told_next = c->rx_next;
	if (rch_credit_raised(c))
		c->told_limit = c->rx_limit;
}

/** rch_credit_tell_ack - only the acknowledgement is */
static inline void rch_credit_tell_ack(struct rch_credit *c)
{
	c->told_next = c->rx_next;
}

/** rch_credit_must_tell - whether a frame is due only to tell the numbers */
static inline bool rch_credit_must_tell(const struct rch_credit *c)
{
	return (rch_credit_raised(c) &&
		c->rx_limit - c->told_limit >= c->tell_each) ||
	       c->rx_next - c->told_next >= c->tell_each;
}

#endif /* _RCH_PURE_CREDIT_H */
