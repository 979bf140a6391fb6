/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scattered.h - memory no two pages of which are neighbours in the machine's
 */
#ifndef RDMACHAN_TEST_SCATTERED_H
#define RDMACHAN_TEST_SCATTERED_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"

#define SCATTERED_PAGE 4096UL

/* Number of the machine's page; 0 when the kernel does not tell, which it does to root. */
static inline uint64_t page_number(int pagemap, const char *memory)
{
	uint64_t entry = 0;
	off_t at = (uintptr_t)memory / SCATTERED_PAGE * sizeof(entry);

	if (pread(pagemap, &entry, sizeof(entry), at) != (ssize_t)sizeof(entry))
		return 0;
	return entry & ((1ULL << 55) - 1);
}

/* Another one for it, which is got before this one is given back. */
static inline void replace_page(char *page)
{
	char *other = mmap(NULL, SCATTERED_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(other != MAP_FAILED);
	other[0] = 1;
	ASSERT_TRUE(mremap(other, SCATTERED_PAGE, SCATTERED_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   page) == page);
}

/*
 * Memory of whole pages, touched in an order that makes neighbours unlikely. Those that are by
 * chance, as the free ones are not in order either after a while, are replaced: a range that ends
 * between two has no key, see kmod/path/path_key.c.
 */
static inline char *scattered(size_t len)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t count = len / SCATTERED_PAGE, i;
	uint64_t last = 0, number;
	char *memory, *page;

	memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	madvise(memory, len, MADV_NOHUGEPAGE);
	for (i = 0; i < count; i++)
		memory[i * 7919 % count * SCATTERED_PAGE] = 1;
	for (i = 0; i < count; i++, last = number) {
		page = memory + i * SCATTERED_PAGE;
		while ((number = page_number(pagemap, page)) == last + 1 && last)
			replace_page(page);
	}
	if (pagemap >= 0)
		close(pagemap);
	return memory;
}

#endif /* RDMACHAN_TEST_SCATTERED_H */
