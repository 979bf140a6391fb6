// SPDX-License-Identifier: GPL-2.0
/*
 * limits.c - what an adapter can, and no more
 *
 * A limit is both told and kept to: a request beyond it fails, as it does with an adapter. The
 * software adapters themselves have their own copies of what they can.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "shim.h"

/* Bits of the parameter "atomics". */
#define ATOMICS_NOT_POSTED BIT(0)
#define ATOMICS_NOT_REGISTERED BIT(1)
#define ATOMICS_NONE BIT(2)

static int limit_set(const char *text, const struct kernel_param *kp)
{
	int ret = param_set_uint(text, kp);

	if (!ret)
		shim_each_device(shim_limits_apply);
	return ret;
}

static const struct kernel_param_ops limit_ops = {
	.set = limit_set,
	.get = param_get_uint,
};

#define SHIM_LIMIT(name, text)					\
	static unsigned int name;				\
	module_param_cb(name, &limit_ops, &name, 0644);	\
	MODULE_PARM_DESC(name, text)

SHIM_LIMIT(max_send_sge, "elements of a work request that is sent");
SHIM_LIMIT(max_recv_sge, "elements of a receive");
SHIM_LIMIT(max_sge_rd, "elements of an RDMA READ");
SHIM_LIMIT(max_qp_wr, "work requests of a queue");
SHIM_LIMIT(max_cqe, "entries of a completion queue");
SHIM_LIMIT(max_pages, "pages of a memory region");
SHIM_LIMIT(max_rd_atom, "RDMA READs and atomic operations under way");
SHIM_LIMIT(max_msg_sz, "bytes of a work request");
SHIM_LIMIT(port_state, "what a port says of its state, enum ib_port_state");
SHIM_LIMIT(refuse_write, "1: an RDMA WRITE of any bytes is refused, as if there were no room");
SHIM_LIMIT(atomics, "1: atomic operations are refused, 2: registrations for them, 4: none said");

static int least(int has, unsigned int limit)
{
	return limit ? min_t(unsigned int, has, limit) : has;
}

/** shim_limits_apply - have a device say what it can. The caller keeps it from going */
void shim_limits_apply(struct shim_device *d)
{
	struct ib_device_attr *says = &d->dev->attrs;

	says->max_send_sge = least(d->attrs.max_send_sge, max_send_sge);
	says->max_recv_sge = least(d->attrs.max_recv_sge, max_recv_sge);
	says->max_sge_rd = least(d->attrs.max_sge_rd, max_sge_rd);
	says->max_qp_wr = least(d->attrs.max_qp_wr, max_qp_wr);
	says->max_cqe = least(d->attrs.max_cqe, max_cqe);
	says->max_fast_reg_page_list_len = least(d->attrs.max_fast_reg_page_list_len, max_pages);
	says->max_qp_rd_atom = least(d->attrs.max_qp_rd_atom, max_rd_atom);
	says->max_qp_init_rd_atom = least(d->attrs.max_qp_init_rd_atom, max_rd_atom);
	says->atomic_cap = atomics & ATOMICS_NONE ? IB_ATOMIC_NONE : d->attrs.atomic_cap;
}

/** shim_limits_port - what a port says of itself */
void shim_limits_port(struct ib_port_attr *attr)
{
	if (max_msg_sz)
		attr->max_msg_sz = min(attr->max_msg_sz, max_msg_sz);
	if (port_state)
		attr->state = port_state;
}

/** shim_limits_qp - whether an adapter has such a queue pair. Return: 0 or -EINVAL */
int shim_limits_qp(const struct ib_device *dev, const struct ib_qp_init_attr *attr)
{
	const struct ib_device_attr *says = &dev->attrs;
	const struct ib_qp_cap *cap = &attr->cap;

	if (cap->max_send_sge > says->max_send_sge || cap->max_recv_sge > says->max_recv_sge ||
	    cap->max_send_wr > says->max_qp_wr || cap->max_recv_wr > says->max_qp_wr ||
	    attr->send_cq->cqe > says->max_cqe || attr->recv_cq->cqe > says->max_cqe)
		return -EINVAL;
	return 0;
}

static bool is_atomic(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

static bool too_large(const struct ib_send_wr *wr)
{
	u64 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return max_msg_sz && length > max_msg_sz;
}

/** shim_limits_wr - whether an adapter takes a work request. Return: 0 or an error */
int shim_limits_wr(const struct ib_qp *qp, const struct ib_send_wr *wr)
{
	const struct ib_device_attr *says = &qp->device->attrs;

	if (wr->opcode == IB_WR_LOCAL_INV)
		return 0;
	if (wr->opcode == IB_WR_RDMA_WRITE && wr->num_sge && refuse_write)
		return -ENOMEM;
	if (wr->opcode == IB_WR_REG_MR)
		return atomics & ATOMICS_NOT_REGISTERED &&
		       reg_wr(wr)->access & IB_ACCESS_REMOTE_ATOMIC ? -EINVAL : 0;
	if (is_atomic(wr) && atomics & (ATOMICS_NOT_POSTED | ATOMICS_NONE))
		return -EOPNOTSUPP;
	if (wr->opcode == IB_WR_RDMA_READ && wr->num_sge > says->max_sge_rd)
		return -EINVAL;
	return wr->num_sge > says->max_send_sge || too_large(wr) ? -EINVAL : 0;
}
