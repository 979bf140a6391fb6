/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - the files that programs hold
 */
#ifndef _RCH_FILE_H
#define _RCH_FILE_H

#include <linux/fs.h>
#include <linux/wait.h>

#include "base/async.h"

struct net;
struct rch_chan;
struct rch_charge;
struct rch_listener;
struct rch_queue_ops;
struct rdmachan_connect_args;

/* chrdev.c APIs */
int rch_chrdev_init(void);
void rch_chrdev_exit(void);

/* file.c APIs */
extern const struct file_operations rch_chan_fops;
extern const struct file_operations rch_ctx_fops;
extern const struct file_operations rch_listener_fops;

/* file_queue.c, queue_op.c APIs */
extern const struct file_operations rch_queue_fops;
extern const struct rch_queue_ops rch_queue_ops;

/* file_async.c APIs: process context */
int rch_async_set(struct rch_async *async, struct wait_queue_head *wait, int fd,
		  struct file *file, int on);

struct file *rch_file_create(const char *name, const struct file_operations *fops,
			     void *object, u32 flags);
bool rch_file_nonblock(const struct file *file, u32 io_flags);

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

/* ioctl.c APIs for queue_op.c: process context of the program */
bool rch_shutdown_ok(u32 how);
int rch_connect_check(struct rdmachan_connect_args *connect);
unsigned long rch_connect_deadline(const struct rdmachan_connect_args *connect);
struct rch_chan *rch_connect_chan(struct net *net, const struct rch_charge *owner,
				  const struct rdmachan_connect_args *connect,
				  unsigned long deadline);
void rch_connect_failed(struct rch_chan *chan, const struct rdmachan_connect_args *connect,
			int ret);

#endif /* _RCH_FILE_H */
