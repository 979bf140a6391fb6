// SPDX-License-Identifier: GPL-2.0
/*
 * queue_pool_test.c - queues: one RECV for many messages, into buffers of a pool
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "pool_scribble.h"
#include "queue_fixture.h"

#define MANY RDMACHAN_RECV_F_MULTISHOT
#define MORE RDMACHAN_CQE_F_MORE
#define BUFFER RDMACHAN_CQE_F_BUFFER
#define SIZE 256

static char memory[64][SIZE];

/* A pool with buffers 0 to @count - 1 in it. */
static void make_pool(struct queue *q, struct pool *pool, uint32_t entries, uint32_t count)
{
	uint32_t i;

	ASSERT_EQ(pool_open(q, pool, entries), 0);
	memset(memory, 1, sizeof(memory));
	for (i = 0; i < count; i++)
		pool_put(pool, memory[i], SIZE, i);
}

/* The next completion is of a part of @data and has @bytes in buffer @id. */
#define EXPECT_PART(q, data, bytes, id)					\
	do {								\
		struct rdmachan_cqe part_;				\
									\
		ASSERT_TRUE(queue_wait(q, &part_));			\
		EXPECT_EQ(part_.user_data, (uint64_t)(data));		\
		EXPECT_EQ(part_.res, (int64_t)(bytes));			\
		EXPECT_EQ(part_.length, (bytes));			\
		EXPECT_EQ(part_.flags, (bytes) ? MORE | BUFFER : MORE);	\
		EXPECT_EQ(part_.buffer, (id));				\
	} while (0)

/* The next completion is the last of @data. */
#define EXPECT_LAST(q, data, result, want)				\
	do {								\
		struct rdmachan_cqe last_;				\
									\
		ASSERT_TRUE(queue_wait(q, &last_));			\
		EXPECT_EQ(last_.user_data, (uint64_t)(data));		\
		EXPECT_EQ(last_.res, (int64_t)(result));		\
		EXPECT_EQ(last_.flags, (uint32_t)(want));		\
	} while (0)

TEST_F(queue, pools_check_their_sizes)
{
	static const uint32_t bad[] = { 0, 3, 65, 32769, 65536, 0x80000000, 0xffffffff };
	struct pool pool;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_ERR(pool_open(&self->q, &pool, bad[i]), EINVAL);
	for (i = 0; i < RDMACHAN_QUEUE_POOLS_MAX; i++) {
		ASSERT_EQ(pool_open(&self->q, &pool, i % 8 ? 1 : 32768), 0);
		EXPECT_EQ(pool.id, i);
		pool_close(&pool);
	}
	EXPECT_ERR(pool_open(&self->q, &pool, 1), ENOSPC);
}

TEST_F(queue, pool_mapping_checks)
{
	int rw = PROT_READ | PROT_WRITE;
	struct queue *q = &self->q;
	struct pool pool;

	ASSERT_EQ(pool_open(q, &pool, 1), 0);
	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_PRIVATE, q->fd, pool.at.offset) == MAP_FAILED, true);
	EXPECT_EQ(mmap(NULL, 8192, rw, MAP_SHARED, q->fd, pool.at.offset) == MAP_FAILED, true);
	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_SHARED, q->fd, pool.at.offset + 4096) ==
		  MAP_FAILED, true);
	/* Pools that are not there. */
	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_SHARED, q->fd, pool.at.offset + (1 << 20)) ==
		  MAP_FAILED, true);
	EXPECT_EQ(mmap(NULL, 4096, rw, MAP_SHARED, q->fd, pool.at.offset + (64 << 20)) ==
		  MAP_FAILED, true);
}

TEST_F(queue, pools_are_the_program_s)
{
	struct rdmachan_pool_create_args create = {
		.size = sizeof(create), .entries = 1, .buffer_size = sizeof(struct rdmachan_buffer),
	};
	pid_t child = fork();

	if (!child)
		_exit(ioctl(self->q.fd, RDMACHAN_POOL_CREATE, &create) != -1 || errno != EPERM);
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(queue, pools_are_charged)
{
	struct rdmachan_info info;
	struct pool pool;
	uint64_t before;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	before = info.out_use_bytes.user;
	ASSERT_EQ(pool_open(&self->q, &pool, 1024), 0);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_GE(info.out_use_bytes.user - before, 1024 * sizeof(struct rdmachan_buffer));
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_POOL);
}

TEST_F(queue, bad_multishot_entries)
{
	const struct rdmachan_sqe plain = {
		.opcode = OP(RECV), .fd = self->b, .op_flags = MANY,
	};
	struct rdmachan_sqe bad[8];
	const int errors[] = { EINVAL, EINVAL, EINVAL, EINVAL, EOPNOTSUPP, ENOENT, ENOENT, EINVAL };
	struct pool pool;
	int i;

	ASSERT_EQ(pool_open(&self->q, &pool, 1), 0);
	for (i = 0; i < 8; i++)
		bad[i] = plain;
	bad[0].addr = (uintptr_t)memory;
	bad[1].length = 1;
	bad[2].flags = LINK;
	bad[3].flags = SKIP_SUCCESS;
	bad[4].op_flags = MANY | 4;
	bad[5].pool = 1;
	bad[6].pool = 0xffffffff;
	bad[7].op_flags = 0;
	bad[7].pool = 1;
	for (i = 0; i < 8; i++) {
		*queue_add(&self->q, 0, 0, 0) = bad[i];
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, 0, -errors[i]);
	}
	EXPECT_EQ(queue_ready(&self->q), 0);
}

TEST_F(queue, many_messages)
{
	struct rdmachan_cqe cqe;
	struct pool pool;
	uint32_t i;

	make_pool(&self->q, &pool, 8, 8);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(do_send(self->a, &i, 4, i & 0xffff, NULL), 0);
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		EXPECT_EQ(cqe.user_data, 5);
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(cqe.flags, MORE | BUFFER);
		EXPECT_EQ(cqe.buffer, i % 8);
		EXPECT_EQ(cqe.msg_flags, i);
		EXPECT_EQ(memcmp(memory[i % 8], &i, 4), 0);
		pool_put(&pool, memory[i % 8], SIZE, i % 8);
	}
	EXPECT_EQ(pool_left(&pool), 8);
}

/* Messages that were there before, and more than an operation takes at a time. */
TEST_F(queue, many_at_once)
{
	struct pool pool;
	uint32_t i;

	make_pool(&self->q, &pool, 64, 50);
	for (i = 0; i < 50; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_enter(&self->q, 1, 50, 10000), 1);
	for (i = 0; i < 50; i++) {
		EXPECT_PART(&self->q, 5, 4, i);
		EXPECT_EQ(memcmp(memory[i], &i, 4), 0);
	}
}

/* A thread that receives two messages, a call each, and answers. */
struct far {
	struct queue *q;
	struct pool pool;
	int fd;
	int rounds;
	int done;
};

static void *far_run(void *arg)
{
	struct far *far = arg;
	struct rdmachan_cqe cqe;

	while (far->done < 2 * far->rounds && queue_wait(far->q, &cqe) && cqe.res == 4) {
		pool_put(&far->pool, memory[cqe.buffer], SIZE, cqe.buffer);
		if (++far->done % 2 == 0 && write(far->fd, "both", 4) != 4)
			break;
	}
	return NULL;
}

/* The second message comes at any moment of what the first one wakes, and nothing after it. */
TEST_F_TIMEOUT(queue, another_while_it_runs, 240)
{
	struct far far = { .q = &self->q, .fd = self->b, .rounds = turns(4000) };
	pthread_t thread;
	char back[8];
	int i;

	make_pool(&self->q, &far.pool, 2, 2);
	queue_recv_many(&self->q, self->b, far.pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(pthread_create(&thread, NULL, far_run, &far), 0);
	for (i = 0; i < far.rounds; i++) {
		ASSERT_EQ(write(self->a, "one", 4), 4);
		pause_ns(i % 400 * 500);
		ASSERT_EQ(write(self->a, "two", 4), 4);
		ASSERT_EQ(do_recv(self->a, back, 8, NULL, TIMEOUT(15000)), 0);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(far.done, 2 * far.rounds);
}

TEST_F(queue, many_without_a_call)
{
	struct rdmachan_cqe cqe;
	struct pool pool;
	uint32_t i;

	make_pool(&self->q, &pool, 4, 4);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(write(self->a, &i, 4), 4);
		ASSERT_TRUE(queue_watch(&self->q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(cqe.buffer, i % 4);
		EXPECT_EQ(memcmp(memory[i % 4], &i, 4), 0);
		pool_put(&pool, memory[i % 4], SIZE, i % 4);
	}
	EXPECT_EQ(queue_flags(&self->q), 0);
}

TEST_F(queue, pool_that_is_empty)
{
	struct rdmachan_cqe cqe;
	struct pool pool;

	make_pool(&self->q, &pool, 2, 1);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->a, "one", 3), 3);
	ASSERT_EQ(write(self->a, "four", 4), 4);
	EXPECT_PART(&self->q, 5, 3, 0);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -ENOBUFS);
	EXPECT_EQ(cqe.flags, 0);
	EXPECT_EQ(cqe.length, 4);
	/* It has ended, and the message has stayed. */
	pool_put(&pool, memory[1], SIZE, 1);
	EXPECT_ERR(queue_enter(&self->q, 0, 1, 20), ETIMEDOUT);
	queue_recv_many(&self->q, self->b, pool.id, 6);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_PART(&self->q, 6, 4, 1);
	EXPECT_EQ(memcmp(memory[1], "four", 4), 0);
	/* With nothing to receive it is no error to have no buffer. */
	EXPECT_ERR(queue_enter(&self->q, 0, 1, 20), ETIMEDOUT);
}

TEST_F(queue, empty_messages_take_no_buffer)
{
	struct pool pool;

	make_pool(&self->q, &pool, 1, 0);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(do_send(self->a, "", 0, 0, NULL), 0);
	EXPECT_PART(&self->q, 5, 0, 0);
	pool_put(&pool, memory[0], SIZE, 7);
	ASSERT_EQ(do_send(self->a, "", 0, 0, NULL), 0);
	EXPECT_PART(&self->q, 5, 0, 0);
	EXPECT_EQ(pool_left(&pool), 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_PART(&self->q, 5, 1, 7);
}

TEST_F(queue, message_larger_than_the_buffer)
{
	static char big[SIZE + 1], back[SIZE + 1];
	struct rdmachan_cqe cqe;
	struct pool pool;

	make_pool(&self->q, &pool, 2, 1);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(do_send(self->a, big, sizeof(big), 9, NULL), 0);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.flags, 0);
	EXPECT_EQ(cqe.length, sizeof(big));
	EXPECT_EQ(cqe.msg_flags, 9);
	/* Both have stayed. */
	EXPECT_EQ(pool_left(&pool), 1);
	queue_recv(&self->q, self->b, back, sizeof(back), 6);
	queue_recv_many(&self->q, self->b, pool.id, 7);
	ASSERT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE(&self->q, 6, sizeof(big));
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_PART(&self->q, 7, 1, 0);
}

TEST_F(queue, many_until_the_end)
{
	struct pool pool;

	make_pool(&self->q, &pool, 4, 4);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	queue_recv(&self->q, self->b, memory[9], SIZE, 6);
	ASSERT_EQ(queue_submit(&self->q), 2);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_PART(&self->q, 5, 1, 0);
	EXPECT_LAST(&self->q, 5, 0, RDMACHAN_CQE_F_EOF);
	EXPECT_LAST(&self->q, 6, 0, RDMACHAN_CQE_F_EOF);
	EXPECT_EQ(pool_left(&pool), 3);
}

TEST_F(queue, many_until_the_peer_is_killed)
{
	struct pool pool;
	pid_t child;

	make_pool(&self->q, &pool, 4, 4);
	child = LATER(0, pause());
	close(self->a);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	kill(child, SIGKILL);
	child_status(child);
	EXPECT_LAST(&self->q, 5, -ECONNRESET, 0);
}

TEST_F(queue, many_are_cancelled)
{
	struct pool pool;

	make_pool(&self->q, &pool, 4, 4);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	queue_recv(&self->q, self->b, memory[9], SIZE, 6);
	ASSERT_EQ(queue_submit(&self->q), 2);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_PART(&self->q, 5, 1, 0);
	queue_cancel(&self->q, 5, 0, 7);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_LAST(&self->q, 5, -ECANCELED, 0);
	EXPECT_CQE(&self->q, 7, 1);
	/* The one behind it is first now. */
	ASSERT_EQ(write(self->a, "yy", 2), 2);
	EXPECT_CQE(&self->q, 6, 2);
	EXPECT_EQ(pool_left(&pool), 3);
}

TEST_F(queue, many_at_the_end_of_a_chain)
{
	struct pool pool;

	make_pool(&self->q, &pool, 4, 4);
	queue_recv(&self->q, self->b, memory[9], SIZE, 1)->flags = LINK;
	queue_recv_many(&self->q, self->b, pool.id, 2);
	queue_add(&self->q, OP(NOP), 0, 3)->flags = DRAIN;
	ASSERT_EQ(queue_submit(&self->q), 3);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(write(self->a, "yy", 2), 2);
	EXPECT_CQE(&self->q, 1, 1);
	EXPECT_PART(&self->q, 2, 2, 0);
	EXPECT_ERR(queue_enter(&self->q, 0, 1, 20), ETIMEDOUT);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_LAST(&self->q, 2, 0, RDMACHAN_CQE_F_EOF);
	EXPECT_CQE(&self->q, 3, 0);
}

/* Two channels, and each in its own order. */
TEST_F(queue, channels_share_a_pool)
{
	uint32_t next[2] = { 0, 0 }, i, which;
	struct rdmachan_cqe cqe;
	struct pool pool;

	make_pool(&self->q, &pool, 64, 40);
	queue_recv_many(&self->q, self->b, pool.id, 0);
	queue_recv_many(&self->q, self->a, pool.id, 1);
	ASSERT_EQ(queue_submit(&self->q), 2);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(write(self->a, &i, 4), 4);
		ASSERT_EQ(write(self->b, &i, 4), 4);
	}
	for (i = 0; i < 40; i++) {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		which = cqe.user_data;
		ASSERT_LT(which, 2);
		EXPECT_EQ(cqe.buffer, i);
		EXPECT_EQ(memcmp(memory[i], &next[which], 4), 0);
		next[which]++;
	}
}

/* Until there are more messages than the completion ring takes. */
static bool wait_overflow(struct queue *q)
{
	int64_t until = now_ms() + 10000;

	while (!(queue_flags(q) & RDMACHAN_RING_F_OVERFLOW) && now_ms() < until)
		sleep_ms(1);
	return queue_flags(q) & RDMACHAN_RING_F_OVERFLOW;
}

/*
 * The completion ring is full: messages stay with their channel, and the peer is held
 * back. They come when there is room.
 */
TEST_F(queue, ring_is_full)
{
	static char big[SIZE];
	struct rdmachan_object about;
	struct pool pool;
	struct queue q;
	uint32_t i, sent;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	make_pool(&q, &pool, 64, 64);
	queue_recv_many(&q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&q), 1);
	sent = fill_up(self->a, SIZE);
	EXPECT_GT(sent, 100);
	EXPECT_TRUE(wait_overflow(&q));
	EXPECT_TRUE(wait_readable(q.fd, 0));
	EXPECT_EQ(queue_ready(&q), 4);
	EXPECT_EQ(pool_left(&pool), 60);
	ASSERT_EQ(get_object(self->b, &about), 0);
	EXPECT_EQ(about.rx_messages, 4);
	for (i = 0; i < sent; i++) {
		if (!queue_ready(&q))
			ASSERT_EQ(queue_enter(&q, 0, 1, 10000), 0);
		EXPECT_PART(&q, 5, SIZE, i % 64);
		pool_put(&pool, memory[i % 64], SIZE, i % 64);
	}
	EXPECT_EQ(queue_flags(&q), 0);
	ASSERT_EQ(write(self->a, big, 1), 1);
	EXPECT_PART(&q, 5, 1, i % 64);
	queue_close(&q);
}

/* A waiter for room can be cancelled, and then keeps nobody from it. */
TEST_F(queue, ring_is_full_and_cancelled)
{
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	make_pool(&q, &pool, 64, 64);
	for (i = 0; i < 6; i++)
		ASSERT_EQ(write(self->a, "x", 1), 1);
	queue_recv_many(&q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_TRUE(wait_overflow(&q));
	queue_cancel(&q, 5, 0, 6);
	ASSERT_EQ(queue_submit(&q), 1);
	EXPECT_EQ(queue_ready(&q), 4);
	for (i = 0; i < 4; i++)
		EXPECT_PART(&q, 5, 1, i);
	ASSERT_EQ(queue_enter(&q, 0, 2, 10000), 0);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_next(&q, &cqe));
		EXPECT_EQ(cqe.res, cqe.user_data == 5 ? -ECANCELED : 1);
	}
	EXPECT_EQ(queue_flags(&q), 0);
	EXPECT_EQ(queue_ready(&q), 0);
	EXPECT_EQ(read(self->b, memory[9], SIZE), 1);
	queue_close(&q);
}

/* A buffer that is not present needs a call, the next one does not. */
TEST_F(queue, buffer_that_is_not_present)
{
	struct rdmachan_cqe cqe;
	struct pool pool;

	make_pool(&self->q, &pool, 4, 0);
	pool_put(&pool, fresh_pages(4096), 4096, 1);
	pool_put(&pool, memory[2], SIZE, 2);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_TRUE(wait_readable(self->q.fd, 10000));
	EXPECT_EQ(queue_ready(&self->q), 0);
	EXPECT_EQ(queue_flags(&self->q), RDMACHAN_RING_F_ENTER);
	EXPECT_EQ(pool_left(&pool), 2);
	EXPECT_PART(&self->q, 5, 1, 1);
	EXPECT_EQ(queue_flags(&self->q), 0);
	ASSERT_EQ(write(self->a, "yy", 2), 2);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.buffer, 2);
}

TEST_F(queue, buffer_that_is_bad)
{
	struct pool pool;
	char *gone;

	make_pool(&self->q, &pool, 4, 0);
	/* Not before, or the pool could be there. */
	gone = fresh_pages(4096);
	munmap(gone, 4096);
	pool_put(&pool, gone, 4096, 1);
	pool_put(&pool, (void *)-4096, 4096, 2);
	pool_put(&pool, memory[3], SIZE, 3);
	ASSERT_EQ(write(self->a, "stays", 5), 5);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_LAST(&self->q, 5, -EFAULT, BUFFER);
	queue_recv_many(&self->q, self->b, pool.id, 6);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_LAST(&self->q, 6, -EFAULT, BUFFER);
	queue_recv_many(&self->q, self->b, pool.id, 7);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_PART(&self->q, 7, 5, 3);
	EXPECT_EQ(memcmp(memory[3], "stays", 5), 0);
}

/* An index that cannot be is an empty pool. */
TEST_F(queue, pool_index_that_cannot_be)
{
	static const uint32_t bad[] = { 5, 0x80000000, 0xffffffff };
	struct pool pool;
	size_t i;

	make_pool(&self->q, &pool, 4, 4);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	for (i = 0; i < 3; i++) {
		*ring_word(pool.map, pool.at.producer) = bad[i];
		*ring_word(pool.map, pool.at.consumer) = ~bad[i];
		queue_recv_many(&self->q, self->b, pool.id, 5);
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_LAST(&self->q, 5, -ENOBUFS, 0);
	}
	*ring_word(pool.map, pool.at.producer) = 4;
	queue_recv_many(&self->q, self->b, pool.id, 6);
	ASSERT_EQ(queue_submit(&self->q), 1);
	EXPECT_PART(&self->q, 6, 1, 0);
	EXPECT_EQ(pool_left(&pool), 3);
}

/* Entries and indices change all the time; addresses are those of buffers, or of nothing. */
static void scribble_buffers(struct pool *pool, uint64_t random)
{
	struct rdmachan_buffer *buffer = pool_entry(pool, random);

	buffer->addr = random & 0x100 ? (uintptr_t)memory[random % 64] : random;
	buffer->length = random & 0x200 ? SIZE : random;
	pool_pretend(pool, (random >> 20) % 10);
	if (!(random & 0xff000))
		*ring_word(pool->map, pool->at.producer) = random;
}

/* No message is lost, whatever the program does to its own pool. */
TEST_F_TIMEOUT(queue, pool_under_a_hostile_writer, 120)
{
	uint32_t sent = 0, got = 0, tries = 0, i;
	struct rdmachan_cqe cqe;
	struct scribbler s;
	struct pool pool;

	make_pool(&self->q, &pool, 8, 8);
	scribbler_begin(&s, &pool, scribble_buffers);
	queue_recv_many(&self->q, self->b, pool.id, 5);
	ASSERT_EQ(queue_submit(&self->q), 1);
	while (got < 1000 && tries < 20000) {
		for (; sent < got + 8; sent++)
			ASSERT_EQ(write(self->a, &sent, 4), 4);
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		if (cqe.flags & MORE) {
			EXPECT_EQ(cqe.res, 4);
			got++;
			continue;
		}
		tries++;
		EXPECT_TRUE(cqe.res == -ENOBUFS || cqe.res == -EFAULT || cqe.res == -EMSGSIZE);
		let_time_pass();
		queue_recv_many(&self->q, self->b, pool.id, 5);
		ASSERT_EQ(queue_submit(&self->q), 1);
	}
	printf("# %u messages, %u errors\n", got, tries);
	EXPECT_GT(got, 0);
	scribbler_end(&s);
	queue_cancel(&self->q, 5, 0, 6);
	ASSERT_EQ(queue_submit(&self->q), 1);
	do {
		ASSERT_TRUE(queue_wait(&self->q, &cqe));
		got += !!(cqe.flags & MORE);
	} while (cqe.user_data != 6);
	/* The rest, by an honest program. */
	pool.tail = *ring_word(pool.map, pool.at.consumer);
	for (i = 0; i < 8; i++)
		pool_put(&pool, memory[i], SIZE, i);
	queue_recv_many(&self->q, self->b, pool.id, 7);
	ASSERT_EQ(queue_submit(&self->q), 1);
	for (i = 0; got < sent; i++, got++) {
		EXPECT_PART(&self->q, 7, 4, i);
		EXPECT_EQ(memcmp(memory[i], &got, 4), 0);
	}
}

/* Pools until there are as many as can be. */
static void *make_pools(void *arg)
{
	struct queue *q = arg;
	struct pool pool;
	int i;

	for (i = 0; i < RDMACHAN_QUEUE_POOLS_MAX; i++) {
		if (pool_open(q, &pool, 1024))
			return "pool_open";
		pool_close(&pool);
	}
	return NULL;
}

/* A message that comes while a pool is made is received all the same, without a call for it. */
TEST_F_TIMEOUT(queue, pools_are_made_while_messages_come, 120)
{
	int i, left = turns(20);
	struct rdmachan_cqe cqe;
	pthread_t thread;
	int64_t until;
	struct queue q;
	void *ret;

	/* Else it would take a call to have it present. */
	memset(memory, 1, sizeof(memory));
	while (left--) {
		ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
		ASSERT_EQ(pthread_create(&thread, NULL, make_pools, &q), 0);
		for (i = 0; i < 100; i++) {
			queue_recv(&q, self->b, memory[0], SIZE, i);
			ASSERT_EQ(queue_submit(&q), 1);
			ASSERT_EQ(write(self->a, &i, sizeof(i)), sizeof(i));
			until = now_ms() + 10000;
			while (!queue_ready(&q)) {
				ASSERT_GT(until, now_ms());
				sched_yield();
				let_time_pass();
			}
			ASSERT_TRUE(queue_next(&q, &cqe));
			EXPECT_EQ(cqe.res, (int64_t)sizeof(i));
			EXPECT_EQ(memcmp(memory[0], &i, sizeof(i)), 0);
		}
		ASSERT_EQ(pthread_join(thread, &ret), 0);
		EXPECT_TRUE(!ret);
		queue_close(&q);
	}
}

/* The queue ends with all of it under way. */
TEST_F(queue, pools_end_with_the_queue)
{
	struct pool pool;
	struct queue q;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
		make_pool(&q, &pool, 64, 2);
		queue_recv_many(&q, self->b, pool.id, 5);
		ASSERT_EQ(queue_submit(&q), 1);
		ASSERT_EQ(write(self->a, "x", 1), 1);
		EXPECT_PART(&q, 5, 1, 0);
		pool_close(&pool);
		queue_close(&q);
	}
	/* What came later is still there. */
	ASSERT_EQ(write(self->a, "yy", 2), 2);
	EXPECT_EQ(read(self->b, memory[9], SIZE), 2);
}

TEST_HARNESS_MAIN
