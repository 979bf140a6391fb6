/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.h - queues: rings of operations on many objects
 *
 * Lifetime. A queue belongs to its file, whose release ends it; nothing else refers to
 * it. An operation holds the *file* of its channel or listener, which so stays open until
 * the operation has completed. No channel or listener holds a queue, and a queue is not
 * an object that operations work on: there are no cycles.
 *
 * Locks, outermost first: @run_lock, which who takes entries or runs operations holds,
 * also while it touches the program's memory, but in rch_queue_wq only with faults
 * disabled; then the locks of channels and listeners, their wait queues; then @lock,
 * taken by their wake-ups in any context; then @wait.
 */
#ifndef _RCH_QUEUE_H
#define _RCH_QUEUE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "quota.h"

struct file;
struct mm_struct;
struct net;
struct rch_link;
struct rch_queue;

/**
 * enum rch_op_state - where an operation is
 * @RCH_OP_FREE: nowhere
 * @RCH_OP_HELD: behind another one of its chain, of its line, or behind a DRAIN
 * @RCH_OP_READY: to be run
 * @RCH_OP_RUNNING: being run
 * @RCH_OP_ARMED: waits for its object
 * @RCH_OP_DONE: has completed, and waits for room in the ring
 */
enum rch_op_state {
	RCH_OP_FREE,
	RCH_OP_HELD,
	RCH_OP_READY,
	RCH_OP_RUNNING,
	RCH_OP_ARMED,
	RCH_OP_DONE,
};

/**
 * struct rch_op - an operation; all but where told otherwise protected by @run_lock
 * @queue: its queue; immutable
 * @sqe: the entry, a copy
 * @cqe: its completion
 * @error: why it must not be run, an errno below 0; or 0
 * @all: in the queue's list of those under way, in order of submission; one that is over
 *	at once never is
 * @list: in one of the queue's lists; when READY or ARMED, by the queue's lock
 * @line: others of the same line, in order
 * @node: the first of a line: in the queue's table
 * @key: of its line; 0 is none
 * @next: in its chain, or of those that are free
 * @prev: in its chain
 * @state: READY and ARMED by the queue's lock
 * @lined: it is in its line
 * @begun: it counts as active
 * @own: it can be run in a call of the program only
 * @armed: @wait may be in @on
 * @woken: @on was woken since; by the queue's lock
 * @wait: in @on
 * @on: what wakes it; set by prepare() or run()
 * @events: by what of it
 * @file: its object's file, referenced; or NULL
 * @object: what it works on
 * @data: belongs to its kind; freed by kfree()
 */
struct rch_op {
	struct rch_queue *queue;
	struct rdmachan_sqe sqe;
	struct rdmachan_cqe cqe;
	int error;
	struct list_head all;
	struct list_head list;
	struct list_head line;
	struct hlist_node node;
	unsigned long key;
	struct rch_op *next;
	struct rch_op *prev;
	enum rch_op_state state;
	bool lined;
	bool begun;
	bool own;
	bool armed;
	bool woken;
	wait_queue_entry_t wait;
	wait_queue_head_t *on;
	__poll_t events;
	struct file *file;
	void *object;
	void *data;
};

/**
 * struct rch_queue_ops - the operations; set by the layer above
 * @prepare: look at the entry and find its object. Return: 0, or why it fails
 * @run: do it, without waiting. Return: its result; -EAGAIN to be run again when woken;
 *	-EFAULT in rch_queue_wq: to be run in a call of the program
 * @drop: it is over: give back what @prepare and @run have got
 * @flush: nothing is to be run at the moment: what was put off goes out
 */
struct rch_queue_ops {
	int (*prepare)(struct rch_op *op);
	s64 (*run)(struct rch_op *op);
	void (*drop)(struct rch_op *op);
	void (*flush)(struct rch_queue *queue);
};

/**
 * struct rch_mapping - memory that is mapped into the program; what is in it may change
 *	at any time
 * @base: where it is in the kernel
 * @pages: its pages
 * @npages: how many
 * @count: entries of the ring
 */
struct rch_mapping {
	void *base;
	struct page **pages;
	unsigned int npages;
	u32 count;
};

/**
 * struct rch_queue - a queue
 * @ops: the operations; immutable
 * @net: network namespace, for channels that it connects; referenced
 * @charge: its share of the limits, and whose channels it connects are
 * @mm: memory of the program; held, not used
 * @sq: submission ring
 * @cq: completion ring
 * @slots: operations, as many as the completion ring has entries; immutable
 * @lines: table of the first operation of each line; by @run_lock
 * @line_bits: its size; immutable
 * @run_lock: who takes entries, or runs operations
 * @sq_head: next entry that is taken; by @run_lock
 * @cq_tail: next entry that is filled in; written by @run_lock
 * @free: operations, by @next; by @run_lock
 * @all: those under way; by @run_lock
 * @deferred: first ones of chains that may not begin yet; by @run_lock
 * @done: those that wait for room in the ring; by @run_lock
 * @overflows: completions that had to; by @run_lock
 * @follower: is to be run next, as the one before it in its line is over; or NULL; by
 *	@run_lock
 * @active: operations that have begun; by @run_lock
 * @barrier: the last that began has DRAIN; by @run_lock
 * @unsent: link in whose open frame messages may wait for @ops->flush, referenced; by
 *	@run_lock
 * @wait: woken when something is to be run, or there are completions
 * @work: runs operations when nobody is in a call
 * @lock: protects all that follows; any context
 * @ready: to be run
 * @own: the same, in a call of the program only
 * @running: somebody runs what is ready, and will look again
 * @entered: calls of programs under way
 * @closed: there is no file any more
 * @flags: &enum rdmachan_ring_flags
 */
struct rch_queue {
	const struct rch_queue_ops *ops;
	struct net *net;
	struct rch_charge charge;
	struct mm_struct *mm;
	struct rch_mapping sq;
	struct rch_mapping cq;
	struct rch_op *slots;
	struct hlist_head *lines;
	unsigned int line_bits;

	struct mutex run_lock;
	u32 sq_head;
	u32 cq_tail;
	struct rch_op *free;
	struct list_head all;
	struct list_head deferred;
	struct list_head done;
	u32 overflows;
	struct rch_op *follower;
	u32 active;
	bool barrier;
	struct rch_link *unsent;

	wait_queue_head_t wait;
	struct work_struct work;
	spinlock_t lock;
	struct list_head ready;
	struct list_head own;
	bool running;
	unsigned int entered;
	bool closed;
	u32 flags;
};

/* Process context */
struct rch_queue *rch_queue_create(struct net *net, const struct rch_charge *owner,
				   const struct rch_queue_ops *ops, u32 sq_entries,
				   u32 cq_entries, struct rdmachan_error *error);
void rch_queue_destroy(struct rch_queue *queue);
int rch_queue_enter(struct rch_queue *queue, struct rdmachan_enter *enter);
void rch_queue_tell(const struct rch_queue *queue, struct rdmachan_ring *sq,
		    struct rdmachan_ring *cq);
const struct rch_mapping *rch_queue_mapping(const struct rch_queue *queue, u64 offset);
__poll_t rch_queue_poll_mask(struct rch_queue *queue);

/* For operations: under @run_lock */
u32 rch_queue_cancel(struct rch_queue *queue, const struct rch_op *by);

#endif /* _RCH_QUEUE_H */
