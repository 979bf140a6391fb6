// SPDX-License-Identifier: GPL-2.0
/*
 * path_key.c - keys of own memory, kept for the accesses to come
 *
 * Operation. A work request takes few elements, and the pages of a region may be scattered: one
 * for 128 KiB is all that rxe does without a key. With a key of the adapter's it is one for a MiB,
 * from and to anywhere. Making that costs about what it saves for 1 MiB, so it is kept: for each
 * path, as keys belong to that, and for each *piece* of a region, as many pages as a key may
 * have. Nobody else learns it, and it is good for local access only.
 *
 * Where there is a registrar (path_mr.c) the adapter does so at once. On a path's own queue pair it
 * would come behind all that is sent, and who runs a queue would wait for the peer: there
 * are no keys.
 *
 * Whoever finds none, because it is just being made, or as the path has as many as it
 * may have, or for want of memory, does with elements.
 *
 * Lifetime. A key goes with its path or with its memory, whichever goes first, or when the path
 * needs its place and nobody has used it for a while: who takes it out of both lists ends it.
 * By then the adapter does not use it: of a path that is destroyed it uses nothing,
 * and of memory that goes there are no accesses. These refer to what is left of a key until
 * they have ended themselves. A path waits for who ends one of its keys, as for any user.
 *
 * Locks. keys_lock protects all lists of keys, and their members; process context. path->lock
 * nests in it.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "inject.h"
#include "mem.h"
#include "path.h"
#include "path_rdma.h"
#include "rch.h"

static DEFINE_SPINLOCK(keys_lock);

static struct rch_key *find(const struct rch_path *path, const struct list_head *of, u64 index)
{
	struct rch_key *key;

	lockdep_assert_held(&keys_lock);
	list_for_each_entry(key, &path->keys, list)
		if (key->of == of && key->index == index)
			return key;
	return NULL;
}

/** rch_key_can - whether a path has keys of own memory; for a user of it */
bool rch_key_can(struct rch_path *path)
{
	return rch_lend_can(path) && !rch_registrar_get(path) && path->registrar;
}

/**
 * rch_key_get - the key of a piece of own memory, if there is one
 * @path: path
 * @of: the keys of that memory, which is in use
 * @index: number of the piece
 *
 * Return: it, for rch_key_put(); or NULL.
 */
struct rch_key *rch_key_get(struct rch_path *path, struct list_head *of, u64 index)
{
	struct rch_key *key;

	spin_lock(&keys_lock);
	key = find(path, of, index);
	if (key && key->ready) {
		key->refs++;
		key->used = jiffies;
		list_move(&key->list, &path->keys);
	} else {
		key = NULL;
	}
	spin_unlock(&keys_lock);
	return key;
}

/** rch_key_put - the opposite; the access has ended, or was not begun. NULL is none */
void rch_key_put(struct rch_key *key)
{
	bool last;

	if (!key)
		return;
	spin_lock(&keys_lock);
	last = !--key->refs;
	spin_unlock(&keys_lock);
	if (last)
		kfree(key);
}

static void unlist(struct rch_key *key)
{
	lockdep_assert_held(&keys_lock);
	list_del(&key->list);
	list_del(&key->with);
	key->path->key_count--;
}

/* The adapter forgets it. It is in no list; by a user of the path, or who destroys that. */
static void end(struct rch_key *key)
{
	rch_mem_unmap(&key->piece->mem);
	rch_lend_free(key->piece);
	atomic_dec(&rch_counts.keys);
	rch_key_put(key);
}

/* One that nobody uses, and has not for a while, leaves its place. */
static struct rch_key *take_old(struct rch_path *path)
{
	struct rch_key *key = list_last_entry(&path->keys, struct rch_key, list);

	lockdep_assert_held(&keys_lock);
	if (!key->ready || key->refs > 1 || time_before(jiffies, key->used + HZ))
		return NULL;
	unlist(key);
	return key;
}

/* Return: whether it has a place now. */
static bool enter(struct rch_path *path, struct list_head *of, struct rch_key *key)
{
	struct rch_key *old = NULL;
	bool ok = false;

	spin_lock(&keys_lock);
	if (!find(path, of, key->index)) {
		if (path->key_count >= RCH_KEYS)
			old = take_old(path);
		ok = path->key_count < RCH_KEYS;
	}
	if (ok) {
		list_add(&key->list, &path->keys);
		list_add(&key->with, of);
		path->key_count++;
	}
	spin_unlock(&keys_lock);
	if (old)
		end(old);
	return ok;
}

/**
 * rch_key_begin - begin to make a key
 * @path: path; the caller is a user of it
 * @of: the keys of the memory, which is in use
 * @index: number of the piece
 * @pages: of it
 *
 * Return: it, for rch_key_make() once its piece has a table, or for rch_key_abort(); or NULL.
 */
struct rch_key *rch_key_begin(struct rch_path *path, struct list_head *of, u64 index, u64 pages)
{
	struct rch_key *key = rch_try(RCH_SITE_WRITE, kzalloc(sizeof(*key), GFP_KERNEL_ACCOUNT));

	if (!key)
		return NULL;
	key->path = path;
	key->of = of;
	key->index = index;
	key->refs = 1;
	if (!enter(path, of, key)) {
		kfree(key);
		return NULL;
	}
	/* Nobody else looks at it before it is ready. */
	key->piece = rch_lend_get(path, pages);
	if (key->piece)
		return key;
	rch_key_abort(key);
	return NULL;
}

/** rch_key_abort - it comes to nothing; its piece has no table */
void rch_key_abort(struct rch_key *key)
{
	spin_lock(&keys_lock);
	unlist(key);
	spin_unlock(&keys_lock);
	if (key->piece)
		rch_lend_put(key->path, key->piece);
	kfree(key);
}

/**
 * rch_key_make - have the adapter know a key
 * @key: key, whose piece has its table
 *
 * Return: whether it does, then rch_key_put() must follow; else it has come to nothing.
 */
bool rch_key_make(struct rch_key *key)
{
	struct rch_path *path = key->path;
	struct rch_lend *piece = key->piece;
	u32 rights = piece->mem.direction == DMA_TO_DEVICE ? 0 : RCH_RIGHT_LOCAL;

	if (rch_mem_map_table(&piece->mem, path->dev)) {
		rch_key_abort(key);
		return false;
	}
	if (rch_lend_open(path, &piece, 1, rch_lend_shift(path), rights)) {
		rch_lend_close(path, &piece, 1);
		rch_mem_unmap(&piece->mem);
		rch_key_abort(key);
		return false;
	}
	atomic_inc(&rch_counts.keys);
	spin_lock(&keys_lock);
	key->ready = true;
	key->refs++;
	key->used = jiffies;
	spin_unlock(&keys_lock);
	return true;
}

/** rch_keys_end - memory goes away: so do its keys. Nobody uses it. May sleep */
void rch_keys_end(struct list_head *of)
{
	struct rch_path *path;
	struct rch_key *key;

	for (;;) {
		spin_lock(&keys_lock);
		key = list_first_entry_or_null(of, struct rch_key, with);
		if (key) {
			path = key->path;
			unlist(key);
			/* It has not emptied its list, so it looks for users after this. */
			spin_lock_bh(&path->lock);
			path->users++;
			spin_unlock_bh(&path->lock);
		}
		spin_unlock(&keys_lock);
		if (!key)
			return;
		end(key);
		rch_path_leave(path);
	}
}

static struct rch_key *take_first(struct rch_path *path)
{
	struct rch_key *key;

	spin_lock(&keys_lock);
	key = list_first_entry_or_null(&path->keys, struct rch_key, list);
	if (key)
		unlist(key);
	spin_unlock(&keys_lock);
	return key;
}

/** rch_path_keys_free - the path is being destroyed, and has no users */
void rch_path_keys_free(struct rch_path *path)
{
	struct rch_key *key;

	while ((key = take_first(path)))
		end(key);
	/* Whose memory has gone just now. */
	wait_event(path->left, !READ_ONCE(path->users));
}

/* What of @sg lies between @begin and @end of the piece, whose byte number @at is its first. */
static void sync_element(struct ib_device *dev, struct scatterlist *sg, u64 at, u64 begin,
			 u64 end, bool for_cpu, enum dma_data_direction direction)
{
	u64 from = max(at, begin), to = min(at + sg_dma_len(sg), end);

	if (from >= to)
		return;
	if (for_cpu)
		ib_dma_sync_single_for_cpu(dev, sg_dma_address(sg) + from - at, to - from,
					   direction);
	else
		ib_dma_sync_single_for_device(dev, sg_dma_address(sg) + from - at, to - from,
					      direction);
}

/**
 * rch_key_sync - hand a part of own memory to the adapter, or back
 * @key: its key; the caller is a user of the path
 * @address: where, as the adapter counts
 * @length: bytes
 * @for_cpu: back
 *
 * Any context.
 */
void rch_key_sync(struct rch_key *key, u64 address, u32 length, bool for_cpu)
{
	struct rch_mem *mem = &key->piece->mem;
	u64 begin = address - key->piece->mr->iova, at = 0;
	struct scatterlist *sg;
	int i;

	if (ib_uses_virt_dma(mem->dev))
		return;
	for_each_sgtable_dma_sg(&mem->table, sg, i) {
		sync_element(mem->dev, sg, at, begin, begin + length, for_cpu, mem->direction);
		at += sg_dma_len(sg);
	}
}
