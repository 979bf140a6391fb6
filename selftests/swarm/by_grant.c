// SPDX-License-Identifier: GPL-2.0
/*
 * by_grant.c - a session in which the server lends memory, and the client writes its messages there
 *
 * The memory is a counter and some slots. The client writes a message into a slot, by a WRITE with
 * a notice: 16 bytes that tell which. The server takes the message out of its memory when the
 * notice has come, and answers by a message of its own. Besides the client reads back what it has
 * written, and counts its messages in the counter, atomically. It releases the grant before its
 * receipt, and then the counter must be what the client has counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define COUNTER 64
#define PATTERN 0x6b

/* The message with a WRITE: shorter than a hello or a receipt. */
struct notice {
	uint64_t offset;
	uint64_t length;
};

/**
 * struct lent - memory that is lent in a session
 * @grant: its number, at the owner or at the holder
 * @known: the holder has it
 * @memory: of the owner
 * @size: bytes of it
 * @slot: bytes of a slot
 * @added: what the holder has added, for sure
 * @uncertain: how often it does not know
 * @back: the owner was told that it has the memory again
 * @taken: the owner has taken it back itself
 */
struct lent {
	struct session *session;
	uint32_t grant, region;
	bool known, registered, back, taken;
	char *memory;
	size_t size, slot;
	unsigned int slots;
	unsigned long added, uncertain;
};

static uint64_t offset_of(const struct lent *lent, uint32_t seq)
{
	return COUNTER + (seq % lent->slots) * lent->slot;
}

static void failed(struct lent *lent, const char *what, int error,
		   const struct rdmachan_error *record)
{
	note_error(what, error, record);
	lent->session->failed = true;
}

/* The holder */

static bool count_one(struct lent *lent)
{
	struct rdmachan_error record;

	if (!rdmachan_grant_fetch_add(lent->session->chan, lent->grant, 0, 1, NULL, &record)) {
		lent->added++;
		return true;
	}
	/* The adapter has lost the result, and the connection goes on. */
	if (errno == EREMOTEIO) {
		lent->uncertain++;
		if (!record.detail)
			return true;
	}
	pthread_mutex_lock(&lent->session->lock);
	failed(lent, "access-failed", errno, &record);
	pthread_mutex_unlock(&lent->session->lock);
	return false;
}

static bool read_back(struct lent *lent, const struct message *message, uint64_t offset)
{
	struct rdmachan_error record;
	char *data = malloc(message->len + 1);
	bool good;

	good = !rdmachan_grant_read(lent->session->chan, lent->grant, offset, data, message->len,
				    &record);
	pthread_mutex_lock(&lent->session->lock);
	if (!good)
		failed(lent, "access-failed", errno, &record);
	else if (memcmp(data, message->data, message->len))
		note("odd READ of %u", message->seq);
	pthread_mutex_unlock(&lent->session->lock);
	free(data);
	return good;
}

static bool write_one(struct lent *lent, const struct message *message)
{
	const struct notice notice = { offset_of(lent, message->seq), message->len };
	const uint32_t flags = message->seq & RDMACHAN_MSG_FLAGS_MASK;
	struct session *session = lent->session;
	struct rdmachan_error record;
	bool plain = message->seq % 2;
	int ret;

	if (plain) {
		ret = rdmachan_grant_write_notify(session->chan, lent->grant, notice.offset,
						  message->data, message->len, &notice,
						  sizeof(notice), flags, &record);
	} else {
		ret = rdmachan_grant_write(session->chan, lent->grant, notice.offset, message->data,
					   message->len, &record);
		if (!ret && !read_back(lent, message, notice.offset))
			return false;
		if (!ret)
			ret = rdmachan_send(session->chan, &notice, sizeof(notice), &record);
	}
	pthread_mutex_lock(&session->lock);
	if (!ret)
		session_sent(session, message);
	else
		failed(lent, "access-failed", errno, &record);
	pthread_mutex_unlock(&session->lock);
	return !ret && count_one(lent);
}

/* Both */

static bool send_plain(struct lent *lent, const struct message *message)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { message->data, message->len };
	struct session *session = lent->session;
	struct rdmachan_error record;
	int ret;

	transfer.msg_flags = message->seq & RDMACHAN_MSG_FLAGS_MASK;
	ret = rdmachan_sendv(session->chan, &iov, 1, &transfer, &record);
	pthread_mutex_lock(&session->lock);
	if (!ret)
		session_sent(session, message);
	else
		failed(lent, "send-failed", errno, &record);
	pthread_mutex_unlock(&session->lock);
	return !ret;
}

static enum next next_message(struct lent *lent, struct message *message)
{
	struct session *session = lent->session;
	enum next next = NEXT_WAIT;

	pthread_mutex_lock(&session->lock);
	while (next == NEXT_WAIT) {
		if (!session->setup->client || !session->out || lent->known || session->failed ||
		    session->ended)
			next = session_next(session, message);
		if (next == NEXT_WAIT)
			pthread_cond_wait(&session->moved, &session->lock);
	}
	pthread_mutex_unlock(&session->lock);
	return next;
}

static bool carry(struct lent *lent, const struct message *message)
{
	const struct session *session = lent->session;

	if (!session->setup->client || !message->seq)
		return send_plain(lent, message);
	if (message->seq < session->out_last)
		return write_one(lent, message);
	if (rdmachan_grant_release(session->chan, lent->grant, NULL) && errno != EKEYREVOKED)
		note("odd release errno %d", errno);
	return send_plain(lent, message);
}

static void *sender(void *arg)
{
	struct lent *lent = arg;
	struct message message;
	bool good = true;

	while (good) {
		sleep_ns(session_pause(lent->session));
		if (next_message(lent, &message) == NEXT_END)
			break;
		good = carry(lent, &message);
		free(message.data);
	}
	/* A program whose access fails leaves; its peer has no other way to know. */
	rdmachan_shutdown(lent->session->chan, RDMACHAN_SHUTDOWN_SEND, NULL);
	return NULL;
}

/* The owner */

static void lend(struct lent *lent)
{
	struct session *session = lent->session;
	struct rdmachan_grant_range range = {
		.rights = RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC,
		.length = lent->size,
	};
	struct rdmachan_error record;

	lent->registered = !rdmachan_region_register(session->ctx, lent->memory, lent->size, 0,
						     &lent->region, &record);
	range.region = lent->region;
	if (!lent->registered ||
	    rdmachan_grant_lend(session->chan, session->ctx, &range, &record)) {
		failed(lent, "grant-failed", errno, &record);
		rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV,
				  NULL);
		return;
	}
	lent->grant = range.out_grant;
	lent->known = true;
}

/* From when it is told so on, the memory is the owner's alone. */
static void take_back(struct lent *lent)
{
	struct session *session = lent->session;
	struct rdmachan_error record;

	pthread_mutex_unlock(&session->lock);
	if (rdmachan_grant_revoke(session->chan, lent->grant, 0, 0, &record)) {
		pthread_mutex_lock(&session->lock);
		failed(lent, "revoke-failed", errno, &record);
		return;
	}
	memset(lent->memory, PATTERN, lent->size);
	pthread_mutex_lock(&session->lock);
	lent->taken = true;
	note("revoked");
}

static void check_kept(const struct lent *lent)
{
	size_t at;

	for (at = 0; at < lent->size; at++) {
		if (lent->memory[at] == PATTERN)
			continue;
		note("odd byte at %zu of memory that was taken back", at);
		return;
	}
	note("kept");
}

static void took_notice(struct lent *lent, const struct notice *notice, uint32_t flags)
{
	if (lent->taken)
		return;
	if (notice->offset < COUNTER || notice->length > lent->slot ||
	    notice->offset + notice->length > lent->size) {
		note("odd notice");
		return;
	}
	session_received(lent->session, lent->memory + notice->offset, notice->length, flags);
}

static void took_event(struct lent *lent, const struct rdmachan_grant_event *event)
{
	if (event->what == RDMACHAN_GRANT_GIVEN) {
		lent->grant = event->grant;
		lent->known = true;
		return;
	}
	note("returned %u", event->cause);
	lent->back = true;
	if (!lent->taken)
		note("counter %llu", (unsigned long long)*(uint64_t *)lent->memory);
}

static void took(struct lent *lent, const struct rdmachan_events *events, uint32_t flags)
{
	struct session *session = lent->session;
	unsigned int i;

	for (i = 0; i < events->count; i++)
		took_event(lent, &events->events[i]);
	if (events->count)
		return;
	if (!session->setup->client && events->length == sizeof(struct notice))
		took_notice(lent, events->message, flags);
	else if (!lent->taken)
		session_received(session, events->message, events->length, flags);
	if (!session->setup->client && session->number && !lent->known && !session->failed)
		lend(lent);
	if (!lent->known || !session_quits(session))
		return;
	if (session->setup->quit == QUIT_REVOKE)
		take_back(lent);
	else
		rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV,
				  NULL);
}

static void receive_all(struct lent *lent, void *data, size_t room)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct session *session = lent->session;
	struct rdmachan_events events;
	struct rdmachan_error record;
	int ret;

	do {
		ret = rdmachan_recv_events(session->chan, data, room, &transfer, &events, &record);
		pthread_mutex_lock(&session->lock);
		if (ret > 0)
			took(lent, &events, transfer.msg_flags);
		else if (!ret)
			session_ended(session);
		else
			failed(lent, "recv-failed", errno, &record);
		pthread_cond_broadcast(&session->moved);
		pthread_mutex_unlock(&session->lock);
	} while (ret > 0);
}

static void end(struct lent *lent)
{
	const struct session *session = lent->session;

	if (session->setup->client) {
		note("adds %lu %lu", lent->added, lent->uncertain);
		return;
	}
	if (lent->taken)
		check_kept(lent);
	if (lent->registered && rdmachan_region_take_back(session->ctx, lent->region, NULL))
		note("odd unregister errno %d", errno);
}

void by_grant(struct session *session)
{
	const struct setup *setup = session->setup;
	struct lent lent = {
		.session = session, .slot = (setup->max + 63) & ~63UL, .slots = setup->window + 1,
	};
	size_t room = setup->max + CONTROL + 16 * sizeof(struct rdmachan_grant_event);
	char *data = malloc(room);
	pthread_t thread;

	lent.size = COUNTER + lent.slots * lent.slot;
	lent.memory = setup->client ? NULL : aligned_alloc(64, lent.size);
	if (lent.memory)
		memset(lent.memory, 0, lent.size);
	if (pthread_create(&thread, NULL, sender, &lent))
		abort();
	receive_all(&lent, data, room);
	pthread_join(thread, NULL);
	end(&lent);
	free(lent.memory);
	free(data);
}
