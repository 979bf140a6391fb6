// SPDX-License-Identifier: MIT
/*
 * store.c - a file that appears in a directory whole or not at all
 *
 * It is written under a temporary name, which begins with a dot and which hence no
 * sender can name, and gets its name when everything is on the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store.h"

#define STORE_TRIES	16

static enum filemsg_verdict verdict_of(int error)
{
	switch (error) {
	case EEXIST:
		return FILEMSG_EXISTS;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return FILEMSG_NO_SPACE;
	}
	return FILEMSG_IO_ERROR;
}

static int open_temporary(struct store *store)
{
	uint64_t random;
	int i;

	for (i = 0; i < STORE_TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(store->temporary, sizeof(store->temporary), ".rdmachan-%016llx",
			 (unsigned long long)random);
		store->fd = openat(store->dir, store->temporary,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (store->fd >= 0 || errno != EEXIST)
			break;
	}
	return store->fd < 0 ? -1 : 0;
}

enum filemsg_verdict store_begin(struct store *store, int dir, const char *name, bool replace)
{
	struct stat stat;

	store->dir = dir;
	store->fd = -1;
	/* Only to refuse early; store_finish() makes sure. */
	if (!replace && !fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW))
		return FILEMSG_EXISTS;
	if (open_temporary(store) < 0)
		return verdict_of(errno);
	return FILEMSG_READY;
}

enum filemsg_verdict store_write(struct store *store, const void *data, size_t length)
{
	const char *bytes = data;
	ssize_t count;

	while (length) {
		count = write(store->fd, bytes, length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return verdict_of(errno);
		bytes += count;
		length -= count;
	}
	return FILEMSG_READY;
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

enum filemsg_verdict store_finish(struct store *store, const char *name, unsigned int mode,
				  bool replace)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(store->fd, mode & 0777 & ~mask) < 0 || fsync(store->fd) < 0)
		return verdict_of(errno);
	if (publish(store, name, replace) < 0)
		return verdict_of(errno);
	close(store->fd);
	store->fd = -1;
	return FILEMSG_STORED;
}

void store_abort(struct store *store)
{
	if (store->fd < 0)
		return;
	unlinkat(store->dir, store->temporary, 0);
	close(store->fd);
	store->fd = -1;
}
