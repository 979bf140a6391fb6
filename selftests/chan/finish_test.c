// SPDX-License-Identifier: GPL-2.0
/*
 * finish_test.c - an end learns how much the peer's program has received; and ends at once
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "pair.h"
#include "region.h"
#include "ring.h"

#define LARGE (4U << 20)
#define COUNT(table) (sizeof(table) / sizeof(*(table)))
/* Of what ends by itself. */
#define PATIENCE 20000

FIXTURE_PAIR(finish)

static void send_some(int chan, int count)
{
	while (count--)
		ASSERT_EQ(do_send(chan, "some", 4, 0, TIMEOUT(PATIENCE)), 0);
}

static void recv_some(int chan, int count)
{
	char back[8];

	while (count--)
		ASSERT_EQ(do_recv(chan, back, sizeof(back), NULL, TIMEOUT(PATIENCE)), 0);
}

static void recv_end(int chan)
{
	struct rdmachan_recv_args recv;
	char back[8];

	ASSERT_EQ(do_recv(chan, back, sizeof(back), &recv, TIMEOUT(PATIENCE)), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
}

/* FINISH fails for @cause, and tells @detail. */
#define EXPECT_UNFINISHED(chan, err, why, number)					\
	do {										\
		struct rdmachan_error error_ = {};					\
											\
		EXPECT_ERR(do_finish(chan, &(struct opts){ .timeout_ms = PATIENCE,	\
							   .error = &error_ }), err);	\
		EXPECT_EQ(error_.cause, why);						\
		EXPECT_EQ(error_.error, err);						\
		EXPECT_EQ(error_.detail, number);					\
	} while (0)

TEST_F(finish, end_was_found)
{
	char back[8];

	send_some(self->a, 3);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, 0), 0);
	EXPECT_ERR(do_finish(self->a, DONTWAIT), EAGAIN);
	EXPECT_ERR(write(self->a, "x", 1), EPIPE);
	recv_some(self->b, 3);
	/* It may still ask for more, and do nothing with what it has. */
	EXPECT_ERR(do_finish(self->a, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, 0), 0);
	recv_end(self->b);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, PATIENCE), POLLPRI);
	EXPECT_EQ(do_finish(self->a, DONTWAIT), 0);
	EXPECT_EQ(do_finish(self->a, NULL), 0);
	/* The other direction goes on. */
	EXPECT_EQ(write(self->b, "back", 4), 4);
	EXPECT_EQ(read(self->a, back, 8), 4);
	/* A later message does not take it back. */
	close(self->b);
	self->b = -1;
	EXPECT_TRUE(wait_state(self->a, RDMACHAN_STATE_PEER_CLOSED, PATIENCE));
	EXPECT_EQ(do_finish(self->a, NULL), 0);
}

TEST_F(finish, read_finds_the_end)
{
	char back[8];

	send_some(self->a, 2);
	EXPECT_ERR(do_finish(self->a, DONTWAIT), EAGAIN);
	EXPECT_EQ(read(self->b, back, 8), 4);
	EXPECT_EQ(read(self->b, back, 8), 4);
	EXPECT_EQ(read(self->b, back, 8), 0);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
}

TEST_F(finish, it_waits)
{
	pid_t child;

	send_some(self->a, 2);
	child = LATER(100, recv_some(self->b, 2); sleep_ms(100); recv_end(self->b));
	EXPECT_EQ(do_finish(self->a, NULL), 0);
	EXPECT_EQ(child_status(child), 0);
}

TEST_F(finish, closed_with_all)
{
	send_some(self->a, 3);
	recv_some(self->b, 3);
	/* It has not looked for the end. */
	close(self->b);
	self->b = -1;
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
	EXPECT_EQ(do_finish(self->a, DONTWAIT), 0);
}

TEST_F(finish, closed_with_some)
{
	struct rdmachan_error error;

	send_some(self->a, 3);
	recv_some(self->b, 1);
	close(self->b);
	self->b = -1;
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, 2);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, 2);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, 0), POLLPRI | POLLHUP);
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_CLOSED);
	EXPECT_EQ(error.detail, 2);
}

/* What the peer's kernel never saw is missing as well. */
TEST_F(finish, closed_with_much_under_way)
{
	int count = fill_up(self->a, 30000);

	ASSERT_GT(count, 10);
	close(self->b);
	self->b = -1;
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, (uint64_t)count);
}

TEST_F(finish, nothing_was_sent)
{
	recv_some(self->b, 0);
	EXPECT_ERR(do_finish(self->a, DONTWAIT), EAGAIN);
	recv_end(self->b);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
	EXPECT_ERR(do_finish(self->b, DONTWAIT), EAGAIN);
	close(self->a);
	self->a = -1;
	EXPECT_EQ(do_finish(self->b, TIMEOUT(PATIENCE)), 0);
}

TEST_F(finish, peer_receives_no_more)
{
	send_some(self->a, 3);
	recv_some(self->b, 1);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN, 2);
}

/* The known state of the other end is no answer for one that goes on sending. */
TEST_F(finish, not_told_before_it_is_asked)
{
	send_some(self->a, 1);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, 100), 0);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, PATIENCE), POLLPRI);
}

/* A message that was refused meanwhile is not why others are missing. */
TEST_F(finish, peer_receives_no_more_behind_a_refusal)
{
	send_some(self->a, 3);
	recv_some(self->b, 1);
	ASSERT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_ERR(do_send(self->a, "x", 1, 0, NULL), EPIPE);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN, 2);
}

TEST_F(finish, closed_with_some_and_a_refusal)
{
	const size_t too_much = (1UL << 30) + 1;
	void *data = mmap(NULL, too_much, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);

	ASSERT_TRUE(data != MAP_FAILED);
	send_some(self->a, 3);
	recv_some(self->b, 1);
	close(self->b);
	self->b = -1;
	EXPECT_TRUE(wait_state(self->a, RDMACHAN_STATE_PEER_CLOSED, PATIENCE));
	EXPECT_ERR(do_send(self->a, data, too_much, 0, NULL), EMSGSIZE);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, 2);
	munmap(data, too_much);
}

TEST_F(finish, peer_received_all_and_no_more)
{
	send_some(self->a, 3);
	recv_some(self->b, 3);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
}

/*
 * The peer's program receives @count messages and is killed. It has the last descriptor of its end
 * by then, as it waits until this program has closed @line: else closing here ended the channel.
 */
static pid_t killed_peer(struct fixture_finish *self, int count, bool to_the_end)
{
	int line[2];
	pid_t child;
	char c;

	ASSERT_EQ(pipe(line), 0);
	child = fork();
	if (!child) {
		close(line[1]);
		recv_some(self->b, count);
		if (to_the_end)
			recv_end(self->b);
		EXPECT_EQ(read(line[0], &c, 1), 0);
		kill(getpid(), SIGKILL);
	}
	close(self->b);
	self->b = -1;
	close(line[0]);
	close(line[1]);
	return child;
}

TEST_F(finish, killed)
{
	pid_t child;

	send_some(self->a, 2);
	child = killed_peer(self, 2, false);
	EXPECT_UNFINISHED(self->a, ECONNRESET, RDMACHAN_CAUSE_PEER_KILLED, SIGKILL);
	child_status(child);
}

TEST_F(finish, killed_behind_the_end)
{
	pid_t child;

	send_some(self->a, 2);
	child = killed_peer(self, 2, true);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
	child_status(child);
	EXPECT_TRUE(wait_state(self->a, RDMACHAN_STATE_FAILED, PATIENCE));
	EXPECT_EQ(do_finish(self->a, NULL), 0);
}

/* The end that closes has data that nobody reads: neither may wait for the other. */
TEST_F(finish, peer_closes_with_data_that_waits)
{
	send_some(self->a, 2);
	recv_some(self->b, 2);
	ASSERT_GT(fill_up(self->b, 30000), 10);
	close(self->b);
	self->b = -1;
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
}

TEST_F(finish, peer_closes_with_data_that_waits_and_some)
{
	send_some(self->a, 3);
	recv_some(self->b, 2);
	ASSERT_GT(fill_up(self->b, 30000), 10);
	close(self->b);
	self->b = -1;
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN, 1);
}

/* The errno with which a child has ended, or 0. */
static int child_errno(pid_t child)
{
	int status = child_status(child);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *finishes(void *arg)
{
	return (void *)(long)do_finish(*(int *)arg, TIMEOUT(PATIENCE));
}

/* Both at once, and messages received meanwhile are no hindrance. */
TEST_F(finish, both)
{
	pthread_t thread[2];
	void *ret;

	send_some(self->a, 5);
	send_some(self->b, 7);
	ASSERT_EQ(pthread_create(&thread[0], NULL, finishes, &self->a), 0);
	ASSERT_EQ(pthread_create(&thread[1], NULL, finishes, &self->b), 0);
	recv_some(self->a, 7);
	recv_end(self->a);
	recv_some(self->b, 5);
	recv_end(self->b);
	pthread_join(thread[0], &ret);
	EXPECT_EQ((long)ret, 0);
	pthread_join(thread[1], &ret);
	EXPECT_EQ((long)ret, 0);
}

/* Another thread is in the middle of a message: it belongs to what was sent. */
TEST_F(finish, behind_a_message_under_way)
{
	struct rdmachan_object object;
	char *data = calloc(1, LARGE);
	int filled;
	pid_t child;

	filled = fill_up(self->a, 30000);
	ASSERT_GT(filled, 10);
	child = LATER(0, _exit(do_send(self->a, data, LARGE, 0, NULL) ? errno : 0));
	/* It is in the middle once it has the turn, which the next one then has not. */
	sleep_ms(200);
	EXPECT_ERR(do_finish(self->a, TIMEOUT(50)), ETIMEDOUT);
	EXPECT_EQ(child_errno(child), EPIPE);
	ASSERT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.tx_messages, (uint64_t)filled);
	while (filled--)
		ASSERT_EQ(do_recv(self->b, data, LARGE, NULL, TIMEOUT(PATIENCE)), 0);
	recv_end(self->b);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
	free(data);
}

/*
 * A thread that sends is in the middle of a large message, and is not waited for: the peer is told
 * of the end all the same.
 */
TEST_F(finish, not_waiting_for_a_message_under_way)
{
	char *data = calloc(1, 4 * LARGE);
	pid_t sends, receives;
	int ret;

	/* A message that is sent in pieces is stopped between two of them; another one goes on. */
	receives = LATER(0, _exit(do_recv(self->b, data, 4 * LARGE, NULL, NULL) ? errno : 0));
	sleep_ms(20);
	sends = LATER(0, _exit(do_send(self->a, data, 4 * LARGE, 0, NULL) ? errno : 0));
	sleep_ms(1);
	EXPECT_ERR(do_finish(self->a, DONTWAIT), EAGAIN);
	ret = child_errno(sends);
	EXPECT_TRUE(!ret || ret == EPIPE);
	EXPECT_EQ(child_errno(receives), 0);
	recv_end(self->b);
	EXPECT_EQ(poll_mask(self->a, POLLPRI, PATIENCE), POLLPRI);
	EXPECT_EQ(do_finish(self->a, DONTWAIT), 0);
	free(data);
}

/* Messages that go other ways than copies are counted alike at both ends. */
TEST_F(finish, every_kind_of_message)
{
	static const uint32_t lengths[] = { 0, 1, 64, 600, 5000, 70000, LARGE };
	struct rdmachan_grant_event event;
	struct rdmachan_object sent, got;
	struct rdmachan_cqe cqe;
	struct queue q, at_b;
	char *data, *back;
	int64_t region, grant;
	pid_t child;
	size_t i;

	data = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	back = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(data != MAP_FAILED && back != MAP_FAILED);
	for (i = 0; i < COUNT(lengths); i++) {
		child = LATER(0, _exit(do_send(self->a, data, lengths[i], 0, NULL) ? errno : 0));
		ASSERT_EQ(do_recv(self->b, back, LARGE, NULL, TIMEOUT(PATIENCE)), 0);
		EXPECT_EQ(child_status(child), 0);
	}
	region = region_register(self->ctx, data, LARGE, 0, NULL);
	ASSERT_GT(region, 0);
	ASSERT_EQ(queue_open(self->ctx, &q, 16, 16), 0);
	ASSERT_EQ(queue_open(self->peer, &at_b, 16, 16), 0);
	for (i = 0; i < COUNT(lengths); i++) {
		queue_recv(&at_b, self->b, back, LARGE, i);
		ASSERT_EQ(queue_enter(&at_b, 1, 0, 0), 1);
		child = LATER(0, _exit(do_send(self->a, data, lengths[i], 0, NULL) ? errno : 0));
		ASSERT_TRUE(queue_wait(&at_b, &cqe));
		EXPECT_EQ(cqe.res, (int64_t)lengths[i]);
		EXPECT_EQ(child_status(child), 0);
		region_send(&q, self->a, region, 0, lengths[i], i);
		ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
		ASSERT_EQ(do_recv(self->b, back, LARGE, NULL, TIMEOUT(PATIENCE)), 0);
		ASSERT_TRUE(queue_wait(&q, &cqe));
		EXPECT_EQ(cqe.res, (int64_t)lengths[i]);
	}
	grant = grant_range(self->a, self->ctx, &(struct rdmachan_grant_range){
			.region = region, .rights = RDMACHAN_RIGHT_READ, .length = 4096 });
	ASSERT_GT(grant, 0);
	ASSERT_TRUE(grant_next(self->b, &event));
	EXPECT_ERR(do_finish(self->a, DONTWAIT), EAGAIN);
	recv_end(self->b);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
	ASSERT_EQ(get_object(self->a, &sent), 0);
	ASSERT_EQ(get_object(self->b, &got), 0);
	EXPECT_EQ(sent.tx_messages, got.rx_messages);
	EXPECT_EQ(sent.tx_messages, 3 * COUNT(lengths) + 1);
	queue_close(&q);
	queue_close(&at_b);
}

TEST_F(finish, handler_of_a_signal)
{
	send_some(self->a, 1);
	EXPECT_EINTR(100, false, do_finish(self->a, TIMEOUT(PATIENCE)));
	recv_some(self->b, 1);
	recv_end(self->b);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
}

TEST_F(finish, bad_calls)
{
	struct rdmachan_finish_args finish = { .size = sizeof(finish) };
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int chan;

	finish.flags = 1 << 4;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_FINISH, &finish), EOPNOTSUPP);
	finish.flags = 0;
	finish.__reserved = 1;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_FINISH, &finish), EINVAL);
	finish.__reserved = 0;
	finish.until = 1;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_FINISH, &finish), EINVAL);
	finish.until = 0;
	finish.size = 4;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_FINISH, &finish), EINVAL);
	finish.size = sizeof(finish);
	finish.error_ptr = 8;
	EXPECT_ERR(ioctl(self->a, RDMACHAN_FINISH, &finish), EFAULT);
	EXPECT_ERR(do_finish(self->ctx, NULL), ENOTTY);
	/* None of them has ended anything. */
	talk(self->a, self->b);
	/* A host that is not there. */
	chan = do_connect_to(self->ctx, &(struct rdmachan_addr){
			.family = AF_INET, .addr = { 10, 77, 0, 99 } }, SERVICE, &nonblock);
	ASSERT_GE(chan, 0);
	EXPECT_ERR(do_finish(chan, NULL), ENOTCONN);
	close(chan);
}

#define CONNECTS 300

static void finish_once_open(int chan)
{
	int i;

	for (;;) {
		/* Where time is virtual it stands still until somebody sleeps. */
		for (i = 0; i < 300; i++)
			if (!do_finish(chan, DONTWAIT) || errno != ENOTCONN)
				return;
		sleep_ms(1);
	}
}

/* It fails as long as the channel is being connected, or it ends sending: nothing in between. */
TEST_F(finish, while_it_is_being_connected)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int listener = do_listen(self->peer, SERVICE + 1, NULL), i;
	struct rdmachan_addr addr = peer_address();
	int64_t until = now_ms() + 10000;
	int chan, other;

	ASSERT_GE(listener, 0);
	for (i = 0; i < CONNECTS && now_ms() < until; i++) {
		chan = do_connect_to(self->ctx, &addr, SERVICE + 1, &nonblock);
		ASSERT_GE(chan, 0);
		finish_once_open(chan);
		EXPECT_ERR(write(chan, "x", 1), EPIPE);
		other = do_accept(listener, TIMEOUT(PATIENCE));
		ASSERT_GE(other, 0);
		recv_end(other);
		close(chan);
		close(other);
	}
	close(listener);
}

/* By a queue */

static int64_t finish_by(struct queue *q, uint64_t data)
{
	struct rdmachan_cqe cqe;

	if (!queue_wait(q, &cqe))
		return -ETIME;
	EXPECT_EQ(cqe.user_data, data);
	return cqe.res;
}

TEST_F(finish, by_a_queue)
{
	struct queue q, at_b;
	char back[8];

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	ASSERT_EQ(queue_open(self->peer, &at_b, 8, 8), 0);
	queue_send(&q, self->a, "some", 4, 1);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, self->a, 2);
	queue_send(&q, self->a, "more", 4, 3);
	ASSERT_EQ(queue_enter(&q, 3, 0, 0), 3);
	EXPECT_EQ(finish_by(&q, 1), 4);
	queue_recv(&at_b, self->b, back, sizeof(back), 4);
	ASSERT_EQ(queue_enter(&at_b, 1, 0, 0), 1);
	EXPECT_EQ(finish_by(&at_b, 4), 4);
	EXPECT_EQ(queue_ready(&q), false);
	/* It finds the end. */
	queue_recv(&at_b, self->b, back, sizeof(back), 5);
	ASSERT_EQ(queue_enter(&at_b, 1, 0, 0), 1);
	EXPECT_EQ(finish_by(&at_b, 5), 0);
	EXPECT_EQ(finish_by(&q, 2), 0);
	EXPECT_EQ(finish_by(&q, 3), -EPIPE);
	queue_close(&at_b);
	queue_close(&q);
}

TEST_F(finish, by_a_queue_in_vain)
{
	struct rdmachan_sqe *sqe;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	send_some(self->a, 3);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, self->a, 1)->timeout_ms = 100;
	ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
	EXPECT_EQ(finish_by(&q, 1), -ETIMEDOUT);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, self->a, 2);
	ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
	sqe = queue_add(&q, RDMACHAN_OPCODE_CANCEL, -1, 3);
	sqe->target = 2;
	ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
	EXPECT_EQ(finish_by(&q, 2), -ECANCELED);
	EXPECT_EQ(finish_by(&q, 3), 1);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, self->a, 4)->op_flags = 1;
	ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
	EXPECT_EQ(finish_by(&q, 4), -EINVAL);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, self->a, 5);
	ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
	recv_some(self->b, 1);
	close(self->b);
	self->b = -1;
	EXPECT_EQ(finish_by(&q, 5), -EPIPE);
	queue_close(&q);
}

/*
 * A message is offered, and nobody receives it for a while: what waits in a queue to have finished
 * is not run for that. It would be run again and again, and no time passes in virtual time then.
 */
TEST_F(finish, by_a_queue_beside_an_offer)
{
	char *data = calloc(1, LARGE), back[8];
	pid_t reads, sends;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	/* A thread that waits: messages are offered from then on. */
	reads = LATER(0, _exit(read(self->a, back, sizeof(back)) != 4));
	sleep_ms(20);
	send_some(self->b, 1);
	EXPECT_EQ(child_status(reads), 0);
	sends = LATER(0, _exit(do_send(self->b, data, LARGE, 0, NULL) ? errno : 0));
	sleep_ms(2);
	queue_add(&q, RDMACHAN_OPCODE_FINISH, self->a, 1);
	ASSERT_EQ(queue_enter(&q, 1, 0, 0), 1);
	sleep_ms(50);
	ASSERT_EQ(do_recv(self->a, data, LARGE, NULL, TIMEOUT(PATIENCE)), 0);
	EXPECT_EQ(child_errno(sends), 0);
	recv_end(self->b);
	EXPECT_EQ(finish_by(&q, 1), 0);
	queue_close(&q);
	free(data);
}

/* ABORT */

TEST_F(finish, abort)
{
	struct rdmachan_error error = {};
	char back[8];

	send_some(self->a, 3);
	send_some(self->b, 3);
	recv_some(self->b, 3);
	ASSERT_TRUE(wait_readable(self->a, PATIENCE));
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_ERR(do_send(self->b, "x", 1, 0, &(struct opts){ .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	EXPECT_ERR(do_recv(self->b, back, 8, NULL, &(struct opts){ .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	EXPECT_ERR(do_shutdown(self->b, RDMACHAN_SHUTDOWN_SEND), ENOTCONN);
	EXPECT_UNFINISHED(self->b, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, 0);
	EXPECT_UNFINISHED(self->a, ECONNRESET, RDMACHAN_CAUSE_PEER_RESET, 0);
	EXPECT_ERR(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), ENOTCONN);
	EXPECT_ERR(do_send(self->a, "x", 1, 0, NULL), ECONNRESET);
}

TEST_F(finish, abort_throws_away)
{
	char back[8];

	send_some(self->a, 3);
	ASSERT_TRUE(wait_readable(self->b, PATIENCE));
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_ERR(read(self->b, back, 8), EPIPE);
	EXPECT_TRUE(poll_mask(self->b, POLLIN, 0) & POLLERR);
}

/* The peer's program has told that it receives no more; then this one aborts. */
TEST_F(finish, abort_with_messages_missing)
{
	send_some(self->a, 3);
	recv_some(self->b, 1);
	ASSERT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN, 2);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, 2);
}

/* The peer's program has closed: its messages are thrown away, which is no end like others. */
TEST_F(finish, abort_behind_close)
{
	struct rdmachan_error error = {};
	const struct opts o = { .error = &error };
	char back[8];

	send_some(self->a, 3);
	send_some(self->b, 3);
	recv_some(self->b, 1);
	close(self->b);
	self->b = -1;
	EXPECT_TRUE(wait_state(self->a, RDMACHAN_STATE_PEER_CLOSED, PATIENCE));
	recv_some(self->a, 1);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_ERR(do_recv(self->a, back, 8, NULL, &o), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	EXPECT_ERR(read(self->a, back, 8), EPIPE);
	EXPECT_ERR(do_send(self->a, "x", 1, 0, &o), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	EXPECT_UNFINISHED(self->a, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, 2);
}

TEST_F(finish, abort_with_others_is_none)
{
	EXPECT_ERR(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT | RDMACHAN_SHUTDOWN_SEND), EINVAL);
	EXPECT_ERR(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT | RDMACHAN_SHUTDOWN_RECV), EINVAL);
	EXPECT_ERR(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT << 1), EINVAL);
	talk(self->a, self->b);
}

/* The peer's program was told of the end before: what it then does is its own affair. */
TEST_F(finish, abort_behind_the_end)
{
	send_some(self->a, 1);
	EXPECT_ERR(do_finish(self->a, DONTWAIT), EAGAIN);
	recv_some(self->b, 1);
	recv_end(self->b);
	EXPECT_EQ(do_shutdown(self->b, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_EQ(do_finish(self->a, TIMEOUT(PATIENCE)), 0);
}

/* How long an answer may take is what the two hosts have agreed upon, whatever is set now. */
TEST_F(finish, abort_when_links_are_given_less_time)
{
	int other[2];

	if (!time_is_virtual() || !has_peer())
		SKIP("two hosts that are far apart are needed");
	pair_up(self->ctx, other, NULL);
	cable("delay 500");
	set_parameter("dead_ms", 200);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT), 0);
	sleep_ms(3000);
	talk(other[0], other[1]);
	set_parameter("dead_ms", 5000);
	cable("delay 0");
	close(other[0]);
	close(other[1]);
}

TEST_F(finish, abort_wakes)
{
	struct rdmachan_error error = {};
	pid_t child;
	char back[8];

	child = LATER(100, do_shutdown(self->a, RDMACHAN_SHUTDOWN_ABORT));
	EXPECT_ERR(do_recv(self->a, back, 8, NULL, &(struct opts){ .error = &error }), EPIPE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_SHUTDOWN);
	child_status(child);
	EXPECT_ERR(do_recv(self->b, back, 8, NULL, &(struct opts){ .error = &error }), ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESET);
}

static void send_for_ever(int chan, const char *data)
{
	while (!do_send(chan, data, LARGE, 0, NULL))
		;
	_exit(errno);
}

static void recv_for_ever(int chan, char *data)
{
	while (!do_recv(chan, data, LARGE, NULL, NULL))
		;
	_exit(errno);
}

/* Large messages under way end with it, at both ends. */
static void abort_in_transfer(int from, int to, int aborts)
{
	char *data = calloc(1, LARGE);
	pid_t sends, receives;

	sends = LATER(0, send_for_ever(from, data));
	receives = LATER(0, recv_for_ever(to, data));
	sleep_ms(20);
	EXPECT_EQ(do_shutdown(aborts, RDMACHAN_SHUTDOWN_ABORT), 0);
	EXPECT_EQ(child_errno(sends), aborts == from ? EPIPE : ECONNRESET);
	EXPECT_EQ(child_errno(receives), aborts == to ? EPIPE : ECONNRESET);
	free(data);
}

TEST_F(finish, abort_by_the_sender)
{
	abort_in_transfer(self->a, self->b, self->a);
}

TEST_F(finish, abort_by_the_receiver)
{
	abort_in_transfer(self->a, self->b, self->b);
}

TEST_F(finish, abort_by_a_queue)
{
	struct queue q;
	char back[8];

	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	queue_recv(&q, self->a, back, 8, 1);
	queue_add(&q, RDMACHAN_OPCODE_SHUTDOWN, self->a, 2)->op_flags = RDMACHAN_SHUTDOWN_ABORT;
	ASSERT_EQ(queue_enter(&q, 2, 0, 0), 2);
	EXPECT_EQ(finish_by(&q, 2), 0);
	EXPECT_EQ(finish_by(&q, 1), -EPIPE);
	EXPECT_ERR(do_recv(self->b, back, 8, NULL, TIMEOUT(PATIENCE)), ECONNRESET);
	queue_close(&q);
}

TEST_HARNESS_MAIN
