/* SPDX-License-Identifier: MIT */
/*
 * mark.h - instructions that do nothing, and that lab/profile.c sees
 */
#ifndef _SELFTESTS_MARK_H
#define _SELFTESTS_MARK_H

#define MARK_SIZE 7
/* nopl 0x726d6162(%rax) and nopl 0x726d6165(%rax) */
#define MARK_BEGIN { 0x0f, 0x1f, 0x80, 0x62, 0x61, 0x6d, 0x72 }
#define MARK_END { 0x0f, 0x1f, 0x80, 0x65, 0x61, 0x6d, 0x72 }

#ifdef __x86_64__
#define mark_begin() asm volatile("nopl 0x726d6162(%%rax)" ::: "memory")
#define mark_end() asm volatile("nopl 0x726d6165(%%rax)" ::: "memory")
#else
#define mark_begin() do { } while (0)
#define mark_end() do { } while (0)
#endif

#endif /* _SELFTESTS_MARK_H */
