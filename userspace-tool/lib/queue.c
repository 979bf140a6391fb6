// SPDX-License-Identifier: MIT
/*
 * queue.c - queues: operations put into a ring, completions read from another
 *
 * The program's own index of each ring is kept here. It begins with what is in the ring, whose
 * copy is only written from then on. Storing an index with release, and loading the kernel's
 * with acquire, is all the order there is (linux/rdmachan.h, "rings of a queue").
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

struct ring {
	char *map;
	struct rdmachan_ring at;
};

/*
 * @tail counts entries that were handed out, @published those that the kernel was shown,
 * @head completions that were seen. @pools are those that are open. @mine is told of at is_mine().
 */
struct rdmachan_queue {
	int fd;
	const char *mine;
	struct ring sq;
	struct ring cq;
	struct rdmachan_pool *pools;
	bool polled;
	uint32_t tail;
	uint32_t published;
	uint32_t head;
};

/*
 * @tail counts buffers that were put in. @queue is NULL, and nothing is mapped, when the queue
 * was closed before the pool.
 */
struct rdmachan_pool {
	struct rdmachan_queue *queue;
	struct rdmachan_pool *next;
	struct ring ring;
	uint32_t id;
	uint32_t tail;
};

/*
 * Whether this is the memory of the program that made the queue. In that of a child which was
 * forked no ring is mapped, and what lies there may be the child's own. Nothing of a ring is
 * touched without this.
 *
 * It looks at a page that is filled with zeros in such a child (MADV_WIPEONFORK). That is one load
 * where getpid() would be a call of the kernel, which peeking does without. And it is right for
 * children of vfork() and of clone() with CLONE_VM: they have another pid and the same memory, and
 * may use the queue. Each queue has a page of its own, so that a child's own queue tells nothing
 * of those that it has inherited.
 */
static bool is_mine(const struct rdmachan_queue *queue)
{
	if (*queue->mine)
		return true;
	errno = EPERM;
	return false;
}

/* NULL on failure. A page, as lengths are rounded up to that. */
static const char *mine_map(void)
{
	char *mine = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mine == MAP_FAILED)
		return NULL;
	if (madvise(mine, 1, MADV_WIPEONFORK) < 0) {
		munmap(mine, 1);
		return NULL;
	}
	*mine = 1;
	return mine;
}

static void mine_unmap(const char *mine)
{
	if (mine)
		munmap((void *)mine, 1);
}

static uint32_t load(const struct ring *ring, uint32_t offset)
{
	return __atomic_load_n((uint32_t *)(ring->map + offset), __ATOMIC_ACQUIRE);
}

static void store(const struct ring *ring, uint32_t offset, uint32_t value)
{
	__atomic_store_n((uint32_t *)(ring->map + offset), value, __ATOMIC_RELEASE);
}

/* Entry number @index, where the kernel looks for it. */
static void *entry(const struct ring *ring, uint32_t index)
{
	size_t place = index & (ring->at.count - 1);

	return ring->map + ring->at.entries + place * ring->at.stride;
}

static int ring_map(struct ring *ring, int fd, const struct rdmachan_ring *at)
{
	ring->at = *at;
	ring->map = mmap(NULL, at->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at->offset);
	return ring->map == MAP_FAILED ? -1 : 0;
}

/* In a forked child there is nothing to unmap. */
static void ring_unmap(const struct rdmachan_queue *queue, const struct ring *ring)
{
	if (*queue->mine && ring->map != MAP_FAILED)
		munmap(ring->map, ring->at.length);
}

/* Out of its queue. */
static void pool_unmap(struct rdmachan_pool *pool)
{
	struct rdmachan_pool **link = &pool->queue->pools;

	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	ring_unmap(pool->queue, &pool->ring);
	pool->queue = NULL;
}

/* The queue ends with its last mapping, and those of pools are its own. errno stays as it is. */
static void unmap_and_close(struct rdmachan_queue *queue)
{
	int saved = errno;

	while (queue->pools)
		pool_unmap(queue->pools);
	ring_unmap(queue, &queue->sq);
	ring_unmap(queue, &queue->cq);
	mine_unmap(queue->mine);
	close(queue->fd);
	free(queue);
	errno = saved;
}

static struct rdmachan_queue *queue_open(int ctx, uint32_t sq_entries, uint32_t cq_entries,
					 uint32_t flags, uint32_t idle_ms,
					 struct rdmachan_error *err)
{
	struct rdmachan_queue_create_args create = {
		.size = sizeof(create),
		.flags = flags,
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
		.sqe_size = sizeof(struct rdmachan_sqe),
		.cqe_size = sizeof(struct rdmachan_cqe),
		.idle_ms = idle_ms,
		.error_ptr = lib_error_prepare(err),
	};
	struct rdmachan_queue *queue = calloc(1, sizeof(*queue));
	const char *mine = queue ? mine_map() : NULL;

	if (!mine || ioctl(ctx, RDMACHAN_QUEUE_CREATE, &create) < 0) {
		lib_error_call(err, RDMACHAN_OP_QUEUE, -1);
		mine_unmap(mine);
		free(queue);
		return NULL;
	}
	queue->mine = mine;
	queue->fd = create.out_fd;
	queue->polled = flags & RDMACHAN_QUEUE_F_POLLER;
	queue->cq.map = MAP_FAILED;
	if (ring_map(&queue->sq, queue->fd, &create.out_sq) < 0 ||
	    ring_map(&queue->cq, queue->fd, &create.out_cq) < 0) {
		unmap_and_close(queue);
		lib_error_call(err, RDMACHAN_OP_QUEUE, -1);
		return NULL;
	}
	queue->tail = load(&queue->sq, queue->sq.at.producer);
	queue->published = queue->tail;
	queue->head = load(&queue->cq, queue->cq.at.consumer);
	return queue;
}

struct rdmachan_queue *rdmachan_queue_open(int ctx, uint32_t sq_entries, uint32_t cq_entries,
					   struct rdmachan_error *err)
{
	return queue_open(ctx, sq_entries, cq_entries, RDMACHAN_FD_F_CLOEXEC, 0, err);
}

struct rdmachan_queue *rdmachan_queue_open_polled(int ctx, uint32_t sq_entries,
						  uint32_t cq_entries, uint32_t idle_ms,
						  struct rdmachan_error *err)
{
	return queue_open(ctx, sq_entries, cq_entries,
			  RDMACHAN_FD_F_CLOEXEC | RDMACHAN_QUEUE_F_POLLER, idle_ms, err);
}

void rdmachan_queue_close(struct rdmachan_queue *queue)
{
	if (queue)
		unmap_and_close(queue);
}

int rdmachan_queue_fd(const struct rdmachan_queue *queue)
{
	return queue->fd;
}

uint32_t rdmachan_queue_sq_space(const struct rdmachan_queue *queue)
{
	if (!is_mine(queue))
		return 0;
	return queue->sq.at.count - (queue->tail - load(&queue->sq, queue->sq.at.consumer));
}

struct rdmachan_sqe *rdmachan_queue_get_sqe(struct rdmachan_queue *queue)
{
	const struct ring *sq = &queue->sq;
	struct rdmachan_sqe *sqe;

	if (!is_mine(queue))
		return NULL;
	if (!rdmachan_queue_sq_space(queue)) {
		errno = ENOBUFS;
		return NULL;
	}
	sqe = entry(sq, queue->tail++);
	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

/*
 * Nothing is left of what the entry was prepared for before. The user data is not part of an
 * operation: it stays.
 */
static void fill(struct rdmachan_sqe *sqe, uint8_t opcode, int fd, const void *addr,
		 uint64_t length)
{
	*sqe = (struct rdmachan_sqe){
		.opcode = opcode,
		.fd = fd,
		.addr = (uintptr_t)addr,
		.length = length,
		.user_data = sqe->user_data,
	};
}

void rdmachan_sqe_set_data64(struct rdmachan_sqe *sqe, uint64_t data)
{
	sqe->user_data = data;
}

void rdmachan_sqe_set_data(struct rdmachan_sqe *sqe, const void *data)
{
	rdmachan_sqe_set_data64(sqe, (uintptr_t)data);
}

uint64_t rdmachan_cqe_get_data64(const struct rdmachan_cqe *cqe)
{
	return cqe->user_data;
}

void *rdmachan_cqe_get_data(const struct rdmachan_cqe *cqe)
{
	return (void *)(uintptr_t)cqe->user_data;
}

void rdmachan_queue_prep_nop(struct rdmachan_sqe *sqe)
{
	fill(sqe, RDMACHAN_OPCODE_NOP, 0, NULL, 0);
}

void rdmachan_queue_prep_send(struct rdmachan_sqe *sqe, int chan, const void *data,
			      size_t length, uint32_t msg_flags)
{
	fill(sqe, RDMACHAN_OPCODE_SEND, chan, data, length);
	sqe->msg_flags = msg_flags;
}

void rdmachan_queue_prep_recv(struct rdmachan_sqe *sqe, int chan, void *buffer, size_t size)
{
	fill(sqe, RDMACHAN_OPCODE_RECV, chan, buffer, size);
}

void rdmachan_queue_prep_sendv(struct rdmachan_sqe *sqe, int chan, const struct iovec *iov,
			       unsigned int count, uint32_t msg_flags)
{
	fill(sqe, RDMACHAN_OPCODE_SEND, chan, iov, count);
	sqe->flags = RDMACHAN_SQE_F_IOV;
	sqe->msg_flags = msg_flags;
}

void rdmachan_queue_prep_recvv(struct rdmachan_sqe *sqe, int chan, const struct iovec *iov,
			       unsigned int count)
{
	fill(sqe, RDMACHAN_OPCODE_RECV, chan, iov, count);
	sqe->flags = RDMACHAN_SQE_F_IOV;
}

void rdmachan_sqe_set_iov_region(struct rdmachan_sqe *sqe, uint32_t region)
{
	sqe->flags |= RDMACHAN_SQE_F_REGION;
	sqe->region = region;
}

void rdmachan_queue_prep_recv_pool(struct rdmachan_sqe *sqe, int chan,
				   const struct rdmachan_pool *pool)
{
	fill(sqe, RDMACHAN_OPCODE_RECV, chan, NULL, 0);
	sqe->op_flags = RDMACHAN_RECV_F_MULTISHOT;
	sqe->pool = pool->id;
}

void rdmachan_queue_prep_recv_pool_region(struct rdmachan_sqe *sqe, int chan,
					  const struct rdmachan_pool *pool, uint32_t region)
{
	rdmachan_queue_prep_recv_pool(sqe, chan, pool);
	sqe->flags = RDMACHAN_SQE_F_REGION;
	sqe->region = region;
}

static void fill_region(struct rdmachan_sqe *sqe, uint8_t opcode, int fd, uint32_t region,
			uint64_t offset, uint64_t length)
{
	fill(sqe, opcode, fd, NULL, length);
	sqe->flags = RDMACHAN_SQE_F_REGION;
	sqe->addr = offset;
	sqe->region = region;
}

void rdmachan_queue_prep_send_region(struct rdmachan_sqe *sqe, int chan, uint32_t region,
				     uint64_t offset, uint64_t length, uint32_t msg_flags)
{
	fill_region(sqe, RDMACHAN_OPCODE_SEND, chan, region, offset, length);
	sqe->msg_flags = msg_flags;
}

void rdmachan_queue_prep_recv_region(struct rdmachan_sqe *sqe, int chan, uint32_t region,
				     uint64_t offset, uint64_t size)
{
	fill_region(sqe, RDMACHAN_OPCODE_RECV, chan, region, offset, size);
}

void rdmachan_queue_prep_accept(struct rdmachan_sqe *sqe, int listener, uint32_t flags)
{
	fill(sqe, RDMACHAN_OPCODE_ACCEPT, listener, NULL, 0);
	sqe->op_flags = flags;
}

void rdmachan_queue_prep_accept_many(struct rdmachan_sqe *sqe, int listener, uint32_t flags)
{
	rdmachan_queue_prep_accept(sqe, listener, flags | RDMACHAN_ACCEPT_F_MULTISHOT);
}

_Static_assert(sizeof(struct rdmachan_connect_args) <= sizeof(struct rdmachan_room),
	       "room for a connect");
_Static_assert(sizeof(struct rdmachan_grant_args) <= sizeof(struct rdmachan_room),
	       "room for a grant");

/* Arguments may grow: a room, which is the program's, is larger. The kernel reads it. */
static const void *room_put(struct rdmachan_room *room, const void *args, size_t size)
{
	return memcpy(room->opaque, args, size);
}

int rdmachan_queue_prep_connect(struct rdmachan_sqe *sqe, struct rdmachan_room *room,
				const struct sockaddr *addr, socklen_t addr_len, uint32_t service,
				const struct rdmachan_options *options, struct rdmachan_error *err)
{
	struct rdmachan_connect_args connect;

	if (lib_connect_fill(&connect, addr, addr_len, service, options, err) < 0) {
		rdmachan_queue_prep_nop(sqe);
		return -1;
	}
	fill(sqe, RDMACHAN_OPCODE_CONNECT, -1, room_put(room, &connect, sizeof(connect)), 0);
	return 0;
}

void rdmachan_queue_prep_shutdown(struct rdmachan_sqe *sqe, int chan, uint32_t how)
{
	fill(sqe, RDMACHAN_OPCODE_SHUTDOWN, chan, NULL, 0);
	sqe->op_flags = how;
}

void rdmachan_queue_prep_cancel64(struct rdmachan_sqe *sqe, uint64_t data, uint32_t flags)
{
	fill(sqe, RDMACHAN_OPCODE_CANCEL, -1, NULL, 0);
	sqe->target = data;
	sqe->op_flags = flags;
}

void rdmachan_queue_prep_cancel(struct rdmachan_sqe *sqe, const void *data, uint32_t flags)
{
	rdmachan_queue_prep_cancel64(sqe, (uintptr_t)data, flags);
}

static void fill_grant(struct rdmachan_sqe *sqe, uint8_t opcode, int chan, uint32_t grant,
		       uint64_t offset)
{
	fill(sqe, opcode, chan, NULL, 0);
	sqe->grant = grant;
	sqe->grant_offset = offset;
}

void rdmachan_queue_prep_grant_read(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
				    uint64_t offset, void *buffer, size_t length)
{
	fill_grant(sqe, RDMACHAN_OPCODE_READ, chan, grant, offset);
	sqe->addr = (uintptr_t)buffer;
	sqe->length = length;
}

void rdmachan_queue_prep_grant_write(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
				     uint64_t offset, const void *data, size_t length)
{
	fill_grant(sqe, RDMACHAN_OPCODE_WRITE, chan, grant, offset);
	sqe->addr = (uintptr_t)data;
	sqe->length = length;
}

void rdmachan_sqe_set_own_region(struct rdmachan_sqe *sqe, uint32_t region, uint64_t offset)
{
	sqe->flags |= RDMACHAN_SQE_F_REGION;
	sqe->region = region;
	sqe->addr = offset;
}

void rdmachan_queue_prep_grant_fetch_add(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
					 uint64_t offset, uint64_t add)
{
	fill_grant(sqe, RDMACHAN_OPCODE_FETCH_ADD, chan, grant, offset);
	sqe->operand = add;
}

void rdmachan_queue_prep_grant_compare_swap(struct rdmachan_sqe *sqe, int chan, uint32_t grant,
					    uint64_t offset, uint64_t compare, uint64_t swap)
{
	fill_grant(sqe, RDMACHAN_OPCODE_COMPARE_SWAP, chan, grant, offset);
	sqe->operand = swap;
	sqe->compare = compare;
}

void rdmachan_queue_prep_grant_release(struct rdmachan_sqe *sqe, int chan, uint32_t grant)
{
	fill_grant(sqe, RDMACHAN_OPCODE_RELEASE, chan, grant, 0);
}

void rdmachan_queue_prep_grant_lend(struct rdmachan_sqe *sqe, struct rdmachan_room *room, int chan,
				    int ctx, struct rdmachan_grant_range *ranges,
				    unsigned int count, const struct iovec *iov,
				    unsigned int iov_count, uint32_t msg_flags)
{
	const struct rdmachan_grant_args grant = {
		.size = sizeof(grant),
		.context = ctx,
		.count = count,
		.ranges_ptr = (uintptr_t)ranges,
		.range_size = sizeof(*ranges),
		.iov_ptr = (uintptr_t)iov,
		.iov_count = iov_count,
		.msg_flags = msg_flags,
	};

	fill(sqe, RDMACHAN_OPCODE_GRANT, chan, room_put(room, &grant, sizeof(grant)), 0);
}

void rdmachan_queue_prep_grant_revoke(struct rdmachan_sqe *sqe, int chan, uint32_t grant)
{
	fill_grant(sqe, RDMACHAN_OPCODE_REVOKE, chan, grant, 0);
}

void rdmachan_queue_prep_finish(struct rdmachan_sqe *sqe, int chan)
{
	fill(sqe, RDMACHAN_OPCODE_FINISH, chan, NULL, 0);
}

void rdmachan_queue_prep_message(struct rdmachan_sqe *sqe, int queue, uint64_t user_data,
				 uint32_t res)
{
	fill(sqe, RDMACHAN_OPCODE_MESSAGE, queue, NULL, res);
	sqe->target = user_data;
}

void rdmachan_sqe_set_delivered(struct rdmachan_sqe *sqe)
{
	sqe->op_flags |= RDMACHAN_SEND_F_DELIVERED;
}

void rdmachan_sqe_set_notify(struct rdmachan_sqe *sqe, uint32_t msg_flags)
{
	sqe->op_flags |= RDMACHAN_WRITE_F_NOTIFY;
	sqe->msg_flags = msg_flags;
}

uint64_t rdmachan_cqe_value(const struct rdmachan_cqe *cqe)
{
	return cqe->length | (uint64_t)cqe->buffer << 32;
}

int rdmachan_cqe_events(const struct rdmachan_cqe *cqe, void *buffer,
			struct rdmachan_events *events)
{
	memset(events, 0, sizeof(*events));
	if (cqe->flags & RDMACHAN_CQE_F_GRANTS)
		return lib_events_split(buffer, cqe->res, events);
	events->message = buffer;
	events->length = cqe->res;
	return 0;
}

static bool poller_sleeps(const struct rdmachan_queue *queue)
{
	/* The index must be seen before the flag is looked at; the poller has the same. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return load(&queue->sq, queue->sq.at.flags) & RDMACHAN_RING_F_WAKEUP;
}

/* There is what goes on in a call only, completions at hand or not. */
static bool call_needed(const struct rdmachan_queue *queue)
{
	return load(&queue->cq, queue->cq.at.flags) & RDMACHAN_RING_F_ENTER;
}

/*
 * Show the kernel the entries up to @tail. @call: also when the poller would see them by itself.
 * A full ring needs a call as well: when it returns, entries can be got again, unless as many
 * operations are under way as can be.
 */
static int enter(struct rdmachan_queue *queue, uint32_t tail, uint32_t min_complete,
		 uint32_t timeout_ms, bool call)
{
	const struct ring *sq = &queue->sq;
	uint32_t fresh = tail - queue->published;
	struct rdmachan_enter_args args = {
		.size = sizeof(args),
		.min_complete = min_complete,
		.timeout_ms = timeout_ms,
	};

	if (!is_mine(queue))
		return -1;
	args.to_submit = tail - load(sq, sq->at.consumer);
	store(sq, sq->at.producer, tail);
	queue->published = tail;
	if (queue->polled && poller_sleeps(queue))
		args.flags = RDMACHAN_ENTER_F_WAKEUP;
	call = call || !queue->polled || args.flags || args.to_submit == sq->at.count ||
	       call_needed(queue);
	if (call && ioctl(queue->fd, RDMACHAN_ENTER, &args) < 0)
		return -1;
	return queue->polled ? fresh : args.out_submitted;
}

int rdmachan_queue_submit(struct rdmachan_queue *queue, struct rdmachan_error *err)
{
	return lib_error_own(err, RDMACHAN_OP_QUEUE, enter(queue, queue->tail, 0, 0, false));
}

int rdmachan_queue_submit_and_wait(struct rdmachan_queue *queue, uint32_t min_complete,
				   uint32_t timeout_ms, struct rdmachan_error *err)
{
	int ret = enter(queue, queue->tail, min_complete, timeout_ms, min_complete);

	return lib_error_own(err, RDMACHAN_OP_QUEUE, ret);
}

/*
 * A call that submits nothing new, as the caller may not have prepared what was got, or be in the
 * middle of a chain. Entries that were submitted before go on.
 */
static int enter_to_look(struct rdmachan_queue *queue)
{
	return enter(queue, queue->published, 0, 0, true);
}

uint32_t rdmachan_queue_cq_ready(const struct rdmachan_queue *queue)
{
	if (!is_mine(queue))
		return 0;
	return load(&queue->cq, queue->cq.at.producer) - queue->head;
}

uint32_t rdmachan_queue_cq_overflow(const struct rdmachan_queue *queue)
{
	if (!is_mine(queue))
		return 0;
	return load(&queue->cq, queue->cq.at.overflow);
}

static struct rdmachan_cqe *completion(const struct rdmachan_queue *queue, uint32_t index)
{
	return entry(&queue->cq, index);
}

static struct rdmachan_cqe *first(const struct rdmachan_queue *queue)
{
	return rdmachan_queue_cq_ready(queue) ? completion(queue, queue->head) : NULL;
}

int rdmachan_queue_peek_cqes(struct rdmachan_queue *queue, struct rdmachan_cqe **cqes,
			     uint32_t max, struct rdmachan_error *err)
{
	uint32_t ready = rdmachan_queue_cq_ready(queue), i;

	if (!is_mine(queue))
		return lib_error_own(err, RDMACHAN_OP_QUEUE, -1);
	if (!ready && !load(&queue->cq, queue->cq.at.flags))
		return 0;
	if (!ready || call_needed(queue)) {
		/* Where there is one, an error of the call is told by a later one. */
		if (enter_to_look(queue) < 0 && !ready)
			return lib_error_own(err, RDMACHAN_OP_QUEUE, -1);
		ready = rdmachan_queue_cq_ready(queue);
	}
	for (i = 0; i < ready && i < max; i++)
		cqes[i] = completion(queue, queue->head + i);
	return i;
}

int rdmachan_queue_peek_cqe(struct rdmachan_queue *queue, struct rdmachan_cqe **cqe,
			    struct rdmachan_error *err)
{
	*cqe = NULL;
	return rdmachan_queue_peek_cqes(queue, cqe, 1, err);
}

int rdmachan_queue_wait_cqe(struct rdmachan_queue *queue, struct rdmachan_cqe **cqe,
			    uint32_t timeout_ms, struct rdmachan_error *err)
{
	*cqe = first(queue);
	if (*cqe) {
		/* As above. */
		if (call_needed(queue))
			enter_to_look(queue);
		return 0;
	}
	if (enter(queue, queue->tail, 1, timeout_ms, true) < 0)
		return lib_error_own(err, RDMACHAN_OP_QUEUE, -1);
	*cqe = first(queue);
	return 0;
}

void rdmachan_queue_cqes_seen(struct rdmachan_queue *queue, uint32_t count)
{
	if (!is_mine(queue))
		return;
	queue->head += count;
	store(&queue->cq, queue->cq.at.consumer, queue->head);
}

void rdmachan_queue_cqe_seen(struct rdmachan_queue *queue)
{
	rdmachan_queue_cqes_seen(queue, 1);
}

struct rdmachan_pool *rdmachan_pool_open(struct rdmachan_queue *queue, uint32_t entries,
					 struct rdmachan_error *err)
{
	struct rdmachan_pool_create_args create = {
		.size = sizeof(create),
		.entries = entries,
		.buffer_size = sizeof(struct rdmachan_buffer),
		.error_ptr = lib_error_prepare(err),
	};
	struct rdmachan_pool *pool = calloc(1, sizeof(*pool));

	if (!pool || !is_mine(queue) || ioctl(queue->fd, RDMACHAN_POOL_CREATE, &create) < 0 ||
	    ring_map(&pool->ring, queue->fd, &create.out_ring) < 0) {
		lib_error_call(err, RDMACHAN_OP_QUEUE, -1);
		free(pool);
		return NULL;
	}
	pool->id = create.out_pool;
	pool->tail = load(&pool->ring, pool->ring.at.producer);
	pool->queue = queue;
	pool->next = queue->pools;
	queue->pools = pool;
	return pool;
}

void rdmachan_pool_close(struct rdmachan_pool *pool)
{
	if (!pool)
		return;
	if (pool->queue)
		pool_unmap(pool);
	free(pool);
}

uint32_t rdmachan_pool_left(const struct rdmachan_pool *pool)
{
	if (!pool->queue || !is_mine(pool->queue))
		return 0;
	return pool->tail - load(&pool->ring, pool->ring.at.consumer);
}

int rdmachan_pool_add_region(struct rdmachan_pool *pool, uint64_t offset, uint32_t size,
			     uint32_t id)
{
	const struct rdmachan_ring *at = &pool->ring.at;
	struct rdmachan_buffer *buffer;

	if (!pool->queue) {
		errno = EBADF;
		return -1;
	}
	if (!is_mine(pool->queue))
		return -1;
	if (rdmachan_pool_left(pool) >= at->count) {
		errno = ENOBUFS;
		return -1;
	}
	buffer = entry(&pool->ring, pool->tail++);
	buffer->addr = offset;
	buffer->length = size;
	buffer->id = id;
	store(&pool->ring, at->producer, pool->tail);
	return 0;
}

int rdmachan_pool_add(struct rdmachan_pool *pool, void *buffer, uint32_t size, uint32_t id)
{
	return rdmachan_pool_add_region(pool, (uintptr_t)buffer, size, id);
}
