// SPDX-License-Identifier: MIT
/*
 * error.c - error records and options, in and out of a call
 *
 * Structures of linux/rdmachan.h may grow. A program is compiled with one size of
 * them and this library with one, so the size a function writes belongs to its symbol version. When
 * a structure grows, the functions that write it get a new version in librdmachan.map, and the old
 * ones keep the old size. tests/abi_test.c watches the sizes.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

/* Empty an error record; returns what goes into error_ptr. */
uint64_t lib_error_prepare(struct rdmachan_error *err)
{
	if (!err)
		return 0;
	memset(err, 0, sizeof(*err));
	err->size = sizeof(*err);
	return (uintptr_t)err;
}

/* After a call: a failure that the module has no record of is known by errno. */
int lib_error_finish(struct rdmachan_error *err, int ret)
{
	if (ret >= 0 || !err)
		return ret;
	if (err->cause == RDMACHAN_CAUSE_NONE || !err->error)
		err->error = errno;
	return ret;
}

/* The same. Where the module tells nothing, as it has refused the call, @op is what was tried. */
int lib_error_call(struct rdmachan_error *err, uint32_t op, int ret)
{
	if (ret >= 0)
		return ret;
	lib_error_finish(err, -1);
	if (err && !err->op)
		err->op = op;
	return -1;
}

/* After a call that takes no record: all there is to tell is errno. */
int lib_error_own(struct rdmachan_error *err, uint32_t op, int ret)
{
	if (ret >= 0)
		return ret;
	lib_error_prepare(err);
	return lib_error_call(err, op, -1);
}

/* Options of a program that was compiled with a newer header must be zero there. */
int lib_options_check(const struct rdmachan_options *options)
{
	const unsigned char *byte = (const unsigned char *)options;
	size_t i;

	if (!options)
		return 0;
	if (options->size < sizeof(*options)) {
		errno = EINVAL;
		return -1;
	}
	for (i = sizeof(*options); i < options->size; i++) {
		if (byte[i]) {
			errno = E2BIG;
			return -1;
		}
	}
	return 0;
}
