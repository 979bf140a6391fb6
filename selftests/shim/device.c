// SPDX-License-Identifier: GPL-2.0
/*
 * device.c - devices come and go, and tell of events on demand
 *
 * Lifetime. The record of a device stays until the module goes, as somebody may still be in
 * one of its operations. Each queue pair that is watched holds the module, so that it can go only
 * when there is none; and then it waits for all threads in a function of its own.
 */
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "shim.h"

static DEFINE_MUTEX(devices_lock); /* protects the list against others who write, and @present */
static LIST_HEAD(devices);
static atomic_t inside = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(left);
static bool going; /* the module is; set once */

static int shim_device_add(struct ib_device *dev);
static void shim_device_remove(struct ib_device *dev, void *data);

static struct ib_client shim_client = {
	.name = "rdmachan_shim",
	.add = shim_device_add,
	.remove = shim_device_remove,
};

/** shim_enter - begin a function of this module's; the opposite is shim_leave(). Any context */
void shim_enter(void)
{
	atomic_inc(&inside);
}

/** shim_leave - see shim_enter() */
void shim_leave(void)
{
	if (atomic_dec_and_test(&inside) && READ_ONCE(going))
		wake_up(&left);
}

/** shim_device - what a device was that has operations of this module's. Any context */
struct shim_device *shim_device(const struct ib_device *dev)
{
	struct shim_device *d, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(d, &devices, list)
		if (d->dev == dev)
			found = d;
	rcu_read_unlock();
	return found;
}

/** shim_each_device - call a function for all devices that are there. May sleep */
void shim_each_device(void (*call)(struct shim_device *d))
{
	struct shim_device *d;

	mutex_lock(&devices_lock);
	list_for_each_entry(d, &devices, list)
		if (d->present)
			call(d);
	mutex_unlock(&devices_lock);
}

static int shim_device_add(struct ib_device *dev)
{
	struct shim_device *d = shim_device(dev);
	bool known = d;

	if (!d)
		d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	mutex_lock(&devices_lock);
	d->dev = dev;
	d->ops = dev->ops;
	d->attrs = dev->attrs;
	d->present = true;
	if (!known)
		list_add_rcu(&d->list, &devices);
	shim_limits_apply(d);
	shim_verbs_set(d);
	mutex_unlock(&devices_lock);
	ib_set_client_data(dev, &shim_client, d);
	return 0;
}

/* A device that goes takes its operations along. */
static void shim_device_remove(struct ib_device *dev, void *data)
{
	struct shim_device *d = data;

	if (!d)
		return;
	mutex_lock(&devices_lock);
	d->present = false;
	if (going)
		shim_verbs_reset(d);
	mutex_unlock(&devices_lock);
}

/* Events on demand: by their number, as enum ib_event_type has it. */

static unsigned int event;

static void tell_event(struct shim_device *d)
{
	struct ib_event told = {
		.device = d->dev,
		.element.port_num = rdma_start_port(d->dev),
		.event = event,
	};

	ib_dispatch_event(&told);
}

static int event_set(const char *text, const struct kernel_param *kp)
{
	int ret = param_set_uint(text, kp);

	if (!ret)
		shim_each_device(tell_event);
	return ret;
}

static const struct kernel_param_ops event_ops = {
	.set = event_set,
	.get = param_get_uint,
};

module_param_cb(event, &event_ops, &event, 0644);
MODULE_PARM_DESC(event, "written: each device tells of this event, enum ib_event_type");

static int __init shim_init(void)
{
	return ib_register_client(&shim_client);
}

static void __exit shim_exit(void)
{
	struct shim_device *d, *tmp;

	WRITE_ONCE(going, true);
	ib_unregister_client(&shim_client);
	wait_event(left, !atomic_read(&inside));
	/* A caller that has left is out of the function as well, and memory freed meanwhile is. */
	synchronize_rcu();
	rcu_barrier();
	list_for_each_entry_safe(d, tmp, &devices, list)
		kfree(d);
}

module_init(shim_init);
module_exit(shim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("has software adapters behave as hardware does, for tests of rdmachan");
