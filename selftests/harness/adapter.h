/* SPDX-License-Identifier: GPL-2.0 */
/*
 * adapter.h - have the adapter behave as others do, by the parameters of rdmachan_shim
 *
 * For programs of tests that run one after the other: all adapters of the kernel are meant.
 */
#ifndef RDMACHAN_TEST_ADAPTER_H
#define RDMACHAN_TEST_ADAPTER_H

#include "common.h"
#include "fault.h"
#include "harness.h"

#define ADAPTER "/sys/module/rdmachan_shim/parameters/"

/* From now on; 0: as it is. Skips where the module is not loaded. */
static inline void adapter(const char *parameter, unsigned int value)
{
	char path[80], text[16];

	if (access(ADAPTER, F_OK))
		SKIP("rdmachan_shim is not loaded");
	snprintf(path, sizeof(path), ADAPTER "%s", parameter);
	snprintf(text, sizeof(text), "%u", value);
	ASSERT_TRUE(put(path, text));
}

#endif /* RDMACHAN_TEST_ADAPTER_H */
