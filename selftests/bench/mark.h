/* SPDX-License-Identifier: MIT */
/*
 * mark.h - instructions that do nothing, and that lab/profile.c sees
 */
#ifndef _SELFTESTS_MARK_H
#define _SELFTESTS_MARK_H

#define MARK_SIZE 7
/* nopl 0x726d6162(%rax) and nopl 0x726d6165(%rax) */
#define MARK_BEGIN "\x0f\x1f\x80\x62\x61\x6d\x72"
#define MARK_END "\x0f\x1f\x80\x65\x61\x6d\x72"

static inline void mark_begin(void)
{
#ifdef __x86_64__
	asm volatile("nopl 0x726d6162(%%rax)" ::: "memory");
#endif
}

static inline void mark_end(void)
{
#ifdef __x86_64__
	asm volatile("nopl 0x726d6165(%%rax)" ::: "memory");
#endif
}

#endif /* _SELFTESTS_MARK_H */
