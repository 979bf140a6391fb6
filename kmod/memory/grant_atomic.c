// SPDX-License-Identifier: GPL-2.0
/*
 * grant_atomic.c - atomic operations that the peer's kernel is asked for, or asks for
 *
 * Operation. ATOMIC asks, as a word of the lane, and ATOMIC_DONE answers. Where an operation is
 * asked for it is over when two things have ended, in any order: its word is not in use any
 * more, and the answer has come, or nothing will be heard. A channel has only so many asked for
 * at a time; others wait for their turn, which whoever ends gives to the next one. Where the turns
 * of many come to nothing, as their memory is wanted back or the channel has ended, a work item
 * goes on with that.
 *
 * Accounting. Answers that a peer does not take are charged to the channel that they are of, some
 * at a time. If a limit is in the way the channel is reset: an operation that was asked for is
 * answered, or told to be uncertain, never left out.
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "memory/grant.h"
#include "memory/region.h"

/* Asked for by a channel at a time, and not answered. */
#define RCH_ASKED_MAX 1024
/* Answers that wait to be told. More than an honest peer asks for, even one that takes no frames
 * for a while.
 */
#define RCH_ANSWERS_MAX 4096

static_assert(RCH_ASKED_MAX < RCH_ANSWERS_MAX, "who keeps to the one never meets the other");

/* The holder's side */

static struct rch_job *grant_atomic_job_of(struct rch_asked *asked)
{
	return container_of(asked, struct rch_job, asked);
}

/* One of both; it may be freed with that. */
static void grant_atomic_part_over(struct rch_asked *asked)
{
	struct rch_job *job = grant_atomic_job_of(asked);
	unsigned long flags;

	spin_lock_irqsave(&job->wait.lock, flags);
	/* pairs with rch_asked_over() */
	smp_store_release(&asked->parts, asked->parts - 1);
	rch_job_part_over(job);
	spin_unlock_irqrestore(&job->wait.lock, flags);
}

static void grant_atomic_word_sent(struct rch_word *word)
{
	grant_atomic_part_over(container_of(word, struct rch_asked, word));
}

/* It is not asked for, and will not be, as it says. It is in no list. */
static void grant_atomic_not_asked(struct rch_asked *asked, int error)
{
	struct rch_job *job = grant_atomic_job_of(asked);
	unsigned long flags;

	spin_lock_irqsave(&job->wait.lock, flags);
	asked->error = error;
	/* pairs with rch_asked_over() */
	smp_store_release(&asked->parts, 0);
	rch_job_part_over(job);
	rch_job_part_over(job);
	spin_unlock_irqrestore(&job->wait.lock, flags);
}

/* A thread that waits in a call counts from now on how long the peer takes. */
static void grant_atomic_tell_turn(struct rch_job *job)
{
	unsigned long flags;

	if (job->keep)
		return;
	spin_lock_irqsave(&job->wait.lock, flags);
	wake_up_all_locked(&job->wait);
	spin_unlock_irqrestore(&job->wait.lock, flags);
}

static int grant_atomic_ask(struct rch_job *job);

/* Turns are free, and those that wait are the work item's to see to, which holds the channel. */
static void grant_atomic_put_off(struct rch_grants *grants)
{
	lockdep_assert_held(&grants->held_lock);
	if (grants->put_off)
		return;
	grants->put_off = true;
	kref_get(&grants->chan->ref);
	atomic_inc(&rch_counts.put_off);
	queue_work(rch_wq, &grants->work);
}

/* A turn is given to the first that waits for one, or it is given back. */
static struct rch_asked *grant_atomic_first_waiting(struct rch_grants *grants)
{
	struct rch_asked *first;

	lockdep_assert_held(&grants->held_lock);
	first = list_first_entry_or_null(&grants->waiting, struct rch_asked, list);
	if (first) {
		list_del_init(&first->list);
		WRITE_ONCE(first->state, RCH_ASKED_NOW);
	} else {
		grants->turns_taken--;
	}
	return first;
}

/* A turn is given up. Return: NULL, if nobody waits, or those who do are put off. */
static struct rch_asked *grant_atomic_next_turn(struct rch_grants *grants, bool too_much)
{
	struct rch_asked *next = NULL;

	spin_lock_bh(&grants->held_lock);
	if (!list_empty(&grants->waiting) && (too_much || grants->put_off)) {
		grants->turns_taken--;
		grant_atomic_put_off(grants);
	} else {
		next = grant_atomic_first_waiting(grants);
	}
	spin_unlock_bh(&grants->held_lock);
	return next;
}

/* Its turn has come. Return: why that comes to nothing; or 0. */
static int grant_atomic_have_turn(struct rch_asked *asked)
{
	int ret;

	grant_atomic_tell_turn(grant_atomic_job_of(asked));
	ret = grant_atomic_ask(grant_atomic_job_of(asked));
	if (ret)
		grant_atomic_not_asked(asked, ret);
	return ret;
}

/*
 * A turn is given up: to the first that waits for one, and that is asked for here, as its owner may
 * be busy with something else.
 */
static void grant_atomic_pass_turn(struct rch_grants *grants)
{
	struct rch_asked *next;
	u32 turns = 0;

	do
		next = grant_atomic_next_turn(grants, turns++ == RCH_TURNS_AT_ONCE);
	while (next && grant_atomic_have_turn(next));
}

static void grant_atomic_heard(struct rch_asked *asked, bool certain, u64 value);

/*
 * One that nothing will be heard of ends, or the first that waits has a turn. Return: false when
 * there is neither, or those that have the turns will pass them to those that wait.
 */
static bool grant_atomic_step(struct rch_grants *grants)
{
	struct rch_asked *unheard = NULL, *next = NULL;

	spin_lock_bh(&grants->held_lock);
	if (grants->silent)
		unheard = list_first_entry_or_null(&grants->asked, struct rch_asked, list);
	if (unheard) {
		list_del_init(&unheard->list);
	} else if (grants->turns_taken < RCH_ASKED_MAX) {
		/* Or it is given back with that. */
		grants->turns_taken++;
		next = grant_atomic_first_waiting(grants);
	}
	if (!unheard && !next)
		grants->put_off = false;
	spin_unlock_bh(&grants->held_lock);
	if (unheard)
		grant_atomic_heard(unheard, false, 0);
	if (next && grant_atomic_have_turn(next)) {
		spin_lock_bh(&grants->held_lock);
		grants->turns_taken--;
		spin_unlock_bh(&grants->held_lock);
	}
	return unheard || next;
}

/**
 * rch_asked_work - end what nothing will be heard of, and give the turns that are free to those
 *	that wait
 * @work: of the grants; it was queued with a reference of the channel
 *
 * Other work has its turn now and then.
 */
void rch_asked_work(struct work_struct *work)
{
	struct rch_grants *grants = container_of(work, struct rch_grants, work);
	u32 turns;

	for (turns = 0; turns < RCH_TURNS_AT_ONCE; turns++) {
		if (!grant_atomic_step(grants)) {
			rch_chan_put(grants->chan);
			return;
		}
	}
	atomic_inc(&rch_counts.put_off);
	queue_work(rch_wq, work);
}

/* Return: whether it is its turn; else it will be. */
static bool grant_atomic_take_turn(struct rch_grants *grants, struct rch_asked *asked)
{
	bool turn;

	asked->error = 0;
	asked->parts = 2;
	spin_lock_bh(&grants->held_lock);
	/* Some may be free though others wait, for the work item. */
	turn = grants->turns_taken < RCH_ASKED_MAX && list_empty(&grants->waiting);
	if (turn)
		grants->turns_taken++;
	else
		list_add_tail(&asked->list, &grants->waiting);
	WRITE_ONCE(asked->state, turn ? RCH_ASKED_NOW : RCH_ASKED_WAITS);
	spin_unlock_bh(&grants->held_lock);
	return turn;
}

/**
 * rch_ask_stop - if it still waits for its turn it does so no more
 * @job: begun
 *
 * Return: whether it was not asked for, and will not be.
 */
bool rch_ask_stop(struct rch_job *job)
{
	struct rch_grants *grants = job->chan->grants;
	enum rch_asked_state state;

	spin_lock_bh(&grants->held_lock);
	state = job->asked.state;
	if (state == RCH_ASKED_WAITS) {
		list_del_init(&job->asked.list);
		WRITE_ONCE(job->asked.state, RCH_ASKED_NOT);
	}
	spin_unlock_bh(&grants->held_lock);
	if (state == RCH_ASKED_WAITS)
		grant_atomic_not_asked(&job->asked, -ECANCELED);
	return state != RCH_ASKED_NOW;
}

/* The answer, or that there will be none. It is in no list. */
static void grant_atomic_heard(struct rch_asked *asked, bool certain, u64 value)
{
	struct rch_job *job = grant_atomic_job_of(asked);

	rch_held_end(job->chan, asked->held);
	grant_atomic_pass_turn(job->chan->grants);
	asked->certain = certain;
	job->value = value;
	grant_atomic_part_over(asked);
}

/** rch_asked_over - whether it is, or was not begun */
bool rch_asked_over(const struct rch_job *job)
{
	/* pairs with grant_atomic_part_over(): the answer is there */
	return !smp_load_acquire(&job->asked.parts);
}

static struct rch_asked *grant_atomic_take(struct rch_grants *grants, bool any, u32 serial)
{
	struct rch_asked *asked, *found = NULL;

	spin_lock_bh(&grants->held_lock);
	list_for_each_entry(asked, &grants->asked, list) {
		if (!any && asked->serial != serial)
			continue;
		list_del_init(&asked->list);
		found = asked;
		break;
	}
	spin_unlock_bh(&grants->held_lock);
	return found;
}

/** rch_atomic_done_got - the peer's kernel has done one. Return: the rule that was broken */
enum rch_rule rch_atomic_done_got(struct rch_grants *grants, const struct rch_record *r)
{
	struct rch_asked *asked;
	enum rch_rule rule;
	u32 serial;
	u64 value;

	rule = rch_wire_atomic_done_get(r, &serial, &value);
	if (rule)
		return rule;
	asked = grant_atomic_take(grants, false, serial);
	if (!asked)
		return RCH_RULE_GRANT;
	grant_atomic_heard(asked, true, value);
	return RCH_RULE_OK;
}

/**
 * rch_atomics_end - the peer says nothing any more
 * @grants: of the channel
 *
 * A few end here, and the others by the work item: many channels may end with one frame. Any
 * context but interrupts.
 */
void rch_atomics_end(struct rch_grants *grants)
{
	struct rch_asked *asked;
	u32 ends;

	for (ends = 0; ends < RCH_TURNS_AT_ONCE; ends++) {
		asked = grant_atomic_take(grants, true, 0);
		if (!asked)
			return;
		grant_atomic_heard(asked, false, 0);
	}
	spin_lock_bh(&grants->held_lock);
	if (!list_empty(&grants->asked)) {
		grants->silent = true;
		grant_atomic_put_off(grants);
	}
	spin_unlock_bh(&grants->held_lock);
}

static void grant_atomic_ask_begin(struct rch_grants *grants, struct rch_asked *asked)
{
	asked->word.sent = grant_atomic_word_sent;
	asked->word.type = RCH_REC_ATOMIC;
	asked->word.length = sizeof(struct rch_wire_atomic);
	spin_lock_bh(&grants->held_lock);
	/* 0 stands for none. */
	asked->serial = ++grants->serial ?: ++grants->serial;
	list_add_tail(&asked->list, &grants->asked);
	spin_unlock_bh(&grants->held_lock);
}

/* The peer has given no credit, or no answer, for too long. */
static void grant_atomic_give_up(struct rch_job *job)
{
	rch_link_unanswered(job->chan->lane.link, RDMACHAN_OP_ACCESS);
}

static void grant_atomic_asked_late(struct timer_list *timer)
{
	struct rch_job *job = container_of(timer, struct rch_job, asked.late);
	const unsigned long patience = rch_grant_patience(job->chan->lane.link);

	if (rch_asked_over(job))
		return;
	if (rch_overslept(timer->expires, patience))
		mod_timer(timer, jiffies + patience);
	else
		grant_atomic_give_up(job);
}

/** rch_asked_init - of a job that may be left alone */
void rch_asked_init(struct rch_job *job)
{
	timer_setup(&job->asked.late, grant_atomic_asked_late, 0);
}

/** rch_asked_exit - the same; nothing is under way. May sleep */
void rch_asked_exit(struct rch_job *job)
{
	timer_shutdown_sync(&job->asked.late);
}

/** rch_ask_late - wait for the end of what was asked */
void rch_ask_late(struct rch_job *job)
{
	const unsigned long patience = rch_grant_patience(job->chan->lane.link);
	unsigned long due;

	do {
		due = jiffies + patience;
		if (wait_event_timeout(job->wait, rch_asked_over(job), patience))
			return;
	} while (rch_overslept(due, patience));
	grant_atomic_give_up(job);
	wait_event(job->wait, rch_asked_over(job));
}

/* It is its turn. Return: 0, then it may be freed already; or an error: nothing was asked. */
static int grant_atomic_ask(struct rch_job *job)
{
	struct rch_held *held = job->at.held;
	int ret = rch_held_begin(job->chan, held);
	struct rch_grants *grants = job->chan->grants;
	struct rch_lane *lane = &job->chan->lane;
	struct rch_atomic a = {
		.id = job->id,
		.op = job->op,
		.address = job->at.start + job->offset,
		.operand = job->operand,
		.compare = job->compare,
	};

	if (ret)
		return ret;
	job->asked.held = held;
	if (job->keep)
		mod_timer(&job->asked.late, jiffies + rch_grant_patience(lane->link));
	grant_atomic_ask_begin(grants, &job->asked);
	a.serial = job->asked.serial;
	rch_wire_atomic_put(job->asked.word.data, &a);
	rch_lane_word(lane, &job->asked.word);
	/* A question that is not sent any more is not answered; nobody else might notice it. */
	if (rch_lane_closed(lane))
		rch_atomics_end(grants);
	return 0;
}

/**
 * rch_ask - ask the peer's kernel for an atomic operation, now or when it is its turn
 * @job: begun
 *
 * Return: 0, then rch_asked_over() will be true; or an error: nothing was asked.
 */
int rch_ask(struct rch_job *job)
{
	struct rch_grants *grants = job->chan->grants;
	int ret;

	if (!grant_atomic_take_turn(grants, &job->asked))
		return 0;
	ret = grant_atomic_ask(job);
	if (!ret)
		return 0;
	job->asked.parts = 0;
	job->asked.state = RCH_ASKED_NOT;
	grant_atomic_pass_turn(grants);
	return ret;
}

/** rch_ask_result - what has become of it; rch_asked_over(). 0, or an errno below it */
int rch_ask_result(struct rch_job *job)
{
	if (job->asked.error)
		return job->asked.error;
	return job->asked.certain ? 0 : -ENOTCONN;
}

/* The owner's side */

/**
 * struct rch_answer - the answer to an ATOMIC
 * @word: ATOMIC_DONE
 * @grants: of the channel
 */
struct rch_answer {
	struct rch_word word;
	struct rch_grants *grants;
};

/* There is one more. Return: &enum rdmachan_cause: why it may not be kept; or 0 */
static u32 grant_atomic_answer_begin(struct rch_grants *grants)
{
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_BYTES] = RCH_ANSWERS_STEP * sizeof(struct rch_answer),
	};
	u32 cause = RDMACHAN_CAUSE_NONE, limit;

	spin_lock_bh(&grants->answers_lock);
	if (grants->answers == grants->answers_charged) {
		cause = rch_charge_take(&grants->chan->charge, &cost, grants->chan->charge.by_peer,
					&limit);
		if (!cause)
			grants->answers_charged += RCH_ANSWERS_STEP;
	}
	if (!cause)
		WRITE_ONCE(grants->answers, grants->answers + 1);
	spin_unlock_bh(&grants->answers_lock);
	return cause;
}

/* There is one less. A step that is not needed stays: most peers ask for a few at a time. */
static void grant_atomic_answer_end(struct rch_grants *grants)
{
	spin_lock_bh(&grants->answers_lock);
	WRITE_ONCE(grants->answers, grants->answers - 1);
	if (grants->answers_charged > RCH_ANSWERS_STEP &&
	    grants->answers_charged - grants->answers >= 2 * RCH_ANSWERS_STEP) {
		grants->answers_charged -= RCH_ANSWERS_STEP;
		rch_charge_give(&grants->chan->charge, RDMACHAN_LIMIT_BYTES,
				RCH_ANSWERS_STEP * sizeof(struct rch_answer));
	}
	spin_unlock_bh(&grants->answers_lock);
}

static void grant_atomic_answer_sent(struct rch_word *word)
{
	struct rch_answer *answer = container_of(word, struct rch_answer, word);

	grant_atomic_answer_end(answer->grants);
	kfree(answer);
}

/* Return: NULL if it may not be kept, and the channel ends for that. */
static struct rch_answer *grant_atomic_answer_make(struct rch_grants *grants)
{
	u32 cause = grant_atomic_answer_begin(grants);
	struct rch_answer *answer;

	if (cause) {
		rch_chan_cannot_keep(grants->chan, cause, RDMACHAN_LIMIT_BYTES);
		return NULL;
	}
	answer = rch_try(RCH_SITE_GRANT, kzalloc(sizeof(*answer), GFP_ATOMIC | __GFP_NOWARN));
	if (!answer) {
		grant_atomic_answer_end(grants);
		rch_chan_cannot_keep(grants->chan, RDMACHAN_CAUSE_RESOURCES, ENOMEM);
		return NULL;
	}
	answer->grants = grants;
	answer->word.sent = grant_atomic_answer_sent;
	answer->word.type = RCH_REC_ATOMIC_DONE;
	answer->word.length = sizeof(struct rch_wire_atomic_done);
	return answer;
}

static enum rch_rule grant_atomic_do_atomic(struct rch_grants *grants, const struct rch_atomic *a,
					    u64 *value)
{
	struct rch_loan *loan;
	u64 offset;

	lockdep_assert_held(&grants->loans.xa_lock);
	loan = xa_load(&grants->loans, a->id);
	if (!loan || !rch_loan_live(loan) ||
	    (loan->info.rights & (RDMACHAN_RIGHT_ATOMIC | RDMACHAN_RIGHT_BY_DEVICE)) !=
	    RDMACHAN_RIGHT_ATOMIC || a->address < loan->info.start)
		return RCH_RULE_GRANT;
	offset = a->address - loan->info.start;
	if (!rch_grant_range_ok(loan->info.length, offset, sizeof(u64)))
		return RCH_RULE_GRANT;
	*value = rch_region_atomic(loan->region, loan->offset + offset,
				   a->op == RDMACHAN_ATOMIC_COMPARE_SWAP, a->operand,
				   a->compare);
	return RCH_RULE_OK;
}

/**
 * rch_loan_atomic_got - the peer asks for an atomic operation
 * @grants: grants
 * @r: its record
 *
 * Softirq. Return: the rule that was broken.
 */
enum rch_rule rch_loan_atomic_got(struct rch_grants *grants, const struct rch_record *r)
{
	struct rch_answer *answer;
	struct rch_atomic a;
	enum rch_rule rule;
	u64 value;

	rule = rch_wire_atomic_get(r, &a);
	if (rule)
		return rule;
	if (READ_ONCE(grants->answers) >= RCH_ANSWERS_MAX)
		return RCH_RULE_ANSWER;
	answer = grant_atomic_answer_make(grants);
	if (!answer)
		return RCH_RULE_OK;
	xa_lock_bh(&grants->loans);
	rule = grant_atomic_do_atomic(grants, &a, &value);
	xa_unlock_bh(&grants->loans);
	if (rule) {
		grant_atomic_answer_sent(&answer->word);
		return rule;
	}
	rch_wire_atomic_done_put(answer->word.data, a.serial, value);
	rch_lane_word(&grants->chan->lane, &answer->word);
	return RCH_RULE_OK;
}
