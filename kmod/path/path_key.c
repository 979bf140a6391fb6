// SPDX-License-Identifier: GPL-2.0
/*
 * path_key.c - keys of own memory, kept for the accesses to come
 *
 * Operation. A work request takes few elements, and the pages of a region may be scattered: one
 * for 128 KiB is all that rxe does without a key. With a key of the adapter's it is one for a MiB,
 * from and to anywhere. Making that costs about what it saves for 1 MiB, so it is kept. There is
 * one for each path, as keys belong to that, and for each *piece* of a region, as many pages as a
 * key may have. Nobody else learns it, and it is good for local access only.
 *
 * The mapping of its memory also serves to let the peer at some of it: making a mapping takes more
 * than all else, where pages are many. Such a key must stay until the peer is kept out, and that of
 * a message until the peer has taken it; so only half of them may be in use in such ways.
 *
 * One mapping is for all users of the memory at a time, some of which read and others write. So
 * there are keys only where adapter and processors see the same memory at once: where it had to be
 * handed to and fro, one would undo what another has written.
 *
 * A caller that finds none does with elements: because the path has as many as it may have, for
 * want of memory, or as it is just being made. That is a work item's to do, for it waits for the
 * adapter, which may have much to send before.
 *
 * Lifetime. A key goes with its path or with its memory, whichever goes first, or when the path
 * needs its place and nobody has used it for a while. A context that finds it ready and takes it
 * out of the path's list ends it. By then the adapter does not use it: of a path that is destroyed
 * it uses nothing, and of memory that goes there are no accesses. Accesses refer to what is left of
 * a key until they have ended themselves. Memory waits until it has no key, in whichever context
 * the last ends; a path waits for contexts that make or end one of its keys, as for any user.
 *
 * Locks. keys_lock protects all lists of keys, and their members; process context. path->lock
 * nests in it.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "dma/mem.h"
#include "path/path.h"
#include "path/path_rdma.h"

static DEFINE_SPINLOCK(keys_lock);
static atomic64_t keys_made;
/* Woken when a key is made, or is no more. */
static DECLARE_WAIT_QUEUE_HEAD(keys_changed);

static struct rch_key *path_key_find(const struct rch_path *path, const struct list_head *of,
				     u64 index)
{
	struct rch_key *key;

	lockdep_assert_held(&keys_lock);
	list_for_each_entry(key, &path->keys.list, list)
		if (key->of == of && key->index == index)
			return key;
	return NULL;
}

/** rch_key_can - whether a path has keys of own memory; for a user of it */
bool rch_key_can(const struct rch_path *path)
{
	/* With iWARP, READ needs a key that the peer uses, for as long as it takes. */
	return rch_lend_can(path) && !rdma_protocol_iwarp(path->dev, path->port) &&
	       !READ_ONCE(path->keys.none);
}

/**
 * rch_key_get - the key of a piece of own memory, if there is one
 * @path: path
 * @of: the keys of that memory, which is in use
 * @index: number of the piece
 * @missing: there is none that is being made either
 *
 * Return: it, for rch_key_put(); or NULL.
 */
struct rch_key *rch_key_get(struct rch_path *path, struct list_head *of, u64 index,
			    bool *missing)
{
	struct rch_key *key;

	spin_lock_bh(&keys_lock);
	key = path_key_find(path, of, index);
	*missing = !key;
	if (key && key->ready) {
		key->refs++;
		key->used = jiffies;
		list_move(&key->list, &path->keys.list);
	} else {
		key = NULL;
	}
	spin_unlock_bh(&keys_lock);
	return key;
}

/** rch_key_put - the opposite; the access has ended, or was not begun. NULL is none */
void rch_key_put(struct rch_key *key)
{
	bool last;

	if (!key)
		return;
	spin_lock_bh(&keys_lock);
	last = !--key->refs;
	spin_unlock_bh(&keys_lock);
	if (last)
		kfree(key);
}

/* Out of the path's list: nobody finds it any more. */
static void path_key_leave_path(struct rch_key *key)
{
	lockdep_assert_held(&keys_lock);
	list_del(&key->list);
	key->path->keys.count--;
	key->ready = false;
}

/* The memory has it no more, and may be gone after this. */
static void path_key_leave_memory(struct rch_key *key)
{
	spin_lock_bh(&keys_lock);
	list_del(&key->with);
	spin_unlock_bh(&keys_lock);
	wake_up_all(&keys_changed);
	rch_key_put(key);
}

/* It has left the path. By a user of the path, or by its destruction. */
static void path_key_end(struct rch_key *key)
{
	rch_mem_unmap(&key->piece->mem);
	/* As it is open, nobody gets it again. */
	rch_lend_put(key->path, key->piece);
	atomic_dec(&rch_counts.keys);
	path_key_leave_memory(key);
}

/* One that nobody uses, and has not for a while, leaves its place. */
static struct rch_key *path_key_take_old(struct rch_path *path)
{
	struct rch_key *key;

	lockdep_assert_held(&keys_lock);
	list_for_each_entry_reverse(key, &path->keys.list, list) {
		if (!key->ready || key->refs > 1)
			continue;
		if (time_before(jiffies, key->used + HZ))
			return NULL;
		path_key_leave_path(key);
		return key;
	}
	return NULL;
}

/* Return: whether it has a place now. */
static bool path_key_enter(struct rch_path *path, struct list_head *of, struct rch_key *key)
{
	struct rch_key *old = NULL;
	bool ok = false;

	spin_lock_bh(&keys_lock);
	if (!path_key_find(path, of, key->index)) {
		if (path->keys.count >= RCH_KEYS)
			old = path_key_take_old(path);
		ok = path->keys.count < RCH_KEYS;
	}
	if (ok) {
		list_add(&key->list, &path->keys.list);
		list_add(&key->with, of);
		path->keys.count++;
	}
	spin_unlock_bh(&keys_lock);
	if (old)
		path_key_end(old);
	return ok;
}

/* It comes to nothing; memory that it had is given back. */
static void path_key_abandon(struct rch_key *key)
{
	spin_lock_bh(&keys_lock);
	path_key_leave_path(key);
	spin_unlock_bh(&keys_lock);
	path_key_leave_memory(key);
}

/* Have the adapter know it. Return: whether it does. */
static bool path_key_make(struct rch_key *key)
{
	struct rch_path *path = key->path;
	struct rch_lend *piece = key->piece;
	u32 rights = piece->mem.direction == DMA_TO_DEVICE ? 0 : RCH_RIGHT_LOCAL;

	if (rch_mem_map_table(&piece->mem, path->dev))
		goto err_put;
	if (rch_mem_needs_sync(&piece->mem)) {
		WRITE_ONCE(path->keys.none, true);
		goto err_unmap;
	}
	rch_mem_begin(&piece->mem, &piece->begin);
	if (!rch_lend_open(path, &piece, 1, rch_lend_shift(path), rights) &&
	    piece->mr->length == key->length)
		return true;
	rch_lend_close(path, &piece, 1);
err_unmap:
	rch_mem_unmap(&piece->mem);
err_put:
	rch_lend_put(path, piece);
	return false;
}

static void path_key_make_work(struct work_struct *work)
{
	struct rch_key *key = container_of(work, struct rch_key, work);
	struct rch_path *path = key->path;

	if (path_key_make(key)) {
		atomic_inc(&rch_counts.keys);
		spin_lock_bh(&keys_lock);
		key->used = jiffies;
		key->ready = true;
		spin_unlock_bh(&keys_lock);
		/* From here on it may be ended, and freed. */
		wake_up_all(&keys_changed);
	} else {
		path_key_abandon(key);
	}
	rch_path_leave(path);
}

/**
 * rch_key_begin - begin to make a key
 * @path: path; the caller is a user of it
 * @of: the keys of the memory, which is in use
 * @index: number of the piece
 * @pages: of it
 * @length: its bytes
 *
 * Return: it, for rch_key_make() once its piece has a table, or for rch_key_abort(); or NULL.
 */
struct rch_key *rch_key_begin(struct rch_path *path, struct list_head *of, u64 index, u64 pages,
			      u64 length)
{
	struct rch_key *key = rch_try(RCH_SITE_WRITE, kzalloc(sizeof(*key), GFP_KERNEL_ACCOUNT));

	if (!key)
		return NULL;
	key->number = atomic64_inc_return(&keys_made);
	key->path = path;
	key->of = of;
	key->index = index;
	key->length = length;
	key->refs = 1;
	INIT_WORK(&key->work, path_key_make_work);
	if (!path_key_enter(path, of, key)) {
		kfree(key);
		return NULL;
	}
	/* Nobody else looks at it before it is ready. */
	key->piece = rch_lend_get(path, pages);
	if (key->piece)
		return key;
	path_key_abandon(key);
	return NULL;
}

/** rch_key_abort - it comes to nothing; its piece has no table */
void rch_key_abort(struct rch_key *key)
{
	rch_lend_put(key->path, key->piece);
	path_key_abandon(key);
}

/** rch_key_make - have the adapter know a key, soon. By a user of its path */
void rch_key_make(struct rch_key *key)
{
	if (rch_path_enter(key->path)) {
		queue_work(rch_key_wq, &key->work);
		return;
	}
	sg_free_table(&key->piece->mem.table);
	rch_key_abort(key);
}

static struct rch_key *path_key_find_ready(const struct list_head *of)
{
	struct rch_key *key;

	lockdep_assert_held(&keys_lock);
	list_for_each_entry(key, of, with)
		if (key->ready)
			return key;
	return NULL;
}

/* Whether there is none, or one to be ended. */
static bool path_key_may_go_on(const struct list_head *of)
{
	bool may;

	spin_lock_bh(&keys_lock);
	may = list_empty(of) || path_key_find_ready(of);
	spin_unlock_bh(&keys_lock);
	return may;
}

/* If one is ready it goes. Return: whether there may be others. */
static bool path_key_end_one(struct list_head *of)
{
	struct rch_path *path;
	struct rch_key *key;
	bool left;

	spin_lock_bh(&keys_lock);
	left = !list_empty(of);
	key = path_key_find_ready(of);
	if (key) {
		path = key->path;
		path_key_leave_path(key);
		/* It has not emptied its list yet, and looks for users after that. */
		spin_lock(&path->lock);
		path->users++;
		spin_unlock(&path->lock);
	}
	spin_unlock_bh(&keys_lock);
	if (!key)
		return left;
	path_key_end(key);
	rch_path_leave(path);
	return true;
}

/** rch_keys_end - memory goes away: so do its keys. Nobody uses it. Waits for adapters */
void rch_keys_end(struct list_head *of)
{
	while (path_key_end_one(of))
		wait_event(keys_changed, path_key_may_go_on(of));
}

static struct rch_key *path_key_take_first(struct rch_path *path)
{
	struct rch_key *key;

	spin_lock_bh(&keys_lock);
	key = list_first_entry_or_null(&path->keys.list, struct rch_key, list);
	if (key)
		path_key_leave_path(key);
	spin_unlock_bh(&keys_lock);
	return key;
}

/** rch_path_keys_free - the path is being destroyed, and has no users: none is being made */
void rch_path_keys_free(struct rch_path *path)
{
	struct rch_key *key;

	while ((key = path_key_take_first(path)))
		path_key_end(key);
	/* Whose memory has gone just now. */
	wait_event(path->left, !READ_ONCE(path->users));
}

/* Return: false when the range does not end with an element. */
static bool path_key_find_range(const struct rch_mem *mem, u64 begin, u64 length,
				struct rch_mem_cursor *cursor)
{
	struct scatterlist *sg = mem->table.sgl;

	for (; begin >= sg_dma_len(sg); sg = sg_next(sg))
		begin -= sg_dma_len(sg);
	*cursor = (struct rch_mem_cursor){ .sg = sg, .offset = begin };
	for (length += begin; length; sg = sg_next(sg)) {
		if (length < sg_dma_len(sg))
			return false;
		length -= sg_dma_len(sg);
		cursor->left++;
	}
	return true;
}

/**
 * rch_key_hold - use a key for as long as others may want
 * @key: from rch_key_get()
 *
 * Such a key must stay, so there are few such uses. Return: true, then rch_key_release() follows.
 */
bool rch_key_hold(struct rch_key *key)
{
	bool ok;

	spin_lock_bh(&keys_lock);
	ok = key->path->keys.held < RCH_KEYS_HELD;
	WRITE_ONCE(key->path->keys.held, key->path->keys.held + ok);
	spin_unlock_bh(&keys_lock);
	return ok;
}

/** rch_key_release - the opposite, by a user of its path; consumes the key */
void rch_key_release(struct rch_key *key)
{
	spin_lock_bh(&keys_lock);
	WRITE_ONCE(key->path->keys.held, key->path->keys.held - 1);
	if (key->ready) {
		key->used = jiffies;
		list_move(&key->list, &key->path->keys.list);
	}
	spin_unlock_bh(&keys_lock);
	rch_key_put(key);
}

/**
 * rch_key_range - a part of a key's memory, where it is mapped
 * @key: from rch_key_get()
 * @address: where, as the adapter counts
 * @length: bytes, not 0
 * @cursor: result
 *
 * To let the peer at it by another key.
 * Return: false when the range does not end with an element, which would show the peer more.
 */
bool rch_key_range(const struct rch_key *key, u64 address, u32 length,
		   struct rch_mem_cursor *cursor)
{
	return path_key_find_range(&key->piece->mem, address - key->piece->mr->iova, length,
				   cursor);
}
