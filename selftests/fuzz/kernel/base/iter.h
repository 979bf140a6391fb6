/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iter.h - messages of a program, which are in one piece here, instead of the module's
 */
#ifndef _RCH_ITER_H
#define _RCH_ITER_H

#define rch_words_copy(to, from, len) memcpy(to, from, len)

static inline bool rch_copy_from_iter(void *to, size_t len, struct iov_iter *from)
{
	if (len > from->count)
		return false;
	memcpy(to, from->bytes, len);
	from->bytes += len;
	from->count -= len;
	return true;
}

#define rch_iter_addr(iter) ((unsigned long)(iter)->bytes)

static inline bool rch_copy_to_iter(const void *from, size_t len, struct iov_iter *to)
{
	if (len > to->count)
		return false;
	memcpy(to->bytes, from, len);
	to->bytes += len;
	to->count -= len;
	return true;
}

#endif /* _RCH_ITER_H */
