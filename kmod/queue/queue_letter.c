// SPDX-License-Identifier: GPL-2.0
/*
 * queue_letter.c - completions that other queues put into this one
 *
 * Operation. A *letter* is the completion that a MESSAGE of another queue, or of the same one, has
 * for this one. Its sender does not wait for the @run_lock of the receiving queue, which that
 * queue's program may hold for long. The sender puts the letter into @letters, under the innermost
 * lock, and kicks the queue. The next run of the queue's operations moves the letter on into the
 * completion ring. So two queues may send to each other at the same time. If the ring has been
 * filled meanwhile the letter waits for room.
 *
 * A letter is refused where completions wait for room. It is refused, too, where the ring has no
 * room, as far as is known, for it and for the letters that were not moved. So there are never more
 * letters than the ring has entries, and they keep no completion of the queue's own waiting that is
 * there already.
 *
 * Lifetime. A MESSAGE refers to the memory of the queue that it is for, and not to its file. So two
 * queues that have messages for each other are closed all the same. A MESSAGE for a queue that is
 * closed fails. Letters that were not moved are freed with the queue.
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "queue/queue.h"

/* Whether the ring has an entry that nothing will fill, as far as is known. */
static bool queue_letter_has_room(const struct rch_queue *queue)
{
	u32 consumer = READ_ONCE(*rch_mapped(&queue->cq, RCH_RING_CONSUMER));
	u32 room = rch_ring_room(READ_ONCE(queue->cq_told), consumer, queue->cq.count);

	lockdep_assert_held(&queue->lock);
	/* Completions that wait for room come first. */
	return room > queue->letter_count && !(queue->flags & RDMACHAN_RING_F_OVERFLOW);
}

/* Return: 0, -EBADF or -ENOSPC */
static int queue_letter_enter(struct rch_queue *queue, struct rch_letter *letter)
{
	lockdep_assert_held(&queue->lock);
	if (queue->closed)
		return -EBADF;
	if (!queue_letter_has_room(queue))
		return -ENOSPC;
	queue->letter_count++;
	list_add_tail(&letter->list, &queue->letters);
	rch_queue_kick(queue);
	return 0;
}

/**
 * rch_letter_send - have a completion put into the ring of a queue
 * @queue: queue, of whatever program; its memory is referenced
 * @user_data: of the completion
 * @res: of the completion
 *
 * Context: process; no lock of @queue is held, but any other queue's run_lock may be.
 * Return: 0: it is sure to be put there, unless @queue is closed before; -EBADF: it is closed;
 * -ENOSPC: there is no room; or -ENOMEM.
 */
int rch_letter_send(struct rch_queue *queue, u64 user_data, u32 res)
{
	struct rch_letter *letter = rch_try(RCH_SITE_QUEUE,
					    kmalloc(sizeof(*letter), GFP_KERNEL_ACCOUNT));
	int ret;

	if (!letter)
		return -ENOMEM;
	letter->user_data = user_data;
	letter->res = res;
	spin_lock_irq(&queue->lock);
	ret = queue_letter_enter(queue, letter);
	spin_unlock_irq(&queue->lock);
	if (ret)
		kfree(letter);
	return ret;
}

/** rch_letters_take - letters that have come are to be put into the ring next; under @lock */
void rch_letters_take(struct rch_queue *queue)
{
	lockdep_assert_held(&queue->run_lock);
	lockdep_assert_held(&queue->lock);
	list_splice_tail_init(&queue->letters, &queue->arrived);
}

static void queue_letter_put(struct rch_queue *queue, struct rch_letter *letter)
{
	const struct rdmachan_cqe cqe = {
		.user_data = letter->user_data,
		.res = letter->res,
		.flags = RDMACHAN_CQE_F_MESSAGE,
	};

	rch_queue_put(queue, &cqe);
	list_del(&letter->list);
	kfree(letter);
}

/**
 * rch_letters_move - put letters into the ring, as far as there is room
 * @queue: queue
 *
 * Return: how many; then rch_letters_moved() must follow, and after that rch_queue_told().
 */
u32 rch_letters_move(struct rch_queue *queue)
{
	u32 count = 0;

	lockdep_assert_held(&queue->run_lock);
	while (!list_empty(&queue->arrived) && rch_queue_has_room(queue)) {
		queue_letter_put(queue, list_first_entry(&queue->arrived, struct rch_letter, list));
		count++;
	}
	return count;
}

/**
 * rch_letters_moved - @count of them are in the ring, and the program is told next
 * @queue: queue
 * @count: as of rch_letters_move()
 *
 * At once with the ring's own count, of which queue_letter_has_room() takes them: for a program
 * that answers as soon as it is told there is room again, and never more than there is.
 */
void rch_letters_moved(struct rch_queue *queue, u32 count)
{
	lockdep_assert_held(&queue->run_lock);
	spin_lock_irq(&queue->lock);
	queue->letter_count -= count;
	WRITE_ONCE(queue->cq_told, queue->cq_tail);
	spin_unlock_irq(&queue->lock);
}

/** rch_letters_free - the queue is gone, and so is all that might send to it. Process context */
void rch_letters_free(struct rch_queue *queue)
{
	struct rch_letter *letter, *tmp;

	list_splice_tail_init(&queue->letters, &queue->arrived);
	list_for_each_entry_safe(letter, tmp, &queue->arrived, list)
		kfree(letter);
}
