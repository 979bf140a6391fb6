// SPDX-License-Identifier: GPL-2.0
/*
 * state.c - tests of the tables of states
 *
 * The expectation is told as the life of a channel, a link and a transfer, step by step, and in
 * other words than the tables: a step that is not told here must be refused.
 */
#include "../proto/state.h"
#include "suites.h"

struct step {
	u8 from;
	u8 to;
	const char *why;
};

static const struct step chan_steps[] = {
	{ RCH_CHAN_CONNECTING, RCH_CHAN_OPEN, "ACCEPT came" },
	{ RCH_CHAN_CONNECTING, RCH_CHAN_FAILED, "REJECT, timeout, no link" },
	{ RCH_CHAN_CONNECTING, RCH_CHAN_DEAD, "closed before there was an answer" },
	{ RCH_CHAN_WAITING, RCH_CHAN_OPEN, "a program accepts" },
	{ RCH_CHAN_WAITING, RCH_CHAN_PEER_CLOSED, "CLOSE came first" },
	{ RCH_CHAN_WAITING, RCH_CHAN_FAILED, "the link ended first" },
	{ RCH_CHAN_WAITING, RCH_CHAN_CLOSING, "the listener was closed" },
	{ RCH_CHAN_OPEN, RCH_CHAN_PEER_CLOSED, "CLOSE came" },
	{ RCH_CHAN_OPEN, RCH_CHAN_CLOSING, "the program closes" },
	{ RCH_CHAN_OPEN, RCH_CHAN_FAILED, "the link ended" },
	{ RCH_CHAN_PEER_CLOSED, RCH_CHAN_DEAD, "the program closes" },
	{ RCH_CHAN_CLOSING, RCH_CHAN_DEAD, "CLOSED came, or it took too long" },
	{ RCH_CHAN_FAILED, RCH_CHAN_DEAD, "the program closes" },
};

static const struct step link_steps[] = {
	{ RCH_LINK_CONNECTING, RCH_LINK_UP, "active side: established" },
	{ RCH_LINK_CONNECTING, RCH_LINK_DEAD, "refused, timeout" },
	{ RCH_LINK_HELLO, RCH_LINK_UP, "passive side: the first frame came" },
	{ RCH_LINK_HELLO, RCH_LINK_DEAD, "it did not come" },
	{ RCH_LINK_UP, RCH_LINK_DEAD, "idle, or failed" },
};

static const struct step place_steps[] = {
	{ RCH_PLACE_NEW, RCH_PLACE_ASKED, "RTS is sent" },
	{ RCH_PLACE_NEW, RCH_PLACE_TURN, "the peer has advertised a buffer" },
	{ RCH_PLACE_NEW, RCH_PLACE_STREAM, "from a region, in segments" },
	{ RCH_PLACE_NEW, RCH_PLACE_OVER, "to be copied; the channel has ended; nothing to open" },
	{ RCH_PLACE_ASKED, RCH_PLACE_TURN, "CTS came, or an advert that crossed RTS" },
	{ RCH_PLACE_ASKED, RCH_PLACE_STREAM, "the peer's CTS is empty" },
	{ RCH_PLACE_ASKED, RCH_PLACE_OVER, "the same, to be copied; stopped; the channel ended" },
	{ RCH_PLACE_TURN, RCH_PLACE_WRITING, "a part is posted, or FIN needs another piece" },
	{ RCH_PLACE_TURN, RCH_PLACE_HOLDING, "all is posted, an answer may be lent" },
	{ RCH_PLACE_TURN, RCH_PLACE_WRITTEN, "all is posted, and FIN" },
	{ RCH_PLACE_TURN, RCH_PLACE_OVER, "stopped; the channel ended" },
	{ RCH_PLACE_WRITING, RCH_PLACE_WRITING, "the next batch is posted" },
	{ RCH_PLACE_WRITING, RCH_PLACE_HOLDING, "the last batch is posted" },
	{ RCH_PLACE_WRITING, RCH_PLACE_WRITTEN, "the last batch is posted, and FIN" },
	{ RCH_PLACE_WRITING, RCH_PLACE_ASKED, "a piece is written, the next CTS is due" },
	{ RCH_PLACE_WRITING, RCH_PLACE_FAILING, "a write failed" },
	{ RCH_PLACE_WRITING, RCH_PLACE_OVER, "FIN could not be sent; left alone" },
	{ RCH_PLACE_HOLDING, RCH_PLACE_WRITING, "FIN could not be sent" },
	{ RCH_PLACE_HOLDING, RCH_PLACE_WRITTEN, "FIN is sent" },
	{ RCH_PLACE_HOLDING, RCH_PLACE_FAILING, "a write failed" },
	{ RCH_PLACE_WRITTEN, RCH_PLACE_FAILING, "a write failed" },
	{ RCH_PLACE_WRITTEN, RCH_PLACE_OVER, "sent" },
	{ RCH_PLACE_STREAM, RCH_PLACE_OVER, "sent; stopped; the channel ended" },
	{ RCH_PLACE_FAILING, RCH_PLACE_OVER, "the channel has failed" },
	{ RCH_PLACE_NEW, RCH_PLACE_OPENING, "the registration is posted" },
	{ RCH_PLACE_NEW, RCH_PLACE_CLOSING, "it could not be posted, the region was open" },
	{ RCH_PLACE_NEW, RCH_PLACE_STUCK, "nor could its end" },
	{ RCH_PLACE_OPENING, RCH_PLACE_OPEN, "CTS is sent" },
	{ RCH_PLACE_OPENING, RCH_PLACE_LENT, "the buffer is advertised" },
	{ RCH_PLACE_OPENING, RCH_PLACE_CLOSING, "nobody wants it any more" },
	{ RCH_PLACE_OPENING, RCH_PLACE_STUCK, "and it could not be closed" },
	{ RCH_PLACE_OPENING, RCH_PLACE_OVER, "it did not open" },
	{ RCH_PLACE_OPEN, RCH_PLACE_OPEN, "the peer is busy with other messages" },
	{ RCH_PLACE_OPEN, RCH_PLACE_OPENING, "FIN of a piece that is not the last" },
	{ RCH_PLACE_OPEN, RCH_PLACE_CLOSING, "FIN; the channel ended" },
	{ RCH_PLACE_OPEN, RCH_PLACE_STUCK, "and it could not be closed" },
	{ RCH_PLACE_OPEN, RCH_PLACE_OVER, "FIN, and the peer has closed it" },
	{ RCH_PLACE_LENT, RCH_PLACE_OPEN, "RTS crossed it: it is the answer" },
	{ RCH_PLACE_LENT, RCH_PLACE_RECALL, "the program, or another message, wants it back" },
	{ RCH_PLACE_LENT, RCH_PLACE_CLOSING, "PLACED; RTS of a larger message" },
	{ RCH_PLACE_LENT, RCH_PLACE_STUCK, "and it could not be closed" },
	{ RCH_PLACE_LENT, RCH_PLACE_OVER, "PLACED, and the peer has closed it" },
	{ RCH_PLACE_RECALL, RCH_PLACE_RECALL, "the peer is busy with others; it has answered" },
	{ RCH_PLACE_RECALL, RCH_PLACE_CLOSING, "returned, or PLACED" },
	{ RCH_PLACE_RECALL, RCH_PLACE_STUCK, "and it could not be closed" },
	{ RCH_PLACE_RECALL, RCH_PLACE_OVER, "PLACED, and the peer has closed it" },
	{ RCH_PLACE_CLOSING, RCH_PLACE_STUCK, "the invalidation failed" },
	{ RCH_PLACE_CLOSING, RCH_PLACE_OVER, "closed" },
	{ RCH_PLACE_STUCK, RCH_PLACE_OVER, "the path is drained" },
};

static const char *told(const struct step *steps, int n, int from, int to)
{
	int i;

	for (i = 0; i < n; i++)
		if (steps[i].from == from && steps[i].to == to)
			return steps[i].why;
	return NULL;
}

static void state_chan(struct kunit *test)
{
	int from, to;

	for (from = 0; from < RCH_CHAN_STATES; from++)
		for (to = 0; to < RCH_CHAN_STATES; to++) {
			const char *why = told(chan_steps, ARRAY_SIZE(chan_steps),
					       from, to);

			KUNIT_EXPECT_EQ_MSG(test, rch_chan_state_allowed(from, to),
					    !!why, "%d to %d: %s", from, to,
					    why ?: "never");
		}
}

static void state_link(struct kunit *test)
{
	int from, to;

	for (from = 0; from < RCH_LINK_STATES; from++)
		for (to = 0; to < RCH_LINK_STATES; to++) {
			const char *why = told(link_steps, ARRAY_SIZE(link_steps),
					       from, to);

			KUNIT_EXPECT_EQ_MSG(test, rch_link_state_allowed(from, to),
					    !!why, "%d to %d: %s", from, to,
					    why ?: "never");
		}
}

static void state_place(struct kunit *test)
{
	int from, to;

	for (from = 0; from < RCH_PLACE_STATES; from++)
		for (to = 0; to < RCH_PLACE_STATES; to++) {
			const char *why = told(place_steps, ARRAY_SIZE(place_steps), from, to);

			KUNIT_EXPECT_EQ_MSG(test, rch_place_state_allowed(from, to), !!why,
					    "%d to %d: %s", from, to, why ?: "never");
		}
}

static bool sends(int state)
{
	return state >= RCH_PLACE_ASKED && state <= RCH_PLACE_FAILING;
}

static bool receives(int state)
{
	return state >= RCH_PLACE_OPENING && state <= RCH_PLACE_STUCK;
}

/* A transfer that sends never waits for what one that receives does. */
static void state_place_sides(struct kunit *test)
{
	int from, to;

	for (from = 0; from < RCH_PLACE_STATES; from++)
		for (to = 0; to < RCH_PLACE_STATES; to++)
			if ((sends(from) && receives(to)) || (receives(from) && sends(to)) ||
			    to == RCH_PLACE_NEW)
				KUNIT_EXPECT_FALSE_MSG(test, rch_place_state_allowed(from, to),
						       "%d to %d", from, to);
}

/* From each state there is a way to the end that enters no state twice. */
static void state_place_ends(struct kunit *test)
{
	unsigned long ends = BIT(RCH_PLACE_OVER), before;
	int from, to;

	do {
		before = ends;
		for (from = 0; from < RCH_PLACE_STATES; from++)
			for (to = 0; to < RCH_PLACE_STATES; to++)
				if ((ends & BIT(to)) && rch_place_state_allowed(from, to))
					ends |= BIT(from);
	} while (ends != before);
	KUNIT_EXPECT_EQ(test, ends, BIT(RCH_PLACE_STATES) - 1);
}

/* Whatever happens, an object can die, and the dead stay dead. */
static void state_end(struct kunit *test)
{
	int mid, from;

	for (from = 0; from < RCH_CHAN_DEAD; from++) {
		bool dies = rch_chan_state_allowed(from, RCH_CHAN_DEAD);

		for (mid = 0; mid < RCH_CHAN_DEAD; mid++)
			dies |= rch_chan_state_allowed(from, mid) &&
				rch_chan_state_allowed(mid, RCH_CHAN_DEAD);
		KUNIT_EXPECT_TRUE_MSG(test, dies, "channel state %d", from);
	}
	for (from = 0; from < RCH_LINK_DEAD; from++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      rch_link_state_allowed(from, RCH_LINK_DEAD),
				      "link state %d", from);
}

static void state_out_of_range(struct kunit *test)
{
	static const int wild[] = {
		RCH_CHAN_STATES, RCH_CHAN_STATES + 1, 31, 32, 64, 255, 256,
		INT_MAX, INT_MIN, -1,
	};
	int i, s;

	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		for (s = 0; s < RCH_CHAN_STATES; s++) {
			KUNIT_EXPECT_FALSE(test, rch_chan_state_allowed(wild[i], s));
			KUNIT_EXPECT_FALSE(test, rch_chan_state_allowed(s, wild[i]));
			KUNIT_EXPECT_FALSE(test, rch_link_state_allowed(wild[i], s));
			KUNIT_EXPECT_FALSE(test, rch_link_state_allowed(s, wild[i]));
		}
		KUNIT_EXPECT_FALSE(test, rch_chan_state_allowed(wild[i], wild[i]));
		KUNIT_EXPECT_FALSE(test, rch_link_state_allowed(wild[i], wild[i]));
	}
}

static void state_place_out_of_range(struct kunit *test)
{
	static const int wild[] = {
		RCH_PLACE_STATES, RCH_PLACE_STATES + 1, 31, 32, 64, INT_MAX, INT_MIN, -1,
	};
	int i, s;

	for (i = 0; i < ARRAY_SIZE(wild); i++)
		for (s = 0; s < RCH_PLACE_STATES; s++) {
			KUNIT_EXPECT_FALSE(test, rch_place_state_allowed(wild[i], s));
			KUNIT_EXPECT_FALSE(test, rch_place_state_allowed(s, wild[i]));
		}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(state_chan),
	KUNIT_CASE(state_link),
	KUNIT_CASE(state_place),
	KUNIT_CASE(state_place_sides),
	KUNIT_CASE(state_place_ends),
	KUNIT_CASE(state_end),
	KUNIT_CASE(state_out_of_range),
	KUNIT_CASE(state_place_out_of_range),
	{}
};

struct kunit_suite rch_state_suite = {
	.name = "rdmachan_state",
	.test_cases = cases,
};
