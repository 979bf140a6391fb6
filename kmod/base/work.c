// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - the queues of work that may sleep
 *
 * Work that waits for other work is never in the same queue as that: a queue runs a
 * limited number of items, and if all of them wait, none goes on. And nobody's waiting
 * may hold up the heartbeats of everybody. So, each may wait for those after it:
 *
 *  - rch_open_wq: channels that connect in the background, a step at a time; they wait for nobody
 *  - rch_end_wq: links whose channels have been told; they wait for users: operations, and keys
 *  - rch_refuse_wq: peers that are not let in; they wait for adapters
 *  - rch_break_wq: queue pairs of links that have failed; they wait for adapters, and for no peer
 *  - rch_tcp_wq: links being connected on iWARP, in the one step in which siw waits for TCP
 *  - rch_queue_wq: operations of queues; they copy a lot, and wait for nobody; but the last use
 *    of a region waits for its keys
 *  - rch_grant_wq: memory being taken back, by one work for each link; it waits for adapters, and
 *    like that for keys
 *  - rch_key_wq: keys of own memory being made, what idle links keep being given back, and silent
 *    links' queries being begun and ended; they wait for adapters, and for memory
 *  - rch_dead_wq: links that have ended, until their channels are told. The three before it wait
 *    for this: what the adapter does not take any more is over when the queue pair is drained. It
 *    waits for adapters, for connecting to end, and for word that a connection stands, a second
 *    at most. Of rch_key_wq it may wait for what idle links give back, if that runs already; which
 *    waits for adapters and for memory
 *  - rch_link_wq: links being connected, a step at a time; they wait for nobody
 *  - rch_wq: all that waits for nobody: heartbeats, lingering, reaping, offers, and what is too
 *    much for soft interrupt, a part at a time
 */
#include <linux/workqueue.h>

#include "base/rch.h"

struct workqueue_struct *rch_open_wq;
struct workqueue_struct *rch_dead_wq;
struct workqueue_struct *rch_end_wq;
struct workqueue_struct *rch_refuse_wq;
struct workqueue_struct *rch_break_wq;
struct workqueue_struct *rch_tcp_wq;
struct workqueue_struct *rch_link_wq;
struct workqueue_struct *rch_queue_wq;
struct workqueue_struct *rch_grant_wq;
struct workqueue_struct *rch_key_wq;
struct workqueue_struct *rch_wq;

/*
 * The name is that of the threads which run its work, and in what the kernel says of them. In
 * /sys/devices/virtual/workqueue/ it is that of a folder. There root tells on which processors they
 * run, and how many at a time: with one of each queue, nothing may wait for ever.
 */
static const struct {
	struct workqueue_struct **queue;
	const char *name;
} queues[] = {
	{ &rch_open_wq, "rdmachan-open" },
	{ &rch_dead_wq, "rdmachan-dead" },
	{ &rch_end_wq, "rdmachan-end" },
	{ &rch_refuse_wq, "rdmachan-refuse" },
	{ &rch_break_wq, "rdmachan-break" },
	{ &rch_tcp_wq, "rdmachan-tcp" },
	{ &rch_link_wq, "rdmachan-link" },
	{ &rch_queue_wq, "rdmachan-queue" },
	{ &rch_grant_wq, "rdmachan-grant" },
	{ &rch_key_wq, "rdmachan-key" },
	{ &rch_wq, "rdmachan" },
};

/** rch_work_init - once, at load; rch_work_exit() cleans up after an error too */
int rch_work_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		*queues[i].queue = alloc_workqueue("%s", WQ_UNBOUND | WQ_SYSFS, WQ_MAX_ACTIVE,
						   queues[i].name);
		if (!*queues[i].queue)
			return -ENOMEM;
	}
	return 0;
}

/**
 * rch_work_flush - wait for all work that is queued now, and the work that it has queued in
 * turn
 */
void rch_work_flush(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		flush_workqueue(*queues[i].queue);
}

/** rch_work_exit - once, at unload, when nothing is queued */
void rch_work_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		if (*queues[i].queue)
			destroy_workqueue(*queues[i].queue);
}
