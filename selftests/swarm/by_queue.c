// SPDX-License-Identifier: GPL-2.0
/*
 * by_queue.c - a session by a queue of its own: from and into plain memory, into a pool of
 * buffers, or from and into a region
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define ENTRIES 64
#define BUFFERS 8
#define RECVS 2
#define SENDS 4

enum { TAG_SEND = 0, TAG_RECV = 100 };

enum way { WAY_PLAIN, WAY_POOL, WAY_REGION };

/**
 * struct queued - a session's queue, and its operations under way
 * @out: messages under way, by place
 * @sent: places that are in use
 * @next_send: where the next message goes: they complete in the order in which they were submitted
 * @memory: buffers to receive into, then, with a region, those to send from
 * @room: bytes of one
 * @recvs: RECVs under way
 * @next_recv: the place whose RECV completes next
 * @shut: the direction to the peer has ended
 */
struct queued {
	struct session *session;
	enum way way;
	struct rdmachan_queue *queue;
	struct rdmachan_pool *pool;
	struct message out[SENDS];
	unsigned int sent, next_send;
	char *memory;
	size_t room;
	uint32_t region;
	unsigned int recvs, next_recv;
	bool shut;
};

static char *buffer(const struct queued *q, unsigned int place)
{
	return q->memory + place * q->room;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	note("odd %s errno %d", what, errno);
	exit(4);
}

static struct rdmachan_sqe *entry(struct queued *q, uint64_t tag)
{
	struct rdmachan_sqe *sqe = rdmachan_queue_get_sqe(q->queue);

	must(sqe, "no entry");
	sqe->user_data = tag;
	return sqe;
}

static void want_recv(struct queued *q, unsigned int place)
{
	struct rdmachan_sqe *sqe = entry(q, TAG_RECV + place);
	const int chan = q->session->chan;

	if (q->way == WAY_POOL)
		rdmachan_queue_prep_recv_pool(sqe, chan, q->pool);
	else if (q->way == WAY_REGION)
		rdmachan_queue_prep_recv_region(sqe, chan, q->region, place * q->room, q->room);
	else
		rdmachan_queue_prep_recv(sqe, chan, buffer(q, place), q->room);
	sqe->user_data = TAG_RECV + place;
	q->recvs++;
}

static void want_send(struct queued *q, const struct message *message)
{
	const unsigned int place = q->next_send;
	struct rdmachan_sqe *sqe = entry(q, TAG_SEND + place);
	const uint32_t flags = message->seq & RDMACHAN_MSG_FLAGS_MASK;
	const size_t at = (BUFFERS + place) * q->room;

	q->out[place] = *message;
	if (q->way == WAY_REGION) {
		memcpy(q->memory + at, message->data, message->len);
		rdmachan_queue_prep_send_region(sqe, q->session->chan, q->region, at, message->len,
						flags);
	} else {
		rdmachan_queue_prep_send(sqe, q->session->chan, message->data, message->len, flags);
	}
	sqe->user_data = TAG_SEND + place;
	q->next_send = (place + 1) % SENDS;
	q->sent++;
}

/* Returns how many milliseconds to wait for completions at most, 0: without limit. */
static uint32_t send_what_may(struct queued *q)
{
	struct session *session = q->session;
	const unsigned int depth = session->setup->depth < SENDS ? session->setup->depth : SENDS;
	struct message message;
	enum next next;

	while (!q->shut && q->sent < depth) {
		if (session_pause(session))
			return session_pause(session) / 1000000 + 1;
		next = session_next(session, &message);
		if (next == NEXT_WAIT)
			break;
		if (next == NEXT_MESSAGE) {
			want_send(q, &message);
			continue;
		}
		if (q->sent)
			break;
		rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND, NULL);
		q->shut = true;
	}
	return 0;
}

static void send_done(struct queued *q, const struct rdmachan_cqe *cqe)
{
	struct message *message = &q->out[cqe->user_data - TAG_SEND];

	q->sent--;
	if (cqe->res == message->len)
		session_sent(q->session, message);
	else if (cqe->res >= 0)
		note("odd length");
	else
		session_unsent(q->session, message, -cqe->res);
	free(message->data);
}

static void give_back(struct queued *q, unsigned int place)
{
	must(!rdmachan_pool_add(q->pool, buffer(q, place), q->room, place), "a full pool");
}

/* The next RECV of its place, unless there is to be none. */
static void recv_again(struct queued *q, const struct rdmachan_cqe *cqe, unsigned int place)
{
	if (q->way == WAY_POOL && (cqe->flags & RDMACHAN_CQE_F_MORE))
		q->recvs++;
	else
		want_recv(q, place);
}

static void recv_done(struct queued *q, const struct rdmachan_cqe *cqe)
{
	unsigned int place = cqe->user_data - TAG_RECV, at = place;
	struct session *session = q->session;

	q->recvs--;
	if (q->way == WAY_POOL)
		at = cqe->flags & RDMACHAN_CQE_F_BUFFER ? cqe->buffer : 0;
	if (cqe->flags & RDMACHAN_CQE_F_EOF) {
		if (!session->ended)
			session_ended(session);
	} else if (cqe->res >= 0) {
		session_received(session, buffer(q, at), cqe->res, cqe->msg_flags);
		recv_again(q, cqe, place);
	} else if (cqe->res == -ENOBUFS && q->pool) {
		/* More messages came at once than the pool has buffers; these are back by now. */
		want_recv(q, place);
	} else if (!session->ended && !session->failed) {
		session_failed(session, "recv-failed", -cqe->res);
	}
	if (cqe->flags & RDMACHAN_CQE_F_BUFFER)
		give_back(q, cqe->buffer);
}

static void look(struct queued *q, uint32_t timeout_ms)
{
	struct rdmachan_cqe *cqe, copy;

	if (rdmachan_queue_wait_cqe(q->queue, &cqe, timeout_ms, NULL)) {
		must(errno == ETIMEDOUT || errno == EINTR, "waiting");
		return;
	}
	copy = *cqe;
	rdmachan_queue_cqe_seen(q->queue);
	if (copy.user_data >= TAG_RECV)
		recv_done(q, &copy);
	else
		send_done(q, &copy);
}

static bool begin(struct queued *q)
{
	struct session *session = q->session;
	const char *kind = session->setup->kind;
	struct rdmachan_error record;
	unsigned int i;

	q->way = !strcmp(kind, "pool") ? WAY_POOL :
		 !strcmp(kind, "region") ? WAY_REGION : WAY_PLAIN;
	q->room = (session->setup->max + CONTROL + 63) & ~63UL;
	q->memory = aligned_alloc(4096, ((BUFFERS + SENDS) * q->room + 4095) & ~4095UL);
	must(q->memory, "memory");
	q->queue = rdmachan_queue_open(session->ctx, ENTRIES, ENTRIES, &record);
	if (q->queue && q->way == WAY_POOL)
		q->pool = rdmachan_pool_open(q->queue, BUFFERS, &record);
	if (!q->queue || (q->way == WAY_POOL && !q->pool) ||
	    (q->way == WAY_REGION &&
	     rdmachan_region_register(session->ctx, q->memory, (BUFFERS + SENDS) * q->room, 0,
				      &q->region, &record))) {
		note_error("make-failed", errno, &record);
		session->failed = true;
		return false;
	}
	for (i = 0; q->pool && i < BUFFERS; i++)
		give_back(q, i);
	for (i = 0; i < (q->way == WAY_POOL ? 1 : RECVS); i++)
		want_recv(q, i);
	return true;
}

/*
 * Close the channel with all under way, or end both directions and take what comes: so do sessions
 * that have failed.
 */
static void quit_here(struct queued *q)
{
	struct session *session = q->session;

	if (session->quit && session->setup->quit == QUIT_CLOSE) {
		close(session->chan);
		session->chan = -1;
		return;
	}
	rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV, NULL);
	q->shut = true;
}

static void end(struct queued *q)
{
	unsigned int i;

	rdmachan_queue_close(q->queue);
	rdmachan_pool_close(q->pool);
	if (q->way == WAY_REGION && rdmachan_region_unregister(q->session->ctx, q->region, NULL) &&
	    errno != EBUSY && errno != ENOENT)
		note("odd unregister errno %d", errno);
	for (i = 0; i < q->sent; i++)
		free(q->out[(q->next_send + SENDS - 1 - i) % SENDS].data);
	free(q->memory);
}

void by_queue(struct session *session)
{
	struct queued q = { .session = session };
	bool told = false;
	uint32_t wait;

	if (!begin(&q)) {
		end(&q);
		return;
	}
	while (session->chan >= 0 && (!q.shut || q.sent || q.recvs)) {
		wait = send_what_may(&q);
		if (!q.shut || q.sent || q.recvs)
			look(&q, wait);
		if (!told && session_quits(session)) {
			quit_here(&q);
			told = true;
		}
	}
	end(&q);
}
