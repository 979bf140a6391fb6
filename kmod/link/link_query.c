// SPDX-License-Identifier: GPL-2.0
/*
 * link_query.c - whether a link that is silent lives at the other end
 *
 * An adapter may make no progress any more, as rxe does when many packets are out of order. When
 * both do, neither side hears of the other: no frame comes, and no acknowledgement. Then the active
 * side asks the peer's module, beside the connection. The question names the link. It tells the
 * passive side that the active side lives, and the answer tells the active side the same of the
 * passive one. So both can say that the peer is stalled, and not that it is dead. The link ends all
 * the same, and as soon: its queue pair carries nothing.
 *
 * The passive side does not ask: it does not know by which port the peer's module is reached.
 *
 * A question costs the passive side a look at the table of links. Any program that may connect to
 * the module may ask. All that it can bring about by that is which of the two causes is told. For
 * that it must come from the peer's address, as far as rch_path_request_is_its_own() can say, and
 * know the numbers of the link. A query that is refused is counted, like a hello.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "base/rch.h"
#include "link/link.h"

/* A query has so much time at least, however short the tick is. */
#define RCH_QUERY_MS 500

/*
 * Whether nothing has come for so long that it is time to ask: a peer that lives, and whose frames
 * get through, is never silent for two ticks.
 */
static bool link_query_is_due(const struct rch_link *link)
{
	const unsigned long after = 2 * link->beat.tick;

	lockdep_assert_held(&link->lock);
	return link->state == RCH_LINK_UP && time_after(jiffies, link->beat.last_rx + after) &&
	       time_after(jiffies, link->beat.answered + after);
}

/* Whether a query has its time yet. */
static bool link_query_goes_on(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->beat.asks &&
	       time_before(jiffies, link->beat.asked + msecs_to_jiffies(RCH_QUERY_MS));
}

/**
 * rch_link_query_lives - whether the peer's module has said lately that the link lives there
 * @link: link, locked
 *
 * "Lately" is since the last frame came, and within three ticks. In these two queries have ended,
 * so that one may be lost. A peer that has gone since then is silent for four ticks before it is
 * given up.
 */
bool rch_link_query_lives(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->beat.told_lives && time_after(link->beat.lives, link->beat.last_rx) &&
	       !time_after(jiffies, link->beat.lives + 3 * link->beat.tick);
}

/**
 * rch_link_query_look - ask the peer's module, if it is time; or end the query
 * @link: link, locked
 *
 * Each tick calls this: while the link is silent the query begins anew, as the connection manager
 * is slow to ask again. Context: any.
 */
void rch_link_query_look(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	/* Jiffies turn over. */
	if (!rch_link_query_lives(link))
		link->beat.told_lives = false;
	if (!link->active || rdma_protocol_iwarp(link->path.dev, link->path.port) ||
	    link_query_goes_on(link))
		return;
	if (link_query_is_due(link) || link->beat.asks)
		queue_work(rch_key_wq, &link->beat.query);
}

static void link_query_note_locked(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	link->beat.lives = jiffies;
	link->beat.told_lives = true;
}

/**
 * rch_link_query_work - begins a query, or ends it
 * @work: beat.query of the link
 *
 * It is stopped before the path is destroyed. Of a link that is DEAD it ends the query.
 */
void rch_link_query_work(struct work_struct *work)
{
	struct rch_link *link = container_of(work, struct rch_link, beat.query);
	u8 question[sizeof(struct rch_wire_query)];
	struct rch_query query = {
		.link = link->object.id,
		.boot_id = rch_boot_id,
	};
	bool due;

	BUILD_BUG_ON(sizeof(question) > RCH_PATH_QUESTION_MAX);
	spin_lock_bh(&link->lock);
	due = link_query_is_due(link);
	link->beat.asks = due;
	link->beat.asked = jiffies;
	query.peer_link = link->terms.peer_link;
	query.peer_boot = link->terms.peer_boot;
	query.epoch = link->terms.epoch;
	spin_unlock_bh(&link->lock);
	if (!due) {
		rch_path_query_end(&link->path);
		return;
	}
	rch_wire_query_put(question, &query);
	rch_path_query(&link->path, &link->peer, question, sizeof(question));
}

/**
 * rch_link_query_replied - the peer's module has answered
 * @link: link
 * @answer: its words
 * @len: bytes of them
 *
 * Another answer than that the link lives changes nothing: the link is silent, and ends soon.
 * Context: process; the handler of the query's id.
 */
void rch_link_query_replied(struct rch_link *link, const void *answer, u8 len)
{
	struct rch_refusal refusal;

	if (rch_wire_refusal_get(answer, len, &refusal) || refusal.reason != RCH_REJECT_LIVES)
		return;
	spin_lock_bh(&link->lock);
	link_query_note_locked(link);
	spin_unlock_bh(&link->lock);
}

/* Whether @query is about @link, as one end of it knows the other. */
static bool link_query_names(const struct rch_link *link, const struct rch_query *query)
{
	lockdep_assert_held(&link->lock);
	return link->state != RCH_LINK_DEAD && link->object.id == query->peer_link &&
	       link->terms.peer_boot == query->boot_id && link->terms.peer_link == query->link &&
	       link->terms.epoch == query->epoch && rch_boot_id == query->peer_boot;
}

/**
 * rch_link_query_heard - note that the peer's module asks about a link, if it is that one
 * @link: link that the peer has made
 * @query: what it asks
 *
 * Context: any. Return: whether it is, and lives.
 */
bool rch_link_query_heard(struct rch_link *link, const struct rch_query *query)
{
	bool lives;

	spin_lock_bh(&link->lock);
	lives = link_query_names(link, query);
	if (lives)
		link_query_note_locked(link);
	spin_unlock_bh(&link->lock);
	return lives;
}
