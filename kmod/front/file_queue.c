// SPDX-License-Identifier: GPL-2.0
/*
 * file_queue.c - mapping, poll and close of queues
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "front/file.h"
#include "queue/queue.h"

static int rch_queue_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct rch_queue *queue = file->private_data;
	const struct rch_mapping *map;

	if (vma->vm_mm != queue->mm)
		return -EPERM;
	map = rch_queue_mapping(queue, (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!map || !(vma->vm_flags & VM_SHARED) || vma_pages(vma) > map->npages)
		return -EINVAL;
	/* Not for a child: the queue is not its own. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	return vm_map_pages_zero(vma, map->pages, map->npages);
}

static __poll_t rch_queue_poll(struct file *file, poll_table *wait)
{
	struct rch_queue *queue = file->private_data;

	poll_wait(file, &queue->wait, wait);
	smp_mb(); /* pairs with that of wq_has_sleeper() */
	return rch_queue_poll_mask(queue);
}

static int rch_queue_fasync(int fd, struct file *file, int on)
{
	struct rch_queue *queue = file->private_data;

	return rch_async_set(&queue->async, &queue->wait, fd, file, on);
}

static int rch_queue_file_release(struct inode *inode, struct file *file)
{
	rch_queue_destroy(file->private_data);
	return 0;
}

const struct file_operations rch_queue_fops = {
	.owner = THIS_MODULE,
	.release = rch_queue_file_release,
	.mmap = rch_queue_mmap,
	.poll = rch_queue_poll,
	.fasync = rch_queue_fasync,
	.unlocked_ioctl = rch_queue_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	RCH_NO_LLSEEK
};
