/* SPDX-License-Identifier: GPL-2.0 */
/*
 * span.h - pages that a range of addresses touches
 */
#ifndef _RCH_SPAN_H
#define _RCH_SPAN_H

#include <linux/types.h>

/**
 * rch_span_pages - pages that a range touches
 * @addr: where it begins
 * @length: bytes
 * @shift: bits of an address within a page
 * @top: the highest address that there is
 *
 * Return: how many; 0 when it is no range of addresses, or has none behind its last page.
 */
static inline u64 rch_span_pages(u64 addr, u64 length, unsigned int shift, u64 top)
{
	u64 last = addr + length - 1;

	if (!length || last < addr || last > top || last >> shift == top >> shift)
		return 0;
	return (last >> shift) - (addr >> shift) + 1;
}

#endif /* _RCH_SPAN_H */
