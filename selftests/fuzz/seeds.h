/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seeds.h - the parts of seeds.c
 */
#ifndef _RCH_FUZZ_SEEDS_H
#define _RCH_FUZZ_SEEDS_H

#include <stddef.h>

/** seeds_save - write an input for the fuzzer @kind */
void seeds_save(const char *kind, const char *name, const void *data, size_t size);

/* seeds_peer.c */
void seeds_peer(void);

#endif /* _RCH_FUZZ_SEEDS_H */
