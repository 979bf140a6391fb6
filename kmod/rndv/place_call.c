// SPDX-License-Identifier: GPL-2.0
/*
 * place_call.c - transfers of calls: a thread has its memory pinned, and waits
 *
 * Operation. A thread that may block and has a large message in one piece of memory, or room for
 * the one that it was offered, has the pages pinned before anybody waits for it. Then it begins a
 * transfer, and takes the transfer's steps itself, until that is over. A thread that begins to wait
 * for a message lends room for it, when the last one was written to its place (lend.c).
 *
 * Error handling. While nothing is being written a sender can stop: at its time-out, or for a
 * signal. Otherwise it waits for what is under way: that ends within RCH_PATIENCE_DEADS dead times,
 * or the path fails. A receiver takes back what it has lent, and the peer answers. Once a message
 * is being written it cannot stop: the peer's module has all that it needs, and finishes, or the
 * link ends.
 * All can be killed: then the transfer goes on alone, and keeps the pages until its end.
 */
#include <linux/mm.h>
#include <linux/uio.h>

#include "channel/chan.h"
#include "path/path_rdma.h"
#include "proto/way.h"
#include "rndv/place.h"
#include "rndv/rndv.h"

/* Whether the next @len bytes are one piece of a program's memory. */
static bool rch_call_range(const struct iov_iter *iter, size_t len, unsigned long *addr)
{
	if (iter_is_ubuf(iter)) {
		*addr = (unsigned long)iter->ubuf + iter->iov_offset;
		return true;
	}
	if (iter_is_iovec(iter) && iter_iov_len(iter) >= len) {
		*addr = (unsigned long)iter_iov_addr(iter);
		return true;
	}
	return false;
}

/* Why a thread that sends waits no longer; or 0. */
static int rch_call_stops(unsigned long deadline)
{
	if (signal_pending(current))
		return rch_wait_result(-ERESTARTSYS, deadline);
	return rch_time_left(deadline) ? 0 : -ETIMEDOUT;
}

/*
 * Take the steps of a transfer until it is over. @may_stop: a signal or the time-out stops it, as
 * far as that is possible. @message: the message sent or received. The reference is consumed.
 *
 * Return: its result; when it was stopped, why; or -EINTR: the thread is killed, and the transfer
 * goes on.
 */
static int rch_call_await(struct rch_place *place, bool may_stop, unsigned long deadline,
			  struct rch_rts *message)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	bool killed = false;
	int why = 0, ret;

	add_wait_queue(&place->wait, &wait);
	while (!rch_place_go_on(place)) {
		killed = fatal_signal_pending(current);
		if (may_stop && !why)
			why = rch_call_stops(deadline);
		if (killed || (why && rch_place_stop(place)))
			break;
		if (may_stop && !why)
			wait_woken(&wait, TASK_INTERRUPTIBLE,
				   min(rch_place_patience(place), rch_time_left(deadline)));
		else
			wait_woken(&wait, TASK_KILLABLE, rch_place_patience(place));
	}
	remove_wait_queue(&place->wait, &wait);
	if (killed) {
		rch_place_leave_call(place);
		return -EINTR;
	}
	ret = place->result;
	/* Nothing was sent, or nothing has come. */
	if (why && (ret == -ECANCELED || (!place->sending && ret == -EAGAIN)))
		ret = why;
	*message = place->rts;
	rch_place_put(place);
	return ret;
}

/**
 * rch_chan_send_placed - send a message without copying it, if that is possible
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @from: the message; consumed on success
 * @msg_flags: message flags, and RCH_MSG_TELL
 * @deadline: as of rch_deadline()
 *
 * Context: process; may block.
 * Return: -EAGAIN when the message must go as DATA, and nothing has happened. Else the claim is
 * given up: 0, and the message is written and counted; or an error, and nothing of it will be
 * delivered.
 */
int rch_chan_send_placed(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			 unsigned long deadline)
{
	u32 length = iov_iter_count(from);
	struct rch_place *place;
	struct rch_rts message;
	unsigned long addr;
	int ret;

	if (!rch_call_range(from, length, &addr) ||
	    rch_chan_way(chan, length, false) == RCH_WAY_EAGER)
		return -EAGAIN;
	/* If the memory is bad, the copy says so. */
	place = rch_place_alloc_pinned(chan, addr, length, DMA_TO_DEVICE, NULL, NULL);
	if (!place)
		return -EAGAIN;
	rch_place_send(place, length, msg_flags);
	ret = rch_call_await(place, true, deadline, &message);
	if (!ret)
		iov_iter_advance(from, length);
	return ret;
}

/**
 * rch_chan_recv_placed - receive a message that was offered
 * @chan: channel whose RCH_CHAN_RX the caller has claimed
 * @offer: as rch_chan_offer_take() gave it, when there was no other message to be read
 * @to: where to; consumed on success
 * @result: what was found
 *
 * The claim is given up.
 *
 * Context: process; may block.
 * Return: 0, and the message is counted; -EAGAIN when there is no message yet: it will come as
 * DATA, or was taken back, or the channel has ended; or an error.
 */
int rch_chan_recv_placed(struct rch_chan *chan, const struct rch_rts *offer,
			 struct iov_iter *to, struct rch_recv_result *result)
{
	struct rch_place *place = NULL;
	struct rch_rts message;
	unsigned long addr;
	int ret;

	result->length = offer->total;
	result->msg_flags = offer->msg_flags;
	if (offer->total <= iov_iter_count(to) && rch_call_range(to, offer->total, &addr))
		place = rch_place_alloc_pinned(chan, addr, offer->total, DMA_FROM_DEVICE,
					       NULL, NULL);
	/* If the memory is bad, the copy says so: the message may not come. */
	if (!place)
		goto refuse;
	/* The program is told first: afterwards the message cannot be kept. */
	if (result->out && result->out(result))
		goto free;
	rch_place_recv(place, offer, offer->total);
	ret = rch_call_await(place, false, 0, &message);
	if (!ret)
		iov_iter_advance(to, message.total);
	return ret;

free:
	rch_place_put(place);
refuse:
	rch_chan_grant_refuse(chan, offer->serial);
	rch_chan_unclaim(chan, RCH_CHAN_RX);
	return -EAGAIN;
}

static bool rch_call_always(struct rch_chan *chan)
{
	return true;
}

/* Whether one memory region has room for all of it. */
static bool rch_call_is_piece(unsigned long addr, u32 room)
{
	return DIV_ROUND_UP(offset_in_page(addr) + room, PAGE_SIZE) <= RCH_MR_PAGES;
}

/*
 * Room to lend for the next message: as much as the last one had. One that has several pieces asks
 * for each of them anyway. Return: it, or NULL.
 */
static struct rch_place *rch_call_lends(struct rch_chan *chan, const struct iov_iter *to)
{
	u32 room = min_t(size_t, READ_ONCE(chan->lend.room), iov_iter_count(to));
	unsigned long addr;

	if (!rch_way_is_placed(room, false) || !rch_chan_lends(chan, room) ||
	    !rch_call_range(to, room, &addr) || !rch_call_is_piece(addr, room))
		return NULL;
	return rch_place_alloc_pinned(chan, addr, room, DMA_FROM_DEVICE, NULL, NULL);
}

/**
 * rch_chan_recv_lent - lend memory for the next message, if that may be of use, and wait for it
 * @chan: channel, which has no message
 * @to: where to; consumed on success
 * @result: what was found
 *
 * A signal ends it when the peer has given back what it was lent: after a round trip, or when the
 * link to a peer that is silent has ended.
 *
 * Context: process; may block.
 * Return: 0, and the message is counted; -EAGAIN when there is none: nothing was lent, or the
 * message comes another way; or an error.
 */
int rch_chan_recv_lent(struct rch_chan *chan, struct iov_iter *to,
		       struct rch_recv_result *result)
{
	struct rch_place *place = rch_call_lends(chan, to);
	struct rch_rts message;
	int ret;

	if (!place)
		return -EAGAIN;
	/* Once the message is here it cannot be kept: see first whether the program can be told. */
	ret = result->out ? result->out(result) : 0;
	if (!ret)
		ret = rch_chan_claim(chan, RCH_CHAN_RX, rch_call_always, true, 0);
	if (ret) {
		rch_place_put(place);
		return -EAGAIN;
	}
	rch_place_lend(place, place->mem.length);
	ret = rch_call_await(place, true, 0, &message);
	if (ret)
		return ret;
	result->length = message.total;
	result->msg_flags = message.msg_flags;
	iov_iter_advance(to, message.total);
	ret = result->out ? result->out(result) : 0;
	if (ret)
		rch_chan_lost(chan);
	return ret;
}
