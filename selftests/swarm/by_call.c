// SPDX-License-Identifier: GPL-2.0
/*
 * by_call.c - a session by calls that wait: one thread sends, one receives
 */
#include <errno.h>
#include <stdlib.h>

#include "peer.h"

static void quit_here(struct session *session)
{
	rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND | RDMACHAN_SHUTDOWN_RECV, NULL);
	pthread_cond_broadcast(&session->moved);
}

static enum next next_message(struct session *session, struct message *message)
{
	enum next next;

	pthread_mutex_lock(&session->lock);
	while ((next = session_next(session, message)) == NEXT_WAIT)
		pthread_cond_wait(&session->moved, &session->lock);
	pthread_mutex_unlock(&session->lock);
	return next;
}

static bool send_one(struct session *session, const struct message *message)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { message->data, message->len };
	struct rdmachan_error record;
	int ret, error;

	transfer.msg_flags = message->seq & RDMACHAN_MSG_FLAGS_MASK;
	ret = rdmachan_sendv(session->chan, &iov, 1, &transfer, &record);
	error = errno;
	pthread_mutex_lock(&session->lock);
	if (!ret) {
		session_sent(session, message);
		if (session_quits(session))
			quit_here(session);
	} else {
		note_error("send-failed", error, &record);
		session->failed = true;
	}
	pthread_mutex_unlock(&session->lock);
	return !ret;
}

static void *sender(void *arg)
{
	struct session *session = arg;
	struct message message;
	bool good = true;

	while (good) {
		sleep_ns(session_pause(session));
		if (next_message(session, &message) == NEXT_END)
			break;
		good = send_one(session, &message);
		free(message.data);
	}
	if (good)
		rdmachan_shutdown(session->chan, RDMACHAN_SHUTDOWN_SEND, NULL);
	return NULL;
}

static void receive_all(struct session *session, char *data, size_t room)
{
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { data, room };
	struct rdmachan_error record;
	int ret, error;

	do {
		ret = rdmachan_recvv(session->chan, &iov, 1, &transfer, &record);
		error = errno;
		pthread_mutex_lock(&session->lock);
		if (ret > 0) {
			session_received(session, data, transfer.length, transfer.msg_flags);
			if (session_quits(session))
				quit_here(session);
		} else if (!ret) {
			session_ended(session);
		} else {
			note_error("recv-failed", error, &record);
			session->failed = true;
		}
		pthread_cond_broadcast(&session->moved);
		pthread_mutex_unlock(&session->lock);
	} while (ret > 0);
}

void by_call(struct session *session)
{
	size_t room = session->setup->max + CONTROL;
	char *data = malloc(room);
	pthread_t thread;

	if (pthread_create(&thread, NULL, sender, session))
		abort();
	receive_all(session, data, room);
	pthread_join(thread, NULL);
	free(data);
}
