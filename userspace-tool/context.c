// SPDX-License-Identifier: MIT
/*
 * context.c - the device and the target, opened with words for what is wrong
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"
#include "tool.h"

const char *context_open_hint(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "The module is not loaded: modprobe rdmachan (see also \"rdmachan doctor\")";
	case EMFILE:
	case ENFILE:
		return "Too many files are open: see \"ulimit -n\" and /proc/sys/fs/file-nr.";
	case EDQUOT:
	case ENOSPC:
		return "Too many contexts are open; \"modinfo rdmachan\" has the limits.";
	case EACCES:
	case EPERM:
		return "Be root, or a member of the device's group: usermod -aG rdmachan USER";
	}
	return "\"rdmachan doctor\" looks for the reason.";
}

/* A context, or -1 after having told why not. */
int context_open(void)
{
	int ctx = rdmachan_open(NULL);
	int error = errno;

	if (ctx >= 0)
		return ctx;
	fail_errno("cannot open %s", RDMACHAN_DEVICE_PATH);
	fprintf(stderr, "%s\n", context_open_hint(error));
	return -1;
}

/* A channel, or an exit code below 0 after having told why not. */
int target_connect(int ctx, const struct target *target,
		   const struct rdmachan_options *options)
{
	struct rdmachan_error err;
	int chan;

	chan = rdmachan_connect_host(ctx, target->host, target->service, options, &err);
	if (chan >= 0)
		return chan;
	fail_error(&err, "cannot connect to service %u at %s", target->service, target->host);
	return -TOOL_CONNECTION;
}
