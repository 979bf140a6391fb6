/* SPDX-License-Identifier: MIT */
/*
 * preload.h - have a test run with the fake device
 */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The first statement of main(): begins anew with the device in front of the C library. */
static inline void fake_preload(char **argv)
{
	char path[4096];

	if (getenv("RDMACHAN_FAKE"))
		return;
	snprintf(path, sizeof(path), "%s/tests/fake_device.so", getenv("BUILD"));
	setenv("LD_PRELOAD", path, 1);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
	snprintf(path, sizeof(path), "%d", (int)getpid());
	setenv("RDMACHAN_FAKE", path, 1);
	execv(argv[0], argv);
	perror(argv[0]);
	exit(2);
}

#endif /* PRELOAD_H */
