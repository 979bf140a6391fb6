/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctx.h - contexts: what open("/dev/rdmachan") gives
 */
#ifndef _RCH_CTX_H
#define _RCH_CTX_H

#include "base/quota.h"

struct net;
struct rch_regions;
struct rdmachan_object;

/**
 * struct rch_ctx - a program's way in
 * @net: network namespace of the opener; referenced
 * @charge: its share of the limits. Its user is the trust domain: the effective user id
 *	of the opener; listeners and channels belong to him, and are exempt as he is
 * @regions: its regions; referenced
 * @created_ns: when, on CLOCK_REALTIME
 */
struct rch_ctx {
	struct net *net;
	struct rch_charge charge;
	struct rch_regions *regions;
	u64 created_ns;
};

struct rch_ctx *rch_ctx_create(void);
void rch_ctx_describe(const struct rch_ctx *ctx, struct rdmachan_object *out);
void rch_ctx_destroy(struct rch_ctx *ctx);

#endif /* _RCH_CTX_H */
