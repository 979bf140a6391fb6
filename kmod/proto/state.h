/* SPDX-License-Identifier: GPL-2.0 */
/*
 * state.h - states of channels, links and transfers, and the steps between them
 */
#ifndef _RCH_PURE_STATE_H
#define _RCH_PURE_STATE_H

#include "../pure/types.h"

/**
 * enum rch_chan_state - life of a channel
 * @RCH_CHAN_CONNECTING: looks for a link, or has asked the peer to open
 * @RCH_CHAN_WAITING: opened by the peer, waits in a listener's queue
 * @RCH_CHAN_OPEN: in use
 * @RCH_CHAN_PEER_CLOSED: the peer closed; messages that came may be read
 * @RCH_CHAN_CLOSING: closed here; the rest is delivered, then CLOSE is sent
 * @RCH_CHAN_FAILED: failed with a cause; messages that came may be read
 * @RCH_CHAN_DEAD: no file and no link refers to it any more
 * @RCH_CHAN_STATES: how many there are
 */
enum rch_chan_state {
	RCH_CHAN_CONNECTING,
	RCH_CHAN_WAITING,
	RCH_CHAN_OPEN,
	RCH_CHAN_PEER_CLOSED,
	RCH_CHAN_CLOSING,
	RCH_CHAN_FAILED,
	RCH_CHAN_DEAD,
	RCH_CHAN_STATES,
};

/**
 * enum rch_link_state - life of a link
 * @RCH_LINK_CONNECTING: active side: address, route and connection are being made
 * @RCH_LINK_HELLO: passive side: accepted, the first frame has not come yet
 * @RCH_LINK_UP: frames travel
 * @RCH_LINK_DEAD: ended with a cause; being taken apart
 * @RCH_LINK_STATES: how many there are
 */
enum rch_link_state {
	RCH_LINK_CONNECTING,
	RCH_LINK_HELLO,
	RCH_LINK_UP,
	RCH_LINK_DEAD,
	RCH_LINK_STATES,
};

/**
 * enum rch_place_state - what the transfer of a large message waits for
 * @RCH_PLACE_NEW: to be begun
 * @RCH_PLACE_ASKED: sending: for CTS
 * @RCH_PLACE_TURN: sending: for its turn to write
 * @RCH_PLACE_WRITING: sending: for the end of what is being written
 * @RCH_PLACE_HOLDING: sending: the same, or for rch_place_let_go(), and then for memory to be
 *	open that is lent for an answer: the record that tells of that shares a frame with FIN
 * @RCH_PLACE_WRITTEN: sending: the same as WRITING, and nothing of the message comes behind it
 * @RCH_PLACE_STREAM: sending: for room, as the message goes in segments
 * @RCH_PLACE_FAILING: sending: for the channel to fail, as its path has
 * @RCH_PLACE_OPENING: receiving: for memory to be open to the peer
 * @RCH_PLACE_OPEN: receiving: for FIN
 * @RCH_PLACE_LENT: receiving: for a message, as memory is open that nobody has asked for
 * @RCH_PLACE_RECALL: receiving: for the peer to give that back
 * @RCH_PLACE_CLOSING: receiving: for memory to be closed
 * @RCH_PLACE_STUCK: receiving: for the path to be drained, as it could not be closed
 * @RCH_PLACE_OVER: for nothing
 * @RCH_PLACE_STATES: how many there are
 */
enum rch_place_state {
	RCH_PLACE_NEW,
	RCH_PLACE_ASKED,
	RCH_PLACE_TURN,
	RCH_PLACE_WRITING,
	RCH_PLACE_HOLDING,
	RCH_PLACE_WRITTEN,
	RCH_PLACE_STREAM,
	RCH_PLACE_FAILING,
	RCH_PLACE_OPENING,
	RCH_PLACE_OPEN,
	RCH_PLACE_LENT,
	RCH_PLACE_RECALL,
	RCH_PLACE_CLOSING,
	RCH_PLACE_STUCK,
	RCH_PLACE_OVER,
	RCH_PLACE_STATES,
};

bool rch_chan_state_allowed(enum rch_chan_state from, enum rch_chan_state to);
bool rch_link_state_allowed(enum rch_link_state from, enum rch_link_state to);
bool rch_place_state_allowed(enum rch_place_state from, enum rch_place_state to);

#endif /* _RCH_PURE_STATE_H */
