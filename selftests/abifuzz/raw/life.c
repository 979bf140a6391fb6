// SPDX-License-Identifier: GPL-2.0
/*
 * life.c - a link of the raw peer, from the handshake to its end
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "link.h"

/* A heartbeat is due so often; the dead time that is named is 20 times as long. */
#define BEAT_MS 250
#define DEAD_MS 5000
/* Between two frames; it leaves time for cases, and where time is virtual it goes by. */
#define REST_NS 300000
/* So long it waits for the module to connect. */
#define INVITE_MS 500

/* Numbers of steps that a link lives for, each about a millisecond. */
static u32 some_steps(struct raw_link *l)
{
	static const u32 steps[] = { 20, 200, 1000, 1000, 3000 };

	return steps[raw_below(l, ARRAY_SIZE(steps))];
}

static u32 some_honesty(struct raw_link *l)
{
	static const u32 honesty[] = { 0, 0, 50000, 20000, 5000, 500 };

	return honesty[raw_below(l, ARRAY_SIZE(honesty))];
}

static u32 some_frame_size(struct raw_link *l)
{
	static const u32 sizes[] = { 1024, 2048, 4096, HOSTILE_BUFFER, HOSTILE_BUFFER };

	return sizes[raw_below(l, ARRAY_SIZE(sizes))];
}

static u32 some_features(struct raw_link *l)
{
	u32 features = RCH_FEATURES & ~RCH_FEATURE_KEY;

	if (raw_below(l, 2))
		features &= ~RCH_FEATURE_BARE;
	/* Its memory no frame can close: the module that tries loses the link. */
	if (raw_one_in(l, 32))
		features |= RCH_FEATURE_KEY;
	return features;
}

/* What the link begins with; the module's hello is not known yet if the link is an active one. */
static void choose_hello(struct raw_link *l)
{
	static const u32 depths[] = { 8, 9, 16, 64, 64, 64 };
	struct rch_hello *mine = &l->h.mine;
	bool lies = raw_one_in(l, 32);
	u32 honesty = l->honesty;

	hostile_hello(&l->h, l->services + (raw_below(l, 4) ? 3 : raw_below(l, 3)));
	/* Each number of it is looked at, and one lie is enough. */
	l->honesty = lies ? 8 : 0;
	mine->boot_id = next_random(&l->seed);
	mine->next_seq = raw_below(l, 2) ? next_random(&l->seed) : 0xfffffff0U;
	mine->epoch = next_random(&l->seed);
	mine->depth = raw_number(l, l->h.listener ? HOSTILE_DEPTH :
				 depths[raw_below(l, ARRAY_SIZE(depths))]);
	mine->frame_size = raw_number(l, some_frame_size(l));
	mine->dead_ms = raw_number(l, DEAD_MS);
	mine->features = some_features(l);
	mine->required = raw_number(l, 0);
	mine->version_max = raw_number(l, mine->version_max);
	mine->domain = raw_number(l, mine->domain);
	mine->peer_domain = raw_number(l, raw_below(l, 4) ? RCH_DOMAIN_ANY : 0);
	l->honesty = honesty;
	l->h.reads_in = 1 + raw_below(l, 4);
	l->h.reads_out = 1 + raw_below(l, 4);
}

static bool connect_active(struct raw_link *l)
{
	struct hostile *h = &l->h;

	choose_hello(l);
	raw_count(l, RAW_ASKED, 1);
	if (hostile_connect(h))
		return false;
	if (h->mine.depth < HOSTILE_DEPTH)
		rch_credit_init(&h->credit, h->theirs.next_seq, h->theirs.depth,
				h->mine.next_seq, h->mine.depth);
	l->frame_size = h->theirs.frame_size;
	l->bare = h->theirs.features & RCH_FEATURE_BARE;
	return true;
}

/* What both sides can, and no larger frames than the module can take. */
static void agree(struct raw_link *l)
{
	const struct rch_hello *theirs = &l->h.theirs;
	struct rch_hello *mine = &l->h.mine;

	mine->features &= theirs->features;
	mine->epoch = theirs->epoch;
	mine->frame_size = min(mine->frame_size, theirs->frame_size);
	mine->version_min = theirs->version_max;
	mine->version_max = theirs->version_max;
	mine->service = 0;
	mine->peer_domain = 0;
}

static bool answer(struct raw_link *l)
{
	u8 data[sizeof(struct rch_wire_hello)];

	choose_hello(l);
	agree(l);
	/* Behind it nothing is left of the frames that come. */
	if (l->h.mine.depth != HOSTILE_DEPTH)
		l->h.mine.depth = HOSTILE_DEPTH;
	rch_wire_hello_put(data, &l->h.mine);
	l->frame_size = l->h.mine.frame_size;
	l->bare = l->h.mine.features & RCH_FEATURE_BARE;
	return !hostile_accept(&l->h, data, sizeof(data));
}

static bool connect_passive(struct raw_link *l, int port)
{
	struct hostile *h = &l->h;

	h->port = port;
	if (hostile_listen(h) || hostile_await_request(h, INVITE_MS))
		return false;
	raw_count(l, RAW_ASKED, 1);
	if (raw_one_in(l, 8)) {
		rdma_reject(h->id, &l->seed, raw_below(l, 2) * 8);
		return false;
	}
	return answer(l);
}

/* Addresses in the memory are offsets, as those of grants are. siw has neither that nor atomics. */
static bool make_room(struct raw_link *l)
{
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	bool is_iwarp = l->h.id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;

	l->room = aligned_alloc(4096, RAW_ROOM);
	if (!l->room)
		return false;
	memset(l->room, 0x22, RAW_ROOM);
	if (is_iwarp) {
		l->room_base = (uintptr_t)l->room;
		l->room_mr = ibv_reg_mr(l->h.pd, l->room, RAW_ROOM, rights);
	} else {
		l->room_mr = ibv_reg_mr_iova(l->h.pd, l->room, RAW_ROOM, 0,
					     rights | IBV_ACCESS_REMOTE_ATOMIC);
	}
	return l->room_mr;
}

static bool begin(struct raw_link *l, bool passive, int port)
{
	/* Cases listen on the peer's host, and connect to it. */
	if (passive)
		hostile_begin(&l->h);
	else
		hostile_begin_here(&l->h);
	l->h.took = raw_took;
	l->honesty = some_honesty(l);
	if (passive ? !connect_passive(l, port) : !connect_active(l))
		return false;
	if (!make_room(l))
		return false;
	raw_count(l, passive ? RAW_TAKEN_IN : RAW_LINKS, 1);
	if (!passive)
		hostile_pure(&l->h, RCH_FRAME_F_HELLO);
	l->h.deaf = raw_one_in(l, 32);
	/* What is acknowledged never goes without what is promised. */
	l->h.stingy = l->h.deaf || raw_one_in(l, 32);
	l->h.ack = l->h.credit.rx_next;
	return true;
}

/* One bit, of the header more often than of the records. */
static void damage(struct raw_link *l)
{
	u32 size = raw_below(l, 2) ? sizeof(struct rch_wire_frame) : l->f.used;

	l->f.data[raw_below(l, size)] ^= 1 << raw_below(l, 8);
	raw_count(l, RAW_DAMAGED, 1);
}

static void say_frame(struct raw_link *l)
{
	u32 tries = 1 + raw_below(l, 12);

	if (!rch_credit_room(&l->h.credit, false) || l->h.busy == HOSTILE_SLOTS)
		return;
	frame_begin(&l->f);
	while (tries-- && !l->h.ended)
		raw_talk(l);
	/* A bare frame may have used up the credit. */
	if (l->f.used == sizeof(struct rch_wire_frame) || l->h.ended)
		return;
	frame_seal(&l->h, &l->f, 0);
	if (raw_lies(l))
		damage(l);
	frame_send(&l->h, &l->f);
}

static void account_one(struct raw_link *l, enum raw_figure figure, u32 now, u32 *before)
{
	raw_count(l, figure, now - *before);
	*before = now;
}

/* At once: the process may be killed. */
static void account(struct raw_link *l)
{
	const struct rch_credit *credit = &l->h.credit;
	const u32 first = l->h.theirs.next_seq;

	account_one(l, RAW_FRAMES, credit->tx_next - first, &l->frames);
	account_one(l, RAW_ACKED, credit->tx_acked - first, &l->acked);
	account_one(l, RAW_CAME, l->h.frames + l->h.bare, &l->came);
}

/* Say and hear things until the link ends, or it has lived for long enough. */
static void talk(struct raw_link *l)
{
	u32 steps = some_steps(l);
	int64_t beat = 0;

	while (steps-- && !l->h.ended) {
		hostile_pump(&l->h, 1);
		if (l->h.ended)
			break;
		if (now_ms() >= beat) {
			hostile_pure(&l->h, 0);
			beat = now_ms() + BEAT_MS;
		}
		say_frame(l);
		account(l);
		pause_ns(REST_NS);
	}
	if (l->h.ended)
		raw_count(l, RAW_ENDED, 1);
	account(l);
}

/* Return: whether the process is to go on. */
static bool go_away(struct raw_link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	switch (raw_below(l, 4)) {
	case 0:
		return false;
	case 1:
		/* The module learns of it by what it sends, or by our silence. */
		ibv_modify_qp(l->h.qp, &attr, IBV_QP_STATE);
		sleep_ms(raw_below(l, 2) * 50);
		return true;
	default:
		return true;
	}
}

static void end(struct raw_link *l)
{
	if (l->room_mr)
		ibv_dereg_mr(l->room_mr);
	hostile_end(&l->h);
	free(l->room);
}

/**
 * raw_life - live through a link
 * @l: with its seed, services and figures
 * @passive: the module makes it
 * @port: to be reached at
 *
 * Return: whether the process is to go on; else it ends as it is, and so does the link.
 */
bool raw_life(struct raw_link *l, bool passive, int port)
{
	bool goes_on = true;

	if (begin(l, passive, port)) {
		talk(l);
		goes_on = go_away(l);
	}
	if (goes_on)
		end(l);
	return goes_on;
}
