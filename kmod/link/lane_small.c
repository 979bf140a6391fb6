// SPDX-License-Identifier: GPL-2.0
/*
 * lane_small.c - small messages of a lane, and memory for what waits
 *
 * They are copied from the program straight into the frame that the link is filling, under
 * link->lock and with page faults disabled: nothing that the program does to its memory can
 * make others wait. While the lane has something that waits they are copied behind that in
 * the same way, as long as its memory has room. Where the copy faults, or there is no room,
 * the bytes take the long way through an item of their own.
 *
 * The length of a message, and the items that wait before it, decide which memory its item has.
 * One kind of item is copied into a frame of others, and may have room for more messages behind it.
 * The other kind is a frame of its own, which may be bare.
 */
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "base/iter.h"
#include "dma/frame.h"
#include "link/link.h"

/*
 * Where messages wait for credit, two that fit a frame share one. Each is copied once more for
 * that, and of the credit there is, each takes half at most.
 */
static bool lane_small_shares_frame(struct rch_lane *lane, u32 len)
{
	return READ_ONCE(lane->queued) &&
	       2 * rch_wire_space(len) <= rch_wire_space(rch_lane_segment_max(lane));
}

/*
 * Bytes that a message gets with what may come behind it. Others wait already, and more are likely
 * to. Room is charged from the beginning, so there is no more than the send buffer has.
 */
static u32 lane_small_size(struct rch_lane *lane, u32 len)
{
	u64 queued = READ_ONCE(lane->queued), room = READ_ONCE(lane->room);

	if (!queued || queued >= room || len > RCH_BEHIND_MAX)
		return len;
	/* All of it would be full, and nothing could come behind. */
	return clamp(room - queued - 1, (u64)len, (u64)RCH_BEHIND_ROOM);
}

/**
 * rch_lane_item - get an item to fill
 * @lane: attached lane
 * @len: bytes, at most rch_lane_segment_max()
 * @whole: it is a message, and others may wait behind it
 * @gfp: how to allocate
 * @data: where the bytes go
 *
 * Return: the item, to be given to rch_lane_queue() or rch_item_free(); or NULL.
 */
struct rch_item *rch_lane_item(struct rch_lane *lane, u32 len, bool whole, gfp_t gfp,
			       void **data)
{
	u32 size = whole ? lane_small_size(lane, len) : len;
	struct rch_item *item;
	struct rch_txf *txf;

	if (len <= RCH_ITEM_MAX || (whole && lane_small_shares_frame(lane, len))) {
		item = rch_item_alloc(len, size, gfp);
		if (!item)
			return NULL;
		*data = rch_item_data(item);
	} else {
		txf = NULL;
		if (len == rch_lane_segment_max(lane))
			txf = rch_link_spare_get(lane->link);
		if (!txf)
			txf = rch_txf_alloc(sizeof(struct rch_wire_frame) +
					    rch_wire_space(len), gfp);
		if (!txf)
			return NULL;
		item = &txf->item;
		*data = txf->data + RCH_FRAME_OVERHEAD;
	}
	item->type = RCH_REC_DATA;
	item->length = len;
	return item;
}

/**
 * rch_lane_may_be_bare - whether a message can be a bare frame
 * @lane: attached lane, whose peer is known
 * @len: its length
 * @msg_flags: its flags, and RCH_MSG_TELL
 */
bool rch_lane_may_be_bare(const struct rch_lane *lane, u32 len, u32 msg_flags)
{
	const struct rch_link_terms *terms = &lane->link->terms;

	if (!(terms->features & RCH_FEATURE_BARE) || !len || len > terms->frame_size || msg_flags)
		return false;
	return lane->peer_id <= RCH_BARE_CHAN_MAX;
}

/**
 * rch_lane_bare_saves - whether a message needs a packet less if it is a bare frame
 * @lane: attached lane, whose peer is known
 * @len: its length
 *
 * One that is to share a frame with others needs no frame of its own instead.
 */
bool rch_lane_bare_saves(struct rch_lane *lane, u32 len)
{
	u32 mtu = lane->link->path.mtu;

	return len && !lane_small_shares_frame(lane, len) &&
	       (len - 1) / mtu != (len - 1 + RCH_FRAME_OVERHEAD) / mtu;
}

/** rch_lane_item_bare - as rch_lane_item(), of a message that shall be a bare frame */
struct rch_item *rch_lane_item_bare(struct rch_lane *lane, u32 len, gfp_t gfp, void **data)
{
	struct rch_txf *txf = rch_link_spare_get(lane->link) ?:
			      rch_txf_alloc(lane->link->terms.frame_size, gfp);

	if (!txf)
		return NULL;
	rch_txf_make_bare(txf, lane->peer_id, len);
	txf->item.type = RCH_REC_DATA;
	txf->item.length = len;
	*data = txf->data;
	return &txf->item;
}

static int lane_copy_small(void *to, u32 len, struct iov_iter *from)
{
	bool copied;

	pagefault_disable();
	copied = rch_copy_from_iter(to, len, from);
	pagefault_enable();
	return copied ? 0 : -EFAULT;
}

/* Nobody is overtaken: neither another lane nor what this one sent before. */
static bool lane_small_goes_straight(const struct rch_lane *lane)
{
	const struct rch_link *link = lane->link;

	return link->state == RCH_LINK_UP && !link->lanes.drr.head && !lane->control &&
	       list_empty(&lane->txq) && !lane->partial;
}

/* Into the open frame. Return: 0, or -EAGAIN when it must go the long way. */
static int lane_put_small(struct rch_lane *lane, struct iov_iter *from, u32 len, u32 msg_flags)
{
	struct rch_record r = {
		.chan = lane->peer_id,
		.type = RCH_REC_DATA,
		.flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST |
			 (msg_flags & RCH_MSG_TELL ? RCH_DATA_F_TELL : 0),
		.msg_flags = msg_flags,
		.length = len,
		.total = len,
	};
	struct rch_txf *txf;

	lockdep_assert_held(&lane->link->lock);
	/* A peer may have agreed upon frames that are smaller than this. */
	if (len > rch_lane_segment_max(lane) || !rch_window_may_send(&lane->window, len))
		return -EAGAIN;
	txf = rch_link_open_frame(lane->link, rch_wire_space(len));
	if (!txf ||
	    lane_copy_small(txf->data + txf->used + sizeof(struct rch_wire_record), len, from))
		return -EAGAIN;
	rch_wire_record_put(txf->data + txf->used, &r);
	txf->used += rch_wire_space(len);
	if (unlikely(rch_lane_answers_early(lane)))
		rch_link_hasten(lane->link);
	rch_window_sent(&lane->window, len);
	return 0;
}

/*
 * Behind what waits, if that is of this kind: it is sent when that is, and nobody has to do
 * anything for it. Return: 0, or -EAGAIN when it must go the long way.
 */
static int lane_small_put_behind(struct rch_lane *lane, struct iov_iter *from, u32 len,
				 u32 msg_flags)
{
	struct rch_item *last;
	void *to;

	lockdep_assert_held(&lane->link->lock);
	if (list_empty(&lane->txq) || lane->partial || lane->queued >= lane->room ||
	    len > rch_lane_segment_max(lane))
		return -EAGAIN;
	last = list_last_entry(&lane->txq, struct rch_item, list);
	to = rch_item_room(last, len);
	if (!to || lane_copy_small(to, len, from))
		return -EAGAIN;
	rch_lane_put_behind(lane, last, len, msg_flags);
	return 0;
}

/* Return: false when it must go another way. */
static bool lane_small_send_bare(struct rch_lane *lane, struct iov_iter *from, u32 len,
				 u32 msg_flags)
{
	struct rch_txf *txf;

	lockdep_assert_held(&lane->link->lock);
	if (!rch_link_bare_turn(lane->link) || !rch_lane_may_be_bare(lane, len, msg_flags) ||
	    !rch_window_may_send(&lane->window, len))
		return false;
	if (!rch_link_bare_does(lane->link) && !rch_lane_bare_saves(lane, len))
		return false;
	txf = rch_link_bare_frame(lane->link);
	if (!txf)
		return false;
	if (lane_copy_small(txf->data, len, from)) {
		rch_txf_free(txf);
		return false;
	}
	rch_txf_make_bare(txf, lane->peer_id, len);
	rch_link_bare_close(lane->link, txf);
	rch_window_sent(&lane->window, len);
	return true;
}

/**
 * rch_lane_send_small - send a whole message straight into the link's frame
 * @lane: attached lane
 * @from: the message; consumed on success, else as before
 * @len: its length, at most RCH_SMALL_MAX
 * @msg_flags: message flags, and RCH_MSG_TELL
 * @more: others follow at once, and rch_link_run() after them
 *
 * Context: process; does not sleep.
 * Return: 0; -EPIPE when the lane takes no more; -EAGAIN when it must go the long way.
 */
int rch_lane_send_small(struct rch_lane *lane, struct iov_iter *from, u32 len,
			u32 msg_flags, bool more)
{
	struct rch_link *link = lane->link;
	bool bare = false;
	int ret = -EAGAIN;

	spin_lock_bh(&link->lock);
	if (unlikely(lane->refused)) {
		ret = -EPIPE;
	} else if (lane_small_goes_straight(lane)) {
		bare = lane_small_send_bare(lane, from, len, msg_flags);
		ret = bare ? 0 : lane_put_small(lane, from, len, msg_flags);
	} else {
		ret = lane_small_put_behind(lane, from, len, msg_flags);
	}
	/* Else it goes out with those that follow, or whatever else the link sends first. */
	if ((!ret && !more) || (!bare && !list_empty(&link->tx.ready)))
		rch_link_run_locked(link);
	spin_unlock_bh(&link->lock);
	return ret;
}

/* The next of a row. Return: whether it is sent, or will be. */
static bool lane_small_put_next(struct rch_lane *lane, struct rch_tx_row *row, bool straight)
{
	u32 len = iov_iter_count(&row->iter);
	int ret = 0;

	lockdep_assert_held(&lane->link->lock);
	if (len > row->max)
		return false;
	if (!straight)
		ret = lane_small_put_behind(lane, &row->iter, len, row->msg_flags);
	else if (!row->alone || !lane_small_send_bare(lane, &row->iter, len, row->msg_flags))
		ret = lane_put_small(lane, &row->iter, len, row->msg_flags);
	if (ret)
		return false;
	row->messages++;
	row->bytes += len;
	return true;
}

/**
 * rch_lane_send_row - send whole messages one behind the other, straight into frames
 * @lane: attached lane
 * @row: the messages; bytes that are sent are counted there
 *
 * Ends at the first that must go another way. rch_link_push() must follow, but for the last row.
 * Context: process; does not sleep.
 */
void rch_lane_send_row(struct rch_lane *lane, struct rch_tx_row *row)
{
	struct rch_link *link = lane->link;
	bool straight;

	spin_lock_bh(&link->lock);
	straight = lane_small_goes_straight(lane);
	while (!lane->refused && row->next(row) && lane_small_put_next(lane, row, straight))
		;
	if (row->last && row->messages)
		rch_link_push_locked(link);
	/* Else it goes out with what follows, or whatever the link sends first. */
	else if (!row->alone && !list_empty(&link->tx.ready))
		rch_link_run_locked(link);
	spin_unlock_bh(&link->lock);
}
