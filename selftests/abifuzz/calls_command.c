// SPDX-License-Identifier: GPL-2.0
/*
 * calls_command.c - the commands of the interface
 *
 * value[0] is the place of the structure (below 16) and of the error record, value[1] its
 * size, value[7] what is spoiled; the others are the command's own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common.h"
#include "abi_fuzz.h"
#include "raw.h"

#define PICK(table, value) ((table)[(value) % (sizeof(table) / sizeof(*(table)))])
/* Larger than any structure, with what may lie beyond its end. */
#define ARG_MAX_SIZE 512

struct command {
	unsigned int cmd;
	size_t size;
	bool there; /* on the peer's host */
	union {
		unsigned char bytes[ARG_MAX_SIZE];
		uint32_t words[ARG_MAX_SIZE / 4];
		uint32_t size_member;
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
	} arg;
};

/* The numbers of the first of a context are likely. */
uint32_t region_of(unsigned int value)
{
	static const uint32_t regions[] = { 1, 2, 3, 4, 0, 0xffffffff };

	return PICK(regions, value);
}

unsigned int timeout_of(unsigned int value)
{
	static const unsigned int timeouts[] = {
		10, 1, 3, 30, 0, 200, 3600000, 3600001, 0xffffffff, 0x80000000,
	};

	return PICK(timeouts, value);
}

unsigned int length_of(unsigned int value)
{
	static const unsigned int lengths[] = {
		100, 1, 0, 8, 2048, 2049, 4096, 16320, 16384, 16385, 65536, 131072, 262144,
		300000, 1000000, 1048576, 1048577, 64 << 20, 0x7fffffff, 0xffffffff,
	};

	return PICK(lengths, value);
}

/* The first service of a process; the third is its partner's. */
uint32_t services_of(int proc)
{
	return 6000 + 8 * proc;
}

static uint32_t service_of(unsigned int value)
{
	const uint32_t own = services_of(engine_options()->proc);
	const uint32_t services[] = {
		own, own + 1, 5000, own + 2, 5001, 80, 0, 0xffffffff, 0xfffffffe, 1,
	};

	return PICK(services, value);
}

static uint32_t fd_flags_of(unsigned int value)
{
	static const uint32_t flags[] = {
		0, RDMACHAN_FD_F_NONBLOCK, RDMACHAN_FD_F_CLOEXEC,
		RDMACHAN_FD_F_CLOEXEC | RDMACHAN_FD_F_NONBLOCK, 4, 0x80000000, 0xffffffff,
	};

	return PICK(flags, value);
}

static uint32_t io_flags_of(unsigned int value)
{
	static const uint32_t flags[] = { 0, RDMACHAN_IO_F_DONTWAIT, 0, 2, 0xffffffff,
					RDMACHAN_IO_F_PEEK };

	return PICK(flags, value);
}

static struct rdmachan_tuning tuning_of(unsigned int value)
{
	static const struct rdmachan_tuning tunings[] = {
		{ 0 },
		{ RDMACHAN_BUFFER_MIN, RDMACHAN_BUFFER_MIN, 0, 0 },
		{ 0, 0, 0, RDMACHAN_LINGER_NONE },
		{ 0, 0, 0, 1 },
		{ 0, 0, 2048, 0 },
		{ 0, RDMACHAN_BUFFER_MIN, 1, 50 },
		{ RDMACHAN_BUFFER_MIN, 0, 1 << 20, 5 },
		{ RDMACHAN_BUFFER_MAX, RDMACHAN_BUFFER_MAX, RDMACHAN_MESSAGE_MAX, 0 },
		{ RDMACHAN_BUFFER_MIN - 1, 0, 0, 0 },
		{ 0, RDMACHAN_BUFFER_MAX + 1, 0, 0 },
		{ 0, 0, RDMACHAN_MESSAGE_MAX + 1, 0 },
	};

	return PICK(tunings, value);
}

static uint32_t traffic_class_of(unsigned int value)
{
	static const uint32_t classes[] = {
		0, 0, 0, 0, 0, 1, 255, RDMACHAN_TRAFFIC_CLASS_0, RDMACHAN_TRAFFIC_CLASS_0 + 1, ~0U,
	};

	return PICK(classes, value);
}

/* The peer's, at most. */
static struct rdmachan_addr address_value(unsigned int value)
{
	static const char *const texts[] = {
		"127.0.0.1", "10.77.0.99", "0.0.0.0", "::", "::1", "255.255.255.255",
		"224.0.0.1", "fe80::1", "ff02::1", "::ffff:10.77.0.1", "192.0.2.1",
		"2001:db8::1", "10.77.0.255", "no address",
	};
	struct rdmachan_addr addr;

	value %= 24;
	if (value >= 10)
		return address_of(texts[value - 10]);
	switch (value) {
	case 3:
		return own_address();
	case 4:
		return own_address6();
	case 5:
		return peer_address6();
	}
	addr = peer_address();
	if (value == 6)
		addr.port = htons(raw_port_of(services_of(engine_options()->proc)));
	if (value == 7)
		addr.flowinfo = 1;
	if (value == 8)
		addr.scope_id = 77;
	if (value == 9)
		addr.addr[15] = 1;
	return addr;
}

/* Where an error record goes; its size is set as well as it goes. */
static uint64_t error_ptr(struct actor *actor, const struct call *call)
{
	static const uint32_t sizes[] = {
		sizeof(struct rdmachan_error), sizeof(struct rdmachan_error) - 1, 0,
		0xffffffff,
	};
	unsigned int kind = call->value[0] / 16;
	char *place;

	if (kind < 8)
		return 0;
	place = memory_args(actor, kind == 8 || kind == 9 ? 0 : kind - 7,
			    sizeof(struct rdmachan_error));
	/* Not where the structure is, as far as that is plain. */
	if (kind == 8 || kind == 9)
		place += 1024;
	memory_copy(actor, memory_writable(place), &sizes[kind == 9], sizeof(*sizes));
	return (uintptr_t)place;
}

static void spoil(struct command *command, unsigned int value)
{
	static const uint32_t words[] = {
		0xffffffff, 1, 0x80000000, 0x7fffffff, 0x10000, 2, 0xfffffff8,
	};
	unsigned int count = command->size / 4;

	if (value)
		command->arg.words[value % count] = PICK(words, value / count);
}

static uint32_t size_of(struct command *command, unsigned int value)
{
	switch (value % 10) {
	case 1: /* longer, and nothing is there */
		return command->size + 8;
	case 2:
		command->arg.bytes[command->size + 4] = 1;
		return command->size + 8;
	case 3:
		return command->size - 1;
	case 4:
		return command->size - 8;
	case 5:
		return 4096;
	case 6:
		return 4097;
	case 7:
		return 0xffffffff;
	case 8:
		return 0;
	case 9:
		return ARG_MAX_SIZE;
	default:
		return command->size;
	}
}

/* Put the structure where the case says, call, and take back what came out. */
static long issue(struct actor *actor, const struct call *call, struct command *command)
{
	size_t size = command->size;
	char *place;
	int error;
	long ret;

	spoil(command, call->value[7]);
	command->arg.size_member = size_of(command, call->value[1]);
	if (command->arg.size_member > size && command->arg.size_member <= ARG_MAX_SIZE)
		size = command->arg.size_member;
	place = memory_args(actor, call->value[0] % 16, size);
	memory_copy(actor, memory_writable(place), &command->arg, size);
	ret = ioctl(command->there ? fd_there(call->slot) : fd_of(call->slot), command->cmd,
		    place);
	error = errno;
	memory_copy(actor, &command->arg, place, command->size);
	errno = error;
	return ret;
}

/* Whether nobody can have meddled with the structure. */
static bool is_plain(const struct call *call)
{
	return !(call->value[0] % 16 || call->value[1] || call->value[7]);
}

/* A command that makes a file. Where the answer got lost nobody knows it. */
static long issue_fd(struct actor *actor, const struct call *call, struct command *command,
		     const int32_t *out)
{
	long ret = issue(actor, call, command);

	if (ret)
		return ret;
	if (*out >= 0)
		fd_put(call->to, *out);
	else if (is_plain(call))
		engine_complain("success without a file");
	return 0;
}

long call_info(struct actor *actor, const struct call *call)
{
	static const uint32_t counts[] = { 0, 1, 16, 0xffffffff };
	static const uint32_t sizes[] = { sizeof(struct rdmachan_device), 0, 4096, 0xffffffff };
	struct command command = { RDMACHAN_INFO, sizeof(struct rdmachan_info) };
	struct rdmachan_info *info = &command.arg.info;

	info->flags = call->value[2] % 8 == 7;
	info->devices_max = PICK(counts, call->value[3]);
	info->device_size = PICK(sizes, call->value[4]);
	info->devices_ptr = (uintptr_t)memory_of(call->value[5]);
	return issue(actor, call, &command);
}

/* None, most often. */
static struct rdmachan_addr local_of(unsigned int value, bool there)
{
	struct rdmachan_addr none = {};

	switch (value % 16) {
	case 1:
	case 2:
		return there ? peer_address() : own_address();
	case 3:
		return there ? peer_address6() : own_address6();
	case 4:
	case 5:
		return address_value(value / 16);
	default:
		return none;
	}
}

long call_listen(struct actor *actor, const struct call *call)
{
	static const uint32_t backlogs[] = { 0, 1, 2, 65535, 65536, 0xffffffff };
	struct command command = { RDMACHAN_LISTEN, sizeof(struct rdmachan_listen_args) };
	struct rdmachan_listen_args *listen = &command.arg.listen;

	command.there = true;
	listen->flags = fd_flags_of(call->value[2]);
	listen->service = service_of(call->value[3]);
	listen->backlog = PICK(backlogs, call->value[4]);
	listen->tuning = tuning_of(call->value[5]);
	listen->local = local_of(call->value[6], true);
	listen->error_ptr = error_ptr(actor, call);
	listen->out_fd = -1;
	return issue_fd(actor, call, &command, &listen->out_fd);
}

long call_accept(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_ACCEPT, sizeof(struct rdmachan_accept_args) };
	struct rdmachan_accept_args *accept = &command.arg.accept;

	accept->flags = fd_flags_of(call->value[2]);
	accept->timeout_ms = timeout_of(call->value[3]);
	accept->out_fd = -1;
	return issue_fd(actor, call, &command, &accept->out_fd);
}

long call_connect(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_CONNECT, sizeof(struct rdmachan_connect_args) };
	struct rdmachan_connect_args *connect = &command.arg.connect;

	connect->flags = fd_flags_of(call->value[2]) |
			 (call->value[2] & 0x40 ? RDMACHAN_CONNECT_F_EARLY : 0);
	connect->service = service_of(call->value[3]);
	/* A link takes a while to be made. */
	connect->timeout_ms = call->value[4] ? timeout_of(call->value[4]) : 100;
	connect->tuning = tuning_of(call->value[5]);
	connect->traffic_class = traffic_class_of(call->value[5]);
	connect->addr = address_value(call->value[6]);
	connect->source = local_of(call->value[3] / 16, false);
	connect->error_ptr = error_ptr(actor, call);
	connect->out_fd = -1;
	return issue_fd(actor, call, &command, &connect->out_fd);
}

/* Fill in the thread's vector. Return: how many elements are to be told. */
int make_vector(struct actor *actor, unsigned int value, unsigned int length)
{
	static const uint8_t counts[] = { 1, 2, 16, 0, 8, 1, 2 };
	struct iovec *iov = actor->iov;
	char *memory = memory_of(value / 16);
	unsigned int count, i;

	value %= 16;
	count = value == 7 ? 1024 : value == 8 ? 1025 : PICK(counts, value);
	for (i = 0; i < count; i++) {
		iov[i].iov_base = memory;
		iov[i].iov_len = length;
		/* Pieces of one message, or the same all over. */
		if (value == 1 || value == 2 || value == 7) {
			iov[i].iov_len = length / count + (i ? 0 : length % count);
			memory += memory ? iov[i].iov_len : 0;
		}
	}
	if (value == 5)
		iov[0].iov_len = SIZE_MAX;
	if (value == 6)
		iov[1].iov_base = memory_of(MEMORY_KERNEL);
	return count;
}

/* The address of the thread's vector, or of a copy in memory that may go. */
uint64_t vector_at(struct actor *actor, unsigned int value, unsigned int count)
{
	char *place;

	switch (value % 16) {
	case 9:
		return (uintptr_t)memory_of(MEMORY_KERNEL);
	case 10:
		place = memory_of(MEMORY_DANGER);
		break;
	case 11:
		place = memory_of(MEMORY_FILE);
		break;
	default:
		return (uintptr_t)actor->iov;
	}
	memory_copy(actor, place, actor->iov, count * sizeof(*actor->iov));
	return (uintptr_t)place;
}

long call_send(struct actor *actor, const struct call *call)
{
	static const uint32_t flags[] = { 0, 1, 0xffff, 0x8000, 0x10000, 0xffffffff };
	struct command command = { RDMACHAN_SEND, sizeof(struct rdmachan_send_args) };
	struct rdmachan_send_args *send = &command.arg.send;

	send->flags = io_flags_of(call->value[2]);
	send->iov_count = make_vector(actor, call->value[4], length_of(call->value[3]));
	send->iov_ptr = vector_at(actor, call->value[4], send->iov_count);
	send->timeout_ms = timeout_of(call->value[5]);
	send->msg_flags = PICK(flags, call->value[6]);
	send->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

/* What the length says, against what there was room for. */
static void judge_length(const struct rdmachan_recv_args *recv, int error, uint64_t room)
{
	if (!error && recv->out_length > room)
		engine_complain("more was received than there was room for");
	if (error == EMSGSIZE && recv->out_length <= room)
		engine_complain("a message that fits was too large");
}

long call_recv(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_RECV, sizeof(struct rdmachan_recv_args) };
	struct rdmachan_recv_args *recv = &command.arg.recv;
	long ret;

	recv->flags = io_flags_of(call->value[2]);
	/* Plain is a buffer that takes most messages. */
	recv->iov_count = make_vector(actor, call->value[4], call->value[3] ?
				      length_of(call->value[3]) : 1 << 20);
	recv->iov_ptr = vector_at(actor, call->value[4], recv->iov_count);
	recv->timeout_ms = timeout_of(call->value[5]);
	recv->error_ptr = error_ptr(actor, call);
	ret = issue(actor, call, &command);
	if (is_plain(call) && !call->value[4])
		judge_length(recv, ret ? errno : 0, actor->iov[0].iov_len);
	return ret;
}

long call_shutdown(struct actor *actor, const struct call *call)
{
	static const uint32_t hows[] = { 2, 1, 3, 0, 4, 0xffffffff, 5, 8 };
	struct command command = { RDMACHAN_SHUTDOWN, sizeof(struct rdmachan_shutdown_args) };

	command.arg.shutdown.how = PICK(hows, call->value[2]);
	return issue(actor, call, &command);
}

long call_finish(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_FINISH, sizeof(struct rdmachan_finish_args) };
	struct rdmachan_finish_args *finish = &command.arg.finish;

	finish->flags = call->value[2] % 4;
	finish->timeout_ms = timeout_of(call->value[3]);
	finish->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

long call_tune(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_TUNE, sizeof(struct rdmachan_tune_args) };
	const struct rdmachan_tuning tuning = tuning_of(call->value[2]);
	struct rdmachan_tune_args *tune = &command.arg.tune;

	tune->send_buffer = tuning.send_buffer;
	tune->recv_buffer = tuning.recv_buffer;
	tune->linger_ms = tuning.linger_ms;
	tune->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

long call_busy(struct actor *actor, const struct call *call)
{
	static const uint32_t usecs[] = { 100, 0, 1, 2000, RDMACHAN_BUSY_POLL_MAX + 1, -1U };
	struct command command = { RDMACHAN_BUSY_POLL, sizeof(struct rdmachan_busy_poll_args) };

	command.arg.busy_poll.usecs = PICK(usecs, call->value[2]);
	return issue(actor, call, &command);
}

long call_query(struct actor *actor, const struct call *call)
{
	static const uint32_t sizes[] = {
		sizeof(struct rdmachan_object), 0, sizeof(struct rdmachan_object) - 1, 4096,
		0xffffffff,
	};
	struct command command = { RDMACHAN_QUERY, sizeof(struct rdmachan_query_args) };
	struct rdmachan_query_args *query = &command.arg.query;
	char *place = call->value[4] % 12 ?
		      memory_args(actor, call->value[4], sizeof(struct rdmachan_object)) :
		      memory_args(actor, 0, 0) + 2048;

	query->flags = call->value[2] % 8 < 4 ? 0 : call->value[2] % 8 - 3;
	query->grant = query->flags ? grant_of(call->value[5]) : call->value[5] % 64 == 63;
	if (call->value[3] % 8 != 7) {
		memory_copy(actor, memory_writable(place), &PICK(sizes, call->value[3]),
			    sizeof(*sizes));
		query->object_ptr = (uintptr_t)place;
	}
	query->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

long call_list(struct actor *actor, const struct call *call)
{
	static const uint32_t counts[] = { 16, 1, 0, 65536, 65537, 2 };
	static const uint32_t sizes[] = {
		sizeof(struct rdmachan_object), 4096, 4097, sizeof(struct rdmachan_object) - 1,
		0, sizeof(struct rdmachan_object) + 1,
	};
	static const uint64_t afters[] = { 0, 1, 0xffffffff, 0x100000000, ~0ULL };
	struct command command = { RDMACHAN_LIST, sizeof(struct rdmachan_list_args) };
	struct rdmachan_list_args *list = &command.arg.list;

	list->flags = call->value[2] % 8 == 7 ? 2 : call->value[2] & 1;
	list->objects_max = PICK(counts, call->value[3]);
	list->object_size = PICK(sizes, call->value[4]);
	list->after = PICK(afters, call->value[5]);
	list->objects_ptr = (uintptr_t)memory_of(call->value[6]);
	return issue(actor, call, &command);
}

static uint32_t entries_of(unsigned int value)
{
	static const uint32_t entries[] = { 8, 1, 64, 256, 2, 0, 3, 32768, 65536, 0x80000000 };

	return PICK(entries, value);
}

long call_queue(struct actor *actor, const struct call *call)
{
	struct command command = {
		RDMACHAN_QUEUE_CREATE, sizeof(struct rdmachan_queue_create_args)
	};
	struct rdmachan_queue_create_args *create = &command.arg.queue_create;
	long ret;

	create->flags = call->value[2] % 8 == 7 ? 0x80000000 : call->value[2] & 1;
	create->sq_entries = entries_of(call->value[3]);
	create->cq_entries = entries_of(call->value[4]);
	create->sqe_size = sizeof(struct rdmachan_sqe);
	create->cqe_size = sizeof(struct rdmachan_cqe) + (call->value[2] % 16 == 14);
	create->error_ptr = error_ptr(actor, call);
	create->out_fd = -1;
	ret = issue_fd(actor, call, &command, &create->out_fd);
	if (ret || create->out_fd < 0)
		return ret;
	queue_map(create->out_fd, RING_SQ, &create->out_sq);
	queue_map(create->out_fd, RING_CQ, &create->out_cq);
	return 0;
}

long call_pool(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_POOL_CREATE, sizeof(struct rdmachan_pool_create_args) };
	struct rdmachan_pool_create_args *create = &command.arg.pool_create;
	long ret;

	create->flags = call->value[2] % 8 == 7;
	create->entries = entries_of(call->value[3]);
	create->buffer_size = sizeof(struct rdmachan_buffer) + (call->value[2] % 16 == 14);
	create->error_ptr = error_ptr(actor, call);
	ret = issue(actor, call, &command);
	if (!ret)
		queue_map(fd_of(call->slot), RING_POOL, &create->out_ring);
	return ret;
}

long call_enter(struct actor *actor, const struct call *call)
{
	static const uint32_t counts[] = { 32768, 1, 0, 2, 0xffffffff };
	static const uint32_t mins[] = { 0, 1, 2, 8, 64, 0xffffffff };
	struct command command = { RDMACHAN_ENTER, sizeof(struct rdmachan_enter_args) };
	struct rdmachan_enter_args *enter = &command.arg.enter;

	enter->flags = call->value[2] % 8 == 7;
	enter->to_submit = PICK(counts, call->value[3]);
	enter->min_complete = PICK(mins, call->value[4]);
	enter->timeout_ms = timeout_of(call->value[5]);
	return issue(actor, call, &command);
}

long call_register(struct actor *actor, const struct call *call)
{
	struct command command = {
		RDMACHAN_REGION_REGISTER, sizeof(struct rdmachan_region_register_args)
	};
	struct rdmachan_region_register_args *reg = &command.arg.region_register;

	reg->flags = call->value[2] % 8 == 7 ? 0x80000000 : call->value[2] & 1;
	reg->addr = (uintptr_t)memory_of(call->value[3]);
	/* Plain is room for most messages. */
	reg->length = call->value[4] ? length_of(call->value[4]) : 1 << 17;
	reg->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

long call_unregister(struct actor *actor, const struct call *call)
{
	struct command command = {
		RDMACHAN_REGION_UNREGISTER, sizeof(struct rdmachan_region_unregister_args)
	};

	command.arg.region_unregister.region = region_of(call->value[2]);
	command.arg.region_unregister.flags = call->value[3] % 8 == 7 ? 0x80000000 :
					      call->value[3] & 1;
	return issue(actor, call, &command);
}

/* The numbers of the first of a channel are likely. */
uint32_t grant_of(unsigned int value)
{
	static const uint32_t grants[] = { 1, 2, 3, 4, 5, 17, 0, 0xffffffff, 0x80000001 };

	return PICK(grants, value);
}

static uint32_t rights_of(unsigned int value)
{
	static const uint32_t rights[] = { 7, 1, 2, 4, 3, 5, 6, 0, 8, 0x107, 0xffffffff };

	return PICK(rights, value);
}

static uint64_t offset_of(unsigned int value)
{
	static const uint64_t offsets[] = {
		0, 8, 1, 4096, 99, 100, 65536, 0xffffffff, 1ULL << 63, ~0ULL, -8ULL,
	};

	return PICK(offsets, value);
}

/* So many ranges, that are alike, behind the structure or where memory may go. */
static struct rdmachan_grant_range *make_ranges(struct actor *actor, const struct call *call,
						unsigned int count)
{
	static const uint32_t uses[] = { 0, 1, 2, 0xffffffff }, expires[] = { 0, 1, 30, -1U };
	struct rdmachan_grant_range range = {
		.region = region_of(call->value[2]),
		.rights = rights_of(call->value[3]),
		.offset = offset_of(call->value[4] % 16),
		.length = call->value[4] / 16 ? length_of(call->value[4] / 16) : 64,
		.cookie = call->value[4],
		.uses = uses[call->value[5] % 4],
		.expires_ms = expires[call->value[5] / 4 % 4],
	};
	char *place = call->value[6] / 16 % 12 ?
		      memory_args(actor, call->value[6] / 16, count * sizeof(range)) :
		      memory_args(actor, 0, 0) + 2560;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!memory_copy(actor, memory_writable(place + i * sizeof(range)), &range,
				 sizeof(range)))
			break;
	return (struct rdmachan_grant_range *)place;
}

long call_grant(struct actor *actor, const struct call *call)
{
	static const uint32_t counts[] = { 1, 2, RDMACHAN_GRANTS_MAX, 0, RDMACHAN_GRANTS_MAX + 1 };
	struct command command = { RDMACHAN_GRANT, sizeof(struct rdmachan_grant_args) };
	struct rdmachan_grant_args *grant = &command.arg.grant;
	unsigned int pieces = call->value[5] / 16;

	grant->flags = io_flags_of(call->value[6]);
	grant->context = fd_of(SLOT_CTX);
	grant->count = PICK(counts, call->value[6] / 5);
	grant->ranges_ptr = (uintptr_t)make_ranges(actor, call, grant->count < 17 ? grant->count :
						   RDMACHAN_GRANTS_MAX);
	grant->range_size = sizeof(struct rdmachan_grant_range);
	if (pieces)
		grant->iov_count = make_vector(actor, pieces, length_of(call->value[3] / 16));
	grant->iov_ptr = vector_at(actor, pieces, grant->iov_count);
	grant->timeout_ms = timeout_of(call->value[2] / 16);
	grant->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

long call_release(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_RELEASE, sizeof(struct rdmachan_release_args) };

	command.arg.release.flags = call->value[3] % 8 == 7;
	command.arg.release.grant = grant_of(call->value[2]);
	return issue(actor, call, &command);
}

long call_revoke(struct actor *actor, const struct call *call)
{
	struct command command = { RDMACHAN_REVOKE, sizeof(struct rdmachan_revoke_args) };
	struct rdmachan_revoke_args *revoke = &command.arg.revoke;

	revoke->flags = io_flags_of(call->value[3]);
	revoke->grant = grant_of(call->value[2]);
	revoke->timeout_ms = timeout_of(call->value[4]);
	revoke->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

static long access_by(struct actor *actor, const struct call *call, unsigned int cmd)
{
	struct command command = { cmd, sizeof(struct rdmachan_access_args) };
	struct rdmachan_access_args *access = &command.arg.access;
	unsigned int pieces = call->value[3] / 8 % 16;

	access->flags = call->value[3] % 8 == 7 ? RDMACHAN_WRITE_F_NOTIFY : 0;
	access->grant = grant_of(call->value[2]);
	access->offset = offset_of(call->value[4]);
	access->length = call->value[5] ? length_of(call->value[5]) : 64;
	access->addr = (uintptr_t)memory_of(call->value[6]);
	access->error_ptr = error_ptr(actor, call);
	if (access->flags && cmd == RDMACHAN_WRITE) {
		access->iov_count = make_vector(actor, pieces, length_of(call->value[4]));
		access->iov_ptr = vector_at(actor, pieces, access->iov_count);
		access->msg_flags = call->value[4];
		access->timeout_ms = timeout_of(call->value[5]);
	}
	return issue(actor, call, &command);
}

long call_get(struct actor *actor, const struct call *call)
{
	return access_by(actor, call, RDMACHAN_READ);
}

long call_put(struct actor *actor, const struct call *call)
{
	return access_by(actor, call, RDMACHAN_WRITE);
}

long call_atomic(struct actor *actor, const struct call *call)
{
	static const uint32_t ops[] = {
		RDMACHAN_ATOMIC_FETCH_ADD, RDMACHAN_ATOMIC_COMPARE_SWAP, 0, 3, 0xffffffff,
	};
	struct command command = { RDMACHAN_ATOMIC, sizeof(struct rdmachan_atomic_args) };
	struct rdmachan_atomic_args *atomic = &command.arg.atomic;

	atomic->flags = call->value[3] % 8 == 7;
	atomic->grant = grant_of(call->value[2]);
	atomic->op = PICK(ops, call->value[3] / 8);
	atomic->offset = offset_of(call->value[4]);
	atomic->operand = call->value[5];
	atomic->compare = call->value[6];
	atomic->error_ptr = error_ptr(actor, call);
	return issue(actor, call, &command);
}

/* Numbers that are no commands. */
long call_unknown(struct actor *actor, const struct call *call)
{
	static const unsigned int cmds[] = {
		_IO(RDMACHAN_TYPE, 200), _IO(RDMACHAN_TYPE, 255), _IO(0xD2, 0),
		_IOWR(RDMACHAN_TYPE, 0, int), 0, 0xffffffff,
	};
	struct command command = { 0, 64 };

	command.cmd = PICK(cmds, call->value[2]);
	return issue(actor, call, &command);
}
