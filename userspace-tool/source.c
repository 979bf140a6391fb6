// SPDX-License-Identifier: MIT
/*
 * source.c - a file that is read to its end, whatever its size is told to be
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "source.h"

/* Why such a thing cannot be read to its end; NULL when it can. */
static const char *unfit(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFDIR:
		return "it is a directory";
	case S_IFCHR:
	case S_IFBLK:
		return "it is a device";
	case S_IFIFO:
		return "it is a named pipe";
	case S_IFSOCK:
		return "it is a socket";
	}
	return "it is no regular file";
}

const char *source_open(struct source *source, const char *path, int *error)
{
	const char *why;

	memset(source, 0, sizeof(*source));
	source->fd = -1;
	*error = 0;
	/* Before it is opened: some devices do something then. */
	if (stat(path, &source->stat) < 0) {
		*error = errno;
		return "it is not there";
	}
	why = unfit(source->stat.st_mode);
	if (why)
		return why;
	source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (source->fd < 0 || fstat(source->fd, &source->stat) < 0) {
		*error = errno;
		why = "it cannot be opened";
	} else {
		why = unfit(source->stat.st_mode);
	}
	source->about = !source->stat.st_blocks;
	if (why)
		source_close(source);
	return why;
}

void source_close(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
}

static enum filemsg_verdict compare(const struct source *source, bool at_end)
{
	uint64_t told = source->stat.st_size;
	struct stat now;

	if (fstat(source->fd, &now) < 0)
		return FILEMSG_UNREADABLE;
	if ((uint64_t)now.st_size > told || (!source->about && source->done > told))
		return FILEMSG_GREW;
	if (!at_end)
		return FILEMSG_READY;
	if ((uint64_t)now.st_size < told || (!source->about && source->done < told))
		return FILEMSG_SHRANK;
	if (now.st_mtim.tv_sec != source->stat.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != source->stat.st_mtim.tv_nsec)
		return FILEMSG_CHANGED;
	return FILEMSG_READY;
}

size_t source_read(struct source *source, void *data, size_t size,
		   struct filemsg_result *result)
{
	ssize_t count;

	result->error = 0;
	do {
		count = read(source->fd, data, size);
	} while (count < 0 && errno == EINTR);
	if (count < 0) {
		result->verdict = FILEMSG_UNREADABLE;
		result->error = errno;
		return 0;
	}
	source->done += count;
	result->verdict = compare(source, !count);
	if (result->verdict == FILEMSG_UNREADABLE)
		result->error = errno;
	return result->verdict == FILEMSG_READY ? count : 0;
}
