/* SPDX-License-Identifier: GPL-2.0 */
/*
 * way.h - which way a message goes
 *
 * A message is *copied*, into frames and out of them, or *placed*: its pages are written to where
 * the peer's program wants it. Placing spares two copies, and costs a key and words about it; of
 * pages that are not in a region, pinning them as well, at both ends.
 *
 * The size decides, and whether the pages are pinned. The device does by what it can: one that
 * lends no memory has every message copied, as its host says no to who asks, and lends none by
 * itself. It does not by what it is: rxe and siw were measured, and have no need of sizes of their
 * own. Adapters in hardware were not measured. See "From which size on" in
 * Documentation/internals.rst.
 */
#ifndef _RCH_PURE_WAY_H
#define _RCH_PURE_WAY_H

#include "types.h"

/** RCH_WAY_REGION_MIN - bytes from which on a message is placed whose pages are a region's */
#define RCH_WAY_REGION_MIN	32768U
/** RCH_WAY_PAGES_MIN - and one whose pages are to be pinned for it */
#define RCH_WAY_PAGES_MIN	65536U

/**
 * rch_way_is_placed - whether a message is to be placed, if it can be
 * @bytes: of the message; or of the room there is for one that is still to come
 * @pinned: that memory is a region's
 */
static inline bool rch_way_is_placed(u64 bytes, bool pinned)
{
	return bytes >= (pinned ? RCH_WAY_REGION_MIN : RCH_WAY_PAGES_MIN);
}

#endif /* _RCH_PURE_WAY_H */
