/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue_op.h - what the files of operations share
 */
#ifndef _RCH_QUEUE_OP_H
#define _RCH_QUEUE_OP_H

#include "queue.h"

/* queue_op_pool.c APIs: RECV with RDMACHAN_RECV_F_MULTISHOT; see &struct rch_queue_ops */
int rch_recv_many_check(struct rch_op *op);
s64 rch_recv_many_run(struct rch_op *op);

#endif /* _RCH_QUEUE_OP_H */
