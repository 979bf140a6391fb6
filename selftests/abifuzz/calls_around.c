// SPDX-License-Identifier: GPL-2.0
/*
 * calls_around.c - what a hostile program does around its calls: memory, signals,
 * children, files that travel
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "common.h"
#include "abi_fuzz.h"

/* A message with a file, to whoever takes it: maybe another process. */
struct parcel {
	struct msghdr msg;
	struct iovec iov;
	char byte;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static void parcel_init(struct parcel *p)
{
	memset(p, 0, sizeof(*p));
	p->iov.iov_base = &p->byte;
	p->iov.iov_len = 1;
	p->msg.msg_iov = &p->iov;
	p->msg.msg_iovlen = 1;
	p->msg.msg_control = p->control.bytes;
	p->msg.msg_controllen = sizeof(p->control.bytes);
}

long call_pass(struct actor *actor, const struct call *call)
{
	struct cmsghdr *cmsg;
	struct parcel p;
	int fd = fd_of(call->slot);

	(void)actor;
	parcel_init(&p);
	cmsg = CMSG_FIRSTHDR(&p.msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(engine_options()->exchange[0], &p.msg, MSG_DONTWAIT);
}

long call_take(struct actor *actor, const struct call *call)
{
	struct cmsghdr *cmsg;
	struct parcel p;
	int fd;

	(void)actor;
	parcel_init(&p);
	if (recvmsg(engine_options()->exchange[1], &p.msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -1;
	cmsg = CMSG_FIRSTHDR(&p.msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd_put(call->to, fd);
}

long call_unmap(struct actor *actor, const struct call *call)
{
	(void)actor;
	return memory_unmap(call->value[0], 1 + call->value[1]);
}

long call_map(struct actor *actor, const struct call *call)
{
	(void)actor;
	return memory_map(call->value[0], 1 + call->value[1]);
}

long call_protect(struct actor *actor, const struct call *call)
{
	(void)actor;
	return memory_protect(call->value[0], 1 + call->value[1], call->value[2]);
}

long call_forget(struct actor *actor, const struct call *call)
{
	(void)actor;
	return memory_forget(call->value[0], 1 + call->value[1]);
}

long call_beyond(struct actor *actor, const struct call *call)
{
	(void)actor;
	return memory_beyond(call->value[0], 1 + call->value[1]);
}

long call_fork(struct actor *actor, const struct call *call)
{
	return engine_fork(actor, call, call->value[0] % 4, call->value[1] & 1);
}

long call_signal(struct actor *actor, const struct call *call)
{
	(void)actor;
	engine_poke(call->value[0], call->value[1] & 1 ? SIGUSR2 : SIGUSR1);
	return 0;
}

long call_timer(struct actor *actor, const struct call *call)
{
	struct itimerval timer = { .it_value.tv_usec = 200 + 200 * (call->value[0] % 32) };

	(void)actor;
	return setitimer(ITIMER_REAL, &timer, NULL);
}

long call_sleep(struct actor *actor, const struct call *call)
{
	struct timespec ts = { 0, 300000L + 300000L * (call->value[0] % 16) };

	(void)actor;
	return nanosleep(&ts, NULL);
}

/* Of this thread alone. It stays root, and may become so again. */
long call_user(struct actor *actor, const struct call *call)
{
	static const int users[] = { 1000, 1001, 0 };

	(void)actor;
	return syscall(SYS_setresuid, -1, users[call->value[0] % 3], -1);
}

/* Files that the process may still open. */
long call_limit(struct actor *actor, const struct call *call)
{
	struct rlimit limit = { 3 + call->value[0] % 16, 1024 };

	(void)actor;
	return setrlimit(RLIMIT_NOFILE, &limit);
}
