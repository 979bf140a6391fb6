// SPDX-License-Identifier: GPL-2.0
/*
 * queue_end_test.c - queues: cancelling, overflow, hostile rings, and how all of it ends
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "grant.h"
#include "queue_fixture.h"
#include "region.h"

TEST_F(queue, cancel)
{
	struct queue *q = &self->q;
	char back[64];
	int i;

	for (i = 0; i < 4; i++)
		queue_recv(q, self->b, back, 64, i < 3 ? 1 : 2);
	ASSERT_EQ(queue_submit(q), 4);
	queue_cancel(q, 1, 0, 10);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 1, -ECANCELED);
	EXPECT_CQE(q, 10, 1);
	queue_cancel(q, 1, RDMACHAN_CANCEL_F_ALL, 11);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 1, -ECANCELED);
	EXPECT_CQE(q, 1, -ECANCELED);
	EXPECT_CQE(q, 11, 2);
	/* The one that is left is first now. */
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 2, 1);
	queue_cancel(q, 1, RDMACHAN_CANCEL_F_ALL, 12);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 12, -ENOENT);
}

TEST_F(queue, cancel_in_chains)
{
	struct queue *q = &self->q;
	char back[64];

	/* A later one: those before it go on. */
	queue_recv(q, self->b, back, 64, 1)->flags = LINK;
	queue_add(q, OP(NOP), 0, 2)->flags = LINK;
	queue_add(q, OP(NOP), 0, 3);
	ASSERT_EQ(queue_submit(q), 3);
	queue_cancel(q, 2, RDMACHAN_CANCEL_F_ALL, 4);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 2, -ECANCELED);
	EXPECT_CQE(q, 3, -ECANCELED);
	EXPECT_CQE(q, 4, 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 1, 1);
	/* The first, behind a DRAIN. */
	queue_recv(q, self->b, back, 64, 5);
	queue_add(q, OP(NOP), 0, 6)->flags = DRAIN | LINK;
	queue_add(q, OP(NOP), 0, 6);
	ASSERT_EQ(queue_submit(q), 3);
	queue_cancel(q, 6, RDMACHAN_CANCEL_F_ALL, 7);
	ASSERT_EQ(queue_submit(q), 1);
	EXPECT_CQE(q, 6, -ECANCELED);
	EXPECT_CQE(q, 6, -ECANCELED);
	EXPECT_CQE(q, 7, 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(q, 5, 1);
}

/* An address on our network that never answers. */
static struct rdmachan_addr silent_address(void)
{
	struct rdmachan_addr addr = own_address();
	char command[160];

	addr.addr[3] ^= 0x55;
	snprintf(command, sizeof(command),
		 "ip neigh replace %u.%u.%u.%u lladdr 02:00:00:00:00:99 dev %s",
		 addr.addr[0], addr.addr[1], addr.addr[2], addr.addr[3], getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
	return addr;
}

TEST_F(queue, cancel_connect_and_accept)
{
	int listener = do_listen(self->peer, SERVICE, NULL);
	struct rdmachan_connect_args connect;

	if (!getenv("LAB_DEV"))
		SKIP("LAB_DEV does not tell the interface");
	fill_in(&connect, SERVICE, NULL);
	connect.addr = silent_address();
	queue_connect(&self->q, &connect, 1);
	queue_add(&self->q, OP(ACCEPT), listener, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	queue_cancel(&self->q, 2, 0, 3);
	queue_cancel(&self->q, 1, 0, 4);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE(&self->q, 2, -ECANCELED);
	EXPECT_CQE(&self->q, 3, 1);
	EXPECT_CQE(&self->q, 1, -ECANCELED);
	EXPECT_CQE(&self->q, 4, 1);
}

static void *writer(void *arg)
{
	int fd = *(int *)arg;
	uint32_t i;

	for (i = 0; i < 2000; i++)
		if (write(fd, &i, 4) != 4)
			return NULL;
	return arg;
}

/* Messages come while receives are cancelled: none is lost, none comes twice. */
TEST_F(queue, cancel_races)
{
	uint32_t expect = 0, round = 0, back[8], i, cancelled;
	struct rdmachan_cqe cqe;
	pthread_t thread;
	void *result;

	ASSERT_EQ(pthread_create(&thread, NULL, writer, &self->a), 0);
	while (expect < 2000) {
		for (i = 0; i < 8; i++)
			queue_recv(&self->q, self->b, &back[i], 4, i);
		ASSERT_EQ(queue_submit(&self->q), 8);
		if (round++ % 2)
			sleep_ms(1);
		for (i = 0; i < 8; i++)
			queue_cancel(&self->q, i, 0, 8);
		ASSERT_EQ(queue_enter(&self->q, 8, 16, 10000), 8);
		for (i = 0, cancelled = 0; i < 16; i++) {
			ASSERT_TRUE(queue_next(&self->q, &cqe));
			if (cqe.user_data == 8)
				continue;
			if (cqe.res == -ECANCELED) {
				cancelled++;
				continue;
			}
			EXPECT_EQ(cqe.res, 4);
			EXPECT_EQ(back[cqe.user_data], expect);
			expect++;
		}
		ASSERT_LE(cancelled, 8);
	}
	pthread_join(thread, &result);
	EXPECT_TRUE(result);
}

/* An operation that will fail in its turn must not keep the queue until then. */
TEST_F(queue, entries_that_name_the_queue)
{
	struct rdmachan_info info;
	struct queue q;
	char back[8];

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	queue_recv(&q, self->b, back, 8, 1)->flags = LINK;
	queue_send(&q, q.fd, "x", 1, 2);
	queue_recv(&q, q.fd, back, 8, 3)->flags = DRAIN;
	queue_add(&q, OP(ACCEPT), q.fd, 4);
	ASSERT_EQ(queue_enter(&q, 4, 0, 0), 4);
	queue_close(&q);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
}

TEST_F(queue, overflow)
{
	uint32_t i, submitted;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 32, 4), 0);
	for (i = 0; i < 20; i++)
		queue_add(&q, OP(NOP), 0, i);
	/* Four in the ring, four in the kernel; and no more are taken. */
	EXPECT_EQ(queue_enter(&q, 20, 4, 1000), 8);
	EXPECT_EQ(queue_enter(&q, 20, 4, 1000), 0);
	EXPECT_EQ(queue_flags(&q), RDMACHAN_RING_F_OVERFLOW);
	EXPECT_EQ(*ring_word(q.cq_map, q.cq.overflow), 4);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), POLLIN);
	for (i = 0, submitted = 8; i < 20; i++) {
		EXPECT_CQE(&q, i, 0);
		if (i % 3)
			continue;
		submitted += queue_enter(&q, 20, 0, 0);
	}
	EXPECT_EQ(submitted, 20);
	EXPECT_EQ(queue_flags(&q), 0);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), 0);
	queue_close(&q);
}

/* When it is read empty, poll() still tells of those that wait. */
TEST_F(queue, overflow_and_poll)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 2), 0);
	for (i = 0; i < 4; i++) {
		queue_add(&q, OP(NOP), 0, i);
		ASSERT_EQ(queue_submit(&q), 1);
	}
	ASSERT_TRUE(queue_next(&q, &cqe));
	ASSERT_TRUE(queue_next(&q, &cqe));
	EXPECT_EQ(queue_next(&q, &cqe), false);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), POLLIN);
	EXPECT_CQE(&q, 2, 0);
	EXPECT_CQE(&q, 3, 0);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 0), 0);
	queue_close(&q);
}

TEST_F(queue, indices_that_cannot_be)
{
	struct queue *q = &self->q;
	uint32_t *producer = ring_word(q->sq_map, q->sq.producer);
	uint32_t *consumer = ring_word(q->cq_map, q->cq.consumer);
	uint32_t jumps[] = { 65, 0x80000000, 0xffffff00, 0x12345678 }, i;
	struct rdmachan_enter_args enter = { .size = sizeof(enter), .to_submit = 100 };

	for (i = 0; i < 4; i++) {
		*producer = jumps[i];
		EXPECT_ERR(ioctl(q->fd, RDMACHAN_ENTER, &enter), EINVAL);
	}
	for (i = 0; i < 4; i++) {
		*consumer = jumps[i];
		queue_add(q, OP(NOP), 0, i);
		EXPECT_EQ(queue_submit(q), 1);
		EXPECT_EQ(queue_enter(q, 0, 64, 1000), 0);
		EXPECT_EQ(poll_mask(q->fd, POLLIN, 0), POLLIN);
	}
	/* Put right, nothing was lost. */
	*consumer = 0;
	ASSERT_EQ(queue_enter(q, 0, 4, 1000), 0);
	for (i = 0; i < 4; i++)
		EXPECT_CQE(q, i, 0);
	/* The kernel's own are not read back. */
	*ring_word(q->sq_map, q->sq.consumer) = 0xdeadbeef;
	*ring_word(q->cq_map, q->cq.producer) = 0xdeadbeef;
	*ring_word(q->cq_map, q->cq.flags) = 0xffffffff;
	queue_add(q, OP(NOP), 0, 5);
	EXPECT_EQ(queue_submit(q), 1);
	EXPECT_EQ(queue_ready(q), 1);
	EXPECT_EQ(*ring_word(q->sq_map, q->sq.consumer), q->tail);
	EXPECT_CQE(q, 5, 0);
}

/*
 * Hostile rings
 */

#define HOSTILE_SERVICE (SERVICE + 1)
#define HOSTILE_BYTES 0x80000
#define HOSTILE_BUFFERS 64
#define HOSTILE_GUARD (2 * HOSTILE_BYTES)

/* Calls that entries point to. Data received at their addresses reaches nothing else. */
struct calls {
	struct rdmachan_connect_args connect;
	struct rdmachan_grant_args grant;
	struct rdmachan_grant_range ranges[RDMACHAN_GRANTS_MAX];
	char rest[HOSTILE_GUARD];
};

/* Another thread writes entries and indices while the kernel looks at them. */
struct scribbler {
	struct queue q;
	struct pool pool;
	bool polled;
	int fds[6];
	/* A context of the other host, and the same memory as a region there. */
	int peer;
	uint32_t region_there;
	/*
	 * A region, read-only and not; behind it the submission ring, and nothing: for any data
	 * received there, the program itself is spared.
	 */
	char *memory;
	size_t bytes;
	uint32_t regions[2];
	uint32_t grants[8];
	struct calls *calls;
	uint64_t seed;
	pthread_t thread;
	bool stop;
};

/* Members that operations use. */
enum {
	FD = 1 << 0,
	NO_FD = 1 << 1,
	ADDR = 1 << 2,
	LENGTH = 1 << 3,
	MSG_FLAGS = 1 << 4,
	OP_FLAGS = 1 << 5,
	TARGET = 1 << 6,
	AT = 1 << 7,
	GRANT = 1 << 8,
	POOL = 1 << 9,
	REGION = 1 << 10,
	/* Whose memory lies at a place of its own. */
	CALL = 1 << 11,
	/* It ends what others need. */
	SELDOM = 1 << 12,
	ACCESS = FD | GRANT | AT | ADDR,
};

static const unsigned int members[] = {
	[OP(NOP)] = 0,
	[OP(SEND)] = FD | ADDR | LENGTH | MSG_FLAGS | REGION,
	[OP(RECV)] = FD | ADDR | LENGTH | OP_FLAGS | REGION | POOL,
	[OP(ACCEPT)] = FD | OP_FLAGS,
	[OP(CONNECT)] = NO_FD | CALL,
	[OP(SHUTDOWN)] = FD | OP_FLAGS | SELDOM,
	[OP(CANCEL)] = NO_FD | OP_FLAGS | TARGET,
	[OP(READ)] = ACCESS | LENGTH | REGION,
	[OP(WRITE)] = ACCESS | LENGTH | REGION | OP_FLAGS | MSG_FLAGS,
	[OP(FETCH_ADD)] = ACCESS,
	[OP(COMPARE_SWAP)] = ACCESS | LENGTH,
	[OP(RELEASE)] = FD | GRANT | SELDOM,
	[OP(GRANT)] = FD | CALL,
	[OP(REVOKE)] = FD | GRANT | SELDOM,
};

#define KINDS (sizeof(members) / sizeof(*members))

static uint32_t pick(struct scribbler *s, uint32_t below)
{
	return (next_random(&s->seed) >> 32) % below;
}

/* Mostly @likely, and once in @rarity anything at all. */
static uint64_t or_any(struct scribbler *s, uint32_t rarity, uint64_t likely)
{
	return pick(s, rarity) ? likely : next_random(&s->seed) >> pick(s, 64);
}

/* Addresses at which no program has memory. */
static uint64_t bad_address(struct scribbler *s)
{
	static const uint64_t bad[] = {
		0, 1, 4096, 0x7ffffffff000ULL, 0x800000000000ULL, 0xffff888000000000ULL,
		0xffffffff81000000ULL, 0xfffffffffffff000ULL,
	};

	return pick(s, 4) ? bad[pick(s, 8)] + pick(s, 8) : (uintptr_t)s->memory + s->bytes;
}

/* An address, or an offset in a region. */
static uint64_t some_address(struct scribbler *s, bool region)
{
	if (region)
		return or_any(s, 16, pick(s, HOSTILE_BYTES));
	return pick(s, 16) ? (uintptr_t)s->memory + pick(s, s->bytes) : bad_address(s);
}

static uint64_t some_length(struct scribbler *s)
{
	static const uint32_t most[] = { 1, 64, 64, 9000, 70000, HOSTILE_BYTES };

	return pick(s, most[pick(s, 6)]);
}

static void *call_of(struct scribbler *s, unsigned int kind)
{
	struct rdmachan_grant_range *range = &s->calls->ranges[pick(s, RDMACHAN_GRANTS_MAX)];

	s->calls->connect.flags = or_any(s, 64, RDMACHAN_FD_F_CLOEXEC);
	s->calls->connect.timeout_ms = or_any(s, 64, 100);
	s->calls->grant.count = or_any(s, 64, 1 + pick(s, 3));
	range->region = or_any(s, 32, s->regions[0]);
	range->rights = or_any(s, 16, 1 + pick(s, 7));
	range->offset = or_any(s, 32, 8 * pick(s, 64));
	range->length = or_any(s, 32, HOSTILE_BYTES / 2);
	range->expires_ms = pick(s, 4) ? 0 : 1 + pick(s, 8);
	range->uses = pick(s, 4);
	return kind == OP(CONNECT) ? (void *)&s->calls->connect : &s->calls->grant;
}

/* What an operation names: channels and a listener, grants, a region, a pool. */
static void write_objects(struct scribbler *s, struct rdmachan_sqe *sqe, unsigned int uses)
{
	sqe->fd = uses & NO_FD ? -1 : 0;
	if (uses & FD)
		sqe->fd = pick(s, 16) ? s->fds[sqe->opcode == OP(ACCEPT) ? 2 : pick(s, 2)] :
			  pick(s, 2) ? s->fds[pick(s, 6)] : (int)pick(s, 64);
	sqe->grant = 0;
	if (uses & GRANT)
		sqe->grant = or_any(s, 16, pick(s, 4) ? s->grants[pick(s, 8)] :
					   s->calls->ranges[0].out_grant);
	sqe->target = 0;
	if (uses & AT)
		sqe->grant_offset = or_any(s, 16, 8 * pick(s, HOSTILE_BYTES / 16));
	if (uses & TARGET)
		sqe->target = or_any(s, 64, pick(s, 64));
	sqe->region = 0;
	if (uses & REGION && pick(s, 2)) {
		sqe->flags |= RDMACHAN_SQE_F_REGION;
		sqe->region = or_any(s, 16, s->regions[pick(s, 8) < 7]);
	}
}

static void write_memory(struct scribbler *s, struct rdmachan_sqe *sqe, unsigned int uses)
{
	bool region = sqe->flags & RDMACHAN_SQE_F_REGION;

	sqe->addr = 0;
	if (uses & CALL)
		sqe->addr = (uintptr_t)call_of(s, sqe->opcode);
	else if (uses & ADDR)
		sqe->addr = some_address(s, region);
	sqe->length = uses & LENGTH ? or_any(s, 16, some_length(s)) : 0;
	sqe->pool = 0;
	if (!(uses & POOL) || !(sqe->op_flags & RDMACHAN_RECV_F_MULTISHOT))
		return;
	sqe->flags &= ~RDMACHAN_SQE_F_REGION;
	sqe->region = 0;
	sqe->addr = pick(s, 16) ? 0 : bad_address(s);
	sqe->length = or_any(s, 16, 0);
	sqe->pool = or_any(s, 8, s->pool.id);
}

/* Most make sense, and as many do but for one member; others have anything anywhere. */
static void write_entry(struct scribbler *s, struct rdmachan_sqe *sqe)
{
	unsigned int kind = pick(s, KINDS), uses;

	if (members[kind] & SELDOM && pick(s, 4))
		kind = OP(SEND);
	uses = pick(s, 16) ? members[kind] : next_random(&s->seed);
	sqe->opcode = or_any(s, 64, kind);
	sqe->flags = pick(s, 2) ? 0 : or_any(s, 16, 1 << pick(s, 4));
	if (pick(s, 4))
		sqe->flags &= ~DRAIN;
	sqe->__reserved = or_any(s, 64, 0);
	sqe->msg_flags = uses & MSG_FLAGS ? or_any(s, 16, pick(s, 2)) : 0;
	sqe->op_flags = uses & OP_FLAGS ? or_any(s, 16, pick(s, 4)) : 0;
	sqe->timeout_ms = !pick(s, 8) ? 0 : or_any(s, 32, 1 + pick(s, 8));
	/* CANCEL finds them by it, and we what kind it was. */
	sqe->user_data = or_any(s, 64, kind | pick(s, 4) << 4);
	write_objects(s, sqe, uses);
	write_memory(s, sqe, uses);
}

static void write_buffer(struct scribbler *s)
{
	struct rdmachan_buffer *buffer = pool_entry(&s->pool, pick(s, HOSTILE_BUFFERS));
	uint32_t head = *ring_word(s->pool.map, s->pool.at.consumer);

	buffer->addr = some_address(s, false);
	buffer->length = or_any(s, 16, some_length(s));
	buffer->id = next_random(&s->seed);
	*ring_word(s->pool.map, s->pool.at.producer) =
		or_any(s, 64, head + pick(s, HOSTILE_BUFFERS + 1));
}

static void write_indices(struct scribbler *s)
{
	struct queue *q = &s->q;

	if (!pick(s, 64))
		*ring_word(q->cq_map, q->cq.consumer) = next_random(&s->seed);
	if (!pick(s, 64))
		*ring_word(q->sq_map, q->sq.producer) = next_random(&s->seed);
	if (!s->polled)
		return;
	*ring_word(q->sq_map, q->sq.producer) =
		or_any(s, 64, *ring_word(q->sq_map, q->sq.consumer) + pick(s, 65));
	*ring_word(q->sq_map, q->sq.flags) = next_random(&s->seed);
}

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	struct rdmachan_sqe *sqes = (struct rdmachan_sqe *)(s->q.sq_map + s->q.sq.entries);

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		write_entry(s, &sqes[pick(s, s->q.sq.count)]);
		write_indices(s);
		if (!pick(s, 4))
			write_buffer(s);
		/* There may be one processor. */
		if (!pick(s, 64)) {
			sched_yield();
			let_time_pass();
		}
	}
	return NULL;
}

/* By one end of the channel to the other, which holds them then. */
static void lend_some(struct scribbler *s, int end, uint32_t grants[4])
{
	const uint32_t region = end ? s->region_there : s->regions[0];
	int i;

	for (i = 0; i < 4; i++) {
		int64_t grant = grant_range(s->fds[end], end ? s->peer : s->fds[4],
					    &RANGE(region, MAY_ALL, 0, HOSTILE_BYTES));

		ASSERT_GT(grant, 0);
		ASSERT_TRUE(grant_held(s->fds[!end], grant));
		grants[i] = grant;
	}
}

static void hostile_memory(struct scribbler *s, int ctx)
{
	s->bytes = HOSTILE_BYTES + s->q.sq.length;
	s->memory = mmap(NULL, s->bytes + HOSTILE_GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	ASSERT_EQ(mprotect(s->memory, HOSTILE_BYTES, PROT_READ | PROT_WRITE), 0);
	ASSERT_TRUE(mmap(s->memory + HOSTILE_BYTES, s->q.sq.length, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, s->q.fd, s->q.sq.offset) != MAP_FAILED);
	s->regions[0] = region_register(ctx, s->memory, HOSTILE_BYTES, 0, NULL);
	s->regions[1] = region_register(ctx, s->memory, HOSTILE_BYTES,
					RDMACHAN_REGION_F_READ_ONLY, NULL);
	s->region_there = region_register(s->peer, s->memory, HOSTILE_BYTES, 0, NULL);
}

static void scribbler_begin(struct scribbler *s, int ctx, bool polled, uint64_t seed)
{
	/* Nothing is left over for the next turn. */
	const struct rdmachan_tuning tuning = { 65536, 65536, 0, RDMACHAN_LINGER_NONE };
	struct opts o = { .flags = RDMACHAN_FD_F_CLOEXEC, .tuning = tuning };
	int i;

	*s = (struct scribbler){ .polled = polled, .seed = seed };
	ASSERT_EQ(queue_open_with(ctx, &s->q, 64, 64, polled ? RDMACHAN_QUEUE_F_POLLER : 0, 0), 0);
	ASSERT_EQ(pool_open(&s->q, &s->pool, HOSTILE_BUFFERS), 0);
	s->peer = open_peer();
	hostile_memory(s, ctx);
	pair_up(ctx, s->fds, &o);
	s->fds[2] = do_listen(s->peer, HOSTILE_SERVICE, &o);
	s->fds[3] = s->q.fd;
	s->fds[4] = ctx;
	s->fds[5] = open("/dev/null", O_RDWR | O_CLOEXEC);
	ASSERT_GE(s->fds[2], 0);
	lend_some(s, 0, s->grants);
	lend_some(s, 1, s->grants + 4);
	s->calls = mmap(NULL, sizeof(*s->calls), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(s->calls != MAP_FAILED);
	fill_connect(&s->calls->connect, HOSTILE_SERVICE, &o);
	for (i = 0; i < RDMACHAN_GRANTS_MAX; i++)
		s->calls->ranges[i] = RANGE(s->regions[0], MAY_ALL, 0, HOSTILE_BYTES);
	grant_fill(&s->calls->grant, ctx, s->calls->ranges, 1, NULL);
	ASSERT_EQ(pthread_create(&s->thread, NULL, scribble, s), 0);
}

static void scribbler_end(struct scribbler *s, int ctx)
{
	unsigned int last = s->fds[5];
	int i;

	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
	pthread_join(s->thread, NULL);
	pool_close(&s->pool);
	munmap(s->memory, s->bytes + HOSTILE_GUARD);
	munmap(s->calls, sizeof(*s->calls));
	queue_close(&s->q);
	for (i = 0; i < 3; i++)
		close(s->fds[i]);
	close(s->fds[5]);
	/* What CONNECT and ACCEPT have made. */
	ASSERT_EQ(close_range(last + 1, ~0U, 0), 0);
	region_unregister(ctx, s->regions[0]);
	region_unregister(ctx, s->regions[1]);
	close(s->peer);
	ASSERT_TRUE(await_channels(ctx, 2));
}

/* Read completions. @good: of each kind, those that have succeeded */
static void tally(struct scribbler *s, uint32_t *good)
{
	struct rdmachan_cqe cqe;
	uint32_t i;

	for (i = 0; i < s->q.cq.count && queue_next(&s->q, &cqe); i++)
		if (cqe.res >= 0 && cqe.user_data < 64)
			good[cqe.user_data % 16]++;
	/* What the other thread has written there ends now. */
	*ring_word(s->q.cq_map, s->q.cq.consumer) = s->q.head;
}

/* A fifth of a second on channels that are new. */
static void hostile_turn(int ctx, bool polled, uint64_t seed, uint32_t *good)
{
	int64_t until;
	struct scribbler s;

	scribbler_begin(&s, ctx, polled, seed);
	for (until = now_ms() + 200; now_ms() < until; ) {
		if (polled) {
			queue_wake(&s.q);
			sleep_ms(1);
		} else {
			s.q.tail = *ring_word(s.q.sq_map, s.q.sq.consumer) +
				   next_random(&seed) % 65;
			queue_enter(&s.q, 64, next_random(&seed) % 3, 1);
		}
		tally(&s, good);
	}
	scribbler_end(&s, ctx);
}

/* Until each kind of operation was at work, and not merely refused. */
static void hostile_turns(int ctx, bool polled)
{
	int64_t begun = now_ms();
	uint32_t good[16] = { 0 }, least;
	uint64_t seed = 1;
	unsigned int i;

	do {
		hostile_turn(ctx, polled, seed++, good);
		for (i = 0, least = good[0]; i < KINDS; i++)
			least = good[i] < least ? good[i] : least;
	} while ((now_ms() < begun + 3000 || least < 10) &&
		 now_ms() < begun + 120000LL * harness_slow());
	printf("# %d turns\n", (int)seed - 1);
	for (i = 0; i < KINDS; i++) {
		printf("# operation %u has succeeded %u times\n", i, good[i]);
		EXPECT_GE(good[i], 10);
	}
}

/* Others have not noticed. */
static void still_works(struct fixture_queue *self)
{
	char back[8];
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	EXPECT_EQ(write(fds[0], "x", 1), 1);
	EXPECT_EQ(read(fds[1], back, 8), 1);
}

TEST_F_TIMEOUT(queue, hostile_writer, 180)
{
	hostile_turns(self->ctx, false);
	still_works(self);
}

TEST_F_TIMEOUT(queue, poller_under_a_hostile_writer, 180)
{
	hostile_turns(self->ctx, true);
	still_works(self);
}

TEST_F_TIMEOUT(queue, thousand_channels, 240)
{
	const struct opts o = { .tuning = { RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MIN, 0, 0 } };
	const struct rlimit limit = { 4096, 4096 };
	static int ends[1000][2], back[1000];
	struct rdmachan_cqe cqe;
	struct queue q;
	int i, listener;

	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ASSERT_EQ(queue_open(self->ctx, &q, 1024, 1024), 0);
	listener = do_listen(self->peer, SERVICE, &o);
	ASSERT_GE(listener, 0);
	for (i = 0; i < 1000; i++) {
		ends[i][0] = do_connect(self->ctx, SERVICE, &o);
		ends[i][1] = do_accept(listener, NULL);
		ASSERT_GE(ends[i][1], 0);
		queue_recv(&q, ends[i][1], &back[i], 4, i);
	}
	ASSERT_EQ(queue_submit(&q), 1000);
	for (i = 999; i >= 0; i--)
		ASSERT_EQ(write(ends[i][0], &i, 4), 4);
	for (i = 0; i < 1000; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		ASSERT_LT(cqe.user_data, 1000);
		EXPECT_EQ(back[cqe.user_data], (int)cqe.user_data);
	}
	/* And all of them send. */
	for (i = 0; i < 1000; i++)
		queue_send(&q, ends[i][1], &i, 4, i);
	ASSERT_EQ(queue_enter(&q, 1000, 1000, 30000), 1000);
	for (i = 0; i < 1000; i++)
		EXPECT_EQ(read(ends[i][0], &back[i], 4), 4);
	queue_close(&q);
}

/* The queue is not the child's, nor are its mappings there. */
TEST_F(queue, fork)
{
	unsigned char resident;
	int status;
	pid_t child;

	queue_add(&self->q, OP(NOP), 0, 1);
	child = fork();
	if (!child) {
		struct rdmachan_enter_args enter = { .size = sizeof(enter), .to_submit = 1 };

		EXPECT_ERR(ioctl(self->q.fd, RDMACHAN_ENTER, &enter), EPERM);
		EXPECT_EQ(ring_map(self->q.fd, &self->q.sq) == MAP_FAILED, true);
		EXPECT_EQ(errno, EPERM);
		EXPECT_ERR(mincore(self->q.sq_map, 4096, &resident), ENOMEM);
		EXPECT_EQ(poll_mask(self->q.fd, POLLIN, 0), 0);
		_exit(harness_failures);
	}
	status = child_status(child);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 0);
}

/* Operations are under way when the program becomes another one. */
TEST_F(queue, exec)
{
	char back[64];
	pid_t child = fork();

	if (!child) {
		struct queue q;

		if (queue_open(self->ctx, &q, 8, 8))
			_exit(1);
		fcntl(q.fd, F_SETFD, 0);
		queue_recv(&q, self->b, back, 64, 1);
		queue_submit(&q);
		execl("/bin/sleep", "sleep", "60", NULL);
		execl("/bin/busybox", "sleep", "60", NULL);
		_exit(2);
	}
	wait_exec(child);
	EXPECT_EQ(write(self->a, "x", 1), 1);
	kill(child, SIGTERM);
	child_status(child);
	EXPECT_EQ(read(self->b, back, 64), 1);
}

TEST_F(queue, close_in_flight)
{
	char back[64];
	struct queue q;
	int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
		queue_recv(&q, self->b, back, 64, 1);
		queue_recv(&q, self->b, back, 64, 2);
		queue_recv(&q, self->a, back, 64, 3)->flags = LINK;
		queue_add(&q, OP(NOP), 0, 4);
		queue_add(&q, OP(NOP), 0, 5)->flags = DRAIN;
		ASSERT_EQ(queue_submit(&q), 5);
		if (i % 2)
			ASSERT_EQ(write(self->a, "x", 1), 1);
		queue_close(&q);
		/* Either the first has it, or nobody. */
		if (i % 2)
			do_recv(self->b, back, 64, NULL, TIMEOUT(20));
	}
	ASSERT_EQ(write(self->a, "there", 5), 5);
	EXPECT_EQ(read(self->b, back, 64), 5);
}

/* An operation keeps its channel open; when it is over the peer finds the end. */
TEST_F(queue, channel_closed_in_flight)
{
	char back[64];

	queue_recv(&self->q, self->b, back, 64, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	close(self->b);
	self->b = -1;
	EXPECT_EQ(poll_mask(self->a, POLLRDHUP, 50), 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_TRUE(poll_mask(self->a, POLLRDHUP, 10000) & POLLRDHUP);
}

TEST_F(queue, peer_closes)
{
	struct rdmachan_cqe cqe;
	char back[64];

	queue_recv(&self->q, self->b, back, 64, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	close(self->a);
	self->a = -1;
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_EOF);
	queue_send(&self->q, self->b, "x", 1, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 2, -EPIPE);
}

/* A program that is killed with operations under way, once while it waits in a call. */
TEST_F(queue, killed)
{
	int fds[2], i, ready[2];
	struct rdmachan_cqe cqe;
	char back[64];
	pid_t child;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(pipe(ready), 0);
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			struct queue q;

			close(fds[0]);
			if (queue_open(self->ctx, &q, 8, 8))
				_exit(1);
			queue_recv(&q, fds[1], back, 64, 1);
			queue_submit(&q);
			close(fds[1]);
			if (write(ready[1], "x", 1) == 1 && i)
				queue_enter(&q, 0, 1, 0);
			for (;;)
				pause();
		}
		close(fds[1]);
		queue_recv(&self->q, fds[0], back, 64, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		ASSERT_EQ(read(ready[0], back, 1), 1);
		kill(child, SIGKILL);
		child_status(child);
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.res, -ECONNRESET);
		close(fds[0]);
	}
}

static void *echo(void *arg)
{
	struct fixture_queue *self = arg;
	char buffer[64];
	ssize_t len;
	int i;

	for (i = 0; i < 2000; i++) {
		len = read(self->a, buffer, sizeof(buffer));
		if (len < 0 || write(self->a, buffer, len) != len)
			return NULL;
	}
	return arg;
}

static void *reap(void *arg)
{
	struct queue *q = arg;
	int i;

	for (i = 0; i < 500; i++)
		queue_enter(q, 0, 1, 1);
	return arg;
}

/* Another thread is in and out of calls: ready operations are not forgotten between. */
TEST_F(queue, two_threads)
{
	pthread_t peer, other;
	struct rdmachan_cqe cqe;
	char back[64];
	void *result;
	int i;

	ASSERT_EQ(pthread_create(&peer, NULL, echo, self), 0);
	ASSERT_EQ(pthread_create(&other, NULL, reap, &self->q), 0);
	for (i = 0; i < 2000; i++) {
		queue_recv(&self->q, self->b, back, 64, 1);
		queue_send(&self->q, self->b, &i, 4, 2)->flags = SKIP_SUCCESS;
		ASSERT_EQ(queue_submit(&self->q), 2);
		ASSERT_TRUE(queue_watch(&self->q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(memcmp(back, &i, 4), 0);
	}
	pthread_join(peer, &result);
	EXPECT_TRUE(result);
	pthread_join(other, NULL);
}

TEST_F(queue, limits)
{
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rdmachan_queue_create_args create = {
		.size = sizeof(create), .sq_entries = 1, .cq_entries = 1,
		.sqe_size = sizeof(struct rdmachan_sqe), .cqe_size = sizeof(struct rdmachan_cqe),
		.error_ptr = (uintptr_t)&error,
	};
	struct rdmachan_info info;
	struct queue q;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_QUEUE);
	set_parameter("all_queues", 1);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_QUEUE_CREATE, &create), ENOSPC);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TOTAL_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_QUEUES);
	set_parameter("all_queues", 4096);
	EXPECT_EQ(queue_open(self->ctx, &q, 1, 1), 0);
	queue_close(&q);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
}

/* Return: whether the queue that was made last is listed, and how. */
static bool last_queue(int ctx, struct rdmachan_object *found)
{
	static struct rdmachan_object objects[64];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects, .objects_max = 64,
		.object_size = sizeof(*objects),
	};
	bool there = false;
	uint32_t i;

	ASSERT_EQ(ioctl(ctx, RDMACHAN_LIST, &list), 0);
	for (i = 0; i < list.out_count; i++) {
		if (objects[i].kind != RDMACHAN_KIND_QUEUE)
			continue;
		*found = objects[i];
		there = true;
	}
	return there;
}

/* Each member is of its own kind. */
static void expect_queue(const struct rdmachan_object *about)
{
	EXPECT_EQ(about->operations, 2);
	EXPECT_EQ(about->sq_taken, 3);
	EXPECT_EQ(about->cq_completions, 1);
	EXPECT_EQ(about->cq_overflows, 0);
	EXPECT_EQ(about->sq_entries, 8);
	EXPECT_EQ(about->cq_entries, 16);
	EXPECT_EQ(about->pools, 0);
	EXPECT_EQ(about->channels, 0);
	EXPECT_EQ(about->tx_messages, 0);
	EXPECT_EQ(about->send_buffer, 0);
}

TEST_F(queue, queues_are_listed)
{
	struct rdmachan_object about;
	struct pool pool;
	struct queue q;
	char back[64];
	uint64_t id;

	ASSERT_TRUE(last_queue(self->ctx, &about));
	id = about.id;
	ASSERT_EQ(queue_open(self->ctx, &q, 8, 16), 0);
	queue_recv(&q, self->b, back, 64, 1);
	queue_recv(&q, self->b, back, 64, 2);
	queue_add(&q, OP(NOP), 0, 3);
	ASSERT_EQ(queue_submit(&q), 3);
	ASSERT_TRUE(last_queue(self->ctx, &about));
	EXPECT_GT(about.id, id);
	EXPECT_EQ(about.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(about.uid, getuid());
	expect_queue(&about);
	/* A queue tells the same of itself. */
	memset(&about, 0xee, sizeof(about));
	ASSERT_EQ(get_object(q.fd, &about), 0);
	EXPECT_EQ(about.kind, RDMACHAN_KIND_QUEUE);
	expect_queue(&about);
	ASSERT_EQ(pool_open(&q, &pool, 4), 0);
	ASSERT_EQ(get_object(q.fd, &about), 0);
	EXPECT_EQ(about.pools, 1);
	pool_close(&pool);
	queue_close(&q);
	ASSERT_TRUE(last_queue(self->ctx, &about));
	EXPECT_EQ(about.id, id);
}

static void *lists(void *arg)
{
	struct fixture_queue *self = arg;
	struct rdmachan_object about;
	int i;

	for (i = 0; i < 500; i++)
		last_queue(self->ctx, &about);
	return NULL;
}

/* Queues end while others look at them. */
TEST_F(queue, listed_while_they_end)
{
	pthread_t thread;
	struct queue q;
	char back[64];
	int i;

	ASSERT_EQ(pthread_create(&thread, NULL, lists, self), 0);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
		queue_recv(&q, self->b, back, 64, 1);
		ASSERT_EQ(queue_submit(&q), 1);
		queue_close(&q);
	}
	ASSERT_EQ(pthread_join(thread, NULL), 0);
}

TEST_HARNESS_MAIN
