/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peer.h - the parts of peer_fuzz.c
 *
 * peer_fuzz.c reads the script and looks after each step; peer_say.c is the peer, peer_do.c the
 * programs, peer_host.c the host under the module.
 */
#ifndef _RCH_PEER_H
#define _RCH_PEER_H

#include "channel/chan.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "message/message.h"
#include "kernel_run.h"
#include "peer_fuzz.h"
#include "peer_host.h"
#include "rndv/place.h"
#include "rndv/rndv.h"

#define CHANS 4U
#define SLOTS 8U
#define IDS 16U
#define PEER_FRAME 4096U
#define PEER_DEPTH 32U
#define MESSAGE_ROOM 65536U

/** struct input - what is left of the input; zeros behind its end */
struct input {
	const u8 *data;
	size_t left;
};

/** next - a byte of the input */
static inline u32 next(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

/** enum sort - numbers that grow */
enum sort {
	SORT_GRANT,
	SORT_LOAN,
	SORT_ATOMIC,
	SORT_ASKED,
	SORT_RTS,
	SORT_CTS,
	SORT_STAND,
	SORT_PLACED,
	SORT_KEY,
	SORTS,
};

/** struct serial - the last number of a sort, and one to come back to */
struct serial {
	u32 now;
	u32 mark;
};

/**
 * struct ids - the last numbers that a program has heard
 * @id: numbers
 * @count: how many there were
 */
struct ids {
	u32 id[IDS];
	u32 count;
};

/**
 * struct slot - what a program has begun
 * @job: a READ, a WRITE or an atomic operation; or NULL
 * @place: a transfer, or NULL
 */
struct slot {
	struct rch_job *job;
	struct rch_place *place;
};

/**
 * struct end - a channel, and both that have an end of it
 * @chan: the module's, or NULL
 * @files: references of its file: the program's, and of what is under way
 * @open: the program has it open
 * @signal: the signal that ends the program
 * @reading: a thread waits for a message
 * @accepted: the program has it
 * @peer_id: the peer's number
 * @said: grants, and questions for atomic operations, in the frame that the peer is filling
 * @grants: grants that the module has taken
 * @asked: questions for atomic operations that it has
 * @releases: RELEASEs that it has sent
 * @answers: answers to atomic operations that it has
 * @sort: the peer's numbers
 * @credit: window that the peer has given
 * @given: grants that the program has given
 * @held: grants that it has been given
 * @slots: the operations it has begun
 */
struct end {
	struct rch_chan *chan;
	u32 files;
	bool open;
	int signal;
	bool reading;
	bool accepted;
	u32 peer_id;
	struct { u32 grants; u32 asked; } said;
	u32 grants;
	u32 asked;
	u32 releases;
	u32 answers;
	struct serial sort[SORTS];
	u64 credit;
	struct ids given;
	struct ids held;
	struct slot slots[SLOTS];
};

extern struct rch_link *peer_link;
extern struct end ends[CHANS];

/** ids_add - a number was heard */
static inline void ids_add(struct ids *ids, u32 id)
{
	ids->id[ids->count++ % IDS] = id;
}

/** ids_last - the number that is @back from the last one; or one that never was */
static inline u32 ids_last(const struct ids *ids, u32 back)
{
	return back < min(ids->count, IDS) ? ids->id[(ids->count - 1 - back) % IDS] : back;
}

/* peer_say.c */
void say_begin(u32 tx_first);
void say_sent(const struct rch_txf *txf);
void say_step(u32 step, struct end *end, bool go, struct input *in);
void say_open(struct end *end, u32 window);
void say_accept(struct end *end, u32 window);
void say_send(u32 lie);
u32 say_new_id(void);
void say_count_open(const struct end *end, u32 *releases, u32 *answers);

/** end_new - a channel has just been made */
static inline void end_new(struct end *end, struct rch_chan *chan, u32 peer_id)
{
	memset(end, 0, offsetof(struct end, sort));
	memset(&end->given, 0, sizeof(end->given));
	memset(&end->held, 0, sizeof(end->held));
	end->chan = chan;
	end->open = true;
	end->files = 1;
	end->peer_id = peer_id;
}

/* peer_do.c */
void do_begin(struct rch_user *user);
void do_step(u32 step, struct end *end, u32 slot, struct input *in);
void do_connect(struct end *end);
void do_accept(struct end *end);
void do_close(struct end *end, int signal);
void do_leave_all(struct end *end);
u32 do_opened(struct rch_link *link, const struct rch_open *open, kuid_t *owner);

#endif /* _RCH_PEER_H */
