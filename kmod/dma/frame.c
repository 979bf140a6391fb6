// SPDX-License-Identifier: GPL-2.0
/*
 * frame.c - memory for what is sent
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/frame.h"
#include "proto/wire.h"
#include "pure/window.h"

static struct kmem_cache *txf_cache;

/**
 * rch_txf_alloc - get a frame
 * @size: room, with the header; a multiple of RCH_WIRE_ALIGN
 * @gfp: how to allocate
 *
 * Context: any, as @gfp allows. Return: the frame with an empty header, or NULL.
 */
struct rch_txf *rch_txf_alloc(u32 size, gfp_t gfp)
{
	struct rch_txf *txf = rch_try(RCH_SITE_FRAME, kmem_cache_alloc(txf_cache, gfp));

	if (!txf)
		return NULL;
	txf->data = rch_try(RCH_SITE_FRAME, kmalloc(size, gfp | __GFP_NOWARN));
	if (!txf->data) {
		kmem_cache_free(txf_cache, txf);
		return NULL;
	}
	txf->size = size;
	txf->mapped = false;
	rch_txf_reset(txf);
	atomic_inc(&rch_counts.frames);
	return txf;
}

/** rch_txf_reset - make a frame that nobody refers to empty again */
void rch_txf_reset(struct rch_txf *txf)
{
	INIT_LIST_HEAD(&txf->item.list);
	INIT_LIST_HEAD(&txf->list);
	txf->item.frame = true;
	txf->item.fixed = false;
	txf->used = sizeof(struct rch_wire_frame);
	txf->flags = 0;
	txf->bare = false;
	txf->key = 0;
}

/** rch_txf_make_bare - the first @length bytes are a message to @chan, and all there is */
void rch_txf_make_bare(struct rch_txf *txf, u32 chan, u32 length)
{
	txf->bare = true;
	txf->chan = chan;
	txf->used = length;
}

/** rch_txf_free - free a frame that nobody refers to; it must not be mapped */
void rch_txf_free(struct rch_txf *txf)
{
	WARN_ON_ONCE(txf->mapped);
	kfree(txf->data);
	kmem_cache_free(txf_cache, txf);
	atomic_dec(&rch_counts.frames);
}

/**
 * rch_item_alloc - get a small item
 * @length: its bytes
 * @size: room for them, and for messages behind it; at least @length
 * @gfp: how to allocate
 *
 * Return: the item, or NULL.
 */
struct rch_item *rch_item_alloc(u32 length, u32 size, gfp_t gfp)
{
	struct rch_small *small;

	if (!(gfp & __GFP_NOFAIL) && rch_no_memory(RCH_SITE_ITEM))
		return NULL;
	small = kmalloc(struct_size(small, data, size), gfp);
	if (!small)
		return NULL;
	atomic_inc(&rch_counts.items);
	INIT_LIST_HEAD(&small->item.list);
	small->item.frame = false;
	small->item.fixed = false;
	small->item.length = length;
	small->item.key = 0;
	small->at = 0;
	small->end = ALIGN(length, RCH_WIRE_ALIGN);
	small->size = size;
	small->cost = rch_window_cost(length);
	return &small->item;
}

/**
 * rch_item_room - where the bytes of a message go that shall wait behind others
 * @item: item of any sort, the last of its lane; it ends a message
 * @length: bytes of the message
 *
 * Return: the place, which is the message's with rch_item_put_behind(); or NULL.
 */
void *rch_item_room(struct rch_item *item, u32 length)
{
	struct rch_small *small = container_of(item, struct rch_small, item);
	u32 need = sizeof(struct rch_behind) + length;

	if (item->frame || item->fixed || small->end > small->size ||
	    need > small->size - small->end)
		return NULL;
	return small->data + small->end + sizeof(struct rch_behind);
}

/** rch_item_put_behind - a message is where rch_item_room() has said */
void rch_item_put_behind(struct rch_item *item, u32 length, u32 msg_flags)
{
	struct rch_small *small = container_of(item, struct rch_small, item);
	struct rch_behind *behind = (struct rch_behind *)(small->data + small->end);

	behind->length = length;
	behind->msg_flags = msg_flags;
	small->cost += rch_window_cost(length);
	small->end += ALIGN((u32)sizeof(*behind) + length, RCH_WIRE_ALIGN);
}

/**
 * rch_item_next - the item was sent: become the message behind it
 * @item: item of any sort
 *
 * Return: whether there is one.
 */
bool rch_item_next(struct rch_item *item)
{
	struct rch_small *small = container_of(item, struct rch_small, item);
	const struct rch_behind *behind;
	u32 next;

	if (item->frame || item->fixed)
		return false;
	next = small->at + ALIGN(item->length, RCH_WIRE_ALIGN);
	if (next >= small->end)
		return false;
	behind = (const struct rch_behind *)(small->data + next);
	small->at = next + sizeof(*behind);
	small->cost -= rch_window_cost(item->length);
	item->flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST |
		      (behind->msg_flags & RCH_MSG_TELL ? RCH_DATA_F_TELL : 0);
	item->msg_flags = behind->msg_flags;
	item->length = behind->length;
	item->total = behind->length;
	return true;
}

/**
 * rch_item_charge - what an item of DATA that waits is charged
 * @item: item of any sort
 *
 * The cost of the messages in it; but no less than the memory it has for more, used or not.
 */
u32 rch_item_charge(const struct rch_item *item)
{
	const struct rch_small *small = container_of(item, struct rch_small, item);

	if (item->frame || item->fixed)
		return rch_window_cost(item->length);
	return max(small->cost, small->size);
}

/** rch_item_free - free an item of any sort that is in no queue */
void rch_item_free(struct rch_item *item)
{
	if (item->fixed)
		return;
	if (item->frame) {
		rch_txf_free(container_of(item, struct rch_txf, item));
		return;
	}
	kfree(container_of(item, struct rch_small, item));
	atomic_dec(&rch_counts.items);
}

/** rch_frame_init - once, at load */
int rch_frame_init(void)
{
	txf_cache = KMEM_CACHE(rch_txf, SLAB_ACCOUNT);
	return txf_cache ? 0 : -ENOMEM;
}

/** rch_frame_exit - once, when all frames are freed */
void rch_frame_exit(void)
{
	kmem_cache_destroy(txf_cache);
}
