/* SPDX-License-Identifier: GPL-2.0 */
/*
 * place_step.h - what place.c and the two sides of a transfer have in common
 *
 * Locks. All but rch_place_begin() need the transfer's. Process context; may sleep, but for no
 * program and no peer.
 */
#ifndef _RCH_PLACE_STEP_H
#define _RCH_PLACE_STEP_H

#include <linux/dma-direction.h>
#include <linux/types.h>

#include "rndv/place.h"

/* place.c APIs */
void rch_place_begin(struct rch_place *place);
void rch_place_run(struct rch_place *place);
void rch_place_run_by_owner(struct rch_place *place);
void rch_place_go_to(struct rch_place *place, enum rch_place_state state,
		     unsigned long patience);
bool rch_place_just_late(struct rch_place *place);
bool rch_place_not_yet(struct rch_place *place);
bool rch_place_map(struct rch_place *place, enum dma_data_direction direction);
void rch_place_unmap(struct rch_place *place);
void rch_place_unlist(struct rch_place *place);
void rch_place_unclaim(struct rch_place *place);
void rch_place_finish(struct rch_place *place, int result);

/* place_send.c, place_recv.c APIs: by place.c */
bool rch_place_send_step(struct rch_place *place);
bool rch_place_send_stop(struct rch_place *place);
bool rch_place_recv_step(struct rch_place *place);
bool rch_place_recv_stop(struct rch_place *place);

#endif /* _RCH_PLACE_STEP_H */
