// SPDX-License-Identifier: GPL-2.0
/*
 * queue_done.c - completions of operations, into the ring
 *
 * Operation. A completion is put into the ring and then told: the program finds it by the
 * index, which is stored behind it. Many that are put one after the other are told at once,
 * and their waiters are woken once.
 *
 * Buffer ownership. When the ring is full an operation keeps its completion, and one that
 * goes on is *starved*: it keeps nothing for later but itself. Both wait for room in the
 * order in which they have come.
 */
#include "queue/queue.h"

/** rch_op_free - an operation that nothing refers to is over */
void rch_op_free(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	lockdep_assert_held(&queue->run_lock);
	op->state = RCH_OP_FREE;
	op->next = queue->free;
	queue->free = op;
	WRITE_ONCE(queue->under_way, queue->under_way - 1);
	WRITE_ONCE(queue->unfit, false);
}

/* Completions that can be put into the ring. */
static u32 queue_done_ring_room(const struct rch_queue *queue)
{
	/* The program has read the entries that will be written over. */
	u32 consumer = smp_load_acquire(rch_mapped(&queue->cq, RCH_RING_CONSUMER));

	return rch_ring_room(queue->cq_tail, consumer, queue->cq.count);
}

/** rch_queue_has_room - whether something that waits for room in the ring could go on */
bool rch_queue_has_room(const struct rch_queue *queue)
{
	return queue_done_ring_room(queue);
}

/** rch_queue_room - how often rch_queue_put() can be called: others that wait come first */
u32 rch_queue_room(const struct rch_queue *queue)
{
	return list_empty(&queue->done) && list_empty(&queue->arrived) ?
	       queue_done_ring_room(queue) : 0;
}

/**
 * rch_queue_put - put a completion into the ring
 * @queue: queue, with rch_queue_room()
 * @cqe: the completion
 *
 * rch_queue_told() must follow, after others perhaps.
 */
void rch_queue_put(struct rch_queue *queue, const struct rdmachan_cqe *cqe)
{
	struct rdmachan_cqe *place = rch_mapping_place(&queue->cq, queue->cq_tail, sizeof(*cqe));

	lockdep_assert_held(&queue->run_lock);
	*place = *cqe;
	queue->cq_tail++;
	WRITE_ONCE(queue->completed, queue->completed + 1);
}

static void queue_done_wake_sleepers(struct rch_queue *queue)
{
	if (wq_has_sleeper(&queue->wait))
		wake_up_interruptible_poll(&queue->wait, EPOLLIN | EPOLLRDNORM);
}

/** rch_queue_told - the program finds the completions that were put into the ring */
void rch_queue_told(struct rch_queue *queue)
{
	lockdep_assert_held(&queue->run_lock);
	WRITE_ONCE(queue->cq_told, queue->cq_tail);
	/* The program's load of the index, with acquire, finds the entries. */
	smp_store_release(rch_mapped(&queue->cq, RCH_RING_PRODUCER), queue->cq_tail);
	queue_done_wake_sleepers(queue);
}

/* Whether something waits for room is the program's to know, which makes it. */
static void queue_done_tell_overflow(struct rch_queue *queue)
{
	bool waits = !list_empty(&queue->done) || !list_empty(&queue->starved) ||
		     !list_empty(&queue->arrived);

	if (waits == !!(READ_ONCE(queue->flags) & RDMACHAN_RING_F_OVERFLOW))
		return;
	spin_lock_irq(&queue->lock);
	rch_queue_set_flags(queue, RDMACHAN_RING_F_OVERFLOW,
			    waits ? RDMACHAN_RING_F_OVERFLOW : 0);
	spin_unlock_irq(&queue->lock);
	/* It may have taken all completions before it could see this. */
	if (waits)
		queue_done_wake_sleepers(queue);
}

/** rch_queue_flush_some - as rch_queue_flush_done(), if there may be some */
void rch_queue_flush_some(struct rch_queue *queue)
{
	u32 letters = rch_letters_move(queue);
	bool moved = letters;
	struct rch_op *op;

	lockdep_assert_held(&queue->run_lock);
	while (!list_empty(&queue->done) && list_empty(&queue->arrived) &&
	       queue_done_ring_room(queue)) {
		op = list_first_entry(&queue->done, struct rch_op, list);
		rch_queue_put(queue, &op->cqe);
		list_del_init(&op->list);
		rch_op_free(op);
		moved = true;
	}
	if (letters)
		rch_letters_moved(queue, letters);
	if (moved)
		rch_queue_told(queue);
	while (!list_empty(&queue->starved) && rch_queue_room(queue)) {
		op = list_first_entry(&queue->starved, struct rch_op, list);
		list_del_init(&op->list);
		rch_op_make_ready(op);
	}
	queue_done_tell_overflow(queue);
}

/**
 * rch_queue_more - complete a part of an operation that goes on
 * @op: operation
 * @cqe: the completion, for which there is rch_queue_room()
 *
 * rch_queue_told() must follow, after others perhaps.
 */
void rch_queue_more(struct rch_op *op, struct rdmachan_cqe *cqe)
{
	cqe->user_data = op->sqe.user_data;
	cqe->flags |= RDMACHAN_CQE_F_MORE;
	rch_queue_put(op->queue, cqe);
}

/** rch_op_starve - an operation needs room in the ring to go on */
void rch_op_starve(struct rch_op *op)
{
	op->state = RCH_OP_HELD;
	list_add_tail(&op->list, &op->queue->starved);
	/* The room may have been made just now. */
	rch_queue_flush_done(op->queue);
}

/** rch_op_post - an operation has completed */
void rch_op_post(struct rch_op *op)
{
	struct rch_queue *queue = op->queue;

	op->state = RCH_OP_DONE;
	if (op->cqe.res >= 0 && (op->sqe.flags & RDMACHAN_SQE_F_SKIP_SUCCESS)) {
		rch_op_free(op);
		return;
	}
	if (rch_queue_room(queue)) {
		rch_queue_put(queue, &op->cqe);
		rch_op_free(op);
		rch_queue_told(queue);
		return;
	}
	list_add_tail(&op->list, &queue->done);
	rch_queue_flush_done(queue);
	if (op->state != RCH_OP_DONE)
		return;
	WRITE_ONCE(queue->overflows, queue->overflows + 1);
	WRITE_ONCE(*rch_mapped(&queue->cq, RCH_RING_OVERFLOW), queue->overflows);
}
