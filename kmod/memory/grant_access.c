// SPDX-License-Identifier: GPL-2.0
/*
 * grant_access.c - READ, WRITE and atomic operations on memory that the peer lends
 *
 * Operation. Each is a *job*, which goes in steps, several of them at a time; each step is one
 * access of the adapter (path_access.c), within a piece of the grant. Where own memory is a
 * program's, a step has three parts: copying from the program, the adapter's work,
 * copying to the program. The grant is busy in the second only, and not while the step waits
 * for its turn. So a revocation waits for what the adapter has in hand, and finds the job
 * undone between two steps. Instead of copying, more than a few bytes are read or written where the
 * program has them. Each step pins their pages for as long as it lasts, and is of use in a call of
 * the program only.
 *
 * A caller that has begun a job takes its steps: rch_job_go_on(), whenever @wait was woken. That is
 * a call that waits, or an operation of a queue. The latter may be left alone, when its queue ends:
 * then the job goes on no further, and is freed when the adapter is done with it.
 *
 * Atomic operations are done by the peer's adapter, where its owner says so, or asked for
 * by a record and done by its kernel (grant_atomic.c).
 *
 * Error handling. When the path fails, what became of a WRITE is not known, but the writer may
 * write again; what became of an atomic operation is told to be not known.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/busy.h"
#include "base/inject.h"
#include "base/iter.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "dma/mem.h"
#include "memory/grant.h"
#include "memory/region.h"

/* Bytes up to which it is less to copy them than to pin the pages that they are in. */
#define PIN_MIN 4096

/* Steps, as the path sees them */

static int grant_access_step_begin(struct rch_access *access)
{
	struct rch_job *job = access->owner;
	struct rch_held *held = job->at.held;
	int ret = rch_held_begin(job->chan, held);
	u64 address;
	u32 key;

	if (ret)
		return ret;
	access->held = held;
	address = held->start + access->offset;
	key = held->key[address >> held->shift];
	if (job->right == RDMACHAN_RIGHT_ATOMIC)
		rch_access_atomic(access, job->op == RDMACHAN_ATOMIC_COMPARE_SWAP, address, key,
				  job->operand, job->compare);
	else
		rch_access_move(access, address, key);
	return 0;
}

/* A thread that waits for messages behind it may go on. */
static void grant_access_step_posted(struct rch_access *access)
{
	struct rch_job *job = access->owner;
	unsigned long flags;

	spin_lock_irqsave(&job->wait.lock, flags);
	wake_up_all_locked(&job->wait);
	spin_unlock_irqrestore(&job->wait.lock, flags);
}

/**
 * rch_job_part_over - something that was under way has ended
 * @job: the caller that has begun it may go on, and end it, as soon as the lock is free
 */
void rch_job_part_over(struct rch_job *job)
{
	lockdep_assert_held(&job->wait.lock);
	if (!list_empty(&job->wait.head))
		wake_up_all_locked(&job->wait);
	if (job->left_alone && !--job->under_way)
		queue_work(rch_queue_wq, &job->work);
}

static void grant_access_step_end(struct rch_access *access, int ret)
{
	struct rch_job *job = access->owner;
	unsigned long flags;

	if (access->held)
		rch_held_end(job->chan, access->held);
	access->held = NULL;
	spin_lock_irqsave(&job->wait.lock, flags);
	access->ret = ret;
	smp_store_release(&access->ended, true); /* pairs with grant_access_step_over() */
	rch_job_part_over(job);
	spin_unlock_irqrestore(&job->wait.lock, flags);
}

/* What it has of the program's pages, or of the kernel's memory. A region is charged by itself. */
static u32 grant_access_step_bytes(const struct rch_access *access)
{
	return rch_access_room(access->class) ?: access->page_count << PAGE_SHIFT;
}

/* What a step has is the channel's until it is put. Any context. Return: 0, -ENOBUFS or -ENOSPC */
static int grant_access_step_charge(struct rch_access *access)
{
	struct rch_job *job = access->owner;
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_BYTES] = grant_access_step_bytes(access),
	};
	u32 limit, cause;

	if (access->charged || !cost.of[RDMACHAN_LIMIT_BYTES])
		return 0;
	cause = rch_charge_take(&job->chan->charge, &cost, false, &limit);
	if (!cause)
		access->charged = cost.of[RDMACHAN_LIMIT_BYTES];
	return !cause ? 0 : cause == RDMACHAN_CAUSE_TOTAL_LIMIT ? -ENOSPC : -ENOBUFS;
}

static const struct rch_access_ops step_ops = {
	.begin = grant_access_step_begin,
	/* Others may be a long time before it. Of those that do not wait a path has only a few. */
	.wait = grant_access_step_charge,
	.posted = grant_access_step_posted,
	.end = grant_access_step_end,
};

/* Steps, as the caller that has begun the job sees them */

static struct rch_access *grant_access_step_number(const struct rch_job *job, u32 number)
{
	return job->steps[number % RCH_JOB_STEPS];
}

static bool grant_access_step_over(const struct rch_access *access)
{
	/* pairs with grant_access_step_end(): the result it has ended with is there */
	return smp_load_acquire(&access->ended);
}

/* Whether the oldest step has ended. */
static bool grant_access_may_go_on(const struct rch_job *job)
{
	if (job->first == job->next)
		return rch_asked_over(job);
	return grant_access_step_over(grant_access_step_number(job, job->first));
}

/* Own memory from where @access begins. */
static void grant_access_own_part(const struct rch_job *job, const struct rch_access *access,
				  struct iov_iter *iter)
{
	*iter = job->iter;
	if (access->offset != job->start)
		iov_iter_advance(iter, access->offset - job->start);
}

/* Hand out what a step has read. Return: false when the program's memory is not there. */
static bool grant_access_copy_out(const struct rch_job *job, const struct rch_access *access)
{
	struct iov_iter iter;

	grant_access_own_part(job, access, &iter);
	return rch_copy_to_iter(access->room, access->length, &iter);
}

static bool grant_access_copy_in(const struct rch_job *job, const struct rch_access *access)
{
	struct iov_iter iter;

	grant_access_own_part(job, access, &iter);
	return rch_copy_from_iter(access->room, access->length, &iter);
}

/* Return: 0 or -EFAULT; then it can be tried again, unless there is a result. */
static int grant_access_step_take(struct rch_job *job, struct rch_access *access)
{
	if (access->ret)
		job->result = job->result ?: access->ret;
	if (job->result)
		return 0;
	if (job->right == RDMACHAN_RIGHT_ATOMIC && rch_access_lost(access))
		job->result = -EREMOTEIO;
	else if (job->right == RDMACHAN_RIGHT_ATOMIC)
		memcpy(&job->value, access->room, sizeof(job->value));
	else if (job->right == RDMACHAN_RIGHT_READ && access->room &&
		 !grant_access_copy_out(job, access))
		return -EFAULT;
	return 0;
}

static void grant_access_step_put(struct rch_job *job, struct rch_access *access)
{
	rch_access_unpin_pages(access);
	if (access->charged)
		rch_charge_give(&job->chan->charge, RDMACHAN_LIMIT_BYTES, access->charged);
	rch_access_put(access);
}

/* Take the steps that have ended, in their order. */
static int grant_access_take_steps(struct rch_job *job)
{
	struct rch_access *access;

	while (job->first != job->next) {
		access = grant_access_step_number(job, job->first);
		if (!grant_access_step_over(access))
			break;
		if (grant_access_step_take(job, access))
			return -EFAULT;
		grant_access_step_put(job, access);
		job->first++;
	}
	return 0;
}

/* The program's own pages, where the step is not worth less than that. */
static bool grant_access_may_pin(const struct rch_job *job)
{
	return job->pin && job->left >= PIN_MIN && job->right != RDMACHAN_RIGHT_ATOMIC;
}

/* What all steps have is the channel's. Return: 0, -ENOBUFS or -ENOSPC */
static int grant_access_hold(struct rch_job *job)
{
	u32 number;
	int ret = 0;

	for (number = job->first; !ret && number != job->next; number++)
		ret = grant_access_step_charge(grant_access_step_number(job, number));
	return ret;
}

/*
 * Pin pages of the program's. A queue's thread may wait for other memory behind its back, and not
 * come to take what has ended: there all that is pinned is charged.
 */
static int grant_access_pin(struct rch_job *job, struct rch_access *access, bool read)
{
	unsigned long addr = rch_iter_addr(&job->iter) + (job->offset - job->start);
	u32 n = rch_access_pin_pages(access, addr, access->length, read);

	if (!n)
		return -EFAULT;
	access->length = n;
	return job->keep ? grant_access_step_charge(access) : 0;
}

/*
 * Fill own memory in. Filling it, or what comes of steps, the thread waits for the program's memory
 * for as long as that likes. So what the steps before have is charged; the newest one goes without.
 * Return: 0, -EFAULT, -ENOBUFS or -ENOSPC
 */
static int grant_access_fill(struct rch_job *job, struct rch_access *access, bool read)
{
	int ret;

	if (job->region) {
		access->length = rch_region_access(job->region, job->region_offset + job->offset -
						   job->start, access->length, read, access);
		return 0;
	}
	ret = grant_access_hold(job);
	if (ret)
		return ret;
	if (!access->room)
		return grant_access_pin(job, access, read);
	return read || grant_access_copy_in(job, access) ? 0 : -EFAULT;
}

static int grant_access_step_make(struct rch_job *job, struct rch_access *access)
{
	bool read = job->right != RDMACHAN_RIGHT_WRITE;
	u64 address = job->at.start + job->offset;
	u32 most;

	most = rch_grant_piece_left(address, job->at.shift, min_t(u64, job->left, U32_MAX));
	access->offset = job->offset;
	access->length = rch_access_most(access, read, address, most);
	return grant_access_fill(job, access, read) ?: rch_access_open(access, read);
}

static enum rch_access_class grant_access_class_of(const struct rch_job *job)
{
	return job->region || grant_access_may_pin(job) ? RCH_ACCESS_REGION :
	       rch_access_class(job->left);
}

static struct rch_access *grant_access_step_get(struct rch_job *job)
{
	struct rch_access *access = rch_access_get(&job->chan->lane.link->path,
						   grant_access_class_of(job));

	if (IS_ERR(access))
		return access;
	access->ops = &step_ops;
	access->owner = job;
	access->charged = 0;
	access->held = NULL;
	access->ret = 0;
	return access;
}

static bool grant_access_is_over_limit(int ret)
{
	return ret == -ENOBUFS || ret == -ENOSPC;
}

/* Whether a step that could not be made with pages of the program's may go by way of room. */
static bool grant_access_may_copy(const struct rch_job *job, int ret)
{
	if (!grant_access_may_pin(job))
		return false;
	return ret == -EFAULT || (grant_access_is_over_limit(ret) && job->first == job->next);
}

/* Begin the next step. Return: 0, -EFAULT, -ENOMEM, -ENOBUFS, -ENOSPC or -ENOTCONN. */
static int grant_access_step_next(struct rch_job *job)
{
	struct rch_access *access = grant_access_step_get(job);
	int ret;

	if (IS_ERR(access))
		return PTR_ERR(access);
	ret = grant_access_step_make(job, access);
	if (ret) {
		grant_access_step_put(job, access);
		/* Not all memory of a program can be pinned, or charged, but it may be copied. */
		if (!grant_access_may_copy(job, ret))
			return ret;
		job->pin = false;
		return 0;
	}
	job->offset += access->length;
	job->left -= access->length;
	job->steps[job->next++ % RCH_JOB_STEPS] = access;
	ret = rch_access_submit(access, &job->chan->grants->turns);
	if (!ret)
		return 0;
	job->next--;
	job->offset -= access->length;
	job->left += access->length;
	grant_access_step_put(job, access);
	return ret;
}

/* Whether the newest step has what it takes, but waits for its turn. */
static bool grant_access_waits(const struct rch_job *job)
{
	const struct rch_access *access;

	if (job->first == job->next)
		return false;
	access = grant_access_step_number(job, job->next - 1);
	return !READ_ONCE(access->posted) && !grant_access_step_over(access);
}

static bool grant_access_is_lack(int ret)
{
	return ret == -ENOMEM || grant_access_is_over_limit(ret);
}

/* The channel's record says whose limit it was. */
static void grant_access_tell_lack(struct rch_job *job, int ret)
{
	if (grant_access_is_over_limit(ret))
		rch_chan_note(job->chan, RDMACHAN_OP_ACCESS, ret == -ENOSPC ?
			      RDMACHAN_CAUSE_TOTAL_LIMIT : RDMACHAN_CAUSE_USER_BYTES,
			      RDMACHAN_LIMIT_BYTES);
}

/* Begin steps as long as there can be more: of those that wait, one is enough. */
static int grant_access_begin_steps(struct rch_job *job)
{
	int ret = 0;

	while (!ret && !job->result && !job->stopped && job->left && !grant_access_waits(job) &&
	       job->next - job->first < RCH_JOB_STEPS)
		ret = grant_access_step_next(job);
	/* Those that are under way give back what is missing. */
	if (grant_access_is_lack(ret) && job->first != job->next)
		return 0;
	if (ret == -EFAULT)
		return ret;
	grant_access_tell_lack(job, ret);
	job->result = job->result ?: ret;
	return 0;
}

static bool grant_access_by_kernel(const struct rch_job *job)
{
	return job->right == RDMACHAN_RIGHT_ATOMIC && !(job->at.rights & RDMACHAN_RIGHT_BY_DEVICE);
}

/* Some of it was not begun, and nobody wants that. */
static void grant_access_cut_off(struct rch_job *job)
{
	if (job->stopped && job->left && !job->result)
		job->result = -ECANCELED;
}

/* Return: 0 when it is over, else -EINPROGRESS */
static int grant_access_ask_or_answer(struct rch_job *job)
{
	if (job->left && !job->result && !job->stopped) {
		job->left = 0;
		job->result = rch_ask(job);
		if (job->result)
			return 0;
	}
	if (!rch_asked_over(job))
		return -EINPROGRESS;
	if (job->asked.state != RCH_ASKED_NOT || job->asked.error)
		job->result = rch_ask_result(job);
	job->asked.state = RCH_ASKED_NOT;
	job->asked.error = 0;
	return 0;
}

/**
 * rch_job_go_on - do what can be done of a job without waiting for others
 * @job: begun
 *
 * Return: 0 when it is over, see @job->result; -EINPROGRESS, then @job->wait tells when there
 * may be more to do; or -EFAULT: the program's memory is not there, and it can be tried again.
 * A caller that does not may set @job->result to that.
 */
int rch_job_go_on(struct rch_job *job)
{
	int ret;

	grant_access_cut_off(job);
	if (grant_access_by_kernel(job))
		return grant_access_ask_or_answer(job);
	do {
		ret = grant_access_take_steps(job) ?: grant_access_begin_steps(job);
		if (ret)
			return ret;
		if (job->first == job->next)
			return 0;
	} while (grant_access_may_go_on(job));
	return -EINPROGRESS;
}

/**
 * rch_job_hold - the program is asked for its memory, which takes as long as it pleases
 * @job: rch_job_go_on() has returned -EFAULT
 *
 * What its steps have is the channel's until then, though they did not wait before.
 * Return: 0; or -ENOBUFS or -ENOSPC, which is its result from now on.
 */
int rch_job_hold(struct rch_job *job)
{
	int ret = grant_access_hold(job);

	if (ret) {
		grant_access_tell_lack(job, ret);
		job->result = ret;
	}
	return ret;
}

/**
 * rch_job_stop - go on no further
 * @job: begun
 *
 * Return: whether nothing of it was done, and will be; else it is over soon, and has failed with
 * -ECANCELED if it was not done all the same.
 */
bool rch_job_stop(struct rch_job *job)
{
	bool nothing = !job->first && !job->result;
	u32 number;

	job->stopped = true;
	if (job->begun && grant_access_by_kernel(job) && !rch_ask_stop(job))
		nothing = false;
	for (number = job->first; number != job->next; number++) {
		rch_access_cancel(grant_access_step_number(job, number));
		if (grant_access_step_number(job, number)->ret != -ECANCELED)
			nothing = false;
	}
	return nothing;
}

/** rch_job_under_way - whether the adapter, or the path, has a part of it */
bool rch_job_under_way(const struct rch_job *job)
{
	u32 number;

	for (number = job->first; number != job->next; number++)
		if (!grant_access_step_over(grant_access_step_number(job, number)))
			return true;
	return !rch_asked_over(job);
}

/** rch_job_has_pages - whether the adapter has pages of the program's own, which were pinned */
bool rch_job_has_pages(const struct rch_job *job)
{
	const struct rch_access *access;
	u32 number;

	for (number = job->first; number != job->next; number++) {
		access = grant_access_step_number(job, number);
		if (access->page_count && !grant_access_step_over(access))
			return true;
	}
	return false;
}

/** rch_job_sent - whether the path has taken all of it, ahead of what is sent from now on */
bool rch_job_sent(const struct rch_job *job)
{
	u32 number;

	if (job->left && !job->result && !job->stopped)
		return false;
	for (number = job->first; number != job->next; number++)
		if (!READ_ONCE(grant_access_step_number(job, number)->posted) &&
		    !grant_access_step_over(grant_access_step_number(job, number)))
			return false;
	return true;
}

/** rch_job_failed - whether it is known already that not all of it is done, or will be */
bool rch_job_failed(const struct rch_job *job)
{
	const struct rch_access *access;
	u32 number;

	if (job->result || job->stopped)
		return true;
	/* Its result is known when those before that step have ended. */
	for (number = job->first; number != job->next; number++) {
		access = grant_access_step_number(job, number);
		if (grant_access_step_over(access) && access->ret)
			return true;
	}
	return false;
}

/**
 * rch_job_init - fill in a job
 * @job: job
 * @chan: channel, which stays open
 * @id: number of a grant
 * @right: see &struct rch_job
 * @offset: where in it
 *
 * Then whoever begins it sets iter or region, or what an atomic operation needs.
 */
void rch_job_init(struct rch_job *job, struct rch_chan *chan, u32 id, u32 right, u64 offset)
{
	job->chan = chan;
	job->id = id;
	job->right = right;
	job->offset = offset;
	job->start = offset;
	job->pin = false;
	job->uses = NULL;
	job->region = NULL;
	job->result = 0;
	job->stopped = false;
	job->begun = false;
	job->first = 0;
	job->next = 0;
	job->asked.parts = 0;
	job->asked.state = RCH_ASKED_NOT;
	job->asked.error = 0;
	init_waitqueue_head(&job->wait);
	job->left_alone = false;
	job->keep = NULL;
}

/**
 * rch_job_begin - begin a job
 * @job: filled in
 * @length: bytes
 *
 * Return: 0; -ENOENT, -EKEYREVOKED, -EACCES, -ERANGE; -EINVAL when it is atomic and not
 * aligned.
 */
int rch_job_begin(struct rch_job *job, u64 length)
{
	int ret = rch_held_call_begin(job->chan, job->id, job->right, job->offset, length,
				      &job->at);

	job->begun = !ret;
	job->left = length;
	return ret;
}

/** rch_job_end - it is over, or was left alone and nothing is under way. May sleep */
void rch_job_end(struct rch_job *job)
{
	/* The context that told of the last end has left it with that. */
	spin_lock_irq(&job->wait.lock);
	spin_unlock_irq(&job->wait.lock);
	for (; job->first != job->next; job->first++)
		grant_access_step_put(job, grant_access_step_number(job, job->first));
	if (job->begun)
		rch_held_call_end(job->chan, job->at.held);
	job->begun = false;
}

/* Jobs that nobody waits for in a call */

static void grant_access_job_free(struct rch_job *job)
{
	rch_job_end(job);
	rch_asked_exit(job);
	if (job->uses)
		rch_region_unuse(job->uses);
	job->drop(job->keep);
	kfree(job);
}

static void grant_access_job_work(struct work_struct *work)
{
	grant_access_job_free(container_of(work, struct rch_job, work));
}

/**
 * rch_job_alloc - get a job that may be left alone
 * @chan: see rch_job_init(), as of the next three
 * @id: likewise
 * @right: likewise
 * @offset: likewise
 * @keep: keeps the channel open
 * @drop: gives that back; may sleep
 *
 * Return: it, or NULL. What its member uses says is given back with it.
 */
struct rch_job *rch_job_alloc(struct rch_chan *chan, u32 id, u32 right, u64 offset, void *keep,
			      void (*drop)(void *keep))
{
	struct rch_job *job = rch_try(RCH_SITE_PLACE, kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT));

	if (!job)
		return NULL;
	rch_job_init(job, chan, id, right, offset);
	INIT_WORK(&job->work, grant_access_job_work);
	rch_asked_init(job);
	job->keep = keep;
	job->drop = drop;
	return job;
}

/** rch_job_leave - nobody wants it any more: it is freed, now or as soon as that can be */
void rch_job_leave(struct rch_job *job)
{
	bool now;
	u32 number;

	rch_job_stop(job);
	spin_lock_irq(&job->wait.lock);
	for (number = job->first; number != job->next; number++)
		job->under_way += !grant_access_step_over(grant_access_step_number(job, number));
	job->under_way += job->asked.parts;
	job->left_alone = true;
	now = !job->under_way;
	spin_unlock_irq(&job->wait.lock);
	if (now)
		grant_access_job_free(job);
}

/* Calls that wait */

/* The path has failed, and the channel will soon. */
static int grant_access_path_error(struct rch_chan *chan)
{
	wait_event_killable_timeout(chan->wait, rch_chan_tx_refused(chan),
				    chan->lane.link->beat.dead);
	return rch_chan_tx_check(chan) ?: -ECONNRESET;
}

static bool grant_access_is_asked(const struct rch_job *job)
{
	return READ_ONCE(job->asked.state) == RCH_ASKED_NOW;
}

/* Only what waits for its turn can be left. Those before it need not be waited for long. */
static void grant_access_await(struct rch_job *job)
{
	u64 until = rch_busy_until(READ_ONCE(job->chan->busy_us), MAX_SCHEDULE_TIMEOUT);

	while (rch_busy(until))
		if (grant_access_may_go_on(job))
			return;
	if (grant_access_is_asked(job))
		rch_ask_late(job);
	else if (job->stopped)
		wait_event(job->wait, grant_access_may_go_on(job));
	else if (wait_event_killable(job->wait, grant_access_may_go_on(job) ||
				     grant_access_is_asked(job)))
		rch_job_stop(job);
}

/* Once the path has all of a WRITE the message that goes with it may follow. */
static void grant_access_notify(struct rch_job *job, struct rch_notice *notice)
{
	if (!notice || notice->sent || !rch_job_sent(job) || rch_job_failed(job))
		return;
	/*
	 * It may wait for the program, or for the peer. What the steps have is charged until then,
	 * or they are over first; a room for few bytes is not worth that.
	 */
	if (iov_iter_count(&job->iter) > PIN_MIN && grant_access_hold(job))
		return;
	notice->sent = true;
	notice->result = notice->send(job->chan, notice->message, notice->msg_flags, false,
				      notice->deadline);
	/*
	 * The part that is done again is to send the message only; the bytes may be others by now.
	 */
	if (notice->result == -ERESTARTSYS)
		notice->result = -ERESTARTNOHAND;
}

static int grant_access_run(struct rch_job *job, u64 length, struct rch_notice *notice)
{
	int ret = rch_job_begin(job, length);

	if (ret)
		return ret;
	while ((ret = rch_job_go_on(job))) {
		grant_access_notify(job, notice);
		if (ret == -EFAULT)
			job->result = ret;
		else
			grant_access_await(job);
		if (fatal_signal_pending(current) && !job->stopped)
			rch_job_stop(job);
	}
	grant_access_notify(job, notice);
	rch_job_end(job);
	return job->result == -ECANCELED ? -EINTR : job->result;
}

/**
 * rch_grant_move - READ or WRITE
 * @chan: channel
 * @id: number of a grant that is held
 * @offset: where in it
 * @iter: own memory
 * @read: READ
 * @notice: message that goes with a WRITE, or NULL
 *
 * Context: process. Return: 0; -ENOENT, -EKEYREVOKED, -EACCES, -ERANGE; -EFAULT, -ENOMEM,
 * -ENOBUFS, -ENOSPC; -EINTR when killed; why the channel has ended; or why @notice was not sent.
 */
int rch_grant_move(struct rch_chan *chan, u32 id, u64 offset, struct iov_iter *iter, bool read,
		   struct rch_notice *notice)
{
	struct rch_job job;
	int ret;

	rch_job_init(&job, chan, id, read ? RDMACHAN_RIGHT_READ : RDMACHAN_RIGHT_WRITE, offset);
	job.iter = *iter;
	job.pin = true;
	ret = grant_access_run(&job, iov_iter_count(iter), notice);
	if (ret == -ENOTCONN)
		return grant_access_path_error(chan);
	return ret || !notice ? ret : notice->result;
}

/**
 * rch_grant_atomic - an atomic operation
 * @chan: channel
 * @atomic: what, checked but for the grant; its result is put there
 *
 * Context: process. Return: as rch_grant_move(); -EINVAL when it is not aligned; or
 * -EREMOTEIO: it may have been done: the channel has ended, or the result was lost.
 */
int rch_grant_atomic(struct rch_chan *chan, struct rdmachan_atomic_args *atomic)
{
	struct rch_job job;
	int ret;

	rch_job_init(&job, chan, atomic->grant, RDMACHAN_RIGHT_ATOMIC, atomic->offset);
	job.op = atomic->op;
	job.operand = atomic->operand;
	job.compare = atomic->compare;
	ret = grant_access_run(&job, sizeof(u64), NULL);
	if (!ret)
		atomic->out_value = job.value;
	if (ret != -ENOTCONN)
		return ret;
	grant_access_path_error(chan);
	return -EREMOTEIO;
}
