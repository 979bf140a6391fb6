// SPDX-License-Identifier: GPL-2.0
/*
 * drr.c - tests of deficit round robin
 */
#include "../pure/drr.h"
#include "suites.h"

#define FLOWS		8
#define PICKS		20000
#define COST_MAX	16400U

struct round_case {
	const char *name;
	u32 quantum;
	u32 cost_min[FLOWS];
	u32 cost_max[FLOWS];
	u32 weight[FLOWS];
};

/* Flows with weight 0 are not there. */
static const struct round_case round_cases[] = {
	{ "one", 4096, { 1 }, { 16400 }, { 1 } },
	{ "two alike", 4096, { 100, 100 }, { 100, 100 }, { 1, 1 } },
	{ "small against large", 4096, { 1, 16400 }, { 16, 16400 }, { 1, 1 } },
	{ "quantum below all costs", 64, { 900, 16400, 80 }, { 1200, 16400, 90 },
	  { 1, 1, 1 } },
	{ "quantum of one byte", 1, { 1, 30, 5 }, { 9, 50, 5 }, { 1, 1, 1 } },
	{ "quantum above all costs", 1 << 17, { 1, 1000, 16000 },
	  { 100, 2000, 16400 }, { 1, 1, 1 } },
	{ "weights", 1500, { 1, 1, 1, 1 }, { 9000, 9000, 64, 16400 },
	  { 1, 2, 3, 100 } },
	{ "all different", 2048, { 1, 64, 1, 16400, 1, 8000, 17, 1 },
	  { 16400, 64, 64, 16400, 200, 8001, 1700, 100 }, { 1, 1, 2, 1, 3, 1, 7, 1 } },
};

static void round_desc(const struct round_case *rc, char *desc)
{
	strscpy(desc, rc->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(round, round_cases, round_desc);

static u32 next_cost(const struct round_case *rc, int i, struct rnd_state *rnd)
{
	return rc->cost_min[i] +
	       rch_below(rnd, rc->cost_max[i] - rc->cost_min[i] + 1);
}

/*
 * Flows that always have more: at every moment two of them have got, by bytes and
 * weight, the same within a quantum and the largest item.
 */
static void drr_fair(struct kunit *test)
{
	const struct round_case *rc = test->param_value;
	struct rch_drr d = { .quantum = rc->quantum };
	struct rch_flow flows[FLOWS] = {};
	u64 bytes[FLOWS] = {}, least, most;
	struct rnd_state rnd;
	struct rch_flow *f;
	int i, n, pick;

	prandom_seed_state(&rnd, 1);
	for (n = 0; n < FLOWS && rc->weight[n]; n++) {
		rch_flow_init(&flows[n], rc->weight[n]);
		flows[n].cost = next_cost(rc, n, &rnd);
		rch_drr_add(&d, &flows[n]);
	}
	for (pick = 0; pick < PICKS; pick++) {
		f = rch_drr_pick(&d);
		KUNIT_ASSERT_NOT_NULL(test, f);
		i = f - flows;
		KUNIT_ASSERT_GE(test, f->deficit, f->cost);
		bytes[i] += f->cost;
		rch_drr_charge(f, f->cost);
		f->cost = next_cost(rc, i, &rnd);
		least = U64_MAX;
		most = 0;
		for (i = 0; i < n; i++) {
			least = min(least, div_u64(bytes[i], flows[i].weight));
			most = max(most, div_u64(bytes[i], flows[i].weight) + 1);
		}
		KUNIT_ASSERT_LE_MSG(test, most - least,
				    (u64)rc->quantum + COST_MAX + 1, "pick %d", pick);
	}
	KUNIT_EXPECT_GT(test, least, 0);
}

/* Is the round what an array says, forwards and backwards? "" when it is. */
static const char *round_wrong(const struct rch_drr *d, struct rch_flow *const *order,
			       int n)
{
	const struct rch_flow *f = d->head;
	int i;

	if (!n)
		return f ? "there is a head, but no flow" : "";
	for (i = 0; i < n; i++, f = f->next) {
		if (f != order[i])
			return "wrong order";
		if (!rch_flow_active(f))
			return "in the round, but not active";
		if (f->next->prev != f || f->prev->next != f)
			return "links do not match";
	}
	return f == d->head ? "" : "the round does not close";
}

static const char *flow_wrong(const struct rch_flow *f)
{
	if (rch_flow_active(f) || f->prev)
		return "taken out, but still linked";
	return f->deficit ? "taken out, but keeps its deficit" : "";
}

/* Take one out at each position of rounds of each size, and add it again. */
static void drr_positions(struct kunit *test)
{
	struct rch_flow flows[FLOWS], *order[FLOWS];
	int size, at, i;

	for (size = 1; size <= FLOWS; size++)
		for (at = 0; at < size; at++) {
			struct rch_drr d = { .quantum = 10 };

			for (i = 0; i < size; i++) {
				rch_flow_init(&flows[i], 1);
				KUNIT_EXPECT_FALSE(test, rch_flow_active(&flows[i]));
				flows[i].cost = 5;
				rch_drr_add(&d, &flows[i]);
				order[i] = &flows[i];
			}
			KUNIT_EXPECT_STREQ(test, round_wrong(&d, order, size), "");
			flows[at].deficit = 7;
			rch_drr_remove(&d, &flows[at]);
			KUNIT_EXPECT_STREQ(test, flow_wrong(&flows[at]), "");
			for (i = at; i < size - 1; i++)
				order[i] = order[i + 1];
			KUNIT_EXPECT_STREQ(test, round_wrong(&d, order, size - 1), "");
			rch_drr_add(&d, &flows[at]);
			order[size - 1] = &flows[at];
			KUNIT_EXPECT_STREQ(test, round_wrong(&d, order, size), "");
		}
}

/* Flows come and go at random; an array, rotated as picks do, is the model. */
static void drr_churn(struct kunit *test)
{
	struct rch_flow flows[FLOWS], *order[FLOWS], *f;
	struct rch_drr d = { .quantum = 3000 };
	struct rnd_state rnd;
	int n = 0, i, k, step;

	prandom_seed_state(&rnd, 2);
	for (i = 0; i < FLOWS; i++)
		rch_flow_init(&flows[i], 1 + i % 3);
	for (step = 0; step < PICKS; step++) {
		i = rch_below(&rnd, FLOWS);
		f = &flows[i];
		if (rch_chance(&rnd, 2)) {
			f = rch_drr_pick(&d);
			KUNIT_ASSERT_EQ(test, !f, !n);
			if (!f)
				continue;
			for (i = 0; order[0] != f && i < n; i++) {
				struct rch_flow *first = order[0];

				for (k = 0; k < n - 1; k++)
					order[k] = order[k + 1];
				order[n - 1] = first;
			}
			rch_drr_charge(f, f->cost);
			f->cost = 1 + rch_below(&rnd, COST_MAX);
		} else if (!rch_flow_active(f)) {
			f->cost = 1 + rch_below(&rnd, COST_MAX);
			rch_drr_add(&d, f);
			order[n++] = f;
		} else {
			rch_drr_remove(&d, f);
			KUNIT_ASSERT_STREQ(test, flow_wrong(f), "");
			for (k = 0; order[k] != f; k++)
				;
			for (n--; k < n; k++)
				order[k] = order[k + 1];
		}
		KUNIT_ASSERT_STREQ_MSG(test, round_wrong(&d, order, n), "",
				       "step %d", step);
	}
}

/* However much the others have, a flow that comes new waits one round at most. */
static void drr_newcomer(struct kunit *test)
{
	struct rch_drr d = { .quantum = 2048 };
	struct rch_flow flows[FLOWS], *f;
	struct rnd_state rnd;
	u32 waited = 0;
	int i, k;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < FLOWS; i++)
		rch_flow_init(&flows[i], 1);
	for (i = 1; i < FLOWS; i++) {
		flows[i].cost = COST_MAX;
		rch_drr_add(&d, &flows[i]);
	}
	for (k = 0; k < 500; k++) {
		for (i = rch_below(&rnd, 50); i; i--) {
			f = rch_drr_pick(&d);
			rch_drr_charge(f, f->cost);
		}
		flows[0].cost = 1 + rch_below(&rnd, d.quantum);
		rch_drr_add(&d, &flows[0]);
		for (waited = 0; (f = rch_drr_pick(&d)) != &flows[0]; waited += f->cost)
			rch_drr_charge(f, f->cost);
		/* A visit without a quantum to spend, and one with it. */
		KUNIT_ASSERT_LE(test, waited, 2 * (FLOWS - 1) * (d.quantum + COST_MAX));
		rch_drr_remove(&d, f);
	}
}

static void drr_empty(struct kunit *test)
{
	struct rch_drr d = { .quantum = 1 };
	struct rch_flow f;

	KUNIT_EXPECT_NULL(test, rch_drr_pick(&d));
	rch_flow_init(&f, 1);

	/* An item without cost needs no deficit; one too dear ends at zero. */
	rch_drr_add(&d, &f);
	KUNIT_EXPECT_PTR_EQ(test, rch_drr_pick(&d), &f);
	KUNIT_EXPECT_EQ(test, f.deficit, 0);
	rch_drr_charge(&f, 100);
	KUNIT_EXPECT_EQ(test, f.deficit, 0);
	rch_drr_remove(&d, &f);
	KUNIT_EXPECT_NULL(test, rch_drr_pick(&d));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(drr_empty),
	KUNIT_CASE(drr_positions),
	KUNIT_CASE(drr_churn),
	KUNIT_CASE(drr_newcomer),
	KUNIT_CASE_PARAM(drr_fair, round_gen_params),
	{}
};

struct kunit_suite rch_drr_suite = {
	.name = "rdmachan_drr",
	.test_cases = cases,
};
