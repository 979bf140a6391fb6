// SPDX-License-Identifier: GPL-2.0
/*
 * lib_fork_test.c - queues, pools and regions of the library in children of their program
 */
#include <pthread.h>
#include <sched.h>

#include "../../userspace-tool/tests/fork_calls.h"
#include "lib_fixture.h"

#define STACK 65536

/* Child of a test: its purpose is in these. */
static struct rdmachan_queue *queue;
static struct rdmachan_pool *pool;

#define EXPECT_CHILD(child, wanted)			\
	do {						\
		int status_ = child_status(child);	\
							\
		EXPECT_EQ(status_, wanted);		\
	} while (0)

/* With entries and completions in its rings, and a message on its way. */
static void prepare(struct fixture_lib *self)
{
	queue = self->q;
	pool = make_pool(queue, 4, 2);
	rdmachan_queue_prep_recv_pool(entry(queue, 1), self->b, pool);
	nop(queue, 2);
	ASSERT_EQ(rdmachan_queue_submit(queue, NULL), 2);
	ASSERT_EQ(rdmachan_queue_cq_ready(queue), 1);
	nop(queue, 3);
}

/* The parent finds all as it was. */
static void go_on(struct fixture_lib *self)
{
	EXPECT_DONE(queue, 2, 0);
	EXPECT_EQ(rdmachan_queue_submit(queue, NULL), 1);
	EXPECT_DONE(queue, 3, 0);
	EXPECT_EQ(rdmachan_send(self->a, "x", 1, NULL), 0);
	EXPECT_MESSAGE(queue, 1, 1, 0);
	EXPECT_EQ(rdmachan_pool_left(pool), 1);
}

TEST_F(lib, each_call_in_a_forked_child)
{
	unsigned int i;
	pid_t child;

	prepare(self);
	for (i = 0; i < FORK_CALLS; i++) {
		child = fork();
		if (!child)
			_exit(!fork_call_refused(&fork_calls[i], queue, pool));
		printf("# rdmachan_%s()\n", fork_calls[i].name);
		EXPECT_CHILD(child, 0);
	}
	go_on(self);
}

/* A queue with a poller, which looks at the rings all the time. */
TEST_F(lib, each_call_in_a_forked_child_polled)
{
	unsigned int i;
	pid_t child;

	rdmachan_queue_close(self->q);
	self->q = rdmachan_queue_open_polled(self->ctx, ENTRIES, DONE, 1, NULL);
	ASSERT_TRUE(self->q);
	pool = make_pool(self->q, 4, 2);
	for (i = 0; i < FORK_CALLS; i++) {
		child = fork();
		if (!child)
			_exit(!fork_call_refused(&fork_calls[i], self->q, pool));
		EXPECT_CHILD(child, 0);
	}
	nop(self->q, 1);
	ASSERT_EQ(rdmachan_queue_submit(self->q, NULL), 1);
	EXPECT_DONE(self->q, 1, 0);
}

/* A thread is in the middle of whatever it does with the queue. */
static void *work(void *arg)
{
	bool *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
		nop(queue, 8);
		ASSERT_EQ(alone(queue), 0);
		ASSERT_EQ(rdmachan_pool_left(pool), 2);
		/* Where time is virtual nothing else would have the processor. */
		sched_yield();
	}
	return NULL;
}

static int all_refused(void)
{
	unsigned int i, well = 0;

	for (i = 0; i < FORK_CALLS; i++)
		well += fork_call_refused(&fork_calls[i], queue, pool);
	return well != FORK_CALLS;
}

TEST_F(lib, forked_while_a_thread_works)
{
	bool stop = false;
	pthread_t thread;
	pid_t child;
	int i;

	queue = self->q;
	pool = make_pool(queue, 4, 2);
	ASSERT_EQ(pthread_create(&thread, NULL, work, &stop), 0);
	for (i = 0; i < turns(50); i++) {
		child = fork();
		if (!child)
			_exit(all_refused());
		EXPECT_CHILD(child, 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	nop(queue, 9);
	EXPECT_EQ(alone(queue), 0);
}

static int own_queue(int ctx)
{
	struct rdmachan_queue *own = rdmachan_queue_open(ctx, ENTRIES, DONE, NULL);

	if (!own)
		return 1;
	if (all_refused())
		return 2;
	nop(own, 9);
	return alone(own) != 0;
}

TEST_F(lib, own_queue_of_a_child)
{
	pid_t child;

	prepare(self);
	child = fork();
	if (!child)
		_exit(own_queue(self->ctx));
	EXPECT_CHILD(child, 0);
	go_on(self);
}

/* It closes what it has inherited, and its mappings there stay. */
static int close_inherited(struct rdmachan_sqe *sqe)
{
	char *place = (char *)((uintptr_t)sqe & ~(PAGE - 1));

	if (mmap(place, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != place)
		return 1;
	*place = 1;
	rdmachan_queue_close(queue);
	rdmachan_pool_close(pool);
	return *place != 1;
}

TEST_F(lib, closed_by_a_child)
{
	struct rdmachan_sqe *sqe;
	pid_t child;

	prepare(self);
	sqe = entry(queue, 4);
	child = fork();
	if (!child)
		_exit(close_inherited(sqe));
	EXPECT_CHILD(child, 0);
	nop(queue, 5);
	EXPECT_DONE(queue, 2, 0);
	EXPECT_EQ(rdmachan_queue_submit(queue, NULL), 3);
	EXPECT_DONE(queue, 3, 0);
	EXPECT_DONE(queue, 4, 0);
	EXPECT_DONE(queue, 5, 0);
}

/* Memory that is shared is the program's: so it is for children of vfork(). */
static int use_it(void *arg)
{
	struct fixture_lib *self = arg;

	go_on(self);
	return harness_failures;
}

TEST_F(lib, child_with_the_same_memory)
{
	static char stack[STACK];
	pid_t child;

	prepare(self);
	child = clone(use_it, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, self);
	ASSERT_GT(child, 0);
	EXPECT_CHILD(child, 0);
	nop(queue, 6);
	ASSERT_EQ(rdmachan_queue_submit(queue, NULL), 1);
	EXPECT_DONE(queue, 6, 0);
}

static int refused_region(int ctx, int chan, uint32_t region)
{
	struct rdmachan_grant_range range = {
		.region = region, .length = PAGE, .rights = RDMACHAN_RIGHT_READ,
	};

	EXPECT_ERR(rdmachan_region_unregister(ctx, region, NULL), EPERM);
	EXPECT_ERR(rdmachan_region_take_back(ctx, region, NULL), EPERM);
	EXPECT_ERR(rdmachan_grant_lend(chan, ctx, &range, NULL), EPERM);
	return harness_failures;
}

TEST_F(lib, region_in_a_forked_child)
{
	uint32_t region = region_of(self->ctx, pages(PAGE), PAGE, 0);
	pid_t child = fork();

	if (!child)
		_exit(refused_region(self->ctx, self->a, region));
	EXPECT_CHILD(child, 0);
	EXPECT_EQ(rdmachan_region_unregister(self->ctx, region, NULL), 0);
}

TEST_HARNESS_MAIN
