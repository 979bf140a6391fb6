// SPDX-License-Identifier: GPL-2.0
/*
 * path_access.c - RDMA READ, RDMA WRITE and atomics on memory that the peer lends
 *
 * Operation. An access goes by way of memory of the kernel's: what a program's own memory
 * makes others wait for is over before the adapter begins, or comes after it has ended. How
 * many are under way is bounded; whoever comes next waits for the adapter, and for nothing
 * else.
 *
 * iWARP. What an RDMA READ gives is written by the peer, under a key: the memory is registered
 * for that, and the registration ends with the access.
 */
#include <linux/slab.h>

#include "inject.h"
#include "path.h"
#include "path_rdma.h"
#include "rch.h"

static void rch_access_quiet_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	rch_io_judge(cq, wc);
}

static void rch_access_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	rch_io_end(cq, wc, &container_of(wc->wr_cqe, struct rch_access, cqe)->io);
}

/** rch_access_alloc - get what an access of @length bytes needs, with room for them; or NULL */
struct rch_access *rch_access_alloc(u32 length)
{
	struct rch_access *access = rch_try(RCH_SITE_WRITE,
					    kzalloc(struct_size(access, room, length),
						    GFP_KERNEL_ACCOUNT));

	if (!access)
		return NULL;
	access->cqe.done = rch_access_wc;
	access->quiet.done = rch_access_quiet_wc;
	return access;
}

static int make_mr(struct rch_path *path, struct rch_access *access)
{
	const unsigned int pages = RCH_ACCESS_ROOM / PAGE_SIZE + 2;
	unsigned int offset = 0;

	access->mr = rch_try_verb(ib_alloc_mr(path->pd, IB_MR_TYPE_MEM_REG, pages));
	if (IS_ERR(access->mr)) {
		access->mr = NULL;
		return -ENOMEM;
	}
	return ib_map_mr_sg(access->mr, &access->sg, 1, &offset, PAGE_SIZE) == 1 ? 0 : -EINVAL;
}

static void unmap(struct rch_path *path, struct rch_access *access)
{
	if (access->mr)
		ib_dereg_mr(access->mr);
	access->mr = NULL;
	ib_dma_unmap_sg(path->dev, &access->sg, 1, access->direction);
}

static int map(struct rch_path *path, struct rch_access *access, u32 length, bool read)
{
	int ret;

	access->direction = read ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	sg_init_one(&access->sg, access->room, length);
	if (ib_dma_map_sg(path->dev, &access->sg, 1, access->direction) != 1)
		return -ENOMEM;
	ret = read && rdma_protocol_iwarp(path->dev, path->port) ? make_mr(path, access) : 0;
	if (ret)
		unmap(path, access);
	return ret;
}

static int post_and_wait(struct rch_path *path, struct rch_access *access,
			 struct ib_send_wr *first, struct ib_send_wr *last)
{
	last->wr_cqe = &access->cqe;
	last->send_flags = IB_SEND_SIGNALED;
	access->io.ended = false;
	return rch_io_post(path, path->id->qp, first) ?: rch_io_wait(path, &access->io);
}

/**
 * rch_access_most - how much one access may move
 * @path: path
 * @read: READ, else WRITE
 * @address: at the peer
 * @length: bytes that are wanted, not 0
 *
 * siw puts a small answer to an RDMA READ behind its header at once, and when the bytes lie in
 * two pages takes the wrong ones (siw_try_1seg(), 6.1 to 7.2): so these are asked for one page
 * after the other. Any context.
 */
u32 rch_access_most(const struct rch_path *path, bool read, u64 address, u32 length)
{
	const u32 page = 4096, small = 256;
	u32 left = page - (address & (page - 1));

	length = min(length, RCH_ACCESS_ROOM);
	if (read && length <= small && length > left &&
	    rdma_protocol_iwarp(path->dev, path->port))
		return left;
	return length;
}

/* Open own memory, have @wr done, and close it. */
static int run_open(struct rch_path *path, struct rch_access *access, struct ib_send_wr *wr)
{
	int ret;

	ib_update_fast_reg_key(access->mr, ib_inc_rkey(access->mr->rkey));
	access->reg = (struct ib_reg_wr) {
		.wr.wr_cqe = &access->quiet,
		.wr.opcode = IB_WR_REG_MR,
		.wr.next = wr,
		.mr = access->mr,
		.key = access->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	access->inv = (struct ib_send_wr) {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = access->mr->rkey,
	};
	access->sge.addr = access->mr->iova;
	access->sge.lkey = access->mr->lkey;
	ret = post_and_wait(path, access, &access->reg.wr, wr) ?:
	      post_and_wait(path, access, &access->inv, &access->inv);
	/* It may be open, and work requests that name it be queued. */
	if (ret)
		wait_for_completion(&path->drained);
	return ret;
}

static int run(struct rch_path *path, struct rch_access *access, struct ib_send_wr *wr,
	       u32 length, bool read)
{
	int ret = map(path, access, length, read);

	if (ret)
		return ret;
	access->sge.addr = sg_dma_address(&access->sg);
	access->sge.length = length;
	access->sge.lkey = path->pd->local_dma_lkey;
	wr->sg_list = &access->sge;
	wr->num_sge = 1;
	ret = down_killable(&path->accesses);
	if (!ret) {
		ret = access->mr ? run_open(path, access, wr) :
		      post_and_wait(path, access, wr, wr);
		up(&path->accesses);
	}
	unmap(path, access);
	return ret;
}

/**
 * rch_access_move - read or write, and wait for it
 * @path: path
 * @access: its room has, or gets, the bytes
 * @read: READ, else WRITE
 * @address: at the peer
 * @rkey: key for it
 * @length: bytes, not 0, at most those that @access has room for, and RCH_ACCESS_ROOM
 *
 * Return: 0; -EINTR when killed, -ENOMEM, and nothing was done; or -ENOTCONN: the path has
 * failed, and it may have been done.
 */
int rch_access_move(struct rch_path *path, struct rch_access *access, bool read,
		    u64 address, u32 rkey, u32 length)
{
	access->wr.rdma = (struct ib_rdma_wr) {
		.wr.opcode = read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
		.remote_addr = address,
		.rkey = rkey,
	};
	return run(path, access, &access->wr.rdma.wr, length, read);
}

/**
 * rch_access_atomic - have the peer's adapter do an atomic operation, and wait for it
 * @path: path
 * @access: its room, for 8 bytes, gets what was there before
 * @swap: compare and swap, else fetch and add
 * @address: at the peer
 * @rkey: key for it
 * @operand: what to add, or to put there
 * @compare: what must be there for that
 *
 * Return: as rch_access_move().
 */
int rch_access_atomic(struct rch_path *path, struct rch_access *access, bool swap,
		      u64 address, u32 rkey, u64 operand, u64 compare)
{
	access->wr.atomic = (struct ib_atomic_wr) {
		.wr.opcode = swap ? IB_WR_ATOMIC_CMP_AND_SWP : IB_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr = address,
		.compare_add = swap ? compare : operand,
		.swap = swap ? operand : 0,
		.rkey = rkey,
	};
	return run(path, access, &access->wr.atomic.wr, sizeof(u64), true);
}
