/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chan_rndv.h - what a channel has for large messages, which are written from memory to memory
 *
 * The functions are those of the layer above, see rndv/rndv.h. A channel has these parts from its
 * first to its last moment, and looks at some of them itself: whether a message is on its way, and
 * whether the program has something to do.
 */
#ifndef _RCH_CHAN_RNDV_H
#define _RCH_CHAN_RNDV_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "proto/wire.h"

/**
 * enum rch_grant - a message that is written to here, see cts.c
 * @RCH_GRANT_NONE: none
 * @RCH_GRANT_TAKEN: a thread has taken the offer
 * @RCH_GRANT_OPEN: its memory is open to the peer
 * @RCH_GRANT_DONE: the piece was written
 * @RCH_GRANT_CANCELLED: the peer has taken the message back
 * @RCH_GRANT_LENT: memory is open to the peer for a message that it need not offer, see
 *	lend.c; then it is RCH_GRANT_DONE
 * @RCH_GRANT_RETURNED: the peer will not use that
 */
enum rch_grant {
	RCH_GRANT_NONE,
	RCH_GRANT_TAKEN,
	RCH_GRANT_OPEN,
	RCH_GRANT_DONE,
	RCH_GRANT_CANCELLED,
	RCH_GRANT_LENT,
	RCH_GRANT_RETURNED,
};

/**
 * struct rch_target - memory that is open to the peer, for a message
 * @state: how it is with that
 * @bytes: that the peer may write there
 * @serial: of the message; or of what is lent
 * @key: of the memory
 * @closed: DONE: by telling that, the peer has closed it
 * @placed: the message that was written to what was lent
 */
struct rch_target {
	enum rch_grant state;
	u32 bytes;
	u32 serial;
	u32 key;
	bool closed;
	struct rch_rts placed;
};

/**
 * enum rch_heir_state - a transfer that receives behind another, see heir.c
 * @RCH_HEIR_NONE: it does not
 * @RCH_HEIR_WAITS: it waits for its turn
 * @RCH_HEIR_TURN: that has come: it has claimed RCH_CHAN_RX now
 * @RCH_HEIR_LOST: a message before went another way, and the memory that it has lent is taken
 *	back
 */
enum rch_heir_state {
	RCH_HEIR_NONE,
	RCH_HEIR_WAITS,
	RCH_HEIR_TURN,
	RCH_HEIR_LOST,
};

/** RCH_HEIRS_MAX - at a time: the one message that is not theirs is the next one */
#define RCH_HEIRS_MAX (RCH_LENDS - 1)

/**
 * struct rch_heir - such a transfer; protected by chan->lock
 * @list: in @rndv_rx.heirs of the channel, in the order of their messages, if WAITS or LOST
 * @state: written with WRITE_ONCE()
 * @target: the memory that is open to the peer for its message
 */
struct rch_heir {
	struct list_head list;
	enum rch_heir_state state;
	struct rch_target target;
};

/**
 * enum rch_borrow - memory that the peer has lent, see borrow.c
 * @RCH_BORROW_NONE: none
 * @RCH_BORROW_HELD: some, for one message
 * @RCH_BORROW_USED: that one is being written there, or was
 */
enum rch_borrow {
	RCH_BORROW_NONE,
	RCH_BORROW_HELD,
	RCH_BORROW_USED,
};

/**
 * struct rch_borrowed - memory that the peer has lent
 * @state: how it is with that
 * @cts: where it is
 * @number: for which message, as @counts.tx_messages of the channel counts
 */
struct rch_borrowed {
	enum rch_borrow state;
	struct rch_cts cts;
	u64 number;
};

/**
 * enum rch_lent - what became of memory that was lent
 * @RCH_LENT_WAITS: nothing yet
 * @RCH_LENT_USED: a message was written there
 * @RCH_LENT_SMALL: the peer asks where to write one that is larger
 * @RCH_LENT_SHUT: nobody wants a message any more, or must have one
 * @RCH_LENT_VOID: the peer will not write there, or must not
 * @RCH_LENT_LOST: it was lent ahead, and is to be taken back
 * @RCH_LENT_TURN: it was lent ahead, and the heir's turn has come just now
 * @RCH_LENT_HERE: it was lent ahead, and a message is there, which waits for the heir's turn: for
 *	nothing that the peer has to do
 */
enum rch_lent {
	RCH_LENT_WAITS,
	RCH_LENT_USED,
	RCH_LENT_SMALL,
	RCH_LENT_SHUT,
	RCH_LENT_VOID,
	RCH_LENT_LOST,
	RCH_LENT_TURN,
	RCH_LENT_HERE,
};

/**
 * struct rch_rndv_rx - large messages that come to a channel
 *
 * Protected by the channel's lock but where told otherwise. See cts.c and heir.c.
 */
struct rch_rndv_rx {
	/**
	 * @wants_data: nobody waits in read(): messages shall come as DATA. Written with
	 * WRITE_ONCE(), without the lock
	 */
	bool wants_data;
	/** @readers: threads that wait for a message, or have just got one; needs no lock */
	atomic_t readers;
	/**
	 * @offered: the peer asks where to write @offer; written with WRITE_ONCE(), and read
	 * without the lock for a guess
	 */
	bool offered;
	/** @offer: the message */
	struct rch_rts offer;
	/**
	 * @crossed: the peer asks where to write @offer, and will find memory that is lent with
	 * @crossed_serial
	 */
	bool crossed;
	/** @crossed_serial: of that memory */
	u32 crossed_serial;
	/** @target: the memory that is open to the peer for the next message, or was last */
	struct rch_target target;
	/** @grant_left: bytes of the message that were not written; 0 when there is none */
	u32 grant_left;
	/**
	 * @heirs: &struct rch_heir of transfers that receive the messages behind that: each one the
	 * message behind that of the transfer before it
	 */
	struct list_head heirs;
	/** @heir_count: how many @heirs has; written with WRITE_ONCE() */
	u32 heir_count;
	/** @heirs_lost: how many of them are lost; written with WRITE_ONCE() */
	u32 heirs_lost;
	/** @late_keys: of memory that heirs had lent, and took away when the channel had ended */
	u32 late_keys[RCH_HEIRS_MAX];
	/** @late_count: how many there are */
	u32 late_count;
	/** @placing: number of the message that a transfer has claimed RCH_CHAN_RX for */
	u32 placing;
	/**
	 * @transfers: that receive: the one that has claimed RCH_CHAN_RX, and its heirs. While
	 * there is one, memory may be open to the peer
	 */
	u32 transfers;
	/**
	 * @lost: a message was placed that nobody wants any more: the channel ends with the last of
	 * these transfers, none of which has a message any more; written with WRITE_ONCE()
	 */
	bool lost;
	/** @offer_work: refuses an offer that nobody has taken; queued under the lock */
	struct delayed_work offer_work;
};

/**
 * struct rch_rndv_lend - whether to lend memory for the next message before it asks, see lend.c
 *
 * By the holder of RCH_CHAN_RX; there is no lock.
 */
struct rch_rndv_lend {
	/** @likely: the next message is likely to be written so */
	bool likely;
	/**
	 * @room: bytes of the last message that was placed here; a thread lends as many. Written
	 * with WRITE_ONCE()
	 */
	u32 room;
	/** @serial: of what was lent last */
	u32 serial;
	/** @skip: messages that are to be written before the next one is @likely to be */
	u32 skip;
	/** @penalty: how many there were the last time */
	u32 penalty;
	/**
	 * @opens: memory that will be lent is being opened, and the peer told of it soon; written
	 * with WRITE_ONCE(), and read by anybody
	 */
	bool opens;
};

/**
 * struct rch_rndv_tx - large messages that a channel sends
 *
 * Protected by the channel's lock but where told otherwise. See rts.c and borrow.c.
 */
struct rch_rndv_tx {
	/**
	 * @borrow: what the peer has lent; for which message is told by the last bits of its number
	 */
	struct rch_borrowed borrow[RCH_LENDS];
	/**
	 * @placed_next: number of the message behind the last one that was placed; 0 when none was.
	 * Written by the holder of RCH_CHAN_TX, and not while @cts_due
	 */
	u64 placed_next;
	/** @cts_due: the peer's answer to RTS @rts_serial is waited for */
	bool cts_due;
	/** @rts_total: bytes of its message, if it may find memory that is lent meanwhile; or 0 */
	u32 rts_total;
	/** @cts: the answer, when it has come */
	struct rch_cts cts;
	/** @cts_lent: that is memory in @borrow */
	bool cts_lent;
	/** @rts_serial: of the last RTS, 0 is none; by the holder of RCH_CHAN_TX */
	u32 rts_serial;
	/** @rts_skip: messages before RTS is tried again; by the holder of RCH_CHAN_TX */
	u32 rts_skip;
	/** @rts_penalty: how many there were the last time; by the holder of RCH_CHAN_TX */
	u32 rts_penalty;
};

#endif /* _RCH_CHAN_RNDV_H */
