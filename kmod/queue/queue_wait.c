// SPDX-License-Identifier: GPL-2.0
/*
 * queue_wait.c - operations that wait for their object
 *
 * One that is armed is in the wait queue of its object. Whoever wakes that takes it out, under the
 * wait queue's lock, and puts it back among those to be run, under the queue's in that. The awaited
 * event may come before it is armed: so it is looked at once more behind that.
 *
 * One that goes on when it has done a part is likely to wait for the same again, and *stays* in the
 * wait queue the first time it is woken. It need not be looked at once more: it is run after that,
 * and woken anew by what comes later.
 */
#include <linux/wait.h>

#include "queue/queue.h"

/**
 * rch_op_wake - what an operation waits for may have come
 * @wait: entry of the operation in a wait queue, which is locked
 * @mode: not used
 * @sync: not used
 * @key: events, or NULL for all
 *
 * Context: any. Return: whether it is woken.
 */
int rch_op_wake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct rch_op *op = container_of(wait, struct rch_op, wait);
	__poll_t events = key_to_poll(key);
	unsigned long flags;

	if (events && !(events & op->events))
		return 0;
	spin_lock_irqsave(&op->queue->lock, flags);
	if (!op->stays || op->woken)
		list_del_init(&wait->entry);
	op->woken = true;
	if (op->state == RCH_OP_ARMED)
		rch_op_make_ready_locked(op);
	spin_unlock_irqrestore(&op->queue->lock, flags);
	return 1;
}

/** rch_op_taken - an operation is about to be run; under the queue's lock */
void rch_op_taken(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->lock);
	if (!op->armed || !op->woken)
		return;
	/* Whoever woke it has let go of the lock, and with that of the operation. */
	op->armed = !list_empty(&op->wait.entry);
	op->woken = false;
}

/** rch_op_arm - wait for what wakes @op; it may have done so before, and is looked at again */
void rch_op_arm(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->run_lock);
	op->woken = false;
	op->armed = true;
	add_wait_queue(op->on, &op->wait);
	smp_mb(); /* pairs with the barrier of rch_chan_unclaim() */
}

/**
 * rch_op_disarm - wait for nothing any more
 * @op: operation
 *
 * After this rch_op_wake() does not run, and will not. Return: whether it still would have.
 */
bool rch_op_disarm(struct rch_op *op)
{
	bool listed;

	if (!op->armed)
		return false;
	spin_lock_irq(&op->on->lock);
	listed = !list_empty(&op->wait.entry);
	list_del_init(&op->wait.entry);
	spin_unlock_irq(&op->on->lock);
	op->armed = false;
	return listed;
}

/**
 * rch_queue_await - an operation that is run, or stopped, waits for something else from now on
 * @op: operation
 * @on: what wakes it, until the next such call, or its end
 * @events: by what of it
 */
void rch_queue_await(struct rch_op *op, wait_queue_head_t *on, __poll_t events)
{
	bool listed;

	lockdep_assert_held(&op->queue->run_lock);
	listed = rch_op_disarm(op);
	op->on = on;
	op->events = events;
	/* Else queue_run_op() will, or it was woken and is run again. */
	if (listed)
		rch_op_arm(op);
}

/** rch_op_suspend - nothing is to be done until @op is woken, or was since it was armed */
void rch_op_suspend(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->run_lock);
	spin_lock_irq(&op->queue->lock);
	if (op->woken)
		rch_op_make_ready_locked(op);
	else
		op->state = RCH_OP_ARMED;
	spin_unlock_irq(&op->queue->lock);
}

/** rch_op_call_up - the turn of one has come that may wait for something ahead of it */
void rch_op_call_up(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->run_lock);
	rch_op_disarm(op);
	spin_lock_irq(&op->queue->lock);
	if (op->state == RCH_OP_ARMED)
		rch_op_make_ready_locked(op);
	spin_unlock_irq(&op->queue->lock);
}
