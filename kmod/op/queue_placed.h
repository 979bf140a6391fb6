/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue_placed.h - SEND and RECV of queues from and to regions
 */
#ifndef _RCH_QUEUE_PLACED_H
#define _RCH_QUEUE_PLACED_H

#include <linux/types.h>

struct iov_iter;
struct rch_link;
struct rch_op;
struct rch_queue;
struct rch_recv_result;

/* queue_placed.c APIs, for queue_op.c */
int rch_op_placed_region(struct rch_op *op);
int rch_op_placed_prepare(struct rch_op *op, bool write);
s64 rch_op_placed_send(struct rch_op *op);
s64 rch_op_placed_recv(struct rch_op *op);
s64 rch_op_placed_ahead(struct rch_op *op, struct rch_op *before);
bool rch_op_placed_stop(struct rch_op *op);
void rch_op_placed_let_go(struct rch_queue *queue);
void rch_op_placed_drop(struct rch_op *op);
void rch_op_placed_await(struct rch_op *op);

/* queue_placed.c APIs, for queue_op_vec.c */
s64 rch_op_sent_from_region(struct rch_op *op, s64 res);
void rch_op_received_in_region(struct rch_op *op);

/* queue_op.c APIs, for queue_placed.c and queue_op_vec.c */
void rch_op_unsent(struct rch_queue *queue, struct rch_link *link);
s64 rch_op_send_iter(struct rch_op *op, struct iov_iter *iter);
s64 rch_op_recv_told(struct rch_op *op, int ret, const struct rch_recv_result *result);
bool rch_op_takes_grants(const struct rch_op *op);

#endif /* _RCH_QUEUE_PLACED_H */
