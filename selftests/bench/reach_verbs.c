// SPDX-License-Identifier: GPL-2.0
/*
 * reach_verbs.c - memory of the peer by RDMA READ, WRITE and FETCH_ADD, one at a time
 */
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/**
 * struct lent - what the client has to know
 * @addr: address at the server
 * @rkey: key
 */
struct lent {
	uint64_t addr;
	uint32_t rkey;
};

/* The client's: memory of the server, and its own. */
static struct lent lent;
static struct ibv_mr *own;

static void lend(struct end *end)
{
	struct conn *conn = conn_of(*end->fds);
	struct ibv_mr *mr = ibv_reg_mr(conn->id->pd, end->data, end->job->size,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);

	check(mr, "memory region");
	lent = (struct lent) { (uintptr_t)end->data, mr->rkey };
	conn_post_send(conn, &lent, sizeof(lent), true);
}

/* The buffers of messages are used in turn. */
static uint32_t take(struct end *end)
{
	struct conn *conn = conn_of(*end->fds);
	static unsigned int buffer;

	check(end->job->way->recv(*end->fds, &lent, sizeof(lent)) > 0, "what is lent");
	memcpy(&lent, conn->memory + (1 + buffer % conn->depth) * conn->step, sizeof(lent));
	return ++buffer;
}

static void access_once(struct end *end, struct conn *conn)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[ACCESS_READ] = IBV_WR_RDMA_READ,
		[ACCESS_WRITE] = IBV_WR_RDMA_WRITE,
		[ACCESS_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->data, .length = end->job->size, .lkey = own->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = opcodes[end->job->access],
		.send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
	};

	if (end->job->access == ACCESS_ADD) {
		wr.wr.atomic.remote_addr = lent.addr;
		wr.wr.atomic.rkey = lent.rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = lent.addr;
		wr.wr.rdma.rkey = lent.rkey;
	}
	conn_post(conn, &wr);
	check(conn_wait(conn) && conn->sent, "access");
	conn->sent--;
}

static void trips(struct end *end, uint32_t grant, unsigned int count, uint64_t *samples)
{
	struct conn *conn = conn_of(*end->fds);
	uint64_t begun;
	unsigned int i;

	(void)grant;
	if (!own)
		own = ibv_reg_mr(conn->id->pd, end->data, end->job->size, IBV_ACCESS_LOCAL_WRITE);
	check(own, "memory region");
	for (i = 0; i < count; i++) {
		begun = now_ns();
		access_once(end, conn);
		samples[i] = now_ns() - begun;
	}
}

static void give_back(struct end *end, uint32_t grant)
{
	char byte = 0;

	(void)grant;
	check(end->job->way->send(*end->fds, &byte, 1) == 1, "word that it is over");
}

static void await_back(struct end *end)
{
	char byte;

	check(end->job->way->recv(*end->fds, &byte, 1) == 1, "word that it is over");
}

const struct reach by_verbs = {
	.trips = trips,
	.lend = lend,
	.take = take,
	.give_back = give_back,
	.await_back = await_back,
};
