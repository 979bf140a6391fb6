/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peer_fuzz.h - the language of peer_fuzz.c, for seeds.c too
 *
 * An input is PEER_SETUP bytes, and then steps. The first byte of a step is its number. The second
 * has the channel in bits 0 and 1, the slot of the thing that the step begins in bits 2 to 4, and
 * PEER_GO in bit 7. Some steps have more bytes. The number of a step is never given to another one,
 * as inputs are kept.
 *
 * A number that the peer says is a byte: what becomes of the last one of its sort in bits 0 to 2
 * (enum peer_trick), and how much in the others.
 */
#ifndef _RCH_PEER_FUZZ_H
#define _RCH_PEER_FUZZ_H

/**
 * PEER_SETUP - bytes that the input begins with
 *
 *  - Features that are not agreed upon.
 *  - First numbers of frames, by 3 bits.
 *  - First numbers of grants and others in bits 0 to 2. Bit 3: the module's own begin at their
 *    wrap. Bit 4: the adapter does atomic operations. Bit 5: messages are counted from just before
 *    2^32.
 *  - Which allocation fails.
 */
#define PEER_SETUP 4

/** PEER_GO - bit of the second byte: the frame with the record is sent at once */
#define PEER_GO 0x80

/** enum peer_trick - what the peer makes of the last number of a sort */
enum peer_trick {
	TRICK_NEXT,
	TRICK_SAME,
	TRICK_HALF,
	TRICK_BACK,
	TRICK_MARK,
	TRICK_TO_MARK,
	TRICK_ADD,
	TRICK_SUB,
};

/**
 * enum peer_step - what happens next
 * @SAY_FRAME: peer: send the frame; byte: a lie about its numbers, 0 is none
 * @SAY_BARE: peer: a bare frame; bytes: length, how far number and acknowledgement are off, full
 * @SAY_KEY: peer: the next frame closes a key; byte: number
 * @SAY_OPEN: peer: bytes: number, window by 256, message_max by 256
 * @SAY_ACCEPT: peer: the same
 * @SAY_REJECT: peer: byte: reason
 * @SAY_DATA: peer: bytes: flags, length by 16, total by 16
 * @SAY_GRANTS: peer: bytes: how many; of each a number, rights, length, uses, shape of its keys
 * @SAY_REVOKE: peer: byte: number of a grant of its own
 * @SAY_RELEASE: peer: bytes: number of one of ours, cause
 * @SAY_ATOMIC: peer: bytes: number of one of ours, op, address by 8, number of the question
 * @SAY_DONE: peer: byte: number of our question
 * @SAY_RTS: peer: bytes: flags, total by 1024, number
 * @SAY_CTS: peer: bytes: flags, length by 1024, number, message
 * @SAY_PLACED: peer: RTS about what we lent; bytes: flags, total by 1024, number
 * @SAY_FIN: peer
 * @SAY_SHUT: peer: byte: flags
 * @SAY_CLOSE: peer: bytes: flags, messages
 * @SAY_CLOSED: peer
 * @SAY_CREDIT: peer: byte: how much more by 256
 * @SAY_READ: peer: byte: messages
 * @SAY_ANY: peer: bytes: type, flags, length, and up to 8 of its own
 * @DO_CONNECT: program
 * @DO_ACCEPT: program
 * @DO_SEND: program: byte: length by 16
 * @DO_READ: program: a message, or an offer
 * @DO_READING: program: a thread begins to wait, or waits no more
 * @DO_SHUT: program: byte: direction
 * @DO_ABORT: program
 * @DO_CLOSE: program
 * @DO_KILL: program: byte: how it ends
 * @DO_GIVE: program: bytes: how many; of each rights, offset by 8, length by 1024, time
 * @DO_REVOKE: program: byte: which one, from the last back
 * @DO_RELEASE: program: byte: which grant, from the last back
 * @DO_JOB: program: bytes: right, which grant, offset by 8, length by 64; in the slot
 * @DO_JOB_GO: program: go on with that
 * @DO_JOB_STOP: program
 * @DO_JOB_LEAVE: program
 * @DO_PLACE_SEND: program: byte: length by 1024; in the slot
 * @DO_PLACE_LEND: program: byte: room by 1024
 * @DO_PLACE_HEIR: program: bytes: room by 1024, slot of the transfer before
 * @DO_PLACE_GO: program: go on with that
 * @DO_PLACE_STOP: program
 * @DO_PLACE_LEAVE: program
 * @DO_PLACE_LET_GO: program
 * @HOST_SLOW: the adapter is slow from now on, or no more
 * @HOST_BUSY: accesses wait for their turn from now on, or no more
 * @HOST_DONE: the adapter has done what it has
 * @HOST_ACCESS: an access begins, or ends; byte: whether well
 * @HOST_SENT: frames were sent, and their credit is given
 * @HOST_WORK: a work runs; byte: how many wait longer
 * @HOST_TIME: byte: time goes by, as a power of 2
 * @HOST_NOMEM: byte: which allocation fails
 * @HOST_DEAD: the link ends
 * @SAY_ATOMICS: peer: bytes: how many by 16, number of one of ours, number of the question
 * @SAY_STINGY: peer: it gives no more credit from now on, or does again
 * @DO_ASK_MANY: program: bytes: how many by 16, which grant; left alone at once
 * @SAY_TAKEN: peer: byte: number, as from the last message that has asked
 * @DO_SEND_ASKING: program: byte: length by 16; the message asks whether it is received
 * @PEER_STEPS: how many there are
 */
enum peer_step {
	SAY_FRAME,
	SAY_BARE,
	SAY_KEY,
	SAY_OPEN,
	SAY_ACCEPT,
	SAY_REJECT,
	SAY_DATA,
	SAY_GRANTS,
	SAY_REVOKE,
	SAY_RELEASE,
	SAY_ATOMIC,
	SAY_DONE,
	SAY_RTS,
	SAY_CTS,
	SAY_PLACED,
	SAY_FIN,
	SAY_SHUT,
	SAY_CLOSE,
	SAY_CLOSED,
	SAY_CREDIT,
	SAY_READ,
	SAY_ANY,
	DO_CONNECT,
	DO_ACCEPT,
	DO_SEND,
	DO_READ,
	DO_READING,
	DO_SHUT,
	DO_ABORT,
	DO_CLOSE,
	DO_KILL,
	DO_GIVE,
	DO_REVOKE,
	DO_RELEASE,
	DO_JOB,
	DO_JOB_GO,
	DO_JOB_STOP,
	DO_JOB_LEAVE,
	DO_PLACE_SEND,
	DO_PLACE_LEND,
	DO_PLACE_HEIR,
	DO_PLACE_GO,
	DO_PLACE_STOP,
	DO_PLACE_LEAVE,
	DO_PLACE_LET_GO,
	HOST_SLOW,
	HOST_BUSY,
	HOST_DONE,
	HOST_ACCESS,
	HOST_SENT,
	HOST_WORK,
	HOST_TIME,
	HOST_NOMEM,
	HOST_DEAD,
	SAY_ATOMICS,
	SAY_STINGY,
	DO_ASK_MANY,
	SAY_TAKEN,
	DO_SEND_ASKING,
	PEER_STEPS,
};

#endif /* _RCH_PEER_FUZZ_H */
