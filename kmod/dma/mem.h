/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mem.h - a program's memory, pinned and mapped for a device
 *
 * For as long as a transfer lasts: the adapter reads or writes the program's pages
 * while they stay where they are.
 */
#ifndef _RCH_MEM_H
#define _RCH_MEM_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>

struct ib_device;
struct mm_struct;

/**
 * struct rch_mem - a range of a program's memory: pinned, then mapped. Of a region only
 *	@dev, @direction and @table are used
 * @dev: device it is mapped for
 * @direction: DMA_TO_DEVICE: the adapter reads it; DMA_FROM_DEVICE: it writes
 * @offset: of the first byte in the first page
 * @length: bytes
 * @pages: pinned pages
 * @count: of them
 * @mm: the program's, which the thread that waits for the transfer keeps, or else the transfer
 * @charged: pages on its account of pinned memory
 * @table: the range, mapped
 */
struct rch_mem {
	struct ib_device *dev;
	enum dma_data_direction direction;
	unsigned int offset;
	size_t length;
	struct page **pages;
	unsigned int count;
	struct mm_struct *mm;
	unsigned int charged;
	struct sg_table table;
};

/**
 * struct rch_mem_cursor - a place in the range
 * @sg: element of the table
 * @left: elements from @sg to the last
 * @offset: bytes of @sg before this place
 * @lkey: key for its addresses; 0: that of all memory
 */
struct rch_mem_cursor {
	struct scatterlist *sg;
	unsigned int left;
	unsigned int offset;
	u32 lkey;
};

/* mem.c APIs: process context of the program whose memory it is; may sleep */
int rch_mem_pin(struct rch_mem *mem, unsigned long addr, size_t length,
		enum dma_data_direction direction);
bool rch_mem_is_written_back(struct page *page);

/* mem.c APIs: process context; may sleep, but for no program */
int rch_mem_map(struct rch_mem *mem, struct ib_device *dev);
int rch_mem_map_table(struct rch_mem *mem, struct ib_device *dev);
u32 rch_mem_segment_max(struct ib_device *dev);
bool rch_mem_needs_sync(struct rch_mem *mem);
void rch_mem_unmap(struct rch_mem *mem);
void rch_mem_unpin(struct rch_mem *mem);

/** rch_mem_begin - the place where the range begins */
static inline void rch_mem_begin(const struct rch_mem *mem, struct rch_mem_cursor *cursor)
{
	cursor->sg = mem->table.sgl;
	cursor->left = mem->table.nents;
	cursor->offset = 0;
	cursor->lkey = 0;
}

#endif /* _RCH_MEM_H */
