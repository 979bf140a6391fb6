/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz.h - what the fuzzers share
 *
 * Each is a function that takes any bytes, and aborts when something that must hold
 * does not. libFuzzer calls it and has the names it wants; see run.sh.
 */
#ifndef _RCH_FUZZ_H
#define _RCH_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "pure/credit.h"
#include "pure/drr.h"
#include "proto/grant.h"
#include "proto/state.h"
#include "pure/window.h"
#include "proto/wire.h"

/** fuzz_assert - what must hold whatever the bytes are */
#define fuzz_assert(cond)							\
	do {									\
		if (!(cond))							\
			fuzz_broken(#cond, __FILE__, __LINE__);			\
	} while (0)

static inline __attribute__((noreturn)) void fuzz_broken(const char *what,
							 const char *file, int line)
{
	fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
	abort();
}

/* records.c: the one place to know the bytes of each type */
u32 fuzz_record_length(u8 type, u32 any);
u32 fuzz_record_encode(void *buf, const struct rch_record *r);
void fuzz_record_check(const struct rch_cursor *c, const struct rch_record *r);
void fuzz_record_repair(u8 *frame, u32 size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max);

#endif /* _RCH_FUZZ_H */
