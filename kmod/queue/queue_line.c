// SPDX-License-Identifier: GPL-2.0
/*
 * queue_line.c - lines of a queue: the order of operations
 *
 * A line is all places with one key, in the order in which they were taken. The queue's table has
 * the first of each, and that one heads the list of the others. The operation that takes a place
 * knows what it means to be the first.
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
