// SPDX-License-Identifier: MIT
/*
 * hold.c - the holder's side of memory that is lent
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hold.h"
#include "lend.h"
#include "rights.h"

bool hold_option(int option, const char *value, struct holding *holding)
{
	switch (option) {
	case 'O':
		return parse_size(value, INT64_MAX, &holding->offset);
	case 'l':
		return parse_service(value, &holding->listen);
	case 'W':
		return parse_seconds(value, UINT32_MAX, &holding->wait_ms);
	case 'v':
		return holding->verbose = true;
	}
	return parse_connect(option, value, &holding->options);
}

bool hold_target(struct holding *holding, const char *argument)
{
	if (holding->listen || !argument)
		return holding->listen && !argument;
	return parse_target(argument, TOOL_SERVICE_GRANTS, &holding->target);
}

/* A channel, or an exit code below 0 after having told why not. */
static int accept_one(struct holding *holding, int ctx)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_error err;
	int listener, chan;

	listener = rdmachan_listen(ctx, holding->listen, &holding->options, &err);
	if (listener < 0) {
		fail_error(&err, "cannot listen for service %u", holding->listen);
		return -TOOL_FAILED;
	}
	options.timeout_ms = holding->wait_ms;
	chan = rdmachan_accept(listener, &options, NULL, NULL, NULL);
	if (chan < 0)
		chan = -fail_errno("cannot accept");
	close(listener);
	return chan;
}

/* The first grant among the events. */
static bool take_grant(struct holding *holding, const struct rdmachan_events *events)
{
	unsigned int i;

	for (i = 0; i < events->count; i++) {
		if (events->events[i].what == RDMACHAN_GRANT_GIVEN) {
			holding->grant = events->events[i];
			return true;
		}
	}
	return false;
}

/* Messages without one are of no interest. */
static int await_grant(struct holding *holding)
{
	uint64_t buffer[(LEND_MESSAGE_MAX + sizeof(struct rdmachan_grant_event) *
			 RDMACHAN_GRANTS_MAX) / sizeof(uint64_t)];
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct rdmachan_events events;
	struct rdmachan_error err;
	int ret;

	transfer.timeout_ms = holding->wait_ms;
	do {
		ret = rdmachan_recv_events(holding->chan, buffer, sizeof(buffer), &transfer,
					   &events, &err);
		if (ret < 0 && errno == ETIMEDOUT && err.cause == RDMACHAN_CAUSE_NONE)
			return fail("the peer has lent nothing in time");
		if (ret < 0)
			return fail_error(&err, "lost the peer before it has lent anything");
		if (!ret) {
			fail("the peer ended before it has lent anything");
			return TOOL_CONNECTION;
		}
	} while (!take_grant(holding, &events));
	return TOOL_OK;
}

static void tell(const struct holding *holding)
{
	const struct rdmachan_grant_event *grant = &holding->grant;
	char rights[RIGHTS_MAX], bytes[UNITS_MAX];

	if (holding->verbose)
		fprintf(stderr, "rdmachan: grant %u: %s, rights %s, cookie %" PRIu64 "\n",
			grant->grant, units_bytes(grant->length, bytes),
			rights_text(grant->rights, rights), (uint64_t)grant->cookie);
}

int hold_begin(struct holding *holding)
{
	int ctx, status;

	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	holding->options.tuning.message_max = LEND_MESSAGE_MAX;
	holding->chan = holding->listen ? accept_one(holding, ctx) :
			target_connect(ctx, &holding->target, &holding->options);
	close(ctx);
	if (holding->chan < 0)
		return -holding->chan;
	status = await_grant(holding);
	if (status) {
		close(holding->chan);
		return status;
	}
	tell(holding);
	return TOOL_OK;
}

int hold_failed(const struct holding *holding, const struct rdmachan_error *err)
{
	char rights[RIGHTS_MAX];

	if (err->cause != RDMACHAN_CAUSE_NONE)
		return fail_error(err, "cannot use the memory");
	switch (err->error) {
	case EKEYREVOKED:
		return fail("the owner has the memory again");
	case EACCES:
		return fail("the owner does not allow that, but: %s",
			    rights_text(holding->grant.rights, rights));
	case ERANGE:
		return fail("that is not within the %" PRIu64 " bytes that are lent",
			    (uint64_t)holding->grant.length);
	}
	return fail_error(err, "cannot use the memory");
}

int hold_atomic_failed(const struct holding *holding, const struct rdmachan_error *err)
{
	if (err->cause == RDMACHAN_CAUSE_NONE && err->error == EINVAL)
		return fail("atomic operations are on 8 bytes that begin at a multiple of 8, and "
			    "those at offset %" PRIu64 " do not", holding->offset);
	return hold_failed(holding, err);
}

/* Until the owner has heard that the memory is back, and has saved it if that is what it does. */
static int await_owner(const struct holding *holding)
{
	struct rdmachan_error err;

	if (!rdmachan_finish(holding->chan, holding->wait_ms, &err))
		return TOOL_OK;
	if (err.error == ETIMEDOUT && err.cause == RDMACHAN_CAUSE_NONE)
		return fail("the owner has not taken the memory back in time");
	return fail_error(&err, "lost the owner before it has taken the memory back");
}

int hold_end(struct holding *holding, int status)
{
	bool ended = status == TOOL_OK || status == TOOL_VERIFY;
	int owner = TOOL_OK;

	if (!ended) {
		/* The owner learns that this end did not do what it was to do. */
		rdmachan_shutdown(holding->chan, RDMACHAN_SHUTDOWN_ABORT, NULL);
	} else if (rdmachan_grant_release(holding->chan, holding->grant.grant, NULL) < 0 &&
		   errno != EKEYREVOKED) {
		owner = fail_errno("cannot give the memory back");
	} else if (holding->writes) {
		owner = await_owner(holding);
	}
	close(holding->chan);
	return owner ? owner : status;
}
