// SPDX-License-Identifier: GPL-2.0
/*
 * file.c - read, write, poll and close of listeners and channels
 */
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <net/net_namespace.h>
#include <asm/ioctls.h>

#include "channel/chan.h"
#include "channel/listener.h"
#include "front/file.h"
#include "message/message.h"
#include "rndv/rndv.h"

/** rch_file_nonblock - whether a call on @file with RDMACHAN_IO_F_* shall not block */
bool rch_file_nonblock(const struct file *file, u32 io_flags)
{
	return (file->f_flags & O_NONBLOCK) || (io_flags & RDMACHAN_IO_F_DONTWAIT);
}

static bool file_iocb_nonblock(const struct kiocb *iocb)
{
	return (iocb->ki_flags & IOCB_NOWAIT) || (iocb->ki_filp->f_flags & O_NONBLOCK);
}

static ssize_t rch_chan_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct rch_chan *chan = iocb->ki_filp->private_data;
	struct rch_recv_result result = {};
	int ret = rch_chan_recv(chan, to, file_iocb_nonblock(iocb), 0, &result);

	return ret ?: result.length;
}

/*
 * Whether a message that cannot be sent without waiting could be with it. It is larger
 * than the send buffer, but not than the peer takes, which is known. io_uring, which only tries
 * first, then has a thread of its own wait. That is no failure, and leaves no record.
 */
static bool file_waiting_would_do(const struct kiocb *iocb, size_t length)
{
	struct rch_chan *chan = iocb->ki_filp->private_data;

	return (iocb->ki_flags & IOCB_NOWAIT) && !(iocb->ki_filp->f_flags & O_NONBLOCK) &&
	       length > READ_ONCE(chan->tuning.send_buffer) &&
	       length <= READ_ONCE(chan->peer_message_max);
}

/*
 * Whether a message has failed only because a limit does not let it go beyond the send buffer, see
 * rch_chan_tx_keep(). Such a message could be sent by a call that waits, which io_uring makes then.
 */
static bool file_limit_would_not_matter(const struct kiocb *iocb, int ret)
{
	struct rch_chan *chan = iocb->ki_filp->private_data;

	return (ret == -ENOBUFS || ret == -ENOSPC) && (iocb->ki_flags & IOCB_NOWAIT) &&
	       !(iocb->ki_filp->f_flags & O_NONBLOCK) && !rch_chan_tx_refused(chan);
}

static ssize_t rch_chan_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct rch_chan *chan = iocb->ki_filp->private_data;
	size_t length = iov_iter_count(from);
	int ret;

	if (file_waiting_would_do(iocb, length))
		return rch_chan_tx_check(chan) ?: -EAGAIN;
	ret = rch_chan_send(chan, from, 0, file_iocb_nonblock(iocb), 0);
	if (file_limit_would_not_matter(iocb, ret))
		return -EAGAIN;
	return ret ?: length;
}

static __poll_t rch_chan_poll(struct file *file, poll_table *wait)
{
	struct rch_chan *chan = file->private_data;
	__poll_t mask;

	poll_wait(file, &chan->wait, wait);
	smp_mb(); /* pairs with that of rch_chan_unclaim() */
	mask = rch_chan_poll_mask(chan);
	if (!(mask & EPOLLIN) && (poll_requested_events(wait) & EPOLLIN)) {
		/* It will be readable only with a message that is complete. */
		rch_chan_wants_data(chan);
		mask = rch_chan_poll_mask(chan);
	}
	if (!(mask & poll_requested_events(wait)))
		rch_chan_push(chan);
	return mask;
}

static int rch_chan_fasync(int fd, struct file *file, int on)
{
	struct rch_chan *chan = file->private_data;
	int ret = rch_async_set(&chan->async, &chan->wait, fd, file, on);

	/* As for poll(): a message that is offered now would wait for a call that takes it. */
	if (ret >= 0 && on)
		rch_chan_wants_data(chan);
	return ret;
}

/* The signal that ends the program which closes its files now, or 0. */
static int file_killed_by(void)
{
	const struct signal_struct *program = current->signal;

	if (!(current->flags & PF_EXITING))
		return 0;
	/* The program's last thread may be one of io_uring's: these always end in peace. */
	if (program->flags & SIGNAL_GROUP_EXIT)
		return program->group_exit_code & 0x7f;
	return current->exit_code & 0x7f;
}

/*
 * A descriptor is closed. While io_uring has a request, or a file registered, that is not
 * the end of the file: the end comes in a thread of the kernel's, which cannot tell how
 * the program has ended.
 */
static int rch_chan_flush(struct file *file, fl_owner_t id)
{
	struct rch_chan *chan = file->private_data;

	WRITE_ONCE(chan->ends.killed_by, file_killed_by());
	return 0;
}

static int file_ended_by(const struct rch_chan *chan)
{
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return READ_ONCE(chan->ends.killed_by);
	return file_killed_by();
}

static int rch_chan_file_release(struct inode *inode, struct file *file)
{
	struct rch_chan *chan = file->private_data;
	struct net *net = chan->net;

	rch_chan_release(chan, file_ended_by(chan));
	put_net(net);
	return 0;
}

static long rch_chan_unlocked_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct rch_chan *chan = file->private_data;
	u64 length;

	if (cmd != FIONREAD)
		return rch_chan_ioctl(file, cmd, arg);
	length = rch_chan_next_length(chan);
	if (!length)
		rch_chan_wants_data(chan);
	return put_user((int)length, (int __user *)arg);
}

const struct file_operations rch_chan_fops = {
	.owner = THIS_MODULE,
	.flush = rch_chan_flush,
	.release = rch_chan_file_release,
	.read_iter = rch_chan_read_iter,
	.write_iter = rch_chan_write_iter,
	.poll = rch_chan_poll,
	.fasync = rch_chan_fasync,
	.unlocked_ioctl = rch_chan_unlocked_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	RCH_NO_LLSEEK
};

static __poll_t rch_listener_poll(struct file *file, poll_table *wait)
{
	struct rch_listener *listener = file->private_data;

	poll_wait(file, &listener->wait, wait);
	return rch_listener_has_waiting(listener) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int rch_listener_fasync(int fd, struct file *file, int on)
{
	struct rch_listener *listener = file->private_data;

	return rch_async_set(&listener->async, &listener->wait, fd, file, on);
}

static int rch_listener_file_release(struct inode *inode, struct file *file)
{
	rch_listener_release(file->private_data);
	return 0;
}

const struct file_operations rch_listener_fops = {
	.owner = THIS_MODULE,
	.release = rch_listener_file_release,
	.poll = rch_listener_poll,
	.fasync = rch_listener_fasync,
	.unlocked_ioctl = rch_listener_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	RCH_NO_LLSEEK
};
