// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - order of init and exit
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include "base/quota.h"
#include "base/rch.h"
#include "call/call.h"
#include "channel/chan.h"
#include "channel/listener.h"
#include "front/file.h"
#include "link/link.h"
#include "memory/grant.h"
#include "message/message.h"
#include "rndv/rndv.h"

static const struct rch_link_ops link_ops = {
	.service_domain = rch_listener_domain,
	.opened = rch_listener_opened,
	.record = rch_record_got,
	.writable = rch_chan_writable,
	.drop = rch_chan_tx_drop,
	.dead = rch_chan_dead,
	.gone = rch_chan_gone,
};

static const struct rch_chan_ops chan_ops = {
	.end = rch_grants_end,
	.released = rch_grants_revoke,
	.unread = rch_grants_unread,
	.offer_work = rch_chan_offer_work,
	.free = rch_grants_free,
};

static const struct file_operations *const file_ops[RCH_FILES] = {
	[RCH_FILE_CTX] = &rch_ctx_fops,
	[RCH_FILE_LISTENER] = &rch_listener_fops,
	[RCH_FILE_CHAN] = &rch_chan_fops,
	[RCH_FILE_QUEUE] = &rch_queue_fops,
};

static int __init rch_init(void)
{
	int ret;

	rch_files_init(file_ops);
	ret = rch_work_init();
	if (ret)
		goto err_wq;
	ret = rch_chan_init(&chan_ops);
	if (ret)
		goto err_wq;
	ret = rch_link_init(&link_ops);
	if (ret)
		goto err_chan;
	ret = rch_device_init(rch_link_device_gone, rch_link_device_told);
	if (ret)
		goto err_link;
	ret = rch_chrdev_init();
	if (ret)
		goto err_device;
	rch_debugfs_init();
	pr_info("rdmachan: version " RCH_VERSION ", protocol %u\n", RCH_WIRE_VERSION);
	return 0;

err_device:
	rch_device_exit();
err_link:
	rch_link_exit();
err_chan:
	rch_chan_exit();
err_wq:
	rch_work_exit();
	return ret;
}

/* No file is open, or the module could not be unloaded. */
static void __exit rch_exit(void)
{
	rch_debugfs_exit();
	rch_chrdev_exit();
	rch_link_exit();
	rch_device_exit();
	rch_chan_exit();
	rch_object_exit();
	rch_quota_exit();
	rch_work_exit();
}

module_init(rch_init);
module_exit(rch_exit);

MODULE_AUTHOR("rdmachan developers");
MODULE_DESCRIPTION("Message channels carried by RDMA");
MODULE_LICENSE("GPL");
MODULE_VERSION(RCH_VERSION);
