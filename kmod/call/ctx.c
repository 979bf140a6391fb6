// SPDX-License-Identifier: GPL-2.0
/*
 * ctx.c - contexts
 */
#include <linux/cred.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/net_namespace.h>

#include "base/inject.h"
#include "base/object.h"
#include "base/rch.h"
#include "call/ctx.h"
#include "memory/grant.h"
#include "memory/region.h"

static int ctx_charge(struct rch_ctx *ctx)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_CONTEXTS] = 1 };
	struct rch_user *user = rch_user_get(current_user_ns(), current_euid());
	struct rdmachan_error error;
	int ret;

	if (!user)
		return -ENOMEM;
	rch_charge_begin(&ctx->charge, user, rch_quota_exempt());
	rch_user_put(user);
	ret = rch_charge_object(&ctx->charge, &cost, RDMACHAN_OP_NONE, &error);
	if (ret)
		rch_charge_end(&ctx->charge);
	return ret;
}

/**
 * rch_ctx_create - for the calling program
 *
 * Return: the context; or an ERR_PTR(): -ENOMEM, or -EDQUOT or -ENOSPC when there are
 * as many as may be.
 */
struct rch_ctx *rch_ctx_create(void)
{
	struct rch_ctx *ctx = rch_try(RCH_SITE_CONTEXT,
				      kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT));
	int ret;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->regions = rch_regions_create(current->nsproxy->net_ns);
	ret = ctx->regions ? ctx_charge(ctx) : -ENOMEM;
	if (ret)
		goto err;
	ctx->net = get_net(current->nsproxy->net_ns);
	ctx->created_ns = ktime_get_real_ns();
	atomic_inc(&rch_counts.contexts);
	return ctx;

err:
	if (ctx->regions)
		rch_regions_put(ctx->regions);
	kfree(ctx);
	return ERR_PTR(ret);
}

/** rch_ctx_describe - what there is to know about it. Context: process */
void rch_ctx_describe(const struct rch_ctx *ctx, struct rdmachan_object *out)
{
	rch_object_begin(out, RDMACHAN_KIND_CONTEXT, ctx->charge.user->uid);
	out->state = RDMACHAN_STATE_OPEN;
	out->created_ns = ctx->created_ns;
	rch_regions_tell(ctx->regions, &out->uses, &out->length);
}

/**
 * rch_ctx_destroy - its file is closed; listeners, channels and queues live on
 * @ctx: context
 *
 * Regions go, or when operations that use them have completed.
 */
void rch_ctx_destroy(struct rch_ctx *ctx)
{
	rch_loans_revoke_set(ctx->regions);
	rch_regions_close(ctx->regions);
	rch_regions_put(ctx->regions);
	put_net(ctx->net);
	rch_charge_end(&ctx->charge);
	kfree(ctx);
	atomic_dec(&rch_counts.contexts);
}
