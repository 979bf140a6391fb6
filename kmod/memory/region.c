// SPDX-License-Identifier: GPL-2.0
/*
 * region.c - regions: memory of a program that stays where it is
 *
 * Operation. Registering pins all pages, for as long as the program likes; neighbouring
 * ones, such as those of a huge page, become one *chunk*. From then on the chunks are the
 * region, whatever the program maps at the address. Pages are pinned for writing where the
 * program may write to them: then they stay its own, also after fork(), and bytes that it writes
 * there are those of the region. Where it may not they are pinned as they are, and must not be
 * written to.
 *
 * Accounting. As the RDMA core does it for memory regions of verbs, and in the same
 * account: whole pages, added to what the program's memory has pinned already and
 * compared with RLIMIT_MEMLOCK, unless it has CAP_IPC_LOCK. Two regions with one page count
 * it twice. Besides, all regions of a user, of whatever programs, are bound together by the
 * parameter user_pinned_mib, or RLIMIT_MEMLOCK if that is more. The account of a program ends with
 * it, and its regions with the context.
 *
 * Error handling. All that can fail happens before a region gets into the table for
 * others to find. A refusal by a limit says in the error record which one it was, the amount that
 * is in use of it, and the amount that was wanted.
 */
#include <linux/backing-dev.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/mem.h"
#include "memory/region.h"
#include "memory/span.h"
#include "path/path.h"
#include "path/path_rdma.h"

/* Bytes of a chunk are 32 bits wide. */
#define CHUNK_MAX SZ_1G
/* Pages that are pinned at a time: their pointers fill a page. */
#define BATCH (PAGE_SIZE / sizeof(struct page *))

/* The set */

/** rch_regions_create - for a context. Return: the set; or NULL without memory */
struct rch_regions *rch_regions_create(const struct net *net)
{
	struct rch_regions *set = rch_try(RCH_SITE_CONTEXT,
					  kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT));

	if (!set)
		return NULL;
	kref_init(&set->ref);
	set->net = net;
	xa_init_flags(&set->table, XA_FLAGS_ALLOC1);
	spin_lock_init(&set->lock);
	INIT_LIST_HEAD(&set->loans);
	atomic_inc(&rch_counts.sets);
	return set;
}

/** rch_regions_get - take a reference */
struct rch_regions *rch_regions_get(struct rch_regions *set)
{
	kref_get(&set->ref);
	return set;
}

static void region_set_free(struct kref *ref)
{
	struct rch_regions *set = container_of(ref, struct rch_regions, ref);

	/* Empty, it has nothing to be freed; and this may be in softirq. */
	WARN_ON_ONCE(!xa_empty(&set->table));
	kfree(set);
	atomic_dec(&rch_counts.sets);
}

/** rch_regions_put - drop it */
void rch_regions_put(struct rch_regions *set)
{
	kref_put(&set->ref, region_set_free);
}

/* A region */

static void region_unpin(struct rch_region *region)
{
	u32 i;

	for (i = 0; i < region->count; i++) {
		const struct bio_vec *chunk = &region->chunks[i];

		unpin_user_page_range_dirty_lock(chunk->bv_page,
						 DIV_ROUND_UP(chunk->bv_offset + chunk->bv_len,
							      PAGE_SIZE),
						 region->written);
		cond_resched();
	}
	region->count = 0;
}

static void region_uncharge(struct rch_region *region)
{
	atomic64_sub(region->pages, &region->mm->pinned_vm);
	mmdrop(region->mm);
	rch_user_unpin(region->charge.user, region->pages << PAGE_SHIFT);
	rch_charge_end(&region->charge);
}

static void region_free(struct kref *ref)
{
	struct rch_region *region = container_of(ref, struct rch_region, ref);

	pr_debug("rdmachan: region destroyed %p\n", region);
	rch_object_strike(&region->object);
	rch_keys_end(&region->keys);
	region_unpin(region);
	kvfree(region->chunks);
	kvfree(region->begins);
	region_uncharge(region);
	atomic_dec(&rch_counts.regions);
	kfree_rcu(region, rcu);
}

static bool region_object_get(struct rch_object *obj)
{
	return kref_get_unless_zero(&container_of(obj, struct rch_region, object)->ref);
}

static void region_object_put(struct rch_object *obj)
{
	kref_put(&container_of(obj, struct rch_region, object)->ref, region_free);
}

static void region_object_fill(struct rch_object *obj, struct rdmachan_object *out)
{
	struct rch_region *region = container_of(obj, struct rch_region, object);

	out->state = RDMACHAN_STATE_OPEN;
	out->region = region->id;
	out->uses = atomic_read(&region->uses);
	out->length = region->length;
	out->tx_messages = atomic64_read(&region->sent);
	out->rx_messages = atomic64_read(&region->received);
}

static const struct rch_object_ops region_object_ops = {
	.kind = RDMACHAN_KIND_REGION,
	.get = region_object_get,
	.put = region_object_put,
	.fill = region_object_fill,
};

static int region_too_much(const struct rch_region *region, u64 limit, u64 used,
			   struct rdmachan_error *error)
{
	atomic64_inc(&rch_counts.refused_memlock);
	rch_error_set(error, RDMACHAN_OP_REGISTER, RDMACHAN_CAUSE_MEMLOCK, 0);
	error->limit = limit;
	error->used = used;
	error->needed = region->pages << PAGE_SHIFT;
	return -ENOMEM;
}

/* What programs of the user have pinned together. */
static int region_charge_user(struct rch_region *region, struct rdmachan_error *error)
{
	u64 bytes = region->pages << PAGE_SHIFT;
	struct rdmachan_use use;

	if (rch_user_pin(region->charge.user, bytes, rlimit(RLIMIT_MEMLOCK), &use) ||
	    (capable(CAP_IPC_LOCK) &&
	     rch_user_pin(region->charge.user, bytes, U64_MAX, &use)))
		return 0;
	return region_too_much(region, use.user_max, use.user, error);
}

/* What the program has pinned. */
static int region_charge_memlock(struct rch_region *region, struct rdmachan_error *error)
{
	u64 max = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;
	u64 pinned = atomic64_add_return(region->pages, &mm->pinned_vm);

	if (pinned <= max || capable(CAP_IPC_LOCK)) {
		region->mm = mm;
		mmgrab(mm);
		return 0;
	}
	atomic64_sub(region->pages, &mm->pinned_vm);
	return region_too_much(region, rlimit(RLIMIT_MEMLOCK),
			       (pinned - region->pages) << PAGE_SHIFT,
			       error);
}

static int region_charge_pages(struct rch_region *region, struct rdmachan_error *error)
{
	int ret = region_charge_user(region, error);

	if (ret)
		return ret;
	ret = region_charge_memlock(region, error);
	if (ret)
		rch_user_unpin(region->charge.user, region->pages << PAGE_SHIFT);
	return ret;
}

static int region_charge(struct rch_region *region, const struct rch_charge *owner,
			 struct rdmachan_error *error)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_REGIONS] = 1 };
	int ret;

	rch_charge_begin(&region->charge, owner->user, owner->exempt);
	ret = rch_charge_object(&region->charge, &cost, RDMACHAN_OP_REGISTER, error);
	ret = ret ?: region_charge_pages(region, error);
	if (ret)
		rch_charge_end(&region->charge);
	return ret;
}

/*
 * Pages of a file that has to write them back may not be pinned for writing: the file
 * system does not hear of what is written there then. Newer kernels refuse it themselves.
 */
static bool region_needs_writeback(const struct vm_area_struct *vma)
{
	return vma->vm_file && (vma->vm_flags & VM_SHARED) &&
	       mapping_can_writeback(vma->vm_file->f_mapping);
}

/*
 * How pages of @addr are pinned, and to which address @end that holds. Return: flags of
 * GUP; or -EFAULT, -EOPNOTSUPP.
 */
static int region_pin_flags(const struct rch_region *region, unsigned long addr, unsigned long *end)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int flags = FOLL_LONGTERM;

	mmap_read_lock(mm);
	vma = find_vma(mm, addr);
	if (!vma || vma->vm_start > addr || (vma->vm_flags & (VM_IO | VM_PFNMAP))) {
		flags = -EFAULT;
	} else if (!region->read_only) {
		flags = region_needs_writeback(vma) ? -EOPNOTSUPP : flags | FOLL_WRITE;
		*end = vma->vm_end;
	} else {
		if ((vma->vm_flags & VM_WRITE) && !region_needs_writeback(vma))
			flags |= FOLL_WRITE;
		*end = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return flags;
}

static int region_grow(struct rch_region *region)
{
	u32 room = min_t(u64, region->room ? 2ULL * region->room : 16, region->pages);
	struct bio_vec *chunks;
	u64 *begins;

	chunks = rch_try(RCH_SITE_PIN, kvmalloc_array(room, sizeof(*chunks),
						      GFP_KERNEL_ACCOUNT));
	begins = rch_try(RCH_SITE_PIN, kvmalloc_array(room, sizeof(*begins),
						      GFP_KERNEL_ACCOUNT));
	if (!chunks || !begins) {
		kvfree(chunks);
		kvfree(begins);
		return -ENOMEM;
	}
	if (region->count) {
		memcpy(chunks, region->chunks, region->count * sizeof(*chunks));
		memcpy(begins, region->begins, region->count * sizeof(*begins));
	}
	kvfree(region->chunks);
	kvfree(region->begins);
	region->chunks = chunks;
	region->begins = begins;
	region->room = room;
	return 0;
}

static bool region_follows(const struct bio_vec *chunk, struct page *page)
{
	return chunk->bv_len < CHUNK_MAX &&
	       page_to_pfn(chunk->bv_page) +
	       (chunk->bv_offset + chunk->bv_len) / PAGE_SIZE == page_to_pfn(page);
}

/* The next page of the region is @page; @done bytes come before it. */
static int region_add_one(struct rch_region *region, struct page *page, u64 done)
{
	unsigned int offset = done ? 0 : offset_in_page(region->addr);
	u32 length = min_t(u64, PAGE_SIZE - offset, region->length - done);
	struct bio_vec *chunk;
	int ret;

	if (region->count && region_follows(&region->chunks[region->count - 1], page)) {
		region->chunks[region->count - 1].bv_len += length;
		return 0;
	}
	ret = region->count == region->room ? region_grow(region) : 0;
	if (ret)
		return ret;
	chunk = &region->chunks[region->count];
	chunk->bv_page = page;
	chunk->bv_offset = offset;
	chunk->bv_len = length;
	region->begins[region->count++] = done;
	return 0;
}

/*
 * @write: the pages are pinned for that. Another thread may have mapped a file there since
 * region_pin_flags(). Return: the error; pages from @i on are let go, those before it are the
 * region's.
 */
static int region_add_batch(struct rch_region *region, struct page **pages, int count, bool write,
			    u64 *done)
{
	int i, ret;

	for (i = 0; i < count; i++) {
		ret = write && rch_mem_is_written_back(pages[i]) ? -EOPNOTSUPP :
		      region_add_one(region, pages[i], *done);
		if (ret) {
			unpin_user_pages(pages + i, count - i);
			return ret;
		}
		*done += *done ? PAGE_SIZE : PAGE_SIZE - offset_in_page(region->addr);
	}
	return 0;
}

static int region_pin_range(struct rch_region *region, struct page **pages)
{
	unsigned long addr = region->addr & PAGE_MASK, end = addr + region->pages * PAGE_SIZE;
	unsigned long same = addr;
	int got, ret, flags = 0;
	u64 done = 0;

	while (addr < end) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		if (addr == same)
			flags = region_pin_flags(region, addr, &same);
		if (flags < 0)
			return flags;
		got = pin_user_pages_fast(addr, min_t(u64, BATCH, (min(same, end) - addr) /
						      PAGE_SIZE), flags, pages);
		if (got <= 0)
			return got ?: -EFAULT;
		ret = region_add_batch(region, pages, got, flags & FOLL_WRITE, &done);
		if (ret)
			return ret;
		addr += got * PAGE_SIZE;
	}
	return 0;
}

static int region_pin(struct rch_region *region, struct rdmachan_error *error)
{
	struct page **pages;
	int ret;

	pages = rch_try(RCH_SITE_PIN, (struct page **)__get_free_page(GFP_KERNEL_ACCOUNT));
	if (!pages)
		return -ENOMEM;
	ret = region_pin_range(region, pages);
	free_page((unsigned long)pages);
	if (ret == -EOPNOTSUPP)
		rch_error_set(error, RDMACHAN_OP_REGISTER, RDMACHAN_CAUSE_MEMORY_KIND, 0);
	return ret;
}

/* Return: -EINVAL when it cannot be a range of addresses. */
static int region_measure(struct rch_region *region)
{
	u64 pages = rch_span_pages(region->addr, region->length, PAGE_SHIFT, ULONG_MAX);

	if (!pages || pages > U32_MAX)
		return -EINVAL;
	region->pages = pages;
	return 0;
}

static int region_enter(struct rch_regions *set, struct rch_region *region)
{
	int ret = rch_no_memory(RCH_SITE_OBJECT) ? -ENOMEM :
		xa_alloc_cyclic(&set->table, &region->id, NULL, xa_limit_32b, &set->next,
				GFP_KERNEL);

	if (ret < 0)
		return ret;
	ret = rch_object_enter(&region->object, &region_object_ops, set->net,
			       region->charge.user->uid, GFP_KERNEL);
	if (ret)
		xa_erase(&set->table, region->id);
	return ret;
}

/**
 * rch_region_create - pin memory of the calling program
 * @set: of its context
 * @owner: charge of the context
 * @addr: where
 * @length: bytes
 * @read_only: it is not to be written to
 * @error: which limit it was, and all else that is known
 *
 * Its number is taken, and nobody finds it by that until rch_region_publish(), or
 * rch_region_abort() undoes all.
 * Return: the region, or an ERR_PTR(): -EINVAL, -EFAULT, -EINTR when killed; -EOPNOTSUPP:
 * such memory cannot stay; -EDQUOT, -ENOSPC, -ENOMEM, see @error.
 */
struct rch_region *rch_region_create(struct rch_regions *set, const struct rch_charge *owner,
				     u64 addr, u64 length, bool read_only,
				     struct rdmachan_error *error)
{
	struct rch_region *region;
	int ret;

	region = rch_try(RCH_SITE_PIN, kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT));
	if (!region)
		return ERR_PTR(-ENOMEM);
	kref_init(&region->ref);
	INIT_LIST_HEAD(&region->keys);
	region->addr = addr;
	region->length = length;
	region->read_only = read_only;
	ret = region_measure(region) ?: region_charge(region, owner, error);
	if (ret) {
		kfree(region);
		return ERR_PTR(ret);
	}
	atomic_inc(&rch_counts.regions);
	pr_debug("rdmachan: region created %p\n", region);
	ret = region_pin(region, error) ?: region_enter(set, region);
	if (ret) {
		kref_put(&region->ref, region_free);
		return ERR_PTR(ret);
	}
	return region;
}

/** rch_region_publish - it can be found from now on; this cannot fail */
void rch_region_publish(struct rch_regions *set, struct rch_region *region)
{
	/* The slot is there. */
	xa_store(&set->table, region->id, region, 0);
}

/** rch_region_abort - nobody has found it: undo its creation */
void rch_region_abort(struct rch_regions *set, struct rch_region *region)
{
	xa_erase(&set->table, region->id);
	kref_put(&region->ref, region_free);
}

/**
 * rch_region_remove - take a region out of its set
 * @set: set
 * @id: its number
 *
 * Its pages are let go, but for a moment in which somebody describes it.
 * Return: 0; -ENOENT; -EBUSY when it is used; -EPERM when it is another program's.
 */
int rch_region_remove(struct rch_regions *set, u32 id)
{
	struct rch_region *region;
	int ret = 0;

	xa_lock(&set->table);
	region = xa_load(&set->table, id);
	if (!region)
		ret = -ENOENT;
	else if (region->mm != current->mm)
		ret = -EPERM;
	else if (atomic_read(&region->uses))
		ret = -EBUSY;
	else
		__xa_erase(&set->table, id);
	xa_unlock(&set->table);
	if (!ret)
		kref_put(&region->ref, region_free);
	return ret;
}

/**
 * rch_regions_tell - how many regions there are
 * @set: regions of a context
 * @count: so many
 * @bytes: bytes of all
 */
void rch_regions_tell(struct rch_regions *set, u32 *count, u64 *bytes)
{
	struct rch_region *region;
	unsigned long id;

	*count = 0;
	*bytes = 0;
	/* A region is freed by RCU. */
	rcu_read_lock();
	xa_for_each(&set->table, id, region) {
		++*count;
		*bytes += region->length;
	}
	rcu_read_unlock();
}

/** rch_regions_close - the context is closed: all regions go, when they are not used */
void rch_regions_close(struct rch_regions *set)
{
	struct rch_region *region;
	unsigned long id;

	xa_for_each(&set->table, id, region) {
		xa_erase(&set->table, id);
		kref_put(&region->ref, region_free);
	}
}

/**
 * rch_region_use - begin to use a region
 * @set: set
 * @id: its number
 * @mm: memory of the program that uses it
 *
 * Return: it; or an ERR_PTR(): -ENOENT, or -EPERM when it is another program's.
 */
struct rch_region *rch_region_use(struct rch_regions *set, u32 id,
				  const struct mm_struct *mm)
{
	struct rch_region *region;

	xa_lock(&set->table);
	region = xa_load(&set->table, id);
	if (!region) {
		region = ERR_PTR(-ENOENT);
	} else if (region->mm != mm) {
		region = ERR_PTR(-EPERM);
	} else {
		kref_get(&region->ref);
		atomic_inc(&region->uses);
	}
	xa_unlock(&set->table);
	return region;
}

/** rch_region_use_more - the same, by a user of the region */
void rch_region_use_more(struct rch_region *region)
{
	kref_get(&region->ref);
	atomic_inc(&region->uses);
}

/** rch_region_unuse - the use ends: neither we nor an adapter touch it any more */
void rch_region_unuse(struct rch_region *region)
{
	atomic_dec(&region->uses);
	kref_put(&region->ref, region_free);
}

/**
 * rch_region_check - whether a range lies in a region
 * @region: region
 * @offset: of the first byte
 * @length: bytes
 * @write: they will be written to
 *
 * Return: 0, -ERANGE, or -EACCES.
 */
int rch_region_check(const struct rch_region *region, u64 offset, u64 length, bool write)
{
	if (offset > region->length || length > region->length - offset)
		return -ERANGE;
	return write && region->read_only ? -EACCES : 0;
}

/**
 * rch_region_atomics_begin - atomic operations on a region are allowed to a peer
 * @set: set of the region
 * @region: region
 * @by: the one that does them: an adapter, or NULL: the kernel
 *
 * Another region may have the same pages, of this program or of one that shares the memory, and
 * may be lent in the other way. Then operations on one number do not exclude each other, and
 * updates may be lost. Nobody but the owner can lend his memory twice, and nobody but those who
 * use these numbers suffers: the kernel keeps none there. To compare the pages of all regions with
 * each GRANT would keep him from one mistake, at a cost for all. uapi.rst says so.
 *
 * Return: false when others are done by somebody else: these do not exclude each other.
 */
bool rch_region_atomics_begin(struct rch_regions *set, struct rch_region *region,
			      const void *by)
{
	bool ok;

	spin_lock(&set->lock);
	ok = !region->atomics || region->atomics_by == by;
	if (ok) {
		region->atomics++;
		region->atomics_by = by;
	}
	spin_unlock(&set->lock);
	return ok;
}

/** rch_region_atomics_end - the opposite */
void rch_region_atomics_end(struct rch_regions *set, struct rch_region *region)
{
	spin_lock(&set->lock);
	region->atomics--;
	spin_unlock(&set->lock);
}

/* The chunk in which the byte at @offset is. */
static u32 region_find(const struct rch_region *region, u64 offset)
{
	u32 low = 0, high = region->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (region->begins[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/**
 * rch_region_iter - a range of a region, to be copied from or to
 * @region: region
 * @direction: ITER_SOURCE or ITER_DEST
 * @offset: where it begins; the range was checked
 * @length: bytes
 * @iter: result. Copying does not sleep, and does not fail
 */
void rch_region_iter(struct rch_region *region, unsigned int direction, u64 offset,
		     size_t length, struct iov_iter *iter)
{
	u32 first = region_find(region, offset);
	size_t skip = offset - region->begins[first];

	if (direction == ITER_DEST)
		WRITE_ONCE(region->written, true);
	iov_iter_bvec(iter, direction, region->chunks + first, region->count - first, length);
	/* Within the chunk; or at the end of the last one, and there are no bytes. */
	iter->iov_offset = skip;
}

/**
 * rch_region_atomic - do an atomic operation on 8 bytes
 * @region: region
 * @offset: where; checked, and aligned in memory
 * @swap: put @operand there if @compare is, else add @operand
 * @operand: see @swap
 * @compare: likewise
 *
 * Return: the value that was there before.
 */
u64 rch_region_atomic(struct rch_region *region, u64 offset, bool swap, u64 operand,
		      u64 compare)
{
	u32 chunk = region_find(region, offset);
	u64 at = region->chunks[chunk].bv_offset + (offset - region->begins[chunk]);
	void *page = kmap_local_page(region->chunks[chunk].bv_page + at / PAGE_SIZE);
	atomic64_t *value = page + at % PAGE_SIZE;
	u64 old;

	old = swap ? atomic64_cmpxchg(value, compare, operand) :
		     atomic64_fetch_add(operand, value);
	kunmap_local(page);
	return old;
}

/* A place in a region. */
struct place {
	const struct bio_vec *chunk;
	u32 skip;
};

static struct place region_place_of(const struct rch_region *region, u64 offset)
{
	u32 chunk = region_find(region, offset);

	return (struct place){ &region->chunks[chunk], offset - region->begins[chunk] };
}

/* Pass bytes that are neighbours, at most @max. Return: how many */
static u32 region_pass(struct place *place, size_t max)
{
	u32 n = min_t(size_t, max, place->chunk->bv_len - place->skip);

	place->skip += n;
	if (place->skip == place->chunk->bv_len) {
		place->chunk++;
		place->skip = 0;
	}
	return n;
}

static u32 region_pieces(struct place place, size_t length, u32 max)
{
	u32 count = 0;

	for (; length; count++)
		length -= region_pass(&place, min_t(size_t, length, max));
	return count;
}

/**
 * rch_region_bvecs - the pieces of a range of a region, to be copied from or to
 * @region: region
 * @write: they will be written to
 * @offset: where it begins; the range was checked
 * @length: bytes; 0 has no pieces
 * @to: result; or NULL, to count them only
 *
 * Return: how many pieces.
 */
u32 rch_region_bvecs(struct rch_region *region, bool write, u64 offset, size_t length,
		     struct bio_vec *to)
{
	struct place place = region_place_of(region, offset);
	struct bio_vec piece;
	u32 count = 0;

	if (write)
		WRITE_ONCE(region->written, true);
	for (; length; count++) {
		piece.bv_page = place.chunk->bv_page;
		piece.bv_offset = place.chunk->bv_offset + place.skip;
		piece.bv_len = region_pass(&place, length);
		length -= piece.bv_len;
		if (to)
			to[count] = piece;
	}
	return count;
}

/**
 * rch_region_table - a range of a region, to be mapped for an adapter
 * @region: region
 * @offset: where it begins; the range was checked
 * @length: bytes, not 0
 * @max: bytes of an element, a multiple of pages
 * @mem: result; for rch_mem_map_table()
 *
 * Return: 0 or -ENOMEM.
 */
int rch_region_table(struct rch_region *region, u64 offset, size_t length, u32 max,
		     struct rch_mem *mem)
{
	struct place place = region_place_of(region, offset);
	struct scatterlist *sg;
	struct page *page;
	u32 n, at, i;
	int ret;

	ret = rch_no_memory(RCH_SITE_PIN) ? -ENOMEM :
		sg_alloc_table(&mem->table, region_pieces(place, length, max), GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	for_each_sgtable_sg(&mem->table, sg, i) {
		page = place.chunk->bv_page;
		at = place.chunk->bv_offset + place.skip;
		n = region_pass(&place, min_t(size_t, length, max));
		sg_set_page(sg, page + at / PAGE_SIZE, n, at % PAGE_SIZE);
		length -= n;
	}
	if (mem->direction != DMA_TO_DEVICE)
		WRITE_ONCE(region->written, true);
	return 0;
}

/* Return: how many bytes that is: fewer than @length where there are not enough elements. */
static u32 region_elements(struct rch_region *region, u64 offset, u32 length, u32 most,
			   struct rch_access *access)
{
	struct place place = region_place_of(region, offset);
	u32 done = 0, at, n;
	struct page *page;

	sg_init_table(access->sg, most);
	for (access->sg_count = 0; access->sg_count < most && done < length; done += n) {
		page = place.chunk->bv_page;
		at = place.chunk->bv_offset + place.skip;
		n = region_pass(&place, min(length - done, access->segment_max));
		sg_set_page(&access->sg[access->sg_count++], page + at / PAGE_SIZE, n,
			    at % PAGE_SIZE);
	}
	sg_mark_end(&access->sg[access->sg_count - 1]);
	return done;
}

/* Have a key of the piece number @index made. By a user of the path. */
static void region_make_key(struct rch_region *region, struct rch_path *path, u64 index, u32 shift)
{
	u64 skip = offset_in_page(region->addr), begin = max(index << shift, skip);
	u64 length = min((index + 1) << shift, skip + region->length) - begin;
	struct rch_key *key;
	struct rch_mem *mem;

	key = rch_key_begin(path, &region->keys, index,
			    DIV_ROUND_UP_ULL(offset_in_page(begin) + length, PAGE_SIZE), length);
	if (!key)
		return;
	mem = &key->piece->mem;
	mem->direction = region->read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	if (rch_region_table(region, begin - skip, length, rch_mem_segment_max(path->dev), mem))
		rch_key_abort(key);
	else
		rch_key_make(key);
}

/* A place among the pieces that keys are for. */
struct spot {
	u64 index;
	/* as the adapter counts, from where the piece begins */
	u64 address;
	/* bytes of the piece from there on */
	u64 left;
};

static struct spot region_spot_of(const struct rch_region *region, const struct rch_path *path,
				  u64 offset)
{
	u64 address = offset_in_page(region->addr) + offset;
	u32 shift = rch_lend_shift(path);
	u64 begin = address >> shift << shift;

	return (struct spot){
		.index = address >> shift,
		.address = address - begin,
		.left = begin + (1ULL << shift) - address,
	};
}

/*
 * Return: the key of a piece; or NULL, then one may be there later. @again: only if this was asked
 * for before. By a user of the path.
 */
static struct rch_key *region_key_of(struct rch_region *region, struct rch_path *path, u64 index,
				     bool again)
{
	struct rch_key *key;
	bool missing;

	key = rch_key_get(path, &region->keys, index, &missing);
	if (missing && (!again || test_and_set_bit(index % BITS_PER_LONG, &region->asked)))
		region_make_key(region, path, index, rch_lend_shift(path));
	return key;
}

/* Whether pages end at @end, behind which are others. */
static bool region_ends_chunk(const struct rch_region *region, u64 end)
{
	u32 last = region_find(region, end - 1);

	return region->begins[last] + region->chunks[last].bv_len == end;
}

/* Whether a range may have a key that is worth it; by a user of the path. */
static bool region_has_spot(const struct rch_region *region, const struct rch_path *path,
			    u64 offset,
			    u32 length, struct spot *spot)
{
	u32 chunks = region_find(region, offset + length - 1) - region_find(region, offset) + 1;

	if (chunks <= path->writes.sges || !rch_key_can(path) ||
	    READ_ONCE(path->keys.held) >= RCH_KEYS_HELD)
		return false;
	*spot = region_spot_of(region, path, offset);
	return length <= spot->left;
}

/**
 * rch_region_key - a key for a whole range
 * @region: region
 * @path: path; the caller is a user of it
 * @offset: where the range begins; it was checked
 * @length: its bytes, not 0
 * @address: where it begins, as the adapter counts
 *
 * May sleep, but for no program. Return: the key, for rch_key_release(); or NULL, when there is
 * none (yet), or so few elements that one work request takes them.
 */
struct rch_key *rch_region_key(struct rch_region *region, struct rch_path *path, u64 offset,
			       u32 length, u64 *address)
{
	struct rch_key *key;
	struct spot spot;

	if (!region_has_spot(region, path, offset, length, &spot))
		return NULL;
	*address = spot.address;
	key = region_key_of(region, path, spot.index, false);
	if (!key || rch_key_hold(key))
		return key;
	rch_key_put(key);
	return NULL;
}

/**
 * rch_region_lend - a range to let a peer at, in the mapping of a key
 * @region: region
 * @path: path; the caller is a user of it
 * @offset: where the range begins; it was checked
 * @length: its bytes, not 0
 * @write: the peer may write to it
 * @cursor: result: the range
 *
 * The peer gets a key of its own. May sleep, but for no program.
 * Return: the key, for rch_key_release(); or NULL: rch_region_table() makes a mapping.
 */
struct rch_key *rch_region_lend(struct rch_region *region, struct rch_path *path, u64 offset,
				u32 length, bool write, struct rch_mem_cursor *cursor)
{
	struct rch_key *key;
	struct spot spot;

	if (!region_ends_chunk(region, offset + length) ||
	    !region_has_spot(region, path, offset, length, &spot))
		return NULL;
	key = region_key_of(region, path, spot.index, true);
	if (!key)
		return NULL;
	if (!rch_key_range(key, spot.address, length, cursor) || !rch_key_hold(key)) {
		rch_key_put(key);
		return NULL;
	}
	if (write)
		WRITE_ONCE(region->written, true);
	return key;
}

/*
 * With elements it would be @done bytes of @length. Return: for how many @access has a key now; or
 * @done when it has none yet.
 */
static u32 region_get_key(struct rch_region *region, u64 offset, u32 length, u32 done,
			  struct rch_access *access)
{
	struct spot spot = region_spot_of(region, access->path, offset);

	if (spot.left <= done)
		return done;
	access->key = region_key_of(region, access->path, spot.index, false);
	if (!access->key)
		return done;
	access->key_address = spot.address;
	return min_t(u64, length, spot.left);
}

/**
 * rch_region_access - a part of a range, for one access of an adapter
 * @region: region
 * @offset: where it begins; the range was checked
 * @length: bytes, not 0
 * @write: the adapter will write to it
 * @access: gets its elements; or, where these are not enough, a key if there is one already
 *
 * May sleep, but for no program. Return: how many bytes that is; may be fewer than @length.
 */
u32 rch_region_access(struct rch_region *region, u64 offset, u32 length, bool write,
		      struct rch_access *access)
{
	u32 done = region_elements(region, offset, length, access->sges_max[write], access);

	if (write)
		WRITE_ONCE(region->written, true);
	if (done == length || !rch_path_enter(access->path))
		return done;
	if (rch_key_can(access->path))
		done = region_get_key(region, offset, length, done, access);
	rch_path_leave(access->path);
	return done;
}
