// SPDX-License-Identifier: MIT
/*
 * fake_grant.c - regions and grants of the fake device
 *
 * The owner keeps a record of what it lends in its own memory. Its address travels with
 * the event, and the holder reads and writes record and memory of the owner's process as
 * a debugger does. A lock that all processes share makes each access atomic.
 *
 * Kept simple: nothing expires, and the owner that revokes gets no event.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fake.h"

#define REGIONS	16
#define GRANTS	4096
#define HELD	64

struct lent {
	uint64_t addr;
	uint64_t length;
	uint64_t cookie;
	uint32_t rights;
	uint32_t uses;
	uint32_t live;
};

struct held {
	int fd;
	uint32_t grant;
	pid_t pid;
	uint64_t record;
};

/* An event as it travels. */
struct fake_event {
	struct rdmachan_grant_event event;
	uint64_t record;
	uint64_t pid;
};

static struct iovec regions[REGIONS];
static unsigned int region_count;
static struct lent lent[GRANTS];
static unsigned int lent_count;
static struct held held[HELD];
static unsigned int held_count;

static int fail(int error)
{
	errno = error;
	return -1;
}

/* The lock is that of a file which all have: this library. */
static int lock(void)
{
	int fd = open(getenv("LD_PRELOAD"), O_RDONLY | O_CLOEXEC);

	flock(fd, LOCK_EX);
	return fd;
}

static void unlock(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

static int peek(pid_t pid, void *to, uint64_t from, size_t length)
{
	const struct iovec remote = { (void *)(uintptr_t)from, length };
	const struct iovec local = { to, length };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)length ? 0 : -1;
}

static int poke(pid_t pid, const void *from, uint64_t to, size_t length)
{
	const struct iovec remote = { (void *)(uintptr_t)to, length };
	const struct iovec local = { (void *)from, length };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)length ? 0 : -1;
}

int fake_region_ioctl(unsigned long request, void *argument)
{
	struct rdmachan_region_register_args *reg = argument;

	if (request == RDMACHAN_REGION_UNREGISTER)
		return 0;
	if (request != RDMACHAN_REGION_REGISTER)
		return fail(ENOTTY);
	if (region_count == REGIONS)
		return fail(EMFILE);
	regions[region_count].iov_base = (void *)(uintptr_t)reg->addr;
	regions[region_count].iov_len = reg->length;
	reg->out_region = ++region_count;
	return 0;
}

static int send_events(int fd, struct fake_event *events, unsigned int count,
		       const struct iovec *iov, unsigned int iov_count, uint32_t msg_flags)
{
	struct fake_header header = { .events = count, .msg_flags = msg_flags };
	struct iovec all[2 + 16] = {
		{ &header, sizeof(header) }, { events, count * sizeof(*events) },
	};
	unsigned int i;

	if (iov_count > 16)
		return fail(EINVAL);
	for (i = 0; i < iov_count; i++) {
		all[2 + i] = iov[i];
		header.length += iov[i].iov_len;
	}
	return fake_move(fd, all, 2 + i, true);
}

static int range_check(const struct rdmachan_grant_range *range)
{
	if (!range->region || range->region > region_count)
		return fail(ENOENT);
	if (!range->rights || range->rights & RDMACHAN_RIGHT_BY_DEVICE || !range->length)
		return fail(EINVAL);
	if (range->offset > regions[range->region - 1].iov_len ||
	    range->length > regions[range->region - 1].iov_len - range->offset)
		return fail(ERANGE);
	return 0;
}

static void lend(struct rdmachan_grant_range *range, struct fake_event *event, uint16_t count)
{
	struct lent *one = &lent[lent_count++];
	char *base = regions[range->region - 1].iov_base;

	*one = (struct lent){
		.addr = (uintptr_t)(base + range->offset),
		.length = range->length,
		.cookie = range->cookie,
		.rights = range->rights,
		.uses = range->uses,
		.live = 1,
	};
	range->out_grant = lent_count;
	*event = (struct fake_event){
		.event = {
			.grant = range->out_grant,
			.what = RDMACHAN_GRANT_GIVEN,
			.count = count,
			.length = range->length,
			.cookie = range->cookie,
			.rights = range->rights,
		},
		.record = (uintptr_t)one,
		.pid = getpid(),
	};
}

static int fake_grant(int fd, struct rdmachan_grant_args *grant)
{
	struct rdmachan_grant_range *ranges = (void *)(uintptr_t)grant->ranges_ptr;
	struct fake_event events[RDMACHAN_GRANTS_MAX];
	uint32_t i;

	if (!grant->count || grant->count > RDMACHAN_GRANTS_MAX)
		return fail(EINVAL);
	if (lent_count + grant->count > GRANTS)
		return fail(EMFILE);
	for (i = 0; i < grant->count; i++) {
		if (range_check(&ranges[i]) < 0)
			return -1;
	}
	/* Where a process may be looked at by its parents only. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (i = 0; i < grant->count; i++)
		lend(&ranges[i], &events[i], grant->count);
	return send_events(fd, events, grant->count, (void *)(uintptr_t)grant->iov_ptr,
			   grant->iov_count, grant->msg_flags);
}

static void hold(int fd, const struct fake_event *event)
{
	if (event->event.what == RDMACHAN_GRANT_GIVEN && held_count < HELD)
		held[held_count++] = (struct held){
			.fd = fd,
			.grant = event->event.grant,
			.pid = event->pid,
			.record = event->record,
		};
}

static void scatter(const void *from, size_t length, const struct iovec *iov, uint32_t *piece,
		    size_t *offset)
{
	const char *data = from;
	size_t part;

	while (length) {
		part = iov[*piece].iov_len - *offset;
		if (part > length)
			part = length;
		memcpy((char *)iov[*piece].iov_base + *offset, data, part);
		data += part;
		length -= part;
		*offset += part;
		if (*offset == iov[*piece].iov_len) {
			(*piece)++;
			*offset = 0;
		}
	}
}

/* The header was looked at, and is still there. */
int fake_recv_events(int fd, const struct fake_header *header, struct rdmachan_recv_args *recv)
{
	const struct iovec *iov = (void *)(uintptr_t)recv->iov_ptr;
	struct fake_event events[RDMACHAN_GRANTS_MAX];
	struct fake_header again;
	size_t room = 0, offset = 0;
	uint32_t piece = 0, i;
	char *message;
	int ret;

	recv->out_length += header->events * sizeof(events[0].event);
	if (!(recv->flags & RDMACHAN_IO_F_GRANTS))
		return fail(ENOMSG);
	for (i = 0; i < recv->iov_count; i++)
		room += iov[i].iov_len;
	if (room < recv->out_length)
		return fail(EMSGSIZE);
	message = malloc(header->length + 1);
	if (!message)
		return -1;
	ret = fake_move(fd, (struct iovec []){ { &again, sizeof(again) },
			{ events, header->events * sizeof(events[0]) },
			{ message, header->length } }, header->length ? 3 : 2, false);
	for (i = 0; !ret && i < header->events; i++) {
		hold(fd, &events[i]);
		scatter(&events[i].event, sizeof(events[i].event), iov, &piece, &offset);
	}
	if (!ret)
		scatter(message, header->length, iov, &piece, &offset);
	free(message);
	recv->out_flags |= RDMACHAN_RECV_OUT_GRANTS;
	return ret;
}

static const struct held *held_find(int fd, uint32_t grant)
{
	unsigned int i = held_count;

	/* The last one: descriptors are used again. */
	while (i--) {
		if (held[i].fd == fd && held[i].grant == grant)
			return &held[i];
	}
	errno = ENOENT;
	return NULL;
}

static int returned(int fd, const struct held *one, struct lent *record)
{
	struct fake_event event = {
		.event = {
			.grant = one->grant,
			.what = RDMACHAN_GRANT_RETURNED,
			.count = 1,
			.length = record->length,
			.cookie = record->cookie,
			.rights = record->rights,
		},
	};

	record->live = 0;
	if (poke(one->pid, record, one->record, sizeof(*record)) < 0)
		return fail(EKEYREVOKED);
	return send_events(fd, &event, 1, NULL, 0, 0);
}

/* The record of a grant that may be used so. */
static int may(const struct held *one, struct lent *record, uint32_t right, uint64_t offset,
	       uint64_t length)
{
	if (peek(one->pid, record, one->record, sizeof(*record)) < 0 || !record->live)
		return fail(EKEYREVOKED);
	if (right && !(record->rights & right))
		return fail(EACCES);
	if (offset > record->length || length > record->length - offset)
		return fail(ERANGE);
	return 0;
}

static int used(int fd, const struct held *one, struct lent *record)
{
	if (!record->uses)
		return 0;
	if (!--record->uses)
		return returned(fd, one, record);
	return poke(one->pid, record, one->record, sizeof(*record));
}

static int notify(int fd, const struct rdmachan_access_args *access)
{
	struct rdmachan_send_args send = {
		.size = sizeof(send),
		.iov_ptr = access->iov_ptr,
		.iov_count = access->iov_count,
		.msg_flags = access->msg_flags,
	};

	return fake_send(fd, &send);
}

static int fake_access(int fd, unsigned long request, const struct rdmachan_access_args *access)
{
	const struct held *one = held_find(fd, access->grant);
	void *memory = (void *)(uintptr_t)access->addr;
	struct lent record;
	int ret;

	if (!one || may(one, &record, request == RDMACHAN_READ ? RDMACHAN_RIGHT_READ :
			RDMACHAN_RIGHT_WRITE, access->offset, access->length) < 0)
		return -1;
	if (request == RDMACHAN_READ)
		ret = peek(one->pid, memory, record.addr + access->offset, access->length);
	else
		ret = poke(one->pid, memory, record.addr + access->offset, access->length);
	if (ret < 0)
		return fail(EFAULT);
	if (used(fd, one, &record) < 0)
		return -1;
	return access->flags & RDMACHAN_WRITE_F_NOTIFY ? notify(fd, access) : 0;
}

static int fake_atomic(int fd, struct rdmachan_atomic_args *atomic)
{
	const struct held *one = held_find(fd, atomic->grant);
	struct lent record;
	uint64_t value;

	if (!one || may(one, &record, RDMACHAN_RIGHT_ATOMIC, atomic->offset, 8) < 0)
		return -1;
	if ((record.addr + atomic->offset) % 8)
		return fail(EINVAL);
	if (peek(one->pid, &value, record.addr + atomic->offset, 8) < 0)
		return fail(EFAULT);
	atomic->out_value = value;
	if (atomic->op == RDMACHAN_ATOMIC_FETCH_ADD)
		value += atomic->operand;
	else if (value == atomic->compare)
		value = atomic->operand;
	if (poke(one->pid, &value, record.addr + atomic->offset, 8) < 0)
		return fail(EFAULT);
	return used(fd, one, &record);
}

static int fake_release(int fd, const struct rdmachan_release_args *release)
{
	const struct held *one = held_find(fd, release->grant);
	struct lent record;

	if (!one || may(one, &record, 0, 0, 0) < 0)
		return -1;
	return returned(fd, one, &record);
}

static int fake_revoke(const struct rdmachan_revoke_args *revoke)
{
	if (!revoke->grant || revoke->grant > lent_count)
		return fail(ENOENT);
	lent[revoke->grant - 1].live = 0;
	return 0;
}

int fake_grant_ioctl(int fd, unsigned long request, void *argument)
{
	int locked = lock();
	int ret = -1;

	if (request == RDMACHAN_GRANT)
		ret = fake_grant(fd, argument);
	else if (request == RDMACHAN_READ || request == RDMACHAN_WRITE)
		ret = fake_access(fd, request, argument);
	else if (request == RDMACHAN_ATOMIC)
		ret = fake_atomic(fd, argument);
	else if (request == RDMACHAN_RELEASE)
		ret = fake_release(fd, argument);
	else if (request == RDMACHAN_REVOKE)
		ret = fake_revoke(argument);
	else
		errno = ENOTTY;
	unlock(locked);
	return ret;
}
