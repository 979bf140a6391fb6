// SPDX-License-Identifier: GPL-2.0
/*
 * peer_host.c - an adapter, memory and limits for the module's code
 *
 * The layers above the path are the module's own. This file stands for the path and the regions,
 * and does the adapter's work as simply as can be. A work request ends at once. While the adapter
 * is slow, a work request ends when the script says so. Each key is a new number, and each thing
 * that is got must be given back once.
 */
#include "base/inject.h"
#include "base/rch.h"
#include "dma/mem.h"
#include "kernel_run.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "peer_host.h"
#include "rndv/rndv.h"

#define IO_MAX 64U

struct host host;
bool rch_inject_any = true;
struct rch_counts rch_counts;
u64 rch_boot_id;
unsigned int rch_dead_ms = 5000, rch_linger_ms = 60000, rch_idle_ms = 30000;
unsigned int rch_buffer = 1 << 20, rch_message_max = 1 << 20, rch_eager_us = 64;
unsigned int rch_user_contexts = 4, rch_all_contexts = 8;
unsigned int rch_user_listeners = 4, rch_all_listeners = 8;
unsigned int rch_user_channels = 16, rch_all_channels = 32;
unsigned int rch_user_pending = 16, rch_all_pending = 32;
unsigned int rch_user_buffer_mib = 4, rch_all_buffer_mib = 8;
unsigned int rch_user_queues = 4, rch_all_queues = 8;
unsigned int rch_user_regions = 4, rch_all_regions = 8;
unsigned int rch_user_pinned_mib = 4;
unsigned int rch_user_pollers = 1, rch_all_pollers = 2;
unsigned int rch_user_grants = 96, rch_all_grants = 128;
unsigned int rch_user_links = 4, rch_all_links = 8;

static struct rch_io *ios[IO_MAX];
static u32 io_count;
static u32 last_key;
static LIST_HEAD(accesses);
static struct rch_regions regions;
static struct rch_region region;
static u8 memory[HOST_REGION];
static struct ib_device device = { { "fuzz" } };

/* Faults */

bool rch_inject_hits(enum rch_fault fault, u32 where, u32 *value)
{
	if (fault == RCH_FAULT_WRAP)
		return host.wrap;
	return fault == RCH_FAULT_NOMEM && host.nomem && !--host.nomem;
}

void rch_link_inject(struct rch_link *link, const struct rch_rxf *rxf)
{
	rch_link_received(link, rxf);
}

void rch_link_inject_posted(struct rch_link *link, u32 count)
{
	rch_credit_posted(&link->credit, count);
}

void rch_link_inject_init(struct rch_link *link) {}
void rch_link_inject_lift(struct rch_link *link) {}
void rch_link_inject_stop(struct rch_link *link) {}

/* Objects and records of errors: nobody asks for them. */

int rch_object_enter(struct rch_object *obj, const struct rch_object_ops *ops,
		     const struct net *net, kuid_t uid, gfp_t gfp)
{
	if (rch_no_memory(RCH_SITE_OBJECT))
		return -ENOMEM;
	obj->ops = ops;
	obj->uid = uid;
	return 0;
}

void rch_object_strike(struct rch_object *obj)
{
	fuzz_assert(obj->ops);
	obj->ops = NULL;
}

void rch_object_begin(struct rdmachan_object *out, u32 kind, kuid_t uid)
{
	memset(out, 0, sizeof(*out));
	out->kind = kind;
	out->uid = uid.val;
}

void rch_object_describe(struct rch_object *obj, struct rdmachan_object *out)
{
	fuzz_assert(obj->ops);
	rch_object_begin(out, obj->ops->kind, obj->uid);
	obj->ops->fill(obj, out);
}

void rch_error_set(struct rdmachan_error *e, u32 op, u32 cause, u64 detail)
{
	e->op = op;
	e->cause = cause;
	e->detail = detail;
	e->error = ECONNRESET;
}

void rch_addr_from_sockaddr(struct rdmachan_addr *a, const struct sockaddr_storage *ss)
{
}

/* Links: there is one, which stands, and holds nothing back. */

void rch_link_connect_work(struct work_struct *work) {}
void rch_link_ask_work(struct work_struct *work) {}
void rch_link_connect_look(struct rch_link *link) {}
bool rch_link_connect_over(struct rch_link *link) { return link; }
void rch_links_changed(void) {}
struct rch_link *rch_links_twin(const struct rch_link *link) { return NULL; }
void rch_link_gather_init(struct rch_link *link) {}
void rch_link_gather_stop(struct rch_link *link) {}
bool rch_link_may_gather(const struct rch_link *link) { return false; }
bool rch_link_gathers(struct rch_link *link) { return false; }
void rch_link_gather_sent(struct rch_link *link) {}
void rch_link_gather_over(struct rch_link *link) {}
void rch_link_close_by(struct rch_link *link, u32 us) {}
void rch_link_flush(struct rch_link *link) {}
void rch_link_push_locked(struct rch_link *link) { rch_link_run_locked(link); }
void rch_link_later_init(struct rch_link *link) { INIT_LIST_HEAD(&link->last.lanes); }
void rch_link_later_stop(struct rch_link *link) {}
bool rch_link_may_hold(const struct rch_link *link) { return false; }
void rch_link_hold(struct rch_link *link, struct rch_lane *lane, u32 last)
{
	fuzz_assert(!last);
}

void rch_link_take_later(struct rch_link *link) { fuzz_assert(!link); }

/** host_register - the table of links has @link */
void host_register(struct rch_link *link)
{
	static LIST_HEAD(table);

	INIT_LIST_HEAD(&table);
	list_add(&link->list, &table);
	complete_all(&link->opening.built);
}

void rch_links_leave(struct rch_link *link)
{
	list_del_init(&link->list);
	rch_link_put(link);
}

/* The thread that connects, and those that wait in a call, are others. */
void rch_chan_connect_look(struct rch_chan *chan) { lockdep_assert_held(&chan->lock); }

void rch_chan_connect_over(struct rch_chan *chan)
{
	kfree(chan->opening);
	chan->opening = NULL;
}

int rch_chan_send_placed(struct rch_chan *chan, struct iov_iter *from, u32 msg_flags,
			 unsigned long deadline)
{
	return -EAGAIN;
}

int rch_chan_recv_placed(struct rch_chan *chan, const struct rch_rts *offer, struct iov_iter *to,
			 struct rch_recv_result *result)
{
	rch_chan_unclaim(chan, RCH_CHAN_RX);
	return -EAGAIN;
}

int rch_chan_recv_lent(struct rch_chan *chan, struct iov_iter *to, struct rch_recv_result *result)
{
	return -EAGAIN;
}

/* The path */

void rch_path_init(struct rch_path *path, const struct rch_path_ops *ops)
{
	path->ops = ops;
	path->dev = &device;
	path->mtu = 1024;
	init_waitqueue_head(&path->left);
}

int rch_path_post(struct rch_path *path, struct list_head *frames, bool probe)
{
	struct rch_txf *txf;

	fuzz_assert(!kernel_locks && !path->stopped);
	list_for_each_entry(txf, frames, list)
		host.sent(txf);
	return 0;
}

void rch_path_unmap(struct rch_path *path, struct rch_txf *txf) {}
bool rch_path_tail_bulk(const struct rch_path *path) { return false; }
void rch_path_tail_trip(struct rch_path *path, u32 us) {}
void rch_path_addresses(struct rch_path *path, struct rdmachan_addr *local,
			struct rdmachan_addr *peer)
{
}

void rch_path_diagnose(struct rch_path *path, struct rdmachan_error *error)
{
}

bool rch_path_keeps(const struct rch_path *path) { return false; }
void rch_path_trim(struct rch_path *path) {}
void rch_path_refill(struct rch_path *path, gfp_t gfp) {}
void rch_path_query_end(struct rch_path *path) {}
void rch_path_query(struct rch_path *path, const struct sockaddr_storage *peer,
		    const void *question, u8 len)
{
}

void rch_path_break(struct rch_path *path) { path->stopped = true; }

bool rch_path_enter(struct rch_path *path)
{
	if (path->stopped)
		return false;
	host.users++;
	return true;
}

void rch_path_leave(struct rch_path *path)
{
	fuzz_assert(host.users);
	host.users--;
}

/* What the adapter is given */

static void io_begin(struct rch_io *io)
{
	io->ended = !host.slow;
	io->status = IB_WC_SUCCESS;
	if (io->ended)
		return;
	fuzz_assert(io_count < IO_MAX);
	ios[io_count++] = io;
}

static void io_forget(struct rch_io *io)
{
	u32 i;

	for (i = 0; i < io_count; i++)
		if (ios[i] == io)
			ios[i] = ios[--io_count];
}

static bool ios_end(enum ib_wc_status status)
{
	bool any = io_count;

	while (io_count) {
		ios[--io_count]->status = status;
		ios[io_count]->ended = true;
	}
	return any;
}

/** host_adapter_done - the adapter has done what it was given. Return: whether that was any */
bool host_adapter_done(void)
{
	return ios_end(IB_WC_SUCCESS);
}

/* All that the adapter has comes back, flushed. */
void rch_path_drain(struct rch_path *path)
{
	might_sleep();
	path->stopped = true;
	host.slow = false;
	host.busy = false;
	ios_end(IB_WC_GENERAL_ERR);
	while (host_access_done(-ENOTCONN))
		;
	host.drained = true;
	complete_all(&path->drained);
	wake_up_all(&path->left);
}

/* Its users are works; nothing else is waited for. */
void rch_path_destroy(struct rch_path *path)
{
	fuzz_assert(path->stopped);
	while (host.users)
		fuzz_assert(kernel_run_next(0));
	fuzz_assert(!host.lent);
}

bool rch_io_over(struct rch_path *path, struct rch_io *io) { return io->ended; }
bool rch_io_ok(const struct rch_io *io) { return io->status == IB_WC_SUCCESS; }
void rch_io_overdue(struct rch_path *path) {}

struct rch_write *rch_write_get(struct rch_path *path)
{
	struct rch_write *w = rch_try(RCH_SITE_WRITE, kzalloc(sizeof(*w), GFP_KERNEL));

	if (w)
		w->batches[0].io.ended = true;
	return w;
}

bool rch_write_try_begin(struct rch_path *path, struct rch_write *w,
			 const struct rch_mem_cursor *cursor, u32 length)
{
	fuzz_assert(!w->waits && length && length <= cursor->sg->length - cursor->offset);
	w->waits = true;
	return true;
}

int rch_write_some(struct rch_path *path, struct rch_write *w, struct rch_mem_cursor *cursor,
		   u64 addr, u32 rkey, u32 length, u32 *sent)
{
	fuzz_assert(w->waits && length);
	*sent = min(length, HOST_PIECE / 2);
	if (path->stopped) {
		w->batches[0].io.status = IB_WC_GENERAL_ERR;
		return -ENOTCONN;
	}
	fuzz_assert(cursor->sg->length - cursor->offset >= *sent);
	cursor->offset += *sent;
	io_forget(&w->batches[0].io);
	io_begin(&w->batches[0].io);
	return 0;
}

bool rch_write_may(const struct rch_path *path, const struct rch_write *w)
{
	return w->batches[0].io.ended && rch_io_ok(&w->batches[0].io);
}

bool rch_write_over(struct rch_path *path, struct rch_write *w)
{
	return rch_io_over(path, &w->batches[0].io);
}

bool rch_write_ok(const struct rch_write *w) { return rch_io_ok(&w->batches[0].io); }
void rch_write_end(struct rch_path *path, const struct rch_write *w)
{
	fuzz_assert(w->waits);
	((struct rch_write *)w)->waits = false;
}

void rch_write_put(struct rch_path *path, struct rch_write *w)
{
	fuzz_assert(rch_write_over(path, w) || !w->waits);
	io_forget(&w->batches[0].io);
	kfree(w);
}

struct rch_mr *rch_mr_get(struct rch_path *path)
{
	struct rch_mr *mr = rch_try(RCH_SITE_VERBS, kzalloc(sizeof(*mr), GFP_KERNEL));

	if (!mr)
		return NULL;
	mr->mr = kzalloc(sizeof(*mr->mr), GFP_KERNEL);
	return mr;
}

int rch_mr_open_post(struct rch_path *path, struct rch_mr *mr, struct rch_mem_cursor *cursor,
		     bool *wait)
{
	if (path->stopped)
		return -ENOTCONN;
	host.lent += !mr->open;
	mr->open = true;
	mr->mr->rkey = ++last_key;
	mr->mr->iova = cursor->offset;
	mr->mr->length = min(HOST_PIECE, cursor->sg->length - cursor->offset);
	fuzz_assert(mr->mr->length);
	cursor->offset += mr->mr->length;
	io_forget(&mr->io);
	io_begin(&mr->io);
	*wait = host.slow;
	return 0;
}

void rch_mr_closed(struct rch_mr *mr)
{
	host.lent -= mr->open;
	mr->open = false;
}

int rch_mr_close_post(struct rch_path *path, struct rch_mr *mr)
{
	if (path->stopped)
		return -ENOTCONN;
	io_forget(&mr->io);
	io_begin(&mr->io);
	return 0;
}

void rch_mr_give_back(struct rch_path *path, struct rch_mr *mr, bool closed)
{
	if (!mr)
		return;
	/* Nobody writes to pages that go back to the program. */
	fuzz_assert(closed || host.drained);
	rch_mr_closed(mr);
	io_forget(&mr->io);
	kfree(mr->mr);
	kfree(mr);
}

/* Grants */

u32 rch_lend_shift(const struct rch_path *path) { return HOST_SHIFT; }
u64 rch_lend_cost(const struct rch_path *path, u64 pages) { return 512 + 8 * pages; }
bool rch_lend_can(const struct rch_path *path) { return true; }
bool rch_lend_atomics(const struct rch_path *path) { return host.by_device; }

struct rch_lend *rch_lend_get(struct rch_path *path, u64 pages)
{
	struct rch_lend *piece = rch_try(RCH_SITE_VERBS, kzalloc(sizeof(*piece), GFP_KERNEL));

	if (!piece)
		return NULL;
	piece->pages = pages;
	piece->mr = kzalloc(sizeof(*piece->mr), GFP_KERNEL);
	return piece;
}

int rch_lend_open(struct rch_path *path, struct rch_lend **pieces, u32 count, u32 shift,
		  u32 rights)
{
	u32 i;

	fuzz_assert(shift == HOST_SHIFT && rights);
	if (path->stopped || rch_no_memory(RCH_SITE_VERBS))
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		pieces[i]->mr->rkey = ++last_key;
		pieces[i]->open = true;
		host.lent++;
	}
	return 0;
}

void rch_lend_close(struct rch_path *path, struct rch_lend **pieces, u32 count)
{
	u32 i;

	might_sleep();
	for (i = 0; i < count; i++) {
		host.lent -= pieces[i]->open;
		pieces[i]->open = false;
	}
}

void rch_lend_unmap(struct rch_lend *piece)
{
	rch_mem_unmap(&piece->mem);
}

void rch_lend_put(struct rch_path *path, struct rch_lend *piece)
{
	fuzz_assert(!piece->open && !piece->mem.table.sgl);
	kfree(piece->mr);
	kfree(piece);
}

/* Accesses of what the peer lends */

static const u32 rooms[RCH_ACCESS_CLASSES] = {
	[RCH_ACCESS_SMALL] = 64,
	[RCH_ACCESS_PAGE] = 4096,
	[RCH_ACCESS_LARGE] = RCH_ACCESS_ROOM,
};

enum rch_access_class rch_access_class(u64 length)
{
	if (length <= rooms[RCH_ACCESS_SMALL])
		return RCH_ACCESS_SMALL;
	return length <= rooms[RCH_ACCESS_PAGE] ? RCH_ACCESS_PAGE : RCH_ACCESS_LARGE;
}

u32 rch_access_room(enum rch_access_class class) { return rooms[class]; }

struct rch_access *rch_access_get(struct rch_path *path, enum rch_access_class class)
{
	struct rch_access *access;

	if (path->stopped)
		return ERR_PTR(-ENOTCONN);
	access = rch_try(RCH_SITE_VERBS, kzalloc(sizeof(*access), GFP_KERNEL));
	if (!access)
		return ERR_PTR(-ENOMEM);
	access->path = path;
	access->class = class;
	access->ended = true;
	if (rooms[class])
		access->room = kzalloc(rooms[class], GFP_KERNEL);
	return access;
}

void rch_access_put(struct rch_access *access)
{
	fuzz_assert(access->ended);
	kfree(access->room);
	kfree(access);
}

u32 rch_access_most(const struct rch_access *access, bool read, u64 address, u32 length)
{
	return min(length, rooms[access->class] ?: RCH_ACCESS_ROOM);
}

int rch_access_open(struct rch_access *access, bool read)
{
	access->read = read;
	return rch_no_memory(RCH_SITE_VERBS) ? -ENOMEM : 0;
}

static void access_end(struct rch_access *access, int ret)
{
	list_del(&access->list);
	access->ops->end(access, ret);
}

static void access_start(struct rch_access *access)
{
	int ret = access->path->stopped ? -ENOTCONN : access->ops->begin(access);

	if (ret) {
		access_end(access, ret);
		return;
	}
	access->posted = true;
	access->ops->posted(access);
}

int rch_access_submit(struct rch_access *access, struct rch_turns *turns)
{
	int ret = host.busy ? access->ops->wait(access) : 0;

	access->ended = ret;
	access->posted = false;
	if (ret)
		return ret;
	list_add_tail(&access->list, &accesses);
	if (!host.busy)
		access_start(access);
	return 0;
}

void rch_access_cancel(struct rch_access *access)
{
	if (!access->ended && !access->posted)
		access_end(access, -ECANCELED);
}

/** host_access_done - the oldest access begins, or ends with @ret. Return: whether there is one */
bool host_access_done(int ret)
{
	struct rch_access *access = list_first_entry_or_null(&accesses, struct rch_access, list);

	if (!access)
		return false;
	if (access->posted)
		access_end(access, ret);
	else
		access_start(access);
	return true;
}

void rch_access_move(struct rch_access *access, u64 address, u32 rkey)
{
}

void rch_access_atomic(struct rch_access *access, bool swap, u64 address, u32 rkey, u64 operand,
		       u64 compare)
{
	fuzz_assert(access->room && address % sizeof(u64) == 0);
}

bool rch_access_lost(const struct rch_access *access) { return false; }
void rch_accesses_look(struct rch_path *path, unsigned long stood) {}

u32 rch_access_pin_pages(struct rch_access *access, unsigned long addr, u32 length, bool write)
{
	return length;
}

void rch_access_unpin_pages(struct rch_access *access) {}

/* The program's region */

struct rch_regions *host_regions(void) { return &regions; }
struct rch_region *host_region(void) { return &region; }
struct rch_regions *rch_regions_get(struct rch_regions *set) { kref_get(&set->ref); return set; }

static void set_free(struct kref *ref) { fuzz_assert(!ref); }
void rch_regions_put(struct rch_regions *set) { kref_put(&set->ref, set_free); }

struct rch_region *rch_region_use(struct rch_regions *set, u32 id, const struct mm_struct *mm)
{
	if (set != &regions || id != region.id)
		return ERR_PTR(-ENOENT);
	host.uses++;
	return &region;
}

void rch_region_use_more(struct rch_region *r)
{
	fuzz_assert(r == &region);
	host.uses++;
}

void rch_region_unuse(struct rch_region *r)
{
	fuzz_assert(r == &region && host.uses);
	host.uses--;
}

int rch_region_check(const struct rch_region *r, u64 offset, u64 length, bool write)
{
	return rch_grant_range_ok(r->length, offset, length) ? 0 : -ERANGE;
}

bool rch_region_atomics_begin(struct rch_regions *set, struct rch_region *r, const void *by)
{
	fuzz_assert(set == &regions && r == &region);
	host.atomics++;
	return true;
}

void rch_region_atomics_end(struct rch_regions *set, struct rch_region *r)
{
	fuzz_assert(set == &regions && r == &region && host.atomics);
	host.atomics--;
}

u64 rch_region_atomic(struct rch_region *r, u64 offset, bool swap, u64 operand, u64 compare)
{
	u64 was, now;

	/* The region is used, and may not end meanwhile. */
	fuzz_assert(r == &region && host.uses && host.atomics);
	fuzz_assert((r->addr + offset) % sizeof(u64) == 0);
	memcpy(&was, host.region + offset, sizeof(was));
	now = swap ? (was == compare ? operand : was) : was + operand;
	memcpy(host.region + offset, &now, sizeof(now));
	return was;
}

void rch_region_iter(struct rch_region *r, unsigned int direction, u64 offset, size_t length,
		     struct iov_iter *iter)
{
	fuzz_assert(!rch_region_check(r, offset, length, false));
	*iter = (struct iov_iter){ .bytes = host.region + offset, .count = length };
}

int rch_region_table(struct rch_region *r, u64 offset, size_t length, u32 max,
		     struct rch_mem *mem)
{
	struct scatterlist *sg;

	fuzz_assert(host.uses && !rch_region_check(r, offset, length, false));
	sg = rch_try(RCH_SITE_REGION, kzalloc(sizeof(*sg), GFP_KERNEL));
	if (!sg)
		return -ENOMEM;
	sg->length = length;
	mem->length = length;
	mem->table.sgl = sg;
	mem->table.nents = 1;
	return 0;
}

struct rch_key *rch_region_key(struct rch_region *r, struct rch_path *path, u64 offset, u32 length,
			       u64 *address)
{
	return NULL;
}

struct rch_key *rch_region_lend(struct rch_region *r, struct rch_path *path, u64 offset,
				u32 length, bool write, struct rch_mem_cursor *cursor)
{
	return NULL;
}

u32 rch_region_access(struct rch_region *r, u64 offset, u32 length, bool write,
		      struct rch_access *access)
{
	fuzz_assert(!rch_region_check(r, offset, length, write));
	return length;
}

void rch_key_release(struct rch_key *key) { fuzz_assert(!key); }
u32 rch_mem_segment_max(struct ib_device *dev) { return HOST_REGION; }
bool rch_mem_needs_sync(struct rch_mem *mem) { return false; }
int rch_mem_map(struct rch_mem *mem, struct ib_device *dev) { return 0; }

int rch_mem_map_table(struct rch_mem *mem, struct ib_device *dev)
{
	if (!rch_no_memory(RCH_SITE_REGION))
		return 0;
	rch_mem_unmap(mem);
	return -ENOMEM;
}

void rch_mem_unmap(struct rch_mem *mem)
{
	kfree(mem->table.sgl);
	mem->table.sgl = NULL;
}

int rch_mem_pin(struct rch_mem *mem, unsigned long addr, size_t length,
		enum dma_data_direction direction)
{
	return -EFAULT;
}

void rch_mem_unpin(struct rch_mem *mem) { fuzz_assert(!mem); }

/** host_begin - @sent is told of each frame that is sent */
void host_begin(void (*sent)(const struct rch_txf *txf))
{
	memset(&host, 0, sizeof(host));
	host.sent = sent;
	host.region = memory;
	memset(&regions, 0, sizeof(regions));
	memset(&region, 0, sizeof(region));
	kref_init(&regions.ref);
	INIT_LIST_HEAD(&regions.loans);
	region.id = 7;
	region.addr = 0x10ff8;
	region.length = HOST_REGION;
	last_key = 0;
	io_count = 0;
}

/** host_end - everything has come back */
void host_end(void)
{
	fuzz_assert(!host.users && !host.uses && !host.atomics && !host.lent && !io_count);
	fuzz_assert(regions.ref.count == 1 && list_empty(&regions.loans));
	fuzz_assert(list_empty(&accesses));
}
