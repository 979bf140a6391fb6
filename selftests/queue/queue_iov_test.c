// SPDX-License-Identifier: GPL-2.0
/*
 * queue_iov_test.c - queues: messages in several pieces
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>

#include "queue_fixture.h"
#include "region.h"

#define IOV RDMACHAN_SQE_F_IOV
#define PAGE 4096
#define PIECES 1024

static struct rdmachan_sqe *add_iov(struct queue *q, uint8_t opcode, int fd,
				    const struct iovec *iov, size_t count, uint64_t user_data)
{
	struct rdmachan_sqe *sqe = queue_add(q, opcode, fd, user_data);

	sqe->flags = IOV;
	sqe->addr = (uintptr_t)iov;
	sqe->length = count;
	return sqe;
}

static struct iovec piece(const void *base, size_t len)
{
	return (struct iovec){ (void *)base, len };
}

/* A piece of a region. */
static struct iovec piece_at(uint64_t offset, size_t len)
{
	return (struct iovec){ (void *)(uintptr_t)offset, len };
}

static struct rdmachan_sqe *of_region(struct rdmachan_sqe *sqe, uint32_t region)
{
	sqe->flags |= RDMACHAN_SQE_F_REGION;
	sqe->region = region;
	return sqe;
}

static uint64_t bytes_in_use(int ctx)
{
	struct rdmachan_info info = { .size = sizeof(info) };

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_use_bytes.user;
}

TEST_F(queue, header_and_payload)
{
	struct iovec out[] = { piece("head", 4), piece(NULL, 0), piece("payload", 7) };
	char one[3] = "", two[5] = "", three[64] = "";
	struct iovec in[] = { piece(one, 3), piece(two, 5), piece(NULL, 0), piece(three, 64) };
	struct rdmachan_cqe cqe;

	add_iov(&self->q, OP(SEND), self->a, out, 3, 1)->msg_flags = 0x1234;
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 11);
	add_iov(&self->q, OP(RECV), self->b, in, 4, 2);
	EXPECT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, 2);
	EXPECT_EQ(cqe.res, 11);
	EXPECT_EQ(cqe.length, 11);
	EXPECT_EQ(cqe.msg_flags, 0x1234);
	EXPECT_EQ(cqe.flags, 0);
	EXPECT_EQ(memcmp(one, "hea", 3), 0);
	EXPECT_EQ(memcmp(two, "dpayl", 5), 0);
	EXPECT_EQ(memcmp(three, "oad", 3), 0);
}

/* From when it is taken; and of a message that comes when nobody is in a call. */
TEST_F(queue, array_is_the_programs_again)
{
	char right[2][8] = {}, wrong[2][8] = {};
	struct iovec in[] = { piece(right[0], 8), piece(right[1], 8) };
	struct rdmachan_cqe cqe;

	add_iov(&self->q, OP(RECV), self->b, in, 2, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	in[0] = piece(wrong[0], 8);
	in[1] = piece(wrong[1], 8);
	ASSERT_EQ(write(self->a, "0123456789abcdef", 16), 16);
	ASSERT_TRUE(queue_watch(&self->q, &cqe));
	EXPECT_EQ(cqe.res, 16);
	EXPECT_EQ(memcmp(right, "0123456789abcdef", 16), 0);
	EXPECT_EQ(wrong[0][0] | wrong[1][0], 0);
}

/* As many pieces as there may be, of one byte each, and messages of several segments. */
TEST_F(queue, pieces_of_many_sizes)
{
	static const size_t sizes[] = { 1, 7, 64, 500 };
	static struct iovec out[PIECES], in[PIECES];
	size_t len = 500 * PIECES, i, n;
	char *from = malloc(len), *to = malloc(len);

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		len = sizes[i] * PIECES;
		fill_random(from, len, i);
		memset(to, 0, len);
		for (n = 0; n < PIECES; n++) {
			out[n] = piece(from + n * sizes[i], sizes[i]);
			in[n] = piece(to + n * sizes[i], sizes[i]);
		}
		add_iov(&self->q, OP(SEND), self->a, out, PIECES, 1);
		EXPECT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, 1, len);
		add_iov(&self->q, OP(RECV), self->b, in, PIECES, 2);
		EXPECT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, 2, len);
		EXPECT_TRUE(is_random(to, len, i));
	}
	free(from);
	free(to);
}

TEST_F(queue, pieces_of_a_region)
{
	char *memory = fresh_pages(16 * PAGE);
	uint32_t region = region_register(self->ctx, memory, 16 * PAGE, 0, NULL);
	uint32_t mine = region_register(self->peer, memory, 16 * PAGE, 0, NULL);
	/* Over the ends of pages, out of order. */
	struct iovec out[] = { piece_at(2 * PAGE - 3, 7), piece_at(0, 5), piece_at(PAGE, 5000) };
	struct iovec in[] = { piece_at(9 * PAGE - 2, 12), piece_at(11 * PAGE, 5000) };
	struct rdmachan_object about = { .size = sizeof(about) };
	struct queue other;

	ASSERT_EQ(queue_open(self->peer, &other, 8, 8), 0);
	fill_random(memory, 16 * PAGE, 1);
	of_region(add_iov(&self->q, OP(SEND), self->a, out, 3, 1), region);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&self->q, 1, 5012);
	of_region(add_iov(&other, OP(RECV), self->b, in, 2, 2), mine);
	EXPECT_EQ(queue_submit(&other), 1);
	EXPECT_CQE(&other, 2, 5012);
	EXPECT_EQ(memcmp(memory + 9 * PAGE - 2, memory + 2 * PAGE - 3, 7), 0);
	EXPECT_EQ(memcmp(memory + 9 * PAGE + 5, memory, 5), 0);
	EXPECT_EQ(memcmp(memory + 11 * PAGE, memory + PAGE, 5000), 0);
	ASSERT_EQ(get_object(self->a, &about), 0);
	EXPECT_EQ(about.tx_regions, 1);
	ASSERT_EQ(get_object(self->b, &about), 0);
	EXPECT_EQ(about.rx_regions, 1);
	queue_close(&other);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	EXPECT_EQ(region_unregister(self->peer, mine), 0);
	munmap(memory, 16 * PAGE);
}

/* What only one piece has goes as without an array: from memory to memory. */
TEST_F(queue, one_piece_is_placed)
{
	size_t len = 1 << 20;
	char *from = fresh_pages(len), *to = fresh_pages(len);
	uint32_t region = region_register(self->ctx, from, len, 0, NULL);
	uint32_t mine = region_register(self->peer, to, len, 0, NULL);
	struct iovec out[] = { piece_at(0, 0), piece_at(0, len) };
	struct iovec in[] = { piece_at(0, len), piece_at(5, 0) };
	struct queue other;

	ASSERT_EQ(queue_open(self->peer, &other, 8, 8), 0);
	fill_random(from, len, 1);
	of_region(add_iov(&other, OP(RECV), self->b, in, 2, 2), mine);
	EXPECT_EQ(queue_submit(&other), 1);
	of_region(add_iov(&self->q, OP(SEND), self->a, out, 2, 1), region);
	EXPECT_EQ(queue_submit(&self->q), 1);
	EXPECT_CQE(&other, 2, len);
	EXPECT_CQE(&self->q, 1, len);
	EXPECT_TRUE(is_random(to, len, 1));
	EXPECT_EQ(placed_messages(self->a, true), 1);
	queue_close(&other);
	munmap(from, len);
	munmap(to, len);
}

TEST_F(queue, pieces_that_are_wrong)
{
	static struct iovec many[PIECES + 1], huge[2];
	char byte[2] = "x", *large = fresh_pages(2 << 20);
	char *nowhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec bad[] = { piece(byte, 1), piece(nowhere, 1) };
	struct iovec kernel[] = { piece(byte, 1), piece((void *)-4096UL, 1) };
	struct iovec beyond[] = { piece_at(0, 1), piece_at(2 << 20, 1) };
	struct iovec both[] = { piece_at(0, 1), piece_at(1, 1) };
	struct iovec more[] = { piece(large, 1 << 20), piece(large, 1 << 20) };
	uint32_t region = region_register(self->ctx, large, 2 << 20, RDMACHAN_REGION_F_READ_ONLY,
					  NULL);
	struct queue *q = &self->q;

	huge[0] = piece(large, 1UL << 30);
	huge[1] = piece(large, 1);
	add_iov(q, OP(SEND), self->a, many, PIECES + 1, 1);
	add_iov(q, OP(RECV), self->b, many, PIECES + 1, 2);
	add_iov(q, OP(SEND), self->a, (void *)nowhere, 2, 3);
	add_iov(q, OP(SEND), self->a, bad, 2, 4);
	add_iov(q, OP(SEND), self->a, kernel, 2, 5);
	add_iov(q, OP(SEND), self->a, huge, 2, 6);
	add_iov(q, OP(SEND), self->a, more, 2, 7);
	of_region(add_iov(q, OP(SEND), self->a, beyond, 2, 8), region);
	of_region(add_iov(q, OP(RECV), self->b, both, 2, 9), region);
	of_region(add_iov(q, OP(SEND), self->a, both, 2, 10), region + 1000);
	add_iov(q, OP(RECV), self->b, NULL, 0, 11)->op_flags = RDMACHAN_RECV_F_MULTISHOT;
	add_iov(q, OP(NOP), 0, NULL, 0, 12);
	add_iov(q, OP(ACCEPT), self->a, NULL, 0, 13);
	of_region(add_iov(q, OP(RECV), self->b, NULL, 0, 14), region);
	EXPECT_EQ(queue_submit(q), 14);
	EXPECT_CQE(q, 1, -EINVAL);
	EXPECT_CQE(q, 2, -EINVAL);
	EXPECT_CQE(q, 3, -EFAULT);
	EXPECT_CQE(q, 4, -EFAULT);
	EXPECT_CQE(q, 5, -EFAULT);
	EXPECT_CQE(q, 6, -EMSGSIZE);
	EXPECT_CQE(q, 7, -EMSGSIZE);
	EXPECT_CQE(q, 8, -ERANGE);
	EXPECT_CQE(q, 9, -EACCES);
	EXPECT_CQE(q, 10, -ENOENT);
	EXPECT_CQE(q, 11, -EINVAL);
	EXPECT_CQE(q, 12, -EOPNOTSUPP);
	EXPECT_CQE(q, 13, -EOPNOTSUPP);
	EXPECT_CQE(q, 14, -EACCES);
	EXPECT_EQ(region_unregister(self->ctx, region), 0);
	munmap(large, 2 << 20);
}

/* None, and too little room: the message stays. */
TEST_F(queue, pieces_without_bytes)
{
	char back[4], room[8];
	struct iovec small[] = { piece(back, 2), piece(back + 2, 2) };
	struct rdmachan_cqe cqe;

	add_iov(&self->q, OP(SEND), self->a, NULL, 0, 1);
	add_iov(&self->q, OP(RECV), self->b, NULL, 0, 2);
	EXPECT_EQ(queue_submit(&self->q), 2);
	EXPECT_CQE(&self->q, 1, 0);
	EXPECT_CQE(&self->q, 2, 0);
	ASSERT_EQ(write(self->a, "12345", 5), 5);
	add_iov(&self->q, OP(RECV), self->b, small, 2, 3);
	EXPECT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.length, 5);
	EXPECT_EQ(read(self->b, room, 8), 5);
}

/* The array is not in memory: the poller leaves it to a call, and nothing overtakes it. */
TEST_F(queue, poller_finds_no_array)
{
	int file = memfd_create("array", MFD_CLOEXEC);
	struct iovec out[] = { piece("fir", 3), piece("st", 2) };
	char back[16] = "";
	struct iovec *array;
	struct queue q;

	ASSERT_EQ(write(file, out, sizeof(out)), sizeof(out));
	array = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	ASSERT_TRUE(array != MAP_FAILED);
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1000), 0);
	add_iov(&q, OP(SEND), self->a, array, 2, 1);
	queue_send(&q, self->a, "second", 6, 2);
	ASSERT_EQ(queue_poke(&q), 0);
	EXPECT_EQ(poll_mask(q.fd, POLLIN, 10000), POLLIN);
	EXPECT_EQ(queue_flags(&q) & RDMACHAN_RING_F_ENTER, RDMACHAN_RING_F_ENTER);
	EXPECT_EQ(queue_ready(&q), 0);
	EXPECT_EQ(queue_enter(&q, 0, 2, 10000), 0);
	EXPECT_CQE(&q, 1, 5);
	EXPECT_CQE(&q, 2, 6);
	EXPECT_EQ(read(self->b, back, sizeof(back)), 5);
	EXPECT_EQ(memcmp(back, "first", 5), 0);
	EXPECT_EQ(read(self->b, back, sizeof(back)), 6);
	queue_close(&q);
	munmap(array, PAGE);
	close(file);
}

/* Large arrays are charged to the user, as long as there is a need for them. */
TEST_F(queue, arrays_are_charged)
{
	static struct iovec in[PIECES];
	static char room[PIECES];
	uint64_t before = bytes_in_use(self->ctx), least = 32 * sizeof(in);
	int i;

	for (i = 0; i < PIECES; i++)
		in[i] = piece(room + i, 1);
	for (i = 0; i < 32; i++)
		add_iov(&self->q, OP(RECV), self->b, in, PIECES, 1);
	EXPECT_EQ(queue_submit(&self->q), 32);
	EXPECT_GE(bytes_in_use(self->ctx), before + least);
	queue_cancel(&self->q, 1, RDMACHAN_CANCEL_F_ALL, 2);
	EXPECT_EQ(queue_submit(&self->q), 1);
	for (i = 0; i < 32; i++)
		EXPECT_CQE(&self->q, 1, -ECANCELED);
	EXPECT_CQE(&self->q, 2, 32);
	EXPECT_EQ(bytes_in_use(self->ctx), before);
	/* A queue that is closed gives back what its operations have. */
	for (i = 0; i < 32; i++)
		add_iov(&self->q, OP(RECV), self->b, in, PIECES, 1);
	EXPECT_EQ(queue_submit(&self->q), 32);
}

TEST_HARNESS_MAIN
