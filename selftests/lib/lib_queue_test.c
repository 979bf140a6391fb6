// SPDX-License-Identifier: GPL-2.0
/*
 * lib_queue_test.c - queues, pools and regions, by the functions of the library
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "grant.h"
#include "inject.h"
#include "lib_fixture.h"

#define LARGE 262144UL
#define MINE 0x123456789abcdef0ULL
#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/*
 * Entries
 */

TEST_F(lib, queue_sizes_are_checked)
{
	static const uint32_t bad[] = { 0, 3, 32769, 2 * RDMACHAN_QUEUE_ENTRIES_MAX, 0xffffffff };
	struct rdmachan_error err;
	struct rdmachan_queue *q;
	size_t i;

	for (i = 0; i < COUNT(bad); i++) {
		errno = 0;
		ASSERT_TRUE(!rdmachan_queue_open(self->ctx, bad[i], 8, &err));
		EXPECT_EQ(errno, EINVAL);
		EXPECT_EQ(err.error, EINVAL);
		errno = 0;
		ASSERT_TRUE(!rdmachan_queue_open(self->ctx, 8, bad[i], NULL));
		EXPECT_EQ(errno, EINVAL);
		errno = 0;
		ASSERT_TRUE(!rdmachan_pool_open(self->q, bad[i], &err));
		EXPECT_EQ(errno, EINVAL);
		EXPECT_EQ(err.error, EINVAL);
	}
	errno = 0;
	ASSERT_TRUE(!rdmachan_queue_open_polled(self->ctx, 8, 8, RDMACHAN_POLLER_IDLE_MAX + 1,
						&err));
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(err.error, EINVAL);
	errno = 0;
	ASSERT_TRUE(!rdmachan_queue_open(-1, 8, 8, &err));
	EXPECT_EQ(errno, EBADF);
	EXPECT_EQ(err.error, EBADF);
	q = rdmachan_queue_open(self->ctx, RDMACHAN_QUEUE_ENTRIES_MAX,
				RDMACHAN_QUEUE_ENTRIES_MAX, NULL);
	ASSERT_TRUE(q);
	EXPECT_EQ(fcntl(rdmachan_queue_fd(q), F_GETFD), FD_CLOEXEC);
	rdmachan_queue_close(q);
	rdmachan_queue_close(NULL);
	rdmachan_pool_close(NULL);
}

/* Each time from another place of the rings, and until there is none left. */
TEST_F(lib, entries_until_full)
{
	static const struct rdmachan_sqe zeros;
	struct rdmachan_sqe *sqe;
	uint64_t data = 0;
	int round, i;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < ENTRIES; i++) {
			EXPECT_EQ(rdmachan_queue_sq_space(self->q), ENTRIES - i);
			sqe = rdmachan_queue_get_sqe(self->q);
			ASSERT_TRUE(sqe);
			EXPECT_EQ(memcmp(sqe, &zeros, sizeof(zeros)), 0);
			rdmachan_queue_prep_nop(sqe);
			sqe->user_data = data + i;
		}
		EXPECT_EQ(rdmachan_queue_sq_space(self->q), 0);
		EXPECT_TRUE(!rdmachan_queue_get_sqe(self->q));
		EXPECT_TRUE(!rdmachan_queue_get_sqe(self->q));
		ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), ENTRIES);
		EXPECT_EQ(rdmachan_queue_submit(self->q, NULL), 0);
		for (i = 0; i < ENTRIES; i++)
			EXPECT_DONE(self->q, data++, 0);
		nop(self->q, data);
		ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
		EXPECT_DONE(self->q, data++, 0);
	}
}

/* The entry has been used for something else, and has user data. */
#define EXPECT_ENTRY(prepare, ...)						\
	do {									\
		struct rdmachan_sqe want_ = { .user_data = MINE, __VA_ARGS__ };	\
		struct rdmachan_sqe sqe_, *sqe = &sqe_;				\
										\
		memset(sqe, 0xff, sizeof(*sqe));				\
		sqe->user_data = MINE;						\
		prepare;							\
		EXPECT_EQ(memcmp(sqe, &want_, sizeof(want_)), 0);		\
	} while (0)

TEST_F(lib, entries_are_prepared)
{
	const uint64_t big = 0xfedcba9876543210ULL;
	const struct iovec iov[2] = {};
	struct rdmachan_pool *pools[2];
	char *here = memory[3];
	int i;

	/* The number of the second one is not 0. */
	for (i = 0; i < 2; i++)
		pools[i] = rdmachan_pool_open(self->q, 1, NULL);
	ASSERT_TRUE(pools[0] && pools[1]);
	EXPECT_ENTRY(rdmachan_queue_prep_nop(sqe), .opcode = RDMACHAN_OPCODE_NOP);
	EXPECT_ENTRY(rdmachan_queue_prep_send(sqe, 5, here, 7, 9), .opcode = RDMACHAN_OPCODE_SEND,
		     .fd = 5, .addr = (uintptr_t)here, .length = 7, .msg_flags = 9);
	EXPECT_ENTRY(rdmachan_queue_prep_recv(sqe, 5, here, 7), .opcode = RDMACHAN_OPCODE_RECV,
		     .fd = 5, .addr = (uintptr_t)here, .length = 7);
	EXPECT_ENTRY(rdmachan_queue_prep_sendv(sqe, 5, iov, 2, 9), .opcode = RDMACHAN_OPCODE_SEND,
		     .flags = RDMACHAN_SQE_F_IOV, .fd = 5, .addr = (uintptr_t)iov, .length = 2,
		     .msg_flags = 9);
	EXPECT_ENTRY(rdmachan_queue_prep_send(sqe, 5, here, 7, 9);
		     rdmachan_sqe_set_delivered(sqe),
		     .opcode = RDMACHAN_OPCODE_SEND, .fd = 5, .addr = (uintptr_t)here, .length = 7,
		     .msg_flags = 9, .op_flags = RDMACHAN_SEND_F_DELIVERED);
	EXPECT_ENTRY(rdmachan_queue_prep_recvv(sqe, 5, iov, 2);
		     rdmachan_sqe_set_iov_region(sqe, 6), .opcode = RDMACHAN_OPCODE_RECV,
		     .flags = RDMACHAN_SQE_F_IOV | RDMACHAN_SQE_F_REGION, .fd = 5,
		     .addr = (uintptr_t)iov, .length = 2, .region = 6);
	EXPECT_ENTRY(rdmachan_queue_prep_recv_pool(sqe, 5, pools[1]),
		     .opcode = RDMACHAN_OPCODE_RECV, .fd = 5,
		     .op_flags = RDMACHAN_RECV_F_MULTISHOT, .pool = 1);
	EXPECT_ENTRY(rdmachan_queue_prep_recv_pool_region(sqe, 5, pools[1], 6),
		     .opcode = RDMACHAN_OPCODE_RECV, .flags = RDMACHAN_SQE_F_REGION, .fd = 5,
		     .op_flags = RDMACHAN_RECV_F_MULTISHOT, .pool = 1, .region = 6);
	EXPECT_ENTRY(rdmachan_queue_prep_send_region(sqe, 5, 6, big, big + 1, 9),
		     .opcode = RDMACHAN_OPCODE_SEND, .flags = RDMACHAN_SQE_F_REGION, .fd = 5,
		     .region = 6, .addr = big, .length = big + 1, .msg_flags = 9);
	EXPECT_ENTRY(rdmachan_queue_prep_recv_region(sqe, 5, 6, big, big + 1),
		     .opcode = RDMACHAN_OPCODE_RECV, .flags = RDMACHAN_SQE_F_REGION, .fd = 5,
		     .region = 6, .addr = big, .length = big + 1);
	EXPECT_ENTRY(rdmachan_queue_prep_accept(sqe, 5, 3), .opcode = RDMACHAN_OPCODE_ACCEPT,
		     .fd = 5, .op_flags = 3);
	EXPECT_ENTRY(rdmachan_queue_prep_accept_many(sqe, 5, 3), .opcode = RDMACHAN_OPCODE_ACCEPT,
		     .fd = 5, .op_flags = 3 | RDMACHAN_ACCEPT_F_MULTISHOT);
	EXPECT_ENTRY(rdmachan_queue_prep_finish(sqe, 5), .opcode = RDMACHAN_OPCODE_FINISH, .fd = 5);
	EXPECT_ENTRY(rdmachan_queue_prep_message(sqe, 5, big, 9), .opcode = RDMACHAN_OPCODE_MESSAGE,
		     .fd = 5, .target = big, .length = 9);
	EXPECT_ENTRY(rdmachan_queue_prep_shutdown(sqe, 5, 3), .opcode = RDMACHAN_OPCODE_SHUTDOWN,
		     .fd = 5, .op_flags = 3);
	EXPECT_ENTRY(rdmachan_queue_prep_cancel64(sqe, big, 3), .opcode = RDMACHAN_OPCODE_CANCEL,
		     .fd = -1, .target = big, .op_flags = 3);
	EXPECT_ENTRY(rdmachan_queue_prep_cancel(sqe, here, 3), .opcode = RDMACHAN_OPCODE_CANCEL,
		     .fd = -1, .target = (uintptr_t)here, .op_flags = 3);
	for (i = 0; i < 2; i++)
		rdmachan_pool_close(pools[i]);
}

TEST_F(lib, connects_are_prepared)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	const struct rdmachan_addr addr = own_address();
	struct rdmachan_connect_args want;
	struct sockaddr_storage to;
	struct rdmachan_error err;
	struct rdmachan_room room;
	socklen_t length = rdmachan_addr_to_sockaddr(&addr, &to);

	options.timeout_ms = 5;
	options.tuning.message_max = 6;
	options.traffic_class = 7;
	memset(&err, 0xff, sizeof(err));
	memset(&room, 0xff, sizeof(room));
	EXPECT_ENTRY(ASSERT_EQ(rdmachan_queue_prep_connect(sqe, &room, (struct sockaddr *)&to,
							   length, 9, &options, &err), 0),
		     .opcode = RDMACHAN_OPCODE_CONNECT, .fd = -1, .addr = (uintptr_t)&room);
	want = (struct rdmachan_connect_args){
		.size = sizeof(want), .flags = RDMACHAN_FD_F_CLOEXEC, .addr = addr, .service = 9,
		.timeout_ms = 5, .tuning.message_max = 6, .traffic_class = 7,
		.error_ptr = (uintptr_t)&err,
	};
	EXPECT_EQ(memcmp(&room, &want, sizeof(want)), 0);
	EXPECT_EQ(err.size, sizeof(err));
	EXPECT_EQ(err.error, 0);
	/* What cannot be connected to does nothing when it is submitted all the same. */
	EXPECT_ENTRY(EXPECT_ERR(rdmachan_queue_prep_connect(sqe, &room, (struct sockaddr *)&to, 1,
							    9, &options, &err), EINVAL),
		     .opcode = RDMACHAN_OPCODE_NOP);
	EXPECT_EQ(err.error, EINVAL);
	EXPECT_EQ(err.op, RDMACHAN_OP_CONNECT);
	to.ss_family = AF_UNIX;
	EXPECT_ENTRY(EXPECT_ERR(rdmachan_queue_prep_connect(sqe, &room, (struct sockaddr *)&to,
							    length, 9, NULL, NULL), EAFNOSUPPORT),
		     .opcode = RDMACHAN_OPCODE_NOP);
	options.size = 3;
	EXPECT_ENTRY(EXPECT_ERR(rdmachan_queue_prep_connect(sqe, &room, (struct sockaddr *)&to,
							    length, 9, &options, NULL), EINVAL),
		     .opcode = RDMACHAN_OPCODE_NOP);
}

TEST_F(lib, user_data_comes_back)
{
	const struct rdmachan_cqe cqe = { .user_data = MINE };
	struct rdmachan_sqe sqe = {};
	char *here = memory[3];

	rdmachan_sqe_set_data(&sqe, here);
	EXPECT_EQ(sqe.user_data, (uintptr_t)here);
	rdmachan_sqe_set_data64(&sqe, MINE);
	EXPECT_EQ(sqe.user_data, MINE);
	EXPECT_EQ(rdmachan_cqe_get_data64(&cqe), MINE);
	EXPECT_EQ((uintptr_t)rdmachan_cqe_get_data(&cqe), (uintptr_t)MINE);
}

TEST_F(lib, entries_of_grants_are_prepared)
{
	const uint64_t big = 0xfedcba9876543210ULL;
	struct rdmachan_grant_args want;
	struct rdmachan_grant_range ranges[2] = {};
	const struct iovec iov[3] = {};
	struct rdmachan_room room;
	char *here = memory[3];

	EXPECT_ENTRY(rdmachan_queue_prep_grant_read(sqe, 5, 6, big, here, 7),
		     .opcode = RDMACHAN_OPCODE_READ, .fd = 5, .grant = 6, .grant_offset = big,
		     .addr = (uintptr_t)here, .length = 7);
	EXPECT_ENTRY(rdmachan_queue_prep_grant_write(sqe, 5, 6, big, here, 7),
		     .opcode = RDMACHAN_OPCODE_WRITE, .fd = 5, .grant = 6, .grant_offset = big,
		     .addr = (uintptr_t)here, .length = 7);
	EXPECT_ENTRY(rdmachan_queue_prep_grant_write(sqe, 5, 6, big, NULL, 7);
		     rdmachan_sqe_set_own_region(sqe, 8, big + 1);
		     rdmachan_sqe_set_notify(sqe, 9),
		     .opcode = RDMACHAN_OPCODE_WRITE, .flags = RDMACHAN_SQE_F_REGION, .fd = 5,
		     .grant = 6, .grant_offset = big, .region = 8, .addr = big + 1, .length = 7,
		     .op_flags = RDMACHAN_WRITE_F_NOTIFY, .msg_flags = 9);
	EXPECT_ENTRY(rdmachan_queue_prep_grant_fetch_add(sqe, 5, 6, big, big + 1),
		     .opcode = RDMACHAN_OPCODE_FETCH_ADD, .fd = 5, .grant = 6,
		     .grant_offset = big, .operand = big + 1);
	EXPECT_ENTRY(rdmachan_queue_prep_grant_compare_swap(sqe, 5, 6, big, big + 1, big + 2),
		     .opcode = RDMACHAN_OPCODE_COMPARE_SWAP, .fd = 5, .grant = 6,
		     .grant_offset = big, .compare = big + 1, .operand = big + 2);
	EXPECT_ENTRY(rdmachan_queue_prep_grant_release(sqe, 5, 6),
		     .opcode = RDMACHAN_OPCODE_RELEASE, .fd = 5, .grant = 6);
	memset(&room, 0xff, sizeof(room));
	EXPECT_ENTRY(rdmachan_queue_prep_grant_lend(sqe, &room, 5, 6, ranges, 2, iov, 3, 9),
		     .opcode = RDMACHAN_OPCODE_GRANT, .fd = 5, .addr = (uintptr_t)&room);
	want = (struct rdmachan_grant_args){
		.size = sizeof(want), .context = 6, .count = 2, .ranges_ptr = (uintptr_t)ranges,
		.range_size = sizeof(*ranges), .iov_ptr = (uintptr_t)iov, .iov_count = 3,
		.msg_flags = 9,
	};
	EXPECT_EQ(memcmp(&room, &want, sizeof(want)), 0);
	EXPECT_ENTRY(rdmachan_queue_prep_grant_revoke(sqe, 5, 6), .opcode = RDMACHAN_OPCODE_REVOKE,
		     .fd = 5, .grant = 6);
}

/* An entry that becomes another one is refused if something of the first is left. */
TEST_F(lib, entry_is_prepared_anew)
{
	struct rdmachan_sqe *sqe = entry(self->q, MINE);

	rdmachan_queue_prep_send_region(sqe, self->a, 5, 6, 7, 8);
	sqe->timeout_ms = 1;
	rdmachan_queue_prep_grant_compare_swap(sqe, self->a, 5, 6, 7, 8);
	rdmachan_queue_prep_nop(sqe);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_DONE(self->q, MINE, 0);
}

/*
 * Messages
 */

TEST_F(lib, messages)
{
	struct rdmachan_cqe cqes[2];
	char from[1000], to[1001];

	fill_random(from, sizeof(from), 1);
	memset(to, 0x33, sizeof(to));
	rdmachan_queue_prep_recv(entry(self->q, 0), self->b, to, sizeof(to));
	rdmachan_queue_prep_send(entry(self->q, 1), self->a, from, sizeof(from), 0xbeef);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 2);
	collect(self->q, cqes, 2);
	EXPECT_EQ(cqes[0].res, 1000);
	EXPECT_EQ(cqes[0].length, 1000);
	EXPECT_EQ(cqes[0].msg_flags, 0xbeef);
	EXPECT_EQ(cqes[0].flags, 0);
	EXPECT_EQ(cqes[1].res, 1000);
	EXPECT_TRUE(is_random(to, sizeof(from), 1));
	EXPECT_EQ(to[1000], 0x33);
	/* One that is empty is not the end. */
	rdmachan_queue_prep_send(entry(self->q, 0), self->a, NULL, 0, 1);
	rdmachan_queue_prep_recv(entry(self->q, 1), self->b, to, sizeof(to));
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 2);
	collect(self->q, cqes, 2);
	EXPECT_EQ(cqes[0].res, 0);
	EXPECT_EQ(cqes[1].res, 0);
	EXPECT_EQ(cqes[1].flags, 0);
	EXPECT_EQ(cqes[1].msg_flags, 1);
}

/* One by a queue, and one by a call; what the peer's program does not receive is told as well. */
TEST_F(lib, delivered_messages)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { "some", 4 };
	struct rdmachan_sqe *sqe;
	struct rdmachan_error err;
	struct rdmachan_cqe cqe;
	uint64_t number = 77;
	char to[8];
	pid_t child;

	sqe = entry(self->q, MINE);
	rdmachan_queue_prep_send(sqe, self->a, "some", 4, 0);
	rdmachan_sqe_set_delivered(sqe);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	ASSERT_EQ(do_recv(self->b, to, sizeof(to), NULL, TIMEOUT(10000)), 0);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.user_data, MINE);
	EXPECT_EQ(cqe.res, 4);
	EXPECT_EQ(cqe.flags, 0);
	child = LATER(50, do_recv(self->b, to, sizeof(to), NULL, TIMEOUT(10000)));
	EXPECT_EQ(rdmachan_deliver(self->a, &iov, 1, NULL, &number, &err), 0);
	EXPECT_EQ(number, 2);
	child_status(child);
	transfer.timeout_ms = 50;
	EXPECT_ERR(rdmachan_deliver(self->a, &iov, 1, &transfer, &number, &err), ETIMEDOUT);
	EXPECT_EQ(number, 3);
	close(self->b);
	self->b = -1;
	EXPECT_ERR(rdmachan_deliver(self->a, &iov, 1, &transfer, &number, NULL), EPIPE);
	EXPECT_EQ(number, 0);
	EXPECT_ERR(rdmachan_deliver(self->a, &iov, 1, NULL, NULL, &err), EPIPE);
	EXPECT_EQ(err.cause, RDMACHAN_CAUSE_PEER_CLOSED);
}

TEST_F(lib, buffer_is_too_small)
{
	struct rdmachan_cqe cqe;
	char to[100];

	ASSERT_EQ(do_send(self->a, memory, 101, 7, NULL), 0);
	rdmachan_queue_prep_recv(entry(self->q, MINE), self->b, to, sizeof(to));
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.user_data, MINE);
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.length, 101);
	rdmachan_queue_prep_recv(entry(self->q, 1), self->b, memory, 101);
	EXPECT_EQ(alone(self->q), 101);
}

TEST_F(lib, shutdown)
{
	struct rdmachan_cqe cqes[2];
	char to[100];

	rdmachan_queue_prep_recv(entry(self->q, 0), self->b, to, sizeof(to));
	rdmachan_queue_prep_shutdown(entry(self->q, 1), self->a, RDMACHAN_SHUTDOWN_SEND);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 2);
	collect(self->q, cqes, 2);
	EXPECT_EQ(cqes[1].res, 0);
	EXPECT_EQ(cqes[0].res, 0);
	EXPECT_EQ(cqes[0].flags, RDMACHAN_CQE_F_EOF);
	rdmachan_queue_prep_send(entry(self->q, 2), self->a, "x", 1, 0);
	EXPECT_EQ(alone(self->q), -EPIPE);
	/* The other direction goes on. */
	rdmachan_queue_prep_send(entry(self->q, 2), self->b, "x", 1, 0);
	EXPECT_EQ(alone(self->q), 1);
}

TEST_F(lib, connect_and_accept)
{
	int peer = open_peer(), listener = do_listen(peer, SERVICE, NULL);
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_connect_args connect;
	struct sockaddr_storage to;
	struct rdmachan_cqe cqes[2];
	struct rdmachan_error err;
	struct rdmachan_room room;
	socklen_t length;
	char back[8];

	ASSERT_GE(listener, 0);
	fill_connect(&connect, SERVICE, NULL);
	length = rdmachan_addr_to_sockaddr(&connect.addr, &to);
	options.flags = 0;
	rdmachan_queue_prep_accept(entry(self->q, 0), listener, RDMACHAN_FD_F_CLOEXEC);
	ASSERT_EQ(rdmachan_queue_prep_connect(entry(self->q, 1), &room, (struct sockaddr *)&to,
					      length, SERVICE, &options, NULL), 0);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 2);
	collect(self->q, cqes, 2);
	ASSERT_GE(cqes[0].res, 0);
	ASSERT_GE(cqes[1].res, 0);
	EXPECT_EQ(fcntl(cqes[0].res, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(fcntl(cqes[1].res, F_GETFD), 0);
	EXPECT_EQ(write(cqes[0].res, "hello", 5), 5);
	EXPECT_EQ(read(cqes[1].res, back, sizeof(back)), 5);
	EXPECT_EQ(memcmp(back, "hello", 5), 0);
	close(cqes[0].res);
	close(cqes[1].res);
	close(listener);
	close(peer);
	ASSERT_EQ(rdmachan_queue_prep_connect(entry(self->q, 1), &room, (struct sockaddr *)&to,
					      length, SERVICE + 1, NULL, &err), 0);
	EXPECT_EQ(alone(self->q), -ECONNREFUSED);
	EXPECT_EQ(err.error, ECONNREFUSED);
	EXPECT_EQ(err.cause, RDMACHAN_CAUSE_NO_SERVICE);
}

TEST_F(lib, cancel)
{
	struct rdmachan_cqe cqes[4];
	int i;

	for (i = 0; i < 3; i++)
		rdmachan_queue_prep_recv(entry(self->q, 7), self->b, memory[i], SIZE);
	rdmachan_queue_prep_cancel64(entry(self->q, 1), 7, 0);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 4);
	EXPECT_DONE(self->q, 7, -ECANCELED);
	EXPECT_DONE(self->q, 1, 1);
	rdmachan_queue_prep_cancel64(entry(self->q, 2), 7, RDMACHAN_CANCEL_F_ALL);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_DONE(self->q, 7, -ECANCELED);
	EXPECT_DONE(self->q, 7, -ECANCELED);
	EXPECT_DONE(self->q, 2, 2);
	rdmachan_queue_prep_cancel64(entry(self->q, 3), 7, 0);
	EXPECT_EQ(alone(self->q), -ENOENT);
	/* Flags that are set after an entry was prepared. */
	rdmachan_queue_prep_recv(entry(self->q, 0), self->b, memory[0], SIZE);
	rdmachan_queue_prep_recv(entry(self->q, 1), self->a, memory[1], SIZE);
	for (i = 2; i < 4; i++) {
		struct rdmachan_sqe *sqe = entry(self->q, i);

		rdmachan_queue_prep_recv(sqe, i < 3 ? self->a : self->b, memory[i], SIZE);
		sqe->timeout_ms = i < 3 ? 1 : 0;
		sqe->flags = i < 3 ? RDMACHAN_SQE_F_LINK : 0;
	}
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 4);
	EXPECT_DONE(self->q, 2, -ETIMEDOUT);
	EXPECT_DONE(self->q, 3, -ECANCELED);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(write(self->b, "yy", 2), 2);
	collect(self->q, cqes, 2);
	EXPECT_EQ(cqes[0].res, 1);
	EXPECT_EQ(cqes[1].res, 2);
}

/*
 * Waiting
 */

TEST_F(lib, looking_for_completions)
{
	int fd = rdmachan_queue_fd(self->q);
	struct rdmachan_cqe *cqe, *again;
	int64_t begun;

	cqe = (void *)memory;
	EXPECT_EQ(rdmachan_queue_peek_cqe(self->q, &cqe, NULL), 0);
	EXPECT_TRUE(!cqe);
	EXPECT_EQ(poll_mask(fd, POLLIN, 0), 0);
	begun = tick_ms();
	EXPECT_ERR(rdmachan_queue_wait_cqe(self->q, &cqe, 30, NULL), ETIMEDOUT);
	EXPECT_TOOK(begun, 30, LIMIT_LATE(30));
	EXPECT_TRUE(!cqe);
	rdmachan_queue_prep_recv(entry(self->q, 1), self->b, memory[0], SIZE);
	rdmachan_queue_prep_recv(entry(self->q, 2), self->b, memory[1], SIZE);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 2);
	EXPECT_EQ(poll_mask(fd, POLLIN, 0), 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(poll_mask(fd, POLLIN, 10000), POLLIN);
	ASSERT_EQ(rdmachan_queue_peek_cqe(self->q, &cqe, NULL), 1);
	EXPECT_EQ(cqe->user_data, 1);
	EXPECT_EQ(cqe->res, 1);
	/* It stays there until it was seen. */
	ASSERT_EQ(rdmachan_queue_peek_cqe(self->q, &again, NULL), 1);
	EXPECT_TRUE(again == cqe);
	ASSERT_EQ(rdmachan_queue_wait_cqe(self->q, &again, 1, NULL), 0);
	EXPECT_TRUE(again == cqe);
	rdmachan_queue_cqe_seen(self->q);
	EXPECT_EQ(rdmachan_queue_peek_cqe(self->q, &cqe, NULL), 0);
	EXPECT_EQ(poll_mask(fd, POLLIN, 0), 0);
	ASSERT_EQ(write(self->a, "yy", 2), 2);
	EXPECT_DONE(self->q, 2, 2);
}

TEST_F(lib, submitting_and_waiting)
{
	struct rdmachan_cqe *cqe;
	int64_t begun;
	pid_t child;

	nop(self->q, 1);
	nop(self->q, 2);
	ASSERT_EQ(rdmachan_queue_submit_and_wait(self->q, 2, 10000, NULL), 2);
	EXPECT_DONE(self->q, 1, 0);
	EXPECT_DONE(self->q, 2, 0);
	/* Taken entries were taken. */
	nop(self->q, 3);
	begun = tick_ms();
	EXPECT_ERR(rdmachan_queue_submit_and_wait(self->q, 2, 30, NULL), ETIMEDOUT);
	EXPECT_TOOK(begun, 30, LIMIT_LATE(30));
	EXPECT_EQ(rdmachan_queue_submit(self->q, NULL), 0);
	ASSERT_EQ(rdmachan_queue_peek_cqe(self->q, &cqe, NULL), 1);
	EXPECT_DONE(self->q, 3, 0);
	/* Until there are so many, and not for one. */
	rdmachan_queue_prep_recv(entry(self->q, 4), self->b, memory[0], SIZE);
	nop(self->q, 5);
	child = LATER(20, _exit(write(self->a, "x", 1) != 1));
	ASSERT_EQ(rdmachan_queue_submit_and_wait(self->q, 2, 10000, NULL), 2);
	EXPECT_DONE(self->q, 5, 0);
	EXPECT_DONE(self->q, 4, 1);
	EXPECT_EQ(child_status(child), 0);
	/* Waiting submits, too. */
	nop(self->q, 6);
	EXPECT_DONE(self->q, 6, 0);
}

/* An entry that is not taken goes out with the next call. */
TEST_F(lib, more_entries_than_operations)
{
	struct rdmachan_queue *q = rdmachan_queue_open(self->ctx, 8, 2, NULL);
	int i;

	ASSERT_TRUE(q);
	for (i = 0; i < 4; i++)
		rdmachan_queue_prep_recv(entry(q, i), self->b, memory[i], SIZE);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 2);
	EXPECT_EQ(rdmachan_queue_submit(q, NULL), 0);
	EXPECT_EQ(rdmachan_queue_sq_space(q), 6);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(write(self->a, "four", i + 1), i + 1);
	for (i = 0; i < 2; i++)
		watch(q, i, i + 1);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 2);
	for (i = 2; i < 4; i++)
		EXPECT_DONE(q, i, i + 1);
	rdmachan_queue_close(q);
}

/* Memory that is not there is brought by a call, which looking makes. */
TEST_F(lib, looking_makes_a_call)
{
	char *cold = pages(PAGE);
	struct rdmachan_cqe *cqe;

	rdmachan_queue_prep_recv(entry(self->q, 1), self->b, cold, PAGE);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_TRUE(wait_readable(rdmachan_queue_fd(self->q), 10000));
	ASSERT_EQ(rdmachan_queue_peek_cqe(self->q, &cqe, NULL), 1);
	EXPECT_EQ(cqe->res, 1);
	EXPECT_EQ(*cold, 'x');
	munmap(cold, PAGE);
}

static int look(struct rdmachan_queue *q)
{
	struct rdmachan_cqe *cqe;

	return rdmachan_queue_peek_cqe(q, &cqe, NULL) - 1;
}

static int look_and_wait(struct rdmachan_queue *q)
{
	struct rdmachan_cqe *cqe;

	return rdmachan_queue_wait_cqe(q, &cqe, 10000, NULL);
}

static int waiting_bytes(int chan)
{
	int bytes = -1;

	ASSERT_EQ(ioctl(chan, FIONREAD, &bytes), 0);
	return bytes;
}

/* The call that brings memory comes when an entry was got, and another is to follow it. */
static void look_amid_a_chain(struct fixture_lib *self, struct rdmachan_queue *q,
			      int (*use)(struct rdmachan_queue *))
{
	int64_t until = now_ms() + 10000;
	char *cold = pages(PAGE);
	struct rdmachan_sqe *sqe;

	ASSERT_TRUE(q);
	nop(q, 1);
	rdmachan_queue_prep_recv(entry(q, 2), self->b, cold, PAGE);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 2);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	while (!waiting_bytes(self->b) && now_ms() < until)
		sleep_ms(1);
	/* With none at hand, a waiter submits; a poller may not have come to the first yet. */
	while (!rdmachan_queue_cq_ready(q) && now_ms() < until)
		sleep_ms(1);
	sqe = entry(q, 3);
	while (waiting_bytes(self->b) && now_ms() < until) {
		ASSERT_EQ(use(q), 0);
		sleep_ms(1);
	}
	EXPECT_EQ(waiting_bytes(self->b), 0);
	rdmachan_queue_prep_recv(sqe, -1, memory[0], SIZE);
	sqe->flags = RDMACHAN_SQE_F_LINK;
	ASSERT_EQ(use(q), 0);
	nop(q, 4);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 2);
	EXPECT_DONE(q, 1, 0);
	EXPECT_DONE(q, 2, 1);
	EXPECT_DONE(q, 3, -EBADF);
	EXPECT_DONE(q, 4, -ECANCELED);
	munmap(cold, PAGE);
	rdmachan_queue_close(q);
}

TEST_F(lib, looking_submits_nothing)
{
	look_amid_a_chain(self, rdmachan_queue_open(self->ctx, 8, 8, NULL), look);
	look_amid_a_chain(self, rdmachan_queue_open(self->ctx, 8, 8, NULL), look_and_wait);
	look_amid_a_chain(self, rdmachan_queue_open_polled(self->ctx, 8, 8, 1, NULL), look);
	look_amid_a_chain(self, rdmachan_queue_open_polled(self->ctx, 8, 8, 1, NULL),
			  look_and_wait);
}

/* Several at a time, through the ring's end, and more than fit into it. */
TEST_F(lib, many_completions)
{
	struct rdmachan_queue *q = rdmachan_queue_open(self->ctx, 8, 8, NULL);
	struct rdmachan_cqe *cqes[9];
	uint64_t put = 0, seen = 0;
	int round, got, i;

	ASSERT_TRUE(q);
	EXPECT_EQ(rdmachan_queue_cq_ready(q), 0);
	EXPECT_EQ(rdmachan_queue_peek_cqes(q, cqes, 9, NULL), 0);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 5; i++)
			nop(q, put++);
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), 5);
		EXPECT_EQ(rdmachan_queue_cq_ready(q), 5);
		EXPECT_EQ(rdmachan_queue_peek_cqes(q, cqes, 0, NULL), 0);
		ASSERT_EQ(rdmachan_queue_peek_cqes(q, cqes, 3, NULL), 3);
		ASSERT_EQ(rdmachan_queue_peek_cqes(q, cqes, 9, NULL), 5);
		for (i = 0; i < 5; i++)
			EXPECT_EQ(cqes[i]->user_data, seen++);
		rdmachan_queue_cqes_seen(q, 4);
		EXPECT_EQ(rdmachan_queue_cq_ready(q), 1);
		ASSERT_EQ(rdmachan_queue_peek_cqes(q, cqes, 9, NULL), 1);
		EXPECT_EQ(cqes[0]->user_data, seen - 1);
		rdmachan_queue_cqes_seen(q, 1);
	}
	EXPECT_EQ(rdmachan_queue_cq_overflow(q), 0);
	for (i = 0; i < 12; i++) {
		nop(q, put++);
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
	}
	EXPECT_EQ(rdmachan_queue_cq_ready(q), 8);
	EXPECT_EQ(rdmachan_queue_cq_overflow(q), 4);
	while ((got = rdmachan_queue_peek_cqes(q, cqes, 9, NULL)) > 0) {
		for (i = 0; i < got; i++)
			EXPECT_EQ(cqes[i]->user_data, seen++);
		rdmachan_queue_cqes_seen(q, got);
	}
	EXPECT_EQ(got, 0);
	EXPECT_EQ(seen, put);
	rdmachan_queue_close(q);
}

/*
 * Pools
 */

TEST_F(lib, messages_into_a_pool)
{
	struct rdmachan_pool *pool = make_pool(self->q, 8, 8);
	struct rdmachan_cqe cqe;
	uint32_t i;

	EXPECT_EQ(rdmachan_pool_left(pool), 8);
	EXPECT_ERR(rdmachan_pool_add(pool, memory[8], SIZE, 8), ENOBUFS);
	rdmachan_queue_prep_recv_pool(entry(self->q, MINE), self->b, pool);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(do_send(self->a, &i, 4, i, NULL), 0);
		next(self->q, &cqe);
		EXPECT_EQ(cqe.user_data, MINE);
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(cqe.length, 4);
		EXPECT_EQ(cqe.msg_flags, i);
		EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER);
		ASSERT_EQ(cqe.buffer, i % 8);
		EXPECT_EQ(memcmp(memory[i % 8], &i, 4), 0);
		EXPECT_TRUE(is_all(memory[i % 8] + 4, SIZE - 4, 1));
		EXPECT_EQ(rdmachan_pool_left(pool), 7);
		ASSERT_EQ(rdmachan_pool_add(pool, memory[i % 8], SIZE, i % 8), 0);
		EXPECT_ERR(rdmachan_pool_add(pool, memory[8], SIZE, 8), ENOBUFS);
	}
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.user_data, MINE);
	EXPECT_EQ(cqe.res, 0);
	EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_EOF);
	rdmachan_pool_close(pool);
}

TEST_F(lib, messages_into_a_pool_in_a_region)
{
	struct rdmachan_pool *pool = rdmachan_pool_open(self->q, 2, NULL);
	uint32_t region;
	char *room;

	room = pages(2 * PAGE);
	ASSERT_EQ(rdmachan_region_register(self->ctx, room, 2 * PAGE, 0, &region, NULL), 0);
	ASSERT_EQ(rdmachan_pool_add_region(pool, PAGE - 2, 100, 7), 0);
	ASSERT_EQ(rdmachan_pool_add_region(pool, 5, 100, 8), 0);
	EXPECT_ERR(rdmachan_pool_add_region(pool, 5, 100, 9), ENOBUFS);
	rdmachan_queue_prep_recv_pool_region(entry(self->q, 1), self->b, pool, region);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	ASSERT_EQ(write(self->a, "first", 5), 5);
	EXPECT_MESSAGE(self->q, 1, 5, 7);
	EXPECT_EQ(memcmp(room + PAGE - 2, "first", 5), 0);
	ASSERT_EQ(write(self->a, "second", 6), 6);
	EXPECT_MESSAGE(self->q, 1, 6, 8);
	EXPECT_EQ(memcmp(room + 5, "second", 6), 0);
	rdmachan_pool_close(pool);
}

/* Pools are not mistaken for each other, and the end of such a RECV is told. */
TEST_F(lib, two_pools)
{
	struct rdmachan_pool *pools[2];
	struct rdmachan_cqe cqe;

	pools[0] = make_pool(self->q, 2, 1);
	pools[1] = rdmachan_pool_open(self->q, 2, NULL);
	ASSERT_TRUE(pools[1]);
	ASSERT_EQ(rdmachan_pool_add(pools[1], memory[5], 2, 77), 0);
	rdmachan_queue_prep_recv_pool(entry(self->q, 1), self->a, pools[0]);
	rdmachan_queue_prep_recv_pool(entry(self->q, 2), self->b, pools[1]);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 2);
	ASSERT_EQ(write(self->b, "one", 3), 3);
	EXPECT_MESSAGE(self->q, 1, 3, 0);
	EXPECT_EQ(memcmp(memory[0], "one", 3), 0);
	ASSERT_EQ(write(self->a, "three", 5), 5);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.user_data, 2);
	EXPECT_EQ(cqe.res, -EMSGSIZE);
	EXPECT_EQ(cqe.length, 5);
	EXPECT_EQ(cqe.flags, 0);
	EXPECT_TRUE(is_all(memory[5], SIZE, 1));
	ASSERT_EQ(write(self->b, "four", 4), 4);
	next(self->q, &cqe);
	EXPECT_EQ(cqe.user_data, 1);
	EXPECT_EQ(cqe.res, -ENOBUFS);
	EXPECT_EQ(cqe.length, 4);
	EXPECT_EQ(cqe.flags, 0);
	ASSERT_EQ(rdmachan_pool_add(pools[0], memory[6], SIZE, 88), 0);
	rdmachan_queue_prep_recv_pool(entry(self->q, 3), self->a, pools[0]);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_MESSAGE(self->q, 3, 4, 88);
	EXPECT_EQ(memcmp(memory[6], "four", 4), 0);
	rdmachan_pool_close(pools[0]);
	rdmachan_pool_close(pools[1]);
}

TEST_F(lib, pools_are_limited)
{
	struct rdmachan_error err;
	int i;

	for (i = 0; i < RDMACHAN_QUEUE_POOLS_MAX; i++)
		ASSERT_TRUE(rdmachan_pool_open(self->q, 1, &err));
	errno = 0;
	ASSERT_TRUE(!rdmachan_pool_open(self->q, 1, &err));
	EXPECT_EQ(errno, ENOSPC);
	EXPECT_EQ(err.error, ENOSPC);
}

/* Messages into a pool, until all indices have wrapped, and rings were full at it. */
static void through_the_wrap(struct fixture_lib *self, struct rdmachan_queue *q)
{
	uint32_t values[100], sent = 0, got = 0, count;
	struct rdmachan_pool *pool;
	struct rdmachan_sqe *sqe;
	struct rdmachan_cqe cqe;

	ASSERT_TRUE(q);
	pool = make_pool(q, 8, 8);
	EXPECT_EQ(inject_done("wrap"), 3);
	EXPECT_ERR(rdmachan_pool_add(pool, memory[8], SIZE, 8), ENOBUFS);
	rdmachan_queue_prep_recv_pool(entry(q, 1), self->b, pool);
	ASSERT_EQ(rdmachan_queue_submit(q, NULL), 1);
	while (sent < 80) {
		/* A poller may not have taken the first one yet. */
		for (count = 0; (sqe = rdmachan_queue_get_sqe(q)); count++) {
			ASSERT_LT(count, 8);
			values[sent] = 3 * sent;
			rdmachan_queue_prep_send(sqe, self->a, &values[sent++], 4, 0);
		}
		ASSERT_EQ(rdmachan_queue_submit(q, NULL), count);
		for (count *= 2; count; count--) {
			next(q, &cqe);
			ASSERT_EQ(cqe.res, 4);
			if (!cqe.user_data)
				continue;
			ASSERT_EQ(cqe.buffer, got % 8);
			EXPECT_EQ(memcmp(memory[cqe.buffer], &values[got++], 4), 0);
			ASSERT_EQ(rdmachan_pool_add(pool, memory[cqe.buffer], SIZE, cqe.buffer), 0);
		}
	}
	EXPECT_EQ(got, sent);
	rdmachan_pool_close(pool);
	rdmachan_queue_close(q);
}

/* Indices begin close to their wrap, as the fault has it (inject_test.c). */
TEST_F(lib, wrap)
{
	if (access(INJECT "wrap", W_OK))
		SKIP("the module has no faults");
	inject("wrap", "count=3");
	through_the_wrap(self, rdmachan_queue_open(self->ctx, 8, 16, NULL));
	inject("wrap", "count=3");
	through_the_wrap(self, rdmachan_queue_open_polled(self->ctx, 8, 16, 1, NULL));
	inject_off("wrap");
}

/*
 * Regions
 */

TEST_F(lib, regions)
{
	char *from = pages(LARGE), *to = pages(LARGE);
	uint32_t from_id = region_of(self->ctx, from, LARGE, RDMACHAN_REGION_F_READ_ONLY);
	uint32_t to_id = region_of(self->ctx, to, LARGE, 0);
	const size_t len = LARGE - 1000;
	struct rdmachan_cqe cqes[2];

	fill_random(from, LARGE, 1);
	fill_random(from + 100, len, 2);
	memset(to, 0x33, LARGE);
	rdmachan_queue_prep_recv_region(entry(self->q, 0), self->b, to_id, 300, LARGE - 300);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_ERR(rdmachan_region_unregister(self->ctx, to_id, NULL), EBUSY);
	rdmachan_queue_prep_send_region(entry(self->q, 1), self->a, from_id, 100, len, 0xbeef);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	collect(self->q, cqes, 2);
	EXPECT_EQ(cqes[0].res, (int64_t)len);
	EXPECT_EQ(cqes[0].length, len);
	EXPECT_EQ(cqes[0].msg_flags, 0xbeef);
	EXPECT_EQ(cqes[1].res, (int64_t)len);
	EXPECT_TRUE(is_random(to + 300, len, 2));
	EXPECT_TRUE(is_all(to, 300, 0x33));
	EXPECT_TRUE(is_all(to + 300 + len, 700, 0x33));
	rdmachan_queue_prep_send_region(entry(self->q, 1), self->a, from_id, 100, LARGE, 0);
	EXPECT_EQ(alone(self->q), -ERANGE);
	rdmachan_queue_prep_recv_region(entry(self->q, 1), self->b, from_id, 0, LARGE);
	EXPECT_EQ(alone(self->q), -EACCES);
	EXPECT_EQ(rdmachan_region_unregister(self->ctx, to_id, NULL), 0);
	EXPECT_ERR(rdmachan_region_unregister(self->ctx, to_id, NULL), ENOENT);
	rdmachan_queue_prep_recv_region(entry(self->q, 1), self->b, to_id, 0, LARGE);
	EXPECT_EQ(alone(self->q), -ENOENT);
	EXPECT_EQ(rdmachan_region_unregister(self->ctx, from_id, NULL), 0);
}

TEST_F(lib, region_of_nothing)
{
	char *gone = pages(PAGE);
	struct rdmachan_error err;
	uint32_t region = 99;

	munmap(gone, PAGE);
	EXPECT_ERR(rdmachan_region_register(self->ctx, gone, PAGE, 0, &region, &err), EFAULT);
	EXPECT_EQ(err.error, EFAULT);
	EXPECT_ERR(rdmachan_region_register(self->ctx, memory, 0, 0, &region, NULL), EINVAL);
	EXPECT_EQ(region, 99);
}

/*
 * A pool of as many buffers as the completion ring has entries never runs empty, if each buffer is
 * given back before its completion is said to be seen.
 */
TEST_F(lib, pool_as_large_as_the_ring)
{
	struct rdmachan_pool *pool = make_pool(self->q, DONE, DONE);
	struct rdmachan_cqe cqe, *there;
	int i, got = 0, sent = 0;
	bool full = false;

	rdmachan_queue_prep_recv_pool(entry(self->q, 1), self->b, pool);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	while (got < 1000) {
		/* More than there are places, so that the ring is full now and then. */
		for (i = 0; i < 3 * DONE && sent < 1000; i++)
			sent += rdmachan_send(self->a, "x", 1, NULL) == 0;
		do {
			ASSERT_EQ(rdmachan_queue_wait_cqe(self->q, &there, 10000, NULL), 0);
			full |= rdmachan_queue_cq_ready(self->q) == DONE;
			cqe = *there;
			ASSERT_EQ(cqe.res, 1);
			ASSERT_EQ(cqe.flags, RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER);
			ASSERT_EQ(rdmachan_pool_add(pool, memory[cqe.buffer], SIZE, cqe.buffer), 0);
			rdmachan_queue_cqe_seen(self->q);
		} while (++got < sent);
	}
	EXPECT_TRUE(full);
}

TEST_HARNESS_MAIN
