// SPDX-License-Identifier: GPL-2.0
/*
 * seeds_peer.c - scripts in the language of peer_fuzz.h
 *
 * Channel 0 was opened by the peer, channel 1 by the program. Numbers are those of serial
 * arithmetic: a peer that adds 2^31 - 1 twice, and comes back, has used no number that is not
 * ahead of the last one.
 */
#include <stdint.h>

#include "peer_fuzz.h"
#include "seeds.h"

/* Nothing left out; numbers from 0; all memory there. */
#define PLAIN 0, 0, 0, 0
/* All that counts to 2^32 is just before its wrap, at both sides. */
#define WRAPS 0, 0x3e, 0x2e, 0
/* The adapter does atomic operations. */
#define BY_DEVICE 0, 0, 0x10, 0
#define NO_MEMORY(n) 0, 0, 0, n
/* There is memory for a channel, and none for the frame that would ask for it. */
#define NO_FRAME HOST_NOMEM, 0, 4
#define WITHOUT(features) features, 0, 0, 0

#define GO(chan) (PEER_GO | (chan))
#define SLOT(chan, n) ((chan) | (n) << 2)
#define NUMBER(trick, much) (TRICK_##trick | (much) << 3)
#define NEXT NUMBER(NEXT, 0)
#define SAME NUMBER(SAME, 0)

/* A grant of 64 bytes and all rights; of 16 KiB with keys of 4 KiB; of 8 bytes, once. */
#define ONE(number) SAY_GRANTS, GO(0), 0, number, 7, 2, 0, 4
#define PIECES(number) SAY_GRANTS, GO(0), 0, number, 7, 4, 0, 0
#define ONCE(number) SAY_GRANTS, GO(0), 0, number, 7, 1, 1, 0
#define REVOKE(number) SAY_REVOKE, GO(0), number
#define READ_EVENT DO_READ, 0
/* The newest grant is read, written, or asked an atomic operation on. */
#define JOB(slot, right, length) DO_JOB, SLOT(0, slot), right, 0, 0, length
#define JOB_READ 0
#define JOB_WRITE 1
#define JOB_ATOMIC 2
#define ACCESS_OK HOST_ACCESS, 0, 0
#define ACCESS_FAILS HOST_ACCESS, 0, 1
#define SENT HOST_SENT, 0
#define WORK HOST_WORK, 0, 0
/* 8 KiB from the region's begin, with all rights. */
#define GIVE DO_GIVE, 0, 0, 6, 0, 8, 0
/* Both numbers that are ahead of the one before, and the one before the mark. */
#define AROUND(say) say(NUMBER(HALF, 0)), say(NUMBER(HALF, 0))

#define PEER(name, ...)								\
	do {									\
		static const uint8_t steps[] = { __VA_ARGS__ };			\
		seeds_save("peer", name, steps, sizeof(steps));			\
	} while (0)

static void held_seeds(void)
{
	PEER("grant", PLAIN, ONE(NEXT), READ_EVENT, JOB(0, JOB_READ, 0), ACCESS_OK,
	     DO_JOB_GO, SLOT(0, 0), JOB(0, JOB_ATOMIC, 0), SENT, SAY_DONE, GO(0), SAME,
	     DO_JOB_GO, SLOT(0, 0), DO_RELEASE, 0, 0, SENT);
	PEER("grant-by-device", BY_DEVICE, SAY_GRANTS, GO(0), 0, NEXT, 15, 2, 0, 0, READ_EVENT,
	     JOB(0, JOB_ATOMIC, 0), ACCESS_OK, DO_JOB_GO, SLOT(0, 0), REVOKE(SAME));
	PEER("grant-once", PLAIN, ONCE(NEXT), READ_EVENT, JOB(0, JOB_WRITE, 0), ACCESS_OK,
	     DO_JOB_GO, SLOT(0, 0), JOB(1, JOB_WRITE, 0));
	PEER("grant-wraps", WRAPS, ONE(NEXT), ONE(NEXT), ONE(NEXT), READ_EVENT, READ_EVENT,
	     READ_EVENT, JOB(0, JOB_ATOMIC, 0), JOB(1, JOB_ATOMIC, 0), SENT, SAY_DONE, GO(0),
	     SAME, SAY_DONE, GO(0), NUMBER(SUB, 0), REVOKE(SAME), REVOKE(NUMBER(SUB, 0)));
	PEER("revoke-access", PLAIN, PIECES(NEXT), READ_EVENT, JOB(0, JOB_READ, 255),
	     REVOKE(SAME), ACCESS_OK, ACCESS_OK, ACCESS_OK, ACCESS_OK, DO_JOB_GO, SLOT(0, 0));
	PEER("revoke-asked", PLAIN, ONE(NEXT), READ_EVENT, JOB(0, JOB_ATOMIC, 0), REVOKE(SAME),
	     SENT, SAY_DONE, GO(0), SAME, DO_JOB_GO, SLOT(0, 0));
	PEER("revoke-ahead", PLAIN, REVOKE(NEXT), ONE(SAME), SENT, ONE(NEXT), READ_EVENT);
	PEER("revoke-ahead-twice", PLAIN, REVOKE(NEXT), REVOKE(SAME));
	PEER("revoke-past", PLAIN, ONE(NEXT), REVOKE(SAME), REVOKE(SAME), REVOKE(NUMBER(SUB, 0)));
	PEER("access-waits", PLAIN, PIECES(NEXT), READ_EVENT, HOST_BUSY, 0,
	     JOB(0, JOB_WRITE, 255), JOB(1, JOB_READ, 0), DO_JOB_STOP, SLOT(0, 1), ACCESS_OK,
	     ACCESS_FAILS, DO_JOB_GO, SLOT(0, 0), ACCESS_OK, ACCESS_OK, DO_JOB_LEAVE,
	     SLOT(0, 0));
	PEER("unread", PLAIN, ONE(NEXT), PIECES(NEXT), DO_SHUT, 0, 0, DO_SHUT, 0, 0, SENT,
	     ONE(NEXT));
	PEER("keep-fails", NO_MEMORY(1), ONE(NEXT), ONE(NEXT), SENT);
	PEER("event-fails", NO_MEMORY(2), ONE(NEXT), ONE(NEXT), SENT);
}

/* X, X + 2^31 - 1, X - 2, X: none is behind the one before. */
static void around_seeds(void)
{
	PEER("around", PLAIN, ONE(NUMBER(MARK, 4)), READ_EVENT, AROUND(ONE),
	     ONE(NUMBER(TO_MARK, 0)), READ_EVENT, JOB(0, JOB_READ, 0));
	PEER("around-asked", PLAIN, ONE(NUMBER(MARK, 4)), READ_EVENT, JOB(0, JOB_ATOMIC, 0),
	     REVOKE(SAME), AROUND(ONE), ONE(NUMBER(TO_MARK, 0)), SAY_DONE, GO(0), SAME,
	     DO_JOB_GO, SLOT(0, 0));
	PEER("around-read", PLAIN, PIECES(NUMBER(MARK, 4)), READ_EVENT, HOST_BUSY, 0,
	     JOB(0, JOB_READ, 255), ACCESS_OK, REVOKE(SAME), ACCESS_OK, AROUND(ONE),
	     ONE(NUMBER(TO_MARK, 0)), DO_JOB_GO, SLOT(0, 0), ACCESS_OK, ACCESS_OK, DO_JOB_GO,
	     SLOT(0, 0));
	PEER("around-stone", PLAIN, REVOKE(NUMBER(MARK, 4)), AROUND(ONE),
	     ONE(NUMBER(TO_MARK, 0)), ONE(NEXT), READ_EVENT);
	PEER("around-revoke", PLAIN, ONE(NUMBER(MARK, 4)), READ_EVENT, AROUND(ONE),
	     REVOKE(NUMBER(TO_MARK, 0)), ONE(SAME), READ_EVENT, JOB(0, JOB_READ, 0));
}

static void lent_seeds(void)
{
	PEER("give", PLAIN, GIVE, SENT, SAY_ATOMIC, GO(0), SAME, 0, 1, NEXT, SAY_ATOMIC, GO(0),
	     SAME, 1, 2, SAME, SAY_RELEASE, GO(0), SAME, 0, WORK, READ_EVENT);
	PEER("give-by-device", BY_DEVICE, GIVE, SENT, SAY_ATOMIC, GO(0), SAME, 0, 1, NEXT);
	PEER("give-wraps", WRAPS, GIVE, GIVE, GIVE, SENT, SAY_RELEASE, GO(0), SAME, 0,
	     SAY_RELEASE, GO(0), NUMBER(SUB, 0), 0, WORK, WORK, GIVE, READ_EVENT, READ_EVENT);
	PEER("give-revoke", PLAIN, GIVE, DO_REVOKE, 0, 0, SENT, SAY_RELEASE, GO(0), SAME, 0,
	     WORK, READ_EVENT, DO_REVOKE, 0, 0);
	PEER("give-expires", PLAIN, DO_GIVE, 0, 0, 1, 0, 8, 1, WORK, WORK, HOST_TIME, 0, 15,
	     WORK, SAY_RELEASE, GO(0), SAME, 0);
	PEER("give-never-back", PLAIN, GIVE, DO_REVOKE, 0, 0, HOST_TIME, 0, 14, HOST_TIME, 0,
	     12, WORK, WORK);
	PEER("release-twice", PLAIN, GIVE, SAY_RELEASE, 0, SAME, 1, SAY_RELEASE, GO(0), SAME, 0);
	PEER("release-none", PLAIN, SAY_RELEASE, GO(0), NEXT, 0);
	PEER("atomic-outside", PLAIN, GIVE, SAY_ATOMIC, GO(0), SAME, 0, 255, NEXT);
	PEER("atomic-before", PLAIN, DO_GIVE, 0, 0, 3, 9, 8, 0, SAY_ATOMIC, GO(0), SAME, 0, 0,
	     NEXT);
	PEER("done-unasked", PLAIN, ONE(NEXT), SAY_DONE, GO(0), NEXT);
	PEER("done-twice", PLAIN, ONE(NEXT), READ_EVENT, JOB(0, JOB_ATOMIC, 0), SAY_DONE, GO(0),
	     SAME, SAY_DONE, GO(0), SAME);
	PEER("give-closed", PLAIN, GIVE, GIVE, DO_CLOSE, 0, SENT, SAY_CLOSE, GO(0), 0, 0, WORK,
	     WORK, WORK);
}

/* More than there may be at a time, and more than the peer takes. */
static void many_seeds(void)
{
	PEER("ask-many", PLAIN, ONE(NEXT), READ_EVENT, DO_ASK_MANY, 0, 70, 0, SENT, SAY_DONE, GO(0),
	     NUMBER(SUB, 0), SAY_DONE, GO(0), NUMBER(SUB, 1), JOB(0, JOB_ATOMIC, 0), DO_JOB_STOP,
	     SLOT(0, 0), REVOKE(SAME), SAY_DONE, GO(0), NUMBER(SUB, 2));
	PEER("ask-late", PLAIN, ONE(NEXT), READ_EVENT, DO_ASK_MANY, 0, 1, 0, HOST_TIME, 0, 15);
	PEER("ask-closed", PLAIN, ONE(NEXT), READ_EVENT, DO_ASK_MANY, 0, 70, 0, SAY_CLOSE, GO(0), 1,
	     0, DO_ASK_MANY, 0, 1, 0);
	PEER("answer-many", PLAIN, GIVE, SENT, SAY_STINGY, 0, SAY_ATOMICS, GO(0), 12, SAME, SAME,
	     SAY_ATOMICS, GO(0), 12, SAME, SAME, SAY_STINGY, 0, SAY_FRAME, 0, 0, SENT, SAY_FRAME,
	     0, 0);
	PEER("answer-too-many", PLAIN, GIVE, SENT, SAY_STINGY, 0, SAY_ATOMICS, GO(0), 255, SAME,
	     SAME, SAY_ATOMICS, GO(0), 255, SAME, SAME);
	PEER("answer-nomem", PLAIN, GIVE, SENT, HOST_NOMEM, 0, 1, SAY_ATOMIC, GO(0), SAME, 0, 1,
	     NEXT);
}

/* A message asks; the peer tells that it is received, and again; and of what has not asked. */
static void taken_seeds(void)
{
	PEER("taken", PLAIN, DO_SEND_ASKING, 0, 9, SENT, SAY_TAKEN, GO(0), 0, DO_SEND_ASKING, 0, 9);
	PEER("taken-again", PLAIN, DO_SEND_ASKING, 0, 9, SENT, SAY_TAKEN, GO(0), 0, SAY_TAKEN,
	     GO(0), 0);
	PEER("taken-ahead", PLAIN, DO_SEND_ASKING, 0, 9, SENT, SAY_TAKEN, GO(0), 1);
	PEER("taken-unasked", PLAIN, DO_SEND, 0, 9, SENT, SAY_TAKEN, GO(0), 1);
	PEER("tell", PLAIN, SAY_DATA, GO(0), 0x23, 9, 9, DO_READ, 0, SENT);
}

static void bare_seeds(void)
{
	PEER("bare", PLAIN, SAY_BARE, 0, 1, 0, 0, 0, DO_READ, 0, SAY_BARE, 0, 255, 0, 0, 1,
	     DO_READ, 0, DO_SEND, 0, 9);
	PEER("bare-wraps", WRAPS, SAY_BARE, 0, 1, 0, 0, 1, SAY_BARE, 0, 1, 0, 0, 0, SAY_BARE, 0,
	     1, 0, 0, 1, DO_SEND, 0, 9, DO_SEND, 1, 9, DO_READ, 0);
	PEER("bare-again", PLAIN, SAY_BARE, 0, 1, 0, 0, 0, SAY_BARE, 0, 1, 255, 0, 0);
	PEER("bare-gap", PLAIN, SAY_BARE, 0, 1, 1, 0, 0);
	PEER("bare-ack", PLAIN, SAY_BARE, 0, 1, 0, 9, 0);
	PEER("bare-ack-old", PLAIN, SAY_BARE, 0, 1, 0, 0x80, 1);
	PEER("bare-nobody", PLAIN, SAY_BARE, 0, 1, 0, 0, 100);
	PEER("bare-unknown", WITHOUT(0x01), SAY_BARE, 0, 1, 0, 0, 0);
	PEER("bare-closed", PLAIN, SAY_CLOSE, GO(0), 0, 0, SAY_BARE, 0, 1, 0, 0, 0);
}

static void borrow_seeds(void)
{
	/* 40 KiB are lent for the next message, and used. */
	PEER("borrow", PLAIN, SAY_CTS, GO(0), 1, 40, NEXT, 0, DO_PLACE_SEND, SLOT(0, 0), 39,
	     DO_PLACE_GO, SLOT(0, 0), DO_SEND, 0, 9);
	PEER("borrow-wraps", WRAPS, SAY_CTS, GO(0), 1, 40, NEXT, 0, DO_PLACE_SEND, SLOT(0, 0),
	     39, SAY_CTS, GO(0), 1, 40, NEXT, 0, DO_PLACE_SEND, SLOT(0, 1), 39, SAY_CTS, GO(0),
	     1, 40, NEXT, 0, DO_PLACE_SEND, SLOT(0, 2), 39);
	PEER("borrow-back", PLAIN, SAY_CTS, GO(0), 1, 40, NEXT, 0, SAY_CTS, GO(0), 1, 0, SAME, 0,
	     DO_PLACE_SEND, SLOT(0, 0), 39);
	PEER("borrow-back-used", PLAIN, HOST_SLOW, 0, SAY_CTS, GO(0), 1, 40, NEXT, 0,
	     DO_PLACE_SEND, SLOT(0, 0), 39, SAY_CTS, GO(0), 1, 0, SAME, 0, HOST_DONE, 0,
	     DO_PLACE_GO, SLOT(0, 0));
	/* Two with one number; and for a message that is far away. */
	PEER("borrow-twice", PLAIN, SAY_CTS, GO(0), 1, 40, NEXT, 0, SAY_CTS, GO(0), 3, 40, SAME,
	     1, SAY_CTS, GO(0), 1, 0, SAME, 1, DO_PLACE_SEND, SLOT(0, 0), 39, DO_PLACE_STOP,
	     SLOT(0, 0));
	PEER("borrow-far", PLAIN, SAY_CTS, GO(0), 1, 40, NEXT, 100, SAY_CTS, GO(0), 1, 40, NEXT,
	     200, DO_PLACE_SEND, SLOT(0, 0), 39);
	PEER("borrow-crosses", PLAIN, DO_PLACE_SEND, SLOT(0, 0), 39, SAY_CTS, GO(0), 1, 40, NEXT,
	     0, DO_PLACE_GO, SLOT(0, 0));
	PEER("borrow-small", PLAIN, DO_PLACE_SEND, SLOT(0, 0), 39, SAY_CTS, GO(0), 1, 33, NEXT,
	     0, SAY_CTS, GO(0), 0, 0, SAME, DO_PLACE_GO, SLOT(0, 0), SENT, DO_PLACE_GO,
	     SLOT(0, 0));
	PEER("borrow-closed", PLAIN, HOST_SLOW, 0, SAY_CTS, GO(0), 1, 40, NEXT, 0,
	     DO_PLACE_SEND, SLOT(0, 0), 39, SAY_CLOSE, GO(0), 1, 0, DO_CLOSE, 0);
	PEER("asked", PLAIN, DO_PLACE_SEND, SLOT(0, 0), 39, SAY_CTS, GO(0), 0, 20, SAME,
	     DO_PLACE_GO, SLOT(0, 0), SAY_CTS, GO(0), 0, 20, SAME, DO_PLACE_GO, SLOT(0, 0));
	PEER("asked-taken-back", PLAIN, DO_PLACE_SEND, SLOT(0, 0), 39, DO_PLACE_STOP, SLOT(0, 0),
	     SAY_CTS, GO(0), 0, 20, SAME, DO_PLACE_SEND, SLOT(0, 0), 39, SAY_CTS, GO(0), 0, 20,
	     NUMBER(SUB, 0));
}

static void lend_seeds(void)
{
	PEER("lend", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, SAY_PLACED, GO(0), 0,
	     38, SAME, DO_PLACE_GO, SLOT(0, 0), DO_PLACE_LEND, SLOT(0, 0), 39, SAY_KEY, 0, SAME,
	     SAY_PLACED, GO(0), 0, 38, SAME, DO_PLACE_GO, SLOT(0, 0));
	PEER("lend-wraps", WRAPS, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, SAY_PLACED,
	     GO(0), 0, 38, SAME, DO_PLACE_GO, SLOT(0, 0), DO_PLACE_LEND, SLOT(0, 0), 39,
	     SAY_PLACED, GO(0), 0, 38, SAME, DO_PLACE_GO, SLOT(0, 0));
	PEER("lend-ahead", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, DO_PLACE_HEIR,
	     SLOT(0, 1), 39, 0, DO_PLACE_HEIR, SLOT(0, 2), 39, 1, SAY_PLACED, GO(0), 0, 38,
	     NUMBER(SUB, 1), SAY_PLACED, GO(0), 0, 38, NUMBER(SUB, 0), DO_PLACE_GO, SLOT(0, 0),
	     DO_PLACE_GO, SLOT(0, 1), SAY_DATA, GO(0), 3, 1, 0, DO_PLACE_GO, SLOT(0, 2));
	PEER("lend-out-of-turn", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39,
	     DO_PLACE_HEIR, SLOT(0, 1), 39, 0, SAY_PLACED, GO(0), 0, 38, SAME);
	PEER("lend-back", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, DO_PLACE_STOP,
	     SLOT(0, 0), SAY_PLACED, GO(0), 1, 0, SAME, DO_PLACE_GO, SLOT(0, 0));
	PEER("lend-never-back", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39,
	     DO_PLACE_LEAVE, SLOT(0, 0), HOST_TIME, 0, 15, WORK, WORK, HOST_TIME, 0, 15, WORK,
	     WORK);
	PEER("lend-past", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, SAY_PLACED, GO(0),
	     0, 38, NUMBER(SUB, 0));
	PEER("lend-crosses", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, SAY_RTS, GO(0),
	     0, 38, NEXT, SAY_PLACED, GO(0), 1, 0, SAME, DO_PLACE_GO, SLOT(0, 0), DO_READ,
	     SLOT(0, 1), SAY_FIN, GO(0), DO_PLACE_GO, SLOT(0, 1));
	PEER("lend-key-lie", PLAIN, DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39, SAY_KEY, 0,
	     NUMBER(ADD, 0), SAY_PLACED, GO(0), 0, 38, SAME);
	PEER("lend-nomem", NO_MEMORY(2), DO_READING, 0, DO_PLACE_LEND, SLOT(0, 0), 39,
	     HOST_NOMEM, 0, 3, DO_PLACE_LEND, SLOT(0, 0), 39, HOST_NOMEM, 0, 1, DO_PLACE_LEND,
	     SLOT(0, 0), 39);
	PEER("offer", PLAIN, DO_READING, 0, SAY_RTS, GO(0), 0, 60, NEXT, DO_READ, SLOT(0, 0),
	     SAY_FIN, GO(0), DO_PLACE_GO, SLOT(0, 0), SAY_KEY, 0, SAME, SAY_FIN, GO(0),
	     DO_PLACE_GO, SLOT(0, 0));
	PEER("offer-taken-back", WRAPS, DO_READING, 0, SAY_RTS, GO(0), 0, 60, NEXT, SAY_RTS,
	     GO(0), 1, 0, SAME, SAY_RTS, GO(0), 0, 60, NEXT, DO_READ, SLOT(0, 0), SAY_RTS,
	     GO(0), 1, 0, SAME, DO_PLACE_GO, SLOT(0, 0));
	PEER("offer-late", PLAIN, DO_READING, 0, SAY_RTS, GO(0), 0, 60, NEXT, DO_READING, 0,
	     WORK, SAY_DATA, GO(0), 3, 1, 0, DO_READ, 0);
	PEER("offer-killed", PLAIN, DO_READING, 0, SAY_RTS, GO(0), 0, 60, NEXT, DO_READ,
	     SLOT(0, 0), DO_PLACE_LEAVE, SLOT(0, 0), SAY_FIN, GO(0), DO_KILL, 0, 8, WORK, WORK);
}

static void frame_seeds(void)
{
	PEER("empty");
	PEER("frames", WRAPS, SAY_FRAME, 0, 0, SAY_FRAME, 0, 0, DO_SEND, 0, 40, DO_SEND, 1, 40,
	     SENT, SAY_FRAME, 0, 0, SAY_DATA, GO(0), 3, 9, 0, SAY_DATA, GO(0), 1, 40, 80,
	     SAY_DATA, GO(0), 2, 40, 80, DO_READ, 0, DO_READ, 0);
	PEER("frame-again", PLAIN, SAY_FRAME, 0, 0, SAY_FRAME, 0, 2 | 1 << 3, SAY_FRAME, 0, 0);
	PEER("frame-gap", PLAIN, SAY_FRAME, 0, 1 | 1 << 3);
	PEER("frame-ack", PLAIN, SAY_FRAME, 0, 3 | 1 << 3);
	PEER("frame-ack-half", PLAIN, SAY_FRAME, 0, 4);
	PEER("frame-limit", PLAIN, SAY_FRAME, 0, 5 | 1 << 3);
	PEER("frame-limit-back", PLAIN, SAY_FRAME, 0, 6 | 31 << 3);
	PEER("frame-epoch", PLAIN, SAY_FRAME, 0, 7 | 1 << 3);
	PEER("close-both", PLAIN, DO_CLOSE, 0, SAY_CLOSE, GO(0), 0, 0, SAY_CLOSED, GO(0), SENT,
	     WORK, WORK, SAY_OPEN, GO(0), 80, DO_ACCEPT, 0, DO_ABORT, 0);
	PEER("link-ends", PLAIN, ONE(NEXT), READ_EVENT, GIVE, DO_READING, 0, DO_PLACE_LEND,
	     SLOT(0, 0), 39, DO_PLACE_SEND, SLOT(1, 1), 39, HOST_SLOW, 0, JOB(2, JOB_READ, 0),
	     HOST_DEAD, 0);
}

/* The end ahead of ACCEPT, said by the peer and by the program. */
static void early_seeds(void)
{
	PEER("shut-early", PLAIN, SAY_OPEN, GO(2), 80, SAY_DATA, GO(2), 0x13, 4, 4, SAY_SHUT, GO(2),
	     0x12, DO_ACCEPT, 2, DO_READ, 2, DO_READ, 2);
	PEER("shut-early-twice", PLAIN, SAY_OPEN, GO(2), 80, SAY_SHUT, 2, 0x12, SAY_SHUT, GO(2),
	     0x12, SAY_DATA, GO(2), 0x13, 4, 4);
	PEER("shut-early-unopened", PLAIN, SAY_SHUT, GO(2), 0x12);
	PEER("shut-connecting", PLAIN, DO_CONNECT, 2, DO_SEND, 2, 4, DO_SHUT, 2, 2, DO_SEND, 2, 4,
	     SAY_ACCEPT, GO(2), 80, SENT, DO_READ, 2, DO_CLOSE, 2);
	PEER("shut-connecting-small", PLAIN, DO_CONNECT, 2, DO_SEND, 2, 40, DO_SEND, 2, 200,
	     DO_SHUT, 2, 1, SAY_ACCEPT, GO(2), 8, SENT, SAY_CREDIT, GO(2), 200);
	PEER("shut-connecting-refused", PLAIN, DO_CONNECT, 2, DO_SEND, 2, 4, DO_SHUT, 2, 1,
	     SAY_REJECT, GO(2), 1, DO_SHUT, 2, 1, DO_CLOSE, 2);
	PEER("shut-connecting-no-frame", PLAIN, NO_FRAME, DO_CONNECT, 2, DO_SHUT, 2, 1, SENT);
}

/* Findings of campaigns. */
static void found_seeds(void)
{
	/* ACCEPT ahead of OPEN, which then went to the number that the peer had just given. */
	PEER("found-accept-ahead", PLAIN, NO_FRAME, DO_CONNECT, 2, SAY_ACCEPT, GO(2), 128);
	PEER("found-reject-ahead", PLAIN, NO_FRAME, DO_CONNECT, 2, SAY_REJECT, GO(2), 1);
}

/** seeds_peer - write them all */
void seeds_peer(void)
{
	held_seeds();
	around_seeds();
	lent_seeds();
	many_seeds();
	taken_seeds();
	bare_seeds();
	borrow_seeds();
	lend_seeds();
	frame_seeds();
	early_seeds();
	found_seeds();
}
