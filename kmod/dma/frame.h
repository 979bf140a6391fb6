/* SPDX-License-Identifier: GPL-2.0 */
/*
 * frame.h - what is sent: items that wait, and the frames that carry them
 *
 * A channel's data waits as *items*, one for each DATA record. A small item has
 * its bytes behind it and is copied into a frame that others share. It may have room for
 * messages behind it, so that many of them wait in one piece of memory. A large one
 * is a frame of its own: the program's bytes are copied once, straight to where
 * the adapter will read them. Such a frame may be *bare*: then it has neither header nor
 * record, and immediate data stands for these.
 */
#ifndef _RCH_FRAME_H
#define _RCH_FRAME_H

#include <linux/list.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/**
 * struct rch_item - one record that waits to be sent
 * @list: in the queue of its lane; the code that has taken it out owns it
 * @frame: it is the first member of a &struct rch_txf, with its bytes in place
 * @fixed: it is part of another object and never freed
 * @type: &enum rch_record_type
 * @flags: of the record
 * @msg_flags: of the record
 * @length: of the record
 * @total: of the record
 * @key: of the peer's memory that it has no use for any more, or 0
 */
struct rch_item {
	struct list_head list;
	bool frame;
	bool fixed;
	u8 type;
	u8 flags;
	u16 msg_flags;
	u32 length;
	u32 total;
	u32 key;
};

/**
 * struct rch_small - an item with its bytes, and messages that wait behind it
 * @item: the first that was not sent
 * @at: where its bytes are in @data
 * @end: of what is used of @data
 * @size: of @data
 * @cost: of @item and of the others as records, see rch_window_cost()
 * @data: the bytes of @item, and those of the others, each behind a &struct rch_behind; all
 *	of them at multiples of RCH_WIRE_ALIGN
 */
struct rch_small {
	struct rch_item item;
	u32 at;
	u32 end;
	u32 size;
	u32 cost;
	u8 data[] __aligned(8);
};

/**
 * struct rch_behind - a whole message of DATA behind an item
 * @length: its bytes
 * @msg_flags: its flags, and RCH_MSG_TELL
 */
struct rch_behind {
	u32 length;
	u32 msg_flags;
} __aligned(8);

/** RCH_BEHIND_ROOM - most bytes of an item with others behind it: a page, with what tells of it */
#define RCH_BEHIND_ROOM (4096U - (u32)sizeof(struct rch_small))
/** RCH_BEHIND_MAX - bytes of the largest message for which others get such room */
#define RCH_BEHIND_MAX 512U

/**
 * struct rch_txf - a frame to send
 * @item: when it is queued as an item
 * @list: in the link's queue of frames that are ready or sent
 * @cqe: completion
 * @wr: work request
 * @sge: its only element
 * @data: the frame
 * @size: room in @data
 * @used: bytes of the frame so far, with header
 * @seq: number, once it is closed
 * @flags: RCH_FRAME_F_*
 * @mapped: @sge is mapped for the device
 * @bare: it is a bare frame
 * @chan: bare: channel number of its receiver
 * @key: of the peer's memory that the frame closes, or 0
 */
struct rch_txf {
	struct rch_item item;
	struct list_head list;
	struct ib_cqe cqe;
	struct ib_send_wr wr;
	struct ib_sge sge;
	u8 *data;
	u32 size;
	u32 used;
	u32 seq;
	u8 flags;
	bool mapped;
	bool bare;
	u16 chan;
	u32 key;
};

struct rch_txf *rch_txf_alloc(u32 size, gfp_t gfp);
void rch_txf_free(struct rch_txf *txf);
void rch_txf_reset(struct rch_txf *txf);
void rch_txf_make_bare(struct rch_txf *txf, u32 chan, u32 length);
struct rch_item *rch_item_alloc(u32 length, u32 size, gfp_t gfp);
void rch_item_free(struct rch_item *item);
void *rch_item_room(struct rch_item *item, u32 length);
void rch_item_put_behind(struct rch_item *item, u32 length, u32 msg_flags);
bool rch_item_next(struct rch_item *item);
u32 rch_item_charge(const struct rch_item *item);
int rch_frame_init(void);
void rch_frame_exit(void);

/** rch_item_data - where the bytes of a small item are */
static inline u8 *rch_item_data(struct rch_item *item)
{
	struct rch_small *small = container_of(item, struct rch_small, item);

	return small->data + small->at;
}

#endif /* _RCH_FRAME_H */
