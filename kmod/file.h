/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - the files that programs hold
 */
#ifndef _RCH_FILE_H
#define _RCH_FILE_H

#include <linux/fs.h>

struct rch_chan;
struct rch_listener;

/* chrdev.c APIs */
int rch_chrdev_init(void);
void rch_chrdev_exit(void);

/* file.c APIs */
extern const struct file_operations rch_chan_fops;
extern const struct file_operations rch_listener_fops;

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

#endif /* _RCH_FILE_H */
