/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chan.h - channels: what programs connect, send on and receive from
 *
 * Lifetime. A channel is referenced by its file (or by the listener's queue before it
 * is accepted), by its lane while that is attached, by the linger timer, and by the work that frees
 * what the lane has dropped. Memory is freed after an RCU grace period, because softirq finds lanes
 * under RCU.
 *
 * Locks. @lock protects states and the receive queue, and is taken in softirq. The
 * link's lock is never taken inside @lock, nor the reverse. Two bits of @busy let one
 * thread send, and one receive, at a time, so that a message is never interleaved with
 * another. They are bits and not mutexes because a thread may hold one for as long as
 * its peer or its memory pleases, and others must be able to time out.
 */
#ifndef _RCH_CHAN_H
#define _RCH_CHAN_H

#include <linux/mutex.h>
#include <linux/poll.h>

#include "base/object.h"
#include "base/quota.h"
#include "base/rch.h"
#include "channel/chan_rndv.h"
#include "link/link.h"

struct iov_iter;
struct rch_grants;

/**
 * struct rch_segment - a DATA record that was received, or a run of them
 * @list: in the channel's queue
 * @page: holds the bytes, or NULL when they are behind this
 * @data: the bytes of the first record
 * @length: how many
 * @total: of its whole message
 * @msg_flags: of the message
 * @flags: RCH_DATA_F_*, the same for all
 * @messages: records
 * @bytes: of all of them
 * @own: it is part of a &struct rch_own_segment
 * @hidden: bytes of @length that came and are not for the program: keys of grants
 * @local: it did not come from the peer, and takes nothing of its window
 */
struct rch_segment {
	struct list_head list;
	struct page *page;
	const u8 *data;
	u32 length;
	u32 total;
	u16 msg_flags;
	u8 flags;
	u32 messages;
	u32 bytes;
	bool own;
	bool local;
	u32 hidden;
};

/**
 * struct rch_dropped - segments that nobody will read, and that are charged no longer
 * @list: they
 * @bytes: what was charged for them, records included
 */
struct rch_dropped {
	struct list_head list;
	u64 bytes;
};

/** RCH_DROPPED - a &struct rch_dropped without segments; @name is the variable */
#define RCH_DROPPED(name) { .list = LIST_HEAD_INIT((name).list) }

/** RCH_EVENT_BYTES - what an event of the module's costs until it is read */
#define RCH_EVENT_BYTES (sizeof(struct rch_segment) + sizeof(struct rdmachan_grant_event))

/** RCH_OWN_ROOM - bytes of &struct rch_own_segment */
#define RCH_OWN_ROOM 128

/**
 * struct rch_own_segment - a segment that a channel has for a small message, so that one at
 *	a time needs no allocation
 * @busy: bit 0: it is in use
 * @seg: the segment
 * @bytes: of the message
 */
struct rch_own_segment {
	unsigned long busy;
	struct rch_segment seg;
	u8 bytes[RCH_OWN_ROOM];
};

/**
 * enum rch_opening_step - what a channel that is being connected waits for
 * @RCH_OPENING_FIND: for nothing: it is about to look for a link
 * @RCH_OPENING_LINK: for the link
 * @RCH_OPENING_ANSWER: for the peer's answer to OPEN
 */
enum rch_opening_step {
	RCH_OPENING_FIND,
	RCH_OPENING_LINK,
	RCH_OPENING_ANSWER,
};

/**
 * struct rch_chan_opening - a channel that is being connected, see chan_connect.c
 *
 * The thread or @work that connects has these members for itself, but where they name the lock. It
 * frees the struct when connecting is over, so that an open channel is smaller.
 */
struct rch_chan_opening {
	/** @chan: the channel; set by rch_chan_alloc(), then immutable */
	struct rch_chan *chan;
	/** @work: connecting without a program that waits: it runs when something has changed */
	struct delayed_work work;
	/** @step: the event that is waited for */
	enum rch_opening_step step;
	/** @tries: how often a link was looked for */
	u32 tries;
	/** @background: @work connects, and may be queued; protected by the channel's lock */
	bool background;
	/** @link_entry: queues @work; in the queue of @link, when @background is set */
	wait_queue_entry_t link_entry;
	/** @chan_entry: queues @work; in the channel's queue, when @background is set */
	wait_queue_entry_t chan_entry;
	/** @traffic_class: of packets, as of CONNECT; immutable */
	u32 traffic_class;
	/** @peer: where to; immutable */
	struct sockaddr_storage peer;
	/** @source: own address, as of rch_addr_to_own(); immutable */
	struct sockaddr_storage source;
	/**
	 * @deadline: of connecting, in jiffies; set before that begins. The channel's close may
	 * bring it forward, with WRITE_ONCE() under the channel's lock; read without the lock
	 */
	unsigned long deadline;
	/** @link: the link it is connected over, as of rch_link_get(); or NULL */
	struct rch_link *link;
	/**
	 * @retry: the link has ended or the peer redirects; try again. Protected by the channel's
	 * lock; set with WRITE_ONCE(), and read without the lock by the waiter
	 */
	bool retry;
	/** @redirect: the domain to try then; protected by the channel's lock */
	u32 redirect;
	/** @domain: the domain to try, or RCH_DOMAIN_ANY */
	u32 domain;
	/**
	 * @error: why the last try has failed; protected by the channel's lock. Other calls that
	 * fail have the channel's record
	 */
	struct rdmachan_error error;
};

/**
 * struct rch_chan_early - messages that are sent while the channel is being connected
 *
 * See chan_early.c. Protected by the channel's lock but where told otherwise.
 */
struct rch_chan_early {
	/** @wanted: CONNECT has asked for that; set before connecting begins, then immutable */
	bool wanted;
	/**
	 * @lock: of @live, and of the lane while that may be made anew; held while a message is
	 * taken, and while the lane is attached. Outside of the channel's lock
	 */
	struct mutex lock;
	/** @live: the lane is attached, and takes messages; protected by @lock */
	bool live;
	/**
	 * @max: bytes of the largest message that the lane takes before ACCEPT, if it is @live.
	 * Protected by @lock; written with WRITE_ONCE(), and read without the lock for a guess
	 */
	u32 max;
	/** @over: no more are taken; they are sent as others are */
	bool over;
	/**
	 * @shut: sending was shut down: SHUT goes behind the messages. Protected by @lock; written
	 * with WRITE_ONCE(), and read without the lock for a guess. It is never taken back
	 */
	bool shut;
	/** @messages: as &struct rch_early_message, until it is known that the peer has opened */
	struct list_head messages;
	/** @count: how many were taken */
	u32 count;
	/** @cost: of them, at most RCH_EARLY_MAX */
	u32 cost;
	/** @largest: bytes of the largest of them */
	u32 largest;
	/**
	 * @lost: the channel could not be connected: they were not delivered, or nobody knows.
	 * Written ahead of the channel's state; read behind that without the lock
	 */
	bool lost;
	/**
	 * @lingers: the file is closed, and they are to be delivered all the same. Written with
	 * WRITE_ONCE() ahead of @ends.released; read behind that without the lock
	 */
	bool lingers;
};

/**
 * struct rch_chan_ends - how a channel ends, at both sides
 *
 * Protected by the channel's lock but where told otherwise. @released, @shut, @peer_shut and
 * @peer_done are written with WRITE_ONCE(), and read without the lock for a guess.
 */
struct rch_chan_ends {
	/** @released: there is no file any more */
	bool released;
	/** @told: the program was told that the peer sends no more, and the peer that it was */
	bool told;
	/** @peer_done: the peer's program receives no more; written behind @peer_read */
	bool peer_done;
	/**
	 * @overdue: the next time @linger_work runs the peer's answer is overdue. Written before
	 * @linger_work is queued, and by @linger_work itself; not under the lock
	 */
	bool overdue;
	/** @due: when, in jiffies; likewise */
	unsigned long due;
	/** @shut: RDMACHAN_SHUTDOWN_* done here */
	u32 shut;
	/** @peer_shut: RDMACHAN_SHUTDOWN_* done by the peer */
	u32 peer_shut;
	/**
	 * @peer_over: the peer accesses nothing of the channel any more: CLOSE or CLOSED has come,
	 * or the link has ended. Written with WRITE_ONCE(), and stays
	 */
	bool peer_over;
	/** @peer_read: messages that the peer's program had received then, as the peer tells */
	u64 peer_read;
	/**
	 * @killed_by: the signal that was ending the program which closed a descriptor of the
	 * channel last, or 0; written with WRITE_ONCE(), without the lock
	 */
	int killed_by;
	/**
	 * @linger_work: resets the channel when it was not delivered in time, and ends the link
	 * when the peer does not answer. It has a reference of the channel while it is queued
	 */
	struct delayed_work linger_work;
};

/**
 * struct rch_chan_rx - messages that were received and not read, and those to come
 *
 * Protected by the channel's lock. Softirq puts messages in; the holder of RCH_CHAN_RX takes them
 * out. See chan_rx.c.
 */
struct rch_chan_rx {
	/**
	 * @segments: received; complete messages first. A reader that has claimed RCH_CHAN_RX may
	 * walk the segments of those without the lock, and go on in a run
	 */
	struct list_head segments;
	/** @complete: complete messages in @segments; read without the lock for a guess */
	u32 complete;
	/** @events: those of @complete that the module has made, see rch_chan_event() */
	u32 events;
	/** @window: what the peer may send */
	struct rch_window_rx window;
	/** @expect: bytes of the message that is arriving which are still to come */
	u32 expect;
	/** @own: for one of @segments */
	struct rch_own_segment own;
	/** @arriving: a message is arriving */
	bool arriving;
	/** @from: the segment at which that begins; only while there is one */
	struct rch_segment *from;
	/** @from_records: its records that have come */
	u32 from_records;
	/** @from_bytes: bytes of them */
	u32 from_bytes;
	/**
	 * @excess: bytes that are charged besides the receive buffer, as @window has promised more.
	 * Bytes that were read are given back in lumps of a quarter of the buffer
	 */
	u64 excess;
	/**
	 * @over: why there could not be more @excess: &enum rdmachan_cause. Set with WRITE_ONCE()
	 * before the channel fails for that
	 */
	u32 over;
	/** @queued: bytes in @segments that the peer has sent */
	u64 queued;
	/** @records: records of these */
	u32 records;
};

/**
 * struct rch_chan_counts - messages, and their bytes
 *
 * LIST tells them; and messages have numbers by @tx_messages and @rx_messages. Those of tx_ are
 * written by the holder of RCH_CHAN_TX, those of rx_ by the holder of RCH_CHAN_RX.
 */
struct rch_chan_counts {
	/** @tx_messages: accepted */
	u64 tx_messages;
	/** @tx_bytes: of these */
	u64 tx_bytes;
	/** @rx_messages: read */
	u64 rx_messages;
	/** @rx_bytes: of these */
	u64 rx_bytes;
	/** @tx_placed: messages that were not copied, of @tx_messages */
	u64 tx_placed;
	/** @rx_placed: likewise, of @rx_messages */
	u64 rx_placed;
	/** @tx_regions: messages from regions, of @tx_messages */
	atomic64_t tx_regions;
	/** @rx_regions: messages into regions, of @rx_messages */
	atomic64_t rx_regions;
};

/**
 * struct rch_chan_taken - messages sent that ask whether the peer's program has received them
 *
 * Protected by the channel's lock. Numbers of messages, from 1 on. See chan_taken.c.
 */
struct rch_chan_taken {
	/** @asked: of the last that has asked; written by the holder of RCH_CHAN_TX */
	u64 asked;
	/**
	 * @told: of the last that the peer has told of; written with WRITE_ONCE(), and read without
	 * the lock for a guess
	 */
	u64 told;
};

/**
 * struct rch_chan_drop - what the lane will not send any more, and is not freed yet
 * @lock: protects the others but @work; an innermost lock, taken inside the link's
 * @items: as &struct rch_item, in no other list
 * @words: as &struct rch_word, likewise
 * @pending: @work will take @lock once more, and has a reference to the channel
 * @work: frees them, and gives that reference back; of rch_wq. See chan_tx.c
 */
struct rch_chan_drop {
	spinlock_t lock;
	struct list_head items;
	struct list_head words;
	bool pending;
	struct work_struct work;
};

/** struct rch_chan - a channel */
struct rch_chan {
	/** @ref: references */
	struct kref ref;
	/** @rcu: frees it */
	struct rcu_head rcu;
	/** @object: for LIST */
	struct rch_object object;
	/** @lane: its end of the link */
	struct rch_lane lane;
	/** @net: network namespace; referenced while there is a file */
	struct net *net;
	/** @file: its file, for calls on that; NULL before it is made; then immutable */
	struct file *file;
	/** @service: service; immutable */
	u32 service;
	/** @active: made by CONNECT; immutable */
	bool active;
	/** @peer: address of the peer; immutable */
	struct rdmachan_addr peer;
	/** @source: active: own address that CONNECT asked for; immutable */
	struct rdmachan_addr source;
	/**
	 * @tuning: sizes and times, with defaults filled in. Its message_max is immutable. Others
	 * are written with @tune_lock, by WRITE_ONCE(): send_buffer under the link's lock too,
	 * recv_buffer under @lock. Read without these by READ_ONCE()
	 */
	struct rdmachan_tuning tuning;
	/** @tune_lock: one thread at a time changes @tuning; outside of @lock and the link's */
	struct mutex tune_lock;
	/**
	 * @tx_kept: bytes that are charged beyond the send buffer, as more waits to be sent than it
	 * has room for, since it became smaller or a message did not wait; or as that is not freed
	 * yet. Written under the link's lock, and read without it by chan_tx_drop_settle()
	 */
	u64 tx_kept;
	/**
	 * @tx_keeps: a message is being queued that has been charged with that, so that none of it
	 * is given back. The holder of RCH_CHAN_TX writes it, under the link's lock
	 */
	bool tx_keeps;
	/** @drop: what will not be sent any more */
	struct rch_chan_drop drop;
	/** @charge: its share of the limits; protected by quota_lock */
	struct rch_charge charge;
	/** @wait: woken when the state changes, a message is complete, or there is room */
	wait_queue_head_t wait;
	/** @wake: wakes @wait for records of a frame, with @lock */
	struct rch_wake wake;
	/** @async: processes that get SIGIO then, see file_async.c */
	struct rch_async async;
	/** @busy: bits RCH_CHAN_TX and RCH_CHAN_RX, and claims that wait; see rch_chan_claim() */
	unsigned long busy;
	/** @busy_us: how long a thread that waits looks before it sleeps, see busy.h; no lock */
	u32 busy_us;
	/** @backlog: in the listener's queue; protected by the listener's lock */
	struct list_head backlog;
	/**
	 * @opening: connecting; NULL when that is over, and of a channel that a peer has made. The
	 * thread that connects reads it without a lock, and takes it away with @lock. Others read
	 * it with @lock
	 */
	struct rch_chan_opening *opening;
	/** @early: messages that are sent meanwhile */
	struct rch_chan_early early;

	/** @lock: protects all that follows, but where a part or a member tells otherwise */
	spinlock_t lock;
	/** @state: written by rch_chan_set_state() only */
	enum rch_chan_state state;
	/** @ends: how the channel ends, at both sides */
	struct rch_chan_ends ends;
	/** @taken: messages that ask whether they were received */
	struct rch_chan_taken taken;
	/** @error: the last error record */
	struct rdmachan_error error;
	/** @peer_message_max: largest message that the peer takes */
	u32 peer_message_max;
	/** @rx: messages that were received and not read */
	struct rch_chan_rx rx;
	/** @rndv_rx: large messages that come */
	struct rch_rndv_rx rndv_rx;
	/** @lend: memory for the next message that comes */
	struct rch_rndv_lend lend;
	/** @rndv_tx: large messages that are sent */
	struct rch_rndv_tx rndv_tx;
	/** @grants: grants given and held; NULL until there is one, then immutable; no lock */
	struct rch_grants *grants;
	/** @lent: grants that are given and not back; no lock */
	atomic_t lent;
	/** @returning: those of them that are on their way back; see rch_chan_peer_has_shut() */
	atomic_t returning;
	/** @counts: messages, and their bytes */
	struct rch_chan_counts counts;
};

/**
 * struct rch_chan_wish - a channel that is to be made
 * @service: service
 * @tuning: after rch_chan_tune()
 * @peer: address of the peer
 * @opening: to be connected by this; the channel has it then. NULL: the peer has made it
 */
struct rch_chan_wish {
	u32 service;
	const struct rdmachan_tuning *tuning;
	const struct sockaddr_storage *peer;
	struct rch_chan_opening *opening;
};

/** RCH_POLL_NOTHING - wakes threads that wait in the module, and none that polls */
#define RCH_POLL_NOTHING EPOLLMSG

/** RCH_CHAN_TX - bit of busy: somebody sends */
#define RCH_CHAN_TX 0
/** RCH_CHAN_RX - bit of busy: somebody receives */
#define RCH_CHAN_RX 1
/** RCH_CHAN_WANTED - what is added to these: somebody else would, and waits until that is over */
#define RCH_CHAN_WANTED 2

/**
 * struct rch_recv_result - what rch_chan_recv() found; zeros before, but for what is in
 * @length: bytes of the message
 * @msg_flags: its flags
 * @takes_grants: in: the program takes messages that begin with events of grants
 * @peek: in: the message stays, and as many bytes of it are told as there is room for
 * @grants: it is one
 * @local: the peer has not sent it
 * @eof: there are no more messages
 * @holds: in: the caller calls rch_link_push() soon
 * @tells: something is to be told, and is held back until then
 * @out: tells the program of the message, whose bytes it has, before the message
 *	leaves the queue; an error leaves it there. Or NULL
 */
struct rch_recv_result {
	u64 length;
	u16 msg_flags;
	bool takes_grants;
	bool peek;
	bool grants;
	bool local;
	bool eof;
	bool holds;
	bool tells;
	int (*out)(struct rch_recv_result *result);
};

/**
 * struct rch_rx_row - messages that are received one behind the other
 * @seg: its first message is the next one
 * @left: messages that are complete, with that one
 * @messages: received
 * @bytes: of those
 * @last: the last segment that holds nothing else any more; or NULL
 */
struct rch_rx_row {
	struct rch_segment *seg;
	u32 left;
	u32 messages;
	u32 bytes;
	struct rch_segment *last;
};

/**
 * struct rch_chan_ops - what channels tell the layers above, of what these have of a channel
 * @end: the peer has ended, or the link; @cause is &enum rdmachan_cause. Nothing is lent to either
 *	side from then on, and nothing that was is accessed any more. May come again, and for a
 *	channel that goes on connecting. Any context, also under RCU; the caller has a reference
 * @released: the file is closed, or the listener gives the channel up: begin to take back what is
 *	lent. Once, by the holder of that reference. Any context; does not wait
 * @unread: no program will read @seg, a message of the peer that begins with events of grants, and
 *	the channel goes on: give back what came with it. By the holder of RCH_CHAN_RX
 * @offer_work: nobody has come for what the peer has offered. Armed by the layer above while the
 *	channel is attached to a link, and cancelled when it is not any more. Workqueue
 * @free: nobody refers to the channel any more, nor to what these have of it: free that. Once, the
 *	last of all. Any context
 *
 * Locks. None is called with chan->lock or the link's, so that they may take both.
 *
 * Lifetime. A constant of the module's. rch_chan_init() is given it before there are links, devices
 * and files, and so before the first channel is made. It never changes, and needs no lock to be
 * read. rch_chan_exit() comes when links, devices and files are gone and all work is done. Then the
 * last channel has been told of its @free, and RCU has only its memory left to give back, which
 * calls none of these and is waited for. So the functions outlive each channel, as the module does.
 */
struct rch_chan_ops {
	void (*end)(struct rch_chan *chan, u32 cause);
	void (*released)(struct rch_chan *chan);
	void (*unread)(struct rch_chan *chan, const struct rch_segment *seg);
	void (*offer_work)(struct work_struct *work);
	void (*free)(struct rch_chan *chan);
};

extern const struct rch_chan_ops *rch_chan_ops;

/* chan.c APIs: a channel's life */
int rch_chan_init(const struct rch_chan_ops *ops);
void rch_chan_exit(void);
struct rch_chan *rch_chan_alloc(struct net *net, const struct rch_charge *owner,
				const struct rch_chan_wish *wish, struct rdmachan_error *error);
void rch_chan_put(struct rch_chan *chan);
void rch_chan_release(struct rch_chan *chan, int signal);
void rch_chan_await_answer(struct rch_chan *chan);
void rch_chan_linger(struct rch_chan *chan);
bool rch_chan_set_state(struct rch_chan *chan, enum rch_chan_state to);
void rch_chan_retry(struct rch_chan *chan, u32 domain, const struct rdmachan_error *error);
void rch_chan_fail(struct rch_chan *chan, const struct rdmachan_error *error);
void rch_chan_peer_over(struct rch_chan *chan, u32 cause);
void rch_chan_give_up(struct rch_chan *chan, const struct rdmachan_error *error, u32 cause,
		      u32 detail);
void rch_chan_note_error(struct rch_chan *chan, struct rdmachan_error *error);
void rch_chan_note(struct rch_chan *chan, u32 op, u32 cause, u64 detail);
int rch_chan_claim(struct rch_chan *chan, int bit, bool (*ready)(struct rch_chan *chan),
		   bool nonblock, unsigned long deadline);
void rch_chan_push(struct rch_chan *chan);
void rch_chan_unclaim(struct rch_chan *chan, int bit);
int rch_chan_shutdown(struct rch_chan *chan, u32 how, bool nonblock, unsigned long deadline);
int rch_chan_abort(struct rch_chan *chan, bool nonblock);
void rch_chan_error_get(struct rch_chan *chan, struct rdmachan_error *error);
void rch_chan_dead(struct rch_lane *lane, const struct rdmachan_error *error);
void rch_chan_gone(struct rch_lane *lane);
void rch_chan_writable(struct rch_lane *lane);
__poll_t rch_chan_poll_mask(struct rch_chan *chan);

/* chan_tune.c APIs; process context */
int rch_chan_tune(struct rdmachan_tuning *tuning);
int rch_chan_retune(struct rch_chan *chan, const struct rdmachan_tune_args *tune,
		    struct rdmachan_error *error);

/* chan_connect.c APIs */
struct rch_chan_opening *rch_chan_opening_alloc(const struct sockaddr_storage *peer,
						const struct sockaddr_storage *source,
						u32 traffic_class, unsigned long deadline);
int rch_chan_connect(struct rch_chan *chan);
void rch_chan_connect_over(struct rch_chan *chan);
void rch_chan_connect_start(struct rch_chan *chan);
void rch_chan_connect_look(struct rch_chan *chan);

/* chan_early.c APIs: messages before the channel is open; process context */
int rch_chan_send_early(struct rch_chan *chan, const struct iov_iter *from, u32 msg_flags,
			bool nonblock, unsigned long deadline, u64 *number);
void rch_chan_early_shut(struct rch_chan *chan);
int rch_chan_early_attach(struct rch_chan *chan, struct rch_link *link);

/* chan_early.c APIs: any context */
bool rch_chan_may_send_early(const struct rch_chan *chan);
bool rch_chan_given_up(const struct rch_chan *chan);
void rch_chan_early_lost(struct rch_chan *chan);
bool rch_chan_early_linger(struct rch_chan *chan, int signal);
bool rch_chan_early_end(struct rch_chan *chan);
void rch_chan_early_free(struct rch_chan *chan);

/* chan_taken.c APIs: how much the peer's program has received */
enum rch_rule rch_chan_read_got(struct rch_chan *chan, const struct rch_record *r);
u64 rch_chan_finish_closed(struct rch_chan *chan, u32 messages);
int rch_chan_finish_refuse(struct rch_chan *chan, struct rdmachan_error *error);
bool rch_chan_finish_settled(struct rch_chan *chan);
int rch_chan_finish(struct rch_chan *chan, bool nonblock, unsigned long deadline,
		    struct rdmachan_error *error);

/* chan_taken.c APIs: messages whose sender waits until they are received */
u64 rch_chan_taken_ask(struct rch_chan *chan);
bool rch_chan_taken_asked(struct rch_chan *chan, u64 number);
enum rch_rule rch_chan_taken_got(struct rch_chan *chan, const struct rch_record *r);
int rch_chan_taken_outcome(struct rch_chan *chan, u64 number, struct rdmachan_error *error,
			   bool *sent);
int rch_chan_taken_wait(struct rch_chan *chan, u64 number, unsigned long deadline,
			struct rdmachan_error *error, bool *sent);

/* chan_tx.c APIs: process context */
int rch_chan_tx_resize(struct rch_chan *chan, u32 size, struct rdmachan_error *error);
void rch_chan_send_row(struct rch_chan *chan, struct rch_tx_row *row);

/* chan_tx.c APIs: any context */
void rch_chan_tx_settle(struct rch_chan *chan);
void rch_chan_tx_drop_init(struct rch_chan *chan);
void rch_chan_tx_drop(struct rch_lane *lane, struct list_head *list, bool words);
void rch_chan_put_later(struct rch_chan *chan);
bool rch_chan_tx_settled(struct rch_chan *chan);
bool rch_chan_tx_refused(struct rch_chan *chan);
int rch_chan_tx_check(struct rch_chan *chan);

/* chan_tx.c APIs for the layers above: by the holder of RCH_CHAN_TX; process context */
int rch_chan_tx_wait(struct rch_chan *chan, unsigned long deadline);
int rch_chan_tx_too_large(struct rch_chan *chan, u32 cause, u32 limit);
int rch_chan_tx_sizes(struct rch_chan *chan, size_t len, bool nonblock);
int rch_chan_tx_keep(struct rch_chan *chan, size_t len);
void rch_chan_tx_keep_end(struct rch_chan *chan);
int rch_chan_tx_claim(struct rch_chan *chan, size_t length);
int rch_chan_tx_claim_wait(struct rch_chan *chan, size_t length, bool nonblock,
			   unsigned long deadline);
int rch_chan_tx_segment(struct rch_chan *chan, struct iov_iter *from, u32 total,
			u32 msg_flags, bool first);
void rch_chan_tx_abort(struct rch_chan *chan, u32 total);
void rch_chan_tx_done(struct rch_chan *chan, size_t length);

/* segment.c APIs: any context */
struct rch_segment *rch_segment_make(u32 length, gfp_t gfp, void **data);
struct rch_segment *rch_segment_alloc(struct rch_own_segment *own, const struct rch_record *r,
				      struct page *page, u64 unread);
bool rch_segment_next(struct rch_segment *seg);
void rch_segments_free(struct list_head *list);
void rch_segments_discard(struct rch_dropped *drop);
void rch_segments_drop(struct list_head *list);

/* chan_rx.c APIs: process context */
void rch_chan_rx_resize(struct rch_chan *chan, u32 size);
void rch_chan_accepted(struct rch_chan *chan);
bool rch_chan_has_ended(const struct rch_chan *chan);
bool rch_chan_peer_has_shut(const struct rch_chan *chan);
bool rch_chan_rx_settled(struct rch_chan *chan);
int rch_chan_recv_message(struct rch_chan *chan, struct iov_iter *to,
			  struct rch_recv_result *result);
bool rch_chan_recv_begin(struct rch_chan *chan, struct rch_rx_row *row);
bool rch_chan_recv_next(struct rch_rx_row *row);
void rch_chan_recv_end(struct rch_chan *chan, const struct rch_rx_row *row);
void rch_chan_event(struct rch_chan *chan, struct rch_segment *seg);
void rch_chan_events_over(struct rch_chan *chan, u32 count);
void rch_chan_cannot_keep(struct rch_chan *chan, u32 cause, u64 detail);
void rch_chan_rx_done(struct rch_chan *chan, size_t length);
bool rch_chan_rx_idle(const struct rch_chan *chan);
u64 rch_chan_next_length(struct rch_chan *chan);
void rch_chan_drop_received(struct rch_chan *chan);
void rch_chan_refuse_received(struct rch_chan *chan);

/* chan_rx.c APIs: softirq */
enum rch_rule rch_chan_data_got(struct rch_chan *chan, const struct rch_record *r,
				struct page *page);
enum rch_rule rch_chan_data_keep(struct rch_chan *chan, const struct rch_record *r,
				 struct rch_segment *seg, bool *ignored);
enum rch_rule rch_chan_early_got(struct rch_chan *chan, const struct rch_record *r,
				 struct page *page);
enum rch_rule rch_chan_accept_got(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_chan_reject_got(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_chan_shut_got(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_chan_close_got(struct rch_chan *chan, const struct rch_record *r);

/**
 * rch_chan_wake - a record has changed what others wait for
 * @chan: channel; locked
 * @events: as for rch_link_wake()
 *
 * Softirq, for a record of the channel's link.
 */
static inline void rch_chan_wake(struct rch_chan *chan, __poll_t events)
{
	rch_link_wake(chan->lane.link, &chan->wake, events);
}

/** rch_chan_came - complete messages of the peer; without chan->lock a racy answer */
static inline u32 rch_chan_came(const struct rch_chan *chan)
{
	return READ_ONCE(chan->rx.complete) - READ_ONCE(chan->rx.events);
}

/**
 * rch_chan_may_take - whether there is an offer to be taken; without chan->lock a racy answer
 * @chan: channel
 *
 * Not while memory is being taken back that was lent for the message behind: an offered message
 * must not be placed before. Nor when the channel has ended: a receiver waits until all lent memory
 * is back, and would try to take the offer again and again meanwhile.
 */
static inline bool rch_chan_may_take(const struct rch_chan *chan)
{
	return READ_ONCE(chan->rndv_rx.offered) && !READ_ONCE(chan->rndv_rx.heirs_lost) &&
	       READ_ONCE(chan->state) == RCH_CHAN_OPEN;
}

/** rch_deadline - when a timeout in milliseconds ends, in jiffies; 0 is never */
static inline unsigned long rch_deadline(u32 timeout_ms)
{
	unsigned long deadline = jiffies + rch_timeout_jiffies(timeout_ms) + 1;

	return timeout_ms ? deadline ?: 1 : 0;
}

/** rch_time_left - for rch_sleep_until() and its like */
static inline long rch_time_left(unsigned long deadline)
{
	long left = deadline - jiffies;

	if (!deadline)
		return MAX_SCHEDULE_TIMEOUT;
	return max(left, 0L);
}

/** rch_wait_result - turn what a wait gave into an error; 0 when the wait was useful */
static inline int rch_wait_result(long wait, unsigned long deadline)
{
	if (wait > 0)
		return 0;
	if (!wait)
		return -ETIMEDOUT;
	/* As others do: after a handler a call with a timeout is over, regardless of SA_RESTART. */
	return deadline ? -ERESTARTNOHAND : -ERESTARTSYS;
}

#endif /* _RCH_CHAN_H */
