// SPDX-License-Identifier: GPL-2.0
/*
 * session.c - what is sent next, and what becomes of what was received
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define HELLO 0x7377726d68656c6cu
#define RECEIPT 0x7377726d72636570u

/* struct control - a hello, or a receipt */
struct control {
	uint64_t magic;
	uint64_t pair;
	uint64_t number;
	uint64_t sum;
};

/* How many of a hundred messages are at most so long. */
static const struct {
	uint32_t percent, most;
} lengths[] = {
	{ 8, 0 }, { 30, 64 }, { 50, 2048 }, { 66, 8192 }, { 82, 20000 }, { 92, 70000 },
	{ 96, 300000 }, { 99, 1 << 20 }, { 100, UINT32_MAX },
};

/* All sizes; one in four beside a power of two. */
static uint32_t length_of(const struct setup *setup, uint64_t seed)
{
	uint32_t dice = seed % 100, most = 0, len;
	uint64_t more = mixed(seed, 1);
	size_t i;

	for (i = 0; dice >= lengths[i].percent; i++)
		;
	most = lengths[i].most < setup->max ? lengths[i].most : setup->max;
	len = most ? more % ((uint64_t)most + 1) : 0;
	if (more >> 62 == 0 && len > 8)
		len = (1U << (31 - __builtin_clz(len))) - 1 + (more >> 32) % 3;
	if (len > setup->max)
		len = setup->max;
	return len < setup->min ? setup->min : len;
}

static uint64_t seed_of(const struct session *session, uint32_t seq)
{
	const struct setup *setup = session->setup;

	return mixed(mixed(setup->seed, session->number * 2 + setup->client), seq);
}

void session_begin(struct session *session, const struct setup *setup, int ctx, int chan,
		   uint32_t number)
{
	memset(session, 0, sizeof(*session));
	session->setup = setup;
	session->ctx = ctx;
	session->chan = chan;
	session->number = number;
	session->out = setup->client ? 0 : 1;
	session->out_last = (setup->client ? setup->up : setup->down) + 1;
	session->in_all = setup->client ? setup->down : setup->up;
	session->due_ns = clock_ns();
	pthread_mutex_init(&session->lock, NULL);
	pthread_cond_init(&session->moved, NULL);
}

/* Whether the next message has to wait for what the peer sends. */
static bool must_wait(const struct session *session)
{
	const struct setup *setup = session->setup;

	if (!session->number)
		return true;
	if (session->out == session->out_last)
		return session->in_data < session->in_all;
	if (!session->out || !setup->window)
		return false;
	if (setup->client)
		return session->out > session->in_data + setup->window;
	return session->out > session->in_data;
}

static void make_control(struct session *session, struct message *message)
{
	struct control control = {
		.magic = session->out ? RECEIPT : HELLO, .pair = session->setup->pair,
		.number = session->out ? session->in_data : session->number,
		.sum = session->out ? session->in_sum : 0,
	};

	message->len = sizeof(control);
	message->data = malloc(sizeof(control));
	memcpy(message->data, &control, sizeof(control));
}

/* Nanoseconds until the next message may go. */
int64_t session_pause(const struct session *session)
{
	int64_t left = session->due_ns - clock_ns();

	return left > 0 ? left : 0;
}

/*
 * The bytes are the caller's to free. They are written down as messages that may have been sent
 * from now.
 */
enum next session_next(struct session *session, struct message *message)
{
	uint64_t seed, sum;

	if (session->failed || session->quit || session->said_all ||
	    (session->ended && !session->confirmed))
		return NEXT_END;
	if (must_wait(session))
		return NEXT_WAIT;
	message->seq = session->out;
	if (!session->out || session->out == session->out_last) {
		make_control(session, message);
	} else {
		seed = seed_of(session, session->out);
		message->len = length_of(session->setup, seed);
		message->data = malloc(message->len + 1);
		fill(message->data, message->len, seed);
	}
	sum = sum_of(message->data, message->len);
	note("i %u %u %016llx", message->seq, message->len, (unsigned long long)sum);
	if (session->out == session->out_last)
		session->said_all = true;
	else if (session->out)
		session->out_sum += sum;
	session->out++;
	session->due_ns = clock_ns() + session->setup->pause_us * 1000LL;
	return NEXT_MESSAGE;
}

void session_sent(struct session *session, const struct message *message)
{
	(void)session;
	note("s %u", message->seq);
}

/* Those submitted before and after it may have been sent. */
void session_unsent(struct session *session, const struct message *message, int error)
{
	note("f %u", message->seq);
	session_failed(session, "send-failed", error);
}

/* Something that the peer's program would never send. */
static void odd(struct session *session, const char *what)
{
	note("odd %s", what);
	session->failed = true;
}

static void received_hello(struct session *session, const struct control *control, size_t len)
{
	if (len != sizeof(*control) || control->magic != HELLO ||
	    control->pair != session->setup->pair || !control->number) {
		odd(session, "hello");
		return;
	}
	session->number = control->number;
	note("hello %u", session->number);
}

static void received_receipt(struct session *session, const struct control *control, size_t len)
{
	if (len != sizeof(*control) || control->magic != RECEIPT ||
	    control->number != session->out_last - 1 || control->sum != session->out_sum) {
		odd(session, "receipt");
		return;
	}
	session->confirmed = true;
	note("receipt %u", session->out_last - 1);
}

/* @flags: those of the message, -1 when the way has none */
void session_received(struct session *session, const void *data, size_t len, int flags)
{
	uint64_t sum = sum_of(data, len);
	struct control control = { 0 };

	note("r %d %zu %016llx", flags, len, (unsigned long long)sum);
	memcpy(&control, data, len < sizeof(control) ? len : sizeof(control));
	if (!session->in++ && !session->setup->client) {
		received_hello(session, &control, len);
	} else if (session->in_data < session->in_all) {
		session->in_data++;
		session->in_sum += sum;
	} else {
		received_receipt(session, &control, len);
	}
}

void session_ended(struct session *session)
{
	note("eof");
	session->ended = true;
}

/* @error: the errno; the channel knows why */
void session_failed(struct session *session, const char *what, int error)
{
	note_query(what, error, session->chan);
	session->failed = true;
}

/* Whether it is time to end early; then it is written down. */
bool session_quits(struct session *session)
{
	const struct setup *setup = session->setup;
	static const char *const names[] = { "none", "shut", "exit", "close", "revoke" };

	if (!setup->quit || session->quit || session->number != setup->quit_session ||
	    session->out + session->in < setup->quit_after)
		return false;
	session->quit = true;
	note("quit %s", names[setup->quit]);
	if (setup->quit == QUIT_EXIT)
		exit(0);
	return true;
}

const char *session_end(struct session *session)
{
	if (session->quit)
		return "quit";
	if (session->failed || !session->confirmed || !session->said_all)
		return "failed";
	return "ok";
}
