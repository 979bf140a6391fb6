// SPDX-License-Identifier: GPL-2.0
/*
 * mem.c - pins and maps a program's memory
 *
 * The pins last no longer than a call of the program, or an operation of its queue, but a peer can
 * prolong both, and a message may have 1 GiB. Unlike those of direct I/O, which are as many pages
 * as one request has, they could take a machine's memory out of reclaim. So they are charged
 * to the program's limit of locked memory, as the RDMA core does with those of regions.
 * Beyond it the message is copied.
 */
#include <linux/backing-dev.h>
#include <linux/capability.h>
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "base/inject.h"
#include "dma/mem.h"

/* The sum of one program's pins is in its mm, with those of the RDMA core. */
static bool mem_charge(struct rch_mem *mem, unsigned int pages)
{
	u64 max = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	mem->mm = current->mm;
	mem->charged = pages;
	if ((u64)atomic64_add_return(pages, &mem->mm->pinned_vm) <= max ||
	    capable(CAP_IPC_LOCK))
		return true;
	atomic64_sub(pages, &mem->mm->pinned_vm);
	return false;
}

static void mem_uncharge(struct rch_mem *mem)
{
	atomic64_sub(mem->charged, &mem->mm->pinned_vm);
}

/**
 * rch_mem_is_written_back - whether a file has to write a page back
 * @page: page that the caller has pinned
 *
 * The file system does not hear of an adapter's writing. The kernel refuses such pages itself since
 * 6.5. Pages are looked at when they are pinned: until then another file may be mapped there.
 * Context: process, may sleep until the page is unlocked; a fatal signal ends that.
 * Return: also true when that came.
 */
bool rch_mem_is_written_back(struct page *page)
{
	struct folio *folio = page_folio(page);
	struct address_space *mapping;
	bool is;

	if (folio_test_anon(folio))
		return false;
	/* Else the file may be cut, and go. One that its program keeps locked is not waited for. */
	if (folio_lock_killable(folio))
		return true;
	mapping = folio_mapping(folio);
	is = mapping && mapping_can_writeback(mapping);
	folio_unlock(folio);
	return is;
}

/* Return: whether the adapter may write to all pages. */
static bool mem_may_be_written(const struct rch_mem *mem)
{
	unsigned int i;

	for (i = 0; i < mem->count; i++)
		if (rch_mem_is_written_back(mem->pages[i]))
			return false;
	return true;
}

static int mem_pin_pages(struct rch_mem *mem, unsigned long addr, unsigned int wanted)
{
	/* A peer can prolong it: not where pages must be free to move, nor files to shrink. */
	unsigned int flags = FOLL_LONGTERM |
			     (mem->direction == DMA_FROM_DEVICE ? FOLL_WRITE : 0);
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

static void mem_let_go(struct rch_mem *mem, bool written)
{
	unpin_user_pages_dirty_lock(mem->pages, mem->count, written);
	kvfree(mem->pages);
	mem_uncharge(mem);
}

/**
 * rch_mem_unpin - give the pages back
 * @mem: as rch_mem_pin() filled it in, and not mapped (any more)
 */
void rch_mem_unpin(struct rch_mem *mem)
{
	mem_let_go(mem, mem->direction == DMA_FROM_DEVICE);
}

/**
 * rch_mem_pin - pin a range
 * @mem: to be filled in
 * @addr: address in the program
 * @length: bytes, not 0
 * @direction: see &struct rch_mem
 *
 * This may last for as long as the memory pleases: a page may be on a slow disk, or
 * another program may have to bring it. So it is done before anybody waits for us.
 *
 * Return: 0, -EFAULT, -ENOMEM (also when the limit of locked memory is in the way), or
 * what else pin_user_pages() says.
 */
int rch_mem_pin(struct rch_mem *mem, unsigned long addr, size_t length,
		enum dma_data_direction direction)
{
	unsigned int wanted;
	int ret;

	mem->direction = direction;
	mem->offset = offset_in_page(addr);
	mem->length = length;
	mem->count = 0;
	wanted = DIV_ROUND_UP(mem->offset + length, PAGE_SIZE);
	if (!mem_charge(mem, wanted))
		return -ENOMEM;
	mem->pages = rch_try(RCH_SITE_PIN, kvmalloc_array(wanted, sizeof(*mem->pages),
							  GFP_KERNEL_ACCOUNT));
	if (!mem->pages) {
		mem_uncharge(mem);
		return -ENOMEM;
	}
	ret = mem_pin_pages(mem, addr & PAGE_MASK, wanted);
	if (!ret && direction == DMA_FROM_DEVICE && !mem_may_be_written(mem))
		ret = -EFAULT;
	if (ret)
		mem_let_go(mem, false);
	return ret;
}

/**
 * rch_mem_map - let an adapter get at the range
 * @mem: as rch_mem_pin() filled it in
 * @dev: device, which stays until rch_mem_unmap()
 *
 * Return: 0 or an error.
 */
int rch_mem_map(struct rch_mem *mem, struct ib_device *dev)
{
	int ret;

	ret = sg_alloc_table_from_pages_segment(&mem->table, mem->pages, mem->count,
						mem->offset, mem->length,
						ib_dma_max_seg_size(dev),
						GFP_KERNEL_ACCOUNT);
	return ret ?: rch_mem_map_table(mem, dev);
}

/** rch_mem_map_table - the same, when the table was made; on error it is freed */
int rch_mem_map_table(struct rch_mem *mem, struct ib_device *dev)
{
	int ret;

	mem->dev = dev;
	ret = ib_dma_map_sgtable_attrs(dev, &mem->table, mem->direction, 0);
	if (ret)
		sg_free_table(&mem->table);
	return ret;
}

/** rch_mem_segment_max - bytes of an element of a table, whole pages */
u32 rch_mem_segment_max(struct ib_device *dev)
{
	return ALIGN_DOWN(ib_dma_max_seg_size(dev), PAGE_SIZE);
}

/* Whether an IOMMU leads the adapter to other pages than those of the program. */
static bool mem_leads_elsewhere(struct rch_mem *mem, struct iommu_domain *domain)
{
	struct sg_dma_page_iter dma;
	struct sg_page_iter cpu;

	__sg_page_iter_start(&cpu, mem->table.sgl, mem->table.orig_nents, 0);
	__sg_page_iter_start(&dma.base, mem->table.sgl, mem->table.nents, 0);
	while (__sg_page_iter_next(&cpu) && __sg_page_iter_dma_next(&dma))
		if (iommu_iova_to_phys(domain, sg_page_iter_dma_address(&dma)) >> PAGE_SHIFT !=
		    page_to_pfn(sg_page_iter_page(&cpu)))
			return true;
	return false;
}

/**
 * rch_mem_needs_sync - whether it has to be handed to the adapter and back
 * @mem: memory that is mapped
 *
 * So it is where the adapter is not coherent, and where it has bounce buffers. Behind an IOMMU the
 * kernel (dma_need_sync()) says so of all memory, or, since 6.12, of all once there was one such
 * buffer: there it is decided by the pages that the adapter reaches.
 *
 * Context: any.
 */
bool rch_mem_needs_sync(struct rch_mem *mem)
{
	struct device *dev = mem->dev->dma_device;
	struct iommu_domain *domain;
	struct scatterlist *sg;
	int i;

	if (rch_inject_on() && rch_inject_hits(RCH_FAULT_BOUNCE, 0, NULL))
		return true;
	if (ib_uses_virt_dma(mem->dev))
		return false;
	domain = iommu_get_domain_for_dev(dev);
	if (domain && (domain->type & __IOMMU_DOMAIN_PAGING) && dev_is_dma_coherent(dev))
		return mem_leads_elsewhere(mem, domain);
	for_each_sgtable_dma_sg(&mem->table, sg, i)
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	return false;
}

/** rch_mem_unmap - the adapter is done with it */
void rch_mem_unmap(struct rch_mem *mem)
{
	ib_dma_unmap_sgtable_attrs(mem->dev, &mem->table, mem->direction, 0);
	sg_free_table(&mem->table);
}
