// SPDX-License-Identifier: GPL-2.0
/*
 * channels.c - channels, by write() and read(), by a queue, from regions, by io_uring, and what
 * is lent on them
 */
#include <unistd.h>

#include "common.h"
#include "bench.h"

/* One for all channels of a process. */
int the_context(void)
{
	static int ctx = -1;

	if (ctx < 0)
		ctx = open_ctx();
	return ctx;
}

/* What a queue sends has to fit into the send buffer, which has 1 MiB, if it is copied. */
static struct opts options(const struct job *job)
{
	struct opts opts = { 0 };

	if (job->way->rings && job->way != &way_uring && job->size > 1 << 20)
		opts.tuning.send_buffer = job->size;
	return opts;
}

static int listen_service(const struct job *job)
{
	struct opts opts = options(job);

	return do_listen(the_context(), job->port, &opts);
}

static int accept_channel(int listener)
{
	return do_accept(listener, NULL);
}

static int connect_service(const struct job *job)
{
	struct rdmachan_addr addr = address_of(job->host);
	struct opts opts = options(job);

	return do_connect_to(the_context(), &addr, job->port, &opts);
}

/* All go over the same channels. */
#define CHANNEL_WAY(_name, _pattern, _rings, _reach) \
	{					\
		.name = (_name),		\
		.pattern = (_pattern),		\
		.rings = (_rings),		\
		.reach = (_reach),		\
		.listen = listen_service,	\
		.accept = accept_channel,	\
		.connect = connect_service,	\
		.send = write,			\
		.recv = read,			\
		.close = close,			\
	}

const struct way way_ioctl = CHANNEL_WAY("ioctl", &plain, NULL, &by_calls);
const struct way way_channel = CHANNEL_WAY("write_read", &plain, NULL, NULL);
const struct way way_queue = CHANNEL_WAY("queue", &by_rings, &queue_rings, &by_queue);
const struct way way_poller = CHANNEL_WAY("queue_poller", &by_rings, &poller_rings, NULL);
const struct way way_regions = CHANNEL_WAY("queue_regions", &by_rings, &region_rings, NULL);
const struct way way_uring = CHANNEL_WAY("io_uring", &by_rings, &uring_rings, NULL);
