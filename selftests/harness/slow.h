/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slow.h - memory whose pages come only when the test lets them
 */
#ifndef _SELFTESTS_SLOW_H
#define _SELFTESTS_SLOW_H

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"

/* As of a file system in user space, or on a slow disk, in the large. */
struct slow {
	char *memory;
	size_t len;
	int fd;
};

static inline bool slow_begin(struct slow *slow, size_t len)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	slow->len = len;
	slow->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (slow->fd < 0)
		return false;
	slow->memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	where.range.start = (uintptr_t)slow->memory;
	where.range.len = len;
	return !ioctl(slow->fd, UFFDIO_API, &api) && !ioctl(slow->fd, UFFDIO_REGISTER, &where);
}

/*
 * For a thread that will run into it: no signal comes to it. The kernel would not let a thread with
 * a signal sleep there, but have it ask for the memory again and again.
 */
static inline void slow_undisturbed(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* Wait until somebody has run into it. */
static inline void slow_met(const struct slow *slow)
{
	struct uffd_msg msg;

	ASSERT_EQ(read(slow->fd, &msg, sizeof(msg)), sizeof(msg));
	ASSERT_EQ(msg.event, UFFD_EVENT_PAGEFAULT);
}

static inline void slow_end(struct slow *slow)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)slow->memory, .len = slow->len },
	};

	ASSERT_EQ(ioctl(slow->fd, UFFDIO_ZEROPAGE, &zero), 0);
}

/* What is there by now is dropped: whoever wants it runs into it once more. */
static inline void slow_again(const struct slow *slow)
{
	ASSERT_EQ(madvise(slow->memory, slow->len, MADV_DONTNEED), 0);
}

#endif /* _SELFTESTS_SLOW_H */
