/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inject.h - have the module itself fail on purpose, by its files in debugfs
 *
 * For programs of tests that run one after the other: the switches are the module's.
 */
#ifndef RDMACHAN_TEST_INJECT_H
#define RDMACHAN_TEST_INJECT_H

#include <stdarg.h>
#include <sys/vfs.h>

#include "common.h"
#include "fault.h"
#include "harness.h"

#define INJECT "/sys/kernel/debug/rdmachan/inject/"
#define DEBUGFS 0x64626720

static const char *const inject_faults[] = {
	"drop", "duplicate", "corrupt", "delay", "reorder", "kill", "address", "fatal", "withhold",
	"forget", "bounce", "slow", "wrap", "foreign", "nomem",
};

#define INJECT_FAULTS (sizeof(inject_faults) / sizeof(*inject_faults))

static inline int inject_open(const char *name, int flags)
{
	char path[80];

	snprintf(path, sizeof(path), INJECT "%s", name);
	return open(path, flags | O_CLOEXEC);
}

static inline bool inject_write(const char *fault, const char *text)
{
	int fd = inject_open(fault, O_WRONLY);
	ssize_t len = strlen(text), done = fd < 0 ? -1 : write(fd, text, len);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return done == len;
}

/* Turn a fault on, with these words. */
static inline __attribute__((format(printf, 2, 3)))
void inject(const char *fault, const char *format, ...)
{
	char text[128];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	ASSERT_TRUE(inject_write(fault, text));
}

static inline void inject_off(const char *fault)
{
	ASSERT_TRUE(inject_write(fault, "off"));
}

static inline void inject_all_off(void)
{
	size_t i;

	for (i = 0; i < INJECT_FAULTS; i++)
		inject_off(inject_faults[i]);
}

static inline void inject_read(const char *name, char *text, size_t room)
{
	int fd = inject_open(name, O_RDONLY);
	ssize_t len;

	ASSERT_GE(fd, 0);
	len = read(fd, text, room - 1);
	ASSERT_GE(len, 0);
	text[len] = '\0';
	close(fd);
}

/* How often a fault has happened since it was turned on. */
static inline unsigned long inject_done(const char *fault)
{
	char text[256], *done;

	inject_read(fault, text, sizeof(text));
	done = strstr(text, "done=");
	ASSERT_TRUE(done);
	return strtoul(done + 5, NULL, 10);
}

/* How often it might have happened: with skip, the count. */
static inline unsigned long inject_seen(const char *fault)
{
	char text[256], *seen;

	inject_read(fault, text, sizeof(text));
	seen = strstr(text, "seen=");
	ASSERT_TRUE(seen);
	return strtoul(seen + 5, NULL, 10);
}

static inline bool inject_wait(const char *fault, unsigned long times, int timeout_ms)
{
	int64_t until = now_ms() + timeout_ms;

	while (inject_done(fault) < times) {
		if (now_ms() > until)
			return false;
		sleep_ms(2);
	}
	return true;
}

/* Skips where there is no debugfs; where there is one, the files must be there. */
static inline void inject_begin(void)
{
	struct statfs fs;

	if (statfs("/sys/kernel/debug", &fs) || fs.f_type != DEBUGFS)
		SKIP("there is no debugfs");
	inject_all_off();
	put(PARAMETERS "dead_ms", "2000");
	put(PARAMETERS "idle_ms", "200");
	put(PARAMETERS "depth", "16");
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
}

static inline bool inject_forgotten(int ctx, struct rdmachan_info *info)
{
	ASSERT_EQ(get_info(ctx, info), 0);
	return info->out_contexts == 1 && !info->out_listeners && !info->out_channels &&
	       !info->out_links && !info->out_frames && !info->out_segments;
}

/* All files but a context are closed: the module forgets everything, idle links too. */
static inline void inject_expect_forgotten(int ctx)
{
	struct rdmachan_info info;
	int64_t until = now_ms() + 15000;

	while (!inject_forgotten(ctx, &info) && now_ms() < until)
		sleep_ms(10);
	if (inject_forgotten(ctx, &info))
		return;
	printf("# left: %u contexts, %u listeners, %u channels, %u links, %u frames, %u segments\n",
	       info.out_contexts, info.out_listeners, info.out_channels, info.out_links,
	       info.out_frames, info.out_segments);
	harness_failures++;
}

/* Closes @ctx, the last file of a test. */
static inline void inject_end(int ctx)
{
	inject_all_off();
	inject_expect_forgotten(ctx);
	close(ctx);
	chmod(DEVICE, 0600);
	put(PARAMETERS "dead_ms", "5000");
	put(PARAMETERS "idle_ms", "30000");
	put(PARAMETERS "depth", "32");
	put(PARAMETERS "place", "0");
}

#endif /* RDMACHAN_TEST_INJECT_H */
