/* SPDX-License-Identifier: GPL-2.0 */
/*
 * path_rdma.h - RDMA WRITE over a path
 *
 * One side opens memory to the peer through a memory region of a pool; the other
 * writes there from its own pages. A thread that does either is a *user* of the path
 * between rch_path_enter() and rch_path_leave(): until the last has left, the path is
 * drained at most, and not destroyed.
 */
#ifndef _RCH_PATH_RDMA_H
#define _RCH_PATH_RDMA_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "dma/mem.h"
#include "pure/keep.h"
#include "pure/pace.h"
#include "pure/tail.h"

struct rch_access;
struct rch_path;

/** RCH_MRS - memory regions of a path */
#define RCH_MRS 12
/** RCH_LENT_MAX - of these, that are lent: the others are for messages that are there */
#define RCH_LENT_MAX 8
/** RCH_LENT_AHEAD_MAX - beyond so many none is lent ahead: each channel shall lend some */
#define RCH_LENT_AHEAD_MAX 6
/** RCH_MR_WRS - work requests that one may have outstanding */
#define RCH_MR_WRS 3
/** RCH_MR_PAGES - pages of one: 1 MiB from any address; siw has 256 */
#define RCH_MR_PAGES 257U
/** RCH_WRITERS - large ranges that are written at a time on a path */
#define RCH_WRITERS 2
/** RCH_SMALL_WRITERS - and besides them, small ranges */
#define RCH_SMALL_WRITERS 6
/** RCH_SMALL_BYTES - most bytes of such a one: frames wait behind all of them */
#define RCH_SMALL_BYTES 262144U
/** RCH_SMALL_SGES - most elements of such a range, in work requests that have all they can have */
#define RCH_SMALL_SGES 2
/** RCH_SMALL_WRS - its most work requests: each is full of elements, or of a batch's bytes */
#define RCH_SMALL_WRS (RCH_SMALL_SGES + RCH_SMALL_BYTES / RCH_PACE_BATCH_MIN)
/** RCH_WRITES_SPARE - &struct rch_write that a path keeps */
#define RCH_WRITES_SPARE 4
/** RCH_WRITE_BATCHES - batches of a writer that the adapter has at a time */
#define RCH_WRITE_BATCHES 4
/** RCH_BATCH_WRS - work requests of a batch */
#define RCH_BATCH_WRS 4
/** RCH_WRITE_WRS - work requests of all batches of a writer */
#define RCH_WRITE_WRS (RCH_WRITE_BATCHES * RCH_BATCH_WRS)
/**
 * RCH_WRITE_WR_BYTES - most bytes of each work request
 *
 * rxe has at most 128 packets under way that the peer has not acknowledged. It asks for an
 * acknowledgement at the end of a work request, and after 64 packets.
 */
#define RCH_WRITE_WR_BYTES 131072U
/** RCH_WRITE_SGES - elements of each work request, where the device has as many */
#define RCH_WRITE_SGES 32
/** RCH_LEND_WRS - registrations, or invalidations, of lent memory that go in one batch */
#define RCH_LEND_WRS 16
/** RCH_LEND_SPARE - memory regions of each class that a path keeps to lend again */
#define RCH_LEND_SPARE 64
/** RCH_LEND_SMALL - pages of the smaller class: 64 KiB from any address */
#define RCH_LEND_SMALL 17U
/*
 * RCH_LEND_BYTES, RCH_LEND_PAGE_BYTES - what a memory region takes of the kernel's memory, and
 * for each page it can have. rxe and siw have these; an adapter has a few more of its own.
 */
#define RCH_LEND_BYTES 1024U
#define RCH_LEND_PAGE_BYTES 16U
/** RCH_LEND_LARGE - most pages of the larger class; siw has 256, rxe 512 */
#define RCH_LEND_LARGE 512U
/** RCH_ACCESSES - accesses to the peer's memory that a path has under way at a time */
#define RCH_ACCESSES 16
/** RCH_ACCESS_ROOM - bytes of one that goes by way of the kernel's memory */
#define RCH_ACCESS_ROOM 16384U
/** RCH_READ_STEP - most bytes of a READ that does not */
#define RCH_READ_STEP 1048576U
/** RCH_WRITE_STEP - most bytes of a WRITE: frames wait behind all that are under way */
#define RCH_WRITE_STEP 524288U
/** RCH_WRITE_BYTES - bytes of those at a time, unless it is one */
#define RCH_WRITE_BYTES 2097152U
/** RCH_ACCESS_SGES - elements of such a one */
#define RCH_ACCESS_SGES 32
/** RCH_ACCESS_SCATTERED - bytes of one whose pages are all elements of their own */
#define RCH_ACCESS_SCATTERED (RCH_ACCESS_SGES * 4096U)
/** RCH_ACCESS_PAGES - pages of such a one, from any address */
#define RCH_ACCESS_PAGES (RCH_ACCESS_SGES + 1)
/** RCH_KEYS - keys of own memory that a path keeps, of as many pages as a key may have */
#define RCH_KEYS 16
/** RCH_KEYS_HELD - uses of them at a time that last for as long as others may want */
#define RCH_KEYS_HELD (RCH_KEYS / 2)
/** RCH_RIGHT_LOCAL - right to write that this host has, and the peer has not */
#define RCH_RIGHT_LOCAL BIT(31)
/** RCH_ACCESS_WRS - work requests of an access: it may open own memory first, for iWARP */
#define RCH_ACCESS_WRS 3
/** RCH_PROBES - work requests of path_tail.c, and one of path_pace.c */
#define RCH_PROBES (RCH_TAIL_PROBES + 1)
/** RCH_PATH_RDMA_WRS - work requests of all of them, besides frames */
#define RCH_PATH_RDMA_WRS (RCH_MRS * RCH_MR_WRS + RCH_WRITERS * RCH_WRITE_WRS + \
			   RCH_SMALL_WRITERS * RCH_SMALL_WRS + \
			   RCH_LEND_WRS + RCH_ACCESSES * RCH_ACCESS_WRS + \
			   RCH_PROBES)

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
 * @regs: how often it was opened
 * @reg: opens it
 * @inv: closes it
 * @cqe: completion that somebody waits for; whoever gives the region back has seen it
 * @io: that completion
 */
struct rch_mr {
	struct list_head list;
	struct ib_mr *mr;
	unsigned int pages;
	bool open;
	u32 regs;
	struct ib_reg_wr reg;
	struct ib_send_wr inv;
	struct ib_cqe cqe;
	struct rch_io io;
};

/**
 * struct rch_path_mrs - memory regions that a path opens to the peer for a message, see path_mr.c
 *
 * Regions are made when they are wanted, and kept in the pool as pure/keep.h says. Those that are
 * left end with the path, as the registrar does.
 */
struct rch_path_mrs {
	/**
	 * @quiet: completion that nobody waits for, of all regions: only errors. The queue may
	 * know it still when the region is freed, and the adapter's driver may then tell of it
	 */
	struct ib_cqe quiet;
	/** @spare: the pool, as &struct rch_mr; protected by the path's lock */
	struct list_head spare;
	/** @count: how many regions there are, in the pool or not; protected by the path's lock */
	u32 count;
	/** @keep: how many of them the pool keeps; protected by the path's lock */
	struct rch_keep keep;
	/**
	 * @registrar: queue pair for local work requests, where the path's own will not do; else
	 * NULL. Set once, under @registrar_lock, and kept until the path is destroyed
	 */
	struct ib_qp *registrar;
	/** @registrar_lock: held while @registrar is made; outer to the path's lock */
	struct mutex registrar_lock;
};

/**
 * struct rch_batch - RDMA WRITEs that are posted together
 * @cqe: completion of the last of them
 * @io: that completion; ended where nothing is under way
 * @pace: its bytes, for path_pace.c
 * @wrs: work requests
 */
struct rch_batch {
	struct ib_cqe cqe;
	struct rch_io io;
	struct rch_pace_batch pace;
	struct ib_rdma_wr wrs[RCH_BATCH_WRS];
};

/**
 * struct rch_write - RDMA WRITEs, batch by batch
 * @list: in the path's list of spare ones, or of those that wait for their turn
 * @waits: it does; protected by path->lock
 * @quiet: completion of all but the last of a batch: only errors
 * @small: its turn is that of a small range
 * @next: batch that is posted next
 * @batches: in the order in which they are posted
 * @sges: elements, @writes.sges of the path for each work request
 */
struct rch_write {
	struct list_head list;
	bool waits;
	struct ib_cqe quiet;
	bool small;
	u32 next;
	struct rch_batch batches[RCH_WRITE_BATCHES];
	struct ib_sge sges[];
};

/**
 * struct rch_path_writes - what a path writes to memory that the peer has opened for a message
 *
 * Large ranges wait for each other, in the order in which they came; small ones do not wait for
 * large ones. See path_rdma.c.
 */
struct rch_path_writes {
	/**
	 * @large: large ranges that are being written, RCH_WRITERS at most; protected by the
	 * path's lock
	 */
	unsigned int large;
	/**
	 * @waiting: &struct rch_write of ranges that wait for their turn, in that order; protected
	 * by the path's lock
	 */
	struct list_head waiting;
	/** @small: small ranges that are being written besides, RCH_SMALL_WRITERS at most */
	atomic_t small;
	/** @spare: &struct rch_write to be used again; protected by the path's lock */
	struct list_head spare;
	/** @spare_count: how many @spare has; protected by the path's lock */
	u32 spare_count;
	/** @bytes: most bytes of a work request that writes; immutable once the path is set up */
	u32 bytes;
	/** @sges: elements of a work request that writes; immutable once the path is set up */
	u32 sges;
	/**
	 * @flags: of each such work request; immutable once the path is set up. Over iWARP a work
	 * request is over when TCP has the data, and siw hands over the program's pages themselves
	 * when it is not to signal the end. What the program writes there afterwards then reaches
	 * the peer. So there each one is signalled
	 */
	int flags;
};

/**
 * struct rch_lend - a memory region that is lent, or a piece of what is
 *
 * Of whoever has got it, from rch_lend_get() to rch_lend_put(): path->lock, which both take, has
 * the next one see what it is left with.
 *
 * @list: in the path's list of spare ones
 * @mr: the region
 * @pages: of it
 * @small: its class
 * @open: the peer may get at it
 * @mem: the memory, of a region, mapped while it is lent, unless @key has it. One mapping for
 *	each piece, so that none of its elements reaches into the next piece
 * @key: a key of own memory, in whose mapping it is; or NULL
 * @begin: where its elements begin
 * @held_of: number of the key in whose mapping the range is that @mr holds; 0: of none
 * @held: that range
 * @wr: opens it, or closes it
 */
struct rch_lend {
	struct list_head list;
	struct ib_mr *mr;
	unsigned int pages;
	bool small;
	bool open;
	struct rch_mem mem;
	struct rch_key *key;
	struct rch_mem_cursor begin;
	u64 held_of;
	struct rch_mem_cursor held;
	union {
		struct ib_reg_wr reg;
		struct ib_send_wr inv;
	} wr;
};

/**
 * struct rch_path_lends - memory regions that a path lends to the peer, see path_lend.c
 *
 * Regions are made when they are wanted, and spare ones kept as pure/keep.h says. Those that are
 * left end with the path.
 */
struct rch_path_lends {
	/** @spare: &struct rch_lend of both classes; protected by the path's lock */
	struct list_head spare[2];
	/** @spare_count: how many each has; protected by the path's lock */
	u32 spare_count[2];
	/** @keep: how many are kept of each; protected by the path's lock */
	struct rch_keep keep[2];
	/** @lock: held while a batch opens or closes lent memory; outer to the path's lock */
	struct mutex lock;
	/**
	 * @cqe: completions of that batch: of all work requests but the last, and of the last;
	 * protected by @lock
	 */
	struct ib_cqe cqe[2];
	/** @io: the completion of the last one; begun and waited for under @lock */
	struct rch_io io;
	/**
	 * @atomics: adapters do atomic operations on what is lent. Written with WRITE_ONCE(): set
	 * when the path is set up, and from then on only cleared
	 */
	bool atomics;
};

/**
 * struct rch_key - a key of own memory, see path_key.c; code that changes it does so under its lock
 * @number: no other has it, nor will
 * @list: of the path
 * @with: of the memory
 * @path: path
 * @of: head of @with; only to be compared with
 * @index: number of the piece of the memory
 * @length: its bytes
 * @piece: mapped, and with the key, from @ready until it is in no list
 * @ready: it can be used
 * @refs: the lists, and accesses
 * @used: when it was last, in jiffies
 * @work: makes it; a user of the path
 */
struct rch_key {
	u64 number;
	struct list_head list;
	struct list_head with;
	struct rch_path *path;
	const struct list_head *of;
	u64 index;
	u64 length;
	struct rch_lend *piece;
	bool ready;
	u32 refs;
	unsigned long used;
	struct work_struct work;
};

/**
 * struct rch_path_keys - keys of own memory that a path keeps
 *
 * All members but @none are protected by the lock of path_key.c, not by the path's: keys are in
 * lists of their memory as well.
 */
struct rch_path_keys {
	/** @list: as &struct rch_key, the last used first */
	struct list_head list;
	/** @count: how many there are, RCH_KEYS at most */
	u32 count;
	/**
	 * @held: uses of keys that last for as long as others may want, RCH_KEYS_HELD at most.
	 * Written with WRITE_ONCE(), and read without the lock for a guess
	 */
	u32 held;
	/**
	 * @none: there can be no keys, as memory has to be handed to the adapter and back. Written
	 * with WRITE_ONCE(), never back; there is no lock
	 */
	bool none;
};

/**
 * enum rch_access_class - own memory of an access
 * @RCH_ACCESS_SMALL: room for some hundred bytes
 * @RCH_ACCESS_PAGE: for a page
 * @RCH_ACCESS_LARGE: for RCH_ACCESS_ROOM bytes
 * @RCH_ACCESS_REGION: none: elements of a region, or a program's pages
 * @RCH_ACCESS_CLASSES: how many there are
 */
enum rch_access_class {
	RCH_ACCESS_SMALL,
	RCH_ACCESS_PAGE,
	RCH_ACCESS_LARGE,
	RCH_ACCESS_REGION,
	RCH_ACCESS_CLASSES,
};

/**
 * struct rch_turns - accesses of a channel that wait; protected by path->lock
 * @list: among the channels that have such
 * @waiting: the accesses
 */
struct rch_turns {
	struct list_head list;
	struct list_head waiting;
};

/**
 * struct rch_access_ops - what an access tells its owner; any context but for interrupts, never
 *	concurrently for one access
 * @begin: it has a slot: call rch_access_move() or rch_access_atomic(). Return: 0; or an
 *	error, then it ends with that
 * @wait: it is about to wait for its turn. Return: 0; or an error, then it was not submitted. Under
 *	path->lock
 * @posted: it has waited, and is with the adapter. Under path->lock
 * @end: it has ended, and own memory is the owner's again: with 0, with what @begin has said,
 *	with -ECANCELED, or with -ENOTCONN: the path has failed, and it may have been done
 */
struct rch_access_ops {
	int (*begin)(struct rch_access *access);
	int (*wait)(struct rch_access *access);
	void (*posted)(struct rch_access *access);
	void (*end)(struct rch_access *access, int ret);
};

/**
 * struct rch_access - an access to the peer's memory: one work request
 * @ops: of the owner; so are those up to @ret
 * @owner: whose it is
 * @held: the memory that is accessed, while the adapter does so
 * @charged: bytes that were taken of a limit for it
 * @offset: where in it
 * @length: bytes
 * @ended: it has ended; the submitter sets it to false
 * @ret: with this
 * @posted: the adapter has it, or had
 * @list: of its turns, of the path's under way, or of its spare ones; by path->lock
 * @path: path
 * @got: among those of the path that have an owner; else it is an orphan, or spare; by
 *	path->lock
 * @turns: it waits there; by path->lock
 * @waited: it had to wait
 * @class: own memory
 * @iwarp: of the device, for code that is no user of the path, as the next four
 * @no_result: the number that is put where the result of an atomic operation will be, as the device
 *	may lose that. It is random, so a real result equals it only once in 2^64. 0: the device
 *	loses none
 * @most: bytes of a work request of the device's
 * @segment_max: bytes of an element, whole pages
 * @sges_max: elements of a work request that writes, or reads
 * @read: that is read into
 * @direction: likewise
 * @room: own memory, if it is the kernel's
 * @key: its key, if there is one; else as elements
 * @key_address: where it begins, as the adapter counts with that
 * @cqe: completion
 * @wr: what is done
 * @mr: iWARP: what the adapter needs to read into own memory
 * @by_mr: it is used
 * @opened: it is open
 * @closing: it is being closed
 * @reg: opens it
 * @inv: closes it
 * @quiet: completion of @reg
 * @sges: elements of the work request
 * @sge_count: how many
 * @pages: of a program, pinned: room for RCH_ACCESS_SGES
 * @page_count: how many
 * @sg_count: elements of @sg
 * @sg: own memory, mapped
 */
struct rch_access {
	const struct rch_access_ops *ops;
	void *owner;
	void *held;
	u32 charged;
	u64 offset;
	u32 length;
	bool ended;
	int ret;

	bool posted;
	struct list_head list;
	struct rch_path *path;
	struct list_head got;
	struct rch_turns *turns;
	bool waited;
	enum rch_access_class class;
	bool iwarp;
	u64 no_result;
	u32 most;
	u32 segment_max;
	u32 sges_max[2];
	bool read;
	enum dma_data_direction direction;
	void *room;
	struct rch_key *key;
	u64 key_address;
	struct ib_cqe cqe;
	union {
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
	} wr;
	struct ib_mr *mr;
	bool by_mr;
	bool opened;
	bool closing;
	struct ib_reg_wr reg;
	struct ib_send_wr inv;
	struct ib_cqe quiet;
	struct ib_sge *sges;
	u32 sge_count;
	struct page **pages;
	u32 page_count;
	u32 sg_count;
	struct scatterlist sg[];
};

/**
 * struct rch_path_accesses - accesses of a path to memory that the peer lends, see path_access.c
 *
 * All members but @work, @rd_depth and @most are protected by the path's lock.
 */
struct rch_path_accesses {
	/** @slots: slots that are in use, RCH_ACCESSES at most */
	u32 slots;
	/** @written: bytes that accesses with a slot write */
	u32 written;
	/** @turns: channels whose accesses wait for a slot, as &struct rch_turns */
	struct list_head turns;
	/** @put_off: @work gives slots to those, and is a user of the path until it has */
	bool put_off;
	/** @work: goes on where too many turns have come to nothing; of rch_wq */
	struct work_struct work;
	/** @under_way: accesses that the adapter has */
	struct list_head under_way;
	/** @since: when an access has begun or ended last, in jiffies */
	unsigned long since;
	/** @got: accesses that have an owner */
	struct list_head got;
	/** @spare: &struct rch_access of each class that were put, to be got again */
	struct list_head spare[RCH_ACCESS_CLASSES];
	/** @spare_count: how many each class has */
	u32 spare_count[RCH_ACCESS_CLASSES];
	/**
	 * @rd_depth: RDMA READs and atomics that may be under way, each way; written while the path
	 * connects, and immutable from then on
	 */
	u8 rd_depth;
	/** @most: bytes of an access; immutable once the path is set up */
	u32 most;
};

/* path_lend.c APIs: process context; may sleep; by a user of the path */
u32 rch_lend_shift(const struct rch_path *path);
u64 rch_lend_cost(const struct rch_path *path, u64 pages);
bool rch_lend_can(const struct rch_path *path);
bool rch_lend_atomics(const struct rch_path *path);
void rch_lend_no_atomics(struct rch_path *path);
struct rch_lend *rch_lend_get(struct rch_path *path, u64 pages);
int rch_lend_open(struct rch_path *path, struct rch_lend **pieces, u32 count, u32 shift,
		  u32 rights);
void rch_lend_close(struct rch_path *path, struct rch_lend **pieces, u32 count);
void rch_lend_put(struct rch_path *path, struct rch_lend *piece);
void rch_lend_unmap(struct rch_lend *piece);
void rch_path_lends_trim(struct rch_path *path);
void rch_path_lends_free(struct rch_path *path);

/* path_key.c APIs: process context; may sleep, but for no program */
bool rch_key_can(const struct rch_path *path);
struct rch_key *rch_key_get(struct rch_path *path, struct list_head *of, u64 index,
			    bool *missing);
void rch_key_put(struct rch_key *key);
struct rch_key *rch_key_begin(struct rch_path *path, struct list_head *of, u64 index, u64 pages,
			      u64 length);
void rch_key_abort(struct rch_key *key);
void rch_key_make(struct rch_key *key);
bool rch_key_hold(struct rch_key *key);
void rch_key_release(struct rch_key *key);
bool rch_key_range(const struct rch_key *key, u64 address, u32 length,
		   struct rch_mem_cursor *cursor);
void rch_keys_end(struct list_head *of);
void rch_path_keys_free(struct rch_path *path);

/* path_access.c APIs: process context; may sleep, but for no program */
struct rch_access *rch_access_get(struct rch_path *path, enum rch_access_class class);
void rch_access_put(struct rch_access *access);
u32 rch_access_room(enum rch_access_class class);
int rch_access_open(struct rch_access *access, bool read);
void rch_accesses_init(struct rch_path *path);
void rch_accesses_end(struct rch_path *path);
void rch_accesses_trim(struct rch_path *path);
void rch_path_accesses_free(struct rch_path *path);

/* path_access.c APIs: process context of the program whose memory it is, to unpin any; may sleep */
u32 rch_access_pin_pages(struct rch_access *access, unsigned long addr, u32 length, bool write);
void rch_access_unpin_pages(struct rch_access *access);

/* path_access.c APIs: any context but interrupts */
enum rch_access_class rch_access_class(u64 length);
u32 rch_access_most(const struct rch_access *access, bool read, u64 address, u32 length);
int rch_access_submit(struct rch_access *access, struct rch_turns *turns);
void rch_access_cancel(struct rch_access *access);
void rch_accesses_look(struct rch_path *path, unsigned long stood);
void rch_access_move(struct rch_access *access, u64 address, u32 rkey);
void rch_access_atomic(struct rch_access *access, bool swap, u64 address, u32 rkey,
		       u64 operand, u64 compare);
bool rch_access_lost(const struct rch_access *access);

/* path_mr.c APIs: process context; may sleep */
int rch_registrar_get(struct rch_path *path);
bool rch_path_is_rxe(const struct rch_path *path);
int rch_local_post(struct rch_path *path, const struct ib_send_wr *first, bool may_refuse);
int rch_mr_map(struct ib_mr *mr, unsigned int pages, struct rch_mem_cursor *cursor);
struct rch_mr *rch_mr_get(struct rch_path *path);
int rch_mr_open_post(struct rch_path *path, struct rch_mr *mr, struct rch_mem_cursor *cursor,
		     bool *wait);
int rch_mr_close_post(struct rch_path *path, struct rch_mr *mr);
void rch_mr_closed(struct rch_mr *mr);
void rch_mr_give_back(struct rch_path *path, struct rch_mr *mr, bool closed);
void rch_path_mrs_init(struct rch_path *path);
void rch_path_mrs_trim(struct rch_path *path);
void rch_path_mrs_free(struct rch_path *path);

/* path_rdma.c APIs: process context; may sleep */
void rch_path_sizes(struct rch_path *path);
bool rch_path_enter(struct rch_path *path);
void rch_path_leave(struct rch_path *path);
int rch_io_post(struct rch_path *path, struct ib_qp *qp, const struct ib_send_wr *first,
		bool may_refuse);
bool rch_io_refused(const struct ib_send_wr *first, const struct ib_send_wr *bad, int ret);
int rch_io_wait(struct rch_path *path, struct rch_io *io);
bool rch_io_over(struct rch_path *path, struct rch_io *io);
bool rch_io_ok(const struct rch_io *io);
void rch_io_overdue(struct rch_path *path);
struct rch_write *rch_write_get(struct rch_path *path);
int rch_write_some(struct rch_path *path, struct rch_write *w, struct rch_mem_cursor *cursor,
		   u64 addr, u32 rkey, u32 length, u32 *sent);
bool rch_write_may(const struct rch_path *path, const struct rch_write *w);
bool rch_write_over(struct rch_path *path, struct rch_write *w);
bool rch_write_ok(const struct rch_write *w);
void rch_write_put(struct rch_path *path, struct rch_write *w);
void rch_path_writes_free(struct rch_path *path);
bool rch_path_keeps(const struct rch_path *path);
void rch_path_trim(struct rch_path *path);
bool rch_write_try_begin(struct rch_path *path, struct rch_write *w,
			 const struct rch_mem_cursor *cursor, u32 length);
void rch_write_end(struct rch_path *path, const struct rch_write *w);

/* path_rdma.c APIs: softirq */
void rch_io_judge(struct ib_cq *cq, struct ib_wc *wc);
void rch_io_end(struct ib_cq *cq, struct ib_wc *wc, struct rch_io *io);

#endif /* _RCH_PATH_RDMA_H */
