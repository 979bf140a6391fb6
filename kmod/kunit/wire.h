/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire.h - what the suites of the wire share
 */
#ifndef _RCH_KUNIT_WIRE_H
#define _RCH_KUNIT_WIRE_H

#include "../proto/wire.h"

struct kunit;

void *rch_exact(struct kunit *test, const void *src, u32 len);

/** rch_wire_inside - whether the record that @c has just passed lies in its frame */
static inline bool rch_wire_inside(const struct rch_cursor *c,
				   const struct rch_record *r)
{
	u32 at = r->payload - c->buf;

	return c->offset <= c->end && c->offset % RCH_WIRE_ALIGN == 0 &&
	       at >= sizeof(struct rch_wire_frame) + sizeof(struct rch_wire_record) &&
	       at <= c->offset && r->length <= c->offset - at;
}

#endif /* _RCH_KUNIT_WIRE_H */
