// SPDX-License-Identifier: GPL-2.0
/*
 * state.c - tests of the tables of states
 *
 * The expectation is told as the life of a channel and of a link, step by step,
 * and in other words than the tables: a step that is not told here must be refused.
 */
#include "../pure/state.h"
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

static struct kunit_case cases[] = {
	KUNIT_CASE(state_chan),
	KUNIT_CASE(state_link),
	KUNIT_CASE(state_end),
	KUNIT_CASE(state_out_of_range),
	{}
};

struct kunit_suite rch_state_suite = {
	.name = "rdmachan_state",
	.test_cases = cases,
};
