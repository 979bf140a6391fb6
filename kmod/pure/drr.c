// SPDX-License-Identifier: GPL-2.0
/*
 * drr.c - deficit round robin over the channels of a link
 */
#include "drr.h"

/**
 * rch_drr_add - a flow has something to send
 * @d: round
 * @f: flow that is in no round, with its cost set; it comes last
 */
void rch_drr_add(struct rch_drr *d, struct rch_flow *f)
{
	if (!d->head) {
		f->next = f;
		f->prev = f;
		d->head = f;
		return;
	}
	f->next = d->head;
	f->prev = d->head->prev;
	f->prev->next = f;
	f->next->prev = f;
}

/**
 * rch_drr_remove - a flow has nothing more to send, or must wait for its window
 * @d: round
 * @f: flow that is in it; unused credit is forfeit
 */
void rch_drr_remove(struct rch_drr *d, struct rch_flow *f)
{
	if (f->next == f) {
		d->head = NULL;
	} else {
		f->prev->next = f->next;
		f->next->prev = f->prev;
		if (d->head == f)
			d->head = f->next;
	}
	f->next = NULL;
	f->prev = NULL;
	f->deficit = 0;
}

/**
 * rch_drr_pick - whose item is sent next
 * @d: round
 *
 * Ends after at most cost / quantum rounds, for a quantum above 0.
 * Return: the flow, or NULL when nobody has anything to send.
 */
struct rch_flow *rch_drr_pick(struct rch_drr *d)
{
	struct rch_flow *f = d->head;

	while (f && f->deficit < f->cost) {
		f->deficit += d->quantum * f->weight;
		f = f->next;
		d->head = f;
	}
	return f;
}
