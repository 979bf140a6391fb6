// SPDX-License-Identifier: GPL-2.0
/*
 * chrdev.c - /dev/rdmachan
 */
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "call/ctx.h"
#include "front/file.h"

static int rch_ctx_open(struct inode *inode, struct file *file)
{
	struct rch_ctx *ctx = rch_ctx_create();

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	return nonseekable_open(inode, file);
}

static int rch_ctx_release(struct inode *inode, struct file *file)
{
	rch_ctx_destroy(file->private_data);
	return 0;
}

const struct file_operations rch_ctx_fops = {
	.owner = THIS_MODULE,
	.open = rch_ctx_open,
	.release = rch_ctx_release,
	.unlocked_ioctl = rch_ctx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	RCH_NO_LLSEEK
};

static struct miscdevice rch_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rdmachan",
	.fops = &rch_ctx_fops,
	/* The udev rule gives it to a group; without the rule only root may. */
	.mode = 0600,
};

/** rch_chrdev_init - last at load: programs may come from here on */
int rch_chrdev_init(void)
{
	return misc_register(&rch_misc);
}

/** rch_chrdev_exit - first at unload */
void rch_chrdev_exit(void)
{
	misc_deregister(&rch_misc);
}
