/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault.h - have the kernel fail on purpose, by CONFIG_FAULT_INJECTION
 *
 * For programs of tests that run one after the other: the switches are the kernel's.
 */
#ifndef RDMACHAN_TEST_FAULT_H
#define RDMACHAN_TEST_FAULT_H

#include <fcntl.h>
#include <sys/stat.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define FAULT_DIR "/sys/kernel/debug/"
#define PARAMETERS "/sys/module/rdmachan/parameters/"

/* Return: whether it could be written. */
static inline bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Set a switch of a kind of faults. */
static inline void fault_set(const char *kind, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), FAULT_DIR "%s/%s", kind, name);
	ASSERT_TRUE(put(path, value));
}

/* No fault without being asked for; those of a task may hit any allocation or copy. */
static inline void fault_calm(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	int i;

	for (i = 0; i < 3; i++) {
		fault_set(kinds[i], "probability", "0");
		fault_set(kinds[i], "times", "-1");
		fault_set(kinds[i], "verbose", "0");
	}
	fault_set("failslab", "cache-filter", "N");
	fault_set("failslab", "ignore-gfp-wait", "N");
	fault_set("fail_page_alloc", "ignore-gfp-wait", "N");
	fault_set("fail_page_alloc", "ignore-gfp-highmem", "N");
	fault_set("fail_page_alloc", "min-order", "0");
}

static inline void fault_begin(void)
{
	if (access("/proc/self/fail-nth", W_OK) ||
	    access(FAULT_DIR "failslab/probability", W_OK) ||
	    access(FAULT_DIR "fail_page_alloc/probability", W_OK) ||
	    access(FAULT_DIR "fail_usercopy/probability", W_OK))
		SKIP("this kernel injects no faults");
	fault_calm();
	/* What failed for want of memory is tried again four times in this time. */
	put(PARAMETERS "dead_ms", "2000");
	put(PARAMETERS "idle_ms", "1000");
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
}

static inline void fault_end(void)
{
	fault_calm();
	chmod(DEVICE, 0600);
	put(PARAMETERS "dead_ms", "5000");
	put(PARAMETERS "idle_ms", "30000");
}

/* Where the module's code is. Return: false when the kernel does not tell. */
static inline bool module_text(unsigned long *start, unsigned long *end)
{
	char line[256], name[64];
	FILE *modules = fopen("/proc/modules", "r");
	bool found = false;

	while (modules && !found && fgets(line, sizeof(line), modules))
		found = sscanf(line, "%63s %lu %*s %*s %*s %lx", name, end, start) == 3 &&
			!strcmp(name, "rdmachan") && *start;
	if (modules)
		fclose(modules);
	*end += *start;
	return found;
}

/*
 * Have only what the module itself asks for fail, or not any more so. Return: false
 * when this kernel cannot.
 */
static inline bool fault_within_module(bool only)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc" };
	unsigned long start, end;
	char text[32];
	int i;

	if (access(FAULT_DIR "failslab/require-start", W_OK) || !module_text(&start, &end))
		return false;
	for (i = 0; i < 2; i++) {
		/* The allocator's own functions, and no more than one of another layer. */
		fault_set(kinds[i], "stacktrace-depth", only ? "8" : "32");
		snprintf(text, sizeof(text), "0x%lx", only ? start : 0);
		fault_set(kinds[i], "require-start", text);
		snprintf(text, sizeof(text), "0x%lx", only ? end : ~0UL);
		fault_set(kinds[i], "require-end", text);
	}
	return true;
}

/* A context of another user, with links of his own. */
static inline int fault_ctx_of(int user)
{
	int ctx;

	ASSERT_EQ(seteuid(user), 0);
	ctx = open(DEVICE, O_RDWR | O_CLOEXEC);
	ASSERT_EQ(seteuid(0), 0);
	ASSERT_GE(ctx, 0);
	return ctx;
}

/* The same on the other host. */
static inline int fault_peer_of(int user)
{
	int here = enter_peer(), ctx = fault_ctx_of(user);

	leave_peer(here);
	return ctx;
}

/* A channel both ends of which are that user's. Return: the context of the first end */
static inline int fault_pair_of(int user, int fds[2])
{
	int ctx;

	ASSERT_EQ(seteuid(user), 0);
	ctx = open_ctx();
	pair_up(ctx, fds, NULL);
	ASSERT_EQ(seteuid(0), 0);
	return ctx;
}

/* The file that says which of the next faults of a task happens; 0 is this one. */
static inline int fault_nth_of(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid ? pid : getpid());
	return open(path, O_RDWR | O_CLOEXEC);
}

static inline bool fault_arm(int nth, unsigned int point)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", point);

	return pwrite(nth, text, len, 0) == len;
}

/* Asking and disarming can be what fails. Return: whether the fault had come before. */
static inline bool fault_disarm(int nth)
{
	char text[16] = "";
	bool fired = pread(nth, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	return (fault_arm(nth, 0) || fault_arm(nth, 0)) && fired;
}

#endif /* RDMACHAN_TEST_FAULT_H */
