// SPDX-License-Identifier: GPL-2.0
/*
 * link_gather.c - holds small messages and last words back, so that they share a frame
 *
 * Messages. Where an adapter answers faster than programs send, nothing is ever in flight and each
 * small message would have a frame of its own. So the open frame is held back for what may
 * follow, while all of this is true:
 *
 *  - it has nothing but whole messages: whatever else there is to say is said at once, and so
 *    is the rest of a message whose first part went in a frame of its own;
 *  - the peer has sent no record since the last frame with some: a message that answers
 *    another, and waits for its own answer, is not held back;
 *  - not longer than gather_us have passed since that frame: nor is the first message
 *    after a pause;
 *  - others go on coming: one does in each quarter of that time;
 *  - no program has begun to wait for what comes by the link: then rch_link_flush() sends
 *    what there is, as it may be what the other side waits for.
 *
 * A timer ends what nothing else does. Where timers are not that fine, nothing is held back.
 *
 * Last words. A program that closes a channel often opens another one, or has others to send on;
 * and for the answer to CLOSE nobody waits. So a graceful CLOSE that has nothing before it, and
 * CLOSED, go with whatever the link sends next, but not later than gather_us, nor a quarter of a
 * tick. A program that begins to wait on a channel sends CLOSE before (rch_link_flush()), as the
 * end of one channel may be what the peer's program waits for to go on with another.
 *
 * Until then the lane is in link->last.lanes, and nothing of it in a queue of the link. Their timer
 * is left alone when they have gone with something else: it finds none, or some that wait for less
 * long.
 */
#include <linux/hrtimer.h>

#include "base/rch.h"
#include "link/link.h"

/*
 * @at: the timer is not to be later. What it was queued for may be later than that, as a frame that
 * rch_link_close_by() would have closed was closed sooner. It may be running for an earlier frame,
 * and then finds that it is too early.
 */
static void link_gather_arm(struct rch_link *link, ktime_t at)
{
	struct hrtimer *timer = &link->gather.timer;

	lockdep_assert_held(&link->lock);
	if (!hrtimer_is_queued(timer) || ktime_before(at, hrtimer_get_expires(timer)))
		hrtimer_start(timer, at, HRTIMER_MODE_ABS_SOFT);
}

/* In a quarter of the time, or at its end. */
static void link_gather_look_again(struct rch_link *link, ktime_t now)
{
	link->gather.look = ktime_add_us(now, READ_ONCE(rch_gather_us) / 4);
	if (ktime_after(link->gather.look, link->gather.until))
		link->gather.look = link->gather.until;
	link->gather.used = link->tx.open->used;
	link_gather_arm(link, link->gather.look);
}

/** rch_link_timers_fine - whether something can be held back for @gather_us. Any context */
bool rch_link_timers_fine(unsigned int gather_us)
{
	return hrtimer_resolution <= gather_us * (unsigned int)NSEC_PER_USEC;
}

/**
 * rch_link_may_gather - whether messages without a frame would be held back
 * @link: link, locked
 */
bool rch_link_may_gather(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->tx.unanswered && ktime_before(ktime_get(), link->gather.until);
}

/**
 * rch_link_gathers - whether the open frame is held back
 * @link: link, locked; its open frame is not empty
 */
bool rch_link_gathers(struct rch_link *link)
{
	ktime_t now;

	lockdep_assert_held(&link->lock);
	if (link->tx.urgent || !link->tx.unanswered)
		return false;
	if (link->gather.on)
		return true;
	now = ktime_get();
	if (!ktime_before(now, link->gather.until))
		return false;
	WRITE_ONCE(link->gather.on, true);
	link_gather_look_again(link, now);
	return true;
}

/** rch_link_gather_over - the open frame was closed; locked */
void rch_link_gather_over(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	link->tx.urgent = false;
	link->tx.prompt = false;
	link->gather.waits = false;
	WRITE_ONCE(link->gather.on, false);
}

/**
 * rch_link_close_by - the open frame waits no longer than that for frames in flight
 * @link: link, locked; its open frame has a record
 * @us: microseconds from now; the first such record of a frame counts
 *
 * Of a burst of records that may not wait, the first have frames of their own, and the others share
 * some. Without this the last of these, which is not full, waits for a round trip.
 */
void rch_link_close_by(struct rch_link *link, u32 us)
{
	lockdep_assert_held(&link->lock);
	if (link->gather.waits)
		return;
	link->gather.waits = true;
	link->gather.late = ktime_add_us(ktime_get(), us);
	link_gather_arm(link, link->gather.late);
}

/** rch_link_gather_sent - a frame with records is posted; locked */
void rch_link_gather_sent(struct rch_link *link)
{
	unsigned int gather_us = READ_ONCE(rch_gather_us);

	lockdep_assert_held(&link->lock);
	link->tx.unanswered = rch_link_timers_fine(gather_us);
	if (link->tx.unanswered)
		link->gather.until = ktime_add_us(ktime_get(), gather_us);
}

/**
 * rch_link_push_locked - send what is in the open frame, and all that is held back
 * @link: link, locked
 *
 * If there is no credit for it, it goes when there is. Drops and takes link->lock.
 */
void rch_link_push_locked(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	link->tx.urgent = link->tx.open;
	WRITE_ONCE(link->gather.on, false);
	link->last.due = !list_empty(&link->last.lanes);
	rch_link_run_locked(link);
}

/**
 * rch_link_flush - send what is held back
 * @link: link
 *
 * For a caller that begins to wait for something that comes by the link. Context: any.
 */
void rch_link_flush(struct rch_link *link)
{
	if (READ_ONCE(link->gather.on) || READ_ONCE(link->last.closing))
		rch_link_push(link);
}

/** rch_link_push - the same, for callers without link->lock. Context: any */
void rch_link_push(struct rch_link *link)
{
	spin_lock_bh(&link->lock);
	rch_link_push_locked(link);
	spin_unlock_bh(&link->lock);
}

static enum hrtimer_restart link_gather_look(struct hrtimer *timer)
{
	struct rch_link *link = container_of(timer, struct rch_link, gather.timer);
	ktime_t now = ktime_get();

	spin_lock(&link->lock);
	if (link->gather.waits && !ktime_before(now, link->gather.late)) {
		link->gather.waits = false;
		link->tx.prompt = true;
		rch_link_run_locked(link);
	} else if (link->gather.waits) {
		hrtimer_start(timer, link->gather.late, HRTIMER_MODE_ABS_SOFT);
	} else if (!link->gather.on) {
		/* It was sent meanwhile. */
	} else if (ktime_before(now, link->gather.look)) {
		hrtimer_start(timer, link->gather.look, HRTIMER_MODE_ABS_SOFT);
	} else if (ktime_before(now, link->gather.until) &&
		   link->tx.open->used != link->gather.used) {
		link_gather_look_again(link, now);
	} else {
		rch_link_push_locked(link);
	}
	spin_unlock(&link->lock);
	return HRTIMER_NORESTART;
}

/** rch_link_gather_init - once for each link */
void rch_link_gather_init(struct rch_link *link)
{
	hrtimer_setup(&link->gather.timer, link_gather_look, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/** rch_link_gather_stop - the link is DEAD: the timer does not run, and will not */
void rch_link_gather_stop(struct rch_link *link)
{
	hrtimer_cancel(&link->gather.timer);
}

/*
 * Last words
 */

/* The peer waits for an answer for some dead times at most, and of these it knows its own. */
static ktime_t link_last_wait_for(const struct rch_link *link)
{
	u64 us = min(READ_ONCE(rch_gather_us), jiffies_to_usecs(link->beat.tick) / 4);

	return ns_to_ktime(us * NSEC_PER_USEC);
}

/**
 * rch_link_may_hold - whether last words are held back
 * @link: link, locked
 */
bool rch_link_may_hold(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->state == RCH_LINK_UP && rch_link_timers_fine(READ_ONCE(rch_gather_us));
}

/**
 * rch_link_hold - hold back the last words of a lane
 * @link: link, locked, that may hold some
 * @lane: lane
 * @last: enum rch_lane_last
 */
void rch_link_hold(struct rch_link *link, struct rch_lane *lane, u32 last)
{
	lockdep_assert_held(&link->lock);
	lane->last |= last;
	if (list_empty(&lane->later_list))
		list_add_tail(&lane->later_list, &link->last.lanes);
	if (last & RCH_LAST_CLOSE)
		WRITE_ONCE(link->last.closing, true);
	if (!hrtimer_is_queued(&link->last.timer))
		hrtimer_start(&link->last.timer, link_last_wait_for(link), HRTIMER_MODE_REL_SOFT);
}

/** rch_link_take_later - something is sent: last words go with it; locked */
void rch_link_take_later(struct rch_link *link)
{
	struct rch_lane *lane;

	lockdep_assert_held(&link->lock);
	while ((lane = list_first_entry_or_null(&link->last.lanes, struct rch_lane, later_list))) {
		list_del_init(&lane->later_list);
		rch_lane_say_last(lane);
	}
	link->last.due = false;
	WRITE_ONCE(link->last.closing, false);
}

static enum hrtimer_restart link_last_over(struct hrtimer *timer)
{
	struct rch_link *link = container_of(timer, struct rch_link, last.timer);

	spin_lock(&link->lock);
	if (!list_empty(&link->last.lanes)) {
		link->last.due = true;
		rch_link_run_locked(link);
	}
	spin_unlock(&link->lock);
	return HRTIMER_NORESTART;
}

/** rch_link_later_init - once for each link */
void rch_link_later_init(struct rch_link *link)
{
	INIT_LIST_HEAD(&link->last.lanes);
	hrtimer_setup(&link->last.timer, link_last_over, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/** rch_link_later_stop - the link is DEAD: the timer does not run, and will not */
void rch_link_later_stop(struct rch_link *link)
{
	hrtimer_cancel(&link->last.timer);
}
