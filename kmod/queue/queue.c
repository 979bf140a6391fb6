// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - queues: rings of operations on many objects
 *
 * Operation. A call of ENTER takes entries, copies each before it looks at it, and runs
 * the operations one by one, none of which waits. One whose object is not ready is armed:
 * it is in the object's wait queue, and a wake-up puts it back among those to be run. A thread in
 * ENTER runs them, or, when there is none, a work item that borrows the program's memory. The work
 * item runs with page faults disabled, so it never waits for that memory. An operation that
 * faults, or that makes a file descriptor, is left to ENTER: the ring's flags and poll() tell the
 * program to call it. So no program can hold up a work item.
 * A queue with a poller has that instead, which takes entries as well (queue_poller.c).
 *
 * An operation that completes more than once does so only while the completion ring has
 * room, and is *starved* until it has: it keeps nothing for later but itself.
 *
 * Order. Operations of one object and direction are a *line*: only its first is run, and
 * others may do something ahead of their turn, but none is over before the first. Accesses
 * of one channel are a line as well, for the sake of those that wait for them (FENCE). An
 * entry with LINK and those after it are a *chain*: only its first begins. Chains wait
 * in the queue's deferred list while there is a DRAIN that forbids them to begin. An operation
 * that waits for another one is behind it in each line that has both: so nothing waits in a
 * circle.
 *
 * Buffer ownership. As many operations as the completion ring has entries are made with
 * the queue. One is taken for each entry and is free again when its completion is in the
 * ring: when that is full, it keeps the completion until there is room. So a completion
 * is never lost, and there can be no more than twice the ring.
 *
 * Error handling. An entry's error is told by its completion. The program
 * can write anything into the rings: its indices are only compared with ours, see
 * pure/ring.h, and nothing that was written there is read back.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "base/busy.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "pure/ring.h"
#include "queue/queue.h"

/* Indices and flags */

/** rch_queue_set_flags - for the program to see, in the completion ring. Under @lock */
void rch_queue_set_flags(struct rch_queue *queue, u32 clear, u32 set)
{
	lockdep_assert_held(&queue->lock);
	WRITE_ONCE(queue->flags, (queue->flags & ~clear) | set);
	WRITE_ONCE(*rch_mapped(&queue->cq, RCH_RING_FLAGS), queue->flags);
}

/* Completions in the ring; all of it when the program's index cannot be. */
static u32 queue_completions(const struct rch_queue *queue)
{
	u32 consumer = READ_ONCE(*rch_mapped(&queue->cq, RCH_RING_CONSUMER));
	u32 producer = READ_ONCE(queue->cq_told);

	if (!rch_ring_agree(producer, consumer, queue->cq.count))
		return queue->cq.count;
	return rch_ring_filled(producer, consumer, queue->cq.count);
}

/* Those to be run */

/** rch_queue_kick - there is something to run: the runner has to look, or somebody must */
void rch_queue_kick(struct rch_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	if (READ_ONCE(queue->running) || queue->closed)
		return;
	/* pairs with the barrier of queue_leave(): it finds what is ready, or is found here */
	smp_mb();
	if (atomic_read(&queue->entered))
		wake_up_interruptible_poll(&queue->wait, EPOLLIN | EPOLLRDNORM);
	else if (queue->poller)
		rch_poller_wake(queue->poller);
	else
		queue_work(rch_queue_wq, &queue->work);
}

/** rch_op_make_ready_locked - an operation is to be run; under @lock */
void rch_op_make_ready_locked(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->lock);
	op->state = RCH_OP_READY;
	if (!op->own) {
		list_add_tail(&op->list, &queue->ready);
		rch_queue_kick(queue);
		return;
	}
	list_add_tail(&op->list, op->late && !op->error ? &queue->late : &queue->own);
	rch_queue_set_flags(queue, 0, RDMACHAN_RING_F_ENTER);
	wake_up_interruptible_poll(&queue->wait, EPOLLIN | EPOLLRDNORM);
}

/** rch_op_make_ready - an operation is to be run */
void rch_op_make_ready(struct rch_op *op)
{
	spin_lock_irq(&op->queue->lock);
	rch_op_make_ready_locked(op);
	spin_unlock_irq(&op->queue->lock);
}

/* Whether there is something that needs a call of the program. */
static bool queue_has_own(const struct rch_queue *queue)
{
	return !list_empty_careful(&queue->late) || !list_empty_careful(&queue->own);
}

static void queue_unlist(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->lock);
	list_del_init(&op->list);
	if (op->own && !queue_has_own(queue))
		rch_queue_set_flags(queue, RDMACHAN_RING_F_ENTER, 0);
}

/* Whether there is something that needs no call of the program. */
static bool queue_has_work(const struct rch_queue *queue)
{
	return !list_empty_careful(&queue->ready) || READ_ONCE(queue->due) ||
	       !list_empty_careful(&queue->letters);
}

/* Return: the first of those that are ready; or NULL. */
static struct rch_op *queue_first_ready(struct rch_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	if (!list_empty(&queue->ready))
		return list_first_entry(&queue->ready, struct rch_op, list);
	if (!queue->in_call)
		return NULL;
	if (!list_empty(&queue->late))
		return list_first_entry(&queue->late, struct rch_op, list);
	return list_first_entry_or_null(&queue->own, struct rch_op, list);
}

static struct rch_op *queue_take_ready(struct rch_queue *queue)
{
	struct rch_op *op;

	spin_lock_irq(&queue->lock);
	while (!(op = queue->due ? rch_time_overdue(queue) : NULL) && queue->due) {
		/* It has only looked at some: interrupts have their turn. */
		spin_unlock_irq(&queue->lock);
		cond_resched();
		spin_lock_irq(&queue->lock);
	}
	if (!op)
		op = queue_first_ready(queue);
	queue->running = op;
	if (op) {
		queue_unlist(op);
		op->state = RCH_OP_RUNNING;
		rch_op_taken(op);
	}
	/* One that comes later finds that nobody runs, if so it is. */
	rch_letters_take(queue);
	spin_unlock_irq(&queue->lock);
	rch_queue_flush_done(queue);
	return op;
}

/* It is over; nothing refers to it but its completion. */
static void queue_finish(struct rch_op *op, s64 res)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->run_lock);
	rch_op_disarm(op);
	/* A caller that might have put it into a list has been kept from it just now. */
	if (!list_empty(&op->list) || op->sqe.timeout_ms) {
		spin_lock_irq(&queue->lock);
		queue_unlist(op);
		rch_time_end(op);
		spin_unlock_irq(&queue->lock);
	}
	if (!list_empty(&op->all)) {
		list_del_init(&op->all);
		rch_named_leave(op);
	}
	rch_op_line_leave(op);
	rch_op_fence_leave(op);
	if (queue->follower == op)
		queue->follower = NULL;
	if (op->prev)
		op->prev->next = NULL;
	queue->ops->drop(op);
	if (op->begun && !--queue->active)
		queue->barrier = false;
	op->cqe.user_data = op->sqe.user_data;
	op->cqe.res = res;
	rch_op_post(op);
}

/* Beginning, running, completing */

static bool queue_may_begin(const struct rch_queue *queue, const struct rch_op *op)
{
	if (!queue->active)
		return true;
	return !queue->barrier && !(op->sqe.flags & RDMACHAN_SQE_F_DRAIN);
}

static void queue_complete_op(struct rch_op *op, s64 res);

/* Return: whether it has begun something. */
static bool queue_step_ahead(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;
	struct rch_line *line = rch_line_before(queue, &op->line);
	struct rch_op *before = container_of(line, struct rch_op, line);
	s64 res;

	if (!line || op->error || op->own || op->prev || op->fence.key)
		return false;
	res = queue->ops->ahead(op, before);
	if (res == -EAGAIN) {
		/* It may have become ready before it was armed. */
		if (!op->armed)
			rch_op_arm(op);
		res = queue->ops->ahead(op, before);
	}
	if (res == -EAGAIN) {
		rch_op_suspend(op);
		return true;
	}
	rch_op_disarm(op);
	if (res)
		queue_complete_op(op, res);
	return !res && op->place;
}

/* Operations behind @op may be able to go on now, each depending on the one before it. */
static void queue_run_behind(struct rch_op *op)
{
	struct rch_line *line = &op->line;

	while ((line = rch_line_behind(op->queue, line))) {
		op = container_of(line, struct rch_op, line);
		if (READ_ONCE(op->state) == RCH_OP_HELD && !queue_step_ahead(op))
			break;
	}
}

/*
 * It is not its turn yet. It waits for what it has begun, if for anything, until then:
 * rch_op_call_up(). Its outcome is told then, and only an event that ends it is told now.
 */
static void queue_run_ahead(struct rch_op *op)
{
	if (queue_step_ahead(op))
		queue_run_behind(op);
}

/* It takes its place in its line now: nothing that begins later may overtake it. */
static void queue_start(struct rch_op *op)
{
	bool first = op->error || rch_op_line_enter(op);

	spin_lock_irq(&op->queue->lock);
	rch_time_begin(op);
	if (first)
		rch_op_make_ready_locked(op);
	spin_unlock_irq(&op->queue->lock);
	if (!first)
		queue_run_ahead(op);
}

/*
 * An operation that is both in a line and among accesses has its places in both at the same time.
 * Those with FENCE behind it wait for it, and must not be before it in the line. So have those that
 * are before it in its chain. Operations that begin later come behind all of them.
 */
static void queue_reserve(struct rch_queue *queue, struct rch_op *first)
{
	struct rch_op *op, *last = NULL;

	for (op = first; op; op = op->next)
		if (!op->error && op->line.key && op->fence.key)
			last = op;
	if (!last || last == first)
		return;
	for (op = first; op != last->next; op = op->next)
		if (!op->error)
			rch_line_enter(queue, &op->line);
}

/* The chain that begins with @op. */
static void queue_begin(struct rch_queue *queue, struct rch_op *op)
{
	struct rch_op *each;

	for (each = op; each; each = each->next) {
		each->begun = true;
		queue->active++;
		if (!each->error)
			rch_line_enter(queue, &each->fence);
	}
	queue_reserve(queue, op);
	if (op->sqe.flags & RDMACHAN_SQE_F_DRAIN)
		queue->barrier = true;
	queue_start(op);
}

static void queue_begin_deferred(struct rch_queue *queue)
{
	struct rch_op *op;

	while (!list_empty(&queue->deferred)) {
		op = list_first_entry(&queue->deferred, struct rch_op, list);
		if (!queue_may_begin(queue, op))
			break;
		list_del_init(&op->list);
		queue_begin(queue, op);
		cond_resched();
	}
}

static void queue_complete_op(struct rch_op *op, s64 res)
{
	struct rch_queue *queue = op->queue;
	struct rch_op *next = op->next;

	queue_finish(op, res);
	if (next) {
		next->prev = NULL;
		if (res >= 0) {
			queue_start(next);
			return;
		}
	}
	for (op = next; op; op = next) {
		next = op->next;
		/* It was free already. */
		op->prev = NULL;
		queue_finish(op, -ECANCELED);
		cond_resched();
	}
	queue_begin_deferred(queue);
}

/* It has done a part. */
static void queue_go_on(struct rch_op *op, s64 res)
{
	rch_op_disarm(op);
	if (res == RCH_RUN_NO_ROOM)
		rch_op_starve(op);
	else
		rch_op_make_ready(op);
}

/* What only the program itself can find is looked for in a call, when it is its turn. */
static void queue_prepare(struct rch_op *op)
{
	op->error = op->queue->ops->prepare(op);
	op->late = op->error == -EAGAIN;
	if (op->late) {
		op->error = 0;
		op->own = true;
	}
}

/* Only the program can bring the memory that is not there. */
static bool queue_needs_call(const struct rch_op *op, s64 res)
{
	return res == -EFAULT && !op->queue->in_call && !op->error;
}

/* Whether @res is the end of it. */
static bool queue_is_over(const struct rch_op *op, s64 res)
{
	return res != -EAGAIN && res != RCH_RUN_AGAIN && res != RCH_RUN_NO_ROOM &&
	       res != RCH_RUN_BEHIND && !queue_needs_call(op, res);
}

/* It was run, with result @res. */
static void queue_was_run(struct rch_op *op, s64 res)
{
	if (res == -EAGAIN && !op->armed) {
		/* It may have become ready before it was armed. */
		rch_op_arm(op);
		res = op->queue->ops->run(op);
	}
	if (res == -EAGAIN) {
		rch_op_suspend(op);
		queue_run_behind(op);
	} else if (queue_is_over(op, res)) {
		queue_complete_op(op, res);
	} else if (res == RCH_RUN_BEHIND) {
		rch_op_disarm(op);
	} else if (queue_needs_call(op, res)) {
		rch_op_disarm(op);
		op->own = true;
		rch_op_make_ready(op);
	} else {
		queue_go_on(op, res);
	}
}

static void queue_run_op(struct rch_op *op)
{
	s64 res;

	if (op->late && op->queue->in_call && !op->error)
		queue_prepare(op);
	if (op->overdue && !op->queue->ops->stop(op)) {
		/* It is on its way, and completes by itself. */
		op->overdue = false;
		rch_op_disarm(op);
	}
	res = op->overdue ? -ETIMEDOUT : op->error;
	if (!res && !rch_op_line_enter(op)) {
		queue_run_ahead(op);
		return;
	}
	if (!res && !rch_op_fence_enter(op))
		return;
	if (!res)
		res = op->queue->ops->run(op);
	queue_was_run(op, res);
}

static void queue_track(struct rch_op *op)
{
	list_add_tail(&op->all, &op->queue->all);
	rch_named_enter(op);
}

/* It is not over at once. */
static void queue_settle(struct rch_op *op)
{
	queue_track(op);
	if (op->sqe.timeout_ms) {
		spin_lock_irq(&op->queue->lock);
		rch_time_begin(op);
		spin_unlock_irq(&op->queue->lock);
	}
	if (rch_op_line_enter(op))
		rch_op_fence_enter(op);
	else
		rch_line_enter(op->queue, &op->fence);
}

/* Whether others of its line are before it, or accesses that it must wait for. */
static bool queue_must_wait(struct rch_queue *queue, const struct rch_op *op)
{
	if (op->line.key && rch_line_taken(queue, op->line.key))
		return true;
	return (op->sqe.flags & RDMACHAN_SQE_F_FENCE) && rch_line_taken(queue, op->fence.key);
}

/*
 * Begin an operation that nothing keeps from it. Most are over at once: such a one enters
 * neither its line nor any list.
 */
static void queue_run_now(struct rch_queue *queue, struct rch_op *op)
{
	s64 res = op->error;

	op->begun = true;
	queue->active++;
	op->state = RCH_OP_RUNNING;
	if (!res && queue_must_wait(queue, op)) {
		queue_settle(op);
		queue_run_ahead(op);
		return;
	}
	if (!res)
		res = queue->ops->run(op);
	if (!queue_is_over(op, res))
		queue_settle(op);
	queue_was_run(op, res);
}

/* Whose thread runs the queue from now on: the program's, in a call, or one of the kernel's. */
static void queue_run_as(struct rch_queue *queue, bool in_call)
{
	lockdep_assert_held(&queue->run_lock);
	queue->in_call = in_call;
	queue->run_until = jiffies + RCH_QUEUE_HOLD;
}

/*
 * Whether to leave the rest to others. A killed thread runs no more of what the rings hold. A
 * thread of the kernel's drops the program's memory now and then, and so sees that it is gone.
 */
static bool queue_ran_for_long(const struct rch_queue *queue)
{
	if (queue->in_call)
		return fatal_signal_pending(current);
	return time_after(jiffies, queue->run_until);
}

/* Others shall run what is left. */
static void queue_stop_running(struct rch_queue *queue)
{
	struct rch_op *op = queue->follower;

	queue->follower = NULL;
	spin_lock_irq(&queue->lock);
	if (op)
		rch_op_make_ready_locked(op);
	queue->running = false;
	if (queue_has_work(queue))
		rch_queue_kick(queue);
	spin_unlock_irq(&queue->lock);
}

static struct rch_op *queue_take_next(struct rch_queue *queue)
{
	struct rch_op *op = queue->follower;

	if (!op)
		return queue_take_ready(queue);
	queue->follower = NULL;
	op->state = RCH_OP_RUNNING;
	return op;
}

/* Run all that is to be run. */
static void queue_run_ready(struct rch_queue *queue)
{
	/* All operations have had their turn by then, and those behind them; if something
	 * is left, it is because others go on waking it for nothing.
	 */
	u32 turns = 4 * queue->cq.count;
	struct rch_op *op;

	lockdep_assert_held(&queue->run_lock);
	while ((op = queue_take_next(queue))) {
		queue_run_op(op);
		cond_resched();
		if (!--turns || queue_ran_for_long(queue)) {
			queue_stop_running(queue);
			break;
		}
	}
	if (queue->unsent)
		queue->ops->flush(queue);
}

static void queue_cancel_all(struct rch_queue *queue)
{
	while (!list_empty(&queue->all)) {
		queue_complete_op(list_first_entry(&queue->all, struct rch_op, all), -ECANCELED);
		cond_resched();
	}
}

/* Whether an entry could be taken now. Without locks: a racy answer */
static bool queue_may_take(const struct rch_queue *queue)
{
	u32 producer = READ_ONCE(*rch_mapped(&queue->sq, RCH_RING_PRODUCER));

	/* As many are under way as can be, or as leave room: one of them will have to end first. */
	return rch_ring_filled(producer, READ_ONCE(queue->sq_head), queue->sq.count) &&
	       READ_ONCE(queue->under_way) < queue->cq.count && !READ_ONCE(queue->unfit);
}

/* When entries can be taken again, tell their takers. */
static void queue_tell_takers(struct rch_queue *queue)
{
	if (!queue_may_take(queue))
		return;
	if (queue->poller)
		rch_poller_wake(queue->poller);
	if (wq_has_sleeper(&queue->wait))
		wake_up_interruptible_poll(&queue->wait, EPOLLIN | EPOLLRDNORM);
}

/** rch_queue_work_run - run operations, as nobody is in a call; of rch_queue_wq */
void rch_queue_work_run(struct work_struct *work)
{
	struct rch_queue *queue = container_of(work, struct rch_queue, work);

	/* A call that came after the work was queued runs all that is ready. queue_leave() looks
	 * again.
	 */
	if (atomic_read(&queue->entered))
		return;
	/* The holder of it will look for what is ready once more: see queue_leave(). */
	if (!mutex_trylock(&queue->run_lock))
		return;
	if (mmget_not_zero(queue->mm)) {
		kthread_use_mm(queue->mm);
		pagefault_disable();
		queue_run_as(queue, false);
		queue_run_ready(queue);
		pagefault_enable();
		kthread_unuse_mm(queue->mm);
		mutex_unlock(&queue->run_lock);
		/* The last use of it may wait for files of the program: not where others run. */
		mmput_async(queue->mm);
	} else {
		queue_cancel_all(queue);
		mutex_unlock(&queue->run_lock);
	}
	queue_tell_takers(queue);
}

/**
 * rch_queue_cancel - cancel what a CANCEL names
 * @queue: queue
 * @by: the CANCEL
 *
 * Return: how many; or -ENOENT, or -EALREADY when there are some that cannot be.
 */
s64 rch_queue_cancel(struct rch_queue *queue, const struct rch_op *by)
{
	bool all = by->sqe.op_flags & RDMACHAN_CANCEL_F_ALL, busy = false;
	struct rch_op *op;
	s64 count = 0;
	u64 next = 0;

	lockdep_assert_held(&queue->run_lock);
	/*
	 * One that is cancelled may end others: so each is looked for anew. The one who closes the
	 * queue waits for this.
	 */
	while ((all || !count) && !READ_ONCE(queue->closed) &&
	       (op = rch_named_next(queue, by->sqe.target, next))) {
		next = op->number + 1;
		cond_resched();
		if (op == by)
			continue;
		if (!queue->ops->stop(op)) {
			busy = true;
			continue;
		}
		queue_complete_op(op, -ECANCELED);
		count++;
	}
	/* There may be as many CANCELs as operations. */
	cond_resched();
	return count ?: busy ? -EALREADY : -ENOENT;
}

/* ENTER */

static struct rch_op *queue_op_take(struct rch_queue *queue)
{
	struct rch_op *op = queue->free;

	if (!op)
		return NULL;
	queue->free = op->next;
	op->state = RCH_OP_HELD;
	op->error = 0;
	op->line.key = 0;
	op->fence.key = 0;
	op->fenced = false;
	op->next = NULL;
	op->prev = NULL;
	op->begun = false;
	op->own = false;
	op->late = false;
	op->stays = false;
	op->overdue = false;
	op->file = NULL;
	op->object = NULL;
	op->data = NULL;
	op->region = NULL;
	op->vec = NULL;
	op->place = NULL;
	op->left = NULL;
	op->message = 0;
	op->sent = false;
	op->early = false;
	op->copied = false;
	op->job = NULL;
	op->notice = 0;
	op->loan = NULL;
	op->to = NULL;
	op->reading = false;
	op->stopped = 0;
	memset(&op->cqe, 0, sizeof(op->cqe));
	WRITE_ONCE(queue->under_way, queue->under_way + 1);
	return op;
}

/* Neither part of a chain nor a barrier. */
static bool queue_alone(const struct rch_op *op)
{
	return !op->next && !(op->sqe.flags & RDMACHAN_SQE_F_DRAIN);
}

/* Take entries at the beginning of which no chain is open. Return: how many are over. */
static u32 queue_take_row(struct rch_queue *queue, u32 max)
{
	u32 taken;

	if (!list_empty(&queue->deferred) || (queue->active && queue->barrier) || !queue->free)
		return 0;
	taken = queue->ops->row(queue, max);
	WRITE_ONCE(queue->sq_head, queue->sq_head + taken);
	WRITE_ONCE(queue->taken, queue->taken + taken);
	return taken;
}

/* Whether @op, which is alone, can be run where it was taken. */
static bool queue_can_run_now(const struct rch_queue *queue, const struct rch_op *op)
{
	return list_empty(&queue->deferred) && queue_may_begin(queue, op) &&
	       (queue->in_call || !op->own);
}

/* The chain that begins with @first. */
static void queue_admit(struct rch_queue *queue, struct rch_op *first)
{
	struct rch_op *op;

	if (queue_alone(first) && queue_can_run_now(queue, first)) {
		queue_run_now(queue, first);
		return;
	}
	for (op = first; op; op = op->next)
		queue_track(op);
	if (queue_alone(first) && first->sqe.opcode == RDMACHAN_OPCODE_CANCEL) {
		queue_begin(queue, first);
		return;
	}
	list_add_tail(&first->list, &queue->deferred);
	queue_begin_deferred(queue);
}

/*
 * No operation is free for the rest of a chain. If others are under way it is taken when these
 * have ended, so that each of its entries has the one before it. Return: how many entries that are.
 */
static u32 queue_put_back(struct rch_queue *queue, struct rch_op *first)
{
	struct rch_op *op, *next;
	u32 count = 0;

	lockdep_assert_held(&queue->run_lock);
	for (op = first; op; op = op->next)
		count++;
	if (count == queue->under_way)
		return 0;
	for (op = first; op; op = next) {
		next = op->next;
		queue->ops->drop(op);
		rch_op_free(op);
		cond_resched();
	}
	WRITE_ONCE(queue->sq_head, queue->sq_head - count);
	WRITE_ONCE(queue->taken, queue->taken - count);
	WRITE_ONCE(queue->unfit, true);
	return count;
}

/*
 * Take entries, and run those that can be run at once. Return: how many, or -EINVAL when the
 * program's index cannot be.
 */
static int queue_submit(struct rch_queue *queue, u32 max)
{
	struct rch_op *op, *first = NULL, *last = NULL;
	u32 producer, n, row, taken = 0;

	/* The entries before this index are written. */
	producer = smp_load_acquire(rch_mapped(&queue->sq, RCH_RING_PRODUCER));
	if (!rch_ring_agree(producer, queue->sq_head, queue->sq.count))
		return -EINVAL;
	n = min(max, rch_ring_filled(producer, queue->sq_head, queue->sq.count));
	/* A program that fills the ring all the while can be killed, but a chain is taken whole. */
	while (taken < n && !queue->unfit && (last || !queue_ran_for_long(queue))) {
		row = last ? 0 : queue_take_row(queue, n - taken);
		if (row) {
			taken += row;
			continue;
		}
		op = queue_op_take(queue);
		if (!op) {
			row = last ? queue_put_back(queue, first) : 0;
			taken -= row;
			last = row ? NULL : last;
			break;
		}
		taken++;
		rch_mapping_fetch(&queue->sq, queue->sq_head, &op->sqe, sizeof(op->sqe));
		WRITE_ONCE(queue->sq_head, queue->sq_head + 1);
		WRITE_ONCE(queue->taken, queue->taken + 1);
		queue_prepare(op);
		if (last) {
			last->next = op;
			op->prev = last;
			if (!op->error && (op->sqe.flags & RDMACHAN_SQE_F_DRAIN))
				op->error = -EINVAL;
		} else {
			first = op;
		}
		last = op;
		/* An entry may have an array of pieces, which is copied and looked through. */
		cond_resched();
		if (op->sqe.flags & RDMACHAN_SQE_F_LINK)
			continue;
		queue_admit(queue, first);
		last = NULL;
	}
	if (last)
		queue_admit(queue, first);
	/* All that was read of the entries was read before the program writes there. */
	smp_store_release(rch_mapped(&queue->sq, RCH_RING_CONSUMER), queue->sq_head);
	return taken;
}

static struct rch_op *queue_take_late(struct rch_queue *queue)
{
	struct rch_op *op;

	spin_lock_irq(&queue->lock);
	op = list_first_entry_or_null(&queue->late, struct rch_op, list);
	if (op)
		queue_unlist(op);
	spin_unlock_irq(&queue->lock);
	return op;
}

/* What the poller has begun and could not find comes before what is taken now. */
static void queue_prepare_late(struct rch_queue *queue)
{
	struct rch_op *op;
	bool first;

	while ((op = queue_take_late(queue))) {
		queue_prepare(op);
		first = op->error || rch_op_line_enter(op);
		if (!op->error)
			rch_line_enter(queue, &op->fence);
		/* They may be run before any that are ready. */
		if (first)
			rch_op_make_ready(op);
		cond_resched();
	}
}

/* Return: as queue_submit() */
static int queue_take_and_run(struct rch_queue *queue, bool in_call, u32 to_submit)
{
	int ret = 0;

	lockdep_assert_held(&queue->run_lock);
	queue_run_as(queue, in_call);
	/* Without the lock: a waker that does not see it yet wakes us in vain. */
	if (to_submit)
		WRITE_ONCE(queue->running, true);
	/* A completion that waits for room may be what keeps entries from being taken. */
	rch_queue_flush_done(queue);
	if (in_call && queue->poller)
		queue_prepare_late(queue);
	if (to_submit)
		ret = queue_submit(queue, to_submit);
	/* Ready operations have time of their own, however long entries were taken. */
	queue_run_as(queue, in_call);
	queue_run_ready(queue);
	return ret;
}

/* How many entries a call has still to take. */
static u32 queue_left(const struct rdmachan_enter_args *args)
{
	return args->to_submit - args->out_submitted;
}

static int queue_submit_and_run(struct rch_queue *queue, struct rdmachan_enter_args *args,
				unsigned long deadline)
{
	int ret;

	if (mutex_lock_interruptible(&queue->run_lock))
		return rch_wait_result(-ERESTARTSYS, deadline);
	ret = queue_take_and_run(queue, true, queue_left(args));
	mutex_unlock(&queue->run_lock);
	if (ret > 0)
		args->out_submitted += ret;
	queue_tell_takers(queue);
	return ret < 0 ? ret : 0;
}

/** rch_queue_idle - whether rch_queue_run() would find nothing to do. Without locks */
bool rch_queue_idle(const struct rch_queue *queue)
{
	if (queue_has_work(queue) || queue_may_take(queue))
		return false;
	return !(READ_ONCE(queue->flags) & RDMACHAN_RING_F_OVERFLOW) || !rch_queue_has_room(queue);
}

/** rch_queue_run - take entries and run operations that need no call, each for RCH_QUEUE_HOLD */
void rch_queue_run(struct rch_queue *queue)
{
	/* So that nobody thinks it hangs while the program waits for its own memory. */
	if (mutex_lock_interruptible(&queue->run_lock))
		return;
	queue_take_and_run(queue, false, queue->sq.count);
	mutex_unlock(&queue->run_lock);
}

/** rch_queue_abandon - the program is gone */
void rch_queue_abandon(struct rch_queue *queue)
{
	mutex_lock(&queue->run_lock);
	queue_cancel_all(queue);
	mutex_unlock(&queue->run_lock);
}

static bool queue_has_ready(const struct rch_queue *queue)
{
	return queue_has_work(queue) || queue_has_own(queue);
}

static bool queue_may_go_on(const struct rch_queue *queue, const struct rdmachan_enter_args *args)
{
	return queue_has_ready(queue) || queue_completions(queue) >= args->min_complete ||
	       (queue_left(args) && queue_may_take(queue));
}

static int queue_await(struct rch_queue *queue, struct rdmachan_enter_args *args,
		       unsigned long deadline)
{
	u64 until;
	long wait;
	int ret;

	while (queue_completions(queue) < args->min_complete) {
		/* Another thread may fill the ring faster than this one takes the entries. */
		if (signal_pending(current))
			return rch_wait_result(-ERESTARTSYS, deadline);
		until = rch_busy_until(READ_ONCE(queue->busy_us), rch_time_left(deadline));
		while (rch_busy(until))
			if (queue_may_go_on(queue, args))
				break;
		wait = rch_sleep_until(queue->wait, queue_may_go_on(queue, args),
				       rch_time_left(deadline));
		ret = rch_wait_result(wait, deadline) ?:
		      queue_submit_and_run(queue, args, deadline);
		if (ret)
			return ret;
	}
	return 0;
}

/* From here on a waker that makes an operation ready leaves it to us. */
static void queue_enter(struct rch_queue *queue)
{
	atomic_inc(&queue->entered);
}

static void queue_leave(struct rch_queue *queue)
{
	if (!atomic_dec_and_test(&queue->entered) || !queue_has_work(queue))
		return;
	spin_lock_irq(&queue->lock);
	rch_queue_kick(queue);
	spin_unlock_irq(&queue->lock);
}

/**
 * rch_queue_enter - submit, run, and wait for completions
 * @queue: queue
 * @args: checked; outputs are set in any case. As many as @out_submitted says were taken
 *	before, when the same call was interrupted
 * @deadline: how long to wait, as of rch_deadline()
 *
 * Context: process. Return: 0, -EINVAL, -EPERM, -ETIMEDOUT, -ERESTARTNOHAND or -ERESTARTSYS.
 */
int rch_queue_enter(struct rch_queue *queue, struct rdmachan_enter_args *args,
		    unsigned long deadline)
{
	int ret;

	args->out_complete = 0;
	if (current->mm != queue->mm)
		return -EPERM;
	if (args->flags & RDMACHAN_ENTER_F_WAKEUP)
		rch_poller_wake(queue->poller);
	queue_enter(queue);
	ret = queue_submit_and_run(queue, args, deadline);
	if (!ret)
		ret = queue_await(queue, args, deadline);
	queue_leave(queue);
	args->out_complete = queue_completions(queue);
	/* After a handler the program must know how many were taken. */
	return ret == -ERESTARTSYS && args->out_submitted ? -ERESTARTNOHAND : ret;
}

/** rch_queue_poll_mask - what poll() says. Any context */
__poll_t rch_queue_poll_mask(struct rch_queue *queue)
{
	if (queue_completions(queue) || READ_ONCE(queue->flags))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}
