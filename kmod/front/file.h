/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - the files that programs hold
 */
#ifndef _RCH_FILE_H
#define _RCH_FILE_H

#include <linux/fs.h>
#include <linux/wait.h>

#include "base/object.h"

/* chrdev.c APIs */
int rch_chrdev_init(void);
void rch_chrdev_exit(void);

/* file.c APIs */
extern const struct file_operations rch_chan_fops;
extern const struct file_operations rch_ctx_fops;
extern const struct file_operations rch_listener_fops;
bool rch_file_nonblock(const struct file *file, u32 io_flags);

/* file_queue.c APIs */
extern const struct file_operations rch_queue_fops;

/* file_async.c APIs: process context */
int rch_async_set(struct rch_async *async, struct wait_queue_head *wait, int fd,
		  struct file *file, int on);

/* debugfs.c APIs */
#ifdef RCH_INJECT
void rch_debugfs_init(void);
void rch_debugfs_exit(void);
#else
static inline void rch_debugfs_init(void) {}
static inline void rch_debugfs_exit(void) {}
#endif

/* ioctl.c APIs */
long rch_ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
long rch_listener_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
long rch_chan_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
long rch_queue_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif /* _RCH_FILE_H */
