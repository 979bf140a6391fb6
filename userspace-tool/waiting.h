/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - waiting for a file descriptor, or for the user to stop it
 */
#ifndef WAITING_H
#define WAITING_H

#include <stdint.h>

enum waited {
	WAITED_READY,
	WAITED_TIMEOUT,
	WAITED_STOPPED,
};

/* From now on SIGINT and SIGTERM end nothing but waiting(). */
void waiting_begin(void);
/* Until @fd is readable; @timeout_ms UINT32_MAX is without limit. */
enum waited waiting(int fd, uint32_t timeout_ms);

#endif /* WAITING_H */
