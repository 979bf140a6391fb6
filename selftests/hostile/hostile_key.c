// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_key.c - a peer closes keys of another link, by SEND with Invalidate
 *
 * rxe lets it. Nobody gets at memory by that, each key costs the peer a link, and a link ends only
 * when the closed key is used. An adapter that looks at the protection domain refuses.
 */
#include "hostile_lender.h"

/* The memory of a receive is lent to a peer that is honest. */

FIXTURE(lent) {
	struct attack a;
	struct lender l;
	struct rch_cts cts;
};

FIXTURE_SETUP(lent)
{
	attack_begin(&self->a);
	self->cts = borrow(&self->l, &self->a);
}

FIXTURE_TEARDOWN(lent)
{
	lender_end(&self->l, &self->a);
	EXPECT_TRUE(attack_end(&self->a));
}

/* By another link, which ends. */
static void close_foreign(struct attack *a, u32 key)
{
	struct hostile honest = a->h;
	u32 number;
	int chan;

	ASSERT_TRUE(attack_link(a));
	ASSERT_TRUE(attack_open(a, VICTIM_MINE, &number, &chan));
	a->h.close_key = key;
	ASSERT_EQ(hostile_pure(&a->h, 0), 0);
	if (is_iwarp())
		EXPECT_GE(attack_verdict(a, chan), 0);
	else
		EXPECT_EQ(attack_verdict(a, chan), RCH_RULE_KEY);
	hostile_end(&a->h);
	close(chan);
	a->h = honest;
}

static const struct {
	const char *name;
	/* The lying link has agreed upon closing keys. */
	bool keyed;
} agreements[] = {
	{ "agreed_upon", true },
	{ "not_agreed_upon", false },
};

TEST_F_ROWS(lent, key_closed_by_another_link, agreements)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;

	a->keyed = row->keyed;
	close_foreign(a, self->cts.rkey);
	write_there(a, &self->cts, 2);
	say_rts(a, RCH_RTS_F_PLACED, SIZE, self->cts.serial);
	if (is_iwarp()) {
		EXPECT_EQ(result(l, a, TAG), SIZE);
		EXPECT_TRUE(is_filled(l, 2));
		return;
	}
	EXPECT_TRUE(attack_blamed(a));
	EXPECT_LT(result(l, a, TAG), 0);
	EXPECT_TRUE(is_filled(l, 0x55));
}

/* The module takes the memory back, and closes what is closed. */
TEST_F(lent, closed_key_is_not_used)
{
	struct attack *a = &self->a;
	struct lender *l = &self->l;
	struct rch_cts none;

	close_foreign(a, self->cts.rkey);
	expect_alive(a);
	cancel(l);
	EXPECT_EQ(result(l, a, CANCEL), -EALREADY);
	none = cts_heard(a, 3);
	EXPECT_EQ(none.length, 0);
	give_back(a, self->cts.serial);
	EXPECT_EQ(result(l, a, TAG), -ECANCELED);
	/* The next has a key that is valid. */
	receive(l, a);
	say_rts(a, 0, SIZE, 2);
	self->cts = cts_heard(a, 4);
	write_there(a, &self->cts, 3);
	say_fin(a);
	EXPECT_EQ(result(l, a, TAG), SIZE);
	EXPECT_TRUE(is_filled(l, 3));
	expect_alive(a);
}

TEST_HARNESS_MAIN
