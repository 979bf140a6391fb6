// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl.c - commands
 *
 * One table for each kind of file. The dispatcher copies the structure, whose size is
 * its first member, into kernel memory; handlers see only that. Outputs are copied back
 * when the handler has succeeded, or says so.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <net/net_namespace.h>

#include "base/rch.h"
#include "call/call.h"
#include "call/ctx.h"
#include "channel/chan.h"
#include "channel/listener.h"
#include "conn/conn.h"
#include "front/file.h"
#include "front/ioctl.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "message/message.h"
#include "op/queue_op.h"
#include "proto/wire.h"
#include "pure/ring.h"
#include "queue/queue.h"

/**
 * struct rch_command - a command
 * @cmd: its number
 * @size: of its structure
 * @min_size: of the first version of it
 * @run: does it. Return: 0 or an error
 */
struct rch_command {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	int (*run)(struct rch_call *call);
};

#define RCH_COMMAND(_cmd, _type, _min_size, _run)		\
	{							\
		.cmd = (_cmd),					\
		.size = sizeof(struct _type),			\
		.min_size = (_min_size),			\
		.run = (_run),					\
	}

/*
 * Give the program the outputs before what cannot be undone: a caller that gets EFAULT has lost
 * nothing.
 */
static int ioctl_copy_out(struct rch_call *call, size_t size)
{
	if (copy_to_user(call->user, &call->arg, min_t(size_t, call->user_size, size)))
		return -EFAULT;
	call->copied = true;
	return 0;
}

static int ioctl_reserve_fd(struct rch_call *call, enum rch_file_kind kind, void *object, u32 flags)
{
	call->fd = get_unused_fd_flags(flags & RDMACHAN_FD_F_CLOEXEC ? O_CLOEXEC : 0);
	if (call->fd < 0)
		return call->fd;
	call->new_file = rch_file_create(kind, object, flags);
	if (!IS_ERR(call->new_file))
		return 0;
	put_unused_fd(call->fd);
	call->fd = -1;
	return PTR_ERR(call->new_file);
}

/* INFO */

static int ioctl_devices_out(const struct net *net, struct rdmachan_info *info)
{
	u8 __user *user = u64_to_user_ptr(info->devices_ptr);
	size_t size = min_t(size_t, info->device_size, sizeof(struct rdmachan_device));
	struct rdmachan_device device;
	struct ib_device *dev;
	u32 i;

	for (i = 0; i < info->devices_max; i++) {
		if (!rch_device_info(net, i, &device, &dev))
			return 0;
		device.links = rch_link_count_device(net, dev);
		if (copy_to_user(user + (size_t)i * info->device_size, &device, size))
			return -EFAULT;
	}
	return 0;
}

static void ioctl_use_out(struct rch_user *user, struct rdmachan_info *info)
{
	rch_quota_tell(user, RDMACHAN_LIMIT_CONTEXTS, &info->out_use_contexts);
	rch_quota_tell(user, RDMACHAN_LIMIT_LISTENERS, &info->out_use_listeners);
	rch_quota_tell(user, RDMACHAN_LIMIT_CHANNELS, &info->out_use_channels);
	rch_quota_tell(user, RDMACHAN_LIMIT_PENDING, &info->out_use_pending);
	rch_quota_tell(user, RDMACHAN_LIMIT_BYTES, &info->out_use_bytes);
	rch_quota_tell(user, RDMACHAN_LIMIT_QUEUES, &info->out_use_queues);
	rch_quota_tell(user, RDMACHAN_LIMIT_REGIONS, &info->out_use_regions);
	rch_quota_tell(user, RDMACHAN_LIMIT_POLLERS, &info->out_use_pollers);
	rch_quota_tell(user, RDMACHAN_LIMIT_GRANTS, &info->out_use_grants);
	rch_quota_tell(user, RDMACHAN_LIMIT_LINKS, &info->out_use_links);
}

/* RCH_REJECT_DOMAIN is no refusal: it tells the peer which link to use. */
static void ioctl_refused_out(struct rdmachan_info *info)
{
	const atomic64_t *channels = rch_counts.refused_channels, *links = rch_counts.refused_links;

	info->out_refused_handshake = atomic64_read(&links[RCH_REJECT_PROTOCOL]);
	info->out_refused_version = atomic64_read(&links[RCH_REJECT_VERSION]) +
				    atomic64_read(&links[RCH_REJECT_FEATURE]);
	info->out_refused_port = atomic64_read(&links[RCH_REJECT_PORT]);
	info->out_refused_mtu = atomic64_read(&links[RCH_REJECT_MTU]);
	info->out_refused_links = atomic64_read(&links[RCH_REJECT_RESOURCES]);
	info->out_refused_service = atomic64_read(&links[RCH_REJECT_NO_SERVICE]) +
				    atomic64_read(&channels[RCH_REJECT_NO_SERVICE]);
	info->out_refused_backlog = atomic64_read(&channels[RCH_REJECT_BACKLOG]);
	info->out_refused_channels = atomic64_read(&channels[RCH_REJECT_RESOURCES]);
	info->out_refused_memlock = atomic64_read(&rch_counts.refused_memlock);
	info->out_broken_rules = atomic64_read(&rch_counts.broken_rules);
}

static int ioctl_run_info(struct rch_call *call)
{
	struct rdmachan_info *info = &call->arg.info;
	struct rch_ctx *ctx = call->file->private_data;

	if (info->flags)
		return -EOPNOTSUPP;
	if (info->devices_max && info->device_size < RDMACHAN_DEVICE_SIZE_1)
		return -EINVAL;
	info->out_abi = RDMACHAN_ABI_VERSION;
	info->out_protocol = RCH_WIRE_VERSION;
	info->out_features = RCH_FEATURES;
	info->out_calls = RDMACHAN_CALLS_QUEUE | RDMACHAN_CALLS_POOL |
			  RDMACHAN_CALLS_POLLER | RDMACHAN_CALLS_REGION |
			  RDMACHAN_CALLS_GRANT | RDMACHAN_CALLS_QUEUE_GRANT |
			  RDMACHAN_CALLS_FINISH | RDMACHAN_CALLS_TRAFFIC_CLASS |
			  RDMACHAN_CALLS_QUEUE_IOV | RDMACHAN_CALLS_ACCEPT_MANY |
			  RDMACHAN_CALLS_QUEUE_MESSAGE | RDMACHAN_CALLS_PEEK |
			  RDMACHAN_CALLS_DELIVERED | RDMACHAN_CALLS_ADDRESS |
			  RDMACHAN_CALLS_TUNE;
	info->out_message_max = RDMACHAN_MESSAGE_MAX;
	info->out_frame_size = RCH_FRAME_SIZE;
	info->out_port = rch_port;
	info->out_dead_ms = READ_ONCE(rch_dead_ms);
	info->out_connect_ms = READ_ONCE(rch_connect_ms);
	info->out_linger_ms = READ_ONCE(rch_linger_ms);
	info->out_buffer = READ_ONCE(rch_buffer);
	info->out_message_default = READ_ONCE(rch_message_max);
	info->out_devices = rch_device_count(ctx->net);
	info->out_contexts = atomic_read(&rch_counts.contexts);
	info->out_listeners = atomic_read(&rch_counts.listeners);
	info->out_channels = atomic_read(&rch_counts.channels);
	info->out_links = atomic_read(&rch_counts.links);
	info->out_frames = atomic_read(&rch_counts.frames);
	info->out_segments = atomic_read(&rch_counts.segments);
	info->out_dropped = atomic64_read(&rch_counts.dropped);
	info->out_cm_connects = atomic64_read(&rch_counts.cm_connects);
	strscpy(info->out_version, RCH_VERSION, sizeof(info->out_version));
	ioctl_use_out(ctx->charge.user, info);
	ioctl_refused_out(info);
	return ioctl_devices_out(ctx->net, info);
}

/* LISTEN and ACCEPT */

static int ioctl_run_listen(struct rch_call *call)
{
	struct rdmachan_listen_args *listen = &call->arg.listen;
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rch_ctx *ctx = call->file->private_data;
	struct rch_listener *listener;
	struct sockaddr_storage own;
	int ret;

	if (listen->flags & ~RCH_FD_F_ALL)
		return -EOPNOTSUPP;
	if (!rch_service_valid(listen->service) || listen->backlog > 65535)
		return -EINVAL;
	ret = rch_error_check(listen->error_ptr) ?: rch_chan_tune(&listen->tuning) ?:
	      rch_addr_to_own(ctx->net, &own, &listen->local);
	if (ret)
		return ret;
	if (listen->service < RDMACHAN_SERVICE_PRIVILEGED &&
	    !ns_capable(ctx->net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	error.service = listen->service;
	rch_addr_from_sockaddr(&error.local, &own);
	listener = rch_listener_create(ctx->net, &ctx->charge, listen, &own, &error);
	if (IS_ERR(listener))
		return rch_refused(PTR_ERR(listener), listen->error_ptr, &error);
	ret = ioctl_reserve_fd(call, RCH_FILE_LISTENER, listener, listen->flags);
	if (ret) {
		rch_listener_release(listener);
		return rch_refused(ret, listen->error_ptr, &error);
	}
	listen->out_fd = call->fd;
	return 0;
}

static int ioctl_run_accept(struct rch_call *call)
{
	struct rdmachan_accept_args *accept = &call->arg.accept;
	struct rch_listener *listener = call->file->private_data;
	struct rdmachan_object about;
	struct rch_chan *chan;
	int ret;

	if (accept->flags & ~RCH_FD_F_ALL)
		return -EOPNOTSUPP;
	if (accept->__reserved || accept->__reserved2)
		return -EINVAL;
	ret = rch_call_until(call, &accept->until, accept->timeout_ms) ?:
	      rch_listener_wait(listener, call->file->f_flags & O_NONBLOCK,
				call->until.deadline, &chan);
	if (ret)
		return ret;
	rch_object_describe(&chan->object, &about);
	accept->out_peer = about.peer;
	accept->out_peer_claimed_uid = about.peer_claimed_uid;
	call->fd = get_unused_fd_flags(accept->flags & RDMACHAN_FD_F_CLOEXEC ? O_CLOEXEC : 0);
	accept->out_fd = call->fd;
	ret = call->fd < 0 ? call->fd : ioctl_copy_out(call, sizeof(*accept));
	if (!ret) {
		call->new_file = rch_file_create(RCH_FILE_CHAN, chan, accept->flags);
		ret = PTR_ERR_OR_ZERO(call->new_file);
	}
	if (ret) {
		if (call->fd >= 0)
			put_unused_fd(call->fd);
		call->fd = -1;
		rch_listener_give_back(listener, chan);
		return ret;
	}
	get_net(chan->net);
	rch_listener_accepted(listener, chan);
	return 0;
}

/* CONNECT */

/* The file exists: from here on closing it cleans up. */
static int ioctl_connect_file(struct rch_call *call, struct rch_chan *chan)
{
	struct rdmachan_error none = { .size = sizeof(none) };
	struct rdmachan_connect_args *connect = &call->arg.connect;
	int ret;

	ret = ioctl_reserve_fd(call, RCH_FILE_CHAN, chan, connect->flags);
	if (ret) {
		rch_chan_release(chan, 0);
		return rch_refused(ret, connect->error_ptr, &none);
	}
	get_net(chan->net);
	connect->out_fd = call->fd;
	if (connect->flags & (RDMACHAN_FD_F_NONBLOCK | RDMACHAN_CONNECT_F_EARLY)) {
		rch_chan_connect_start(chan);
		return 0;
	}
	ret = rch_chan_connect(chan);
	rch_chan_error_out(chan, connect->error_ptr, ret);
	/* Another channel is made then, with what is left of the time. */
	return ret == -ERESTARTSYS ? -ERESTARTNOHAND : ret;
}

static int ioctl_run_connect(struct rch_call *call)
{
	struct rdmachan_connect_args *connect = &call->arg.connect;
	struct rch_ctx *ctx = call->file->private_data;
	struct rch_chan *chan;
	int ret;

	ret = rch_connect_check(connect) ?:
	      rch_call_until(call, &connect->until, rch_connect_timeout(connect));
	if (ret)
		return ret;
	chan = rch_connect_chan(ctx->net, &ctx->charge, connect, call->until.deadline);
	if (IS_ERR(chan))
		return PTR_ERR(chan);
	return ioctl_connect_file(call, chan);
}

/* SEND and RECV */

/* Return: whether the program has its message's number; else an interrupted call cannot go on. */
static bool ioctl_number_out(struct rch_call *call, u64 number)
{
	struct rdmachan_send_args __user *user = call->user;

	return !put_user(number, &user->out_number);
}

/* The message is sent: wait until the peer's program has received it. */
static int ioctl_await_delivery(struct rch_call *call, u64 number)
{
	struct rch_chan *chan = call->file->private_data;
	struct rdmachan_error error = {};
	bool sent;
	int ret;

	/* While it is being connected its link may change. */
	if (smp_load_acquire(&chan->state) != RCH_CHAN_CONNECTING && chan->lane.link)
		rch_link_where(chan->lane.link, &error);
	ret = rch_chan_taken_wait(chan, number, call->until.deadline, &error, &sent);
	if (!ret)
		return 0;
	if (!sent)
		ioctl_number_out(call, 0);
	/* It must not be sent again. */
	if (ret == -ERESTARTSYS)
		ret = -ERESTARTNOHAND;
	return rch_refused(ret, call->arg.send.error_ptr, &error);
}

static int ioctl_send_and_wait(struct rch_call *call, struct iov_iter *iter)
{
	struct rdmachan_send_args *send = &call->arg.send;
	struct rch_chan *chan = call->file->private_data;
	u64 number;
	int ret;

	ret = rch_chan_send_asking(chan, iter, send->msg_flags, call->until.deadline, &number);
	if (ret) {
		rch_chan_error_out(chan, send->error_ptr, ret);
		return ret;
	}
	call->until.begun = true;
	if (!ioctl_number_out(call, number))
		call->until_at = NULL;
	return ioctl_await_delivery(call, number);
}

/* The message was sent before the call was interrupted: only its delivery is waited for. */
static int ioctl_go_on_waiting(struct rch_call *call)
{
	struct rch_chan *chan = call->file->private_data;
	u64 number = call->arg.send.out_number;

	if (!number || !rch_chan_taken_asked(chan, number))
		return -EINVAL;
	return ioctl_await_delivery(call, number);
}

static int ioctl_send_at_once(struct rch_call *call, struct iov_iter *iter)
{
	struct rdmachan_send_args *send = &call->arg.send;
	struct rch_chan *chan = call->file->private_data;
	int ret;

	ret = rch_chan_send(chan, iter, send->msg_flags,
			    rch_file_nonblock(call->file, send->flags), call->until.deadline);
	rch_chan_error_out(chan, send->error_ptr, ret);
	return ret;
}

static int ioctl_run_send(struct rch_call *call)
{
	struct rdmachan_send_args *send = &call->arg.send;
	bool waits = send->flags & RDMACHAN_IO_F_DELIVERED;
	struct iovec fast[UIO_FASTIOV], *iov;
	struct iov_iter iter;
	int ret;

	call->copied = true;
	if (send->flags & ~(RDMACHAN_IO_F_DONTWAIT | RDMACHAN_IO_F_DELIVERED))
		return -EOPNOTSUPP;
	if (send->msg_flags & ~RDMACHAN_MSG_FLAGS_MASK || send->__reserved)
		return -EINVAL;
	ret = rch_error_check(send->error_ptr) ?:
	      rch_call_until(call, &send->until, send->timeout_ms);
	if (ret)
		return ret;
	if (call->until.begun)
		return waits ? ioctl_go_on_waiting(call) : -EINVAL;
	/* A call that goes on has sent its message: what the file's flags are now is too late. */
	if (waits && rch_file_nonblock(call->file, send->flags))
		return -EINVAL;
	if (waits && !ioctl_number_out(call, 0))
		return -EFAULT;
	ret = rch_import(ITER_SOURCE, send->iov_ptr, send->iov_count, fast, ARRAY_SIZE(fast),
			 &iov, &iter);
	if (ret)
		return ret;
	ret = waits ? ioctl_send_and_wait(call, &iter) : ioctl_send_at_once(call, &iter);
	kfree(iov);
	return ret;
}

struct recv_call {
	struct rch_recv_result result;
	struct rch_call *call;
};

static void ioctl_recv_fill(struct rdmachan_recv_args *recv, const struct rch_recv_result *result)
{
	recv->out_length = result->length;
	recv->out_msg_flags = result->msg_flags;
	recv->out_flags = (result->eof ? RDMACHAN_RECV_OUT_EOF : 0) |
			  (result->grants ? RDMACHAN_RECV_OUT_GRANTS : 0);
}

static int ioctl_recv_out(struct rch_recv_result *result)
{
	struct rch_call *call = container_of(result, struct recv_call, result)->call;

	ioctl_recv_fill(&call->arg.recv, result);
	return ioctl_copy_out(call, sizeof(call->arg.recv));
}

static int ioctl_run_recv(struct rch_call *call)
{
	struct recv_call rc = { .result.out = ioctl_recv_out, .call = call };
	struct rdmachan_recv_args *recv = &call->arg.recv;
	struct rch_chan *chan = call->file->private_data;
	struct rdmachan_error none = {};
	struct iovec fast[UIO_FASTIOV], *iov;
	struct iov_iter iter;
	int ret;

	if (recv->flags & ~(RDMACHAN_IO_F_DONTWAIT | RDMACHAN_IO_F_GRANTS | RDMACHAN_IO_F_PEEK))
		return -EOPNOTSUPP;
	rc.result.peek = recv->flags & RDMACHAN_IO_F_PEEK;
	rc.result.takes_grants = recv->flags & RDMACHAN_IO_F_GRANTS;
	ret = rch_error_check(recv->error_ptr) ?:
	      rch_call_until(call, &recv->until, recv->timeout_ms) ?:
	      rch_import(ITER_DEST, recv->iov_ptr, recv->iov_count, fast, ARRAY_SIZE(fast),
			 &iov, &iter);
	if (ret)
		return ret;
	ret = rch_chan_recv(chan, &iter, rch_file_nonblock(call->file, recv->flags),
			    call->until.deadline, &rc.result);
	kfree(iov);
	/* What the program was told of may not have come in the end. */
	if (ret || rc.result.eof)
		call->copied = false;
	ioctl_recv_fill(recv, &rc.result);
	if (ret == -EMSGSIZE) {
		/* The channel's record with this errno is one of sending. */
		call->copy_back = true;
		return rch_refused(ret, recv->error_ptr, &none);
	}
	rch_chan_error_out(chan, recv->error_ptr, ret);
	return ret;
}

/* SHUTDOWN, FINISH, TUNE, BUSY_POLL, QUERY and LIST */

static int ioctl_run_shutdown(struct rch_call *call)
{
	struct rch_chan *chan = call->file->private_data;
	u32 how = call->arg.shutdown.how;

	call->copied = true;
	if (!rch_shutdown_ok(how))
		return -EINVAL;
	if (how == RDMACHAN_SHUTDOWN_ABORT)
		return rch_chan_abort(chan, false);
	return rch_chan_shutdown(chan, how, false, 0);
}

static int ioctl_run_finish(struct rch_call *call)
{
	struct rdmachan_finish_args *finish = &call->arg.finish;
	struct rch_chan *chan = call->file->private_data;
	struct rdmachan_error error = {};
	int ret;

	call->copied = true;
	if (finish->flags & ~RDMACHAN_IO_F_DONTWAIT)
		return -EOPNOTSUPP;
	if (finish->__reserved)
		return -EINVAL;
	ret = rch_error_check(finish->error_ptr) ?:
	      rch_call_until(call, &finish->until, finish->timeout_ms);
	if (ret)
		return ret;
	ret = rch_chan_finish(chan, rch_file_nonblock(call->file, finish->flags),
			      call->until.deadline, &error);
	return ret ? rch_refused(ret, finish->error_ptr, &error) : 0;
}

static int ioctl_run_tune(struct rch_call *call)
{
	struct rdmachan_tune_args *tune = &call->arg.tune;
	struct rch_chan *chan = call->file->private_data;
	struct rdmachan_error error = { .size = sizeof(error) };
	int ret;

	call->copied = true;
	ret = rch_error_check(tune->error_ptr);
	if (ret)
		return ret;
	ret = rch_chan_retune(chan, tune, &error);
	/* As always, a wrong structure leaves the record as it was. */
	return ret && ret != -EINVAL ? rch_refused(ret, tune->error_ptr, &error) : ret;
}

static int ioctl_busy_poll(struct rch_call *call, u32 *to)
{
	u32 usecs = call->arg.busy_poll.usecs;

	call->copied = true;
	if (usecs > RDMACHAN_BUSY_POLL_MAX)
		return -EINVAL;
	WRITE_ONCE(*to, usecs);
	return 0;
}

static int ioctl_run_busy_poll_chan(struct rch_call *call)
{
	struct rch_chan *chan = call->file->private_data;

	return ioctl_busy_poll(call, &chan->busy_us);
}

static int ioctl_run_busy_poll_queue(struct rch_call *call)
{
	struct rch_queue *queue = call->file->private_data;

	return ioctl_busy_poll(call, &queue->busy_us);
}

static int ioctl_object_out(u64 ptr, u32 size, struct rdmachan_object *object)
{
	object->size = min_t(u32, size, sizeof(*object));
	return copy_to_user(u64_to_user_ptr(ptr), object, object->size) ? -EFAULT : 0;
}

/* How much may be told of an object: 0 is nothing. Return: 0, -EFAULT or -EINVAL */
static int ioctl_query_room(const struct rdmachan_query_args *query, u32 *room)
{
	*room = 0;
	if (!query->object_ptr)
		return 0;
	if (get_user(*room, (u32 __user *)u64_to_user_ptr(query->object_ptr)))
		return -EFAULT;
	return *room < RDMACHAN_OBJECT_SIZE_1 ? -EINVAL : 0;
}

/* The same, of a query about what the file descriptor is of. */
static int ioctl_query_check(const struct rdmachan_query_args *query, u32 *room)
{
	if (query->flags)
		return -EOPNOTSUPP;
	if (query->grant || query->__reserved)
		return -EINVAL;
	return ioctl_query_room(query, room);
}

static int ioctl_query_out(const struct rdmachan_query_args *query, u32 room,
			   struct rdmachan_object *about, const struct rdmachan_error *error)
{
	if (room && ioctl_object_out(query->object_ptr, room, about))
		return -EFAULT;
	return rch_error_out(query->error_ptr, error);
}

static int ioctl_query(struct rdmachan_query_args *query, struct rch_object *obj,
		       const struct rdmachan_error *error)
{
	struct rdmachan_object about;
	u32 room;
	int ret;

	ret = ioctl_query_check(query, &room);
	if (ret)
		return ret;
	if (room)
		rch_object_describe(obj, &about);
	return ioctl_query_out(query, room, &about, error);
}

static int ioctl_query_grant(struct rch_chan *chan, struct rdmachan_query_args *query)
{
	const u32 all = RDMACHAN_QUERY_F_LENT | RDMACHAN_QUERY_F_HELD;
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rdmachan_object about;
	u32 room;
	int ret;

	if (query->flags & ~all)
		return -EOPNOTSUPP;
	if (query->flags == all || query->__reserved)
		return -EINVAL;
	ret = ioctl_query_room(query, &room) ?:
	      rch_grant_describe(chan, query->grant, query->flags & RDMACHAN_QUERY_F_HELD, &about);
	return ret ?: ioctl_query_out(query, room, &about, &error);
}

static int ioctl_run_query_ctx(struct rch_call *call)
{
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rch_ctx *ctx = call->file->private_data;
	struct rdmachan_object about;
	u32 room;
	int ret;

	call->copied = true;
	ret = ioctl_query_check(&call->arg.query, &room);
	if (ret)
		return ret;
	rch_ctx_describe(ctx, &about);
	return ioctl_query_out(&call->arg.query, room, &about, &error);
}

static int ioctl_run_query_chan(struct rch_call *call)
{
	struct rch_chan *chan = call->file->private_data;
	struct rdmachan_error error;

	call->copied = true;
	if (call->arg.query.flags)
		return ioctl_query_grant(chan, &call->arg.query);
	rch_chan_error_get(chan, &error);
	return ioctl_query(&call->arg.query, &chan->object, &error);
}

static int ioctl_run_query_listener(struct rch_call *call)
{
	struct rch_listener *listener = call->file->private_data;
	struct rdmachan_error error = { .size = sizeof(error) };

	call->copied = true;
	return ioctl_query(&call->arg.query, &listener->object, &error);
}

static int ioctl_run_query_queue(struct rch_call *call)
{
	struct rch_queue *queue = call->file->private_data;
	struct rdmachan_error error = { .size = sizeof(error) };

	call->copied = true;
	return ioctl_query(&call->arg.query, &queue->object, &error);
}

static int ioctl_run_list(struct rch_call *call)
{
	struct rdmachan_list_args *list = &call->arg.list;
	struct rch_ctx *ctx = call->file->private_data;
	bool all = list->flags & RDMACHAN_LIST_F_ALL;
	struct rdmachan_object about;
	u64 ptr = list->objects_ptr;
	u64 after = list->after;

	if (list->flags & ~RDMACHAN_LIST_F_ALL)
		return -EOPNOTSUPP;
	if (!list->objects_max || list->objects_max > 65536 || list->__reserved ||
	    list->object_size < RDMACHAN_OBJECT_SIZE_1 || list->object_size > PAGE_SIZE ||
	    after > U32_MAX)
		return -EINVAL;
	if (all && !ns_capable(ctx->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	list->out_count = 0;
	while (list->out_count < list->objects_max &&
	       rch_object_next(ctx->net, all ? NULL : &ctx->charge.user->uid, &after, &about)) {
		if (ioctl_object_out(ptr, list->object_size, &about))
			return -EFAULT;
		ptr += list->object_size;
		list->out_count++;
		cond_resched();
	}
	return 0;
}

/* QUEUE_CREATE, ENTER and POOL_CREATE */

/* Return: 0, -EINVAL or -E2BIG: entries have grown, and the module does not know how */
static int ioctl_check_entry_size(u32 size, u32 known)
{
	if (size == known)
		return 0;
	return size < known ? -EINVAL : -E2BIG;
}

static int ioctl_run_queue_create(struct rch_call *call)
{
	struct rdmachan_queue_create_args *create = &call->arg.queue_create;
	struct rdmachan_error error = { .size = sizeof(error) };
	bool poller = create->flags & RDMACHAN_QUEUE_F_POLLER;
	struct rch_ctx *ctx = call->file->private_data;
	struct rch_queue *queue;
	int ret;

	if (create->flags & ~(RDMACHAN_FD_F_CLOEXEC | RDMACHAN_QUEUE_F_POLLER))
		return -EOPNOTSUPP;
	if (!rch_ring_count_ok(create->sq_entries, RDMACHAN_QUEUE_ENTRIES_MAX) ||
	    !rch_ring_count_ok(create->cq_entries, RDMACHAN_QUEUE_ENTRIES_MAX) ||
	    create->idle_ms > (poller ? RDMACHAN_POLLER_IDLE_MAX : 0))
		return -EINVAL;
	ret = ioctl_check_entry_size(create->sqe_size, sizeof(struct rdmachan_sqe)) ?:
	      ioctl_check_entry_size(create->cqe_size, sizeof(struct rdmachan_cqe)) ?:
	      rch_error_check(create->error_ptr);
	if (ret)
		return ret;
	queue = rch_queue_create(ctx->net, &ctx->charge, ctx->regions, &rch_queue_ops,
				 create->sq_entries, create->cq_entries, &error);
	if (IS_ERR(queue))
		return rch_refused(PTR_ERR(queue), create->error_ptr, &error);
	rch_queue_tell(queue, &create->out_sq, &create->out_cq);
	ret = poller ? rch_queue_add_poller(queue, create->idle_ms, &error) : 0;
	if (!ret)
		ret = ioctl_reserve_fd(call, RCH_FILE_QUEUE, queue, create->flags);
	if (ret) {
		rch_queue_destroy(queue);
		return rch_refused(ret, create->error_ptr, &error);
	}
	create->out_fd = call->fd;
	return 0;
}

static bool ioctl_enter_told(const struct rdmachan_enter_args *enter,
			     struct rdmachan_enter_args __user *user)
{
	return !put_user(enter->out_submitted, &user->out_submitted) &&
	       !put_user(enter->out_complete, &user->out_complete);
}

/*
 * Most programs make no other call once they run: it has a way of its own, which clears and
 * copies no more than its own structure.
 */
static long ioctl_enter_queue(struct rch_queue *queue, struct rdmachan_enter_args __user *user)
{
	struct rdmachan_enter_args enter;
	struct rch_until until;
	u32 size;
	int ret;

	if (get_user(size, &user->size))
		return -EFAULT;
	if (size < RDMACHAN_ENTER_SIZE_1)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&enter, sizeof(enter), user, size);
	if (ret)
		return ret;
	if (enter.flags & ~RDMACHAN_ENTER_F_WAKEUP)
		return -EOPNOTSUPP;
	if ((enter.flags & RDMACHAN_ENTER_F_WAKEUP && !queue->poller) ||
	    enter.min_complete > queue->cq.count || enter.__reserved)
		return -EINVAL;
	ret = rch_until_begin(&until, enter.until, enter.timeout_ms);
	if (ret)
		return ret;
	enter.out_submitted = until.begun ? min(enter.out_submitted, enter.to_submit) : 0;
	enter.out_complete = 0;
	/* Before any entry is taken: EFAULT says that nothing has happened. */
	if (!ioctl_enter_told(&enter, user))
		return -EFAULT;
	ret = rch_queue_enter(queue, &enter, until.deadline);
	until.begun = enter.out_submitted;
	ret = rch_until_end(&until, ret, &user->until);
	/* Any of the last three may be EINTR to the program. */
	if (ret && ret != -ETIMEDOUT && ret != -EINTR && ret != -ERESTARTNOHAND &&
	    ret != -ERESTARTSYS)
		return ret;
	return ioctl_enter_told(&enter, user) ? ret : -EFAULT;
}

/* REGION_REGISTER and REGION_UNREGISTER */

static int ioctl_run_region_register(struct rch_call *call)
{
	struct rdmachan_region_register_args *reg = &call->arg.region_register;
	struct rdmachan_error error = { .size = sizeof(error) };
	struct rch_ctx *ctx = call->file->private_data;
	struct rch_region *region;
	int ret;

	if (reg->flags & ~RDMACHAN_REGION_F_READ_ONLY)
		return -EOPNOTSUPP;
	if (reg->__reserved)
		return -EINVAL;
	ret = rch_error_check(reg->error_ptr);
	if (ret)
		return ret;
	region = rch_region_create(ctx->regions, &ctx->charge, reg->addr, reg->length,
				   reg->flags & RDMACHAN_REGION_F_READ_ONLY, &error);
	if (IS_ERR(region))
		return rch_refused(PTR_ERR(region), reg->error_ptr, &error);
	reg->out_region = region->id;
	ret = ioctl_copy_out(call, sizeof(*reg));
	if (ret)
		rch_region_abort(ctx->regions, region);
	else
		rch_region_publish(ctx->regions, region);
	return ret;
}

static int ioctl_run_region_unregister(struct rch_call *call)
{
	const struct rdmachan_region_unregister_args *unreg = &call->arg.region_unregister;
	struct rch_ctx *ctx = call->file->private_data;

	struct rch_region *region;
	int ret = 0;

	call->copied = true;
	if (unreg->flags & ~RDMACHAN_UNREGISTER_F_REVOKE)
		return -EOPNOTSUPP;
	if (unreg->__reserved)
		return -EINVAL;
	if (unreg->flags & RDMACHAN_UNREGISTER_F_REVOKE) {
		region = rch_region_use(ctx->regions, unreg->region, current->mm);
		if (IS_ERR(region))
			return PTR_ERR(region);
		ret = rch_loans_revoke_region(ctx->regions, unreg->region);
		rch_region_unuse(region);
	}
	return ret ?: rch_region_remove(ctx->regions, unreg->region);
}

static int ioctl_run_pool_create(struct rch_call *call)
{
	struct rdmachan_pool_create_args *create = &call->arg.pool_create;
	struct rdmachan_error error = { .size = sizeof(error) };
	int ret;

	if (create->flags)
		return -EOPNOTSUPP;
	if (!rch_ring_count_ok(create->entries, RDMACHAN_QUEUE_ENTRIES_MAX) ||
	    create->__reserved)
		return -EINVAL;
	/* A pool cannot be taken back: not one that nobody would be told of. */
	ret = ioctl_check_entry_size(create->buffer_size, sizeof(struct rdmachan_buffer)) ?:
	      rch_error_check(create->error_ptr) ?: ioctl_copy_out(call, sizeof(*create));
	if (ret)
		return ret;
	call->copied = false;
	ret = rch_pool_create(call->file->private_data, create->entries, &error,
			      &create->out_ring);
	if (ret < 0)
		return rch_refused(ret, create->error_ptr, &error);
	create->out_pool = ret;
	return 0;
}

static const struct rch_command ctx_commands[] = {
	RCH_COMMAND(RDMACHAN_INFO, rdmachan_info, RDMACHAN_INFO_SIZE_1, ioctl_run_info),
	RCH_COMMAND(RDMACHAN_LISTEN, rdmachan_listen_args, RDMACHAN_LISTEN_SIZE_1,
		    ioctl_run_listen),
	RCH_COMMAND(RDMACHAN_CONNECT, rdmachan_connect_args, RDMACHAN_CONNECT_SIZE_1,
		    ioctl_run_connect),
	RCH_COMMAND(RDMACHAN_QUERY, rdmachan_query_args, RDMACHAN_QUERY_SIZE_1,
		    ioctl_run_query_ctx),
	RCH_COMMAND(RDMACHAN_LIST, rdmachan_list_args, RDMACHAN_LIST_SIZE_1, ioctl_run_list),
	RCH_COMMAND(RDMACHAN_QUEUE_CREATE, rdmachan_queue_create_args, RDMACHAN_QUEUE_CREATE_SIZE_1,
		    ioctl_run_queue_create),
	RCH_COMMAND(RDMACHAN_REGION_REGISTER, rdmachan_region_register_args,
		    RDMACHAN_REGION_REGISTER_SIZE_1, ioctl_run_region_register),
	RCH_COMMAND(RDMACHAN_REGION_UNREGISTER, rdmachan_region_unregister_args,
		    RDMACHAN_REGION_UNREGISTER_SIZE_1, ioctl_run_region_unregister),
};

static const struct rch_command listener_commands[] = {
	RCH_COMMAND(RDMACHAN_ACCEPT, rdmachan_accept_args, RDMACHAN_ACCEPT_SIZE_1,
		    ioctl_run_accept),
	RCH_COMMAND(RDMACHAN_QUERY, rdmachan_query_args, RDMACHAN_QUERY_SIZE_1,
		    ioctl_run_query_listener),
};

static const struct rch_command chan_commands[] = {
	RCH_COMMAND(RDMACHAN_SEND, rdmachan_send_args, RDMACHAN_SEND_SIZE_1, ioctl_run_send),
	RCH_COMMAND(RDMACHAN_RECV, rdmachan_recv_args, RDMACHAN_RECV_SIZE_1, ioctl_run_recv),
	RCH_COMMAND(RDMACHAN_SHUTDOWN, rdmachan_shutdown_args, RDMACHAN_SHUTDOWN_SIZE_1,
		    ioctl_run_shutdown),
	RCH_COMMAND(RDMACHAN_FINISH, rdmachan_finish_args, RDMACHAN_FINISH_SIZE_1,
		    ioctl_run_finish),
	RCH_COMMAND(RDMACHAN_QUERY, rdmachan_query_args, RDMACHAN_QUERY_SIZE_1,
		    ioctl_run_query_chan),
	RCH_COMMAND(RDMACHAN_TUNE, rdmachan_tune_args, RDMACHAN_TUNE_SIZE_1, ioctl_run_tune),
	RCH_COMMAND(RDMACHAN_BUSY_POLL, rdmachan_busy_poll_args, RDMACHAN_BUSY_POLL_SIZE_1,
		    ioctl_run_busy_poll_chan),
	RCH_COMMAND(RDMACHAN_GRANT, rdmachan_grant_args, RDMACHAN_GRANT_SIZE_1, rch_run_grant),
	RCH_COMMAND(RDMACHAN_RELEASE, rdmachan_release_args, RDMACHAN_RELEASE_SIZE_1,
		    rch_run_release),
	RCH_COMMAND(RDMACHAN_REVOKE, rdmachan_revoke_args, RDMACHAN_REVOKE_SIZE_1, rch_run_revoke),
	RCH_COMMAND(RDMACHAN_READ, rdmachan_access_args, RDMACHAN_ACCESS_SIZE_1, rch_run_read),
	RCH_COMMAND(RDMACHAN_WRITE, rdmachan_access_args, RDMACHAN_ACCESS_SIZE_1, rch_run_write),
	RCH_COMMAND(RDMACHAN_ATOMIC, rdmachan_atomic_args, RDMACHAN_ATOMIC_SIZE_1, rch_run_atomic),
};

static const struct rch_command queue_commands[] = {
	RCH_COMMAND(RDMACHAN_QUERY, rdmachan_query_args, RDMACHAN_QUERY_SIZE_1,
		    ioctl_run_query_queue),
	RCH_COMMAND(RDMACHAN_POOL_CREATE, rdmachan_pool_create_args, RDMACHAN_POOL_CREATE_SIZE_1,
		    ioctl_run_pool_create),
	RCH_COMMAND(RDMACHAN_BUSY_POLL, rdmachan_busy_poll_args, RDMACHAN_BUSY_POLL_SIZE_1,
		    ioctl_run_busy_poll_queue),
};

/* Outputs have reached the program: now, and not before, it gets the descriptor. */
static int ioctl_finish(struct rch_call *call, const struct rch_command *command, int ret)
{
	ret = rch_until_end(&call->until, ret, call->until_at);
	if ((!ret || call->copy_back) && !call->copied && ioctl_copy_out(call, command->size))
		ret = -EFAULT;
	if (call->fd < 0)
		return ret;
	if (ret) {
		put_unused_fd(call->fd);
		fput(call->new_file);
	} else {
		fd_install(call->fd, call->new_file);
	}
	return ret;
}

static long ioctl_dispatch(struct file *file, unsigned int cmd, unsigned long arg,
			   const struct rch_command *commands, size_t count)
{
	const struct rch_command *command = NULL;
	struct rch_call call = {
		.file = file,
		.user = (void __user *)arg,
		.fd = -1,
	};
	size_t i;
	int ret;

	for (i = 0; i < count; i++)
		if (commands[i].cmd == cmd)
			command = &commands[i];
	if (!command)
		return -ENOTTY;
	if (get_user(call.user_size, (u32 __user *)call.user))
		return -EFAULT;
	if (call.user_size < command->min_size)
		return -EINVAL;
	if (call.user_size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&call.arg, command->size, call.user, call.user_size);
	if (ret)
		return ret;
	return ioctl_finish(&call, command, command->run(&call));
}

/** rch_ctx_ioctl - commands of a context */
long rch_ctx_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ioctl_dispatch(file, cmd, arg, ctx_commands, ARRAY_SIZE(ctx_commands));
}

/** rch_listener_ioctl - commands of a listener */
long rch_listener_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ioctl_dispatch(file, cmd, arg, listener_commands, ARRAY_SIZE(listener_commands));
}

/** rch_chan_ioctl - commands of a channel */
long rch_chan_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ioctl_dispatch(file, cmd, arg, chan_commands, ARRAY_SIZE(chan_commands));
}

/** rch_queue_ioctl - commands of a queue */
long rch_queue_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (cmd == RDMACHAN_ENTER)
		return ioctl_enter_queue(file->private_data, (void __user *)arg);
	return ioctl_dispatch(file, cmd, arg, queue_commands, ARRAY_SIZE(queue_commands));
}
