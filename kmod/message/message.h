/* SPDX-License-Identifier: GPL-2.0 */
/*
 * message.h - messages and what belongs to them, whichever way they take
 */
#ifndef _RCH_MESSAGE_H
#define _RCH_MESSAGE_H

#include "pure/wire.h"

struct page;
struct rch_lane;

/* record.c APIs: softirq */
enum rch_rule rch_record_got(struct rch_lane *lane, const struct rch_record *r,
			     struct page *page);

#endif /* _RCH_MESSAGE_H */
