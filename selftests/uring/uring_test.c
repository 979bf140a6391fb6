// SPDX-License-Identifier: GPL-2.0
/*
 * uring_test.c - channels in io_uring
 *
 * A request that cannot be done at once shall wait as an entry in a wait queue, and not in
 * a thread of the kernel's that sleeps: so many tests count those threads, "iou-wrk". With a
 * thread that submits: uring_thread_test.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "stuck.h"
#include "uring.h"
#include "uring_messages.h"

#define MIB 1048576U

/* More than io_uring tries before it has a thread wait instead. */
#define TRIES 300

/* Messages there and back */

TEST_F(uring, messages)
{
	all_messages(self, &self->ring);
}

TEST_F(uring, empty_messages)
{
	struct io_uring_sqe *sqe;
	char back[8];

	want_write(&self->ring, self->a, "", 0, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), 0);
	sqe = entry(&self->ring);
	io_uring_prep_writev(sqe, self->a, NULL, 0, 0);
	tagged(sqe, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), 0);
	EXPECT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(read(self->b, back, 8), 0);
	want_read(&self->ring, self->b, back, 8, 1, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 1, LONG), 0);
	EXPECT_EQ(read(self->b, back, 8), 1);
}

/* Such a request has no pieces of memory. Not every kernel makes a call of it. */
TEST_F(uring, fixed_buffers_of_no_bytes)
{
	struct io_uring_sqe *sqe;
	ssize_t n;
	char back[8];
	int in;

	register_both(&self->ring);
	/* One empty message is there in any case. */
	EXPECT_EQ(do_send(self->a, "", 0, 0, 0), 0);
	for (in = 0; in < 2; in++) {
		sqe = entry(&self->ring);
		prepare_way(sqe, in ? self->b : self->a, in, FIXED, 0);
		tagged(sqe, in, 0);
		submit(&self->ring);
		EXPECT_EQ(result(&self->ring, in, LONG), 0);
	}
	EXPECT_EQ(write(self->a, "x", 1), 1);
	do
		n = read(self->b, back, sizeof(back));
	while (!n);
	EXPECT_EQ(n, 1);
}

TEST_F(uring, buffer_too_small)
{
	static char out[20000], back[20000];
	int waiting = 0;

	fill_random(out, sizeof(out), 1);
	want_read(&self->ring, self->b, back, 100, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(write(self->a, out, sizeof(out)), sizeof(out));
	EXPECT_EQ(result(&self->ring, 0, LONG), -EMSGSIZE);
	EXPECT_EQ(ioctl(self->b, FIONREAD, &waiting), 0);
	EXPECT_EQ(waiting, sizeof(out));
	want_read(&self->ring, self->b, back, sizeof(back), 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), sizeof(out));
	EXPECT_TRUE(is_random(back, sizeof(back), 1));
	EXPECT_EQ(workers(), 0);
}

/* Waiting */

TEST_F(uring, readers_need_no_thread)
{
	int fds[8][2];
	char back[8];
	int i;

	for (i = 0; i < 8; i++) {
		pair_up(self->ctx, fds[i], NULL);
		want_read(&self->ring, fds[i][1], back + i, 1, i, i & 1 ? IOSQE_ASYNC : 0);
	}
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 50), NOT_YET);
	/* Those that were told to go there have come back. */
	for (i = 1; i < 8; i += 2)
		EXPECT_EQ(result(&self->ring, i, 0), NOT_YET);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(write(fds[i][0], "abcdefgh" + i, 1), 1);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(result(&self->ring, i, LONG), 1);
	EXPECT_EQ(memcmp(back, "abcdefgh", 8), 0);
}

TEST_F(uring, plain_readers_need_no_thread)
{
	char back[8];

	want_read(&self->ring, self->b, back, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 100), NOT_YET);
	EXPECT_EQ(workers(), 0);
	EXPECT_EQ(write(self->a, "hello", 5), 5);
	EXPECT_EQ(result(&self->ring, 0, LONG), 5);
	EXPECT_EQ(workers(), 0);
}

TEST_F(uring, writers_need_no_thread)
{
	static char data[30000];
	int i, count = fill_up(self->a, sizeof(data));

	ASSERT_GT(count, 0);
	for (i = 0; i < 4; i++)
		want_write(&self->ring, self->a, data, sizeof(data), i, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 100), NOT_YET);
	EXPECT_EQ(workers(), 0);
	for (i = 0; i < count + 4; i++)
		EXPECT_EQ(read(self->b, data, sizeof(data)), sizeof(data));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(result(&self->ring, i, LONG), sizeof(data));
	EXPECT_EQ(workers(), 0);
}

/* Messages go out on a channel while a read waits there for one to come in. */
TEST_F(uring, reader_is_not_told_of_writes)
{
	char in[8], back[8];
	int i;

	want_read(&self->ring, self->a, in, 8, 0, 0);
	submit(&self->ring);
	for (i = 0; i < TRIES; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(read(self->b, back, 8), 1);
	}
	EXPECT_EQ(result(&self->ring, 0, 10), NOT_YET);
	EXPECT_EQ(workers(), 0);
	EXPECT_EQ(write(self->b, "there", 5), 5);
	EXPECT_EQ(result(&self->ring, 0, LONG), 5);
}

static void *read_all(void *arg)
{
	static char back[65536];
	int fd = *(int *)arg;

	while (read(fd, back, sizeof(back)) > 0)
		;
	return NULL;
}

/* Nor when these go from memory to memory, and the peer's answers come in. */
TEST_F(uring, reader_is_not_told_of_answers)
{
	static char data[65536];
	struct rdmachan_object object;
	pthread_t reader;
	char in[8];
	int i;

	pthread_create(&reader, NULL, read_all, &self->b);
	want_read(&self->ring, self->a, in, 8, 0, 0);
	submit(&self->ring);
	for (i = 0; i < TRIES; i++)
		ASSERT_EQ(write(self->a, data, sizeof(data)), sizeof(data));
	EXPECT_EQ(result(&self->ring, 0, 10), NOT_YET);
	EXPECT_EQ(workers(), 0);
	EXPECT_EQ(get_object(self->a, &object), 0);
	printf("# %d of %d from memory to memory\n", (int)object.tx_placed, TRIES);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	pthread_join(reader, NULL);
}

/*
 * Another thread is in the middle of a message for as long as it pleases. poll() does not
 * say that there is something to do, and a request does not try in vain.
 */
TEST_F(uring, another_reads)
{
	struct stuck s;
	char back[8];

	EXPECT_EQ(write(self->a, "first", 5), 5);
	stuck_begin(&s, self->b, stuck_read);
	EXPECT_EQ(write(self->a, "second", 6), 6);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 50), 0);
	want_read(&self->ring, self->b, back, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 100), NOT_YET);
	EXPECT_EQ(workers(), 0);
	stuck_end(&s, 5);
	EXPECT_EQ(result(&self->ring, 0, LONG), 6);
	EXPECT_EQ(memcmp(back, "second", 6), 0);
}

TEST_F(uring, another_writes)
{
	struct stuck s;
	char back[16];

	stuck_begin(&s, self->a, stuck_write);
	EXPECT_EQ(poll_mask(self->a, POLLOUT, 50), 0);
	want_write(&self->ring, self->a, "second", 6, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 100), NOT_YET);
	EXPECT_EQ(workers(), 0);
	stuck_end(&s, 8);
	EXPECT_EQ(result(&self->ring, 0, LONG), 6);
	EXPECT_EQ(read(self->b, back, 16), 8);
	EXPECT_EQ(read(self->b, back, 16), 6);
}

/* A poll that finds somebody in the middle of a message. */
static int watched(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	EXPECT_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), 0);
	EXPECT_EQ(epoll_wait(ep, &event, 1, 0), 0);
	return ep;
}

static void is_told(int ep, uint32_t events)
{
	struct epoll_event event = {};

	EXPECT_EQ(epoll_wait(ep, &event, 1, LONG), 1);
	EXPECT_EQ(event.events, events);
	close(ep);
}

/* Nothing comes after that: a thread that has read, or written, tells those who could not. */
TEST_F(uring, told_when_another_has_read)
{
	struct stuck s;
	char back[8];
	int ep;

	EXPECT_EQ(write(self->a, "first", 5), 5);
	stuck_begin(&s, self->b, stuck_read);
	EXPECT_EQ(write(self->a, "second", 6), 6);
	ep = watched(self->b, EPOLLIN);
	stuck_end(&s, 5);
	is_told(ep, EPOLLIN);
	EXPECT_EQ(read(self->b, back, 8), 6);
}

TEST_F(uring, told_when_another_has_written)
{
	struct stuck s;
	int ep;

	stuck_begin(&s, self->a, stuck_write);
	ep = watched(self->a, EPOLLOUT);
	stuck_end(&s, 8);
	is_told(ep, EPOLLOUT);
}

/* The program's own wish not to wait, or not to wait this time */

TEST_F(uring, nonblocking_file)
{
	static char data[2 * MIB];
	char back[8];

	fcntl(self->a, F_SETFL, O_NONBLOCK);
	want_read(&self->ring, self->a, back, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 50), NOT_YET);
	want_write(&self->ring, self->a, data, sizeof(data), 1, 0);
	want_write(&self->ring, self->a, data, sizeof(data), 2, IOSQE_ASYNC);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 1, LONG), -EMSGSIZE);
	EXPECT_EQ(result(&self->ring, 2, LONG), -EMSGSIZE);
	EXPECT_EQ(write(self->b, "x", 1), 1);
	EXPECT_EQ(result(&self->ring, 0, LONG), 1);
}

TEST_F(uring, not_this_time)
{
	static char data[2 * MIB];
	struct iovec small = { "x", 1 }, large = { data, sizeof(data) }, in = { data, 8 };
	struct rdmachan_error error;

	EXPECT_ERR(preadv2(self->b, &in, 1, -1, RWF_NOWAIT), EAGAIN);
	EXPECT_ERR(pwritev2(self->a, &large, 1, -1, RWF_NOWAIT), EAGAIN);
	/* It is no failure that it would wait. */
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.error, 0);
	EXPECT_EQ(pwritev2(self->a, &small, 1, -1, RWF_NOWAIT), 1);
	EXPECT_TRUE(wait_readable(self->b, 2000));
	EXPECT_EQ(preadv2(self->b, &in, 1, -1, RWF_NOWAIT), 1);
}

/* Requests that depend on each other */

TEST_F(uring, linked)
{
	char back[8], echo[8];

	want_read(&self->ring, self->b, back, 4, 0, IOSQE_IO_LINK);
	want_write(&self->ring, self->b, back, 4, 1, 0);
	want_write(&self->ring, self->a, "ping", 4, 2, IOSQE_IO_LINK);
	want_read(&self->ring, self->a, echo, 8, 3, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 3, LONG), 4);
	EXPECT_EQ(memcmp(echo, "ping", 4), 0);
	EXPECT_EQ(result(&self->ring, 0, LONG), 4);
	EXPECT_EQ(result(&self->ring, 1, LONG), 4);
	EXPECT_EQ(result(&self->ring, 2, LONG), 4);
	EXPECT_EQ(workers(), 0);
}

/* To io_uring a message that is smaller than the buffer is a short read. */
TEST_F(uring, linked_to_smaller_message)
{
	char back[8];

	EXPECT_EQ(write(self->a, "ping", 4), 4);
	want_read(&self->ring, self->b, back, 8, 0, IOSQE_IO_LINK);
	want_write(&self->ring, self->b, back, 4, 1, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), 4);
	EXPECT_EQ(result(&self->ring, 1, LONG), -ECANCELED);
	EXPECT_EQ(write(self->a, "pong", 4), 4);
	want_read(&self->ring, self->b, back, 8, 0, IOSQE_IO_HARDLINK);
	want_write(&self->ring, self->b, back, 4, 1, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), 4);
	EXPECT_EQ(result(&self->ring, 1, LONG), 4);
	EXPECT_EQ(read(self->a, back, 8), 4);
}

TEST_F(uring, timeout)
{
	struct __kernel_timespec ts = { 0, 20000000 };
	struct io_uring_sqe *sqe;
	char back[8];

	want_read(&self->ring, self->b, back, 8, 0, IOSQE_IO_LINK);
	sqe = entry(&self->ring);
	io_uring_prep_link_timeout(sqe, &ts, 0);
	tagged(sqe, 1, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), -ECANCELED);
	EXPECT_EQ(result(&self->ring, 1, LONG), -ETIME);
	EXPECT_EQ(write(self->a, "kept", 4), 4);
	EXPECT_EQ(read(self->b, back, 8), 4);
}

/* Poll */

static void want_poll(struct io_uring *ring, int fd, unsigned int mask, unsigned int tag,
		      bool multi)
{
	struct io_uring_sqe *sqe = entry(ring);

	if (multi)
		io_uring_prep_poll_multishot(sqe, fd, mask);
	else
		io_uring_prep_poll_add(sqe, fd, mask);
	tagged(sqe, tag, 0);
}

TEST_F(uring, poll)
{
	static char data[30000];
	int count;

	want_poll(&self->ring, self->a, POLLOUT, 0, false);
	want_poll(&self->ring, self->b, POLLIN, 1, false);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), POLLOUT);
	EXPECT_EQ(result(&self->ring, 1, 20), NOT_YET);
	count = fill_up(self->a, sizeof(data));
	EXPECT_EQ(result(&self->ring, 1, LONG), POLLIN);
	want_poll(&self->ring, self->a, POLLOUT, 0, false);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 20), NOT_YET);
	while (count--)
		EXPECT_EQ(read(self->b, data, sizeof(data)), sizeof(data));
	EXPECT_EQ(result(&self->ring, 0, LONG), POLLOUT);
	want_poll(&self->ring, self->a, POLLIN | POLLRDHUP, 0, false);
	submit(&self->ring);
	close(self->b);
	EXPECT_EQ(result(&self->ring, 0, LONG) & ~POLLHUP, POLLIN | POLLRDHUP);
	EXPECT_EQ(workers(), 0);
}

TEST_F(uring, poll_again_and_again)
{
	char back[8];
	int i;

	want_poll(&self->ring, self->b, POLLIN, 0, true);
	submit(&self->ring);
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(write(self->a, "x", 1), 1);
		EXPECT_EQ(result(&self->ring, 0, LONG), POLLIN);
		EXPECT_TRUE(done[0].flags & IORING_CQE_F_MORE);
		EXPECT_EQ(read(self->b, back, 8), 1);
	}
	EXPECT_EQ(result(&self->ring, 0, 20), NOT_YET);
}

/* A read that stays; the kernel chooses the buffer. Since 6.7 */

#define READ_MULTISHOT 49
#define PIECE 64

static struct io_uring_buf_ring *buffers_open(struct io_uring *ring, char *data)
{
	struct io_uring_buf_reg reg = { .ring_entries = 4 };
	struct io_uring_buf_ring *br;
	int i;

	br = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.ring_addr = (uintptr_t)br;
	ASSERT_EQ(io_uring_register_buf_ring(ring, &reg, 0), 0);
	io_uring_buf_ring_init(br);
	for (i = 0; i < 4; i++)
		io_uring_buf_ring_add(br, data + i * PIECE, PIECE, i, 3, i);
	io_uring_buf_ring_advance(br, 4);
	return br;
}

TEST_F(uring, read_again_and_again)
{
	static char data[4 * PIECE];
	struct io_uring_buf_ring *br = buffers_open(&self->ring, data);
	struct io_uring_sqe *sqe = entry(&self->ring);
	int i, ret, which;

	io_uring_prep_rw(READ_MULTISHOT, sqe, self->b, NULL, 0, 0);
	sqe->buf_group = 0;
	tagged(sqe, 0, IOSQE_BUFFER_SELECT);
	submit(&self->ring);
	for (i = 1; i <= 20; i++) {
		ASSERT_EQ(write(self->a, "abcdefghijklmnopqrstuvwxyz", i), i);
		ret = result(&self->ring, 0, LONG);
		if (ret == -EINVAL && i == 1)
			SKIP("this kernel has no IORING_OP_READ_MULTISHOT");
		ASSERT_EQ(ret, i);
		ASSERT_TRUE(done[0].flags & IORING_CQE_F_MORE);
		which = done[0].flags >> IORING_CQE_BUFFER_SHIFT;
		EXPECT_EQ(memcmp(data + which * PIECE, "abcdefghijklmnopqrst", i), 0);
		io_uring_buf_ring_add(br, data + which * PIECE, PIECE, which, 3, 0);
		io_uring_buf_ring_advance(br, 1);
	}
	EXPECT_EQ(workers(), 0);
}

/* Many at once: each message comes once, to one of them. */

#define MESSAGES 4000
#define READS 8

static unsigned char seen[MESSAGES];

static void arm(struct io_uring *ring, int fd, uint32_t *in, int i)
{
	struct io_uring_sqe *sqe = entry(ring);

	io_uring_prep_read(sqe, fd, in + i, 4, 0);
	io_uring_sqe_set_data64(sqe, i);
}

static void *read_many(void *arg)
{
	int i, fd = *(int *)arg, armed = READS;
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	uint32_t in[READS];

	ring_open(&ring, 0);
	for (i = 0; i < READS; i++)
		arm(&ring, fd, in, i);
	submit(&ring);
	while (armed && !io_uring_wait_cqe(&ring, &cqe)) {
		i = cqe->user_data;
		EXPECT_TRUE(!cqe->res || (cqe->res == 4 && in[i] < MESSAGES));
		if (cqe->res == 4) {
			__atomic_add_fetch(&seen[in[i]], 1, __ATOMIC_RELAXED);
			arm(&ring, fd, in, i);
			submit(&ring);
		} else {
			armed--;
		}
		io_uring_cqe_seen(&ring, cqe);
	}
	io_uring_queue_exit(&ring);
	return NULL;
}

TEST_F(uring, many_readers)
{
	pthread_t threads[2];
	uint32_t i;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, read_many, &self->b);
	for (i = 0; i < MESSAGES; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < MESSAGES; i++)
		EXPECT_EQ(seen[i], 1);
}

TEST_HARNESS_MAIN
