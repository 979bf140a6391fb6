// SPDX-License-Identifier: GPL-2.0
/*
 * abi_test.c - the rules of the interface, for each command
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "region.h"
#include "ring.h"

#define SPARE 6001U
#define NOWHERE 0x1000UL

FIXTURE(abi)
{
	int ctx;
	/* A context of the peer's host, where the listener and the peer's end are. */
	int there;
	int listener;
	int chan;
	int peer;
	struct queue queue;
	struct rdmachan_object object;
	uint64_t memory[8];
	/* Of that memory, with all rights: of a region here, and of one of the peer. */
	struct rdmachan_grant_range own;
	struct rdmachan_grant_range range;
	/* The peer has granted its range. */
	uint32_t held;
};

static struct rdmachan_grant_range whole_memory(struct fixture_abi *self, int ctx)
{
	return RANGE(region_register(ctx, self->memory, sizeof(self->memory), 0, NULL), MAY_ALL,
		     0, sizeof(self->memory));
}

FIXTURE_SETUP(abi)
{
	self->ctx = open_ctx();
	/* Nothing is left of the test before. */
	ASSERT_TRUE(forgotten(self->ctx, 0));
	self->there = open_peer();
	self->listener = do_listen(self->there, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	self->chan = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(self->chan, 0);
	self->peer = do_accept(self->listener, NULL);
	ASSERT_GE(self->peer, 0);
	ASSERT_EQ(queue_open(self->ctx, &self->queue, 8, 8), 0);
	self->own = whole_memory(self, self->ctx);
	self->range = whole_memory(self, self->there);
	self->held = grant_range(self->peer, self->there, &self->range);
	ASSERT_TRUE(grant_held(self->chan, self->held));
}

FIXTURE_TEARDOWN(abi)
{
	queue_close(&self->queue);
	close(self->peer);
	close(self->chan);
	close(self->listener);
	close(self->there);
	close(self->ctx);
}

/* A structure with room behind it. */
union arg {
	uint32_t size;
	struct rdmachan_info info;
	struct rdmachan_listen_args listen;
	struct rdmachan_accept_args accept;
	struct rdmachan_connect_args connect;
	struct rdmachan_send_args send;
	struct rdmachan_recv_args recv;
	struct rdmachan_shutdown_args shutdown;
	struct rdmachan_finish_args finish;
	struct rdmachan_tune_args tune;
	struct rdmachan_busy_poll_args busy_poll;
	struct rdmachan_query_args query;
	struct rdmachan_list_args list;
	struct rdmachan_queue_create_args queue_create;
	struct rdmachan_enter_args enter;
	struct rdmachan_pool_create_args pool_create;
	struct rdmachan_region_register_args region_register;
	struct rdmachan_region_unregister_args region_unregister;
	struct rdmachan_grant_args grant;
	struct rdmachan_release_args release;
	struct rdmachan_revoke_args revoke;
	struct rdmachan_access_args access;
	struct rdmachan_atomic_args atomic;
	char bytes[1024];
};

enum kind { CTX = 1, LISTENER = 2, CHAN = 4, QUEUE = 8 };

struct command {
	const char *name;
	unsigned int cmd;
	unsigned int kinds;
	uint32_t size;
	uint32_t first_size; /* of the first version */
	int result;
	int out_fd;
	int flags;
};

#define COMMAND(name, cmd, kinds, type, first, result, flags) \
	{ name, cmd, kinds, sizeof(struct type), first, result, -1, flags }
#define COMMAND_FD(name, cmd, kinds, type, first, result, flags) \
	{ name, cmd, kinds, sizeof(struct type), first, result, offsetof(struct type, out_fd), \
	  flags }
#define FLAGS(type) ((int)offsetof(struct type, flags))

/* With what prepare() gives each: the errno, or 0. */
static const struct command commands[] = {
	COMMAND("INFO", RDMACHAN_INFO, CTX, rdmachan_info, RDMACHAN_INFO_SIZE_1, 0,
		FLAGS(rdmachan_info)),
	COMMAND_FD("LISTEN", RDMACHAN_LISTEN, CTX, rdmachan_listen_args, RDMACHAN_LISTEN_SIZE_1, 0,
		   FLAGS(rdmachan_listen_args)),
	COMMAND_FD("CONNECT", RDMACHAN_CONNECT, CTX, rdmachan_connect_args,
		   RDMACHAN_CONNECT_SIZE_1, 0, FLAGS(rdmachan_connect_args)),
	COMMAND("LIST", RDMACHAN_LIST, CTX, rdmachan_list_args, RDMACHAN_LIST_SIZE_1, 0,
		FLAGS(rdmachan_list_args)),
	COMMAND("ACCEPT", RDMACHAN_ACCEPT, LISTENER, rdmachan_accept_args, RDMACHAN_ACCEPT_SIZE_1,
		ETIMEDOUT, FLAGS(rdmachan_accept_args)),
	COMMAND("SEND", RDMACHAN_SEND, CHAN, rdmachan_send_args, RDMACHAN_SEND_SIZE_1, 0,
		FLAGS(rdmachan_send_args)),
	COMMAND("RECV", RDMACHAN_RECV, CHAN, rdmachan_recv_args, RDMACHAN_RECV_SIZE_1, EAGAIN,
		FLAGS(rdmachan_recv_args)),
	COMMAND("QUERY", RDMACHAN_QUERY, CTX | CHAN | LISTENER | QUEUE, rdmachan_query_args,
		RDMACHAN_QUERY_SIZE_1, 0, FLAGS(rdmachan_query_args)),
	COMMAND_FD("QUEUE_CREATE", RDMACHAN_QUEUE_CREATE, CTX, rdmachan_queue_create_args,
		   RDMACHAN_QUEUE_CREATE_SIZE_1, 0, FLAGS(rdmachan_queue_create_args)),
	COMMAND("ENTER", RDMACHAN_ENTER, QUEUE, rdmachan_enter_args, RDMACHAN_ENTER_SIZE_1, 0,
		FLAGS(rdmachan_enter_args)),
	COMMAND("POOL_CREATE", RDMACHAN_POOL_CREATE, QUEUE, rdmachan_pool_create_args,
		RDMACHAN_POOL_CREATE_SIZE_1, 0, FLAGS(rdmachan_pool_create_args)),
	COMMAND("REGION_REGISTER", RDMACHAN_REGION_REGISTER, CTX, rdmachan_region_register_args,
		RDMACHAN_REGION_REGISTER_SIZE_1, 0, FLAGS(rdmachan_region_register_args)),
	COMMAND("REGION_UNREGISTER", RDMACHAN_REGION_UNREGISTER, CTX,
		rdmachan_region_unregister_args, RDMACHAN_REGION_UNREGISTER_SIZE_1, ENOENT,
		FLAGS(rdmachan_region_unregister_args)),
	COMMAND("GRANT", RDMACHAN_GRANT, CHAN, rdmachan_grant_args, RDMACHAN_GRANT_SIZE_1, 0,
		FLAGS(rdmachan_grant_args)),
	COMMAND("RELEASE", RDMACHAN_RELEASE, CHAN, rdmachan_release_args, RDMACHAN_RELEASE_SIZE_1,
		ENOENT, FLAGS(rdmachan_release_args)),
	COMMAND("REVOKE", RDMACHAN_REVOKE, CHAN, rdmachan_revoke_args, RDMACHAN_REVOKE_SIZE_1,
		ENOENT, FLAGS(rdmachan_revoke_args)),
	COMMAND("READ", RDMACHAN_READ, CHAN, rdmachan_access_args, RDMACHAN_ACCESS_SIZE_1, 0,
		FLAGS(rdmachan_access_args)),
	COMMAND("WRITE", RDMACHAN_WRITE, CHAN, rdmachan_access_args, RDMACHAN_ACCESS_SIZE_1, 0,
		FLAGS(rdmachan_access_args)),
	COMMAND("ATOMIC", RDMACHAN_ATOMIC, CHAN, rdmachan_atomic_args, RDMACHAN_ATOMIC_SIZE_1, 0,
		FLAGS(rdmachan_atomic_args)),
	COMMAND("TUNE", RDMACHAN_TUNE, CHAN, rdmachan_tune_args, RDMACHAN_TUNE_SIZE_1, 0, -1),
	COMMAND("BUSY_POLL", RDMACHAN_BUSY_POLL, CHAN | QUEUE, rdmachan_busy_poll_args,
		RDMACHAN_BUSY_POLL_SIZE_1, 0, -1),
	COMMAND("SHUTDOWN", RDMACHAN_SHUTDOWN, CHAN, rdmachan_shutdown_args,
		RDMACHAN_SHUTDOWN_SIZE_1, 0, -1),
	COMMAND("FINISH", RDMACHAN_FINISH, CHAN, rdmachan_finish_args, RDMACHAN_FINISH_SIZE_1,
		EAGAIN, FLAGS(rdmachan_finish_args)),
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))
#define EACH_COMMAND(c) \
	for (c = commands; c < commands + COMMANDS; c++)

static const struct command *command_of(unsigned int cmd)
{
	const struct command *c;

	EACH_COMMAND(c) {
		if (c->cmd == cmd)
			break;
	}
	return c;
}

static void prepare(union arg *arg, const struct command *c, struct fixture_abi *self)
{
	memset(arg, 0, sizeof(*arg));
	switch (c->cmd) {
	case RDMACHAN_LISTEN:
		fill_listen(&arg->listen, SPARE, NULL);
		break;
	case RDMACHAN_CONNECT:
		fill_connect(&arg->connect, SERVICE, NULL);
		break;
	case RDMACHAN_LIST:
		arg->list.objects_ptr = (uintptr_t)&self->object;
		arg->list.objects_max = 1;
		arg->list.object_size = sizeof(self->object);
		break;
	case RDMACHAN_ACCEPT:
		arg->accept.timeout_ms = 1;
		break;
	case RDMACHAN_RECV:
		arg->recv.flags = RDMACHAN_IO_F_DONTWAIT;
		break;
	case RDMACHAN_QUEUE_CREATE:
		arg->queue_create.sq_entries = 8;
		arg->queue_create.cq_entries = 8;
		arg->queue_create.sqe_size = sizeof(struct rdmachan_sqe);
		arg->queue_create.cqe_size = sizeof(struct rdmachan_cqe);
		break;
	case RDMACHAN_POOL_CREATE:
		arg->pool_create.entries = 8;
		arg->pool_create.buffer_size = sizeof(struct rdmachan_buffer);
		break;
	case RDMACHAN_REGION_REGISTER:
		arg->region_register.addr = (uintptr_t)self;
		arg->region_register.length = 1;
		break;
	case RDMACHAN_GRANT:
		grant_fill(&arg->grant, self->ctx, &self->own, 1, NULL);
		break;
	case RDMACHAN_READ:
	case RDMACHAN_WRITE:
		arg->access.grant = self->held;
		arg->access.addr = (uintptr_t)&self->object;
		arg->access.length = 8;
		break;
	case RDMACHAN_ATOMIC:
		arg->atomic.grant = self->held;
		arg->atomic.op = RDMACHAN_ATOMIC_FETCH_ADD;
		break;
	case RDMACHAN_SHUTDOWN:
		arg->shutdown.how = RDMACHAN_SHUTDOWN_SEND;
		break;
	case RDMACHAN_FINISH:
		arg->finish.flags = RDMACHAN_IO_F_DONTWAIT;
		break;
	}
	arg->size = c->size;
}

static int file_of(const struct command *c, struct fixture_abi *self)
{
	if (c->kinds & CTX)
		return self->ctx;
	if (c->kinds & QUEUE)
		return self->queue.fd;
	return c->kinds & CHAN ? self->chan : self->listener;
}

/* Call; what it opened is closed, what it queued is taken. Return: the errno, or 0 */
static int call(const struct command *c, union arg *arg, struct fixture_abi *self)
{
	int fd, ret = ioctl(file_of(c, self), c->cmd, arg) ? errno : 0;

	if (ret || c->out_fd < 0)
		return ret;
	memcpy(&fd, arg->bytes + c->out_fd, sizeof(fd));
	close(fd);
	if (c->cmd == RDMACHAN_CONNECT)
		close(do_accept(self->listener, NULL));
	return 0;
}

#define EXPECT_CALL(c, have, want)						\
	do {									\
		int have__ = (have), want__ = (want);				\
		if (have__ != want__)						\
			printf("# %s:\n", (c)->name);				\
		EXPECT_EQ(have__, want__);					\
	} while (0)

TEST_F(abi, exact_size)
{
	const struct command *c;
	union arg arg;

	EACH_COMMAND(c) {
		prepare(&arg, c, self);
		EXPECT_CALL(c, call(c, &arg, self), c->result);
	}
}

TEST_F(abi, too_short)
{
	const struct command *c;
	union arg arg;

	EACH_COMMAND(c) {
		prepare(&arg, c, self);
		arg.size = c->first_size - 1;
		EXPECT_CALL(c, call(c, &arg, self), EINVAL);
		arg.size = 0;
		EXPECT_CALL(c, call(c, &arg, self), EINVAL);
		arg.size = 4;
		EXPECT_CALL(c, call(c, &arg, self), EINVAL);
	}
}

/* What a program was compiled with that knows the first version: outputs end there. */
TEST_F(abi, first_version)
{
	const struct command *c;
	union arg arg;
	uint32_t i;

	EACH_COMMAND(c) {
		prepare(&arg, c, self);
		arg.size = c->first_size;
		memset(arg.bytes + c->first_size, 0xee, c->size - c->first_size);
		EXPECT_CALL(c, call(c, &arg, self), c->result);
		for (i = c->first_size; i < c->size; i++)
			EXPECT_EQ((unsigned char)arg.bytes[i], 0xee);
	}
}

TEST_F(abi, longer_with_zeros)
{
	const struct command *c;
	union arg arg;

	EACH_COMMAND(c) {
		prepare(&arg, c, self);
		arg.size = c->size + 1;
		EXPECT_CALL(c, call(c, &arg, self), c->result);
		prepare(&arg, c, self);
		arg.size = c->size + 64;
		EXPECT_CALL(c, call(c, &arg, self), c->result);
	}
}

TEST_F(abi, longer_with_more)
{
	const struct command *c;
	union arg arg;

	EACH_COMMAND(c) {
		prepare(&arg, c, self);
		arg.size = c->size + 1;
		arg.bytes[c->size] = 1;
		EXPECT_CALL(c, call(c, &arg, self), E2BIG);
		prepare(&arg, c, self);
		arg.size = c->size + 64;
		arg.bytes[c->size + 63] = 1;
		EXPECT_CALL(c, call(c, &arg, self), E2BIG);
	}
}

TEST_F(abi, absurd_size)
{
	const struct command *c;
	union arg arg;
	int ret;

	EACH_COMMAND(c) {
		prepare(&arg, c, self);
		arg.size = 0xffffffffU;
		ret = call(c, &arg, self);
		if (ret != EFAULT)
			EXPECT_CALL(c, ret, E2BIG);
	}
}

TEST_F(abi, unknown_flags)
{
	const struct command *c;
	uint32_t flags;
	union arg arg;
	int bit;

	EACH_COMMAND(c) {
		for (bit = 2; c->flags >= 0 && bit < 32; bit++) {
			if (c->cmd == RDMACHAN_QUEUE_CREATE && 1 << bit == RDMACHAN_QUEUE_F_POLLER)
				continue;
			if (c->cmd == RDMACHAN_WRITE && 1 << bit == RDMACHAN_WRITE_F_NOTIFY)
				continue;
			if (c->cmd == RDMACHAN_RECV && 1 << bit == RDMACHAN_IO_F_PEEK)
				continue;
			if (c->cmd == RDMACHAN_CONNECT && 1 << bit == RDMACHAN_CONNECT_F_EARLY)
				continue;
			if (c->cmd == RDMACHAN_SEND && 1 << bit == RDMACHAN_IO_F_DELIVERED)
				continue;
			prepare(&arg, c, self);
			flags = 1U << bit;
			memcpy(arg.bytes + c->flags, &flags, sizeof(flags));
			EXPECT_CALL(c, call(c, &arg, self), EOPNOTSUPP);
		}
	}
}

TEST_F(abi, reserved_members)
{
	struct rdmachan_accept_args accept = { .size = sizeof(accept), .timeout_ms = 1 };
	struct rdmachan_send_args send = { .size = sizeof(send), .__reserved = 1 };
	struct rdmachan_enter_args enter = { .size = sizeof(enter), .__reserved = 1 };
	struct rdmachan_queue_create_args create = {
		.size = sizeof(create), .sq_entries = 8, .cq_entries = 8, .idle_ms = 1,
		.sqe_size = sizeof(struct rdmachan_sqe), .cqe_size = sizeof(struct rdmachan_cqe),
	};
	struct rdmachan_pool_create_args pool = {
		.size = sizeof(pool), .entries = 8, .__reserved = 1,
		.buffer_size = sizeof(struct rdmachan_buffer),
	};
	struct rdmachan_connect_args connect;
	struct rdmachan_listen_args listen;
	struct rdmachan_list_args list = {
		.size = sizeof(list),
		.objects_ptr = (uintptr_t)&self->object,
		.objects_max = 1,
		.object_size = sizeof(self->object),
		.__reserved = 1,
	};

	fill_listen(&listen, SPARE, NULL);
	listen.local = own_address();
	listen.local.flowinfo = 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LISTEN, &listen), EINVAL);
	fill_connect(&connect, SERVICE, NULL);
	connect.source = own_address();
	connect.source.flowinfo = 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EINVAL);
	fill_connect(&connect, SERVICE, NULL);
	connect.addr.flowinfo = 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EINVAL);
	accept.__reserved = 1;
	EXPECT_ERR(ioctl(self->listener, RDMACHAN_ACCEPT, &accept), EINVAL);
	accept.__reserved = 0;
	accept.__reserved2 = 1;
	EXPECT_ERR(ioctl(self->listener, RDMACHAN_ACCEPT, &accept), EINVAL);
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_SEND, &send), EINVAL);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LIST, &list), EINVAL);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_QUEUE_CREATE, &create), EINVAL);
	EXPECT_ERR(ioctl(self->queue.fd, RDMACHAN_ENTER, &enter), EINVAL);
	EXPECT_ERR(ioctl(self->queue.fd, RDMACHAN_POOL_CREATE, &pool), EINVAL);
}

TEST_F(abi, reserved_members_of_grants)
{
	struct rdmachan_release_args release = { .size = sizeof(release), .__reserved = 1 };
	struct rdmachan_region_unregister_args unreg = {
		.size = sizeof(unreg), .region = self->own.region, .__reserved = 1,
	};
	struct rdmachan_access_args access = {
		.size = sizeof(access), .grant = self->held, .msg_flags = 1,
	};

	release.grant = self->held;
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_RELEASE, &release), EINVAL);
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_READ, &access), EINVAL);
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_WRITE, &access), EINVAL);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_REGION_UNREGISTER, &unreg), EINVAL);
	EXPECT_EQ(grant_read(self->chan, self->held, 0, &unreg, 8), 0);
}

/* Entries of rings: as long as the first version's, and no longer than the module knows. */
TEST_F(abi, entry_sizes)
{
	static const struct {
		uint32_t size;
		int err;
	} sizes[] = { { 0, EINVAL }, { -8, EINVAL }, { -1, EINVAL }, { 1, E2BIG }, { 8, E2BIG } };
	struct rdmachan_queue_create_args create;
	struct rdmachan_pool_create_args pool;
	union arg arg;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		prepare(&arg, command_of(RDMACHAN_QUEUE_CREATE), self);
		create = arg.queue_create;
		create.sqe_size = sizes[i].size ? create.sqe_size + sizes[i].size : 0;
		EXPECT_ERR(ioctl(self->ctx, RDMACHAN_QUEUE_CREATE, &create), sizes[i].err);
		create = arg.queue_create;
		create.cqe_size = sizes[i].size ? create.cqe_size + sizes[i].size : 0;
		EXPECT_ERR(ioctl(self->ctx, RDMACHAN_QUEUE_CREATE, &create), sizes[i].err);
		prepare(&arg, command_of(RDMACHAN_POOL_CREATE), self);
		pool = arg.pool_create;
		pool.buffer_size = sizes[i].size ? pool.buffer_size + sizes[i].size : 0;
		EXPECT_ERR(ioctl(self->queue.fd, RDMACHAN_POOL_CREATE, &pool), sizes[i].err);
	}
	EXPECT_EQ(self->queue.sq.stride, sizeof(struct rdmachan_sqe));
	EXPECT_EQ(self->queue.cq.stride, sizeof(struct rdmachan_cqe));
	prepare(&arg, command_of(RDMACHAN_POOL_CREATE), self);
	ASSERT_EQ(ioctl(self->queue.fd, RDMACHAN_POOL_CREATE, &arg), 0);
	EXPECT_EQ(arg.pool_create.out_ring.stride, sizeof(struct rdmachan_buffer));
}

/*
 * That a program knows grants is for RECV to say; a call that takes no flags takes not even these.
 */
TEST_F(abi, flags_of_others)
{
	const struct command *c;
	union arg arg;
	uint32_t flags;

	EACH_COMMAND(c) {
		if (c->flags < 0 || !(c->kinds & CHAN) || c->cmd == RDMACHAN_RECV)
			continue;
		for (flags = RDMACHAN_IO_F_DONTWAIT; flags <= RDMACHAN_IO_F_GRANTS; flags++) {
			if (flags == RDMACHAN_IO_F_DONTWAIT &&
			    (c->cmd == RDMACHAN_SEND || c->cmd == RDMACHAN_GRANT ||
			     c->cmd == RDMACHAN_REVOKE || c->cmd == RDMACHAN_FINISH))
				continue;
			prepare(&arg, c, self);
			memcpy(arg.bytes + c->flags, &flags, sizeof(flags));
			EXPECT_CALL(c, call(c, &arg, self), EOPNOTSUPP);
		}
	}
}

TEST_F(abi, wrong_file)
{
	const unsigned int kinds[] = { CTX, LISTENER, CHAN, QUEUE };
	const int fds[] = { self->ctx, self->listener, self->chan, self->queue.fd };
	const struct command *c;
	union arg arg;
	int i;

	EACH_COMMAND(c) {
		for (i = 0; i < 4; i++) {
			if (c->kinds & kinds[i])
				continue;
			prepare(&arg, c, self);
			EXPECT_ERR(ioctl(fds[i], c->cmd, &arg), ENOTTY);
		}
	}
	EXPECT_EQ(read(self->ctx, &arg, 1), -1);
	EXPECT_EQ(write(self->ctx, &arg, 1), -1);
	EXPECT_EQ(read(self->listener, &arg, 1), -1);
	EXPECT_EQ(write(self->listener, &arg, 1), -1);
	EXPECT_ERR(lseek(self->chan, 0, SEEK_SET), ESPIPE);
	EXPECT_EQ(mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->chan, 0) == MAP_FAILED, true);
}

/* The numbers have no holes: each below that of the last is a command's. */
TEST_F(abi, numbers_of_commands)
{
	const struct command *c;
	uint64_t seen = 0;

	EACH_COMMAND(c) {
		EXPECT_EQ(_IOC_TYPE(c->cmd), RDMACHAN_TYPE);
		EXPECT_EQ(_IOC_SIZE(c->cmd), 0);
		seen |= 1ULL << _IOC_NR(c->cmd);
	}
	EXPECT_EQ(seen, (1ULL << COMMANDS) - 1);
}

TEST_F(abi, unknown_command)
{
	const int fds[] = { self->ctx, self->listener, self->chan, self->queue.fd };
	union arg arg = { .size = sizeof(struct rdmachan_info) };
	unsigned int nr;
	int i;

	for (i = 0; i < 4; i++) {
		for (nr = COMMANDS; nr < 256; nr++)
			EXPECT_ERR(ioctl(fds[i], _IO(RDMACHAN_TYPE, nr), &arg), ENOTTY);
		EXPECT_ERR(ioctl(fds[i], _IO(RDMACHAN_TYPE - 1, 0), &arg), ENOTTY);
		/* Of files of namespaces: a program may ask any file for what it is. */
		for (nr = 0; nr < 256; nr++)
			EXPECT_ERR(ioctl(fds[i], _IO(0xB7, nr), &arg), ENOTTY);
		EXPECT_ERR(ioctl(fds[i], _IOWR(RDMACHAN_TYPE, 0, int), &arg), ENOTTY);
	}
}

TEST_F(abi, bad_argument)
{
	const struct command *c;

	EACH_COMMAND(c) {
		EXPECT_ERR(ioctl(file_of(c, self), c->cmd, NULL), EFAULT);
		EXPECT_ERR(ioctl(file_of(c, self), c->cmd, NOWHERE), EFAULT);
		EXPECT_ERR(ioctl(file_of(c, self), c->cmd, -64L), EFAULT);
	}
}

/* A structure that can be read only: the outputs do not arrive, and nothing is lost. */
TEST_F(abi, output_nowhere)
{
	struct rdmachan_connect_args *connect;
	struct rdmachan_accept_args *accept;
	struct rdmachan_listen_args *listen;
	int chan, fd, lowest;
	void *page;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(page != MAP_FAILED);
	lowest = dup(0);
	close(lowest);

	listen = page;
	fill_listen(listen, SPARE, NULL);
	mprotect(page, 4096, PROT_READ);
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LISTEN, listen), EFAULT);
	fd = do_listen(self->ctx, SPARE, NULL);
	EXPECT_EQ(fd, lowest);
	close(fd);

	chan = do_connect(self->ctx, SERVICE, NULL);
	ASSERT_GE(chan, 0);
	ASSERT_TRUE(wait_readable(self->listener, 20000));
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	accept = page;
	memset(page, 0, 4096);
	accept->size = sizeof(*accept);
	mprotect(page, 4096, PROT_READ);
	EXPECT_ERR(ioctl(self->listener, RDMACHAN_ACCEPT, accept), EFAULT);
	fd = do_accept(self->listener, TIMEOUT(20000));
	ASSERT_GE(fd, 0);
	EXPECT_EQ(write(fd, "x", 1), 1);
	close(fd);
	close(chan);

	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	connect = page;
	fill_connect(connect, SERVICE, NULL);
	mprotect(page, 4096, PROT_READ);
	/* The two of the fixture. */
	ASSERT_TRUE(await_channels(self->ctx, 2));
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, connect), EFAULT);
	close(do_accept(self->listener, TIMEOUT(20000)));
	EXPECT_TRUE(await_channels(self->ctx, 2));
}

/* Programs of the first version have records that are shorter, and use them again. */
#define FIRST_ERROR RDMACHAN_ERROR_SIZE_1
#define FIRST_OBJECT RDMACHAN_OBJECT_SIZE_1
#define FIRST_DEVICE RDMACHAN_DEVICE_SIZE_1

static bool is_guarded(const void *record, uint32_t size)
{
	const unsigned char *at = record;
	size_t i;

	for (i = size; i < 512; i++)
		if (at[i] != 0x5a)
			return false;
	return true;
}

TEST_F(abi, records_of_the_first_version)
{
	union {
		unsigned char bytes[1024];
		struct rdmachan_error error;
		struct rdmachan_object object;
		uint32_t size;
	} old;
	struct rdmachan_send_args send = {
		.size = sizeof(send), .iov_ptr = NOWHERE, .iov_count = 1,
		.error_ptr = (uintptr_t)&old,
	};
	struct rdmachan_query_args query = { .size = sizeof(query) };
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)&old, .objects_max = 1,
		.object_size = FIRST_OBJECT,
	};
	int i;

	memset(&old, 0x5a, sizeof(old));
	old.size = FIRST_ERROR;
	for (i = 0; i < 2; i++) {
		query.error_ptr = (uintptr_t)&old;
		ASSERT_EQ(ioctl(self->chan, RDMACHAN_QUERY, &query), 0);
		EXPECT_EQ(old.size, FIRST_ERROR);
		EXPECT_TRUE(is_guarded(&old, FIRST_ERROR));
		/* A call that fails. */
		EXPECT_ERR(ioctl(self->chan, RDMACHAN_SEND, &send), EFAULT);
		EXPECT_EQ(old.size, FIRST_ERROR);
		EXPECT_TRUE(is_guarded(&old, FIRST_ERROR));
	}
	memset(&old, 0x5a, sizeof(old));
	old.size = FIRST_OBJECT;
	query.error_ptr = 0;
	for (i = 0; i < 2; i++) {
		query.object_ptr = (uintptr_t)&old;
		ASSERT_EQ(ioctl(self->chan, RDMACHAN_QUERY, &query), 0);
		EXPECT_EQ(old.size, FIRST_OBJECT);
		EXPECT_TRUE(is_guarded(&old, FIRST_OBJECT));
		ASSERT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
		EXPECT_EQ(list.out_count, 1);
		EXPECT_EQ(old.size, FIRST_OBJECT);
		EXPECT_TRUE(is_guarded(&old, FIRST_OBJECT));
	}
}

TEST_F(abi, devices_of_the_first_version)
{
	union {
		unsigned char bytes[1024];
		struct rdmachan_device device;
	} old;
	struct rdmachan_info info = {
		.size = sizeof(info), .devices_ptr = (uintptr_t)&old, .devices_max = 1,
		.device_size = FIRST_DEVICE,
	};

	memset(&old, 0x5a, sizeof(old));
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_INFO, &info), 0);
	EXPECT_EQ(old.device.port, 1);
	EXPECT_TRUE(is_guarded(&old, FIRST_DEVICE));
	info.device_size--;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_INFO, &info), EINVAL);
}

TEST_F(abi, bad_vectors)
{
	struct rdmachan_send_args send = { .size = sizeof(send), .iov_count = 1 };
	struct rdmachan_recv_args recv = {
		.size = sizeof(recv), .iov_count = 1, .flags = RDMACHAN_IO_F_DONTWAIT,
	};

	send.iov_ptr = NOWHERE;
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_SEND, &send), EFAULT);
	send.iov_count = 1025;
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_SEND, &send), EINVAL);
	send.iov_count = 0xffffffffU;
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_SEND, &send), EINVAL);
	recv.iov_ptr = NOWHERE;
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_RECV, &recv), EFAULT);
	recv.iov_count = 1025;
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_RECV, &recv), EINVAL);
}

/* Memory that is missing: nothing of the message comes, and the next one does. */
TEST_F(abi, send_from_nowhere)
{
	const size_t lens[] = { 1, 100, 2048, 2049, 16384, 300000 };
	const size_t page = 4096;
	char back[16];
	size_t i, end;
	char *map;

	map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	munmap(map + 512 * 1024, 512 * 1024);
	end = 512 * 1024;
	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		EXPECT_ERR(do_send(self->chan, (void *)NOWHERE, lens[i], 0, NULL), EFAULT);
		EXPECT_EQ(do_send(self->chan, "next", 4, 0, NULL), 0);
		EXPECT_EQ(read(self->peer, back, sizeof(back)), 4);
		/* The last byte, and the last page but one. */
		EXPECT_ERR(do_send(self->chan, map + end - lens[i] + 1, lens[i], 0, NULL),
			   EFAULT);
		EXPECT_ERR(do_send(self->chan, map + end - page, lens[i] + page, 0, NULL),
			   EFAULT);
		EXPECT_EQ(do_send(self->chan, "next!", 5, 0, NULL), 0);
		EXPECT_EQ(read(self->peer, back, sizeof(back)), 5);
	}
}

TEST_F(abi, receive_to_nowhere)
{
	const size_t lens[] = { 1, 100, 2048, 2049, 16384, 300000 };
	char *data = malloc(300000);
	struct rdmachan_recv_args recv;
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		fill_random(data, lens[i], i);
		ASSERT_EQ(do_send(self->chan, data, lens[i], 7, NULL), 0);
		EXPECT_ERR(do_recv(self->peer, (void *)NOWHERE, lens[i], NULL, NULL), EFAULT);
		EXPECT_ERR(do_recv(self->peer, (void *)-8192L, 4096, NULL,
				   &(struct opts){ .flags = RDMACHAN_IO_F_DONTWAIT }), EFAULT);
		memset(data, 0, lens[i]);
		ASSERT_EQ(do_recv(self->peer, data, lens[i], &recv, NULL), 0);
		EXPECT_EQ(recv.out_length, lens[i]);
		EXPECT_EQ(recv.out_msg_flags, 7);
		EXPECT_TRUE(is_random(data, lens[i], i));
	}
}

TEST_F(abi, error_record_size)
{
	struct rdmachan_error error = { .size = RDMACHAN_ERROR_SIZE_1 - 1 };
	struct rdmachan_connect_args connect;

	fill_connect(&connect, SERVICE + 1, NULL);
	connect.error_ptr = (uintptr_t)&error;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EINVAL);
	connect.error_ptr = NOWHERE;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EFAULT);
	memset(&error, 0xee, sizeof(error));
	error.size = sizeof(error);
	connect.error_ptr = (uintptr_t)&error;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), ECONNREFUSED);
	EXPECT_EQ(error.error, ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_SERVICE);
	EXPECT_EQ(error.size, sizeof(error));
	/* A call that has nothing to do with the connection leaves an empty record. */
	memset(&error, 0xee, sizeof(error));
	error.size = sizeof(error);
	EXPECT_ERR(do_recv(self->chan, &connect, 1, NULL,
			   &(struct opts){ .flags = RDMACHAN_IO_F_DONTWAIT,
					   .error = &error }), EAGAIN);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	EXPECT_EQ(error.error, 0);
}

TEST_F(abi, services)
{
	struct rdmachan_connect_args connect;

	EXPECT_ERR(do_listen(self->ctx, 0, NULL), EINVAL);
	EXPECT_ERR(do_listen(self->ctx, 0xffffffffU, NULL), EINVAL);
	EXPECT_ERR(do_connect(self->ctx, 0, NULL), EINVAL);
	EXPECT_ERR(do_connect(self->ctx, 0xffffffffU, NULL), EINVAL);
	EXPECT_GE(do_listen(self->ctx, 0xfffffffeU, NULL), 0);
	EXPECT_GE(do_listen(self->ctx, 1, NULL), 0);
	EXPECT_ERR(do_listen(self->there, SERVICE, NULL), EADDRINUSE);
	fill_connect(&connect, SERVICE, NULL);
	connect.timeout_ms = 3600001;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EINVAL);
}

TEST_F(abi, backlog)
{
	int fd;

	EXPECT_ERR(do_listen(self->ctx, SPARE, &(struct opts){ .backlog = 65536 }), EINVAL);
	fd = do_listen(self->ctx, SPARE, &(struct opts){ .backlog = 65535 });
	EXPECT_GE(fd, 0);
}

TEST_F(abi, tuning)
{
	static const struct rdmachan_tuning bad[] = {
		{ .send_buffer = RDMACHAN_BUFFER_MIN - 1 },
		{ .send_buffer = RDMACHAN_BUFFER_MAX + 1 },
		{ .recv_buffer = RDMACHAN_BUFFER_MIN - 1 },
		{ .recv_buffer = RDMACHAN_BUFFER_MAX + 1 },
		{ .message_max = RDMACHAN_MESSAGE_MAX + 1 },
	};
	static const struct rdmachan_tuning good = {
		RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MAX, 1, RDMACHAN_LINGER_NONE,
	};
	struct rdmachan_object object;
	struct opts o = { 0 };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		o.tuning = bad[i];
		EXPECT_ERR(do_listen(self->ctx, SPARE, &o), EINVAL);
		EXPECT_ERR(do_connect(self->ctx, SERVICE, &o), EINVAL);
	}
	o.tuning = good;
	fd = do_connect(self->ctx, SERVICE, &o);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(get_object(fd, &object), 0);
	EXPECT_EQ(object.send_buffer, RDMACHAN_BUFFER_MIN);
	EXPECT_EQ(object.recv_buffer, RDMACHAN_BUFFER_MAX);
}

TEST_F(abi, addresses)
{
	struct rdmachan_connect_args connect;
	int family;

	for (family = 0; family < 50; family++) {
		if (family == AF_INET || family == AF_INET6)
			continue;
		fill_connect(&connect, SERVICE, NULL);
		connect.addr.family = family;
		EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EAFNOSUPPORT);
	}
	fill_connect(&connect, SERVICE, NULL);
	connect.addr = address_of("0.0.0.0");
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EHOSTUNREACH);
	connect.addr = address_of("::");
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), EHOSTUNREACH);
}

TEST_F(abi, message_flags)
{
	struct rdmachan_recv_args recv;
	char c;

	EXPECT_ERR(do_send(self->chan, "x", 1, 0x10000, NULL), EINVAL);
	EXPECT_ERR(do_send(self->chan, "x", 1, 0x80000000U, NULL), EINVAL);
	EXPECT_EQ(do_send(self->chan, "x", 1, 0xffff, NULL), 0);
	EXPECT_EQ(do_recv(self->peer, &c, 1, &recv, NULL), 0);
	EXPECT_EQ(recv.out_msg_flags, 0xffff);
	EXPECT_ERR(do_shutdown(self->chan, 0), EINVAL);
	EXPECT_ERR(do_shutdown(self->chan, 8), EINVAL);
}

TEST_F(abi, list_arguments)
{
	const uint32_t least = RDMACHAN_OBJECT_SIZE_1;
	const uint32_t most = sysconf(_SC_PAGESIZE);
	struct rdmachan_object *objects = calloc(1, most);
	struct rdmachan_list_args list = {
		.size = sizeof(list),
		.objects_ptr = (uintptr_t)objects,
		.objects_max = 0,
		.object_size = sizeof(*objects),
	};
	uint64_t last;

	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LIST, &list), EINVAL);
	list.objects_max = 65537;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LIST, &list), EINVAL);
	list.objects_max = 1;
	list.object_size = least - 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LIST, &list), EINVAL);
	list.object_size = most + 1;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LIST, &list), EINVAL);
	list.object_size = least;
	EXPECT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
	list.object_size = most;
	EXPECT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
	list.object_size = sizeof(*objects);
	list.objects_ptr = NOWHERE;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_LIST, &list), EFAULT);
	list.objects_ptr = (uintptr_t)objects;
	for (last = 0;; last = objects[0].id) {
		list.after = last;
		ASSERT_EQ(ioctl(self->ctx, RDMACHAN_LIST, &list), 0);
		if (!list.out_count)
			break;
		EXPECT_EQ(list.out_count, 1);
		ASSERT_GT(objects[0].id, last);
		EXPECT_EQ(objects[0].size, sizeof(*objects));
	}
	list.after = ~0ULL;
	if (!ioctl(self->ctx, RDMACHAN_LIST, &list))
		EXPECT_EQ(list.out_count, 0);
	free(objects);
}

TEST_F(abi, info)
{
	struct rdmachan_device devices[16];
	char unread[200] = {};
	uint32_t segments;
	struct rdmachan_info info;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_abi, RDMACHAN_ABI_VERSION);
	EXPECT_EQ(info.out_message_max, RDMACHAN_MESSAGE_MAX);
	EXPECT_EQ(info.out_port, RDMACHAN_PORT);
	/* It is none of those that Linux gives to what connects. */
	EXPECT_LT(info.out_port, 32768);
	EXPECT_GE(info.out_protocol, 1);
	/* All groups of calls, by bits without holes. */
	EXPECT_EQ(info.out_calls, 0x7fff);
	EXPECT_GE(info.out_devices, 1);
	EXPECT_GE(info.out_dead_ms, 200);
	EXPECT_GE(info.out_connect_ms, 100);
	EXPECT_GE(info.out_buffer, RDMACHAN_BUFFER_MIN);
	EXPECT_GE(info.out_contexts, 1);
	EXPECT_GE(info.out_listeners, 1);
	EXPECT_GE(info.out_channels, 2);
	EXPECT_GE(info.out_links, 1);
	segments = info.out_segments;
	EXPECT_GT(strlen(info.out_version), 0);
	/* A message that is not small waits in a piece of memory of its own. */
	ASSERT_EQ(do_send(self->peer, unread, sizeof(unread), 0, NULL), 0);
	ASSERT_TRUE(wait_readable(self->chan, 10000));
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_segments, segments + 1);
	info.devices_ptr = (uintptr_t)devices;
	info.devices_max = 16;
	info.device_size = sizeof(*devices);
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_INFO, &info), 0);
	EXPECT_GT(strlen(devices[0].name), 0);
	EXPECT_TRUE(devices[0].flags & RDMACHAN_DEV_F_ACTIVE);
	EXPECT_EQ(devices[0].port, 1);
	EXPECT_EQ(devices[0].port_state, 4);
	info.devices_ptr = NOWHERE;
	EXPECT_ERR(ioctl(self->ctx, RDMACHAN_INFO, &info), EFAULT);
}

static struct rdmachan_device device_of(int ctx, const char *name)
{
	struct rdmachan_device devices[16];
	struct rdmachan_info info = {
		.size = sizeof(info), .devices_ptr = (uintptr_t)devices, .devices_max = 16,
		.device_size = sizeof(*devices),
	};
	uint32_t i;

	ASSERT_EQ(ioctl(ctx, RDMACHAN_INFO, &info), 0);
	ASSERT_LE(info.out_devices, 16);
	for (i = 0; i < info.out_devices; i++)
		if (!strcmp(devices[i].name, name))
			return devices[i];
	return (struct rdmachan_device){};
}

/* A device that all namespaces may use tells each of its own interfaces and links only. */
TEST_F(abi, devices_of_two_hosts)
{
	const char *mine = getenv("LAB_RDMA"), *theirs = getenv("LAB_PEER_RDMA");
	struct rdmachan_device device;

	if (!has_peer() || !mine || !theirs)
		SKIP("there is no other host");
	device = device_of(self->ctx, mine);
	EXPECT_GT(strlen(device.netdev), 0);
	EXPECT_GE(device.links, 1);
	device = device_of(self->ctx, theirs);
	EXPECT_EQ(strlen(device.netdev), 0);
	EXPECT_EQ(device.links, 0);
	device = device_of(self->there, theirs);
	EXPECT_GT(strlen(device.netdev), 0);
	EXPECT_GE(device.links, 1);
	device = device_of(self->there, mine);
	EXPECT_EQ(strlen(device.netdev), 0);
	EXPECT_EQ(device.links, 0);
}

/* A record that was asked for is written, and tells of no connection. */
TEST_F(abi, error_without_a_connection)
{
	struct rdmachan_error error;
	const struct opts told = { .error = &error };
	struct rlimit files;

	EXPECT_ERR(do_listen(self->there, SERVICE, &told), EADDRINUSE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	EXPECT_EQ(error.error, 0);
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = 0;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
	EXPECT_ERR(do_listen(self->ctx, SPARE, &told), EMFILE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
	EXPECT_ERR(do_connect(self->ctx, SERVICE, &told), EMFILE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
}

TEST_F(abi, descriptor_flags)
{
	const struct opts both = {
		.flags = RDMACHAN_FD_F_CLOEXEC | RDMACHAN_FD_F_NONBLOCK,
	};
	int fd = do_listen(self->ctx, SPARE, &both);

	ASSERT_GE(fd, 0);
	EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	EXPECT_ERR(do_accept(fd, NULL), EAGAIN);
	EXPECT_EQ(fcntl(self->listener, F_GETFD) & FD_CLOEXEC, 0);
	EXPECT_EQ(fcntl(self->chan, F_GETFL) & O_NONBLOCK, 0);
	EXPECT_EQ(fcntl(self->chan, F_GETFD) & FD_CLOEXEC, 0);
	fd = do_connect(self->ctx, SERVICE, &both);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	fd = do_accept(self->listener, &(struct opts){ .flags = both.flags });
	ASSERT_GE(fd, 0);
	EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

/* The outputs of a call cannot be written: either nothing was done, or it was. */
TEST_F(abi, grant_output_nowhere)
{
	struct rdmachan_atomic_args *atomic;
	struct rdmachan_grant_range *range;
	uint64_t grants = grants_in_use(self->ctx), before = self->memory[0];
	void *page;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(page != MAP_FAILED);
	range = page;
	*range = self->range;
	mprotect(page, 4096, PROT_READ);
	EXPECT_ERR(grant_ranges(self->peer, self->there, range, 1), EFAULT);
	EXPECT_EQ(grants_in_use(self->ctx), grants);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	memset(page, 0, 4096);
	atomic = page;
	atomic->size = sizeof(*atomic);
	atomic->grant = self->held;
	atomic->op = RDMACHAN_ATOMIC_FETCH_ADD;
	atomic->operand = 1;
	mprotect(page, 4096, PROT_READ);
	EXPECT_ERR(ioctl(self->chan, RDMACHAN_ATOMIC, atomic), EFAULT);
	EXPECT_EQ(self->memory[0], before + 1);
}

/* ENTER that cannot tell how many entries it has taken takes none. */
TEST_F(abi, enter_output_nowhere)
{
	struct queue *q = &self->queue;
	uint32_t taken = *ring_word(q->sq_map, q->sq.consumer);
	struct rdmachan_enter_args *enter;
	struct rdmachan_cqe cqe;

	enter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(enter != MAP_FAILED);
	enter->size = sizeof(*enter);
	enter->to_submit = 1;
	queue_add(q, RDMACHAN_OPCODE_NOP, -1, 1);
	queue_publish(q);
	mprotect(enter, 4096, PROT_READ);
	EXPECT_ERR(ioctl(q->fd, RDMACHAN_ENTER, enter), EFAULT);
	EXPECT_EQ(*ring_word(q->sq_map, q->sq.consumer), taken);
	EXPECT_EQ(queue_ready(q), 0);
	mprotect(enter, 4096, PROT_READ | PROT_WRITE);
	EXPECT_EQ(ioctl(q->fd, RDMACHAN_ENTER, enter), 0);
	EXPECT_EQ(enter->out_submitted, 1);
	EXPECT_EQ(enter->out_complete, 1);
	EXPECT_TRUE(queue_next(q, &cqe));
}

/* As a user of the peer's host, of whom no other test has left a link. */
TEST_F(abi, unprivileged)
{
	const uid_t nobody_else = 7654;
	struct rdmachan_object object;
	struct rdmachan_list_args list = {
		.size = sizeof(list),
		.flags = RDMACHAN_LIST_F_ALL,
		.objects_ptr = (uintptr_t)&object,
		.objects_max = 1,
		.object_size = sizeof(object),
	};
	int ctx;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	enter_peer();
	ASSERT_EQ(setuid(nobody_else), 0);
	ctx = open_ctx();
	EXPECT_ERR(do_listen(ctx, 1, NULL), EACCES);
	EXPECT_ERR(do_listen(ctx, 1023, NULL), EACCES);
	EXPECT_GE(do_listen(ctx, 1024, NULL), 0);
	EXPECT_ERR(do_listen(ctx, SERVICE, NULL), EADDRINUSE);
	EXPECT_ERR(ioctl(ctx, RDMACHAN_LIST, &list), EPERM);
	list.flags = 0;
	ASSERT_EQ(ioctl(ctx, RDMACHAN_LIST, &list), 0);
	EXPECT_EQ(list.out_count, 1);
	EXPECT_EQ(object.kind, RDMACHAN_KIND_LISTENER);
	EXPECT_EQ(object.service, 1024);
	EXPECT_EQ(object.uid, nobody_else);
}

TEST_HARNESS_MAIN
