/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seq.h - serial numbers that wrap around
 *
 * Comparison as in RFC 1982: two numbers are comparable while they are less than
 * 2^31 apart, which the window of a link (at most RCH_DEPTH_MAX) keeps to.
 */
#ifndef _RCH_PURE_SEQ_H
#define _RCH_PURE_SEQ_H

#include "types.h"

/** rch_seq_diff - how far @a is ahead of @b; negative when it is behind */
static inline s32 rch_seq_diff(u32 a, u32 b)
{
	return (s32)(a - b);
}

/** rch_seq_before - whether @a comes before @b */
static inline bool rch_seq_before(u32 a, u32 b)
{
	return rch_seq_diff(a, b) < 0;
}

/** rch_seq_between - whether @lo <= @x <= @hi in serial order */
static inline bool rch_seq_between(u32 lo, u32 x, u32 hi)
{
	return x - lo <= hi - lo;
}

/** rch_seq_near - the number nearest to @near whose lowest bits are @low */
static inline u32 rch_seq_near(u32 near, u8 low)
{
	return near + (s8)(low - (u8)near);
}

/** rch_seq_near64 - the number nearest to @near whose lowest 32 bits are @low */
static inline u64 rch_seq_near64(u64 near, u32 low)
{
	return near + (s32)(low - (u32)near);
}

/** rch_seq_after - the number after @number where 0 is none */
static inline u32 rch_seq_after(u32 number)
{
	return number + 1 ?: 1;
}

#endif /* _RCH_PURE_SEQ_H */
