// SPDX-License-Identifier: GPL-2.0
/*
 * uring_end_test.c - io_uring: large messages, cancelled ones, and how it all ends
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "uring.h"

#define MIB 1048576U
#define BIG (64 * MIB)

/* Large messages */

struct sink {
	pthread_t thread;
	int fd;
	char *data;
	ssize_t ret;
};

static void *read_big(void *arg)
{
	struct sink *s = arg;

	s->ret = read(s->fd, s->data, BIG);
	return NULL;
}

static void big_write(struct fixture_uring *self, unsigned int flags)
{
	struct sink s = { .fd = self->b, .data = malloc(BIG) };
	char *out = malloc(BIG);

	fill_random(out, BIG, flags);
	pthread_create(&s.thread, NULL, read_big, &s);
	want_write(&self->ring, self->a, out, BIG, 0, flags);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), BIG);
	pthread_join(s.thread, NULL);
	EXPECT_EQ(s.ret, BIG);
	EXPECT_TRUE(is_random(s.data, BIG, flags));
	free(out);
	free(s.data);
}

TEST_F(uring, large_write)
{
	big_write(self, 0);
}

TEST_F(uring, large_write_asynchronous)
{
	big_write(self, IOSQE_ASYNC);
}

/* Memory that io_uring holds pinned has no address in the program: the message is copied. */
TEST_F(uring, large_fixed)
{
	size_t len = 8 * MIB;
	char *data = mmap(NULL, 2 * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct iovec iov = { data, 2 * len };
	struct io_uring_sqe *sqe;
	struct rdmachan_object object;

	fill_random(data, len, 8);
	ASSERT_EQ(io_uring_register_buffers(&self->ring, &iov, 1), 0);
	sqe = entry(&self->ring);
	io_uring_prep_read_fixed(sqe, self->b, data + len, len, 0, 0);
	tagged(sqe, 0, 0);
	sqe = entry(&self->ring);
	io_uring_prep_write_fixed(sqe, self->a, data, len, 0, 0);
	tagged(sqe, 1, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 1, LONG), len);
	EXPECT_EQ(result(&self->ring, 0, LONG), len);
	EXPECT_TRUE(is_random(data + len, len, 8));
	EXPECT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(object.tx_placed, 0);
}

/* Behind a message that nobody reads, so that the peer makes no room for it. */
static void block_large(struct fixture_uring *self, const void *data)
{
	EXPECT_EQ(write(self->a, "first", 5), 5);
	want_write(&self->ring, self->a, data, BIG, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 200), NOT_YET);
	EXPECT_TRUE(wait_workers(1));
}

/* All or nothing, also when it is cancelled in the middle. */
TEST_F(uring, large_write_cancelled)
{
	char *data = calloc(1, BIG);
	char back[8];
	int ret;

	block_large(self, data);
	want_cancel(&self->ring, 0, 1);
	submit(&self->ring);
	ret = result(&self->ring, 1, LONG);
	/* io_uring looks for it twice, and interrupts it the first time: then it may be gone. */
	EXPECT_TRUE(ret == -EALREADY || ret == -ENOENT || !ret);
	ret = result(&self->ring, 0, LONG);
	EXPECT_TRUE(ret == -EINTR || ret == -ECANCELED);
	EXPECT_EQ(read(self->b, back, 8), 5);
	EXPECT_EQ(memcmp(back, "first", 5), 0);
	EXPECT_EQ(write(self->a, "after", 5), 5);
	EXPECT_EQ(read(self->b, back, 8), 5);
	EXPECT_EQ(memcmp(back, "after", 5), 0);
}

TEST_F(uring, too_large_for_the_peer)
{
	want_write(&self->ring, self->a, NULL, BIG + 1, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), -EMSGSIZE);
	EXPECT_EQ(workers(), 0);
}

/* Ends */

TEST_F(uring, cancelled)
{
	char back[8];

	want_read(&self->ring, self->b, back, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 10), NOT_YET);
	want_cancel(&self->ring, 0, 1);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 1, LONG), 0);
	EXPECT_EQ(result(&self->ring, 0, LONG), -ECANCELED);
	EXPECT_EQ(write(self->a, "kept", 4), 4);
	EXPECT_EQ(read(self->b, back, 8), 4);
}

TEST_F(uring, ends)
{
	char back[8];

	want_read(&self->ring, self->b, back, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_SEND), 0);
	EXPECT_EQ(result(&self->ring, 0, LONG), 0);
	want_read(&self->ring, self->a, back, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 10), NOT_YET);
	EXPECT_EQ(do_shutdown(self->a, RDMACHAN_SHUTDOWN_RECV), 0);
	EXPECT_EQ(result(&self->ring, 0, LONG), 0);
	want_write(&self->ring, self->a, "x", 1, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), -EPIPE);
}

TEST_F(uring, blocked_writer_finds_the_end)
{
	static char data[30000];
	struct rdmachan_object object;

	ASSERT_GT(fill_up(self->a, sizeof(data)), 0);
	want_write(&self->ring, self->a, data, sizeof(data), 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 20), NOT_YET);
	close(self->b);
	EXPECT_EQ(result(&self->ring, 0, LONG), -EPIPE);
	EXPECT_EQ(get_object(self->a, &object), 0);
	EXPECT_EQ(workers(), 0);
}

/* A request keeps the file: the channel ends with it. */
TEST_F(uring, closed_under_a_request)
{
	char in[8], back[8];

	want_read(&self->ring, self->a, in, 8, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, 10), NOT_YET);
	close(self->a);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 50), 0);
	EXPECT_EQ(write(self->b, "still", 5), 5);
	EXPECT_EQ(result(&self->ring, 0, LONG), 5);
	EXPECT_EQ(read(self->b, back, 8), 0);
}

enum leaving { LEAVE_READING, LEAVE_REGISTERED, LEAVE_WRITING };

/* A program with a request under way, or a file registered, that waits for its end. */
static void leaver(struct fixture_uring *self, enum leaving how, int parent)
{
	int chan = do_connect(self->ctx, SERVICE + 1, NULL);
	char *data = calloc(1, BIG), c = 0;
	struct io_uring ring;

	ASSERT_GE(chan, 0);
	ring_open(&ring, 0);
	ASSERT_EQ(write(chan, "up", 2), 2);
	if (how == LEAVE_READING)
		want_read(&ring, chan, data, 8, 0, 0);
	else if (how == LEAVE_WRITING)
		want_write(&ring, chan, data, BIG, 0, IOSQE_ASYNC);
	else
		ASSERT_EQ(io_uring_register_files(&ring, &chan, 1), 0);
	if (how != LEAVE_REGISTERED)
		submit(&ring);
	ASSERT_EQ(result(&ring, 0, 100), NOT_YET);
	ASSERT_EQ(write(parent, &c, 1), 1);
	read(parent, &c, 1);
	_exit(0);
}

struct left {
	pid_t child;
	int line;
	int chan;
};

static void leaver_start(struct fixture_uring *self, enum leaving how, struct left *left)
{
	int peer = open_peer(), listener = do_listen(peer, SERVICE + 1, NULL), line[2];
	char c;

	close(peer);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, line), 0);
	left->child = fork();
	if (!left->child) {
		close(line[0]);
		close(listener);
		leaver(self, how, line[1]);
	}
	close(line[1]);
	left->line = line[0];
	left->chan = do_accept(listener, NULL);
	ASSERT_GE(left->chan, 0);
	close(listener);
	ASSERT_EQ(read(left->line, &c, 1), 1);
}

/*
 * The kernel drops the file later, in a thread of its own. What the peer is told is how
 * the program has ended all the same.
 */
static void killed(struct fixture_uring *self, enum leaving how)
{
	struct rdmachan_error error;
	struct left left;
	char back[8];

	leaver_start(self, how, &left);
	kill(left.child, SIGKILL);
	child_status(left.child);
	EXPECT_EQ(read(left.chan, back, 8), 2);
	EXPECT_ERR(do_recv(left.chan, back, 8, NULL, &(struct opts){ .error = &error }),
		   ECONNRESET);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_KILLED);
	EXPECT_EQ(error.detail, SIGKILL);
	close(left.chan);
}

static void ended(struct fixture_uring *self, enum leaving how)
{
	struct rdmachan_recv_args recv;
	struct left left;
	char back[8];

	leaver_start(self, how, &left);
	close(left.line);
	child_status(left.child);
	EXPECT_EQ(read(left.chan, back, 8), 2);
	EXPECT_EQ(do_recv(left.chan, back, 8, &recv, NULL), 0);
	EXPECT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
	close(left.chan);
}

TEST_F(uring, killed_while_reading)
{
	killed(self, LEAVE_READING);
}

TEST_F(uring, killed_with_registered_file)
{
	killed(self, LEAVE_REGISTERED);
}

/* Which of the program's threads is the last is a matter of chance. */
TEST_F(uring, killed_while_writing)
{
	int i;

	for (i = 0; i < 8; i++)
		killed(self, LEAVE_WRITING);
}

TEST_F(uring, ended_while_reading)
{
	ended(self, LEAVE_READING);
}

TEST_F(uring, ended_with_registered_file)
{
	ended(self, LEAVE_REGISTERED);
}

/* Pieces of a pipe are no messages: a channel is nothing for splice(). */
TEST_F(uring, no_splice)
{
	int pipes[2], file = memfd_create("file", 0);
	struct io_uring_sqe *sqe;
	off_t from = 0;
	char back[8];

	ASSERT_EQ(pipe(pipes), 0);
	EXPECT_EQ(write(pipes[1], "pipe", 4), 4);
	EXPECT_EQ(write(file, "file", 4), 4);
	EXPECT_EQ(write(self->a, "kept", 4), 4);
	EXPECT_TRUE(wait_readable(self->b, 2000));
	EXPECT_ERR(splice(pipes[0], NULL, self->a, NULL, 4, 0), EINVAL);
	EXPECT_ERR(splice(self->b, NULL, pipes[1], NULL, 4, 0), EINVAL);
	EXPECT_ERR(sendfile(self->a, file, &from, 4), EINVAL);
	EXPECT_ERR(sendfile(file, self->b, NULL, 4), EINVAL);
	sqe = entry(&self->ring);
	io_uring_prep_splice(sqe, pipes[0], -1, self->a, -1, 4, 0);
	tagged(sqe, 0, 0);
	submit(&self->ring);
	EXPECT_EQ(result(&self->ring, 0, LONG), -EINVAL);
	EXPECT_EQ(read(self->b, back, 8), 4);
	EXPECT_EQ(memcmp(back, "kept", 4), 0);
	EXPECT_EQ(poll_mask(self->b, POLLIN, 20), 0);
}

TEST_HARNESS_MAIN
