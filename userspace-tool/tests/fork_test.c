// SPDX-License-Identifier: MIT
/*
 * fork_test.c - a queue in children of its program, with the fake device
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "fork_calls.h"
#include "preload.h"
#include "tap.h"

#define PAGE	4096UL
#define STACK	65536

static int ctx;
static struct rdmachan_queue *queue;
static struct rdmachan_pool *pool;
static struct rdmachan_sqe *sqe;

/* The child has ended by itself, and all was well. */
static bool well(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFSIGNALED(status))
		printf("# signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool nop_done(struct rdmachan_queue *one)
{
	struct rdmachan_sqe *entry = rdmachan_queue_get_sqe(one);
	struct rdmachan_cqe *cqe;

	if (!entry)
		return false;
	rdmachan_queue_prep_nop(entry);
	entry->user_data = 7;
	if (rdmachan_queue_submit(one, NULL) < 1 || rdmachan_queue_wait_cqe(one, &cqe, 1, NULL))
		return false;
	while (cqe->user_data != 7) {
		rdmachan_queue_cqe_seen(one);
		if (rdmachan_queue_wait_cqe(one, &cqe, 1, NULL))
			return false;
	}
	rdmachan_queue_cqe_seen(one);
	return true;
}

static void test_each(void)
{
	unsigned int i;
	pid_t child;

	for (i = 0; i < FORK_CALLS; i++) {
		child = fork();
		if (!child)
			_exit(!fork_call_refused(&fork_calls[i], queue, pool));
		ok(well(child), "rdmachan_%s() in a forked child: EPERM", fork_calls[i].name);
	}
}

/* All of them, after a queue of its own was made, and in its own child. */
static int child_of_child(void)
{
	struct rdmachan_queue *own = rdmachan_queue_open(rdmachan_open(NULL), 4, 4, NULL);
	unsigned int i;
	pid_t child;

	if (!own || !nop_done(own))
		return 1;
	for (i = 0; i < FORK_CALLS; i++) {
		if (!fork_call_refused(&fork_calls[i], queue, pool))
			return 2;
	}
	child = fork();
	if (!child) {
		errno = 0;
		_exit(rdmachan_queue_submit(own, NULL) != -1 || errno != EPERM);
	}
	return well(child) && nop_done(own) ? 0 : 3;
}

/* What a child has mapped where a ring of its parent's is stays, when it closes the queue. */
static int close_in_child(void)
{
	char *place = (char *)((uintptr_t)sqe & ~(PAGE - 1));
	int fd = rdmachan_queue_fd(queue);

	if (mmap(place, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != place)
		return 1;
	*place = 1;
	rdmachan_queue_close(queue);
	if (fcntl(fd, F_GETFD) != -1)
		return 2;
	if (rdmachan_pool_add(pool, fork_buffer, 1, 0) != -1 || errno != EBADF)
		return 3;
	rdmachan_pool_close(pool);
	return *place != 1;
}

static int use_it(void *unused)
{
	(void)unused;
	return !(nop_done(queue) && rdmachan_pool_add(pool, fork_buffer, 1, 1) == 0 &&
		 rdmachan_pool_left(pool) == 2);
}

static void test_children(void)
{
	static char stack[STACK];
	pid_t child = fork();

	if (!child)
		_exit(child_of_child());
	ok(well(child), "a child's own queue is its own, and no more than that");
	child = fork();
	if (!child)
		_exit(close_in_child());
	ok(well(child), "a child that closes the queue unmaps nothing of its own");
	child = clone(use_it, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	ok(well(child), "a child with the same memory, as of vfork(), may use it");
	ok(nop_done(queue) && rdmachan_pool_left(pool) == 2, "and so may the program, afterwards");
}

static void test_telling(void)
{
	errno = 0;
	while (rdmachan_queue_get_sqe(queue))
		;
	ok(errno == ENOBUFS, "a full ring is told by ENOBUFS");
	errno = 0;
	ok(!rdmachan_queue_sq_space(queue) && !errno, "and no space is no error");
}

int main(int argc, char **argv)
{
	(void)argc;
	fake_preload(argv);
	ctx = rdmachan_open(NULL);
	queue = rdmachan_queue_open(ctx, 4, 8, NULL);
	pool = queue ? rdmachan_pool_open(queue, 4, NULL) : NULL;
	sqe = queue ? rdmachan_queue_get_sqe(queue) : NULL;
	ok(pool && sqe && !rdmachan_pool_add(pool, fork_buffer, 1, 0) && nop_done(queue),
	   "a queue, and a pool");
	if (pool && sqe) {
		test_each();
		test_children();
		test_telling();
	}
	return tap_end();
}
