// SPDX-License-Identifier: GPL-2.0
/*
 * channels.c - channels, by write() and read(), by a queue, from regions, by io_uring, and grants
 * on them
 *
 * "queue_memory" does without regions and calls where "queue" has these: it connects by the queue,
 * and accesses go from and to plain memory.
 */
#include <errno.h>
#include <unistd.h>

#include "common.h"
#include "ring.h"
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

static struct opts connect_options(const struct job *job)
{
	struct opts opts = options(job);

	if (job->early)
		opts.flags = RDMACHAN_CONNECT_F_EARLY;
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
	struct opts opts = connect_options(job);

	return do_connect_to(the_context(), &addr, job->port, &opts);
}

/* The same as an operation of a queue, which the process has for that. */
static int connect_by_queue(const struct job *job)
{
	struct rdmachan_connect_args connect;
	struct opts opts = connect_options(job);
	static struct queue queue;
	struct rdmachan_cqe cqe = { 0 };

	if (!queue.sq_map)
		check(!queue_open(the_context(), &queue, 1, 1), "queue");
	fill_connect(&connect, job->port, &opts);
	connect.addr = address_of(job->host);
	queue_add(&queue, RDMACHAN_OPCODE_CONNECT, -1, 0)->addr = (uintptr_t)&connect;
	check(queue_enter(&queue, 1, 1, 0) == 1 && queue_next(&queue, &cqe), "enter");
	if (cqe.res >= 0)
		return cqe.res;
	errno = -cqe.res;
	return -1;
}

/* All go over the same channels. */
#define CHANNEL_WAY(_name, _pattern, _rings, _reach, _connect) \
	{					\
		.name = (_name),		\
		.pattern = (_pattern),		\
		.rings = (_rings),		\
		.reach = (_reach),		\
		.listen = listen_service,	\
		.accept = accept_channel,	\
		.connect = (_connect),		\
		.send = write,			\
		.recv = read,			\
		.close = close,			\
	}

const struct way way_ioctl = CHANNEL_WAY("ioctl", &plain, NULL, &by_calls, connect_service);
const struct way way_channel = CHANNEL_WAY("write_read", &plain, NULL, NULL, connect_service);
const struct way way_queue = CHANNEL_WAY("queue", &by_rings, &queue_rings, &by_queue,
					 connect_service);
const struct way way_memory = CHANNEL_WAY("queue_memory", &by_rings, &queue_rings,
					  &by_queue_memory, connect_by_queue);
const struct way way_poller = CHANNEL_WAY("queue_poller", &by_rings, &poller_rings, NULL,
					  connect_service);
const struct way way_regions = CHANNEL_WAY("queue_regions", &by_rings, &region_rings, NULL,
					   connect_service);
const struct way way_uring = CHANNEL_WAY("io_uring", &by_rings, &uring_rings, NULL,
					 connect_service);
