/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue_op.h - what the files of operations share
 */
#ifndef _RCH_QUEUE_OP_H
#define _RCH_QUEUE_OP_H

#include "queue.h"

struct rch_chan;

/* queue_op.c APIs */
struct file *rch_op_find_file(struct rch_queue *queue, int fd);
unsigned long rch_op_line_out(const struct rch_chan *chan);

/* queue_op_row.c APIs; see &struct rch_queue_ops */
u32 rch_op_row(struct rch_queue *queue, u32 max);

/* queue_op_pool.c APIs: RECV with RDMACHAN_RECV_F_MULTISHOT; see &struct rch_queue_ops */
int rch_recv_many_check(struct rch_op *op);
s64 rch_recv_many_run(struct rch_op *op);

#endif /* _RCH_QUEUE_OP_H */
