/* SPDX-License-Identifier: MIT */
/*
 * source.h - a file that is read to its end, whatever its size is told to be
 *
 * Files of /proc and /sys tell a size of 0 or of a page, logs grow, and others write while one
 * reads. The size is the end that read() finds, and that nobody has written meanwhile.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "filemsg.h"

/**
 * struct source - the file
 * @fd: the file
 * @stat: as it was when it was opened
 * @about: it takes no room on a disk: its size may be anything
 * @done: bytes that were read
 */
struct source {
	int fd;
	struct stat stat;
	bool about;
	uint64_t done;
};

/* NULL, or why it cannot be read: the words go with errno if *@error is not 0. */
const char *source_open(struct source *source, const char *path, int *error);
void source_close(struct source *source);
/*
 * As read(), but only 0 is the end, and an error goes to @result: the file cannot be read,
 * has grown, or at its end is not what it was.
 */
size_t source_read(struct source *source, void *data, size_t size,
		   struct filemsg_result *result);

#endif /* SOURCE_H */
