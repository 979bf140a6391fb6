/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue_op.h - what the files of operations share
 */
#ifndef _RCH_QUEUE_OP_H
#define _RCH_QUEUE_OP_H

#include "queue/queue.h"

struct rch_chan;

/* queue_op.c APIs */
extern const struct rch_queue_ops rch_queue_ops;
struct file *rch_op_find_file(struct rch_queue *queue, int fd);
int rch_op_find_chan(struct rch_op *op, __poll_t events);
int rch_op_check_memory(struct rch_op *op, bool write);
bool rch_op_is_awaited(const struct rch_op *op);
int rch_op_copy_call(struct rch_op *op, void *to, size_t known, size_t least);
unsigned long rch_op_line_out(const struct rch_chan *chan);
unsigned long rch_op_line_access(const struct rch_chan *chan);
unsigned long rch_op_line_taken(const struct rch_chan *chan);

/* queue_op_access.c APIs: READ, WRITE and atomics; see &struct rch_queue_ops */
int rch_op_read_prepare(struct rch_op *op);
int rch_op_write_prepare(struct rch_op *op);
int rch_op_atomic_prepare(struct rch_op *op);
s64 rch_op_access_run(struct rch_op *op);
bool rch_op_access_stop(struct rch_op *op);
void rch_op_access_drop(struct rch_op *op);
void rch_op_access_await(struct rch_op *op);

/* queue_op_grant.c APIs: GRANT, REVOKE and RELEASE; see &struct rch_queue_ops */
int rch_op_grant_prepare(struct rch_op *op);
s64 rch_op_grant_run(struct rch_op *op);
int rch_op_revoke_prepare(struct rch_op *op);
s64 rch_op_revoke_run(struct rch_op *op);
int rch_op_release_prepare(struct rch_op *op);
s64 rch_op_release_run(struct rch_op *op);
void rch_op_grant_drop(struct rch_op *op);

/* queue_op_row.c APIs; see &struct rch_queue_ops */
u32 rch_op_row(struct rch_queue *queue, u32 max);

/* queue_op_taken.c APIs: SEND with RDMACHAN_SEND_F_DELIVERED; see &struct rch_queue_ops */
bool rch_op_asks(const struct rch_op *op);
u32 rch_op_msg_flags(const struct rch_op *op);
s64 rch_op_taken_begin(struct rch_op *op);
s64 rch_op_taken_run(struct rch_op *op);

/* queue_op_pool.c APIs: RECV with RDMACHAN_RECV_F_MULTISHOT; see &struct rch_queue_ops */
int rch_recv_many_check(struct rch_op *op);
s64 rch_recv_many_run(struct rch_op *op);

/* queue_op_vec.c APIs: SEND and RECV with RDMACHAN_SQE_F_IOV; see &struct rch_queue_ops */
int rch_op_vec_prepare(struct rch_op *op, bool write);
int rch_op_vec_arrived(struct rch_op *op, bool write);
void rch_op_vec_iter(const struct rch_op *op, unsigned int direction, struct iov_iter *iter);
s64 rch_op_vec_send(struct rch_op *op);
s64 rch_op_vec_recv(struct rch_op *op);
void rch_op_vec_drop(struct rch_op *op);

#endif /* _RCH_QUEUE_OP_H */
