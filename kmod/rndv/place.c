// SPDX-License-Identifier: GPL-2.0
/*
 * place.c - transfers: large messages that are written from memory to memory
 *
 * Operation. One side asks, writes, and tells that it has written (FIN); the other one opens its
 * memory, waits for FIN, and closes it. The pages are pinned, so no program is needed. A transfer
 * is a state machine (enum rch_place_state), whose steps are in place_send.c and place_recv.c.
 * Its entries in the wait queues of channel and path notice when the awaited event has come, and
 * wake its owner: an operation of a queue, or the thread of a call (place_call.c). The owner calls
 * rch_place_go_on(), which takes steps. If the owner has left, or the channel or path has ended,
 * the transfer's work item does so. It also does for an operation of a queue that sends, if that
 * does not come soon: its thread may wait for memory of its program, for as long as that likes.
 *
 * Ownership. The owner claims the channel's direction. The transfer gives the claim up when it is
 * over; a sending one does as soon as its last bytes are posted. The transfer is a user of the path
 * (path_rdma.h) as long as anything is mapped or open, and holds the channel's file and the region
 * until its end. So when it is over no adapter touches the pages any more.
 *
 * Error handling. rch_place_stop() ends a transfer where the heads of place_send.c and
 * place_recv.c allow it. If a message was received whole and the owner has left, nobody can be
 * given it: the channel ends, as it must not leave a message out.
 *
 * Link failure. A sender's writes are flushed: it is FAILING until the channel has failed, and
 * ends with the errno of the channel. A receiver cannot invalidate the key: it is STUCK until the
 * path is drained; then the memory region is deregistered, and reading gives the channel's errno.
 * Both unpin their pages only after no adapter has them.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "memory/region.h"
#include "path/path_rdma.h"
#include "rndv/place.h"
#include "rndv/rndv.h"

/* Into how many parts a dead time is divided; an owner that does not come takes one of them. */
#define SOON_PARTS 16

/* Have the work run. It has a reference while it is pending. */
static void place_kick(struct rch_place *place)
{
	kref_get(&place->ref);
	if (mod_delayed_work(rch_queue_wq, &place->work, 0))
		rch_place_put(place);
}

/*
 * The owner may not come for as long as its program likes: a queue's operations wait for a thread
 * in ENTER, which waits for the program's memory. But when the channel or the path ends, the path
 * waits for the transfer, and the removal of a device for the path.
 */
static bool place_is_awaited(const struct rch_place *place)
{
	return READ_ONCE(place->chan->state) != RCH_CHAN_OPEN ||
	       completion_done(&place->path->drained);
}

/* For how long others wait for an owner that does not come, in jiffies. */
static unsigned long place_soon(const struct rch_place *place)
{
	return place->chan->lane.link->beat.dead / SOON_PARTS + 1;
}

/*
 * Whether others may wait for the next step: the peer for FIN, as its memory is open, and writers
 * of the path for their turn. A thread of a call always comes.
 */
static bool place_is_owed(const struct rch_place *place)
{
	return place->sending && !place->by_call;
}

/* Have the work look soon, if it is not about to look anyway. Mostly it finds nothing to do. */
static void place_look_soon(struct rch_place *place)
{
	kref_get(&place->ref);
	if (!queue_delayed_work(rch_queue_wq, &place->work, place_soon(place)))
		rch_place_put(place);
}

static void place_pass_on(struct rch_place *place)
{
	bool left = READ_ONCE(place->left_alone);

	if (!left)
		wake_up_all(&place->wait);
	if (left || READ_ONCE(place->missed) || place_is_awaited(place))
		place_kick(place);
	else if (place_is_owed(place))
		place_look_soon(place);
}

/* Whether what the adapter was given last is waited for, and over. */
static bool place_io_settled(struct rch_place *place)
{
	smp_mb(); /* pairs with that of rch_place_go_to() */
	switch (READ_ONCE(place->state)) {
	case RCH_PLACE_TURN:
	case RCH_PLACE_STUCK:
		return true;
	case RCH_PLACE_WRITING:
		return (READ_ONCE(place->cts.length) &&
			rch_write_may(place->path, place->write)) ||
		       rch_write_over(place->path, place->write);
	case RCH_PLACE_HOLDING:
	case RCH_PLACE_WRITTEN:
		return rch_write_over(place->path, place->write);
	case RCH_PLACE_OPENING:
	case RCH_PLACE_CLOSING:
		return rch_io_over(place->path, &place->mr->io);
	default:
		return false;
	}
}

static bool place_lent_settled(struct rch_place *place, bool wanted)
{
	return READ_ONCE(place->heir) ?
		rch_chan_heir_settled(place->chan, &place->as_heir, wanted) :
		rch_chan_lent_settled(place->chan, wanted);
}

/* The same of the peer. Without @events anything may have happened. */
static bool place_chan_settled(struct rch_place *place, __poll_t events)
{
	smp_mb(); /* pairs with that of rch_place_go_to() */
	switch (READ_ONCE(place->state)) {
	case RCH_PLACE_ASKED:
		return !events || !READ_ONCE(place->chan->rndv_tx.cts_due);
	case RCH_PLACE_HOLDING:
		return READ_ONCE(place->let_go) && !READ_ONCE(place->chan->lend.opens);
	case RCH_PLACE_OPEN:
		return rch_chan_grant_settled(place->chan);
	case RCH_PLACE_LENT:
		return place_lent_settled(place, true);
	case RCH_PLACE_RECALL:
		return place_lent_settled(place, false);
	case RCH_PLACE_STREAM:
		return !events || (events & EPOLLOUT);
	case RCH_PLACE_FAILING:
		return !events;
	default:
		return false;
	}
}

static int place_chan_woken(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	if (place_chan_settled(entry->private, key_to_poll(key)))
		place_pass_on(entry->private);
	return 0;
}

static int place_path_woken(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	if (place_io_settled(entry->private))
		place_pass_on(entry->private);
	return 0;
}

/**
 * rch_place_go_to - wait for something
 * @place: transfer; locked
 * @state: that
 * @patience: when it is late, in jiffies from now; 0 is never
 */
void rch_place_go_to(struct rch_place *place, enum rch_place_state state, unsigned long patience)
{
	lockdep_assert_held(&place->lock);
	WARN_ON_ONCE(!rch_place_state_allowed(place->state, state));
	WRITE_ONCE(place->state, state);
	/* Whoever wakes us after this sees it, or we see what has come. */
	smp_mb();
	WRITE_ONCE(place->deadline, patience ? (jiffies + patience) ?: 1 : 0);
	place->late = false;
}

/** rch_place_just_late - whether what is waited for is late; true once */
bool rch_place_just_late(struct rch_place *place)
{
	if (place->late || !place->deadline || time_before(jiffies, place->deadline))
		return false;
	/*
	 * A deadline that @last has brought forward is found late by a work that was armed before:
	 * that is no sign of a host that stood still, and the peer must have no say in it.
	 */
	if (!place->last && rch_overslept(place->deadline, place->path->patience)) {
		WRITE_ONCE(place->deadline, (jiffies + place->path->patience) ?: 1);
		return false;
	}
	place->late = true;
	WRITE_ONCE(place->deadline, 0);
	return true;
}

/** rch_place_not_yet - give the path up if the adapter is late; Return: false, to wait on */
bool rch_place_not_yet(struct rch_place *place)
{
	if (rch_place_just_late(place))
		rch_io_overdue(place->path);
	return false;
}

/* Have the adapter find the message by a key that there is. Return: whether it does. */
static bool place_map_by_key(struct rch_place *place)
{
	struct scatterlist *sg = &place->keyed;
	u64 address;

	if (!place->region)
		return false;
	place->key = rch_region_key(place->region, place->path, place->offset, place->rts.total,
				    &address);
	if (!place->key)
		return false;
	sg_init_table(sg, 1);
	sg_dma_address(sg) = address;
	sg_dma_len(sg) = place->rts.total;
	place->cursor = (struct rch_mem_cursor){
		.sg = sg, .left = 1, .lkey = place->key->piece->mr->lkey,
	};
	return true;
}

/* Have it found in a mapping that there is. */
static bool place_map_in_key(struct rch_place *place)
{
	if (!place->region)
		return false;
	place->key = rch_region_lend(place->region, place->path, place->offset,
				     place->rts.total, true, &place->cursor);
	return place->key;
}

static bool place_map_region(struct rch_place *place, enum dma_data_direction direction)
{
	struct ib_device *dev = place->path->dev;

	place->mem.direction = direction;
	return !rch_region_table(place->region, place->offset, place->rts.total,
				 rch_mem_segment_max(dev), &place->mem) &&
	       !rch_mem_map_table(&place->mem, dev);
}

static bool place_map_table(struct rch_place *place, enum dma_data_direction direction)
{
	if (place->pinned ? rch_mem_map(&place->mem, place->path->dev) :
			     !place_map_region(place, direction))
		return false;
	rch_mem_begin(&place->mem, &place->cursor);
	return true;
}

/**
 * rch_place_map - become a user of the path, with the message mapped
 * @place: transfer; locked
 * @direction: which side writes to its memory
 *
 * Return: whether that went well.
 */
bool rch_place_map(struct rch_place *place, enum dma_data_direction direction)
{
	if (!rch_path_enter(place->path))
		return false;
	if (!(place->sending ? place_map_by_key(place) : place_map_in_key(place)) &&
	    !place_map_table(place, direction)) {
		rch_path_leave(place->path);
		return false;
	}
	add_wait_queue(&place->path->left, &place->path_entry);
	place->listed = true;
	place->mapped = true;
	return true;
}

/** rch_place_unlist - hear nothing of the path any more: @write and @mr may be given back */
void rch_place_unlist(struct rch_place *place)
{
	if (place->listed)
		remove_wait_queue(&place->path->left, &place->path_entry);
	place->listed = false;
}

/** rch_place_unmap - no adapter has anything to do with the pages any more */
void rch_place_unmap(struct rch_place *place)
{
	rch_place_unlist(place);
	if (place->write)
		rch_write_put(place->path, place->write);
	place->write = NULL;
	if (!place->mapped)
		return;
	place->mapped = false;
	if (place->key)
		rch_key_release(place->key);
	else
		rch_mem_unmap(&place->mem);
	rch_path_leave(place->path);
}

/** rch_place_unclaim - others may send, or receive */
void rch_place_unclaim(struct rch_place *place)
{
	if (place->claimed)
		rch_chan_unclaim(place->chan, place->sending ? RCH_CHAN_TX : RCH_CHAN_RX);
	place->claimed = false;
}

/* An owner that knows that it is over may unregister the region, though our work refers to us. */
static void place_unuse_region(struct rch_place *place)
{
	if (place->region)
		rch_region_unuse(place->region);
	place->region = NULL;
}

/* A program that knows that it is over has its pages back, though our work still refers to us. */
static void place_unpin(struct rch_place *place)
{
	if (place->pinned)
		rch_mem_unpin(&place->mem);
	place->pinned = false;
}

/**
 * rch_place_finish - be over
 * @place: transfer; locked, and the caller has a reference of his own
 * @result: see struct rch_place
 */
void rch_place_finish(struct rch_place *place, int result)
{
	lockdep_assert_held(&place->lock);
	WARN_ON_ONCE(!rch_place_state_allowed(place->state, RCH_PLACE_OVER));
	rch_place_unmap(place);
	remove_wait_queue(&place->chan->wait, &place->chan_entry);
	rch_place_unclaim(place);
	place_unuse_region(place);
	place_unpin(place);
	place->result = result;
	smp_store_release(&place->state, RCH_PLACE_OVER); /* pairs with rch_place_over() */
	if (wq_has_sleeper(&place->wait))
		wake_up_all(&place->wait);
	if (cancel_delayed_work(&place->work))
		rch_place_put(place);
	rch_place_put(place);
}

/* Steps */

static bool place_step(struct rch_place *place)
{
	return place->sending ? rch_place_send_step(place) : rch_place_recv_step(place);
}

/* Have the work look when the awaited event is late, or the owner. */
static void place_watch(struct rch_place *place)
{
	long left = place->deadline - jiffies;

	lockdep_assert_held(&place->lock);
	if (place->state == RCH_PLACE_OVER || !place->deadline)
		return;
	/* The thread that waits looks itself. */
	if (place->by_call && !place->left_alone)
		return;
	if (place_is_owed(place))
		left = min_t(long, left, place_soon(place));
	kref_get(&place->ref);
	/* If it is pending already, it will look, and come here again. */
	if (!queue_delayed_work(rch_queue_wq, &place->work, max(left, 0L) + 1))
		rch_place_put(place);
}

/** rch_place_run - take the steps that are possible now. Return: whether there were any */
bool rch_place_run(struct rch_place *place)
{
	bool any = false;

	lockdep_assert_held(&place->lock);
	while (place->state != RCH_PLACE_OVER && place_step(place))
		any = true;
	place_watch(place);
	return any;
}

/** rch_place_run_by_owner - the same, by the owner, which will run the link */
void rch_place_run_by_owner(struct rch_place *place)
{
	/* A thread that waits for one message has no other to send behind it. */
	place->by_owner = !place->by_call;
	WRITE_ONCE(place->missed, false);
	rch_place_run(place);
	place->by_owner = false;
}

static void place_work(struct work_struct *work)
{
	struct rch_place *place = container_of(to_delayed_work(work), struct rch_place, work);

	mutex_lock(&place->lock);
	/* The next step as well is taken as soon as it can be: there may be many. */
	if (rch_place_run(place))
		WRITE_ONCE(place->missed, true);
	mutex_unlock(&place->lock);
	rch_place_put(place);
}

/**
 * rch_place_go_on - take the steps that are possible now
 * @place: transfer
 *
 * For the owner, when @place->wait was woken. rch_link_run() must be called soon.
 * Return: whether it is over.
 */
bool rch_place_go_on(struct rch_place *place)
{
	mutex_lock(&place->lock);
	rch_place_run_by_owner(place);
	mutex_unlock(&place->lock);
	return rch_place_over(place);
}

/**
 * rch_place_let_go - the program has said all that it had to say, for now
 * @place: transfer that rch_place_holds()
 *
 * For the owner. rch_link_run() must be called soon.
 */
void rch_place_let_go(struct rch_place *place)
{
	mutex_lock(&place->lock);
	WRITE_ONCE(place->let_go, true);
	rch_place_run_by_owner(place);
	mutex_unlock(&place->lock);
}

static struct rch_place *place_new(struct rch_chan *chan)
{
	struct rch_place *place = rch_try(RCH_SITE_PLACE,
					  kzalloc(sizeof(*place), GFP_KERNEL_ACCOUNT));

	if (!place)
		return NULL;
	kref_init(&place->ref);
	mutex_init(&place->lock);
	INIT_DELAYED_WORK(&place->work, place_work);
	init_waitqueue_head(&place->wait);
	INIT_LIST_HEAD(&place->as_heir.list);
	init_waitqueue_func_entry(&place->chan_entry, place_chan_woken);
	init_waitqueue_func_entry(&place->path_entry, place_path_woken);
	place->chan_entry.private = place;
	place->path_entry.private = place;
	place->chan = chan;
	place->path = &chan->lane.link->path;
	return place;
}

/**
 * rch_place_alloc - make a transfer, which is not begun
 * @chan: channel
 * @region: where the message lies, or shall; used by the transfer as well, from now on
 * @offset: of its first byte there
 * @keep: keeps the channel open
 * @drop: gives @keep back, in process context
 *
 * Return: it, or NULL; then nothing was taken.
 */
struct rch_place *rch_place_alloc(struct rch_chan *chan, struct rch_region *region,
				  u64 offset, void *keep, void (*drop)(void *keep))
{
	struct rch_place *place = place_new(chan);

	if (!place)
		return NULL;
	place->offset = offset;
	place->region = region;
	rch_region_use_more(region);
	place->keep = keep;
	place->drop = drop;
	return place;
}

static void place_keep_mm(struct rch_place *place)
{
	mmgrab(place->mem.mm);
	place->mm_kept = true;
}

/**
 * rch_place_alloc_pinned - the same for memory of the calling program
 * @chan: channel
 * @addr: where the message lies, or shall
 * @length: bytes, not 0
 * @direction: DMA_TO_DEVICE to send, DMA_FROM_DEVICE to receive
 * @keep: keeps the channel open; NULL: the calling thread does, which waits until the transfer
 *	is over
 * @drop: gives @keep back, in process context
 *
 * Waits for the memory, before anybody waits for us. The pages are given back when the
 * transfer is over; what else it has by rch_place_put(), or by rch_place_leave() or
 * rch_place_leave_call() before it is over.
 *
 * Return: it, or NULL: it cannot be pinned, or there is no memory; then nothing was taken.
 */
struct rch_place *rch_place_alloc_pinned(struct rch_chan *chan, unsigned long addr,
					 size_t length, enum dma_data_direction direction,
					 void *keep, void (*drop)(void *keep))
{
	struct rch_place *place = place_new(chan);

	if (!place)
		return NULL;
	if (rch_mem_pin(&place->mem, addr, length, direction)) {
		kfree(place);
		return NULL;
	}
	place->pinned = true;
	place->by_call = !keep;
	place->keep = keep;
	place->drop = drop;
	if (keep)
		place_keep_mm(place);
	return place;
}

/** rch_place_begin - hear of what happens to the channel, which is claimed; or be the heir */
void rch_place_begin(struct rch_place *place)
{
	kref_get(&place->ref);
	place->claimed = !place->heir;
	add_wait_queue(&place->chan->wait, &place->chan_entry);
}

/**
 * rch_place_heir_begin - receive the message behind that of another transfer
 * @place: transfer that is not begun
 * @before: the other one, which receives, or is an heir itself
 *
 * Return: whether @place is an heir now; rch_place_lend_ahead() must follow.
 */
bool rch_place_heir_begin(struct rch_place *place, struct rch_place *before)
{
	bool ok;

	mutex_lock(&before->lock);
	ok = !rch_place_over(before) && (before->claimed || before->heir) && !before->sending &&
	     rch_chan_heir_begin(place->chan, &place->as_heir, &before->as_heir);
	mutex_unlock(&before->lock);
	return ok;
}

/**
 * rch_place_all_sent - whether all of a message is on its way, or nothing; the next one may be
 * @place: transfer that sends
 *
 * A transfer whose message has to be copied has sent nothing, though it is over.
 */
bool rch_place_all_sent(const struct rch_place *place)
{
	return READ_ONCE(place->state) == RCH_PLACE_WRITTEN ||
	       (rch_place_over(place) && place->result != -EAGAIN);
}

static bool place_stop_locked(struct rch_place *place)
{
	bool stopped;

	lockdep_assert_held(&place->lock);
	if (place->state == RCH_PLACE_OVER)
		return place->result == -EAGAIN;
	stopped = place->sending ? rch_place_send_stop(place) : rch_place_recv_stop(place);
	if (stopped)
		rch_place_finish(place, -ECANCELED);
	else
		place_watch(place);
	return stopped;
}

/**
 * rch_place_stop - end a transfer early
 * @place: transfer
 *
 * Return: whether it is over, and has had no effect. If not it will be over by itself.
 */
bool rch_place_stop(struct rch_place *place)
{
	bool stopped;

	mutex_lock(&place->lock);
	stopped = place_stop_locked(place);
	mutex_unlock(&place->lock);
	return stopped;
}

/**
 * rch_place_leave - nobody wants the transfer any more
 * @place: transfer; the caller's reference is consumed
 */
void rch_place_leave(struct rch_place *place)
{
	mutex_lock(&place->lock);
	if (!place_stop_locked(place) && place->state != RCH_PLACE_OVER) {
		WRITE_ONCE(place->left_alone, true);
		WRITE_ONCE(place->let_go, true);
		place_kick(place);
	}
	/* It was received, and nobody was told. */
	if (place->state == RCH_PLACE_OVER && !place->sending && !place->result)
		rch_chan_lost(place->chan);
	/* It was to be copied by the thread, which has the claim for that, and is killed. */
	if (place->state == RCH_PLACE_OVER && place->sending && place->by_call &&
	    place->result == -EAGAIN)
		rch_chan_unclaim(place->chan, RCH_CHAN_TX);
	mutex_unlock(&place->lock);
	rch_place_put(place);
}

static void place_put_file(void *file)
{
	fput(file);
}

/**
 * rch_place_leave_call - the thread that waits is killed
 * @place: transfer of a call; the caller's reference is consumed
 *
 * The transfer keeps from now on what the thread's call has kept: the account of the pages, and the
 * channel's file.
 */
void rch_place_leave_call(struct rch_place *place)
{
	mutex_lock(&place->lock);
	place_keep_mm(place);
	place->keep = get_file(place->chan->file);
	place->drop = place_put_file;
	mutex_unlock(&place->lock);
	rch_place_leave(place);
}

/** rch_place_patience - jiffies until the awaited event is late; by the thread that waits */
long rch_place_patience(const struct rch_place *place)
{
	/* The work may go on just now. */
	unsigned long deadline = READ_ONCE(place->deadline);
	long left = deadline - jiffies;

	return deadline ? max(left, 0L) + 1 : MAX_SCHEDULE_TIMEOUT;
}

static void place_free(struct kref *ref)
{
	struct rch_place *place = container_of(ref, struct rch_place, ref);

	place_unuse_region(place);
	place_unpin(place);
	if (place->mm_kept)
		mmdrop(place->mem.mm);
	if (place->keep)
		place->drop(place->keep);
	kfree(place);
}

/** rch_place_put - drop a reference */
void rch_place_put(struct rch_place *place)
{
	kref_put(&place->ref, place_free);
}
