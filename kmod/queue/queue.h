/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.h - queues: rings of operations on many objects
 *
 * Lifetime. A queue belongs to its file, whose release ends it. Besides, only LIST may
 * refer to its memory, for a moment, and a MESSAGE for it, which gives that back when its own
 * queue ends. An operation holds the *file* of its channel or
 * listener, which so stays open until the operation has completed. No channel or listener
 * holds a queue, and no operation holds the file of one: there are no cycles.
 *
 * Locks, outermost first: @run_lock. A thread that takes entries or runs operations holds it,
 * also while it touches the program's memory, but in rch_queue_wq only with faults disabled. Then
 * the locks of channels and listeners, their wait queues; then @lock, taken by their wake-ups in
 * any context; then @wait.
 */
#ifndef _RCH_QUEUE_H
#define _RCH_QUEUE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/timer.h>
#include <linux/timerqueue.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdmachan.h>

#include "base/object.h"
#include "base/quota.h"
#include "pure/ring.h"

struct file;
struct mm_struct;
struct net;
struct rch_job;
struct rch_link;
struct rch_loan;
struct rch_place;
struct rch_poller;
struct rch_queue;
struct rch_region;
struct rch_regions;
struct rch_vec;

/**
 * enum rch_op_state - where an operation is
 * @RCH_OP_FREE: nowhere
 * @RCH_OP_HELD: behind another one of its chain, of its line, or behind a DRAIN; or it
 *	waits for room in the ring
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
 * struct rch_line - a place in a line: operations in order, all with one key
 * @node: the first: in the queue's table
 * @others: of the same line
 * @key: of it; 0 is none
 * @in: the operation is in it
 */
struct rch_line {
	struct hlist_node node;
	struct list_head others;
	unsigned long key;
	bool in;
};

/**
 * struct rch_op - an operation; all but where told otherwise protected by @run_lock
 * @queue: its queue; immutable
 * @sqe: the entry, a copy
 * @cqe: its completion
 * @error: why it must not be run, an errno below 0; or 0
 * @all: in the queue's list of those under way, in order of submission; one that is over
 *	at once never is
 * @named: the same, by user data, see queue_named.c
 * @number: in order of submission, of those in @all
 * @list: in one of the queue's lists; when READY or ARMED, by the queue's lock
 * @line: only the first is run
 * @fence: accesses of a channel, all of which are run; one with FENCE is when it is the first
 * @fenced: it was not, and waits for that
 * @next: in its chain, or of those that are free
 * @prev: in its chain
 * @state: READY and ARMED by the queue's lock
 * @begun: it counts as active
 * @own: it can be run in a call of the program only
 * @late: it can be prepared in a call of the program only, and was not yet
 * @armed: @wait may be in @on; by the thread that runs operations
 * @woken: @on was woken since; by the queue's lock
 * @stays: its waker leaves @wait in @on once: it is likely to wait there again; set by prepare()
 * @wait: in @on
 * @on: what wakes it; set by prepare() or run()
 * @events: by what of it
 * @time: in the queue's @times; by the queue's lock, as the next one
 * @overdue: its time is over
 * @deadline: when that is, in jiffies of 64 bits; in @time may be an earlier one
 * @file: its object's file, referenced; or NULL
 * @object: what it works on
 * @data: belongs to its kind; freed by kfree()
 * @region: where its message lies, used; or NULL
 * @vec: the pieces of its message, see queue_op_vec.c; or NULL
 * @place: its transfer, see queue_placed.c; or NULL
 * @left: the transfer that it had when the queue was closed, referenced; or NULL
 * @message: number of its message, if that asks whether it is received; valid once @sent, or with
 *	@place
 * @sent: it was sent, and the operation waits for that
 * @early: its message was taken while the channel was being connected, and that goes on
 * @copied: its message is not placed, but copied from the program's own memory
 * @job: its access, see queue_op_access.c; or NULL
 * @notice: 1: a message is to be sent behind its access; else 0, or why it was not, an errno
 * @to: queue that it has a message for, referenced; or NULL
 * @loan: the loan that it takes back, referenced, see queue_op_grant.c; or NULL
 * @reading: it was announced to the channel by rch_chan_reading()
 * @stopped: how it ends if its transfer or access comes to nothing, an errno below 0; or 0
 */
struct rch_op {
	struct rch_queue *queue;
	struct rdmachan_sqe sqe;
	struct rdmachan_cqe cqe;
	int error;
	struct list_head all;
	struct rb_node named;
	u64 number;
	struct list_head list;
	struct rch_line line;
	struct rch_line fence;
	bool fenced;
	struct rch_op *next;
	struct rch_op *prev;
	enum rch_op_state state;
	bool begun;
	bool own;
	bool late;
	bool armed;
	bool woken;
	bool stays;
	wait_queue_entry_t wait;
	wait_queue_head_t *on;
	__poll_t events;
	struct timerqueue_node time;
	bool overdue;
	u64 deadline;
	struct file *file;
	void *object;
	void *data;
	struct rch_region *region;
	struct rch_vec *vec;
	struct rch_place *place;
	struct rch_place *left;
	u64 message;
	bool sent;
	bool early;
	bool copied;
	struct rch_job *job;
	int notice;
	struct rch_loan *loan;
	struct rch_queue *to;
	bool reading;
	int stopped;
};

/** RCH_RUN_AGAIN - run() has done a part; others first */
#define RCH_RUN_AGAIN S64_MIN
/** RCH_RUN_NO_ROOM - run() needs room for a completion */
#define RCH_RUN_NO_ROOM (S64_MIN + 1)
/** RCH_RUN_BEHIND - run() has put it into another line, where it is not the first */
#define RCH_RUN_BEHIND (S64_MIN + 2)

/** RCH_QUEUE_HOLD - how long a thread of the kernel's takes entries, or runs them, in jiffies */
#define RCH_QUEUE_HOLD 2

/**
 * struct rch_queue_ops - the operations; set by the layer above
 * @prepare: look at the entry and find its object. Return: 0, or why it fails; -EAGAIN
 *	in the poller: to be done in a call of the program
 * @run: do it, without waiting. Return: its result; -EAGAIN to be run again when woken;
 *	-EFAULT in rch_queue_wq: to be run in a call of the program; RCH_RUN_*
 * @ahead: it is not the first of its line, but behind @before: do what it can before that is
 *	over, without waiting. Return: -EAGAIN to be called again when woken; 0, nothing more; or
 *	its result
 * @row: take entries that are over at once, and need not be operations; nothing but their
 *	lines could keep them from it. Return: how many were
 * @drop: it is over: give back what @prepare and @run have got
 * @await: the queue is closed, and @drop was called: wait until no adapter uses the memory, if the
 *	program is to be told of that by close()
 * @stop: it is to be cancelled. Return: whether that is possible now; else it completes by
 *	itself. Called for what has begun
 * @flush: nothing is to be run at the moment: work that was put off goes out
 */
struct rch_queue_ops {
	int (*prepare)(struct rch_op *op);
	s64 (*run)(struct rch_op *op);
	s64 (*ahead)(struct rch_op *op, struct rch_op *before);
	u32 (*row)(struct rch_queue *queue, u32 max);
	void (*drop)(struct rch_op *op);
	void (*await)(struct rch_op *op);
	bool (*stop)(struct rch_op *op);
	void (*flush)(struct rch_queue *queue);
};

/**
 * struct rch_mapping - memory that is mapped into the program; its contents may change
 *	at any time
 * @base: where it is in the kernel
 * @pages: its pages
 * @npages: how many
 * @count: entries of the ring
 * @size: bytes of one
 * @first: its indices begin there
 */
struct rch_mapping {
	void *base;
	struct page **pages;
	unsigned int npages;
	u32 count;
	u32 size;
	u32 first;
};

/**
 * struct rch_pool - buffers to be received into, see queue_pool.c
 * @ring: of &struct rdmachan_buffer; immutable
 * @head: next buffer that is taken; by the queue's @run_lock
 */
struct rch_pool {
	struct rch_mapping ring;
	u32 head;
};

/**
 * struct rch_letter - a completion that another queue has sent, see queue_letter.c
 * @list: in @letters of the queue, or in its @arrived
 * @user_data: of the completion
 * @res: of the completion
 */
struct rch_letter {
	struct list_head list;
	u64 user_data;
	u32 res;
};

/**
 * struct rch_queue - a queue
 * @ref: references
 * @rcu: frees it
 * @object: for LIST
 * @ops: the operations; immutable
 * @net: network namespace, for channels that it connects; referenced
 * @charge: its share of the limits, and whose channels it connects are
 * @busy_us: how long ENTER looks before it sleeps, see busy.h; not under a lock
 * @mm: memory of the program; held, not used
 * @regions: regions of its context; referenced
 * @compat: the program is one of 32 bits on a kernel of 64; immutable
 * @sq: submission ring
 * @cq: completion ring
 * @slots: operations, as many as the completion ring has entries; immutable
 * @lines: table of the first place of each line; by @run_lock
 * @line_bits: its size; immutable
 * @run_lock: the thread that takes entries, or runs operations, and looks for more when it lets go:
 *	a thread that finds it taken leaves ready operations to the holder
 * @in_call: the holder of @run_lock is in a call of the program; by @run_lock
 * @run_until: when the holder leaves the rest to others, if it is in no call; by @run_lock
 * @sq_head: next entry that is taken; by @run_lock
 * @cq_tail: next entry that is filled in; by @run_lock
 * @cq_told: the program is told of those before this one; written by @run_lock
 * @free: operations, by @next; by @run_lock
 * @all: those under way; by @run_lock
 * @named: the same, by user data; by @run_lock
 * @numbers: how many have been put there; by @run_lock
 * @deferred: first ones of chains that may not begin yet; by @run_lock
 * @done: those that wait for room in the ring; by @run_lock
 * @starved: those that need such room to go on; by @run_lock
 * @arrived: letters that wait for such room, before those; by @run_lock
 * @overflows: completions that had to; by @run_lock
 * @follower: is to be run next, as the one before it in its line is over; or NULL; by
 *	@run_lock
 * @active: operations that have begun; by @run_lock
 * @under_way: operations that are not in @free; by @run_lock
 * @unfit: a chain is next that has more entries than are free; by @run_lock, and read without
 *	it by code that is told when one more is free, as @under_way and @sq_head are
 * @taken: entries taken; by @run_lock
 * @completed: completions that were put into the ring; by @run_lock
 * @barrier: the last that began has DRAIN; by @run_lock
 * @pools: pools; a place is written once
 * @pool_count: of them; by @pool_lock
 * @pool_lock: to add a pool, while operations go on; inside no lock of the queue, and none of
 *	its locks inside
 * @unsent: link in whose open frame messages may wait for @ops->flush, referenced; by
 *	@run_lock
 * @holding: operation whose transfer waits for @ops->flush too, or NULL; by @run_lock
 * @wait: woken when something is to be run, or there are completions
 * @async: the receivers of SIGIO
 * @work: runs operations when nobody is in a call, and there is no poller
 * @poller: thread that looks at the rings, or NULL; immutable
 * @timer: for the first of @times
 * @lock: protects all that follows; any context
 * @ready: to be run
 * @own: the same, in a call of the program only
 * @late: the same, of those that are to be prepared there first
 * @letters: completions that other queues have sent, and that are not in @arrived yet
 * @letter_count: of those in @letters and in @arrived
 * @times: operations with a timeout that may have begun, the earliest end first
 * @due: the time of one may be over
 * @running: a thread runs what is ready, and will look again, under @lock; written by the holder
 *	of @run_lock
 * @entered: calls of programs under way; a barrier in queue_leave() and in rch_queue_kick()
 * @closed: there is no file any more
 * @flags: &enum rdmachan_ring_flags
 */
struct rch_queue {
	struct kref ref;
	struct rcu_head rcu;
	struct rch_object object;
	const struct rch_queue_ops *ops;
	struct net *net;
	struct rch_charge charge;
	u32 busy_us;
	struct mm_struct *mm;
	struct rch_regions *regions;
	bool compat;
	struct rch_mapping sq;
	struct rch_mapping cq;
	struct rch_op *slots;
	struct hlist_head *lines;
	unsigned int line_bits;

	struct mutex run_lock;
	bool in_call;
	unsigned long run_until;
	u32 sq_head;
	u32 cq_tail;
	u32 cq_told;
	struct rch_op *free;
	struct list_head all;
	struct rb_root named;
	u64 numbers;
	struct list_head deferred;
	struct list_head done;
	struct list_head starved;
	struct list_head arrived;
	u32 overflows;
	struct rch_op *follower;
	u32 active;
	u32 under_way;
	bool unfit;
	u64 taken;
	u64 completed;
	bool barrier;
	struct rch_pool *pools[RDMACHAN_QUEUE_POOLS_MAX];
	u32 pool_count;
	struct mutex pool_lock;
	struct rch_link *unsent;
	struct rch_op *holding;

	wait_queue_head_t wait;
	struct rch_async async;
	struct work_struct work;
	struct rch_poller *poller;
	struct timer_list timer;
	spinlock_t lock;
	struct list_head ready;
	struct list_head own;
	struct list_head late;
	struct list_head letters;
	u32 letter_count;
	struct timerqueue_head times;
	bool due;
	bool running;
	atomic_t entered;
	bool closed;
	u32 flags;
};

/* queue_life.c APIs: process context */
struct rch_queue *rch_queue_create(struct net *net, const struct rch_charge *owner,
				   struct rch_regions *regions,
				   const struct rch_queue_ops *ops, u32 sq_entries,
				   u32 cq_entries, struct rdmachan_error *error);
int rch_queue_add_poller(struct rch_queue *queue, u32 idle_ms,
			 struct rdmachan_error *error);
void rch_queue_destroy(struct rch_queue *queue);
struct rch_queue *rch_queue_get(struct rch_queue *queue);
void rch_queue_put_ref(struct rch_queue *queue);
void rch_queue_tell(const struct rch_queue *queue, struct rdmachan_ring *sq,
		    struct rdmachan_ring *cq);
const struct rch_mapping *rch_queue_mapping(const struct rch_queue *queue, u64 offset);

/* queue.c APIs: process context */
int rch_queue_enter(struct rch_queue *queue, struct rdmachan_enter_args *enter,
		    unsigned long deadline);
__poll_t rch_queue_poll_mask(struct rch_queue *queue);

/* queue.c APIs for queue_done.c */
void rch_queue_set_flags(struct rch_queue *queue, u32 clear, u32 set);

/* queue.c APIs for queue_done.c and queue_line.c */
void rch_op_make_ready(struct rch_op *op);

/* queue_done.c APIs for queue.c: under @run_lock */
void rch_op_free(struct rch_op *op);
void rch_op_post(struct rch_op *op);
void rch_op_starve(struct rch_op *op);
void rch_queue_flush_some(struct rch_queue *queue);

/** rch_queue_flush_done - move completions into the ring; room that is left is for the starved */
static inline void rch_queue_flush_done(struct rch_queue *queue)
{
	if (unlikely(!list_empty(&queue->done) || !list_empty(&queue->starved) ||
		     !list_empty(&queue->arrived) ||
		     (READ_ONCE(queue->flags) & RDMACHAN_RING_F_OVERFLOW)))
		rch_queue_flush_some(queue);
}

/* queue_done.c APIs: without locks */
bool rch_queue_has_room(const struct rch_queue *queue);

/* queue_done.c APIs for operations: under @run_lock */
u32 rch_queue_room(const struct rch_queue *queue);
void rch_queue_put(struct rch_queue *queue, const struct rdmachan_cqe *cqe);
void rch_queue_more(struct rch_op *op, struct rdmachan_cqe *cqe);
void rch_queue_told(struct rch_queue *queue);

/* queue_wait.c APIs: for queue.c, queue_life.c and queue_line.c, under @run_lock */
bool rch_op_disarm(struct rch_op *op);
void rch_op_taken(struct rch_op *op);
void rch_op_arm(struct rch_op *op);
void rch_op_suspend(struct rch_op *op);
void rch_op_call_up(struct rch_op *op);

/* queue_wait.c APIs: any context */
int rch_op_wake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key);

/* queue_wait.c APIs for operations: under @run_lock */
void rch_queue_await(struct rch_op *op, wait_queue_head_t *on, __poll_t events);

/* queue.c APIs for queue_life.c */
void rch_queue_work_run(struct work_struct *work);

/* queue.c APIs for operations: under @run_lock */
s64 rch_queue_cancel(struct rch_queue *queue, const struct rch_op *by);

/* queue_letter.c APIs: process context */
int rch_letter_send(struct rch_queue *queue, u64 user_data, u32 res);
void rch_letters_free(struct rch_queue *queue);

/* queue_letter.c APIs for queue.c and queue_done.c: under @run_lock */
void rch_letters_take(struct rch_queue *queue);
u32 rch_letters_move(struct rch_queue *queue);
void rch_letters_moved(struct rch_queue *queue, u32 count);

/* queue_line.c APIs: under @run_lock */
bool rch_line_taken(struct rch_queue *queue, unsigned long key);
struct rch_line *rch_line_behind(struct rch_queue *queue, struct rch_line *line);
struct rch_line *rch_line_before(struct rch_queue *queue, struct rch_line *line);
bool rch_line_join(struct rch_queue *queue, struct rch_line *line);

/** rch_line_enter - take a place, if it has none. Return: whether it is the first, or has no key */
static inline bool rch_line_enter(struct rch_queue *queue, struct rch_line *line)
{
	if (!line->key)
		return true;
	return line->in ? !hlist_unhashed(&line->node) : rch_line_join(queue, line);
}

struct rch_line *rch_line_leave(struct rch_queue *queue, struct rch_line *line);

/* queue_line.c APIs for queue.c: under @run_lock */
bool rch_op_line_enter(struct rch_op *op);
void rch_op_line_leave(struct rch_op *op);
bool rch_op_fence_enter(struct rch_op *op);
void rch_op_fence_leave(struct rch_op *op);

/* queue_line.c APIs for operations: under @run_lock */
void rch_queue_line_leave(struct rch_op *op);
bool rch_queue_line_change(struct rch_op *op, unsigned long key);

/* queue_named.c APIs: under @run_lock */
void rch_named_enter(struct rch_op *op);
void rch_named_leave(struct rch_op *op);
struct rch_op *rch_named_next(struct rch_queue *queue, u64 user_data, u64 number);

/* queue.c APIs for queue_wait.c: under @lock */
void rch_op_make_ready_locked(struct rch_op *op);

/* queue.c APIs for queue_time.c: under @lock */
void rch_queue_kick(struct rch_queue *queue);

/* queue.c APIs for queue_poller.c: its thread */
bool rch_queue_idle(const struct rch_queue *queue);
void rch_queue_run(struct rch_queue *queue);
void rch_queue_abandon(struct rch_queue *queue);

/* queue_poller.c APIs */
struct rch_poller *rch_poller_create(struct rch_queue *queue, u32 idle_ms);
void rch_poller_destroy(struct rch_poller *poller);
void rch_poller_wake(struct rch_poller *poller);
struct file *rch_poller_fget(struct rch_poller *poller, unsigned int fd);

/* queue_time.c APIs */
void rch_time_init(struct rch_queue *queue);
void rch_time_exit(struct rch_queue *queue);
void rch_time_begin(struct rch_op *op);
void rch_time_again(struct rch_op *op);
void rch_time_end(struct rch_op *op);
struct rch_op *rch_time_overdue(struct rch_queue *queue);

/* queue_map.c APIs */
int rch_mapping_alloc(struct rch_mapping *map, u32 count, u32 size);
void rch_mapping_free(struct rch_mapping *map);
void rch_mapping_tell(const struct rch_mapping *map, u64 offset, struct rdmachan_ring *ring);

/* queue_pool.c APIs */
int rch_pool_create(struct rch_queue *queue, u32 entries, struct rdmachan_error *error,
		    struct rdmachan_ring *ring);
struct rch_pool *rch_pool_find(const struct rch_queue *queue, u32 number);
const struct rch_mapping *rch_pool_mapping(const struct rch_queue *queue, u64 offset);
u32 rch_pool_filled(const struct rch_pool *pool);
void rch_pool_look(const struct rch_pool *pool, u32 number, struct rdmachan_buffer *buffer);
void rch_pool_take(struct rch_pool *pool, u32 count);
void rch_pools_free(struct rch_queue *queue);

/** rch_mapped - a word of a ring: an index or flags */
static inline u32 *rch_mapped(const struct rch_mapping *map, u32 offset)
{
	return map->base + offset;
}

/** rch_mapping_place - where entry number @index, of @size bytes, is */
static inline void *rch_mapping_place(const struct rch_mapping *map, u32 index, size_t size)
{
	return map->base + rch_ring_place(index, map->count, size);
}

/**
 * rch_mapping_fetch - copy an entry; the program may be writing to it
 * @map: ring
 * @index: number of the entry
 * @to: where to
 * @size: bytes of it, whole u64
 */
static inline void rch_mapping_fetch(const struct rch_mapping *map, u32 index, void *to,
				     size_t size)
{
	const u64 *from = rch_mapping_place(map, index, size);
	u64 *word = to;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		word[i] = READ_ONCE(from[i]);
}

#endif /* _RCH_QUEUE_H */
