// SPDX-License-Identifier: GPL-2.0
/*
 * mem.c - pins and maps a program's memory
 *
 * The pins are short, as those of direct I/O are, and so are not charged to the
 * program's limit of locked memory.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "inject.h"
#include "mem.h"

static int pin_pages(struct rch_mem *mem, unsigned long addr, unsigned int wanted)
{
	unsigned int flags = mem->direction == DMA_FROM_DEVICE ? FOLL_WRITE : 0;
	int got;

	while (mem->count < wanted) {
		got = pin_user_pages_fast(addr + mem->count * PAGE_SIZE,
					  wanted - mem->count, flags,
					  mem->pages + mem->count);
		if (got <= 0)
			return got ?: -EFAULT;
		mem->count += got;
	}
	return 0;
}

static void unpin_pages(struct rch_mem *mem)
{
	unpin_user_pages_dirty_lock(mem->pages, mem->count,
				    mem->direction == DMA_FROM_DEVICE);
	kvfree(mem->pages);
}

/**
 * rch_mem_pin - pin and map a range
 * @mem: to be filled in
 * @dev: device
 * @addr: address in the program
 * @length: bytes, not 0
 * @direction: see &struct rch_mem
 *
 * Return: 0, -EFAULT, -ENOMEM, or what else pin_user_pages() says.
 */
int rch_mem_pin(struct rch_mem *mem, struct ib_device *dev, unsigned long addr,
		size_t length, enum dma_data_direction direction)
{
	unsigned int offset = offset_in_page(addr);
	unsigned int wanted = DIV_ROUND_UP(offset + length, PAGE_SIZE);
	int ret;

	mem->dev = dev;
	mem->direction = direction;
	mem->count = 0;
	mem->pages = rch_try(RCH_SITE_PIN, kvmalloc_array(wanted, sizeof(*mem->pages),
							  GFP_KERNEL_ACCOUNT));
	if (!mem->pages)
		return -ENOMEM;
	ret = pin_pages(mem, addr & PAGE_MASK, wanted);
	if (ret)
		goto err_pages;
	ret = sg_alloc_table_from_pages_segment(&mem->table, mem->pages, wanted, offset,
						length, ib_dma_max_seg_size(dev),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_pages;
	ret = ib_dma_map_sgtable_attrs(dev, &mem->table, direction, 0);
	if (ret)
		goto err_table;
	return 0;

err_table:
	sg_free_table(&mem->table);
err_pages:
	unpin_pages(mem);
	return ret;
}

/** rch_mem_unpin - the adapter is done with it */
void rch_mem_unpin(struct rch_mem *mem)
{
	ib_dma_unmap_sgtable_attrs(mem->dev, &mem->table, mem->direction, 0);
	sg_free_table(&mem->table);
	unpin_pages(mem);
}
