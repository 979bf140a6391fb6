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

static int charge(struct rch_ctx *ctx)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_CONTEXTS] = 1 };
	struct rch_user *user = rch_user_get(current_euid());
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
 * Return: the context; or an ERR_PTR(): -ENOMEM, or -EMFILE or -ENFILE when there are
 * as many as may be.
 */
struct rch_ctx *rch_ctx_create(void)
{
	struct rch_ctx *ctx = rch_try(RCH_SITE_CONTEXT,
				      kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT));
	int ret;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ret = charge(ctx);
	if (ret) {
		kfree(ctx);
		return ERR_PTR(ret);
	}
	ctx->net = get_net(current->nsproxy->net_ns);
	atomic_inc(&rch_counts.contexts);
	return ctx;
}

/** rch_ctx_destroy - its file is closed; listeners and channels live on */
void rch_ctx_destroy(struct rch_ctx *ctx)
{
	put_net(ctx->net);
	rch_charge_end(&ctx->charge);
	kfree(ctx);
	atomic_dec(&rch_counts.contexts);
}
