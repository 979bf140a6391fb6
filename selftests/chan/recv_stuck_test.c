// SPDX-License-Identifier: GPL-2.0
/*
 * recv_stuck_test.c - RECV cannot tell its program of a large message, as it has no memory for that
 *
 * The call's argument structure is in memory that does not come, and the adapter is taken away.
 * That waits for nothing that waits for the program.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "common.h"
#include "harness.h"
#include "pair.h"
#include "reader.h"
#include "slow.h"

#define PAGE 4096UL
#define LEN 65536UL

/**
 * struct call - a thread in RECV
 * @args: its argument structure
 * @slow_room: room for the message that does not come either
 * @iov: where the message is to be
 * @thread: the thread
 * @tid: its number for the kernel
 * @chan: channel
 * @ret: the call's result
 * @error: errno then
 */
struct call {
	struct slow args;
	struct slow slow_room;
	struct iovec iov;
	pthread_t thread;
	pid_t tid;
	int chan;
	int ret;
	int error;
};

FIXTURE(stuck)
{
	int ctx;
	int peer;
	/* The end whose adapter goes, and the other one, which sends. */
	int chan;
	int from;
	char *out;
	char *room;
	struct call call;
};

static void pair(struct fixture_stuck *self)
{
	int fds[2];

	pair_up_again(self->ctx, fds);
	self->chan = fds[0];
	self->from = fds[1];
}

FIXTURE_SETUP(stuck)
{
	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	if (!slow_begin(&self->call.args, PAGE) || !slow_begin(&self->call.slow_room, LEN))
		SKIP("this kernel has no userfaultfd");
	self->ctx = open_ctx();
	self->peer = open_peer();
	self->out = malloc(LEN);
	self->room = malloc(LEN);
	fill_random(self->out, LEN, 1);
	pair(self);
}

FIXTURE_TEARDOWN(stuck)
{
	close(self->chan);
	close(self->from);
	close(self->peer);
	close(self->ctx);
}

static void *receive(void *arg)
{
	struct call *call = arg;

	slow_undisturbed();
	__atomic_store_n(&call->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	call->ret = ioctl(call->chan, RDMACHAN_RECV, call->args.memory);
	call->error = errno;
	return NULL;
}

/* The call finds its arguments. */
static void begin(struct fixture_stuck *self, char *room)
{
	struct call *call = &self->call;

	call->chan = self->chan;
	call->iov = (struct iovec){ room, LEN };
	slow_end(&call->args);
	*(struct rdmachan_recv_args *)call->args.memory = (struct rdmachan_recv_args){
		.size = sizeof(struct rdmachan_recv_args),
		.iov_ptr = (uintptr_t)&call->iov, .iov_count = 1,
	};
	ASSERT_EQ(pthread_create(&call->thread, NULL, receive, call), 0);
}

static pid_t send_one(struct fixture_stuck *self)
{
	return LATER(0, ({
		if (write(self->from, self->out, LEN) != LEN)
			_exit(errno);
	}));
}

/* It is written to its place; the next RECV lends its room before another one comes. */
static void first_message(struct fixture_stuck *self)
{
	struct reader r;
	pid_t sender;

	reader_begin(&r, self->chan, self->room, LEN);
	sender = send_one(self);
	ASSERT_EQ(reader_end(&r), LEN);
	ASSERT_EQ(child_status(sender), 0);
	ASSERT_EQ(placed_messages(self->chan, false), 1);
}

/* A message has been offered, and is to be told of before any of it comes. */
static pid_t offered(struct fixture_stuck *self)
{
	begin(self, self->room);
	await_sleep(&self->call.tid);
	slow_again(&self->call.args);
	return send_one(self);
}

/* Room is to be lent; whether there is a way to tell is seen before that. */
static pid_t to_be_lent(struct fixture_stuck *self)
{
	struct call *call = &self->call;

	first_message(self);
	begin(self, call->slow_room.memory);
	slow_met(&call->slow_room);
	slow_again(&call->args);
	slow_end(&call->slow_room);
	return 0;
}

/* A message has come to the room that was lent. */
static pid_t written(struct fixture_stuck *self)
{
	uint64_t frames;
	pid_t sender;

	first_message(self);
	frames = frames_received(self->peer);
	begin(self, self->room);
	await_sleep(&self->call.tid);
	while (frames_received(self->peer) == frames)
		sleep_ms(1);
	slow_again(&self->call.args);
	memset(self->room, 0x55, LEN);
	sender = send_one(self);
	EXPECT_EQ(child_status(sender), 0);
	return 0;
}

/*
 * Where a call may be stuck: each begins a call that will be. @begin returns the program that sends
 * meanwhile, or 0. @came: the call has the message, though the adapter has gone.
 */
static const struct place {
	const char *name;
	pid_t (*begin)(struct fixture_stuck *self);
	bool came;
} places[] = {
	{ "offered", offered },
	{ "to_be_lent", to_be_lent },
	{ "written", written, .came = true },
};

static void expect_result(struct fixture_stuck *self, bool came)
{
	const struct call *call = &self->call;
	const struct rdmachan_recv_args *args = (void *)call->args.memory;
	struct rdmachan_error error;

	EXPECT_EQ(call->ret, came ? 0 : -1);
	if (came) {
		EXPECT_EQ(args->out_length, LEN);
		EXPECT_TRUE(is_random(self->room, LEN, 1));
	} else {
		EXPECT_EQ(call->error, ENODEV);
	}
	ASSERT_EQ(get_error(self->chan, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_DEVICE_REMOVED);
}

TEST_F_ROWS(stuck, device_removed, places)
{
	const pid_t sender = row->begin(self);
	int64_t begun;

	slow_met(&self->call.args);
	begun = tick_ms();
	EXPECT_EQ(remove_device(), 0);
	/* Some grace periods; otherwise as long as the program likes. */
	EXPECT_TOOK(begun, 0, 10 * KERNEL_TICK_MS);
	/* The peer does not wait for it, either. */
	if (sender)
		EXPECT_EQ(WEXITSTATUS(child_status(sender)), has_peer() ? ECONNRESET : ENODEV);
	slow_end(&self->call.args);
	pthread_join(self->call.thread, NULL);
	expect_result(self, row->came);
	close(self->chan);
	close(self->from);
	EXPECT_EQ(add_device(), 0);
	pair(self);
	talk(self->chan, self->from);
}

TEST_HARNESS_MAIN
