// SPDX-License-Identifier: GPL-2.0
/*
 * device.c - RDMA devices come and go
 *
 * Our client is registered after the connection manager's, so on removal of a device
 * it is told first. All paths on the device are destroyed before the connection
 * manager looks for ids that are still bound to it. Until it does, it goes on giving
 * the device to those that ask. None of them becomes a path, which rch_device_bind() sees to; else
 * programs that connect anew at once would keep it for ever.
 *
 * What a device's driver tells comes from work items of the core's, not always in order: so what
 * the core knows of the port counts. It is passed on without a lock of this file.
 */
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "base/rch.h"
#include "conn/conn.h"

struct rch_device {
	struct list_head list;
	struct ib_device *dev;
	struct ib_event_handler events;
};

static DEFINE_MUTEX(devices_lock); /* protects devices, and binding to one of them */
static LIST_HEAD(devices);
static rch_device_gone device_gone;
static rch_device_told device_told;

static int rch_device_add(struct ib_device *dev);
static void rch_device_remove(struct ib_device *dev, void *data);

static struct ib_client rch_client = {
	.name = "rdmachan",
	.add = rch_device_add,
	.remove = rch_device_remove,
};

/*
 * @was_down: it has told that it is down. Its driver must not be asked: rxe's answer takes a lock
 * that is held while its GIDs change, and that waits for this handler. The core has asked just
 * before.
 */
static void device_port_told(struct ib_device *dev, u32 port, bool was_down)
{
	enum rch_device_news news = was_down ? RCH_DEVICE_PORT_WAS_DOWN : RCH_DEVICE_PORT_UP;
	enum ib_port_state state;

	if (ib_get_cached_port_state(dev, port, &state) ? was_down : state != IB_PORT_ACTIVE)
		news = RCH_DEVICE_PORT_DOWN;
	device_told(dev, port, news);
}

static void rch_device_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct ib_device *dev = event->device;
	u32 port = event->element.port_num;

	switch (event->event) {
	case IB_EVENT_DEVICE_FATAL:
		device_told(dev, 0, RCH_DEVICE_FATAL);
		break;
	case IB_EVENT_PORT_ERR:
		device_port_told(dev, port, true);
		break;
	case IB_EVENT_PORT_ACTIVE:
		device_port_told(dev, port, false);
		break;
	case IB_EVENT_GID_CHANGE:
		device_told(dev, port, RCH_DEVICE_GIDS);
		break;
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		device_told(dev, port, RCH_DEVICE_SUBNET);
		break;
	default:
		/* Of a queue pair or a completion queue: their own handlers are told. */
		break;
	}
}

static int rch_device_add(struct ib_device *dev)
{
	struct rch_device *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->dev = dev;
	ib_set_client_data(dev, &rch_client, d);
	mutex_lock(&devices_lock);
	list_add_tail(&d->list, &devices);
	mutex_unlock(&devices_lock);
	INIT_IB_EVENT_HANDLER(&d->events, dev, rch_device_event);
	ib_register_event_handler(&d->events);
	return 0;
}

static void rch_device_remove(struct ib_device *dev, void *data)
{
	struct rch_device *d = data;

	/* Waits for a handler that runs. */
	ib_unregister_event_handler(&d->events);
	mutex_lock(&devices_lock);
	list_del(&d->list);
	mutex_unlock(&devices_lock);
	device_gone(dev);
	kfree(d);
}

/* Return: whether it has a name that programs of @net know. */
static bool device_gid_netdev_name(const struct ib_gid_attr *attr, const struct net *net,
				   char *name)
{
	struct net_device *ndev;
	bool known;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	known = !IS_ERR(ndev) && net_eq(dev_net(ndev), net);
	if (known)
		strscpy(name, ndev->name, RDMACHAN_NAME_LEN);
	rcu_read_unlock();
	return known;
}

static void device_netdev_name_get(struct ib_device *dev, u32 port, int gids, const struct net *net,
				   char *name)
{
	const struct ib_gid_attr *attr;
	bool found = false;
	int i;

	for (i = 0; !found && i < gids; i++) {
		attr = rdma_get_gid_attr(dev, port, i);
		if (IS_ERR(attr))
			continue;
		found = device_gid_netdev_name(attr, net, name);
		rdma_put_gid_attr(attr);
	}
}

static void device_port_info(struct ib_device *dev, u32 port, const struct net *net,
			     struct rdmachan_device *out)
{
	struct ib_port_attr attr;

	memset(out, 0, sizeof(*out));
	strscpy(out->name, dev_name(&dev->dev), sizeof(out->name));
	out->port = port;
	if (rdma_protocol_iwarp(dev, port))
		out->flags |= RDMACHAN_DEV_F_IWARP;
	if (ib_query_port(dev, port, &attr))
		return;
	device_netdev_name_get(dev, port, attr.gid_tbl_len, net, out->netdev);
	if (attr.state == IB_PORT_ACTIVE)
		out->flags |= RDMACHAN_DEV_F_ACTIVE;
	out->port_state = attr.state;
	out->mtu = ib_mtu_enum_to_int(attr.active_mtu);
	out->max_mtu = ib_mtu_enum_to_int(attr.max_mtu);
}

/**
 * rch_device_bind - settle which device a path is on: that of its id
 * @path: path
 *
 * Context: may sleep. Return: false when the device is being removed; otherwise its removal
 * waits for the path.
 */
bool rch_device_bind(struct rch_path *path)
{
	struct rch_device *d;

	mutex_lock(&devices_lock);
	list_for_each_entry(d, &devices, list) {
		if (d->dev == path->id->device) {
			path->dev = d->dev;
			path->port = path->id->port_num;
		}
	}
	mutex_unlock(&devices_lock);
	return path->dev;
}

/** rch_device_count - ports of all devices that @net may use; may sleep */
u32 rch_device_count(const struct net *net)
{
	struct rch_device *d;
	u32 count = 0;

	mutex_lock(&devices_lock);
	list_for_each_entry(d, &devices, list)
		if (rdma_dev_access_netns(d->dev, net))
			count += d->dev->phys_port_cnt;
	mutex_unlock(&devices_lock);
	return count;
}

/* Return: the device of port @index, which does not go until it is put; @index is of its ports. */
static struct ib_device *device_get(const struct net *net, u32 *index)
{
	struct ib_device *found = NULL;
	struct rch_device *d;

	mutex_lock(&devices_lock);
	list_for_each_entry(d, &devices, list) {
		if (!rdma_dev_access_netns(d->dev, net))
			continue;
		if (*index >= d->dev->phys_port_cnt) {
			*index -= d->dev->phys_port_cnt;
		} else if (ib_device_try_get(d->dev)) {
			found = d->dev;
			break;
		}
	}
	mutex_unlock(&devices_lock);
	return found;
}

/**
 * rch_device_info - tell about a port
 * @net: network namespace, whose programs are told
 * @index: number of the port among those of all devices that @net may use
 * @out: result, but for the links
 * @dev: the device, as a name only
 *
 * Context: may sleep. Return: false when there is no such port.
 */
bool rch_device_info(const struct net *net, u32 index, struct rdmachan_device *out,
		     struct ib_device **dev)
{
	*dev = device_get(net, &index);
	if (!*dev)
		return false;
	/* An adapter may take its time to answer: nobody is to wait for that at the lock. */
	device_port_info(*dev, rdma_start_port(*dev) + index, net, out);
	ib_device_put(*dev);
	return true;
}

/** rch_device_init - once, at load; @gone is called for each device that goes, @told for news */
int rch_device_init(rch_device_gone gone, rch_device_told told)
{
	device_gone = gone;
	device_told = told;
	return ib_register_client(&rch_client);
}

/** rch_device_exit - once, at unload; calls @gone for each device */
void rch_device_exit(void)
{
	ib_unregister_client(&rch_client);
}
