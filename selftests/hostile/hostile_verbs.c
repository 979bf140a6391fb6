// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_verbs.c - connecting and moving bytes
 *
 * One thread; hostile_pump() is the only place that waits. Errors that no test expects
 * end the program: they are a matter of the machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "hostile_verbs.h"

/* Work requests to send have the top bit set in their number. */
#define SENT 0x8000000000000000ULL
/* rxe tells programs by the kernel's bit, which is another one here. */
#define CLOSED (IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK)

static void die(const char *what)
{
	printf("# hostile peer: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static void must(bool ok, const char *what)
{
	if (!ok)
		die(what);
}

/* Return: for leave_peer() */
static int enter_host(const struct hostile *h)
{
	return h->here ? -1 : enter_peer();
}

static void begin(struct hostile *h, bool is_here)
{
	int here;

	memset(h, 0, sizeof(*h));
	h->here = is_here;
	here = enter_host(h);
	h->event = -1; /* ADDR_RESOLVED is 0 */
	h->reads_in = 1;
	h->reads_out = 1;
	h->events = rdma_create_event_channel();
	must(h->events, "event channel");
	fcntl(h->events->fd, F_SETFL, O_NONBLOCK);
	leave_peer(here);
}

void hostile_begin(struct hostile *h)
{
	begin(h, false);
}

/* The same with the hosts exchanged. */
void hostile_begin_here(struct hostile *h)
{
	begin(h, true);
}

/* All share it. */
#define PRIVILEGED 1023

/* An id is of the network namespace that it is made in, with all that hangs on it. */
static struct rdma_cm_id *make_id(struct hostile *h)
{
	int here = enter_host(h);
	struct rdma_cm_id *id;

	must(!rdma_create_id(h->events, &id, h, RDMA_PS_TCP), "id");
	leave_peer(here);
	return id;
}

static void post_recv(struct hostile *h, u32 i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(h->rx + i * HOSTILE_BUFFER),
		.length = HOSTILE_BUFFER,
		.lkey = h->rx_mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	/* When the connection has ended just now it cannot be posted. */
	if (ibv_post_recv(h->qp, &wr, &bad))
		h->ended = true;
}

/* The connection manager knows which, and does not do it for a queue pair that is not the id's. */
static void settle_qp(struct hostile *h, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	must(!rdma_init_qp_attr(h->id, &attr, &mask), "attributes");
	must(!ibv_modify_qp(h->qp, &attr, mask), "state");
}

/* A queue pair that is not the id's: then nobody says behind our back that it stands. */
static struct ibv_qp *make_mute(struct hostile *h, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = ibv_create_qp(h->pd, attr);

	must(qp, "queue pair");
	h->qp = qp;
	settle_qp(h, IBV_QPS_INIT);
	return qp;
}

static struct ibv_qp *make_told(struct hostile *h, struct ibv_qp_init_attr *attr)
{
	must(!rdma_create_qp(h->id, h->pd, attr), "queue pair");
	return h->id->qp;
}

static void make_qp(struct hostile *h)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = HOSTILE_SLOTS,
			.max_recv_wr = HOSTILE_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	u32 i;

	h->pd = ibv_alloc_pd(h->id->verbs);
	must(h->pd, "protection domain");
	h->comps = ibv_create_comp_channel(h->id->verbs);
	must(h->comps, "completion channel");
	fcntl(h->comps->fd, F_SETFL, O_NONBLOCK);
	h->cq = ibv_create_cq(h->id->verbs, HOSTILE_DEPTH + HOSTILE_SLOTS + 2, NULL,
			      h->comps, 0);
	must(h->cq, "completion queue");
	ibv_req_notify_cq(h->cq, 0);
	attr.send_cq = h->cq;
	attr.recv_cq = h->cq;
	h->qp = h->mute ? make_mute(h, &attr) : make_told(h, &attr);
	h->rx = calloc(HOSTILE_DEPTH, HOSTILE_BUFFER);
	h->tx = calloc(HOSTILE_SLOTS, HOSTILE_FRAME);
	must(h->rx && h->tx, "memory");
	h->rx_mr = ibv_reg_mr(h->pd, h->rx, HOSTILE_DEPTH * HOSTILE_BUFFER,
			      IBV_ACCESS_LOCAL_WRITE);
	h->tx_mr = ibv_reg_mr(h->pd, h->tx, HOSTILE_SLOTS * HOSTILE_FRAME,
			      IBV_ACCESS_LOCAL_WRITE);
	must(h->rx_mr && h->tx_mr, "memory regions");
	for (i = 0; i < HOSTILE_DEPTH; i++)
		post_recv(h, i);
}

/* Destroy the id and its resources. */
static void drop_id(struct hostile *h)
{
	if (h->qp) {
		if (h->mute)
			ibv_destroy_qp(h->qp);
		else
			rdma_destroy_qp(h->id);
		ibv_dereg_mr(h->rx_mr);
		ibv_dereg_mr(h->tx_mr);
		ibv_destroy_cq(h->cq);
		ibv_destroy_comp_channel(h->comps);
		ibv_dealloc_pd(h->pd);
		free(h->rx);
		free(h->tx);
	}
	if (h->id)
		rdma_destroy_id(h->id);
	h->qp = NULL;
	h->id = NULL;
	h->comps = NULL;
	h->cq = NULL;
}

void hostile_end(struct hostile *h)
{
	if (h->qp)
		rdma_disconnect(h->id);
	drop_id(h);
	if (h->listener)
		rdma_destroy_id(h->listener);
	if (h->events)
		rdma_destroy_event_channel(h->events);
	memset(h, 0, sizeof(*h));
}

static void keep_words(struct hostile *h, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	h->agreed_in = conn->responder_resources;
	h->agreed_out = conn->initiator_depth;
	h->flow_control = conn->flow_control;
	h->reply_len = 0;
	if (!conn->private_data)
		return;
	h->reply_len = conn->private_data_len;
	memcpy(h->reply, conn->private_data, h->reply_len);
}

static void take_event(struct hostile *h, struct rdma_cm_event *event)
{
	h->event = event->event;
	h->status = event->status;
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (h->id) {
			rdma_reject(event->id, NULL, 0);
			break;
		}
		h->id = event->id;
		keep_words(h, event);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		/* The passive side has its words already. */
		if (!h->listener)
			keep_words(h, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		keep_words(h, event);
		h->ended = true;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		h->ended = true;
		break;
	default:
		break;
	}
}

static bool take_events(struct hostile *h)
{
	struct rdma_cm_event *event, copy;
	bool any = false;
	u8 words[256];

	while (!rdma_get_cm_event(h->events, &event)) {
		copy = *event;
		copy.param.conn.private_data = NULL;
		if (event->param.conn.private_data && event->param.conn.private_data_len) {
			memcpy(words, event->param.conn.private_data,
			       event->param.conn.private_data_len);
			copy.param.conn.private_data = words;
		}
		rdma_ack_cm_event(event);
		take_event(h, &copy);
		any = true;
	}
	return any;
}

static bool take_completions(struct hostile *h)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	bool any = false;
	void *context;

	if (!h->cq)
		return false;
	while (!ibv_get_cq_event(h->comps, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(h->cq, 0);
	while (ibv_poll_cq(h->cq, 1, &wc) > 0) {
		any = true;
		if (wc.wr_id & SENT)
			h->busy--;
		if (wc.status != IBV_WC_SUCCESS) {
			if (!h->wc_status && wc.status != IBV_WC_WR_FLUSH_ERR)
				h->wc_status = wc.status;
			h->ended = true;
		} else if (!(wc.wr_id & SENT)) {
			if (wc.wc_flags & CLOSED) {
				h->closed++;
				h->closed_key = wc.invalidated_rkey;
			}
			if (wc.wc_flags & IBV_WC_WITH_IMM)
				hostile_took_bare(h, ntohl(wc.imm_data), wc.byte_len);
			else
				hostile_took(h, h->rx + wc.wr_id * HOSTILE_BUFFER,
					     wc.byte_len);
			post_recv(h, wc.wr_id);
			rch_credit_posted(&h->credit, 1);
		}
	}
	return any;
}

/* Take what has come, or wait for something. */
void hostile_pump(struct hostile *h, int timeout_ms)
{
	struct pollfd pfd[2] = {
		{ h->events->fd, POLLIN, 0 },
		{ h->comps ? h->comps->fd : -1, POLLIN, 0 },
	};
	bool any = take_events(h);

	any |= take_completions(h);
	if (h->qp && !h->stingy && !h->ended && rch_credit_must_tell(&h->credit))
		hostile_pure(h, 0);
	if (!any && timeout_ms)
		poll(pfd, 2, timeout_ms);
}

bool hostile_await_event(struct hostile *h, int event, int timeout_ms)
{
	return HOSTILE_UNTIL(h, h->event == event, timeout_ms);
}

static bool is_answer(int event)
{
	return event == RDMA_CM_EVENT_ESTABLISHED || event == RDMA_CM_EVENT_REJECTED ||
	       event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	       event == RDMA_CM_EVENT_UNREACHABLE || event == RDMA_CM_EVENT_CONNECT_ERROR;
}

/* The answer to hostile_request(). iWARP empties the queues before it tells. */
int hostile_await_answer(struct hostile *h)
{
	int64_t until = now_ms() + 10000;

	while (!is_answer(h->event) && now_ms() < until)
		hostile_pump(h, 20);
	return h->event;
}

static struct sockaddr_in to_sockaddr(struct rdmachan_addr addr, u16 port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	memcpy(&in.sin_addr, addr.addr, 4);
	return in;
}

static u16 module_port(void)
{
	struct rdmachan_info info;
	int ctx = open_ctx();

	must(!get_info(ctx, &info), "INFO");
	close(ctx);
	return info.out_port;
}

/* As the module does: all share one port. Return: whether the id is bound now. */
static bool bind_port(struct hostile *h)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(h->port ?: PRIVILEGED),
		.sin_addr.s_addr = h->from,
	};
	const char *rdma = getenv("LAB_RDMA");
	int reuse = 1;

	/* TCP would keep the port. */
	if (rdma && !strncmp(rdma, "siw", 3))
		return false;
	must(!rdma_set_option(h->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse,
			      sizeof(reuse)), "shared port");
	must(!rdma_bind_addr(h->id, (struct sockaddr *)&in), "port");
	return true;
}

/* The way to the module. */
static void resolve(struct hostile *h)
{
	struct sockaddr_in in = to_sockaddr(h->here ? peer_address() : own_address(),
					    module_port());
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = h->from };
	bool bound;

	h->id = make_id(h);
	bound = bind_port(h);
	must(!rdma_resolve_addr(h->id, h->from && !bound ? (struct sockaddr *)&from : NULL,
				(struct sockaddr *)&in, 3000), "address");
	must(hostile_await_event(h, RDMA_CM_EVENT_ADDR_RESOLVED, 5000), "no address");
	must(!rdma_resolve_route(h->id, 3000), "route");
	must(hostile_await_event(h, RDMA_CM_EVENT_ROUTE_RESOLVED, 5000), "no route");
}

static void conn_param(const struct hostile *h, struct rdma_conn_param *param, const void *data,
		       u8 len)
{
	memset(param, 0, sizeof(*param));
	param->private_data = data;
	param->private_data_len = len;
	param->retry_count = 7;
	param->rnr_retry_count = 7;
	param->responder_resources = h->reads_in;
	param->initiator_depth = h->reads_out;
}

static int request_once(struct hostile *h, const void *data, u8 len)
{
	struct rdma_conn_param param;

	resolve(h);
	conn_param(h, &param, data, len);
	if (h->raw_qp)
		param.qp_num = h->raw_qp & 0xffffff;
	else
		make_qp(h);
	if (h->mute)
		param.qp_num = h->qp->qp_num;
	return rdma_connect(h->id, &param);
}

/*
 * Ask the module to connect, with any words. Return: 0; the answer comes as an event. With iWARP
 * the port is a random one, which may be that of a connection that has ended a moment ago.
 */
int hostile_request(struct hostile *h, const void *data, u8 len)
{
	int ret = request_once(h, data, len);

	while (ret && errno == EADDRNOTAVAIL) {
		drop_id(h);
		ret = request_once(h, data, len);
	}
	return ret;
}

static int let_in(const struct hostile *h)
{
	return h->mute ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED;
}

/* With the words of h->mine. Return: 0 when the module has let us in. */
int hostile_connect(struct hostile *h)
{
	u8 data[sizeof(struct rch_wire_hello)];

	rch_wire_hello_put(data, &h->mine);
	if (hostile_request(h, data, sizeof(data)) || hostile_await_answer(h) != let_in(h))
		return -1;
	if (h->mute) {
		settle_qp(h, IBV_QPS_RTR);
		settle_qp(h, IBV_QPS_RTS);
	}
	if (rch_wire_hello_get(h->reply, h->reply_len, &h->theirs))
		return -1;
	h->epoch = h->mine.epoch;
	hostile_agree(h);
	return 0;
}

int hostile_listen(struct hostile *h)
{
	struct sockaddr_in in = to_sockaddr(peer_address(), h->port ?: HOSTILE_PORT);

	h->listener = make_id(h);
	if (rdma_bind_addr(h->listener, (struct sockaddr *)&in))
		return -1;
	return rdma_listen(h->listener, 8);
}

/* Wait until the module asks. Return: 0 with its words in h->theirs. */
int hostile_await_request(struct hostile *h, int timeout_ms)
{
	if (!HOSTILE_UNTIL(h, h->id, timeout_ms))
		return -1;
	return rch_wire_hello_get(h->reply, h->reply_len, &h->theirs) ? -1 : 0;
}

/* Let the module in, with any words. Return: 0 when it is connected. */
int hostile_accept(struct hostile *h, const void *data, u8 len)
{
	struct rdma_conn_param param;

	make_qp(h);
	h->epoch = h->theirs.epoch;
	hostile_agree(h);
	conn_param(h, &param, data, len);
	if (rdma_accept(h->id, &param))
		return -1;
	return hostile_await_event(h, RDMA_CM_EVENT_ESTABLISHED, 10000) ? 0 : -1;
}

/* Post @wr with bytes, once there is a slot for them. Return: 0, or an errno below 0. */
int hostile_post(struct hostile *h, struct ibv_send_wr *wr, const void *data, u32 len)
{
	u8 *slot = h->tx + h->slot * HOSTILE_FRAME;
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot,
		.length = len,
		.lkey = h->tx_mr->lkey,
	};
	struct ibv_send_wr *bad;
	int ret;

	/* Not hostile_pump(): it may send something itself. */
	while (h->busy == HOSTILE_SLOTS && !h->ended) {
		struct pollfd pfd = { h->comps->fd, POLLIN, 0 };

		take_events(h);
		if (!take_completions(h))
			poll(&pfd, 1, 20);
	}
	if (h->ended)
		return -ENOTCONN;
	if (len)
		memcpy(slot, data, len);
	wr->wr_id = SENT | h->slot;
	wr->sg_list = len ? &sge : NULL;
	wr->num_sge = len ? 1 : 0;
	ret = ibv_post_send(h->qp, wr, &bad);
	if (ret)
		return -ret;
	h->slot = (h->slot + 1) % HOSTILE_SLOTS;
	h->busy++;
	return 0;
}

/*
 * RDMA READ or WRITE, without asking anybody. Return: where the bytes are that were
 * written, or will be that are read; NULL: it cannot be posted.
 */
void *hostile_reach(struct hostile *h, int opcode, u64 addr, u32 rkey, const void *data, u32 len)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.rdma.remote_addr = addr,
		.wr.rdma.rkey = rkey,
	};
	u8 *slot = h->tx + h->slot * HOSTILE_FRAME;

	return hostile_post(h, &wr, data, len) ? NULL : slot;
}
