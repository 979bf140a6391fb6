// SPDX-License-Identifier: MIT
/*
 * abi_test.c - sizes that belong to the symbol version of the library
 *
 * When one of these grows after a release, the functions that write it need a new
 * symbol version; see lib/error.c.
 */
#include <stddef.h>

#include <librdmachan.h>

#include "tap.h"

#define size_is(type, size) \
	ok(sizeof(struct type) == (size), "struct " #type " has %zu bytes", sizeof(struct type))

int main(void)
{
	size_is(rdmachan_addr, 28);
	size_is(rdmachan_error, 200);
	size_is(rdmachan_device, 152);
	size_is(rdmachan_info, 640);
	size_is(rdmachan_object, 448);
	size_is(rdmachan_sqe, 64);
	size_is(rdmachan_cqe, 32);
	size_is(rdmachan_ring, 48);
	size_is(rdmachan_queue_create_args, 136);
	size_is(rdmachan_enter_args, 40);
	size_is(rdmachan_buffer, 16);
	size_is(rdmachan_pool_create_args, 80);
	size_is(rdmachan_region_register_args, 40);
	size_is(rdmachan_region_unregister_args, 16);
	size_is(rdmachan_grant_range, 48);
	size_is(rdmachan_grant_args, 64);
	size_is(rdmachan_grant_event, 32);
	size_is(rdmachan_release_args, 16);
	size_is(rdmachan_revoke_args, 32);
	size_is(rdmachan_access_args, 72);
	size_is(rdmachan_atomic_args, 56);
	size_is(rdmachan_finish_args, 32);
	size_is(rdmachan_tune_args, 24);
	size_is(rdmachan_options, sizeof(size_t) == 8 ? 72 : 68);
	size_is(rdmachan_room, 256);
	size_is(rdmachan_transfer, sizeof(size_t) == 8 ? 32 : 28);
	return tap_end();
}
