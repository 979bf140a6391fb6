/* SPDX-License-Identifier: GPL-2.0 */
/*
 * uring.h - requests of io_uring on the two ends of a channel
 *
 * Each request has a tag, a small number, by which its result is asked for.
 */
#ifndef _SELFTESTS_URING_H
#define _SELFTESTS_URING_H

#include <liburing.h>

#include "common.h"
#include "harness.h"

#define ENTRIES 64
#define TAGS 128

/* More than enough, in milliseconds. */
#define LONG 50000

/* What no request gives. */
#define NOT_YET -10000

FIXTURE(uring)
{
	int ctx;
	int a;
	int b;
	struct io_uring ring;
};

/* The completions, by tag. */
static struct {
	bool there;
	int res;
	unsigned int flags;
} done[TAGS];

static inline void ring_open(struct io_uring *ring, unsigned int flags)
{
	int ret = io_uring_queue_init(ENTRIES, ring, flags);

	if (ret == -ENOSYS || ret == -EPERM)
		SKIP("this kernel has no io_uring, or does not let us");
	ASSERT_EQ(ret, 0);
}

FIXTURE_SETUP(uring)
{
	int fds[2];

	ring_open(&self->ring, 0);
	self->ctx = open_ctx();
	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
}

FIXTURE_TEARDOWN(uring)
{
	io_uring_queue_exit(&self->ring);
	close(self->a);
	close(self->b);
	close(self->ctx);
}

/* Requests: prepared, given a tag, and submitted together. */

static inline struct io_uring_sqe *entry(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	ASSERT_TRUE(sqe);
	return sqe;
}

static inline void tagged(struct io_uring_sqe *sqe, unsigned int tag, unsigned int flags)
{
	sqe->flags |= flags;
	io_uring_sqe_set_data64(sqe, tag);
	done[tag].there = false;
}

static inline void want_read(struct io_uring *ring, int fd, void *data, size_t len,
			     unsigned int tag, unsigned int flags)
{
	struct io_uring_sqe *sqe = entry(ring);

	io_uring_prep_read(sqe, fd, data, len, 0);
	tagged(sqe, tag, flags);
}

static inline void want_write(struct io_uring *ring, int fd, const void *data, size_t len,
			      unsigned int tag, unsigned int flags)
{
	struct io_uring_sqe *sqe = entry(ring);

	io_uring_prep_write(sqe, fd, data, len, 0);
	tagged(sqe, tag, flags);
}

static inline void want_cancel(struct io_uring *ring, unsigned int of, unsigned int tag)
{
	struct io_uring_sqe *sqe = entry(ring);

	io_uring_prep_cancel64(sqe, of, 0);
	tagged(sqe, tag, 0);
}

static inline void submit(struct io_uring *ring)
{
	ASSERT_GT(io_uring_submit(ring), 0);
}

/* Take one completion. Return: whether there was one in time */
static inline bool take(struct io_uring *ring, int64_t ms)
{
	struct __kernel_timespec ts = { ms / 1000, ms % 1000 * 1000000 };
	struct io_uring_cqe *cqe;

	if (io_uring_wait_cqe_timeout(ring, &cqe, &ts))
		return false;
	ASSERT_LT(cqe->user_data, TAGS);
	done[cqe->user_data].there = true;
	done[cqe->user_data].res = cqe->res;
	done[cqe->user_data].flags = cqe->flags;
	io_uring_cqe_seen(ring, cqe);
	return true;
}

/* What became of a request; NOT_YET when it is under way after that time. */
static inline int result(struct io_uring *ring, unsigned int tag, int timeout_ms)
{
	int64_t until = now_ms() + timeout_ms, left = timeout_ms;

	while (!done[tag].there && left >= 0) {
		take(ring, left);
		left = until - now_ms();
	}
	if (!done[tag].there)
		return NOT_YET;
	done[tag].there = false;
	return done[tag].res;
}

static inline bool is_worker(const char *task)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		*name = 0;
	fclose(file);
	return !strncmp(name, "iou-wrk", 7);
}

/* How many threads of the kernel's this program has for requests that block. */
static inline int workers(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int count = 0;

	while (tasks && (task = readdir(tasks)))
		count += *task->d_name != '.' && is_worker(task->d_name);
	if (tasks)
		closedir(tasks);
	return count;
}

static inline bool wait_workers(int count)
{
	int64_t until = now_ms() + LONG;

	while (workers() != count && now_ms() < until)
		sleep_ms(5);
	return workers() == count;
}

#endif /* _SELFTESTS_URING_H */
