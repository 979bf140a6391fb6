/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - waiting for a file descriptor, or for the user to stop it
 */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>
#include <stdint.h>

enum waited {
	WAITED_READY,
	WAITED_TIMEOUT,
	WAITED_STOPPED,
};

/* From now on SIGINT, SIGTERM, and SIGHUP unless it is ignored, end nothing but waiting(). */
void waiting_begin(void);
/* One of them has come. */
bool waiting_stopped(void);
/* Until @fd is readable; @timeout_ms UINT32_MAX is without limit. */
enum waited waiting(int fd, uint32_t timeout_ms);
/* Until poll() tells of @events. */
enum waited waiting_for(int fd, short events, uint32_t timeout_ms);

#endif /* WAITING_H */
