// SPDX-License-Identifier: GPL-2.0
/*
 * link_last.c - holds last words back, so that they share a frame
 *
 * A program that closes a channel often opens another one, or has others to send on; and for the
 * answer to CLOSE nobody waits. So a graceful CLOSE that has nothing before it, and CLOSED, go with
 * whatever the link sends next, but not later than gather_us, nor a quarter of a tick. A program
 * that begins to wait on a channel sends CLOSE before (rch_link_flush()), as the end of one channel
 * may be what the peer's program waits for to go on with another.
 *
 * Until then the lane is in link->last.lanes, and nothing of it in a queue of the link. The timer
 * is left alone when they have gone with something else: it finds none, or some that wait
 * for less long. Where timers are not that fine, nothing is held back.
 */
#include <linux/hrtimer.h>

#include "base/rch.h"
#include "link/link.h"

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
