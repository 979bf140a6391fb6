// SPDX-License-Identifier: GPL-2.0
/*
 * queue_op_row.c - SENDs of small messages that follow each other in the ring
 *
 * Operation. Most messages that a program sends one behind the other on a channel go into
 * the link's open frame at once, and could do so one by one. As a *row* they do it together:
 * the channel is found and claimed and the link locked once, and no operation is made, for
 * it would be over before anybody could see it. Each entry is copied before it is looked at.
 *
 * A row ends at the first entry that is anything else, or that cannot be sent at once. That
 * is taken again, as an operation, which tells what is wrong with it, or waits. Its messages
 * come from the program's memory, or from one region, which is used meanwhile.
 */
#include <linux/file.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "channel/chan.h"
#include "call/call.h"
#include "memory/region.h"
#include "op/queue_op.h"
#include "op/queue_placed.h"

/* Until others get the link's lock: entries, and bytes after which there is no other. */
#define ROW_ENTRIES 32
#define ROW_BYTES 4096

/**
 * struct send_row - entries that become a row
 * @row: their messages
 * @queue: queue
 * @sqe: the next entry, a copy
 * @region: where all messages are, used; or NULL
 * @region_id: its number, or 0
 * @max: entries that there are, at most ROW_ENTRIES
 * @put: completions in the ring
 */
struct send_row {
	struct rch_tx_row row;
	struct rch_queue *queue;
	struct rdmachan_sqe sqe;
	struct rch_region *region;
	u32 region_id;
	u32 max;
	u32 put;
};

/* Whether the entry is just a SEND: an error of another kind of entry is not told here. */
static bool op_row_is_plain(const struct rdmachan_sqe *sqe)
{
	return sqe->opcode == RDMACHAN_OPCODE_SEND &&
	       !(sqe->flags & ~(RDMACHAN_SQE_F_SKIP_SUCCESS | RDMACHAN_SQE_F_REGION)) &&
	       !sqe->region == !(sqe->flags & RDMACHAN_SQE_F_REGION) &&
	       sqe->length <= RCH_SMALL_MAX && sqe->msg_flags <= RDMACHAN_MSG_FLAGS_MASK &&
	       !(sqe->__reserved | sqe->op_flags | sqe->pool | sqe->grant) && !sqe->target;
}

static bool op_row_needs_room(const struct rdmachan_sqe *sqe)
{
	return !(sqe->flags & RDMACHAN_SQE_F_SKIP_SUCCESS);
}

static void op_row_fetch(struct send_row *send, u32 number, struct rdmachan_sqe *sqe)
{
	struct rch_queue *queue = send->queue;

	rch_mapping_fetch(&queue->sq, queue->sq_head + number, sqe, sizeof(*sqe));
}

/* Entry number @number of those that were not taken. Return: whether it can be of the row. */
static bool op_row_look(struct send_row *send, u32 number)
{
	op_row_fetch(send, number, &send->sqe);
	return op_row_is_plain(&send->sqe) &&
	       (!op_row_needs_room(&send->sqe) || rch_queue_room(send->queue));
}

/* Whether the first one has no other behind it: a guess, as it may change until it is taken. */
static bool op_row_is_alone(struct send_row *send)
{
	struct rdmachan_sqe sqe;

	if (send->max == 1)
		return true;
	op_row_fetch(send, 1, &sqe);
	return !op_row_is_plain(&sqe) || sqe.fd != send->sqe.fd;
}

static void op_row_sent(struct send_row *send)
{
	const struct rdmachan_cqe cqe = {
		.user_data = send->sqe.user_data,
		.res = send->sqe.length,
	};

	if (!op_row_needs_room(&send->sqe))
		return;
	rch_queue_put(send->queue, &cqe);
	send->put++;
}

/* Return: whether the message of the entry is where those of the row are. */
static bool op_row_find_message(struct send_row *send)
{
	const struct rdmachan_sqe *sqe = &send->sqe;
	struct iov_iter *iter = &send->row.iter;

	if (sqe->region != send->region_id)
		return false;
	if (send->region) {
		if (rch_region_check(send->region, sqe->addr, sqe->length, false))
			return false;
		rch_region_iter(send->region, ITER_SOURCE, sqe->addr, sqe->length, iter);
	} else {
		iov_iter_ubuf(iter, ITER_SOURCE, u64_to_user_ptr(sqe->addr), sqe->length);
	}
	return true;
}

/* See &struct rch_tx_row; the first entry was looked at already. */
static bool op_row_next_message(struct rch_tx_row *row)
{
	struct send_row *send = container_of(row, struct send_row, row);
	s32 fd = send->sqe.fd;

	if (row->messages) {
		op_row_sent(send);
		if (row->messages == send->max || row->bytes >= ROW_BYTES ||
		    !op_row_look(send, row->messages) || send->sqe.fd != fd)
			return false;
	}
	row->msg_flags = send->sqe.msg_flags;
	return op_row_find_message(send);
}

static void op_row_send_to(struct send_row *send, struct rch_chan *chan)
{
	struct rch_queue *queue = send->queue;

	/* Those that came before are not overtaken. */
	if (rch_line_taken(queue, rch_op_line_out(chan)))
		return;
	rch_chan_send_row(chan, &send->row);
	if (send->region) {
		atomic64_add(send->row.messages, &chan->counts.tx_regions);
		atomic64_add(send->row.messages, &send->region->sent);
	}
	if (send->row.messages && !send->row.last)
		rch_op_unsent(queue, chan->lane.link);
}

static bool op_row_use_region(struct send_row *send)
{
	struct rch_region *region;

	send->region_id = send->sqe.region;
	if (!send->region_id)
		return true;
	region = rch_region_use(send->queue->regions, send->region_id, send->queue->mm);
	if (IS_ERR(region))
		return false;
	send->region = region;
	return true;
}

/**
 * rch_op_row - take entries that are a row, and run them
 * @queue: queue
 * @max: how many there are
 *
 * Nothing keeps an operation that is taken now from being run at once, but those of its line.
 *
 * Return: how many were taken; they have completed.
 */
u32 rch_op_row(struct rch_queue *queue, u32 max)
{
	struct send_row send = { .queue = queue, .row.next = op_row_next_message };
	struct file *file;

	send.max = min_t(u32, max, ROW_ENTRIES);
	if (!op_row_look(&send, 0) || !op_row_use_region(&send))
		return 0;
	send.row.alone = op_row_is_alone(&send);
	send.row.last = max == 1 && !queue->unsent;
	file = rch_op_find_file(queue, send.sqe.fd);
	if (!IS_ERR_OR_NULL(file)) {
		if (rch_file_is(file, RCH_FILE_CHAN))
			op_row_send_to(&send, file->private_data);
		fput(file);
	}
	if (send.region)
		rch_region_unuse(send.region);
	/* Not before: a program that knows that all have completed may unregister the region. */
	if (send.put)
		rch_queue_told(queue);
	return send.row.messages;
}
