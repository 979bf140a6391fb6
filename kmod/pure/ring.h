/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - indices of rings that are shared with programs
 *
 * Indices only grow, and wrap around. One of a ring's two is the kernel's own; the other
 * is the program's, which may write anything there. Two that are further apart than the
 * ring is long contradict each other.
 */
#ifndef _RCH_PURE_RING_H
#define _RCH_PURE_RING_H

#include "types.h"

/** RCH_RING_LINE - distance of two indices: a writer of one does not disturb the other */
#define RCH_RING_LINE		64U
#define RCH_RING_PRODUCER	(0 * RCH_RING_LINE)
#define RCH_RING_CONSUMER	(1 * RCH_RING_LINE)
#define RCH_RING_FLAGS		(2 * RCH_RING_LINE)
#define RCH_RING_OVERFLOW	(RCH_RING_FLAGS + 4U)
#define RCH_RING_ENTRIES	(3 * RCH_RING_LINE)

/** rch_ring_count_ok - whether a ring may have @count entries */
static inline bool rch_ring_count_ok(u32 count, u32 max)
{
	return count && count <= max && !(count & (count - 1));
}

/** rch_ring_bytes - memory of a ring with @count entries of @size bytes */
static inline size_t rch_ring_bytes(u32 count, u32 size)
{
	return RCH_RING_ENTRIES + (size_t)count * size;
}

/** rch_ring_agree - whether the indices can be those of a ring of @count entries */
static inline bool rch_ring_agree(u32 producer, u32 consumer, u32 count)
{
	return producer - consumer <= count;
}

/** rch_ring_filled - entries that can be taken; 0 when the indices contradict each other */
static inline u32 rch_ring_filled(u32 producer, u32 consumer, u32 count)
{
	return rch_ring_agree(producer, consumer, count) ? producer - consumer : 0;
}

/** rch_ring_room - entries that can be put in; 0 when the indices contradict each other */
static inline u32 rch_ring_room(u32 producer, u32 consumer, u32 count)
{
	return rch_ring_agree(producer, consumer, count) ? count - (producer - consumer) : 0;
}

/** rch_ring_place - where entry number @index is; always inside the ring */
static inline size_t rch_ring_place(u32 index, u32 count, u32 size)
{
	return RCH_RING_ENTRIES + (size_t)(index & (count - 1)) * size;
}

#endif /* _RCH_PURE_RING_H */
