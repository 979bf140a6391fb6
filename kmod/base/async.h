/* SPDX-License-Identifier: GPL-2.0 */
/*
 * async.h - what an object has for programs that want SIGIO
 */
#ifndef _RCH_ASYNC_H
#define _RCH_ASYNC_H

#include <linux/types.h>
#include <linux/wait.h>

struct fasync_struct;

/**
 * struct rch_async - a receiver of SIGIO; see file_async.c
 * @entry: in the wait queue of the object
 * @list: of the kernel
 * @waits: @entry is there
 */
struct rch_async {
	struct wait_queue_entry entry;
	struct fasync_struct *list;
	bool waits;
};

#endif /* _RCH_ASYNC_H */
