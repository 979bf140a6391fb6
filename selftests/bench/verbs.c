// SPDX-License-Identifier: GPL-2.0
/*
 * verbs.c - SEND and RECV by verbs, over connections of rdma_cm; sleeps for events
 *
 * Messages are sent from memory that is registered, and received into buffers that are posted ahead
 * of them: the memory that the ends of a benchmark give to send() and recv() only tells how
 * much.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

#define FDS_MAX 1024
#define BACKLOG 16
#define RESOLVE_MS 2000
/* READs and atomic operations under way. */
#define READS 16
/* Bytes of buffers for messages. */
#define RECV_BYTES (32UL << 20)
/* How often what is lost is sent again, and that a buffer was missing: without end. */
#define RETRIES 7
/* What a completion is of. */
enum { RECEIVED, SENT, SENT_QUIETLY };

static struct conn *conns[FDS_MAX];
static struct rdma_cm_id *listeners[FDS_MAX];

struct conn *conn_of(int fd)
{
	return conns[fd];
}

/* Completions */

static void post_recv(struct conn *conn, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)conn->memory + (1 + i) * conn->step,
		.length = conn->step, .lkey = conn->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = RECEIVED | i << 2, .sg_list = &sge, .num_sge = 1 }, *bad;

	check(!ibv_post_recv(conn->id->qp, &wr, &bad), "post a receive");
}

static void take(struct conn *conn, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		conn->lost = true;
		return;
	}
	switch (wc->wr_id & 3) {
	case RECEIVED:
		conn->got++;
		post_recv(conn, wc->wr_id >> 2);
		break;
	case SENT:
		conn->sent++;
		break;
	}
}

static void look(struct conn *conn)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(conn->cq, 1, &wc) > 0)
		take(conn, &wc);
}

static unsigned int ready(const struct conn *conn)
{
	return conn->sent + (conn->got < conn->asked ? conn->got : conn->asked);
}

/* Sleep until there is a completion, or the peer has ended the connection. */
static void sleep_on(struct conn *conn)
{
	struct pollfd fds[] = {
		{ .fd = conn->events->fd, .events = POLLIN },
		{ .fd = conn->id->channel->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *context;

	check(poll(fds, 2, -1) > 0, "poll");
	if (fds[0].revents) {
		check(!ibv_get_cq_event(conn->events, &cq, &context), "event");
		ibv_ack_cq_events(cq, 1);
		check(!ibv_req_notify_cq(conn->cq, 0), "notify");
	}
	look(conn);
	if (fds[1].revents)
		conn->lost = true;
}

/* Until something can be taken. Return: whether it can */
bool conn_wait(struct conn *conn)
{
	look(conn);
	while (!ready(conn) && !conn->lost)
		sleep_on(conn);
	return ready(conn);
}

/* Sending */

void conn_post(struct conn *conn, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	check(!ibv_post_send(conn->id->qp, wr, &bad), "post");
}

/* A message of a few bytes is copied, as the buffer for others is full of one. */
void conn_post_send(struct conn *conn, const void *data, size_t size, bool quiet)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)conn->memory, .length = size, .lkey = conn->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = quiet ? SENT_QUIETLY : SENT, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = size ? 1 : 0,
	};

	if (data)
		memcpy(conn->memory, data, size);
	conn_post(conn, &wr);
}

/* Connections */

static void make_memory(struct conn *conn, const struct job *job)
{
	conn->step = ((job->size ?: 1) + PAGE - 1) / PAGE * PAGE;
	conn->depth = RECV_BYTES / conn->step < VERBS_DEPTH ? RECV_BYTES / conn->step : VERBS_DEPTH;
	conn->memory = page_memory((1 + conn->depth) * conn->step);
	check(conn->memory, "memory");
	conn->mr = ibv_reg_mr(conn->id->pd, conn->memory, (1 + conn->depth) * conn->step,
			      IBV_ACCESS_LOCAL_WRITE);
	check(conn->mr, "memory region");
}

/* With its queue pair, and buffers before the first message can come. */
static struct conn *make_conn(struct rdma_cm_id *id, const struct job *job)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	unsigned int i;

	check(conn, "memory");
	conn->id = id;
	conn->events = ibv_create_comp_channel(id->verbs);
	check(conn->events, "completion channel");
	conn->cq = ibv_create_cq(id->verbs, 2 * VERBS_DEPTH, NULL, conn->events, 0);
	check(conn->cq && !ibv_req_notify_cq(conn->cq, 0), "completion queue");
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	attr.cap.max_send_wr = VERBS_DEPTH;
	attr.cap.max_recv_wr = VERBS_DEPTH;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	check(!rdma_create_qp(id, NULL, &attr), "queue pair");
	make_memory(conn, job);
	for (i = 0; i < conn->depth; i++)
		post_recv(conn, i);
	check(conn->events->fd < FDS_MAX, "descriptor");
	conns[conn->events->fd] = conn;
	return conn;
}

static struct rdma_conn_param parameters(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = READS, .initiator_depth = READS,
		.retry_count = RETRIES, .rnr_retry_count = RETRIES,
	};
}

static struct sockaddr_in address(const struct job *job)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(job->port) };

	check(inet_pton(AF_INET, job->host, &sin.sin_addr) == 1, job->host);
	return sin;
}

static int verbs_listen(const struct job *job)
{
	struct sockaddr_in sin = address(job);
	struct rdma_cm_id *id;

	check(!rdma_create_id(NULL, &id, (void *)job, RDMA_PS_TCP), "rdma_cm");
	check(!rdma_bind_addr(id, (struct sockaddr *)&sin), "bind");
	check(!rdma_listen(id, BACKLOG), "listen");
	check(id->channel->fd < FDS_MAX, "descriptor");
	listeners[id->channel->fd] = id;
	return id->channel->fd;
}

static int verbs_accept(int listener)
{
	struct rdma_conn_param param = parameters();
	const struct job *job = listeners[listener]->context;
	struct rdma_cm_id *id;
	struct conn *conn;

	check(!rdma_get_request(listeners[listener], &id), "request");
	conn = make_conn(id, job);
	check(!rdma_accept(id, &param), "accept");
	return conn->events->fd;
}

static int refused(struct rdma_cm_id *id)
{
	int error = errno;

	rdma_destroy_id(id);
	errno = error;
	return -1;
}

static int verbs_connect(const struct job *job)
{
	struct rdma_conn_param param = parameters();
	struct sockaddr_in sin = address(job);
	struct rdma_cm_id *id;
	struct conn *conn;

	check(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "rdma_cm");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, RESOLVE_MS) ||
	    rdma_resolve_route(id, RESOLVE_MS))
		return refused(id);
	conn = make_conn(id, job);
	if (rdma_connect(id, &param))
		return -1;
	return conn->events->fd;
}

static int verbs_close(int fd)
{
	return conns[fd] ? rdma_disconnect(conns[fd]->id) : 0;
}

static ssize_t verbs_send(int fd, const void *data, size_t size)
{
	struct conn *conn = conn_of(fd);

	conn_post_send(conn, data, size, false);
	while (!conn->sent && !conn->lost)
		sleep_on(conn);
	if (!conn->sent)
		return -1;
	conn->sent--;
	return size;
}

static ssize_t verbs_recv(int fd, void *data, size_t size)
{
	struct conn *conn = conn_of(fd);

	(void)data;
	look(conn);
	while (!conn->got && !conn->lost)
		sleep_on(conn);
	if (!conn->got)
		return 0;
	conn->got--;
	return size;
}

/* Rings: what a program of verbs has anyway. There is one connection. */

/**
 * struct verbs_ring - the connection, once it is known
 * @conn: connection
 * @size: bytes of its messages
 */
struct verbs_ring {
	struct conn *conn;
	size_t size;
};

static void *open_ring(void)
{
	struct verbs_ring *ring = calloc(1, sizeof(*ring));

	check(ring, "memory");
	return ring;
}

static void add_send(void *opaque, int fd, const void *data, size_t size, bool quiet)
{
	struct verbs_ring *ring = opaque;

	(void)data;
	ring->conn = conn_of(fd);
	ring->size = size;
	conn_post_send(ring->conn, NULL, size, quiet);
}

static void add_recv(void *opaque, int fd, void *data, size_t size, uint64_t tag)
{
	struct verbs_ring *ring = opaque;
	struct conn *conn = conn_of(fd);

	(void)data;
	ring->conn = conn;
	ring->size = size;
	conn->tags[(conn->first_tag + conn->asked++) % VERBS_DEPTH] = tag;
}

static void enter(void *opaque, unsigned int count, unsigned int min)
{
	struct verbs_ring *ring = opaque;

	(void)count;
	look(ring->conn);
	while (ready(ring->conn) < min && !ring->conn->lost)
		sleep_on(ring->conn);
	check(ready(ring->conn) >= min, "connection");
}

static bool next(void *opaque, int64_t *res, uint64_t *tag)
{
	struct verbs_ring *ring = opaque;
	struct conn *conn = ring->conn;

	*res = ring->size;
	*tag = 0;
	if (conn->sent) {
		conn->sent--;
		return true;
	}
	if (!conn->got || !conn->asked)
		return false;
	*tag = conn->tags[conn->first_tag++ % VERBS_DEPTH];
	conn->asked--;
	conn->got--;
	return true;
}

const struct rings verbs_rings = {
	.open = open_ring,
	.send = add_send,
	.recv = add_recv,
	.enter = enter,
	.next = next,
	.close = free,
};

const struct way way_verbs = {
	.name = "verbs",
	.pattern = &by_rings,
	.rings = &verbs_rings,
	.reach = &by_verbs,
	.listen = verbs_listen,
	.accept = verbs_accept,
	.connect = verbs_connect,
	.send = verbs_send,
	.recv = verbs_recv,
	.close = verbs_close,
};
