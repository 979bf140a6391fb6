// SPDX-License-Identifier: GPL-2.0
/*
 * grant_atomic.c - atomic operations that the peer's kernel is asked for
 *
 * Operation. ATOMIC asks, as a word of the lane, and ATOMIC_DONE answers. An operation is over
 * when two things have ended, in any order: its word is not in use any more, and the answer has
 * come, or nothing will be heard.
 */
#include "chan.h"
#include "grant.h"
#include "rch.h"

static struct rch_job *job_of(struct rch_asked *asked)
{
	return container_of(asked, struct rch_job, asked);
}

/* One of both; it may be freed with that. */
static void part_over(struct rch_asked *asked)
{
	struct rch_job *job = job_of(asked);
	unsigned long flags;

	spin_lock_irqsave(&job->wait.lock, flags);
	/* pairs with rch_asked_over() */
	smp_store_release(&asked->parts, asked->parts - 1);
	rch_job_part_over(job);
	spin_unlock_irqrestore(&job->wait.lock, flags);
}

static void word_sent(struct rch_word *word)
{
	part_over(container_of(word, struct rch_asked, word));
}

/* The answer, or that there will be none. It is in no list. */
static void heard(struct rch_asked *asked, bool certain, u64 value)
{
	struct rch_job *job = job_of(asked);

	rch_held_end(job->chan, asked->held);
	asked->certain = certain;
	job->value = value;
	part_over(asked);
}

/** rch_asked_over - whether it is, or was not begun */
bool rch_asked_over(const struct rch_job *job)
{
	/* pairs with part_over(): the answer is there */
	return !smp_load_acquire(&job->asked.parts);
}

static struct rch_asked *take(struct rch_grants *grants, bool any, u32 serial)
{
	struct rch_asked *asked, *found = NULL;

	xa_lock_bh(&grants->held);
	list_for_each_entry(asked, &grants->asked, list) {
		if (!any && asked->serial != serial)
			continue;
		list_del_init(&asked->list);
		found = asked;
		break;
	}
	xa_unlock_bh(&grants->held);
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
	asked = take(grants, false, serial);
	if (!asked)
		return RCH_RULE_GRANT;
	heard(asked, true, value);
	return RCH_RULE_OK;
}

/** rch_atomics_end - the peer says nothing any more. Any context but interrupts */
void rch_atomics_end(struct rch_grants *grants)
{
	struct rch_asked *asked;

	while ((asked = take(grants, true, 0)))
		heard(asked, false, 0);
}

static void ask_begin(struct rch_grants *grants, struct rch_asked *asked)
{
	asked->parts = 2;
	asked->word.sent = word_sent;
	asked->word.type = RCH_REC_ATOMIC;
	asked->word.length = sizeof(struct rch_wire_atomic);
	xa_lock_bh(&grants->held);
	/* 0 stands for none. */
	asked->serial = ++grants->serial ?: ++grants->serial;
	list_add_tail(&asked->list, &grants->asked);
	xa_unlock_bh(&grants->held);
}

/* A peer that gives no credit, or no answer, for so long loses its link. */
static unsigned long patience(const struct rch_job *job)
{
	return RCH_ANSWER_DEADS * job->chan->lane.link->dead;
}

static void give_up(struct rch_job *job)
{
	rch_link_kill_cause(job->chan->lane.link, RDMACHAN_OP_ACCESS, RDMACHAN_CAUSE_PROTOCOL,
			    RCH_RULE_ANSWER);
}

static void asked_late(struct timer_list *timer)
{
	struct rch_job *job = container_of(timer, struct rch_job, asked.late);

	if (!rch_asked_over(job))
		give_up(job);
}

/** rch_asked_init - of a job that may be left alone */
void rch_asked_init(struct rch_job *job)
{
	timer_setup(&job->asked.late, asked_late, 0);
}

/** rch_asked_exit - the same; nothing is under way. May sleep */
void rch_asked_exit(struct rch_job *job)
{
	timer_shutdown_sync(&job->asked.late);
}

/** rch_ask_late - wait for the end of what was asked */
void rch_ask_late(struct rch_job *job)
{
	if (wait_event_timeout(job->wait, rch_asked_over(job), patience(job)))
		return;
	give_up(job);
	wait_event(job->wait, rch_asked_over(job));
}

/**
 * rch_ask - ask the peer's kernel for an atomic operation
 * @job: begun
 *
 * Return: 0, then rch_asked_over() will be true; or an error: nothing was asked.
 */
int rch_ask(struct rch_job *job)
{
	struct rch_held *held = rch_held_begin(job->chan, job->id);
	struct rch_grants *grants = job->chan->grants;
	struct rch_lane *lane = &job->chan->lane;
	struct rch_atomic a = {
		.id = job->id,
		.op = job->op,
		.address = job->at.start + job->offset,
		.operand = job->operand,
		.compare = job->compare,
	};

	if (IS_ERR(held))
		return PTR_ERR(held);
	job->asked.held = held;
	if (job->keep)
		mod_timer(&job->asked.late, jiffies + patience(job));
	ask_begin(grants, &job->asked);
	a.serial = job->asked.serial;
	rch_wire_atomic_put(job->asked.word.data, &a);
	rch_lane_word(lane, &job->asked.word);
	/* What is not sent any more is not answered; nobody else might notice it. */
	if (rch_lane_closed(lane))
		rch_atomics_end(grants);
	return 0;
}
