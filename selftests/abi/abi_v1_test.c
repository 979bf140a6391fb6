// SPDX-License-Identifier: GPL-2.0
/*
 * abi_v1_test.c - a program that was compiled with the header of version 1
 *
 * That header comes first, and keeps the current one out. Of the harness only what is inline, and
 * functions that are given no structures of the interface, serve here: the others are compiled with
 * the current header.
 */
#include "v1/rdmachan.h"
/* A kernel installs its header with the guard's name cut: the newest must not come as well. */
#define _RDMACHAN_H

#include <sys/ioctl.h>
#include <sys/uio.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "region.h"
#include "ring.h"

/* Bytes behind a structure, which nobody may write to. */
#define BEHIND 512

FIXTURE(v1)
{
	int ctx;
	int there;
	int listener;
	int chan;
	int peer;
};

FIXTURE_SETUP(v1)
{
	self->ctx = open_ctx();
	self->there = open_peer();
	self->listener = do_listen(self->there, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	self->chan = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(self->chan, 0);
	self->peer = do_accept(self->listener, NULL);
	ASSERT_GE(self->peer, 0);
}

FIXTURE_TEARDOWN(v1)
{
	close(self->peer);
	close(self->chan);
	close(self->listener);
	close(self->there);
	close(self->ctx);
}

static int v1_send(int chan, const void *data, size_t len)
{
	struct iovec iov = { (void *)data, len };
	struct rdmachan_send_args send = {
		.size = sizeof(send), .iov_ptr = (uintptr_t)&iov, .iov_count = 1, .msg_flags = 7,
	};

	return ioctl(chan, RDMACHAN_SEND, &send);
}

/* Return: the call as it is afterwards; its size is 0 when it has failed. */
static struct rdmachan_recv_args v1_recv(int chan, void *data, size_t len, uint32_t flags)
{
	struct iovec iov = { data, len };
	struct rdmachan_recv_args recv = {
		.size = sizeof(recv), .flags = flags, .iov_ptr = (uintptr_t)&iov, .iov_count = 1,
	};

	if (ioctl(chan, RDMACHAN_RECV, &recv))
		recv.size = 0;
	return recv;
}

static bool is_untouched(const unsigned char *bytes)
{
	int i;

	for (i = 0; i < BEHIND; i++)
		if (bytes[i] != 0x5a)
			return false;
	return true;
}

TEST_F(v1, messages)
{
	struct rdmachan_shutdown_args shutdown = {
		.size = sizeof(shutdown), .how = RDMACHAN_SHUTDOWN_SEND,
	};
	struct rdmachan_finish_args finish = { .size = sizeof(finish) };
	struct rdmachan_recv_args recv;
	char back[16];

	ASSERT_EQ(v1_send(self->chan, "version 1", 9), 0);
	recv = v1_recv(self->peer, back, sizeof(back), 0);
	EXPECT_EQ(recv.size, sizeof(recv));
	EXPECT_EQ(recv.out_length, 9);
	EXPECT_EQ(recv.out_msg_flags, 7);
	EXPECT_EQ(memcmp(back, "version 1", 9), 0);
	ASSERT_EQ(ioctl(self->chan, RDMACHAN_SHUTDOWN, &shutdown), 0);
	recv = v1_recv(self->peer, back, sizeof(back), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
	EXPECT_EQ(ioctl(self->chan, RDMACHAN_FINISH, &finish), 0);
}

TEST_F(v1, addresses_and_buffers)
{
	struct rdmachan_listen_args listen = {
		.size = sizeof(listen), .service = SERVICE + 1,
	};
	struct rdmachan_connect_args connect = {
		.size = sizeof(connect), .service = SERVICE + 1, .timeout_ms = 10000,
	};
	struct rdmachan_tune_args tune = {
		.size = sizeof(tune), .send_buffer = 1 << 17, .recv_buffer = 1 << 18,
		.linger_ms = 7,
	};
	struct rdmachan_object about = { .size = sizeof(about) };
	struct rdmachan_query_args query = {
		.size = sizeof(query), .object_ptr = (uintptr_t)&about,
	};

	ASSERT_EQ(ioctl(self->chan, RDMACHAN_QUERY, &query), 0);
	connect.addr = about.peer;
	connect.source = about.local;
	connect.source.port = 0;
	listen.local = about.peer;
	listen.local.port = 0;
	ASSERT_EQ(ioctl(self->there, RDMACHAN_LISTEN, &listen), 0);
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), 0);
	ASSERT_EQ(ioctl(connect.out_fd, RDMACHAN_TUNE, &tune), 0);
	about.size = sizeof(about);
	ASSERT_EQ(ioctl(connect.out_fd, RDMACHAN_QUERY, &query), 0);
	EXPECT_EQ(about.send_buffer, 1 << 17);
	EXPECT_EQ(about.recv_buffer, 1 << 18);
	EXPECT_EQ(about.linger_ms, 7);
	close(connect.out_fd);
	close(listen.out_fd);
}

TEST_F(v1, records)
{
	struct {
		struct rdmachan_object object;
		unsigned char behind[BEHIND];
	} about;
	struct {
		struct rdmachan_error error;
		unsigned char behind[BEHIND];
	} told;
	struct {
		struct rdmachan_info info;
		unsigned char behind[BEHIND];
	} all;
	struct rdmachan_query_args query = {
		.size = sizeof(query), .object_ptr = (uintptr_t)&about,
		.error_ptr = (uintptr_t)&told,
	};

	memset(&about, 0x5a, sizeof(about));
	memset(&told, 0x5a, sizeof(told));
	memset(&all, 0x5a, sizeof(all));
	about.object.size = sizeof(about.object);
	told.error.size = sizeof(told.error);
	ASSERT_EQ(ioctl(self->chan, RDMACHAN_QUERY, &query), 0);
	EXPECT_EQ(about.object.size, sizeof(about.object));
	EXPECT_EQ(about.object.kind, RDMACHAN_KIND_CHANNEL);
	EXPECT_EQ(about.object.state, RDMACHAN_STATE_OPEN);
	EXPECT_EQ(about.object.service, SERVICE);
	EXPECT_EQ(told.error.size, sizeof(told.error));
	EXPECT_EQ(told.error.cause, RDMACHAN_CAUSE_NONE);
	memset(&all.info, 0, sizeof(all.info));
	all.info.size = sizeof(all.info);
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_INFO, &all), 0);
	EXPECT_GE(all.info.out_abi, RDMACHAN_ABI_VERSION);
	EXPECT_EQ(all.info.out_calls & 0xfff, 0xfff);
	EXPECT_EQ(all.info.out_port, RDMACHAN_PORT);
	EXPECT_TRUE(is_untouched(about.behind));
	EXPECT_TRUE(is_untouched(told.behind));
	EXPECT_TRUE(is_untouched(all.behind));
}

TEST_F(v1, queues)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	struct pool pool;
	char buffers[2][64];

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	EXPECT_EQ(q.sq.stride, sizeof(struct rdmachan_sqe));
	EXPECT_EQ(q.cq.stride, sizeof(struct rdmachan_cqe));
	ASSERT_EQ(pool_open(&q, &pool, 2), 0);
	EXPECT_EQ(pool.at.stride, sizeof(struct rdmachan_buffer));
	pool_put(&pool, buffers[0], sizeof(buffers[0]), 0);
	pool_put(&pool, buffers[1], sizeof(buffers[1]), 1);
	queue_recv_many(&q, self->peer, pool.id, 1);
	queue_send(&q, self->chan, "one", 3, 2);
	queue_send(&q, self->chan, "other", 5, 3);
	ASSERT_EQ(queue_submit(&q), 3);
	EXPECT_CQE(&q, 2, 3);
	EXPECT_CQE(&q, 3, 5);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.user_data, 1);
	EXPECT_EQ(cqe.res, 3);
	EXPECT_EQ(cqe.flags, RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER);
	EXPECT_EQ(memcmp(buffers[cqe.buffer], "one", 3), 0);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.length, 5);
	EXPECT_EQ(memcmp(buffers[cqe.buffer], "other", 5), 0);
	pool_close(&pool);
	queue_close(&q);
}

TEST_F(v1, grants)
{
	struct rdmachan_grant_event event;
	struct rdmachan_grant_range range;
	uint64_t memory[2] = { 5, 6 }, word = 7;
	int64_t grant, region;

	region = region_register(self->there, memory, sizeof(memory), 0, NULL);
	ASSERT_GE(region, 0);
	range = RANGE(region, MAY_ALL, 0, sizeof(memory));
	range.cookie = 11;
	grant = grant_range(self->peer, self->there, &range);
	ASSERT_GE(grant, 0);
	v1_recv(self->chan, &event, sizeof(event), RDMACHAN_IO_F_GRANTS);
	EXPECT_EQ(event.what, RDMACHAN_GRANT_GIVEN);
	EXPECT_EQ(event.grant, grant);
	EXPECT_EQ(event.cookie, 11);
	EXPECT_EQ(event.length, sizeof(memory));
	EXPECT_EQ(grant_write(self->chan, grant, 8, &word, 8), 0);
	EXPECT_EQ(grant_read(self->chan, grant, 0, &word, 8), 0);
	EXPECT_EQ(word, 5);
	EXPECT_EQ(grant_add(self->chan, grant, 0, 3, &word), 0);
	EXPECT_EQ(word, 5);
	EXPECT_EQ(grant_release(self->chan, grant), 0);
	v1_recv(self->peer, &event, sizeof(event), RDMACHAN_IO_F_GRANTS);
	EXPECT_EQ(event.what, RDMACHAN_GRANT_RETURNED);
	EXPECT_EQ(memory[0], 8);
	EXPECT_EQ(memory[1], 7);
	EXPECT_TRUE(unregister_soon(self->there, region));
}

TEST_HARNESS_MAIN
