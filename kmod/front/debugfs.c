// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs.c - files for those who test the module: rdmachan in debugfs
 *
 * In inject one file for each fault of inject.h, and one that counts them. The file keys tells how
 * many keys of own memory there are, see path_key.c. The file items tells how many pieces of memory
 * with messages that wait, those in frames apart. The file sets tells how many sets of regions.
 *
 * The file put_off counts parts of long work that were left to a work item. A part is up to
 * RCH_TURNS_AT_ONCE accesses whose turn comes to nothing, up to RCH_DROP_AT_ONCE things that a lane
 * drops, or one loan that ends with its channel.
 *
 * Only root reads and writes these files. Nothing depends on their being there: a kernel may have
 * no debugfs, or be locked down.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "base/inject.h"
#include "base/rch.h"
#include "front/file.h"

static struct dentry *root;

static int debugfs_fault_show(struct seq_file *file, void *data)
{
	rch_inject_show(file, (uintptr_t)file->private);
	return 0;
}

static int debugfs_fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, debugfs_fault_show, inode->i_private);
}

static ssize_t debugfs_fault_write(struct file *file, const char __user *from, size_t len,
				   loff_t *pos)
{
	enum rch_fault fault = (uintptr_t)file_inode(file)->i_private;
	char text[128] = {};
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	ret = rch_inject_set(fault, text);
	return ret ?: len;
}

static const struct file_operations fault_fops = {
	.owner = THIS_MODULE,
	.open = debugfs_fault_open,
	.read = seq_read,
	.write = debugfs_fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int debugfs_total_show(struct seq_file *file, void *data)
{
	rch_inject_show_total(file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_total);

/** rch_debugfs_init - once, at load */
void rch_debugfs_init(void)
{
	enum rch_fault fault;
	struct dentry *inject;

	root = debugfs_create_dir("rdmachan", NULL);
	debugfs_create_atomic_t("keys", 0400, root, &rch_counts.keys);
	debugfs_create_atomic_t("items", 0400, root, &rch_counts.items);
	debugfs_create_atomic_t("sets", 0400, root, &rch_counts.sets);
	debugfs_create_atomic_t("put_off", 0400, root, &rch_counts.put_off);
	inject = debugfs_create_dir("inject", root);
	for (fault = 0; fault < RCH_FAULTS; fault++)
		debugfs_create_file(rch_inject_name(fault), 0600, inject,
				    (void *)(uintptr_t)fault, &fault_fops);
	debugfs_create_file("total", 0400, inject, NULL, &debugfs_total_fops);
}

/** rch_debugfs_exit - once, at unload: no fault happens after this */
void rch_debugfs_exit(void)
{
	debugfs_remove(root);
	rch_inject_stop();
}
