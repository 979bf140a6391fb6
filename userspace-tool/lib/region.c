// SPDX-License-Identifier: MIT
/*
 * region.c - regions: memory that stays where it is
 */
#include <sys/ioctl.h>

#include "internal.h"

int rdmachan_region_register(int ctx, const void *addr, size_t length, uint32_t flags,
			     uint32_t *region, struct rdmachan_error *err)
{
	struct rdmachan_region_register_args reg = {
		.size = sizeof(reg),
		.flags = flags,
		.addr = (uintptr_t)addr,
		.length = length,
		.error_ptr = lib_error_prepare(err),
	};

	if (ioctl(ctx, RDMACHAN_REGION_REGISTER, &reg) < 0)
		return lib_error_call(err, RDMACHAN_OP_REGISTER, -1);
	*region = reg.out_region;
	return 0;
}

int rdmachan_region_unregister(int ctx, uint32_t region, struct rdmachan_error *err)
{
	struct rdmachan_region_unregister_args unreg = { .size = sizeof(unreg), .region = region };

	return lib_error_own(err, RDMACHAN_OP_UNREGISTER,
			     ioctl(ctx, RDMACHAN_REGION_UNREGISTER, &unreg));
}

int rdmachan_region_take_back(int ctx, uint32_t region, struct rdmachan_error *err)
{
	struct rdmachan_region_unregister_args unreg = {
		.size = sizeof(unreg),
		.region = region,
		.flags = RDMACHAN_UNREGISTER_F_REVOKE,
	};

	return lib_error_own(err, RDMACHAN_OP_UNREGISTER,
			     ioctl(ctx, RDMACHAN_REGION_UNREGISTER, &unreg));
}
