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
#include <unistd.h>

#include "filemsg.h"
#include "lend.h"
#include "rights.h"
#include "source.h"
#include "text.h"
#include "waiting.h"

/* Beside &enum tool_exit: the borrower has gone before it was served. */
#define NOBODY	(-1)

__attribute__((format(printf, 2, 3)))
static void tell(const struct lending *lending, const char *format, ...)
{
	va_list args;

	if (lending->quiet)
		return;
	va_start(args, format);
	text_vprint(stdout, format, args);
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

static int memory_grow(struct lending *lending)
{
	void *memory = mremap(lending->memory, lending->range.length, 2 * lending->range.length,
			      MREMAP_MAYMOVE);

	if (memory == MAP_FAILED)
		return fail_errno("no memory for %s", lending->file);
	lending->memory = memory;
	lending->range.length *= 2;
	return TOOL_OK;
}

/* To its end, which may come later than its size tells; only what was there is lent. */
static int memory_fill(struct lending *lending, struct source *source)
{
	struct filemsg_result result;
	char text[FILEMSG_TEXT_MAX];
	size_t count;
	int status;

	do {
		if (source->done == lending->range.length) {
			status = memory_grow(lending);
			if (status)
				return status;
		}
		count = source_read(source, (char *)lending->memory + source->done,
				    lending->range.length - source->done, &result);
	} while (count);
	if (result.verdict != FILEMSG_READY)
		return fail("cannot lend %s: %s", lending->file,
			    filemsg_result_text(&result, text));
	if (!source->done)
		return fail("cannot lend %s: there is nothing in it", lending->file);
	lending->range.length = source->done;
	return TOOL_OK;
}

static int memory_of_file(struct lending *lending)
{
	struct source source;
	const char *why;
	int status, error;

	why = source_open(&source, lending->file, &error);
	errno = error;
	if (why && error)
		return fail_errno("cannot lend %s: %s", lending->file, why);
	if (why)
		return fail("cannot lend %s: %s", lending->file, why);
	/* One more, to find the end without more memory. */
	lending->range.length = source.stat.st_size + 1;
	status = memory_make(lending);
	if (!status)
		status = memory_fill(lending, &source);
	source_close(&source);
	return status;
}

/* A grant for an operation on 8 bytes has 8 bytes. */
static int memory_check(const struct lending *lending)
{
	if (!(lending->range.rights & RDMACHAN_RIGHT_ATOMIC) ||
	    lending->range.length >= sizeof(uint64_t))
		return TOOL_OK;
	return fail("atomic operations are on 8 bytes, and there are only %" PRIu64,
		    (uint64_t)lending->range.length);
}

static int save(const struct lending *lending)
{
	size_t done = 0;
	int fd, error = 0;
	ssize_t count;

	if (!lending->output)
		return TOOL_OK;
	fd = open(lending->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail_errno("cannot open %s", lending->output);
	while (done < lending->range.length) {
		count = write(fd, (char *)lending->memory + done, lending->range.length - done);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			error = errno;
			break;
		}
		done += count;
	}
	if (close(fd) < 0 && !error)
		error = errno;
	errno = error;
	return error ? fail_errno("cannot write %s", lending->output) : TOOL_OK;
}

static int memory_save(struct lending *lending)
{
	int status = save(lending);

	lending->unsaved |= status != TOOL_OK;
	return status;
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

/*
 * Is it among the events that the memory is back? If the holder's end of the channel is why, the
 * next message tells more.
 */
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
		back = event->cause == RDMACHAN_CAUSE_NONE ||
		       event->cause == RDMACHAN_CAUSE_SHUTDOWN;
	}
	return back;
}

/* The next message; false when nothing more is waited for. */
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
			if (lending->once || !lending->service)
				status = fail("stopped before %s has given the memory back",
					      lending->peer);
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

	if (rdmachan_grant_revoke(lending->chan, lending->range.out_grant, 0, 0, &err) < 0)
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

	if (rdmachan_grant_lend(lending->chan, lending->ctx, &lending->range, &err) < 0)
		return fail_error(&err, "cannot lend the memory to %s", lending->peer);
	tell(lending, "grant %u: %s lent to %s, rights %s, cookie %" PRIu64 "\n",
	     lending->range.out_grant, units_bytes(lending->range.length, bytes), lending->peer,
	     rights_text(lending->range.rights, rights), (uint64_t)lending->range.cookie);
	status = watch(lending);
	back = take_back(lending);
	/* A holder that waits for this end is told so, too. */
	if (back)
		rdmachan_shutdown(lending->chan, RDMACHAN_SHUTDOWN_ABORT, NULL);
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

	lending->chan = rdmachan_accept(listener, NULL, &peer, NULL, NULL);
	if (lending->chan < 0 && (errno == EINTR || errno == EAGAIN))
		return NOBODY;
	/* It goes on failing: the one that could not be accepted waits at the listener. */
	if (lending->chan < 0) {
		lending->deaf = true;
		return fail_errno("cannot accept");
	}
	rdmachan_addr_text(&peer, lending->peer, sizeof(lending->peer));
	status = lend(lending);
	close(lending->chan);
	return status;
}

/* Whom the failure of one holder is told of, and the next one served. */
static int listen_and_lend(struct lending *lending)
{
	struct rdmachan_options options = lending->options;
	struct rdmachan_error err;
	int listener, status = TOOL_OK;

	/* A peer that came may have gone again: then the next one is waited for. */
	options.flags |= RDMACHAN_FD_F_NONBLOCK;
	listener = rdmachan_listen(lending->ctx, lending->service, &options, &err);
	if (listener < 0) {
		fail_error(&err, "cannot listen for service %u", lending->service);
		return TOOL_FAILED;
	}
	waiting_begin();
	while (!lending->stopped) {
		if (waiting(listener, UINT32_MAX) == WAITED_STOPPED) {
			status = lending->once ? fail("stopped before anybody came") : TOOL_OK;
			break;
		}
		status = accept_and_lend(lending, listener);
		if (status == NOBODY)
			continue;
		if (lending->once || lending->deaf)
			break;
	}
	close(listener);
	if (lending->once || lending->deaf)
		return status;
	return lending->unsaved ? TOOL_FAILED : TOOL_OK;
}

int lend_run(struct lending *lending)
{
	struct rdmachan_error err;
	int status;

	status = lending->file ? memory_of_file(lending) : memory_make(lending);
	if (!status)
		status = memory_check(lending);
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
