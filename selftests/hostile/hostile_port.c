// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_port.c - a program that has taken the port of the module, or knocks all the time
 *
 * The first is in a network namespace of its own, where nobody has listened yet: in the first
 * namespace the module has the port from the beginning.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <rdma/rdma_cma.h>

#include "common.h"
#include "harness.h"
#include "hostile_attack.h"

#define KNOCKS 100

FIXTURE(port)
{
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	int ctx;
};

FIXTURE_SETUP(port)
{
	ASSERT_EQ(unshare(CLONE_NEWNET), 0);
	self->ctx = open_ctx();
	self->events = rdma_create_event_channel();
	ASSERT_TRUE(self->events);
	ASSERT_EQ(rdma_create_id(self->events, &self->id, NULL, RDMA_PS_TCP), 0);
}

FIXTURE_TEARDOWN(port)
{
	rdma_destroy_event_channel(self->events);
	close(self->ctx);
}

static void take(struct fixture_port *self, int family)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} addr = { .any.sa_family = family };

	/* At the same place for both families. */
	addr.in.sin_port = htons(RDMACHAN_PORT);
	ASSERT_EQ(rdma_bind_addr(self->id, &addr.any), 0);
}

static void expect_taken(struct fixture_port *self)
{
	struct rdmachan_error error;
	struct rdmachan_listen_args listen;

	fill_listen(&listen, SERVICE, NULL);
	memset(&error, 0xee, sizeof(error));
	error.size = sizeof(error);
	listen.error_ptr = (uintptr_t)&error;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LISTEN, &listen), EADDRINUSE);
	EXPECT_EQ(error.error, EADDRINUSE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PORT_TAKEN);
	EXPECT_EQ(error.op, RDMACHAN_OP_LISTEN);
	EXPECT_EQ(error.detail, RDMACHAN_PORT);
	EXPECT_EQ(error.service, SERVICE);
	rdma_destroy_id(self->id);
	listen.error_ptr = 0;
	EXPECT_EQ(ioctl(self->ctx, RDMACHAN_LISTEN, &listen), 0);
	/* That the service is taken is another reason, and has no record. */
	memset(&error, 0xee, sizeof(error));
	error.size = sizeof(error);
	listen.error_ptr = (uintptr_t)&error;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LISTEN, &listen), EADDRINUSE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
}

TEST_F(port, listened_on)
{
	take(self, AF_INET);
	ASSERT_EQ(rdma_listen(self->id, 8), 0);
	expect_taken(self);
}

TEST_F(port, listened_on_by_ipv6)
{
	take(self, AF_INET6);
	ASSERT_EQ(rdma_listen(self->id, 8), 0);
	expect_taken(self);
}

/* No program has listened there: where tests run in it, that does not show. */
TEST_F(port, of_the_first_namespace)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(RDMACHAN_PORT) };
	const int first = open("/proc/1/ns/net", O_RDONLY | O_CLOEXEC);
	struct rdma_cm_id *id;

	ASSERT_GE(first, 0);
	ASSERT_EQ(setns(first, CLONE_NEWNET), 0);
	ASSERT_EQ(rdma_create_id(self->events, &id, NULL, RDMA_PS_TCP), 0);
	EXPECT_EQ(rdma_bind_addr(id, (struct sockaddr *)&in), -1);
	EXPECT_TRUE(errno == EADDRINUSE || errno == EADDRNOTAVAIL);
	rdma_destroy_id(id);
	rdma_destroy_id(self->id);
	close(first);
}

/* A program that is bound to it may listen at any time. */
TEST_F(port, bound)
{
	take(self, AF_INET);
	expect_taken(self);
}

/*
 * Each that is refused has a moment to hear why: with iWARP a millisecond. They have it at the same
 * time, and others do not wait for it.
 */
TEST_TIMEOUT(knocks_hold_up_nobody, 120)
{
	struct hostile *h = calloc(KNOCKS, sizeof(*h));
	u8 data[sizeof(struct rch_wire_hello)];
	int ctx = open_ctx(), i, told = 0;
	int listener = do_listen(ctx, SERVICE, NULL), chan;
	const struct opts o = { .timeout_ms = 10000 };
	struct rdmachan_addr own = own_address();
	struct rdmachan_info before, after;
	struct rch_refusal refusal;
	int64_t begun;

	ASSERT_GE(listener, 0);
	ASSERT_EQ(get_info(ctx, &before), 0);
	for (i = 0; i < KNOCKS; i++) {
		hostile_begin(&h[i]);
		hostile_hello(&h[i], NO_PREY);
		rch_wire_hello_put(data, &h[i].mine);
		ASSERT_EQ(hostile_request(&h[i], data, sizeof(data)), 0);
	}
	begun = now_ms();
	chan = do_connect_to(ctx, &own, SERVICE, &o);
	EXPECT_GE(chan, 0);
	if (time_is_virtual())
		EXPECT_LT(now_ms() - begun, KNOCKS);
	for (i = 0; i < KNOCKS; i++) {
		hostile_await_answer(&h[i]);
		told += !rch_wire_refusal_get(h[i].reply, h[i].reply_len, &refusal) &&
			refusal.reason == RCH_REJECT_NO_SERVICE;
		hostile_end(&h[i]);
	}
	EXPECT_EQ(told, KNOCKS);
	ASSERT_EQ(get_info(ctx, &after), 0);
	EXPECT_EQ(after.out_refused_service - before.out_refused_service, KNOCKS);
	close(chan);
	close(listener);
	close(ctx);
	free(h);
}

TEST_HARNESS_MAIN
