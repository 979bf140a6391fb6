/* SPDX-License-Identifier: GPL-2.0 */
/*
 * types.h - the few names that the pure layer needs from its surroundings
 *
 * The pure layer takes no lock, allocates nothing, and knows neither RDMA nor
 * programs. It is linked into the module, into the KUnit suites and into
 * programs on the host; only this file tells them apart.
 */
#ifndef _RCH_PURE_TYPES_H
#define _RCH_PURE_TYPES_H

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#else

#include <endian.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define cpu_to_le16(x) htole16(x)
#define cpu_to_le32(x) htole32(x)
#define cpu_to_le64(x) htole64(x)
#define le16_to_cpu(x) le16toh(x)
#define le32_to_cpu(x) le32toh(x)
#define le64_to_cpu(x) le64toh(x)
#ifndef static_assert
#define static_assert _Static_assert
#endif
#define ALIGN(x, a) (((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define BIT(n) (1UL << (n))

#endif /* __KERNEL__ */
#endif /* _RCH_PURE_TYPES_H */
