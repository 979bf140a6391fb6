/* SPDX-License-Identifier: GPL-2.0 */
/*
 * path_rdma.h - RDMA WRITE over a path
 *
 * One side opens memory to the peer through a memory region of a pool; the other
 * writes there from its own pages. Whoever does either is a *user* of the path
 * between rch_path_enter() and rch_path_leave(): until the last has left, the path is
 * drained at most, and not destroyed.
 */
#ifndef _RCH_PATH_RDMA_H
#define _RCH_PATH_RDMA_H

#include <rdma/ib_verbs.h>

#include "mem.h"
#include "path.h"

/** RCH_MRS - memory regions of a path */
#define RCH_MRS 4
/** RCH_MR_WRS - work requests that one may have outstanding */
#define RCH_MR_WRS 3
/** RCH_MR_PAGES - pages of one: 1 MiB from any address; siw has 256 */
#define RCH_MR_PAGES 257U
/** RCH_WRITERS - who may write at a time on a path */
#define RCH_WRITERS 2
/** RCH_WRITE_WRS - work requests of a batch of one of them */
#define RCH_WRITE_WRS 16
/** RCH_WRITE_SGES - elements of each work request, where the device has as many */
#define RCH_WRITE_SGES 16
/** RCH_LEND_WRS - registrations, or invalidations, of lent memory that go in one batch */
#define RCH_LEND_WRS 16
/** RCH_LEND_SPARE - memory regions of each class that a path keeps to lend again */
#define RCH_LEND_SPARE 64
/** RCH_LEND_SMALL - pages of the smaller class: 64 KiB from any address */
#define RCH_LEND_SMALL 17U
/** RCH_LEND_LARGE - most pages of the larger class; siw has 256, rxe 512 */
#define RCH_LEND_LARGE 512U
/** RCH_ACCESSES - accesses to the peer's memory that a path has under way at a time */
#define RCH_ACCESSES 16
/** RCH_ACCESS_ROOM - bytes of one */
#define RCH_ACCESS_ROOM 4096U
/** RCH_ACCESS_WRS - work requests of an access: it may open own memory first, for iWARP */
#define RCH_ACCESS_WRS 3
/** RCH_PATH_RDMA_WRS - work requests of all of them, besides frames */
#define RCH_PATH_RDMA_WRS (RCH_MRS * RCH_MR_WRS + RCH_WRITERS * RCH_WRITE_WRS + \
			   RCH_LEND_WRS + RCH_ACCESSES * RCH_ACCESS_WRS)

/**
 * struct rch_mr - a memory region of the pool
 * @list: in the pool
 * @mr: the region
 * @pages: of it
 * @open: the peer may write to it
 * @reg: opens it
 * @inv: closes it
 * @quiet: completion that nobody waits for: only errors
 * @cqe: completion that somebody waits for
 * @io: that completion
 */
struct rch_mr {
	struct list_head list;
	struct ib_mr *mr;
	unsigned int pages;
	bool open;
	struct ib_reg_wr reg;
	struct ib_send_wr inv;
	struct ib_cqe quiet;
	struct ib_cqe cqe;
	struct rch_io io;
};

/**
 * struct rch_write - RDMA WRITEs, batch by batch
 * @list: in the path's list of spare ones
 * @quiet: completion of all but the last of a batch: only errors
 * @cqe: completion of the last
 * @io: that completion
 * @posted: a batch is under way
 * @wrs: its work requests
 * @sges: theirs, @path->write_sges for each
 */
struct rch_write {
	struct list_head list;
	struct ib_cqe quiet;
	struct ib_cqe cqe;
	struct rch_io io;
	bool posted;
	struct ib_rdma_wr wrs[RCH_WRITE_WRS];
	struct ib_sge sges[];
};

/**
 * struct rch_lend - a memory region that is lent, or a piece of what is
 * @list: in the path's list of spare ones
 * @mr: the region
 * @pages: of it
 * @small: its class
 * @open: the peer may get at it
 * @mem: the memory, of a region, mapped while it is lent. One mapping for each piece, so that
 *	none of its elements reaches into the next piece
 * @wr: opens it, or closes it
 */
struct rch_lend {
	struct list_head list;
	struct ib_mr *mr;
	unsigned int pages;
	bool small;
	bool open;
	struct rch_mem mem;
	union {
		struct ib_reg_wr reg;
		struct ib_send_wr inv;
	} wr;
};

/**
 * struct rch_access - an access to the peer's memory, by way of memory of the kernel
 * @cqe: completion
 * @io: that completion
 * @wr: what is done
 * @sge: its only element
 * @sg: @room
 * @direction: of the device's access to that
 * @mr: iWARP: what the adapter needs to read into @room
 * @reg: opens that
 * @inv: closes it
 * @quiet: completion of these that nobody waits for
 * @room: the bytes
 */
struct rch_access {
	struct ib_cqe cqe;
	struct rch_io io;
	union {
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
	} wr;
	struct ib_sge sge;
	struct scatterlist sg;
	enum dma_data_direction direction;
	struct ib_mr *mr;
	struct ib_reg_wr reg;
	struct ib_send_wr inv;
	struct ib_cqe quiet;
	u8 room[] ____cacheline_aligned;
};

/* path_lend.c APIs: process context; may sleep; by a user of the path */
u32 rch_lend_shift(const struct rch_path *path);
bool rch_lend_can(const struct rch_path *path);
bool rch_lend_atomics(const struct rch_path *path);
struct rch_lend *rch_lend_get(struct rch_path *path, u64 pages);
int rch_lend_open(struct rch_path *path, struct rch_lend **pieces, u32 count, u32 shift,
		  u32 rights);
void rch_lend_close(struct rch_path *path, struct rch_lend **pieces, u32 count);
void rch_lend_put(struct rch_path *path, struct rch_lend *piece);
void rch_path_lends_free(struct rch_path *path);

/* path_access.c APIs: process context; may sleep; all but the first by a user of the path */
struct rch_access *rch_access_alloc(u32 length);
u32 rch_access_most(const struct rch_path *path, bool read, u64 address, u32 length);
int rch_access_move(struct rch_path *path, struct rch_access *access, bool read,
		    u64 address, u32 rkey, u32 length);
int rch_access_atomic(struct rch_path *path, struct rch_access *access, bool swap,
		      u64 address, u32 rkey, u64 operand, u64 compare);

/* path_mr.c APIs: process context; may sleep */
int rch_registrar_get(struct rch_path *path);
int rch_local_post(struct rch_path *path, const struct ib_send_wr *first);
int rch_mr_map(struct ib_mr *mr, unsigned int pages, struct rch_mem_cursor *cursor);
struct rch_mr *rch_mr_get(struct rch_path *path);
int rch_mr_open(struct rch_path *path, struct rch_mr *mr, struct rch_mem_cursor *cursor);
int rch_mr_open_post(struct rch_path *path, struct rch_mr *mr, struct rch_mem_cursor *cursor,
		     bool *wait);
int rch_mr_close_post(struct rch_path *path, struct rch_mr *mr);
void rch_mr_give_back(struct rch_path *path, struct rch_mr *mr, bool closed);
void rch_mr_put(struct rch_path *path, struct rch_mr *mr);
void rch_path_mrs_free(struct rch_path *path);

/* path_rdma.c APIs: process context; may sleep */
bool rch_path_enter(struct rch_path *path);
void rch_path_leave(struct rch_path *path);
int rch_io_post(struct rch_path *path, struct ib_qp *qp, const struct ib_send_wr *first);
int rch_io_wait(struct rch_path *path, struct rch_io *io);
bool rch_io_over(struct rch_path *path, struct rch_io *io);
bool rch_io_ok(const struct rch_io *io);
void rch_io_overdue(struct rch_path *path);
struct rch_write *rch_write_get(struct rch_path *path);
int rch_write_post(struct rch_path *path, struct rch_write *w,
		   struct rch_mem_cursor *cursor, u64 addr, u32 rkey, u32 length);
int rch_write_some(struct rch_path *path, struct rch_write *w, struct rch_mem_cursor *cursor,
		   u64 addr, u32 rkey, u32 length, u32 *sent);
int rch_write_wait(struct rch_path *path, struct rch_write *w);
void rch_write_put(struct rch_path *path, struct rch_write *w);
void rch_path_writes_free(struct rch_path *path);
int rch_write_begin(struct rch_path *path);
bool rch_write_try_begin(struct rch_path *path);
void rch_write_end(struct rch_path *path);

/* path_rdma.c APIs: softirq */
void rch_io_judge(struct ib_cq *cq, struct ib_wc *wc);
void rch_io_end(struct ib_cq *cq, struct ib_wc *wc, struct rch_io *io);

#endif /* _RCH_PATH_RDMA_H */
