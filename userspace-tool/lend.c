// SPDX-License-Identifier: MIT
/*
 * lend.c - the owner's side of memory that is lent
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lend.h"
#include "rights.h"
#include "waiting.h"

__attribute__((format(printf, 2, 3)))
static void tell(const struct lending *lending, const char *format, ...)
{
	va_list args;

	if (lending->quiet)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fflush(stdout);
}

/* Memory, to begin with of zeros. */
static int memory_make(struct lending *lending)
{
	lending->memory = mmap(NULL, lending->range.length, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (lending->memory == MAP_FAILED)
		return fail_errno("no memory");
	return TOOL_OK;
}

static int file_read(struct lending *lending, int fd)
{
	size_t done = 0;
	ssize_t count;

	while (done < lending->range.length) {
		count = read(fd, (char *)lending->memory + done, lending->range.length - done);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return fail_errno("cannot read %s", lending->file);
		if (!count)
			return fail("%s became shorter while it was read", lending->file);
		done += count;
	}
	return TOOL_OK;
}

static int memory_of_file(struct lending *lending)
{
	struct stat stat;
	int fd, status;

	fd = open(lending->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail_errno("cannot open %s", lending->file);
	if (fstat(fd, &stat) < 0) {
		status = fail_errno("cannot look at %s", lending->file);
	} else if (!S_ISREG(stat.st_mode) || !stat.st_size) {
		status = fail("%s is not a regular file with something in it", lending->file);
	} else {
		lending->range.length = stat.st_size;
		status = memory_make(lending);
		if (!status)
			status = file_read(lending, fd);
	}
	close(fd);
	return status;
}

static int memory_save(const struct lending *lending)
{
	size_t done = 0;
	ssize_t count;
	int fd;

	if (!lending->output)
		return TOOL_OK;
	fd = open(lending->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail_errno("cannot open %s", lending->output);
	while (done < lending->range.length) {
		count = write(fd, (char *)lending->memory + done, lending->range.length - done);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			break;
		done += count;
	}
	if (close(fd) < 0 || done < lending->range.length)
		return fail_errno("cannot write %s", lending->output);
	return TOOL_OK;
}

static void tell_returned(const struct lending *lending, const struct rdmachan_grant_event *event)
{
	switch (event->cause) {
	case RDMACHAN_CAUSE_NONE:
		tell(lending, "grant %u: %s has given it back, or used it up\n", event->grant,
		     lending->peer);
		break;
	case RDMACHAN_CAUSE_SHUTDOWN:
		tell(lending, "grant %u: it was revoked, or has expired\n", event->grant);
		break;
	default:
		tell(lending, "grant %u: it is back: %s\n", event->grant,
		     rdmachan_cause_text(event->cause));
	}
}

/* Is it among the events that the memory is back? */
static bool is_back(const struct lending *lending, const struct rdmachan_events *events)
{
	const struct rdmachan_grant_event *event;
	bool back = false;
	unsigned int i;

	for (i = 0; i < events->count; i++) {
		event = &events->events[i];
		if (event->what != RDMACHAN_GRANT_RETURNED ||
		    event->grant != lending->range.out_grant)
			continue;
		tell_returned(lending, event);
		back = true;
	}
	return back;
}

/* What there is to be received; false when nothing more is waited for. */
static bool take_event(struct lending *lending, int *status)
{
	uint64_t buffer[(LEND_MESSAGE_MAX + sizeof(struct rdmachan_grant_event) *
			 RDMACHAN_GRANTS_MAX) / sizeof(uint64_t)];
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct rdmachan_events events;
	struct rdmachan_error err;
	int ret;

	transfer.flags = RDMACHAN_IO_F_DONTWAIT;
	ret = rdmachan_recv_events(lending->chan, buffer, sizeof(buffer), &transfer, &events,
				   &err);
	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (ret < 0) {
		*status = fail_error(&err, "lost %s", lending->peer);
		return false;
	}
	if (!ret) {
		tell(lending, "%s has ended the channel\n", lending->peer);
		return false;
	}
	return !is_back(lending, &events);
}

static int watch(struct lending *lending)
{
	int status = TOOL_OK;

	for (;;) {
		switch (waiting(lending->chan, lending->revoke_ms)) {
		case WAITED_READY:
			if (!take_event(lending, &status))
				return status;
			break;
		case WAITED_STOPPED:
			lending->stopped = true;
			return status;
		case WAITED_TIMEOUT:
			return status;
		}
	}
}

/* However it ended: afterwards the memory is ours. */
static int take_back(struct lending *lending)
{
	struct rdmachan_error err;

	if (rdmachan_revoke(lending->chan, lending->range.out_grant, 0, 0, &err) < 0)
		return fail_error(&err, "cannot take the memory back from %s", lending->peer);
	tell(lending, "grant %u: the memory is ours again\n", lending->range.out_grant);
	return memory_save(lending);
}

/* One holder, from the grant until the memory is back. */
static int lend(struct lending *lending)
{
	char rights[RIGHTS_MAX], bytes[UNITS_MAX];
	struct rdmachan_error err;
	int status, back;

	if (rdmachan_grant(lending->chan, lending->ctx, &lending->range, &err) < 0)
		return fail_error(&err, "cannot lend the memory to %s", lending->peer);
	tell(lending, "grant %u: %s lent to %s, rights %s, cookie %" PRIu64 "\n",
	     lending->range.out_grant, units_bytes(lending->range.length, bytes), lending->peer,
	     rights_text(lending->range.rights, rights), (uint64_t)lending->range.cookie);
	status = watch(lending);
	back = take_back(lending);
	return status ? status : back;
}

static int connect_and_lend(struct lending *lending)
{
	int status;

	lending->chan = target_connect(lending->ctx, &lending->target, &lending->options);
	if (lending->chan < 0)
		return -lending->chan;
	memcpy(lending->peer, lending->target.host, sizeof(lending->peer));
	waiting_begin();
	status = lend(lending);
	close(lending->chan);
	return status;
}

static int accept_and_lend(struct lending *lending, int listener)
{
	struct rdmachan_addr peer;
	int status;

	lending->chan = rdmachan_accept(listener, NULL, &peer, NULL);
	if (lending->chan < 0 && errno == EINTR)
		return TOOL_OK;
	if (lending->chan < 0)
		return fail_errno("cannot accept");
	rdmachan_addr_text(&peer, lending->peer, sizeof(lending->peer));
	status = lend(lending);
	close(lending->chan);
	return status;
}

/* Whom the failure of one holder is told of, and the next one served. */
static int listen_and_lend(struct lending *lending)
{
	struct rdmachan_error err;
	int listener, status = TOOL_OK;

	listener = rdmachan_listen(lending->ctx, lending->service, &lending->options, &err);
	if (listener < 0) {
		fail_error(&err, "cannot listen for service %u", lending->service);
		return TOOL_FAILED;
	}
	waiting_begin();
	while (!lending->stopped) {
		if (waiting(listener, UINT32_MAX) == WAITED_STOPPED)
			break;
		status = accept_and_lend(lending, listener);
		if (lending->once)
			break;
	}
	close(listener);
	return lending->once ? status : TOOL_OK;
}

int lend_run(struct lending *lending)
{
	struct rdmachan_error err;
	int status;

	status = lending->file ? memory_of_file(lending) : memory_make(lending);
	if (status)
		return status;
	lending->ctx = context_open();
	if (lending->ctx < 0)
		return TOOL_FAILED;
	if (rdmachan_region_register(lending->ctx, lending->memory, lending->range.length, 0,
				     &lending->range.region, &err) < 0) {
		fail_error(&err, "cannot register the memory");
		return TOOL_FAILED;
	}
	lending->options.tuning.message_max = LEND_MESSAGE_MAX;
	return lending->service ? listen_and_lend(lending) : connect_and_lend(lending);
}
