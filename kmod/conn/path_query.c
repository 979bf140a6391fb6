// SPDX-License-Identifier: GPL-2.0
/*
 * path_query.c - asks the peer's module a question beside the connection
 *
 * The question is the private data of a request to connect, which the peer's module always refuses.
 * The words of the refusal are the answer. Both go by datagrams of the connection manager, so that
 * they arrive where the queue pair of the connection makes no progress. On iWARP there is no such
 * way: a request is a TCP connection, and takes as long.
 *
 * A request names a queue pair. The peer's connection manager takes the number of one that it knows
 * for that of a connection which this host has forgotten, and ends that connection. So a query has
 * a queue pair of its own, which stays in the state RESET. One that follows another has the same.
 *
 * The steps are done in the handler of the id, each as the answer to the one before. The owner of
 * the path begins and ends a query from one work item, which alone uses @id and @qp of the query.
 * The handler reads what that work item has written before it asked for the peer's address.
 */
#include <rdma/rdma_cm.h>

#include "base/inject.h"
#include "base/rch.h"
#include "conn/conn.h"
#include "pure/ack.h"

#define RCH_QUERY_RESOLVE_MS 3000

static void path_query_send(struct rch_path *path, struct rdma_cm_id *id)
{
	const struct rch_path_query *query = &path->query;
	struct rdma_conn_param param = {
		.private_data = query->question,
		.private_data_len = query->len,
		.retry_count = RCH_ACK_RETRIES,
		.qp_num = query->qp->qp_num,
	};

	/* The route may lead by another device by now, which does not know the queue pair. */
	if (id->device == path->dev)
		rdma_connect_locked(id, &param);
}

static void path_query_answered(struct rch_path *path, struct rdma_cm_id *id,
				struct rdma_cm_event *event)
{
	const void *answer;
	u8 len;

	answer = rdma_consumer_reject_data(id, event, &len);
	if (answer)
		path->ops->replied(path, answer, len);
}

/* Whatever else comes, and a step that fails, is no answer. */
static int rch_path_query_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rch_path *path = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rdma_resolve_route(id, RCH_QUERY_RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		path_query_send(path, id);
		break;
	case RDMA_CM_EVENT_REJECTED:
		path_query_answered(path, id, event);
		break;
	default:
		break;
	}
	return 0;
}

static struct ib_qp *path_query_qp(struct rch_path *path)
{
	struct ib_qp_init_attr attr = {
		.send_cq = path->cq,
		.recv_cq = path->cq,
		.cap.max_send_wr = 1,
		.cap.max_recv_wr = 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = path->port,
	};

	return rch_try_verb(ib_create_qp(path->pd, &attr));
}

/* From the own address of the connection, from such a port, and with packets of its class. */
static int path_query_resolve(struct rch_path *path, const struct sockaddr_storage *peer)
{
	struct sockaddr_storage to = *peer, own;
	struct rdma_cm_id *id = path->query.id;

	rch_path_own_get(path->id, &own);
	/* At the same place in both families. */
	((struct sockaddr_in *)&own)->sin_port = 0;
	if (path->traffic_class)
		rdma_set_service_type(id, path->traffic_class % RDMACHAN_TRAFFIC_CLASS_0);
	if (path->privileged)
		rch_path_own_bind(id, &own, &to);
	return rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&to,
				 RCH_QUERY_RESOLVE_MS);
}

/* No handler of it runs after this. */
static void path_query_drop_id(struct rch_path *path)
{
	struct rch_path_query *query = &path->query;

	if (!query->id)
		return;
	if (query->id->device == path->dev)
		rdma_destroy_id(query->id);
	else
		rch_path_id_destroy(query->id);
	query->id = NULL;
}

/* Return: whether there is an id that asks; one of another device would keep that for nothing. */
static bool path_query_ask(struct rch_path *path, const struct sockaddr_storage *peer)
{
	/* The path's id keeps the namespace. */
	struct rdma_cm_id *id = rch_try_verb(rdma_create_id(path->id->route.addr.dev_addr.net,
							    rch_path_query_event, path,
							    RDMA_PS_TCP, IB_QPT_RC));
	const struct ib_device *dev;

	if (IS_ERR(id))
		return false;
	path->query.id = id;
	if (path_query_resolve(path, peer))
		return false;
	dev = READ_ONCE(id->device);
	return !dev || dev == path->dev;
}

/**
 * rch_path_query - ask the peer's module a question
 * @path: path that stands, and is not taken apart meanwhile; not on iWARP
 * @peer: address and port that this side has connected to
 * @question: private data of the request
 * @len: its length, at most RCH_PATH_QUESTION_MAX
 *
 * @ops->replied has the answer, if there is one. A query that is under way is ended before. The
 * connection manager asks again each 4.3 s, until rch_path_query_end().
 *
 * Context: a work item that is never concurrent with rch_path_query_end(); waits for the adapter,
 * and for no peer.
 */
void rch_path_query(struct rch_path *path, const struct sockaddr_storage *peer,
		    const void *question, u8 len)
{
	struct rch_path_query *query = &path->query;

	path_query_drop_id(path);
	query->len = min_t(u8, len, sizeof(query->question));
	memcpy(query->question, question, query->len);
	if (!query->qp)
		query->qp = path_query_qp(path);
	if (IS_ERR(query->qp))
		query->qp = NULL;
	else if (!path_query_ask(path, peer))
		path_query_drop_id(path);
}

/**
 * rch_path_query_end - no answer is waited for any more
 * @path: path, before rch_path_destroy()
 *
 * @ops->replied does not run after this. Does nothing when no query is under way.
 *
 * Context: as rch_path_query(), or when that work item runs no more.
 */
void rch_path_query_end(struct rch_path *path)
{
	struct rch_path_query *query = &path->query;

	path_query_drop_id(path);
	if (query->qp)
		ib_destroy_qp(query->qp);
	query->qp = NULL;
}
