// SPDX-License-Identifier: GPL-2.0
/*
 * grant_access.c - READ, WRITE and atomic operations on memory that the peer lends
 *
 * Operation. An access goes in steps of at most RCH_ACCESS_ROOM bytes, each within a piece of
 * the grant. A step has three parts: copying from the program, the adapter's work, copying to
 * the program; the grant is busy in the second only. So a revocation waits for one step at
 * most, and finds the access undone between two.
 *
 * Atomic operations are done by the peer's adapter, where its owner says so, or asked for
 * by a record and done by its kernel.
 *
 * Error handling. When the path fails, what became of a WRITE is not known, but whoever
 * wrote may write again; what became of an atomic operation is told to be not known.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "chan.h"
#include "grant.h"
#include "iter.h"
#include "path_rdma.h"
#include "rch.h"

/* How many dead times a peer may take to answer. */
#define RCH_ANSWER_DEADS 4

/* The path has failed, and the channel will soon. */
static int path_error(struct rch_chan *chan)
{
	wait_event_killable_timeout(chan->wait, rch_chan_tx_refused(chan),
				    chan->lane.link->dead);
	return rch_chan_tx_check(chan) ?: -ECONNRESET;
}

/* The second part of a step. @n: how much there may be; Return: how much it was. */
static int step(struct rch_chan *chan, u32 id, struct rch_access *access, bool read, u64 offset,
		u32 n)
{
	struct rch_path *path = &chan->lane.link->path;
	struct rch_held *held = rch_held_begin(chan, id);
	int ret = -ENOTCONN;
	u64 address;

	if (IS_ERR(held))
		return PTR_ERR(held);
	address = held->start + offset;
	n = rch_grant_piece_left(address, held->shift, n);
	if (rch_path_enter(path)) {
		n = rch_access_most(path, read, address, n);
		ret = rch_access_move(path, access, read, address,
				      held->key[address >> held->shift], n);
		rch_path_leave(path);
	}
	rch_held_end(chan, held);
	if (ret)
		return ret == -ENOTCONN ? path_error(chan) : ret;
	return n;
}

static int read_step(struct rch_chan *chan, u32 id, struct rch_access *access, u64 offset,
		     struct iov_iter *to)
{
	int n = step(chan, id, access, true, offset,
		     min_t(size_t, iov_iter_count(to), RCH_ACCESS_ROOM));

	if (n > 0 && copy_to_iter(access->room, n, to) != n)
		return -EFAULT;
	return n;
}

static int write_step(struct rch_chan *chan, u32 id, struct rch_access *access, u64 offset,
		      struct iov_iter *from)
{
	u32 n = min_t(size_t, iov_iter_count(from), RCH_ACCESS_ROOM);
	int done;

	if (copy_from_iter(access->room, n, from) != n)
		return -EFAULT;
	done = step(chan, id, access, false, offset, n);
	if (done > 0)
		iov_iter_revert(from, n - done);
	return done;
}

/**
 * rch_grant_move - READ or WRITE
 * @chan: channel
 * @id: number of a grant that is held
 * @offset: where in it
 * @iter: own memory
 * @read: READ
 *
 * Context: process. Return: 0; -ENOENT, -EKEYREVOKED, -EACCES, -ERANGE; -EFAULT, -ENOMEM,
 * -EINTR when killed; or why the channel has ended.
 */
int rch_grant_move(struct rch_chan *chan, u32 id, u64 offset, struct iov_iter *iter, bool read)
{
	struct rch_access *access;
	int ret;

	ret = rch_held_call_begin(chan, id, read ? RDMACHAN_RIGHT_READ : RDMACHAN_RIGHT_WRITE,
				  offset, iov_iter_count(iter));
	if (ret)
		return ret;
	access = rch_access_alloc(min_t(size_t, iov_iter_count(iter), RCH_ACCESS_ROOM));
	ret = access ? 0 : -ENOMEM;
	while (ret >= 0 && iov_iter_count(iter)) {
		ret = read ? read_step(chan, id, access, offset, iter) :
			     write_step(chan, id, access, offset, iter);
		if (ret > 0)
			offset += ret;
		if (fatal_signal_pending(current))
			ret = -EINTR;
	}
	kfree(access);
	rch_held_call_end(chan, id);
	return min(ret, 0);
}

/**
 * struct rch_asked - an atomic operation that the peer's kernel is asked for
 * @list: in the grants' list
 * @serial: its number
 * @done: it has been done, or nothing will be heard of it
 * @certain: the former
 * @value: what was there before
 * @word: ATOMIC
 * @told: @word is not in use
 */
struct rch_asked {
	struct list_head list;
	u32 serial;
	struct completion done;
	bool certain;
	u64 value;
	struct rch_word word;
	struct completion told;
};

static void asked_sent(struct rch_word *word)
{
	complete(&container_of(word, struct rch_asked, word)->told);
}

/** rch_atomic_done_got - the peer's kernel has done one. Return: the rule that was broken */
enum rch_rule rch_atomic_done_got(struct rch_grants *grants, const struct rch_record *r)
{
	enum rch_rule rule;
	struct rch_asked *asked;
	u32 serial;
	u64 value;

	rule = rch_wire_atomic_done_get(r, &serial, &value);
	if (rule)
		return rule;
	rule = RCH_RULE_GRANT;
	xa_lock_bh(&grants->held);
	list_for_each_entry(asked, &grants->asked, list) {
		if (asked->serial != serial)
			continue;
		list_del_init(&asked->list);
		asked->certain = true;
		asked->value = value;
		complete(&asked->done);
		rule = RCH_RULE_OK;
		break;
	}
	xa_unlock_bh(&grants->held);
	return rule;
}

/** rch_atomics_end - the peer says nothing any more. Any context */
void rch_atomics_end(struct rch_grants *grants)
{
	struct rch_asked *asked, *tmp;

	xa_lock_bh(&grants->held);
	list_for_each_entry_safe(asked, tmp, &grants->asked, list) {
		list_del_init(&asked->list);
		complete(&asked->done);
	}
	xa_unlock_bh(&grants->held);
}

static void ask_begin(struct rch_grants *grants, struct rch_asked *asked)
{
	init_completion(&asked->done);
	init_completion(&asked->told);
	asked->word.sent = asked_sent;
	asked->word.type = RCH_REC_ATOMIC;
	asked->word.length = sizeof(struct rch_wire_atomic);
	xa_lock_bh(&grants->held);
	asked->serial = ++grants->serial;
	list_add_tail(&asked->list, &grants->asked);
	xa_unlock_bh(&grants->held);
}

/* A peer that gives no credit, or no answer, for so long loses its link. */
static void await(struct rch_link *link, struct completion *completion)
{
	if (wait_for_completion_timeout(completion, RCH_ANSWER_DEADS * link->dead))
		return;
	rch_link_kill_cause(link, RDMACHAN_OP_ACCESS, RDMACHAN_CAUSE_PROTOCOL, RCH_RULE_ANSWER);
	wait_for_completion(completion);
}

/* By the peer's kernel, which answers in softirq. */
static int ask(struct rch_chan *chan, struct rch_atomic *a, u64 *value)
{
	struct rch_asked asked = {};
	struct rch_link *link = chan->lane.link;

	ask_begin(chan->grants, &asked);
	a->serial = asked.serial;
	rch_wire_atomic_put(asked.word.data, a);
	rch_lane_word(&chan->lane, &asked.word);
	await(link, &asked.told);
	/* What is not sent any more is not answered; nobody else might notice it. */
	if (rch_lane_closed(&chan->lane))
		rch_atomics_end(chan->grants);
	await(link, &asked.done);
	*value = asked.value;
	return asked.certain ? 0 : -ENOTCONN;
}

static int by_device(struct rch_chan *chan, const struct rch_held *held,
		     const struct rch_atomic *a, u64 *value)
{
	struct rch_path *path = &chan->lane.link->path;
	struct rch_access *access = rch_access_alloc(sizeof(*value));
	int ret;

	if (!access)
		return -ENOMEM;
	ret = -ENOTCONN;
	if (rch_path_enter(path)) {
		ret = rch_access_atomic(path, access, a->op == RDMACHAN_ATOMIC_COMPARE_SWAP,
					a->address, held->key[a->address >> held->shift],
					a->operand, a->compare);
		rch_path_leave(path);
	}
	memcpy(value, access->room, sizeof(*value));
	kfree(access);
	return ret;
}

static int run(struct rch_chan *chan, struct rdmachan_atomic *atomic)
{
	struct rch_atomic a = {
		.id = atomic->grant,
		.op = atomic->op,
		.operand = atomic->operand,
		.compare = atomic->compare,
	};
	struct rch_held *held = rch_held_begin(chan, atomic->grant);
	int ret;

	if (IS_ERR(held))
		return PTR_ERR(held);
	a.address = held->start + atomic->offset;
	if (held->rights & RDMACHAN_RIGHT_BY_DEVICE)
		ret = by_device(chan, held, &a, &atomic->out_value);
	else
		ret = ask(chan, &a, &atomic->out_value);
	rch_held_end(chan, held);
	if (ret != -ENOTCONN)
		return ret;
	path_error(chan);
	return -EREMOTEIO;
}

/**
 * rch_grant_atomic - an atomic operation
 * @chan: channel
 * @atomic: what, checked but for the grant; its result is put there
 *
 * Context: process. Return: as rch_grant_move(); -EINVAL when it is not aligned; or
 * -EREMOTEIO: the channel has ended, and it may have been done.
 */
int rch_grant_atomic(struct rch_chan *chan, struct rdmachan_atomic *atomic)
{
	int ret = rch_held_call_begin(chan, atomic->grant, RDMACHAN_RIGHT_ATOMIC, atomic->offset,
				      sizeof(u64));

	if (ret)
		return ret;
	ret = run(chan, atomic);
	rch_held_call_end(chan, atomic->grant);
	return ret;
}
