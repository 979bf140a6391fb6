/* SPDX-License-Identifier: GPL-2.0 */
/*
 * verbs.h - a connection by verbs and rdma_cm, with nothing in between
 */
#ifndef _BENCH_VERBS_H
#define _BENCH_VERBS_H

#include <rdma/rdma_cma.h>

#include "bench.h"

/* Work requests of each kind that are under way at a time. */
#define VERBS_DEPTH (2 * BATCH)

/**
 * struct conn - a connection
 * @id: of rdma_cm, with its queue pair
 * @events: its completions wake by this; its descriptor stands for the connection
 * @cq: completions of both kinds
 * @memory: the message sent, and behind it the receive buffers
 * @mr: all of that
 * @step: bytes between two messages there
 * @depth: buffers that messages are received into
 * @got: messages that came and were not taken
 * @asked: messages that somebody waits for
 * @tags: theirs, a ring
 * @first_tag: the oldest
 * @sent: sends that have ended, of those that tell so
 * @lost: the connection has ended
 */
struct conn {
	struct rdma_cm_id *id;
	struct ibv_comp_channel *events;
	struct ibv_cq *cq;
	char *memory;
	struct ibv_mr *mr;
	size_t step;
	unsigned int depth;
	unsigned int got;
	unsigned int asked;
	uint64_t tags[VERBS_DEPTH];
	unsigned int first_tag;
	unsigned int sent;
	bool lost;
};

struct conn *conn_of(int fd);
void conn_post(struct conn *conn, struct ibv_send_wr *wr);
void conn_post_send(struct conn *conn, const void *data, size_t size, bool quiet);
bool conn_wait(struct conn *conn);

extern const struct rings verbs_rings;
extern const struct reach by_verbs;

#endif /* _BENCH_VERBS_H */
