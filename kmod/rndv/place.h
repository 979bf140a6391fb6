/* SPDX-License-Identifier: GPL-2.0 */
/*
 * place.h - transfers: large messages that are written from memory to memory
 *
 * The memory is part of a region, or a program's own, which is pinned as long as the transfer
 * lasts.
 *
 * Lifetime. A transfer is referenced by its owner, which has begun it, by itself until it is over,
 * and by its work while that is pending or runs. The owner may leave before: then what
 * cannot be stopped ends by itself.
 *
 * Locks. @lock is held while a step is taken, by the work or by the owner; in it
 * those of channel, link and path.
 */
#ifndef _RCH_PLACE_H
#define _RCH_PLACE_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "channel/chan.h"
#include "dma/mem.h"
#include "proto/state.h"
#include "proto/wire.h"

struct rch_key;
struct rch_mr;
struct rch_path;
struct rch_region;
struct rch_write;

/**
 * struct rch_place - a message on its way; protected by @lock but where told otherwise
 * @ref: references
 * @lock: see above
 * @work: takes the next step when the awaited event is late, when it is left alone, when the
 *	channel or the path has ended, or, sending, when the operation that owns it does not come
 * @wait: woken when the next step may be possible, for the owner to take it
 * @chan: channel; immutable
 * @claimed: of which it has claimed a direction
 * @region: where the message lies, used until it is over; NULL from then on, and when @pinned
 * @offset: of the message in it; immutable
 * @pinned: it lies in memory of a program's own, whose pages are pinned in @mem; false once it is
 *	over
 * @by_call: the thread of a call has begun it, and waits. When the awaited event is late that
 *	thread looks, and no work; immutable
 * @path: path of @chan; immutable
 * @keep: keeps the channel open, if not NULL; immutable, but for a thread that leaves
 * @drop: gives that back; likewise
 * @mm_kept: a reference of the program's mm, which has the account of its pages
 * @sending: the direction; immutable
 * @state: the awaited event; written with WRITE_ONCE()
 * @result: once it is over: 0, an error; receiving: -EAGAIN when no message has come
 * @left_alone: nobody wants it any more; written with WRITE_ONCE()
 * @missed: @work has taken a step, and the owner has not come since; written with WRITE_ONCE()
 * @mapped: we are a user of the path, with @mem or @key
 * @by_owner: the owner takes steps, and will run the link
 * @listed: @path_entry is in use: then @write and @mr are not freed
 * @chan_entry: in the channel's wait queue
 * @path_entry: in the path's
 * @deadline: when the awaited event is late, in jiffies; 0 is never. Written with WRITE_ONCE()
 * @late: it was, and that was dealt with
 * @mem: the message, mapped; @pinned: its pages, pinned until the transfer is over
 * @key: sending: key for all of it; receiving: key in whose mapping it is; or NULL: it is @mem
 * @keyed: sending: the message by that key, as one element
 * @cursor: the rest of that
 * @heir: receiving: behind another transfer, whose message comes before; written with
 *	WRITE_ONCE()
 * @as_heir: then; protected by the channel's lock
 * @stands: it goes without RTS and CTS, see lend.c
 * @asked: sending: number of its RTS; 0 is none. Else, and @stands, that of @rts is the other's
 * @rts: the message; receiving and @stands: how much there may be, until it is known
 * @cts: sending: what the peer has opened and is not written; or, @stands, the lent buffer
 * @left: sending: bytes behind what is open
 * @write: sending: its work requests
 * @let_go: sending: FIN waits no longer for what else the program does; written with WRITE_ONCE()
 * @fin: sending: what became of FIN
 * @told: sending: all of it is posted, and FIN is queued behind: the peer may receive the message
 * @iter: sending: the rest, for segments
 * @first: sending: no segment was queued
 * @mr: receiving: the memory open to the peer
 * @wait_open: receiving: its registration is waited for
 * @begun: receiving: the peer was told of some memory
 * @counted: receiving: in @lent of the link
 * @unwanted: receiving: its memory is wanted back, and nothing is to be lent any more
 * @last: receiving: then, when the peer must be done with it at last, in jiffies; else 0
 * @fins: receiving: FINs of all channels, when CTS was sent
 */
struct rch_place {
	struct kref ref;
	struct mutex lock;
	struct delayed_work work;
	wait_queue_head_t wait;
	struct rch_chan *chan;
	bool claimed;
	struct rch_region *region;
	u64 offset;
	bool pinned;
	bool by_call;
	struct rch_path *path;
	void *keep;
	void (*drop)(void *keep);
	bool mm_kept;
	bool sending;
	enum rch_place_state state;
	int result;
	bool left_alone;
	bool missed;
	bool by_owner;
	bool mapped;
	bool listed;
	wait_queue_entry_t chan_entry;
	wait_queue_entry_t path_entry;
	unsigned long deadline;
	bool late;
	struct rch_mem mem;
	struct rch_key *key;
	struct scatterlist keyed;
	struct rch_mem_cursor cursor;
	bool heir;
	struct rch_heir as_heir;
	bool stands;
	u32 asked;
	struct rch_rts rts;
	struct rch_cts cts;
	u32 left;
	struct rch_write *write;
	bool let_go;
	int fin;
	bool told;
	struct iov_iter iter;
	bool first;
	struct rch_mr *mr;
	bool wait_open;
	bool begun;
	bool counted;
	bool unwanted;
	unsigned long last;
	u32 fins;
};

/* Process context; may sleep, but for no program and no peer */
struct rch_place *rch_place_alloc(struct rch_chan *chan, struct rch_region *region,
				  u64 offset, void *keep, void (*drop)(void *keep));
struct rch_place *rch_place_alloc_pinned(struct rch_chan *chan, unsigned long addr,
					 size_t length, enum dma_data_direction direction,
					 void *keep, void (*drop)(void *keep));
void rch_place_send(struct rch_place *place, u32 length, u32 msg_flags);
void rch_place_recv(struct rch_place *place, const struct rch_rts *offer, u64 room);
void rch_place_lend(struct rch_place *place, u32 room);
bool rch_place_heir_begin(struct rch_place *place, struct rch_place *before);
void rch_place_lend_ahead(struct rch_place *place, u32 room);
bool rch_place_go_on(struct rch_place *place);
bool rch_place_all_sent(const struct rch_place *place);
void rch_place_let_go(struct rch_place *place);
bool rch_place_stop(struct rch_place *place);
void rch_place_leave(struct rch_place *place);
void rch_place_leave_call(struct rch_place *place);
long rch_place_patience(const struct rch_place *place);
void rch_place_put(struct rch_place *place);

/** rch_place_holds - whether it needs rch_place_let_go() soon; for the owner */
static inline bool rch_place_holds(const struct rch_place *place)
{
	return READ_ONCE(place->state) == RCH_PLACE_HOLDING && !READ_ONCE(place->let_go);
}

/** rch_place_over - whether it is over; then @wait is woken. Any context */
static inline bool rch_place_over(const struct rch_place *place)
{
	/* pairs with rch_place_finish(): the result is there, and the memory left alone */
	return smp_load_acquire(&place->state) == RCH_PLACE_OVER;
}

/*
 * place.c APIs for place_send.c and place_recv.c. All but rch_place_begin() need the transfer's
 * lock. Process context; may sleep, but for no program and no peer.
 */
void rch_place_begin(struct rch_place *place);
bool rch_place_run(struct rch_place *place);
void rch_place_run_by_owner(struct rch_place *place);
void rch_place_go_to(struct rch_place *place, enum rch_place_state state,
		     unsigned long patience);
bool rch_place_just_late(struct rch_place *place);
bool rch_place_not_yet(struct rch_place *place);
bool rch_place_map(struct rch_place *place, enum dma_data_direction direction);
void rch_place_unmap(struct rch_place *place);
void rch_place_unlist(struct rch_place *place);
void rch_place_unclaim(struct rch_place *place);
void rch_place_finish(struct rch_place *place, int result);

/* place_send.c, place_recv.c APIs for place.c: likewise */
bool rch_place_send_step(struct rch_place *place);
bool rch_place_send_stop(struct rch_place *place);
bool rch_place_recv_step(struct rch_place *place);
bool rch_place_recv_stop(struct rch_place *place);

#endif /* _RCH_PLACE_H */
