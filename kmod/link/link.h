/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link.h - the conversation of two hosts, and the lanes of its channels
 *
 * A link joins two hosts for one pair of trust domains: user ids, in one network
 * namespace on this side. All channels between them share it. A *lane* is a
 * channel's end of it: its numbers, the records that it has to send, and its window.
 *
 * Lifetime. A link is referenced by the table until it is taken apart, by each lane,
 * and by whoever looks at it for a moment. A lane lives in its channel; while it is
 * attached its link knows it by number, and the channel must stay.
 *
 * Locks, outermost first:
 *   - links_lock (mutex): the table of links
 *   - link->faults.lock (spin, bh): while faults are injected, handing frames over
 *   - link->lock (spin, bh): everything to do with sending, and the states
 *   - path->lock, path->failure.lock
 *
 * A channel's lock is never taken inside link->lock, nor the reverse.
 *
 * Contexts. Frames are received in softirq, on one CPU at a time for each link. Work that may sleep
 * (connecting, taking apart) runs in work items; connecting and taking apart never run at the same
 * time, as the second waits for the first.
 */
#ifndef _RCH_LINK_H
#define _RCH_LINK_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "base/object.h"
#include "base/quota.h"
#include "conn/conn.h"
#include "dma/frame.h"
#include "proto/state.h"
#include "proto/wire.h"
#include "pure/credit.h"
#include "pure/drr.h"
#include "pure/trip.h"
#include "pure/window.h"

struct iov_iter;
struct rch_lane;

/**
 * struct rch_link_faults - what injected faults have in hand; see link_inject.c
 * @lock: whoever hands frames over, while faults are on; taken from softirq, held in
 *	rch_link_received()
 * @held: frames that are held back, in order; protected by @lock
 * @swap: the last of @held lets the next frame pass; protected by @lock
 * @hold_work: hands them over
 * @kill_work: breaks the queue pair
 * @address_work: tells of another hardware address
 * @fatal_work: tells that the adapter has failed
 * @posted: buffers that are posted and were not told; protected by @link->lock
 * @debt: how many of them must not be told; protected by @link->lock
 * @withheld: part of @debt, until the fault is off; protected by @link->lock
 */
struct rch_link_faults {
	spinlock_t lock;
	struct list_head held;
	bool swap;
	struct delayed_work hold_work;
	struct work_struct kill_work;
	struct work_struct address_work;
	struct work_struct fatal_work;
	u32 posted;
	u32 debt;
	u32 withheld;
};

/**
 * enum rch_link_step - what the active side waits for
 * @RCH_LINK_BEGIN: for nothing: it is about to ask for the device
 * @RCH_LINK_ADDRESS: for the device that leads to the peer
 * @RCH_LINK_ROUTE: for the route
 * @RCH_LINK_ANSWER: for the peer's answer
 */
enum rch_link_step {
	RCH_LINK_BEGIN,
	RCH_LINK_ADDRESS,
	RCH_LINK_ROUTE,
	RCH_LINK_ANSWER,
};

/**
 * struct rch_link_opening - a link that is being made
 *
 * The active side's rch_link_get() writes @deadline, @service and @domain before it completes
 * @built. They are immutable from then on: there is no lock. @work alone uses @step, @tries and
 * @next_seq, and while @asking @ask_work alone. The passive side uses @built alone.
 */
struct rch_link_opening {
	/** @deadline: of connecting, in jiffies */
	unsigned long deadline;
	/** @service: the service that the first channel asked for */
	u32 service;
	/** @domain: the domain that is asked for */
	u32 domain;
	/** @built: whoever made the link has finished doing so */
	struct completion built;
	/**
	 * @wanted: channels that wait for the link or are being opened on it; the last one that
	 * leaves while the link is CONNECTING ends it. Protected by the link's lock
	 */
	u32 wanted;
	/** @work: connects; it runs when there is an answer, and at @deadline */
	struct delayed_work work;
	/**
	 * @over: @work does nothing any more: the link was made, or cannot be; the passive side's
	 * always. Protected by the link's lock. @work alone sets it, and so reads it without
	 */
	bool over;
	/**
	 * @ask_work: asks the peer on iWARP, where that may wait for TCP. Queued by @work, which it
	 * queues in turn
	 */
	struct work_struct ask_work;
	/** @asking: @ask_work has not ended, and @work does nothing */
	bool asking;
	/** @step: which answer it waits for */
	enum rch_link_step step;
	/** @tries: how often it has begun anew */
	u32 tries;
	/** @next_seq: the number that this side's first frame has, as the peer was told */
	u32 next_seq;
};

/**
 * struct rch_link_terms - what the handshake has settled
 *
 * Valid in UP, and immutable from then on. Written with the link's lock.
 */
struct rch_link_terms {
	/** @peer_domain: trust domain at the peer */
	u32 peer_domain;
	/** @peer_link: number of the link at the peer */
	u32 peer_link;
	/** @peer_boot: boot id of the peer */
	u64 peer_boot;
	/** @epoch: life of the link */
	u32 epoch;
	/** @frame_size: agreed size of frames */
	u32 frame_size;
	/** @features: agreed feature bits */
	u32 features;
	/** @own: own address, with any port */
	struct sockaddr_storage own;
};

/**
 * struct rch_link_tx - frames that a link sends, see link_tx.c; protected by the link's lock
 *
 * A frame goes from @open to @ready to @sent, and then to @spare or @pure. The rest is freed
 * when the link is DEAD and its path is drained.
 */
struct rch_link_tx {
	/** @open: frame that collects records, or NULL */
	struct rch_txf *open;
	/** @spare: frames of full size to be used again, at most RCH_SPARE_MAX */
	struct list_head spare;
	/** @spares: how many @spare has */
	u32 spares;
	/** @pure: frames for a heartbeat without memory, at most RCH_PURE_SPARES */
	struct list_head pure;
	/** @pures: how many @pure has; read with READ_ONCE() without the lock, for a guess */
	u32 pures;
	/** @ready: closed frames that are not posted */
	struct list_head ready;
	/** @sent: frames that are posted, oldest first */
	struct list_head sent;
	/** @done: the adapter has completed all frames before this number */
	u32 done;
	/**
	 * @signalled: the adapter will have completed all frames before this number, once the last
	 * completion that was asked for comes
	 */
	u32 signalled;
	/** @large: number behind that of the last frame that is larger than a packet */
	u32 large;
	/** @posting: a thread posts @ready, and has dropped the lock for that */
	bool posting;
	/**
	 * @urgent: the open frame holds a record that must not be held back for others to share the
	 * frame
	 */
	bool urgent;
	/** @prompt: the open frame holds a record that must not wait for frames in flight */
	bool prompt;
	/** @unanswered: a frame with records was posted, and none came since */
	bool unanswered;
	/** @scarce: a frame of @pure is about to be posted: its completion is asked for */
	bool scarce;
	/** @hello: the next frame is the active side's first, with any contents */
	bool hello;
};

/** struct rch_link_probe - one frame at a time is measured; protected by the link's lock */
struct rch_link_probe {
	/**
	 * @trip: how long the adapter takes to complete a frame; rch_link_trip_us() reads it
	 * without the lock
	 */
	struct rch_trip trip;
	/** @at: when the frame was posted whose completion is measured; 0: none is measured */
	ktime_t at;
	/** @tick: when the last measurement began, in jiffies */
	unsigned long tick;
	/** @seq: number of the frame that is measured */
	u32 seq;
};

/**
 * struct rch_link_gather - the open frame is held back for what else may come
 *
 * See link_gather.c. Protected by the link's lock; @timer takes it. @timer is stopped when the link
 * is taken apart.
 */
struct rch_link_gather {
	/** @on: the open frame is held back */
	bool on;
	/** @until: from this time on no frame is held back */
	ktime_t until;
	/** @look: when to look whether the frame has grown */
	ktime_t look;
	/** @used: how full the frame was at the last look */
	u32 used;
	/** @waits: the open frame has a record for which it is closed at @late */
	bool waits;
	/** @late: when that is */
	ktime_t late;
	/** @timer: looks, and ends it */
	struct hrtimer timer;
};

/**
 * struct rch_link_last - last words of lanes, held back so that they share a frame
 *
 * See link_gather.c. Protected by the link's lock; @timer takes it. @timer is stopped when the link
 * is taken apart.
 */
struct rch_link_last {
	/** @lanes: lanes whose last words are held back, by their @later_list */
	struct list_head lanes;
	/** @due: last words are held back no longer */
	bool due;
	/**
	 * @closing: there may be CLOSE among them. Written with WRITE_ONCE(). A thread that begins
	 * to wait reads it without the lock: it sees frames that it has closed itself
	 */
	bool closing;
	/** @timer: sets @due */
	struct hrtimer timer;
};

/** struct rch_link_lanes - the lanes of a link; protected by the link's lock */
struct rch_link_lanes {
	/** @drr: lanes with data, and room in their window */
	struct rch_drr drr;
	/** @control: lanes with something to tell besides data */
	struct list_head control;
	/** @orphans: control records without a lane, as &struct rch_item */
	struct list_head orphans;
	/** @orphan_count: how many @orphans has, at most RCH_ORPHANS_MAX */
	u32 orphan_count;
	/** @gone: lanes that have ended and whose channels are not told, by their @control_list */
	struct list_head gone;
	/** @all: lanes by number, with XA_FLAGS_LOCK_BH; readers use RCU and not the lock */
	struct xarray all;
	/**
	 * @early: lanes that the peer has opened with RCH_OPEN_F_EARLY, by its numbers of them. A
	 * tree, as the peer chooses these: an xarray would need 1.7 KiB for each that is far from
	 * others, and what a lane has in a tree is part of its channel
	 */
	struct rb_root early;
	/** @next: for cyclic allocation of numbers */
	u32 next;
	/** @count: lanes attached; read with READ_ONCE() without the lock, for a guess */
	u32 count;
	/** @used: a lane was ever attached; read with READ_ONCE() without the lock */
	bool used;
	/** @idle_since: when @count became 0, in jiffies */
	unsigned long idle_since;
};

/**
 * struct rch_wake - a wait queue that is woken once for each frame, however many records of that
 *	have something to tell
 * @queue: it; immutable. What both are part of is freed by RCU
 * @lock: protects all that follows, and what the waiters look at; immutable
 * @list: in the wakes of the link by whose frame it is to be woken, or empty
 * @events: to tell of; 0: of all
 * @count: exclusive waiters to wake: one for each record; 0: all
 */
struct rch_wake {
	wait_queue_head_t *queue;
	spinlock_t *lock;
	struct list_head list;
	__poll_t events;
	u32 count;
};

/** struct rch_link_rx - what softirq remembers of received frames; it needs no lock */
struct rch_link_rx {
	/** @wakes: to be woken behind the frame whose records are judged, as &struct rch_wake */
	struct list_head wakes;
	/** @fins: FINs that came, of all channels. Written with WRITE_ONCE(), read anywhere */
	u32 fins;
	/**
	 * @closed: the frame whose records are judged has closed @key, and no record was found that
	 * goes with it. Softirq alone reads it
	 */
	bool closed;
	/** @key: that one, of a memory region here; likewise */
	u32 key;
	/**
	 * @refused_early: an OPEN with RCH_OPEN_F_EARLY was refused: records for it may come yet.
	 * Softirq alone reads it
	 */
	bool refused_early;
};

/**
 * struct rch_link_beat - heartbeat, by which a silent peer is found; protected by the link's lock
 *
 * @work is queued when the link becomes UP, and cancelled when it is taken apart.
 */
struct rch_link_beat {
	/** @dead: dead time in jiffies; immutable */
	unsigned long dead;
	/** @tick: time between heartbeats in jiffies; immutable once UP */
	unsigned long tick;
	/** @last_rx: when a frame last came, in jiffies; written in softirq */
	unsigned long last_rx;
	/** @answered: when the peer's adapter had last answered, as seen by a tick, in jiffies */
	unsigned long answered;
	/** @lives: when the peer's module last said that the link lives there, in jiffies */
	unsigned long lives;
	/** @told_lives: it has */
	bool told_lives;
	/** @asks: @query has asked it, and is to run once more */
	bool asks;
	/** @asked: when it did, in jiffies */
	unsigned long asked;
	/** @slow: when a frame last came, or did not, after half of the dead time, in jiffies */
	unsigned long slow;
	/** @last_tx: when a frame was last sent, in jiffies */
	unsigned long last_tx;
	/** @taken: the last tick has seen that the peer had all frames before this */
	u32 taken;
	/** @moved: when a tick last saw that change, or the peer have all frames, in jiffies */
	unsigned long moved;
	/** @doubt: the peer, or a host with its address, was restarted, and no frame came since */
	bool doubt;
	/** @work: heartbeat, idle time; waits for nobody */
	struct delayed_work work;
	/**
	 * @care: work that may wait for memory or the adapter; @work queues it, and ends before it
	 */
	struct work_struct care;
	/**
	 * @query: asks the peer's module whether the link lives there; @work queues it, and ends
	 * before it. It alone uses the path's query
	 */
	struct work_struct query;
	/** @quiet: nothing was sent when @care was queued; written by @work with WRITE_ONCE() */
	bool quiet;
	/** @at: when @work is to run, in jiffies; written by the thread that queues it */
	unsigned long at;
};

/** struct rch_link_stats - what LIST tells; protected by the link's lock */
struct rch_link_stats {
	/** @tx_frames: frames sent */
	u64 tx_frames;
	/** @tx_posts: chains of them */
	u64 tx_posts;
	/** @tx_signals: those of them that were signalled */
	u64 tx_signals;
	/** @rx_frames: frames received */
	u64 rx_frames;
	/** @stalls: how often a frame waited for credit */
	u64 stalls;
};

/**
 * struct rch_return - something that is to be taken back from the adapter
 * @list: of the line of its link, by that one's lock
 * @run: take some of it back; waits for the adapter, and for nobody else
 */
struct rch_return {
	struct list_head list;
	void (*run)(struct rch_return *r);
};

/** struct rch_link_returns - what is taken back, one after the other; see link_return.c */
struct rch_link_returns {
	/** @lock: protects @line, its entries, and @busy; an innermost lock */
	spinlock_t lock;
	/** @line: as &struct rch_return */
	struct list_head line;
	/** @busy: @work is queued, or runs, and holds the link */
	bool busy;
	/** @work: takes back */
	struct work_struct work;
};

/** struct rch_link - conversation with another host */
struct rch_link {
	/** @ref: references */
	struct kref ref;
	/** @rcu: frees it */
	struct rcu_head rcu;
	/** @object: for LIST */
	struct rch_object object;
	/** @path: its queue pair */
	struct rch_path path;
	/** @net: network namespace, as a name only */
	struct net *net;
	/** @uid: trust domain here */
	kuid_t uid;
	/** @peer: address of the peer; immutable */
	struct sockaddr_storage peer;
	/** @active: this side connected; immutable */
	bool active;
	/**
	 * @charge: the payer, until the link leaves the table: the active side from the beginning,
	 * the passive one when it is UP. Written in softirq then, else with links_lock
	 */
	struct rch_charge charge;
	/** @gave_way: it was idle, and another has its place; protected by links_lock */
	bool gave_way;
	/** @opening: connecting */
	struct rch_link_opening opening;
	/** @list: in the table of links; protected by links_lock */
	struct list_head list;
	/**
	 * @doom: the cause, where several links are ended at once, else 0: one end of a connection
	 * must not take the other's going for the cause. Set once; no lock
	 */
	u32 doom;
	/** @wait: woken when @state changes, and when a DEAD link's last frames were posted */
	wait_queue_head_t wait;

	/** @lock: see above; protects all that follows, but where that tells otherwise */
	spinlock_t lock ____cacheline_aligned_in_smp;
	/** @state: written by rch_link_set_state() only */
	enum rch_link_state state;
	/** @terms: what the handshake has settled */
	struct rch_link_terms terms;
	/** @error: why it is DEAD */
	struct rdmachan_error error;
	/** @credit: sequence numbers. rx_next is changed under @lock in softirq */
	struct rch_credit credit;
	/** @tx: frames that are sent */
	struct rch_link_tx tx;
	/** @probe: how long a frame takes */
	struct rch_link_probe probe;
	/** @gather: whether the open frame is held back */
	struct rch_link_gather gather;
	/** @last: last words that are held back */
	struct rch_link_last last;
	/** @lanes: channels' ends, and the items they have to send */
	struct rch_link_lanes lanes;
	/** @rx: received frames */
	struct rch_link_rx rx;
	/**
	 * @lent: regions of the path that are lent before anybody asks, at most RCH_LENT_MAX; no
	 * lock
	 */
	atomic_t lent;
	/** @beat: heartbeat, and whether the peer lives */
	struct rch_link_beat beat;
	/** @returns: keys that are taken back from the adapter; by a lock of its own */
	struct rch_link_returns returns;
	/** @break_work: puts the queue pair into the error state, ahead of @dead_work */
	struct work_struct break_work;
	/** @dead_work: taking apart, until channels are told */
	struct work_struct dead_work;
	/** @end_work: taking apart, from then on; it waits for users of the path */
	struct work_struct end_work;
	/** @quiesced: @dead_work has begun with it, and does so once; by @dead_work */
	bool quiesced;
	/** @reap_work: tells the channels of @lanes.gone */
	struct work_struct reap_work;
	/** @stats: counters of LIST */
	struct rch_link_stats stats;
	/** @faults: faults on purpose */
	struct rch_link_faults faults;
};

/** enum rch_lane_control - what a lane has to tell besides data; the lowest bit comes first */
enum rch_lane_control {
	RCH_LANE_OPEN = BIT(0),
	RCH_LANE_ACCEPT = BIT(1),
	RCH_LANE_CREDIT = BIT(2),
	RCH_LANE_TAKEN = BIT(3),
	RCH_LANE_READ = BIT(4),
	RCH_LANE_SHUT_RECV = BIT(5),
	RCH_LANE_RESET = BIT(6),
	RCH_LANE_CLOSED = BIT(7),
	RCH_LANE_CTS = BIT(8),
	RCH_LANE_CANCEL = BIT(9),
	RCH_LANE_STAND = GENMASK(10 + RCH_LENDS - 1, 10),
	RCH_LANE_RETURN = GENMASK(18 + RCH_LENDS - 1, 18),
	RCH_LANE_WORDS = BIT(26),
};

/**
 * enum rch_lane_early - messages of the opener's, and their end, before ACCEPT is known
 * @RCH_EARLY_NONE: there are none
 * @RCH_EARLY_ASKS: opener: OPEN tells that there may be some
 * @RCH_EARLY_HEARS: the other side: they may come, by the opener's number
 * @RCH_EARLY_OVER: the other side: the opener has used this side's number, and none may come
 */
enum rch_lane_early {
	RCH_EARLY_NONE,
	RCH_EARLY_ASKS,
	RCH_EARLY_HEARS,
	RCH_EARLY_OVER,
};

/** enum rch_lane_last - last words that may wait for others to share their frame */
enum rch_lane_last {
	RCH_LAST_CLOSE = BIT(0),
	RCH_LAST_CLOSED = BIT(1),
};

/** RCH_WORD_MAX - bytes of the largest &struct rch_word */
#define RCH_WORD_MAX 40

/**
 * struct rch_word - a record that is told besides data, and ahead of it
 * @list: in the words of its lane
 * @sent: it was put into a frame, or will not be any more: it is the owner's again. Any context,
 *	under link->lock; or, of a lane that has ended, by a work item that holds the channel
 * @type: &enum rch_record_type
 * @length: of @data
 * @data: its bytes
 */
struct rch_word {
	struct list_head list;
	void (*sent)(struct rch_word *word);
	u8 type;
	u8 length;
	u8 data[RCH_WORD_MAX] __aligned(8);
};

/**
 * struct rch_lane - a channel's end of its link
 * @link: its link; set when attached, and then kept with a reference until the
 *	channel is freed
 * @id: our number; 0 when not attached
 * @peer_id: the peer's number; 0 until it is known
 * @flow: place in the round
 * @txq: items to send
 * @control_list: in @lanes.control of the link
 * @control: &enum rch_lane_control, records that are to be told
 * @later_list: in @last.lanes of the link
 * @last: &enum rch_lane_last, records that are held back
 * @window: the peer's promise
 * @window_size: @window's first limit; set when connected, and immutable from then on
 * @credit_limit: to be told with RCH_LANE_CREDIT
 * @taken: to be told with RCH_LANE_TAKEN
 * @read: to be told with RCH_LANE_READ
 * @cts: to be told with RCH_LANE_CTS
 * @cancelled: number of the question that is taken back, to be told with RCH_LANE_CANCEL
 * @words: to be told with RCH_LANE_WORDS
 * @accesses: to memory of the peer: those to grants that are under way, and writes of transfers
 *	that are being posted, as the queue pair keeps what is told behind them. Until they have
 *	ended nothing is told after which the peer may take that memory for its own
 * @held_back: records that are not told for their sake: RCH_LANE_RESET, RCH_LANE_CLOSED
 * @stand: to be told with the bits of RCH_LANE_STAND; for which message is told by the last bits
 *	of its number
 * @returned: to be told with those of RCH_LANE_RETURN, likewise
 * @open: to be told with RCH_LANE_OPEN or, but for the service, RCH_LANE_ACCEPT
 * @opened: OPEN was put into a frame, and the peer may answer; written with WRITE_ONCE()
 * @early: &enum rch_lane_early; once attached written in softirq only, with WRITE_ONCE(), but for
 *	RCH_EARLY_ASKS
 * @early_node: in @early of the link's lanes, with RCH_EARLY_HEARS or behind it
 * @early_heard: cost of the messages that came with RCH_EARLY_HEARS; softirq alone uses it
 * @sent_early: an item was put into a frame before ACCEPT came
 * @queued: what items in @txq are charged, see rch_item_charge()
 * @room: below this @queued has room: the send buffer; written with WRITE_ONCE()
 * @refused: takes no items any more
 * @stalled: waits for @window
 * @stalls: how often it did
 * @finishing: CLOSE is said when all has been sent: nobody reads any more
 * @partial: a message has been begun in @txq and not ended; only its writer may go on
 * @close_cause: to be told with CLOSE
 * @close_detail: to be told with CLOSE
 * @close_sent: CLOSE was put into a frame
 * @closed_sent: CLOSED was put into a frame
 * @close_got: the peer has sent CLOSE
 * @closed_got: the peer has sent CLOSED
 * @fin: the item of a graceful CLOSE
 * @shut: the item of SHUT for sending
 *
 * All but @link and @id are protected by @link->lock.
 */
struct rch_lane {
	struct rch_link *link;
	u32 id;
	u32 peer_id;
	struct rch_flow flow;
	struct list_head txq;
	struct list_head control_list;
	u32 control;
	struct list_head later_list;
	u32 last;
	struct rch_window_tx window;
	u64 window_size;
	u64 credit_limit;
	u64 taken;
	u64 read;
	struct rch_cts cts;
	u32 cancelled;
	struct list_head words;
	u32 accesses;
	u32 held_back;
	struct rch_cts stand[RCH_LENDS];
	u32 returned[RCH_LENDS];
	struct rch_open open;
	bool opened;
	u8 early;
	struct rb_node early_node;
	u32 early_heard;
	bool sent_early;
	u64 queued;
	u64 room;
	bool refused;
	bool finishing;
	bool stalled;
	u64 stalls;
	bool partial;
	u32 close_cause;
	u32 close_detail;
	bool close_sent;
	bool closed_sent;
	bool close_got;
	bool closed_got;
	struct rch_item fin;
	struct rch_item shut;
};

/**
 * rch_lane_answers_early - whether a message is the first to a peer that could send early
 * @lane: attached lane, whose link is locked
 *
 * Its program may wait for this since it has opened the channel.
 */
static inline bool rch_lane_answers_early(const struct rch_lane *lane)
{
	return lane->early >= RCH_EARLY_HEARS && !lane->window.sent;
}

/**
 * struct rch_tx_row - messages that are sent one behind the other
 * @next: put the next message into @iter and @msg_flags; the one before it, if there was
 *	one, was sent. Under link->lock. Return: whether there is one
 * @alone: no other is likely to follow
 * @last: nothing else follows on the link: a frame that is sent goes at once, and no
 *	rch_link_push() need follow
 * @max: bytes of the largest that may be sent so
 * @iter: the message
 * @msg_flags: its flags
 * @messages: sent
 * @bytes: of those
 */
struct rch_tx_row {
	bool (*next)(struct rch_tx_row *row);
	bool alone;
	bool last;
	u32 max;
	struct iov_iter iter;
	u16 msg_flags;
	u32 messages;
	u32 bytes;
};

/**
 * struct rch_link_ops - what links tell the channels above
 * @service_domain: whose is a service that a peer wants at the address @own? Return: enum
 *	rch_reject; or 0, then @charge was begun for what a peer makes the user of the service
 *	have. Context: any
 * @opened: the peer opens a channel. Return: enum rch_reject, with @owner if that is
 *	RCH_REJECT_DOMAIN: the service is that user's, and the link another one's; or 0, then a
 *	lane was attached with rch_lane_attach() and accepted. Softirq, under RCU
 * @record: a record came for a lane: any but OPEN and CREDIT. Softirq, under RCU.
 *	Return: the rule that was broken; then the link ends
 * @writable: the lane may have room again. Any context, under link->lock
 * @drop: the lane will not send @list, which it counts no longer: take it, and leave it empty. Free
 *	each &struct rch_item of it; or, if @words, call @sent of each &struct rch_word, without
 *	link->lock. Not here, as there may be very many. The lane is attached, or just was, and its
 *	channel is referenced. Any context, under link->lock
 * @dead: the link has ended with @error; called for each lane, which is still
 *	attached; may sleep
 * @gone: the lane was closed by both sides and is detached: drop its reference; may
 *	sleep
 */
struct rch_link_ops {
	u32 (*service_domain)(const struct net *net, u32 service,
			      const struct sockaddr_storage *own, struct rch_charge *charge);
	u32 (*opened)(struct rch_link *link, const struct rch_open *open, kuid_t *owner);
	enum rch_rule (*record)(struct rch_lane *lane, const struct rch_record *r,
				struct page *page);
	void (*writable)(struct rch_lane *lane);
	void (*drop)(struct rch_lane *lane, struct list_head *list, bool words);
	void (*dead)(struct rch_lane *lane, const struct rdmachan_error *error);
	void (*gone)(struct rch_lane *lane);
};

extern const struct rch_link_ops *rch_link_ops;

/** rch_boot_id: random number of this life of the module */
extern u64 rch_boot_id;

/* link.c APIs: may sleep */
struct rch_link *rch_link_alloc(struct net *net, struct rch_charge *charge,
				const struct sockaddr_storage *peer,
				enum rch_link_state state);
void rch_link_note_place(struct rch_link *link);
void rch_link_describe(struct rch_link *link, struct rdmachan_object *out);

/* link.c APIs: any context */
void rch_link_put(struct rch_link *link);
void rch_link_tick_later(struct rch_link *link);
void rch_link_dead_later(struct rch_link *link);
void rch_link_kill(struct rch_link *link, const struct rdmachan_error *error);
void rch_link_kill_cause(struct rch_link *link, u32 op, u32 cause, u64 detail);
void rch_link_unanswered(struct rch_link *link, u32 op);
void rch_link_fail_locked(struct rch_link *link, const struct rdmachan_error *error);
void rch_link_note_slow(struct rch_link *link);
bool rch_link_set_state(struct rch_link *link, enum rch_link_state to);
void rch_link_where(struct rch_link *link, struct rdmachan_error *error);
u32 rch_link_trip_us(const struct rch_link *link);

/**
 * struct rch_link_wish - the link that a channel wants
 * @net: network namespace
 * @owner: charge of the channel: its user is the trust domain here, and is charged for the link
 * @peer: address
 * @domain: trust domain there, or RCH_DOMAIN_ANY
 * @service: that is wanted, if the link must be made
 * @traffic_class: of its packets, as of rch_connect_check()
 * @source: own address, as of rch_addr_to_own()
 * @deadline: for connecting, in jiffies
 */
struct rch_link_wish {
	struct net *net;
	const struct rch_charge *owner;
	const struct sockaddr_storage *peer;
	u32 domain;
	u32 service;
	u32 traffic_class;
	const struct sockaddr_storage *source;
	unsigned long deadline;
};

/* link_connect.c APIs: may sleep */
void rch_link_connect_work(struct work_struct *work);
void rch_link_ask_work(struct work_struct *work);
void rch_link_connect_look(struct rch_link *link);
bool rch_link_connect_over(struct rch_link *link);
int rch_link_incoming(struct net *net, const struct rch_path_request *request);

/* link_table.c APIs: may sleep */
int rch_link_init(const struct rch_link_ops *ops);
void rch_link_exit(void);
int rch_link_listen(struct net *net);
void rch_link_unlisten(struct net *net);
struct rch_link *rch_link_get(const struct rch_link_wish *wish, struct rdmachan_error *error);
void rch_link_leave(struct rch_link *link);
void rch_link_discard(struct rch_link *link);
void rch_links_changed(void);
bool rch_links_admit(struct rch_link *link);
bool rch_links_queried(const struct net *net, const struct sockaddr_storage *peer,
		       const struct rch_query *query);
void rch_links_leave(struct rch_link *link);
struct rch_link *rch_links_twin(const struct rch_link *link);
void rch_links_doubt(const struct rch_link *link);
void rch_link_device_gone(struct ib_device *dev);
void rch_link_device_told(struct ib_device *dev, u32 port, enum rch_device_news news);
u32 rch_link_count_device(const struct net *net, const struct ib_device *dev);

/* link_gather.c APIs: any context; with link->lock but for the first five */
void rch_link_gather_init(struct rch_link *link);
void rch_link_gather_stop(struct rch_link *link);
bool rch_link_timers_fine(unsigned int gather_us);
void rch_link_flush(struct rch_link *link);
void rch_link_push(struct rch_link *link);
void rch_link_push_locked(struct rch_link *link);
bool rch_link_gathers(struct rch_link *link);
bool rch_link_may_gather(const struct rch_link *link);
void rch_link_gather_over(struct rch_link *link);
void rch_link_close_by(struct rch_link *link, u32 us);
void rch_link_gather_sent(struct rch_link *link);

/* link_gather.c APIs of last words: any context; with link->lock but for the first two */
void rch_link_later_init(struct rch_link *link);
void rch_link_later_stop(struct rch_link *link);
bool rch_link_may_hold(const struct rch_link *link);
void rch_link_hold(struct rch_link *link, struct rch_lane *lane, u32 last);
void rch_link_take_later(struct rch_link *link);

/* link_query.c APIs: any context; with link->lock but for the last two */
void rch_link_query_look(struct rch_link *link);
bool rch_link_query_lives(const struct rch_link *link);
void rch_link_query_replied(struct rch_link *link, const void *answer, u8 len);
bool rch_link_query_heard(struct rch_link *link, const struct rch_query *query);

/* link_query.c APIs: may sleep */
void rch_link_query_work(struct work_struct *work);

/* link_return.c APIs: any context but interrupts */
void rch_link_returns_init(struct rch_link *link);
bool rch_link_return(struct rch_link *link, struct rch_return *r);

/* link_tx.c APIs: any context; take link->lock unless told otherwise */
void rch_link_run(struct rch_link *link);
void rch_link_run_locked(struct rch_link *link);
struct rch_txf *rch_link_spare_get(struct rch_link *link);
void rch_link_spare_trim(struct rch_link *link);
void rch_link_pure_fill(struct rch_link *link);
struct rch_txf *rch_link_open_frame(struct rch_link *link, u32 space);
void rch_link_hasten(struct rch_link *link);
bool rch_link_bare_turn(const struct rch_link *link);
bool rch_link_bare_does(const struct rch_link *link);
struct rch_txf *rch_link_bare_frame(struct rch_link *link);
void rch_link_bare_close(struct rch_link *link, struct rch_txf *txf);
void rch_link_heartbeat(struct rch_link *link);
void rch_link_completed(struct rch_link *link, struct rch_txf *txf);
void rch_link_reject(struct rch_link *link, u32 peer_id, u32 reason, u32 domain);
void rch_link_release_sent(struct rch_link *link);
void rch_link_purge(struct rch_link *link);

/* link_rx.c APIs: softirq */
void rch_link_received(struct rch_link *link, const struct rch_rxf *rxf);
void rch_link_wake(struct rch_link *link, struct rch_wake *wake, __poll_t events);
bool rch_link_key_closed(struct rch_link *link, u32 key);
void rch_link_key_excused(struct rch_link *link, u32 key);

/* link_rx.c APIs: any context */
void rch_wake_init(struct rch_wake *wake, wait_queue_head_t *queue, spinlock_t *lock);

/* link_inject.c APIs: softirq */
void rch_link_inject(struct rch_link *link, const struct rch_rxf *rxf);

/* link_inject.c APIs: any context; locked */
void rch_link_inject_posted(struct rch_link *link, u32 count);

/* link_inject.c APIs: may sleep */
#ifdef RCH_INJECT
void rch_link_inject_init(struct rch_link *link);
void rch_link_inject_lift(struct rch_link *link);
void rch_link_inject_stop(struct rch_link *link);
#else
static inline void rch_link_inject_init(struct rch_link *link) {}
static inline void rch_link_inject_lift(struct rch_link *link) {}
static inline void rch_link_inject_stop(struct rch_link *link) {}
#endif

/* lane.c APIs: any context; take link->lock */
void rch_lane_init(struct rch_lane *lane, u64 room);
int rch_lane_attach(struct rch_lane *lane, struct rch_link *link, gfp_t gfp);
bool rch_lane_detach(struct rch_lane *lane);
bool rch_lane_close_got(struct rch_lane *lane);
bool rch_lane_closed_got(struct rch_lane *lane);
void rch_lane_connected(struct rch_lane *lane, u32 peer_id, u64 window);
void rch_lane_tell(struct rch_lane *lane, u32 control);
void rch_lane_open(struct rch_lane *lane, bool early);
bool rch_lane_hear_early(struct rch_lane *lane);
struct rch_lane *rch_lane_early(struct rch_link *link, u32 peer_id);
bool rch_lane_unattach(struct rch_lane *lane);
bool rch_lane_sent_early(struct rch_lane *lane);
void rch_lane_credit(struct rch_lane *lane, u64 limit);
void rch_lane_taken(struct rch_lane *lane, u64 message, bool hold);
void rch_lane_cts(struct rch_lane *lane, const struct rch_cts *cts);
void rch_lane_word(struct rch_lane *lane, struct rch_word *word);
bool rch_lane_closed(struct rch_lane *lane);
bool rch_lane_may_access(struct rch_lane *lane);
bool rch_lane_access_begin(struct rch_lane *lane);
void rch_lane_access_end(struct rch_lane *lane);
void rch_lane_stand(struct rch_lane *lane, const struct rch_cts *cts, bool hold);
void rch_lane_return(struct rch_lane *lane, const struct rch_cts *cts);
void rch_lane_raise(struct rch_lane *lane, u64 limit);
bool rch_lane_sent(struct rch_lane *lane, struct rch_item *item);
void rch_lane_told(struct rch_lane *lane, u32 control);
void rch_lane_say_last(struct rch_lane *lane);
void rch_lane_reset(struct rch_lane *lane, u32 cause, u32 detail);
void rch_lane_finish(struct rch_lane *lane, u64 messages);
void rch_lane_read(struct rch_lane *lane, u64 messages, bool shut);
void rch_lane_shut_send(struct rch_lane *lane);
void rch_lane_refuse(struct rch_lane *lane);
bool rch_lane_has_room(struct rch_lane *lane);
int rch_lane_queue(struct rch_lane *lane, struct rch_item *item);
void rch_lane_put_behind(struct rch_lane *lane, struct rch_item *last, u32 len, u32 msg_flags);
int rch_lane_rts(struct rch_lane *lane, const struct rch_rts *rts, u8 flags, u32 key,
		 bool hold);
void rch_lane_rts_cancel(struct rch_lane *lane, u32 serial);
int rch_lane_fin(struct rch_lane *lane, u32 key, bool more, bool hold);
u32 rch_lane_segment_max(struct rch_lane *lane);
u32 rch_lane_at_once(struct rch_lane *lane);

/* lane_small.c APIs: memory for what waits; any context, as @gfp allows; take link->lock */
bool rch_lane_may_be_bare(const struct rch_lane *lane, u32 len, u32 msg_flags);
bool rch_lane_bare_saves(struct rch_lane *lane, u32 len);
struct rch_item *rch_lane_item_bare(struct rch_lane *lane, u32 len, gfp_t gfp, void **data);
struct rch_item *rch_lane_item(struct rch_lane *lane, u32 len, bool whole, gfp_t gfp,
			       void **data);

/* lane_small.c APIs: small messages; process context; take link->lock */
int rch_lane_send_small(struct rch_lane *lane, struct iov_iter *from, u32 len,
			u32 msg_flags, bool more);
void rch_lane_send_row(struct rch_lane *lane, struct rch_tx_row *row);

/** RCH_PATIENCE_DEADS - dead times that a peer may take to acknowledge what is written */
#define RCH_PATIENCE_DEADS 4
/** RCH_SPARE_MAX - frames that a link keeps to use again */
#define RCH_SPARE_MAX 16
/**
 * RCH_PURE_SPARES - frames that a link keeps for its heartbeat
 *
 * When both ends have no memory, and send at the same moment, each acknowledges the other's with
 * its next one: until then it has two under way.
 */
#define RCH_PURE_SPARES 2
/** RCH_ORPHANS_MAX - refusals that wait; a ring of frames full of OPEN asks for fewer */
#define RCH_ORPHANS_MAX 16384
/** RCH_DROP_AT_ONCE - items, or words, that one context drops of a lane that ends */
#define RCH_DROP_AT_ONCE 64
/** RCH_SMALL_MAX - bytes of the largest message that goes straight into the open frame */
#define RCH_SMALL_MAX 8192U
/** RCH_ITEM_MAX - bytes of the largest record that waits to share a frame */
#define RCH_ITEM_MAX 2048U

#endif /* _RCH_LINK_H */
