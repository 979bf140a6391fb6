/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stream.h - large messages on a channel, one after the other, until they are to stop
 */
#ifndef _SELFTESTS_STREAM_H
#define _SELFTESTS_STREAM_H

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common.h"
#include "harness.h"

#define STREAM_MESSAGE 262144

/**
 * struct stream - a channel that messages are written to, and read from
 * @fds: its ends
 * @threads: write and read
 * @stop: no further message is to be written
 * @got: bytes that were read
 */
struct stream {
	int fds[2];
	pthread_t threads[2];
	bool stop;
	uint64_t got;
};

/* Nothing more is written to a channel, or a socket. */
static inline void stream_end_of(int fd)
{
	if (do_shutdown(fd, RDMACHAN_SHUTDOWN_SEND))
		shutdown(fd, SHUT_WR);
}

static inline void *stream_write(void *arg)
{
	struct stream *s = arg;
	char *data = calloc(1, STREAM_MESSAGE);

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE))
		if (write(s->fds[0], data, STREAM_MESSAGE) <= 0)
			break;
	stream_end_of(s->fds[0]);
	free(data);
	return NULL;
}

static inline void *stream_read(void *arg)
{
	struct stream *s = arg;
	char *data = malloc(STREAM_MESSAGE);
	ssize_t n;

	while ((n = read(s->fds[1], data, STREAM_MESSAGE)) > 0)
		__atomic_add_fetch(&s->got, n, __ATOMIC_RELAXED);
	free(data);
	return NULL;
}

static inline void stream_begin(struct stream *s, const int fds[2])
{
	*s = (struct stream){ .fds = { fds[0], fds[1] } };
	ASSERT_EQ(pthread_create(&s->threads[0], NULL, stream_write, s), 0);
	ASSERT_EQ(pthread_create(&s->threads[1], NULL, stream_read, s), 0);
}

static inline void stream_end(struct stream *s)
{
	int i;

	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(s->threads[i], NULL);
	for (i = 0; i < 2; i++)
		close(s->fds[i]);
}

static inline uint64_t stream_got(struct stream *s)
{
	return __atomic_load_n(&s->got, __ATOMIC_RELAXED);
}

#endif /* _SELFTESTS_STREAM_H */
