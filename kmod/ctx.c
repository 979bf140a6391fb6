// SPDX-License-Identifier: GPL-2.0
/*
 * ctx.c - contexts
 */
#include <linux/cred.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "ctx.h"
#include "inject.h"
#include "rch.h"

/** rch_ctx_create - for the calling program. Return: the context, or NULL */
struct rch_ctx *rch_ctx_create(void)
{
	struct rch_ctx *ctx = rch_try(RCH_SITE_CONTEXT,
				      kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT));

	if (!ctx)
		return NULL;
	ctx->net = get_net(current->nsproxy->net_ns);
	ctx->uid = current_euid();
	atomic_inc(&rch_counts.contexts);
	return ctx;
}

/** rch_ctx_destroy - its file is closed; listeners and channels live on */
void rch_ctx_destroy(struct rch_ctx *ctx)
{
	put_net(ctx->net);
	kfree(ctx);
	atomic_dec(&rch_counts.contexts);
}
