// SPDX-License-Identifier: GPL-2.0
/*
 * queue_cancel_test.c - queues: operations cancelled just as they are over
 *
 * Either is right, but an operation says which it was, and nothing is lost or comes twice. When
 * an operation is cancelled follows from how the last one ended, so that both are met, and the
 * moments between them most of all.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "queue_fixture.h"
#include "slow.h"

#define SIZE 1500
#define BUFFERS 64

/* Operations, by their user data. */
enum {
	FIRST,
	SECOND,
	CONNECTS,
	CANCELS,
	HOLDS,
	KINDS,
};

static const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };

static const struct opts small = {
	.tuning.send_buffer = RDMACHAN_BUFFER_MIN,
	.tuning.recv_buffer = RDMACHAN_BUFFER_MIN,
};

/*
 * @ns: about when the raced event comes
 * @over, @cancelled: how often it was first, and was not
 * @told, @res: completions that were read and not asked for yet, by their operation
 */
struct race {
	struct queue *q;
	uint64_t seed;
	int64_t ns;
	int over;
	int cancelled;
	bool told[KINDS];
	int64_t res[KINDS];
};

/* Half to one and a half of what it should be. */
static void wait_about(struct race *race)
{
	pause_ns(race->ns / 2 + next_random(&race->seed) % race->ns);
}

static void count(struct race *race, bool cancelled)
{
	if (cancelled) {
		race->cancelled++;
		race->ns = race->ns < 200000000 ? race->ns * 3 / 2 : race->ns;
	} else {
		race->over++;
		race->ns = race->ns > 1000 ? race->ns * 2 / 3 : race->ns;
	}
}

static void race_begin(struct race *race, struct queue *q)
{
	*race = (struct race){ .q = q, .ns = 20000 };
}

static void race_end(const struct race *race)
{
	printf("# over %d times, cancelled %d times, at last after %lld us\n", race->over,
	       race->cancelled, (long long)race->ns / 1000);
	EXPECT_EQ(queue_ready(race->q), 0);
	/* A single one may go on with the others in the middle of a call, each time. */
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	EXPECT_GT(race->over, 0);
	EXPECT_GT(race->cancelled, 0);
}

/* Each operation completes once. */
static int64_t result(struct race *race, uint64_t data)
{
	struct rdmachan_cqe cqe;

	while (!race->told[data]) {
		ASSERT_TRUE(queue_wait(race->q, &cqe));
		ASSERT_LT(cqe.user_data, KINDS);
		ASSERT_EQ(race->told[cqe.user_data], false);
		race->told[cqe.user_data] = true;
		race->res[cqe.user_data] = cqe.res;
	}
	race->told[data] = false;
	return race->res[data];
}

/* Return: its result, which is that of the CANCEL as well. */
static int64_t cancel(struct race *race, uint64_t data)
{
	int64_t res;

	queue_cancel(race->q, data, 0, CANCELS);
	ASSERT_EQ(queue_submit(race->q), 1);
	res = result(race, data);
	EXPECT_EQ(result(race, CANCELS), res == -ECANCELED ? 1 : -ENOENT);
	return res;
}

/* The same, at about the time when it is over. */
static int64_t cancel_in_time(struct race *race)
{
	int64_t res;

	wait_about(race);
	res = cancel(race, FIRST);
	count(race, res == -ECANCELED);
	return res;
}

struct runner {
	struct queue *q;
	pid_t tid;
};

static void *run(void *arg)
{
	struct runner *runner = arg;
	struct rdmachan_enter_args enter = {
		.size = sizeof(enter), .min_complete = runner->q->cq.count,
	};

	__atomic_store_n(&runner->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	ioctl(runner->q->fd, RDMACHAN_ENTER, &enter);
	return NULL;
}

/*
 * A thread that waits in a call until the test ends, for more completions than there ever are at
 * a time: it runs what is ready while this one cancels.
 */
static void start_runner(struct runner *runner, struct queue *q)
{
	pthread_t thread;

	*runner = (struct runner){ .q = q };
	ASSERT_EQ(pthread_create(&thread, NULL, run, runner), 0);
	await_sleep(&runner->tid);
}

/* What @from sends first @to receives. */
static void expect_passes(int from, int to, int number)
{
	int back = -1;

	ASSERT_EQ(do_send(from, &number, sizeof(number), 0, TIMEOUT(10000)), 0);
	ASSERT_EQ(do_recv(to, &back, sizeof(back), NULL, TIMEOUT(10000)), 0);
	EXPECT_EQ(back, number);
}

/*
 * ACCEPT and CONNECT
 */

/* The ACCEPT that was cancelled has left the connection to the next one. */
static int accept_instead(struct race *race, int listener, bool behind)
{
	if (!behind) {
		queue_add(race->q, OP(ACCEPT), listener, SECOND);
		ASSERT_EQ(queue_submit(race->q), 1);
	}
	return result(race, SECOND);
}

/* @behind: the next one is there already */
static void race_accept(struct race *race, struct rdmachan_connect_args *connect, int listener,
			bool behind)
{
	int64_t near, far;

	queue_add(race->q, OP(ACCEPT), listener, FIRST);
	if (behind)
		queue_add(race->q, OP(ACCEPT), listener, SECOND);
	queue_connect(race->q, connect, CONNECTS);
	ASSERT_EQ(queue_submit(race->q), behind ? 3 : 2);
	near = cancel_in_time(race);
	far = result(race, CONNECTS);
	if (near == -ECANCELED)
		near = accept_instead(race, listener, behind);
	else if (behind)
		EXPECT_EQ(cancel(race, SECOND), -ECANCELED);
	ASSERT_GE(near, 0);
	ASSERT_GE(far, 0);
	expect_passes(far, near, race->over);
	expect_passes(near, far, race->cancelled);
	EXPECT_ERR(do_accept(listener, NULL), EAGAIN);
	close(near);
	close(far);
}

TEST_F_TIMEOUT(queue, accept_is_cancelled_as_a_connection_comes, 120)
{
	int listener = do_listen(self->peer, SERVICE, &nonblock), i;
	struct rdmachan_connect_args connect;
	struct runner runner;
	struct race race;

	fill_in(&connect, SERVICE, NULL);
	race_begin(&race, &self->q);
	start_runner(&runner, &self->q);
	for (i = 0; i < turns(200); i++)
		race_accept(&race, &connect, listener, i % 2);
	race_end(&race);
	close(listener);
	EXPECT_TRUE(await_channels(self->ctx, 2));
}

/* The other end of @chan: others that are accepted before have been cancelled. */
static int accept_of(int listener, int chan, int number)
{
	int fd, back = -1;

	ASSERT_EQ(do_send(chan, &number, sizeof(number), 0, TIMEOUT(10000)), 0);
	for (;;) {
		ASSERT_TRUE(wait_readable(listener, 10000));
		fd = do_accept(listener, NULL);
		ASSERT_GE(fd, 0);
		if (do_recv(fd, &back, sizeof(back), NULL, TIMEOUT(10000)))
			ASSERT_EQ(errno, ECONNRESET);
		else if (back == number)
			return fd;
		EXPECT_EQ(back, -1);
		close(fd);
	}
}

static void expect_end(int fd)
{
	struct rdmachan_recv_args recv;
	char back;

	if (do_recv(fd, &back, 1, &recv, TIMEOUT(10000)))
		ASSERT_EQ(errno, ECONNRESET);
	else
		ASSERT_TRUE(recv.out_flags & RDMACHAN_RECV_OUT_EOF);
}

/* A server that accepted a connection that was cancelled finds its end. */
static void accept_cancelled(int listener)
{
	int fd;

	while ((fd = do_accept(listener, NULL)) >= 0) {
		expect_end(fd);
		close(fd);
	}
	EXPECT_EQ(errno, EAGAIN);
}

/* The lowest file descriptor that is free. */
static int lowest_fd(int fd)
{
	int copy = dup(fd);

	close(copy);
	return copy;
}

static void race_connect(struct race *race, struct rdmachan_connect_args *connect, int listener)
{
	int64_t near;
	int far;

	queue_connect(race->q, connect, FIRST);
	ASSERT_EQ(queue_submit(race->q), 1);
	near = cancel_in_time(race);
	if (near != -ECANCELED) {
		ASSERT_GE(near, 0);
		far = accept_of(listener, near, race->over);
		expect_passes(far, near, race->over);
		close(near);
		close(far);
	}
	accept_cancelled(listener);
}

TEST_F_TIMEOUT(queue, connect_is_cancelled_as_it_succeeds, 120)
{
	int listener = do_listen(self->peer, SERVICE, &nonblock), lowest, i;
	struct rdmachan_connect_args connect;
	struct runner runner;
	struct race race;

	fill_in(&connect, SERVICE, NULL);
	race_begin(&race, &self->q);
	start_runner(&runner, &self->q);
	lowest = lowest_fd(self->ctx);
	for (i = 0; i < turns(200); i++) {
		race_connect(&race, &connect, listener);
		ASSERT_EQ(lowest_fd(self->ctx), lowest);
	}
	race_end(&race);
	close(listener);
	EXPECT_TRUE(await_channels(self->ctx, 2));
}

/*
 * SEND
 */

/*
 * Messages are numbers. Those that have been sent, as their senders were told, are to be received.
 * A thread does that: as many as it is asked for by one pipe, and then it says so by the other.
 */
struct flow {
	int from;
	int to;
	uint32_t number;
	uint32_t sent[256];
	uint32_t head;
	uint32_t tail;
	int asks[2];
	int answers[2];
};

static void note_sent(struct flow *flow)
{
	ASSERT_LT(flow->tail - flow->head, 256);
	flow->sent[flow->tail++ % 256] = flow->number;
}

static void receive_sent(struct flow *flow)
{
	static uint32_t message[SIZE / 4];

	ASSERT_EQ(do_recv(flow->to, message, SIZE, NULL, TIMEOUT(10000)), 0);
	ASSERT_EQ(message[0], flow->sent[flow->head % 256]);
	flow->head++;
}

static void *receiver(void *arg)
{
	struct flow *flow = arg;
	uint32_t messages;

	while (read(flow->asks[0], &messages, 4) == 4) {
		while (messages--)
			receive_sent(flow);
		if (write(flow->answers[1], "", 1) != 1)
			break;
	}
	return NULL;
}

/* Until there is no room, though some may be made a moment later. */
static void fill_flow(struct flow *flow)
{
	static uint32_t message[SIZE / 4];

	for (;;) {
		message[0] = ++flow->number;
		if (do_send(flow->from, message, SIZE, 0, DONTWAIT))
			break;
		note_sent(flow);
	}
	ASSERT_EQ(errno, EAGAIN);
}

static void race_send(struct race *race, struct flow *flow)
{
	static uint32_t message[SIZE / 4];
	uint32_t half;
	char done;

	fill_flow(flow);
	half = (flow->tail - flow->head) / 2;
	message[0] = ++flow->number;
	queue_send(race->q, flow->from, message, SIZE, FIRST);
	ASSERT_EQ(queue_submit(race->q), 1);
	ASSERT_EQ(write(flow->asks[1], &half, 4), 4);
	if (cancel_in_time(race) != -ECANCELED) {
		EXPECT_EQ(race->res[FIRST], SIZE);
		note_sent(flow);
	}
	/* A completion behind it may not be that. */
	message[0] = 0;
	ASSERT_EQ(read(flow->answers[0], &done, 1), 1);
}

static void race_sends(struct fixture_queue *self)
{
	struct flow flow = { .number = 0 };
	pthread_t thread;
	struct race race;
	int fds[2], i;

	pair_up(self->ctx, fds, &small);
	flow.from = fds[0];
	flow.to = fds[1];
	ASSERT_EQ(pipe(flow.asks), 0);
	ASSERT_EQ(pipe(flow.answers), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, receiver, &flow), 0);
	race_begin(&race, &self->q);
	for (i = 0; i < turns(150); i++)
		race_send(&race, &flow);
	race_end(&race);
	close(flow.asks[1]);
	pthread_join(thread, NULL);
	ASSERT_EQ(do_shutdown(flow.from, RDMACHAN_SHUTDOWN_SEND), 0);
	while (flow.head != flow.tail)
		receive_sent(&flow);
	EXPECT_EQ(read(flow.to, &i, 4), 0);
	close(flow.from);
	close(flow.to);
}

TEST_F_TIMEOUT(queue, send_is_cancelled_as_room_is_made, 120)
{
	race_sends(self);
}

TEST_F_TIMEOUT(queue, send_is_cancelled_while_another_thread_runs_it, 120)
{
	struct runner runner;

	start_runner(&runner, &self->q);
	race_sends(self);
}

/*
 * RECV of many messages
 */

/* @next: message; @taken: buffers, each of which has the number of its turn */
struct many {
	struct race race;
	struct pool pool;
	uint32_t memory[BUFFERS];
	uint32_t next;
	uint32_t taken;
	int fd;
};

static void give_buffer(struct many *many, uint32_t id)
{
	many->memory[id] = UINT32_MAX;
	pool_put(&many->pool, &many->memory[id], 4, id);
}

static void many_begin(struct many *many, struct queue *q)
{
	uint32_t i;

	race_begin(&many->race, q);
	ASSERT_EQ(pool_open(q, &many->pool, BUFFERS), 0);
	for (i = 0; i < BUFFERS; i++)
		give_buffer(many, i);
}

/* It is the next message, in the next buffer, which is in the pool no more. */
static void take_message(struct many *many, const struct rdmachan_cqe *cqe)
{
	ASSERT_EQ(cqe->flags, RDMACHAN_CQE_F_MORE | RDMACHAN_CQE_F_BUFFER);
	ASSERT_EQ(cqe->res, 4);
	ASSERT_EQ(cqe->buffer, many->taken++ % BUFFERS);
	ASSERT_EQ(many->memory[cqe->buffer], many->next);
	many->next++;
}

/* Return: how many messages have come until it was cancelled. */
static uint32_t race_many(struct many *many)
{
	struct queue *q = many->race.q;
	uint32_t begun = many->taken, i, told = 0;
	struct rdmachan_cqe cqe;

	queue_recv_many(q, many->fd, many->pool.id, FIRST);
	ASSERT_EQ(queue_submit(q), 1);
	wait_about(&many->race);
	queue_cancel(q, FIRST, 0, CANCELS);
	ASSERT_EQ(queue_submit(q), 1);
	while (told < 2) {
		ASSERT_TRUE(queue_wait(q, &cqe));
		if (cqe.user_data == FIRST && cqe.res >= 0) {
			ASSERT_EQ(told, 0);
			take_message(many, &cqe);
			continue;
		}
		EXPECT_EQ(cqe.flags, 0);
		EXPECT_EQ(cqe.res, cqe.user_data == FIRST ? -ECANCELED : 1);
		told++;
	}
	ASSERT_EQ(pool_left(&many->pool), BUFFERS - (many->taken - begun));
	for (i = begun; i < many->taken; i++)
		give_buffer(many, i % BUFFERS);
	return many->taken - begun;
}

struct writer {
	int fd;
	uint32_t messages;
};

static void *writer(void *arg)
{
	struct writer *writer = arg;
	uint32_t i;

	for (i = 0; i < writer->messages; i++)
		if (write(writer->fd, &i, 4) != 4)
			return NULL;
	return arg;
}

/* As many as there are buffers: it came late, for those that are behind them. */
static void race_all(struct fixture_queue *self)
{
	struct writer writes = { self->a, turns(6000) };
	struct many many = { .fd = self->b };
	uint32_t got, partly = 0;
	pthread_t thread;
	void *written;

	many_begin(&many, &self->q);
	ASSERT_EQ(pthread_create(&thread, NULL, writer, &writes), 0);
	while (many.next < writes.messages) {
		got = race_many(&many);
		partly += got && got < BUFFERS;
		count(&many.race, got < BUFFERS / 2);
	}
	pthread_join(thread, &written);
	EXPECT_TRUE(written);
	race_end(&many.race);
	printf("# %u times some had come\n", partly);
	EXPECT_GT(partly, 0);
	pool_close(&many.pool);
}

TEST_F_TIMEOUT(queue, many_are_cancelled_as_they_come, 120)
{
	race_all(self);
}

TEST_F_TIMEOUT(queue, many_are_cancelled_while_another_thread_runs_them, 120)
{
	struct runner runner;

	start_runner(&runner, &self->q);
	race_all(self);
}

/*
 * Many at a time
 */

#define MANY 32000
#define UNKNOWN 64

/* The least time that so many CANCELs take which find nothing, while @count RECVs are under way. */
static uint64_t cancel_unknown(struct fixture_queue *self, int count)
{
	static char room;
	struct rdmachan_cqe cqe;
	uint64_t least = UINT64_MAX, begun, took;
	struct queue q;
	int i, round;

	ASSERT_EQ(queue_open(self->ctx, &q, 32768, 32768), 0);
	for (i = 0; i < count; i++)
		queue_recv(&q, self->b, &room, 1, i);
	ASSERT_EQ(queue_submit(&q), count);
	for (round = 0; round < 8; round++) {
		for (i = 0; i < UNKNOWN; i++)
			queue_cancel(&q, MANY + i, 0, MANY + i);
		begun = ticks();
		ASSERT_EQ(queue_submit(&q), UNKNOWN);
		took = ticks() - begun;
		least = took < least ? took : least;
		for (i = 0; i < UNKNOWN; i++) {
			ASSERT_TRUE(queue_next(&q, &cqe));
			ASSERT_EQ(cqe.res, -ENOENT);
		}
	}
	queue_close(&q);
	return least;
}

/* A CANCEL does not look at what it does not name: with a thousand times as many it is as quick. */
TEST_F_TIMEOUT(queue, cancel_among_many, 120)
{
	uint64_t few = cancel_unknown(self, MANY / 1000), many = cancel_unknown(self, MANY);

	printf("# %llu and %llu ticks\n", (unsigned long long)few, (unsigned long long)many);
	EXPECT_LT(many, 20 * few);
}

/* Those with one user data end in the order in which they were submitted, and no other does. */
TEST_F(queue, cancel_by_order)
{
	static char room[8];
	struct rdmachan_cqe cqe;
	int i;

	for (i = 0; i < 8; i++)
		queue_recv(&self->q, self->b, &room[i], 1, i % 2 ? 7 : 9 - i);
	queue_cancel(&self->q, 7, 0, 100);
	queue_cancel(&self->q, 7, RDMACHAN_CANCEL_F_ALL, 101);
	queue_cancel(&self->q, 7, RDMACHAN_CANCEL_F_ALL, 102);
	ASSERT_EQ(queue_submit(&self->q), 11);
	for (i = 0; i < 8; i++) {
		static const struct { uint64_t data; int64_t res; } want[] = {
			{ 7, -ECANCELED }, { 100, 1 }, { 7, -ECANCELED }, { 7, -ECANCELED },
			{ 7, -ECANCELED }, { 7, -ECANCELED }, { 101, 4 }, { 102, -ENOENT },
		};

		ASSERT_TRUE(queue_next(&self->q, &cqe));
		EXPECT_EQ(cqe.user_data, want[i].data);
		EXPECT_EQ(cqe.res, want[i].res);
	}
	EXPECT_EQ(queue_ready(&self->q), 0);
	/* The first that is left is the first that was submitted. */
	ASSERT_EQ(write(self->a, "x", 1), 1);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	EXPECT_EQ(cqe.user_data, 9);
	EXPECT_EQ(room[0], 'x');
}

/*
 * Killed in ENTER: the entries that it has not taken stay, but for the rest of a chain
 */

#define BEHIND 100
#define STACK 65536

static int enter_once(void *arg)
{
	slow_undisturbed();
	return queue_submit(arg) < 0;
}

/* A process that shares the memory waits for what a CONNECT says; many entries are behind that. */
TEST_F_TIMEOUT(queue, killed_while_it_takes_entries, 60)
{
	char *stack = malloc(STACK);
	struct slow slow;
	struct queue q;
	int i, status;
	pid_t child;

	if (!slow_begin(&slow, 4096))
		SKIP("this kernel has no userfaultfd");
	ASSERT_TRUE(stack);
	ASSERT_EQ(queue_open(self->ctx, &q, 128, 256), 0);
	queue_connect(&q, (struct rdmachan_connect_args *)slow.memory, 1)->flags |=
		RDMACHAN_SQE_F_LINK;
	for (i = 0; i < BEHIND; i++)
		queue_add(&q, OP(NOP), -1, 2 + i);
	child = clone(enter_once, stack + STACK, CLONE_VM | SIGCHLD, &q);
	ASSERT_GT(child, 0);
	slow_met(&slow);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(*ring_word(q.sq_map, q.sq.consumer), 2);
	slow_end(&slow);
	/* Another thread goes on with them. */
	EXPECT_EQ(queue_submit(&q), BEHIND - 1);
	queue_close(&q);
	free(stack);
}

static int enter_for_three(void *arg)
{
	slow_undisturbed();
	return queue_enter(arg, 0, 3, 0) < 0;
}

/*
 * A thread is killed in ENTER while it runs the second of three operations. It must not run the
 * third. The queue's work item cannot run that either: the message is in memory that is not there
 * yet. So the third completes only when another thread calls ENTER.
 */
TEST_F_TIMEOUT(queue, killed_while_it_runs_what_is_ready, 60)
{
	void *untouched = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	char *stack = malloc(STACK), byte;
	struct rdmachan_cqe cqe;
	struct slow slow;
	struct queue q;
	pid_t child;
	int status;

	if (!slow_begin(&slow, 4096))
		SKIP("this kernel has no userfaultfd");
	ASSERT_NE(untouched, MAP_FAILED);
	ASSERT_TRUE(stack);
	ASSERT_EQ(queue_open(self->ctx, &q, 16, 16), 0);
	/* The first keeps the others from beginning, until all of them can. */
	queue_recv(&q, self->b, &byte, 1, 1)->flags |= RDMACHAN_SQE_F_DRAIN;
	queue_send(&q, self->a, slow.memory, 1, 2);
	queue_send(&q, self->b, untouched, 1, 3);
	ASSERT_EQ(queue_submit(&q), 3);
	child = clone(enter_for_three, stack + STACK, CLONE_VM | SIGCHLD, &q);
	ASSERT_GT(child, 0);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	slow_met(&slow);
	ASSERT_EQ(kill(child, SIGKILL), 0);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(queue_ready(&q), 2);
	slow_end(&slow);
	ASSERT_TRUE(queue_next(&q, &cqe));
	EXPECT_EQ(cqe.user_data, 1);
	EXPECT_EQ(cqe.res, 1);
	ASSERT_TRUE(queue_next(&q, &cqe));
	EXPECT_EQ(cqe.user_data, 2);
	EXPECT_EQ(cqe.res, -EFAULT);
	/* Another thread goes on. */
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.user_data, 3);
	EXPECT_EQ(cqe.res, 1);
	queue_close(&q);
	munmap(untouched, 4096);
	free(stack);
}

/*
 * Ready, and cancelled before it was run: what the others meet by chance, if at all
 */

/* A thread is in a call, where it receives to memory that is not there yet, and cancels then. */
struct hold {
	struct race race;
	struct slow slow;
	pthread_t thread;
};

static void *submit_held(void *arg)
{
	struct hold *hold = arg;

	return queue_submit(hold->race.q) == 2 ? arg : NULL;
}

static void hold_begin(struct hold *hold, struct fixture_queue *self)
{
	if (!slow_begin(&hold->slow, 4096))
		SKIP("this kernel has no userfaultfd");
	ASSERT_EQ(write(self->a, "hold", 4), 4);
	ASSERT_TRUE(wait_readable(self->b, 10000));
	queue_recv(&self->q, self->b, hold->slow.memory, 4, HOLDS);
	queue_cancel(&self->q, FIRST, 0, CANCELS);
	ASSERT_EQ(pthread_create(&hold->thread, NULL, submit_held, hold), 0);
	slow_met(&hold->slow);
}

static void hold_end(struct hold *hold)
{
	void *submitted;

	slow_end(&hold->slow);
	pthread_join(hold->thread, &submitted);
	EXPECT_TRUE(submitted);
	EXPECT_EQ(result(&hold->race, HOLDS), 4);
}

/* A ready operation is cancelled, and that is all that it says. */
static void expect_cancelled(struct hold *hold)
{
	hold_end(hold);
	EXPECT_EQ(result(&hold->race, CANCELS), 1);
	EXPECT_EQ(result(&hold->race, FIRST), -ECANCELED);
	EXPECT_EQ(queue_ready(hold->race.q), 0);
}

TEST_F(queue, accept_that_is_ready_is_cancelled)
{
	int listener = do_listen(self->peer, SERVICE, &nonblock), lowest, near, far;
	struct hold hold;

	race_begin(&hold.race, &self->q);
	queue_add(&self->q, OP(ACCEPT), listener, FIRST);
	ASSERT_EQ(queue_submit(&self->q), 1);
	hold_begin(&hold, self);
	far = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(far, 0);
	ASSERT_TRUE(wait_readable(listener, 10000));
	lowest = lowest_fd(self->ctx);
	expect_cancelled(&hold);
	EXPECT_EQ(lowest_fd(self->ctx), lowest);
	near = accept_instead(&hold.race, listener, false);
	ASSERT_GE(near, 0);
	expect_passes(far, near, 1);
	EXPECT_ERR(do_accept(listener, NULL), EAGAIN);
}

/* Whether so many channels of this host are open soon. */
static bool await_open(int ctx, uint32_t count)
{
	static struct rdmachan_object objects[64];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects, .objects_max = 64,
		.object_size = sizeof(*objects),
	};
	int64_t until = now_ms() + 10000;
	uint32_t open, i;

	do {
		ASSERT_EQ(ioctl(ctx, RDMACHAN_LIST, &list), 0);
		for (i = 0, open = 0; i < list.out_count; i++)
			open += objects[i].kind == RDMACHAN_KIND_CHANNEL &&
				objects[i].state == RDMACHAN_STATE_OPEN;
	} while (open != count && now_ms() < until);
	return open == count;
}

/* One that is not over in the call that begins it, as may be when that is held up. */
static void connect_slowly(struct race *race, struct rdmachan_connect_args *connect, int listener)
{
	int64_t fd;

	for (;;) {
		queue_connect(race->q, connect, FIRST);
		ASSERT_EQ(queue_submit(race->q), 1);
		if (!queue_ready(race->q))
			return;
		fd = result(race, FIRST);
		ASSERT_GE(fd, 0);
		close(accept_of(listener, fd, 0));
		close(fd);
	}
}

TEST_F(queue, connect_that_is_ready_is_cancelled)
{
	int listener = do_listen(self->peer, SERVICE, &nonblock), lowest, far;
	struct rdmachan_connect_args connect;
	struct hold hold;

	fill_in(&connect, SERVICE, NULL);
	race_begin(&hold.race, &self->q);
	connect_slowly(&hold.race, &connect, listener);
	hold_begin(&hold, self);
	ASSERT_TRUE(wait_readable(listener, 10000));
	far = do_accept(listener, NULL);
	ASSERT_GE(far, 0);
	ASSERT_TRUE(await_open(self->ctx, has_peer() ? 2 : 4));
	lowest = lowest_fd(self->ctx);
	expect_cancelled(&hold);
	EXPECT_EQ(lowest_fd(self->ctx), lowest);
	expect_end(far);
	close(far);
	EXPECT_TRUE(await_channels(self->ctx, 2));
}

TEST_F(queue, send_that_is_ready_is_cancelled)
{
	static uint32_t message[SIZE / 4];
	struct flow flow = { .number = 0 };
	struct hold hold;
	int fds[2];

	pair_up(self->ctx, fds, &small);
	flow.from = fds[0];
	flow.to = fds[1];
	race_begin(&hold.race, &self->q);
	do
		fill_flow(&flow);
	while (poll_mask(flow.from, POLLOUT, 100));
	queue_send(&self->q, flow.from, message, SIZE, FIRST);
	ASSERT_EQ(queue_submit(&self->q), 1);
	hold_begin(&hold, self);
	while (flow.head != flow.tail)
		receive_sent(&flow);
	ASSERT_TRUE(poll_mask(flow.from, POLLOUT, 10000));
	expect_cancelled(&hold);
	expect_passes(flow.from, flow.to, 1);
}

TEST_F(queue, many_that_are_ready_are_cancelled)
{
	struct many many = { .next = 0 };
	struct hold hold;
	int fds[2];
	uint32_t i;

	pair_up(self->ctx, fds, NULL);
	many.fd = fds[1];
	many_begin(&many, &self->q);
	race_begin(&hold.race, &self->q);
	queue_recv_many(&self->q, many.fd, many.pool.id, FIRST);
	ASSERT_EQ(queue_submit(&self->q), 1);
	hold_begin(&hold, self);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(write(fds[0], &i, 4), 4);
	ASSERT_TRUE(wait_readable(many.fd, 10000));
	expect_cancelled(&hold);
	EXPECT_EQ(pool_left(&many.pool), BUFFERS);
	while (many.next < 10)
		race_many(&many);
	EXPECT_EQ(many.next, 10);
}

TEST_HARNESS_MAIN
