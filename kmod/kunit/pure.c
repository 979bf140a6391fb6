// SPDX-License-Identifier: GPL-2.0
/*
 * pure.c - the pure layer once more, for this module
 *
 * Two modules in one tree cannot share objects; and the code that is tested here must not
 * need rdmachan.ko, nor the RDMA subsystem, to be loaded.
 */
#include "../pure/drr.c"
#include "../proto/grant.c"
#include "../proto/rules.c"
#include "../proto/state.c"
#include "../proto/wire.c"
