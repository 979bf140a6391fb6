// SPDX-License-Identifier: GPL-2.0
/*
 * region_end_test.c - messages from and to regions that end in the middle
 *
 * Whatever happens, each operation completes once, and after that nobody writes to its
 * memory; a message that a program was not told of is not left out in silence.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common.h"
#include "harness.h"
#include "inject.h"
#include "region_fixture.h"

/*
 * Messages tell their number in their first bytes, and are full of it. For some of them the
 * receiver waits, and others wait for the receiver.
 */
static void write_numbered(int chan, size_t len)
{
	char *data = pages(len);
	uint64_t i;

	for (i = 1; ; i++) {
		memset(data, (int)i, len);
		memcpy(data, &i, sizeof(i));
		if (i % 3 == 0)
			pause_ns(i * 61 % 500 * 1000);
		if (write(chan, data, len) < 0)
			break;
	}
}

static bool is_numbered(const char *data, size_t len, uint64_t number)
{
	size_t i;

	if (memcmp(data, &number, sizeof(number)))
		return false;
	for (i = sizeof(number); i < len; i++)
		if (data[i] != (char)number)
			return false;
	return true;
}

static bool is_all(const char *data, size_t len, char what)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (data[i] != what)
			return false;
	return true;
}

/* Completions of the two, in any order. */
static void both(struct queue *q, int64_t *recv, int64_t *cancel)
{
	struct rdmachan_cqe cqe;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(queue_wait(q, &cqe));
		*(cqe.user_data == 1 ? recv : cancel) = cqe.res;
	}
	ASSERT_EQ(queue_ready(q), 0);
}

TEST_F_TIMEOUT(region, receive_cancelled, 120)
{
	pid_t child = LATER(0, write_numbered(self->a, MIB));
	int64_t recv = 0, cancel = 0;
	uint64_t number = 0;
	int i, cancelled = 0;

	for (i = 0; i < turns(200); i++) {
		region_recv(&self->q, self->b, self->to_id, 0, MIB, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		pause_ns(i * 37 % (i % 2 ? 100 : 4000) * 1000);
		queue_cancel(&self->q, 1, 0, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
		both(&self->q, &recv, &cancel);
		if (recv == (int64_t)MIB) {
			EXPECT_TRUE(cancel == -ENOENT || cancel == -EALREADY);
			ASSERT_TRUE(is_numbered(self->to, MIB, ++number));
			continue;
		}
		EXPECT_EQ(recv, -ECANCELED);
		/* Memory lent to the peer is asked back first. */
		EXPECT_TRUE(cancel == 1 || cancel == -EALREADY);
		cancelled++;
		memset(self->to, 0x77, MIB);
		region_recv(&self->q, self->b, self->to_id, MIB, MIB, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		EXPECT_CQE(&self->q, 1, MIB);
		ASSERT_TRUE(is_numbered(self->to + MIB, MIB, ++number));
		ASSERT_TRUE(is_all(self->to, MIB, 0x77));
	}
	printf("# %d of %d were cancelled\n", cancelled, i);
	EXPECT_BOTH(cancelled, i);
	kill(child, SIGKILL);
	child_status(child);
}

TEST_F_TIMEOUT(region, send_cancelled, 120)
{
	int64_t sent = 0, cancel = 0;
	/* Where computing takes no time, a message takes less than a millisecond. */
	const int longest = time_is_virtual() ? 1000 : 6000;
	const int messages = turns(time_is_virtual() ? 60 : 200);
	char *back = malloc(SIZE);
	uint64_t wanted[200];
	int i, count = 0, got = 0;
	pid_t child;

	child = LATER(0, ({
		/* Some are read by a waiting call, and some by one that does not wait. */
		for (i = 0; read(self->b, back, SIZE) > 1; i++)
			if (i % 3)
				pause_ns(i * 61 % 3000 * 1000);
		_exit(*back == 'x' ? i % 251 : 255);
	}));
	for (i = 0; i < messages; i++) {
		region_send(&self->q, self->a, self->from_id, 0, SIZE - i, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		pause_ns(i * 37 % longest * 1000);
		queue_cancel(&self->q, 1, 0, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
		both(&self->q, &sent, &cancel);
		if (sent > 0)
			wanted[count++] = sent;
		else
			EXPECT_EQ(sent, -ECANCELED);
		EXPECT_EQ(cancel == 1, sent < 0);
	}
	printf("# %d of %d were sent, the last with %llu bytes\n", count, i,
	       count ? (unsigned long long)wanted[count - 1] : 0);
	EXPECT_BOTH(count, i);
	ASSERT_EQ(write(self->a, "x", 1), 1);
	got = WEXITSTATUS(child_status(child));
	EXPECT_EQ(got, count % 251);
	free(back);
}

/* The link takes over what waits while there is room at the peer. Return: items when it is done */
static int steady_items(void)
{
	int items = module_count("items"), now, same = 0;

	while (same < 20 * harness_slow()) {
		sleep_ms(10);
		now = module_count("items");
		same = now == items ? same + 1 : 0;
		items = now;
	}
	return items;
}

/*
 * A message that is to be written to its place asks for one behind messages that wait for room.
 * If it is cancelled then, nothing of it waits any more, and the peer hears of none.
 */
TEST_F(region, send_cancelled_behind_others)
{
	int waiting = fill_up(self->a, 1000);
	int64_t sent = 0, cancel = 0;
	char byte[1000];
	int items, i;

	/* There is room for it at this end, but none at the other. */
	for (; !poll_mask(self->a, POLLOUT, 10); waiting--)
		ASSERT_EQ(read(self->b, byte, sizeof(byte)), sizeof(byte));
	items = steady_items();
	if (items < 0)
		SKIP("there is no debugfs");
	ASSERT_GT(items, 0);
	for (i = 0; i < turns(1000); i++) {
		region_send(&self->q, self->a, self->from_id, 0, MIB, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		queue_cancel(&self->q, 1, 0, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
		both(&self->q, &sent, &cancel);
		ASSERT_EQ(sent, -ECANCELED);
		ASSERT_EQ(cancel, 1);
	}
	EXPECT_EQ(module_count("items"), items);
	for (i = 0; i < waiting; i++)
		ASSERT_EQ(read(self->b, byte, sizeof(byte)), sizeof(byte));
	/* The next one asks, and is answered. */
	region_recv(&self->q, self->b, self->to_id, 0, MIB, 1);
	region_send(&self->q, self->a, self->from_id, 0, MIB, 2);
	ASSERT_EQ(queue_submit(&self->q), 2);
	both(&self->q, &sent, &cancel);
	EXPECT_EQ(sent, (int64_t)MIB);
	EXPECT_EQ(cancel, (int64_t)MIB);
	EXPECT_EQ(placed_messages(self->a, true), 1);
}

/*
 * A message that comes through the receive buffer is cancelled when some of it is there. That is
 * thrown away: the next one is whole.
 */
TEST_F(region, send_cancelled_in_the_buffer)
{
	int64_t sent = 0, cancel = 0;
	struct rdmachan_object there = {};
	char *back = malloc(SIZE);
	struct rdmachan_cqe cqe;

	/* A receiver that polls takes no message in its memory, and the next is not offered. */
	region_send(&self->q, self->a, self->from_id, 0, 64 * 1024, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	ASSERT_TRUE(wait_readable(self->b, 20000));
	ASSERT_EQ(read(self->b, back, SIZE), 64 * 1024);
	ASSERT_TRUE(queue_wait(&self->q, &cqe));
	ASSERT_EQ(cqe.res, 64 * 1024);
	/* Behind another the buffer does not grow for a message: it waits for room. */
	ASSERT_EQ(write(self->a, "1", 1), 1);
	region_send(&self->q, self->a, self->from_id, 0, SIZE, 1);
	ASSERT_EQ(queue_submit(&self->q), 1);
	while (there.rx_queued < 64 * 1024) {
		let_time_pass();
		ASSERT_EQ(get_object(self->b, &there), 0);
	}
	queue_cancel(&self->q, 1, 0, 2);
	ASSERT_EQ(queue_submit(&self->q), 1);
	both(&self->q, &sent, &cancel);
	EXPECT_EQ(sent, -ECANCELED);
	EXPECT_EQ(cancel, 1);
	/* What was queued of it goes first, and may fill both buffers until this is read. */
	EXPECT_EQ(read(self->b, back, SIZE), 1);
	ASSERT_EQ(write(self->a, "22", 2), 2);
	EXPECT_EQ(read(self->b, back, SIZE), 2);
	EXPECT_EQ(memcmp(back, "22", 2), 0);
	free(back);
}

/* A message not told of is with the channel, or the channel has failed. */
static bool goes_on(int chan, uint64_t first, uint64_t last)
{
	char *back = pages(MIB);
	uint64_t number;
	ssize_t ret = read(chan, back, MIB);

	memcpy(&number, back, sizeof(number));
	if (ret < 0)
		EXPECT_EQ(errno, ECONNRESET);
	else
		EXPECT_TRUE(ret == MIB && number >= first && number <= last &&
			    is_numbered(back, MIB, number));
	munmap(back, MIB);
	return ret > 0;
}

/* A completion says that the region is in use no longer: also where it was seen in the ring. */
TEST_F_TIMEOUT(region, unregister_at_once, 100)
{
	static const size_t sizes[] = { 64, 64 * 1024 };
	uint32_t from_id, to_id, id;
	struct rdmachan_cqe cqe;
	struct queue q;
	int i, j;

	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1000), 0);
	for (i = 0; i < turns(400); i++) {
		from_id = region_register(self->ctx, self->from, SIZE, 0, NULL);
		to_id = region_register(self->ctx, self->to, SIZE, 0, NULL);
		region_recv(&q, self->b, to_id, 0, SIZE, 1);
		region_send(&q, self->a, from_id, 0, sizes[i % 2], 2);
		ASSERT_EQ(queue_poke(&q), 0);
		for (j = 0; j < 2; j++) {
			/* There may be one processor. */
			while (!queue_next(&q, &cqe)) {
				sched_yield();
				let_time_pass();
			}
			EXPECT_EQ(cqe.res, (int64_t)sizes[i % 2]);
			id = cqe.user_data == 1 ? to_id : from_id;
			EXPECT_EQ(region_unregister(self->ctx, id), 0);
		}
	}
	queue_close(&q);
}

TEST_F_TIMEOUT(region, queue_closed, 200)
{
	int fds[2], i, failed = 0;
	uint64_t told;
	uint32_t id;
	struct rdmachan_cqe cqe;
	struct queue q;
	pid_t child;

	for (i = 0; i < turns(60); i++) {
		pair_up(self->ctx, fds, NULL);
		child = LATER(0, ({ close(fds[1]); write_numbered(fds[0], MIB); }));
		id = region_of(self->ctx, self->to, SIZE);
		ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
		close(fds[0]);
		region_recv(&q, fds[1], id, 0, MIB, 1);
		region_recv(&q, fds[1], id, MIB, MIB, 1);
		ASSERT_EQ(queue_enter(&q, 2, i % 2, 10000), 2);
		pause_ns(i * 97 % (i % 2 ? 500 : 5000) * 1000);
		for (told = 0; queue_next(&q, &cqe); told++)
			EXPECT_EQ(cqe.res, (int64_t)MIB);
		queue_close(&q);
		ASSERT_TRUE(unregister_soon(self->ctx, id));
		memset(self->to, 0x66, SIZE);
		/* They may have completed between the look and the end of the queue. */
		if (!goes_on(fds[1], told + 1, 3))
			failed++;
		ASSERT_TRUE(is_all(self->to, SIZE, 0x66));
		kill(child, SIGKILL);
		child_status(child);
		close(fds[1]);
	}
	printf("# %d of %d channels failed\n", failed, i);
	EXPECT_BOTH(failed, i);
}

static int wait_more(struct queue *q)
{
	if (queue_enter(q, 8, 1, 20000) >= 0)
		return 0;
	printf("# waiting: errno %d\n", errno);
	return -1;
}

/* A program that sends or receives as fast as it can, by regions, until it fails. */
static int flow(int ctx, int chan, uint8_t opcode, size_t len)
{
	struct rdmachan_cqe cqe = {}, failed;
	char *memory = pages(SIZE);
	struct queue q;
	uint32_t id;
	int slot;

	if (queue_open(ctx, &q, 8, 8))
		return 1;
	id = region_of(ctx, memory, SIZE);
	for (slot = 0; slot < 3; slot++)
		queue_region(&q, opcode, chan, id, slot * MIB, len, slot);
	while (!wait_more(&q) && queue_next(&q, &cqe) && cqe.res > 0)
		queue_region(&q, opcode, chan, id, cqe.user_data * MIB, len, cqe.user_data);
	failed = cqe;
	/* The others fail likewise. */
	for (slot = 1; slot < 3; slot++)
		if (!queue_wait(&q, &cqe) || cqe.res > 0) {
			printf("# operation %u on slot %llu: %lld, after slot %llu: %lld\n", opcode,
			       (unsigned long long)cqe.user_data, (long long)cqe.res,
			       (unsigned long long)failed.user_data, (long long)failed.res);
			return 2;
		}
	if (!unregister_soon(ctx, id))
		return 3;
	return cqe.res < 0 ? -cqe.res : 0;
}

#define SENDS RDMACHAN_OPCODE_SEND
#define RECVS RDMACHAN_OPCODE_RECV

/* Some time, so that it is in the middle of anything. Where computing takes none, less will do. */
static void flow_for(unsigned int ms)
{
	usleep(ms * (time_is_virtual() ? 19 : 1000));
}

static void killed(struct fixture_region *self, uint8_t opcode)
{
	struct rdmachan_error error;
	int fds[2], i;
	pid_t child;

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		child = fork();
		if (!child) {
			close(fds[0]);
			_exit(flow(open_ctx(), fds[1], opcode, MIB));
		}
		close(fds[1]);
		LATER(0, ({ flow_for(20 + 7 * i); kill(child, SIGKILL); }));
		EXPECT_EQ(flow(self->ctx, fds[0], opcode == SENDS ? RECVS : SENDS, MIB),
			  ECONNRESET);
		EXPECT_EQ(get_error(fds[0], &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
		EXPECT_EQ(error.detail, SIGKILL);
		close(fds[0]);
		child_status(child);
	}
}

TEST_F_TIMEOUT(region, receiver_killed, 200)
{
	killed(self, RECVS);
}

TEST_F_TIMEOUT(region, sender_killed, 200)
{
	killed(self, SENDS);
}

/* Sender and receiver in one program, and both ways at once. */
struct flowing {
	pthread_t thread;
	int ctx;
	int chan;
	uint8_t opcode;
	int result;
};

static void *flow_thread(void *arg)
{
	struct flowing *f = arg;

	f->result = flow(f->ctx, f->chan, f->opcode, MIB);
	return NULL;
}

static void begin_flows(struct flowing f[4], int ctx, const int fds[2])
{
	int i;

	for (i = 0; i < 4; i++) {
		f[i] = (struct flowing){ .ctx = ctx, .chan = fds[i / 2],
					 .opcode = i % 2 ? SENDS : RECVS };
		pthread_create(&f[i].thread, NULL, flow_thread, &f[i]);
	}
}

/* @errors: that of each end, or NULL for any */
static void end_flows(struct flowing f[4], const int errors[2])
{
	int i;

	for (i = 0; i < 4; i++) {
		pthread_join(f[i].thread, NULL);
		if (errors)
			EXPECT_EQ(f[i].result, errors[i / 2]);
	}
}

TEST_TIMEOUT(device_removed, 200)
{
	/* Another host hears of it as the connection ends. */
	const int errors[] = { ENODEV, has_peer() ? ECONNRESET : ENODEV };
	int ctx = open_ctx(), fds[2], i;
	struct flowing f[4];

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	for (i = 0; i < turns(10); i++) {
		pair_up_again(ctx, fds);
		begin_flows(f, ctx, fds);
		flow_for(30 + 17 * i);
		EXPECT_EQ(remove_device(), 0);
		end_flows(f, errors);
		close(fds[0]);
		close(fds[1]);
		EXPECT_EQ(add_device(), 0);
	}
	EXPECT_EQ(pinned_bytes(), 0);
}

/* The queue pair fails, in the middle of anything. */
TEST_TIMEOUT(link_killed, 200)
{
	int root = open_ctx(), ctx, fds[2], i;
	struct flowing f[4];

	inject_begin();
	for (i = 0; i < turns(20); i++) {
		ctx = fault_ctx_of(21000 + i);
		pair_up(ctx, fds, NULL);
		begin_flows(f, ctx, fds);
		flow_for(10 + i * 7 % 40);
		inject("kill", "skip=%d", i % 7);
		end_flows(f, NULL);
		inject_off("kill");
		close(fds[0]);
		close(fds[1]);
		close(ctx);
	}
	EXPECT_EQ(pinned_bytes(), 0);
	inject_end(root);
}

TEST_F_TIMEOUT(region, shut_down, 100)
{
	struct flowing f[4];
	int fds[2], i, j;

	for (i = 0; i < turns(20); i++) {
		pair_up(self->ctx, fds, NULL);
		begin_flows(f, self->ctx, fds);
		flow_for(5 + i);
		for (j = 0; j < 2; j++)
			EXPECT_EQ(do_shutdown(fds[j], RDMACHAN_SHUTDOWN_SEND |
					      RDMACHAN_SHUTDOWN_RECV), 0);
		end_flows(f, NULL);
		close(fds[0]);
		close(fds[1]);
	}
	EXPECT_EQ(pinned_bytes(), self->pinned);
}

/* All that can fail for want of memory: the call fails, or the message is copied. */
TEST_F_TIMEOUT(region, no_memory, 100)
{
	static const char *const sites[] = { "pin", "place", "write", "region", "verbs" };
	char *more = pages(MIB);
	struct rdmachan_cqe cqe;
	int64_t id;
	int i, j;

	if (inject_open("nomem", O_RDONLY) < 0)
		SKIP("there is no debugfs");
	for (i = 0; i < 5; i++) {
		inject("nomem", "site=pin skip=%d", i);
		id = region_register(self->ctx, more, MIB, 0, NULL);
		if (id < 0)
			EXPECT_EQ(errno, ENOMEM);
		else
			EXPECT_EQ(region_unregister(self->ctx, id), 0);
		inject_off("nomem");
	}
	for (i = 0; i < 10; i++) {
		inject("nomem", "site=%s skip=%d", sites[i % 5], i / 5);
		fill_random(self->from, MIB, i);
		region_recv(&self->q, self->b, self->to_id, 0, MIB, 1);
		ASSERT_EQ(queue_submit(&self->q), 1);
		region_send(&self->q, self->a, self->from_id, 0, MIB, 2);
		ASSERT_EQ(queue_submit(&self->q), 1);
		for (j = 0; j < 2; j++) {
			ASSERT_TRUE(queue_wait(&self->q, &cqe));
			if (cqe.user_data == 2 && cqe.res == -ENOMEM) {
				region_send(&self->q, self->a, self->from_id, 0, MIB, 2);
				ASSERT_EQ(queue_submit(&self->q), 1);
				j--;
				continue;
			}
			EXPECT_EQ(cqe.res, (int64_t)MIB);
		}
		EXPECT_TRUE(is_random(self->to, MIB, i));
		inject_off("nomem");
	}
	EXPECT_EQ(pinned_bytes(), self->pinned);
}

TEST_HARNESS_MAIN
