// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - queues: rings of operations on many objects
 *
 * Operation. A call of ENTER takes entries, copies each before it looks at it, and runs
 * the operations one by one, none of which waits. One whose object is not ready is armed:
 * it is in the object's wait queue, and whoever wakes that puts it back among those to be
 * run. They are run by who is in ENTER, or, when nobody is, by a work item that borrows
 * the program's memory. That never waits for the program's memory to come: it runs with
 * page faults disabled, and leaves what then fails, and what makes file descriptors, to
 * ENTER, which the ring's flags and poll() ask for. So no program can hold up a work item.
 *
 * Order. Operations of one object and direction are a *line*: only its first is run. An
 * entry with LINK and those after it are a *chain*: only its first begins. Chains wait
 * in the queue's deferred list while there is a DRAIN that forbids them to begin.
 *
 * Buffer ownership. As many operations as the completion ring has entries are made with
 * the queue. One is taken for each entry and is free again when its completion is in the
 * ring: when that is full, it keeps the completion until there is room. So a completion
 * is never lost, and there can be no more than twice the ring.
 *
 * Error handling. What is wrong with an entry is its completion's to tell. The program
 * can write anything into the rings: its indices are only compared with ours, see
 * pure/ring.h, and nothing that was written there is read back.
 */
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>

#include "chan.h"
#include "inject.h"
#include "pure/ring.h"
#include "queue.h"
#include "rch.h"

/* Offsets for mmap(); far enough from each other, and small enough for 32-bit programs. */
#define SQ_OFFSET 0
#define CQ_OFFSET 0x10000000

/* Indices and flags */

static u32 *mapped(const struct rch_mapping *map, u32 offset)
{
	return map->base + offset;
}

/* An entry of the submission ring; the program may be writing to it. */
static void fetch(const struct rch_queue *queue, struct rdmachan_sqe *to)
{
	const u64 *from = queue->sq.base + rch_ring_place(queue->sq_head, queue->sq.count,
							  sizeof(*to));
	u64 *word = (u64 *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(u64); i++)
		word[i] = READ_ONCE(from[i]);
}

static void set_flags(struct rch_queue *queue, u32 clear, u32 set)
{
	lockdep_assert_held(&queue->lock);
	WRITE_ONCE(queue->flags, (queue->flags & ~clear) | set);
	WRITE_ONCE(*mapped(&queue->cq, RCH_RING_FLAGS), queue->flags);
}

/* Completions in the ring; all of it when the program's index cannot be. */
static u32 completions(const struct rch_queue *queue)
{
	u32 consumer = READ_ONCE(*mapped(&queue->cq, RCH_RING_CONSUMER));
	u32 producer = READ_ONCE(queue->cq_tail);

	if (!rch_ring_agree(producer, consumer, queue->cq.count))
		return queue->cq.count;
	return rch_ring_filled(producer, consumer, queue->cq.count);
}

/* Those to be run */

static void make_ready(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->lock);
	op->state = RCH_OP_READY;
	list_add_tail(&op->list, op->own ? &queue->own : &queue->ready);
	if (op->own)
		set_flags(queue, 0, RDMACHAN_RING_F_ENTER);
	if (op->own || (queue->entered && !queue->running))
		wake_up_interruptible_poll(&queue->wait, EPOLLIN | EPOLLRDNORM);
	else if (!queue->running && !queue->closed)
		queue_work(rch_queue_wq, &queue->work);
}

static void make_ready_unlocked(struct rch_op *op)
{
	spin_lock_irq(&op->queue->lock);
	make_ready(op);
	spin_unlock_irq(&op->queue->lock);
}

static void unlist(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->lock);
	list_del_init(&op->list);
	if (op->own && list_empty(&queue->own))
		set_flags(queue, RDMACHAN_RING_F_ENTER, 0);
}

static struct rch_op *take_ready(struct rch_queue *queue, bool own)
{
	struct rch_op *op;

	spin_lock_irq(&queue->lock);
	op = list_first_entry_or_null(&queue->ready, struct rch_op, list);
	if (!op && own)
		op = list_first_entry_or_null(&queue->own, struct rch_op, list);
	queue->running = op;
	if (op) {
		unlist(op);
		op->state = RCH_OP_RUNNING;
		/* Whoever woke it has let go of the lock, and with that of the operation. */
		op->armed &= !op->woken;
	}
	spin_unlock_irq(&queue->lock);
	return op;
}

/* Waiting for an object */

static int op_wake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct rch_op *op = container_of(wait, struct rch_op, wait);
	__poll_t events = key_to_poll(key);
	unsigned long flags;

	if (events && !(events & op->events))
		return 0;
	spin_lock_irqsave(&op->queue->lock, flags);
	list_del_init(&wait->entry);
	op->woken = true;
	if (op->state == RCH_OP_ARMED)
		make_ready(op);
	spin_unlock_irqrestore(&op->queue->lock, flags);
	return 1;
}

static void arm(struct rch_op *op)
{
	op->woken = false;
	op->armed = true;
	add_wait_queue(op->on, &op->wait);
	smp_mb(); /* pairs with the barrier of rch_chan_unclaim() */
}

/* After this op_wake() does not run, and will not. */
static void disarm(struct rch_op *op)
{
	if (!op->armed)
		return;
	spin_lock_irq(&op->on->lock);
	list_del_init(&op->wait.entry);
	spin_unlock_irq(&op->on->lock);
	op->armed = false;
}

static void suspend(struct rch_op *op)
{
	spin_lock_irq(&op->queue->lock);
	if (op->woken)
		make_ready(op);
	else
		op->state = RCH_OP_ARMED;
	spin_unlock_irq(&op->queue->lock);
}

/* Lines */

static struct hlist_head *line_head(struct rch_queue *queue, unsigned long key)
{
	return &queue->lines[hash_long(key, queue->line_bits)];
}

static struct rch_op *line_first(struct rch_queue *queue, unsigned long key)
{
	struct rch_op *first;

	hlist_for_each_entry(first, line_head(queue, key), node)
		if (first->key == key)
			return first;
	return NULL;
}

/* Return: whether it is the first. */
static bool line_enter(struct rch_op *op)
{
	struct rch_op *first;

	if (!op->key || op->lined)
		return true;
	op->lined = true;
	first = line_first(op->queue, op->key);
	if (first) {
		list_add_tail(&op->line, &first->line);
		op->state = RCH_OP_HELD;
		return false;
	}
	hlist_add_head(&op->node, line_head(op->queue, op->key));
	return true;
}

static void line_leave(struct rch_op *op)
{
	struct rch_op *next;

	if (!op->lined)
		return;
	op->lined = false;
	if (hlist_unhashed(&op->node)) {
		list_del_init(&op->line);
		return;
	}
	hlist_del_init(&op->node);
	if (list_empty(&op->line))
		return;
	next = list_next_entry(op, line);
	list_del_init(&op->line);
	hlist_add_head(&next->node, line_head(op->queue, next->key));
	if (op->queue->follower || next->own)
		make_ready_unlocked(next);
	else
		op->queue->follower = next;
}

/* Completions */

static void op_free(struct rch_op *op)
{
	op->state = RCH_OP_FREE;
	op->next = op->queue->free;
	op->queue->free = op;
}

static void put_completion(struct rch_queue *queue, const struct rdmachan_cqe *cqe)
{
	void *place = queue->cq.base + rch_ring_place(queue->cq_tail, queue->cq.count,
						      sizeof(*cqe));

	memcpy(place, cqe, sizeof(*cqe));
	WRITE_ONCE(queue->cq_tail, queue->cq_tail + 1);
	/* The program's load of the index, with acquire, finds the entry. */
	smp_store_release(mapped(&queue->cq, RCH_RING_PRODUCER), queue->cq_tail);
}

static bool has_room(const struct rch_queue *queue)
{
	/* The program has read the entry that will be written over. */
	u32 consumer = smp_load_acquire(mapped(&queue->cq, RCH_RING_CONSUMER));

	return rch_ring_room(queue->cq_tail, consumer, queue->cq.count);
}

static void tell_of_completions(struct rch_queue *queue)
{
	if (wq_has_sleeper(&queue->wait))
		wake_up_interruptible_poll(&queue->wait, EPOLLIN | EPOLLRDNORM);
}

/* Move completions into the ring while there is room. */
static void flush_done(struct rch_queue *queue)
{
	bool moved = false;
	struct rch_op *op;

	lockdep_assert_held(&queue->run_lock);
	if (likely(list_empty(&queue->done) &&
		   !(READ_ONCE(queue->flags) & RDMACHAN_RING_F_OVERFLOW)))
		return;
	while (!list_empty(&queue->done) && has_room(queue)) {
		op = list_first_entry(&queue->done, struct rch_op, list);
		put_completion(queue, &op->cqe);
		list_del_init(&op->list);
		op_free(op);
		moved = true;
	}
	if (list_empty(&queue->done) == !(READ_ONCE(queue->flags) & RDMACHAN_RING_F_OVERFLOW))
		goto out;
	spin_lock_irq(&queue->lock);
	if (list_empty(&queue->done))
		set_flags(queue, RDMACHAN_RING_F_OVERFLOW, 0);
	else
		set_flags(queue, 0, RDMACHAN_RING_F_OVERFLOW);
	spin_unlock_irq(&queue->lock);
out:
	if (moved)
		tell_of_completions(queue);
}

static void post(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	op->state = RCH_OP_DONE;
	if (op->cqe.res >= 0 && (op->sqe.flags & RDMACHAN_SQE_F_SKIP_SUCCESS)) {
		op_free(op);
		return;
	}
	if (list_empty(&queue->done) && has_room(queue)) {
		put_completion(queue, &op->cqe);
		op_free(op);
		tell_of_completions(queue);
		return;
	}
	list_add_tail(&op->list, &queue->done);
	flush_done(queue);
	if (op->state != RCH_OP_DONE)
		return;
	WRITE_ONCE(*mapped(&queue->cq, RCH_RING_OVERFLOW), ++queue->overflows);
}

/* It is over; nothing refers to it but its completion. */
static void finish(struct rch_op *op, s64 res)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->run_lock);
	disarm(op);
	/* Whoever might have put it into a list has been kept from it just now. */
	if (!list_empty(&op->list)) {
		spin_lock_irq(&queue->lock);
		unlist(op);
		spin_unlock_irq(&queue->lock);
	}
	if (!list_empty(&op->all))
		list_del_init(&op->all);
	line_leave(op);
	if (queue->follower == op)
		queue->follower = NULL;
	if (op->prev)
		op->prev->next = NULL;
	queue->ops->drop(op);
	if (op->begun && !--queue->active)
		queue->barrier = false;
	op->cqe.user_data = op->sqe.user_data;
	op->cqe.res = res;
	post(op);
}

/* Beginning, running, completing */

static bool may_begin(const struct rch_queue *queue, const struct rch_op *op)
{
	if (!queue->active)
		return true;
	return !queue->barrier && !(op->sqe.flags & RDMACHAN_SQE_F_DRAIN);
}

/* The chain that begins with @op. */
static void begin(struct rch_queue *queue, struct rch_op *op)
{
	struct rch_op *each;

	for (each = op; each; each = each->next) {
		each->begun = true;
		queue->active++;
	}
	if (op->sqe.flags & RDMACHAN_SQE_F_DRAIN)
		queue->barrier = true;
	make_ready_unlocked(op);
}

static void begin_deferred(struct rch_queue *queue)
{
	struct rch_op *op;

	while (!list_empty(&queue->deferred)) {
		op = list_first_entry(&queue->deferred, struct rch_op, list);
		if (!may_begin(queue, op))
			break;
		list_del_init(&op->list);
		begin(queue, op);
	}
}

static void complete_op(struct rch_op *op, s64 res)
{
	struct rch_queue *queue = op->queue;
	struct rch_op *next = op->next;

	finish(op, res);
	if (next) {
		next->prev = NULL;
		if (res >= 0) {
			make_ready_unlocked(next);
			return;
		}
	}
	for (op = next; op; op = next) {
		next = op->next;
		finish(op, -ECANCELED);
	}
	begin_deferred(queue);
}

/* It was run, with result @res. */
static void was_run(struct rch_op *op, s64 res, bool own)
{
	if (res == -EAGAIN) {
		/* It may have become ready before it was armed. */
		arm(op);
		res = op->queue->ops->run(op);
		if (res == -EAGAIN) {
			suspend(op);
			return;
		}
	}
	if (res == -EFAULT && !own && !op->error) {
		disarm(op);
		op->own = true;
		make_ready_unlocked(op);
		return;
	}
	complete_op(op, res);
}

static void run_op(struct rch_op *op, bool own)
{
	s64 res = op->error;

	if (!res && !line_enter(op))
		return;
	if (!res)
		res = op->queue->ops->run(op);
	was_run(op, res, own);
}

static void track(struct rch_op *op)
{
	list_add_tail(&op->all, &op->queue->all);
}

/*
 * Begin an operation that nothing keeps from it. Most are over at once: such a one enters
 * neither its line nor any list.
 */
static void run_now(struct rch_queue *queue, struct rch_op *op)
{
	s64 res = op->error;

	op->begun = true;
	queue->active++;
	op->state = RCH_OP_RUNNING;
	if (!res && op->key && line_first(queue, op->key)) {
		track(op);
		line_enter(op);
		return;
	}
	if (!res)
		res = queue->ops->run(op);
	if (res == -EAGAIN) {
		track(op);
		line_enter(op);
	}
	was_run(op, res, true);
}

/* Others shall run what is left. */
static void stop_running(struct rch_queue *queue)
{
	struct rch_op *op = queue->follower;

	queue->follower = NULL;
	spin_lock_irq(&queue->lock);
	if (op)
		make_ready(op);
	queue->running = false;
	if (!queue->entered && !list_empty(&queue->ready))
		queue_work(rch_queue_wq, &queue->work);
	spin_unlock_irq(&queue->lock);
}

static struct rch_op *take_next(struct rch_queue *queue, bool own)
{
	struct rch_op *op = queue->follower;

	if (!op)
		return take_ready(queue, own);
	queue->follower = NULL;
	op->state = RCH_OP_RUNNING;
	return op;
}

/* Run all that is to be run. @own: this is a call of the program. */
static void run_ready(struct rch_queue *queue, bool own)
{
	/* All operations have had their turn by then, and those behind them; if something
	 * is left, it is because others go on waking it for nothing.
	 */
	u32 turns = 4 * queue->cq.count;
	struct rch_op *op;

	lockdep_assert_held(&queue->run_lock);
	while ((op = take_next(queue, own))) {
		run_op(op, own);
		cond_resched();
		if (!--turns) {
			stop_running(queue);
			break;
		}
	}
}

static void cancel_all(struct rch_queue *queue)
{
	while (!list_empty(&queue->all))
		complete_op(list_first_entry(&queue->all, struct rch_op, all), -ECANCELED);
}

static void queue_work_run(struct work_struct *work)
{
	struct rch_queue *queue = container_of(work, struct rch_queue, work);

	/* Who has it will look for what is ready once more: see leave(). */
	if (!mutex_trylock(&queue->run_lock))
		return;
	if (mmget_not_zero(queue->mm)) {
		kthread_use_mm(queue->mm);
		pagefault_disable();
		run_ready(queue, false);
		queue->ops->flush(queue);
		pagefault_enable();
		kthread_unuse_mm(queue->mm);
		mutex_unlock(&queue->run_lock);
		mmput(queue->mm);
	} else {
		cancel_all(queue);
		mutex_unlock(&queue->run_lock);
	}
}

/**
 * rch_queue_cancel - cancel what a CANCEL names
 * @queue: queue
 * @by: the CANCEL
 *
 * Return: how many.
 */
u32 rch_queue_cancel(struct rch_queue *queue, const struct rch_op *by)
{
	bool all = by->sqe.op_flags & RDMACHAN_CANCEL_F_ALL;
	struct rch_op *op, *last, *after;
	u32 count = 0;

	lockdep_assert_held(&queue->run_lock);
	list_for_each_entry_safe(op, after, &queue->all, all) {
		if (op == by || op->sqe.user_data != by->sqe.target)
			continue;
		/* The rest of its chain follows it here, and goes with it. */
		for (last = op; last->next; last = last->next)
			;
		after = list_next_entry(last, all);
		complete_op(op, -ECANCELED);
		count++;
		if (!all)
			break;
		cond_resched();
	}
	return count;
}

/* ENTER */

static struct rch_op *op_take(struct rch_queue *queue)
{
	struct rch_op *op = queue->free;

	if (!op)
		return NULL;
	queue->free = op->next;
	op->state = RCH_OP_HELD;
	op->error = 0;
	op->key = 0;
	op->next = NULL;
	op->prev = NULL;
	op->begun = false;
	op->own = false;
	op->file = NULL;
	op->object = NULL;
	op->data = NULL;
	memset(&op->cqe, 0, sizeof(op->cqe));
	return op;
}

/* Neither part of a chain nor a barrier. */
static bool alone(const struct rch_op *op)
{
	return !op->next && !(op->sqe.flags & RDMACHAN_SQE_F_DRAIN);
}

/* The chain that begins with @first. */
static void admit(struct rch_queue *queue, struct rch_op *first)
{
	struct rch_op *op;

	if (alone(first) && list_empty(&queue->deferred) && may_begin(queue, first)) {
		run_now(queue, first);
		return;
	}
	for (op = first; op; op = op->next)
		track(op);
	if (alone(first) && first->sqe.opcode == RDMACHAN_OPCODE_CANCEL) {
		begin(queue, first);
		return;
	}
	list_add_tail(&first->list, &queue->deferred);
	begin_deferred(queue);
}

/* Take entries, and run those that can be run at once. Return: how many, or -EINVAL when the
 * program's index cannot be.
 */
static int submit(struct rch_queue *queue, u32 max)
{
	struct rch_op *op, *first = NULL, *last = NULL;
	u32 producer, n, taken;

	/* The entries before this index are written. */
	producer = smp_load_acquire(mapped(&queue->sq, RCH_RING_PRODUCER));
	if (!rch_ring_agree(producer, queue->sq_head, queue->sq.count))
		return -EINVAL;
	n = min(max, rch_ring_filled(producer, queue->sq_head, queue->sq.count));
	for (taken = 0; taken < n && (op = op_take(queue)); taken++) {
		fetch(queue, &op->sqe);
		queue->sq_head++;
		op->error = queue->ops->prepare(op);
		if (last) {
			last->next = op;
			op->prev = last;
			if (!op->error && (op->sqe.flags & RDMACHAN_SQE_F_DRAIN))
				op->error = -EINVAL;
		} else {
			first = op;
		}
		last = op;
		if (op->sqe.flags & RDMACHAN_SQE_F_LINK)
			continue;
		admit(queue, first);
		last = NULL;
	}
	if (last)
		admit(queue, first);
	/* All that was read of the entries was read before the program writes there. */
	smp_store_release(mapped(&queue->sq, RCH_RING_CONSUMER), queue->sq_head);
	return taken;
}

static void run_and_flush(struct rch_queue *queue)
{
	run_ready(queue, true);
	queue->ops->flush(queue);
}

/*
 * Between this and leave() whoever makes something ready leaves it to us, and while it is
 * running does not even wake us.
 */
static void enter(struct rch_queue *queue)
{
	spin_lock_irq(&queue->lock);
	queue->entered++;
	queue->running = true;
	spin_unlock_irq(&queue->lock);
}

static void leave(struct rch_queue *queue)
{
	spin_lock_irq(&queue->lock);
	if (!--queue->entered && !list_empty(&queue->ready))
		queue_work(rch_queue_wq, &queue->work);
	spin_unlock_irq(&queue->lock);
}

/* After this leave() is due, unless it returns -ERESTARTSYS. */
static int submit_and_run(struct rch_queue *queue, struct rdmachan_enter *args)
{
	int ret = 0;

	if (mutex_lock_interruptible(&queue->run_lock))
		return -ERESTARTSYS;
	enter(queue);
	/* What waits for room may be what keeps entries from being taken. */
	flush_done(queue);
	if (args->to_submit)
		ret = submit(queue, args->to_submit);
	if (ret > 0)
		args->out_submitted = ret;
	run_and_flush(queue);
	mutex_unlock(&queue->run_lock);
	return min(ret, 0);
}

static int run_again(struct rch_queue *queue)
{
	if (mutex_lock_interruptible(&queue->run_lock))
		return -ERESTARTSYS;
	flush_done(queue);
	run_and_flush(queue);
	mutex_unlock(&queue->run_lock);
	return 0;
}

static bool has_ready(const struct rch_queue *queue)
{
	return !list_empty_careful(&queue->ready) || !list_empty_careful(&queue->own);
}

static int await(struct rch_queue *queue, u32 min, unsigned long deadline)
{
	long wait;
	int ret;

	while (completions(queue) < min) {
		wait = wait_event_interruptible_timeout(queue->wait,
							has_ready(queue) ||
							completions(queue) >= min,
							rch_time_left(deadline));
		ret = rch_wait_result(wait, deadline) ?: run_again(queue);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rch_queue_enter - submit, run, and wait for completions
 * @queue: queue
 * @args: checked; outputs are set in any case
 *
 * Context: process. Return: 0, -EINVAL, -EPERM, -ETIMEDOUT, -EINTR or -ERESTARTSYS.
 */
int rch_queue_enter(struct rch_queue *queue, struct rdmachan_enter *args)
{
	unsigned long deadline = rch_deadline(args->timeout_ms);
	int ret;

	args->out_submitted = 0;
	args->out_complete = 0;
	if (current->mm != queue->mm)
		return -EPERM;
	ret = submit_and_run(queue, args);
	if (ret == -ERESTARTSYS)
		return ret;
	if (!ret)
		ret = await(queue, args->min_complete, deadline);
	leave(queue);
	args->out_complete = completions(queue);
	/* A restart would submit what comes next. */
	return ret == -ERESTARTSYS && args->out_submitted ? -EINTR : ret;
}

/** rch_queue_poll_mask - what poll() says. Any context */
__poll_t rch_queue_poll_mask(struct rch_queue *queue)
{
	if (completions(queue) || READ_ONCE(queue->flags))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

/* Life */

static void mapping_free(struct rch_mapping *map)
{
	vunmap(map->base);
	while (map->npages)
		__free_page(map->pages[--map->npages]);
	kvfree(map->pages);
}

static int mapping_alloc(struct rch_mapping *map, u32 count, u32 size)
{
	unsigned int n = PAGE_ALIGN(rch_ring_bytes(count, size)) >> PAGE_SHIFT;

	map->count = count;
	map->pages = rch_try(RCH_SITE_QUEUE,
			     kvcalloc(n, sizeof(*map->pages), GFP_KERNEL_ACCOUNT));
	if (!map->pages)
		return -ENOMEM;
	while (map->npages < n) {
		map->pages[map->npages] = rch_try(RCH_SITE_QUEUE,
						  alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO));
		if (!map->pages[map->npages])
			goto err_pages;
		map->npages++;
	}
	map->base = rch_try(RCH_SITE_QUEUE, vmap(map->pages, n, VM_MAP, PAGE_KERNEL));
	if (map->base)
		return 0;
err_pages:
	mapping_free(map);
	return -ENOMEM;
}

static int slots_alloc(struct rch_queue *queue)
{
	u32 count = queue->cq.count, i;

	queue->line_bits = max(ilog2(count), 1);
	queue->lines = rch_try(RCH_SITE_QUEUE,
			       kvcalloc(1 << queue->line_bits, sizeof(*queue->lines),
					GFP_KERNEL_ACCOUNT));
	if (!queue->lines)
		return -ENOMEM;
	queue->slots = rch_try(RCH_SITE_QUEUE, kvcalloc(count, sizeof(*queue->slots),
							GFP_KERNEL_ACCOUNT));
	if (!queue->slots) {
		kvfree(queue->lines);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		struct rch_op *op = queue->slots + i;

		op->queue = queue;
		INIT_LIST_HEAD(&op->all);
		INIT_LIST_HEAD(&op->list);
		INIT_LIST_HEAD(&op->line);
		INIT_HLIST_NODE(&op->node);
		init_waitqueue_func_entry(&op->wait, op_wake);
		INIT_LIST_HEAD(&op->wait.entry);
		op_free(op);
	}
	return 0;
}

static int charge(struct rch_queue *queue, const struct rch_charge *owner,
		  u32 sq_entries, u32 cq_entries, struct rdmachan_error *error)
{
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_QUEUES] = 1,
		.of[RDMACHAN_LIMIT_BYTES] =
			rch_ring_bytes(sq_entries, sizeof(struct rdmachan_sqe)) +
			rch_ring_bytes(cq_entries, sizeof(struct rdmachan_cqe)) +
			(u64)cq_entries * (sizeof(struct rch_op) + sizeof(*queue->lines)),
	};

	rch_charge_begin(&queue->charge, owner->user, owner->exempt);
	return rch_charge_object(&queue->charge, &cost, RDMACHAN_OP_NONE, error);
}

/**
 * rch_queue_create - make a queue for the calling program
 * @net: network namespace
 * @owner: charge of the context it comes from
 * @ops: the operations
 * @sq_entries: entries of the submission ring, checked
 * @cq_entries: of the completion ring, checked
 * @error: which limit it was, with -EMFILE, -ENOBUFS and -ENFILE
 *
 * Return: the queue, or an ERR_PTR(): -ENOMEM, -EMFILE, -ENOBUFS or -ENFILE.
 */
struct rch_queue *rch_queue_create(struct net *net, const struct rch_charge *owner,
				   const struct rch_queue_ops *ops, u32 sq_entries,
				   u32 cq_entries, struct rdmachan_error *error)
{
	struct rch_queue *queue;
	int ret;

	queue = rch_try(RCH_SITE_QUEUE, kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT));
	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->ops = ops;
	mutex_init(&queue->run_lock);
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	INIT_WORK(&queue->work, queue_work_run);
	INIT_LIST_HEAD(&queue->all);
	INIT_LIST_HEAD(&queue->deferred);
	INIT_LIST_HEAD(&queue->done);
	INIT_LIST_HEAD(&queue->ready);
	INIT_LIST_HEAD(&queue->own);
	ret = charge(queue, owner, sq_entries, cq_entries, error);
	if (ret)
		goto err_charge;
	ret = mapping_alloc(&queue->sq, sq_entries, sizeof(struct rdmachan_sqe));
	if (ret)
		goto err_charge;
	ret = mapping_alloc(&queue->cq, cq_entries, sizeof(struct rdmachan_cqe));
	if (ret)
		goto err_sq;
	ret = slots_alloc(queue);
	if (ret)
		goto err_cq;
	queue->net = get_net(net);
	queue->mm = current->mm;
	mmgrab(queue->mm);
	pr_debug("rdmachan: queue created %p\n", queue);
	return queue;

err_cq:
	mapping_free(&queue->cq);
err_sq:
	mapping_free(&queue->sq);
err_charge:
	rch_charge_end(&queue->charge);
	kfree(queue);
	return ERR_PTR(ret);
}

/**
 * rch_queue_destroy - the file is closed: operations under way end without completion
 * @queue: queue
 *
 * No call of a program runs on it. Context: process; waits for nobody.
 */
void rch_queue_destroy(struct rch_queue *queue)
{
	struct rch_op *op;

	pr_debug("rdmachan: queue destroyed %p\n", queue);
	spin_lock_irq(&queue->lock);
	queue->closed = true;
	spin_unlock_irq(&queue->lock);
	/* It does not wait either. After it nobody runs operations, but wake-ups come. */
	cancel_work_sync(&queue->work);
	list_for_each_entry(op, &queue->all, all) {
		disarm(op);
		queue->ops->drop(op);
	}
	kvfree(queue->slots);
	kvfree(queue->lines);
	mapping_free(&queue->cq);
	mapping_free(&queue->sq);
	mmdrop(queue->mm);
	put_net(queue->net);
	rch_charge_end(&queue->charge);
	kfree(queue);
}

static void tell_ring(const struct rch_mapping *map, u64 offset, u32 size,
		      struct rdmachan_ring *ring)
{
	ring->offset = offset;
	ring->length = rch_ring_bytes(map->count, size);
	ring->producer = RCH_RING_PRODUCER;
	ring->consumer = RCH_RING_CONSUMER;
	ring->flags = RCH_RING_FLAGS;
	ring->overflow = RCH_RING_OVERFLOW;
	ring->entries = RCH_RING_ENTRIES;
	ring->count = map->count;
}

/** rch_queue_tell - where the rings are, for the program */
void rch_queue_tell(const struct rch_queue *queue, struct rdmachan_ring *sq,
		    struct rdmachan_ring *cq)
{
	tell_ring(&queue->sq, SQ_OFFSET, sizeof(struct rdmachan_sqe), sq);
	tell_ring(&queue->cq, CQ_OFFSET, sizeof(struct rdmachan_cqe), cq);
}

/** rch_queue_mapping - the ring that an offset for mmap() stands for; or NULL */
const struct rch_mapping *rch_queue_mapping(const struct rch_queue *queue, u64 offset)
{
	switch (offset) {
	case SQ_OFFSET:
		return &queue->sq;
	case CQ_OFFSET:
		return &queue->cq;
	default:
		return NULL;
	}
}
