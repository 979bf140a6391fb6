// SPDX-License-Identifier: GPL-2.0
/*
 * fault_test.c - the kernel runs out of memory, or cannot reach the program's
 *
 * Two means of CONFIG_FAULT_INJECTION. A sweep repeats a call and has the first, the
 * second, the third ... allocation or copy that it leads to fail, until it is through without. A
 * call then either succeeds, or gives ENOMEM or EFAULT and has done nothing. Work done in work
 * items and softirq is failed by the allocator's own switches.
 *
 * The tests look at what programs see; that no memory is lost, and that the kernel has
 * nothing to complain of, is seen by leak_check and in its log.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "common.h"
#include "fault_fixture.h"
#include "region.h"
#include "ring.h"

#define MARK 4
#define LONGEST (200 << 10)

/* Users of their own: a user without a link needs one made. */
static int next_user = USER + 1;

static char out[LONGEST], back[LONGEST];

/*
 * Without any fault: structures that the kernel can read and not write
 */

static void *read_only(const void *structure, size_t size)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	ASSERT_NE(page, MAP_FAILED);
	memcpy(page, structure, size);
	ASSERT_EQ(mprotect(page, 4096, PROT_READ), 0);
	return page;
}

TEST(read_only_send)
{
	struct iovec iov = { "once", 4 };
	struct rdmachan_send_args send = {
		.size = sizeof(send), .iov_ptr = (uintptr_t)&iov, .iov_count = 1,
	};
	int fds[2];

	pair_up(open_ctx(), fds, NULL);
	EXPECT_EQ(ioctl(fds[0], RDMACHAN_SEND, read_only(&send, sizeof(send))), 0);
	EXPECT_EQ(do_recv(fds[1], back, 8, NULL, TIMEOUT(10000)), 0);
	EXPECT_ERR(do_recv(fds[1], back, 8, NULL, TIMEOUT(100)), ETIMEDOUT);
}

/* EFAULT is: nothing was received. */
TEST(read_only_recv)
{
	struct iovec iov = { back, 8 };
	struct rdmachan_recv_args recv = {
		.size = sizeof(recv), .iov_ptr = (uintptr_t)&iov, .iov_count = 1,
	};
	int fds[2];

	pair_up(open_ctx(), fds, NULL);
	ASSERT_EQ(write(fds[0], "once", 4), 4);
	EXPECT_ERR(ioctl(fds[1], RDMACHAN_RECV, read_only(&recv, sizeof(recv))), EFAULT);
	EXPECT_EQ(do_recv(fds[1], back, 8, &recv, TIMEOUT(1000)), 0);
	EXPECT_EQ(recv.out_length, 4);
}

TEST(read_only_accept)
{
	struct rdmachan_accept_args accept = { .size = sizeof(accept) };
	int listener = do_listen(open_peer(), SERVICE, NULL);
	int chan = do_connect(open_ctx(), SERVICE, NULL);

	ASSERT_GE(chan, 0);
	EXPECT_ERR(ioctl(listener, RDMACHAN_ACCEPT, read_only(&accept, sizeof(accept))),
		   EFAULT);
	talk(chan, do_accept(listener, TIMEOUT(1000)));
}

/*
 * Calls of a context
 */

static long call_open(struct fixture_fault *self)
{
	self->fd = open(DEVICE, O_RDWR);
	return self->fd;
}

static void judge_file(struct fixture_fault *self, long ret)
{
	if (ret >= 0)
		EXPECT_EQ(close(self->fd), 0);
}

TEST_F(fault, open)
{
	sweep(self, NULL, call_open, judge_file);
}

static long call_info(struct fixture_fault *self)
{
	struct rdmachan_device devices[4];
	struct rdmachan_info info = {
		.size = sizeof(info), .devices_max = 4, .device_size = sizeof(devices[0]),
		.devices_ptr = (uintptr_t)devices,
	};

	return ioctl(self->ctx, RDMACHAN_INFO, &info);
}

static void judge_nothing(struct fixture_fault *self, long ret)
{
	(void)self;
	(void)ret;
}

TEST_F(fault, info)
{
	sweep(self, NULL, call_info, judge_nothing);
}

static long call_list(struct fixture_fault *self)
{
	struct rdmachan_object objects[16];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_max = 16, .object_size = sizeof(objects[0]),
		.objects_ptr = (uintptr_t)objects,
	};

	return ioctl(self->ctx, RDMACHAN_LIST, &list);
}

TEST_F(fault, list)
{
	sweep(self, NULL, call_list, judge_nothing);
}

static long call_query(struct fixture_fault *self)
{
	struct rdmachan_object object = { .size = sizeof(object) };
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rdmachan_query_args query = {
		.size = sizeof(query), .object_ptr = (uintptr_t)&object,
		.error_ptr = (uintptr_t)&error,
	};

	return ioctl(self->seed & 1 ? self->a : self->listener, RDMACHAN_QUERY, &query);
}

TEST_F(fault, query)
{
	sweep(self, NULL, call_query, judge_nothing);
}

static long call_listen(struct fixture_fault *self)
{
	self->fd = do_listen(self->ctx, SERVICE, NULL);
	return self->fd;
}

/* The service is free again, whatever happened. */
static void judge_listen(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_GE(call_listen(self), 0);
	close(self->fd);
}

TEST_F(fault, listen)
{
	sweep(self, NULL, call_listen, judge_listen);
}

/*
 * Connecting
 */

/* The listener's queue may begin with channels whose connector has failed since. */
static void accept_mine(struct fixture_fault *self, int chan)
{
	struct rdmachan_recv_args recv;
	char word[MARK];
	int fd, ret;

	ASSERT_EQ(write(chan, &self->seed, MARK), MARK);
	for (;;) {
		fd = do_accept(self->listener, TIMEOUT(10000));
		ASSERT_GE(fd, 0);
		ret = do_recv(fd, word, MARK, &recv, TIMEOUT(10000));
		if (!ret && recv.out_length == MARK && !memcmp(word, &self->seed, MARK))
			break;
		/* Closed or killed; it has sent nothing. */
		EXPECT_TRUE(ret || recv.out_flags & RDMACHAN_RECV_OUT_EOF);
		close(fd);
	}
	talk(chan, fd);
	close(fd);
}

static long call_connect(struct fixture_fault *self)
{
	self->fd = do_connect(self->ctx, SERVICE + 1, NULL);
	return self->fd;
}

static void judge_connect(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		ASSERT_GE(call_connect(self), 0);
	accept_mine(self, self->fd);
	close(self->fd);
}

TEST_F(fault, connect)
{
	sweep(self, NULL, call_connect, judge_connect);
}

static long call_connect_nonblock(struct fixture_fault *self)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };

	self->fd = do_connect(self->ctx, SERVICE + 1, &nonblock);
	return self->fd;
}

static void judge_connect_nonblock(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		ASSERT_GE(call_connect_nonblock(self), 0);
	ASSERT_EQ(poll_mask(self->fd, POLLOUT, 10000), POLLOUT);
	fcntl(self->fd, F_SETFL, 0);
	accept_mine(self, self->fd);
	close(self->fd);
}

TEST_F(fault, connect_nonblock)
{
	sweep(self, NULL, call_connect_nonblock, judge_connect_nonblock);
}

/* Each time as a user who has no link yet, to one who has. */
static void other_user(struct fixture_fault *self)
{
	close(self->ctx);
	self->ctx = fault_ctx_of(next_user++);
}

TEST_F(fault, connect_anew)
{
	sweep(self, other_user, call_connect, judge_connect);
}

static void prepare_accept(struct fixture_fault *self)
{
	self->fd = do_connect(self->ctx, SERVICE + 1, NULL);
	ASSERT_GE(self->fd, 0);
	ASSERT_TRUE(wait_readable(self->listener, 10000));
}

static int accepted;

static long call_accept(struct fixture_fault *self)
{
	accepted = do_accept(self->listener, TIMEOUT(10000));
	return accepted;
}

/* A channel that could not be handed out waits on. */
static void judge_accept(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		ASSERT_GE(call_accept(self), 0);
	talk(self->fd, accepted);
	close(accepted);
	close(self->fd);
}

TEST_F(fault, accept)
{
	sweep(self, prepare_accept, call_accept, judge_accept);
}

/*
 * Messages
 */

static void prepare_send(struct fixture_fault *self)
{
	fill_random(out, self->length, self->seed);
}

static long call_send(struct fixture_fault *self)
{
	return do_send(self->a, out, self->length, 7, NULL);
}

static long call_write(struct fixture_fault *self)
{
	return write(self->a, out, self->length) == self->length ? 0 : -1;
}

static long call_writev(struct fixture_fault *self)
{
	struct iovec iov[12];
	size_t i, part = self->length / 12;

	for (i = 0; i < 12; i++)
		iov[i] = (struct iovec){ out + i * part, part };
	iov[11].iov_len += self->length % 12;
	return writev(self->a, iov, 12) == self->length ? 0 : -1;
}

/* A sent message arrives whole and once; any other, not in part either. */
static void judge_send(struct fixture_fault *self, long ret)
{
	struct rdmachan_recv_args recv;
	char word[MARK];

	ASSERT_EQ(do_send(self->a, "mark", MARK, 9, TIMEOUT(10000)), 0);
	if (!ret) {
		ASSERT_EQ(do_recv(self->b, back, LONGEST, &recv, TIMEOUT(10000)), 0);
		EXPECT_EQ(recv.out_length, self->length);
		EXPECT_TRUE(is_random(back, self->length, self->seed));
	}
	ASSERT_EQ(do_recv(self->b, word, MARK, &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_length, MARK);
	EXPECT_EQ(recv.out_msg_flags, 9);
}

/* Straight into a frame, in a frame of its own, and in many. */
static const size_t lengths[] = { 100, 3000, 9000, LONGEST };

static void sweep_lengths(struct fixture_fault *self,
			  void (*prepare)(struct fixture_fault *self),
			  long (*call)(struct fixture_fault *self),
			  void (*judge)(struct fixture_fault *self, long ret))
{
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		self->length = lengths[i];
		sweep(self, prepare, call, judge);
	}
}

TEST_F(fault, send)
{
	sweep_lengths(self, prepare_send, call_send, judge_send);
}

TEST_F(fault, write)
{
	sweep_lengths(self, prepare_send, call_write, judge_send);
}

TEST_F(fault, writev)
{
	sweep_lengths(self, prepare_send, call_writev, judge_send);
}

static void prepare_recv(struct fixture_fault *self)
{
	prepare_send(self);
	ASSERT_EQ(do_send(self->a, out, self->length, 7, TIMEOUT(10000)), 0);
	ASSERT_TRUE(wait_readable(self->b, 10000));
}

static long call_recv(struct fixture_fault *self)
{
	return do_recv(self->b, back, LONGEST, NULL, NULL);
}

static long call_read(struct fixture_fault *self)
{
	return read(self->b, back, LONGEST) == self->length ? 0 : -1;
}

static long call_readv(struct fixture_fault *self)
{
	struct iovec iov[12];
	size_t i, part = LONGEST / 12;

	for (i = 0; i < 12; i++)
		iov[i] = (struct iovec){ back + i * part, part };
	iov[11].iov_len += LONGEST % 12;
	return readv(self->b, iov, 12) == self->length ? 0 : -1;
}

/* A message that could not be read is read by the next call. */
static void judge_recv(struct fixture_fault *self, long ret)
{
	struct rdmachan_recv_args recv;
	char word;

	if (ret < 0) {
		memset(back, 0, LONGEST);
		ASSERT_EQ(do_recv(self->b, back, LONGEST, &recv, TIMEOUT(1000)), 0);
		EXPECT_EQ(recv.out_length, self->length);
	}
	EXPECT_TRUE(is_random(back, self->length, self->seed));
	EXPECT_ERR(do_recv(self->b, &word, 1, NULL, DONTWAIT), EAGAIN);
}

TEST_F(fault, recv)
{
	sweep_lengths(self, prepare_recv, call_recv, judge_recv);
}

TEST_F(fault, read)
{
	sweep_lengths(self, prepare_recv, call_read, judge_recv);
}

TEST_F(fault, readv)
{
	sweep_lengths(self, prepare_recv, call_readv, judge_recv);
}

static long call_poll(struct fixture_fault *self)
{
	struct pollfd pfds[3] = {
		{ self->a, POLLOUT, 0 }, { self->b, POLLIN, 0 }, { self->listener, POLLIN, 0 },
	};

	return poll(pfds, 3, 0);
}

TEST_F(fault, poll)
{
	sweep(self, NULL, call_poll, judge_nothing);
}

/*
 * Ends
 */

static void prepare_pair(struct fixture_fault *self)
{
	close(self->a);
	close(self->b);
	self->a = do_connect(self->ctx, SERVICE + 1, NULL);
	self->b = do_accept(self->listener, NULL);
	ASSERT_GE(self->b, 0);
}

/* Repeating it does no harm, so it does none either that it failed when it was done. */
static long call_shutdown(struct fixture_fault *self)
{
	return do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV);
}

static void judge_shutdown(struct fixture_fault *self, long ret)
{
	struct rdmachan_recv_args recv;

	if (ret < 0)
		EXPECT_EQ(call_shutdown(self), 0);
	ASSERT_EQ(do_recv(self->b, back, 8, &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
}

TEST_F(fault, shutdown)
{
	sweep(self, prepare_pair, call_shutdown, judge_shutdown);
}

static long call_close(struct fixture_fault *self)
{
	int fd = self->a;

	self->a = -1;
	return close(fd);
}

static void prepare_close(struct fixture_fault *self)
{
	prepare_pair(self);
	prepare_send(self);
	ASSERT_EQ(do_send(self->a, out, self->length, 0, NULL), 0);
}

/* All that was sent arrives, and the end. */
static void judge_close(struct fixture_fault *self, long ret)
{
	struct rdmachan_recv_args recv;

	EXPECT_EQ(ret, 0);
	ASSERT_EQ(do_recv(self->b, back, LONGEST, &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_length, self->length);
	EXPECT_TRUE(is_random(back, self->length, self->seed));
	ASSERT_EQ(do_recv(self->b, back, LONGEST, &recv, TIMEOUT(10000)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
}

TEST_F(fault, close)
{
	sweep_lengths(self, prepare_close, call_close, judge_close);
}

/*
 * Regions
 */

static struct queue queue;
static char *from, *to;

static long call_register(struct fixture_fault *self)
{
	self->fd = region_register(self->ctx, from, REGION, 0, NULL);
	return self->fd;
}

static void judge_register(struct fixture_fault *self, long ret)
{
	EXPECT_EQ(pinned_bytes(), ret < 0 ? 0 : REGION);
	if (ret >= 0)
		EXPECT_EQ(region_unregister(self->ctx, self->fd), 0);
	EXPECT_EQ(pinned_bytes(), 0);
}

TEST_F(fault, region_register)
{
	from = region_memory();
	sweep(self, NULL, call_register, judge_register);
}

static void prepare_unregister(struct fixture_fault *self)
{
	ASSERT_GT(call_register(self), 0);
}

static long call_unregister(struct fixture_fault *self)
{
	return region_unregister(self->ctx, self->fd);
}

static void judge_unregister(struct fixture_fault *self, long ret)
{
	if (ret < 0)
		EXPECT_EQ(call_unregister(self), 0);
	EXPECT_EQ(pinned_bytes(), 0);
}

TEST_F(fault, region_unregister)
{
	from = region_memory();
	sweep(self, prepare_unregister, call_unregister, judge_unregister);
}

/* One that is copied, and one that is written. */
static const size_t region_lengths[] = { 3000, REGION };
static int64_t from_region, to_region;

static void prepare_flow(struct fixture_fault *self)
{
	fill_random(from, self->length, self->seed);
	region_recv(&queue, self->b, to_region, 0, self->length, 1);
	region_send(&queue, self->a, from_region, 0, self->length, 2);
}

static long call_flow(struct fixture_fault *self)
{
	(void)self;
	return queue_enter(&queue, 2, 0, 0);
}

/* A call that has failed for want of memory succeeds again. */
static void await_flow(struct fixture_fault *self)
{
	struct rdmachan_cqe cqe;
	int done = 0;

	while (done < 2) {
		ASSERT_TRUE(queue_wait(&queue, &cqe));
		if (cqe.res == (int64_t)self->length) {
			done++;
			continue;
		}
		ASSERT_EQ(cqe.res, -ENOMEM);
		if (cqe.user_data == 1)
			region_recv(&queue, self->b, to_region, 0, self->length, 1);
		else
			region_send(&queue, self->a, from_region, 0, self->length, 2);
		ASSERT_EQ(queue_submit(&queue), 1);
	}
}

static void judge_flow(struct fixture_fault *self, long ret)
{
	if (ret < 2)
		ASSERT_EQ(queue_submit(&queue), ret < 0 ? 2 : 2 - ret);
	await_flow(self);
	EXPECT_TRUE(is_random(to, self->length, self->seed));
}

TEST_F_TIMEOUT(fault, region_flow, 300)
{
	size_t i;

	from = region_memory();
	to = region_memory();
	ASSERT_EQ(queue_open(self->ctx, &queue, 8, 8), 0);
	from_region = region_register(self->ctx, from, REGION, 0, NULL);
	to_region = region_register(self->ctx, to, REGION, 0, NULL);
	ASSERT_TRUE(from_region > 0 && to_region > 0);
	for (i = 0; i < sizeof(region_lengths) / sizeof(*region_lengths); i++) {
		self->length = region_lengths[i];
		sweep(self, prepare_flow, call_flow, judge_flow);
	}
	queue_close(&queue);
}

TEST_HARNESS_MAIN
