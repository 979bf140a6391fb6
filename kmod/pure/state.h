/* SPDX-License-Identifier: GPL-2.0 */
/*
 * state.h - states of channels and links, and the steps between them
 */
#ifndef _RCH_PURE_STATE_H
#define _RCH_PURE_STATE_H

#include "types.h"

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

bool rch_chan_state_allowed(enum rch_chan_state from, enum rch_chan_state to);
bool rch_link_state_allowed(enum rch_link_state from, enum rch_link_state to);

#endif /* _RCH_PURE_STATE_H */
