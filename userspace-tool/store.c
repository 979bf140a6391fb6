// SPDX-License-Identifier: MIT
/*
 * store.c - a file that appears in a directory whole or not at all
 *
 * It is written under a temporary name, which begins with a dot and which hence no
 * sender can name, and gets its name when everything is on the disk.
 *
 * Its owner has it locked as long as it has the temporary name. One that nobody has locked was
 * left by a receiver that was killed, and the next one in that directory takes it away. The maker
 * of one has the directory locked, shared, until the file is; a process that looks for those that
 * were left has it alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store.h"
#include "text.h"
#include "tool.h"

#define STORE_TRIES	16
#define STORE_PREFIX	".rdmachan-"
#define STORE_DIGITS	16
/* Milliseconds to wait for the directory: others may have locked it for good. */
#define STORE_WAIT_MS	500

static struct filemsg_result result_of(int error)
{
	struct filemsg_result result = { .verdict = FILEMSG_IO_ERROR, .error = error };

	if (error == EEXIST)
		result.verdict = FILEMSG_EXISTS;
	else if (error == ENOSPC || error == EDQUOT)
		result.verdict = FILEMSG_NO_SPACE;
	return result;
}

static struct filemsg_result result_good(enum filemsg_verdict verdict)
{
	const struct filemsg_result result = { .verdict = verdict };

	return result;
}

static void lock_directory(int dir, int operation)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < STORE_WAIT_MS; i++) {
		if (!flock(dir, operation | LOCK_NB) || errno != EWOULDBLOCK)
			return;
		nanosleep(&pause, NULL);
	}
}

/*
 * Whether the new file is ours. If the directory could not be locked store_clean() may have found
 * it before: then it is locked by that, or gone. A file system without locks has no store_clean().
 */
static bool lock(const struct store *store)
{
	struct stat stat;

	if (flock(store->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return false;
	return !fstat(store->fd, &stat) && stat.st_nlink;
}

static int open_temporary(struct store *store)
{
	uint64_t random;
	int i;

	for (i = 0; i < STORE_TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(store->temporary, sizeof(store->temporary), STORE_PREFIX "%0*llx",
			 STORE_DIGITS, (unsigned long long)random);
		store->fd = openat(store->dir, store->temporary,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (store->fd < 0 && errno == EEXIST)
			continue;
		if (store->fd < 0 || lock(store))
			break;
		close(store->fd);
		store->fd = -1;
		errno = EBUSY;
	}
	return store->fd < 0 ? -1 : 0;
}

struct filemsg_result store_begin(struct store *store, int dir, const char *name, bool replace)
{
	struct stat stat;
	int error;

	store->dir = dir;
	store->fd = -1;
	/* Only to refuse early; store_finish() makes sure. */
	if (!replace && !fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW))
		return result_of(EEXIST);
	lock_directory(dir, LOCK_SH);
	error = open_temporary(store) < 0 ? errno : 0;
	flock(dir, LOCK_UN);
	return error ? result_of(error) : result_good(FILEMSG_READY);
}

struct filemsg_result store_write(struct store *store, const void *data, size_t length)
{
	const char *bytes = data;
	ssize_t count;

	while (length) {
		count = write(store->fd, bytes, length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return result_of(errno);
		bytes += count;
		length -= count;
	}
	return result_good(FILEMSG_READY);
}

static int publish(struct store *store, const char *name, bool replace)
{
	if (replace)
		return renameat(store->dir, store->temporary, store->dir, name);
	if (!renameat2(store->dir, store->temporary, store->dir, name, RENAME_NOREPLACE))
		return 0;
	/* Not every file system has that flag; a link never replaces either. */
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (linkat(store->dir, store->temporary, store->dir, name, 0) < 0)
		return -1;
	unlinkat(store->dir, store->temporary, 0);
	return 0;
}

/* Some file systems tell only then what they could not write. The lock stays. */
static int close_copy(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -1 : close(copy);
}

struct filemsg_result store_finish(struct store *store, const char *name, unsigned int mode,
				   bool replace)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(store->fd, mode & 0777 & ~mask) < 0 || fsync(store->fd) < 0 ||
	    close_copy(store->fd) < 0)
		return result_of(errno);
	if (publish(store, name, replace) < 0)
		return result_of(errno);
	close(store->fd);
	store->fd = -1;
	return result_good(FILEMSG_STORED);
}

void store_abort(struct store *store)
{
	if (store->fd < 0)
		return;
	unlinkat(store->dir, store->temporary, 0);
	close(store->fd);
	store->fd = -1;
}

static bool is_temporary(const char *name)
{
	size_t prefix = sizeof(STORE_PREFIX) - 1;

	return !strncmp(name, STORE_PREFIX, prefix) &&
	       strspn(name + prefix, "0123456789abcdef") == STORE_DIGITS &&
	       !name[prefix + STORE_DIGITS];
}

/* The name is still that of the file that is locked: its owner has not given it another one. */
static bool still_named(int dir, const char *name, int fd)
{
	struct stat here, there;

	return !fstat(fd, &here) && !fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static void clean_one(int dir, const char *name)
{
	struct stat stat;
	int fd;

	if (fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(stat.st_mode) ||
	    stat.st_uid != geteuid())
		return;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return;
	if (fd < 0) {
		fail_errno("cannot see whether %s is left by a receiver that was killed", name);
		return;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			fail_errno("cannot see whether %s is left by a receiver that was killed",
				   name);
	} else if (still_named(dir, name, fd)) {
		if (unlinkat(dir, name, 0) < 0)
			fail_errno("cannot remove %s, left by a receiver that was killed", name);
		else
			text_print(stderr, "rdmachan: removed %s, left by a receiver that was killed\n",
				   name);
	}
	close(fd);
}

void store_clean(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!list) {
		fail_errno("cannot look for what receivers have left that were killed");
		if (copy >= 0)
			close(copy);
		return;
	}
	lock_directory(dir, LOCK_EX);
	while ((entry = readdir(list))) {
		if (is_temporary(entry->d_name))
			clean_one(dir, entry->d_name);
	}
	flock(dir, LOCK_UN);
	closedir(list);
}
