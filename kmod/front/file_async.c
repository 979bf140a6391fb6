// SPDX-License-Identifier: GPL-2.0
/*
 * file_async.c - SIGIO for programs that have set O_ASYNC
 *
 * A signal comes with each event that wakes the waiters of a listener, a channel or a queue. Its
 * entry is in their wait queue, so code that wakes them need not know of it. The program looks for
 * itself: a signal may come for a message that another thread has taken already.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "channel/chan.h"
#include "front/file.h"

/* Called with the lock of the wait queue. Return: 0: nobody was woken who would now take it */
static int file_async_wake(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	struct rch_async *async = container_of(entry, struct rch_async, entry);
	__poll_t mask = key_to_poll(key);

	if (mask == RCH_POLL_NOTHING)
		return 0;
	if (!mask || mask & ~(EPOLLOUT | EPOLLWRNORM | RCH_POLL_NOTHING))
		kill_fasync(&async->list, SIGIO, POLL_IN);
	if (mask & EPOLLOUT)
		kill_fasync(&async->list, SIGIO, POLL_OUT);
	return 0;
}

/**
 * rch_async_set - a program has set or cleared O_ASYNC, or closes the file
 * @async: of the file; its lock is initialized, and all else 0 at first
 * @wait: where those wait that are told by poll()
 * @fd: file descriptor
 * @file: the file
 * @on: whether it is set
 *
 * Context: process. Return: as fasync_helper().
 */
int rch_async_set(struct rch_async *async, struct wait_queue_head *wait, int fd,
		  struct file *file, int on)
{
	int ret;

	mutex_lock(&async->lock);
	ret = fasync_helper(fd, file, on, &async->list);
	if (async->list && !async->waits) {
		init_waitqueue_func_entry(&async->entry, file_async_wake);
		add_wait_queue(wait, &async->entry);
		async->waits = true;
	} else if (!async->list && async->waits) {
		remove_wait_queue(wait, &async->entry);
		async->waits = false;
	}
	mutex_unlock(&async->lock);
	return ret;
}
