/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rndv.h - large messages, written from memory to memory
 *
 * This is for threads that wait, and for the records; place.h is for those that do not.
 */
#ifndef _RCH_RNDV_H
#define _RCH_RNDV_H

#include "channel/chan.h"
#include "proto/way.h"

/* place_call.c APIs: process context of a program; may block */
int rch_chan_send_placed(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			 unsigned long deadline);
int rch_chan_recv_placed(struct rch_chan *chan, const struct rch_rts *offer,
			 struct iov_iter *to, struct rch_recv_result *result);
int rch_chan_recv_lent(struct rch_chan *chan, struct iov_iter *to,
		       struct rch_recv_result *result);

/* cts.c APIs: process context */
bool rch_chan_offer_take(struct rch_chan *chan, struct rch_rts *offer);
void rch_chan_wants_data(struct rch_chan *chan);
void rch_chan_reading(struct rch_chan *chan);
void rch_chan_reading_over(struct rch_chan *chan);
void rch_chan_offer_work(struct work_struct *work);

/* rts.c, cts.c APIs for place.c: process context */
bool rch_chan_rts_asks(const struct rch_chan *chan);
enum rch_way rch_chan_way(struct rch_chan *chan, u32 length, bool pinned);
int rch_chan_rts_ask(struct rch_chan *chan, struct rch_rts *rts);
bool rch_chan_cts_take(struct rch_chan *chan, struct rch_cts *cts, bool *lent);
void rch_chan_cts_forget(struct rch_chan *chan);
void rch_chan_cts_expect(struct rch_chan *chan);
void rch_chan_rts_refused(struct rch_chan *chan);
void rch_chan_tx_placed(struct rch_chan *chan);
bool rch_chan_grant(struct rch_chan *chan, const struct rch_cts *cts);
bool rch_chan_grant_closed(struct rch_chan *chan);
enum rch_grant rch_chan_grant_state(struct rch_chan *chan, u32 *left);
bool rch_chan_grant_settled(struct rch_chan *chan);
void rch_chan_grant_end(struct rch_chan *chan);
int rch_chan_grant_refuse(struct rch_chan *chan, u32 serial);
void rch_chan_broken(struct rch_chan *chan, int ret);

/* rts.c, cts.c APIs: softirq */
enum rch_rule rch_chan_rts_got(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_chan_cts_got(struct rch_chan *chan, const struct rch_record *r);
enum rch_rule rch_chan_fin_got(struct rch_chan *chan);
bool rch_chan_offer_keep(struct rch_chan *chan);
void rch_chan_offer_refuse(struct rch_chan *chan, u32 serial);

/* heir.c APIs for place.c: process context */
void rch_chan_placing(struct rch_chan *chan);
bool rch_chan_placing_end(struct rch_chan *chan, bool placed);
void rch_chan_lost(struct rch_chan *chan);
bool rch_chan_heir_wanted(const struct rch_chan *chan, u64 room);
bool rch_chan_heir_begin(struct rch_chan *chan, struct rch_heir *heir,
			 const struct rch_heir *before);
bool rch_chan_heir_turn(struct rch_chan *chan, struct rch_heir *heir);
bool rch_chan_heir_end(struct rch_chan *chan, struct rch_heir *heir);
enum rch_lent rch_chan_heir_lent(struct rch_chan *chan, const struct rch_heir *heir);
bool rch_chan_heir_closed(struct rch_chan *chan, const struct rch_heir *heir);

/* lend.c APIs for place.c and heir.c: process context; by the side that has claimed RCH_CHAN_RX */
bool rch_lend_possible(const struct rch_chan *chan);
bool rch_chan_lends(const struct rch_chan *chan, u64 room);
bool rch_chan_lend(struct rch_chan *chan, struct rch_cts *cts);
bool rch_chan_lend_ahead(struct rch_chan *chan, struct rch_heir *heir, struct rch_cts *cts);
enum rch_lent rch_chan_lent(struct rch_chan *chan, bool wanted, struct rch_rts *message);
void rch_chan_lend_result(struct rch_chan *chan, bool used);
void rch_chan_lend_again(struct rch_chan *chan, u32 length);
bool rch_chan_lend_asked(struct rch_chan *chan, u64 room, struct rch_rts *offer);

/* borrow.c APIs for place.c: process context; by the side that has claimed RCH_CHAN_TX */
bool rch_chan_may_borrow(struct rch_chan *chan, u32 length);
bool rch_chan_borrow(struct rch_chan *chan, u32 length, struct rch_cts *cts);
void rch_chan_borrow_end(struct rch_chan *chan, const struct rch_cts *cts);
void rch_chan_borrow_ask(struct rch_chan *chan, u32 total);
void rch_chan_borrow_take(struct rch_chan *chan, struct rch_cts *cts);

/* lend.c, heir.c APIs: any context */
bool rch_chan_lent_settled(const struct rch_chan *chan, bool wanted);
bool rch_chan_heir_settled(const struct rch_chan *chan, const struct rch_heir *heir,
			   bool wanted);

/* lend.c, borrow.c APIs: softirq */
enum rch_rule rch_chan_standing_got(struct rch_chan *chan, const struct rch_cts *cts);
enum rch_rule rch_chan_placed_got(struct rch_chan *chan, const struct rch_rts *rts, bool none);
bool rch_chan_rts_crosses(struct rch_chan *chan, const struct rch_rts *rts);

#endif /* _RCH_RNDV_H */
