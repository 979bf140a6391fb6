/* SPDX-License-Identifier: GPL-2.0 */
/*
 * path.h - one queue pair to another host
 *
 * A path knows RDMA and the connection manager, and nothing of what frames mean.
 * Its owner (the link) hears of it through &struct rch_path_ops.
 */
#ifndef _RCH_PATH_H
#define _RCH_PATH_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdmachan.h>

#include "path/path_rdma.h"

struct rch_path;
struct rch_txf;

/** RCH_PATH_SEND_SLACK - send slots above the peer's depth; pure frames need none */
#define RCH_PATH_SEND_SLACK 16
/** RCH_PORT_PRIVILEGED - ports below this are for privileged programs, as PROT_SOCK says */
#define RCH_PORT_PRIVILEGED 1024
/** RCH_PATH_REPLY_MAX - bytes of private data in an answer: those of a REP */
#define RCH_PATH_REPLY_MAX 196
/** RCH_PATH_REFUSAL_MAX - bytes of private data in a refusal that waits */
#define RCH_PATH_REFUSAL_MAX 64
/** RCH_PATH_QUESTION_MAX - bytes of private data in a question: those of a REQ */
#define RCH_PATH_QUESTION_MAX 56

/**
 * struct rch_rxf - a frame that came
 * @page: holds it
 * @length: bytes of it
 * @bare: it has no header, but @imm
 * @imm: its immediate data
 * @closed: by it the peer has closed @key, as our adapter tells
 * @key: key of a memory region here
 */
struct rch_rxf {
	struct page *page;
	u32 length;
	bool bare;
	u32 imm;
	bool closed;
	u32 key;
};

/**
 * struct rch_path_ops - what a path tells its owner
 * @received: a frame came. Its page belongs to the path; a user that needs it longer takes a
 *	reference. Softirq, never concurrently for one path.
 * @reposted: @count receive buffers are posted again. Any context
 * @sent: this frame and all before it were sent. Softirq, not concurrent with
 *	@received
 * @down: the path is unusable, for the reason in @path->error. Any context; may be
 *	called several times
 * @arrived: whether the peer is known to have all frames, or may miss one that is larger than a
 *	packet; a racy answer. Softirq, with the path's lock
 * @answered: the connection manager has answered, or tells something unasked. Process context, with
 *	the id's handler mutex
 * @replied: the peer's module has answered a question of rch_path_query(). Process context
 */
struct rch_path_ops {
	void (*received)(struct rch_path *path, const struct rch_rxf *rxf);
	void (*reposted)(struct rch_path *path, u32 count);
	void (*sent)(struct rch_path *path, struct rch_txf *txf);
	void (*down)(struct rch_path *path);
	bool (*arrived)(const struct rch_path *path);
	void (*answered)(struct rch_path *path);
	void (*replied)(struct rch_path *path, const void *answer, u8 len);
};

/**
 * struct rch_rxb - a receive buffer: one frame
 * @cqe: completion
 * @path: its path
 * @page: memory, NULL while there is none
 * @dma: its address for the device, while it is posted
 * @vacant: could not be replaced; rch_path_refill() will
 */
struct rch_rxb {
	struct ib_cqe cqe;
	struct rch_path *path;
	struct page *page;
	u64 dma;
	bool vacant;
};

/**
 * struct rch_path_handed - pages of receive buffers that were handed over with a message
 *
 * A page may come back when its message is read: then it need not be allocated and cleared anew.
 * Only the completions of the path's receive queue touch this, one at a time, and before and
 * after them rch_path_buffers_get() and rch_path_buffers_put(). There is no lock.
 */
struct rch_path_handed {
	/** @pages: a ring of @depth of the path, the path has a reference of each page in it */
	struct page **pages;
	/** @first: the oldest of them in @pages */
	u32 first;
	/** @count: how many there are in @pages */
	u32 count;
	/** @at: when the last page was put in, in jiffies */
	unsigned long at;
};

/**
 * struct rch_path_answer - what the connection manager answers
 *
 * The work that connects asks one thing at a time, and clears @given before that. The handler of
 * events writes the answer before it sets @given, so there is no lock. An event that comes
 * unasked is written as well: @event is then read with READ_ONCE().
 */
struct rch_path_answer {
	/** @given: the connection manager has answered; smp_store_release(), smp_load_acquire() */
	bool given;
	/** @event: the last event that came, written with WRITE_ONCE() */
	int event;
	/** @aborted: connecting shall end; written with WRITE_ONCE(), by any thread */
	bool aborted;
	/**
	 * @accepted: the peer is let in, and @event will tell that the connection stands; written
	 * with WRITE_ONCE()
	 */
	bool accepted;
	/** @refused: the peer is to be told @reply, and is not let in */
	bool refused;
	/** @heard_work: tells the connection manager of the peer's first packets */
	struct work_struct heard_work;
	/** @reply: private data of the answer */
	u8 reply[RCH_PATH_REPLY_MAX];
	/** @reply_len: bytes of @reply that came */
	u8 reply_len;
};

/** struct rch_path_query - a question to the peer's module, see path_query.c; no lock */
struct rch_path_query {
	/** @id: connection manager's id, NULL: no query is under way */
	struct rdma_cm_id *id;
	/** @qp: the queue pair that the request names */
	struct ib_qp *qp;
	/** @question: private data of the request */
	u8 question[RCH_PATH_QUESTION_MAX];
	/** @len: bytes of it */
	u8 len;
};

/** struct rch_path_failure - why a path is unusable */
struct rch_path_failure {
	/**
	 * @lock: protects the other two; taken with interrupts off, as some adapters report events
	 * so; the innermost lock
	 */
	spinlock_t lock;
	/** @error: what went wrong; written once, by the first context that sets @failed */
	struct rdmachan_error error;
	/**
	 * @failed: @error is valid; written with smp_store_release(), read without @lock by
	 * smp_load_acquire() before @error is, else with READ_ONCE()
	 */
	bool failed;
};

/** struct rch_path_tail - probes behind the last packets, see path_tail.c */
struct rch_path_tail {
	/** @state: frames that were posted; protected by the path's lock */
	struct rch_tail state;
	/** @on: packets may be lost; immutable once the path is set up */
	bool on;
	/** @trip_us: a round trip in microseconds, 0: unknown; no lock */
	u32 trip_us;
	/** @timer: posts probes */
	struct hrtimer timer;
	/** @cqe: completion of probes */
	struct ib_cqe cqe;
};

/** struct rch_path_pace - how much of large messages is under way, see path_pace.c */
struct rch_path_pace {
	/** @state: the values; protected by the path's lock; for a guess it is read without */
	struct rch_pace state;
	/** @on: it is bounded; immutable once the path is set up */
	bool on;
	/** @measures: the round trip is being measured; protected by the path's lock */
	bool measures;
	/** @at: since when, in microseconds; likewise */
	u64 at;
	/** @cqe: completion of what measures it */
	struct ib_cqe cqe;
};

/** struct rch_path - one queue pair */
struct rch_path {
	/** @ops: owner's functions */
	const struct rch_path_ops *ops;
	/** @id: connection manager's id; its qp is the queue pair */
	struct rdma_cm_id *id;
	/** @dev: device */
	struct ib_device *dev;
	/** @port: port of @dev */
	u32 port;
	/** @pd: protection domain: one for each link, so one for each pair of trust domains */
	struct ib_pd *pd;
	/** @cq: completions of both queues */
	struct ib_cq *cq;
	/** @cq_handler: the core's function, which the adapter calls through path_cq.c */
	ib_comp_handler cq_handler;
	/** @cq_work: calls @cq_handler in an interrupt */
	struct irq_work cq_work;
	/** @depth: receive buffers */
	u32 depth;
	/** @send_depth: frames that may be posted and not completed */
	u32 send_depth;
	/** @frame_size: bytes of each receive buffer */
	u32 frame_size;
	/** @order: allocation order of a receive buffer */
	unsigned int order;
	/** @privileged: it connects from a port below RCH_PORT_PRIVILEGED */
	bool privileged;
	/** @any_port: it must not; set once */
	bool any_port;
	/** @mtu: bytes of a packet; a guess, where switches carry less than this host */
	u32 mtu;
	/** @mtu_limit: the most that the peer carries; 0: it has not said */
	u32 mtu_limit;
	/** @route_mtu: the same of a route that has a size of packets; else 0 */
	u32 route_mtu;
	/** @traffic_class: that is asked for, as of rch_link_wish; 0: none; immutable */
	u32 traffic_class;
	/** @source: own address that is asked for; family 0: any; immutable */
	struct sockaddr_storage source;
	/** @route_class: traffic class of packets, as far as known; written with WRITE_ONCE() */
	u8 route_class;
	/** @leads_here: the other end is a queue pair of @dev as well; known after setup */
	bool leads_here;
	/** @rxb: receive buffers */
	struct rch_rxb *rxb;
	/** @handed: receive buffers whose pages went along with a message */
	struct rch_path_handed handed;
	/**
	 * @lock: protects @stopped against posting, @users, @empty and the buffers' vacant, and
	 * what the parts say; taken from softirq; only the lock of @failure nests inside
	 */
	spinlock_t lock;
	/** @stopped: nothing may be posted any more */
	bool stopped;
	/** @drained: rch_path_drain() has ended */
	struct completion drained;
	/** @users: see path_rdma.h; protected by @lock */
	u32 users;
	/**
	 * @left: woken when @users becomes 0, @drained is, the event of @answer changes, or what a
	 * user waits for has come
	 */
	wait_queue_head_t left;
	/** @mrs: memory regions for messages, and the queue pair that opens them */
	struct rch_path_mrs mrs;
	/** @writes: messages that are being written to the peer */
	struct rch_path_writes writes;
	/** @lends: memory regions for grants */
	struct rch_path_lends lends;
	/** @accesses: accesses to what the peer lends */
	struct rch_path_accesses accesses;
	/** @keys: keys of own memory */
	struct rch_path_keys keys;
	/**
	 * @answered: when the peer's adapter last acknowledged something, in jiffies. Written with
	 * WRITE_ONCE() in softirq
	 */
	unsigned long answered;
	/** @pace: how much of large messages is under way */
	struct rch_path_pace pace;
	/** @tail: probes behind the last packets */
	struct rch_path_tail tail;
	/** @patience: jiffies that a write or a registration may take */
	unsigned long patience;
	/** @empty: receive buffers that could not be replaced; protected by @lock */
	u32 empty;
	/** @events: &enum rdmachan_link_event, events that were told of the adapter; atomic */
	atomic_t events;
	/** @address_at: when the own hardware address, or the peer's, last changed, in jiffies */
	unsigned long address_at;
	/** @peer_moved: the peer's has; written by the connection manager's events only */
	bool peer_moved;
	/** @answer: what the connection manager says of the path's connection */
	struct rch_path_answer answer;
	/** @query: a question to the peer's module */
	struct rch_path_query query;
	/** @failure: why the path is unusable */
	struct rch_path_failure failure;
};

/* path_news.c APIs: any context */
void rch_path_fail(struct rch_path *path, u32 op, u32 cause, u64 detail);
bool rch_path_fail_first(struct rch_path *path, const struct rdmachan_error *error);
void rch_path_heard(struct rch_path *path);

/* path_cq.c APIs: a path's life */
int rch_path_cq_get(struct rch_path *path);
void rch_path_cq_put(struct rch_path *path);

/* path_io.c APIs: any context */
int rch_path_post(struct rch_path *path, struct list_head *frames, bool probe);
void rch_path_post_failed(struct rch_path *path, int ret);
void rch_path_unmap(struct rch_path *path, struct rch_txf *txf);
void rch_path_wc_ok(struct rch_path *path, const struct ib_wc *wc);
void rch_path_wc_failed(struct rch_path *path, struct ib_wc *wc, u32 op);
void rch_path_refill(struct rch_path *path, gfp_t gfp);
int rch_path_buffers_get(struct rch_path *path);
void rch_path_buffers_put(struct rch_path *path);

/* path_tail.c APIs */
void rch_path_tail_init(struct rch_path *path);
void rch_path_tail_begin(struct rch_path *path);
void rch_path_tail_posted(struct rch_path *path);
void rch_path_tail_trip(struct rch_path *path, u32 us);
void rch_path_tail_stop(struct rch_path *path);
int rch_path_post_nothing(struct rch_path *path, struct ib_cqe *cqe);
bool rch_path_tail_bulk(const struct rch_path *path);

/* path_pace.c APIs */
void rch_path_pace_begin(struct rch_path *path);
u32 rch_path_pace_size(const struct rch_path *path);
bool rch_path_pace_may(const struct rch_path *path);
void rch_path_pace_posted(struct rch_path *path, struct rch_pace_batch *batch, u32 bytes);
void rch_path_pace_dropped(struct rch_path *path, const struct rch_pace_batch *batch);
void rch_path_pace_ended(struct rch_path *path, const struct rch_pace_batch *batch);

/** rch_path_mtu - bytes of a packet of the connection; 0: it has none, or not yet */
static inline u32 rch_path_mtu(const struct rch_path *path)
{
	return READ_ONCE(path->route_mtu);
}

/** rch_path_traffic_class - of the packets that this host sends; 0 before that is known */
static inline u8 rch_path_traffic_class(const struct rch_path *path)
{
	return READ_ONCE(path->route_class);
}

/** rch_path_events - &enum rdmachan_link_event: events that were told of the adapter */
static inline u32 rch_path_events(const struct rch_path *path)
{
	return atomic_read(&path->events);
}

#endif /* _RCH_PATH_H */
