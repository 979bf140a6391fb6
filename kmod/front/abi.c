// SPDX-License-Identifier: GPL-2.0
/*
 * abi.c - the sizes of what programs share with the module
 *
 * All is decided when it is compiled, for each architecture. A structure that grows has a line
 * of its own then, with its new size.
 */
#include <linux/build_bug.h>
#include <rdmachan.h>

#define RCH_AS_IN_VERSION_1(_type, _size) static_assert(sizeof(struct _type) == (_size))

RCH_AS_IN_VERSION_1(rdmachan_addr, RDMACHAN_ADDR_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_error, RDMACHAN_ERROR_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_device, RDMACHAN_DEVICE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_use, RDMACHAN_USE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_info, RDMACHAN_INFO_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_tuning, RDMACHAN_TUNING_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_listen_args, RDMACHAN_LISTEN_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_accept_args, RDMACHAN_ACCEPT_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_connect_args, RDMACHAN_CONNECT_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_send_args, RDMACHAN_SEND_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_recv_args, RDMACHAN_RECV_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_shutdown_args, RDMACHAN_SHUTDOWN_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_finish_args, RDMACHAN_FINISH_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_tune_args, RDMACHAN_TUNE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_busy_poll_args, RDMACHAN_BUSY_POLL_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_object, RDMACHAN_OBJECT_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_query_args, RDMACHAN_QUERY_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_list_args, RDMACHAN_LIST_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_region_register_args, RDMACHAN_REGION_REGISTER_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_region_unregister_args, RDMACHAN_REGION_UNREGISTER_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_grant_range, RDMACHAN_GRANT_RANGE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_grant_args, RDMACHAN_GRANT_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_grant_event, RDMACHAN_GRANT_EVENT_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_release_args, RDMACHAN_RELEASE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_revoke_args, RDMACHAN_REVOKE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_access_args, RDMACHAN_ACCESS_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_atomic_args, RDMACHAN_ATOMIC_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_sqe, RDMACHAN_SQE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_cqe, RDMACHAN_CQE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_ring, RDMACHAN_RING_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_queue_create_args, RDMACHAN_QUEUE_CREATE_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_enter_args, RDMACHAN_ENTER_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_buffer, RDMACHAN_BUFFER_SIZE_1);
RCH_AS_IN_VERSION_1(rdmachan_pool_create_args, RDMACHAN_POOL_CREATE_SIZE_1);
