/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crc32-eight.h - CRC-32 of eight bytes at a time, for the kernels of virtual guests
 *
 * kernel.sh has lib/crc/crc32-main.c include this behind its own table of 256 words, of which the
 * other seven are made. "Slicing by eight" is described in M. E. Kounavis and F. L. Berry, "A
 * Systematic Approach to Building High Performance Software-Based CRC Generators", 2005.
 */
#include <linux/unaligned.h>

static u32 crc32_eight[8][256];
static bool crc32_eight_made;

/* Two processors that do it at once write the same. */
static void crc32_eight_make(void)
{
	u32 before;
	int i, n;

	for (i = 0; i < 256; i++) {
		crc32_eight[0][i] = crc32table_le[i];
		for (n = 1; n < 8; n++) {
			before = crc32_eight[n - 1][i];
			crc32_eight[n][i] = (before >> 8) ^ crc32table_le[before & 255];
		}
	}
	/* The tables come first. Pairs with crc32_eight_take(). */
	smp_store_release(&crc32_eight_made, true);
}

/* Return: how many of @len bytes at @p are in @crc now. */
static size_t crc32_eight_take(u32 *crc, const u8 *p, size_t len)
{
	u32 c = *crc;
	size_t at;
	u64 w;

	/* Pairs with crc32_eight_make(). */
	if (!smp_load_acquire(&crc32_eight_made))
		crc32_eight_make();
	for (at = 0; at + 8 <= len; at += 8) {
		w = get_unaligned_le64(p + at) ^ c;
		c = crc32_eight[7][w & 255] ^ crc32_eight[6][w >> 8 & 255] ^
		    crc32_eight[5][w >> 16 & 255] ^ crc32_eight[4][w >> 24 & 255] ^
		    crc32_eight[3][w >> 32 & 255] ^ crc32_eight[2][w >> 40 & 255] ^
		    crc32_eight[1][w >> 48 & 255] ^ crc32_eight[0][w >> 56];
	}
	*crc = c;
	return at;
}
