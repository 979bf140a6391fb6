/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile_grant.h - what lies about grants have in common, whichever side lends
 */
#ifndef RDMACHAN_HOSTILE_GRANT_H
#define RDMACHAN_HOSTILE_GRANT_H

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hostile_scene.h"

/* Bytes that are lent, or read. */
#define LENGTH 8192U
/* The number of no grant, and no key. */
#define NONE 0x12345678U

static inline void say_end(struct attack *a, u8 type, u32 id, u32 cause)
{
	const struct rch_record r = {
		.chan = a->victim_no,
		.type = type,
		.length = sizeof(struct rch_wire_grant_end),
	};
	static struct frame f;

	frame_begin(&f);
	rch_wire_grant_end_put(frame_add(&f, &r), id, cause);
	hostile_say(&a->h, &f);
}

/* struct ended_read - a thread of the module's program that reads until another ends the channel */
struct ended_read {
	pthread_t thread;
	pid_t tid;
	int chan;
	ssize_t got;
};

static inline void *ended_read_thread(void *arg)
{
	static char room[LENGTH];
	struct ended_read *r = arg;

	__atomic_store_n(&r->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	r->got = read(r->chan, room, sizeof(room));
	return NULL;
}

/* It waits when this returns. */
static inline void ended_read_begin(struct ended_read *r, int chan)
{
	*r = (struct ended_read){ .chan = chan };
	ASSERT_EQ(pthread_create(&r->thread, NULL, ended_read_thread, r), 0);
	await_sleep(&r->tid);
}

static inline ssize_t ended_read_end(struct ended_read *r)
{
	pthread_join(r->thread, NULL);
	return r->got;
}

static inline void *abort_now(void *arg)
{
	return (void *)(long)do_shutdown(*(int *)arg, RDMACHAN_SHUTDOWN_ABORT);
}

#endif /* RDMACHAN_HOSTILE_GRANT_H */
