// SPDX-License-Identifier: GPL-2.0
/*
 * link_inject.c - what injected faults do to a link
 *
 * Where. A reliable connection loses nothing, so all of this is done to frames that have
 * come, before the link looks at them. For its rules it makes no difference where on the
 * way a frame was lost. Only the queue pair's failure is a real one.
 *
 * Handing frames over. Completions do so, one after the other; and @hold_work, when a
 * frame has been held back for its time. @lock keeps the two apart, and soft interrupts
 * off, as rch_link_received() is promised. While a frame is held the key is on (see
 * inject.c), so no completion gets around @lock.
 *
 * Buffers. A frame that is held has a reference to its page, so the path puts another
 * page in the ring and tells that a buffer is posted. But to the peer the frame is still
 * on the way: a promise of that buffer would be for one frame more than the ring has. So
 * it is a *debt*, which is paid when the frame is handed over: a posted buffer is told
 * only as far as it is more than the debts. A lost frame never is paid for. A buffer
 * whose promise is withheld is a debt too, until the fault is turned off. Frames without
 * records are left out there: the peer needs their numbers to say that it is alive.
 *
 * Taking apart. rch_link_inject_stop() comes when the path was drained: no completion
 * holds another frame back or queues work. It waits for the works, and only then frees
 * what is held. Pages are not mapped any more, so the device may be gone.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "link/link.h"

/**
 * struct held - a frame that is held back
 * @list: in @faults.held
 * @rxf: the frame, with a reference of its page
 * @due: not to be handed over before this, in jiffies
 */
struct held {
	struct list_head list;
	struct rch_rxf rxf;
	unsigned long due;
};

static bool link_inject_hits(const struct rch_link *link, enum rch_fault fault, u32 *value)
{
	return rch_inject_hits(fault, link->object.id, value);
}

/* Tell of what is posted as far as nothing is owed. */
static void link_inject_settle(struct rch_link *link)
{
	struct rch_link_faults *faults = &link->faults;

	lockdep_assert_held(&link->lock);
	if (faults->posted <= faults->debt)
		return;
	rch_credit_posted(&link->credit, faults->posted - faults->debt);
	faults->posted = faults->debt;
}

/** rch_link_inject_posted - buffers are posted again, and may be told; locked */
void rch_link_inject_posted(struct rch_link *link, u32 count)
{
	link->faults.posted += count;
	link_inject_settle(link);
}

/* The buffer of a frame that has just come shall not be told: the path is about to. */
static void link_inject_owe(struct rch_link *link)
{
	spin_lock(&link->lock);
	link->faults.debt++;
	spin_unlock(&link->lock);
}

static void link_inject_pay(struct rch_link *link)
{
	spin_lock(&link->lock);
	link->faults.debt--;
	link_inject_settle(link);
	rch_link_run_locked(link);
	spin_unlock(&link->lock);
}

static void link_inject_hand_over(struct rch_link *link, const struct rch_rxf *rxf)
{
	rch_link_received(link, rxf);
	if (!link_inject_hits(link, RCH_FAULT_DUPLICATE, NULL))
		return;
	rch_link_received(link, rxf);
	/* A real one would have come in a buffer of its own. */
	spin_lock(&link->lock);
	rch_link_inject_posted(link, 1);
	spin_unlock(&link->lock);
}

static void link_inject_held_free(struct held *held)
{
	list_del(&held->list);
	put_page(held->rxf.page);
	kfree(held);
	rch_inject_held(-1);
}

static void link_inject_release_first(struct rch_link *link)
{
	struct held *held = list_first_entry(&link->faults.held, struct held, list);

	link_inject_hand_over(link, &held->rxf);
	link_inject_pay(link);
	link_inject_held_free(held);
}

/* Hand over what is due. The last one, if it lets the next pass, waits for that. */
static void link_inject_release(struct rch_link *link)
{
	struct rch_link_faults *faults = &link->faults;
	struct held *held;

	lockdep_assert_held(&faults->lock);
	while (!list_empty(&faults->held)) {
		held = list_first_entry(&faults->held, struct held, list);
		if (faults->swap && list_is_singular(&faults->held))
			return;
		if (time_before(jiffies, held->due)) {
			mod_delayed_work(rch_wq, &faults->hold_work, held->due - jiffies);
			return;
		}
		link_inject_release_first(link);
	}
}

static void rch_link_hold_work(struct work_struct *work)
{
	struct rch_link *link = container_of(to_delayed_work(work), struct rch_link,
					     faults.hold_work);

	spin_lock_bh(&link->faults.lock);
	link_inject_release(link);
	spin_unlock_bh(&link->faults.lock);
}

/* Without memory nothing is held back any longer; the order stays. */
static void link_inject_release_all(struct rch_link *link)
{
	link->faults.swap = false;
	while (!list_empty(&link->faults.held))
		link_inject_release_first(link);
}

/* Hold a frame back, or have it wait behind others. Return: false when it shall not. */
static bool link_inject_hold(struct rch_link *link, const struct rch_rxf *rxf)
{
	struct rch_link_faults *faults = &link->faults;
	bool swap = !faults->swap && link_inject_hits(link, RCH_FAULT_REORDER, NULL);
	u32 ms = 0;
	bool delay = link_inject_hits(link, RCH_FAULT_DELAY, &ms);
	struct held *held;

	if (list_empty(&faults->held) && !swap && !delay)
		return false;
	held = kmalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	if (!held) {
		link_inject_release_all(link);
		return false;
	}
	get_page(rxf->page);
	held->rxf = *rxf;
	held->due = jiffies + msecs_to_jiffies(ms);
	/* Where another one waits to be passed it is the last. */
	if (faults->swap)
		list_add_tail(&held->list, faults->held.prev);
	else
		list_add_tail(&held->list, &faults->held);
	faults->swap = swap;
	rch_inject_held(1);
	link_inject_owe(link);
	link_inject_release(link);
	return true;
}

static bool link_inject_carries_records(const struct rch_rxf *rxf)
{
	struct rch_frame f;

	return rxf->bare || (!rch_wire_frame_get(page_address(rxf->page), rxf->length, &f) &&
			     !(f.flags & RCH_FRAME_F_PURE));
}

/* Not a heartbeat, which may come at any moment: it has no such byte. */
static void link_inject_corrupt(struct rch_link *link, const struct rch_rxf *rxf)
{
	u8 *frame = page_address(rxf->page);
	u32 at;

	if (!rch_inject_armed(RCH_FAULT_CORRUPT) || !rxf->length ||
	    !link_inject_carries_records(rxf))
		return;
	/* The page is ours: nobody else has seen it, and it is not mapped. */
	if (link_inject_hits(link, RCH_FAULT_CORRUPT, &at))
		frame[at % rxf->length] ^= 0xff;
}

static void link_inject_withhold(struct rch_link *link, const struct rch_rxf *rxf)
{
	if (!rch_inject_armed(RCH_FAULT_WITHHOLD) || !link_inject_carries_records(rxf) ||
	    !link_inject_hits(link, RCH_FAULT_WITHHOLD, NULL))
		return;
	spin_lock(&link->lock);
	link->faults.debt++;
	link->faults.withheld++;
	spin_unlock(&link->lock);
}

/**
 * rch_link_inject - a frame came while faults are on
 * @link: link
 * @rxf: the frame
 *
 * As rch_link_received(), which this calls for it: now, later, twice or never.
 */
void rch_link_inject(struct rch_link *link, const struct rch_rxf *rxf)
{
	if (READ_ONCE(link->state) == RCH_LINK_DEAD)
		return;
	spin_lock(&link->faults.lock);
	if (link_inject_hits(link, RCH_FAULT_KILL, NULL))
		queue_work(rch_wq, &link->faults.kill_work);
	if (link_inject_hits(link, RCH_FAULT_ADDRESS, NULL))
		queue_work(rch_wq, &link->faults.address_work);
	if (link_inject_hits(link, RCH_FAULT_FATAL, NULL))
		queue_work(rch_wq, &link->faults.fatal_work);
	link_inject_withhold(link, rxf);
	link_inject_corrupt(link, rxf);
	if (link_inject_hits(link, RCH_FAULT_DROP, NULL))
		link_inject_owe(link);
	else if (!link_inject_hold(link, rxf))
		link_inject_hand_over(link, rxf);
	spin_unlock(&link->faults.lock);
}

/** rch_link_inject_lift - tell of what is withheld no more; at each tick of the link */
void rch_link_inject_lift(struct rch_link *link)
{
	struct rch_link_faults *faults = &link->faults;

	if (rch_inject_armed(RCH_FAULT_WITHHOLD))
		return;
	spin_lock_bh(&link->lock);
	faults->debt -= faults->withheld;
	faults->withheld = 0;
	link_inject_settle(link);
	spin_unlock_bh(&link->lock);
}

static void rch_link_kill_work(struct work_struct *work)
{
	rch_path_break(&container_of(work, struct rch_link, faults.kill_work)->path);
}

static void rch_link_address_work(struct work_struct *work)
{
	rch_path_address_changed(&container_of(work, struct rch_link, faults.address_work)->path);
}

static void rch_link_fatal_work(struct work_struct *work)
{
	rch_path_device_fatal(&container_of(work, struct rch_link, faults.fatal_work)->path);
}

/** rch_link_inject_init - a link is being made */
void rch_link_inject_init(struct rch_link *link)
{
	struct rch_link_faults *faults = &link->faults;

	spin_lock_init(&faults->lock);
	INIT_LIST_HEAD(&faults->held);
	INIT_DELAYED_WORK(&faults->hold_work, rch_link_hold_work);
	INIT_WORK(&faults->kill_work, rch_link_kill_work);
	INIT_WORK(&faults->address_work, rch_link_address_work);
	INIT_WORK(&faults->fatal_work, rch_link_fatal_work);
}

/** rch_link_inject_stop - free what is held back: the link is DEAD and its path drained */
void rch_link_inject_stop(struct rch_link *link)
{
	struct held *held, *tmp;

	cancel_work_sync(&link->faults.kill_work);
	cancel_work_sync(&link->faults.address_work);
	cancel_work_sync(&link->faults.fatal_work);
	cancel_delayed_work_sync(&link->faults.hold_work);
	list_for_each_entry_safe(held, tmp, &link->faults.held, list)
		link_inject_held_free(held);
}
