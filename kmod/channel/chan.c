// SPDX-License-Identifier: GPL-2.0
/*
 * chan.c - a channel's life
 *
 * Ending. close() of a channel in use puts CLOSE behind what waits to be sent and
 * leaves the rest to the background. The peer answers CLOSED, the link then drops the
 * lane's reference, which is the last. If the data cannot be delivered within the
 * linger time, or the program was killed, CLOSE is sent at once with the reset flag and
 * the data that waits is thrown away. If the link ends first, the lane goes with it.
 */
#include <linux/poll.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "base/busy.h"
#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "path/path_rdma.h"

const struct rch_chan_ops *rch_chan_ops;

static struct kmem_cache *chan_cache;

static void rch_chan_linger_work(struct work_struct *work);

static bool chan_get(struct rch_object *obj)
{
	return kref_get_unless_zero(&container_of(obj, struct rch_chan, object)->ref);
}

static void chan_put(struct rch_object *obj)
{
	rch_chan_put(container_of(obj, struct rch_chan, object));
}

static u32 chan_user_state(const struct rch_chan *chan)
{
	static const u8 states[RCH_CHAN_STATES] = {
		[RCH_CHAN_CONNECTING] = RDMACHAN_STATE_CONNECTING,
		[RCH_CHAN_WAITING] = RDMACHAN_STATE_WAITING,
		[RCH_CHAN_OPEN] = RDMACHAN_STATE_OPEN,
		[RCH_CHAN_PEER_CLOSED] = RDMACHAN_STATE_PEER_CLOSED,
		[RCH_CHAN_CLOSING] = RDMACHAN_STATE_CLOSING,
		[RCH_CHAN_FAILED] = RDMACHAN_STATE_FAILED,
		[RCH_CHAN_DEAD] = RDMACHAN_STATE_FAILED,
	};

	return states[chan->state];
}

static void chan_fill(struct rch_object *obj, struct rdmachan_object *out)
{
	struct rch_chan *chan = container_of(obj, struct rch_chan, object);
	struct rch_link *link = NULL;

	spin_lock_bh(&chan->lock);
	if (chan->state != RCH_CHAN_CONNECTING && chan->lane.link) {
		link = chan->lane.link;
		kref_get(&link->ref);
	}
	out->state = chan_user_state(chan);
	out->shutdown = chan->ends.shut;
	out->peer_shutdown = chan->ends.peer_shut;
	out->rx_queued = chan->rx.queued;
	out->peer_message_max = chan->peer_message_max;
	spin_unlock_bh(&chan->lock);
	out->local = chan->source;
	out->peer = chan->peer;
	if (link) {
		rch_link_describe(link, out);
		out->rights = rch_lend_atomics(&link->path) ? RDMACHAN_RIGHT_BY_DEVICE : 0;
		rch_link_put(link);
	}
	out->service = chan->service;
	out->active = chan->active;
	out->rx_next = rch_chan_next_length(chan);
	out->tx_queued = READ_ONCE(chan->lane.queued);
	out->tx_stalls = READ_ONCE(chan->lane.stalls);
	out->tx_messages = READ_ONCE(chan->counts.tx_messages);
	out->tx_bytes = READ_ONCE(chan->counts.tx_bytes);
	out->rx_messages = READ_ONCE(chan->counts.rx_messages);
	out->rx_bytes = READ_ONCE(chan->counts.rx_bytes);
	out->tx_placed = READ_ONCE(chan->counts.tx_placed);
	out->rx_placed = READ_ONCE(chan->counts.rx_placed);
	out->tx_regions = atomic64_read(&chan->counts.tx_regions);
	out->rx_regions = atomic64_read(&chan->counts.rx_regions);
	out->send_buffer = READ_ONCE(chan->tuning.send_buffer);
	out->recv_buffer = READ_ONCE(chan->tuning.recv_buffer);
	out->linger_ms = READ_ONCE(chan->tuning.linger_ms);
}

static const struct rch_object_ops chan_object_ops = {
	.kind = RDMACHAN_KIND_CHANNEL,
	.get = chan_get,
	.put = chan_put,
	.fill = chan_fill,
};

static int chan_charge(struct rch_chan *chan, const struct rch_charge *owner, bool by_peer,
		       const struct rdmachan_tuning *tuning, struct rdmachan_error *error)
{
	const struct rch_cost cost = {
		.of[RDMACHAN_LIMIT_CHANNELS] = 1,
		.of[RDMACHAN_LIMIT_PENDING] = 1,
		.of[RDMACHAN_LIMIT_BYTES] = (u64)tuning->send_buffer + tuning->recv_buffer,
	};

	if (by_peer)
		rch_charge_begin_by_peer(&chan->charge, owner->user, owner->exempt);
	else
		rch_charge_begin(&chan->charge, owner->user, owner->exempt);
	return rch_charge_object(&chan->charge, &cost, RDMACHAN_OP_OPEN, error);
}

static void chan_is_to_open(struct rch_chan *chan, struct rch_chan_opening *opening)
{
	chan->active = true;
	chan->opening = opening;
	rch_addr_from_sockaddr(&chan->source, &opening->source);
	opening->chan = chan;
}

/**
 * rch_chan_alloc - make a channel
 * @net: network namespace
 * @owner: charge of the context or listener it comes from
 * @wish: what it is to be; of a channel that a peer has made this does not sleep
 * @error: which limit it was, with -EDQUOT, -ENOBUFS and -ENOSPC
 *
 * Return: a channel with one reference; or an ERR_PTR(): -ENOMEM, -EDQUOT, -ENOBUFS or
 * -ENOSPC.
 */
struct rch_chan *rch_chan_alloc(struct net *net, const struct rch_charge *owner,
				const struct rch_chan_wish *wish, struct rdmachan_error *error)
{
	const struct rdmachan_tuning *tuning = wish->tuning;
	gfp_t gfp = wish->opening ? GFP_KERNEL : GFP_ATOMIC;
	struct rch_chan *chan = rch_try(RCH_SITE_CHANNEL, kmem_cache_zalloc(chan_cache, gfp));
	int ret;

	if (!chan)
		return ERR_PTR(-ENOMEM);
	ret = chan_charge(chan, owner, !wish->opening, tuning, error);
	if (ret)
		goto err_charge;
	kref_init(&chan->ref);
	rch_lane_init(&chan->lane, tuning->send_buffer);
	rch_chan_tx_drop_init(chan);
	chan->net = net;
	chan->service = wish->service;
	chan->tuning = *tuning;
	rch_addr_from_sockaddr(&chan->peer, wish->peer);
	if (wish->opening)
		chan_is_to_open(chan, wish->opening);
	init_waitqueue_head(&chan->wait);
	mutex_init(&chan->async.lock);
	rch_wake_init(&chan->wake, &chan->wait, &chan->lock);
	INIT_LIST_HEAD(&chan->backlog);
	INIT_DELAYED_WORK(&chan->ends.linger_work, rch_chan_linger_work);
	INIT_DELAYED_WORK(&chan->rndv_rx.offer_work, rch_chan_ops->offer_work);
	spin_lock_init(&chan->lock);
	chan->state = wish->opening ? RCH_CHAN_CONNECTING : RCH_CHAN_WAITING;
	chan->error.size = sizeof(chan->error);
	chan->error.service = wish->service;
	chan->rndv_rx.wants_data = true;
	chan->rndv_tx.rts_serial = rch_first_number();
	chan->lend.serial = chan->rndv_tx.rts_serial;
	INIT_LIST_HEAD(&chan->rx.segments);
	mutex_init(&chan->tune_lock);
	mutex_init(&chan->early.lock);
	chan->early.max = U32_MAX;
	INIT_LIST_HEAD(&chan->early.messages);
	INIT_LIST_HEAD(&chan->rndv_rx.heirs);
	rch_window_init(&chan->rx.window, tuning->recv_buffer);
	chan->lane.open.service = wish->service;
	chan->lane.open.window = tuning->recv_buffer;
	chan->lane.open.message_max = tuning->message_max;
	ret = rch_object_enter(&chan->object, &chan_object_ops, net, owner->user->uid, gfp);
	if (ret)
		goto err_charge;
	atomic_inc(&rch_counts.channels);
	pr_debug("rdmachan: channel created %p\n", chan);
	return chan;

err_charge:
	rch_charge_end(&chan->charge);
	kmem_cache_free(chan_cache, chan);
	return ERR_PTR(ret);
}

static void chan_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(chan_cache, container_of(rcu, struct rch_chan, rcu));
}

static void chan_free(struct kref *ref)
{
	struct rch_chan *chan = container_of(ref, struct rch_chan, ref);

	pr_debug("rdmachan: channel destroyed %p\n", chan);
	rch_object_strike(&chan->object);
	/* Segments that had come were dropped when the channel was released. */
	rch_segments_free(&chan->rx.segments);
	rch_chan_early_free(chan);
	rch_chan_connect_over(chan);
	rch_chan_ops->free(chan);
	if (chan->lane.link)
		rch_link_put(chan->lane.link);
	rch_charge_end(&chan->charge);
	atomic_dec(&rch_counts.channels);
	call_rcu(&chan->rcu, chan_free_rcu);
}

/** rch_chan_put - drop a reference. Any context */
void rch_chan_put(struct rch_chan *chan)
{
	kref_put(&chan->ref, chan_free);
}

/** rch_chan_set_state - the only writer of a channel's state; locked */
bool rch_chan_set_state(struct rch_chan *chan, enum rch_chan_state to)
{
	lockdep_assert_held(&chan->lock);
	if (!rch_chan_state_allowed(chan->state, to))
		return false;
	/* One that is closed meanwhile goes on costing both hosts until it is gone. */
	if (chan->state == RCH_CHAN_CONNECTING && to != RCH_CHAN_DEAD)
		rch_charge_give(&chan->charge, RDMACHAN_LIMIT_PENDING, 1);
	/* pairs with those of rch_chan_push() and op_early_outcome(): all it rests on is set */
	smp_store_release(&chan->state, to);
	/* A thread that waits for the peer's bytes is not interruptible. */
	wake_up_all(&chan->wait);
	return true;
}

static void chan_record_error(struct rch_chan *chan, const struct rdmachan_error *error)
{
	lockdep_assert_held(&chan->lock);
	chan->error = *error;
	chan->error.size = sizeof(chan->error);
	chan->error.service = chan->service;
}

/* Return: whether it has not ended before. */
static bool chan_fail(struct rch_chan *chan, const struct rdmachan_error *error)
{
	bool fails;

	spin_lock_bh(&chan->lock);
	fails = rch_chan_state_allowed(chan->state, RCH_CHAN_FAILED);
	if (fails) {
		chan_record_error(chan, error);
		rch_chan_early_lost(chan);
		rch_chan_set_state(chan, RCH_CHAN_FAILED);
	}
	spin_unlock_bh(&chan->lock);
	return fails;
}

/** rch_chan_fail - the channel has failed for good. Any context */
void rch_chan_fail(struct rch_chan *chan, const struct rdmachan_error *error)
{
	chan_fail(chan, error);
}

/**
 * rch_chan_note_error - record an error that does not end the channel, if none has
 * @chan: channel
 * @error: what went wrong; where is filled in
 *
 * Context: any.
 */
void rch_chan_note_error(struct rch_chan *chan, struct rdmachan_error *error)
{
	struct rch_link *link;

	/* While it is being connected its link may change: a link is freed by RCU. */
	rcu_read_lock();
	link = READ_ONCE(chan->lane.link);
	if (link)
		rch_link_where(link, error);
	else
		error->peer = chan->peer;
	rcu_read_unlock();
	spin_lock_bh(&chan->lock);
	if (chan->state != RCH_CHAN_FAILED)
		chan_record_error(chan, error);
	spin_unlock_bh(&chan->lock);
}

/** rch_chan_note - the same of a cause that has no more to tell than @detail. Any context */
void rch_chan_note(struct rch_chan *chan, u32 op, u32 cause, u64 detail)
{
	struct rdmachan_error error = {};

	rch_error_set(&error, op, cause, detail);
	rch_chan_note_error(chan, &error);
}

/** rch_chan_error_get - the last error record. Any context */
void rch_chan_error_get(struct rch_chan *chan, struct rdmachan_error *error)
{
	spin_lock_bh(&chan->lock);
	*error = chan->error;
	spin_unlock_bh(&chan->lock);
}

/**
 * rch_chan_peer_over - the peer accesses nothing of the channel any more
 * @chan: channel; the caller has a reference
 * @cause: &enum rdmachan_cause, why
 *
 * Its lane takes nothing more from the peer, or is detached. May come again. Any context.
 */
void rch_chan_peer_over(struct rch_chan *chan, u32 cause)
{
	spin_lock_bh(&chan->lock);
	/* One that goes on connecting gets another link. */
	if (chan->state != RCH_CHAN_CONNECTING)
		WRITE_ONCE(chan->ends.peer_over, true);
	/* A transfer may close what was open to the peer. */
	wake_up_poll(&chan->wait, RCH_POLL_NOTHING);
	spin_unlock_bh(&chan->lock);
	rch_chan_ops->end(chan, cause);
}

/**
 * rch_chan_dead - the link has ended
 * @lane: lane of the channel
 * @error: why
 *
 * Called once for each lane that is attached to it.
 */
void rch_chan_dead(struct rch_lane *lane, const struct rdmachan_error *error)
{
	struct rch_chan *chan = container_of(lane, struct rch_chan, lane);
	/* A message that may have been delivered is not sent once more. */
	bool sent = rch_lane_sent_early(lane), retry, attached;

	spin_lock_bh(&chan->lock);
	retry = chan->state == RCH_CHAN_CONNECTING && !rch_chan_given_up(chan) && !sent &&
		error->cause != RDMACHAN_CAUSE_UNLOAD;
	if (retry)
		chan_record_error(chan, error);
	spin_unlock_bh(&chan->lock);
	if (!retry)
		rch_chan_fail(chan, error);
	attached = rch_lane_detach(lane);
	/* Behind it: nothing is lent from then on. */
	rch_chan_peer_over(chan, error->cause);
	if (!attached)
		return;
	cancel_delayed_work_sync(&chan->rndv_rx.offer_work);
	if (cancel_delayed_work_sync(&chan->ends.linger_work))
		rch_chan_put(chan);
	/* The thread that is connecting decides what to do, and may make the lane anew: told
	 * only now that it is detached.
	 */
	if (retry)
		rch_chan_retry(chan, RCH_DOMAIN_ANY, error);
	rch_chan_put(chan);
}

/**
 * rch_chan_retry - connecting: try again
 * @chan: channel, whose lane is detached
 * @domain: the domain to try
 * @error: why the try has failed, in case it was the last one
 *
 * Context: any.
 */
void rch_chan_retry(struct rch_chan *chan, u32 domain, const struct rdmachan_error *error)
{
	struct rch_chan_opening *opening;

	spin_lock_bh(&chan->lock);
	if (chan->state == RCH_CHAN_CONNECTING)
		chan_record_error(chan, error);
	opening = chan->opening;
	if (opening) {
		opening->error = *error;
		opening->error.size = sizeof(*error);
		opening->error.service = chan->service;
		opening->redirect = domain;
		WRITE_ONCE(opening->retry, true);
	}
	wake_up_interruptible_all(&chan->wait);
	spin_unlock_bh(&chan->lock);
}

/** rch_chan_gone - both sides have closed */
void rch_chan_gone(struct rch_lane *lane)
{
	struct rch_chan *chan = container_of(lane, struct rch_chan, lane);

	rch_chan_peer_over(chan, RDMACHAN_CAUSE_PEER_CLOSED);
	cancel_delayed_work_sync(&chan->rndv_rx.offer_work);
	if (cancel_delayed_work_sync(&chan->ends.linger_work))
		rch_chan_put(chan);
	rch_chan_put(chan);
}

/** rch_chan_writable - there may be room again. Under the link's lock */
void rch_chan_writable(struct rch_lane *lane)
{
	struct rch_chan *chan = container_of(lane, struct rch_chan, lane);

	if (unlikely(chan->tx_kept))
		rch_chan_tx_settle(chan);
	wake_up_interruptible_poll(&chan->wait, EPOLLOUT | EPOLLWRNORM);
}

/*
 * How long a peer has to answer. It does so at once, however slow its programs are, if
 * it is honest; and if its link is not slower than rch_link_unanswered() has it.
 */
static unsigned long chan_answer_time(const struct rch_chan *chan)
{
	return chan->lane.link->path.patience;
}

static void chan_expect_answer(struct rch_chan *chan)
{
	chan->ends.overdue = true;
	chan->ends.due = jiffies + chan_answer_time(chan);
}

/*
 * The timer has a reference of its own, which the caller has taken for it besides the caller's. Not
 * by mod_delayed_work(), which does not tell whether it has queued the work: since 6.10 it does not
 * when the work is being cancelled (rch_chan_gone() on another processor).
 */
static void chan_queue_timer(struct rch_chan *chan, unsigned long delay)
{
	if (!queue_delayed_work(rch_wq, &chan->ends.linger_work, delay))
		rch_chan_put(chan);
	/* The lane may have gone just now: then nobody else stops the timer. */
	if (!READ_ONCE(chan->lane.id) && cancel_delayed_work(&chan->ends.linger_work))
		rch_chan_put(chan);
}

static void rch_chan_linger_work(struct work_struct *work)
{
	struct rch_chan *chan = container_of(to_delayed_work(work), struct rch_chan,
					     ends.linger_work);

	if (!READ_ONCE(chan->lane.id))
		goto out;
	if (chan->ends.overdue && !rch_overslept(chan->ends.due, chan_answer_time(chan))) {
		rch_link_unanswered(chan->lane.link, RDMACHAN_OP_NONE);
		goto out;
	}
	/* CLOSE that is only held back needs no reset. */
	rch_link_flush(chan->lane.link);
	if (!chan->ends.overdue)
		rch_lane_reset(&chan->lane, RDMACHAN_CAUSE_PEER_RESET, 0);
	chan_expect_answer(chan);
	kref_get(&chan->ref);
	chan_queue_timer(chan, chan_answer_time(chan));
out:
	rch_chan_put(chan);
}

static void chan_start_timer(struct rch_chan *chan, unsigned long delay)
{
	if (!cancel_delayed_work(&chan->ends.linger_work))
		kref_get(&chan->ref);
	chan_queue_timer(chan, delay);
}

/**
 * rch_chan_await_answer - nothing is left but that the peer answers OPEN or CLOSE
 * @chan: channel; the caller has a reference
 *
 * A peer that is alive and does not answer would keep the channel for ever. Any context.
 */
void rch_chan_await_answer(struct rch_chan *chan)
{
	if (!READ_ONCE(chan->lane.id))
		return;
	chan_expect_answer(chan);
	chan_start_timer(chan, chan_answer_time(chan));
}

/**
 * rch_chan_give_up - the channel has failed for good, by this side
 * @chan: channel; the caller has a reference
 * @error: why
 * @cause: for the peer's program
 * @detail: belongs to @cause
 *
 * Memory that is open to the peer comes back with its answer, or with the end of the link. Any
 * context.
 */
void rch_chan_give_up(struct rch_chan *chan, const struct rdmachan_error *error, u32 cause,
		      u32 detail)
{
	bool fails = chan_fail(chan, error);

	rch_lane_reset(&chan->lane, cause, detail);
	/* The program that closed it waits already, and may have the peer take its time first. */
	if (fails)
		rch_chan_await_answer(chan);
}

/** rch_chan_linger - the file is closed, and the messages are to be delivered. Any context */
void rch_chan_linger(struct rch_chan *chan)
{
	chan->ends.overdue = false;
	/* There is no file: no thread receives any more. */
	rch_lane_finish(&chan->lane, chan->counts.rx_messages);
	chan_start_timer(chan, msecs_to_jiffies(chan->tuning.linger_ms));
}

/**
 * rch_chan_release - the file is closed, or the listener gives the channel up
 * @chan: channel; the caller's reference is consumed
 * @signal: the signal that killed the last program that had it open; 0 when it closed
 *	it itself; -1 when the channel was never accepted
 *
 * Context: process; does not wait.
 */
void rch_chan_release(struct rch_chan *chan, int signal)
{
	enum rch_chan_state was;
	bool lingers = false;

	spin_lock_bh(&chan->lock);
	was = chan->state;
	if (!rch_chan_early_linger(chan, signal))
		rch_chan_set_state(chan, was == RCH_CHAN_OPEN || was == RCH_CHAN_WAITING ?
				   RCH_CHAN_CLOSING : RCH_CHAN_DEAD);
	rch_chan_connect_look(chan);
	spin_unlock_bh(&chan->lock);

	if (was == RCH_CHAN_OPEN || was == RCH_CHAN_WAITING) {
		if (signal > 0)
			rch_lane_reset(&chan->lane, RDMACHAN_CAUSE_PEER_KILLED, signal);
		else if (signal < 0 || chan->tuning.linger_ms == RDMACHAN_LINGER_NONE)
			rch_lane_reset(&chan->lane, RDMACHAN_CAUSE_PEER_RESET, 0);
		else
			lingers = true;
	}
	/* Ahead of what waits to be delivered, and may for long. */
	rch_chan_ops->released(chan);
	/* The thread that is connecting sees to its lane itself. */
	if (lingers)
		rch_chan_linger(chan);
	else if (was != RCH_CHAN_CONNECTING)
		rch_chan_await_answer(chan);
	/* Not before: the room it gives would let the peer send what nobody reads. */
	rch_chan_drop_received(chan);
	rch_chan_put(chan);
}

/**
 * rch_chan_push - send what is held back, as a program begins to wait
 * @chan: channel
 *
 * Context: any.
 */
void rch_chan_push(struct rch_chan *chan)
{
	/* While it is being connected its link may change; from then on it is kept. */
	if (smp_load_acquire(&chan->state) != RCH_CHAN_CONNECTING && chan->lane.link)
		rch_link_flush(chan->lane.link);
}

/* Return: whether nobody sends, or receives. Else rch_chan_unclaim() wakes waiters. */
static bool chan_is_free(struct rch_chan *chan, int bit)
{
	if (!test_bit(bit, &chan->busy))
		return true;
	set_bit(bit + RCH_CHAN_WANTED, &chan->busy);
	smp_mb__after_atomic(); /* pairs with that of rch_chan_unclaim() */
	return !test_bit(bit, &chan->busy);
}

static bool chan_try_claim(struct rch_chan *chan, int bit, bool (*ready)(struct rch_chan *chan))
{
	if (!ready(chan))
		return false;
	while (test_and_set_bit_lock(bit, &chan->busy))
		if (!chan_is_free(chan, bit))
			return false;
	/* What made it ready may have been used up by the one before. */
	if (ready(chan))
		return true;
	rch_chan_unclaim(chan, bit);
	return false;
}

/**
 * rch_chan_claim - become its sender or its receiver
 * @chan: channel
 * @bit: RCH_CHAN_TX or RCH_CHAN_RX
 * @ready: a condition that must hold besides; called without locks
 * @nonblock: do not wait
 * @deadline: how long to wait, as of rch_deadline()
 *
 * Context: process.
 * Return: 0, then rch_chan_unclaim() must follow; -ENOTCONN when the channel is being
 * connected, and takes no messages before; -EAGAIN, -ETIMEDOUT, -ERESTARTNOHAND or -ERESTARTSYS.
 */
int rch_chan_claim(struct rch_chan *chan, int bit, bool (*ready)(struct rch_chan *chan),
		   bool nonblock, unsigned long deadline)
{
	u64 until;
	long wait;

	if (chan_try_claim(chan, bit, ready))
		return 0;
	if (nonblock)
		return READ_ONCE(chan->state) == RCH_CHAN_CONNECTING && !chan->early.wanted ?
		       -ENOTCONN : -EAGAIN;
	rch_chan_push(chan);
	until = rch_busy_until(READ_ONCE(chan->busy_us), rch_time_left(deadline));
	while (rch_busy(until))
		if (chan_try_claim(chan, bit, ready))
			return 0;
	wait = rch_sleep_until(chan->wait, chan_try_claim(chan, bit, ready),
			       rch_time_left(deadline));
	return rch_wait_result(wait, deadline);
}

/* Whether somebody waits, and may for this. */
static bool chan_is_wanted(struct rch_chan *chan, int bit)
{
	bit += RCH_CHAN_WANTED;
	/* Behind the barrier of rch_chan_unclaim(). */
	return waitqueue_active(&chan->wait) && test_bit(bit, &chan->busy) &&
	       test_and_clear_bit(bit, &chan->busy);
}

/* Whether the lane may be made anew. Then a mutex protects it, and the caller may have to wait. */
static bool chan_lane_may_change(const struct rch_chan *chan)
{
	if (likely(!chan->early.wanted))
		return false;
	/* pairs with that of rch_chan_set_state() */
	return smp_load_acquire(&chan->state) == RCH_CHAN_CONNECTING;
}

/* The peer is told behind all that is sent. The caller has claimed RCH_CHAN_TX; may be repeated. */
static void chan_say_shut(struct rch_chan *chan)
{
	if (chan_lane_may_change(chan))
		rch_chan_early_shut(chan);
	else if (chan->lane.link)
		rch_lane_shut_send(&chan->lane);
}

/* Whether it was said, or there is nobody to tell. */
static bool chan_shut_is_said(const struct rch_chan *chan)
{
	if (chan_lane_may_change(chan))
		return READ_ONCE(chan->early.shut);
	return !chan->lane.link || READ_ONCE(chan->lane.refused);
}

/*
 * A thread has shut sending down while another sent, and has not waited for that: the peer is told
 * now. Only a thread that has claimed RCH_CHAN_TX may say so, as it is the end of what is sent.
 */
static noinline_for_stack void chan_tell_shut(struct rch_chan *chan)
{
	/*
	 * A thread that holds the claim sees to that itself. What is read without a lock here is
	 * never taken back, and is looked at again under the lock. A thread that is about to sleep
	 * comes here only when there was room to send, and so the channel is open.
	 */
	while (!chan_shut_is_said(chan) && !test_and_set_bit_lock(RCH_CHAN_TX, &chan->busy)) {
		chan_say_shut(chan);
		clear_bit_unlock(RCH_CHAN_TX, &chan->busy);
		smp_mb__after_atomic(); /* as in rch_chan_unclaim() */
	}
}

/**
 * rch_chan_unclaim - let the next one send or receive
 * @chan: channel
 * @bit: RCH_CHAN_TX or RCH_CHAN_RX
 *
 * A thread that waits for anything else than the end of this is not woken.
 */
void rch_chan_unclaim(struct rch_chan *chan, int bit)
{
	static const __poll_t polled[] = {
		[RCH_CHAN_TX] = EPOLLOUT | EPOLLWRNORM | EPOLLPRI,
		[RCH_CHAN_RX] = EPOLLIN | EPOLLRDNORM,
	};
	bool offered;
	__poll_t mask;

	clear_bit_unlock(bit, &chan->busy);
	/* pairs with those of chan_is_free(), prepare_to_wait(), poll, and rch_op_arm() */
	smp_mb__after_atomic();
	if (bit == RCH_CHAN_TX && unlikely(READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_SEND))
		chan_tell_shut(chan);
	/* Whoever receives next takes an offer. */
	offered = bit == RCH_CHAN_RX && rch_chan_may_take(chan);
	if (!chan_is_wanted(chan, bit) && !offered)
		return;
	/*
	 * Only if the next one can do something now, and nobody of the other direction: a
	 * request of io_uring that is told in vain too often gets a thread that waits.
	 */
	mask = rch_chan_poll_mask(chan) & polled[bit];
	/* One that is not open yet may take the next message, or the end, all the same. */
	if (bit == RCH_CHAN_TX && chan_lane_may_change(chan))
		mask = polled[bit];
	/* An abort throws arrived messages away, also where nobody can receive them yet. */
	if (mask || offered ||
	    (READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_ABORT))
		wake_up_interruptible_poll(&chan->wait, mask);
}

static bool chan_always(struct rch_chan *chan)
{
	return true;
}

/**
 * rch_chan_shutdown - end one or both directions
 * @chan: channel
 * @how: RDMACHAN_SHUTDOWN_*
 * @nonblock: do not wait for the sender or the receiver to find out
 * @deadline: how long to wait for it, as of rch_deadline()
 *
 * May be repeated. Context: process. Return: 0, -ENOTCONN, or as rch_chan_claim(). Then the peer is
 * told that nothing is sent any more when the thread that sends is done; that nothing is received
 * any more, only when this is repeated. Of a channel that is being connected, and takes messages
 * before it is open, the peer is told the latter when it has answered.
 */
int rch_chan_shutdown(struct rch_chan *chan, u32 how, bool nonblock, unsigned long deadline)
{
	bool early, ok;
	int ret;

	spin_lock_bh(&chan->lock);
	early = chan->state == RCH_CHAN_CONNECTING;
	ok = early ? chan->early.wanted : chan->state != RCH_CHAN_FAILED;
	/* Only once: an operation of a queue waits there itself, is woken, and comes here again. */
	if (ok && how & ~chan->ends.shut) {
		WRITE_ONCE(chan->ends.shut, chan->ends.shut | how);
		/* A thread that waits to send or receive finds out now, and lets us. */
		wake_up_interruptible_all(&chan->wait);
	}
	spin_unlock_bh(&chan->lock);
	if (!ok)
		return -ENOTCONN;
	/* Nothing has come, and from @shut on nothing is kept: see rch_chan_accept_got(). */
	if ((how & RDMACHAN_SHUTDOWN_RECV) && !early) {
		ret = rch_chan_claim(chan, RCH_CHAN_RX, chan_always, nonblock, deadline);
		if (ret)
			return ret;
		/*
		 * Told before there is room again: a thread that waits for it must not get it.
		 */
		rch_lane_read(&chan->lane, chan->counts.rx_messages, true);
		rch_chan_refuse_received(chan);
		rch_chan_unclaim(chan, RCH_CHAN_RX);
	}
	/*
	 * Behind a message that another thread is sending. Once the peer is told nobody sends: an
	 * operation of a queue that comes here each time it is woken must not wake others, or
	 * itself.
	 */
	if ((how & RDMACHAN_SHUTDOWN_SEND) && !chan_shut_is_said(chan)) {
		ret = rch_chan_claim(chan, RCH_CHAN_TX, chan_always, nonblock, deadline);
		if (ret)
			return ret;
		chan_say_shut(chan);
		rch_chan_unclaim(chan, RCH_CHAN_TX);
	}
	return 0;
}

/**
 * rch_chan_abort - end the channel at once, in both directions
 * @chan: channel
 * @nonblock: do not wait for a thread that is just receiving
 *
 * May be repeated. Context: process. Return: 0, -ENOTCONN; or -EAGAIN or -ERESTARTSYS, and it
 * must be repeated for what has arrived to be thrown away.
 */
int rch_chan_abort(struct rch_chan *chan, bool nonblock)
{
	struct rdmachan_error error = {};
	bool first, done;
	int ret;

	spin_lock_bh(&chan->lock);
	done = chan->ends.shut & RDMACHAN_SHUTDOWN_ABORT;
	first = !done && chan->state != RCH_CHAN_CONNECTING && chan->state != RCH_CHAN_FAILED;
	if (first)
		WRITE_ONCE(chan->ends.shut, chan->ends.shut | RDMACHAN_SHUTDOWN_ABORT);
	spin_unlock_bh(&chan->lock);
	if (!first && !done)
		return -ENOTCONN;
	if (first) {
		rch_error_set(&error, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_SHUTDOWN, 0);
		rch_link_where(chan->lane.link, &error);
		rch_chan_give_up(chan, &error, RDMACHAN_CAUSE_PEER_RESET, 0);
		/* One that the peer has closed does not fail: calls look at @shut. */
		rch_chan_note(chan, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_SHUTDOWN, 0);
	}
	ret = rch_chan_claim(chan, RCH_CHAN_RX, chan_always, nonblock, 0);
	if (ret)
		return ret;
	rch_chan_drop_received(chan);
	rch_chan_unclaim(chan, RCH_CHAN_RX);
	return 0;
}

/**
 * rch_chan_poll_mask - what poll() says
 * @chan: channel
 *
 * While somebody sends or receives, others cannot: a thread that has asked is told by
 * rch_chan_unclaim() when they can. Ends are shown all the same. Any context.
 */
__poll_t rch_chan_poll_mask(struct rch_chan *chan)
{
	__poll_t mask = 0;

	spin_lock_bh(&chan->lock);
	if (chan->state == RCH_CHAN_CONNECTING) {
		if (chan->ends.shut & RDMACHAN_SHUTDOWN_RECV)
			mask = EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
		goto out;
	}
	if ((chan->rx.complete && chan_is_free(chan, RCH_CHAN_RX)) ||
	    (chan->ends.shut & RDMACHAN_SHUTDOWN_RECV) ||
	    rch_chan_peer_has_shut(chan) ||
	    ((chan->state == RCH_CHAN_PEER_CLOSED || chan->state == RCH_CHAN_FAILED) &&
	     !atomic_read(&chan->lent)))
		mask |= EPOLLIN | EPOLLRDNORM;
	if ((chan->ends.shut & RDMACHAN_SHUTDOWN_RECV) ||
	    (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_SEND) ||
	    chan->state == RCH_CHAN_PEER_CLOSED)
		mask |= EPOLLRDHUP;
	if (chan->state == RCH_CHAN_FAILED)
		mask |= EPOLLERR | EPOLLHUP | EPOLLOUT | EPOLLWRNORM;
	else if (chan->state == RCH_CHAN_PEER_CLOSED)
		mask |= EPOLLHUP | EPOLLOUT | EPOLLWRNORM;
	else if ((rch_lane_has_room(&chan->lane) && chan_is_free(chan, RCH_CHAN_TX)) ||
		 (chan->ends.shut & RDMACHAN_SHUTDOWN_SEND) ||
		 (chan->ends.peer_shut & RDMACHAN_SHUTDOWN_RECV))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if ((chan->ends.shut & RDMACHAN_SHUTDOWN_SEND) && rch_chan_finish_settled(chan) &&
	    chan_is_free(chan, RCH_CHAN_TX))
		mask |= EPOLLPRI;
out:
	spin_unlock_bh(&chan->lock);
	return mask;
}

/** rch_chan_init - once, at load; @ops for as long as the module is loaded */
int rch_chan_init(const struct rch_chan_ops *ops)
{
	rch_chan_ops = ops;
	/* Programs read from the own segment, and from nothing else of a channel. */
	chan_cache = KMEM_CACHE_USERCOPY(rch_chan, SLAB_ACCOUNT, rx.own.bytes);
	return chan_cache ? 0 : -ENOMEM;
}

/** rch_chan_exit - once, at unload, after all channels were freed */
void rch_chan_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(chan_cache);
}
