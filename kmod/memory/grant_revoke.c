// SPDX-License-Identifier: GPL-2.0
/*
 * grant_revoke.c - memory that is lent is taken back before the holder gives it back
 *
 * A REVOKE, the end of the loan's time, of its region, context or channel: each has the peer told,
 * once, by a word of its lane. The holder answers with RELEASE when nobody there accesses the
 * memory any more, and grant_lend.c does the rest. A peer that does not answer within four dead
 * times loses its link, and with that its access.
 *
 * A loan has one timer, which looks when @due is over. Until the loan is revoked that is the end of
 * the loan's own time; from then on it is the end of the peer's time to answer. Timer and @due are
 * set under the table's lock. So a GRANT that begins the loan's time while another thread revokes
 * the loan cannot replace the peer's time by the loan's.
 */
#include "base/rch.h"
#include "channel/chan.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "pure/seq.h"

/*
 * The timer looks after @delay. One that is pending has a reference of its own. In two steps, as in
 * chan.c: mod_delayed_work() does not tell whether it has queued the work. The loan is live: when
 * it ends, grant_lend_end() stops the timer once, and no caller starts it again.
 */
static void grant_revoke_timer_locked(struct rch_loan *loan, unsigned long delay)
{
	lockdep_assert_held(&loan->grants->loans.xa_lock);
	loan->due = jiffies + delay;
	if (!cancel_delayed_work(&loan->timer))
		kref_get(&loan->ref);
	queue_delayed_work(rch_wq, &loan->timer, delay);
}

/** rch_loan_expire_later - its time begins. The timer of a REVOKE that was faster stays */
void rch_loan_expire_later(struct rch_loan *loan)
{
	struct rch_grants *grants = loan->grants;

	xa_lock_bh(&grants->loans);
	/* Not early: the jiffy that is just going on may be nearly over. */
	if (rch_loan_live(loan) && !loan->revoked)
		grant_revoke_timer_locked(loan, rch_timeout_jiffies(loan->expires_ms) + 1);
	xa_unlock_bh(&grants->loans);
}

/* Have the peer told, once; then it has that time to answer. */
static void grant_revoke_begin(struct rch_loan *loan)
{
	struct rch_grants *grants = loan->grants;
	struct rch_link *link = grants->chan->lane.link;
	bool first;

	xa_lock_bh(&grants->loans);
	first = rch_loan_live(loan) && !loan->revoked;
	if (first) {
		WRITE_ONCE(loan->revoked, true);
		grant_revoke_timer_locked(loan, rch_grant_patience(link));
	}
	xa_unlock_bh(&grants->loans);
	if (!first)
		return;
	kref_get(&loan->ref);
	loan->revoke.type = RCH_REC_REVOKE;
	loan->revoke.length = sizeof(struct rch_wire_grant_end);
	rch_wire_grant_end_put(loan->revoke.data, loan->info.id, 0);
	rch_lane_word(&grants->chan->lane, &loan->revoke);
}

/*
 * Whether the peer had its time to answer, and has not. When this host stood still it has not taken
 * what the peer said, and gives it that time again. The peer must have no say in what is late: it
 * names the link's tick.
 */
static bool grant_revoke_overdue_locked(struct rch_loan *loan)
{
	unsigned long patience = rch_grant_patience(loan->grants->chan->lane.link);

	if (!rch_overslept(loan->due, patience))
		return true;
	grant_revoke_timer_locked(loan, patience);
	return false;
}

/*
 * The work may run before @due: when REVOKE has set the timer anew after this work had begun, and
 * when the loan's time is longer than a timer of the kernel's can be, which is 12 days at 1,000
 * jiffies a second. Return: whether the time is over. @revoked: then it was the peer's time to
 * answer, and else the loan's.
 */
static bool grant_revoke_timer_due(struct rch_loan *loan, bool *revoked)
{
	struct rch_grants *grants = loan->grants;
	bool due = false;
	long left;

	xa_lock_bh(&grants->loans);
	*revoked = loan->revoked;
	left = loan->due - jiffies;
	if (rch_loan_live(loan)) {
		if (left > 0)
			grant_revoke_timer_locked(loan, left);
		else
			due = !*revoked || grant_revoke_overdue_locked(loan);
	}
	xa_unlock_bh(&grants->loans);
	return due;
}

/** rch_loan_timer - a loan has expired, or the peer has had its time to answer */
void rch_loan_timer(struct work_struct *work)
{
	struct rch_loan *loan = container_of(to_delayed_work(work), struct rch_loan, timer);
	bool revoked;

	if (grant_revoke_timer_due(loan, &revoked)) {
		if (revoked)
			rch_link_unanswered(loan->grants->chan->lane.link, RDMACHAN_OP_GRANT);
		else
			grant_revoke_begin(loan);
	}
	rch_loan_put(loan);
}

/** rch_grants_revoke - the channel is closed: begin to take back what is lent. Any context */
void rch_grants_revoke(struct rch_chan *chan)
{
	struct rch_grants *grants = rch_grants_of(chan);
	struct rch_loan *loan;
	unsigned long id;

	if (!grants)
		return;
	rcu_read_lock();
	xa_for_each(&grants->loans, id, loan) {
		if (!kref_get_unless_zero(&loan->ref))
			continue;
		grant_revoke_begin(loan);
		rch_loan_put(loan);
	}
	rcu_read_unlock();
}

/* Return: a reference to the loan, NULL when it has ended, or an ERR_PTR(). */
static struct rch_loan *grant_revoke_find(struct rch_grants *grants, u32 id)
{
	struct rch_loan *loan;

	xa_lock_bh(&grants->loans);
	loan = xa_load(&grants->loans, id);
	if (loan && loan->state == RCH_LOAN_MADE)
		loan = ERR_PTR(-ENOENT);
	if (!IS_ERR_OR_NULL(loan))
		kref_get(&loan->ref);
	xa_unlock_bh(&grants->loans);
	if (!loan && (!id || rch_seq_before(READ_ONCE(grants->last), id)))
		return ERR_PTR(-ENOENT);
	return loan;
}

/**
 * rch_loan_revoke_begin - begin to take memory back
 * @chan: channel
 * @id: number of the grant
 *
 * Return: the loan, whose @wait is woken when rch_loan_ended(), for rch_loan_put(); NULL when
 * it has ended already; or ERR_PTR(-ENOENT).
 */
struct rch_loan *rch_loan_revoke_begin(struct rch_chan *chan, u32 id)
{
	struct rch_grants *grants = rch_grants_of(chan);
	struct rch_loan *loan = grants ? grant_revoke_find(grants, id) : ERR_PTR(-ENOENT);

	if (!IS_ERR_OR_NULL(loan))
		grant_revoke_begin(loan);
	return loan;
}

/** rch_loan_ended - whether control of the memory is back, and its owner was told */
bool rch_loan_ended(const struct rch_loan *loan)
{
	return READ_ONCE(loan->state) == RCH_LOAN_ENDED;
}

/**
 * rch_loan_revoke - take memory back
 * @chan: channel
 * @id: number of the grant
 * @nonblock: only begin
 * @deadline: how long to wait, as of rch_deadline()
 *
 * Return: 0: it is back, or it was begun; -ENOENT; -ETIMEDOUT, -ERESTARTNOHAND, -ERESTARTSYS: it
 * goes on.
 */
int rch_loan_revoke(struct rch_chan *chan, u32 id, bool nonblock, unsigned long deadline)
{
	struct rch_loan *loan = rch_loan_revoke_begin(chan, id);
	long wait = 1;

	if (IS_ERR_OR_NULL(loan))
		return PTR_ERR_OR_ZERO(loan);
	if (!nonblock)
		wait = wait_event_interruptible_timeout(loan->wait, rch_loan_ended(loan),
							rch_time_left(deadline));
	rch_loan_put(loan);
	return rch_wait_result(wait, deadline);
}

static bool grant_revoke_is_sought(const struct rch_loan *loan, u32 region, bool fresh)
{
	if (region && loan->region_id != region)
		return false;
	return !fresh || (!READ_ONCE(loan->revoked) && rch_loan_live(loan));
}

/*
 * A loan of the set; referenced. @fresh: one that is to be revoked. @left: so many may be looked
 * at, and less afterwards.
 */
static struct rch_loan *grant_revoke_next_of(struct rch_regions *set, u32 region, bool fresh,
					     u32 *left)
{
	struct rch_loan *loan, *next, *found = NULL;
	LIST_HEAD(passed);

	spin_lock(&set->lock);
	list_for_each_entry_safe(loan, next, &set->loans, of_set) {
		if (!*left)
			break;
		--*left;
		/* What was looked at comes first no more: no call looks at it again and again. */
		list_move_tail(&loan->of_set, &passed);
		if (!grant_revoke_is_sought(loan, region, fresh))
			continue;
		kref_get(&loan->ref);
		found = loan;
		break;
	}
	list_splice_tail_init(&passed, &set->loans);
	spin_unlock(&set->lock);
	return found;
}

/* Loans that are looked at while the lock is held. */
#define LOOKED_AT_ONCE 256U

/*
 * Begin to take back what is lent now. Threads that go on lending do not prolong it: no more are
 * looked at than there are at the beginning.
 */
static void grant_revoke_all_of(struct rch_regions *set, u32 region)
{
	struct rch_loan *loan;
	u32 left, part, rest;

	spin_lock(&set->lock);
	left = set->lent;
	spin_unlock(&set->lock);
	while (left) {
		part = min(left, LOOKED_AT_ONCE);
		rest = part;
		loan = grant_revoke_next_of(set, region, true, &rest);
		if (loan) {
			grant_revoke_begin(loan);
			rch_loan_put(loan);
		}
		left -= part - rest;
		/* Others have ended meanwhile. */
		if (!loan && rest)
			break;
		cond_resched();
	}
}

/** rch_loans_revoke_set - the context is closed: begin to take back all that is lent of it */
void rch_loans_revoke_set(struct rch_regions *set)
{
	grant_revoke_all_of(set, 0);
}

/**
 * rch_loans_revoke_region - take back all that is lent of a region
 * @set: set
 * @region: number of the region
 *
 * Return: 0 or -ERESTARTSYS.
 */
int rch_loans_revoke_region(struct rch_regions *set, u32 region)
{
	struct rch_loan *loan;
	int ret = 0;
	u32 all;

	grant_revoke_all_of(set, region);
	do {
		/* None may be missed: the list is looked at as a whole. */
		all = U32_MAX;
		loan = grant_revoke_next_of(set, region, false, &all);
		if (!loan)
			return 0;
		grant_revoke_begin(loan);
		ret = wait_event_interruptible(loan->wait, rch_loan_ended(loan));
		rch_loan_put(loan);
		/* Other threads may lend as fast as this one takes back. */
		if (!ret && signal_pending(current))
			ret = -ERESTARTSYS;
		cond_resched();
	} while (!ret);
	return ret;
}
