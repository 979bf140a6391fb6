// SPDX-License-Identifier: GPL-2.0
/*
 * link_return.c - what is to be taken back from the adapter, one after the other on each link
 *
 * To take memory back waits for the adapter, which may have to wait for the peer: on iWARP, and
 * with other adapters than rxe, an invalidation completes behind all that was posted before it. So
 * a peer that is silent holds up one worker for each of its links, and not one for each channel, as
 * there are only so many workers for all users.
 *
 * Each channel in the line has one turn, and comes last again if there is more to do.
 */
#include "base/rch.h"
#include "link/link.h"

static struct rch_return *link_next_return(struct rch_link *link)
{
	struct rch_return *r;

	spin_lock_bh(&link->returns.lock);
	r = list_first_entry_or_null(&link->returns.line, struct rch_return, list);
	if (r)
		list_del_init(&r->list);
	else
		link->returns.busy = false;
	spin_unlock_bh(&link->returns.lock);
	return r;
}

static void rch_link_return_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, returns.work);
	struct rch_return *r;

	while ((r = link_next_return(link)))
		r->run(r);
	rch_link_put(link);
}

/** rch_link_returns_init - begin; nothing is allocated */
void rch_link_returns_init(struct rch_link *link)
{
	spin_lock_init(&link->returns.lock);
	INIT_LIST_HEAD(&link->returns.line);
	INIT_WORK(&link->returns.work, rch_link_return_work);
}

/**
 * rch_link_return - have something taken back, in its turn
 * @link: link; the caller has a reference of it
 * @r: @r->run is called once, in a work that may sleep, and may call this again
 *
 * Context: any but interrupts; the lock is an innermost one. Return: false when it was in the line
 * already.
 */
bool rch_link_return(struct rch_link *link, struct rch_return *r)
{
	bool fresh, begin;

	spin_lock_bh(&link->returns.lock);
	fresh = list_empty(&r->list);
	if (fresh)
		list_add_tail(&r->list, &link->returns.line);
	begin = fresh && !link->returns.busy;
	if (begin)
		link->returns.busy = true;
	spin_unlock_bh(&link->returns.lock);
	if (begin) {
		kref_get(&link->ref);
		queue_work(rch_grant_wq, &link->returns.work);
	}
	return fresh;
}
