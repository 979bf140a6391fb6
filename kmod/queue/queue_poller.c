// SPDX-License-Identifier: GPL-2.0
/*
 * queue_poller.c - a thread that looks at a queue's rings, so that its program need not call
 *
 * Operation. The thread takes entries and runs operations as a call of ENTER does, but for
 * what only a call can do: it neither waits for memory of the program to come nor makes
 * file descriptors. When there was nothing to do for a while it sleeps, and says so in the
 * submission ring. It stores that and then looks once more; the program stores its
 * producer index and then looks at that: one of them finds the other.
 *
 *   program                              poller
 *   STORE producer                       STORE flags, WAKEUP
 *   full barrier                 (A)     full barrier                 (B)
 *   LOAD flags: call if WAKEUP           LOAD producer: stay if it has moved
 *
 * Lifetime. The thread ends with the queue, before anything of it is given back. It has
 * the program's memory only while it looks, for some ticks at a time (RCH_QUEUE_HOLD). A thread
 * that never let go of it would keep the queue's mappings, and so the queue and itself, for
 * ever. It finds out that the program is gone when it wants the memory again.
 *
 * File descriptors are those of the program's first thread. The table is not held either,
 * for the same reason: it is found through the task each time. Where it is not there, as
 * that thread has ended before others, entries are prepared in a call.
 *
 * Accounting. The thread is in the control groups of the program, of any version, runs
 * where the program may, and as nice; memory is charged to the program's. How many there
 * may be is limited besides (quota.c). The freezer leaves it out, as it does all threads of the
 * kernel's, and does not tell that the group is frozen. A thread of the program's own would be
 * frozen with the others. But the kernel makes one for a module only since 6.4, and only where it
 * is built for vhost (vhost_task_create()). So the manual tells it: each program decides whether
 * it has a poller.
 *
 * Rights. The thread has all of them, so it does nothing that asks for any: an operation that does
 * is prepared or run in a call.
 */
#include <linux/cgroup.h>
#include <linux/fdtable.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "base/inject.h"
#include "queue/queue.h"

/* If the program does not say for how long to look in vain. */
#define IDLE_MS 10

/**
 * struct rch_poller - the thread of a queue
 * @queue: queue
 * @task: the thread; referenced
 * @program: the program's first thread; referenced
 * @memcg: whom memory is charged to; referenced, or NULL
 * @idle: for how long it looks before it sleeps, in jiffies
 * @kicked: it shall look; written by anybody
 * @gone: the program is; by the thread
 */
struct rch_poller {
	struct rch_queue *queue;
	struct task_struct *task;
	struct task_struct *program;
	struct mem_cgroup *memcg;
	unsigned long idle;
	bool kicked;
	bool gone;
};

/* Return: whether there was anything to do. */
static bool queue_poller_look_with_memory(struct rch_poller *poller)
{
	unsigned long until = jiffies + RCH_QUEUE_HOLD;
	struct mem_cgroup *charged = set_active_memcg(poller->memcg);
	bool any = false;

	pagefault_disable();
	do {
		if (rch_queue_idle(poller->queue)) {
			cpu_relax();
		} else {
			rch_queue_run(poller->queue);
			any = true;
		}
		cond_resched();
	} while (time_before(jiffies, until) && !kthread_should_stop());
	pagefault_enable();
	set_active_memcg(charged);
	return any;
}

static bool queue_poller_look(struct rch_poller *poller)
{
	struct mm_struct *mm = poller->queue->mm;
	bool any;

	if (!mmget_not_zero(mm)) {
		poller->gone = true;
		rch_queue_abandon(poller->queue);
		return false;
	}
	kthread_use_mm(mm);
	any = queue_poller_look_with_memory(poller);
	kthread_unuse_mm(mm);
	/* The last use of it may wait for files of the program, and close() for this thread. */
	mmput_async(mm);
	return any;
}

static void queue_poller_tell(struct rch_poller *poller, u32 flags)
{
	WRITE_ONCE(*rch_mapped(&poller->queue->sq, RCH_RING_FLAGS), flags);
}

/* Sleep until there is something to do. */
static void queue_poller_nap(struct rch_poller *poller)
{
	queue_poller_tell(poller, RDMACHAN_RING_F_WAKEUP);
	set_current_state(TASK_IDLE); /* B, matches A in the program */
	if (!READ_ONCE(poller->kicked) && !kthread_should_stop() &&
	    (poller->gone || rch_queue_idle(poller->queue)))
		schedule();
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(poller->kicked, false);
	queue_poller_tell(poller, 0);
}

static int queue_poller_main(void *data)
{
	struct rch_poller *poller = data;
	unsigned long since = jiffies;

	while (!kthread_should_stop()) {
		if (queue_poller_look(poller)) {
			since = jiffies;
		} else if (poller->gone || time_after_eq(jiffies, since + poller->idle)) {
			queue_poller_nap(poller);
			since = jiffies;
		}
	}
	return 0;
}

/** rch_poller_wake - there is something to do. Any context */
void rch_poller_wake(struct rch_poller *poller)
{
	WRITE_ONCE(poller->kicked, true);
	wake_up_process(poller->task);
}

/**
 * rch_poller_fget - find a file of the program, whose thread this is not
 * @poller: poller
 * @fd: file descriptor
 *
 * Return: the file, referenced; NULL when there is none; or ERR_PTR(-EAGAIN): only the
 * program can tell.
 */
struct file *rch_poller_fget(struct rch_poller *poller, unsigned int fd)
{
	struct task_struct *program = poller->program;
	struct file *file = ERR_PTR(-EAGAIN);
	struct files_struct *files;

	/* While it is locked it keeps its memory and its files. */
	task_lock(program);
	files = program->mm == poller->queue->mm ? program->files : NULL;
	if (files) {
		spin_lock(&files->file_lock);
		file = files_lookup_fd_locked(files, fd);
		if (file)
			get_file(file);
		spin_unlock(&files->file_lock);
	}
	task_unlock(program);
	return file;
}

static void queue_poller_free(struct rch_poller *poller)
{
	put_task_struct(poller->program);
	mem_cgroup_put(poller->memcg);
	kfree(poller);
}

/* The thread does not run yet. */
static int queue_poller_join_program(struct task_struct *task)
{
	int ret = cgroup_attach_task_all(current, task);

	if (ret)
		return ret;
	set_user_nice(task, task_nice(current));
	return set_cpus_allowed_ptr(task, current->cpus_ptr);
}

/**
 * rch_poller_create - start a thread for a queue of the calling program
 * @queue: queue, complete but for this
 * @idle_ms: for how long it looks before it sleeps; 0 is the default
 *
 * Return: the poller, or an ERR_PTR(): -ENOMEM, or what control groups say.
 */
struct rch_poller *rch_poller_create(struct rch_queue *queue, u32 idle_ms)
{
	struct rch_poller *poller;
	int ret;

	poller = rch_try(RCH_SITE_QUEUE, kzalloc(sizeof(*poller), GFP_KERNEL_ACCOUNT));
	if (!poller)
		return ERR_PTR(-ENOMEM);
	poller->queue = queue;
	poller->idle = msecs_to_jiffies(idle_ms ?: IDLE_MS);
	poller->program = get_task_struct(current->group_leader);
	poller->memcg = get_mem_cgroup_from_mm(current->mm);
	poller->task = kthread_create(queue_poller_main, poller, "rdmachan/%d", current->tgid);
	if (IS_ERR(poller->task)) {
		ret = PTR_ERR(poller->task);
		goto err_poller;
	}
	ret = queue_poller_join_program(poller->task);
	if (ret)
		goto err_task;
	get_task_struct(poller->task);
	wake_up_process(poller->task);
	return poller;

err_task:
	/* One that never ran ends without running. */
	kthread_stop(poller->task);
err_poller:
	queue_poller_free(poller);
	return ERR_PTR(ret);
}

/** rch_poller_destroy - the queue ends, and nobody kicks any more. Waits for the thread */
void rch_poller_destroy(struct rch_poller *poller)
{
	kthread_stop(poller->task);
	put_task_struct(poller->task);
	queue_poller_free(poller);
}
