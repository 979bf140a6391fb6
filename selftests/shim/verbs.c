// SPDX-License-Identifier: GPL-2.0
/*
 * verbs.c - the functions that devices get
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "shim.h"

static unsigned int slow_ms;
module_param(slow_ms, uint, 0644);
MODULE_PARM_DESC(slow_ms, "a command to the firmware takes so long: queue pairs, memory regions");

static unsigned int retry_cnt;
module_param(retry_cnt, uint, 0644);
MODULE_PARM_DESC(retry_cnt, "an adapter tries again so often, and then gives up");

static unsigned int ack_timeout;
module_param(ack_timeout, uint, 0644);
MODULE_PARM_DESC(ack_timeout, "an adapter waits so long for an acknowledgement, 4.096 us * 2^n");

/* As firmware that has others to serve. */
static void stand_still(void)
{
	unsigned int ms = READ_ONCE(slow_ms);

	if (ms)
		msleep(ms);
}

static int shim_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	struct shim_device *d = shim_device(qp->device);
	int ret;

	shim_enter();
	if (qp->qp_type == IB_QPT_RC && !qp->uobject)
		ret = shim_post(d, qp, wr, bad);
	else
		ret = d->ops.post_send(qp, wr, bad);
	shim_leave();
	return ret;
}

static int shim_poll_cq(struct ib_cq *cq, int count, struct ib_wc *wc)
{
	int ret;

	shim_enter();
	ret = shim_poll(shim_device(cq->device), cq, count, wc);
	shim_leave();
	return ret;
}

static int shim_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	int ret;

	shim_enter();
	ret = shim_notify(shim_device(cq->device), cq, flags);
	shim_leave();
	return ret;
}

static int make_qp(struct shim_device *d, struct ib_qp *qp, struct ib_qp_init_attr *attr)
{
	u32 size = attr->cap.max_send_wr;
	int ret = shim_limits_qp(qp->device, attr);

	if (ret)
		return ret;
	stand_still();
	ret = d->ops.create_qp(qp, attr, NULL);
	if (ret)
		return ret;
	ret = shim_track(qp, attr->send_cq, size);
	if (ret)
		d->ops.destroy_qp(qp, NULL);
	return ret;
}

static int shim_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct shim_device *d = shim_device(qp->device);
	int ret;

	shim_enter();
	if (attr->qp_type == IB_QPT_RC && !udata)
		ret = make_qp(d, qp, attr);
	else
		ret = d->ops.create_qp(qp, attr, udata);
	shim_leave();
	return ret;
}

static int shim_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct shim_device *d = shim_device(qp->device);
	int ret;

	shim_enter();
	shim_untrack(qp);
	ret = d->ops.destroy_qp(qp, udata);
	shim_leave();
	return ret;
}

static void adjust(struct ib_qp_attr *attr, int mask)
{
	if (retry_cnt && mask & IB_QP_RETRY_CNT)
		attr->retry_cnt = min_t(unsigned int, attr->retry_cnt, retry_cnt);
	if (ack_timeout && mask & IB_QP_TIMEOUT)
		attr->timeout = ack_timeout;
}

static int shim_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct shim_device *d = shim_device(qp->device);
	struct ib_qp_attr own = *attr;
	int ret;

	shim_enter();
	if (qp->qp_type == IB_QPT_RC && !qp->uobject)
		adjust(&own, mask);
	ret = d->ops.modify_qp(qp, &own, mask, udata);
	shim_leave();
	return ret;
}

static int shim_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	int ret;

	shim_enter();
	ret = shim_device(dev)->ops.query_port(dev, port, attr);
	if (!ret)
		shim_limits_port(attr);
	shim_leave();
	return ret;
}

static struct ib_mr *shim_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 pages)
{
	struct ib_mr *mr = ERR_PTR(-EINVAL);

	shim_enter();
	stand_still();
	if (pages <= pd->device->attrs.max_fast_reg_page_list_len)
		mr = shim_device(pd->device)->ops.alloc_mr(pd, type, pages);
	shim_leave();
	return mr;
}

static int shim_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	int ret;

	shim_enter();
	if (!udata)
		stand_still();
	ret = shim_device(mr->device)->ops.dereg_mr(mr, udata);
	shim_leave();
	return ret;
}

/** shim_verbs_set - give a device these functions, where it has such a one. May sleep */
void shim_verbs_set(struct shim_device *d)
{
	struct ib_device_ops *ops = &d->dev->ops;

	ops->post_send = shim_post_send;
	ops->poll_cq = shim_poll_cq;
	ops->req_notify_cq = shim_req_notify_cq;
	ops->create_qp = shim_create_qp;
	ops->destroy_qp = shim_destroy_qp;
	ops->modify_qp = shim_modify_qp;
	ops->query_port = shim_query_port;
	ops->alloc_mr = shim_alloc_mr;
	ops->dereg_mr = shim_dereg_mr;
}

/** shim_verbs_reset - the device has its own again */
void shim_verbs_reset(struct shim_device *d)
{
	struct ib_device_ops *ops = &d->dev->ops;

	ops->post_send = d->ops.post_send;
	ops->poll_cq = d->ops.poll_cq;
	ops->req_notify_cq = d->ops.req_notify_cq;
	ops->create_qp = d->ops.create_qp;
	ops->destroy_qp = d->ops.destroy_qp;
	ops->modify_qp = d->ops.modify_qp;
	ops->query_port = d->ops.query_port;
	ops->alloc_mr = d->ops.alloc_mr;
	ops->dereg_mr = d->ops.dereg_mr;
	d->dev->attrs = d->attrs;
}
