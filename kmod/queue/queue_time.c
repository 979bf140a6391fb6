// SPDX-License-Identifier: GPL-2.0
/*
 * queue_time.c - operations that shall not wait for longer than they say
 *
 * One timer for each queue, set for the earliest end. When it goes off it only asks for
 * somebody to run operations: the runner finds those whose time is over first, one by one,
 * and has them complete like those that are cancelled. So the timer is short, however
 * many end at once, and nothing but the runner of operations ever ends one.
 *
 * An operation that has received a message begins its time anew. That is noted in it and
 * nowhere else: its old end will come, and be found to be none.
 */
#include <linux/jiffies.h>

#include "base/rch.h"
#include "queue/queue.h"

/* Ends that were found to be none, one after the other with interrupts off. */
#define MOVES_MAX 64

static u64 queue_time_end_of(const struct rch_op *op)
{
	return get_jiffies_64() + rch_timeout_jiffies(op->sqe.timeout_ms) + 1;
}

static void queue_time_is_over(struct timer_list *timer)
{
	struct rch_queue *queue = container_of(timer, struct rch_queue, timer);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	queue->due = true;
	rch_queue_kick(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/** rch_time_init - no operation has a time yet */
void rch_time_init(struct rch_queue *queue)
{
	timerqueue_init_head(&queue->times);
	timer_setup(&queue->timer, queue_time_is_over, 0);
}

/** rch_time_exit - the queue ends: the timer does not run, and will not. May sleep */
void rch_time_exit(struct rch_queue *queue)
{
	timer_shutdown_sync(&queue->timer);
}

/** rch_time_begin - @op may begin: its time counts. Under the queue's lock */
void rch_time_begin(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->lock);
	if (!op->sqe.timeout_ms)
		return;
	op->deadline = queue_time_end_of(op);
	op->time.expires = op->deadline;
	if (timerqueue_add(&queue->times, &op->time))
		mod_timer(&queue->timer, op->time.expires);
}

/** rch_time_again - @op has done a part: its time begins anew. Under run_lock */
void rch_time_again(struct rch_op *op)
{
	if (op->sqe.timeout_ms)
		op->deadline = queue_time_end_of(op);
}

/** rch_time_end - @op is over. Under the queue's lock */
void rch_time_end(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->lock);
	if (timerqueue_node_queued(&op->time))
		timerqueue_del(&op->queue->times, &op->time);
}

/**
 * rch_time_overdue - find an operation whose time is over
 * @queue: queue, which is due
 *
 * Context: under run_lock and the queue's lock.
 * Return: the operation, marked; or NULL: then the queue is not due any more, or if it still is
 * there may be others, and the caller lets go of the lock before it asks again.
 */
struct rch_op *rch_time_overdue(struct rch_queue *queue)
{
	struct timerqueue_node *node;
	u64 now = get_jiffies_64();
	struct rch_op *op;
	int moves = 0;

	lockdep_assert_held(&queue->lock);
	while ((node = timerqueue_getnext(&queue->times)) && (u64)node->expires <= now) {
		op = container_of(node, struct rch_op, time);
		timerqueue_del(&queue->times, node);
		if (op->deadline <= now) {
			op->overdue = true;
			return op;
		}
		/* It goes behind all that are over: there are fewer of these each time. */
		node->expires = op->deadline;
		timerqueue_add(&queue->times, node);
		if (++moves == MOVES_MAX)
			return NULL;
	}
	queue->due = false;
	if (node)
		mod_timer(&queue->timer, node->expires);
	return NULL;
}
