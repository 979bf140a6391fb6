// SPDX-License-Identifier: MIT
/*
 * fake_queue.c - queues of the fake device
 *
 * The rings are those of a memfd, which the program maps as it would the module's. Their indices
 * begin near their wrap. NOP is done at once. RECV waits for a further call, as one does whose
 * memory is not present. There is nothing else. Buffers of pools are never taken.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

#define QUEUES		8
#define RINGS		8
#define RING_ROOM	32768U
#define ENTRIES		64U
#define ENTRIES_MAX	256U
#define FIRST		(0U - 5)

struct words {
	uint32_t producer;
	uint32_t consumer;
	uint32_t flags;
	uint32_t overflow;
};

struct queue {
	int fd;
	unsigned int rings;
	struct rdmachan_ring sq;
	struct rdmachan_ring cq;
	char *map;
	uint64_t received[ENTRIES_MAX];
	uint32_t receives;
};

static struct queue queues[QUEUES];
static unsigned int queue_count;

static struct words *words(const struct queue *queue, const struct rdmachan_ring *ring)
{
	return (struct words *)(queue->map + ring->offset);
}

static int ring_make(struct queue *queue, struct rdmachan_ring *ring, uint32_t entries,
		     uint32_t stride)
{
	if (!entries || entries & (entries - 1) || entries > ENTRIES_MAX ||
	    queue->rings == RINGS) {
		errno = EINVAL;
		return -1;
	}
	*ring = (struct rdmachan_ring){
		.offset = queue->rings++ * RING_ROOM,
		.length = RING_ROOM,
		.producer = offsetof(struct words, producer),
		.consumer = offsetof(struct words, consumer),
		.flags = offsetof(struct words, flags),
		.overflow = offsetof(struct words, overflow),
		.entries = ENTRIES,
		.count = entries,
		.stride = stride,
	};
	*words(queue, ring) = (struct words){ .producer = FIRST, .consumer = FIRST };
	return 0;
}

int fake_queue_create(struct rdmachan_queue_create_args *create)
{
	struct queue *queue = &queues[queue_count];
	int fd = memfd_create("fake-queue", MFD_CLOEXEC);

	if (queue_count == QUEUES || fd < 0 || ftruncate(fd, RINGS * RING_ROOM) < 0)
		return -1;
	queue->fd = fd;
	queue->map = mmap(NULL, RINGS * RING_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (queue->map == MAP_FAILED ||
	    ring_make(queue, &queue->sq, create->sq_entries, create->sqe_size) < 0 ||
	    ring_make(queue, &queue->cq, create->cq_entries, create->cqe_size) < 0)
		return -1;
	queue_count++;
	create->out_sq = queue->sq;
	create->out_cq = queue->cq;
	return fd;
}

static void complete(struct queue *queue, uint64_t user_data, int64_t res)
{
	struct words *cq = words(queue, &queue->cq);
	struct rdmachan_cqe *cqes = (void *)(queue->map + queue->cq.offset + ENTRIES);

	cqes[cq->producer++ & (queue->cq.count - 1)] = (struct rdmachan_cqe){
		.user_data = user_data, .res = res,
	};
}

static void take(struct queue *queue, const struct rdmachan_sqe *sqe)
{
	if (sqe->opcode == RDMACHAN_OPCODE_RECV)
		queue->received[queue->receives++] = sqe->user_data;
	else
		complete(queue, sqe->user_data,
			 sqe->opcode == RDMACHAN_OPCODE_NOP ? 0 : -EOPNOTSUPP);
}

static int enter(struct queue *queue, struct rdmachan_enter_args *args)
{
	struct words *sq = words(queue, &queue->sq), *cq = words(queue, &queue->cq);
	struct rdmachan_sqe *sqes = (void *)(queue->map + queue->sq.offset + ENTRIES);

	for (; queue->receives; queue->receives--)
		complete(queue, queue->received[queue->receives - 1], 0);
	while (args->out_submitted < args->to_submit && sq->consumer != sq->producer &&
	       cq->producer - cq->consumer + queue->receives < queue->cq.count) {
		take(queue, &sqes[sq->consumer++ & (queue->sq.count - 1)]);
		args->out_submitted++;
	}
	cq->flags = queue->receives ? RDMACHAN_RING_F_ENTER : 0;
	args->out_complete = cq->producer - cq->consumer;
	if (args->out_complete >= args->min_complete)
		return 0;
	errno = ETIMEDOUT;
	return -1;
}

int fake_queue_ioctl(int fd, unsigned long request, void *argument)
{
	struct queue *queue = queues;
	struct rdmachan_pool_create_args *pool = argument;

	while (queue->fd != fd)
		queue++;
	if (request == RDMACHAN_ENTER)
		return enter(queue, argument);
	if (request == RDMACHAN_POOL_CREATE)
		return ring_make(queue, &pool->out_ring, pool->entries, pool->buffer_size);
	errno = ENOTTY;
	return -1;
}
