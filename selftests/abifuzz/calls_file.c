// SPDX-License-Identifier: GPL-2.0
/*
 * calls_file.c - what can be done with any file
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "abi_fuzz.h"

long call_open(struct actor *actor, const struct call *call)
{
	static const int flags[] = {
		O_RDWR, O_RDWR | O_NONBLOCK, O_RDONLY, O_WRONLY, O_PATH, O_RDWR | O_CLOEXEC,
	};

	(void)actor;
	return fd_open(call->to, DEVICE, flags[call->value[0] % 6]);
}

long call_close(struct actor *actor, const struct call *call)
{
	(void)actor;
	return fd_close(call->slot);
}

long call_dup(struct actor *actor, const struct call *call)
{
	int fd = fd_of(call->slot), to = fd_of(call->to);

	(void)actor;
	/* In place of another file, which is closed by that. */
	if (call->value[0] % 4 == 3)
		return dup3(fd, to, O_CLOEXEC);
	return fd_put(call->to, dup(fd));
}

/* Files of other kinds. */
long call_other(struct actor *actor, const struct call *call)
{
	int fds[2] = { -1, -1 };

	(void)actor;
	switch (call->value[0] % 4) {
	case 0:
		return fd_put(call->to, open("/dev/null", O_RDWR | O_CLOEXEC));
	case 1:
		if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
			return -1;
		break;
	case 2:
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds))
			return -1;
		break;
	case 3:
		return fd_put(call->to, epoll_create1(EPOLL_CLOEXEC));
	}
	fd_put(call->to + 1, fds[1]);
	return fd_put(call->to, fds[0]);
}

long call_read(struct actor *actor, const struct call *call)
{
	unsigned int length = call->value[0] ? length_of(call->value[0]) : 1 << 20;

	(void)actor;
	return read(fd_of(call->slot), memory_of(call->value[1]), length);
}

long call_write(struct actor *actor, const struct call *call)
{
	(void)actor;
	return write(fd_of(call->slot), memory_of(call->value[1]), length_of(call->value[0]));
}

long call_readv(struct actor *actor, const struct call *call)
{
	int count = make_vector(actor, call->value[1], length_of(call->value[0]));

	if (call->value[2] % 4 == 3)
		return preadv2(fd_of(call->slot), actor->iov, count, -1, RWF_NOWAIT);
	return readv(fd_of(call->slot), actor->iov, count);
}

long call_writev(struct actor *actor, const struct call *call)
{
	int fd = fd_of(call->slot);
	int count = make_vector(actor, call->value[1], length_of(call->value[0]));

	if (call->value[2] % 4 == 3)
		return pwritev2(fd, actor->iov, count, -1, RWF_NOWAIT);
	return writev(fd, actor->iov, count);
}

long call_poll(struct actor *actor, const struct call *call)
{
	static const short events[] = { POLLIN, POLLOUT, POLLIN | POLLOUT, 0, -1, POLLRDHUP };
	struct pollfd pfds[2] = {
		{ fd_of(call->slot), events[call->value[0] % 6], 0 },
		{ fd_of(call->to), events[call->value[0] / 16 % 6], 0 },
	};

	(void)actor;
	return poll(pfds, call->to ? 2 : 1, timeout_of(call->value[1]) % 1000);
}

/* Watched by another file, which outlives calls, and maybe the file. */
long call_epoll(struct actor *actor, const struct call *call)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT };

	(void)actor;
	switch (call->value[0] % 4) {
	case 1:
		event.events |= EPOLLET;
		break;
	case 2:
		event.events = EPOLLIN | EPOLLONESHOT;
		break;
	case 3:
		return epoll_wait(fd_of(call->to), &event, 1, call->value[1] % 8);
	}
	return epoll_ctl(fd_of(call->to), EPOLL_CTL_ADD, fd_of(call->slot), &event);
}

long call_fionread(struct actor *actor, const struct call *call)
{
	return ioctl(fd_of(call->slot), FIONREAD,
		     memory_args(actor, call->value[0], sizeof(int)));
}

long call_nonblock(struct actor *actor, const struct call *call)
{
	static const int flags[] = { O_NONBLOCK, 0, O_NONBLOCK | O_ASYNC, O_DIRECT, O_APPEND };

	(void)actor;
	return fcntl(fd_of(call->slot), F_SETFL, flags[call->value[0] % 5]);
}

/* Calls that make no sense here. */
long call_misc(struct actor *actor, const struct call *call)
{
	int fd = fd_of(call->slot), to = fd_of(call->to);
	struct stat st;
	int one = 1;
	void *map;

	(void)actor;
	switch (call->value[0] % 12) {
	case 0:
		return lseek(fd, 0, SEEK_END);
	case 1:
		map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		return map == MAP_FAILED ? -1 : munmap(map, 4096);
	case 2:
		return fsync(fd);
	case 3:
		return ftruncate(fd, 0);
	case 4:
		return ioctl(fd, FIONBIO, &one);
	case 5:
		return ioctl(fd, FIOASYNC, &one);
	case 6:
		return flock(fd, LOCK_EX | LOCK_NB);
	case 7:
		return fstat(fd, &st);
	case 8:
		return splice(fd, NULL, to, NULL, 4096, SPLICE_F_NONBLOCK);
	case 9:
		return sendfile(fd, to, NULL, 4096);
	case 10:
		return pread(fd, memory_of(MEMORY_SINK), 100, 0);
	default:
		return fcntl(fd, F_SETOWN, getpid());
	}
}
