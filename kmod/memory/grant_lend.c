// SPDX-License-Identifier: GPL-2.0
/*
 * grant_lend.c - memory that is lent to the peer, and taken back
 *
 * Operation. A loan is made - region, mapping, memory regions with fresh keys - and given
 * with a message, both when the program has nothing more to say. It goes back in two steps. First
 * comes the holder's word that nobody there accesses it any more. That is RELEASE, which also
 * answers REVOKE; or CLOSE or CLOSED of the channel, which are not sent while anybody does;
 * or the end of the path. Then the keys are made invalid, and only after that the owner
 * is told: his event, or the end of his REVOKE. A key is never made invalid under an access
 * of a peer that keeps to this, as that would cost both hosts their link.
 *
 * What has the peer told to give back is in grant_revoke.c.
 */
#include <linux/slab.h>

#include "base/inject.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "memory/grant.h"
#include "memory/region.h"
#include "path/path_rdma.h"
#include "pure/seq.h"

/* A loan's life */

static void grant_lend_loan_free(struct kref *ref)
{
	struct rch_loan *loan = container_of(ref, struct rch_loan, ref);

	pr_debug("rdmachan: grant destroyed %p\n", loan);
	rch_charge_end(&loan->charge);
	rch_regions_put(loan->set);
	rch_chan_put(loan->grants->chan);
	atomic_dec(&rch_counts.grants);
	kfree_rcu(loan, rcu);
}

/** rch_loan_put - drop a reference. Any context */
void rch_loan_put(struct rch_loan *loan)
{
	kref_put(&loan->ref, grant_lend_loan_free);
}

static bool grant_lend_object_get(struct rch_object *obj)
{
	return kref_get_unless_zero(&container_of(obj, struct rch_loan, object)->ref);
}

static void grant_lend_object_put(struct rch_object *obj)
{
	rch_loan_put(container_of(obj, struct rch_loan, object));
}

static void grant_lend_object_fill(struct rch_object *obj, struct rdmachan_object *out)
{
	struct rch_loan *loan = container_of(obj, struct rch_loan, object);
	struct rch_chan *chan = loan->grants->chan;

	out->state = READ_ONCE(loan->revoked) || READ_ONCE(loan->state) >= RCH_LOAN_ENDING ||
		     READ_ONCE(loan->grants->over) ? RDMACHAN_STATE_CLOSING : RDMACHAN_STATE_OPEN;
	out->link_id = chan->lane.link->object.id;
	out->service = chan->service;
	out->active = chan->active;
	rch_addr_from_sockaddr(&out->peer, &chan->lane.link->peer);
	out->grant = READ_ONCE(loan->info.id);
	out->rights = loan->info.rights;
	out->cookie = loan->info.cookie;
	out->length = loan->info.length;
	out->region = loan->region_id;
	out->uses_left = loan->info.uses ?: ~0ULL;
}

static const struct rch_object_ops loan_object_ops = {
	.kind = RDMACHAN_KIND_GRANT,
	.get = grant_lend_object_get,
	.put = grant_lend_object_put,
	.fill = grant_lend_object_fill,
};

static void grant_lend_revoke_sent(struct rch_word *word)
{
	rch_loan_put(container_of(word, struct rch_loan, revoke));
}

static struct rch_loan *grant_lend_loan_alloc(struct rch_grants *grants, struct rch_regions *set)
{
	struct rch_chan *chan = grants->chan;
	struct rch_loan *loan;

	loan = rch_try(RCH_SITE_GRANT, kzalloc(sizeof(*loan), GFP_KERNEL_ACCOUNT));
	if (!loan)
		return NULL;
	rch_charge_begin(&loan->charge, chan->charge.user, chan->charge.exempt);
	kref_init(&loan->ref);
	kref_get(&chan->ref);
	loan->grants = grants;
	loan->set = rch_regions_get(set);
	loan->revoke.sent = grant_lend_revoke_sent;
	INIT_LIST_HEAD(&loan->of_set);
	INIT_LIST_HEAD(&loan->ending);
	INIT_DELAYED_WORK(&loan->timer, rch_loan_timer);
	init_waitqueue_head(&loan->wait);
	atomic_inc(&rch_counts.grants);
	pr_debug("rdmachan: grant created %p\n", loan);
	return loan;
}

/* The region that is lent, used from here on. */
static int grant_lend_find_region(struct rch_loan *loan, const struct rdmachan_grant_range *range,
				  struct rdmachan_error *error)
{
	bool write = range->rights & (RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC);
	struct rch_region *region = rch_region_use(loan->set, range->region, current->mm);
	const void *by = NULL;
	int ret;

	if (IS_ERR(region))
		return PTR_ERR(region);
	ret = rch_region_check(region, range->offset, range->length, write);
	if (ret)
		goto err;
	if ((range->rights & RDMACHAN_RIGHT_ATOMIC) && rch_lend_atomics(loan->path)) {
		loan->info.rights |= RDMACHAN_RIGHT_BY_DEVICE;
		by = loan->path->dev;
	}
	if ((range->rights & RDMACHAN_RIGHT_ATOMIC) &&
	    !rch_region_atomics_begin(loan->set, region, by)) {
		rch_error_set(error, RDMACHAN_OP_GRANT, RDMACHAN_CAUSE_ATOMICS, 0);
		ret = -EBUSY;
		goto err;
	}
	loan->region = region;
	return 0;

err:
	rch_region_unuse(region);
	return ret;
}

static void grant_lend_drop_region(struct rch_loan *loan)
{
	if (loan->info.rights & RDMACHAN_RIGHT_ATOMIC)
		rch_region_atomics_end(loan->set, loan->region);
	rch_region_unuse(loan->region);
}

static void grant_lend_put_pieces(struct rch_loan *loan)
{
	u32 i;

	for (i = 0; i < loan->info.keys && loan->pieces[i]; i++) {
		rch_lend_unmap(loan->pieces[i]);
		rch_lend_put(loan->path, loan->pieces[i]);
	}
	kvfree(loan->pieces);
	kvfree(loan->keys);
}

/* Pages that @bytes at @address are in. */
static u64 grant_lend_pages_at(u64 address, u64 bytes)
{
	return DIV_ROUND_UP_ULL(offset_in_page(address) + bytes, PAGE_SIZE);
}

/*
 * The piece that has the @bytes at @offset of the region. Memory that the adapter reaches through
 * bounce buffers cannot be lent: the buffers would have to be copied whenever the peer accesses it,
 * and the owner does not learn of that. Return: it, or an ERR_PTR(): -ENOMEM or -EOPNOTSUPP.
 */
static struct rch_lend *grant_lend_get_piece(struct rch_loan *loan, u64 offset, u64 bytes)
{
	struct rch_lend *piece = rch_lend_get(loan->path,
					      grant_lend_pages_at(loan->region->addr + offset,
								  bytes));
	bool write = loan->info.rights & (RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC);
	struct ib_device *dev = loan->path->dev;

	if (!piece)
		return ERR_PTR(-ENOMEM);
	piece->key = rch_region_lend(loan->region, loan->path, offset, bytes, write,
				     &piece->begin);
	if (piece->key)
		return piece;
	piece->mem.direction = write ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
	if (rch_region_table(loan->region, offset, bytes, rch_mem_segment_max(dev),
			     &piece->mem) ||
	    rch_mem_map_table(&piece->mem, dev)) {
		rch_lend_put(loan->path, piece);
		return ERR_PTR(-ENOMEM);
	}
	if (rch_mem_needs_sync(&piece->mem)) {
		rch_mem_unmap(&piece->mem);
		rch_lend_put(loan->path, piece);
		return ERR_PTR(-EOPNOTSUPP);
	}
	rch_mem_begin(&piece->mem, &piece->begin);
	return piece;
}

static int grant_lend_get_pieces(struct rch_loan *loan)
{
	u64 address = loan->info.start, end = address + loan->info.length, bytes;
	struct rch_lend *piece;
	u32 i;

	loan->pieces = rch_try(RCH_SITE_GRANT, kvcalloc(loan->info.keys, sizeof(*loan->pieces),
							GFP_KERNEL_ACCOUNT));
	loan->keys = rch_try(RCH_SITE_GRANT, kvcalloc(loan->info.keys, sizeof(*loan->keys),
						      GFP_KERNEL_ACCOUNT));
	if (!loan->pieces || !loan->keys)
		goto err;
	for (i = 0; i < loan->info.keys; i++, address += bytes) {
		bytes = rch_grant_piece_left(address, loan->info.shift, end - address);
		piece = grant_lend_get_piece(loan, loan->offset + address - loan->info.start,
					     bytes);
		if (IS_ERR(piece))
			goto err_pieces;
		loan->pieces[i] = piece;
	}
	return 0;

err_pieces:
	grant_lend_put_pieces(loan);
	return PTR_ERR(piece);
err:
	kvfree(loan->pieces);
	kvfree(loan->keys);
	return -ENOMEM;
}

static void grant_lend_close_pieces(struct rch_loan *loan)
{
	rch_lend_close(loan->path, loan->pieces, loan->info.keys);
	grant_lend_put_pieces(loan);
}

/* The adapter's errors that programs know: it cannot map such memory, or it has failed. */
static int grant_lend_open_errno(int ret)
{
	switch (ret) {
	case -ENOMEM:
		return -ENOMEM;
	case -EINVAL:
	case -EOPNOTSUPP:
		return -EOPNOTSUPP;
	default:
		return -ENOTCONN;
	}
}

static int grant_lend_open_pieces(struct rch_loan *loan)
{
	int ret = grant_lend_get_pieces(loan);
	u32 i;

	if (ret)
		return ret;
	ret = rch_lend_open(loan->path, loan->pieces, loan->info.keys, loan->info.shift,
			    loan->info.rights);
	if (ret) {
		grant_lend_close_pieces(loan);
		return grant_lend_open_errno(ret);
	}
	for (i = 0; i < loan->info.keys; i++)
		loan->keys[i] = cpu_to_le32(loan->pieces[i]->mr->rkey);
	loan->info.key = loan->keys;
	return 0;
}

/*
 * The event is made ahead: to be told must not fail. It is the channel's, and paid for until it
 * is read.
 */
static int grant_lend_make_event(struct rch_loan *loan, struct rdmachan_error *error)
{
	const struct rch_cost cost = { .of[RDMACHAN_LIMIT_BYTES] = RCH_EVENT_BYTES };
	struct rch_chan *chan = loan->grants->chan;
	struct rdmachan_grant_event *event;
	void *data;
	int ret;

	ret = rch_charge_own(&chan->charge, &cost, RDMACHAN_OP_GRANT, error);
	if (ret)
		return ret;
	loan->event = rch_segment_make(sizeof(*event), GFP_KERNEL_ACCOUNT, &data);
	if (!loan->event) {
		rch_chan_events_over(chan, 1);
		return -ENOMEM;
	}
	event = data;
	event->what = RDMACHAN_GRANT_RETURNED;
	event->count = 1;
	event->length = loan->info.length;
	event->cookie = loan->info.cookie;
	event->rights = loan->info.rights;
	return 0;
}

static void grant_lend_drop_event(struct rch_loan *loan, struct rch_segment *event)
{
	LIST_HEAD(drop);

	list_add(&event->list, &drop);
	rch_segments_free(&drop);
	rch_chan_events_over(loan->grants->chan, 1);
}

static int grant_lend_describe(struct rch_loan *loan, const struct rdmachan_grant_range *range)
{
	u64 keys;

	loan->region_id = range->region;
	loan->offset = range->offset;
	loan->expires_ms = range->expires_ms;
	loan->info.length = range->length;
	loan->info.cookie = range->cookie;
	loan->info.uses = range->uses;
	loan->info.shift = rch_lend_shift(loan->path);
	loan->info.start = offset_in_page(loan->region->addr + range->offset);
	keys = rch_grant_keys(loan->info.start, range->length, loan->info.shift);
	loan->info.keys = keys;
	return keys && keys <= U16_MAX ? 0 : -EMSGSIZE;
}

static u64 grant_lend_cost_of_pieces(const struct rch_loan *loan)
{
	u64 address = loan->info.start, end = address + loan->info.length, bytes, sum = 0;

	for (; address < end; address += bytes) {
		bytes = rch_grant_piece_left(address, loan->info.shift, end - address);
		sum += rch_lend_cost(loan->path, grant_lend_pages_at(address, bytes));
	}
	return sum;
}

/* What the adapter must know is what a loan costs, not that it is one. */
static int grant_lend_charge(struct rch_loan *loan, struct rdmachan_error *error)
{
	struct rch_cost cost = { .of[RDMACHAN_LIMIT_GRANTS] = loan->info.keys };

	loan->bytes = grant_lend_cost_of_pieces(loan);
	cost.of[RDMACHAN_LIMIT_BYTES] = loan->bytes;
	return rch_charge_object(&loan->charge, &cost, RDMACHAN_OP_GRANT, error);
}

static void grant_lend_uncharge(struct rch_loan *loan)
{
	rch_charge_give(&loan->charge, RDMACHAN_LIMIT_GRANTS, loan->info.keys);
	rch_charge_give(&loan->charge, RDMACHAN_LIMIT_BYTES, loan->bytes);
}

/* Lend it as it can be, as far as is known. */
static int grant_lend_build_so(struct rch_loan *loan, const struct rdmachan_grant_range *range,
			       struct rdmachan_error *error)
{
	int ret;

	loan->info.rights = range->rights;
	ret = grant_lend_find_region(loan, range, error);
	if (ret)
		return ret;
	ret = grant_lend_describe(loan, range) ?: grant_lend_charge(loan, error);
	if (ret)
		goto err_region;
	ret = grant_lend_open_pieces(loan);
	if (ret)
		goto err_charge;
	ret = grant_lend_make_event(loan, error);
	if (ret)
		goto err_pieces;
	ret = rch_object_enter(&loan->object, &loan_object_ops, loan->grants->chan->net,
			       loan->charge.user->uid, GFP_KERNEL);
	if (ret)
		goto err_event;
	return 0;

err_event:
	grant_lend_drop_event(loan, loan->event);
err_pieces:
	grant_lend_close_pieces(loan);
err_charge:
	grant_lend_uncharge(loan);
err_region:
	grant_lend_drop_region(loan);
	return ret;
}

/* With the path entered. Atomic operations that the adapter does not do are the kernel's. */
static int grant_lend_build(struct rch_loan *loan, const struct rdmachan_grant_range *range,
			    struct rdmachan_error *error)
{
	int ret = grant_lend_build_so(loan, range, error);

	if (ret == -EOPNOTSUPP && (loan->info.rights & RDMACHAN_RIGHT_BY_DEVICE) &&
	    !rch_lend_atomics(loan->path))
		ret = grant_lend_build_so(loan, range, error);
	return ret;
}

/*
 * Lend memory, without telling the peer yet; by the holder of RCH_CHAN_TX of an open channel.
 * A loan is a user of the path from here on: until it is given nobody is waited for but
 * the adapter, and least of all the program's memory.
 */
static struct rch_loan *grant_lend_make(struct rch_grants *grants, struct rch_giving *giving,
					const struct rdmachan_grant_range *range)
{
	struct rch_chan *chan = grants->chan;
	struct rch_loan *loan = grant_lend_loan_alloc(grants, giving->set);
	int ret = -ENOTCONN;

	if (!loan)
		return ERR_PTR(-ENOMEM);
	loan->path = &chan->lane.link->path;
	if (!rch_path_enter(loan->path))
		goto err;
	ret = rch_lend_can(loan->path) ? grant_lend_build(loan, range, giving->error) : -EOPNOTSUPP;
	if (ret)
		goto err_leave;
	return loan;

err_leave:
	rch_path_leave(loan->path);
err:
	rch_loan_put(loan);
	return ERR_PTR(ret == -ENOTCONN ? rch_chan_tx_check(chan) ?: -ECONNRESET : ret);
}

/* Control of the memory is back with this. The loan is in no table. */
static void grant_lend_take_back(struct rch_loan *loan)
{
	struct rch_path *path = loan->path;

	rch_object_strike(&loan->object);
	grant_lend_close_pieces(loan);
	grant_lend_drop_region(loan);
	rch_path_leave(path);
	grant_lend_uncharge(loan);
}

/* The peer has not been told of it. */
static void grant_lend_undo(struct rch_loan *loan)
{
	grant_lend_take_back(loan);
	grant_lend_drop_event(loan, loan->event);
	rch_loan_put(loan);
}

/* Return: whether it was not before. */
static bool grant_lend_ending_locked(struct rch_loan *loan, u32 cause)
{
	struct rch_grants *grants = loan->grants;

	lockdep_assert_held(&grants->loans.xa_lock);
	if (loan->state != RCH_LOAN_LIVE)
		return false;
	WRITE_ONCE(loan->state, RCH_LOAN_ENDING);
	loan->cause = loan->revoked ? RDMACHAN_CAUSE_SHUTDOWN : cause;
	list_add_tail(&loan->ending, &grants->ending);
	atomic_inc(&grants->chan->returning);
	return true;
}

static void grant_lend_take_back_later(struct rch_grants *grants)
{
	kref_get(&grants->chan->ref);
	if (!rch_link_return(grants->chan->lane.link, &grants->back))
		rch_chan_put(grants->chan);
}

/* Giving */

static void grant_lend_enter(struct rch_loan *loan)
{
	atomic_inc(&loan->grants->chan->lent);
	/* In the list there are only those that can be revoked, or are over. */
	spin_lock(&loan->set->lock);
	xa_lock_bh(&loan->grants->loans);
	WRITE_ONCE(loan->state, RCH_LOAN_LIVE);
	xa_unlock_bh(&loan->grants->loans);
	list_add_tail(&loan->of_set, &loan->set->loans);
	loan->set->lent++;
	spin_unlock(&loan->set->lock);
}

static void grant_lend_leave_set(struct rch_loan *loan)
{
	spin_lock(&loan->set->lock);
	if (!list_empty(&loan->of_set))
		loan->set->lent--;
	list_del_init(&loan->of_set);
	spin_unlock(&loan->set->lock);
}

/* Numbers grow in the order in which the peer hears of them; 0 is none, others are in use. */
static void grant_lend_choose_numbers(struct rch_grants *grants, struct rch_giving *giving)
{
	u32 id = grants->last, i;

	for (i = 0; i < giving->count; i++) {
		do
			id++;
		while (!id || xa_load(&grants->loans, id));
		giving->ids[i] = id;
	}
}

static int grant_lend_number(struct rch_loan *loan, u32 id)
{
	struct rch_grants *grants = loan->grants;
	int ret = xa_insert_bh(&grants->loans, id, loan, GFP_KERNEL_ACCOUNT);

	if (ret)
		return ret;
	WRITE_ONCE(grants->last, id);
	WRITE_ONCE(loan->info.id, id);
	((struct rdmachan_grant_event *)loan->event->data)->grant = id;
	return 0;
}

static struct rch_item *grant_lend_message(struct rch_giving *giving, struct rch_loan **loans)
{
	struct rch_lane *lane = &giving->chan->lane;
	struct rch_grant_info infos[RCH_GRANTS_MAX];
	struct rch_item *item;
	void *data;
	u64 length;
	u32 i;

	for (i = 0; i < giving->count; i++)
		infos[i] = loans[i]->info;
	length = rch_wire_grants_size(infos, giving->count, giving->bytes);
	if (length > rch_lane_segment_max(lane) ||
	    length > READ_ONCE(giving->chan->peer_message_max))
		return ERR_PTR(-EMSGSIZE);
	item = rch_lane_item(lane, length, false, GFP_KERNEL_ACCOUNT, &data);
	if (!item)
		return ERR_PTR(-ENOMEM);
	data = rch_wire_grants_put(data, infos, giving->count);
	memcpy(data, giving->message, giving->bytes);
	item->flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_GRANTS;
	item->msg_flags = giving->msg_flags;
	item->total = length;
	return item;
}

static void grant_lend_tell_end(struct rch_loan *loan)
{
	struct rch_chan *chan = loan->grants->chan;
	struct rch_segment *event = NULL;

	xa_lock_bh(&loan->grants->loans);
	swap(event, loan->event);
	xa_unlock_bh(&loan->grants->loans);
	if (event) {
		((struct rdmachan_grant_event *)event->data)->cause = loan->cause;
		rch_chan_event(chan, event);
	}
	atomic_dec(&chan->returning);
	atomic_dec(&chan->lent);
	/* A thread that reads to the end, which comes behind the last of these. */
	wake_up_interruptible_all(&chan->wait);
	xa_lock_bh(&loan->grants->loans);
	WRITE_ONCE(loan->state, RCH_LOAN_ENDED);
	__xa_erase(&loan->grants->loans, loan->info.id);
	xa_unlock_bh(&loan->grants->loans);
	wake_up_all(&loan->wait);
}

/*
 * GRANT is over. It may have failed, as the lane takes no more: then the peer has not heard of the
 * loan, and the program, which has GRANT's error, hears of no end. The loan may have been taken
 * back meanwhile: its end is told only now, when it is known whether the program hears of it.
 */
static void grant_lend_settle(struct rch_loan *loan, bool given)
{
	bool first = false, back, closed = rch_lane_closed(&loan->grants->chan->lane);
	struct rch_segment *event = NULL;

	xa_lock_bh(&loan->grants->loans);
	loan->settled = true;
	back = loan->back;
	if (!given) {
		/* One that the peer was asked for ends by its answer, or when the lane ends. */
		if (!loan->revoked || closed)
			first = grant_lend_ending_locked(loan, RDMACHAN_CAUSE_NONE);
		swap(event, loan->event);
	}
	xa_unlock_bh(&loan->grants->loans);
	if (event)
		grant_lend_drop_event(loan, event);
	if (first)
		grant_lend_take_back_later(loan->grants);
	if (back)
		grant_lend_tell_end(loan);
}

/* The item is made: from here on nothing fails but the channel. */
static int grant_lend_give(struct rch_giving *giving, struct rch_loan **loans,
			   struct rch_item *item)
{
	struct rch_loan *loan;
	int ret;
	u32 i;

	for (i = 0; i < giving->count; i++) {
		loan = loans[i];
		kref_get(&loan->ref);
		grant_lend_enter(loan);
	}
	ret = rch_lane_queue(&giving->chan->lane, item);
	for (i = 0; i < giving->count; i++) {
		loan = loans[i];
		if (!ret && loan->expires_ms)
			rch_loan_expire_later(loan);
		grant_lend_settle(loan, !ret);
		rch_loan_put(loan);
	}
	return ret;
}

static int grant_lend_make_and_give(struct rch_grants *grants, struct rch_giving *giving)
{
	struct rch_loan *loans[RCH_GRANTS_MAX];
	struct rch_item *item;
	u32 made, numbered = 0;
	int ret = 0;

	for (made = 0; made < giving->count; made++) {
		loans[made] = grant_lend_make(grants, giving, &giving->ranges[made]);
		ret = PTR_ERR_OR_ZERO(loans[made]);
		if (ret)
			goto err;
	}
	for (; numbered < made; numbered++) {
		ret = grant_lend_number(loans[numbered], giving->ids[numbered]);
		if (ret)
			goto err;
	}
	item = grant_lend_message(giving, loans);
	ret = PTR_ERR_OR_ZERO(item);
	if (!ret)
		return grant_lend_give(giving, loans, item);
err:
	while (numbered--)
		xa_erase_bh(&grants->loans, giving->ids[numbered]);
	while (made--)
		grant_lend_undo(loans[made]);
	return ret;
}

static int grant_lend_give_claimed(struct rch_giving *giving)
{
	struct rch_chan *chan = giving->chan;
	struct rch_grants *grants;
	int ret;

	grants = rch_grants_get(chan, GFP_KERNEL_ACCOUNT);
	if (!grants)
		return -ENOMEM;
	grant_lend_choose_numbers(grants, giving);
	/* Its memory may take as long as it pleases, as nothing is lent yet. */
	ret = giving->out(giving) ?: grant_lend_make_and_give(grants, giving);
	if (!ret)
		rch_chan_tx_done(chan, giving->bytes);
	return ret == -EPIPE ? rch_chan_tx_check(chan) ?: ret : ret;
}

/**
 * rch_loans_give - lend memory, and tell the peer
 * @giving: what; @giving->error tells which limit it was, and all else that is known
 * @nonblock: do not wait
 * @deadline: how long to wait for room, as of rch_deadline()
 *
 * Context: process. Return: 0; -EOPNOTSUPP: the adapter cannot;
 * -ENOENT, -EPERM, -ERANGE, -EACCES, -EBUSY; -EMSGSIZE, -EFAULT; -ENOMEM, -EDQUOT, -ENOSPC; or
 * as rch_chan_send().
 */
int rch_loans_give(struct rch_giving *giving, bool nonblock, unsigned long deadline)
{
	int ret = rch_chan_tx_claim_wait(giving->chan, giving->bytes, nonblock, deadline);

	if (ret)
		return ret;
	ret = grant_lend_give_claimed(giving);
	rch_chan_unclaim(giving->chan, RCH_CHAN_TX);
	return ret;
}

/* Ending */

/** rch_loans_end - nobody at the peer accesses any of them any more. Any context */
void rch_loans_end(struct rch_grants *grants, u32 cause)
{
	bool any;

	/* There may be very many, and rch_loans_return() finds them. */
	xa_lock_bh(&grants->loans);
	any = !xa_empty(&grants->loans);
	if (any && !grants->over) {
		grants->over_cause = cause;
		WRITE_ONCE(grants->over, true);
	}
	xa_unlock_bh(&grants->loans);
	if (any)
		grant_lend_take_back_later(grants);
}

/** rch_loan_release_got - the holder gives one back. Return: the rule that was broken */
enum rch_rule rch_loan_release_got(struct rch_grants *grants, const struct rch_record *r)
{
	struct rch_loan *loan;
	bool ok;
	u32 id, cause;

	rch_wire_grant_end_get(r, &id, &cause);
	/* What the holder may say of why it gives back. */
	cause = cause ? RDMACHAN_CAUSE_PEER_RESOURCES : RDMACHAN_CAUSE_NONE;
	xa_lock_bh(&grants->loans);
	loan = xa_load(&grants->loans, id);
	ok = loan && rch_loan_live(loan) && grant_lend_ending_locked(loan, cause);
	xa_unlock_bh(&grants->loans);
	if (!ok)
		return RCH_RULE_GRANT;
	grant_lend_take_back_later(grants);
	return RCH_RULE_OK;
}

static void grant_lend_end(struct rch_loan *loan)
{
	bool settled;

	if (cancel_delayed_work_sync(&loan->timer))
		rch_loan_put(loan);
	grant_lend_take_back(loan);
	grant_lend_leave_set(loan);
	xa_lock_bh(&loan->grants->loans);
	settled = loan->settled;
	loan->back = true;
	xa_unlock_bh(&loan->grants->loans);
	if (settled)
		grant_lend_tell_end(loan);
	rch_loan_put(loan);
}

/* Behind those that were ending, the others if the channel has ended: few are not LIVE. */
static struct rch_loan *grant_lend_next_back(struct rch_grants *grants)
{
	struct rch_loan *loan = list_first_entry_or_null(&grants->ending, struct rch_loan, ending);
	unsigned long id;

	if (!loan && grants->over)
		xa_for_each(&grants->loans, id, loan)
			if (loan->state == RCH_LOAN_LIVE)
				break;
	return loan;
}

/** rch_loans_return - take back the first of what is ending, and then the next in its turn */
void rch_loans_return(struct rch_return *r)
{
	struct rch_grants *grants = container_of(r, struct rch_grants, back);
	struct rch_loan *loan;
	bool more;

	xa_lock_bh(&grants->loans);
	loan = grant_lend_next_back(grants);
	if (loan) {
		if (grant_lend_ending_locked(loan, grants->over_cause))
			atomic_inc(&rch_counts.put_off);
		list_del_init(&loan->ending);
	}
	more = grant_lend_next_back(grants);
	xa_unlock_bh(&grants->loans);
	if (loan)
		grant_lend_end(loan);
	if (more)
		grant_lend_take_back_later(grants);
	rch_chan_put(grants->chan);
}
