// SPDX-License-Identifier: GPL-2.0
/*
 * inject_nomem_test.c - the module's own faults: allocations
 *
 * What fault_test.c and nomem_test.c do with the kernel's fault injection, here with the
 * module's, on any kernel. Each kind of allocation fails by itself, and then the first,
 * the second, the third ... of all that a channel needs from open() to close(). A call
 * either works, or fails with an errno that says so and has done nothing, and the next
 * one works. After each test nothing may be left of the module's objects.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "common.h"
#include "fault.h"
#include "harness.h"
#include "inject.h"
#include "region.h"
#include "ring.h"

#define LONGEST (200 << 10)
#define BIG (3 << 20)
#define DEPTH 8
#define POINTS_MAX 2000
#define PATIENCE TIMEOUT(20000)

/* Users of their own: a user without a link needs one made. */
static int next_user;

FIXTURE(nomem)
{
	int ctx;
	int peer;
	int listener;
	int a;
	int b;
};

static int new_ctx(void)
{
	return fault_ctx_of(next_user++);
}

static void pair(struct fixture_nomem *self)
{
	self->a = do_connect(self->ctx, SERVICE, PATIENCE);
	ASSERT_GE(self->a, 0);
	self->b = do_accept(self->listener, PATIENCE);
	ASSERT_GE(self->b, 0);
}

FIXTURE_SETUP(nomem)
{
	inject_begin();
	put(PARAMETERS "depth", "8");
	next_user = 100000 + getpid() * 1000;
	self->peer = fault_peer_of(next_user);
	self->ctx = new_ctx();
	self->listener = do_listen(self->peer, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	pair(self);
}

FIXTURE_TEARDOWN(nomem)
{
	close(self->a);
	close(self->b);
	close(self->listener);
	close(self->peer);
	inject_end(self->ctx);
}

/* Have the allocation fail that comes after @skip others of its kind. */
static void fail(const char *site, unsigned int skip)
{
	inject("nomem", "site=%s skip=%u", site, skip);
}

/* It has failed, and is what it was again. */
static void mend(void)
{
	inject_off("nomem");
	EXPECT_EQ(inject_done("nomem"), 1);
}

static bool is_siw(void)
{
	const char *rdma = getenv("LAB_RDMA");

	return rdma && !strncmp(rdma, "siw", 3);
}

/*
 * Objects
 */

TEST_F(nomem, open)
{
	fail("context", 0);
	EXPECT_ERR(open(DEVICE, O_RDWR | O_CLOEXEC), ENOMEM);
	mend();
}

TEST_F(nomem, listen)
{
	static const char *const sites[] = { "listener", "object" };
	int i, fd;

	for (i = 0; i < 2; i++) {
		fail(sites[i], 0);
		EXPECT_ERR(do_listen(self->ctx, SERVICE + 1, NULL), ENOMEM);
		mend();
		fd = do_listen(self->ctx, SERVICE + 1, NULL);
		EXPECT_GE(fd, 0);
		close(fd);
	}
}

/* A queue allocates its rings, their pages and its operations one after the other. */
TEST_F(nomem, queue)
{
	struct queue q;
	int i;

	for (i = 0; i < 9; i++) {
		fail("queue", i);
		EXPECT_ERR(queue_open(self->ctx, &q, 8, 8), ENOMEM);
		mend();
	}
	fail("object", 0);
	EXPECT_ERR(queue_open(self->ctx, &q, 8, 8), ENOMEM);
	mend();
	/* Its poller comes last. */
	fail("queue", i);
	EXPECT_ERR(queue_open_polled(self->ctx, &q, 8, 8, 1), ENOMEM);
	mend();
	EXPECT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1), 0);
	queue_close(&q);
}

/* A region has a number in its context, and another as an object. */
TEST_F(nomem, region)
{
	static const struct {
		const char *site;
		unsigned int skip;
	} rows[] = {
		{ "pin", 0 }, { "pin", 1 }, { "pin", 2 }, { "pin", 3 },
		{ "object", 0 }, { "object", 1 },
	};
	char *memory = aligned_alloc(4096, BIG);
	int64_t region;
	size_t i;

	ASSERT_TRUE(memory);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fail(rows[i].site, rows[i].skip);
		EXPECT_ERR(region_register(self->ctx, memory, BIG, 0, NULL), ENOMEM);
		mend();
		if (harness_failures)
			printf("# this was %s after %u\n", rows[i].site, rows[i].skip);
		EXPECT_EQ(pinned_bytes(), 0);
		region = region_register(self->ctx, memory, BIG, 0, NULL);
		EXPECT_GT(region, 0);
		EXPECT_EQ(region_unregister(self->ctx, region), 0);
	}
	free(memory);
}

TEST_F(nomem, pool)
{
	struct pool pool;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	for (i = 0; i < 4; i++) {
		fail("queue", i);
		EXPECT_ERR(pool_open(&q, &pool, 8), ENOMEM);
		mend();
	}
	EXPECT_EQ(pool_open(&q, &pool, 8), 0);
	pool_close(&pool);
	queue_close(&q);
}

/* The first listener of a network namespace opens the module's port, for IPv4 and IPv6. */
TEST_F(nomem, port)
{
	static const struct {
		const char *site;
		unsigned int skip;
	} rows[] = { { "port", 0 }, { "verbs", 0 }, { "verbs", 1 } };
	int i, ctx, fd;

	if (is_siw())
		SKIP("siw has all its sockets in the first namespace");
	if (unshare(CLONE_NEWNET))
		SKIP("there are no network namespaces");
	ctx = open_ctx();
	for (i = 0; i < 3; i++) {
		fail(rows[i].site, rows[i].skip);
		EXPECT_ERR(do_listen(ctx, SERVICE, NULL), ENOMEM);
		mend();
	}
	fd = do_listen(ctx, SERVICE, NULL);
	EXPECT_GE(fd, 0);
	close(fd);
	close(ctx);
}

/* A lack at the peer is the peer's; here it is ENOMEM. */
static void expect_no_connection(struct fixture_nomem *self, int ctx, const char *site,
				 unsigned int skip, bool at_peer)
{
	struct rdmachan_error error;
	int fd, ret;

	fail(site, skip);
	ret = do_connect(ctx, SERVICE, &(struct opts){ .error = &error });
	EXPECT_EQ(ret, -1);
	EXPECT_EQ(errno, at_peer ? ECONNREFUSED : ENOMEM);
	/* siw may lose the words of a refusal. */
	if (at_peer && !(is_siw() && error.cause == RDMACHAN_CAUSE_NO_MODULE))
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
	mend();
	if (harness_failures)
		printf("# this was %s after %u\n", site, skip);
	fd = do_connect(ctx, SERVICE, PATIENCE);
	ASSERT_GE(fd, 0);
	close(self->b);
	self->b = do_accept(self->listener, PATIENCE);
	talk(fd, self->b);
	close(fd);
}

TEST_F(nomem, connect)
{
	static const struct {
		const char *site;
		unsigned int skip;
		bool at_peer;
	} rows[] = {
		{ "channel", 0, false }, { "channel", 1, false }, { "channel", 2, true },
		{ "object", 0, false }, { "object", 1, true },
		{ "lane", 0, false }, { "lane", 1, true },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_no_connection(self, self->ctx, rows[i].site, rows[i].skip, rows[i].at_peer);
}

/* With a link to be made: id, PD, CQ, queue pair, ring and its pages, at either end. */
TEST_F(nomem, connect_anew)
{
	static const struct {
		const char *site;
		unsigned int skip;
		bool at_peer;
	} rows[] = {
		{ "link", 0, false }, { "link", 1, true },
		{ "object", 1, false }, { "object", 2, true },
		{ "verbs", 0, false }, { "verbs", 1, false }, { "verbs", 2, false },
		{ "verbs", 3, false }, { "verbs", 4, true }, { "verbs", 5, true },
		{ "verbs", 6, true },
		{ "ring", 0, false }, { "ring", 1, false }, { "ring", 2, true },
		{ "ring", 3, true },
		{ "page", 0, false }, { "page", DEPTH - 1, false },
		{ "page", DEPTH, true }, { "page", 2 * DEPTH - 1, true },
	};
	size_t i;
	int ctx;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ctx = new_ctx();
		expect_no_connection(self, ctx, rows[i].site, rows[i].skip, rows[i].at_peer);
		close(ctx);
	}
}

/* Without memory for the active side's first frame another one is the first: it says HELLO. */
TEST_F(nomem, hello)
{
	struct rdmachan_info before, after;
	int ctx = new_ctx(), fd;

	ASSERT_EQ(get_info(ctx, &before), 0);
	fail("frame", 0);
	fd = do_connect(ctx, SERVICE, PATIENCE);
	EXPECT_GE(fd, 0);
	mend();
	ASSERT_EQ(get_info(ctx, &after), 0);
	EXPECT_EQ(after.out_cm_connects - before.out_cm_connects, 1);
	close(fd);
	close(ctx);
}

/* A host without memory is not dead, and tells so: neither end of an idle link gets a frame. */
TEST_F(nomem, heartbeat)
{
	sleep_ms(1000);
	inject("nomem", "site=frame count=0");
	sleep_ms(5 * 2000);
	EXPECT_EQ(poll_mask(self->a, 0, 0) | poll_mask(self->b, 0, 0), 0);
	EXPECT_GE(inject_done("nomem"), 10);
	inject_off("nomem");
	talk(self->a, self->b);
}

/* The same where the two ends beat at different times, as those of two hosts do. */
TEST_F(nomem, heartbeat_by_turns)
{
	int ctx, fds[2];

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable of this lab has no delay, or chance decides when hearts beat");
	cable("delay 50");
	ctx = new_ctx();
	fds[0] = do_connect(ctx, SERVICE, PATIENCE);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(self->listener, PATIENCE);
	ASSERT_GE(fds[1], 0);
	cable("delay 0");
	sleep_ms(2000);
	inject("nomem", "site=frame count=0");
	sleep_ms(10 * 2000);
	EXPECT_EQ(poll_mask(fds[0], 0, 0) | poll_mask(fds[1], 0, 0), 0);
	EXPECT_GE(inject_done("nomem"), 20);
	inject_off("nomem");
	talk(fds[0], fds[1]);
	close(fds[0]);
	close(fds[1]);
	close(ctx);
}

/* A refusal that there is no memory for is no answer. */
TEST_F(nomem, refusal)
{
	fail("item", 0);
	EXPECT_ERR(do_connect(self->ctx, SERVICE + 7, TIMEOUT(500)), ETIMEDOUT);
	mend();
	EXPECT_ERR(do_connect(self->ctx, SERVICE + 7, PATIENCE), ECONNREFUSED);
	talk(self->a, self->b);
}

/*
 * Messages
 */

/* A received message that cannot be kept ends the channel, at both ends. */
TEST_F(nomem, segment)
{
	/* A channel has room of its own for a smaller one. */
	static char message[200];
	struct rdmachan_error error;
	char back[8];

	fail("segment", 0);
	ASSERT_EQ(write(self->a, message, sizeof(message)), sizeof(message));
	EXPECT_ERR(do_recv(self->b, back, 8, NULL, PATIENCE), ENOMEM);
	EXPECT_ERR(do_recv(self->a, back, 8, NULL, PATIENCE), ECONNRESET);
	mend();
	ASSERT_EQ(get_error(self->b, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_RESOURCES);
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
	close(self->a);
	close(self->b);
	pair(self);
	talk(self->a, self->b);
}

static size_t random_size(uint64_t *seed)
{
	uint64_t value = next_random(seed);

	return (value >> 8) % (value & 3 ? 3000 : LONGEST);
}

/* A message refused for want of memory was not sent, and may be sent again. */
static void send_many(int chan, int count, uint64_t seed)
{
	static char data[LONGEST];
	size_t len;
	int ret;

	while (count--) {
		len = random_size(&seed);
		fill_random(data, len, seed);
		do
			ret = do_send(chan, data, len, 0, PATIENCE);
		while (ret && errno == ENOMEM);
		ASSERT_EQ(ret, 0);
	}
	fflush(stdout);
	_exit(0);
}

static void receive_many(int chan, int count, uint64_t seed)
{
	static char data[LONGEST];
	struct rdmachan_recv_args recv;
	size_t len;

	while (count--) {
		len = random_size(&seed);
		ASSERT_EQ(do_recv(chan, data, LONGEST, &recv, PATIENCE), 0);
		ASSERT_EQ(recv.out_length, len);
		ASSERT_TRUE(is_random(data, len, seed));
	}
	fflush(stdout);
	_exit(0);
}

static void traffic(struct fixture_nomem *self, int count)
{
	pid_t children[4];
	int i;

	fflush(stdout);
	for (i = 0; i < 4; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		if (i < 2)
			receive_many(i ? self->a : self->b, count, 1 + i);
		else
			send_many(i == 3 ? self->b : self->a, count, i - 1);
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(child_status(children[i]), 0);
}

static void fail_often(struct fixture_nomem *self, const char *site, int every, int least)
{
	inject("nomem", "site=%s every=%d count=0", site, every);
	traffic(self, 300);
	inject_off("nomem");
	EXPECT_GE(inject_done("nomem"), least);
	talk(self->a, self->b);
}

TEST_F(nomem, frames)
{
	fail_often(self, "frame", 3, 20);
}

TEST_F(nomem, items)
{
	fail_often(self, "item", 2, 20);
}

/* Buffers that could not be replaced are missing from the ring until the next tick. */
TEST_F(nomem, pages)
{
	fail_often(self, "page", 2, 3);
}

/*
 * Large messages, straight to a reader
 */

struct reading {
	pthread_t thread;
	pid_t tid;
	int chan;
	char *data;
	ssize_t got;
};

static void *read_one(void *arg)
{
	struct reading *reading = arg;

	__atomic_store_n(&reading->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	reading->got = read(reading->chan, reading->data, BIG);
	return NULL;
}

/* Return: how many messages of the writer went that way. */
static uint64_t placed(struct fixture_nomem *self, char *out, char *back)
{
	struct reading reading = { .chan = self->b, .data = back };
	struct rdmachan_object object;

	memset(back, 0, BIG);
	fill_random(out, BIG, 5);
	pthread_create(&reading.thread, NULL, read_one, &reading);
	await_sleep(&reading.tid);
	EXPECT_EQ(write(self->a, out, BIG), BIG);
	pthread_join(reading.thread, NULL);
	EXPECT_EQ(reading.got, BIG);
	EXPECT_TRUE(is_random(back, BIG, 5));
	ASSERT_EQ(get_object(self->a, &object), 0);
	return object.tx_placed;
}

/* Without what placing needs, the message is copied. */
TEST_F(nomem, placed)
{
	static const struct {
		const char *site;
		unsigned int skip;
	} rows[] = {
		{ "region", 0 }, { "verbs", 0 }, { "write", 0 }, { "pin", 0 }, { "pin", 1 },
	};
	char *out = malloc(BIG), *back = malloc(BIG);
	size_t i;
	int ctx;

	put(PARAMETERS "place", "1");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		/* A link that has no regions yet. */
		close(self->a);
		close(self->b);
		ctx = new_ctx();
		self->a = do_connect(ctx, SERVICE, PATIENCE);
		self->b = do_accept(self->listener, PATIENCE);
		close(ctx);
		ASSERT_GE(self->b, 0);
		fail(rows[i].site, rows[i].skip);
		/* A reader that is not quick enough has the message copied anyway. */
		do
			EXPECT_EQ(placed(self, out, back), 0);
		while (!inject_done("nomem") && !harness_failures);
		mend();
		if (harness_failures)
			printf("# this was %s after %u\n", rows[i].site, rows[i].skip);
		/* A message that was refused puts off asking again. */
		while (!placed(self, out, back))
			;
	}
	free(out);
	free(back);
}

/*
 * From open() to close()
 */

struct life {
	int ctx;
	int peer;
	int chans[3];
	const char *step;
	int error;
	struct rdmachan_error record;
};

/* Return: whether the life goes on. */
static bool step(struct life *life, const char *name, int ret)
{
	if (ret >= 0)
		return true;
	life->step = name;
	life->error = errno;
	return false;
}

/* The channel's user has a context on each host. */
static bool live_contexts(struct life *life, int user)
{
	int here;

	ASSERT_EQ(seteuid(user), 0);
	life->ctx = open(DEVICE, O_RDWR | O_CLOEXEC);
	step(life, "open", life->ctx);
	ASSERT_EQ(seteuid(0), 0);
	if (life->ctx < 0)
		return false;
	here = enter_peer();
	ASSERT_EQ(seteuid(user), 0);
	life->peer = open(DEVICE, O_RDWR | O_CLOEXEC);
	step(life, "open there", life->peer);
	ASSERT_EQ(seteuid(0), 0);
	leave_peer(here);
	return life->peer >= 0;
}

static bool live_open(struct life *life, int user)
{
	struct opts o = { .timeout_ms = 5000, .error = &life->record };
	int *chans = life->chans;

	if (!live_contexts(life, user))
		return false;
	chans[2] = do_listen(life->peer, SERVICE + 2, &o);
	if (!step(life, "listen", chans[2]))
		return false;
	chans[0] = do_connect(life->ctx, SERVICE + 2, &o);
	if (!step(life, "connect", chans[0]))
		return false;
	chans[1] = do_accept(chans[2], PATIENCE);
	return step(life, "accept", chans[1]);
}

static bool live_message(struct life *life, int from, size_t len)
{
	struct opts o = { .timeout_ms = 5000, .error = &life->record };
	static char out[LONGEST], back[LONGEST];
	struct rdmachan_recv_args recv;

	fill_random(out, len, len);
	if (!step(life, "send", do_send(life->chans[from], out, len, 0, &o)))
		return false;
	if (!step(life, "recv", do_recv(life->chans[!from], back, LONGEST, &recv, &o)))
		return false;
	EXPECT_EQ(recv.out_length, len);
	EXPECT_TRUE(is_random(back, len, len));
	return true;
}

/* Return: whether all of it worked; else @life tells what did not. */
static bool live(struct life *life, int user)
{
	static const size_t lengths[] = { 100, 3000, 9000, LONGEST };
	size_t i;

	*life = (struct life){ .ctx = -1, .peer = -1, .chans = { -1, -1, -1 } };
	if (!live_open(life, user))
		return false;
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (!live_message(life, 0, lengths[i]) || !live_message(life, 1, lengths[i]))
			return false;
	return true;
}

static void end(struct life *life)
{
	int i;

	for (i = 0; i < 3; i++)
		if (life->chans[i] >= 0)
			EXPECT_EQ(close(life->chans[i]), 0);
	if (life->peer >= 0)
		EXPECT_EQ(close(life->peer), 0);
	if (life->ctx >= 0)
		EXPECT_EQ(close(life->ctx), 0);
}

/* No memory here, or none at the peer, which says so. */
static void judge(const struct life *life)
{
	uint32_t cause = life->record.cause;

	if (life->error == ENOMEM)
		return;
	/* It could not keep the first part of a long message. */
	if (life->error == ECONNRESET && cause == RDMACHAN_CAUSE_PEER_RESOURCES)
		return;
	if (life->error == ECONNREFUSED && (cause == RDMACHAN_CAUSE_PEER_RESOURCES ||
					    (is_siw() && cause == RDMACHAN_CAUSE_NO_MODULE)))
		return;
	printf("# %s: errno %d, cause %u, detail %llu\n", life->step, life->error, cause,
	       (unsigned long long)life->record.detail);
	harness_failures++;
}

/* Each life with a user of its own, which needs a link made; or all on the fixture's link. */
static void sweep(bool anew)
{
	int user = next_user - 1, points = 0, errors = 0;
	struct life life;
	unsigned long fired;

	do {
		if (anew)
			user = next_user++;
		inject("nomem", "skip=%d", points++);
		if (!live(&life, user)) {
			errors++;
			judge(&life);
		}
		end(&life);
		inject_off("nomem");
		fired = inject_done("nomem");
		if (!live(&life, user)) {
			printf("# afterwards %s: errno %d\n", life.step, life.error);
			harness_failures++;
		}
		end(&life);
		if (harness_failures) {
			printf("# this was point %d\n", points - 1);
			break;
		}
	} while (fired && points < POINTS_MAX);
	EXPECT_LT(points, POINTS_MAX);
	printf("# %d points, %d errors\n", points - 1, errors);
}

TEST_F_TIMEOUT(nomem, life, 300)
{
	sweep(false);
}

TEST_F_TIMEOUT(nomem, life_anew, 300)
{
	sweep(true);
}

TEST_HARNESS_MAIN
