/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iter.h - small messages between a program and the kernel
 *
 * A message of a few words is copied word by word: the general way, which looks up what
 * each piece of kernel memory is part of, takes several times as long as the copying. Where the
 * program's is, or a region's.
 */
#ifndef _RCH_ITER_H
#define _RCH_ITER_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#ifdef RCH_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/** RCH_WORDS_MAX - bytes up to which it is worth while */
#define RCH_WORDS_MAX 128

/*
 * The loops of all that copies by words. copy(type, i) is the step: number i of that type, from
 * "from" to "to". Four words a turn, as the loop costs as much as they do. A function could not
 * be called for each, as code that may fault jumps out of it.
 */
#define RCH_COPY_WORDS(copy)							\
	do {									\
		for (; len >= 4 * sizeof(u64); len -= 4 * sizeof(u64)) {	\
			copy(u64, 0);						\
			copy(u64, 1);						\
			copy(u64, 2);						\
			copy(u64, 3);						\
			to += 4 * sizeof(u64);					\
			from += 4 * sizeof(u64);				\
		}								\
		for (; len >= sizeof(u64); len -= sizeof(u64)) {		\
			copy(u64, 0);						\
			to += sizeof(u64);					\
			from += sizeof(u64);					\
		}								\
		for (; len; len--) {						\
			copy(u8, 0);						\
			to++;							\
			from++;							\
		}								\
	} while (0)

static inline bool rch_words_suit(const struct iov_iter *iter, size_t len)
{
	return iter_is_ubuf(iter) && len <= RCH_WORDS_MAX && len <= iov_iter_count(iter);
}

/* As iov_iter_advance(), which looks for what it knows here. */
static inline void rch_words_advance(struct iov_iter *iter, size_t len)
{
	iter->iov_offset += len;
	iter->count -= len;
}

/*
 * Where the next @len bytes are, if they are few, and in one piece that the kernel has mapped. An
 * iterator of no bytes may have no pieces: io_uring makes such for a fixed buffer.
 */
static inline void *rch_iter_piece(const struct iov_iter *iter, size_t len)
{
	const struct bio_vec *piece;
	size_t left;

	if (IS_ENABLED(CONFIG_HIGHMEM) || !len || len > RCH_WORDS_MAX || !iov_iter_is_bvec(iter))
		return NULL;
	piece = iter->bvec;
	left = piece->bv_len - iter->iov_offset;
	/* A caller that goes on behind a piece does so in the next one. */
	if (len > left || (len == left && len < iov_iter_count(iter)))
		return NULL;
	return page_address(piece->bv_page) + piece->bv_offset + iter->iov_offset;
}

/* Return: whether all was copied. */
static inline bool rch_words_from_user(u8 *to, const u8 __user *from, size_t len)
{
	if (!user_read_access_begin(from, len))
		return false;
#define GET(type, i)								\
	do {									\
		type value;							\
										\
		unsafe_get_user(value, (const type __user *)from + (i), fault);	\
		put_unaligned(value, (type *)to + (i));				\
	} while (0)
	RCH_COPY_WORDS(GET);
#undef GET
	user_read_access_end();
	return true;
fault:
	user_read_access_end();
	return false;
}

static inline bool rch_words_to_user(u8 __user *to, const u8 *from, size_t len)
{
	if (!user_write_access_begin(to, len))
		return false;
#define PUT(type, i)								\
	do {									\
		type value = get_unaligned((const type *)from + (i));		\
										\
		unsafe_put_user(value, (type __user *)to + (i), fault);		\
	} while (0)
	RCH_COPY_WORDS(PUT);
#undef PUT
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
}

/** rch_words_copy - the same within the kernel's memory; more is copied as usual */
static inline void rch_words_copy(u8 *to, const u8 *from, size_t len)
{
	if (len > RCH_WORDS_MAX) {
		memcpy(to, from, len);
		return;
	}
#define COPY(type, i) put_unaligned(get_unaligned((const type *)from + (i)), (type *)to + (i))
	RCH_COPY_WORDS(COPY);
#undef COPY
}

/**
 * rch_copy_from_iter - fetch @len bytes of a message
 * @to: where to
 * @len: how many
 * @from: the message
 *
 * Context: as copy_from_iter(). Return: whether all was copied; if not, @from is as before.
 */
static inline bool rch_copy_from_iter(void *to, size_t len, struct iov_iter *from)
{
	size_t copied;
	void *piece;

	if (rch_words_suit(from, len)) {
		if (!rch_words_from_user(to, from->ubuf + from->iov_offset, len))
			return false;
		rch_words_advance(from, len);
		return true;
	}
	piece = rch_iter_piece(from, len);
	if (piece) {
		rch_words_copy(to, piece, len);
		rch_words_advance(from, len);
		return true;
	}
	copied = copy_from_iter(to, len, from);
	if (copied == len)
		return true;
	iov_iter_revert(from, copied);
	return false;
}

/**
 * rch_copy_to_iter - hand @len bytes of a message out
 * @from: where from
 * @len: how many
 * @to: where the program wants it
 *
 * Context: as copy_to_iter(). Return: whether all was copied.
 */
static inline bool rch_copy_to_iter(const void *from, size_t len, struct iov_iter *to)
{
	void *piece;

	if (rch_words_suit(to, len)) {
		if (!rch_words_to_user(to->ubuf + to->iov_offset, from, len))
			return false;
		rch_words_advance(to, len);
		return true;
	}
	piece = rch_iter_piece(to, len);
	if (!piece)
		return copy_to_iter(from, len, to) == len;
	rch_words_copy(piece, from, len);
	rch_words_advance(to, len);
	return true;
}

/** rch_iter_addr - where in the program the memory is, which is in one piece */
static inline unsigned long rch_iter_addr(const struct iov_iter *iter)
{
	return (unsigned long)iter->ubuf + iter->iov_offset;
}

#endif /* _RCH_ITER_H */
