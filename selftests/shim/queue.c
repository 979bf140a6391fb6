// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - work requests and completions, as drivers of adapters have them
 *
 * Such a driver has a slot for each work request of a send queue. It knows that one has been done
 * when a completion was *polled*, which stands for all before it; rxe knows it by itself. Hence two
 * things that no software adapter shows. A queue in which nothing was signalled fills up, though
 * all was done long ago. And when the queue pair goes to the error state the driver tells of all
 * that it has in its slots as flushed: of what was done, too, and perhaps was forgotten by then.
 *
 * A completion with an error of its own stands for all before it like any other. Of one with an
 * error only the status and wr_cqe are valid: the rest is made invalid here.
 *
 * How. Each work request gets a number instead of its wr_cqe while it is given to the adapter,
 * whose completion then has that number.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "shim.h"

/* Above a number in wr_id: no address of the kernel's begins so. */
#define SHIM_TAG 0x5348ULL
#define SHIM_TAG_SHIFT 48

static bool ring;
module_param(ring, bool, 0644);
MODULE_PARM_DESC(ring, "a send queue is emptied by completions that were polled, and flushed so");

static unsigned int inv_ms;
module_param(inv_ms, uint, 0644);
MODULE_PARM_DESC(inv_ms, "so much later an invalidation is told of, and all behind it");

static unsigned long flushed;
module_param(flushed, ulong, 0444);
MODULE_PARM_DESC(flushed, "so many were told of as flushed that were done before");

static DEFINE_MUTEX(track_lock); /* protects the users of completion queues */
static DEFINE_XARRAY(qps); /* by the address of the queue pair */
static DEFINE_XARRAY(cqs); /* by the address of the completion queue */

static void shim_late_over(struct timer_list *timer)
{
	struct shim_cq *c = container_of(timer, struct shim_cq, timer);
	unsigned long flags;
	bool late;

	spin_lock_irqsave(&c->lock, flags);
	late = c->late;
	c->late = false;
	c->due = late;
	spin_unlock_irqrestore(&c->lock, flags);
	if (late)
		c->cq->comp_handler(c->cq, c->cq->cq_context);
}

static struct shim_cq *cq_get(struct ib_cq *cq)
{
	struct shim_cq *c = xa_load(&cqs, (unsigned long)cq);

	lockdep_assert_held(&track_lock);
	if (!c) {
		c = kzalloc(sizeof(*c), GFP_KERNEL);
		if (!c)
			return NULL;
		c->cq = cq;
		spin_lock_init(&c->lock);
		timer_setup(&c->timer, shim_late_over, 0);
		if (xa_err(xa_store(&cqs, (unsigned long)cq, c, GFP_KERNEL))) {
			kfree(c);
			return NULL;
		}
	}
	c->users++;
	return c;
}

static void cq_put(struct shim_cq *c)
{
	lockdep_assert_held(&track_lock);
	if (--c->users)
		return;
	xa_erase(&cqs, (unsigned long)c->cq);
	timer_shutdown_sync(&c->timer);
	kfree_rcu(c, rcu);
}

/**
 * shim_track - a queue pair was made
 * @qp: queue pair; shim_untrack() must follow
 * @cq: completions of its send queue
 * @limit: its slots
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int shim_track(struct ib_qp *qp, struct ib_cq *cq, u32 limit)
{
	/* Some adapters round up, and have more. */
	u32 size = 2 * roundup_pow_of_two(limit + 1);
	struct shim_qp *q = kzalloc(struct_size(q, cqes, size), GFP_KERNEL);

	if (!q)
		return -ENOMEM;
	q->qp = qp;
	q->ring = ring;
	q->limit = limit;
	q->size = size;
	spin_lock_init(&q->lock);
	mutex_lock(&track_lock);
	q->cq = cq_get(cq);
	if (!q->cq)
		goto err_unlock;
	if (xa_err(xa_store(&qps, (unsigned long)qp, q, GFP_KERNEL)))
		goto err_cq;
	mutex_unlock(&track_lock);
	__module_get(THIS_MODULE);
	return 0;

err_cq:
	cq_put(q->cq);
err_unlock:
	mutex_unlock(&track_lock);
	kfree(q);
	return -ENOMEM;
}

/* Nobody is told of it any more. */
static void forget(struct shim_cq *c, struct shim_qp *q)
{
	spin_lock_irq(&c->lock);
	if (c->flushing == q)
		c->flushing = NULL;
	if (c->stash.qp == q->qp) {
		c->late = false;
		c->due = false;
	}
	spin_unlock_irq(&c->lock);
}

/** shim_untrack - a queue pair is gone, which may have been tracked. May sleep */
void shim_untrack(struct ib_qp *qp)
{
	struct shim_qp *q = xa_erase(&qps, (unsigned long)qp);

	if (!q)
		return;
	forget(q->cq, q);
	mutex_lock(&track_lock);
	cq_put(q->cq);
	mutex_unlock(&track_lock);
	kfree_rcu(q, rcu);
	module_put(THIS_MODULE);
}

/* Work requests */

/* Number them. Return: how many there are. */
static u32 number(struct shim_qp *q, const struct ib_send_wr *wr)
{
	u64 at = q->head;

	lockdep_assert_held(&q->lock);
	for (; wr; wr = wr->next, at++) {
		q->cqes[at % q->size] = wr->wr_cqe;
		((struct ib_send_wr *)wr)->wr_id = SHIM_TAG << SHIM_TAG_SHIFT | at;
	}
	return at - q->head;
}

static void restore(struct shim_qp *q, const struct ib_send_wr *wr)
{
	u64 at = q->head;

	lockdep_assert_held(&q->lock);
	for (; wr; wr = wr->next, at++)
		((struct ib_send_wr *)wr)->wr_cqe = q->cqes[at % q->size];
}

static u32 before(const struct ib_send_wr *wr, const struct ib_send_wr *bad)
{
	u32 count = 0;

	for (; wr && wr != bad; wr = wr->next)
		count++;
	return count;
}

static int give(struct shim_device *d, struct shim_qp *q, struct ib_qp *qp,
		const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	u32 count;
	int ret;

	*bad = wr;
	if (!q)
		return d->ops.post_send(qp, wr, bad);
	count = number(q, wr);
	ret = d->ops.post_send(qp, wr, bad);
	restore(q, wr);
	q->head += ret ? before(wr, *bad) : count;
	return ret;
}

/* The first that is refused, and the one before it, if there is one. Return: 0, or its error. */
static int find_refused(const struct shim_qp *q, const struct ib_qp *qp,
			const struct ib_send_wr *wr, const struct ib_send_wr **last,
			const struct ib_send_wr **refused)
{
	u64 room = q && q->ring ? q->limit - (q->head - q->tail) : U64_MAX;
	int ret;

	*last = NULL;
	for (; wr; *last = wr, wr = wr->next) {
		ret = shim_limits_wr(qp, wr) ?: room-- ? 0 : -ENOMEM;
		*refused = wr;
		if (ret)
			return ret;
	}
	*refused = NULL;
	return 0;
}

static int post(struct shim_device *d, struct shim_qp *q, struct ib_qp *qp,
		const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	const struct ib_send_wr *last, *refused;
	int ret = 0, refusal = find_refused(q, qp, wr, &last, &refused);

	if (!refusal)
		return give(d, q, qp, wr, bad);
	if (last) {
		((struct ib_send_wr *)last)->next = NULL;
		ret = give(d, q, qp, wr, bad);
		((struct ib_send_wr *)last)->next = (struct ib_send_wr *)refused;
	}
	if (ret)
		return ret;
	*bad = refused;
	return refusal;
}

/** shim_post - post work requests, as ib_post_send() does */
int shim_post(struct shim_device *d, struct ib_qp *qp, const struct ib_send_wr *wr,
	      const struct ib_send_wr **bad)
{
	struct shim_qp *q = xa_load(&qps, (unsigned long)qp);
	unsigned long flags;
	int ret;

	if (!q)
		return post(d, NULL, qp, wr, bad);
	spin_lock_irqsave(&q->lock, flags);
	ret = post(d, q, qp, wr, bad);
	spin_unlock_irqrestore(&q->lock, flags);
	return ret;
}

/* Completions */

static bool is_ours(const struct ib_wc *wc)
{
	return wc->wr_id >> SHIM_TAG_SHIFT == SHIM_TAG;
}

static void spoil(struct ib_wc *wc)
{
	wc->opcode = 0x7e;
	wc->byte_len = 0x7e7e7e7e;
	wc->wc_flags = 0;
}

/* Tell of one that comes before @stash, or of that. */
static void flush_one(struct shim_cq *c, struct ib_wc *wc)
{
	struct shim_qp *q = c->flushing;

	lockdep_assert_held(&c->lock);
	spin_lock(&q->lock);
	*wc = c->stash;
	if (q->tail < c->flush_to) {
		wc->wr_cqe = q->cqes[q->tail % q->size];
		flushed++;
	} else {
		c->flushing = NULL;
	}
	q->tail++;
	spin_unlock(&q->lock);
}

/*
 * The adapter tells of work request @at. Return: whether that is what is to be told now; else it is
 * in @stash.
 */
static bool retire(struct shim_cq *c, struct shim_qp *q, u64 at, struct ib_wc *wc)
{
	lockdep_assert_held(&q->lock);
	wc->wr_cqe = q->cqes[at % q->size];
	if (q->ring && wc->status == IB_WC_WR_FLUSH_ERR && q->tail < at) {
		c->stash = *wc;
		c->flush_to = at;
		c->flushing = q;
		return false;
	}
	q->tail = max(q->tail, at + 1);
	if (wc->status || wc->opcode != IB_WC_LOCAL_INV || !inv_ms)
		return true;
	c->stash = *wc;
	c->late = true;
	mod_timer(&c->timer, jiffies + msecs_to_jiffies(inv_ms));
	return false;
}

/* The adapter has told of something. Return: whether that is what is to be told now. */
static bool look_at(struct shim_cq *c, struct ib_wc *wc)
{
	u64 at = wc->wr_id & (BIT_ULL(SHIM_TAG_SHIFT) - 1);
	struct shim_qp *q;
	bool now = false;

	lockdep_assert_held(&c->lock);
	if (wc->status)
		spoil(wc);
	if (!is_ours(wc))
		return true;
	q = xa_load(&qps, (unsigned long)wc->qp);
	/* Of one that is gone no driver tells. */
	if (!q)
		return false;
	spin_lock(&q->lock);
	/* siw tells of a READ when its answer has come, perhaps behind what was posted later. */
	if (!WARN_ON_ONCE(at >= q->head || q->head - at > q->size))
		now = retire(c, q, at, wc);
	spin_unlock(&q->lock);
	return now;
}

static bool poll_one(struct shim_device *d, struct shim_cq *c, struct ib_wc *wc)
{
	lockdep_assert_held(&c->lock);
	while (!c->late) {
		if (c->due) {
			c->due = false;
			*wc = c->stash;
			return true;
		}
		if (c->flushing) {
			flush_one(c, wc);
			return true;
		}
		if (d->ops.poll_cq(c->cq, 1, wc) != 1)
			return false;
		if (look_at(c, wc))
			return true;
	}
	return false;
}

/* Of queue pairs that are gone nothing is told. Return: how many are left of @count. */
static int strip(struct ib_wc *wc, int count)
{
	int i, kept = 0;

	for (i = 0; i < count; i++)
		if (!is_ours(wc + i))
			wc[kept++] = wc[i];
	return count > 0 ? kept : count;
}

/** shim_poll - take completions, as ib_poll_cq() does */
int shim_poll(struct shim_device *d, struct ib_cq *cq, int count, struct ib_wc *wc)
{
	unsigned long flags;
	struct shim_cq *c;
	int n = 0;

	rcu_read_lock();
	c = xa_load(&cqs, (unsigned long)cq);
	if (c) {
		spin_lock_irqsave(&c->lock, flags);
		while (n < count && poll_one(d, c, wc + n))
			n++;
		spin_unlock_irqrestore(&c->lock, flags);
	} else {
		n = strip(wc, d->ops.poll_cq(cq, count, wc));
	}
	rcu_read_unlock();
	return n;
}

/* Return: whether there is something to be told, or nothing may be told yet; else -1. */
static int notify(struct shim_cq *c)
{
	unsigned long flags;
	int ret = -1;

	spin_lock_irqsave(&c->lock, flags);
	if (c->late)
		ret = 0; /* the timer will call */
	else if (c->due || c->flushing)
		ret = 1;
	spin_unlock_irqrestore(&c->lock, flags);
	return ret;
}

/** shim_notify - ask to be called at the next completion, as ib_req_notify_cq() does */
int shim_notify(struct shim_device *d, struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	struct shim_cq *c;
	int ret = -1;

	rcu_read_lock();
	c = xa_load(&cqs, (unsigned long)cq);
	if (c)
		ret = notify(c);
	rcu_read_unlock();
	return ret >= 0 ? ret : d->ops.req_notify_cq(cq, flags);
}
