/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conn.h - how a path begins and ends: the connection manager, addresses, devices
 */
#ifndef _RCH_CONN_H
#define _RCH_CONN_H

#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdmachan.h>

#include "path/path.h"

struct net;

/**
 * struct rch_path_request - a peer's wish to connect
 * @id: connection manager's id for it
 * @data: private data
 * @data_len: bytes of it
 * @rd_depth: RDMA READs and atomics that may be under way, each way, as the peer says
 */
struct rch_path_request {
	struct rdma_cm_id *id;
	const void *data;
	u8 data_len;
	u8 rd_depth;
};

/* path.c APIs: a path's life. All may sleep. */
void rch_path_init(struct rch_path *path, const struct rch_path_ops *ops);
int rch_path_resolve(struct rch_path *path, struct net *net,
		     struct sockaddr_storage *dst, unsigned long deadline);
int rch_path_setup(struct rch_path *path, u32 depth, u32 frame_size);
int rch_path_route(struct rch_path *path, unsigned long deadline);
int rch_path_connect(struct rch_path *path, const void *data, u8 len);
int rch_path_adopt(struct rch_path *path, const struct rch_path_request *request);
int rch_path_accept(struct rch_path *path, u32 peer_depth, const void *data, u8 len);
void rch_path_reject(struct rch_path *path, const void *data, u8 len);
void rch_path_break(struct rch_path *path);
void rch_path_address_changed(struct rch_path *path);
void rch_path_device_fatal(struct rch_path *path);
void rch_path_drain(struct rch_path *path);
void rch_path_destroy(struct rch_path *path);
void rch_path_id_destroy(struct rdma_cm_id *id);
void rch_path_addresses(struct rch_path *path, struct rdmachan_addr *local,
			struct rdmachan_addr *peer);

/* path.c APIs: any context */
int rch_path_answered(struct rch_path *path, int event, u32 op, unsigned long deadline);
void rch_path_abort(struct rch_path *path);

/**
 * enum rch_device_news - what an adapter's driver tells
 * @RCH_DEVICE_FATAL: the adapter has failed, with all of its ports
 * @RCH_DEVICE_PORT_DOWN: a port is down
 * @RCH_DEVICE_PORT_WAS_DOWN: a port was down, and is up again
 * @RCH_DEVICE_PORT_UP: a port is up
 * @RCH_DEVICE_GIDS: addresses of a port have come or gone
 * @RCH_DEVICE_SUBNET: a port has another place in its subnet, or the subnet another manager
 */
enum rch_device_news {
	RCH_DEVICE_FATAL,
	RCH_DEVICE_PORT_DOWN,
	RCH_DEVICE_PORT_WAS_DOWN,
	RCH_DEVICE_PORT_UP,
	RCH_DEVICE_GIDS,
	RCH_DEVICE_SUBNET,
};

/* path.c APIs: any context */
void rch_path_told(struct rch_path *path, enum rch_device_news news);

/* path_listen.c APIs */
struct rch_path_listener;

/**
 * typedef rch_path_incoming - a peer wants to connect
 * @net: network namespace
 * @request: to be adopted and accepted, or refused
 *
 * Called in the connection manager's context, may sleep.
 * Return: 0 when the id was adopted, or what rch_path_refuse() returns.
 */
typedef int (*rch_path_incoming)(struct net *net, const struct rch_path_request *request);

struct rch_path_listener *rch_path_listen(struct net *net, u16 port,
					  rch_path_incoming incoming);
void rch_path_unlisten(struct rch_path_listener *listener);
int rch_path_refuse(const struct rch_path_request *request, const void *data, u8 len);
bool rch_path_request_is_its_own(const struct rch_path_request *request);
bool rch_path_request_privileged(const struct rch_path_request *request);

/* device.c APIs */
/**
 * typedef rch_device_gone - a device is being removed
 * @dev: device
 *
 * All paths on it must be destroyed when this returns. May sleep.
 */
typedef void (*rch_device_gone)(struct ib_device *dev);

/**
 * typedef rch_device_told - an adapter's driver tells something
 * @dev: device, which does not go meanwhile
 * @port: port of it; not for RCH_DEVICE_FATAL
 * @news: what
 *
 * May sleep, but not wait for paths: the device's driver waits for this.
 */
typedef void (*rch_device_told)(struct ib_device *dev, u32 port, enum rch_device_news news);

int rch_device_init(rch_device_gone gone, rch_device_told told);
void rch_device_exit(void);
bool rch_device_bind(struct rch_path *path);
u32 rch_device_count(const struct net *net);
bool rch_device_info(const struct net *net, u32 index, struct rdmachan_device *out,
		     struct ib_device **dev);

/* path_own.c APIs: any context */
int rch_path_own_begin(struct rch_path *path, struct net *net, const struct sockaddr_storage *dst);
bool rch_path_own_failed(struct rch_path *path, int ret);

/* path_own.c APIs: may sleep, but for rch_path_own_get() */
int rch_path_own_check(struct net *net, const struct sockaddr_storage *own);
void rch_path_own_get(const struct rdma_cm_id *id, struct sockaddr_storage *own);
int rch_path_own_bind(struct rdma_cm_id *id, const struct sockaddr_storage *source,
		      const struct sockaddr_storage *dst);

/* path_query.c APIs: a work item of the path's owner */
void rch_path_query(struct rch_path *path, const struct sockaddr_storage *peer,
		    const void *question, u8 len);
void rch_path_query_end(struct rch_path *path);

/* path_mtu.c APIs: may sleep */
u32 rch_port_mtu(struct ib_device *dev, u32 port);
u32 rch_path_packet_size(struct rch_path *path);
void rch_path_keep_to_mtu(struct rch_path *path);
u32 rch_path_request_mtu(const struct rch_path_request *request);
bool rch_path_limit_mtu(struct rch_path *path, u32 mtu);

/* path_cause.c APIs: may sleep */
void rch_path_diagnose(struct rch_path *path, struct rdmachan_error *error);

#endif /* _RCH_CONN_H */
