// SPDX-License-Identifier: GPL-2.0
/*
 * path_cq.c - the completion queue of a path
 *
 * Operation. The core looks at completions in softirq, which its handler raises. Most
 * adapters call that in an interrupt or with softirqs off, so that the softirq runs at once. But
 * rxe of newer kernels calls it in a work item. A softirq that is raised neither in an interrupt
 * nor with softirqs off (in_interrupt() is the core's condition, too) wakes ksoftirqd, which costs
 * two switches for each frame. An interrupt of our own, which this processor sends to itself,
 * raises it instead.
 *
 * Bounds. A softirq of the core's looks at 256 completions at most, of all queues of the
 * processor, and ends with the tick. Work that is left is for the next one, and where they do not
 * end for ksoftirqd, which is scheduled like any program. A frame is one completion, and has at
 * most as many records as 16 KiB hold. Where the device asks for it the core has it wait for
 * several completions before it interrupts, as many as the load makes useful (DIM).
 *
 * Ownership. The queue belongs to its path, from rch_path_cq_get() to rch_path_cq_put();
 * no queue pair uses it before or after.
 */
#include <linux/interrupt.h>
#include <linux/irq_work.h>

#include "base/inject.h"
#include "base/rch.h"
#include "path/path.h"
#include "path/path_rdma.h"

/* The adapter has a completion; any context. The core's handler may be called for nothing. */
static void path_cq_completed(struct ib_cq *cq, void *context)
{
	struct rch_path *path = context;

	if (arch_irq_work_has_interrupt() && !in_interrupt())
		irq_work_queue(&path->cq_work);
	else
		path->cq_handler(cq, context);
}

static void path_cq_interrupt(struct irq_work *work)
{
	struct rch_path *path = container_of(work, struct rch_path, cq_work);

	path->cq_handler(path->cq, path);
}

/**
 * rch_path_cq_get - make the completion queue
 * @path: path with a device, depths known
 *
 * Every work request that can be outstanding has a place, and a marker for each queue.
 * Return: 0, or -errno.
 */
int rch_path_cq_get(struct rch_path *path)
{
	struct ib_cq *cq;

	cq = rch_try_verb(ib_alloc_cq_any(path->dev, path, path->depth + path->send_depth +
					  RCH_PATH_RDMA_WRS + 2, IB_POLL_SOFTIRQ));
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	init_irq_work(&path->cq_work, path_cq_interrupt);
	path->cq = cq;
	path->cq_handler = cq->comp_handler;
	cq->comp_handler = path_cq_completed;
	return 0;
}

/** rch_path_cq_put - free the completion queue, if there is one; may sleep */
void rch_path_cq_put(struct rch_path *path)
{
	if (!path->cq)
		return;
	irq_work_sync(&path->cq_work); /* before the core stops what that raises */
	ib_free_cq(path->cq);
	path->cq = NULL;
}
