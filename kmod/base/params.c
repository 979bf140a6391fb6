// SPDX-License-Identifier: GPL-2.0
/*
 * params.c - what an administrator may set
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "base/rch.h"
#include "proto/wire.h"
#include "pure/credit.h"

struct param_range {
	unsigned int *value;
	unsigned int min;
	unsigned int max;
};

static int params_range_set(const char *val, const struct kernel_param *kp)
{
	const struct param_range *r = kp->arg;
	unsigned int v;
	int ret;

	ret = kstrtouint(val, 0, &v);
	if (ret)
		return ret;
	if (v < r->min || v > r->max)
		return -EINVAL;
	WRITE_ONCE(*r->value, v);
	return 0;
}

static int params_range_get(char *buffer, const struct kernel_param *kp)
{
	const struct param_range *r = kp->arg;

	return sysfs_emit(buffer, "%u\n", READ_ONCE(*r->value));
}

static const struct kernel_param_ops range_ops = {
	.set = params_range_set,
	.get = params_range_get,
};

/* A number with its bounds: a wrong one is refused at once, not found out later. */
#define RCH_PARAM(name, def, lo, hi, mode, text)				\
	unsigned int rch_##name = (def);					\
	static const struct param_range name##_range = { &rch_##name, lo, hi };	\
	module_param_cb(name, &range_ops, (void *)&name##_range, mode);		\
	MODULE_PARM_DESC(name, text)

/* Of objects, and of MiB: more than fit. */
#define RCH_COUNT_MAX	(16U << 20)
#define RCH_MIB_MAX	(16U << 20)

RCH_PARAM(port, RDMACHAN_PORT, 1, 65535, 0444,
	  "rdma_cm port (TCP port space) on which the modules of two hosts meet");
RCH_PARAM(own_privileged_port, 1, 0, 1, 0644,
	  "1: connect to peers from a port below 1024, which no unprivileged program can; not on iWARP");
RCH_PARAM(peer_privileged_port, 1, 0, 1, 0644,
	  "1: refuse peers that connect from another one; not on iWARP");
RCH_PARAM(dead_ms, 5000, RCH_DEAD_MIN, 600000, 0644,
	  "dead time of new links, ms: a silent peer is then given up; hardware waits 17 s at most");
RCH_PARAM(connect_ms, 10000, 100, 3600000, 0644,
	  "default connect timeout in milliseconds");
RCH_PARAM(linger_ms, 60000, 1, 3600000, 0644,
	  "default time in milliseconds that close tries to deliver in the background");
RCH_PARAM(idle_ms, 30000, 100, 3600000, 0644,
	  "a link without channels is closed after so many milliseconds");
RCH_PARAM(buffer, 1 << 20, RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MAX, 0644,
	  "default send and receive buffer of a channel in bytes");
RCH_PARAM(message_max, 64 << 20, 1, RDMACHAN_MESSAGE_MAX, 0644,
	  "default of the largest message that a channel receives, in bytes");
RCH_PARAM(user_contexts, 1024, 0, RCH_COUNT_MAX, 0644,
	  "contexts that a user may have");
RCH_PARAM(all_contexts, 8192, 0, RCH_COUNT_MAX, 0644,
	  "contexts that all users together may have");
RCH_PARAM(user_listeners, 1024, 0, RCH_COUNT_MAX, 0644,
	  "listeners that a user may have");
RCH_PARAM(all_listeners, 8192, 0, RCH_COUNT_MAX, 0644,
	  "listeners that all users together may have");
RCH_PARAM(user_channels, 8192, 0, RCH_COUNT_MAX, 0644,
	  "channels that a user may have, with those that linger");
RCH_PARAM(all_channels, 65536, 0, RCH_COUNT_MAX, 0644,
	  "channels that all users together may have");
RCH_PARAM(user_pending, 256, 0, RCH_COUNT_MAX, 0644,
	  "channels of a user that may be connecting, or wait to be accepted");
RCH_PARAM(all_pending, 8192, 0, RCH_COUNT_MAX, 0644,
	  "such channels of all users together");
RCH_PARAM(user_buffer_mib, 0, 0, RCH_MIB_MAX, 0644,
	  "MiB that the channels of a user may make the kernel hold; 0 is a quarter of the memory");
RCH_PARAM(all_buffer_mib, 0, 0, RCH_MIB_MAX, 0644,
	  "MiB that the channels of all users together may; 0 is half of the memory");
RCH_PARAM(user_queues, 256, 0, RCH_COUNT_MAX, 0644,
	  "queues that a user may have");
RCH_PARAM(all_queues, 4096, 0, RCH_COUNT_MAX, 0644,
	  "queues that all users together may have");
RCH_PARAM(user_regions, 1024, 0, RCH_COUNT_MAX, 0644,
	  "regions that a user may have");
RCH_PARAM(all_regions, 16384, 0, RCH_COUNT_MAX, 0644,
	  "regions that all users together may have");
RCH_PARAM(user_pinned_mib, 0, 0, RCH_MIB_MAX, 0644,
	  "MiB that the regions of a user may pin in all programs, if RLIMIT_MEMLOCK is not more; 0 is a quarter of the memory");
RCH_PARAM(user_pollers, 8, 0, RCH_COUNT_MAX, 0644,
	  "queues with a poller that a user may have");
RCH_PARAM(all_pollers, 64, 0, RCH_COUNT_MAX, 0644,
	  "queues with a poller that all users together may have");
RCH_PARAM(user_grants, 65536, 0, RCH_COUNT_MAX, 0644,
	  "grants that a user may have, given and held");
RCH_PARAM(all_grants, 262144, 0, RCH_COUNT_MAX, 0644,
	  "grants that all users together may have");
RCH_PARAM(user_links, 1024, 0, RCH_COUNT_MAX, 0644,
	  "links to other hosts that a user may have");
RCH_PARAM(all_links, 4096, 0, RCH_COUNT_MAX, 0644,
	  "links to other hosts that all users together may have");
RCH_PARAM(gather_us, 100, 0, 1000000, 0644,
	  "how long a small message, or the end of a channel, may wait for others to share its frame, in microseconds; 0: not at all");
RCH_PARAM(eager_us, 64, 0, 1000000, 0644,
	  "a message from plain memory is copied, and not placed, where a round trip takes longer than so many microseconds for each 64 KiB of it");
RCH_PARAM(traffic_class, 0, 0, 255, 0644,
	  "default traffic class of packets: the byte of the IP header whose upper six bits are the DSCP; 0: that of the adapter");
RCH_PARAM(depth, 32, RCH_DEPTH_MIN, 1024, 0644,
	  "receive buffers of a link, each of a frame (for new links)");
