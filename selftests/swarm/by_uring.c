// SPDX-License-Identifier: GPL-2.0
/*
 * by_uring.c - a session by io_uring: one write and one read under way
 *
 * A write carries no flags of a message, and a read cannot tell an empty message from the end.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "peer.h"

enum { TAG_SEND = 1, TAG_RECV = 2 };

/**
 * struct ringed - a session's ring
 * @out: the message under way, if @sending
 * @shut: the direction to the peer has ended
 */
struct ringed {
	struct session *session;
	struct io_uring ring;
	struct message out;
	char *data;
	size_t room;
	bool sending, receiving, shut;
};

static void want_recv(struct ringed *r)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->ring);

	io_uring_prep_read(sqe, r->session->chan, r->data, r->room, 0);
	io_uring_sqe_set_data64(sqe, TAG_RECV);
	r->receiving = true;
}

static void want_send(struct ringed *r)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->ring);

	io_uring_prep_write(sqe, r->session->chan, r->out.data, r->out.len, 0);
	io_uring_sqe_set_data64(sqe, TAG_SEND);
	r->sending = true;
}

/* Returns how many nanoseconds to wait for completions at most, 0: without limit. */
static int64_t send_what_may(struct ringed *r)
{
	struct session *session = r->session;
	int64_t pause;

	if (r->shut || r->sending)
		return 0;
	pause = session_pause(session);
	if (pause)
		return pause;
	switch (session_next(session, &r->out)) {
	case NEXT_MESSAGE:
		want_send(r);
		break;
	case NEXT_END:
		rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND, NULL);
		r->shut = true;
		break;
	case NEXT_WAIT:
		break;
	}
	return 0;
}

static void send_done(struct ringed *r, int res)
{
	r->sending = false;
	if (res == (int)r->out.len)
		session_sent(r->session, &r->out);
	else if (res >= 0)
		note("odd length");
	else
		session_unsent(r->session, &r->out, -res);
	free(r->out.data);
}

static void recv_done(struct ringed *r, int res)
{
	r->receiving = false;
	if (res > 0) {
		session_received(r->session, r->data, res, -1);
		want_recv(r);
	} else if (!res) {
		session_ended(r->session);
	} else {
		session_failed(r->session, "recv-failed", -res);
	}
}

static void look(struct ringed *r, int64_t wait_ns)
{
	struct __kernel_timespec limit = { wait_ns / 1000000000, wait_ns % 1000000000 };
	struct io_uring_cqe *cqe;
	uint64_t tag;
	int ret, res;

	ret = io_uring_submit_and_wait_timeout(&r->ring, &cqe, 1, wait_ns ? &limit : NULL, NULL);
	if (ret < 0 && ret != -ETIME && ret != -EINTR) {
		note("odd waiting errno %d", -ret);
		exit(4);
	}
	while (!io_uring_peek_cqe(&r->ring, &cqe)) {
		tag = cqe->user_data;
		res = cqe->res;
		io_uring_cqe_seen(&r->ring, cqe);
		if (tag == TAG_SEND)
			send_done(r, res);
		else if (tag == TAG_RECV)
			recv_done(r, res);
	}
}

void by_uring(struct session *session)
{
	struct ringed r = { .session = session, .room = session->setup->max + CONTROL };
	int64_t wait;
	int ret;

	ret = io_uring_queue_init(8, &r.ring, 0);
	if (ret) {
		note("make-failed errno=%d", -ret);
		session->failed = true;
		return;
	}
	r.data = malloc(r.room);
	want_recv(&r);
	while (!r.shut || r.sending || r.receiving) {
		wait = send_what_may(&r);
		if (!r.shut || r.sending || r.receiving)
			look(&r, wait);
		if (session_quits(session)) {
			/* The ring goes with all that is under way, and then the channel. */
			if (session->setup->quit == QUIT_CLOSE)
				break;
			rdmachan_shutdown(session->chan,
					  RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV, NULL);
			r.shut = true;
		}
	}
	io_uring_queue_exit(&r.ring);
	free(r.data);
}
