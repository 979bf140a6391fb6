/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ack.h - when an adapter sends once more what is not acknowledged
 *
 * The peer's heartbeat decides when a peer is dead, and no adapter shall give up before. One that
 * tries for ever never does. Any other gives up after so many tries, which together take as long
 * as the dead time, or 17 s (eight tries, 2.1 s each) where that is longer: such a dead time is
 * not kept. A packet that is lost last is missed by nobody but its sender, which waits for one
 * timeout. A longer one would cost every program that, for the sake of the few peers that come
 * back so late.
 *
 * To repeat what is not lost, as when the peer's processor has no time for a while, is not harmless
 * with rxe, which tries for ever. In 6.12 its requester may lose its place in a request of many
 * packets when acknowledgements of the first try come during the second, and the connection ends.
 * So there the timeout is 537 ms, as that of rdma_cm itself. It is less where four tries would not
 * fit into the dead time; but not below 134 ms.
 */
#ifndef _RCH_PURE_ACK_H
#define _RCH_PURE_ACK_H

#include "types.h"

/** RCH_ACK_UNIT - nanoseconds that the timeout 0 stands for */
#define RCH_ACK_UNIT 4096ULL
/** RCH_ACK_MIN - the shortest timeout, 134 ms */
#define RCH_ACK_MIN 15
/** RCH_ACK_FOR_EVER_MAX - the longest of an adapter that tries for ever, 537 ms */
#define RCH_ACK_FOR_EVER_MAX 17
/** RCH_ACK_MAX - the longest, 2.1 s: so long a program waits when the last packet is lost */
#define RCH_ACK_MAX 19
/** RCH_ACK_FIT - so many tries of an adapter that tries for ever fit into the dead time */
#define RCH_ACK_FIT 4
/** RCH_ACK_RETRIES - how often an adapter tries again that gives up: the most there is */
#define RCH_ACK_RETRIES 7

/**
 * rch_ack_timeout - how long an adapter waits for an acknowledgement
 * @dead_ms: dead time in milliseconds
 * @for_ever: it then tries again and again
 *
 * Return: n, for 4.096 us * 2^n.
 */
static inline u8 rch_ack_timeout(u32 dead_ms, bool for_ever)
{
	const u64 dead_ns = dead_ms * 1000000ULL;
	u8 n = RCH_ACK_MIN;

	if (for_ever)
		while (n < RCH_ACK_FOR_EVER_MAX && RCH_ACK_FIT * RCH_ACK_UNIT << (n + 1) <= dead_ns)
			n++;
	else
		while (n < RCH_ACK_MAX && (1 + RCH_ACK_RETRIES) * RCH_ACK_UNIT << n < dead_ns)
			n++;
	return n;
}

#endif /* _RCH_PURE_ACK_H */
