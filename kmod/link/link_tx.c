// SPDX-License-Identifier: GPL-2.0
/*
 * link_tx.c - builds frames and sends them
 *
 * Operation. Records are put into the link's *open* frame: first control records,
 * then data, channel by channel in deficit round robin. A large item is a frame by
 * itself. A frame is *closed* when it is full, or when hardly anything is in flight,
 * so that an idle link adds no delay and a busy one fills its frames; link_gather.c
 * has exceptions. Closing gives it a number and takes a credit. Closed frames are posted
 * in chains.
 *
 * Bare frames. A message that just fills its packets would need one more for the headers,
 * and headers that tell nothing are bytes to be made, copied and looked at. Where the adapter
 * has immediate data such a message is a frame as it is.
 *
 * Signalling. A completion is asked for when the link waits for one to close its open
 * frame, and otherwise for every RCH_SIGNAL_EACH-th frame: a ping-pong, whose answers
 * bring acknowledgements, has hardly any.
 *
 * Buffer ownership. A frame is in @open, @ready or @sent and belongs to the link. It
 * stays in @sent until the adapter has completed it *and* the peer's module has
 * acknowledged it. A frame that is being posted is in @sent already, because its
 * completion may come first.
 *
 * Error handling. When a path fails nothing is freed here: the link goes to DEAD, and
 * rch_link_purge() frees everything after the path was drained.
 */
#include <linux/bitfield.h>

#include "base/rch.h"
#include "link/link.h"

/* While fewer frames than this are in flight, an open frame is sent at once. */
#define RCH_FLIGHT_IDLE 2
#define RCH_SIGNAL_EACH 8
/*
 * From a round trip of so many microseconds on, credit is told twice as often: the peer waits for
 * it, and frames that only tell it cost little beside that.
 */
#define RCH_TRIP_LONG_US 2000
/* A frame that may not wait for a long trip waits for this part of it: a burst shares frames. */
#define RCH_TRIP_PART 16

static u32 link_tx_in_flight(const struct rch_link *link)
{
	const struct rch_credit *c = &link->credit;

	return rch_seq_before(link->tx.done, c->tx_acked) ? c->tx_next - c->tx_acked
						       : c->tx_next - link->tx.done;
}

static bool link_tx_may_close(struct rch_link *link, bool pure)
{
	const struct rch_credit *c = &link->credit;
	const u32 most = link->path.send_depth;

	return rch_credit_room(c, pure) && c->tx_next - link->tx.done < most &&
	       (pure || !rch_credit_kept(c, most));
}

static void link_tx_close_frame(struct rch_link *link, struct rch_txf *txf)
{
	txf->seq = rch_credit_take(&link->credit);
	list_add_tail(&txf->list, &link->tx.ready);
}

static bool link_tx_close_open(struct rch_link *link)
{
	if (!link_tx_may_close(link, false))
		return false;
	link_tx_close_frame(link, link->tx.open);
	link->tx.open = NULL;
	rch_link_gather_over(link);
	return true;
}

static bool link_tx_open_is_empty(const struct rch_link *link)
{
	return !link->tx.open || link->tx.open->used == sizeof(struct rch_wire_frame);
}

static struct rch_txf *link_tx_spare_take(struct rch_link *link)
{
	struct rch_txf *txf;

	lockdep_assert_held(&link->lock);
	txf = list_first_entry_or_null(&link->tx.spare, struct rch_txf, list);
	if (!txf)
		return NULL;
	link->tx.spares--;
	list_del(&txf->list);
	rch_txf_reset(txf);
	return txf;
}

/** rch_link_spare_get - a frame of full size that was used before, or NULL */
struct rch_txf *rch_link_spare_get(struct rch_link *link)
{
	struct rch_txf *txf;

	spin_lock_bh(&link->lock);
	txf = link_tx_spare_take(link);
	spin_unlock_bh(&link->lock);
	return txf;
}

/** rch_link_spare_trim - free all spare frames */
void rch_link_spare_trim(struct rch_link *link)
{
	struct rch_txf *txf;

	while ((txf = rch_link_spare_get(link)))
		rch_txf_free(txf);
}

static struct rch_txf *link_tx_pure_take(struct rch_link *link)
{
	struct rch_txf *txf;

	lockdep_assert_held(&link->lock);
	txf = list_first_entry_or_null(&link->tx.pure, struct rch_txf, list);
	if (!txf)
		return NULL;
	WRITE_ONCE(link->tx.pures, link->tx.pures - 1);
	list_del(&txf->list);
	rch_txf_reset(txf);
	return txf;
}

static void link_tx_pure_put(struct rch_link *link, struct rch_txf *txf)
{
	lockdep_assert_held(&link->lock);
	if (link->tx.pures >= RCH_PURE_SPARES) {
		rch_txf_free(txf);
		return;
	}
	WRITE_ONCE(link->tx.pures, link->tx.pures + 1);
	list_add(&txf->list, &link->tx.pure);
}

static struct rch_txf *link_tx_pure_alloc(gfp_t gfp)
{
	return rch_txf_alloc(sizeof(struct rch_wire_frame), gfp);
}

/**
 * rch_link_pure_fill - get the frames that a heartbeat without memory needs
 * @link: link that is UP; nobody takes it apart before this returns
 *
 * Context: process; may wait for memory. If there is none, it is tried again.
 */
void rch_link_pure_fill(struct rch_link *link)
{
	struct rch_txf *txf;

	while (READ_ONCE(link->tx.pures) < RCH_PURE_SPARES &&
	       (txf = link_tx_pure_alloc(GFP_KERNEL))) {
		spin_lock_bh(&link->lock);
		link_tx_pure_put(link, txf);
		spin_unlock_bh(&link->lock);
	}
}

/* Allocating means clearing on many kernels: keep what is likely to be needed. */
static void link_tx_spare_put(struct rch_link *link, struct rch_txf *txf)
{
	lockdep_assert_held(&link->lock);
	if (txf->flags & RCH_FRAME_F_PURE) {
		link_tx_pure_put(link, txf);
		return;
	}
	if (txf->size != link->terms.frame_size || link->tx.spares >= RCH_SPARE_MAX) {
		rch_txf_free(txf);
		return;
	}
	link->tx.spares++;
	list_add(&txf->list, &link->tx.spare);
}

/**
 * rch_link_open_frame - get a frame with room for a record
 * @link: link, locked
 * @space: bytes of the record with header and padding
 *
 * Return: the open frame, or NULL when there is no memory, or the open frame is full
 * and must wait for credit.
 */
struct rch_txf *rch_link_open_frame(struct rch_link *link, u32 space)
{
	lockdep_assert_held(&link->lock);
	if (link->tx.open && link->tx.open->size - link->tx.open->used < space &&
	    !link_tx_close_open(link))
		return NULL;
	if (!link->tx.open)
		link->tx.open = link_tx_spare_take(link) ?:
				rch_txf_alloc(link->terms.frame_size, GFP_ATOMIC);
	if (WARN_ON_ONCE(link->tx.open && link->tx.open->size - link->tx.open->used < space))
		return NULL;
	return link->tx.open;
}

/* Whether the peer learns our limit by bare frames. */
static bool link_tx_bare_tells(const struct rch_link *link)
{
	return (link->terms.features & RCH_FEATURE_BARE) && rch_credit_full(&link->credit);
}

/**
 * rch_link_bare_turn - whether nothing is ahead of a bare frame
 * @link: link, locked
 *
 * With others a message goes in their packets.
 */
bool rch_link_bare_turn(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	return link_tx_open_is_empty(link) && list_empty(&link->tx.ready);
}

/**
 * rch_link_bare_does - whether a frame with headers would tell no more than a bare one
 * @link: link, locked
 *
 * One message would go at once and alone, and nobody waits for what else there is to tell.
 */
bool rch_link_bare_does(const struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	return link_tx_in_flight(link) < RCH_FLIGHT_IDLE && list_empty(&link->last.lanes) &&
	       (link_tx_bare_tells(link) || !rch_credit_must_tell(&link->credit));
}

/**
 * rch_link_bare_frame - a frame for rch_link_bare_close()
 * @link: link, locked; it is the frame's turn
 *
 * Return: the frame; or NULL when others may follow, or there is no credit or no memory.
 */
struct rch_txf *rch_link_bare_frame(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	if (rch_link_may_gather(link) || !link_tx_may_close(link, false))
		return NULL;
	return link_tx_spare_take(link) ?: rch_txf_alloc(link->terms.frame_size, GFP_ATOMIC);
}

/** rch_link_bare_close - a bare frame has its message: it is sent when the link is run */
void rch_link_bare_close(struct rch_link *link, struct rch_txf *txf)
{
	lockdep_assert_held(&link->lock);
	link_tx_close_frame(link, txf);
}

/* Whether there is so much credit that a frame may go for one record. */
static bool link_tx_has_plenty(const struct rch_link *link)
{
	return rch_credit_room(&link->credit, false) > link->credit.tx_depth / 2;
}

/**
 * rch_link_hasten - the open frame does not wait for frames in flight, if there is credit enough
 * @link: link, locked
 */
void rch_link_hasten(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	if (link_tx_has_plenty(link))
		link->tx.prompt = true;
}

static void *link_tx_put_record(struct rch_link *link, const struct rch_record *r)
{
	struct rch_txf *txf = rch_link_open_frame(link, rch_wire_space(r->length));
	void *payload;

	if (!txf)
		return NULL;
	payload = rch_wire_record_put(txf->data + txf->used, r);
	txf->used += rch_wire_space(r->length);
	/* A program waits for the answer to an early message, and so for all of this. */
	if (r->type != RCH_REC_DATA || (r->flags & RCH_DATA_F_EARLY)) {
		link->tx.urgent = true;
		if (link_tx_has_plenty(link))
			link->tx.prompt = true;
		else if (rch_link_trip_us(link) >= RCH_TRIP_LONG_US)
			rch_link_close_by(link, rch_link_trip_us(link) / RCH_TRIP_PART);
	}
	return payload;
}

/* Return: where its payload goes; or NULL: no frame has room */
static void *link_tx_put_of_lane(struct rch_link *link, const struct rch_lane *lane, u8 type,
				 u8 flags, u32 length)
{
	const struct rch_record r = {
		.chan = lane->peer_id,
		.type = type,
		.flags = flags,
		.length = length,
	};

	return link_tx_put_record(link, &r);
}

static bool link_tx_put_open(struct rch_link *link, const struct rch_lane *lane)
{
	u8 flags = lane->early == RCH_EARLY_ASKS ? RCH_OPEN_F_EARLY : 0;
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_OPEN, flags,
					    sizeof(struct rch_wire_open));

	if (payload)
		rch_wire_open_put(payload, &lane->open);
	return payload;
}

static bool link_tx_put_accept(struct rch_link *link, const struct rch_lane *lane)
{
	const struct rch_accept accept = {
		.chan = lane->id,
		.message_max = lane->open.message_max,
		.window = lane->open.window,
	};
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_ACCEPT, 0,
					    sizeof(struct rch_wire_accept));

	if (payload)
		rch_wire_accept_put(payload, &accept);
	return payload;
}

static bool link_tx_put_credit(struct rch_link *link, const struct rch_lane *lane)
{
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_CREDIT, 0,
					    sizeof(struct rch_wire_credit));

	if (payload)
		rch_wire_credit_put(payload, lane->credit_limit);
	return payload;
}

static bool link_tx_put_cts(struct rch_link *link, const struct rch_lane *lane)
{
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_CTS, 0,
					    sizeof(struct rch_wire_cts));

	if (payload)
		rch_wire_cts_put(payload, &lane->cts);
	return payload;
}

static bool link_tx_put_taken(struct rch_link *link, const struct rch_lane *lane)
{
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_TAKEN, 0,
					    sizeof(struct rch_wire_taken));

	if (payload)
		rch_wire_taken_put(payload, lane->taken);
	return payload;
}

static bool link_tx_put_read(struct rch_link *link, const struct rch_lane *lane)
{
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_READ, 0,
					    sizeof(struct rch_wire_read));

	if (payload)
		rch_wire_read_put(payload, lane->read);
	return payload;
}

static bool link_tx_put_reset(struct rch_link *link, const struct rch_lane *lane)
{
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_CLOSE, RCH_CLOSE_F_RESET,
					    sizeof(struct rch_wire_close));

	if (payload)
		rch_wire_pair_put(payload, lane->close_cause, lane->close_detail);
	return payload;
}

static bool link_tx_put_word(struct rch_link *link, const struct rch_lane *lane)
{
	const struct rch_word *word = list_first_entry(&lane->words, struct rch_word, list);
	void *payload = link_tx_put_of_lane(link, lane, word->type, 0, word->length);

	if (payload)
		memcpy(payload, word->data, word->length);
	return payload;
}

static bool link_tx_put_stand(struct rch_link *link, const struct rch_lane *lane,
			      const struct rch_cts *cts)
{
	u8 flags = RCH_CTS_F_STANDING | (cts->ahead ? RCH_CTS_F_AHEAD : 0);
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_CTS, flags,
					    sizeof(struct rch_wire_cts));

	if (payload)
		rch_wire_cts_put(payload, cts);
	return payload;
}

/* The number counts alone, but no RTS is of a message without bytes. */
static bool link_tx_put_cancel(struct rch_link *link, const struct rch_lane *lane, u32 serial,
			       u8 flags)
{
	const struct rch_rts cancelled = { .total = 1, .serial = serial };
	void *payload = link_tx_put_of_lane(link, lane, RCH_REC_RTS, RCH_RTS_F_CANCEL | flags,
					    sizeof(struct rch_wire_rts));

	if (payload)
		rch_wire_rts_put(payload, &cancelled);
	return payload;
}

/* Memory that is lent ahead, or given back: a bit of RCH_LANE_STAND or of RCH_LANE_RETURN. */
static bool link_tx_put_lent(struct rch_link *link, const struct rch_lane *lane, u32 control)
{
	u32 stand = FIELD_GET(RCH_LANE_STAND, control);
	u32 returned = FIELD_GET(RCH_LANE_RETURN, control);

	if (stand)
		return link_tx_put_stand(link, lane, &lane->stand[__ffs(stand)]);
	return link_tx_put_cancel(link, lane, lane->returned[__ffs(returned)], RCH_RTS_F_PLACED);
}

/* @control: one bit. Return: whether a frame had room */
static bool link_tx_put_control(struct rch_link *link, const struct rch_lane *lane, u32 control)
{
	switch (control) {
	case RCH_LANE_OPEN:
		return link_tx_put_open(link, lane);
	case RCH_LANE_ACCEPT:
		return link_tx_put_accept(link, lane);
	case RCH_LANE_CREDIT:
		return link_tx_put_credit(link, lane);
	case RCH_LANE_CANCEL:
		return link_tx_put_cancel(link, lane, lane->cancelled, 0);
	case RCH_LANE_CTS:
		return link_tx_put_cts(link, lane);
	case RCH_LANE_TAKEN:
		return link_tx_put_taken(link, lane);
	case RCH_LANE_READ:
		return link_tx_put_read(link, lane);
	case RCH_LANE_SHUT_RECV:
		return link_tx_put_of_lane(link, lane, RCH_REC_SHUT, RCH_SHUT_F_RECV, 0);
	case RCH_LANE_RESET:
		return link_tx_put_reset(link, lane);
	case RCH_LANE_CLOSED:
		return link_tx_put_of_lane(link, lane, RCH_REC_CLOSED, 0, 0);
	case RCH_LANE_WORDS:
		return link_tx_put_word(link, lane);
	default:
		return link_tx_put_lent(link, lane, control);
	}
}

static bool link_tx_put_orphan(struct rch_link *link, struct rch_item *item)
{
	struct rch_small *small = container_of(item, struct rch_small, item);
	struct rch_record r = {
		.chan = item->total,
		.type = item->type,
		.length = item->length,
	};
	void *payload = link_tx_put_record(link, &r);

	if (!payload)
		return false;
	memcpy(payload, small->data, item->length);
	list_del(&item->list);
	link->lanes.orphan_count--;
	rch_item_free(item);
	return true;
}

static bool link_tx_fill_control(struct rch_link *link)
{
	struct rch_lane *lane;
	struct rch_item *item;
	u32 control;

	while ((item = list_first_entry_or_null(&link->lanes.orphans, struct rch_item, list)))
		if (!link_tx_put_orphan(link, item))
			return false;
	while ((lane = list_first_entry_or_null(&link->lanes.control, struct rch_lane,
						control_list))) {
		/* The lowest bit first: OPEN and ACCEPT come before all others. */
		control = lane->control & -lane->control;
		if (!link_tx_put_control(link, lane, control))
			return false;
		rch_lane_told(lane, control);
	}
	return true;
}

static void link_tx_item_record(const struct rch_lane *lane, const struct rch_item *item,
				struct rch_record *r)
{
	r->chan = lane->peer_id ?: lane->id;
	r->type = item->type;
	r->flags = item->flags | (lane->peer_id ? 0 : RCH_DATA_F_EARLY);
	r->msg_flags = item->msg_flags;
	r->length = item->length;
	r->total = item->total;
}

static bool link_tx_put_small(struct rch_link *link, struct rch_lane *lane, struct rch_item *item)
{
	struct rch_record r;
	void *payload;

	link_tx_item_record(lane, item, &r);
	payload = link_tx_put_record(link, &r);
	if (!payload)
		return false;
	/* The other parts of the message have gone: nothing comes that would share this frame. */
	link->tx.urgent |= !(item->flags & RCH_DATA_F_FIRST);
	link->tx.prompt |= item->type == RCH_REC_DATA && !(item->flags & RCH_DATA_F_FIRST);
	if (unlikely(item->type == RCH_REC_DATA && rch_lane_answers_early(lane)))
		rch_link_hasten(link);
	/* There is room for one: a receiver that has lent more closes the others himself. */
	if ((link->terms.features & RCH_FEATURE_KEY) && !link->tx.open->key)
		link->tx.open->key = item->key;
	if (item == &lane->fin)
		rch_wire_pair_put(payload, lane->close_cause, lane->close_detail);
	else if (!item->fixed)
		memcpy(payload, rch_item_data(item), item->length);
	if (rch_lane_sent(lane, item))
		rch_item_free(item);
	return true;
}

static bool link_tx_put_large(struct rch_link *link, struct rch_lane *lane, struct rch_item *item)
{
	struct rch_txf *txf = container_of(item, struct rch_txf, item);
	struct rch_record r;

	/* The record in the open frame may be an earlier message of the same lane. */
	if (!link_tx_open_is_empty(link) && !link_tx_close_open(link))
		return false;
	if (!link_tx_may_close(link, false))
		return false;
	if (!txf->bare) {
		link_tx_item_record(lane, item, &r);
		rch_wire_record_put(txf->data + txf->used, &r);
		txf->used += rch_wire_space(r.length);
	}
	rch_lane_sent(lane, item);
	link_tx_close_frame(link, txf);
	return true;
}

static bool link_tx_fill_data(struct rch_link *link)
{
	struct rch_flow *flow;
	struct rch_lane *lane;
	struct rch_item *item;
	bool ok;

	while ((flow = rch_drr_pick(&link->lanes.drr))) {
		lane = container_of(flow, struct rch_lane, flow);
		item = list_first_entry(&lane->txq, struct rch_item, list);
		ok = item->frame ? link_tx_put_large(link, lane, item) :
		     link_tx_put_small(link, lane, item);
		if (!ok)
			return false;
	}
	return true;
}

static void link_tx_fill(struct rch_link *link)
{
	if (!link_tx_fill_control(link) || !link_tx_fill_data(link))
		link->stats.stalls++;
	if (!link_tx_open_is_empty(link) &&
	    (link->tx.prompt || (link_tx_in_flight(link) < RCH_FLIGHT_IDLE &&
				 !rch_link_gathers(link))))
		link_tx_close_open(link);
}

static void link_tx_pure_frame(struct rch_link *link)
{
	struct rch_txf *txf;

	if (!link_tx_may_close(link, true))
		return;
	txf = link_tx_pure_alloc(GFP_ATOMIC);
	if (!txf) {
		txf = link_tx_pure_take(link);
		if (!txf)
			return;
		/* It is needed again, and only a completion gives it back. */
		link->tx.scarce = true;
	}
	txf->flags = RCH_FRAME_F_PURE;
	link_tx_close_frame(link, txf);
}

/* Return: whether the peer learns our limit by it. */
static bool link_tx_seal_one(struct rch_link *link, struct rch_txf *txf, struct rch_frame *f)
{
	struct rch_bare bare;

	txf->wr.send_flags = 0;
	link->stats.tx_frames++;
	if (txf->bare) {
		bare.chan = txf->chan;
		bare.seq = txf->seq;
		bare.ack = f->ack;
		bare.full = link_tx_bare_tells(link);
		txf->wr.ex.imm_data = cpu_to_be32(rch_wire_bare_put(&bare));
		return bare.full;
	}
	if (txf->key)
		txf->wr.ex.invalidate_rkey = txf->key;
	f->flags = txf->flags | (link->tx.hello ? RCH_FRAME_F_HELLO : 0);
	link->tx.hello = false;
	f->seq = txf->seq;
	f->length = txf->used;
	rch_wire_frame_put(txf->data, f);
	return true;
}

/* Measure the completion of a frame, unless one was measured in this tick. */
static void link_tx_probe_begin(struct rch_link *link, const struct rch_txf *txf)
{
	if (link->probe.at || !time_after(jiffies, link->probe.tick))
		return;
	link->probe.tick = jiffies;
	link->probe.at = ktime_get();
	link->probe.seq = txf->seq;
}

static void link_tx_probe_end(struct rch_link *link)
{
	u64 us;

	if (!link->probe.at || !rch_seq_before(link->probe.seq, link->tx.done))
		return;
	us = ktime_us_delta(ktime_get(), link->probe.at);
	us = clamp(us, 1ULL, RCH_TRIP_NONE - 1ULL);
	rch_trip_measured(&link->probe.trip, us, jiffies_to_msecs(jiffies));
	link->probe.at = 0;
	us = rch_trip_us(&link->probe.trip);
	rch_path_tail_trip(&link->path, us);
	rch_credit_tell_often(&link->credit, us >= RCH_TRIP_LONG_US);
}

/*
 * Write the headers of all frames that are ready and move them to @sent. A completion
 * is asked for of the last only, as it stands for those before it.
 * Return: whether there are records in them.
 */
static bool link_tx_seal(struct rch_link *link, struct list_head *chain)
{
	struct rch_frame f = {
		.epoch = link->terms.epoch,
		.ack = link->credit.rx_next,
		.limit = link->credit.rx_limit,
	};
	struct rch_txf *txf;
	bool records = false, told = false;

	list_for_each_entry(txf, &link->tx.ready, list) {
		records |= !(txf->flags & RCH_FRAME_F_PURE);
		if (txf->used > link->path.mtu)
			link->tx.large = txf->seq + 1;
		told |= link_tx_seal_one(link, txf, &f);
	}
	txf = list_last_entry(&link->tx.ready, struct rch_txf, list);
	if (link_tx_in_flight(link) >= RCH_FLIGHT_IDLE || !rch_trip_us(&link->probe.trip) ||
	    link->tx.scarce || rch_path_tail_bulk(&link->path) ||
	    txf->seq + 1 - link->tx.signalled >= RCH_SIGNAL_EACH) {
		link->tx.scarce = false;
		txf->wr.send_flags = IB_SEND_SIGNALED;
		link->tx.signalled = txf->seq + 1;
		link->stats.tx_signals++;
		link_tx_probe_begin(link, txf);
	}
	link->stats.tx_posts++;
	if (records)
		rch_link_gather_sent(link);
	if (told)
		rch_credit_tell(&link->credit);
	else
		rch_credit_tell_ack(&link->credit);
	link->beat.last_tx = jiffies;
	list_replace_init(&link->tx.ready, chain);
	return records;
}

/*
 * Post what is ready. Only one context posts at a time, or frames would overtake each
 * other; it drops the lock for the posting itself, and others only add to @ready. Soft
 * interrupts stay off throughout, so the posting context is not held up.
 */
static void link_tx_post_ready(struct rch_link *link)
{
	LIST_HEAD(chain);
	bool records;
	int ret = 0;

	while (!link->tx.posting && !ret && !list_empty(&link->tx.ready)) {
		records = link_tx_seal(link, &chain);
		link->tx.posting = true;
		spin_unlock(&link->lock);
		/* A heartbeat that is lost is missed when the next frame comes. */
		ret = rch_path_post(&link->path, &chain, records);
		spin_lock(&link->lock);
		link->tx.posting = false;
		/* Some of them may have been completed already. */
		list_splice_tail_init(&chain, &link->tx.sent);
		rch_link_release_sent(link);
		/* dead_work waits for this. */
		if (link->state == RCH_LINK_DEAD)
			wake_up_all(&link->wait);
	}
	if (ret)
		rch_link_fail_locked(link, &link->path.failure.error);
}

/* Which is so mostly when a buffer was posted again, or a frame acknowledged. */
static bool link_tx_has_nothing_to_say(const struct rch_link *link)
{
	const struct rch_link_lanes *lanes = &link->lanes;

	return link_tx_open_is_empty(link) && list_empty(&lanes->control) && !lanes->drr.head &&
	       list_empty(&link->tx.ready) && list_empty(&lanes->orphans) && !link->last.due &&
	       !rch_credit_must_tell(&link->credit);
}

/* Whether what is ready, if anything is, does not tell our limit. */
static bool link_tx_hides_limit(const struct rch_link *link)
{
	const struct rch_txf *txf;

	if (link_tx_bare_tells(link) && !list_empty(&link->tx.ready))
		return false;
	list_for_each_entry(txf, &link->tx.ready, list)
		if (!txf->bare)
			return false;
	return true;
}

/** rch_link_run_locked - send what can be sent; drops and takes link->lock */
void rch_link_run_locked(struct rch_link *link)
{
	lockdep_assert_held(&link->lock);
	if (link->state != RCH_LINK_UP || link_tx_has_nothing_to_say(link))
		return;
	if (!list_empty(&link->last.lanes))
		rch_link_take_later(link);
	link_tx_fill(link);
	if (rch_credit_must_tell(&link->credit) && link_tx_hides_limit(link))
		link_tx_pure_frame(link);
	link_tx_post_ready(link);
}

/** rch_link_run - the same, for callers without link->lock */
void rch_link_run(struct rch_link *link)
{
	spin_lock_bh(&link->lock);
	rch_link_run_locked(link);
	spin_unlock_bh(&link->lock);
}

/** rch_link_heartbeat - send a frame without records */
void rch_link_heartbeat(struct rch_link *link)
{
	spin_lock_bh(&link->lock);
	if (link->state == RCH_LINK_UP) {
		link_tx_pure_frame(link);
		link_tx_post_ready(link);
	}
	spin_unlock_bh(&link->lock);
}

/** rch_link_trip_us - a round trip in microseconds; 0 when none was measured. Any context */
u32 rch_link_trip_us(const struct rch_link *link)
{
	const struct rch_trip trip = {
		.shortest = READ_ONCE(link->probe.trip.shortest),
		.before = READ_ONCE(link->probe.trip.before),
	};

	return rch_trip_us(&trip);
}

/** rch_link_reject - refuse a channel that the peer wants to open. Softirq */
void rch_link_reject(struct rch_link *link, u32 peer_id, u32 reason, u32 domain)
{
	struct rch_item *item = rch_item_alloc(sizeof(struct rch_wire_reject),
					       sizeof(struct rch_wire_reject), GFP_ATOMIC);
	bool full;

	/* Without memory the peer's connect ends by its timeout. */
	if (!item)
		return;
	item->type = RCH_REC_REJECT;
	item->length = sizeof(struct rch_wire_reject);
	item->total = peer_id;
	rch_wire_pair_put(rch_item_data(item), reason, domain);
	spin_lock_bh(&link->lock);
	full = link->lanes.orphan_count >= RCH_ORPHANS_MAX;
	if (link->state == RCH_LINK_UP && !full) {
		list_add_tail(&item->list, &link->lanes.orphans);
		link->lanes.orphan_count++;
		rch_link_run_locked(link);
		item = NULL;
	}
	spin_unlock_bh(&link->lock);
	if (item)
		rch_item_free(item);
	/* It asks, and gives no credit for the answers. */
	if (full)
		rch_link_kill_cause(link, RDMACHAN_OP_SEND, RDMACHAN_CAUSE_PROTOCOL,
				    RCH_RULE_ANSWER);
}

/** rch_link_release_sent - free frames that nobody needs any more; locked */
void rch_link_release_sent(struct rch_link *link)
{
	struct rch_txf *txf, *tmp;

	lockdep_assert_held(&link->lock);
	list_for_each_entry_safe(txf, tmp, &link->tx.sent, list) {
		if (!rch_seq_before(txf->seq, link->tx.done) ||
		    !rch_seq_before(txf->seq, link->credit.tx_acked))
			return;
		list_del(&txf->list);
		rch_path_unmap(&link->path, txf);
		link_tx_spare_put(link, txf);
	}
}

/** rch_link_completed - the adapter has sent @txf and all before it. Softirq */
void rch_link_completed(struct rch_link *link, struct rch_txf *txf)
{
	spin_lock_bh(&link->lock);
	if (rch_seq_before(link->tx.done, txf->seq + 1)) {
		link->tx.done = txf->seq + 1;
		/* Numbers wrap: it must not fall behind. */
		if (rch_seq_before(link->tx.large, link->tx.done))
			link->tx.large = link->tx.done;
		link_tx_probe_end(link);
		rch_link_release_sent(link);
		rch_link_run_locked(link);
	}
	spin_unlock_bh(&link->lock);
}

static void link_tx_free_frames(struct rch_link *link, struct list_head *frames)
{
	struct rch_txf *txf, *tmp;

	list_for_each_entry_safe(txf, tmp, frames, list) {
		list_del(&txf->list);
		rch_path_unmap(&link->path, txf);
		rch_txf_free(txf);
	}
}

/**
 * rch_link_purge - free all frames of a link that is DEAD
 * @link: link
 *
 * The path was drained and nobody posts; the device is still there.
 */
void rch_link_purge(struct rch_link *link)
{
	struct rch_item *item, *tmp;

	rch_link_spare_trim(link);
	spin_lock_bh(&link->lock);
	link_tx_free_frames(link, &link->tx.pure);
	link->tx.pures = 0;
	link_tx_free_frames(link, &link->tx.ready);
	link_tx_free_frames(link, &link->tx.sent);
	if (link->tx.open)
		rch_txf_free(link->tx.open);
	link->tx.open = NULL;
	list_for_each_entry_safe(item, tmp, &link->lanes.orphans, list) {
		list_del(&item->list);
		rch_item_free(item);
	}
	spin_unlock_bh(&link->lock);
}
