/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iter.h - small messages between a program and the kernel
 *
 * A message of a few words is copied word by word: the general way, which looks up what
 * each piece of kernel memory is part of, takes several times as long as the copying.
 */
#ifndef _RCH_ITER_H
#define _RCH_ITER_H

#include <linux/uaccess.h>
#include <linux/uio.h>

#ifdef RCH_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/** RCH_WORDS_MAX - bytes up to which it is worth while */
#define RCH_WORDS_MAX 128

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

/* Return: whether all was copied. */
static inline bool rch_words_from_user(u8 *to, const u8 __user *from, size_t len)
{
	u64 word;
	u8 byte;

	if (!user_read_access_begin(from, len))
		return false;
	for (; len >= sizeof(word); len -= sizeof(word)) {
		unsafe_get_user(word, (const u64 __user *)from, fault);
		put_unaligned(word, (u64 *)to);
		to += sizeof(word);
		from += sizeof(word);
	}
	for (; len; len--) {
		unsafe_get_user(byte, from, fault);
		*to++ = byte;
		from++;
	}
	user_read_access_end();
	return true;
fault:
	user_read_access_end();
	return false;
}

static inline bool rch_words_to_user(u8 __user *to, const u8 *from, size_t len)
{
	u64 word;

	if (!user_write_access_begin(to, len))
		return false;
	for (; len >= sizeof(word); len -= sizeof(word)) {
		word = get_unaligned((const u64 *)from);
		unsafe_put_user(word, (u64 __user *)to, fault);
		to += sizeof(word);
		from += sizeof(word);
	}
	for (; len; len--) {
		unsafe_put_user(*from, to, fault);
		to++;
		from++;
	}
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
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

	if (rch_words_suit(from, len)) {
		if (!rch_words_from_user(to, from->ubuf + from->iov_offset, len))
			return false;
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
	if (!rch_words_suit(to, len))
		return copy_to_iter(from, len, to) == len;
	if (!rch_words_to_user(to->ubuf + to->iov_offset, from, len))
		return false;
	rch_words_advance(to, len);
	return true;
}

/** rch_iter_addr - where in the program the memory is, which is in one piece */
static inline unsigned long rch_iter_addr(const struct iov_iter *iter)
{
	return (unsigned long)iter->ubuf + iter->iov_offset;
}

#endif /* _RCH_ITER_H */
