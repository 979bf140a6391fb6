// SPDX-License-Identifier: GPL-2.0
/*
 * mutate.c - makes cases, and others of them
 *
 * Most of a new case is as it should be: a case that is wrong everywhere gets nowhere.
 */
#include <string.h>

#include "common.h"
#include "abi_fuzz.h"

static unsigned int below(uint64_t *seed, unsigned int limit)
{
	return next_random(seed) % limit;
}

static bool one_in(uint64_t *seed, unsigned int n)
{
	return !below(seed, n);
}

static unsigned int choose_op(uint64_t *seed)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < ops_count; i++)
		sum += ops[i].weight;
	at = below(seed, sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return i;
}

static unsigned int op_that(long (*run)(struct actor *actor, const struct call *call))
{
	unsigned int i = 0;

	while (ops[i].run != run)
		i++;
	return i;
}

/* Small numbers are what tables are indexed by, mostly. */
static uint8_t some_value(uint64_t *seed)
{
	switch (below(seed, 8)) {
	case 0:
		return below(seed, 256);
	case 1:
		return below(seed, 16) * 16;
	default:
		return below(seed, 16);
	}
}

/* The two ends of a channel are as good as each other. */
static uint8_t some_slot(uint8_t home, uint64_t *seed)
{
	if (one_in(seed, 8))
		return below(seed, SLOTS);
	if (home == SLOT_CHAN || home == SLOT_PEER)
		return below(seed, 2) ? SLOT_CHAN : SLOT_PEER;
	return home;
}

static void some_call(struct call *call, uint64_t *seed)
{
	const struct op *op;
	unsigned int i;

	memset(call, 0, sizeof(*call));
	call->op = choose_op(seed);
	/* A child costs as much as a hundred other calls. */
	if (ops[call->op].run == call_fork && !one_in(seed, 4))
		call->op = choose_op(seed);
	op = &ops[call->op];
	call->slot = some_slot(op->home, seed);
	call->to = one_in(seed, 4) ? below(seed, SLOTS) : op->to;
	if (one_in(seed, 3))
		call->thread = below(seed, THREADS_MAX);
	if (one_in(seed, 3))
		call->times = below(seed, 6);
	for (i = 0; i < VALUES; i++)
		if (one_in(seed, 4))
			call->value[i] = some_value(seed);
}

static void insert(struct abi_case *c, unsigned int index, const struct call *call)
{
	if (c->count == CALLS_MAX)
		return;
	memmove(&c->calls[index + 1], &c->calls[index],
		(c->count - index) * sizeof(*c->calls));
	c->calls[index] = *call;
	c->count++;
}

void case_drop_call(struct abi_case *c, unsigned int index)
{
	c->count--;
	memmove(&c->calls[index], &c->calls[index + 1],
		(c->count - index) * sizeof(*c->calls));
}

static void plain(struct abi_case *c, long (*run)(struct actor *actor, const struct call *call))
{
	struct call call = { .op = op_that(run) };

	call.slot = ops[call.op].home;
	call.to = ops[call.op].to;
	insert(c, c->count, &call);
}

/* A beginning, and some calls. */
void case_make(struct abi_case *c, uint64_t *seed)
{
	unsigned int depth = below(seed, 8), calls = 1 + below(seed, 30);
	struct call call;

	memset(c, 0, sizeof(*c));
	plain(c, call_open);
	if (depth > 0)
		plain(c, call_listen);
	if (depth > 1)
		plain(c, call_connect);
	if (depth > 2)
		plain(c, call_accept);
	if (depth > 5)
		plain(c, call_queue);
	if (depth > 6)
		plain(c, call_pool);
	while (calls--) {
		some_call(&call, seed);
		insert(c, c->count, &call);
	}
}

static void change_call(struct call *call, uint64_t *seed)
{
	switch (below(seed, 8)) {
	case 0:
		call->thread = below(seed, THREADS_MAX);
		break;
	case 1:
		call->slot = below(seed, SLOTS);
		break;
	case 2:
		call->to = below(seed, SLOTS);
		break;
	case 3:
		call->times = below(seed, 6);
		break;
	case 4:
		call->op = choose_op(seed);
		break;
	default:
		call->value[below(seed, VALUES)] = one_in(seed, 4) ? 0 : some_value(seed);
	}
}

/* Calls of another case, behind those up to somewhere. */
static void splice_in(struct abi_case *c, const struct abi_case *other, uint64_t *seed)
{
	unsigned int from = below(seed, other->count), i;

	c->count = 1 + below(seed, c->count);
	for (i = from; i < other->count; i++)
		insert(c, c->count, &other->calls[i]);
}

static void mutate_once(struct abi_case *c, const struct abi_case *other, uint64_t *seed)
{
	unsigned int at = below(seed, c->count);
	struct call call;

	switch (below(seed, 10)) {
	case 0:
	case 1:
	case 2:
		some_call(&call, seed);
		insert(c, below(seed, c->count + 1), &call);
		break;
	case 3:
		if (c->count > 1)
			case_drop_call(c, at);
		break;
	case 4:
		call = c->calls[at];
		insert(c, below(seed, c->count + 1), &call);
		break;
	case 5:
		splice_in(c, other, seed);
		break;
	default:
		change_call(&c->calls[at], seed);
	}
}

/* @other is where calls may be taken from. */
void case_mutate(struct abi_case *c, const struct abi_case *other, uint64_t *seed)
{
	unsigned int times = 1 + below(seed, 4);

	while (times--)
		mutate_once(c, other, seed);
	/* Minimising has made all of them one. */
	while (one_in(seed, 2))
		c->calls[below(seed, c->count)].times = below(seed, 6);
}
