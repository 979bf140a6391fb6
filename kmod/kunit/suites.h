/* SPDX-License-Identifier: GPL-2.0 */
/*
 * suites.h - what the suites have in common
 */
#ifndef _RCH_KUNIT_SUITES_H
#define _RCH_KUNIT_SUITES_H

#include <kunit/test.h>
#include <linux/prandom.h>

extern struct kunit_suite rch_ack_suite;
extern struct kunit_suite rch_credit_suite;
extern struct kunit_suite rch_drr_suite;
extern struct kunit_suite rch_grant_suite;
extern struct kunit_suite rch_keep_suite;
extern struct kunit_suite rch_pace_suite;
extern struct kunit_suite rch_ring_suite;
extern struct kunit_suite rch_run_suite;
extern struct kunit_suite rch_seq_suite;
extern struct kunit_suite rch_span_suite;
extern struct kunit_suite rch_state_suite;
extern struct kunit_suite rch_tail_suite;
extern struct kunit_suite rch_trip_suite;
extern struct kunit_suite rch_way_suite;
extern struct kunit_suite rch_window_suite;
extern struct kunit_suite rch_wire_suite;
extern struct kunit_suite rch_wire_bad_suite;
extern struct kunit_suite rch_wire_fuzz_suite;

/** rch_below - a random number from 0 to @n - 1 */
static inline u32 rch_below(struct rnd_state *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

/** rch_chance - true once in @n times */
static inline bool rch_chance(struct rnd_state *rnd, u32 n)
{
	return !rch_below(rnd, n);
}

#endif /* _RCH_KUNIT_SUITES_H */
