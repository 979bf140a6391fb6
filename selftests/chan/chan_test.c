// SPDX-License-Identifier: GPL-2.0
/*
 * chan_test.c - channels: messages, waiting, sharing
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define BIG (4U << 20)

FIXTURE_PAIR(chan)

static void set_nonblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

TEST_F(chan, read_and_write)
{
	char back[64];

	EXPECT_EQ(write(self->a, "hello", 5), 5);
	EXPECT_EQ(read(self->b, back, sizeof(back)), 5);
	EXPECT_EQ(memcmp(back, "hello", 5), 0);
	EXPECT_EQ(write(self->b, "there", 5), 5);
	EXPECT_EQ(read(self->a, back, sizeof(back)), 5);
	EXPECT_EQ(memcmp(back, "there", 5), 0);
}

TEST_F(chan, vectors)
{
	char one[3], two[100];
	struct iovec out[3] = { { "abc", 3 }, { "", 0 }, { "defgh", 5 } };
	struct iovec in[2] = { { one, 3 }, { two, sizeof(two) } };

	EXPECT_EQ(writev(self->a, out, 3), 8);
	EXPECT_EQ(readv(self->b, in, 2), 8);
	EXPECT_EQ(memcmp(one, "abc", 3), 0);
	EXPECT_EQ(memcmp(two, "defgh", 5), 0);
}

TEST_F(chan, many_pieces)
{
	struct rdmachan_send_args send = { .size = sizeof(send), .iov_count = 1024 };
	static char out[1024 * 333], back[1024 * 333];
	struct iovec iov[1024];
	int i;

	fill_random(out, sizeof(out), 3);
	for (i = 0; i < 1024; i++)
		iov[i] = (struct iovec){ out + i * 333, 333 };
	send.iov_ptr = (uintptr_t)iov;
	ASSERT_EQ(ioctl(self->a, RDMACHAN_SEND, &send), 0);
	ASSERT_EQ(read(self->b, back, sizeof(back)), sizeof(back));
	EXPECT_TRUE(is_random(back, sizeof(back), 3));
}

TEST_F(chan, ipv6)
{
	struct rdmachan_accept_args accept = { .size = sizeof(accept) };
	struct rdmachan_addr addr = own_address6(), there = peer_address6();
	int listener = do_listen(self->peer, SERVICE, NULL);
	int chan = do_connect_to(self->ctx, &there, SERVICE, NULL);
	char back[8];

	ASSERT_GE(chan, 0);
	ASSERT_EQ(ioctl(listener, RDMACHAN_ACCEPT, &accept), 0);
	EXPECT_EQ(accept.out_peer.family, AF_INET6);
	EXPECT_EQ(memcmp(accept.out_peer.addr, addr.addr, 16), 0);
	EXPECT_EQ(write(chan, "six", 3), 3);
	EXPECT_EQ(read(accept.out_fd, back, 8), 3);
}

TEST_F(chan, accept_tells_the_peer)
{
	struct rdmachan_accept_args accept = { .size = sizeof(accept) };
	struct rdmachan_addr addr = own_address();
	int listener = do_listen(self->peer, SERVICE, NULL);
	int chan = do_connect(self->ctx, SERVICE, NULL);

	ASSERT_GE(chan, 0);
	ASSERT_EQ(ioctl(listener, RDMACHAN_ACCEPT, &accept), 0);
	EXPECT_EQ(accept.out_peer.family, AF_INET);
	EXPECT_EQ(memcmp(accept.out_peer.addr, addr.addr, 16), 0);
	EXPECT_EQ(accept.out_peer_claimed_uid, 0);
}

TEST_F(chan, empty_message)
{
	struct rdmachan_recv_args recv;
	char back[8];

	EXPECT_EQ(do_send(self->a, NULL, 0, 5, NULL), 0);
	EXPECT_EQ(do_send(self->a, "x", 1, 6, NULL), 0);
	ASSERT_EQ(do_recv(self->b, back, sizeof(back), &recv, NULL), 0);
	EXPECT_EQ(recv.out_length, 0);
	EXPECT_EQ(recv.out_msg_flags, 5);
	EXPECT_EQ(recv.out_flags, 0);
	ASSERT_EQ(do_recv(self->b, back, sizeof(back), &recv, NULL), 0);
	EXPECT_EQ(recv.out_length, 1);
	EXPECT_EQ(recv.out_msg_flags, 6);
}

/* Where they are copied by words, and a little more: from and to any address, and nothing else. */
TEST_F(chan, each_small_size)
{
	unsigned char out[300], back[300], same[300];
	size_t len, from, to;

	memset(same, 0x5a, sizeof(same));
	for (len = 0; len <= 264; len++) {
		from = len % 7;
		to = len % 11;
		fill_random(out + from, len, len);
		memset(back, 0x5a, sizeof(back));
		/* A frame of one with flags has headers. */
		ASSERT_EQ(do_send(self->a, out + from, len, len % 3, NULL), 0);
		ASSERT_EQ(do_recv(self->b, back + to, len, NULL, NULL), 0);
		EXPECT_TRUE(is_random(back + to, len, len));
		EXPECT_EQ(memcmp(back, same, to), 0);
		EXPECT_EQ(memcmp(back + to + len, same, sizeof(back) - to - len), 0);
	}
}

TEST_F(chan, message_sizes)
{
	static const size_t sizes[] = {
		1, 2, 7, 8, 9, 2047, 2048, 2049, 4095, 4096, 4097, 16300, 16352, 16360,
		16384, 16400, 32768, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, BIG, BIG + 13,
	};
	char *out = malloc(BIG + 64), *back = malloc(BIG + 64);
	size_t i;
	pid_t child;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill_random(out, sizes[i], i);
		child = LATER(0, do_send(self->a, out, sizes[i], 0, NULL));
		EXPECT_EQ(read(self->b, back, BIG + 64), sizes[i]);
		EXPECT_TRUE(is_random(back, sizes[i], i));
		child_status(child);
	}
}

TEST_F(chan, buffer_too_small)
{
	static const size_t sizes[] = { 10, 3000, 20000, 300000 };
	char *out = calloc(1, 300000), *back = malloc(300000);
	struct rdmachan_recv_args recv;
	size_t i;
	int next;

	for (i = 0; i < 4; i++) {
		fill_random(out, sizes[i], i);
		ASSERT_EQ(do_send(self->a, out, sizes[i], 9, NULL), 0);
		EXPECT_ERR(do_recv(self->b, back, sizes[i] - 1, &recv, NULL), EMSGSIZE);
		EXPECT_EQ(recv.out_length, sizes[i]);
		EXPECT_ERR(read(self->b, back, 0), EMSGSIZE);
		EXPECT_ERR(read(self->b, back, 1), EMSGSIZE);
		EXPECT_EQ(ioctl(self->b, FIONREAD, &next), 0);
		EXPECT_EQ(next, sizes[i]);
		ASSERT_EQ(do_recv(self->b, back, sizes[i], &recv, NULL), 0);
		EXPECT_EQ(recv.out_length, sizes[i]);
		EXPECT_EQ(recv.out_msg_flags, 9);
		EXPECT_TRUE(is_random(back, sizes[i], i));
	}
	EXPECT_EQ(ioctl(self->b, FIONREAD, &next), 0);
	EXPECT_EQ(next, 0);
}

static size_t random_size(uint64_t *seed)
{
	uint64_t value = next_random(seed);

	switch (value % 16) {
	case 0: return 0;
	case 1: return (value >> 8) % 200000;
	case 2 ... 5: return (value >> 8) % 20000;
	default: return (value >> 8) % 3000;
	}
}

static void send_many(int chan, int count, uint64_t seed)
{
	char *data = malloc(200000);
	size_t len;

	while (count--) {
		len = random_size(&seed);
		fill_random(data, len, seed);
		ASSERT_EQ(do_send(chan, data, len, count & 0xffff, NULL), 0);
	}
	free(data);
}

static void receive_many(int chan, int count, uint64_t seed)
{
	char *data = malloc(200000);
	struct rdmachan_recv_args recv;
	size_t len;

	while (count--) {
		len = random_size(&seed);
		ASSERT_EQ(do_recv(chan, data, 200000, &recv, NULL), 0);
		ASSERT_EQ(recv.out_length, len);
		ASSERT_EQ(recv.out_msg_flags, count & 0xffff);
		ASSERT_TRUE(is_random(data, len, seed));
	}
	free(data);
}

TEST_F_TIMEOUT(chan, thousands_both_ways, 120)
{
	const int count = 4000;
	pid_t children[3];
	int i;

	children[0] = LATER(0, send_many(self->a, count, 1));
	children[1] = LATER(0, send_many(self->b, count, 2));
	children[2] = LATER(0, receive_many(self->b, count, 1));
	receive_many(self->a, count, 2);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(child_status(children[i]), 0);
}

TEST_F(chan, would_block)
{
	char back[8];

	set_nonblock(self->a);
	EXPECT_ERR(read(self->a, back, 8), EAGAIN);
	EXPECT_ERR(do_recv(self->a, back, 8, NULL, NULL), EAGAIN);
	EXPECT_ERR(do_recv(self->b, back, 8, NULL, DONTWAIT), EAGAIN);
	EXPECT_GT(fill_up(self->a, 30000), 10);
	EXPECT_ERR(write(self->a, back, 8), EAGAIN);
	EXPECT_EQ(poll_mask(self->a, POLLIN | POLLOUT, 0), 0);
}

TEST_F(chan, nonblocking_larger_than_buffer)
{
	char *data = calloc(1, 2 << 20);
	struct rdmachan_error error;

	EXPECT_ERR(do_send(self->a, data, (1 << 20) + 1, 0,
			   &(struct opts){ .flags = RDMACHAN_IO_F_DONTWAIT, .error = &error }),
		   EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SEND_BUFFER);
	EXPECT_EQ(error.error, EMSGSIZE);
	EXPECT_EQ(error.op, RDMACHAN_OP_SEND);
	EXPECT_EQ(error.detail, 1 << 20);
	EXPECT_EQ(do_send(self->a, data, 1 << 20, 0, DONTWAIT), 0);
	EXPECT_EQ(read(self->b, data, 2 << 20), 1 << 20);
}

/* A record of another call with the same errno is not said of this one. */
TEST_F(chan, each_emsgsize_has_its_own_record)
{
	const struct opts limit = {
		.tuning = { .message_max = 200000, .send_buffer = RDMACHAN_BUFFER_MIN },
	};
	struct rdmachan_error error;
	struct opts told = { .error = &error };
	struct rdmachan_recv_args recv = {
		.size = sizeof(recv), .error_ptr = (uintptr_t)&error,
	};
	char *data = calloc(1, 300000);
	int fds[2];

	pair_up(self->ctx, fds, &limit);
	EXPECT_ERR(do_send(fds[0], data, 200001, 0, &told), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MESSAGE_SIZE);
	EXPECT_EQ(error.detail, 200000);
	told.flags = RDMACHAN_IO_F_DONTWAIT;
	EXPECT_ERR(do_send(fds[0], data, 200000, 0, &told), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SEND_BUFFER);
	EXPECT_EQ(error.detail, RDMACHAN_BUFFER_MIN);
	EXPECT_ERR(do_send(fds[0], data, 200001, 0, &told), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MESSAGE_SIZE);
	EXPECT_EQ(write(fds[1], data, 10), 10);
	memset(&error, 0xee, sizeof(error));
	error.size = sizeof(error);
	EXPECT_ERR(ioctl(fds[0], RDMACHAN_RECV, &recv), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	EXPECT_EQ(error.error, 0);
	EXPECT_EQ(recv.out_length, 10);
}

TEST_F(chan, full_channel_empties_again)
{
	int i, count, len = 30000;
	char *data = malloc(len);

	count = fill_up(self->a, len);
	ASSERT_GT(count, 10);
	for (i = 0; i < count; i++)
		ASSERT_EQ(do_recv(self->b, data, len, NULL, TIMEOUT(20000)), 0);
	EXPECT_ERR(do_recv(self->b, data, len, NULL, DONTWAIT), EAGAIN);
	EXPECT_EQ(poll_mask(self->a, POLLOUT, 20000), POLLOUT);
	EXPECT_EQ(do_send(self->a, data, 100, 0, TIMEOUT(20000)), 0);
	EXPECT_EQ(do_recv(self->b, data, len, NULL, TIMEOUT(20000)), 0);
}

/* A program that does not read stops the own channel only. */
TEST_F(chan, slow_reader)
{
	struct rdmachan_object one, two;
	char data[5000];
	int other[2], i;

	pair_up(self->ctx, other, NULL);
	ASSERT_EQ(get_object(self->a, &one), 0);
	ASSERT_EQ(get_object(other[0], &two), 0);
	EXPECT_EQ(one.link_id, two.link_id);
	ASSERT_GT(fill_up(self->a, 30000), 10);
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(do_send(other[0], data, 1 + i * 4, 0, TIMEOUT(20000)), 0);
		ASSERT_EQ(do_recv(other[1], data, sizeof(data), NULL, TIMEOUT(20000)), 0);
		ASSERT_EQ(do_send(other[1], data, 1 + i * 4, 0, TIMEOUT(20000)), 0);
		ASSERT_EQ(do_recv(other[0], data, sizeof(data), NULL, TIMEOUT(20000)), 0);
	}
	ASSERT_EQ(get_object(self->a, &one), 0);
	EXPECT_GT(one.tx_stalls, 0);
	EXPECT_GT(one.tx_queued, 0);
}

TEST_F(chan, larger_than_receive_buffer)
{
	const struct opts small = {
		.tuning = { .recv_buffer = RDMACHAN_BUFFER_MIN,
			    .send_buffer = RDMACHAN_BUFFER_MIN },
	};
	char *out = malloc(BIG), *back = malloc(BIG);
	int i, fds[2];
	pid_t child;

	pair_up(self->ctx, fds, &small);
	child = LATER(0, {
		for (i = 0; i < 4; i++) {
			fill_random(out, BIG - i, i);
			ASSERT_EQ(do_send(fds[i & 1], out, BIG - i, 0, NULL), 0);
		}
	});
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(do_recv(fds[~i & 1], back, BIG, NULL, TIMEOUT(10000)), 0);
		EXPECT_TRUE(is_random(back, BIG - i, i));
	}
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(chan, larger_than_message_max)
{
	const struct opts limit = { .tuning = { .message_max = 5000 } };
	struct rdmachan_error error;
	struct rdmachan_object object;
	char data[6000];
	int fds[2];

	pair_up(self->ctx, fds, &limit);
	EXPECT_ERR(do_send(fds[0], data, 5001, 0, &(struct opts){ .error = &error }), EMSGSIZE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_MESSAGE_SIZE);
	EXPECT_EQ(error.detail, 5000);
	EXPECT_EQ(error.error, EMSGSIZE);
	EXPECT_EQ(error.op, RDMACHAN_OP_SEND);
	EXPECT_ERR(write(fds[0], data, 5001), EMSGSIZE);
	EXPECT_EQ(write(fds[0], data, 5000), 5000);
	EXPECT_EQ(read(fds[1], data, sizeof(data)), 5000);
	EXPECT_ERR(write(fds[1], data, 5001), EMSGSIZE);
	ASSERT_EQ(get_object(fds[0], &object), 0);
	EXPECT_EQ(object.peer_message_max, 5000);
}

TEST_F(chan, poll_masks)
{
	const short all = POLLIN | POLLOUT | POLLRDHUP;
	int listener = do_listen(self->peer, SERVICE, NULL);
	char c;
	int chan;

	EXPECT_EQ(poll_mask(listener, all, 0), 0);
	chan = do_connect(self->ctx, SERVICE, NULL);
	EXPECT_EQ(poll_mask(listener, all, 20000), POLLIN);
	close(do_accept(listener, NULL));
	EXPECT_EQ(poll_mask(listener, all, 0), 0);
	EXPECT_EQ(poll_mask(chan, POLLIN | POLLRDHUP, 20000), POLLIN | POLLRDHUP | POLLHUP);
	EXPECT_EQ(poll_mask(self->a, all, 0), POLLOUT);
	EXPECT_EQ(write(self->b, "x", 1), 1);
	EXPECT_EQ(poll_mask(self->a, POLLIN, 20000), POLLIN);
	EXPECT_EQ(poll_mask(self->a, all, 0), POLLIN | POLLOUT);
	EXPECT_EQ(read(self->a, &c, 1), 1);
	EXPECT_EQ(poll_mask(self->a, all, 0), POLLOUT);
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(poll_mask(self->a, POLLIN | POLLRDHUP, 20000), POLLIN | POLLRDHUP);
	EXPECT_EQ(poll_mask(self->a, all, 0), POLLIN | POLLOUT | POLLRDHUP);
}

/* No room, and nothing to wait for: a send fails at once. */
TEST_F(chan, poll_when_sends_are_refused)
{
	static char data[30000];
	int fds[2];

	ASSERT_GT(fill_up(self->a, sizeof(data)), 0);
	EXPECT_EQ(poll_mask(self->a, POLLOUT, 0), 0);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(poll_mask(self->a, POLLOUT, 0), POLLOUT);
	EXPECT_ERR(write(self->a, data, 1), EPIPE);

	pair_up(self->ctx, fds, NULL);
	ASSERT_GT(fill_up(fds[0], sizeof(data)), 0);
	LATER(50, do_shutdown(fds[1], RDMACHAN_SHUTDOWN_RECV));
	EXPECT_EQ(poll_mask(fds[0], POLLOUT, 20000), POLLOUT);
	EXPECT_ERR(write(fds[0], data, 1), EPIPE);
}

TEST_F(chan, epoll_edges)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0);
	char c;
	int i;

	ASSERT_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, self->b, &event), 0);
	EXPECT_EQ(epoll_wait(ep, &event, 1, 0), 0);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(write(self->a, "x", 1), 1);
		ASSERT_EQ(epoll_wait(ep, &event, 1, 20000), 1);
		ASSERT_EQ(read(self->b, &c, 1), 1);
	}
	EXPECT_EQ(epoll_wait(ep, &event, 1, 10), 0);
}

TEST_F(chan, connect_without_waiting)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int listener = do_listen(self->peer, SERVICE, NULL);
	struct rdmachan_error error;
	struct rdmachan_object object;
	int chan, back;

	chan = do_connect(self->ctx, SERVICE, &nonblock);
	ASSERT_GE(chan, 0);
	EXPECT_EQ(poll_mask(chan, POLLOUT, 20000), POLLOUT);
	ASSERT_EQ(get_error(chan, &error), 0);
	EXPECT_EQ(error.error, 0);
	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	back = do_accept(listener, NULL);
	EXPECT_EQ(write(chan, "x", 1), 1);
	EXPECT_TRUE(wait_readable(back, 20000));

	chan = do_connect(self->ctx, SERVICE + 1, &nonblock);
	ASSERT_GE(chan, 0);
	EXPECT_EQ(poll_mask(chan, POLLOUT, 20000) & POLLOUT, POLLOUT);
	EXPECT_TRUE(poll_mask(chan, POLLOUT, 0) & POLLERR);
	ASSERT_EQ(get_error(chan, &error), 0);
	EXPECT_EQ(error.error, ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_SERVICE);
	EXPECT_EQ(error.service, SERVICE + 1);
	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_FAILED);
	EXPECT_ERR(write(chan, "x", 1), ECONNREFUSED);
	EXPECT_ERR(read(chan, &object, sizeof(object)), ECONNREFUSED);
}

TEST_F(chan, use_while_connecting)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	struct rdmachan_addr addr = address_of("10.77.0.99");
	struct rdmachan_object object;
	int chan = do_connect_to(self->ctx, &addr, SERVICE, &nonblock);

	ASSERT_GE(chan, 0);
	EXPECT_ERR(write(chan, "x", 1), ENOTCONN);
	EXPECT_ERR(read(chan, &addr, 1), ENOTCONN);
	EXPECT_ERR(do_shutdown(chan, RDMACHAN_SHUTDOWN_SEND), ENOTCONN);
	EXPECT_EQ(poll_mask(chan, POLLIN | POLLOUT, 0), 0);
	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_CONNECTING);
	close(chan);
}

#define EXPECT_TIMEOUT(call, ms)						\
	do {									\
		int64_t begun_ = tick_ms();					\
										\
		EXPECT_ERR(call, ETIMEDOUT);					\
		EXPECT_TOOK(begun_, ms, LIMIT_LATE(ms));			\
	} while (0)

TEST_F(chan, timeouts)
{
	int listener = do_listen(self->peer, SERVICE, NULL);
	char *data = calloc(1, BIG);
	int len;

	EXPECT_TIMEOUT(do_accept(listener, TIMEOUT(200)), 200);
	EXPECT_TIMEOUT(do_recv(self->a, data, 8, NULL, TIMEOUT(200)), 200);
	fill_up(self->a, 30000);
	EXPECT_TIMEOUT(do_send(self->a, data, 30000, 0, TIMEOUT(200)), 200);
	/* Times out in the middle: nothing of it comes. */
	EXPECT_EQ(do_send(self->b, data, 700000, 0, NULL), 0);
	EXPECT_TIMEOUT(do_send(self->b, data, BIG, 0, TIMEOUT(300)), 300);
	EXPECT_EQ(do_recv(self->a, data, BIG, NULL, NULL), 0);
	EXPECT_EQ(do_send(self->b, "after", 5, 0, TIMEOUT(10000)), 0);
	EXPECT_EQ(do_recv(self->a, data, BIG, NULL, TIMEOUT(10000)), 0);
	EXPECT_EQ(memcmp(data, "after", 5), 0);
	EXPECT_EQ(ioctl(self->a, FIONREAD, &len), 0);
	EXPECT_EQ(len, 0);
}

TEST_F(chan, signals)
{
	struct rdmachan_addr addr = address_of("10.77.0.97");
	int listener = do_listen(self->peer, SERVICE, NULL);
	char *data = calloc(1, BIG);

	EXPECT_EINTR(100, false, do_accept(listener, NULL));
	EXPECT_EINTR(100, false, do_connect_to(self->ctx, &addr, SERVICE, NULL));
	EXPECT_EINTR(100, false, do_recv(self->a, data, 8, NULL, NULL));
	EXPECT_EINTR(100, false, read(self->a, data, 8));
	EXPECT_EQ(do_send(self->b, data, 700000, 0, NULL), 0);
	EXPECT_EINTR(100, false, do_send(self->b, data, BIG, 0, NULL));
	fill_up(self->a, 30000);
	EXPECT_EINTR(100, false, do_send(self->a, data, 30000, 0, NULL));
	EXPECT_EINTR(100, false, write(self->a, data, 8));
}

/* With a timeout SA_RESTART does not restart. */
TEST_F(chan, signals_with_timeout)
{
	int listener = do_listen(self->peer, SERVICE, NULL);
	char data[8];

	EXPECT_EINTR(100, true, do_accept(listener, TIMEOUT(3000)));
	EXPECT_EINTR(100, true, do_recv(self->a, data, 8, NULL, TIMEOUT(3000)));
	fill_up(self->a, 30000);
	EXPECT_EINTR(100, true, do_send(self->a, data, 8, 0, TIMEOUT(3000)));
}

TEST_F(chan, signals_restart)
{
	int listener = do_listen(self->peer, SERVICE, NULL);
	char *data = calloc(1, 30000);

	on_alarm(100, true);
	LATER(300, { ASSERT_GE(do_connect(self->ctx, SERVICE, NULL), 0); sleep_ms(300); });
	EXPECT_GE(do_accept(listener, NULL), 0);
	on_alarm(100, true);
	LATER(300, write(self->b, "x", 1));
	EXPECT_EQ(read(self->a, data, 8), 1);
	on_alarm(100, true);
	LATER(300, write(self->b, "x", 1));
	EXPECT_EQ(do_recv(self->a, data, 8, NULL, NULL), 0);
	fill_up(self->a, 30000);
	on_alarm(100, true);
	LATER(300, {
		while (!do_recv(self->b, data, 30000, NULL, TIMEOUT(500)))
			continue;
	});
	EXPECT_EQ(write(self->a, data, 30000), 30000);
}

TEST_F(chan, fork_shares)
{
	char back[8];
	pid_t child = fork();

	if (!child) {
		close(self->b);
		ASSERT_EQ(write(self->a, "child", 5), 5);
		_exit(0);
	}
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(read(self->b, back, 8), 5);
	/* The end of the child was not the end of the channel. */
	EXPECT_EQ(write(self->a, "here", 4), 4);
	EXPECT_EQ(read(self->b, back, 8), 4);
}

static int pass(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	if (fd >= 0) {
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
		return sendmsg(sock, &msg, 0) == 1 ? 0 : -1;
	}
	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

TEST_F(chan, passed_by_socket)
{
	int socks[2], fd;
	char back[8];

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	ASSERT_EQ(pass(socks[0], self->a), 0);
	close(self->a);
	self->a = -1;
	sleep_ms(50);
	/* In flight it lives on. */
	EXPECT_EQ(write(self->b, "to", 2), 2);
	fd = pass(socks[1], -1);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(read(fd, back, 8), 2);
	EXPECT_EQ(write(fd, "from", 4), 4);
	EXPECT_EQ(read(self->b, back, 8), 4);
}

TEST_F(chan, query_and_list)
{
	struct rdmachan_object object, objects[64];
	struct rdmachan_list_args list = {
		.size = sizeof(list),
		.flags = RDMACHAN_LIST_F_ALL,
		.objects_ptr = (uintptr_t)objects,
		.objects_max = 64,
		.object_size = sizeof(*objects),
	};
	struct rdmachan_addr addr = own_address(), there = peer_address();
	char back[100];
	uint64_t link;
	int found = 0;
	uint32_t i;

	EXPECT_EQ(write(self->a, back, 100), 100);
	EXPECT_EQ(write(self->a, back, 50), 50);
	EXPECT_EQ(read(self->b, back, 100), 100);
	EXPECT_TRUE(wait_readable(self->b, 20000));
	ASSERT_EQ(get_object(self->b, &object), 0);
	EXPECT_EQ(object.kind, RDMACHAN_KIND_CHANNEL);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(object.service, SERVICE);
	EXPECT_EQ(object.active, 0);
	EXPECT_EQ(object.rx_messages, 1);
	EXPECT_EQ(object.rx_bytes, 100);
	EXPECT_EQ(object.rx_next, 50);
	EXPECT_GE(object.rx_queued, 50);
	EXPECT_EQ(object.uid, 0);
	EXPECT_EQ(object.peer_claimed_uid, 0);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.active, 1);
	EXPECT_EQ(object.tx_messages, 2);
	EXPECT_EQ(object.tx_bytes, 150);
	EXPECT_EQ(memcmp(object.peer.addr, there.addr, 16), 0);
	EXPECT_EQ(memcmp(object.local.addr, addr.addr, 16), 0);
	EXPECT_EQ(object.dev_port, 1);
	EXPECT_GT(strlen(object.device), 0);
	EXPECT_GE(object.frame_size, 1024);
	EXPECT_GT(object.created_ns, 1000000000ULL * 1000000000ULL);
	link = object.link_id;
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
	for (i = 0; i < list.out_count; i++) {
		if (objects[i].id == object.id)
			found |= 1;
		if (objects[i].id != link)
			continue;
		found |= 2;
		EXPECT_EQ(objects[i].kind, RDMACHAN_KIND_LINK);
		EXPECT_GE(objects[i].channels, 1);
		EXPECT_GT(objects[i].tx_frames, 0);
		EXPECT_EQ(objects[i].service, 0);
	}
	EXPECT_EQ(found, 3);
}

TEST_F(chan, waiting_channel_listed)
{
	int listener = do_listen(self->peer, SERVICE, NULL), chan, i;
	struct rdmachan_object object;

	/* As soon as the connect is over, which another processor may see early. */
	for (i = 0; i < 50; i++) {
		chan = do_connect(self->ctx, SERVICE, NULL);
		ASSERT_GE(chan, 0);
		ASSERT_EQ(get_object(listener, &object), 0);
		EXPECT_EQ(object.kind, RDMACHAN_KIND_LISTENER);
		EXPECT_EQ(object.channels, 1);
		EXPECT_EQ(object.offered, i + 1);
		EXPECT_EQ(object.accepted, i);
		close(do_accept(listener, NULL));
		ASSERT_EQ(get_object(listener, &object), 0);
		EXPECT_EQ(object.channels, 0);
		EXPECT_EQ(object.accepted, i + 1);
		close(chan);
	}
}

/* A message sent before the channel was accepted waits there. */
TEST_F(chan, send_before_accept)
{
	int listener = do_listen(self->peer, SERVICE, NULL);
	int chan = do_connect(self->ctx, SERVICE, NULL);
	char back[8];
	int peer;

	EXPECT_EQ(write(chan, "early", 5), 5);
	close(chan);
	sleep_ms(50);
	peer = do_accept(listener, TIMEOUT(20000));
	ASSERT_GE(peer, 0);
	EXPECT_EQ(read(peer, back, 8), 5);
	EXPECT_EQ(read(peer, back, 8), 0);
}

struct sharer {
	int chan;
	int count;
};

static void *share_sending(void *arg)
{
	struct sharer *sharer = arg;
	char data[9000];
	int i;

	for (i = 0; i < sharer->count; i++) {
		memset(data, i, sizeof(data));
		if (do_send(sharer->chan, data, 1 + (i * 37) % sizeof(data), 0, NULL))
			return arg;
	}
	return NULL;
}

/* Messages of threads that send at once do not mix. */
TEST_F(chan, threads_share)
{
	struct sharer sharer = { self->a, 300 };
	struct rdmachan_recv_args recv;
	pthread_t threads[8];
	char data[9000];
	void *failed;
	size_t n;
	int i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(pthread_create(&threads[i], NULL, share_sending, &sharer), 0);
	for (i = 0; i < 8 * sharer.count; i++) {
		ASSERT_EQ(do_recv(self->b, data, sizeof(data), &recv, TIMEOUT(5000)), 0);
		for (n = 1; n < recv.out_length; n++)
			ASSERT_EQ(data[n], data[0]);
	}
	for (i = 0; i < 8; i++) {
		pthread_join(threads[i], &failed);
		EXPECT_TRUE(!failed);
	}
}

TEST_HARNESS_MAIN
