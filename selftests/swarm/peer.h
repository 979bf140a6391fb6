/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peer.h - a program of the swarm: one end of a pair
 *
 * A pair is a client on one host and a server on another, with a service of its own. They have
 * sessions, one after the other, each on a channel of its own. In a session each end sends its
 * stream of messages, whose lengths and bytes follow from the seed, then a receipt for what it has
 * received, and then no more. The client's stream begins with a hello that tells the session.
 *
 * An end writes down what it was told, in the order in which it was: its journal, which judge.py
 * reads. A line is written before a message is sent and after it was received, so that a program
 * that is killed has told all.
 */
#ifndef _SWARM_PEER_H
#define _SWARM_PEER_H

#include <librdmachan.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes of a hello and of a receipt. */
#define CONTROL 32

/* enum quit - how a program ends a session before its time */
enum quit { QUIT_NONE, QUIT_SHUT, QUIT_EXIT, QUIT_CLOSE, QUIT_REVOKE };

/**
 * struct setup - what the plan says of this program
 * @client: it connects; else it listens
 * @kind: its way of sending and receiving
 * @host: where it runs
 * @peer: where its server runs
 * @pair: number of the pair
 * @uid: its user
 * @service: service of the pair
 * @up: messages that the client sends in a session, besides hello and receipt
 * @down: messages that the server sends
 * @window: messages that the client is ahead of the server, which then answers each; 0: both send
 *	as they like
 * @min: shortest message
 * @max: longest message
 * @pause_us: the pause before each message
 * @depth: sends that may be under way, where the way knows that
 * @sessions: how many the client has
 * @start_ms: when the client begins
 * @gap_ms: the pause between two
 * @connect_ms: its patience in connecting, 0: the module's
 * @quit_session: the session that this program ends early, 0: none
 * @quit_after: after so many messages of both directions
 * @quit: how
 * @seed: where lengths and bytes come from
 */
struct setup {
	bool client;
	const char *kind, *host, *peer;
	uint32_t pair, uid, service;
	uint32_t up, down, window, min, max, pause_us, depth;
	uint32_t sessions, start_ms, gap_ms, connect_ms;
	uint32_t quit_session, quit_after;
	enum quit quit;
	uint64_t seed;
};

/**
 * struct session - one channel, from its connect to its close
 * @number: of the client; 0 as long as the server does not know it
 * @out: number of the next message that is sent
 * @out_last: that of the receipt
 * @in: messages that were received, the hello included
 * @in_data: those without hello and receipt
 * @in_all: how many of these there are to be
 * @out_sum: sum of the sums of what was sent, but for the receipt
 * @in_sum: the same of what was received
 * @due_ns: when the next message may go
 * @said_all: the receipt was sent
 * @confirmed: the peer's receipt came, and is right
 * @ended: the peer sends no more
 * @failed: a call has failed, or something came that does not belong there
 * @quit: it is ended early, as the plan says
 */
struct session {
	const struct setup *setup;
	int ctx, chan;
	uint32_t number;
	uint32_t out, out_last, in, in_data, in_all;
	uint64_t out_sum, in_sum;
	int64_t due_ns;
	bool said_all, confirmed, ended, failed, quit;
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* One message on its way out. */
struct message {
	uint32_t seq;
	uint32_t len;
	char *data;
};

/* enum next - what session_next() found */
enum next { NEXT_MESSAGE, NEXT_WAIT, NEXT_END };

/* journal.c */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note_error(const char *what, int error, const struct rdmachan_error *record);
void note_query(const char *what, int error, int chan);
int64_t clock_ns(void);
void sleep_ns(int64_t ns);
uint64_t sum_of(const void *data, size_t len);
uint64_t mixed(uint64_t a, uint64_t b);
void fill(void *data, size_t len, uint64_t seed);

/* session.c; the caller has the lock where there are threads */
void session_begin(struct session *session, const struct setup *setup, int ctx, int chan,
		   uint32_t number);
enum next session_next(struct session *session, struct message *message);
int64_t session_pause(const struct session *session);
void session_sent(struct session *session, const struct message *message);
void session_unsent(struct session *session, const struct message *message, int error);
void session_received(struct session *session, const void *data, size_t len, int flags);
void session_ended(struct session *session);
void session_failed(struct session *session, const char *what, int error);
bool session_quits(struct session *session);
const char *session_end(struct session *session);

/* by_*.c: carry a session on until both directions have ended */
void by_call(struct session *session);
void by_queue(struct session *session);
void by_uring(struct session *session);
void by_grant(struct session *session);

#endif /* _SWARM_PEER_H */
