// SPDX-License-Identifier: MIT
/*
 * unload_test.c - a program that loads the library itself may unload it
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdmachan.h>

#include "tap.h"

#define NAME	"librdmachan.so"

/* Whether the library is in the memory of this program. */
static bool is_there(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[512];

	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps))
		found |= !!strstr(line, "/" NAME);
	fclose(maps);
	return found;
}

static void *function(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found)
		printf("# there is no %s\n", name);
	return found;
}

static void test_unload(const char *path)
{
	int (*connect_host)(int ctx, const char *host, uint32_t service,
			    const struct rdmachan_options *options, struct rdmachan_error *err);
	struct rdmachan_queue *(*queue_open)(int ctx, uint32_t sq_entries, uint32_t cq_entries,
					     struct rdmachan_error *err);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct rdmachan_error err;
	int (*version)(void);

	*(void **)&version = function(library, "rdmachan_version");
	*(void **)&connect_host = function(library, "rdmachan_connect_host");
	*(void **)&queue_open = function(library, "rdmachan_queue_open");
	if (!ok(version && connect_host && queue_open, "it is loaded: %s", path))
		return;
	ok(version() == RDMACHAN_VERSION && rdmachan_version() == RDMACHAN_VERSION &&
	   RDMACHAN_VERSION == RDMACHAN_VERSION_NUMBER(RDMACHAN_VERSION_MAJOR,
						       RDMACHAN_VERSION_MINOR,
						       RDMACHAN_VERSION_PATCH),
	   "its version is that of the header");
	ok(connect_host(-1, "127.0.0.1", 1, NULL, &err) < 0 && err.error == EBADF &&
	   !queue_open(-1, 4, 4, &err) && err.error == EBADF, "its functions can be called");
	ok(is_there() && !dlclose(library) && !is_there(), "it is unloaded");
}

int main(void)
{
	const char *build = getenv("BUILD");
	char path[512];
	int i;

	snprintf(path, sizeof(path), "%s/" NAME, build ? build : ".");
	/* It can be loaded again. */
	for (i = 0; i < 2; i++)
		test_unload(path);
	return tap_end();
}
