/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tail.h - when to ask whether the last packets have arrived
 *
 * An adapter that misses a packet says so when the next one comes. Nothing comes behind the last
 * packet of a burst: when that one is lost, only the sender's timeout finds it, which is long
 * (ack.h). So some time after the last packet a *probe* follows: a packet that carries nothing.
 * It is no retransmission: when the packets before it are merely late, it is one packet more. TCP
 * does so by its tail loss probe (RFC 8985, section 7).
 *
 * A timer looks at what was posted. It runs only while something was posted that nobody has
 * confirmed, and it is not moved when more is posted: it finds that out when it looks.
 */
#ifndef _RCH_PURE_TAIL_H
#define _RCH_PURE_TAIL_H

#include "types.h"

/**
 * RCH_TAIL_PROBES - probes behind the last packet; then the adapter's timeout finds what is lost
 *
 * The second finds what the first does not, when that is lost itself. Where the peer's adapter has
 * told of the loss, and this or a repeated packet is lost as well, no probe helps: rxe tells
 * once. And rxe's timeout begins anew with each packet.
 */
#define RCH_TAIL_PROBES 2
/** RCH_TAIL_MIN_NS - the shortest wait: a timer that runs so often costs little */
#define RCH_TAIL_MIN_NS 4000000ULL
/** RCH_TAIL_MAX_NS - the longest one: two of them are less than an adapter's timeout */
#define RCH_TAIL_MAX_NS 60000000ULL
/** RCH_TAIL_UNKNOWN_NS - the wait while no round trip was measured */
#define RCH_TAIL_UNKNOWN_NS 20000000ULL

/** enum rch_tail_step - what the timer does next */
enum rch_tail_step {
	/** @RCH_TAIL_REST: it does not run any more */
	RCH_TAIL_REST,
	/** @RCH_TAIL_WAIT: it looks again */
	RCH_TAIL_WAIT,
	/** @RCH_TAIL_PROBE: it posts a probe, and looks again */
	RCH_TAIL_PROBE,
};

/**
 * struct rch_tail - the requests posted on a queue pair, and their known state
 * @last: when packets were last posted, probes left out, in nanoseconds
 * @posts: how often; it wraps
 * @probed: @posts when the last probe was posted
 * @confirmed: of so many posts a probe has told that they have arrived
 * @probes: probes since the last post
 * @out: probes that have not ended
 * @running: the timer runs
 */
struct rch_tail {
	u64 last;
	u32 posts;
	u32 probed;
	u32 confirmed;
	u8 probes;
	u8 out;
	bool running;
};

/**
 * rch_tail_wait - how long a packet waits for a probe
 * @trip_us: a round trip in microseconds; 0: unknown
 * @busy_us: for so long the last packet waits for those ahead of it
 *
 * Return: nanoseconds: a round trip and a half behind that.
 */
static inline u64 rch_tail_wait(u32 trip_us, u32 busy_us)
{
	u64 ns = trip_us * 1500ULL;

	if (!trip_us)
		ns = RCH_TAIL_UNKNOWN_NS;
	else if (ns < RCH_TAIL_MIN_NS)
		ns = RCH_TAIL_MIN_NS;
	else if (ns > RCH_TAIL_MAX_NS)
		ns = RCH_TAIL_MAX_NS;
	return ns + busy_us * 1000ULL;
}

/** rch_tail_due - when the next probe is due, by rch_tail_wait() */
static inline u64 rch_tail_due(const struct rch_tail *tail, u64 wait)
{
	return tail->last + (tail->probes + 1) * wait;
}

/** rch_tail_posted - packets are posted at @now. Return: whether the timer is to be started */
static inline bool rch_tail_posted(struct rch_tail *tail, u64 now)
{
	const bool start = !tail->running;

	tail->last = now;
	tail->posts++;
	tail->probes = 0;
	tail->running = true;
	return start;
}

/**
 * rch_tail_look - what to do when the timer runs
 * @tail: of a queue pair
 * @now: in nanoseconds
 * @wait: by rch_tail_wait()
 * @arrived: others know that all has arrived
 *
 * Return: the step. Behind RCH_TAIL_PROBE a probe is posted, or rch_tail_failed() called. If it is
 * not RCH_TAIL_REST, the timer looks again at rch_tail_due().
 */
static inline enum rch_tail_step rch_tail_look(struct rch_tail *tail, u64 now, u64 wait,
					       bool arrived)
{
	if (arrived || tail->confirmed == tail->posts || tail->probes == RCH_TAIL_PROBES ||
	    tail->out == RCH_TAIL_PROBES) {
		tail->running = false;
		return RCH_TAIL_REST;
	}
	if (now < rch_tail_due(tail, wait))
		return RCH_TAIL_WAIT;
	tail->probes++;
	tail->out++;
	tail->probed = tail->posts;
	return RCH_TAIL_PROBE;
}

/** rch_tail_failed - the probe could not be posted: the timer does not run any more */
static inline void rch_tail_failed(struct rch_tail *tail)
{
	tail->out--;
	tail->running = false;
}

/** rch_tail_ended - a probe has arrived, and so has all that was posted before it */
static inline void rch_tail_ended(struct rch_tail *tail)
{
	/* Which of several it is nobody knows; the last one stands for all. */
	if (!--tail->out)
		tail->confirmed = tail->probed;
}

#endif /* _RCH_PURE_TAIL_H */
