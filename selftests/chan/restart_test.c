// SPDX-License-Identifier: GPL-2.0
/*
 * restart_test.c - calls that are interrupted, and no handler runs
 *
 * A program is stopped and continued, or traced, while a call with a timeout waits: the call ends
 * when it would have ended without that, and gives EINTR only after a handler.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "inject.h"
#include "pair.h"
#include "region.h"
#include "ring.h"

#define SILENT "10.77.0.98"
#define ALL_MS 2000
#define FIRST_MS 500
#define THEN_MS 700
#define BIG (4 << 20)
#define RACES 50

FIXTURE(restart)
{
	int ctx;
	int there;
	int listener;
	int a;
	int b;
	/* What the peer may write to, through @a. */
	uint32_t grant;
	char memory[64];
};

FIXTURE_SETUP(restart)
{
	char command[128];

	self->ctx = open_ctx();
	self->there = open_peer();
	self->listener = do_listen(self->there, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	self->a = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(self->a, 0);
	self->b = do_accept(self->listener, NULL);
	ASSERT_GE(self->b, 0);
	if (!getenv("LAB_DEV"))
		return;
	snprintf(command, sizeof(command), "ip neigh replace %s lladdr 02:00:00:00:00:01 dev %s",
		 SILENT, getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
}

FIXTURE_TEARDOWN(restart)
{
	close(self->a);
	close(self->b);
	close(self->listener);
	close(self->there);
	close(self->ctx);
}

/* The arguments of a call, and the place of its member until. */
struct waiting {
	int fd;
	unsigned int cmd;
	union {
		uint32_t size;
		struct rdmachan_accept_args accept;
		struct rdmachan_connect_args connect;
		struct rdmachan_send_args send;
		struct rdmachan_recv_args recv;
		struct rdmachan_grant_args grant;
		struct rdmachan_revoke_args revoke;
		struct rdmachan_access_args access;
		struct rdmachan_enter_args enter;
	};
	uint64_t *until;
	struct iovec iov;
	struct rdmachan_grant_range range;
	struct queue queue;
};

static char data[BIG];

#define PREPARE(w, number, type, on)				\
	do {							\
		(w)->cmd = (number);				\
		(w)->fd = (on);					\
		(w)->type.size = sizeof((w)->type);		\
		(w)->type.timeout_ms = ALL_MS;			\
		(w)->until = (uint64_t *)&(w)->type.until;	\
	} while (0)

static void use_iov(struct waiting *w, size_t len)
{
	w->iov = (struct iovec){ data, len };
}

static void wait_accept(struct fixture_restart *self, struct waiting *w)
{
	PREPARE(w, RDMACHAN_ACCEPT, accept, self->listener);
}

static void wait_connect(struct fixture_restart *self, struct waiting *w)
{
	PREPARE(w, RDMACHAN_CONNECT, connect, self->ctx);
	w->connect.service = SERVICE;
	w->connect.addr = address_of(SILENT);
}

static void wait_recv(struct fixture_restart *self, struct waiting *w)
{
	PREPARE(w, RDMACHAN_RECV, recv, self->a);
	use_iov(w, 8);
	w->recv.iov_ptr = (uintptr_t)&w->iov;
	w->recv.iov_count = 1;
}

static void wait_send_of(struct fixture_restart *self, struct waiting *w, size_t len)
{
	PREPARE(w, RDMACHAN_SEND, send, self->a);
	use_iov(w, len);
	w->send.iov_ptr = (uintptr_t)&w->iov;
	w->send.iov_count = 1;
}

/* There is no room. */
static void wait_send(struct fixture_restart *self, struct waiting *w)
{
	fill_up(self->a, 30000);
	wait_send_of(self, w, 30000);
}

/* Some of the message has gone out. */
static void wait_send_rest(struct fixture_restart *self, struct waiting *w)
{
	ASSERT_EQ(do_send(self->a, data, 700000, 0, NULL), 0);
	wait_send_of(self, w, BIG);
}

static void wait_grant(struct fixture_restart *self, struct waiting *w)
{
	int ctx = open_ctx();

	w->range = RANGE(region_register(ctx, data, 4096, 0, NULL), MAY_READ, 0, 64);
	fill_up(self->a, 30000);
	grant_fill(&w->grant, ctx, &w->range, 1, NULL);
	PREPARE(w, RDMACHAN_GRANT, grant, self->a);
}

/* The bytes have been written, and there is no room for the message. */
static void wait_write(struct fixture_restart *self, struct waiting *w)
{
	fill_up(self->a, 30000);
	PREPARE(w, RDMACHAN_WRITE, access, self->a);
	w->access.flags = RDMACHAN_WRITE_F_NOTIFY;
	w->access.grant = self->grant;
	w->access.addr = (uintptr_t)data;
	w->access.length = 3;
}

/* One of two operations completes, and was taken before the call was interrupted. */
static void wait_enter(struct fixture_restart *self, struct waiting *w)
{
	(void)self;
	ASSERT_EQ(queue_open(open_ctx(), &w->queue, 8, 8), 0);
	queue_add(&w->queue, RDMACHAN_OPCODE_NOP, 0, 1);
	__atomic_store_n(ring_word(w->queue.sq_map, w->queue.sq.producer), w->queue.tail,
			 __ATOMIC_RELEASE);
	PREPARE(w, RDMACHAN_ENTER, enter, w->queue.fd);
	w->enter.to_submit = 1;
	w->enter.min_complete = 2;
}

struct kind {
	const char *name;
	void (*prepare)(struct fixture_restart *self, struct waiting *w);
};

static const struct kind kinds[] = {
	{ "accept", wait_accept }, { "connect", wait_connect }, { "recv", wait_recv },
	{ "send", wait_send }, { "send_rest", wait_send_rest }, { "grant", wait_grant },
	{ "write", wait_write }, { "enter", wait_enter },
};

/* Memory of the peer's host, which the program of @a may write to, once. */
static void lend_once(struct fixture_restart *self)
{
	const int64_t region = region_register(self->there, self->memory, sizeof(self->memory),
					       0, NULL);
	struct rdmachan_grant_range range = RANGE(region, MAY_WRITE, 0, sizeof(self->memory));

	range.uses = 1;
	ASSERT_EQ(grant_ranges(self->b, self->there, &range, 1), 0);
	self->grant = range.out_grant;
	ASSERT_TRUE(grant_held(self->a, self->grant));
}

/* What a program that waits shares with the one that disturbs it. */
struct shared {
	int64_t begun;
	int64_t ended;
	int error;
	uint64_t until;
	uint32_t submitted;
};

static struct shared *shared_memory(void)
{
	return mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int make(struct waiting *w)
{
	return ioctl(w->fd, w->cmd, &w->size) ? errno : 0;
}

/* A program that makes the call, and is in it when this returns. */
static pid_t program(struct fixture_restart *self, const struct kind *kind, struct shared *s)
{
	struct waiting w = { 0 };
	pid_t child = fork();

	if (child) {
		while (!__atomic_load_n(&s->begun, __ATOMIC_ACQUIRE))
			sleep_ms(1);
		return child;
	}
	kind->prepare(self, &w);
	__atomic_store_n(&s->begun, now_ms(), __ATOMIC_RELEASE);
	s->error = make(&w);
	s->ended = now_ms();
	s->until = *w.until;
	s->submitted = w.enter.out_submitted;
	_exit(harness_failures);
}

static void expect_state(pid_t child, int options, bool (*is)(int status))
{
	int status;

	ASSERT_EQ(waitpid(child, &status, options), child);
	EXPECT_TRUE(is(status));
}

static bool is_stopped(int status)
{
	return WIFSTOPPED(status);
}

/* Ctrl-Z, and fg. */
static void stop_for(pid_t child, int ms)
{
	kill(child, SIGSTOP);
	expect_state(child, WUNTRACED, is_stopped);
	sleep_ms(ms);
	/* It goes on at once, and may have ended when it could be waited for. */
	kill(child, SIGCONT);
}

/* As strace does, which sees a signal that is ignored. */
static void trace_for(pid_t child, int ms)
{
	ASSERT_EQ(ptrace(PTRACE_SEIZE, child, 0, 0), 0);
	ASSERT_EQ(ptrace(PTRACE_INTERRUPT, child, 0, 0), 0);
	expect_state(child, __WALL, is_stopped);
	ASSERT_EQ(ptrace(PTRACE_CONT, child, 0, 0), 0);
	kill(child, SIGCHLD);
	expect_state(child, __WALL, is_stopped);
	ASSERT_EQ(ptrace(PTRACE_CONT, child, 0, SIGCHLD), 0);
	sleep_ms(ms);
	ASSERT_EQ(ptrace(PTRACE_INTERRUPT, child, 0, 0), 0);
	expect_state(child, __WALL, is_stopped);
	ASSERT_EQ(ptrace(PTRACE_DETACH, child, 0, 0), 0);
}

static void expect_time_over(const struct shared *s)
{
	EXPECT_EQ(s->error, ETIMEDOUT);
	EXPECT_EQ(s->until, 0);
	EXPECT_GE(s->ended - s->begun, ALL_MS);
	if (time_is_virtual())
		EXPECT_LE(s->ended - s->begun, ALL_MS + LIMIT_LATE(ALL_MS));
}

TEST_F_ROWS(restart, stopped, kinds)
{
	struct shared *s = shared_memory();
	pid_t child;

	lend_once(self);
	child = program(self, row, s);
	sleep_ms(FIRST_MS);
	stop_for(child, THEN_MS);
	sleep_ms(100);
	stop_for(child, 1);
	EXPECT_EQ(child_status(child), 0);
	expect_time_over(s);
	if (row->prepare == wait_enter)
		EXPECT_EQ(s->submitted, 1);
}

TEST_F_ROWS(restart, traced, kinds)
{
	struct shared *s = shared_memory();
	pid_t child;

	lend_once(self);
	child = program(self, row, s);
	sleep_ms(FIRST_MS);
	trace_for(child, THEN_MS);
	EXPECT_EQ(child_status(child), 0);
	expect_time_over(s);
}

/* From 2^31 ms on: the end of such a time is kept as others are. */
TEST_F(restart, stopped_in_a_very_long_time)
{
	char back[8];
	pid_t child = LATER(0, ASSERT_EQ(do_recv(self->a, back, 8, NULL, TIMEOUT(~0U)), 0));

	sleep_ms(FIRST_MS);
	stop_for(child, THEN_MS);
	sleep_ms(FIRST_MS);
	EXPECT_EQ(write(self->b, "x", 1), 1);
	EXPECT_EQ(child_status(child), 0);
}

/* The time is over when the program is continued. */
TEST_F_ROWS(restart, stopped_for_longer, kinds)
{
	struct shared *s = shared_memory();
	pid_t child;

	lend_once(self);
	child = program(self, row, s);
	sleep_ms(FIRST_MS);
	stop_for(child, 2 * ALL_MS);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(s->error, ETIMEDOUT);
	EXPECT_EQ(s->until, 0);
	EXPECT_GE(s->ended - s->begun, FIRST_MS + 2 * ALL_MS);
	if (time_is_virtual())
		EXPECT_LE(s->ended - s->begun, FIRST_MS + 2 * ALL_MS + 10 * KERNEL_TICK_MS);
}

/* A handler ends the call, regardless of SA_RESTART. As it is, it goes on; else it begins anew. */
static void interrupt(struct fixture_restart *self, const struct kind *kind, bool restart)
{
	struct waiting w = { 0 };
	uint64_t kept;
	int64_t begun;

	kind->prepare(self, &w);
	begun = tick_ms();
	on_alarm(FIRST_MS, restart);
	EXPECT_EQ(make(&w), EINTR);
	EXPECT_TOOK(begun, FIRST_MS, LIMIT_LATE(FIRST_MS));
	kept = *w.until;
	EXPECT_NE(kept, 0);
	EXPECT_EQ(make(&w), ETIMEDOUT);
	EXPECT_TOOK(begun, ALL_MS, LIMIT_LATE(ALL_MS));
	EXPECT_EQ(*w.until, 0);
	if (kind->prepare == wait_write)
		return;
	begun = tick_ms();
	on_alarm(FIRST_MS, restart);
	EXPECT_EQ(make(&w), EINTR);
	*w.until = 0;
	begun = tick_ms();
	EXPECT_EQ(make(&w), ETIMEDOUT);
	EXPECT_TOOK(begun, ALL_MS, LIMIT_LATE(ALL_MS));
}

TEST_F_ROWS(restart, handler, kinds)
{
	lend_once(self);
	interrupt(self, row, false);
}

TEST_F_ROWS(restart, handler_that_restarts, kinds)
{
	lend_once(self);
	interrupt(self, row, true);
}

static void nothing(int sig)
{
	(void)sig;
}

/* A handler for the signal that continues a program: it runs when nobody expects it any more. */
TEST_F_ROWS(restart, handler_of_continue, kinds)
{
	const struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	struct shared *s = shared_memory();
	pid_t child;

	lend_once(self);
	ASSERT_EQ(sigaction(SIGCONT, &action, NULL), 0);
	child = program(self, row, s);
	sleep_ms(FIRST_MS);
	stop_for(child, THEN_MS);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(s->error, EINTR);
	EXPECT_NE(s->until, 0);
}

/* A WRITE does not write the same bytes again: others may have written there since. */
TEST_F(restart, written_once)
{
	struct shared *s = shared_memory();
	const struct kind *kind = &kinds[6];
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const int64_t region = region_register(self->there, memory, 4096, 0, NULL);
	struct rdmachan_grant_range range = RANGE(region, MAY_WRITE, 0, 64);
	int count = 0;
	char back[30000];
	struct rdmachan_recv_args recv;
	pid_t child;

	ASSERT_EQ(kind->prepare == wait_write, true);
	range.uses = 1;
	ASSERT_EQ(grant_ranges(self->b, self->there, &range, 1), 0);
	self->grant = range.out_grant;
	ASSERT_TRUE(grant_held(self->a, self->grant));
	memset(data, 'w', 8);
	child = program(self, kind, s);
	sleep_ms(FIRST_MS);
	EXPECT_EQ(memcmp(memory, "www", 3), 0);
	kill(child, SIGSTOP);
	expect_state(child, WUNTRACED, is_stopped);
	memset(memory, 'o', 8);
	/* It goes on at once, and may have ended when it could be waited for. */
	kill(child, SIGCONT);
	do {
		ASSERT_EQ(grant_recv(self->b, back, sizeof(back), &recv, TIMEOUT(5000)), 0);
		count += recv.out_length == 0;
	} while (!count);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(s->error, 0);
	EXPECT_EQ(s->until, 0);
	EXPECT_EQ(memcmp(memory, "ooo", 3), 0);
}

/* A revocation whose answer comes late goes on, and gives 0. */
TEST(revoke)
{
	struct rdmachan_revoke_args revoke = { .size = sizeof(revoke), .timeout_ms = ALL_MS };
	struct shared *s = shared_memory();
	int root = open_ctx(), ctx, fds[2];
	struct rdmachan_grant_range range;
	pid_t child;

	inject_begin();
	ctx = fault_pair_of(22100, fds);
	range = RANGE(region_register(ctx, data, 4096, 0, NULL), MAY_READ, 0, 64);
	ASSERT_EQ(grant_ranges(fds[0], ctx, &range, 1), 0);
	ASSERT_TRUE(grant_held(fds[1], range.out_grant));
	revoke.grant = range.out_grant;
	inject("delay", "count=0 ms=400");
	child = fork();
	if (!child) {
		s->error = ioctl(fds[0], RDMACHAN_REVOKE, &revoke) ? errno : 0;
		s->until = revoke.until;
		_exit(0);
	}
	sleep_ms(100);
	stop_for(child, 50);
	EXPECT_EQ(child_status(child), 0);
	EXPECT_EQ(s->error, 0);
	EXPECT_EQ(s->until, 0);
	inject_off("delay");
	close(fds[0]);
	close(fds[1]);
	close(ctx);
	inject_end(root);
}

/* A message that comes while the program is stopped, or just then, is received once. */
TEST_F(restart, races)
{
	struct shared *s = shared_memory();
	uint64_t seed = 7;
	char out[8] = "", byte;
	int i;
	pid_t child;

	for (i = 0; i < turns(RACES); i++) {
		memset(s, 0, sizeof(*s));
		child = program(self, &kinds[2], s);
		out[0] = i;
		LATER(next_random(&seed) % 20, do_send(self->b, out, 1, 0, NULL));
		pause_ns(next_random(&seed) % 20000000);
		kill(child, SIGSTOP);
		pause_ns(next_random(&seed) % 1000000);
		kill(child, SIGCONT);
		EXPECT_EQ(child_status(child), 0);
		EXPECT_EQ(s->error, 0);
		EXPECT_EQ(s->until, 0);
		EXPECT_ERR(do_recv(self->a, &byte, 1, NULL, DONTWAIT), EAGAIN);
	}
}

/* What a program makes up is refused, or makes the call shorter at most. */
TEST_F(restart, made_up)
{
	static const uint64_t kept = 1ULL << 63, begun = 1ULL << 62;
	struct waiting w = { 0 };
	int64_t begin;

	wait_recv(self, &w);
	*w.until = 1;
	EXPECT_EQ(make(&w), EINVAL);
	*w.until = begun;
	EXPECT_EQ(make(&w), EINVAL);
	*w.until = kept | 1;
	EXPECT_EQ(make(&w), ETIMEDOUT);
	EXPECT_EQ(*w.until, 0);
	*w.until = kept | (begun - 1);
	begin = tick_ms();
	EXPECT_EQ(make(&w), ETIMEDOUT);
	EXPECT_TOOK(begin, ALL_MS, LIMIT_LATE(ALL_MS));
	memset(&w, 0, sizeof(w));
	wait_enter(self, &w);
	*w.until = kept | begun | 1;
	w.enter.out_submitted = 0xffffffff;
	EXPECT_EQ(make(&w), ETIMEDOUT);
	EXPECT_EQ(w.enter.out_submitted, 1);
}

TEST_HARNESS_MAIN
