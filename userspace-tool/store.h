/* SPDX-License-Identifier: MIT */
/*
 * store.h - a file that appears in a directory whole or not at all
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filemsg.h"

/**
 * struct store - the file while it is written
 * @dir: directory
 * @fd: the file, -1 when there is none
 * @temporary: its name until it is whole
 */
struct store {
	int dir;
	int fd;
	char temporary[32];
};

/* Take away what receivers have left that were killed, and tell of it. */
void store_clean(int dir);

/* All return FILEMSG_READY, FILEMSG_STORED or the error. */
struct filemsg_result store_begin(struct store *store, int dir, const char *name, bool replace);
struct filemsg_result store_write(struct store *store, const void *data, size_t length);
struct filemsg_result store_finish(struct store *store, const char *name, unsigned int mode,
				   bool replace);
/* Take away what store_begin() made; harmless after store_finish() succeeded. */
void store_abort(struct store *store);

#endif /* STORE_H */
