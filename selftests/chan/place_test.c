// SPDX-License-Identifier: GPL-2.0
/*
 * place_test.c - large messages that are written straight to where they are wanted
 *
 * A message goes that way when a reader waits before the writer begins. Tests that need
 * it see to that, and look at the counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common.h"
#include "disk.h"
#include "harness.h"
#include "pair.h"
#include "scattered.h"
#include "slow.h"

#define MIB 1048576U
#define BIG (6 * MIB + 13)

/* A message that a thread reads. */
struct reading {
	pthread_t thread;
	pid_t tid;
	int chan;
	void *data;
	size_t room;
	struct rdmachan_recv_args *recv;
	ssize_t got;
	int error;
};

FIXTURE(place)
{
	int ctx;
	int a;
	int b;
	char *out;
	char *back;
};

FIXTURE_SETUP(place)
{
	int fds[2];

	self->ctx = open_ctx();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	self->out = malloc(BIG + 4096);
	self->back = malloc(BIG + 4096);
}

FIXTURE_TEARDOWN(place)
{
	close(self->a);
	close(self->b);
	close(self->ctx);
	free(self->out);
	free(self->back);
}

static void *read_one(void *arg)
{
	struct reading *r = arg;

	__atomic_store_n(&r->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (r->recv)
		r->got = do_recv(r->chan, r->data, r->room, r->recv, NULL);
	else
		r->got = read(r->chan, r->data, r->room);
	r->error = errno;
	return NULL;
}

/* Begin to read, and wait until the thread sleeps. With @recv, by RECV, whose outputs it gets. */
static void begin_receiving(struct reading *r, int chan, void *data, size_t room,
			    struct rdmachan_recv_args *recv)
{
	*r = (struct reading){ .chan = chan, .data = data, .room = room, .recv = recv };
	pthread_create(&r->thread, NULL, read_one, r);
	await_sleep(&r->tid);
}

static void begin_reading(struct reading *r, int chan, void *data, size_t room)
{
	begin_receiving(r, chan, data, room, NULL);
}

static ssize_t end_reading(struct reading *r)
{
	pthread_join(r->thread, NULL);
	errno = r->error;
	return r->got;
}

static void one_message(struct fixture_place *self, size_t len, size_t from, size_t to)
{
	struct reading r;

	fill_random(self->out + from, len, len);
	memset(self->back, 0x55, len + 4096);
	begin_reading(&r, self->b, self->back + to, len);
	EXPECT_EQ(write(self->a, self->out + from, len), len);
	EXPECT_EQ(end_reading(&r), len);
	EXPECT_TRUE(is_random(self->back + to, len, len));
	if (to)
		EXPECT_EQ(self->back[to - 1], 0x55);
	EXPECT_EQ(self->back[to + len], 0x55);
}

TEST_F(place, sizes_and_places)
{
	static const size_t sizes[] = {
		65536, 65537, 69632, 100001, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 4097,
		BIG,
	};
	static const size_t places[] = { 0, 1, 8, 4095 };
	size_t i, j;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (j = 0; j < 4; j++)
			one_message(self, sizes[i], places[j], places[3 - j]);
	EXPECT_EQ(placed_messages(self->a, true), 40);
	EXPECT_EQ(placed_messages(self->b, false), 40);
	/* All of it was given back: small ones go as ever. */
	EXPECT_EQ(write(self->b, "x", 1), 1);
	EXPECT_EQ(read(self->a, self->back, 1), 1);
}

/*
 * A message for memory of a file that is written back is copied: the file system would not hear of
 * what an adapter writes there. Privately mapped, the pages are the program's own.
 */
TEST_F(place, into_a_file_on_disk)
{
	const size_t len = 4 * 65536;
	int fd = disk_file(), shared;
	struct reading r;
	char *memory;

	if (fd < 0)
		SKIP("there is no file system that writes back");
	ASSERT_EQ(ftruncate(fd, len), 0);
	for (shared = 0; shared < 2; shared++) {
		memory = mmap(NULL, len, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE,
			      fd, 0);
		ASSERT_TRUE(memory != MAP_FAILED);
		memset(memory, 0x55, len);
		fill_random(self->out, len, shared);
		begin_reading(&r, self->b, memory, len);
		EXPECT_EQ(write(self->a, self->out, len), len);
		EXPECT_EQ(end_reading(&r), len);
		EXPECT_TRUE(is_random(memory, len, shared));
		EXPECT_EQ(placed_messages(self->b, false), 1);
		munmap(memory, len);
	}
	EXPECT_EQ(pread(fd, self->back, len, 0), len);
	EXPECT_TRUE(is_random(self->back, len, 1));
	close(fd);
}

TEST_F(place, larger_room)
{
	struct reading r;

	fill_random(self->out, MIB, 1);
	begin_reading(&r, self->b, self->back, BIG);
	EXPECT_EQ(write(self->a, self->out, MIB), MIB);
	EXPECT_EQ(end_reading(&r), MIB);
	EXPECT_TRUE(is_random(self->back, MIB, 1));
	EXPECT_EQ(placed_messages(self->b, false), 1);
}

/* Memory that is in as many pieces as can be, so that no two pages are neighbours. */
TEST_F(place, scattered)
{
	char *one = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *two = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct reading r;
	size_t i;

	for (i = 0; i < BIG; i += 4096) {
		one[i] = 1;
		two[(i * 7) % (BIG & ~4095)] = 1;
	}
	fill_random(one, BIG, 8);
	begin_reading(&r, self->b, two, BIG);
	EXPECT_EQ(write(self->a, one, BIG), BIG);
	EXPECT_EQ(end_reading(&r), BIG);
	EXPECT_TRUE(is_random(two, BIG, 8));
	EXPECT_EQ(placed_messages(self->b, false), 1);
	begin_reading(&r, self->a, one, BIG);
	EXPECT_EQ(write(self->b, two, BIG), BIG);
	EXPECT_EQ(end_reading(&r), BIG);
	EXPECT_TRUE(is_random(one, BIG, 8));
}

TEST_F(place, message_flags)
{
	struct rdmachan_recv_args recv;
	struct reading r;

	begin_receiving(&r, self->b, self->back, MIB, &recv);
	EXPECT_EQ(do_send(self->a, self->out, MIB, 0xabcd, NULL), 0);
	EXPECT_EQ(end_reading(&r), 0);
	EXPECT_EQ(recv.out_length, MIB);
	EXPECT_EQ(recv.out_msg_flags, 0xabcd);
	EXPECT_EQ(placed_messages(self->b, false), 1);
}

TEST_F(place, room_too_small)
{
	struct reading r;
	pid_t child;

	fill_random(self->out, MIB, 2);
	begin_reading(&r, self->b, self->back, MIB - 1);
	child = LATER(0, write(self->a, self->out, MIB));
	EXPECT_EQ(end_reading(&r), -1);
	EXPECT_EQ(r.error, EMSGSIZE);
	EXPECT_EQ(read(self->b, self->back, MIB), MIB);
	EXPECT_TRUE(is_random(self->back, MIB, 2));
	child_status(child);
}

/* A program that polls sees a whole message, and a writer that does not block is not held up. */
TEST_F(place, poll_gets_data)
{
	struct reading r;
	pid_t child;

	begin_reading(&r, self->b, self->back, MIB);
	EXPECT_EQ(write(self->a, self->out, MIB), MIB);
	EXPECT_EQ(end_reading(&r), MIB);
	fill_random(self->out, MIB, 3);
	child = LATER(0, write(self->a, self->out, MIB));
	EXPECT_EQ(poll_mask(self->b, POLLIN, 20000) & POLLIN, POLLIN);
	EXPECT_EQ(do_recv(self->b, self->back, MIB, NULL, DONTWAIT), 0);
	EXPECT_TRUE(is_random(self->back, MIB, 3));
	EXPECT_EQ(placed_messages(self->b, false), 1);
	child_status(child);
}

TEST_F(place, nonblocking_reader_gets_data)
{
	struct reading r;
	int64_t until;
	pid_t child;
	int ret;

	begin_reading(&r, self->b, self->back, MIB);
	EXPECT_EQ(write(self->a, self->out, MIB), MIB);
	EXPECT_EQ(end_reading(&r), MIB);
	child = LATER(20, write(self->a, self->out, MIB));
	until = now_ms() + 20000;
	do {
		let_time_pass();
		ret = do_recv(self->b, self->back, MIB, NULL, DONTWAIT);
	} while (ret && errno == EAGAIN && now_ms() < until);
	EXPECT_EQ(ret, 0);
	child_status(child);
}

TEST_F(place, nobody_waits)
{
	pid_t child;

	fill_random(self->out, MIB, 4);
	child = LATER(0, write(self->a, self->out, MIB));
	sleep_ms(200);
	EXPECT_EQ(read(self->b, self->back, MIB), MIB);
	EXPECT_TRUE(is_random(self->back, MIB, 4));
	child_status(child);
}

TEST_F(place, vectors)
{
	struct iovec out[2] = { { self->out, MIB / 2 }, { self->out + MIB / 2, MIB / 2 } };
	struct iovec one[2] = { { self->out, MIB }, { self->out, 0 } };
	struct reading r;

	fill_random(self->out, MIB, 5);
	begin_reading(&r, self->b, self->back, MIB);
	EXPECT_EQ(writev(self->a, out, 2), MIB);
	EXPECT_EQ(end_reading(&r), MIB);
	EXPECT_TRUE(is_random(self->back, MIB, 5));
	begin_reading(&r, self->b, self->back, MIB);
	EXPECT_EQ(writev(self->a, one, 2), MIB);
	EXPECT_EQ(end_reading(&r), MIB);
	EXPECT_TRUE(is_random(self->back, MIB, 5));
}

TEST_F(place, bad_room)
{
	char *hole = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *readonly = mmap(NULL, MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct reading r;
	pid_t child;

	munmap(hole + MIB, MIB);
	fill_random(self->out, MIB, 6);
	begin_reading(&r, self->b, hole + 4096, MIB);
	child = LATER(0, write(self->a, self->out, MIB));
	EXPECT_EQ(end_reading(&r), -1);
	EXPECT_EQ(r.error, EFAULT);
	EXPECT_ERR(read(self->b, readonly, MIB), EFAULT);
	EXPECT_EQ(read(self->b, self->back, MIB), MIB);
	EXPECT_TRUE(is_random(self->back, MIB, 6));
	child_status(child);
}

TEST_F(place, bad_source)
{
	char *hole = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct reading r;

	munmap(hole + MIB, MIB);
	begin_reading(&r, self->b, self->back, MIB);
	EXPECT_ERR(write(self->a, hole + 1, MIB), EFAULT);
	EXPECT_EQ(write(self->a, "next", 4), 4);
	EXPECT_EQ(end_reading(&r), 4);
	EXPECT_EQ(memcmp(self->back, "next", 4), 0);
}

/*
 * When a message has been sent its memory is the program's again: bytes that it writes there then
 * do not reach the peer. Many work requests write it, as no two pages are neighbours.
 */
TEST_F(place, memory_is_ours_again)
{
	const size_t len = 64 * SCATTERED_PAGE;
	pid_t child;
	char *out;
	int i;

	child = LATER(0, {
		for (i = 0; i < 16; i++) {
			ASSERT_EQ(do_recv(self->b, self->back, len, NULL, NULL), 0);
			EXPECT_TRUE(is_random(self->back, len, i));
		}
		_exit(harness_failures);
	});
	/* The pages of a child that is made later would be copied in their order. */
	out = scattered(len);
	for (i = 0; i < 16; i++) {
		fill_random(out, len, i);
		ASSERT_EQ(do_send(self->a, out, len, 0, NULL), 0);
		memset(out, 0, len);
	}
	EXPECT_EQ(child_status(child), 0);
}

/* Both ends want to write before they read: nobody waits, and neither blocks for ever. */
TEST_F(place, both_write_first)
{
	pid_t child;
	int i;

	child = LATER(0, ({
		for (i = 0; i < 20; i++) {
			write(self->b, self->out, 200000);
			read(self->b, self->back, BIG);
		}
	}));
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(write(self->a, self->out, 200000), 200000);
		EXPECT_EQ(read(self->a, self->back, BIG), 200000);
	}
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(place, shutdown_while_reader_waits)
{
	struct reading r;
	ssize_t ret;

	begin_reading(&r, self->b, self->back, MIB);
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(end_reading(&r), 0);
	ret = write(self->a, self->out, MIB);
	if (ret != MIB)
		EXPECT_EQ(errno, EPIPE);
	EXPECT_ERR(write(self->a, self->out, MIB), EPIPE);
}

struct many {
	int chan;
	int count;
	uint64_t bytes;
	bool ok;
};

static size_t many_size(int i)
{
	return 65536 + (i * 7919U) % 400000;
}

/* Messages that tell their own size and content, as threads may change their order. */
static void *write_many(void *arg)
{
	struct many *m = arg;
	char *data = malloc(500000);
	size_t len;
	int i;

	m->ok = true;
	for (i = 0; i < m->count; i++) {
		len = i % 5 ? many_size(i) : 100 + i;
		fill_random(data + 8, len - 8, len);
		memcpy(data, &len, 8);
		m->ok &= write(m->chan, data, len) == len;
	}
	free(data);
	return NULL;
}

static void *read_many(void *arg)
{
	struct many *m = arg;
	char *data = malloc(500000);
	ssize_t got;

	m->ok = true;
	for (m->count = 0; (got = read(m->chan, data, 500000)) > 0; m->count++)
		m->ok &= !memcmp(data, &got, 8) && is_random(data + 8, got - 8, got);
	m->ok &= got == 0;
	free(data);
	return NULL;
}

TEST_F_TIMEOUT(place, threads_share, 120)
{
	struct many writers[4], readers[4];
	pthread_t w[4], r[4];
	int i, total = 0;

	for (i = 0; i < 4; i++) {
		readers[i] = (struct many){ .chan = self->b };
		writers[i] = (struct many){ .chan = self->a, .count = 150 };
		pthread_create(&r[i], NULL, read_many, &readers[i]);
		pthread_create(&w[i], NULL, write_many, &writers[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(w[i], NULL);
		EXPECT_TRUE(writers[i].ok);
	}
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(r[i], NULL);
		EXPECT_TRUE(readers[i].ok);
		total += readers[i].count;
	}
	EXPECT_EQ(total, 600);
}

static void read_for_ever(int chan, size_t room)
{
	char *data = mmap(NULL, room, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (read(chan, data, room) > 0)
		;
}

static void write_for_ever(int chan, size_t len)
{
	char *data = calloc(1, len);

	while (write(chan, data, len) > 0)
		;
	free(data);
}

/*
 * Wait for any moment of a message: it takes some milliseconds, or some round trips where computing
 * takes no time.
 */
static void wait_for_moment(unsigned int ms, unsigned int us)
{
	if (time_is_virtual())
		pause_ns(us * 1000LL);
	else
		sleep_ms(ms);
}

/* Signals at any moment: each message arrives whole, once, or not at all. */
TEST_F_TIMEOUT(place, signals_at_writer, 120)
{
	int i, status, sent = 0;
	pid_t child;
	ssize_t ret;

	child = LATER(0, ({
		for (i = 0; ; i++) {
			ssize_t got = read(self->b, self->back, BIG);

			if (got == 1)
				_exit(i % 251);
			if (got != 2 * MIB || !is_random(self->back, got, 7))
				_exit(255);
		}
	}));
	fill_random(self->out, 2 * MIB, 7);
	for (i = 0; i < 100; i++) {
		on_alarm_us(time_is_virtual() ? 1 + 3 * i : 1000 * (1 + i % 9), false);
		ret = write(self->a, self->out, 2 * MIB);
		if (ret == 2 * MIB)
			sent++;
		else
			EXPECT_EQ(errno, EINTR);
	}
	on_alarm(0, false);
	EXPECT_EQ(write(self->a, "x", 1), 1);
	status = child_status(child);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), sent % 251);
	printf("# %d of %d were sent\n", sent, i);
	if (!time_is_virtual())
		return;
	EXPECT_GT(sent, 0);
	EXPECT_LT(sent, i);
}

TEST_F_TIMEOUT(place, killed_reader, 120)
{
	struct rdmachan_error error;
	pid_t child;
	int fds[2], i;

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			close(fds[0]);
			read_for_ever(fds[1], 32 * MIB);
			_exit(0);
		}
		close(fds[1]);
		LATER(0, { wait_for_moment(20 + 7 * i, 333 * i); kill(child, SIGKILL); });
		write_for_ever(fds[0], 32 * MIB);
		EXPECT_EQ(errno, ECONNRESET);
		EXPECT_EQ(get_error(fds[0], &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
		EXPECT_EQ(error.detail, SIGKILL);
		close(fds[0]);
		child_status(child);
	}
}

TEST_F_TIMEOUT(place, killed_writer, 120)
{
	struct rdmachan_error error;
	pid_t child;
	int fds[2], i;

	for (i = 0; i < 20; i++) {
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			close(fds[1]);
			write_for_ever(fds[0], 5 * MIB);
			_exit(0);
		}
		close(fds[0]);
		LATER(0, { wait_for_moment(20 + 7 * i, 71 * i); kill(child, SIGKILL); });
		read_for_ever(fds[1], 5 * MIB);
		EXPECT_EQ(errno, ECONNRESET);
		EXPECT_EQ(get_error(fds[1], &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
		close(fds[1]);
		child_status(child);
	}
}

static void *unmap_and_map(void *arg)
{
	char *room = arg;
	int i;

	for (i = 0; i < 300; i++) {
		mmap(room, 2 * MIB, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		/* Some times in each message. */
		if (time_is_virtual())
			pause_ns(37000);
		else
			usleep(500);
	}
	return NULL;
}

/* Memory that goes away under the adapter is the program's own loss. */
TEST_F_TIMEOUT(place, memory_changes, 60)
{
	char *room = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	ssize_t got;
	pid_t child;
	int i = 0;

	child = LATER(0, write_for_ever(self->a, 2 * MIB));
	pthread_create(&thread, NULL, unmap_and_map, room);
	while (i < 30) {
		got = read(self->b, room, 2 * MIB);
		if (got == 2 * MIB)
			i++;
		else /* just between unmapping and mapping */
			ASSERT_EQ(errno, EFAULT);
	}
	pthread_join(thread, NULL);
	kill(child, SIGKILL);
	child_status(child);
}

static void poll_for_ever(int chan)
{
	for (;;) {
		poll_mask(chan, POLLIN, 0);
		let_time_pass();
	}
}

/* One thread reads, and another asks whether it could: neither is told of an end. */
TEST_F(place, poll_beside_reader)
{
	pid_t poller, writer;
	int i;

	poller = LATER(0, poll_for_ever(self->b));
	writer = LATER(0, write_for_ever(self->a, 65536));
	for (i = 0; i < 300; i++)
		ASSERT_EQ(read(self->b, self->back, BIG), 65536);
	kill(poller, SIGKILL);
	kill(writer, SIGKILL);
	child_status(poller);
	child_status(writer);
}

struct slow_write {
	struct slow slow;
	pthread_t thread;
	int chan;
	ssize_t ret;
	int error;
};

static void *write_slowly(void *arg)
{
	struct slow_write *w = arg;

	w->ret = write(w->chan, w->slow.memory, w->slow.len);
	w->error = errno;
	return NULL;
}

/* A waiter for memory holds up nobody else: neither the link nor the other program. */
TEST(memory_that_waits)
{
	struct slow_write w;
	struct reading r;
	int quiet[2], busy[2], ctx;
	char *back = malloc(MIB);

	if (!slow_begin(&w.slow, MIB))
		SKIP("no userfaultfd");
	/* A user of its own has a link of its own, which knows of this dead time. */
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	set_parameter("dead_ms", 600);
	ASSERT_EQ(seteuid(7655), 0);
	ctx = open_ctx();
	pair_up(ctx, quiet, NULL);
	pair_up(ctx, busy, NULL);
	ASSERT_EQ(seteuid(0), 0);
	set_parameter("dead_ms", 5000);
	begin_reading(&r, busy[1], back, MIB);
	w.chan = busy[0];
	ASSERT_EQ(pthread_create(&w.thread, NULL, write_slowly, &w), 0);
	/* More than what a peer may take for one piece of a message, four dead times. */
	sleep_ms(4000);
	talk(quiet[0], quiet[1]);
	slow_end(&w.slow);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(w.ret, MIB);
	EXPECT_EQ(end_reading(&r), MIB);
}

TEST(device_removed_while_memory_waits)
{
	struct slow_write w;
	int fds[2], ctx = open_ctx();

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	if (!slow_begin(&w.slow, MIB))
		SKIP("no userfaultfd");
	pair_up(ctx, fds, NULL);
	w.chan = fds[0];
	ASSERT_EQ(pthread_create(&w.thread, NULL, write_slowly, &w), 0);
	slow_met(&w.slow);
	EXPECT_EQ(remove_device(), 0);
	slow_end(&w.slow);
	pthread_join(w.thread, NULL);
	EXPECT_EQ(w.ret, -1);
	EXPECT_EQ(w.error, ENODEV);
	EXPECT_EQ(add_device(), 0);
	close(fds[0]);
	close(fds[1]);
	pair_up_again(ctx, fds);
	close(fds[0]);
	close(fds[1]);
}

TEST_TIMEOUT(device_removed_in_message, 120)
{
	int ctx = open_ctx(), fds[2], i;
	pid_t reader, writer;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	for (i = 0; i < turns(10); i++) {
		pair_up_again(ctx, fds);
		reader = LATER(0, ({ read_for_ever(fds[1], 16 * MIB); _exit(errno); }));
		writer = LATER(0, ({ write_for_ever(fds[0], 16 * MIB); _exit(errno); }));
		wait_for_moment(50 + 17 * i, 317 * i);
		EXPECT_EQ(remove_device(), 0);
		/* The reader is on the other host, if there are two. */
		EXPECT_EQ(WEXITSTATUS(child_status(reader)), has_peer() ? ECONNRESET : ENODEV);
		EXPECT_EQ(WEXITSTATUS(child_status(writer)), ENODEV);
		close(fds[0]);
		close(fds[1]);
		EXPECT_EQ(add_device(), 0);
	}
}

/* Pages that the program has pinned now, in KiB. */
static int pinned(void)
{
	char line[128];
	int kib = -1;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmPin: %d", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* Memory that may not be locked is copied, as if nobody had asked for anything else. */
TEST_F(place, limit_of_locked_memory)
{
	const struct rlimit limit = { MIB, MIB };
	size_t len[] = { BIG, 256 * 1024, BIG };
	struct reading r;
	int i;

	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	ASSERT_EQ(setuid(1000), 0);
	for (i = 0; i < 3; i++) {
		fill_random(self->out, len[i], i);
		begin_reading(&r, self->b, self->back, BIG);
		ASSERT_EQ(write(self->a, self->out, len[i]), len[i]);
		ASSERT_EQ(end_reading(&r), len[i]);
		EXPECT_TRUE(is_random(self->back, len[i], i));
		EXPECT_EQ(placed_messages(self->b, false), i ? 1 : 0);
		EXPECT_EQ(pinned(), 0);
	}
}

TEST_F(place, right_to_lock_memory)
{
	const struct rlimit limit = { 0, 0 };

	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	one_message(self, BIG, 0, 0);
	EXPECT_EQ(placed_messages(self->b, false), 1);
	EXPECT_EQ(pinned(), 0);
}

TEST_TIMEOUT(one_gibibyte, 300)
{
	const size_t len = 1UL << 30;
	struct opts large = { .tuning.message_max = len };
	int ctx = open_ctx(), fds[2];
	uint32_t *out, *back;
	struct reading r;
	size_t i;

	/* There each page is a mapping of the host, which has a limit. */
	if (!access("/proc/exitcode", F_OK))
		SKIP("not in User Mode Linux");
	if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < 2 * len + len / 4)
		SKIP("too little memory");
	out = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	back = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_TRUE(out != MAP_FAILED && back != MAP_FAILED);
	for (i = 0; i < len / 4; i += (4 << 20) / 4)
		out[i] = i + 1;
	out[len / 4 - 1] = 0xdeadbeef;
	pair_up(ctx, fds, &large);
	begin_reading(&r, fds[1], back, len);
	EXPECT_EQ(write(fds[0], out, len), len);
	EXPECT_EQ(end_reading(&r), len);
	for (i = 0; i < len / 4; i += (4 << 20) / 4)
		ASSERT_EQ(back[i], i + 1);
	EXPECT_EQ(back[1], 0);
	EXPECT_EQ(back[len / 4 - 1], 0xdeadbeef);
	EXPECT_EQ(placed_messages(fds[1], false), 1);
	EXPECT_ERR(write(fds[0], out, len + 1), EMSGSIZE);
}

TEST_HARNESS_MAIN
