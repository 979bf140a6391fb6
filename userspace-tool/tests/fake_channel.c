// SPDX-License-Identifier: MIT
/*
 * fake_channel.c - what the two ends of a channel of the fake device know of each other
 *
 * The socket carries messages and tells that its other end is closed, but not why, nor how much
 * of what was sent was received. That is in memory which the two processes share. The one that
 * connects makes it, and sends its number ahead of the messages; the one that accepts sees to it
 * that it vanishes with them.
 *
 * A process that ends without a word was killed; by which signal is not known.
 *
 * Kept simple: FINISH looks again and again. Of a channel that was inherited over fork() only the
 * process that has made it counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake.h"

#define LOOK_MS	2

enum {
	SHUT_SEND = 1 << 0,	/* it sends no more */
	SHUT_RECV = 1 << 1,	/* it receives no more */
	FOUND_END = 1 << 2,	/* its program knows that the other end sends no more */
	CLOSED = 1 << 3,
	ABORTED = 1 << 4,
};

/* Each end writes its own. */
struct end {
	pid_t pid;
	uint32_t sent;
	uint32_t received;
	uint32_t flags;
};

struct shared {
	int id;
	struct end ends[2];
};

static struct {
	struct shared *shared;
	unsigned int side;
	pid_t pid;
} channels[FAKE_FDS];

static struct end *own(int fd)
{
	return &channels[fd].shared->ends[channels[fd].side];
}

static const struct end *other(int fd)
{
	return &channels[fd].shared->ends[!channels[fd].side];
}

static uint32_t flags_of(const struct end *end)
{
	return __atomic_load_n(&end->flags, __ATOMIC_ACQUIRE);
}

static void set_flag(int fd, uint32_t flag)
{
	__atomic_fetch_or(&own(fd)->flags, flag, __ATOMIC_RELEASE);
}

static bool is_ready(int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };

	return poll(&one, 1, 0) > 0;
}

static int attach(int fd, int id, unsigned int side)
{
	struct shared *shared;

	if (fd >= FAKE_FDS) {
		errno = EMFILE;
		return -1;
	}
	shared = shmat(id, NULL, 0);
	if (shared == (void *)-1)
		return -1;
	channels[fd].shared = shared;
	channels[fd].side = side;
	channels[fd].pid = getpid();
	__atomic_store_n(&shared->ends[side].pid, getpid(), __ATOMIC_RELEASE);
	return 0;
}

int fake_channel_connected(int fd)
{
	int id = shmget(IPC_PRIVATE, sizeof(struct shared), 0600);

	if (id < 0 || attach(fd, id, 0) < 0)
		return -1;
	channels[fd].shared->id = id;
	return send(fd, &id, sizeof(id), MSG_NOSIGNAL) == sizeof(id) ? 0 : -1;
}

int fake_channel_accepted(int fd)
{
	int id, ret;

	if (recv(fd, &id, sizeof(id), MSG_WAITALL) != sizeof(id))
		return -1;
	ret = attach(fd, id, 1);
	shmctl(id, IPC_RMID, NULL);
	return ret;
}

static void closed(int fd)
{
	const struct shared *shared = channels[fd].shared;

	set_flag(fd, CLOSED);
	/*
	 * The listener is gone and has not accepted the channel. After an ABORT, is_ready() tells
	 * of this end's own shutdown(), not of the listener's: a later accept needs the segment.
	 */
	if (!(flags_of(own(fd)) & ABORTED) && !__atomic_load_n(&other(fd)->pid, __ATOMIC_ACQUIRE) &&
	    is_ready(fd, 0))
		shmctl(shared->id, IPC_RMID, NULL);
}

void fake_channel_closed(int fd)
{
	struct shared *shared = channels[fd].shared;

	if (!shared)
		return;
	if (channels[fd].pid == getpid())
		closed(fd);
	channels[fd].shared = NULL;
	shmdt(shared);
}

/* A program that ends closes its channels; one that is killed does not come here. */
__attribute__((destructor))
static void close_all(void)
{
	int fd;

	for (fd = 0; fd < FAKE_FDS; fd++) {
		if (channels[fd].shared && channels[fd].pid == getpid())
			closed(fd);
	}
}

void fake_channel_sent(int fd, int messages)
{
	__atomic_fetch_add(&own(fd)->sent, messages, __ATOMIC_RELEASE);
}

void fake_channel_received(int fd)
{
	__atomic_fetch_add(&own(fd)->received, 1, __ATOMIC_RELEASE);
}

/* Messages that were sent and that the program at the other end has not received. */
static uint32_t missing(int fd)
{
	return own(fd)->sent - __atomic_load_n(&other(fd)->received, __ATOMIC_ACQUIRE);
}

static int ended(uint64_t error_ptr, int error, uint32_t cause, uint64_t detail)
{
	struct rdmachan_error *err = (void *)(uintptr_t)error_ptr;

	errno = error;
	fake_record(error_ptr, RDMACHAN_OP_SEND, cause, 0);
	if (err)
		err->detail = detail;
	return -1;
}

int fake_channel_send_failed(int fd, uint64_t error_ptr)
{
	uint32_t flags = flags_of(other(fd));

	if (flags_of(own(fd)) & (SHUT_SEND | ABORTED))
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, 0);
	if (flags & ABORTED)
		return ended(error_ptr, ECONNRESET, RDMACHAN_CAUSE_PEER_RESET, 0);
	if (flags & CLOSED)
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, missing(fd));
	if (flags & SHUT_RECV)
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN, missing(fd));
	return ended(error_ptr, ECONNRESET, RDMACHAN_CAUSE_PEER_KILLED, 0);
}

int fake_channel_reset(int fd, uint64_t error_ptr)
{
	if (flags_of(own(fd)) & ABORTED)
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, 0);
	if (flags_of(other(fd)) & ABORTED)
		return ended(error_ptr, ECONNRESET, RDMACHAN_CAUSE_PEER_RESET, 0);
	return 0;
}

int fake_channel_end(int fd, uint64_t error_ptr)
{
	if (fake_channel_reset(fd, error_ptr) < 0)
		return -1;
	if (flags_of(own(fd)) & SHUT_RECV)
		return 0;
	if (!(flags_of(other(fd)) & (SHUT_SEND | CLOSED)))
		return ended(error_ptr, ECONNRESET, RDMACHAN_CAUSE_PEER_KILLED, 0);
	set_flag(fd, FOUND_END);
	return 0;
}

int fake_channel_cut(int fd, uint64_t error_ptr)
{
	if (fake_channel_reset(fd, error_ptr) < 0)
		return -1;
	return ended(error_ptr, ECONNRESET, flags_of(other(fd)) & CLOSED ?
		     RDMACHAN_CAUSE_PEER_RESET : RDMACHAN_CAUSE_PEER_KILLED, 0);
}

int fake_channel_shutdown(int fd, uint32_t how)
{
	char rest[4096];

	if (how & RDMACHAN_SHUTDOWN_ABORT) {
		set_flag(fd, ABORTED);
		shutdown(fd, SHUT_RDWR);
	}
	if (how & RDMACHAN_SHUTDOWN_SEND) {
		set_flag(fd, SHUT_SEND);
		shutdown(fd, SHUT_WR);
	}
	if (how & RDMACHAN_SHUTDOWN_RECV) {
		set_flag(fd, SHUT_RECV);
		shutdown(fd, SHUT_RD);
		while (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
			;
	}
	return 0;
}

/* The process at the other end is no more. A channel that nobody has accepted has none. */
static bool is_gone(int fd)
{
	pid_t pid = __atomic_load_n(&other(fd)->pid, __ATOMIC_ACQUIRE);
	int process;
	bool gone;

	if (!pid)
		return is_ready(fd, 0);
	process = syscall(SYS_pidfd_open, pid, 0);
	if (process < 0)
		return errno == ESRCH;
	gone = is_ready(process, POLLIN);
	close(process);
	return gone;
}

/* 1: it is not decided yet. */
static int finished(int fd, uint64_t error_ptr, bool gone)
{
	uint32_t flags = flags_of(other(fd));

	if (flags_of(own(fd)) & ABORTED)
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_SHUTDOWN, 0);
	if (flags & ABORTED)
		return ended(error_ptr, ECONNRESET, RDMACHAN_CAUSE_PEER_RESET, 0);
	if (flags & FOUND_END || (flags & (CLOSED | SHUT_RECV) && !missing(fd)))
		return 0;
	if (flags & CLOSED)
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_PEER_CLOSED, missing(fd));
	if (flags & SHUT_RECV)
		return ended(error_ptr, EPIPE, RDMACHAN_CAUSE_PEER_SHUTDOWN, missing(fd));
	return gone ? ended(error_ptr, ECONNRESET, RDMACHAN_CAUSE_PEER_KILLED, 0) : 1;
}

int fake_channel_finish(int fd, const struct rdmachan_finish_args *finish)
{
	bool dontwait = finish->flags & RDMACHAN_IO_F_DONTWAIT || fcntl(fd, F_GETFL) & O_NONBLOCK;
	uint32_t waited = 0;
	bool gone;
	int ret;

	fake_channel_shutdown(fd, RDMACHAN_SHUTDOWN_SEND);
	for (;;) {
		/* This first: a program that is gone has said all it had to say. */
		gone = is_gone(fd);
		ret = finished(fd, finish->error_ptr, gone);
		if (ret <= 0)
			return ret;
		if (dontwait || (finish->timeout_ms && waited >= finish->timeout_ms))
			break;
		if (poll(NULL, 0, LOOK_MS) < 0)
			return -1;
		waited += LOOK_MS;
	}
	errno = dontwait ? EAGAIN : ETIMEDOUT;
	return -1;
}
