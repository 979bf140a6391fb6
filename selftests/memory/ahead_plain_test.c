// SPDX-License-Identifier: GPL-2.0
/*
 * ahead_plain_test.c - the same as ahead_test.c, with memory that is pinned for each message
 */
#define OF_REGIONS false
#include "ahead_test.c"
