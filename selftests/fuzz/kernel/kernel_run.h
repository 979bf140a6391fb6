/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel_run.h - what the fuzzer does as the kernel
 */
#ifndef _RCH_FUZZ_KERNEL_RUN_H
#define _RCH_FUZZ_KERNEL_RUN_H

/** kernel_objects - pieces of memory that are in use */
extern long kernel_objects;

/** kernel_page - a page with the bytes of a frame of @length, of a buffer of @size */
struct page *kernel_page(const void *bytes, size_t length, size_t size);

/** kernel_run_next - run the work behind @skip others. Return: whether there was one */
bool kernel_run_next(u32 skip);

/** kernel_time_goes - jiffies go by, and timers that are due run */
void kernel_time_goes(unsigned long by);

#endif /* _RCH_FUZZ_KERNEL_RUN_H */
