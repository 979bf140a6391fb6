/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctx.h - contexts: what open("/dev/rdmachan") gives
 */
#ifndef _RCH_CTX_H
#define _RCH_CTX_H

#include <linux/uidgid.h>

struct net;

/**
 * struct rch_ctx - a program's way in
 * @net: network namespace of who opened; referenced
 * @uid: trust domain: effective user id of who opened
 */
struct rch_ctx {
	struct net *net;
	kuid_t uid;
};

struct rch_ctx *rch_ctx_create(void);
void rch_ctx_destroy(struct rch_ctx *ctx);

#endif /* _RCH_CTX_H */
