// SPDX-License-Identifier: MIT
/*
 * context.c - the context: opening the device, asking and listing
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

/* Objects asked for at once by rdmachan_list_each(); 84 KiB of them. */
#define LIST_BATCH	256

int rdmachan_version(void)
{
	return RDMACHAN_VERSION;
}

int rdmachan_open(struct rdmachan_error *err)
{
	return lib_error_own(err, RDMACHAN_OP_DEVICE,
			     open(RDMACHAN_DEVICE_PATH, O_RDWR | O_CLOEXEC));
}

int rdmachan_get_info(int ctx, struct rdmachan_info *info, struct rdmachan_device *devices,
		      unsigned int max, struct rdmachan_error *err)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (devices && max) {
		info->devices_ptr = (uintptr_t)devices;
		info->devices_max = max;
		info->device_size = sizeof(*devices);
	}
	if (ioctl(ctx, RDMACHAN_INFO, info) < 0)
		return lib_error_own(err, RDMACHAN_OP_ASK, -1);
	return info->out_devices < info->devices_max ? info->out_devices : info->devices_max;
}

int rdmachan_list(int ctx, uint32_t flags, uint64_t after, struct rdmachan_object *objects,
		  unsigned int max, struct rdmachan_error *err)
{
	struct rdmachan_list_args list = {
		.size = sizeof(list),
		.flags = flags,
		.after = after,
		.objects_ptr = (uintptr_t)objects,
		.objects_max = max,
		.object_size = sizeof(*objects),
	};

	if (ioctl(ctx, RDMACHAN_LIST, &list) < 0)
		return lib_error_own(err, RDMACHAN_OP_ASK, -1);
	return list.out_count;
}

static int list_batches(int ctx, uint32_t flags, struct rdmachan_object *objects,
			int (*each)(const struct rdmachan_object *object, void *arg), void *arg,
			struct rdmachan_error *err)
{
	uint64_t after = 0;
	int count, ret, i;

	do {
		count = rdmachan_list(ctx, flags, after, objects, LIST_BATCH, err);
		if (count < 0)
			return -1;
		for (i = 0; i < count; i++) {
			ret = each(&objects[i], arg);
			if (ret)
				return ret;
		}
		if (count)
			after = objects[count - 1].id;
	} while (count == LIST_BATCH);
	return 0;
}

int rdmachan_list_each(int ctx, uint32_t flags,
		       int (*each)(const struct rdmachan_object *object, void *arg), void *arg,
		       struct rdmachan_error *err)
{
	struct rdmachan_object *objects = calloc(LIST_BATCH, sizeof(*objects));
	int ret;

	if (!objects)
		return lib_error_own(err, RDMACHAN_OP_ASK, -1);
	ret = list_batches(ctx, flags, objects, each, arg, err);
	free(objects);
	return ret;
}
