/* SPDX-License-Identifier: GPL-2.0 */
/*
 * message.h - messages and what belongs to them, whichever way they take
 */
#ifndef _RCH_MESSAGE_H
#define _RCH_MESSAGE_H

#include "proto/wire.h"

struct iov_iter;
struct page;
struct rch_chan;
struct rch_lane;
struct rch_recv_result;

/* send.c APIs: process context */
int rch_chan_send(struct rch_chan *chan, struct iov_iter *from, u16 msg_flags,
		  bool nonblock, unsigned long deadline);
int rch_chan_send_asking(struct rch_chan *chan, struct iov_iter *from, u16 msg_flags,
			 unsigned long deadline, u64 *number);
int rch_chan_send_more(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags, u64 *number);

/* recv.c APIs: process context */
int rch_chan_recv(struct rch_chan *chan, struct iov_iter *to, bool nonblock,
		  unsigned long deadline, struct rch_recv_result *result);
int rch_chan_recv_or_offer(struct rch_chan *chan, struct iov_iter *to,
			   struct rch_recv_result *result, struct rch_rts *offer);

/* record.c APIs: softirq */
enum rch_rule rch_record_got(struct rch_lane *lane, const struct rch_record *r,
			     struct page *page);

#endif /* _RCH_MESSAGE_H */
