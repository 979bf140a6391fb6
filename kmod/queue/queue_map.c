// SPDX-License-Identifier: GPL-2.0
/*
 * queue_map.c - memory of rings
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base/inject.h"
#include "pure/ring.h"
#include "queue/queue.h"

/** rch_mapping_free - undo rch_mapping_alloc(). May sleep */
void rch_mapping_free(struct rch_mapping *map)
{
	vunmap(map->base);
	while (map->npages)
		__free_page(map->pages[--map->npages]);
	kvfree(map->pages);
}

static void queue_map_set_first(struct rch_mapping *map)
{
	map->first = rch_first_number();
	*rch_mapped(map, RCH_RING_PRODUCER) = map->first;
	*rch_mapped(map, RCH_RING_CONSUMER) = map->first;
}

/**
 * rch_mapping_alloc - get memory for a ring
 * @map: zeros
 * @count: entries
 * @size: bytes of one
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int rch_mapping_alloc(struct rch_mapping *map, u32 count, u32 size)
{
	unsigned int n = PAGE_ALIGN(rch_ring_bytes(count, size)) >> PAGE_SHIFT;

	map->count = count;
	map->size = size;
	map->pages = rch_try(RCH_SITE_QUEUE,
			     kvcalloc(n, sizeof(*map->pages), GFP_KERNEL_ACCOUNT));
	if (!map->pages)
		return -ENOMEM;
	while (map->npages < n) {
		map->pages[map->npages] = rch_try(RCH_SITE_QUEUE,
						  alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO));
		if (!map->pages[map->npages])
			goto err_pages;
		map->npages++;
	}
	map->base = rch_try(RCH_SITE_QUEUE, vmap(map->pages, n, VM_MAP, PAGE_KERNEL));
	if (map->base) {
		queue_map_set_first(map);
		return 0;
	}
err_pages:
	rch_mapping_free(map);
	return -ENOMEM;
}

/** rch_mapping_tell - where the parts of a ring are, for the program */
void rch_mapping_tell(const struct rch_mapping *map, u64 offset, struct rdmachan_ring *ring)
{
	ring->offset = offset;
	ring->length = rch_ring_bytes(map->count, map->size);
	ring->producer = RCH_RING_PRODUCER;
	ring->consumer = RCH_RING_CONSUMER;
	ring->flags = RCH_RING_FLAGS;
	ring->overflow = RCH_RING_OVERFLOW;
	ring->entries = RCH_RING_ENTRIES;
	ring->count = map->count;
	ring->stride = map->size;
	ring->__reserved = 0;
}
