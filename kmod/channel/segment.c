// SPDX-License-Identifier: GPL-2.0
/*
 * segment.c - DATA records that were received and not read
 *
 * A segment is a part of a large message, or a *run*: small messages of one channel, one
 * behind the other in a frame. A run is kept as it came, headers and all, and its first
 * message is taken off by looking at the next header. So a message of a run costs neither
 * an allocation nor a place in a list.
 *
 * A few unread bytes must not hold a whole frame: a small record is copied, and the page of
 * the frame kept for what is not. A page that is less than half full is kept only while the
 * program is about to read it: of a program that lets more wait, bytes are charged and not pages.
 * So a channel holds less than RCH_KEEP_UNREAD / RCH_COPY_BREAK pages beyond twice its charge.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "base/inject.h"
#include "base/iter.h"
#include "base/rch.h"
#include "channel/chan.h"

/* Up to this is copied: at worst an eighth of a frame holds the whole. */
#define RCH_COPY_BREAK 2048
/* Of a channel that is charged more than this for what is unread, up to half a frame is copied. */
#define RCH_KEEP_UNREAD 16384
/* Segments that soft interrupt frees in one go. */
#define RCH_FREE_AT_ONCE 64
/* Bytes of messages that did not end, whose segments a work item frees; or one message. */
#define RCH_BYTES_LEFT (16U << 20)

static void rch_segments_left_work(struct work_struct *work);

static DEFINE_SPINLOCK(left_lock); /* protects left; innermost, any context */
static LIST_HEAD(left); /* segments that are still to be freed, of whichever channels */
static u64 left_bytes; /* of it, and of what the work item frees now; protected by left_lock */
static DECLARE_WORK(left_work, rch_segments_left_work);

/* @own: the channel's own one, if it may be that; @room: where @bytes of it go. */
static struct rch_segment *segment_alloc(struct rch_own_segment *own, u32 bytes, u8 **room)
{
	struct rch_segment *seg;

	if (own && bytes <= RCH_OWN_ROOM && !test_and_set_bit_lock(0, &own->busy)) {
		own->seg.own = true;
		*room = own->bytes;
		return &own->seg;
	}
	seg = rch_try(RCH_SITE_SEGMENT, kmalloc(sizeof(*seg) + bytes,
						GFP_ATOMIC | __GFP_NOWARN));
	if (!seg)
		return NULL;
	seg->own = false;
	atomic_inc(&rch_counts.segments);
	*room = (u8 *)(seg + 1);
	return seg;
}

static bool segment_is_copied(u32 span, const struct page *page, u64 unread)
{
	return span <= RCH_COPY_BREAK ||
	       (unread > RCH_KEEP_UNREAD && span <= page_size((struct page *)page) / 2);
}

/**
 * rch_segment_alloc - keep a record, and the run that begins with it
 * @own: the channel's own segment
 * @r: record, with its run
 * @page: the page it is in
 * @unread: what the channel is charged for what it has already, records included
 *
 * Context: any. Return: the segment, in no list; or NULL.
 */
struct rch_segment *rch_segment_alloc(struct rch_own_segment *own, const struct rch_record *r,
				      struct page *page, u64 unread)
{
	bool copy = segment_is_copied(r->run.span, page, unread);
	struct rch_segment *seg;
	u8 *room;

	/* A message that never ends may outlive the channel, see rch_segments_discard(). */
	if (!(r->flags & RCH_DATA_F_LAST))
		own = NULL;
	seg = segment_alloc(own, copy ? r->run.span : 0, &room);
	if (!seg && copy && r->run.span > RCH_COPY_BREAK) {
		/* Rather more memory than no channel. */
		copy = false;
		seg = segment_alloc(own, 0, &room);
	}
	if (!seg)
		return NULL;
	INIT_LIST_HEAD(&seg->list);
	seg->length = r->length;
	seg->total = r->total;
	seg->msg_flags = r->msg_flags;
	seg->flags = r->flags;
	seg->messages = r->run.count;
	seg->bytes = r->run.bytes;
	seg->hidden = 0;
	seg->local = false;
	if (copy) {
		seg->page = NULL;
		seg->data = room;
		rch_words_copy(room, r->payload, r->run.span);
	} else {
		get_page(page);
		seg->page = page;
		seg->data = r->payload;
	}
	return seg;
}

/**
 * rch_segment_make - a whole message that the module makes itself
 * @length: bytes of it
 * @gfp: how to allocate
 * @data: where they go
 *
 * Return: the segment, in no list; or NULL.
 */
struct rch_segment *rch_segment_make(u32 length, gfp_t gfp, void **data)
{
	struct rch_segment *seg = rch_try(RCH_SITE_SEGMENT,
					  kzalloc(sizeof(*seg) + length, gfp | __GFP_NOWARN));

	if (!seg)
		return NULL;
	INIT_LIST_HEAD(&seg->list);
	*data = seg + 1;
	seg->data = *data;
	seg->length = length;
	seg->total = length;
	seg->flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_GRANTS;
	seg->messages = 1;
	seg->bytes = length;
	atomic_inc(&rch_counts.segments);
	return seg;
}

/**
 * rch_segment_next - the first message of a run is read
 * @seg: segment; by the holder of RCH_CHAN_RX
 *
 * Return: false when it was the last.
 */
bool rch_segment_next(struct rch_segment *seg)
{
	struct rch_record r;

	if (seg->messages == 1)
		return false;
	rch_wire_run_next(seg->data, seg->length, &r);
	seg->messages--;
	seg->bytes -= seg->length;
	seg->length = r.length;
	/* Others ask for that, see rch_chan_next_length(). */
	WRITE_ONCE(seg->total, r.total);
	seg->msg_flags = r.msg_flags;
	seg->data = r.payload;
	return true;
}

static void segment_free(struct rch_segment *seg)
{
	if (seg->page)
		put_page(seg->page);
	if (seg->own) {
		clear_bit_unlock(0, &container_of(seg, struct rch_own_segment, seg)->busy);
		return;
	}
	atomic_dec(&rch_counts.segments);
	kfree(seg);
}

/** rch_segments_free - free a list of segments, and make it empty. Any context */
void rch_segments_free(struct list_head *list)
{
	struct rch_segment *seg, *tmp;

	list_for_each_entry_safe(seg, tmp, list, list)
		segment_free(seg);
	INIT_LIST_HEAD(list);
}

/** rch_segments_drop - the same, of very many. Context: process, unless there are none */
void rch_segments_drop(struct list_head *list)
{
	struct rch_segment *seg, *tmp;

	list_for_each_entry_safe(seg, tmp, list, list) {
		segment_free(seg);
		cond_resched();
	}
	INIT_LIST_HEAD(list);
}

static void rch_segments_left_work(struct work_struct *work)
{
	LIST_HEAD(drop);
	u64 bytes;

	spin_lock_bh(&left_lock);
	list_splice_init(&left, &drop);
	/* More is added behind this, while this is freed. */
	bytes = left_bytes;
	spin_unlock_bh(&left_lock);
	rch_segments_drop(&drop);
	spin_lock_bh(&left_lock);
	left_bytes -= bytes;
	spin_unlock_bh(&left_lock);
}

/* Nobody is charged for them any more, so there is a bound. Return: whether a work item has it. */
static bool segment_leave(struct rch_dropped *drop)
{
	bool ok;

	spin_lock_bh(&left_lock);
	ok = !left_bytes || left_bytes + drop->bytes <= RCH_BYTES_LEFT;
	if (ok) {
		list_splice_tail_init(&drop->list, &left);
		left_bytes += drop->bytes;
	}
	spin_unlock_bh(&left_lock);
	if (ok)
		queue_work(rch_wq, &left_work);
	return ok;
}

/**
 * rch_segments_discard - free what has come of a message that does not end, and make the list empty
 * @drop: segments; but for the first, which may be a whole message that is refused, none is the
 *	last of its message: so none is a channel's own, which may be freed before these are
 *
 * There may be as many as a peer likes, and soft interrupt has others to serve. So most are left to
 * a work item. Any context.
 */
void rch_segments_discard(struct rch_dropped *drop)
{
	struct rch_segment *seg, *tmp;
	u32 count = 0;

	list_for_each_entry_safe(seg, tmp, &drop->list, list) {
		if (count++ == RCH_FREE_AT_ONCE)
			break;
		list_del(&seg->list);
		segment_free(seg);
	}
	if (!list_empty(&drop->list) && !segment_leave(drop))
		rch_segments_free(&drop->list);
}
