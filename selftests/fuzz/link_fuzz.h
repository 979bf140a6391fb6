/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link_fuzz.h - the language of link_fuzz.c, for seeds.c too
 *
 * An input is LINK_SETUP bytes that choose the rings, the first numbers, the windows
 * and whether end 1 lies, and then steps. A step is a byte with the end in bit 7, the lane in
 * bits 5 and 6, and the step in the others; for some, bytes that belong to it. Numbers
 * of steps are never given to others, as inputs are kept.
 */
#ifndef _RCH_LINK_FUZZ_H
#define _RCH_LINK_FUZZ_H

#define LINK_SETUP 6

/**
 * enum link_step - what happens next
 * @LINK_ARRIVE: lane + 1 frames arrive at the end
 * @LINK_CONNECT: a program connects
 * @LINK_ACCEPT: a program accepts what waits
 * @LINK_SEND: a small message; byte: its length
 * @LINK_SEND_LARGE: a message; byte: its length by 16
 * @LINK_ABORT: a message that is not ended; byte: its length by 16
 * @LINK_READ: a program reads a message, or finds none and does not wait
 * @LINK_SHUT_SEND: a program sends no more
 * @LINK_SHUT_RECV: a program reads no more
 * @LINK_CLOSE: a program closes; a channel that waits for a listener is given up
 * @LINK_KILL: a program is killed
 * @LINK_DONE: the adapter has sent what it has
 * @LINK_BEAT: a heartbeat
 * @LINK_AGAIN: a frame that came before comes again, the lane + 1 last
 * @LINK_HOLD: receive buffers are not posted from now on, or are again
 * @LINK_REFUSE: the listener goes, or comes
 * @LINK_STEP: bytes: two states; whether a step from one to the other is allowed
 * @LINK_LIE: liar: change the next frame; bytes: where, how, what
 * @LINK_RECORD: liar: say a record; bytes: how often, type, flags, channel, length, total
 *	by 16, and up to 8 of its own
 * @LINK_LOSE: liar: the next frame is never sent
 * @LINK_PLACE: a thread sends a message from memory to memory; byte: its length by 16
 * @LINK_WAIT: a thread waits for a message
 * @LINK_RUN: threads run, a step each
 * @LINK_STOP: threads that wait get a signal
 * @LINK_LATE: no thread has come for the message that was offered
 * @LINK_STEPS: how many there are
 */
enum link_step {
	LINK_ARRIVE,
	LINK_CONNECT,
	LINK_ACCEPT,
	LINK_SEND,
	LINK_SEND_LARGE,
	LINK_ABORT,
	LINK_READ,
	LINK_SHUT_SEND,
	LINK_SHUT_RECV,
	LINK_CLOSE,
	LINK_KILL,
	LINK_DONE,
	LINK_BEAT,
	LINK_AGAIN,
	LINK_HOLD,
	LINK_REFUSE,
	LINK_STEP,
	LINK_LIE,
	LINK_RECORD,
	LINK_LOSE,
	LINK_PLACE,
	LINK_WAIT,
	LINK_RUN,
	LINK_STOP,
	LINK_LATE,
	LINK_STEPS,
};

/** enum link_lie - how LINK_LIE changes 4 bytes of a frame, or its length */
enum link_lie {
	LINK_LIE_XOR,
	LINK_LIE_SET,
	LINK_LIE_ADD,
	LINK_LIE_CUT,
	LINK_LIES,
};

#endif /* _RCH_LINK_FUZZ_H */
