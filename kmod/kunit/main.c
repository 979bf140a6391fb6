// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - rdmachan_kunit: tests of the pure layer
 *
 * All that is random here begins with a fixed seed: a failure comes again.
 */
#include <linux/module.h>

#include "suites.h"

kunit_test_suites(&rch_seq_suite, &rch_ack_suite, &rch_credit_suite, &rch_window_suite,
		  &rch_drr_suite, &rch_grant_suite, &rch_keep_suite, &rch_pace_suite,
		  &rch_ring_suite, &rch_run_suite, &rch_span_suite, &rch_state_suite,
		  &rch_tail_suite, &rch_trip_suite, &rch_way_suite, &rch_wire_suite,
		  &rch_wire_bad_suite, &rch_wire_fuzz_suite);

MODULE_DESCRIPTION("KUnit tests of rdmachan");
MODULE_LICENSE("GPL");
