/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant.h - grants: memory that is lent to the peer of a channel, or by it
 *
 * A grant that this end gives is a *loan* (grant_lend.c); one that the peer gives is *held*
 * (grant_hold.c) and accessed (grant_access.c).
 *
 * Lifetime. A channel gets its grants when there is the first one, and they are freed with
 * it. A loan is referenced by the table until it has ended, by its timer while that is
 * pending, by its REVOKE while that waits to be told, and by the waiters for its end. It holds the
 * channel, and uses its region. A held grant is referenced by the table until it has ended and
 * nobody accesses it, then by its RELEASE until that was told. Each call that has begun has a
 * reference too: a number may be another grant's by the next step.
 *
 * Locks. The xa_lock of the loans and held_lock protect what is there, and are taken in softirq;
 * nothing of ours is taken inside them. The lock of a region's set is outer to the first;
 * chan->lock and link->lock are taken without them.
 */
#ifndef _RCH_GRANT_H
#define _RCH_GRANT_H

#include <linux/kref.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "base/object.h"
#include "base/quota.h"
#include "channel/chan.h"
#include "link/link.h"
#include "path/path_rdma.h"
#include "proto/grant.h"

struct mm_struct;
struct rch_chan;
struct rch_lend;
struct rch_region;
struct rch_regions;
struct rch_segment;

/** RCH_ANSWER_DEADS - how many dead times a peer may take to answer */
#define RCH_ANSWER_DEADS 4

/** RCH_ANSWERS_STEP - answers to atomic operations that are charged at a time; the first are not */
#define RCH_ANSWERS_STEP 64

/**
 * struct rch_grants - the grants of a channel
 * @chan: channel
 * @loans: grants that this end lends, by number; its xa_lock protects @ending, @over and the states
 * @last: number of the newest; by the holder of RCH_CHAN_TX
 * @ending: loans that are to be taken back
 * @over: the peer accesses no loan any more. Those that are RCH_LOAN_LIVE are so no longer, see
 *	rch_loan_live(), and @back takes them back as well, one after the other. Written with
 *	WRITE_ONCE(), and stays
 * @over_cause: why, if so
 * @back: takes them back; holds the channel while it is in the line of its link
 * @held_lock: protects what follows up to @put_off
 * @held: what the peer lends, by number. A tree, as the peer chooses these numbers: an xarray would
 *	need 1.7 KiB for each that is far from others, and a node is part of what is charged
 * @held_last: number of the newest
 * @asked: atomic operations that the peer's kernel is asked for
 * @waiting: those that wait for their turn to be
 * @turns_taken: how many have one
 * @serial: number of the last
 * @silent: the peer answers nothing any more, and @work ends those of @asked that are left; stays
 * @put_off: turns are free, and @work gives them to those that wait; it holds the channel then.
 *	Otherwise none is free while others wait, but for the context that passes it on
 * @work: goes on where too many turns have come to nothing; of rch_wq
 * @answers: to those that the peer asks for, which are not told yet; by @answers_lock
 * @answers_charged: so many there may be; the channel is charged for those beyond the first step;
 *	by @answers_lock
 * @answers_lock: inside the link's lock, and none but that of the limits inside it
 * @turns: accesses that wait for the path
 */
struct rch_grants {
	struct rch_chan *chan;
	struct xarray loans;
	u32 last;
	struct list_head ending;
	bool over;
	u32 over_cause;
	struct rch_return back;
	spinlock_t held_lock;
	struct rb_root held;
	u32 held_last;
	struct list_head asked;
	struct list_head waiting;
	u32 turns_taken;
	u32 serial;
	bool silent;
	bool put_off;
	struct work_struct work;
	u32 answers;
	u32 answers_charged;
	spinlock_t answers_lock;
	struct rch_turns turns;
};

/**
 * enum rch_loan_state - how it is with a loan
 * @RCH_LOAN_MADE: the peer does not know of it
 * @RCH_LOAN_LIVE: it may be accessed, unless the channel has ended: rch_loan_live() tells
 * @RCH_LOAN_ENDING: the peer has given it back, or has ended; the key is still valid
 * @RCH_LOAN_ENDED: control is back
 */
enum rch_loan_state {
	RCH_LOAN_MADE,
	RCH_LOAN_LIVE,
	RCH_LOAN_ENDING,
	RCH_LOAN_ENDED,
};

/**
 * struct rch_loan - memory that is lent; all but where told otherwise immutable
 * @ref: references
 * @rcu: frees it
 * @object: for LIST
 * @charge: its share of the limits
 * @grants: of its channel, which is referenced
 * @set: regions of the context, referenced
 * @of_set: in the list of @set, under its lock
 * @ending: in the list of @grants
 * @region: used while it has not ended
 * @region_id: its number
 * @offset: of the range in it
 * @info: what the peer is told; keys included
 * @expires_ms: it is revoked so long after it was given; 0 is never
 * @state: &enum rch_loan_state; protected by the table's xa_lock
 * @revoked: REVOKE was told; likewise
 * @settled: it is known whether GRANT gives it; likewise
 * @back: it was taken back; likewise
 * @due: when @timer looks, in jiffies: the end of the loan's time or, once it is @revoked, of the
 *	peer's time to answer; likewise
 * @cause: why it ends; likewise
 * @revoke: REVOKE
 * @timer: revokes what has expired; then ends the link of a peer that does not answer
 * @wait: woken when it has ended
 * @path: we are a user of it while it has not ended
 * @pieces: memory regions of it
 * @keys: of each, as the peer is told
 * @bytes: of the kernel's memory that @pieces take
 * @event: tells the program that it has ended; NULL when it never knew of it
 */
struct rch_loan {
	struct kref ref;
	struct rcu_head rcu;
	struct rch_object object;
	struct rch_charge charge;
	struct rch_grants *grants;
	struct rch_regions *set;
	struct list_head of_set;
	struct list_head ending;
	struct rch_region *region;
	u32 region_id;
	u64 offset;
	struct rch_grant_info info;
	u32 expires_ms;
	enum rch_loan_state state;
	bool revoked;
	bool settled;
	bool back;
	unsigned long due;
	u32 cause;
	struct rch_word revoke;
	struct delayed_work timer;
	wait_queue_head_t wait;
	struct rch_path *path;
	struct rch_lend **pieces;
	u64 bytes;
	__le32 *keys;
	struct rch_segment *event;
};

/**
 * struct rch_held - memory that the peer lends; protected by held_lock but for what is immutable
 * @ref: references
 * @node: in the tree of its channel, until it is given back
 * @charge: its share of the limits
 * @id: number; immutable
 * @stone: the peer wanted it back before it came; immutable
 * @rights: enum rdmachan_right; immutable
 * @cookie: of the owner's; immutable
 * @length: bytes; immutable
 * @start: address of the first one; immutable
 * @shift: size of a piece; immutable
 * @counted: it has a count of uses; immutable
 * @uses: left, if it has
 * @calls: of programs that access it, whether or not they do so at this moment
 * @busy: accesses that are under way
 * @ended: there are no more accesses
 * @cause: for the owner
 * @release: RELEASE; it is the owner of this when it has ended
 * @key: of each piece; immutable
 */
struct rch_held {
	struct kref ref;
	struct rb_node node;
	struct rch_charge charge;
	u32 id;
	bool stone;
	u32 rights;
	u64 cookie;
	u64 length;
	u32 start;
	u32 shift;
	bool counted;
	u32 uses;
	u32 calls;
	u32 busy;
	bool ended;
	u32 cause;
	struct rch_word release;
	u32 key[];
};

/**
 * struct rch_held_place - a grant that a call accesses, and what of it never changes
 * @held: it, with a reference
 * @rights: enum rdmachan_right
 * @start: address of the first byte
 * @shift: size of a piece
 */
struct rch_held_place {
	struct rch_held *held;
	u32 rights;
	u32 start;
	u32 shift;
};

/**
 * enum rch_asked_state - how it is with an atomic operation of the peer's kernel
 * @RCH_ASKED_NOT: it was not asked for
 * @RCH_ASKED_WAITS: for its turn
 * @RCH_ASKED_NOW: it was asked for, or just is
 */
enum rch_asked_state {
	RCH_ASKED_NOT,
	RCH_ASKED_WAITS,
	RCH_ASKED_NOW,
};

/**
 * struct rch_asked - an atomic operation that the peer's kernel is asked for
 * @list: in the grants' list, or in that of those that wait; by held_lock, as
 *	the next one
 * @state: how it is. A caller that goes on with the job sets it back when that is over
 * @serial: its number
 * @held: the grant it is done on, until it was, or nothing will be heard of it
 * @certain: it was done; by the wait queue's lock of the job, as the next two, but for the
 *	thread that begins, when nobody else knows of it
 * @error: why it was not asked for when it was its turn, or has none; or 0
 * @parts: @word is in use, or will be; and nothing was heard
 * @word: ATOMIC
 * @late: the peer takes too long; where no waiter would notice
 */
struct rch_asked {
	struct list_head list;
	enum rch_asked_state state;
	u32 serial;
	struct rch_held *held;
	bool certain;
	int error;
	u32 parts;
	struct rch_word word;
	struct timer_list late;
};

/** RCH_JOB_STEPS - accesses of the adapter that a job has under way at a time */
#define RCH_JOB_STEPS 8

/**
 * struct rch_job - a READ, a WRITE or an atomic operation, on its way. By the caller that has
 *	begun it, unless a member says otherwise
 * @chan: channel
 * @id: number of the grant
 * @right: the access that is done: %RDMACHAN_RIGHT_READ, WRITE or ATOMIC
 * @start: where it begins
 * @offset: where the next step begins
 * @left: bytes for which there was no step yet
 * @iter: own memory, all of it
 * @pin: it is the calling program's: its pages may be pinned, instead of copying
 * @uses: own memory is in this region, which is used; or NULL
 * @region: its pages are read or written where they are; or NULL
 * @region_offset: where in it
 * @op: an atomic operation: &enum rdmachan_atomic_op
 * @operand: of it
 * @compare: likewise
 * @value: the number that was there before
 * @result: why it goes on no further, an errno below 0; or 0. %-ENOTCONN: the path has
 *	failed, and the channel will soon
 * @stopped: nobody wants the rest of it
 * @begun: it was
 * @at: the grant; with a reference if @begun
 * @first: number of the first step that is under way
 * @next: number of the next one
 * @steps: the steps
 * @asked: instead of them
 * @wait: woken when a step, or @asked, has ended, or the path has taken one that had to wait.
 *	Its lock protects what ends them
 * @left_alone: nobody waits for it any more; by the lock of @wait, as the next one
 * @under_way: work that has to end before it can be freed
 * @work: frees it then
 * @keep: keeps the channel open
 * @drop: gives that back
 */
struct rch_job {
	struct rch_chan *chan;
	u32 id;
	u32 right;
	u64 start;
	u64 offset;
	u64 left;
	struct iov_iter iter;
	bool pin;
	struct rch_region *uses;
	struct rch_region *region;
	u64 region_offset;
	u32 op;
	u64 operand;
	u64 compare;
	u64 value;
	int result;
	bool stopped;
	bool begun;
	struct rch_held_place at;
	u32 first;
	u32 next;
	struct rch_access *steps[RCH_JOB_STEPS];
	struct rch_asked asked;
	wait_queue_head_t wait;
	bool left_alone;
	u32 under_way;
	struct work_struct work;
	void *keep;
	void (*drop)(void *keep);
};

/**
 * struct rch_notice - a message that goes with a WRITE
 * @send: sends it: rch_chan_send(), which lies above
 * @message: its bytes
 * @msg_flags: its flags
 * @deadline: how long to wait for room, as of rch_deadline()
 * @sent: that was tried
 * @result: how, if it was: 0 or an errno below it
 */
struct rch_notice {
	int (*send)(struct rch_chan *chan, struct iov_iter *from, u16 msg_flags, bool nonblock,
		    unsigned long deadline);
	struct iov_iter *message;
	u16 msg_flags;
	unsigned long deadline;
	bool sent;
	int result;
};

/**
 * struct rch_giving - grants that are given with a message
 * @chan: channel
 * @set: regions of the context
 * @ranges: the memory that is lent, checked but for the region
 * @ids: the numbers that they get
 * @count: how many
 * @message: bytes that go with them
 * @bytes: of @message
 * @msg_flags: its flags
 * @out: tells the program @ids, before anything is lent. Return: 0 or an error
 * @error: record to be filled in
 */
struct rch_giving {
	struct rch_chan *chan;
	struct rch_regions *set;
	struct rdmachan_grant_range ranges[RCH_GRANTS_MAX];
	u32 ids[RCH_GRANTS_MAX];
	u32 count;
	void *message;
	u32 bytes;
	u16 msg_flags;
	int (*out)(struct rch_giving *giving);
	struct rdmachan_error *error;
};

/** rch_grants_of - the grants of a channel, or NULL. Any context */
static inline struct rch_grants *rch_grants_of(const struct rch_chan *chan)
{
	/* pairs with rch_grants_get() */
	return smp_load_acquire(&chan->grants);
}

/**
 * rch_loan_live - whether the peer may access it, and it can be revoked
 * @loan: loan
 *
 * Under the table's xa_lock; without it a racy answer. Once false it stays so.
 */
static inline bool rch_loan_live(const struct rch_loan *loan)
{
	return READ_ONCE(loan->state) == RCH_LOAN_LIVE && !READ_ONCE(loan->grants->over);
}

/**
 * rch_grant_patience - how long a peer may take to answer, in jiffies
 * @link: link
 *
 * The adapter of an honest one may have some MiB to move first.
 */
static inline unsigned long rch_grant_patience(const struct rch_link *link)
{
	return RCH_ANSWER_DEADS * link->beat.dead;
}

/* grant.c APIs: process context */
struct rch_grants *rch_grants_get(struct rch_chan *chan, gfp_t gfp);
int rch_grant_describe(struct rch_chan *chan, u32 id, bool held, struct rdmachan_object *out);

/* grant.c APIs: any context */
void rch_grants_free(struct rch_chan *chan);
void rch_grants_end(struct rch_chan *chan, u32 cause);
enum rch_rule rch_grants_record(struct rch_chan *chan, const struct rch_record *r);

/* grant_lend.c APIs: process context; may sleep */
int rch_loans_give(struct rch_giving *giving, bool nonblock, unsigned long deadline);
void rch_loans_return(struct rch_return *r);

/* grant_lend.c APIs: any context */
void rch_loans_end(struct rch_grants *grants, u32 cause);
enum rch_rule rch_loan_release_got(struct rch_grants *grants, const struct rch_record *r);
void rch_loan_put(struct rch_loan *loan);

/* grant_revoke.c APIs: process context; may sleep */
struct rch_loan *rch_loan_revoke_begin(struct rch_chan *chan, u32 id);
int rch_loan_revoke(struct rch_chan *chan, u32 id, bool nonblock, unsigned long deadline);
int rch_loans_revoke_region(struct rch_regions *set, u32 region);
void rch_loans_revoke_set(struct rch_regions *set);
void rch_loan_timer(struct work_struct *work);

/* grant_revoke.c APIs: any context */
void rch_grants_revoke(struct rch_chan *chan);
void rch_loan_expire_later(struct rch_loan *loan);
bool rch_loan_ended(const struct rch_loan *loan);

/* grant_hold.c APIs: softirq */
enum rch_rule rch_grants_got(struct rch_chan *chan, const struct rch_record *r,
			     struct rch_segment **seg);
void rch_grants_refuse(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_held_revoke_got(struct rch_grants *grants, const struct rch_record *r);

/* grant_hold.c APIs: any context */
int rch_held_release(struct rch_chan *chan, u32 id);
int rch_held_call_begin(struct rch_chan *chan, u32 id, u32 right, u64 offset, u64 length,
			struct rch_held_place *place);
void rch_held_call_end(struct rch_chan *chan, struct rch_held *held);
int rch_held_begin(struct rch_chan *chan, struct rch_held *held);
void rch_held_end(struct rch_chan *chan, struct rch_held *held);
void rch_grants_unread(struct rch_chan *chan, const struct rch_segment *seg);
void rch_held_free_all(struct rch_grants *grants);
struct rch_held *rch_held_find(struct rch_grants *grants, u32 id);

/* grant_access.c APIs: process context; may sleep, but for no program and no peer */
void rch_job_init(struct rch_job *job, struct rch_chan *chan, u32 id, u32 right, u64 offset);
int rch_job_begin(struct rch_job *job, u64 length);
int rch_job_go_on(struct rch_job *job);
int rch_job_hold(struct rch_job *job);
bool rch_job_stop(struct rch_job *job);
bool rch_job_under_way(const struct rch_job *job);
bool rch_job_has_pages(const struct rch_job *job);
bool rch_job_sent(const struct rch_job *job);
bool rch_job_failed(const struct rch_job *job);
void rch_job_end(struct rch_job *job);
struct rch_job *rch_job_alloc(struct rch_chan *chan, u32 id, u32 right, u64 offset, void *keep,
			      void (*drop)(void *keep));
void rch_job_leave(struct rch_job *job);

/* grant_access.c APIs: process context; wait for the end */
int rch_grant_move(struct rch_chan *chan, u32 id, u64 offset, struct iov_iter *iter, bool read,
		   struct rch_notice *notice);
int rch_grant_atomic(struct rch_chan *chan, struct rdmachan_atomic_args *atomic);

/* grant_access.c APIs: any context, with the lock of @wait */
void rch_job_part_over(struct rch_job *job);

/* grant_atomic.c APIs: process context */
int rch_ask(struct rch_job *job);
void rch_ask_late(struct rch_job *job);
bool rch_ask_stop(struct rch_job *job);
int rch_ask_result(struct rch_job *job);
void rch_asked_init(struct rch_job *job);
void rch_asked_exit(struct rch_job *job);
void rch_asked_work(struct work_struct *work);

/* grant_atomic.c APIs: softirq */
enum rch_rule rch_loan_atomic_got(struct rch_grants *grants, const struct rch_record *r);

/* grant_atomic.c APIs: any context but interrupts */
bool rch_asked_over(const struct rch_job *job);
void rch_atomics_end(struct rch_grants *grants);
enum rch_rule rch_atomic_done_got(struct rch_grants *grants, const struct rch_record *r);

#endif /* _RCH_GRANT_H */
