// SPDX-License-Identifier: GPL-2.0
/*
 * calls_queue.c - what a hostile program does with the rings of its queues
 *
 * Rings have fixed places, which are those of the queue that was made last. Threads write
 * there as they like, also where the kernel does, and while it reads.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"
#include "abi_fuzz.h"

#define PICK(table, value) ((table)[(value) % (sizeof(table) / sizeof(*(table)))])
/* Of each ring so much is there. */
#define RING_SIZE (16 * 4096UL)

static char *rings;
static bool dirty;
static struct rdmachan_ring at[RINGS];

static char *ring_of(unsigned int ring)
{
	return rings + ring % RINGS * RING_SIZE;
}

static bool is_inside(uint32_t offset, size_t size)
{
	return offset <= RING_SIZE - size;
}

/* The completions that nobody has looked at. The rings are there, with any contents. */
static void harvest(void)
{
	const struct rdmachan_ring *cq = &at[RING_CQ];
	uint32_t first, end, entry;
	struct rdmachan_cqe cqe;
	char *ring = ring_of(RING_CQ);

	if (!cq->count || !is_inside(cq->producer, 4) || !is_inside(cq->consumer, 4))
		return;
	memcpy(&first, ring + cq->consumer, 4);
	memcpy(&end, ring + cq->producer, 4);
	for (; first != end && end - first <= cq->count; first++) {
		entry = cq->entries + (first & (cq->count - 1)) * sizeof(cqe);
		if (!is_inside(entry, sizeof(cqe)))
			return;
		memcpy(&cqe, ring + entry, sizeof(cqe));
		reach_completed(cqe.user_data, cqe.res);
	}
}

/* Nobody's rings, where threads can write all the same. */
void queue_reset(void)
{
	const int own = MAP_PRIVATE | MAP_ANONYMOUS;

	if (rings && !dirty)
		return;
	if (rings)
		harvest();
	memset(at, 0, sizeof(at));
	rings = mmap(rings, RINGS * RING_SIZE, PROT_READ | PROT_WRITE,
		     rings ? own | MAP_FIXED : own, -1, 0);
	if (rings == MAP_FAILED)
		engine_complain("no memory for rings");
	dirty = false;
}

void queue_map(int fd, unsigned int ring, const struct rdmachan_ring *where)
{
	size_t length = where->length < RING_SIZE ? where->length : RING_SIZE;

	if (!length)
		return;
	dirty = true;
	at[ring % RINGS] = *where;
	if (mmap(ring_of(ring), length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 where->offset) == MAP_FAILED)
		at[ring % RINGS].count = 0;
}

/* Return: where an entry of @size bytes goes. */
static char *next_place(struct actor *actor, unsigned int ring, size_t size, uint32_t *producer)
{
	uint32_t count = at[ring].count ? at[ring].count : 1;
	size_t offset;

	if (!memory_copy(actor, producer, ring_of(ring) + at[ring].producer, 4))
		return NULL;
	offset = at[ring].entries + (size_t)(*producer & (count - 1)) * size;
	return offset + size <= RING_SIZE ? ring_of(ring) + offset : NULL;
}

/* Put an entry in, as honest programs do. */
static long put(struct actor *actor, unsigned int ring, const void *entry, size_t size)
{
	uint32_t producer;
	char *place = next_place(actor, ring, size, &producer);

	if (!place || !memory_copy(actor, place, entry, size))
		return 0;
	producer++;
	atomic_thread_fence(memory_order_release);
	memory_copy(actor, ring_of(ring) + at[ring].producer, &producer, 4);
	return 0;
}

static void spoil(struct rdmachan_sqe *sqe, unsigned int value)
{
	static const uint32_t words[] = { 0xffffffff, 1, 0x80000000, 0x10000, 0xfffffff8 };

	if (value)
		memcpy((char *)sqe + 4 * (value % 16), &PICK(words, value / 16), 4);
}

static void name_memory(struct rdmachan_sqe *sqe, const struct call *call)
{
	static const uint64_t offsets[] = { 0, 1, 4096, 65536, 1 << 17, ~0ULL };

	if (sqe->flags & RDMACHAN_SQE_F_REGION) {
		sqe->region = region_of(call->value[2]);
		sqe->addr = PICK(offsets, call->value[4]);
		sqe->length = length_of(call->value[3]);
		return;
	}
	sqe->addr = (uintptr_t)memory_of(call->value[2]);
	sqe->length = length_of(call->value[3]);
}

/* Of a message, in pieces if @call says so. */
static void name_message(struct actor *actor, struct rdmachan_sqe *sqe, const struct call *call)
{
	name_memory(sqe, call);
	if (!(call->value[1] & 32))
		return;
	sqe->flags |= RDMACHAN_SQE_F_IOV;
	sqe->length = make_vector(actor, call->value[4], length_of(call->value[3]));
	sqe->addr = vector_at(actor, call->value[4], sqe->length);
}

static void name_grant(struct rdmachan_sqe *sqe, const struct call *call)
{
	static const uint64_t offsets[] = { 0, 8, 64, 4096, 5000, 1 << 20, ~0ULL };

	sqe->op_flags = sqe->opcode == RDMACHAN_OPCODE_WRITE && call->value[4] & 8 ?
			RDMACHAN_WRITE_F_NOTIFY : 0;
	sqe->grant = grant_of(call->value[6] / 4);
	sqe->grant_offset = PICK(offsets, call->value[4]);
}

static const uint8_t opcodes[] = {
	RDMACHAN_OPCODE_RECV, RDMACHAN_OPCODE_SEND, RDMACHAN_OPCODE_NOP,
	RDMACHAN_OPCODE_ACCEPT, RDMACHAN_OPCODE_CONNECT, RDMACHAN_OPCODE_SHUTDOWN,
	RDMACHAN_OPCODE_CANCEL, 200, RDMACHAN_OPCODE_READ, RDMACHAN_OPCODE_WRITE,
	RDMACHAN_OPCODE_FETCH_ADD, RDMACHAN_OPCODE_COMPARE_SWAP,
	RDMACHAN_OPCODE_RELEASE, RDMACHAN_OPCODE_GRANT, RDMACHAN_OPCODE_REVOKE,
	RDMACHAN_OPCODE_FINISH, RDMACHAN_OPCODE_MESSAGE,
};

static uint64_t data_of(unsigned int opcode, unsigned int value)
{
	return (uint64_t)opcode << OPCODE_SHIFT | value % 4;
}

/* value: opcode, flags, memory, length, flags of the operation, timeout, user data, spoiled */
long call_entry(struct actor *actor, const struct call *call)
{
	struct rdmachan_sqe sqe = {
		.opcode = PICK(opcodes, call->value[0]),
		.flags = call->value[1] % 16 |
			 (call->value[1] & 16 ? RDMACHAN_SQE_F_REGION : 0),
		.fd = fd_of(call->slot),
		.op_flags = call->value[4] % 5,
	};

	sqe.user_data = data_of(sqe.opcode, call->value[6]);
	if (call->value[5])
		sqe.timeout_ms = timeout_of(call->value[5]);
	switch (sqe.opcode) {
	case RDMACHAN_OPCODE_RECV:
		if (sqe.flags & RDMACHAN_SQE_F_REGION)
			sqe.op_flags = 0;
		if (sqe.op_flags)
			sqe.pool = call->value[3] % 4;
		else
			name_message(actor, &sqe, call);
		break;
	case RDMACHAN_OPCODE_SEND:
		name_message(actor, &sqe, call);
		sqe.op_flags = sqe.op_flags == 4 ? RDMACHAN_SEND_F_DELIVERED : 0;
		break;
	case RDMACHAN_OPCODE_READ:
	case RDMACHAN_OPCODE_WRITE:
		name_memory(&sqe, call);
		name_grant(&sqe, call);
		break;
	case RDMACHAN_OPCODE_COMPARE_SWAP:
		sqe.compare = call->value[3];
		sqe.operand = call->value[2];
		name_grant(&sqe, call);
		break;
	case RDMACHAN_OPCODE_FETCH_ADD:
		sqe.operand = call->value[2];
		name_grant(&sqe, call);
		break;
	case RDMACHAN_OPCODE_GRANT:
		sqe.addr = (uintptr_t)memory_args(actor, call->value[2],
						  sizeof(struct rdmachan_grant_args));
		sqe.op_flags = 0;
		break;
	case RDMACHAN_OPCODE_REVOKE:
	case RDMACHAN_OPCODE_RELEASE:
		name_grant(&sqe, call);
		sqe.grant_offset = 0;
		break;
	case RDMACHAN_OPCODE_FINISH:
		sqe.op_flags = 0;
		break;
	case RDMACHAN_OPCODE_CONNECT:
		sqe.addr = (uintptr_t)memory_args(actor, call->value[2], 64);
		sqe.fd = -1;
		break;
	case RDMACHAN_OPCODE_CANCEL:
		sqe.target = data_of(PICK(opcodes, call->value[3] / 4), call->value[3]);
		sqe.fd = -1;
		break;
	case RDMACHAN_OPCODE_ACCEPT:
		if (call->value[4] & 8)
			sqe.op_flags |= RDMACHAN_ACCEPT_F_MULTISHOT;
		break;
	case RDMACHAN_OPCODE_MESSAGE:
		sqe.target = call->value[2];
		sqe.length = call->value[3];
		sqe.op_flags = 0;
		break;
	case RDMACHAN_OPCODE_NOP:
		sqe.fd = 0;
	}
	spoil(&sqe, call->value[7]);
	return put(actor, RING_SQ, &sqe, sizeof(sqe));
}

/* value: memory, length */
long call_buffer(struct actor *actor, const struct call *call)
{
	struct rdmachan_buffer buffer = {
		.addr = (uintptr_t)memory_of(call->value[0]),
		.length = call->value[1] ? length_of(call->value[1]) : 1 << 20,
		.id = call->value[2],
	};

	return put(actor, RING_POOL, &buffer, sizeof(buffer));
}

/* The completions from @first to before @end, as far as the ring has them. */
static void look(struct actor *actor, uint32_t first, uint32_t end)
{
	uint32_t count = at[RING_CQ].count;
	struct rdmachan_cqe cqe;
	size_t offset;

	for (; count && first != end && end - first <= count; first++) {
		offset = at[RING_CQ].entries + (size_t)(first & (count - 1)) * sizeof(cqe);
		if (offset + sizeof(cqe) > RING_SIZE ||
		    !memory_copy(actor, &cqe, ring_of(RING_CQ) + offset, sizeof(cqe)))
			return;
		reach_completed(cqe.user_data, cqe.res);
	}
}

/* Look at completions, and give their places back. */
long call_reap(struct actor *actor, const struct call *call)
{
	char *consumer = ring_of(RING_CQ) + at[RING_CQ].consumer;
	uint32_t first, producer;

	(void)call;
	if (!memory_copy(actor, &producer, ring_of(RING_CQ) + at[RING_CQ].producer, 4) ||
	    !memory_copy(actor, &first, consumer, 4))
		return 0;
	look(actor, first, producer);
	memory_copy(actor, consumer, &producer, 4);
	return 0;
}

/* value: ring, where, what */
long call_scribble(struct actor *actor, const struct call *call)
{
	static const uint32_t words[] = { 0xffffffff, 0, 1, 0x80000000, 8, 64, 0x7fffffff };
	static const uint32_t places[] = { 0, 64, 128, 132, 192, 196, 200, 208, 248, 256, 4092 };

	memory_copy(actor, ring_of(call->value[0]) + PICK(places, call->value[1]),
		    &PICK(words, call->value[2]), 4);
	return 0;
}
