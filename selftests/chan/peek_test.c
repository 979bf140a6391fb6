// SPDX-License-Identifier: GPL-2.0
/*
 * peek_test.c - looking at a message without receiving it
 */
#include <poll.h>
#include <pthread.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "region.h"

#define PEEK RDMACHAN_IO_F_PEEK

FIXTURE(peek)
{
	int ctx;
	int peer;
	int a;
	int b;
};

FIXTURE_SETUP(peek)
{
	int fds[2];

	self->ctx = open_ctx();
	self->peer = open_peer();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
}

FIXTURE_TEARDOWN(peek)
{
	close(self->a);
	close(self->b);
	close(self->peer);
	close(self->ctx);
}

static int look(int chan, void *data, size_t len, struct rdmachan_recv_args *recv, uint32_t flags)
{
	struct opts o = { .flags = PEEK | flags, .timeout_ms = 10000 };

	return do_recv(chan, data, len, recv, &o);
}

TEST_F(peek, message_stays)
{
	struct rdmachan_object about = { .size = sizeof(about) };
	struct rdmachan_recv_args recv;
	static const size_t room[] = { 16, 8, 0 };
	char back[16] = "";
	int i;

	EXPECT_ERR(look(self->b, back, 16, &recv, RDMACHAN_IO_F_DONTWAIT), EAGAIN);
	ASSERT_EQ(do_send(self->a, "0123456789", 10, 0x1234, NULL), 0);
	for (i = 0; i < 3; i++) {
		memset(back, 0, sizeof(back));
		ASSERT_EQ(look(self->b, back, room[i], &recv, 0), 0);
		EXPECT_EQ(recv.out_length, 10);
		EXPECT_EQ(recv.out_msg_flags, 0x1234);
		EXPECT_EQ(recv.out_flags, 0);
		EXPECT_EQ(strlen(back), i == 0 ? 10 : i == 1 ? 8 : 0);
		EXPECT_EQ(memcmp(back, "0123456789", strlen(back)), 0);
	}
	EXPECT_EQ(poll_mask(self->b, POLLIN, 0), POLLIN);
	ASSERT_EQ(get_object(self->b, &about), 0);
	EXPECT_EQ(about.rx_messages, 0);
	EXPECT_EQ(about.rx_next, 10);
	EXPECT_EQ(read(self->b, back, 16), 10);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 0), 0);
}

/* An empty one, small ones, and such of several segments: a part, and all of it. */
TEST_F(peek, sizes)
{
	static const size_t sizes[] = { 0, 1, 100, 16384, 40000, 1 << 20 };
	char *from = malloc(1 << 20), *to = malloc(1 << 20);
	struct rdmachan_recv_args recv;
	size_t i, len;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		len = sizes[i];
		fill_random(from, len, i);
		ASSERT_EQ(do_send(self->a, from, len, 0, NULL), 0);
		memset(to, 0, 1 << 20);
		ASSERT_EQ(look(self->b, to, len / 2 + 3, &recv, 0), 0);
		EXPECT_EQ(recv.out_length, len);
		EXPECT_EQ(memcmp(to, from, len / 2), 0);
		EXPECT_EQ(to[len / 2 + 3], 0);
		ASSERT_EQ(look(self->b, to, 1 << 20, &recv, 0), 0);
		EXPECT_TRUE(is_random(to, len, i));
		memset(to, 0, 1 << 20);
		ASSERT_EQ(do_recv(self->b, to, 1 << 20, &recv, NULL), 0);
		EXPECT_EQ(recv.out_length, len);
		EXPECT_TRUE(is_random(to, len, i));
	}
	free(from);
	free(to);
}

struct looker {
	int chan;
	char back[8];
	struct rdmachan_recv_args recv;
	int ret;
};

static void *looks(void *arg)
{
	struct looker *l = arg;

	l->ret = look(l->chan, l->back, sizeof(l->back), &l->recv, 0);
	return NULL;
}

/* It waits; a message that would be written to where a thread reads it comes all the same. */
TEST_F(peek, waits_for_a_large_message)
{
	struct looker l = { .chan = self->b };
	size_t len = 1 << 20;
	char *from = malloc(len), *to = malloc(len);
	struct rdmachan_recv_args recv;
	pthread_t thread;

	fill_random(from, len, 1);
	ASSERT_EQ(pthread_create(&thread, NULL, looks, &l), 0);
	sleep_ms(20);
	ASSERT_EQ(do_send(self->a, from, len, 0, NULL), 0);
	pthread_join(thread, NULL);
	EXPECT_EQ(l.ret, 0);
	EXPECT_EQ(l.recv.out_length, len);
	EXPECT_EQ(memcmp(l.back, from, sizeof(l.back)), 0);
	ASSERT_EQ(do_recv(self->b, to, len, &recv, NULL), 0);
	EXPECT_TRUE(is_random(to, len, 1));
	free(from);
	free(to);
}

TEST_F(peek, end_and_time)
{
	struct opts soon = { .flags = PEEK, .timeout_ms = 20 };
	struct rdmachan_recv_args recv;
	char back[8];

	EXPECT_ERR(do_recv(self->b, back, 8, &recv, &soon), ETIMEDOUT);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	ASSERT_EQ(look(self->b, back, 8, &recv, 0), 0);
	EXPECT_EQ(recv.out_flags, 0);
	EXPECT_EQ(read(self->b, back, 8), 1);
	ASSERT_EQ(look(self->b, back, 8, &recv, 0), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
}

/* A message that begins with events is told as such, and needs no other flag. */
TEST_F(peek, grants)
{
	static char memory[4096];
	uint32_t region = region_register(self->ctx, memory, sizeof(memory), 0, NULL);
	struct rdmachan_grant_range range = {
		.region = region, .rights = RDMACHAN_RIGHT_READ, .length = 64,
	};
	struct rdmachan_grant_event event = {};
	struct rdmachan_recv_args recv;
	int64_t grant;

	grant = grant_range(self->a, self->ctx, &range);
	ASSERT_GE(grant, 0);
	ASSERT_EQ(look(self->b, NULL, 0, &recv, 0), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_GRANTS);
	EXPECT_EQ(recv.out_length, sizeof(event));
	ASSERT_EQ(look(self->b, &event, sizeof(event), &recv, 0), 0);
	EXPECT_EQ(event.length, 64);
	EXPECT_ERR(do_recv(self->b, &event, sizeof(event), &recv, NULL), ENOMSG);
	EXPECT_TRUE(grant_held(self->b, grant));
}

/* A message that was only looked at was not received. */
TEST_F(peek, is_no_receipt)
{
	struct opts now = { .flags = RDMACHAN_IO_F_DONTWAIT };
	struct rdmachan_recv_args recv;
	char back[8];

	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_EQ(look(self->b, back, 8, &recv, 0), 0);
	EXPECT_ERR(do_finish(self->a, &now), EAGAIN);
	EXPECT_EQ(read(self->b, back, 8), 1);
	EXPECT_EQ(read(self->b, back, 8), 0);
	EXPECT_EQ(do_finish(self->a, NULL), 0);
}

TEST_HARNESS_MAIN
