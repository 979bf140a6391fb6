/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile_attack.h - the scene of an attack: a lying peer, its hold on the module, and an honest
 * channel on another link that must not notice
 */
#ifndef RDMACHAN_HOSTILE_ATTACK_H
#define RDMACHAN_HOSTILE_ATTACK_H

#include <pthread.h>

#include "common.h"
#include "hostile_verbs.h"

/* The lying peer's service, with small buffers so that limits are near. */
#define PREY (SERVICE + 100)
/* A service that nobody offers. */
#define NO_PREY (PREY + 1)
#define PREY_BUFFER RDMACHAN_BUFFER_MIN
#define PREY_MESSAGE (256U << 10)
#define PREY_BACKLOG 16
#define PREY_LINGER_MS 300
/* So many links of one peer the module makes and ends at a time; it refuses others. */
#define CROWD 64
#define VICTIM_MINE HOSTILE_MINE
#define WITNESS_MINE (HOSTILE_MINE + 1)

struct honest {
	int fds[2];
	pthread_t thread;
	bool stop;
	u64 messages;
	const char *failed;
	int error;
};

struct attack {
	int ctx;
	int listener;
	struct honest honest;
	struct rdmachan_info before;
	struct hostile h;
	bool passive;
	/* Bare frames shall be agreed upon. */
	bool bare;
	/* Keys shall be closed by frames. */
	bool keyed;
	/* It never says that the connection stands. */
	bool mute;
	/* Its dead time in ms, if not the usual one. */
	u32 dead_ms;
	/* Receive buffers that it claims to have, if not HOSTILE_DEPTH. */
	u32 depth;
	/* Bytes of a frame, if not those of HOSTILE_BUFFER. */
	u32 frame_size;
	/* Two channels on the lying link: records go to the one, the other is asked why. */
	int victim;
	int witness;
	u32 victim_no;
	u32 witness_no;
};

extern const struct opts prey_opts;

void attack_begin(struct attack *a);
bool attack_end(struct attack *a);
bool attack_connect(struct attack *a, bool passive);
void attack_disconnect(struct attack *a);
uint32_t links(struct attack *a);
bool links_down_to(struct attack *a, uint32_t count, int timeout_ms);
bool attack_link(struct attack *a);
int attack_request(struct attack *a, u32 timeout_ms);
int attack_invite(struct attack *a);
bool attack_answer(struct attack *a, u32 mine, u32 *number, int chan);
bool attack_open(struct attack *a, u32 mine, u32 *number, int *chan);
bool attack_heard(struct attack *a);
bool attack_acknowledged(struct attack *a);
int attack_verdict(struct attack *a, int chan);
int attack_verdict_within(struct attack *a, int chan, int ms);
bool attack_blamed(struct attack *a);
u64 attack_refusals(struct attack *a, u32 reason);
u64 attack_refusals_all(struct attack *a);
u64 attack_broken(struct attack *a);
bool set_param(const char *name, unsigned int value);
int dead_time(int ms);
void answer_at_once(bool once);
bool is_iwarp(void);

/* What attack_verdict() gives but for rules */
#define VERDICT_ALIVE (-1)
#define VERDICT_CAUSE(cause) (1000 + (cause))

/* hostile_lies.c: tables of lies. Return: how many had another end than told */
int lies_about_frames(struct attack *a, bool passive);
int lies_in_records(struct attack *a, bool passive);
int lies_in_hello(struct attack *a);
int lies_in_reply(struct attack *a);

/* hostile_bare.c: likewise, in bare frames, and what the module says in them */
int lies_in_bare(struct attack *a, bool passive);
int bare_heard(struct attack *a, u32 length, u32 messages);

long reclaimable_kib(void);

#endif /* RDMACHAN_HOSTILE_ATTACK_H */
