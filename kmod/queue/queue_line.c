// SPDX-License-Identifier: GPL-2.0
/*
 * queue_line.c - lines of a queue: the order of operations
 *
 * A line is all places with one key, in the order in which they were taken. The queue's table has
 * the first of each, and that one heads the list of the others. An operation has two places, in a
 * line and among accesses: the first in the line is run, and those behind it are held.
 */
#include <linux/hash.h>

#include "queue/queue.h"

static struct hlist_head *queue_line_head(struct rch_queue *queue, unsigned long key)
{
	return &queue->lines[hash_long(key, queue->line_bits)];
}

static struct rch_line *queue_line_first_of(struct rch_queue *queue, unsigned long key)
{
	struct rch_line *first;

	lockdep_assert_held(&queue->run_lock);
	hlist_for_each_entry(first, queue_line_head(queue, key), node)
		if (first->key == key)
			return first;
	return NULL;
}

/** rch_line_taken - whether there are places in the line with that key */
bool rch_line_taken(struct rch_queue *queue, unsigned long key)
{
	return queue_line_first_of(queue, key);
}

/** rch_line_behind - who is behind @line; or NULL */
struct rch_line *rch_line_behind(struct rch_queue *queue, struct rch_line *line)
{
	struct rch_line *behind;

	lockdep_assert_held(&queue->run_lock);
	if (!line->in)
		return NULL;
	behind = list_next_entry(line, others);
	return hlist_unhashed(&behind->node) ? behind : NULL;
}

/** rch_line_before - who is before @line; or NULL */
struct rch_line *rch_line_before(struct rch_queue *queue, struct rch_line *line)
{
	lockdep_assert_held(&queue->run_lock);
	if (!line->in || !hlist_unhashed(&line->node))
		return NULL;
	return list_prev_entry(line, others);
}

/** rch_line_join - rch_line_enter() of one that has a key, and no place. Return: as there */
bool rch_line_join(struct rch_queue *queue, struct rch_line *line)
{
	struct rch_line *first;

	line->in = true;
	first = queue_line_first_of(queue, line->key);
	if (first)
		list_add_tail(&line->others, &first->others);
	else
		hlist_add_head(&line->node, queue_line_head(queue, line->key));
	return !first;
}

/** rch_line_leave - give it up. Return: the operation that is first instead of it; or NULL */
struct rch_line *rch_line_leave(struct rch_queue *queue, struct rch_line *line)
{
	struct rch_line *next = NULL;

	if (!line->in)
		return NULL;
	line->in = false;
	if (!hlist_unhashed(&line->node)) {
		hlist_del_init(&line->node);
		if (!list_empty(&line->others)) {
			next = list_next_entry(line, others);
			hlist_add_head(&next->node, queue_line_head(queue, next->key));
		}
	}
	list_del_init(&line->others);
	return next;
}

/** rch_op_line_enter - take the operation's place in its line. Return: whether it is the first */
bool rch_op_line_enter(struct rch_op *op)
{
	if (rch_line_enter(op->queue, &op->line))
		return true;
	op->state = RCH_OP_HELD;
	return false;
}

/** rch_op_line_leave - give it up: the next one is run */
void rch_op_line_leave(struct rch_op *op)
{
	struct rch_line *line = rch_line_leave(op->queue, &op->line);
	struct rch_op *next = container_of(line, struct rch_op, line);

	/* One that has its place already, and follows another of its chain, is begun with that. */
	if (!line || next->prev)
		return;
	if (READ_ONCE(next->state) != RCH_OP_HELD)
		rch_op_call_up(next);
	else if (op->queue->follower || next->own)
		rch_op_make_ready(next);
	else
		op->queue->follower = next;
}

/** rch_queue_line_leave - an operation goes on, and those behind it need not wait for it */
void rch_queue_line_leave(struct rch_op *op)
{
	lockdep_assert_held(&op->queue->run_lock);
	rch_op_line_leave(op);
	op->line.key = 0;
}

/** rch_op_fence_enter - take the access's place. Return: whether it need not wait for others */
bool rch_op_fence_enter(struct rch_op *op)
{
	bool first = rch_line_enter(op->queue, &op->fence);

	op->fenced = !first && (op->sqe.flags & RDMACHAN_SQE_F_FENCE);
	if (op->fenced)
		op->state = RCH_OP_HELD;
	return !op->fenced;
}

/** rch_op_fence_leave - give it up: the next one is run, if it has waited for that */
void rch_op_fence_leave(struct rch_op *op)
{
	struct rch_line *line = rch_line_leave(op->queue, &op->fence);
	struct rch_op *next = container_of(line, struct rch_op, fence);

	if (!line || !next->fenced)
		return;
	next->fenced = false;
	rch_op_make_ready(next);
}

/**
 * rch_queue_line_change - an operation goes on in another line, and those behind it without it
 * @op: operation that is run, and has no other before it in its line
 * @key: of the line that it enters, at its end
 *
 * Return: whether it is the first there; else run() returns RCH_RUN_BEHIND.
 */
bool rch_queue_line_change(struct rch_op *op, unsigned long key)
{
	lockdep_assert_held(&op->queue->run_lock);
	rch_op_fence_leave(op);
	op->fence.key = 0;
	rch_op_line_leave(op);
	op->line.key = key;
	return rch_op_line_enter(op);
}
