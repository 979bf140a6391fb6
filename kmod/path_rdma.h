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

struct rch_mem_cursor;
struct rch_path;

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
/** RCH_PATH_RDMA_WRS - work requests of all of them, besides frames */
#define RCH_PATH_RDMA_WRS (RCH_MRS * RCH_MR_WRS + RCH_WRITERS * RCH_WRITE_WRS)

/**
 * struct rch_io - a completion that somebody waits for
 * @ended: it has come
 * @status: with this
 */
struct rch_io {
	bool ended;
	enum ib_wc_status status;
};

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

/* path_mr.c APIs: process context; may sleep */
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
