// SPDX-License-Identifier: GPL-2.0
/*
 * chan_early.c - messages that are sent while a channel is being connected
 *
 * Operation. A program that asks for it in CONNECT sends whole messages before the peer has
 * answered. They are copied, and kept with the channel; as soon as its lane is attached to a link
 * each is queued there as well, and goes behind OPEN by this side's number. The lane's window is
 * RCH_EARLY_MAX until ACCEPT tells a larger one. A message beyond that, or larger than a frame,
 * waits for ACCEPT as any message of a program that does not ask.
 *
 * Shutting down. A program may shut sending down before the answer, and SHUT goes behind the
 * messages, by this side's number as well. That receiving is shut down the peer is told when ACCEPT
 * has come: before, nothing can come that would have to be refused.
 *
 * Copies are kept because a link may end before OPEN has left, and a peer may name another trust
 * domain: then all are sent anew, on another link. They are never sent twice to where they may have
 * been delivered: a channel whose link ends behind one of them, or SHUT, without an answer, fails.
 *
 * Locks. @early.lock is held while the lane is attached, and while a sender uses it; the lane is
 * made anew only when @early.live has been taken back under the lock. A sender allocates before
 * it takes the lock, and a grace period is waited for without it: the module's worker waits for
 * no program's memory, nor a program for RCU. The channel's lock decides whether a message is
 * taken, as the answer comes in softirq.
 *
 * Error handling. The record of a failure tells how many messages were taken and not delivered: its
 * detail is their number, unless its cause has another.
 */
#include <linux/slab.h>
#include <linux/uio.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"

/**
 * struct rch_early_message - a message that was taken before the peer's answer
 * @list: in the messages of its channel
 * @length: its bytes
 * @msg_flags: its flags, and RCH_MSG_TELL
 * @data: its bytes
 */
struct rch_early_message {
	struct list_head list;
	u32 length;
	u32 msg_flags;
	u8 data[];
};

/** rch_chan_may_send_early - whether the channel takes messages before it is open; a racy answer */
bool rch_chan_may_send_early(const struct rch_chan *chan)
{
	return unlikely(chan->early.wanted) && READ_ONCE(chan->state) == RCH_CHAN_CONNECTING &&
	       !(READ_ONCE(chan->ends.shut) & RDMACHAN_SHUTDOWN_SEND);
}

/*
 * Whether a message of @length may be admitted; a racy answer, but what has no room gets none, nor
 * what is larger than the lane takes.
 */
static bool chan_early_has_room(const struct rch_chan *chan, size_t length)
{
	return length <= min(RCH_EARLY_MAX - RCH_WINDOW_RECORD, READ_ONCE(chan->early.max)) &&
	       rch_window_cost(length) <= RCH_EARLY_MAX - READ_ONCE(chan->early.cost);
}

static bool chan_early_always(struct rch_chan *chan)
{
	return true;
}

static struct rch_early_message *chan_early_make(const struct iov_iter *from, u32 msg_flags)
{
	struct rch_early_message *message;
	struct iov_iter iter = *from;
	u32 length = iov_iter_count(from);

	message = rch_try(RCH_SITE_ITEM, kmalloc(struct_size(message, data, length),
						 GFP_KERNEL_ACCOUNT));
	if (!message)
		return ERR_PTR(-ENOMEM);
	if (copy_from_iter(message->data, length, &iter) != length) {
		kfree(message);
		return ERR_PTR(-EFAULT);
	}
	message->length = length;
	message->msg_flags = msg_flags;
	return message;
}

static u8 chan_early_tell(const struct rch_early_message *message)
{
	return message->msg_flags & RCH_MSG_TELL ? RCH_DATA_F_TELL : 0;
}

/* A message as an item, whatever link it will go by. */
static struct rch_item *chan_early_whole(const struct rch_early_message *message)
{
	struct rch_item *item = rch_item_alloc(message->length, message->length,
					       GFP_KERNEL_ACCOUNT);

	if (!item)
		return NULL;
	memcpy(rch_item_data(item), message->data, message->length);
	item->type = RCH_REC_DATA;
	item->flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | chan_early_tell(message);
	item->msg_flags = message->msg_flags;
	item->total = message->length;
	return item;
}

/* A segment of @message, from @at on. */
static struct rch_item *chan_early_item(struct rch_chan *chan,
					const struct rch_early_message *message,
					u32 at)
{
	u32 length = min(message->length - at, rch_lane_segment_max(&chan->lane));
	struct rch_item *item;
	void *data;

	item = rch_lane_item(&chan->lane, length, length == message->length, GFP_KERNEL_ACCOUNT,
			     &data);
	if (!item)
		return NULL;
	memcpy(data, message->data + at, length);
	item->flags = at ? 0 : RCH_DATA_F_FIRST;
	if (at + length == message->length)
		item->flags |= RCH_DATA_F_LAST | chan_early_tell(message);
	item->msg_flags = message->msg_flags;
	item->total = message->length;
	return item;
}

/* Take a message, if that is not too late, nor too much. */
static bool chan_early_admit(struct rch_chan *chan, struct rch_early_message *message)
{
	struct rch_chan_early *early = &chan->early;
	u32 cost = rch_window_cost(message->length);
	bool ok;

	spin_lock_bh(&chan->lock);
	ok = chan->state == RCH_CHAN_CONNECTING && !early->over &&
	     !(chan->ends.shut & RDMACHAN_SHUTDOWN_SEND) &&
	     cost <= RCH_EARLY_MAX - early->cost;
	if (ok) {
		list_add_tail(&message->list, &early->messages);
		early->count++;
		WRITE_ONCE(early->cost, early->cost + cost);
		early->largest = max(early->largest, message->length);
	}
	spin_unlock_bh(&chan->lock);
	return ok;
}

/*
 * @item: the message, consumed. Once @message is admitted, ACCEPT may free it at any time.
 *
 * Return: 0; or -EAGAIN when the message is to wait.
 */
static int chan_early_take(struct rch_chan *chan, struct rch_early_message *message,
			   struct rch_item *item)
{
	bool live = chan->early.live;

	lockdep_assert_held(&chan->early.lock);
	if (message->length > chan->early.max || !chan_early_admit(chan, message)) {
		rch_item_free(item);
		return -EAGAIN;
	}
	/* If the lane takes nothing any more, there will be another one, or an end. */
	if (live)
		rch_lane_queue(&chan->lane, item);
	else
		rch_item_free(item);
	return 0;
}

/* The caller has claimed RCH_CHAN_TX. Return: as chan_early_take(); or -ENOMEM. */
static int chan_early_send(struct rch_chan *chan, struct rch_early_message *message)
{
	struct rch_item *item = chan_early_whole(message);
	int ret;

	if (!item)
		return -ENOMEM;
	mutex_lock(&chan->early.lock);
	ret = chan_early_take(chan, message, item);
	mutex_unlock(&chan->early.lock);
	return ret;
}

/**
 * rch_chan_send_early - send a message while the channel is being connected
 * @chan: channel
 * @from: the message; stays as it is
 * @msg_flags: message flags, and RCH_MSG_TELL
 * @nonblock: do not wait for another thread that sends
 * @deadline: how long to wait for it, as of rch_deadline()
 * @number: with RCH_MSG_TELL: as of rch_chan_taken_ask(), if it is accepted
 *
 * Context: process.
 * Return: 0 when the whole message is accepted; -EAGAIN when it is to be sent as any other, when
 * the channel is open, or which will be refused, as sending was shut down; -ENOMEM, -EFAULT; or as
 * rch_chan_claim().
 */
int rch_chan_send_early(struct rch_chan *chan, const struct iov_iter *from, u32 msg_flags,
			bool nonblock, unsigned long deadline, u64 *number)
{
	struct rch_early_message *message;
	int ret;

	/* Ahead of the claim: giving that up wakes others, which try in vain and wake this one. */
	if (!rch_chan_may_send_early(chan) || !chan_early_has_room(chan, iov_iter_count(from)))
		return -EAGAIN;
	message = chan_early_make(from, msg_flags);
	if (IS_ERR(message))
		return PTR_ERR(message);
	ret = rch_chan_claim(chan, RCH_CHAN_TX, chan_early_always, nonblock, deadline);
	if (!ret) {
		if (msg_flags & RCH_MSG_TELL)
			*number = rch_chan_taken_ask(chan);
		ret = chan_early_send(chan, message);
		if (!ret)
			rch_chan_tx_done(chan, iov_iter_count(from));
		rch_chan_unclaim(chan, RCH_CHAN_TX);
	}
	if (ret)
		kfree(message);
	return ret;
}

/**
 * rch_chan_early_shut - SHUT goes behind what was sent
 * @chan: channel that takes early messages, and was not open just now; the caller has claimed
 *	RCH_CHAN_TX
 *
 * May be repeated. Context: process.
 */
void rch_chan_early_shut(struct rch_chan *chan)
{
	mutex_lock(&chan->early.lock);
	WRITE_ONCE(chan->early.shut, true);
	/* If the lane takes nothing any more, there will be another one, or an end. */
	if (chan->early.live)
		rch_lane_shut_send(&chan->lane);
	mutex_unlock(&chan->early.lock);
}

/* Return: 0 or -ENOMEM */
static int chan_early_queue(struct rch_chan *chan, const struct rch_early_message *message)
{
	struct rch_item *item;
	u32 at = 0;

	do {
		item = chan_early_item(chan, message, at);
		if (!item)
			return -ENOMEM;
		at += item->length;
		/* If the link has ended just now, that is told as always: all is sent anew. */
		rch_lane_queue(&chan->lane, item);
	} while (at < message->length);
	return 0;
}

/* All that was taken goes to the lane. Nobody but the holder of the lock changes the list. */
static int chan_early_queue_all(struct rch_chan *chan)
{
	struct rch_early_message *message;

	lockdep_assert_held(&chan->early.lock);
	list_for_each_entry(message, &chan->early.messages, list)
		if (chan_early_queue(chan, message))
			return -ENOMEM;
	if (chan->early.shut)
		rch_lane_shut_send(&chan->lane);
	return 0;
}

/* A message that is larger than a frame would be in parts, and only whole ones go before ACCEPT. */
static void chan_early_set_live(struct rch_chan *chan, bool live)
{
	lockdep_assert_held(&chan->early.lock);
	chan->early.live = live;
	WRITE_ONCE(chan->early.max, live ? rch_lane_segment_max(&chan->lane) : U32_MAX);
}

/* The lane was on another link before; nobody looks at it any more after this. */
static void chan_early_renew_lane(struct rch_chan *chan)
{
	struct rch_open open = chan->lane.open;
	struct rch_link *link = chan->lane.link;

	if (!link)
		return;
	mutex_lock(&chan->early.lock);
	chan_early_set_live(chan, false);
	mutex_unlock(&chan->early.lock);
	synchronize_rcu();
	spin_lock_bh(&chan->lock);
	chan->lane.link = NULL;
	spin_unlock_bh(&chan->lock);
	rch_link_put(link);
	rch_lane_init(&chan->lane, chan->tuning.send_buffer);
	chan->lane.open = open;
}

static int chan_early_attach(struct rch_chan *chan, struct rch_link *link)
{
	int ret;

	lockdep_assert_held(&chan->early.lock);
	kref_get(&chan->ref);
	ret = rch_lane_attach(&chan->lane, link, GFP_KERNEL);
	if (ret) {
		rch_chan_put(chan);
		return ret;
	}
	ret = chan_early_queue_all(chan);
	chan_early_set_live(chan, !ret);
	if (ret && rch_lane_unattach(&chan->lane))
		rch_chan_put(chan);
	return ret;
}

/**
 * rch_chan_early_attach - attach the channel's lane, with the early messages
 * @chan: channel that is being connected
 * @link: link that is UP
 *
 * Nothing leaves before rch_lane_open(). Context: process, may sleep. Return: 0, -ENOMEM, or
 * -ENOTCONN when the link has ended.
 */
int rch_chan_early_attach(struct rch_chan *chan, struct rch_link *link)
{
	int ret;

	chan_early_renew_lane(chan);
	mutex_lock(&chan->early.lock);
	spin_lock_bh(&chan->lock);
	chan->opening->retry = false;
	spin_unlock_bh(&chan->lock);
	ret = chan_early_attach(chan, link);
	mutex_unlock(&chan->early.lock);
	return ret;
}

/**
 * rch_chan_given_up - whether nobody wants the channel any more that is being connected
 * @chan: channel; without its lock a racy answer
 */
bool rch_chan_given_up(const struct rch_chan *chan)
{
	/* pairs with that of rch_chan_early_linger() */
	return smp_load_acquire(&chan->ends.released) && !READ_ONCE(chan->early.lingers);
}

/* No later than connecting would have ended, or than an open channel lingers. */
static unsigned long chan_early_linger_until(const struct rch_chan *chan)
{
	unsigned long until = jiffies + msecs_to_jiffies(chan->tuning.linger_ms);

	lockdep_assert_held(&chan->lock);
	return time_before(until, chan->opening->deadline) ? until : chan->opening->deadline;
}

/**
 * rch_chan_early_linger - the file is closed: whether the channel goes on connecting all the same
 * @chan: channel, locked; its @ends.released is set here
 * @signal: as of rch_chan_release()
 *
 * Messages that were accepted are delivered, if they can be.
 */
bool rch_chan_early_linger(struct rch_chan *chan, int signal)
{
	bool lingers;

	lockdep_assert_held(&chan->lock);
	lingers = chan->state == RCH_CHAN_CONNECTING && chan->opening && chan->early.count &&
		  !signal && chan->tuning.linger_ms != RDMACHAN_LINGER_NONE;
	if (lingers)
		WRITE_ONCE(chan->opening->deadline, chan_early_linger_until(chan));
	WRITE_ONCE(chan->early.lingers, lingers);
	/* pairs with that of rch_chan_given_up() */
	smp_store_release(&chan->ends.released, true);
	return lingers;
}

/* Causes whose detail would be 0, or nothing that a program has use for. */
static bool chan_early_tells(u32 cause)
{
	switch (cause) {
	case RDMACHAN_CAUSE_NO_DEVICE:
	case RDMACHAN_CAUSE_ROUTE:
	case RDMACHAN_CAUSE_UNREACHABLE:
	case RDMACHAN_CAUSE_NO_MODULE:
	case RDMACHAN_CAUSE_NO_SERVICE:
	case RDMACHAN_CAUSE_BACKLOG:
	case RDMACHAN_CAUSE_REJECTED:
	case RDMACHAN_CAUSE_TIMEOUT:
	case RDMACHAN_CAUSE_PEER_DEAD:
	case RDMACHAN_CAUSE_PEER_RESTARTED:
	case RDMACHAN_CAUSE_DISCONNECTED:
	case RDMACHAN_CAUSE_PEER_RESOURCES:
		return true;
	default:
		return false;
	}
}

/**
 * rch_chan_early_lost - the channel fails: tell how many messages were not delivered
 * @chan: channel, locked; its error record is that of the failure, its state the one before
 */
void rch_chan_early_lost(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	if (chan->state != RCH_CHAN_CONNECTING || !chan->early.wanted)
		return;
	chan->early.lost = true;
	if (chan->early.count && chan_early_tells(chan->error.cause))
		chan->error.detail = chan->early.count;
}

/**
 * rch_chan_early_end - ACCEPT came: no message is sent early any more. Softirq
 * @chan: channel, whose peer_message_max is known; locked
 *
 * Return: whether the peer takes all that were.
 */
bool rch_chan_early_end(struct rch_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	chan->early.over = true;
	if (chan->early.largest <= chan->peer_message_max)
		return true;
	chan->early.lost = true;
	return false;
}

/** rch_chan_early_free - nothing is to be sent anew any more. Any context */
void rch_chan_early_free(struct rch_chan *chan)
{
	struct rch_early_message *message, *tmp;
	LIST_HEAD(messages);

	spin_lock_bh(&chan->lock);
	list_splice_init(&chan->early.messages, &messages);
	spin_unlock_bh(&chan->lock);
	list_for_each_entry_safe(message, tmp, &messages, list)
		kfree(message);
}
