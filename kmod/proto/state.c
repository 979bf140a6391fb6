// SPDX-License-Identifier: GPL-2.0
/*
 * state.c - which step may follow which
 *
 * One row for each state, one bit for each state that may follow.
 */
#include "state.h"

static const u8 chan_next[RCH_CHAN_STATES] = {
	[RCH_CHAN_CONNECTING] = BIT(RCH_CHAN_OPEN) | BIT(RCH_CHAN_FAILED) |
				BIT(RCH_CHAN_DEAD),
	[RCH_CHAN_WAITING] = BIT(RCH_CHAN_OPEN) | BIT(RCH_CHAN_PEER_CLOSED) |
			     BIT(RCH_CHAN_FAILED) | BIT(RCH_CHAN_CLOSING),
	[RCH_CHAN_OPEN] = BIT(RCH_CHAN_PEER_CLOSED) | BIT(RCH_CHAN_CLOSING) |
			  BIT(RCH_CHAN_FAILED),
	[RCH_CHAN_PEER_CLOSED] = BIT(RCH_CHAN_DEAD),
	[RCH_CHAN_CLOSING] = BIT(RCH_CHAN_DEAD),
	[RCH_CHAN_FAILED] = BIT(RCH_CHAN_DEAD),
	[RCH_CHAN_DEAD] = 0,
};

static const u8 link_next[RCH_LINK_STATES] = {
	[RCH_LINK_CONNECTING] = BIT(RCH_LINK_UP) | BIT(RCH_LINK_DEAD),
	[RCH_LINK_HELLO] = BIT(RCH_LINK_UP) | BIT(RCH_LINK_DEAD),
	[RCH_LINK_UP] = BIT(RCH_LINK_DEAD),
	[RCH_LINK_DEAD] = 0,
};

/* A state that may follow itself begins to wait anew. */
static const u16 place_next[RCH_PLACE_STATES] = {
	[RCH_PLACE_NEW] = BIT(RCH_PLACE_ASKED) | BIT(RCH_PLACE_TURN) | BIT(RCH_PLACE_STREAM) |
			  BIT(RCH_PLACE_OPENING) | BIT(RCH_PLACE_CLOSING) |
			  BIT(RCH_PLACE_STUCK) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_ASKED] = BIT(RCH_PLACE_TURN) | BIT(RCH_PLACE_STREAM) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_TURN] = BIT(RCH_PLACE_WRITING) | BIT(RCH_PLACE_HOLDING) |
			   BIT(RCH_PLACE_WRITTEN) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_WRITING] = BIT(RCH_PLACE_WRITING) | BIT(RCH_PLACE_HOLDING) |
			      BIT(RCH_PLACE_WRITTEN) | BIT(RCH_PLACE_ASKED) |
			      BIT(RCH_PLACE_FAILING) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_HOLDING] = BIT(RCH_PLACE_WRITING) | BIT(RCH_PLACE_WRITTEN) |
			      BIT(RCH_PLACE_FAILING),
	[RCH_PLACE_WRITTEN] = BIT(RCH_PLACE_FAILING) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_STREAM] = BIT(RCH_PLACE_OVER),
	[RCH_PLACE_FAILING] = BIT(RCH_PLACE_OVER),
	[RCH_PLACE_OPENING] = BIT(RCH_PLACE_OPEN) | BIT(RCH_PLACE_LENT) |
			      BIT(RCH_PLACE_CLOSING) | BIT(RCH_PLACE_STUCK) |
			      BIT(RCH_PLACE_OVER),
	[RCH_PLACE_OPEN] = BIT(RCH_PLACE_OPEN) | BIT(RCH_PLACE_OPENING) |
			   BIT(RCH_PLACE_CLOSING) | BIT(RCH_PLACE_STUCK) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_LENT] = BIT(RCH_PLACE_OPEN) | BIT(RCH_PLACE_RECALL) |
			   BIT(RCH_PLACE_CLOSING) | BIT(RCH_PLACE_STUCK) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_RECALL] = BIT(RCH_PLACE_RECALL) | BIT(RCH_PLACE_CLOSING) |
			     BIT(RCH_PLACE_STUCK) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_CLOSING] = BIT(RCH_PLACE_STUCK) | BIT(RCH_PLACE_OVER),
	[RCH_PLACE_STUCK] = BIT(RCH_PLACE_OVER),
	[RCH_PLACE_OVER] = 0,
};

/** rch_chan_state_allowed - whether a channel may go from @from to @to */
bool rch_chan_state_allowed(enum rch_chan_state from, enum rch_chan_state to)
{
	if (from >= RCH_CHAN_STATES || to >= RCH_CHAN_STATES)
		return false;
	return chan_next[from] & BIT(to);
}

/** rch_link_state_allowed - whether a link may go from @from to @to */
bool rch_link_state_allowed(enum rch_link_state from, enum rch_link_state to)
{
	if (from >= RCH_LINK_STATES || to >= RCH_LINK_STATES)
		return false;
	return link_next[from] & BIT(to);
}

/** rch_place_state_allowed - whether a transfer may go from @from to @to */
bool rch_place_state_allowed(enum rch_place_state from, enum rch_place_state to)
{
	if (from >= RCH_PLACE_STATES || to >= RCH_PLACE_STATES)
		return false;
	return place_next[from] & BIT(to);
}
