/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reader.h - a thread that reads one message, for tests that send to it
 */
#ifndef _SELFTESTS_READER_H
#define _SELFTESTS_READER_H

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

/**
 * struct reader - a thread that reads
 * @thread: the thread
 * @tid: its number for the kernel
 * @chan: channel
 * @data: where to
 * @room: bytes there
 * @got: the result of read()
 * @error: errno then
 */
struct reader {
	pthread_t thread;
	pid_t tid;
	int chan;
	char *data;
	size_t room;
	ssize_t got;
	int error;
};

static inline void *reader_run(void *arg)
{
	struct reader *r = arg;

	__atomic_store_n(&r->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	r->got = read(r->chan, r->data, r->room);
	r->error = errno;
	return NULL;
}

/* Begin to read, and wait until the thread sleeps. */
static inline void reader_begin(struct reader *r, int chan, char *data, size_t room)
{
	*r = (struct reader){ .chan = chan, .data = data, .room = room };
	pthread_create(&r->thread, NULL, reader_run, r);
	await_sleep(&r->tid);
}

/* Return: the result of read(); errno is as it was then. */
static inline ssize_t reader_end(struct reader *r)
{
	pthread_join(r->thread, NULL);
	errno = r->error;
	return r->got;
}

#endif /* _SELFTESTS_READER_H */
