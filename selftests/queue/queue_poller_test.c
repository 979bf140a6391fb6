// SPDX-License-Identifier: GPL-2.0
/*
 * queue_poller_test.c - queues whose rings a thread of the kernel looks at
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "queue_fixture.h"

#define POLLER RDMACHAN_QUEUE_F_POLLER
#define LONG 5000
#define SIZE 64

static char memory[64][SIZE];

static void read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");

	text[0] = 0;
	if (!file)
		return;
	if (!fgets(text, size, file))
		text[0] = 0;
	fclose(file);
}

/* Return: the poller of a program, or 0. */
static pid_t poller_of(pid_t program)
{
	char path[64], text[64], name[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir = opendir("/proc");

	snprintf(name, sizeof(name), "rdmachan/%d\n", program);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.16s/comm", entry->d_name);
		read_line(path, text, sizeof(text));
		if (!strcmp(text, name))
			found = atoi(entry->d_name);
	}
	closedir(dir);
	return found;
}

/* Ticks of processor time. */
static long time_of(pid_t task)
{
	unsigned long user = 0, system = 0;
	char path[64], text[512];
	int found;

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	read_line(path, text, sizeof(text));
	found = sscanf(strrchr(text, ')') + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	ASSERT_EQ(found, 2);
	return user + system;
}

/* A thread that sleeps needs none. Elsewhere it may still be on its way there. */
static void needs_no_time(pid_t task)
{
	long before = time_of(task);

	sleep_ms(500);
	EXPECT_LE(time_of(task) - before, time_is_virtual() ? 0 : 1);
}

static bool sleeps(struct queue *q)
{
	return __atomic_load_n(ring_word(q->sq_map, q->sq.flags), __ATOMIC_RELAXED) &
	       RDMACHAN_RING_F_WAKEUP;
}

static bool wait_asleep(struct queue *q)
{
	int64_t until = now_ms() + 10000;

	while (!sleeps(q) && now_ms() < until)
		sleep_ms(1);
	return sleeps(q);
}

/* Until the poller has taken all entries. */
static void wait_taken(struct queue *q)
{
	int64_t until = now_ms() + 10000;
	uint32_t *consumer = ring_word(q->sq_map, q->sq.consumer);

	while (__atomic_load_n(consumer, __ATOMIC_ACQUIRE) != q->tail && now_ms() < until)
		sleep_ms(1);
	ASSERT_EQ(__atomic_load_n(consumer, __ATOMIC_ACQUIRE), q->tail);
}

/* The next completion comes without a call. */
#define WATCH_CQE(q, data, result)				\
	do {							\
		struct rdmachan_cqe cqe_;			\
								\
		ASSERT_TRUE(queue_watch(q, &cqe_));		\
		EXPECT_EQ(cqe_.user_data, (uint64_t)(data));	\
		EXPECT_EQ(cqe_.res, (int64_t)(result));		\
	} while (0)

/* The thread has ended when the queue is closed, and leaves /proc a moment later. */
static bool wait_no_poller(pid_t program)
{
	int64_t until = now_ms() + 10000;

	while (poller_of(program) && now_ms() < until)
		sleep_ms(10);
	return !poller_of(program);
}

TEST_F(queue, poller_create_checks)
{
	struct queue q;

	EXPECT_ERR(queue_open_with(self->ctx, &q, 8, 8, 0, 1), EINVAL);
	EXPECT_ERR(queue_open_with(self->ctx, &q, 8, 8, POLLER, 10001), EINVAL);
	EXPECT_ERR(queue_open_with(self->ctx, &q, 8, 8, POLLER << 1, 0), EOPNOTSUPP);
	ASSERT_EQ(queue_open_with(self->ctx, &q, 8, 8, POLLER, 10000), 0);
	EXPECT_GT(poller_of(getpid()), 0);
	queue_close(&q);
	EXPECT_TRUE(wait_no_poller(getpid()));
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 0), 0);
	EXPECT_TRUE(wait_asleep(&q));
	queue_close(&q);
}

#define AHEAD 16000

/*
 * The least time for each of so many CONNECTs, which are looked at in a call, behind as many
 * entries that wait for a call for another reason. They are to be told what is wrong with them.
 */
static uint64_t connect_behind(struct fixture_queue *self, uint32_t count)
{
	static struct rdmachan_connect_args nothing;
	uint64_t least = UINT64_MAX, begun, took;
	struct rdmachan_cqe cqe;
	struct queue q;
	uint32_t i;
	int round;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 32768, 32768, LONG), 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < count; i++)
			queue_add(&q, OP(ACCEPT), self->b, i)->op_flags = ~0U;
		for (i = 0; i < count; i++)
			queue_connect(&q, &nothing, count + i);
		queue_poke(&q);
		wait_taken(&q);
		begun = ticks();
		ASSERT_EQ(queue_enter(&q, 0, 2 * count, 10000), 0);
		took = ticks() - begun;
		least = took < least ? took : least;
		for (i = 0; i < 2 * count; i++) {
			ASSERT_TRUE(queue_next(&q, &cqe));
			ASSERT_EQ(cqe.res, cqe.user_data < count ? -EOPNOTSUPP : -EINVAL);
		}
		EXPECT_EQ(queue_flags(&q), 0);
	}
	queue_close(&q);
	return least / count;
}

TEST_F_TIMEOUT(queue, many_wait_for_a_call, 120)
{
	uint64_t few = connect_behind(self, AHEAD / 1000), many = connect_behind(self, AHEAD);

	printf("# %llu and %llu ticks\n", (unsigned long long)few, (unsigned long long)many);
	EXPECT_LT(many, 20 * few);
}

TEST_F(queue, pollers_are_limited)
{
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rdmachan_queue_create_args create = {
		.size = sizeof(create), .sq_entries = 1, .cq_entries = 1, .flags = POLLER,
		.sqe_size = sizeof(struct rdmachan_sqe), .cqe_size = sizeof(struct rdmachan_cqe),
		.error_ptr = (uintptr_t)&error,
	};
	struct rdmachan_info info;
	struct queue q;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 0), 0);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_pollers.all, 1);
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_POLLER);
	set_parameter("all_pollers", 1);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_QUEUE_CREATE, &create), ENOSPC);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TOTAL_LIMIT);
	EXPECT_EQ(error.detail, RDMACHAN_LIMIT_POLLERS);
	set_parameter("all_pollers", 64);
	queue_close(&q);
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_use_pollers.all, 0);
	EXPECT_EQ(info.out_use_queues.all, 1);
}

TEST_F(queue, takes_entries_without_a_call)
{
	struct queue q;
	int i, n;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 4, 8, LONG), 0);
	for (i = 0; i < 1000; i += n) {
		for (n = 0; n < 1 + i % 4; n++)
			queue_add(&q, OP(NOP), 0, i + n);
		ASSERT_EQ(queue_publish(&q), false);
		for (n = 0; n < 1 + i % 4; n++)
			WATCH_CQE(&q, i + n, 0);
	}
	queue_close(&q);
}

TEST_F(queue, ping_pong_without_a_call)
{
	struct queue q;
	uint32_t i;

	memset(memory, 1, sizeof(memory));
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, LONG), 0);
	for (i = 0; i < 200; i++) {
		queue_recv(&q, self->b, memory[1], SIZE, 1);
		memcpy(memory[0], &i, 4);
		queue_send(&q, self->a, memory[0], 4, 0)->flags = SKIP_SUCCESS;
		ASSERT_EQ(queue_publish(&q), false);
		WATCH_CQE(&q, 1, 4);
		EXPECT_EQ(memcmp(memory[1], &i, 4), 0);
	}
	queue_close(&q);
}

/* It sleeps when it is idle, needs no time then, and is woken by a call. */
TEST_F(queue, poller_sleeps)
{
	struct queue q;
	pid_t poller;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1), 0);
	poller = poller_of(getpid());
	ASSERT_GT(poller, 0);
	ASSERT_TRUE(wait_asleep(&q));
	needs_no_time(poller);
	queue_add(&q, OP(NOP), 0, 1);
	EXPECT_EQ(queue_publish(&q), true);
	sleep_ms(50);
	EXPECT_EQ(queue_ready(&q), 0);
	EXPECT_TRUE(sleeps(&q));
	ASSERT_EQ(queue_wake(&q), 0);
	WATCH_CQE(&q, 1, 0);
	EXPECT_TRUE(wait_asleep(&q));
	queue_close(&q);
}

/* Entries come just when it goes to sleep, which is after some ticks: none is overlooked. */
TEST_F(queue, poller_falls_asleep)
{
	struct queue q;
	int i, woken = 0;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1), 0);
	for (i = 0; i < 200; i++) {
		queue_add(&q, OP(NOP), 0, i);
		if (queue_publish(&q)) {
			woken++;
			ASSERT_EQ(queue_wake(&q), 0);
		}
		WATCH_CQE(&q, i, 0);
		if (i % 10 == 0)
			ASSERT_TRUE(wait_asleep(&q));
		else
			sleep_ms(i % 49);
	}
	printf("# woken %d times\n", woken);
	EXPECT_GE(woken, 10);
	queue_close(&q);
}

/* What a sleeping poller has taken goes on all the same. */
static void *send_later(void *arg)
{
	int *chan = arg, i;

	sleep_ms(50);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(do_send(*chan, NULL, 0, 0, NULL), 0);
	return NULL;
}

/* All operations are under way, and a call sees their end: the thread takes what is left. */
TEST_F(queue, asleep_with_entries_left)
{
	pthread_t thread;
	struct queue q;
	int i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 4, 1), 0);
	for (i = 0; i < 4; i++)
		queue_recv(&q, self->b, NULL, 0, i)->flags = SKIP_SUCCESS;
	queue_add(&q, OP(NOP), 0, 4);
	ASSERT_EQ(queue_poke(&q), 0);
	ASSERT_TRUE(wait_asleep(&q));
	EXPECT_EQ(queue_ready(&q), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, send_later, &self->a), 0);
	EXPECT_EQ(queue_enter(&q, 0, 1, 20000), 0);
	WATCH_CQE(&q, 4, 0);
	pthread_join(thread, NULL);
	queue_close(&q);
}

TEST_F(queue, asleep_and_a_message_comes)
{
	struct rdmachan_cqe cqe;
	struct queue q;

	memset(memory, 1, sizeof(memory));
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1), 0);
	queue_recv(&q, self->b, memory[1], SIZE, 1);
	queue_recv(&q, self->a, memory[2], SIZE, 2)->timeout_ms = 300;
	ASSERT_EQ(queue_poke(&q), 0);
	ASSERT_TRUE(wait_asleep(&q));
	ASSERT_EQ(write(self->a, "x", 1), 1);
	WATCH_CQE(&q, 1, 1);
	ASSERT_TRUE(queue_watch(&q, &cqe));
	EXPECT_EQ(cqe.res, -ETIMEDOUT);
	queue_close(&q);
}

TEST_F(queue, poller_asks_for_a_call)
{
	char *cold = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int listener = do_listen(self->peer, SERVICE, NULL), ends[3] = { -1, -1, -1 }, i;
	struct rdmachan_connect_args connect;
	struct rdmachan_cqe cqe;
	struct queue q;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, LONG), 0);
	queue_recv(&q, self->b, cold, 4096, 0);
	ASSERT_EQ(queue_publish(&q), false);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_TRUE(wait_readable(q.fd, 10000));
	EXPECT_EQ(queue_ready(&q), 0);
	EXPECT_EQ(queue_flags(&q), RDMACHAN_RING_F_ENTER);
	EXPECT_CQE(&q, 0, 1);
	EXPECT_EQ(queue_flags(&q), 0);
	/*
	 * Operations that make file descriptors; and the memory of this one is looked at in the
	 * call.
	 */
	fill_in(&connect, SERVICE, NULL);
	queue_add(&q, OP(ACCEPT), listener, 1);
	queue_connect(&q, &connect, 2);
	ASSERT_EQ(queue_publish(&q), false);
	EXPECT_TRUE(wait_readable(q.fd, 10000));
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(&q, &cqe));
		ASSERT_GE(cqe.res, 0);
		ends[cqe.user_data] = cqe.res;
	}
	EXPECT_EQ(write(ends[1], "hello", 5), 5);
	EXPECT_EQ(read(ends[2], memory[0], SIZE), 5);
	queue_close(&q);
}

TEST_F(queue, polled_errors_and_chains)
{
	struct rdmachan_cqe cqe;
	struct queue q;
	int plain = open("/dev/null", O_RDWR);
	int dir = open("/", O_PATH);

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, LONG), 0);
	queue_send(&q, 1000000, "x", 1, 1);
	queue_send(&q, plain, "x", 1, 2);
	queue_send(&q, q.fd, "x", 1, 3);
	queue_send(&q, dir, "x", 1, 4);
	queue_add(&q, 200, 0, 5);
	queue_add(&q, OP(NOP), 0, 6)->flags = LINK;
	queue_send(&q, -1, "x", 1, 7)->flags = LINK;
	queue_add(&q, OP(NOP), 0, 8);
	ASSERT_EQ(queue_publish(&q), false);
	WATCH_CQE(&q, 1, -EBADF);
	WATCH_CQE(&q, 2, -ENOTTY);
	WATCH_CQE(&q, 3, -ENOTTY);
	ASSERT_TRUE(queue_watch(&q, &cqe));
	EXPECT_TRUE(cqe.res == -ENOTTY || cqe.res == -EBADF);
	WATCH_CQE(&q, 5, -EOPNOTSUPP);
	WATCH_CQE(&q, 6, 0);
	WATCH_CQE(&q, 7, -EBADF);
	WATCH_CQE(&q, 8, -ECANCELED);
	queue_close(&q);
}

/* A pool and a poller: the steady state has no calls, also when a ring was full. */
TEST_F(queue, messages_without_a_call)
{
	struct rdmachan_cqe cqe;
	struct pool pool;
	struct queue q;
	uint32_t i;

	memset(memory, 1, sizeof(memory));
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 4, 4, LONG), 0);
	ASSERT_EQ(pool_open(&q, &pool, 64), 0);
	for (i = 0; i < 32; i++)
		pool_put(&pool, memory[i], SIZE, i);
	queue_recv_many(&q, self->b, pool.id, 5);
	ASSERT_EQ(queue_publish(&q), false);
	for (i = 0; i < 20; i++)
		ASSERT_EQ(write(self->a, &i, 4), 4);
	for (i = 0; i < 1000; i++) {
		ASSERT_TRUE(queue_watch(&q, &cqe));
		EXPECT_EQ(cqe.res, 4);
		EXPECT_EQ(memcmp(memory[cqe.buffer], &i, 4), 0);
		pool_put(&pool, memory[cqe.buffer], SIZE, cqe.buffer);
		if (i < 980) {
			uint32_t next = i + 20;

			ASSERT_EQ(write(self->a, &next, 4), 4);
		}
	}
	queue_close(&q);
}

/* More entries than operations can be under way. */
TEST_F(queue, more_entries_than_operations)
{
	struct queue q;
	int i;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 64, 4, LONG), 0);
	for (i = 0; i < 64; i++)
		queue_add(&q, OP(NOP), 0, i);
	ASSERT_EQ(queue_publish(&q), false);
	for (i = 0; i < 64; i++)
		WATCH_CQE(&q, i, 0);
	queue_close(&q);
}

TEST_F(queue, closed_while_it_looks)
{
	struct queue q;
	int i;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, i % 2 ? LONG : 1), 0);
		queue_recv(&q, self->b, memory[1], SIZE, 1);
		queue_publish(&q);
		sleep_ms(i % 7);
		queue_close(&q);
	}
	EXPECT_TRUE(wait_no_poller(getpid()));
	ASSERT_EQ(write(self->a, "x", 1), 1);
	EXPECT_EQ(read(self->b, memory[0], SIZE), 1);
}

static bool wait_poller(pid_t program)
{
	int64_t until = now_ms() + 10000;

	while (!poller_of(program) && now_ms() < until)
		sleep_ms(10);
	return poller_of(program);
}

/* A program that ends in any way takes its poller along, which is at work. */
TEST_F(queue, program_ends)
{
	struct queue q;
	sigset_t set;
	pid_t child;
	int how, sig;

	for (how = 0; how < 4; how++) {
		child = fork();
		if (!child) {
			sigemptyset(&set);
			sigaddset(&set, SIGUSR1);
			sigprocmask(SIG_BLOCK, &set, NULL);
			if (queue_open_with(open_ctx(), &q, 8, 8, POLLER, 10000))
				_exit(1);
			queue_recv(&q, self->b, memory[1], SIZE, 1);
			queue_publish(&q);
			/* Until it was seen. */
			sigwait(&set, &sig);
			if (how == 1)
				raise(SIGKILL);
			if (how == 2)
				close(q.fd);
			if (how == 3)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		EXPECT_TRUE(wait_poller(child));
		kill(child, SIGUSR1);
		child_status(child);
		EXPECT_TRUE(wait_no_poller(child));
	}
}

/* Until a thread waits for work, in the state that does not count as load. */
static bool wait_idle(pid_t task)
{
	int64_t until = now_ms() + LONG;
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	do {
		sleep_ms(10);
		read_line(path, text, sizeof(text));
	} while (!strstr(text, ") I") && now_ms() < until);
	return strstr(text, ") I");
}

/* After execve() the descriptor is of no use, and the thread costs nothing. */
TEST_F(queue, another_program_has_the_descriptor)
{
	struct queue q;
	pid_t child, poller;

	child = fork();
	if (!child) {
		if (queue_open_with(open_ctx(), &q, 8, 8, POLLER, 10000))
			_exit(1);
		execl("/bin/sleep", "sleep", "60", NULL);
		execl("/bin/busybox", "sleep", "60", NULL);
		_exit(2);
	}
	wait_exec(child);
	poller = poller_of(child);
	ASSERT_GT(poller, 0);
	/* It finds out when it wants the program's memory again, long before it would sleep. */
	EXPECT_TRUE(wait_idle(poller));
	needs_no_time(poller);
	kill(child, SIGTERM);
	child_status(child);
	EXPECT_TRUE(wait_no_poller(child));
}

/* A child has nothing to do with the poller of its parent. */
TEST_F(queue, poller_and_fork)
{
	struct queue q;
	pid_t child;
	int i;

	memset(memory, 1, sizeof(memory));
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, LONG), 0);
	child = fork();
	if (!child) {
		for (i = 0; i < 100; i++) {
			memset(memory, i, sizeof(memory));
			sleep_ms(2);
		}
		_exit(0);
	}
	for (i = 0; i < 100; i++) {
		queue_recv(&q, self->b, memory[1], SIZE, i);
		queue_publish(&q);
		ASSERT_EQ(write(self->a, &i, 4), 4);
		/* Pages that are shared with the child need a call. */
		EXPECT_CQE(&q, i, 4);
		EXPECT_EQ(memcmp(memory[1], &i, 4), 0);
	}
	EXPECT_EQ(child_status(child), 0);
	queue_close(&q);
}

struct later {
	struct queue q;
	int chan;
	pthread_t first;
};

/* It is joined before it has given up its files. */
static void wait_first_gone(void)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", getpid(), getpid());
	do {
		sleep_ms(1);
		read_line(path, text, sizeof(text));
	} while (!strstr(text, ") Z"));
}

static void send_late(struct later *later, uint8_t flags)
{
	struct rdmachan_cqe cqe;

	queue_send(&later->q, later->chan, "late", 4, 1)->flags = flags;
	queue_publish(&later->q);
	if (!wait_readable(later->q.fd, 10000) ||
	    !(queue_flags(&later->q) & RDMACHAN_RING_F_ENTER))
		_exit(1);
	/* Entries that the call takes itself go behind what the poller has taken. */
	queue_send(&later->q, later->chan, "later", 5, 2)->flags = flags;
	if (queue_enter(&later->q, 1, 2, 10000) < 0)
		_exit(2);
	if (!queue_wait(&later->q, &cqe) || cqe.res != 4 ||
	    !queue_wait(&later->q, &cqe) || cqe.res != 5)
		_exit(3);
}

static void *without_the_first(void *arg)
{
	struct later *later = arg;

	pthread_join(later->first, NULL);
	wait_first_gone();
	send_late(later, 0);
	send_late(later, RDMACHAN_SQE_F_FENCE);
	_exit(0);
}

/* Where the program's first thread has ended, descriptors are looked up in a call. */
TEST_F(queue, first_thread_ends)
{
	pthread_t thread;
	pid_t child = fork();
	int i;

	if (!child) {
		static struct later later;

		later.chan = self->a;
		later.first = pthread_self();
		if (queue_open_polled(open_ctx(), &later.q, 8, 8, LONG) ||
		    pthread_create(&thread, NULL, without_the_first, &later))
			_exit(2);
		pthread_exit(NULL);
	}
	EXPECT_EQ(child_status(child), 0);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(read(self->b, memory[0], SIZE), 4);
		EXPECT_EQ(read(self->b, memory[0], SIZE), 5);
	}
}

static void same_line(pid_t poller, const char *file, const char *word)
{
	char path[64], mine[512] = "", its[512] = "";
	FILE *files[2];
	int i;

	snprintf(path, sizeof(path), "/proc/%d/%s", poller, file);
	files[0] = fopen(path, "r");
	snprintf(path, sizeof(path), "/proc/self/%s", file);
	files[1] = fopen(path, "r");
	for (i = 0; i < 2; i++) {
		char *text = i ? mine : its;

		ASSERT_TRUE(files[i]);
		while (fgets(text, 512, files[i]) && strncmp(text, word, strlen(word)))
			;
		fclose(files[i]);
	}
	printf("# %s", its);
	EXPECT_EQ(strcmp(mine, its), 0);
}

/* It runs where its program may, and is as nice. */
TEST_F(queue, poller_is_like_its_program)
{
	cpu_set_t set;
	struct queue q;
	pid_t poller;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 7), 0);
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1), 0);
	poller = poller_of(getpid());
	ASSERT_GT(poller, 0);
	same_line(poller, "status", "Cpus_allowed:");
	EXPECT_EQ(getpriority(PRIO_PROCESS, poller), 7);
	queue_close(&q);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	ASSERT_GE(fd, 0);
	ASSERT_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static long usage_of(const char *path)
{
	char text[128];

	read_line(path, text, sizeof(text));
	return strtol(text + strcspn(text, " "), NULL, 10);
}

/* Its time is counted for the control group of its program. */
TEST_F(queue, poller_is_in_the_control_group)
{
	static const char top[] = "/tmp/poller-cgroup", own[] = "/tmp/poller-cgroup/own";
	struct queue q;
	pid_t poller;
	long before;

	mkdir(top, 0755);
	if (mount("none", top, "cgroup2", 0, NULL))
		SKIP("there are no control groups");
	mkdir(own, 0755);
	write_text("/tmp/poller-cgroup/own/cgroup.procs", "0");
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 10000), 0);
	poller = poller_of(getpid());
	ASSERT_GT(poller, 0);
	same_line(poller, "cgroup", "0::");
	/* This program sleeps, and it does not. In us; virtual time is all its own. */
	before = usage_of("/tmp/poller-cgroup/own/cpu.stat");
	sleep_ms(500);
	EXPECT_GT(usage_of("/tmp/poller-cgroup/own/cpu.stat") - before,
		  time_is_virtual() ? 490000 : 100000);
	queue_close(&q);
	write_text("/tmp/poller-cgroup/cgroup.procs", "0");
	rmdir(own);
	umount(top);
	rmdir(top);
}

TEST_F(queue, polled_and_the_device_goes)
{
	struct pool pool;
	struct queue q;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, LONG), 0);
	ASSERT_EQ(pool_open(&q, &pool, 8), 0);
	pool_put(&pool, memory[1], SIZE, 1);
	queue_recv_many(&q, self->a, pool.id, 1);
	queue_publish(&q);
	wait_taken(&q);
	ASSERT_EQ(remove_device(), 0);
	WATCH_CQE(&q, 1, -ENODEV);
	queue_send(&q, self->a, "x", 1, 2);
	/* It may sleep by now: removing a device takes seconds on a slow guest. */
	ASSERT_EQ(queue_poke(&q), 0);
	WATCH_CQE(&q, 2, -ENODEV);
	ASSERT_EQ(add_device(), 0);
	queue_close(&q);
}

TEST_HARNESS_MAIN
