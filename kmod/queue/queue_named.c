// SPDX-License-Identifier: GPL-2.0
/*
 * queue_named.c - operations under way, by the user data that a CANCEL names
 *
 * A tree, ordered by user data, and by submission among those that have the same. The program
 * chooses the user data, and as many CANCELs as it likes: in a tree no choice makes one of them
 * look at many operations that it does not name.
 */
#include "queue/queue.h"

/* Whether @op comes before the operation that has that user data and number. */
static bool queue_named_is_before(const struct rch_op *op, u64 user_data, u64 number)
{
	if (op->sqe.user_data != user_data)
		return op->sqe.user_data < user_data;
	return op->number < number;
}

static bool queue_named_less(struct rb_node *node, const struct rb_node *other)
{
	const struct rch_op *op = rb_entry(other, struct rch_op, named);

	return queue_named_is_before(rb_entry(node, struct rch_op, named), op->sqe.user_data,
				     op->number);
}

/** rch_named_enter - a CANCEL finds @op from now on, behind all that were submitted before */
void rch_named_enter(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->run_lock);
	op->number = queue->numbers++;
	rb_add(&op->named, &queue->named, queue_named_less);
}

/** rch_named_leave - @op is over */
void rch_named_leave(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->run_lock);
	rb_erase(&op->named, &op->queue->named);
}

/**
 * rch_named_next - find an operation by its user data
 * @queue: queue
 * @user_data: what it has
 * @number: its number is at least this
 *
 * Context: under run_lock. Return: the first one submitted of them; or NULL.
 */
struct rch_op *rch_named_next(struct rch_queue *queue, u64 user_data, u64 number)
{
	struct rb_node *node = queue->named.rb_node;
	struct rch_op *op, *found = NULL;

	lockdep_assert_held(&queue->run_lock);
	while (node) {
		op = rb_entry(node, struct rch_op, named);
		if (queue_named_is_before(op, user_data, number)) {
			node = node->rb_right;
		} else {
			found = op;
			node = node->rb_left;
		}
	}
	return found && found->sqe.user_data == user_data ? found : NULL;
}
