// SPDX-License-Identifier: GPL-2.0
/*
 * chan_rts.c - sends a large message straight to where it is wanted
 *
 * Operation. A thread that may block and has a large message in one piece of memory
 * asks first (RTS). If a thread of the peer's program waits for a message, with room
 * for this one, its module opens that memory to us (CTS), piece by piece. Each piece is
 * written from our program's own pages and confirmed (FIN), and no byte is copied by
 * either host. If nobody waits, the peer says so, and the message goes as DATA, as if
 * nothing had been asked.
 *
 * A message belongs to the thread that has claimed RCH_CHAN_TX until its last byte is
 * written, so the lane has nothing behind the RTS.
 *
 * Error handling. Until the last piece is confirmed the message can be taken back (RTS
 * with the cancel flag): the peer's program goes on waiting. A piece that is under way
 * is waited for: it ends, or the path does, within the dead time.
 */
#include <linux/uio.h>

#include "base/error.h"
#include "base/rch.h"
#include "channel/chan.h"
#include "path/mem.h"
#include "path/path_rdma.h"
#include "pure/way.h"
#include "rndv/rndv.h"

/* Programs that never wait are asked once in so many messages. */
#define RCH_RTS_SKIP_MAX 64U

/**
 * struct rch_sending - a message that is being written
 * @chan: channel whose RCH_CHAN_TX is claimed
 * @path: its path
 * @rts: the message
 * @stands: it is written to what was lent with @serial
 * @serial: that
 * @deadline: until when CTS is waited for
 * @mem: the message, pinned
 * @cursor: what is left of it
 * @write: work requests
 */
struct rch_sending {
	struct rch_chan *chan;
	struct rch_path *path;
	struct rch_rts rts;
	bool stands;
	u32 serial;
	unsigned long deadline;
	struct rch_mem mem;
	struct rch_mem_cursor cursor;
	struct rch_write *write;
};

/** rch_chan_range - whether the next @len bytes are one piece of a program's memory */
bool rch_chan_range(const struct iov_iter *iter, size_t len, unsigned long *addr)
{
	if (iter_is_ubuf(iter)) {
		*addr = (unsigned long)iter->ubuf + iter->iov_offset;
		return true;
	}
	if (iter_is_iovec(iter) && iter_iov_len(iter) >= len) {
		*addr = (unsigned long)iter_iov_addr(iter);
		return true;
	}
	return false;
}

/**
 * rch_chan_rts_wanted - whether the sender of a message shall ask to place it
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @length: bytes
 * @pinned: its pages are pinned: it lies in a region
 *
 * Asking costs two records more and the wait for the answer. It needs a peer that knows how,
 * on this link; that its adapter can register memory is the peer's to say. Who was refused
 * does not ask again for a while.
 */
bool rch_chan_rts_wanted(struct rch_chan *chan, u32 length, bool pinned)
{
	if (!rch_way_is_placed(length, pinned) ||
	    !(chan->lane.link->features & RCH_FEATURE_PLACE))
		return false;
	if (!chan->rts_skip)
		return true;
	chan->rts_skip--;
	return false;
}

/** rch_chan_rts_refused - nobody waits: ask more seldom */
void rch_chan_rts_refused(struct rch_chan *chan)
{
	chan->rts_penalty = clamp(chan->rts_penalty * 2, 1U, RCH_RTS_SKIP_MAX);
	chan->rts_skip = chan->rts_penalty;
}

/** rch_chan_tx_placed - the message was written to its place; by who has claimed RCH_CHAN_TX */
void rch_chan_tx_placed(struct rch_chan *chan)
{
	chan->rts_penalty = 0;
	chan->placed_next = chan->tx_messages + 1;
	WRITE_ONCE(chan->tx_placed, chan->tx_placed + 1);
}

/** rch_chan_cts_got - the peer has room, or none. Softirq */
enum rch_rule rch_chan_cts_got(struct rch_chan *chan, const struct rch_record *r)
{
	struct rch_cts cts;

	rch_wire_cts_get(r, &cts);
	if (r->flags & RCH_CTS_F_STANDING)
		return rch_chan_standing_got(chan, &cts);
	spin_lock(&chan->lock);
	/* Others are answers to what was taken back. */
	if (chan->cts_due && cts.serial == chan->rts_serial) {
		chan->cts = cts;
		WRITE_ONCE(chan->cts_due, false);
		wake_up_interruptible_poll(&chan->wait, RCH_POLL_NOTHING);
	}
	spin_unlock(&chan->lock);
	return RCH_RULE_OK;
}

/** rch_chan_cts_expect - a CTS is the answer to come, from now on */
void rch_chan_cts_expect(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->cts_due, true);
	chan->rts_total = 0;
	spin_unlock_bh(&chan->lock);
}

static bool cts_settled(struct rch_chan *chan)
{
	return !READ_ONCE(chan->cts_due) || rch_chan_tx_refused(chan);
}

/**
 * rch_chan_cts_take - the answer, if it has come
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @cts: where to write the message
 * @lent: it was lent, and has answered the question by crossing it, see chan_stand.c
 *
 * The peer may take back what it has lent, and answers later then. Return: whether it has come.
 */
bool rch_chan_cts_take(struct rch_chan *chan, struct rch_cts *cts, bool *lent)
{
	bool got;

	spin_lock_bh(&chan->lock);
	got = !chan->cts_due;
	*lent = got && chan->cts_lent;
	if (*lent)
		rch_chan_borrow_take(chan, cts);
	else if (got)
		*cts = chan->cts;
	spin_unlock_bh(&chan->lock);
	return got;
}

/** rch_chan_cts_forget - the question is taken back; no answer is expected any more */
void rch_chan_cts_forget(struct rch_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->cts_due, false);
	chan->cts_lent = false;
	chan->rts_total = 0;
	spin_unlock_bh(&chan->lock);
}

/*
 * Wait for CTS. Return: 0; -EAGAIN when the message shall go as DATA; or an error. In
 * both, and if the answer comes after all, it will be ignored.
 */
static int wait_cts(struct rch_sending *s, struct rch_cts *cts)
{
	struct rch_chan *chan = s->chan;
	bool got;
	long wait;
	int ret;

	do {
		wait = wait_event_interruptible_timeout(chan->wait, cts_settled(chan),
							rch_time_left(s->deadline));
		got = rch_chan_cts_take(chan, cts, &s->stands);
	} while (!got && wait > 0 && !rch_chan_tx_refused(chan));
	if (got) {
		s->serial = cts->serial;
		return cts->length ? 0 : -EAGAIN;
	}
	ret = rch_chan_tx_check(chan);
	return ret ?: rch_wait_result(wait, s->deadline);
}

/* The path has failed, and the channel will soon. */
static int path_error(struct rch_chan *chan)
{
	wait_event_killable_timeout(chan->wait, rch_chan_tx_refused(chan),
				    chan->lane.link->dead);
	return rch_chan_tx_check(chan) ?: -ECONNRESET;
}

static int tell_written(struct rch_sending *s, u32 key, bool more)
{
	struct rch_rts rts = s->rts;

	if (!s->stands)
		return rch_lane_fin(&s->chan->lane, key, more, false);
	rts.serial = s->serial;
	return rch_lane_rts(&s->chan->lane, &rts, RCH_RTS_F_PLACED, key, false);
}

static int write_piece(struct rch_sending *s, const struct rch_cts *cts, u32 *left)
{
	u32 n = min(cts->length, *left);
	int ret;

	*left -= n;
	if (*left)
		rch_chan_cts_expect(s->chan);
	ret = rch_write_post(s->path, s->write, &s->cursor, cts->addr, cts->rkey, n);
	if (ret)
		return path_error(s->chan);
	ret = tell_written(s, cts->rkey, *left);
	if (rch_write_wait(s->path, s->write))
		return path_error(s->chan);
	return ret ? rch_chan_tx_check(s->chan) ?: ret : 0;
}

/* The turn is given back while the peer is waited for. */
static int send_piece(struct rch_sending *s, const struct rch_cts *cts, u32 *left)
{
	int ret = rch_write_begin(s->path, s->write);

	if (ret)
		return ret;
	/* Who has ended the channel meanwhile has closed that memory. */
	if (rch_chan_tx_refused(s->chan))
		ret = rch_chan_tx_check(s->chan) ?: -EPIPE;
	else
		ret = write_piece(s, cts, left);
	rch_write_end(s->path, s->write);
	return ret;
}

static int send_pieces(struct rch_sending *s, struct rch_cts *cts)
{
	u32 left = s->rts.total;
	int ret;

	s->write = rch_write_get(s->path);
	if (!s->write)
		return -EAGAIN;
	for (;;) {
		ret = send_piece(s, cts, &left);
		if (ret || !left)
			break;
		ret = wait_cts(s, cts);
		if (ret)
			break;
	}
	rch_write_put(s->path, s->write);
	return ret;
}

/** rch_chan_rts_ask - begin to ask; @rts gets its number. Return: 0 or an error */
int rch_chan_rts_ask(struct rch_chan *chan, struct rch_rts *rts)
{
	int ret;

	chan->rts_serial = rch_seq_after(chan->rts_serial);
	rts->serial = chan->rts_serial;
	rch_chan_borrow_ask(chan, rts->total);
	ret = rch_lane_rts(&chan->lane, rts, 0, 0, false);
	return ret ? rch_chan_tx_check(chan) ?: ret : 0;
}

/* If the peer has said no, it will ignore this. */
static void take_back(struct rch_sending *s)
{
	struct rch_lane *lane = &s->chan->lane;

	rch_chan_cts_forget(s->chan);
	rch_lane_rts(lane, &s->rts, RCH_RTS_F_CANCEL, 0, false);
	if (!s->stands)
		return;
	rch_chan_borrow_end(s->chan, s->serial);
	s->rts.serial = s->serial;
	rch_lane_rts(lane, &s->rts, RCH_RTS_F_CANCEL | RCH_RTS_F_PLACED, 0, false);
}

static int ask_and_send(struct rch_sending *s)
{
	struct rch_cts cts;
	int ret;

	ret = rch_chan_rts_ask(s->chan, &s->rts);
	if (ret)
		return ret;
	ret = wait_cts(s, &cts);
	if (ret == -EAGAIN)
		rch_chan_rts_refused(s->chan);
	if (!ret)
		ret = send_pieces(s, &cts);
	if (ret)
		take_back(s);
	return ret;
}

/* With memory that is pinned: become a user of the path, who waits for no program. */
static int send_pinned(struct rch_sending *s)
{
	int ret = -EAGAIN;

	if (!rch_path_enter(s->path))
		return -EAGAIN;
	if (!rch_mem_map(&s->mem, s->path->dev)) {
		rch_mem_begin(&s->mem, &s->cursor);
		ret = ask_and_send(s);
		rch_mem_unmap(&s->mem);
	}
	rch_path_leave(s->path);
	return ret;
}

/**
 * rch_chan_send_placed - send a message without copying it, if that is possible
 * @chan: channel whose RCH_CHAN_TX the caller has claimed
 * @from: the message; consumed on success
 * @msg_flags: message flags
 * @deadline: as of rch_deadline()
 *
 * Context: process; may block.
 * Return: 0 when the message is written; -EAGAIN when it must go as DATA, and nothing
 * has happened; or an error, and nothing of it will be delivered.
 */
int rch_chan_send_placed(struct rch_chan *chan, struct iov_iter *from, u16 msg_flags,
			 unsigned long deadline)
{
	struct rch_sending s = {
		.chan = chan,
		.path = &chan->lane.link->path,
		.rts.total = iov_iter_count(from),
		.rts.msg_flags = msg_flags,
		.deadline = deadline,
	};
	unsigned long addr;
	int ret;

	if (!rch_chan_range(from, s.rts.total, &addr) ||
	    !rch_chan_rts_wanted(chan, s.rts.total, false))
		return -EAGAIN;
	/* Ahead of the question: the answer does not wait. The copy will say what fails. */
	if (rch_mem_pin(&s.mem, addr, s.rts.total, DMA_TO_DEVICE))
		return -EAGAIN;
	ret = send_pinned(&s);
	rch_mem_unpin(&s.mem);
	if (ret)
		return ret;
	iov_iter_advance(from, s.rts.total);
	rch_chan_tx_placed(chan);
	return 0;
}
