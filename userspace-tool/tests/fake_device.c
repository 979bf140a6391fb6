// SPDX-License-Identifier: MIT
/*
 * fake_device.c - a /dev/rdmachan made of sockets, to be preloaded
 *
 *	LD_PRELOAD=fake_device.so RDMACHAN_FAKE=name rdmachan ...
 *
 * Lets the tool and the examples be tried where there is neither module nor RDMA:
 * programs that are run with the same RDMACHAN_FAKE reach each other at any address.
 * A channel is a local stream socket on which a header goes before each message. It
 * shows what programs do with the interface, not what the module does.
 *
 * The ends of channels are in fake_channel.c, grants in fake_grant.c, queues in fake_queue.c.
 *
 * Kept simple: a transfer that has begun is finished, O_NONBLOCK or not;
 * timeouts count for the beginning only; tuning is ignored, but for message_max.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake.h"

#define EXPORT	__attribute__((visibility("default")))
enum kind { NOTHING, CONTEXT, LISTENER, CHANNEL, QUEUE };

static enum kind kinds[FAKE_FDS];

#define REAL(name)	((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static enum kind kind_of(int fd)
{
	return fd >= 0 && fd < FAKE_FDS ? kinds[fd] : NOTHING;
}

static int set_kind(int fd, enum kind kind, uint32_t flags)
{
	if (fd < 0)
		return -1;
	if (fd >= FAKE_FDS) {
		REAL(close)(fd);
		errno = EMFILE;
		return -1;
	}
	kinds[fd] = kind;
	if (flags & RDMACHAN_FD_F_CLOEXEC)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (flags & RDMACHAN_FD_F_NONBLOCK)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

static int service_socket(uint32_t service, struct sockaddr_un *addr)
{
	const char *name = getenv("RDMACHAN_FAKE");

	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	/* Abstract: it begins with a zero and vanishes with the socket. */
	snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "rdmachan-%s-%u",
		 name ? name : "fake", service);
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

void fake_record(uint64_t error_ptr, uint32_t op, uint32_t cause, uint32_t service)
{
	struct rdmachan_error *err = (void *)(uintptr_t)error_ptr;
	int error = errno;

	if (!err)
		return;
	err->error = error;
	err->op = op;
	err->cause = cause;
	err->service = service;
	err->peer.family = AF_INET;
	err->peer.addr[0] = 10;
	memcpy(err->device, "fake0", 6);
	errno = error;
}

/* A poll() that says what the ioctl would: 0, or -1 with EAGAIN or ETIMEDOUT. */
static int wait_for(int fd, short events, uint32_t timeout_ms, bool dontwait)
{
	struct pollfd one = { .fd = fd, .events = events };
	int ret;

	dontwait |= fcntl(fd, F_GETFL) & O_NONBLOCK;
	ret = poll(&one, 1, dontwait ? 0 : timeout_ms ? (int)timeout_ms : -1);
	if (ret)
		return ret < 0 ? -1 : 0;
	errno = dontwait ? EAGAIN : ETIMEDOUT;
	return -1;
}

int fake_move(int fd, struct iovec *iov, int count, bool out)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = count };
	ssize_t done;

	while (msg.msg_iovlen) {
		done = out ? sendmsg(fd, &msg, MSG_NOSIGNAL) : recvmsg(fd, &msg, 0);
		if (done < 0 && errno == EAGAIN) {
			struct pollfd one = { .fd = fd, .events = out ? POLLOUT : POLLIN };

			poll(&one, 1, -1);
			continue;
		}
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		for (; msg.msg_iovlen && (size_t)done >= msg.msg_iov->iov_len; msg.msg_iov++) {
			done -= msg.msg_iov->iov_len;
			msg.msg_iovlen--;
		}
		if (msg.msg_iovlen) {
			if (!done && !out)
				return -1;
			msg.msg_iov->iov_base = (char *)msg.msg_iov->iov_base + done;
			msg.msg_iov->iov_len -= done;
		}
	}
	return 0;
}

int fake_send(int fd, struct rdmachan_send_args *send)
{
	const struct iovec *iov = (void *)(uintptr_t)send->iov_ptr;
	struct fake_header header = { .msg_flags = send->msg_flags };
	struct iovec copy[1 + 16];
	uint32_t i;

	if (send->iov_count > 16 || send->msg_flags > RDMACHAN_MSG_FLAGS_MASK) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; i < send->iov_count; i++) {
		copy[i + 1] = iov[i];
		header.length += iov[i].iov_len;
	}
	copy[0].iov_base = &header;
	copy[0].iov_len = sizeof(header);
	if (wait_for(fd, POLLOUT, send->timeout_ms, send->flags & RDMACHAN_IO_F_DONTWAIT) < 0)
		return -1;
	fake_channel_sent(fd, 1);
	if (!fake_move(fd, copy, i + 1, true))
		return 0;
	fake_channel_sent(fd, -1);
	return fake_channel_send_failed(fd, send->error_ptr);
}

static int fake_recv(int fd, struct rdmachan_recv_args *recv_)
{
	const struct iovec *iov = (void *)(uintptr_t)recv_->iov_ptr;
	struct fake_header header;
	struct iovec copy[1 + 16] = { { &header, sizeof(header) } };
	uint32_t i, left;
	ssize_t seen;

	if (recv_->iov_count > 16) {
		errno = EINVAL;
		return -1;
	}
	if (wait_for(fd, POLLIN, recv_->timeout_ms, recv_->flags & RDMACHAN_IO_F_DONTWAIT) < 0)
		return -1;
	if (fake_channel_reset(fd, recv_->error_ptr) < 0)
		return -1;
	seen = recv(fd, &header, sizeof(header), MSG_PEEK | MSG_WAITALL);
	if (seen < (ssize_t)sizeof(header)) {
		recv_->out_flags = RDMACHAN_RECV_OUT_EOF;
		return fake_channel_end(fd, recv_->error_ptr);
	}
	left = recv_->out_length = header.length;
	recv_->out_msg_flags = header.msg_flags;
	if (header.events)
		return fake_recv_events(fd, &header, recv_);
	for (i = 0; i < recv_->iov_count && left; i++) {
		copy[i + 1] = iov[i];
		if (copy[i + 1].iov_len > left)
			copy[i + 1].iov_len = left;
		left -= copy[i + 1].iov_len;
	}
	if (left) {
		errno = EMSGSIZE;
		return -1;
	}
	if (fake_move(fd, copy, i + 1, false) < 0)
		return fake_channel_cut(fd, recv_->error_ptr);
	fake_channel_received(fd);
	return 0;
}

static int fake_listen(struct rdmachan_listen_args *listen_)
{
	struct sockaddr_un addr;
	int fd = service_socket(listen_->service, &addr);

	if (!bind(fd, (struct sockaddr *)&addr, sizeof(addr)) && !listen(fd, 128)) {
		listen_->out_fd = set_kind(fd, LISTENER, listen_->flags);
		return listen_->out_fd < 0 ? -1 : 0;
	}
	REAL(close)(fd);
	return -1;
}

static int accept_channel(int fd)
{
	int chan = accept(fd, NULL, NULL);

	if (chan < 0 || !fake_channel_accepted(chan))
		return chan;
	REAL(close)(chan);
	return -1;
}

static int fake_accept(int fd, struct rdmachan_accept_args *accept_)
{
	if (wait_for(fd, POLLIN, accept_->timeout_ms, false) < 0)
		return -1;
	accept_->out_fd = set_kind(accept_channel(fd), CHANNEL, accept_->flags);
	accept_->out_peer.family = AF_INET;
	accept_->out_peer.addr[0] = 10;
	accept_->out_peer_claimed_uid = getuid();
	return accept_->out_fd < 0 ? -1 : 0;
}

static int fake_connect(struct rdmachan_connect_args *connect_)
{
	struct sockaddr_un addr;
	int fd = service_socket(connect_->service, &addr);

	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)) && !fake_channel_connected(fd)) {
		connect_->out_fd = set_kind(fd, CHANNEL, connect_->flags);
		return connect_->out_fd < 0 ? -1 : 0;
	}
	REAL(close)(fd);
	errno = ECONNREFUSED;
	fake_record(connect_->error_ptr, RDMACHAN_OP_OPEN, RDMACHAN_CAUSE_NO_SERVICE,
		    connect_->service);
	return -1;
}

static int fake_info(struct rdmachan_info *info)
{
	struct rdmachan_device *device = (void *)(uintptr_t)info->devices_ptr;

	info->out_abi = RDMACHAN_ABI_VERSION;
	info->out_message_max = RDMACHAN_MESSAGE_MAX;
	info->out_port = RDMACHAN_PORT;
	info->out_devices = 1;
	memcpy(info->out_version, "fake", 5);
	info->out_use_contexts = (struct rdmachan_use){ 1, 1024, 2, 8192, 3 };
	info->out_refused_port = 7;
	info->out_broken_rules = 5;
	if (!info->devices_max)
		return 0;
	memset(device, 0, sizeof(*device));
	memcpy(device->name, "fake0", 6);
	memcpy(device->netdev, "lo", 3);
	device->port = 1;
	device->port_state = 4;
	device->flags = RDMACHAN_DEV_F_ACTIVE;
	device->mtu = device->max_mtu = 4096;
	return 0;
}

static int fake_list(struct rdmachan_list_args *list)
{
	struct rdmachan_object *object = (void *)(uintptr_t)list->objects_ptr;
	uint64_t id = list->after;

	/* More than the library asks for at once. */
	for (; id < 600 && list->out_count < list->objects_max; object++) {
		memset(object, 0, sizeof(*object));
		object->id = ++id;
		object->kind = 1 + id % 3;
		object->state = RDMACHAN_STATE_OPEN;
		object->service = 5000;
		list->out_count++;
	}
	return 0;
}

static int fake_queue(struct rdmachan_queue_create_args *create)
{
	create->out_fd = set_kind(fake_queue_create(create), QUEUE, 0);
	return create->out_fd < 0 ? -1 : 0;
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	enum kind kind = kind_of(fd);

	if (request == RDMACHAN_INFO && kind == CONTEXT)
		return fake_info(argument);
	if (request == RDMACHAN_LIST && kind == CONTEXT)
		return fake_list(argument);
	if (request == RDMACHAN_LISTEN && kind == CONTEXT)
		return fake_listen(argument);
	if (request == RDMACHAN_CONNECT && kind == CONTEXT)
		return fake_connect(argument);
	if (request == RDMACHAN_ACCEPT && kind == LISTENER)
		return fake_accept(fd, argument);
	if (request == RDMACHAN_SEND && kind == CHANNEL)
		return fake_send(fd, argument);
	if (request == RDMACHAN_RECV && kind == CHANNEL)
		return fake_recv(fd, argument);
	if (request == RDMACHAN_SHUTDOWN && kind == CHANNEL)
		return fake_channel_shutdown(fd, ((struct rdmachan_shutdown_args *)argument)->how);
	if (request == RDMACHAN_FINISH && kind == CHANNEL)
		return fake_channel_finish(fd, argument);
	if (request == RDMACHAN_QUERY && kind == CHANNEL)
		return 0;
	if (request == RDMACHAN_QUEUE_CREATE && kind == CONTEXT)
		return fake_queue(argument);
	if (kind == QUEUE)
		return fake_queue_ioctl(fd, request, argument);
	if (kind == CONTEXT)
		return fake_region_ioctl(request, argument);
	if (kind == CHANNEL)
		return fake_grant_ioctl(fd, request, argument);
	errno = ENOTTY;
	return -1;
}

/* The functions that programs call. */

EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	if (!strcmp(path, RDMACHAN_DEVICE_PATH))
		return set_kind(REAL(open)("/dev/null", flags), CONTEXT, 0);
	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return REAL(open)(path, flags, mode);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (kind_of(fd) != NOTHING && _IOC_TYPE(request) == RDMACHAN_TYPE)
		return fake_ioctl(fd, request, argument);
	return REAL(ioctl)(fd, request, argument);
}

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
	struct iovec iov = { buffer, size };
	struct rdmachan_recv_args recv_ = { .iov_ptr = (uintptr_t)&iov, .iov_count = 1 };

	if (kind_of(fd) != CHANNEL)
		return REAL(read)(fd, buffer, size);
	return fake_recv(fd, &recv_) < 0 ? -1 : (ssize_t)recv_.out_length;
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
	struct iovec iov = { (void *)buffer, size };
	struct rdmachan_send_args send_ = { .iov_ptr = (uintptr_t)&iov, .iov_count = 1 };

	if (kind_of(fd) != CHANNEL)
		return REAL(write)(fd, buffer, size);
	return fake_send(fd, &send_) < 0 ? -1 : (ssize_t)size;
}

/* As the module's: a child that is forked gets no mapping of a queue. */
EXPORT void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *map = REAL(mmap)(addr, length, prot, flags, fd, offset);

	if (map != MAP_FAILED && kind_of(fd) == QUEUE)
		madvise(map, length, MADV_DONTFORK);
	return map;
}

EXPORT int close(int fd)
{
	if (fd >= 0 && fd < FAKE_FDS) {
		fake_channel_closed(fd);
		kinds[fd] = NOTHING;
	}
	return REAL(close)(fd);
}
