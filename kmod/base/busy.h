/* SPDX-License-Identifier: GPL-2.0 */
/*
 * busy.h - looking again and again for a while, instead of sleeping at once; and sleeping
 *
 * To be woken costs a switch of threads and, on a processor that sleeps, its wake-up. A waiter that
 * has a processor to spare looks for a while first (RDMACHAN_BUSY_POLL). It stops as soon as
 * anybody else wants the processor, so that it can hold up nobody, the softirq that brings what it
 * waits for included.
 */
#ifndef _RCH_BUSY_H
#define _RCH_BUSY_H

#include <linux/jiffies.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/wait.h>

/**
 * rch_busy_until - how long to look
 * @usecs: as the program has set it; 0: not at all
 * @left: jiffies that the call may still wait
 *
 * Return: for rch_busy(); 0: not at all
 */
static inline u64 rch_busy_until(u32 usecs, long left)
{
	if (!usecs)
		return 0;
	if (left < usecs_to_jiffies(usecs))
		usecs = jiffies_to_usecs(left);
	return local_clock() + (u64)usecs * NSEC_PER_USEC;
}

/** rch_busy - shall the caller, which may sleep, look once more? */
static inline bool rch_busy(u64 until)
{
	if (!until || need_resched() || !single_task_running() || signal_pending(current) ||
	    local_clock() >= until)
		return false;
	cpu_relax();
	return true;
}

/**
 * rch_sleep_until - wait_event_interruptible_timeout(), where a wake-up mostly means @condition
 * @wq: wait queue
 * @condition: that
 * @left: jiffies
 *
 * A waiter that is woken is in the wait queue no more, and looks before it goes there again: else,
 * most of the time, it would for nothing. Return: likewise.
 */
#define rch_sleep_until(wq, condition, left)					\
({										\
	long __left = (left);							\
	DEFINE_WAIT(__wait);							\
										\
	do {									\
		prepare_to_wait(&(wq), &__wait, TASK_INTERRUPTIBLE);		\
		if (condition) {						\
			__left = __left ?: 1;					\
			break;							\
		}								\
		__left = signal_pending(current) ? -ERESTARTSYS :		\
						   schedule_timeout(__left);	\
		if (__left >= 0 && (condition)) {				\
			__left = __left ?: 1;					\
			break;							\
		}								\
	} while (__left > 0);							\
	finish_wait(&(wq), &__wait);						\
	__left;									\
})

#endif /* _RCH_BUSY_H */
