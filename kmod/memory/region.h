/* SPDX-License-Identifier: GPL-2.0 */
/*
 * region.h - regions: memory of a program that stays where it is
 *
 * Lifetime. A context has a *set* of regions, which its queues refer to as well: it lives
 * on without the context, closed and empty. A region is referenced by the set until it is
 * taken out, by each *use* of it, and by whoever describes it. With the last reference its
 * pages are let go. A use is what something makes of a region that must not go away
 * meanwhile: an operation of a queue, from its submission to its completion.
 *
 * Locks. The set's xa_lock protects its table; it is taken in process context, and
 * nothing is taken inside it.
 */
#ifndef _RCH_REGION_H
#define _RCH_REGION_H

#include <linux/atomic.h>
#include <linux/bvec.h>
#include <linux/kref.h>
#include <linux/xarray.h>

#include "base/object.h"
#include "base/quota.h"

struct iov_iter;
struct mm_struct;
struct rch_access;
struct rch_key;
struct rch_mem;
struct rch_mem_cursor;
struct rch_path;

/**
 * struct rch_regions - the regions of a context
 * @ref: references: the context, its queues
 * @net: network namespace, as a name only
 * @table: regions by number; zero entries are being made
 * @next: for cyclic allocation
 * @lock: protects @loans and @lent, and how atomic operations on its regions are done; innermost,
 *	taken in process context
 * @loans: grants of its regions, see grant.h
 * @lent: how many
 */
struct rch_regions {
	struct kref ref;
	const struct net *net;
	struct xarray table;
	u32 next;
	spinlock_t lock;
	struct list_head loans;
	u32 lent;
};

/**
 * struct rch_region - pinned memory; all but where told otherwise immutable
 * @ref: references
 * @rcu: frees it
 * @object: for LIST
 * @charge: its share of the limits
 * @id: number in its set
 * @uses: how many; grows under the xa_lock of the set only
 * @read_only: nothing may be written there
 * @written: something may have been
 * @mm: the program's, whose account of pinned memory it is on; held, not used
 * @addr: where it was, in the program
 * @length: bytes
 * @pages: of them, on the account
 * @chunks: neighbouring pages, pinned
 * @begins: bytes of the region before each of @chunks
 * @count: of @chunks
 * @room: of both arrays
 * @atomics: grants of it that allow atomic operations
 * @atomics_by: the one that does these: an adapter, or NULL: the kernel; both protected by
 *	@lock of its set
 * @keys: keys of it that paths keep, see path_key.c; by its lock
 * @asked: a bit for each of its pieces, modulo the bits, that was lent before; atomic, a hint
 * @sent: messages from it
 * @received: messages into it
 */
struct rch_region {
	struct kref ref;
	struct rcu_head rcu;
	struct rch_object object;
	struct rch_charge charge;
	u32 id;
	atomic_t uses;
	bool read_only;
	bool written;
	struct mm_struct *mm;
	u64 addr;
	u64 length;
	u64 pages;
	struct bio_vec *chunks;
	u64 *begins;
	u32 count;
	u32 room;
	u32 atomics;
	const void *atomics_by;
	struct list_head keys;
	unsigned long asked;
	atomic64_t sent;
	atomic64_t received;
};

/* Process context; may sleep */
struct rch_regions *rch_regions_create(const struct net *net);
struct rch_regions *rch_regions_get(struct rch_regions *set);
void rch_regions_put(struct rch_regions *set);
void rch_regions_close(struct rch_regions *set);
void rch_regions_tell(struct rch_regions *set, u32 *count, u64 *bytes);
struct rch_region *rch_region_create(struct rch_regions *set, const struct rch_charge *owner,
				     u64 addr, u64 length, bool read_only,
				     struct rdmachan_error *error);
void rch_region_publish(struct rch_regions *set, struct rch_region *region);
void rch_region_abort(struct rch_regions *set, struct rch_region *region);
int rch_region_remove(struct rch_regions *set, u32 id);
struct rch_region *rch_region_use(struct rch_regions *set, u32 id,
				  const struct mm_struct *mm);
void rch_region_unuse(struct rch_region *region);
void rch_region_use_more(struct rch_region *region);
int rch_region_check(const struct rch_region *region, u64 offset, u64 length, bool write);
bool rch_region_atomics_begin(struct rch_regions *set, struct rch_region *region,
			      const void *by);
void rch_region_atomics_end(struct rch_regions *set, struct rch_region *region);

/* Any context, by a user of the region */
void rch_region_iter(struct rch_region *region, unsigned int direction, u64 offset,
		     size_t length, struct iov_iter *iter);
u32 rch_region_bvecs(struct rch_region *region, bool write, u64 offset, size_t length,
		     struct bio_vec *to);
u64 rch_region_atomic(struct rch_region *region, u64 offset, bool swap, u64 operand,
		      u64 compare);

/* Process context, by a user of the region */
int rch_region_table(struct rch_region *region, u64 offset, size_t length, u32 max,
		     struct rch_mem *mem);
struct rch_key *rch_region_key(struct rch_region *region, struct rch_path *path, u64 offset,
			       u32 length, u64 *address);
struct rch_key *rch_region_lend(struct rch_region *region, struct rch_path *path, u64 offset,
				u32 length, bool write, struct rch_mem_cursor *cursor);
u32 rch_region_access(struct rch_region *region, u64 offset, u32 length, bool write,
		      struct rch_access *access);

#endif /* _RCH_REGION_H */
