/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant.h - grants: memory that is lent to the peer of a channel, or by it
 *
 * What this end lends is a *loan* (grant_lend.c); what the peer lends is *held*
 * (grant_hold.c) and accessed (grant_access.c).
 *
 * Lifetime. A channel gets its grants when there is the first one, and they are freed with
 * it. A loan is referenced by the table until it has ended, by its timer while that is
 * pending, by its REVOKE while that waits to be told, and by who waits for its end; it holds the
 * channel, and uses its region. What is held belongs to the table until it has ended and
 * nobody accesses it, and then to its RELEASE until that was told.
 *
 * Locks. The xa_lock of each table protects what is in it, and is taken in softirq; nothing
 * of ours is taken inside it. The lock of a region's set is outer to it; chan->lock and
 * link->lock are taken without it.
 */
#ifndef _RCH_GRANT_H
#define _RCH_GRANT_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "link.h"
#include "object.h"
#include "pure/grant.h"
#include "quota.h"

struct iov_iter;
struct mm_struct;
struct rch_chan;
struct rch_lend;
struct rch_region;
struct rch_regions;
struct rch_segment;

/**
 * struct rch_grants - the grants of a channel
 * @chan: channel
 * @loans: what this end lends, by number; its xa_lock protects @ending and the states
 * @last: number of the newest; by who has claimed RCH_CHAN_TX
 * @ending: loans that are to be taken back
 * @work: takes them back; holds the channel while it is pending
 * @held: what the peer lends, by number; its xa_lock protects @held_last and @asked
 * @held_last: number of the newest
 * @asked: atomic operations that the peer's kernel is asked for
 * @serial: number of the last
 * @answers: to those that the peer asks for, which are not told yet
 */
struct rch_grants {
	struct rch_chan *chan;
	struct xarray loans;
	u32 last;
	struct list_head ending;
	struct work_struct work;
	struct xarray held;
	u32 held_last;
	struct list_head asked;
	u32 serial;
	atomic_t answers;
};

/**
 * enum rch_loan_state - how it is with a loan
 * @RCH_LOAN_MADE: the peer does not know of it
 * @RCH_LOAN_LIVE: it may be accessed
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
 * @cause: why it ends; likewise
 * @revoke: REVOKE
 * @timer: revokes what has expired; then ends the link of a peer that does not answer
 * @wait: woken when it has ended
 * @path: we are a user of it while it has not ended
 * @pieces: memory regions of it
 * @keys: of each, as the peer is told
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
	u32 cause;
	struct rch_word revoke;
	struct delayed_work timer;
	wait_queue_head_t wait;
	struct rch_path *path;
	struct rch_lend **pieces;
	__le32 *keys;
	struct rch_segment *event;
};

/**
 * struct rch_held - memory that the peer lends; protected by the table's xa_lock but for
 *	what is immutable
 * @charge: its share of the limits
 * @id: number; immutable
 * @rights: enum rdmachan_right; immutable
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
	struct rch_charge charge;
	u32 id;
	u32 rights;
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
 * struct rch_giving - grants that are given with a message
 * @chan: channel
 * @loans: what is lent, after rch_loan_make()
 * @count: how many
 * @message: bytes that go with them
 * @msg_flags: its flags
 * @out: tells the program their numbers, before the peer is told. Return: 0 or an error
 */
struct rch_giving {
	struct rch_chan *chan;
	struct rch_loan *loans[RCH_GRANTS_MAX];
	u32 count;
	struct iov_iter *message;
	u16 msg_flags;
	int (*out)(struct rch_giving *giving);
};

/* grant.c APIs: process context */
struct rch_grants *rch_grants_get(struct rch_chan *chan, gfp_t gfp);

/* grant.c APIs: any context */
void rch_grants_free(struct rch_chan *chan);
void rch_grants_end(struct rch_chan *chan, u32 cause);
enum rch_rule rch_grants_record(struct rch_chan *chan, const struct rch_record *r);

/* grant_lend.c APIs: process context; may sleep */
struct rch_loan *rch_loan_make(struct rch_chan *chan, struct rch_regions *set,
			       const struct rdmachan_grant_range *range,
			       struct rdmachan_error *error);
void rch_loan_undo(struct rch_loan *loan);
int rch_loans_give(struct rch_giving *giving, bool nonblock, unsigned int timeout_ms);
int rch_loan_revoke(struct rch_chan *chan, u32 id, bool nonblock, unsigned int timeout_ms);
int rch_loans_revoke_region(struct rch_regions *set, u32 region);
void rch_loans_revoke_set(struct rch_regions *set);
void rch_loans_work(struct work_struct *work);

/* grant_lend.c APIs: any context */
void rch_grants_revoke(struct rch_chan *chan);
void rch_loans_end(struct rch_grants *grants, u32 cause);
enum rch_rule rch_loan_release_got(struct rch_grants *grants, const struct rch_record *r);
enum rch_rule rch_loan_atomic_got(struct rch_grants *grants, const struct rch_record *r);

/* grant_hold.c APIs: softirq */
enum rch_rule rch_grants_got(struct rch_chan *chan, const struct rch_record *r,
			     struct rch_segment **seg);
void rch_grants_refuse(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_held_revoke_got(struct rch_grants *grants, const struct rch_record *r);

/* grant_hold.c APIs: process context */
int rch_held_release(struct rch_chan *chan, u32 id);
int rch_held_call_begin(struct rch_chan *chan, u32 id, u32 right, u64 offset, u64 length);
void rch_held_call_end(struct rch_chan *chan, u32 id);
struct rch_held *rch_held_begin(struct rch_chan *chan, u32 id);
void rch_held_end(struct rch_chan *chan, struct rch_held *held);

/* grant_hold.c APIs: any context */
void rch_held_free_all(struct rch_grants *grants);

/* grant_access.c APIs: process context; may sleep */
int rch_grant_move(struct rch_chan *chan, u32 id, u64 offset, struct iov_iter *iter,
		   bool read);
int rch_grant_atomic(struct rch_chan *chan, struct rdmachan_atomic *atomic);

/* grant_access.c APIs: any context */
void rch_atomics_end(struct rch_grants *grants);
enum rch_rule rch_atomic_done_got(struct rch_grants *grants, const struct rch_record *r);

#endif /* _RCH_GRANT_H */
